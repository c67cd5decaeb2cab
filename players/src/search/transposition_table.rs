//! The transposition table: what is known of states met before.

mod prefetch;

use std::time::{Duration, Instant};

use games::StateKey;

use super::value::Value;

/// What a remembered score says of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// It is the value.
    Exact,
    /// The value is at least that.
    Lower,
    /// The value is at most that.
    Upper,
}

/// What is remembered of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The score, and whether it depends on terminal states alone.
    pub(crate) value: Value,
    /// What the score says.
    pub(crate) bound: Bound,
    /// How far below the state the search looked.
    pub(crate) depth_left: usize,
    /// The best of the role's moves, by its index.
    pub(crate) best: Option<usize>,
    /// The joint reply that settled its value.
    pub(crate) best_reply: u64,
}

impl Entry {
    /// Whether the entry says something of a search that looks as far ahead. A proven value
    /// holds at any depth; but while `deepening`, what only a deeper search can see is kept
    /// for its depth, so that of wins the nearest and of defeats the farthest is found.
    pub(crate) fn holds(&self, depth_left: usize, deepening: bool) -> bool {
        self.depth_left == depth_left
            || (self.value.proven && (!deepening || self.depth_left < depth_left))
    }

    /// The value for a search with this window that looks as far ahead, if the
    /// entry settles it.
    pub(crate) fn answer(
        &self,
        depth_left: usize,
        deepening: bool,
        alpha: f64,
        beta: f64,
    ) -> Option<Value> {
        let settles = match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.value.score >= beta,
            Bound::Upper => self.value.score <= alpha,
        };
        (self.holds(depth_left, deepening) && settles).then_some(self.value)
    }
}

/// An entry with its key, in 32 bytes.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u128,
    score: f64,
    /// From the lowest bit: the joint reply (32 bits), my move (16), the levels looked ahead (10),
    /// the bound (2), whether the score is proven (1), the generation (3).
    packed: u64,
}

const BEST: u32 = 32;
const DEPTH: u32 = 48;
const BOUND: u32 = 58;
const PROVEN: u32 = 60;
const GENERATION: u32 = 61;
/// No move is known.
const NO_MOVE: u64 = 0xffff;
/// In place of a bound: the slot is empty. All its bits are zero, so that a table is filled fast.
const EMPTY: u64 = 0;
/// Number of generations: a slot keeps its generation modulo this.
const GENERATIONS: u64 = 8;

impl Slot {
    const NONE: Self = Self { key: 0, score: 0.0, packed: EMPTY << BOUND };

    fn new(key: StateKey, entry: &Entry, generation: u64) -> Self {
        let reply = u32::try_from(entry.best_reply).ok();
        let best = entry.best.filter(|&best| (best as u64) < NO_MOVE && reply.is_some());
        let bound = match entry.bound {
            Bound::Exact => 1,
            Bound::Lower => 2,
            Bound::Upper => 3,
        };
        debug_assert!(entry.depth_left < 1 << (BOUND - DEPTH), "levels are at most MAX_LEVELS");
        let packed = u64::from(reply.unwrap_or(0))
            | best.map_or(NO_MOVE, |best| best as u64) << BEST
            | (entry.depth_left as u64) << DEPTH
            | bound << BOUND
            | u64::from(entry.value.proven) << PROVEN
            | generation << GENERATION;
        Self { key: key.bits(), score: entry.value.score, packed }
    }

    fn field(&self, from: u32, to: u32) -> u64 {
        self.packed >> from & ((1 << (to - from)) - 1)
    }

    fn is_empty(&self) -> bool {
        self.field(BOUND, PROVEN) == EMPTY
    }

    fn is_proven(&self) -> bool {
        self.field(PROVEN, GENERATION) == 1
    }

    fn entry(&self) -> Entry {
        let best = self.field(BEST, DEPTH);
        Entry {
            value: Value { score: self.score, proven: self.is_proven() },
            bound: match self.field(BOUND, PROVEN) {
                1 => Bound::Exact,
                2 => Bound::Lower,
                _ => Bound::Upper,
            },
            depth_left: self.field(DEPTH, BOUND) as usize,
            best: (best != NO_MOVE).then_some(best as usize),
            best_reply: self.field(0, BEST),
        }
    }

