//! Answers to a Gamemaster, and the match being played.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use games::Cancel;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{timeout, timeout_at};

use super::ServeSettings;
use super::follow::{Begin, Follower, Order};
use super::memory::{MAX_MATCHES, Memory};
use super::message_log::MessageLog;
use super::waiting::Waiting;
use crate::locking::lock;
use crate::protocol::{Message, News};

/// Kept back of each clock for the way to the Gamemaster, but never more than a
/// fifth of the clock.
const MARGIN: Duration = Duration::from_millis(300);

/// How long the end of a match is waited for.
const FAREWELL: Duration = Duration::from_millis(500);

/// How long a START waits, at most, for matches that were given up to end.
const ENDING_LIMIT: Duration = Duration::from_secs(10);

/// A message, and what is held as long as its rules are in memory.
pub(super) struct Heard {
    pub(super) message: Message,
    /// Large messages are in memory one at a time.
    pub(super) large: Option<OwnedSemaphorePermit>,
}

/// A player for one Gamemaster.
pub(super) struct Service {
    settings: ServeSettings,
    memory: Memory,
    message_log: Option<MessageLog>,
    seated: Mutex<Option<Seated>>,
    /// One permit, for the one large message in memory.
    large: Arc<Semaphore>,
    /// A permit for each thread of a match.
    threads: Arc<Semaphore>,
}

/// The match being played.
#[derive(Clone)]
struct Seated {
    id: String,
    orders: mpsc::Sender<Order>,
    /// Of the question being thought about.
    cancel: Cancel,
    /// Of the match as a whole.
    ended: Arc<Ended>,
    /// PLAYs that were sent to the thread and are not answered.
    waiting: Arc<AtomicUsize>,
    /// The reply if the player does not reply.
    fallback: Arc<Mutex<String>>,
    play_clock: Duration,
    /// A Gamemaster with these clocks is never silent for longer.
    patience: Duration,
    heard: Instant,
}

/// Ends all work for a match that is not wanted any more.
#[derive(Default)]
struct Ended {
    /// Ends whatever is computed.
    cancel: Cancel,
    /// Ends grounding, which may also end before the match does.
    hurry: Cancel,
    /// Wakes a START that waits for a thread.
    notify: Notify,
    /// Whether the rules are understood, so that orders are taken.
    begun: Arc<AtomicBool>,
}

impl Ended {
    fn raise(&self) {
        self.cancel.cancel();
        self.hurry.cancel();
        self.notify.notify_one();
    }
}

impl Seated {
    /// Ends all work on the match.
    fn give_up(&self) {
        self.cancel.cancel();
        self.ended.raise();
    }
}

/// When serving stops, computing stops.
impl Drop for Service {
    fn drop(&mut self) {
        if let Some(seated) = lock(&self.seated).take() {
            seated.give_up();
        }
    }
}

impl Service {
    /// # Errors
    /// If messages are to be printed, and there is no thread for it.
    pub(super) fn new(settings: ServeSettings) -> io::Result<Self> {
        Ok(Self {
            memory: Memory::new(settings.memory_bytes),
            message_log: settings.prints_messages.then(MessageLog::start).transpose()?,
            settings,
            seated: Mutex::new(None),
            large: Arc::new(Semaphore::new(1)),
            threads: Arc::new(Semaphore::new(MAX_MATCHES)),
        })
    }

    /// Where messages and replies are printed, if they are.
    pub(super) fn message_log(&self) -> Option<&MessageLog> {
        self.message_log.as_ref()
    }

    /// Waits until no other large message is in memory.
    pub(super) async fn large_message(&self) -> OwnedSemaphorePermit {
        let large = Arc::clone(&self.large);
        large.acquire_owned().await.expect("the semaphore is never closed")
    }

    /// The reply to a message that arrived at that time.
    pub(super) async fn reply(&self, heard: Heard, arrived: Instant) -> String {
        match heard.message {
            Message::Info => {
                let status = if self.is_busy(arrived) { "busy" } else { "available" };
                let name = self.settings.kind.name;
                format!("( ( name {name} ) ( status {status} ) ( species alien ) )")
            }
            Message::Preview { .. } => "ready".to_owned(),
            Message::Start { id, role, rules, start_clock_s, play_clock_s } => {
                if self.is_busy(arrived) && lock(&self.seated).as_ref().is_some_and(|s| s.id != id)
                {
                    return "busy".to_owned();
                }
                let start_clock = Duration::from_secs(start_clock_s.min(86_400));
                let play_clock = Duration::from_secs(play_clock_s.min(86_400));
                let deadline = arrived + start_clock - margin(start_clock);
                let ended = Arc::new(Ended::default());
                let cancel = Cancel::new();
                let begin = Begin {
                    role,
                    rules,
                    start_clock,
                    play_clock,
                    deadline,
                    cancel: cancel.clone(),
                    hurry: ended.hurry.clone(),
                    large: heard.large,
                };
                self.start(id, begin, (cancel, ended), (start_clock, play_clock), arrived).await
            }
            Message::Play { id, news } => {
                let Some(seated) = self.hear(&id, arrived) else { return "busy".to_owned() };
                let Some(waiting) = Waiting::enter(&seated.waiting) else {
                    return "busy".to_owned();
                };
                let deadline = arrived + seated.play_clock - margin(seated.play_clock);
                let (reply, answer) = oneshot::channel();
                let cancel = seated.cancel.clone();
                let order = Order::Play { news, deadline, cancel: cancel.clone(), reply, waiting };
                if seated.orders.send(order).is_err() {
                    return lock(&seated.fallback).clone();
                }
                // A player that stops when it should has half the margin left.
                let given_up = deadline + margin(seated.play_clock) / 2;
                match timeout_at(given_up.into(), answer).await {
                    Ok(Ok(answer)) => answer,
                    _ => {
                        // The request has ended; the thread is needed for the next one.
                        cancel.cancel();
                        lock(&seated.fallback).clone()
                    }
                }
            }
            Message::Stop { id, news } => self.end(&id, Some(news), arrived, "done").await,
            Message::Abort { id } => self.end(&id, None, arrived, "aborted").await,
        }
    }

