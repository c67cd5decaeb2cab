//! The tables of a report for programs.

use super::placings;
use super::strength::{Strength, WorthRow};
use crate::evaluation::Evaluation;
use crate::standings::{Estimate, Standings};
use crate::sweep::{AtBudget, SweptPlayer};

/// A table of a report as CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvTable {
    /// One that takes no more than the standings.
    Standings(StandingsTable),
    /// One that takes the evaluation.
    Strength(StrengthTable),
}

/// A table of the standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandingsTable {
    /// A row for each mean: overall, by game, by role and by budget.
    Means,
    /// A row for each player and opponent.
    CrossTable,
    /// A row for each player and budget.
    Timing,
    /// A row for each player and kind of fault.
    Faults,
}

/// A table of what there is to say of strength beyond the standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrengthTable {
    /// A row for each player: reward, Elo, probability of ranking first.
    Standings,
    /// A row for each player and rank.
    Ranks,
    /// A row for each scale and player.
    Ratings,
    /// A row for each pair of players.
    Pairs,
    /// A row for each seat.
    Seats,
    /// A row for each player: what it adds to what its seats are worth.
    Effects,
    /// A row for each player and budget.
    Time,
    /// A row for each player and range of values.
    Calibration,
}

/// A table of standings.
pub(super) fn standings_table(standings: &Standings, table: StandingsTable) -> String {
    match table {
        StandingsTable::Means => csv(standings),
        StandingsTable::CrossTable => {
            let rows = standings.cross_table.iter().map(|row| {
                let names = [row.player.clone(), row.opponent.clone()];
                [&names[..], &[row.mean.to_string(), row.n_matches.to_string()]].concat()
            });
            written("player,opponent,reward,n_matches", rows)
        }
        StandingsTable::Timing => {
            let rows = standings.timing.iter().map(|row| {
                let mut cells = vec![row.player.clone(), row.budget.clone()];
                cells.push(row.n_choices.to_string());
                let times =
                    [row.think_ms_p50, row.think_ms_p95, row.think_ms_p99, row.think_ms_max];
                cells.extend(times.map(number));
                cells.extend([row.n_overruns.to_string(), row.overrun_ms_max.to_string()]);
                cells
            });
            let times = "think_ms_p50,think_ms_p95,think_ms_p99,think_ms_max";
            written(&format!("player,budget,n_choices,{times},n_overruns,overrun_ms_max"), rows)
        }
        StandingsTable::Faults => {
            let rows = standings.faults.iter();
            let row = |row: &crate::standings::FaultCount| {
                vec![row.player.clone(), row.kind.name().to_owned(), row.n.to_string()]
            };
            written("player,fault,n", rows.map(row))
        }
    }
}

/// A table of an evaluation.
pub(super) fn strength_table(evaluation: &Evaluation, table: StrengthTable) -> String {
    let strength = Strength::of(evaluation);
    match table {
        StrengthTable::Standings => {
            let (_, rows) = placings::rows(evaluation, &strength);
            let rows = rows.into_iter().map(|row| {
                let reward = &row.standing.reward;
                let mut cells = vec![row.standing.player.clone(), number(reward.mean)];
                cells.extend(bounds(reward.interval));
                cells.push(number(row.first));
                cells.push(number(row.elo.and_then(|elo| elo.value)));
                cells.extend(bounds(row.elo.and_then(|elo| elo.interval)));
                cells.push(row.standing.n_games.to_string());
                cells.extend([reward.n_matches, reward.n_blocks].map(|n| n.to_string()));
                cells
            });
            let elo = "elo,elo_low,elo_high";
            written(&format!("player,reward,low,high,first,{elo},n_games,n_matches,n_blocks"), rows)
        }
        StrengthTable::Ranks => {
            let rows = strength.ranks.iter().flat_map(|row| {
                let ranks = row.probabilities.iter().zip(1..);
                ranks.map(|(p, rank): (&f64, u32)| {
                    vec![row.player.clone(), rank.to_string(), p.to_string()]
                })
            });
            written("player,rank,probability", rows)
        }
        StrengthTable::Ratings => {
            let rows = strength.ratings.iter().map(|row| {
                let mut cells = vec![row.scale.name().to_owned(), row.player.clone()];
                cells.push(number(row.value));
                cells.extend(bounds(row.interval));
                cells.push(number(row.first));
                cells
            });
            written("scale,player,value,low,high,first", rows)
        }
        StrengthTable::Pairs => {
            let rows = strength.pairs.iter().map(|pair| {
                let difference = &pair.difference;
                let mut cells = vec![pair.player.clone(), pair.opponent.clone()];
                cells.push(difference.mean.to_string());
                cells.extend(bounds(difference.interval));
                cells.push(number(pair.superiority));
                cells.extend([difference.n_games, difference.n_blocks].map(|n| n.to_string()));
                cells
            });
            written("player,opponent,ahead,low,high,superiority,n_games,n_blocks", rows)
        }
        StrengthTable::Seats => {
            let rows = strength.seats.iter().map(|row| {
                let names = [&row.game, &row.budget, &row.role].map(String::clone);
                [&names[..], &worth(&row.worth)].concat()
            });
            written("game,budget,role,points,standard_error,low,high", rows)
        }
        StrengthTable::Effects => {
            let rows = strength.effects.iter().map(|row| {
                [&[row.player.clone()][..], &worth(&row.worth), &[number(row.first)]].concat()
            });
            written("player,points,standard_error,low,high,first", rows)
        }
        StrengthTable::Time => over_time(&strength.over_time),
        StrengthTable::Calibration => {
            let rows = strength.calibration.iter().map(|bin| {
                let mut cells = vec![bin.player.clone(), bin.low.to_string(), bin.high.to_string()];
                cells.extend([bin.expected, bin.reward].map(|points| points.to_string()));
                cells.extend(bounds(bin.interval));
                cells.push(bin.decisions.to_string());
                cells
            });
            written("player,from,to,expected,reward,low,high,decisions", rows)
        }
    }
}

