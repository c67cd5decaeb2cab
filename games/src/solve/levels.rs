//! The run of a solver: all levels forwards, and then backwards.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::blocks::{self, BLOCK, Block, Successors, Workspace};
use super::checkpoint::{ResumeError, Saved, SegmentKind};
use super::crew::{Crew, Task};
use super::expand::{Expander, Fault, JOINT, TERMINAL};
use super::keys::Keys;
use super::store::{Code, N_SHARDS, Shard, Store, UNKNOWN};
use super::table::{Entries, GameHash, Palette, Summary, ValueTable};
use super::values::{self, Outcomes};
use super::words::Grading;
use super::{Phase, Progress, SolveError, StateClass, choice, expand, store};
use crate::{Expression, State, StateKey};

/// Sweeps over all states after which values that still change are given up.
const MAX_SWEEPS: u32 = 10_000;

/// What a run needs besides its states.
pub(super) struct Setup {
    pub(super) memory_bytes: u64,
    pub(super) n_workers: usize,
    pub(super) chance: Option<usize>,
    /// Their names.
    pub(super) roles: Vec<String>,
    pub(super) grading: Option<Grading>,
    /// States of a step.
    pub(super) round_states: usize,
    /// Whether states are words of facts, which mean the same in every process.
    pub(super) has_words: bool,
}

/// Successors of a state that a step allows for, on average; it takes fewer states if they
/// have more.
const SUCCESSORS_OF_A_STATE: u64 = 64;

/// Bytes of a reference to a successor: its shard and its number there.
const EDGE_BYTES: usize = 5;

/// Bytes of the code of a value.
const CODE_BYTES: usize = size_of::<Code>();

/// Why a run stopped.
pub(super) enum Stopped {
    Error(SolveError),
    /// These facts break their equations.
    Encoding(Vec<u32>),
    /// The depth does not follow from the facts.
    Grading,
}

/// A run over states of some size.
pub(super) trait Run: Send {
    fn step(&mut self, crew: &dyn Crew) -> Result<(), Stopped>;
    /// From now on a step expands and values at most this many states.
    fn limit_step(&mut self, n_states: usize);
    fn progress(&self) -> Progress;
    fn initial_value(&self) -> Vec<f64>;
    fn first_values(&self) -> Vec<Vec<f64>>;
    fn value(&self, state: &State) -> Option<Vec<f64>>;
    fn levels(&self) -> Vec<u64>;
    /// Whether the depth of a state follows from its facts.
    fn is_graded(&self) -> bool;
    /// All states by level and by the numbers of facts that each of `counted` picks.
    fn classes(&self, counted: &[&dyn Fn(&Expression) -> bool]) -> Vec<StateClass>;
    /// Whether its states can be written down: words, not numbers given by a machine.
    fn can_save(&self) -> bool;
    /// Writes what is complete and not in the checkpoint yet.
    fn save(&mut self, out: &mut dyn Write) -> io::Result<()>;
    /// Continues with a segment of the checkpoint.
    fn load(&mut self, kind: SegmentKind, words: &[u64]) -> Result<(), ResumeError>;
    /// Gets ready to go on after the last segment.
    fn ready(&mut self);
    fn table(
        &mut self,
        game: GameHash,
        summary: Summary,
        n_roles: usize,
        crew: &dyn Crew,
    ) -> ValueTable;
}

/// States that were expanded, and all their successors.
#[derive(Clone, Copy, Debug, Default)]
struct Expanded {
    n_states: u64,
    n_successors: u64,
}

