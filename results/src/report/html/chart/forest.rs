//! Estimates with their intervals, one below the other.

use super::super::figure::{Anchor, Figure, Scale, WIDTH, left_of, tick};

const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const ROW: f64 = 24.0;

/// An estimate.
pub(crate) struct Interval {
    pub(crate) name: String,
    pub(crate) middle: f64,
    pub(crate) bounds: Option<[f64; 2]>,
    pub(crate) tip: String,
}

/// The figure.
pub(crate) struct Forest<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// What the axis measures.
    pub(crate) unit: &'a str,
    /// A value at which a line is drawn.
    pub(crate) reference: Option<f64>,
    pub(crate) rows: Vec<Interval>,
}

impl Forest<'_> {
    pub(crate) fn html(&self) -> String {
        let left = left_of(self.rows.iter().map(|row| row.name.as_str()));
        let bottom = TOP + ROW * self.rows.len() as f64;
        let mut figure = Figure::new(self.title, self.description, bottom + 38.0);
        let values =
            self.rows.iter().flat_map(|row| row.bounds.into_iter().flatten().chain([row.middle]));
        let values = values.chain(self.reference);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let margin = (high - low) * 0.03;
        let scale = Scale::linear([low - margin, high + margin], [left, WIDTH - RIGHT]);
        figure.ticks(scale, [TOP, bottom], tick);
        if let Some(reference) = self.reference {
            let x = scale.at(reference);
            figure.line([x, TOP], [x, bottom], "axis");
        }
        for (place, row) in self.rows.iter().enumerate() {
            let y = TOP + ROW * (place as f64 + 0.5);
            figure.row_name(left, y + 4.0, &row.name);
            if let Some([low, high]) = row.bounds {
                figure.line([scale.at(low), y], [scale.at(high), y], "s0 whisker");
            }
            figure.mark([scale.at(row.middle), y], 0, &row.tip);
        }
        let middle = f64::midpoint(left, WIDTH - RIGHT);
        figure.text([middle, bottom + 32.0], Anchor::Middle, "unit", self.unit);
        figure.html()
    }
}
