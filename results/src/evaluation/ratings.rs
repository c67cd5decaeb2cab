//! Players on several scales, each with the probability to be the first on it.

use std::sync::Arc;

use super::orders::Orders;
use crate::standings::scores::{Group, Scores, Sums};
use crate::stats::alpha_rank::AlphaRank;
use crate::stats::bootstrap::Bootstrap;
use crate::stats::bradley_terry::{BradleyTerry, Comparison};
use crate::stats::luce::{Ratings as LuceRatings, components};
use crate::stats::nash::nash_average;
use crate::stats::normal::t_quantile;
use crate::stats::plackett_luce::{Ranking, plackett_luce, plackett_luce_resample};
use crate::stats::rank_bootstrap::{RankDistribution, rank_distribution};
use crate::stats::scored::ScoredMatch;
use crate::stats::vase::{Margins, Vote};

/// Maximum number of players that are rated by how they did against each other: the work
/// grows with the third power.
const MAX_PLAYERS: usize = 64;

/// Resamples for ratings that are costlier than means.
pub(super) const N_RESAMPLES: usize = 500;

/// Players from which on equilibria are computed for fewer resamples: where many
/// payoffs are level, one of 64 players may take some 30 ms.
const MANY_PLAYERS: usize = 16;

/// Resamples for equilibria of many players.
const N_EQUILIBRIA: usize = 100;

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
    /// By player; `None` for who was never compared with those that have one, not
    /// even through third players.
    pub values: Vec<Option<f64>>,
    /// By player: the 95 % interval from robust standard errors, where the method
    /// has some; `None` from a single block.
    pub intervals: Option<Vec<Option<[f64; 2]>>>,
    /// By player: the probability to be first; `None` if resamples could not be
    /// rated.
    pub first: Option<Vec<f64>>,
    /// Resamples that these probabilities are from.
    pub n_resamples: usize,
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
    matches: &[(ScoredMatch, u32)],
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
    let from = |few: &Bootstrap, rate: &dyn Fn(&Sums<'_>) -> Option<Vec<f64>>| {
        let values = rate(&totals)?.into_iter().map(Some).collect();
        let first = drawn(&scores, few, rate).map(|ranks| first(&ranks));
        Some(Rating { values, intervals: None, first, n_resamples: few.n_resamples })
    };
    let rate = |rate: &dyn Fn(&Sums<'_>) -> Option<Vec<f64>>| from(&few, rate);
    let n_equilibria = if n_players > MANY_PLAYERS { N_EQUILIBRIA } else { N_RESAMPLES };
    let fewer = Bootstrap { n_resamples: n_equilibria.min(few.n_resamples), ..few };
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
        ratings.maximal_lottery = from(&fewer, &|sums| Some(settled(lottery(&sums.votes()))));
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
            let values = settled(average.ratings).into_iter().map(Some).collect();
            ratings.nash = from(&fewer, &nash).map(|rating| Rating { values, ..rating });
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
    let comparisons = scores.comparisons();
    let pairs = comparisons.iter().map(|comparison| (comparison.first, comparison.second));
    let rated = Rated::of(scores.n_players, pairs);
    let among = |comparisons: Vec<Comparison>| -> Vec<Comparison> {
        let known = |of: &Comparison| {
            let (first, second) = (rated.place[of.first]?, rated.place[of.second]?);
            Some(Comparison { first, second, ..*of })
        };
        comparisons.iter().filter_map(known).collect()
    };
    let ratings = fit.rate(rated.players.len(), &among(comparisons)).ok()?;
    let rate = |sums: &Sums<'_>| {
        let resample = among(sums.comparisons());
        Some(settled(fit.rate_resample(rated.players.len(), &resample).ok()?.elo))
    };
    Some(rated.elo(ratings, drawn(scores, bootstrap, rate), bootstrap.n_resamples))
}

/// The players that are compared with each other, perhaps through third ones: of
/// several groups the largest. Ratings of different groups are not comparable.
struct Rated {
    n_players: usize,
    players: Vec<usize>,
    /// By player: its place among them.
    place: Vec<Option<usize>>,
}

impl Rated {
    fn of(n_players: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let components = components(n_players, pairs);
        let mut sizes = vec![0; n_players];
        components.iter().for_each(|&component| sizes[component] += 1);
        // Of equally large ones that of the player that stands first.
        let largest = (0..n_players).rev().max_by_key(|&component| sizes[component]);
        let players: Vec<usize> =
            (0..n_players).filter(|&player| Some(components[player]) == largest).collect();
        let mut place = vec![None; n_players];
        players.iter().enumerate().for_each(|(at, &player)| place[player] = Some(at));
        Self { n_players, players, place }
    }

