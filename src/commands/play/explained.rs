//! The record of a match with what the players report on their answers.

use results::record::MatchRecord;
use serde::Serialize;

use crate::event::EventKind;
use crate::explanation::Explanation;

/// What the players reported, `None` where one says nothing.
#[derive(Debug, Default, Serialize)]
pub(super) struct Explanations {
    /// By role: on the start clock.
    start: Vec<Option<Explanation>>,
    /// By step and role.
    steps: Vec<Vec<Option<Explanation>>>,
}

impl Explanations {
    /// Takes over what an event of the match says.
    pub(super) fn note(&mut self, event: &EventKind) {
        let owned = |said: &Option<Box<Explanation>>| said.as_deref().cloned();
        match event {
            EventKind::PlayersReady { roles, .. } => {
                self.start = roles.iter().map(|role| owned(&role.explanation)).collect();
            }
            EventKind::MovesPlayed { decisions, .. } => {
                self.steps.push(decisions.iter().map(|it| owned(&it.explanation)).collect());
            }
            _ => {}
        }
    }
}

/// One JSON object.
#[derive(Serialize)]
pub(super) struct Explained<'a> {
    #[serde(flatten)]
    pub(super) record: &'a MatchRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) explanations: Option<Explanations>,
}
