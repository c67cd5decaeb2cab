//! Standings under each fault policy.

use serde::Serialize;

use super::samples::rounded;
use super::scores::Scores;
use crate::bootstrap::Bootstrap;
use crate::stats::fault_policy::FaultPolicy;
use crate::stats::interval::interval_at;
use crate::tally::{Tally, UnderPolicy};

/// What a reward may be.
const BOUNDS: [f64; 2] = [0.0, 100.0];

/// The standings under one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyStandings {
    /// The policy.
    pub policy: FaultPolicy,
    /// By player, in the order of the standings.
    pub rows: Vec<PolicyRow>,
    /// Matches that count.
    pub n_matches: usize,
}

/// A player's standing under one policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyRow {
    /// Mean reward, as in the standings; `None` without matches.
    pub mean: Option<f64>,
    /// Its interval; `None` without matches, or if some game has fewer than two
    /// blocks.
    pub interval: Option<[f64; 2]>,
    /// From 1; players that are level share the better rank.
    pub rank: Option<usize>,
}

/// Standings under all policies, or none if no scored match had a fault. `order`
/// lists the players as the standings do.
pub(super) fn policies(
    tally: &Tally,
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<PolicyStandings> {
    let of_policy = |(policy, under): (FaultPolicy, &UnderPolicy)| {
        let scores = Scores::under(under, order);
        let means = scores.totals().means();
        let rank = |mean: f64| means.iter().flatten().filter(|other| **other > mean).count() + 1;
        let row = |player: usize| PolicyRow {
            mean: means[player],
            interval: interval_at(&scores.parts(player), BOUNDS, bootstrap.level)
                .map(|interval| interval.map(rounded)),
            rank: means[player].map(rank),
        };
        let rows = (0..order.len()).map(row).collect();
        PolicyStandings { policy, rows, n_matches: under.n_matches as usize }
    };
    tally.policies().into_iter().map(of_policy).collect()
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
