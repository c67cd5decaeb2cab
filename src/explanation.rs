//! A player's report on its reply, with moves as text.

use std::sync::Arc;

use games::{Game, MoveId, RoleId};
use players::{Candidate, Deliberation, ExpectedStep, LikelyStates, PlanStep, ValueBound};
use serde::{Serialize, Serializer};

/// Maximum number of steps of a line, and of letters of a step, that are kept.
const MAX_STEPS: usize = 16;
const MAX_LETTERS: usize = 200;
/// Maximum number of notes that are kept.
const MAX_NOTES: usize = 16;

/// A player's report on its reply: its [`Deliberation`] with moves as KIF text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Expected reward of the reply, 0 to 100.
    pub value: Option<f64>,
    /// Joint moves that the last finished iteration looked ahead.
    pub depth: u32,
    /// Deepest level reached, in joint moves.
    pub selective_depth: u32,
    /// The search ended by itself, not at the end of its time or nodes, or at the greatest depth
    /// that any search has.
    pub completed: bool,
    /// Terminal states and cut-offs evaluated.
    pub leaves: u64,
    /// Subtrees cut off without being entered.
    pub prunings: u64,
    /// States answered from the transposition table.
    pub table_hits: u64,
    /// Random playouts.
    pub playouts: u64,
    /// The moves that were looked at.
    pub candidates: Vec<ExplainedMove>,
    /// What is expected to be played, a step each.
    pub line: Vec<String>,
    /// Steps of the line that were left out.
    #[serde(skip)]
    pub n_more_steps: usize,
    /// The plan that the reply is the first step of, with moves as the game's machines number
    /// them: most plans are never printed.
    #[serde(skip)]
    pub plan: Option<Arc<PlanStep>>,
    /// The most probable states of the player's belief, as states of the game's machines.
    #[serde(skip)]
    pub belief: Option<Arc<LikelyStates>>,
    /// What else matters: limits that were reached, methods that were used instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One move that a player considered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedMove {
    /// The move, as KIF text.
    #[serde(rename = "move")]
    pub text: Arc<str>,
    /// What it is worth, 0 to 100, as far as that is known.
    pub value: Option<f64>,
    /// What the value says, if there is one.
    #[serde(serialize_with = "bound_name")]
    pub bound: Option<ValueBound>,
    /// Playouts or visits.
    pub visits: u64,
    /// Probability with which the player chooses it, if it draws its reply.
    pub probability: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn bound_name<S: Serializer>(
    bound: &Option<ValueBound>,
    writer: S,
) -> Result<S::Ok, S::Error> {
    let name = bound.map(|bound| match bound {
        ValueBound::Exact => "exact",
        ValueBound::AtLeast => "at_least",
        ValueBound::AtMost => "at_most",
        ValueBound::Estimate => "estimate",
    });
    name.serialize(writer)
}

/// The names of moves and roles.
pub trait Names {
    /// A move as KIF text.
    fn action(&mut self, id: MoveId) -> Arc<str>;

    /// A role as the rules name it.
    fn role(&self, role: RoleId) -> &str;
}

impl Explanation {
    /// The most probable states of the player's belief; where nothing is hidden, it is the state
    /// itself.
    pub(crate) fn belief_to_show(&self, game: &Game) -> Option<&LikelyStates> {
        self.belief.as_deref().filter(|_| game.kind().hidden_information)
    }

    /// The plan, unless it is the line because it does not depend on replies.
    pub(crate) fn plan_to_show(&self) -> Option<&Arc<PlanStep>> {
        self.plan.as_ref().filter(|_| self.line.is_empty())
    }

    /// What a player says beside its counters; `None` if that is nothing.
    pub fn of(said: Deliberation, names: &mut impl Names) -> Option<Box<Self>> {
        let is_silent = said.value.is_none()
            && said.candidates.is_empty()
            && said.line.is_empty()
            && said.notes.is_empty();
        if is_silent {
            return None;
        }
        let candidates = said.candidates.iter().map(|candidate| explained(candidate, names));
        let candidates = candidates.collect();
        let n_more_steps = said.line.len().saturating_sub(MAX_STEPS);
        let line = said.line.iter().take(MAX_STEPS).map(|step| in_words(step, names)).collect();
        let Deliberation {
            leaves,
            prunings,
            table_hits,
            playouts,
            depth,
            selective_depth,
            value,
            completed,
            plan,
            belief,
            mut notes,
            ..
        } = said;
        notes.truncate(MAX_NOTES);
        Some(Box::new(Self {
            value,
            depth,
            selective_depth,
            completed,
            leaves,
            prunings,
            table_hits,
            playouts,
            candidates,
            line,
            n_more_steps,
            plan,
            belief,
            notes,
        }))
    }
}

fn explained(candidate: &Candidate, names: &mut impl Names) -> ExplainedMove {
    let &Candidate { action, value, bound, visits, probability } = candidate;
    let bound = value.map(|_| bound);
    ExplainedMove { text: names.action(action), value, bound, visits, probability }
}

/// The moves of a step; with their roles if several choose.
fn in_words(step: &ExpectedStep, names: &mut impl Names) -> String {
    let mut words = Vec::with_capacity(step.len());
    for &(role, action) in step {
        let text = names.action(action);
        words.push(match step.len() {
            1 => text.to_string(),
            _ => format!("{} {text}", names.role(role)),
        });
    }
    words.join(", ").chars().take(MAX_LETTERS).collect()
}
