//! How long players thought, and how far beyond their clocks.

use super::super::Page;
use super::super::chart::{Histograms, Row};
use super::super::figure::{budget, time};
use super::super::table::{Cell, PageTable, name, number};
use super::{Section, abreast, paragraph};
use crate::evaluation::{MoveBudget, PlayerTimes, Times};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let evaluation = page.evaluation;
    if evaluation.thinking.iter().all(|row| row.thinking.n == 0) {
        return None;
    }
    let names = page.names();
    let labels = labels(&evaluation.thinking, &names);
    let rows = |of: fn(&PlayerTimes) -> &Times| -> Vec<Row<'_>> {
        let rows = evaluation.thinking.iter().zip(&labels);
        let rows = rows.filter(|(row, _)| of(row).n > 0);
        rows.map(|(row, name)| Row { name, times: of(row), series: row.player }).collect()
    };
    let thinking = Histograms {
        title: "Time to think",
        description: "Moves with a choice under each clock, by how long the answer took, on a \
                      logarithmic scale; the highest bars of all rows are drawn alike. The short line in each is \
                      the median, dashed lines are play clocks.",
        what: "moves",
        rows: rows(|row| &row.thinking),
        references: clocks(page),
    };
    let overruns = Histograms {
        title: "Time beyond the play clock",
        description: "Moves that took longer than the play clock, by how much.",
        what: "moves",
        rows: rows(|row| &row.overruns),
        references: vec![],
    };
    let figures = [thinking.html().unwrap_or_default(), overruns.html().unwrap_or_default()];
    let mut body =
        paragraph("Times are from the last byte of the question to the last byte of the answer.");
    if figures[1].is_empty() {
        body += &paragraph("No move took longer than its play clock.");
    }
    body += &abreast(&figures);
    body += &table(page, &names);
    Some(Section { id: "thinking", heading: "Time to think", body })
}

/// The player's name, and what bounded it if that was not the same for all.
fn labels(rows: &[PlayerTimes], names: &[&str]) -> Vec<String> {
    let several = rows.iter().any(|row| row.budget != rows[0].budget);
    let label = |row: &PlayerTimes| match several {
        true => format!("{}, {}", names[row.player], budget(row.budget)),
        false => names[row.player].to_owned(),
    };
    rows.iter().map(label).collect()
}

/// The play clocks of matches that are bounded by clocks.
fn clocks(page: &Page<'_>) -> Vec<(f64, String)> {
    page.evaluation
        .budgets
        .iter()
        .filter_map(|budget| match budget {
            MoveBudget::Milliseconds(ms) => Some((*ms as f64, time(*ms as f64))),
            MoveBudget::Nodes(_) => None,
        })
        .collect()
}

fn table(page: &Page<'_>, names: &[&str]) -> String {
    let quantiles = |times: &Times| {
        let quantile = |at: usize| Cell::ms(times.quantiles.map(|quantiles| quantiles[at]));
        [quantile(0), quantile(1), quantile(2), Cell::ms(times.max)]
    };
    let columns = vec![
        name("player", "In the order of the standings."),
        name("clock", "What bounded the player; times under different clocks are not mixed."),
        number("choices", "Moves with more than one legal move, in all matches."),
        number("median", "Half of them took no longer, milliseconds; within 0.4 %."),
        number("95 %", "95 % of them took no longer, milliseconds."),
        number("99 %", "99 % of them took no longer, milliseconds."),
        number("longest", "The longest, milliseconds."),
        number("overruns", "Moves, with a choice or not, that took longer than the play clock."),
        number("median over", "Half of these were no further beyond it, milliseconds."),
        number("longest over", "The longest time beyond the play clock, milliseconds."),
    ];
    let rows = page.evaluation.thinking.iter().map(|row| {
        let PlayerTimes { clock, thinking, overruns, .. } = row;
        let mut cells =
            vec![Cell::text(names[row.player]), Cell::text(clock), Cell::count(thinking.n)];
        cells.extend(quantiles(thinking));
        let [median, .., longest] = quantiles(overruns);
        cells.extend([Cell::count(overruns.n), median, longest]);
        cells
    });
    let caption = "Time to think, milliseconds".into();
    PageTable { id: "time-table".into(), caption, columns, rows: rows.collect() }.html()
}
