//! The network as a state machine: one position at a time.
//!
//! A state is a bit for each fact of the network. The network is right about
//! states that legal play reaches, and says nothing about others. Those, put
//! together from facts or reached by illegal moves, are answered by a prover; such
//! a state is the prover's, behind a mark, and so are all that follow from it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::cone::{Cone, ConeValues};
use super::differential::{Circuit, Differential};
use super::evaluator::Evaluator;
use super::{GoalValue, Lit, Network};
use crate::batch::{self, Expander, Program};
use crate::children::{self, Children, Together, Wanted};
use crate::state_machine::{
    Cancel, GoalReading, MoveId, ReasoningError, RoleId, State, StateMachine, Statistic,
    StatisticValue::{self, Count},
};
use crate::{Expression, Game, Prover, StateKey};

/// Bits of a word.
const WORD: usize = 64;

/// How the gates of one position are computed. The answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// What differs from an earlier position is propagated.
    Differential,
    /// All gates are computed, by straight-line code.
    Pass,
}

impl Evaluation {
    /// What is expected to be faster. It rests on counts of gates and of what
    /// changes in random play, and not on a clock.
    fn choose(circuit: &Circuit, network: &Network) -> Self {
        let pass = batch::price(circuit.n_gates(), network.n_facts(), network.n_moves());
        if pass < circuit.price() { Evaluation::Pass } else { Evaluation::Differential }
    }

    fn name(self) -> &'static str {
        match self {
            Evaluation::Differential => "differential",
            Evaluation::Pass => "pass",
        }
    }
}

