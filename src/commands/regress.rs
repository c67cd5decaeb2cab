//! Tests whether a new version of a player is weaker than the old one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use results::counted::counted;
use results::regress::{Outcome as Answer, Reason, Regression, Tracker};
use results::report::{self, Format};

use super::number::{number, whole, whole_from};
use super::queue_options::CoordinatorOptions;
use super::tournament;
use super::workers::Workers;
use crate::consumers::{brief, workers_words};
use crate::event::EventKind;
use crate::exit_code;
use crate::experiment::regression::{self, Asked, Pace, Request, Watch};
use crate::experiment::{ExperimentError, Session, folder};
use crate::failure::{CommandResult, Failure};
use crate::interrupt::on_interrupt;
use crate::manager::PlayerSource;
use crate::output::json_or_text;
use crate::spec::Difference;
use crate::supervisor::OWN_EXECUTABLE;

const EXAMPLES: &str = "\
Examples:
  gamemaster regress --base alpha_beta:depth=4 --head alpha_beta:depth=3
  gamemaster regress --base 'cmd:./old --port {port}' \\
      --head 'cmd:./new --port {port}' --suite ci.toml --margin 5 \\
      --time-limit 10m --markdown \"$GITHUB_STEP_SUMMARY\"
  gamemaster regress --base alpha_beta --head mcts --queue nats://HOST:4222
      have workers on other machines play it (see docs/cluster.md)

A player is written as for `gamemaster play`: KIND, KIND:option=value,...,
http://HOST:PORT, or 'cmd:COMMAND' with {port} in it. A suite here is a spec
whose players are the opponents (not a suite of positions of `gamemaster
suite`): base and head play the same games against them with the same random
seeds and seats. Without opponents, base and head play each other. The suite
`shipped` has six games and a budget in nodes instead of time.

A compared block is what base and head play at one game with one budget, against
all opponents, under the same conditions. Compared blocks are played in cycles
of four parts, and a part has one compared block for each game and budget. To
see whether the machine disturbs the matches, a copy of head (the canary) also
plays one block for each game and budget in each cycle: if head and its copy
differ by more than chance allows, head does not pass. A game with a `weight`
has this number of blocks instead of one, for the canary, too.

The folder gets the files of a run, and regression.json, regression.md and
junit.xml. Repeat the command to resume an interrupted comparison; it ends
with the same result. A comparison that ended at --time-limit continues if
the command is repeated with a longer one. A different --max-blocks, --margin
or --alpha starts a new comparison in a new folder.

Exit codes:
  0    pass
  1    internal error, or aborted matches
  2    invalid arguments or suite, or --out contains another comparison
  3    an invalid rulesheet, or a player that does not reply at the beginning
  10   fail: head is weaker or less reliable
  11   inconclusive
  130  interrupted; repeat the command to resume";

/// Arguments of `gamemaster regress`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Old version of the player
    #[arg(long, value_name = "PLAYER")]
    base: String,
    /// New version of the player
    #[arg(long, value_name = "PLAYER")]
    head: String,
    /// Play this spec; its players are the opponents
    #[arg(long, value_name = "SPEC", default_value = regression::SHIPPED)]
    suite: PathBuf,
    /// Test whether head is weaker by this many points (not the grace period of the
    /// clocks, which is `clocks.margin` of the suite)
    #[arg(long, value_name = "POINTS", default_value_t = 3.0, value_parser = number)]
    margin: f64,
    /// Limit to P the probability that a head weaker by the margin passes, and the
    /// probability that an equal head fails
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = number)]
    alpha: f64,
    /// Stop after this time [default: 10m without --max-blocks]
    #[arg(long, value_name = "TIME", value_parser = read_time_limit)]
    time_limit: Option<Duration>,
    /// Play at most this many compared blocks (see below), rounded down to a
    /// multiple of games times budgets, where a game counts with its `weight`
    #[arg(long, value_name = "N", value_parser = whole_from::<u64>(0))]
    max_blocks: Option<u64>,
    /// Treat an inconclusive result as pass or fail [default: exit with 11]. If a
    /// statistic is undefined (a bug of gamemaster), the exit code is always 11
    #[arg(long, value_enum, value_name = "AS")]
    inconclusive: Option<InconclusiveWord>,
    /// Write to this folder, or resume the run in it [default:
    /// results/runs/regress-SUITE-HASH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Play N matches at the same time [default: all cores if budgets are in nodes,
    /// otherwise the cores divided by the number of thinking players of a match (all
    /// but `legal` and `random`), even if they take turns]
    #[arg(long, value_name = "N", conflicts_with = "queue",
          value_parser = whole::<u32>(1..=1024))]
    jobs: Option<u32>,
    /// Use this random seed instead of the one in the suite
    #[arg(long, value_name = "S", value_parser = whole_from::<u64>(0))]
    seed: Option<u64>,
    #[command(flatten)]
    queue: CoordinatorOptions,
    /// Append the summary to FILE, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Print the result and errors only: no progress
    #[arg(long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InconclusiveWord {
    /// Exit code 0
    Pass,
    /// Exit code 10
    Fail,
}

