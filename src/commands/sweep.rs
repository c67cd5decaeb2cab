//! Playing an experiment under several budgets: strength against time.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use results::report::{self, Format};
use results::sweep;

use super::run::{self, Budgets};
use crate::cli::{Outcome, in_one_line};
use crate::output::to_stdout;
use crate::spec::read_play_clock;

const EXAMPLES: &str = "\
Examples:
  gamemaster sweep my_spec.toml --play-clock 50ms,200ms,1s,5s
  gamemaster sweep my_spec.toml --nodes 1e3,1e4,1e5 --out my_sweep
  gamemaster sweep my_spec.toml --nodes 1e3,1e4,1e5,1e6 --out my_sweep --extend    a budget more
  gamemaster sweep my_spec.toml --nodes 100,1000 --format csv > sweep.csv

The spec's players play its games once under each budget. A player with `clocks` or a `budget` of
its own keeps them: it is the yardstick against which the others' time is measured. A sweep is a
run like any other: the same command again resumes it, `gamemaster report` reports on it.";

/// Arguments of `gamemaster sweep`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The experiment, a TOML file
    spec: PathBuf,
    /// Play clocks, in place of the spec's
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = play_clock)]
    play_clock: Vec<Duration>,
    /// States for each move, in place of the spec's
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = nodes)]
    nodes: Vec<u64>,
    /// Folder of the run; one that holds this run already is resumed
    /// [default: results/runs/NAME-HASH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Matches at once [default: cores / players that think at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// Seed of everything random, instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Keep the matches of a sweep that was smaller (fewer budgets, players, games or blocks)
    #[arg(long)]
    extend: bool,
    /// Only tell what would be played
    #[arg(long)]
    dry_run: bool,
    /// No progress
    #[arg(long)]
    quiet: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatWord,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FormatWord {
    /// Tables for a terminal
    #[default]
    Text,
    /// All numbers
    Json,
    /// A row for each player and budget
    Csv,
    /// Markdown
    Md,
}

fn play_clock(text: &str) -> Result<Duration, String> {
    read_play_clock(text)
        .ok_or_else(|| format!("expected a time such as 200ms or 5s, not {text:?}"))
}

/// A whole number, also as `1e4`.
fn nodes(text: &str) -> Result<u64, String> {
    let exact = |number: &f64| number.fract() == 0.0 && (1.0..=9e15).contains(number);
    let scientific = || text.parse::<f64>().ok().filter(exact).map(|number| number as u64);
    let number = text.parse::<u64>().ok().or_else(scientific);
    let wanted = || format!("expected a whole number from 1, such as 5000 or 1e4, not {text:?}");
    number.filter(|&number| number > 0).ok_or_else(wanted)
}

/// Carries out `gamemaster sweep`.
pub fn execute(arguments: &Arguments) -> Outcome {
    let Arguments { play_clock, nodes, .. } = arguments;
    let budgets = Budgets { play_clocks: play_clock.clone(), nodes: nodes.clone() };
    let run = run::Arguments::for_sweep(
        arguments.spec.clone(),
        arguments.out.clone(),
        (arguments.jobs, arguments.seed),
        budgets,
        (arguments.extend, arguments.quiet, arguments.dry_run, arguments.json),
    );
    let (code, folder) = run::carry_out(&run)?;
    let Some(folder) = folder else { return Ok(code) };
    let found = sweep::sweep(&folder).map_err(in_one_line)?;
    let format = match arguments.format {
        _ if arguments.json => Format::Json,
        FormatWord::Text => Format::Text,
        FormatWord::Json => Format::Json,
        FormatWord::Csv => Format::Csv,
        FormatWord::Md => Format::Md,
    };
    to_stdout(|stdout| {
        write!(stdout, "{}", report::render_sweep(&found, format))?;
        if matches!(format, Format::Text) {
            writeln!(stdout, "\nFiles: {}", folder.display())?;
        }
        Ok(code)
    })
}

#[cfg(test)]
mod tests {

    #[test]
    fn nodes_are_whole_numbers() {
        let table = [("1e3", Some(1000)), ("5000", Some(5000)), ("2.5e2", Some(250))];
        let wrong = ["0", "-1", "1.5", "1e99", "NaN", "inf", "", "x"].map(|text| (text, None));
        for (text, expected) in table.into_iter().chain(wrong) {
            assert_eq!(super::nodes(text).ok(), expected, "{text}");
        }
    }
}
