//! Plays an experiment from the command line; shared by `run` and `sweep`.

use std::fmt::{Display, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use results::counted::counted;
use results::journal::Torn;

use super::queue_options::CoordinatorOptions;
use super::workers::Workers;
use crate::consumers::{Catalogue, Progress, Style};
use crate::event::StopReason;
use crate::exit_code;
use crate::experiment::folder::{FolderError, RunFolder};
use crate::experiment::{Ended, Experiment, ExperimentError, Finished, Jobs, Place, Session};
use crate::failure::{CommandResult, Failure};
use crate::interrupt::on_interrupt;
use crate::spec::Difference;
use crate::supervisor::OWN_EXECUTABLE;
use crate::url_text::with_placeholder;

/// Plays an experiment with progress on standard error until it is complete or
/// interrupted, and makes its tables and summaries. `None` if it was interrupted
/// before anything was played. If `queue` names a server, workers play the matches.
pub(super) fn play(
    experiment: &Experiment,
    place: &Place,
    is_quiet: bool,
    queue: &CoordinatorOptions,
) -> Result<Option<Finished>, Failure> {
    let folder = experiment.open(place).map_err(not_opened)?;
    // Launched players end with the session, whichever way we leave.
    let session = Session::new(experiment, &folder.path, Some(OWN_EXECUTABLE.into()));
    let stopper = session.stopper();
    on_interrupt(move || stopper.interrupt()).context("cannot listen for interrupts")?;
    let mut workers = match Workers::hire(queue, experiment, &folder.path) {
        Ok(workers) => workers,
        Err(failure) => {
            if !Workers::have_begun(&failure) {
                folder.discard();
            }
            return Err(failure);
        }
    };
    if workers.is_none() {
        match session.preflight(&folder) {
            Err(ExperimentError::Interrupted) => return Ok(None),
            checked => checked.map_err(Failure::experiment)?,
        }
    }
    if !is_quiet {
        announce(experiment, &folder, workers.is_some())?;
    }
    let style = match (is_quiet, std::io::stderr().is_terminal()) {
        (true, _) => Style::Quiet,
        (false, true) => Style::Bar,
        (false, false) => Style::Lines,
    };
    let mut progress = Progress::new(catalogue(experiment), style);
    let crew = workers.as_mut().map(Workers::crew);
    let finished = session.finish_by(crew, folder, &mut progress).map_err(Failure::experiment)?;
    if let Some(workers) = workers {
        workers.dismiss(finished.ended.stop == StopReason::Completed)?;
    }
    Ok(Some(finished))
}

/// Why a spec cannot be played, with its name; that of the games and players in it is in
/// the error.
pub(super) fn not_laid_out(error: ExperimentError, spec: Option<&Path>) -> Failure {
    match (error, spec) {
        (ExperimentError::Unplayable(message), Some(spec)) => {
            Failure::usage(anyhow::anyhow!("{}: {message}", spec.display()))
        }
        (error, _) => Failure::experiment(error),
    }
}

/// Keys of a spec that may differ from those of a run that it extends.
const EXTENSIBLE: [&str; 11] = [
    "blocks",
    "budget",
    "challengers",
    "clocks",
    "extra_laps",
    "format",
    "games",
    "players",
    "race",
    "rounds",
    "stage",
];

/// Why the folder cannot be used, with advice.
pub(super) fn not_opened(error: ExperimentError) -> Failure {
    let may_extend = match &error {
        ExperimentError::Folder(FolderError::OtherSpec { differences, .. }) => {
            differences.iter().all(|found| match found {
                Difference::Key(key) => EXTENSIBLE.contains(&key.as_str()),
                Difference::Rulesheet(_) | Difference::Player(_) => false,
            })
        }
        _ => false,
    };
    let failure = Failure::experiment(error);
    if !may_extend {
        return failure;
    }
    failure.advised("; or, if this spec contains all matches of that run, add --extend")
}

fn catalogue(experiment: &Experiment) -> Arc<Catalogue> {
    let players = experiment.spec.players.iter().map(|player| Arc::clone(&player.config));
    let players: Vec<_> = players.collect();
    Arc::new(Catalogue::new(&experiment.games, &players, experiment.concurrency))
}

/// The exit code after the results were printed; prints the command to resume if the run
/// was interrupted.
pub(super) fn conclude(
    ended: &Ended,
    printed: CommandResult,
    command_line: impl FnOnce() -> CommandLine,
) -> CommandResult {
    if ended.stop == StopReason::Interrupted {
        let command = command_line().0;
        writeln!(std::io::stderr().lock(), "Interrupted. To resume:\n  {command}")?;
        return Ok(exit_code::INTERRUPTED);
    }
    ended.check().map_err(Failure::experiment)?;
    printed
}

/// Prints on standard error that a run begins.
fn announce(experiment: &Experiment, folder: &RunFolder, on_queue: bool) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for warning in &experiment.warnings {
        writeln!(stderr, "warning: {warning}")?;
    }
    let n_jobs = experiment.jobs.n_jobs() - folder.elsewhere.len() as u64;
    let matches = counted(n_jobs, "match", "matches");
    let n_done = folder.done.len();
    let most = match experiment.jobs {
        Jobs::Schedule(_) => "",
        Jobs::Staged(_) => "at most ",
    };
    let path = folder.path.display();
    let Torn { bytes, lines } = folder.torn;
    let bytes = counted(bytes, "byte", "bytes");
    match lines {
        0 => {}
        1 => writeln!(stderr, "note: a half-written line of {bytes} was cut off")?,
        _ => writeln!(
            stderr,
            "note: {lines} broken lines at the end of the journal, {bytes}, were cut off"
        )?,
    }
    if n_done as u64 == n_jobs {
        let all = if n_jobs == 1 { "its only match has" } else { &format!("all {matches} have") };
        writeln!(stderr, "{path} is complete: {all} been played")
    } else if n_done > 0 {
        // "1 of 1 matches": what is counted is the whole.
        writeln!(stderr, "Resuming {path}: {n_done} of {most}{n_jobs} matches are complete")
    } else {
        let by = match on_queue {
            true => "by workers".to_owned(),
            false => format!("{} at once", experiment.concurrency),
        };
        writeln!(stderr, "Playing {most}{matches}, {by}, into {path}")
    }
}

