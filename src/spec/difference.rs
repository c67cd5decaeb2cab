//! The differences of two lock files.

use std::fmt;

use toml::{Table, Value};

/// Keys that do not affect what is played.
const IDLE: [&str; 4] = ["name", "jobs", "record", "lock"];

/// One difference between two specs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The value of a key.
    Key(String),
    /// The rulesheet of a game.
    Rulesheet(String),
    /// A player of the same id.
    Player(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) => write!(f, "`{name}`"),
            Self::Rulesheet(game) => write!(f, "rulesheet of `{game}`"),
            Self::Player(id) => write!(f, "player `{id}`"),
        }
    }
}

type NamedDifference = fn(String) -> Difference;

/// What differs between the specs of two lock files; empty if they
/// cannot be read.
#[must_use]
pub fn differences(one: &str, other: &str) -> Vec<Difference> {
    let (Ok(one), Ok(other)) = (one.parse::<Table>(), other.parse::<Table>()) else {
        return Vec::new();
    };
    let mut found: Vec<Difference> = one
        .keys()
        .chain(other.keys().filter(|key| !one.contains_key(*key)))
        .filter(|key| !IDLE.contains(&key.as_str()) && one.get(*key) != other.get(*key))
        .map(|key| Difference::Key(key.clone()))
        .collect();
    let kinds: [(&str, NamedDifference); 2] =
        [("game_hashes", Difference::Rulesheet), ("player_hashes", Difference::Player)];
    for (hashes, difference) in kinds {
        let of = |table: &Table| -> Table {
            let lock = table.get("lock").and_then(Value::as_table);
            lock.and_then(|lock| lock.get(hashes)?.as_table()).cloned().unwrap_or_default()
        };
        let (one, other) = (of(&one), of(&other));
        let both = one.iter().filter_map(|(name, hash)| Some((name, hash, other.get(name)?)));
        found.extend(
            both.filter(|(_, one, other)| one != other).map(|(name, ..)| difference(name.clone())),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let lock = |seed: u32, hash: &str| {
            format!("seed = {seed}\njobs = {seed}\n[lock.game_hashes]\nnim = \"{hash}\"\n")
        };
        assert_eq!(differences(&lock(1, "a"), &lock(1, "a")), []);
        assert_eq!(
            differences(&lock(1, "a"), &lock(2, "b")),
            [Difference::Key("seed".into()), Difference::Rulesheet("nim".into())]
        );
        assert_eq!(differences("", "no toml"), []);
    }
}
