//! `gamemaster suite run`: what players do in the positions of a suite.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Args;
use results::atomic_file;
use results::position_suite::{PlayerResult, SuiteResult};
use results::report::{Format, junit_of_positions, render_positions};

use crate::commands::number::{number, whole, whole_from};
use crate::commands::output_files;
use crate::commands::time_limits::{TimeLimits, clock};
use crate::commands::typed_players::typed_players;
use crate::exit_code;
use crate::failure::{CommandResult, Failure, game_code};
use crate::game_source::Reading;
use crate::interrupt::on_interrupt;
use crate::manager::{Manager, ManagerSettings, PlayerConfig, PlayerStderr};
use crate::output::json_or_text;
use crate::people;
use crate::position_suite::file::find;
use crate::position_suite::play::{Asking, PlayError, play};
use crate::position_suite::{PositionSuite, SuiteError};
use crate::supervisor::OWN_EXECUTABLE;

const EXAMPLES: &str = "\
Examples:
  gamemaster suite run endgames --player alpha_beta --player random
  gamemaster suite run endgames --player mcts --nodes 1000 --all
  gamemaster suite run my_suite.toml --player http://127.0.0.1:9147 --jobs 1
  gamemaster suite run endgames --player 'cmd:./mine --port {port}' \\
      --junit suite.xml --require 90

A suite is a TOML file of positions, or `endgames`, which comes with the program
(see docs/suites.md). A player is written as for `gamemaster play`. It gets
rules whose initial state is the position, and makes one move.

Exit codes:
  0    every player passed what --require asks for
  1    internal error, or a player could not be asked
  2    invalid arguments or suite
  3    an invalid rulesheet, or a player that does not reply at the beginning
  10   a player passed less than --require asks for (see standard error)
  130  interrupted; the results so far are printed";

/// Arguments of `gamemaster suite run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// File of positions, or `endgames`
    suite: PathBuf,
    /// Ask this player; may be repeated
    #[arg(long = "player", value_name = "PLAYER", required = true)]
    players: Vec<String>,
    /// Give each player this time to prepare, before it is asked for the first move
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = clock)]
    start_clock: Duration,
    #[command(flatten)]
    limits: TimeLimits,
    /// Play N positions at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=1024))]
    jobs: Option<usize>,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Fail if a player passes less than this percentage of the positions; positions
    /// count by their weight, which is 1 if the suite gives none
    #[arg(long, value_name = "PERCENT", default_value_t = 100.0, value_parser = number)]
    require: f64,
    /// List all positions; without it, the first 20 that each player failed
    #[arg(long)]
    all: bool,
    /// Write the results to FILE as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Print the results as CSV, a row for each decision
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Carries out `gamemaster suite run`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    if !(0.0..=100.0).contains(&arguments.require) {
        let typed = arguments.require;
        return Err(Failure::usage(anyhow!("--require {typed}: expected 0 to 100")));
    }
    let output = arguments.junit.as_deref().map(|path| ("--junit", path));
    output_files::check(output.as_slice(), &[("the suite", arguments.suite.as_path())])?;
    let (players, notes) = typed_players(&arguments.players)?;
    let players: Vec<Arc<PlayerConfig>> = players.into_iter().map(|player| player.config).collect();
    if arguments.limits.nodes.is_none()
        && let Some(player) = players.iter().find(|player| player.odds.nodes.is_some())
    {
        let id = &player.id;
        return Err(Failure::usage(anyhow!(
            "{id} has a node budget, but the positions have clocks; give --nodes too"
        )));
    }
    if let Some(why) = people::refusal(players.iter().map(|player| &**player)) {
        return Err(Failure::usage(anyhow!(why)));
    }
    let suite = find(&arguments.suite, arguments.reading).map_err(not_found)?;
    notes.print()?;
    let (stderr, supervisor) = (PlayerStderr::Show, Some(OWN_EXECUTABLE.into()));
    let manager = Manager::new(ManagerSettings { stderr, supervisor, ..Default::default() });
    let at_interrupt = Arc::clone(&manager);
    on_interrupt(move || at_interrupt.interrupt()).context("cannot listen for interrupts")?;
    let configs: Vec<&PlayerConfig> = players.iter().map(|player| &**player).collect();
    let checked = manager.preflight_all(&configs);
    let played = checked
        .map_err(Failure::player)
        .and_then(|()| decisions(&manager, &suite, &players, arguments));
    manager.shutdown();
    let found = SuiteResult { suite: suite.name, players: played? };
    let n_played = found.players.iter().map(|player| player.results.len()).min().unwrap_or(0);
    let interrupted = || Failure {
        code: exit_code::INTERRUPTED,
        error: anyhow!(
            "interrupted: {n_played} of {} positions were played",
            suite.positions.len()
        ),
    };
    let is_whole = n_played == suite.positions.len();
    if !is_whole && n_played == 0 {
        return Err(interrupted());
    }
    let printed = print(&found, arguments);
    if let Some(file) = &arguments.junit {
        atomic_file::replace(file, junit_of_positions(&found).as_bytes())
            .map_err(|error| Failure::cannot_write(file, error))?;
    }
    if is_whole { printed } else { printed.and(Err(interrupted())) }
}

fn decisions(
    manager: &Arc<Manager>,
    suite: &PositionSuite,
    players: &[Arc<PlayerConfig>],
    arguments: &Arguments,
) -> Result<Vec<PlayerResult>, Failure> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let asking = Asking {
        clocks: arguments.limits.clocks(arguments.start_clock),
        nodes: arguments.limits.nodes,
        seed: arguments.seed,
        n_workers: arguments.jobs.unwrap_or_else(cores),
    };
    let n_positions = suite.positions.len();
    let bar = if std::io::stderr().is_terminal() {
        indicatif::ProgressBar::new(n_positions as u64)
    } else {
        indicatif::ProgressBar::hidden()
    };
    let report = |n: usize| bar.set_position(n as u64);
    let rows = play(manager, suite, players, &asking, &report);
    bar.finish_and_clear();
    let rows = rows.map_err(|error| {
        let code = match &error {
            PlayError::Rules { .. } => exit_code::PREFLIGHT,
            PlayError::Aborted { .. } => exit_code::INTERNAL,
        };
        Failure { code, error: error.into() }
    })?;
    let results = players.iter().zip(rows);
    Ok(results.map(|(player, row)| PlayerResult::new(player.id.clone(), row)).collect())
}

/// Prints the results, and returns them as an exit code.
fn print(found: &SuiteResult, arguments: &Arguments) -> CommandResult {
    json_or_text(arguments.json, found, |stdout, found| {
        let format = if arguments.csv { Format::Csv } else { Format::Text };
        write!(stdout, "{}", render_positions(found, format, arguments.all))
    })?;
    // A sum of weights may be off in the last digit.
    let is_enough =
        |player: &PlayerResult| 100.0 * player.total.score() >= arguments.require - 1e-9;
    let mut code = exit_code::OK;
    for player in found.players.iter().filter(|player| !is_enough(player)) {
        code = exit_code::REGRESSION;
        let (player, passed) = (&player.player, 100.0 * player.total.score());
        let required = arguments.require;
        writeln!(
            std::io::stderr(),
            "failed: {player} passed {passed:.1} % of the weight; --require {required} asks for more"
        )?;
    }
    Ok(code)
}

/// Whether the suite or a rulesheet is wrong.
fn not_found(error: SuiteError) -> Failure {
    let code = match &error {
        SuiteError::Game { source, .. } => game_code(source),
        _ => exit_code::USAGE,
    };
    Failure { code, error: error.into() }
}
