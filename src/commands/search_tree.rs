//! A tree that was searched: as text, as a graph in DOT, and as a page.

mod beliefs;
mod bounds;
mod dot;
mod page;
mod visits;

use std::collections::BTreeSet;
use std::io::{self, Write};

use games::{MoveId, RoleId};
use players::belief_tree::Seen;
use players::search_tree::{Found, SearchNode};
use players::{SearchTree, ValueBound};
use results::counted::counted;
use serde::Serialize;

use super::plan_text;
use crate::explanation::Names;
pub(super) use beliefs::tree as of_beliefs;
pub(super) use bounds::tree as of_bounds;
pub(super) use dot::write as write_dot;
pub(super) use page::write as write_page;
pub(super) use visits::tree as of_visits;

/// A tree with its moves in words; the first state is the root.
#[derive(Debug, Serialize)]
pub(super) struct Tree {
    /// The role whose values these are.
    pub(super) role: String,
    /// The states, in the order in which they were entered.
    pub(super) nodes: Vec<Node>,
    /// States that were entered after the record was full.
    pub(super) n_unrecorded: u64,
    /// Lines that are left out below the states shown, also if they lead to states that are shown
    /// elsewhere.
    pub(super) n_lines_cut: u64,
    /// The search went to several depths, and this is the tree of the last one.
    #[serde(skip)]
    pub(super) is_last_of_several: bool,
    /// The nodes are what the role knows and its moves, in turn.
    #[serde(skip)]
    pub(super) is_of_knowledge: bool,
}

/// A state of a [`Tree`].
#[derive(Debug, Serialize)]
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    /// The moves that led here, of the roles that had a choice; of all if none had. If the role
    /// is to move by what it knows: what it saw since its last choice.
    #[serde(rename = "move")]
    pub(super) action: String,
    /// Of a search with windows: the window on entering, no wider than the rewards.
    pub(super) alpha: Option<f64>,
    pub(super) beta: Option<f64>,
    /// Of a tree that is grown by bounds: the bounds of the value.
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) value: Option<f64>,
    #[serde(serialize_with = "crate::explanation::bound_name")]
    pub(super) bound: Option<ValueBound>,
    /// `searched`, `terminal`, `cut_off`, `dead_end` or `remembered`; of Monte-Carlo tree search
    /// `sampled`, `proven` or `terminal`; of a tree that is grown by bounds `expanded`,
    /// `not_expanded`, `terminal` or `dead_end`.
    pub(super) found: &'static str,
    /// Of Monte-Carlo tree search: how often the moves that led here were tried. Of a tree that
    /// is grown by bounds: how often the state was visited.
    pub(super) visits: Option<u64>,
    /// The number of visits is an upper bound.
    #[serde(rename = "visits_at_most")]
    pub(super) is_most: bool,
    /// Of a move in a tree of information sets: how often it was legal.
    pub(super) available: Option<u64>,
    /// Whether the player has a choice here, another role, or both.
    pub(super) is_mine: bool,
    /// Of an expanded state of a tree that is grown by bounds: the roles that have a choice.
    pub(super) choosers: Option<Vec<String>>,
    /// Moves that were never looked at: the first of them, and how many there are.
    pub(super) left_out: Vec<String>,
    pub(super) n_left_out: u64,
    #[serde(skip)]
    pub(super) children: Vec<usize>,
}

impl Tree {
    /// The tree in words.
    pub(super) fn of(tree: &SearchTree, me: RoleId, names: &mut impl Names) -> Self {
        let mut moves: Vec<Vec<Vec<MoveId>>> = vec![Vec::new(); tree.nodes.len()];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate() {
            moves[at].extend(node.left_out.iter().cloned());
            if let Some(parent) = node.parent {
                moves[parent].push(node.joint_move.clone());
                children[parent].push(at);
            }
        }
        let choosing = |at: usize| choosers(moves[at].iter().map(Vec::as_slice));
        let mut words = |joint_move: &[MoveId], choosing: &BTreeSet<usize>| {
            let shown: Vec<String> = joint_move
                .iter()
                .enumerate()
                .filter(|(role, _)| choosing.is_empty() || choosing.contains(role))
                .map(|(_, &id)| names.action(id).to_string())
                .collect();
            shown.join(" ")
        };
        let mut nodes = Vec::with_capacity(tree.nodes.len());
        for (at, (node, children)) in tree.nodes.iter().zip(children).enumerate() {
            let &SearchNode { parent, window, value, bound, found, n_left_out, .. } = node;
            let above = parent.map_or_else(BTreeSet::new, choosing);
            let own = choosing(at);
            nodes.push(Node {
                alpha: Some(window.0.clamp(0.0, 100.0)),
                beta: Some(window.1.clamp(0.0, 100.0)),
                value,
                bound: value.map(|_| bound),
                is_mine: own.is_empty() || own.contains(&usize::from(me.0)),
                left_out: node.left_out.iter().map(|moves| words(moves, &own)).collect(),
                n_left_out,
                children,
                ..Node::new(parent, words(&node.joint_move, &above), found_name(found))
            });
        }
        Self {
            role: names.role(me).to_owned(),
            nodes,
            n_unrecorded: tree.n_unrecorded,
            n_lines_cut: tree.n_lines_cut,
            is_last_of_several: tree.n_earlier > 0,
            is_of_knowledge: false,
        }
    }

