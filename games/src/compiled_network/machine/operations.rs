//! From gates to the operations that the CPU has an instruction for.

use std::cell::RefCell;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::operands::Operator;
use crate::compiled_network::gates::{Class, Gate, with_gate};
use crate::compiled_network::schedule::{Schedule, Value};

/// How a value is made of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationKind {
    /// One instruction of two operands, in the order of the [`Operator`].
    Binary(Operator),
    /// By a truth table: bit `4 c + 2 b + a` is the value for operands a, b, c.
    Ternary(u8),
    /// The first operand.
    Copy,
}

/// Makes a value of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) kind: OperationKind,
    pub(super) target: Value,
    /// As many as the kind says, then zeros.
    pub(super) operands: [Value; 3],
}

impl Operation {
    /// The operands.
    pub(super) fn operands(&self) -> &[Value] {
        match self.kind {
            OperationKind::Binary(_) => &self.operands[..2],
            OperationKind::Ternary(_) => &self.operands,
            OperationKind::Copy => &self.operands[..1],
        }
    }
}

/// Operations in order.
#[derive(Debug)]
pub(super) struct Operations {
    pub(super) all: Vec<Operation>,
    /// By phase: the operation before which it ends.
    pub(super) ends: Vec<usize>,
    /// Values are less than this.
    pub(super) n_values: usize,
}

/// The operations of a schedule.
pub(super) fn lower(schedule: &Schedule, is_ternary: bool) -> Operations {
    let mut all = Vec::with_capacity(schedule.steps.len() * if is_ternary { 1 } else { 2 });
    let mut ends = Vec::new();
    let mut n_values = schedule.given.len() as Value;
    let mut recipes = Vec::new();
    let mut from = 0;
    for &to in &schedule.ends {
        for step in &schedule.steps[from..to] {
            let [a, b, c] = step.operands;
            let gate = step.gate;
            if gate == Gate::COPY && a == b {
                all.push(Operation {
                    kind: OperationKind::Copy,
                    target: step.target,
                    operands: [a, 0, 0],
                });
            } else if gate == Gate::NOT && a == b {
                let kind = OperationKind::Binary(Operator::Xor);
                let operands = [a, schedule.all, 0];
                all.push(Operation { kind, target: step.target, operands });
            } else if is_ternary && !is_binary(gate) {
                let kind = OperationKind::Ternary(gate.table());
                all.push(Operation { kind, target: step.target, operands: [a, b, c] });
            } else {
                let recipe = find(&mut recipes, gate);
                let mut values = vec![a, b, c];
                for (i, &(operator, first, last)) in recipe.operations.iter().enumerate() {
                    let last_one = i + 1 == recipe.operations.len() && !recipe.complement;
                    let target = if last_one {
                        step.target
                    } else {
                        n_values += 1;
                        n_values - 1
                    };
                    let operands = [values[usize::from(first)], values[usize::from(last)], 0];
                    all.push(Operation { kind: OperationKind::Binary(operator), target, operands });
                    values.push(target);
                }
                if recipe.complement {
                    let kind = OperationKind::Binary(Operator::Xor);
                    let operands = [values[values.len() - 1], schedule.all, 0];
                    all.push(Operation { kind, target: step.target, operands });
                }
            }
        }
        from = to;
        ends.push(all.len());
    }
    Operations { all, ends, n_values: n_values as usize }
}

/// Whether a gate is one instruction of two operands.
fn is_binary(gate: Gate) -> bool {
    !gate.complement && matches!(gate.class, Class::And | Class::AndNot | Class::Or | Class::Xor)
}

/// How a gate is computed by instructions of two operands.
#[derive(Clone, Debug)]
struct Recipe {
    /// Operands 0 to 2 are those of the gate, others what came before.
    operations: Vec<(Operator, u8, u8)>,
    /// Whether the complement of the last one is wanted.
    complement: bool,
}

