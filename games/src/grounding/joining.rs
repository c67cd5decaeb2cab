//! Runs operations over tables, each pair of rows once.
//!
//! Tables only grow, so an operation remembers how many rows of its inputs it has seen
//! and later joins only new ones (semi-naive evaluation: Bancilhon and Ramakrishnan
//! 1986). The caller decides what a match means: the reachability analysis uses the row
//! that follows, the circuit also the rows that it follows from.

use std::ops::Range;

use super::limits::{Halt, Meter, Resource};
use super::operations::{Joins, Part, RelationId};
use crate::MAX_TERM_SIZE;
use crate::relational::rules::{Atom, Pattern, each_variable};
use crate::relational::table::RelationTable;
use crate::relational::terms::{NONE, Store, TermId, Terms};

/// Matches are passed to the caller when they take up this many numbers.
const CHUNK: usize = 1 << 16;

/// Matches that are fetched from memory at once: tables are large and far away, and
/// overlapping fetches cost one wait.
const TOGETHER: usize = 16;

/// Rows that can be looked up wherever they are.
const SHORT: u32 = 1 << 12;

/// Terms, tables and the state of all operations.
#[derive(Debug)]
pub(super) struct JoinWorkspace {
    pub(super) terms: Terms,
    /// By relation.
    pub(super) tables: Vec<RelationTable>,
    /// By operation.
    plans: Vec<Option<JoinPlan>>,
    /// By operation: whether it finds the rows that follow, or the values of their
    /// variables.
    is_plain: Vec<bool>,
    /// By operation: the rows of its inputs that it has seen.
    seen: Vec<[u32; 2]>,
    pub(super) meter: Meter,
    registers: Vec<TermId>,
    next_look: u64,
    /// By relation: its rows when it was measured, and the different values of
    /// each column then.
    measures: Vec<Option<(u32, Vec<f64>)>>,
}

/// An operation with indexes at hand.
#[derive(Clone, Debug)]
struct JoinPlan {
    /// For a join, by input: variables by column, shared columns with their
    /// variables, and the index on these.
    sides: Vec<Side>,
    /// Absent sentences of relations that are known: these only test.
    tests: Vec<usize>,
    /// The other absent sentences.
    absent: Vec<usize>,
    /// What is found: the output, or its variables if terms must be built.
    kept: Vec<Kept>,
}

/// A value that a match hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Variable(u32),
    Constant(TermId),
}

#[derive(Clone, Debug)]
struct Side {
    variables: Vec<u32>,
    /// The columns of the other input that hold the key.
    keys: Vec<u16>,
    index: u16,
}

/// The matches of an operation: for each the rows of its inputs (`NONE` if
/// there is no second one), the rows of the absent sentences (`NONE` if there
/// is none), and the row that follows, or the values of the variables in it if
/// it has terms to be built.
#[derive(Debug, Default)]
pub(super) struct Matches {
    numbers: Vec<u32>,
    stride: usize,
    n_absent: usize,
}

impl Matches {
    /// The matches, a few at a time.
    pub(super) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let numbers = self.numbers.chunks(TOGETHER * self.stride);
        numbers.map(|numbers| Group { numbers, stride: self.stride, n_absent: self.n_absent })
    }
}

/// Some matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    numbers: &'a [u32],
    stride: usize,
    n_absent: usize,
}

impl<'a> Group<'a> {
    /// The matches: rows of the inputs, rows of absent sentences, values.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a [u32], &'a [u32], &'a [TermId])> {
        self.numbers.chunks_exact(self.stride).map(move |numbers| {
            let (rows, rest) = numbers.split_at(2);
            let (absent, values) = rest.split_at(self.n_absent);
            (rows, absent, values)
        })
    }
}

impl JoinWorkspace {
    pub(super) fn new(terms: Terms, meter: Meter) -> Self {
        Self {
            terms,
            tables: Vec::new(),
            plans: Vec::new(),
            is_plain: Vec::new(),
            seen: Vec::new(),
            meter,
            registers: Vec::new(),
            next_look: 0,
            measures: Vec::new(),
        }
    }

