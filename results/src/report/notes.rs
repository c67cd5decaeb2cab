//! The notes below a report.

use super::words::count;
use crate::formats::summary::StageSummary;
use crate::standings::{FEW_BLOCKS, Standings};

/// What a reader must know in order not to be misled.
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
    note(
        standings.n_matches < n_jobs,
        format!(
            "{} of {} played; the others do not count here.",
            standings.n_matches,
            count(n_jobs, "match is", "matches are")
        ),
    );
    note(
        standings.stages.iter().any(StageSummary::pairs_by_results),
        "Who met whom followed from results, so means are against opponents of different strength: \
         the places of the format are what it is about."
            .into(),
    );
    note(
        standings.stages.iter().any(|stage| stage.rule.race.is_some()),
        "Who was dropped has fewer blocks, and those were against more opponents.".into(),
    );
    let incomplete = count(standings.n_incomplete_blocks, "block is", "blocks are");
    note(
        standings.n_incomplete_blocks > 0,
        format!(
            "{incomplete} incomplete: not every seating was scored. Their matches count all the \
             same."
        ),
    );
    note(
        standings.games.len() > 1 && scored().count() > 0,
        "Each game weighs the same in the standings, however many matches it had.".into(),
    );
    let n_games = scored().map(|row| row.n_games);
    note(
        n_games.clone().min() != n_games.max(),
        "Not all players played the same games: a mean is over the games a player played, and \
         differences to the leader are over those that both played."
            .into(),
    );
    note(
        scored().any(|row| row.reward.interval.is_none()),
        "An interval needs two blocks of a game that goes into it.".into(),
    );
    note(
        scored().any(|row| row.reward.interval.is_some() && row.reward.n_fixed > 0),
        held_fixed(&standings.held_fixed),
    );
    let fewest = scored().filter(|row| row.reward.interval.is_some());
    let fewest = fewest.map(|row| row.reward.n_blocks / row.n_games).min();
    note(
        fewest.is_some_and(|n| n < FEW_BLOCKS),
        format!(
            "Intervals from fewer than {FEW_BLOCKS} blocks of a game are wide: so few say little."
        ),
    );
    note(
        scored().count() > 0,
        "Intervals are Student's t from the spread of whole blocks; a block is one game with the same \
         players in every seating. Where all blocks gave the same, the interval is what blocks not \
         seen yet could change. The interval behind the leader allows for the choice of the leader \
         by the same results."
            .into(),
    );
    notes
}

/// Names that a sentence lists before it only counts them.
const MOST_NAMES: usize = 5;

/// What holds these games at what they gave, and why.
pub(super) fn held_fixed(names: &[String]) -> String {
    let mut listed = names[..names.len().min(MOST_NAMES)].join(", ");
    if names.len() > MOST_NAMES {
        listed += &format!(" and {} more", names.len() - MOST_NAMES);
    }
    format!(
        "Held at what they gave, since some player has a single block of them: {listed}. Their \
         chance is in no interval and no rank probability, which are surer than they should be \
         (such intervals have an asterisk); play more blocks of them."
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
