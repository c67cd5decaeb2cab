//! Sums over blocks as frames for queries.

use polars::prelude::{DataFrame, PolarsError, df};

use crate::bootstrap::Total;
use crate::evidence::Evidence;

/// What was won: a row for each player, game, clock, block (or group of
/// blocks) and role.
pub(super) fn seat_frame(evidence: &Evidence) -> Result<DataFrame, PolarsError> {
    let mut rows: Vec<(u32, u32, Total)> = vec![];
    for (&(_, game, _), stratum) in &evidence.tally.strata {
        let cells = stratum.blocks.totals.values().flatten();
        rows.extend(cells.map(|&(role, total)| (game, role, total)));
    }
    df!(
        "game" => rows.iter().map(|row| row.0).collect::<Vec<u32>>(),
        "role" => rows.iter().map(|row| row.1).collect::<Vec<u32>>(),
        "sum" => rows.iter().map(|row| row.2.sum).collect::<Vec<f64>>(),
        "n" => rows.iter().map(|row| row.2.n).collect::<Vec<f64>>(),
    )
}

/// How many blocks of a game have how many scored seats.
pub(super) fn block_frame(evidence: &Evidence) -> Result<DataFrame, PolarsError> {
    let sizes = &evidence.tally.sizes;
    df!(
        "game" => sizes.keys().map(|key| key.0).collect::<Vec<u32>>(),
        "n_seats" => sizes.keys().map(|key| key.1).collect::<Vec<u64>>(),
        "n_blocks" => sizes.values().copied().collect::<Vec<u64>>(),
    )
}

pub(super) fn integers(frame: &DataFrame, name: &str) -> Result<Vec<u32>, PolarsError> {
    Ok(frame.column(name)?.u32()?.into_no_null_iter().collect())
}

pub(super) fn sum(frame: &DataFrame, name: &str) -> Result<u64, PolarsError> {
    Ok(frame.column(name)?.u64()?.into_no_null_iter().sum())
}
