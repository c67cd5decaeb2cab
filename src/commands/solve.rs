//! `gamemaster solve`: the exact value of every state of a game.

mod count;
mod proof;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use games::solve::{FirstMoves, Phase, Progress, SolveError, Solver};
use games::{Cancel, Game, Guards, Prover, StateMachine as _};
use results::counted::counted;
use serde::Serialize;

use self::count::Count;
use self::proof::{LEAST_MEMORY, Wanted, prove, prove_instead};
use super::fact_pattern::FactPattern;
use super::number::{bytes, duration, whole};
use super::output_files;
use super::progress_line::ProgressLine;
use super::typed_facts::{facts, no_legal_move};
use super::typed_moves::follow;
use crate::allocator::{give_freed_memory_back, give_large_arrays_back};
use crate::checkpoint_file::{CheckpointError, CheckpointFile};
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::interrupt;
use crate::output::json_or_text;
use crate::solution_file;
use crate::solving_crew::Threads;

const EXAMPLES: &str = "\
Examples:
  gamemaster solve tic_tac_toe
  gamemaster solve connect_four_5x5 --out connect_four_5x5.table
  gamemaster solve rock_paper_scissors --json
  gamemaster solve nim --moves '((take a 2) noop)'
  gamemaster solve hex_4x4 --method proof --all-moves
  gamemaster solve connect_four --method proof --time 60s
  gamemaster solve tic_tac_toe --count
  gamemaster solve peg_solitaire_triangle --count '(cell ? ? peg)'
  gamemaster solve six_mens_morris --count '(men white ?)' '(men black ?)'

All reachable states are computed first, then their values, from the last states
backwards (retrograde analysis). The value of a state is what each role gets if
all play as well as they can for themselves. Where two roles choose at the same
time and their rewards sum to a constant, moves are mixed: each has a
probability.

--method proof is for large games in which two roles move by turns, there is no
chance, and one role loses what the other gains. Proof-number search finds the
value of the first state alone, in bounded memory, and prints what it found out
about the first moves. --all-moves proves the value of each of them. --time ends
it, and the bounds that are proven by then are printed, such as `50 to 100`. The
default method is retrograde analysis. If the states need more than --memory, it
goes on with a proof, provided that the game allows one and none of --out,
--count and --checkpoint is given. With --time or --all-moves it begins with the
proof.

--out writes a table of all values, for the players `perfect`, `alpha_beta` and
`mcts`, and for `gamemaster regret` and `gamemaster suite make`. A table of what
follows from a later state (--state, --moves) is an endgame table.

--count enumerates all reachable states but computes no values. It prints the
number of states of each depth or, with patterns, the number of states that have
0, 1, 2, ... matching facts: `(cell ? ? white)` counts white pieces, with ? for
anything. Matches of patterns inside one quoted argument are added up, as in
'(cell ? ? white) (king white ?)'.

--checkpoint saves each level of states when it is complete. A proof saves its
progress every five minutes, and when it ends without a result. Repeat the
command to continue, even after it was killed: the values, and the file of
--out, are those of an uninterrupted command. The checkpoint is removed when the
game is solved.

Exit codes:
  0    solved, or stopped by --time
  1    internal error, or more memory needed than --memory
  2    invalid arguments, or a game that cannot be solved: hidden information,
       or a state without a value
  3    an invalid rulesheet
  130  interrupted";

/// How to solve a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Retrograde analysis; a proof if the states do not fit the memory (see --memory)
    Auto,
    /// Retrograde analysis: the values of all states
    Retrograde,
    /// Proof-number search: the value of the first state
    Proof,
}

