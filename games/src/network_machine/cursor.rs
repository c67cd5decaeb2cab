//! A position of a network that is asked, played on and taken back.

use std::sync::Arc;

use smallvec::SmallVec;

use super::backend::Backend;
use super::class_passes::ClassPasses;
use super::shared::{NONE, Shared};
use super::{NetworkMachine, WORD, has_bit};
use crate::StateKey;
use crate::cursor::{Cursor, LegalMoves, play_chosen};
use crate::network::{Evaluator, GoalValue, Lit};
use crate::state::{GoalReading, MoveId, RoleId, State};
use crate::state_machine::{Cancel, ReasoningError, StateCursor};

/// What computes positions.
enum Computation {
    Passes(Box<ClassPasses>),
    Other(Box<dyn Evaluator>),
}

impl Computation {
    fn new(backend: &Backend) -> Self {
        match backend.passes() {
            Some(passes) => Self::Passes(Box::new(passes)),
            None => Self::Other(backend.single()),
        }
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        match self {
            Self::Passes(passes) => passes.as_mut(),
            Self::Other(evaluator) => evaluator.as_mut(),
        }
    }

    #[inline]
    fn is_terminal(&self) -> bool {
        match self {
            Self::Passes(passes) => passes.is_terminal(),
            Self::Other(evaluator) => evaluator.is_terminal(),
        }
    }

    /// The legal moves of a role as bits, and their number.
    #[inline]
    fn legal(&mut self, role: usize) -> (&[u64], usize) {
        match self {
            Self::Passes(passes) => passes.counted_legal(role),
            Self::Other(evaluator) => {
                let bits = evaluator.legal(role);
                (bits, bits.iter().map(|word| word.count_ones() as usize).sum())
            }
        }
    }

    /// What the rules give a role.
    #[inline]
    fn goal(&mut self, role: usize, goals: &[(GoalValue, Lit)]) -> GoalReading {
        let mut reading = GoalReading::default();
        match self {
            Self::Passes(passes) => {
                passes.goals(role).for_each(|at| goals[at].0.read_into(&mut reading));
            }
            Self::Other(evaluator) => {
                for (at, (value, _)) in goals.iter().enumerate() {
                    if evaluator.goal(role, at) {
                        value.read_into(&mut reading);
                    }
                }
            }
        }
        reading
    }

    /// Makes legal moves, goes on to the next position, and adds its facts to `words`.
    #[inline]
    fn step(&mut self, moves: &[u32], words: &mut Vec<u64>) {
        match self {
            Self::Passes(passes) => passes.step(moves, words),
            Self::Other(evaluator) => {
                evaluator.make(moves);
                let start = words.len();
                words.extend_from_slice(evaluator.next());
                evaluator.load(&words[start..]);
            }
        }
    }
}

/// A cursor that computes a network.
pub(super) struct NetworkCursor {
    shared: Arc<Shared>,
    backend: Arc<Backend>,
    computation: Computation,
    n_words: usize,
    /// The words of the state entered and of those that followed.
    words: Vec<u64>,
    /// Their keys, as far as they are known; one for each state.
    keys: Vec<Option<StateKey>>,
    /// The evaluator has the position.
    is_loaded: bool,
    /// What follows a move that the network does not cover.
    beyond: Option<StateCursor>,
    cancel: Cancel,
}

impl NetworkCursor {
    pub(super) fn new(shared: &Arc<Shared>, cancel: &Cancel, state: &State) -> Self {
        let backend = Arc::clone(shared.backends.current());
        let mut cursor = Self {
            computation: Computation::new(&backend),
            backend,
            n_words: shared.network.n_state_words(),
            words: Vec::new(),
            keys: Vec::new(),
            is_loaded: false,
            beyond: None,
            cancel: cancel.clone(),
            shared: Arc::clone(shared),
        };
        cursor.enter(state);
        cursor
    }

    /// The words of the position.
    fn position(&self) -> &[u64] {
        &self.words[self.words.len() - self.n_words..]
    }

    /// Gives the evaluator the position.
    #[inline(always)]
    fn load(&mut self) {
        if !self.is_loaded {
            self.load_now();
        }
    }

    #[inline(never)]
    fn load_now(&mut self) {
        if !Arc::ptr_eq(&self.backend, self.shared.backends.current()) {
            self.backend = Arc::clone(self.shared.backends.current());
            self.computation = Computation::new(&self.backend);
        }
        let position = &self.words[self.words.len() - self.n_words..];
        self.computation.evaluator().load(position);
        self.is_loaded = true;
    }

    /// Makes moves, and goes on to the next position; `false` if a move is illegal or the position
    /// terminal.
    #[inline]
    fn step(&mut self, joint_move: &[MoveId]) -> bool {
        self.load();
        let Self { shared, computation, words, .. } = self;
        assert_eq!(joint_move.len(), shared.inputs.len(), "one move per role");
        if computation.is_terminal() {
            return false;
        }
        let mut inputs: SmallVec<[u32; 4]> = SmallVec::new();
        let roles = shared.inputs.iter().zip(&shared.first_inputs);
        for ((role, id), (of_role, first)) in joint_move.iter().enumerate().zip(roles) {
            let input = of_role.get(id.0 as usize).copied().unwrap_or(NONE);
            if input == NONE || !has_bit(computation.legal(role).0, (input - first) as usize) {
                return false;
            }
            inputs.push(input);
        }
        computation.step(&inputs, words);
        self.keys.push(None);
        true
    }

