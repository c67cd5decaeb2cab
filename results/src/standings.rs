//! Standings: means, differences and their intervals.
//!
//! A player's mean is the mean over the games it played, each game weighing the
//! same however many matches it had; a game's mean is likewise the mean over its
//! clocks. Unscored matches are listed apart. Intervals are explained
//! in [`interval`](crate::stats::interval).

mod counts;
mod matches;
mod means;
mod over_clocks;
mod pairs;
mod policies;
mod rows;
mod samples;
pub(crate) mod scores;
mod strata;

use std::collections::BTreeSet;
use std::path::Path;

use crate::evidence::Evidence;
use crate::files;
use crate::formats::proceedings;
use crate::formats::summary::{StageSummary, summaries};
use crate::journal::JournalError;
use crate::record::{Clock, Header};
use crate::stats::bootstrap::Bootstrap;
use counts::{balance, count_blocks, cross_table, faults, goal_flags, timing, unscored};
use means::{by_budget, by_game, by_role, order, players};
use samples::{Sampled, sample};
use strata::{Stratum, strata};

pub(crate) use matches::scored_matches;
pub(crate) use over_clocks::OverClocks;
pub use over_clocks::Slope;
pub use pairs::Pair;
pub(crate) use pairs::pairs;
pub use rows::{
    BudgetStanding, Difference, Encounter, Estimate, FaultCount, GameStanding, GoalFlagCount,
    PlayerStanding, PolicyRow, PolicyStandings, RoleBalance, RoleStanding, Standings, Timing,
    Unscored,
};

/// Blocks below which an interval is said to be rough.
pub const FEW_BLOCKS: u64 = 10;

/// Computes the standings of the run in folder `run` from its journal.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn standings(run: &Path, bootstrap: &Bootstrap) -> Result<Standings, JournalError> {
    let journal = run.join(files::JOURNAL);
    standings_of(&journal, &Evidence::read(&journal, false)?, bootstrap)
}

/// As [`standings`], from what was read of `journal`.
pub(crate) fn standings_of(
    journal: &Path,
    evidence: &Evidence,
    bootstrap: &Bootstrap,
) -> Result<Standings, JournalError> {
    Ok(compute(journal, evidence, bootstrap)?.0)
}

/// What the standings were computed from.
pub(crate) struct Sampling {
    /// By player.
    records: Vec<Vec<Stratum>>,
    /// By player.
    sampled: Vec<Vec<Sampled>>,
    /// The players' numbers in the order of the standings.
    pub(crate) order: Vec<usize>,
}

impl Sampling {
    /// What a player made of each clock.
    pub(crate) fn over_clocks(&self, player: usize) -> OverClocks {
        OverClocks::of(&self.sampled[player])
    }
}

/// Games, and clocks if there are several, of which some player's uncertainty is
/// unknown.
fn exact_games(evidence: &Evidence, sampled: &[Vec<Sampled>]) -> Vec<String> {
    let strata = sampled.iter().flatten().filter(|stratum| stratum.overall.n_exact() > 0);
    let keys: BTreeSet<(u32, u32)> = strata.map(|stratum| (stratum.game, stratum.clock)).collect();
    let name = |(game, clock): (u32, u32)| {
        let game = &evidence.games[game as usize];
        match &evidence.clocks[..] {
            [_] => game.clone(),
            clocks => format!("{game} ({})", clocks[clock as usize]),
        }
    };
    keys.into_iter().map(name).collect()
}

/// What the journal's header says to its readers.
fn notes(header: &Header) -> Vec<String> {
    let part = header.partition.map(|part| {
        format!(
            "This is part {} of {} of a schedule; `gamemaster merge` puts the parts together.",
            part.slice(),
            part.of()
        )
    });
    part.into_iter().chain(header.notes.iter().cloned()).collect()
}

/// How the stages stand; nothing if what was played did not follow from results.
fn stages(journal: &Path, header: &Header) -> Result<Vec<StageSummary>, JournalError> {
    if header.formats.is_none() {
        return Ok(vec![]);
    }
    Ok(proceedings::read(journal)?.as_ref().map_or(vec![], summaries))
}

