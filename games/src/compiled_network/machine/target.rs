//! Which instructions machine code is made of.

use super::error::NoMachineCode;
use super::general;
use crate::compiled_network::cover::Prices;
use crate::compiled_network::features::{has_avx2, has_avx512};
use crate::compiled_network::width::Width;

/// Which instructions, and how they see a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Bytes of a block.
    pub(crate) block: usize,
    /// Bytes of a register: 32 or 64; 8 where blocks are words, which are in general registers.
    pub(crate) register: usize,
    /// Whether there are the instructions of AVX-512 for this register.
    pub(crate) is_avx512: bool,
}

impl Target {
    /// What this CPU is best at.
    pub(crate) fn detect(width: Width) -> Result<Self, NoMachineCode> {
        let block = width.n_lanes() / 8;
        match width {
            Width::Lanes64 => Err(NoMachineCode::Width(width.n_lanes())),
            _ if has_avx512() => Ok(Self { block, register: block, is_avx512: true }),
            _ if has_avx2() => Ok(Self { block, register: 32, is_avx512: false }),
            _ => Err(NoMachineCode::Cpu),
        }
    }

    /// Single words, if there is BMI1 (as on all CPUs with AVX2). Vector instructions gain nothing:
    /// with AVX-512 a gate of three operands is one instruction, but a longer one.
    pub(crate) fn detect_words() -> Result<Self, NoMachineCode> {
        match has_avx2() {
            true => Ok(Self { block: 8, register: 8, is_avx512: false }),
            false => Err(NoMachineCode::Cpu),
        }
    }

    /// Whether blocks are single words, in general registers.
    pub(super) fn is_words(self) -> bool {
        self.register == 8
    }

    /// Whether this CPU has the instructions.
    pub(super) fn is_supported(self) -> bool {
        if self.is_avx512 { has_avx512() } else { has_avx2() }
    }

    pub(super) fn n_pieces(self) -> usize {
        self.block / self.register
    }

    pub(super) fn n_registers(self) -> usize {
        if self.is_words() {
            general::N_REGISTERS
        } else if self.is_avx512 {
            32
        } else {
            16
        }
    }

    /// What gates cost: the instructions they become. A slot is read as part of
    /// an instruction and seldom written.
    pub(super) fn prices(self) -> Prices {
        if self.is_avx512 {
            Prices { instruction: 0.0, two: 1.0, three: 1.0 }
        } else {
            Prices { instruction: 1.0, two: 0.0, three: 0.0 }
        }
    }
}
