//! Plays each of some lanes to its end, once. Lanes that have ended wait for the others.

use smallvec::SmallVec;

use super::in_frames::{InFrames, Joining};
use super::slots::{Advance, Slots};
use crate::PlayoutPolicy;
use crate::compiled_network::features::Kernel;
use crate::compiled_network::lanes::Lanes;

/// What the caller wants while lanes are played.
pub(crate) struct Watch<'a> {
    /// Called before each step with the number of states entered so far; the lanes are
    /// abandoned when it returns `false`.
    pub(crate) go_on: &'a mut dyn FnMut(u64) -> bool,
    /// A lane whose moves are written down, and for each of its steps the index of each
    /// role's move.
    pub(crate) recorded: Option<(usize, &'a mut Vec<usize>)>,
    /// The moves to prefer. If there is one, the lanes of each move are noted.
    pub(crate) policy: Option<&'a PlayoutPolicy>,
}

/// How lanes were played.
#[derive(Clone, Debug)]
pub(crate) struct PlayedOut {
    /// The lanes that reached a terminal state, whose facts they keep.
    pub(crate) terminal: SmallVec<[u64; 8]>,
    /// Steps of the longest of these.
    pub(crate) longest: u32,
    /// States entered.
    pub(crate) n_states: u64,
    /// No lane was abandoned.
    pub(crate) is_whole: bool,
}

/// Lanes that are played.
pub(super) struct LastSteps<'a, 'w, B: Lanes> {
    pub(super) slots: &'a mut Slots<B>,
    pub(super) running: B,
    /// When they begin.
    pub(super) joining: SmallVec<[Joining<B>; 4]>,
    /// If they are kept in the same time frames.
    pub(super) in_frames: Option<InFrames>,
    pub(super) max_length: u32,
    pub(super) watch: &'a mut Watch<'w>,
}

impl<B: Lanes> Kernel for LastSteps<'_, '_, B> {
    type Output = PlayedOut;
    type Proof = B::Proof;

    #[inline(always)]
    fn run(mut self) -> PlayedOut {
        let mut ended = self.end_at_start();
        let (mut n_states, mut longest) = (0, 0);
        let mut is_whole = true;
        for time in 0.. {
            if let Some(in_frames) = &self.in_frames {
                self.slots.enter_frame(Some(in_frames.frame()));
            }
            self.join(time);
            if self.running.any() {
                self.slots.compute_state();
                let terminal = *self.slots.terminal() & self.running;
                if terminal.any() {
                    ended |= terminal;
                    longest = self.longest(terminal, time).max(longest);
                    self.running &= !terminal;
                }
                self.cut(time);
            }
            if !self.running.any() && self.joining.iter().all(|joining| joining.wait <= time) {
                break;
            }
            if self.running.any() {
                is_whole = (self.watch.go_on)(n_states);
                if !is_whole {
                    break;
                }
                self.running = match self.watch.policy {
                    None => self.slots.choose(self.running),
                    Some(_) => self.slots.choose_by_policy(self.running),
                };
                if self.watch.recorded.is_some() {
                    self.record();
                }
                n_states += self.running.count();
                Advance { slots: &mut *self.slots, moving: self.running }.run();
            }
            if let Some(in_frames) = &mut self.in_frames {
                in_frames.go_on();
            }
        }
        self.slots.enter_frame(None);
        self.slots.moving = self.running.empty();
        PlayedOut { terminal: SmallVec::from_slice(ended.words()), longest, n_states, is_whole }
    }
}

impl<B: Lanes> LastSteps<'_, '_, B> {
    /// Ends the lanes that are terminal where they begin, if these are kept in time frames, of which
    /// the code is right only after a step. Gives these lanes.
    #[inline(always)]
    fn end_at_start(&mut self) -> B {
        let mut ended = self.running.empty();
        if self.in_frames.is_none() {
            return ended;
        }
        self.slots.compute_state();
        let terminal = *self.slots.terminal();
        for joining in &mut self.joining {
            ended |= joining.lanes & terminal;
            joining.lanes &= !terminal;
        }
        ended
    }

    /// Begins with the lanes whose time it is.
    #[inline(always)]
    fn join(&mut self, time: usize) {
        for joining in self.joining.iter().filter(|joining| joining.wait == time) {
            self.running |= joining.lanes;
        }
    }

    /// Gives up the lanes that have made the greatest number of steps.
    #[inline(always)]
    fn cut(&mut self, time: usize) {
        let max_length = self.max_length as usize;
        for joining in
            self.joining.iter().filter(|joining| time.checked_sub(joining.wait) == Some(max_length))
        {
            self.running &= !joining.lanes;
        }
    }

    /// The steps that the longest of some running lanes has made.
    #[inline(always)]
    fn longest(&self, lanes: B, time: usize) -> u32 {
        let of_lanes = self.joining.iter().filter(|joining| (joining.lanes & lanes).any());
        of_lanes.map(|joining| (time - joining.wait) as u32).max().unwrap_or(0)
    }

    /// Writes down the moves of the lane that is recorded.
    #[cold]
    fn record(&mut self) {
        let Some((lane, moves)) = &mut self.watch.recorded else { return };
        if !self.running.has(*lane) {
            return;
        }
        let program = &self.slots.program;
        for role in program.network().role_ids() {
            let n_moves = program.network().roles[usize::from(role.0)].moves.len();
            let made =
                (0..n_moves).find(|&index| self.slots.slots[program.does(role, index)].has(*lane));
            moves.push(made.expect("a running lane has a move of each role"));
        }
    }
}
