//! A learned evaluation as a value, and its use in a search.

use std::sync::Arc;

use games::solve::GameHash;
use games::split_mix::mix;
use games::{FactId, Game, RoleId, State, StateMachine};

use super::extractor::{Extractor, foreign};
use super::feature::Feature;

/// A feature with its weight for each role.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedFeature {
    /// The feature.
    pub feature: Feature,
    /// By role: what 1 of it adds to the logarithm of the odds; 0 for `random`.
    pub weights: Vec<f64>,
}

/// A linear evaluation of a game's states, for each role: the expected reward is 100 times
/// the logistic function of a weighted sum of features.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearEvaluation {
    /// The rules it is for.
    pub game: GameHash,
    /// The roles in their order.
    pub roles: Vec<String>,
    /// By role: the sum in a state without features.
    pub bias: Vec<f64>,
    /// The features.
    pub features: Vec<WeightedFeature>,
}

/// Why an evaluation cannot be used for a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// It was trained with other rules.
    #[error(
        "the evaluation was trained for another game, whose rules have the hash {trained}; those of \
         `{name}` have {game}; train one with `gamemaster train`"
    )]
    OtherGame {
        /// The name of the game.
        name: String,
        /// Its hash.
        game: GameHash,
        /// The hash in the evaluation.
        trained: GameHash,
    },
    /// The roles are not those of the game, or a number of weights is not theirs.
    #[error("the evaluation does not have a weight of each feature for each role of `{name}`")]
    Roles {
        /// The name of the game.
        name: String,
    },
    /// A feature that the game cannot have.
    #[error("`{name}` has no feature `{feature}`: no such facts, role or order of constants")]
    Feature {
        /// The name of the game.
        name: String,
        /// The feature as text.
        feature: String,
    },
}

impl LinearEvaluation {
    /// Whether it depends on numbers of legal moves.
    #[must_use]
    pub fn counts_moves(&self) -> bool {
        let is_mobility = |it: &WeightedFeature| matches!(it.feature, Feature::Moves(_));
        self.features.iter().any(is_mobility)
    }

    /// 64 bits that stand for all of it, the same in every build.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = 0;
        let mut add = |word: u64| hash = mix(hash ^ word);
        let names = self.roles.iter().cloned();
        let features = self.features.iter().map(|it| it.feature.to_string());
        for text in [self.game.to_string()].into_iter().chain(names).chain(features) {
            text.bytes().for_each(|byte| add(byte.into()));
            // No byte of a text.
            add(1 << 8);
        }
        let weights = self.features.iter().flat_map(|it| &it.weights);
        self.bias.iter().chain(weights).for_each(|weight| add(weight.to_bits()));
        hash
    }

    /// Whether it can be used for a game.
    ///
    /// # Errors
    /// If it is of other rules, or not whole.
    pub fn check(&self, game: &Game) -> Result<(), EvaluationError> {
        let name = || game.name().to_owned();
        let hash = GameHash::of(game);
        if hash != self.game {
            return Err(EvaluationError::OtherGame {
                name: name(),
                game: hash,
                trained: self.game,
            });
        }
        let n_roles = game.roles().len();
        let is_of_roles = game.role_ids().map(|role| game.role_name(role)).eq(&self.roles);
        let mut all = self.features.iter().map(|feature| &feature.weights).chain([&self.bias]);
        if !is_of_roles || !all.all(|weights| weights.len() == n_roles) {
            return Err(EvaluationError::Roles { name: name() });
        }
        let features: Vec<Feature> = self.features.iter().map(|it| it.feature.clone()).collect();
        match foreign(game, &features) {
            Some(feature) => {
                Err(EvaluationError::Feature { name: name(), feature: feature.to_string() })
            }
            None => Ok(()),
        }
    }
}

/// The logistic function.
pub(crate) fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

/// Fractions of one in the sums, which are whole numbers: so that what is added for a fact
/// and taken away again leaves nothing behind.
const ONE: f64 = (1_u64 << 32) as f64;

