//! Strength over a budget that doubles, a line for each player.

use super::super::figure::{Anchor, Figure, N_COLOURS, Scale, WIDTH, tick};

const LEFT: f64 = 48.0;
/// Room for the names at the right.
const RIGHT: f64 = 150.0;
const TOP: f64 = 12.0;
const HEIGHT: f64 = 260.0;
/// Least distance between two names.
const APART: f64 = 15.0;

/// A mean at a budget.
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) bounds: Option<[f64; 2]>,
    pub(crate) tip: String,
}

/// A player.
pub(crate) struct Series {
    pub(crate) name: String,
    /// Its colour.
    pub(crate) number: usize,
    pub(crate) points: Vec<Point>,
}

/// The figure.
pub(crate) struct Lines<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) across: &'a str,
    pub(crate) up: &'a str,
    /// How a number of the horizontal axis is written.
    pub(crate) shown: fn(f64) -> String,
    pub(crate) series: Vec<Series>,
}

impl Lines<'_> {
    /// `None` without points.
    pub(crate) fn html(&self) -> Option<String> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let mut budgets: Vec<f64> = points().map(|point| point.x).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let (&least, &most) = (budgets.first()?, budgets.last()?);
        let ys = || points().flat_map(|p| p.bounds.into_iter().flatten().chain([p.y]));
        let low = ys().fold(f64::INFINITY, f64::min);
        let high = ys().fold(f64::NEG_INFINITY, f64::max);
        let bottom = TOP + HEIGHT;
        let mut figure = Figure::new(self.title, self.description, bottom + 40.0);
        let right = WIDTH - RIGHT;
        let across = Scale::log([least * 0.93, most * 1.07], [LEFT, right]);
        let margin = ((high - low) * 0.05).max(1.0);
        let up = Scale::linear([low - margin, high + margin], [bottom, TOP]);
        for value in up.ticks() {
            let y = up.at(value);
            figure.line([LEFT, y], [right, y], "grid");
            figure.text([LEFT - 6.0, y + 4.0], Anchor::End, "tick", &tick(value));
        }
        let mut last = f64::NEG_INFINITY;
        for &budget in &budgets {
            let x = across.at(budget);
            figure.line([x, TOP], [x, bottom], "grid");
            if x - last > 40.0 {
                figure.text([x, bottom + 15.0], Anchor::Middle, "tick", &(self.shown)(budget));
                last = x;
            }
        }
        let middle = f64::midpoint(LEFT, right);
        figure.text([middle, bottom + 33.0], Anchor::Middle, "unit", self.across);
        figure.text([4.0, TOP - 1.0], Anchor::Start, "unit", self.up);
        for series in &self.series {
            let at: Vec<[f64; 2]> =
                series.points.iter().map(|point| [across.at(point.x), up.at(point.y)]).collect();
            let colour = series.number % N_COLOURS;
            figure.path(&at, &format!("s{colour} stroke"));
            for (point, &[x, y]) in series.points.iter().zip(&at) {
                if let Some([low, high]) = point.bounds {
                    figure.line([x, up.at(low)], [x, up.at(high)], &format!("s{colour} whisker"));
                }
                figure.mark([x, y], series.number, &point.tip);
            }
        }
        self.write_names(&mut figure, across, up);
        Some(figure.html())
    }

    /// Each name at the end of its line, moved so that none covers another.
    fn write_names(&self, figure: &mut Figure, across: Scale, up: Scale) {
        let ends = self.series.iter().filter_map(|series| Some((series, series.points.last()?)));
        let mut names: Vec<(f64, [f64; 2], &Series)> = ends
            .map(|(series, point)| {
                let end = [across.at(point.x), up.at(point.y)];
                (end[1], end, series)
            })
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        for place in 1..names.len() {
            names[place].0 = names[place].0.max(names[place - 1].0 + APART);
        }
        // Pushed out below, names move up again.
        let mut limit = TOP + HEIGHT;
        for name in names.iter_mut().rev() {
            name.0 = name.0.min(limit);
            limit = name.0 - APART;
        }
        let left = WIDTH - RIGHT + 14.0;
        for (y, [end_x, end_y], series) in names {
            let colour = series.number % N_COLOURS;
            figure.path(&[[end_x + 6.0, end_y], [left - 4.0, y]], &format!("s{colour} leader"));
            figure.mark([left + 2.0, y], series.number, &series.name);
            figure.name_within([left + 11.0, y + 4.0], Anchor::Start, &series.name, 18);
        }
    }
}
