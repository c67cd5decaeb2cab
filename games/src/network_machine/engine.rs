//! What computes a network: the way that is expected to be fastest, and the code
//! for it, shared by all forks of a machine.

use std::sync::Arc;

use super::cone::Cone;
use super::differential::{Circuit, Differential};
use super::lock_step;
use super::split::Split;
use super::turns::{Kinds, Programs};
use crate::children::ExpansionRange;
use crate::compiled_network::CompiledNetwork;
use crate::network::{Evaluator, Lit, Network};
use crate::single_pass::{self, Expander, PassSize};
use crate::state_machine::{Statistic, StatisticValue};

/// How the gates of one position are computed. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// What differs from an earlier position is propagated.
    Differential,
    /// All gates are computed, by straight-line code; where it saves much, only
    /// those that matter to who is to move.
    Pass,
}

impl Evaluation {
    fn name(self) -> &'static str {
        match self {
            Evaluation::Differential => "differential",
            Evaluation::Pass => "pass",
        }
    }
}

/// Children are computed together where the network has no more gates of two
/// operands. To compile more takes longer than a player may have time for.
const MAX_EXPANDED: usize = 20_000;

/// Playouts run in lock step where the network has no more gates.
const MAX_LOCK_STEP: usize = 120_000;

/// A network and how it is computed.
#[derive(Debug)]
pub(super) struct Engine {
    network: Arc<Network>,
    circuit: Arc<Circuit>,
    evaluation: Evaluation,
    programs: Arc<Programs>,
    together: Option<ExpansionRange>,
    percepts: Cone,
}

impl Engine {
    /// Chooses what is expected to be fastest, unless that is said. It rests on
    /// counts of gates and of what changes in random play, and not on a clock.
    pub(super) fn new(network: Arc<Network>, evaluation: Option<Evaluation>) -> Self {
        let percepts = network.roles.iter().flat_map(|role| &role.percepts);
        let percepts: Vec<Lit> = percepts.map(|seen| seen.1).collect();
        let (circuit, walk) = Circuit::new(&network);
        let (n_facts, n_moves) = (network.n_facts(), network.n_moves());
        let whole = PassSize { n_gates: circuit.n_gates(), n_facts, n_moves };
        let whole = whole.price(whole.n_bytes());
        let (kinds, pass) = Kinds::choose(&network, &walk, whole);
        let evaluation = evaluation.unwrap_or(match pass < circuit.price() {
            true => Evaluation::Pass,
            false => Evaluation::Differential,
        });
        let one = match evaluation {
            Evaluation::Pass => pass,
            Evaluation::Differential => circuit.price(),
        };
        // Two passes, and what it takes to lay out children side by side.
        let least = (2 * whole + 8_000).div_ceil(one) as usize;
        let together = ExpansionRange { least, most: single_pass::expansion_width() };
        Self {
            together: (circuit.n_gates() <= MAX_EXPANDED).then_some(together),
            percepts: Cone::new(&network.graph, &percepts),
            circuit: Arc::new(circuit),
            evaluation,
            programs: Arc::new(Programs::new(Arc::clone(&network), kinds)),
            network,
        }
    }

    /// The network.
    pub(super) fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// How positions are computed.
    pub(super) fn evaluation(&self) -> Evaluation {
        self.evaluation
    }

    /// When children are computed together.
    pub(super) fn expansion_range(&self) -> Option<ExpansionRange> {
        self.together
    }

    /// What computes percepts, role after role.
    pub(super) fn percepts(&self) -> &Cone {
        &self.percepts
    }

    /// An evaluator in no particular position.
    pub(super) fn evaluator(&self) -> Box<dyn Evaluator> {
        match self.evaluation {
            Evaluation::Differential => Box::new(Differential::new(&self.circuit)),
            Evaluation::Pass => self.programs.evaluator(),
        }
    }

    /// What computes children together.
    pub(super) fn expander(&self) -> Box<dyn Expander> {
        single_pass::expander(self.programs.whole())
    }

    /// What playouts run in lock step, if the network is not too large for it to be
    /// compiled when it is first needed.
    pub(super) fn lock_step_program(&self) -> Option<&Arc<CompiledNetwork>> {
        (self.network.graph.n_ands() <= MAX_LOCK_STEP).then(|| self.programs.whole())
    }

    /// Compiles what evaluators, expanders and playouts would compile.
    pub(super) fn compile(&self) {
        drop(self.evaluator());
        if self.together.is_some() {
            drop(self.expander());
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
        let split: &Split = match self.evaluation {
            Evaluation::Differential => circuit.split(),
            Evaluation::Pass => self.programs.split(),
        };
        let facts = split.facts().iter().map(|&fact| network.facts[fact].to_string());
        let mut statistics = vec![
            count("facts", network.n_facts()),
            count("moves", network.n_moves()),
            count("conjunctions", network.graph.n_ands()),
            count("gates", circuit.wiring.n_real_gates()),
            count("gate_inputs", circuit.wiring.n_edges()),
            count("changes_per_step", circuit.work() as usize),
            count("goal_conjunctions", circuit.goals.n_ands()),
            count("percept_conjunctions", percepts.n_ands()),
            names("evaluation", vec![self.evaluation.name().to_owned()]),
        ];
        if !split.facts().is_empty() {
            statistics.push(names("split_by", facts.collect()));
        }
        statistics
    }
}
