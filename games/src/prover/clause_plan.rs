//! From clauses to plans: the join order of conditions, and the steps that evaluate them.
//!
//! The order is greedy: a test as soon as its variables are bound, otherwise
//! the condition that is expected to hold in the fewest ways given what is
//! bound already. A failing step resumes the last enumeration that bound one of
//! the variables it looked at, which skips enumerations it does not depend on;
//! a success resumes the last one that bound a variable of the head, since all
//! others would only prove the same again.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::rule_program::{
    CallPlan, ClausePlan, ComponentEvaluation, Recursive, Round, Slice, Step, TableLayout, Take,
};
use super::sizes::{Size, Sizes};
use crate::relational::rules::{
    Atom, Clause, Condition, Pattern, Phase, PredicateId, Rules, Source, each_variable,
};
use crate::relational::table::RelationTable;
use crate::relational::terms::{NONE, TermId};

/// The way in which a derived predicate is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// As a whole, bottom-up.
    Full,
    /// For given arguments, remembering the answers.
    Memo,
    /// For given arguments.
    Call,
}

/// Relations with fewer rows than this are searched without an index.
const FEW_ROWS: f64 = 2.5;

/// A program in the making.
pub(crate) struct ClausePlanner<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) modes: Vec<Mode>,
    pub(crate) sizes: Sizes,
    pub(crate) steps: Vec<Step>,
    pub(crate) operands: Vec<u32>,
    pub(crate) takes: Vec<Take>,
    pub(crate) plans: Vec<ClausePlan>,
    pub(crate) calls: Vec<CallPlan>,
    call_ids: FxHashMap<(PredicateId, Vec<u16>), u32>,
    pub(crate) registers: Vec<TermId>,
    constants: FxHashMap<TermId, u32>,
    pub(crate) table_of: Vec<u32>,
    n_static: usize,
    pub(crate) layouts: Vec<TableLayout>,
    /// Steps that may still be made for planning. When none are left, plans are
    /// not finished and must not be used.
    pub(crate) left: u64,
}

/// The cost of considering a condition that may come next, in steps.
const LOOKING: u64 = 10;

/// What a plan does when the body holds.
enum Goal {
    Insert(u32),
    Found,
}

impl<'r> ClausePlanner<'r> {
    /// A planner without any plan; `table_of` gives each predicate's table, of
    /// which the first `n_static` are static and not laid out here.
    pub(crate) fn new(
        rules: &'r Rules,
        modes: Vec<Mode>,
        sizes: Sizes,
        table_of: Vec<u32>,
        n_static: usize,
    ) -> Self {
        let mut layouts = vec![TableLayout::default(); table_of.len() - n_static];
        for (predicate, &table) in table_of.iter().enumerate() {
            if let Some(layout) = (table as usize).checked_sub(n_static) {
                layouts[layout].arity = rules.predicates[predicate].arity;
                layouts[layout].distinct = rules.predicates[predicate].source == Source::Clauses;
            }
        }
        Self {
            rules,
            modes,
            sizes,
            steps: Vec::new(),
            operands: Vec::new(),
            takes: Vec::new(),
            plans: Vec::new(),
            calls: Vec::new(),
            call_ids: FxHashMap::default(),
            registers: Vec::new(),
            constants: FxHashMap::default(),
            table_of,
            n_static,
            layouts,
            left: u64::MAX,
        }
    }

