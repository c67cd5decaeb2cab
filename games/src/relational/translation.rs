//! The rules of a game as clauses, translated once for all reasoners of the game.

use super::rules::{self, Rules};
use super::terms::{TermId, Terms};
use crate::Game;
use crate::state_machine::ReasoningError;

/// The clauses of a game and the terms in them.
#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) rules: Rules,
    pub(crate) terms: Terms,
    /// The role constants, in order.
    pub(crate) roles: Vec<TermId>,
}

impl Translation {
    /// Translates the rules of a game.
    ///
    /// # Errors
    /// If equations make the terms of some rule too large, or alternatives the rules.
    pub(crate) fn new(game: &Game) -> Result<Self, ReasoningError> {
        let mut terms = Terms::default();
        let roles = game.roles().iter().map(|&role| terms.constant(role)).collect();
        let rules = rules::rules(game, &mut terms)?;
        Ok(Self { rules, terms, roles })
    }

    /// A copy for another reasoner. Terms that one of them meets later do not become
    /// terms of the other.
    pub(crate) fn separate(&self) -> Self {
        Self { rules: self.rules.clone(), terms: self.terms.separate(), roles: self.roles.clone() }
    }
}