    /// Makes tables for relations that have none.
    pub(super) fn make_room(&mut self, joins: &Joins) {
        for relation in &joins.relations[self.tables.len()..] {
            let mut table = RelationTable::new(relation.arity);
            table.keep_distinct();
            self.tables.push(table);
        }
        self.plans.resize(joins.operations.len(), None);
        self.is_plain.resize(joins.operations.len(), false);
        self.seen.resize(joins.operations.len(), [0; 2]);
    }

    /// Lets the operations that fill these relations start again, and empties
    /// those that are not kept.
    pub(super) fn start_over(
        &mut self,
        joins: &Joins,
        is_concerned: impl Fn(RelationId) -> bool,
        is_kept: impl Fn(RelationId) -> bool,
    ) {
        for (id, table) in self.tables.iter_mut().enumerate() {
            if is_concerned(id) && !is_kept(id) {
                table.clear();
            }
        }
        for (operation, seen) in joins.operations.iter().zip(&mut self.seen) {
            if is_concerned(operation.target) {
                *seen = [0; 2];
            }
        }
    }

    fn plan(&mut self, joins: &Joins, id: usize) -> JoinPlan {
        let part = &joins.operations[id].part;
        let mut sides = Vec::new();
        if let [left, right] = &part.inputs[..] {
            for (atom, other) in [(left, right), (right, left)] {
                let variables: Vec<u32> = atom.arguments.iter().map(variable).collect();
                let is_shared = |column: &u16| {
                    let argument = &atom.arguments[usize::from(*column)];
                    other.arguments.contains(argument)
                };
                let columns: Vec<u16> = (0..variables.len() as u16).filter(is_shared).collect();
                let place = |&at: &u16| {
                    let argument = &atom.arguments[usize::from(at)];
                    other.arguments.iter().position(|other| other == argument)
                };
                let keys = columns.iter().filter_map(place).map(|at| at as u16).collect();
                let index = match columns.is_empty() {
                    true => u16::MAX,
                    false => self.tables[atom.predicate].index_on(&columns),
                };
                sides.push(Side { variables, keys, index });
            }
        }
        let (mut tests, mut absent) = (Vec::new(), Vec::new());
        for (at, atom) in part.absent.iter().enumerate() {
            let is_static = joins.relations[atom.predicate].is_static;
            if is_static { tests.push(at) } else { absent.push(at) }
        }
        let output: Option<Vec<Kept>> = part
            .output
            .iter()
            .map(|pattern| match pattern {
                Pattern::Variable(id) => Some(Kept::Variable(*id)),
                Pattern::Constant(term) => Some(Kept::Constant(*term)),
                Pattern::Compound(..) => None,
            })
            .collect();
        self.is_plain[id] = output.is_some();
        let kept = output.unwrap_or_else(|| {
            let mut kept = Vec::new();
            let mut note = |id: u32| {
                if !kept.contains(&Kept::Variable(id)) {
                    kept.push(Kept::Variable(id));
                }
            };
            part.output.iter().for_each(|pattern| each_variable(pattern, &mut note));
            kept
        });
        JoinPlan { sides, tests, absent, kept }
    }

    /// Runs an operation over the rows that it has not seen yet, and calls
    /// `found` with the matches, some at a time.
    pub(super) fn run(
        &mut self,
        joins: &Joins,
        id: usize,
        mut found: impl FnMut(&mut Self, &Matches) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        if self.plans[id].is_none() {
            self.plans[id] = Some(self.plan(joins, id));
        }
        let part = &joins.operations[id].part;
        let n_rows = |workspace: &Self, at: usize| match part.inputs.get(at) {
            Some(atom) => workspace.tables[atom.predicate].n_rows(),
            None => 0,
        };
        let (before, now) = (self.seen[id], [n_rows(self, 0), n_rows(self, 1)]);
        if before == now {
            return Ok(());
        }
        let plan = self.plans[id].take().expect("it was made above");
        let result = self.run_plan(part, &plan, before, now, &mut found);
        self.plans[id] = Some(plan);
        if result.is_ok() {
            self.seen[id] = now;
        }
        result
    }

