//! Playing a whole experiment.

pub(super) mod preview;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum as _};
use results::partition::Partition;
use results::report;
use results::standings::Standings;
use serde::Serialize;

use super::number::{whole, whole_from};
use super::queue_options::CoordinatorOptions;
use super::tournament::{self, CommandLine};
use crate::event::StopReason;
use crate::exit_code;
use crate::experiment::{Experiment, Place};
use crate::failure::{CommandResult, Failure};
use crate::output::{json_line, to_stdout};
use crate::spec::{self, FormatWord, Overrides, Spec, SpecError};

/// The default spec of `gamemaster run`.
const DEFAULT_SPEC: &str = include_str!("../default_spec.toml");

const EXAMPLES: &str = "\
Examples:
  gamemaster run
      play six players on six small games, under a minute
  gamemaster run --dry-run
      print what that would play, and how long it would take
  gamemaster run my_spec.toml --out my_run
      play your own spec; repeat the command to resume
  gamemaster run my_spec.toml --partition slice:1/3
      play one part of three
  gamemaster run my_spec.toml --format swiss
      use another format (see docs/formats.md)
  gamemaster run my_spec.toml --race
      drop clearly weaker players early
  gamemaster run my_spec.toml --queue nats://HOST:4222
      have workers on other machines play it (see docs/cluster.md)
  gamemaster report my_run
      report which players are stronger

A spec names players, games and clocks:
  games = [\"tic_tac_toe\", \"my_games/*.kif\"]
  blocks = 10        # each pairing plays each game 10 times in every seating
  clocks = { start = \"10s\", play = [\"100ms\", \"1s\"] }
  [[players]]
  kind = \"alpha_beta\"
  [[players]]
  id = \"mine\"
  command = \"python3 my_player.py --port {port}\"

A run writes spec.lock.toml, journal.jsonl, matches.csv, moves.csv,
summary.json and summary.md into its folder.

Exit codes:
  0    the run is complete
  1    internal error, aborted matches, or an unreachable queue server
  2    invalid arguments or spec, or --out contains a run of another spec
  3    an invalid rulesheet, or a player that does not reply at the beginning
  130  interrupted; repeat the command to resume";

/// Arguments of `gamemaster run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Spec of the tournament (TOML) [default: six players, six small games]
    spec: Option<PathBuf>,
    /// Write to this folder, or resume the run in it [default:
    /// results/runs/NAME-HASH]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Play N matches at the same time [default: all cores if budgets are in nodes,
    /// otherwise the cores divided by the number of thinking players of a match (all
    /// but `legal` and `random`), even if they take turns]
    #[arg(long, value_name = "N", conflicts_with = "queue",
          value_parser = whole::<u32>(1..=1024))]
    jobs: Option<u32>,
    /// Pair players by this format instead of the one in the spec
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatWord>,
    /// Play N rounds of a swiss system or a ladder
    #[arg(long, value_name = "N", value_parser = whole_from::<u32>(1))]
    rounds: Option<u32>,
    /// Drop clearly weaker players early (round_robin, gauntlet)
    #[arg(long)]
    race: bool,
    /// Leave built-in players out of games that they refuse (because the tree is too
    /// large, for example); otherwise such a game is an error
    #[arg(long)]
    skip_unsuitable: bool,
    /// Use this random seed instead of the one in the spec
    #[arg(long, value_name = "S", value_parser = whole_from::<u64>(0))]
    seed: Option<u64>,
    /// Continue a run after players, games, budgets or blocks (repetitions) were
    /// added to its spec, and keep its matches
    #[arg(long)]
    extend: bool,
    /// Play only this part of the schedule: slice:1/3 is the first of three parts;
    /// index:0/3 is the same part, counted from 0 (see `merge`)
    #[arg(long, value_name = "slice:M/N|index:M/N", conflicts_with_all = ["extend", "queue"])]
    partition: Option<Partition>,
    #[command(flatten)]
    queue: CoordinatorOptions,
    /// Print what would be played, and record nothing; with clocks, let built-in players
    /// think for a few seconds to estimate the time
    #[arg(long)]
    dry_run: bool,
    /// Print errors only: no progress, no standings
    #[arg(long)]
    quiet: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `gamemaster run`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let spec = read_spec(arguments).map_err(Failure::usage)?;
    let experiment = Experiment::new(spec)
        .map_err(|error| tournament::not_laid_out(error, arguments.spec.as_deref()))?;
    let place = Place {
        folder: arguments.out.clone(),
        extend: arguments.extend,
        partition: arguments.partition,
    };
    if arguments.dry_run {
        let preview = experiment.preview(&place).map_err(tournament::not_opened)?;
        return preview::print(&preview, arguments.json);
    }
    let Some(played) = tournament::play(&experiment, &place, arguments.quiet, &arguments.queue)?
    else {
        return Ok(exit_code::INTERRUPTED);
    };
    let printed = to_stdout(|stdout| {
        if arguments.json {
            let folder = played.folder.display().to_string();
            let (stop, standings) = (played.ended.stop, &played.standings);
            json_line(stdout, &Summary { folder, stop, standings })?;
        } else if !arguments.quiet {
            let folder = played.folder.display();
            if played.standings.n_matches == 0 {
                writeln!(stdout, "No match was finished.\n\nFolder: {folder}")?;
                return Ok(exit_code::OK);
            }
            write!(stdout, "{}", report::render_overall(&played.standings))?;
            writeln!(stdout, "\nFull report: gamemaster report {folder}\nFolder: {folder}")?;
        }
        Ok(exit_code::OK)
    });
    tournament::conclude(&played.ended, printed, || command_line(arguments))
}

fn read_spec(arguments: &Arguments) -> Result<Spec, SpecError> {
    let overrides = Overrides {
        seed: arguments.seed,
        jobs: arguments.jobs,
        format: arguments.format,
        rounds: arguments.rounds,
        race: arguments.race,
        skip_unsuitable: arguments.skip_unsuitable,
        ..Overrides::default()
    };
    match &arguments.spec {
        None => spec::read(DEFAULT_SPEC, "default", Path::new(""), &overrides),
        Some(path) => spec::read_file(path, &overrides),
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    folder: String,
    stop: StopReason,
    #[serde(flatten)]
    standings: &'a Standings,
}

/// The command that resumes this run.
fn command_line(arguments: &Arguments) -> CommandLine {
    let format = arguments.format.and_then(|format| format.to_possible_value());
    CommandLine::new("run")
        .words(arguments.spec.iter().map(|spec| spec.display()))
        .option("--out", arguments.out.as_ref().map(|out| out.display()))
        .option("--jobs", arguments.jobs)
        .option("--seed", arguments.seed)
        .option("--partition", arguments.partition)
        .option("--format", format.as_ref().map(|format| format.get_name()))
        .option("--rounds", arguments.rounds)
        .flag("--race", arguments.race)
        .flag("--skip-unsuitable", arguments.skip_unsuitable)
        .queue(&arguments.queue)
        .flag("--quiet", arguments.quiet)
        .flag("--json", arguments.json)
}
