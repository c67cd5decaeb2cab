//! A built-in player on a thread of its own.
//!
//! A play clock cannot be enforced on a scoped thread: this one is detached,
//! gets orders, and is left behind when it does not come back. A panic is
//! caught and ends the player, not the thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use games::{Cancel, MoveId};
use players::{Deliberation, Failure, Observation, Player, Seat, Stop, Turn};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

/// What came of one question to a built-in player.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    /// The answer.
    pub(crate) result: Result<T, Broken>,
    /// When the player returned.
    pub(crate) at: Instant,
    /// CPU time of the call.
    pub(crate) cpu: Option<Duration>,
    /// What the player says of it.
    pub(crate) deliberation: Option<Deliberation>,
}

/// How a player broke down.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// It panicked, now or before.
    #[error("panicked")]
    Panicked,
    /// It gave up by itself.
    #[error("{0}")]
    Failed(#[from] Failure),
}

/// The end of a question that the asker holds.
pub(crate) struct Pending<T> {
    /// When it was asked.
    pub(crate) asked: Instant,
    /// Raise it to make the player return.
    pub(crate) cancel: Cancel,
    /// The answer.
    pub(crate) answer: oneshot::Receiver<Answer<T>>,
}

/// Nobody waits any longer, so nobody need think any longer.
impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// A thread that can seat one player at a time.
pub(crate) struct SeatThread {
    orders: mpsc::Sender<Order>,
}

type Seated = Option<Box<dyn Player>>;

/// What the thread does next with the player in its seat.
type Order = Box<dyn FnOnce(&mut Seated) + Send>;

/// A [`Turn`] that crosses threads.
pub(crate) struct Question {
    /// Steps played so far.
    pub(crate) step: u32,
    /// What happened in the step before.
    pub(crate) observation: Option<Observation>,
    /// The legal moves.
    pub(crate) legal: Vec<MoveId>,
}

impl SeatThread {
    /// A thread without a player. It ends when this handle is dropped and the
    /// player has returned.
    pub(crate) fn spawn() -> std::io::Result<Self> {
        let (orders, receiver) = mpsc::channel();
        thread::Builder::new()
            .name("player".to_owned())
            // Searches recurse by state; rules may nest deeply too.
            .stack_size(16 << 20)
            .spawn(move || serve(&receiver))?;
        Ok(Self { orders })
    }

    /// Seats `player` in place of the one before.
    pub(crate) fn begin(&self, player: Box<dyn Player>) {
        self.order(Box::new(|seated| {
            discard(seated);
            *seated = Some(player);
        }));
    }

    pub(crate) fn start(&self, seat: Seat, stop: Stop, asked: Instant) -> Pending<()> {
        self.ask(stop, asked, |seated, stop| call(seated, |player| player.start(seat, stop)))
    }

    pub(crate) fn play(&self, question: Question, stop: Stop, asked: Instant) -> Pending<MoveId> {
        self.ask(stop, asked, move |seated, stop| {
            let Question { step, observation, legal } = &question;
            let turn = Turn { step: *step, observation: observation.as_ref(), legal };
            call(seated, |player| player.play(&turn, stop))
        })
    }

    pub(crate) fn stop(&self, observation: Option<Observation>) -> Pending<()> {
        self.end(move |player| player.stop(observation.as_ref()))
    }

    pub(crate) fn abort(&self) -> Pending<()> {
        self.end(|player| player.abort())
    }

    /// Says `farewell` to the player and empties the seat.
    fn end(&self, farewell: impl FnOnce(&mut dyn Player) + Send + 'static) -> Pending<()> {
        self.ask(Stop::never(), Instant::now(), |seated, _| {
            let answer = call(seated, |player| {
                farewell(player);
                Ok(())
            });
            discard(seated);
            answer
        })
    }

    fn ask<T: Send + 'static>(
        &self,
        stop: Stop,
        asked: Instant,
        question: impl FnOnce(&mut Seated, &Stop) -> Answer<T> + Send + 'static,
    ) -> Pending<T> {
        let cancel = Cancel::new();
        let stop = stop.on(cancel.clone());
        let (sender, answer) = oneshot::channel();
        self.order(Box::new(move |seated| {
            let _ = sender.send(question(seated, &stop));
        }));
        Pending { asked, cancel, answer }
    }

    fn order(&self, order: Order) {
        // The thread outlives its handle, and catches what players throw.
        let _ = self.orders.send(order);
    }
}

fn serve(orders: &mpsc::Receiver<Order>) {
    let mut seated = None;
    while let Ok(order) = orders.recv() {
        order(&mut seated);
    }
    discard(&mut seated);
}

fn call<T>(
    seated: &mut Seated,
    question: impl FnOnce(&mut dyn Player) -> Result<T, Failure>,
) -> Answer<T> {
    let cpu_before = thread_cpu();
    let Some(player) = seated.as_mut() else {
        return Answer {
            result: Err(Broken::Panicked),
            at: Instant::now(),
            cpu: None,
            deliberation: None,
        };
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let result = question(player.as_mut());
        let at = Instant::now();
        (result, at, player.deliberation())
    }));
    let cpu = Some(thread_cpu().saturating_sub(cpu_before));
    match outcome {
        Ok((result, at, deliberation)) => {
            Answer { result: result.map_err(Broken::from), at, cpu, deliberation }
        }
        Err(_) => {
            let at = Instant::now();
            discard(seated);
            Answer { result: Err(Broken::Panicked), at, cpu, deliberation: None }
        }
    }
}

/// Drops the player; that may panic too.
pub(crate) fn discard(seated: &mut Seated) {
    let player = seated.take();
    let _ = catch_unwind(AssertUnwindSafe(move || drop(player)));
}

fn thread_cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}
