//! Positions of one network, apart by what changes all the time.
//!
//! In a game of turns nearly everything that depends on whose turn it is flips
//! with every step, and back with the next. So there is a [`Propagation`] for each
//! value of the few facts whose flips cost most: each sees only what happened since
//! it was last used. Sancho, which made this up, and galvanise find such facts in
//! the same way, by playing.

use std::sync::Arc;

use smallvec::SmallVec;

use super::propagation::{Propagation, Wiring};

/// Facts that tell positions apart, at most.
const MAX_FACTS: usize = 3;
/// Facts that are tried for it, each time one is chosen.
const MAX_CANDIDATES: usize = 6;
/// A fact is chosen if it leaves at most this part of the work.
const WORTH: f64 = 0.9;

/// Which facts tell positions apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    facts: SmallVec<[usize; MAX_FACTS]>,
}

/// A state and the inputs of the moves that were made in it.
pub(crate) type Step = (Vec<u64>, SmallVec<[u32; 4]>);

impl Split {
    /// The facts that save most work in a walk through the game, and what work
    /// is left: counts changed in a step.
    pub(crate) fn choose(wiring: &Arc<Wiring>, n_facts: usize, walk: &[Step]) -> (Self, u64) {
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

        let mut best = Self::default();
        let mut least = best.work(wiring, n_facts, walk);
        while best.facts.len() < MAX_FACTS {
            let with = |&fact: &usize| {
                let mut split = best.clone();
                split.facts.push(fact);
                (split.work(wiring, n_facts, walk), split)
            };
            let new = candidates.iter().filter(|fact| !best.facts.contains(fact)).map(with);
            match new.min_by_key(|(work, _)| *work) {
                Some((work, split)) if (work as f64) < least as f64 * WORTH => {
                    (least, best) = (work, split);
                }
                _ => break,
            }
        }
        (best, least / walk.len().max(1) as u64)
    }

    /// What the walk costs, the first visits left out.
    fn work(&self, wiring: &Arc<Wiring>, n_facts: usize, walk: &[Step]) -> u64 {
        let mut positions = Positions::new(Arc::clone(wiring), self.clone(), n_facts);
        let mut work = 0;
        for (state, moves) in walk {
            let is_new = positions.select(state);
            let position = positions.current();
            let before = position.propagation.work();
            position.load(state, n_facts);
            position.make(moves);
            if !is_new {
                work += position.propagation.work() - before;
            }
        }
        work
    }

    fn index(&self, state: &[u64]) -> usize {
        let bit = |&fact: &usize| (state[fact / 64] >> (fact % 64) & 1) as usize;
        self.facts.iter().enumerate().map(|(at, fact)| bit(fact) << at).sum()
    }
}

/// A position and the moves made in it.
#[derive(Debug)]
pub(crate) struct Position {
    pub(crate) propagation: Propagation,
    moves: SmallVec<[u32; 4]>,
}

impl Position {
    /// Makes `state` the position, for questions about it alone. Tells whether it
    /// was another.
    pub(crate) fn load(&mut self, state: &[u64], n_facts: usize) -> bool {
        let changed = self.propagation.load(state, n_facts);
        self.propagation.settle_early();
        changed
    }

    /// Makes these inputs the moves. Those of before stay until then, since the
    /// same are often made again.
    pub(crate) fn make(&mut self, moves: &[u32]) {
        for &input in self.moves.iter().filter(|input| !moves.contains(input)) {
            self.propagation.set(input as usize, false);
        }
        for &input in moves.iter().filter(|input| !self.moves.contains(input)) {
            self.propagation.set(input as usize, true);
        }
        self.moves = SmallVec::from_slice(moves);
        self.propagation.settle_all();
    }
}

/// A position for each value of some facts, made when there is need of it.
#[derive(Debug)]
pub(crate) struct Positions {
    wiring: Arc<Wiring>,
    split: Split,
    positions: SmallVec<[Option<Box<Position>>; 1 << MAX_FACTS]>,
    current: usize,
}

impl Positions {
    pub(crate) fn new(wiring: Arc<Wiring>, split: Split, n_facts: usize) -> Self {
        debug_assert!(split.facts.iter().all(|&fact| fact < n_facts));
        let mut positions = SmallVec::new();
        positions.resize_with(1 << split.facts.len(), || None);
        let mut all = Self { wiring, split, positions, current: 0 };
        all.select(&vec![0; n_facts.div_ceil(64)]);
        all
    }

    /// Turns to the position for states like this one, which is then to be
    /// loaded. Tells whether it is a new one.
    pub(crate) fn select(&mut self, state: &[u64]) -> bool {
        self.current = self.split.index(state);
        let position = &mut self.positions[self.current];
        let is_new = position.is_none();
        position.get_or_insert_with(|| {
            let propagation = Propagation::new(Arc::clone(&self.wiring));
            Box::new(Position { propagation, moves: SmallVec::new() })
        });
        is_new
    }

    /// Which position is the current one.
    pub(crate) fn index(&self) -> usize {
        self.current
    }

    /// The current position.
    pub(crate) fn current(&mut self) -> &mut Position {
        self.positions[self.current].as_mut().expect("positions are made when they are selected")
    }

    /// The current position's values.
    pub(crate) fn values(&self) -> &Propagation {
        let position = self.positions[self.current].as_ref();
        &position.expect("positions are made when they are selected").propagation
    }
}