    /// Plans the bottom-up evaluation of a component.
    pub(crate) fn component(
        &mut self,
        at: usize,
        statics: &mut [Arc<RelationTable>],
    ) -> ComponentEvaluation {
        let rules = self.rules;
        let component = &rules.components[at];
        let mut strata: Vec<usize> = Vec::new();
        let all: Vec<usize> = component
            .predicates
            .iter()
            .flat_map(|&id| rules.predicates[id].clauses.iter().copied())
            .collect();
        if component.negation_inside {
            strata.extend(all.iter().map(|&clause| rules.clauses[clause].stratum));
            strata.sort_unstable();
            strata.dedup();
        } else {
            strata.push(usize::MAX);
        }
        let mut rounds = Vec::new();
        for stratum in strata {
            let mut round = Round::default();
            for &at_clause in &all {
                let clause = &rules.clauses[at_clause];
                if stratum != usize::MAX && clause.stratum != stratum {
                    continue;
                }
                let goal = Goal::Insert(self.table_of[clause.head.predicate]);
                round.plans.push(self.clause(clause, &[], None, &goal, at, statics));
                if !component.recursive {
                    continue;
                }
                for (literal, condition) in clause.body.iter().enumerate() {
                    let Condition::Positive(atom) = condition else { continue };
                    if rules.predicates[atom.predicate].component == at {
                        let table = self.table_of[atom.predicate];
                        let plan = self.clause(clause, &[], Some(literal), &goal, at, statics);
                        round.recursive.push(Recursive { plan, table });
                    }
                }
            }
            rounds.push(round);
        }
        let first = component.predicates[0];
        ComponentEvaluation {
            phase: rules.predicates[first].phase,
            tables: component.predicates.iter().map(|&id| self.table_of[id]).collect(),
            rounds,
            proposition: component.predicates.len() == 1 && rules.predicates[first].arity == 0,
        }
    }

    /// The call of a predicate with these columns bound, planned if it is new.
    fn call(
        &mut self,
        predicate: PredicateId,
        columns: &[u16],
        statics: &mut [Arc<RelationTable>],
    ) -> u32 {
        let key = (predicate, columns.to_vec());
        if let Some(&call) = self.call_ids.get(&key) {
            return call;
        }
        let id = self.calls.len() as u32;
        self.call_ids.insert(key, id);
        let rules = self.rules;
        let info = &rules.predicates[predicate];
        let asked = self.new_table(columns.len(), true);
        let answers = (columns.len() < info.arity).then(|| self.new_table(info.arity, true));
        let recursive = rules.components[info.component].recursive;
        self.calls.push(CallPlan {
            predicate,
            phase: info.phase,
            plans: Vec::new(),
            asked,
            answers,
            memo: self.modes[predicate] == Mode::Memo || answers.is_some() || recursive,
            recursive,
        });
        let goal = match answers {
            Some(table) => Goal::Insert(table),
            None => Goal::Found,
        };
        let component = info.component;
        let plans: Vec<u32> = info
            .clauses
            .iter()
            .map(|&at| self.clause(&rules.clauses[at], columns, None, &goal, component, statics))
            .collect();
        self.calls[id as usize].plans = plans;
        id
    }

    fn new_table(&mut self, arity: usize, distinct: bool) -> u32 {
        self.layouts.push(TableLayout { arity, distinct, indexes: Vec::new() });
        (self.n_static + self.layouts.len() - 1) as u32
    }

    fn index(&mut self, table: u32, columns: &[u16], statics: &mut [Arc<RelationTable>]) -> u16 {
        let Some(dynamic) = (table as usize).checked_sub(self.n_static) else {
            let table = &mut statics[table as usize];
            return table.find_index(columns).unwrap_or_else(|| {
                let table = Arc::make_mut(table);
                let index = table.index_on(columns);
                table.prepare(index);
                index
            });
        };
        let layout = &mut self.layouts[dynamic];
        // The index over all columns of a set comes first, see `RelationTable`.
        let first = usize::from(layout.distinct && layout.arity > 0);
        if first == 1 && columns.len() == layout.arity {
            return 0;
        }
        let indexes = &mut layout.indexes;
        let at = indexes.iter().position(|index| index == columns).unwrap_or_else(|| {
            indexes.push(columns.to_vec());
            indexes.len() - 1
        });
        (first + at) as u16
    }

    /// The register that holds a constant for good.
    fn constant(&mut self, term: TermId) -> u32 {
        let registers = &mut self.registers;
        *self.constants.entry(term).or_insert_with(|| {
            registers.push(term);
            (registers.len() - 1) as u32
        })
    }

