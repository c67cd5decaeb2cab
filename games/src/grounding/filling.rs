//! Fills the relations of a circuit, each after those that it depends on.

use super::circuit::Circuit;
use super::cycles;
use super::joining::JoinWorkspace;
use super::limits::Halt;
use super::operations::{Joins, RelationId};

/// Fills the relations in this order, given facts and moves.
pub(super) fn fill(
    circuit: &mut Circuit,
    joins: &Joins,
    workspace: &mut JoinWorkspace,
    order: &[Vec<RelationId>],
) -> Result<(), Halt> {
    for members in order {
        let &[first, ..] = &members[..] else { continue };
        let operations = &joins.relations[first].operations;
        if operations.is_empty() {
            continue;
        }
        let is_recursive = members.len() > 1
            || operations.iter().any(|&id| {
                let part = &joins.operations[id].part;
                part.inputs.iter().chain(&part.absent).any(|atom| atom.predicate == first)
            });
        if is_recursive {
            cycles::fill(circuit, joins, workspace, members)?;
        } else {
            circuit.fill_one(joins, workspace, first)?;
        }
        let held = workspace.bytes() + circuit.bytes();
        workspace.meter.hold(workspace.n_rows(), held, circuit.gates.n_ands() as u64)?;
    }
    Ok(())
}
