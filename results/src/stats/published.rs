//! Numbers that other programs and papers give for the same data, from
//! `tests/data/published_statistics.json`, which names the source of each.

use serde_json::Value;

use crate::stats::alpha_rank::AlphaRank;
use crate::stats::betting::EProcess;
use crate::stats::block::{Difference, made_up};
use crate::stats::bradley_terry::{BradleyTerry, Comparison};
use crate::stats::frequencies::Frequencies;
use crate::stats::gsprt::{ErrorRates, Hypotheses};
use crate::stats::ladder::Glicko2;
use crate::stats::laps::t_interval;
use crate::stats::luce::{ELO_PER_LOGIT, Ratings};
use crate::stats::nash::nash_average;
use crate::stats::normal::normal_quantile;
use crate::stats::plackett_luce::{Ranking, plackett_luce};
use crate::stats::sign_flip::sign_flip;
use crate::stats::vase::{Margins, Vote};

fn published(key: &str) -> Value {
    let text = include_str!("../../tests/data/published_statistics.json");
    let mut all: Value = serde_json::from_str(text).unwrap();
    assert!(all["sources"][key].is_string(), "the source of {key} is named");
    all[key].take()
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    rows(value).iter().map(number).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    rows(value).iter().map(numbers).collect()
}

fn counts(value: &Value) -> Vec<u64> {
    rows(value).iter().map(|count| count.as_u64().unwrap()).collect()
}

fn pair(row: &Value) -> [f64; 2] {
    [number(&row["elo0"]), number(&row["elo1"])]
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// Equal within `tolerance`, relative to the expected value if that is above 1.
#[track_caller]
fn relatively(found: f64, expected: f64, tolerance: f64) {
    close(found, expected, tolerance * expected.abs().max(1.0));
}

#[test]
fn log_likelihood_ratios() {
    for row in rows(&published("gsprt")) {
        let counts = counts(&row["counts"]);
        let seen = Frequencies::even(&counts);
        let games = if counts.len() == 5 { 2 } else { 1 };
        let logistic = row["model"] == "logistic";
        let hypotheses = if logistic {
            Hypotheses::LogisticElo(pair(row))
        } else {
            Hypotheses::NormalizedElo { elo: pair(row), games }
        };
        relatively(hypotheses.exact(&seen).unwrap(), number(&row["llr"]), 1e-7);
        if logistic {
            relatively(hypotheses.closed_form(&seen), number(&row["llr_normal_approx"]), 1e-9);
            relatively(hypotheses.logarithmic(&seen), number(&row["llr_log_approx"]), 1e-9);
        } else {
            relatively(hypotheses.closed_form(&seen), number(&row["llr_closed_form"]), 1e-9);
        }
        if let Some(rounded) = row["fastchess_unit_test"].as_f64() {
            // Their solver stops at a change of 1e-4.
            close(hypotheses.llr(&seen), rounded, 0.03);
        }
    }
}

#[test]
fn log_likelihood_ratios_of_blocks() {
    let given = published("block_gsprt");
    let values = numbers(&given["values"]);
    let counts = counts(&given["counts"]);
    let differences = values
        .iter()
        .zip(&counts)
        .flat_map(|(&value, &count)| (0..count).map(move |_| Difference::whole(value as i64)));
    let seen = Frequencies::of_differences(differences);
    close((seen.mean() - 0.5) / seen.variance().sqrt(), number(&given["t"]), 1e-12);
    for case in rows(&given["cases"]) {
        if let Some(t0) = case["t0"].as_f64() {
            let hypotheses = Hypotheses::Normalized([t0, number(&case["t1"])]);
            close(hypotheses.exact(&seen).unwrap(), number(&case["exact"]), 1e-7);
            close(hypotheses.closed_form(&seen), number(&case["closed_form"]), 1e-9);
        } else {
            let hypotheses = Hypotheses::Points([0.0, 4.0]);
            close(hypotheses.exact(&seen).unwrap(), number(&case["exact"]), 1e-7);
            close(hypotheses.closed_form(&seen), number(&case["normal_approx"]), 1e-9);
        }
    }
}

#[test]
fn bounds_of_tests() {
    for row in rows(&published("sprt_bounds")) {
        let errors = ErrorRates { alpha: number(&row["alpha"]), beta: number(&row["beta"]) };
        let [low, high] = errors.bounds();
        close(low, number(&row["lower"]), 1e-12);
        close(high, number(&row["upper"]), 1e-12);
    }
}

/// The results of four players, `first-second: [wins, draws, losses]` of the first.
fn tournament() -> (Value, Vec<Comparison>) {
    let given = published("bradley_terry");
    let mut games = vec![];
    for (pairing, results) in given["results_white_black_WDL"].as_object().unwrap() {
        let player = |place: usize| usize::from(pairing.as_bytes()[place] - b'A');
        for (count, score) in counts(results).into_iter().zip([1.0, 0.5, 0.0]) {
            for _ in 0..count {
                let (first, second, cluster) = (player(0), player(2), games.len() as u64);
                games.push(Comparison { first, second, score, weight: 1.0, cluster });
            }
        }
    }
    (given, games)
}

fn half_widths(errors: &[f64]) -> Vec<f64> {
    errors.iter().map(|error| normal_quantile(0.975) * error).collect()
}

#[track_caller]
fn all_close(found: &[f64], expected: &Value, tolerance: f64) {
    let expected = numbers(expected);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        close(*found, expected, tolerance);
    }
}