    fn renewed(self, generation: u64) -> Self {
        let others = self.packed & ((1 << GENERATION) - 1);
        Self { packed: others | generation << GENERATION, ..self }
    }

    /// How gladly it is given up, in `generation`: entries that have not been met for long
    /// first, then those that are not proven, then those that looked the least ahead.
    fn rank(&self, generation: u64) -> (u64, bool, u64) {
        let age = generation.wrapping_sub(self.packed >> GENERATION) % GENERATIONS;
        (age, !self.is_proven(), u64::MAX - self.field(DEPTH, BOUND))
    }
}

/// Slots of one cluster: two cache lines.
const WAYS: usize = 4;

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Cluster([Slot; WAYS]);

/// Clusters of a table in its beginning.
const FEWEST_CLUSTERS: usize = 256;

/// How long it takes to make a larger table, for each of its bytes, with what is moved to it.
const GROWTH_PER_BYTE: Duration = Duration::from_nanos(1);

/// Entries by key of a state. A state belongs to a cluster of slots, or to the next one where
/// that is full. At most half of the slots are used, and the table grows up to its capacity;
/// then a new entry takes the place of the one nearby that was not met for the longest time, or
/// looked the least ahead. Values hold for the role, the opponents and the evaluation
/// they were found for, so a table belongs to one player's match.
#[derive(Clone, Debug, Default)]
pub(crate) struct TranspositionTable {
    clusters: Vec<Cluster>,
    n_entries: usize,
    /// Increases whenever half of the capacity was placed.
    generation: u64,
    n_placed: usize,
    has_given_up: bool,
    /// There is no time to grow in the present search.
    is_held: bool,
}

impl TranspositionTable {
    /// A new search begins, which may have time to grow.
    pub(crate) fn begin(&mut self) {
        self.is_held = false;
    }

    /// Whether an entry gave way to another, since no more were allowed.
    pub(crate) fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// Forgets all entries, but not whether one gave way.
    pub(crate) fn forget(&mut self) {
        *self = Self { has_given_up: self.has_given_up, ..Self::default() };
    }

    /// What is known of the state with this key.
    pub(crate) fn get(&self, state: StateKey) -> Option<Entry> {
        if self.clusters.is_empty() {
            return None;
        }
        let mut at = self.home(state.bits());
        loop {
            // Slots are taken in order. The second half of most clusters is not read.
            for slot in &self.clusters[at].0 {
                if slot.is_empty() {
                    return None;
                }
                if slot.key == state.bits() {
                    return Some(slot.entry());
                }
            }
            at = self.after(at);
        }
    }

    /// Begins to fetch from memory what is known of a state that will soon be asked for.
    pub(crate) fn prefetch(&self, state: StateKey) {
        if let Some(Cluster(slots)) = self.clusters.get(self.home(state.bits())) {
            prefetch::prefetch(&slots[0]);
        }
    }

    /// Remembers `entry` in place of what was known of `state`, unless that was
    /// proven and this is not. No more than `capacity` states are kept, and no more than there
    /// is room for if growing would last until the `deadline`.
    pub(crate) fn insert(
        &mut self,
        state: StateKey,
        entry: Entry,
        capacity: usize,
        deadline: Option<Instant>,
    ) {
        let capacity = capacity.max(1);
        let is_crowded = |table: &Self| table.n_entries * 2 >= table.clusters.len() * WAYS;
        if is_crowded(self) && self.n_entries < capacity && !self.is_held {
            let most = (capacity.saturating_mul(2)).div_ceil(WAYS);
            self.grow((self.clusters.len() * 4).max(FEWEST_CLUSTERS).min(most), deadline);
        }
        let generation = self.generation % GENERATIONS;
        let new = Slot::new(state, &entry, generation);
        let home = self.home(state.bits());
        let is_full = self.n_entries >= capacity || is_crowded(self);
        let slot = self.find(home, |slot| slot.key == new.key);
        if !slot.is_empty() {
            let keeps = slot.is_proven() && !entry.value.proven;
            *slot = if keeps { slot.renewed(generation) } else { new };
            return;
        }
        if is_full {
            self.has_given_up |= self.n_entries >= capacity;
            self.give_up(home, generation);
            *self.find(home, |_| false) = new;
        } else {
            *slot = new;
        }
        self.n_entries += 1;
        self.n_placed += 1;
        if self.n_placed >= (capacity / 2).max(1) {
            (self.n_placed, self.generation) = (0, self.generation.wrapping_add(1));
        }
    }

