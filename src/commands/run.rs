//! Playing a whole experiment.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum as _};
use results::counted::counted;
use results::formats::Format;
use results::journal::Torn;
use results::partition::Partition;
use results::record::MatchRecord;
use results::standings::Standings;
use results::{report, tables};
use serde::Serialize;

use super::run_plan::{self, Planned, PlannedJobs};
use crate::cli::{Failure, Outcome, failed_to, in_one_line};
use crate::consumers::{Catalogue, JournalConsumer, Progress, Style};
use crate::course::Walk;
use crate::event::{Event, EventKind, StopReason};
use crate::exit_code;
use crate::interrupt::on_interrupt;
use crate::manager::{Manager, ManagerSettings, PlayerConfig, PlayerStderr};
use crate::output::{json_line, to_stdout};
use crate::run_folder::{self, Jobs, RunFolder};
use crate::runner::{self, Consumer, StagedTournament, StopFlag, Tournament};
use crate::schedule::Schedule;
use crate::spec::{self, FormatWord, Overrides, Spec, SpecError};
use crate::supervisor::OWN_EXECUTABLE;

/// What `gamemaster run` plays when nothing is said.
const DEFAULT_SPEC: &str = include_str!("../default_spec.toml");

const EXAMPLES: &str = "\
Examples:
  gamemaster run                              six players on six small games, about a minute
  gamemaster run --dry-run                    what that would play, and how long it would take
  gamemaster run my_spec.toml --out my_run    your own; the same command again resumes it
  gamemaster run my_spec.toml --partition slice:1/3    a third of it; the others elsewhere
  gamemaster run my_spec.toml --format swiss  another format (docs/formats.md tells them)
  gamemaster run my_spec.toml --race          who is hopeless is dropped on the way
  gamemaster report my_run                    who is stronger

A spec names players, games and clocks:
  games = [\"tic_tac_toe\", \"my_games/*.kif\"]
  blocks = 10
  clocks = { start = \"10s\", play = [\"100ms\", \"1s\"] }
  [[players]]
  kind = \"alpha_beta\"
  [[players]]
  id = \"mine\"
  command = \"python3 my_player.py --port {port}\"

A run leaves spec.lock.toml, journal.jsonl, matches.csv, moves.csv, summary.json and summary.md
in its folder. Exit codes: 0 complete, 2 bad spec or folder, 3 broken rulesheet or player,
130 interrupted (the same command resumes).";

/// Arguments of `gamemaster run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The experiment, a TOML file [default: six players on six small games]
    spec: Option<PathBuf>,
    /// Folder of the run; one that holds this run already is resumed
    /// [default: results/runs/NAME-HASH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Matches at once [default: cores / players that think at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// Who meets whom, instead of what the spec says
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatWord>,
    /// Rounds of a swiss system or a ladder
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Drop players that are shown to be worse than the best (round_robin, gauntlet)
    #[arg(long)]
    race: bool,
    /// Seed of everything random, instead of the spec's
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Keep the matches of a run whose spec was smaller (fewer players, games or blocks)
    #[arg(long)]
    extend: bool,
    /// Play a part of the schedule only, such as slice:1/3; `merge` puts parts together
    #[arg(long, value_name = "slice:M/N", conflicts_with = "extend")]
    partition: Option<Partition>,
    /// Only tell what would be played
    #[arg(long)]
    dry_run: bool,
    /// No progress and no standings; errors only
    #[arg(long)]
    quiet: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// What a sweep plays under; it tells the results itself.
    #[arg(skip)]
    sweep: Option<Budgets>,
}

/// Budgets in place of the spec's; those that are empty are the spec's.
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    pub(super) play_clocks: Vec<Duration>,
    pub(super) nodes: Vec<u64>,
}

impl Arguments {
    /// Those of a run under several budgets: jobs and seed; whether to extend, to be
    /// quiet, only to tell, to print JSON.
    pub(super) fn for_sweep(
        spec: PathBuf,
        out: Option<PathBuf>,
        (jobs, seed): (Option<u32>, Option<u64>),
        budgets: Budgets,
        (extend, quiet, dry_run, json): (bool, bool, bool, bool),
    ) -> Self {
        Self {
            spec: Some(spec),
            out,
            jobs,
            format: None,
            rounds: None,
            race: false,
            seed,
            extend,
            partition: None,
            dry_run,
            quiet,
            json,
            sweep: Some(budgets),
        }
    }
}

