//! The network as a state machine: one position at a time.
//!
//! A state is a bit for each fact of the network. The network is right about
//! states that legal play reaches, and says nothing about others. Those, put
//! together from facts or reached by illegal moves, are answered by a prover; such
//! a state is the prover's, behind a mark, and so are all that follow from it.

mod cone;
mod differential;
mod engine;
mod engines;
mod lock_step;
mod positions;
mod propagation;
mod split;
mod tables;
mod turns;

use std::sync::{Arc, PoisonError};

use smallvec::SmallVec;

pub use engine::Evaluation;

use self::cone::ConeValues;
use self::engine::Engine;
use self::tables::{NONE, Tables};
use crate::children::{Children, ExpansionRange, Wanted};
use crate::network::{Evaluator, Network};
use crate::playouts::PlayoutEnds;
use crate::single_pass::Expander;
use crate::state::{GoalReading, MoveId, RoleId, State};
use crate::state_machine::{
    Cancel, ReasoningError, SpareWork, StateMachine, Statistic, expand_one_by_one,
    playouts_one_by_one,
};
use crate::{Expression, Game, Prover, StateKey};

/// Bits of a word.
const WORD: usize = 64;

/// A reasoner that computes a network, one position at a time.
#[derive(Debug)]
pub struct NetworkMachine {
    tables: Arc<Tables>,
    engine: Arc<Engine>,
    evaluator: Box<dyn Evaluator>,
    /// Made when children are asked for.
    expander: Option<Box<dyn Expander>>,
    /// Of the joint moves to children.
    inputs: Vec<u32>,
    percepts: ConeValues,
    /// The state whose key was asked for last, and the key.
    keyed: (Vec<u64>, StateKey),
    prover: Option<Prover>,
    cancel: Cancel,
}

impl NetworkMachine {
    /// A machine that computes with `network`, and asks `prover`, which is to
    /// be of the same game, what the network does not know.
    #[must_use]
    pub fn new(network: Arc<Network>, prover: Prover) -> Self {
        Self::over(Arc::new(Tables::new(network, prover, None)))
    }

    /// The same, computing positions in this way.
    #[must_use]
    pub fn with_evaluation(network: Arc<Network>, prover: Prover, evaluation: Evaluation) -> Self {
        Self::over(Arc::new(Tables::new(network, prover, Some(evaluation))))
    }