    fn operands(&mut self, values: &[u32]) -> Slice {
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(values);
        Slice { start, end: self.operands.len() as u32 }
    }

    fn size(&self, predicate: PredicateId) -> &Size {
        &self.sizes.sizes[predicate]
    }

    /// Plans a clause with these columns of its head bound, and one condition
    /// restricted to the last rows.
    fn clause(
        &mut self,
        clause: &Clause,
        columns: &[u16],
        delta: Option<usize>,
        goal: &Goal,
        component: usize,
        statics: &mut [Arc<RelationTable>],
    ) -> u32 {
        let size = clause.body.len() + clause.n_variables as usize + 1;
        self.left = self.left.saturating_sub(LOOKING * size as u64);
        if self.left == 0 {
            return 0;
        }
        let n = clause.n_variables as usize;
        // Variables are registers for the length of planning; their own block
        // is placed once all temporaries are known.
        let constants: Vec<TermId> = clause_constants(clause);
        for term in constants {
            self.constant(term);
        }
        let mut occurrences = vec![0_u32; n];
        let mut count =
            |pattern: &Pattern| each_variable(pattern, &mut |id| occurrences[id as usize] += 1);
        clause.head.arguments.iter().for_each(&mut count);
        for condition in &clause.body {
            match condition {
                Condition::Positive(atom) | Condition::Negative(atom) => {
                    atom.arguments.iter().for_each(&mut count);
                }
                Condition::Distinct(left, right) => {
                    count(left);
                    count(right);
                }
            }
        }
        let base = self.registers.len() as u32;
        self.registers.resize(base as usize + n, NONE);
        let mut emitter = Emitter {
            planner: self,
            statics,
            base,
            bound: vec![false; n],
            binder: vec![0; n],
            occurrences,
            choices: Vec::new(),
            steps: Vec::new(),
            component,
            ensured: if columns.is_empty() { vec![component] } else { Vec::new() },
            in_call: !columns.is_empty(),
            delta: false,
        };
        let inputs = emitter.inputs(clause, columns);
        let mut todo: Vec<usize> = (0..clause.body.len()).collect();
        if let Some(literal) = delta {
            todo.retain(|&other| other != literal);
            emitter.delta = true;
            emitter.condition(&clause.body[literal]);
            emitter.delta = false;
        }
        while !todo.is_empty() {
            let planner = &mut *emitter.planner;
            planner.left = planner.left.saturating_sub(LOOKING * todo.len() as u64);
            if planner.left == 0 {
                break;
            }
            let best = emitter.cheapest(clause, &todo);
            let literal = todo.remove(best);
            emitter.condition(&clause.body[literal]);
        }
        emitter.finish(clause, goal);
        let steps = emitter.steps;
        let inputs = self.operands(&inputs);
        let start = self.steps.len() as u32;
        self.steps.extend(steps.into_iter().map(|step| relocated(step, start)));
        let registers = Slice { start: base, end: self.registers.len() as u32 };
        self.plans.push(ClausePlan { start, registers, inputs });
        (self.plans.len() - 1) as u32
    }
}

/// One plan in the making. Steps are numbered from its start.
struct Emitter<'p, 'r> {
    planner: &'p mut ClausePlanner<'r>,
    statics: &'p mut [Arc<RelationTable>],
    base: u32,
    bound: Vec<bool>,
    /// For each bound variable, 1 + the number of the choice that bound it; 0
    /// if it was given.
    binder: Vec<usize>,
    occurrences: Vec<u32>,
    /// The steps that enumerate, in order.
    choices: Vec<u32>,
    steps: Vec<Step>,
    /// The clause's component.
    component: usize,
    /// Components known to be evaluated.
    ensured: Vec<usize>,
    /// The clause answers a call.
    in_call: bool,
    /// The condition is restricted to the last rows.
    delta: bool,
}