    /// Ratings with intervals by Student's t with one degree of freedom less than
    /// there are clusters, whose number corrects the robust errors (CR1, as in
    /// [`effects`](crate::stats::effects)).
    fn elo(
        &self,
        rated: LuceRatings,
        ranks: Option<RankDistribution>,
        n_resamples: usize,
    ) -> Rating {
        let n_clusters = rated.n_clusters as f64;
        let reach = (n_clusters > 1.0).then(|| {
            t_quantile(0.975, n_clusters - 1.0) * (n_clusters / (n_clusters - 1.0)).sqrt()
        });
        let interval = |place: usize| {
            let (elo, half) = (rated.elo[place], reach? * rated.errors[place]);
            Some([elo - half, elo + half])
        };
        let first = ranks.map(|ranks| first(&ranks));
        let share = |first: &Vec<f64>| {
            self.place.iter().map(|place| place.map_or(0.0, |place| first[place])).collect()
        };
        Rating {
            values: self.place.iter().map(|place| Some(rated.elo[(*place)?])).collect(),
            intervals: Some(
                (0..self.n_players).map(|player| interval(self.place[player]?)).collect(),
            ),
            first: first.as_ref().map(share),
            n_resamples,
        }
    }
}

fn finishing_orders(
    matches: &[(ScoredMatch, u32)],
    players: &[Arc<str>],
    bootstrap: &Bootstrap,
) -> Option<Rating> {
    if matches.iter().all(|(played, _)| played.seats.len() <= 2) {
        return None;
    }
    let orders = Orders::of(matches, players);
    let rankings = orders.rankings();
    let pairs = rankings.iter().flat_map(|ranking| {
        let players = ranking.places.iter().flatten();
        players.map(|&player| (ranking.places[0][0], player))
    });
    let rated = Rated::of(players.len(), pairs);
    let among = |rankings: &[Ranking]| -> Vec<Ranking> {
        let known = |tied: &Vec<usize>| -> Vec<usize> {
            tied.iter().filter_map(|&player| rated.place[player]).collect()
        };
        let ranking = |ranking: &Ranking| Ranking {
            places: ranking.places.iter().map(known).filter(|tied| !tied.is_empty()).collect(),
            ..*ranking
        };
        rankings.iter().map(ranking).filter(|ranking| !ranking.places.is_empty()).collect()
    };
    let n_rated = rated.players.len();
    let ratings = plackett_luce(n_rated, &among(&rankings), PRIOR_DRAWS).ok()?;
    let ranks = orders.drawn(bootstrap, |rankings| {
        Some(settled(plackett_luce_resample(n_rated, &among(rankings), PRIOR_DRAWS).ok()?.elo))
    });
    Some(rated.elo(ratings, ranks, bootstrap.n_resamples))
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
            matches.push((ScoredMatch::from(&record), 1));
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
        let masses: Option<Vec<f64>> = ratings.alpha_rank.unwrap().values.into_iter().collect();
        third(&masses.unwrap());
        assert_eq!(ratings.condorcet_winner, None);
        let elo = ratings.bradley_terry.unwrap().values;
        elo.iter().for_each(|elo| assert!(elo.unwrap().abs() < 1e-6));
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
        assert!(rating.values.iter().all(|value| value.unwrap().is_finite()));
        assert!(intervals.iter().all(|interval| interval.unwrap().iter().all(|v| v.is_finite())));
    }

    /// Two pairs of players that never met, and one that played alone: there is no
    /// telling how the pairs compare.
    #[test]
    fn who_never_met_has_no_rating() {
        let pairings = [["a", "b"], ["c", "d"], ["a", "b"]];
        let mut matches = vec![];
        for job in 0..60u64 {
            let [first, second] = pairings[(job / 2 % 3) as usize];
            let players = if job.is_multiple_of(2) { [first, second] } else { [second, first] };
            let rewards = if job.is_multiple_of(7) { [0, 100] } else { [100, 0] };
            let record = sample::record(job, "game", players, rewards);
            matches.push((ScoredMatch::from(&record), 1));
        }
        let players: Vec<Arc<str>> = ["a", "b", "c", "d", "e"].map(Arc::from).into();
        let (_, ratings) = ratings(&matches, &players, &sample::QUICK);
        let rating = ratings.bradley_terry.unwrap();
        let rated: Vec<bool> = rating.values.iter().map(Option::is_some).collect();
        assert_eq!(rated, [true, true, false, false, false], "{rating:?}");
        let intervals = rating.intervals.unwrap();
        assert!(intervals[0].is_some_and(|[low, high]| low < high) && intervals[4].is_none());
    }
}