    fn run_plan(
        &mut self,
        part: &Part,
        plan: &JoinPlan,
        before: [u32; 2],
        now: [u32; 2],
        found: &mut impl FnMut(&mut Self, &Matches) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut matches = Matches {
            numbers: Vec::new(),
            stride: 2 + plan.absent.len() + plan.kept.len(),
            n_absent: plan.absent.len(),
        };
        self.registers.clear();
        self.registers.resize(part.n_variables as usize, NONE);
        // New rows of one input with all of the other, then new rows of the other
        // with old ones of the first. What is looked up should be small and near,
        // so a long one is gone through and needs no index.
        let new = [now[0] - before[0], now[1] - before[1]];
        let first = usize::from(new[1] > new[0].max(SHORT));
        let rounds = [(first, now[1 - first]), (1 - first, before[first])];
        for (side, limit) in rounds {
            // Rows that come in the meantime are seen the next time.
            let [mut row, end] = [before[side], now[side]];
            if row == end || part.inputs.len() == 2 && limit == 0 {
                continue;
            }
            if let [_, _] = plan.sides[..]
                && plan.sides[1 - side].index != u16::MAX
            {
                let other = part.inputs[1 - side].predicate;
                self.tables[other].prepare(plan.sides[1 - side].index);
            }
            while row < end {
                while row < end && matches.numbers.len() < CHUNK {
                    let until = end.min(row + TOGETHER as u32);
                    self.ahead(part, plan, side, row..until);
                    for row in row..until {
                        if plan.sides.is_empty() {
                            self.select(part, plan, row, &mut matches)?;
                        } else {
                            self.join(part, plan, side, row, limit, &mut matches)?;
                        }
                    }
                    row = until;
                }
                self.meter.step((matches.numbers.len() / matches.stride) as u64)?;
                found(self, &matches)?;
                matches.numbers.clear();
                self.look()?;
            }
        }
        Ok(())
    }

    /// Matches a row of the only input.
    fn select(
        &mut self,
        part: &Part,
        plan: &JoinPlan,
        row: u32,
        matches: &mut Matches,
    ) -> Result<(), Halt> {
        self.meter.step(1)?;
        let atom = &part.inputs[0];
        let values = self.tables[atom.predicate].row(row);
        self.registers.fill(NONE);
        let fits = atom
            .arguments
            .iter()
            .zip(values)
            .all(|(pattern, &value)| fit(pattern, value, &self.terms, &mut self.registers));
        if fits {
            self.accept(part, plan, [row, NONE], matches);
        }
        Ok(())
    }

    /// Fetches from memory what joining some rows of one side will look up, all at
    /// once.
    fn ahead(&self, part: &Part, plan: &JoinPlan, side: usize, rows: Range<u32>) {
        let Some(Side { keys, index, .. }) = plan.sides.get(1 - side) else { return };
        let other = &self.tables[part.inputs[1 - side].predicate];
        if *index == u16::MAX || !other.is_far(*index) {
            return;
        }
        let table = &self.tables[part.inputs[side].predicate];
        let mut found = [NONE; TOGETHER];
        for (found, row) in found.iter_mut().zip(rows) {
            let values = table.row(row);
            *found = other.glance(*index, keys.iter().map(|&column| values[usize::from(column)]));
        }
        found.into_iter().for_each(|row| other.touch(row));
    }

    /// Joins a row of one side with the rows of the other side below a limit.
    fn join(
        &mut self,
        part: &Part,
        plan: &JoinPlan,
        side: usize,
        row: u32,
        limit: u32,
        matches: &mut Matches,
    ) -> Result<(), Halt> {
        self.meter.step(1)?;
        let values = self.tables[part.inputs[side].predicate].row(row);
        for (&variable, &value) in plan.sides[side].variables.iter().zip(values) {
            self.registers[variable as usize] = value;
        }
        let other = 1 - side;
        let Side { variables, keys, index } = &plan.sides[other];
        let id = part.inputs[other].predicate;
        let mut at = match *index {
            u16::MAX => 0,
            index => {
                let keys = keys.iter().map(|&column| values[usize::from(column)]);
                self.tables[id].first(index, keys)
            }
        };
        while at != NONE && (*index != u16::MAX || at < limit) {
            if at < limit {
                let table = &self.tables[id];
                for (&variable, &value) in variables.iter().zip(table.row(at)) {
                    self.registers[variable as usize] = value;
                }
                let rows = if side == 0 { [row, at] } else { [at, row] };
                self.accept(part, plan, rows, matches);
            }
            self.meter.step(1)?;
            at = match *index {
                u16::MAX => at + 1,
                index => self.tables[id].after(index, at),
            };
        }
        Ok(())
    }

