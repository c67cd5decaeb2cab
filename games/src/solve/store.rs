//! All states that were reached, in shards by their hash: each shard is looked up and
//! filled by one worker at a time, and its table stays in a near cache.

use std::hint;

use super::expand::Outcome;
use super::successor_numbers::Number;

/// Number of shards: the first byte of a state's hash says which.
pub(super) const N_SHARDS: usize = 256;

/// Maximum number of states of a shard.
const MAX_SHARD: usize = (u32::MAX - 1) as usize;

/// States that are looked up at once.
const AHEAD: usize = 32;

/// Bytes that the processor loads at once.
const CACHE_LINE: usize = 64;

/// Cache lines that can be read in order in the time of one random read.
const LINES_FOR_A_LOOK_UP: usize = 8;

/// A code for a terminal state's outcome, or for an unknown value.
pub(super) type Code = u16;

/// No value is known yet.
pub(super) const UNKNOWN: Code = Code::MAX;

/// A hash of a state: the shard in the first byte, and the place in the last bytes. Both
/// halves of a product depend on all bits of its factors (Wang Yi's wyhash).
#[inline(always)]
pub(super) fn hash<const N: usize>(state: &[u64; N]) -> u64 {
    let mut hash = 0;
    for &word in state {
        let product = u128::from(hash ^ word ^ 0xD6E8_FEB8_6659_FD93) * 0x9E37_79B9_7F4A_7C15;
        hash = (product >> 64) as u64 ^ product as u64;
    }
    hash
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
    /// By place: 0 for none, or in the low bits, as many as a place has, one more than the
    /// number of a state counted from `base`, and above them bits of its hash, which
    /// spare most look-ups of other states. Open addressing.
    table: Vec<u32>,
    n_tabled: usize,
    /// Memory is short: grow by a thirty-second, which takes more copying than doubling.
    grows_little: bool,
    /// The number of the first state in the table; those after it follow.
    base: u32,
}

impl<const N: usize> Shard<N> {
    /// The number of the first state in the table.
    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// Number of states in the table.
    pub(super) fn n_tabled(&self) -> usize {
        self.n_tabled
    }

    /// Puts the numbers of states into `numbers`, counted from the base; those that are not
    /// in the table are added. Whether a state is new cannot be foreseen, so nothing branches on it.
    pub(super) fn insert_all<M: Number>(&mut self, states: &[[u64; N]], numbers: &mut [M]) {
        for (states, numbers) in states.chunks(AHEAD).zip(numbers.chunks_mut(AHEAD)) {
            if (self.n_tabled + AHEAD) * 2 >= self.table.len() {
                self.grow();
            }
            // Each is written after those that are there, and stays if it is new.
            let end = self.states.len();
            self.reserve();
            self.states.resize(end + AHEAD, [0; N]);
            let places = self.look_up(states);
            let mask = (self.table.len() - 1) as u32;
            let tabled = &mut self.states[self.base as usize..];
            let mut n = self.n_tabled as u32;
            for ((state, number), (mut place, tag)) in states.iter().zip(numbers).zip(places) {
                let entry = loop {
                    let entry = self.table[place as usize];
                    let candidate = &tabled[(entry & mask).max(1) as usize - 1];
                    let mut differs = u64::from((entry & !mask) ^ tag);
                    for (there, here) in candidate.iter().zip(state) {
                        differs |= there ^ here;
                    }
                    // One product instead of two conditions, which would be two branches.
                    let differs = (differs | differs >> 32) as u32;
                    if u64::from(entry) * u64::from(differs) == 0 {
                        break entry;
                    }
                    place = (place + 1) & mask;
                };
                tabled[n as usize] = *state;
                let is_new = entry == 0;
                n += u32::from(is_new);
                let place_number = if is_new { n } else { entry & mask };
                self.table[place as usize] = tag | place_number;
                *number = M::of(place_number - 1);
            }
            self.n_tabled = n as usize;
            self.states.truncate(self.base as usize + self.n_tabled);
            assert!(self.states.len() < MAX_SHARD, "memory ends before");
        }
    }

