//! The kinds of players that gamemaster has: those of the crate `players`, and a person.

use players::PlayerKind;

use crate::human;

/// All kinds, in the order of presentation.
pub(crate) fn kinds() -> impl Iterator<Item = &'static PlayerKind> {
    players::kinds().iter().chain([&human::KIND])
}

/// The kind called `name`; see [`players::find`].
pub(crate) fn find(name: &str) -> Option<&'static PlayerKind> {
    // Nearly all names are those of the table; each match looks its players up.
    let exact = kinds().find(|kind| kind.name == name);
    exact.or_else(|| match name.eq_ignore_ascii_case(human::KIND.name) {
        true => Some(&human::KIND),
        false => players::find(name),
    })
}
