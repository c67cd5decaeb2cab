//! How one role of a match is asked: by the manager itself, on its thread, on a
//! thread of the player's own, or over HTTP.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use games::MoveId;
use players::{Failure, Observation, Player, Stop, Turn};
use reqwest::Client;
use results::record::FaultKind;
use tokio::time::{sleep, timeout, timeout_at};

use super::programs::{Impostor, Program};
use super::remote::{self, Exchange, ExchangeError, Target, exchange};
use super::seat_thread::{Answer, Pending, Question, SeatThread, discard};
use super::{Dialect, PlayerConfig, Reading};

/// How long a late player may take to notice that it was cancelled before its
/// thread is left behind.
const RETURN_GRACE: Duration = Duration::from_millis(250);

/// How long STOP and ABORT are waited for.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

/// How long a program that broke its connection may take to end, so that it
/// counts as crashed.
const DEATH_GRACE: Duration = Duration::from_millis(100);

/// Who sits where.
pub(crate) enum Seat {
    /// The manager moves for this role.
    Nature,
    /// A player that answers at once, on the manager's thread.
    Instant(InstantSeat),
    /// A player that thinks.
    Thread(ThreadSeat),
    /// A player behind a socket.
    Remote(Box<RemoteSeat>),
}

/// The time for one question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// The player's time; `None` if its budget is counted in nodes.
    pub(crate) time: Option<Duration>,
    /// The player's nodes.
    pub(crate) nodes: Option<u64>,
    /// How long the answer of a built-in player is waited for.
    pub(crate) wait: Duration,
    /// How long the answer of a remote player is waited for.
    pub(crate) remote_wait: Duration,
    /// What a remote player's overrun is measured from.
    pub(crate) remote_time: Duration,
}

impl Clock {
    /// For STOP and ABORT.
    const FAREWELL: Self = Self {
        time: None,
        nodes: None,
        wait: FAREWELL_LIMIT,
        remote_wait: FAREWELL_LIMIT,
        remote_time: FAREWELL_LIMIT,
    };

    /// What tells a player asked at `asked` when to stop. A twentieth of the
    /// clock, at most 50 ms, is left for unwinding and the way back.
    fn stop(&self, asked: Instant) -> Stop {
        let stop = match self.time {
            Some(time) => {
                let reserve = (time / 20).min(Duration::from_millis(50));
                Stop::never().at(asked + time - reserve)
            }
            None => Stop::never(),
        };
        match self.nodes {
            Some(nodes) => stop.after_nodes(nodes),
            None => stop,
        }
    }

    fn overrun(&self, wall: Duration) -> Duration {
        self.time.map_or(Duration::ZERO, |time| wall.saturating_sub(time))
    }
}

/// What came of one question.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// The fault, as far as it shows before the answer is read.
    pub(crate) fault: Option<FaultKind>,
    /// A built-in player's move.
    pub(crate) chosen: Option<MoveId>,
    /// A remote player's words.
    pub(crate) text: Option<String>,
    pub(crate) wall: Duration,
    pub(crate) cpu: Option<Duration>,
    pub(crate) connect: Option<Duration>,
    pub(crate) overrun: Duration,
    pub(crate) nodes: Option<u64>,
    /// Something a user should know.
    pub(crate) notice: Option<String>,
}

impl Reply {
    fn fault(fault: FaultKind) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }
}

// --- On the manager's thread -------------------------------------------------

pub(crate) struct InstantSeat {
    player: Option<Box<dyn Player>>,
    stop: Stop,
}

impl InstantSeat {
    pub(crate) fn new(player: Box<dyn Player>, nodes: Option<u64>) -> Self {
        let stop = Stop::never();
        let stop = match nodes {
            Some(nodes) => stop.after_nodes(nodes),
            None => stop,
        };
        Self { player: Some(player), stop }
    }

    pub(crate) fn start(&mut self, seat: players::Seat, clock: &Clock) -> Reply {
        let mut reply = self.call(|player, stop| player.start(seat, stop).map(|()| None), clock);
        if reply.fault == Some(FaultKind::LateMove) {
            reply.fault = Some(FaultKind::LateStart);
        }
        reply
    }

    pub(crate) fn play(&mut self, turn: &Turn<'_>, clock: &Clock) -> Reply {
        self.call(|player, stop| player.play(turn, stop).map(Some), clock)
    }

