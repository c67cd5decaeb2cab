//! The prover: evaluates the rules as written, for every rulesheet.
//!
//! The rules become clauses (`rules`) over relations. Static relations are evaluated
//! when the prover is made (`compile`). The others are evaluated when a question about a
//! state needs them, at most once for each state: as a whole and bottom-up (`evaluate`),
//! or for given arguments only (`evaluate/on_demand`), whichever takes fewer steps
//! (`tune`). Nothing is grounded, so no rulesheet is too large. The prover is the
//! reference for the faster reasoners.
//!
//! The meaning of rules is that of the GDL specification (Love, Hinrichs, Haley,
//! Schkufza and Genesereth 2008) with percepts as in GDL-II (Thielscher 2010).

mod calls;
mod clause_plan;
mod compile;
mod encoding;
mod evaluate;
mod halt;
mod order;
mod rule_program;
mod sizes;
mod tune;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::cursor::Cursor;
use crate::relational::rules::Phase;
use crate::relational::terms::{FactId, NONE, Store, TermId};
use crate::relational::translation::Translation;
use crate::relational::{table, terms};
use crate::state::{self, Goal, GoalReading, MoveId, RoleId, State};
use crate::state_machine::{
    Cancel, Guards, ReasoningError, StateCursor, StateMachine, Statistic,
    StatisticValue::{Bytes, Count, Names},
};
use crate::{Expression, Game, StateKey};
use clause_plan::Mode;
use compile::Blueprint;
use evaluate::RuleEvaluator;
use halt::Halt;
use order::Order;
use rule_program::RuleProgram;

/// The reasoner that works for every game.
#[derive(Clone, Debug)]
pub struct Prover {
    game: Arc<Game>,
    blueprint: Arc<Blueprint>,
    program: Arc<RuleProgram>,
    evaluator: RuleEvaluator,
    /// By functor, the table of its facts, or `NONE`.
    fact_tables: Arc<Vec<u32>>,
    /// The state in the tables; meaningful if `is_loaded`.
    state: State,
    is_loaded: bool,
    /// The moves in the tables; empty if there are none.
    joint_move: SmallVec<[MoveId; 4]>,
    /// The legal moves by role, if known.
    legal: Vec<Vec<MoveId>>,
    legal_known: bool,
    /// By fact: its key, once it was computed.
    keys: Vec<Option<StateKey>>,
    order: Order,
    facts: Vec<FactId>,
}

impl Prover {
    /// Compiles the rules of a game.
    ///
    /// # Errors
    /// If the static relations exceed the guards.
    pub fn new(game: Arc<Game>, guards: Guards) -> Result<Self, ReasoningError> {
        let translation = Translation::new(&game)?;
        Self::in_hurry(game, translation, guards, &Cancel::new(), &Cancel::new())
    }

    /// As [`new`](Prover::new), but tuning ends when `hurry` is raised; the answers are
    /// the same. Returns [`ReasoningError::Cancelled`] soon after `cancel` is raised.
    pub(crate) fn in_hurry(
        game: Arc<Game>,
        translation: Translation,
        guards: Guards,
        hurry: &Cancel,
        cancel: &Cancel,
    ) -> Result<Self, ReasoningError> {
        let Translation { rules, mut terms, roles } = translation;
        let mut blueprint = Blueprint::new(rules, &mut terms, roles, &guards, cancel)?;
        let limit = guards.max_steps;
        let planned = blueprint.program(limit.saturating_sub(blueprint.steps));
        let (program, steps) = planned.ok_or(ReasoningError::TooManySteps { limit })?;
        let mut evaluator = RuleEvaluator::new(&program, terms, guards);
        evaluator.work = blueprint.steps + steps;
        let mut fact_tables = Vec::new();
        for facts in &program.facts {
            let functor = facts.functor as usize;
            fact_tables.resize(fact_tables.len().max(functor + 1), NONE);
            fact_tables[functor] = facts.table;
        }
        let mut prover = Self {
            legal: vec![Vec::new(); game.roles().len()],
            game,
            blueprint: Arc::new(blueprint),
            program: Arc::new(program),
            evaluator,
            fact_tables: Arc::new(fact_tables),
            state: State::default(),
            is_loaded: false,
            joint_move: SmallVec::new(),
            legal_known: false,
            keys: Vec::new(),
            order: Order::default(),
            facts: Vec::new(),
        };
        prover.evaluator.set_cancel(hurry.clone());
        tune::tune(&mut prover);
        prover.evaluator.set_cancel(Cancel::new());
        prover.is_loaded = false;
        Ok(prover)
    }

