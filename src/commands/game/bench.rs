//! `gamemaster game bench`: how fast states are computed, measured by random
//! playouts on one thread.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use games::State;
use serde::Serialize;

use super::view::{ByRole, roles};
use super::walk::{Ending, Walker, playout_rng};
use super::{GameArgument, machine, reasoning};
use crate::cli::{Failure, Outcome};
use crate::exit_code;
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster game bench connect_four --seconds 10
  gamemaster game bench my_game.kif --seconds 2 --seed 7 --json

All roles move uniformly at random, and the goals of all roles are computed at the
end of each playout. A state counts when it is entered by a joint move. No playout
is begun after the given time; those under way are finished and counted, so that
short ones are not favoured.";

/// Arguments of `gamemaster game bench`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Begin playouts for this long
    #[arg(long, value_name = "T", default_value_t = 3.0, value_parser = seconds)]
    seconds: f64,
    /// Seed of the random moves
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Cut each playout after this many steps
    #[arg(long, value_name = "K", default_value_t = 1000)]
    steps: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(_) => Ok(seconds),
        Err(error) => Err(error.to_string()),
    }
}

/// What was measured. The names are read by scripts that compare systems.
#[derive(Serialize)]
struct Measurement {
    game: String,
    engine: &'static str,
    /// Positions advanced at once.
    lanes: u32,
    threads: u32,
    /// Wall clock of the playouts.
    seconds: f64,
    /// CPU time of the thread that played them.
    cpu_seconds: f64,
    states: u64,
    playouts: u64,
    states_per_cpu_second: f64,
    playouts_per_cpu_second: f64,
    mean_length: f64,
    /// Over the playouts that gave the role one goal; none if there is none.
    mean_goals: ByRole<Option<f64>>,
    /// Wall clock from the rulesheet's text to its initial state.
    init_seconds: f64,
    /// Of the whole process; none where the system does not tell.
    peak_rss_bytes: Option<u64>,
}

/// Playouts that did not end in a terminal state.
#[derive(Default)]
struct Unfinished {
    cut: u64,
    without_move: u64,
}

impl Unfinished {
    /// A line for each kind there was.
    fn tell(&self, max_steps: usize) -> String {
        let mut told = String::new();
        if self.cut > 0 {
            told += &format!("  cut          {} playouts after {max_steps} steps\n", self.cut);
        }
        if self.without_move > 0 {
            let count = self.without_move;
            told += &format!("  stuck        {count} playouts where a role had no legal move\n");
        }
        told
    }
}

#[derive(Clone, Default)]
struct GoalSum {
    sum: u64,
    count: u64,
}

impl GoalSum {
    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Carries out `gamemaster game bench`.
pub(super) fn execute(arguments: &Arguments) -> Outcome {
    let beginning = Instant::now();
    let game = arguments.game.load()?.game;
    let machine = machine(&game)?;
    let engine = machine.reasoner();
    let mut walker = Walker::new(machine);
    let initial = walker.machine.initial_state().map_err(reasoning)?;
    let init_seconds = beginning.elapsed().as_secs_f64();

    let (wall, cpu) = (Instant::now(), thread_cpu());
    let tally = play(&mut walker, &initial, arguments)?;
    let (seconds, cpu_seconds) = (wall.elapsed().as_secs_f64(), thread_cpu() - cpu);
    let Tally { states, playouts, goals, unfinished } = tally;

    let measurement = Measurement {
        game: game.name().to_owned(),
        engine,
        lanes: 1,
        threads: 1,
        seconds,
        cpu_seconds,
        states,
        playouts,
        states_per_cpu_second: states as f64 / cpu_seconds,
        playouts_per_cpu_second: playouts as f64 / cpu_seconds,
        mean_length: states as f64 / playouts as f64,
        mean_goals: ByRole::new(&game, goals.iter().map(GoalSum::mean).collect()),
        init_seconds,
        peak_rss_bytes: peak_rss_bytes(),
    };
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &measurement)?;
            // The object's members are fixed, but nobody should overlook this.
            write!(std::io::stderr(), "{}", unfinished.tell(arguments.steps))?;
        } else {
            print(stdout, &measurement)?;
            write!(stdout, "{}", unfinished.tell(arguments.steps))?;
        }
        Ok(exit_code::OK)
    })
}

struct Tally {
    states: u64,
    playouts: u64,
    goals: Vec<GoalSum>,
    unfinished: Unfinished,
}

fn play(walker: &mut Walker, initial: &State, arguments: &Arguments) -> Result<Tally, Failure> {
    let limit = Duration::from_secs_f64(arguments.seconds);
    let beginning = Instant::now();
    let game = std::sync::Arc::clone(walker.machine.game());
    let mut tally = Tally {
        states: 0,
        playouts: 0,
        goals: vec![GoalSum::default(); game.roles().len()],
        unfinished: Unfinished::default(),
    };
    // At least one playout, however short the time.
    while tally.playouts == 0 || beginning.elapsed() < limit {
        let mut rng = playout_rng(arguments.seed, tally.playouts);
        let playout = walker
            .playout(initial.clone(), &mut rng, arguments.steps, |_, _, _| true)
            .map_err(reasoning)?;
        tally.playouts += 1;
        tally.states += playout.steps as u64;
        match playout.ending {
            Ending::Terminal | Ending::Stopped => {}
            Ending::StepLimit => tally.unfinished.cut += 1,
            Ending::NoMove => tally.unfinished.without_move += 1,
        }
        for (role, sum) in roles(&game).zip(&mut tally.goals) {
            let reading = walker.machine.goal(&playout.last, role).map_err(reasoning)?;
            if let Some(goal) = reading.unique() {
                sum.sum += u64::from(goal.value());
                sum.count += 1;
            }
        }
    }
    Ok(tally)
}

fn print(stdout: &mut impl Write, measurement: &Measurement) -> io::Result<()> {
    let Measurement { game, engine, seconds, cpu_seconds, states, playouts, .. } = measurement;
    writeln!(stdout, "{game} by the {engine}, one thread")?;
    writeln!(stdout, "  time         {seconds:.2} s, {cpu_seconds:.2} s of CPU")?;
    writeln!(
        stdout,
        "  states       {states}, {} per CPU second",
        rounded(measurement.states_per_cpu_second)
    )?;
    writeln!(
        stdout,
        "  playouts     {playouts}, {} per CPU second",
        rounded(measurement.playouts_per_cpu_second)
    )?;
    writeln!(stdout, "  mean length  {:.2} steps", measurement.mean_length)?;
    let goals: Vec<String> = measurement
        .mean_goals
        .iter()
        .map(|(role, mean)| match mean {
            Some(mean) => format!("{role} {mean:.2}"),
            None => format!("{role} none"),
        })
        .collect();
    writeln!(stdout, "  mean goals   {}", goals.join(", "))?;
    writeln!(
        stdout,
        "  start        {:.4} s from text to initial state",
        measurement.init_seconds
    )?;
    if let Some(bytes) = measurement.peak_rss_bytes {
        writeln!(stdout, "  memory       {:.1} MiB at most", bytes as f64 / f64::from(1 << 20))?;
    }
    Ok(())
}

/// A rate with three significant digits or so.
fn rounded(rate: f64) -> String {
    match rate {
        _ if rate >= 100.0 => format!("{rate:.0}"),
        _ if rate >= 1.0 => format!("{rate:.1}"),
        _ => format!("{rate:.3}"),
    }
}

fn thread_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