/// Arguments of `gamemaster solve`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    game: String,
    /// Begin in the state in which exactly these facts are true
    #[arg(long, value_name = "FACTS")]
    state: Option<String>,
    /// Make these joint moves first, and solve what follows
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,
    /// Solve all states, or prove the value of the first one
    #[arg(long, value_name = "METHOD", value_enum, default_value = "auto")]
    method: Method,
    /// Prove the value of every first move, not only of the first state
    #[arg(long)]
    all_moves: bool,
    /// Search for a proof for at most this time, and print what is known by then. The
    /// rules are prepared first, and this is not part of the search: compiling them has
    /// no limit, and reducing their network ends when TIME has passed since the start. So
    /// the command may take twice TIME, or longer if compiling takes longer
    #[arg(long, value_name = "TIME",
          value_parser = duration(Duration::from_millis(1), Duration::from_secs(1 << 30)))]
    time: Option<Duration>,
    /// Use at most this much memory for states and their values, or for a proof. The
    /// program itself takes 30 to 40 MB more, and making the table of --out still
    /// more. If the states do not fit, --method auto goes on with a proof where the
    /// game allows one (not with --out, --count or --checkpoint); otherwise the command
    /// gives up
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = bytes)]
    memory: u64,
    /// Use N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=256))]
    threads: Option<usize>,
    /// Keep progress in FILE; repeat the command to continue after it was killed
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Only count the states: by depth, or by how many facts match each pattern
    /// FACTS, such as '(cell ? ? white)'
    #[arg(long, value_name = "FACTS", num_args = 0.., conflicts_with_all = ["out", "checkpoint"])]
    count: Option<Vec<String>>,
    /// Write a table of all values to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    game: String,
    values: Vec<RoleValue>,
    states: u64,
    terminal_states: u64,
    depth: usize,
    successors: u64,
    best_moves: Vec<BestMoves>,
    seconds: f64,
    states_per_second: f64,
    /// States of the checkpoint that the command continued from, which took no time of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_states: Option<u64>,
    setup_seconds: f64,
    memory_bytes: u64,
    bytes_per_state: f64,
    threads: usize,
    method: &'static str,
    expander: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<TableReport>,
}

#[derive(Serialize)]
struct RoleValue {
    role: String,
    value: f64,
}

/// The moves of one role that best play may make at first.
#[derive(Serialize)]
struct BestMoves {
    role: String,
    legal: usize,
    moves: Vec<BestMove>,
    /// Whether the probabilities matter: best play mixes these moves.
    mixed: bool,
}

#[derive(Serialize)]
struct BestMove {
    #[serde(rename = "move")]
    action: String,
    probability: f64,
}

#[derive(Serialize)]
struct TableReport {
    file: String,
    bytes: u64,
    bytes_per_state: f64,
    seconds: f64,
}