/// The standings by what was read of `journal`.
pub(crate) fn compute(
    journal: &Path,
    evidence: &Evidence,
    bootstrap: &Bootstrap,
) -> Result<(Standings, Sampling), JournalError> {
    let (n_blocks, n_incomplete_blocks) = count_blocks(evidence);
    let (records, unscored) = (strata(evidence), unscored(evidence));
    let sampled: Vec<Vec<Sampled>> = records.iter().map(|strata| sample(strata)).collect();
    let order = order(evidence, &sampled);
    let players = players(evidence, &records, &sampled, &order, bootstrap);
    let standings = Standings {
        gamemaster_version: evidence.header.gamemaster_version.clone(),
        spec_hash: evidence.header.spec_hash.clone(),
        notes: notes(&evidence.header),
        n_matches: evidence.n_matches,
        n_aborted: unscored.iter().filter(|row| row.ending == "aborted").map(|row| row.n).sum(),
        n_scored: evidence.n_scored,
        n_blocks,
        n_incomplete_blocks,
        half_written_bytes: evidence.torn.bytes,
        half_written_lines: evidence.torn.lines,
        n_resamples: bootstrap.n_resamples,
        level: bootstrap.level,
        games: evidence.games.clone(),
        budgets: evidence.clocks.iter().map(Clock::to_string).collect(),
        stages: stages(journal, &evidence.header)?,
        exact_games: exact_games(evidence, &sampled),
        by_game: by_game(evidence, &sampled, &order, bootstrap),
        by_role: by_role(evidence, &sampled, &order, bootstrap),
        by_budget: by_budget(evidence, &sampled, &order, bootstrap),
        cross_table: cross_table(evidence, &order),
        balance: balance(evidence),
        faults: faults(evidence, &order),
        policies: policies::policies(&evidence.tally, &order, &players, bootstrap),
        players,
        timing: timing(evidence, &order),
        unscored,
        goal_flags: goal_flags(evidence),
        header: evidence.header.clone(),
    };
    Ok((standings, Sampling { records, sampled, order }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{AbortReason, Ending, FaultKind, MatchRecord};
    use crate::sample;

    fn standings_of(records: &[MatchRecord]) -> Standings {
        let run = sample::run(true, records);
        let bootstrap = Bootstrap { n_resamples: 200, ..Bootstrap::default() };
        standings(run.path(), &bootstrap).unwrap()
    }

    fn means(standings: &Standings) -> Vec<(&str, Option<f64>)> {
        let players = standings.players.iter();
        players.map(|standing| (standing.player.as_str(), standing.reward.mean)).collect()
    }

    /// A block of two matches, one for each seating.
    fn block(
        number: u64,
        game: &str,
        players: [&str; 2],
        rewards: [[u8; 2]; 2],
    ) -> [MatchRecord; 2] {
        let [first, second] = players;
        [
            sample::record(2 * number, game, [first, second], rewards[0]),
            sample::record(2 * number + 1, game, [second, first], rewards[1]),
        ]
    }

    #[test]
    fn games_weigh_the_same() {
        let mut records = vec![];
        for number in 0..3 {
            records.extend(block(number, "often", ["a", "b"], [[100, 0], [0, 100]]));
        }
        records.extend(block(3, "once", ["a", "b"], [[0, 100], [50, 50]]));
        // The means of a are 100 at the one and 25 at the other.
        let standings = standings_of(&records);
        assert_eq!(means(&standings), [("a", Some(62.5)), ("b", Some(37.5))]);
        let behind = standings.players[1].behind.as_ref().unwrap();
        assert_eq!((behind.mean, behind.n_games, behind.n_blocks), (25.0, 2, 4));
        let often = &standings.by_game[0];
        // Three equal blocks: others may make up to 71 % (1 - 0.025^(1/3)).
        assert_eq!((often.game.as_str(), often.reward.interval), ("often", Some([29.2402, 100.0])));
        let once = &standings.by_game[2];
        assert_eq!((once.game.as_str(), once.reward.interval), ("once", None));
        // The game with one block is treated as exact.
        assert_eq!((behind.interval, behind.n_exact), (Some([-45.7598, 25.0]), 1));
        let reward = &standings.players[0].reward;
        assert_eq!((reward.interval, reward.n_exact), (Some([27.1201, 62.5]), 1));
        assert_eq!(standings.exact_games, ["once"]);
    }

    /// It is played again: whatever broke it off may look like a player's fault.
    #[test]
    fn a_match_that_was_broken_off_charges_nobody() {
        let mut records = block(0, "x", ["a", "b"], [[100, 0], [0, 100]]).to_vec();
        for record in &mut records {
            record.seats[0].start.fault = Some(FaultKind::LateStart);
            record.steps[0][0].fault = Some(FaultKind::Unreachable);
        }
        let faults = |records: &[MatchRecord]| -> Vec<(String, u64)> {
            let rows = standings_of(records).players;
            rows.into_iter().map(|row| (row.player, row.n_faults)).collect()
        };
        assert_eq!(faults(&records), [("a".into(), 2), ("b".into(), 2)]);
        records[1].ending = Ending::Aborted {
            reason: AbortReason::Stated { reason: "player b: somebody else listens".into() },
        };
        assert_eq!(faults(&records), [("a".into(), 2), ("b".into(), 0)]);
    }

    #[test]
    fn single_blocks_of_all_games_are_no_evidence() {
        let mut records = block(0, "x", ["a", "b"], [[100, 0], [0, 100]]).to_vec();
        records.extend(block(1, "y", ["a", "b"], [[0, 100], [50, 50]]));
        let standings = standings_of(&records);
        assert!(standings.players.iter().all(|row| row.reward.interval.is_none()));
        assert_eq!(standings.players[1].behind.as_ref().unwrap().interval, None);
        assert_eq!(standings.exact_games, ["x", "y"]);
    }

    /// Half a match's reward hangs on the game with many blocks: so does the interval.
    #[test]
    fn one_game_with_one_block_takes_no_interval_away() {
        let rewards = [[75, 25], [25, 75], [100, 0], [50, 50], [40, 40], [55, 45]];
        let mut records = vec![];
        for (number, [a, b]) in rewards.into_iter().enumerate() {
            records.extend(block(number as u64, "often", ["a", "b"], [[a, b], [b, a]]));
        }
        let [low, high] = standings_of(&records).players[0].reward.interval.unwrap();
        records.extend(block(6, "once", ["a", "b"], [[30, 70], [70, 30]]));
        let standings = standings_of(&records);
        let row = standings.players.iter().find(|row| row.player == "a").unwrap();
        let expected = [low, high].map(|bound| f64::midpoint(bound, 30.0));
        let found = row.reward.interval.unwrap();
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    #[test]
    fn times_are_told_by_clock() {
        let mut records = vec![];
        for number in 0..2 {
            records.extend(block(number, "x", ["a", "b"], [[100, 0], [0, 100]]));
            let slow = block(number + 4, "x", ["a", "b"], [[50, 50], [50, 50]]);
            records.extend(slow.map(|mut record| {
                record.steps.iter_mut().flatten().for_each(|decision| decision.wall_us *= 100);
                MatchRecord { play_clock_ms: 2500, ..record }
            }));
        }
        let timing = standings_of(&records).timing;
        let rows: Vec<_> =
            timing.iter().map(|row| (row.player.as_str(), row.budget.as_str())).collect();
        let [fast, slow] = ["start 10 s, play 1 s", "start 10 s, play 2500 ms"];
        assert_eq!(rows, [("a", fast), ("a", slow), ("b", fast), ("b", slow)]);
        let median = |row: usize| timing[row].think_ms_p50.unwrap();
        assert!(median(1) > 50.0 * median(0) && median(3) > 50.0 * median(2));
        assert_eq!(timing[0].n_choices, timing[1].n_choices);
    }

    #[test]
    fn differences_of_six_blocks() {
        // Differences 50, -50, 100, 0, 0, 10, with Student's interval.
        let rewards = [[75, 25], [25, 75], [100, 0], [50, 50], [40, 40], [55, 45]];
        let mut records = vec![];
        for (number, [a, b]) in rewards.into_iter().enumerate() {
            records.extend(block(number as u64, "game", ["a", "b"], [[a, b], [b, a]]));
        }
        let run = sample::run(true, &records);
        let standings = standings(run.path(), &Bootstrap::default()).unwrap();
        let behind = standings.players[1].behind.as_ref().unwrap();
        let [low, high] = behind.interval.unwrap();
        assert_eq!((behind.mean, behind.n_blocks), (18.3333, 6));
        assert_eq!((low, high), (-35.3488, 72.0155));
    }

    #[test]
    fn matches_that_scored_nobody_count_for_nobody() {
        let mut records: Vec<MatchRecord> = sample::records();
        let standings = standings_of(&records);
        assert_eq!((standings.n_matches, standings.n_scored), (36, 33));
        assert_eq!(standings.n_incomplete_blocks, 3);
        assert_eq!(standings.unscored.len(), 3);
        records.retain(|record| record.ending == Ending::Terminal);
        let scored = standings_of(&records);
        assert_eq!(scored.by_game, standings.by_game);
        assert_eq!(scored.cross_table, standings.cross_table);
    }

    #[test]
    fn who_was_never_scored_is_listed_last() {
        let mut records = sample::records();
        let mut record = sample::record(36, "ticTacToe", ["aardvark", "alpha"], [0, 0]);
        record.ending = Ending::StepLimit;
        records.push(record);
        let standings = standings_of(&records);
        let last = standings.players.last().unwrap();
        assert_eq!((last.player.as_str(), &last.reward), ("aardvark", &Estimate::default()));
        assert_eq!((last.n_games, last.behind.as_ref()), (0, None));
    }

    #[test]
    fn the_role_random_is_no_player() {
        let records: Vec<MatchRecord> =
            (0..4).map(|job| sample::record_with_chance(job, "alpha", 70)).collect();
        let standings = standings_of(&records);
        assert_eq!(means(&standings), [("alpha", Some(70.0))]);
        assert_eq!(standings.balance.len(), 1);
        assert!(standings.cross_table.is_empty());
        // A player may have that name.
        let records: Vec<MatchRecord> =
            (0..4).map(|job| sample::record_with_chance(job, "random", 70)).collect();
        assert_eq!(means(&standings_of(&records)), [("random", Some(70.0))]);
    }

    #[test]
    fn players_of_other_games_are_compared_where_both_played() {
        let mut records = vec![];
        for number in 0..4 {
            records.extend(block(number, "x", ["a", "b"], [[60, 40], [50, 50]]));
            records.extend(block(number + 4, "y", ["a", "c"], [[100, 0], [0, 100]]));
            records.extend(block(number + 8, "z", ["d", "e"], [[10, 0], [0, 10]]));
        }
        let standings = standings_of(&records);
        let row = |name: &str| {
            let row = standings.players.iter().find(|row| row.player == name).unwrap();
            (row.n_games, row.behind.as_ref().map(|behind| (behind.mean, behind.n_games)))
        };
        assert_eq!(row("a"), (2, None));
        assert_eq!(row("b"), (1, Some((10.0, 1))));
        assert_eq!(row("c"), (1, Some((100.0, 1))));
        assert_eq!(row("d"), (1, None));
    }

    #[test]
    fn clocks_are_tournaments_of_their_own() {
        let mut records = vec![];
        for number in 0..4 {
            records.extend(block(number, "x", ["a", "b"], [[100, 0], [0, 100]]));
            let slow = block(number + 4, "x", ["a", "b"], [[50, 50], [50, 50]]);
            records.extend(slow.map(|record| MatchRecord { play_clock_ms: 2500, ..record }));
        }
        let standings = standings_of(&records);
        assert_eq!(standings.budgets, ["start 10 s, play 1 s", "start 10 s, play 2500 ms"]);
        assert_eq!(means(&standings), [("a", Some(75.0)), ("b", Some(25.0))]);
        let by_budget: Vec<_> =
            standings.by_budget.iter().map(|row| (row.player.as_str(), row.reward.mean)).collect();
        let expected = [("a", 100.0), ("b", 0.0), ("a", 50.0), ("b", 50.0)];
        assert_eq!(by_budget, expected.map(|(player, mean)| (player, Some(mean))));
    }

    #[test]
    fn later_attempts_replace_aborted_ones() {
        let records = sample::records();
        let expected = standings_of(&records);
        let mut others = vec![];
        for record in &records {
            let ending = Ending::interrupted();
            others.push(MatchRecord { ending, ..record.clone() });
            others.push(MatchRecord { attempt: 2, ..record.clone() });
        }
        assert_eq!(standings_of(&others), expected);
    }

    #[test]
    fn an_empty_run_has_no_players() {
        let standings = standings_of(&[]);
        assert_eq!((standings.n_matches, standings.players.len()), (0, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn any_order_of_records_gives_the_same(
            records in Just(sample::records()).prop_shuffle(),
        ) {
            prop_assert_eq!(standings_of(&records), standings_of(&sample::records()));
        }

        #[test]
        fn every_player_is_listed_with_numbers_that_are_numbers(
            matches in prop::collection::vec((0..4u8, 0..4u8, 0..=100u8, 0..=100u8, 0..3u8), 1..20),
        ) {
            let names = ["a", "b", "c", "d"];
            let mut records = vec![];
            for (job, (a, b, x, y, game)) in matches.into_iter().enumerate() {
                let players = [names[a as usize], names[b as usize]];
                records.push(sample::record(job as u64, names[game as usize], players, [x, y]));
            }
            let standings = standings_of(&records);
            for name in records.iter().flat_map(|r| &r.seats).filter_map(|seat| seat.player.as_ref()) {
                prop_assert!(standings.players.iter().any(|row| row.player == *name));
            }
            for row in &standings.players {
                let mean = row.reward.mean.unwrap();
                prop_assert!((0.0..=100.0).contains(&mean));
                if let Some([low, high]) = row.reward.interval {
                    prop_assert!(low <= high && (0.0..=100.0).contains(&low) && high <= 100.0);
                }
                if let Some(behind) = &row.behind {
                    prop_assert!((-100.0..=100.0).contains(&behind.mean));
                }
            }
            let json = serde_json::to_string(&standings).unwrap();
            prop_assert!(!json.contains("NaN") && !json.contains("inf"));
        }
    }
}
