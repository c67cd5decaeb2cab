//! The transposition table of proof-number search: what is known of states, in bounded
//! memory, shared by threads without locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::numbers::Numbers;

/// Entries that a key may be in: they fill a line of the cache.
const BUCKET: usize = 4;

/// Words of a bucket.
const BUCKET_WORDS: usize = 2 * BUCKET;

/// Bytes of a bucket.
const BUCKET_BYTES: u64 = 8 * BUCKET_WORDS as u64;

/// Buckets of a new table.
const FIRST_BUCKETS: usize = 1 << 10;

/// Bits of the key that select the bucket; they are kept in the data.
const PLACE_BITS: u32 = 27;

/// Proof and disproof numbers by key.
///
/// An entry is two words: the data, and 64 bits of the key combined with the data, so that a
/// word of one thread and a word of another are no entry (Hyatt and Mann 2002). The data have
/// 27 more bits of the key. When a bucket is full, the entry with the least work behind it
/// gives way.
#[derive(Debug)]
pub(super) struct ProofTable {
    words: Vec<AtomicU64>,
    n_used: AtomicU64,
    /// Number of entries at which the table grows; more than it can have if it cannot grow.
    n_crowded: u64,
    limit_bytes: u64,
    most_bytes: u64,
}

impl ProofTable {
    /// An empty table that never takes more than this memory, or 64 KiB if that is more, and
    /// at most 8 GiB, but for the smaller table that it grows from.
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self::with_buckets(FIRST_BUCKETS, limit_bytes)
    }

    fn with_buckets(n_buckets: usize, limit_bytes: u64) -> Self {
        let words: Vec<_> = (0..n_buckets * BUCKET_WORDS).map(|_| AtomicU64::new(0)).collect();
        let most_bytes = size_of_val(words.as_slice()) as u64;
        let mut table =
            Self { words, n_used: AtomicU64::new(0), n_crowded: u64::MAX, limit_bytes, most_bytes };
        if table.larger().is_some() {
            table.n_crowded = (n_buckets * BUCKET / 2) as u64;
        }
        table
    }

    /// Buckets of the next larger table, if its entries and those of this one fit the memory
    /// together.
    fn larger(&self) -> Option<usize> {
        let room = self.limit_bytes.saturating_sub(self.n_bytes()) / BUCKET_BYTES;
        let n_buckets = (self.n_buckets() * 2).min(room.min(1 << PLACE_BITS) as usize);
        (n_buckets >= self.n_buckets() + self.n_buckets() / 4).then_some(n_buckets)
    }

    /// The size of the table, for [`make_room`](Self::make_room).
    pub(super) fn n_buckets(&self) -> usize {
        self.words.len() / BUCKET_WORDS
    }

    fn n_bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    /// The most bytes that it took at any time.
    pub(super) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Entries in use.
    pub(super) fn n_entries(&self) -> u64 {
        self.n_used.load(Relaxed)
    }

    /// Whether it is half full, and [`grow`](Self::grow) would give it room.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.n_entries() >= self.n_crowded
    }

    /// Grows if it is [crowded](Self::is_crowded).
    pub(super) fn grow(&mut self) {
        let Some(n_buckets) = self.larger().filter(|_| self.is_crowded()) else { return };
        let mut grown = Self::with_buckets(n_buckets, self.limit_bytes);
        grown.most_bytes = self.most_bytes.max(self.n_bytes() + grown.n_bytes());
        self.entries().for_each(|(key, data)| grown.put(key, data));
        *self = grown;
    }

    /// Becomes an empty table of this size, or of the size that fits the memory if that is
    /// less, so that the entries of another table fit it in any order.
    pub(super) fn make_room(&mut self, n_buckets: u64) {
        let most = (self.limit_bytes / BUCKET_BYTES).min(1 << PLACE_BITS);
        let n_buckets = n_buckets.min(most).max(FIRST_BUCKETS as u64) as usize;
        *self = Self::with_buckets(n_buckets, self.limit_bytes);
    }

    /// All entries, for [`put`](Self::put).
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        let entries = self.words.chunks_exact(2);
        let entries = entries.map(|entry| (entry[0].load(Relaxed), entry[1].load(Relaxed)));
        entries.filter(|&(_, data)| data != 0).map(|(check, data)| (check ^ data, data))
    }

    /// What is known of a state.
    #[inline]
    pub(super) fn find(&self, key: u128) -> Option<Numbers> {
        let place = place(key);
        for entry in self.bucket(place).chunks_exact(2) {
            let data = entry[1].load(Relaxed);
            if entry[0].load(Relaxed) ^ data == key as u64 && data != 0 && place_of(data) == place {
                return Some(numbers_of(data));
            }
        }
        None
    }

    /// Keeps what is known of a state, after so much work.
    #[inline]
    pub(super) fn store(&self, key: u128, numbers: Numbers, work: u64) {
        // Two powers of two to a class, and none with no work.
        let class = u64::from(64 - work.leading_zeros()).div_ceil(2).min(31);
        let Numbers { proof, disproof } = numbers;
        let data =
            u64::from(proof) << 48 | u64::from(disproof) << 32 | class << PLACE_BITS | place(key);
        self.put(key as u64, data);
    }

    /// Puts an entry, with 64 bits of its key, in its place.
    pub(super) fn put(&self, key: u64, data: u64) {
        let bucket = self.bucket(place_of(data));
        let (mut chosen, mut least) = (0, u64::MAX);
        for (at, entry) in bucket.chunks_exact(2).enumerate() {
            let other = entry[1].load(Relaxed);
            if other == 0 {
                self.n_used.fetch_add(1, Relaxed);
                chosen = at;
                break;
            }
            if entry[0].load(Relaxed) ^ other == key && place_of(other) == place_of(data) {
                chosen = at;
                break;
            }
            if work_class(other) < least {
                (chosen, least) = (at, work_class(other));
            }
        }
        bucket[2 * chosen].store(key ^ data, Relaxed);
        bucket[2 * chosen + 1].store(data, Relaxed);
    }

    #[inline]
    fn bucket(&self, place: u64) -> &[AtomicU64] {
        let bucket = ((place * self.n_buckets() as u64) >> PLACE_BITS) as usize;
        &self.words[bucket * BUCKET_WORDS..][..BUCKET_WORDS]
    }
}

