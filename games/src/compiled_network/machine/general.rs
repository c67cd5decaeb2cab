//! The few instructions over general registers that code for words needs, as bytes.
//!
//! Vector instructions of AVX2 read more than a word from memory, so each would need a second one
//! that loads the word. Those of AVX-512 are twice as long. Those of general registers read a word,
//! and overwrite an operand, but for `ANDN` (BMI1, which [`Avx2`](super::super::features::Avx2)
//! vouches for).

use super::operands::{BASE, Operator, Place};

/// The numbers that instructions have for registers, in the order in which they are given out.
/// RDI is the base, RSP the stack.
const NUMBERS: [u8; 14] = [0, 1, 2, 6, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15];

/// How many registers there are for values.
pub(super) const N_REGISTERS: usize = NUMBERS.len();

/// How many of them a function may change. The others it restores.
const N_FREE: usize = 8;

/// The prefix of instructions whose operands are 64 bits wide: REX.W.
const WIDE: u8 = 0x48;

/// The prefix of one of the upper registers: REX.B.
const UPPER: u8 = 0x41;

/// The first byte of a prefix of three (VEX), and its number for the opcodes after 0F 38.
const VEX: u8 = 0xC4;
const MAP_0F38: u8 = 2;

const ANDN: u8 = 0xF2;
const MOV_TO: u8 = 0x8B;
const MOV_FROM: u8 = 0x89;
const PUSH: u8 = 0x50;
const POP: u8 = 0x58;
const RET: u8 = 0xC3;

/// `to = operator(first, last)`.
pub(super) fn binary(bytes: &mut Vec<u8>, operator: Operator, to: u8, first: u8, last: Place) {
    let opcode = match operator {
        Operator::And => 0x23,
        Operator::Or => 0x0B,
        Operator::Xor => 0x33,
        Operator::AndNot => return and_not(bytes, to, first, last),
    };
    let last = match last {
        Place::Register(last) if last == to => Place::Register(first),
        _ if first == to => last,
        _ => {
            load(bytes, to, Place::Register(first));
            last
        }
    };
    instruction(bytes, opcode, to, last);
}

/// `to = from`.
pub(super) fn load(bytes: &mut Vec<u8>, to: u8, from: Place) {
    instruction(bytes, MOV_TO, to, from);
}

/// Writes a register into a slot.
pub(super) fn store(bytes: &mut Vec<u8>, slot: u32, from: u8) {
    instruction(bytes, MOV_FROM, from, Place::Slot(slot));
}

/// Makes a function of the instructions from `start` on, which use registers below `n_used`.
pub(super) fn close(bytes: &mut Vec<u8>, start: usize, n_used: usize) {
    let restored = NUMBERS.get(N_FREE..n_used).unwrap_or_default();
    let stack = |code: u8, number: u8| {
        let prefix = (number >= 8).then_some(UPPER);
        prefix.into_iter().chain([code | number & 7])
    };
    bytes.splice(start..start, restored.iter().flat_map(|&number| stack(PUSH, number)));
    bytes.extend(restored.iter().rev().flat_map(|&number| stack(POP, number)));
    bytes.push(RET);
}

/// `to = !first & last`: ANDN.
fn and_not(bytes: &mut Vec<u8>, to: u8, first: u8, last: Place) {
    let (r, b) = high_bits(to, last);
    let first = NUMBERS[usize::from(first)];
    let registers = (!r & 1) << 7 | 1 << 6 | (!b & 1) << 5;
    bytes.extend([VEX, registers | MAP_0F38, 1 << 7 | (!first & 15) << 3, ANDN]);
    operands(bytes, to, last);
}

/// An instruction of a register and a place.
fn instruction(bytes: &mut Vec<u8>, opcode: u8, register: u8, place: Place) {
    let (r, b) = high_bits(register, place);
    bytes.extend([WIDE | r << 2 | b, opcode]);
    operands(bytes, register, place);
}

/// The fourth bits of the numbers, which stand in the prefix.
fn high_bits(register: u8, place: Place) -> (u8, u8) {
    let high = |register: u8| NUMBERS[usize::from(register)] >> 3;
    match place {
        Place::Register(other) => (high(register), high(other)),
        Place::Slot(_) => (high(register), 0),
    }
}

/// What follows an opcode: the rest of the numbers, or where the slot is.
fn operands(bytes: &mut Vec<u8>, register: u8, place: Place) {
    let number = |register: u8| NUMBERS[usize::from(register)] & 7;
    let register = number(register) << 3;
    match place {
        Place::Register(other) => bytes.push(0xC0 | register | number(other)),
        Place::Slot(slot) => {
            let displacement = i32::try_from(slot as usize * size_of::<u64>());
            let displacement = displacement.expect("slots are near");
            if let Ok(short) = i8::try_from(displacement) {
                bytes.extend([0x40 | register | BASE, short as u8]);
            } else {
                bytes.push(0x80 | register | BASE);
                bytes.extend(displacement.to_le_bytes());
            }
        }
    }
}
