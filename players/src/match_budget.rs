//! A budget of thinking time or nodes for a whole match, allocated over its moves.
//!
//! The clocks of GGP are for one move each, so what is saved in one is lost. A budget for the match
//! is the player's own: it decides how much each move is worth. Each may use one and a half times
//! the share that it would have if the rest of the match were as long as random play, and more where
//! searches used less than they might; what a search saves, since its move cannot change any more,
//! is left for later moves. (Compare "time remaining / moves to go" in Hyatt, "Using time wisely",
//! ICCA Journal 1984; and Baier and Winands, "Time management for Monte-Carlo tree search", IEEE
//! T-CIAIG 2016, for estimates by the length of playouts.)

use std::time::{Duration, Instant};

use games::{Cursor, MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::options::{OptionSpec, Reader};
use crate::search::track::Track;
use crate::{
    Belief, Deliberation, Failure, Observation, OptionError, Player, Seat, Stop, Turn, seed,
};

pub(crate) const MATCH_TIME: OptionSpec = OptionSpec {
    name: "match_time",
    accepts: "a duration with its unit, such as \"30s\"",
    default: "none",
    help: "Thinking time for all moves of a match together; the start clock is extra. The player \
           allocates it over the choices that it expects to have, and `allocate_time` is then true \
           by default. The play clock still limits each move.",
};

pub(crate) const MATCH_NODES: OptionSpec = OptionSpec {
    name: "match_nodes",
    accepts: "a whole number from 1",
    default: "none",
    help: "Node budget for all moves of a match together, allocated like `match_time`.",
};

/// Random playouts from each state to estimate how long the match will last.
const PLAYOUTS: u32 = 16;
/// Steps after which these are given up.
const MAX_LENGTH: u32 = 500;
/// The share of the time left that these may take.
const SHARE_OF_PLAYOUTS: u32 = 100;
/// What a move may use, as a multiple of an equal share: that of a search that uses all, and the
/// greatest one. More than an equal share, since a match is often decided, or solved, before its
/// end.
const LEAST_MULTIPLE: f64 = 1.5;
const GREATEST_MULTIPLE: f64 = 3.0;
/// The share of the budget left that a move may use at most, so that something is always left for a
/// match that lasts longer than random play.
const LARGEST_SHARE: f64 = 0.5;
/// Moves that a match is expected to have if no playout came to its end in time.
const UNKNOWN_MOVES: f64 = 30.0;

/// The budget of a match, as the options give it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MatchBudget {
    time: Option<Duration>,
    nodes: Option<u64>,
}

impl MatchBudget {
    /// The budget by [`MATCH_TIME`] and [`MATCH_NODES`].
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, OptionError> {
        Ok(Self {
            time: reader.duration(MATCH_TIME.name)?,
            nodes: match reader.integer(MATCH_NODES.name, 1..=i64::MAX, i64::MAX)? {
                i64::MAX => None,
                nodes => Some(nodes.cast_unsigned()),
            },
        })
    }

    /// Whether there is no budget.
    pub(crate) fn is_none(self) -> bool {
        self.time.is_none() && self.nodes.is_none()
    }

    /// The player `inner`, a searcher of the true state, with this budget; `inner` itself if there
    /// is none.
    pub(crate) fn limit(
        self,
        kind: &'static str,
        seed: Option<i64>,
        inner: impl Player + 'static,
    ) -> Box<dyn Player> {
        if self.is_none() {
            return Box::new(inner);
        }
        Box::new(Limited {
            kind,
            seed,
            rng: seed::generator(0, seed),
            budget: self,
            left: self,
            moves_left: UNKNOWN_MOVES,
            allocated: Self::default(),
            n_moves: 0.0,
            used: 0.0,
            track: None,
            note: None,
            inner,
        })
    }
}

/// A player with a budget for the match.
struct Limited<P> {
    kind: &'static str,
    seed: Option<i64>,
    rng: Pcg64,
    budget: MatchBudget,
    /// What is left of it.
    left: MatchBudget,
    /// The own moves that the rest of the match is expected to have.
    moves_left: f64,
    /// What the last move may use.
    allocated: MatchBudget,
    /// Moves of the match so far, and the sum of the parts that they used of what they might.
    n_moves: f64,
    used: f64,
    track: Option<Track>,
    /// What was allocated to the last move, as a sentence.
    note: Option<String>,
    inner: P,
}

impl<P: Player> Limited<P> {
    /// What the move in `state` gets, as a limit no later than `stop`.
    fn allocate(&mut self, state: &State, stop: &Stop) -> Result<Stop, Failure> {
        let began = Instant::now();
        let mut until = stop.clone();
        if let Some(time) = self.left.time {
            until = until.no_later_than(began + time / SHARE_OF_PLAYOUTS);
        }
        let expected = self.expected_choices(state, &until)?;
        self.moves_left = expected.unwrap_or(self.moves_left - 1.0).max(1.0);
        let share = (self.multiple() / self.moves_left).min(LARGEST_SHARE);
        let mut limited = stop.clone();
        let mut parts = Vec::new();
        if let Some(left) = self.left.time {
            let most = left.mul_f64(share);
            self.allocated.time = Some(most);
            limited = limited.no_later_than(began + most);
            let [most, left] = [most, left].map(|time| time.as_secs_f64());
            parts.push(format!("{most:.2} s of {left:.2} s"));
        }
        if let Some(left) = self.left.nodes {
            let most = (left as f64 * share) as u64;
            self.allocated.nodes = Some(most);
            limited = limited.after_at_most(most);
            parts.push(format!("{most} of {left} nodes"));
        }
        let parts = parts.join(" and ");
        self.note = Some(format!(
            "allocated up to {parts} left for the match; about {:.0} more choices are expected",
            self.moves_left
        ));
        Ok(limited)
    }

