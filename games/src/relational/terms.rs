//! Ground terms and facts as small numbers, shared by all forks of a machine.
//!
//! Terms are hash-consed: equal terms have one id, so that unification of
//! ground terms is a comparison of numbers. Each fork works on a copy of its own
//! ([`Terms`]), which only ever grows by what was entered into the common store
//! first; so ids agree everywhere, and no lock is taken for a known term. What
//! a finite game can name is finite, so the store is bounded by the game and
//! not by the number of states visited.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use crate::symbol::SymbolId;

/// A ground term.
pub(crate) type TermId = u32;
/// A name with an arity; constants are functors of arity 0.
pub(crate) type FunctorId = u32;
/// A term that was a fact of some state, in order of discovery.
pub(crate) type FactId = u32;

/// No id.
pub(crate) const NONE: u32 = u32::MAX;

/// All terms of one game so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    functors: Vec<(SymbolId, u32)>,
    functor_ids: FxHashMap<(SymbolId, u32), FunctorId>,
    /// For each term its functor, its arguments and its depth of nesting.
    heads: Vec<FunctorId>,
    ends: Vec<u32>,
    arguments: Vec<TermId>,
    depths: Vec<u32>,
    /// For each term its symbols, written out; no more than are counted in 32 bits.
    sizes: Vec<u32>,
    /// Open addressing: `NONE` or a term.
    slots: Vec<TermId>,
    fact_of: Vec<FactId>,
    facts: Vec<TermId>,
}

impl Store {
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// All terms and their arguments.
    #[inline]
    pub(crate) fn n_parts(&self) -> usize {
        self.heads.len() + self.arguments.len()
    }

    pub(crate) fn n_facts(&self) -> usize {
        self.facts.len()
    }

    /// Memory held, in bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.heads.capacity()
            + self.ends.capacity()
            + self.arguments.capacity()
            + self.depths.capacity()
            + self.sizes.capacity()
            + self.slots.capacity()
            + self.fact_of.capacity()
            + self.facts.capacity())
    }

    #[inline]
    pub(crate) fn functor(&self, term: TermId) -> FunctorId {
        self.heads[term as usize]
    }

    #[inline]
    pub(crate) fn arguments(&self, term: TermId) -> &[TermId] {
        let end = self.ends[term as usize] as usize;
        let start = if term == 0 { 0 } else { self.ends[term as usize - 1] as usize };
        &self.arguments[start..end]
    }

    pub(crate) fn depth(&self, term: TermId) -> u32 {
        self.depths[term as usize]
    }

    pub(crate) fn size(&self, term: TermId) -> u32 {
        self.sizes[term as usize]
    }

    pub(crate) fn signature(&self, functor: FunctorId) -> (SymbolId, u32) {
        self.functors[functor as usize]
    }

    pub(crate) fn symbol(&self, term: TermId) -> SymbolId {
        self.functors[self.functor(term) as usize].0
    }

    #[inline]
    pub(crate) fn find(&self, functor: FunctorId, arguments: &[TermId]) -> Option<TermId> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash(functor, arguments) & mask;
        loop {
            let term = self.slots[slot];
            if term == NONE {
                return None;
            }
            if self.functor(term) == functor && self.arguments(term) == arguments {
                return Some(term);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The term of a fact.
    pub(crate) fn fact(&self, fact: FactId) -> TermId {
        self.facts[fact as usize]
    }

    fn functor_id(&mut self, name: SymbolId, arity: u32) -> FunctorId {
        let next = self.functors.len() as u32;
        *self.functor_ids.entry((name, arity)).or_insert_with(|| {
            self.functors.push((name, arity));
            next
        })
    }

    fn add(&mut self, functor: FunctorId, arguments: &[TermId]) -> TermId {
        let term = u32::try_from(self.len()).expect("fewer than 2^32 terms fit into memory");
        let depth = arguments.iter().map(|&term| self.depth(term) + 1).max().unwrap_or(0);
        let size = arguments.iter().fold(1, |sum: u32, &term| sum.saturating_add(self.size(term)));
        self.sizes.push(size);
        self.arguments.extend_from_slice(arguments);
        self.heads.push(functor);
        self.ends.push(self.arguments.len() as u32);
        self.depths.push(depth);
        self.fact_of.push(NONE);
        if 2 * self.len() > self.slots.len() {
            self.slots = vec![NONE; (4 * self.len()).next_power_of_two().max(64)];
            for term in 0..self.len() as u32 {
                self.place(term);
            }
        } else {
            self.place(term);
        }
        term
    }

    fn place(&mut self, term: TermId) {
        let mask = self.slots.len() - 1;
        let mut slot = hash(self.functor(term), self.arguments(term)) & mask;
        while self.slots[slot] != NONE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = term;
    }

    fn add_fact(&mut self, term: TermId) -> FactId {
        let fact = self.facts.len() as u32;
        self.facts.push(term);
        self.fact_of[term as usize] = fact;
        fact
    }

    /// Takes over what `other`, which began as this store did, has more.
    fn catch_up(&mut self, other: &Store) {
        for &(name, arity) in &other.functors[self.functors.len()..] {
            self.functor_id(name, arity);
        }
        for term in self.len()..other.len() {
            self.add(other.heads[term], other.arguments(term as u32));
        }
        for &term in &other.facts[self.facts.len()..] {
            self.add_fact(term);
        }
    }
}

#[inline]
fn hash(functor: FunctorId, arguments: &[TermId]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = u64::from(functor).wrapping_mul(FACTOR);
    for &argument in arguments {
        hash = (hash.rotate_left(23) ^ u64::from(argument)).wrapping_mul(FACTOR);
    }
    (hash >> 29) as usize
}

/// One fork's view of the common store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    local: Store,
    shared: Arc<Mutex<Store>>,
}

