//! The network as a state machine: one position at a time.
//!
//! A state is a bit for each fact of the network. The network is right about
//! states that legal play reaches and says nothing about others. Questions about
//! other states, built from facts or reached by illegal moves, are answered by a
//! prover: such a state is the prover's state behind a marker, and so are its
//! successors.

mod activity;
mod backend;
mod best_backend;
mod class_passes;
mod class_programs;
mod cone;
mod cursor;
mod differential;
mod frequent_classes;
mod gates;
mod joint_code;
mod layout;
mod lock_step;
mod position_classes;
mod positions;
mod propagation;
mod shared;
mod wiring;

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use smallvec::SmallVec;

pub use backend::EvaluationMethod;

use self::backend::{Backend, PositionEvaluator};
use self::cone::ConeValues;
use self::cursor::NetworkCursor;
use self::lock_step::LockStep;
use self::shared::{NONE, Shared};
use crate::children::{Children, ExpansionRange, Wanted};
use crate::cursor::Cursor;
use crate::network::Network;
use crate::playouts::{PlayoutEnds, PlayoutLine, PlayoutMoves, PlayoutPlan, PlayoutSums};
use crate::single_pass::{Expander, RoleInputs};
use crate::state::{FactId, GoalReading, MoveId, RoleId, State};
use crate::state_machine::{
    Cancel, ReasoningError, SpareWork, StateMachine, Statistic, all_legal_moves_role_by_role,
    expand_one_by_one, outcomes_one_by_one, playout_line_one_by_one, playout_sums_one_by_one,
    playouts_one_by_one, successors_one_by_one,
};
use crate::successors::{ChildOutcome, Successors};
use crate::{Expression, Game, Prover, StateKey};

/// Bits of a word.
const WORD: usize = 64;

/// A reasoner that computes a network, one position at a time.
#[derive(Debug)]
pub struct NetworkMachine {
    shared: Arc<Shared>,
    backend: Arc<Backend>,
    evaluator: PositionEvaluator,
    /// The inputs of the joint moves that lead to the children.
    inputs: Vec<u32>,
    /// The inputs of the moves that lead to successors.
    role_inputs: RoleInputs,
    percepts: ConeValues,
    /// Created when playouts are first added up.
    lock_step: Option<LockStep>,
    /// The same for playouts that choose among decisive moves.
    decisive_lock_step: Option<LockStep>,
    /// The last state whose key was computed, and the key.
    keyed: (Vec<u64>, StateKey),
    prover: Option<Prover>,
    cancel: Cancel,
}

impl NetworkMachine {
    /// A machine that computes with `network` and asks `prover` what the network
    /// does not cover. Both must belong to the same game.
    #[must_use]
    pub fn new(network: Arc<Network>, prover: Prover) -> Self {
        Self::over(Arc::new(Shared::new(network, prover, None)))
    }

    /// As [`new`](Self::new), with a given evaluation method.
    #[must_use]
    pub fn with_evaluation(
        network: Arc<Network>,
        prover: Prover,
        evaluation: EvaluationMethod,
    ) -> Self {
        Self::over(Arc::new(Shared::new(network, prover, Some(evaluation))))
    }

