//! Relations as flat vectors of rows, with indexes on some of their columns.
//!
//! A table only grows until it is cleared as a whole, so a row number is a valid
//! reference in between, and "the rows since" is a range, which is all that semi-naive
//! evaluation needs. Clearing costs nothing per row: buckets carry the stamp of the
//! filling that they belong to.

use super::terms::{NONE, TermId};

/// Buckets of a directly addressed index; beyond this it is hashed.
const MAX_DIRECT: usize = 1 << 16;

/// Leads beyond all buckets, even if added up.
const MISS: u32 = 1 << 20;

/// Stamps of fillings are below this; the rest of a bucket's mark is part of the
/// hash of its key.
const STAMPS: u32 = 1 << 12;

/// Buckets that the near caches hold.
const NEAR: usize = 1 << 14;

/// Rows whose buckets are fetched from memory together.
const TOGETHER: u32 = 16;

/// Beyond this number of columns an index is hashed.
const MAX_DIRECT_COLUMNS: usize = 16;

/// A relation.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelationTable {
    arity: usize,
    n_rows: u32,
    data: Vec<TermId>,
    indexes: Vec<Index>,
    /// The index over all columns that keeps rows distinct, if there is one.
    unique: Option<u16>,
    /// The rows found in the last round, for recursive rules.
    pub(crate) delta: (u32, u32),
}

impl RelationTable {
    pub(crate) fn new(arity: usize) -> Self {
        Self { arity, ..Self::default() }
    }

    pub(crate) fn arity(&self) -> usize {
        self.arity
    }

    #[inline]
    pub(crate) fn n_rows(&self) -> u32 {
        self.n_rows
    }

    #[inline]
    pub(crate) fn value(&self, row: u32, column: u16) -> TermId {
        self.data[row as usize * self.arity + column as usize]
    }

    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[TermId] {
        let start = row as usize * self.arity;
        &self.data[start..start + self.arity]
    }

    /// Number of different values in a column.
    pub(crate) fn n_distinct(&self, column: usize) -> usize {
        let values = || (0..self.n_rows).map(|row| self.value(row, column as u16) as usize);
        let Some(largest) = values().max() else { return 0 };
        if largest / 64 > 16 * self.n_rows as usize {
            let mut values: Vec<_> = values().collect();
            values.sort_unstable();
            values.dedup();
            return values.len();
        }
        let mut seen = vec![0_u64; largest / 64 + 1];
        values().for_each(|value| seen[value / 64] |= 1 << (value % 64));
        seen.into_iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Memory held, in bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let of_index = |index: &Index| {
            8 * index.heads.capacity() + 4 * index.next.capacity() + 4 * index.shares.capacity()
        };
        4 * self.data.capacity() + self.indexes.iter().map(of_index).sum::<usize>()
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        if self.n_rows == 0 {
            return;
        }
        self.n_rows = 0;
        self.data.clear();
        for index in &mut self.indexes {
            index.clear();
        }
    }

    /// The number of the index on these columns (ascending), if there is one.
    pub(crate) fn find_index(&self, columns: &[u16]) -> Option<u16> {
        self.indexes.iter().position(|index| index.columns == columns).map(|at| at as u16)
    }

    /// The number of the index on these columns (ascending), made if need be.
    pub(crate) fn index_on(&mut self, columns: &[u16]) -> u16 {
        if let Some(at) = self.find_index(columns) {
            return at;
        }
        self.indexes.push(Index::new(columns));
        (self.indexes.len() - 1) as u16
    }

    /// Makes [`RelationTable::insert`] possible.
    pub(crate) fn keep_distinct(&mut self) {
        if self.arity > 0 && self.unique.is_none() {
            let columns: Vec<u16> = (0..self.arity as u16).collect();
            self.unique = Some(self.index_on(&columns));
        }
    }

    /// Adds a row without checking whether it is there.
    #[inline]
    pub(crate) fn push(&mut self, row: &[TermId]) {
        debug_assert_eq!(row.len(), self.arity);
        self.data.extend_from_slice(row);
        self.n_rows += 1;
    }

