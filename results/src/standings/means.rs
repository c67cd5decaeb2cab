//! Mean rewards: overall, by game, by role and by clock.

use super::rows::{ClockStanding, Difference, GameStanding, PlayerStanding, RoleStanding};
use super::samples::{Sample, Sampled, average, average_over_games, estimate, rounded};
use super::strata::Stratum;
use crate::bootstrap::Bootstrap;
use crate::evidence::Evidence;
use crate::stats::interval::interval;

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

/// What a difference may be.
const BOUNDS: [f64; 2] = [-100.0, 100.0];

pub(super) fn players(
    evidence: &Evidence,
    records: &[Vec<Stratum>],
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<PlayerStanding> {
    let Some(&leader) = order.first() else { return vec![] };
    let behind: Vec<Option<Behind>> = (order.iter())
        .map(|&player| (player != leader).then_some(player))
        .map(|player| Behind::of(&records[leader], &records[player?], evidence))
        .collect();
    let n_rivals = behind.iter().flatten().count();
    let standing = |(&player, behind): (&usize, Option<Behind>)| {
        let strata: Vec<&Sampled> = sampled[player].iter().collect();
        PlayerStanding {
            player: evidence.players[player].clone(),
            n_games: strata.chunk_by(|a, b| a.game == b.game).count() as u64,
            reward: estimate(average_over_games(&strata).as_ref(), bootstrap),
            behind: behind.map(|behind| behind.difference(n_rivals, bootstrap.level)),
            n_faults: evidence.conduct[player].faults.iter().sum(),
        }
    };
    order.iter().zip(behind).map(standing).collect()
}

/// The leader's mean less another player's, over the games and clocks of both.
struct Behind {
    sample: Sample,
    n_games: u64,
}

impl Behind {
    fn of(leader: &[Stratum], other: &[Stratum], evidence: &Evidence) -> Option<Self> {
        let sampled: Vec<Sampled> = leader
            .iter()
            .filter_map(|a| {
                let b = other.iter().find(|b| (b.game, b.clock) == (a.game, a.clock))?;
                let part = a.clusters_with(b).difference()?;
                let n_blocks = a.n_blocks + b.n_blocks - both(evidence, a, b);
                let overall = Sample { mean: part.mean, parts: vec![part], n_matches: 0, n_blocks };
                Some(Sampled { game: a.game, clock: a.clock, overall, roles: vec![] })
            })
            .collect();
        let strata: Vec<&Sampled> = sampled.iter().collect();
        let n_games = strata.chunk_by(|a, b| a.game == b.game).count() as u64;
        Some(Self { sample: average_over_games(&strata)?, n_games })
    }

    /// With the interval that allows for the choice of the leader among
    /// `n_rivals` and itself by the same results: whoever of equals had luck leads.
    /// Its lower end holds for all who might have led at once (C. Dunnett, 1955, and
    /// J. Hsu, "Multiple comparisons", 1996, chapter 4: comparisons of one with
    /// many, here by Bonferroni's inequality). Its upper end needs no such
    /// allowance, since who leads by luck is less far ahead in truth.
    fn difference(&self, n_rivals: usize, level: f64) -> Difference {
        let tail = (1.0 - level) / 2.0;
        let tails = [tail / n_rivals.max(1) as f64, tail];
        let interval = interval(&self.sample.parts, BOUNDS, tails);
        Difference {
            mean: rounded(self.sample.mean),
            interval: interval.map(|interval| interval.map(rounded)),
            n_games: self.n_games,
            n_blocks: self.sample.n_blocks,
        }
    }
}

/// Blocks in which both played.
fn both(evidence: &Evidence, a: &Stratum, b: &Stratum) -> u64 {
    let key = (a.player.min(b.player), a.player.max(b.player), a.game, a.clock);
    evidence.tally.both.get(&key).copied().unwrap_or_default()
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
