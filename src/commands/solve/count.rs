//! `gamemaster solve --count`: how many states play can reach, by depth or by class.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use games::Expression;
use games::solve::{Solver, StateClass};
use results::counted::counted;
use serde::Serialize;

use super::super::fact_pattern::FactPattern;

/// The states of a game, counted.
#[derive(Serialize)]
pub(super) struct Count {
    game: String,
    states: u64,
    terminal_states: u64,
    depth: u32,
    /// The kinds of facts that are counted in each state.
    counted: Vec<String>,
    /// By number of facts of each kind; one class if no kind is counted.
    classes: Vec<Class>,
    /// By the fewest steps that lead to a state.
    depths: Vec<Depth>,
    seconds: f64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct Class {
    counts: Vec<u32>,
    states: u64,
    terminal_states: u64,
}

#[derive(Serialize)]
struct Depth {
    depth: u32,
    states: u64,
    terminal_states: u64,
}

impl Count {
    /// The states that a solver has reached, all of them, and how long that took.
    pub(super) fn of(solver: &Solver, kinds: &[FactPattern], time: Duration) -> Self {
        let picks: Vec<_> =
            kinds.iter().map(|kind| move |fact: &Expression| kind.picks(fact)).collect();
        let picks: Vec<&dyn Fn(&Expression) -> bool> =
            picks.iter().map(|picks| picks as &dyn Fn(&Expression) -> bool).collect();
        let found = solver.classes(&picks);
        let mut by_counts: BTreeMap<Vec<u32>, (u64, u64)> = BTreeMap::new();
        let mut by_depth: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for StateClass { depth, counts, n_states, n_terminal } in found {
            for sums in [by_counts.entry(counts).or_default(), by_depth.entry(depth).or_default()] {
                sums.0 += n_states;
                sums.1 += n_terminal;
            }
        }
        let classes = by_counts.into_iter().map(|(counts, (states, terminal_states))| Class {
            counts,
            states,
            terminal_states,
        });
        let depths = by_depth.into_iter().map(|(depth, (states, terminal_states))| Depth {
            depth,
            states,
            terminal_states,
        });
        let progress = solver.progress();
        Self {
            game: solver.game().name().to_owned(),
            states: progress.n_states,
            terminal_states: progress.n_terminal,
            depth: solver.levels().len() as u32 - 1,
            counted: kinds.iter().map(|kind| kind.text.clone()).collect(),
            classes: classes.collect(),
            depths: depths.collect(),
            seconds: time.as_secs_f64(),
            memory_bytes: progress.most_bytes,
        }
    }

    /// Prints a table: by class if kinds of facts are counted, else by depth.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { game, states, terminal_states, depth, counted: kinds, .. } = self;
        writeln!(out, "{game}, counted")?;
        let (all, steps) = (counted(states, "state", "states"), counted(depth, "step", "steps"));
        writeln!(
            out,
            "  {all}, {terminal_states} of them terminal; the farthest is {steps} from the first \
             state\n"
        )?;
        let [states, terminal] = ["states", "terminal"].map(str::to_owned);
        let rows: Vec<Vec<String>> = if kinds.is_empty() {
            let heading = vec!["depth".to_owned(), states, terminal];
            let row = |it: &Depth| {
                vec![it.depth.to_string(), it.states.to_string(), it.terminal_states.to_string()]
            };
            std::iter::once(heading).chain(self.depths.iter().map(row)).collect()
        } else {
            let heading = kinds.iter().cloned().chain([states, terminal]).collect();
            let row = |it: &Class| {
                let counts = it.counts.iter().map(ToString::to_string);
                counts.chain([it.states.to_string(), it.terminal_states.to_string()]).collect()
            };
            std::iter::once(heading).chain(self.classes.iter().map(row)).collect()
        };
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
            writeln!(out, "  {}", cells.join("  "))?;
        }
        Ok(())
    }
}
