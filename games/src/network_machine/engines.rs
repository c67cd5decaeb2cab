//! The engine that a machine begins with, and a faster one that is looked for while
//! somebody has time left over.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::engine::{Engine, Evaluation};
use crate::network::Network;
use crate::state_machine::Cancel;
use crate::{ReductionEffort, reduce};

/// Somebody whose time was up may have been close to the end; but after so many
/// attempts the time that there is does not suffice.
const MAX_ATTEMPTS: u32 = 8;
/// Conjunctions, facts and moves of a network in which equal parts are looked for.
/// The proof holds several copies of it; and it is less than what playouts run in
/// lock step at most, so that a network that became smaller plays the same playouts.
const MAX_REDUCED: usize = 100_000;

/// The engines of one network. All forks share them.
#[derive(Debug)]
pub(super) struct Engines {
    first: Arc<Engine>,
    /// How positions are to be computed, if that was said.
    evaluation: Option<Evaluation>,
    /// A faster engine, or that there is none; once that is known.
    improved: OnceLock<Option<Arc<Engine>>>,
    /// Whether somebody is looking for one, and how often that was begun.
    is_improving: AtomicBool,
    n_attempts: AtomicU32,
}

impl Engines {
    pub(super) fn new(network: Arc<Network>, evaluation: Option<Evaluation>) -> Self {
        Self {
            first: Arc::new(Engine::new(network, evaluation)),
            evaluation,
            improved: OnceLock::new(),
            is_improving: AtomicBool::new(false),
            n_attempts: AtomicU32::new(0),
        }
    }

    /// The fastest engine that there is by now.
    #[inline]
    pub(super) fn current(&self) -> &Arc<Engine> {
        match self.improved.get() {
            Some(Some(engine)) => engine,
            _ => &self.first,
        }
    }

    /// Whether [`improve`](Engines::improve) would do anything.
    pub(super) fn may_improve(&self) -> bool {
        self.improved.get().is_none()
            && !self.is_improving.load(Ordering::Relaxed)
            && self.n_attempts.load(Ordering::Relaxed) < MAX_ATTEMPTS
    }

    /// Compiles what is needed later, and looks for a faster engine: one for a
    /// smaller network that says the same.
    pub(super) fn improve(&self, cancel: &Cancel) {
        if !self.may_improve() || self.is_improving.swap(true, Ordering::AcqRel) {
            return;
        }
        // Somebody else may have been here in between.
        if self.improved.get().is_none() {
            self.look_for_engine(cancel);
        }
        self.is_improving.store(false, Ordering::Release);
    }

    /// What [`improve`](Engines::improve) does, on one thread at a time.
    fn look_for_engine(&self, cancel: &Cancel) {
        self.n_attempts.fetch_add(1, Ordering::Relaxed);
        self.first.compile();
        let network = self.first.network();
        let n_ands = network.graph.n_ands();
        let reduction = (network.graph.n_nodes() <= MAX_REDUCED && !cancel.is_cancelled())
            .then(|| reduce(network, &ReductionEffort::default(), cancel))
            .flatten();
        let smaller = reduction.filter(|found| found.network.graph.n_ands() < n_ands);
        let engine = smaller.filter(|_| !cancel.is_cancelled()).map(|found| {
            let engine = Engine::new(Arc::new(found.network), self.evaluation);
            // Here, so that nobody has to wait for it.
            engine.compile();
            Arc::new(engine)
        });
        if engine.is_some() || !cancel.is_cancelled() {
            // Nobody else is here.
            let _ = self.improved.set(engine);
        }
    }
}
