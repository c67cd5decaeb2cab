//! How numbers are written in reports for people.

pub(super) use crate::counted::counted as count;

/// Points, with one decimal; halves are rounded up.
#[must_use]
pub fn points(value: f64) -> String {
    // Adding 0 takes the minus from what rounds to zero.
    format!("{:.1}", (value * 10.0).round() / 10.0 + 0.0)
}

pub(super) fn optional_points(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), points)
}

/// A share of 1 as percent, without its sign and without claiming certainty.
pub(super) fn share(share: f64) -> String {
    match share * 100.0 {
        p if p <= 0.0 => "0".into(),
        p if p < 0.1 => "<0.1".into(),
        p if p >= 100.0 => "100".into(),
        p if p > 99.9 => ">99.9".into(),
        p if (10.0..=90.0).contains(&p) => format!("{p:.0}"),
        p => format!("{p:.1}"),
    }
}

pub(super) fn interval(interval: Option<[f64; 2]>) -> String {
    match interval {
        Some([low, high]) => format!("[{}, {}]", points(low), points(high)),
        None => "-".into(),
    }
}

/// Bounds without decimals.
pub(super) fn whole(bounds: Option<[f64; 2]>) -> String {
    bounds.map_or("-".into(), |[low, high]| format!("[{low:.0}, {high:.0}]"))
}

/// An interval with an asterisk if it treats some games and budgets as exact.
pub(super) fn marked(bounds: Option<[f64; 2]>, n_exact: u64) -> String {
    let mark = if bounds.is_some() && n_exact > 0 { "*" } else { "" };
    interval(bounds) + mark
}
