//! What a run writes into a checkpoint after each level, and how it continues from there.

use std::io::{self, Write};

use super::Phase;
use super::checkpoint::{ResumeError, SegmentKind, Words, push_codes, write};
use super::expand::Outcome;
use super::levels::{Levels, Run as _};
use super::store::{Code, N_SHARDS, UNKNOWN};

impl<const N: usize> Levels<N> {
    /// Writes what is complete and not in the checkpoint yet.
    pub(super) fn save_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let is_reaching = self.phase == Phase::Reaching;
        if is_reaching && self.at > 0 {
            return Ok(());
        }
        let n_levels = if is_reaching { self.level + 1 } else { self.store.n_levels() };
        while self.saved.levels < n_levels {
            write(out, SegmentKind::Level, &self.level_words(self.saved.levels))?;
            self.saved.levels += 1;
        }
        if is_reaching {
            return Ok(());
        }
        if !self.saved.is_reached {
            write(out, SegmentKind::Level, &self.level_words(n_levels))?;
            self.saved.is_reached = true;
            self.saved.valued = n_levels - 1;
        }
        if self.phase == Phase::Done {
            return Ok(());
        }
        if self.is_graded() {
            while self.saved.valued > self.level {
                write(out, SegmentKind::Values, &self.value_words(self.saved.valued))?;
                self.saved.valued -= 1;
            }
        } else if self.at == 0
            && self.level + 1 == n_levels
            && self.sweep > self.saved.sweep
            // A few of many sweeps, so that the checkpoint stays small.
            && self.sweep.is_power_of_two()
        {
            let mut words = vec![u64::from(self.sweep)];
            (0..n_levels).for_each(|level| self.push_values(&mut words, level));
            write(out, SegmentKind::Sweep, &words)?;
            self.saved.sweep = self.sweep;
        }
        Ok(())
    }

    /// A level's states, what is terminal in the level before, and the figures so far.
    fn level_words(&self, level: usize) -> Vec<u64> {
        let mut words = vec![level as u64];
        words.extend([self.n_terminal, self.n_successors, self.n_expanded]);
        words.push(u64::from(self.needs_numbers));
        words.push(self.store.outcomes.len() as u64);
        for outcome in &self.store.outcomes {
            words.push(outcome.len() as u64);
            words.extend(outcome.iter().map(|&reward| u64::from(reward)));
        }
        let before = level - 1;
        for (at, shard) in self.store.shards.iter().enumerate() {
            let code = |number| match shard.is_terminal(number as usize) {
                true => shard.codes[number as usize],
                false => UNKNOWN,
            };
            push_codes(&mut words, self.store.range(before, at).map(code));
        }
        for (at, shard) in self.store.shards.iter().enumerate() {
            let range = match level < self.store.n_levels() {
                true => self.store.range(level, at),
                false => 0..0,
            };
            words.push(range.len() as u64);
            let states = &shard.states[range.start as usize..range.end as usize];
            words.extend_from_slice(states.as_flattened());
        }
        words
    }

    fn value_words(&self, level: usize) -> Vec<u64> {
        let mut words = vec![level as u64];
        self.push_values(&mut words, level);
        words
    }

    fn push_values(&self, words: &mut Vec<u64>, level: usize) {
        for (at, shard) in self.store.shards.iter().enumerate() {
            let range = self.store.range(level, at);
            let range = range.start as usize..range.end as usize;
            if self.needs_numbers {
                let n_roles = self.setup.roles.len();
                let numbers = &self.numbers[at][range.start * n_roles..range.end * n_roles];
                words.extend(numbers.iter().map(|number| number.to_bits()));
            } else {
                push_codes(words, shard.codes[range].iter().copied());
            }
        }
    }

    /// Continues with a segment that [`save_to`](Self::save_to) wrote.
    ///
    /// # Errors
    /// If it does not fit what was loaded before.
    pub(super) fn load_from(
        &mut self,
        kind: SegmentKind,
        words: &[u64],
    ) -> Result<(), ResumeError> {
        let mut words = Words(words);
        match kind {
            SegmentKind::Level => self.load_level(&mut words),
            SegmentKind::Values => {
                let level = words.one()?;
                if self.phase != Phase::Valuing || level != self.level as u64 || level == 0 {
                    return Err(ResumeError::Damaged);
                }
                self.load_values(&mut words, self.level)?;
                self.n_valued += self.store.level_len(self.level) as u64;
                self.level -= 1;
                self.saved.valued = self.level;
                Ok(())
            }
            SegmentKind::Sweep => {
                let sweep = words.one()?;
                if self.phase != Phase::Valuing || self.is_graded() {
                    return Err(ResumeError::Damaged);
                }
                for level in 0..self.store.n_levels() {
                    self.load_values(&mut words, level)?;
                }
                self.sweep = sweep as u32;
                self.saved.sweep = self.sweep;
                Ok(())
            }
            SegmentKind::Begin | SegmentKind::Proof | SegmentKind::Entries | SegmentKind::Cost => {
                Err(ResumeError::Damaged)
            }
        }
    }

    fn load_level(&mut self, words: &mut Words<'_>) -> Result<(), ResumeError> {
        let level = words.one()? as usize;
        if self.phase != Phase::Reaching || level != self.store.n_levels() {
            return Err(ResumeError::Damaged);
        }
        self.n_terminal = words.one()?;
        self.n_successors = words.one()?;
        self.n_expanded = words.one()?;
        self.needs_numbers = words.one()? != 0;
        let n_outcomes = words.one()? as usize;
        self.store.outcomes.clear();
        for _ in 0..n_outcomes {
            let n = words.one()? as usize;
            let rewards = words.many(n)?.iter().map(|&reward| reward as u8);
            self.store.outcomes.push(rewards.collect::<Outcome>());
        }
        for at in 0..N_SHARDS {
            let range = self.store.range(level - 1, at);
            let codes: Vec<Code> = words.codes(range.len())?;
            let range = range.start as usize..range.end as usize;
            let is_known =
                |&code: &Code| code == UNKNOWN || usize::from(code) < self.store.outcomes.len();
            if !codes.iter().all(is_known) {
                return Err(ResumeError::Damaged);
            }
            let all: Vec<Code> = (0..self.store.outcomes.len() as Code).collect();
            self.store.shards[at].set_terminal(range, &codes, &all);
        }
        self.store.begin_level();
        for shard in &mut self.store.shards {
            let n = words.one()? as usize;
            let flat = words.many(n.checked_mul(N).ok_or(ResumeError::Damaged)?)?;
            let (states, _) = flat.as_chunks::<N>();
            shard.append(states);
        }
        // References to successors are computed again.
        self.blocks.push(None);
        (self.level, self.at) = (level, 0);
        if self.store.level_len(level) > 0 {
            self.saved.levels = level + 1;
            return Ok(());
        }
        self.store.undo_level();
        self.saved.is_reached = true;
        self.saved.valued = level - 1;
        self.begin_valuing();
        Ok(())
    }

    fn load_values(&mut self, words: &mut Words<'_>, level: usize) -> Result<(), ResumeError> {
        let n_outcomes = self.outcomes.as_ref().map_or(0, |outcomes| outcomes.values.len());
        for at in 0..N_SHARDS {
            let range = self.store.range(level, at);
            let range = range.start as usize..range.end as usize;
            if self.needs_numbers {
                let n_roles = self.setup.roles.len();
                let numbers = words.many(range.len() * n_roles)?;
                let to = &mut self.numbers[at][range.start * n_roles..range.end * n_roles];
                for (to, &bits) in to.iter_mut().zip(numbers) {
                    *to = f64::from_bits(bits);
                }
            } else {
                let codes = words.codes(range.len())?;
                if codes.iter().any(|&code| usize::from(code) >= n_outcomes) {
                    return Err(ResumeError::Damaged);
                }
                self.store.shards[at].codes[range].copy_from_slice(&codes);
            }
        }
        Ok(())
    }

    /// Makes the tables of states that the rest of the run needs.
    pub(super) fn get_ready(&mut self) {
        let is_graded = self.is_graded();
        for shard in &mut self.store.shards {
            if is_graded {
                shard.forget_table();
            } else {
                shard.table_only(0..shard.states.len() as u32);
            }
        }
    }
}
