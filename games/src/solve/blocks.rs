//! Blocks of states of one level, with references to all their successors.
//!
//! A round takes some blocks. First each block is expanded and its successors are laid
//! out by shard; then each shard takes the successors that are its own, from all blocks,
//! and notes their numbers. Both halves run on all workers, without a lock.

use std::sync::Mutex;

use super::crew::{Crew, Task};
use super::expand::{Expander, Fault, GROUP, Group, Mask, Outcome};
use super::store::{N_SHARDS, Store, shard};
use super::words::Grading;

/// Maximum number of states of a block.
pub(super) const BLOCK: usize = 16 * 1024;

/// Blocks of a round, which are held with their successors in full.
const ROUND: usize = 192;

/// States of a round.
pub(super) const ROUND_STATES: usize = ROUND * BLOCK;

/// States of one level with references to their successors.
#[derive(Debug, Default)]
pub(super) struct Block<const N: usize> {
    /// The first state, counted within the level.
    pub(super) first: usize,
    /// By state: see [`Group::movers`].
    pub(super) movers: Vec<u8>,
    /// By state in which several roles choose: the number of moves of each role.
    pub(super) counts: Vec<u32>,
    /// By group of states: its passes, as many as [`n_passes`](Self::n_passes) says.
    pub(super) passes: Vec<Mask>,
    /// By group.
    pub(super) n_passes: Vec<u32>,
    /// By successor: its shard.
    pub(super) shards: Vec<u8>,
    /// By shard: where its successors begin, and the end.
    pub(super) starts: Vec<u32>,
    /// By successor, those of the first shard before those of the second: its number.
    pub(super) numbers: Vec<u32>,
    /// The successors in the same order, within a round only.
    states: Vec<[u64; N]>,
    /// Terminal states by outcome: each is the place in the block and an index into
    /// [`outcomes`](Self::outcomes). Within a round only.
    pub(super) terminal: Vec<(u32, u32)>,
    pub(super) outcomes: Vec<Outcome>,
}

impl<const N: usize> Block<N> {
    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.movers.len()
    }

    /// Bytes in use.
    pub(super) fn n_bytes(&self) -> u64 {
        (self.movers.capacity()
            + 4 * self.counts.capacity()
            + size_of::<Mask>() * self.passes.capacity()
            + 4 * self.n_passes.capacity()
            + self.shards.capacity()
            + 4 * self.starts.capacity()
            + 4 * self.numbers.capacity()) as u64
    }

    /// Expands states and lays their successors out by shard.
    fn expand(
        first: usize,
        states: &[[u64; N]],
        expander: &mut dyn Expander,
        buffers: &mut Buffers,
    ) -> Result<Self, Fault> {
        let Buffers { group, successors } = buffers;
        let mut block = Self { first, ..Self::default() };
        block.movers.reserve_exact(states.len());
        successors.clear();
        let mut counts = [0_u32; N_SHARDS];
        for (at, states) in (0..).step_by(GROUP).zip(states.chunks(GROUP)) {
            expander.expand(states.as_flattened(), N, group)?;
            block.movers.extend_from_slice(&group.movers);
            block.counts.extend_from_slice(&group.counts);
            block.n_passes.push(group.passes.len() as u32);
            block.passes.extend_from_slice(&group.passes);
            successors.extend_from_slice(&group.successors);
            for (mask, outcome) in &group.outcomes {
                let known = block.outcomes.iter().position(|known| known == outcome);
                let known = known.unwrap_or_else(|| {
                    block.outcomes.push(outcome.clone());
                    block.outcomes.len() - 1
                });
                for (word, &lanes) in mask.iter().enumerate() {
                    let mut left = lanes;
                    while left != 0 {
                        let lane = word as u32 * 64 + left.trailing_zeros();
                        block.terminal.push((at + lane, known as u32));
                        left &= left - 1;
                    }
                }
            }
        }
        let (successors, _) = successors.as_chunks::<N>();
        block.shards.reserve_exact(successors.len());
        for state in successors.iter() {
            let shard = shard(state);
            counts[usize::from(shard)] += 1;
            block.shards.push(shard);
        }
        block.starts.reserve_exact(N_SHARDS + 1);
        let mut places = [0_u32; N_SHARDS];
        let mut end = 0;
        for (place, count) in places.iter_mut().zip(counts) {
            *place = end;
            block.starts.push(end);
            end += count;
        }
        block.starts.push(end);
        block.states = vec![[0; N]; successors.len()];
        for (state, &shard) in successors.iter().zip(&block.shards) {
            let place = &mut places[usize::from(shard)];
            block.states[*place as usize] = *state;
            *place += 1;
        }
        block.numbers = vec![0; successors.len()];
        Ok(block)
    }
}

