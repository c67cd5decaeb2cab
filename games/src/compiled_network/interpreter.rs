//! Executes code over slots of any width.

use super::code::{Code, Instruction};
use super::features::{self, Kernel};
use super::gates::{Class, with_gate};
use super::lanes::Lanes;

/// Executes code over slots, of which there is at least one.
#[inline]
pub(crate) fn interpret<L: Lanes>(code: &Code, slots: &mut [L]) {
    let proof = slots[0].proof();
    features::run(Interpret { code, slots }, proof);
}

/// One execution of some code.
struct Interpret<'a, L> {
    code: &'a Code,
    slots: &'a mut [L],
}

impl<L: Lanes> Kernel for Interpret<'_, L> {
    type Output = ();
    type Proof = L::Proof;

    #[inline(always)]
    fn run(self) {
        let mut instructions = self.code.instructions.as_slice();
        for run in &self.code.runs {
            let (now, later) = instructions.split_at(run.n as usize);
            instructions = later;
            macro_rules! visit {
                ($complement:literal, $formula:expr) => {
                    apply::<L, $complement>(now, self.slots, $formula)
                };
            }
            with_gate!(run.gate, visit);
        }
    }
}

/// Executes instructions of one gate.
#[inline(always)]
fn apply<L: Lanes, const COMPLEMENT: bool>(
    instructions: &[Instruction],
    slots: &mut [L],
    gate: impl Fn(L, L, L) -> L,
) {
    for instruction in instructions {
        let [a, b, c] = instruction.operands;
        let value = gate(slots[a as usize], slots[b as usize], slots[c as usize]);
        slots[instruction.target as usize] = if COMPLEMENT { !value } else { value };
    }
}
