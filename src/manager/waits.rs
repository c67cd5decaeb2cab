//! How the thread of a match waits: for the sockets of its remote players, for clocks, and for other
//! threads, by one system call.
//!
//! [`Waits::block_on`] drives a future on the thread that calls it. What the future waits for, it
//! says anew each time it is polled; it is polled again as soon as any of that may have happened.
//! So a reply wakes the thread of its match and no other, and nothing has to be registered with the
//! kernel or removed. For the one or few sockets of a match that costs less than a runtime with a
//! thread that waits for all sockets: each message would then wake two threads.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use smallvec::SmallVec;

use super::machine_limit::lack;
use super::stalls::Watch;

/// Why this machine cannot talk to players: what it lacks, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot talk to players: {0}")]
pub struct NetError(pub(super) String);

/// What the futures of one thread wait for.
pub(crate) struct Waits {
    watch: Arc<Watch>,
    bell: Arc<Bell>,
    /// Sockets that are waited for, and for what, since the last poll.
    sockets: RefCell<Vec<(Arc<TcpStream>, PollFlags)>>,
    /// The earliest moment that is waited for.
    until: Cell<Option<Instant>>,
}

/// What wakes the thread.
struct Bell {
    /// An eventfd, which can be polled beside sockets.
    event: OwnedFd,
    state: AtomicU8,
}

/// The thread polls its future.
const AWAKE: u8 = 0;
/// It waits, or is about to.
const ASLEEP: u8 = 1;
/// It has been woken since it began to poll.
const RUNG: u8 = 2;

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(RUNG, Ordering::AcqRel) == ASLEEP {
            // It fails only if it has been rung 2^64 times.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }
}

