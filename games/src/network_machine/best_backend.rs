//! The backend that a machine starts with, and a faster one that is built in spare
//! time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Once, OnceLock};

use super::backend::{Backend, EvaluationMethod};
use super::lock_step;
use crate::compiled_network::CompiledNetwork;
use crate::network::{Network, decisive};
use crate::state_machine::Cancel;
use crate::{ReductionEffort, reduce};

/// An attempt that ran out of time may have been close to its end; after this many,
/// spare time is evidently too short.
const MAX_ATTEMPTS: u32 = 8;
/// Maximum number of conjunctions, facts and moves of a network that is searched for equal parts.
/// The proof holds several copies of it. The limit is below that of playouts in lock
/// step, so that a reduced network plays the same playouts.
const MAX_REDUCED: usize = 100_000;

/// The backends of one network, shared by all forks.
#[derive(Debug)]
pub(super) struct BestBackend {
    first: Arc<Backend>,
    /// Whether the code of the first one is compiled.
    prepared: Once,
    /// The evaluation method, if one was given.
    evaluation: Option<EvaluationMethod>,
    /// The faster backend, or `None` if there is none; set once that is known.
    improved: OnceLock<Option<Arc<Backend>>>,
    /// Whether a thread is at it, and how many attempts there were.
    is_improving: AtomicBool,
    n_attempts: AtomicU32,
    /// The code for playouts that choose among decisive moves; `None` if these are not found. Made of
    /// the first network alone, so that playouts do not depend on what spare time there was.
    decisive: OnceLock<Option<Arc<CompiledNetwork>>>,
}

impl BestBackend {
    pub(super) fn new(network: Arc<Network>, evaluation: Option<EvaluationMethod>) -> Self {
        Self {
            first: Arc::new(Backend::new(network, evaluation)),
            prepared: Once::new(),
            evaluation,
            improved: OnceLock::new(),
            is_improving: AtomicBool::new(false),
            n_attempts: AtomicU32::new(0),
            decisive: OnceLock::new(),
        }
    }

    /// The fastest backend so far.
    #[inline]
    pub(super) fn current(&self) -> &Arc<Backend> {
        match self.improved.get() {
            Some(Some(backend)) => backend,
            _ => &self.first,
        }
    }

    /// Compiles all code of the backend that a machine starts with.
    pub(super) fn prepare(&self) {
        self.prepared.call_once(|| {
            self.first.compile();
            self.decisive_program();
        });
    }

    /// The code for playouts that choose among decisive moves, compiled on first use; `None` if
    /// these are not found.
    pub(super) fn decisive_program(&self) -> Option<&Arc<CompiledNetwork>> {
        // What is interpreted would take too long.
        let is_translated = |network: &Network| network.graph.n_ands() <= lock_step::MAX_TRANSLATED;
        let make = || {
            let network = Some(&**self.first.network()).filter(|it| is_translated(it));
            let network = decisive(network?).filter(is_translated)?;
            let program = CompiledNetwork::new(Arc::new(network));
            lock_step::prepare(&program);
            Some(Arc::new(program))
        };
        self.decisive.get_or_init(make).as_ref()
    }

    /// Whether [`improve`](BestBackend::improve) would do anything.
    pub(super) fn may_improve(&self) -> bool {
        self.improved.get().is_none()
            && !self.is_improving.load(Ordering::Relaxed)
            && self.n_attempts.load(Ordering::Relaxed) < MAX_ATTEMPTS
    }

    /// Compiles code that is needed later, then looks for a smaller equivalent network
    /// and builds a backend for it.
    pub(super) fn improve(&self, cancel: &Cancel) {
        if !self.may_improve() || self.is_improving.swap(true, Ordering::AcqRel) {
            return;
        }
        // Another thread may have finished in between.
        if self.improved.get().is_none() {
            self.look_for_backend(cancel);
        }
        self.is_improving.store(false, Ordering::Release);
    }

    /// What [`improve`](BestBackend::improve) does, on one thread at a time.
    fn look_for_backend(&self, cancel: &Cancel) {
        self.n_attempts.fetch_add(1, Ordering::Relaxed);
        self.prepare();
        let network = self.first.network();
        let n_ands = network.graph.n_ands();
        let reduction = (network.graph.n_nodes() <= MAX_REDUCED && !cancel.is_cancelled())
            .then(|| reduce(network, &ReductionEffort::default(), cancel))
            .flatten();
        let smaller = reduction.filter(|found| found.network.graph.n_ands() < n_ands);
        let backend = smaller.filter(|_| !cancel.is_cancelled()).map(|found| {
            let backend = Backend::new(Arc::new(found.network), self.evaluation);
            // Compile here, so that no player waits for it.
            backend.compile();
            Arc::new(backend)
        });
        if backend.is_some() || !cancel.is_cancelled() {
            // Only one thread gets here at a time.
            let _ = self.improved.set(backend);
        }
    }
}