/// The sum as a whole number. Sums of millions, which no logistic function tells apart,
/// are cut off long before they overflow.
fn fixed(sum: f64) -> i64 {
    (sum.clamp(-1e4, 1e4) * ONE).round() as i64
}

/// Evaluates states of one machine and its forks. The sums of a state follow from those of the state
/// before and the facts that differ.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator {
    extractor: Extractor,
    evaluation: Arc<LinearEvaluation>,
    n_roles: usize,
    /// By fact, then by role: what the fact adds.
    worth: Vec<i64>,
    /// By fact: whether its worth is known.
    known: Vec<bool>,
    /// The state that the sums belong to.
    state: State,
    /// By role.
    sums: Vec<i64>,
    gained: Vec<FactId>,
    lost: Vec<FactId>,
}

impl Evaluator {
    /// An evaluator for the machines of a game, for which the evaluation was
    /// [checked](LinearEvaluation::check).
    pub(crate) fn new(evaluation: Arc<LinearEvaluation>, game: &Game) -> Self {
        let features: Vec<Feature> =
            evaluation.features.iter().map(|it| it.feature.clone()).collect();
        let bias: Vec<i64> = evaluation.bias.iter().map(|&bias| fixed(bias)).collect();
        Self {
            extractor: Extractor::new(game, &features),
            evaluation,
            n_roles: bias.len(),
            sums: bias,
            worth: Vec::new(),
            known: Vec::new(),
            state: State::default(),
            gained: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// The expected reward of `role`, from 0 to 100, in the state that was last
    /// [followed](Evaluator::follow). `n_moves` says how many legal moves a role has there;
    /// it is asked only for what the evaluation depends on.
    pub(crate) fn value<E>(
        &self,
        role: RoleId,
        mut n_moves: impl FnMut(RoleId) -> Result<usize, E>,
    ) -> Result<f64, E> {
        let index = usize::from(role.0);
        let mut sum = self.sums[index] as f64 / ONE;
        for &(feature, mover) in self.extractor.mobility() {
            let weight = self.evaluation.features[feature as usize].weights[index];
            if weight != 0.0 {
                sum += weight * n_moves(mover)? as f64;
            }
        }
        Ok(100.0 * logistic(sum))
    }

    /// Makes the sums those of `state`.
    pub(crate) fn follow(&mut self, machine: &mut dyn StateMachine, state: &State) {
        let (mut gained, mut lost) =
            (std::mem::take(&mut self.gained), std::mem::take(&mut self.lost));
        gained.clear();
        lost.clear();
        machine.changed_facts(&self.state, state, &mut gained, &mut lost);
        for &fact in &gained {
            self.ensure(machine, fact);
            let first = fact.0 as usize * self.n_roles;
            for (sum, worth) in self.sums.iter_mut().zip(&self.worth[first..]) {
                *sum = sum.wrapping_add(*worth);
            }
        }
        for &fact in &lost {
            let first = fact.0 as usize * self.n_roles;
            for (sum, worth) in self.sums.iter_mut().zip(&self.worth[first..]) {
                *sum = sum.wrapping_sub(*worth);
            }
        }
        (self.gained, self.lost) = (gained, lost);
        self.state.clone_from(state);
    }

    /// Finds what a fact adds, unless it is known.
    #[inline]
    fn ensure(&mut self, machine: &dyn StateMachine, fact: FactId) {
        let at = fact.0 as usize;
        if self.known.get(at) == Some(&true) {
            return;
        }
        if self.known.len() <= at {
            self.known.resize(at + 1, false);
            self.worth.resize((at + 1) * self.n_roles, 0);
        }
        let shares = self.extractor.shares(machine, fact);
        for (role, worth) in
            self.worth[at * self.n_roles..].iter_mut().take(self.n_roles).enumerate()
        {
            let weight = |feature: u32| self.evaluation.features[feature as usize].weights[role];
            let sum = shares.iter().map(|&(feature, amount)| weight(feature) * f64::from(amount));
            *worth = fixed(sum.sum());
        }
        self.known[at] = true;
    }
}
