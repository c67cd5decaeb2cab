//! Numbers of rows and columns as colours.

use super::super::escape::shortened;
use super::super::figure::{Anchor, Figure, WIDTH, left_of};

const RIGHT: f64 = 4.0;
const ROW: f64 = 28.0;
/// Widest a cell gets, so that few columns do not fill the figure.
const WIDEST: f64 = 96.0;
/// Maximum number of characters of a slanted name.
const LONGEST: usize = 16;
/// What each of them takes in width and in height.
const SLANTED: f64 = 4.9;
/// Narrowest cell that a number fits into.
const NARROWEST: f64 = 26.0;

/// What the colour of a cell says.
#[derive(Clone, Copy)]
pub(crate) enum Hue {
    /// From nothing to all, 0 to 1.
    Share,
    /// Less or more than nothing, -1 to 1.
    Sign,
}

/// One cell; `value` within the bounds of the hue.
#[derive(Clone)]
pub(crate) struct HeatCell {
    pub(crate) value: f64,
    pub(crate) shown: String,
    pub(crate) tip: String,
}

/// The figure.
pub(crate) struct Heat<'a> {
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    pub(crate) hue: Hue,
    /// What the columns are.
    pub(crate) across: &'a str,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<Option<HeatCell>>)>,
}

impl Heat<'_> {
    pub(crate) fn html(&self) -> String {
        let left = left_of(self.rows.iter().map(|(name, _)| name.as_str()));
        let n_columns = self.columns.len().max(1) as f64;
        let width_with = |right: f64| ((WIDTH - left - right) / n_columns).min(WIDEST);
        let n_chars = (width_with(RIGHT) / 6.4) as usize;
        let is_slanted =
            self.columns.iter().any(|name| name.chars().count() > n_chars) && n_columns > 1.0;
        // Slanted names are as high as they are wide.
        let extent = |name: &String| SLANTED * name.chars().count().min(LONGEST) as f64;
        let highest = self.columns.iter().map(extent).fold(0.0, f64::max);
        let top = if is_slanted { 34.0 + highest } else { 40.0 };
        // What the last names reach beyond their columns, were those at their narrowest.
        let narrow = width_with(SLANTED * LONGEST as f64);
        let beyond = |(place, name): (usize, &String)| {
            extent(name) - narrow * (n_columns - place as f64 - 0.5)
        };
        let right = match is_slanted {
            true => self.columns.iter().enumerate().map(beyond).fold(RIGHT, f64::max),
            false => RIGHT,
        };
        let width = width_with(right);
        let height = top + ROW * self.rows.len() as f64 + 6.0;
        let mut figure = Figure::new(self.title, self.description, height);
        figure.text([left, 12.0], Anchor::Start, "unit", self.across);
        for (place, name) in self.columns.iter().enumerate() {
            let x = left + width * (place as f64 + 0.5);
            if is_slanted {
                figure.slanted([x - 3.0, top - 6.0], &shortened(name, LONGEST), name);
            } else {
                figure.name_within([x, top - 8.0], Anchor::Middle, name, n_chars.max(4));
            }
        }
        for (row, (name, cells)) in self.rows.iter().enumerate() {
            let y = top + ROW * row as f64;
            figure.row_name(left, y + ROW / 2.0 + 4.0, name);
            for (column, cell) in cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let x = left + width * column as f64;
                let strength = cell.value.abs().min(1.0);
                let class = match self.hue {
                    Hue::Sign if cell.value < 0.0 => "heat less",
                    Hue::Sign | Hue::Share => "heat more",
                };
                // A cell without colour would not be seen to be there.
                let opacity = 0.06 + 0.94 * strength;
                let (place, size) = ([x + 1.0, y + 1.0], [width - 2.0, ROW - 2.0]);
                figure.rectangle(place, size, class, opacity, &cell.tip);
                if width >= NARROWEST {
                    let class = if strength > 0.55 { "in on" } else { "in" };
                    let middle = [x + width / 2.0, y + ROW / 2.0 + 4.0];
                    figure.text(middle, Anchor::Middle, class, &cell.shown);
                }
            }
        }
        figure.html()
    }
}
