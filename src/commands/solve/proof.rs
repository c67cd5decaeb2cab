//! `gamemaster solve --method proof`: the value of one state by proof-number search.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use games::solve::SolveError;
use games::solve::proof::{Bounds, ProofError, ProofProgress, ProofSettings, ProofSolver};
use games::{Cancel, Game, RoleId};
use results::counted::counted;
use serde::Serialize;

use super::{TO_CONTINUE, interrupted, rate, seconds, size, unusable};
use crate::commands::progress_line::ProgressLine;
use crate::failure::{CommandResult, Failure};
use crate::output::json_or_text;
use crate::proof_checkpoint::ProofCheckpoint;
use crate::solving_crew::Threads;

/// How often the command looks whether a proof is prepared, and whether time is up.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// States that each thread expands between two looks at the clock: some tenths of a second.
const EXPANSIONS: u64 = 2000;

/// The least memory with which a proof makes sense.
pub(super) const LEAST_MEMORY: u64 = 1 << 20;

/// What is asked for.
pub(super) struct Wanted {
    pub(super) memory_bytes: u64,
    pub(super) n_threads: usize,
    pub(super) all_moves: bool,
    pub(super) time: Option<Duration>,
    pub(super) checkpoint: Option<PathBuf>,
    pub(super) json: bool,
}

#[derive(Serialize)]
struct Report {
    game: String,
    method: &'static str,
    solved: bool,
    values: Vec<RoleBounds>,
    mover: String,
    first_moves: Vec<MoveBounds>,
    positions: u64,
    expanded: u64,
    repetitions: u64,
    longest_line: usize,
    seconds: f64,
    positions_per_second: f64,
    setup_seconds: f64,
    memory_bytes: u64,
    table_entries: u64,
    threads: usize,
}

/// What is known of a role's reward.
#[derive(Serialize)]
struct RoleBounds {
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<u8>,
}

/// What the role that moves gets after a move.
#[derive(Serialize)]
struct MoveBounds {
    #[serde(rename = "move")]
    action: String,
    #[serde(flatten)]
    bounds: RoleBounds,
}

/// Proves the value of the game's initial state, as this option asks for, and prints it.
pub(super) fn prove(
    game: &Arc<Game>,
    wanted: &Wanted,
    option: &'static str,
    cancel: &Cancel,
) -> CommandResult {
    let begun = Instant::now();
    let proof = begin(game, wanted, cancel).map_err(|error| unsuitable(error, option, cancel))?;
    finish(game, proof, begun.elapsed(), wanted, cancel)
}

/// The same, after a solver of all states failed with `error`, which is what users see if the
/// game does not allow a proof.
pub(super) fn prove_instead(
    error: SolveError,
    game: &Arc<Game>,
    wanted: &Wanted,
    cancel: &Cancel,
) -> CommandResult {
    let begun = Instant::now();
    let Ok(proof) = begin(game, wanted, cancel) else { return Err(super::failure(error, cancel)) };
    writeln!(io::stderr(), "{error}; going on with proof-number search")?;
    finish(game, proof, begun.elapsed(), wanted, cancel)
}

fn begin(game: &Arc<Game>, wanted: &Wanted, cancel: &Cancel) -> Result<ProofSolver, ProofError> {
    let settings = ProofSettings {
        memory_bytes: wanted.memory_bytes,
        n_workers: wanted.n_threads,
        all_moves: wanted.all_moves,
    };
    let begun = Instant::now();
    let patience = Cancel::new();
    let mut watch = ProgressLine::new();
    let (proofs, proof) = mpsc::channel();
    let made = thread::scope(|scope| {
        let patience = &patience;
        let making = scope.spawn(move || {
            let _ = proofs.send(ProofSolver::new(game, settings, cancel, patience));
        });
        loop {
            match proof.recv_timeout(BETWEEN_LOOKS) {
                Ok(made) => return made,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match making.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("a thread that returns sends what it made"),
                },
            }
            let is_late = wanted.time.is_some_and(|time| begun.elapsed() >= time);
            if is_late || cancel.is_cancelled() {
                patience.cancel();
            }
            watch.show(|| format!("preparing, {}", seconds(begun.elapsed().as_secs_f64())));
        }
    });
    watch.clear();
    made
}

