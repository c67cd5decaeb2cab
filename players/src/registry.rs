//! The table of built-in players. A new player is one file and one line here.

use crate::kind::PlayerKind;

const KINDS: &[PlayerKind] = &[
    crate::legal::KIND,
    crate::random::KIND,
    crate::compulsive_deliberation::KIND,
    crate::incremental_deliberation::KIND,
    crate::sequential_planner::KIND,
    crate::random_then_plan::KIND,
    crate::conditional_planner::KIND,
    crate::minimax::KIND,
    crate::alpha_beta::KIND,
    crate::perfect::KIND,
    crate::monte_carlo::KIND,
    crate::mcts::KIND,
    crate::determinization::KIND,
    crate::information_set_search::KIND,
    crate::is_mcts::KIND,
    crate::cfr::KIND,
];

/// All kinds, in the order of presentation.
#[must_use]
pub fn kinds() -> &'static [PlayerKind] {
    KINDS
}

/// The kind called `name`.
///
/// ```
/// let kind = players::find("alpha_beta").expect("it is built in");
/// assert_eq!(kind.name, "alpha_beta");
/// assert!(!kind.instant);
/// assert!(players::find("grandmaster").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static PlayerKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn every_kind_is_found_by_its_name_and_made_from_defaults() {
        for kind in kinds() {
            assert_eq!(find(kind.name).map(|found| found.name), Some(kind.name));
            assert!((kind.make)(&Options::new()).is_ok(), "{}", kind.name);
            assert!((kind.make)(&Options::new().with("seed", 7)).is_ok(), "{}", kind.name);
            assert!((kind.make)(&Options::new().with("seed", "x")).is_err(), "{}", kind.name);
            assert!((kind.make)(&Options::new().with("no_such", 1)).is_err(), "{}", kind.name);
        }
    }

    #[test]
    fn a_kind_has_one_name() {
        for name in ["", "grandmaster", "alphabeta", "alpha-beta", "Minimax"] {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
