//! A worker: the tools for playing one match after the other, kept warm.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use players::PlayerKind;
use results::record::{AbortReason, Ending};
use tokio::sync::watch;

use super::flow::{Match, MatchEnd, Tools};
use super::machine_limit::no_thread;
use super::remote::{Limits, Target};
use super::seat_thread::SeatThread;
use super::seats::{InstantSeat, RemoteSeat, Seat, ThreadSeat};
use super::stalls::Watch;
use super::waits::Waits;
use super::workspace::{Score, Workspace};
use super::{
    Address, Impostor, LOCALHOST, LaunchError, Manager, MatchSetup, NetError, PlayerConfig,
    PlayerSource, PreflightError, PreparedGame,
};
use crate::error_chain::chained;
use crate::event::EventKind;

/// Maximum number of games whose reasoner and buffers are kept.
const MAX_WORKSPACES: usize = 32;

/// Plays matches, one at a time, on the thread that calls it.
pub struct Worker {
    manager: Arc<Manager>,
    interrupted: watch::Receiver<bool>,
    /// Made when a match first has to wait for a player.
    waits: Option<Waits>,
    /// Threads whose player has left.
    threads: Vec<SeatThread>,
    /// The one used last is the last.
    workspaces: Vec<Workspace>,
    seats: Vec<Seat>,
}

impl Worker {
    pub(super) fn new(manager: &Arc<Manager>) -> Self {
        Self {
            manager: Arc::clone(manager),
            interrupted: manager.interrupt.subscribe(),
            waits: None,
            threads: Vec::new(),
            workspaces: Vec::new(),
            seats: Vec::new(),
        }
    }

    /// Plays one match to its end, emitting `MatchStarted` first and
    /// `MatchFinished` last. Waits first until no other match uses the same
    /// remote players.
    ///
    /// # Panics
    /// If the setup does not name one seat for each role.
    pub fn play(&mut self, setup: &MatchSetup, emit: &mut dyn FnMut(EventKind)) {
        let n_roles = setup.game.game.roles().len();
        assert_eq!(setup.seats.len(), n_roles, "one seat for each role");
        let manager = Arc::clone(&self.manager);
        let _claim = manager.claim(addresses(setup));
        emit(EventKind::MatchStarted {
            job: Arc::clone(&setup.job),
            at: jiff::Timestamp::now().to_string(),
            remote: None,
        });
        let mut begun = Instant::now();
        let outcome = self.seat_all(setup, emit).map(|watch| {
            // What launching took is neither a player's time nor ours.
            begun = Instant::now();
            let mut workspace = self.take_workspace(&setup.game);
            let tools = Tools {
                waits: self.waits.as_ref().filter(|_| self.seats.iter().any(is_slow)),
                watch: &watch,
                interrupted: &mut self.interrupted,
            };
            let mut outcome = Match::new(setup, &mut workspace, &mut self.seats, tools).play(emit);
            self.workspaces.push(workspace);
            if let Some(ending) = self.impostor(setup, emit) {
                outcome = MatchEnd { ending, score: Score::default(), ..outcome };
            }
            outcome
        });
        let duration = begun.elapsed();
        self.unseat_all();
        let outcome = outcome.unwrap_or_else(|ending| MatchEnd {
            ending,
            score: Score::default(),
            waited: duration,
        });
        emit(EventKind::MatchFinished {
            job: setup.job.number,
            ending: outcome.ending,
            rewards: outcome.score.rewards,
            goal_flags: outcome.score.goal_flags,
            duration,
            harness: duration.saturating_sub(outcome.waited),
        });
    }

    fn take_workspace(&mut self, game: &Arc<PreparedGame>) -> Workspace {
        match self.workspaces.iter().position(|workspace| Arc::ptr_eq(&workspace.prepared, game)) {
            Some(index) => self.workspaces.remove(index),
            None => {
                if self.workspaces.len() >= MAX_WORKSPACES {
                    self.workspaces.remove(0);
                }
                Workspace::new(game, &self.manager.cancel)
            }
        }
    }

    /// Makes a seat for each role. If one cannot be had, because a player is gone
    /// or this machine lacks something, there is no match: it would say nothing
    /// of the players.
    fn seat_all(
        &mut self,
        setup: &MatchSetup,
        emit: &mut dyn FnMut(EventKind),
    ) -> Result<Arc<Watch>, Ending> {
        if self.manager.is_interrupted() {
            return Err(Ending::interrupted());
        }
        let watch = self.manager.watch().map_err(|error| lacks_net(&error))?;
        self.seats.clear();
        for (role, config) in setup.seats.iter().enumerate() {
            let seat = match config {
                None => Ok(Seat::Nature),
                Some(config) => self.seat(setup, config),
            };
            self.seats.push(seat.inspect_err(|ending| emit_missing(setup, role, ending, emit))?);
        }
        Ok(watch)
    }

    /// How the match ends if another process listened in place of a launched program:
    /// nobody is scored.
    fn impostor(&mut self, setup: &MatchSetup, emit: &mut dyn FnMut(EventKind)) -> Option<Ending> {
        let (role, impostor) =
            self.seats.iter_mut().enumerate().find_map(|(role, seat)| match seat {
                Seat::Remote(seat) => Some((role, seat.impostor()?)),
                _ => None,
            })?;
        let Impostor { port, by } = impostor;
        let player = setup.seats[role].as_ref()?.id.clone();
        let ending = aborted(AbortReason::PortTaken { player, port, by });
        emit_missing(setup, role, &ending, emit);
        Some(ending)
    }

