//! Code of its own for the next facts after joint moves that are often made.
//!
//! The code for any move computes every fact from all moves that could change it. After a known
//! move, most facts are what they were, and few gates are left of the others. Compiling takes as
//! long as some hundred steps save, so a joint move gets code once it was made that often.

use std::sync::{Arc, Mutex, TryLockError};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::position_classes::Step;
use crate::Network;
use crate::compiled_network::machine::Routine;
use crate::compiled_network::packed::{PackedProgram, after_joint_moves};
use crate::network::Lit;

/// The inputs of a joint move.
type JointMove = SmallVec<[u32; 4]>;

/// A joint move gets code when it was made this many times, or more often if code saves little.
/// Unit tests make moves less often.
const OFTEN: u32 = if cfg!(test) { 20 } else { 400 };
/// How often a function must be run to save as much time as it takes to compile, if it saves as
/// many bytes as it has.
const WORTH: usize = 3000;
/// Code for any move of this many bytes or less is as fast as any other: which function is called
/// cannot be predicted.
const SHORT: usize = if cfg!(test) { 1 } else { 1800 };
/// Functions longer than this must have at most half the bytes of the code for any move: that one
/// stays in the CPU's caches, and of many functions each is fetched anew.
const LONG: usize = 4096;
/// Joint moves that get code at once, if the network is small.
const PORTION: usize = 16;
/// Maximum number of nodes of the network that are looked at for a portion, so that no caller
/// waits long.
const PORTION_NODES: usize = 40_000;
/// Joint moves that are made often wait for others at most for this many steps.
const PATIENCE: u32 = if cfg!(test) { 200 } else { 8000 };
/// Joint moves are repeated if one step in 16 of a walk makes a move that an earlier step made.
const AGAIN: usize = 16;
/// Maximum number of joint moves that may get code.
const MOST: usize = 1 << 15;

/// A function, and the number of its slots.
#[derive(Clone, Debug)]
struct Function {
    routine: Arc<Routine>,
    number: usize,
    n_slots: usize,
}

/// What all evaluators of a position class have compiled.
#[derive(Debug, Default)]
pub(super) struct SharedJointCode(Mutex<Compiled>);

#[derive(Debug, Default)]
struct Compiled {
    /// By key.
    functions: FxHashMap<u32, Function>,
    /// It was found that code of its own saves too little.
    is_useless: bool,
}

/// The code that an evaluator has for joint moves in a position class.
#[derive(Debug, Default)]
pub(super) struct JointCode {
    /// The key of a joint move is the sum of its inputs, each times the role's stride, less
    /// `first`.
    strides: Box<[u32]>,
    first: u32,
    /// By key: how often the joint move was made, or [`CODED`] and its function. Empty if none
    /// gets code.
    entries: Vec<u32>,
    often: u32,
    /// Bytes of the code for any move.
    n_bytes: usize,
    functions: Vec<Function>,
    /// The joint moves that wait for code, with their keys.
    waiting: Vec<(u32, JointMove)>,
    patience: u32,
}

/// The bit of an entry that has code.
const CODED: u32 = 1 << 31;
/// More often than any entry can count.
const NEVER: u32 = CODED;

/// Whether joint moves are repeated in a walk through the game. If so, the game has so few of them
/// (a few thousand at most) that in the long run most are made often enough to get code.
pub(super) fn come_again(walk: &[Step]) -> bool {
    let mut seen = FxHashSet::default();
    let made = walk.iter().map(|(_, moves)| moves).filter(|moves| !moves.is_empty());
    let n_again = made.filter(|moves| !seen.insert(*moves)).count();
    n_again * AGAIN >= walk.len()
}