    /// Adds a row of some values and one more.
    #[inline]
    pub(crate) fn push_with(&mut self, values: &[TermId], last: TermId) {
        debug_assert_eq!(values.len() + 1, self.arity);
        self.data.extend_from_slice(values);
        self.data.push(last);
        self.n_rows += 1;
    }

    /// Adds a row unless it is there. Returns whether it was added.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[TermId]) -> bool {
        self.insert_or_find(row).1
    }

    /// The row with these values, added unless it is there; and whether it was
    /// added. The table must keep rows distinct.
    #[inline]
    pub(crate) fn insert_or_find(&mut self, row: &[TermId]) -> (u32, bool) {
        let Some(unique) = self.unique else {
            let is_new = self.n_rows == 0;
            self.n_rows = 1;
            return (0, is_new);
        };
        let index = &mut self.indexes[unique as usize];
        if index.built < self.n_rows {
            index.build(&self.data, self.arity, self.n_rows);
        }
        let known = index.insert_new(row, &self.data, self.arity, self.n_rows);
        if known != NONE {
            return (known, false);
        }
        self.data.extend_from_slice(row);
        self.n_rows += 1;
        (self.n_rows - 1, true)
    }

    /// The index that keeps rows distinct, if there is one.
    #[inline]
    pub(crate) fn unique(&self) -> Option<u16> {
        self.unique
    }

    /// Whether an index is too large for the near caches.
    #[inline]
    pub(crate) fn is_far(&self, index: u16) -> bool {
        let index = &self.indexes[index as usize];
        index.layout == Layout::Hashed && index.heads.len() > NEAR
    }

    /// The row that is likely to be found first in a search for these values in
    /// an index that is far away: what is waited for at the same time is waited
    /// for once.
    #[inline]
    pub(crate) fn glance(&self, index: u16, key: impl Iterator<Item = TermId>) -> u32 {
        self.indexes[index as usize].glance(key)
    }

    /// Looks at a row that is there, or at none.
    #[inline]
    pub(crate) fn touch(&self, row: u32) {
        if row != NONE {
            std::hint::black_box(self.data[row as usize * self.arity]);
        }
    }

    /// The row with these values, or `NONE`. The table must keep rows distinct.
    #[inline]
    pub(crate) fn find_row(&self, row: &[TermId]) -> u32 {
        match self.unique {
            Some(unique) => self.first(unique, row.iter().copied()),
            None if self.n_rows > 0 => 0,
            None => NONE,
        }
    }

    /// Brings an index up to date.
    #[inline]
    pub(crate) fn prepare(&mut self, index: u16) {
        let index = &mut self.indexes[index as usize];
        if index.built < self.n_rows {
            index.build(&self.data, self.arity, self.n_rows);
        }
    }

    /// The first row of a bucket of an index that is up to date, or `NONE`.
    #[inline]
    pub(crate) fn first(&self, index: u16, key: impl Iterator<Item = TermId> + Clone) -> u32 {
        self.indexes[index as usize].first(key, &self.data, self.arity)
    }

    /// The row after this one in its bucket, or `NONE`.
    #[inline]
    pub(crate) fn after(&self, index: u16, row: u32) -> u32 {
        self.indexes[index as usize].next[row as usize]
    }
}

/// How buckets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// By the one key's number.
    Single,
    /// By mixed radix of the codes that the values have in their columns.
    Direct,
    /// By hashing, with open addressing.
    Hashed,
}

#[derive(Clone, Debug)]
struct Index {
    columns: Vec<u16>,
    layout: Layout,
    /// `Direct`: for each key column, `width` numbers: what each term adds to
    /// the bucket, that is, its code in this column times the column's stride.
    /// Terms not seen there add `MISS`.
    shares: Vec<u32>,
    width: usize,
    /// `Direct`: by key column, the terms seen there; a term's place is its code.
    coded: Vec<Vec<TermId>>,
    strides: Vec<u32>,
    /// `Direct`: the most codes of each column that the strides admit.
    limits: Vec<u32>,
    /// Mark and first row of each bucket. A mark is the stamp of a filling;
    /// `Hashed`: with part of the key's hash, so that another key in the bucket's
    /// place is seldom looked up in its row, which is far away.
    heads: Vec<(u32, u32)>,
    stamp: u32,
    next: Vec<u32>,
    built: u32,
    /// `Hashed`: used buckets.
    n_used: usize,
}

