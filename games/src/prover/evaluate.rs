//! The evaluator: runs plans over the tables of one state.
//!
//! Components are evaluated when a plan first needs them, each at most once for a state
//! or a joint move: recursive ones semi-naively (Bancilhon and Ramakrishnan 1986), in the
//! order of their strata (Apt, Blair and Walker 1988). Predicates
//! [on demand](on_demand) are evaluated for given arguments only.

mod on_demand;

use std::borrow::Cow;

use smallvec::SmallVec;

use super::calls::Calls;
use super::halt::Halt;
use super::rule_program::{ComponentEvaluation, RuleProgram, Slice, Step, Take};
use crate::relational::rules::Phase;
use crate::relational::table::RelationTable;
use crate::relational::terms::{FunctorId, NONE, TermId, Terms};
use crate::state_machine::{Cancel, Guards, MAX_TERM_SIZE, ReasoningError};

/// About this many steps lie between two checks of the cancel flag.
const POLL: u64 = 1 << 12;

/// Maximum number of parts of rows and terms that are built without allocating.
pub(super) const ROOM: usize = 8;

/// The cost of a new row, in steps.
const INSERTION: u64 = 5;

/// The cost of a term, in steps.
const BUILDING: u64 = 3;

/// A workspace: the tables of the state at hand, and the registers.
#[derive(Clone, Debug)]
pub(crate) struct RuleEvaluator {
    pub(crate) terms: Terms,
    pub(crate) tables: Vec<RelationTable>,
    pub(super) registers: Vec<u32>,
    /// For each component, the epoch it was evaluated in.
    done: Vec<u64>,
    /// The current epoch of each phase.
    pub(super) epochs: [u64; 3],
    last_epoch: u64,
    /// Rows derived for the state at hand, those for the joint move included.
    n_facts: usize,
    /// Those for the joint move.
    n_action_facts: usize,
    /// Whether the current evaluation depends on the joint move.
    pub(super) in_action: bool,
    guards: Guards,
    cancel: Cancel,
    /// For each component, the steps made for it alone.
    pub(crate) spent: Vec<u64>,
    /// The components that could not be finished, innermost first.
    open: Vec<u32>,
    /// The steps made for components within the one at hand.
    nested: u64,
    /// Steps made so far.
    pub(crate) work: u64,
    next_poll: u64,
    /// No more steps than this are made.
    pub(crate) budget: u64,
    /// No budget goes beyond this.
    ceiling: u64,
    pub(super) calls: Calls,
}

#[inline]
fn table<'a>(program: &'a RuleProgram, tables: &'a [RelationTable], id: u32) -> &'a RelationTable {
    match (id as usize).checked_sub(program.statics.len()) {
        Some(dynamic) => &tables[dynamic],
        None => &program.statics[id as usize],
    }
}

/// Fills registers with some of the values, or compares them; whether they fit.
#[inline]
fn take(takes: &[Take], values: &[TermId], registers: &mut [u32]) -> bool {
    for take in takes {
        let value = values[take.column as usize];
        let register = &mut registers[take.register as usize];
        if !take.check {
            *register = value;
        } else if *register != value {
            return false;
        }
    }
    true
}

impl RuleEvaluator {
    pub(crate) fn new(program: &RuleProgram, terms: Terms, guards: Guards) -> Self {
        let mut evaluator = Self {
            terms,
            tables: Vec::new(),
            registers: Vec::new(),
            done: Vec::new(),
            epochs: [1, 2, 3],
            last_epoch: 3,
            n_facts: 0,
            n_action_facts: 0,
            in_action: false,
            guards,
            cancel: Cancel::new(),
            spent: Vec::new(),
            open: Vec::new(),
            nested: 0,
            work: 0,
            next_poll: POLL,
            budget: u64::MAX,
            ceiling: u64::MAX,
            calls: Calls::default(),
        };
        evaluator.adopt(program);
        evaluator
    }

    /// Makes room for the tables and registers of a program. Tables that are
    /// there keep their rows.
    pub(crate) fn adopt(&mut self, program: &RuleProgram) {
        for (at, layout) in program.layouts.iter().enumerate() {
            if self.tables.len() == at {
                let mut table = RelationTable::new(layout.arity);
                if layout.distinct {
                    table.keep_distinct();
                }
                self.tables.push(table);
            }
            for columns in &layout.indexes {
                self.tables[at].index_on(columns);
            }
        }
        self.registers.clone_from(&program.registers);
        self.done.resize(program.component_of.len(), 0);
        self.spent.resize(program.component_of.len(), 0);
        self.calls.make_room(program.calls.len());
    }

