//! Every statistic at no, one, two, three and up to ten million observations, and
//! where all are the same, all are won, none is won, or players never met: each
//! number is finite or there is an explicit none, and equal to what mpmath and
//! scipy give (`tests/data/statistics_vectors.json`, made by
//! `scripts/statistics_vectors.py`).

use serde_json::Value;

use crate::record::{Budget, Clock};
use crate::stats::alpha_rank::AlphaRank;
use crate::stats::betting::{ConfidenceSequence, EProcess};
use crate::stats::block::{BlockScore, made_up};
use crate::stats::bootstrap::Bootstrap;
use crate::stats::bradley_terry::{BradleyTerry, Comparison};
use crate::stats::effects::{Interaction, Observation, Observations, effects, player_effects};
use crate::stats::elo::{elo_of_score, score_of_elo};
use crate::stats::frequencies::Frequencies;
use crate::stats::gsprt::{Hypotheses, logistic_score};
use crate::stats::holm::holm;
use crate::stats::interval::{Part, interval_at};
use crate::stats::laps::{t_interval, unvaried_interval};
use crate::stats::luce::RatingError;
use crate::stats::mean::mean_difference;
use crate::stats::nash::nash_average;
use crate::stats::normal::{normal_cdf, normal_quantile};
use crate::stats::plackett_luce::{Ranking, plackett_luce};
use crate::stats::rank_bootstrap::rank_distribution;
use crate::stats::scored::Stratum;
use crate::stats::sign_flip::{sign_flip, sign_flip_terms};
use crate::stats::student::{t_cdf, t_quantile};
use crate::stats::vase::{Margins, Vote};

/// Numbers of observations that every statistic takes.
const SIZES: [u64; 8] = [0, 1, 2, 3, 10, 1000, 100_000, 10_000_000];
/// Those of which single observations are made.
const SMALL: [usize; 6] = [0, 1, 2, 3, 10, 1000];
const POINTS: [f64; 2] = [-100.0, 100.0];
const REWARDS: [f64; 2] = [0.0, 100.0];

