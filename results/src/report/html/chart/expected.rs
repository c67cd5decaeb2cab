//! Real rewards over expected ones, a line for each player, beside the diagonal.

use super::super::figure::{Anchor, Figure, N_COLOURS, Scale, WIDTH, tick};
use super::lines::{Point, Series};

const LEFT: f64 = 48.0;
/// Room for the names at the right.
const RIGHT: f64 = 150.0;
const TOP: f64 = 24.0;
const HEIGHT: f64 = 300.0;
/// Space between two names.
const APART: f64 = 15.0;

/// The figure.
pub(crate) struct Expected<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// Points from 0 to 100 on both axes.
    pub(crate) series: Vec<Series>,
}

impl Expected<'_> {
    pub(crate) fn html(&self) -> String {
        let bottom = TOP + HEIGHT;
        let mut figure = Figure::new(self.title, self.description, bottom + 40.0);
        let right = WIDTH - RIGHT;
        let across = Scale::linear([0.0, 100.0], [LEFT, right]);
        let up = Scale::linear([0.0, 100.0], [bottom, TOP]);
        for value in up.ticks() {
            let (x, y) = (across.at(value), up.at(value));
            figure.line([LEFT, y], [right, y], "grid");
            figure.line([x, TOP], [x, bottom], "grid");
            figure.text([LEFT - 6.0, y + 4.0], Anchor::End, "tick", &tick(value));
            figure.text([x, bottom + 15.0], Anchor::Middle, "tick", &tick(value));
        }
        figure.line([LEFT, bottom], [right, TOP], "axis dashed");
        let middle = f64::midpoint(LEFT, right);
        figure.text([middle, bottom + 33.0], Anchor::Middle, "unit", "expected reward");
        figure.text([4.0, TOP - 10.0], Anchor::Start, "unit", "reward");
        for (place, series) in self.series.iter().enumerate() {
            let at = |point: &Point| [across.at(point.x), up.at(point.y)];
            let colour = series.number % N_COLOURS;
            let path: Vec<[f64; 2]> = series.points.iter().map(at).collect();
            figure.path(&path, &format!("s{colour} stroke"));
            for (point, &[x, y]) in series.points.iter().zip(&path) {
                if let Some([low, high]) = point.bounds {
                    figure.line([x, up.at(low)], [x, up.at(high)], &format!("s{colour} whisker"));
                }
                figure.mark([x, y], series.number, &point.tip);
            }
            let (left, y) = (right + 16.0, TOP + 8.0 + APART * place as f64);
            figure.mark([left, y], series.number, &series.name);
            figure.name_within([left + 10.0, y + 4.0], Anchor::Start, &series.name, 18);
        }
        figure.html()
    }
}
