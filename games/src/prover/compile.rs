//! From rules to a program: static relations are evaluated once, then everything else is
//! planned with their true sizes.

use std::sync::Arc;

use super::clause_plan::{ClausePlanner, Mode};
use super::evaluate::RuleEvaluator;
use super::halt::Halt;
use super::rule_program::{ComponentEvaluation, FactTable, RuleProgram};
use super::sizes::{Size, Sizes};
use crate::relational::rules::{Condition, Phase, Rules, Source};
use crate::relational::table::RelationTable;
use crate::relational::terms::{TermId, Terms};
use crate::state_machine::{Cancel, Guards, ReasoningError};

/// A static component that takes more steps is evaluated on demand.
const MAX_STATIC_STEPS: u64 = 4_000_000;

/// Deepest nesting of predicates that are evaluated on first use.
const MAX_NESTING: usize = 50;

/// Everything that plans are made of.
#[derive(Clone, Debug)]
pub(crate) struct Blueprint {
    pub(crate) rules: Arc<Rules>,
    /// The table of each predicate; static ones come first.
    table_of: Vec<u32>,
    /// The static relations, with the indexes that some plan wants.
    tables: Vec<Arc<RelationTable>>,
    pub(crate) modes: Vec<Mode>,
    pub(crate) sizes: Sizes,
    /// Steps that were made for the static relations.
    pub(crate) steps: u64,
    roles: Vec<TermId>,
}

impl Blueprint {
    /// Evaluates the static relations, unless `cancel` is raised.
    pub(crate) fn new(
        rules: Rules,
        terms: &mut Terms,
        roles: Vec<TermId>,
        guards: &Guards,
        cancel: &Cancel,
    ) -> Result<Self, ReasoningError> {
        let n = rules.predicates.len();
        let mut sizes = Sizes {
            sizes: rules.predicates.iter().map(|info| Size::unknown(info.arity)).collect(),
        };
        // For now, each predicate's table has the predicate's number.
        let mut planner = ClausePlanner::new(
            &rules,
            vec![Mode::Full; n],
            sizes.clone(),
            (0..n as u32).collect(),
            0,
        );
        let evaluations = vec![None; rules.components.len()];
        let mut program = assemble(&rules, &planner, Vec::new(), &evaluations, &roles);
        let mut evaluator = RuleEvaluator::new(&program, terms.clone(), guards.clone());
        evaluator.set_cancel(cancel.clone());
        for (at, component) in rules.components.iter().enumerate() {
            let first = &rules.predicates[component.predicates[0]];
            if first.phase != Phase::Static || first.clauses.is_empty() {
                continue;
            }
            let left = guards.max_steps.saturating_sub(evaluator.work);
            // The evaluator looks at all tables when one is added.
            planner.left = left.saturating_sub(n as u64);
            program.evaluations[at] = Some(planner.component(at, &mut []));
            evaluator.work += left - planner.left;
            if planner.left == 0 {
                return Err(evaluator.too_many_steps());
            }
            swap_plans(&mut planner, &mut program);
            evaluator.adopt(&program);
            let left = planner.left;
            let is_needed = rules.is_needed_in_full(at) || !rules.is_demandable(at);
            evaluator.allow(if is_needed { left } else { left.min(MAX_STATIC_STEPS) });
            let result = evaluator.ensure(&program, at as u32);
            for &id in &component.predicates {
                let size = match &result {
                    Ok(()) => measured(evaluator.table(&program, id as u32)),
                    Err(_) => Size::huge(rules.predicates[id].arity),
                };
                planner.sizes.sizes[id] = size;
            }
            match result {
                Ok(()) => {}
                Err(Halt::Budget | Halt::Error(ReasoningError::TooManyFacts { .. }))
                    if rules.is_demandable(at) =>
                {
                    for &id in &component.predicates {
                        planner.modes[id] = Mode::Memo;
                        evaluator.tables[id].clear();
                    }
                    evaluator.begin(&program, Phase::Static);
                }
                Err(Halt::Error(error)) => return Err(error),
                Err(Halt::Budget) => return Err(evaluator.too_many_steps()),
                Err(Halt::TooDeep(_)) => {
                    return Err(ReasoningError::TooManyFacts { limit: guards.max_facts });
                }
            }
            swap_plans(&mut planner, &mut program);
        }
        let modes = planner.modes;
        sizes.sizes = planner.sizes.sizes;
        let is_fixed =
            |id: usize| rules.predicates[id].phase == Phase::Static && modes[id] == Mode::Full;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&id| !is_fixed(id));
        let mut table_of = vec![0; n];
        for (table, &id) in order.iter().enumerate() {
            table_of[id] = table as u32;
        }
        let fixed = order.iter().copied().filter(|&id| is_fixed(id));
        let tables = fixed.map(|id| Arc::new(copied(&evaluator.tables[id]))).collect();
        let steps = evaluator.work;
        *terms = evaluator.terms;
        Ok(Self { rules: Arc::new(rules), table_of, tables, modes, sizes, steps, roles })
    }

    /// Plans everything that depends on the state. Returns the program and the number of
    /// steps; `None` if it takes more than `max_steps`.
    pub(crate) fn program(&mut self, max_steps: u64) -> Option<(RuleProgram, u64)> {
        let rules = Arc::clone(&self.rules);
        let mut planner = ClausePlanner::new(
            &rules,
            self.modes.clone(),
            self.sizes.clone(),
            self.table_of.clone(),
            self.tables.len(),
        );
        planner.left = max_steps;
        let evaluations: Vec<_> = (0..rules.components.len())
            .map(|at| {
                let first = rules.components[at].predicates[0];
                let fixed = (self.table_of[first] as usize) < self.tables.len();
                let derived = !fixed && rules.predicates[first].source == Source::Clauses;
                derived.then(|| planner.component(at, &mut self.tables))
            })
            .collect();
        if planner.left == 0 {
            return None;
        }
        let program = assemble(&rules, &planner, self.tables.clone(), &evaluations, &self.roles);
        Some((program, max_steps - planner.left))
    }

    /// Whether a component has tables of each state or joint move.
    pub(crate) fn is_fixed(&self, component: usize) -> bool {
        let first = self.rules.components[component].predicates[0];
        (self.table_of[first] as usize) < self.tables.len()
    }

    pub(crate) fn set_mode(&mut self, component: usize, mode: Mode) {
        let rules = Arc::clone(&self.rules);
        for &id in &rules.components[component].predicates {
            self.modes[id] = mode;
        }
    }

    /// Records that a component is too large to be evaluated in full.
    pub(crate) fn expect_huge(&mut self, component: usize) {
        for &id in &self.rules.components[component].predicates {
            self.sizes.sizes[id] = Size::huge(self.rules.predicates[id].arity);
        }
    }

    pub(crate) fn mode(&self, component: usize) -> Mode {
        self.modes[self.rules.components[component].predicates[0]]
    }
}

