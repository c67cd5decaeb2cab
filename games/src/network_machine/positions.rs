//! One position of a network for each position class.
//!
//! Each class of [`PositionClasses`] has a [`Propagation`] of its own, which propagates
//! only the differences since it was last used.

use std::sync::Arc;

use smallvec::SmallVec;

use super::position_classes::{PositionClasses, Step};
use super::propagation::Propagation;
use super::wiring::Wiring;

/// The work of a walk with these classes, in changes of a count, first visits of classes not
/// included.
pub(crate) fn work(
    wiring: &Arc<Wiring>,
    classes: &PositionClasses,
    n_facts: usize,
    walk: &[Step],
) -> u64 {
    let mut positions = Positions::new(Arc::clone(wiring), classes.clone(), n_facts);
    let mut work = 0;
    for (state, moves) in walk {
        let is_new = positions.select(state);
        let position = positions.current();
        let before = position.propagation.work();
        position.load(state, n_facts);
        // Where play ends, nobody asks for a next state.
        if !moves.is_empty() {
            position.make(moves);
        }
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
    /// Loads `state` for questions about it alone. Returns whether the position
    /// changed.
    pub(crate) fn load(&mut self, state: &[u64], n_facts: usize) -> bool {
        let changed = self.propagation.load(state, n_facts);
        self.propagation.settle_early();
        changed
    }

    /// Loads moves. Earlier moves stay in place until then, since the same ones often
    /// come again.
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

/// A position of each class, created on first use.
#[derive(Debug)]
pub(crate) struct Positions {
    wiring: Arc<Wiring>,
    classes: PositionClasses,
    positions: Vec<Option<Box<Position>>>,
    current: usize,
}

impl Positions {
    pub(crate) fn new(wiring: Arc<Wiring>, classes: PositionClasses, n_facts: usize) -> Self {
        let mut positions = Vec::new();
        positions.resize_with(classes.n_classes(), || None);
        let mut all = Self { wiring, classes, positions, current: 0 };
        all.select(&vec![0; n_facts.div_ceil(64)]);
        all
    }

    /// Switches to the position for the class of this state, which must be loaded
    /// next. Returns whether the position was created just now.
    pub(crate) fn select(&mut self, state: &[u64]) -> bool {
        self.current = self.classes.class(state);
        let position = &mut self.positions[self.current];
        let is_new = position.is_none();
        position.get_or_insert_with(|| {
            let propagation = Propagation::new(Arc::clone(&self.wiring));
            Box::new(Position { propagation, moves: SmallVec::new() })
        });
        is_new
    }

    /// The number of the current position.
    pub(crate) fn index(&self) -> usize {
        self.current
    }

    /// The current position.
    pub(crate) fn current(&mut self) -> &mut Position {
        self.positions[self.current].as_mut().expect("positions are made when they are selected")
    }

    /// The values of the current position.
    pub(crate) fn values(&self) -> &Propagation {
        let position = self.positions[self.current].as_ref();
        &position.expect("positions are made when they are selected").propagation
    }
}
