//! A knockout: the bracket, and who is through.

use serde::Serialize;

use super::{Encounter, PlayedBlock, encounters};

/// How a tie was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// There was no opponent.
    Bye,
    /// By the better mean reward.
    Reward,
    /// By the better mean reward of this further lap, from 1.
    ExtraLap(u32),
    /// All was level: the better seed is through.
    Seed,
}

/// One tie of a bracket.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tie {
    /// Seeds of the two, from 1, in the order of the bracket; `None` for a bye.
    pub seeds: [Option<u32>; 2],
    /// The players.
    pub players: [Option<u32>; 2],
    /// Mean rewards of the two: of the round, then of each further lap.
    pub means: Vec<Option<[f64; 2]>>,
    /// The player that advances, and why; `None` if it is not decided.
    pub winner: Option<(u32, Decided)>,
}

/// Ties that are to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// The round, from 1.
    pub round: u32,
    /// Which further lap of it, from 0.
    pub extra: u32,
    /// The pairings, in the order of the bracket.
    pub pairs: Vec<[u32; 2]>,
}

/// A knockout after some rounds and further laps.
#[derive(Clone, Debug, PartialEq)]
pub struct Bracket {
    /// Rounds that have begun, each with its ties from the top of the bracket.
    pub rounds: Vec<Vec<Tie>>,
    /// What is to be played next; `None` if all is decided.
    pub open: Option<Open>,
}

/// Seeds, from 0, from the top of a bracket of `size` places: the best two can
/// meet in the last round only, the best four in the two last, and so on; in
/// each round the better seed has the weaker opponent.
///
/// # Panics
/// If `size` is no power of two.
#[must_use]
pub fn standard_seeding(size: u32) -> Vec<u32> {
    assert!(size.is_power_of_two(), "a bracket has 1, 2, 4, 8... places");
    let mut seeds = vec![0];
    while seeds.len() < size as usize {
        let places = 2 * seeds.len() as u32;
        seeds = seeds.iter().flat_map(|&seed| [seed, places - 1 - seed]).collect();
    }
    seeds
}

/// Number of rounds of a knockout of `n_players` players.
#[must_use]
pub fn n_rounds(n_entrants: u32) -> u32 {
    n_entrants.next_power_of_two().trailing_zeros()
}

/// The bracket after these rounds and further laps, each the blocks of its ties.
#[must_use]
pub fn bracket(entrants: &[u32], extra_laps: u32, played: &[Vec<PlayedBlock>]) -> Bracket {
    let size = (entrants.len() as u32).next_power_of_two();
    let mut slots: Vec<Option<u32>> = standard_seeding(size)
        .into_iter()
        .map(|seed| (seed < entrants.len() as u32).then_some(seed))
        .collect();
    let mut played = played.iter().map(|blocks| encounters(blocks));
    let mut bracket = Bracket { rounds: vec![], open: None };
    while slots.len() > 1 {
        let mut ties: Vec<Tie> = slots.chunks(2).map(|pair| tie(pair, entrants)).collect();
        let open = decide(&mut ties, extra_laps, &mut played);
        let round = bracket.rounds.len() as u32 + 1;
        bracket.rounds.push(ties);
        if let Some((extra, pairs)) = open {
            bracket.open = Some(Open { round, extra, pairs });
            break;
        }
        let seed_of = |player: u32| entrants.iter().position(|&other| other == player);
        let through = |tie: &Tie| tie.winner.and_then(|(player, _)| Some(seed_of(player)? as u32));
        slots = bracket.rounds[bracket.rounds.len() - 1].iter().map(through).collect();
    }
    bracket
}

fn tie(pair: &[Option<u32>], entrants: &[u32]) -> Tie {
    let seeds = [pair[0], pair[1]];
    let players = seeds.map(|seed| seed.map(|seed| entrants[seed as usize]));
    let winner = match players {
        [Some(player), None] | [None, Some(player)] => Some((player, Decided::Bye)),
        _ => None,
    };
    Tie { seeds: seeds.map(|seed| seed.map(|seed| seed + 1)), players, means: vec![], winner }
}

/// Decides the ties of a round by what was played; gives what is to be played
/// if they are not all decided.
fn decide(
    ties: &mut [Tie],
    extra_laps: u32,
    played: &mut impl Iterator<Item = Vec<Encounter>>,
) -> Option<(u32, Vec<[u32; 2]>)> {
    for extra in 0..=extra_laps {
        let undecided = |tie: &Tie| match (tie.players, tie.winner) {
            ([Some(a), Some(b)], None) => Some([a, b]),
            _ => None,
        };
        let pairs: Vec<[u32; 2]> = ties.iter().filter_map(undecided).collect();
        if pairs.is_empty() {
            return None;
        }
        let Some(round) = played.next() else { return Some((extra, pairs)) };
        for tie in ties.iter_mut() {
            let Some([a, b]) = undecided(tie) else { continue };
            let met = round.iter().find(|met| met.mean(a).is_some() && met.mean(b).is_some());
            let means = met.and_then(|met| Some([met.mean(a)?, met.mean(b)?]));
            tie.means.push(means);
            let by = if extra == 0 { Decided::Reward } else { Decided::ExtraLap(extra) };
            tie.winner = match means.map_or(0.0, |[a, b]| a - b) {
                difference if difference > super::LEVEL => Some((a, by)),
                difference if difference < -super::LEVEL => Some((b, by)),
                _ if extra == extra_laps => {
                    let better = if tie.seeds[0] < tie.seeds[1] { a } else { b };
                    Some((better, Decided::Seed))
                }
                _ => None,
            };
        }
    }
    None
}

