//! The threads of a worker that play: each plays one block at a time, match by match.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use results::record::MatchRecord;
use tokio::sync::mpsc::UnboundedSender;

use super::prepared::PreparedRun;
use crate::locking::lock;
use crate::manager::Worker;
use crate::schedule::Job;

/// A block to be played.
pub(super) struct Task {
    /// What the worker calls it.
    pub(super) key: u64,
    pub(super) run: Arc<PreparedRun>,
    pub(super) jobs: Vec<Job>,
}

/// A block that was played, or as much of it as could be.
pub(super) struct Played {
    pub(super) key: u64,
    /// Its matches, up to the first that was aborted; empty if it was not begun.
    pub(super) records: Vec<MatchRecord>,
    pub(super) time: Duration,
}

impl Played {
    /// Whether all matches were played.
    pub(super) fn is_done(&self) -> bool {
        !self.records.is_empty() && self.records.iter().all(MatchRecord::is_done)
    }
}

/// The threads. They end when this is dropped and they have played what they have.
pub(super) struct Slots {
    tasks: Sender<Task>,
    is_draining: Arc<AtomicBool>,
}

impl Slots {
    /// Starts `n` threads, which send what they have played to `played`.
    pub(super) fn start(n: u32, played: &UnboundedSender<Played>) -> std::io::Result<Self> {
        let (tasks, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let is_draining = Arc::new(AtomicBool::new(false));
        for index in 0..n {
            let (waiting, played) = (Arc::clone(&waiting), played.clone());
            let is_draining = Arc::clone(&is_draining);
            let slot = move || work(&waiting, &is_draining, &played);
            std::thread::Builder::new().name(format!("slot {index}")).spawn(slot)?;
        }
        Ok(Self { tasks, is_draining })
    }

    /// Begins no more blocks; those that wait come back unplayed.
    pub(super) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Gives a block to the thread that is free next.
    pub(super) fn give(&self, task: Task) {
        self.tasks.send(task).expect("the threads take tasks until the sender is dropped");
    }
}

fn work(
    waiting: &Mutex<Receiver<Task>>,
    is_draining: &AtomicBool,
    played: &UnboundedSender<Played>,
) {
    // The reasoners of the run that was played last stay warm.
    let mut current: Option<(Arc<PreparedRun>, Worker)> = None;
    loop {
        let task = lock(waiting).recv();
        let Ok(Task { key, run, jobs }) = task else { return };
        if current.as_ref().is_none_or(|(of, _)| !Arc::ptr_eq(of, &run)) {
            current = Some((Arc::clone(&run), run.manager.worker()));
        }
        let (_, worker) = current.as_mut().expect("set just above");
        let begun = Instant::now();
        let mut records = Vec::with_capacity(jobs.len());
        for job in jobs {
            if records.is_empty() && is_draining.load(Ordering::Relaxed) {
                break;
            }
            let record = run.play(job, worker);
            let is_done = record.is_done();
            records.push(record);
            if !is_done {
                break;
            }
        }
        if played.send(Played { key, records, time: begun.elapsed() }).is_err() {
            return;
        }
    }
}
