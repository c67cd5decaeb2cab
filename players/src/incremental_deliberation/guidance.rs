//! How an evaluation guides the growth of the tree and the choice of a move.
//!
//! Each state has an estimate besides its bounds: that of the evaluation, or, once it is expanded,
//! what its moves look worth by the estimates below. This is best-first minimax search (Korf and
//! Chickering, "Best-first minimax search", Artificial Intelligence 1996), but among states with
//! equal bounds only. An estimate is never part of a bound; it is read within the bounds, so that
//! what is proven is never estimated.
//!
//! Estimates are renewed on the way down to the state that was expanded, and not on other ways to
//! it: where play runs in circles, that would not end.

use std::cmp::Ordering;

use games::State;

use super::{Growth, OwnMove, Tree};
use crate::search::{Halt, worst};

/// The estimate of a state of which nothing is known.
const UNKNOWN: f64 = 50.0;

impl Tree {
    /// What a state looks worth.
    fn estimate(&self, at: usize) -> f64 {
        let node = &self.nodes[at];
        // Means over chance may differ in the last place.
        node.estimate.unwrap_or(UNKNOWN).min(node.upper).max(node.lower)
    }

    /// What the state after a joint reply looks worth: the mean over chance.
    pub(super) fn estimate_of_reply(&self, outcomes: &[u32]) -> f64 {
        outcomes.iter().map(|&at| self.estimate(at as usize)).sum::<f64>() / outcomes.len() as f64
    }

    /// What one of my moves looks worth: as much as the reply that looks worst.
    pub(super) fn estimate_of_move(&self, own: OwnMove<'_>) -> f64 {
        let replies = own.replies().map(|outcomes| self.estimate_of_reply(outcomes));
        replies.fold(100.0, f64::min)
    }

    /// Which of two looks better by its estimate, if states have estimates.
    pub(super) fn compare<T>(
        &self,
        is_guided: bool,
        estimate: impl Fn(T) -> f64,
        one: T,
        other: T,
    ) -> Ordering {
        match is_guided {
            true => estimate(one).total_cmp(&estimate(other)),
            false => Ordering::Equal,
        }
    }

    /// Renews the estimates on the way that was descended last, from its end on.
    pub(super) fn renew_estimates(&mut self) {
        for step in (0..self.way.len()).rev() {
            let at = self.way[step];
            let moves = self.nodes[at].moves().map(|own| self.estimate_of_move(own));
            let best = moves.reduce(f64::max);
            let node = &mut self.nodes[at];
            node.estimate = best.or(node.estimate);
        }
    }
}

impl Growth<'_> {
    /// Estimates a state that is new to the tree, if there is an evaluation. It is not expanded
    /// yet, so its bounds stay as they are also if the match ends there.
    pub(super) fn estimate(
        &mut self,
        tree: &mut Tree,
        at: usize,
        state: &State,
    ) -> Result<(), Halt> {
        let Some(judge) = self.judge.as_deref_mut() else { return Ok(()) };
        if tree.nodes[at].estimate.is_some() {
            return Ok(());
        }
        let me = self.roles.me;
        let estimate = match self.machine.is_terminal(state)? {
            true => f64::from(worst(&self.machine.goal(state, me)?)),
            false => match judge.value(self.machine, state, me, &mut self.stopwatch) {
                // The node budget ended playouts: the state is expanded all the same.
                Err(Halt::Due) if self.stopwatch.poll_time().is_ok() => return Ok(()),
                value => value?,
            },
        };
        tree.nodes[at].estimate = Some(estimate);
        Ok(())
    }
}