/// Carries out `gamemaster run`.
pub fn execute(arguments: &Arguments) -> Outcome {
    carry_out(arguments).map(|(code, _)| code)
}

/// Carries out a run; the folder of one that was played to its end comes with
/// the exit code.
pub(super) fn carry_out(arguments: &Arguments) -> Result<(u8, Option<PathBuf>), Failure> {
    let spec = read_spec(arguments).map_err(Failure::usage)?;
    if arguments.sweep.is_some() && spec.time_budgets.len() < 2 {
        return Err(Failure::usage(anyhow!(
            "a sweep compares at least two budgets, and this is one: add --play-clock 200ms,1s or \
             --nodes 1000,10000, or list several in the spec's `clocks` or `budget`"
        )));
    }
    let planned = run_plan::plan(spec)?;
    if let (PlannedJobs::Course(_), Some(part)) = (&planned.jobs, arguments.partition) {
        return Err(Failure::usage(anyhow!(
            "--partition {part}: who meets whom follows from the results of all, so that nothing can \
             be played apart; only a round_robin or a gauntlet without a race can"
        )));
    }
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| run_folder::default_folder(&planned.spec, arguments.partition));
    let jobs = match &planned.jobs {
        PlannedJobs::Schedule(schedule) => Jobs::Schedule(schedule),
        PlannedJobs::Course(course) => Jobs::Course(course),
    };
    let not_opened = |error| Failure { code: folder_code(&error), error: not_opened(error) };
    if arguments.dry_run {
        let played = run_folder::played(&folder, &planned.spec, jobs, arguments.extend);
        let played = played.map_err(not_opened)?;
        let told = run_plan::tell(&planned, &folder, &played, arguments.partition, arguments.json)?;
        return Ok((told, None));
    }
    let mut notes = sentences(&planned.warnings);
    notes.extend(gauntlet_note(&planned));
    let (extend, partition) = (arguments.extend, arguments.partition);
    let folder = run_folder::open(&folder, &planned.spec, jobs, &notes, extend, partition)
        .map_err(not_opened)?;
    let manager = manager(&folder.path);
    // Launched players end with us, whichever way we leave.
    let _players_end = Shutdown(&manager);
    let stop = StopFlag::default();
    let (at_stop, at_manager) = (stop.clone(), Arc::clone(&manager));
    on_interrupt(move || {
        at_stop.raise();
        at_manager.interrupt();
    })
    .context("failed to listen for interrupts")?;
    // Not before the folder is known to be ours: launched players write logs there.
    let left = match &planned.jobs {
        PlannedJobs::Schedule(schedule) => players_left(schedule, &folder),
        PlannedJobs::Course(course) => {
            let mut walk = Walk::new(Arc::clone(course));
            while walk.pass(&folder.outcomes) {}
            walk.players_left()
        }
    };
    for player in left {
        match manager.preflight(&planned.spec.players[player].config) {
            Err(_) if stop.is_raised() => return Ok((exit_code::INTERRUPTED, None)),
            checked => checked.map_err(|error| Failure::preflight(failed_to(error)))?,
        }
    }
    let path = folder.path.clone();
    if !arguments.quiet {
        announce(&planned, &folder)?;
    }
    let (reason, breakdowns) = play(&planned, &manager, folder, &stop, arguments.quiet)?;
    let code = finish(arguments, &path, planned.spec.record.moves, reason, &breakdowns)?;
    Ok((code, (code == exit_code::OK).then_some(path)))
}

/// What a reader of a gauntlet's results should know, who sees matches only.
fn gauntlet_note(planned: &Planned) -> Option<String> {
    let PlannedJobs::Schedule(_) = planned.jobs else { return None };
    let Format::Gauntlet { challengers } = planned.spec.stages[0].format else { return None };
    let players = planned.spec.players.iter().take(challengers as usize);
    let ids: Vec<&str> = players.map(|player| player.config.id.as_str()).collect();
    let [verb, pronoun] = if ids.len() == 1 { ["meets", "it"] } else { ["meet", "them"] };
    Some(format!(
        "A gauntlet: {} {verb} each of the others, who meet only {pronoun}; compare those with each \
         other, and not with {pronoun}.",
        ids.join(" and ")
    ))
}

