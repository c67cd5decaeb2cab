//! `gamemaster regret`: how much reward the decisions of a run gave away.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use results::counted::counted;
use results::regret::{JudgedDecision, RegretSummary};

use super::export::failure;
use super::number::{number, whole_from};
use super::run_name::folder;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::{json_line, to_stdout};
use crate::regret::{Judging, RegretError, judge_run};
use crate::solution_file;

const EXAMPLES: &str = "\
Examples:
  gamemaster solve connect_four_4x4 --out c4.table
  gamemaster regret my_run --table c4.table
  gamemaster regret my_run --table c4.table --table nim.table --json
  gamemaster regret my_run --table c4.table --csv > decisions.csv

The regret of a decision is the value of the state minus its value after the
move, for the role that moves, under best play of all roles. States in which the
role had a single move are left out; so are states that are in no table. The
mean of a block is the mean over its decisions; the regret of a player is the
mean over blocks, with equal weight for each game.";

/// Arguments of `gamemaster regret`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of a run, or the name of a folder in results/runs (NAME-HASH)
    run: PathBuf,
    /// Judge by this file of `gamemaster solve --out`; repeat it for other games and
    /// endgames
    #[arg(long = "table", value_name = "FILE", required = true)]
    tables: Vec<PathBuf>,
    /// Count decisions that give away N points or more as blunders
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

/// Carries out `gamemaster regret`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    if !(arguments.blunder > 0.0 && arguments.blunder <= 100.0) {
        let typed = arguments.blunder;
        let expected = "expected more than 0 and at most 100 points";
        return Err(Failure::usage(anyhow!("--blunder {typed}: {expected}")));
    }
    let folder = folder(&arguments.run)?;
    let mut tables = Vec::new();
    for path in &arguments.tables {
        tables.push(solution_file::shared(path).map_err(Failure::usage)?);
    }
    let judging = Judging { blunder: arguments.blunder, n_worst: arguments.worst };
    to_stdout(|stdout| {
        let mut rows = CsvRows { has_headers: true };
        let mut written = Ok(());
        let judged = judge_run(&folder, tables, judging, &mut |decisions| {
            if arguments.csv {
                written = rows.write(stdout, decisions);
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        let found = judged.map_err(not_judged)?.summary;
        let found = RegretSummary { run: arguments.run.display().to_string(), ..found };
        if arguments.json {
            json_line(stdout, &found)?;
        } else if !arguments.csv {
            print(stdout, &found)?;
        }
        Ok(exit_code::OK)
    })
}

/// Why decisions could not be judged, with its exit code.
pub(super) fn not_judged(error: RegretError) -> Failure {
    match error {
        RegretError::Recorded(error) => failure(error),
        error => Failure::usage(error),
    }
}

/// Writes decisions as CSV, with one heading.
struct CsvRows {
    has_headers: bool,
}

impl CsvRows {
    fn write(&mut self, out: &mut impl Write, decisions: &[JudgedDecision]) -> io::Result<()> {
        let mut builder = csv::WriterBuilder::new();
        builder.terminator(csv::Terminator::CRLF);
        let mut rows = builder.has_headers(self.has_headers).from_writer(Vec::new());
        for decision in decisions {
            rows.serialize(decision)?;
            self.has_headers = false;
        }
        out.write_all(&rows.into_inner().map_err(csv::IntoInnerError::into_error)?)
    }
}

fn print(out: &mut impl Write, report: &RegretSummary) -> io::Result<()> {
    let matches = counted(report.matches, "match", "matches");
    let decisions = counted(report.decisions, "decision", "decisions");
    write!(out, "{decisions} in {matches}")?;
    if report.skipped_matches > 0 {
        let skipped = counted(report.skipped_matches, "match", "matches");
        write!(out, "; {skipped} of games without a table left out")?;
    }
    if report.skipped_decisions > 0 {
        let skipped = counted(report.skipped_decisions, "decision", "decisions");
        write!(out, "; {skipped} in states that no table has left out")?;
    }
    writeln!(out, ".\n")?;
    let width = report.players.iter().map(|player| player.player.len()).max().unwrap_or(0).max(6);
    writeln!(out, "{:<width$}  regret  95 % interval  decisions  best moves   blunders", "player")?;
    for player in &report.players {
        let interval = match player.interval {
            Some([low, high]) => format!("[{low:.2}, {high:.2}]"),
            None => "-".to_owned(),
        };
        writeln!(
            out,
            "{:<width$}  {:>6.2}  {interval:>13}  {:>9}  {:>8.1} %  {:>7.1} %",
            player.player,
            player.mean_regret,
            player.decisions,
            100.0 * player.perfect,
            100.0 * player.blunders
        )?;
    }
    writeln!(
        out,
        "\ndecisions: moves with a choice; regret: points that a decision gives away; best moves: \
         decisions that give away nothing; blunders: {} points or more",
        report.blunder_points
    )?;
    if report.worst.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nWorst decisions (`gamemaster replay MATCH --run {} --step STEP` prints the state before \
         each):",
        report.run
    )?;
    for row in &report.worst {
        let JudgedDecision {
            job, game, step, player, role, action, value, regret, best_move, ..
        } = row;
        let substitute = if row.substitute { ", a substitute" } else { "" };
        writeln!(
            out,
            "  match {job}, after step {step}: {player} as {role} in {game}: {action}{substitute}, gives away \
             {regret:.1} of {value:.1}; best {best_move}"
        )?;
    }
    Ok(())
}
