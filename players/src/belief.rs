//! What players of games with hidden information share: which states a match may be in,
//! and how probable each of them is, by what one role did and was told.
//!
//! A [`Belief`] is a list of weighted [`Line`]s. The moves of chance are uniform by the
//! rules, and those of the other roles are taken to be: after each step, every line is
//! continued by all replies, those are kept that explain the percepts, and equal states
//! are merged by adding their weights (Thielscher, "A general game description language
//! for incomplete information games", AAAI 2010; for weights, Schäfer, Buro and Hartmann,
//! "The UCT algorithm applied to games with imperfect information", 2008). Weights
//! matter: at the Monty Hall problem two states are left, and one is twice as probable as
//! the other.
//!
//! Beliefs are exact as long as they fit into a fixed number of lines. Larger ones are
//! represented by a sample, a particle filter (Gordon, Salmond and Smith 1993). If none of
//! its lines explains what happened, new ones are found from the history.

mod replies;
#[cfg(test)]
mod tests;
mod tracker;

use std::hash::{DefaultHasher, Hash, Hasher};

use games::split_mix::mix;
use games::{Game, MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::Observation;

pub(crate) use replies::Replies;
pub(crate) use tracker::{PARTICLES, Tracker, TrackerSettings};

/// What a role knows: a hash of everything that it did, was told and was allowed to do since
/// the match began. Roles never forget, so two lines with equal knowledge belong to one
/// information set. (In a sane game, what is allowed follows from the rest.)
///
/// Of `n` different histories some two have equal hashes with a probability of about
/// `n^2 / 2^65`: for a million less than one in thirty million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Knowledge(u64);

impl Knowledge {
    /// The knowledge of `role` after a step that it observed.
    pub(crate) fn observed(self, role: RoleId, observation: &Observation) -> Self {
        let mut hasher = DefaultHasher::new();
        let own_move = match observation {
            Observation::Percepts { own_move, percepts } => {
                percepts.hash(&mut hasher);
                Some(*own_move)
            }
            Observation::JointMove(joint_move) => {
                joint_move.hash(&mut hasher);
                joint_move.get(usize::from(role.0)).copied()
            }
        };
        // A joint move without the role's own is no step of this game.
        own_move.map_or(self, |own_move| self.after(own_move, hasher.finish()))
    }

    /// The knowledge of a role that has these legal moves now.
    pub(crate) fn allowed(self, legal: &[MoveId]) -> Self {
        // Their order means nothing.
        let sum = legal.iter().fold(0u64, |sum, id| sum.wrapping_add(mix(u64::from(id.0))));
        Self(mix(self.0 ^ sum))
    }

    /// The knowledge after a step in which the role made `own_move` and was told the rest.
    fn after(self, own_move: MoveId, told: u64) -> Self {
        let step = mix(told ^ mix(u64::from(own_move.0)));
        Self(mix(self.0.rotate_left(1) ^ step))
    }
}

/// Adds to what each role knows the moves that it may make. Chance knows nothing.
pub(crate) fn allow(game: &Game, knowledge: &mut [Knowledge], replies: &Replies) {
    let legal = game.role_ids().zip(&replies.by_role);
    for (known, (role, legal)) in knowledge.iter_mut().zip(legal) {
        if game.random() != Some(role) {
            *known = known.allowed(legal);
        }
    }
}

/// What `role` knows after `joint_move` in `state`. In a game without hidden information
/// it sees the whole joint move.
pub(crate) fn knowledge_after(
    machine: &mut dyn StateMachine,
    before: Knowledge,
    state: &State,
    joint_move: &[MoveId],
    role: RoleId,
) -> Result<Knowledge, ReasoningError> {
    let mut hasher = DefaultHasher::new();
    if machine.game().kind().hidden_information {
        machine.percepts(state, joint_move, role)?.hash(&mut hasher);
    } else {
        joint_move.hash(&mut hasher);
    }
    Ok(before.after(joint_move[usize::from(role.0)], hasher.finish()))
}

/// A way in which the match may have gone.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The state that it led to.
    pub(crate) state: State,
    /// What each role knows, by role; empty unless it is followed.
    pub(crate) knowledge: Vec<Knowledge>,
    /// Its probability, up to a factor that all lines share.
    pub(crate) weight: f64,
}

