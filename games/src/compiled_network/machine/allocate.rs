//! Which value is in which register, and which in a slot.
//!
//! One pass over the operations in order. If a register is needed and none is
//! free, the value goes whose next use is farthest (Belady, "A study of
//! replacement algorithms for virtual-storage computer", 1966), rather one that
//! a slot holds as well; one that no slot holds is stored first. Values are made
//! once, so a slot that held a value holds it until its last use.

use std::collections::BTreeMap;

use super::encode::Encoder;
use super::operands::{Operator, Place};
use super::operations::{Operation, OperationKind, Operations};
use super::target::Target;
use crate::compiled_network::schedule::{NOWHERE, Schedule, Value};

/// Operations in a chunk of code that runs for one piece after the other: few
/// enough that the slots of one piece are still in the nearest cache for the
/// next. (Chunks of 2500 took twice as long where many moves are legal.)
const CHUNK: usize = 250;

/// A value in a slot is read from there, which is part of the instruction that
/// uses it, unless it is used again after at most this many operations.
const NEAR: u32 = 6;

/// There is no further use.
const NEVER: u32 = u32::MAX;

/// Functions that follow each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks {
    pub(super) bytes: Vec<u8>,
    /// Where in `bytes` each begins.
    pub(super) starts: Vec<usize>,
}

/// Code of all phases.
#[derive(Debug)]
pub(super) struct Chunked {
    pub(super) phases: Vec<Chunks>,
    /// By phase: the slots of the wanted literals. Those of a phase hold until
    /// the next phase runs.
    pub(super) outputs: Vec<Vec<u32>>,
    pub(super) n_slots: usize,
}

/// Generates code.
pub(super) fn translate(operations: &Operations, schedule: &Schedule, target: Target) -> Chunked {
    let uses = Uses::new(operations);
    let mut allocator = Allocator::new(operations, schedule, &uses, target);
    let mut phases = Vec::new();
    let mut slots = Vec::new();
    let mut from = 0;
    for (&end, outputs) in operations.ends.iter().zip(&schedule.outputs) {
        allocator.is_last_phase = phases.len() + 1 == operations.ends.len();
        let mut chunks = Chunks::default();
        // Of words, a phase is one function, even if it does nothing.
        while from < end || (target.is_words() && chunks.starts.is_empty()) {
            let n_chunks = if target.n_pieces() == 1 { 1 } else { (end - from).div_ceil(CHUNK) };
            let to = from + (end - from).div_ceil(n_chunks);
            chunks.starts.push(allocator.encoder.begin());
            for at in from..to {
                allocator.operation(at, to);
            }
            allocator.end();
            from = to;
        }
        if allocator.is_last_phase {
            let copies = allocator.copies(&outputs[..schedule.n_renewed]);
            if !copies.is_empty() {
                chunks.starts.push(allocator.encoder.begin());
                allocator.copy(&copies);
                allocator.end();
            }
        }
        chunks.bytes = std::mem::take(&mut allocator.encoder.bytes);
        phases.push(chunks);
        slots.push(outputs.iter().map(|&value| allocator.home[value as usize]).collect());
        allocator.release_outputs(outputs, end);
    }
    Chunked { phases, outputs: slots, n_slots: allocator.n_slots as usize }
}

/// When values are used.
struct Uses {
    /// By operation and operand: where the value is used next after this.
    after: Vec<[u32; 3]>,
    /// By value: where it is used first.
    first: Vec<u32>,
}

impl Uses {
    fn new(operations: &Operations) -> Self {
        let mut first = vec![NEVER; operations.n_values];
        let mut after = vec![[NEVER; 3]; operations.all.len()];
        for (at, operation) in operations.all.iter().enumerate().rev() {
            for (after, &value) in after[at].iter_mut().zip(operation.operands()) {
                *after = first[value as usize];
            }
            for &value in operation.operands() {
                first[value as usize] = at as u32;
            }
        }
        Self { after, first }
    }
}

struct Allocator<'a> {
    operations: &'a Operations,
    given: &'a [u32],
    /// Values that may be left in the slot of an input.
    in_place: &'a BTreeMap<Value, Value>,
    is_last_phase: bool,
    /// Values are in general registers.
    is_words: bool,
    uses: &'a Uses,
    encoder: Encoder,
    /// By value: its slot, else [`NOWHERE`].
    home: Vec<u32>,
    /// By value: whether the slot holds it by now.
    is_stored: Vec<bool>,
    /// By value: its register.
    register: Vec<Option<u8>>,
    /// By value: where it is used next.
    next: Vec<u32>,
    /// By value: the operation before which it is read as an output; 0 if none.
    read_before: Vec<u32>,
    /// By register.
    held: Vec<Option<Value>>,
    free_slots: Vec<u32>,
    n_slots: u32,
    /// The operation before which the chunk ends.
    chunk_end: u32,
}

