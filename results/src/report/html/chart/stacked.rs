//! Bars whose parts add up.

use super::super::figure::{Anchor, Figure, Scale, WIDTH, left_of, tick};

const RIGHT: f64 = 16.0;
const ROW: f64 = 26.0;

/// A part of a bar.
pub(crate) struct Part {
    pub(crate) size: f64,
    pub(crate) tip: String,
}

/// The figure.
pub(crate) struct Stacked<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) unit: &'a str,
    /// Names and classes of the parts, in the order of each row.
    pub(crate) parts: &'a [(String, String)],
    pub(crate) rows: Vec<(String, Vec<Part>)>,
}

impl Stacked<'_> {
    pub(crate) fn html(&self) -> String {
        let left = left_of(self.rows.iter().map(|(name, _)| name.as_str()));
        let mut legend = vec![];
        let (mut x, mut y) = (left, 14.0);
        for (name, class) in self.parts {
            let width = 24.0 + 7.0 * name.chars().count() as f64;
            if x + width > WIDTH && x > left {
                (x, y) = (left, y + 18.0);
            }
            legend.push((x, y, name, class));
            x += width;
        }
        let top = y + 12.0;
        let bottom = top + ROW * self.rows.len() as f64;
        let mut figure = Figure::new(self.title, self.description, bottom + 38.0);
        for (x, y, name, class) in legend {
            figure.rectangle([x, y - 10.0], [12.0, 12.0], class, 1.0, name);
            figure.text([x + 17.0, y], Anchor::Start, "tick", name);
        }
        let sum = |parts: &Vec<Part>| parts.iter().map(|part| part.size).sum::<f64>();
        let longest = self.rows.iter().map(|(_, parts)| sum(parts)).fold(0.0, f64::max);
        let scale = Scale::linear([0.0, longest], [left, WIDTH - RIGHT]);
        figure.ticks(scale, [top, bottom], tick);
        for (place, (name, parts)) in self.rows.iter().enumerate() {
            let y = top + ROW * place as f64;
            figure.row_name(left, y + ROW / 2.0 + 4.0, name);
            let mut from = 0.0;
            for (part, (_, class)) in parts.iter().zip(self.parts) {
                let (begin, end) = (scale.at(from), scale.at(from + part.size));
                from += part.size;
                if part.size > 0.0 {
                    let size = [(end - begin - 0.7).max(0.5), ROW - 6.0];
                    figure.rectangle([begin, y + 3.0], size, class, 1.0, &part.tip);
                }
            }
        }
        let middle = f64::midpoint(left, WIDTH - RIGHT);
        figure.text([middle, bottom + 32.0], Anchor::Middle, "unit", self.unit);
        figure.html()
    }
}
