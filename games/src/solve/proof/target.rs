//! A state whose value is wanted, and which questions about it are open.

use super::search::Answer;
use crate::{State, StateKey};

/// Which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The initial one.
    Root,
    /// The one after the first move with this number.
    After(usize),
}

/// A state and the bounds of its value, as places among the possible rewards.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) state: State,
    pub(super) key: StateKey,
    pub(super) least: usize,
    pub(super) most: usize,
    /// Questions to which repetitions leave no answer.
    undecided: Vec<usize>,
}

impl Target {
    /// A state of which nothing is known.
    pub(super) fn new(state: State, key: StateKey, n_rewards: usize) -> Self {
        Self { state, key, least: 0, most: n_rewards - 1, undecided: Vec::new() }
    }

    /// The value is known.
    pub(super) fn settle(&mut self, place: usize) {
        (self.least, self.most) = (place, place);
    }

    pub(super) fn is_known(&self) -> bool {
        self.least == self.most
    }

    /// Whether it is still to be answered if the value is at least the reward in this place.
    pub(super) fn is_open(&self, question: usize) -> bool {
        (self.least + 1..=self.most).contains(&question) && !self.undecided.contains(&question)
    }

    /// The open question in the middle: each answer leaves half of the rewards.
    pub(super) fn question(&self) -> Option<usize> {
        let middle = (self.least + self.most).div_ceil(2);
        let open = (self.least + 1..=self.most).filter(|&place| self.is_open(place));
        open.min_by_key(|place| place.abs_diff(middle))
    }

    /// Notes an answer.
    pub(super) fn note(&mut self, question: usize, answer: Answer) {
        match answer {
            Answer::Yes => self.least = self.least.max(question),
            Answer::No => self.most = self.most.min(question - 1),
            Answer::Undecided => self.undecided.push(question),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_leaves_half_of_the_rewards() {
        let mut target = Target::new(State::default(), StateKey::default(), 9);
        assert_eq!(target.question(), Some(4));
        target.note(4, Answer::Yes);
        assert_eq!(target.question(), Some(6));
        target.note(6, Answer::No);
        assert_eq!((target.question(), target.is_open(6)), (Some(5), false));
        target.note(5, Answer::Undecided);
        assert_eq!((target.question(), target.is_known()), (None, false));
        target.note(5, Answer::No);
        assert!(target.is_known());
    }
}
