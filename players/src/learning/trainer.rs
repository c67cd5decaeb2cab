//! Fits the weights of a [`LinearEvaluation`] by self-play.
//!
//! All roles play by the evaluation so far: each looks one step ahead, and with a small
//! probability makes a random move instead. After each match the weights follow the
//! differences between successive evaluations, TD(lambda) in its forward view: a state is
//! to be worth what the states after it were worth, the ones far after it less and less,
//! and the last what the rules say (Sutton 1988). The step is that of logistic regression.
//!
//! Features are centred and scaled as they are distributed in random play, since their
//! ranges differ. The result is a mean over the weights of all matches, in which late ones
//! count more (polynomial-decay averaging: Shamir and Zhang, "Stochastic Gradient Descent
//! for Non-smooth Optimization", 2013).

use games::solve::GameHash;
use games::{
    Children, FactId, GoalReading, MoveId, ReasoningError, RoleId, State, StateMachine, Wanted,
};
use rand::RngExt;
use rand_pcg::Pcg64;

use super::discovery::{Found, discover};
use super::evaluation::{LinearEvaluation, WeightedFeature, logistic};
use super::extractor::Extractor;
use super::feature::Feature;
use crate::Stop;
use crate::seed;

/// Maximum number of steps of a match; longer ones have no last reward.
const MAX_STEPS: usize = 500;
/// Joint moves of the others that a role considers where it does not know them.
const N_CONTEXTS: usize = 3;
/// Matches after which the step size begins to fall.
const SETTLING: f64 = 1000.0;
/// How much more late matches count in the mean of the weights.
const DECAY: f64 = 4.0;
/// A feature is left out if it moves the evaluation by less than this share of all of them.
const LEAST_PART: f64 = 0.002;

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingSettings {
    /// How far the outcome reaches back: 0, only to the state before; 1, to the first.
    pub lambda: f64,
    /// The size of a step: 1 moves a state of average features all the way.
    pub learning_rate: f64,
    /// The probability of a random move.
    pub exploration: f64,
    /// Of everything random.
    pub seed: u64,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self { lambda: 0.7, learning_rate: 0.5, exploration: 0.1, seed: 1 }
    }
}

/// Why an evaluation cannot be trained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// The players do not know the state that an evaluation is about.
    #[error(
        "cannot train an evaluation for `{0}`: the game has hidden information, so its players do not \
         know the state; `cfr` and `is_mcts` play such games without training"
    )]
    HiddenInformation(String),
    /// There is nothing to learn from.
    #[error(
        "cannot train an evaluation for `{0}`: no feature suggested by its rules has different values in \
         different states of random play"
    )]
    NoFeatures(String),
    /// The reasoner failed.
    #[error(transparent)]
    Reasoning(#[from] ReasoningError),
}

/// A match of self-play, state by state.
#[derive(Clone, Debug, Default)]
struct Line {
    /// By state, then by feature: scaled, with a last one that is always 1.
    features: Vec<f32>,
    /// By state, then by role: the evaluation, 0 to 1.
    values: Vec<f64>,
    /// By role: the reward in the last state, 0 to 1, if it was reached.
    rewards: Option<Vec<f64>>,
}

/// Fits an evaluation, match by match.
pub struct Trainer {
    machine: Box<dyn StateMachine>,
    settings: TrainingSettings,
    rng: Pcg64,
    found: Vec<Found>,
    extractor: Extractor,
    /// Features with the one that is always 1.
    width: usize,
    /// By role, then by scaled feature.
    weights: Vec<f64>,
    /// Their mean over the matches.
    averaged: Vec<f64>,
    /// By role: the sum in a state without facts and moves, for the weights of this match.
    bias: Vec<f64>,
    /// By fact, then by role: what the fact adds; a NaN first if it is not known.
    worth: Vec<f64>,
    n_matches: u64,
    n_states: u64,
    line: Line,
    children: Children,
    joint_moves: Vec<MoveId>,
    gained: Vec<FactId>,
    lost: Vec<FactId>,
}

