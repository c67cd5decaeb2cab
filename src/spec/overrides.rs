//! What the command line sets instead of the spec.

use std::time::Duration;

use super::{Contestant, FormatWord};

/// Settings of the command line that replace those of the spec.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The seed.
    pub seed: Option<u64>,
    /// Matches at once.
    pub jobs: Option<u32>,
    /// The compared players. The spec's players are then their opponents; there may be
    /// none.
    pub contenders: Option<Contenders>,
    /// Play clocks, one tournament for each.
    pub play_clocks: Vec<Duration>,
    /// Nodes for each move, one tournament for each.
    pub nodes: Vec<u64>,
    /// The format.
    pub format: Option<FormatWord>,
    /// Rounds of a swiss system or a ladder.
    pub rounds: Option<u32>,
    /// Whether clearly weaker players are dropped early.
    pub race: bool,
    /// Whether players sit out of games that they cannot play.
    pub skip_unsuitable: bool,
}

/// Two players to be compared.
#[derive(Clone, Debug)]
pub struct Contenders {
    /// The current player.
    pub base: Contestant,
    /// The player that may replace it.
    pub head: Contestant,
    /// A copy of the head, as a check of the machine.
    pub canary: Option<Contestant>,
}