    /// Whether a match is being played that its Gamemaster may still continue.
    fn is_busy(&self, now: Instant) -> bool {
        lock(&self.seated)
            .as_ref()
            .is_some_and(|seated| now.saturating_duration_since(seated.heard) < seated.patience)
    }

    async fn start(
        &self,
        id: String,
        begin: Begin,
        (cancel, ended): (Cancel, Arc<Ended>),
        (start_clock, play_clock): (Duration, Duration),
        arrived: Instant,
    ) -> String {
        let (orders, receiver) = mpsc::channel();
        let fallback = Arc::new(Mutex::new("nil".to_owned()));
        let seated = Seated {
            id,
            orders,
            cancel,
            ended: Arc::clone(&ended),
            waiting: Arc::default(),
            fallback: Arc::clone(&fallback),
            play_clock,
            patience: start_clock + play_clock * 2 + Duration::from_secs(10),
            heard: arrived,
        };
        if let Some(old) = lock(&self.seated).replace(seated) {
            old.give_up();
        }
        let given_up = arrived + start_clock - margin(start_clock) / 2;
        let Some(permit) = self.thread(&ended, given_up).await else {
            return self.leave(&ended);
        };
        let hurry = tokio::spawn(raise(ended.hurry.clone(), arrived + start_clock / 2));
        let (ready, is_ready) = oneshot::channel();
        let follower = Follower {
            kind: self.settings.kind,
            options: self.settings.options.clone(),
            memory: self.memory,
            fallback,
            ended: ended.cancel.clone(),
            begun: Arc::clone(&ended.begun),
        };
        let spawned =
            thread::Builder::new().name("match".to_owned()).stack_size(16 << 20).spawn(move || {
                follower.follow(begin, ready, &receiver);
                drop(permit);
            });
        if spawned.is_err() {
            hurry.abort();
            return self.leave(&ended);
        }
        let is_ready = timeout_at(given_up.into(), is_ready).await;
        hurry.abort();
        match is_ready {
            // Still busy with the rules: they may be ready by the first PLAY.
            Ok(Ok(true)) | Err(_) => "ready".to_owned(),
            // The rules are no game, or the player cannot play it.
            Ok(Ok(false) | Err(_)) => self.leave(&ended),
        }
    }

    /// The right to a thread, unless there is none in time or the match is over.
    async fn thread(&self, ended: &Ended, given_up: Instant) -> Option<OwnedSemaphorePermit> {
        let threads = Arc::clone(&self.threads);
        let until = given_up.min(Instant::now() + ENDING_LIMIT);
        tokio::select! {
            permit = timeout_at(until.into(), threads.acquire_owned()) => permit.ok()?.ok(),
            () = ended.notify.notified() => None,
        }
    }

    /// Forgets a match that did not begin.
    fn leave(&self, ended: &Arc<Ended>) -> String {
        ended.raise();
        let mut seated = lock(&self.seated);
        if seated.as_ref().is_some_and(|seated| Arc::ptr_eq(&seated.ended, ended)) {
            *seated = None;
        }
        "busy".to_owned()
    }

    /// The match, if it is the one being played. An older question is cancelled: a
    /// Gamemaster that asks again has given it up.
    fn hear(&self, id: &str, arrived: Instant) -> Option<Seated> {
        let mut seated = lock(&self.seated);
        let seated = seated.as_mut().filter(|seated| seated.id == id)?;
        seated.cancel.cancel();
        seated.cancel = Cancel::new();
        seated.heard = arrived;
        Some(seated.clone())
    }

    async fn end(
        &self,
        id: &str,
        news: Option<News>,
        arrived: Instant,
        reply: &'static str,
    ) -> String {
        let Some(seated) = self.hear(id, arrived) else { return "busy".to_owned() };
        *lock(&self.seated) = None;
        // A player that does not know the rules yet has nothing to take leave of.
        if seated.ended.begun.load(Ordering::Acquire) {
            let (done, is_done) = oneshot::channel();
            let (deadline, cancel) = (arrived + FAREWELL, seated.cancel.clone());
            if seated.orders.send(Order::End { news, deadline, cancel, done }).is_ok() {
                let _ = timeout(FAREWELL, is_done).await;
            }
        }
        // Results of unfinished computations are not needed any more.
        seated.give_up();
        reply.to_owned()
    }
}

/// Raises a flag at some time.
async fn raise(flag: Cancel, at: Instant) {
    tokio::time::sleep_until(at.into()).await;
    flag.cancel();
}

fn margin(clock: Duration) -> Duration {
    MARGIN.min(clock / 5)
}
