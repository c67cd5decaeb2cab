//! Thinking times, and times beyond the play clock.

use super::super::chart::{Histograms, Row};
use super::super::figure::{budget, time};
use super::super::table::{Cell, name, number, page_table};
use super::super::{Page, headings};
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
        title: headings::THINKING,
        description: "Moves with a choice at each budget, by the time of the reply, on a logarithmic \
                      scale. Each row is scaled to its highest bar. The short line in each row is \
                      the median; dashed lines are play clocks.",
        what: ["move", "moves"],
        rows: rows(|row| &row.thinking),
        references: clocks(page),
    };
    let overruns = Histograms {
        title: "Time beyond the play clock",
        description: "Moves that took longer than the play clock, by the time beyond it.",
        what: ["move", "moves"],
        rows: rows(|row| &row.overruns),
        references: vec![],
    };
    let figures = [thinking.html().unwrap_or_default(), overruns.html().unwrap_or_default()];
    let mut body =
        paragraph("Times are from the last byte of the request to the last byte of the reply.");
    if figures[1].is_empty() {
        body += &paragraph("No move took longer than its play clock.");
    }
    body += &abreast(&figures);
    body += &table(page, &names);
    Some(Section { id: "thinking", heading: headings::THINKING, body })
}

/// The player's name, and its budget if that was not the same for all.
fn labels(rows: &[PlayerTimes], names: &[&str]) -> Vec<String> {
    let several = rows.iter().any(|row| row.budget != rows[0].budget);
    let label = |row: &PlayerTimes| match several {
        true => format!("{}, {}", names[row.player], budget(row.budget)),
        false => names[row.player].to_owned(),
    };
    rows.iter().map(label).collect()
}

/// The play clocks of matches without node budgets.
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
        name("budget", "The player's budget; times at different budgets are not mixed."),
        number("choices", "Moves with more than one legal move, in all matches."),
        number("median", "Median time of these moves, milliseconds, exact to 0.4 %."),
        number("95 %", "95 % of these moves took at most this time, milliseconds."),
        number("99 %", "99 % of these moves took at most this time, milliseconds."),
        number("longest", "The longest time, milliseconds."),
        number("overruns", "Moves, with a choice or not, that took longer than the play clock."),
        number("median over", "Median time of overruns beyond the play clock, milliseconds."),
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
    page_table("time-table", "Thinking time, milliseconds", &columns, rows)
}
