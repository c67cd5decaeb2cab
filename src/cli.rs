//! The command line: what can be typed, and which command carries it out.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands;
use crate::descriptors;
use crate::diagnostics::Colours;
use crate::game_source::GameSourceError;

/// Run tournaments of general game players, and report who is stronger.
#[derive(Debug, Parser)]
#[command(name = "gamemaster", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a tournament and write its results.
    Run(commands::run::Arguments),
    /// Play one match and print every step.
    Play(commands::play::Arguments),
    /// Report who is stronger, from the results of a run.
    Report(commands::report::Arguments),
    /// Query the results of a run in SQL.
    Query(commands::query::Arguments),
    /// Merge runs that each played a part of the same schedule.
    Merge(commands::merge::Arguments),
    /// Compare two runs: what changed for each player, with confidence intervals.
    Compare(commands::compare::Arguments),
    /// Test whether a new version of a player is weaker than the old one.
    Regress(commands::regress::Arguments),
    /// Step through a recorded match.
    Replay(commands::replay::Arguments),
    /// Explain a decision of a player: value, candidates, expected line.
    Explain(commands::explain::Arguments),
    /// Export the matches of a run to the formats of other programs.
    Export(commands::export::Arguments),
    /// Play under several time budgets, and report strength against time.
    Sweep(commands::sweep::Arguments),
    /// List the built-in players and their options.
    Players(commands::players::Arguments),
    /// Serve a built-in player over HTTP, for any Gamemaster.
    Serve(commands::serve::Arguments),
    /// Supervise a launched program; used by gamemaster itself.
    #[command(hide = true)]
    Supervise(commands::supervise::Arguments),
    /// List, inspect, validate, trace and benchmark games.
    #[command(subcommand)]
    Game(commands::game::Command),
}

/// Parses the command line and carries it out.
#[must_use]
pub fn main() -> ExitCode {
    descriptors::raise_limit();
    let outcome = match Cli::parse().command {
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Play(arguments) => commands::play::execute(&arguments),
        Command::Report(arguments) => commands::report::execute(&arguments),
        Command::Query(arguments) => commands::query::execute(&arguments),
        Command::Merge(arguments) => commands::merge::execute(&arguments),
        Command::Compare(arguments) => commands::compare::execute(&arguments),
        Command::Regress(arguments) => commands::regress::execute(&arguments),
        Command::Replay(arguments) => commands::replay::execute(&arguments),
        Command::Explain(arguments) => commands::explain::execute(&arguments),
        Command::Export(arguments) => commands::export::execute(&arguments),
        Command::Sweep(arguments) => commands::sweep::execute(&arguments),
        Command::Players(arguments) => commands::players::execute(&arguments),
        Command::Serve(arguments) => commands::serve::execute(&arguments),
        Command::Supervise(arguments) => commands::supervise::execute(&arguments),
        Command::Game(command) => commands::game::execute(&command),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(failure) => {
            print_error(&failure.error);
            failure.code.into()
        }
    }
}

/// Prints on standard error; if that is closed, the exit code still says it.
fn print_error(error: &anyhow::Error) {
    let mut stderr = std::io::stderr();
    if let Some(error) = error.downcast_ref::<GameSourceError>() {
        let drawing = error.drawing(Colours::of(&stderr)).unwrap_or_default();
        let _ = writeln!(stderr, "{drawing}error: {}", error.message());
        return;
    }
    let _ = writeln!(stderr, "error: {error:#}");
}
