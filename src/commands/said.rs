//! Prints a player's report on its move.

use std::io::{self, Write};

use players::ValueBound;
use results::counted::counted;

use crate::explanation::{ExplainedMove, Explanation};

/// Value and depth of a search, as the end of a line; empty if there are none.
pub(super) fn found(said: Option<&Explanation>) -> String {
    let Some(said) = said else { return String::new() };
    let mut words = said.value.map_or_else(String::new, |value| format!(", value {value:.1}"));
    if said.depth > 0 {
        words += &format!(", depth {}", said.depth);
    }
    words
}

/// Prints counters, candidates, line and notes, indented. `shown` cuts what is too long.
pub(super) fn details(
    out: &mut impl Write,
    said: &Explanation,
    shown: &mut dyn FnMut(&str) -> String,
) -> io::Result<()> {
    let counts = [
        (said.leaves, "leaf", "leaves"),
        (said.prunings, "cut-off", "cut-offs"),
        (said.table_hits, "table hit", "table hits"),
        (said.playouts, "playout", "playouts"),
    ];
    let counts = counts.into_iter().filter(|(n, ..)| *n > 0);
    let mut words: Vec<String> = counts.map(|(n, one, many)| counted(n, one, many)).collect();
    if said.selective_depth > said.depth {
        words.push(format!("deepest level {}", said.selective_depth));
    }
    if !said.completed {
        words.push("the search is not complete".to_owned());
    }
    if !words.is_empty() {
        writeln!(out, "      {}", words.join(", "))?;
    }
    let mut moves: Vec<&ExplainedMove> = said.candidates.iter().collect();
    // The most promising first.
    let promise = |it: &ExplainedMove| it.value.or(it.probability).unwrap_or(-1.0);
    moves.sort_by(|a, b| promise(b).total_cmp(&promise(a)));
    let names: Vec<String> = moves.iter().map(|explained| shown(&explained.text)).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default();
    // A tree search may play several times from where a visit ends.
    let visited: u64 = moves.iter().map(|explained| explained.visits).sum();
    let is_flat = visited > 0 && visited == said.playouts;
    let visits = if is_flat { ["playout", "playouts"] } else { ["visit", "visits"] };
    for (explained, name) in moves.iter().zip(names) {
        writeln!(out, "      {name:width$}  {}", candidate(explained, visits))?;
    }
    if !said.line.is_empty() {
        let line: Vec<String> = said.line.iter().map(|step| shown(step)).collect();
        let more = match said.n_more_steps {
            0 => String::new(),
            n => format!("; ... {}", counted(n, "more step", "more steps")),
        };
        writeln!(out, "      line: {}{more}", line.join("; "))?;
    }
    for note in &said.notes {
        writeln!(out, "      note: {note}")?;
    }
    Ok(())
}

/// One move that a player considered: `at most 50.0, 120 playouts`.
fn candidate(explained: &ExplainedMove, [one, many]: [&str; 2]) -> String {
    let ExplainedMove { value, bound: bound_kind, visits, probability, .. } = explained;
    let bound = match bound_kind {
        Some(ValueBound::AtLeast) => "at least ",
        Some(ValueBound::AtMost) => "at most ",
        Some(ValueBound::Exact | ValueBound::Estimate) | None => "",
    };
    let estimate = if *bound_kind == Some(ValueBound::Estimate) { " (estimate)" } else { "" };
    let mut words = Vec::new();
    words.extend(value.map(|value| format!("{bound}{value:.1}{estimate}")));
    words.extend(probability.map(|share| format!("probability {share:.3}")));
    words.extend((*visits > 0).then(|| counted(visits, one, many)));
    if words.is_empty() { "not tried".to_owned() } else { words.join(", ") }
}