/// Carries out `gamemaster solve`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let checkpoint = arguments.checkpoint.as_deref().map(|path| ("--checkpoint", path));
    let game_file = ("the game", Path::new(&arguments.game));
    let inputs: Vec<_> = checkpoint.into_iter().chain([game_file]).collect();
    let output = arguments.out.as_deref().map(|path| ("--out", path));
    output_files::check(output.as_slice(), &inputs)?;
    let game = game(arguments)?;
    let kinds = arguments.count.iter().flatten();
    let kinds = kinds.map(|text| FactPattern::read(text, &game, "--count"));
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let crew = Threads(arguments.threads.unwrap_or_else(cores));
    let cancel = Cancel::new();
    let stop = cancel.clone();
    interrupt::on_interrupt(move || stop.cancel())?;
    let wanted = Wanted {
        memory_bytes: arguments.memory,
        n_threads: crew.0,
        all_moves: arguments.all_moves,
        time: arguments.time,
        checkpoint: arguments.checkpoint.clone(),
        json: arguments.json,
    };
    if let Some(option) = chooses_proof(arguments)? {
        return prove(&game, &wanted, option, &cancel);
    }
    give_large_arrays_back();
    let begun = Instant::now();
    let solver = Solver::new(&game, arguments.memory, crew.0, &cancel);
    let mut solver = solver.map_err(|error| failure(error, &cancel))?;
    let setup = begun.elapsed();
    let begun = Instant::now();
    let mut checkpoint = match &arguments.checkpoint {
        Some(path) => Some(continued(path, &mut solver)?),
        None => None,
    };
    // One that begins has the first state.
    let n_resumed = Some(solver.progress().n_states).filter(|&n_states| n_states > 1);
    let mut watch = ProgressLine::new();
    let is_counted = arguments.count.is_some();
    let is_done = |phase| phase == Phase::Done || (is_counted && phase == Phase::Valuing);
    while !is_done(solver.progress().phase) {
        if cancel.is_cancelled() {
            watch.clear();
            let interrupted = interrupted();
            return Err(match checkpoint {
                Some(_) => interrupted.advised(TO_CONTINUE),
                None => interrupted,
            });
        }
        if let Err(error) = solver.step(&crew) {
            watch.clear();
            if !matches!(error, SolveError::Memory { .. }) || !may_prove(arguments, &game) {
                return Err(match (&error, &arguments.state) {
                    (SolveError::NoMove { role, depth: 0 }, Some(_)) => {
                        Failure::usage(anyhow!("--state: {}", no_legal_move(role)))
                    }
                    (SolveError::Memory { .. }, _) => {
                        let advice = proof_advice(arguments, &game);
                        failure(error, &cancel).advised(&advice)
                    }
                    _ => failure(error, &cancel),
                });
            }
            if checkpoint.is_some() {
                // A checkpoint of states cannot become one of a proof.
                return Err(failure(error, &cancel).advised(WITH_CHECKPOINT));
            }
            drop(solver);
            give_freed_memory_back();
            return prove_instead(error, &game, &wanted, &cancel);
        }
        watch.show(|| line(&solver.progress()));
        if let Some(file) = &mut checkpoint {
            file.save(&mut solver)?;
        }
    }
    watch.clear();
    let seconds = begun.elapsed();
    if is_counted {
        let count = Count::of(&solver, &kinds, seconds);
        return json_or_text(arguments.json, &count, |out, count| count.print(out));
    }
    let first = solver.first_moves().map_err(|error| failure(error, &cancel))?;
    let progress = solver.progress();
    let mut report = report(&game, &solver, &progress, first);
    report.seconds = seconds.as_secs_f64();
    report.states_per_second = (progress.n_states - n_resumed.unwrap_or(0)) as f64 / report.seconds;
    report.resumed_states = n_resumed;
    report.setup_seconds = setup.as_secs_f64();
    report.threads = crew.0;
    if let Some(path) = &arguments.out {
        let begun = Instant::now();
        let table = solver.table(&crew);
        let bytes = match solution_file::write(path, &table) {
            Ok(bytes) => bytes,
            Err(error) => {
                // What took the time is printed all the same, and a checkpoint stays.
                json_or_text(arguments.json, &report, print)?;
                return Err(Failure::unwritable(error));
            }
        };
        report.table = Some(TableReport {
            file: path.display().to_string(),
            bytes,
            bytes_per_state: bytes as f64 / progress.n_states as f64,
            seconds: begun.elapsed().as_secs_f64(),
        });
    }
    if let Some(file) = checkpoint {
        file.remove()?;
    }
    json_or_text(arguments.json, &report, print)
}

/// The option that asks for a proof, if one does; an error if that contradicts other options.
fn chooses_proof(arguments: &Arguments) -> Result<Option<&'static str>, Failure> {
    let Arguments { method, memory, all_moves, time, .. } = arguments;
    let of_proof = [("--all-moves", *all_moves), ("--time", time.is_some())];
    let of_proof = of_proof.into_iter().find_map(|(option, is_given)| is_given.then_some(option));
    let chosen = match (method, of_proof) {
        (Method::Retrograde, Some(option)) => {
            let needs = "proof-number search, not --method retrograde";
            return Err(Failure::usage(anyhow!("{option} needs {needs}")));
        }
        (Method::Proof, _) => Some("--method proof"),
        (Method::Auto, option) => option,
        (Method::Retrograde, None) => None,
    };
    if let (Some(chosen), Some(option)) = (chosen, needs_all_states(arguments)) {
        let why = "a proof does not compute the values of all states";
        return Err(Failure::usage(anyhow!("{option} cannot be combined with {chosen}: {why}")));
    }
    if chosen.is_some() && *memory < LEAST_MEMORY {
        return Err(Failure::usage(anyhow!("--memory: proof-number search needs 1MiB or more")));
    }
    Ok(chosen)
}

/// The option that asks for more than the value of the first state.
fn needs_all_states(arguments: &Arguments) -> Option<&'static str> {
    let Arguments { out, count, .. } = arguments;
    let options = [("--out", out.is_some()), ("--count", count.is_some())];
    options.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
}

/// Whether a proof may answer where the states do not fit the memory.
fn may_prove(arguments: &Arguments, game: &Game) -> bool {
    arguments.method == Method::Auto
        && arguments.memory >= LEAST_MEMORY
        && needs_all_states(arguments).is_none()
        && games::solve::proof::suits(game)
}

