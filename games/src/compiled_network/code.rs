//! Straight-line code for the interpreter: gates over numbered slots.
//!
//! Within windows of the [`Schedule`] equal gates are grouped, so that the interpreter
//! rarely branches. Slots are allocated by a linear scan and reused when their value is
//! dead, the last freed first, since it is still in the cache.

use std::collections::BTreeMap;

use super::gates::Gate;
use super::schedule::{NOWHERE, Schedule, Step, Value};

/// Gates in depth-first order that are grouped by kind.
const WINDOW: usize = 2048;

/// Computes a slot from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    /// What is written.
    pub(crate) target: u32,
    /// What is read; a gate of two operands ignores the third, which is a copy
    /// of the first.
    pub(crate) operands: [u32; 3],
}

/// A gate computed several times in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The gate.
    pub(crate) gate: Gate,
    /// Number of instructions.
    pub(crate) n: u32,
}

/// Instructions in order of execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Which gates.
    pub(crate) runs: Vec<Run>,
    /// Over which slots.
    pub(crate) instructions: Vec<Instruction>,
}

/// Code in phases over common slots.
pub(crate) struct Assembly {
    /// By phase.
    pub(crate) phases: Vec<Code>,
    /// By phase: the slots of the wanted literals. Those of a phase hold until
    /// the next phase runs.
    pub(crate) outputs: Vec<Vec<u32>>,
    /// Number of slots.
    pub(crate) n_slots: usize,
}

/// Code over slots that are given out by a linear scan.
pub(crate) fn assemble(mut schedule: Schedule) -> Assembly {
    let mut start = 0;
    for &end in &schedule.ends {
        let mut from = start;
        while from < end {
            let to = (from + WINDOW).min(end);
            group(&mut schedule.steps[from..to]);
            from = to;
        }
        start = end;
    }
    let Schedule { steps, ends, outputs, given, first_slot, .. } = &schedule;
    // Positions count the ends of phases too: outputs are read there.
    let mut last_use = vec![0; given.len()];
    let mut start = 0;
    for (phase, &end) in ends.iter().enumerate() {
        for (at, step) in steps.iter().enumerate().take(end).skip(start) {
            for operand in step.operands {
                last_use[operand as usize] = at + phase;
            }
        }
        start = end;
    }
    for (phase, values) in outputs.iter().enumerate() {
        for &value in values {
            let last = &mut last_use[value as usize];
            *last = (*last).max(ends[phase] + phase);
        }
    }
    let mut slots = given.clone();
    let is_given = |value: Value| given[value as usize] != NOWHERE;
    let mut free: Vec<u32> = Vec::new();
    let mut n_slots = *first_slot;
    let mut phases = Vec::new();
    let mut start = 0;
    for (phase, &end) in ends.iter().enumerate() {
        let mut code = Code::default();
        for (at, step) in steps.iter().enumerate().take(end).skip(start) {
            let operands = step.operands.map(|operand| slots[operand as usize]);
            let mut dead = step.operands.to_vec();
            dead.retain(|&value| last_use[value as usize] == at + phase && !is_given(value));
            free_all(&mut free, &slots, dead);
            let target = &mut slots[step.target as usize];
            if *target == NOWHERE {
                *target = free.pop().unwrap_or_else(|| {
                    n_slots += 1;
                    n_slots - 1
                });
            }
            code.push(step.gate, Instruction { target: *target, operands });
        }
        phases.push(code);
        let mut dead = outputs[phase].clone();
        dead.retain(|&value| last_use[value as usize] == end + phase && !is_given(value));
        free_all(&mut free, &slots, dead);
        start = end;
    }
    let outputs = outputs.iter().map(|values| values.iter().map(|&v| slots[v as usize]).collect());
    Assembly { phases, outputs: outputs.collect(), n_slots: n_slots as usize }
}

/// Makes the slots of values, which may be listed twice, free.
fn free_all(free: &mut Vec<u32>, slots: &[u32], mut values: Vec<Value>) {
    values.sort_unstable();
    values.dedup();
    free.extend(values.iter().map(|&value| slots[value as usize]));
}

impl Code {
    fn push(&mut self, gate: Gate, instruction: Instruction) {
        match self.runs.last_mut() {
            Some(run) if run.gate == gate => run.n += 1,
            _ => self.runs.push(Run { gate, n: 1 }),
        }
        self.instructions.push(instruction);
    }
}

/// Reorders steps such that equal gates follow each other: again and again the
/// gate of which most steps are ready, as long as more of it become ready.
fn group(steps: &mut [Step]) {
    let mut at_of = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        at_of.insert(step.target, at);
    }
    let mut missing = vec![0_u8; steps.len()];
    let mut readers = vec![Vec::new(); steps.len()];
    for (at, step) in steps.iter().enumerate() {
        let mut operands = step.operands;
        operands.sort_unstable();
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 && operands[i - 1] == *operand {
                continue;
            }
            if let Some(&source) = at_of.get(operand) {
                missing[at] += 1;
                readers[source].push(at);
            }
        }
    }
    let mut ready: BTreeMap<Gate, Vec<usize>> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        if missing[at] == 0 {
            ready.entry(step.gate).or_default().push(at);
        }
    }
    let mut order = Vec::with_capacity(steps.len());
    while let Some(gate) = ready.iter().max_by_key(|(_, at)| at.len()).map(|(&gate, _)| gate) {
        while let Some(mut now) = ready.remove(&gate) {
            now.sort_unstable();
            for &at in &now {
                for &reader in &readers[at] {
                    missing[reader] -= 1;
                    if missing[reader] == 0 {
                        ready.entry(steps[reader].gate).or_default().push(reader);
                    }
                }
            }
            order.extend(now);
        }
    }
    let mut place = vec![0; steps.len()];
    for (place_at, &at) in order.iter().enumerate() {
        place[at] = place_at;
    }
    for at in 0..steps.len() {
        while place[at] != at {
            let to = place[at];
            steps.swap(at, to);
            place.swap(at, to);
        }
    }
}
