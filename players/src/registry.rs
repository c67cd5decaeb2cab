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

/// Other names that [`find`] understands, with the name in the table.
const ALIASES: &[(&str, &str)] = &[
    ("alphabeta", "alpha_beta"),
    ("compulsive", "compulsive_deliberation"),
    ("planner", "sequential_planner"),
];

/// All kinds, in the order of presentation.
#[must_use]
pub fn kinds() -> &'static [PlayerKind] {
    KINDS
}

/// The kind called `name`. Hyphens stand for underscores, and some kinds have a
/// shorter name: `alphabeta`, `compulsive`, `planner`.
///
/// ```
/// let kind = players::find("Alpha-Beta").expect("it is built in");
/// assert_eq!(kind.name, "alpha_beta");
/// assert!(!kind.instant);
/// assert!(players::find("grandmaster").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static PlayerKind> {
    let name = name.replace('-', "_").to_ascii_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name.as_str(), |(_, target)| target);
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
    fn short_names_and_hyphens_are_understood() {
        for (name, found) in [
            ("alpha-beta", "alpha_beta"),
            ("AlphaBeta", "alpha_beta"),
            ("compulsive", "compulsive_deliberation"),
            ("planner", "sequential_planner"),
        ] {
            assert_eq!(find(name).map(|kind| kind.name), Some(found));
        }
    }

    #[test]
    fn nobody_answers_to_an_unknown_name() {
        assert!(find("").is_none());
        assert!(find("grandmaster").is_none());
    }
}
