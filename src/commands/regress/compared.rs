//! Plays a comparison until it is decided.

use std::cell::RefCell;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use results::counted::counted;
use results::files;
use results::journal::Journal;
use results::record::MatchRecord;
use results::regress::Tracker;
use results::stats::scored::ScoredMatch;

use super::design;
use crate::cli::{Failure, in_one_line};
use crate::commands::run_plan::Planned;
use crate::consumers::{Catalogue, JournalConsumer, brief};
use crate::event::{Event, EventKind};
use crate::manager::Manager;
use crate::run_folder::RunFolder;
use crate::runner::{self, Consumer, StopFlag, Tournament};
use crate::schedule::Schedule;

/// Time between two lines of progress.
const LINE_TIME: Duration = Duration::from_secs(5);

/// What is played, and who reads along.
pub(super) struct Played<'a> {
    pub(super) planned: &'a Planned<Arc<Schedule>>,
    pub(super) manager: &'a Arc<Manager>,
    pub(super) stop: &'a StopFlag,
    pub(super) tracker: &'a RefCell<Tracker>,
    pub(super) quiet: bool,
}

/// Time that is spent, over all resumptions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    limit: Option<Duration>,
    before: Duration,
    began: Instant,
}

impl Clock {
    /// Starts now, with what the matches in the journal took.
    pub(super) fn new(
        limit_s: Option<f64>,
        folder: &RunFolder,
        concurrency: u32,
    ) -> Result<Self, Failure> {
        let limit = limit_s.map(Duration::from_secs_f64);
        let mut before = Duration::ZERO;
        if limit.is_some() {
            for record in Journal::open(&folder.path.join(files::JOURNAL)).map_err(in_one_line)? {
                before += Duration::from_micros(record.map_err(in_one_line)?.duration_us);
            }
        }
        Ok(Self { limit, before: before / concurrency.max(1), began: Instant::now() })
    }

    fn spent(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn is_up(&self) -> bool {
        self.limit.is_some_and(|limit| self.spent() >= limit)
    }
}

/// Plays what is left, and writes the journal, until the tracker has a verdict
/// or the time is up. Returns whether it is.
pub(super) fn play(played: &Played<'_>, folder: RunFolder, clock: Clock) -> Result<bool, Failure> {
    let planned = played.planned;
    let tournament = Tournament {
        schedule: Arc::clone(&planned.jobs),
        games: planned.games.clone(),
        players: planned.spec.players.iter().map(|player| Arc::clone(&player.config)).collect(),
        rules: Arc::new(planned.spec.rules.clone()),
        concurrency: planned.concurrency,
        done: folder.done,
        elsewhere: folder.elsewhere,
    };
    let catalogue =
        Arc::new(Catalogue::new(&tournament.games, &tournament.players, planned.concurrency));
    let mut watch = |record: &MatchRecord| {
        if record.is_done() {
            let taken = played.tracker.borrow_mut().take(ScoredMatch::from(record));
            taken.expect("the runner plays each job once, and none that is done");
        }
    };
    let mut consumers = Consumers {
        journal: JournalConsumer::new(catalogue, folder.writer, folder.attempts, &mut watch),
        played,
        clock,
        time_is_up: false,
        breakdown: None,
        told: Instant::now(),
        told_blocks: played.tracker.borrow().n_blocks(),
        told_pace: false,
    };
    runner::run(&tournament, played.manager, played.stop, &mut consumers);
    let (time_is_up, breakdown) = (consumers.time_is_up, consumers.breakdown.take());
    consumers.journal.finish().map_err(in_one_line)?;
    match breakdown {
        // Results count in order: none after a match that is missing.
        Some(reason) if played.tracker.borrow().ended().is_none() => {
            Err(anyhow!("a match was broken off: {reason}; the same command plays it again").into())
        }
        _ => Ok(time_is_up),
    }
}

/// The journal, and the decision when to stop.
struct Consumers<'a> {
    journal: JournalConsumer<'a>,
    played: &'a Played<'a>,
    clock: Clock,
    time_is_up: bool,
    breakdown: Option<String>,
    told: Instant,
    told_blocks: u64,
    told_pace: bool,
}

impl Consumers<'_> {
    /// Begins no more matches when there is nothing more to learn. Those that
    /// are played now end as they would.
    fn decide(&mut self) {
        if self.played.stop.is_raised() {
            return;
        }
        self.time_is_up = self.clock.is_up();
        let decided = self.played.tracker.borrow().ended().is_some();
        if decided || self.time_is_up || self.breakdown.is_some() {
            self.played.stop.raise();
        }
    }

    fn tell(&mut self) {
        let tracker = self.played.tracker.borrow();
        if self.played.quiet || tracker.n_blocks() == self.told_blocks {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        if !self.told_pace {
            self.told_pace = true;
            let pace = design::pace(tracker.question(), tracker.n_blocks(), self.clock.spent());
            if let Some(pace) = pace {
                let _ = writeln!(stderr, "{pace}");
            }
        }
        if self.told.elapsed() < LINE_TIME {
            return;
        }
        (self.told, self.told_blocks) = (Instant::now(), tracker.n_blocks());
        let (llr, [low, high]) = tracker.llr();
        let n_blocks = tracker.n_blocks();
        let mean =
            tracker.mean().map_or("no score yet".into(), |mean| format!("{mean:+.1} points"));
        let _ = writeln!(
            stderr,
            "[{}, {}] head less base {mean}; log-likelihood ratio {llr:.2} of {low:.2} to \
             {high:.2}",
            counted(n_blocks, "block", "blocks"),
            brief(self.clock.spent())
        );
    }
}

impl Consumer for Consumers<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let journal = self.journal.event(event);
        if let EventKind::MatchFinished { ending, .. } = &event.kind {
            if let Some(reason) = ending.breakdown() {
                self.breakdown.get_or_insert_with(|| reason.to_owned());
            }
            self.tell();
        }
        self.decide();
        journal
    }

    fn pause(&mut self) -> ControlFlow<()> {
        let journal = self.journal.pause();
        self.decide();
        journal
    }
}