/// What a worker reuses from block to block.
#[derive(Debug, Default)]
struct Buffers {
    group: Group,
    successors: Vec<u64>,
}

/// Whether successors are new states or known ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successors {
    /// Those that are not known are added.
    Added,
    /// All are in the tables.
    Known,
}

/// The blocks of some states of a level, expanded side by side.
pub(super) fn round<const N: usize>(
    store: &mut Store<N>,
    level: usize,
    states: std::ops::Range<usize>,
    successors: Successors,
    grading: Option<&Grading>,
    expanders: &mut [Box<dyn Expander>],
    crew: &dyn Crew,
) -> Result<Vec<Block<N>>, Fault> {
    let mut blocks: Vec<(std::ops::Range<usize>, Result<Block<N>, Fault>)> = states
        .clone()
        .step_by(BLOCK)
        .map(|first| (first..states.end.min(first + BLOCK), Ok(Block::default())))
        .collect();
    let n_tasks = expanders.len().min(blocks.len());
    {
        let store = &*store;
        let queue = Mutex::new(blocks.iter_mut());
        let next = || queue.lock().expect("no task panics with the queue").next();
        let tasks = expanders.iter_mut().take(n_tasks).map(|expander| {
            let next = &next;
            Box::new(move || {
                let mut buffers = Buffers::default();
                let mut parents = Vec::with_capacity(BLOCK);
                while let Some((range, block)) = next() {
                    parents.clear();
                    for (shard, numbers) in store.pieces(level, range.start, range.len()) {
                        parents.extend_from_slice(&store.shards[shard].states[numbers]);
                    }
                    let has_depth = |grading: &Grading| {
                        parents.iter().all(|state| grading.depth(state) == level as u64)
                    };
                    *block = match grading {
                        Some(grading) if !has_depth(grading) => Err(Fault::Grading),
                        _ => Block::expand(range.start, &parents, &mut **expander, &mut buffers),
                    };
                }
            }) as Task<'_>
        });
        run(crew, tasks.collect());
    }
    let mut done = Vec::with_capacity(blocks.len());
    let mut broken: Vec<u32> = Vec::new();
    for (_, block) in blocks {
        match block {
            Ok(block) => done.push(block),
            Err(Fault::Encoding(facts)) => broken.extend(facts),
            Err(fault) => return Err(fault),
        }
    }
    if !broken.is_empty() {
        return Err(Fault::Encoding(broken));
    }
    number(store, &mut done, successors, expanders.len(), crew);
    for block in &mut done {
        block.states = Vec::new();
    }
    Ok(done)
}

/// Numbers the successors of all blocks, shard by shard.
fn number<const N: usize>(
    store: &mut Store<N>,
    blocks: &mut [Block<N>],
    successors: Successors,
    n_workers: usize,
    crew: &dyn Crew,
) {
    type Runs<'a, const N: usize> = Vec<(&'a [[u64; N]], &'a mut [u32])>;
    let n_successors: usize = blocks.iter().map(|block| block.numbers.len()).sum();
    let mut runs: Vec<Runs<'_, N>> = (0..N_SHARDS).map(|_| Vec::new()).collect();
    for block in blocks.iter_mut() {
        let mut left = block.numbers.as_mut_slice();
        for (shard, runs) in runs.iter_mut().enumerate() {
            let (start, end) = (block.starts[shard] as usize, block.starts[shard + 1] as usize);
            let (numbers, rest) = left.split_at_mut(end - start);
            left = rest;
            if !numbers.is_empty() {
                runs.push((&block.states[start..end], numbers));
            }
        }
    }
    let queue = Mutex::new(store.shards.iter_mut().zip(runs));
    let next = || queue.lock().expect("no task panics with the queue").next();
    let work = || {
        while let Some((shard, runs)) = next() {
            for (states, numbers) in runs {
                match successors {
                    Successors::Added => shard.insert_all(states, numbers),
                    Successors::Known => shard.find_all(states, numbers),
                }
            }
        }
    };
    // Threads cost more than a few thousand look-ups.
    let n_tasks = if n_successors < BLOCK { 1 } else { n_workers };
    run(crew, (0..n_tasks).map(|_| Box::new(work) as Task<'_>).collect());
}

/// A single task needs no crew.
pub(super) fn run(crew: &dyn Crew, mut tasks: Vec<Task<'_>>) {
    match tasks.len() {
        0 => {}
        1 => (tasks.pop().expect("there is one"))(),
        _ => crew.run(tasks),
    }
}
