//! Gives the blocks of a run to workers, and collects what they played.

mod opening;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use results::workers::{WorkerMachine, WorkersFile};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinSet};
use work_queue::{
    Client, Link, ResultReader, Server, ServerError, StoredResult, once, patiently, pause,
};

use super::QueueError;
use super::blocks::{JobsOfMessage, MatchLengths, Messages};
use super::calibration::{Calibration, KnownReadings};
use super::checked::{Checked, Refused, checked};
use super::news::notice;
use super::replayed::Replayed;
use super::roster::Roster;
use super::run_file::run_name;
use super::wire::{
    BlockMessage, JobMessage, MAX_REASON, Manifest, Refusal, ResultMessage, WorkerMessage, class,
    decode, encode,
};
use crate::consumers::Catalogue;
use crate::event::{EventKind, Notice};
use crate::experiment::Experiment;
use crate::manager::PlayerSource;
use crate::printable::printable;
use crate::runner::{Crew, Dispatcher, StopFlag};
use crate::schedule::Job;
use crate::spec;

/// Messages that are given out before it is known how quickly they are played.
const MIN_WINDOW: usize = 64;

/// Messages that are given out at most; their results would wait on the server.
const MAX_WINDOW: usize = 16_384;

/// Messages given out for each match that the workers play at once.
const WINDOW_PER_SLOT: usize = 8;

/// Blocks whose results are kept until it is their turn, at most: more than a coordinator before this
/// one can have given out.
const MAX_EARLY: usize = 2 * MAX_WINDOW;

/// Blocks on their way to the server, before their acknowledgements are waited for.
const PUBLISHED_AT_ONCE: usize = 512;

/// How long the loop waits for results before it looks after other things.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long a request may go on after the run is asked to stop: the server may be away.
const GRACE: Duration = Duration::from_secs(2);

/// Time between writes to the disk, after which the server forgets results.
const SYNC_TIME: Duration = Duration::from_secs(1);

/// Time between looks for blocks that the queue has lost.
const SEARCH_TIME: Duration = Duration::from_secs(5);

/// Blocks that are looked for at once.
const SEARCHED_AT_ONCE: usize = 16;

/// How long a block may be without a worker that has its tags before a notice says so.
const NOTICE_TIME: Duration = Duration::from_secs(8);

/// Workers that do not play the run of which notices say why, at most.
const MAX_NOTED_REFUSALS: usize = 1_000;

/// How often the results of a block may be refused.
const MAX_REFUSALS: u32 = 5;

/// What the manifest is to a user.
const SPEC: &str = "the spec";

/// Settings of a coordinator.
#[derive(Clone, Debug)]
pub struct CoordinatorSettings {
    /// How long a worker may be silent before its blocks are given out again.
    pub ack_wait: Duration,
    /// Whether workers of other versions of this program, or with other versions of
    /// players' programs, may take part.
    pub mixed_versions: bool,
    /// What the machine of every worker must have.
    pub tags: Vec<String>,
}

impl Default for CoordinatorSettings {
    fn default() -> Self {
        Self { ack_wait: Duration::from_secs(10), mixed_versions: false, tags: vec![] }
    }
}

/// Has the matches of a run played by workers. Dropping it leaves all on the server: the
/// workers play the blocks that are given out, and the results wait there.
pub struct Coordinator {
    runtime: Runtime,
    queue: Queue,
}

