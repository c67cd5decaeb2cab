//! The pairings of the next round of a swiss system.
//!
//! Players are ranked by points, then seed. If not all players can be paired, the
//! lowest-ranked of those with the fewest byes get a bye. Then the highest player without
//! an opponent gets one, preferably with the same points: first the best of the lower half
//! of these players, then those below and above it, then players with fewer points. No two
//! players meet twice if the earlier rounds allow it: before an opponent is chosen, a
//! matching algorithm checks that the others can still be paired.

use results::formats::swiss::SwissRow;

use super::matching::has_perfect_matching;

/// The matches of the next round, the highest first: sets of `n_seats` players.
/// `rows` in the order of seeds.
pub(super) fn pair(rows: &[SwissRow], n_seats: usize) -> Vec<Vec<u32>> {
    let mut ranked: Vec<&SwissRow> = rows.iter().collect();
    ranked.sort_by_key(|row| std::cmp::Reverse(row.half_points));
    for _ in 0..ranked.len() % n_seats {
        give_bye(&mut ranked);
    }
    if n_seats == 2 { pairs(ranked) } else { groups(ranked, n_seats) }
}

fn give_bye(ranked: &mut Vec<&SwissRow>) {
    let fewest = ranked.iter().map(|row| row.n_byes).min().unwrap_or(0);
    let last = ranked.iter().rposition(|row| row.n_byes == fewest);
    ranked.remove(last.expect("somebody has the fewest"));
}

/// How often two have met.
fn n_met(a: &SwissRow, b: &SwissRow) -> usize {
    a.opponents.iter().filter(|&&opponent| opponent == b.player).count()
}

fn pairs(mut ranked: Vec<&SwissRow>) -> Vec<Vec<u32>> {
    // The fewest meetings with which everybody can be paired.
    let allowed = (0..).find(|&most| can_be_paired(&ranked, most));
    let allowed = allowed.expect("with all meetings allowed everybody can be paired");
    let mut pairs = vec![];
    while !ranked.is_empty() {
        let first = ranked.remove(0);
        let n_level = ranked.iter().filter(|row| row.half_points == first.half_points).count();
        // As many as stand in the lower half of the level ones, the first counted.
        let half = n_level.div_ceil(2).saturating_sub(1);
        let mut order = (half..n_level).chain((0..half).rev()).chain(n_level..ranked.len());
        let fits = |&index: &usize| {
            let mut others = ranked.clone();
            let second = others.remove(index);
            n_met(first, second) <= allowed && can_be_paired(&others, allowed)
        };
        let index = order.find(fits).expect("everybody can still be paired");
        pairs.push(vec![first.player, ranked.remove(index).player]);
    }
    pairs
}

/// Whether all can be paired so that no two have met more often than that.
fn can_be_paired(rows: &[&SwissRow], most: usize) -> bool {
    // With this many possible opponents a pairing exists: see `matching`.
    let n_met_most = rows.iter().map(|row| row.opponents.len()).max().unwrap_or(0);
    rows.len() >= 2 * (n_met_most + 1)
        || has_perfect_matching(rows.len(), |a, b| n_met(rows[a], rows[b]) <= most)
}