impl Waits {
    /// Waits of the thread that will use it; its clocks stand still when the process does.
    ///
    /// # Errors
    /// If there is no file descriptor left.
    pub(crate) fn new(watch: Arc<Watch>) -> Result<Self, NetError> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
        let event = event.map_err(|error| {
            let error = io::Error::from(error);
            NetError(lack(&error).unwrap_or_else(|| error.to_string()))
        })?;
        let bell = Arc::new(Bell { event, state: AtomicU8::new(AWAKE) });
        Ok(Self { watch, bell, sockets: RefCell::default(), until: Cell::new(None) })
    }

    /// What knows when this process stood still.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Drives `future` to its end on this thread.
    ///
    /// Each part of the future that is not ready must be polled whenever the whole is: what it waits
    /// for is forgotten in between.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let waker = Waker::from(Arc::clone(&self.bell));
        let mut context = Context::from_waker(&waker);
        loop {
            // What was done before the bell was rung is seen.
            self.bell.state.swap(AWAKE, Ordering::AcqRel);
            self.sockets.borrow_mut().clear();
            self.until.set(None);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                self.sockets.borrow_mut().clear();
                return output;
            }
            let is_quiet = self.bell.state.compare_exchange(
                AWAKE,
                ASLEEP,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if is_quiet.is_ok() {
                self.wait();
            }
        }
    }

    /// Waits until something may have happened.
    fn wait(&self) {
        let sockets = self.sockets.borrow();
        let mut fds: SmallVec<[PollFd<'_>; 8]> = SmallVec::new();
        fds.push(PollFd::new(&self.bell.event, PollFlags::IN));
        fds.extend(sockets.iter().map(|(socket, what)| PollFd::new(&**socket, *what)));
        let left = self.until.get().map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        // An error, such as an interruption, is one more poll.
        let _ = poll(&mut fds, left.as_ref());
        if fds[0].revents().contains(PollFlags::IN) {
            let _ = rustix::io::read(&self.bell.event, &mut [0; 8]);
        }
    }

    /// Has the thread wake once `socket` can be read or written, as `what` says.
    pub(crate) fn want(&self, socket: &Arc<TcpStream>, what: PollFlags) {
        self.sockets.borrow_mut().push((Arc::clone(socket), what));
    }

    /// Waits until a connection stands or failed.
    pub(crate) async fn connected(&self, socket: &Arc<TcpStream>) {
        poll_fn(|_| {
            let mut fds = [PollFd::new(&**socket, PollFlags::OUT)];
            if poll(&mut fds, Some(&Timespec::default())).is_ok_and(|n_ready| n_ready > 0) {
                return Poll::Ready(());
            }
            self.want(socket, PollFlags::OUT);
            Poll::Pending
        })
        .await;
    }

    /// Waits until `moment`.
    pub(crate) async fn sleep_until(&self, moment: Instant) {
        poll_fn(|_| self.poll_until(moment)).await;
    }

    /// Waits for `future`, but no longer than until `moment`: `None` if that is first.
    pub(crate) async fn timeout_at<F: Future>(
        &self,
        moment: Instant,
        future: F,
    ) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.poll_until(moment).map(|()| None),
        })
        .await
    }

    fn poll_until(&self, moment: Instant) -> Poll<()> {
        if moment <= Instant::now() {
            return Poll::Ready(());
        }
        let until = self.until.get().map_or(moment, |until| until.min(moment));
        self.until.set(Some(until));
        Poll::Pending
    }

    /// Waits for `future` until a clock of `limit` that was started at `from` runs out, which
    /// stands still while this process does; `None` if that is first.
    pub(crate) async fn within<F: Future + Unpin>(
        &self,
        from: Instant,
        limit: Duration,
        mut future: F,
    ) -> Option<F::Output> {
        let mut deadline = from + limit;
        loop {
            if let Some(output) = self.timeout_at(deadline, &mut future).await {
                return Some(output);
            }
            let later = self.watch.deadline(from, limit);
            if later <= deadline {
                return None;
            }
            deadline = later;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::thread;

    use tokio::sync::oneshot;

    use super::super::wire::Wire;
    use super::*;

    /// Waits of a test's own.
    pub(crate) fn begun_waits() -> Waits {
        Waits::new(Arc::new(Watch::begin().unwrap())).unwrap()
    }

    fn pair() -> (Wire, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Wire::new(Arc::new(stream), 100), listener.accept().unwrap().0)
    }

    /// Each in its turn, while the others are waited for.
    #[test]
    fn sockets_threads_and_clocks_wake_the_thread() {
        let waits = begun_waits();
        let (mut wire, mut far_end) = pair();
        let (answer, answered) = oneshot::channel();
        let (told, is_told) = mpsc::channel();
        let other = thread::spawn(move || {
            is_told.recv().unwrap();
            far_end.write_all(b"noop").unwrap();
            is_told.recv().unwrap();
            answer.send(7).unwrap();
            far_end
        });
        let begun = Instant::now();
        let (mut answered, mut outcomes) = (pin!(answered), vec![]);
        waits.block_on(async {
            for _ in 0..3 {
                let read = poll_fn(|_| wire.poll_read(&waits));
                let outcome = tokio::select! {
                    biased;
                    bytes = read => format!("{:?}", bytes.unwrap()),
                    Ok(number) = &mut answered => number.to_string(),
                    () = waits.sleep_until(begun + Duration::from_millis(20)),
                        if outcomes.is_empty() => "time".to_owned(),
                };
                outcomes.push(outcome);
                let _ = told.send(());
            }
        });
        assert!(begun.elapsed() >= Duration::from_millis(20));
        assert_eq!(outcomes, ["time", "[110, 111, 111, 112]", "7"]);
        drop(other.join().unwrap());
    }

    /// No wake is lost, whenever it comes.
    #[test]
    fn a_wake_between_poll_and_wait_counts() {
        let waits = begun_waits();
        let (ask, asked) = mpsc::channel::<oneshot::Sender<u32>>();
        let other = thread::spawn(move || {
            for (number, answer) in (0..).zip(asked) {
                answer.send(number).unwrap();
            }
        });
        for number in 0..20_000 {
            let (answer, answered) = oneshot::channel();
            ask.send(answer).unwrap();
            assert_eq!(waits.block_on(answered), Ok(number));
        }
        drop(ask);
        other.join().unwrap();
    }

    #[test]
    fn what_takes_longer_than_its_time_is_given_up() {
        let waits = begun_waits();
        let (mut wire, _far_end) = pair();
        let begun = Instant::now();
        let limit = Duration::from_millis(20);
        let outcome = waits.block_on(async {
            let read = pin!(poll_fn(|_| wire.poll_read(&waits)));
            waits.within(begun, limit, read).await
        });
        assert!(outcome.is_none() && begun.elapsed() >= limit);
    }
}
