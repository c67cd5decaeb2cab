//! The sections of the page, one file each: numbers come in, markup goes out.

mod calibration;
mod cross_table;
mod faults;
mod games;
mod notes;
mod over_time;
mod overhead;
mod overview;
mod policies;
mod ratings;
mod regret;
mod replays;
mod rewards;
mod stages;
mod standings;
mod thinking;
mod workers;

pub(super) use overview::overview;
pub(super) use replays::embedded;

use super::Page;
use super::escape::Escaped;

/// A section.
pub(super) struct Section {
    /// Unique on the page; the anchor.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) body: String,
}

/// All sections that have something to say.
pub(super) fn sections(page: &Page<'_>) -> Vec<Section> {
    let sections: [fn(&Page<'_>) -> Option<Section>; 16] = [
        stages::section,
        standings::section,
        ratings::section,
        policies::section,
        cross_table::section,
        over_time::section,
        games::section,
        rewards::section,
        thinking::section,
        calibration::section,
        regret::section,
        faults::section,
        overhead::section,
        workers::section,
        replays::section,
        notes::section,
    ];
    sections.iter().filter_map(|section| section(page)).collect()
}

/// What a caption says if intervals and shares of resamples treat games with a
/// single block as exact; else nothing. The notes list the games.
fn exact_games(page: &Page<'_>) -> &'static str {
    if page.evaluation.standings.exact_games.is_empty() {
        ""
    } else {
        " Intervals ignore the chance in games with a single block; the notes list these games."
    }
}

/// A paragraph.
fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", Escaped(text))
}

/// Figures side by side where there is room.
fn abreast(figures: &[String]) -> String {
    let figures: Vec<&str> = figures.iter().map(String::as_str).filter(|f| !f.is_empty()).collect();
    match figures[..] {
        [] => String::new(),
        _ => format!("<div class=\"abreast\">\n{}</div>\n", figures.concat()),
    }
}