    /// How positions are computed.
    #[must_use]
    pub fn evaluation(&self) -> Evaluation {
        self.engine.evaluation()
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Arc<Network> {
        &self.tables.network
    }

    fn over(tables: Arc<Tables>) -> Self {
        let engine = Arc::clone(tables.engines.current());
        Self {
            evaluator: engine.evaluator(),
            engine,
            expander: None,
            inputs: Vec::new(),
            keyed: (vec![0; tables.network.n_state_words()], StateKey::default()),
            percepts: ConeValues::default(),
            prover: None,
            cancel: Cancel::new(),
            tables,
        }
    }

    /// Makes `state` the position; `false` if it is the prover's.
    fn load(&mut self, state: &State) -> bool {
        let n_facts = self.tables.network.n_facts();
        if state.words.len() != n_facts.div_ceil(WORD) {
            return false;
        }
        self.keep_up();
        self.evaluator.load(&state.words);
        true
    }

    /// Takes a faster engine if there is one by now. States and moves are the same.
    #[inline]
    fn keep_up(&mut self) {
        if !Arc::ptr_eq(&self.engine, self.tables.engines.current()) {
            self.engine = Arc::clone(self.tables.engines.current());
            self.evaluator = self.engine.evaluator();
            self.expander = None;
        }
    }

    /// Makes the moves those of the position; `false` if they are not legal in
    /// it, or it is terminal: then the network need not be right.
    fn load_moves(&mut self, joint_move: &[MoveId]) -> bool {
        let tables = &self.tables;
        assert_eq!(joint_move.len(), tables.inputs.len(), "one move per role");
        if self.evaluator.is_terminal() {
            return false;
        }
        let mut inputs: SmallVec<[u32; 4]> = SmallVec::new();
        let mut first = tables.network.n_facts();
        for (role, id) in joint_move.iter().enumerate() {
            let input = tables.inputs[role].get(id.0 as usize).copied().unwrap_or(NONE);
            let is_legal = |input: u32| self.evaluator.is_legal(role, input as usize - first);
            if input == NONE || !is_legal(input) {
                return false;
            }
            inputs.push(input);
            first += tables.ids[role].len();
        }
        self.evaluator.make(&inputs);
        true
    }

    /// Computes children together; `false` if the network does not know them all.
    fn expand_at_once(
        &mut self,
        state: &State,
        joint_moves: &[MoveId],
        wanted: Wanted,
        children: &mut Children,
    ) -> bool {
        self.keep_up();
        let Self { tables, engine, expander, inputs, .. } = self;
        let expander = expander.get_or_insert_with(|| engine.expander());
        if state.words.len() != tables.network.n_state_words() || !expander.load(&state.words) {
            return false;
        }
        let n_roles = tables.ids.len();
        assert!(joint_moves.len().is_multiple_of(n_roles), "one move per role");
        inputs.clear();
        for joint_move in joint_moves.chunks(n_roles) {
            let mut first = tables.network.n_facts();
            for (role, id) in joint_move.iter().enumerate() {
                let input = tables.inputs[role].get(id.0 as usize).copied().unwrap_or(NONE);
                if input == NONE || !expander.is_legal(role, input as usize - first) {
                    return false;
                }
                inputs.push(input);
                first += tables.ids[role].len();
            }
        }
        expander.expand(inputs, wanted, &tables.ids, children);
        true
    }

    /// A prover for what the network does not know.
    fn prover(&mut self) -> &mut Prover {
        let Self { prover, tables, cancel, .. } = self;
        prover.get_or_insert_with(|| {
            let shared = tables.prover.lock().unwrap_or_else(PoisonError::into_inner);
            let mut prover = shared.clone();
            prover.set_cancel(cancel.clone());
            prover
        })
    }

    /// The state as the prover has it.
    fn proven(&mut self, state: &State) -> State {
        if let Some(words) = self.tables.beyond(state) {
            return State { words: words.to_vec() };
        }
        let facts = self.facts(state);
        self.prover().state_of(&facts).expect("the facts of the network are of the game")
    }

    fn proven_moves(&mut self, joint_move: &[MoveId]) -> Vec<MoveId> {
        let n_moves = self.tables.moves.len();
        let id = |id: &MoveId| match self.tables.moves.get(id.0 as usize) {
            Some(expression) => {
                let expression = expression.clone();
                self.prover().find_move(&expression).expect("moves of the network are of the game")
            }
            None => MoveId(id.0 - n_moves as u32),
        };
        joint_move.iter().map(id).collect()
    }
}

impl StateMachine for NetworkMachine {
    fn game(&self) -> &Arc<Game> {
        &self.tables.network.game
    }

    fn reasoner(&self) -> &'static str {
        "network"
    }

    fn statistics(&self) -> Vec<Statistic> {
        self.engine.statistics()
    }

    fn fork(&self) -> Box<dyn StateMachine> {
        Box::new(Self::over(Arc::clone(&self.tables)))
    }

    fn set_cancel(&mut self, cancel: Cancel) {
        if let Some(prover) = &mut self.prover {
            prover.set_cancel(cancel.clone());
        }
        self.cancel = cancel;
    }

    fn initial_state(&mut self) -> Result<State, ReasoningError> {
        Ok(self.tables.initial.clone())
    }

