//! Whether play must end because every step, or one step of every few in a row, makes a
//! change that is never undone, and the number of such changes is limited.
//!
//! ```text
//! Network -> groups of facts of which at most one holds: variables (induction)
//!         -> which values may follow which -> changes that are never undone
//!         -> a few steps in a row without one: impossible (SAT solver) -> a bound
//! ```
//!
//! What is on a square of a board, whose turn it is, or a counter are such variables
//! (Helmert, "Concise finite-domain representations for PDDL planning tasks", AIJ 2009). Values
//! that may follow each other in both directions form a class; a variable that has left a
//! class never comes back to it, so it leaves classes at most as often as the longest line of
//! them is long. The sum over the variables bounds the steps of a match: it is a ranking
//! function (Floyd, "Assigning meanings to programs", 1967). Where pieces move and squares are
//! left and entered again, a sum of weights may fall in every step instead.
//!
//! Candidates come from random play. Each claim about the rules is then proven for all
//! states in which the variables are what they are, and all legal joint moves, which include
//! everything that play can reach.

mod falling_sum;
mod induction;
mod invariants;
mod linear_program;
mod observed;
mod order;
mod steps;
mod variables;

use std::collections::BTreeSet;

use crate::network::Lit;
use crate::network::solver::Answer;
use crate::{Cancel, Expression, Network};
use falling_sum::falling_sum;
use invariants::Invariants;
use observed::{ObservedStep, observe};
use order::Order;
use steps::{Budget, Steps};
use variables::{Variable, single_facts};

/// Most steps in a row that are looked at together.
const MAX_WINDOW: u32 = 4;

/// Limits of the effort. All of them are counted and not timed, so that the same is known of a
/// game everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgressEffort {
    /// Steps of random play, 64 matches each.
    pub samples: u32,
    /// Decisions of the SAT solver for one question; what needs more is not proven.
    pub decisions_per_question: u64,
    /// Propagations of the SAT solver for all questions.
    pub propagations: u64,
}

impl Default for ProgressEffort {
    fn default() -> Self {
        Self { samples: 200, decisions_per_question: 20_000, propagations: 20_000_000 }
    }
}

/// The proof that play ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps after which play has ended, at the latest.
    pub steps: u32,
    /// Why.
    pub reason: ProgressReason,
    /// The relations of the facts that it is about, in order.
    pub relations: Vec<String>,
}

/// Why play ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressReason {
    /// Changes that are never undone.
    Changes {
        /// Of this many steps in a row, at least one makes such a change.
        window: u32,
        /// Maximum number of such changes in a match.
        most: u32,
    },
    /// Each fact has a weight, and each step lowers the sum of the weights of the facts that hold
    /// by 1 at least. It is never below 0.
    FallingSum,
}

/// The proof that play ends, if one is found. Sufficient, not necessary: play may have to end
/// without it. There is none if the effort does not suffice, or if `cancel` was raised.
///
/// ```
/// use std::sync::Arc;
///
/// use games::progress::{self, ProgressEffort};
/// use games::{Cancel, Case, GroundingLimits, Leniency, ground, library, validate};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = library::find("connect_four").ok_or("it is shipped")?.text;
/// let game = validate::read("connect_four", text, Case::Folded, Leniency::Strict).game;
/// let game = Arc::new(game.ok_or("it is valid")?);
/// let network = ground(&game, &GroundingLimits::default(), &Cancel::new())?;
/// let found = progress::find(&network, &ProgressEffort::default(), &Cancel::new());
/// assert_eq!(found.ok_or("each disc stays where it is")?.steps, 42);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn find(network: &Network, effort: &ProgressEffort, cancel: &Cancel) -> Option<Progress> {
    let mut budget =
        Budget { work: effort.propagations, per_question: effort.decisions_per_question, cancel };
    let observed = observe(network, effort.samples);
    // What single facts say about others takes longer, and is rarely needed.
    for with_clauses in [false, true] {
        let known = induction::invariants(network, &observed, with_clauses, &mut budget)?;
        let found = budget.half(|budget| changes(network, &observed, &known, budget));
        if found.is_some() {
            return found;
        }
        let sum = budget.half(|budget| falling_sum(network, &known, &observed, budget));
        if let Some(sum) = sum {
            return Some(Progress {
                steps: sum.at_first,
                reason: ProgressReason::FallingSum,
                relations: relations(network, &sum.variables),
            });
        }
    }
    None
}

