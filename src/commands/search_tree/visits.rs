//! The tree of Monte-Carlo tree search, in words.

use games::{MoveId, RoleId};
use players::ValueBound;
use players::belief_tree::Seen;
use players::visit_tree::{Known, VisitEvent, VisitNode, VisitTree};

use super::{Node, Tree, move_words, seen_words};
use crate::explanation::Names;

/// The tree in words: visits and mean rewards of the nodes that were visited most.
pub(in crate::commands) fn tree(visits: &VisitTree, me: RoleId, names: &mut impl Names) -> Tree {
    let mut nodes: Vec<Node> = Vec::with_capacity(visits.nodes.len());
    for (at, node) in visits.nodes.iter().enumerate() {
        let &VisitNode { parent, ref event, visits, is_most, value, known, is_mine } = node;
        let (action, available) = match event {
            VisitEvent::Position(step) => {
                let actions: Vec<MoveId> = step.iter().map(|&(_, action)| action).collect();
                (move_words(&actions, names), None)
            }
            VisitEvent::Knows(seen) => (words_of_steps(seen, me, names), None),
            &VisitEvent::Moves { action, n_available } => {
                (move_words(&[action], names), Some(n_available))
            }
        };
        if let Some(parent) = parent {
            nodes[parent].children.push(at);
        }
        let (bound, found) = match known {
            Known::Sampled => (ValueBound::Estimate, "sampled"),
            Known::Proven => (ValueBound::Exact, "proven"),
            Known::Terminal => (ValueBound::Exact, "terminal"),
        };
        nodes.push(Node {
            value: Some(value),
            bound: Some(bound),
            visits: Some(visits),
            is_most,
            available,
            is_mine,
            ..Node::new(parent, action, found)
        });
    }
    let role = names.role(me).to_owned();
    let root = visits.nodes.first();
    Tree {
        role,
        nodes,
        n_unrecorded: visits.n_unrecorded,
        n_lines_cut: visits.n_lines_cut,
        is_last_of_several: false,
        is_of_knowledge: root.is_some_and(|root| matches!(root.event, VisitEvent::Knows(_))),
    }
}

/// What the role saw in some steps: `sees nothing; (bet 1)`.
fn words_of_steps(seen: &[Seen], me: RoleId, names: &mut impl Names) -> String {
    let mut words = String::new();
    for seen in seen {
        let step = seen_words(seen, me, names);
        match words.is_empty() {
            true => words = step,
            false => {
                words += "; ";
                words += step.strip_prefix("sees ").unwrap_or(&step);
            }
        }
    }
    words
}
