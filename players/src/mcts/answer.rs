//! From the tree to the answer: the move, and what the player says of it.

use games::{MoveId, RoleId};
use rand_pcg::Pcg64;

use super::bounds::{self, Bounds};
use super::expansion::joint_index;
use super::proof;
use super::regret_matching;
use super::search::Search;
use super::tree::{Edge, Kind, NONE, by_role};
use crate::seed;
use crate::{Candidate, Deliberation, ExpectedStep, ValueBound};

/// Maximum number of steps of a line.
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
    /// The move to play in a node, and what was found of it.
    pub(super) fn answer(
        &self,
        root: u32,
        me: RoleId,
        rng: &mut Pcg64,
    ) -> (Option<MoveId>, Deliberation) {
        let choices = self.choices(root, me);
        let counters = &self.counters;
        let bounds = self.tree.bounds(root)[usize::from(me.0)];
        let is_settled = self.tree.is_settled(root);
        let best_line = self.best_line.get();
        let is_perfect = best_line.is_some_and(|(_, reward)| reward == 100);
        let mut found = Deliberation {
            nodes: counters.nodes,
            next_calls: counters.next_calls,
            playouts: counters.playouts,
            leaves: counters.descents,
            table_hits: self.expander.n_table_hits,
            depth: counters.levels.checked_div(counters.descents).unwrap_or(0) as u32,
            selective_depth: counters.deepest,
            candidates: candidates(&choices),
            completed: is_settled || is_perfect,
            proven: bounds.is_exact() || is_perfect,
            notes: self.notes(bounds),
            ..Deliberation::default()
        };
        if let Some((moves, reward)) = best_line
            && (!is_settled || is_perfect)
            && let Some(&action) = moves.first()
        {
            found.value = Some(f64::from(reward));
            let chosen = found.candidates.iter_mut().find(|candidate| candidate.action == action);
            if let Some(chosen) = chosen {
                chosen.value = found.value;
                chosen.bound = if is_perfect { ValueBound::Exact } else { ValueBound::AtLeast };
            }
            found.notes.push(format!("the move begins the best line seen so far, worth {reward}"));
            found.line = moves.iter().take(MAX_LINE).map(|&action| vec![(me, action)]).collect();
            return (Some(action), found);
        }
        let proven = self.proven_mixed(&choices, root, me);
        if let Some((probabilities, value)) = proven.or_else(|| self.mixed(&choices, root, me))
            && let Some(drawn) = seed::draw(probabilities.iter().copied(), rng)
        {
            for (candidate, &probability) in found.candidates.iter_mut().zip(&probabilities) {
                candidate.probability = Some(probability);
            }
            found.value = Some(value);
            found.line = self.line(root, me, choices[drawn].action);
            return (Some(choices[drawn].action), found);
        }
        let Some(best) = best_choice(&choices, bounds) else { return (None, found) };
        let visits: u64 = choices.iter().map(|choice| u64::from(choice.visits)).sum();
        let is_known = bounds.is_exact() || best.bounds.is_exact() || best.bounds.low > 0;
        if visits == 0 && !is_known {
            // Nothing is known of any move.
            return (None, found);
        }
        found.value = Some(if bounds.is_exact() { bounds.reward() } else { best.reward() });
        found.line = self.line(root, me, best.action);
        (Some(best.action), found)
    }

    /// The probability of each of my moves in a mixed strategy that enforces a proven value, and
    /// that value, 0 to 100; `None` where a single move enforces as much, or may bring more.
    fn proven_mixed(&self, choices: &[Choice], root: u32, me: RoleId) -> Option<(Vec<f64>, f64)> {
        let bounds = self.tree.bounds(root)[usize::from(me.0)];
        let is_better = |choice: &Choice| choice.value > bounds::share(bounds.low);
        if !bounds.is_exact() && choices.iter().any(is_better) {
            return None;
        }
        let strategy = proof::mixed_strategy(&self.tree, &self.roles, root, usize::from(me.0))?;
        let value = if bounds.is_exact() {
            bounds.reward()
        } else {
            100.0 * f64::from(bounds::share(bounds.low))
        };
        Some((strategy, value))
    }

    /// The probability of each of my moves by regret matching, and my mean reward, 0 to 100; `None`
    /// where that does not decide, since the value is proven, or since a single move enforces more.
    fn mixed(&self, choices: &[Choice], root: u32, me: RoleId) -> Option<(Vec<f64>, f64)> {
        let role = usize::from(me.0);
        let (bounds, mean) = (self.tree.bounds(root)[role], self.tree.means(root)[role]);
        let low = choices.iter().map(|choice| choice.bounds.low).fold(bounds.low, u16::max);
        if !self.matches_regrets(root) || bounds.is_exact() || mean < bounds::share(low) {
            return None;
        }
        let is_worse = |choice: &Choice| choice.bounds.high <= low && choice.bounds.low < low;
        let visits = |choice: &Choice| if is_worse(choice) { 0 } else { choice.visits };
        let probabilities = regret_matching::probabilities(choices.iter().map(visits))?;
        Some((probabilities, 100.0 * f64::from(bounds.clamp(mean))))
    }

    /// Further notes; `bounds` is what is proven of my value.
    fn notes(&self, bounds: Bounds) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_regret_matching_void() {
            notes.push(
                "regret matching has no effect, since the roles are not two opposed ones"
                    .to_owned(),
            );
        }
        if let recycled @ 1.. = self.counters.recycled {
            let times = if recycled == 1 { "once".to_owned() } else { format!("{recycled} times") };
            notes.push(format!(
                "the tree reached its memory limit {times}; moves that are seldom tried were \
                 forgotten"
            ));
        }
        if self.counters.is_full {
            notes.push("the tree reached its memory limit and stopped growing".to_owned());
        }
        if self.time_allocation.is_early {
            notes.push("replied early: no other move can be tried as often any more".to_owned());
        }
        if !bounds.is_exact() && bounds != Bounds::OPEN {
            let [low, high] = [bounds.low, bounds.high].map(|units| 100.0 * bounds::share(units));
            notes.push(format!("the value is proven to lie between {low:.0} and {high:.0}"));
        }
        notes
    }

    /// My moves in a node.
    fn choices(&self, root: u32, me: RoleId) -> Vec<Choice> {
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
            let looks =
                if self.is_evaluating() && child != NONE { edge.estimate } else { edge.mean };
            let value = bounds.clamp(looks);
            Choice { action: edge.action, visits: edge.visits, value, bounds, settled }
        };
        own.iter().zip(joint_bounds).map(of).collect()
    }

    /// How many more descents made the best of my moves than any other that may be as good; `None`
    /// if no other may.
    pub(super) fn lead(&self, root: u32, me: RoleId) -> Option<u32> {
        let choices = self.choices(root, me);
        let bounds = self.tree.bounds(root)[usize::from(me.0)];
        let Some(best) = best_choice(&choices, bounds) else { return Some(0) };
        let may_be_better =
            |choice: &&Choice| choice.action != best.action && choice.bounds.high > best.bounds.low;
        let rivals = choices.iter().filter(may_be_better);
        rivals.map(|rival| best.visits.saturating_sub(rival.visits)).min()
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
}

