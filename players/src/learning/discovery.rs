//! Finds the features of a game: patterns of the facts that random play meets, places in
//! the orders of the rules, and mobility.
//!
//! General features come first: the number of facts of a relation, then by the value of
//! one argument, then of two, then single facts. What is the same in all states is left
//! out, and so is what only counts steps, and what always equals an earlier feature.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

use games::{Expression, FactId, MoveId, ReasoningError, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;
use rustc_hash::{FxHashMap, FxHasher};

use super::extractor::Extractor;
use super::feature::{Feature, Pattern, parts};
use super::order::{Order, orders};
use crate::Stop;

/// Maximum number of features of a game.
pub(crate) const MAX_FEATURES: usize = 1000;
/// Maximum number of features that are tried.
const MAX_TRIED: usize = 4000;
/// Maximum number of facts of a relation that are features each alone.
const MAX_SINGLE: usize = 500;
/// Maximum number of values of an argument, and of a pair of arguments, that are features each.
const MAX_VALUES: usize = 64;
const MAX_PAIRS: usize = 256;
/// Maximum number of values of arguments for which the others are put in order.
const MAX_ORDERED: usize = 16;

/// Random matches that are sampled, and most states of them.
const N_PLAYOUTS: usize = 100;
const MAX_STATES: usize = 4000;
/// Maximum number of steps of a random match.
const MAX_STEPS: usize = 400;

/// A feature, and how it is distributed in random play.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The feature.
    pub(crate) feature: Feature,
    /// The mean.
    pub(crate) mean: f64,
    /// The standard deviation, but at least a tenth of the range.
    pub(crate) scale: f64,
}

/// States of random play.
#[derive(Default)]
pub(super) struct Sample {
    states: Vec<State>,
    /// By state: the number of steps before it.
    steps: Vec<usize>,
    /// By state, then by role: the number of legal moves.
    n_moves: Vec<Vec<usize>>,
}

impl Sample {
    pub(super) fn n_states(&self) -> usize {
        self.states.len()
    }
}

/// The features of the machine's game, found in random play that follows from `rng`. At
/// least one match is sampled, however soon `stop` is due.
pub(crate) fn discover(
    machine: &mut dyn StateMachine,
    rng: &mut Pcg64,
    stop: &Stop,
) -> Result<Vec<Found>, ReasoningError> {
    let sample = sample(machine, rng, stop)?;
    let facts = facts_of(machine, &sample);
    let counters = counters(&facts, &sample);
    let relations = by_relation(&facts, &counters);
    let mut tried = tried(&orders(machine.game()), &relations);
    let game = machine.game();
    let players = game.role_ids().filter(|&role| Some(role) != game.random());
    tried.extend(players.map(|role| Feature::Moves(game.role_name(role).to_owned())));
    Ok(worth_keeping(machine, tried, &sample))
}

pub(super) fn sample(
    machine: &mut dyn StateMachine,
    rng: &mut Pcg64,
    stop: &Stop,
) -> Result<Sample, ReasoningError> {
    let mut sample = Sample::default();
    let roles = machine.game().role_ids();
    let mut legal: Vec<Vec<MoveId>> = vec![Vec::new(); roles.len()];
    for playout in 0..N_PLAYOUTS {
        if playout > 0 && (sample.states.len() >= MAX_STATES || stop.is_due(0)) {
            break;
        }
        let mut state = machine.initial_state()?;
        for step in 0..MAX_STEPS {
            if machine.is_terminal(&state)? {
                break;
            }
            for (role, moves) in roles.clone().zip(&mut legal) {
                machine.legal_moves(&state, role, moves)?;
            }
            if legal.iter().any(Vec::is_empty) {
                break;
            }
            sample.states.push(state.clone());
            sample.steps.push(step);
            sample.n_moves.push(legal.iter().map(Vec::len).collect());
            let joint_move: Vec<MoveId> =
                legal.iter().map(|moves| moves[rng.random_range(0..moves.len())]).collect();
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next)?;
            state = next;
        }
    }
    Ok(sample)
}