/// Groups of more than two: the highest player, and in each share of the level
/// ones the next that it and the others of the group met least.
fn groups(mut ranked: Vec<&SwissRow>, n_seats: usize) -> Vec<Vec<u32>> {
    let mut groups = vec![];
    while !ranked.is_empty() {
        let first = ranked.remove(0);
        let n_level = 1 + ranked.iter().filter(|row| row.half_points == first.half_points).count();
        let mut group = vec![first];
        for seat in 1..n_seats {
            // Those of the group that stood before are taken out.
            let wanted = (seat * n_level / n_seats).saturating_sub(seat);
            let cost = |&index: &usize| {
                let met: usize = group.iter().map(|row| n_met(row, ranked[index])).sum();
                (met, index.abs_diff(wanted), index)
            };
            let index = (0..ranked.len()).min_by_key(cost).expect("byes leave whole groups");
            group.push(ranked.remove(index));
        }
        groups.push(group.iter().map(|row| row.player).collect());
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use results::formats::PlayedBlock;
    use results::formats::swiss::table;

    use super::*;

    /// Plays rounds in which `better` says whether one player beats another;
    /// gives the pairings of each round.
    fn play(
        n: u32,
        n_seats: usize,
        n_rounds: usize,
        mut result: impl FnMut(u32, u32) -> f64,
    ) -> Vec<Vec<Vec<u32>>> {
        let entrants: Vec<u32> = (0..n).collect();
        let (mut rounds, mut pairings): (Vec<Vec<PlayedBlock>>, _) = (vec![], vec![]);
        for _ in 0..n_rounds {
            let mut rows = table(&entrants, n_seats as u32, &rounds);
            rows.sort_by_key(|row| row.player);
            let pairs = pair(&rows, n_seats);
            let block = |players: &Vec<u32>| {
                let mut players = players.clone();
                players.sort_unstable();
                let rewards = players.iter().map(|&a| {
                    let sum: f64 = players
                        .iter()
                        .filter(|&&b| a != b)
                        .map(|&b| if a < b { result(a, b) } else { 100.0 - result(b, a) })
                        .sum();
                    sum / (n_seats - 1) as f64
                });
                PlayedBlock {
                    stratum: 0,
                    repetition: 0,
                    rewards: Some(rewards.collect()),
                    players: players.clone(),
                }
            };
            let blocks = pairs.iter().map(block).collect();
            rounds.push(blocks);
            pairings.push(pairs);
        }
        pairings
    }

    #[test]
    fn eight_players_when_the_better_seed_wins() {
        let rounds = play(8, 2, 3, |_, _| 100.0);
        assert_eq!(rounds[0], [[0, 4], [1, 5], [2, 6], [3, 7]]);
        assert_eq!(rounds[1], [[0, 2], [1, 3], [4, 6], [5, 7]]);
        assert_eq!(rounds[2], [[0, 1], [2, 4], [3, 5], [6, 7]]);
    }

    #[test]
    fn with_five_players_the_bye_goes_from_below() {
        let rounds = play(5, 2, 3, |_, _| 100.0);
        assert_eq!(rounds[0], [[0, 2], [1, 3]]);
        // 0, 1 and 4 have a point; 3 is the lowest without a bye.
        assert_eq!(rounds[1], [[0, 1], [4, 2]]);
        // 2 has beaten 4; all but 0 have one point, and 2 is the lowest without a bye
        // among them, so that 0 has to meet one with less that it has not met.
        assert_eq!(rounds[2], [[0, 3], [1, 4]]);
    }

    #[test]
    fn draws_keep_all_together() {
        let rounds = play(6, 2, 3, |_, _| 50.0);
        assert_eq!(rounds[0], [[0, 3], [1, 4], [2, 5]]);
        let met: BTreeSet<Vec<u32>> = rounds.concat().into_iter().collect();
        assert_eq!(met.len(), 9, "nobody met twice: {met:?}");
    }

    #[test]
    fn groups_of_three_meet_others_each_round() {
        let rounds = play(9, 3, 2, |_, _| 50.0);
        assert_eq!(rounds[0], [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
        let pairs = |round: &Vec<Vec<u32>>| -> BTreeSet<(u32, u32)> {
            let all = round.iter().flat_map(|group| {
                group.iter().flat_map(move |&a| group.iter().map(move |&b| (a, b)))
            });
            all.filter(|(a, b)| a < b).collect()
        };
        assert!(pairs(&rounds[0]).is_disjoint(&pairs(&rounds[1])), "{rounds:?}");
        let ten = play(11, 3, 2, |_, _| 50.0);
        assert!(ten.iter().all(|round| round.len() == 3), "two byes each: {ten:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nobody_meets_twice_or_waits_twice(n in 2u32..20, results in any::<u64>()) {
            // By Dirac's theorem this many rounds can always be paired.
            let n_rounds = (n.div_ceil(2) as usize).min(n as usize - 1);
            let mut state = results;
            let rounds = play(n, 2, n_rounds, |_, _| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                [100.0, 50.0, 0.0][(state >> 40) as usize % 3]
            });
            let mut met = BTreeSet::new();
            let mut byes = vec![0; n as usize];
            for round in &rounds {
                let mut seen = BTreeSet::new();
                for pair in round {
                    prop_assert!(met.insert((pair[0].min(pair[1]), pair[0].max(pair[1]))));
                    prop_assert!(pair.iter().all(|player| seen.insert(*player)));
                }
                for player in (0..n).filter(|player| !seen.contains(player)) {
                    byes[player as usize] += 1;
                }
                prop_assert_eq!(seen.len() as u32, n / 2 * 2);
            }
            prop_assert!(byes.iter().max().unwrap() - byes.iter().min().unwrap() <= 1);
        }

        #[test]
        fn any_number_of_rounds_can_be_paired(n in 2u32..9, n_rounds in 1usize..20, results in any::<u64>()) {
            let rounds = play(n, 2, n_rounds, |a, b| [100.0, 50.0, 0.0][(results >> (a + b)) as usize % 3]);
            prop_assert!(rounds.iter().all(|round| round.len() as u32 == n / 2));
        }
    }
}
