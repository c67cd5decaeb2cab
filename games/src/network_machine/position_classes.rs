//! Position classes: positions with the same values of a few chosen facts.
//!
//! In a game with alternating turns nearly everything that depends on the turn flips
//! with every step and back with the next, so it pays to treat the two classes of
//! positions separately. Sancho, where the idea comes from, and galvanise find the
//! facts that say whose turn it is as it is done here: by playing.

use smallvec::SmallVec;

use crate::network::Lit;

/// Maximum number of facts that define the classes.
const MAX_FACTS: usize = 3;
/// Facts that are tried each time one is chosen.
const MAX_CANDIDATES: usize = 6;
/// A fact is chosen if at most this part of the cost is left.
const WORTH: f64 = 0.9;

/// The facts whose values define the class of a position.
#[derive(Clone, Debug, Default)]
pub(crate) struct PositionClasses {
    facts: SmallVec<[usize; MAX_FACTS]>,
}

/// A state and the inputs of the moves that were made in it; none where play ended.
pub(crate) type Step = (Vec<u64>, SmallVec<[u32; 4]>);

impl PositionClasses {
    /// Chooses the facts that lower a cost most among those that flip most in a walk
    /// through the game, and two at once if no single one lowers it enough and `tries_pairs`.
    /// Returns them with the cost that is left.
    pub(crate) fn choose(
        n_facts: usize,
        walk: &[Step],
        tries_pairs: bool,
        mut cost: impl FnMut(&Self) -> u64,
    ) -> (Self, u64) {
        let candidates = candidates(n_facts, walk);
        let mut best = Self::default();
        let mut least = cost(&best);
        while best.facts.len() < MAX_FACTS {
            let new = candidates.iter().filter(|fact| !best.facts.contains(fact));
            let singles = new.clone().map(|&fact| (fact, None));
            let pairs = new.clone().enumerate().flat_map(|(at, &fact)| {
                new.clone().skip(at + 1).map(move |&other| (fact, Some(other)))
            });
            let mut cheapest = |new: &mut dyn Iterator<Item = (usize, Option<usize>)>| {
                let with = |(fact, other): (usize, Option<usize>)| {
                    let mut classes = best.clone();
                    classes.facts.push(fact);
                    classes.facts.extend(other);
                    (cost(&classes), classes)
                };
                let found = new.map(with).min_by_key(|(cost, _)| *cost);
                found.filter(|(cost, _)| (*cost as f64) < least as f64 * WORTH)
            };
            let found = cheapest(&mut singles.into_iter()).or_else(|| {
                let fits = tries_pairs && best.facts.len() + 2 <= MAX_FACTS;
                fits.then(|| cheapest(&mut pairs.into_iter())).flatten()
            });
            let Some((cost, classes)) = found else { break };
            (least, best) = (cost, classes);
        }
        (best, least)
    }

    /// The facts.
    pub(crate) fn facts(&self) -> &[usize] {
        &self.facts
    }

    /// The number of classes.
    pub(crate) fn n_classes(&self) -> usize {
        1 << self.facts.len()
    }

    /// All classes.
    pub(crate) fn all(&self) -> std::ops::Range<usize> {
        0..self.n_classes()
    }

    /// The class of a state.
    pub(crate) fn class(&self, state: &[u64]) -> usize {
        let bit = |&fact: &usize| (state[fact / 64] >> (fact % 64) & 1) as usize;
        self.facts.iter().enumerate().map(|(at, fact)| bit(fact) << at).sum()
    }

    /// The literals of the facts that hold in the states of a class.
    pub(crate) fn known(&self, class: usize) -> SmallVec<[Lit; MAX_FACTS]> {
        let literal = |(at, &fact)| Lit::of_input(fact, class >> at & 1 == 1);
        self.facts.iter().enumerate().map(literal).collect()
    }
}

/// The facts that flip most in a walk, in descending order.
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
