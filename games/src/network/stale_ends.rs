//! Conditions of the end that a step cannot bring about.
//!
//! A move is made only in positions that are not terminal, so no condition of the end holds there.
//! Where a step leaves alone all that such a condition rests on, it does not hold after the step
//! either: no line of stones is completed by the other role's move. This is induction over one
//! step. (Sheeran, Singh and Stålmarck, "Checking safety properties using induction and a
//! SAT-solver", 2000; here no solver is needed.)

use smallvec::SmallVec;

use super::cofactor::folding_with_moves;
use super::{Lit, Network};

/// Maximum number of conditions; if there are more, none is left out.
const MAX_CONDITIONS: usize = 1000;

/// The conditions each of which ends the game.
#[derive(Clone, Debug)]
pub(super) struct EndConditions {
    conditions: SmallVec<[Lit; 8]>,
}

impl EndConditions {
    pub(super) fn new(network: &Network) -> Self {
        let absent: SmallVec<[Lit; 8]> =
            network.graph.factors(!network.terminal, MAX_CONDITIONS).unwrap_or_default();
        let is_open = |absent: &Lit| !absent.is_constant();
        Self { conditions: absent.into_iter().filter(is_open).map(|absent| !absent).collect() }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Lit] {
        &self.conditions
    }

    /// The conditions that hold after no step from a position where these literals hold.
    pub(super) fn stale(&self, network: &Network, known: &[Lit]) -> Vec<Lit> {
        if self.conditions.is_empty() {
            return Vec::new();
        }
        let (_, same_as) = folding_with_moves(network, known);
        let mut is_left_alone = vec![false; network.graph.n_nodes()];
        is_left_alone[0] = true;
        for (fact, next) in network.next.iter().enumerate() {
            is_left_alone[1 + fact] = next.replaced_by(&same_as) == same_as[1 + fact];
        }
        for (node, operands) in network.graph.ands() {
            is_left_alone[node as usize] =
                operands.iter().all(|operand| is_left_alone[operand.node() as usize]);
        }
        let is_stale = |condition: &Lit| is_left_alone[condition.node() as usize];
        self.conditions.iter().copied().filter(is_stale).collect()
    }
}