impl Index {
    fn new(columns: &[u16]) -> Self {
        let n = columns.len();
        let layout = if n == 1 { Layout::Single } else { Layout::Direct };
        let mut index = Self {
            columns: columns.to_vec(),
            layout,
            shares: Vec::new(),
            width: 0,
            coded: vec![Vec::new(); n],
            strides: Vec::new(),
            limits: vec![4; n],
            heads: Vec::new(),
            stamp: 1,
            next: Vec::new(),
            built: 0,
            n_used: 0,
        };
        index.lay_out();
        index
    }

    fn clear(&mut self) {
        self.built = 0;
        self.next.clear();
        self.n_used = 0;
        self.stamp += 1;
        if self.stamp == STAMPS {
            self.heads.fill((0, NONE));
            self.stamp = 1;
        }
    }

    /// Computes strides and makes room for all buckets.
    fn lay_out(&mut self) {
        if self.layout != Layout::Direct {
            return;
        }
        let product = self
            .limits
            .iter()
            .try_fold(1_usize, |product, &limit| product.checked_mul(limit as usize))
            .filter(|&product| product <= MAX_DIRECT && self.columns.len() <= MAX_DIRECT_COLUMNS);
        match product {
            Some(size) => {
                self.strides.clear();
                let mut stride = 1;
                for &limit in &self.limits {
                    self.strides.push(stride);
                    stride *= limit;
                }
                for (at, (coded, &stride)) in self.coded.iter().zip(&self.strides).enumerate() {
                    let shares = &mut self.shares[at * self.width..(at + 1) * self.width];
                    for (code, &value) in (0..).zip(coded) {
                        shares[value as usize] = code * stride;
                    }
                }
                self.heads.clear();
                self.heads.resize(size, (0, NONE));
            }
            None => {
                self.layout = Layout::Hashed;
                self.shares = Vec::new();
                self.coded = Vec::new();
                self.heads = vec![(0, NONE); 1024];
            }
        }
    }

    #[inline]
    fn first(
        &self,
        mut key: impl Iterator<Item = TermId> + Clone,
        data: &[TermId],
        arity: usize,
    ) -> u32 {
        match self.layout {
            Layout::Single => {
                let key = key.next().expect("an index has a column");
                match self.heads.get(key as usize) {
                    Some(&(stamp, row)) if stamp == self.stamp => row,
                    _ => NONE,
                }
            }
            Layout::Direct => {
                let (mut bucket, mut start) = (0, 0);
                for value in key {
                    if value as usize >= self.width {
                        return NONE;
                    }
                    bucket += self.shares[start + value as usize];
                    start += self.width;
                }
                match self.heads.get(bucket as usize) {
                    Some(&(stamp, row)) if stamp == self.stamp => row,
                    _ => NONE,
                }
            }
            Layout::Hashed => {
                let (slot, mark) = self.slot(key, data, arity);
                let (there, row) = self.heads[slot];
                if there == mark { row } else { NONE }
            }
        }
    }

    /// Where the search for a key begins, and the mark of its bucket.
    #[inline]
    fn place(&self, key: impl Iterator<Item = TermId>) -> (usize, u32) {
        let hash = hash(key);
        let mark = self.stamp + (hash >> 44) as u32 * STAMPS;
        ((hash >> 29) as usize & (self.heads.len() - 1), mark)
    }

    /// The bucket of this key, or the free one where it belongs; and its mark.
    #[inline]
    fn slot(
        &self,
        key: impl Iterator<Item = TermId> + Clone,
        data: &[TermId],
        arity: usize,
    ) -> (usize, u32) {
        let (mut slot, mark) = self.place(key.clone());
        loop {
            let (there, row) = self.heads[slot];
            if there % STAMPS != self.stamp {
                return (slot, mark);
            }
            if there == mark {
                let start = row as usize * arity;
                let is_it = self
                    .columns
                    .iter()
                    .zip(key.clone())
                    .all(|(&column, value)| data[start + column as usize] == value);
                if is_it {
                    return (slot, mark);
                }
            }
            slot = (slot + 1) & (self.heads.len() - 1);
        }
    }