/// What the coordinator knows, apart from the runtime that its requests need.
struct Queue {
    client: Client,
    link: Link,
    run: String,
    manifest: Manifest,
    catalogue: Arc<Catalogue>,
    /// What a worker needs for the matches of each player.
    tags: Vec<BTreeSet<String>>,
    /// By the number of the first block.
    given_out: BTreeMap<u64, GivenOut>,
    /// Blocks before this one were given out, or have nothing left to play.
    cursor: u64,
    /// Results of blocks that were given out before this process started, and come later
    /// in the schedule.
    early: BTreeMap<u64, Vec<StoredResult>>,
    reader: ResultReader,
    /// Places of results that were read and are not in the journal.
    unsettled: BTreeSet<u64>,
    /// Results up to this place were on the server before this process.
    waiting: u64,
    /// Results up to this place were read.
    read: u64,
    /// Results up to this place were removed from the server.
    removed: u64,
    roster: Roster,
    /// Workers and matches at once, as an event said.
    n_workers: (u32, u32),
    /// The workers that do not play the run and why, as notices said.
    refusals: BTreeSet<(String, String)>,
    /// The tags that no worker has, as a notice said.
    unserved: BTreeSet<Vec<String>>,
    /// Blocks of which it was said that only workers whose results were refused may play them.
    shunned: BTreeSet<u64>,
    folder: PathBuf,
    /// The machines of the workers that have played, and whether the file has them all.
    machines: WorkersFile,
    machines_are_written: bool,
    readings: KnownReadings,
    /// How long matches took, where blocks of short ones may travel together.
    lengths: MatchLengths,
    /// When messages were collected, in the last second.
    collected: VecDeque<Instant>,
    /// Blocks on their way to the server: each ends with whether it has arrived.
    publishing: JoinSet<(u64, bool)>,
    /// Blocks that have not arrived, and how often in a row there were any.
    unpublished: Vec<u64>,
    n_unpublished: u32,
    failure: Option<QueueError>,
}

/// A message whose results are awaited.
struct GivenOut {
    jobs: JobsOfMessage,
    /// What a worker needs.
    tags: Vec<String>,
    attempt: u32,
    refused: Vec<Refusal>,
    since: Instant,
}

impl Coordinator {
    /// Connects, and makes the run known to workers. `folder` is the run's folder, which
    /// keeps its name on the server.
    ///
    /// # Errors
    /// If there is no connection, the server refuses something, or a player has an
    /// address, so that all workers would use it at once.
    pub fn new(
        server: Server,
        experiment: &Experiment,
        folder: &Path,
        settings: &CoordinatorSettings,
    ) -> Result<Self, QueueError> {
        let is_remote = |player: &&spec::Contestant| {
            matches!(player.config.source, PlayerSource::Remote { .. })
        };
        if let Some(player) = experiment.spec.players.iter().find(is_remote) {
            return Err(QueueError::RemotePlayer { player: player.config.id.clone() });
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let run = run_name(folder, &experiment.spec.name, &experiment.spec.hash())?;
        let queue = runtime.block_on(Queue::open(server, experiment, folder, run, settings))?;
        Ok(Self { runtime, queue })
    }

    /// The run's name on the server.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.queue.run
    }

    /// Ends the run on the server: workers play none of it any more. To be called when
    /// the run is complete.
    ///
    /// # Errors
    /// If the server refuses. The failure of an earlier request, if there is one.
    pub fn close(self) -> Result<(), QueueError> {
        let Self { runtime, queue: Queue { client, mut link, run, failure, .. } } = self;
        match failure {
            Some(failure) => Err(failure),
            None => {
                let removed = async || client.remove_run(&run).await;
                Ok(runtime.block_on(patiently(Some(&mut link), removed))?)
            }
        }
    }

    /// Why the run stopped before its end, if the queue failed.
    pub fn take_failure(&mut self) -> Option<QueueError> {
        self.queue.failure.take()
    }
}

impl Crew for Coordinator {
    fn play(
        &mut self,
        next: &(dyn Fn() -> Option<Job> + Sync),
        _n_left: u64,
        dispatcher: &mut Dispatcher<'_>,
    ) {
        let Self { runtime, queue } = self;
        let stop = dispatcher.stop_flag();
        let played = runtime.block_on(async {
            tokio::select! {
                played = queue.play(next, dispatcher) => played,
                // What was begun is on the server, in the journal, or done again by a resumed run.
                () = overdue(&stop) => Ok(()),
            }
        });
        runtime.block_on(queue.leave(dispatcher));
        if let Err(failure) = played {
            queue.failure = Some(failure);
            dispatcher.stop();
        }
    }
}

impl Queue {
    /// Keeps a result until it is the turn of its block.
    fn keep(&mut self, block: u64, result: StoredResult) {
        if self.early.len() >= MAX_EARLY {
            return;
        }
        self.unsettled.insert(result.sequence);
        self.early.entry(block).or_default().push(result);
    }

