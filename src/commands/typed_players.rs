//! Players as typed on the command line.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use crate::failure::Failure;
use crate::manager::PlayerConfig;
use crate::spec::{Contestant, read_player};

/// Reads players. Those of the same name get a number each; notes say which.
///
/// # Errors
/// If one of them is not written as a player.
pub(super) fn typed_players(texts: &[String]) -> Result<(Vec<Contestant>, Notes), Failure> {
    let players = texts.iter().map(|text| read_player(text));
    let mut players = players.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let mut notes = Notes(Vec::new());
    let mut taken = BTreeSet::new();
    for (index, player) in players.iter_mut().enumerate() {
        let id = player.config.id.clone();
        let mut number = 1;
        while !taken.insert(player.config.id.clone()) {
            number += 1;
            let id = format!("{id}-{number}");
            player.config = Arc::new(PlayerConfig { id, ..(*player.config).clone() });
        }
        if number > 1 {
            let (nth, new) = (index + 1, &player.config.id);
            notes.0.push(format!("the name `{id}` is taken; player {nth} is called `{new}`"));
        }
    }
    Ok((players, notes))
}

/// New names of players, to be printed once nothing else is wrong.
pub(super) struct Notes(Vec<String>);

impl Notes {
    /// Prints them on standard error.
    pub(super) fn print(&self) -> std::io::Result<()> {
        let mut stderr = std::io::stderr().lock();
        self.0.iter().try_for_each(|note| writeln!(stderr, "note: {note}"))
    }
}
