//! The scored seats of a run as a frame for queries.

use polars::prelude::{DataFrame, PolarsError, df};

use crate::evidence::Evidence;

/// The scored seats as a frame.
pub(super) fn frame(evidence: &mut Evidence) -> Result<DataFrame, PolarsError> {
    let seats = std::mem::take(&mut evidence.seats);
    df!(
        "game" => seats.game,
        "clock" => seats.clock,
        "player" => seats.player,
        "block" => seats.block,
        "role" => seats.role,
        "reward" => seats.reward,
        "match" => seats.match_number,
    )
}

pub(super) fn integers(frame: &DataFrame, name: &str) -> Result<Vec<u32>, PolarsError> {
    Ok(frame.column(name)?.u32()?.into_no_null_iter().collect())
}