/// A time budget on the command line: above zero.
fn read_time_limit(text: &str) -> Result<Duration, String> {
    let wanted = || format!("expected a time such as 90s, 10m or 1h30m, not {text:?}");
    let budget = humantime::parse_duration(text).map_err(|_| wanted())?;
    if budget.is_zero() { Err(wanted()) } else { Ok(budget) }
}

/// Carries out `gamemaster regress`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let asked = regression::ask(&request(arguments))
        .map_err(|error| tournament::not_laid_out(error, Some(&arguments.suite)))?;
    let comparison = asked.open(arguments.out.clone()).map_err(not_opened)?;
    let path = comparison.folder.path.clone();
    if !arguments.quiet {
        announce(&asked, &comparison.folder, arguments.queue.queue.is_some())?;
    }
    let found = match comparison.known().map_err(Failure::experiment)? {
        Some(found) => found,
        None => {
            // Launched players end with the session, whichever way we leave.
            let session = Session::new(&asked.experiment, &path, Some(OWN_EXECUTABLE.into()));
            let stopper = session.stopper();
            on_interrupt(move || stopper.interrupt()).context("cannot listen for interrupts")?;
            let mut workers = match Workers::hire(&arguments.queue, &asked.experiment, &path) {
                Ok(workers) => workers,
                Err(failure) => {
                    if !Workers::have_begun(&failure) {
                        comparison.folder.discard();
                    }
                    return Err(failure);
                }
            };
            let mut progress = Progress::new(arguments.quiet, comparison.n_blocks());
            let crew = workers.as_mut().map(Workers::crew);
            let played = comparison.play_by(crew, &session, &mut progress);
            if let Some(workers) = workers {
                // What was not decided can be resumed.
                workers.dismiss(matches!(played, Ok(Some(_))))?;
            }
            match played.map_err(Failure::experiment)? {
                Some(found) => found,
                None => return interrupted(),
            }
        }
    };
    let inconclusive_fails = arguments.inconclusive != Some(InconclusiveWord::Pass);
    regression::record(&asked, &path, &found, inconclusive_fails).map_err(Failure::experiment)?;
    if let Some(file) = &arguments.markdown {
        append(file, &report::render_regression(&found, Format::Md))
            .map_err(|error| Failure::cannot_write(file, error))?;
    }
    print(arguments, &path, &found)
}

fn request(arguments: &Arguments) -> Request {
    Request {
        base: arguments.base.clone(),
        head: arguments.head.clone(),
        suite: arguments.suite.clone(),
        margin: arguments.margin,
        alpha: arguments.alpha,
        time_limit: arguments.time_limit,
        max_blocks: arguments.max_blocks,
        jobs: arguments.jobs,
        seed: arguments.seed,
        is_played_here: arguments.queue.queue.is_none(),
    }
}

/// Why the folder cannot be used, and what to do where only the length differs.
fn not_opened(error: ExperimentError) -> Failure {
    let ExperimentError::Folder(folder::FolderError::OtherSpec { path, differences }) = &error
    else {
        return Failure::experiment(error);
    };
    let difference = if *differences == [Difference::Key("blocks".to_owned())] {
        "--max-blocks differs"
    } else if differences.iter().any(|found| matches!(found, Difference::Player(_))) {
        "the players differ, or their options or program files"
    } else {
        return Failure::experiment(error);
    };
    let path = path.display();
    let message =
        anyhow!("{path} holds another comparison: {difference}; name another folder with --out");
    Failure { error: message, ..Failure::experiment(error) }
}

fn announce(asked: &Asked, folder: &folder::RunFolder, on_queue: bool) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for warning in &asked.experiment.warnings {
        writeln!(stderr, "warning: {warning}")?;
    }
    for line in regression::outlook(&asked.experiment, &asked.question) {
        writeln!(stderr, "{line}")?;
    }
    let path = folder.path.display();
    let n_done = folder.done.len();
    if n_done == 0 {
        let by = match on_queue {
            true => "by workers".to_owned(),
            false => {
                format!("{} at once", counted(asked.experiment.concurrency, "match", "matches"))
            }
        };
        return writeln!(stderr, "Playing into {path}, {by}");
    }
    writeln!(
        stderr,
        "Resuming {path} ({} in its journal); to start again, name another folder with --out{}",
        counted(n_done, "match", "matches"),
        if has_url(asked) { " (also if a player at a URL has changed)" } else { "" }
    )
}

