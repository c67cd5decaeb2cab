//! `gamemaster suite make`: a suite from the tables of solved games.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::Args;
use games::solve::best_play::LookUpError;
use games::solve::{GameHash, ValueTable};
use games::{Cancel, Guards, library, state_machine_for};
use results::atomic_file;
use results::counted::counted;

use crate::commands::number::{nodes, number, whole, whole_from};
use crate::commands::output_files;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::interrupt::on_interrupt;
use crate::output::to_stdout;
use crate::position_suite::make::{MadePosition, MakeError, Wanted, make, text};
use crate::solution_file;

const EXAMPLES: &str = "\
Examples:
  gamemaster solve connect_four_4x4 --out c4.table
  gamemaster suite make connect_four_4x4 --table c4.table --out c4.toml
  gamemaster suite make nim hex_4x4 --table nim.table --table hex.table \\
      --positions 20 --max-good 25 > both.toml

Positions are states of random walks. In each, only one player has a choice, few
of its moves are good, and every other move gives something away. The suite
gives for each position its depth: how many steps a search must look ahead.
Positions are spread over the depths as evenly as the game allows. The same seed
gives the same suite.";

/// Arguments of `gamemaster suite make`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Paths of rulesheets, or names of shipped games
    #[arg(required = true, value_name = "GAME")]
    games: Vec<String>,
    /// Use this file of `gamemaster solve --out`; one or more for each game
    #[arg(long = "table", value_name = "FILE", required = true)]
    tables: Vec<PathBuf>,
    /// Select N positions of each game
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<usize>(1..=10_000))]
    positions: usize,
    /// Select positions in which at most this percentage of the legal moves is good
    #[arg(long, value_name = "PERCENT", default_value_t = 34.0, value_parser = number)]
    max_good: f64,
    /// Select positions in which every move that is not good gives away at least N
    /// points
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = number)]
    min_loss: f64,
    /// Leave out positions in which a search must look more than N steps ahead to
    /// tell good moves from others
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = whole::<u32>(1..=1000))]
    max_depth: u32,
    /// Leave out positions whose depth (see below) is not known after N states
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = nodes)]
    max_nodes: u64,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Write the suite to FILE, which is rewritten after each game [default: standard
    /// output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// Carries out `gamemaster suite make`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    for (option, value) in [("--max-good", arguments.max_good), ("--min-loss", arguments.min_loss)]
    {
        if !(value > 0.0 && value <= 100.0) {
            let expected = "expected a number above 0, and at most 100";
            return Err(Failure::usage(anyhow!("{option} {value}: {expected}")));
        }
    }
    let inputs = arguments.tables.iter().map(|path| ("--table", path.as_path()));
    let games = arguments.games.iter().map(|game| ("a game", Path::new(game)));
    let inputs: Vec<_> = inputs.chain(games).collect();
    let output = arguments.out.as_deref().map(|path| ("--out", path));
    output_files::check(output.as_slice(), &inputs)?;
    let mut tables = Vec::new();
    for path in &arguments.tables {
        tables.push(solution_file::shared(path).map_err(Failure::usage)?);
    }
    let cancel = Cancel::new();
    let stop = cancel.clone();
    on_interrupt(move || stop.cancel()).context("cannot listen for interrupts")?;
    let mut positions = Vec::new();
    for name in &arguments.games {
        let mut found = of_game(name, &tables, arguments, &cancel)
            .map_err(|failure| with_kept_positions(failure, &positions, output))?;
        if library::find(name).is_none() {
            let place = from_folder_of(arguments.out.as_deref(), Path::new(name))
                .with_context(|| format!("cannot resolve the path of {name}"))?;
            found.iter_mut().for_each(|position| position.rulesheet.clone_from(&place));
        }
        let mut stderr = std::io::stderr().lock();
        if found.is_empty() {
            writeln!(stderr, "note: {name} has no such position")?;
        } else if found.len() < arguments.positions {
            let n = counted(found.len(), "such position was", "such positions were");
            writeln!(stderr, "note: only {n} found in {name}")?;
        }
        positions.extend(found);
        // Each game may take minutes, and an interrupt or an error in the next may end it.
        if let Some(file) = arguments.out.as_ref().filter(|_| !positions.is_empty()) {
            atomic_file::replace(file, text(&positions).as_bytes())
                .map_err(|error| Failure::cannot_write(file, error))?;
        }
    }
    if positions.is_empty() {
        return Err(Failure::usage(anyhow!(
            "no positions; allow more with --max-good, --min-loss, --max-depth or --max-nodes"
        )));
    }
    match &arguments.out {
        Some(file) => {
            let n = counted(positions.len(), "position", "positions");
            writeln!(std::io::stderr().lock(), "{}: {n}", file.display())?;
            Ok(exit_code::OK)
        }
        None => to_stdout(|stdout| {
            write!(stdout, "{}", text(&positions))?;
            Ok(exit_code::OK)
        }),
    }
}

/// Adds to an error that the positions of the games before are in the file.
fn with_kept_positions(
    failure: Failure,
    positions: &[MadePosition],
    output: Option<(&str, &Path)>,
) -> Failure {
    let Some((_, file)) = output.filter(|_| !positions.is_empty()) else { return failure };
    let n = counted(positions.len(), "position", "positions");
    let kept = format!("; {} has {n} of the games before", file.display());
    Failure { error: anyhow!("{:#}{kept}", failure.error), code: failure.code }
}

/// The path of a rulesheet as the suite `out` names it: from the suite's folder if it is in it,
/// and else from the root.
fn from_folder_of(out: Option<&Path>, rulesheet: &Path) -> io::Result<String> {
    let folder = out.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
    let rulesheet = rulesheet.canonicalize()?;
    let place = rulesheet.strip_prefix(folder).unwrap_or(&rulesheet);
    Ok(place.display().to_string())
}

fn of_game(
    name: &str,
    tables: &[Arc<ValueTable>],
    arguments: &Arguments,
    cancel: &Cancel,
) -> Result<Vec<MadePosition>, Failure> {
    let game = game_source::load(name, arguments.reading).map_err(Failure::game)?.game;
    if game.kind().hidden_information {
        return Err(Failure::usage(anyhow!(
            "{name} has hidden information, so it cannot be solved, and its positions have no \
             known best moves"
        )));
    }
    let hash = GameHash::of(&game);
    let tables: Vec<Arc<ValueTable>> =
        tables.iter().filter(|table| table.game() == hash).cloned().collect();
    if tables.is_empty() {
        return Err(Failure::usage(anyhow!(
            "no table of {name} was given; make one with `gamemaster solve {name} --out FILE`, and \
             give it with --table FILE"
        )));
    }
    let machine = state_machine_for(Arc::clone(&game), Guards::default());
    let mut machine = machine.map_err(Failure::preflight)?;
    machine.set_cancel(cancel.clone());
    let wanted = Wanted {
        n_positions: arguments.positions,
        seed: arguments.seed,
        max_good: arguments.max_good / 100.0,
        min_loss: arguments.min_loss,
        max_depth: arguments.max_depth,
        max_nodes: arguments.max_nodes,
    };
    make(&mut *machine, &tables, &wanted, cancel).map_err(|error| match error {
        _ if cancel.is_cancelled() => {
            Failure { code: exit_code::INTERRUPTED, error: anyhow!("interrupted") }
        }
        MakeError::Reasoning(_) | MakeError::Table(LookUpError::Reasoning(_)) => {
            Failure::preflight(error)
        }
        error => Failure::usage(error),
    })
}