impl JointCode {
    /// Of a program, no code yet.
    pub(super) fn new(program: &PackedProgram) -> Self {
        let n_bytes = program.n_next_bytes();
        if n_bytes <= SHORT {
            return Self::default();
        }
        let network = &program.network;
        let mut code = Self { often: OFTEN, n_bytes, patience: PATIENCE, ..Self::default() };
        let mut n_keys = 1_usize;
        let mut strides = Vec::new();
        for (id, role) in network.role_ids().zip(&network.roles) {
            // A role's only move says nothing.
            let n_possible = role.legal.iter().filter(|&&legal| legal != Lit::FALSE).count();
            let stride = if n_possible > 1 { n_keys as u32 } else { 0 };
            strides.push(stride);
            code.first = code.first.wrapping_add(network.first_move(id) as u32 * stride);
            if n_possible > 1 {
                n_keys *= role.moves.len();
            }
            if n_keys > MOST {
                return Self::default();
            }
        }
        (code.strides, code.entries) = (strides.into(), vec![0; n_keys]);
        code
    }

    /// Computes the next facts if there is code for the joint move; else counts it.
    #[inline(always)]
    pub(super) fn run(&mut self, moves: &[u32], slots: &mut [u64]) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let products = moves.iter().zip(&self.strides);
        let sum: u32 = products.map(|(input, stride)| input.wrapping_mul(*stride)).sum();
        let key = sum.wrapping_sub(self.first);
        let Some(entry) = self.entries.get_mut(key as usize) else { return false };
        if *entry & CODED != 0 {
            let function = &self.functions[(*entry & !CODED) as usize];
            function.routine.run_one(function.number, slots);
            return true;
        }
        *entry = (*entry + 1).min(CODED - 1);
        if *entry == self.often {
            self.waiting.push((key, moves.into()));
        }
        self.patience = self.patience.saturating_sub(1);
        false
    }

    /// The number of joint moves that have code.
    #[cfg(test)]
    pub(super) fn n_functions(&self) -> usize {
        self.functions.len()
    }

    /// Whether [`compile`](Self::compile) has something to do.
    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.waiting.len() >= PORTION || self.patience == 0
    }

    /// Compiles code for joint moves that wait, unless others have. Returns the number of slots
    /// that it takes.
    #[cold]
    pub(super) fn compile(&mut self, network: &Network, shared: &SharedJointCode) -> usize {
        self.patience = PATIENCE;
        let mut known = match shared.0.try_lock() {
            Ok(known) => known,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another evaluator compiles. This one asks again later.
            Err(TryLockError::WouldBlock) => return 0,
        };
        let before = self.often;
        let n = (PORTION_NODES / network.graph.n_nodes()).clamp(1, PORTION);
        if known.is_useless {
            *self = Self { patience: PATIENCE, ..Self::default() };
            return 0;
        }
        let is_new = |(key, _): &&(u32, JointMove)| !known.functions.contains_key(key);
        let (keys, joint_moves): (Vec<u32>, Vec<JointMove>) =
            self.waiting.iter().filter(is_new).take(n).cloned().unzip();
        if !keys.is_empty() {
            let Some((routine, n_slots)) = after_joint_moves(network, &joint_moves) else {
                *self = Self::default();
                return 0;
            };
            // The size of this code is an estimate for the code of other joint moves.
            let n_bytes = routine.n_bytes() / keys.len();
            if n_bytes > LONG && 2 * n_bytes > self.n_bytes {
                known.is_useless = true;
                *self = Self { patience: PATIENCE, ..Self::default() };
                return 0;
            }
            let saved = self.n_bytes.saturating_sub(n_bytes);
            let often = (WORTH * n_bytes).checked_div(saved).map_or(NEVER, |often| {
                // Bytes tell the time roughly.
                often.clamp(OFTEN as usize, 12 * OFTEN as usize) as u32
            });
            self.often = often;
            let routine = Arc::new(routine);
            for (number, key) in keys.into_iter().enumerate() {
                known
                    .functions
                    .insert(key, Function { routine: Arc::clone(&routine), number, n_slots });
            }
        }
        let Self { waiting, functions, entries, often, .. } = self;
        let mut most = 0;
        waiting.retain(|(key, _)| {
            let Some(function) = known.functions.get(key) else { return true };
            most = most.max(function.n_slots);
            entries[*key as usize] = CODED | functions.len() as u32;
            functions.push(function.clone());
            false
        });
        if *often > before {
            // They are counted anew: they may have been made more often by now, and less.
            waiting.drain(..).for_each(|(key, _)| entries[key as usize] = 0);
        }
        most
    }
}