/// A row for each player and budget.
pub(super) fn over_time(players: &[SweptPlayer]) -> String {
    let row = |player: &SweptPlayer, at: &AtBudget| {
        let (unit, amount): (&str, u64) = (at.budget.into(), at.budget.amount());
        let mut cells = vec![player.player.clone(), unit.to_owned(), amount.to_string()];
        cells.push(number(at.reward.mean));
        cells.extend(bounds(at.reward.interval));
        cells.extend([at.reward.n_matches, at.reward.n_blocks].map(|n| n.to_string()));
        cells.push(at.match_clock.clone().unwrap_or_default());
        cells
    };
    let rows = players.iter().flat_map(|player| player.at.iter().map(move |at| row(player, at)));
    written("player,unit,amount,mean,low,high,n_matches,n_blocks,match_clock", rows)
}

pub(super) fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

pub(super) fn bounds(interval: Option<[f64; 2]>) -> [String; 2] {
    interval.map_or_else(Default::default, |bounds| bounds.map(|bound| bound.to_string()))
}

fn worth(worth: &WorthRow) -> [String; 4] {
    let [low, high] = bounds(worth.interval);
    [worth.points.to_string(), number(worth.standard_error), low, high]
}

/// Rows below a heading, with the line ends of RFC 4180.
pub(super) fn written(heading: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    writer.write_record(heading.split(',')).expect("memory takes all rows");
    for row in rows {
        writer.write_record(row).expect("all rows have as many cells as the heading");
    }
    let bytes = writer.into_inner().expect("memory takes all rows");
    String::from_utf8(bytes).expect("all cells are text")
}

/// A row for each mean: overall, then by game, role and budget.
pub(super) fn csv(standings: &Standings) -> String {
    let row = |names: [&str; 5], estimate: &Estimate| {
        let [low, high] = bounds(estimate.interval);
        let counts = [estimate.n_matches, estimate.n_blocks].map(|n| n.to_string());
        let numbers = [number(estimate.mean), low, high];
        [&names.map(str::to_owned)[..], &numbers, &counts].concat()
    };
    let players = standings.players.iter();
    let overall = players.map(|of| row(["overall", "", "", "", &of.player], &of.reward));
    let games = standings.by_game.iter();
    let games = games.map(|of| row(["game", &of.game, "", "", &of.player], &of.reward));
    let roles = standings.by_role.iter();
    let roles = roles.map(|of| row(["role", &of.game, &of.role, "", &of.player], &of.reward));
    let budgets = standings.by_budget.iter();
    let budgets = budgets.map(|of| row(["budget", "", "", &of.budget, &of.player], &of.reward));
    let rows = overall.chain(games).chain(roles).chain(budgets);
    written("scope,game,role,budget,player,reward,low,high,n_matches,n_blocks", rows)
}
