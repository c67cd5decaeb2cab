//! How one role of a match is asked: by the manager itself, on its thread, on a
//! thread of the player's own, or over HTTP.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use games::MoveId;
use players::{Deliberation, Failure, Observation, Player, Stop, Turn};
use results::record::FaultKind;

use super::programs::{Impostor, LaunchedProgram};
use super::remote::{
    self, Answer as RemoteAnswer, Exchange, ExchangeError, Target, exchange, first_line,
};
use super::seat_thread::{Answer, Pending, Question, SeatThread, discard};
use super::stalls::Watch;
use super::waits::Waits;
use super::{Dialect, PlayerConfig, Reading, is_ready};
use crate::event::Notice;

/// How long a late player may take to notice that it was cancelled before its
/// thread is left behind.
const RETURN_GRACE: Duration = Duration::from_millis(250);

/// How long STOP and ABORT are waited for.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);

/// The connection limit of a player after each message in a row for which there
/// was no connection, as a part of the limit before.
const SHRINKAGE: u32 = 5;

/// The least connection limit that is left.
const LEAST_CONNECT_LIMIT: Duration = Duration::from_millis(200);

/// How long a program that broke its connection may take to end, so that it
/// counts as crashed.
const DEATH_GRACE: Duration = Duration::from_millis(100);

/// The players of the seats.
pub(crate) enum Seat {
    /// The manager moves for this role.
    Nature,
    /// A player that answers immediately, on the manager's thread.
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
    /// The clock in whole seconds, as START states it to a remote player.
    pub(crate) announced_s: u64,
}

impl Clock {
    /// For STOP and ABORT.
    const FAREWELL: Self = Self {
        time: None,
        nodes: None,
        wait: FAREWELL_LIMIT,
        remote_wait: FAREWELL_LIMIT,
        remote_time: FAREWELL_LIMIT,
        announced_s: 1,
    };

    /// When a player asked at `asked` must stop. A twentieth of the
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