impl Bracket {
    /// All entrants, best first: who got further is better, equals by seed.
    #[must_use]
    pub fn ranking(&self, entrants: &[u32]) -> Vec<u32> {
        let lost_in = |player: u32| {
            let lost = |ties: &Vec<Tie>| {
                ties.iter().any(|tie| {
                    tie.players.contains(&Some(player))
                        && tie.winner.is_some_and(|(winner, _)| winner != player)
                })
            };
            self.rounds.iter().position(lost).unwrap_or(usize::MAX)
        };
        let mut ranking = entrants.to_vec();
        ranking.sort_by_key(|&player| std::cmp::Reverse(lost_in(player)));
        ranking
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::tests::block;

    #[test]
    fn seeds_stand_where_they_always_do() {
        assert_eq!(standard_seeding(1), [0]);
        assert_eq!(standard_seeding(2), [0, 1]);
        assert_eq!(standard_seeding(4), [0, 3, 1, 2]);
        assert_eq!(standard_seeding(8), [0, 7, 3, 4, 1, 6, 2, 5]);
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(n_rounds), [0, 1, 2, 2, 3, 3, 4]);
    }

    /// Plays a bracket of seeds 0..n in which the better seed wins.
    fn favourites(n: u32) -> Vec<Vec<[u32; 2]>> {
        let entrants: Vec<u32> = (0..n).collect();
        let (mut played, mut met) = (vec![], vec![]);
        while let Some(open) = bracket(&entrants, 2, &played).open {
            assert_eq!((open.round, open.extra), (met.len() as u32 + 1, 0));
            let win = |&[a, b]: &[u32; 2]| {
                let rewards = if a < b { [100.0, 0.0] } else { [0.0, 100.0] };
                block(a, b, rewards)
            };
            played.push(open.pairs.iter().map(win).collect());
            met.push(open.pairs);
        }
        assert_eq!(bracket(&entrants, 2, &played).ranking(&entrants)[0], 0);
        met
    }

    #[test]
    fn brackets_of_5_6_and_8() {
        assert_eq!(favourites(5), [vec![[3, 4]], vec![[0, 3], [1, 2]], vec![[0, 1]]]);
        assert_eq!(favourites(6), [vec![[3, 4], [2, 5]], vec![[0, 3], [1, 2]], vec![[0, 1]]]);
        let eight = [vec![[0, 7], [3, 4], [1, 6], [2, 5]], vec![[0, 3], [1, 2]], vec![[0, 1]]];
        assert_eq!(favourites(8), eight);
        assert_eq!(favourites(2), [vec![[0, 1]]]);
        assert!(favourites(1).is_empty());
    }

    #[test]
    fn level_ties_go_on_and_then_the_seed_decides() {
        let entrants = [7, 5, 3, 1];
        let level = |a, b| block(a, b, [50.0, 50.0]);
        // 7 meets 1, 5 meets 3.
        let mut played = vec![vec![level(7, 1), block(5, 3, [40.0, 60.0])]];
        let after = bracket(&entrants, 2, &played);
        assert_eq!(after.open, Some(Open { round: 1, extra: 1, pairs: vec![[7, 1]] }));
        assert_eq!(after.rounds[0][1].winner, Some((3, Decided::Reward)));
        played.push(vec![level(7, 1)]);
        assert_eq!(bracket(&entrants, 2, &played).open.map(|open| open.extra), Some(2));
        played.push(vec![level(7, 1)]);
        let after = bracket(&entrants, 2, &played);
        assert_eq!(after.rounds[0][0].winner, Some((7, Decided::Seed)));
        assert_eq!(after.rounds[0][0].means.len(), 3);
        assert_eq!(after.open, Some(Open { round: 2, extra: 0, pairs: vec![[7, 3]] }));
        // No block that counts is level, too.
        let void = PlayedBlock { rewards: None, ..level(7, 3) };
        played.push(vec![void]);
        played.push(vec![block(7, 3, [0.0, 100.0])]);
        let after = bracket(&entrants, 2, &played);
        assert_eq!(after.rounds[1][0].winner, Some((3, Decided::ExtraLap(1))));
        assert_eq!((after.open.clone(), after.ranking(&entrants)), (None, vec![3, 7, 5, 1]));
    }

    proptest! {
        #[test]
        fn every_knockout_ends_with_everybody_out_but_one(
            n in 2u32..40,
            extra_laps in 0u32..3,
            seed in any::<u64>(),
        ) {
            let entrants: Vec<u32> = (0..n).rev().collect();
            let mut played: Vec<Vec<PlayedBlock>> = vec![];
            let mut state = seed;
            while let Some(open) = bracket(&entrants, extra_laps, &played).open {
                prop_assert!(open.extra <= extra_laps && open.round <= n_rounds(n));
                let blocks = open.pairs.iter().map(|&[a, b]| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                    block(a, b, [[100.0, 0.0], [50.0, 50.0], [0.0, 100.0]][(state >> 60) as usize % 3])
                });
                played.push(blocks.collect());
            }
            let whole = bracket(&entrants, extra_laps, &played);
            prop_assert_eq!(whole.rounds.len() as u32, n_rounds(n));
            let decided = whole.rounds.iter().flatten().filter(|tie| {
                tie.winner.is_some_and(|(_, by)| by != Decided::Bye)
            });
            prop_assert_eq!(decided.count() as u32, n - 1);
            let mut ranking = whole.ranking(&entrants);
            ranking.sort_unstable();
            prop_assert_eq!(ranking, (0..n).collect::<Vec<_>>());
        }
    }
}
