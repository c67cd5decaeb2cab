//! Players on several scales, each with the probability to be the first on it.

use std::sync::Arc;

use super::orders::Orders;
use crate::bootstrap::Bootstrap;
use crate::standings::scores::{Group, Scores, Sums};
use crate::stats::alpha_rank::AlphaRank;
use crate::stats::bradley_terry::BradleyTerry;
use crate::stats::luce::Ratings as LuceRatings;
use crate::stats::nash::nash_average;
use crate::stats::normal::normal_quantile;
use crate::stats::plackett_luce::{Ranking, plackett_luce};
use crate::stats::rank_bootstrap::{RankDistribution, rank_distribution};
use crate::stats::scored::ScoredMatch;
use crate::stats::vase::{Margins, Vote};

/// Most players that are rated by how they did against each other: the work
/// grows with the third power.
const MAX_PLAYERS: usize = 64;

/// Resamples for ratings that are costlier than means.
pub(super) const N_RESAMPLES: usize = 500;

/// Draws that each player is thought to have had beforehand, so that who won or
/// lost everything has a finite rating, too.
const PRIOR_DRAWS: f64 = 1.0;

/// Alpha-rank's population and selection. Payoffs are differences of rewards
/// over 100, from -1 to 1.
pub(crate) const ALPHA_RANK: AlphaRank = AlphaRank { population: 50, alpha: 100.0 };

/// How probable each rank is for each player.
#[derive(Clone, Debug, PartialEq)]
pub struct RankProbabilities {
    /// By player, then rank from the best. Players that are level share.
    pub probabilities: Vec<Vec<f64>>,
    /// By player: the mean rank; 1 is the best.
    pub mean_ranks: Vec<f64>,
    /// Resamples that they are shares of.
    pub n_resamples: usize,
    /// Resamples in which somebody had no match, which do not count.
    pub n_failed: usize,
}

impl From<RankDistribution> for RankProbabilities {
    fn from(ranks: RankDistribution) -> Self {
        Self {
            mean_ranks: settled(ranks.mean_ranks()),
            probabilities: ranks.probabilities.into_iter().map(settled).collect(),
            n_resamples: ranks.n_resamples,
            n_failed: ranks.n_failed,
        }
    }
}

/// All players on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// By player.
    pub values: Vec<f64>,
    /// By player: the 95 % interval from robust standard errors, where the method
    /// has some.
    pub intervals: Option<Vec<[f64; 2]>>,
    /// By player: the share of resamples in which it was first; `None` if
    /// resamples could not be rated.
    pub first: Option<Vec<f64>>,
}

/// Players on several scales. What is `None` cannot be told from this run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratings {
    /// Bradley-Terry, Elo.
    pub bradley_terry: Option<Rating>,
    /// Plackett-Luce, Elo; only if some match had more than two players, since
    /// it is Bradley-Terry for two.
    pub plackett_luce: Option<Rating>,
    /// VasE by Copeland's method: how many others a majority of the strata
    /// prefers a player to.
    pub copeland: Option<Rating>,
    /// VasE by maximal lotteries: probabilities.
    pub maximal_lottery: Option<Rating>,
    /// VasE by ranked pairs: the rank of each player, from 1.
    pub ranked_pairs: Option<Vec<usize>>,
    /// The player that a majority of the strata prefers to each other, if there
    /// is one.
    pub condorcet_winner: Option<usize>,
    /// Nash averaging: points against the equilibrium, at most 0.
    pub nash: Option<Rating>,
    /// Shares in that equilibrium.
    pub nash_shares: Option<Vec<f64>>,
    /// Alpha-rank: masses.
    pub alpha_rank: Option<Rating>,
    /// Strata that vote in VasE.
    pub n_voters: usize,
    /// Resamples of each rating.
    pub n_resamples: usize,
    /// Whether there are too many players for all ratings but VasE.
    pub too_many: bool,
}