    /// Switches to another program: all tables are new.
    pub(crate) fn renew(&mut self, program: &RuleProgram) {
        self.tables.clear();
        self.done.clear();
        self.adopt(program);
    }

    /// The components whose evaluation the last failure ended, innermost first.
    pub(crate) fn open_at_failure(&self) -> impl Iterator<Item = u32> {
        self.open.iter().copied()
    }

    pub(crate) fn max_facts(&self) -> usize {
        self.guards.max_facts
    }

    pub(crate) fn max_steps(&self) -> u64 {
        self.guards.max_steps
    }

    pub(crate) fn set_cancel(&mut self, cancel: Cancel) {
        self.cancel = cancel;
    }

    /// Forgets everything derived for a phase and for those that depend on it.
    pub(crate) fn begin(&mut self, program: &RuleProgram, phase: Phase) {
        for epoch in &mut self.epochs[phase as usize..] {
            self.last_epoch += 1;
            *epoch = self.last_epoch;
        }
        // A state may be asked about any number of joint moves.
        self.n_facts = if phase <= Phase::State { 0 } else { self.n_facts - self.n_action_facts };
        self.n_action_facts = 0;
        self.in_action = false;
        self.abandon_calls(program);
        self.open.clear();
    }

    /// Whether a component's tables hold what they should.
    pub(crate) fn is_done(&self, program: &RuleProgram, component: u32) -> bool {
        let evaluation = &program.evaluations[component as usize];
        evaluation.as_ref().is_some_and(|evaluation| {
            self.done[component as usize] == self.epochs[evaluation.phase as usize]
        })
    }

    pub(crate) fn table<'a>(&'a self, program: &'a RuleProgram, id: u32) -> &'a RelationTable {
        table(program, &self.tables, id)
    }

    pub(super) fn table_mut(&mut self, program: &RuleProgram, id: u32) -> &mut RelationTable {
        &mut self.tables[id as usize - program.statics.len()]
    }

    /// Puts a fact into the table of its functor.
    #[inline]
    pub(crate) fn load(&mut self, program: &RuleProgram, fact: TermId, of_functor: &[u32]) {
        let functor = self.terms.functor(fact);
        let Some(&id) = of_functor.get(functor as usize) else { return };
        if id == NONE {
            return;
        }
        let table = &mut self.tables[id as usize - program.statics.len()];
        if table.arity() == 0 {
            table.insert(&[]);
        } else {
            table.push_with(self.terms.arguments(fact), fact);
        }
    }

    /// Evaluates a component unless that was done.
    #[inline]
    pub(crate) fn ensure(&mut self, program: &RuleProgram, component: u32) -> Result<(), Halt> {
        let Some(evaluation) = &program.evaluations[component as usize] else { return Ok(()) };
        if self.done[component as usize] == self.epochs[evaluation.phase as usize] {
            return Ok(());
        }
        self.evaluate(program, component)
    }

    fn evaluate(&mut self, program: &RuleProgram, component: u32) -> Result<(), Halt> {
        let Some(evaluation) = &program.evaluations[component as usize] else { return Ok(()) };
        let before = self.work;
        let outer = std::mem::take(&mut self.nested);
        self.calls.go_deeper(component)?;
        let outer_phase = std::mem::replace(&mut self.in_action, evaluation.phase == Phase::Action);
        let result = self.evaluate_rounds(program, evaluation);
        self.in_action = outer_phase;
        self.calls.come_back();
        let spent = self.work - before;
        self.spent[component as usize] += spent - self.nested;
        self.nested = outer + spent;
        if result.is_err() {
            self.open.push(component);
        }
        result?;
        let phase = evaluation.phase as usize;
        self.done[component as usize] = self.epochs[phase];
        Ok(())
    }

