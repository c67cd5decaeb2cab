//! Plays the jobs of a schedule, or the rounds of a staged schedule, and emits what
//! happens as events.
//!
//! Workers are threads that pull jobs from one cursor, in the order of the
//! schedule, and send events in batches; the calling thread numbers the events
//! and hands them to the consumers. Nothing of a match depends on which worker
//! plays it, nor on when. Between the rounds of a staged schedule all workers wait, since
//! the next one follows from all results of those before.

mod absences;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use results::formats::outcomes::Outcomes;
use results::record::{AbortReason, MatchRecord};

use absences::Absences;

use crate::event::{Event, EventKind, Notice, StopReason};
use crate::locking::lock;
use crate::manager::{Manager, MatchRules, MatchSetup, PlayerConfig, PreparedGame, Worker};
use crate::schedule::{DrawnBlock, Job, Lap, Schedule};
use crate::staged_schedule::{Round, StagedSchedule, Walk};

/// Everything that the runner needs to play a tournament.
pub struct Tournament {
    /// What is to be played.
    pub schedule: Arc<Schedule>,
    /// The games that jobs refer to.
    pub games: Vec<Arc<PreparedGame>>,
    /// The players that jobs refer to.
    pub players: Vec<Arc<PlayerConfig>>,
    /// Settings of every match.
    pub rules: Arc<MatchRules>,
    /// Matches at once.
    pub concurrency: u32,
    /// Jobs that an earlier run has finished, ascending.
    pub done: Vec<u64>,
    /// Numbers of the jobs that are played elsewhere, ascending; none of them is
    /// in `done`.
    pub elsewhere: Vec<u64>,
}

/// Everything that the runner needs to play a tournament in rounds.
pub struct StagedTournament {
    /// What is to be played.
    pub schedule: Arc<StagedSchedule>,
    /// The games that jobs refer to.
    pub games: Vec<Arc<PreparedGame>>,
    /// The players that jobs refer to.
    pub players: Vec<Arc<PlayerConfig>>,
    /// Settings of every match.
    pub rules: Arc<MatchRules>,
    /// Matches at once.
    pub concurrency: u32,
}

/// Plays the jobs of a tournament: the threads of this process, or other machines.
pub trait Crew {
    /// Plays the jobs that `next` gives, until it has no more or the
    /// [`Dispatcher`] stops, and emits what happens. `n_left` is their number.
    ///
    /// `next` gives the jobs in the order of the schedule, and may be called from any
    /// thread.
    fn play(
        &mut self,
        next: &(dyn Fn() -> Option<Job> + Sync),
        n_left: u64,
        dispatcher: &mut Dispatcher<'_>,
    );
}

/// The threads of this process.
struct Threads<'a>(Setting<'a>);

impl Crew for Threads<'_> {
    fn play(
        &mut self,
        next: &(dyn Fn() -> Option<Job> + Sync),
        n_left: u64,
        dispatcher: &mut Dispatcher<'_>,
    ) {
        play(self.0, next, n_left, dispatcher);
    }
}

/// What all jobs share.
#[derive(Clone, Copy)]
struct Setting<'a> {
    games: &'a [Arc<PreparedGame>],
    players: &'a [Arc<PlayerConfig>],
    rules: &'a Arc<MatchRules>,
    concurrency: u32,
}

/// Receives the events of a tournament. Called on one thread, in the order of events.
pub trait Consumer {
    /// Takes in one event; `Break` stops the tournament.
    fn event(&mut self, event: &Event) -> ControlFlow<()>;

    /// Takes in the record of a match as the journal has it, just before the event of
    /// the match's end. Called where a journal is written.
    fn recorded(&mut self, record: &MatchRecord) {
        let _ = record;
    }

