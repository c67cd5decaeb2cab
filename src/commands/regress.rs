//! Whether a new version of a player is worse than the one it is to replace.

mod asked;
mod compared;
mod design;
mod program;

use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use results::regress::{self, Outcome as Answer, Reason, Regression, Stopped, Tracker};
use results::report::{self, Format};
use results::stats::scored;
use results::{files, tables};

use super::run::{Shutdown, folder_code, manager, players_left, sentences};
use super::run_plan::Planned;
use crate::cli::{Failure, Outcome, failed_to, in_one_line};
use crate::exit_code;
use crate::interrupt::on_interrupt;
use crate::manager::PlayerSource;
use crate::output::{json_line, to_stdout};
use crate::run_folder::{self, RunFolder};
use crate::runner::StopFlag;
use crate::schedule::Schedule;
use asked::{Asked, read_budget};
use compared::{Clock, Played};

const EXAMPLES: &str = "\
Examples:
  gamemaster regress --base alpha_beta:depth=4 --head alpha_beta:depth=3
  gamemaster regress --base 'cmd:./old --port {port}' --head 'cmd:./new --port {port}' \\
      --suite ci.toml --margin 5 --budget 10m --markdown \"$GITHUB_STEP_SUMMARY\"

A player is written as for `gamemaster play`: KIND, KIND:option=value,..., http://HOST:PORT, or
'cmd:COMMAND LINE with {port}'. A suite is a spec whose players are the opponents; base and head
meet them at the same games with the same seeds and seats. Without opponents base and head meet
each other. The suite `shipped` has six games, and counts states in place of time.

In its folder it leaves what a run does, and regression.json, regression.md and junit.xml. The same
command again resumes what was interrupted, to the same answer; a comparison that --budget ended
goes on with a larger one. --max-blocks is part of what is asked: another number is another run.
Exit codes: 0 pass, 10 fail (worse, or less reliable), 11 inconclusive, 2 bad usage or suite,
3 broken rulesheet or player, 130 interrupted.";

/// Arguments of `gamemaster regress`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The player that is there
    #[arg(long, value_name = "PLAYER")]
    base: String,
    /// The player that is to replace it
    #[arg(long, value_name = "PLAYER")]
    head: String,
    /// What is played: a spec, whose players are the opponents
    #[arg(long, value_name = "SPEC", default_value = asked::SHIPPED)]
    suite: PathBuf,
    /// How many points worse is too much
    #[arg(long, value_name = "POINTS", default_value_t = 3.0)]
    margin: f64,
    /// How often the answer may be wrong, either way
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Time after which there is an answer in any case [default: 10m without --max-blocks]
    #[arg(long, value_name = "TIME", value_parser = read_budget)]
    budget: Option<Duration>,
    /// Blocks after which there is an answer in any case
    #[arg(long, value_name = "N")]
    max_blocks: Option<u64>,
    /// What an inconclusive answer counts as [default: exit code 11]
    #[arg(long, value_enum, value_name = "AS")]
    inconclusive: Option<InconclusiveWord>,
    /// Folder of the run; one that holds this run already is resumed
    /// [default: results/runs/regress-SUITE-HASH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Matches at once [default: cores / players that think at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// Seed of everything random, instead of the suite's
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// File to append the summary to, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// No progress; the answer and errors only
    #[arg(long)]
    quiet: bool,
    /// Print the answer as JSON
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

/// Carries out `gamemaster regress`.
pub fn execute(arguments: &Arguments) -> Outcome {
    let Asked { planned, question } = asked::asked(arguments)?;
    let path =
        arguments.out.clone().unwrap_or_else(|| run_folder::default_folder(&planned.spec, None));
    let warnings = sentences(&planned.warnings);
    let folder = run_folder::open(&path, &planned.spec, &*planned.jobs, &warnings, false, None)
        .map_err(|error| Failure { code: folder_code(&error), error: not_opened(error) })?;
    let mut tracker = Tracker::new(question.clone());
    take_up(&folder, &mut tracker)?;
    if !arguments.quiet {
        announce(&planned, &folder, &question)?;
    }
    let earlier = earlier_answer(&path, &tracker, &question)?;
    let clock = Clock::new(question.time_limit_s, &folder, planned.concurrency)?;
    let found = match earlier {
        Some(found) => found,
        None if tracker.ended().is_some() => tracker.conclude(),
        None => match play(arguments, &planned, folder, tracker, clock)? {
            Some(found) => found,
            None => return interrupted(),
        },
    };
    let inconclusive_fails = arguments.inconclusive != Some(InconclusiveWord::Pass);
    report::write_regression(&path, &found, inconclusive_fails).map_err(in_one_line)?;
    let write =
        if planned.spec.record.moves { tables::write_tables } else { tables::write_matches };
    write(&path).map_err(in_one_line)?;
    report::write_summaries(&path).map_err(in_one_line)?;
    if let Some(file) = &arguments.markdown {
        append(file, &report::render_regression(&found, Format::Md))
            .with_context(|| format!("failed to write {}", file.display()))?;
    }
    tell(arguments, &path, &found)
}

/// Why the folder cannot be used, and what to do where only the length differs.
fn not_opened(error: run_folder::FolderError) -> anyhow::Error {
    let advice = match &error {
        run_folder::FolderError::OtherSpec { differences, .. } if differences == &["`blocks`"] => {
            "--max-blocks is part of what is asked, so that a longer comparison is played anew"
        }
        run_folder::FolderError::OtherSpec { differences, .. }
            if differences.iter().any(|what| what.starts_with("player `")) =>
        {
            "a player whose options or program files changed since is another player, and its old \
             matches say nothing of it"
        }
        run_folder::FolderError::Journal(error) => return in_one_line(error),
        _ => return failed_to(error),
    };
    anyhow!("{:#}: {advice}", failed_to(error))
}

