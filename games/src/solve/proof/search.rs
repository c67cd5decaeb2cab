//! Depth-first proof-number search (df-pn; Nagai 2002): is the first role's value at least
//! this much?

use rustc_hash::FxHashSet;

use super::ProofError;
use super::expansion::{Expander, Expansion};
use super::numbers::{Numbers, Summary};
use super::proof_table::ProofTable;
use crate::split_mix::finalise;
use crate::{Cancel, State, StateKey};

/// Steps that a line may have.
const MAX_LINE: usize = 20_000;

/// A question: does the first role get at least this much from a state?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) at_least: u8,
}

impl Question {
    /// The key of a state for this question.
    pub(super) fn key(self, key: StateKey) -> u128 {
        self.salt() ^ key.bits()
    }

    fn salt(self) -> u128 {
        let word = |n: u64| u128::from(finalise(n + 2 * u64::from(self.at_least)));
        word(1) << 64 | word(2)
    }
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// Play may repeat states, so that the search came to no decision.
    Undecided,
}

/// What a search has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// States whose children were computed, as often as that was.
    pub(super) n_expanded: u64,
    /// Children computed.
    pub(super) n_positions: u64,
    /// Steps that led back to a state of the same line.
    pub(super) n_repetitions: u64,
    /// The longest line.
    pub(super) longest: usize,
}

impl Work {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            n_expanded: self.n_expanded + other.n_expanded,
            n_positions: self.n_positions + other.n_positions,
            n_repetitions: self.n_repetitions + other.n_repetitions,
            longest: self.longest.max(other.longest),
        }
    }
}

/// A child of a state of a line that another thread searches.
#[derive(Clone, Debug)]
pub(super) struct Aside {
    /// The key of the state of the line.
    parent: u128,
    /// The key of the child, for the question.
    pub(super) key: u128,
    pub(super) state: State,
    pub(super) question: Question,
}

/// A state of the current line.
#[derive(Debug, Default)]
struct Frame {
    expansion: Expansion,
    key: u128,
    /// By child: its numbers, seen by the role that chooses.
    numbers: Vec<Numbers>,
    /// The search of this state ends when a number reaches its threshold; seen by the role
    /// that chooses.
    thresholds: Numbers,
    /// The child that is searched.
    chosen: usize,
    /// States expanded below.
    work: u64,
}

/// A search that can be interrupted: the current line, state by state. Whatever it stores as
/// proven or disproven is so: a repetition counts for neither side.
#[derive(Debug)]
pub(super) struct Search {
    question: Question,
    salt: u128,
    frames: Vec<Frame>,
    /// The frames in use.
    length: usize,
    line: FxHashSet<u128>,
    state: State,
    /// The children of the last state that the table does not have.
    new: Vec<usize>,
    starts: Vec<State>,
    means: Vec<f64>,
    pub(super) work: Work,
}

impl Search {
    pub(super) fn new() -> Self {
        Self {
            question: Question { at_least: 0 },
            salt: 0,
            frames: Vec::new(),
            length: 0,
            line: FxHashSet::default(),
            state: State::default(),
            new: Vec::new(),
            starts: Vec::new(),
            means: Vec::new(),
            work: Work::default(),
        }
    }

    /// Begins with a question about a state that is not terminal.
    pub(super) fn begin(
        &mut self,
        question: Question,
        state: &State,
        expander: &mut Expander,
        table: &ProofTable,
    ) -> Result<(), ProofError> {
        self.question = question;
        self.salt = question.salt();
        self.length = 0;
        self.line.clear();
        self.state.clone_from(state);
        let key = question.key(expander.machine().key(state));
        self.push(key, Numbers::LIMIT, expander, table)
    }

    /// Goes on until the answer is found, about this many states were expanded, the table needs
    /// room, or `pause` is raised.
    ///
    /// # Panics
    /// If it was not begun.
    pub(super) fn run(
        &mut self,
        expander: &mut Expander,
        table: &ProofTable,
        n_expansions: u64,
        pause: &Cancel,
    ) -> Result<Option<Answer>, ProofError> {
        self.take_over(table);
        let end = self.work.n_expanded + n_expansions;
        loop {
            let frame = &mut self.frames[self.length - 1];
            let summary = Summary::of(&frame.numbers);
            let Numbers { proof, disproof } = summary.numbers;
            let thresholds = frame.thresholds;
            if summary.numbers.is_final()
                || proof >= thresholds.proof
                || disproof >= thresholds.disproof
            {
                if let Some(answer) = self.pop(summary.numbers, table) {
                    return Ok(Some(answer));
                }
                continue;
            }
            let child = summary.best;
            let key = frame.expansion.successors.key(child).bits() ^ self.salt;
            if self.length >= MAX_LINE || self.line.contains(&key) {
                self.work.n_repetitions += 1;
                frame.numbers[child] = Numbers::UNDECIDED;
                continue;
            }
            if self.work.n_expanded >= end || table.is_crowded() || pause.is_cancelled() {
                return Ok(None);
            }
            let of_child = summary.thresholds(thresholds, frame.numbers[child]);
            let of_child = of_child.seen_by(frame.expansion.is_first);
            frame.chosen = child;
            self.state.set_words(frame.expansion.successors.words(child));
            self.push(key, of_child, expander, table)?;
        }
    }