    /// Called when no event is waiting: the time to flush.
    fn pause(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called before the source of the events forgets them: the time to bring to the
    /// disk what is to outlive a crash of the machine.
    fn sync(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Closures ignore pauses.
impl<F: FnMut(&Event) -> ControlFlow<()>> Consumer for F {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        self(event)
    }
}

/// Asks a tournament to stop, from any thread.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// From now on no match begins.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Events wait at most this time in a worker while others follow them, times the number
/// of workers: each batch wakes the thread of the consumers, which many workers
/// would otherwise keep busy with single moves. A match that has ended does not wait.
const BATCH_TIME: Duration = Duration::from_millis(5);
/// Events never wait longer than this.
const MAX_BATCH_TIME: Duration = Duration::from_millis(500);
/// Events of a batch, at most: those of matches of a few microseconds do not pile up.
const MAX_BATCH: usize = 512;
/// Batches that may wait for the consumers before workers have to.
const MAX_BATCHES: usize = 64;

/// Plays all jobs that are not done. Returns when every match has ended and
/// the consumers have seen every event.
///
/// Ends early if matches are aborted one after the other because the same player is
/// missing.
pub fn run(
    tournament: &Tournament,
    manager: &Arc<Manager>,
    stop: &StopFlag,
    consumer: &mut dyn Consumer,
) -> StopReason {
    let Tournament { games, players, rules, concurrency, .. } = tournament;
    let setting = Setting { games, players, rules, concurrency: *concurrency };
    run_by(&mut Threads(setting), tournament, manager, stop, consumer)
}

/// As [`run`], but `crew` plays the jobs.
pub fn run_by(
    crew: &mut dyn Crew,
    tournament: &Tournament,
    manager: &Arc<Manager>,
    stop: &StopFlag,
    consumer: &mut dyn Consumer,
) -> StopReason {
    let mut dispatcher = Dispatcher::new(consumer, stop, manager);
    let n_jobs = tournament.schedule.n_jobs() - tournament.elsewhere.len() as u64;
    let n_done = tournament.done.len() as u64;
    dispatcher.emit(EventKind::TournamentStarted { n_jobs, n_done });
    let mut skipped = [&tournament.done[..], &tournament.elsewhere[..]].concat();
    skipped.sort_unstable();
    let cursor = Mutex::new(Cursor::new(&tournament.schedule, &skipped));
    crew.play(
        &|| cursor.lock().expect("workers do not panic").next(),
        n_jobs - n_done,
        &mut dispatcher,
    );
    let complete = cursor.into_inner().expect("workers do not panic").is_at_end();
    let reason = match complete && !stop.is_raised() {
        _ if dispatcher.gives_up() => StopReason::PlayerGone,
        true => StopReason::Completed,
        false => StopReason::Interrupted,
    };
    dispatcher.finish(reason)
}

/// Plays the rounds of a staged schedule one after the other, each as soon as all matches
/// before it are done. `outcomes` is what was played before; the consumer adds the
/// outcome of each finished match when it writes it down.
///
/// Ends as paused if matches of a round were aborted, because the next round then depends
/// on unknown results; and early, as [`run`] does.
pub fn run_staged(
    tournament: &StagedTournament,
    outcomes: &Mutex<Outcomes>,
    manager: &Arc<Manager>,
    stop: &StopFlag,
    consumer: &mut dyn Consumer,
) -> StopReason {
    let StagedTournament { games, players, rules, concurrency, .. } = tournament;
    let setting = Setting { games, players, rules, concurrency: *concurrency };
    run_staged_by(&mut Threads(setting), &tournament.schedule, outcomes, manager, stop, consumer)
}

/// As [`run_staged`], but `crew` plays the jobs.
pub fn run_staged_by(
    crew: &mut dyn Crew,
    schedule: &Arc<StagedSchedule>,
    outcomes: &Mutex<Outcomes>,
    manager: &Arc<Manager>,
    stop: &StopFlag,
    consumer: &mut dyn Consumer,
) -> StopReason {
    let outcomes = || lock(outcomes);
    let mut dispatcher = Dispatcher::new(consumer, stop, manager);
    let mut walk = Walk::new(Arc::clone(schedule));
    let mut n_done = 0;
    while let Some(round) = walk.round() {
        n_done += round.n_jobs - missing(schedule, &round, &outcomes()).len() as u64;
        if !walk.pass(&outcomes()) {
            break;
        }
    }
    dispatcher.emit(EventKind::TournamentStarted { n_jobs: schedule.most_jobs(), n_done });
    while let Some(round) = walk.round() {
        let jobs = missing(schedule, &round, &outcomes());
        let n_left = jobs.len() as u64;
        dispatcher.emit(EventKind::RoundStarted {
            round: round.id,
            format: round.format,
            n_rounds: round.n_rounds,
            n_stages: schedule.stages().len() as u32,
            n_jobs: round.n_jobs,
            n_done: round.n_jobs - n_left,
        });
        let jobs = Mutex::new(jobs.into_iter());
        crew.play(&|| jobs.lock().expect("workers do not panic").next(), n_left, &mut dispatcher);
        let is_finished = walk.pass(&outcomes());
        if stop.is_raised() {
            return dispatcher.finish(StopReason::Interrupted);
        }
        if dispatcher.gives_up() {
            return dispatcher.finish(StopReason::PlayerGone);
        }
        if !is_finished {
            return dispatcher.finish(StopReason::Paused);
        }
    }
    dispatcher.finish(StopReason::Completed)
}

/// The jobs of a round that are not done.
fn missing(schedule: &StagedSchedule, round: &Round, outcomes: &Outcomes) -> Vec<Job> {
    schedule.jobs(round).filter(|job| outcomes.get(&job.id).is_none()).collect()
}

/// Plays all jobs and emits events. `n_left` is the number of jobs.
fn play(
    setting: Setting<'_>,
    next: &(dyn Fn() -> Option<Job> + Sync),
    n_left: u64,
    dispatcher: &mut Dispatcher<'_>,
) {
    let (stop, manager, began) = (dispatcher.stop, dispatcher.manager, dispatcher.began);
    let absences = Arc::clone(&dispatcher.absences);
    let absences = &*absences;
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(MAX_BATCHES);
        let n_workers = u64::from(setting.concurrency).min(n_left).max(1);
        let n_threads = u32::try_from(n_workers).unwrap_or(u32::MAX);
        let batch_time = BATCH_TIME.saturating_mul(n_threads).min(MAX_BATCH_TIME);
        for index in 0..n_workers {
            let (sender, seen, sent) = (sender.clone(), Seen::default(), Instant::now());
            let batches = Batches { sender, events: vec![], seen, began, sent, batch_time };
            let worker = manager.worker();
            let spawned = std::thread::Builder::new()
                .name(format!("worker {index}"))
                .spawn_scoped(scope, move || {
                    work(setting, next, (stop, absences), worker, batches)
                });
            if let Err(error) = spawned {
                // Fewer workers play the same; none play nothing.
                dispatcher.emit(EventKind::Notice(Notice::FewerWorkers {
                    n: index,
                    wanted: n_workers,
                    why: error.to_string(),
                }));
                break;
            }
        }
        drop(sender);
        dispatcher.drain(&receiver);
    });
    dispatcher.pause();
}

