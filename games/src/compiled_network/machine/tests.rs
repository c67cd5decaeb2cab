//! Generated code against the plain meaning of graphs, by a decoder that is not
//! ours and a model of the few instructions it may find: so code for CPUs that
//! are not at hand is tested too.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::encode::Encoder;
use super::operands::{Operator, Place};
use super::*;
use crate::compiled_network::schedule::{ALL, FIRST, NONE};
use crate::network::Lit;

const AVX2_256: Target = Target { block: 32, register: 32, is_avx512: false };
const AVX2_512: Target = Target { block: 64, register: 32, is_avx512: false };
const AVX512_256: Target = Target { block: 32, register: 32, is_avx512: true };
const AVX512_512: Target = Target { block: 64, register: 64, is_avx512: true };

const GENERAL: Target = Target { block: 8, register: 8, is_avx512: false };

const TARGETS: [Target; 5] = [AVX2_256, AVX2_512, AVX512_256, AVX512_512, GENERAL];

/// The first register of the width in use.
fn first_register(target: Target) -> Register {
    match target.register {
        64 => Register::ZMM0,
        32 => Register::YMM0,
        _ => Register::RAX,
    }
}

/// Words of a register, the wider ones whole.
type Wide = [u64; 8];

/// A CPU as far as it matters here.
struct Model {
    registers: [Wide; 32],
    stack: Vec<Wide>,
    slots: Vec<u64>,
    n_instructions: usize,
}

/// The numbers of the general registers that a function leaves as they were.
const RESTORED: [usize; 6] = [3, 5, 12, 13, 14, 15];

impl Model {
    /// With random values in the slots of some code, but for those that never change.
    fn with_slots(chunked: &Chunked, seed: &mut u64, n_words: usize) -> Self {
        let mut slots: Vec<u64> = (0..chunked.n_slots * n_words).map(|_| random(seed)).collect();
        slots[NONE as usize * n_words..][..n_words].fill(0);
        slots[ALL as usize * n_words..][..n_words].fill(!0);
        Self { registers: [[0; 8]; 32], stack: Vec::new(), slots, n_instructions: 0 }
    }

    /// Runs all functions of a phase, for all pieces of the slots.
    fn run_all(&mut self, chunks: &Chunks, target: Target) {
        for &start in &chunks.starts {
            for piece in 0..target.n_pieces() {
                self.run(&chunks.bytes, start, piece * target.register, target);
            }
        }
    }

    /// Runs the function at `start` with its base `offset` bytes in.
    fn run(&mut self, code: &[u8], start: usize, offset: usize, target: Target) {
        let before = std::array::from_fn(|at| [0x5555_AAAA_1234_8765 + at as u64; 8]);
        self.registers = before;
        let mut decoder = Decoder::with_ip(64, &code[start..], start as u64, DecoderOptions::NONE);
        let mut is_clean = false;
        loop {
            let instruction = decoder.decode();
            self.n_instructions += 1;
            match instruction.mnemonic() {
                Mnemonic::Ret => break,
                Mnemonic::Vzeroupper => is_clean = true,
                _ => self.step(&instruction, offset, target),
            }
        }
        assert!(is_clean != target.is_words(), "upper parts are left zero");
        assert!(self.stack.is_empty(), "something is left on the stack");
        let is_restored = |&at: &usize| self.registers[at][0] == before[at][0];
        assert!(!target.is_words() || RESTORED.iter().all(is_restored), "registers are restored");
    }

