//! What is so in every state that play reaches, by induction: which groups of facts are
//! variables, and which facts imply or exclude others.

use super::invariants::{Clause, Invariants, Signal};
use super::observed::ObservedStep;
use super::steps::{Budget, Steps, some_and_two};
use super::variables::{Variable, candidates};
use crate::Network;
use crate::network::Lit;
use crate::network::solver::Answer;

/// Maximum number of signals that are compared with each other.
const MAX_SIGNALS: usize = 400;

/// Maximum number of clauses that are tried.
const MAX_CLAUSES: usize = 30_000;

/// The groups of which it is proven that never two of their facts hold, and that one does if
/// it says so: this holds initially, and after each step if it holds before. Clauses over facts
/// and groups are proven with them if `with_clauses`. `None` if there is nothing left to be
/// spent.
pub(super) fn invariants(
    network: &Network,
    observed: &[ObservedStep],
    with_clauses: bool,
    budget: &mut Budget<'_>,
) -> Option<Invariants> {
    let mut assumed =
        Invariants { variables: candidates(network, observed), ..Invariants::default() };
    if with_clauses {
        assumed.signals = signals(network, &assumed.variables);
        assumed.clauses = clauses(&assumed.signals, observed);
    }
    loop {
        let mut steps = Steps::new(network, 1, &assumed, budget);
        let clauses = kept_clauses(&assumed, &mut steps, budget)?;
        let variables = kept_variables(&assumed.variables, &mut steps, budget)?;
        let is_proven = variables == assumed.variables && clauses.len() == assumed.clauses.len();
        (assumed.variables, assumed.clauses) = (variables, clauses);
        if is_proven {
            return Some(assumed);
        }
    }
}

/// The groups that are variables after a step, too.
fn kept_variables(
    assumed: &[Variable],
    steps: &mut Steps<'_>,
    budget: &mut Budget<'_>,
) -> Option<Vec<Variable>> {
    let mut kept = Vec::new();
    for variable in assumed {
        let mut left = variable.clone();
        let lits: Vec<Lit> = variable.facts.iter().map(|&it| steps.facts(1)[it as usize]).collect();
        if lits.len() > 1 {
            let [_, two] = some_and_two(&mut steps.graph, &lits);
            if !matches!(steps.ask(&[two], budget)?, Answer::Never) {
                continue;
            }
        }
        if left.is_total {
            let none: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
            left.is_total = matches!(steps.ask(&none, budget)?, Answer::Never);
        }
        kept.push(left);
    }
    Some(kept)
}

/// The clauses that hold after a step, too.
fn kept_clauses(
    assumed: &Invariants,
    steps: &mut Steps<'_>,
    budget: &mut Budget<'_>,
) -> Option<Vec<Clause>> {
    let mut left = assumed.clauses.clone();
    let facts = steps.facts(1).to_vec();
    let lits = assumed.lits(&mut steps.graph, &facts);
    let lit = |(signal, holds): (usize, bool)| lits[signal].negated_if(!holds);
    for first in (0..lits.len()).flat_map(|signal| [(signal, false), (signal, true)]) {
        loop {
            let of_first = left.iter().filter(|clause| clause[0] == first);
            let mut others: Vec<Lit> = of_first.map(|clause| !lit(clause[1])).collect();
            if others.is_empty() {
                break;
            }
            let broken = steps.graph.any(&mut others);
            match steps.ask(&[!lit(first), broken], budget)? {
                Answer::Never => break,
                Answer::Unknown => left.retain(|clause| clause[0] != first),
                Answer::When(inputs) => {
                    let [_, next] = steps.step(&inputs);
                    let holds = |&(signal, holds): &(usize, bool)| {
                        assumed.signals[signal].iter().any(|&fact| next[fact as usize]) == holds
                    };
                    let n_before = left.len();
                    left.retain(|clause| clause.iter().any(holds));
                    assert!(left.len() < n_before, "the answer is about a broken clause");
                }
            }
        }
    }
    Some(left)
}

/// Groups of facts, and facts, if there are not too many.
fn signals(network: &Network, variables: &[Variable]) -> Vec<Signal> {
    let groups = variables.iter().filter(|it| it.facts.len() > 1 && !it.is_total);
    let mut signals: Vec<Signal> = groups.map(|it| it.facts.clone()).collect();
    if signals.len() + network.n_facts() <= MAX_SIGNALS {
        signals.extend((0..network.n_facts() as u32).map(|fact| vec![fact]));
    }
    signals.truncate(MAX_SIGNALS);
    signals
}

/// The clauses that no observed state breaks; of those about a single signal, both literals
/// are the same.
fn clauses(signals: &[Signal], observed: &[ObservedStep]) -> Vec<Clause> {
    let values = |signal: &Signal| -> Vec<u64> {
        let or = |step: &ObservedStep| {
            signal.iter().fold(0, |some, &fact| some | step.now[fact as usize])
        };
        observed.iter().map(or).collect()
    };
    let values: Vec<Vec<u64>> = signals.iter().map(values).collect();
    let mut clauses = Vec::new();
    let mut varying = Vec::new();
    for (signal, words) in values.iter().enumerate() {
        match (words.iter().all(|&word| word == 0), words.iter().all(|&word| word == u64::MAX)) {
            (true, _) => clauses.push([(signal, false); 2]),
            (_, true) => clauses.push([(signal, true); 2]),
            _ => varying.push(signal),
        }
    }
    for (place, &one) in varying.iter().enumerate() {
        for &other in &varying[..place] {
            // By value of one and the other: the matches in which they had them.
            let mut met = [0; 4];
            for (&a, &b) in values[one].iter().zip(&values[other]) {
                for (met, word) in met.iter_mut().zip([!a & !b, !a & b, a & !b, a & b]) {
                    *met |= word;
                }
                if met.iter().all(|&met| met != 0) {
                    break;
                }
            }
            let literals = [(true, true), (true, false), (false, true), (false, false)];
            for (met, (of_one, of_other)) in met.into_iter().zip(literals) {
                if met == 0 {
                    clauses.push([(one, of_one), (other, of_other)]);
                }
            }
        }
    }
    clauses.truncate(MAX_CLAUSES);
    clauses
}
