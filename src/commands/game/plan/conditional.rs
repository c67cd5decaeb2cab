//! A conditional plan in a file, as `gamemaster explain --plan-file` writes it.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, anyhow};
use games::{Expression, Game, MoveId, StateMachine};
use players::plan_check::{Next, Plan, Step};
use results::counted::counted;
use serde::Deserialize;

use crate::commands::plan_text::{Happened, StepData};
use crate::failure::Failure;
use crate::regular_file::{self, FileContents};
use crate::toml_text::in_our_words;

/// What the check reads of a decision.
#[derive(Deserialize)]
pub(super) struct Decision {
    game: String,
    /// Whose plan it is.
    pub(super) role: Option<String>,
    /// The step of the match at which the plan begins.
    #[serde(default)]
    step: usize,
    /// The steps; the first is the plan's first.
    pub(super) plan: Vec<StepData>,
}

impl Decision {
    /// Whether the plan goes on by percepts, and not by joint moves.
    pub(super) fn is_by_percepts(&self) -> bool {
        let mut after = self.plan.iter().flat_map(|step| &step.after);
        after.any(|after| matches!(after.happened, Happened::Percepts(_)))
    }
}

/// What a file is that cannot be read as a plan.
const NOT_A_PLAN: &str = "not a plan as `gamemaster explain --plan-file` writes it";

/// Longest file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// Reads a decision with a plan of `game`.
pub(super) fn read(path: &Path, game: &Game) -> Result<Decision, Failure> {
    let place = || format!("--conditional {}", path.display());
    let refused = |what: String| Err(Failure::usage(anyhow!("{}: {what}", place())));
    let bytes = regular_file::read(path, MAX_BYTES)
        .with_context(|| format!("{}: cannot read the file", place()))
        .map_err(Failure::usage)?;
    let bytes = match bytes {
        FileContents::Whole(bytes) => bytes,
        FileContents::TooLong { n_bytes } => {
            return refused(format!("{n_bytes} bytes are too many, at most {MAX_BYTES} are read"));
        }
        FileContents::NotAFile => return refused("not a regular file".to_owned()),
    };
    let decision: Decision = match serde_json::from_slice(&bytes) {
        Ok(decision) => decision,
        Err(error) => {
            let problem = in_our_words(&error.to_string()).replace(
                "no variant of enum Happened found in flattened data",
                "an entry of `after` without `joint_move` or `percepts`",
            );
            if error.is_syntax() || error.is_eof() {
                let (line, column) = (error.line(), error.column());
                return refused(format!("{NOT_A_PLAN}: not JSON at line {line}, column {column}"));
            }
            return refused(format!("{NOT_A_PLAN}: {problem}"));
        }
    };
    if decision.game != game.name() {
        return refused(format!("a plan of {}, not of {}", decision.game, game.name()));
    }
    if decision.step > 0 {
        return refused(format!(
            "the plan begins at step {}; only plans from the initial state can be checked",
            decision.step
        ));
    }
    Ok(decision)
}

/// Refuses a plan of another role than the one that is asked for.
pub(super) fn check_role(
    path: &Path,
    decision: &Decision,
    wanted: Option<&str>,
) -> Result<(), Failure> {
    match (&decision.role, wanted) {
        (Some(role), Some(wanted)) if role != wanted => Err(Failure::usage(anyhow!(
            "--conditional {}: a plan of {role}, not of {wanted}; leave out --role",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The plan of a decision that was read from `path`.
pub(super) fn plan(
    machine: &mut dyn StateMachine,
    path: &Path,
    decision: &Decision,
) -> Result<Plan, Failure> {
    let refused =
        |what: String| Failure::usage(anyhow!("--conditional {}: {what}", path.display()));
    let n_roles = machine.game().roles().len();
    let mut steps = Vec::with_capacity(decision.plan.len());
    for (number, step) in decision.plan.iter().enumerate() {
        let expression = |text: &str| {
            Expression::parse(text).map_err(|error| refused(format!("step {number}: {error}")))
        };
        let mut known_move = |text: &str| -> Result<MoveId, Failure> {
            machine
                .find_move(&expression(text)?)
                .ok_or_else(|| refused(format!("step {number}: `{text}` is not a move")))
        };
        let action = known_move(&step.action)?;
        let mut by_joint_move = HashMap::new();
        let mut by_percepts = HashMap::new();
        for after in &step.after {
            let is_new = match &after.happened {
                Happened::JointMove(moves) if moves.len() != n_roles => {
                    return Err(refused(format!(
                        "step {number}: a joint move of {} in a game of {n_roles} roles: ({})",
                        counted(moves.len(), "move", "moves"),
                        moves.join(" ")
                    )));
                }
                Happened::JointMove(moves) => {
                    let moves = moves.iter().map(|text| known_move(text));
                    let moves = moves.collect::<Result<Vec<_>, _>>()?;
                    by_joint_move.insert(moves, after.next).is_none()
                }
                Happened::Percepts(percepts) => {
                    let percepts = percepts.iter().map(|text| expression(text));
                    let percepts = percepts.collect::<Result<Vec<_>, _>>()?;
                    by_percepts.insert(percepts, after.next).is_none()
                }
            };
            if !is_new {
                let what = "goes on twice after the same";
                return Err(refused(format!("step {number} {what} joint move or percepts")));
            }
        }
        let next = match (by_joint_move.is_empty(), by_percepts.is_empty()) {
            (_, true) => Next::ByJointMove(by_joint_move),
            (true, false) => Next::ByPercepts(by_percepts),
            (false, false) => {
                let what = "has both joint moves and percepts to go on by";
                return Err(refused(format!("step {number} {what}")));
            }
        };
        steps.push(Step { action, next });
    }
    let missing = || refused("a step that is named as the next does not exist".to_owned());
    Plan::conditional(steps).ok_or_else(missing)
}