    /// The method by which positions are computed.
    #[must_use]
    pub fn evaluation(&self) -> EvaluationMethod {
        self.backend.evaluation()
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Arc<Network> {
        &self.shared.network
    }

    fn over(shared: Arc<Shared>) -> Self {
        let backend = Arc::clone(shared.backends.current());
        Self {
            evaluator: backend.evaluator(),
            backend,
            inputs: Vec::new(),
            role_inputs: RoleInputs::default(),
            keyed: (vec![0; shared.network.n_state_words()], StateKey::default()),
            percepts: ConeValues::default(),
            lock_step: None,
            decisive_lock_step: None,
            prover: None,
            cancel: Cancel::new(),
            shared,
        }
    }

    /// Loads `state`; `false` if it is a state of the prover.
    fn load(&mut self, state: &State) -> bool {
        let n_facts = self.shared.network.n_facts();
        if state.words.len() != n_facts.div_ceil(WORD) {
            return false;
        }
        self.keep_up();
        self.evaluator.single().load(&state.words);
        true
    }

    /// Switches to a faster backend once there is one. States and moves stay valid.
    #[inline]
    fn keep_up(&mut self) {
        if !Arc::ptr_eq(&self.backend, self.shared.backends.current()) {
            self.backend = Arc::clone(self.shared.backends.current());
            self.evaluator = self.backend.evaluator();
        }
    }

    /// Loads a joint move. `false` if a move is illegal or the state is terminal:
    /// the network need not be right about what follows.
    fn load_moves(&mut self, joint_move: &[MoveId]) -> bool {
        let shared = &self.shared;
        assert_eq!(joint_move.len(), shared.inputs.len(), "one move per role");
        let evaluator = self.evaluator.single();
        if evaluator.is_terminal() {
            return false;
        }
        let mut inputs: SmallVec<[u32; 4]> = SmallVec::new();
        let mut first = shared.network.n_facts();
        for (role, id) in joint_move.iter().enumerate() {
            let input = shared.inputs[role].get(id.0 as usize).copied().unwrap_or(NONE);
            if input == NONE || !evaluator.is_legal(role, input as usize - first) {
                return false;
            }
            inputs.push(input);
            first += shared.ids[role].len();
        }
        evaluator.make(&inputs);
        true
    }

    /// Computes all children in one expansion; `false` if the network does not cover
    /// some of them.
    fn expand_at_once(
        &mut self,
        state: &State,
        joint_moves: &[MoveId],
        wanted: Wanted,
        children: &mut Children,
    ) -> bool {
        self.keep_up();
        let Self { shared, backend, evaluator, inputs, .. } = self;
        let expander = evaluator.expander(backend);
        if state.words.len() != shared.network.n_state_words() {
            return false;
        }
        expander.load(&state.words);
        if expander.is_terminal() {
            return false;
        }
        let n_roles = shared.ids.len();
        assert!(joint_moves.len().is_multiple_of(n_roles), "one move per role");
        inputs.clear();
        for joint_move in joint_moves.chunks(n_roles) {
            let mut first = shared.network.n_facts();
            for (role, id) in joint_move.iter().enumerate() {
                let input = shared.inputs[role].get(id.0 as usize).copied().unwrap_or(NONE);
                if input == NONE || !expander.is_legal(role, input as usize - first) {
                    return false;
                }
                inputs.push(input);
                first += shared.ids[role].len();
            }
        }
        expander.expand(inputs, wanted, &shared.ids, children);
        true
    }

    /// What plays side by side from these states; `None` if nothing does.
    fn lock_step_for(&mut self, starts: &[State], moves: PlayoutMoves) -> Option<&mut LockStep> {
        self.keep_up();
        let n_words = self.shared.network.n_state_words();
        let Self { shared, backend, lock_step, decisive_lock_step, .. } = self;
        let decisive = match moves {
            PlayoutMoves::Legal => None,
            PlayoutMoves::Decisive => shared.backends.decisive_program(),
        };
        let (program, lock_step) = match decisive {
            Some(program) => (program, decisive_lock_step),
            None => (backend.lock_step_program()?, lock_step),
        };
        if starts.iter().any(|start| start.words.len() != n_words) {
            return None;
        }
        if !lock_step.as_ref().is_some_and(|lock_step| lock_step.runs(program)) {
            *lock_step = Some(LockStep::new(program));
        }
        lock_step.as_mut()
    }

    /// The prover for everything that the network does not cover.
    fn prover(&mut self) -> &mut Prover {
        let Self { prover, shared, cancel, .. } = self;
        prover.get_or_insert_with(|| {
            let shared = shared.prover.lock().unwrap_or_else(PoisonError::into_inner);
            let mut prover = shared.clone();
            prover.set_cancel(cancel.clone());
            prover
        })
    }

    /// The ids of the facts of any state. Facts that are not in the network follow it, by
    /// the prover's ids.
    fn fact_ids(&mut self, state: &State) -> BTreeSet<FactId> {
        let mut ids = Vec::new();
        if state.words.len() <= self.shared.network.n_state_words() {
            for (at, &word) in state.words.iter().enumerate() {
                push_bits(at, word, &mut ids);
            }
            return ids.into_iter().collect();
        }
        let words =
            self.shared.prover_words(state).expect("the state is longer than the network's");
        let state = State { words: words.to_vec() };
        let n_facts = self.shared.network.n_facts() as u32;
        self.prover().changed_facts(&State::default(), &state, &mut ids, &mut Vec::new());
        let ours = |id: FactId| {
            let fact = self.prover().fact(id);
            self.shared.fact_id(&fact).unwrap_or(FactId(id.0 + n_facts))
        };
        ids.into_iter().map(ours).collect()
    }

    /// The state in the prover's encoding.
    fn proven(&mut self, state: &State) -> State {
        if let Some(words) = self.shared.prover_words(state) {
            return State { words: words.to_vec() };
        }
        let facts = self.facts(state);
        self.prover().state_of(&facts).expect("the facts of the network are of the game")
    }

    fn proven_moves(&mut self, joint_move: &[MoveId]) -> Vec<MoveId> {
        let n_moves = self.shared.moves.len();
        let id = |id: &MoveId| match self.shared.moves.get(id.0 as usize) {
            Some(expression) => {
                let expression = expression.clone();
                self.prover().find_move(&expression).expect("moves of the network are of the game")
            }
            None => MoveId(id.0 - n_moves as u32),
        };
        joint_move.iter().map(id).collect()
    }
}

/// What computes the successors of a state, with the state loaded; `moves` are then its legal moves.
/// `None` if the network does not cover the successors, or they are too many.
fn load_successors<'a>(
    shared: &Shared,
    backend: &Backend,
    evaluator: &'a mut PositionEvaluator,
    state: &State,
    moves: &mut RoleInputs,
) -> Option<&'a mut dyn Expander> {
    let most = backend.successor_range().map_or(0, |range| range.most);
    if state.words.len() != shared.network.n_state_words() {
        return None;
    }
    let expander = evaluator.successor_expander(backend, &state.words);
    let legal = expander.load_with_moves(&state.words)?;
    moves.clear();
    for (&first, legal) in shared.first_inputs.iter().zip(legal) {
        moves.push_role(first, legal);
    }
    let n = moves.n_joint_moves();
    (n > 0 && n <= most).then_some(expander)
}

