//! Sums over the variables that fall in every step: each value of a variable has a weight, and
//! the weights of a state add up.
//!
//! All ways in which a step may change some variables are collected: those of random play, then
//! those that the solver finds until there is no other. A linear program finds the weights with
//! the least sum in the initial state for which each of them lowers the sum by 1 at least.
//! Linear ranking functions: Podelski and Rybalchenko, "A complete method for the synthesis of
//! linear ranking functions", VMCAI 2004.

use std::collections::{BTreeMap, BTreeSet};

use super::invariants::Invariants;
use super::linear_program::least;
use super::observed::ObservedStep;
use super::steps::{Budget, Steps};
use super::variables::{Variable, single_facts};
use crate::Network;
use crate::network::Lit;
use crate::network::solver::Answer;

/// Maximum number of different changes.
const MAX_CHANGES: usize = 1500;

/// Maximum number of families that are tried in pairs.
const MAX_FAMILIES: usize = 12;

/// Maximum number of weights times changes.
const MAX_SIZE: usize = 250_000;

/// Maximum number of choices of variables for which weights are computed.
const MAX_CHOICES: usize = 8;

/// Weights are multiples of one over these numbers.
const DENOMINATORS: [i64; 5] = [1, 2, 3, 4, 6];

/// What a step changes: numbers of variables, with their values before and after.
type Change = Vec<(usize, usize, usize)>;

/// A sum that falls by 1 at least in every step.
pub(super) struct FallingSum {
    /// The sum of the initial state.
    pub(super) at_first: u32,
    /// The variables.
    pub(super) variables: Vec<Variable>,
}

/// A sum over the variables of one family, or two. The inner one is `None` if none is found.
pub(super) fn falling_sum(
    network: &Network,
    known: &Invariants,
    observed: &[ObservedStep],
    budget: &mut Budget<'_>,
) -> Option<Option<FallingSum>> {
    let mut is_covered = vec![false; network.n_facts()];
    for &fact in known.variables.iter().flat_map(|it| &it.facts) {
        is_covered[fact as usize] = true;
    }
    let mut families: BTreeMap<usize, Vec<Variable>> = BTreeMap::new();
    let singles = single_facts(network, |fact| !is_covered[fact as usize]);
    for variable in known.variables.iter().chain(&singles) {
        families.entry(variable.family).or_default().push(variable.clone());
    }
    let families: Vec<Vec<Variable>> = families.into_values().collect();
    let mut choices: Vec<Vec<usize>> = (0..families.len()).map(|family| vec![family]).collect();
    if families.len() <= MAX_FAMILIES {
        for one in 0..families.len() {
            choices.extend((0..one).map(|other| vec![other, one]));
        }
    }
    let mut candidates = Vec::new();
    for choice in choices {
        let variables: Vec<Variable> =
            choice.iter().flat_map(|&family| families[family].clone()).collect();
        if let Some(changes) = observed_changes(&variables, observed) {
            candidates.push((changes, variables));
        }
    }
    candidates.sort_by_key(|(changes, _)| changes.len());
    for (changes, variables) in candidates.into_iter().take(MAX_CHOICES) {
        if weights(network, &variables, &changes).is_none() {
            continue;
        }
        let Some(changes) = all_changes(network, known, &variables, changes, budget)? else {
            continue;
        };
        if let Some(at_first) = weights(network, &variables, &changes) {
            return Some(Some(FallingSum { at_first, variables }));
        }
    }
    Some(None)
}

/// The changes in observed steps; `None` if a step changes nothing, or there are too many.
fn observed_changes(variables: &[Variable], observed: &[ObservedStep]) -> Option<BTreeSet<Change>> {
    let mut found = BTreeSet::new();
    for step in observed {
        let mut by_match: Vec<Change> = vec![Vec::new(); 64];
        for (number, variable) in variables.iter().enumerate() {
            for (from, to, matches) in variable.changes(step) {
                for (lane, change) in by_match.iter_mut().enumerate() {
                    if matches >> lane & 1 == 1 {
                        change.push((number, from, to));
                    }
                }
            }
        }
        for (lane, change) in by_match.into_iter().enumerate() {
            if step.going >> lane & 1 == 0 {
                continue;
            }
            if change.is_empty() {
                return None;
            }
            found.insert(change);
        }
        if found.len() > MAX_CHANGES {
            return None;
        }
    }
    Some(found)
}

