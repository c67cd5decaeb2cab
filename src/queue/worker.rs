//! A worker: takes blocks from the queue, plays them, and sends the results.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::{Acker, PublishMessage};
use async_nats::jetstream::{AckKind, Context};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

use super::address::{pause, random};
use super::calibration::Calibrator;
use super::coordinator::consumer_config;
use super::prepared::{PreparedRun, program_hash};
use super::rulesheets::RulesheetCache;
use super::sending::publish;
use super::slots::{Played, Slots, Task};
use super::wire::{BlockMessage, Build, Manifest, ResultMessage, WorkerMessage, decode, encode};
use super::{QueueError, Server, WorkerNews, names};
use crate::manager::command_words;

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

/// Number of deliveries after which a block is not tried again.
const MAX_DELIVERIES: i64 = 20;

/// How often a block with an aborted match goes back, to be played elsewhere.
const MAX_ABORTED: i64 = 3;

/// Blocks in a row with an aborted match, after which this machine leaves the run.
const MAX_ABORTED_HERE: u32 = 5;

/// The pause before a block that could not be played here is given out again.
const GIVE_BACK: Duration = Duration::from_secs(2);

/// A consumer that has blocks but gives none is made anew after this time.
const STUCK: Duration = Duration::from_secs(30);

/// Settings of a worker.
#[derive(Clone)]
pub struct WorkerSettings {
    /// The server with the queue.
    pub server: Server,
    /// The worker's name in journals: letters, digits, `_` and `-`.
    pub name: String,
    /// Matches at once.
    pub at_once: u32,
    /// Whether players with a `command` are launched. Then whoever may write to the
    /// queue may run programs here.
    pub launches: bool,
    /// What this machine has.
    pub tags: Vec<String>,
    /// Folder for rulesheets.
    pub cache: PathBuf,
    /// Folder for the standard error of launched players.
    pub logs: PathBuf,
}

/// Asks a worker to finish what it plays and to leave, from any thread.
#[derive(Clone, Default)]
pub struct WorkerStop(Arc<(AtomicBool, Notify)>);

impl WorkerStop {
    /// From now on the worker takes no blocks.
    pub fn drain(&self) {
        self.0.0.store(true, Ordering::Relaxed);
        self.0.1.notify_one();
    }

    fn is_draining(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }
}

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
        let Some(context) = connect(settings, stop, say).await? else { return Ok(()) };
        let mut worker = QueueWorker::new(settings, context)?;
        worker.work(stop, say).await
    })
}

