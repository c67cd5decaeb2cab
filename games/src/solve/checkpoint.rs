//! Segments of a checkpoint: what a solver has found, in pieces that are whole or absent.
//!
//! Each segment has a kind, a length, its words and a checksum. The checkpoint of all states
//! only grows, so that the end that a killed process left half-written is recognised and left
//! out. That of a proof is written anew each time.

use std::io::{self, Read, Write};

use crate::split_mix::finalise;

/// What a segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentKind {
    /// A solver begins, with these assumptions.
    Begin,
    /// The states of a level, and what is terminal in the one before.
    Level,
    /// The values of a level.
    Values,
    /// The values of all states at the beginning of a sweep.
    Sweep,
    /// A proof, and what it is about.
    Proof,
    /// Entries of a proof's table.
    Entries,
    /// What a proof has cost, and the rewards that it met; the last of its segments.
    Cost,
}

impl SegmentKind {
    const ALL: [Self; 7] = [
        Self::Begin,
        Self::Level,
        Self::Values,
        Self::Sweep,
        Self::Proof,
        Self::Entries,
        Self::Cost,
    ];
}

/// How much of a run is in its checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    /// Levels whose states are there. The first is the initial state.
    pub(super) levels: usize,
    /// Whether it is there that no more levels follow.
    pub(super) is_reached: bool,
    /// The level above which all values are there.
    pub(super) valued: usize,
    /// The last sweep whose beginning is there.
    pub(super) sweep: u32,
}

impl Default for Saved {
    fn default() -> Self {
        Self { levels: 1, is_reached: false, valued: usize::MAX, sweep: 1 }
    }
}

/// Why a checkpoint cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// Reading failed.
    #[error("cannot read the checkpoint")]
    Io(#[from] io::Error),
    /// It is of another game, another method or another version of this program.
    #[error(
        "the checkpoint is of another game, first state, method or version of this program; remove it to begin anew"
    )]
    Other,
    /// It does not begin like a checkpoint, or its segments do not fit together.
    #[error(
        "the file is damaged, or not a checkpoint of `gamemaster solve`; name another file, or remove this one to begin anew"
    )]
    Damaged,
}

/// Bytes of a segment besides its words.
const FRAME: u64 = 24;

/// Most words that are read at once, so that a damaged length takes no memory.
const PIECE: usize = 1 << 20;

fn checksum(kind: u64, words: &[u64]) -> u64 {
    let first = finalise(kind ^ finalise(words.len() as u64));
    words.iter().fold(first, |sum, &word| finalise(sum ^ word).rotate_left(7))
}

/// Writes a segment.
///
/// # Errors
/// Those of the writer.
pub(super) fn write(out: &mut dyn Write, kind: SegmentKind, words: &[u64]) -> io::Result<()> {
    let kind = kind as u64;
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&(words.len() as u64).to_le_bytes())?;
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))?;
    out.write_all(&checksum(kind, words).to_le_bytes())
}

/// A segment that was read.
pub(super) struct Segment {
    pub(super) kind: SegmentKind,
    pub(super) words: Vec<u64>,
    /// Bytes that it takes in the checkpoint.
    pub(super) n_bytes: u64,
}

/// The next segment; `None` if there is none that is whole.
///
/// # Errors
/// If reading fails.
pub(super) fn read(input: &mut dyn Read) -> io::Result<Option<Segment>> {
    let Some(head) = read_words(input, 2)? else { return Ok(None) };
    let kind = SegmentKind::ALL.into_iter().find(|&kind| kind as u64 == head[0]);
    let Ok(n) = usize::try_from(head[1]) else { return Ok(None) };
    let Some(words) = read_words(input, n)? else { return Ok(None) };
    let Some(sum) = read_words(input, 1)? else { return Ok(None) };
    let n_bytes = FRAME + 8 * n as u64;
    let is_whole = sum[0] == checksum(head[0], &words);
    Ok(kind.filter(|_| is_whole).map(|kind| Segment { kind, words, n_bytes }))
}

/// So many words; `None` if the input ends before.
fn read_words(input: &mut dyn Read, n: usize) -> io::Result<Option<Vec<u64>>> {
    let mut words = Vec::new();
    let mut bytes = vec![0; 8 * n.min(PIECE)];
    while words.len() < n {
        let piece = &mut bytes[..8 * (n - words.len()).min(PIECE)];
        match input.read_exact(piece) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (chunks, _) = piece.as_chunks::<8>();
        words.extend(chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)));
    }
    Ok(Some(words))
}

/// Takes words from a segment, in order.
pub(super) struct Words<'a>(pub(super) &'a [u64]);

impl<'a> Words<'a> {
    /// The next word.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn one(&mut self) -> Result<u64, ResumeError> {
        Ok(self.many(1)?[0])
    }

    /// The next `n` words.
    ///
    /// # Errors
    /// If there are fewer.
    pub(super) fn many(&mut self, n: usize) -> Result<&'a [u64], ResumeError> {
        let (words, rest) = self.0.split_at_checked(n).ok_or(ResumeError::Damaged)?;
        self.0 = rest;
        Ok(words)
    }

    /// The next codes, packed four to a word.
    ///
    /// # Errors
    /// If there are fewer.
    pub(super) fn codes(&mut self, n: usize) -> Result<Vec<u16>, ResumeError> {
        let words = self.many(n.div_ceil(4))?;
        Ok((0..n).map(|at| (words[at / 4] >> (at % 4 * 16)) as u16).collect())
    }
}

/// Packs codes four to a word.
pub(super) fn push_codes(words: &mut Vec<u64>, codes: impl Iterator<Item = u16>) {
    let mut word = 0;
    let mut n = 0;
    for code in codes {
        word |= u64::from(code) << (n % 4 * 16);
        n += 1;
        if n % 4 == 0 {
            words.push(std::mem::take(&mut word));
        }
    }
    if n % 4 != 0 {
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_up_to_the_first_damage() {
        let mut file = Vec::new();
        write(&mut file, SegmentKind::Begin, &[1, 2, 3]).unwrap();
        let first = file.len();
        write(&mut file, SegmentKind::Level, &[]).unwrap();
        let whole = file.len();
        write(&mut file, SegmentKind::Values, &[u64::MAX; 5]).unwrap();
        let read_all = |mut bytes: &[u8]| {
            let mut found = Vec::new();
            while let Some(segment) = read(&mut bytes).unwrap() {
                found.push((segment.kind, segment.words, segment.n_bytes));
            }
            found
        };
        let all = read_all(&file);
        assert_eq!(all.len(), 3);
        assert_eq!(all[0], (SegmentKind::Begin, vec![1, 2, 3], first as u64));
        assert_eq!(all[2].1, [u64::MAX; 5]);
        for end in whole..file.len() {
            assert_eq!(read_all(&file[..end]).len(), 2, "cut at {end}");
        }
        for at in whole..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 4;
            assert_eq!(read_all(&damaged).len(), 2, "damaged at {at}");
        }
    }

    #[test]
    fn codes_are_packed() {
        for n in 0..9 {
            let codes: Vec<u16> = (0..n).map(|code| code * 8001).collect();
            let mut words = Vec::new();
            push_codes(&mut words, codes.iter().copied());
            assert_eq!(Words(&words).codes(usize::from(n)).unwrap(), codes);
        }
        assert!(Words(&[0]).codes(5).is_err());
    }
}
