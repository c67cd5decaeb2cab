//! `gamemaster regret`: how much reward the decisions of a run gave away.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use results::counted::counted;
use results::journal::each_match;
use serde::Serialize;

use super::export::failure;
use super::number::{number, whole_from};
use super::run_name::folder;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::{json_line, to_stdout};
use crate::recorded::RecordedRun;
use crate::regret::{Decision, Judge, PlayerRegret, RegretError, Regrets};
use crate::solution_file;

const EXAMPLES: &str = "\
Examples:
  gamemaster solve connect_four_4x4 --out c4.table
  gamemaster regret my_run --table c4.table
  gamemaster regret my_run --table c4.table --table nim.table --json
  gamemaster regret my_run --table c4.table --csv > decisions.csv

The regret of a decision is what the state was worth to the role, less what it
is worth after the move, if all roles play their best from there on. States
where the role had a single move are left out, and so are games without a table.
The mean of a block is the mean over its decisions; the regret of a player is
the mean over blocks, with equal weight for each game.";

/// Arguments of `gamemaster regret`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of a run, or its name in results/runs
    run: PathBuf,
    /// Judge by this table of `gamemaster solve`; may be repeated
    #[arg(long = "table", value_name = "FILE", required = true)]
    tables: Vec<PathBuf>,
    /// Count decisions that give away N points as blunders
    #[arg(long, value_name = "N", default_value_t = 25.0, value_parser = number)]
    blunder: f64,
    /// List the N worst decisions
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_from::<usize>(0))]
    worst: usize,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print all decisions as CSV
    #[arg(long)]
    csv: bool,
}

#[derive(Serialize)]
struct Report {
    run: String,
    matches: u64,
    /// Matches of games without a table.
    skipped_matches: u64,
    decisions: u64,
    blunder_points: f64,
    players: Vec<PlayerRow>,
    worst: Vec<DecisionRow>,
}

#[derive(Serialize)]
struct PlayerRow {
    player: String,
    games: usize,
    decisions: u64,
    mean_regret: f64,
    interval: Option<[f64; 2]>,
    /// Shares of the decisions.
    perfect: f64,
    blunders: f64,
}

#[derive(Serialize)]
struct DecisionRow {
    job: u64,
    match_id: String,
    game: String,
    step: usize,
    player: String,
    role: String,
    #[serde(rename = "move")]
    action: String,
    substitute: bool,
    legal: usize,
    value: f64,
    regret: f64,
    best_move: String,
}

impl From<&Decision> for DecisionRow {
    fn from(decision: &Decision) -> Self {
        Self {
            job: decision.job,
            match_id: decision.match_id.clone(),
            game: decision.game.clone(),
            step: decision.step,
            player: decision.player.clone(),
            role: decision.role.clone(),
            action: decision.action.clone(),
            substitute: decision.is_substitute,
            legal: decision.n_legal,
            value: decision.value,
            regret: decision.regret,
            best_move: decision.best.clone(),
        }
    }
}

impl From<PlayerRegret> for PlayerRow {
    fn from(regret: PlayerRegret) -> Self {
        let share = |n: u64| n as f64 / regret.n_decisions as f64;
        Self {
            games: regret.n_games,
            decisions: regret.n_decisions,
            mean_regret: regret.mean,
            interval: regret.interval,
            perfect: share(regret.n_perfect),
            blunders: share(regret.n_blunders),
            player: regret.player,
        }
    }
}

/// Carries out `gamemaster regret`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    if arguments.blunder.is_nan() || arguments.blunder <= 0.0 {
        let typed = arguments.blunder;
        return Err(Failure::usage(anyhow!("--blunder {typed}: expected more than 0 points")));
    }
    let folder = folder(&arguments.run)?;
    let mut tables = Vec::new();
    for path in &arguments.tables {
        tables.push(solution_file::shared(path).map_err(Failure::usage)?);
    }
    let mut run = RecordedRun::open(&folder).map_err(failure)?;
    let mut judge = Judge::new(tables);
    let mut regrets = Regrets::new(arguments.blunder, arguments.worst);
    let (mut n_matches, mut n_skipped) = (0, 0);
    to_stdout(|stdout| {
        let mut has_headers = true;
        let mut judge_match = |record: &results::record::MatchRecord| -> Result<(), Failure> {
            let machine = run.machine(record).map_err(failure)?;
            if !judge.knows(machine) {
                n_skipped += 1;
                return Ok(());
            }
            n_matches += 1;
            let decisions = judge.decisions(machine, record).map_err(|error| match error {
                RegretError::Recorded(error) => failure(error),
                error => Failure::usage(error),
            })?;
            if arguments.csv {
                let mut builder = csv::WriterBuilder::new();
                let mut rows = builder.has_headers(has_headers).from_writer(Vec::new());
                for decision in &decisions {
                    rows.serialize(DecisionRow::from(decision))?;
                    has_headers = false;
                }
                stdout.write_all(&rows.into_inner()?)?;
            }
            regrets.add(record, &decisions);
            Ok(())
        };
        let mut result = Ok(());
        each_match(&folder, |record| {
            result = judge_match(&record);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(|error| failure(error.into()))?;
        result?;
        if n_matches == 0 {
            let run = arguments.run.display();
            return Err(Failure::usage(anyhow!("the tables are for none of the games of {run}")));
        }
        if arguments.csv {
            return Ok(exit_code::OK);
        }
        let players: Vec<PlayerRow> = regrets.players().into_iter().map(Into::into).collect();
        let report = Report {
            run: arguments.run.display().to_string(),
            matches: n_matches,
            skipped_matches: n_skipped,
            decisions: players.iter().map(|player| player.decisions).sum(),
            blunder_points: arguments.blunder,
            players,
            worst: regrets.worst().iter().map(Into::into).collect(),
        };
        if arguments.json {
            json_line(stdout, &report)?;
        } else {
            print(stdout, &report)?;
        }
        Ok(exit_code::OK)
    })
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let matches = counted(report.matches, "match", "matches");
    let decisions = counted(report.decisions, "decision", "decisions");
    write!(out, "{decisions} in {matches}")?;
    match report.skipped_matches {
        0 => writeln!(out, ".\n")?,
        n => {
            let skipped = counted(n, "match", "matches");
            writeln!(out, "; {skipped} of games without a table left out.\n")?;
        }
    }
    let width = report.players.iter().map(|player| player.player.len()).max().unwrap_or(0).max(6);
    writeln!(out, "{:<width$}  regret  95 % interval  decisions  perfect  blunders", "player")?;
    for player in &report.players {
        let interval = match player.interval {
            Some([low, high]) => format!("[{low:.2}, {high:.2}]"),
            None => "-".to_owned(),
        };
        writeln!(
            out,
            "{:<width$}  {:>6.2}  {interval:>13}  {:>9}  {:>6.1}%  {:>7.1}%",
            player.player,
            player.mean_regret,
            player.decisions,
            100.0 * player.perfect,
            100.0 * player.blunders
        )?;
    }
    writeln!(
        out,
        "\nregret: points that a decision gives away; blunders: {} or more",
        report.blunder_points
    )?;
    if report.worst.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWorst decisions (see `gamemaster replay MATCH`):")?;
    for row in &report.worst {
        let DecisionRow { job, game, step, player, role, action, value, regret, best_move, .. } =
            row;
        let substitute = if row.substitute { ", a substitute" } else { "" };
        writeln!(
            out,
            "  match {job}, step {step}: {player} as {role} in {game}: {action}{substitute}, gives away \
             {regret:.1} of {value:.1}; best {best_move}"
        )?;
    }
    Ok(())
}