/// The players of the jobs that are not done. Who has nothing left to play need
/// not be there.
pub(super) fn players_left(schedule: &Schedule, folder: &RunFolder) -> BTreeSet<usize> {
    let mut left = BTreeSet::new();
    if (folder.done.len() + folder.elsewhere.len()) as u64 == schedule.n_jobs() {
        return left;
    }
    let all: BTreeSet<usize> = schedule.rounds().flat_map(|round| round.players).collect();
    let has = |jobs: &[u64], number: u64| jobs.binary_search(&number).is_ok();
    let is_left = |number| !has(&folder.done, number) && !has(&folder.elsewhere, number);
    for job in schedule.jobs().filter(|job| is_left(job.number)) {
        left.extend(job.seats.iter().flatten());
        // Mostly known from the first few: there is no need to look at all.
        if left.len() == all.len() {
            break;
        }
    }
    left
}

/// Ends launched players when it is dropped.
pub(super) struct Shutdown<'a>(pub(super) &'a Manager);

impl Drop for Shutdown<'_> {
    fn drop(&mut self) {
        self.0.shutdown();
    }
}

fn read_spec(arguments: &Arguments) -> Result<Spec, SpecError> {
    let Budgets { play_clocks, nodes } = arguments.sweep.clone().unwrap_or_default();
    let overrides = Overrides {
        seed: arguments.seed,
        jobs: arguments.jobs,
        contenders: None,
        play_clocks,
        nodes,
        format: arguments.format,
        rounds: arguments.rounds,
        race: arguments.race,
    };
    match &arguments.spec {
        None => spec::read(DEFAULT_SPEC, "default", Path::new(""), &overrides),
        Some(path) => {
            let unreadable = |source| SpecError::Unreadable { path: path.clone(), source };
            let text = std::fs::read_to_string(path).map_err(unreadable)?;
            let folder = path.parent().unwrap_or(Path::new(""));
            spec::read(&text, &path.display().to_string(), folder, &overrides)
        }
    }
}

pub(super) fn manager(folder: &Path) -> Arc<Manager> {
    Manager::new(ManagerSettings {
        stderr: PlayerStderr::Log(folder.join("logs")),
        supervisor: Some(OWN_EXECUTABLE.into()),
        ..ManagerSettings::default()
    })
}

/// Why the folder cannot be used, and how it could.
fn not_opened(error: run_folder::FolderError) -> anyhow::Error {
    let is_other = matches!(error, run_folder::FolderError::OtherSpec { .. });
    let error = match error {
        run_folder::FolderError::Journal(error) => in_one_line(error),
        error => failed_to(error),
    };
    match is_other {
        true => anyhow!("{error:#}, or keep its matches by --extend if this spec plays them all"),
        false => error,
    }
}

pub(super) fn folder_code(error: &run_folder::FolderError) -> u8 {
    use results::journal::JournalError;
    match error {
        run_folder::FolderError::Journal(
            JournalError::Write { .. }
            | JournalError::DiskFull { .. }
            | JournalError::Damaged { .. }
            | JournalError::DamagedHeader { .. }
            | JournalError::LineTooLong { .. }
            | JournalError::RecordTooLong { .. },
        ) => exit_code::INTERNAL,
        _ => exit_code::USAGE,
    }
}

/// Tells on standard error what begins.
fn announce(planned: &Planned, folder: &RunFolder) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for warning in &planned.warnings {
        writeln!(stderr, "warning: {warning}")?;
    }
    let n_jobs = planned.jobs.n_jobs() - folder.elsewhere.len() as u64;
    let matches = counted(n_jobs, "match", "matches");
    let n_done = folder.done.len();
    let most = match planned.jobs {
        PlannedJobs::Schedule(_) => "",
        PlannedJobs::Course(_) => "at most ",
    };
    let path = folder.path.display();
    let Torn { bytes, lines } = folder.torn;
    match lines {
        0 => {}
        1 => {
            let bytes = counted(bytes, "byte", "bytes");
            writeln!(stderr, "note: a half-written line of {bytes} was cut off")?;
        }
        _ => writeln!(
            stderr,
            "note: {lines} broken lines at the end of the journal, {bytes} bytes, were cut off"
        )?,
    }
    if n_done > 0 {
        writeln!(stderr, "Resuming {path}: {n_done} of {most}{matches} are played")
    } else {
        let at_once = planned.concurrency;
        writeln!(stderr, "Playing {most}{matches}, {at_once} at once, into {path}")
    }
}

