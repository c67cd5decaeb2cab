//! Blocks of states of one level, with references to all their successors.
//!
//! A round takes some blocks. First each block is expanded and its successors are laid
//! out by shard; then each shard takes the successors that are its own, from all blocks,
//! and notes their numbers. Both halves run on all workers, without a lock. The values of
//! successors are read in the same way, shard by shard.
//!
//! All this is for the memory, which answers from far away 20 times later than from near:
//! a shard of a level lies near while it is at work, and all else is read and written in
//! order, in runs of many states.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::crew::{Crew, Task};
use super::expand::{Expander, Fault, GROUP, Group, Mask, Outcome};
use super::store::{Code, N_SHARDS, Shard, Store, UNKNOWN, shard};
use super::successor_numbers::{Number, SuccessorNumbers};
use super::words::Grading;

/// Maximum number of states of a block. In larger blocks the runs of successors in each shard
/// are longer.
pub(super) const BLOCK: usize = 64 * 1024;

/// Number of states of the blocks of a level with few states, so that all workers have some.
const SMALL_BLOCK: usize = 16 * 1024;

/// States of a round, whose successors are held in full: most levels are one round.
pub(super) const ROUND_STATES: usize = 128 * BLOCK;

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
    /// By successor, those of the first shard before those of the second: its number, counted
    /// from the base of its shard.
    pub(super) numbers: SuccessorNumbers,
    /// By shard: the first number that counts.
    pub(super) bases: Arc<[u32]>,
    /// The successors in the same order, within a round only.
    states: Vec<[u64; N]>,
    /// By state: the index of its outcome, [`UNKNOWN`] if it is not terminal. Within a
    /// round only.
    pub(super) terminal: Vec<Code>,
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
            + self.numbers.n_bytes()) as u64
    }

    /// Expands states and lays their successors out by shard, in memory that is used again.
    fn expand(
        first: usize,
        expander: &mut dyn Expander,
        buffers: &mut Buffers<N>,
        (mut states, mut terminal): (Vec<[u64; N]>, Vec<Code>),
    ) -> Result<Self, Fault> {
        let Buffers { group, parents, shards } = buffers;
        terminal.clear();
        terminal.resize(parents.len(), UNKNOWN);
        let mut block = Self { first, terminal, ..Self::default() };
        block.movers.reserve_exact(parents.len());
        group.clear();
        shards.clear();
        let mut counts = [0_u32; N_SHARDS];
        for (parents, terminal) in parents.chunks(GROUP).zip(block.terminal.chunks_mut(GROUP)) {
            let n_passes = group.passes.len();
            expander.expand(parents.as_flattened(), N, group)?;
            block.movers.extend_from_slice(&group.movers);
            block.counts.extend_from_slice(&group.counts);
            block.n_passes.push((group.passes.len() - n_passes) as u32);
            let (successors, _) = group.successors.as_chunks::<N>();
            shards.extend(successors[shards.len()..].iter().map(|state| {
                let shard = shard(state);
                counts[usize::from(shard)] += 1;
                shard
            }));
            for (mask, outcome) in &group.outcomes {
                let known = block.outcomes.iter().position(|known| known == outcome);
                let known = known.unwrap_or_else(|| {
                    block.outcomes.push(outcome.clone());
                    block.outcomes.len() - 1
                });
                for (word, &lanes) in mask.iter().enumerate() {
                    let mut left = lanes;
                    while left != 0 {
                        let lane = word * 64 + left.trailing_zeros() as usize;
                        // More outcomes than codes are an error of the run.
                        terminal[lane] = Code::try_from(known).unwrap_or(0).min(UNKNOWN - 1);
                        left &= left - 1;
                    }
                }
            }
        }
        // Of exactly their size.
        (block.shards, block.passes) = (shards.clone(), group.passes.clone());
        block.starts.reserve_exact(N_SHARDS + 1);
        let mut places = [0_u32; N_SHARDS];
        let mut end = 0;
        for (place, count) in places.iter_mut().zip(counts) {
            *place = end;
            block.starts.push(end);
            end += count;
        }
        block.starts.push(end);
        let (successors, _) = group.successors.as_chunks::<N>();
        // What an earlier round left there is overwritten.
        states.resize(successors.len(), [0; N]);
        for (state, &shard) in successors.iter().zip(&block.shards) {
            let place = &mut places[usize::from(shard)];
            states[*place as usize] = *state;
            *place += 1;
        }
        block.states = states;
        Ok(block)
    }
}

