//! The time of the harness itself.

use super::super::Page;
use super::super::chart::{Histograms, Row};
use super::super::table::{Cell, name, number, page_table};
use super::{Section, abreast, paragraph};

/// Maximum number of games of the figure.
const MOST: usize = 24;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let overhead = &page.evaluation.overhead;
    if overhead.is_empty() {
        return None;
    }
    let rows = overhead.iter().take(MOST);
    let figure = Histograms {
        title: "Time of the harness in a match",
        description: "Matches of each game, by the time that gamemaster itself uses: \
                      computing the rules, sending and checking moves, recording.",
        what: ["match", "matches"],
        rows: rows.map(|row| Row { name: &row.game, times: &row.harness, series: 0 }).collect(),
        references: vec![],
    };
    let columns = vec![
        name("game", "Name of the rulesheet."),
        number("matches", "Matches, scored or not."),
        number("steps", "Mean number of steps of a match."),
        number("duration", "Median time from START to the last STOP, milliseconds."),
        number("longest", "The longest such time, milliseconds."),
        number("harness", "Median time of the harness itself, milliseconds."),
        number("harness 95 %", "In 95 % of the matches it was at most this time, milliseconds."),
        number("µs a step", "Time of the harness for each step, over all matches, microseconds."),
        number("share", "The harness's share of the duration of all matches."),
    ];
    let rows = overhead.iter().map(|row| {
        let steps = (row.n_matches > 0).then(|| row.n_steps as f64 / row.n_matches as f64);
        vec![
            Cell::text(&row.game),
            Cell::count(row.n_matches),
            Cell::decimal(steps, 1),
            Cell::ms(row.duration.quantiles.map(|quantiles| quantiles[0])),
            Cell::ms(row.duration.max),
            Cell::ms(row.harness.quantiles.map(|quantiles| quantiles[0])),
            Cell::ms(row.harness.quantiles.map(|quantiles| quantiles[1])),
            Cell::decimal(row.harness_us_per_step, 1),
            Cell::percent(row.share),
        ]
    });
    let caption = "Duration of matches, and time of the harness";
    let body =
        paragraph("The share of a match's duration that the harness takes, not the players.")
            + &abreast(&[figure.html().unwrap_or_default()])
            + &page_table("overhead-table", caption, &columns, rows);
    Some(Section { id: "overhead", heading: "Harness overhead", body })
}
