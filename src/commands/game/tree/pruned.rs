//! How many states of a tree searches enter, with pruning and without.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use games::{RoleId, StateMachine};
use players::SearchTree;
use results::counted::counted;
use serde::Serialize;

use super::ordered::{Order, Ordered};
use crate::commands::built_in_player::BuiltInPlayer;
use crate::commands::one_decision::{Limits, Question, chooser, decide};
use crate::failure::Failure;
use crate::spec::check_evaluation;
use crate::typed_moves::Line;

/// States that a search may enter.
const MAX_NODES: u64 = 1_000_000_000;

/// One search of the tree.
#[derive(Serialize)]
pub(super) struct Searched {
    /// What it does, in words.
    method: &'static str,
    /// The player that does it; `None` for an order of moves that only a known tree has.
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    /// States entered.
    nodes: u64,
    /// Subtrees that were cut off.
    prunings: u64,
    value: Option<f64>,
}

/// Searches the tree below the end of the line to its depth, in all ways that differ in this game.
pub(super) fn search(
    machine: &dyn StateMachine,
    line: &Line,
    depth: usize,
    evaluation: &str,
) -> Result<Vec<Searched>, Failure> {
    if depth == 0 {
        return Err(Failure::usage(anyhow!("--prune: give a --depth from 1")));
    }
    if machine.game().kind().hidden_information {
        return Err(Failure::usage(anyhow!("--prune needs a game without hidden information")));
    }
    check_evaluation(evaluation)
        .map_err(|wrong| Failure::usage(anyhow!("--evaluation {evaluation}: {wrong}")))?;
    let mut referee = machine.fork();
    let role = chooser(&mut *referee, line.last())?.ok_or_else(|| {
        Failure::usage(anyhow!(
            "--prune: no player has a choice in this state; give --moves that lead to one"
        ))
    })?;
    let exact = format!("depth={depth},deepening=false,transposition=0,evaluation={evaluation}");
    let run = |method, player: String, records| run(machine, line, role, method, player, records);
    let minimax = format!("minimax:{exact},bounded=false");
    let (minimax, tree) = run("minimax", minimax, true)?;
    let value = minimax.value;
    let mut searches = vec![minimax];
    let has_chance = machine.game().random().is_some();
    let methods =
        [("alpha-beta", "none"), ("alpha-beta, Star1", "star1"), ("alpha-beta, Star2", "star2")];
    for (method, cuts) in methods.into_iter().take(if has_chance { 3 } else { 1 }) {
        let player = format!("alpha_beta:{exact},chance_cuts={cuts}");
        searches.push(run(method, player, false)?.0);
    }
    if let Some(ordered) = tree.filter(|_| !has_chance).and_then(|tree| Ordered::of(&tree, role)) {
        let orders = [
            ("alpha-beta, best moves first", Order::BestFirst),
            ("alpha-beta, best moves last", Order::BestLast),
        ];
        searches.extend(orders.map(|(method, order)| {
            let entered = ordered.search(order);
            let (nodes, prunings) = (entered.nodes, entered.cuts);
            Searched { method, player: None, nodes, prunings, value }
        }));
    }
    Ok(searches)
}

/// A search by this player, and its tree if `records`.
fn run(
    machine: &dyn StateMachine,
    line: &Line,
    role: RoleId,
    method: &'static str,
    player: String,
    records: bool,
) -> Result<(Searched, Option<Arc<SearchTree>>), Failure> {
    let mut searching = BuiltInPlayer::read(&player, "it is not built in")?.make()?;
    if records {
        searching.record_tree(None);
    }
    let limits = Limits { start: None, time: Duration::ZERO, nodes: Some(MAX_NODES) };
    let question = Question { role, line, limits, seed: 1, player: &player };
    let said = decide(searching, machine, &question)?.said;
    let (nodes, prunings, value) = (said.nodes, said.prunings, said.value);
    Ok((Searched { method, player: Some(player), nodes, prunings, value }, said.tree))
}

/// Prints the searches, each with its share of the states of the first.
pub(super) fn print(out: &mut impl Write, searches: &[Searched]) -> io::Result<()> {
    writeln!(out, "\nstates that a search of this depth enters")?;
    let width = searches.iter().map(|it| it.method.len()).max().unwrap_or(0);
    let all = searches.first().map_or(1, |first| first.nodes.max(1)) as f64;
    for Searched { method, nodes, prunings, value, .. } in searches {
        let share = 100.0 * *nodes as f64 / all;
        let value = value.map_or_else(String::new, |value| format!(", value {value:.1}"));
        let cuts = counted(prunings, "cut-off", "cut-offs");
        writeln!(out, "  {method:width$}  {nodes} ({share:.1} %), {cuts}{value}")?;
    }
    Ok(())
}