    async fn play(
        &mut self,
        next: &(dyn Fn() -> Option<Job> + Sync),
        dispatcher: &mut Dispatcher<'_>,
    ) -> Result<(), QueueError> {
        // Blocks for different workers cannot share a message.
        let joins_short = self.tags.windows(2).all(|two| two[0] == two[1]);
        let mut messages = Messages::new(next, joins_short);
        let mut is_exhausted = false;
        let mut synced = Instant::now();
        let mut searched = Instant::now();
        let mut n_failed = 0;
        while !dispatcher.is_stopping() {
            if !self.is_connected(dispatcher) {
                // A comparison may be over by the clock.
                dispatcher.pause();
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
            let mut fresh = vec![];
            while !is_exhausted && self.given_out.len() < self.window() {
                match messages.next(&self.lengths) {
                    None => is_exhausted = true,
                    Some(jobs) => fresh.extend(self.take_up(jobs, dispatcher)?),
                }
            }
            self.give_out(&fresh).await?;
            self.confirm().await?;
            if is_exhausted && self.given_out.is_empty() {
                break;
            }
            dispatcher.pause();
            match self.reader.read(&self.client, PATIENCE).await {
                Ok(results) => {
                    n_failed = 0;
                    let mut again = vec![];
                    for result in results {
                        again.extend(self.collect(result, dispatcher)?);
                    }
                    self.give_out(&again).await?;
                }
                Err(_) => {
                    if n_failed % 8 == 4 {
                        self.check_run().await?;
                    }
                    // The server restarts, perhaps.
                    tokio::time::sleep(pause(n_failed)).await;
                    n_failed = n_failed.saturating_add(1);
                }
            }
            if synced.elapsed() >= SYNC_TIME {
                synced = Instant::now();
                self.settle(dispatcher).await;
                self.count_workers(dispatcher);
                self.note_unserved(dispatcher);
                self.note_shunned(dispatcher);
                self.write_machines();
            }
            if searched.elapsed() >= SEARCH_TIME {
                searched = Instant::now();
                let lost = self.lost().await;
                self.give_out(&lost).await?;
            }
        }
        Ok(())
    }

    /// Whether the server can be reached; notes when that changes.
    fn is_connected(&mut self, dispatcher: &mut Dispatcher<'_>) -> bool {
        while let Some(news) = self.link.news() {
            dispatcher.emit(EventKind::Notice(notice(&self.client, news)));
        }
        self.link.is_up()
    }

    /// Writes what is known. The server forgets results only if it replies soon.
    async fn leave(&mut self, dispatcher: &mut Dispatcher<'_>) {
        let _ = tokio::time::timeout(GRACE, self.settle(dispatcher)).await;
        self.count_workers(dispatcher);
        self.write_machines();
    }

    /// Blocks that may be given out: enough that no worker waits, and not many more, since
    /// a run may end or go on otherwise after any result.
    fn window(&mut self) -> usize {
        let second = Duration::from_secs(1);
        while self.collected.front().is_some_and(|first| first.elapsed() > second) {
            self.collected.pop_front();
        }
        let (_, n_slots) = self.n_workers;
        let wanted = (n_slots as usize * WINDOW_PER_SLOT).max(4 * self.collected.len());
        wanted.clamp(MIN_WINDOW, MAX_WINDOW)
    }

    /// Awaits a block; gives its number if it is to be given out.
    fn take_up(
        &mut self,
        jobs: JobsOfMessage,
        dispatcher: &mut Dispatcher<'_>,
    ) -> Result<Option<u64>, QueueError> {
        let block = jobs[0].block;
        let last = jobs.last().map_or(block, |job| job.block);
        self.cursor = self.cursor.max(last + 1);
        let players = jobs.iter().flat_map(|job| job.seats.iter().flatten());
        let tags: BTreeSet<&String> = players.flat_map(|&player| &self.tags[player]).collect();
        let tags: Vec<String> = tags.into_iter().cloned().collect();
        let (attempt, refused, since) = (0, vec![], Instant::now());
        self.given_out.insert(block, GivenOut { jobs, tags, attempt, refused, since });
        // The journal has the blocks between.
        let later = self.early.split_off(&block);
        for result in std::mem::replace(&mut self.early, later).into_values().flatten() {
            self.unsettled.remove(&result.sequence);
        }
        let results = self.early.remove(&block).unwrap_or_default();
        if results.iter().any(|result| result.sequence <= self.waiting) {
            let n_matches = self.given_out[&block].jobs.len() as u64;
            dispatcher.emit(EventKind::ResultsWaited { n_matches });
        }
        for result in results {
            self.collect(result, dispatcher)?;
        }
        Ok(self.given_out.contains_key(&block).then_some(block))
    }

    /// Publishes blocks that are awaited; [`confirm`](Self::confirm) looks what became of
    /// that. Those that are on the server stay there once.
    async fn give_out(&mut self, blocks: &[u64]) -> Result<(), QueueError> {
        for block in blocks {
            let Some(given_out) = self.given_out.get(block) else { continue };
            let class = class(&given_out.tags);
            if !self.manifest.classes.contains_key(&class) {
                let tags = given_out.tags.clone();
                match self.open_class(class, tags).await {
                    // The server may restart, or be slow.
                    Err(error) if error.is_silence() => {
                        self.unpublished.extend(blocks);
                        return Ok(());
                    }
                    opened => opened?,
                }
            }
        }
        for &block in blocks {
            if !self.client.is_connected() {
                self.unpublished.push(block);
                continue;
            }
            let Some(given_out) = self.given_out.get(&block) else { continue };
            let (class, attempt) = (class(&given_out.tags), given_out.attempt);
            let payload = given_out.message();
            self.client.check_size(&format!("block {block}"), &payload)?;
            match self.client.put_block(&self.run, &class, block, attempt, payload).await {
                Some(is_there) => {
                    self.publishing.spawn(async move { (block, is_there.await) });
                }
                None => self.unpublished.push(block),
            }
            while self.publishing.len() >= PUBLISHED_AT_ONCE
                && let Some(done) = self.publishing.join_next().await
            {
                self.note_published(done);
            }
        }
        Ok(())
    }

    /// Looks which blocks have arrived at the server, and publishes the others again. Nobody
    /// waits for the rest: results are read meanwhile.
    async fn confirm(&mut self) -> Result<(), QueueError> {
        while let Some(done) = self.publishing.try_join_next() {
            self.note_published(done);
        }
        if self.unpublished.is_empty() {
            self.n_unpublished = 0;
            return Ok(());
        }
        self.check_run().await?;
        tokio::time::sleep(pause(self.n_unpublished)).await;
        self.n_unpublished = self.n_unpublished.saturating_add(1);
        let again = std::mem::take(&mut self.unpublished);
        self.give_out(&again).await
    }

    /// Notes whether a block has arrived.
    fn note_published(&mut self, done: Result<(u64, bool), JoinError>) {
        let (block, is_there) = done.expect("publishing does not panic");
        if !is_there {
            self.unpublished.push(block);
        }
    }

    /// Makes the consumer of a class of blocks, and tells workers about it.
    async fn open_class(&mut self, class: String, tags: Vec<String>) -> Result<(), ServerError> {
        let Self { client, link, run, .. } = self;
        let mut manifest = self.manifest.clone();
        let ack_wait = Duration::from_millis(manifest.ack_wait_ms);
        manifest.classes.insert(class.clone(), tags);
        let opened = async || {
            client.open_class(run, &class, ack_wait).await?;
            client.store_manifest(run, SPEC, &encode(&manifest)).await
        };
        once(link, opened).await?;
        self.manifest = manifest;
        Ok(())
    }

    /// Takes in a result. Gives the block if it is to be given out again.
    fn collect(
        &mut self,
        result: StoredResult,
        dispatcher: &mut Dispatcher<'_>,
    ) -> Result<Option<u64>, QueueError> {
        self.read = self.read.max(result.sequence);
        let Some((block, attempt)) = result.block else { return Ok(None) };
        let Some(given_out) = self.given_out.get(&block) else {
            // Either the block is done, and this is a second result of it, or its turn
            // is yet to come.
            if block >= self.cursor {
                self.keep(block, result);
            }
            return Ok(None);
        };
        self.unsettled.remove(&result.sequence);
        if attempt < given_out.attempt {
            return Ok(None);
        }
        let sender = || result.sender.unwrap_or_else(|| "?".to_owned());
        let checked = decode::<ResultMessage>(&result.payload)
            .map_err(|error| Refused { worker: sender(), reason: error.to_string() })
            .and_then(|message| checked(message, &given_out.jobs, &self.catalogue));
        match checked {
            Ok(Checked { worker, calibration, matches, left }) => {
                self.note_player(worker, calibration);
                let given_out =
                    self.given_out.remove(&block).expect("it is awaited, as seen above");
                self.collected.push_back(Instant::now());
                for (job, Replayed { events, missing, length }) in matches {
                    if missing.is_none() {
                        self.lengths.note(job.game, length);
                    }
                    events.into_iter().for_each(|event| dispatcher.emit(event));
                    dispatcher.note_presence(&job, missing);
                }
                let Some(first) = left.first().map(|job| job.block) else { return Ok(None) };
                let attempt = given_out.attempt + 1;
                let again = GivenOut { jobs: left, attempt, since: Instant::now(), ..given_out };
                self.given_out.insert(first, again);
                Ok(Some(first))
            }
            Err(Refused { worker, reason }) => self.refuse(block, worker, reason, dispatcher),
        }
    }

    fn refuse(
        &mut self,
        block: u64,
        worker: String,
        reason: String,
        dispatcher: &mut Dispatcher<'_>,
    ) -> Result<Option<u64>, QueueError> {
        let reason = printable(&reason, MAX_REASON);
        let given_out = self.given_out.get_mut(&block).expect("only what is awaited is refused");
        given_out.attempt += 1;
        given_out.since = Instant::now();
        let n = 1 + given_out.refused.len() as u32;
        if n >= MAX_REFUSALS {
            return Err(QueueError::NoGoodResult { block, n, reason });
        }
        given_out.refused.push(Refusal { worker: worker.clone(), reason: reason.clone() });
        dispatcher.emit(EventKind::Notice(Notice::ResultRefused { block, worker, reason }));
        Ok(Some(block))
    }

    /// Brings the journal to the disk, and removes from the server what it holds.
    async fn settle(&mut self, dispatcher: &mut Dispatcher<'_>) {
        let first_unsettled = self.unsettled.first().copied().unwrap_or(self.read + 1);
        let settled = self.read.min(first_unsettled - 1);
        if settled <= self.removed || !dispatcher.sync() {
            return;
        }
        if self.client.forget_results(&self.run, settled).await {
            self.removed = settled;
        }
    }

    /// Counts the workers that show signs of life.
    fn count_workers(&mut self, dispatcher: &mut Dispatcher<'_>) {
        for worker in self.roster.hear() {
            match worker.shown_refusal() {
                Some(reason) => self.note_refusal(worker.name, reason, dispatcher),
                None => self.know(&worker),
            }
        }
        let (n_workers, n_at_once) = self.roster.n_workers();
        if self.n_workers != (n_workers, n_at_once) {
            self.n_workers = (n_workers, n_at_once);
            dispatcher.emit(EventKind::WorkersChanged { n_workers, n_at_once });
        }
    }

    /// Notes why a worker does not play the run, once.
    fn note_refusal(&mut self, worker: String, reason: String, dispatcher: &mut Dispatcher<'_>) {
        if self.refusals.len() < MAX_NOTED_REFUSALS
            && self.refusals.insert((worker.clone(), reason.clone()))
        {
            dispatcher.emit(EventKind::Notice(Notice::WorkerRefuses { worker, reason }));
        }
    }

    /// Notes blocks that wait although no worker may play them, once for each list of tags.
    fn note_unserved(&mut self, dispatcher: &mut Dispatcher<'_>) {
        let is_served = |tags: &[String]| {
            let has_all = |has: &[String]| tags.iter().all(|tag| has.contains(tag));
            self.roster.workers().any(|worker| has_all(&worker.tags))
        };
        let is_waiting = |block: &GivenOut| block.since.elapsed() >= NOTICE_TIME;
        let waiting = self.given_out.values().filter(|block| is_waiting(block));
        let waiting: BTreeSet<&Vec<String>> = waiting.map(|block| &block.tags).collect();
        let unserved = waiting.into_iter().filter(|tags| !is_served(tags));
        for tags in unserved.cloned().collect::<Vec<_>>() {
            if self.unserved.insert(tags.clone()) {
                dispatcher.emit(EventKind::Notice(Notice::NoWorker { tags }));
            }
        }
    }

    /// Notes blocks that wait because results of all workers that may play them were refused,
    /// once for each.
    fn note_shunned(&mut self, dispatcher: &mut Dispatcher<'_>) {
        let Self { roster, given_out, shunned, .. } = self;
        for (&block, given) in given_out.iter() {
            if given.refused.is_empty() || given.since.elapsed() < NOTICE_TIME {
                continue;
            }
            let refused: BTreeSet<&str> =
                given.refused.iter().map(|refusal| refusal.worker.as_str()).collect();
            let mut able = roster
                .workers()
                .filter(|worker| given.tags.iter().all(|tag| worker.tags.contains(tag)));
            if able.all(|worker| refused.contains(worker.name.as_str())) && shunned.insert(block) {
                let workers = refused.into_iter().map(str::to_owned).collect();
                dispatcher.emit(EventKind::Notice(Notice::NoOtherWorker { block, workers }));
            }
        }
    }

    /// Notes what a worker that has played says of its machine.
    fn know(&mut self, worker: &WorkerMessage) {
        let Some(known) = self.machines.workers.get_mut(&worker.name) else { return };
        let machine = machine_of(worker, known);
        if machine != *known {
            *known = machine;
            self.machines_are_written = false;
        }
    }

    /// Notes that results of a worker count, with what was measured on its machine.
    fn note_player(&mut self, worker: String, reading: Option<Calibration>) {
        let Self { roster, machines, readings, .. } = self;
        let reading = reading.and_then(|reading| readings.new_one(&worker, reading));
        let is_new = !machines.workers.contains_key(&worker);
        let machine = machines.workers.entry(worker).or_insert_with_key(|name| {
            let unknown = WorkerMachine::default();
            roster.find(name).map_or(unknown.clone(), |worker| machine_of(worker, &unknown))
        });
        if let Some(reading) = reading {
            machine.speed.add(reading.speed);
            machine.lateness_us.add(reading.lateness_us);
        }
        self.machines_are_written &= !is_new && reading.is_none();
    }

    /// Writes what is new of the workers.
    fn write_machines(&mut self) {
        if !self.machines_are_written {
            // The journal is what counts; a full disk is found by it.
            self.machines_are_written = self.machines.write(&self.folder).is_ok();
        }
    }

    /// Blocks that were given out, and are neither on the server nor played: the server
    /// lost them with its disk, or a worker acknowledged them without a result.
    async fn lost(&mut self) -> Vec<u64> {
        let wait = Duration::from_millis(self.manifest.ack_wait_ms).max(SEARCH_TIME);
        let mut old = vec![];
        for (&block, given_out) in &mut self.given_out {
            if old.len() >= SEARCHED_AT_ONCE {
                break;
            }
            if given_out.since.elapsed() > wait {
                given_out.since = Instant::now();
                old.push((block, class(&given_out.tags), given_out.attempt));
            }
        }
        let mut lost = vec![];
        for (block, class, attempt) in old {
            match self.client.has_block(&self.run, &class, block, attempt).await {
                Some(true) => {}
                Some(false) => lost.push(block),
                // Each of the others would wait for a reply, too.
                None => break,
            }
        }
        lost
    }

    /// Whether the run is still on the server, if that can be known.
    async fn check_run(&self) -> Result<(), QueueError> {
        match self.client.has_run(&self.run).await {
            Some(false) => Err(QueueError::Purged { run: self.run.clone() }),
            _ => Ok(()),
        }
    }
}

impl GivenOut {
    /// What a worker gets.
    fn message(&self) -> Vec<u8> {
        let jobs = self.jobs.iter().map(|job| JobMessage::from(&**job)).collect();
        encode(&BlockMessage { attempt: self.attempt, refused: self.refused.clone(), jobs })
    }
}

/// What a worker says of its machine, with the readings that are known.
fn machine_of(worker: &WorkerMessage, known: &WorkerMachine) -> WorkerMachine {
    WorkerMachine {
        version: worker.build.version.clone(),
        executable: worker.build.executable.clone(),
        cores: worker.cores,
        at_once: worker.at_once,
        tags: worker.tags.clone(),
        programs: worker.programs.clone(),
        ..*known
    }
}

/// Ends some time after the run is asked to stop.
async fn overdue(stop: &StopFlag) {
    while !stop.is_raised() {
        tokio::time::sleep(PATIENCE).await;
    }
    tokio::time::sleep(GRACE).await;
}
