//! The states in which a player thinks that a match may be.

use std::collections::BTreeSet;
use std::io::{self, Write};

use games::{State, StateMachine};
use players::{Belief, LikelyStates};
use results::counted::counted;
use serde::Serialize;

/// Maximum number of states that are printed.
const MAX_PRINTED: usize = 20;

/// A belief in words. Facts are sorted by code point.
#[derive(Debug, Serialize)]
pub(super) struct PossibleStates {
    /// Whether these are all states that are possible; else they are a sample.
    exact: bool,
    /// Number of states of the belief, those that are left out included.
    n_states: usize,
    /// The facts of all these states.
    common_facts: Vec<String>,
    /// The states, the most probable first.
    states: Vec<PossibleState>,
}

#[derive(Debug, Serialize)]
struct PossibleState {
    probability: f64,
    /// The facts beside the common ones.
    facts: Vec<String>,
}

impl PossibleStates {
    /// The states of a belief.
    pub(super) fn of(belief: &Belief, machine: &dyn StateMachine) -> Self {
        let states = belief.states();
        Self::described(states.len(), states, belief.is_exact(), machine)
    }

    /// The most probable states of a belief.
    pub(super) fn likeliest(belief: &LikelyStates, machine: &dyn StateMachine) -> Self {
        let LikelyStates { n_states, is_exact, states } = belief;
        let likely = states.iter().map(|(state, probability)| (state, *probability));
        Self::described(*n_states, likely, *is_exact, machine)
    }

    fn described<'a>(
        n_states: usize,
        states: impl Iterator<Item = (&'a State, f64)>,
        exact: bool,
        machine: &dyn StateMachine,
    ) -> Self {
        let facts_of = |state| -> BTreeSet<String> {
            machine.facts(state).iter().map(ToString::to_string).collect()
        };
        let states: Vec<(BTreeSet<String>, f64)> =
            states.map(|(state, probability)| (facts_of(state), probability)).collect();
        let facts = states.iter().map(|(facts, _)| facts.clone());
        let common = facts.reduce(|common, facts| &common & &facts).unwrap_or_default();
        let beside_common = |(facts, probability): (BTreeSet<String>, f64)| PossibleState {
            probability,
            facts: facts.difference(&common).cloned().collect(),
        };
        let mut states: Vec<PossibleState> = states.into_iter().map(beside_common).collect();
        states.sort_by(|a, b| {
            b.probability.total_cmp(&a.probability).then_with(|| a.facts.cmp(&b.facts))
        });
        Self { exact, n_states, common_facts: common.into_iter().collect(), states }
    }

    /// Prints the states, the first of them if there are many.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { exact, states, .. } = self;
        let sampled = if *exact { "" } else { ", sampled" };
        writeln!(out, "\n  belief: {}{sampled}", counted(states.len(), "state", "states"))?;
        let label = if states.len() == 1 { "facts" } else { "in each state" };
        self.print_states(out, "    ", label, &mut |text| text.to_owned())?;
        match states.len().saturating_sub(MAX_PRINTED) {
            0 => Ok(()),
            n_left => writeln!(out, "    and {n_left} more; --json lists all"),
        }
    }

    /// Prints the most probable states of a belief, and how many are left out; a note of the player
    /// says how many there are in all. `shown` cuts what is too long.
    pub(super) fn print_likeliest(
        out: &mut impl Write,
        belief: &LikelyStates,
        machine: &dyn StateMachine,
        shown: &mut dyn FnMut(&str) -> String,
    ) -> io::Result<()> {
        let likely = Self::likeliest(belief, machine);
        let n_left = likely.n_states.saturating_sub(likely.states.len());
        let label = match n_left {
            0 if likely.n_states == 1 => "facts",
            0 => "in each state",
            _ => "in each of these",
        };
        writeln!(out, "      belief")?;
        likely.print_states(out, "        ", label, shown)?;
        match n_left {
            0 => Ok(()),
            _ => writeln!(out, "        and {n_left} more"),
        }
    }

    /// The common facts, then a line for each state, unless there is only one.
    fn print_states(
        &self,
        out: &mut impl Write,
        indent: &str,
        label: &str,
        shown: &mut dyn FnMut(&str) -> String,
    ) -> io::Result<()> {
        let Self { common_facts, states, .. } = self;
        if !common_facts.is_empty() {
            writeln!(out, "{indent}{label}  {}", shown(&common_facts.join(" ")))?;
        }
        if let [_] = states[..] {
            return Ok(());
        }
        for PossibleState { probability, facts } in states.iter().take(MAX_PRINTED) {
            writeln!(out, "{indent}{probability:.4}  {}", shown(&facts.join(" ")))?;
        }
        Ok(())
    }
}