    fn step(&mut self, instruction: &Instruction, offset: usize, target: Target) {
        let n_words = target.register / 8;
        let index = |register: Register| {
            let first = first_register(target);
            let index = register as usize - first as usize;
            let n_registers = if target.is_words() { 16 } else { target.n_registers() };
            assert!(index < n_registers, "{instruction:?}");
            let is_reserved = matches!(register, Register::RSP | Register::RDI);
            assert!(!is_reserved, "{instruction:?} changes the base or the stack");
            index
        };
        let address = || {
            assert_eq!(instruction.memory_base(), Register::RDI);
            assert_eq!(instruction.memory_index(), Register::None);
            let address = instruction.memory_displacement64() as usize + offset;
            assert!(address.is_multiple_of(target.register));
            address / 8
        };
        assert!(!instruction.is_broadcast() && !instruction.has_op_mask(), "{instruction:?}");
        let value = |model: &Self, operand: u32| -> Wide {
            let mut value = [0; 8];
            value[..n_words].copy_from_slice(match instruction.op_kind(operand) {
                OpKind::Register => {
                    &model.registers[index(instruction.op_register(operand))][..n_words]
                }
                OpKind::Memory => &model.slots[address()..address() + n_words],
                kind => panic!("{kind:?} in {instruction:?}"),
            });
            value
        };
        let zip = |a: Wide, b: Wide, f: fn(u64, u64) -> u64| {
            std::array::from_fn::<u64, 8, _>(|i| f(a[i], b[i]))
        };
        let two = |f| zip(value(self, 1), value(self, 2), f);
        let overwriting = |f| zip(value(self, 0), value(self, 1), f);
        let result = match (instruction.mnemonic(), target.is_avx512) {
            (Mnemonic::Vpand, false) | (Mnemonic::Vpandq, true) => two(|a, b| a & b),
            (Mnemonic::Vpandn, false) | (Mnemonic::Vpandnq, true) => two(|a, b| !a & b),
            (Mnemonic::Vpor, false) | (Mnemonic::Vporq, true) => two(|a, b| a | b),
            (Mnemonic::Vpxor, false) | (Mnemonic::Vpxorq, true) => two(|a, b| a ^ b),
            (Mnemonic::Vmovdqu, false) | (Mnemonic::Vmovdqu64, true) => value(self, 1),
            (Mnemonic::And, false) => overwriting(|a, b| a & b),
            (Mnemonic::Or, false) => overwriting(|a, b| a | b),
            (Mnemonic::Xor, false) => overwriting(|a, b| a ^ b),
            (Mnemonic::Andn, false) => two(|a, b| !a & b),
            (Mnemonic::Mov, false) => value(self, 1),
            (Mnemonic::Push, false) => {
                self.stack.push(value(self, 0));
                return;
            }
            (Mnemonic::Pop, false) => self.stack.pop().expect("pushed before"),
            (Mnemonic::Vpternlogq, true) => {
                let [a, b, c] = [value(self, 0), value(self, 1), value(self, 2)];
                let table = instruction.immediate8();
                std::array::from_fn(|word| {
                    (0..64).fold(0, |bits, bit| {
                        let row = (a[word] >> bit & 1) << 2
                            | (b[word] >> bit & 1) << 1
                            | c[word] >> bit & 1;
                        bits | u64::from(table >> row & 1) << bit
                    })
                })
            }
            _ => panic!("no such instruction is generated: {instruction:?}"),
        };
        match instruction.op_kind(0) {
            OpKind::Register => {
                let register = index(instruction.op_register(0));
                self.registers[register] = [0; 8];
                self.registers[register][..n_words].copy_from_slice(&result[..n_words]);
            }
            OpKind::Memory => {
                let address = address();
                self.slots[address..address + n_words].copy_from_slice(&result[..n_words]);
            }
            kind => panic!("{kind:?} in {instruction:?}"),
        }
    }
}

fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (*seed ^ *seed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 32
}

fn below(seed: &mut u64, n: usize) -> usize {
    (random(seed) % n as u64) as usize
}