impl std::ops::Deref for Terms {
    type Target = Store;

    #[inline]
    fn deref(&self) -> &Store {
        &self.local
    }
}

impl Terms {
    fn lock(shared: &Mutex<Store>) -> MutexGuard<'_, Store> {
        // The store is only ever appended to, whole entries at a time.
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same terms, for a machine that is not a fork of this one.
    pub(crate) fn separate(&self) -> Self {
        let store = Self::lock(&self.shared).clone();
        Self { local: store.clone(), shared: Arc::new(Mutex::new(store)) }
    }

    /// Takes over what other forks have entered.
    pub(crate) fn refresh(&mut self) {
        let shared = Self::lock(&self.shared);
        self.local.catch_up(&shared);
    }

    /// Calls `read` with a store that knows what all forks have entered.
    pub(crate) fn with_shared<T>(&self, read: impl FnOnce(&Store) -> T) -> T {
        read(&Self::lock(&self.shared))
    }

    fn enter<T>(&mut self, change: impl FnOnce(&mut Store) -> T) -> T {
        let mut shared = Self::lock(&self.shared);
        let result = change(&mut shared);
        self.local.catch_up(&shared);
        result
    }

    pub(crate) fn functor_id(&mut self, name: SymbolId, arity: u32) -> FunctorId {
        match self.local.functor_ids.get(&(name, arity)) {
            Some(&functor) => functor,
            None => self.enter(|store| store.functor_id(name, arity)),
        }
    }

    #[inline]
    pub(crate) fn intern(&mut self, functor: FunctorId, arguments: &[TermId]) -> TermId {
        match self.local.find(functor, arguments) {
            Some(term) => term,
            None => self.intern_new(functor, arguments),
        }
    }

    #[cold]
    fn intern_new(&mut self, functor: FunctorId, arguments: &[TermId]) -> TermId {
        self.enter(|store| {
            store.find(functor, arguments).unwrap_or_else(|| store.add(functor, arguments))
        })
    }

    pub(crate) fn constant(&mut self, name: SymbolId) -> TermId {
        let functor = self.functor_id(name, 0);
        self.intern(functor, &[])
    }

    /// The fact with this term.
    #[inline]
    pub(crate) fn fact_id(&mut self, term: TermId) -> FactId {
        match self.local.fact_of[term as usize] {
            NONE => self.enter(|store| match store.fact_of[term as usize] {
                NONE => store.add_fact(term),
                fact => fact,
            }),
            fact => fact,
        }
    }
}

/// Compares terms by name (first appearance), arity and arguments.
pub(crate) fn compare(store: &Store, left: TermId, right: TermId) -> std::cmp::Ordering {
    if left == right {
        return std::cmp::Ordering::Equal;
    }
    let signature = |term| store.signature(store.functor(term));
    signature(left).cmp(&signature(right)).then_with(|| {
        let (left, right) = (store.arguments(left), store.arguments(right));
        let mut pairs = left.iter().zip(right).map(|(&left, &right)| compare(store, left, right));
        pairs.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    })
}