/// All levels, forwards and then backwards.
pub(super) struct Levels<const N: usize> {
    pub(super) store: Store<N>,
    pub(super) expanders: Vec<Box<dyn Expander>>,
    pub(super) keys: Box<dyn Keys<N>>,
    pub(super) setup: Setup,
    pub(super) phase: Phase,
    /// The level at work, and how many of its states are done.
    pub(super) level: usize,
    pub(super) at: usize,
    /// By level: its blocks, if they are kept.
    pub(super) blocks: Vec<Option<Vec<Block<N>>>>,
    pub(super) block_bytes: u64,
    pub(super) most_bytes: u64,
    pub(super) n_terminal: u64,
    pub(super) n_successors: u64,
    /// States whose successors those are.
    pub(super) n_expanded: u64,
    /// By level: what was expanded to reach the next one.
    expanded: Vec<Expanded>,
    pub(super) n_valued: u64,
    pub(super) sweep: u32,
    pub(super) has_changed: bool,
    /// Whether chance moves or several roles choose at the same time somewhere.
    pub(super) needs_numbers: bool,
    pub(super) outcomes: Option<Outcomes>,
    /// By shard: the values of its states as numbers, if they are needed.
    pub(super) numbers: Vec<Vec<f64>>,
    /// Shard and number of the successors of the initial state.
    pub(super) first: Vec<(usize, usize)>,
    pub(super) saved: Saved,
    workspace: Workspace<N>,
}

impl<const N: usize> Levels<N> {
    pub(super) fn new(
        initial: [u64; N],
        expanders: Vec<Box<dyn Expander>>,
        keys: Box<dyn Keys<N>>,
        setup: Setup,
    ) -> Self {
        Self {
            store: Store::new(initial),
            workspace: Workspace::new(expanders.len()),
            expanders,
            keys,
            setup,
            phase: Phase::Reaching,
            level: 0,
            at: 0,
            blocks: Vec::new(),
            block_bytes: 0,
            most_bytes: 0,
            n_terminal: 0,
            n_successors: 0,
            n_expanded: 0,
            expanded: Vec::new(),
            n_valued: 0,
            sweep: 0,
            has_changed: false,
            needs_numbers: false,
            outcomes: None,
            numbers: Vec::new(),
            first: Vec::new(),
            saved: Saved::default(),
        }
    }

    fn n_bytes(&self) -> u64 {
        self.kept_bytes() + self.taken(self.workspace.n_bytes())
    }

    /// Bytes of what is kept from round to round.
    fn kept_bytes(&self) -> u64 {
        let numbers: usize = self.numbers.iter().map(|numbers| 8 * numbers.capacity()).sum();
        let n_bytes = self.store.n_bytes() + self.block_bytes + self.keys.n_bytes();
        self.taken(n_bytes + numbers as u64)
    }

    /// About how much memory it takes to hold as many bytes. States that are computed one by one
    /// have small rounds, which allocate in small pieces, and of what is freed between these not
    /// all can be used again: 1.3 times as much was measured at connect four.
    fn taken(&self, n_bytes: u64) -> u64 {
        if self.setup.has_words { n_bytes } else { n_bytes / 3 * 4 }
    }

    /// Mean number of successors of a state of the level at work, rounded up. What is not
    /// known is taken from the level above, and then from all levels.
    fn mean_successors(&self) -> u64 {
        let above = self.level.saturating_sub(1);
        let levels = [self.level, above].map(|level| self.expanded.get(level).copied());
        let known = levels.into_iter().flatten().find(|expanded| expanded.n_states > 1000);
        let all = Expanded { n_states: self.n_expanded, n_successors: self.n_successors };
        let Expanded { n_states, n_successors } = known.unwrap_or(all);
        n_successors.div_ceil(n_states.max(1)).max(1)
    }

    /// Memory that the successors of a round may take: an eighth of all, or three quarters of
    /// what is left, since the values of a round take memory, too.
    fn round_bytes(&self) -> u64 {
        let kept = self.kept_bytes();
        let limit_bytes = self.setup.memory_bytes;
        (limit_bytes / 8).min(limit_bytes.saturating_sub(kept) / 4 * 3)
    }