/// Plays what is left, and writes the journal.
fn play(
    planned: &Planned,
    manager: &Arc<Manager>,
    folder: RunFolder,
    stop: &StopFlag,
    quiet: bool,
) -> Result<(StopReason, Breakdowns), Failure> {
    let games = planned.games.clone();
    let players: Vec<_> =
        planned.spec.players.iter().map(|player| Arc::clone(&player.config)).collect();
    let configs = players.clone();
    let rules = Arc::new(planned.spec.rules.clone());
    let concurrency = planned.concurrency;
    let catalogue = Arc::new(Catalogue::new(&games, &players, concurrency));
    let outcomes = Mutex::new(folder.outcomes);
    // What is written down is what later rounds follow from.
    let mut watch = |record: &MatchRecord| {
        if record.round.is_some() {
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).add(record);
        }
    };
    let style = match (quiet, std::io::stderr().is_terminal()) {
        (true, _) => Style::Quiet,
        (false, true) => Style::Bar,
        (false, false) => Style::Lines,
    };
    let mut consumers = Consumers {
        journal: JournalConsumer::new(
            Arc::clone(&catalogue),
            folder.writer,
            folder.attempts,
            &mut watch,
        ),
        progress: Progress::new(catalogue, style),
        breakdowns: Breakdowns::default(),
        players: &configs,
    };
    let reason = match &planned.jobs {
        PlannedJobs::Schedule(schedule) => {
            let schedule = Arc::clone(schedule);
            let (done, elsewhere) = (folder.done, folder.elsewhere);
            let tournament =
                Tournament { schedule, games, players, rules, concurrency, done, elsewhere };
            runner::run(&tournament, manager, stop, &mut consumers)
        }
        PlannedJobs::Course(course) => {
            let course = Arc::clone(course);
            let tournament = StagedTournament { course, games, players, rules, concurrency };
            runner::run_course(&tournament, &outcomes, manager, stop, &mut consumers)
        }
    };
    consumers.journal.finish().map_err(in_one_line)?;
    Ok((reason, consumers.breakdowns))
}

/// Matches that a fault of ours, or of the machine, broke off.
#[derive(Default)]
struct Breakdowns {
    n: u64,
    first: String,
    /// The player that was missing until the run stopped, and why.
    gone: Option<(String, String)>,
}

/// The journal and the progress. Only losing the journal stops a run.
struct Consumers<'a> {
    journal: JournalConsumer<'a>,
    progress: Progress,
    breakdowns: Breakdowns,
    players: &'a [Arc<PlayerConfig>],
}

impl Consumer for Consumers<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let flow = self.journal.event(event);
        let _ = self.progress.event(event);
        if let EventKind::MatchFinished { ending, .. } = &event.kind
            && let Some(reason) = ending.breakdown()
        {
            if self.breakdowns.n == 0 {
                reason.clone_into(&mut self.breakdowns.first);
            }
            self.breakdowns.n += 1;
        }
        if let EventKind::PlayerGivenUp { player, reason } = &event.kind {
            self.breakdowns.gone = Some((self.players[*player].id.clone(), reason.clone()));
        }
        flow
    }

    fn pause(&mut self) -> ControlFlow<()> {
        self.journal.pause()
    }
}

/// Warnings as the report has them.
pub(super) fn sentences(warnings: &[String]) -> Vec<String> {
    let sentence = |warning: &String| {
        let mut characters = warning.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(characters).chain(['.']).collect()
    };
    warnings.iter().map(sentence).collect()
}

