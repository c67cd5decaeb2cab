//! How numbers are written in reports for people.

pub(super) use crate::counted::counted as count;

/// Points, with one decimal.
pub(super) fn points(value: f64) -> String {
    // Adding 0 takes the minus from what rounds to zero.
    format!("{:.1}", (value * 10.0).round() / 10.0 + 0.0)
}

pub(super) fn optional_points(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), points)
}

pub(super) fn interval(interval: Option<[f64; 2]>) -> String {
    match interval {
        Some([low, high]) => format!("[{}, {}]", points(low), points(high)),
        None => "-".into(),
    }
}