/// What a worker reuses from block to block.
#[derive(Debug, Default)]
struct Buffers<const N: usize> {
    /// The states of a block, and its groups.
    parents: Vec<[u64; N]>,
    group: Group,
    /// The shard of each successor.
    shards: Vec<u8>,
}

/// Memory that rounds use again, since memory that is new is slow.
#[derive(Debug)]
pub(super) struct Workspace<const N: usize> {
    /// By worker.
    buffers: Vec<Buffers<N>>,
    /// By block of a round: its successors.
    states: Vec<Vec<[u64; N]>>,
    /// By block of a round: codes of its states.
    state_codes: Vec<Vec<Code>>,
    /// By block of a round: the codes of its successors.
    codes: Vec<Vec<Code>>,
}

impl<const N: usize> Workspace<N> {
    pub(super) fn new(n_workers: usize) -> Self {
        let buffers = (0..n_workers).map(|_| Buffers::default()).collect();
        Self { buffers, states: Vec::new(), state_codes: Vec::new(), codes: Vec::new() }
    }

    /// Bytes in use.
    pub(super) fn n_bytes(&self) -> u64 {
        let words: usize = self.states.iter().map(Vec::capacity).sum();
        let worker = |buffers: &Buffers<N>| {
            size_of::<[u64; N]>() * buffers.parents.capacity()
                + 8 * buffers.group.successors.capacity()
                + buffers.shards.capacity()
                + size_of::<Mask>() * buffers.group.passes.capacity()
        };
        let workers: usize = self.buffers.iter().map(worker).sum();
        let codes: usize = self.codes.iter().chain(&self.state_codes).map(Vec::capacity).sum();
        (words * size_of::<[u64; N]>() + workers + codes * size_of::<Code>()) as u64
    }

    /// Memory for the codes of a block's states, with any content.
    pub(super) fn state_codes(&mut self) -> Vec<Code> {
        self.state_codes.pop().unwrap_or_default()
    }

    /// Takes back memory that [`state_codes`](Self::state_codes) gave.
    pub(super) fn give_back_state_codes(&mut self, codes: impl IntoIterator<Item = Vec<Code>>) {
        self.state_codes.extend(codes);
    }

    /// Takes back memory that [`codes`] gave.
    pub(super) fn give_back(&mut self, codes: Vec<Vec<Code>>) {
        self.codes.extend(codes);
    }

    /// Frees everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.buffers.len());
    }
}

/// Whether successors are new states or known ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successors {
    /// No state is known: the tables are emptied first.
    New,
    /// States that are not known are added.
    Added,
    /// All are in the tables.
    Known,
}

/// Number of states of a block if there are `n_states` in all.
fn block_len(n_states: usize, n_workers: usize) -> usize {
    (n_states / (4 * n_workers)).next_multiple_of(GROUP).clamp(SMALL_BLOCK, BLOCK)
}

