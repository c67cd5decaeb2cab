//! A game as an entry of a spec's list: a table, or a name or path.

use std::fmt;
use std::ops::Range;

use games::Case;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use crate::game_source::deserialize_case;

/// An entry of `games`.
#[derive(Debug)]
pub(super) enum GameText {
    /// A shipped game, a path, or a path with `*`.
    Word(String),
    /// A game with more than its name.
    Table(GameTable),
}

/// A game with more than its name.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GameTable {
    pub(super) game: Spanned<String>,
    pub(super) name: Option<Spanned<String>>,
    #[serde(default, deserialize_with = "deserialize_case")]
    pub(super) case: Case,
    #[serde(default)]
    pub(super) lenient: bool,
    pub(super) weight: Option<Spanned<u32>>,
}

impl GameTable {
    /// Where the game gets its name.
    pub(super) fn name_span(&self) -> Range<usize> {
        self.name.as_ref().unwrap_or(&self.game).span()
    }
}

impl<'de> Deserialize<'de> for GameText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // An untagged enum would lose the places of the keys.
        deserializer.deserialize_any(GameVisitor)
    }
}

struct GameVisitor;

impl<'de> Visitor<'de> for GameVisitor {
    type Value = GameText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a game as a name, a path or a [[games]] table")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<GameText, E> {
        Ok(GameText::Word(word.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GameText, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(GameText::Table)
    }
}
