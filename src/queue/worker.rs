//! A worker: takes blocks from the queue, plays them, and sends the results.

mod answering;
mod connecting;
mod delivery;
mod discovery;
mod fetching;
mod leaving;
mod settings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use work_queue::{Client, Link, ManifestWatch, random};

use super::blocks::n_blocks;
use super::calibration::Calibrator;
use super::news::notice;
use super::rulesheets::RulesheetCache;
use super::slots::{Played, Slots};
use super::wire::{Build, PresenceMessage, WorkerMessage, encode};
use super::{QueueError, WorkerNews};
use crate::locking::lock;
use answering::answer;
use connecting::connect;
use discovery::{Joined, Known, Prepared};
use fetching::Held;
use leaving::unanswered;
pub use settings::{WorkerSettings, WorkerStop};

/// Time between looks for runs.
const DISCOVERY: Duration = Duration::from_secs(2);

/// Time between signs of life.
const BEAT: Duration = Duration::from_secs(2);

/// How long a request for blocks may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Work that is fetched ahead, in time; slower blocks are not fetched before a thread is
/// free, so that no block waits behind another while other workers are idle.
const AHEAD: Duration = Duration::from_millis(100);

/// Blocks that are fetched ahead at most.
const MAX_AHEAD: u32 = 512;

/// Results that are on their way at most.
const MAX_UNSENT: usize = 4096;

/// Longest pause between requests for blocks when there are none.
const MAX_IDLE: Duration = Duration::from_millis(500);

/// Longest wait for something to happen.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// The pause before a block that could not be played here is given out again.
const GIVE_BACK: Duration = Duration::from_secs(2);

/// Plays blocks until `stop` asks it to leave.
///
/// # Errors
/// If the address, the credentials or this machine do not allow it. A server that cannot
/// be reached is waited for.
pub fn work(
    settings: &WorkerSettings,
    stop: &WorkerStop,
    say: &mut dyn FnMut(WorkerNews),
) -> Result<(), QueueError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let unusable = |source| QueueError::Cache { path: settings.cache.clone(), source };
        let cache = RulesheetCache::new(settings.cache.clone()).map_err(unusable)?;
        let Some((client, link)) = connect(settings, stop, say).await? else { return Ok(()) };
        let mut worker = QueueWorker::new(settings, cache, client.clone(), link)?;
        let presence = Arc::clone(&worker.presence);
        let answering = async {
            // A worker that nobody may ask plays all the same.
            let _ = answer(&client, &presence, stop).await;
            std::future::pending::<()>().await;
        };
        let has_left = tokio::select! {
            () = worker.work(stop, say) => true,
            () = unanswered(&client, stop) => false,
            () = answering => unreachable!("answers have no end"),
        };
        if !has_left {
            say(WorkerNews::Abandoned { n: worker.held.len() as u64 });
        }
        worker.end_players();
        Ok(())
    })
}

struct QueueWorker<'a> {
    settings: &'a WorkerSettings,
    client: Client,
    link: Link,
    build: Build,
    calibrator: Calibrator,
    instance: String,
    cache: Arc<RulesheetCache>,
    slots: Slots,
    played: UnboundedReceiver<Played>,
    manifests: Option<ManifestWatch>,
    /// What it replies to those who ask what it does.
    presence: Arc<Mutex<PresenceMessage>>,
    runs: BTreeMap<String, Known>,
    /// A request for blocks failed, perhaps because the run is over.
    is_doubtful: bool,
    preparing: JoinSet<Prepared>,
    held: BTreeMap<u64, Held>,
    next_key: u64,
    /// Blocks that the slots have.
    n_in_slots: u32,
    /// Results on their way, which end with the key of the block.
    sending: JoinSet<u64>,
    /// The results that the server says it cannot store, by the key of the block, with the time
    /// since when it says so.
    unstored: Arc<Mutex<BTreeMap<u64, Instant>>>,
    idle: Duration,
}

