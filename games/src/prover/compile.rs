//! From rules to a program: the static relations are evaluated once and for
//! all, then everything else is planned with their true sizes.

use std::sync::Arc;

use super::evaluate::Engine;
use super::plan::{Mode, Planner};
use super::program::{FactTable, Program};
use super::rules::{Phase, Rules, Source};
use super::statistics::{Size, Sizes};
use super::table::Table;
use super::terms::{TermId, Terms};
use crate::state_machine::{Guards, ReasoningError};

/// The rules with their static relations.
pub(crate) struct Statics {
    pub(crate) table_of: Vec<u32>,
    pub(crate) tables: Vec<Table>,
    pub(crate) sizes: Sizes,
}

/// Numbers the tables, static ones first, and evaluates those.
pub(crate) fn statics(
    rules: &Rules,
    terms: &mut Terms,
    guards: &Guards,
) -> Result<Statics, ReasoningError> {
    let n = rules.predicates.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&id| (rules.predicates[id].phase != Phase::Static, id));
    let mut table_of = vec![0; n];
    for (table, &id) in order.iter().enumerate() {
        table_of[id] = table as u32;
    }
    let sizes: Vec<Size> =
        rules.predicates.iter().map(|predicate| Size::unknown(predicate.arity)).collect();
    let mut planner =
        Planner::new(rules, vec![Mode::Full; n], Sizes { sizes }, table_of.clone(), 0);
    let mut program = assemble(rules, &planner, Vec::new(), Vec::new(), Vec::new());
    let mut engine = Engine::new(&program, terms.clone(), guards.clone());
    for (at, component) in rules.components.iter().enumerate() {
        if rules.predicates[component.predicates[0]].phase != Phase::Static {
            continue;
        }
        let evaluation = planner.component(at, &mut []);
        program = assemble(rules, &planner, Vec::new(), Vec::new(), Vec::new());
        program.evaluations[at] = Some(evaluation);
        engine.adopt(&program);
        engine.ensure(&program, at as u32)?;
        for &id in &component.predicates {
            planner.sizes.sizes[id] = measured(engine.table(&program, table_of[id]));
        }
    }
    *terms = engine.terms;
    let n_static = rules.predicates.iter().filter(|info| info.phase == Phase::Static).count();
    let tables = engine.tables[..n_static].iter().map(copied).collect();
    Ok(Statics { table_of, tables, sizes: planner.sizes })
}

/// The rows alone, without the indexes that were wanted on the way.
fn copied(table: &Table) -> Table {
    let mut copy = Table::new(table.arity());
    for row in 0..table.n_rows() {
        if table.arity() == 0 {
            copy.insert(&[]);
        } else {
            copy.push(table.row(row));
        }
    }
    copy
}

fn measured(table: &Table) -> Size {
    Size {
        rows: f64::from(table.n_rows()),
        distinct: (0..table.arity()).map(|column| table.n_distinct(column) as f64).collect(),
    }
}

/// Plans everything that depends on the state.
pub(crate) fn program(
    rules: &Rules,
    statics: &Statics,
    modes: Vec<Mode>,
    sizes: Sizes,
    roles: Vec<TermId>,
) -> Program {
    let mut tables = statics.tables.clone();
    let mut planner = Planner::new(rules, modes, sizes, statics.table_of.clone(), tables.len());
    let evaluations = (0..rules.components.len())
        .map(|at| {
            let first = rules.components[at].predicates[0];
            let info = &rules.predicates[first];
            let derived = info.phase != Phase::Static && info.source == Source::Clauses;
            derived.then(|| planner.component(at, &mut tables))
        })
        .collect();
    let mut program = assemble(rules, &planner, tables, evaluations, roles);
    for table in &mut program.statics {
        table.prepare_all();
    }
    program
}

fn assemble(
    rules: &Rules,
    planner: &Planner<'_>,
    statics: Vec<Table>,
    mut evaluations: Vec<Option<super::program::Evaluation>>,
    roles: Vec<TermId>,
) -> Program {
    evaluations.resize(rules.components.len(), None);
    let mut facts = Vec::new();
    let mut all_facts = None;
    for (id, predicate) in rules.predicates.iter().enumerate() {
        let table = planner.table_of[id];
        match predicate.source {
            Source::Facts(functor) => {
                facts.push(FactTable { functor, table, arity: predicate.arity as u16 });
            }
            Source::AllFacts => all_facts = Some(table),
            Source::Moves | Source::Clauses => {}
        }
    }
    Program {
        steps: planner.steps.clone(),
        operands: planner.operands.clone(),
        takes: planner.takes.clone(),
        plans: planner.plans.clone(),
        calls: planner.calls.clone(),
        evaluations,
        statics,
        layouts: planner.layouts.clone(),
        registers: planner.registers.clone(),
        table_of: planner.table_of.clone(),
        component_of: rules.predicates.iter().map(|info| info.component as u32).collect(),
        facts,
        all_facts,
        roots: rules.roots,
        roles,
    }
}

/// Rules, static relations and a first program.
pub(crate) fn compile(
    rules: &Rules,
    terms: &mut Terms,
    roles: Vec<TermId>,
    guards: &Guards,
) -> Result<Arc<Program>, ReasoningError> {
    let statics = statics(rules, terms, guards)?;
    let modes = vec![Mode::Full; rules.predicates.len()];
    let sizes = statics.sizes.clone();
    Ok(Arc::new(program(rules, &statics, modes, sizes, roles)))
}