/// Step numbers that are filled in at the end.
const AT_END: u32 = u32::MAX;

impl Emitter<'_, '_> {
    fn temporary(&mut self) -> u32 {
        self.planner.registers.push(NONE);
        (self.planner.registers.len() - 1) as u32
    }

    fn register(&self, id: u32) -> u32 {
        self.base + id
    }

    fn is_wildcard(&self, id: u32) -> bool {
        self.occurrences[id as usize] == 1
    }

    fn is_ground(&self, pattern: &Pattern) -> bool {
        let mut ground = true;
        each_variable(pattern, &mut |id| ground &= self.bound[id as usize]);
        ground
    }

    /// The step to resume when a step that depends on these patterns fails.
    fn resume(&self, patterns: &[&Pattern]) -> u32 {
        let mut choice = 0;
        for pattern in patterns {
            each_variable(pattern, &mut |id| {
                if self.bound[id as usize] {
                    choice = choice.max(self.binder[id as usize]);
                }
            });
        }
        self.choice_step(choice)
    }

    fn choice_step(&self, choice: usize) -> u32 {
        choice.checked_sub(1).map_or(AT_END, |at| self.choices[at])
    }

    fn latest(&self) -> u32 {
        self.choices.last().copied().unwrap_or(AT_END)
    }

    fn bind(&mut self, id: u32) {
        self.bound[id as usize] = true;
        self.binder[id as usize] = self.choices.len();
    }

    /// Unifies the bound columns of the head with the caller's values.
    fn inputs(&mut self, clause: &Clause, columns: &[u16]) -> Vec<u32> {
        let mut inputs = Vec::new();
        let mut open = Vec::new();
        for &column in columns {
            match &clause.head.arguments[column as usize] {
                Pattern::Variable(id) if !self.bound[*id as usize] => {
                    inputs.push(self.register(*id));
                    self.bind(*id);
                }
                other => {
                    let register = self.temporary();
                    inputs.push(register);
                    open.push((register, other));
                }
            }
        }
        for (register, pattern) in open {
            self.unify(register, pattern, AT_END);
        }
        inputs
    }

    /// Matches the value of a register with a pattern, binding its variables.
    fn unify(&mut self, register: u32, pattern: &Pattern, fail: u32) {
        match pattern {
            Pattern::Constant(term) => {
                let right = self.planner.constant(*term);
                self.steps.push(Step::Same { left: register, right, fail });
            }
            Pattern::Variable(id) if self.bound[*id as usize] => {
                let right = self.register(*id);
                self.steps.push(Step::Same { left: register, right, fail });
            }
            Pattern::Variable(_) => unreachable!("columns and parts take unbound variables"),
            Pattern::Compound(functor, parts) => self.open(register, *functor, parts, fail),
        }
    }

    fn open(&mut self, source: u32, functor: u32, parts: &[Pattern], fail: u32) {
        let mut takes = Vec::new();
        let mut deeper = Vec::new();
        for (column, part) in parts.iter().enumerate() {
            self.take(column as u16, part, &mut takes, &mut deeper);
        }
        let takes = self.takes(&takes);
        self.steps.push(Step::Open { source, functor, takes, fail });
        for (register, functor, parts) in deeper {
            self.open(register, functor, parts, fail);
        }
    }

    fn takes(&mut self, takes: &[Take]) -> Slice {
        let start = self.planner.takes.len() as u32;
        self.planner.takes.extend_from_slice(takes);
        Slice { start, end: self.planner.takes.len() as u32 }
    }

    /// What to do with one column or part.
    fn take<'a>(
        &mut self,
        column: u16,
        pattern: &'a Pattern,
        takes: &mut Vec<Take>,
        deeper: &mut Vec<(u32, u32, &'a [Pattern])>,
    ) {
        let (check, register) = match pattern {
            Pattern::Constant(term) => (true, self.planner.constant(*term)),
            Pattern::Variable(id) if self.is_wildcard(*id) => return,
            Pattern::Variable(id) => {
                let known = self.bound[*id as usize];
                if !known {
                    self.bind(*id);
                }
                (known, self.register(*id))
            }
            Pattern::Compound(functor, parts) => {
                let register = self.temporary();
                deeper.push((register, *functor, parts));
                (false, register)
            }
        };
        takes.push(Take { column, check, register });
    }

