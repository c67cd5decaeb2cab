//! A role of the command line.

use anyhow::anyhow;
use games::{Game, RoleId};

use crate::failure::Failure;

/// The role that `--role` names, which is not chance.
pub(super) fn role(game: &Game, wanted: &str) -> Result<RoleId, Failure> {
    let roles = game.role_ids().filter(|&role| Some(role) != game.random());
    roles.clone().find(|&role| game.role_name(role) == wanted).ok_or_else(|| {
        let known: Vec<&str> = roles.map(|role| game.role_name(role)).collect();
        Failure::usage(anyhow!("--role {wanted}: expected one of {}", known.join(", ")))
    })
}
