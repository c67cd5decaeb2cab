//! The table of built-in players. A new player is one file and one line here.

use crate::{OptionError, Options, Player};
use crate::{
    alpha_beta, compulsive_deliberation, legal, minimax, monte_carlo, random, sequential_planner,
};

/// The type and the meaning of one option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name as written in a spec, such as `depth`.
    pub name: &'static str,
    /// What is accepted, in words: `whole number from 0`, `true or false`, `list of moves`, ...
    pub accepts: &'static str,
    /// The default, as it would be written.
    pub default: &'static str,
    /// One sentence on what it does.
    pub help: &'static str,
}

/// The option that every kind takes besides its own.
pub const SEED: OptionSpec = OptionSpec {
    name: "seed",
    accepts: "whole number",
    default: "the match's seed alone",
    help: "Mixed with the match's seed, so that two copies of a player differ in what they draw.",
};

/// One kind of built-in player.
pub struct PlayerKind {
    /// Name as written in a spec, such as `alpha_beta`.
    pub name: &'static str,
    /// One sentence on how it plays.
    pub summary: &'static str,
    /// Its options; every kind also takes [`SEED`].
    pub options: &'static [OptionSpec],
    /// Answers without thinking, so that it may run on the manager's thread.
    pub instant: bool,
    /// Can play games with hidden information (GDL-II with `sees`).
    pub plays_hidden_information: bool,
    /// Makes a player from checked options.
    pub make: fn(&Options) -> Result<Box<dyn Player>, OptionError>,
}

const KINDS: &[PlayerKind] = &[
    legal::KIND,
    random::KIND,
    compulsive_deliberation::KIND,
    sequential_planner::KIND,
    minimax::KIND,
    alpha_beta::KIND,
    monte_carlo::KIND,
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
