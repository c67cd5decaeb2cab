//! The tables of a report for programs.

use super::strength::{Strength, WorthRow};
use crate::evaluation::Evaluation;
use crate::standings::{Estimate, Standings};
use crate::sweep::Unit;

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
    /// A row for each mean: overall, by game, by role and by clock.
    Means,
    /// A row for each player and opponent.
    CrossTable,
    /// A row for each player and clock.
    Timing,
    /// A row for each player and kind of fault.
    Faults,
}

/// A table of what there is to say of strength beyond the standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrengthTable {
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
            written(&["player", "opponent", "reward", "n_matches"], rows)
        }
        StandingsTable::Timing => {
            let rows = standings.timing.iter().map(|row| {
                let mut cells = vec![row.player.clone(), row.clock.clone()];
                cells.push(row.n_choices.to_string());
                let times =
                    [row.think_ms_p50, row.think_ms_p95, row.think_ms_p99, row.think_ms_max];
                cells.extend(times.map(number));
                cells.extend([row.n_overruns.to_string(), row.overrun_ms_max.to_string()]);
                cells
            });
            let heading = [
                "player",
                "clock",
                "n_choices",
                "think_ms_p50",
                "think_ms_p95",
                "think_ms_p99",
                "think_ms_max",
                "n_overruns",
                "overrun_ms_max",
            ];
            written(&heading, rows)
        }
        StandingsTable::Faults => {
            let rows = standings.faults.iter();
            let row = |row: &crate::standings::FaultCount| {
                vec![row.player.clone(), row.kind.name().to_owned(), row.n.to_string()]
            };
            written(&["player", "fault", "n"], rows.map(row))
        }
    }
}

/// A table of an evaluation.
pub(super) fn strength_table(evaluation: &Evaluation, table: StrengthTable) -> String {
    let strength = Strength::of(evaluation);
    match table {
        StrengthTable::Ranks => {
            let rows = strength.ranks.iter().flat_map(|row| {
                let ranks = row.probabilities.iter().zip(1..);
                ranks.map(|(p, rank): (&f64, u32)| {
                    vec![row.player.clone(), rank.to_string(), p.to_string()]
                })
            });
            written(&["player", "rank", "probability"], rows)
        }
        StrengthTable::Ratings => {
            let rows = strength.ratings.iter().map(|row| {
                let mut cells = vec![row.scale.name().to_owned(), row.player.clone()];
                cells.push(number(row.value));
                cells.extend(bounds(row.interval));
                cells.push(number(row.first));
                cells
            });
            written(&["scale", "player", "value", "low", "high", "first"], rows)
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
            let heading = [
                "player",
                "opponent",
                "ahead",
                "low",
                "high",
                "superiority",
                "n_games",
                "n_blocks",
            ];
            written(&heading, rows)
        }
        StrengthTable::Seats => {
            let rows = strength.seats.iter().map(|row| {
                let names = [&row.game, &row.clock, &row.role].map(String::clone);
                [&names[..], &worth(&row.worth)].concat()
            });
            let heading = ["game", "clock", "role", "points", "standard_error", "low", "high"];
            written(&heading, rows)
        }
        StrengthTable::Effects => {
            let rows = strength.effects.iter().map(|row| {
                [&[row.player.clone()][..], &worth(&row.worth), &[number(row.first)]].concat()
            });
            written(&["player", "points", "standard_error", "low", "high", "first"], rows)
        }
        StrengthTable::Time => {
            let rows = strength.over_time.iter().flat_map(|player| {
                player.at.iter().map(|at| {
                    let unit = match at.unit {
                        Unit::Milliseconds => "milliseconds",
                        Unit::Nodes => "nodes",
                    };
                    let mut cells = vec![player.player.clone(), unit.to_owned()];
                    cells.extend([at.amount.to_string(), number(at.reward.mean)]);
                    cells.extend(bounds(at.reward.interval));
                    cells.extend([at.reward.n_matches, at.reward.n_blocks].map(|n| n.to_string()));
                    cells
                })
            });
            let heading =
                ["player", "unit", "amount", "mean", "low", "high", "n_matches", "n_blocks"];
            written(&heading, rows)
        }
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn bounds(interval: Option<[f64; 2]>) -> [String; 2] {
    interval.map_or_else(Default::default, |bounds| bounds.map(|bound| bound.to_string()))
}

fn worth(worth: &WorthRow) -> [String; 4] {
    let [low, high] = bounds(worth.interval);
    [worth.points.to_string(), number(worth.standard_error), low, high]
}

/// Rows below a heading, with the ends of lines that RFC 4180 has.
fn written(heading: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    writer.write_record(heading).expect("memory takes all rows");
    for row in rows {
        writer.write_record(row).expect("all rows have as many cells as the heading");
    }
    let bytes = writer.into_inner().expect("memory takes all rows");
    String::from_utf8(bytes).expect("all cells are text")
}

/// A row for each mean: overall, then by game, role and clock.
pub(super) fn csv(standings: &Standings) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    let mut row =
        |scope: &str, game: &str, role: &str, clock: &str, player, estimate: &Estimate| {
            let number =
                |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let [low, high] = match estimate.interval {
                Some([low, high]) => [Some(low), Some(high)],
                None => [None, None],
            };
            let fields: [&str; 10] = [
                scope,
                game,
                role,
                clock,
                player,
                &number(estimate.mean),
                &number(low),
                &number(high),
                &estimate.n_matches.to_string(),
                &estimate.n_blocks.to_string(),
            ];
            writer.write_record(fields).expect("memory takes all rows of ten fields");
        };
    for standing in &standings.players {
        row("overall", "", "", "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_game {
        row("game", &standing.game, "", "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_role {
        row("role", &standing.game, &standing.role, "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_clock {
        row("clock", "", "", &standing.clock, &standing.player, &standing.reward);
    }
    let rows = writer.into_inner().expect("memory takes all rows");
    let heading = "scope,game,role,clock,player,reward,low,high,n_matches,n_blocks\n";
    heading.to_owned() + &String::from_utf8(rows).expect("all fields are text")
}
