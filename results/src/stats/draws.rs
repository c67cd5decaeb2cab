//! Ratings from wins, draws and losses in which draws have a probability of
//! their own: P. Rao & L. Kupper, "Ties in paired-comparison experiments"
//! (1967), with an advantage of sitting first; the model of R. Coulom's
//! BayesElo.
//!
//! With `s` the logistic curve, `x` the difference in strength plus the
//! advantage, and `d` the *drawelo*: a win has probability `s(x - d)`, a loss
//! `s(-x - d)`, and a draw the rest, which is `s(d - x) s(d + x) (1 - exp(-2d))`.
//! Where draws are few or outcomes are no wins and losses, take
//! [`bradley_terry`](crate::stats::bradley_terry).

use nalgebra::{DMatrix, DVector};

use crate::stats::bradley_terry::Comparison;
use crate::stats::luce::{ELO_PER_LOGIT, RatingError, all_preferred, inverse};

/// A parameter: given, or found with the ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// Known, Elo.
    Fixed(f64),
    /// To be fitted.
    Fitted,
}

/// What to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawModel {
    /// What sitting first is worth.
    pub advantage: Parameter,
    /// How far apart, in Elo, even players are from winning.
    pub drawelo: Parameter,
    /// Draws that each player is thought to have had beforehand, spread evenly
    /// over the others and both seats; 2 in BayesElo. Above 0 ratings are always
    /// finite.
    pub prior_draws: f64,
}

/// Ratings of players, Elo.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawRatings {
    /// By player; their mean is 0. On the scale of the logistic curves above.
    pub elo: Vec<f64>,
    /// Standard errors, robust and clustered.
    pub errors: Vec<f64>,
    /// What sitting first is worth.
    pub advantage: f64,
    /// The drawelo.
    pub drawelo: f64,
}

impl DrawRatings {
    /// What to multiply ratings by so that even players' expected score changes
    /// with them as it does with plain Elo; BayesElo prints ratings so.
    #[must_use]
    pub fn scale(&self) -> f64 {
        let x = 10f64.powf(-self.drawelo / 400.0);
        4.0 * x / (1.0 + x).powi(2)
    }
}

const MAX_STEPS: usize = 100;

/// The weights of win, draw and loss of one comparison.
struct Game {
    first: usize,
    second: usize,
    outcomes: [f64; 3],
    cluster: Option<u64>,
}

impl Game {
    /// Who did as well as whom at least once; a draw counts for both.
    fn preferred(&self) -> impl Iterator<Item = (usize, usize)> {
        let [win, draw, loss] = self.outcomes;
        let first = (win + draw > 0.0).then_some((self.first, self.second));
        let second = (loss + draw > 0.0).then_some((self.second, self.first));
        first.into_iter().chain(second)
    }
}

