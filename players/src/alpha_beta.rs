//! Alpha-beta: the value and the move of minimax, without looking at what
//! cannot matter (Knuth and Moore, "An Analysis of Alpha-Beta Pruning", 1975;
//! Russell and Norvig, "Artificial Intelligence: A Modern Approach").
//!
//! With `deepening = false, transposition = 0` it is the textbook's procedure;
//! the defaults are those that play best under a clock.

use crate::kind::PlayerKind;
use crate::options::{OptionSpec, TABLE};
use crate::search::searcher::Searcher;
use crate::search::{BOUNDED, OUTSIDE, Opponents, Settings, settings};
use crate::{OptionError, Options, Player};

/// The alpha-beta player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "alpha_beta",
    summary: "Minimax with alpha-beta pruning and iterative deepening.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const OPPONENTS: OptionSpec = OptionSpec {
    name: "opponents",
    accepts: "\"paranoid\" or \"cooperative\"",
    default: "\"paranoid\"",
    help: "Model of the other players: `paranoid`, a coalition that knows the player's move; \
           `cooperative`, all move in the player's favour.",
};

const BOUNDED_WINDOW: OptionSpec = OptionSpec {
    help: "Start with the window 0..100, so that a search stops at the best or worst possible \
           reward; false: -1..101.",
    ..settings::BOUNDED
};

const CHANCE_CUTS: OptionSpec = OptionSpec {
    name: "chance_cuts",
    accepts: "true or false",
    default: "true",
    help: "Also prune moves of chance that cannot change the result (Star1).",
};

const SOLVED: OptionSpec = OptionSpec {
    name: "table",
    accepts: TABLE,
    default: "none",
    help: "Take the values of states from this table where it has them, as from an endgame \
           database; for one role, or two whose rewards sum to a constant.",
};

const OPTIONS: &[OptionSpec] = &[
    OPPONENTS,
    settings::DEPTH,
    settings::EVALUATION,
    settings::DEEPENING,
    settings::TRANSPOSITION,
    BOUNDED_WINDOW,
    CHANCE_CUTS,
    settings::MOVE_ORDER,
    SOLVED,
];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let opponents = [("paranoid", Opponents::Paranoid), ("cooperative", Opponents::Cooperative)];
    let bounded = reader.boolean(BOUNDED_WINDOW.name, true)?;
    let settings = Settings {
        opponents: reader.choice(OPPONENTS.name, &opponents, Opponents::Paranoid)?,
        window: if bounded { BOUNDED } else { OUTSIDE },
        narrow: true,
        chance_cuts: reader.boolean(CHANCE_CUTS.name, true)?,
        depth: settings::depth(&reader)?,
        evaluation: settings::evaluation(&reader)?,
        deepening: reader.boolean(settings::DEEPENING.name, true)?,
        remembered: settings::remembered(&reader, settings::DEFAULT_REMEMBERED)?,
    };
    let move_order = reader.moves(settings::MOVE_ORDER.name)?;
    let solved = match settings.opponents {
        Opponents::Cooperative => reader.without_table(SOLVED.name)?,
        _ => reader.table(SOLVED.name)?,
    };
    let searcher = Searcher::new(KIND.name, settings, move_order, reader.seed()?);
    Ok(Box::new(searcher.knowing(solved)))
}
