//! Roles, moves, goals and states: the values that all reasoners share.

use smallvec::SmallVec;

/// A role of a game: index into [`Game::roles`](crate::Game::roles).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleId(pub u8);

impl RoleId {
    /// The ids of `n` roles. Validation admits at most 255.
    pub(crate) fn first(n: usize) -> impl ExactSizeIterator<Item = RoleId> + Clone {
        (0..n).map(|index| RoleId(index as u8))
    }
}

/// A move of a game. Ids are shared by a machine and all its
/// [forks](crate::StateMachine::fork); their numerical order means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveId(pub u32);

/// A fact of a game's states. Ids are shared by a machine and all its
/// [forks](crate::StateMachine::fork), and are small numbers; their order means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub u32);

/// A reward, 0 to 100 by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Goal(u8);

impl Goal {
    /// The worst goal.
    pub const MIN: Goal = Goal(0);
    /// The best goal.
    pub const MAX: Goal = Goal(100);

    /// `value` as a goal, if it lies in 0..=100.
    #[must_use]
    pub fn new(value: i64) -> Option<Goal> {
        u8::try_from(value).ok().filter(|&value| value <= 100).map(Goal)
    }

    /// The goal that is nearest to `value`.
    pub(crate) fn clamped(value: i64) -> Goal {
        Goal(value.clamp(0, 100) as u8)
    }

    /// The goal as a number, 0..=100.
    #[must_use]
    pub fn value(self) -> u8 {
        self.0
    }
}

/// The goals that the rules give to one role in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalReading {
    /// The distinct readable values, ascending, clamped into 0..=100.
    pub values: SmallVec<[Goal; 2]>,
    /// Some value lay outside 0..=100 and was clamped.
    pub clamped: bool,
    /// Some value was not an integer and was left out.
    pub unreadable: bool,
}

impl GoalReading {
    /// The goal, if the rules give exactly one and it is valid.
    #[must_use]
    pub fn unique(&self) -> Option<Goal> {
        match self.values.as_slice() {
            [goal] if !self.clamped && !self.unreadable => Some(*goal),
            _ => None,
        }
    }

    /// Adds a value that the rules give.
    pub(crate) fn add(&mut self, value: i64) {
        let goal = Goal::clamped(value);
        self.clamped |= i64::from(goal.value()) != value;
        if !self.values.contains(&goal) {
            self.values.push(goal);
        }
    }
}

/// One state of a game, opaque to everything but the machine that made it and the
/// machine's forks. Two states of one machine are the same exactly if they compare
/// equal; order and hash are arbitrary but fixed for one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// The machine's own encoding, canonical for the set of facts.
    pub(crate) words: Vec<u64>,
}

impl State {
    /// The machine's encoding, for callers that keep many states in one allocation. It
    /// means nothing to them; states of one machine may differ in the number of words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Becomes the state that these [`words`](State::words) were taken from. Other words
    /// are no state of any machine.
    #[inline]
    pub fn set_words(&mut self, words: &[u64]) {
        self.words.clear();
        // Most states have few words, which are not copied by a call.
        match *words {
            [word] => self.words.push(word),
            [first, second] => self.words.extend([first, second]),
            _ => self.words.extend_from_slice(words),
        }
    }
}
