//! Reporting on a run.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use results::files::{REPORT_HTML, SPEC_LOCK, WORKERS};
use results::journal::{JournalError, each_match};
use results::report::{self, CsvTable, Format, Part, ReportError, StandingsTable, StrengthTable};
use results::workers;

use super::number::whole_from;
use super::regret::not_judged;
use super::run_name::folder;
use crate::drawn_replay::drawn_replays;
use crate::exit_code;
use crate::experiment::{has_moves, summarise};
use crate::failure::{CommandResult, Failure};
use crate::output::to_stdout;
use crate::regret::{JudgedRun, Judging, judge_run};
use crate::solution_file;

const EXAMPLES: &str = "\
Examples:
  gamemaster report results/runs/default-1a2b3c4d
  gamemaster report default-1a2b3c4d --format md > report.md
  gamemaster report my_run --sections ratings,pairs
  gamemaster report my_run --table pairs > pairs.csv
  gamemaster report my_run --json | jq '.players[] | {player, mean, interval}'
  gamemaster report my_run --html
      write my_run/report.html: figures, tables, replays
  gamemaster report my_run --html --regret c4.table
      with regret and the worst decisions, from a file of `solve --out`
  gamemaster report my_run --html - | gzip > report.html.gz
  gamemaster report my_run --rebuild
      rewrite matches.csv, moves.csv and the summaries

Everything is computed from the journal of the run; the replays of --html need
its rulesheets, too. The report of a run that is still playing, or was
interrupted, covers the matches played so far.";

/// Maximum number of matches of a page to step through, if nothing else is said.
const N_REPLAYS: usize = 20;

/// Arguments of `gamemaster report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of a run, or the name of a folder in results/runs (NAME-HASH)
    run: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatWord,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print these sections, as text or Markdown [default: summary, and workers if
    /// workers played the run]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME,...",
          default_value = "summary", hide_default_value = true, conflicts_with_all = ["json", "html", "table"])]
    sections: Vec<SectionWord>,
    /// Print one table as CSV; mean rewards and their intervals have four decimals
    /// [default with --format csv: means]
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["json", "html"])]
    table: Option<TableWord>,
    /// Write an HTML page to FILE or `-` [default: report.html in the folder]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["format", "json"])]
    html: Option<Option<PathBuf>>,
    /// Put at most N matches into the page for replay
    #[arg(long, value_name = "N", default_value_t = N_REPLAYS, requires = "html", value_parser = whole_from::<usize>(0))]
    replays: usize,
    /// Add the regret of decisions, from this file of `gamemaster solve --out` (as
    /// `gamemaster regret --table` takes it); may be repeated
    #[arg(long = "regret", value_name = "FILE", conflicts_with_all = ["json", "table"])]
    regret: Vec<PathBuf>,
    /// Leave out the matches that this worker played; may be repeated
    #[arg(long = "exclude-worker", value_name = "NAME", conflicts_with = "rebuild")]
    excluded: Vec<String>,
    /// Also rewrite the CSV tables and summaries
    #[arg(long)]
    rebuild: bool,
}

/// [`Format`] as typed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum FormatWord {
    /// Tables for a terminal
    #[default]
    Text,
    /// All numbers
    Json,
    /// One table as comma-separated values
    Csv,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
}

/// [`Part`] as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SectionWord {
    /// Standings, cross table, means, thinking time, faults
    Summary,
    /// Only the standings, with Elo and the probability of ranking first
    Standings,
    /// Probability of each rank
    Ranks,
    /// Elo, voting as evaluation, Nash averaging, alpha-rank
    Ratings,
    /// Difference between the players of each pair, with its interval (only of
    /// neighbours in the standings if there are more than 6 players)
    Pairs,
    /// Effects of seats and of players, in points
    Seats,
    /// Strength by budget
    Time,
    /// What players expected of their moves, and what they got
    Calibration,
    /// Standings of each stage (swiss, knockout, ladder, races and specs with several
    /// stages)
    Stages,
    /// Faults of each player
    Faults,
    /// The workers that played, and whether their machines shift results
    Workers,
    /// All of these
    All,
}