impl Trainer {
    /// A trainer for the machine's game, which begins with weights of 0. It finds the
    /// features in random play, for which `stop` limits the time.
    ///
    /// # Errors
    /// If the game has hidden information or no features, or the reasoner fails.
    pub fn new(
        mut machine: Box<dyn StateMachine>,
        settings: TrainingSettings,
        stop: &Stop,
    ) -> Result<Self, TrainError> {
        let name = machine.game().name().to_owned();
        if machine.game().kind().hidden_information {
            return Err(TrainError::HiddenInformation(name));
        }
        let mut rng = seed::generator(settings.seed, None);
        let found = discover(&mut *machine, &mut rng, stop)?;
        if found.is_empty() {
            return Err(TrainError::NoFeatures(name));
        }
        let features: Vec<Feature> = found.iter().map(|found| found.feature.clone()).collect();
        let extractor = Extractor::new(machine.game(), &features);
        let n_roles = machine.game().roles().len();
        let width = found.len() + 1;
        let mut trainer = Self {
            machine,
            settings,
            rng,
            found,
            extractor,
            width,
            weights: vec![0.0; n_roles * width],
            averaged: vec![0.0; n_roles * width],
            bias: vec![0.0; n_roles],
            worth: Vec::new(),
            n_matches: 0,
            n_states: 0,
            line: Line::default(),
            children: Children::default(),
            joint_moves: Vec::new(),
            gained: Vec::new(),
            lost: Vec::new(),
        };
        trainer.adopt();
        Ok(trainer)
    }

    /// Matches played so far.
    #[must_use]
    pub fn n_matches(&self) -> u64 {
        self.n_matches
    }

    /// States met in these matches.
    #[must_use]
    pub fn n_states(&self) -> u64 {
        self.n_states
    }

