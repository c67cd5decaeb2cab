//! The gates of a program: every function of two and three bits, up to the
//! order of operands, as the fewest AND, AND-NOT, OR and XOR instructions.
//!
//! Of a function and its complement one is zero where all operands are zero;
//! that one is a [`Class`], the other one instruction more. The formulas are
//! the shortest over these four operations, found by exhaustive search. (Three
//! operands because a cut of three leaves is one instruction where the CPU has
//! a ternary logic instruction, and because a slot read or written costs as
//! much as the logic where it has not.)

/// Truth tables of the operands: bit `i` of a table is the value where operand
/// `k` is bit `k` of `i`.
pub(crate) const OPERANDS: [u8; 3] = [0xAA, 0xCC, 0xF0];

macro_rules! gates {
    ($($name:ident $arity:literal $cost:literal $table:literal $formula:expr),* $(,)?) => {
        /// A function that is zero where all operands are, up to their order.
        /// The unwieldy ones are named by their truth table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Class {
            $($name),*
        }

        /// All classes: number of operands, instructions, truth table.
        const CLASSES: &[(Class, u8, u8, u8)] = &[$((Class::$name, $arity, $cost, $table)),*];

        /// Evaluates to `visit!(complement, formula)` with the gate's formula as
        /// a closure of three operands, so that the choice stands outside of
        /// what `visit!` does.
        macro_rules! with_gate {
            ($gate:expr, $visit:ident) => {
                match ($gate.class, $gate.complement) {
                    $(
                        (Class::$name, false) => $visit!(false, $formula),
                        (Class::$name, true) => $visit!(true, $formula),
                    )*
                }
            };
        }
        pub(crate) use with_gate;
    };
}

gates! {
    AndNot 2 1 0x22 |a, b, _c| a & !b,
    Xor 2 1 0x66 |a, b, _c| a ^ b,
    And 2 1 0x88 |a, b, _c| a & b,
    Or 2 1 0xEE |a, b, _c| a | b,
    AndNotOr 3 2 0x04 |a, b, c| b & !(a | c),
    XorAndNot 3 2 0x06 |a, b, c| (a ^ b) & !c,
    AndAndNot 3 2 0x08 |a, b, c| (a & b) & !c,
    OrAndNot 3 2 0x0E |a, b, c| (a | b) & !c,
    XorOr 3 2 0x1E |a, b, c| c ^ (a | b),
    AndXor 3 2 0x28 |a, b, c| a & (b ^ c),
    AndNand 3 2 0x2A |a, b, c| a & !(b & c),
    XorAnd 3 2 0x6A |a, b, c| a ^ (b & c),
    And3 3 2 0x80 |a, b, c| c & (a & b),
    AndXnor 3 2 0x82 |a, b, c| a & !(b ^ c),
    AndOrNot 3 2 0x8A |a, b, c| a & !(c & !b),
    Xor3 3 2 0x96 |a, b, c| c ^ (a ^ b),
    XorAndNotOf 3 2 0x9A |a, b, c| a ^ (c & !b),
    AndOr 3 2 0xA8 |a, b, c| a & (b | c),
    OrAndNotOf 3 2 0xAE |a, b, c| a | (b & !c),
    OrXor 3 2 0xBE |a, b, c| a | (b ^ c),
    OrAnd 3 2 0xEA |a, b, c| a | (b & c),
    Or3 3 2 0xFE |a, b, c| c | (a | b),
    Table26 3 3 0x26 |a, b, c| (a ^ b) & !(b & c),
    Table2C 3 3 0x2C |a, b, c| (a | b) & (b ^ c),
    Table3E 3 3 0x3E |a, b, c| (a & !b) | (b ^ c),
    OneAgainstTwo 3 3 0x42 |a, b, c| (a ^ b) & (a ^ c),
    Table6E 3 3 0x6E |a, b, c| (a ^ b) | (a & !c),
    Table72 3 3 0x72 |a, b, c| (a & b) ^ (a | c),
    NotAllEqual 3 3 0x7E |a, b, c| (a ^ b) | (a ^ c),
    Table98 3 3 0x98 |a, b, c| (a | c) & !(a ^ b),
    Mux 3 3 0xAC |a, b, c| b ^ (c & (a ^ b)),
    TableBC 3 3 0xBC |a, b, c| (a & b) | (b ^ c),
    ExactlyOne 3 4 0x16 |a, b, c| (a | b) ^ (c | (a & b)),
    ExactlyTwo 3 4 0x68 |a, b, c| (a | b) & (c ^ (a & b)),
    Table86 3 4 0x86 |a, b, c| (a | b) & !(c ^ (a & b)),
    Table9E 3 4 0x9E |a, b, c| (a | b) ^ (c & !(a & b)),
    TableD4 3 4 0xD4 |a, b, c| (a & !b) ^ (c | (a ^ b)),
    Majority 3 4 0xE8 |a, b, c| (a | b) & (c | (a & b)),
}