    /// Tests a match and takes it down.
    #[inline]
    fn accept(&self, part: &Part, plan: &JoinPlan, rows: [u32; 2], matches: &mut Matches) {
        let (terms, registers) = (&*self.terms, &self.registers[..]);
        for (left, right) in &part.differ {
            if equal(left, right, terms, registers) {
                return;
            }
        }
        for &at in &plan.tests {
            if self.find(&part.absent[at]) != NONE {
                return;
            }
        }
        matches.numbers.extend_from_slice(&rows);
        for &at in &plan.absent {
            matches.numbers.push(self.find(&part.absent[at]));
        }
        matches.numbers.extend(plan.kept.iter().map(|kept| match *kept {
            Kept::Variable(id) => registers[id as usize],
            Kept::Constant(term) => term,
        }));
    }

    /// The row of a sentence whose variables are known, or `NONE`.
    fn find(&self, atom: &Atom) -> u32 {
        let mut values: smallvec::SmallVec<[TermId; 8]> = smallvec::SmallVec::new();
        for pattern in &atom.arguments {
            match value(pattern, &self.terms, &self.registers) {
                Some(term) => values.push(term),
                None => return NONE,
            }
        }
        self.tables[atom.predicate].find_row(&values)
    }

    /// Fetches from memory what entering these matches will look at, all at once.
    pub(super) fn fetch(&self, joins: &Joins, operation: usize, group: Group<'_>) {
        if self.is_plain[operation] {
            let table = &self.tables[joins.operations[operation].target];
            let Some(unique) = table.unique().filter(|&index| table.is_far(index)) else { return };
            let mut rows = [NONE; TOGETHER];
            for (row, (_, _, values)) in rows.iter_mut().zip(group.iter()) {
                *row = table.glance(unique, values.iter().copied());
            }
            rows.into_iter().for_each(|row| table.touch(row));
        }
    }

    /// Puts the row that follows from a match into a table. Returns the row,
    /// and whether it is new.
    pub(super) fn enter(
        &mut self,
        joins: &Joins,
        operation: usize,
        values: &[TermId],
    ) -> Result<(u32, bool), Halt> {
        let target = joins.operations[operation].target;
        if self.is_plain[operation] {
            return Ok(self.tables[target].insert_or_find(values));
        }
        self.enter_built(&joins.operations[operation].part, target, values)
    }

    fn enter_built(
        &mut self,
        part: &Part,
        target: RelationId,
        values: &[TermId],
    ) -> Result<(u32, bool), Halt> {
        let mut at = 0;
        let mut known = std::mem::take(&mut self.registers);
        known.clear();
        known.resize(part.n_variables as usize, NONE);
        let mut note = |id: u32| {
            if known[id as usize] == NONE {
                known[id as usize] = values[at];
                at += 1;
            }
        };
        part.output.iter().for_each(|pattern| each_variable(pattern, &mut note));
        let mut row: smallvec::SmallVec<[TermId; 8]> = smallvec::SmallVec::new();
        for pattern in &part.output {
            row.push(self.build(pattern, &known)?);
        }
        self.registers = known;
        Ok(self.tables[target].insert_or_find(&row))
    }

