//! What instructions compute, and of what.

/// Where an instruction's last operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a register.
    Register(u8),
    /// In a slot.
    Slot(u32),
}

/// What is computed of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `first & last`.
    And,
    /// `!first & last`.
    AndNot,
    /// `first | last`.
    Or,
    /// `first ^ last`.
    Xor,
}

/// RDI, which holds the address of slot 0.
pub(super) const BASE: u8 = 7;
