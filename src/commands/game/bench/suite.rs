//! `gamemaster game bench --suite`: the speed of every reasoner on every shipped
//! game, with a yardstick beside it, so that computers can be compared.

mod computer;
mod table;

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use games::batch::{Batch, Limits};
use games::compiled_network::{CompiledNetwork, Width};
use games::{Cancel, Game, Guards, NetworkMachine, Prover, ground, library};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use self::computer::Computer;
use super::super::walk::{Walker, playout_rng};
use super::super::{machine, prover, reasoning};
use super::playing::{Effort, play};
use super::reasoner::Reasoner;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::output::{json_line, to_stdout};
use crate::yardstick::rounds_per_cpu_second;

/// Time for each reasoner and game, if none is given.
pub(super) const TIME: Duration = Duration::from_secs(1);

/// Lanes of the batches: the fastest for most games.
const WIDTH: Width = Width::Lanes512;

/// CPU time of one reading of the yardstick, seconds.
const YARDSTICK_TIME: f64 = 0.1;

/// How often a start is timed; the least time counts.
const N_STARTS: usize = 3;

/// No start is timed again after this time.
const START_TIME: Duration = Duration::from_secs(2);

/// How to print it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for a terminal
    #[default]
    Text,
    /// All numbers
    Json,
    /// A row for each game
    Csv,
    /// Markdown
    #[value(alias = "markdown")]
    Md,
}

/// What was measured, and on what. The names are read by scripts.
#[derive(Debug, Serialize)]
struct Suite {
    #[serde(flatten)]
    computer: Computer,
    /// For each reasoner of each game.
    seconds: f64,
    lanes: usize,
    /// The median of those beside the games.
    yardstick_rounds_per_cpu_second: f64,
    /// Of the whole process; none where the system does not report it.
    peak_rss_bytes: Option<u64>,
    games: Vec<Row>,
}

/// One game. Speeds are states per second of CPU time of one thread.
#[derive(Debug, Serialize)]
struct Row {
    game: String,
    /// Ground facts, moves and conjunctions; none if it was not ground.
    facts: Option<usize>,
    moves: Option<usize>,
    conjunctions: Option<usize>,
    prover: f64,
    network: Option<f64>,
    batch_interpreted: Option<f64>,
    /// None where the CPU has no AVX2, too.
    batch_machine_code: Option<f64>,
    /// Wall clock from the text to the end of the first playout, as matches are
    /// played, milliseconds.
    start_ms: f64,
    /// The same for a batch as machine code.
    batch_start_ms: Option<f64>,
    /// Measured just before.
    yardstick_rounds_per_cpu_second: f64,
}

/// Measures the games named, or all that are shipped.
pub(super) fn execute(names: &[String], effort: &Effort, format: Format) -> CommandResult {
    let all = || library::names().map(str::to_owned).collect();
    let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
    // Before anything is measured, so that no typing error costs minutes.
    for name in &names {
        let machine = Prover::new(load(name)?, Guards::default());
        let of_this = |error| Failure::preflight(anyhow::anyhow!("{name}: {error}"));
        machine.map_err(of_this)?;
    }
    let progress = Progress::new(names.len());
    let mut games = Vec::new();
    for (at, name) in names.iter().enumerate() {
        progress.show(at, name);
        games.push(measure(name, effort)?);
    }
    progress.finish();
    let suite = Suite {
        computer: Computer::this(),
        seconds: effort.time.as_secs_f64(),
        lanes: WIDTH.n_lanes(),
        yardstick_rounds_per_cpu_second: median(&games),
        peak_rss_bytes: super::peak_rss_bytes(),
        games,
    };
    to_stdout(|stdout| {
        match format {
            Format::Json => json_line(stdout, &suite)?,
            Format::Text => write!(stdout, "{}", table::text(&suite))?,
            Format::Csv => write!(stdout, "{}", table::csv(&suite))?,
            Format::Md => write!(stdout, "{}", table::markdown(&suite))?,
        }
        Ok(exit_code::OK)
    })
}

fn load(name: &str) -> Result<Arc<Game>, Failure> {
    Ok(game_source::load(name, Reading::default()).map_err(Failure::game)?.game)
}