    fn build(&mut self, pattern: &Pattern, known: &[TermId]) -> Result<TermId, Halt> {
        match pattern {
            Pattern::Constant(term) => Ok(*term),
            Pattern::Variable(id) => Ok(known[*id as usize]),
            Pattern::Compound(functor, arguments) => {
                let mut values: smallvec::SmallVec<[TermId; 8]> = smallvec::SmallVec::new();
                for argument in arguments {
                    values.push(self.build(argument, known)?);
                }
                let term = self.terms.intern(*functor, &values);
                if self.terms.depth(term) > self.meter.budget.max_term_depth {
                    return Err(Halt::TermTooDeep);
                }
                if self.terms.size(term) > MAX_TERM_SIZE {
                    return Err(Halt::TermTooLarge);
                }
                Ok(term)
            }
        }
    }

    /// Compares sizes with the budget, now and then.
    fn look(&mut self) -> Result<(), Halt> {
        if self.terms.len() as u64 > self.meter.budget.max_terms {
            return Err(Halt::Limit(Resource::Terms));
        }
        if self.meter.steps < self.next_look {
            return Ok(());
        }
        self.next_look = self.meter.steps + (1 << 20);
        let rows = self.tables.iter().map(|table| u64::from(table.n_rows())).sum();
        self.meter.hold(rows, self.bytes(), 0)
    }

    /// Number of rows and of different values of each column, if there is any.
    pub(super) fn measured(&mut self, relation: RelationId) -> Option<(f64, Vec<f64>)> {
        self.measures.resize(self.tables.len(), None);
        let table = &self.tables[relation];
        let n_rows = table.n_rows();
        let measure = &mut self.measures[relation];
        if measure.as_ref().is_none_or(|(then, _)| *then != n_rows) {
            let distinct = (0..table.arity()).map(|column| table.n_distinct(column) as f64);
            *measure = Some((n_rows, distinct.collect()));
        }
        let distinct = &measure.as_ref()?.1;
        (n_rows > 0).then(|| (f64::from(n_rows), distinct.clone()))
    }

    /// Memory held, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let tables = self.tables.iter().map(RelationTable::bytes).sum::<usize>();
        // Terms are held twice.
        (tables + 2 * self.terms.bytes()) as u64
    }

    /// Number of rows of all relations.
    pub(super) fn n_rows(&self) -> u64 {
        self.tables.iter().map(|table| u64::from(table.n_rows())).sum()
    }
}

fn variable(pattern: &Pattern) -> u32 {
    match pattern {
        Pattern::Variable(id) => *id,
        _ => unreachable!("the inputs of a join are variables"),
    }
}

/// Fits a term into a pattern, binding variables.
fn fit(pattern: &Pattern, term: TermId, terms: &Store, registers: &mut [TermId]) -> bool {
    match pattern {
        Pattern::Constant(constant) => *constant == term,
        Pattern::Variable(id) => {
            let register = &mut registers[*id as usize];
            if *register == NONE {
                *register = term;
            }
            *register == term
        }
        Pattern::Compound(functor, arguments) => {
            terms.functor(term) == *functor
                && arguments
                    .iter()
                    .zip(terms.arguments(term))
                    .all(|(pattern, &term)| fit(pattern, term, terms, registers))
        }
    }
}

/// The term of a pattern, if there is such a term yet.
fn value(pattern: &Pattern, terms: &Store, registers: &[TermId]) -> Option<TermId> {
    match pattern {
        Pattern::Constant(term) => Some(*term),
        Pattern::Variable(id) => Some(registers[*id as usize]),
        Pattern::Compound(functor, arguments) => {
            let values: Option<smallvec::SmallVec<[TermId; 8]>> =
                arguments.iter().map(|argument| value(argument, terms, registers)).collect();
            terms.find(*functor, &values?)
        }
    }
}

/// Whether two patterns are the same term, be it known or not.
fn equal(left: &Pattern, right: &Pattern, terms: &Store, registers: &[TermId]) -> bool {
    match (left, right) {
        (Pattern::Compound(one, left), Pattern::Compound(other, right)) => {
            one == other
                && left.iter().zip(right).all(|(left, right)| equal(left, right, terms, registers))
        }
        _ => value(left, terms, registers)
            .is_some_and(|term| value(right, terms, registers) == Some(term)),
    }
}