    /// The number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.found.len()
    }

    /// Plays one match, and learns from it, unless `stop` is due before its end. Returns whether
    /// it was.
    ///
    /// # Errors
    /// If the reasoner fails.
    pub fn play_match(&mut self, stop: &Stop) -> Result<bool, ReasoningError> {
        if !self.play(stop)? {
            return Ok(false);
        }
        self.n_matches += 1;
        self.n_states += self.line.values.len() as u64 / self.bias.len() as u64;
        self.learn();
        self.adopt();
        Ok(true)
    }

    /// The evaluation so far, with the features that matter most first. Those that hardly
    /// matter are left out.
    #[must_use]
    pub fn evaluation(&self) -> LinearEvaluation {
        let game = self.machine.game();
        let n_roles = game.roles().len();
        let of_role = |role: usize| &self.averaged[role * self.width..][..self.width];
        // By feature: its largest part in the evaluation of a role.
        let mut parts = vec![0.0_f64; self.found.len()];
        for role in 0..n_roles {
            let weights = &of_role(role)[..self.found.len()];
            let all = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
            for (part, weight) in parts.iter_mut().zip(weights).filter(|_| all > 0.0) {
                *part = part.max(weight.abs() / all);
            }
        }
        let mut order: Vec<usize> =
            (0..parts.len()).filter(|&index| parts[index] > LEAST_PART).collect();
        order.sort_by(|&one, &other| parts[other].total_cmp(&parts[one]));
        let rounded = |weight: f64| (weight * 1e6).round() / 1e6;
        let mut bias: Vec<f64> = (0..n_roles).map(|role| of_role(role)[self.width - 1]).collect();
        let mut features = Vec::new();
        for index in order {
            let Found { feature, mean, scale } = &self.found[index];
            let weights = (0..n_roles).map(|role| rounded(of_role(role)[index] / scale));
            let weights: Vec<f64> = weights.collect();
            for (bias, weight) in bias.iter_mut().zip(&weights) {
                *bias -= weight * mean;
            }
            features.push(WeightedFeature { feature: feature.clone(), weights });
        }
        LinearEvaluation {
            game: GameHash::of(game),
            roles: game.role_ids().map(|role| game.role_name(role).to_owned()).collect(),
            bias: bias.into_iter().map(rounded).collect(),
            features,
        }
    }

    /// Plays a match into the line; `false` if `stop` is due before its end.
    fn play(&mut self, stop: &Stop) -> Result<bool, ReasoningError> {
        let roles = self.machine.game().role_ids();
        self.line.features.clear();
        self.line.values.clear();
        self.line.rewards = None;
        let mut state = self.machine.initial_state()?;
        let mut legal: Vec<Vec<MoveId>> = vec![Vec::new(); roles.len()];
        for _ in 0..MAX_STEPS {
            if stop.is_due(0) {
                return Ok(false);
            }
            if self.machine.is_terminal(&state)? {
                let rewards = roles.map(|role| Ok(reward(&self.machine.goal(&state, role)?)));
                self.line.rewards = Some(rewards.collect::<Result<_, ReasoningError>>()?);
                return Ok(true);
            }
            for (role, moves) in roles.clone().zip(&mut legal) {
                self.machine.legal_moves(&state, role, moves)?;
            }
            if legal.iter().any(Vec::is_empty) {
                return Ok(true);
            }
            self.record(&state, &legal);
            let joint_move: Vec<MoveId> = roles
                .clone()
                .map(|role| self.choose(&state, &legal, role))
                .collect::<Result<_, _>>()?;
            let mut next = State::default();
            self.machine.next_state(&state, &joint_move, &mut next)?;
            state = next;
        }
        Ok(true)
    }

    /// Adds the features of a state and its values to the line.
    fn record(&mut self, state: &State, legal: &[Vec<MoveId>]) {
        let mut values = Vec::with_capacity(self.width);
        self.extractor.extract(&mut *self.machine, state, &mut values);
        for &(feature, role) in self.extractor.mobility() {
            values[feature as usize] = legal[usize::from(role.0)].len() as f32;
        }
        let first = self.line.features.len();
        let scaled = self.found.iter().zip(&values);
        self.line.features.extend(
            scaled.map(|(found, &value)| ((f64::from(value) - found.mean) / found.scale) as f32),
        );
        self.line.features.push(1.0);
        for weights in self.weights.chunks(self.width) {
            let sum = dot(weights, &self.line.features[first..]);
            self.line.values.push(logistic(sum));
        }
    }

    /// The move of a role: the one whose successor is worth most to it, the first of a
    /// random order among equals.
    fn choose(
        &mut self,
        state: &State,
        legal: &[Vec<MoveId>],
        role: RoleId,
    ) -> Result<MoveId, ReasoningError> {
        let index = usize::from(role.0);
        let n_moves = legal[index].len();
        let is_chance = self.machine.game().random() == Some(role);
        if n_moves == 1 {
            return Ok(legal[index][0]);
        }
        if is_chance || self.rng.random_bool(self.settings.exploration) {
            return Ok(legal[index][self.rng.random_range(0..n_moves)]);
        }
        let others_choose =
            legal.iter().enumerate().any(|(other, moves)| other != index && moves.len() > 1);
        let n_contexts = if others_choose { N_CONTEXTS } else { 1 };
        self.joint_moves.clear();
        for _ in 0..n_contexts {
            let context: Vec<MoveId> =
                legal.iter().map(|moves| moves[self.rng.random_range(0..moves.len())]).collect();
            for &action in &legal[index] {
                let first = self.joint_moves.len();
                self.joint_moves.extend_from_slice(&context);
                self.joint_moves[first + index] = action;
            }
        }
        let mut children = std::mem::take(&mut self.children);
        let wanted = Wanted { legal: !self.extractor.mobility().is_empty(), all_goals: false };
        self.machine.expand(state, &self.joint_moves, wanted, &mut children)?;
        let mut totals = vec![0.0; n_moves];
        for child in 0..children.len() {
            totals[child % n_moves] += self.worth_of(&children, child, role);
        }
        self.children = children;
        let most = totals.iter().copied().fold(f64::MIN, f64::max);
        let best: Vec<usize> = (0..n_moves).filter(|&at| totals[at] >= most - 1e-9).collect();
        Ok(legal[index][best[self.rng.random_range(0..best.len())]])
    }

    /// What a child is worth to a role, 0 to 1.
    fn worth_of(&mut self, children: &Children, child: usize, role: RoleId) -> f64 {
        if children.is_terminal(child) {
            return reward(children.goal(child, role));
        }
        let (n_roles, index) = (self.bias.len(), usize::from(role.0));
        let mut sum = self.bias[index];
        let (mut gained, mut lost) =
            (std::mem::take(&mut self.gained), std::mem::take(&mut self.lost));
        gained.clear();
        self.machine.changed_facts(
            &State::default(),
            children.state(child),
            &mut gained,
            &mut lost,
        );
        for &fact in &gained {
            self.ensure(fact);
            sum += self.worth[fact.0 as usize * n_roles + index];
        }
        (self.gained, self.lost) = (gained, lost);
        for &(feature, mover) in self.extractor.mobility() {
            let feature = feature as usize;
            let weight = self.weights[index * self.width + feature] / self.found[feature].scale;
            sum += weight * children.legal(child, mover).len() as f64;
        }
        logistic(sum)
    }

    /// Finds what a fact adds with the weights of this match, unless it is known.
    fn ensure(&mut self, fact: FactId) {
        let (n_roles, at) = (self.bias.len(), fact.0 as usize);
        if self.worth.get(at * n_roles).is_some_and(|worth| !worth.is_nan()) {
            return;
        }
        if self.worth.len() < (at + 1) * n_roles {
            self.worth.resize((at + 1) * n_roles, f64::NAN);
        }
        let shares = self.extractor.shares(&*self.machine, fact);
        for role in 0..n_roles {
            let weights = &self.weights[role * self.width..];
            let part = shares.iter().map(|&(feature, amount)| {
                weights[feature as usize] * f64::from(amount) / self.found[feature as usize].scale
            });
            self.worth[at * n_roles + role] = part.sum();
        }
    }

    /// Moves the weights by what the match in the line showed.
    fn learn(&mut self) {
        let n_roles = self.bias.len();
        let Line { features, values, rewards } = &self.line;
        let n_states = values.len() / n_roles;
        let rate = self.settings.learning_rate
            / (self.width as f64 * (1.0 + self.n_matches as f64 / SETTLING).sqrt());
        let chance = self.machine.game().random().map(|role| usize::from(role.0));
        for role in (0..n_roles).filter(|&role| Some(role) != chance) {
            let weights = &mut self.weights[role * self.width..][..self.width];
            // What comes after a state, from the last one backwards. A match without an end
            // says nothing of its last state.
            let (mut after, mut target, mut known) = match rewards {
                Some(rewards) => (rewards[role], rewards[role], n_states),
                None if n_states == 0 => continue,
                None => {
                    let last = values[(n_states - 1) * n_roles + role];
                    (last, last, n_states - 1)
                }
            };
            while known > 0 {
                known -= 1;
                target = (1.0 - self.settings.lambda) * after + self.settings.lambda * target;
                after = values[known * n_roles + role];
                let step = rate * (target - after);
                let state = &features[known * self.width..][..self.width];
                for (weight, &feature) in weights.iter_mut().zip(state) {
                    *weight += step * f64::from(feature);
                }
            }
        }
        let share = (1.0 + DECAY) / (self.n_matches as f64 + DECAY);
        for (mean, weight) in self.averaged.iter_mut().zip(&self.weights) {
            *mean += share * (weight - *mean);
        }
    }

    /// Makes the weights those that the next match is played by.
    fn adopt(&mut self) {
        self.worth.fill(f64::NAN);
        for (bias, weights) in self.bias.iter_mut().zip(self.weights.chunks(self.width)) {
            let centres = weights.iter().zip(&self.found);
            let centred: f64 =
                centres.map(|(weight, found)| weight * found.mean / found.scale).sum();
            *bias = weights[self.width - 1] - centred;
        }
    }
}

/// The reward that the rules give, 0 to 1: the worst of several, and 0 if there is none.
fn reward(reading: &GoalReading) -> f64 {
    reading.values.iter().min().map_or(0.0, |goal| f64::from(goal.value()) / 100.0)
}

fn dot(weights: &[f64], features: &[f32]) -> f64 {
    weights.iter().zip(features).map(|(weight, &feature)| weight * f64::from(feature)).sum()
}
