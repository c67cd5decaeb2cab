//! Counterfactual regret minimisation over the information sets of a whole game
//! (Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with
//! incomplete information", NIPS 2007), with alternating updates.
//!
//! Three ways to match regrets are known to be fast: CFR+ (Tammelin, "Solving large
//! imperfect information games using CFR+", 2014), discounted CFR (Brown and Sandholm,
//! "Solving imperfect-information games via discounted regret minimization", AAAI 2019)
//! and predictive CFR+ (Farina, Kroer and Sandholm, "Faster game solving via predictive
//! Blackwell approachability", AAAI 2021).

use games::split_mix::mix;

use super::tree::{NodeKind, Tree};
use crate::Stop;

/// How regrets are matched and strategies averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// CFR+, averaging with weights that grow linearly.
    Plus,
    /// Discounted CFR with its usual exponents 1.5, 0 and 2.
    Discounted,
    /// Predictive CFR+, averaging with weights that grow quadratically.
    Predictive,
}

/// Regrets and strategies so far.
pub(super) struct Solver {
    method: Method,
    /// By slot.
    regrets: Vec<f64>,
    /// By slot, the regrets of the iteration at hand.
    instant: Vec<f64>,
    /// By slot, the strategy of the iteration at hand.
    strategy: Vec<f64>,
    /// By slot, the weighted sum of all strategies.
    sums: Vec<f64>,
    /// By node, the probability that chance and the others lead there, for the role at hand.
    others: Vec<f64>,
    /// By node, the probability that the role at hand leads there.
    own: Vec<f64>,
    /// By node, what it is worth to the role at hand.
    values: Vec<f64>,
    /// Whole iterations done.
    n_iterations: u64,
    /// The roles with information sets, and which of them is at hand.
    roles: Vec<usize>,
    turn: usize,
    /// Nodes of the sweep at hand that are done: first forwards, then backwards.
    n_swept: usize,
}

impl Solver {
    /// Begins near the uniform strategy. It is slightly uneven, always in the same way, so
    /// that partners whose moves mean nothing by themselves come to the same convention.
    pub(super) fn new(tree: &Tree, method: Method) -> Self {
        let uneven = |slot: usize| 1e-6 * (1.0 + (mix(slot as u64) >> 40) as f64 / 2e8);
        let has_sets = |&role: &usize| tree.sets.iter().any(|set| usize::from(set.role.0) == role);
        let roles = (0..tree.n_roles).filter(has_sets).collect();
        let (n_slots, n_nodes) = (tree.n_slots(), tree.nodes.len());
        let mut solver = Self {
            method,
            regrets: (0..n_slots).map(uneven).collect(),
            instant: vec![0.0; n_slots],
            strategy: vec![0.0; n_slots],
            sums: vec![0.0; n_slots],
            others: vec![0.0; n_nodes],
            own: vec![0.0; n_nodes],
            values: vec![0.0; n_nodes],
            n_iterations: 0,
            roles,
            turn: 0,
            n_swept: 0,
        };
        for set in &tree.sets {
            solver.match_regrets(set.slots());
        }
        solver
    }

    /// The roles that choose.
    pub(super) fn roles(&self) -> &[usize] {
        &self.roles
    }

    /// Nobody ever chooses.
    pub(super) fn is_trivial(&self) -> bool {
        self.roles.is_empty()
    }

    /// Whole iterations so far.
    pub(super) fn n_iterations(&self) -> u64 {
        self.n_iterations
    }

    /// Sweeps over the tree until there were `iterations` in all or `stop` is due; a sweep
    /// that was stopped goes on where it was. `n_nodes` counts nodes.
    pub(super) fn run(&mut self, tree: &Tree, iterations: u64, stop: &Stop, n_nodes: &mut u64) {
        let n = tree.nodes.len();
        while self.n_iterations < iterations && !self.roles.is_empty() {
            while self.n_swept < 2 * n {
                if stop.is_due(*n_nodes) {
                    return;
                }
                let left = stop.node_budget().map_or(u64::MAX, |budget| budget - *n_nodes);
                let end = if self.n_swept < n { n } else { 2 * n };
                let chunk =
                    (end - self.n_swept).min(CHUNK).min(usize::try_from(left).unwrap_or(CHUNK));
                for at in self.n_swept..self.n_swept + chunk {
                    match at.checked_sub(n) {
                        None => self.forward(tree, at),
                        Some(at) => self.backward(tree, n - 1 - at),
                    }
                }
                self.n_swept += chunk;
                *n_nodes += chunk as u64;
            }
            self.update(tree);
            self.n_swept = 0;
            self.turn += 1;
            if self.turn == self.roles.len() {
                self.turn = 0;
                self.n_iterations += 1;
            }
        }
    }