    /// Number of states of a round.
    fn round_states(&self) -> usize {
        let n_expanded = self.n_expanded.max(1);
        let mean = self.mean_successors();
        // Workers have a quarter of it in buffers of their own.
        let of_successor = (size_of::<[u64; N]>() + EDGE_BYTES) * 5 / 4 + CODE_BYTES;
        let bytes = (mean + 1) * of_successor as u64;
        let states = (self.round_bytes() / bytes) as usize;
        // The mean is not known at first.
        let most = if n_expanded < 1000 { BLOCK } else { usize::MAX };
        let states = states.max(expand::GROUP).min(most).min(self.setup.round_states);
        // So that a step is short where states have very many joint moves, too.
        let n_successors = SUCCESSORS_OF_A_STATE * self.setup.round_states as u64;
        states.min((n_successors / mean) as usize).max(1)
    }

    /// Expands some states of the level at work.
    fn round(&mut self, successors: Successors, crew: &dyn Crew) -> Result<Vec<Block<N>>, Stopped> {
        let end = self.store.level_len(self.level).min(self.at + self.round_states());
        let grading = self.setup.grading.as_ref().filter(|_| successors != Successors::Known);
        let (level, states) = (self.level, self.at..end);
        let expanders = &mut self.expanders;
        let (n_states, limit_bytes) = (self.store.n_states(), self.setup.memory_bytes);
        let (store, workspace) = (&mut self.store, &mut self.workspace);
        blocks::round(store, level, states, successors, grading, expanders, workspace, crew)
            .map_err(|fault| match fault {
                Fault::Encoding(facts) => Stopped::Encoding(facts),
                Fault::Grading => Stopped::Grading,
                Fault::Stuck(role) => {
                    let role = self.setup.roles[usize::from(role.0)].clone();
                    Stopped::Error(SolveError::NoMove { role, depth: level as u32 })
                }
                Fault::Memory => {
                    let depth = level as u32;
                    Stopped::Error(SolveError::Memory { n_states, depth, limit_bytes })
                }
                Fault::Reasoning(error) => Stopped::Error(error.into()),
            })
    }

    /// Gives up what can be computed again, if the next round would not fit otherwise.
    ///
    /// # Errors
    /// If it would not fit then.
    fn make_room(&mut self) -> Result<(), Stopped> {
        let limit_bytes = self.setup.memory_bytes;
        let of_successor = (size_of::<[u64; N]>() + EDGE_BYTES) as u64;
        let left = (self.store.level_len(self.level) - self.at + 1) as u64;
        let n_successors = left * (self.mean_successors() + 1);
        let n_successors = n_successors.min(limit_bytes / 8 / of_successor);
        let round_bytes = n_successors * of_successor;
        // About as many of them are new as were so far.
        let share = 1.25 * self.store.n_states() as f64 / self.n_successors.max(1) as f64;
        let n_new = (n_successors as f64 * share.min(1.0)) as u64;
        let kept = self.kept_bytes();
        if kept + self.store.growth_bytes(n_new) + round_bytes > limit_bytes {
            self.store.grow_little();
        }
        if kept + self.store.growth_bytes(n_new) + round_bytes > limit_bytes {
            self.drop_blocks();
        }
        // The workspace has room for the states of successors already, not for references.
        let references = n_successors * EDGE_BYTES as u64;
        if self.n_bytes() + self.store.growth_bytes(n_new) + references > limit_bytes {
            self.workspace.clear();
        }
        // Little memory makes the round small.
        let n_new = n_new.min((self.round_bytes() as f64 / of_successor as f64 * share) as u64);
        let is_enough = self.n_bytes() + self.store.growth_bytes(n_new) <= limit_bytes;
        if is_enough { Ok(()) } else { Err(self.lacks_memory()) }
    }

    /// Forgets the references to successors, which can be found again.
    fn drop_blocks(&mut self) {
        self.blocks.iter_mut().for_each(|blocks| *blocks = None);
        self.block_bytes = 0;
    }