/// The recipe of a gate, made once.
fn find(recipes: &mut Vec<(Gate, Recipe)>, gate: Gate) -> &Recipe {
    let at = match recipes.iter().position(|(known, _)| *known == gate) {
        Some(at) => at,
        None => {
            recipes.push((gate, recipe(gate)));
            recipes.len() - 1
        }
    };
    &recipes[at].1
}

fn recipe(gate: Gate) -> Recipe {
    let tape = RefCell::new(Vec::new());
    macro_rules! visit {
        ($complement:literal, $formula:expr) => {
            record(&tape, $complement, $formula)
        };
    }
    let complement = with_gate!(gate, visit);
    Recipe { operations: tape.into_inner(), complement }
}

type Tape = RefCell<Vec<(Operator, u8, u8)>>;

/// Applies a formula to symbols; says whether the complement of the last
/// operation is the result.
fn record<'a>(
    tape: &'a Tape,
    complement: bool,
    formula: impl Fn(Symbol<'a>, Symbol<'a>, Symbol<'a>) -> Symbol<'a>,
) -> bool {
    let symbol = |at| Symbol { tape, at, negated: false };
    let result = formula(symbol(0), symbol(1), symbol(2));
    assert_eq!(usize::from(result.at), tape.borrow().len() + 2, "the last one is the result");
    result.negated ^ complement
}

/// Writes down what is computed with it.
#[derive(Clone, Copy)]
struct Symbol<'a> {
    tape: &'a Tape,
    at: u8,
    negated: bool,
}

impl Symbol<'_> {
    fn push(self, operator: Operator, first: u8, last: u8) -> Self {
        let mut tape = self.tape.borrow_mut();
        tape.push((operator, first, last));
        Self { tape: self.tape, at: tape.len() as u8 + 2, negated: false }
    }
}

impl Not for Symbol<'_> {
    type Output = Self;

    fn not(self) -> Self {
        Self { negated: !self.negated, ..self }
    }
}

impl BitAnd for Symbol<'_> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        match (self.negated, other.negated) {
            (false, false) => self.push(Operator::And, self.at, other.at),
            (true, false) => self.push(Operator::AndNot, self.at, other.at),
            (false, true) => self.push(Operator::AndNot, other.at, self.at),
            (true, true) => !self.push(Operator::Or, self.at, other.at),
        }
    }
}

impl BitOr for Symbol<'_> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match (self.negated, other.negated) {
            (false, false) => self.push(Operator::Or, self.at, other.at),
            (true, false) => !self.push(Operator::AndNot, other.at, self.at),
            (false, true) => !self.push(Operator::AndNot, self.at, other.at),
            (true, true) => !self.push(Operator::And, self.at, other.at),
        }
    }
}

impl BitXor for Symbol<'_> {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        let xor = self.push(Operator::Xor, self.at, other.at);
        Self { negated: self.negated ^ other.negated, ..xor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled_network::gates::{Library, OPERANDS};

    #[test]
    fn recipes_compute_the_tables_of_gates() {
        let library = Library::new();
        let mut n = 0;
        for table in 0..=255 {
            let Some(found) = library.find(table) else { continue };
            let recipe = recipe(found.gate);
            let mut values = OPERANDS.to_vec();
            for &(operator, first, last) in &recipe.operations {
                let (first, last) = (values[usize::from(first)], values[usize::from(last)]);
                values.push(match operator {
                    Operator::And => first & last,
                    Operator::AndNot => !first & last,
                    Operator::Or => first | last,
                    Operator::Xor => first ^ last,
                });
            }
            let result = values[values.len() - 1];
            let result = if recipe.complement { !result } else { result };
            assert_eq!(result, found.gate.table());
            let n_instructions = recipe.operations.len() + usize::from(recipe.complement);
            assert_eq!(n_instructions, usize::from(found.cost), "{found:?}");
            n += 1;
        }
        assert_eq!(n, 256 - 2 - 2 * 3, "all that are no constant, operand or complement");
    }
}