impl SectionWord {
    fn part(self) -> Option<Part> {
        Some(match self {
            Self::Summary => Part::Summary,
            Self::Standings => Part::Standings,
            Self::Ranks => Part::Ranks,
            Self::Ratings => Part::Ratings,
            Self::Pairs => Part::Pairs,
            Self::Seats => Part::Seats,
            Self::Time => Part::Time,
            Self::Calibration => Part::Calibration,
            Self::Stages => Part::Stages,
            Self::Faults => Part::Faults,
            Self::Workers => Part::Workers,
            Self::All => return None,
        })
    }
}

/// [`CsvTable`] as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum TableWord {
    /// A row for each player: mean reward, Elo, probability of ranking first
    Standings,
    /// A row for each mean: overall, by game, role and budget
    Means,
    /// A row for each player and rank
    Ranks,
    /// A row for each rating method and player
    Ratings,
    /// A row for each pair of players (only of neighbours in the standings if there
    /// are more than 32)
    Pairs,
    /// A row for each player and opponent
    CrossTable,
    /// A row for each player and budget: think times
    Timing,
    /// A row for each player and kind of fault
    Faults,
    /// A row for each seat
    Seats,
    /// A row for each player: its effect in points
    Effects,
    /// A row for each player and budget: strength by budget
    Time,
    /// A row for each player and range of expected rewards
    Calibration,
}

impl From<TableWord> for CsvTable {
    fn from(word: TableWord) -> Self {
        match word {
            TableWord::Standings => Self::Strength(StrengthTable::Standings),
            TableWord::Means => Self::Standings(StandingsTable::Means),
            TableWord::Ranks => Self::Strength(StrengthTable::Ranks),
            TableWord::Ratings => Self::Strength(StrengthTable::Ratings),
            TableWord::Pairs => Self::Strength(StrengthTable::Pairs),
            TableWord::CrossTable => Self::Standings(StandingsTable::CrossTable),
            TableWord::Timing => Self::Standings(StandingsTable::Timing),
            TableWord::Faults => Self::Standings(StandingsTable::Faults),
            TableWord::Seats => Self::Strength(StrengthTable::Seats),
            TableWord::Effects => Self::Strength(StrengthTable::Effects),
            TableWord::Time => Self::Strength(StrengthTable::Time),
            TableWord::Calibration => Self::Strength(StrengthTable::Calibration),
        }
    }
}

impl FormatWord {
    /// The format meant, where `--json` says so too.
    pub(super) fn or_json(self, json: bool) -> Format {
        match self {
            _ if json => Format::Json,
            Self::Text => Format::Text,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::Md => Format::Md,
        }
    }
}

/// Carries out `gamemaster report`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let format = arguments.format.or_json(arguments.json);
    let whole = folder(&arguments.run)?;
    let reduced = match &arguments.excluded[..] {
        [] => None,
        excluded => Some(ReducedRun::new(&whole, excluded)?),
    };
    let run = reduced.as_ref().map_or(&whole, |reduced| &reduced.folder).clone();
    let parts: Option<Vec<Part>> = arguments.sections.iter().map(|word| word.part()).collect();
    let parts = parts.unwrap_or_else(|| Part::ALL.to_vec());
    let judged = match &arguments.regret[..] {
        [] => None,
        tables => Some(judged(&run, tables)?),
    };
    let text = match (&arguments.html, arguments.table, format) {
        (Some(_), ..) => page(&run, arguments.replays, judged)?,
        (_, None, Format::Json | Format::Csv) if judged.is_some() => {
            return Err(Failure::usage(anyhow::anyhow!(
                "--regret is for text, Markdown and the page; `gamemaster regret` prints JSON and CSV"
            )));
        }
        (_, Some(_), Format::Json | Format::Md) => {
            return Err(Failure::usage(anyhow::anyhow!("--table prints CSV; leave --format out")));
        }
        (_, Some(table), _) => report::report_table(&run, table.into()).map_err(failure)?,
        (_, None, Format::Json | Format::Csv) if parts != [Part::Summary] => {
            return Err(Failure::usage(anyhow::anyhow!(
                "--sections is for text and Markdown; JSON has all sections, and --table chooses \
                 the table of CSV"
            )));
        }
        (_, None, Format::Json | Format::Csv) => report::report(&run, format).map_err(failure)?,
        (_, None, format) => {
            let text = report::report_parts(&run, format, &parts).map_err(failure)?;
            let regret = judged.map(|judged| report::render_regret(&judged.summary, format));
            text + &regret.unwrap_or_default()
        }
    };
    if arguments.rebuild {
        let has_moves = has_moves(std::slice::from_ref(&run));
        summarise(&run, has_moves).map_err(Failure::experiment)?;
    }
    let file = match &arguments.html {
        Some(Some(file)) if file.as_os_str() != "-" => Some(file.clone()),
        Some(None) => Some(whole.join(REPORT_HTML)),
        _ => None,
    };
    let text = match file {
        None => text,
        Some(file) => {
            report::write_text(&file, &text).map_err(Failure::unwritable)?;
            format!("wrote {} ({} kB)\n", file.display(), text.len().div_ceil(1000))
        }
    };
    to_stdout(|stdout| {
        stdout.write_all(text.as_bytes())?;
        Ok(exit_code::OK)
    })
}