    pub(crate) fn end(&mut self, observation: Option<&Observation>, completed: bool) {
        if let Some(player) = self.player.as_mut() {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                if completed { player.stop(observation) } else { player.abort() }
            }));
        }
        discard(&mut self.player);
    }

    fn call(
        &mut self,
        question: impl FnOnce(&mut dyn Player, &Stop) -> Result<Option<MoveId>, Failure>,
        clock: &Clock,
    ) -> Reply {
        let Some(player) = self.player.as_mut() else { return Reply::fault(FaultKind::Crashed) };
        let stop = &self.stop;
        let asked = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let result = question(player.as_mut(), stop);
            (result, asked.elapsed(), player.deliberation())
        }));
        let Ok((result, wall, deliberation)) = outcome else {
            discard(&mut self.player);
            return Reply { wall: asked.elapsed(), ..Reply::fault(FaultKind::Crashed) };
        };
        let nodes = deliberation.map(|deliberation| deliberation.nodes);
        let overrun = clock.overrun(wall);
        let mut reply = Reply { wall, overrun, nodes, ..Reply::default() };
        match result {
            _ if clock.time.is_some() && wall > clock.wait => {
                reply.fault = Some(FaultKind::LateMove);
            }
            Ok(chosen) => reply.chosen = chosen,
            Err(failure) => broke_down(&mut reply, &failure.to_string()),
        }
        reply
    }
}

fn broke_down(reply: &mut Reply, why: &str) {
    reply.fault = Some(FaultKind::Crashed);
    reply.text = Some(why.to_owned());
}

// --- On a thread of the player's own ------------------------------------------

pub(crate) struct ThreadSeat {
    /// `None` if it had to be left behind.
    thread: Option<SeatThread>,
    name: String,
}

impl ThreadSeat {
    /// A seat for `player` on `thread`.
    pub(crate) fn new(thread: SeatThread, player: Box<dyn Player>, name: &str) -> Self {
        thread.begin(player);
        Self { thread: Some(thread), name: name.to_owned() }
    }

    /// The thread, for the next match, if it is still good.
    pub(crate) fn into_thread(self) -> Option<SeatThread> {
        self.thread
    }

    pub(crate) async fn start(&mut self, seat: players::Seat, clock: Clock) -> Reply {
        let asked = Instant::now();
        let Some(thread) = &self.thread else { return Reply::fault(FaultKind::LateStart) };
        let mut pending = thread.start(seat, clock.stop(asked), asked);
        let mut reply = self.wait(&mut pending, clock, |()| None).await;
        if reply.fault == Some(FaultKind::LateMove) {
            reply.fault = Some(FaultKind::LateStart);
        }
        reply
    }

    pub(crate) async fn play(&mut self, question: Question, clock: Clock) -> Reply {
        let asked = Instant::now();
        let Some(thread) = &self.thread else { return Reply::fault(FaultKind::LateMove) };
        let mut pending = thread.play(question, clock.stop(asked), asked);
        self.wait(&mut pending, clock, Some).await
    }

    pub(crate) async fn end(&mut self, observation: Option<Observation>, completed: bool) -> Reply {
        let Some(thread) = &self.thread else { return Reply::default() };
        let mut pending = if completed { thread.stop(observation) } else { thread.abort() };
        let clock = Clock::FAREWELL;
        self.wait(&mut pending, clock, |()| None).await
    }

    async fn wait<T>(
        &mut self,
        pending: &mut Pending<T>,
        clock: Clock,
        chosen: impl FnOnce(T) -> Option<MoveId>,
    ) -> Reply {
        let deadline = pending.asked + clock.wait;
        let answer: Answer<T> = match timeout_at(deadline.into(), &mut pending.answer).await {
            Ok(Ok(answer)) => answer,
            // The thread ended, which it does not do while it has a handle.
            Ok(Err(_)) => return Reply::fault(FaultKind::Crashed),
            Err(_) => return self.late(pending, clock).await,
        };
        let wall = answer.at.saturating_duration_since(pending.asked);
        let overrun = clock.overrun(wall);
        let mut reply =
            Reply { wall, overrun, cpu: answer.cpu, nodes: answer.nodes, ..Reply::default() };
        match answer.result {
            // Timers tick in milliseconds; the clock does not.
            Ok(_) if clock.time.is_some() && wall > clock.wait => {
                reply.fault = Some(FaultKind::LateMove);
            }
            Ok(value) => reply.chosen = chosen(value),
            Err(broken) => broke_down(&mut reply, &broken.to_string()),
        }
        reply
    }