fn measure(name: &str, effort: &Effort) -> Result<Row, Failure> {
    let yardstick = rounds_per_cpu_second(YARDSTICK_TIME);
    let start_ms = least_ms(|| start(name, effort))?;
    let game = load(name)?;
    let speed = |reasoner: &Reasoner| -> Result<f64, Failure> {
        let tally = play(reasoner, effort, 1)?;
        Ok(tally.states as f64 / tally.cpu_seconds)
    };
    let mut row = Row {
        game: game.name().to_owned(),
        facts: None,
        moves: None,
        conjunctions: None,
        prover: speed(&Reasoner::single(prover(&game)?))?,
        network: None,
        batch_interpreted: None,
        batch_machine_code: None,
        start_ms,
        batch_start_ms: None,
        yardstick_rounds_per_cpu_second: yardstick,
    };
    // What cannot be ground is left to the prover, and its columns are empty.
    let Ok(network) = ground(&game, &Default::default(), &Cancel::new()) else {
        return Ok(row);
    };
    let network = Arc::new(network);
    row.facts = Some(network.n_facts());
    row.moves = Some(network.n_moves());
    row.conjunctions = Some(network.graph.n_ands());
    let machine = NetworkMachine::new(Arc::clone(&network), prover(&game)?);
    row.network = Some(speed(&Reasoner::single(machine))?);
    let program = Arc::new(CompiledNetwork::new(network));
    let batch = |is_translated| {
        speed(&Reasoner::Batch { program: Arc::clone(&program), width: WIDTH, is_translated })
    };
    row.batch_interpreted = Some(batch(false)?);
    if program.translate(WIDTH).is_ok() {
        row.batch_machine_code = Some(batch(true)?);
        row.batch_start_ms = Some(least_ms(|| start_batch(name))?);
    }
    Ok(row)
}

/// From the text to the end of the first playout, with the reasoner of matches.
fn start(name: &str, effort: &Effort) -> Result<(), Failure> {
    let mut walker = Walker::new(machine(&load(name)?)?);
    let initial = walker.machine.initial_state().map_err(reasoning)?;
    let mut rng = playout_rng(effort.seed, 0);
    let steps = effort.max_steps as usize;
    walker.playout(initial, &mut rng, steps, |_, _, _| true).map_err(reasoning)?;
    Ok(())
}

/// The same in a batch, as machine code.
fn start_batch(name: &str) -> Result<(), Failure> {
    let ungroundable = |error| Failure::preflight(anyhow::Error::new(error));
    let network =
        ground(&load(name)?, &Default::default(), &Cancel::new()).map_err(ungroundable)?;
    let program = Arc::new(CompiledNetwork::new(Arc::new(network)));
    program.translate(WIDTH)?;
    let initial = program.network().initial_state();
    let limits = Limits { n_playouts: 1, ..Limits::default() };
    let _ = Batch::new(&program, WIDTH, 1).playouts(&initial, &limits);
    Ok(())
}

/// The least wall clock of some runs, in milliseconds.
fn least_ms(mut run: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let beginning = Instant::now();
    let mut least = f64::INFINITY;
    for _ in 0..N_STARTS {
        let before = Instant::now();
        run()?;
        least = least.min(before.elapsed().as_secs_f64() * 1e3);
        if beginning.elapsed() > START_TIME {
            break;
        }
    }
    Ok(least)
}

/// The yardstick of the whole suite.
fn median(games: &[Row]) -> f64 {
    let mut readings: Vec<f64> =
        games.iter().map(|row| row.yardstick_rounds_per_cpu_second).collect();
    readings.sort_by(f64::total_cmp);
    readings[readings.len() / 2]
}

/// Which game is being measured: a bar on a terminal, lines elsewhere.
struct Progress {
    bar: ProgressBar,
    n_games: usize,
}

impl Progress {
    fn new(n_games: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {eta} left");
        let style = style.expect("the template is right");
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new(n_games as u64).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        Self { bar, n_games }
    }

    fn show(&self, at: usize, name: &str) {
        self.bar.set_position(at as u64);
        self.bar.set_message(name.to_owned());
        if self.bar.is_hidden() {
            // A reader that went away is no failure.
            let _ = writeln!(std::io::stderr(), "{}/{} {name}", at + 1, self.n_games);
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
