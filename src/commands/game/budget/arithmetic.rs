//! The arithmetic of search: nodes, depths and years, also where they exceed any float.

/// Of the Julian calendar.
pub(super) const SECONDS_A_YEAR: f64 = 31_557_600.0;

/// A number as its logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Power {
    log10: f64,
}

impl Power {
    /// The decimal logarithm.
    pub(super) fn log10(self) -> f64 {
        self.log10
    }
}

/// Years to visit `nodes`.
pub(super) fn in_years(nodes: Power, nodes_per_second: f64) -> Power {
    Power { log10: nodes.log10 - nodes_per_second.log10() - SECONDS_A_YEAR.log10() }
}

/// A tree that is the same everywhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    /// Moves in each state.
    pub(super) branching: f64,
    /// Outcomes of chance between two moves, 1 without chance.
    pub(super) outcomes: f64,
}

impl Tree {
    /// Nodes at a depth, which counts moves of players: b^d n^(d-1).
    pub(super) fn nodes(self, depth: f64) -> Power {
        let rolls = (depth - 1.0).max(0.0);
        Power { log10: depth * self.branching.log10() + rolls * self.outcomes.log10() }
    }

    /// The depth at which there are `nodes` nodes; `None` if there is never a choice.
    pub(super) fn depth(self, nodes: f64) -> Option<f64> {
        let a_move = self.branching.log10() + self.outcomes.log10();
        (a_move > 0.0).then(|| (nodes.log10() + self.outcomes.log10()) / a_move)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHESS: Tree = Tree { branching: 35.0, outcomes: 1.0 };

    /// AIMA: 100 s at 10^4 nodes/s are 10^6 nodes, about 35^(8/2).
    #[test]
    fn the_budget_of_a_chess_program() {
        let found = CHESS.depth(1e6).unwrap();
        assert!((found - 3.886).abs() < 1e-3, "{found}");
        assert_eq!((2.0 * found).round(), 8.0);
        assert!((CHESS.nodes(4.0).log10() - 1_500_625_f64.log10()).abs() < 1e-12);
    }

    /// 35^50 has 78 digits.
    #[test]
    fn pruning_does_not_make_chess_possible() {
        let nodes = CHESS.nodes(50.0);
        assert!((nodes.log10() - 77.203).abs() < 1e-3);
        assert!((in_years(nodes, 1e4).log10() - 65.704).abs() < 1e-3);
    }

    /// Backgammon: 20 (21 * 20)^3 nodes.
    #[test]
    fn chance_comes_between_two_moves() {
        let backgammon = Tree { branching: 20.0, outcomes: 21.0 };
        let nodes = backgammon.nodes(4.0).log10();
        assert!((nodes - 1_481_760_000_f64.log10()).abs() < 1e-12);
        assert!((backgammon.depth(10f64.powf(nodes)).unwrap() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn without_a_choice_any_depth_is_reached() {
        assert_eq!(Tree { branching: 1.0, outcomes: 1.0 }.depth(1e6), None);
    }
}
