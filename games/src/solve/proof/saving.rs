//! What a proof knows, written down so that another process goes on from there.

use std::io::{self, Read, Write};
use std::time::Duration;

use super::search::Work;
use super::{ProofSolver, Question};
use crate::solve::GameHash;
use crate::solve::checkpoint::{ResumeError, SegmentKind, Words, read, write};

/// Entries of a segment: 1 MiB.
const SEGMENT_ENTRIES: usize = 1 << 16;

/// What a checkpoint had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The time that was spent until it was written.
    pub spent: Duration,
    /// Entries of its table.
    pub n_entries: u64,
}

impl ProofSolver {
    /// Writes the whole table, and that `spent` went by until now.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn save(&self, spent: Duration, out: &mut dyn Write) -> io::Result<()> {
        let mut first = self.identity();
        first.push(self.table.n_buckets() as u64);
        write(out, SegmentKind::Proof, &first)?;
        let mut words = Vec::with_capacity(2 * SEGMENT_ENTRIES);
        for (key, data) in self.table.entries() {
            words.extend([key, data]);
            if words.len() == 2 * SEGMENT_ENTRIES {
                write(out, SegmentKind::Entries, &words)?;
                words.clear();
            }
        }
        write(out, SegmentKind::Entries, &words)?;
        let Work { n_expanded, n_positions, n_repetitions, longest } = self.work();
        let mut words = vec![n_expanded, n_positions, n_repetitions, longest as u64];
        words.push(u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX));
        let met = (0..=100).filter_map(|first| Some((first, self.opposition.second(first)?)));
        words.extend(met.map(|(first, second)| u64::from(first) << 8 | u64::from(second)));
        write(out, SegmentKind::Cost, &words)
    }

    /// Goes on from what [`save`](Self::save) wrote. The table is as large as it was, if its
    /// memory allows that; in a smaller one, entries with little work behind them give way.
    ///
    /// # Errors
    /// If reading fails, or it was not written for this state of this game, or is damaged. The
    /// solver is of no use after that.
    pub fn resume(&mut self, input: &mut dyn Read) -> Result<Resumed, ResumeError> {
        let first = read(input)?.ok_or(ResumeError::Damaged)?;
        match first.words.split_last() {
            Some((&n_buckets, words))
                if first.kind == SegmentKind::Proof && words == self.identity() =>
            {
                self.table.make_room(n_buckets);
            }
            _ => return Err(ResumeError::Other),
        }
        let mut n_entries = 0;
        loop {
            let segment = read(input)?.ok_or(ResumeError::Damaged)?;
            match segment.kind {
                SegmentKind::Entries => {
                    let (entries, _) = segment.words.as_chunks::<2>();
                    entries.iter().for_each(|&[key, data]| self.table.put(key, data));
                    n_entries += entries.len() as u64;
                }
                SegmentKind::Cost => {
                    let spent = self.load_cost(&mut Words(&segment.words))?;
                    if input.read(&mut [0])? != 0 {
                        return Err(ResumeError::Damaged);
                    }
                    self.take_over();
                    return Ok(Resumed { spent, n_entries });
                }
                _ => return Err(ResumeError::Damaged),
            }
        }
    }

    fn load_cost(&mut self, words: &mut Words<'_>) -> Result<Duration, ResumeError> {
        self.before = Work {
            n_expanded: words.one()?,
            n_positions: words.one()?,
            n_repetitions: words.one()?,
            longest: words.one()? as usize,
        };
        let spent = Duration::from_nanos(words.one()?);
        for word in words.0 {
            let [second, first, ..] = word.to_le_bytes();
            self.opposition.note(first, second).map_err(|_| ResumeError::Damaged)?;
        }
        Ok(spent)
    }

    /// What the entries depend on: the format, the rules, the initial state, and how keys are
    /// made of states and questions.
    fn identity(&self) -> Vec<u64> {
        /// Changes when checkpoints can no longer be continued.
        const VERSION: u64 = 2;
        let game = GameHash::of(&self.game).bits();
        let mut words = vec![VERSION, game as u64, (game >> 64) as u64];
        for &at_least in &self.rewards {
            let key = Question { at_least }.key(self.root.key);
            words.extend([u64::from(at_least), key as u64, (key >> 64) as u64]);
        }
        words
    }
}
