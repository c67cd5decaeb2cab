//! Serving a built-in player.

use std::sync::LazyLock;

use anyhow::anyhow;
use clap::Args;
use players::{Options, PlayerKind};

use super::number::{bytes, whole};
use crate::built_in;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::human;
use crate::manager::{PlayerSource, unknown_kind};
use crate::serve::{
    DEFAULT_CONNECTIONS, DEFAULT_MEMORY_BYTES, MIN_MEMORY_BYTES, ServeError, ServeSettings, Server,
};
use crate::spec::{option_value, read_player};

const EXAMPLES: &str = "\
Examples:
  gamemaster serve --player alpha_beta
      listen on 127.0.0.1:9147
  gamemaster serve --player minimax:depth=4 --port 9200
  gamemaster serve --player random --host 0.0.0.0 --port 0
      listen on all addresses, on any free port
  gamemaster serve --player sequential_planner --verbose
      print START, PLAY, STOP and ABORT, with the replies

Play against it from another terminal:
  gamemaster play tic_tac_toe http://127.0.0.1:9147 random

`gamemaster players` lists the players, their options, and which of them
cannot play games of hidden information. The first line of output names the
player, its options and the address: `random listens on 127.0.0.1:9147`. The
server plays one match at a time: it replies `busy` to START during a match, and
for a game that the player cannot play. Games that need more than --memory are
played by a slower reasoner, or get `busy`. A connection above --max-connections
replaces the oldest idle one.";

/// Arguments of `gamemaster serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Serve this built-in player, written as for `gamemaster play`
    #[arg(long)]
    player: String,
    /// Listen on this port (0: any free one)
    #[arg(long, default_value_t = 9147, value_parser = whole::<u16>(0..=65535))]
    port: u16,
    /// Listen on this address (0.0.0.0: all)
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Set an option of the player; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Limit the memory of requests and rules
    #[arg(
        long,
        alias = "max-memory",
        value_name = "BYTES",
        default_value = DEFAULT_MEMORY.as_str(),
        value_parser = memory
    )]
    memory: u64,
    /// Keep at most N connections
    #[arg(
        long,
        value_name = "N",
        default_value_t = DEFAULT_CONNECTIONS as u64,
        value_parser = whole::<u64>(1..=65_536)
    )]
    max_connections: u64,
    /// Print each message and its reply to standard error, cut after 1000
    /// characters, with the number of rules instead of the rules
    #[arg(short, long)]
    verbose: bool,
}

/// The default of `--memory`, as typed.
static DEFAULT_MEMORY: LazyLock<String> =
    LazyLock::new(|| format!("{}GiB", DEFAULT_MEMORY_BYTES >> 30));

/// Enough memory for a match.
fn memory(text: &str) -> Result<u64, String> {
    let size = bytes(text).ok().filter(|&bytes| bytes >= MIN_MEMORY_BYTES);
    let expected = || format!("expected {}MiB or more, such as 4GiB", MIN_MEMORY_BYTES >> 20);
    size.ok_or_else(expected)
}

/// Carries out `gamemaster serve`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let (kind, options) = player(arguments).map_err(Failure::usage)?;
    let (host, port) = (arguments.host.clone(), arguments.port);
    let player = match options.is_empty() {
        true => kind.name.to_owned(),
        false => format!("{} ({options})", kind.name),
    };
    let settings = ServeSettings {
        host,
        port,
        memory_bytes: arguments.memory,
        max_connections: usize::try_from(arguments.max_connections).unwrap_or(usize::MAX),
        prints_messages: arguments.verbose,
        ..ServeSettings::local(kind, options)
    };
    let server = Server::start(settings).map_err(|error| match error {
        ServeError::Start(_) => error.into(),
        ServeError::PortTaken { .. } => {
            Failure::usage(error).advised("; choose another with --port")
        }
        _ => Failure::usage(error),
    })?;
    print_line(&format!("{player} listens on {}", server.address()));
    server.wait();
    Ok(exit_code::OK)
}

/// The player, as the same words would have it in a spec.
fn player(arguments: &Arguments) -> anyhow::Result<(&'static PlayerKind, Options)> {
    let (name, given) = arguments.player.split_once(':').unwrap_or((&arguments.player, ""));
    if arguments.player.contains("://") || name == "cmd" {
        return Err(anyhow!(
            "only built-in players can be served, not `{}`; `gamemaster players` lists them",
            arguments.player
        ));
    }
    let kind = built_in::find(name).ok_or_else(|| anyhow!(unknown_kind(name)))?;
    if kind.name == human::KIND.name {
        return Err(anyhow!("`human` cannot be served over HTTP; use it with `gamemaster play`"));
    }
    let mut words: Vec<String> =
        (!given.is_empty()).then(|| given.to_owned()).into_iter().collect();
    for option in &arguments.options {
        let (name, value) = option
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
            .filter(|(name, _)| !["id", "kind"].contains(name))
            .ok_or_else(|| anyhow!("`--option {option}` should be `name=value`"))?;
        // Written out in full, so that a comma in it is its own.
        words.push(format!("{name}={}", option_value(value)));
    }
    let colon = if words.is_empty() { "" } else { ":" };
    let contestant = read_player(&format!("{}{colon}{}", kind.name, words.join(",")))?;
    if !contestant.config.odds.is_none() {
        return Err(anyhow!(
            "`serve` takes no clocks or budgets ({}); the other game manager sets them",
            words.join(", ")
        ));
    }
    match &contestant.config.source {
        PlayerSource::BuiltIn { options, .. } => Ok((kind, options.clone())),
        _ => unreachable!("a kind names a built-in player"),
    }
}

#[expect(clippy::print_stdout, reason = "the program that starts a server waits for this line")]
fn print_line(line: &str) {
    println!("{line}");
}
