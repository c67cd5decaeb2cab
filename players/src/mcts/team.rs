//! Plays the playouts of a pass in several threads. One thread owns the tree: it makes the
//! descents, gives each other thread a share of the leaves, and backs up all rewards.

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
    /// The number of shares of the pass.
    pub(super) n_shares: u64,
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
        // The other shares enter about as many states.
        let mut go_on = |n_states| !stop.is_due(self.nodes + n_states * self.n_shares);
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
    /// A team without other threads.
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

    /// The number of threads, including the calling one.
    pub(super) fn n_threads(&self) -> usize {
        1 + self.workers.len()
    }

    /// Plays the shares: the first in the calling thread, each of the others in a thread of its
    /// own. There must be no more shares than threads. Waits for all threads even after an
    /// error, so that every share comes back.
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
            let (played, their_result) = worker.played.recv().expect("a thread plays its share");
            *share = played;
            result = result.and(their_result);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use games::RoleId;

    use super::*;
    use crate::testing::shipped;

    /// Shares come back with the sums that each has alone, also after a pass that was stopped.
    #[test]
    fn shares_are_played_as_each_alone() {
        let mut machine = shipped("tic_tac_toe");
        let start = machine.initial_state().unwrap();
        let mut machines = [machine.fork(), machine.fork()];
        let shares = || -> Vec<Share> {
            let share = |seed| Share {
                starts: vec![start.clone(); 3],
                n_starts: 3,
                seed,
                ..Share::default()
            };
            (1..=3).map(share).collect()
        };
        let playing = Playing { lanes: 4, max_length: 100, policy: None, nodes: 0, n_shares: 3 };
        let mut alone = shares();
        for share in &mut alone {
            playing.play(machine.as_mut(), share, &Stop::never()).unwrap();
        }
        let stop = Stop::never().after_nodes(10_000);
        std::thread::scope(|scope| {
            let team = Team::new(scope, &mut machines, &stop);
            assert_eq!(team.n_threads(), 3);
            let spent = Playing { nodes: 10_000, ..playing.clone() };
            let mut stopped = shares();
            team.play(machine.as_mut(), &spent, &mut stopped, &stop).unwrap();
            assert!(stopped.iter().all(|share| share.starts.len() == 3 && !share.sums.is_whole));
            let mut together = shares();
            team.play(machine.as_mut(), &playing, &mut together, &stop).unwrap();
            for (one, other) in alone.iter().zip(&together) {
                assert!(one.sums == other.sums && one.sums.rewards(0, RoleId(0)) > 0);
            }
            assert!(alone[0].sums != alone[1].sums || alone[1].sums != alone[2].sums);
        });
    }
}