    /// Puts the numbers of states into `numbers`, counted from the base.
    ///
    /// # Panics
    /// If one is not in the table.
    pub(super) fn find_all<M: Number>(&self, states: &[[u64; N]], numbers: &mut [M]) {
        for (states, numbers) in states.chunks(AHEAD).zip(numbers.chunks_mut(AHEAD)) {
            let places = self.look_up(states);
            for ((state, number), (place, tag)) in states.iter().zip(numbers).zip(places) {
                let found = self.place(state, place as usize, tag);
                *number = M::of(found.expect("successors are found again") - self.base);
            }
        }
    }

    /// The number of a state, if it is in the table.
    pub(super) fn find(&self, state: &[u64; N]) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        let (place, tag) = self.first_place(hash(state));
        self.place(state, place as usize, tag)
    }

    /// Reads the table and its states once, in order, so that they are in the near cache: much
    /// faster than line by line when they are needed. Does nothing if `n_look_ups` are too few to
    /// pay for that.
    pub(super) fn warm(&self, n_look_ups: usize) {
        let n_bytes =
            size_of_val(&self.table[..]) + size_of_val(&self.states[self.base as usize..]);
        if n_look_ups * LINES_FOR_A_LOOK_UP < n_bytes / CACHE_LINE {
            return;
        }
        let lines = self.table.iter().step_by(CACHE_LINE / size_of::<u32>());
        let table = lines.fold(0, |sum, entry| sum ^ entry);
        let lines = self.states[self.base as usize..].iter();
        let lines = lines.step_by((CACHE_LINE / size_of::<[u64; N]>()).max(1));
        hint::black_box((table, lines.fold(0, |sum, state| sum ^ state[0])));
    }

    /// The place where a state of this hash should be, and the bits of its hash there.
    #[inline(always)]
    fn first_place(&self, hash: u64) -> (u32, u32) {
        let mask = (self.table.len() - 1) as u32;
        (hash as u32 & mask, (hash >> 32) as u32 & !mask)
    }

    /// The places where a few states should be, and the bits of their hashes there. All
    /// memory that looking there needs is asked for, so that no look-up waits for another.
    #[inline(always)]
    fn look_up(&self, states: &[[u64; N]]) -> [(u32, u32); AHEAD] {
        let mask = (self.table.len() - 1) as u32;
        let tabled = &self.states[self.base as usize..];
        let mut places = [(0_u32, 0_u32); AHEAD];
        for (place, state) in places.iter_mut().zip(states) {
            *place = self.first_place(hash(state));
        }
        let mut found = [0_u32; AHEAD];
        for (found, (&(place, tag), _)) in found.iter_mut().zip(places.iter().zip(states)) {
            let entry = self.table[place as usize];
            let number = (entry & mask).max(1) - 1;
            *found = hint::select_unpredictable(entry & !mask == tag, number, 0);
        }
        let touched = found.iter().zip(states);
        hint::black_box(touched.fold(0, |sum, (&at, _)| sum ^ tabled[at as usize][0]));
        places
    }

    /// The number of a state.
    #[inline(always)]
    fn place(&self, state: &[u64; N], mut place: usize, tag: u32) -> Option<u32> {
        let mask = (self.table.len() - 1) as u32;
        loop {
            let entry = self.table[place];
            if entry == 0 {
                return None;
            }
            if entry & !mask == tag {
                let number = self.base + (entry & mask) - 1;
                if self.states[number as usize] == *state {
                    return Some(number);
                }
            }
            place = (place + 1) & mask as usize;
        }
    }

    /// Makes room for a few states if memory is short; otherwise vectors double as they grow.
    #[inline(always)]
    fn reserve(&mut self) {
        if self.grows_little && self.states.capacity() - self.states.len() < AHEAD {
            self.states.reserve_exact(little(self.states.len()));
        }
    }

    /// Twice the table.
    #[cold]
    fn grow(&mut self) {
        self.clear_table((self.table.len() * 2).max(2 * AHEAD));
        for number in 1..=self.n_tabled as u32 {
            self.put(number);
        }
    }

    /// An empty table of `len` places, written to: memory that is fresh from the system
    /// is read as zeros that all share, and each first write then interrupts all threads.
    fn clear_table(&mut self, len: usize) {
        self.table.fill(0);
        self.table.resize(len, 0);
    }

    /// Enters a state by its number counted from one more than the base.
    fn put(&mut self, number: u32) {
        let mask = self.table.len() - 1;
        let state = &self.states[(self.base + number) as usize - 1];
        let (place, tag) = self.first_place(hash(state));
        let mut place = place as usize;
        while self.table[place] != 0 {
            place = (place + 1) & mask;
        }
        self.table[place] = tag | number;
    }

    /// Empties the table and enters only the states of these numbers, after which those
    /// that are added later must follow.
    pub(super) fn table_only(&mut self, numbers: std::ops::Range<u32>) {
        let n = numbers.len();
        let len = (n * 2).next_power_of_two().max(2 * AHEAD);
        self.clear_table(len.max(self.table.len()));
        (self.n_tabled, self.base) = (n, numbers.start);
        for number in 1..=n as u32 {
            self.put(number);
        }
    }

    /// Empties the table; the next state that is added is its first.
    pub(super) fn empty_table(&mut self) {
        let next = self.states.len() as u32;
        self.table_only(next..next);
    }

    /// The table is no longer needed, and must be [emptied](Self::empty_table) before the next
    /// use.
    pub(super) fn retire_table(&mut self) {
        self.n_tabled = 0;
    }

    /// Adds states that are not there yet, without entering them into the table.
    pub(super) fn append(&mut self, states: &[[u64; N]]) {
        self.states.extend_from_slice(states);
        self.extend_codes();
    }

    /// Gives the states that were added a code each.
    pub(super) fn extend_codes(&mut self) {
        let n_more = self.states.len() - self.codes.len();
        if self.grows_little && self.codes.capacity() - self.codes.len() < n_more {
            self.codes.reserve_exact(n_more + little(self.states.len()));
        }
        self.codes.resize(self.states.len(), UNKNOWN);
    }

    /// Sets the outcomes of states that had none: indices into `codes`, [`UNKNOWN`] for
    /// those that are not terminal.
    pub(super) fn set_terminal(
        &mut self,
        numbers: std::ops::Range<usize>,
        outcomes: &[Code],
        codes: &[Code],
    ) {
        self.terminal.resize(self.states.len().div_ceil(64), 0);
        for (number, &outcome) in numbers.zip(outcomes) {
            let code = codes.get(usize::from(outcome)).copied().unwrap_or(UNKNOWN);
            self.codes[number] = code;
            self.terminal[number / 64] |= u64::from(code != UNKNOWN) << (number % 64);
        }
    }

    /// Whether a state is terminal.
    pub(super) fn is_terminal(&self, number: usize) -> bool {
        self.terminal[number / 64] >> (number % 64) & 1 == 1
    }

    /// Bytes that `n_new` more states may add to those in use.
    fn growth_bytes(&self, n_new: usize) -> u64 {
        let len = self.states.len();
        let (states, codes) = (self.states.capacity(), self.codes.capacity());
        let more = |capacity: usize| match (len + n_new + AHEAD > capacity, self.grows_little) {
            (false, _) => 0,
            (true, false) => capacity.max(n_new),
            (true, true) => n_new + little(len),
        };
        let is_table_full = (self.n_tabled + n_new + AHEAD) * 2 >= self.table.len();
        let table = if is_table_full { self.table.len().max(4 * n_new) } else { 0 };
        (more(states) * size_of::<[u64; N]>() + more(codes) * size_of::<Code>() + 4 * table) as u64
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

/// How much room is made for more states than `len` if memory is short.
fn little(len: usize) -> usize {
    (len / 32).max(2 * AHEAD)
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
        let shard = &mut store.shards[usize::from(shard(&initial))];
        shard.insert_all(&[initial], &mut [0_u32]);
        shard.extend_codes();
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

    /// Bytes that `n_new` more states may add to those in use.
    pub(super) fn growth_bytes(&self, n_new: u64) -> u64 {
        // Some shards get more than others.
        let of_shard = n_new as usize / N_SHARDS * 9 / 8;
        self.shards.iter().map(|shard| shard.growth_bytes(of_shard)).sum()
    }

    /// From now on all shards grow by little.
    pub(super) fn grow_little(&mut self) {
        self.shards.iter_mut().for_each(|shard| shard.grows_little = true);
    }

    /// Bytes in use.
    pub(super) fn n_bytes(&self) -> u64 {
        self.shards.iter().map(Shard::n_bytes).sum()
    }
}
