//! Mean rewards: overall, by game, by role and by clock.

use super::rows::{
    BudgetStanding, Difference, Estimate, GameStanding, PlayerStanding, RoleStanding,
};
use super::samples::{Sample, Sampled, average, average_over_games, estimate, rounded};
use super::strata::Stratum;
use crate::evidence::Evidence;
use crate::stats::bootstrap::Bootstrap;
use crate::stats::interval::{DIFFERENCES, Part, interval};

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
    let Some(&leader) = order.first() else { return vec![] };
    let leads: Vec<Option<(Sample, u64)>> = (order.iter())
        .map(|&player| (player != leader).then_some(player))
        .map(|player| sampled_difference(&records[leader], &records[player?], evidence))
        .collect();
    let n_rivals = leads.iter().flatten().count();
    let standing = |(&player, lead): (&usize, Option<(Sample, u64)>)| {
        let strata: Vec<&Sampled> = sampled[player].iter().collect();
        PlayerStanding {
            player: evidence.players[player].clone(),
            n_games: strata.chunk_by(|a, b| a.game == b.game).count() as u64,
            reward: estimate(average_over_games(&strata).as_ref(), bootstrap),
            behind: lead.map(|(sample, n_games)| {
                let interval = behind_interval(&sample.parts, n_rivals, bootstrap.level);
                difference_of(&sample, n_games, interval)
            }),
            n_faults: evidence.conduct[player].iter().sum(),
        }
    };
    order.iter().zip(leads).map(standing).collect()
}

/// A difference with its interval.
pub(super) fn difference_of(
    sample: &Sample,
    n_games: u64,
    interval: Option<[f64; 2]>,
) -> Difference {
    Difference {
        mean: rounded(sample.mean),
        interval: interval.map(|interval| interval.map(rounded)),
        n_exact: sample.n_exact(),
        n_games,
        n_blocks: sample.n_blocks,
    }
}

/// The mean of `a` less that of `b`, over the games and clocks of both, and the
/// number of games that both played.
pub(super) fn sampled_difference(
    a: &[Stratum],
    b: &[Stratum],
    evidence: &Evidence,
) -> Option<(Sample, u64)> {
    let sampled: Vec<Sampled> = a
        .iter()
        .filter_map(|a| {
            let b = b.iter().find(|b| (b.game, b.clock) == (a.game, a.clock))?;
            let part = a.clusters_with(b).difference()?;
            let n_blocks = a.n_blocks + b.n_blocks - both(evidence, a, b);
            let overall = Sample { mean: part.mean, parts: vec![part], n_matches: 0, n_blocks };
            Some(Sampled { game: a.game, clock: a.clock, overall, roles: vec![] })
        })
        .collect();
    let strata: Vec<&Sampled> = sampled.iter().collect();
    let n_games = strata.chunk_by(|a, b| a.game == b.game).count() as u64;
    Some((average_over_games(&strata)?, n_games))
}

/// The interval of what a player is behind the leader, which allows for the choice
/// of the leader among `n_rivals` and itself by the same results: whoever of
/// equals had luck leads. Its lower end holds for all who might have led at once
/// (C. Dunnett, 1955, and J. Hsu, "Multiple comparisons", 1996, chapter 4:
/// comparisons of one with many, here by Bonferroni's inequality). Its upper end
/// needs no such allowance, since who leads by luck is less far ahead in truth.
fn behind_interval(parts: &[Part], n_rivals: usize, level: f64) -> Option<[f64; 2]> {
    let tail = (1.0 - level) / 2.0;
    interval(parts, DIFFERENCES, [tail / n_rivals.max(1) as f64, tail])
}

/// Blocks in which both played.
fn both(evidence: &Evidence, a: &Stratum, b: &Stratum) -> u64 {
    let key = (a.player.min(b.player), a.player.max(b.player), a.game, a.clock);
    evidence.tally.both.get(&key).copied().unwrap_or_default()
}