impl<'a> Allocator<'a> {
    fn new(
        operations: &'a Operations,
        schedule: &'a Schedule,
        uses: &'a Uses,
        target: Target,
    ) -> Self {
        let mut home = schedule.given.clone();
        home.resize(operations.n_values, NOWHERE);
        // All that is made is stored when it is made; the rest is there.
        let mut is_stored: Vec<bool> = home.iter().map(|&slot| slot != NOWHERE).collect();
        for operation in &operations.all {
            is_stored[operation.target as usize] = false;
        }
        let mut read_before = vec![0; operations.n_values];
        for (values, &end) in schedule.outputs.iter().zip(&operations.ends) {
            for &value in values {
                // After the last operation, even if there is none.
                read_before[value as usize] = end.max(1) as u32;
            }
        }
        Self {
            operations,
            given: &schedule.given,
            in_place: &schedule.in_place,
            is_last_phase: false,
            is_words: target.is_words(),
            uses,
            encoder: Encoder::new(target),
            home,
            is_stored,
            register: vec![None; operations.n_values],
            next: uses.first.clone(),
            read_before,
            held: vec![None; target.n_registers()],
            free_slots: Vec::new(),
            n_slots: schedule.first_slot,
            chunk_end: 0,
        }
    }

    /// Ends a function; what is needed later is in slots.
    fn end(&mut self) {
        for register in 0..self.held.len() as u8 {
            self.evict(register);
        }
        self.encoder.end();
    }

    /// The slots of values that renew the inputs, where they are not the inputs' own, and those.
    fn copies(&self, values: &[Value]) -> Vec<[u32; 2]> {
        let slots = values.iter().map(|&value| self.home[value as usize]).zip(&self.given[1..]);
        slots.filter(|(from, to)| from != *to).map(|(from, &to)| [from, to]).collect()
    }

    /// Copies slots into others.
    fn copy(&mut self, slots: &[[u32; 2]]) {
        for &[from, to] in slots {
            let register = self.take(0);
            self.encoder.load(register, Place::Slot(from));
            self.encoder.store(to, register);
        }
    }

    fn operation(&mut self, at: usize, chunk_end: usize) {
        self.chunk_end = chunk_end as u32;
        let operation = &self.operations.all[at];
        let register = match operation.kind {
            OperationKind::Binary(operator) => self.binary(at, operation, operator),
            OperationKind::Ternary(table) => self.ternary(at, operation, table),
            OperationKind::Copy => {
                let from = self.place(operation.operands[0]);
                self.used(at, operation);
                let to = self.take(0);
                self.encoder.load(to, from);
                to
            }
        };
        for &value in operation.operands() {
            self.release(value, at as u32);
        }
        let target = operation.target as usize;
        if self.read_before[target] > 0 || self.given.get(target).is_some_and(|&g| g != NOWHERE) {
            self.store(operation.target, register);
        }
        if self.next[target] != NEVER {
            self.hold(operation.target, register);
        }
    }

    /// Two operands, the last of which may be in a slot; gives the register of
    /// the result.
    fn binary(&mut self, at: usize, operation: &Operation, operator: Operator) -> u8 {
        let [mut first, mut last, _] = operation.operands;
        let [mut after_first, mut after_last, _] = self.uses.after[at];
        let in_register = |value: Value| self.register[value as usize];
        let swap = operator != Operator::AndNot
            && match (in_register(first), in_register(last)) {
                (None, Some(_)) => true,
                (None, None) => after_last < after_first,
                // The encoding of vectors is shorter if the last one is a low register.
                (Some(a), Some(b)) => a < 8 && b >= 8,
                (Some(_), None) => false,
            };
        if swap {
            (first, last, after_first, after_last) = (last, first, after_last, after_first);
        }
        let mut scratch = None;
        let first_register = match self.register[first as usize] {
            Some(register) => register,
            None => {
                let register = self.load(first, &[last]);
                if self.is_near(at, after_first) {
                    self.hold(first, register);
                } else {
                    scratch = Some(register);
                }
                register
            }
        };
        if self.register[last as usize].is_none() && self.is_near(at, after_last) {
            let register = self.load_beside(last, first_register);
            self.hold(last, register);
        }
        let place = self.place(last);
        self.used(at, operation);
        let to = scratch.or_else(|| self.overwritten(operator, first_register, place));
        let to = to.unwrap_or_else(|| self.take(0));
        self.encoder.binary(operator, to, first_register, place);
        to
    }