/// Rates `players`.
pub(super) fn ratings(
    matches: &[ScoredMatch],
    players: &[Arc<str>],
    bootstrap: &Bootstrap,
) -> (Option<RankProbabilities>, Ratings) {
    let n_players = players.len();
    let too_many = n_players > MAX_PLAYERS;
    let scores = Scores::of(matches, players, !too_many);
    if scores.groups.is_empty() {
        return (None, Ratings::default());
    }
    let means = |sums: &Sums<'_>| sums.means().into_iter().collect::<Option<Vec<f64>>>();
    let ranks = drawn(&scores, bootstrap, means).map(RankProbabilities::from);
    let few = Bootstrap { n_resamples: N_RESAMPLES.min(bootstrap.n_resamples), ..*bootstrap };
    let totals = scores.totals();
    let mut ratings = Ratings { too_many, n_resamples: few.n_resamples, ..Ratings::default() };
    let rate = |rate: &dyn Fn(&Sums<'_>) -> Option<Vec<f64>>| {
        let values = rate(&totals)?;
        let first = drawn(&scores, &few, rate).map(|ranks| first(&ranks));
        Some(Rating { values, intervals: None, first })
    };
    if n_players > 1 {
        let votes = totals.votes();
        let margins = Margins::of(n_players, &votes);
        ratings.n_voters = votes.len();
        ratings.condorcet_winner = margins.condorcet_winner();
        ratings.ranked_pairs = Some(places(&margins.ranked_pairs()));
        ratings.copeland = rate(&|sums| Some(Margins::of(n_players, &sums.votes()).copeland()));
    }
    if n_players > 1 && !too_many && scores.groups.iter().any(|groups| groups.len() > 1) {
        let lottery = |votes: &[Vote]| Margins::of(n_players, votes).maximal_lottery();
        ratings.maximal_lottery = rate(&|sums| Some(settled(lottery(&sums.votes()))));
        if !totals.comparisons().is_empty() {
            ratings.bradley_terry = bradley_terry(&scores, &few);
            ratings.plackett_luce = finishing_orders(matches, players, &few);
            // Who is outside the equilibrium is behind all that are inside;
            // those have shares.
            let nash = |sums: &Sums<'_>| {
                let average = nash_average(&sums.payoffs());
                let ratings = average.ratings.iter().zip(&average.shares);
                Some(settled(ratings.map(|(rating, share)| rating + share).collect()))
            };
            let average = nash_average(&totals.payoffs());
            ratings.nash =
                rate(&nash).map(|rating| Rating { values: settled(average.ratings), ..rating });
            ratings.nash_shares = Some(settled(average.shares));
            ratings.alpha_rank = rate(&|sums| Some(settled(alpha_rank(&sums.payoffs()))));
        }
    }
    (ranks, ratings)
}

/// Ranks on resamples of `scores`.
fn drawn(
    scores: &Scores,
    bootstrap: &Bootstrap,
    rate: impl Fn(&Sums<'_>) -> Option<Vec<f64>>,
) -> Option<RankDistribution> {
    // Drawing from a single block gives it again: it is held at what it gave. With
    // nothing but single blocks, nothing would seem unsure.
    if scores.groups.iter().all(|groups| groups.len() < 2) {
        return None;
    }
    rank_distribution(&scores.groups, bootstrap, |drawn: &[(u64, &Group)]| {
        rate(&scores.sums(drawn.iter().map(|(_, group)| *group)))
    })
}

fn first(ranks: &RankDistribution) -> Vec<f64> {
    settled(ranks.probabilities.iter().map(|ranks| ranks[0]).collect())
}

/// Iterative methods and long sums differ in their last digits; players that are
/// level must stay so.
pub(super) fn settled(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|value| (value * 1e6).round() / 1e6 + 0.0).collect()
}

/// The rank of each player, given players from the best on.
fn places(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    order.iter().zip(1..).for_each(|(&player, place)| places[player] = place);
    places
}

fn bradley_terry(scores: &Scores, bootstrap: &Bootstrap) -> Option<Rating> {
    let fit = BradleyTerry { advantage: false, prior_draws: PRIOR_DRAWS };
    let rated = fit.rate(scores.n_players, &scores.comparisons()).ok()?;
    let rate = |sums: &Sums<'_>| {
        let rated = fit.rate(scores.n_players, &sums.comparisons()).ok()?;
        Some(settled(rated.elo))
    };
    let first = drawn(scores, bootstrap, rate).map(|ranks| first(&ranks));
    Some(Rating { first, ..elo(rated) })
}

fn elo(rated: LuceRatings) -> Rating {
    let z = normal_quantile(0.975);
    let interval = |(elo, error): (&f64, &f64)| [elo - z * error, elo + z * error];
    let intervals = rated.elo.iter().zip(&rated.errors).map(interval).collect();
    Rating { values: rated.elo, intervals: Some(intervals), first: None }
}