/// The players with matches in a part of their strata, in order, with their mean rewards
/// over this part.
fn rewards<'a, S: Iterator<Item = &'a Sample>>(
    evidence: &Evidence,
    sampled: &'a [Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
    part: impl Fn(std::slice::Iter<'a, Sampled>) -> S,
) -> Vec<(String, Estimate)> {
    let reward = |&player: &usize| {
        let sample = average(part(sampled[player].iter()))?;
        Some((evidence.players[player].clone(), estimate(Some(&sample), bootstrap)))
    };
    order.iter().filter_map(reward).collect()
}

pub(super) fn by_game(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<GameStanding> {
    let mut standings = vec![];
    for (game, name) in evidence.games.iter().enumerate() {
        let rewards = rewards(evidence, sampled, order, bootstrap, |strata| {
            strata.filter(|of| of.game as usize == game).map(|of| &of.overall)
        });
        let standing = |(player, reward)| GameStanding { game: name.clone(), player, reward };
        standings.extend(rewards.into_iter().map(standing));
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
            let rewards = rewards(evidence, sampled, order, bootstrap, |strata| {
                let roles = strata.filter(|of| of.game as usize == game).flat_map(|of| &of.roles);
                roles.filter(|(of, _)| *of as usize == role).map(|(_, sample)| sample)
            });
            let standing = |(player, reward)| {
                let (game, role) = (name.clone(), role_name.clone());
                RoleStanding { game, role, player, reward }
            };
            standings.extend(rewards.into_iter().map(standing));
        }
    }
    standings
}

pub(super) fn by_budget(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<BudgetStanding> {
    let mut standings = vec![];
    for (clock, words) in evidence.clocks.iter().enumerate() {
        let rewards = rewards(evidence, sampled, order, bootstrap, |strata| {
            strata.filter(|of| of.clock as usize == clock).map(|of| &of.overall)
        });
        let standing =
            |(player, reward)| BudgetStanding { budget: words.to_string(), player, reward };
        standings.extend(rewards.into_iter().map(standing));
    }
    standings
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::stats::calibration::{Field, report, slow};

    /// How often the intervals of all but the leader cover what these are behind
    /// it, and how often all do at once; with the choice of the leader allowed for,
    /// and without.
    fn coverage(field: Field, n_blocks: usize, n_fields: usize, seed: u64) -> [[f64; 2]; 2] {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let n_rivals = field.n_players - 1;
        let mut covered = [[0.0; 2]; 2];
        for _ in 0..n_fields {
            let (truth, blocks) = field.draw(n_blocks, &mut rng);
            let leader = field.leader(&blocks);
            for (covered, n_allowed) in covered.iter_mut().zip([n_rivals, 1]) {
                let covers = |player: usize| {
                    let differences: Vec<f64> =
                        blocks.iter().map(|block| block[leader] - block[player]).collect();
                    let part = Part::of(&differences).unwrap();
                    let [low, high] = behind_interval(&[part], n_allowed, 0.95).unwrap();
                    (low..=high).contains(&(truth[leader] - truth[player]))
                };
                let n = (0..field.n_players).filter(|&p| p != leader && covers(p)).count();
                covered[0] += n as f64 / n_rivals as f64 / n_fields as f64;
                covered[1] += f64::from(u8::from(n == n_rivals)) / n_fields as f64;
            }
        }
        covered
    }

    /// Among equals somebody leads by luck.
    #[test]
    fn intervals_behind_a_leader_by_luck_cover_the_truth() {
        let n_fields = if slow() { 4000 } else { 1000 };
        for n_players in [2, 4, 10] {
            for n_blocks in [3, 10, 30] {
                let field = Field { n_players, spread: 0.0, sd: 20.0 };
                let [[each, all], plain] = coverage(field, n_blocks, n_fields, 1);
                let case =
                    format!("{n_players} players, {n_blocks} blocks: {each} {all}, {plain:?}");
                report(&case);
                // Three standard errors of 1000 are 2.1 %.
                assert!(each >= 0.93, "{case}");
                if n_players > 2 {
                    assert!(plain[0] < each, "{case}");
                }
            }
        }
    }
}