impl<'a> QueueWorker<'a> {
    fn new(
        settings: &'a WorkerSettings,
        cache: RulesheetCache,
        client: Client,
        link: Link,
    ) -> std::io::Result<Self> {
        let (sender, played) = unbounded_channel();
        Ok(Self {
            settings,
            client,
            link,
            build: Build::this()?,
            calibrator: Calibrator::start()?,
            instance: format!("{}-{:08x}", settings.name, random() >> 32),
            cache: Arc::new(cache),
            slots: Slots::start(settings.at_once, &sender)?,
            played,
            manifests: None,
            presence: Arc::new(Mutex::new(PresenceMessage {
                name: settings.name.clone(),
                at_once: settings.at_once,
                tags: settings.tags.clone(),
                runs: BTreeMap::new(),
            })),
            runs: BTreeMap::new(),
            is_doubtful: false,
            preparing: JoinSet::new(),
            held: BTreeMap::new(),
            next_key: 0,
            n_in_slots: 0,
            sending: JoinSet::new(),
            unstored: Arc::default(),
            idle: Duration::ZERO,
        })
    }

    /// Plays until it has left.
    async fn work(&mut self, stop: &WorkerStop, say: &mut dyn FnMut(WorkerNews)) {
        let mut discovered: Option<Instant> = None;
        let mut beaten = Instant::now();
        let mut fetch_at = Instant::now();
        let mut is_draining = false;
        loop {
            while let Some(news) = self.link.news() {
                say(WorkerNews::Link(notice(&self.client, news)));
            }
            let is_up = self.link.is_up();
            if stop.is_draining() && !is_draining {
                is_draining = true;
                self.slots.drain();
                say(WorkerNews::Draining { n: self.n_in_slots.min(self.settings.at_once) });
            }
            if is_draining && self.held.is_empty() {
                break;
            }
            if is_draining && self.n_in_slots == 0 && self.cannot_store() {
                say(WorkerNews::Unstored { n: self.held.len() as u64 });
                break;
            }
            if is_up
                && !is_draining
                && self.is_news()
                    | std::mem::take(&mut self.is_doubtful)
                    | discovered.is_none_or(|at| at.elapsed() >= DISCOVERY)
            {
                discovered = Some(Instant::now());
                self.discover(say).await;
            }
            if is_up && !is_draining && Instant::now() >= fetch_at {
                let free = self.free();
                if free > 0 {
                    let n = self.fetch(free, say).await;
                    self.idle = match n {
                        0 => (self.idle * 2).clamp(Duration::from_millis(5), MAX_IDLE),
                        _ => Duration::ZERO,
                    };
                }
                // Workers that are idle do not ask in step.
                fetch_at =
                    Instant::now() + self.idle.mul_f64(0.5 + (random() % 1000) as f64 / 2000.0);
            }
            // Without the server, what is sent would wait in a queue that has an end.
            if is_up && beaten.elapsed() >= BEAT {
                beaten = Instant::now();
                self.beat(false).await;
            }
            if is_up {
                self.signal_progress().await;
            }
            let wait = match self.idle {
                _ if is_draining || !is_up => MAX_WAIT,
                Duration::ZERO if self.free() > 0 => Duration::ZERO,
                Duration::ZERO => MAX_WAIT,
                _ => fetch_at.saturating_duration_since(Instant::now()),
            };
            tokio::select! {
                biased;
                played = self.played.recv() => {
                    self.finish(played, say);
                    while let Ok(played) = self.played.try_recv() {
                        self.finish(Some(played), say);
                    }
                }
                Some(sent) = self.sending.join_next(), if !self.sending.is_empty() => {
                    self.held.remove(&sent.expect("sending does not panic"));
                    while let Some(sent) = self.sending.try_join_next() {
                        self.held.remove(&sent.expect("sending does not panic"));
                    }
                }
                Some(prepared) = self.preparing.join_next(), if !self.preparing.is_empty() => {
                    self.join(prepared.expect("preparing does not panic"), say).await;
                }
                () = stop.asked() => {}
                () = tokio::time::sleep(wait.min(MAX_WAIT)) => {}
            }
        }
        self.beat(true).await;
        let _ = tokio::time::timeout(PATIENCE, self.client.flush()).await;
    }