/// The states that a match may be in, by what one role did and was told. Never empty; the
/// probabilities add up to 1. The other roles are taken to move at random, as chance does
/// (Schäfer, Buro and Hartmann 2008).
#[derive(Clone, Debug)]
pub struct Belief {
    /// All different.
    pub(crate) lines: Vec<Line>,
    /// These are all states that are possible, with their probabilities.
    pub(crate) is_exact: bool,
}

/// The most probable states of a [`Belief`].
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyStates {
    /// Number of states of the belief.
    pub n_states: usize,
    /// Whether the belief has all states that are possible; else they are a sample.
    pub is_exact: bool,
    /// At most [`Self::MOST`] of its states with their probabilities, the most probable first.
    pub states: Vec<(State, f64)>,
}

impl LikelyStates {
    /// Maximum number of states.
    pub const MOST: usize = 5;
}

impl Belief {
    /// The states, all different, each with its probability.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (&State, f64)> {
        self.lines.iter().map(|line| (&line.state, line.weight))
    }

    /// The most probable states, of equals the first.
    pub(crate) fn likeliest(&self) -> LikelyStates {
        let mut likely: Vec<&Line> = Vec::with_capacity(LikelyStates::MOST + 1);
        for line in &self.lines {
            let at = likely.partition_point(|it| it.weight >= line.weight);
            if at < LikelyStates::MOST {
                likely.insert(at, line);
                likely.truncate(LikelyStates::MOST);
            }
        }
        let states = likely.into_iter().map(|line| (line.state.clone(), line.weight)).collect();
        LikelyStates { n_states: self.lines.len(), is_exact: self.is_exact, states }
    }

    /// Whether these are all states that are possible; else they are a sample.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The belief that the match is in `state`.
    #[cfg(test)]
    pub(crate) fn certain(state: State) -> Self {
        Self { lines: vec![Line { state, knowledge: vec![], weight: 1.0 }], is_exact: true }
    }

    /// `lines` with weights that add up to 1; `None` if there is none.
    fn of(mut lines: Vec<Line>, is_exact: bool) -> Option<Self> {
        let total: f64 = lines.iter().map(|line| line.weight).sum();
        if lines.is_empty() {
            return None;
        }
        for line in &mut lines {
            line.weight /= total;
        }
        Some(Self { lines, is_exact })
    }

    /// A line, each with the probability that is its weight.
    pub(crate) fn draw(&self, rng: &mut Pcg64) -> &Line {
        let mut left = rng.random::<f64>();
        for line in &self.lines {
            left -= line.weight;
            if left < 0.0 {
                return line;
            }
        }
        self.lines.last().expect("a belief is never empty")
    }

    /// At most `n` lines that stand for all: these themselves if they are few enough, and
    /// else a sample, in which a line comes up in proportion to its weight, as evenly as
    /// whole numbers permit (systematic resampling, Kitagawa 1996).
    pub(crate) fn sample(&self, n: usize, rng: &mut Pcg64) -> Self {
        if self.lines.len() <= n {
            return self.clone();
        }
        let mut lines: Vec<Line> = Vec::with_capacity(n);
        let offset = rng.random::<f64>();
        let (mut sum, mut n_drawn) = (0.0, 0);
        for line in &self.lines {
            sum += line.weight;
            let so_far = (sum * n as f64 - offset).ceil().max(0.0) as usize;
            if so_far > n_drawn {
                lines.push(Line { weight: (so_far - n_drawn) as f64, ..line.clone() });
                n_drawn = so_far;
            }
        }
        Self::of(lines, false).unwrap_or_else(|| self.clone())
    }

    /// What there is to say of it: `belief: 12 states`.
    pub(crate) fn note(&self) -> String {
        let n = self.lines.len();
        let states = if n == 1 { "state" } else { "states" };
        let kind = if self.is_exact { "" } else { ", sampled" };
        format!("belief: {n} {states}{kind}")
    }
}
