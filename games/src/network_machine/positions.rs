//! Positions of one network, apart by what changes all the time.
//!
//! There is a [`Propagation`] for each kind of positions that a [`Split`] tells
//! apart: each sees only what happened since it was last used.

use std::sync::Arc;

use smallvec::SmallVec;

use super::propagation::{Propagation, Wiring};
use super::split::{Split, Step};

/// What a walk costs where positions are told apart, the first visits left out:
/// counts changed.
pub(crate) fn work(wiring: &Arc<Wiring>, split: &Split, n_facts: usize, walk: &[Step]) -> u64 {
    let mut positions = Positions::new(Arc::clone(wiring), split.clone(), n_facts);
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

/// A position of each kind, made when there is need of it.
#[derive(Debug)]
pub(crate) struct Positions {
    wiring: Arc<Wiring>,
    split: Split,
    positions: Vec<Option<Box<Position>>>,
    current: usize,
}

impl Positions {
    pub(crate) fn new(wiring: Arc<Wiring>, split: Split, n_facts: usize) -> Self {
        let mut positions = Vec::new();
        positions.resize_with(split.n_kinds(), || None);
        let mut all = Self { wiring, split, positions, current: 0 };
        all.select(&vec![0; n_facts.div_ceil(64)]);
        all
    }

    /// Turns to the position for states like this one, which is then to be
    /// loaded. Tells whether it is a new one.
    pub(crate) fn select(&mut self, state: &[u64]) -> bool {
        self.current = self.split.kind(state);
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
