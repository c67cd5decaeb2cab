//! Kinds of figures: each a function from numbers and names to a figure.

mod expected;
mod forest;
mod heat;
mod histograms;
mod lines;
mod stacked;

pub(super) use expected::Expected;
pub(super) use forest::{Forest, Interval};
pub(super) use heat::{Heat, HeatCell, Hue};
pub(super) use histograms::{Histograms, Row};
pub(super) use lines::{Lines, Point, Series};
pub(super) use stacked::{Part, Stacked};
