//! From the tree to the answer: the move, and what the player says of it.

use games::{MoveId, RoleId};

use super::bounds::{self, Bounds};
use super::expansion::joint_index;
use super::proof;
use super::search::Search;
use super::tree::{Edge, Kind, NONE, by_role};
use crate::{Candidate, Deliberation, ExpectedStep, ValueBound};

/// Most steps of a line.
const MAX_LINE: usize = 64;

/// One of the moves to choose from.
#[derive(Clone, Copy, Debug)]
struct Choice {
    action: MoveId,
    visits: u32,
    /// The mean, brought between the bounds.
    value: f32,
    bounds: Bounds,
    /// When its value was proven.
    settled: u32,
}

impl Search {
    /// The move to play in a node, and what the search found.
    pub(super) fn answer(&self, root: u32, me: RoleId) -> (Option<MoveId>, Deliberation) {
        let counters = &self.counters;
        let options = self.options(root, me);
        let visits = u64::from(self.tree.node(root).visits);
        let mut found = Deliberation {
            nodes: counters.nodes,
            next_calls: counters.next_calls,
            playouts: counters.playouts,
            leaves: counters.playouts,
            depth: counters.levels.checked_div(counters.descents).unwrap_or(0) as u32,
            selective_depth: counters.deepest,
            completed: self.tree.is_settled(root) || self.best_line.is_perfect(),
            candidates: options.iter().map(candidate).collect(),
            notes: self.notes(root, me),
            ..Deliberation::default()
        };
        if let Some((moves, reward)) = self.best_line.get()
            && (!self.tree.is_settled(root) || self.best_line.is_perfect())
            && let Some(&action) = moves.first()
        {
            found.value = Some(f64::from(reward));
            found.line = moves.iter().take(MAX_LINE).map(|&action| vec![(me, action)]).collect();
            return (Some(action), found);
        }
        let Some(best) = self.choose_option(&options, root, me) else { return (None, found) };
        if visits > 0 || best.bounds.is_exact() {
            found.value = Some(100.0 * f64::from(best.value));
            found.line = self.line(root, me, best.action);
        }
        if visits == 0 && !best.bounds.is_exact() && best.bounds.low == 0 {
            // Nothing is known of any move.
            return (None, found);
        }
        (Some(best.action), found)
    }

    /// My moves in a node.
    fn options(&self, root: u32, me: RoleId) -> Vec<Choice> {
        let (_, edges) = self.tree.edges(root);
        let own: Vec<&Edge> = edges.iter().filter(|edge| edge.role == me).collect();
        let is_joint = self.tree.node(root).kind == Kind::Joint;
        let joint_bounds = if is_joint && self.tree.lists_children(root) {
            proof::of_own_moves(&self.tree, &self.roles, root, usize::from(me.0))
        } else {
            vec![Bounds::OPEN; own.len()]
        };
        let of = |(edge, joint_bounds): (&&Edge, Bounds)| {
            let child = edge.child;
            let (bounds, settled) = match child {
                NONE => (joint_bounds, NONE),
                _ => (self.tree.bounds(child)[usize::from(me.0)], self.tree.node(child).settled),
            };
            let value = bounds.clamp(edge.mean);
            Choice { action: edge.action, visits: edge.visits, value, bounds, settled }
        };
        own.iter().zip(joint_bounds).map(of).collect()
    }

    /// What is proven to be best, else what was tried most often, unless something is
    /// proven to be worth more than that seems to be.
    fn choose_option<'o>(
        &self,
        options: &'o [Choice],
        root: u32,
        me: RoleId,
    ) -> Option<&'o Choice> {
        let bounds = self.tree.bounds(root)[usize::from(me.0)];
        let low = options.iter().map(|option| option.bounds.low).max().unwrap_or(0).max(bounds.low);
        let enforces = |option: &&Choice| option.bounds.low >= low;
        if bounds.is_exact() && low > 0 {
            // What was proven first leads to the end; what was proven by way of this very
            // state may lead back to it.
            let first = options.iter().filter(enforces);
            let first =
                first.min_by_key(|option| (option.settled, std::cmp::Reverse(option.visits)));
            if first.is_some() {
                return first;
            }
        }
        let may_be_best = |option: &&Choice| option.bounds.high > low || enforces(option);
        let best =
            first_best(options.iter().filter(may_be_best), |option| (option.visits, option.value));
        let best =
            best.or_else(|| first_best(options.iter(), |option| (option.visits, option.value)))?;
        if best.value < bounds::share(low) {
            return options.iter().find(enforces).or(Some(best));
        }
        Some(best)
    }

    /// What is expected to be played: what was tried most often.
    fn line(&self, root: u32, me: RoleId, action: MoveId) -> Vec<ExpectedStep> {
        let mut line = Vec::new();
        let mut at = root;
        while line.len() < MAX_LINE {
            let (_, edges) = self.tree.edges(at);
            let kind = self.tree.node(at).kind;
            if edges.is_empty() || kind == Kind::Chance {
                break;
            }
            let mut step = ExpectedStep::new();
            let mut chosen = Vec::new();
            let mut is_drawn = false;
            let mut child = NONE;
            for moves in by_role(edges) {
                let role = moves[0].role;
                let own =
                    moves.iter().position(|edge| at == root && role == me && edge.action == action);
                let tried = (0..moves.len()).rev().max_by_key(|&index| moves[index].visits);
                let index = own.or(tried).unwrap_or(0);
                chosen.push(index as u32);
                child = moves[index].child;
                if self.roles.chance == Some(usize::from(role.0)) {
                    is_drawn = true;
                } else if own.is_some() || moves[index].visits > 0 {
                    step.push((role, moves[index].action));
                }
            }
            if step.is_empty() {
                break;
            }
            line.push(step);
            if kind == Kind::Joint {
                child = self.tree.joint_child(at, joint_index(edges, &chosen));
            }
            if is_drawn || child == NONE {
                break;
            }
            at = child;
        }
        line
    }

    /// What the reader should know besides.
    fn notes(&self, root: u32, me: RoleId) -> Vec<String> {
        let mut notes = Vec::new();
        if self.counters.recycled > 0 {
            let times = match self.counters.recycled {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            notes.push(format!(
                "the tree reached its memory limit {times}; moves that are seldom tried were \
                 forgotten"
            ));
        }
        if self.counters.is_full {
            notes.push("the tree reached its memory limit and stopped growing".to_owned());
        }
        let bounds = self.tree.bounds(root)[usize::from(me.0)];
        if !bounds.is_exact() && bounds != Bounds::OPEN {
            let [low, high] = [bounds.low, bounds.high].map(|units| 100.0 * bounds::share(units));
            notes.push(format!("the value is proven to lie between {low:.0} and {high:.0}"));
        }
        notes
    }
}

fn candidate(option: &Choice) -> Candidate {
    let is_known = option.visits > 0 || option.bounds.is_exact();
    Candidate {
        action: option.action,
        value: is_known.then_some(100.0 * f64::from(option.value)),
        bound: ValueBound::Exact,
        visits: u64::from(option.visits),
        probability: None,
    }
}

/// The first of the best.
fn first_best<'o>(
    options: impl Iterator<Item = &'o Choice>,
    key: impl Fn(&Choice) -> (u32, f32),
) -> Option<&'o Choice> {
    options.reduce(|best, option| {
        let (visits, value) = key(option);
        let (most, highest) = key(best);
        if visits > most || (visits == most && value > highest) { option } else { best }
    })
}
