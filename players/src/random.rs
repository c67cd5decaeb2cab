//! The random player: each legal move with the same probability (Genesereth
//! and Thielscher, "General Game Playing", 2014).

use games::MoveId;
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::kind::PlayerKind;
use crate::seed;
use crate::{Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn};

/// The random player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "random",
    summary: "Plays each legal move with the same probability.",
    options: &[],
    instant: true,
    plays_hidden_information: true,
    make,
};

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let seed = options.read(KIND.name, KIND.options)?.seed()?;
    Ok(Box::new(Random { seed, rng: seed::generator(0, seed) }))
}

struct Random {
    seed: Option<i64>,
    rng: Pcg64,
}

impl Player for Random {
    fn start(&mut self, seat: Seat, _: &Stop) -> Result<(), Failure> {
        self.rng = seed::generator(seat.seed, self.seed);
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, _: &Stop) -> Result<MoveId, Failure> {
        Ok(turn.legal[self.rng.random_range(0..turn.legal.len())])
    }

    fn abort(&mut self) {}

    fn deliberation(&self) -> Option<Deliberation> {
        None
    }
}
