//! A plan that goes on by what the role sees, in text and as data.

use std::io::{self, Write};
use std::sync::Arc;

use games::{MoveId, RoleId};
use players::belief_tree::{BeliefEvent, BeliefTree, Seen};

use super::{AfterData, Happened, StepData, reply};
use crate::explanation::Names;

/// The best moves of a [`BeliefTree`], from what is known now to the end of the match.
pub(in crate::commands) struct PerceptPlan {
    /// The first step is the plan's first.
    steps: Vec<Step>,
}

struct Step {
    action: MoveId,
    /// Whether the match may end after the move.
    may_end: bool,
    /// What may be seen if it does not, and the index of the next step.
    after: Vec<(Seen, usize)>,
}

impl PerceptPlan {
    /// The plan that a search found; `None` if it looked not to the end of the match, or
    /// if not all that it looked at is recorded.
    pub(in crate::commands) fn of(tree: &BeliefTree) -> Option<Self> {
        if tree.n_unrecorded > 0 || tree.nodes.is_empty() {
            return None;
        }
        let mut children = vec![Vec::new(); tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(at);
            }
        }
        // The nodes in which the role is to move, by the index of their step.
        let mut nodes = vec![0];
        let mut steps = Vec::new();
        while let Some(&at) = nodes.get(steps.len()) {
            let BeliefEvent::Knows { best: Some(action), .. } = tree.nodes[at].event else {
                return None;
            };
            let is_best = |&&child: &&usize| tree.nodes[child].event == BeliefEvent::Moves(action);
            let made = children[at].iter().find(is_best)?;
            let mut step = Step { action, may_end: false, after: Vec::new() };
            for &child in &children[*made] {
                match &tree.nodes[child].event {
                    BeliefEvent::Knows { seen: Some(seen), .. } => {
                        step.after.push((seen.clone(), nodes.len()));
                        nodes.push(child);
                    }
                    _ => step.may_end = true,
                }
            }
            steps.push(step);
        }
        Some(Self { steps })
    }

    /// Prints the plan as a tree: a line for all that may be seen, with the moves until
    /// there is something to see again.
    pub(in crate::commands) fn print(
        &self,
        out: &mut impl Write,
        me: RoleId,
        names: &mut impl Names,
    ) -> io::Result<()> {
        writeln!(out, "\n  plan")?;
        let mut left = vec![(0, 0, String::new())];
        while let Some((index, depth, mut line)) = left.pop() {
            let mut step = &self.steps[index];
            line += &names.action(step.action);
            // What is always seen says nothing.
            while let ([(_, next)], false) = (&step.after[..], step.may_end) {
                step = &self.steps[*next];
                line += "; ";
                line += &names.action(step.action);
            }
            let end = if step.may_end { "; end" } else { "" };
            writeln!(out, "    {:width$}{line}{end}", "", width = 2 * depth)?;
            for (seen, next) in step.after.iter().rev() {
                left.push((*next, depth + 1, format!("{}: ", words(seen, me, names))));
            }
        }
        Ok(())
    }

    /// The steps as data; the first is the plan's first.
    pub(in crate::commands) fn data(&self, names: &mut impl Names) -> Vec<StepData> {
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let after = step.after.iter().map(|(seen, next)| {
                let happened = match seen {
                    Seen::Percepts(percepts) => Happened::Percepts(
                        percepts.iter().map(|percept| Arc::from(percept.to_string())).collect(),
                    ),
                    Seen::JointMove(moves) => {
                        Happened::JointMove(moves.iter().map(|&id| names.action(id)).collect())
                    }
                };
                AfterData { happened, next: Some(*next) }
            });
            let after = after.collect();
            steps.push(StepData { action: names.action(step.action), after, n_left_out: 0 });
        }
        steps
    }
}

/// What was seen, in words.
pub(in crate::commands) fn words(seen: &Seen, me: RoleId, names: &mut impl Names) -> String {
    match seen {
        Seen::JointMove(moves) => reply(moves, me, names),
        Seen::Percepts(percepts) if percepts.is_empty() => "sees nothing".to_owned(),
        Seen::Percepts(percepts) => {
            let percepts: Vec<String> = percepts.iter().map(ToString::to_string).collect();
            format!("sees {}", percepts.join(" "))
        }
    }
}