/// A graph, and what of it is wanted in two phases.
fn random_task(seed: &mut u64, n_ands: usize) -> (Graph, Task) {
    let n_inputs = 1 + below(seed, 60);
    let mut graph = Graph::new(n_inputs);
    let mut literals = vec![Lit::FALSE];
    literals.extend((0..n_inputs).map(|input| graph.input(input)));
    let pick = |seed: &mut u64, from: &[Lit]| {
        let span = if below(seed, 2) == 0 { from.len() } else { from.len().min(30) };
        from[from.len() - 1 - below(seed, span)].negated_if(below(seed, 2) == 0)
    };
    for _ in 0..n_ands {
        let (a, b, c) = (pick(seed, &literals), pick(seed, &literals), pick(seed, &literals));
        literals.push(match below(seed, 4) {
            0 => {
                let (both, neither) = (graph.and(a, b), graph.and(!a, !b));
                graph.or(both, neither)
            }
            1 => {
                let (yes, no) = (graph.and(a, b), graph.and(!a, c));
                graph.or(yes, no)
            }
            _ => graph.and(a, b),
        });
    }
    let mut wanted = Vec::new();
    for _ in 0..2 {
        let n = below(seed, 40);
        wanted.push((0..n).map(|_| pick(seed, &literals)).collect::<Vec<_>>());
    }
    // In phase two, the first inputs get new values.
    let n_renewed = below(seed, n_inputs.min(wanted[1].len()) + 1);
    let mut first_slot = FIRST + n_inputs as u32;
    let fixed = wanted.iter().map(|wanted| {
        let slots = first_slot..first_slot + below(seed, wanted.len() + 1) as u32;
        first_slot = slots.end;
        slots.collect()
    });
    let fixed = fixed.collect();
    let task =
        Task { inputs: (FIRST..).take(n_inputs).collect(), first_slot, wanted, fixed, n_renewed };
    (graph, task)
}

fn check(seed: &mut u64, n_ands: usize, target: Target) {
    let (graph, task) = random_task(seed, n_ands);
    let chunked = generate(&graph, &Library::new(), &task, target);
    let n_words = target.block / 8;
    let mut model = Model::with_slots(&chunked, seed, n_words);
    let inputs = model.slots[FIRST as usize * n_words..][..task.inputs.len() * n_words].to_vec();
    for ((chunks, slots), wanted) in chunked.phases.iter().zip(&chunked.outputs).zip(&task.wanted) {
        model.run_all(chunks, target);
        for (at, (&slot, literal)) in slots.iter().zip(wanted).enumerate() {
            for lane in [0, n_words * 32 - 1, n_words * 64 - 1] {
                let bit = |words: &[u64]| words[lane / 64] >> (lane % 64) & 1 == 1;
                let values: Vec<bool> = inputs.chunks(n_words).map(bit).collect();
                let values = graph.evaluate(&values);
                let expected = values[literal.node() as usize] ^ literal.is_negated();
                let found = bit(&model.slots[slot as usize * n_words..][..n_words]);
                assert_eq!(found, expected, "output {at}, lane {lane}, {target:?}");
            }
        }
    }
    let after = &model.slots[FIRST as usize * n_words..][..inputs.len()];
    assert_eq!(after, inputs, "inputs are only read");
    for (fixed, outputs) in task.fixed.iter().zip(&chunked.outputs) {
        assert_eq!(outputs[..fixed.len()], fixed[..]);
    }
}

#[test]
fn generated_code_means_what_the_graph_does() {
    let mut seed = 1;
    for target in TARGETS {
        for round in 0..60 {
            check(&mut seed, [0, 3, 30, 300, 1500][round % 5], target);
        }
        // Several chunks, more values than registers, far displacements.
        check(&mut seed, 12_000, target);
    }
}

/// Inputs are renewed in lanes that are moving, keep their values in those that are keeping, and
/// hold in no others; how many are renewed without a copy.
fn check_in_place(seed: &mut u64, n_ands: usize, target: Target) -> usize {
    let (graph, task) = random_task(seed, n_ands);
    let chunked = generate_in_place(&graph, &task, false, target);
    let n_words = target.block / 8;
    let mut model = Model::with_slots(&chunked, seed, n_words);
    let before = model.slots.clone();
    for chunks in &chunked.phases {
        model.run_all(chunks, target);
    }
    let renewed = &chunked.outputs[1][..task.n_renewed];
    for lane in [0, n_words * 32 - 1, n_words * 64 - 1] {
        let bit = |slots: &[u64], slot: u32| {
            slots[slot as usize * n_words + lane / 64] >> (lane % 64) & 1 == 1
        };
        let values: Vec<bool> = task.inputs.iter().map(|&slot| bit(&before, slot)).collect();
        let values = graph.evaluate(&values);
        let [moves, keeps] = [0, 1].map(|mask| bit(&before, task.first_slot + mask));
        for (at, (&slot, literal)) in chunked.outputs[1].iter().zip(&task.wanted[1]).enumerate() {
            let mut expected = values[literal.node() as usize] ^ literal.is_negated();
            if at < task.n_renewed {
                expected = expected && moves || values[at + 1] && keeps;
                let renewed = bit(&model.slots, task.inputs[at]);
                assert_eq!(renewed, expected, "input {at}, lane {lane}, {target:?}");
            }
            assert_eq!(bit(&model.slots, slot), expected, "output {at}, lane {lane}, {target:?}");
        }
        for (at, &slot) in task.inputs.iter().enumerate().skip(task.n_renewed) {
            assert_eq!(bit(&model.slots, slot), values[at + 1], "input {at}, {target:?}");
        }
    }
    renewed.iter().zip(&task.inputs).filter(|(output, input)| output == input).count()
}

