//! What the evaluator executes: each clause as a short list of steps that
//! enumerates the ways in which its body holds.
//!
//! All values live in one file of registers. Each plan has registers of its own,
//! constants have theirs for good, so a step names absolute registers and
//! entering a plan costs nothing. A step that fails names the step to resume: an
//! enumeration that may yield another value for what the failed step looked at.

use std::sync::Arc;

use crate::relational::rules::{Phase, PredicateId, Roots};
use crate::relational::table::RelationTable;
use crate::relational::terms::{FunctorId, TermId};

/// A range of one of the program's lists.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Slice {
    #[inline]
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What to do with a column of an enumerated row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take {
    pub(crate) column: u16,
    /// Compare with the register instead of filling it.
    pub(crate) check: bool,
    pub(crate) register: u32,
}

/// One step of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Evaluates a component unless that was done.
    Ensure { component: u32 },
    /// Begins to enumerate a whole table; continues with the next step.
    OpenScan { table: u32, cursor: u32, delta: bool },
    /// Takes the next row.
    NextScan { table: u32, cursor: u32, takes: Slice, fail: u32 },
    /// Begins to enumerate the rows with this key.
    OpenProbe { table: u32, index: u16, keys: Slice, cursor: u32, fail: u32 },
    /// Takes the next of them.
    NextProbe { table: u32, index: u16, cursor: u32, takes: Slice, fail: u32 },
    /// Whether some row has this key.
    Test { table: u32, index: u16, keys: Slice, negated: bool, fail: u32 },
    /// Whether there is any row.
    Any { table: u32, negated: bool, fail: u32 },
    /// Takes a term apart.
    Open { source: u32, functor: FunctorId, takes: Slice, fail: u32 },
    /// Finds a term built of registers; fails if it was never built.
    Find { functor: FunctorId, arguments: Slice, target: u32, fail: u32 },
    /// Builds a term.
    Build { functor: FunctorId, arguments: Slice, target: u32 },
    /// Whether two registers are the same.
    Same { left: u32, right: u32, fail: u32 },
    /// Whether two registers differ.
    Differ { left: u32, right: u32, fail: u32 },
    /// Asks a predicate on demand whether it holds for this key.
    Call { call: u32, keys: Slice, negated: bool, fail: u32 },
    /// Puts all answers to this key into the call's table.
    Demand { call: u32, keys: Slice },
    /// The body holds: adds a row.
    Insert { table: u32, values: Slice, fail: u32 },
    /// The body holds, which is the answer.
    Found,
    /// There are no more ways.
    End,
}

/// A clause, ready to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClausePlan {
    pub(crate) start: u32,
    /// Its own registers.
    pub(crate) registers: Slice,
    /// Where the bound arguments of a call go.
    pub(crate) inputs: Slice,
}

/// How a recursive clause is run: with the rows of one recursive condition
/// restricted to those of the last round.
#[derive(Clone, Debug)]
pub(crate) struct Recursive {
    pub(crate) plan: u32,
    /// The table whose last rows it takes.
    pub(crate) table: u32,
}

/// The clauses of one stratum of a component.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    pub(crate) plans: Vec<u32>,
    pub(crate) recursive: Vec<Recursive>,
}

/// How to evaluate a component.
#[derive(Clone, Debug)]
pub(crate) struct ComponentEvaluation {
    pub(crate) phase: Phase,
    pub(crate) tables: Vec<u32>,
    pub(crate) rounds: Vec<Round>,
    /// A single proposition: one proof is enough.
    pub(crate) proposition: bool,
}

/// A predicate asked with some arguments bound.
#[derive(Clone, Debug)]
pub(crate) struct CallPlan {
    pub(crate) predicate: PredicateId,
    pub(crate) phase: Phase,
    pub(crate) plans: Vec<u32>,
    /// The keys asked before.
    pub(crate) asked: u32,
    /// The answers, unless the key is all there is.
    pub(crate) answers: Option<u32>,
    /// Whether answers are remembered.
    pub(crate) memo: bool,
    /// Whether it may lead back to itself.
    pub(crate) recursive: bool,
}

/// A relation's columns, and the indexes its users want.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableLayout {
    pub(crate) arity: usize,
    pub(crate) distinct: bool,
    pub(crate) indexes: Vec<Vec<u16>>,
}

/// Where facts of one functor go when a state is loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FactTable {
    pub(crate) functor: FunctorId,
    pub(crate) table: u32,
}

/// Everything known before the first state; shared by all forks.
#[derive(Clone, Debug)]
pub(crate) struct RuleProgram {
    pub(crate) steps: Vec<Step>,
    pub(crate) operands: Vec<u32>,
    pub(crate) takes: Vec<Take>,
    pub(crate) plans: Vec<ClausePlan>,
    pub(crate) calls: Vec<CallPlan>,
    /// Those whose answers never change.
    pub(crate) static_calls: Vec<u32>,
    /// By component; `None` for what is given or static.
    pub(crate) evaluations: Vec<Option<ComponentEvaluation>>,
    /// By component, what to evaluate first lest evaluation nest too deeply, in
    /// order; empty if there is no such danger.
    pub(crate) prerequisites: Vec<Vec<u32>>,
    /// The static relations; their table numbers come first.
    pub(crate) statics: Vec<Arc<RelationTable>>,
    /// The layouts of the others.
    pub(crate) layouts: Vec<TableLayout>,
    /// The first content of the registers: constants are there for good.
    pub(crate) registers: Vec<TermId>,
    /// The table of each predicate.
    pub(crate) table_of: Vec<u32>,
    pub(crate) component_of: Vec<u32>,
    pub(crate) facts: Vec<FactTable>,
    pub(crate) all_facts: Option<u32>,
    pub(crate) roots: Roots,
    /// The role constants, in order.
    pub(crate) roles: Vec<TermId>,
}