/// Where the workers are in the schedule.
struct Cursor<'a> {
    schedule: &'a Schedule,
    next: u64,
    /// What is left of the jobs done before.
    done: &'a [u64],
    lap: Option<Lap>,
    /// The block of the last job, with its number.
    block: Option<(u64, DrawnBlock)>,
}

impl<'a> Cursor<'a> {
    fn new(schedule: &'a Schedule, done: &'a [u64]) -> Self {
        debug_assert!(done.is_sorted(), "jobs that are done come in ascending order");
        Self { schedule, next: 0, done, lap: None, block: None }
    }

    fn next(&mut self) -> Option<Job> {
        self.skip_done();
        if self.next >= self.schedule.n_jobs() {
            return None;
        }
        let number = self.schedule.lap_of(self.next);
        if self.lap.as_ref().is_none_or(|lap| lap.number() != number) {
            self.lap = Some(self.schedule.lap(number));
        }
        let lap = self.lap.as_ref().expect("set just above");
        let job = self.schedule.job_after(lap, self.next, &mut self.block);
        self.next += 1;
        Some(job)
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_done();
        self.next >= self.schedule.n_jobs()
    }

    fn skip_done(&mut self) {
        while let Some((&first, rest)) = self.done.split_first()
            && first <= self.next
        {
            if first == self.next {
                self.next += 1;
            }
            self.done = rest;
        }
    }
}

