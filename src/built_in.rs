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
