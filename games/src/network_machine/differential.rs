//! One position by differential propagation: [`propagation`](super::propagation)
//! over the positions of each class ([`super::positions`]).

use std::sync::Arc;

use smallvec::SmallVec;

use super::WORD;
use super::activity;
use super::cone::{Cone, ConeValues};
use super::gates::Gates;
use super::position_classes::{PositionClasses, Step};
use super::positions::{self, Positions};
use super::propagation::Propagation;
use super::wiring::Wiring;
use crate::network::{Evaluator, Lit, Network};
use crate::split_mix::SplitMix;

/// Steps of random play from which position classes are chosen, and the most work that
/// choosing them may take.
const WALK: usize = activity::MAX_STEPS;
const WALK_WORK: u64 = 3_000_000;

/// What stays in the nearest caches.
const NEAR_BYTES: u64 = 100_000;
/// From this size on, what changes has to be fetched.
const FAR_BYTES: u64 = 1_100_000;

/// The data shared by all evaluators of a network.
#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) wiring: Arc<Wiring>,
    pub(crate) goals: Cone,
    classes: PositionClasses,
    /// The work of a step of random play, in changes of a count.
    work: u64,
    /// Conjunctions of goals that are computed in a step of random play.
    goal_work: u64,
    /// Gates of any number of inputs.
    pub(crate) n_gates: usize,
    /// Inputs of all these gates.
    pub(crate) n_gate_inputs: usize,
    n_facts: usize,
    /// Where the outputs of each role's legal moves begin, and of `terminal`.
    legal: Vec<usize>,
    terminal: usize,
    /// By role: how many moves, and where its goals begin.
    n_moves: Vec<usize>,
    first_goals: Vec<usize>,
}

impl Circuit {
    /// The circuit of a network, and the walk through the game from which its position
    /// classes were chosen.
    pub(crate) fn new(network: &Network) -> (Self, Vec<Step>) {
        // Outputs for the next state come first; they are needed only after moves.
        let mut outputs = network.next.clone();
        let pad = |outputs: &mut Vec<Lit>| {
            outputs.resize(outputs.len().next_multiple_of(WORD), Lit::FALSE);
        };
        pad(&mut outputs);
        let n_late = outputs.len();
        let mut legal = Vec::new();
        for role in &network.roles {
            legal.push(outputs.len());
            outputs.extend_from_slice(&role.legal);
            pad(&mut outputs);
        }
        let terminal = outputs.len();
        outputs.push(network.terminal);
        let mut goals = Vec::new();
        let mut first_goals = Vec::new();
        for role in &network.roles {
            first_goals.push(goals.len());
            goals.extend(role.goals.iter().map(|goal| goal.1));
        }
        let gates = Gates::new(&network.graph, &outputs);
        let mut circuit = Self {
            wiring: Arc::new(Wiring::new(&gates, n_late, None)),
            n_gates: gates.inputs.len(),
            n_gate_inputs: gates.n_edges(),
            goals: Cone::new(&network.graph, &goals),
            classes: PositionClasses::default(),
            work: 0,
            goal_work: 0,
            n_facts: network.n_facts(),
            legal,
            terminal,
            n_moves: network.roles.iter().map(|role| role.moves.len()).collect(),
            first_goals,
        };
        let walk = circuit.walk(&network.initial_state().words);
        let replay = |wiring: &Arc<Wiring>, classes: &PositionClasses| {
            positions::work(wiring, classes, circuit.n_facts, &walk)
        };
        // What flips depends on the classes, so these are chosen before any node leads others.
        let cost = |classes: &PositionClasses| replay(&circuit.wiring, classes);
        let (classes, _) = PositionClasses::choose(circuit.n_facts, &walk, false, cost);
        let flips = activity::flips(&gates, &classes, &walk);
        circuit.wiring = Arc::new(Wiring::new(&gates, n_late, Some(&flips)));
        let work = replay(&circuit.wiring, &classes);
        let n_steps = walk.len().max(1) as u64;
        let n_ends = walk.iter().filter(|(_, moves)| moves.is_empty()).count() as u64;
        circuit.work = work / n_steps;
        circuit.goal_work = circuit.goals.n_ands() as u64 * n_ends / n_steps;
        circuit.classes = classes;
        (circuit, walk)
    }

    /// The position classes.
    pub(crate) fn classes(&self) -> &PositionClasses {
        &self.classes
    }

    /// The work of a step of random play, in changes of a count.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Conjunctions of goals that are computed in a step of random play.
    pub(crate) fn goal_work(&self) -> u64 {
        self.goal_work
    }

    /// Number of gates of two operands for all but goals and percepts.
    pub(crate) fn n_pair_gates(&self) -> usize {
        self.n_gate_inputs - self.n_gates
    }

