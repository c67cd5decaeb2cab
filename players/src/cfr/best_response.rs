//! What a strategy is worth, and what a best response to it would gain.

use super::tree::{NodeKind, Tree};
use crate::Stop;

/// A strategy for all roles, judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Judgement {
    /// By role, its mean reward if all play the strategy.
    pub(super) values: Vec<f64>,
    /// By role, what it gains if it alone plays a best response to the others.
    pub(super) gains: Vec<f64>,
    /// By slot, the mean reward of the role after the move if all go on by the strategy;
    /// `None` in sets that the others never lead to.
    pub(super) slots: Vec<Option<f64>>,
    n_roles: usize,
}

impl Judgement {
    /// The mean over the roles that choose of what a best response gains. In an
    /// equilibrium it is 0. For two roles whose rewards add up to a constant it is what a
    /// player of the strategy loses at most, on average over the roles.
    pub(super) fn exploitability(&self) -> f64 {
        self.gains.iter().sum::<f64>() / self.n_roles.max(1) as f64
    }
}

/// Judges `strategy`, which is given by slot: the values of all roles, and the gains of the `roles`
/// that choose. `None` if the deadline of `stop` is due before. Node budgets do not limit it: no
/// move depends on it.
pub(super) fn judge(
    tree: &Tree,
    strategy: &[f64],
    roles: &[usize],
    stop: &Stop,
) -> Option<Judgement> {
    let mut judgement = Judgement {
        values: vec![0.0; tree.n_roles],
        gains: vec![0.0; tree.n_roles],
        slots: vec![None; tree.n_slots()],
        n_roles: roles.len(),
    };
    for role in 0..tree.n_roles {
        let mut of_slots = vec![(0.0, 0.0); tree.n_slots()];
        if !roles.contains(&role) {
            // Its decisions are not judged, so they need no weights.
            let others = vec![0.0; tree.nodes.len()];
            judgement.values[role] = value(tree, strategy, role, &others, &mut of_slots, stop)?;
            continue;
        }
        let others = probabilities(tree, strategy, role, stop)?;
        let value = value(tree, strategy, role, &others, &mut of_slots, stop)?;
        judgement.values[role] = value;
        let best = best_response(tree, strategy, role, &others, stop)?;
        judgement.gains[role] = (best - value).max(0.0);
        for (slot, (sum, weight)) in judgement.slots.iter_mut().zip(of_slots) {
            if weight > 0.0 {
                *slot = Some(sum / weight);
            }
        }
    }
    Some(judgement)
}

fn is_due(stop: &Stop, node: usize) -> bool {
    let is_late = || stop.deadline().is_some_and(|deadline| std::time::Instant::now() >= deadline);
    node.is_multiple_of(256) && (stop.cancel().is_cancelled() || is_late())
}

/// By node, the probability that chance and all roles but `role` lead there.
fn probabilities(tree: &Tree, strategy: &[f64], role: usize, stop: &Stop) -> Option<Vec<f64>> {
    let mut others = vec![0.0; tree.nodes.len()];
    others[0] = 1.0;
    for node in 0..tree.nodes.len() {
        if is_due(stop, node) {
            return None;
        }
        let children = tree.children(node);
        let here = others[node];
        match tree.nodes[node].kind {
            NodeKind::Terminal(_) => {}
            NodeKind::Chance => {
                for &child in children {
                    others[child as usize] += here / children.len() as f64;
                }
            }
            NodeKind::Decision(set) => {
                let set = &tree.sets[set as usize];
                let is_own = usize::from(set.role.0) == role;
                for (&child, slot) in children.iter().zip(set.slots()) {
                    others[child as usize] += here * if is_own { 1.0 } else { strategy[slot] };
                }
            }
        }
    }
    Some(others)
}

/// The mean reward of `role`, and by slot of its own the sum of values after the move and
/// of their weights.
fn value(
    tree: &Tree,
    strategy: &[f64],
    role: usize,
    others: &[f64],
    of_slots: &mut [(f64, f64)],
    stop: &Stop,
) -> Option<f64> {
    let mut values = vec![0.0; tree.nodes.len()];
    for node in (0..tree.nodes.len()).rev() {
        if is_due(stop, node) {
            return None;
        }
        let children = tree.children(node);
        values[node] = match tree.nodes[node].kind {
            NodeKind::Terminal(payoffs) => tree.payoff(payoffs, role),
            NodeKind::Chance => mean(&values, children),
            NodeKind::Decision(set) => {
                let set = &tree.sets[set as usize];
                let mut value = 0.0;
                for (&child, slot) in children.iter().zip(set.slots()) {
                    value += strategy[slot] * values[child as usize];
                    if usize::from(set.role.0) == role {
                        let (sum, weight) = &mut of_slots[slot];
                        *sum += others[node] * values[child as usize];
                        *weight += others[node];
                    }
                }
                value
            }
        };
    }
    Some(values[0])
}

/// The mean reward of `role` if it plays a best response, the same move in all nodes of an
/// information set. All nodes of a set are in one stage, and their children in later ones.
fn best_response(
    tree: &Tree,
    strategy: &[f64],
    role: usize,
    others: &[f64],
    stop: &Stop,
) -> Option<f64> {
    let mut values = vec![0.0; tree.nodes.len()];
    let mut worth = vec![0.0; tree.n_slots()];
    for stage in tree.stages.iter().rev() {
        for node in stage.clone() {
            if is_due(stop, node) {
                return None;
            }
            let children = tree.children(node);
            values[node] = match tree.nodes[node].kind {
                NodeKind::Terminal(payoffs) => tree.payoff(payoffs, role),
                NodeKind::Chance => mean(&values, children),
                NodeKind::Decision(set) => {
                    let set = &tree.sets[set as usize];
                    let pairs = children.iter().zip(set.slots());
                    if usize::from(set.role.0) == role {
                        for (&child, slot) in pairs {
                            worth[slot] += others[node] * values[child as usize];
                        }
                        0.0
                    } else {
                        pairs.map(|(&child, slot)| strategy[slot] * values[child as usize]).sum()
                    }
                }
            };
        }
        for node in stage.clone() {
            let NodeKind::Decision(set) = tree.nodes[node].kind else { continue };
            let set = &tree.sets[set as usize];
            if usize::from(set.role.0) != role {
                continue;
            }
            let best = set.slots().reduce(
                |best, slot| {
                    if worth[slot] > worth[best] { slot } else { best }
                },
            );
            let best = best.expect("a set has moves") - set.slots().start;
            values[node] = values[tree.children(node)[best] as usize];
        }
    }
    Some(values[0])
}

fn mean(values: &[f64], children: &[u32]) -> f64 {
    children.iter().map(|&child| values[child as usize]).sum::<f64>() / children.len() as f64
}