/// The blocks of some states of a level, expanded side by side.
#[expect(clippy::too_many_arguments, reason = "they are parts of one run, borrowed apart")]
pub(super) fn round<const N: usize>(
    store: &mut Store<N>,
    level: usize,
    states: std::ops::Range<usize>,
    successors: Successors,
    grading: Option<&Grading>,
    expanders: &mut [Box<dyn Expander>],
    workspace: &mut Workspace<N>,
    crew: &dyn Crew,
) -> Result<Vec<Block<N>>, Fault> {
    type Memory<const N: usize> = (Vec<[u64; N]>, Vec<Code>);
    type Parts<const N: usize> = (std::ops::Range<usize>, Memory<N>, Result<Block<N>, Fault>);
    let len = block_len(states.len(), expanders.len());
    let mut blocks: Vec<Parts<N>> = Vec::new();
    for first in states.clone().step_by(len) {
        let memory = (workspace.states.pop().unwrap_or_default(), workspace.state_codes());
        blocks.push((first..states.end.min(first + len), memory, Ok(Block::default())));
    }
    let n_tasks = expanders.len().min(blocks.len());
    {
        let store = &*store;
        let queue = Mutex::new(blocks.iter_mut());
        let next = || queue.lock().expect("no task panics with the queue").next();
        let workers = expanders.iter_mut().zip(&mut workspace.buffers).take(n_tasks);
        let tasks = workers.map(|(expander, buffers)| {
            let next = &next;
            Box::new(move || {
                while let Some((range, memory, block)) = next() {
                    buffers.parents.clear();
                    for (shard, numbers) in store.pieces(level, range.start, range.len()) {
                        buffers.parents.extend_from_slice(&store.shards[shard].states[numbers]);
                    }
                    let has_depth = |grading: &Grading| {
                        buffers.parents.iter().all(|state| grading.depth(state) == level as u64)
                    };
                    *block = match grading {
                        Some(grading) if !has_depth(grading) => Err(Fault::Grading),
                        _ => {
                            let memory = std::mem::take(memory);
                            Block::expand(range.start, &mut **expander, buffers, memory)
                        }
                    };
                }
            }) as Task<'_>
        });
        run(crew, tasks.collect());
    }
    let mut done = Vec::with_capacity(blocks.len());
    let mut broken: Vec<u32> = Vec::new();
    for (_, _, block) in blocks {
        match block {
            Ok(block) => done.push(block),
            Err(Fault::Encoding(facts)) => broken.extend(facts),
            Err(fault) => return Err(fault),
        }
    }
    if !broken.is_empty() {
        return Err(Fault::Encoding(broken));
    }
    let n_likely = match successors {
        // Levels grow slowly while they are large.
        Successors::New => store.level_len(level) / 3 * 4,
        Successors::Added | Successors::Known => store.shards.iter().map(Shard::n_tabled).sum(),
    };
    number(store, &mut done, successors, n_likely, expanders.len(), crew);
    for block in &mut done {
        workspace.states.push(std::mem::take(&mut block.states));
    }
    Ok(done)
}

/// Gives the successors of all blocks their numbers, shard by shard, where `n_likely` states are
/// likely to be in the tables in the end.
fn number<const N: usize>(
    store: &mut Store<N>,
    blocks: &mut [Block<N>],
    successors: Successors,
    n_likely: usize,
    n_workers: usize,
    crew: &dyn Crew,
) {
    // Some shards get more than others.
    let is_narrow = n_likely as u64 <= u16::N_STATES * N_SHARDS as u64 / 16 * 15;
    if is_narrow && number_as::<N, u16>(store, blocks, successors, n_workers, crew) {
        return;
    }
    // The attempt has added all.
    let successors = if is_narrow { Successors::Known } else { successors };
    number_as::<N, u32>(store, blocks, successors, n_workers, crew);
}