    fn evaluate_rounds(
        &mut self,
        program: &RuleProgram,
        evaluation: &ComponentEvaluation,
    ) -> Result<(), Halt> {
        for &id in &evaluation.tables {
            self.table_mut(program, id).clear();
        }
        for round in &evaluation.rounds {
            let mut before: SmallVec<[u32; 4]> = SmallVec::new();
            for &id in &evaluation.tables {
                before.push(self.table(program, id).n_rows());
            }
            for &plan in &round.plans {
                self.run(program, plan)?;
                if evaluation.proposition && self.table(program, evaluation.tables[0]).n_rows() > 0
                {
                    break;
                }
            }
            while !round.recursive.is_empty() {
                let mut grown = false;
                for (before, &id) in before.iter_mut().zip(&evaluation.tables) {
                    let table = self.table_mut(program, id);
                    table.delta = (*before, table.n_rows());
                    grown |= table.n_rows() > *before;
                    *before = table.n_rows();
                }
                if !grown {
                    break;
                }
                for recursive in &round.recursive {
                    let delta = self.table(program, recursive.table).delta;
                    if delta.1 > delta.0 {
                        self.run(program, recursive.plan)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts a row; a very wide one counts as several.
    #[inline]
    pub(super) fn count_fact(&mut self, n_columns: usize) -> Result<(), Halt> {
        let n = 1 + n_columns / 32;
        self.n_facts += n;
        if self.in_action {
            self.n_action_facts += n;
        }
        if self.n_facts > self.guards.max_facts {
            let limit = self.guards.max_facts;
            return Err(Halt::Error(ReasoningError::TooManyFacts { limit }));
        }
        Ok(())
    }

    #[cold]
    fn poll(&mut self) -> Result<(), Halt> {
        if self.cancel.is_cancelled() {
            return Err(Halt::Error(ReasoningError::Cancelled));
        }
        if self.work >= self.budget {
            return Err(Halt::Budget);
        }
        self.next_poll = self.budget.min(self.work + POLL);
        Ok(())
    }

    /// Sets the limit of work for one question.
    pub(crate) fn allow_question(&mut self) {
        self.allow(self.guards.max_steps);
    }

    /// The limit of work for one question, as an error.
    pub(crate) fn too_many_steps(&self) -> ReasoningError {
        ReasoningError::TooManySteps { limit: self.guards.max_steps }
    }

    /// Sets a number of steps, counted from the first one, that no budget exceeds.
    pub(crate) fn set_ceiling(&mut self, ceiling: u64) {
        self.ceiling = ceiling;
    }

    /// The steps below the ceiling.
    pub(crate) fn n_left(&self) -> u64 {
        self.ceiling.saturating_sub(self.work)
    }

    /// Sets the number of further steps after which evaluation stops.
    pub(crate) fn allow(&mut self, steps: u64) {
        self.budget = self.work.saturating_add(steps).min(self.ceiling);
        self.next_poll = self.work;
    }

    /// Runs a plan to its end; whether a step `Found` ended it.
    pub(super) fn run(&mut self, program: &RuleProgram, plan: u32) -> Result<bool, Halt> {
        let mut at = program.plans[plan as usize].start as usize;
        loop {
            self.work += 1;
            if self.work >= self.next_poll {
                self.poll()?;
            }
            match program.steps[at] {
                Step::Ensure { component } => {
                    self.ensure(program, component)?;
                    at += 1;
                }
                Step::OpenScan { table: id, cursor, delta } => {
                    let table = table(program, &self.tables, id);
                    let (start, end) = if delta { table.delta } else { (0, table.n_rows()) };
                    self.registers[cursor as usize] = start;
                    self.registers[cursor as usize + 1] = end;
                    at = self.next_scanned(program, at + 1);
                }
                Step::NextScan { .. } => at = self.next_scanned(program, at),
                Step::OpenProbe { table: id, index, keys, cursor, fail } => {
                    let row = self.first(program, id, index, keys);
                    self.registers[cursor as usize] = row;
                    at = match row {
                        NONE => fail as usize,
                        _ => self.next_probed(program, at + 1),
                    };
                }
                Step::NextProbe { .. } => at = self.next_probed(program, at),
                Step::Test { table: id, index, keys, negated, fail } => {
                    let found = self.first(program, id, index, keys) != NONE;
                    at = if found != negated { at + 1 } else { fail as usize };
                }
                Step::Any { table: id, negated, fail } => {
                    let found = table(program, &self.tables, id).n_rows() > 0;
                    at = if found != negated { at + 1 } else { fail as usize };
                }
                Step::Open { source, functor, takes, fail } => {
                    let term = self.registers[source as usize];
                    let fits = self.terms.functor(term) == functor
                        && take(
                            &program.takes[takes.range()],
                            self.terms.arguments(term),
                            &mut self.registers,
                        );
                    at = if fits { at + 1 } else { fail as usize };
                }
                Step::Find { functor, arguments, target, fail } => {
                    let mut room = [NONE; ROOM];
                    let values = self.gather(program, arguments, &mut room);
                    at = match self.terms.find(functor, &values) {
                        Some(term) => {
                            self.registers[target as usize] = term;
                            at + 1
                        }
                        None => fail as usize,
                    };
                }
                Step::Build { functor, arguments, target } => {
                    let mut room = [NONE; ROOM];
                    let values = self.gather(program, arguments, &mut room);
                    self.registers[target as usize] = self.build(functor, &values)?;
                    at += 1;
                }
                Step::Same { left, right, fail } => {
                    let same = self.registers[left as usize] == self.registers[right as usize];
                    at = if same { at + 1 } else { fail as usize };
                }
                Step::Differ { left, right, fail } => {
                    let same = self.registers[left as usize] == self.registers[right as usize];
                    at = if same { fail as usize } else { at + 1 };
                }
                Step::Call { call, keys, negated, fail } => {
                    let found = self.call(program, call, keys)?;
                    at = if found != negated { at + 1 } else { fail as usize };
                }
                Step::Demand { call, keys } => {
                    self.call(program, call, keys)?;
                    at += 1;
                }
                Step::Insert { table: id, values, fail } => {
                    let mut room = [NONE; ROOM];
                    let row = self.gather(program, values, &mut room);
                    if self.tables[id as usize - program.statics.len()].insert(&row) {
                        self.work += INSERTION;
                        self.count_fact(row.len())?;
                    }
                    at = fail as usize;
                }
                Step::Found => return Ok(true),
                Step::End => return Ok(false),
            }
        }
    }

    /// Goes on with the step `NextScan` at this place; the step to do then.
    #[inline]
    fn next_scanned(&mut self, program: &RuleProgram, at: usize) -> usize {
        let Step::NextScan { table: id, cursor, takes, fail } = program.steps[at] else {
            unreachable!("`OpenScan` stands before `NextScan`")
        };
        let table = table(program, &self.tables, id);
        let takes = &program.takes[takes.range()];
        let end = self.registers[cursor as usize + 1];
        let mut row = self.registers[cursor as usize];
        while row < end {
            self.work += 1;
            let values = table.row(row);
            row += 1;
            if take(takes, values, &mut self.registers) {
                self.registers[cursor as usize] = row;
                return at + 1;
            }
        }
        fail as usize
    }

    /// Goes on with the step `NextProbe` at this place; the step to do then.
    #[inline]
    fn next_probed(&mut self, program: &RuleProgram, at: usize) -> usize {
        let Step::NextProbe { table: id, index, cursor, takes, fail } = program.steps[at] else {
            unreachable!("`OpenProbe` stands before `NextProbe`")
        };
        let table = table(program, &self.tables, id);
        let takes = &program.takes[takes.range()];
        let mut row = self.registers[cursor as usize];
        while row != NONE {
            self.work += 1;
            let values = table.row(row);
            row = table.after(index, row);
            if take(takes, values, &mut self.registers) {
                self.registers[cursor as usize] = row;
                return at + 1;
            }
        }
        fail as usize
    }

    /// The values of some registers, in `room` if they find room there.
    #[inline]
    pub(super) fn gather<'a>(
        &self,
        program: &RuleProgram,
        registers: Slice,
        room: &'a mut [TermId; ROOM],
    ) -> Cow<'a, [TermId]> {
        let operands = &program.operands[registers.range()];
        if operands.len() > ROOM {
            let values = operands.iter().map(|&register| self.registers[register as usize]);
            return Cow::Owned(values.collect());
        }
        for (value, &register) in room.iter_mut().zip(operands) {
            *value = self.registers[register as usize];
        }
        Cow::Borrowed(&room[..operands.len()])
    }

    #[inline]
    fn first(&mut self, program: &RuleProgram, id: u32, index: u16, keys: Slice) -> u32 {
        let registers = &self.registers;
        let key = program.operands[keys.range()].iter().map(|&at| registers[at as usize]);
        match (id as usize).checked_sub(program.statics.len()) {
            Some(dynamic) => {
                let table = &mut self.tables[dynamic];
                table.prepare(index);
                table.first(index, key)
            }
            None => program.statics[id as usize].first(index, key),
        }
    }

    fn build(&mut self, functor: FunctorId, arguments: &[TermId]) -> Result<TermId, Halt> {
        self.work += BUILDING;
        let term = self.terms.intern(functor, arguments);
        let limit = self.guards.max_terms;
        if self.terms.n_parts() > limit {
            return Err(Halt::Error(ReasoningError::TooManyTerms { limit }));
        }
        if self.terms.depth(term) > self.guards.max_term_depth {
            let limit = self.guards.max_term_depth;
            return Err(Halt::Error(ReasoningError::TermTooDeep { limit }));
        }
        if self.terms.size(term) > MAX_TERM_SIZE {
            let limit = MAX_TERM_SIZE;
            return Err(Halt::Error(ReasoningError::TermTooLarge { limit }));
        }
        Ok(term)
    }
}
