//! How long players thought, and how far beyond their clocks.

use super::super::Page;
use super::super::chart::{Histograms, Row};
use super::super::figure::time;
use super::super::table::{Cell, Table, name, number};
use super::{Section, abreast, paragraph};
use crate::evaluation::{Budget, Times};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let evaluation = page.evaluation;
    if evaluation.thinking.iter().all(|times| times.n == 0) {
        return None;
    }
    let names = page.names();
    let rows = |times: &'static str| -> Vec<Row<'_>> {
        let all = if times == "thinking" { &evaluation.thinking } else { &evaluation.overruns };
        let rows = names.iter().zip(all).enumerate();
        let rows = rows.filter(|(_, (_, times))| times.n > 0);
        rows.map(|(series, (name, times))| Row { name, times, series }).collect()
    };
    let thinking = Histograms {
        title: "Time to think",
        description: "Moves with a choice, by how long the answer took, on a logarithmic scale; \
                      the highest bars of all players are drawn alike. The short line in each is \
                      the median, dashed lines are play clocks.",
        what: "moves",
        rows: rows("thinking"),
        references: clocks(page),
    };
    let overruns = Histograms {
        title: "Time beyond the play clock",
        description: "Moves that took longer than the play clock, by how much.",
        what: "moves",
        rows: rows("overruns"),
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

/// The play clocks of matches that are bounded by clocks.
fn clocks(page: &Page<'_>) -> Vec<(f64, String)> {
    page.evaluation
        .budgets
        .iter()
        .filter_map(|budget| match budget {
            Budget::Milliseconds(ms) => Some((*ms as f64, time(*ms as f64))),
            Budget::Nodes(_) => None,
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
        number("choices", "Moves with more than one legal move, in all matches."),
        number("median", "Half of them took no longer, milliseconds; within 0.4 %."),
        number("95 %", "95 % of them took no longer, milliseconds."),
        number("99 %", "99 % of them took no longer, milliseconds."),
        number("longest", "The longest, milliseconds."),
        number("overruns", "Moves, with a choice or not, that took longer than the play clock."),
        number("median over", "Half of these were no further beyond it, milliseconds."),
        number("longest over", "The longest time beyond the play clock, milliseconds."),
    ];
    let evaluation = page.evaluation;
    let rows = names.iter().zip(&evaluation.thinking).zip(&evaluation.overruns);
    let rows = rows.map(|((&name, thinking), overruns)| {
        let mut cells = vec![Cell::text(name), Cell::count(thinking.n)];
        cells.extend(quantiles(thinking));
        let [median, .., longest] = quantiles(overruns);
        cells.extend([Cell::count(overruns.n), median, longest]);
        cells
    });
    let caption = "Time to think, milliseconds".into();
    Table { id: "time-table".into(), caption, columns, rows: rows.collect() }.html()
}
