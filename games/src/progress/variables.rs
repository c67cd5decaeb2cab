//! Groups of facts of which never two hold, as variables: what is on a square, whose turn it
//! is, the number of a step. A single fact is one, too.

use std::collections::BTreeMap;

use super::observed::ObservedStep;
use crate::network::{Graph, Lit};
use crate::{Expression, Network};

/// Maximum number of arguments of a relation whose facts are grouped.
const MAX_ARGUMENTS: usize = 6;

/// Maximum number of facts of a group.
const MAX_FACTS: usize = 256;

/// A group of facts of which never two hold. Its values are the facts by their place, and
/// after them the value that none of them holds, unless one always does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// Numbers of the facts.
    pub(super) facts: Vec<u32>,
    /// One of the facts always holds.
    pub(super) is_total: bool,
    /// The same for variables that group the facts of a relation in the same way.
    pub(super) family: usize,
}

impl Variable {
    pub(super) fn n_values(&self) -> usize {
        self.facts.len() + usize::from(!self.is_total)
    }

    /// By value: whether the variable has it, if the facts are these.
    pub(super) fn values(&self, graph: &mut Graph, facts: &[Lit]) -> Vec<Lit> {
        let mut values: Vec<Lit> = self.facts.iter().map(|&fact| facts[fact as usize]).collect();
        if !self.is_total {
            values.push(!graph.any(&mut values.clone()));
        }
        values
    }

    /// The value in one state.
    pub(super) fn value(&self, facts: &[bool]) -> usize {
        let place = self.facts.iter().position(|&fact| facts[fact as usize]);
        place.unwrap_or(self.n_values() - 1)
    }

    /// Changes of the value in observed steps, each with the matches in which it happened.
    pub(super) fn changes(&self, step: &ObservedStep) -> Vec<(usize, usize, u64)> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let (mut none_before, mut none_after) = (step.going, step.going);
        for (place, &fact) in self.facts.iter().enumerate() {
            let [now, next] = [step.now[fact as usize], step.next[fact as usize]];
            none_before &= !now;
            none_after &= !next;
            if now & !next & step.going != 0 {
                before.push((place, now & !next & step.going));
            }
            if next & !now & step.going != 0 {
                after.push((place, next & !now & step.going));
            }
        }
        if !self.is_total {
            before.push((self.facts.len(), none_before & !none_after));
            after.push((self.facts.len(), none_after & !none_before));
        }
        let mut changes = Vec::new();
        for &(from, left) in &before {
            for &(to, reached) in &after {
                if left & reached != 0 {
                    changes.push((from, to, left & reached));
                }
            }
        }
        changes
    }
}

/// The largest groups of facts of a relation that agree in some of their arguments, and of
/// which never two held in observed steps.
pub(super) fn candidates(network: &Network, steps: &[ObservedStep]) -> Vec<Variable> {
    let mut relations: BTreeMap<(&str, usize), Vec<u32>> = BTreeMap::new();
    for (fact, expression) in network.facts.iter().enumerate() {
        let key = match expression {
            Expression::List(items) => match items.first() {
                Some(Expression::Atom(name)) => (name.as_str(), items.len() - 1),
                _ => continue,
            },
            Expression::Atom(name) => (name.as_str(), 0),
        };
        relations.entry(key).or_default().push(fact as u32);
    }
    let mut found = Vec::new();
    let mut family = 0;
    for ((_, n_arguments), facts) in relations {
        if n_arguments > MAX_ARGUMENTS {
            continue;
        }
        let mut kept: Vec<u32> = Vec::new();
        let mut keys: Vec<u32> = (0..1 << n_arguments).collect();
        keys.sort_by_key(|key| key.count_ones());
        for key in keys {
            if kept.iter().any(|smaller| smaller & key == *smaller) {
                continue;
            }
            let groups = grouped(network, &facts, key);
            if groups.iter().all(|group| group.len() <= MAX_FACTS && is_apart(group, steps)) {
                kept.push(key);
                found.extend(groups.into_iter().map(|facts| {
                    let is_total = is_total(&facts, steps);
                    Variable { facts, is_total, family }
                }));
                family += 1;
            }
        }
    }
    found
}

/// Each fact by itself.
pub(super) fn single_facts(network: &Network, is_wanted: impl Fn(u32) -> bool) -> Vec<Variable> {
    let mut families = BTreeMap::new();
    let facts = (0..network.n_facts() as u32).filter(|&fact| is_wanted(fact));
    let single = |fact: u32| {
        let next = families.len();
        let name = super::relation(&network.facts[fact as usize]);
        // Numbers that no group has.
        let family = usize::MAX - *families.entry(name).or_insert(next);
        Variable { facts: vec![fact], is_total: false, family }
    };
    facts.map(single).collect()
}

/// The facts by their arguments at the places whose bits are set.
fn grouped(network: &Network, facts: &[u32], key: u32) -> Vec<Vec<u32>> {
    let mut groups: BTreeMap<Vec<String>, Vec<u32>> = BTreeMap::new();
    for &fact in facts {
        let key = match &network.facts[fact as usize] {
            Expression::List(items) => {
                let is_kept = |&(place, _): &(usize, &Expression)| key >> place & 1 == 1;
                let arguments = items[1..].iter().enumerate().filter(is_kept);
                arguments.map(|(_, argument)| argument.to_string()).collect()
            }
            Expression::Atom(_) => Vec::new(),
        };
        groups.entry(key).or_default().push(fact);
    }
    groups.into_values().collect()
}

fn is_apart(group: &[u32], steps: &[ObservedStep]) -> bool {
    steps.iter().all(|step| {
        let mut before = 0;
        group.iter().all(|&fact| {
            let now = step.now[fact as usize];
            let is_apart = before & now == 0;
            before |= now;
            is_apart
        })
    })
}

fn is_total(group: &[u32], steps: &[ObservedStep]) -> bool {
    steps
        .iter()
        .all(|step| group.iter().fold(0, |some, &fact| some | step.now[fact as usize]) == u64::MAX)
}
