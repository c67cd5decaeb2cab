//! Luce's choice model, on which Bradley-Terry and Plackett-Luce rest: of the
//! players at hand, one is best with a probability proportional to its strength.
//!
//! Fitted by maximum likelihood with Newton's method on log-strengths; the
//! likelihood is concave. Standard errors are given twice: *naive*, as if the
//! model were true and matches independent, and *sandwich* (P. Huber, 1967; H.
//! White, 1982), which only supposes that clusters (blocks) are independent:
//! draws have less variance than the model has it, and matches of a block are
//! correlated. Trust the sandwich from some 20 clusters on.

use nalgebra::{DMatrix, DVector};

/// Elo for each unit of log-strength: 400 / ln 10.
pub const ELO_PER_LOGIT: f64 = 173.717_792_761_300_73;

/// Newton steps after which a fit is given up.
const MAX_STEPS: usize = 100;
/// A step this small ends a fit, and one below [`NEARLY`] that is no smaller than
/// the one before: then it is rounding.
const CONVERGED: f64 = 1e-11;
/// Newton's method squares what is left from here on.
const NEARLY: f64 = 1e-6;

/// Why there are no ratings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatingError {
    /// Some players never did worse than the others, or were never compared
    /// with them: no finite rating is the most likely one. A prior helps.
    #[error(
        "no finite ratings: some players were not compared with the others, or always did better or worse"
    )]
    Unbounded,
    /// Some players were never compared with the others, not even through third
    /// ones. A prior would give them ratings that mean nothing.
    #[error(
        "no common scale: some players were never compared with the others, not even through third ones"
    )]
    Disconnected,
    /// More players share a place in one match than can be dealt with.
    #[error("{0} players share a place in one match, more than can be rated")]
    TooManyTied(usize),
}

/// One choice among several players.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) alternatives: Vec<Alternative>,
    /// Choices of the same cluster are correlated.
    pub(crate) cluster: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Alternative {
    pub(crate) player: usize,
    /// Whether it has the advantage that is fitted with the players' strengths.
    pub(crate) favoured: bool,
    /// The share of the choice that fell on it.
    pub(crate) chosen: f64,
}

/// What is fitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) n_players: usize,
    /// Whether the favoured alternative's advantage is a parameter, the last.
    pub(crate) advantage: bool,
    /// Draws that each player is thought to have had, spread evenly over the
    /// others.
    pub(crate) prior_draws: f64,
    /// Whether ratings are wanted even of players that were never compared, by the
    /// prior alone. For resamples: what was connected in the whole need not be so
    /// in each.
    pub(crate) loose: bool,
}

/// Ratings of players, Elo.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratings {
    /// By player; their mean is 0.
    pub elo: Vec<f64>,
    /// Standard errors of `elo`, robust and clustered.
    pub errors: Vec<f64>,
    /// Standard errors of `elo` if the model were true.
    pub naive_errors: Vec<f64>,
    /// What sitting first is worth, Elo, and its robust standard error; if asked
    /// for.
    pub advantage: Option<(f64, f64)>,
    /// Number of clusters.
    pub n_clusters: usize,
    covariance: DMatrix<f64>,
}

impl Ratings {
    /// By how much `first` is ahead of `second`, Elo, with its robust standard
    /// error: smaller than from the two errors, which are correlated.
    ///
    /// # Panics
    /// If there is no such player.
    #[must_use]
    pub fn difference(&self, first: usize, second: usize) -> (f64, f64) {
        let c = &self.covariance;
        let variance = c[(first, first)] + c[(second, second)] - 2.0 * c[(first, second)];
        (self.elo[first] - self.elo[second], variance.max(0.0).sqrt() * ELO_PER_LOGIT)
    }
}

/// Fits strengths to choices.
pub(crate) fn fit(model: Model, choices: &[Choice]) -> Result<Ratings, RatingError> {
    let n = model.n_players;
    if n == 0 || model.prior_draws <= 0.0 && !strongly_connected(n, choices) {
        return Err(RatingError::Unbounded);
    }
    if !model.loose && components(n, pairs(choices)).iter().any(|&component| component != 0) {
        return Err(RatingError::Disconnected);
    }
    let prior = prior(model);
    let n_parameters = n + usize::from(model.advantage);
    let mut at = DVector::zeros(n_parameters);
    let mut likelihood = log_likelihood(&at, choices, &prior);
    let mut last = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let (slope, information) = derivatives(&at, choices, &prior);
        let step = solve(information, n, &slope).ok_or(RatingError::Unbounded)?;
        let mut scale = 1.0;
        let (next, reached) = loop {
            let next = &at + &step * scale;
            let reached = log_likelihood(&next, choices, &prior);
            if reached >= likelihood - 1e-12 * likelihood.abs() || scale < 1e-6 {
                break (next, reached);
            }
            scale /= 2.0;
        };
        let size = step.amax() * scale;
        (at, likelihood) = (next, reached);
        if size < CONVERGED || size < NEARLY && size > last / 2.0 {
            return ratings(model, &at, choices, &prior).ok_or(RatingError::Unbounded);
        }
        last = size;
    }
    Err(RatingError::Unbounded)
}