#[test]
fn bradley_terry() {
    let (given, games) = tournament();
    let found = BradleyTerry::default().rate(4, &games).unwrap();
    // What is given was fitted with a penalty of 1e-6.
    all_close(&found.elo, &given["bt_mle_draw_half_elo400_mean0"], 1e-3);
    all_close(&half_widths(&found.naive_errors), &given["naive_pm95_rel_mean"], 2e-3);
    all_close(&half_widths(&found.errors), &given["sandwich_pm95_rel_mean"], 2e-3);
    // Ordo defines its scale by 76 % for 202 points.
    let scale = number(&given["ordo_scale"]);
    close(202.0 / ELO_PER_LOGIT / (0.76f64 / 0.24).ln(), scale, 1e-9);
    let scaled: Vec<f64> = found.elo.iter().map(|elo| elo * scale).collect();
    all_close(&scaled, &given["ordo_1.2.6_a0"], 0.051);
    // Decisive games alone.
    let decisive: Vec<Comparison> =
        games.iter().filter(|game| game.score != 0.5).copied().collect();
    let found = BradleyTerry::default().rate(4, &decisive).unwrap();
    let logits: Vec<f64> = found.elo.iter().map(|elo| elo / ELO_PER_LOGIT).collect();
    all_close(&logits, &given["choix_wins_only_logit"], 1e-5);
}

#[test]
fn bradley_terry_with_an_advantage() {
    let (given, games) = tournament();
    let model = BradleyTerry { advantage: true, prior_draws: 0.0 };
    let found: Ratings = model.rate(4, &games).unwrap();
    let scale = number(&given["ordo_scale"]);
    let scaled: Vec<f64> = found.elo.iter().map(|elo| elo * scale).collect();
    let ordo = &given["ordo_W_D_s1000"];
    all_close(&scaled, &ordo["rating"], 0.3);
    close(found.advantage.unwrap().0 * scale, number(&ordo["white_adv"]), 0.3);
    // Ordo's errors are simulated, from 1000 runs.
    let errors: Vec<f64> = half_widths(&found.errors).iter().map(|error| error * scale).collect();
    all_close(&errors, &ordo["error95"], 3.5);
}

#[test]
fn plackett_luce_orders() {
    let given = published("plackett_luce");
    let orders = [([0, 1, 2, 3], 5), ([1, 0, 2, 3], 3), ([0, 2, 1, 3], 2), ([3, 0, 1, 2], 1)];
    let rankings = orders.iter().flat_map(|(order, count)| {
        let places = order.iter().map(|&player| vec![player]).collect::<Vec<_>>();
        (0..*count).map(move |cluster| Ranking { places: places.clone(), cluster, weight: 1.0 })
    });
    let found = plackett_luce(4, &rankings.collect::<Vec<_>>(), 0.0).unwrap();
    let logits: Vec<f64> = found.elo.iter().map(|elo| elo / ELO_PER_LOGIT).collect();
    all_close(&logits, &given["choix_mle_logit"], 1e-5);
}

