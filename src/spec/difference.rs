//! The differences of two lock files.

use toml::{Table, Value};

/// Keys that do not affect what is played.
const IDLE: [&str; 4] = ["name", "jobs", "record", "lock"];

/// The names of what differs between the specs of two lock files; empty if they
/// cannot be read.
#[must_use]
pub fn differences(one: &str, other: &str) -> Vec<String> {
    let (Ok(one), Ok(other)) = (one.parse::<Table>(), other.parse::<Table>()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = one
        .keys()
        .chain(other.keys().filter(|key| !one.contains_key(*key)))
        .filter(|key| !IDLE.contains(&key.as_str()) && one.get(*key) != other.get(*key))
        .map(|key| format!("`{key}`"))
        .collect();
    for (hashes, what) in [("game_hashes", "rulesheet of"), ("player_hashes", "player")] {
        let of = |table: &Table| -> Table {
            let lock = table.get("lock").and_then(Value::as_table);
            lock.and_then(|lock| lock.get(hashes)?.as_table()).cloned().unwrap_or_default()
        };
        let (one, other) = (of(&one), of(&other));
        let both = one.iter().filter_map(|(name, hash)| Some((name, hash, other.get(name)?)));
        found.extend(
            both.filter(|(_, one, other)| one != other)
                .map(|(name, ..)| format!("{what} `{name}`")),
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
        assert_eq!(differences(&lock(1, "a"), &lock(1, "a")), [""; 0]);
        assert_eq!(differences(&lock(1, "a"), &lock(2, "b")), ["`seed`", "rulesheet of `nim`"]);
        assert_eq!(differences("", "no toml"), [""; 0]);
    }
}
