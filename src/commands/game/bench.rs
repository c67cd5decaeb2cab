//! `gamemaster game bench`: how fast states are computed, measured by random
//! playouts.

mod playing;
mod reasoner;
mod suite;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use self::playing::{Effort, GoalSum, Tally, play};
use self::reasoner::{Choice, Lanes, Reasoner};
use super::view::ByRole;
use results::counted::counted;

use crate::commands::number::{whole, whole_from};
use crate::commands::time_limits::clock;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster game bench connect_four --time 10s
  gamemaster game bench my_game.kif --time 2s --seed 7 --json
  gamemaster game bench breakthrough --reasoner batch --lanes 256 --threads 2
  gamemaster game bench --suite    measure every reasoner on every shipped game
  gamemaster game bench --suite nim my_game.kif --time 5s --format csv

All roles move uniformly at random, and the goals of all roles are computed at
the end of each playout. Each state that a joint move leads to is counted;
initial states are not. No playout starts after the given time; running playouts
are finished and counted, so that short ones are not favoured.";

/// Arguments of `gamemaster game bench`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    #[arg(value_name = "GAME")]
    file: Option<String>,
    #[command(flatten)]
    reading: Reading,
    /// Measure every reasoner on these games [default: all shipped games]
    #[arg(long, value_name = "GAME", num_args = 0.., conflicts_with_all = [
        "file", "case", "lenient", "reasoner", "lanes", "interpreted", "threads",
    ])]
    suite: Option<Vec<String>>,
    /// Start no playout after this time [default: 3s, or 1s with --suite]
    #[arg(long, value_name = "TIME", value_parser = clock)]
    time: Option<Duration>,
    /// Compute states with this reasoner
    #[arg(long, value_enum, default_value_t)]
    reasoner: Choice,
    /// Compute N states together in a batch [default: 512]
    #[arg(long, value_enum, value_name = "N")]
    lanes: Option<Lanes>,
    /// Interpret the batch's network instead of compiling it to machine code
    #[arg(long)]
    interpreted: bool,
    /// Play on N independent threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=1024))]
    threads: u32,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Stop each playout after N steps
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole_from::<u32>(0))]
    step_limit: u32,
    /// Print the results of --suite in this format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<suite::Format>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Time for playouts of one game, if none is given.
const TIME: Duration = Duration::from_secs(3);

/// What was measured. The names are read by scripts that compare systems.
#[derive(Serialize)]
struct Measurement {
    game: String,
    reasoner: &'static str,
    /// Why it is the prover that `auto` has chosen; left out if it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_ground: Option<String>,
    /// States computed at once.
    lanes: u32,
    /// If playouts are kept at the same steps: the number of parts of a match, or turns, for which
    /// machine code is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_frames: Option<usize>,
    threads: u32,
    /// Wall clock of the playouts.
    seconds: f64,
    /// CPU time of the threads that played them.
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
    /// Of the whole process; none where the system does not report it.
    peak_rss_bytes: Option<u64>,
}

/// Carries out `gamemaster game bench`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let effort = |otherwise: Duration| Effort {
        time: arguments.time.unwrap_or(otherwise),
        seed: arguments.seed,
        max_steps: arguments.step_limit,
    };
    let file = match (&arguments.suite, &arguments.file) {
        (Some(names), _) => {
            let format = if arguments.json { Some(suite::Format::Json) } else { arguments.format };
            return suite::execute(names, &effort(suite::TIME), format.unwrap_or_default());
        }
        (None, _) if arguments.format.is_some() => {
            return Err(Failure::usage(anyhow::anyhow!("--format is possible only with --suite")));
        }
        (None, Some(file)) => file,
        (None, None) => {
            return Err(Failure::usage(anyhow::anyhow!(
                "no game was given; give GAME, or --suite for every shipped game"
            )));
        }
    };
    let effort = effort(TIME);
    let beginning = Instant::now();
    let game = game_source::load(file, arguments.reading).map_err(Failure::game)?.game;
    let reasoner =
        Reasoner::new(&game, arguments.reasoner, arguments.lanes, arguments.interpreted)?;
    let n_time_frames = reasoner.n_time_frames();
    let init_seconds = beginning.elapsed().as_secs_f64();

    let wall = Instant::now();
    let tally = play(&reasoner, &effort, arguments.threads)?;
    let seconds = wall.elapsed().as_secs_f64();
    let Tally { states, playouts, cpu_seconds, goals, .. } = &tally;
    let (states, playouts, cpu_seconds) = (*states, *playouts, *cpu_seconds);

    let measurement = Measurement {
        game: game.name().to_owned(),
        reasoner: reasoner.name(),
        not_ground: reasoner.not_ground().map(str::to_owned),
        lanes: reasoner.n_lanes(),
        time_frames: Some(n_time_frames).filter(|&n| n > 0),
        threads: arguments.threads,
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
            // The object's members are fixed, but this must not be overlooked.
            write!(std::io::stderr(), "{}", tally.unfinished(arguments.step_limit))?;
        } else {
            print(stdout, &measurement)?;
            write!(stdout, "{}", tally.unfinished(arguments.step_limit))?;
        }
        Ok(exit_code::OK)
    })
}

fn print(stdout: &mut impl Write, measurement: &Measurement) -> io::Result<()> {
    let Measurement { game, reasoner, seconds, cpu_seconds, states, playouts, .. } = measurement;
    let lanes = match measurement.lanes {
        1 => String::new(),
        lanes if *reasoner == "batch" => format!(" of {lanes} lanes as machine code"),
        lanes => format!(" of {lanes} lanes"),
    };
    let frames = measurement.time_frames.map_or_else(String::new, |n| format!(", {n} time frames"));
    let threads = counted(measurement.threads, "thread", "threads");
    writeln!(stdout, "{game}, reasoner: {reasoner}{lanes}{frames}, {threads}")?;
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
        "  ready        {:.4} s from text to initial state",
        measurement.init_seconds
    )?;
    if let Some(not_ground) = &measurement.not_ground {
        writeln!(stdout, "  no network   {not_ground}")?;
    }
    if let Some(bytes) = measurement.peak_rss_bytes {
        writeln!(stdout, "  memory       peak {:.1} MiB", bytes as f64 / f64::from(1 << 20))?;
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

fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
