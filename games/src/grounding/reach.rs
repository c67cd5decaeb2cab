//! Derives what can possibly hold, by the rules as one program without time.
//!
//! Every fact that is true initially or in a next state is a fact, every legal move is
//! a move, and a negated condition that depends on the state is assumed to hold. The
//! least model of this program contains everything that is true in some reachable state,
//! and more. Static relations are evaluated exactly, and first.

use super::join_order::{self, Purpose, Sizes};
use super::joining::JoinWorkspace;
use super::limits::{Halt, Resource};
use super::operations::{Joins, RelationId};
use super::unfolding::{self, Askers};
use crate::relational::rules::{Component, PredicateId, Rules, Source};
use crate::relational::terms::{FunctorId, NONE, TermId};

/// Steps of the first attempt to derive everything: after it, joins are
/// ordered anew by the sizes that were seen. Each attempt has more steps.
const FIRST_ATTEMPT: u64 = 2_000_000;
const ATTEMPTS: u32 = 3;

/// A clause whose expected cost is this many times the whole budget, by the sizes in
/// earlier attempts, is not tried. Expectations are often too high, but not by that much.
const HOPELESS: u64 = 20;

/// Steps after which a static relation is too large to be written down, if it can be
/// unfolded. Unfolding then pays: the joins that the relation would save cost much less.
const MAX_WRITTEN_DOWN: u64 = 1 << 20;

/// All that can be asked.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) joins: Joins,
    pub(super) workspace: JoinWorkspace,
    /// The facts, in order of discovery.
    pub(super) facts: Vec<TermId>,
    /// By term: whether it is among the facts.
    is_fact: Vec<bool>,
    fact_relations: Vec<u32>,
    all_facts: Option<RelationId>,
    /// The rows of `init`, `next` and `legal` that were made facts and moves.
    linked: [u32; 3],
    roles: Vec<TermId>,
    /// The clause at work, for messages.
    pub(super) clause: usize,
}

impl Reach {
    pub(super) fn new(rules: &Rules, workspace: JoinWorkspace, roles: Vec<TermId>) -> Self {
        let joins = Joins::new(rules);
        let (mut fact_relations, mut all_facts) = (Vec::new(), None);
        for (id, predicate) in rules.predicates.iter().enumerate() {
            match predicate.source {
                Source::Facts(functor) => {
                    let functor = functor as usize;
                    fact_relations.resize(fact_relations.len().max(functor + 1), NONE);
                    fact_relations[functor] = id as u32;
                }
                Source::AllFacts => all_facts = Some(id),
                Source::Moves | Source::Clauses => {}
            }
        }
        let mut reach = Self {
            joins,
            workspace,
            facts: Vec::new(),
            is_fact: Vec::new(),
            fact_relations,
            all_facts,
            linked: [0; 3],
            roles,
            clause: 0,
        };
        reach.workspace.make_room(&reach.joins);
        reach.workspace.tables[reach.joins.unit].insert(&[]);
        reach
    }

    /// Evaluates the static relations. Those that turn out to be too large are unfolded
    /// if possible.
    pub(super) fn evaluate_static(&mut self, rules: &mut Rules) -> Result<(), Halt> {
        let mut askers = Askers::new(rules);
        for at in 0..rules.components.len() {
            let component = rules.components[at].clone();
            let is_static = |&id: &PredicateId| self.joins.relations[id].is_static;
            if !component.predicates.iter().all(is_static) {
                continue;
            }
            let candidate = unfolding::candidate(rules, &askers, &component);
            if candidate.is_some() {
                self.workspace.meter.attempt = self.workspace.meter.steps + MAX_WRITTEN_DOWN;
            }
            let result = self.evaluate_component(rules, at, &component);
            self.workspace.meter.attempt = u64::MAX;
            match (result, candidate) {
                (Err(Halt::Attempt), Some(id)) => {
                    self.joins.forget_clauses(|concerned| concerned == id);
                    // If most matches are discarded or an intermediate relation is large,
                    // the relation itself may be small.
                    let n_rows = u64::from(self.workspace.tables[id].n_rows());
                    if n_rows < MAX_WRITTEN_DOWN / 8 {
                        self.evaluate_component(rules, at, &component)?;
                    } else {
                        self.workspace.tables[id].clear();
                        unfolding::unfold(rules, &askers, id);
                        askers = Askers::new(rules);
                        continue;
                    }
                }
                (result, _) => result?,
            }
            self.joins.settle(&component.predicates);
        }
        Ok(())
    }

