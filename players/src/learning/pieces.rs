//! What pieces are worth by a learned evaluation: a queen, a man, a stone, wherever it stands.
//!
//! Features overlap: a piece counts as one of its kind, by its place, and together with
//! others of its colour. What one piece is worth is the sum of all these weights, and its
//! mean over the places where random play puts the piece is the weight of the kind.

use std::collections::BTreeMap;

use games::{ReasoningError, StateMachine};

use super::discovery::{by_relation, counters, facts_of, ordered, sample};
use super::evaluation::LinearEvaluation;
use super::extractor::Extractor;
use super::feature::{Feature, Pattern, parts};
use super::order::orders;
use crate::{Stop, seed};

/// A kind of piece with its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceWeight {
    /// The facts: those of a relation whose coordinates may be anything. An argument is a
    /// coordinate if the rules put its values in order, or they are numbers.
    pub pattern: Pattern,
    /// How many there are in a state of random play, on average.
    pub mean_count: f64,
    /// By role: what one piece adds to the logarithm of the odds, on average.
    pub weights: Vec<f64>,
}

/// The kinds of pieces of the machine's game, in the order of their patterns. A kind has a
/// coordinate and something else: `(cell ? ? white queen)`. `seed` sets the random play that
/// means are taken over, and the same seed gives the same means.
///
/// # Errors
/// If the reasoner fails.
pub fn piece_weights(
    evaluation: &LinearEvaluation,
    machine: &mut dyn StateMachine,
    seed: u64,
) -> Result<Vec<PieceWeight>, ReasoningError> {
    let sample = sample(machine, &mut seed::generator(seed, None), &Stop::never())?;
    let facts = facts_of(machine, &sample);
    let orders = orders(machine.game());
    let mut coordinates: BTreeMap<(String, usize), Vec<usize>> = BTreeMap::new();
    for (relation, rows) in by_relation(&facts, &counters(&facts, &sample)) {
        let is_coordinate = |argument: &usize| ordered(&orders, &rows, *argument).is_some();
        let found: Vec<usize> = (0..relation.1).filter(is_coordinate).collect();
        if !found.is_empty() && found.len() < relation.1 {
            coordinates.insert(relation, found);
        }
    }
    let features: Vec<Feature> = evaluation.features.iter().map(|it| it.feature.clone()).collect();
    let extractor = Extractor::new(machine.game(), &features);
    let n_roles = evaluation.roles.len();
    let n_states = sample.n_states().max(1) as f64;
    let mut kinds: BTreeMap<String, PieceWeight> = BTreeMap::new();
    for (fact, states) in &facts {
        let (name, arguments) = parts(fact);
        let Some(free) = coordinates.get(&(name.to_owned(), arguments.len())) else { continue };
        let given = |(at, value): (usize, &_)| (!free.contains(&at)).then(|| Clone::clone(value));
        let pattern = Pattern {
            relation: name.to_owned(),
            arguments: arguments.iter().enumerate().map(given).collect(),
        };
        let kind = kinds.entry(pattern.to_string()).or_insert_with(|| PieceWeight {
            pattern,
            mean_count: 0.0,
            weights: vec![0.0; n_roles],
        });
        let n_met = states.len() as f64;
        kind.mean_count += n_met / n_states;
        for (feature, amount) in extractor.shares_of(fact) {
            let of_feature = &evaluation.features[feature as usize].weights;
            for (sum, weight) in kind.weights.iter_mut().zip(of_feature) {
                *sum += weight * f64::from(amount) * n_met / n_states;
            }
        }
    }
    let mut kinds: Vec<PieceWeight> = kinds.into_values().collect();
    for kind in &mut kinds {
        let mean_count = kind.mean_count;
        kind.weights.iter_mut().for_each(|weight| *weight /= mean_count);
    }
    Ok(kinds)
}
