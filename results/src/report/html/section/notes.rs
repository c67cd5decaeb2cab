//! Notes on the data, and its origin.

use std::fmt::Write as _;

use super::super::super::notes::notes;
use super::super::Page;
use super::super::escape::Escaped;
use super::Section;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let standings = &page.evaluation.standings;
    let mut body = String::from("<ul>\n");
    for note in notes(standings).iter().chain(page.notes) {
        let _ = writeln!(body, "<li>{}</li>", Escaped(note));
    }
    body += "</ul>\n<dl class=\"origin\">";
    let origin = [
        ("Run", &standings.header.run),
        ("Played by gamemaster", &standings.gamemaster_version),
        ("Hash of the spec", &standings.spec_hash),
    ];
    for (what, value) in origin {
        let _ = write!(body, "<dt>{what}</dt><dd><code>{}</code></dd>", Escaped(value));
    }
    body += "</dl>\n<p>All numbers are computed from the run's <code>journal.jsonl</code>; \
             nothing on this page is loaded from elsewhere.</p>\n";
    Some(Section { id: "notes", heading: "Notes", body })
}
