//! A network with the evaluation method that is expected to be fastest and the code
//! for it. All forks of a machine share it.

use std::sync::Arc;

use super::class_passes::ClassPasses;
use super::class_programs::ClassPrograms;
use super::cone::Cone;
use super::differential::{Circuit, Differential};
use super::frequent_classes::FrequentClasses;
use super::lock_step;
use super::position_classes::PositionClasses;
use crate::children::ExpansionRange;
use crate::compiled_network::CompiledNetwork;
use crate::network::{Evaluator, Lit, Network};
use crate::single_pass::{self, Expander, PassSize, common_price};
use crate::state_machine::{Statistic, StatisticValue};

/// How the gates of one position are computed. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationMethod {
    /// The differences from an earlier position are propagated.
    Differential,
    /// Straight-line code computes all gates in a single pass or, where that saves
    /// much, those that matter in the position's class.
    Pass,
}

impl EvaluationMethod {
    fn name(self) -> &'static str {
        match self {
            EvaluationMethod::Differential => "differential",
            EvaluationMethod::Pass => "pass",
        }
    }
}

/// Maximum number of two-operand gates of a network whose children are computed by expansion.
/// Compiling more takes longer than a player may have time for.
const MAX_EXPANDED: usize = 60_000;

/// Maximum number of gates of a network whose playouts run in lock step.
const MAX_LOCK_STEP: usize = 120_000;

/// What computes one position after the other, and its children.
#[derive(Debug)]
pub(super) enum PositionEvaluator {
    /// The same code computes both.
    Common(Box<dyn Expander>),
    /// Each has code of its own.
    Separate {
        /// What computes positions.
        single: Box<dyn Evaluator>,
        /// What computes children, created when some are first requested.
        expander: Option<Box<dyn Expander>>,
        /// By position class: the expander of its own code, if it has some, created on first use.
        class_expanders: Vec<Option<Box<dyn Expander>>>,
    },
}

impl PositionEvaluator {
    /// What computes positions.
    #[inline]
    pub(super) fn single(&mut self) -> &mut dyn Evaluator {
        match self {
            Self::Common(expander) => expander.as_mut(),
            Self::Separate { single, .. } => single.as_mut(),
        }
    }

    /// What computes children. `backend` is that of this evaluator.
    pub(super) fn expander(&mut self, backend: &Backend) -> &mut dyn Expander {
        match self {
            Self::Common(expander) => expander.as_mut(),
            Self::Separate { expander, .. } => {
                expander.get_or_insert_with(|| backend.expander()).as_mut()
            }
        }
    }

    /// What computes the legal moves and the successors of `state`, and the outcomes of these, and
    /// nothing else. `backend` is that of this evaluator.
    pub(super) fn successor_expander(
        &mut self,
        backend: &Backend,
        state: &[u64],
    ) -> &mut dyn Expander {
        match self {
            Self::Common(expander) => expander.as_mut(),
            Self::Separate { expander, class_expanders, .. } => {
                let class = backend.programs.classes().class(state);
                let program = backend.programs.successors(class);
                let place = if program.is_some() { &mut class_expanders[class] } else { expander };
                place.get_or_insert_with(|| backend.expander_by(program)).as_mut()
            }
        }
    }
}

/// A network with its evaluation method and compiled code.
#[derive(Debug)]
pub(super) struct Backend {
    network: Arc<Network>,
    circuit: Arc<Circuit>,
    evaluation: EvaluationMethod,
    programs: Arc<ClassPrograms>,
    expansion_range: Option<ExpansionRange>,
    successor_range: Option<ExpansionRange>,
    percepts: Cone,
}

impl Backend {
    /// Chooses the method that is expected to be fastest, unless one is given. The
    /// choice follows from counts of gates, moves and updates in random play, never from
    /// a clock.
    pub(super) fn new(network: Arc<Network>, evaluation: Option<EvaluationMethod>) -> Self {
        let percepts = network.roles.iter().flat_map(|role| &role.percepts);
        let percepts: Vec<Lit> = percepts.map(|seen| seen.1).collect();
        let (circuit, walk) = Circuit::new(&network);
        let (n_facts, n_moves) = (network.n_facts(), network.n_moves());
        let whole = PassSize { n_gates: circuit.n_pair_gates(), n_facts, n_moves };
        let position = whole.position_price(whole.n_code_bytes());
        let whole = whole.price(whole.n_bytes());
        let (frequent, pass) = FrequentClasses::choose(&network, &walk, position);
        let pass = pass + common_price(n_moves, circuit.goal_work());
        let evaluation = evaluation.unwrap_or_else(|| {
            let is_least = |pass: u64| pass < circuit.price();
            // In the long run, joint moves have code of their own. Expansion is compared with the
            // price before that.
            let later = || pass.saturating_sub(frequent.joint_saving(&network, &walk));
            match is_least(pass) || is_least(later()) {
                true => EvaluationMethod::Pass,
                false => EvaluationMethod::Differential,
            }
        });
        let one = match evaluation {
            EvaluationMethod::Pass => pass,
            EvaluationMethod::Differential => circuit.price(),
        };
        // Two passes, and the work of laying out children side by side.
        let least = (2 * whole + 8_000).div_ceil(one) as usize;
        let expansion_range = ExpansionRange { least, most: single_pass::expansion_width() };
        // One pass, and the differences between successors.
        let least = (whole + 1_500).div_ceil(one).max(2) as usize;
        let successor_range = ExpansionRange { least, ..expansion_range };
        let is_expanded = circuit.n_pair_gates() <= MAX_EXPANDED;
        Self {
            expansion_range: is_expanded.then_some(expansion_range),
            successor_range: is_expanded.then_some(successor_range),
            percepts: Cone::new(&network.graph, &percepts),
            circuit: Arc::new(circuit),
            evaluation,
            programs: Arc::new(ClassPrograms::new(Arc::clone(&network), frequent)),
            network,
        }
    }

