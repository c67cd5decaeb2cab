//! The interface of everything that computes the gates of a network for one position.

use std::fmt;

/// The values of a network for one position: a state and the moves made in it.
pub(crate) trait Evaluator: Send + fmt::Debug {
    /// Loads a state, given as bits of facts.
    fn load(&mut self, state: &[u64]);

    /// Whether the position is terminal.
    fn is_terminal(&self) -> bool;

    /// Whether a move, by its index among those of the role, is legal.
    fn is_legal(&self, role: usize, index: usize) -> bool;

    /// The legal moves of a role as bits.
    fn legal(&mut self, role: usize) -> &[u64];

    /// Loads moves, given as inputs of the graph: a legal one of each role.
    fn make(&mut self, moves: &[u32]);

    /// The facts after the moves, as bits.
    fn next(&mut self) -> &[u64];

    /// Whether an input of the graph holds.
    fn input(&self, index: usize) -> bool;

    /// Whether the rules give the role its goal value of this index.
    fn goal(&mut self, role: usize, index: usize) -> bool;
}
