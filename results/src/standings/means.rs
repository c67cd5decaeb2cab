//! Mean rewards: overall, by game, by role and by clock.

use super::rows::{ClockStanding, Difference, GameStanding, PlayerStanding, RoleStanding};
use super::samples::{Sample, Sampled, average, average_over_games, estimate, rounded};
use super::strata::Stratum;
use crate::bootstrap::{Bootstrap, Total};
use crate::evidence::Evidence;

/// Players, the best first; those without a scored match last.
pub(super) fn order(evidence: &Evidence, sampled: &[Vec<Sampled>]) -> Vec<usize> {
    let mean = |player: usize| {
        let strata: Vec<&Sampled> = sampled[player].iter().collect();
        average_over_games(&strata).map_or(f64::NEG_INFINITY, |sample| rounded(sample.mean))
    };
    let means: Vec<f64> = (0..evidence.players.len()).map(mean).collect();
    let mut order: Vec<usize> = (0..means.len()).collect();
    // The sort is stable and players are in the order of their names.
    order.sort_by(|&a, &b| means[b].total_cmp(&means[a]));
    order
}

pub(super) fn players(
    evidence: &Evidence,
    records: &[Vec<Stratum>],
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<PlayerStanding> {
    let standing = |&player: &usize| {
        let strata: Vec<&Sampled> = sampled[player].iter().collect();
        let leader = order[0];
        PlayerStanding {
            player: evidence.players[player].clone(),
            n_games: strata.chunk_by(|a, b| a.game == b.game).count() as u64,
            reward: estimate(average_over_games(&strata).as_ref(), bootstrap),
            behind: (player != leader)
                .then(|| difference(&records[leader], &records[player], evidence, bootstrap))
                .flatten(),
            n_faults: evidence.conduct[player].faults.iter().sum(),
        }
    };
    order.iter().map(standing).collect()
}

/// The mean of `a` less that of `b`, over the games and clocks of both.
fn difference(
    a: &[Stratum],
    b: &[Stratum],
    evidence: &Evidence,
    bootstrap: &Bootstrap,
) -> Option<Difference> {
    let (sample, n_games) = sampled_difference(a, b, evidence, bootstrap)?;
    Some(difference_of(&sample, n_games, bootstrap))
}

pub(super) fn difference_of(sample: &Sample, n_games: u64, bootstrap: &Bootstrap) -> Difference {
    Difference {
        mean: rounded(sample.mean),
        interval: sample.interval(bootstrap),
        n_fixed: sample.n_fixed,
        n_games,
        n_blocks: sample.n_blocks,
    }
}

/// The mean of `a` less that of `b` with its resamples, and the number of games that
/// both played.
pub(super) fn sampled_difference(
    a: &[Stratum],
    b: &[Stratum],
    evidence: &Evidence,
    bootstrap: &Bootstrap,
) -> Option<(Sample, u64)> {
    let mut rng = bootstrap.rng();
    let sampled: Vec<Sampled> = a
        .iter()
        .filter_map(|a| {
            let b = b.iter().find(|b| (b.game, b.clock) == (a.game, a.clock))?;
            let clusters = a.clusters_with(b);
            let mut differences = Vec::with_capacity(bootstrap.n_resamples);
            let known = a.n_blocks > 1 && b.n_blocks > 1;
            let defined = known
                && clusters.resample(bootstrap, &mut rng, |totals| {
                    let difference = less(totals);
                    differences.extend(difference);
                    difference.is_some()
                });
            let overall = Sample {
                mean: less(&clusters.totals())?,
                resamples: defined.then_some(differences),
                n_fixed: u64::from(!defined),
                n_matches: 0,
                n_blocks: a.n_blocks + b.n_blocks - both(evidence, a, b),
            };
            Some(Sampled { game: a.game, clock: a.clock, overall, roles: vec![] })
        })
        .collect();
    let strata: Vec<&Sampled> = sampled.iter().collect();
    let n_games = strata.chunk_by(|a, b| a.game == b.game).count() as u64;
    Some((average_over_games(&strata)?, n_games))
}

/// Blocks in which both played.
fn both(evidence: &Evidence, a: &Stratum, b: &Stratum) -> u64 {
    let key = (a.player.min(b.player), a.player.max(b.player), a.game, a.clock);
    evidence.tally.both.get(&key).copied().unwrap_or_default()
}

fn less(totals: &[Total]) -> Option<f64> {
    Some(totals[0].mean()? - totals[1].mean()?)
}

pub(super) fn by_game(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<GameStanding> {
    let mut standings = vec![];
    for (game, name) in evidence.games.iter().enumerate() {
        for &player in order {
            let strata = sampled[player].iter().filter(|stratum| stratum.game as usize == game);
            if let Some(sample) = average(strata.map(|stratum| &stratum.overall)) {
                standings.push(GameStanding {
                    game: name.clone(),
                    player: evidence.players[player].clone(),
                    reward: estimate(Some(&sample), bootstrap),
                });
            }
        }
    }
    standings
}

pub(super) fn by_role(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<RoleStanding> {
    let mut standings = vec![];
    for (game, name) in evidence.games.iter().enumerate() {
        for (role, role_name) in evidence.roles[game].iter().enumerate() {
            for &player in order {
                let strata = sampled[player].iter().filter(|stratum| stratum.game as usize == game);
                let roles = strata.flat_map(|stratum| &stratum.roles);
                let samples = roles.filter(|(index, _)| *index as usize == role);
                if let Some(sample) = average(samples.map(|(_, sample)| sample)) {
                    standings.push(RoleStanding {
                        game: name.clone(),
                        role: role_name.clone(),
                        player: evidence.players[player].clone(),
                        reward: estimate(Some(&sample), bootstrap),
                    });
                }
            }
        }
    }
    standings
}

pub(super) fn by_clock(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<ClockStanding> {
    let mut standings = vec![];
    for (clock, words) in evidence.clocks.iter().enumerate() {
        for &player in order {
            let strata = sampled[player].iter().filter(|stratum| stratum.clock as usize == clock);
            if let Some(sample) = average(strata.map(|stratum| &stratum.overall)) {
                standings.push(ClockStanding {
                    clock: words.to_string(),
                    player: evidence.players[player].clone(),
                    reward: estimate(Some(&sample), bootstrap),
                });
            }
        }
    }
    standings
}