/// A reasoner that computes a network, one position at a time.
#[derive(Debug)]
pub struct NetworkMachine {
    tables: Arc<Tables>,
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

/// What all forks share.
#[derive(Debug)]
struct Tables {
    network: Arc<Network>,
    circuit: Arc<Circuit>,
    evaluation: Evaluation,
    /// Compiled when it is needed.
    program: OnceLock<Arc<Program>>,
    together: Option<Together>,
    percepts: Cone,
    initial: State,
    /// By fact: its key; made when keys are asked for.
    keys: OnceLock<Vec<StateKey>>,
    /// The moves of all roles, each once.
    moves: Vec<Expression>,
    /// By role and index of the role's move, its id.
    ids: Vec<Vec<MoveId>>,
    /// By role and id, the input; `NONE` if the role never has the move.
    inputs: Vec<Vec<u32>>,
    find_move: FxHashMap<Expression, u32>,
    prover: Mutex<Prover>,
}

const NONE: u32 = u32::MAX;

/// Children are computed together where the network has no more gates of two
/// operands. To compile more takes longer than a player may have time for.
const MAX_EXPANDED: usize = 20_000;

/// When children are computed together: not if the network is too large for the
/// code to be compiled when it is first needed.
fn together(circuit: &Circuit, network: &Network, evaluation: Evaluation) -> Option<Together> {
    let pass = batch::price(circuit.n_gates(), network.n_facts(), network.n_moves());
    let one = match evaluation {
        Evaluation::Pass => pass,
        Evaluation::Differential => circuit.price(),
    };
    // Two passes, and what it takes to lay out children side by side.
    let least = (2 * pass + 8_000).div_ceil(one) as usize;
    let most = batch::expansion_width();
    (circuit.n_gates() <= MAX_EXPANDED).then_some(Together { least, most })
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
        self.tables.evaluation
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Arc<Network> {
        &self.tables.network
    }

    fn over(tables: Arc<Tables>) -> Self {
        Self {
            evaluator: tables.evaluator(),
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
        self.evaluator.load(&state.words);
        true
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
        let Self { tables, expander, inputs, .. } = self;
        let expander = expander.get_or_insert_with(|| batch::expander(tables.program()));
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

impl Tables {
    fn new(network: Arc<Network>, prover: Prover, evaluation: Option<Evaluation>) -> Self {
        let percepts =
            network.roles.iter().flat_map(|role| role.percepts.iter().map(|seen| seen.1));
        let percepts: Vec<Lit> = percepts.collect();

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
        let circuit = Circuit::new(&network);
        let evaluation = evaluation.unwrap_or_else(|| Evaluation::choose(&circuit, &network));
        Self {
            together: together(&circuit, &network, evaluation),
            circuit: Arc::new(circuit),
            evaluation,
            program: OnceLock::new(),
            percepts: Cone::new(&network.graph, &percepts),
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
    fn keys(&self) -> &[StateKey] {
        self.keys.get_or_init(|| self.network.facts.iter().map(StateKey::of_fact).collect())
    }

    fn program(&self) -> &Arc<Program> {
        self.program.get_or_init(|| Arc::new(Program::new(Arc::clone(&self.network))))
    }

    fn evaluator(&self) -> Box<dyn Evaluator> {
        match self.evaluation {
            Evaluation::Pass => batch::sheet(self.program()),
            Evaluation::Differential => Box::new(Differential::new(&self.circuit)),
        }
    }

    /// The words of the prover's state, if it is one.
    fn beyond<'s>(&self, state: &'s State) -> Option<&'s [u64]> {
        let n_words = self.network.n_state_words();
        (state.words.len() != n_words).then(|| &state.words[n_words + 1..])
    }

    /// A state of the prover as one of ours: longer than any of the network's.
    fn mark(&self, state: &State) -> State {
        let mut words = vec![0; self.network.n_state_words() + 1];
        words.extend_from_slice(&state.words);
        State { words }
    }

    /// The expression as the network has it: names in the game's spelling, and
    /// `p` for `(p)`.
    fn normal(&self, expression: &Expression) -> Option<Expression> {
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

    fn role(&self, role: RoleId) -> usize {
        usize::from(role.0)
    }
}

impl StateMachine for NetworkMachine {
    fn game(&self) -> &Arc<Game> {
        &self.tables.network.game
    }

    fn reasoner(&self) -> &'static str {
        "network"
    }

    /// Gates have any number of inputs; the conjunctions of the network, two.
    fn statistics(&self) -> Vec<Statistic> {
        let Tables { network, circuit, percepts, .. } = &*self.tables;
        let count = |name, value: usize| Statistic { name, value: Count(value as u64) };
        vec![
            count("facts", network.n_facts()),
            count("moves", network.n_moves()),
            count("conjunctions", network.graph.n_ands()),
            count("gates", circuit.wiring.n_real_gates()),
            count("gate_inputs", circuit.wiring.n_edges()),
            count("changes_per_step", circuit.work() as usize),
            count("goal_conjunctions", circuit.goals.n_ands()),
            count("percept_conjunctions", percepts.n_ands()),
            Statistic {
                name: "evaluation",
                value: StatisticValue::Names(vec![self.tables.evaluation.name().to_owned()]),
            },
        ]
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
            let role = tables.role(role);
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

    fn together(&self) -> Option<Together> {
        self.tables.together
    }

    fn expand(
        &mut self,
        state: &State,
        joint_moves: &[MoveId],
        wanted: Wanted,
        children: &mut Children,
    ) -> Result<(), ReasoningError> {
        let most = self.tables.together.map_or(0, |together| together.most);
        if joint_moves.len() > most * self.tables.ids.len()
            || !self.expand_at_once(state, joint_moves, wanted, children)
        {
            return children::one_by_one(self, state, joint_moves, wanted, children);
        }
        Ok(())
    }

    fn percepts(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        role: RoleId,
    ) -> Result<Vec<Expression>, ReasoningError> {
        if self.load(state) && self.load_moves(joint_move) {
            let Self { tables, evaluator, percepts, .. } = self;
            tables.percepts.evaluate(|input| evaluator.input(input), percepts);
            let role = tables.role(role);
            let roles = &tables.network.roles;
            let first: usize = roles[..role].iter().map(|role| role.percepts.len()).sum();
            let seen = roles[role].percepts.iter().enumerate();
            let seen = seen.filter(|&(at, _)| tables.percepts.output(percepts, first + at));
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
        let role = self.tables.role(role);
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

impl GoalValue {
    /// Adds what holds to a reading.
    pub(crate) fn read_into(self, reading: &mut GoalReading) {
        match self {
            Self::Integer(value) => reading.add(value),
            Self::Unreadable => reading.unreadable = true,
        }
    }
}