    /// The first slot, from the beginning of a cluster on, that is empty or wanted.
    fn find(&mut self, cluster: usize, is_wanted: impl Fn(&Slot) -> bool) -> &mut Slot {
        let mut at = cluster;
        loop {
            let slots = &self.clusters[at].0;
            if let Some(found) = slots.iter().position(|slot| slot.is_empty() || is_wanted(slot)) {
                return &mut self.clusters[at].0[found];
            }
            at = self.after(at);
        }
    }

    /// Removes the entry that is given up most gladly of some near a cluster.
    fn give_up(&mut self, home: usize, generation: u64) {
        let mut worst: Option<(_, usize, usize)> = None;
        let (mut n_seen, mut at) = (0, home);
        while n_seen < WAYS.min(self.n_entries) {
            let used = self.clusters[at].0.iter().take_while(|slot| !slot.is_empty());
            for (index, slot) in used.enumerate() {
                n_seen += 1;
                let rank = slot.rank(generation);
                if worst.is_none_or(|(known, ..)| rank > known) {
                    worst = Some((rank, at, index));
                }
            }
            at = self.after(at);
        }
        if let Some((_, cluster, index)) = worst {
            let slots = &mut self.clusters[cluster].0;
            let last = slots.iter().rposition(|slot| !slot.is_empty()).unwrap_or(index);
            slots[index] = slots[last];
            slots[last] = Slot::NONE;
            self.n_entries -= 1;
        }
    }

    /// The cluster that a state belongs to; the bits of keys are already mixed.
    fn home(&self, key: u128) -> usize {
        ((u128::from(key as u64) * self.clusters.len() as u128) >> 64) as usize
    }

    fn after(&self, cluster: usize) -> usize {
        if cluster + 1 < self.clusters.len() { cluster + 1 } else { 0 }
    }