/// Lends the program what was planned so far, or gives it back: a copy for each
/// of many static relations would take long.
fn swap_plans(planner: &mut ClausePlanner<'_>, program: &mut RuleProgram) {
    std::mem::swap(&mut planner.steps, &mut program.steps);
    std::mem::swap(&mut planner.operands, &mut program.operands);
    std::mem::swap(&mut planner.takes, &mut program.takes);
    std::mem::swap(&mut planner.plans, &mut program.plans);
    std::mem::swap(&mut planner.calls, &mut program.calls);
    std::mem::swap(&mut planner.layouts, &mut program.layouts);
    std::mem::swap(&mut planner.registers, &mut program.registers);
    // Only static relations are planned here.
    program.static_calls = (0..program.calls.len() as u32).collect();
}

/// The rows alone, without the indexes that were wanted on the way.
fn copied(table: &RelationTable) -> RelationTable {
    let mut copy = RelationTable::new(table.arity());
    for row in 0..table.n_rows() {
        if table.arity() == 0 {
            copy.insert(&[]);
        } else {
            copy.push(table.row(row));
        }
    }
    copy
}

pub(crate) fn measured(table: &RelationTable) -> Size {
    Size {
        rows: f64::from(table.n_rows()),
        distinct: (0..table.arity()).map(|column| table.n_distinct(column) as f64).collect(),
    }
}

/// Evaluation on first use nests as deeply as predicates depend on each other. Where that
/// may exhaust the stack, everything is evaluated from the bottom instead.
fn prerequisites(
    rules: &Rules,
    planner: &ClausePlanner<'_>,
    evaluations: &[Option<ComponentEvaluation>],
) -> Vec<Vec<u32>> {
    let n = rules.components.len();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut depths = vec![0; n];
    for at in 0..n {
        for &id in &rules.components[at].predicates {
            for &clause in &rules.predicates[id].clauses {
                let atoms = rules.clauses[clause].body.iter().filter_map(Condition::atom);
                below[at].extend(atoms.map(|(atom, _)| rules.predicates[atom.predicate].component));
            }
        }
        below[at].retain(|&other| other != at && evaluations[other].is_some());
        depths[at] = below[at].iter().map(|&other| depths[other] + 1).max().unwrap_or(0);
    }
    let mut prerequisites = vec![Vec::new(); n];
    for at in (0..n).filter(|&at| depths[at] > MAX_NESTING && rules.is_needed_in_full(at)) {
        let mut needed = vec![false; n];
        let mut todo = below[at].clone();
        while let Some(other) = todo.pop() {
            if !std::mem::replace(&mut needed[other], true) {
                todo.extend(&below[other]);
            }
        }
        let in_full = |&other: &usize| {
            needed[other] && planner.modes[rules.components[other].predicates[0]] == Mode::Full
        };
        prerequisites[at] = (0..n).filter(in_full).map(|other| other as u32).collect();
    }
    prerequisites
}

fn assemble(
    rules: &Rules,
    planner: &ClausePlanner<'_>,
    statics: Vec<Arc<RelationTable>>,
    evaluations: &[Option<ComponentEvaluation>],
    roles: &[TermId],
) -> RuleProgram {
    let mut facts = Vec::new();
    let mut all_facts = None;
    for (id, predicate) in rules.predicates.iter().enumerate() {
        let table = planner.table_of[id];
        match predicate.source {
            Source::Facts(functor) => facts.push(FactTable { functor, table }),
            Source::AllFacts => all_facts = Some(table),
            Source::Moves | Source::Clauses => {}
        }
    }
    let static_calls = (0..planner.calls.len() as u32)
        .filter(|&id| planner.calls[id as usize].phase == Phase::Static)
        .collect();
    RuleProgram {
        steps: planner.steps.clone(),
        operands: planner.operands.clone(),
        takes: planner.takes.clone(),
        plans: planner.plans.clone(),
        calls: planner.calls.clone(),
        static_calls,
        evaluations: evaluations.to_vec(),
        prerequisites: prerequisites(rules, planner, evaluations),
        statics,
        layouts: planner.layouts.clone(),
        registers: planner.registers.clone(),
        table_of: planner.table_of.clone(),
        component_of: rules.predicates.iter().map(|info| info.component as u32).collect(),
        facts,
        all_facts,
        roots: rules.roots,
        roles: roles.to_vec(),
    }
}
