//! Alpha-beta: the value and the move of minimax, without looking at what
//! cannot matter (Knuth and Moore, "An Analysis of Alpha-Beta Pruning", 1975;
//! Russell and Norvig, "Artificial Intelligence: A Modern Approach").
//!
//! With `deepening = false, transposition = 0` it is the textbook's procedure;
//! the defaults are those that play best under a clock.

use crate::endgames::SOLVED;
use crate::kind::PlayerKind;
use crate::match_budget::{MATCH_NODES, MATCH_TIME, MatchBudget};
use crate::options::OptionSpec;
use crate::search::chance::ChanceCuts;
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
    help: "Search with the window [0, 100] at the root, so that the search of a state stops at the \
           best or worst possible value; false: with [-1, 101].",
    ..settings::BOUNDED
};

const CHANCE_CUTS: OptionSpec = OptionSpec {
    name: "chance_cuts",
    accepts: "\"star1\", \"star2\" or \"none\"",
    default: "\"star1\"",
    help: "Prune moves of chance that cannot change the result (`star1`); `star2` first tries one \
           move after each of them, to prune earlier.",
};

const KILLER_MOVES: OptionSpec = OptionSpec {
    name: "killer_moves",
    accepts: "true or false",
    default: "true",
    help: "While deepening, first try the moves that led to a cut-off at the same level.",
};

const HISTORY: OptionSpec = OptionSpec {
    name: "history",
    accepts: "true or false",
    default: "true",
    help: "While deepening, first try the moves that led to many cut-offs anywhere in the tree.",
};

const WIDTH: OptionSpec = OptionSpec {
    name: "width",
    accepts: "a whole number from 0",
    default: "0",
    help: "Try at most this many moves of a role in a state (forward pruning), those that \
           `killer_moves` and `history` put first; 0 to try all. All moves are tried at the root, in \
           the last step to the depth limit, and where several other roles choose. Once a move \
           was left out, no value counts as proven.",
};

const QUIESCENCE: OptionSpec = OptionSpec {
    name: "quiescence",
    accepts: "a whole number from 0 to 1000",
    default: "0",
    help: "Joint moves to look beyond the depth limit while the evaluation changes by 10 or more \
           with a move, or a move may end the match with 0 or 100.",
};

const EXTEND_FORCED: OptionSpec = OptionSpec {
    name: "extend_forced",
    accepts: "true or false",
    default: "false",
    help: "Do not count forced steps (no role has a choice) towards `depth`.",
};

const ALLOCATE_TIME: OptionSpec = OptionSpec {
    name: "allocate_time",
    accepts: "true or false",
    default: "false, or true with `match_time` or `match_nodes`",
    help: "Reply before the clock ends if all other moves are proven to lose, or the next depth \
           is not expected to be finished in time.",
};

const OPTIONS: &[OptionSpec] = &[
    OPPONENTS,
    settings::DEPTH,
    settings::EVALUATION,
    settings::DEEPENING,
    settings::TRANSPOSITION,
    BOUNDED_WINDOW,
    CHANCE_CUTS,
    KILLER_MOVES,
    HISTORY,
    WIDTH,
    QUIESCENCE,
    EXTEND_FORCED,
    ALLOCATE_TIME,
    MATCH_TIME,
    MATCH_NODES,
    settings::PONDER,
    settings::MOVE_ORDER,
    SOLVED,
];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let opponents = [("paranoid", Opponents::Paranoid), ("cooperative", Opponents::Cooperative)];
    let bounded = reader.boolean(BOUNDED_WINDOW.name, true)?;
    let chance_cuts =
        [("star1", ChanceCuts::Star1), ("star2", ChanceCuts::Star2), ("none", ChanceCuts::None)];
    let deepening = reader.boolean(settings::DEEPENING.name, true)?;
    let quiescence = reader.integer(QUIESCENCE.name, 0..=1000, 0)?;
    let killer_moves = reader.boolean(KILLER_MOVES.name, true)? && deepening;
    let history = reader.boolean(HISTORY.name, true)? && deepening;
    let width = reader.integer(WIDTH.name, 0..=i64::MAX, 0)?;
    let width = usize::try_from(width).unwrap_or(usize::MAX);
    if width > 0 && !(killer_moves || history) {
        let accepts = "0, or `deepening` with `killer_moves` or `history`, which choose the moves";
        return Err(reader.conflict(WIDTH.name, accepts));
    }
    let budget = MatchBudget::read(&reader)?;
    let settings = Settings {
        opponents: reader.choice(OPPONENTS.name, &opponents, Opponents::Paranoid)?,
        window: if bounded { BOUNDED } else { OUTSIDE },
        narrow: true,
        chance_cuts: reader.choice(CHANCE_CUTS.name, &chance_cuts, ChanceCuts::Star1)?,
        depth: settings::depth(&reader)?,
        evaluation: settings::evaluation(&reader)?,
        deepening,
        remembered: settings::remembered(&reader, settings::DEFAULT_REMEMBERED)?,
        killer_moves,
        history,
        width,
        quiescence: u32::try_from(quiescence).expect("the range was checked"),
        extends_forced: reader.boolean(EXTEND_FORCED.name, false)?,
        allocates_time: reader.boolean(ALLOCATE_TIME.name, !budget.is_none())?,
    };
    let move_order = reader.moves(settings::MOVE_ORDER.name)?;
    let solved = match settings.opponents {
        Opponents::Cooperative => reader.without_table(SOLVED.name)?,
        _ => reader.table(SOLVED.name)?,
    };
    let seed = reader.seed()?;
    let searcher = Searcher::new(KIND.name, settings, move_order, seed);
    let ponders = reader.boolean(settings::PONDER.name, false)?;
    Ok(budget.limit(KIND.name, seed, searcher.pondering(ponders).knowing(solved)))
}