/// Whether a player is given by a URL.
fn has_url(asked: &Asked) -> bool {
    let mut players = asked.experiment.spec.players.iter();
    players.any(|player| matches!(player.config.source, PlayerSource::Remote { .. }))
}

/// Time between two lines of progress.
const LINE_TIME: Duration = Duration::from_secs(5);

/// Prints the progress of a comparison on standard error.
struct Progress {
    is_quiet: bool,
    printed: Instant,
    n_blocks: u64,
    has_pace: bool,
    n_workers: Option<u32>,
}

impl Progress {
    /// `n_blocks` were played before.
    fn new(is_quiet: bool, n_blocks: u64) -> Self {
        Self { is_quiet, printed: Instant::now(), n_blocks, has_pace: false, n_workers: None }
    }

    fn print(&mut self, tracker: &Tracker, spent: Duration) {
        if self.is_quiet || tracker.n_blocks() == self.n_blocks {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        if !self.has_pace {
            self.has_pace = true;
            let pace = regression::pace(tracker.question(), tracker.n_blocks(), spent);
            match pace {
                Some(pace @ Pace::TooSlow { .. }) => drop(writeln!(stderr, "warning: {pace}")),
                Some(pace @ Pace::Enough { .. }) => drop(writeln!(stderr, "{pace}")),
                None => {}
            }
        }
        if self.printed.elapsed() < LINE_TIME {
            return;
        }
        (self.printed, self.n_blocks) = (Instant::now(), tracker.n_blocks());
        let (llr, [low, high]) = tracker.llr();
        let mean =
            tracker.mean().map_or("no score yet".into(), |mean| format!("{mean:+.1} points"));
        let _ = writeln!(
            stderr,
            "[{}, {}] head minus base {mean}; log-likelihood ratio {llr:.2} of {low:.2} to \
             {high:.2}",
            counted(self.n_blocks, "block", "blocks"),
            brief(spent)
        );
    }

    /// A closed terminal does not stop the comparison.
    fn line(&self, line: &str) {
        if !self.is_quiet {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }
}

impl Watch for Progress {
    fn event(&mut self, event: &EventKind, tracker: &Tracker, spent: Duration) {
        match event {
            EventKind::MatchFinished { .. } => self.print(tracker, spent),
            EventKind::WorkersChanged { n_workers, n_at_once }
                if self.n_workers.replace(*n_workers) != Some(*n_workers) =>
            {
                self.line(&workers_words(*n_workers, *n_at_once));
            }
            EventKind::Notice(notice) => self.line(&format!("note: {notice}")),
            _ => {}
        }
    }
}

fn interrupted() -> CommandResult {
    writeln!(std::io::stderr().lock(), "Interrupted. To resume, repeat the command.")?;
    Ok(exit_code::INTERRUPTED)
}

fn append(file: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(text.as_bytes())
}

/// Prints the result, and returns it as an exit code.
fn print(arguments: &Arguments, path: &Path, found: &Regression) -> CommandResult {
    json_or_text(arguments.json, found, |stdout, found| {
        write!(stdout, "{}", report::render_regression(found, Format::Text))?;
        writeln!(stdout, "\nFolder: {}", path.display())
    })?;
    let mut stderr = std::io::stderr().lock();
    for caution in report::cautions_of_regression(found) {
        writeln!(stderr, "warning: {caution}")?;
    }
    if found.outcome == Answer::Inconclusive && found.reason != Reason::Internal {
        match arguments.inconclusive {
            Some(InconclusiveWord::Pass) => writeln!(
                stderr,
                "warning: inconclusive; the exit code is that of a pass (--inconclusive pass)"
            )?,
            Some(InconclusiveWord::Fail) => writeln!(
                stderr,
                "warning: inconclusive; the exit code is that of a fail (--inconclusive fail)"
            )?,
            None => {}
        }
    }
    Ok(code(found, arguments.inconclusive))
}

fn code(found: &Regression, inconclusive: Option<InconclusiveWord>) -> u8 {
    match (found.outcome, found.reason, inconclusive) {
        (Answer::Pass, ..) => exit_code::OK,
        (Answer::Fail, ..) => exit_code::REGRESSION,
        // An internal error never counts as a pass.
        (Answer::Inconclusive, Reason::Internal, _) | (Answer::Inconclusive, _, None) => {
            exit_code::INCONCLUSIVE
        }
        (Answer::Inconclusive, _, Some(InconclusiveWord::Pass)) => exit_code::OK,
        (Answer::Inconclusive, _, Some(InconclusiveWord::Fail)) => exit_code::REGRESSION,
    }
}
