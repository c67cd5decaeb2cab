//! A built-in player as typed on the command line, of which one decision or several are asked.

use std::time::Duration;

use anyhow::anyhow;
use games::StateMachine;
use players::{Options, Player, PlayerKind};

use super::one_decision::Limits;
use crate::built_in;
use crate::failure::Failure;
use crate::human;
use crate::manager::PlayerSource;
use crate::spec::{Contestant, read_player};

/// A built-in player that is not a person.
pub(super) struct BuiltInPlayer {
    /// As it was typed.
    pub(super) text: String,
    /// What it is called, and what it was given.
    pub(super) contestant: Contestant,
    /// Its kind.
    pub(super) kind: &'static PlayerKind,
}

impl BuiltInPlayer {
    /// Reads the player; `why_not` says what only built-in players can do.
    ///
    /// # Errors
    /// If it is not written as a player, or no built-in one, or a person.
    pub(super) fn read(text: &str, why_not: &str) -> Result<Self, Failure> {
        let contestant = read_player(text).map_err(Failure::usage)?;
        let kind = contestant.config.kind().and_then(built_in::find);
        match kind.filter(|kind| kind.name != human::KIND.name) {
            Some(kind) => Ok(Self { text: text.to_owned(), contestant, kind }),
            None => Err(Failure::usage(anyhow!("--player {text}: {why_not}"))),
        }
    }

    /// Its options.
    pub(super) fn options(&self) -> &Options {
        match &self.contestant.config.source {
            PlayerSource::BuiltIn { options, .. } => options,
            _ => unreachable!("a player with a kind is built in"),
        }
    }

    /// A new player.
    ///
    /// # Errors
    /// If an option has a value that it cannot have.
    pub(super) fn make(&self) -> Result<Box<dyn Player>, Failure> {
        (self.kind.make)(self.options()).map_err(Failure::usage)
    }

    /// Checks that the player can play the game of `machine`.
    ///
    /// # Errors
    /// If it cannot, or the rules cannot be computed.
    pub(super) fn check(&self, machine: &dyn StateMachine) -> Result<(), Failure> {
        let (player, game) = (&self.text, machine.game());
        let is_hidden = game.kind().hidden_information;
        let reason = match is_hidden && !self.kind.plays_hidden_information {
            true => Some(built_in::without_hidden_information()),
            false => {
                self.contestant.config.unsuitable(machine.fork()).map_err(Failure::preflight)?
            }
        };
        reason.map_or(Ok(()), |reason| {
            Err(Failure::usage(anyhow!("{player} cannot play {}: {reason}", game.name())))
        })
    }

    /// The limits of the player: its own where it has them, or else those of the command.
    ///
    /// # Errors
    /// If it has a budget in nodes and the command has none.
    pub(super) fn limits(
        &self,
        start: Option<Duration>,
        time: Duration,
        nodes: Option<u64>,
    ) -> Result<Limits, Failure> {
        let own = &self.contestant.config.odds;
        if own.nodes.is_some() && nodes.is_none() {
            return Err(Failure::usage(anyhow!(
                "--player {}: it has a node budget, but the command has a clock; give --nodes, too",
                self.text
            )));
        }
        Ok(Limits {
            start: own.start.or(start),
            time: own.play.unwrap_or(time),
            nodes: nodes.map(|nodes| own.nodes.unwrap_or(nodes)),
        })
    }
}
