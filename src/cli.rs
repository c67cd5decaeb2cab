//! The command line: what can be typed, and which command carries it out.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands;
use crate::descriptors;
use crate::diagnostics::Colours;
use crate::exit_code;
use crate::game_source::GameSourceError;

/// What went wrong, with the exit code that says whose fault it is.
#[derive(Debug)]
pub struct Failure {
    /// One of [`exit_code`].
    pub code: u8,
    /// What to tell the user.
    pub error: anyhow::Error,
}

impl Failure {
    /// Wrong usage or a bad spec.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { code: exit_code::USAGE, error: error.into() }
    }

    /// A broken rulesheet or a player that failed its preflight.
    pub fn preflight(error: impl Into<anyhow::Error>) -> Self {
        Self { code: exit_code::PREFLIGHT, error: error.into() }
    }

    /// There is no game to play or look at. The errors of a broken rulesheet
    /// are drawn when the failure is told.
    pub fn game(error: GameSourceError) -> Self {
        Self { code: error.exit_code(), error: error.into() }
    }
}

/// Anything not classified is our own fault.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { code: exit_code::INTERNAL, error: error.into() }
    }
}

/// An error of a library, whose message fits after these words, in one line.
pub(crate) fn failed_to(error: impl std::error::Error) -> anyhow::Error {
    anyhow::anyhow!("failed to {}", in_one_line(error))
}

/// An error of a library whose message stands alone, with its causes in one line.
pub(crate) fn in_one_line(error: impl std::error::Error) -> anyhow::Error {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line += &format!(": {cause}");
        source = cause.source();
    }
    anyhow::Error::msg(line)
}

/// What a command returns: the exit code of its success.
pub type Outcome = Result<u8, Failure>;

/// Tournaments of general game players: runs matches under clocks and tells who is stronger.
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
    /// Play one match and print it as it goes.
    Play(commands::play::Arguments),
    /// Report who is stronger, from a run's results.
    Report(commands::report::Arguments),
    /// Ask a run's results questions in SQL.
    Query(commands::query::Arguments),
    /// Put the parts of a schedule together that were played apart.
    Merge(commands::merge::Arguments),
    /// Compare two runs: what changed for each player, and how sure that is.
    Compare(commands::compare::Arguments),
    /// Tell whether a new version of a player is worse than the old one.
    Regress(commands::regress::Arguments),
    /// Step through a match that was played.
    Replay(commands::replay::Arguments),
    /// Write a run's matches in the form of other programs.
    Export(commands::export::Arguments),
    /// Play under several budgets: strength against time.
    Sweep(commands::sweep::Arguments),
    /// List the built-in players and their options.
    Players(commands::players::Arguments),
    /// Serve a built-in player to any Gamemaster over HTTP.
    Serve(commands::serve::Arguments),
    /// Supervise a launched program; used by gamemaster itself.
    #[command(hide = true)]
    Supervise(commands::supervise::Arguments),
    /// Look at games: list, info, validate, state, trace, bench.
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
            tell_error(&failure.error);
            failure.code.into()
        }
    }
}

/// On standard error; if nobody can be told there, the exit code still says it.
fn tell_error(error: &anyhow::Error) {
    let mut stderr = std::io::stderr();
    if let Some(error) = error.downcast_ref::<GameSourceError>() {
        let drawing = error.drawing(Colours::of(&stderr)).unwrap_or_default();
        let _ = writeln!(stderr, "{drawing}error: failed to {}", error.tell());
        return;
    }
    let _ = writeln!(stderr, "error: {error:#}");
}
