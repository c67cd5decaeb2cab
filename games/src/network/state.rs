//! How a state of a network is written: the one place that knows.
//!
//! Fact `i` of [`Network::facts`] is bit `i % 64` of word `i / 64` of
//! [`State`]; a state has [`Network::n_state_words`] words, the bits beyond the
//! last fact are zero. Equal sets of facts are thus equal words, and 64 states
//! are 64 by 64 bits that turn into 64 lanes of 64 facts by one transposition.

use super::Network;
use crate::{Expression, State};

impl Network {
    /// Number of words of a state of this network.
    #[must_use]
    pub fn n_state_words(&self) -> usize {
        self.n_facts().div_ceil(64)
    }

    /// The state in which exactly the facts hold for which `holds` says so.
    pub fn state_where(&self, mut holds: impl FnMut(usize) -> bool) -> State {
        let mut words = vec![0; self.n_state_words()];
        for fact in 0..self.n_facts() {
            words[fact / 64] |= u64::from(holds(fact)) << (fact % 64);
        }
        State { words }
    }

    /// The initial state.
    #[must_use]
    pub fn initial_state(&self) -> State {
        self.state_where(|fact| self.initial[fact])
    }

    /// The state in which exactly these facts hold; `None` if the network does
    /// not know one of them.
    #[must_use]
    pub fn state_of(&self, facts: &[Expression]) -> Option<State> {
        let mut words = vec![0; self.n_state_words()];
        for fact in facts {
            let index = self.facts.iter().position(|known| known == fact)?;
            words[index / 64] |= 1 << (index % 64);
        }
        Some(State { words })
    }

    /// Whether a state of a machine that computes this network is a state of the network.
    /// States that play cannot reach may not be.
    #[must_use]
    pub fn covers(&self, state: &State) -> bool {
        state.words.len() == self.n_state_words()
    }

    /// Whether a fact holds in a state of this network.
    ///
    /// # Panics
    /// If there is no such fact.
    #[must_use]
    pub fn holds(&self, state: &State, fact: usize) -> bool {
        assert!(fact < self.n_facts(), "fact {fact} of {}", self.n_facts());
        state.words[fact / 64] >> (fact % 64) & 1 == 1
    }
}