fn ratings(
    model: Model,
    at: &DVector<f64>,
    choices: &[Choice],
    prior: &[Choice],
) -> Option<Ratings> {
    let n = model.n_players;
    let (_, information) = derivatives(at, choices, prior);
    let bread = inverse(&information, n)?;
    let (mut meat, n_clusters) = meat(at, choices);
    // The prior is as unsure as it says.
    let (_, of_prior) = derivatives(at, &[], prior);
    meat += of_prior;
    let robust = &bread * meat * &bread;
    let errors = |covariance: &DMatrix<f64>| -> Vec<f64> {
        let variances = covariance.diagonal();
        variances.iter().map(|variance| variance.max(0.0).sqrt() * ELO_PER_LOGIT).collect()
    };
    let all = errors(&robust);
    let mean = at.rows(0, n).mean();
    Some(Ratings {
        elo: (0..n).map(|player| (at[player] - mean) * ELO_PER_LOGIT).collect(),
        advantage: model.advantage.then(|| (at[n] * ELO_PER_LOGIT, all[n])),
        errors: all[..n].to_vec(),
        naive_errors: errors(&bread)[..n].to_vec(),
        n_clusters,
        covariance: robust,
    })
}

fn prior(model: Model) -> Vec<Choice> {
    if model.prior_draws <= 0.0 || model.n_players < 2 {
        return vec![];
    }
    let half = model.prior_draws / (model.n_players - 1) as f64 / 2.0;
    let side = |player| Alternative { player, favoured: false, chosen: half };
    let pairs = (0..model.n_players).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| Choice { alternatives: vec![side(a), side(b)], cluster: 0 }).collect()
}

/// Logarithms of the probabilities of the alternatives, which may be smaller than
/// any number.
fn ln_probabilities(at: &DVector<f64>, choice: &Choice, into: &mut Vec<f64>) {
    let favour = at.len() - 1;
    let strength = |a: &Alternative| at[a.player] + if a.favoured { at[favour] } else { 0.0 };
    into.clear();
    into.extend(choice.alternatives.iter().map(strength));
    let most = into.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = into.iter().map(|strength| (strength - most).exp()).sum();
    let all = most + sum.ln();
    into.iter_mut().for_each(|strength| *strength -= all);
}

/// Probabilities of the alternatives, and the choice's weight.
fn probabilities(at: &DVector<f64>, choice: &Choice, into: &mut Vec<f64>) -> f64 {
    ln_probabilities(at, choice, into);
    into.iter_mut().for_each(|p| *p = p.exp());
    choice.alternatives.iter().map(|a| a.chosen).sum()
}

fn log_likelihood(at: &DVector<f64>, choices: &[Choice], prior: &[Choice]) -> f64 {
    let mut ln_p = vec![];
    let mut sum = 0.0;
    for choice in choices.iter().chain(prior) {
        ln_probabilities(at, choice, &mut ln_p);
        let terms = choice.alternatives.iter().zip(&ln_p).filter(|(a, _)| a.chosen > 0.0);
        sum += terms.map(|(a, ln_p)| a.chosen * ln_p).sum::<f64>();
    }
    sum
}

/// Adds the derivative of one choice's log-likelihood.
fn add_slope(choice: &Choice, p: &[f64], weight: f64, slope: &mut DVector<f64>) {
    let favour = slope.len() - 1;
    for (a, p) in choice.alternatives.iter().zip(p) {
        let residual = a.chosen - weight * p;
        slope[a.player] += residual;
        if a.favoured {
            slope[favour] += residual;
        }
    }
}

/// First derivative of the log-likelihood, and minus the second.
fn derivatives(
    at: &DVector<f64>,
    choices: &[Choice],
    prior: &[Choice],
) -> (DVector<f64>, DMatrix<f64>) {
    let n = at.len();
    let mut slope = DVector::zeros(n);
    let mut information = DMatrix::zeros(n, n);
    let mut p = vec![];
    let mut terms: Vec<(usize, f64)> = vec![];
    for choice in choices.iter().chain(prior) {
        let weight = probabilities(at, choice, &mut p);
        add_slope(choice, &p, weight, &mut slope);
        // Covariance of the indicators: diag(p) - p p', with the advantage as
        // one more indicator.
        let favoured: f64 =
            choice.alternatives.iter().zip(&p).filter(|(a, _)| a.favoured).map(|(_, p)| p).sum();
        terms.clear();
        terms.extend(choice.alternatives.iter().zip(&p).map(|(a, &p)| (a.player, p)));
        if favoured > 0.0 {
            terms.push((n - 1, favoured));
            information[(n - 1, n - 1)] += weight * favoured;
            for (a, p) in choice.alternatives.iter().zip(&p).filter(|(a, _)| a.favoured) {
                information[(n - 1, a.player)] += weight * p;
                information[(a.player, n - 1)] += weight * p;
            }
        }
        for (a, p) in choice.alternatives.iter().zip(&p) {
            information[(a.player, a.player)] += weight * p;
        }
        for &(i, p) in &terms {
            for &(j, q) in &terms {
                information[(i, j)] -= weight * p * q;
            }
        }
    }
    (slope, information)
}

