//! The tree of a search of beliefs, in words.

use games::RoleId;
use players::ValueBound;
use players::belief_tree::{BeliefEvent, BeliefNode, BeliefTree};
use results::counted::counted;

use super::{Node, Tree, joint_move_words, seen_words};
use crate::explanation::Names;

/// The tree in words: the role's moves, and what it may see after each.
pub(in crate::commands) fn tree(beliefs: &BeliefTree, me: RoleId, names: &mut impl Names) -> Tree {
    let mut nodes: Vec<Node> = Vec::with_capacity(beliefs.nodes.len());
    for BeliefNode { parent, event, value } in &beliefs.nodes {
        let (action, found) = match event {
            BeliefEvent::Moves(action) => (names.action(*action).to_string(), "searched"),
            BeliefEvent::Ends { joint_move, n_others } => {
                let others = match n_others {
                    0 => String::new(),
                    n => format!(" and {}", counted(*n, "other", "others")),
                };
                (format!("{}{others}, end", joint_move_words(joint_move, names)), "terminal")
            }
            BeliefEvent::Knows { seen, n_states, best } => {
                let seen = match seen {
                    Some(seen) => seen_words(seen, me, names),
                    None => "(root)".to_owned(),
                };
                let states = counted(*n_states, "possible state", "possible states");
                let found = if best.is_some() { "searched" } else { "cut_off" };
                (format!("{seen}, {states}"), found)
            }
        };
        if let Some(parent) = parent {
            let at = nodes.len();
            nodes[*parent].children.push(at);
        }
        nodes.push(Node {
            value: *value,
            bound: value.map(|_| ValueBound::Exact),
            is_mine: matches!(event, BeliefEvent::Knows { .. }),
            ..Node::new(*parent, action, found)
        });
    }
    Tree {
        role: names.role(me).to_owned(),
        nodes,
        n_unrecorded: beliefs.n_unrecorded,
        n_lines_cut: beliefs.n_lines_cut,
        is_last_of_several: false,
        is_of_knowledge: true,
    }
}
