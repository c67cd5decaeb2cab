//! Whether players are ready, before their first match.

use results::record::AbortReason;

use super::programs::{Impostor, LaunchError};
use super::remote::{AddressError, Answer, ExchangeError, Target, first_line};
use super::{
    INFO_LIMIT, Manager, NetError, PlayerConfig, PlayerSource, info, is_ready, unknown_kind,
};
use crate::in_parallel::in_parallel;

/// Remote players that are asked at once: they think on machines of their own.
const ASKED_AT_ONCE: usize = 64;

/// Why a player cannot begin a tournament.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// No kind of this name.
    #[error("{}", unknown_kind(.0))]
    UnknownKind(String),
    /// The built-in player refuses its options.
    #[error("player `{id}` cannot be used")]
    Options {
        /// The player.
        id: String,
        /// Why.
        #[source]
        source: Box<players::OptionError>,
    },
    /// The host and port make no address.
    #[error("player `{id}` cannot be used")]
    Address {
        /// The player.
        id: String,
        /// Why.
        #[source]
        source: AddressError,
    },
    /// The remote player does not reply as a player does.
    #[error("player `{id}` at {host}:{port} {problem}")]
    Silent {
        /// The player.
        id: String,
        /// Its host.
        host: String,
        /// Its port.
        port: u16,
        /// What happened instead.
        problem: Silence,
    },
    /// The program does not start, or does not reply.
    #[error("player `{id}` is not ready")]
    Launch {
        /// The player.
        id: String,
        /// Why.
        #[source]
        source: LaunchError,
    },
    /// Another process listens on the port of the program.
    #[error("{reason}")]
    PortTaken {
        /// The process and the port.
        reason: AbortReason,
    },
    /// This machine lacks what asking the player takes.
    #[error("player `{id}` could not be asked: {what}")]
    MachineLimit {
        /// The player.
        id: String,
        /// What is lacking, and what to do.
        what: String,
    },
    /// This machine refuses what talking over the network takes.
    #[error(transparent)]
    Net(#[from] NetError),
}

impl PreflightError {
    fn launch(id: &str, error: LaunchError) -> Self {
        let id = id.to_owned();
        match error {
            LaunchError::MachineLimit(what) => Self::MachineLimit { id, what },
            LaunchError::Impostor(Impostor { port, by }) => {
                Self::PortTaken { reason: AbortReason::PortTaken { player: id, port, by } }
            }
            source => Self::Launch { id, source },
        }
    }
}

/// What a remote player does instead of answering INFO.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Silence {
    /// Its reply is not that of a player.
    #[error(
        "replies to INFO with HTTP {status} and `{line}`; expected the reply of a player, such as \
         `((name me) (status available))`"
    )]
    WrongAnswer {
        /// The status code.
        status: u16,
        /// The first line of the reply.
        line: String,
    },
    /// It has not answered in time.
    #[error("does not reply to INFO within {}", humantime::format_duration(INFO_LIMIT))]
    Late,
    /// There is no connection.
    #[error("does not reply: {0}; start the player first, or correct its address")]
    Unreachable(String),
    /// It closed the connection.
    #[error("closes the connection without a reply to INFO: {0}")]
    HungUp(String),
    /// It does not speak HTTP.
    #[error("replies to INFO with something that is not HTTP: {0}")]
    NotHttp(String),
}

impl Manager {
    /// Checks that `player` can be created or launched, and replies to INFO. A program
    /// launched here plays the first matches.
    ///
    /// # Errors
    /// Why the player cannot play.
    pub fn preflight(&self, player: &PlayerConfig) -> Result<(), PreflightError> {
        let id = || player.id.clone();
        match &player.source {
            PlayerSource::BuiltIn { kind, options } => {
                let found = (self.settings.registry)(kind)
                    .ok_or_else(|| PreflightError::UnknownKind((*kind).to_owned()))?;
                (found.make)(options).map_err(|source| PreflightError::Options {
                    id: id(),
                    source: Box::new(source),
                })?;
            }
            PlayerSource::Remote { host, port } => {
                let waits = self.waits()?;
                let target = Target::new(&player.id, host, *port)
                    .map_err(|source| PreflightError::Address { id: id(), source })?;
                let problem =
                    match info::ask(&waits, &target, self.info_limits(self.settings.connect_limit))
                    {
                        Ok(answer) if is_ready(&answer) => return Ok(()),
                        Ok(Answer { status, text }) => {
                            Silence::WrongAnswer { status, line: first_line(&text) }
                        }
                        Err(ExchangeError::Late) => Silence::Late,
                        Err(ExchangeError::Unreachable(why)) => Silence::Unreachable(why),
                        Err(ExchangeError::Unanswered(why)) => Silence::HungUp(why),
                        Err(ExchangeError::Unreadable(what)) => Silence::NotHttp(what),
                        Err(ExchangeError::Lacking(what)) => {
                            return Err(PreflightError::MachineLimit { id: id(), what });
                        }
                    };
                return Err(PreflightError::Silent {
                    id: id(),
                    host: host.clone(),
                    port: *port,
                    problem,
                });
            }
            PlayerSource::Command { template, limits } => {
                let waits = self.waits()?;
                let program = self
                    .launch(&waits, player, template, *limits)
                    .map_err(|error| PreflightError::launch(&player.id, error))?;
                self.programs.put_back(&player.hash, program);
            }
        }
        Ok(())
    }

    /// [`preflight`](Self::preflight) of all these players, until one is not ready or the manager is
    /// interrupted: remote ones together, the others one by one, since they start on this machine.
    ///
    /// # Errors
    /// Why a player cannot play.
    pub fn preflight_all(&self, players: &[&PlayerConfig]) -> Result<(), PreflightError> {
        let is_remote =
            |player: &&PlayerConfig| matches!(player.source, PlayerSource::Remote { .. });
        let (remote, here): (Vec<_>, Vec<_>) = players.iter().copied().partition(is_remote);
        in_parallel(
            &remote,
            ASKED_AT_ONCE,
            || (),
            |(), player| match self.is_interrupted() {
                true => Ok(()),
                false => self.preflight(player),
            },
        )?;
        here.into_iter().try_for_each(|player| self.preflight(player))
    }
}
