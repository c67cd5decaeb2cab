//! From relations to gates: each row of a relation that depends on the state has a
//! literal that says whether the row holds.
//!
//! Relations are filled once more, in the order of their dependencies, now with facts
//! and moves as inputs. A match is a conjunction, a row the disjunction of its matches.
//! Rows that can never hold are not entered, nor are rows that depend on them.

use super::gates::Gates;
use super::joining::JoinWorkspace;
use super::limits::Halt;
use super::operations::{Joins, RelationId};
use crate::components::components;
use crate::network::Lit;
use crate::relational::terms::NONE;

/// Relations with a literal for each row.
#[derive(Debug)]
pub(super) struct Circuit {
    pub(super) gates: Gates,
    /// By relation and row; nothing for static relations, whose rows hold.
    pub(super) lits: Vec<Vec<Lit>>,
    /// The clause at work, for messages.
    pub(super) clause: usize,
    /// Matches of operations: ground rules.
    pub(super) n_ground_rules: u64,
    /// Ground sentences that depend on themselves.
    pub(super) n_cyclic: u64,
}

impl Circuit {
    pub(super) fn new(gates: Gates, joins: &Joins) -> Self {
        Self {
            gates,
            lits: vec![Vec::new(); joins.relations.len()],
            clause: 0,
            n_ground_rules: 0,
            n_cyclic: 0,
        }
    }

    /// The literal of a row.
    #[inline]
    pub(super) fn lit(&self, joins: &Joins, relation: RelationId, row: u32) -> Lit {
        if joins.relations[relation].is_static {
            return Lit::TRUE;
        }
        self.lits[relation][row as usize]
    }

    /// Memory held, roughly.
    pub(super) fn bytes(&self) -> u64 {
        let lits = self.lits.iter().map(|lits| 4 * lits.capacity()).sum::<usize>();
        (lits + 36 * self.gates.n_ands()) as u64
    }

    /// The conjunction of a match, without the conditions for which `is_inside` holds.
    #[inline]
    pub(super) fn matched(
        &mut self,
        joins: &Joins,
        operation: usize,
        rows: &[u32],
        absent: &[u32],
        is_inside: impl Fn(RelationId) -> bool,
    ) -> Lit {
        let part = &joins.operations[operation].part;
        let mut lit = Lit::TRUE;
        for (atom, &row) in part.inputs.iter().zip(rows) {
            if !is_inside(atom.predicate) {
                let input = self.lit(joins, atom.predicate, row);
                lit = self.gates.and(lit, input);
            }
        }
        let of_state = part.absent.iter().filter(|atom| !joins.relations[atom.predicate].is_static);
        for (atom, &row) in of_state.zip(absent) {
            if row != NONE && !is_inside(atom.predicate) {
                let input = self.lit(joins, atom.predicate, row);
                lit = self.gates.and(lit, !input);
            }
        }
        lit
    }

    /// Fills a relation that does not depend on itself.
    pub(super) fn fill_one(
        &mut self,
        joins: &Joins,
        workspace: &mut JoinWorkspace,
        relation: RelationId,
    ) -> Result<(), Halt> {
        let mut matches: Vec<(u32, Lit)> = Vec::new();
        for &id in &joins.relations[relation].operations {
            self.clause = joins.operations[id].clause;
            workspace.run(joins, id, |workspace, found| {
                for group in found.groups() {
                    workspace.fetch(joins, id, group);
                    for (rows, absent, values) in group.iter() {
                        self.n_ground_rules += 1;
                        let lit = self.matched(joins, id, rows, absent, |_| false);
                        if lit != Lit::FALSE {
                            let (row, _) = workspace.enter(joins, id, values)?;
                            matches.push((row, lit));
                        }
                    }
                }
                let bytes = (8 * matches.capacity()) as u64 + self.bytes();
                workspace.meter.hold(0, bytes, self.gates.n_ands() as u64)
            })?;
        }
        let n_rows = workspace.tables[relation].n_rows() as usize;
        self.lits[relation] = self.disjunctions(matches, n_rows);
        Ok(())
    }

    /// By row, the disjunction of its matches.
    fn disjunctions(&mut self, mut matches: Vec<(u32, Lit)>, n_rows: usize) -> Vec<Lit> {
        matches.sort_unstable();
        matches.dedup();
        let mut lits = vec![Lit::FALSE; n_rows];
        let mut alternatives = Vec::new();
        for group in matches.chunk_by(|one, other| one.0 == other.0) {
            alternatives.clear();
            alternatives.extend(group.iter().map(|&(_, lit)| lit));
            lits[group[0].0 as usize] = self.gates.any(&mut alternatives);
        }
        lits
    }
}

/// The relations that depend on the state, in groups that depend on each other, each
/// group after those that it needs.
pub(super) fn order(joins: &Joins, operations: &[usize]) -> Vec<Vec<RelationId>> {
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); joins.relations.len()];
    for &id in operations {
        let operation = &joins.operations[id];
        let atoms = operation.part.inputs.iter().chain(&operation.part.absent);
        let of_state = atoms.filter(|atom| !joins.relations[atom.predicate].is_static);
        edges[operation.target].extend(of_state.map(|atom| atom.predicate));
    }
    let component_of = components(edges.len(), |node, k| edges[node].get(k).copied());
    let n = component_of.iter().max().map_or(0, |&last| last + 1);
    let mut groups = vec![Vec::new(); n];
    let mut is_wanted = vec![false; joins.relations.len()];
    for &id in operations {
        is_wanted[joins.operations[id].target] = true;
    }
    for (id, &component) in component_of.iter().enumerate() {
        if is_wanted[id] {
            groups[component].push(id);
        }
    }
    groups
}

/// The relations that are negated in their own group. All of their rows that can hold must
/// be known before any of them is computed.
pub(super) fn negated_inside(joins: &Joins, order: &[Vec<RelationId>]) -> Vec<RelationId> {
    let mut negated = Vec::new();
    for members in order {
        let operations = members.iter().flat_map(|&id| &joins.relations[id].operations);
        for &id in operations {
            let absent = joins.operations[id].part.absent.iter().map(|atom| atom.predicate);
            negated.extend(absent.filter(|id| members.contains(id)));
        }
    }
    negated
}