    /// Whether visits are counted: in Monte-Carlo tree search, and if it is grown by bounds.
    pub(super) fn has_visits(&self) -> bool {
        self.nodes.first().is_some_and(|root| root.visits.is_some())
    }

    /// Whether it is grown by bounds.
    pub(super) fn has_bounds(&self) -> bool {
        self.nodes.first().is_some_and(|root| root.lower.is_some())
    }

    /// Whether alpha and beta differ between states. Plain minimax has the same window everywhere.
    pub(super) fn has_windows(&self) -> bool {
        let windows = self.nodes.iter().map(|node| (node.alpha, node.beta));
        windows.clone().zip(windows.skip(1)).any(|(one, next)| one != next)
    }

    /// Whether it is one of Monte-Carlo tree search over information sets.
    pub(super) fn has_information_sets(&self) -> bool {
        self.has_visits() && self.is_of_knowledge
    }

    /// How many states more there are, in words; or lines, if each state is shown at some line.
    fn unrecorded_words(&self) -> Option<String> {
        let more = match self.n_unrecorded {
            0 if self.n_lines_cut == 0 => return None,
            0 => {
                let lines = counted(self.n_lines_cut, "more line", "more lines");
                format!("{lines} to states that are shown")
            }
            n if self.has_information_sets() => counted(n, "more node", "more nodes"),
            n => counted(n, "more state", "more states"),
        };
        let why = if self.has_visits() { "visited less often" } else { "not recorded" };
        Some(format!("{more}, {why} (see --tree-nodes)"))
    }
}

/// The roles that have a choice, by these joint moves of a state: their moves differ.
pub(super) fn choosers<'a>(mut joint_moves: impl Iterator<Item = &'a [MoveId]>) -> BTreeSet<usize> {
    let Some(first) = joint_moves.next() else { return BTreeSet::new() };
    let differing =
        |other: &'a [MoveId]| (0..first.len()).filter(move |&at| other[at] != first[at]);
    joint_moves.flat_map(differing).collect()
}

impl Node {
    /// A state of which nothing else is known.
    fn new(parent: Option<usize>, action: String, found: &'static str) -> Self {
        Self {
            parent,
            action,
            alpha: None,
            beta: None,
            lower: None,
            upper: None,
            value: None,
            bound: None,
            found,
            visits: None,
            is_most: false,
            available: None,
            is_mine: false,
            choosers: None,
            left_out: Vec::new(),
            n_left_out: 0,
            children: Vec::new(),
        }
    }

    /// The value as it is printed: `3`, `at most 2`, `0 to 50`, `?` if it is not known.
    pub(super) fn value_words(&self) -> String {
        let bound = match self.bound {
            Some(ValueBound::AtLeast) => "at least ",
            Some(ValueBound::AtMost) => "at most ",
            Some(ValueBound::Exact | ValueBound::Estimate) | None => "",
        };
        match (self.value, self.found) {
            (None, _) => match (self.lower, self.upper) {
                (Some(lower), Some(upper)) => format!("{} to {}", short(lower), short(upper)),
                _ => "?".to_owned(),
            },
            // Means have a decimal, whatever it is.
            (Some(value), "sampled") => format!("{value:.1}"),
            (Some(value), _) => format!("{bound}{}", short(value)),
        }
    }

    /// How the value was found, where it was not by searching below; of a tree that is grown by
    /// bounds, who chooses there.
    pub(super) fn how(&self) -> Option<String> {
        let how = match self.found {
            "terminal" => Some("terminal"),
            "cut_off" => Some("depth limit"),
            "dead_end" => Some("a role has no move"),
            "remembered" => Some("from the table"),
            "proven" => Some("proven"),
            "not_expanded" => Some("not expanded"),
            _ => None,
        };
        how.map(str::to_owned).or_else(|| self.choosers.as_deref().map(choice_words))
    }