    /// Evaluates static relations that depend on each other.
    fn evaluate_component(
        &mut self,
        rules: &Rules,
        at: usize,
        component: &Component,
    ) -> Result<(), Halt> {
        let clauses = || component.predicates.iter().flat_map(|&id| &rules.predicates[id].clauses);
        let mut strata: Vec<usize> = clauses().map(|&at| rules.clauses[at].stratum).collect();
        strata.sort_unstable();
        strata.dedup();
        if !component.negation_inside {
            strata.truncate(1);
        }
        for stratum in strata {
            for &id in clauses() {
                let clause = &rules.clauses[id];
                if component.negation_inside && clause.stratum != stratum {
                    continue;
                }
                let scope = if component.negation_inside { (at << 32) | (stratum + 1) } else { 0 };
                self.clause = id;
                let Self { joins, workspace, .. } = self;
                let first = joins.operations.len();
                join_order::split(
                    joins,
                    clause,
                    id,
                    scope,
                    Purpose::Reach,
                    f64::INFINITY,
                    workspace,
                )?;
                let new: Vec<usize> = (first..joins.operations.len()).collect();
                // Where too many terms are built, that is soon seen: before
                // other clauses are split, which may have the larger joins.
                let builds = |&id: &usize| joins.operations[id].part.builds_terms();
                if !component.negation_inside && new.iter().any(builds) {
                    self.workspace.make_room(&self.joins);
                    self.run_all(&new)?;
                }
            }
            self.workspace.make_room(&self.joins);
            let operations = self.joins.needed(component.predicates.iter().copied());
            while self.run_all(&operations)? {}
        }
        Ok(())
    }

    /// Derives all facts and moves, and all that may hold of them.
    pub(super) fn derive(&mut self, rules: &Rules) -> Result<(), Halt> {
        for attempt in 0..ATTEMPTS {
            self.workspace.meter.attempt = match attempt + 1 {
                ATTEMPTS => u64::MAX,
                _ => self.workspace.meter.steps + (FIRST_ATTEMPT << (3 * attempt)),
            };
            let result = self.attempt(rules);
            self.workspace.meter.attempt = u64::MAX;
            match result {
                Ok(false) | Err(Halt::Attempt) => {}
                Ok(true) => return Ok(()),
                Err(halt) => return Err(halt),
            }
        }
        unreachable!("the last attempt has no limit of its own")
    }

    /// Derives what can be derived within this attempt. Returns whether that is
    /// everything. Clauses that are expected to use up the attempt alone are left out:
    /// such an expectation is often wrong before the sizes of their conditions are known,
    /// which the other clauses reveal.
    fn attempt(&mut self, rules: &Rules) -> Result<bool, Halt> {
        let is_last = self.workspace.meter.attempt == u64::MAX;
        let limit = match self.workspace.meter.attempt {
            u64::MAX => self.workspace.meter.budget.max_steps.saturating_mul(HOPELESS),
            end => end - self.workspace.meter.steps,
        };
        let is_whole = self.split_all(rules, Purpose::Reach, limit as f64)?;
        if is_last && !is_whole {
            return Err(Halt::Limit(Resource::Steps));
        }
        // Also what is only asked to be absent.
        let operations = self.joins.needed(0..rules.predicates.len());
        loop {
            let mut grown = self.link(rules);
            grown |= self.run_all(&operations)?;
            if !grown {
                return Ok(is_whole);
            }
        }
    }

    /// Makes the operations that compute what holds, given all that can hold.
    pub(super) fn split_for_circuit(&mut self, rules: &Rules) -> Result<(), Halt> {
        let limit = self.workspace.meter.budget.max_ands.saturating_mul(HOPELESS);
        match self.split_all(rules, Purpose::Compute, limit as f64)? {
            true => Ok(()),
            false => Err(Halt::Limit(Resource::Ands)),
        }
    }