    /// Switches to the program of a changed blueprint. If planning takes more than
    /// `max_steps`, nothing changes.
    fn adopt(&mut self, blueprint: &mut Blueprint, max_steps: u64) -> Result<u64, Halt> {
        let (program, steps) = blueprint.program(max_steps).ok_or(Halt::Budget)?;
        self.evaluator.renew(&program);
        self.program = Arc::new(program);
        self.blueprint = Arc::new(blueprint.clone());
        self.is_loaded = false;
        Ok(steps)
    }

    /// Answers a question; if evaluation fails, tries another way to evaluate.
    fn answer<T>(
        &mut self,
        mut question: impl FnMut(&mut Self) -> Result<T, Halt>,
    ) -> Result<T, ReasoningError> {
        for _ in 0..8 {
            self.evaluator.allow_question();
            let halt = match question(self) {
                Ok(answer) => return Ok(answer),
                Err(halt) => halt,
            };
            // Tables may be half full.
            self.is_loaded = false;
            let remedy = tune::remedy(self, &self.blueprint, &halt);
            self.evaluator.begin(&self.program, Phase::State);
            match (remedy, halt) {
                (Some((component, mode)), _) => {
                    let mut blueprint = (*self.blueprint).clone();
                    blueprint.set_mode(component, mode);
                    let limit = self.evaluator.max_steps();
                    if self.adopt(&mut blueprint, limit).is_err() {
                        return Err(self.evaluator.too_many_steps());
                    }
                }
                (None, Halt::Error(error)) => return Err(error),
                (None, Halt::Budget) => return Err(self.evaluator.too_many_steps()),
                (None, Halt::TooDeep(_)) => break,
            }
        }
        Err(ReasoningError::TooManyFacts { limit: self.evaluator.max_facts() })
    }

    /// Loads a state unless it is loaded already.
    fn load(&mut self, state: &State) {
        if self.is_loaded && self.state.words == state.words {
            return;
        }
        self.state.words.clone_from(&state.words);
        self.is_loaded = true;
        self.legal_known = false;
        self.joint_move.clear();
        let program = &*self.program;
        let n_statics = program.statics.len();
        let evaluator = &mut self.evaluator;
        evaluator.begin(program, Phase::State);
        for facts in &program.facts {
            evaluator.tables[facts.table as usize - n_statics].clear();
        }
        evaluator.tables[program.table_of[program.roots.does] as usize - n_statics].clear();
        let all_facts = program.all_facts.map(|table| table as usize - n_statics);
        if let Some(table) = all_facts {
            evaluator.tables[table].clear();
        }
        let n_known = evaluator.terms.n_facts();
        if encoding::largest(state).is_some_and(|fact| fact as usize >= n_known) {
            evaluator.terms.refresh();
        }
        encoding::each_fact(state, |fact| {
            let term = evaluator.terms.fact(fact);
            evaluator.load(program, term, &self.fact_tables);
            if let Some(table) = all_facts {
                evaluator.tables[table].push(&[term]);
            }
        });
    }

    fn load_moves(&mut self, joint_move: &[MoveId]) {
        let program = &*self.program;
        assert_eq!(joint_move.len(), program.roles.len(), "one move per role");
        if self.joint_move.as_slice() == joint_move {
            return;
        }
        self.joint_move = SmallVec::from_slice(joint_move);
        let evaluator = &mut self.evaluator;
        evaluator.begin(program, Phase::Action);
        let does = program.table_of[program.roots.does] as usize - program.statics.len();
        evaluator.tables[does].clear();
        for (&role, id) in program.roles.iter().zip(joint_move) {
            if id.0 as usize >= evaluator.terms.len() {
                evaluator.terms.refresh();
            }
            evaluator.tables[does].push(&[role, id.0]);
        }
    }