/// Events on their way to the consumers.
struct Batch {
    events: Vec<Event>,
    seen: Seen,
}

/// The last full batch of a worker that the consumers have seen, so that the worker frees what it
/// made: a thread that frees the memory of others makes them wait. The consumers free batches that
/// are not full.
type Seen = Arc<Mutex<Vec<Event>>>;

/// The events of a worker, gathered to batches.
struct Batches {
    sender: SyncSender<Batch>,
    events: Vec<Event>,
    seen: Seen,
    began: Instant,
    sent: Instant,
    batch_time: Duration,
}

impl Batches {
    fn push(&mut self, kind: EventKind) {
        let now = Instant::now();
        // The dispatcher numbers it.
        self.events.push(Event { seq: 0, elapsed: now - self.began, kind });
        if self.events.len() >= MAX_BATCH || now - self.sent >= self.batch_time {
            self.send(now);
        }
    }

    fn send(&mut self, now: Instant) {
        self.sent = now;
        let seen = std::mem::take(&mut *lock(&self.seen));
        drop(seen);
        // The next batch is about as long.
        let next = Vec::with_capacity(self.events.len());
        let events = std::mem::replace(&mut self.events, next);
        // The receiver is there until every sender is dropped.
        let _ = self.sender.send(Batch { events, seen: Arc::clone(&self.seen) });
    }
}

fn work(
    setting: Setting<'_>,
    next: &(dyn Fn() -> Option<Job> + Sync),
    (stop, absences): (&StopFlag, &Absences),
    mut worker: Worker,
    mut batches: Batches,
) {
    while !stop.is_raised() && absences.given_up().is_none() {
        let Some(job) = next() else { break };
        let setup = setup(setting, job);
        let waits = setup.waits();
        if waits {
            // What is finished must not wait for players that are to think.
            batches.send(Instant::now());
        }
        let mut missing = None;
        worker.play(&setup, &mut |event| {
            if let EventKind::PlayerMissing { role, reason, .. } = &event {
                missing = Some((*role, reason.clone()));
            }
            batches.push(event);
        });
        if waits {
            batches.send(Instant::now());
        }
        let seats = &setup.job.seats;
        match missing.and_then(|(role, reason)| Some((seats[role]?, reason))) {
            None => absences.were_there(seats.iter().flatten().copied()),
            Some((player, reason)) => {
                absences.was_missing(player, reason, Instant::now());
                absences.pause(stop);
            }
        }
    }
    batches.send(Instant::now());
}

fn setup(setting: Setting<'_>, job: Job) -> MatchSetup {
    let player = |seat: &Option<usize>| seat.map(|player| Arc::clone(&setting.players[player]));
    MatchSetup {
        game: Arc::clone(&setting.games[job.game]),
        seats: job.seats.iter().map(player).collect(),
        rules: Arc::clone(setting.rules),
        budget: job.budget,
        concurrency: setting.concurrency,
        job: Arc::new(job),
    }
}

/// Numbers events and hands them on.
pub struct Dispatcher<'a> {
    seq: u64,
    began: Instant,
    consumer: &'a mut dyn Consumer,
    stop: &'a StopFlag,
    manager: &'a Arc<Manager>,
    absences: Arc<Absences>,
}

