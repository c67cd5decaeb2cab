//! The record of a match with what the players report on their answers.

use games::StateMachine;
use results::record::MatchRecord;
use serde::Serialize;

use super::super::game_names::GameNames;
use super::super::plan_text::{self, StepData};
use super::super::possible_states::PossibleStates;
use crate::event::EventKind;
use crate::explanation::Explanation;

/// What a player reported on an answer, in the terms of `gamemaster explain --json`.
#[derive(Debug, Serialize)]
struct Reported {
    #[serde(flatten)]
    said: Explanation,
    /// The most probable states of its belief.
    #[serde(skip_serializing_if = "Option::is_none")]
    belief: Option<PossibleStates>,
    /// The beginning of its plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<StepData>>,
}

impl Reported {
    fn of(said: &Explanation, machine: &dyn StateMachine) -> Self {
        let said = said.clone();
        let belief = said.belief_to_show(machine.game());
        let belief = belief.map(|belief| PossibleStates::likeliest(belief, machine));
        let plan = said.plan_to_show();
        let plan = plan.map(|plan| plan_text::beginning(plan, &mut GameNames(machine)));
        Self { said, belief, plan }
    }
}

/// What the players reported, `None` where one says nothing.
#[derive(Debug, Default, Serialize)]
pub(super) struct Explanations {
    /// By role: on the start clock.
    start: Vec<Option<Reported>>,
    /// By step and role.
    steps: Vec<Vec<Option<Reported>>>,
}

impl Explanations {
    /// Takes over what an event of the match says. `machine` is one of the game.
    pub(super) fn note(&mut self, event: &EventKind, machine: &dyn StateMachine) {
        let reported = |said: &Option<Box<Explanation>>| {
            said.as_deref().map(|said| Reported::of(said, machine))
        };
        match event {
            EventKind::PlayersReady { roles, .. } => {
                self.start = roles.iter().map(|role| reported(&role.explanation)).collect();
            }
            EventKind::MovesPlayed { decisions, .. } => {
                self.steps.push(decisions.iter().map(|it| reported(&it.explanation)).collect());
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