/// The facts that were met, each with the states it holds in. The order does not depend on
/// the reasoner.
pub(super) fn facts_of(
    machine: &mut dyn StateMachine,
    sample: &Sample,
) -> BTreeMap<Expression, Vec<usize>> {
    let mut by_id: FxHashMap<FactId, Vec<usize>> = FxHashMap::default();
    let (mut gained, mut lost) = (Vec::new(), Vec::new());
    for (at, state) in sample.states.iter().enumerate() {
        gained.clear();
        machine.changed_facts(&State::default(), state, &mut gained, &mut lost);
        for &fact in &gained {
            by_id.entry(fact).or_default().push(at);
        }
    }
    by_id.into_iter().map(|(fact, states)| (machine.fact(fact), states)).collect()
}

/// A relation by name and number of arguments.
pub(super) type Relation = (String, usize);

fn relation_of(fact: &Expression) -> Relation {
    let (relation, arguments) = parts(fact);
    (relation.to_owned(), arguments.len())
}

/// The relations that only count steps: what holds of them follows from the number of
/// steps, and some fact never comes back once it is gone. Whose turn it is comes back.
pub(super) fn counters(
    facts: &BTreeMap<Expression, Vec<usize>>,
    sample: &Sample,
) -> BTreeSet<Relation> {
    let mut n_at_step = vec![0; MAX_STEPS];
    for &step in &sample.steps {
        n_at_step[step] += 1;
    }
    let mut counters = BTreeMap::new();
    for (fact, states) in facts {
        let mut held = vec![0; MAX_STEPS];
        for &state in states {
            held[sample.steps[state]] += 1;
        }
        let is_by_step = held.iter().zip(&n_at_step).all(|(&held, &n)| held == 0 || held == n);
        let n_spans = (0..MAX_STEPS)
            .filter(|&step| held[step] > 0 && (step == 0 || held[step - 1] == 0))
            .count();
        let never_ends = held.iter().zip(&n_at_step).all(|(&held, &n)| held == n);
        let known = counters.entry(relation_of(fact)).or_insert((true, false));
        known.0 &= is_by_step;
        known.1 |= n_spans == 1 && !never_ends;
    }
    let counts = counters.into_iter().filter(|&(_, (is_by_step, is_once))| is_by_step && is_once);
    counts.map(|(relation, _)| relation).collect()
}

/// The facts of the relations that are no counters, in their order.
pub(super) fn by_relation<'f>(
    facts: &'f BTreeMap<Expression, Vec<usize>>,
    counters: &BTreeSet<Relation>,
) -> BTreeMap<Relation, Vec<&'f [Expression]>> {
    let mut relations: BTreeMap<Relation, Vec<&[Expression]>> = BTreeMap::new();
    for fact in facts.keys() {
        let relation = relation_of(fact);
        if !counters.contains(&relation) {
            relations.entry(relation).or_default().push(parts(fact).1);
        }
    }
    relations
}

/// All features worth a try, the most general first.
fn tried(orders: &[Order], relations: &BTreeMap<Relation, Vec<&[Expression]>>) -> Vec<Feature> {
    // By generality: whole relations, one argument, two, all.
    let mut levels: [Vec<Feature>; 4] = Default::default();
    for (relation, rows) in relations {
        let (name, arity) = (&relation.0, relation.1);
        let ordered: Vec<Ordered<'_>> =
            (0..arity).filter_map(|argument| ordered(orders, rows, argument)).collect();
        let mut add = |level: usize, given: &[(usize, &Expression)], most_ordered: bool| {
            let mut arguments = vec![None; arity];
            for &(argument, value) in given {
                arguments[argument] = Some(value.clone());
            }
            let pattern = Pattern { relation: name.clone(), arguments };
            levels[level].push(Feature::Count(pattern.clone()));
            let free = ordered.iter().filter(|ordered| {
                most_ordered && given.iter().all(|&(argument, _)| argument != ordered.argument)
            });
            levels[level].extend(free.map(|ordered| ordered.feature(pattern.clone())));
        };
        add(0, &[], true);
        for argument in 0..arity {
            let values: BTreeSet<&Expression> = rows.iter().map(|row| &row[argument]).collect();
            if arity > 1 && values.len() <= MAX_VALUES {
                for &value in &values {
                    add(1, &[(argument, value)], values.len() <= MAX_ORDERED);
                }
            }
        }
        for (one, two) in (0..arity).flat_map(|two| (0..two).map(move |one| (one, two))) {
            let pairs: BTreeSet<(&Expression, &Expression)> =
                rows.iter().map(|row| (&row[one], &row[two])).collect();
            if arity > 2 && pairs.len() <= MAX_PAIRS {
                for &(first, second) in &pairs {
                    add(2, &[(one, first), (two, second)], pairs.len() <= MAX_ORDERED);
                }
            }
        }
        if arity > 0 && rows.len() <= MAX_SINGLE {
            for row in rows {
                let given: Vec<(usize, &Expression)> = row.iter().enumerate().collect();
                add(3, &given, false);
            }
        }
    }
    let mut tried: Vec<Feature> = levels.into_iter().flatten().collect();
    tried.truncate(MAX_TRIED);
    tried
}