/// [`number`] in numbers of this width; says whether it suffices.
fn number_as<const N: usize, M: Number>(
    store: &mut Store<N>,
    blocks: &mut [Block<N>],
    successors: Successors,
    n_workers: usize,
    crew: &dyn Crew,
) -> bool {
    type Runs<'a, const N: usize, M> = Vec<(&'a [[u64; N]], &'a mut [M])>;
    let mut all: Vec<Vec<M>> =
        blocks.iter().map(|block| vec![M::default(); block.shards.len()]).collect();
    let mut runs: Vec<Runs<'_, N, M>> = (0..N_SHARDS).map(|_| Vec::new()).collect();
    let mut n_successors = 0;
    for (Block { states, starts, .. }, numbers) in blocks.iter().zip(&mut all) {
        n_successors += numbers.len();
        for (runs, (states, numbers)) in
            runs.iter_mut().zip(by_shard(starts, states).zip(by_shard_mut(starts, numbers)))
        {
            runs.push((states, numbers));
        }
    }
    let queue = Mutex::new(store.shards.iter_mut().zip(runs));
    let next = || queue.lock().expect("no task panics with the queue").next();
    let work = || {
        while let Some((shard, runs)) = next() {
            match successors {
                // Which writes to it, and so brings it near.
                Successors::New => shard.empty_table(),
                Successors::Added | Successors::Known => {
                    shard.warm(runs.iter().map(|(states, _)| states.len()).sum());
                }
            }
            for (states, numbers) in runs {
                match successors {
                    Successors::New | Successors::Added => shard.insert_all(states, numbers),
                    Successors::Known => shard.find_all(states, numbers),
                }
            }
            shard.extend_codes();
        }
    };
    let n_tasks = n_tasks(n_successors, n_workers);
    run(crew, (0..n_tasks).map(|_| Box::new(work) as Task<'_>).collect());
    let bases: Arc<[u32]> = store.shards.iter().map(Shard::base).collect();
    for (block, numbers) in blocks.iter_mut().zip(all) {
        (block.numbers, block.bases) = (M::collected(numbers), Arc::clone(&bases));
    }
    store.shards.iter().all(|shard| shard.n_tabled() as u64 <= M::N_STATES)
}

/// For each block, the codes of its successors in the order of its numbers, in memory of the
/// workspace, which the caller gives [back](Workspace::give_back).
pub(super) fn codes<const N: usize>(
    store: &Store<N>,
    blocks: &[Block<N>],
    workspace: &mut Workspace<N>,
    n_workers: usize,
    crew: &dyn Crew,
) -> Vec<Vec<Code>> {
    type Runs<'a, const N: usize> = Vec<(&'a Block<N>, &'a mut [Code])>;
    let mut found: Vec<Vec<Code>> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let mut codes = workspace.codes.pop().unwrap_or_default();
        codes.resize(block.numbers.len(), 0);
        found.push(codes);
    }
    let mut runs: Vec<Runs<'_, N>> = (0..N_SHARDS).map(|_| Vec::new()).collect();
    let mut n_successors = 0;
    for (block, codes) in blocks.iter().zip(&mut found) {
        n_successors += block.numbers.len();
        for (runs, codes) in runs.iter_mut().zip(by_shard_mut(&block.starts, codes)) {
            runs.push((block, codes));
        }
    }
    let queue = Mutex::new(store.shards.iter().zip(runs).enumerate());
    let next = || queue.lock().expect("no task panics with the queue").next();
    let work = || {
        while let Some((at, (shard, runs))) = next() {
            for (block, codes) in runs {
                let known = &shard.codes[block.bases[at] as usize..];
                let range = block.starts[at] as usize..block.starts[at + 1] as usize;
                match &block.numbers {
                    SuccessorNumbers::Narrow(numbers) => gather(known, &numbers[range], codes),
                    SuccessorNumbers::Wide(numbers) => gather(known, &numbers[range], codes),
                }
            }
        }
    };
    let n_tasks = n_tasks(n_successors, n_workers);
    run(crew, (0..n_tasks).map(|_| Box::new(work) as Task<'_>).collect());
    found
}

/// The known codes of these numbers.
fn gather<M: Number>(known: &[Code], numbers: &[M], codes: &mut [Code]) {
    for (code, number) in codes.iter_mut().zip(numbers) {
        *code = known[number.get()];
    }
}

/// For each shard, which states of a level some blocks have there: the block, the places
/// in it, and the numbers in the shard.
type Places = Vec<(usize, Range<usize>, Range<usize>)>;

/// Calls `work` for each shard with the states of these blocks in it, on all workers.
pub(super) fn each_shard<const N: usize>(
    store: &mut Store<N>,
    level: usize,
    blocks: &[Block<N>],
    n_workers: usize,
    crew: &dyn Crew,
    work: impl Fn(&mut Shard<N>, &Places) + Sync,
) {
    let mut places: Vec<Places> = vec![Vec::new(); N_SHARDS];
    let mut n_states = 0;
    for (at, block) in blocks.iter().enumerate() {
        n_states += block.len();
        let mut from = 0;
        for (shard, numbers) in store.pieces(level, block.first, block.len()) {
            let until = from + numbers.len();
            places[shard].push((at, from..until, numbers));
            from = until;
        }
    }
    let queue = Mutex::new(store.shards.iter_mut().zip(places));
    let next = || queue.lock().expect("no task panics with the queue").next();
    let task = || {
        while let Some((shard, places)) = next() {
            work(shard, &places);
        }
    };
    let n_tasks = n_tasks(n_states, n_workers);
    run(crew, (0..n_tasks).map(|_| Box::new(task) as Task<'_>).collect());
}

/// The part of each shard, in order.
fn by_shard<'a, T>(starts: &'a [u32], all: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    starts.windows(2).map(|ends| &all[ends[0] as usize..ends[1] as usize])
}

/// The part of each shard, in order.
fn by_shard_mut<'a, T>(
    starts: &'a [u32],
    mut left: &'a mut [T],
) -> impl Iterator<Item = &'a mut [T]> {
    starts.windows(2).map(move |ends| {
        let here;
        (here, left) = std::mem::take(&mut left).split_at_mut((ends[1] - ends[0]) as usize);
        here
    })
}

/// Threads cost more than a few thousand look-ups.
fn n_tasks(n_successors: usize, n_workers: usize) -> usize {
    if n_successors < SMALL_BLOCK { 1 } else { n_workers }
}

/// A single task needs no crew.
pub(super) fn run(crew: &dyn Crew, mut tasks: Vec<Task<'_>>) {
    match tasks.len() {
        0 => {}
        1 => (tasks.pop().expect("there is one"))(),
        _ => crew.run(tasks),
    }
}

#[cfg(test)]
mod tests {
    use super::super::crew::Alone;
    use super::*;

    /// A block whose successors are these states of one shard.
    fn block(states: &[[u64; 1]], in_shard: usize) -> Block<1> {
        let starts = (0..=N_SHARDS).map(|at| if at > in_shard { states.len() as u32 } else { 0 });
        Block {
            shards: vec![in_shard as u8; states.len()],
            starts: starts.collect(),
            states: states.to_vec(),
            ..Block::default()
        }
    }

    #[test]
    fn more_states_than_foreseen_have_wider_numbers() {
        let mut store = Store::new([u64::MAX]);
        let in_shard = usize::from(!shard(&[u64::MAX]));
        let states = (0..).map(|word| [word]).filter(|state| usize::from(shard(state)) == in_shard);
        let states: Vec<[u64; 1]> = states.take(70_000).collect();
        let mut number = |states: &[[u64; 1]], successors| {
            let mut blocks = [block(states, in_shard)];
            super::number(&mut store, &mut blocks, successors, 1, 1, &Alone);
            let [block] = blocks;
            assert_eq!(block.bases[in_shard], 0);
            let found: Vec<usize> = (0..states.len()).map(|at| block.numbers.get(at)).collect();
            (matches!(block.numbers, SuccessorNumbers::Wide(_)), found)
        };
        let few = 1000;
        assert_eq!(number(&states[..few], Successors::New), (false, (0..few).collect()));
        let all = (true, (0..states.len()).collect());
        assert_eq!(number(&states, Successors::Added), all);
        assert_eq!(number(&states, Successors::Known), all);
        let last = states.len() - 1;
        assert_eq!(number(&states[last..], Successors::Known), (true, vec![last]));
    }
}