    /// Whether this is too long for a built-in player.
    fn is_over(&self, wall: Duration) -> bool {
        self.time.is_some() && wall > self.wait
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
    /// The status code that came with them.
    pub(crate) status: Option<u16>,
    /// Details of the fault.
    pub(crate) detail: Option<String>,
    /// What this machine lacked, so that the player was not asked.
    pub(crate) lacking: Option<String>,
    /// How long the clock stood still.
    pub(crate) stalled: Duration,
    pub(crate) wall: Duration,
    pub(crate) cpu: Option<Duration>,
    pub(crate) connect: Option<Duration>,
    pub(crate) overrun: Duration,
    /// A built-in player's report on its reply.
    pub(crate) deliberation: Option<Box<Deliberation>>,
    /// Something a user should know.
    pub(crate) notice: Option<Box<Notice>>,
}

impl Reply {
    fn fault(fault: FaultKind) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// Records a late move: the clock `name` gave `time`, and the manager waited for `wait`.
    fn is_late(&mut self, name: &str, time: Duration, wait: Duration) {
        self.fault = Some(FaultKind::LateMove);
        self.detail = Some(format!(
            "no complete reply within {} ({name} {} + margin {})",
            humantime::format_duration(wait),
            humantime::format_duration(time),
            humantime::format_duration(wait.saturating_sub(time))
        ));
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

    pub(crate) fn start(&mut self, seat: players::Seat, clock: &Clock, watch: &Watch) -> Reply {
        let start = |player: &mut dyn Player, stop: &Stop| player.start(seat, stop).map(|()| None);
        let mut reply = self.call(start, clock, watch);
        if reply.fault == Some(FaultKind::LateMove) {
            reply.fault = Some(FaultKind::LateStart);
        }
        reply
    }

    pub(crate) fn play(&mut self, turn: &Turn<'_>, clock: &Clock, watch: &Watch) -> Reply {
        self.call(|player, stop| player.play(turn, stop).map(Some), clock, watch)
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
        watch: &Watch,
    ) -> Reply {
        let Some(player) = self.player.as_mut() else { return Reply::fault(FaultKind::Crashed) };
        let stop = &self.stop;
        let asked = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let result = question(player.as_mut(), stop);
            (result, Instant::now(), player.deliberation().map(Box::new))
        }));
        let Ok((result, at, deliberation)) = outcome else {
            discard(&mut self.player);
            return Reply { wall: asked.elapsed(), ..Reply::fault(FaultKind::Crashed) };
        };
        let wall = watch.used(asked, at, clock.wait);
        let stalled = at.saturating_duration_since(asked).saturating_sub(wall);
        let overrun = clock.overrun(wall);
        let mut reply = Reply { wall, overrun, deliberation, stalled, ..Reply::default() };
        match result {
            _ if clock.is_over(wall) => {
                reply.is_late("clock", clock.time.unwrap_or_default(), clock.wait);
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

    pub(crate) async fn start(
        &mut self,
        seat: players::Seat,
        clock: Clock,
        waits: &Waits,
    ) -> Reply {
        let asked = Instant::now();
        let Some(thread) = &self.thread else { return Reply::fault(FaultKind::LateStart) };
        let mut pending = thread.start(seat, clock.stop(asked), asked);
        let mut reply = self.wait(&mut pending, clock, waits, |()| None).await;
        if reply.fault == Some(FaultKind::LateMove) {
            reply.fault = Some(FaultKind::LateStart);
        }
        reply
    }

    pub(crate) async fn play(&mut self, question: Question, clock: Clock, waits: &Waits) -> Reply {
        let asked = Instant::now();
        let Some(thread) = &self.thread else { return Reply::fault(FaultKind::LateMove) };
        let mut pending = thread.play(question, clock.stop(asked), asked);
        self.wait(&mut pending, clock, waits, Some).await
    }

    pub(crate) async fn end(
        &mut self,
        observation: Option<Observation>,
        completed: bool,
        waits: &Waits,
    ) -> Reply {
        let Some(thread) = &self.thread else { return Reply::default() };
        let mut pending = if completed { thread.stop(observation) } else { thread.abort() };
        let clock = Clock::FAREWELL;
        self.wait(&mut pending, clock, waits, |()| None).await
    }

    async fn wait<T>(
        &mut self,
        pending: &mut Pending<T>,
        clock: Clock,
        waits: &Waits,
        chosen: impl FnOnce(T) -> Option<MoveId>,
    ) -> Reply {
        let asked = pending.asked;
        let answer: Answer<T> = match waits.within(asked, clock.wait, &mut pending.answer).await {
            Some(Ok(answer)) => answer,
            // The thread ended, which it does not do while it has a handle.
            Some(Err(_)) => return Reply::fault(FaultKind::Crashed),
            None => return self.late(pending, clock, waits).await,
        };
        let wall = waits.watch().used(asked, answer.at, clock.wait);
        let stalled = answer.at.saturating_duration_since(asked).saturating_sub(wall);
        let overrun = clock.overrun(wall);
        let mut reply = Reply {
            wall,
            overrun,
            stalled,
            cpu: answer.cpu,
            deliberation: answer.deliberation.map(Box::new),
            ..Reply::default()
        };
        match answer.result {
            // Timers tick in milliseconds; the clock does not.
            Ok(_) if clock.is_over(wall) => {
                reply.is_late("clock", clock.time.unwrap_or_default(), clock.wait);
            }
            Ok(value) => reply.chosen = chosen(value),
            Err(broken) => broke_down(&mut reply, &broken.to_string()),
        }
        reply
    }

    async fn late<T>(&mut self, pending: &mut Pending<T>, clock: Clock, waits: &Waits) -> Reply {
        let wall = waits.watch().used(pending.asked, Instant::now(), clock.wait);
        pending.cancel.cancel();
        let mut reply = Reply { wall, overrun: clock.overrun(wall), ..Reply::default() };
        reply.is_late("clock", clock.time.unwrap_or(clock.wait), clock.wait);
        let given_up = Instant::now() + RETURN_GRACE;
        if waits.timeout_at(given_up, &mut pending.answer).await.is_none() {
            self.thread = None;
            let left = Notice::ThreadLeft { player: self.name.clone() };
            reply.notice = Some(Box::new(left));
        }
        reply
    }
}

// --- Behind a socket ----------------------------------------------------------

pub(crate) struct RemoteSeat {
    config: Arc<PlayerConfig>,
    target: Target,
    program: Option<LaunchedProgram>,
    limits: remote::Limits,
    /// The connection limit for a player that is there.
    connect_limit: Duration,
    /// Whether there was no connection to it when it was last asked.
    is_gone: bool,
    /// Whether it took its time when it was last asked.
    thinks: bool,
}

impl RemoteSeat {
    pub(crate) fn new(
        config: &Arc<PlayerConfig>,
        target: Target,
        program: Option<LaunchedProgram>,
        limits: remote::Limits,
    ) -> Self {
        let connect_limit = limits.connect;
        Self {
            config: Arc::clone(config),
            target,
            program,
            limits,
            connect_limit,
            is_gone: false,
            thinks: false,
        }
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

    /// The process that was found to listen in place of its program.
    pub(crate) fn impostor(&mut self) -> Option<Impostor> {
        let program = self.program.as_mut()?;
        if program.ended().is_none() {
            let _ = program.check_port();
        }
        program.impostor().cloned()
    }

    /// The player's configuration, and the program for the next match.
    pub(crate) fn into_program(self: Box<Self>) -> (Arc<PlayerConfig>, Option<LaunchedProgram>) {
        let Self { program, config, .. } = *self;
        (config, program)
    }

    pub(crate) async fn start(&mut self, waits: &Waits, message: String, clock: Clock) -> Reply {
        let mut reply = self.ask(waits, message, clock).await;
        if reply.fault == Some(FaultKind::LateMove) {
            reply.fault = Some(FaultKind::LateStart);
        }
        if reply.fault == Some(FaultKind::Unreadable) && reply.detail.is_none() {
            reply.detail = reply.text.take();
        }
        if let (Some(text), Some(status)) = (reply.text.take(), reply.status) {
            let answer = RemoteAnswer { status, text };
            if !is_ready(&answer) {
                reply.fault = Some(FaultKind::Unreadable);
                let said = first_line(&answer.text);
                reply.detail =
                    Some(format!("the player replied to START with HTTP {status}: {said}"));
            }
        }
        reply
    }

    pub(crate) async fn ask(&mut self, waits: &Waits, message: String, clock: Clock) -> Reply {
        let ended = self.program.as_mut().is_some_and(|program| program.ended().is_some());
        if ended {
            let mut reply = Reply::fault(FaultKind::Crashed);
            reply.detail = self.exceeded_limit();
            return reply;
        }
        if let Some(program) = &mut self.program {
            program.watch_port();
        }
        let limits = remote::Limits { reply: clock.remote_wait, ..self.limits };
        let Exchange { reply: came, wall, connect, stalled } =
            exchange(waits, &self.target, message, limits, self.thinks).await;
        self.thinks = remote::is_thinking(wall, waits.watch());
        if let Some(program) = &mut self.program {
            program.watch_port();
        }
        let overrun = wall.saturating_sub(clock.remote_time);
        let mut reply =
            Reply { wall, connect: Some(connect), overrun, stalled, ..Reply::default() };
        let has_connected = !matches!(came, Err(ExchangeError::Unreachable(_)));
        self.is_gone =
            matches!(came, Err(ExchangeError::Unreachable(_) | ExchangeError::Unanswered(_)));
        self.expect_connection(has_connected);
        match came {
            Ok(RemoteAnswer { status, text }) => {
                (reply.text, reply.status) = (Some(text), Some(status));
            }
            Err(ExchangeError::Late) => {
                let announced = Duration::from_secs(clock.announced_s);
                let is_announced = clock.remote_time == announced && clock.time != Some(announced);
                let name = if is_announced { "announced clock" } else { "clock" };
                reply.is_late(name, clock.remote_time, clock.remote_wait);
            }
            Err(ExchangeError::Unreadable(what)) => {
                (reply.fault, reply.text) = (Some(FaultKind::Unreadable), Some(what));
            }
            Err(ExchangeError::Unanswered(why)) => {
                reply.fault = Some(self.broken_connection(waits, FaultKind::Unreadable).await);
                reply.detail =
                    Some(format!("the player closed the connection without a reply: {why}"));
            }
            Err(ExchangeError::Unreachable(why)) => {
                reply.fault = Some(self.broken_connection(waits, FaultKind::Unreachable).await);
                reply.detail = Some(why);
            }
            Err(ExchangeError::Lacking(what)) => reply.lacking = Some(what),
        }
        if reply.fault.is_some()
            && let Some(exceeded) = self.exceeded_limit()
        {
            (reply.fault, reply.detail) = (Some(FaultKind::Crashed), Some(exceeded));
        }
        if let (Some(_), Some(program)) = (reply.fault, &mut self.program) {
            program.suspect = true;
        }
        reply
    }

    /// Why the program was ended, if it went beyond a limit.
    fn exceeded_limit(&mut self) -> Option<String> {
        let limit = self.program.as_mut()?.exceeded()?;
        Some(format!("the program was ended, since {}", limit.sentence()))
    }

    /// A player that cannot be connected to gets less time to connect the next time.
    fn expect_connection(&mut self, has_connected: bool) {
        let limit = &mut self.limits.connect;
        *limit = if has_connected {
            self.connect_limit
        } else {
            (*limit / SHRINKAGE).max(LEAST_CONNECT_LIMIT).min(self.connect_limit)
        };
    }

    pub(crate) async fn end(&mut self, waits: &Waits, message: String) -> Reply {
        self.limits.connect = self.limits.connect.min(FAREWELL_LIMIT);
        let clock = Clock::FAREWELL;
        self.ask(waits, message, clock).await
    }

    /// A program whose connection breaks has perhaps just ended; if not, or if it is
    /// no program of ours, it is the fault that it looks like.
    async fn broken_connection(&mut self, waits: &Waits, fault: FaultKind) -> FaultKind {
        let Some(program) = &mut self.program else { return fault };
        let given_up = Instant::now() + DEATH_GRACE;
        loop {
            if program.ended().is_some() {
                return FaultKind::Crashed;
            }
            if Instant::now() > given_up {
                return fault;
            }
            waits.sleep_until(Instant::now() + Duration::from_millis(2)).await;
        }
    }
}