/// The rows of numbers under `key`.
fn rows(key: &str) -> Vec<Vec<f64>> {
    let text = include_str!("../../tests/data/statistics_vectors.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let row = |row: &Value| row.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    all[key].as_array().unwrap().iter().map(row).collect()
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    let size = expected.abs().max(f64::MIN_POSITIVE);
    assert!((found - expected).abs() <= tolerance * size, "{found} is not {expected}");
}

#[track_caller]
fn finite(values: impl IntoIterator<Item = f64>) {
    values.into_iter().for_each(|value| assert!(value.is_finite(), "{value}"));
}

/// As many blocks as wins, losses and draws say.
fn blocks(wins: usize, losses: usize, draws: usize) -> Vec<BlockScore> {
    let points = std::iter::repeat_n(100, wins)
        .chain(std::iter::repeat_n(-100, losses))
        .chain(std::iter::repeat_n(0, draws));
    made_up(points)
}

/// All won, none won, all level, one lost, half won.
fn shapes(n: usize) -> [Vec<BlockScore>; 5] {
    let half = n / 2;
    let lost = n.min(1);
    [
        blocks(n, 0, 0),
        blocks(0, n, 0),
        blocks(0, 0, n),
        blocks(n - lost, lost, 0),
        blocks(half, n - half, 0),
    ]
}

/// The same as counts of losses, draws and wins.
fn counts(n: u64) -> [[u64; 3]; 5] {
    let lost = n.min(1);
    [[0, 0, n], [n, 0, 0], [0, n, 0], [lost, 0, n - lost], [n - n / 2, 0, n / 2]]
}

#[test]
fn the_normal_distribution() {
    rows("normal_cdf").iter().for_each(|row| close(normal_cdf(row[0]), row[1], 1e-9));
    for row in rows("normal_quantile") {
        assert!((normal_quantile(row[0]) - row[1]).abs() <= 1e-13 * row[1].abs().max(1.0));
    }
}

#[test]
fn students_distribution() {
    rows("t_cdf").iter().for_each(|row| close(t_cdf(row[0], row[1]), row[2], 1e-11));
    for row in rows("t_quantile") {
        let found = t_quantile(row[0], row[1]);
        assert!((found - row[2]).abs() <= 1e-11 * row[2].abs().max(1e-3), "{row:?} {found}");
    }
}

/// Of n values some are 100 and the others 0: the interval of a stratum, before it
/// is cut to what is possible.
#[test]
fn intervals_of_wins() {
    for row in rows("t_interval_of_wins") {
        let (n, share) = (row[0], row[1] / row[0]);
        let variance = 1e4 * share * (1.0 - share) / (n - 1.0);
        let part = Part { weight: 1.0, mean: 100.0 * share, variance, n: n as usize };
        let [low, high] = interval_at(&[part], [-1e4, 1e4], 0.95).unwrap();
        close(low - 1e3, row[2] - 1e3, 1e-11);
        close(high - 1e3, row[3] - 1e3, 1e-11);
        let [low, high] = interval_at(&[part], REWARDS, 0.95).unwrap();
        assert!(low >= 0.0 && high <= 100.0 && low <= high, "{row:?} {low} {high}");
        if n <= 1000.0 {
            let wins = row[1] as usize;
            let values = [vec![100.0; wins], vec![0.0; row[0] as usize - wins]].concat();
            let found = t_interval(&values, 0.95).unwrap();
            close(found.interval[0] - 1e3, row[2] - 1e3, 1e-11);
        }
    }
    for row in rows("unvaried") {
        let [low, high] = unvaried_interval(0.0, row[0] as usize, 0.95, POINTS);
        close(high, 100.0 * row[1], 1e-10);
        close(low, -100.0 * row[1], 1e-10);
        if row[0] >= 2.0 {
            let part = Part { weight: 1.0, mean: 0.0, variance: 0.0, n: row[0] as usize };
            close(interval_at(&[part], POINTS, 0.95).unwrap()[1], 100.0 * row[1], 1e-8);
        }
    }
}

#[test]
fn mean_differences() {
    for n in SMALL {
        for blocks in shapes(n) {
            match mean_difference(&blocks, 0.95) {
                None => assert_eq!(n, 0),
                Some(found) => {
                    assert_eq!(
                        (found.interval.is_none(), found.standard_error.is_none()),
                        (n < 2, n < 2)
                    );
                    if let Some([low, high]) = found.interval {
                        assert!(low <= found.mean && found.mean <= high && low < high, "{found:?}");
                        finite([low, high]);
                    }
                }
            }
        }
    }
}

#[test]
fn sign_flips() {
    for row in rows("sign_flip_of_wins") {
        let (n, wins) = (row[0] as usize, row[1] as usize);
        let found = sign_flip(&blocks(wins, n - wins, 0), 1000, 1);
        assert!(found.exact);
        close(found.greater, row[2].max(f64::MIN_POSITIVE), 1e-10);
        close(found.less, row[3].max(f64::MIN_POSITIVE), 1e-10);
    }
    for row in rows("binomtest_of_wins") {
        let (n, wins) = (row[0] as usize, row[1] as usize);
        close(sign_flip(&blocks(wins, n - wins, 0), 1000, 1).two_sided, row[2], 1e-10);
    }
    for n in [100_000usize, 10_000_000] {
        for terms in [vec![1.0; n], vec![0.0; n], (0..n).map(|i| (i as f64).sin()).collect()] {
            let found = sign_flip_terms(&terms, 100, 1);
            for p in [found.greater, found.less, found.two_sided] {
                assert!(p > 0.0 && p <= 1.0, "{found:?}");
            }
        }
    }
    assert_eq!(holm(&[]), [0.0; 0]);
    finite(holm(&[0.0, 1.0, f64::MIN_POSITIVE]));
}

#[test]
fn sequential_tests() {
    let hypotheses = [
        Hypotheses::Score([0.5, 0.55]),
        Hypotheses::Points([-5.0, 0.0]),
        Hypotheses::LogisticElo([0.0, 5.0]),
        Hypotheses::Normalized([0.0, 0.15]),
        Hypotheses::NormalizedElo { elo: [0.0, 5.0], games: 2 },
    ];
    for n in SIZES {
        for counts in counts(n) {
            let seen = Frequencies::even(&counts);
            for hypotheses in hypotheses {
                finite([hypotheses.llr(&seen)]);
                finite(hypotheses.exact(&seen));
                if n > 0 {
                    finite([hypotheses.closed_form(&seen), hypotheses.logarithmic(&seen)]);
                }
            }
        }
    }
}

#[test]
fn elo_scales() {
    assert_eq!((elo_of_score(0.0), elo_of_score(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    finite([-1e6, 0.0, 1e6].map(score_of_elo));
    finite([-1e6, 0.0, 1e6].map(logistic_score));
}

#[test]
fn betting() {
    for n in [0, 1, 2, 3, 10, 1000, 100_000] {
        for score in [0.0, 0.5, 1.0] {
            let mut process = EProcess::against(0.0, 0.05);
            let mut sequence = ConfidenceSequence::new(0.95);
            for _ in 0..n {
                process.add(score);
                sequence.add(score);
            }
            finite([process.ln_capital(), process.p_value()]);
            let [low, high] = sequence.interval();
            assert!(-100.0 <= low && low <= high && high <= 100.0);
            assert!((low..=high).contains(&(200.0 * score - 100.0)), "{n} {score}: {low} {high}");
            assert_eq!(process.rejects(), score == 1.0 && n >= 10);
        }
    }
}

/// The comparisons of two pairs of players that never met.
fn two_pairs() -> Vec<Comparison> {
    let pair =
        |first, second, cluster| Comparison { first, second, score: 0.5, weight: 1.0, cluster };
    vec![pair(0, 1, 0), pair(2, 3, 1)]
}

#[test]
fn ratings_by_comparisons() {
    for n in SIZES {
        for [losses, draws, wins] in counts(n) {
            let game = |score, weight: u64, cluster| Comparison {
                first: 0,
                second: 1,
                score,
                weight: weight as f64,
                cluster,
            };
            let games = [game(1.0, wins, 0), game(0.5, draws, 1), game(0.0, losses, 2)];
            let plain = BradleyTerry::default().rate(2, &games);
            let met_both = draws > 0 || wins > 0 && losses > 0;
            assert_eq!(plain.is_ok(), met_both, "{n} {plain:?}");
            let prior = BradleyTerry { prior_draws: 1.0, advantage: false }.rate(2, &games);
            assert_eq!(prior.is_ok(), n > 0, "{prior:?}");
            for ratings in plain.iter().chain(&prior) {
                finite(
                    ratings.elo.iter().chain(&ratings.errors).chain(&ratings.naive_errors).copied(),
                );
                // The score of the most likely ratings is the score that was seen.
                let score = (wins as f64 + draws as f64 / 2.0) / n as f64;
                if prior.as_ref() != Ok(ratings) {
                    assert!((ratings.elo[0] - ratings.elo[1] - elo_of_score(score)).abs() < 1e-4);
                }
            }
            let ranking = |places: [usize; 2], weight: u64| Ranking {
                places: places.map(|player| vec![player]).to_vec(),
                cluster: 0,
                weight: weight as f64,
            };
            let orders = [ranking([0, 1], wins), ranking([1, 0], losses)];
            let rated = plackett_luce(2, &orders, 1.0);
            assert_eq!(rated.is_ok(), wins + losses > 0, "{rated:?}");
            rated.iter().for_each(|rated| finite(rated.elo.iter().copied()));
        }
    }
    let prior = BradleyTerry { prior_draws: 1.0, advantage: false };
    assert_eq!(prior.rate(4, &two_pairs()), Err(RatingError::Disconnected));
    assert_eq!(prior.rate(0, &[]), Err(RatingError::Unbounded));
    assert!(prior.rate(1, &[]).is_ok());
    let apart = [[0, 1], [2, 3]].map(|places| Ranking {
        places: places.map(|player| vec![player]).to_vec(),
        cluster: 0,
        weight: 1.0,
    });
    assert_eq!(plackett_luce(4, &apart, 1.0), Err(RatingError::Disconnected));
}

#[test]
fn ratings_by_payoffs_and_votes() {
    let evolution = AlphaRank { population: 50, alpha: 100.0 };
    for n in [0, 1, 2, 3, 10, 64] {
        for payoff in [0.0, 1.0, 100.0, 1e-9] {
            let won = |i: usize, j: usize| payoff * f64::from(i32::from(i < j) - i32::from(j < i));
            let payoffs: Vec<Vec<f64>> =
                (0..n).map(|i| (0..n).map(|j| won(i, j)).collect()).collect();
            let found = nash_average(&payoffs);
            finite(found.shares.iter().chain(&found.ratings).copied());
            if n > 0 {
                assert!((found.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                let best = if payoff == 0.0 { 1.0 / n as f64 } else { 1.0 };
                assert!((found.shares[0] - best).abs() < 1e-6, "{n} {payoff} {found:?}");
            }
            let masses = evolution.one_population(&payoffs);
            finite(masses.iter().copied());
            assert!(n == 0 || (masses.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let vote: Vote = (0..n).map(|player| Some(payoff * player as f64)).collect();
            let margins = Margins::of(n, &[vote.clone(), vote]);
            finite(margins.copeland());
            finite(margins.maximal_lottery());
            assert_eq!(margins.ranked_pairs().len(), n);
        }
    }
}

#[test]
fn effects_of_seats_and_players() {
    for n in [0u64, 1, 2, 3, 10, 1000] {
        for rewards in [[50.0, 50.0], [100.0, 0.0], [0.0, 0.0]] {
            let observations = Observations {
                rewards: (0..n)
                    .flat_map(|block| [(0, 0), (1, 1), (0, 1), (1, 0)].map(|at| (block, at)))
                    .map(|(block, (player, seat))| Observation {
                        player,
                        game: 0,
                        seat,
                        reward: rewards[player],
                        block,
                        n: 1.0,
                    })
                    .collect(),
                players: vec!["a".into(), "b".into()],
                games: vec![Stratum {
                    game: "g".into(),
                    clock: Clock { start_clock_ms: 0, play_clock_ms: 0, budget: Budget::Clock },
                }],
                seats: vec![(0, 0), (0, 1)],
            };
            let found = effects(&observations, Interaction::None);
            assert_eq!(found.is_ok(), n > 1, "{n} {found:?}");
            for effect in found.iter().flat_map(|found| found.seats.iter().chain(&found.players)) {
                let [low, high] = effect.interval;
                finite([effect.points, effect.standard_error, low, high]);
                assert!(low <= effect.points && effect.points <= high && low < high, "{effect:?}");
                assert!(low >= -100.0 && high <= 100.0, "{effect:?}");
            }
        }
    }
    assert_eq!(player_effects(2, 2, &[]), None);
}

#[test]
fn rank_probabilities() {
    let quick = Bootstrap { n_resamples: 50, ..Bootstrap::default() };
    let mean = |blocks: &[(u64, &[f64; 2])]| {
        let n = blocks.len() as f64;
        Some((0..2).map(|i| blocks.iter().map(|(_, b)| b[i]).sum::<f64>() / n).collect())
    };
    for n in [0, 1, 2, 3, 10, 1000] {
        for (wins, losses) in [(n, 0), (0, n), (n / 2, n - n / 2)] {
            let strata = [[vec![[100.0, 0.0]; wins], vec![[0.0, 100.0]; losses]].concat()];
            let found = rank_distribution(&strata, &quick, mean);
            assert_eq!(found.is_some(), n > 1);
            for shares in found.iter().flat_map(|found| &found.probabilities) {
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found:?}");
                assert!(shares.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share)));
            }
            if n > 1 && losses == 0 {
                let first = found.unwrap().probabilities[0][0];
                close(first, 1.0 - 0.5f64.powi(n as i32 + 1), 1e-9);
            }
        }
    }
}