    /// The register of a term whose variables are bound, built if compound.
    fn value(&mut self, pattern: &Pattern, find: Option<u32>) -> u32 {
        match pattern {
            Pattern::Constant(term) => self.planner.constant(*term),
            Pattern::Variable(id) => self.register(*id),
            Pattern::Compound(functor, parts) => {
                let parts: Vec<u32> = parts.iter().map(|part| self.value(part, find)).collect();
                let arguments = self.planner.operands(&parts);
                let (functor, target) = (*functor, self.temporary());
                self.steps.push(match find {
                    Some(fail) => Step::Find { functor, arguments, target, fail },
                    None => Step::Build { functor, arguments, target },
                });
                target
            }
        }
    }

    /// The position in `todo` of the condition to look at next.
    fn cheapest(&self, clause: &Clause, todo: &[usize]) -> usize {
        let cost =
            |&literal: &usize| match &clause.body[literal] {
                Condition::Distinct(left, right) => {
                    if self.is_ground(left) && self.is_ground(right) { -2.0 } else { f64::INFINITY }
                }
                Condition::Negative(atom) => {
                    let ready = atom.arguments.iter().all(|argument| match argument {
                        Pattern::Variable(id) => self.bound[*id as usize] || self.is_wildcard(*id),
                        other => self.is_ground(other),
                    });
                    if ready { self.test_cost(atom) } else { f64::INFINITY }
                }
                Condition::Positive(atom) => self.ways(atom),
            };
        let costs: Vec<f64> = todo.iter().map(cost).collect();
        (0..todo.len()).min_by(|&left, &right| costs[left].total_cmp(&costs[right])).unwrap_or(0)
    }

    /// Tests come before what may hold in several ways; among tests, given
    /// facts before what must be evaluated first.
    fn test_cost(&self, atom: &Atom) -> f64 {
        let info = &self.planner.rules.predicates[atom.predicate];
        match (&info.source, info.phase) {
            (Source::Clauses, Phase::Static) => -1.9,
            (Source::Clauses, _) => 0.9,
            _ => -1.5,
        }
    }

    /// The number of ways in which a condition is expected to hold.
    fn ways(&self, atom: &Atom) -> f64 {
        let given = |argument: &Pattern| self.is_ground(argument);
        let columns = atom.arguments.iter().enumerate();
        let bound: Vec<usize> =
            columns.filter(|(_, argument)| given(argument)).map(|(column, _)| column).collect();
        let mut ways = self.planner.size(atom.predicate).matches(bound.iter().copied());
        if bound.is_empty()
            && !atom.arguments.is_empty()
            && self.planner.modes[atom.predicate] != Mode::Full
        {
            // It would have to be evaluated in full after all.
            ways = ways.max(1.0) * 1e6;
        }
        // Parts of compound terms narrow it down too.
        for argument in &atom.arguments {
            if let Pattern::Compound(_, parts) = argument
                && !given(argument)
            {
                for part in parts {
                    ways *= if given(part) { 0.3 } else { 0.9 };
                }
            }
        }
        let all_bound = atom.arguments.iter().all(|argument| match argument {
            Pattern::Variable(id) => self.bound[*id as usize] || self.is_wildcard(*id),
            other => given(other),
        });
        if all_bound && !bound.is_empty() || atom.arguments.is_empty() {
            return self.test_cost(atom).min(ways);
        }
        ways
    }

