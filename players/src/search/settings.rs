//! Options that several searching players take, and what they mean.

use super::Opponents;
use super::evaluation::{self, EvaluationFunction};
use crate::OptionError;
use crate::counted::counted;
use crate::options::OptionSpec;
use crate::options::Reader;

pub(crate) const DEPTH: OptionSpec = OptionSpec {
    name: "depth",
    accepts: "a whole number from 0 to 1000",
    default: "0",
    help: "Joint moves to look ahead; 0 to look as far as time allows.",
};

pub(crate) const EVALUATION: OptionSpec = OptionSpec {
    name: "evaluation",
    accepts: evaluation::ACCEPTS,
    default: "\"goal\"",
    help: evaluation::HELP,
};

pub(crate) const DEEPENING: OptionSpec = OptionSpec {
    name: "deepening",
    accepts: "true or false",
    default: "true",
    help: "Search to depth 1, 2, ... and reply with the move of the deepest finished search; \
           false: search once, to `depth`.",
};

pub(crate) const TRANSPOSITION: OptionSpec = OptionSpec {
    name: "transposition",
    accepts: "a whole number from 0",
    default: "200000",
    help: "States whose values are remembered during a match; 0 to remember nothing.",
};

/// States that a player keeps by default.
pub(crate) const DEFAULT_MAX_STATES: usize = 500_000;

/// Maximum number of states that a player keeps; each player says what it does at the limit.
pub(crate) const MAX_STATES: OptionSpec = OptionSpec {
    name: "max_states",
    accepts: "a whole number from 1",
    default: "500000",
    help: "Maximum number of states to keep.",
};

pub(crate) fn max_states(reader: &Reader<'_>) -> Result<usize, OptionError> {
    let states = reader.integer(MAX_STATES.name, 1..=i64::MAX, DEFAULT_MAX_STATES as i64)?;
    Ok(usize::try_from(states).unwrap_or(usize::MAX))
}

pub(crate) const BOUNDED: OptionSpec = OptionSpec {
    name: "bounded",
    accepts: "true or false",
    default: "true",
    help: "Stop the search of a state at the best possible value: skip the other moves when one is \
           worth 100, and the other replies of opponents when one is worth 0.",
};

/// Whether the time of other roles is used.
pub(crate) const PONDER: OptionSpec = OptionSpec {
    name: "ponder",
    accepts: "true or false",
    default: "false",
    help: "Also think, until the clock ends, when there is only one legal move, for example in \
           the turn of another player.",
};

pub(crate) const MOVE_ORDER: OptionSpec = OptionSpec {
    name: "move_order",
    accepts: "a list of strings, each a move",
    default: "[]",
    help: "Moves to try before all others, in this order, where they are legal. Moves that the game \
           does not have are an error.",
};

pub(crate) const DEFAULT_REMEMBERED: i64 = 200_000;

/// The choices of `opponents`.
pub(crate) const OPPONENTS: [(&str, Opponents); 4] = [
    ("paranoid", Opponents::Paranoid),
    ("matrix", Opponents::Matrix),
    ("max_n", Opponents::MaxN),
    ("cooperative", Opponents::Cooperative),
];

pub(crate) fn depth(reader: &Reader<'_>) -> Result<u32, OptionError> {
    let depth = reader.integer(DEPTH.name, 0..=1000, 0)?;
    Ok(u32::try_from(depth).expect("the range was checked"))
}

pub(crate) fn evaluation(reader: &Reader<'_>) -> Result<EvaluationFunction, OptionError> {
    if let Some(learned) = reader.learned(EVALUATION.name) {
        return Ok(EvaluationFunction::Learned(learned));
    }
    reader.read_text(EVALUATION.name, EvaluationFunction::read, EvaluationFunction::Goal)
}

/// The note of a player that met more states than it may remember.
pub(crate) fn full_table(remembered: usize) -> String {
    let states = counted(remembered, "state");
    format!("transposition table: full with {states} (option `transposition`)")
}

pub(crate) fn remembered(reader: &Reader<'_>, default: i64) -> Result<usize, OptionError> {
    let states = reader.integer(TRANSPOSITION.name, 0..=i64::MAX, default)?;
    Ok(usize::try_from(states).unwrap_or(usize::MAX))
}