    /// The register of an operand that is not needed any more, if the instruction overwrites one.
    fn overwritten(&self, operator: Operator, first: u8, last: Place) -> Option<u8> {
        if !self.is_words || operator == Operator::AndNot {
            return None;
        }
        let last = match last {
            Place::Register(last) => Some(last),
            Place::Slot(_) => None,
        };
        let is_free = |register: &u8| self.held[usize::from(*register)].is_none();
        std::iter::once(first).chain(last).find(is_free)
    }

    /// Three operands, or two of which one is there twice: one that is
    /// overwritten, one in a register, and one that may be in a slot; gives the
    /// register of the result.
    fn ternary(&mut self, at: usize, operation: &Operation, table: u8) -> u8 {
        let mut values = operation.operands.to_vec();
        let after_of = |value: Value| {
            let index = operation.operands.iter().position(|&operand| operand == value);
            self.uses.after[at][index.expect("it is an operand")]
        };
        // The one to be overwritten comes first: best one that is not needed any
        // more, else one that has to be loaded, and not for longer.
        let cost = |value: Value, register: Option<u8>| match register {
            Some(_) if after_of(value) == NEVER => 0,
            None if !self.is_near(at, after_of(value)) => 1,
            _ => 2,
        };
        values.sort_by_key(|&v| (cost(v, self.register[v as usize]), v));
        values.dedup();
        // The last one is best one in a slot.
        if values.len() == 3 {
            let key = |value: Value| match self.register[value as usize] {
                None if !self.is_near(at, after_of(value)) => 2,
                None => 1,
                Some(_) => 0,
            };
            if key(values[1]) > key(values[2]) {
                values.swap(1, 2);
            }
        }
        let afters: Vec<u32> = values.iter().map(|&value| after_of(value)).collect();
        let mut scratch = None;
        let mut others = [0; 2];
        for (i, other) in others.iter_mut().enumerate() {
            let Some(&value) = values.get(i + 1) else { continue };
            let is_last = i + 2 == values.len();
            let near = self.is_near(at, afters[i + 1]);
            if self.register[value as usize].is_none() && (!is_last || near) {
                let register = self.load_among(value, &values, scratch);
                if near {
                    self.hold(value, register);
                } else {
                    scratch = Some(register);
                }
                *other = register;
            } else if let Some(register) = self.register[value as usize] {
                *other = register;
            }
        }
        let overwritten = values[0];
        let to = match self.register[overwritten as usize] {
            Some(register) if afters[0] == NEVER => register,
            from => {
                let from =
                    from.map_or(Place::Slot(self.home[overwritten as usize]), Place::Register);
                let to = self.take_among(&values, scratch);
                self.encoder.load(to, from);
                to
            }
        };
        let last_value = values[values.len() - 1];
        let last = match (self.register[last_value as usize], values.len()) {
            // All operands are one.
            (_, 1) => Place::Register(to),
            (Some(register), _) => Place::Register(register),
            (None, _) => Place::Slot(self.home[last_value as usize]),
        };
        let second = match values.len() {
            1 => to,
            2 => match last {
                Place::Register(register) => register,
                // Reading it twice would take two instructions.
                Place::Slot(_) => to,
            },
            _ => others[0],
        };
        let order = match values.len() {
            1 => [0; 3],
            2 if second == to => [0, 0, 1],
            2 => [0, 1, 1],
            _ => [0, 1, 2],
        };
        let table = reordered(table, operation.operands, order.map(|i| values[i]));
        self.used(at, operation);
        self.encoder.ternary(table, to, second, last);
        to
    }

    /// Whether a value that is used then is worth a register, if it is in a slot.
    fn is_near(&self, at: usize, after: u32) -> bool {
        after < self.chunk_end && after - at as u32 <= NEAR
    }

    /// Where a value is.
    fn place(&self, value: Value) -> Place {
        match self.register[value as usize] {
            Some(register) => Place::Register(register),
            None => {
                debug_assert!(self.is_stored[value as usize], "values are somewhere");
                Place::Slot(self.home[value as usize])
            }
        }
    }

    /// Takes note that operands were read: where they are used next, and which
    /// registers are free if they are not.
    fn used(&mut self, at: usize, operation: &Operation) {
        for (&value, &after) in operation.operands().iter().zip(&self.uses.after[at]) {
            self.next[value as usize] = after;
            if after == NEVER
                && let Some(register) = self.register[value as usize].take()
            {
                self.held[usize::from(register)] = None;
            }
        }
    }