    fn is_terminal(&mut self, state: &State) -> Result<bool, ReasoningError> {
        if self.load(state) {
            return Ok(self.evaluator.is_terminal());
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
            let tables = &self.tables;
            let role = usize::from(role.0);
            let ids = &tables.ids[role];
            for (at, &word) in self.evaluator.legal(role).iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    moves.push(ids[at * WORD + left.trailing_zeros() as usize]);
                    left &= left - 1;
                }
            }
            return Ok(());
        }
        let state = self.proven(state);
        self.prover().legal_moves(&state, role, moves)?;
        let n_moves = self.tables.moves.len() as u32;
        for id in moves {
            let expression = self.prover().move_expression(*id);
            let known = self.tables.find_move.get(&expression);
            *id = MoveId(known.copied().unwrap_or(id.0 + n_moves));
        }
        Ok(())
    }

    fn next_state(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        next: &mut State,
    ) -> Result<(), ReasoningError> {
        if self.load(state) && self.load_moves(joint_move) {
            next.words.clear();
            next.words.extend_from_slice(self.evaluator.next());
            return Ok(());
        }
        let state = self.proven(state);
        let joint_move = self.proven_moves(joint_move);
        let mut proven = State::default();
        self.prover().next_state(&state, &joint_move, &mut proven)?;
        *next = self.tables.mark(&proven);
        Ok(())
    }

    fn expansion_range(&self) -> Option<ExpansionRange> {
        self.engine.expansion_range()
    }

    fn spare_work(&self) -> Option<SpareWork> {
        let tables = Arc::clone(&self.tables);
        let work = move |cancel: &Cancel| tables.engines.improve(cancel);
        self.tables.engines.may_improve().then(|| Box::new(work) as SpareWork)
    }

    fn expand(
        &mut self,
        state: &State,
        joint_moves: &[MoveId],
        wanted: Wanted,
        children: &mut Children,
    ) -> Result<(), ReasoningError> {
        let most = self.engine.expansion_range().map_or(0, |together| together.most);
        if joint_moves.len() > most * self.tables.ids.len()
            || !self.expand_at_once(state, joint_moves, wanted, children)
        {
            return expand_one_by_one(self, state, joint_moves, wanted, children);
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
        let n_words = self.tables.network.n_state_words();
        match self.engine.lock_step_program() {
            Some(program) if starts.iter().all(|start| start.words.len() == n_words) => {
                lock_step::playouts_in_lock_step(
                    program, starts, max_length, seed, go_on, playouts,
                );
                Ok(())
            }
            _ => playouts_one_by_one(self, starts, max_length, seed, go_on, playouts),
        }
    }

    fn percepts(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        role: RoleId,
    ) -> Result<Vec<Expression>, ReasoningError> {
        if self.load(state) && self.load_moves(joint_move) {
            let Self { engine, evaluator, percepts, .. } = self;
            engine.percepts().evaluate(|input| evaluator.input(input), percepts);
            let role = usize::from(role.0);
            let roles = &engine.network().roles;
            let first: usize = roles[..role].iter().map(|role| role.percepts.len()).sum();
            let seen = roles[role].percepts.iter().enumerate();
            let seen = seen.filter(|&(at, _)| engine.percepts().output(percepts, first + at));
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
        for (at, (value, _)) in self.tables.network.roles[role].goals.iter().enumerate() {
            if self.evaluator.goal(role, at) {
                value.read_into(&mut reading);
            }
        }
        Ok(reading)
    }

    fn facts(&self, state: &State) -> Vec<Expression> {
        if let Some(words) = self.tables.beyond(state) {
            let state = State { words: words.to_vec() };
            let shared = self.tables.prover.lock().unwrap_or_else(PoisonError::into_inner);
            return self.prover.as_ref().unwrap_or(&shared).facts(&state);
        }
        let facts = self.tables.network.facts.iter().enumerate();
        let holds = |at: usize| state.words[at / WORD] >> (at % WORD) & 1 == 1;
        facts.filter(|&(at, _)| holds(at)).map(|(_, fact)| fact.clone()).collect()
    }

    fn key(&mut self, state: &State) -> StateKey {
        if state.words.len() != self.tables.network.n_state_words() {
            return StateKey::of_facts(&self.facts(state));
        }
        let Self { tables, keyed, .. } = self;
        let facts = tables.keys();
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
        let initial = self.tables.initial.clone();
        // Whether play reaches it nobody knows, but for the one it begins with.
        let is_initial = self.proven(&initial) == proven;
        Some(if is_initial { initial } else { self.tables.mark(&proven) })
    }

    fn move_expression(&self, id: MoveId) -> Expression {
        if let Some(expression) = self.tables.moves.get(id.0 as usize) {
            return expression.clone();
        }
        let id = MoveId(id.0 - self.tables.moves.len() as u32);
        let shared = self.tables.prover.lock().unwrap_or_else(PoisonError::into_inner);
        self.prover.as_ref().unwrap_or(&shared).move_expression(id)
    }

    fn find_move(&mut self, expression: &Expression) -> Option<MoveId> {
        let expression = self.tables.normal(expression)?;
        if let Some(&id) = self.tables.find_move.get(&expression) {
            return Some(MoveId(id));
        }
        let n_moves = self.tables.moves.len() as u32;
        self.prover().find_move(&expression).map(|id| MoveId(id.0 + n_moves))
    }
}