    fn seat(&mut self, setup: &MatchSetup, config: &Arc<PlayerConfig>) -> Result<Seat, Ending> {
        let manager = Arc::clone(&self.manager);
        let limits = Limits {
            connect: manager.settings.connect_limit,
            max_header_bytes: setup.rules.max_header_bytes,
            max_body_bytes: setup.rules.max_reply_bytes,
            ..manager.info_limits(manager.settings.connect_limit)
        };
        match &config.source {
            PlayerSource::BuiltIn { kind, options } => {
                let found: &PlayerKind = (manager.settings.registry)(kind).ok_or_else(|| {
                    unusable(config, &PreflightError::UnknownKind((*kind).to_owned()))
                })?;
                let player = (found.make)(options).map_err(|error| unusable(config, &error))?;
                if found.instant {
                    let nodes = setup.time(Some(config)).budget.nodes();
                    return Ok(Seat::Instant(InstantSeat::new(player, nodes)));
                }
                self.prepare_waits()?;
                let thread = match self.threads.pop() {
                    Some(thread) => thread,
                    None => SeatThread::spawn().map_err(|error| {
                        let (player, detail) = (Some(config.id.clone()), no_thread(&error));
                        aborted(AbortReason::MachineLimit { player, detail })
                    })?,
                };
                Ok(Seat::Thread(ThreadSeat::new(thread, player, &config.id)))
            }
            PlayerSource::Remote { host, port } => {
                let waits = self.prepare_waits()?;
                let target = Target::new(&config.id, host, *port)
                    .map_err(|error| unusable(config, &error))?;
                if !manager.is_back(waits, &target, &address(host, *port)) {
                    let (player, host, port) = (config.id.clone(), host.clone(), *port);
                    return Err(aborted(AbortReason::PlayerGone { player, host, port }));
                }
                Ok(Seat::Remote(Box::new(RemoteSeat::new(config, target, None, limits))))
            }
            PlayerSource::Command { template, limits: use_limits } => {
                let waits = self.prepare_waits()?;
                let program = manager
                    .launch(waits, config, template, *use_limits)
                    .map_err(|error| not_launched(config, error))?;
                let target = Target::new(&config.id, LOCALHOST, program.port)
                    .map_err(|error| unusable(config, &error))?;
                Ok(Seat::Remote(Box::new(RemoteSeat::new(config, target, Some(program), limits))))
            }
        }
    }

    fn prepare_waits(&mut self) -> Result<&Waits, Ending> {
        match &mut self.waits {
            Some(waits) => Ok(waits),
            none => {
                let waits = self.manager.waits().map_err(|error| lacks_net(&error))?;
                Ok(none.insert(waits))
            }
        }
    }

    /// Keeps what can be used again.
    fn unseat_all(&mut self) {
        for seat in self.seats.drain(..) {
            match seat {
                Seat::Nature | Seat::Instant(_) => {}
                Seat::Thread(seat) => self.threads.extend(seat.into_thread()),
                Seat::Remote(seat) => {
                    let is_gone = seat.is_gone();
                    let (config, program) = seat.into_program();
                    match (&config.source, program) {
                        // It ends, and the next one gets another port.
                        (_, Some(program)) if program.impostor().is_some() => drop(program),
                        (_, Some(program)) => {
                            self.manager.programs.put_back(&config.hash, program);
                        }
                        (PlayerSource::Remote { host, port }, None) if is_gone => {
                            self.manager.doubt(address(host, *port));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Emits which player is missing, unless the match was interrupted.
fn emit_missing(setup: &MatchSetup, role: usize, ending: &Ending, emit: &mut dyn FnMut(EventKind)) {
    if let Some(reason) = ending.aborted_by_fault() {
        let (job, reason) = (setup.job.number, reason.clone());
        emit(EventKind::PlayerMissing { job, role, reason });
    }
}

fn aborted(reason: AbortReason) -> Ending {
    Ending::Aborted { reason }
}

/// A player that cannot be made, though it could be before.
fn unusable(config: &PlayerConfig, error: &dyn std::error::Error) -> Ending {
    aborted(AbortReason::PlayerUnusable { player: config.id.clone(), detail: chained(error) })
}

fn lacks_net(error: &NetError) -> Ending {
    aborted(AbortReason::MachineLimit { player: None, detail: error.to_string() })
}

fn is_slow(seat: &Seat) -> bool {
    matches!(seat, Seat::Thread(_) | Seat::Remote(_))
}

fn addresses(setup: &MatchSetup) -> BTreeSet<Address> {
    let of = |config: &Arc<PlayerConfig>| match &config.source {
        PlayerSource::Remote { host, port } => Some(address(host, *port)),
        _ => None,
    };
    setup.seats.iter().flatten().filter_map(of).collect()
}

fn address(host: &str, port: u16) -> Address {
    (host.to_ascii_lowercase(), port)
}

fn not_launched(config: &PlayerConfig, error: LaunchError) -> Ending {
    let player = config.id.clone();
    aborted(match error {
        LaunchError::Stopped => AbortReason::Interrupted,
        LaunchError::MachineLimit(detail) => {
            AbortReason::MachineLimit { player: Some(player), detail }
        }
        LaunchError::Impostor(Impostor { port, by }) => AbortReason::PortTaken { player, port, by },
        error => AbortReason::LaunchFailed { player, detail: chained(&error) },
    })
}
