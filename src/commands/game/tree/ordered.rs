//! What the order of moves is worth to alpha-beta: the best move of each state first, or last.

use games::RoleId;
use players::SearchTree;

use crate::commands::search_tree::choosers;

/// How the moves of each state are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// By their values, the best first for the role that chooses.
    BestFirst,
    /// By their values, the best last.
    BestLast,
}

/// What alpha-beta does in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entered {
    /// States entered, the root included.
    pub(super) nodes: u64,
    /// States left before all moves were looked at.
    pub(super) cuts: u64,
}

/// A complete tree in which no two roles choose at the same time.
pub(super) struct Ordered {
    states: Vec<State>,
}

struct State {
    value: f64,
    is_mine: bool,
    children: Vec<usize>,
}

impl Ordered {
    /// The tree of plain minimax for the role `me`; `None` if it is not complete, or if several
    /// roles choose at the same time somewhere, so that a state has no single order of moves.
    pub(super) fn of(tree: &SearchTree, me: RoleId) -> Option<Self> {
        if tree.n_unrecorded > 0 || tree.nodes.iter().any(|node| node.n_left_out > 0) {
            return None;
        }
        let mut states = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            states.push(State { value: node.value?, is_mine: true, children: Vec::new() });
        }
        for (at, node) in tree.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                states[parent].children.push(at);
            }
        }
        for state in &mut states {
            let joint_moves =
                state.children.iter().map(|&child| tree.nodes[child].joint_move.as_slice());
            let choosing = choosers(joint_moves);
            if choosing.len() > 1 {
                return None;
            }
            let me = usize::from(me.0);
            state.is_mine = choosing.first().is_none_or(|&role| role == me);
        }
        Some(Self { states })
    }

    /// Searches the tree with alpha-beta and this order of moves.
    pub(super) fn search(&self, order: Order) -> Entered {
        let mut entered = Entered::default();
        // Rewards lie between 0 and 100.
        self.enter(0, 0.0, 100.0, order, &mut entered);
        entered
    }

    fn enter(&self, at: usize, alpha: f64, beta: f64, order: Order, entered: &mut Entered) -> f64 {
        let State { value, is_mine, ref children } = self.states[at];
        entered.nodes += 1;
        if children.is_empty() {
            return value;
        }
        // For the role that chooses, and with its own window.
        let (sign, mut alpha, beta) =
            if is_mine { (1.0, alpha, beta) } else { (-1.0, -beta, -alpha) };
        let mut children = children.clone();
        children.sort_by(|&a, &b| {
            let best_first = sign * self.states[b].value;
            let ordering = best_first.total_cmp(&(sign * self.states[a].value));
            if order == Order::BestFirst { ordering } else { ordering.reverse() }
        });
        let mut best = f64::NEG_INFINITY;
        for (n_done, &child) in (1..).zip(&children) {
            let [low, high] = if is_mine { [alpha, beta] } else { [-beta, -alpha] };
            best = best.max(sign * self.enter(child, low, high, order, entered));
            alpha = alpha.max(best);
            if alpha >= beta {
                entered.cuts += u64::from(n_done < children.len());
                break;
            }
        }
        sign * best
    }
}

#[cfg(test)]
mod tests {
    use games::MoveId;
    use players::ValueBound;
    use players::search_tree::{Found, SearchNode};

    use super::*;

    /// The two-ply tree of Russell and Norvig's textbook.
    fn two_plies() -> SearchTree {
        let node = |parent, joint_move: &[u32], value| SearchNode {
            parent,
            joint_move: joint_move.iter().map(|&id| MoveId(id)).collect(),
            window: (0.0, 100.0),
            value: Some(value),
            bound: ValueBound::Exact,
            found: Found::Searched,
            left_out: Vec::new(),
            n_left_out: 0,
        };
        let mut nodes = vec![node(None, &[], 3.0)];
        for (i, leaves) in (1..).zip([[3.0, 12.0, 8.0], [2.0, 4.0, 6.0], [14.0, 5.0, 2.0]]) {
            let parent = nodes.len();
            nodes.push(node(Some(0), &[i, 0], leaves.into_iter().fold(100.0, f64::min)));
            for (j, leaf) in (1..).zip(leaves) {
                nodes.push(node(Some(parent), &[0, j], leaf));
            }
        }
        SearchTree { nodes, ..SearchTree::default() }
    }

    #[test]
    fn the_textbooks_tree_takes_five_leaves_at_best_and_all_nine_at_worst() {
        let tree = two_plies();
        let ordered = Ordered::of(&tree, RoleId(0)).unwrap();
        // Three leaves below the best move and one below each other, besides the four states above them.
        assert_eq!(ordered.search(Order::BestFirst), Entered { nodes: 9, cuts: 2 });
        assert_eq!(ordered.search(Order::BestLast), Entered { nodes: 13, cuts: 0 });
    }

    #[test]
    fn trees_that_are_cut_short_have_no_order() {
        let tree = SearchTree { n_unrecorded: 1, ..two_plies() };
        assert!(Ordered::of(&tree, RoleId(0)).is_none());
    }

    #[test]
    fn states_in_which_several_choose_have_no_order() {
        let mut tree = two_plies();
        tree.nodes[1].joint_move[1] = MoveId(7);
        assert!(Ordered::of(&tree, RoleId(0)).is_none());
    }
}
