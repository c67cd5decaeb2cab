//! Standings under each fault policy.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::scores::{Group, Scores};
use crate::bootstrap::Bootstrap;
use crate::stats::fault_policy::FaultPolicy;
use crate::stats::rank_bootstrap::rank_distribution;
use crate::stats::scored::ScoredMatch;

/// Resamples of each interval.
const N_RESAMPLES: usize = 1000;

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
    /// The bootstrap interval; `None` if some game has fewer than two blocks.
    pub interval: Option<[f64; 2]>,
    /// From 1; players that are level share the better rank.
    pub rank: Option<usize>,
}

/// Standings under all policies, or none if no scored match had a fault.
pub(super) fn policies(
    matches: &[ScoredMatch],
    players: &[Arc<str>],
    bootstrap: &Bootstrap,
) -> Vec<PolicyStandings> {
    let is_faulted = |played: &ScoredMatch| played.seats.iter().any(|seat| seat.faults != [0; 6]);
    let faulted: BTreeSet<u64> =
        matches.iter().filter(|played| is_faulted(played)).map(|played| played.block).collect();
    if faulted.is_empty() {
        return vec![];
    }
    let of_policy = |policy: FaultPolicy| {
        let void = policy == FaultPolicy::Void;
        let counted = matches.iter().filter(|played| !(void && faulted.contains(&played.block)));
        let matches: Vec<ScoredMatch> =
            counted.map(|played| policy.apply(played, |_| true)).collect();
        let scores = Scores::of(&matches, players, false);
        let means = scores.totals().means();
        let intervals = intervals(&scores, bootstrap);
        let rank = |mean: f64| means.iter().flatten().filter(|other| **other > mean).count() + 1;
        let row = |player: usize| PolicyRow {
            mean: means[player],
            interval: intervals.as_ref().map(|intervals| intervals[player]),
            rank: means[player].map(rank),
        };
        let rows = (0..players.len()).map(row).collect();
        PolicyStandings { policy, rows, n_matches: matches.len() }
    };
    FaultPolicy::ALL.map(of_policy).into()
}

fn intervals(scores: &Scores, bootstrap: &Bootstrap) -> Option<Vec<[f64; 2]>> {
    if scores.groups.iter().any(|groups| groups.len() < 2) {
        return None;
    }
    let bootstrap = Bootstrap { n_resamples: N_RESAMPLES.min(bootstrap.n_resamples), ..*bootstrap };
    let ranks = rank_distribution(&scores.groups, &bootstrap, |drawn: &[(u64, &Group)]| {
        scores.sums(drawn.iter().map(|(_, group)| *group)).means().into_iter().collect()
    });
    Some(ranks?.intervals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_fault_costs_what_the_policy_says() {
        let mut matches: Vec<ScoredMatch> = (0..8)
            .map(|job| ScoredMatch::from(&sample::record(job, "x", ["a", "b"], [100, 0])))
            .collect();
        let players: Vec<Arc<str>> = ["a", "b"].map(Arc::from).into();
        let bootstrap = Bootstrap::default();
        assert_eq!(policies(&matches, &players, &bootstrap), []);
        // The winner's fault in one match of the first block.
        matches[0].seats[0].faults[1] = 1;
        let policies = policies(&matches, &players, &bootstrap);
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
        let mut played = ScoredMatch::from(&sample::record(0, "x", ["a", "b"], [100, 0]));
        played.seats[0].faults[0] = 1;
        let players: Vec<Arc<str>> = ["a", "b"].map(Arc::from).into();
        let policies = policies(&[played], &players, &Bootstrap::default());
        let nothing = PolicyRow { mean: None, interval: None, rank: None };
        assert_eq!(policies[2].rows, [nothing; 2]);
    }
}
