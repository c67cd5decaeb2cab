//! Evaluation on demand: a predicate for given arguments, top-down.
//!
//! Some predicates hold for far more arguments than are ever needed, or can only be
//! computed for given arguments. They are called instead, and answers are remembered by
//! their arguments until the state changes. Calls that lead back to themselves are
//! repeated until there are no new answers (linear tabling: Zhou, Shen, Yuan and You
//! 2001): the first call of such a cycle, its *leader*, repeats, and the others are
//! provisional until then.

use smallvec::SmallVec;

use super::{ROOM, RuleEvaluator};
use crate::prover::calls::{Calls, Status};
use crate::prover::halt::Halt;
use crate::prover::rule_program::{RuleProgram, Slice};
use crate::relational::rules::Phase;
use crate::relational::terms::{NONE, TermId};

/// The cost of a call, in steps.
const CALLING: u64 = 4;

/// Static answers beyond this number are forgotten and found again.
const MAX_STATIC_ANSWERS: u32 = 1 << 20;

impl RuleEvaluator {
    /// Whether a predicate holds for the arguments in these registers; for a
    /// call with open arguments, sees to it that the answers are in its table.
    pub(super) fn call(
        &mut self,
        program: &RuleProgram,
        id: u32,
        keys: Slice,
    ) -> Result<bool, Halt> {
        let call = &program.calls[id as usize];
        let mut room = [NONE; ROOM];
        let keys = self.gather(program, keys, &mut room);
        self.work += CALLING;
        if !call.memo {
            self.calls.go_deeper(program.component_of[call.predicate])?;
            let result = self.ask(program, id, &keys);
            self.calls.come_back();
            return result;
        }
        let outer_phase = std::mem::replace(&mut self.in_action, call.phase == Phase::Action);
        let result = self.recall(program, id, &keys);
        self.in_action = outer_phase;
        result
    }

    /// The answer to a call that is remembered.
    fn recall(&mut self, program: &RuleProgram, id: u32, keys: &[TermId]) -> Result<bool, Halt> {
        let call = &program.calls[id as usize];
        let epoch = self.epochs[call.phase as usize];
        if self.calls.epochs[id as usize] != epoch {
            self.forget(program, id);
            self.calls.epochs[id as usize] = epoch;
        }
        let asked = self.table_mut(program, call.asked);
        let mut row = asked.first(0, keys.iter().copied());
        if row == NONE {
            row = asked.n_rows();
            asked.insert(keys);
            self.calls.status[id as usize].push(Status::Stale);
            self.count_fact(keys.len())?;
        }
        match self.calls.status[id as usize][row as usize] {
            Status::Known(holds) => return Ok(holds),
            Status::Open(position) | Status::Provisional(position) => {
                self.calls.low = self.calls.low.min(position);
                return Ok(false);
            }
            Status::Stale => {}
        }
        self.calls.go_deeper(program.component_of[call.predicate])?;
        let result = if call.recursive {
            self.solve(program, id, row, keys)
        } else {
            self.ask(program, id, keys).inspect(|&holds| {
                self.calls.status[id as usize][row as usize] = Status::Known(holds);
            })
        };
        self.calls.come_back();
        result
    }

    /// Ends all open calls. Static answers are never out of date, but must not pile up, so
    /// they are limited here, between two questions.
    pub(in crate::prover) fn abandon_calls(&mut self, program: &RuleProgram) {
        self.calls.abandon();
        for &id in &program.static_calls {
            let call = &program.calls[id as usize];
            let answers = self.table(program, call.answers.unwrap_or(call.asked)).n_rows();
            let asked = self.table(program, call.asked).n_rows();
            if answers.max(asked) > MAX_STATIC_ANSWERS {
                self.calls.epochs[id as usize] = 0;
            }
        }
    }

    fn forget(&mut self, program: &RuleProgram, id: u32) {
        let call = &program.calls[id as usize];
        self.table_mut(program, call.asked).clear();
        if let Some(answers) = call.answers {
            self.table_mut(program, answers).clear();
        }
        self.calls.status[id as usize].clear();
    }

    /// Evaluates a call until its answers are complete, or as complete as they
    /// can be while a call it leads back to is open.
    fn solve(
        &mut self,
        program: &RuleProgram,
        id: u32,
        row: u32,
        keys: &[TermId],
    ) -> Result<bool, Halt> {
        let position = self.calls.stack.len() as u32;
        let outer_low = self.calls.low;
        loop {
            self.calls.stack.push((id, row));
            self.calls.status[id as usize][row as usize] = Status::Open(position);
            self.calls.low = u32::MAX;
            let n_before = self.calls.n_answers;
            let holds = self.ask(program, id, keys)?;
            let low = self.calls.low;
            if holds {
                // One proof is enough; what was left open above is asked anew.
                self.calls.n_answers += 1;
                self.pop(position, |_| Status::Stale);
                self.calls.status[id as usize][row as usize] = Status::Known(true);
                self.calls.low = outer_low;
                return Ok(true);
            }
            if low > position {
                self.pop(position, Status::Known);
                self.calls.low = outer_low;
                return Ok(false);
            }
            if low < position {
                self.calls.status[id as usize][row as usize] = Status::Provisional(low);
                self.calls.low = low.min(outer_low);
                return Ok(false);
            }
            if self.calls.n_answers == n_before {
                self.pop(position, Status::Known);
                self.calls.low = outer_low;
                return Ok(false);
            }
            self.pop(position, |_| Status::Stale);
        }
    }

    /// Takes all calls from this position on off the stack.
    fn pop(&mut self, position: u32, status: impl Fn(bool) -> Status) {
        let Calls { stack, status: known, .. } = &mut self.calls;
        for (call, row) in stack.drain(position as usize..) {
            known[call as usize][row as usize] = status(false);
        }
    }

    /// Runs the clauses of a call.
    fn ask(&mut self, program: &RuleProgram, id: u32, keys: &[TermId]) -> Result<bool, Halt> {
        let call = &program.calls[id as usize];
        for &plan in &call.plans {
            let info = program.plans[plan as usize];
            // A recursive plan may be running already: it gets its registers back.
            let own = info.registers.range();
            let saved: Option<SmallVec<[u32; 32]>> =
                call.recursive.then(|| SmallVec::from_slice(&self.registers[own.clone()]));
            for (&register, &key) in program.operands[info.inputs.range()].iter().zip(keys) {
                self.registers[register as usize] = key;
            }
            let n_before = call.answers.map(|table| self.table(program, table).n_rows());
            let found = self.run(program, plan)?;
            if let (Some(table), Some(n_before)) = (call.answers, n_before) {
                self.calls.n_answers += u64::from(self.table(program, table).n_rows() - n_before);
            }
            if let Some(saved) = saved {
                self.registers[own].copy_from_slice(&saved);
            }
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