/// Makes the tables and the summary, and tells where everything is.
fn finish(
    arguments: &Arguments,
    path: &Path,
    moves: bool,
    reason: StopReason,
    breakdowns: &Breakdowns,
) -> Outcome {
    let write = if moves { tables::write_tables } else { tables::write_matches };
    // Both read the journal from the beginning; with millions of matches it is
    // worth doing at once.
    let (written, standings) = std::thread::scope(|scope| {
        let tables = scope.spawn(|| write(path));
        let standings = report::write_summaries(path);
        (tables.join().expect("writing tables does not panic"), standings)
    });
    written.map_err(in_one_line)?;
    let standings = standings.map_err(in_one_line)?;
    let outcome = to_stdout(|stdout| {
        if arguments.sweep.is_some() {
            return Ok(exit_code::OK);
        }
        if arguments.json {
            let folder = path.display().to_string();
            json_line(stdout, &Summary { folder, stop: stop_name(reason), standings: &standings })?;
        } else if !arguments.quiet {
            write!(stdout, "{}", report::render_overall(&standings))?;
            writeln!(stdout, "\nAll of it: gamemaster report {0}\nFiles: {0}", path.display())?;
        }
        Ok(exit_code::OK)
    });
    if reason == StopReason::Interrupted {
        resume_hint(arguments)?;
        return Ok(exit_code::INTERRUPTED);
    }
    match breakdowns {
        Breakdowns { gone: Some((player, reason)), n, .. } => Err(anyhow!(
            "stopped, because player {player} could not play in one match after the other: {}; {n} \
             {} broken off, and the same command plays what is missing",
            reason.strip_prefix(&format!("player {player}: ")).unwrap_or(reason),
            if *n == 1 { "match was" } else { "matches were" }
        )
        .into()),
        Breakdowns { n: 0, .. } => outcome,
        Breakdowns { n: 1, first, .. } => {
            Err(anyhow!("1 match was broken off: {first}; the same command plays it again").into())
        }
        Breakdowns { n, first, .. } => Err(anyhow!(
            "{n} matches were broken off, the first because {first}; the same command plays them again"
        )
        .into()),
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    folder: String,
    stop: &'static str,
    #[serde(flatten)]
    standings: &'a Standings,
}

fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Completed => "completed",
        StopReason::Interrupted => "interrupted",
        StopReason::Paused => "paused",
        StopReason::PlayerGone => "player_gone",
    }
}

/// The command that goes on where this one stopped.
fn resume_hint(arguments: &Arguments) -> std::io::Result<()> {
    let name = if arguments.sweep.is_some() { "sweep" } else { "run" };
    let mut command = format!("gamemaster {name}");
    let mut word = |word: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:+,".contains(c);
        command.push(' ');
        if !word.is_empty() && word.chars().all(plain) {
            command.push_str(word);
        } else {
            command.push_str(&format!("'{}'", word.replace('\'', "'\\''")));
        }
    };
    if let Some(spec) = &arguments.spec {
        word(&spec.display().to_string());
    }
    let Budgets { play_clocks, nodes } = arguments.sweep.clone().unwrap_or_default();
    let clocks = play_clocks.iter().map(|clock| format!("{}ms", clock.as_millis()));
    let lists = [clocks.collect::<Vec<_>>(), nodes.iter().map(u64::to_string).collect()];
    for (flag, list) in ["--play-clock", "--nodes"].into_iter().zip(lists) {
        if !list.is_empty() {
            word(flag);
            word(&list.join(","));
        }
    }
    if let Some(out) = &arguments.out {
        word("--out");
        word(&out.display().to_string());
    }
    if let Some(jobs) = arguments.jobs {
        word("--jobs");
        word(&jobs.to_string());
    }
    if let Some(seed) = arguments.seed {
        word("--seed");
        word(&seed.to_string());
    }
    if let Some(part) = arguments.partition {
        word("--partition");
        word(&part.to_string());
    }
    if let Some(format) = arguments.format.and_then(|format| format.to_possible_value()) {
        word("--format");
        word(format.get_name());
    }
    if let Some(rounds) = arguments.rounds {
        word("--rounds");
        word(&rounds.to_string());
    }
    for (flag, given) in
        [("--race", arguments.race), ("--quiet", arguments.quiet), ("--json", arguments.json)]
    {
        if given {
            word(flag);
        }
    }
    writeln!(std::io::stderr().lock(), "Interrupted. To go on:\n  {command}")
}