    fn ensure(&mut self, predicate: PredicateId) {
        let info = &self.planner.rules.predicates[predicate];
        let fixed = (self.planner.table_of[predicate] as usize) < self.planner.n_static;
        if fixed || info.source != Source::Clauses || self.ensured.contains(&info.component) {
            return;
        }
        self.ensured.push(info.component);
        self.steps.push(Step::Ensure { component: info.component as u32 });
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Distinct(left, right) => {
                let fail = self.resume(&[left, right]);
                let left = self.value(left, None);
                let right = self.value(right, None);
                self.steps.push(Step::Differ { left, right, fail });
            }
            Condition::Negative(atom) => self.atom(atom, true),
            Condition::Positive(atom) => self.atom(atom, false),
        }
    }

    fn atom(&mut self, atom: &Atom, negated: bool) {
        let predicate = atom.predicate;
        let info = &self.planner.rules.predicates[predicate];
        let component = info.component;
        let patterns: Vec<&Pattern> = atom.arguments.iter().collect();
        let fail = self.resume(&patterns);
        let mut table = self.planner.table_of[predicate];
        let keyed: Vec<u16> = (0..atom.arguments.len() as u16)
            .filter(|&column| self.is_ground(&atom.arguments[column as usize]))
            .collect();
        // A term that was never built is in no relation.
        let first_find = self.steps.len();
        let mut keys = Vec::new();
        for &column in &keyed {
            let find = if negated { Some(AT_END - 1) } else { Some(fail) };
            keys.push(self.value(&atom.arguments[column as usize], find));
        }
        let on_demand = self.planner.modes[predicate] != Mode::Full
            && info.source == Source::Clauses
            && !keyed.is_empty()
            && (self.in_call || component != self.component);
        let rest: Vec<u16> =
            (0..atom.arguments.len() as u16).filter(|column| !keyed.contains(column)).collect();
        if on_demand {
            let call = self.planner.call(predicate, &keyed, self.statics);
            let keys_slice = self.planner.operands(&keys);
            match self.planner.calls[call as usize].answers {
                None => {
                    self.steps.push(Step::Call { call, keys: keys_slice, negated, fail });
                    self.patch_finds(first_find);
                    return;
                }
                Some(answers) => {
                    self.steps.push(Step::Demand { call, keys: keys_slice });
                    table = answers;
                }
            }
        } else {
            self.ensure(predicate);
        }
        let wild = rest.iter().all(|&column| match &atom.arguments[column as usize] {
            Pattern::Variable(id) => self.is_wildcard(*id),
            _ => false,
        });
        debug_assert!(!negated || wild, "negations wait for their variables");
        if self.delta {
            self.scan(atom, table, &keyed, &keys, &rest, true);
        } else if keyed.is_empty() && wild {
            self.steps.push(Step::Any { table, negated, fail });
        } else if wild {
            let index = self.planner.index(table, &keyed, self.statics);
            let keys = self.planner.operands(&keys);
            self.steps.push(Step::Test { table, index, keys, negated, fail });
        } else if keyed.is_empty() || (!on_demand && self.planner.size(predicate).rows < FEW_ROWS) {
            self.scan(atom, table, &keyed, &keys, &rest, false);
        } else {
            let index = self.planner.index(table, &keyed, self.statics);
            let keys = self.planner.operands(&keys);
            let cursor = self.temporary();
            self.steps.push(Step::OpenProbe { table, index, keys, cursor, fail });
            let latest = self.latest();
            let at = self.steps.len();
            self.choices.push(at as u32);
            self.steps.push(Step::End);
            let mut deeper = Vec::new();
            let takes = self.row_takes(atom, &[], &[], &rest, &mut deeper);
            self.steps[at] = Step::NextProbe { table, index, cursor, takes, fail: latest };
            for (register, functor, parts) in deeper {
                self.open(register, functor, parts, at as u32);
            }
        }
        self.patch_finds(first_find);
    }

    /// Lets the searches for terms of a negated condition that find nothing go
    /// on behind it.
    fn patch_finds(&mut self, from: usize) {
        let behind = self.steps.len() as u32;
        for step in &mut self.steps[from..] {
            if let Step::Find { fail, .. } = step
                && *fail == AT_END - 1
            {
                *fail = behind;
            }
        }
    }

    fn scan(
        &mut self,
        atom: &Atom,
        table: u32,
        keyed: &[u16],
        keys: &[u32],
        rest: &[u16],
        delta: bool,
    ) {
        let cursor = self.temporary();
        self.temporary();
        self.steps.push(Step::OpenScan { table, cursor, delta });
        let latest = self.latest();
        let at = self.steps.len();
        self.choices.push(at as u32);
        self.steps.push(Step::End);
        let mut deeper = Vec::new();
        let takes = self.row_takes(atom, keyed, keys, rest, &mut deeper);
        self.steps[at] = Step::NextScan { table, cursor, takes, fail: latest };
        for (register, functor, parts) in deeper {
            self.open(register, functor, parts, at as u32);
        }
    }

    fn row_takes<'a>(
        &mut self,
        atom: &'a Atom,
        keyed: &[u16],
        keys: &[u32],
        rest: &[u16],
        deeper: &mut Vec<(u32, u32, &'a [Pattern])>,
    ) -> Slice {
        let mut takes: Vec<Take> = keyed
            .iter()
            .zip(keys)
            .map(|(&column, &register)| Take { column, check: true, register })
            .collect();
        for &column in rest {
            self.take(column, &atom.arguments[column as usize], &mut takes, deeper);
        }
        self.takes(&takes)
    }

    fn finish(&mut self, clause: &Clause, goal: &Goal) {
        match goal {
            Goal::Found => self.steps.push(Step::Found),
            Goal::Insert(table) => {
                let patterns: Vec<&Pattern> = clause.head.arguments.iter().collect();
                let fail = self.resume(&patterns);
                let values: Vec<u32> =
                    patterns.iter().map(|pattern| self.value(pattern, None)).collect();
                let values = self.planner.operands(&values);
                self.steps.push(Step::Insert { table: *table, values, fail });
            }
        }
        let end = self.steps.len() as u32;
        self.steps.push(Step::End);
        for step in &mut self.steps {
            if let Some(fail) = target(step)
                && *fail == AT_END
            {
                *fail = end;
            }
        }
    }
}