/// The proof by changes that are never undone. The inner one is `None` if there is none.
fn changes(
    network: &Network,
    observed: &[ObservedStep],
    known: &Invariants,
    budget: &mut Budget<'_>,
) -> Option<Option<Progress>> {
    let mut one_step = Steps::new(network, 1, known, budget);
    let ordered = irreversible(network, &known.variables, observed, &mut one_step, budget)?;
    let first = longest_pause(&ordered, observed) + 1;
    for window in first..=MAX_WINDOW.min(first + 1) {
        let mut steps = Steps::new(network, window as usize, known, budget);
        let Some(needed) = needed(&ordered, &mut steps, window, budget)? else { continue };
        let needed: Vec<&Ordered> = needed.into_iter().map(|at| &ordered[at]).collect();
        let most = needed.iter().map(|it| it.height_at(&network.initial)).sum::<u32>();
        let ends =
            window == 1 || has_ended_at_the_top(&needed, &mut one_step, budget).unwrap_or(false);
        let rest = if ends { 0 } else { window - 1 };
        return Some(Some(Progress {
            steps: most * window + rest,
            reason: ProgressReason::Changes { window, most },
            relations: relations(network, needed.iter().map(|it| &it.variable)),
        }));
    }
    Some(None)
}

/// The relations of the variables' facts, in order.
fn relations<'a>(
    network: &Network,
    variables: impl IntoIterator<Item = &'a Variable>,
) -> Vec<String> {
    let facts = variables.into_iter().flat_map(|it| &it.facts);
    let names: BTreeSet<&str> =
        facts.map(|&fact| relation(&network.facts[fact as usize])).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// The name of a fact's relation.
fn relation(fact: &Expression) -> &str {
    match fact {
        Expression::Atom(name) => name,
        Expression::List(items) => items.first().map_or("", relation),
    }
}

/// A variable with changes that are never undone.
struct Ordered {
    variable: Variable,
    order: Order,
}

impl Ordered {
    /// The most changes that are never undone from a state on.
    fn height_at(&self, facts: &[bool]) -> u32 {
        self.order.heights()[self.variable.value(facts)]
    }

    /// Whether the variable has the same class before and after.
    fn is_unchanged(&self, steps: &mut Steps<'_>, time: usize) -> Lit {
        let [before, after] = [0, time].map(|time| steps.values(&self.variable, time));
        let graph = &mut steps.graph;
        let mut same = Vec::new();
        for class in self.order.classes() {
            let was = graph.any(&mut class.iter().map(|&value| before[value]).collect());
            let is = graph.any(&mut class.iter().map(|&value| after[value]).collect());
            same.push(graph.and(was, is));
        }
        graph.any(&mut same)
    }
}

/// The variables that have changes which are never undone: groups of facts, and the facts of
/// other groups one by one.
fn irreversible(
    network: &Network,
    known: &[Variable],
    observed: &[ObservedStep],
    steps: &mut Steps<'_>,
    budget: &mut Budget<'_>,
) -> Option<Vec<Ordered>> {
    let mut found: Vec<Ordered> = Vec::new();
    for variable in known {
        found.extend(ordered(variable, observed, steps, budget)?);
    }
    let mut is_covered = vec![false; network.n_facts()];
    for &fact in found.iter().flat_map(|it| &it.variable.facts) {
        is_covered[fact as usize] = true;
    }
    for variable in single_facts(network, |fact| !is_covered[fact as usize]) {
        found.extend(ordered(&variable, observed, steps, budget)?);
    }
    Some(found)
}

/// The order of a variable's values, if it has changes that are never undone; the inner one is
/// `None` if not. All pairs that may follow each other in a step are in it.
fn ordered(
    variable: &Variable,
    observed: &[ObservedStep],
    steps: &mut Steps<'_>,
    budget: &mut Budget<'_>,
) -> Option<Option<Ordered>> {
    let mut order = Order::new(variable.n_values());
    for step in observed {
        for (from, to, _) in variable.changes(step) {
            order.add(from, to);
        }
    }
    let [now, next] = [0, 1].map(|time| steps.values(variable, time));
    while order.has_classes() {
        let graph = &mut steps.graph;
        let mut unexpected = Vec::new();
        for (from, &was) in now.iter().enumerate() {
            let may_follow = |to: &usize| order.may_follow(from, *to);
            let to = (0..next.len()).filter(may_follow);
            let expected = graph.any(&mut to.map(|to| next[to]).collect());
            unexpected.push(graph.and(was, !expected));
        }
        let unexpected = graph.any(&mut unexpected);
        match steps.ask(&[unexpected], budget)? {
            Answer::Never => return Some(Some(Ordered { variable: variable.clone(), order })),
            Answer::Unknown => return Some(None),
            Answer::When(inputs) => {
                let [from, to] = steps.step(&inputs).map(|facts| variable.value(&facts));
                assert!(!order.may_follow(from, to), "the answer is about an unexpected change");
                order.add(from, to);
            }
        }
    }
    Some(None)
}

/// The most steps in a row of observed matches without a change that is never undone.
fn longest_pause(ordered: &[Ordered], observed: &[ObservedStep]) -> u32 {
    let mut longest = 0;
    let mut pauses = [0_u32; 64];
    for step in observed {
        let mut changed = 0;
        for Ordered { variable, order } in ordered {
            for (from, to, matches) in variable.changes(step) {
                if !order.is_same_class(from, to) {
                    changed |= matches;
                }
            }
        }
        for (lane, pause) in pauses.iter_mut().enumerate() {
            let is = |matches: u64| matches >> lane & 1 == 1;
            *pause = if is(step.going & !changed) { *pause + 1 } else { 0 };
            longest = longest.max(*pause);
        }
    }
    longest
}

/// Variables of which one changes its class within the steps, as few as are found out quickly:
/// their places in the list. The inner one is `None` if it is not proven that one does.
fn needed(
    ordered: &[Ordered],
    steps: &mut Steps<'_>,
    window: u32,
    budget: &mut Budget<'_>,
) -> Option<Option<Vec<usize>>> {
    let unchanged: Vec<Lit> =
        ordered.iter().map(|it| it.is_unchanged(steps, window as usize)).collect();
    let mut left: Vec<usize> = (0..ordered.len()).collect();
    let mut shrink = |left: &mut Vec<usize>, is_kept: &dyn Fn(usize) -> bool| {
        let rest: Vec<usize> = left.iter().copied().filter(|&at| is_kept(at)).collect();
        let lits: Vec<Lit> = rest.iter().map(|&at| unchanged[at]).collect();
        let is_proven = matches!(steps.ask(&lits, budget)?, Answer::Never);
        if is_proven {
            let core = steps.core(&lits);
            *left = rest.into_iter().filter(|&at| core.contains(&unchanged[at])).collect();
        }
        Some(is_proven)
    };
    let mut all = left.clone();
    if !shrink(&mut all, &|_| true)? {
        return Some(None);
    }
    // From here on all of them would do: what is not found out only makes the bound larger.
    // Whole families first: the one with the most changes is needed least.
    let height = |at: usize| ordered[at].order.heights().into_iter().max().unwrap_or(0);
    let mut families: Vec<(u32, usize)> = Vec::new();
    for (at, it) in ordered.iter().enumerate() {
        match families.iter_mut().find(|(_, family)| *family == it.variable.family) {
            Some((total, _)) => *total += height(at),
            None => families.push((height(at), it.variable.family)),
        }
    }
    families.sort_by(|one, other| other.cmp(one));
    for (_, family) in families {
        let is_kept = |at: usize| ordered[at].variable.family != family;
        let before = left.clone();
        if shrink(&mut left, &is_kept) == Some(true) {
            // The core may lack single variables of other families that it would be better
            // to keep, so only the family goes.
            left = before.into_iter().filter(|&at| is_kept(at)).collect();
        }
    }
    for at in left.clone() {
        if left.contains(&at) {
            shrink(&mut left, &|other| other != at);
        }
    }
    Some(Some(left))
}

/// Whether play has ended when the variables have made all their changes.
fn has_ended_at_the_top(
    ordered: &[&Ordered],
    steps: &mut Steps<'_>,
    budget: &mut Budget<'_>,
) -> Option<bool> {
    let mut top = Vec::new();
    for Ordered { variable, order } in ordered {
        let values = steps.values(variable, 0);
        let heights = order.heights();
        let mut last: Vec<Lit> = values
            .into_iter()
            .zip(heights)
            .filter(|(_, it)| *it == 0)
            .map(|(lit, _)| lit)
            .collect();
        top.push(steps.graph.any(&mut last));
    }
    Some(matches!(steps.ask(&top, budget)?, Answer::Never))
}
