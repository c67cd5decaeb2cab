//! The tree of Monte-Carlo tree search, in words.

use games::RoleId;
use players::ValueBound;
use players::visit_tree::{Known, VisitNode, VisitTree};

use super::{Node, Tree};
use crate::explanation::Names;

/// The tree in words: visits and mean rewards of the positions that were visited most.
pub(in crate::commands) fn tree(visits: &VisitTree, me: RoleId, names: &mut impl Names) -> Tree {
    let mut nodes: Vec<Node> = Vec::with_capacity(visits.nodes.len());
    for (at, node) in visits.nodes.iter().enumerate() {
        let &VisitNode { parent, ref step, visits, is_most, value, known, is_mine } = node;
        let actions: Vec<String> =
            step.iter().map(|&(_, action)| names.action(action).to_string()).collect();
        if let Some(parent) = parent {
            nodes[parent].children.push(at);
        }
        nodes.push(Node {
            parent,
            action: actions.join(" "),
            alpha: 0.0,
            beta: 100.0,
            value: Some(value),
            bound: Some(match known {
                Known::Sampled => ValueBound::Estimate,
                Known::Proven | Known::Terminal => ValueBound::Exact,
            }),
            found: match known {
                Known::Sampled => "sampled",
                Known::Proven => "proven",
                Known::Terminal => "terminal",
            },
            visits: Some(visits),
            is_most,
            is_mine,
            left_out: Vec::new(),
            n_left_out: 0,
            children: Vec::new(),
        });
    }
    let (role, n_unrecorded) = (names.role(me).to_owned(), visits.n_unrecorded);
    Tree { role, nodes, n_unrecorded, is_last_of_several: false }
}