/// The step that this one may resume.
fn target(step: &mut Step) -> Option<&mut u32> {
    match step {
        Step::NextScan { fail, .. }
        | Step::OpenProbe { fail, .. }
        | Step::NextProbe { fail, .. }
        | Step::Test { fail, .. }
        | Step::Any { fail, .. }
        | Step::Open { fail, .. }
        | Step::Find { fail, .. }
        | Step::Same { fail, .. }
        | Step::Differ { fail, .. }
        | Step::Call { fail, .. }
        | Step::Insert { fail, .. } => Some(fail),
        Step::Ensure { .. }
        | Step::OpenScan { .. }
        | Step::Build { .. }
        | Step::Demand { .. }
        | Step::Found
        | Step::End => None,
    }
}

fn relocated(mut step: Step, start: u32) -> Step {
    if let Some(fail) = target(&mut step) {
        *fail += start;
    }
    step
}

fn clause_constants(clause: &Clause) -> Vec<TermId> {
    fn go(pattern: &Pattern, into: &mut Vec<TermId>) {
        match pattern {
            Pattern::Constant(term) => into.push(*term),
            Pattern::Variable(_) => {}
            Pattern::Compound(_, parts) => parts.iter().for_each(|part| go(part, into)),
        }
    }
    let mut constants = Vec::new();
    clause.head.arguments.iter().for_each(|pattern| go(pattern, &mut constants));
    for condition in &clause.body {
        match condition {
            Condition::Positive(atom) | Condition::Negative(atom) => {
                atom.arguments.iter().for_each(|pattern| go(pattern, &mut constants));
            }
            Condition::Distinct(left, right) => {
                go(left, &mut constants);
                go(right, &mut constants);
            }
        }
    }
    constants
}
