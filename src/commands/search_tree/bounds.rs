//! A tree that is grown by bounds, in words.

use games::{MoveId, RoleId};
use players::ValueBound;
use players::bound_tree::{BoundNode, BoundTree, Stage};

use super::{Node, Tree, move_words};
use crate::explanation::Names;

/// The tree in words: visits, and the bounds of the values or the values themselves.
pub(in crate::commands) fn tree(bounds: &BoundTree, me: RoleId, names: &mut impl Names) -> Tree {
    let mut nodes: Vec<Node> = Vec::with_capacity(bounds.nodes.len());
    for (at, node) in bounds.nodes.iter().enumerate() {
        let &BoundNode { parent, bounds: (lower, upper), value, visits, stage, .. } = node;
        let actions: Vec<MoveId> = node.step.iter().map(|&(_, action)| action).collect();
        if let Some(parent) = parent {
            nodes[parent].children.push(at);
        }
        let found = match stage {
            Stage::Unexpanded => "not_expanded",
            Stage::Expanded => "expanded",
            Stage::Terminal => "terminal",
            Stage::DeadEnd => "dead_end",
        };
        nodes.push(Node {
            lower: Some(lower),
            upper: Some(upper),
            value,
            bound: value.map(|_| ValueBound::Exact),
            visits: Some(visits),
            is_mine: node.choosers.contains(&me),
            choosers: (stage == Stage::Expanded)
                .then(|| node.choosers.iter().map(|&role| names.role(role).to_owned()).collect()),
            ..Node::new(parent, move_words(&actions, names), found)
        });
    }
    Tree {
        role: names.role(me).to_owned(),
        nodes,
        n_unrecorded: bounds.n_unrecorded,
        n_lines_cut: bounds.n_lines_cut,
        is_last_of_several: false,
        is_of_knowledge: false,
    }
}