    /// Reaches the successors of some states of the last complete level.
    fn reach(&mut self, crew: &dyn Crew) -> Result<(), Stopped> {
        if self.at == 0 {
            self.blocks.push(Some(Vec::new()));
            self.store.begin_level();
        }
        self.make_room()?;
        // Later levels do not reach the states of earlier ones, if depths follow from facts.
        let is_first = self.at == 0 && self.is_graded();
        let successors = if is_first { Successors::New } else { Successors::Added };
        let mut round = self.round(successors, crew)?;
        for block in &round {
            self.n_successors += block.numbers.len() as u64;
            self.n_expanded += block.len() as u64;
            self.expanded.resize(self.level + 1, Expanded::default());
            self.expanded[self.level].n_states += block.len() as u64;
            self.expanded[self.level].n_successors += block.numbers.len() as u64;
            self.at += block.len();
            self.note_movers(block);
        }
        self.note_terminal(&round, crew)?;
        self.forget_terminal(&mut round);
        if let Some(Some(blocks)) = self.blocks.last_mut() {
            self.block_bytes += round.iter().map(Block::n_bytes).sum::<u64>();
            blocks.extend(round);
        }
        self.keep_within_memory()?;
        if self.at < self.store.level_len(self.level) {
            return Ok(());
        }
        self.at = 0;
        self.level += 1;
        if self.store.level_len(self.level) == 0 {
            self.store.undo_level();
            self.make_room_for_numbers()?;
            self.begin_valuing();
        } else if self.is_graded() {
            self.store.shards.iter_mut().for_each(Shard::retire_table);
        }
        Ok(())
    }

    fn note_movers(&mut self, block: &Block<N>) {
        let chance = self.setup.chance.map(|role| role as u8);
        let needs_numbers = |&mover: &u8| mover == JOINT || Some(mover) == chance;
        self.needs_numbers = self.needs_numbers || block.movers.iter().any(needs_numbers);
    }

    /// Sets the values of terminal states.
    fn note_terminal(&mut self, round: &[Block<N>], crew: &dyn Crew) -> Result<(), Stopped> {
        // By block and outcome of the block.
        let mut codes: Vec<Vec<Code>> = Vec::with_capacity(round.len());
        for block in round {
            let limit = usize::from(UNKNOWN) - 1;
            let known = block.outcomes.iter().map(|outcome| self.store.code(outcome));
            let known = known.collect::<Option<Vec<Code>>>();
            codes.push(known.ok_or(Stopped::Error(SolveError::TooManyOutcomes { limit }))?);
            self.n_terminal +=
                block.terminal.iter().map(|&outcome| u64::from(outcome != UNKNOWN)).sum::<u64>();
        }
        let n_workers = self.expanders.len();
        blocks::each_shard(&mut self.store, self.level, round, n_workers, crew, |shard, places| {
            for (block, states, numbers) in places {
                let terminal = &round[*block].terminal[states.clone()];
                shard.set_terminal(numbers.clone(), terminal, &codes[*block]);
            }
        });
        Ok(())
    }

    /// What is noted of a round's terminal states is no longer needed.
    fn forget_terminal(&mut self, round: &mut [Block<N>]) {
        let terminal = round.iter_mut().map(|block| std::mem::take(&mut block.terminal));
        self.workspace.give_back_state_codes(terminal);
    }

    /// Gives up the references to successors, which can be found again, if memory is
    /// short, and then gives up.
    fn keep_within_memory(&mut self) -> Result<(), Stopped> {
        self.most_bytes = self.most_bytes.max(self.n_bytes());
        let limit_bytes = self.setup.memory_bytes;
        if self.n_bytes() > limit_bytes {
            self.drop_blocks();
        }
        if self.n_bytes() > limit_bytes {
            self.workspace.clear();
        }
        if self.n_bytes() <= limit_bytes { Ok(()) } else { Err(self.lacks_memory()) }
    }

