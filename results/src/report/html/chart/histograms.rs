//! Histograms of times, one below the other on one logarithmic scale.

use super::super::figure::{Anchor, Figure, N_COLOURS, Scale, WIDTH, left_of, time};
use crate::counted::counted;
use crate::evaluation::Times;

const RIGHT: f64 = 16.0;
const TOP: f64 = 22.0;
const ROW: f64 = 46.0;
/// Height of the highest bar.
const BAR: f64 = 36.0;

/// One histogram.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) times: &'a Times,
    pub(crate) series: usize,
}

/// The figure.
pub(crate) struct Histograms<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// What is counted: one, and several, such as `move` and `moves`.
    pub(crate) what: [&'a str; 2],
    pub(crate) rows: Vec<Row<'a>>,
    /// Times at which a line is drawn, milliseconds.
    pub(crate) references: Vec<(f64, String)>,
}

impl Histograms<'_> {
    /// `None` if there is no time at all.
    pub(crate) fn html(&self) -> Option<String> {
        let left = left_of(self.rows.iter().map(|row| row.name)).max(110.0);
        let bars = || self.rows.iter().flat_map(|row| &row.times.bars);
        let low = bars().map(|bar| bar.low).reduce(f64::min)?;
        let high = bars().map(|bar| bar.high).reduce(f64::max)?;
        let references = self.references.iter().map(|(ms, _)| *ms).filter(|ms| *ms > 0.0);
        let high = references.fold(high, f64::max);
        let bottom = TOP + ROW * self.rows.len() as f64;
        let mut figure = Figure::new(self.title, self.description, bottom + 22.0);
        let scale = Scale::log([low, high], [left, WIDTH - RIGHT]);
        figure.ticks(scale, [TOP, bottom], time);
        let mut last = f64::NEG_INFINITY;
        for (ms, words) in self.references.iter().filter(|(ms, _)| *ms > 0.0) {
            let x = scale.at(*ms);
            figure.line([x, TOP - 4.0], [x, bottom], "axis dashed");
            if x - last > 7.0 * words.chars().count() as f64 {
                figure.text([x.min(WIDTH - 20.0), TOP - 8.0], Anchor::Middle, "tick", words);
                last = x;
            }
        }
        for (place, row) in self.rows.iter().enumerate() {
            let base = TOP + ROW * (place as f64 + 1.0) - 2.0;
            figure.line([left, base], [WIDTH - RIGHT, base], "grid");
            figure.row_name(left, base - 14.0, row.name);
            let [one, several] = self.what;
            let of = counted(row.times.n, one, several);
            figure.text([left - 8.0, base], Anchor::End, "tick", &of);
            let most = row.times.bars.iter().map(|bar| bar.n).max().unwrap_or(1).max(1) as f64;
            let class = format!("s{} fill", row.series % N_COLOURS);
            for bar in &row.times.bars {
                let (from, to) = (scale.at(bar.low), scale.at(bar.high));
                let height = (bar.n as f64 / most * BAR).max(1.0);
                let share = bar.n as f64 / row.times.n.max(1) as f64 * 100.0;
                let tip = format!(
                    "{}: {} of {of} ({share:.1} %) from {} to {}",
                    row.name,
                    bar.n,
                    time(bar.low),
                    time(bar.high)
                );
                let size = [to - from - 1.0, height];
                figure.rectangle([from + 0.5, base - height], size, &class, 0.85, &tip);
            }
            if let Some([median, ..]) = row.times.quantiles {
                let x = scale.at(median.max(low));
                figure.line([x, base - BAR], [x, base], "median");
            }
        }
        Some(figure.html())
    }
}