    /// The price of a step, in tenths of a nanosecond as measured on one computer.
    pub(crate) fn price(&self) -> u64 {
        let n_bits = self.n_facts + self.n_moves.iter().sum::<usize>();
        let far = (self.wiring.n_bytes() as u64).clamp(NEAR_BYTES, FAR_BYTES) - NEAR_BYTES;
        let fetched = self.work * 11 / 2 * far / (FAR_BYTES - NEAR_BYTES);
        1000 + self.work * 49 / 2 + fetched + 11 * n_bits as u64 / 5 + 21 * self.goal_work
    }

    fn positions(&self, classes: PositionClasses) -> Positions {
        Positions::new(Arc::clone(&self.wiring), classes, self.n_facts)
    }

    /// Some steps of random play, the same in every run. A state in which play ends is
    /// followed by the initial one.
    fn walk(&self, initial: &[u64]) -> Vec<Step> {
        let mut positions = self.positions(PositionClasses::default());
        let position = positions.current();
        let mut random = SplitMix::new(1);
        let mut walk: Vec<Step> = Vec::new();
        let mut state = initial.to_vec();
        while walk.len() < WALK && position.propagation.work() < WALK_WORK {
            position.load(&state, self.n_facts);
            let moves = match position.propagation.output(self.terminal) {
                true => None,
                false => self.random_moves(position.propagation.outputs(), &mut random),
            };
            let Some(moves) = moves else {
                if state == initial {
                    break;
                }
                walk.push((state.clone(), SmallVec::new()));
                state.copy_from_slice(initial);
                continue;
            };
            position.make(&moves);
            walk.push((state.clone(), moves));
            state.copy_from_slice(&position.propagation.outputs()[..initial.len()]);
        }
        walk
    }

    /// Inputs of a random legal move of each role, if each has one.
    fn random_moves(&self, outputs: &[u64], random: &mut SplitMix) -> Option<SmallVec<[u32; 4]>> {
        let mut first = self.n_facts;
        let mut moves = SmallVec::new();
        for (&n_moves, legal) in self.n_moves.iter().zip(&self.legal) {
            let words = &outputs[legal / WORD..][..n_moves.div_ceil(WORD)];
            let n_legal: u32 = words.iter().map(|word| word.count_ones()).sum();
            let is_legal = |&at: &usize| words[at / WORD] >> (at % WORD) & 1 == 1;
            let chosen = (0..n_moves).filter(is_legal).nth(random.below(n_legal as usize))?;
            moves.push((first + chosen) as u32);
            first += n_moves;
        }
        Some(moves)
    }
}

/// An evaluator that keeps the values of few positions and propagates what
/// changes from one to the next.
#[derive(Debug)]
pub(crate) struct Differential {
    circuit: Arc<Circuit>,
    positions: Positions,
    /// Values of goals, and the number of the position that they belong to.
    goals: ConeValues,
    goals_of: Option<usize>,
}

impl Differential {
    /// An evaluator without a position.
    pub(crate) fn new(circuit: &Arc<Circuit>) -> Self {
        Self {
            positions: circuit.positions(circuit.classes.clone()),
            goals: ConeValues::default(),
            goals_of: None,
            circuit: Arc::clone(circuit),
        }
    }

    fn values(&self) -> &Propagation {
        self.positions.values()
    }
}

impl Evaluator for Differential {
    fn load(&mut self, state: &[u64]) {
        self.positions.select(state);
        let changed = self.positions.current().load(state, self.circuit.n_facts);
        if changed && self.goals_of == Some(self.positions.index()) {
            self.goals_of = None;
        }
    }

    fn is_terminal(&self) -> bool {
        self.values().output(self.circuit.terminal)
    }

    fn is_legal(&self, role: usize, index: usize) -> bool {
        self.values().output(self.circuit.legal[role] + index)
    }

    fn legal(&mut self, role: usize) -> &[u64] {
        let first = self.circuit.legal[role] / WORD;
        &self.values().outputs()[first..][..self.circuit.n_moves[role].div_ceil(WORD)]
    }

    fn make(&mut self, moves: &[u32]) {
        self.positions.current().make(moves);
    }

    fn next(&mut self) -> &[u64] {
        // The outputs of facts come first, and unused bits are 0.
        &self.values().outputs()[..self.circuit.n_facts.div_ceil(WORD)]
    }

    fn input(&self, index: usize) -> bool {
        self.values().input(index)
    }

    fn goal(&mut self, role: usize, index: usize) -> bool {
        if self.goals_of != Some(self.positions.index()) {
            let values = self.positions.values();
            self.circuit.goals.evaluate(|input| values.input(input), &mut self.goals);
            self.goals_of = Some(self.positions.index());
        }
        self.circuit.goals.output(&self.goals, self.circuit.first_goals[role] + index)
    }
}