    fn hold(&mut self, value: Value, register: u8) {
        self.held[usize::from(register)] = Some(value);
        self.register[value as usize] = Some(register);
    }

    /// A register with a value from its slot; registers of others are kept.
    fn load(&mut self, value: Value, others: &[Value]) -> u8 {
        self.load_among(value, others, None)
    }

    fn load_beside(&mut self, value: Value, other: u8) -> u8 {
        self.load_among(value, &[], Some(other))
    }

    fn load_among(&mut self, value: Value, others: &[Value], other: Option<u8>) -> u8 {
        let register = self.take_among(others, other);
        debug_assert!(self.is_stored[value as usize], "values are somewhere");
        self.encoder.load(register, Place::Slot(self.home[value as usize]));
        register
    }

    /// A register that is none of these values' and not the other one.
    fn take_among(&mut self, others: &[Value], other: Option<u8>) -> u8 {
        let mut kept = other.map_or(0, |register| 1_u32 << register);
        for &value in others {
            kept |= self.register[value as usize].map_or(0, |register| 1 << register);
        }
        self.take(kept)
    }

    /// A register that holds nothing, and is not among those kept.
    fn take(&mut self, kept: u32) -> u8 {
        let candidates = (0..self.held.len() as u8).filter(|register| kept >> register & 1 == 0);
        let register = candidates
            .max_by_key(|&register| (self.distance(register), std::cmp::Reverse(register)))
            .expect("there are more registers than operands");
        self.evict(register);
        register
    }

    /// How far the next use of what a register holds is, as it counts here.
    fn distance(&self, register: u8) -> u64 {
        let Some(value) = self.held[usize::from(register)] else { return u64::MAX };
        let next = self.next[value as usize];
        if next >= self.chunk_end {
            // It would have to go at the end of the chunk in any case.
            return u64::MAX - 1;
        }
        let is_stored = self.is_stored[value as usize];
        u64::from(next) * 2 + if is_stored { u64::from(NEAR) * 4 } else { 0 }
    }

    /// Empties a register; a value that is still needed is then in its slot.
    fn evict(&mut self, register: u8) {
        let Some(value) = self.held[usize::from(register)].take() else { return };
        self.register[value as usize] = None;
        if !self.is_stored[value as usize] {
            self.store(value, register);
        }
    }

    /// Writes a value to its slot; it gets one if it has none.
    fn store(&mut self, value: Value, register: u8) {
        let renewed = self.slot_of_renewed(value);
        let home = &mut self.home[value as usize];
        if *home == NOWHERE {
            *home = renewed.or_else(|| self.free_slots.pop()).unwrap_or_else(|| {
                self.n_slots += 1;
                self.n_slots - 1
            });
        }
        self.encoder.store(*home, register);
        self.is_stored[value as usize] = true;
    }

    /// The slot of the input that a value renews, if nothing reads the input any more.
    fn slot_of_renewed(&self, value: Value) -> Option<u32> {
        let &input = self.in_place.get(&value).filter(|_| self.is_last_phase)?;
        (self.next[input as usize] == NEVER).then(|| self.given[input as usize])
    }

    /// Frees the slot of a value that is not used after an operation.
    fn release(&mut self, value: Value, at: u32) {
        let index = value as usize;
        let is_given = self.given.get(index).is_some_and(|&slot| slot != NOWHERE);
        if self.next[index] == NEVER
            && self.read_before[index] <= at
            && !is_given
            && std::mem::take(&mut self.is_stored[index])
        {
            self.free_slots.push(self.home[index]);
        }
    }

    /// Frees the slots of outputs that are read before an operation only.
    fn release_outputs(&mut self, outputs: &[Value], end: usize) {
        for &value in outputs {
            if end < self.operations.all.len() {
                self.release(value, end.max(1) as u32);
            }
        }
    }
}

/// The table of the same function for operands in another order: VPTERNLOGQ's,
/// whose first operand is the highest bit of a row.
fn reordered(table: u8, operands: [Value; 3], order: [Value; 3]) -> u8 {
    let mut reordered = 0;
    for row in 0..8_u8 {
        let bit = |value: Value| {
            let at = order.iter().position(|&other| other == value).expect("the same operands");
            row >> (2 - at) & 1
        };
        let [a, b, c] = operands.map(bit);
        reordered |= (table >> (a | b << 1 | c << 2) & 1) << row;
    }
    reordered
}
