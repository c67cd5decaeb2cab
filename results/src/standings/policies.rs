//! Standings under each fault policy.
//!
//! A mean and its interval are those of the standings, computed in the same way from
//! what a policy leaves; where it leaves a player's rewards as they were, they are
//! the very same numbers.

use super::rows::{Estimate, PlayerStanding, PolicyRow, PolicyStandings};
use super::samples::{Sampled, average_over_games, estimate, sample_of};
use crate::stats::bootstrap::{Bootstrap, Clusters};
use crate::stats::fault_policy::FaultPolicy;
use crate::tally::{Blocks, Tally, UnderPolicy};

/// Standings under all policies, or none if no scored match had a fault. `order`
/// lists the players as the standings do, which are `players`.
pub(super) fn policies(
    tally: &Tally,
    order: &[usize],
    players: &[PlayerStanding],
    bootstrap: &Bootstrap,
) -> Vec<PolicyStandings> {
    let policies = tally.policies();
    let Some((_, as_played)) = policies.first().copied() else { return vec![] };
    let of_policy = |(policy, under): (FaultPolicy, &UnderPolicy)| {
        let estimates = order.iter().zip(players).map(|(&player, standing)| {
            let player = player as u32;
            match totals(under, player) == totals(as_played, player) {
                true => standing.reward.clone(),
                false => estimate_under(under, player, bootstrap),
            }
        });
        let estimates: Vec<Estimate> = estimates.collect();
        let means = || estimates.iter().filter_map(|estimate| estimate.mean);
        let rank = |mean: f64| means().filter(|other| *other > mean).count() + 1;
        let row = |estimate: &Estimate| PolicyRow {
            mean: estimate.mean,
            interval: estimate.interval,
            rank: estimate.mean.map(rank),
        };
        let rows = estimates.iter().map(row).collect();
        PolicyStandings { policy, rows, n_matches: under.n_matches as usize }
    };
    policies.into_iter().map(of_policy).collect()
}

/// What a player won, by stratum: sums and numbers of rewards. Policies only take
/// away, so that what is equal in sum and number is the same.
fn totals(under: &UnderPolicy, player: u32) -> Vec<(u32, u32, f64, f64)> {
    let total = |(&(game, clock), blocks): (&(u32, u32), &Blocks)| {
        let total = clusters(blocks, player).total(0);
        (total.n > 0.0).then_some((game, clock, total.sum, total.n))
    };
    under.strata.iter().filter_map(total).collect()
}

/// A player's rewards by block.
fn clusters(blocks: &Blocks, player: u32) -> Clusters {
    let mut clusters = Clusters::new(1);
    for totals in blocks.totals.values() {
        if let Some((_, total)) = totals.iter().find(|(other, _)| *other == player) {
            clusters.push()[0] = *total;
        }
    }
    clusters
}

fn estimate_under(under: &UnderPolicy, player: u32, bootstrap: &Bootstrap) -> Estimate {
    let strata = under.strata.iter().filter_map(|(&(game, clock), blocks)| {
        let clusters = clusters(blocks, player);
        let overall = sample_of(&clusters, clusters.n_blocks(0) as u64)?;
        Some(Sampled { game, clock, overall, roles: vec![] })
    });
    let strata: Vec<Sampled> = strata.collect();
    let strata: Vec<&Sampled> = strata.iter().collect();
    estimate(average_over_games(&strata).as_ref(), bootstrap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{FaultKind, MatchRecord};
    use crate::sample;
    use crate::standings::standings;

    fn policies_of(records: &[MatchRecord]) -> Vec<PolicyStandings> {
        let run = sample::run(true, records);
        let found = standings(run.path(), &Bootstrap::default()).unwrap();
        let players: Vec<&str> = found.players.iter().map(|row| row.player.as_str()).collect();
        assert_eq!(players, ["a", "b"]);
        found.policies
    }

    #[test]
    fn a_fault_costs_what_the_policy_says() {
        let mut records: Vec<MatchRecord> =
            (0..8).map(|job| sample::record(job, "x", ["a", "b"], [100, 0])).collect();
        assert_eq!(policies_of(&records), []);
        // The winner's fault in one match of the first block.
        records[0].steps[0][0].fault = Some(FaultKind::LateMove);
        let policies = policies_of(&records);
        let means: Vec<Vec<Option<f64>>> =
            policies.iter().map(|p| p.rows.iter().map(|row| row.mean).collect()).collect();
        assert_eq!(means[0], [Some(100.0), Some(0.0)]);
        assert_eq!(means[1], [Some(87.5), Some(0.0)]);
        assert_eq!(means[2], [Some(100.0), Some(0.0)]);
        assert_eq!(policies.iter().map(|p| p.n_matches).collect::<Vec<_>>(), [8, 8, 6]);
        assert_eq!(policies[1].rows[1].rank, Some(2));
    }

    /// What the standings say of a player is what every policy says that leaves its
    /// rewards as they were.
    #[test]
    fn one_number_has_one_interval() {
        let mut records = sample::records();
        records[8].steps[1][0].fault = Some(FaultKind::LateMove);
        let run = sample::run(true, &records);
        let found = standings(run.path(), &Bootstrap::default()).unwrap();
        let row = |policy: usize, place: usize| {
            let row = &found.policies[policy].rows[place];
            (row.mean, row.interval)
        };
        let mut n_same = 0;
        for (place, standing) in found.players.iter().enumerate() {
            let expected = (standing.reward.mean, standing.reward.interval);
            assert_eq!(row(0, place), expected, "{}", standing.player);
            let offender_zero = row(1, place);
            assert!(offender_zero.0 <= expected.0);
            if offender_zero.0 == expected.0 {
                n_same += 1;
                assert_eq!(offender_zero, expected);
            }
        }
        assert!(n_same > 0);
    }

    #[test]
    fn nothing_is_left_when_every_block_is_void() {
        let mut record = sample::record(0, "x", ["a", "b"], [100, 0]);
        record.seats[0].start.fault = Some(FaultKind::LateStart);
        let policies = policies_of(&[record]);
        let nothing = PolicyRow { mean: None, interval: None, rank: None };
        assert_eq!(policies[2].rows, [nothing; 2]);
    }

    /// A player who is at fault in every block has no match left when such blocks
    /// are void; the others' intervals stay.
    #[test]
    fn a_player_without_matches_takes_nobodys_interval() {
        let mut records = vec![];
        for block in 0..8 {
            for (at, pair) in [["a", "b"], ["a", "c"], ["b", "c"]].into_iter().enumerate() {
                let job = 3 * block + at as u64;
                let mut record = sample::record(job, "x", pair, [100, 0]);
                record.block = job;
                if pair[1] == "c" {
                    record.steps[0][1].fault = Some(FaultKind::LateMove);
                }
                records.push(record);
            }
        }
        let run = sample::run(true, &records);
        let found = standings(run.path(), &Bootstrap::default()).unwrap();
        let void = &found.policies[2];
        let row = |name: &str| {
            let place = found.players.iter().position(|row| row.player == name).unwrap();
            void.rows[place]
        };
        assert_eq!((row("c").mean, row("c").interval), (None, None));
        assert!(row("a").interval.is_some() && row("b").interval.is_some(), "{void:?}");
    }
}