    /// Whether the server says of all results on their way that it cannot store them, and has
    /// said so for long.
    fn cannot_store(&self) -> bool {
        let unstored = lock(&self.unstored);
        let is_old = |key| unstored.get(key).is_some_and(|since| since.elapsed() >= PATIENCE);
        self.held.keys().all(is_old)
    }

    /// Ends the players that were launched.
    fn end_players(&self) {
        for known in self.runs.values() {
            if let Known::Joined(joined) = known {
                joined.run.manager.shutdown();
            }
        }
    }

    /// Blocks that can be taken now; 0 until enough of them are wanted for a request.
    fn free(&self) -> usize {
        let joined = self.runs.values().filter_map(|known| match known {
            Known::Joined(joined) => Some(self.free_for(joined)),
            _ => None,
        });
        joined.max().unwrap_or(0)
    }

    /// Blocks of a run that can be taken now: as many as can be played soon, by the time that
    /// its blocks took so far.
    fn free_for(&self, joined: &Joined) -> usize {
        if self.held.len() >= MAX_UNSENT {
            return 0;
        }
        let at_once = self.settings.at_once;
        let ahead = joined.block_time.map_or(0, |time| {
            let blocks = AHEAD.as_secs_f64() / time.as_secs_f64().max(1e-6);
            ((f64::from(at_once) * blocks) as u32).min(MAX_AHEAD)
        });
        let free = (at_once + ahead).saturating_sub(self.n_in_slots);
        if free > ahead / 2 || self.n_in_slots < at_once { free as usize } else { 0 }
    }

    /// Tells the server that blocks are in play.
    async fn signal_progress(&mut self) {
        for held in self.held.values_mut() {
            let Some(Known::Joined(joined)) = self.runs.get(&held.run) else { continue };
            let due = Duration::from_millis(joined.run.manifest.ack_wait_ms) / 3;
            if held.signalled.elapsed() >= due {
                held.signalled = Instant::now();
                if let Some(receipt) = &held.receipt {
                    receipt.in_progress().await;
                }
            }
        }
    }

    /// Sends a sign of life to each run, also to those that are not played here.
    async fn beat(&mut self, is_leaving: bool) {
        let signs = self.signs_of_life(is_leaving);
        for (run, message) in &signs {
            self.client.send_sign(run, &self.instance, encode(message)).await;
        }
        lock(&self.presence).runs = signs;
    }

    /// What this worker says to each run.
    fn signs_of_life(&self, is_leaving: bool) -> BTreeMap<String, WorkerMessage> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut signs = BTreeMap::new();
        for (run, known) in &self.runs {
            let (joined, refusal) = match known {
                Known::Preparing { refused: None } => continue,
                Known::Preparing { refused: Some((reason, _)) } => (None, Some(reason.clone())),
                Known::Joined(joined) => (Some(joined), joined.left.clone()),
                Known::Refused { reason, .. } => (None, Some(reason.clone())),
            };
            let held = self.held.values().filter(|held| held.run == *run);
            let n_held: u64 = held.map(|held| n_blocks(&held.jobs)).sum();
            let message = WorkerMessage {
                name: self.settings.name.clone(),
                instance: self.instance.clone(),
                build: self.build.clone(),
                at_once: self.settings.at_once,
                tags: self.settings.tags.clone(),
                cores,
                programs: joined.map(|joined| joined.programs.clone()).unwrap_or_default(),
                n_held: u32::try_from(n_held).unwrap_or(u32::MAX),
                n_blocks: joined.map_or(0, |joined| joined.n_blocks),
                joined_s: joined.map_or(0, |joined| joined.since.elapsed().as_secs()),
                is_leaving: is_leaving || refusal.is_some(),
                refusal,
            };
            signs.insert(run.clone(), message);
        }
        signs
    }
}