/// A function of two or three bits, its operands in a fixed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gate {
    /// The function or its complement.
    pub(crate) class: Class,
    /// Whether it is the complement.
    pub(crate) complement: bool,
}

impl Gate {
    /// The complement of the first operand, as a gate of two equal operands.
    pub(crate) const NOT: Gate = Gate { class: Class::And, complement: true };
    /// The first operand, as a gate of two equal operands.
    pub(crate) const COPY: Gate = Gate { class: Class::And, complement: false };

    /// The truth table.
    pub(crate) fn table(self) -> u8 {
        let (class, _, _, table) = CLASSES[self.class as usize];
        debug_assert_eq!(class, self.class);
        if self.complement { !table } else { table }
    }
}

/// A gate with the operands it takes of a cut's leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// The gate.
    pub(crate) gate: Gate,
    /// By operand of the gate: the leaf.
    pub(crate) leaves: [u8; 3],
    /// Number of operands.
    pub(crate) arity: u8,
    /// Instructions.
    pub(crate) cost: u8,
}

/// Finds the gate of a truth table.
pub(crate) struct Library {
    matches: [Option<Match>; 256],
}

impl Library {
    /// All gates, by the truth tables of all orders of their operands.
    pub(crate) fn new() -> Self {
        const ORDERS: [[u8; 3]; 6] =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let mut matches = [None; 256];
        for &(class, arity, cost, table) in CLASSES {
            for leaves in ORDERS {
                let table = reordered(table, leaves);
                for complement in [false, true] {
                    let found = &mut matches[usize::from(if complement { !table } else { table })];
                    if found.is_none() {
                        let (gate, cost) =
                            (Gate { class, complement }, cost + u8::from(complement));
                        *found = Some(Match { gate, leaves, arity, cost });
                    }
                }
            }
        }
        Self { matches }
    }

    /// The gate that computes a table; `None` if the table depends on fewer
    /// than two leaves.
    pub(crate) fn find(&self, table: u8) -> Option<Match> {
        self.matches[usize::from(table)]
    }
}

/// The table over leaves where operand `k` is leaf `leaves[k]`.
fn reordered(table: u8, leaves: [u8; 3]) -> u8 {
    let mut reordered = 0;
    for row in 0..8 {
        let operand = |k: usize| (row >> leaves[k] & 1) << k;
        reordered |= (table >> (operand(0) | operand(1) | operand(2)) & 1) << row;
    }
    reordered
}

/// Whether a table depends on leaf `leaf`.
pub(crate) fn depends(table: u8, leaf: usize) -> bool {
    let shift = 1 << leaf;
    (table & OPERANDS[leaf]) >> shift != table & !OPERANDS[leaf]
}

/// The table of the same function of the complement of leaf `leaf`.
pub(crate) fn with_leaf_negated(table: u8, leaf: usize) -> u8 {
    let shift = 1 << leaf;
    (table & OPERANDS[leaf]) >> shift | (table & !OPERANDS[leaf]) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(gate: Gate, operands: [u8; 3]) -> u8 {
        fn apply(complement: bool, operands: [u8; 3], f: impl Fn(u8, u8, u8) -> u8) -> u8 {
            let value = f(operands[0], operands[1], operands[2]);
            if complement { !value } else { value }
        }
        macro_rules! visit {
            ($complement:literal, $formula:expr) => {
                apply($complement, operands, $formula)
            };
        }
        with_gate!(gate, visit)
    }

    #[test]
    fn formulas_compute_their_tables() {
        for &(class, _, _, table) in CLASSES {
            assert_eq!(table & 1, 0, "{class:?}");
            assert_eq!(evaluate(Gate { class, complement: false }, OPERANDS), table, "{class:?}");
        }
    }

    #[test]
    fn every_table_of_two_leaves_or_more_has_its_gate() {
        let library = Library::new();
        for table in 0..=255_u8 {
            let n_leaves = (0..3).filter(|&leaf| depends(table, leaf)).count();
            let found = library.find(table);
            assert_eq!(found.is_some(), n_leaves >= 2, "{table:02x}");
            let Some(found) = found else { continue };
            assert_eq!(usize::from(found.arity), n_leaves);
            let operands = found.leaves.map(|leaf| OPERANDS[usize::from(leaf)]);
            assert_eq!(evaluate(found.gate, operands), table, "{table:02x}");
            for leaf in 0..3 {
                let negated = with_leaf_negated(table, leaf);
                assert_eq!(with_leaf_negated(negated, leaf), table);
                let operands = found.leaves.map(|operand| {
                    let value = OPERANDS[usize::from(operand)];
                    if usize::from(operand) == leaf { !value } else { value }
                });
                assert_eq!(evaluate(found.gate, operands), negated);
            }
        }
    }
}