/// Sum over clusters of the squares of their derivatives.
fn meat(at: &DVector<f64>, choices: &[Choice]) -> (DMatrix<f64>, usize) {
    let n = at.len();
    let mut order: Vec<usize> = (0..choices.len()).collect();
    order.sort_by_key(|&index| choices[index].cluster);
    let mut sum = DMatrix::zeros(n, n);
    let mut p = vec![];
    let mut n_clusters = 0;
    for cluster in order.chunk_by(|&a, &b| choices[a].cluster == choices[b].cluster) {
        let mut slope = DVector::zeros(n);
        for &index in cluster {
            let weight = probabilities(at, &choices[index], &mut p);
            add_slope(&choices[index], &p, weight, &mut slope);
        }
        sum += &slope * slope.transpose();
        n_clusters += 1;
    }
    (sum, n_clusters)
}

/// The same as [`inverse`] times `slope`, in less time.
fn solve(
    mut information: DMatrix<f64>,
    n_players: usize,
    slope: &DVector<f64>,
) -> Option<DVector<f64>> {
    let size = information.diagonal().amax().max(f64::MIN_POSITIVE);
    let share = 1.0 / n_players as f64;
    information.view_mut((0, 0), (n_players, n_players)).add_scalar_mut(share * size);
    let mut step = information.cholesky()?.solve(slope);
    let same = slope.rows(0, n_players).sum() * share / size;
    step.rows_mut(0, n_players).add_scalar_mut(-same);
    Some(step)
}

/// The inverse on the parameters whose players' mean is zero: adding the same to
/// all strengths changes nothing, so that the matrix has no inverse on the rest.
pub(crate) fn inverse(information: &DMatrix<f64>, n_players: usize) -> Option<DMatrix<f64>> {
    let n = information.nrows();
    let size = information.diagonal().amax().max(f64::MIN_POSITIVE);
    let same = DVector::from_fn(n, |index, _| f64::from(u8::from(index < n_players)));
    let projection = &same * same.transpose() / n_players as f64;
    let whole = information + &projection * size;
    let inverse = whole.cholesky()?.inverse();
    Some(inverse - projection / size)
}

/// The pairs of players that are compared.
fn pairs(choices: &[Choice]) -> impl Iterator<Item = (usize, usize)> {
    choices.iter().flat_map(|choice| {
        let players = choice.alternatives.iter().map(|a| a.player);
        let one = choice.alternatives.first().map(|a| a.player);
        let weight: f64 = choice.alternatives.iter().map(|a| a.chosen).sum();
        players.filter(move |_| weight > 0.0).filter_map(move |player| Some((one?, player)))
    })
}

/// By player the least number of those that it is compared with, perhaps through
/// third ones: ratings of players with different numbers are not comparable.
pub(crate) fn components(n: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut component: Vec<usize> = (0..n).collect();
    for (a, b) in pairs {
        let (a, b) = (component[a], component[b]);
        if a != b {
            component.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
        }
    }
    component
}

fn strongly_connected(n: usize, choices: &[Choice]) -> bool {
    let pairs = choices.iter().flat_map(|choice| {
        let winners = choice.alternatives.iter().filter(|a| a.chosen > 0.0);
        winners.flat_map(|a| choice.alternatives.iter().map(|b| (a.player, b.player)))
    });
    all_preferred(n, pairs)
}

/// Whether every player was preferred to every other, perhaps through third
/// ones, given who was preferred to whom: then and only then there is a finite
/// most likely rating (L. Ford, "Solution of a ranking problem from binary
/// comparisons", 1957).
pub(crate) fn all_preferred(n: usize, pairs: impl Iterator<Item = (usize, usize)>) -> bool {
    let mut better = vec![vec![false; n]; n];
    pairs.for_each(|(winner, loser)| better[winner][loser] = true);
    let reaches_all = |edge: &dyn Fn(usize, usize) -> bool| {
        let mut seen = vec![false; n];
        let mut open = vec![0];
        while let Some(player) = open.pop() {
            if !std::mem::replace(&mut seen[player], true) {
                open.extend((0..n).filter(|&next| edge(player, next) && !seen[next]));
            }
        }
        seen.into_iter().all(|seen| seen)
    };
    reaches_all(&|a, b| better[a][b]) && reaches_all(&|a, b| better[b][a])
}