impl DrawModel {
    /// Rates players 0 to `n_players - 1`.
    ///
    /// # Errors
    /// If no finite ratings are the most likely ones.
    ///
    /// # Panics
    /// If a score is not 0, one half or 1, or a player unknown.
    pub fn rate(
        &self,
        n_players: usize,
        comparisons: &[Comparison],
    ) -> Result<DrawRatings, RatingError> {
        let mut games: Vec<Game> = comparisons.iter().map(|game| read(n_players, game)).collect();
        games.extend(self.prior(n_players));
        if n_players == 0 || !all_preferred(n_players, games.iter().flat_map(Game::preferred)) {
            return Err(RatingError::Unbounded);
        }
        let mut at = DVector::zeros(n_players + 2);
        at[n_players] = start(self.advantage, 0.0);
        at[n_players + 1] = start(self.drawelo, 100.0);
        let mut likelihood = log_likelihood(&at, &games);
        let mut last = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let (slope, information) = self.derivatives(&at, &games);
            let bread = inverse(&information, n_players).ok_or(RatingError::Unbounded)?;
            let step = &bread * slope;
            let better = (0..50).find_map(|halvings| {
                let next = &at + &step * 0.5f64.powi(halvings);
                let reached = log_likelihood(&next, &games);
                (reached >= likelihood - 1e-12 * likelihood.abs()).then_some((next, reached))
            });
            (at, likelihood) = better.ok_or(RatingError::Unbounded)?;
            // A small step that is no smaller than the one before is rounding.
            let size = step.amax();
            if size < 1e-10 || size < 1e-6 && size > last / 2.0 {
                return Ok(self.ratings(n_players, &at, &games, &bread));
            }
            last = size;
        }
        Err(RatingError::Unbounded)
    }

    fn prior(&self, n_players: usize) -> Vec<Game> {
        if self.prior_draws <= 0.0 || n_players < 2 {
            return vec![];
        }
        let share = self.prior_draws / (2 * (n_players - 1)) as f64;
        let pairs = (0..n_players).flat_map(|a| (0..n_players).map(move |b| (a, b)));
        let game =
            |(first, second)| Game { first, second, outcomes: [0.0, share, 0.0], cluster: None };
        pairs.filter(|(a, b)| a != b).map(game).collect()
    }

    /// First derivative of the log-likelihood, and minus the second. What is
    /// fixed has no slope, and so does not move.
    fn derivatives(&self, at: &DVector<f64>, games: &[Game]) -> (DVector<f64>, DMatrix<f64>) {
        let n = at.len();
        let mut slope = DVector::zeros(n);
        let mut information = DMatrix::zeros(n, n);
        for game in games {
            self.add(game, at, &mut slope, Some(&mut information));
        }
        for (index, parameter) in [(n - 2, self.advantage), (n - 1, self.drawelo)] {
            if parameter != Parameter::Fitted {
                information[(index, index)] = 1.0;
            }
        }
        (slope, information)
    }

    fn add(
        &self,
        game: &Game,
        at: &DVector<f64>,
        slope: &mut DVector<f64>,
        mut information: Option<&mut DMatrix<f64>>,
    ) {
        let n = at.len();
        let [win, draw, loss] = game.outcomes;
        let (x, d) = (difference(at, game), at[n - 1]);
        // Log-likelihoods are sums of ln s(sign x + turn d).
        let terms = [(win, 1.0, -1.0), (loss, -1.0, -1.0), (draw, -1.0, 1.0), (draw, 1.0, 1.0)];
        for (weight, sign, turn) in terms.into_iter().filter(|(weight, ..)| *weight > 0.0) {
            let p = logistic(sign * x + turn * d);
            let mut row = vec![(game.first, sign), (game.second, -sign)];
            if self.advantage == Parameter::Fitted {
                row.push((n - 2, sign));
            }
            if self.drawelo == Parameter::Fitted {
                row.push((n - 1, turn));
            }
            for &(i, a) in &row {
                slope[i] += weight * (1.0 - p) * a;
                if let Some(information) = &mut information {
                    for &(j, b) in &row {
                        information[(i, j)] += weight * p * (1.0 - p) * a * b;
                    }
                }
            }
        }
        if draw > 0.0 && self.drawelo == Parameter::Fitted {
            let odds = (2.0 * d).exp_m1();
            slope[n - 1] += draw * 2.0 / odds;
            if let Some(information) = information {
                information[(n - 1, n - 1)] += draw * 4.0 * (odds + 1.0) / (odds * odds);
            }
        }
    }

    fn ratings(
        &self,
        n_players: usize,
        at: &DVector<f64>,
        games: &[Game],
        bread: &DMatrix<f64>,
    ) -> DrawRatings {
        let mut played: Vec<&Game> = games.iter().filter(|game| game.cluster.is_some()).collect();
        played.sort_by_key(|game| game.cluster);
        let mut meat = DMatrix::zeros(at.len(), at.len());
        for cluster in played.chunk_by(|a, b| a.cluster == b.cluster) {
            let mut slope = DVector::zeros(at.len());
            cluster.iter().for_each(|game| self.add(game, at, &mut slope, None));
            meat += &slope * slope.transpose();
        }
        let covariance = bread * meat * bread;
        let error = |player| covariance[(player, player)].max(0.0).sqrt() * ELO_PER_LOGIT;
        let mean = at.rows(0, n_players).mean();
        DrawRatings {
            elo: (0..n_players).map(|player| (at[player] - mean) * ELO_PER_LOGIT).collect(),
            errors: (0..n_players).map(error).collect(),
            advantage: at[n_players] * ELO_PER_LOGIT,
            drawelo: at[n_players + 1] * ELO_PER_LOGIT,
        }
    }
}