#[test]
fn ladders() {
    let given = published("glicko2");
    let rating = |row: &[f64]| Glicko2 { rating: row[0], deviation: row[1], volatility: 0.06 };
    let results: Vec<(Glicko2, Option<bool>)> =
        matrix(&given["opponents"]).iter().map(|row| (rating(row), Some(row[2] == 1.0))).collect();
    let found = rating(&numbers(&given["player"])).after(&results, number(&given["tau"]));
    let expected = numbers(&given["expect"]);
    close(found.rating, expected[0], 1e-6);
    close(found.deviation, expected[1], 1e-6);
    close(found.volatility, expected[2], 1e-9);
}

#[test]
fn alpha_rank() {
    let given = published("alpha_rank");
    let population = given["m"].as_u64().unwrap() as u32;
    let evolution = AlphaRank { population, alpha: number(&given["alpha"]) };
    all_close(&evolution.one_population(&matrix(&given["payoff"])), &given["pi"], 1e-7);
}

#[test]
fn nash_averages() {
    for row in rows(&published("nash_averaging")) {
        let payoffs = if row["A"].is_string() {
            // Rock, paper, scissors, and a fourth that is level with all.
            let mut payoffs = vec![vec![0.0; 4]; 4];
            for i in 0..3 {
                payoffs[i][(i + 2) % 3] = 1.0;
                payoffs[(i + 2) % 3][i] = -1.0;
            }
            payoffs
        } else {
            matrix(&row["A"])
        };
        all_close(&nash_average(&payoffs).shares, &row["p"], 1e-7);
    }
}

#[test]
fn votes() {
    let given = published("vase_meeple_pentathlon");
    let votes: Vec<Vote> = rows(&given["votes"])
        .iter()
        .map(|vote| {
            let order: Vec<&str> = vote.as_str().unwrap().split('>').collect();
            let place = |name| order.iter().position(|&other| other == name).unwrap();
            ["A", "B", "C"].iter().map(|&name| Some(-(place(name) as f64))).collect()
        })
        .collect();
    let margins = Margins::of(3, &votes);
    assert_eq!(margins.0, matrix(&given["margins"]));
    assert_eq!(margins.condorcet_winner(), Some(2));
    assert_eq!(given["condorcet"], "C");
    all_close(&margins.maximal_lottery(), &given["maximal_lottery"], 1e-7);
    assert_eq!(margins.ranked_pairs(), [2, 0, 1]);
    // By Elo, where each vote is a match of each pair, A and C are level.
    let mut games = vec![];
    for (vote, cluster) in votes.iter().zip(0..) {
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            let score = f64::from(u8::from(vote[first] > vote[second]));
            games.push(Comparison { first, second, score, weight: 1.0, cluster });
        }
    }
    let elo = BradleyTerry::default().rate(3, &games).unwrap().elo;
    close(elo[0], elo[2], 1e-6);
    assert!(elo[0] > elo[1] && given["elo"] == "A==C>B");
}

#[test]
fn a_mean_of_blocks() {
    let given = published("cluster_example");
    let points = numbers(&given["block_diffs"]);
    let found = t_interval(&points, 0.95).unwrap();
    close(found.mean, number(&given["mean"]), 1e-12);
    close(found.sd, number(&given["sd"]), 1e-12);
    close(found.standard_error, number(&given["se"]), 1e-12);
    all_close(&found.interval, &given["t_ci95"], 1e-9);
    let blocks = made_up(points.iter().map(|&points| points as i64));
    close(sign_flip(&blocks, 0, 0).greater, number(&given["signflip_p_one_sided"]), 1e-12);
    // The full bootstrap is checked where the bootstrap is.
    assert_eq!(numbers(&given["full_bootstrap_pct"]).len(), 2);
}

#[test]
fn betting() {
    let given = published("betting_eprocess");
    assert_eq!(number(&given["m0"]), 0.5);
    let mut process = EProcess::against(0.0, number(&given["alpha"]));
    let capital: Vec<f64> = numbers(&given["xs"]).iter().map(|&score| process.add(score)).collect();
    close(capital[4], number(&given["K5"]), 1e-9);
    close(capital[19], number(&given["K20"]), 1e-9);
    assert!(process.rejects());
}
