//! What all forks of a machine share: the names of states and moves, and what
//! computes them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use super::engine::{Engine, Evaluation};
use crate::network::Network;
use crate::state_machine::{Cancel, MoveId, RoleId, State};
use crate::{Expression, Prover, ReductionEffort, StateKey, reduce};

/// No input.
pub(super) const NONE: u32 = u32::MAX;

/// Somebody whose time was up may have been close to the end; but after so many
/// attempts the time that there is does not suffice.
const MAX_ATTEMPTS: u32 = 8;
/// Conjunctions, facts and moves of a network in which equal parts are looked for. The proof holds
/// several copies of it; and it is less than what playouts run in lock step at most,
/// so that a network that became smaller plays the same playouts.
const MAX_REDUCED: usize = 100_000;

/// What all forks share.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) network: Arc<Network>,
    first_engine: Arc<Engine>,
    /// How positions are to be computed, if that was said.
    evaluation: Option<Evaluation>,
    /// A faster engine, or that there is none; once that is known.
    improved: OnceLock<Option<Arc<Engine>>>,
    /// Whether somebody is looking for one, and how often that was begun.
    is_improving: AtomicBool,
    n_attempts: AtomicU32,
    pub(super) initial: State,
    /// By fact: its key; made when keys are asked for.
    keys: OnceLock<Vec<StateKey>>,
    /// The moves of all roles, each once.
    pub(super) moves: Vec<Expression>,
    /// By role and index of the role's move, its id.
    pub(super) ids: Vec<Vec<MoveId>>,
    /// By role and id, the input; [`NONE`] if the role never has the move.
    pub(super) inputs: Vec<Vec<u32>>,
    pub(super) find_move: FxHashMap<Expression, u32>,
    pub(super) prover: Mutex<Prover>,
}

impl Tables {
    pub(super) fn new(
        network: Arc<Network>,
        prover: Prover,
        evaluation: Option<Evaluation>,
    ) -> Self {
        let mut find_move = FxHashMap::default();
        let mut moves: Vec<Expression> = Vec::new();
        let mut ids = Vec::new();
        for role in &network.roles {
            let id = |expression: &Expression| {
                let next = moves.len() as u32;
                let id = *find_move.entry(expression.clone()).or_insert(next);
                if id == next {
                    moves.push(expression.clone());
                }
                MoveId(id)
            };
            ids.push(role.moves.iter().map(id).collect::<Vec<_>>());
        }
        let mut inputs = vec![vec![NONE; moves.len()]; ids.len()];
        for (role, ids) in ids.iter().enumerate() {
            let first = network.first_move(RoleId(role as u8)) as u32;
            for (at, id) in ids.iter().enumerate() {
                inputs[role][id.0 as usize] = first + at as u32;
            }
        }
        Self {
            first_engine: Arc::new(Engine::new(Arc::clone(&network), evaluation)),
            evaluation,
            improved: OnceLock::new(),
            is_improving: AtomicBool::new(false),
            n_attempts: AtomicU32::new(0),
            initial: network.initial_state(),
            keys: OnceLock::new(),
            moves,
            ids,
            inputs,
            find_move,
            prover: Mutex::new(prover),
            network,
        }
    }

    /// By fact: its key.
    pub(super) fn keys(&self) -> &[StateKey] {
        self.keys.get_or_init(|| self.network.facts.iter().map(StateKey::of_fact).collect())
    }

    /// The fastest engine that there is by now.
    #[inline]
    pub(super) fn engine(&self) -> &Arc<Engine> {
        match self.improved.get() {
            Some(Some(engine)) => engine,
            _ => &self.first_engine,
        }
    }

    /// Whether [`improve`](Tables::improve) would do anything.
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

    /// What [`improve`](Tables::improve) does, on one thread at a time.
    fn look_for_engine(&self, cancel: &Cancel) {
        self.n_attempts.fetch_add(1, Ordering::Relaxed);
        let first = &self.first_engine;
        first.compile();
        let n_ands = self.network.graph.n_ands();
        let reduction = (self.network.graph.n_nodes() <= MAX_REDUCED && !cancel.is_cancelled())
            .then(|| reduce(&self.network, &ReductionEffort::default(), cancel))
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

    /// The words of the prover's state, if it is one.
    pub(super) fn beyond<'s>(&self, state: &'s State) -> Option<&'s [u64]> {
        let n_words = self.network.n_state_words();
        (state.words.len() != n_words).then(|| &state.words[n_words + 1..])
    }

    /// A state of the prover as one of ours: longer than any of the network's.
    pub(super) fn mark(&self, state: &State) -> State {
        let mut words = vec![0; self.network.n_state_words() + 1];
        words.extend_from_slice(&state.words);
        State { words }
    }

    /// The expression as the network has it: names in the game's spelling, and
    /// `p` for `(p)`.
    pub(super) fn normal(&self, expression: &Expression) -> Option<Expression> {
        let symbols = self.network.game.symbols();
        let name = |name: &str| Some(Expression::atom(symbols.name(symbols.find(name)?)));
        match expression {
            Expression::Atom(atom) => name(atom),
            Expression::List(items) => match items.as_slice() {
                [Expression::Atom(atom)] => name(atom),
                items => {
                    let items = items.iter().map(|item| self.normal(item));
                    Some(Expression::List(items.collect::<Option<_>>()?))
                }
            },
        }
    }
}
