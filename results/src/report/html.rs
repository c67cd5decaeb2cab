//! The report as one page that loads nothing: figures, tables and replays.
//!
//! Numbers come from [`evaluation`](crate::evaluation); here they are laid out.
//! Whatever a player or a game is called is text on the page, never markup.

mod chart;
mod escape;
mod figure;
mod replay;
mod section;
mod table;

use std::fmt::Write as _;

use super::{headings, words};
use crate::evaluation::Evaluation;
use escape::Escaped;
use section::{embedded, overview, sections};

pub use replay::{
    Replay, ReplayBoard, ReplayNode, ReplayPiece, ReplaySeat, ReplayShape, ReplayStart, ReplayStep,
};

/// The page's looks.
const STYLE: &str = include_str!("html/page.css");
/// Sorting, saving, stepping.
const SCRIPT: &str = include_str!("html/page.js");

/// What sections are made of.
struct Page<'a> {
    evaluation: &'a Evaluation,
    replays: &'a [Replay],
    notes: &'a [String],
}

impl Page<'_> {
    /// The players in the order of the standings.
    fn names(&self) -> Vec<&str> {
        self.evaluation.standings.players.iter().map(|row| row.player.as_str()).collect()
    }

    /// The job of a replayed match in which both sat.
    fn replay_of(&self, player: &str, opponent: &str) -> Option<u64> {
        let sits = |replay: &&Replay, name: &str| {
            replay.seats.iter().any(|s| s.player.as_deref() == Some(name))
        };
        let mut replays = self.replays.iter();
        replays.find(|replay| sits(replay, player) && sits(replay, opponent)).map(|r| r.job)
    }
}

/// The page: an evaluation, some matches to replay, and further notes.
#[must_use]
pub fn html(evaluation: &Evaluation, replays: &[Replay], notes: &[String]) -> String {
    let page = Page { evaluation, replays, notes };
    let sections = sections(&page);
    let run = &evaluation.standings.header.run;
    let title = format!("Tournament report: {run}");
    let title = Escaped(&title);
    // Were anything to slip through as markup, it could load nothing.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><div class=\"top\"><p class=\"kind\">Tournament report</p>\
         <button type=\"button\" id=\"theme\">Light or dark</button></div>\
         <h1>{}</h1>\n",
        Escaped(run)
    );
    html += &overview(&page);
    html += "</header>\n<nav aria-label=\"Sections\">";
    for section in &sections {
        let _ = write!(html, "<a href=\"#{}\">{}</a>", section.id, section.heading);
    }
    html += "</nav>\n<main>\n";
    for section in &sections {
        let _ = writeln!(
            html,
            "<section id=\"{}\">\n<h2>{}</h2>\n{}</section>",
            section.id, section.heading, section.body
        );
    }
    html += "</main>\n";
    if !replays.is_empty() {
        html += &embedded(&page);
    }
    let _ = write!(html, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

#[cfg(test)]
mod tests;
