//! What was played, and who leads, in a few lines.

use std::fmt::Write as _;

use super::super::super::document::facts;
use super::super::super::regression::verdict_of_regression;
use super::super::super::verdict::{caution, verdict};
use super::super::super::words::count;
use super::super::Page;
use super::super::escape::Escaped;

/// The head of the page, below its title.
pub(crate) fn overview(page: &Page<'_>) -> String {
    let standings = &page.evaluation.standings;
    let mut html = String::new();
    let by_means = verdict(standings);
    // What was asked comes first: it is answered from pairs of blocks.
    let (verdict, other) = match &page.evaluation.regression {
        Some(found) => (Some(verdict_of_regression(found)), by_means),
        None => (by_means, None),
    };
    if let Some(verdict) = verdict {
        let _ = writeln!(html, "<p class=\"verdict\">{}</p>", Escaped(&verdict));
    }
    if let Some(other) = other {
        let _ = writeln!(html, "<p>By means, without pairing blocks: {}</p>", Escaped(&other));
    }
    if let Some(caution) = caution(standings) {
        let _ = writeln!(html, "<p class=\"caution\">{}</p>", Escaped(&caution));
    }
    let _ = writeln!(html, "<p>{}</p>", Escaped(&facts(standings)));
    let faults: u64 = standings.players.iter().map(|row| row.n_faults).sum();
    let (n_games, n_players) = (standings.games.len() as u64, standings.players.len() as u64);
    let numbers = [
        (standings.n_matches, ["match", "matches"], "matches, scored or not"),
        (
            standings.n_blocks,
            ["block", "blocks"],
            "blocks with a scored match: the units of evidence",
        ),
        (n_games, ["game", "games"], "rulesheets"),
        (n_players, ["player", "players"], "players"),
        (faults, ["fault", "faults"], "faults of all players, in all matches"),
    ];
    html += "<ul class=\"numbers\">";
    for (n, [one, many], meaning) in numbers {
        let word = if n == 1 { one } else { many };
        let _ = write!(html, "<li title=\"{meaning}\"><b>{n}</b> {word}</li>");
    }
    html += "</ul>\n";
    if !page.replays.is_empty() {
        let replays = count(page.replays.len() as u64, "match", "matches");
        let _ = writeln!(html, "<p><a href=\"#replays\">{replays} to replay</a></p>");
    }
    html
}
