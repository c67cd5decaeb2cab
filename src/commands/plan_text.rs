//! A player's plan in text, and as data.

mod percepts;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};
use std::sync::Arc;

use games::{MoveId, RoleId};
use players::PlanStep;
use results::counted::counted;
use serde::{Deserialize, Serialize};

use crate::explanation::Names;
pub(super) use percepts::{PerceptPlan, words as seen_words};

/// Maximum number of lines of a plan that are printed.
const MAX_LINES: usize = 10_000;

/// Maximum number of lines of a plan that is printed with each move, and of moves in a line.
const BRIEF: Extent = Extent { indent: 8, lines: 8, moves_in_line: 16 };

/// Maximum number of steps, and of what may happen after them, of a plan that is reported with each
/// move as data.
const BRIEF_DATA: DataExtent = DataExtent { steps: 16, replies: 64 };

/// How much of a plan is data.
#[derive(Clone, Copy)]
struct DataExtent {
    steps: usize,
    replies: usize,
}

/// Where a plan is printed, and how much of it.
#[derive(Clone, Copy)]
struct Extent {
    indent: usize,
    lines: usize,
    moves_in_line: usize,
}

/// What was printed of a plan.
struct Printed {
    n_moves: u64,
    is_whole: bool,
}

/// Prints a plan.
pub(super) fn print(
    out: &mut impl Write,
    root: &PlanStep,
    me: RoleId,
    names: &mut impl Names,
) -> io::Result<()> {
    writeln!(out, "\n  plan")?;
    let extent = Extent { indent: 4, lines: MAX_LINES, moves_in_line: usize::MAX };
    if lines(out, root, me, names, extent, &mut |text| text.to_owned())?.is_whole {
        return Ok(());
    }
    writeln!(out, "    ... (more than {MAX_LINES} lines; --json has them all)")
}

/// Prints the beginning of a plan, and how many moves are left out. `shown` cuts what is too
/// long.
pub(super) fn print_beginning(
    out: &mut impl Write,
    root: &Arc<PlanStep>,
    me: RoleId,
    names: &mut impl Names,
    shown: &mut dyn FnMut(&str) -> String,
) -> io::Result<()> {
    writeln!(out, "      plan")?;
    let Printed { n_moves, is_whole } = lines(out, root, me, names, BRIEF, shown)?;
    if is_whole {
        return Ok(());
    }
    let left = root.n_decisions().map(|n| n.saturating_sub(n_moves));
    let left = match left {
        Some(0) => "more replies that end the match".to_owned(),
        Some(n) => counted(n, "more move", "more moves"),
        None => "more moves".to_owned(),
    };
    writeln!(out, "        ... {left}")
}

/// Prints a plan as a tree: a line for each reply and the moves until the next reply.
fn lines(
    out: &mut impl Write,
    root: &PlanStep,
    me: RoleId,
    names: &mut impl Names,
    extent: Extent,
    shown: &mut dyn FnMut(&str) -> String,
) -> io::Result<Printed> {
    let mut printed = Printed { n_moves: 0, is_whole: true };
    // Steps to be printed, the next one last: with their depth and what leads to them.
    let mut left: Vec<(Option<&PlanStep>, usize, String)> = vec![(Some(root), 0, String::new())];
    let mut n_lines = 0;
    while let Some((step, depth, mut line)) = left.pop() {
        if n_lines == extent.lines {
            return Ok(Printed { is_whole: false, ..printed });
        }
        let (mut step, mut n_in_line) = (step, 0);
        while let Some(PlanStep { action, n_legal, after }) = step {
            // A forced move while others choose says nothing.
            if *n_legal != 1 || after.len() == 1 {
                if n_in_line == extent.moves_in_line {
                    line += "; ...";
                    printed.is_whole = false;
                    break;
                }
                n_in_line += 1;
                printed.n_moves += 1;
                line += if line.is_empty() || line.ends_with(": ") { "" } else { "; " };
                line += &names.action(*action);
            }
            if let [(_, next)] = &after[..] {
                step = next.as_deref();
                continue;
            }
            for (joint_move, next) in after.iter().rev() {
                let reply = reply(joint_move, me, names);
                left.push((next.as_deref(), depth + 1, format!("{reply}: ")));
            }
            break;
        }
        if step.is_none() {
            line += if line.ends_with(": ") { "end" } else { "; end" };
        }
        if line.is_empty() {
            // The others move first.
            continue;
        }
        n_lines += 1;
        writeln!(out, "{:width$}{}", "", shown(&line), width = extent.indent + 2 * depth)?;
    }
    Ok(printed)
}

/// The moves of the other roles in a joint move.
pub(super) fn reply(joint_move: &[MoveId], me: RoleId, names: &mut impl Names) -> String {
    let others = (0..).map(RoleId).zip(joint_move).filter(|(role, _)| *role != me);
    let words: Vec<String> = others.map(|(_, &id)| names.action(id).to_string()).collect();
    words.join(" ")
}

/// A step of a plan as data. Steps that play can come to in several ways stand once.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StepData {
    #[serde(rename = "move")]
    pub(super) action: Arc<str>,
    pub(super) after: Vec<AfterData>,
    /// Number of entries of `after` that are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) n_left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// What to do after something happened: the index of the next step; none at the end.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct AfterData {
    #[serde(flatten)]
    pub(super) happened: Happened,
    pub(super) next: Option<usize>,
}

/// By what a plan goes on.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Happened {
    /// The moves of all roles.
    JointMove(Vec<Arc<str>>),
    /// What the role sees.
    Percepts(Vec<Arc<str>>),
}

/// The steps of a plan; the first is its root.
pub(super) fn data(root: &Arc<PlanStep>, names: &mut impl Names) -> Vec<StepData> {
    steps(root, names, DataExtent { steps: usize::MAX, replies: usize::MAX })
}

/// The first steps of a plan, those that come soonest. Replies after which others would follow are
/// left out.
pub(super) fn beginning(root: &Arc<PlanStep>, names: &mut impl Names) -> Vec<StepData> {
    steps(root, names, BRIEF_DATA)
}

fn steps(root: &Arc<PlanStep>, names: &mut impl Names, extent: DataExtent) -> Vec<StepData> {
    let mut indices: HashMap<*const PlanStep, usize> = HashMap::from([(Arc::as_ptr(root), 0)]);
    let mut steps = vec![root];
    let mut found = Vec::new();
    let mut n_replies = 0;
    while let Some(&step) = steps.get(found.len()) {
        let mut after = Vec::new();
        for (joint_move, next) in &step.after {
            if n_replies == extent.replies {
                break;
            }
            let next = match next {
                None => None,
                Some(next) => match indices.entry(Arc::as_ptr(next)) {
                    Entry::Occupied(known) => Some(*known.get()),
                    Entry::Vacant(_) if steps.len() == extent.steps => continue,
                    Entry::Vacant(new) => {
                        steps.push(next);
                        Some(*new.insert(steps.len() - 1))
                    }
                },
            };
            n_replies += 1;
            let joint_move = joint_move.iter().map(|&id| names.action(id)).collect();
            after.push(AfterData { happened: Happened::JointMove(joint_move), next });
        }
        let n_left_out = step.after.len() - after.len();
        found.push(StepData { action: names.action(step.action), after, n_left_out });
    }
    found
}
