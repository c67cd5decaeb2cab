//! The part of a game tree that is drawn, and its text: a line for each node, with what leads to
//! it, indented under the node before it.

use std::fmt::Write as _;

/// Columns of a line of text.
const WIDTH: usize = 74;

/// Nodes of a tree, those nearer to its root first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreePicture {
    /// The root is the first.
    pub nodes: Vec<TreeNode>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// The number of its state.
    pub(super) number: usize,
    /// The place of the node before it; `None` for the root.
    pub parent: Option<usize>,
    /// The moves that lead to it from there; empty for the root, and where nobody chooses.
    pub moves: String,
    /// The chance that they are played, where chance plays.
    pub chance: Option<String>,
    /// What the state is called.
    pub name: String,
    /// What happens there.
    pub kind: NodeKind,
    /// It is the state that the picture is of.
    pub is_here: bool,
    /// It lies on the only line that leads to that state, or is that state.
    pub is_on_line: bool,
    /// The number of nodes after it that are not drawn.
    pub n_hidden: usize,
}

/// What happens at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// These roles move, by name and number; none if it does not matter who does.
    Moves(Vec<(String, usize)>),
    /// Chance moves.
    Chance,
    /// The game ends, with these rewards by role; without names if there is one role only.
    End(Vec<(Option<String>, u8)>),
    /// Its state has another node, where the tree goes on.
    Again,
}

impl NodeKind {
    /// Who moves, or the rewards.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Moves(roles) => {
                roles.iter().map(|(role, _)| role.as_str()).collect::<Vec<_>>().join(" and ")
            }
            Self::Chance => "chance".to_owned(),
            Self::End(rewards) => {
                let reward = |(role, reward): &(Option<String>, u8)| match role {
                    Some(role) => format!("{role} {reward}"),
                    None => reward.to_string(),
                };
                rewards.iter().map(reward).collect::<Vec<_>>().join(", ")
            }
            Self::Again => "^".to_owned(),
        }
    }
}

impl TreeNode {
    /// A root of this name.
    pub(super) fn root(name: String) -> Self {
        let (moves, kind) = (String::new(), NodeKind::Moves(vec![]));
        let (is_here, is_on_line, n_hidden) = (false, false, 0);
        let (number, parent, chance) = (0, None, None);
        Self { number, parent, moves, chance, name, kind, is_here, is_on_line, n_hidden }
    }

    /// The moves that lead to it, with the chance that they are played.
    #[must_use]
    pub fn way(&self) -> String {
        match &self.chance {
            Some(chance) => format!("{} ({chance})", self.moves),
            None => self.moves.clone(),
        }
    }

    fn text(&self) -> String {
        let mut text = self.way();
        if !text.is_empty() {
            text += ": ";
        }
        text += &self.name;
        let more = self.kind.text();
        let is_written = match self.kind {
            _ if more.is_empty() => Ok(()),
            NodeKind::Moves(_) | NodeKind::Chance => write!(text, " ({more})"),
            NodeKind::End(_) => write!(text, " = {more}"),
            NodeKind::Again => write!(text, " {more}"),
        };
        is_written.expect("a string takes all text");
        text
    }
}

impl TreePicture {
    /// The tree in lines, with `*` before the state that the picture is of.
    #[must_use]
    pub fn text(&self) -> String {
        let mut after = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                after[parent].push(at);
            }
        }
        let mut lines = Vec::new();
        // Nodes with what stands before them, and before those after them.
        let mut open = vec![(0, String::new(), String::new())];
        while let Some((at, before, below)) = open.pop() {
            let node = &self.nodes[at];
            let mark = if node.is_here { "* " } else { "  " };
            let is_cut = node.n_hidden > 0 && after[at].is_empty();
            let dots = if is_cut { " ..." } else { "" };
            lines.push(shortened(format!("{mark}{before}{}{dots}", node.text())));
            let (n_after, has_more) = (after[at].len(), node.n_hidden > 0);
            let drawn = after[at].iter().enumerate().map(|(place, &next)| {
                let is_last = place + 1 == n_after && !has_more;
                let (branch, line) = if is_last { ("`- ", "   ") } else { ("|- ", "|  ") };
                (next, format!("{below}{branch}"), format!("{below}{line}"))
            });
            let first = open.len();
            open.extend(drawn);
            open[first..].reverse();
        }
        // Only the root has some of its nodes drawn and others not.
        let n_hidden = self.nodes.first().map_or(0, |root| root.n_hidden);
        if n_hidden > 0 {
            lines.push(format!("  `- {n_hidden} more ..."));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A line that is not too long.
fn shortened(line: String) -> String {
    if line.chars().count() <= WIDTH {
        return line;
    }
    line.chars().take(WIDTH - 3).chain("...".chars()).collect()
}