fn finish(
    game: &Game,
    mut proof: ProofSolver,
    setup: Duration,
    wanted: &Wanted,
    cancel: &Cancel,
) -> CommandResult {
    let mut checkpoint = match &wanted.checkpoint {
        Some(path) => Some(continued(path, &mut proof)?),
        None => None,
    };
    let begun = Instant::now();
    let late = match wanted.time {
        Some(time) => raised_after(time)?,
        None => Cancel::new(),
    };
    let crew = Threads(wanted.n_threads);
    let mut watch = ProgressLine::new();
    let first_role = game.role_name(RoleId(0));
    while !proof.is_done() && !late.is_cancelled() {
        if cancel.is_cancelled() {
            watch.clear();
            let Some(file) = &mut checkpoint else { return Err(interrupted()) };
            file.save(&proof)?;
            return Err(interrupted().advised(TO_CONTINUE));
        }
        proof.step(&crew, EXPANSIONS, &late).map_err(|error| {
            watch.clear();
            failure(error, cancel)
        })?;
        watch.show(|| line(first_role, &proof.progress()));
        if let Some(file) = &mut checkpoint {
            file.save_if_due(&proof)?;
        }
    }
    watch.clear();
    let spent = checkpoint.as_ref().map_or_else(|| begun.elapsed(), ProofCheckpoint::spent);
    match checkpoint {
        Some(file) if proof.is_done() => file.remove()?,
        Some(mut file) => file.save(&proof)?,
        None => {}
    }
    let mut report = report(&proof);
    report.seconds = spent.as_secs_f64();
    report.positions_per_second = report.positions as f64 / report.seconds;
    report.setup_seconds = setup.as_secs_f64();
    report.threads = wanted.n_threads;
    json_or_text(wanted.json, &report, print)
}

/// A flag that a thread raises after `time`. The thread ends with the process.
fn raised_after(time: Duration) -> io::Result<Cancel> {
    let flag = Cancel::new();
    let raised = flag.clone();
    thread::Builder::new().name("time-limit".to_owned()).spawn(move || {
        thread::sleep(time);
        raised.cancel();
    })?;
    Ok(flag)
}

/// The checkpoint, with the proof where it ended.
fn continued(path: &Path, proof: &mut ProofSolver) -> Result<ProofCheckpoint, Failure> {
    let file = ProofCheckpoint::open(path, proof).map_err(unusable)?;
    let progress = proof.progress();
    if progress.n_expanded > 0 {
        let positions = counted(progress.n_positions, "position", "positions");
        let entries = counted(progress.n_entries, "entry", "entries");
        let path = path.display();
        writeln!(io::stderr(), "continuing from {path}: {positions} visited, {entries}")?;
        let n_lost = file.before().n_entries.saturating_sub(progress.n_entries);
        if n_lost > 0 {
            let lost = counted(n_lost, "entry", "entries");
            writeln!(
                io::stderr(),
                "note: {lost} of the checkpoint did not fit --memory: the states are searched again, \
                 and the next write leaves them out of the file"
            )?;
        }
    }
    Ok(file)
}

/// Users may not know that they asked for a proof. Without it, games with chance and with any
/// number of roles can be solved.
fn unsuitable(error: ProofError, option: &str, cancel: &Cancel) -> Failure {
    match error {
        ProofError::Chance | ProofError::Roles { .. } => Failure::usage(anyhow!(
            "{option} asks for a proof, but {error}; omit {option} to compute the values of all \
             states"
        )),
        error => failure(error, cancel),
    }
}

fn failure(error: ProofError, cancel: &Cancel) -> Failure {
    match error {
        _ if cancel.is_cancelled() => interrupted(),
        ProofError::NoMove { .. } | ProofError::Reasoning(_) => Failure::preflight(error),
        error => Failure::usage(error),
    }
}