fn start(parameter: Parameter, guess: f64) -> f64 {
    match parameter {
        Parameter::Fixed(elo) => elo / ELO_PER_LOGIT,
        Parameter::Fitted => guess / ELO_PER_LOGIT,
    }
}

fn read(n_players: usize, game: &Comparison) -> Game {
    let Comparison { first, second, score, weight, cluster } = *game;
    assert!(first < n_players && second < n_players, "known players");
    let outcomes = match score {
        1.0 => [weight, 0.0, 0.0],
        0.5 => [0.0, weight, 0.0],
        0.0 => [0.0, 0.0, weight],
        _ => panic!("{score} is no win, draw or loss"),
    };
    Game { first, second, outcomes, cluster: Some(cluster) }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn difference(at: &DVector<f64>, game: &Game) -> f64 {
    at[game.first] - at[game.second] + at[at.len() - 2]
}

/// Minus infinity where the drawelo is not positive: then there are no draws.
fn log_likelihood(at: &DVector<f64>, games: &[Game]) -> f64 {
    let d = at[at.len() - 1];
    if d <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let term = |game: &Game| {
        let x = difference(at, game);
        let [win, draw, loss] = game.outcomes;
        let of_draw = logistic(d - x) * logistic(d + x) * -(-2.0 * d).exp_m1();
        let terms = [(win, logistic(x - d)), (loss, logistic(-x - d)), (draw, of_draw)];
        let sum = terms.iter().filter(|(weight, _)| *weight > 0.0);
        sum.map(|(weight, p)| weight * p.ln()).sum::<f64>()
    };
    games.iter().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(first: usize, second: usize, score: f64, cluster: u64) -> Comparison {
        Comparison { first, second, score, weight: 1.0, cluster }
    }

    /// Of even players a third of games is drawn: a win has probability one third,
    /// which is the logistic curve's value at minus ln 2.
    #[test]
    fn even_players_have_the_drawelo_of_their_draws() {
        let games: Vec<Comparison> =
            (0..30).map(|n| game(0, 1, f64::from(n % 3) / 2.0, n as u64)).collect();
        let model = DrawModel {
            advantage: Parameter::Fixed(0.0),
            drawelo: Parameter::Fitted,
            prior_draws: 0.0,
        };
        let found = model.rate(2, &games).unwrap();
        assert!(found.elo[0].abs() < 1e-6, "{found:?}");
        assert!((found.drawelo - 400.0 * 2f64.log10()).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn who_always_wins_has_a_rating_with_a_prior_only() {
        let games = [game(0, 1, 1.0, 0), game(1, 0, 0.0, 1)];
        let fixed = Parameter::Fixed(50.0);
        let model = DrawModel { advantage: fixed, drawelo: fixed, prior_draws: 0.0 };
        assert_eq!(model.rate(2, &games), Err(RatingError::Unbounded));
        let found = DrawModel { prior_draws: 2.0, ..model }.rate(2, &games).unwrap();
        assert!(found.elo[0] > 0.0 && found.elo[0] + found.elo[1] < 1e-9);
        assert!((found.advantage - 50.0).abs() + (found.drawelo - 50.0).abs() < 1e-9);
    }
}
