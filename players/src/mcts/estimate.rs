//! What positions look worth by a linear evaluation, which takes the place of playouts, and
//! how that moves up the tree: by minimax (Lanctot, Winands, Pepels and Sturtevant, "Monte
//! Carlo tree search with heuristic evaluations using implicit minimax backups", CIG 2014).

use std::sync::Arc;

use games::{Game, ReasoningError, RoleId, State, StateMachine};

use super::roles::Roles;
use super::tree::{Edge, Kind, NONE, Tree};
use crate::learning::{Evaluator, LinearEvaluation};

/// Evaluates positions for all roles.
pub(super) struct Estimator {
    evaluator: Evaluator,
    n_roles: usize,
    /// Whether it depends on the numbers of legal moves.
    pub(super) counts_moves: bool,
    /// The share of the evaluation in the value of a move; with 1 nothing is played out.
    pub(super) weight: f32,
}

impl Estimator {
    /// By an evaluation that was checked for the game.
    pub(super) fn new(evaluation: Arc<LinearEvaluation>, weight: f32, game: &Game) -> Self {
        let counts_moves = evaluation.counts_moves();
        Self {
            evaluator: Evaluator::new(evaluation, game),
            n_roles: game.roles().len(),
            counts_moves,
            weight,
        }
    }

    /// Takes note of a state.
    pub(super) fn follow(&mut self, machine: &mut dyn StateMachine, state: &State) {
        self.evaluator.follow(machine, state);
    }

    /// Puts the expected reward of each role in the state that was last followed into
    /// `values`, 0 to 1. `n_moves` says how many legal moves a role has there; it is asked only
    /// if that matters.
    pub(super) fn values(
        &self,
        roles: &Roles,
        mut n_moves: impl FnMut(RoleId) -> Result<usize, ReasoningError>,
        values: &mut Vec<f32>,
    ) -> Result<(), ReasoningError> {
        values.clear();
        for role in (0..self.n_roles).map(|role| RoleId(role as u8)) {
            values.push((self.evaluator.value(role, &mut n_moves)? / 100.0) as f32);
        }
        balance(roles, values);
        Ok(())
    }
}

/// Makes two opposed roles' values add up to what their rewards do.
fn balance(roles: &Roles, values: &mut [f32]) {
    if let (true, Some(sum), [one, other]) = (roles.opposed, roles.sum, &roles.strategic[..]) {
        let sum = sum as f32 / 100.0;
        let value = ((values[*one] + sum - values[*other]) / 2.0).clamp(0.0, sum.max(0.0));
        (values[*one], values[*other]) = (value, sum - value);
    }
}

/// Notes in the edges of a new node what its children look worth, and then what it does.
pub(super) fn note_children(tree: &mut Tree, at: u32) {
    if tree.node(at).kind == Kind::Joint {
        return;
    }
    let (first, edges) = tree.edges(at);
    for edge in first..first + edges.len() as u32 {
        let Edge { child, role, .. } = *tree.edge(edge);
        tree.edge_mut(edge).estimate = tree.estimates(child)[usize::from(role.0)];
    }
    update(tree, at);
}

/// Notes what the child of an edge looks worth now, and what that says of the edge's node.
pub(super) fn back_up(tree: &mut Tree, at: u32, edge: u32) {
    let Edge { child, role, estimate: before, .. } = *tree.edge(edge);
    if child == NONE {
        return;
    }
    let estimate = tree.estimates(child)[usize::from(role.0)];
    tree.edge_mut(edge).estimate = estimate;
    if estimate.to_bits() != before.to_bits() || tree.node(at).kind == Kind::Chance {
        update(tree, at);
    }
}

/// Computes what a node looks worth from what its children do, as last seen: where a role
/// chooses, as much as the child that looks best to it; where chance does, the mean. Where
/// several choose at the same time it stays as it is.
fn update(tree: &mut Tree, at: u32) {
    let (_, edges) = tree.edges(at);
    match tree.node(at).kind {
        Kind::Choice(_) => {
            let worth = |edge: &Edge| match edge.bounds.is_exact() {
                true => edge.bounds.value(),
                false => edge.bounds.clamp(edge.estimate),
            };
            let mut best: Option<(f32, u32)> = None;
            for edge in edges {
                let worth = worth(edge);
                if best.is_none_or(|(most, _)| worth > most) {
                    best = Some((worth, edge.child));
                }
            }
            if let Some((_, child)) = best {
                tree.adopt_estimates(at, child);
            }
        }
        Kind::Chance => {
            let n = edges.len() as f32;
            for role in 0..tree.n_roles {
                let of = |edge: &Edge| tree.estimates(edge.child)[role];
                let mean = tree.edges(at).1.iter().map(of).sum::<f32>() / n;
                tree.set_estimate(at, role, mean);
            }
        }
        Kind::Leaf | Kind::End | Kind::Joint => {}
    }
}
