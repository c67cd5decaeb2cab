//! The average reward of each move in playouts, whenever it was made, and the playouts that
//! prefer the moves above the average: MAST (Finnsson and Bjoernsson, "Simulation-based
//! approach to general game playing", AAAI 2008), with a fixed probability in place of a
//! Gibbs distribution (Tak, Winands and Bjoernsson, "N-grams and the last-good-reply policy
//! applied in general game playing", IEEE TCIAIG 2012).
//!
//! All lanes share one set of preferred moves for each role, so that the choice needs no
//! loop over lanes.

use games::{PlayoutPolicy, PlayoutSums, RoleId};

/// What counts of the playouts of the question before.
const KEPT: f64 = 0.2;
/// Playouts with a move before its average says something.
const ENOUGH: f64 = 32.0;

/// How playouts prefer moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preference {
    /// The probability of a preferred move where there is one; 0 for uniform playouts.
    pub(super) probability: f64,
    /// By how much a preferred move is above the average, for rewards from 0 to 1.
    pub(super) margin: f64,
}

/// Playouts with a move, and the sum of their rewards.
#[derive(Clone, Copy, Debug, Default)]
struct Average {
    n: f64,
    rewards: f64,
}

/// What playouts have shown of moves.
#[derive(Clone, Debug)]
pub(super) struct MoveAverages {
    preference: Preference,
    /// By role and move.
    averages: Vec<Vec<Average>>,
    policy: PlayoutPolicy,
}

impl MoveAverages {
    pub(super) fn new(n_roles: usize, preference: Preference) -> Self {
        Self {
            preference,
            averages: vec![Vec::new(); n_roles],
            policy: PlayoutPolicy::new(preference.probability),
        }
    }

    /// The policy of the next playouts; `None` if they are uniform.
    pub(super) fn policy(&self) -> Option<&PlayoutPolicy> {
        (self.preference.probability > 0.0).then_some(&self.policy)
    }

    /// Begins another question: what was seen before counts less.
    pub(super) fn age(&mut self) {
        for average in self.averages.iter_mut().flatten() {
            average.n *= KEPT;
            average.rewards *= KEPT;
        }
    }

    /// Learns from playouts.
    pub(super) fn learn(&mut self, sums: &PlayoutSums) {
        for (role, averages) in (0..).map(RoleId).zip(&mut self.averages) {
            let moves = sums.moves(role);
            averages.resize(moves.len().max(averages.len()), Average::default());
            let mut all = Average::default();
            for (average, sum) in averages.iter_mut().zip(moves) {
                average.n += sum.n as f64;
                average.rewards += sum.rewards as f64 / 100.0;
                all.n += average.n;
                all.rewards += average.rewards;
            }
            let least = all.rewards / all.n.max(1.0) + self.preference.margin;
            let is_preferred =
                |average: &Average| average.n >= ENOUGH && average.rewards > least * average.n;
            self.policy.prefer(role, averages.iter().map(is_preferred));
        }
    }
}