/// A command of ours, to be typed into a shell.
pub(super) struct CommandLine(String);

impl CommandLine {
    pub(super) fn new(command: &str) -> Self {
        Self(format!("gamemaster {command}"))
    }

    pub(super) fn words(mut self, words: impl IntoIterator<Item = impl Display>) -> Self {
        for word in words {
            let word = word.to_string();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:+,".contains(c);
            let _ = match !word.is_empty() && word.chars().all(is_plain) {
                true => write!(self.0, " {word}"),
                false => write!(self.0, " '{}'", word.replace('\'', "'\\''")),
            };
        }
        self
    }

    pub(super) fn option(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.words([name]).words([value]),
            None => self,
        }
    }

    /// An option with values separated by commas, if there are any.
    pub(super) fn list(self, name: &str, values: impl IntoIterator<Item = impl Display>) -> Self {
        let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        self.option(name, (!values.is_empty()).then(|| values.join(",")))
    }

    /// The options of a coordinator. A password is to be typed again.
    pub(super) fn queue(self, options: &CoordinatorOptions) -> Self {
        let CoordinatorOptions { queue, server, tags, allow_mixed_versions, ack_wait } = options;
        let ack_wait = queue.as_ref().map(|_| humantime::format_duration(*ack_wait));
        self.option("--queue", queue.as_deref().map(with_placeholder))
            .option("--creds", server.creds.as_ref().map(|path| path.display()))
            .option("--tls-ca", server.tls_ca.as_ref().map(|path| path.display()))
            .list("--tags", tags)
            .option("--ack-wait", ack_wait)
            .flag("--allow-mixed-versions", *allow_mixed_versions)
    }

    pub(super) fn flag(self, name: &str, is_given: bool) -> Self {
        if is_given { self.words([name]) } else { self }
    }
}
