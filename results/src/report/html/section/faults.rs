//! Faults of players, unscored matches, and goals that are missing, several or clamped.

use super::super::chart::{Part, Stacked};
use super::super::table::{Cell, name, number, page_table};
use super::super::{Page, headings};
use super::{Section, abreast, paragraph};
use crate::counted::counted;
use crate::record::FaultKind;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let standings = &page.evaluation.standings;
    let mut body = if standings.faults.is_empty() {
        paragraph("No player committed a fault.")
    } else {
        faults(page)
    };
    if !standings.unscored.is_empty() {
        let columns = vec![
            name("game", "Name of the rulesheet."),
            name("ending", "How the match ended."),
            name("reason", "Why, in words."),
            number("matches", "Matches with this ending; they have no scores."),
        ];
        let rows = standings.unscored.iter().map(|row| {
            let reason = if row.reason.is_empty() { "–" } else { &row.reason };
            let ending = row.ending.replace('_', " ");
            vec![Cell::text(&row.game), Cell::text(ending), Cell::text(reason), Cell::count(row.n)]
        });
        body += &page_table("unscored-table", headings::UNSCORED, &columns, rows);
    }
    if !standings.goal_flags.is_empty() {
        let columns = vec![
            name("game", "Name of the rulesheet."),
            name("goal", "The problem with a goal of a terminal state."),
            number("count", "How often it was found, counted for each role."),
        ];
        let rows = standings.goal_flags.iter().map(|row| {
            let flag = row.flag.name().replace('_', " ");
            vec![Cell::text(&row.game), Cell::text(flag), Cell::count(row.n)]
        });
        body += &page_table("goal-table", headings::GOALS, &columns, rows);
    }
    Some(Section { id: "faults", heading: headings::FAULTS, body })
}

fn faults(page: &Page<'_>) -> String {
    let standings = &page.evaluation.standings;
    let names = page.names();
    let times = |player: &str, kind: FaultKind| {
        let mut rows = standings.faults.iter();
        rows.find(|row| row.player == player && row.kind == kind).map_or(0, |row| row.n)
    };
    let words = |kind: FaultKind| kind.name().replace('_', " ");
    let occurred = |kind: &FaultKind| standings.faults.iter().any(|row| row.kind == *kind);
    let kinds: Vec<FaultKind> = FaultKind::ALL.into_iter().filter(occurred).collect();
    let row = |&name: &&str| {
        let part = |kind: FaultKind| {
            let n = times(name, kind);
            Part {
                size: n as f64,
                tip: format!("{name}: {}, {}", words(kind), counted(n, "time", "times")),
            }
        };
        (name.to_owned(), kinds.iter().copied().map(part).collect())
    };
    let classes: Vec<(String, String)> =
        (kinds.iter()).map(|&kind| (words(kind), format!("s{} fill", kind as usize))).collect();
    let stacked = Stacked {
        title: headings::FAULTS,
        description: "Number of faults of each kind, in all matches, scored or not.",
        unit: "faults",
        parts: &classes,
        rows: names.iter().map(row).collect(),
    };
    let mut columns = vec![name("player", "In the order of the standings.")];
    columns.extend(FaultKind::ALL.map(|kind| number(&words(kind), meaning(kind))));
    columns.push(number("all", "Faults of all kinds."));
    let rows = standings.players.iter().map(|row| {
        let mut cells = vec![Cell::text(&row.player)];
        cells.extend(FaultKind::ALL.map(|kind| Cell::count(times(&row.player, kind))));
        cells.push(Cell::count(row.n_faults));
        cells
    });
    let table = page_table("fault-table", headings::FAULTS, &columns, rows);
    abreast(&[stacked.html()]) + &table
}

fn meaning(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::LateStart => "No reply to START in time.",
        FaultKind::LateMove => "No move in time.",
        FaultKind::IllegalMove => "A move that is not legal.",
        FaultKind::Unreadable => "A reply that is not a term, or exceeds a limit.",
        FaultKind::Crashed => "The player's process or thread ended or failed.",
        FaultKind::Unreachable => "No connection, or a lost one.",
    }
}