    /// The row that is likely to be found first in a search for a key.
    #[inline]
    fn glance(&self, key: impl Iterator<Item = TermId>) -> u32 {
        let (slot, mark) = self.place(key);
        let (there, row) = self.heads[slot];
        if there == mark { row } else { NONE }
    }

    /// Adds the rows that are not in yet.
    fn build(&mut self, data: &[TermId], arity: usize, n_rows: u32) {
        self.next.reserve((n_rows - self.built) as usize);
        while self.built < n_rows {
            let until = n_rows.min(self.built + TOGETHER);
            if self.layout == Layout::Hashed && self.heads.len() > NEAR {
                let mut found = [NONE; TOGETHER as usize];
                for (found, row) in found.iter_mut().zip(self.built..until) {
                    let values = &data[row as usize * arity..];
                    *found = self.glance(self.columns.iter().map(|&at| values[at as usize]));
                }
                for row in found.into_iter().filter(|&row| row != NONE) {
                    std::hint::black_box(data[row as usize * arity]);
                }
            }
            while self.built < until {
                let start = self.built as usize * arity;
                self.enter(&data[start..start + arity], self.built, data, arity);
            }
        }
    }

    fn enter(&mut self, values: &[TermId], row: u32, data: &[TermId], arity: usize) {
        let (bucket, mark) = self.bucket(values, data, arity);
        let head = &mut self.heads[bucket];
        let after = if head.0 == mark { head.1 } else { NONE };
        self.n_used += usize::from(after == NONE);
        *head = (mark, row);
        self.next.push(after);
        self.built = row + 1;
    }

    /// Adds the row to come unless its bucket is taken; then the row that took
    /// it, otherwise `NONE`.
    #[inline]
    fn insert_new(&mut self, values: &[TermId], data: &[TermId], arity: usize, row: u32) -> u32 {
        let (bucket, mark) = self.bucket(values, data, arity);
        let head = &mut self.heads[bucket];
        if head.0 == mark {
            return head.1;
        }
        *head = (mark, row);
        self.n_used += 1;
        self.next.push(NONE);
        self.built = row + 1;
        NONE
    }

    /// The bucket of a whole row, and its mark; grows the index if need be.
    #[inline]
    fn bucket(&mut self, values: &[TermId], data: &[TermId], arity: usize) -> (usize, u32) {
        match self.layout {
            Layout::Single => {
                let bucket = values[self.columns[0] as usize] as usize;
                if bucket >= self.heads.len() {
                    self.heads.resize((bucket + 1).next_power_of_two(), (0, NONE));
                }
                (bucket, self.stamp)
            }
            Layout::Direct => {
                let (mut bucket, mut start) = (0, 0);
                for at in 0..self.columns.len() {
                    let value = values[self.columns[at] as usize] as usize;
                    let share = if value < self.width { self.shares[start + value] } else { MISS };
                    if share == MISS {
                        self.new_code(at, value, data, arity);
                        return self.bucket(values, data, arity);
                    }
                    bucket += share;
                    start += self.width;
                }
                (bucket as usize, self.stamp)
            }
            Layout::Hashed => {
                if 2 * (self.n_used + 1) > self.heads.len() {
                    let size = 2 * self.heads.len();
                    self.heads.clear();
                    self.heads.resize(size, (0, NONE));
                    self.rebuild(data, arity);
                }
                let key = self.columns.iter().map(|&column| values[column as usize]);
                self.slot(key, data, arity)
            }
        }
    }