    /// The network.
    pub(super) fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// The method by which positions are computed.
    pub(super) fn evaluation(&self) -> EvaluationMethod {
        self.evaluation
    }

    /// For how many children expansion pays.
    pub(super) fn expansion_range(&self) -> Option<ExpansionRange> {
        self.expansion_range
    }

    /// The gates of all percepts, role after role.
    pub(super) fn percepts(&self) -> &Cone {
        &self.percepts
    }

    /// For how many successors it pays to compute them at once.
    pub(super) fn successor_range(&self) -> Option<ExpansionRange> {
        self.successor_range
    }

    /// An evaluator without a position, and what computes children.
    pub(super) fn evaluator(&self) -> PositionEvaluator {
        match self.evaluation {
            EvaluationMethod::Pass
                if self.expansion_range.is_some() && !self.programs.is_split() =>
            {
                PositionEvaluator::Common(self.expander())
            }
            _ => {
                let class_expanders = self.programs.classes().all().map(|_| None).collect();
                PositionEvaluator::Separate {
                    single: self.single(),
                    expander: None,
                    class_expanders,
                }
            }
        }
    }

    /// An evaluator of single positions, without one.
    pub(super) fn single(&self) -> Box<dyn Evaluator> {
        match self.evaluation {
            EvaluationMethod::Differential => Box::new(Differential::new(&self.circuit)),
            EvaluationMethod::Pass => Box::new(ClassPasses::new(&self.programs)),
        }
    }

    /// The same by passes, if that is the method.
    pub(super) fn passes(&self) -> Option<ClassPasses> {
        (self.evaluation == EvaluationMethod::Pass).then(|| ClassPasses::new(&self.programs))
    }

    /// An expander without a position.
    pub(super) fn expander(&self) -> Box<dyn Expander> {
        self.expander_by(None)
    }

    /// The same by the code of a position class, if it has some: for legal moves, successors and
    /// outcomes alone.
    fn expander_by(&self, of_class: Option<&Arc<CompiledNetwork>>) -> Box<dyn Expander> {
        single_pass::expander(of_class.unwrap_or_else(|| self.programs.whole()), &self.network)
    }

    /// The code for playouts in lock step; `None` if the network is too large to be
    /// compiled on first use.
    pub(super) fn lock_step_program(&self) -> Option<&Arc<CompiledNetwork>> {
        (self.network.graph.n_ands() <= MAX_LOCK_STEP).then(|| self.programs.whole())
    }

    /// Compiles in advance what evaluators, expanders and playouts need.
    pub(super) fn compile(&self) {
        drop(self.evaluator());
        drop(self.single());
        if self.expansion_range.is_some() {
            drop(self.expander());
            for class in self.programs.classes().all() {
                if let Some(program) = self.programs.successors(class) {
                    drop(self.expander_by(Some(program)));
                }
            }
        }
        if let Some(program) = self.lock_step_program() {
            lock_step::prepare(program);
        }
    }

    /// Gates have any number of inputs; the conjunctions of the network, two.
    pub(super) fn statistics(&self) -> Vec<Statistic> {
        let Self { network, circuit, percepts, .. } = self;
        let count = |name, value: usize| {
            let value = StatisticValue::Count(value as u64);
            Statistic { name, value }
        };
        let names = |name, names| Statistic { name, value: StatisticValue::Names(names) };
        let classes: &PositionClasses = match self.evaluation {
            EvaluationMethod::Differential => circuit.classes(),
            EvaluationMethod::Pass => self.programs.classes(),
        };
        let facts = classes.facts().iter().map(|&fact| network.facts[fact].to_string());
        let mut statistics = vec![
            count("facts", network.n_facts()),
            count("moves", network.n_moves()),
            count("conjunctions", network.graph.n_ands()),
            count("gates", circuit.n_gates),
            count("gate_inputs", circuit.n_gate_inputs),
            count("updates_per_step", circuit.work() as usize),
            count("goal_conjunctions", circuit.goals.n_ands()),
            count("percept_conjunctions", percepts.n_ands()),
            names("evaluation", vec![self.evaluation.name().to_owned()]),
        ];
        if !classes.facts().is_empty() {
            statistics.push(names("split_by", facts.collect()));
        }
        statistics
    }
}
