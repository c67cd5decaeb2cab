//! A race: players that are shown to be weaker than the best are dropped, so that the time
//! is spent on players that may be the best.
//!
//! Successive elimination (E. Even-Dar, S. Mannor & Y. Mansour, "Action elimination and
//! stopping conditions for the multi-armed bandit and reinforcement learning problems",
//! JMLR 7, 2006) with a bound that holds at any time: for each ordered pair of players, an
//! e-process [bets](crate::stats::betting) that the first player is better than the second
//! in a lap. It bets on the differences within blocks in which the two met, and between
//! blocks of the same lap and game in which they played the same opponents. Games have
//! equal weight.
//!
//! A player is dropped after a lap if `keep` players were shown to be better. With `n`
//! players, each e-process has an error rate of `alpha / (keep (n - keep))`: a player that
//! is one of the `keep` best in every lap is dropped with a probability of at most `alpha`,
//! for any number of laps.

use std::collections::BTreeMap;

use super::{PlayedBlock, RaceRule};
use crate::stats::betting::EProcess;

/// A player that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Number of the player.
    pub player: u32,
    /// Laps it took part in.
    pub laps: u32,
    /// Players that were shown to be better.
    pub better: Vec<u32>,
}

/// A race after some laps.
#[derive(Clone, Debug)]
pub struct Race {
    rule: RaceRule,
    n_laps: u32,
    pub(super) running: Vec<u32>,
    dropped: Vec<Dropped>,
    /// By the player that is tested to be better, then the other.
    gamblers: BTreeMap<(u32, u32), EProcess>,
}

impl Race {
    /// A race of `runners` that has not begun.
    #[must_use]
    pub fn new(runners: &[u32], rule: RaceRule) -> Self {
        let (n, keep) = (runners.len() as f64, f64::from(rule.keep));
        // Players that are never dropped need no e-process.
        let alpha = rule.alpha / (keep * (n - keep)).max(1.0);
        let pairs = runners.iter().flat_map(|&a| runners.iter().map(move |&b| (a, b)));
        let gamblers = pairs.filter(|(a, b)| a != b);
        let gamblers = gamblers.map(|pair| (pair, EProcess::against(0.0, alpha))).collect();
        Self { rule, n_laps: 0, running: runners.to_vec(), dropped: vec![], gamblers }
    }

    /// Adds the blocks of one more lap, and drops players that were shown to be weaker.
    pub fn add_lap(&mut self, blocks: &[PlayedBlock]) {
        self.n_laps += 1;
        let mut of_player: BTreeMap<u32, Vec<&PlayedBlock>> = BTreeMap::new();
        for block in blocks {
            block
                .players
                .iter()
                .for_each(|&player| of_player.entry(player).or_default().push(block));
        }
        let of = |player: u32| of_player.get(&player).into_iter().flatten().copied();
        for &a in &self.running {
            for &b in &self.running {
                if let Some(gambler) = self.gamblers.get_mut(&(a, b)) {
                    let of_b_alone = of(b).filter(|block| !block.players.contains(&a));
                    gambler.add_lap(&differences(a, b, of(a).chain(of_b_alone)));
                }
            }
        }
        let better = |&b: &u32| -> Vec<u32> {
            let shown = |a: &u32| self.gamblers.get(&(*a, b)).is_some_and(EProcess::rejects);
            self.running.iter().copied().filter(shown).collect()
        };
        let mut weaker: Vec<(u32, Vec<u32>)> = (self.running.iter())
            .map(|player| (*player, better(player)))
            .filter(|(_, better)| better.len() >= self.rule.keep as usize)
            .collect();
        // The player with the most better players first, in case two are shown to be better
        // than each other.
        weaker.sort_by_key(|(_, better)| std::cmp::Reverse(better.len()));
        for (player, better) in weaker {
            if !self.is_over() {
                self.running.retain(|&other| other != player);
                self.dropped.push(Dropped { player, laps: self.n_laps, better });
            }
        }
    }

    /// Whether only the players remain that are never dropped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.running.len() <= self.rule.keep as usize
    }

    /// The dropped players, in the order in which they were dropped.
    #[must_use]
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }
}

/// What blocks of one of two players have in common to be compared: the game,
/// the repetition and the others.
type Alike = (u32, u32, Vec<u32>);

/// A mean reward; `None` if the block does not count.
type Reward = Option<f64>;