    async fn late<T>(&mut self, pending: &mut Pending<T>, clock: Clock) -> Reply {
        let wall = pending.asked.elapsed();
        pending.cancel.cancel();
        let mut reply =
            Reply { wall, overrun: clock.overrun(wall), ..Reply::fault(FaultKind::LateMove) };
        if timeout(RETURN_GRACE, &mut pending.answer).await.is_err() {
            self.thread = None;
            reply.notice = Some(format!(
                "player {} does not stop thinking; its thread was left behind and may go on using \
                 a processor",
                self.name
            ));
        }
        reply
    }
}

// --- Behind a socket ----------------------------------------------------------

pub(crate) struct RemoteSeat {
    config: Arc<PlayerConfig>,
    target: Target,
    program: Option<Program>,
    limits: remote::Limits,
    /// Whether there was no connection to it when it was last asked.
    is_gone: bool,
}

impl RemoteSeat {
    pub(crate) fn new(
        config: &Arc<PlayerConfig>,
        target: Target,
        program: Option<Program>,
        limits: remote::Limits,
    ) -> Self {
        Self { config: Arc::clone(config), target, program, limits, is_gone: false }
    }

    pub(crate) fn reading(&self) -> Reading {
        self.config.reading
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.config.dialect
    }

    /// Whether there was no connection to it when it was last asked.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Who was found to answer in place of its program.
    pub(crate) fn impostor(&mut self) -> Option<Impostor> {
        let program = self.program.as_mut()?;
        if program.ended().is_none() {
            let _ = program.check_port();
        }
        program.impostor().cloned()
    }

    /// Whose seat it was, and the program, for the next match.
    pub(crate) fn into_program(self: Box<Self>) -> (Arc<PlayerConfig>, Option<Program>) {
        let Self { program, config, .. } = *self;
        (config, program)
    }

    pub(crate) async fn start(&mut self, client: &Client, message: String, clock: Clock) -> Reply {
        let mut reply = self.ask(client, message, clock).await;
        if reply.fault == Some(FaultKind::LateMove) {
            reply.fault = Some(FaultKind::LateStart);
        }
        reply
    }

    pub(crate) async fn ask(&mut self, client: &Client, message: String, clock: Clock) -> Reply {
        let ended = self.program.as_mut().is_some_and(|program| program.ended().is_some());
        if ended {
            return Reply::fault(FaultKind::Crashed);
        }
        if let Some(program) = &mut self.program {
            program.watch_port();
        }
        let limits = remote::Limits { reply: clock.remote_wait, ..self.limits };
        let Exchange { reply, wall, connect } =
            exchange(client, &self.target, message, limits).await;
        if let Some(program) = &mut self.program {
            program.watch_port();
        }
        let (fault, text) = match reply {
            Ok(text) => (None, Some(text)),
            Err(ExchangeError::Late) => (Some(FaultKind::LateMove), None),
            Err(ExchangeError::Unreadable) => (Some(FaultKind::Unreadable), None),
            Err(ExchangeError::Unreachable) => (Some(self.broken_connection().await), None),
        };
        self.is_gone = fault == Some(FaultKind::Unreachable);
        if let (Some(_), Some(program)) = (fault, &mut self.program) {
            program.suspect = true;
        }
        let overrun = wall.saturating_sub(clock.remote_time);
        Reply { fault, text, wall, connect: Some(connect), overrun, ..Reply::default() }
    }

    pub(crate) async fn end(&mut self, client: &Client, message: String) -> Reply {
        self.limits.connect = self.limits.connect.min(FAREWELL_LIMIT);
        let clock = Clock::FAREWELL;
        self.ask(client, message, clock).await
    }

    /// A program whose connection breaks has perhaps just ended.
    async fn broken_connection(&mut self) -> FaultKind {
        let Some(program) = &mut self.program else { return FaultKind::Unreachable };
        let given_up = Instant::now() + DEATH_GRACE;
        loop {
            if program.ended().is_some() {
                return FaultKind::Crashed;
            }
            if Instant::now() > given_up {
                return FaultKind::Unreachable;
            }
            sleep(Duration::from_millis(2)).await;
        }
    }
}
