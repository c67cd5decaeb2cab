//! One position by a pass over the gates that matter in positions of its kind.
//!
//! Whose turn it is makes half of a network constant. So there is a program for
//! each kind of positions that play is often in, compiled from the network's
//! cofactor, and one for all others.

use std::sync::{Arc, OnceLock};

use super::split::{Split, Step};
use crate::compiled_network::CompiledNetwork;
use crate::network::{Evaluator, Network, cofactor, cofactor_size};
use crate::single_pass::{self, PassSize};

/// A kind has a program of its own if at least so much of play is in it.
const OFTEN: f64 = 0.125;
/// Kinds are told apart in networks of at most so many conjunctions. Passes over
/// more do not fit any cache, and to count what is left of them takes long.
const MAX_APART: usize = 50_000;
/// What it takes to turn from one program to another, in tenths of a nanosecond.
const TURN: u64 = 300;

/// The kinds of positions, and how often play is in each.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    split: Split,
    /// By kind: whether it has a program of its own.
    is_often: Vec<bool>,
}

impl Kinds {
    /// The kinds that save most, and what a step takes then, in tenths of a
    /// nanosecond. `whole` is what it takes without.
    pub(super) fn choose(network: &Network, walk: &[Step], whole: u64) -> (Self, u64) {
        if network.graph.n_ands() > MAX_APART {
            return (Self::of(&Split::default(), walk), whole);
        }
        let cost = |split: &Split| match split.n_kinds() {
            1 => whole,
            _ => TURN + Self::of(split, walk).price(network, walk, whole),
        };
        let (split, price) = Split::choose(network.n_facts(), walk, cost);
        (Self::of(&split, walk), price)
    }

    fn of(split: &Split, walk: &[Step]) -> Self {
        let mut visits = vec![0_usize; split.n_kinds()];
        walk.iter().for_each(|(state, _)| visits[split.kind(state)] += 1);
        let often = (walk.len() as f64 * OFTEN).max(1.0);
        let is_often = visits.iter().map(|&visits| visits as f64 >= often).collect();
        Self { split: split.clone(), is_often }
    }

    /// The mean over a walk.
    fn price(&self, network: &Network, walk: &[Step], whole: u64) -> u64 {
        let own = |(kind, _)| {
            let (n_gates, n_moves) = cofactor_size(network, &self.split.known(kind));
            (kind, PassSize { n_gates, n_facts: network.n_facts(), n_moves })
        };
        let often = self.is_often.iter().enumerate().filter(|(_, is_often)| **is_often);
        let sizes: Vec<(usize, PassSize)> = often.map(own).collect();
        let n_bytes = sizes.iter().map(|(_, size)| size.n_bytes()).sum();
        let mut prices = vec![whole; self.split.n_kinds()];
        sizes.iter().for_each(|&(kind, size)| prices[kind] = size.price(n_bytes));
        let sum: u64 = walk.iter().map(|(state, _)| prices[self.split.kind(state)]).sum();
        sum / walk.len().max(1) as u64
    }
}

/// A network as code: the whole, and what is left of it in each kind of positions.
/// Compiled when it is needed.
#[derive(Debug)]
pub(super) struct Programs {
    network: Arc<Network>,
    kinds: Kinds,
    whole: OnceLock<Arc<CompiledNetwork>>,
    /// By kind.
    own: Vec<OnceLock<Arc<CompiledNetwork>>>,
}

impl Programs {
    /// Nothing is compiled yet.
    pub(super) fn new(network: Arc<Network>, kinds: Kinds) -> Self {
        let own = kinds.is_often.iter().map(|_| OnceLock::new()).collect();
        Self { network, kinds, whole: OnceLock::new(), own }
    }

    /// By which facts positions are told apart.
    pub(super) fn split(&self) -> &Split {
        &self.kinds.split
    }

    /// Code for all positions.
    pub(super) fn whole(&self) -> &Arc<CompiledNetwork> {
        self.whole.get_or_init(|| Arc::new(CompiledNetwork::new(Arc::clone(&self.network))))
    }

    /// Code for positions of a kind.
    fn of_kind(&self, kind: usize) -> &Arc<CompiledNetwork> {
        if self.own.len() == 1 || !self.kinds.is_often[kind] {
            return self.whole();
        }
        self.own[kind].get_or_init(|| {
            let left = cofactor(&self.network, &self.split().known(kind));
            Arc::new(CompiledNetwork::new(Arc::new(left)))
        })
    }

    /// An evaluator in no particular position. Code that is often needed is
    /// compiled now.
    pub(super) fn evaluator(self: &Arc<Self>) -> Box<dyn Evaluator> {
        if self.own.len() == 1 {
            return single_pass::evaluator(self.whole());
        }
        let often = self.kinds.is_often.iter().enumerate().filter(|(_, is_often)| **is_often);
        let sheets = self.own.iter().map(|_| None).collect();
        let mut turns = Turns { programs: Arc::clone(self), sheets, kind: 0 };
        often.for_each(|(kind, _)| turns.turn_to(kind));
        Box::new(turns)
    }
}

/// An evaluator by passes, one for each kind of positions.
#[derive(Debug)]
struct Turns {
    programs: Arc<Programs>,
    /// By kind, made when they are needed.
    sheets: Vec<Option<Box<dyn Evaluator>>>,
    kind: usize,
}

impl Turns {
    fn turn_to(&mut self, kind: usize) {
        self.kind = kind;
        self.sheets[kind]
            .get_or_insert_with(|| single_pass::evaluator(self.programs.of_kind(kind)));
    }

    fn sheet(&self) -> &dyn Evaluator {
        &**self.sheets[self.kind].as_ref().expect("made when it was turned to")
    }

    fn sheet_mut(&mut self) -> &mut dyn Evaluator {
        &mut **self.sheets[self.kind].as_mut().expect("made when it was turned to")
    }
}

impl Evaluator for Turns {
    fn load(&mut self, state: &[u64]) {
        let kind = self.programs.split().kind(state);
        if kind != self.kind {
            self.turn_to(kind);
        }
        self.sheet_mut().load(state);
    }

    fn is_terminal(&self) -> bool {
        self.sheet().is_terminal()
    }

    fn is_legal(&self, role: usize, index: usize) -> bool {
        self.sheet().is_legal(role, index)
    }

    fn legal(&mut self, role: usize) -> &[u64] {
        self.sheet_mut().legal(role)
    }

    fn make(&mut self, moves: &[u32]) {
        self.sheet_mut().make(moves);
    }

    fn next(&mut self) -> &[u64] {
        self.sheet_mut().next()
    }

    fn input(&self, index: usize) -> bool {
        self.sheet().input(index)
    }

    fn goal(&mut self, role: usize, index: usize) -> bool {
        self.sheet_mut().goal(role, index)
    }
}