#[test]
fn inputs_are_renewed_in_place_in_some_lanes() {
    let mut seed = 2;
    for target in TARGETS {
        let sizes = (0..60).map(|round| [0, 3, 30, 300, 1500][round % 5]);
        let n = sizes.map(|n_ands| check_in_place(&mut seed, n_ands, target)).sum::<usize>();
        assert!(n > 60, "{n} inputs are renewed in place");
    }
}

/// Encodings as an assembler gives them.
#[test]
fn bytes_are_those_of_an_assembler() {
    let bytes = |target, write: fn(&mut Encoder)| {
        let mut encoder = Encoder::new(target);
        write(&mut encoder);
        encoder.bytes
    };
    let check = |target, write, expected: &[u8]| assert_eq!(bytes(target, write), expected);
    use Place::{Register, Slot};
    // vpand ymm0, ymm1, ymm2
    check(AVX2_512, |e| e.binary(Operator::And, 0, 1, Register(2)), &[0xC5, 0xF5, 0xDB, 0xC2]);
    // vpandn ymm9, ymm15, ymm12
    check(
        AVX2_512,
        |e| e.binary(Operator::AndNot, 9, 15, Register(12)),
        &[0xC4, 0x41, 0x05, 0xDF, 0xCC],
    );
    // vpxor ymm8, ymm3, [rdi+0x1000]
    check(
        AVX2_512,
        |e| e.binary(Operator::Xor, 8, 3, Slot(64)),
        &[0xC5, 0x65, 0xEF, 0x87, 0, 0x10, 0, 0],
    );
    // vmovdqu ymm0, [rdi+0x40]
    check(AVX2_512, |e| e.load(0, Slot(1)), &[0xC5, 0xFE, 0x6F, 0x47, 0x40]);
    // vmovdqu [rdi+0x60], ymm10
    check(AVX2_256, |e| e.store(3, 10), &[0xC5, 0x7E, 0x7F, 0x57, 0x60]);
    // vpternlogq zmm1, zmm2, zmm3, 0x96
    check(
        AVX512_512,
        |e| e.ternary(0x96, 1, 2, Register(3)),
        &[0x62, 0xF3, 0xED, 0x48, 0x25, 0xCB, 0x96],
    );
    // vporq zmm31, zmm17, zmm24
    check(
        AVX512_512,
        |e| e.binary(Operator::Or, 31, 17, Register(24)),
        &[0x62, 0x01, 0xF5, 0x40, 0xEB, 0xF8],
    );
    // vmovdqu64 zmm16, [rdi+0x1fc0], whose displacement is short: 127 registers
    check(AVX512_512, |e| e.load(16, Slot(127)), &[0x62, 0xE1, 0xFE, 0x48, 0x6F, 0x47, 0x7F]);
    // vmovdqu64 [rdi+0x2000], ymm1
    check(AVX512_256, |e| e.store(256, 1), &[0x62, 0xF1, 0xFE, 0x28, 0x7F, 0x8F, 0, 0x20, 0, 0]);
    // mov r9, [rdi+0x48]
    check(GENERAL, |e| e.load(5, Slot(9)), &[0x4C, 0x8B, 0x4F, 0x48]);
    // mov [rdi+0x400], rbx
    check(GENERAL, |e| e.store(128, 8), &[0x48, 0x89, 0x9F, 0, 4, 0, 0]);
    // and rcx, [rdi+8]
    check(GENERAL, |e| e.binary(Operator::And, 1, 1, Slot(1)), &[0x48, 0x23, 0x4F, 0x08]);
    // mov r15, rsi; xor r15, rax
    check(
        GENERAL,
        |e| e.binary(Operator::Xor, 13, 3, Register(0)),
        &[0x4C, 0x8B, 0xFE, 0x4C, 0x33, 0xF8],
    );
    // andn rbx, r12, [rdi+0x10]
    check(
        GENERAL,
        |e| e.binary(Operator::AndNot, 8, 10, Slot(2)),
        &[0xC4, 0xE2, 0x98, 0xF2, 0x5F, 0x10],
    );
    // vzeroupper; ret
    check(AVX2_256, Encoder::end, &[0xC5, 0xF8, 0x77, 0xC3]);
}