/// All changes that a step may bring, these among them. The inner one is `None` if a step
/// changes nothing, there are too many, or it is not proven that these are all.
fn all_changes(
    network: &Network,
    known: &Invariants,
    variables: &[Variable],
    mut changes: BTreeSet<Change>,
    budget: &mut Budget<'_>,
) -> Option<Option<BTreeSet<Change>>> {
    let mut steps = Steps::new(network, 1, known, budget);
    let values: Vec<[Vec<Lit>; 2]> =
        variables.iter().map(|it| [0, 1].map(|time| steps.values(it, time))).collect();
    let mut unchanged = Vec::new();
    for [now, next] in &values {
        let both = now.iter().zip(next).map(|(&was, &is)| steps.graph.and(was, is));
        let mut both: Vec<Lit> = both.collect();
        unchanged.push(steps.graph.any(&mut both));
    }
    let exclude = |change: &Change, steps: &mut Steps<'_>| {
        let mut differs: Vec<Lit> = unchanged.iter().map(|&lit| !lit).collect();
        for &(number, from, _) in change {
            differs[number] = !values[number][0][from];
        }
        differs.extend(change.iter().map(|&(number, _, to)| !values[number][1][to]));
        steps.add(&differs);
    };
    changes.iter().for_each(|change| exclude(change, &mut steps));
    loop {
        match steps.ask(&[], budget)? {
            Answer::Never => return Some(Some(changes)),
            Answer::Unknown => return Some(None),
            Answer::When(inputs) => {
                let [before, after] = steps.step(&inputs);
                let change: Change = variables
                    .iter()
                    .enumerate()
                    .map(|(number, it)| (number, it.value(&before), it.value(&after)))
                    .filter(|(_, from, to)| from != to)
                    .collect();
                if change.is_empty() || changes.len() >= MAX_CHANGES {
                    return Some(None);
                }
                exclude(&change, &mut steps);
                assert!(changes.insert(change), "the answer is about another change");
            }
        }
    }
}

/// The sum in the initial state, if there are weights that each of the changes lowers by 1 at
/// least.
fn weights(network: &Network, variables: &[Variable], changes: &BTreeSet<Change>) -> Option<u32> {
    let mut first = Vec::new();
    let mut costs = Vec::new();
    for variable in variables {
        first.push(costs.len());
        let initial = variable.value(&network.initial);
        costs.extend((0..variable.n_values()).map(|value| f64::from(u8::from(value == initial))));
    }
    if costs.len() * changes.len() > MAX_SIZE {
        return None;
    }
    let place = |number: usize, value: usize| first[number] + value;
    let condition = |change: &Change| {
        let terms = change.iter().flat_map(|&(number, from, to)| {
            [(place(number, from), 1.0), (place(number, to), -1.0)]
        });
        terms.collect::<Vec<(usize, f64)>>()
    };
    let conditions: Vec<Vec<(usize, f64)>> = changes.iter().map(condition).collect();
    let found = least(&costs, &conditions)?;
    // Whether they are right is checked without rounding errors.
    DENOMINATORS.into_iter().find_map(|denominator| {
        let rounded: Vec<i64> =
            found.iter().map(|weight| (weight * denominator as f64).round() as i64).collect();
        let falls = |change: &Change| {
            let terms = change.iter().map(|&(number, from, to)| {
                rounded[place(number, from)] - rounded[place(number, to)]
            });
            terms.sum::<i64>() >= denominator
        };
        let is_right = rounded.iter().all(|&weight| weight >= 0) && changes.iter().all(falls);
        let initial = variables
            .iter()
            .enumerate()
            .map(|(number, variable)| rounded[place(number, variable.value(&network.initial))]);
        let at_first = u32::try_from(initial.sum::<i64>() / denominator);
        at_first.ok().filter(|_| is_right)
    })
}