    /// Takes over what others have decided about the children of the line.
    fn take_over(&mut self, table: &ProofTable) {
        for frame in &mut self.frames[..self.length] {
            let keys = frame.expansion.successors.keys();
            for (numbers, key) in frame.numbers.iter_mut().zip(keys) {
                if !numbers.is_final()
                    && let Some(known) = table.find(key.bits() ^ self.salt)
                    && known.is_final()
                {
                    *numbers = known.seen_by(frame.expansion.is_first);
                }
            }
        }
    }

    /// A child of a state of the line for another thread, whose key is not in `taken`. Where
    /// the role that chooses seems to lose, all its moves have to be refuted, so that no work
    /// is in vain; of such states the first one is taken, and of its open children the one that
    /// is the hardest to refute, as far as is known.
    pub(super) fn aside(&self, taken: &[u128]) -> Option<Aside> {
        let inner = || self.frames[..self.length.saturating_sub(1)].iter();
        let child = |frame: &Frame| {
            let key = |child: usize| frame.expansion.successors.key(child).bits() ^ self.salt;
            let is_free = |&child: &usize| {
                child != frame.chosen
                    && !frame.numbers[child].is_final()
                    && !taken.contains(&key(child))
            };
            let free = (0..frame.numbers.len()).filter(is_free);
            let child = free.min_by_key(|&child| frame.numbers[child].proof)?;
            let mut state = self.state.clone();
            state.set_words(frame.expansion.successors.words(child));
            Some(Aside { parent: frame.key, key: key(child), state, question: self.question })
        };
        let seems_lost = |frame: &&Frame| {
            let Numbers { proof, disproof } = Summary::of(&frame.numbers).numbers;
            proof > disproof
        };
        inner().filter(seems_lost).find_map(child).or_else(|| inner().find_map(child))
    }

    /// Whether a state that was set aside from this line is still on it, and nobody else
    /// searches it here.
    pub(super) fn has_aside(&self, aside: &Aside) -> bool {
        self.question == aside.question
            && self.line.contains(&aside.parent)
            && !self.line.contains(&aside.key)
    }

    /// Expands `self.state` and adds it to the line. The thresholds are seen by the first
    /// role.
    fn push(
        &mut self,
        key: u128,
        thresholds: Numbers,
        expander: &mut Expander,
        table: &ProofTable,
    ) -> Result<(), ProofError> {
        if self.frames.len() == self.length {
            self.frames.push(Frame::default());
        }
        let frame = &mut self.frames[self.length];
        let Frame { expansion, numbers, .. } = frame;
        expander.expand(&self.state, expansion)?;
        let is_first = expansion.is_first;
        numbers.clear();
        self.new.clear();
        let children = expansion.rewards.iter().zip(expansion.successors.keys());
        for (at, (reward, child)) in children.enumerate() {
            let known = match *reward {
                Some(reward) if reward >= self.question.at_least => Numbers::PROVEN,
                Some(_) => Numbers::DISPROVEN,
                None => table.find(child.bits() ^ self.salt).unwrap_or_else(|| {
                    self.new.push(at);
                    Numbers::NEW
                }),
            };
            numbers.push(known.seen_by(is_first));
        }
        self.estimate(key, expander, table)?;
        let frame = &mut self.frames[self.length];
        frame.key = key;
        frame.thresholds = thresholds.seen_by(is_first);
        frame.work = 1;
        self.work.n_expanded += 1;
        self.work.n_positions += frame.numbers.len() as u64;
        self.length += 1;
        self.work.longest = self.work.longest.max(self.length);
        self.line.insert(key);
        Ok(())
    }

    /// Estimates the children that are new by random playouts (Saito, Chaslot, Uiterwijk and
    /// van den Herik 2006), unless the state is decided or has no choice.
    fn estimate(
        &mut self,
        key: u128,
        expander: &mut Expander,
        table: &ProofTable,
    ) -> Result<(), ProofError> {
        let Frame { expansion, numbers, .. } = &mut self.frames[self.length];
        if self.new.len() < 2 || numbers.contains(&Numbers::PROVEN) {
            return Ok(());
        }
        self.starts.resize_with(self.new.len().max(self.starts.len()), State::default);
        let starts = &mut self.starts[..self.new.len()];
        for (start, &child) in starts.iter_mut().zip(&self.new) {
            start.set_words(expansion.successors.words(child));
        }
        expander.estimate(starts, key as u64, &mut self.means)?;
        for (&mean, &child) in self.means.iter().zip(&self.new) {
            let estimated = Numbers::estimated(mean);
            numbers[child] = estimated.seen_by(expansion.is_first);
            table.store(expansion.successors.key(child).bits() ^ self.salt, estimated, 0);
        }
        Ok(())
    }

    /// Takes the last state from the line. Gives the answer if it was the first, too.
    fn pop(&mut self, numbers: Numbers, table: &ProofTable) -> Option<Answer> {
        let frame = &self.frames[self.length - 1];
        let (key, work) = (frame.key, frame.work);
        let numbers = numbers.seen_by(frame.expansion.is_first);
        table.store(key, numbers, work);
        self.line.remove(&key);
        self.length -= 1;
        if self.length == 0 {
            return Some(match numbers {
                Numbers { proof: 0, .. } => Answer::Yes,
                Numbers { disproof: 0, .. } => Answer::No,
                _ => Answer::Undecided,
            });
        }
        let parent = &mut self.frames[self.length - 1];
        parent.work += work;
        parent.numbers[parent.chosen] = numbers.seen_by(parent.expansion.is_first);
        None
    }
}
