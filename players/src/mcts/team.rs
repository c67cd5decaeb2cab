//! The playouts of a pass in several threads. The tree is one thread's alone: it makes the
//! descents, hands a share of their leaves to each of the others, and brings all rewards up.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

use games::{PlayoutPlan, PlayoutPolicy, PlayoutSums, ReasoningError, State, StateMachine};

use crate::Stop;

/// A share of the leaves of a pass, and what came of them. The buffers are reused from pass to
/// pass.
#[derive(Default)]
pub(super) struct Share {
    pub(super) starts: Vec<State>,
    pub(super) n_starts: usize,
    pub(super) seed: u64,
    pub(super) sums: PlayoutSums,
}

/// What is played from each leaf of a pass.
#[derive(Clone)]
pub(super) struct Playing {
    pub(super) lanes: usize,
    pub(super) max_length: u32,
    pub(super) policy: Option<PlayoutPolicy>,
    /// Nodes of the question before the pass.
    pub(super) nodes: u64,
}

impl Playing {
    /// The plan of a share.
    pub(super) fn plan(&self, share: &Share) -> PlayoutPlan<'_> {
        PlayoutPlan {
            per_start: self.lanes,
            max_length: self.max_length,
            seed: share.seed,
            policy: self.policy.as_ref(),
        }
    }

    fn play(
        &self,
        machine: &mut dyn StateMachine,
        share: &mut Share,
        stop: &Stop,
    ) -> Result<(), ReasoningError> {
        let mut go_on = |n_states| !stop.is_due(self.nodes + n_states);
        let plan = self.plan(share);
        let starts = &share.starts[..share.n_starts];
        machine.playout_sums(starts, &plan, &mut go_on, &mut share.sums)
    }
}

/// The threads that help with one question.
pub(super) struct Team {
    workers: Vec<Worker>,
}

struct Worker {
    shares: Sender<(Playing, Share)>,
    played: Receiver<(Share, Result<(), ReasoningError>)>,
}

impl Team {
    /// Nobody helps.
    pub(super) fn none() -> Self {
        Self { workers: Vec::new() }
    }

    /// A thread for each of these machines. They end with the team.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        machines: &'scope mut [Box<dyn StateMachine>],
        stop: &'scope Stop,
    ) -> Self {
        let worker = |machine: &'scope mut Box<dyn StateMachine>| {
            machine.set_cancel(stop.cancel().clone());
            let (shares, to_play) = channel::<(Playing, Share)>();
            let (send, played) = channel();
            scope.spawn(move || {
                while let Ok((playing, mut share)) = to_play.recv() {
                    let result = playing.play(machine.as_mut(), &mut share, stop);
                    if send.send((share, result)).is_err() {
                        break;
                    }
                }
            });
            Worker { shares, played }
        };
        Self { workers: machines.iter_mut().map(worker).collect() }
    }

    /// The number of threads, the one that asks included.
    pub(super) fn n_threads(&self) -> usize {
        1 + self.workers.len()
    }

    /// Plays the shares, no more than there are threads: the first one here.
    ///
    /// # Panics
    /// If a thread panicked.
    pub(super) fn play(
        &self,
        machine: &mut dyn StateMachine,
        playing: &Playing,
        shares: &mut [Share],
        stop: &Stop,
    ) -> Result<(), ReasoningError> {
        let Some((own, others)) = shares.split_first_mut() else { return Ok(()) };
        for (worker, share) in self.workers.iter().zip(&mut *others) {
            let job = (playing.clone(), std::mem::take(share));
            worker.shares.send(job).expect("a thread waits for its share");
        }
        let mut result = playing.play(machine, own, stop);
        for (worker, share) in self.workers.iter().zip(others) {
            let (played, its) = worker.played.recv().expect("a thread plays its share");
            *share = played;
            result = result.and(its);
        }
        result
    }
}
