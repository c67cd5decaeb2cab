//! A player as an entry of a spec's list: a table, or a word as on the command line.

use std::fmt;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::player_fields::PlayerFields;

/// An entry of `players`.
#[derive(Debug)]
pub(super) enum PlayerEntry {
    /// A word: `"alpha_beta:depth=4"`.
    Word(String),
    /// A table.
    Fields(PlayerFields),
}

/// Where an entry of `players` is; nowhere for a player of the command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// All of it.
    pub(super) span: Range<usize>,
    /// Its index in the list.
    pub(super) index: usize,
}

impl<'de> Deserialize<'de> for PlayerEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // An untagged enum would not say what was expected.
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = PlayerEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a player such as \"mcts\", or a table with a `kind`, `url` or `command`")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<PlayerEntry, E> {
        Ok(PlayerEntry::Word(word.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PlayerEntry, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(PlayerEntry::Fields)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::spec::{self, Overrides, lock_text};

    /// The canonical form of a spec with these players.
    fn canonical(players: &str) -> String {
        let text = format!("games = [\"nim\"]\n{players}");
        let spec = spec::read(&text, "words", Path::new(""), &Overrides::default());
        lock_text(&spec.expect("the spec is valid"))
    }

    #[test]
    fn a_word_says_the_same_as_a_table() {
        let words = r#"players = ["mcts", "deep=alpha_beta:depth=4", "http://127.0.0.1:9147"]"#;
        let tables = r#"
            [[players]]
            kind = "mcts"
            [[players]]
            id = "deep"
            kind = "alpha_beta"
            depth = 4
            [[players]]
            url = "http://127.0.0.1:9147"
        "#;
        assert_eq!(canonical(words), canonical(tables));
        let both = r#"players = ["mcts", { id = "deep", kind = "alpha_beta", depth = 4 },
                      "http://127.0.0.1:9147"]"#;
        assert_eq!(canonical(words), canonical(both));
    }
}