/// How a proof may answer where the states do not fit the memory; nothing if none can.
fn proof_advice(arguments: &Arguments, game: &Game) -> String {
    if needs_all_states(arguments).is_some() || !games::solve::proof::suits(game) {
        return String::new();
    }
    let memory = match arguments.memory {
        LEAST_MEMORY.. => "",
        _ => " --memory 1MiB",
    };
    format!(", or prove the value of the first state alone with --method proof{memory}")
}

/// The checkpoint, with the solver where it ended.
fn continued(path: &Path, solver: &mut Solver) -> Result<CheckpointFile, Failure> {
    let file = CheckpointFile::open(path, solver).map_err(unusable)?;
    let Progress { phase, level, n_states, .. } = solver.progress();
    if n_states > 1 {
        let states = counted(n_states, "state", "states");
        let path = path.display();
        let place = match phase {
            Phase::Reaching => format!("{states} reached, depth {level}"),
            _ => format!("all {states} reached, values to be computed from depth {level}"),
        };
        writeln!(io::stderr(), "continuing from {path}: {place}")?;
    }
    Ok(file)
}

/// The game, beginning in the state that is asked for.
fn game(arguments: &Arguments) -> Result<Arc<Game>, Failure> {
    let Arguments { state, moves, reading, .. } = arguments;
    let mut game = game_source::load(&arguments.game, *reading).map_err(Failure::game)?.game;
    if let Some(text) = state {
        let facts = facts(&game, text)?;
        game = game_source::beginning_in(&game, &facts, *reading).map_err(Failure::game)?;
    }
    if moves.trim().is_empty() {
        return Ok(game);
    }
    let prover = Prover::new(Arc::clone(&game), Guards::default());
    let mut machine = prover.map_err(Failure::preflight)?;
    let start = machine.initial_state().map_err(Failure::preflight)?;
    let line = follow(&mut machine, start, moves)?;
    let facts = machine.facts(line.last());
    game_source::beginning_in(&game, &facts, *reading).map_err(Failure::game)
}

fn unusable(error: CheckpointError) -> Failure {
    match error {
        CheckpointError::Io { .. } => Failure::unwritable(error),
        error => Failure::usage(error),
    }
}

/// Why no proof follows where there is a checkpoint.
const WITH_CHECKPOINT: &str =
    "; with --checkpoint, no proof is tried unless --method proof selects it";

/// What to do about an interruption where there is a checkpoint.
const TO_CONTINUE: &str = "; repeat the command to continue";

fn interrupted() -> Failure {
    Failure { code: exit_code::INTERRUPTED, error: anyhow!("interrupted") }
}

/// What the game is, or this machine has, decides whose fault it is.
fn failure(error: SolveError, cancel: &Cancel) -> Failure {
    match error {
        _ if cancel.is_cancelled() => interrupted(),
        SolveError::HiddenInformation => Failure::usage(anyhow!(
            "{error} (`gamemaster exploitability GAME --player cfr` prints their values)"
        )),
        SolveError::NoValue { .. }
        | SolveError::Unsettled { .. }
        | SolveError::TooManyOutcomes { .. } => Failure::usage(anyhow!(
            "the game cannot be solved: {error}; `gamemaster game info` names suitable players"
        )),
        SolveError::Memory { .. } => Failure {
            code: exit_code::INTERNAL,
            error: anyhow!("{error}; allow more with --memory"),
        },
        SolveError::NoMove { .. } => Failure::preflight(error).advised(
            "; `gamemaster game validate --play GAME` looks for such states in random matches",
        ),
        SolveError::Reasoning(_) => Failure::preflight(error),
    }
}

fn report(game: &Game, solver: &Solver, progress: &Progress, first: FirstMoves) -> Report {
    let players = || game.role_ids().filter(|&role| Some(role) != game.random());
    let at = |role: games::RoleId| usize::from(role.0);
    let name = |role| game.role_name(role).to_owned();
    let value = |role| RoleValue { role: name(role), value: first.best.value[at(role)] };
    let n_choosing = players().filter(|&role| first.legal[at(role)].len() > 1).count();
    let best = |role| {
        let legal = &first.legal[at(role)];
        let shares = legal.iter().zip(&first.best.strategies[at(role)]);
        let moves = shares.filter(|(_, share)| **share > 1e-9);
        let moves = moves
            .map(|(action, &probability)| BestMove { action: action.to_string(), probability });
        BestMoves {
            role: name(role),
            legal: legal.len(),
            moves: moves.collect(),
            mixed: n_choosing > 1,
        }
    };
    Report {
        game: game.name().to_owned(),
        values: players().map(value).collect(),
        states: progress.n_states,
        terminal_states: progress.n_terminal,
        depth: solver.levels().len() - 1,
        successors: progress.n_successors,
        best_moves: players().filter(|&role| first.legal[at(role)].len() > 1).map(best).collect(),
        seconds: 0.0,
        states_per_second: 0.0,
        resumed_states: None,
        setup_seconds: 0.0,
        memory_bytes: progress.most_bytes,
        bytes_per_state: progress.most_bytes as f64 / progress.n_states as f64,
        threads: 1,
        method: "retrograde",
        expander: solver.method(),
        table: None,
    }
}