    /// Hands the probabilities of a node on to its children.
    fn forward(&mut self, tree: &Tree, node: usize) {
        if node == 0 {
            self.others.fill(0.0);
            (self.others[0], self.own[0]) = (1.0, 1.0);
        }
        let (others, own) = (self.others[node], self.own[node]);
        let children = tree.children(node);
        match tree.nodes[node].kind {
            NodeKind::Terminal(_) => {}
            NodeKind::Chance => {
                let share = others / children.len() as f64;
                for &child in children {
                    self.others[child as usize] += share;
                    self.own[child as usize] = own;
                }
            }
            NodeKind::Decision(set) => {
                let set = &tree.sets[set as usize];
                let is_own = usize::from(set.role.0) == self.roles[self.turn];
                for (&child, slot) in children.iter().zip(set.slots()) {
                    let share = self.strategy[slot];
                    let (others_share, own_share) =
                        if is_own { (1.0, share) } else { (share, 1.0) };
                    self.others[child as usize] += others * others_share;
                    self.own[child as usize] = own * own_share;
                }
            }
        }
    }

    /// Finds what a node is worth from its children, and the regrets there.
    fn backward(&mut self, tree: &Tree, node: usize) {
        let role = self.roles[self.turn];
        let children = tree.children(node);
        self.values[node] = match tree.nodes[node].kind {
            NodeKind::Terminal(payoffs) => tree.payoff(payoffs, role),
            NodeKind::Chance => {
                let sum: f64 = children.iter().map(|&child| self.values[child as usize]).sum();
                sum / children.len() as f64
            }
            NodeKind::Decision(set) => {
                let set = &tree.sets[set as usize];
                let pairs = children.iter().zip(set.slots());
                let value = pairs
                    .clone()
                    .map(|(&child, slot)| self.strategy[slot] * self.values[child as usize])
                    .sum();
                if usize::from(set.role.0) == role {
                    let others = self.others[node];
                    for (&child, slot) in pairs {
                        self.instant[slot] += others * (self.values[child as usize] - value);
                    }
                }
                value
            }
        };
    }

    /// Ends the turn of a role: its strategy counts, and the next one follows from its
    /// regrets.
    fn update(&mut self, tree: &Tree) {
        let role = self.roles[self.turn];
        let t = (self.n_iterations + 1) as f64;
        // All nodes of a set have the same probability of the role's own moves.
        let mut is_counted = vec![false; tree.sets.len()];
        let weight = match self.method {
            Method::Plus => t,
            Method::Discounted | Method::Predictive => t * t,
        };
        for (node, own) in tree.nodes.iter().zip(&self.own) {
            let NodeKind::Decision(set) = node.kind else { continue };
            let set_index = set as usize;
            let set = &tree.sets[set_index];
            if usize::from(set.role.0) == role && !is_counted[set_index] {
                is_counted[set_index] = true;
                for slot in set.slots() {
                    self.sums[slot] += weight * own * self.strategy[slot];
                }
            }
        }
        let positive = t.powf(1.5) / (t.powf(1.5) + 1.0);
        for set in tree.sets.iter().filter(|set| usize::from(set.role.0) == role) {
            for slot in set.slots() {
                let instant = self.instant[slot];
                let regret = &mut self.regrets[slot];
                *regret = match self.method {
                    Method::Plus | Method::Predictive => (*regret + instant).max(0.0),
                    Method::Discounted => {
                        *regret * if *regret > 0.0 { positive } else { 0.5 } + instant
                    }
                };
            }
            self.match_regrets(set.slots());
            self.instant[set.slots()].fill(0.0);
        }
    }

    /// The strategy in proportion to the positive regrets; uniform if there are none.
    fn match_regrets(&mut self, slots: std::ops::Range<usize>) {
        let n = slots.len() as f64;
        let mut total = 0.0;
        for slot in slots.clone() {
            let predicted = match self.method {
                Method::Predictive => self.regrets[slot] + self.instant[slot],
                Method::Plus | Method::Discounted => self.regrets[slot],
            };
            self.strategy[slot] = predicted.max(0.0);
            total += self.strategy[slot];
        }
        for share in &mut self.strategy[slots] {
            *share = if total > 0.0 { *share / total } else { 1.0 / n };
        }
    }

    /// The average strategy so far, by slot: this is what approaches an equilibrium. Moves
    /// that get less than `least` are left out (thresholding, Ganzfried, Sandholm and Waugh
    /// 2012): they are remnants of early iterations.
    pub(super) fn average(&self, tree: &Tree, least: f64) -> Vec<f64> {
        let mut average = self.sums.clone();
        for set in &tree.sets {
            let shares = &mut average[set.slots()];
            let total: f64 = shares.iter().sum();
            let n = shares.len() as f64;
            for share in shares.iter_mut() {
                *share = if total > 0.0 { *share / total } else { 1.0 / n };
            }
            let kept: f64 = shares.iter().filter(|&&share| share >= least).sum();
            if kept > 0.0 {
                for share in shares {
                    *share = if *share >= least { *share / kept } else { 0.0 };
                }
            }
        }
        average
    }
}

/// Nodes between two looks at the clock.
const CHUNK: usize = 256;