/// Results of `a` against `b` as scores from 0 to 1 with weights: a score for each block
/// that both played, and for each pair of blocks that differ only in which of the two
/// played.
fn differences<'a>(
    a: u32,
    b: u32,
    blocks: impl Iterator<Item = &'a PlayedBlock>,
) -> Vec<(f64, f64)> {
    let mut found: Vec<(u32, f64)> = vec![];
    let mut alone: BTreeMap<Alike, [Option<Reward>; 2]> = BTreeMap::new();
    for block in blocks {
        let reward = |player: u32| {
            let at = block.players.iter().position(|&other| other == player)?;
            Some(block.rewards.as_ref().map(|rewards| rewards[at]))
        };
        match [reward(a), reward(b)] {
            [Some(of_a), Some(of_b)] => found.push((block.stratum, difference(of_a, of_b))),
            [None, None] => {}
            of_one => {
                let others =
                    block.players.iter().copied().filter(|&player| player != a && player != b);
                let key = (block.stratum, block.repetition, others.collect());
                let both = alone.entry(key).or_default();
                for (mine, new) in both.iter_mut().zip(of_one) {
                    *mine = mine.or(new);
                }
            }
        }
    }
    for ((stratum, ..), both) in alone {
        if let [Some(of_a), Some(of_b)] = both {
            found.push((stratum, difference(of_a, of_b)));
        }
    }
    let mut n_in: BTreeMap<u32, f64> = BTreeMap::new();
    found.iter().for_each(|(stratum, _)| *n_in.entry(*stratum).or_default() += 1.0);
    let fewest = n_in.values().copied().fold(f64::INFINITY, f64::min);
    let weighted = |&(stratum, score): &(u32, f64)| (score, fewest / n_in[&stratum]);
    found.iter().map(weighted).collect()
}

/// A difference of rewards from 0 to 1; none if one of them does not count.
fn difference(a: Reward, b: Reward) -> f64 {
    match (a, b) {
        (Some(a), Some(b)) => ((a - b + 100.0) / 200.0).clamp(0.0, 1.0),
        _ => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::formats::tests::block;

    /// A lap of a round robin in which a player wins with the chance of its
    /// strength over the sum of both.
    fn lap(running: &[u32], strengths: &[f64], rng: &mut Pcg64Mcg) -> Vec<PlayedBlock> {
        let mut blocks = vec![];
        for (index, &a) in running.iter().enumerate() {
            for &b in &running[index + 1..] {
                let [of_a, of_b] = [a, b].map(|player| strengths[player as usize]);
                let won = rng.random_bool(of_a / (of_a + of_b));
                blocks.push(block(a, b, if won { [100.0, 0.0] } else { [0.0, 100.0] }));
            }
        }
        blocks
    }

    fn race(strengths: &[f64], keep: u32, max_laps: u32, seed: u64) -> Race {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let runners: Vec<u32> = (0..strengths.len() as u32).collect();
        let mut race = Race::new(&runners, RaceRule { alpha: 0.05, keep });
        while !race.is_over() && race.n_laps < max_laps {
            let running = race.running.clone();
            race.add_lap(&lap(&running, strengths, &mut rng));
        }
        race
    }

    #[test]
    fn weaker_players_are_dropped_early_and_the_best_stay() {
        let race = race(&[0.1, 10.0, 9.0, 0.1], 1, 40, 1);
        let mut dropped: Vec<u32> = race.dropped().iter().map(|dropped| dropped.player).collect();
        dropped.sort_unstable();
        assert_eq!(dropped, [0, 3]);
        assert!(race.dropped().iter().all(|dropped| dropped.laps <= 10), "{:?}", race.dropped());
        assert!(race.dropped()[0].better.iter().all(|better| [1, 2].contains(better)));
        assert_eq!(race.running, [1, 2]);
    }

    #[test]
    fn as_many_as_asked_for_are_kept() {
        let race = race(&[8.0, 4.0, 2.0, 1.0, 0.5], 2, 5000, 2);
        assert!(race.is_over());
        assert_eq!(race.running, [0, 1]);
    }

    #[test]
    fn one_of_the_best_is_seldom_dropped() {
        // Four equals, so that whoever is dropped was one of the best.
        let wrong = (0..400).filter(|&seed| !race(&[1.0; 4], 1, 60, seed).dropped().is_empty());
        // Of 12 pairs each gambler errs with 5 % / 3, so 20 % is all that is promised here.
        assert!(wrong.count() <= 80);
        let best_dropped = (0..400).filter(|&seed| {
            let race = race(&[1.2, 1.0, 1.0, 1.0], 1, 60, seed);
            !race.running.contains(&0)
        });
        // 5 % are allowed; three standard errors are 13.
        assert!(best_dropped.count() <= 33);
    }

    #[test]
    fn differences_are_between_blocks_alike() {
        let other = |game: u32, block: PlayedBlock| PlayedBlock { stratum: game, ..block };
        let blocks = [
            block(0, 1, [100.0, 0.0]),
            block(0, 2, [100.0, 0.0]),
            block(1, 2, [50.0, 50.0]),
            other(1, block(0, 1, [0.0, 100.0])),
            // No block of 1 against 3 to compare with.
            block(0, 3, [100.0, 0.0]),
            other(1, PlayedBlock { rewards: None, ..block(0, 2, [0.0; 2]) }),
            other(1, block(1, 2, [100.0, 0.0])),
        ];
        let expected = [(1.0, 1.0), (0.0, 1.0), (0.75, 1.0), (0.5, 1.0)];
        assert_eq!(differences(0, 1, blocks.iter()), expected);
        let expected = [(0.0, 0.5), (1.0, 1.0), (0.25, 0.5)];
        assert_eq!(differences(1, 0, blocks[..4].iter()), expected);
    }
}