/// A value as people write it: without a fraction if it has none.
fn in_words(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        format!("{:.0}", value.round())
    } else {
        format!("{value:.4}")
    }
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let values: Vec<String> =
        report.values.iter().map(|it| format!("{} {}", it.role, in_words(it.value))).collect();
    writeln!(out, "{}, solved", report.game)?;
    writeln!(out, "  value        {}", values.join(", "))?;
    for best in &report.best_moves {
        let written = |it: &BestMove| match best.mixed && best.moves.len() > 1 {
            true => format!("{} with probability {:.4}", it.action, it.probability),
            false => it.action.clone(),
        };
        let moves: Vec<String> = best.moves.iter().map(written).collect();
        let which = format!("{} of {} moves", best.moves.len(), best.legal);
        writeln!(out, "  best         {}: {} ({which})", best.role, moves.join(", "))?;
    }
    let depth = counted(report.depth, "step", "steps");
    writeln!(
        out,
        "  states       {}, {} of them terminal; the farthest is {depth} from the first state",
        report.states, report.terminal_states
    )?;
    if report.terminal_states == 0 {
        writeln!(out, "  note         play never ends: no terminal state can be reached")?;
    }
    let threads = counted(report.threads, "thread", "threads");
    let resumed = match report.resumed_states {
        None => String::new(),
        Some(n_states) => {
            format!(", after {} of the checkpoint", counted(n_states, "state", "states"))
        }
    };
    writeln!(
        out,
        "  time         {}, {} states/s on {threads}{resumed}; {} to set up",
        seconds(report.seconds),
        rate(report.states_per_second),
        seconds(report.setup_seconds)
    )?;
    writeln!(
        out,
        "  memory       peak {}, {:.1} bytes per state",
        size(report.memory_bytes),
        report.bytes_per_state
    )?;
    if let Some(table) = &report.table {
        writeln!(
            out,
            "  table        {}, {}, {:.2} bytes per state; {} to write",
            table.file,
            size(table.bytes),
            table.bytes_per_state,
            seconds(table.seconds)
        )?;
    }
    Ok(())
}

fn seconds(seconds: f64) -> String {
    if seconds < 0.1 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

fn rate(rate: f64) -> String {
    if rate >= 1e6 { format!("{:.1} million", rate / 1e6) } else { format!("{rate:.0}") }
}

fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.2} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        1e3.. => format!("{:.1} kB", bytes / 1e3),
        _ => format!("{bytes:.0} bytes"),
    }
}

/// How far the solver is.
fn line(progress: &Progress) -> String {
    let Progress { level, n_states, n_valued, sweep, n_bytes, .. } = progress;
    let memory = size(*n_bytes);
    let states = |n: u64| counted(n, "state", "states");
    match progress.phase {
        Phase::Reaching => format!("{} reached, depth {level}, {memory}", states(*n_states)),
        _ if *sweep > 1 => format!(
            "values of {n_valued} of {} computed, sweep {sweep}, {memory}",
            states(*n_states)
        ),
        _ => format!("values of {n_valued} of {} computed, {memory}", states(*n_states)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([in_words(50.0), in_words(61.555_768)], ["50", "61.5558"]);
        assert_eq!(
            [size(12), size(24_048), size(2_300_000_000)],
            ["12 bytes", "24.0 kB", "2.30 GB"]
        );
        assert_eq!([seconds(0.001_25), seconds(12.34)], ["1.2 ms", "12.3 s"]);
        assert_eq!([rate(1234.4), rate(12_340_000.0)], ["1234", "12.3 million"]);
    }
}