    /// What stands below the value: the visits, or alpha and beta on entering if the search
    /// `has_windows`.
    pub(super) fn below_value(&self, has_windows: bool) -> Option<String> {
        match self.visits {
            Some(visits) if self.is_most => {
                Some(format!("at most {}", counted(visits, "visit", "visits")))
            }
            Some(visits) => Some(counted(visits, "visit", "visits")),
            None => {
                let window = self.alpha.zip(self.beta).filter(|_| has_windows);
                window.map(|(alpha, beta)| format!("[{}, {}]", short(alpha), short(beta)))
            }
        }
    }

    /// The moves that were never looked at, in words; none if all were.
    pub(super) fn left_out_words(&self) -> Option<String> {
        if self.n_left_out == 0 {
            return None;
        }
        let more = self.n_left_out.saturating_sub(self.left_out.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("{}{more}", self.left_out.join(", ")))
    }
}

/// A number without needless decimals.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Who has a choice: `left chooses`, `left and right choose`.
fn choice_words(roles: &[String]) -> String {
    match roles {
        [] => "no choice".to_owned(),
        [role] => format!("{role} chooses"),
        [roles @ .., last] => format!("{} and {last} choose", roles.join(", ")),
    }
}

fn found_name(found: Found) -> &'static str {
    match found {
        Found::Searched => "searched",
        Found::Terminal => "terminal",
        Found::CutOff => "cut_off",
        Found::DeadEnd => "dead_end",
        Found::Remembered => "remembered",
    }
}

/// Prints a tree, a line for each state.
pub(super) fn print(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    let depths = depths(tree);
    let label = |at: usize, node: &Node| {
        let action = if node.action.is_empty() { "(root)" } else { &node.action };
        let indent = 2 * depths[at];
        format!("{:indent$}{action}: {}", "", node.value_words())
    };
    let lines: Vec<String> =
        tree.nodes.iter().enumerate().map(|(at, node)| label(at, node)).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default().min(60);
    let has_windows = tree.has_windows();
    let heading = match (tree.has_visits(), has_windows) {
        (true, _) if tree.has_information_sets() => {
            format!("values for {}, and how often each node was visited", tree.role)
        }
        (true, _) if tree.has_bounds() => {
            format!(
                "values for {} or their bounds, and how often each state was visited",
                tree.role
            )
        }
        (true, _) => {
            format!("values for {}, and how often the moves were tried", tree.role)
        }
        (false, true) => format!(
            "values for {}; in brackets: alpha and beta when the state was entered",
            tree.role
        ),
        (false, false) => format!("values for {}", tree.role),
    };
    let of_depth = if tree.is_last_of_several { " of the last depth" } else { "" };
    writeln!(out, "\n  tree{of_depth}, {heading}")?;
    for (line, node) in lines.iter().zip(&tree.nodes) {
        match node.below_value(has_windows) {
            Some(below) => write!(out, "    {line:width$}  {below}")?,
            None => write!(out, "    {line}")?,
        }
        if let Some(how) = node.how() {
            write!(out, "  {how}")?;
        }
        if let Some(words) = node.left_out_words() {
            write!(out, "  never looked at: {words}")?;
        }
        writeln!(out)?;
    }
    if let Some(words) = tree.unrecorded_words() {
        writeln!(out, "    ... and {words}")?;
    }
    Ok(())
}

/// `(a1 noop)`.
fn joint_move_words(joint_move: &[MoveId], names: &mut impl Names) -> String {
    format!("({})", move_words(joint_move, names))
}

/// `a1 noop`.
fn move_words(actions: &[MoveId], names: &mut impl Names) -> String {
    let words: Vec<_> = actions.iter().map(|&action| names.action(action)).collect();
    words.join(" ")
}

/// What a role saw in one step: the joint move, or its percepts.
fn seen_words(seen: &Seen, me: RoleId, names: &mut impl Names) -> String {
    match seen {
        Seen::JointMove(joint_move) => joint_move_words(joint_move, names),
        Seen::Percepts(_) => plan_text::seen_words(seen, me, names),
    }
}

/// How many moves below the root each state lies.
pub(super) fn depths(tree: &Tree) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        depths.push(node.parent.map_or(0, |parent| depths[parent] + 1));
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_is_cut_says_so_even_if_it_has_all_states() {
        let root = Node { visits: Some(3), ..Node::new(None, String::new(), "proven") };
        let mut tree = Tree {
            role: "left".to_owned(),
            nodes: vec![root],
            n_unrecorded: 0,
            n_lines_cut: 0,
            is_last_of_several: false,
            is_of_knowledge: false,
        };
        assert_eq!(tree.unrecorded_words(), None);
        tree.n_lines_cut = 2;
        let words = "2 more lines to states that are shown, visited less often (see --tree-nodes)";
        assert_eq!(tree.unrecorded_words().unwrap(), words);
        tree.n_unrecorded = 1;
        let words = "1 more state, visited less often (see --tree-nodes)";
        assert_eq!(tree.unrecorded_words().unwrap(), words);
    }
}