fn finishing_orders(
    matches: &[ScoredMatch],
    players: &[Arc<str>],
    bootstrap: &Bootstrap,
) -> Option<Rating> {
    if matches.iter().all(|played| played.seats.len() <= 2) {
        return None;
    }
    let orders = Orders::of(matches, players);
    let fit = |rankings: &[Ranking]| plackett_luce(players.len(), rankings, PRIOR_DRAWS).ok();
    let rated = fit(&orders.rankings())?;
    let drawn = orders.drawn(bootstrap, |rankings| Some(settled(fit(rankings)?.elo)));
    Some(Rating { first: drawn.map(|ranks| first(&ranks)), ..elo(rated) })
}

fn alpha_rank(payoffs: &[Vec<f64>]) -> Vec<f64> {
    let share = |row: &Vec<f64>| row.iter().map(|points| points / 100.0).collect();
    ALPHA_RANK.one_population(&payoffs.iter().map(share).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rated(rewards: impl Fn(u64, [&str; 2]) -> [u8; 2]) -> (Option<RankProbabilities>, Ratings) {
        let pairings = [["a", "b"], ["b", "c"], ["a", "c"]];
        let mut matches = vec![];
        for job in 0..60u64 {
            let [first, second] = pairings[(job / 2 % 3) as usize];
            let players = if job.is_multiple_of(2) { [first, second] } else { [second, first] };
            let record = sample::record(job, "game", players, rewards(job, players));
            matches.push(ScoredMatch::from(&record));
        }
        let players: Vec<Arc<str>> = ["a", "b", "c"].map(Arc::from).into();
        ratings(&matches, &players, &Bootstrap { n_resamples: 100, ..Bootstrap::default() })
    }

    #[test]
    fn a_clear_order_is_found_by_every_method() {
        let (ranks, ratings) = rated(|_, [x, y]| if x < y { [100, 0] } else { [0, 100] });
        let ranks = ranks.unwrap();
        assert_eq!(ranks.mean_ranks, [1.0, 2.0, 3.0]);
        assert_eq!(ratings.ranked_pairs, Some(vec![1, 2, 3]));
        assert_eq!(ratings.condorcet_winner, Some(0));
        assert_eq!(ratings.nash_shares, Some(vec![1.0, 0.0, 0.0]));
        for rating in [
            ratings.bradley_terry,
            ratings.copeland,
            ratings.maximal_lottery,
            ratings.nash,
            ratings.alpha_rank,
        ] {
            let rating = rating.unwrap();
            assert_eq!(rating.first, Some(vec![1.0, 0.0, 0.0]), "{rating:?}");
            assert!(rating.values[0] >= rating.values[1] && rating.values[1] >= rating.values[2]);
        }
        assert_eq!(ratings.plackett_luce, None);
    }

    #[test]
    fn a_cycle_is_shared() {
        // a beats b, b beats c, c beats a.
        let beats = |x: &str, y: &str| matches!((x, y), ("a", "b") | ("b", "c") | ("c", "a"));
        let (ranks, ratings) = rated(|_, [x, y]| if beats(x, y) { [100, 0] } else { [0, 100] });
        let third = |values: &[f64]| {
            values.iter().for_each(|value| assert!((value - 1.0 / 3.0).abs() < 1e-4, "{value}"));
        };
        third(&ratings.nash_shares.unwrap());
        third(&ratings.alpha_rank.unwrap().values);
        assert_eq!(ratings.condorcet_winner, None);
        let elo = ratings.bradley_terry.unwrap().values;
        elo.iter().for_each(|elo| assert!(elo.abs() < 1e-6));
        assert_eq!(ranks.unwrap().probabilities.len(), 3);
    }

    #[test]
    fn all_draws_leave_everybody_level() {
        let (ranks, ratings) = rated(|_, _| [50, 50]);
        for row in ranks.unwrap().probabilities {
            row.iter().for_each(|share| assert!((share - 1.0 / 3.0).abs() < 1e-5));
        }
        let rating = ratings.bradley_terry.unwrap();
        let intervals = rating.intervals.unwrap();
        assert!(rating.values.iter().chain(intervals.iter().flatten()).all(|v| v.is_finite()));
    }
}