    fn lacks_memory(&self) -> Stopped {
        let (n_states, limit_bytes) = (self.store.n_states(), self.setup.memory_bytes);
        Stopped::Error(SolveError::Memory { n_states, depth: self.level as u32, limit_bytes })
    }

    /// Values that are numbers take memory of their own.
    fn make_room_for_numbers(&mut self) -> Result<(), Stopped> {
        if !self.needs_numbers {
            return Ok(());
        }
        self.workspace.clear();
        let of_state = (self.setup.roles.len() * size_of::<f64>()) as u64;
        let n_bytes = self.store.n_states() * of_state;
        if self.n_bytes() + n_bytes > self.setup.memory_bytes {
            self.drop_blocks();
        }
        let is_enough = self.n_bytes() + n_bytes <= self.setup.memory_bytes;
        if is_enough { Ok(()) } else { Err(self.lacks_memory()) }
    }

    pub(super) fn begin_valuing(&mut self) {
        self.phase = Phase::Valuing;
        let outcomes =
            Outcomes::new(&self.store.outcomes, self.setup.roles.len(), self.setup.chance);
        if self.is_graded() {
            self.store.shards.iter_mut().for_each(Shard::forget_table);
        }
        let endless = outcomes.endless();
        for shard in &mut self.store.shards {
            for code in &mut shard.codes {
                *code = if *code == UNKNOWN { endless } else { *code };
            }
        }
        if self.needs_numbers {
            let value = |&code: &Code| outcomes.values[usize::from(code)].iter().copied();
            let values = |shard: &Shard<N>| shard.codes.iter().flat_map(value).collect();
            self.numbers = self.store.shards.iter().map(values).collect();
        }
        self.outcomes = Some(outcomes);
        self.begin_sweep();
    }

    fn begin_sweep(&mut self) {
        (self.level, self.at, self.n_valued) = (self.store.n_levels() - 1, 0, 0);
        self.has_changed = false;
        self.sweep += 1;
    }

    /// Computes the values of some states of the level at work.
    fn value_round(&mut self, crew: &dyn Crew) -> Result<(), Stopped> {
        let n_level = self.store.level_len(self.level);
        if self.at == 0 {
            self.make_room_for_codes();
        }
        let kept = self.blocks[self.level].take();
        let recomputed = match kept {
            Some(_) => None,
            None => {
                let limit_bytes = self.setup.memory_bytes;
                if self.at == 0 && self.is_graded() && self.level + 1 < self.store.n_levels() {
                    let tables = 16 * self.store.level_len(self.level + 1) as u64;
                    if self.n_bytes() + tables + limit_bytes / 8 > limit_bytes {
                        self.drop_blocks();
                    }
                    self.enter_successors(crew);
                }
                self.make_room_for_codes();
                let mut round = self.round(Successors::Known, crew)?;
                self.forget_terminal(&mut round);
                self.n_successors +=
                    round.iter().map(|block| block.numbers.len() as u64).sum::<u64>();
                self.n_expanded += round.iter().map(|block| block.len() as u64).sum::<u64>();
                Some(round)
            }
        };
        self.most_bytes = self.most_bytes.max(self.n_bytes());
        let of_state = (self.mean_successors() as usize + 2) * CODE_BYTES;
        let most = (self.round_bytes() as usize / of_state).max(BLOCK);
        let until = self.at + self.setup.round_states.min(most);
        let round: &[Block<N>] = match (&recomputed, &kept) {
            (Some(round), _) => round,
            (None, Some(blocks)) => {
                let first = blocks.partition_point(|block| block.first < self.at);
                let end = blocks.partition_point(|block| block.first < until);
                &blocks[first..end]
            }
            (None, None) => unreachable!("blocks are kept or computed again"),
        };
        let n_done: usize = round.iter().map(Block::len).sum();
        if self.needs_numbers {
            self.value_numbers(round, crew)?;
        } else {
            self.value_codes(round, crew);
        }
        if self.level == 0 {
            self.first = values::of_one(&round[0]);
        }
        match kept {
            Some(blocks) if self.is_graded() && self.at + n_done == n_level => {
                self.block_bytes -= blocks.iter().map(Block::n_bytes).sum::<u64>();
            }
            kept => self.blocks[self.level] = kept,
        }
        self.at += n_done;
        self.n_valued += n_done as u64;
        if self.at < n_level {
            return Ok(());
        }
        self.at = 0;
        if self.level > 0 {
            self.level -= 1;
        } else if self.is_graded() || !self.has_changed {
            self.phase = Phase::Done;
            self.blocks = Vec::new();
            self.block_bytes = 0;
            self.workspace.clear();
        } else if self.sweep == MAX_SWEEPS {
            return Err(Stopped::Error(SolveError::Unsettled { sweeps: MAX_SWEEPS }));
        } else {
            self.begin_sweep();
        }
        Ok(())
    }