/// A copy of a run without the matches of some workers, which goes away when it is
/// dropped.
struct ReducedRun {
    folder: PathBuf,
}

impl ReducedRun {
    fn new(run: &Path, excluded: &[String]) -> Result<Self, Failure> {
        let name = format!("gamemaster-report-{}", std::process::id());
        let reduced = Self { folder: std::env::temp_dir().join(name) };
        let unwritable = || format!("cannot write to `{}`", reduced.folder.display());
        std::fs::create_dir(&reduced.folder).with_context(unwritable)?;
        for file in [SPEC_LOCK, WORKERS].iter().filter(|file| run.join(file).exists()) {
            std::fs::copy(run.join(file), reduced.folder.join(file)).with_context(unwritable)?;
        }
        for worker in excluded {
            let mut is_there = false;
            each_match(run, |record| {
                is_there |= record.worker.as_deref() == Some(worker);
                if is_there { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .map_err(|error| failure(error.into()))?;
            if !is_there {
                return Err(Failure::usage(anyhow::anyhow!(
                    "--exclude-worker {worker}: no match of {} was played by this worker",
                    run.display()
                )));
            }
        }
        let left = workers::without(run, excluded, &reduced.folder);
        match left.map_err(|error| failure(error.into()))? {
            0 => Err(Failure::usage(anyhow::anyhow!(
                "--exclude-worker leaves no match of {}: these workers played all of them",
                run.display()
            ))),
            _ => Ok(reduced),
        }
    }
}

impl Drop for ReducedRun {
    fn drop(&mut self) {
        // What is left of it is in the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What the decisions of the run gave away, by these tables.
fn judged(run: &Path, paths: &[PathBuf]) -> Result<JudgedRun, Failure> {
    let mut tables = Vec::new();
    for path in paths {
        tables.push(solution_file::shared(path).map_err(Failure::usage)?);
    }
    let each = &mut |_: &[_]| ControlFlow::Continue(());
    judge_run(run, tables, Judging::default(), each).map_err(not_judged)
}

/// The report as a page, with the matches of the worst decisions among those to replay. A
/// match that cannot be drawn is left out with a note.
fn page(run: &Path, n_replays: usize, judged: Option<JudgedRun>) -> Result<String, Failure> {
    let mut evaluation = report::evaluated(run, n_replays).map_err(failure)?;
    let (summary, worst) = judged.map(|it| (it.summary, it.worst_matches)).unzip();
    let worst = worst.unwrap_or_default();
    let is_kept = |job: u64| evaluation.records().any(|(record, _)| record.job == job);
    let others: Vec<_> = worst
        .iter()
        .filter(|record| n_replays > 0 && !is_kept(record.job))
        .map(|record| (record, "one of the worst decisions"))
        .collect();
    let (replays, notes) = drawn_replays(run, evaluation.records().chain(others));
    evaluation.regret = summary;
    Ok(report::html(&evaluation, &replays, &notes))
}

/// A folder without a run is the user's mistake.
fn failure(error: ReportError) -> Failure {
    let code = match &error {
        ReportError::Empty { .. }
        | ReportError::Journal(
            JournalError::Missing { .. }
            | JournalError::NoHeader { .. }
            | JournalError::NewerFormat { .. },
        ) => exit_code::USAGE,
        _ => exit_code::INTERNAL,
    };
    Failure { code, error: error.into() }
}
