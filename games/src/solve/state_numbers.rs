//! The numbers of states that a machine has met: how states are written that fit no compact word.

use hashbrown::HashTable;

use crate::split_mix::finalise;
use crate::state::State;

/// Number of tables: one of millions of states takes most of a second when it grows, and clocks
/// run meanwhile.
const N_TABLES: usize = 256;

/// States of a block.
const BLOCK: usize = 1024;

/// States in the order in which they were met.
#[derive(Debug)]
pub(super) struct StateNumbers {
    /// Numbers by the hash of the state.
    tables: Vec<HashTable<u32>>,
    blocks: Vec<Block>,
    n_states: usize,
    /// Bytes of the tables and of all blocks but the last.
    n_bytes: usize,
}

/// Some states, one after the other.
#[derive(Debug, Default)]
struct Block {
    words: Vec<u64>,
    /// By state: where its words end.
    ends: Vec<u32>,
}

impl Block {
    fn state(&self, at: usize) -> &[u64] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[at] as usize]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 8 * self.words.capacity() + 4 * self.ends.capacity()
    }
}

impl Default for StateNumbers {
    fn default() -> Self {
        let tables = vec![HashTable::new(); N_TABLES];
        Self { tables, blocks: Vec::new(), n_states: 0, n_bytes: 0 }
    }
}

impl StateNumbers {
    /// The number of a state; a new one if it was not met before. `None` if there are more states
    /// than numbers.
    pub(super) fn number(&mut self, state: &State) -> Option<u64> {
        if let Some(number) = self.find(state) {
            return Some(number);
        }
        let number = u32::try_from(self.n_states).ok()?;
        self.push(&state.words);
        let Self { tables, blocks, .. } = self;
        let hash = hash(&state.words);
        let table = &mut tables[table(hash)];
        let before = table_bytes(table);
        table.insert_unique(hash, number, |&number| self::hash(state_of(blocks, number)));
        self.n_bytes += table_bytes(table) - before;
        Some(number.into())
    }

    /// The number of a state that was met.
    pub(super) fn find(&self, state: &State) -> Option<u64> {
        let hash = hash(&state.words);
        let is_it = |&number: &u32| state_of(&self.blocks, number) == state.words;
        self.tables[table(hash)].find(hash, is_it).map(|&number| number.into())
    }

    /// The state of this number.
    pub(super) fn state(&self, number: u64) -> State {
        State { words: state_of(&self.blocks, number as u32).to_vec() }
    }

    /// Bytes of all states.
    pub(super) fn n_bytes(&self) -> u64 {
        (self.n_bytes + self.blocks.last().map_or(0, Block::n_bytes)) as u64
    }

    /// Adds a state.
    fn push(&mut self, words: &[u64]) {
        if self.n_states.is_multiple_of(BLOCK) {
            if let Some(full) = self.blocks.last_mut() {
                full.words.shrink_to_fit();
                full.ends.shrink_to_fit();
                self.n_bytes += full.n_bytes();
            }
            self.blocks.push(Block::default());
        }
        self.n_states += 1;
        if let Some(Block { words: all, ends }) = self.blocks.last_mut() {
            all.extend_from_slice(words);
            ends.push(u32::try_from(all.len()).expect("states have far fewer words"));
        }
    }
}

fn state_of(blocks: &[Block], number: u32) -> &[u64] {
    let number = number as usize;
    blocks[number / BLOCK].state(number % BLOCK)
}

fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash, &word| finalise(hash ^ word))
}

/// The table of a state with this hash. The tables themselves use other bits.
fn table(hash: u64) -> usize {
    (hash >> 40) as usize % N_TABLES
}

/// About how much memory a table takes: a number and a byte for each place, of which seven of
/// eight may be used.
fn table_bytes(table: &HashTable<u32>) -> usize {
    (table.capacity() * 8).div_ceil(7) * (size_of::<u32>() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States of different lengths keep their numbers, and take about what they are said to.
    #[test]
    fn states_keep_their_numbers() {
        let mut numbers = StateNumbers::default();
        let state = |n: u64| State { words: (0..=n % 3).map(|at| finalise(n) >> at).collect() };
        let n_states = 10 * BLOCK as u64 + 7;
        for round in 0..2 {
            for n in 0..n_states {
                assert_eq!(numbers.find(&state(n)), (round > 0).then_some(n));
                assert_eq!(numbers.number(&state(n)), Some(n));
                if round == 0 {
                    assert_eq!(numbers.find(&state(n + 1)), None);
                }
            }
        }
        for n in 0..n_states {
            assert_eq!(numbers.state(n), state(n));
        }
        let of_words: u64 = (0..n_states).map(|n| 4 + 8 * state(n).words.len() as u64).sum();
        let of_tables = n_states * 5;
        let least = of_words + of_tables;
        assert!((least..2 * least).contains(&numbers.n_bytes()), "{} {least}", numbers.n_bytes());
    }
}
