//! Fills the relations of a circuit, each after those that it asks for.

use super::budget::Halt;
use super::circuit::Circuit;
use super::cycles;
use super::joining::Workshop;
use super::operations::{Book, RelationId};

/// Fills all relations that these ask for, given facts and moves.
pub(super) fn fill(
    circuit: &mut Circuit,
    book: &Book,
    workshop: &mut Workshop,
    order: &[Vec<RelationId>],
) -> Result<(), Halt> {
    for members in order {
        let &[first, ..] = &members[..] else { continue };
        let operations = &book.relations[first].operations;
        if operations.is_empty() {
            continue;
        }
        let is_recursive = members.len() > 1
            || operations.iter().any(|&id| {
                let part = &book.operations[id].part;
                part.inputs.iter().chain(&part.absent).any(|atom| atom.predicate == first)
            });
        if is_recursive {
            cycles::fill(circuit, book, workshop, members)?;
        } else {
            circuit.fill_one(book, workshop, first)?;
        }
        let held = workshop.bytes() + circuit.bytes();
        workshop.meter.hold(workshop.n_rows(), held, circuit.gates.n_ands() as u64)?;
    }
    Ok(())
}