    /// Goes on with a machine where the network does not.
    fn go_beyond(&self, state: &State) -> StateCursor {
        let machine = NetworkMachine::over(Arc::clone(&self.shared));
        let mut cursor = StateCursor::new(Box::new(machine), state);
        cursor.set_cancel(self.cancel.clone());
        cursor
    }
}

impl Cursor for NetworkCursor {
    fn set_cancel(&mut self, cancel: Cancel) {
        if let Some(beyond) = &mut self.beyond {
            beyond.set_cancel(cancel.clone());
        }
        self.cancel = cancel;
    }

    fn enter(&mut self, state: &State) {
        self.words.clear();
        self.keys.clear();
        self.beyond = None;
        self.is_loaded = false;
        if state.words.len() == self.n_words {
            self.words.extend_from_slice(&state.words);
            self.keys.push(None);
        } else {
            self.beyond = Some(self.go_beyond(state));
        }
    }

    fn is_terminal(&mut self) -> Result<bool, ReasoningError> {
        if let Some(beyond) = &mut self.beyond {
            return beyond.is_terminal();
        }
        self.load();
        Ok(self.computation.is_terminal())
    }

    fn legal_moves(&mut self, role: RoleId) -> Result<LegalMoves<'_>, ReasoningError> {
        // Asked again below, since the borrow is returned.
        if self.beyond.is_none() {
            self.load();
            let role = usize::from(role.0);
            let (bits, n) = self.computation.legal(role);
            return Ok(LegalMoves::of_bits(bits, &self.shared.ids[role], n));
        }
        self.beyond.as_mut().expect("just seen").legal_moves(role)
    }

    fn play(&mut self, joint_move: &[MoveId]) -> Result<(), ReasoningError> {
        if let Some(beyond) = &mut self.beyond {
            return beyond.play(joint_move);
        }
        if !self.step(joint_move) {
            let mut state = State::default();
            self.copy_state(&mut state);
            let mut beyond = self.go_beyond(&state);
            beyond.play(joint_move)?;
            self.beyond = Some(beyond);
            return Ok(());
        }
        Ok(())
    }

    fn play_chosen(
        &mut self,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Result<bool, ReasoningError> {
        if self.beyond.is_none() {
            self.load();
        }
        if self.beyond.is_none()
            && let Computation::Passes(passes) = &mut self.computation
        {
            let is_played = passes.step_chosen(choose, &mut self.words);
            if is_played {
                self.keys.push(None);
            }
            return Ok(is_played);
        }
        play_chosen(self, self.shared.ids.len(), choose)
    }

    fn take_back(&mut self) -> bool {
        if let Some(beyond) = &mut self.beyond {
            // It may have begun with the move that led beyond, or with the state entered.
            if !beyond.take_back() {
                return false;
            }
            if beyond.is_at_start() && !self.keys.is_empty() {
                self.beyond = None;
            }
            return true;
        }
        // States without facts have no words.
        if self.keys.len() == 1 {
            return false;
        }
        self.words.truncate(self.words.len() - self.n_words);
        self.keys.pop();
        self.is_loaded = false;
        true
    }

    fn forget_way(&mut self) {
        if let Some(beyond) = &mut self.beyond {
            beyond.forget_way();
            self.words.clear();
            self.keys.clear();
            return;
        }
        let start = self.words.len() - self.n_words;
        self.words.copy_within(start.., 0);
        self.words.truncate(self.n_words);
        let last = self.keys.len() - 1;
        self.keys.swap(0, last);
        self.keys.truncate(1);
    }

    fn goal(&mut self, role: RoleId) -> Result<GoalReading, ReasoningError> {
        if let Some(beyond) = &mut self.beyond {
            return beyond.goal(role);
        }
        self.load();
        let role = usize::from(role.0);
        Ok(self.computation.goal(role, &self.shared.network.roles[role].goals))
    }

    fn key(&mut self) -> StateKey {
        if let Some(beyond) = &mut self.beyond {
            return beyond.key();
        }
        // From the last one that is known, else from the state without facts.
        let known = self.keys.iter().rposition(Option::is_some);
        let mut key = known.and_then(|level| self.keys[level]).unwrap_or_default();
        let facts = self.shared.keys();
        let position = self.position();
        for (at, &word) in position.iter().enumerate() {
            let before = known.map_or(0, |level| self.words[level * self.n_words + at]);
            let mut changed = before ^ word;
            while changed != 0 {
                key.toggle(facts[at * WORD + changed.trailing_zeros() as usize]);
                changed &= changed - 1;
            }
        }
        if let Some(last) = self.keys.last_mut() {
            *last = Some(key);
        }
        key
    }

    fn copy_state(&self, state: &mut State) {
        match &self.beyond {
            Some(beyond) => beyond.copy_state(state),
            None => state.set_words(self.position()),
        }
    }
}