    /// Makes new operations for all clauses that depend on the state, except for those
    /// that are expected to cost more than `limit`. Returns whether there are none of
    /// these; otherwise `clause` is the first of them.
    fn split_all(&mut self, rules: &Rules, purpose: Purpose, limit: f64) -> Result<bool, Halt> {
        let mut too_large = None;
        let Self { joins, workspace, .. } = self;
        let is_static: Vec<bool> = joins.relations.iter().map(|info| info.is_static).collect();
        joins.forget_clauses(|id| !is_static[id]);
        for (id, predicate) in rules.predicates.iter().enumerate() {
            if is_static[id] {
                continue;
            }
            for &clause in &predicate.clauses {
                self.clause = clause;
                let clause = &rules.clauses[clause];
                if !join_order::split(joins, clause, self.clause, 0, purpose, limit, workspace)? {
                    too_large.get_or_insert(self.clause);
                }
            }
        }
        workspace.make_room(joins);
        self.clause = too_large.unwrap_or(self.clause);
        Ok(too_large.is_none())
    }

    /// Runs operations over new rows. Returns whether there were results.
    fn run_all(&mut self, operations: &[usize]) -> Result<bool, Halt> {
        let mut grown = false;
        for &id in operations {
            self.clause = self.joins.operations[id].clause;
            grown |= fill(&mut self.workspace, &self.joins, id)?;
        }
        Ok(grown)
    }

    /// Turns rows of `init` and `next` into facts and rows of `legal` into moves. Returns
    /// whether there are new ones.
    fn link(&mut self, rules: &Rules) -> bool {
        let roots = &rules.roots;
        let mut grown = false;
        for (at, relation) in [roots.init, roots.next].into_iter().enumerate() {
            for row in self.linked[at]..self.workspace.tables[relation].n_rows() {
                grown |= self.link_fact(self.workspace.tables[relation].value(row, 0));
            }
            self.linked[at] = self.workspace.tables[relation].n_rows();
        }
        for row in self.linked[2]..self.workspace.tables[roots.legal].n_rows() {
            let [role, played] = [0, 1].map(|at| self.workspace.tables[roots.legal].value(row, at));
            if self.roles.contains(&role) {
                grown |= self.workspace.tables[roots.does].insert(&[role, played]);
            }
        }
        self.linked[2] = self.workspace.tables[roots.legal].n_rows();
        grown
    }

    fn link_fact(&mut self, fact: TermId) -> bool {
        let at = fact as usize;
        if self.is_fact.len() <= at {
            self.is_fact.resize(self.workspace.terms.len().max(at + 1), false);
        }
        if std::mem::replace(&mut self.is_fact[at], true) {
            return false;
        }
        self.facts.push(fact);
        self.enter_fact(fact, |_, _| ());
        true
    }

    /// Puts a fact into its relations and calls `entered` for each of them.
    pub(super) fn enter_fact(&mut self, fact: TermId, mut entered: impl FnMut(RelationId, u32)) {
        let JoinWorkspace { terms, tables, .. } = &mut self.workspace;
        let functor: FunctorId = terms.functor(fact);
        if let Some(&id) = self.fact_relations.get(functor as usize)
            && id != NONE
        {
            let mut row = terms.arguments(fact).to_vec();
            if !row.is_empty() {
                row.push(fact);
            }
            let (row, _) = tables[id as usize].insert_or_find(&row);
            entered(id as usize, row);
        }
        if let Some(id) = self.all_facts {
            let (row, _) = tables[id].insert_or_find(&[fact]);
            entered(id, row);
        }
    }
}

/// The relations that questions about states use, apart from `init`.
pub(super) fn roots(rules: &Rules) -> [RelationId; 5] {
    let roots = &rules.roots;
    [roots.legal, roots.next, roots.terminal, roots.goal, roots.sees]
}

/// Runs one operation over new rows. Returns whether there were results.
fn fill(workspace: &mut JoinWorkspace, joins: &Joins, id: usize) -> Result<bool, Halt> {
    let mut grown = false;
    workspace.run(joins, id, |workspace, matches| {
        for group in matches.groups() {
            workspace.fetch(joins, id, group);
            for (_, _, values) in group.iter() {
                grown |= workspace.enter(joins, id, values)?.1;
            }
        }
        Ok(())
    })?;
    Ok(grown)
}

impl Sizes for JoinWorkspace {
    fn size(&mut self, joins: &Joins, relation: RelationId) -> Option<(f64, Vec<f64>)> {
        self.make_room(joins);
        self.measured(relation)
    }

    fn fill(&mut self, joins: &Joins, relation: RelationId) -> Result<(), Halt> {
        self.make_room(joins);
        for &id in &joins.relations[relation].operations {
            fill(self, joins, id)?;
        }
        Ok(())
    }
}