impl<'a> Dispatcher<'a> {
    fn new(consumer: &'a mut dyn Consumer, stop: &'a StopFlag, manager: &'a Arc<Manager>) -> Self {
        let absences = Arc::default();
        Self { seq: 0, began: Instant::now(), consumer, stop, manager, absences }
    }

    /// Whether a player was missing for too long; if so, emits which.
    fn gives_up(&mut self) -> bool {
        let Some(given_up) = self.absences.given_up().cloned() else { return false };
        self.emit(EventKind::PlayerGivenUp { player: given_up.player, reason: given_up.reason });
        true
    }

    /// Emits the last event.
    fn finish(&mut self, stop: StopReason) -> StopReason {
        self.emit(EventKind::TournamentFinished { stop });
        self.pause();
        stop
    }

    /// Whether no more matches are to begin.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.is_raised() || self.absences.given_up().is_some()
    }

    /// What says that no more matches are to begin, for whoever cannot ask the dispatcher.
    #[must_use]
    pub fn stop_flag(&self) -> StopFlag {
        self.stop.clone()
    }

    /// Lets no more matches begin.
    pub fn stop(&self) {
        self.stop.raise();
    }

    /// Notes whether all players of a match were there, which stops the run when the
    /// same player is missing again and again. `missing` is the role without a player.
    pub fn note_presence(&self, job: &Job, missing: Option<(usize, AbortReason)>) {
        match missing.and_then(|(role, reason)| Some((job.seats[role]?, reason))) {
            None => self.absences.were_there(job.seats.iter().flatten().copied()),
            Some((player, reason)) => self.absences.was_missing(player, reason, Instant::now()),
        }
    }

    /// Emits something that happens now.
    pub fn emit(&mut self, kind: EventKind) {
        self.hand_on(&mut Event { seq: 0, elapsed: self.began.elapsed(), kind });
    }

    fn drain(&mut self, receiver: &Receiver<Batch>) {
        while let Ok(Batch { mut events, seen }) = receiver.recv() {
            events.iter_mut().for_each(|event| self.hand_on(event));
            if events.len() >= MAX_BATCH {
                let before = std::mem::replace(&mut *lock(&seen), events);
                drop(before);
            }
            self.pause();
        }
    }

    /// Numbers an event and hands it to the consumers.
    fn hand_on(&mut self, event: &mut Event) {
        event.seq = self.seq;
        self.seq += 1;
        let flow = self.consumer.event(event);
        self.obey(flow);
    }

    /// Emits nothing for now: the consumers write what they keep.
    pub fn pause(&mut self) {
        let flow = self.consumer.pause();
        self.obey(flow);
    }

    /// Brings to the disk what was emitted; says whether all consumers could.
    pub fn sync(&mut self) -> bool {
        let flow = self.consumer.sync();
        self.obey(flow);
        flow.is_continue()
    }

    fn obey(&self, flow: ControlFlow<()>) {
        if flow.is_break() && !self.stop.is_raised() {
            self.stop.raise();
            self.manager.interrupt();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consumers::{Catalogue, Recorder};
    use crate::manager::ManagerSettings;
    use crate::spec::{self, Overrides};

    fn tournament(blocks: u32, concurrency: u32, done: Vec<u64>) -> Tournament {
        let text = format!(
            "blocks = {blocks}\ngames = [\"nim\"]\nbudget = {{ nodes = 5 }}\n\
             [[players]]\nkind = \"random\"\n[[players]]\nkind = \"legal\"\n\
             [[players]]\nkind = \"alpha_beta\"\n"
        );
        let folder = std::path::Path::new("");
        let spec = spec::read(&text, "test", folder, &Overrides::default()).unwrap();
        let validated: Vec<_> = spec
            .games
            .iter()
            .map(|entry| entry.source.clone().check(entry.reading).game.unwrap())
            .collect();
        let prepare = |game: &Arc<games::Game>| {
            let machine = games::state_machine_for(Arc::clone(game), spec.guards.clone()).unwrap();
            Arc::new(PreparedGame::new(game.name(), "hash", machine))
        };
        Tournament {
            schedule: Arc::new(
                Schedule::new(spec.plan(&validated, &vec![vec![]; validated.len()])).unwrap(),
            ),
            games: validated.iter().map(prepare).collect(),
            players: spec.players.iter().map(|player| Arc::clone(&player.config)).collect(),
            rules: Arc::new(spec.rules.clone()),
            concurrency,
            done,
            elsewhere: vec![],
        }
    }

    fn play(tournament: &Tournament, consumer: &mut dyn Consumer) -> StopReason {
        let manager = Manager::new(ManagerSettings::default());
        run(tournament, &manager, &StopFlag::default(), consumer)
    }

    #[test]
    fn events_are_numbered_without_gaps_and_begin_and_end_with_the_tournament() {
        let tournament = tournament(5, 3, vec![2, 7]);
        let mut events = Vec::new();
        let reason = play(&tournament, &mut |event: &Event| {
            events.push(event.clone());
            ControlFlow::Continue(())
        });
        assert_eq!(reason, StopReason::Completed);
        assert!(events.iter().zip(0..).all(|(event, seq)| event.seq == seq));
        let is_first = |kind: &EventKind| {
            matches!(kind, EventKind::TournamentStarted { n_jobs: 30, n_done: 2 })
        };
        assert!(is_first(&events[0].kind));
        let last = &events.last().unwrap().kind;
        assert!(matches!(last, EventKind::TournamentFinished { stop: StopReason::Completed }));
        let mut started: Vec<u64> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::MatchStarted { job, .. } => Some(job.number),
                _ => None,
            })
            .collect();
        started.sort_unstable();
        let missing: Vec<u64> = (0..30).filter(|number| ![2, 7].contains(number)).collect();
        assert_eq!(started, missing);
    }

    #[test]
    fn matches_do_not_depend_on_the_number_of_workers() {
        let records = |concurrency| {
            let tournament = tournament(4, concurrency, vec![]);
            let catalogue = Catalogue::new(&tournament.games, &tournament.players, concurrency);
            let mut recorder = Recorder::new(Arc::new(catalogue));
            let mut records = Vec::new();
            play(&tournament, &mut |event: &Event| {
                records.extend(recorder.take(&event.kind));
                ControlFlow::Continue(())
            });
            records.sort_by_key(|record| record.job);
            let moves = |record: &results::record::MatchRecord| {
                let steps = record.steps.iter().flatten();
                let moves: Vec<_> = steps.map(|step| (step.executed.clone(), step.nodes)).collect();
                (record.job_id.clone(), record.match_id.clone(), moves)
            };
            records.iter().map(moves).collect::<Vec<_>>()
        };
        let alone = records(1);
        assert_eq!(alone.len(), 24);
        assert_eq!(alone, records(4));
    }

    #[test]
    fn a_consumer_stops_the_tournament() {
        let tournament = tournament(10_000, 2, vec![]);
        let mut n_finished = 0;
        let reason = play(&tournament, &mut |event: &Event| {
            n_finished += u32::from(matches!(event.kind, EventKind::MatchFinished { .. }));
            if n_finished < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!(reason, StopReason::Interrupted);
        assert!(n_finished < 60_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_cursor_gives_what_is_not_done(done in prop::collection::btree_set(0u64..12, 0..12)) {
            let tournament = tournament(2, 1, done.iter().copied().collect());
            let mut cursor = Cursor::new(&tournament.schedule, &tournament.done);
            let given: Vec<u64> = std::iter::from_fn(|| cursor.next()).map(|job| job.number).collect();
            let missing: Vec<u64> = (0..12).filter(|number| !done.contains(number)).collect();
            prop_assert_eq!(given, missing);
            prop_assert!(cursor.is_at_end());
        }
    }
}
