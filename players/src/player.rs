//! The interface between the match manager and a player in the same process.

use std::time::Duration;

use games::{Expression, MoveId, ReasoningError, RoleId, StateMachine};

use crate::{Belief, Deliberation, OwnMachine, Stop};

/// What a player receives once, before the match.
pub struct Seat {
    /// The rules, as a reasoner of the player's own.
    pub machine: OwnMachine,
    /// The role it plays.
    pub role: RoleId,
    /// Thinking time between receiving the rules and the first move; `None` if unlimited.
    pub start_clock: Option<Duration>,
    /// Thinking time for each move; `None` if unlimited.
    pub play_clock: Option<Duration>,
    /// Seed of everything random the player does in this match.
    pub seed: u64,
}

/// What a player perceives of the step just played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// GDL-I: the moves of all roles, in role order.
    JointMove(Vec<MoveId>),
    /// GDL-II: the move executed for the role itself, and its percepts.
    Percepts {
        /// The move executed for this role (not always the one it chose).
        own_move: MoveId,
        /// Its percepts, as a set in canonical order.
        percepts: Vec<Expression>,
    },
}

/// What a player receives at each step.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    /// Number of steps played so far; 0 for the first move.
    pub step: u32,
    /// What happened in the step before; `None` at the first.
    pub observation: Option<&'a Observation>,
    /// The legal moves of the player's role, in canonical order, never empty.
    /// In a well-formed game of hidden information a role can derive them itself
    /// (Thielscher 2010), so they reveal nothing.
    pub legal: &'a [MoveId],
}

/// A failure of the player itself. The match manager records it as a fault; a player
/// that only runs out of time returns a legal move instead.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The reasoner could not compute the rules.
    #[error(transparent)]
    Reasoning(#[from] ReasoningError),
    /// The player cannot play this game (several roles for a single-player
    /// method, hidden information for a search of the true state).
    #[error("the player cannot play this game: {0}")]
    Unsuitable(String),
}

/// A program that plays one role of one match at a time.
///
/// ```
/// use games::MoveId;
/// use players::{Deliberation, Failure, Observation, Player, Seat, Stop, Turn};
///
/// /// Plays the last legal move.
/// struct Last;
///
/// impl Player for Last {
///     fn start(&mut self, _: Seat, _: &Stop) -> Result<(), Failure> {
///         Ok(())
///     }
///     fn play(&mut self, turn: &Turn<'_>, _: &Stop) -> Result<MoveId, Failure> {
///         Ok(turn.legal[turn.legal.len() - 1])
///     }
///     fn abort(&mut self) {}
///     fn deliberation(&self) -> Option<Deliberation> {
///         None
///     }
/// }
///
/// let turn = Turn { step: 0, observation: None, legal: &[MoveId(3), MoveId(5)] };
/// let chosen = Last.play(&turn, &Stop::never());
/// assert_eq!(chosen.ok(), Some(MoveId(5)));
/// ```
///
/// The methods are called in the order `start`, `play`..., `stop` or `abort`,
/// after which the player may be started again. All run on the player's own
/// thread, except for players whose [`PlayerKind::instant`](crate::PlayerKind::instant) is
/// set: those answer immediately and may be called on the manager's thread.
pub trait Player: Send {
    /// Receives the seat and may think until `stop` is due.
    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure>;

    /// Chooses one of `turn.legal` before `stop` is due.
    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure>;

    /// The match is over; `observation` is of its last step. Without a player's own way
    /// to end, it is as if the match were broken off.
    fn stop(&mut self, observation: Option<&Observation>) {
        let _ = observation;
        self.abort();
    }

    /// The match was broken off.
    fn abort(&mut self);

    /// Checks before any match, without a clock, that the player can play this game in
    /// every role. Most players can if their [`PlayerKind`](crate::PlayerKind) can, and
    /// need not implement it.
    ///
    /// # Errors
    /// [`Failure::Unsuitable`] with the reason.
    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        let _ = machine;
        Ok(())
    }

    /// Makes the tree of each later search part of the player's report on its reply, up to
    /// `max_nodes` states; `None` for as many as the player chooses. Returns whether the player
    /// searches a tree.
    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        let _ = max_nodes;
        false
    }

    /// The states in which the match may be, by what the player saw of it; `None` for players
    /// that keep no account of them, or if no state explains what they saw.
    fn belief(&self) -> Option<Belief> {
        None
    }

    /// Counters of the last `start` or `play`; `None` for players that do not search.
    fn deliberation(&self) -> Option<Deliberation>;
}
