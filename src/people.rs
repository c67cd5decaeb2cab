//! Which players are people, who play only where they are asked one step at a time.

use crate::human;
use crate::manager::PlayerConfig;

/// Whether the player is a person.
pub(crate) fn is_person(player: &PlayerConfig) -> bool {
    player.kind() == Some(human::KIND.name)
}

/// Why these players cannot be asked unseen, several at once; `None` if nobody is a person.
pub(crate) fn refusal<'a>(mut players: impl Iterator<Item = &'a PlayerConfig>) -> Option<String> {
    players.find(|player| is_person(player)).map(|player| {
        let id = &player.id;
        format!("{id} is a person, who can play only in `gamemaster play`; name another player")
    })
}
