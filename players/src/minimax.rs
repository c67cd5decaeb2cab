//! Minimax: my best move against the worst reply (von Neumann 1928; Russell and
//! Norvig, "Artificial Intelligence: A Modern Approach"; for GDL games
//! Genesereth and Thielscher, "General Game Playing", 2014).
//!
//! With `deepening = false, transposition = 0` it is the textbook's procedure
//! to the letter; the defaults make the same choice useful under a clock.
//!
//! | `opponents` | the others | value of a state |
//! | --- | --- | --- |
//! | `paranoid` | one coalition that knows my move | max over mine, min over theirs |
//! | `matrix` | one coalition that does not know it | mixed max-min where both have a choice |
//! | `max_n` | each for itself | everyone's best, I first, ties against me |
//! | `cooperative` | all for me | max over joint moves |

use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::searcher::Searcher;
use crate::search::{BOUNDED, Opponents, Settings, UNBOUNDED, settings};
use crate::{OptionError, Options, Player};

/// The minimax player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "minimax",
    summary: "Searches all moves to a depth and plays the one with the best worst case.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const OPPONENTS: OptionSpec = OptionSpec {
    name: "opponents",
    accepts: "\"paranoid\", \"matrix\", \"max_n\" or \"cooperative\"",
    default: "\"paranoid\"",
    help: "Model of the other players: `paranoid`, a coalition that knows the player's move; \
           `matrix`, a coalition that does not know it; `max_n`, each for itself; `cooperative`, \
           all move in the player's favour.",
};

const OPTIONS: &[OptionSpec] = &[
    OPPONENTS,
    settings::DEPTH,
    settings::EVALUATION,
    settings::DEEPENING,
    settings::TRANSPOSITION,
    settings::BOUNDED,
    settings::MOVE_ORDER,
];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let bounded = reader.boolean(settings::BOUNDED.name, true)?;
    let settings = Settings {
        opponents: reader.choice(OPPONENTS.name, &settings::OPPONENTS, Opponents::Paranoid)?,
        window: if bounded { BOUNDED } else { UNBOUNDED },
        depth: settings::depth(&reader)?,
        evaluation: settings::evaluation(&reader)?,
        deepening: reader.boolean(settings::DEEPENING.name, true)?,
        remembered: settings::remembered(&reader, settings::DEFAULT_REMEMBERED)?,
        ..Settings::TEXTBOOK
    };
    let move_order = reader.moves(settings::MOVE_ORDER.name)?;
    Ok(Box::new(Searcher::new(KIND.name, settings, move_order, reader.seed()?)))
}
