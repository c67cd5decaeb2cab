//! A single pass over the gates that matter in the position's class.
//!
//! Knowing whose turn it is makes half of a network constant. So each frequent
//! position class has code of its own, compiled from the network's cofactor; all
//! other classes share the code of the whole network.

use std::sync::{Arc, OnceLock};

use super::position_classes::{PositionClasses, Step};
use crate::compiled_network::CompiledNetwork;
use crate::network::{Evaluator, Network, cofactor, cofactor_size};
use crate::single_pass::{self, PassSize};

/// A class is frequent if at least this part of play is in it.
const OFTEN: f64 = 0.125;
/// Maximum number of conjunctions of a network whose positions are classified. Passes over more do
/// not fit any cache, and counting the gates of their cofactors takes long.
const MAX_APART: usize = 50_000;
/// The price of switching from one class to another, in tenths of a nanosecond.
const SWITCH: u64 = 300;

/// Position classes, and which of them are frequent.
#[derive(Clone, Debug)]
pub(super) struct FrequentClasses {
    classes: PositionClasses,
    /// By class: whether it is frequent and so has code of its own.
    is_often: Vec<bool>,
}

impl FrequentClasses {
    /// The classification that saves most, and the price of a step with it, in tenths
    /// of a nanosecond. `whole` is the price without one.
    pub(super) fn choose(network: &Network, walk: &[Step], whole: u64) -> (Self, u64) {
        if network.graph.n_ands() > MAX_APART {
            return (Self::of(&PositionClasses::default(), walk), whole);
        }
        let cost = |classes: &PositionClasses| match classes.n_classes() {
            1 => whole,
            _ => SWITCH + Self::of(classes, walk).price(network, walk, whole),
        };
        let (classes, price) = PositionClasses::choose(network.n_facts(), walk, cost);
        (Self::of(&classes, walk), price)
    }

    fn of(classes: &PositionClasses, walk: &[Step]) -> Self {
        let mut visits = vec![0_usize; classes.n_classes()];
        walk.iter().for_each(|(state, _)| visits[classes.class(state)] += 1);
        let often = (walk.len() as f64 * OFTEN).max(1.0);
        let is_often = visits.iter().map(|&visits| visits as f64 >= often).collect();
        Self { classes: classes.clone(), is_often }
    }

    /// The mean price of a step over a walk.
    fn price(&self, network: &Network, walk: &[Step], whole: u64) -> u64 {
        let own = |(class, _)| {
            let (n_gates, n_moves) = cofactor_size(network, &self.classes.known(class));
            (class, PassSize { n_gates, n_facts: network.n_facts(), n_moves })
        };
        let often = self.is_often.iter().enumerate().filter(|(_, is_often)| **is_often);
        let sizes: Vec<(usize, PassSize)> = often.map(own).collect();
        let n_bytes = sizes.iter().map(|(_, size)| size.n_bytes()).sum();
        let mut prices = vec![whole; self.classes.n_classes()];
        sizes.iter().for_each(|&(class, size)| prices[class] = size.price(n_bytes));
        let sum: u64 = walk.iter().map(|(state, _)| prices[self.classes.class(state)]).sum();
        sum / walk.len().max(1) as u64
    }
}

/// The code of the whole network and of its cofactor for each frequent class, compiled
/// on first use.
#[derive(Debug)]
pub(super) struct ClassPrograms {
    network: Arc<Network>,
    frequent: FrequentClasses,
    whole: OnceLock<Arc<CompiledNetwork>>,
    /// By class.
    own: Vec<OnceLock<Arc<CompiledNetwork>>>,
}

impl ClassPrograms {
    /// Compiles nothing yet.
    pub(super) fn new(network: Arc<Network>, frequent: FrequentClasses) -> Self {
        let own = frequent.is_often.iter().map(|_| OnceLock::new()).collect();
        Self { network, frequent, whole: OnceLock::new(), own }
    }

    /// The classification.
    pub(super) fn classes(&self) -> &PositionClasses {
        &self.frequent.classes
    }

    /// The code for all positions.
    pub(super) fn whole(&self) -> &Arc<CompiledNetwork> {
        self.whole.get_or_init(|| Arc::new(CompiledNetwork::new(Arc::clone(&self.network))))
    }

    /// The code for the positions of a class.
    fn of_class(&self, class: usize) -> &Arc<CompiledNetwork> {
        if self.own.len() == 1 || !self.frequent.is_often[class] {
            return self.whole();
        }
        self.own[class].get_or_init(|| {
            let left = cofactor(&self.network, &self.classes().known(class));
            Arc::new(CompiledNetwork::new(Arc::new(left)))
        })
    }

    /// Whether some classes may have code of their own.
    pub(super) fn is_split(&self) -> bool {
        self.own.len() > 1
    }

    /// An evaluator without a position. The code of frequent classes is compiled now.
    pub(super) fn evaluator(self: &Arc<Self>) -> Box<dyn Evaluator> {
        if self.own.len() == 1 {
            return single_pass::evaluator(self.whole());
        }
        let often = self.frequent.is_often.iter().enumerate().filter(|(_, is_often)| **is_often);
        let passes = self.own.iter().map(|_| None).collect();
        let mut evaluator = ClassPasses { programs: Arc::clone(self), passes, class: 0 };
        often.for_each(|(class, _)| evaluator.switch_to(class));
        Box::new(evaluator)
    }
}

/// An evaluator with a single pass for each position class.
#[derive(Debug)]
struct ClassPasses {
    programs: Arc<ClassPrograms>,
    /// By class, created on first use.
    passes: Vec<Option<Box<dyn Evaluator>>>,
    class: usize,
}

impl ClassPasses {
    fn switch_to(&mut self, class: usize) {
        self.class = class;
        self.passes[class]
            .get_or_insert_with(|| single_pass::evaluator(self.programs.of_class(class)));
    }

    fn pass(&self) -> &dyn Evaluator {
        &**self.passes[self.class].as_ref().expect("created by `switch_to`")
    }

    fn pass_mut(&mut self) -> &mut dyn Evaluator {
        &mut **self.passes[self.class].as_mut().expect("created by `switch_to`")
    }
}

impl Evaluator for ClassPasses {
    fn load(&mut self, state: &[u64]) {
        let class = self.programs.classes().class(state);
        if class != self.class {
            self.switch_to(class);
        }
        self.pass_mut().load(state);
    }

    fn is_terminal(&self) -> bool {
        self.pass().is_terminal()
    }

    fn is_legal(&self, role: usize, index: usize) -> bool {
        self.pass().is_legal(role, index)
    }

    fn legal(&mut self, role: usize) -> &[u64] {
        self.pass_mut().legal(role)
    }

    fn make(&mut self, moves: &[u32]) {
        self.pass_mut().make(moves);
    }

    fn next(&mut self) -> &[u64] {
        self.pass_mut().next()
    }

    fn input(&self, index: usize) -> bool {
        self.pass().input(index)
    }

    fn goal(&mut self, role: usize, index: usize) -> bool {
        self.pass_mut().goal(role, index)
    }
}
