//! What a player says of its answer, with its moves in writing.

use players::{Candidate, Deliberation, ExpectedStep};

use super::workspace::Workspace;
use crate::event::{ExplainedMove, Explanation};

/// Most steps of a line, and most letters of a step, that are kept.
const MAX_STEPS: usize = 16;
const MAX_LETTERS: usize = 200;

/// What a player says beside its counters; `None` if that is nothing.
pub(super) fn explanation(
    workspace: &mut Workspace,
    said: Deliberation,
) -> Option<Box<Explanation>> {
    if said.value.is_none() && said.candidates.is_empty() && said.line.is_empty() {
        return None;
    }
    let candidates = said.candidates.iter().map(|candidate| explained(workspace, candidate));
    let candidates = candidates.collect();
    let line = said.line.iter().take(MAX_STEPS).map(|step| in_words(workspace, step)).collect();
    let Deliberation {
        leaves,
        prunings,
        table_hits,
        playouts,
        depth,
        selective_depth,
        value,
        completed,
        ..
    } = said;
    Some(Box::new(Explanation {
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
    }))
}

fn explained(workspace: &mut Workspace, candidate: &Candidate) -> ExplainedMove {
    let &Candidate { action, value, bound, visits, probability } = candidate;
    ExplainedMove { text: workspace.text(action).text, value, bound, visits, probability }
}

/// The moves of a step; with their roles if several choose.
fn in_words(workspace: &mut Workspace, step: &ExpectedStep) -> String {
    let mut words = Vec::with_capacity(step.len());
    for &(role, action) in step {
        let text = workspace.text(action).text;
        words.push(match step.len() {
            1 => text.to_string(),
            _ => format!("{} {text}", workspace.role_name(usize::from(role.0))),
        });
    }
    words.join(", ").chars().take(MAX_LETTERS).collect()
}
