//! All states that were reached, in shards by their hash: each shard is looked up and
//! filled by one worker at a time, and its table stays in a near cache.

use super::expand::Outcome;

/// Number of shards: the first byte of a state's hash says which.
pub(super) const N_SHARDS: usize = 256;

/// Maximum number of states of a shard.
const MAX_SHARD: usize = (u32::MAX - 1) as usize;

/// States that are looked up at once.
const AHEAD: usize = 32;

/// No number of a state.
const NONE: u32 = u32::MAX;

/// A code for a terminal state's outcome, or for an unknown value.
pub(super) type Code = u16;

/// No value is known yet.
pub(super) const UNKNOWN: Code = Code::MAX;

/// A hash of a state: the shard in the first byte, and the place in the last bytes.
#[inline(always)]
pub(super) fn hash<const N: usize>(state: &[u64; N]) -> u64 {
    let mut hash = state[0];
    for &word in &state[1..] {
        hash = hash.rotate_left(29).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ word;
    }
    hash = (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash ^ hash >> 32
}

/// The shard of a state.
#[inline(always)]
pub(super) fn shard<const N: usize>(state: &[u64; N]) -> u8 {
    (hash(state) >> 56) as u8
}

/// The states of one shard, in the order in which they were reached.
#[derive(Clone, Debug, Default)]
pub(super) struct Shard<const N: usize> {
    pub(super) states: Vec<[u64; N]>,
    /// By state: the outcome of terminal ones, and later the value of all.
    pub(super) codes: Vec<Code>,
    /// By state, a bit each: whether it is terminal.
    terminal: Vec<u64>,
    /// By place: one more than the number of a state; 0 for none. Open addressing.
    table: Vec<u32>,
    n_tabled: usize,
}

impl<const N: usize> Shard<N> {
    /// Puts the numbers of states into `numbers`; those that are not in the table are
    /// added.
    pub(super) fn insert_all(&mut self, states: &[[u64; N]], numbers: &mut [u32]) {
        for (states, numbers) in states.chunks(AHEAD).zip(numbers.chunks_mut(AHEAD)) {
            if (self.n_tabled + AHEAD) * 3 >= self.table.len() * 2 {
                self.grow();
            }
            self.look_up(states, numbers);
            for (state, number) in states.iter().zip(numbers) {
                if *number == NONE {
                    *number = self.insert(state);
                }
            }
        }
    }

    /// Puts the numbers of states into `numbers`.
    ///
    /// # Panics
    /// If one is not in the table.
    pub(super) fn find_all(&self, states: &[[u64; N]], numbers: &mut [u32]) {
        for (states, numbers) in states.chunks(AHEAD).zip(numbers.chunks_mut(AHEAD)) {
            self.look_up(states, numbers);
            for (state, number) in states.iter().zip(numbers) {
                if *number == NONE {
                    let found = self.place(state).err();
                    *number = found.expect("successors are found again");
                }
            }
        }
    }

    /// The number of a state, if it is in the table.
    pub(super) fn find(&self, state: &[u64; N]) -> Option<u32> {
        if self.table.is_empty() { None } else { self.place(state).err() }
    }

    /// Looks for a few states where they should be; [`NONE`] for those that are not
    /// there. All memory that is needed is asked for before the first answer is used.
    #[inline(always)]
    fn look_up(&self, states: &[[u64; N]], numbers: &mut [u32]) {
        let mask = self.table.len() - 1;
        let mut found = [0_u32; AHEAD];
        for (found, state) in found.iter_mut().zip(states) {
            *found = self.table[hash(state) as usize & mask];
        }
        let mut candidates = [[0_u64; N]; AHEAD];
        for ((candidate, found), _) in candidates.iter_mut().zip(found).zip(states) {
            if found != 0 {
                *candidate = self.states[found as usize - 1];
            }
        }
        for (((number, found), candidate), state) in
            numbers.iter_mut().zip(found).zip(candidates).zip(states)
        {
            *number = if found != 0 && candidate == *state { found - 1 } else { NONE };
        }
    }

    /// The number of a state, or the place of the table where it belongs.
    #[inline(always)]
    fn place(&self, state: &[u64; N]) -> Result<usize, u32> {
        let mask = self.table.len() - 1;
        let mut place = hash(state) as usize & mask;
        loop {
            match self.table[place] {
                0 => return Ok(place),
                found if self.states[found as usize - 1] == *state => return Err(found - 1),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// The number of a state, which is added if it is not in the table. The table must
    /// have room.
    #[inline(always)]
    fn insert(&mut self, state: &[u64; N]) -> u32 {
        match self.place(state) {
            Err(number) => number,
            Ok(place) => {
                assert!(self.states.len() < MAX_SHARD, "memory ends before");
                self.states.push(*state);
                self.codes.push(UNKNOWN);
                self.table[place] = self.states.len() as u32;
                self.n_tabled += 1;
                self.states.len() as u32 - 1
            }
        }
    }

    /// Twice the table.
    #[cold]
    fn grow(&mut self) {
        let len = (self.table.len() * 2).max(2 * AHEAD);
        let numbers: Vec<u32> = self.table.iter().copied().filter(|&number| number != 0).collect();
        self.table = vec![0; len];
        for number in numbers {
            self.put(number);
        }
    }

    fn put(&mut self, number: u32) {
        let mask = self.table.len() - 1;
        let mut place = hash(&self.states[number as usize - 1]) as usize & mask;
        while self.table[place] != 0 {
            place = (place + 1) & mask;
        }
        self.table[place] = number;
    }

    /// Empties the table and enters only the states of these numbers.
    pub(super) fn table_only(&mut self, numbers: std::ops::Range<u32>) {
        let n = numbers.len();
        let len = (n * 2).next_power_of_two().max(2 * AHEAD);
        if self.table.len() < len {
            self.table = vec![0; len];
        } else {
            self.table.fill(0);
        }
        self.n_tabled = n;
        for number in numbers {
            self.put(number + 1);
        }
    }

    /// Adds states that are not there yet, without entering them into the table.
    pub(super) fn append(&mut self, states: &[[u64; N]]) {
        self.states.extend_from_slice(states);
        self.codes.resize(self.states.len(), UNKNOWN);
    }

    /// Sets the outcomes of states, [`UNKNOWN`] for those that are not terminal.
    pub(super) fn set_terminal(&mut self, numbers: std::ops::Range<usize>, codes: &[Code]) {
        self.terminal.resize(self.states.len().div_ceil(64), 0);
        for (number, &code) in numbers.zip(codes) {
            if code != UNKNOWN {
                self.codes[number] = code;
                self.terminal[number / 64] |= 1 << (number % 64);
            }
        }
    }

    /// Whether a state is terminal.
    pub(super) fn is_terminal(&self, number: usize) -> bool {
        self.terminal[number / 64] >> (number % 64) & 1 == 1
    }

    /// Frees the table.
    pub(super) fn forget_table(&mut self) {
        (self.table, self.n_tabled) = (Vec::new(), 0);
    }

    /// Bytes in use.
    pub(super) fn n_bytes(&self) -> u64 {
        (self.states.capacity() * size_of::<[u64; N]>()
            + self.codes.capacity() * size_of::<Code>()
            + self.terminal.capacity() * 8
            + self.table.capacity() * 4) as u64
    }
}

/// All shards, and where the levels begin in each.
#[derive(Clone, Debug)]
pub(super) struct Store<const N: usize> {
    pub(super) shards: Vec<Shard<N>>,
    /// By level: the number of its first state in each shard. The last level ends where
    /// the shards end.
    pub(super) starts: Vec<Vec<u32>>,
    /// Outcomes of terminal states, by code.
    pub(super) outcomes: Vec<Outcome>,
}

impl<const N: usize> Store<N> {
    /// With the initial state alone.
    pub(super) fn new(initial: [u64; N]) -> Self {
        let mut store = Self {
            shards: vec![Shard::default(); N_SHARDS],
            starts: vec![vec![0; N_SHARDS]],
            outcomes: Vec::new(),
        };
        store.shards[usize::from(shard(&initial))].insert_all(&[initial], &mut [0]);
        store
    }

    /// Number of levels.
    pub(super) fn n_levels(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn n_states(&self) -> u64 {
        self.shards.iter().map(|shard| shard.states.len() as u64).sum()
    }

    /// The numbers of a level's states in a shard.
    pub(super) fn range(&self, level: usize, shard: usize) -> std::ops::Range<u32> {
        let end = self
            .starts
            .get(level + 1)
            .map_or(self.shards[shard].states.len() as u32, |starts| starts[shard]);
        self.starts[level][shard]..end
    }

    /// Number of states of a level.
    pub(super) fn level_len(&self, level: usize) -> usize {
        (0..N_SHARDS).map(|shard| self.range(level, shard).len()).sum()
    }

    /// Begins a new level after all states so far.
    pub(super) fn begin_level(&mut self) {
        self.starts.push(self.shards.iter().map(|shard| shard.states.len() as u32).collect());
    }

    /// Forgets the last level.
    pub(super) fn undo_level(&mut self) {
        let starts = self.starts.pop().expect("there is a level");
        for (shard, start) in self.shards.iter_mut().zip(starts) {
            shard.states.truncate(start as usize);
            shard.codes.truncate(start as usize);
        }
    }

    /// The pieces of a level's states from `first` on, `n` of them: shard and numbers.
    pub(super) fn pieces(
        &self,
        level: usize,
        first: usize,
        n: usize,
    ) -> Vec<(usize, std::ops::Range<usize>)> {
        let (mut skipped, mut left) = (first, n);
        let mut pieces = Vec::new();
        for shard in 0..N_SHARDS {
            let range = self.range(level, shard);
            if range.len() <= skipped {
                skipped -= range.len();
                continue;
            }
            let from = range.start as usize + skipped;
            let until = (range.end as usize).min(from + left);
            skipped = 0;
            left -= until - from;
            pieces.push((shard, from..until));
            if left == 0 {
                break;
            }
        }
        pieces
    }

    /// The code of an outcome; a new one if it was not met before. `None` if there are
    /// more than codes.
    pub(super) fn code(&mut self, outcome: &Outcome) -> Option<Code> {
        if let Some(known) = self.outcomes.iter().position(|known| known == outcome) {
            return Some(known as Code);
        }
        self.outcomes.push(outcome.clone());
        let code = Code::try_from(self.outcomes.len() - 1).ok()?;
        (code < UNKNOWN - 1).then_some(code)
    }

    /// Bytes in use.
    pub(super) fn n_bytes(&self) -> u64 {
        self.shards.iter().map(Shard::n_bytes).sum()
    }
}
