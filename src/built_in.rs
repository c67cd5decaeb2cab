//! The kinds of players that gamemaster has: those of the crate `players`, and a person.

use players::PlayerKind;

use crate::human;

/// All kinds, in the order of presentation.
pub(crate) fn kinds() -> impl Iterator<Item = &'static PlayerKind> {
    players::kinds().iter().chain([&human::KIND])
}

/// The kind called `name`.
pub(crate) fn find(name: &str) -> Option<&'static PlayerKind> {
    kinds().find(|kind| kind.name == name)
}

/// Why a player that does not play games of hidden information cannot play one, and which can.
pub(crate) fn without_hidden_information() -> String {
    let able = kinds().filter(|kind| kind.plays_hidden_information);
    let able = able.map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    format!("the game has hidden information; built-in players that can: {able}")
}