    /// Gives up what can be made again if the codes of a round would not fit: first the workspace,
    /// which may have buffers of larger levels.
    fn make_room_for_codes(&mut self) {
        let limit_bytes = self.setup.memory_bytes;
        let is_full = |levels: &Self| levels.n_bytes() + limit_bytes / 16 > limit_bytes;
        if is_full(self) {
            self.workspace.clear();
        }
        if is_full(self) {
            self.drop_blocks();
        }
    }

    /// Enters the states of the next level into the tables.
    fn enter_successors(&mut self, crew: &dyn Crew) {
        let ranges: Vec<_> =
            (0..N_SHARDS).map(|shard| self.store.range(self.level + 1, shard)).collect();
        let is_small = self.store.level_len(self.level + 1) < BLOCK;
        let n_workers = if is_small { 1 } else { self.expanders.len() };
        let both = self.store.shards.iter_mut().zip(ranges).collect();
        side_by_side(both, n_workers, crew, |(shard, range): (&mut Shard<N>, _)| {
            shard.table_only(range);
        });
    }

    fn value_codes(&mut self, round: &[Block<N>], crew: &dyn Crew) {
        let outcomes = self.outcomes.as_ref().expect("values are computed after all outcomes");
        let store = &self.store;
        let n_workers = self.expanders.len();
        let successors = blocks::codes(store, round, &mut self.workspace, n_workers, crew);
        let memory = round.iter().map(|_| self.workspace.state_codes());
        let parts = round.iter().zip(&successors).zip(memory).collect();
        let found = side_by_side(parts, n_workers, crew, |((block, successors), mut codes)| {
            values::codes(block, successors, outcomes, &mut codes);
            codes
        });
        let n_found: usize = found.iter().map(Vec::capacity).sum();
        let n_codes: usize = n_found + successors.iter().map(Vec::capacity).sum::<usize>();
        self.most_bytes = self.most_bytes.max(self.n_bytes() + (n_codes * CODE_BYTES) as u64);
        self.workspace.give_back(successors);
        let has_changed = AtomicBool::new(false);
        let (store, level) = (&mut self.store, self.level);
        blocks::each_shard(store, level, round, n_workers, crew, |shard, places| {
            let mut differs = false;
            for (block, states, numbers) in places {
                let codes = &mut shard.codes[numbers.clone()];
                let values = &found[*block][states.clone()];
                let movers = &round[*block].movers[states.clone()];
                for (code, (&value, &mover)) in codes.iter_mut().zip(values.iter().zip(movers)) {
                    let value = if mover == TERMINAL { *code } else { value };
                    differs |= *code != value;
                    *code = value;
                }
            }
            if differs {
                has_changed.store(true, Ordering::Relaxed);
            }
        });
        self.has_changed |= has_changed.into_inner();
        self.workspace.give_back_state_codes(found);
    }

