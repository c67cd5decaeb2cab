//! Compulsive deliberation (Genesereth and Thielscher, "General Game Playing",
//! 2014, on single-player games): at each step search the whole remaining tree
//! and remember nothing but the state. Wasteful, and harmless if time allows.
//!
//! With several roles the best move is the one with the best worst case, as in
//! bounded minimax.

use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::searcher::Searcher;
use crate::search::{BOUNDED, Settings, UNBOUNDED, settings};
use crate::{OptionError, Options, Player};

/// The compulsive deliberation player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "compulsive_deliberation",
    summary: "Searches all of the remaining game at each step; for small games.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const OPTIONS: &[OptionSpec] = &[settings::BOUNDED, settings::MOVE_ORDER];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let bounded = reader.boolean(settings::BOUNDED.name, true)?;
    let window = if bounded { BOUNDED } else { UNBOUNDED };
    let settings = Settings { window, ..Settings::TEXTBOOK };
    let move_order = reader.moves(settings::MOVE_ORDER.name)?;
    Ok(Box::new(
        Searcher::new(KIND.name, settings, move_order, reader.seed()?).searching_forced_moves(),
    ))
}