/// Every vector instruction with every register, read back.
#[test]
fn a_decoder_reads_what_was_written() {
    for target in TARGETS.into_iter().filter(|target| !target.is_words()) {
        let n = target.n_registers() as u8;
        let first = first_register(target);
        let name = |register: u8| first as usize + usize::from(register);
        for to in 0..n {
            for other in 0..n {
                for last in
                    (0..n).map(Place::Register).chain([0, 1, 127, 128, 70_000].map(Place::Slot))
                {
                    let mut encoder = Encoder::new(target);
                    encoder.binary(Operator::AndNot, to, other, last);
                    if target.is_avx512 {
                        encoder.ternary(0x1D, to, other, last);
                    }
                    let length = encoder.bytes.len();
                    let mut decoder = Decoder::new(64, &encoder.bytes, DecoderOptions::NONE);
                    while decoder.can_decode() {
                        let read = decoder.decode();
                        assert!(!read.is_invalid(), "{:x?}", encoder.bytes);
                        assert_eq!(read.op0_register() as usize, name(to));
                        assert_eq!(read.op1_register() as usize, name(other));
                        match last {
                            Place::Register(last) => {
                                assert_eq!(read.op2_register() as usize, name(last));
                            }
                            Place::Slot(slot) => {
                                assert_eq!(read.memory_base(), Register::RDI);
                                let displacement = read.memory_displacement64() as usize;
                                assert_eq!(displacement, slot as usize * target.block);
                            }
                        }
                    }
                    assert_eq!(decoder.position(), length);
                }
            }
        }
    }
}

/// Which of the general registers instructions overwrite depends on where the operands are.
#[test]
fn general_registers_hold_what_operators_give() {
    let n = GENERAL.n_registers() as u8;
    let slots = [0, 15, 16, 70_000];
    let mut model = Model {
        registers: [[0; 8]; 32],
        stack: Vec::new(),
        slots: (0..=70_000_u64).map(|slot| slot.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect(),
        n_instructions: 0,
    };
    let run = |model: &mut Model, write: &dyn Fn(&mut Encoder)| {
        let mut encoder = Encoder::new(GENERAL);
        let start = encoder.begin();
        write(&mut encoder);
        encoder.end();
        model.run(&encoder.bytes, start, 0, GENERAL);
    };
    for operator in [Operator::And, Operator::AndNot, Operator::Or, Operator::Xor] {
        for (to, first) in (0..n).flat_map(|to| (0..n).map(move |first| (to, first))) {
            for last in (0..n).map(Place::Register).chain(slots.map(Place::Slot)) {
                let (a, b, result) = (20, 21, 22);
                let other = match last {
                    Place::Register(register) if register == first => a,
                    Place::Register(_) => b,
                    Place::Slot(slot) => slot,
                };
                run(&mut model, &|encoder| {
                    if let Place::Register(register) = last {
                        encoder.load(register, Place::Slot(b));
                    }
                    encoder.load(first, Place::Slot(a));
                    encoder.binary(operator, to, first, last);
                    encoder.store(result, to);
                });
                let [a, b, result] = [a, other, result].map(|slot| model.slots[slot as usize]);
                let expected = match operator {
                    Operator::And => a & b,
                    Operator::AndNot => !a & b,
                    Operator::Or => a | b,
                    Operator::Xor => a ^ b,
                };
                assert_eq!(result, expected, "{operator:?} {to} {first} {last:?}");
            }
        }
    }
}