/// Reads what an earlier run has played.
fn take_up(folder: &RunFolder, tracker: &mut Tracker) -> Result<(), Failure> {
    if folder.done.is_empty() {
        return Ok(());
    }
    let matches = scored::read(&folder.path.join(files::JOURNAL)).map_err(in_one_line)?;
    for played in matches {
        if folder.done.binary_search(&played.job).is_ok() {
            tracker.take(played).map_err(in_one_line)?;
        }
    }
    Ok(())
}

/// The answer that was given when the time was up, if that is asked again.
/// With the matches at hand it would be given anew, but for the time that has
/// passed between.
fn earlier_answer(
    path: &Path,
    tracker: &Tracker,
    question: &regress::Question,
) -> Result<Option<Regression>, Failure> {
    let found = regress::read(path).map_err(in_one_line)?;
    Ok(found.filter(|found| {
        found.stopped == Stopped::Time
            && found.question == *question
            && found.n_matches <= tracker.n_matches()
    }))
}

fn announce(
    planned: &Planned<Arc<Schedule>>,
    folder: &RunFolder,
    question: &regress::Question,
) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for warning in &planned.warnings {
        writeln!(stderr, "warning: {warning}")?;
    }
    for line in design::lines(planned, question) {
        writeln!(stderr, "{line}")?;
    }
    let path = folder.path.display();
    match folder.done.len() {
        0 => writeln!(stderr, "Playing into {path}, {} matches at once", planned.concurrency),
        n_done => writeln!(
            stderr,
            "Resuming {path}: {n_done} matches were played before and count; to play anew, name \
             another folder by --out{}",
            if has_url(planned) {
                " (whether a player at a URL has changed is not known)"
            } else {
                ""
            }
        ),
    }
}

/// Whether a player is a server that somebody else started.
fn has_url(planned: &Planned<Arc<Schedule>>) -> bool {
    let sources = planned.spec.players.iter().map(|player| &player.config.source);
    sources.into_iter().any(|source| matches!(source, PlayerSource::Remote { .. }))
}

/// Plays until there is an answer; `None` if it was interrupted.
fn play(
    arguments: &Arguments,
    planned: &Planned<Arc<Schedule>>,
    folder: RunFolder,
    tracker: Tracker,
    clock: Clock,
) -> Result<Option<Regression>, Failure> {
    let manager = manager(&folder.path);
    // Launched players end with us, whichever way we leave.
    let _players_end = Shutdown(&manager);
    let (stop, asked) = (StopFlag::default(), StopFlag::default());
    let (at_stop, at_asked, at_manager) = (stop.clone(), asked.clone(), Arc::clone(&manager));
    on_interrupt(move || {
        at_asked.raise();
        at_stop.raise();
        at_manager.interrupt();
    })
    .context("failed to listen for interrupts")?;
    for player in players_left(&planned.jobs, &folder) {
        match manager.preflight(&planned.spec.players[player].config) {
            Err(_) if asked.is_raised() => return Ok(None),
            checked => checked.map_err(|error| Failure::preflight(failed_to(error)))?,
        }
    }
    let tracker = RefCell::new(tracker);
    let time_is_up = compared::play(
        &Played {
            planned,
            manager: &manager,
            stop: &stop,
            tracker: &tracker,
            quiet: arguments.quiet,
        },
        folder,
        clock,
    )?;
    let tracker = tracker.into_inner();
    if tracker.ended().is_none() && !time_is_up {
        if asked.is_raised() {
            return Ok(None);
        }
        return Err(anyhow!("the run ended without an answer; the same command resumes it").into());
    }
    Ok(Some(tracker.conclude()))
}

fn interrupted() -> Outcome {
    writeln!(std::io::stderr().lock(), "Interrupted. The same command goes on.")?;
    Ok(exit_code::INTERRUPTED)
}

fn append(file: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(text.as_bytes())
}

/// Prints the answer, and returns it as an exit code.
fn tell(arguments: &Arguments, path: &Path, found: &Regression) -> Outcome {
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, found)?;
        } else {
            write!(stdout, "{}", report::render_regression(found, Format::Text))?;
            writeln!(stdout, "\nFiles: {}", path.display())?;
        }
        Ok(exit_code::OK)
    })?;
    let mut stderr = std::io::stderr().lock();
    for caution in report::cautions_of_regression(found) {
        writeln!(stderr, "warning: {caution}")?;
    }
    if found.outcome == Answer::Inconclusive && found.reason != Reason::Internal {
        match arguments.inconclusive {
            Some(InconclusiveWord::Pass) => writeln!(
                stderr,
                "warning: inconclusive, and counted as a pass as --inconclusive pass asks"
            )?,
            Some(InconclusiveWord::Fail) => writeln!(
                stderr,
                "warning: inconclusive, and counted as a fail as --inconclusive fail asks"
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
        // Nobody asked for an error of ours to count as a pass.
        (Answer::Inconclusive, Reason::Internal, _) | (Answer::Inconclusive, _, None) => {
            exit_code::INCONCLUSIVE
        }
        (Answer::Inconclusive, _, Some(InconclusiveWord::Pass)) => exit_code::OK,
        (Answer::Inconclusive, _, Some(InconclusiveWord::Fail)) => exit_code::REGRESSION,
    }
}
