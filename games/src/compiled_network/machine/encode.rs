//! The few instructions that programs need, as bytes: those of vectors here, those of
//! [`general`] registers in a file of their own.
//!
//! VEX and EVEX encodings: Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 2, chapter 2. Memory operands are slots, at displacements of 8
//! or 32 bits from RDI.

use super::general;
use super::operands::{BASE, Operator, Place};
use super::target::Target;

/// The opcode maps in use, by their numbers in prefixes.
const MAP_0F: u8 = 1;
const MAP_0F3A: u8 = 3;

/// The mandatory prefixes in use, by their numbers in prefixes.
const PREFIX_66: u8 = 1;
const PREFIX_F3: u8 = 2;

/// Appends instructions.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
    target: Target,
    /// Where the function begins.
    start: usize,
    /// The function writes registers below this. Used for general ones.
    n_used: usize,
}

impl Encoder {
    pub(super) fn new(target: Target) -> Self {
        Self { bytes: Vec::new(), target, start: 0, n_used: 0 }
    }

    /// Begins a function; gives its place.
    pub(super) fn begin(&mut self) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(64), 0xCC);
        (self.start, self.n_used) = (self.bytes.len(), 0);
        self.start
    }

    /// Ends a function. The upper parts of vector registers are left zero, by VZEROUPPER.
    pub(super) fn end(&mut self) {
        if self.target.is_words() {
            return general::close(&mut self.bytes, self.start, self.n_used);
        }
        self.bytes.extend([0xC5, 0xF8, 0x77, 0xC3]);
    }

    /// `to = operator(first, last)`: VPAND, VPANDN, VPOR, VPXOR, of AVX-512 those
    /// for quadwords.
    pub(super) fn binary(&mut self, operator: Operator, to: u8, first: u8, last: Place) {
        self.n_used = self.n_used.max(usize::from(to) + 1);
        if self.target.is_words() {
            return general::binary(&mut self.bytes, operator, to, first, last);
        }
        self.instruction(MAP_0F, PREFIX_66, opcode(operator), to, first, last);
    }

    /// `to = table(to, second, last)`: VPTERNLOGQ. Bit `4 to + 2 second + last` of
    /// the table is the value.
    pub(super) fn ternary(&mut self, table: u8, to: u8, second: u8, last: Place) {
        debug_assert!(self.target.is_avx512, "an instruction of AVX-512");
        self.instruction(MAP_0F3A, PREFIX_66, 0x25, to, second, last);
        self.bytes.push(table);
    }

    /// `to = from`: VMOVDQU, VMOVDQU64; MOV of general registers.
    pub(super) fn load(&mut self, to: u8, from: Place) {
        self.n_used = self.n_used.max(usize::from(to) + 1);
        if self.target.is_words() {
            return general::load(&mut self.bytes, to, from);
        }
        self.instruction(MAP_0F, PREFIX_F3, 0x6F, to, 0, from);
    }

    /// Writes a register into a slot: VMOVDQU, VMOVDQU64; MOV of general registers.
    pub(super) fn store(&mut self, slot: u32, from: u8) {
        if self.target.is_words() {
            return general::store(&mut self.bytes, slot, from);
        }
        self.instruction(MAP_0F, PREFIX_F3, 0x7F, from, 0, Place::Slot(slot));
    }

    fn instruction(
        &mut self,
        map: u8,
        prefix: u8,
        opcode: u8,
        register: u8,
        second: u8,
        last: Place,
    ) {
        let rm = match last {
            Place::Register(register) => register,
            Place::Slot(_) => BASE,
        };
        if self.target.is_avx512 {
            self.evex(map, prefix, register, second, rm);
        } else {
            self.vex(map, prefix, register, second, rm);
        }
        self.bytes.push(opcode);
        let register = (register & 7) << 3;
        match last {
            Place::Register(rm) => self.bytes.push(0xC0 | register | rm & 7),
            Place::Slot(slot) => {
                let displacement = slot as usize * self.target.block;
                // A short displacement counts in bytes, that of EVEX in registers.
                let unit = if self.target.is_avx512 { self.target.register } else { 1 };
                if displacement < 128 * unit && displacement.is_multiple_of(unit) {
                    self.bytes.push(0x40 | register | BASE);
                    self.bytes.push((displacement / unit) as u8);
                } else {
                    let displacement = i32::try_from(displacement).expect("slots are near");
                    self.bytes.push(0x80 | register | BASE);
                    self.bytes.extend(displacement.to_le_bytes());
                }
            }
        }
    }

    /// Two bytes where they suffice, else three. Registers are 256 bits wide.
    fn vex(&mut self, map: u8, prefix: u8, register: u8, second: u8, rm: u8) {
        let r = !register >> 3 & 1;
        let b = !rm >> 3 & 1;
        let rest = (!second & 15) << 3 | 1 << 2 | prefix;
        if b == 1 && map == MAP_0F {
            self.bytes.extend([0xC5, r << 7 | rest]);
        } else {
            self.bytes.extend([0xC4, r << 7 | 1 << 6 | b << 5 | map, rest]);
        }
    }

    /// Four bytes. Elements are quadwords, and nothing is masked.
    fn evex(&mut self, map: u8, prefix: u8, register: u8, second: u8, rm: u8) {
        let bit = |number: u8, at: u8| !number >> at & 1;
        // A register as last operand has its fifth bit where an index would be.
        let first =
            bit(register, 3) << 7 | bit(rm, 4) << 6 | bit(rm, 3) << 5 | bit(register, 4) << 4 | map;
        let length = if self.target.register == 64 { 2 } else { 1 };
        self.bytes.extend([
            0x62,
            first,
            1 << 7 | (!second & 15) << 3 | 1 << 2 | prefix,
            length << 5 | bit(second, 4) << 3,
        ]);
    }
}

/// The opcode of an operator over vectors.
fn opcode(operator: Operator) -> u8 {
    match operator {
        Operator::And => 0xDB,
        Operator::AndNot => 0xDF,
        Operator::Or => 0xEB,
        Operator::Xor => 0xEF,
    }
}