fn report(proof: &ProofSolver) -> Report {
    let game = proof.game();
    let progress = proof.progress();
    let of_role = |role: RoleId, bounds| role_bounds(proof, role, bounds);
    let first_moves = proof.first_moves().into_iter().map(|it| MoveBounds {
        action: it.action.to_string(),
        bounds: of_role(proof.mover(), it.bounds),
    });
    Report {
        game: game.name().to_owned(),
        method: "proof",
        solved: progress.bounds.value().is_some(),
        values: game.role_ids().map(|role| of_role(role, progress.bounds)).collect(),
        mover: game.role_name(proof.mover()).to_owned(),
        first_moves: first_moves.collect(),
        positions: progress.n_positions,
        expanded: progress.n_expanded,
        repetitions: progress.n_repetitions,
        longest_line: progress.longest,
        seconds: 0.0,
        positions_per_second: 0.0,
        setup_seconds: 0.0,
        memory_bytes: progress.most_bytes,
        table_entries: progress.n_entries,
        threads: 1,
    }
}

/// What the bounds of the first role's reward say about a role.
fn role_bounds(proof: &ProofSolver, role: RoleId, bounds: Bounds) -> RoleBounds {
    let name = proof.game().role_name(role).to_owned();
    let (at_least, at_most) = match role {
        RoleId(0) => (Some(bounds.least), Some(bounds.most)),
        _ => (proof.second_reward(bounds.most), proof.second_reward(bounds.least)),
    };
    let value = if bounds.value().is_some() { at_least } else { None };
    match value {
        Some(_) => RoleBounds { role: name, value, at_least: None, at_most: None },
        None => RoleBounds { role: name, value: None, at_least, at_most },
    }
}

/// What is known, in words.
fn in_words(bounds: &RoleBounds) -> String {
    match (bounds.value, bounds.at_least, bounds.at_most) {
        (Some(value), ..) => value.to_string(),
        (None, Some(least), Some(most)) => format!("{least} to {most}"),
        (None, Some(least), None) => format!("at least {least}"),
        (None, None, Some(most)) => format!("at most {most}"),
        (None, None, None) => "unknown".to_owned(),
    }
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let state = if report.solved { "solved" } else { "not solved" };
    writeln!(out, "{}, {state} by proof-number search", report.game)?;
    let values = report.values.iter().map(|it| format!("{} {}", it.role, in_words(it)));
    writeln!(out, "  value        {}", values.collect::<Vec<_>>().join(", "))?;
    let mut by_value: Vec<(String, Vec<&str>)> = Vec::new();
    for it in &report.first_moves {
        let words = in_words(&it.bounds);
        match by_value.iter_mut().find(|known| known.0 == words) {
            Some((_, moves)) => moves.push(&it.action),
            None => by_value.push((words, vec![&it.action])),
        }
    }
    for (value, moves) in &by_value {
        let which = format!("{} of {} moves", moves.len(), report.first_moves.len());
        writeln!(out, "  moves        {} {value}: {} ({which})", report.mover, moves.join(", "))?;
    }
    let longest = counted(report.longest_line, "step", "steps");
    writeln!(
        out,
        "  positions    {} visited, by {} of states; longest line {longest}",
        report.positions,
        counted(report.expanded, "expansion", "expansions"),
    )?;
    let threads = counted(report.threads, "thread", "threads");
    writeln!(
        out,
        "  time         {}, {} positions/s on {threads}; {} to set up",
        seconds(report.seconds),
        rate(report.positions_per_second),
        seconds(report.setup_seconds)
    )?;
    let entries = counted(report.table_entries, "entry", "entries");
    writeln!(out, "  memory       peak {}, {entries}", size(report.memory_bytes))?;
    if !report.solved && report.repetitions > 0 {
        let steps = counted(report.repetitions, "step", "steps");
        writeln!(
            out,
            "  repetitions  {steps} led back to a state of the same line, which decides nothing here; --method retrograde decides it"
        )?;
    }
    Ok(())
}

/// How far the proof is.
fn line(first_role: &str, progress: &ProofProgress) -> String {
    let Bounds { least, most } = progress.bounds;
    format!(
        "value for {first_role}: {least} to {most}; {} of {} known, {} visited, {}",
        progress.n_known,
        counted(progress.n_moves as u64, "first move", "first moves"),
        counted(progress.n_positions, "position", "positions"),
        size(progress.most_bytes)
    )
}
