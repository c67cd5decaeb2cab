//! Playouts that are kept in the same time frames, so that code for these can compute them.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::State;
use crate::compiled_network::lanes::Lanes;
use crate::network::time_frames::{Starts, TimeFrames};

/// The step at which playouts are.
#[derive(Clone, Debug)]
pub(super) struct InFrames {
    time_frames: Arc<TimeFrames>,
    /// The step of the first state.
    first: usize,
    step: usize,
    /// Steps made since all began.
    n_made: usize,
}

/// Lanes that begin at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joining<B> {
    /// After how many steps of the others.
    pub(super) wait: usize,
    pub(super) lanes: B,
}

impl InFrames {
    /// Playouts from a state; `None` if it is not known at which step it is.
    pub(super) fn from(time_frames: &Arc<TimeFrames>, state: &State) -> Option<Self> {
        Some(Self::at(time_frames, time_frames.step_of(state)?))
    }

    fn at(time_frames: &Arc<TimeFrames>, step: usize) -> Self {
        Self { time_frames: Arc::clone(time_frames), first: step, step, n_made: 0 }
    }

    /// A playout from each of some states, each in lanes of its own, and when these begin. `None`
    /// if it is not known of all states at which steps they are.
    pub(super) fn from_each<B: Lanes>(
        time_frames: &Arc<TimeFrames>,
        states: &[State],
        lanes: impl Fn(usize) -> B,
    ) -> Option<(Self, SmallVec<[Joining<B>; 4]>)> {
        let steps: Option<Vec<usize>> =
            states.iter().map(|state| time_frames.step_of(state)).collect();
        let steps = steps?;
        let in_frames = Self::at(time_frames, *steps.iter().min()?);
        let mut joining: SmallVec<[Joining<B>; 4]> = SmallVec::new();
        for (start, &step) in steps.iter().enumerate() {
            let (wait, lanes) = (time_frames.wait(in_frames.first, step), lanes(start));
            match joining.iter_mut().find(|joining| joining.wait == wait) {
                Some(joining) => joining.lanes |= lanes,
                None => joining.push(Joining { wait, lanes }),
            }
        }
        Some((in_frames, joining))
    }

    /// The frame.
    #[inline(always)]
    pub(super) fn frame(&self) -> usize {
        self.time_frames.frame(self.step)
    }

    /// Goes on to the next step.
    #[inline(always)]
    pub(super) fn go_on(&mut self) {
        self.step = self.time_frames.after(self.step);
        self.n_made += 1;
    }

    /// Whether other playouts from the first state may begin at this step. `is_empty` says that
    /// none is going on.
    #[inline(always)]
    pub(super) fn may_start(&self, is_empty: bool) -> bool {
        match self.time_frames.starts() {
            Starts::Every(period) => self.n_made.is_multiple_of(period),
            Starts::Together => is_empty,
        }
    }

    /// Returns to the first step if all playouts start together, else nothing. Returns whether it
    /// did.
    #[inline(always)]
    pub(super) fn restart_together(&mut self) -> bool {
        let is_so = self.time_frames.starts() == Starts::Together;
        if is_so {
            self.step = self.first;
        }
        is_so
    }
}
