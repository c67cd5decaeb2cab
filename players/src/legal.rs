//! The legal player: always the first legal move (Genesereth and Thielscher,
//! "General Game Playing", 2014).

use games::MoveId;

use crate::kind::PlayerKind;
use crate::{Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn};

/// The legal player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "legal",
    summary: "Plays the first legal move, in the order of the rules.",
    options: &[],
    instant: true,
    plays_hidden_information: true,
    make,
};

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    options.read(KIND.name, KIND.options)?.seed()?;
    Ok(Box::new(Legal))
}

struct Legal;

impl Player for Legal {
    fn start(&mut self, _: Seat, _: &Stop) -> Result<(), Failure> {
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, _: &Stop) -> Result<MoveId, Failure> {
        Ok(turn.legal[0])
    }

    fn abort(&mut self) {}

    fn deliberation(&self) -> Option<Deliberation> {
        None
    }
}
