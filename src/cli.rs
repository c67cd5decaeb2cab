//! The command line: what can be typed, and which command carries it out.

use std::io::Write as _;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands;
use crate::descriptors;
use crate::diagnostics::Colours;
use crate::failure::{CommandResult, Failure};
use crate::game_source::GameSourceError;

const EXAMPLES: &str = "\
Examples:
  gamemaster run                                    play a small tournament
  gamemaster play tic_tac_toe alpha_beta random     play one match
  gamemaster report RUN                             report on a run
  gamemaster run --help                             print the options of `run`";

/// What `gamemaster --version` prints: also whether workers can play, which takes another build.
const VERSION: &str = if cfg!(feature = "queue") {
    concat!(env!("CARGO_PKG_VERSION"), " (with the queue)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (without the queue)")
};

/// Run tournaments of general game players, and report which are stronger.
#[derive(Debug, Parser)]
#[command(name = "gamemaster", version = VERSION, arg_required_else_help = true, after_help = EXAMPLES, max_term_width = 80)]
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
    /// Report which players are stronger, from the results of a run.
    Report(commands::report::Arguments),
    /// Query the results of a run in SQL.
    Query(commands::query::Arguments),
    /// Merge runs of the same spec, for example the parts of one run.
    Merge(commands::merge::Arguments),
    /// Compare two runs: what changed for each player, with intervals.
    Compare(commands::compare::Arguments),
    /// Test whether a new version of a player is weaker.
    Regress(commands::regress::Arguments),
    /// Step through a recorded match.
    Replay(commands::replay::Arguments),
    /// Explain a decision: what each move is worth, and why.
    Explain(commands::explain::Arguments),
    /// Solve a game: the exact value of every state.
    Solve(commands::solve::Arguments),
    /// Train an evaluation of a game's states by self-play.
    Train(commands::train::Arguments),
    /// Report how much reward each player's decisions gave away.
    Regret(commands::regret::Arguments),
    /// Compute what a best response gains against a player.
    Exploitability(commands::exploitability::Arguments),
    /// Run and make suites of positions with known good moves.
    #[command(subcommand)]
    Suite(commands::suite::Command),
    /// Export the matches of a run to the formats of other programs.
    Export(commands::export::Arguments),
    /// Play with several budgets, and report strength at each.
    Sweep(commands::sweep::Arguments),
    /// List the built-in players and their options.
    Players(commands::players::Arguments),
    /// Serve a built-in player over HTTP, for other game managers.
    Serve(commands::serve::Arguments),
    /// Play matches of runs that a coordinator has put into a queue.
    Worker(commands::worker::Arguments),
    /// Show, drain and empty the queue of a NATS server.
    #[command(subcommand)]
    Queue(commands::queue::Command),
    /// Supervise a launched program; used by gamemaster itself.
    #[command(hide = true)]
    Supervise(commands::supervise::Arguments),
    /// List, inspect, validate, trace and benchmark games.
    #[command(subcommand)]
    Game(commands::game::Command),
}

/// With negative numbers and times taken for values, so that the error is about them.
fn accepting_negative_numbers(command: clap::Command) -> clap::Command {
    let accept = |argument: clap::Arg| {
        let names = argument.get_value_names().unwrap_or_default();
        let is_time = names.iter().any(|name| name.starts_with("TIME"));
        let is_value = argument.get_action().takes_values();
        let argument = argument.allow_hyphen_values(is_time);
        if is_value { argument.allow_negative_numbers(true) } else { argument }
    };
    command.mut_args(accept).mut_subcommands(accepting_negative_numbers)
}

/// With a last line in the help of what needs a queue, if this build has none.
fn saying_what_is_missing(command: clap::Command) -> clap::Command {
    const MISSING: &str = "This build has no queue: build it with `--features queue` to use one.";
    if cfg!(feature = "queue") {
        return command;
    }
    let is_concerned = command.get_name() == "queue"
        || command.get_subcommands().any(|it| it.get_name() == "queue")
        || command.get_arguments().any(|it| it.get_id() == "queue");
    let command = command.mut_subcommands(saying_what_is_missing);
    if !is_concerned {
        return command;
    }
    let help = command.get_after_help().map_or_else(String::new, |help| format!("{help}\n\n"));
    command.after_help(format!("{help}{MISSING}"))
}

/// Parses the command line and carries it out.
#[must_use]
pub fn main() -> ExitCode {
    descriptors::raise_limit();
    let command = saying_what_is_missing(accepting_negative_numbers(Cli::command()));
    let matches = command.get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let checked = games::compiled_network::check_vectors().map_err(Failure::usage);
    let outcome = checked.and_then(|()| execute(cli.command));
    match outcome {
        Ok(code) => code.into(),
        Err(failure) => {
            print_error(&failure.error);
            failure.code.into()
        }
    }
}

fn execute(command: Command) -> CommandResult {
    match command {
        Command::Run(arguments) => commands::run::execute(&arguments),
        Command::Play(arguments) => commands::play::execute(&arguments),
        Command::Report(arguments) => commands::report::execute(&arguments),
        Command::Query(arguments) => commands::query::execute(&arguments),
        Command::Merge(arguments) => commands::merge::execute(&arguments),
        Command::Compare(arguments) => commands::compare::execute(&arguments),
        Command::Regress(arguments) => commands::regress::execute(&arguments),
        Command::Replay(arguments) => commands::replay::execute(&arguments),
        Command::Explain(arguments) => commands::explain::execute(&arguments),
        Command::Solve(arguments) => commands::solve::execute(&arguments),
        Command::Train(arguments) => commands::train::execute(&arguments),
        Command::Regret(arguments) => commands::regret::execute(&arguments),
        Command::Exploitability(arguments) => commands::exploitability::execute(&arguments),
        Command::Suite(command) => commands::suite::execute(&command),
        Command::Export(arguments) => commands::export::execute(&arguments),
        Command::Sweep(arguments) => commands::sweep::execute(&arguments),
        Command::Players(arguments) => commands::players::execute(&arguments),
        Command::Serve(arguments) => commands::serve::execute(&arguments),
        Command::Worker(arguments) => commands::worker::execute(&arguments),
        Command::Queue(command) => commands::queue::execute(&command),
        Command::Supervise(arguments) => commands::supervise::execute(&arguments),
        Command::Game(command) => commands::game::execute(&command),
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