    fn value_numbers(&mut self, round: &[Block<N>], crew: &dyn Crew) -> Result<(), Stopped> {
        let (n_roles, chance) = (self.setup.roles.len(), self.setup.chance);
        let numbers = &self.numbers;
        let blocks = round.iter().collect();
        let found = side_by_side(blocks, self.expanders.len(), crew, |block| {
            values::numbers(block, numbers, n_roles, chance)
        });
        for (block, values) in round.iter().zip(found) {
            let pieces = self.store.pieces(self.level, block.first, block.len());
            let values = values.map_err(|(at, _)| {
                let all =
                    pieces.iter().flat_map(|(shard, range)| range.clone().map(|at| (*shard, at)));
                let (shard, number) = all.clone().nth(at).expect("it is a state of the block");
                let state = self.keys.facts(&self.store.shards[shard].states[number]);
                Stopped::Error(SolveError::NoValue { depth: self.level as u32, state })
            })?;
            let mut from = 0;
            for (shard, range) in pieces {
                for number in range {
                    let to = &mut self.numbers[shard][number * n_roles..][..n_roles];
                    let values = &values[from * n_roles..][..n_roles];
                    let differs =
                        |(to, value): (&f64, &f64)| (to - value).abs() > choice::TOLERANCE / 100.0;
                    if block.movers[from] != TERMINAL && to.iter().zip(values).any(differs) {
                        to.copy_from_slice(values);
                        self.has_changed = true;
                    }
                    from += 1;
                }
            }
        }
        Ok(())
    }

    fn value_of(&self, shard: usize, number: usize) -> Vec<f64> {
        if self.needs_numbers {
            let n_roles = self.setup.roles.len();
            return self.numbers[shard][number * n_roles..][..n_roles].to_vec();
        }
        let outcomes = self.outcomes.as_ref().expect("values are known when all are");
        outcomes.values[usize::from(self.store.shards[shard].codes[number])].clone()
    }
}