impl Choice {
    /// What the move is worth, 0 to 100.
    fn reward(&self) -> f64 {
        if self.bounds.is_exact() { self.bounds.reward() } else { 100.0 * f64::from(self.value) }
    }
}

/// What is proven to be best, else what was tried most often, unless something is proven
/// to be worth more than that seems to be.
fn best_choice(choices: &[Choice], bounds: Bounds) -> Option<&Choice> {
    let low = choices.iter().map(|choice| choice.bounds.low).max().unwrap_or(0).max(bounds.low);
    let enforces = |choice: &&Choice| choice.bounds.low >= low;
    if bounds.is_exact() && low > 0 {
        // What was proven first leads to the end; what was proven by way of this very
        // state may lead back to it.
        let first = choices.iter().filter(enforces);
        let first = first.min_by_key(|choice| (choice.settled, std::cmp::Reverse(choice.visits)));
        if first.is_some() {
            return first;
        }
    }
    // Nothing is enforced by a move that is proven to be worth nothing.
    let may_be_best = |choice: &&Choice| choice.bounds.high > low || (low > 0 && enforces(choice));
    let most_tried = |choice: &Choice| (choice.visits, choice.value);
    let best = first_best(choices.iter().filter(may_be_best), most_tried);
    let best = best.or_else(|| first_best(choices.iter(), most_tried))?;
    if best.value < bounds::share(low) {
        return choices.iter().find(enforces).or(Some(best));
    }
    Some(best)
}

/// What is known of each move. Beside proven values, others are marked as estimates.
fn candidates(choices: &[Choice]) -> Vec<Candidate> {
    let is_any_proven = choices.iter().any(|choice| choice.bounds.is_exact());
    let of = |choice: &Choice| {
        let is_proven = choice.bounds.is_exact();
        Candidate {
            action: choice.action,
            value: (choice.visits > 0 || is_proven).then(|| choice.reward()),
            bound: match is_any_proven && !is_proven {
                true => ValueBound::Estimate,
                false => ValueBound::Exact,
            },
            visits: u64::from(choice.visits),
            probability: None,
        }
    };
    choices.iter().map(of).collect()
}

/// The first of the best.
fn first_best<'c>(
    choices: impl Iterator<Item = &'c Choice>,
    key: impl Fn(&Choice) -> (u32, f32),
) -> Option<&'c Choice> {
    choices.reduce(|best, choice| {
        let (visits, value) = key(choice);
        let (most, highest) = key(best);
        if visits > most || (visits == most && value > highest) { choice } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(action: u32, visits: u32, mean: f32, bounds: Bounds) -> Choice {
        let value = bounds.clamp(mean);
        Choice { action: MoveId(action), visits, value, bounds, settled: 0 }
    }

    fn check(choices: &[Choice], expected: u32) {
        let best = best_choice(choices, Bounds::OPEN).expect("there are choices");
        assert_eq!(best.action, MoveId(expected), "{choices:?}");
    }

    #[test]
    fn a_lost_move_is_played_only_if_all_are_lost() {
        let lost = Bounds::exactly(0);
        let open = choice(1, 40, 0.3, Bounds::OPEN);
        check(&[choice(0, 100, 0.5, lost), open, choice(2, 90, 0.5, lost)], 1);
        check(&[choice(0, 100, 0.5, lost), choice(2, 110, 0.5, lost)], 2);
    }

    #[test]
    fn a_proven_draw_is_better_than_what_seems_worse() {
        let draw = Bounds::exactly(50);
        check(&[choice(0, 10, 0.5, draw), choice(1, 100, 0.4, Bounds::OPEN)], 0);
        check(&[choice(0, 10, 0.5, draw), choice(1, 100, 0.6, Bounds::OPEN)], 1);
    }
}