    /// Removes the moves: only `next` and `sees` depend on them.
    fn unload_moves(&mut self) {
        if self.joint_move.is_empty() {
            return;
        }
        self.joint_move.clear();
        let program = &*self.program;
        self.evaluator.begin(program, Phase::Action);
        let does = program.table_of[program.roots.does] as usize - program.statics.len();
        self.evaluator.tables[does].clear();
    }

    /// Evaluates a predicate and returns its table.
    fn evaluate(&mut self, predicate: usize) -> Result<u32, Halt> {
        let component = self.program.component_of[predicate];
        for &first in &self.program.prerequisites[component as usize] {
            self.evaluator.ensure(&self.program, first)?;
        }
        self.evaluator.ensure(&self.program, component)?;
        Ok(self.program.table_of[predicate])
    }

    /// Evaluates a predicate that must not see the moves.
    fn evaluate_without_moves(&mut self, predicate: usize) -> Result<u32, Halt> {
        if self.rests_on_moves(predicate) {
            self.unload_moves();
        }
        self.evaluate(predicate)
    }

    fn try_initial_state(&mut self) -> Result<State, Halt> {
        // Validation lets `init` rest neither on the state nor on moves.
        let table = self.evaluate(self.program.roots.init)?;
        let mut state = State::default();
        self.state_from(table, &mut state);
        Ok(state)
    }

    fn try_terminal(&mut self) -> Result<bool, Halt> {
        let table = self.evaluate_without_moves(self.program.roots.terminal)?;
        Ok(self.evaluator.table(&self.program, table).n_rows() > 0)
    }

    fn try_next(&mut self, next: &mut State) -> Result<(), Halt> {
        let table = self.evaluate(self.program.roots.next)?;
        self.state_from(table, next);
        Ok(())
    }

    /// The table of goals.
    fn try_goal(&mut self) -> Result<u32, Halt> {
        self.evaluate_without_moves(self.program.roots.goal)
    }

    fn try_legal(&mut self) -> Result<(), Halt> {
        if self.legal_known {
            return Ok(());
        }
        let id = self.evaluate_without_moves(self.program.roots.legal)?;
        let table = self.evaluator.table(&self.program, id);
        self.legal.iter_mut().for_each(Vec::clear);
        for row in 0..table.n_rows() {
            let &[role, id] = table.row(row) else { unreachable!("legal has two columns") };
            if let Some(at) = self.program.roles.iter().position(|&other| other == role) {
                self.legal[at].push(MoveId(id));
            }
        }
        for moves in &mut self.legal {
            self.order.sort(&self.evaluator.terms, moves, |id| id.0);
        }
        self.legal_known = true;
        Ok(())
    }

    /// Whether a predicate depends on the moves, against the rules of GDL.
    fn rests_on_moves(&self, predicate: usize) -> bool {
        let component = self.program.component_of[predicate] as usize;
        self.program.evaluations[component]
            .as_ref()
            .is_some_and(|evaluation| evaluation.phase == Phase::Action)
    }

    fn expression(&self, store: &Store, term: TermId) -> Expression {
        let name = Expression::atom(self.game.symbols().name(store.symbol(term)));
        let arguments = store.arguments(term);
        if arguments.is_empty() {
            return name;
        }
        let mut items = vec![name];
        items.extend(arguments.iter().map(|&argument| self.expression(store, argument)));
        Expression::List(items)
    }

    /// The term of an expression of known names.
    fn term(&mut self, expression: &Expression) -> Option<TermId> {
        let (name, arguments) = match expression {
            Expression::Atom(name) => (name, &[][..]),
            Expression::List(items) => match items.split_first()? {
                (Expression::Atom(name), arguments) => (name, arguments),
                _ => return None,
            },
        };
        if name.starts_with('?') {
            return None;
        }
        let symbol = self.game.symbols().find(name)?;
        let arguments: Option<SmallVec<[TermId; 8]>> =
            arguments.iter().map(|argument| self.term(argument)).collect();
        let arguments = arguments?;
        let functor = self.evaluator.terms.functor_id(symbol, arguments.len() as u32);
        Some(self.evaluator.terms.intern(functor, &arguments))
    }