/// A connection; `None` if the worker is to leave before there is one.
async fn connect(
    settings: &WorkerSettings,
    stop: &WorkerStop,
    say: &mut dyn FnMut(WorkerNews),
) -> Result<Option<Context>, QueueError> {
    let mut attempt = 0;
    while !stop.is_draining() {
        let name = format!("gamemaster worker {}", settings.name);
        match settings.server.connect(&name).await {
            Ok(context) => {
                let (name, url) = (settings.name.clone(), settings.server.url());
                say(WorkerNews::Connected { name, url, at_once: settings.at_once });
                return Ok(Some(context));
            }
            Err(error @ QueueError::Connect { .. }) => {
                if attempt == 0 {
                    say(WorkerNews::Unreachable(error));
                }
                let wait = tokio::time::timeout(pause(attempt), stop.0.1.notified());
                let _ = wait.await;
                attempt = attempt.saturating_add(1);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// What became of a manifest.
enum Known {
    /// Games and players are made ready, on another thread.
    Preparing,
    Joined(Joined),
    /// The manifest that was refused.
    Refused(Vec<u8>),
}

/// A run that is played here.
struct Joined {
    run: Arc<PreparedRun>,
    /// Classes that this machine plays.
    classes: BTreeMap<String, Class>,
    programs: BTreeMap<String, String>,
    since: Instant,
    n_blocks: u64,
    /// Blocks in a row with an aborted match.
    n_aborted: u32,
    /// Too many of them: no more blocks are taken.
    has_left: bool,
}

#[derive(Default)]
struct Class {
    consumer: Option<PullConsumer>,
    /// Since when it has given nothing.
    empty_since: Option<Instant>,
}

/// A block that was taken and not acknowledged.
struct Held {
    acker: Acker,
    run: String,
    block: u64,
    attempt: u32,
    deliveries: i64,
    jobs: Vec<crate::schedule::Job>,
    signalled: Instant,
}

struct Prepared {
    run: String,
    payload: Vec<u8>,
    result: Result<(PreparedRun, BTreeMap<String, String>), String>,
}

struct QueueWorker<'a> {
    settings: &'a WorkerSettings,
    context: Context,
    build: Build,
    calibrator: Calibrator,
    instance: String,
    cache: Arc<RulesheetCache>,
    slots: Slots,
    played: UnboundedReceiver<Played>,
    manifests: Option<Subscriber>,
    /// Requests to leave.
    drains: Option<Subscriber>,
    runs: BTreeMap<String, Known>,
    preparing: JoinSet<Prepared>,
    held: BTreeMap<u64, Held>,
    next_key: u64,
    /// Blocks that the slots have.
    n_in_slots: u32,
    /// Results on their way, which end with the key of the block.
    sending: JoinSet<u64>,
    /// Mean time of a block.
    block_time: Option<Duration>,
    idle: Duration,
}

impl<'a> QueueWorker<'a> {
    fn new(settings: &'a WorkerSettings, context: Context) -> Result<Self, QueueError> {
        let (sender, played) = unbounded_channel();
        let unusable = |source| QueueError::File { path: settings.cache.clone(), source };
        Ok(Self {
            settings,
            context,
            build: Build::this()?,
            calibrator: Calibrator::start()?,
            instance: format!("{}-{:08x}", settings.name, random() >> 32),
            cache: Arc::new(RulesheetCache::new(settings.cache.clone()).map_err(unusable)?),
            slots: Slots::start(settings.at_once, &sender)?,
            played,
            manifests: None,
            drains: None,
            runs: BTreeMap::new(),
            preparing: JoinSet::new(),
            held: BTreeMap::new(),
            next_key: 0,
            n_in_slots: 0,
            sending: JoinSet::new(),
            block_time: None,
            idle: Duration::ZERO,
        })
    }

    async fn work(
        &mut self,
        stop: &WorkerStop,
        say: &mut dyn FnMut(WorkerNews),
    ) -> Result<(), QueueError> {
        let mut discovered: Option<Instant> = None;
        let mut beaten = Instant::now();
        let mut fetch_at = Instant::now();
        let mut is_draining = false;
        loop {
            let is_asked = self
                .drains
                .as_mut()
                .is_some_and(|drains| matches!(drains.next().now_or_never(), Some(Some(_))));
            if (stop.is_draining() || is_asked) && !is_draining {
                is_draining = true;
                self.slots.drain();
                say(WorkerNews::Draining { n: self.n_in_slots });
            }
            if is_draining && self.held.is_empty() {
                break;
            }
            if !is_draining
                && self.is_news() | discovered.is_none_or(|at| at.elapsed() >= DISCOVERY)
            {
                discovered = Some(Instant::now());
                self.discover(say).await;
            }
            if !is_draining && Instant::now() >= fetch_at {
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
            if beaten.elapsed() >= BEAT {
                beaten = Instant::now();
                self.beat(false).await;
            }
            self.signal_progress().await;
            let wait = match self.idle {
                Duration::ZERO if self.free() > 0 && !is_draining => Duration::ZERO,
                Duration::ZERO => Duration::from_millis(250),
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
                () = stop.0.1.notified() => {}
                () = tokio::time::sleep(wait.min(Duration::from_millis(250))) => {}
            }
        }
        self.beat(true).await;
        for known in self.runs.values() {
            if let Known::Joined(joined) = known {
                joined.run.manager.shutdown();
            }
        }
        let _ = tokio::time::timeout(PATIENCE, self.context.client().flush()).await;
        Ok(())
    }

    /// Blocks that can be taken now; 0 until enough of them are wanted for a request.
    fn free(&self) -> usize {
        if self.held.len() >= MAX_UNSENT {
            return 0;
        }
        let at_once = self.settings.at_once;
        let ahead = self.block_time.map_or(0, |time| {
            let blocks = AHEAD.as_secs_f64() / time.as_secs_f64().max(1e-6);
            ((f64::from(at_once) * blocks) as u32).min(MAX_AHEAD)
        });
        let free = (at_once + ahead).saturating_sub(self.n_in_slots);
        if free > ahead / 2 || self.n_in_slots < at_once { free as usize } else { 0 }
    }

    /// Whether a coordinator has changed a manifest.
    fn is_news(&mut self) -> bool {
        let Some(manifests) = &mut self.manifests else { return false };
        let mut is_news = false;
        while let Some(Some(_)) = manifests.next().now_or_never() {
            is_news = true;
        }
        is_news
    }

    /// Looks for runs that are new, changed or over.
    async fn discover(&mut self, say: &mut dyn FnMut(WorkerNews)) {
        if self.manifests.is_none() {
            self.manifests = self.context.client().subscribe(names::MANIFESTS).await.ok();
        }
        if self.drains.is_none() {
            self.drains = self.context.client().subscribe(names::DRAIN).await.ok();
        }
        let Ok(found) = tokio::time::timeout(PATIENCE, self.manifests()).await else { return };
        let Some(found) = found else { return };
        let over: Vec<String> =
            self.runs.keys().filter(|run| !found.contains_key(*run)).cloned().collect();
        for run in over {
            if let Some(Known::Joined(joined)) = self.runs.remove(&run) {
                joined.run.manager.shutdown();
                say(WorkerNews::Over { run, n_blocks: joined.n_blocks });
            }
        }
        for (run, payload) in found {
            let is_open = match self.runs.get(&run) {
                None => true,
                Some(Known::Refused(refused)) => *refused != payload,
                Some(Known::Preparing | Known::Joined(_)) => false,
            };
            let manifest = decode::<Manifest>(&payload).map_err(|error| error.to_string());
            match manifest {
                Ok(manifest) if is_open => {
                    let checked = self.check(&manifest, &run);
                    match checked {
                        Ok(()) => {
                            self.runs.insert(run.clone(), Known::Preparing);
                            self.prepare(manifest, payload).await;
                        }
                        Err(reason) => {
                            self.runs.insert(run.clone(), Known::Refused(payload));
                            say(WorkerNews::NotPlayed { run, reason });
                        }
                    }
                }
                Ok(manifest) => {
                    let tags = &self.settings.tags;
                    if let Some(Known::Joined(joined)) = self.runs.get_mut(&run) {
                        joined.open_classes(&manifest, tags);
                    }
                }
                Err(reason) if is_open => {
                    self.runs.insert(run.clone(), Known::Refused(payload));
                    say(WorkerNews::NotPlayed { run, reason });
                }
                Err(_) => {}
            }
        }
    }

    /// The manifests on the server by run; `None` if they cannot be read now.
    async fn manifests(&self) -> Option<BTreeMap<String, Vec<u8>>> {
        use async_nats::jetstream::ErrorCode;
        use async_nats::jetstream::context::GetStreamErrorKind;
        let stream = match self.context.get_stream(names::RUNS).await {
            Ok(stream) => stream,
            Err(error) => {
                return match error.kind() {
                    GetStreamErrorKind::JetStream(error)
                        if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                    {
                        Some(BTreeMap::new())
                    }
                    _ => None,
                };
            }
        };
        let mut subjects = stream.info_with_subjects(names::MANIFESTS).await.ok()?;
        let mut found = BTreeMap::new();
        while let Some(subject) = subjects.next().await {
            let (subject, _) = subject.ok()?;
            let Some(run) = names::run_of_manifest(&subject) else { continue };
            let message = stream.get_last_raw_message_by_subject(&subject).await.ok()?;
            found.insert(run.to_owned(), message.payload.to_vec());
        }
        Some(found)
    }

    /// Why a run is not played here, as far as the manifest says.
    fn check(&self, manifest: &Manifest, run: &str) -> Result<(), String> {
        if manifest.run != run {
            return Err("it names another run".to_owned());
        }
        if !manifest.mixed_versions && manifest.build != self.build {
            let theirs = &manifest.build;
            return Err(match theirs.version == self.build.version {
                false => format!(
                    "the coordinator is gamemaster {} and this is {}; use the same, or start the \
                     coordinator with --allow-mixed-versions",
                    theirs.version, self.build.version
                ),
                true => "the coordinator is another build of gamemaster; copy its executable, or \
                         start the coordinator with --allow-mixed-versions"
                    .to_owned(),
            });
        }
        if !manifest.rulesheets.iter().all(|hash| names::is_token(hash)) {
            return Err("it names rulesheets in a strange way".to_owned());
        }
        Ok(())
    }

    /// Fetches the rulesheets of a run, and makes it ready on another thread.
    async fn prepare(&mut self, manifest: Manifest, payload: Vec<u8>) {
        let run = manifest.run.clone();
        if let Err(reason) = self.fetch_rulesheets(&manifest).await {
            self.preparing.spawn(async { Prepared { run, payload, result: Err(reason) } });
            return;
        }
        let cache = Arc::clone(&self.cache);
        let WorkerSettings { at_once, launches, logs, .. } = self.settings.clone();
        self.preparing.spawn_blocking(move || {
            let prepared = PreparedRun::new(manifest, cache.folder(), at_once, &logs);
            let result = prepared.and_then(|run| {
                let mut programs = BTreeMap::new();
                for (player, template) in run.launched() {
                    if !launches {
                        return Err(format!(
                            "player {} has a command; start the worker with --players-dir to launch \
                             players",
                            player.id
                        ));
                    }
                    let failed = |error: &dyn std::error::Error| crate::error_chain::chained(error);
                    run.manager.preflight(player).map_err(|error| failed(&error))?;
                    let words = command_words(template).unwrap_or_default();
                    let hash = program_hash(&words).map_err(|error| {
                        format!("cannot read the program of player {}: {error}", player.id)
                    })?;
                    programs.insert(player.id.clone(), hash);
                }
                Ok((run, programs))
            });
            Prepared { run: run.clone(), payload, result }
        });
    }

    async fn fetch_rulesheets(&self, manifest: &Manifest) -> Result<(), String> {
        for hash in &manifest.rulesheets {
            if self.cache.has(hash) {
                continue;
            }
            let missing = |error: &dyn std::error::Error| {
                format!("the rulesheet {hash} is not on the server: {error}")
            };
            let stream = self
                .context
                .get_stream_no_info(names::RUNS)
                .await
                .map_err(|error| missing(&error))?;
            let subject = names::rules(&manifest.run, hash);
            let message = stream.get_last_raw_message_by_subject(&subject).await;
            let message = message.map_err(|error| missing(&error))?;
            let kept = self.cache.keep(hash, &message.payload);
            kept.map_err(|error| format!("the rulesheet {hash} cannot be used: {error}"))?;
        }
        Ok(())
    }

    /// Plays a run from now on, if it could be made ready.
    async fn join(&mut self, prepared: Prepared, say: &mut dyn FnMut(WorkerNews)) {
        let Prepared { run, payload, result } = prepared;
        let checked = match result {
            Ok((ready, programs)) => match self.compare_programs(&ready, &programs).await {
                Ok(()) => Ok((ready, programs)),
                Err(reason) => Err(reason),
            },
            Err(reason) => Err(reason),
        };
        match checked {
            Ok((ready, programs)) => {
                let manifest = ready.manifest.clone();
                let run_ready = Arc::new(ready);
                let mut joined = Joined {
                    run: run_ready,
                    classes: BTreeMap::new(),
                    programs,
                    since: Instant::now(),
                    n_blocks: 0,
                    n_aborted: 0,
                    has_left: false,
                };
                joined.open_classes(&manifest, &self.settings.tags);
                self.runs.insert(run.clone(), Known::Joined(joined));
                say(WorkerNews::Joined { run });
                self.idle = Duration::ZERO;
                self.beat(false).await;
            }
            Err(reason) => {
                self.runs.insert(run.clone(), Known::Refused(payload));
                say(WorkerNews::NotPlayed { run, reason });
            }
        }
    }

    /// Compares the programs of players with those of the first worker that joined.
    async fn compare_programs(
        &self,
        run: &PreparedRun,
        programs: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        if run.manifest.mixed_versions {
            return Ok(());
        }
        for (player, _) in run.launched() {
            let Some(hash) = programs.get(&player.id) else { continue };
            let subject = names::program(&run.manifest.run, &player.hash);
            let failed =
                |error: &dyn std::error::Error| format!("cannot compare programs: {error}");
            let first = PublishMessage::build()
                .payload(hash.clone().into())
                .expected_last_subject_sequence(0);
            let sent = self.context.send_publish(subject.clone(), first).await;
            let stored = sent.map_err(|error| failed(&error))?.await;
            match stored.map(|_| ()).map_err(|error| error.kind()) {
                Ok(()) => continue,
                Err(PublishErrorKind::WrongLastSequence) => {}
                Err(error) => return Err(format!("cannot compare programs: {error}")),
            }
            let stream = self.context.get_stream_no_info(names::RUNS).await;
            let stream = stream.map_err(|error| failed(&error))?;
            let other = stream.get_last_raw_message_by_subject(&subject).await;
            if other.map_err(|error| failed(&error))?.payload != *hash.as_bytes() {
                return Err(format!(
                    "the program of player {} differs from that of the coordinator or of another \
                     worker; install the same, or start the coordinator with --allow-mixed-versions",
                    player.id
                ));
            }
        }
        Ok(())
    }

    /// Takes up to `n` blocks; says how many it has got.
    async fn fetch(&mut self, n: usize, say: &mut dyn FnMut(WorkerNews)) -> usize {
        let wanted: Vec<(String, String)> = self
            .runs
            .iter()
            .filter_map(|(run, known)| match known {
                Known::Joined(joined) => Some((run, joined)),
                _ => None,
            })
            .flat_map(|(run, joined)| {
                joined.classes.keys().map(|class| (run.clone(), class.clone()))
            })
            .collect();
        let mut n_got = 0;
        // Not always the same first, so that all runs proceed.
        let first = random() as usize;
        for index in 0..wanted.len() {
            if n_got >= n {
                break;
            }
            let (run, class) = &wanted[first.wrapping_add(index) % wanted.len()];
            let got = tokio::time::timeout(PATIENCE, self.fetch_of(run, class, n - n_got)).await;
            let messages = match got {
                Ok(Some(messages)) => messages,
                _ => {
                    self.forget_consumer(run, class);
                    continue;
                }
            };
            n_got += messages.len();
            for message in messages {
                self.take(run, message, say).await;
            }
        }
        n_got
    }

    fn class(&mut self, run: &str, class: &str) -> Option<(&mut Class, &Manifest)> {
        match self.runs.get_mut(run)? {
            Known::Joined(joined) => Some((joined.classes.get_mut(class)?, &joined.run.manifest)),
            _ => None,
        }
    }

    fn forget_consumer(&mut self, run: &str, class: &str) {
        if let Some((class, _)) = self.class(run, class) {
            class.consumer = None;
        }
    }

    /// Up to `n` blocks of a class; `None` if the consumer does not work.
    async fn fetch_of(
        &mut self,
        run: &str,
        name: &str,
        n: usize,
    ) -> Option<Vec<async_nats::jetstream::Message>> {
        let context = self.context.clone();
        let (class, manifest) = self.class(run, name)?;
        let stream = names::blocks_stream(run);
        if class.consumer.is_none() {
            let found = context.get_consumer_from_stream(name, &stream).await;
            class.consumer = Some(match found {
                Ok(consumer) => consumer,
                Err(_) => {
                    let config = consumer_config(run, name, manifest.ack_wait_ms);
                    context.create_consumer_on_stream(config, &stream).await.ok()?
                }
            });
        }
        let consumer = class.consumer.as_mut()?;
        let mut batch = consumer.fetch().max_messages(n).messages().await.ok()?;
        let mut messages = vec![];
        while let Some(message) = batch.next().await {
            match message {
                Ok(message) => messages.push(message),
                Err(_) if messages.is_empty() => return None,
                Err(_) => break,
            }
        }
        if !messages.is_empty() {
            class.empty_since = None;
            return Some(messages);
        }
        let since = *class.empty_since.get_or_insert_with(Instant::now);
        if since.elapsed() > STUCK {
            class.empty_since = None;
            let info = consumer.info().await.ok()?;
            if info.num_pending > 0 && info.num_ack_pending == 0 {
                let _ = context.delete_consumer_from_stream(name, &stream).await;
                class.consumer = None;
            }
        }
        Some(messages)
    }

    /// Takes a block: gives it to the slots, or back to the queue.
    async fn take(
        &mut self,
        run: &str,
        message: async_nats::jetstream::Message,
        say: &mut dyn FnMut(WorkerNews),
    ) {
        let deliveries = message.info().map_or(1, |info| info.delivered);
        let (message, acker) = message.split();
        let Some(Known::Joined(joined)) = self.runs.get(run) else { return };
        let prepared = Arc::clone(&joined.run);
        let read = decode::<BlockMessage>(&message.payload);
        let read = read.and_then(|block| {
            let (attempt, refused) = (block.attempt, block.refused.clone());
            Ok((attempt, refused, block.jobs()?))
        });
        let (attempt, refused, jobs) = match read {
            Ok((attempt, refused, jobs)) if jobs.iter().all(|job| prepared.has(job)) => {
                (attempt, refused, jobs)
            }
            read => {
                let reason = read.err().map_or_else(
                    || "a match with a game, player or role that the run does not have".to_owned(),
                    |error| error.to_string(),
                );
                say(WorkerNews::BadBlock { run: run.to_owned(), reason });
                let _ = acker.ack_with(AckKind::Term).await;
                return;
            }
        };
        if let Some(own) = refused.iter().find(|refusal| refusal.worker == self.settings.name) {
            say(WorkerNews::ResultRefused { run: run.to_owned(), reason: own.reason.clone() });
            let _ = acker.ack_with(AckKind::Nak(Some(GIVE_BACK))).await;
            return;
        }
        let key = self.next_key;
        self.next_key += 1;
        let block = jobs[0].block;
        let signalled = Instant::now();
        let held = Held {
            acker,
            run: run.to_owned(),
            block,
            attempt,
            deliveries,
            jobs: jobs.clone(),
            signalled,
        };
        self.held.insert(key, held);
        if deliveries > MAX_DELIVERIES {
            let why = format!(
                "block {block} was given out {deliveries} times, and no worker has sent its results"
            );
            let records = jobs.into_iter().map(|job| prepared.unplayed(job, why.clone())).collect();
            self.send(key, records);
            return;
        }
        self.n_in_slots += 1;
        self.slots.give(Task { key, run: prepared, jobs });
    }

    /// Sends the results of a block, or gives it back if it could not be played here.
    fn finish(&mut self, played: Option<Played>, say: &mut dyn FnMut(WorkerNews)) {
        let Some(played) = played else { return };
        self.n_in_slots -= 1;
        let is_done = played.is_done();
        let Played { key, records, time } = played;
        let held = &self.held[&key];
        let (run, deliveries) = (held.run.clone(), held.deliveries);
        if records.is_empty() {
            self.give_back(key, None);
            return;
        }
        let mean = self.block_time.map_or(time, |mean| (mean * 7 + time) / 8);
        self.block_time = Some(mean);
        let Some(Known::Joined(joined)) = self.runs.get_mut(&run) else {
            // The run is over.
            self.held.remove(&key);
            return;
        };
        if is_done || deliveries >= MAX_ABORTED {
            joined.n_blocks += 1;
            joined.n_aborted = if is_done { 0 } else { joined.n_aborted };
            self.send(key, records);
            return;
        }
        joined.n_aborted += 1;
        if joined.n_aborted >= MAX_ABORTED_HERE {
            let reason = records.last().map(|record| record.ending.reason()).unwrap_or_default();
            say(WorkerNews::NotPlayed { run: run.clone(), reason });
            joined.has_left = true;
            joined.classes.clear();
        }
        self.give_back(key, Some(GIVE_BACK));
    }

    fn give_back(&mut self, key: u64, delay: Option<Duration>) {
        let acker = self.held.get_mut(&key).map(|held| {
            let again = Acker::new(self.context.clone(), None);
            std::mem::replace(&mut held.acker, again)
        });
        let Some(acker) = acker else { return };
        self.sending.spawn(async move {
            let _ = acker.ack_with(AckKind::Nak(delay)).await;
            key
        });
    }

    fn send(&mut self, key: u64, records: Vec<results::record::MatchRecord>) {
        let Some(held) = self.held.get_mut(&key) else { return };
        let worker = self.settings.name.clone();
        let calibration = self.calibrator.take();
        let mut payload = encode(&ResultMessage { worker: worker.clone(), records, calibration });
        let limit = self.context.client().max_payload();
        if payload.len() > limit
            && let Some(Known::Joined(joined)) = self.runs.get(&held.run)
        {
            let why = QueueError::TooLarge {
                what: format!("the result of block {}", held.block),
                bytes: payload.len(),
                limit,
            };
            let unplayed = |job: crate::schedule::Job| joined.run.unplayed(job, why.to_string());
            let records = std::mem::take(&mut held.jobs).into_iter().map(unplayed).collect();
            payload = encode(&ResultMessage { worker, records, calibration });
        }
        let subject = names::result(&held.run, held.block, held.attempt);
        let none = Acker::new(self.context.clone(), None);
        let acker = std::mem::replace(&mut held.acker, none);
        let (context, run) = (self.context.clone(), held.run.clone());
        self.sending.spawn(async move {
            publish(&context, &run, subject, payload).await;
            // If this is lost, the block is played twice, and counts once.
            let _ = acker.ack().await;
            key
        });
    }

    /// Tells the server that blocks are in play.
    async fn signal_progress(&mut self) {
        for held in self.held.values_mut() {
            let Some(Known::Joined(joined)) = self.runs.get(&held.run) else { continue };
            let due = Duration::from_millis(joined.run.manifest.ack_wait_ms) / 3;
            if held.signalled.elapsed() >= due {
                held.signalled = Instant::now();
                let _ = held.acker.ack_with(AckKind::Progress).await;
            }
        }
    }

    /// Sends a sign of life to each run.
    async fn beat(&mut self, is_leaving: bool) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for (run, known) in &self.runs {
            let Known::Joined(joined) = known else { continue };
            let n_held = self.held.values().filter(|held| held.run == *run).count();
            let message = WorkerMessage {
                name: self.settings.name.clone(),
                instance: self.instance.clone(),
                build: self.build.clone(),
                at_once: self.settings.at_once,
                tags: self.settings.tags.clone(),
                cores,
                programs: joined.programs.clone(),
                n_held: u32::try_from(n_held).unwrap_or(u32::MAX),
                n_blocks: joined.n_blocks,
                joined_s: joined.since.elapsed().as_secs(),
                at: jiff::Timestamp::now().to_string(),
                is_leaving,
            };
            let subject = names::worker(run, &self.instance);
            let _ = self.context.client().publish(subject, encode(&message).into()).await;
        }
    }
}

impl Joined {
    /// Plays the classes whose tags this machine has.
    fn open_classes(&mut self, manifest: &Manifest, tags: &[String]) {
        for (class, needed) in &manifest.classes {
            if !self.has_left
                && names::is_token(class)
                && needed.iter().all(|tag| tags.contains(tag))
            {
                self.classes.entry(class.clone()).or_default();
            }
        }
    }
}
