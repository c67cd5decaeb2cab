//! Serving a built-in player.

use clap::Args;
use players::{Options, Value};

use crate::cli::{Failure, Outcome};
use crate::exit_code;
use crate::serve::{ServeError, ServeSettings, Server};

/// Arguments of `gamemaster serve`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kind of player, as listed by `gamemaster players`.
    #[arg(long)]
    player: String,
    /// Port to listen on; 0 for any that is free.
    #[arg(long, default_value_t = 9147)]
    port: u16,
    /// Address to listen on; `0.0.0.0` for all.
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// An option of the player, as `name=value`; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
}

/// Carries out `gamemaster serve`.
pub fn execute(arguments: &Arguments) -> Outcome {
    let kind = players::find(&arguments.player).ok_or_else(|| {
        let known: Vec<_> = players::kinds().iter().map(|kind| kind.name).collect();
        Failure::usage(anyhow::anyhow!(
            "there is no player called `{}`; there are {}",
            arguments.player,
            known.join(", ")
        ))
    })?;
    let mut options = Options::new();
    for option in &arguments.options {
        let (name, value) = option.split_once('=').ok_or_else(|| {
            Failure::usage(anyhow::anyhow!("`--option {option}` should be `name=value`"))
        })?;
        options.set(name.trim(), value_of(value.trim()));
    }
    let (host, port) = (arguments.host.clone(), arguments.port);
    let settings = ServeSettings { kind, options, host, port };
    let server = Server::start(settings).map_err(|error| match error {
        ServeError::Start(_) => error.into(),
        _ => Failure::usage(error),
    })?;
    tell(&format!("{} listens on {}", kind.name, server.address()));
    server.wait();
    Ok(exit_code::OK)
}

/// The value that a spec would have for the same characters.
fn value_of(text: &str) -> Value {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) if number.is_finite() => number.into(),
            _ => text.into(),
        },
    }
}

#[expect(clippy::print_stdout, reason = "who starts a server waits for this line")]
fn tell(line: &str) {
    println!("{line}");
}
