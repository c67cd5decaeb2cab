//! How nearly the conditions of a role's goals hold.
//!
//! A fact that holds has the degree of truth 0.9, one that does not 0.1; a conjunction has the
//! product of the degrees of its parts, a negation 1 without the degree of its operand
//! (Schiffel and Thielscher, "Fluxplayer: a successful general game player", AAAI 2007). The
//! conditions are those of the network, where they are conjunctions and negations of facts.

use games::network::Lit;
use games::{Network, RoleId, State};

/// Degree of truth of a fact that holds.
const HOLDS: f64 = 0.9;

/// The conditions of the goals of one role, as a program.
#[derive(Clone, Debug)]
pub(super) struct GoalProximity {
    /// The facts that matter, and the slots of their degrees.
    facts: Vec<(usize, u32)>,
    /// The conjunctions that matter, in order of evaluation: the slot of each, and its
    /// operands with slots in place of nodes.
    conjunctions: Vec<(u32, [Lit; 2])>,
    /// The goals, 0 to 100, and their conditions, with slots in place of nodes.
    goals: Vec<(f64, Lit)>,
    /// Degrees of truth, by slot. Slot 0 is what never holds.
    degrees: Vec<f64>,
}

impl GoalProximity {
    /// The conditions of the goals of `role`.
    pub(super) fn new(network: &Network, role: RoleId) -> Self {
        let goals = network.roles[usize::from(role.0)].goals.iter();
        let goals: Vec<(f64, Lit)> = goals
            .filter_map(|&(value, condition)| Some((f64::from(value.reward()?), condition)))
            .collect();
        let graph = &network.graph;
        let mut is_needed = vec![false; graph.n_nodes()];
        for (_, condition) in &goals {
            is_needed[condition.node() as usize] = true;
        }
        let ands: Vec<(u32, [Lit; 2])> = graph.ands().collect();
        for (node, operands) in ands.iter().rev() {
            if is_needed[*node as usize] {
                operands.iter().for_each(|operand| is_needed[operand.node() as usize] = true);
            }
        }
        let mut slots = vec![0; graph.n_nodes()];
        let mut n_slots = 1;
        let mut facts = Vec::new();
        for fact in 0..network.n_facts() {
            let node = graph.input(fact).node() as usize;
            if is_needed[node] {
                slots[node] = n_slots;
                facts.push((fact, n_slots));
                n_slots += 1;
            }
        }
        let slotted =
            |slots: &[u32], lit: Lit| Lit::new(slots[lit.node() as usize], lit.is_negated());
        let mut conjunctions = Vec::new();
        for (node, operands) in ands {
            if is_needed[node as usize] {
                slots[node as usize] = n_slots;
                conjunctions.push((n_slots, operands.map(|lit| slotted(&slots, lit))));
                n_slots += 1;
            }
        }
        let goals = goals.into_iter().map(|(goal, lit)| (goal, slotted(&slots, lit))).collect();
        Self { facts, conjunctions, goals, degrees: vec![0.0; n_slots as usize] }
    }

    /// The mean of the goals, each weighted with the degree of truth of its condition;
    /// `None` if none has any.
    ///
    /// # Panics
    /// If the network does not cover the state.
    pub(super) fn value(&mut self, network: &Network, state: &State) -> Option<f64> {
        assert!(network.covers(state), "the state is of another machine");
        for &(fact, slot) in &self.facts {
            let holds = network.holds(state, fact);
            self.degrees[slot as usize] = if holds { HOLDS } else { 1.0 - HOLDS };
        }
        for &(slot, [a, b]) in &self.conjunctions {
            self.degrees[slot as usize] = self.degree(a) * self.degree(b);
        }
        let (mut sum, mut degrees) = (0.0, 0.0);
        for &(goal, condition) in &self.goals {
            let degree = self.degree(condition);
            sum += goal * degree;
            degrees += degree;
        }
        (degrees > 0.0).then(|| sum / degrees)
    }

    fn degree(&self, lit: Lit) -> f64 {
        let degree = self.degrees[lit.node() as usize];
        if lit.is_negated() { 1.0 - degree } else { degree }
    }
}
