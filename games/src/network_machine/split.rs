//! Facts by which positions are told apart.
//!
//! In a game of turns nearly everything that depends on whose turn it is flips
//! with every step, and back with the next. So it saves much to keep the two kinds
//! of positions apart. Sancho, which made this up, and galvanise find the facts
//! that say whose turn it is in the same way as here: by playing.

use smallvec::SmallVec;

/// Facts that tell positions apart, at most.
const MAX_FACTS: usize = 3;
/// Facts that are tried for it, each time one is chosen.
const MAX_CANDIDATES: usize = 6;
/// A fact is chosen if it leaves at most this part of the cost.
const WORTH: f64 = 0.9;

/// Which facts tell positions apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    facts: SmallVec<[usize; MAX_FACTS]>,
}

/// A state and the inputs of the moves that were made in it.
pub(crate) type Step = (Vec<u64>, SmallVec<[u32; 4]>);

impl Split {
    /// The facts that lower a cost most, of those that flip most in a walk through
    /// the game, and the cost that is left.
    pub(crate) fn choose(
        n_facts: usize,
        walk: &[Step],
        mut cost: impl FnMut(&Self) -> u64,
    ) -> (Self, u64) {
        let candidates = candidates(n_facts, walk);
        let mut best = Self::default();
        let mut least = cost(&best);
        while best.facts.len() < MAX_FACTS {
            let with = |&fact: &usize| {
                let mut split = best.clone();
                split.facts.push(fact);
                (cost(&split), split)
            };
            let new = candidates.iter().filter(|fact| !best.facts.contains(fact)).map(with);
            match new.min_by_key(|(cost, _)| *cost) {
                Some((cost, split)) if (cost as f64) < least as f64 * WORTH => {
                    (least, best) = (cost, split);
                }
                _ => break,
            }
        }
        (best, least)
    }

    /// The facts.
    pub(crate) fn facts(&self) -> &[usize] {
        &self.facts
    }

    /// How many kinds of positions there are.
    pub(crate) fn n_kinds(&self) -> usize {
        1 << self.facts.len()
    }

    /// Which kind a state is.
    pub(crate) fn kind(&self, state: &[u64]) -> usize {
        let bit = |&fact: &usize| (state[fact / 64] >> (fact % 64) & 1) as usize;
        self.facts.iter().enumerate().map(|(at, fact)| bit(fact) << at).sum()
    }

    /// What the facts are in states of a kind.
    pub(crate) fn known(&self, kind: usize) -> SmallVec<[(usize, bool); MAX_FACTS]> {
        self.facts.iter().enumerate().map(|(at, &fact)| (fact, kind >> at & 1 == 1)).collect()
    }
}

/// The facts that flip most in a walk, most first.
fn candidates(n_facts: usize, walk: &[Step]) -> Vec<usize> {
    let mut flips = vec![0_u32; n_facts];
    for pair in walk.windows(2) {
        for (at, (before, after)) in pair[0].0.iter().zip(&pair[1].0).enumerate() {
            let mut changed = before ^ after;
            while changed != 0 {
                flips[at * 64 + changed.trailing_zeros() as usize] += 1;
                changed &= changed - 1;
            }
        }
    }
    let mut candidates: Vec<usize> = (0..n_facts).filter(|&fact| flips[fact] > 0).collect();
    candidates.sort_by_key(|&fact| std::cmp::Reverse(flips[fact]));
    candidates.truncate(MAX_CANDIDATES);
    candidates
}
