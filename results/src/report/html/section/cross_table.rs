//! Mean rewards of each player against each other one.

use std::collections::BTreeMap;

use super::super::chart::{Heat, HeatCell, Hue};
use super::super::table::{Cell, name, number, page_table};
use super::super::{Page, headings, words};
use super::{Section, abreast, paragraph};

/// Maximum number of players of the figure.
const MOST: usize = 16;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let encounters = &page.evaluation.standings.cross_table;
    if encounters.is_empty() {
        return None;
    }
    let found: BTreeMap<(&str, &str), _> =
        encounters.iter().map(|row| ((&*row.player, &*row.opponent), row)).collect();
    let names = page.names();
    let mut body = paragraph(
        "Mean reward of the row's player in its matches against the column's player. If the \
         rewards of a match add up to 100, equal players have 50.",
    );
    if names.len() <= MOST {
        let cell = |player: &str, opponent: &str| {
            found.get(&(player, opponent)).map(|row| HeatCell {
                value: (row.mean - 50.0) / 50.0,
                shown: words::points(row.mean),
                tip: format!(
                    "{player} against {opponent}: mean reward {} in {}",
                    words::points(row.mean),
                    words::count(row.n_matches, "match", "matches")
                ),
            })
        };
        let row = |&player: &&str| {
            let cells = names.iter().map(|opponent| cell(player, opponent)).collect();
            (player.to_owned(), cells)
        };
        let heat = Heat {
            title: headings::CROSS_TABLE,
            description: "Blue is a mean above 50 points, orange one below; matches have equal \
                          weight.",
            hue: Hue::Sign,
            across: "opponent",
            columns: names.iter().map(|&name| name.to_owned()).collect(),
            rows: names.iter().map(row).collect(),
        };
        body += &abreast(&[heat.html()]);
    }
    let columns = vec![
        name("player", "The player with this reward."),
        name("opponent", "The other player in the same matches."),
        number("reward", "Mean reward of the player in these matches, which have equal weight."),
        number("opponent's", "Mean reward of the opponent in the same matches."),
        number("matches", "Scored matches in which both played."),
        name("replay", "One of these matches, if it is on this page."),
    ];
    let rows = encounters.iter().map(|row| {
        let others = found.get(&(&*row.opponent, &*row.player)).map(|row| row.mean);
        let replay = page.replay_of(&row.player, &row.opponent);
        vec![
            Cell::text(&row.player),
            Cell::text(&row.opponent),
            Cell::points(Some(row.mean))
                .from(format!("mean of {}", words::count(row.n_matches, "match", "matches"))),
            Cell::points(others),
            Cell::count(row.n_matches),
            replay.map_or(Cell::text(""), |job| {
                Cell::text(format!("match {job}")).to(format!("replay-{job}"))
            }),
        ]
    });
    body += &page_table("cross-table", headings::CROSS_TABLE, &columns, rows);
    Some(Section { id: "against-each-other", heading: headings::CROSS_TABLE, body })
}
