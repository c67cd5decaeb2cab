//! Players by budgets: strength by budget, as one document that programs read
//! and reports draw.

use std::path::Path;

use serde::Serialize;

use crate::evaluation::{Evaluation, MoveBudget, OverTime, TimePoint, evaluate};
use crate::journal::JournalError;
use crate::standings::{Estimate, Slope};
use crate::stats::bootstrap::Bootstrap;

/// What players made of their budgets. No number in it is infinite or undefined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// Matches that count.
    pub n_matches: u64,
    /// Level of all intervals.
    pub level: f64,
    /// All players, the best over all budgets first.
    pub players: Vec<SweptPlayer>,
}

/// One player at all its budgets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweptPlayer {
    /// The player.
    pub player: String,
    /// Its means, by budget, ascending.
    pub at: Vec<AtBudget>,
    /// What a doubling is worth; `None` for a single budget or budgets of different
    /// units.
    pub per_doubling: Option<Doubling>,
    /// Games that all of this is over: those played at every clock.
    pub n_games: u64,
    /// Games that are left out, since they were played at some clocks only.
    pub n_other_games: u64,
}

/// A player's mean at one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtBudget {
    /// What a move may take, as `unit` and `amount`.
    #[serde(flatten)]
    pub budget: MoveBudget,
    /// The clock of the matches, in words, if the player had the same budget at several clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_clock: Option<String>,
    /// Mean reward over its games.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// Points gained with each doubling of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Doubling {
    /// Points with their uncertainty.
    #[serde(flatten)]
    pub slope: Slope,
    /// Blocks of all means that the line goes through.
    pub n_blocks: u64,
}

impl Sweep {
    /// The part of an evaluation that is about budgets; without players if all
    /// had the same.
    #[must_use]
    pub fn of(evaluation: &Evaluation) -> Self {
        let standings = &evaluation.standings;
        let player = |over: &OverTime| SweptPlayer {
            player: standings.players[over.player].player.clone(),
            at: over.points.iter().map(|point| at_budget(point, &over.points)).collect(),
            per_doubling: over
                .per_doubling
                .map(|slope| Doubling { slope, n_blocks: over.n_blocks }),
            n_games: over.n_games,
            n_other_games: over.n_other_games,
        };
        Self {
            n_matches: standings.n_matches,
            level: standings.level,
            players: evaluation.over_time.iter().map(player).collect(),
        }
    }
}

fn at_budget(point: &TimePoint, all: &[TimePoint]) -> AtBudget {
    let n_alike = all.iter().filter(|other| other.budget == point.budget).count();
    AtBudget {
        budget: point.budget,
        match_clock: (n_alike > 1).then(|| point.clock.clone()),
        reward: point.reward.clone(),
    }
}

/// Reads the run in folder `run`.
///
/// # Errors
/// If its journal cannot be read or is damaged.
pub fn sweep(run: &Path) -> Result<Sweep, JournalError> {
    Ok(Sweep::of(&evaluate(run, &Bootstrap::default(), 0)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Budget, Clock, MatchRecord};
    use crate::report::{Format, render_sweep};
    use crate::sample;

    /// At 1, 2 and 4 seconds a wins 60, 70 and 80 points, and b the rest.
    #[test]
    fn a_sweep_is_written_in_each_form() {
        let records = (0..24u64).map(|job| {
            let step = job / 8;
            let a = 60 + 10 * step as u8;
            let (players, rewards) =
                if job % 2 == 0 { (["a", "b"], [a, 100 - a]) } else { (["b", "a"], [100 - a, a]) };
            let record = sample::record(job, "x", players, rewards);
            MatchRecord { play_clock_ms: 1000 << step, ..record }
        });
        let run = sample::run(true, &records.collect::<Vec<_>>());
        let found = sweep(run.path()).unwrap();
        let of = |player: &SweptPlayer| {
            let at = player.at.iter().map(|at| (at.budget, at.reward.mean.unwrap()));
            (at.collect::<Vec<_>>(), player.per_doubling.unwrap().slope.points.round())
        };
        let ms = MoveBudget::Milliseconds;
        let a = vec![(ms(1000), 60.0), (ms(2000), 70.0), (ms(4000), 80.0)];
        let b = vec![(ms(1000), 40.0), (ms(2000), 30.0), (ms(4000), 20.0)];
        let found_of: Vec<_> = found.players.iter().map(of).collect();
        assert_eq!(found_of, [(a, 10.0), (b, -10.0)]);

        let text = render_sweep(&found, Format::Text);
        assert!(text.contains("4 s") && text.contains("10.0"), "{text}");
        let csv = render_sweep(&found, Format::Csv);
        assert_eq!(
            csv.lines().nth(1),
            Some("a,milliseconds,1000,60,23.8581,84.0946,8,4,"),
            "{csv}"
        );
        assert_eq!(csv.lines().count(), 7);
        let markdown = render_sweep(&found, Format::Md);
        assert!(markdown.contains("| a | 10.0 |"), "{markdown}");
        let json: serde_json::Value =
            serde_json::from_str(&render_sweep(&found, Format::Json)).unwrap();
        assert_eq!(json["players"][1]["at"][2]["mean"], 20.0);
    }

    /// Rows of a player with the same budget also show the clock of their matches.
    #[test]
    fn a_player_with_a_budget_of_its_own_is_shown_with_the_clocks() {
        let own = Clock { start_clock_ms: 10_000, play_clock_ms: 250, budget: Budget::Clock };
        let records = (0..8u64).map(|job| {
            let mut record = sample::record(job, "x", ["a", "b"], [75, 25]);
            record.seats[1].odds = Some(own);
            MatchRecord { play_clock_ms: 1000 << (job / 4), ..record }
        });
        let run = sample::run(true, &records.collect::<Vec<_>>());
        let found = sweep(run.path()).unwrap();
        let clocks: Vec<Vec<bool>> = (found.players.iter())
            .map(|player| player.at.iter().map(|at| at.match_clock.is_some()).collect())
            .collect();
        assert_eq!(clocks, [[false, false], [true, true]]);
        let text = render_sweep(&found, Format::Text);
        let rows: Vec<&str> =
            text.lines().filter(|line| line.contains("250 ms (match: ")).collect();
        assert!(rows.len() == 2 && rows[0] != rows[1], "{text}");
        assert_eq!(render_sweep(&found, Format::Csv).lines().count(), 5);
    }

    #[test]
    fn one_budget_is_no_sweep() {
        let run = sample::run(true, &[sample::record(0, "x", ["a", "b"], [60, 40])]);
        let found = sweep(run.path()).unwrap();
        assert_eq!((found.n_matches, found.players.len()), (1, 0));
        assert!(render_sweep(&found, Format::Text).contains("more than one budget"));
    }
}