    /// Moves all entries to a table of `n_clusters` clusters, at least the present number, unless
    /// there is no time for it.
    fn grow(&mut self, n_clusters: usize, deadline: Option<Instant>) {
        let n_bytes = u32::try_from(n_clusters * size_of::<Cluster>()).unwrap_or(u32::MAX);
        let is_late = |end: Instant| Instant::now() + GROWTH_PER_BYTE * n_bytes >= end;
        if !self.clusters.is_empty() && deadline.is_some_and(is_late) {
            self.is_held = true;
            return;
        }
        let larger = vec![Cluster([Slot::NONE; WAYS]); n_clusters];
        let smaller = std::mem::replace(&mut self.clusters, larger);
        for slot in smaller.iter().flat_map(|cluster| &cluster.0).filter(|slot| !slot.is_empty()) {
            *self.find(self.home(slot.key), |_| false) = *slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Value;
    use crate::testing::machine;

    /// Keys of that many states.
    fn keys(n_states: usize) -> Vec<StateKey> {
        let numbers: String = (0..n_states).map(|n| format!("(number {n})")).collect();
        let rules = "(role a) (init (at 0)) (legal a go) (goal a 50) terminal";
        let mut machine = machine(&format!("{rules} {numbers}"));
        let mut key = |n: usize| {
            let fact = games::Expression::parse(&format!("(at {n})")).unwrap();
            let state = machine.state_of(&[fact]).unwrap();
            machine.key(&state)
        };
        (0..n_states).map(&mut key).collect()
    }

    /// Every field survives, also where it is at its limit; moves that do not fit are forgotten.
    #[test]
    fn entries_come_back_as_they_were() {
        let key = keys(1)[0];
        for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
            for (proven, depth_left, best, best_reply) in [
                (true, 0, None, 0),
                (false, 1000, Some(0), u64::from(u32::MAX)),
                (true, 7, Some(65_534), 3),
            ] {
                let value = Value { score: 100.0 / 3.0, proven };
                let entry = Entry { value, bound, depth_left, best, best_reply };
                let mut table = TranspositionTable::default();
                table.insert(key, entry, 1, None);
                let found = table.get(key).unwrap();
                assert_eq!((found.value, found.bound), (value, bound));
                assert_eq!((found.depth_left, found.best), (depth_left, best));
                assert_eq!(found.best_reply, best_reply);
                let far = Entry { best: Some(0), best_reply: 1 << 32, ..entry };
                table.insert(key, Entry { value: Value { proven: true, ..value }, ..far }, 1, None);
                assert_eq!(table.get(key).unwrap().best, None);
            }
        }
    }

    /// A table that grows loses nothing up to its capacity, which it never exceeds; what was
    /// just met is always known.
    #[test]
    fn a_table_grows_up_to_its_capacity() {
        let keys = keys(6000);
        for capacity in [1, 2, 3, 5, 1000, 6000, 40_000] {
            let mut table = TranspositionTable::default();
            for (n, &key) in keys.iter().enumerate() {
                let value = Value { score: n as f64 / 100.0, proven: false };
                let bound = Bound::Exact;
                let entry = Entry { value, bound, depth_left: 1, best: None, best_reply: 0 };
                table.insert(key, entry, capacity, None);
                assert_eq!(table.get(key).map(|entry| entry.value), Some(value));
                assert_eq!(table.n_entries, (n + 1).min(capacity));
            }
            let known = keys.iter().filter(|&&key| table.get(key).is_some()).count();
            let lost = table.n_entries - known;
            assert!(capacity < keys.len() || lost == 0, "{lost} of {capacity} are lost");
            // Few are out of reach because one before them was given up.
            assert!(lost <= capacity / 20, "{lost} of {capacity} are lost");
        }
    }

    /// A table that has no time to grow keeps what it has room for, and grows in a later search.
    #[test]
    fn a_table_grows_only_if_there_is_time() {
        let keys = keys(3000);
        let value = Value { score: 50.0, proven: false };
        let bound = Bound::Exact;
        let entry = Entry { value, bound, depth_left: 1, best: None, best_reply: 0 };
        let mut table = TranspositionTable::default();
        let past = Some(Instant::now());
        for &key in &keys {
            table.insert(key, entry, 4000, past);
            assert_eq!(table.get(key).map(|entry| entry.value), Some(value));
        }
        let n_slots = FEWEST_CLUSTERS * WAYS;
        assert_eq!((table.clusters.len(), table.n_entries), (FEWEST_CLUSTERS, n_slots / 2));
        assert!(!table.has_given_up(), "it is not full");
        // The search is the same, so the clock is not asked again.
        table.insert(keys[0], entry, 4000, None);
        assert_eq!(table.clusters.len(), FEWEST_CLUSTERS);
        table.begin();
        for &key in &keys {
            table.insert(key, entry, 4000, Some(Instant::now() + Duration::from_secs(3600)));
        }
        assert_eq!(table.n_entries, keys.len());
    }

    #[test]
    fn what_is_met_again_outlives_what_is_not() {
        let keys = keys(40);
        let state = |n: usize| keys[n];
        let entry = |score: f64, proven| Entry {
            value: Value { score, proven },
            bound: Bound::Exact,
            depth_left: 1,
            best: None,
            best_reply: 0,
        };
        let score =
            |table: &TranspositionTable, state| table.get(state).map(|entry| entry.value.score);
        let mut table = TranspositionTable::default();
        for n in 0..40 {
            table.insert(state(n), entry(n as f64, false), 8, None);
            table.insert(state(0), entry(7.0, n == 0), 8, None);
            assert!(table.n_entries <= 8 && table.clusters.len() == 4);
        }
        // Proven once, and no estimate took its place.
        assert_eq!(table.get(state(0)).map(|entry| entry.value.proven), Some(true));
        assert_eq!(score(&table, state(39)), Some(39.0));
        assert_eq!(score(&table, state(20)), None);
    }
}