/// What `work` makes of each block, in order.
fn side_by_side<B: Send, T: Send>(
    blocks: Vec<B>,
    n_workers: usize,
    crew: &dyn Crew,
    work: impl Fn(B) -> T + Sync,
) -> Vec<T> {
    let n_tasks = n_workers.min(blocks.len());
    let mut results: Vec<Option<T>> = blocks.iter().map(|_| None).collect();
    let queue = Mutex::new(blocks.into_iter().zip(&mut results));
    let task = || {
        while let Some((block, result)) =
            { queue.lock().unwrap_or_else(PoisonError::into_inner).next() }
        {
            *result = Some(work(block));
        }
    };
    blocks::run(crew, (0..n_tasks).map(|_| Box::new(task) as Task<'_>).collect());
    results.into_iter().map(|result| result.expect("the crew does all work")).collect()
}

impl<const N: usize> Run for Levels<N> {
    fn step(&mut self, crew: &dyn Crew) -> Result<(), Stopped> {
        match self.phase {
            Phase::Reaching => self.reach(crew),
            Phase::Valuing => self.value_round(crew),
            Phase::Done => Ok(()),
        }
    }

    fn limit_step(&mut self, n_states: usize) {
        self.setup.round_states = n_states.max(1);
    }

    fn progress(&self) -> Progress {
        Progress {
            phase: self.phase,
            level: self.level as u32,
            n_states: self.store.n_states(),
            n_terminal: self.n_terminal,
            n_expanded: self.n_expanded,
            n_successors: self.n_successors,
            n_valued: self.n_valued,
            sweep: self.sweep,
            n_bytes: self.n_bytes(),
            most_bytes: self.most_bytes,
            state_bytes: size_of::<[u64; N]>() as u32,
        }
    }

    fn initial_value(&self) -> Vec<f64> {
        let shard = (0..N_SHARDS).find(|&shard| !self.store.range(0, shard).is_empty());
        self.value_of(shard.expect("the first level has a state"), 0)
    }

    fn first_values(&self) -> Vec<Vec<f64>> {
        self.first.iter().map(|&(shard, number)| self.value_of(shard, number)).collect()
    }

    fn value(&self, state: &State) -> Option<Vec<f64>> {
        let words = self.keys.words(state)?;
        let shard = usize::from(store::shard(&words));
        let number = self.store.shards[shard].find(&words)?;
        Some(self.value_of(shard, number as usize))
    }

    fn levels(&self) -> Vec<u64> {
        (0..self.store.n_levels()).map(|level| self.store.level_len(level) as u64).collect()
    }

    fn is_graded(&self) -> bool {
        self.setup.grading.is_some()
    }

    fn classes(&self, counted: &[&dyn Fn(&Expression) -> bool]) -> Vec<StateClass> {
        let counters: Vec<_> =
            counted.iter().map(|is_counted| self.keys.counter(*is_counted)).collect();
        let mut classes: BTreeMap<(usize, Vec<u32>), (u64, u64)> = BTreeMap::new();
        let mut counts = Vec::new();
        for level in 0..self.store.n_levels() {
            for (at, shard) in self.store.shards.iter().enumerate() {
                for number in self.store.range(level, at) {
                    let state = &shard.states[number as usize];
                    counts.clear();
                    counts.extend(counters.iter().map(|counter| counter(state)));
                    let key = (level, std::mem::take(&mut counts));
                    let class = classes.entry(key).or_default();
                    class.0 += 1;
                    class.1 += u64::from(shard.is_terminal(number as usize));
                }
            }
        }
        let class = |((level, counts), (n_states, n_terminal))| StateClass {
            depth: level as u32,
            counts,
            n_states,
            n_terminal,
        };
        classes.into_iter().map(class).collect()
    }

    fn can_save(&self) -> bool {
        self.setup.has_words
    }

    fn save(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.save_to(out)
    }

    fn load(&mut self, kind: SegmentKind, words: &[u64]) -> Result<(), ResumeError> {
        self.load_from(kind, words)
    }

    fn ready(&mut self) {
        self.get_ready();
    }

    fn table(
        &mut self,
        game: GameHash,
        summary: Summary,
        n_roles: usize,
        crew: &dyn Crew,
    ) -> ValueTable {
        // By shard and state, if values are numbers; else by code of the state.
        let mut palette = Palette::default();
        let mut by_state: Vec<Vec<u32>> = Vec::new();
        let mut by_code: Vec<u32> = Vec::new();
        if self.needs_numbers {
            // Values of terminal states are left out of the palette with their states.
            for (shard, numbers) in self.store.shards.iter().zip(&self.numbers) {
                let code = |(number, value)| match shard.is_terminal(number) {
                    true => 0,
                    false => palette.code(value),
                };
                by_state.push(numbers.chunks(n_roles).enumerate().map(code).collect());
            }
        } else {
            let outcomes = self.outcomes.as_ref().expect("values are known when all are");
            by_code = outcomes.values.iter().map(|value| palette.code(value)).collect();
        }
        let (values, places) = palette.sorted();
        let n = summary.n_states - summary.n_terminal;
        let (store, keys) = (&self.store, &*self.keys);
        let states = |visit: &mut dyn FnMut(StateKey, u32)| {
            for (at, shard) in store.shards.iter().enumerate() {
                for (number, state) in shard.states.iter().enumerate() {
                    if !shard.is_terminal(number) {
                        let code = match by_state.get(at) {
                            Some(codes) => codes[number],
                            None => by_code[usize::from(shard.codes[number])],
                        };
                        visit(keys.key(state), places[code as usize]);
                    }
                }
            }
        };
        let entries = Entries { n_states: n, n_roles, values, each: &states };
        ValueTable::new(game, summary, entries, self.setup.memory_bytes / 4, crew)
    }
}