    /// Gives a value a code in a key column; this may change all buckets.
    #[cold]
    fn new_code(&mut self, at: usize, value: usize, data: &[TermId], arity: usize) {
        if value >= self.width {
            let width = (value + 1).next_power_of_two().max(64);
            let mut shares = vec![MISS; self.columns.len() * width];
            for column in 0..self.columns.len() {
                let old = &self.shares[column * self.width..(column + 1) * self.width];
                shares[column * width..column * width + self.width].copy_from_slice(old);
            }
            self.shares = shares;
            self.width = width;
        }
        let code = self.coded[at].len() as u32;
        self.coded[at].push(value as TermId);
        self.shares[at * self.width + value] = code * self.strides[at];
        if code >= self.limits[at] {
            self.limits[at] *= 2;
            self.lay_out();
            self.rebuild(data, arity);
        }
    }

    /// Enters all rows again that were in, into cleared buckets.
    fn rebuild(&mut self, data: &[TermId], arity: usize) {
        let n_rows = self.built;
        self.built = 0;
        self.n_used = 0;
        self.next.clear();
        self.build(data, arity, n_rows);
    }
}

#[inline]
fn hash(key: impl Iterator<Item = TermId>) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = 0_u64;
    for value in key {
        hash = (hash.rotate_left(23) ^ u64::from(value)).wrapping_mul(FACTOR);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills a table with all rows of three columns below `n`, and looks all of
    /// them up by some columns.
    fn check(n: TermId, columns: &[u16]) {
        let mut table = RelationTable::new(3);
        table.keep_distinct();
        let index = table.index_on(columns);
        for filling in 0..2 {
            let rows = || (0..n * n * n).map(|at| [at % n, at / n % n * 3, at / n / n + 7]);
            for row in rows() {
                assert!(table.insert(&row));
                assert!(!table.insert(&row), "{row:?} is in");
                table.prepare(index);
            }
            assert_eq!(u64::from(table.n_rows()), u64::from(n).pow(3));
            for row in rows() {
                let mut found = table.first(index, columns.iter().map(|&at| row[at as usize]));
                let mut n_found = 0;
                while found != NONE {
                    for &column in columns {
                        assert_eq!(table.value(found, column), row[column as usize]);
                    }
                    n_found += 1;
                    found = table.after(index, found);
                }
                assert_eq!(n_found, n.pow(3 - columns.len() as u32), "filling {filling}");
            }
            let absent = columns.iter().map(|_| 5000);
            assert_eq!(table.first(index, absent), NONE);
            table.clear();
            assert_eq!(table.first(index, columns.iter().map(|_| 7)), NONE);
        }
    }

    #[test]
    fn rows_are_found_by_any_columns() {
        for n in [1, 3, 9] {
            for columns in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
                check(n, columns);
            }
        }
    }

    #[test]
    fn an_index_may_come_after_the_rows() {
        // 40 rows of each key, and more keys than the near caches hold.
        let n = 20_000;
        let mut table = RelationTable::new(3);
        table.keep_distinct();
        for at in 0..40 * n {
            assert!(table.insert(&[at % n, at % n / 7, at]));
        }
        let index = table.index_on(&[0, 1]);
        assert!(!table.is_far(index));
        table.prepare(index);
        assert!(table.is_far(index) && table.is_far(table.unique().unwrap()));
        let mut n_guessed = 0;
        for key in (0..n).step_by(97) {
            let mut found = table.first(index, [key, key / 7].into_iter());
            let guess = table.glance(index, [key, key / 7].into_iter());
            n_guessed += u32::from(guess == found);
            for at in (0..40).rev() {
                assert_eq!(table.row(found), [key, key / 7, at * n + key]);
                found = table.after(index, found);
            }
            assert_eq!(found, NONE);
        }
        assert!(n_guessed > n / 97 / 2, "{n_guessed}");
        assert_eq!(table.first(index, [7, 2].into_iter()), NONE);
    }

    #[test]
    fn different_values_are_counted() {
        let mut table = RelationTable::new(2);
        assert_eq!(table.n_distinct(0), 0);
        for (row, n) in [([5, 900_000], [1, 1]), ([5, 3], [1, 2]), ([64, 3], [2, 2])] {
            table.push(&row);
            assert_eq!([0, 1].map(|column| table.n_distinct(column)), n);
        }
    }

    #[test]
    fn large_tables_are_hashed() {
        check(45, &[0, 1, 2]);
        check(45, &[1, 2]);
    }
}