/// The bits of a key that select its bucket.
#[inline]
fn place(key: u128) -> u64 {
    (key >> (128 - PLACE_BITS)) as u64
}

#[inline]
fn place_of(data: u64) -> u64 {
    data & ((1 << PLACE_BITS) - 1)
}

fn work_class(data: u64) -> u64 {
    data >> PLACE_BITS & 31
}

fn numbers_of(data: u64) -> Numbers {
    Numbers { proof: (data >> 48) as u32, disproof: (data >> 32) as u32 & 0xffff }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split_mix::SplitMix;

    fn keys(n: usize) -> Vec<u128> {
        let mut random = SplitMix::new(7);
        let mut word = || random.next() as u128;
        (0..n).map(|_| word() << 64 | word()).collect()
    }

    #[test]
    fn entries_stay_while_it_grows_and_its_bound_is_kept() {
        let limit = 4 << 20;
        let mut table = ProofTable::new(limit);
        let keys = keys(60_000);
        for (at, &key) in keys.iter().enumerate() {
            let numbers = Numbers { proof: 1 + at as u32 % 60_000, disproof: 7 };
            table.store(key, numbers, at as u64);
            table.grow();
        }
        assert!(table.most_bytes() <= limit, "{}", table.most_bytes());
        let found = |(at, &key): (usize, &u128)| {
            let numbers = table.find(key);
            assert!(numbers.is_none_or(|it| it.proof == 1 + at as u32 % 60_000), "{at}");
            numbers.is_some()
        };
        let n = keys.iter().enumerate().filter(|&entry| found(entry)).count();
        // Where buckets have two entries on average, when it grows, 3.7 % of them found their
        // bucket of four full (Poisson); what was there after earlier growths lost as much, and
        // was half as many each time.
        assert!(n as f64 > 60_000.0 * (1.0 - 2.0 * 0.037), "{n}");
        assert_eq!(table.find(keys[0] ^ 1), None);
        assert_eq!(table.find(keys[0] ^ 1 << 102), None);
    }

    #[test]
    fn much_work_outlives_little() {
        let table = ProofTable::new(0);
        let keys = keys(100_000);
        table.store(keys[0], Numbers::PROVEN, 1000);
        for &key in &keys[1..] {
            table.store(key, Numbers::DISPROVEN, 1);
        }
        assert_eq!(table.find(keys[0]), Some(Numbers::PROVEN));
        table.store(keys[0], Numbers::NEW, 0);
        assert_eq!(table.find(keys[0]), Some(Numbers::NEW));
    }
}
