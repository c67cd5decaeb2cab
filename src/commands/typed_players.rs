//! Players as typed on the command line.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;

use crate::failure::Failure;
use crate::manager::PlayerConfig;
use crate::spec::{Contestant, read_player};

/// Reads players. Those of the same name get a number each.
///
/// # Errors
/// If one of them is not written as a player.
pub(super) fn typed_players(texts: &[String]) -> Result<Vec<Contestant>, Failure> {
    let players = texts.iter().map(|text| read_player(text));
    Ok(distinct(players.collect::<Result<_, _>>().map_err(Failure::usage)?)?)
}

/// Gives players of the same name a number each, with a note on standard error.
fn distinct(players: Vec<Contestant>) -> std::io::Result<Vec<Contestant>> {
    let mut stderr = std::io::stderr().lock();
    let mut taken = BTreeSet::new();
    players
        .into_iter()
        .map(|mut player| {
            let id = player.config.id.clone();
            let mut number = 1;
            while !taken.insert(player.config.id.clone()) {
                number += 1;
                let id = format!("{id}-{number}");
                player.config = Arc::new(PlayerConfig { id, ..(*player.config).clone() });
            }
            if number > 1 {
                let new = &player.config.id;
                writeln!(
                    stderr,
                    "note: `{id}` is the name of an earlier player, so this one is called `{new}`"
                )?;
            }
            Ok(player)
        })
        .collect()
}
