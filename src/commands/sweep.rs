//! Playing an experiment under several budgets: strength by budget.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use results::report::{self, Format};
use results::sweep;

use super::number::{nodes, whole, whole_from};
use super::queue_options::CoordinatorOptions;
use super::run::preview;
use super::tournament::{self, CommandLine};
use crate::event::StopReason;
use crate::exit_code;
use crate::experiment::{Experiment, Place};
use crate::failure::{CommandResult, Failure};
use crate::output::to_stdout;
use crate::spec::{self, Overrides, read_play_clock, time_budget_words};

const EXAMPLES: &str = "\
Examples:
  gamemaster sweep my_spec.toml --play-clock 50ms,200ms,1s,5s
  gamemaster sweep my_spec.toml --nodes 1e3,1e4,1e5 --out my_sweep
  gamemaster sweep my_spec.toml --nodes 1e3,1e4,1e5,1e6 --out my_sweep --extend
      add a budget
  gamemaster sweep my_spec.toml --nodes 100,1000 --format csv > sweep.csv
  gamemaster sweep my_spec.toml --nodes 1e3,1e4,1e5 --queue nats://HOST:4222
      have workers on other machines play it (see docs/cluster.md)

The whole tournament of the spec is played with each budget. A player with its
own `clocks` or `budget` in the spec keeps them, as a fixed opponent for the
others. With --nodes, only the longest play clock counts: a built-in player that
still thinks after ten times this clock, plus the margin, plus 60 s, is
abandoned: this move and its later ones count as late. A sweep is a run like any
other: repeat the command to resume it, and use `gamemaster report` on its
folder.

Exit codes:
  0    the sweep is complete
  1    internal error, or aborted matches
  2    invalid arguments or spec, or --out contains a run of another spec
  3    an invalid rulesheet, or a player that does not reply at the beginning
  130  interrupted; repeat the command to resume";

/// Arguments of `gamemaster sweep`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Spec of the tournament (TOML)
    spec: PathBuf,
    /// Play with each of these play clocks instead of the spec's
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = play_clock)]
    play_clock: Vec<Duration>,
    /// Play with each of these numbers of nodes (states) per move, instead of time
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = nodes)]
    nodes: Vec<u64>,
    /// Write to this folder, or resume the run in it [default:
    /// results/runs/NAME-HASH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Play N matches at the same time [default: all cores if budgets are in nodes,
    /// otherwise the cores divided by the number of thinking players of a match (all
    /// but `legal` and `random`), even if they take turns]
    #[arg(long, value_name = "N", conflicts_with = "queue",
          value_parser = whole::<u32>(1..=1024))]
    jobs: Option<u32>,
    /// Use this random seed instead of the one in the spec
    #[arg(long, value_name = "S", value_parser = whole_from::<u64>(0))]
    seed: Option<u64>,
    /// Continue a sweep after budgets, players, games or blocks (repetitions) were
    /// added, and keep its matches
    #[arg(long)]
    extend: bool,
    #[command(flatten)]
    queue: CoordinatorOptions,
    /// Print what would be played, and record nothing; with clocks, let built-in players
    /// think for a few seconds to estimate the time
    #[arg(long)]
    dry_run: bool,
    /// Print the results and errors only: no progress
    #[arg(long)]
    quiet: bool,
    /// Print the results in this format
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

/// The first value that equals an earlier one.
fn repeated<T: PartialEq>(values: &[T]) -> Option<&T> {
    values.iter().enumerate().find_map(|(n, it)| values[..n].contains(it).then_some(it))
}

/// Carries out `gamemaster sweep`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let overrides = Overrides {
        seed: arguments.seed,
        jobs: arguments.jobs,
        play_clocks: arguments.play_clock.clone(),
        nodes: arguments.nodes.clone(),
        ..Overrides::default()
    };
    if let Some(nodes) = repeated(&arguments.nodes) {
        return Err(Failure::usage(anyhow!("--nodes: {nodes} is given twice")));
    }
    if let Some(&clock) = repeated(&arguments.play_clock) {
        let clock = humantime::format_duration(clock);
        return Err(Failure::usage(anyhow!("--play-clock: {clock} is given twice")));
    }
    let spec = spec::read_file(&arguments.spec, &overrides).map_err(Failure::usage)?;
    if spec.time_budgets.len() < 2 {
        return Err(Failure::usage(anyhow!(
            "a sweep needs at least two budgets, and this one has only {}; give several with \
             --play-clock or --nodes, or as lists in the spec's `clocks.play` or `budget.nodes`",
            time_budget_words(&spec.time_budgets[0])
        )));
    }
    let experiment = Experiment::new(spec)
        .map_err(|error| tournament::not_laid_out(error, Some(&arguments.spec)))?;
    let place =
        Place { folder: arguments.out.clone(), extend: arguments.extend, ..Place::default() };
    if arguments.dry_run {
        let preview = experiment.preview(&place).map_err(tournament::not_opened)?;
        return preview::print(&preview, arguments.json);
    }
    let Some(played) = tournament::play(&experiment, &place, arguments.quiet, &arguments.queue)?
    else {
        return Ok(exit_code::INTERRUPTED);
    };
    // A sweep with missing matches has no results yet.
    let is_whole = played.ended.stop != StopReason::Interrupted && played.ended.check().is_ok();
    let printed = if is_whole { print(arguments, &played.folder) } else { Ok(exit_code::OK) };
    tournament::conclude(&played.ended, printed, || command_line(arguments))
}

fn print(arguments: &Arguments, folder: &Path) -> CommandResult {
    let found = sweep::sweep(folder)?;
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
            writeln!(stdout, "\nFolder: {}", folder.display())?;
        }
        Ok(exit_code::OK)
    })
}

/// The command that resumes this run.
fn command_line(arguments: &Arguments) -> CommandLine {
    let clocks = arguments.play_clock.iter().map(|clock| format!("{}ms", clock.as_millis()));
    let format = arguments.format.to_possible_value().filter(|_| !arguments.json);
    let format = format.filter(|format| format.get_name() != "text");
    CommandLine::new("sweep")
        .words([arguments.spec.display()])
        .list("--play-clock", clocks)
        .list("--nodes", &arguments.nodes)
        .option("--out", arguments.out.as_ref().map(|out| out.display()))
        .option("--jobs", arguments.jobs)
        .option("--seed", arguments.seed)
        .queue(&arguments.queue)
        .option("--format", format.as_ref().map(|format| format.get_name()))
        .flag("--quiet", arguments.quiet)
        .flag("--json", arguments.json)
}