/// An argument whose values are in order.
pub(super) struct Ordered<'o> {
    argument: usize,
    /// By which relation; `None` for the order of numbers.
    order: Option<&'o Order>,
}

impl Ordered<'_> {
    fn feature(&self, pattern: Pattern) -> Feature {
        let argument = self.argument;
        match self.order {
            Some(order) => Feature::Rank { pattern, argument, order: order.relation.clone() },
            None => Feature::Value { pattern, argument },
        }
    }
}

pub(super) fn ordered<'o>(
    orders: &'o [Order],
    rows: &[&[Expression]],
    argument: usize,
) -> Option<Ordered<'o>> {
    let values: BTreeSet<&Expression> = rows.iter().map(|row| &row[argument]).collect();
    let constants: Option<Vec<&str>> = values
        .iter()
        .map(|value| match value {
            Expression::Atom(name) => Some(name.as_str()),
            Expression::List(_) => None,
        })
        .collect();
    let constants = constants.filter(|constants| constants.len() >= 3)?;
    let order = orders.iter().find(|order| order.has_all(constants.iter().copied()));
    let are_numbers = || constants.iter().all(|constant| constant.parse::<i32>().is_ok());
    (order.is_some() || are_numbers()).then_some(Ordered { argument, order })
}

/// Those that differ from state to state and from each other, at most [`MAX_FEATURES`];
/// mobility, which is last, is always among them.
fn worth_keeping(
    machine: &mut dyn StateMachine,
    tried: Vec<Feature>,
    sample: &Sample,
) -> Vec<Found> {
    let mut extractor = Extractor::new(machine.game(), &tried);
    let mut columns = vec![Vec::with_capacity(sample.states.len()); tried.len()];
    let mut values = Vec::new();
    for (state, n_moves) in sample.states.iter().zip(&sample.n_moves) {
        extractor.extract(machine, state, &mut values);
        for &(feature, role) in extractor.mobility() {
            values[feature as usize] = n_moves[usize::from(role.0)] as f32;
        }
        for (column, &value) in columns.iter_mut().zip(&values) {
            column.push(value);
        }
    }
    let n_mobility = extractor.mobility().len();
    let n_tried = tried.len();
    let mut known: BTreeSet<u64> = BTreeSet::new();
    let mut kept = Vec::new();
    for (index, (feature, column)) in tried.into_iter().zip(&columns).enumerate() {
        let is_mobility = index + n_mobility >= n_tried;
        if (kept.len() + n_mobility >= MAX_FEATURES && !is_mobility) || is_constant(column) {
            continue;
        }
        if known.insert(hash(column)) {
            let (mean, scale) = moments(column);
            kept.push(Found { feature, mean, scale });
        }
    }
    kept
}

fn is_constant(column: &[f32]) -> bool {
    column.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits())
}

fn hash(column: &[f32]) -> u64 {
    let mut hasher = FxHasher::default();
    for value in column {
        value.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}

fn moments(column: &[f32]) -> (f64, f64) {
    let n = column.len() as f64;
    let values = || column.iter().map(|&value| f64::from(value));
    let mean = values().sum::<f64>() / n;
    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let (least, most) = values()
        .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
    (mean, variance.sqrt().max((most - least) / 10.0))
}