#[inline]
fn has_bit(words: &[u64], bit: usize) -> bool {
    words[bit / WORD] >> (bit % WORD) & 1 == 1
}

/// Adds the moves whose bits are set.
#[inline]
fn push_moves(legal: &[u64], ids: &[MoveId], moves: &mut Vec<MoveId>) {
    for (at, &word) in legal.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            moves.push(ids[at * WORD + left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }
}

/// Adds the facts of one word of a state.
fn push_bits(at: usize, mut word: u64, ids: &mut Vec<FactId>) {
    while word != 0 {
        ids.push(FactId((at * WORD) as u32 + word.trailing_zeros()));
        word &= word - 1;
    }
}

impl StateMachine for NetworkMachine {
    fn game(&self) -> &Arc<Game> {
        &self.shared.network.game
    }

    fn reasoner(&self) -> &'static str {
        "network"
    }

    fn network(&self) -> Option<&Arc<Network>> {
        Some(&self.shared.network)
    }

    fn statistics(&self) -> Vec<Statistic> {
        self.backend.statistics()
    }

    fn fork(&self) -> Box<dyn StateMachine> {
        Box::new(Self::over(Arc::clone(&self.shared)))
    }

    fn cursor(&self, state: &State) -> Box<dyn Cursor> {
        Box::new(NetworkCursor::new(&self.shared, &self.cancel, state))
    }

    fn set_cancel(&mut self, cancel: Cancel) {
        if let Some(prover) = &mut self.prover {
            prover.set_cancel(cancel.clone());
        }
        self.cancel = cancel;
    }

    fn initial_state(&mut self) -> Result<State, ReasoningError> {
        Ok(self.shared.initial.clone())
    }

    fn is_terminal(&mut self, state: &State) -> Result<bool, ReasoningError> {
        if self.load(state) {
            return Ok(self.evaluator.single().is_terminal());
        }
        let state = self.proven(state);
        self.prover().is_terminal(&state)
    }

    fn legal_moves(
        &mut self,
        state: &State,
        role: RoleId,
        moves: &mut Vec<MoveId>,
    ) -> Result<(), ReasoningError> {
        moves.clear();
        if self.load(state) {
            let role = usize::from(role.0);
            push_moves(self.evaluator.single().legal(role), &self.shared.ids[role], moves);
            return Ok(());
        }
        let state = self.proven(state);
        self.prover().legal_moves(&state, role, moves)?;
        let n_moves = self.shared.moves.len() as u32;
        for id in moves {
            let expression = self.prover().move_expression(*id);
            let known = self.shared.find_move.get(&expression);
            *id = MoveId(known.copied().unwrap_or(id.0 + n_moves));
        }
        Ok(())
    }

    fn all_legal_moves(
        &mut self,
        state: &State,
        moves: &mut [Vec<MoveId>],
        before_successors: bool,
    ) -> Result<bool, ReasoningError> {
        if state.words.len() != self.shared.network.n_state_words() {
            return all_legal_moves_role_by_role(self, state, moves);
        }
        self.keep_up();
        let Self { shared, backend, evaluator, .. } = self;
        let with_ids = shared.ids.iter().zip(moves);
        if before_successors && backend.successor_range().is_some() {
            let expander = evaluator.successor_expander(backend, &state.words);
            let Some(legal) = expander.load_with_moves(&state.words) else { return Ok(false) };
            for ((ids, moves), legal) in with_ids.zip(legal) {
                moves.clear();
                push_moves(legal, ids, moves);
            }
            return Ok(true);
        }
        let evaluator = evaluator.single();
        evaluator.load(&state.words);
        if evaluator.is_terminal() {
            return Ok(false);
        }
        for (role, (ids, moves)) in with_ids.enumerate() {
            moves.clear();
            push_moves(evaluator.legal(role), ids, moves);
        }
        Ok(true)
    }

    fn next_state(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        next: &mut State,
    ) -> Result<(), ReasoningError> {
        if self.load(state) && self.load_moves(joint_move) {
            next.words.clear();
            next.words.extend_from_slice(self.evaluator.single().next());
            return Ok(());
        }
        let state = self.proven(state);
        let joint_move = self.proven_moves(joint_move);
        let mut proven = State::default();
        self.prover().next_state(&state, &joint_move, &mut proven)?;
        *next = self.shared.mark(&proven);
        Ok(())
    }

    fn expansion_range(&self) -> Option<ExpansionRange> {
        self.backend.expansion_range()
    }

    fn prepare(&self) {
        self.shared.backends.prepare();
    }

    fn spare_work(&self) -> Option<SpareWork> {
        let shared = Arc::clone(&self.shared);
        let work = move |cancel: &Cancel| shared.backends.improve(cancel);
        self.shared.backends.may_improve().then(|| Box::new(work) as SpareWork)
    }

    fn expand(
        &mut self,
        state: &State,
        joint_moves: &[MoveId],
        wanted: Wanted,
        children: &mut Children,
    ) -> Result<(), ReasoningError> {
        let most = self.backend.expansion_range().map_or(0, |range| range.most);
        if joint_moves.len() > most * self.shared.ids.len()
            || !self.expand_at_once(state, joint_moves, wanted, children)
        {
            return expand_one_by_one(self, state, joint_moves, wanted, children);
        }
        Ok(())
    }

    fn successor_range(&self) -> Option<ExpansionRange> {
        self.backend.successor_range()
    }

    fn successors(
        &mut self,
        state: &State,
        successors: &mut Successors,
    ) -> Result<(), ReasoningError> {
        self.keep_up();
        let key = self.key(state);
        let Self { shared, backend, evaluator, role_inputs: moves, .. } = self;
        match load_successors(shared, backend, evaluator, state, moves) {
            Some(expander) => expander.successors(moves, key, shared.keys(), successors),
            None => successors_one_by_one(self, state, successors)?,
        }
        Ok(())
    }

    fn outcomes(
        &mut self,
        state: &State,
        role: RoleId,
        outcomes: &mut Vec<ChildOutcome>,
    ) -> Result<(), ReasoningError> {
        self.keep_up();
        let Self { shared, backend, evaluator, role_inputs: moves, .. } = self;
        match load_successors(shared, backend, evaluator, state, moves) {
            Some(expander) => expander.outcomes(moves, usize::from(role.0), outcomes),
            None => outcomes_one_by_one(self, state, role, outcomes)?,
        }
        Ok(())
    }

    fn playouts(
        &mut self,
        starts: &[State],
        max_length: u32,
        seed: u64,
        go_on: &mut dyn FnMut(u64) -> bool,
        playouts: &mut PlayoutEnds,
    ) -> Result<(), ReasoningError> {
        self.keep_up();
        let n_words = self.shared.network.n_state_words();
        match self.backend.lock_step_program() {
            Some(program) if starts.iter().all(|start| start.words.len() == n_words) => {
                lock_step::playouts_in_lock_step(
                    program, starts, max_length, seed, go_on, playouts,
                );
                Ok(())
            }
            _ => playouts_one_by_one(self, starts, max_length, seed, go_on, playouts),
        }
    }

    fn playout_width(&self) -> usize {
        if self.backend.lock_step_program().is_some() { lock_step::WIDTH } else { 1 }
    }

    fn playout_sums(
        &mut self,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        go_on: &mut dyn FnMut(u64) -> bool,
        sums: &mut PlayoutSums,
    ) -> Result<(), ReasoningError> {
        match self.lock_step_for(starts, plan.moves) {
            Some(lock_step) => lock_step.sums(starts, plan, go_on, sums),
            None => playout_sums_one_by_one(self, starts, plan, go_on, sums)?,
        }
        Ok(())
    }

    fn playout_line(
        &mut self,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        playout: usize,
    ) -> Result<PlayoutLine, ReasoningError> {
        let Some(lock_step) = self.lock_step_for(starts, plan.moves) else {
            return playout_line_one_by_one(self, starts, plan, playout);
        };
        let indices = lock_step.line(starts, plan, playout);
        let ids = &self.shared.ids;
        Ok(indices.iter().enumerate().map(|(at, &index)| ids[at % ids.len()][index]).collect())
    }

    fn percepts(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        role: RoleId,
    ) -> Result<Vec<Expression>, ReasoningError> {
        if self.load(state) && self.load_moves(joint_move) {
            let Self { backend, evaluator, percepts, .. } = self;
            let evaluator = evaluator.single();
            backend.percepts().evaluate(|input| evaluator.input(input), percepts);
            let role = usize::from(role.0);
            let roles = &backend.network().roles;
            let first: usize = roles[..role].iter().map(|role| role.percepts.len()).sum();
            let seen = roles[role].percepts.iter().enumerate();
            let seen = seen.filter(|&(at, _)| backend.percepts().output(percepts, first + at));
            return Ok(seen.map(|(_, (percept, _))| percept.clone()).collect());
        }
        let state = self.proven(state);
        let joint_move = self.proven_moves(joint_move);
        self.prover().percepts(&state, &joint_move, role)
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<GoalReading, ReasoningError> {
        if !self.load(state) {
            let state = self.proven(state);
            return self.prover().goal(&state, role);
        }
        let role = usize::from(role.0);
        let mut reading = GoalReading::default();
        for (at, (value, _)) in self.shared.network.roles[role].goals.iter().enumerate() {
            if self.evaluator.single().goal(role, at) {
                value.read_into(&mut reading);
            }
        }
        Ok(reading)
    }

    fn facts(&self, state: &State) -> Vec<Expression> {
        if let Some(words) = self.shared.prover_words(state) {
            let state = State { words: words.to_vec() };
            let shared = self.shared.prover.lock().unwrap_or_else(PoisonError::into_inner);
            return self.prover.as_ref().unwrap_or(&shared).facts(&state);
        }
        let facts = self.shared.network.facts.iter().enumerate();
        let holds = |at: usize| state.words[at / WORD] >> (at % WORD) & 1 == 1;
        facts.filter(|&(at, _)| holds(at)).map(|(_, fact)| fact.clone()).collect()
    }

    fn changed_facts(
        &mut self,
        from: &State,
        to: &State,
        gained: &mut Vec<FactId>,
        lost: &mut Vec<FactId>,
    ) {
        let n_words = self.shared.network.n_state_words();
        let is_ours = |state: &State| state.words.len() == n_words || state.words.is_empty();
        if !is_ours(from) || !is_ours(to) {
            let (before, after) = (self.fact_ids(from), self.fact_ids(to));
            gained.extend(after.difference(&before).copied());
            lost.extend(before.difference(&after).copied());
            return;
        }
        let word = |state: &State, at: usize| state.words.get(at).copied().unwrap_or(0);
        for at in 0..n_words {
            let (before, after) = (word(from, at), word(to, at));
            push_bits(at, after & !before, gained);
            push_bits(at, before & !after, lost);
        }
    }

    fn fact(&self, id: FactId) -> Expression {
        let facts = &self.shared.network.facts;
        if let Some(fact) = facts.get(id.0 as usize) {
            return fact.clone();
        }
        let id = FactId(id.0 - facts.len() as u32);
        let shared = self.shared.prover.lock().unwrap_or_else(PoisonError::into_inner);
        self.prover.as_ref().unwrap_or(&shared).fact(id)
    }

    fn key(&mut self, state: &State) -> StateKey {
        if state.words.len() != self.shared.network.n_state_words() {
            return StateKey::of_facts(&self.facts(state));
        }
        let Self { shared, keyed, .. } = self;
        let facts = shared.keys();
        for (at, (from, &to)) in keyed.0.iter_mut().zip(&state.words).enumerate() {
            let mut changed = *from ^ to;
            *from = to;
            while changed != 0 {
                keyed.1.toggle(facts[at * WORD + changed.trailing_zeros() as usize]);
                changed &= changed - 1;
            }
        }
        keyed.1
    }

    fn state_of(&mut self, facts: &[Expression]) -> Option<State> {
        let proven = self.prover().state_of(facts)?;
        let initial = self.shared.initial.clone();
        // Only of the initial state it is known that play reaches it.
        let is_initial = self.proven(&initial) == proven;
        Some(if is_initial { initial } else { self.shared.mark(&proven) })
    }

    fn move_expression(&self, id: MoveId) -> Expression {
        if let Some(expression) = self.shared.moves.get(id.0 as usize) {
            return expression.clone();
        }
        let id = MoveId(id.0 - self.shared.moves.len() as u32);
        let shared = self.shared.prover.lock().unwrap_or_else(PoisonError::into_inner);
        self.prover.as_ref().unwrap_or(&shared).move_expression(id)
    }

    fn find_move(&mut self, expression: &Expression) -> Option<MoveId> {
        let expression = self.shared.normal(expression)?;
        if let Some(&id) = self.shared.find_move.get(&expression) {
            return Some(MoveId(id));
        }
        let n_moves = self.shared.moves.len() as u32;
        self.prover().find_move(&expression).map(|id| MoveId(id.0 + n_moves))
    }
}
