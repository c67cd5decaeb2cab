//! What decisions gave away, as a section of the report for people.

use super::Format;
use super::headings;
use super::layout::{Section, Table};
use super::markdown::section_markdown;
use super::text::headed_text;
use super::words::{count, interval, points, share};
use crate::regret::{JudgedDecision, RegretOfPlayer, RegretSummary};

/// Writes the players' regret and the worst decisions as a section: as Markdown, or else as
/// text.
#[must_use]
pub fn render_regret(found: &RegretSummary, format: Format) -> String {
    let section = section(found);
    if format == Format::Md { section_markdown(&section) } else { headed_text(&section) }
}

fn section(found: &RegretSummary) -> Section {
    let row = |row: &RegretOfPlayer| {
        vec![
            row.player.clone(),
            format!("{:.2}", row.mean_regret),
            interval(row.interval),
            row.decisions.to_string(),
            share(row.perfect),
            share(row.blunders),
        ]
    };
    let heading = ["player", "regret", "95 % interval", "decisions", "best moves %", "blunders %"];
    let mut tables = vec![Table::new(1, &heading, found.players.iter().map(row).collect())];
    if !found.worst.is_empty() {
        tables.push(worst(found));
    }
    let sentence = format!(
        "Regret: points that a decision gives away, by tables of solved games; best moves: \
         decisions that give away nothing; blunders: {} points or more. \
         {} in {}.{}{}",
        found.blunder_points,
        count(found.decisions, "decision", "decisions"),
        count(found.matches, "match", "matches"),
        skipped(found),
        if found.worst.is_empty() { "" } else { " The second table has the worst decisions." },
    );
    Section { heading: headings::REGRET.into(), sentence: Some(sentence), tables }
}

/// What a sentence adds if there are matches or decisions that no table is for.
pub(super) fn skipped(found: &RegretSummary) -> String {
    let matches = match found.skipped_matches {
        0 => String::new(),
        n => format!(" {} of games without a table left out.", count(n, "match", "matches")),
    };
    match found.skipped_decisions {
        0 => matches,
        n => {
            let decisions = count(n, "decision", "decisions");
            format!("{matches} {decisions} in states that no table has left out.")
        }
    }
}

fn worst(found: &RegretSummary) -> Table {
    let row = |row: &JudgedDecision| {
        let substitute = if row.substitute { " (substitute)" } else { "" };
        vec![
            row.game.clone(),
            row.player.clone(),
            row.role.clone(),
            format!("{}{substitute}", row.action),
            row.best_move.clone(),
            points(row.value),
            points(row.regret),
            row.job.to_string(),
            row.step.to_string(),
        ]
    };
    let heading =
        ["game", "player", "role", "move", "best", "value", "regret", "match", "after step"];
    Table::new(5, &heading, found.worst.iter().map(row).collect())
}
