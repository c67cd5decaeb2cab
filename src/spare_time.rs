//! Time that a clock leaves over, spent on making a reasoner faster.
//!
//! While players use their start clock, a thread does the reasoner's optional work
//! ([`StateMachine::spare_work`]). It ends with the clock, finished or not; the states that
//! the reasoner computes are the same in both cases.

use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use games::{Cancel, StateMachine};

/// Such work in progress; dropping it ends it.
#[derive(Debug)]
pub(crate) struct SpareTime {
    _dropped: Sender<()>,
}

impl SpareTime {
    /// Begins, if there is anything to do, and a thread for it. Ends at `deadline`.
    pub(crate) fn spend(machine: &dyn StateMachine, deadline: Instant) -> Option<Self> {
        let work = machine.spare_work()?;
        let cancel = Cancel::new();
        let flag = cancel.clone();
        spawn("spare-time", move || work(&flag))?;
        let (dropped, is_dropped) = mpsc::channel();
        let flag = cancel.clone();
        let watch = move || {
            // Nothing is ever sent: this waits for the deadline or the drop.
            let left: Duration = deadline.saturating_duration_since(Instant::now());
            let _ = is_dropped.recv_timeout(left);
            flag.cancel();
        };
        if spawn("spare-time-clock", watch).is_none() {
            // Without a clock it must not go on.
            cancel.cancel();
            return None;
        }
        Some(Self { _dropped: dropped })
    }
}

/// A thread, if there can be one more.
fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Option<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use games::{Case, Guards, Leniency, NetworkMachine, Prover, library, validate};

    use super::*;

    /// Of a shipped game, in which some gates of more than are merged at once are
    /// equal.
    fn machine() -> NetworkMachine {
        let text = library::find("breakthrough").unwrap().text;
        let game = validate::read("breakthrough", text, Case::Folded, Leniency::Strict).game;
        let game = Arc::new(game.unwrap());
        let network =
            games::ground(&game, &games::GroundingLimits::default(), &Cancel::new()).unwrap();
        let prover = Prover::new(game, Guards::default()).unwrap();
        NetworkMachine::new(Arc::new(network), prover)
    }

    fn soon(mut is_so: impl FnMut() -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if is_so() {
                return true;
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    fn time_that_is_there_is_used_once() {
        let machine = machine();
        let deadline = Instant::now() + Duration::from_secs(600);
        let spare = SpareTime::spend(&machine, deadline);
        assert!(spare.is_some());
        assert!(soon(|| machine.fork().statistics() != machine.statistics()));
        assert!(SpareTime::spend(&machine, deadline).is_none());
    }

    #[test]
    fn without_time_it_ends_and_may_be_tried_again() {
        let machine = machine();
        for _ in 0..2 {
            drop(SpareTime::spend(&machine, Instant::now()));
            assert!(soon(|| machine.spare_work().is_some()));
            assert_eq!(machine.fork().statistics(), machine.statistics());
        }
    }
}
