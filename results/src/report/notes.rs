//! The notes below a report.

use super::words::count;
use crate::formats::summary::StageSummary;
use crate::standings::{FEW_BLOCKS, Standings};

/// Warnings for the reader of a report.
pub(super) fn notes(standings: &Standings) -> Vec<String> {
    let mut notes = standings.notes.clone();
    let mut note = |condition: bool, text: String| {
        if condition {
            notes.push(text);
        }
    };
    let scored = || standings.players.iter().filter(|row| row.n_games > 0);
    note(standings.half_written_bytes > 0, half_written(standings));
    let n_jobs = standings.header.n_jobs.unwrap_or(0);
    let n_complete = standings.n_matches - standings.n_aborted;
    note(
        n_complete < n_jobs,
        format!(
            "{n_complete} of {} {} complete; the others are not counted here.",
            count(n_jobs, "match", "matches"),
            if n_complete == 1 { "is" } else { "are" }
        ),
    );
    note(
        standings.stages.iter().any(StageSummary::pairs_by_results),
        "Players were paired by earlier results, so means are against opponents of different \
         strength. Use the places in the stages (section `stages`), not these means."
            .into(),
    );
    note(
        standings.stages.iter().any(StageSummary::has_dropped),
        "Dropped players have fewer blocks: they played only in the early laps, against more \
         opponents."
            .into(),
    );
    let incomplete = count(standings.n_incomplete_blocks, "block is", "blocks are");
    note(
        standings.n_incomplete_blocks > 0,
        format!(
            "{incomplete} incomplete: not every seating was scored. Their matches count in the \
             means, but not in `compare` and `regress`."
        ),
    );
    note(
        standings.games.len() > 1 && scored().count() > 0,
        "Each game has the same weight in the standings, however many matches it had.".into(),
    );
    let n_games = scored().map(|row| row.n_games);
    note(
        n_games.clone().min() != n_games.max(),
        "Not all players played the same games: a mean is over the games that the player played, \
         and a difference to the leader is over those that both played."
            .into(),
    );
    note(
        scored().any(|row| row.reward.interval.is_none()),
        "A mean has an interval only if one of its games has at least two blocks.".into(),
    );
    note(
        scored().any(|row| row.reward.interval.is_some() && row.reward.n_exact > 0),
        exact_games(
            &standings.exact_games,
            "Intervals and rank probabilities ignore the chance in these games, so the intervals \
             (marked with an asterisk) are too narrow",
        ),
    );
    let fewest = scored().filter(|row| row.reward.interval.is_some());
    let fewest = fewest.map(|row| row.reward.n_blocks / row.n_games).min();
    note(
        fewest.is_some_and(|n| n < FEW_BLOCKS),
        format!(
            "Intervals from fewer than {FEW_BLOCKS} blocks of a game are wide; play more blocks."
        ),
    );
    note(
        scored().count() > 0,
        "Intervals are Student's t from the standard deviation between blocks; a block is one \
         game with the same players in every seating. If all blocks gave the same result, the \
         interval allows for other results that were not seen yet. The interval behind the leader \
         is corrected for selecting the leader by the same results."
            .into(),
    );
    notes
}

/// Names that a sentence lists before it only counts them.
const MOST_NAMES: usize = 5;

/// Which games are treated as exact, and why; `so` says what follows.
pub(super) fn exact_games(names: &[String], so: &str) -> String {
    let mut listed = names[..names.len().min(MOST_NAMES)].join(", ");
    if names.len() > MOST_NAMES {
        listed += &format!(" and {} more", names.len() - MOST_NAMES);
    }
    format!(
        "These games have a single block for some player, and their means are treated as exact: \
         {listed}. {so}; play more blocks of them."
    )
}

fn half_written(standings: &Standings) -> String {
    let bytes = standings.half_written_bytes;
    match standings.half_written_lines {
        1 => format!(
            "The journal ends in a half-written line of {}, which does not count; resuming the run \
             plays that match again.",
            count(bytes, "byte", "bytes")
        ),
        lines => format!(
            "The journal ends in {lines} broken lines of {}, which do not count; resuming the run \
             plays those matches again.",
            count(bytes, "byte", "bytes")
        ),
    }
}