    /// The terms in the rows of a predicate with one column, as a state.
    fn state_from(&mut self, table: u32, state: &mut State) {
        self.facts.clear();
        let n_rows = self.evaluator.table(&self.program, table).n_rows();
        for row in 0..n_rows {
            let term = self.evaluator.table(&self.program, table).value(row, 0);
            self.facts.push(self.evaluator.terms.fact_id(term));
        }
        encoding::encode(&mut self.facts, state);
    }
}

impl StateMachine for Prover {
    fn game(&self) -> &Arc<Game> {
        &self.game
    }

    fn reasoner(&self) -> &'static str {
        "prover"
    }

    /// Relations that depend on the rules alone are static; terms and facts are
    /// those met so far; some predicates are evaluated on demand only.
    fn statistics(&self) -> Vec<Statistic> {
        let Blueprint { rules, modes, .. } = &*self.blueprint;
        let (statics, terms) = (&self.program.statics, &self.evaluator.terms);
        let symbols = self.game.symbols();
        let on_demand = (0..rules.predicates.len())
            .filter(|&id| modes[id] != Mode::Full)
            .map(|id| rules.predicates[id].name)
            .filter(|name| (name.0 as usize) < symbols.len())
            .map(|name| symbols.name(name).to_owned());
        let tables = statics.iter().map(|table| &**table).chain(&self.evaluator.tables);
        let static_facts: u64 = statics.iter().map(|table| u64::from(table.n_rows())).sum();
        let bytes = terms.bytes() + tables.map(table::RelationTable::bytes).sum::<usize>();
        let count = |name, value: usize| Statistic { name, value: Count(value as u64) };
        vec![
            count("rules", rules.clauses.len()),
            count("relations", rules.predicates.len()),
            Statistic { name: "static_facts", value: Count(static_facts) },
            count("terms", terms.len()),
            count("state_facts", terms.n_facts()),
            Statistic { name: "on_demand", value: Names(on_demand.collect()) },
            Statistic { name: "memory", value: Bytes(bytes as u64) },
        ]
    }

    fn fork(&self) -> Box<dyn StateMachine> {
        let mut fork = self.clone();
        fork.set_cancel(Cancel::new());
        Box::new(fork)
    }

    fn cursor(&self, state: &State) -> Box<dyn Cursor> {
        Box::new(StateCursor::new(Box::new(self.clone()), state))
    }

    fn set_cancel(&mut self, cancel: Cancel) {
        self.evaluator.set_cancel(cancel);
    }

    fn initial_state(&mut self) -> Result<State, ReasoningError> {
        self.answer(Self::try_initial_state)
    }

    fn is_terminal(&mut self, state: &State) -> Result<bool, ReasoningError> {
        self.answer(|prover| {
            prover.load(state);
            prover.try_terminal()
        })
    }

    fn legal_moves(
        &mut self,
        state: &State,
        role: RoleId,
        moves: &mut Vec<MoveId>,
    ) -> Result<(), ReasoningError> {
        self.answer(|prover| {
            prover.load(state);
            prover.try_legal()
        })?;
        moves.clone_from(&self.legal[usize::from(role.0)]);
        Ok(())
    }

    fn next_state(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        next: &mut State,
    ) -> Result<(), ReasoningError> {
        self.answer(|prover| {
            prover.load(state);
            prover.load_moves(joint_move);
            prover.try_next(next)
        })
    }

    fn percepts(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        role: RoleId,
    ) -> Result<Vec<Expression>, ReasoningError> {
        let id = self.answer(|prover| {
            prover.load(state);
            prover.load_moves(joint_move);
            prover.evaluate(prover.program.roots.sees)
        })?;
        let role = self.program.roles[usize::from(role.0)];
        let table = self.evaluator.table(&self.program, id);
        let rows = (0..table.n_rows()).map(|row| table.row(row)).filter(|row| row[0] == role);
        let mut percepts: Vec<TermId> = rows.map(|row| row[1]).collect();
        let terms = &self.evaluator.terms;
        percepts.sort_unstable_by(|&left, &right| terms::compare(terms, left, right));
        Ok(percepts.into_iter().map(|term| self.expression(terms, term)).collect())
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<GoalReading, ReasoningError> {
        let id = self.answer(|prover| {
            prover.load(state);
            prover.try_goal()
        })?;
        let role = self.program.roles[usize::from(role.0)];
        let table = self.evaluator.table(&self.program, id);
        let mut reading = GoalReading::default();
        for row in (0..table.n_rows()).map(|row| table.row(row)).filter(|row| row[0] == role) {
            let terms = &self.evaluator.terms;
            let name = self.game.symbols().name(terms.symbol(row[1]));
            let value = match name.parse::<i64>() {
                Ok(value) if terms.arguments(row[1]).is_empty() => value,
                _ => {
                    reading.unreadable = true;
                    continue;
                }
            };
            let goal = Goal::new(value).unwrap_or_else(|| {
                reading.clamped = true;
                if value < 0 { Goal::MIN } else { Goal::MAX }
            });
            if !reading.values.contains(&goal) {
                reading.values.push(goal);
            }
        }
        reading.values.sort_unstable();
        Ok(reading)
    }

    fn facts(&self, state: &State) -> Vec<Expression> {
        let read = |store: &Store| {
            let mut facts = Vec::new();
            encoding::each_fact(state, |fact| facts.push(store.fact(fact)));
            facts.sort_unstable_by(|&left, &right| terms::compare(store, left, right));
            facts.into_iter().map(|term| self.expression(store, term)).collect()
        };
        let terms = &self.evaluator.terms;
        match encoding::largest(state) {
            Some(fact) if fact as usize >= terms.n_facts() => terms.with_shared(read),
            _ => read(terms),
        }
    }

    fn changed_facts(
        &mut self,
        from: &State,
        to: &State,
        gained: &mut Vec<state::FactId>,
        lost: &mut Vec<state::FactId>,
    ) {
        // Both are visited in ascending order.
        let before = &mut self.facts;
        before.clear();
        encoding::each_fact(from, |fact| before.push(fact));
        let mut left = before.iter().copied().peekable();
        encoding::each_fact(to, |fact| {
            while let Some(gone) = left.next_if(|&other| other < fact) {
                lost.push(state::FactId(gone));
            }
            if left.next_if_eq(&fact).is_none() {
                gained.push(state::FactId(fact));
            }
        });
        lost.extend(left.map(state::FactId));
    }

    fn fact(&self, id: state::FactId) -> Expression {
        let terms = &self.evaluator.terms;
        let read = |store: &Store| self.expression(store, store.fact(id.0));
        if id.0 as usize >= terms.n_facts() { terms.with_shared(read) } else { read(terms) }
    }

    fn key(&mut self, state: &State) -> StateKey {
        // Each fact's key is made once.
        let mut unknown = Vec::new();
        let mut key = StateKey::default();
        let mut keys = std::mem::take(&mut self.keys);
        encoding::each_fact(state, |fact| match keys.get(fact as usize) {
            Some(Some(fact)) => key.toggle(*fact),
            _ => unknown.push(fact),
        });
        for fact in unknown {
            let mut alone = State::default();
            encoding::encode(&mut [fact], &mut alone);
            let made = StateKey::of_facts(&self.facts(&alone));
            if keys.len() <= fact as usize {
                keys.resize(fact as usize + 1, None);
            }
            keys[fact as usize] = Some(made);
            key.toggle(made);
        }
        self.keys = keys;
        key
    }

    fn state_of(&mut self, facts: &[Expression]) -> Option<State> {
        let terms: Option<Vec<TermId>> = facts.iter().map(|fact| self.term(fact)).collect();
        let mut facts: Vec<FactId> =
            terms?.into_iter().map(|term| self.evaluator.terms.fact_id(term)).collect();
        facts.sort_unstable();
        facts.dedup();
        let mut state = State::default();
        encoding::encode(&mut facts, &mut state);
        Some(state)
    }

    fn move_expression(&self, id: MoveId) -> Expression {
        let terms = &self.evaluator.terms;
        if id.0 as usize >= terms.len() {
            return terms.with_shared(|store| self.expression(store, id.0));
        }
        self.expression(terms, id.0)
    }

    fn find_move(&mut self, expression: &Expression) -> Option<MoveId> {
        self.term(expression).map(MoveId)
    }
}
