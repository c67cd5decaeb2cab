//! The games that players of a spec cannot play.

use std::sync::Arc;

use games::Cancel;

use super::error::ExperimentError;
use crate::manager::PreparedGame;
use crate::spec::Spec;

/// A game that a player knows beforehand that it cannot play.
pub(super) struct Unsuitable {
    pub(super) game: usize,
    pub(super) player: usize,
    pub(super) reason: String,
}

/// The games that players know beforehand that they cannot play, but for those of hidden
/// information.
///
/// # Errors
/// If rules cannot be computed, or `cancel` is raised.
pub(super) fn unsuitable(
    spec: &Spec,
    games: &[Arc<PreparedGame>],
    cancel: &Cancel,
) -> Result<Vec<Unsuitable>, ExperimentError> {
    let mut found = Vec::new();
    for (at, game) in games.iter().enumerate() {
        let hides = game.game.kind().hidden_information;
        for (player, contestant) in spec.players.iter().enumerate() {
            if hides && !contestant.plays_hidden_information {
                continue;
            }
            if cancel.is_cancelled() {
                return Err(ExperimentError::Interrupted);
            }
            let reason = contestant.config.unsuitable(game.fork());
            let reason = reason.map_err(|source| ExperimentError::of_rules(&game.name, source))?;
            found.extend(reason.map(|reason| Unsuitable { game: at, player, reason }));
        }
    }
    Ok(found)
}