    /// What a move may use, as a multiple of an equal share: more where searches used less than they
    /// might so far. The first one is expected to use all.
    fn multiple(&self) -> f64 {
        (LEAST_MULTIPLE * (1.0 + self.n_moves) / (1.0 + self.used)).min(GREATEST_MULTIPLE)
    }

    /// Takes what a move used from what is left.
    fn spend(&mut self, time: Duration, nodes: u64) {
        let mut part: f64 = 0.0;
        if let (Some(left), Some(allocated)) = (&mut self.left.time, self.allocated.time) {
            *left = left.saturating_sub(time);
            part = part.max(time.as_secs_f64() / allocated.as_secs_f64().max(1e-9));
        }
        if let (Some(left), Some(allocated)) = (&mut self.left.nodes, self.allocated.nodes) {
            *left = left.saturating_sub(nodes);
            part = part.max(nodes as f64 / allocated.max(1) as f64);
        }
        self.n_moves += 1.0;
        self.used += part.min(1.0);
    }

    /// How often the role has a choice from `state` to the end of the match, in the mean of random
    /// playouts; `None` if none ended before `stop` was due.
    fn expected_choices(&mut self, state: &State, stop: &Stop) -> Result<Option<f64>, Failure> {
        let Some(track) = &mut self.track else { return Ok(None) };
        let mut counts = Vec::new();
        let mut cursor = track.machine.cursor(state);
        for _ in 0..PLAYOUTS {
            match n_choices(cursor.as_mut(), track.role, &mut self.rng, stop) {
                Ok(Some(n)) => counts.push(f64::from(n)),
                Ok(None) | Err(ReasoningError::Cancelled) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok((!counts.is_empty()).then(|| counts.iter().sum::<f64>() / counts.len() as f64))
    }

    fn forget(&mut self) {
        self.track = None;
        self.note = None;
        self.left = self.budget;
        self.moves_left = UNKNOWN_MOVES;
        (self.allocated, self.n_moves, self.used) = (MatchBudget::default(), 0.0, 0.0);
    }
}

impl<P: Player> Player for Limited<P> {
    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        self.inner.check(machine)
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.forget();
        self.rng = seed::generator(seat.seed, self.seed);
        let machine = seat.machine.take();
        let own = Seat { machine: machine.fork().into(), ..seat };
        let mut track = Track::new(own, self.kind)?;
        track.begin(stop)?;
        self.track = Some(track);
        self.inner.start(Seat { machine: machine.into(), ..seat }, stop)
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        let began = Instant::now();
        self.note = None;
        let state = match &mut self.track {
            Some(track) => track.follow(turn, stop)?,
            None => None,
        };
        if turn.legal.len() == 1 {
            // Also where the inner player ponders: that is the other player's time.
            return self.inner.play(turn, stop);
        }
        let limited = match state {
            Some(state) => self.allocate(&state, stop)?,
            None => stop.clone(),
        };
        let played = self.inner.play(turn, &limited);
        self.spend(began.elapsed(), self.inner.deliberation().map_or(0, |said| said.nodes));
        played
    }

    fn stop(&mut self, observation: Option<&Observation>) {
        self.forget();
        self.inner.stop(observation);
    }

    fn abort(&mut self) {
        self.forget();
        self.inner.abort();
    }

    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        self.inner.record_tree(max_nodes)
    }

    fn belief(&self) -> Option<Belief> {
        self.inner.belief()
    }

    fn deliberation(&self) -> Option<Deliberation> {
        let mut said = self.inner.deliberation()?;
        said.notes.splice(0..0, self.note.clone());
        Some(said)
    }
}

/// How often a role has a choice in one random playout from where the cursor began; `None` if
/// `stop` was due before its end.
fn n_choices(
    cursor: &mut dyn Cursor,
    role: RoleId,
    rng: &mut Pcg64,
    stop: &Stop,
) -> Result<Option<u32>, ReasoningError> {
    while cursor.take_back() {}
    let mut n = 0;
    for _ in 0..MAX_LENGTH {
        if stop.is_due(0) {
            return Ok(None);
        }
        if !cursor.is_terminal()? {
            n += u32::from(cursor.legal_moves(role)?.len() > 1);
        }
        if !cursor.play_chosen(&mut |n_moves| rng.random_range(0..n_moves))? {
            break;
        }
    }
    Ok(Some(n))
}

#[cfg(test)]
mod tests;
