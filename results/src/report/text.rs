//! A report as text that fits a terminal.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, Width, presets,
};

use super::layout::{Document, Section, Table};

/// Columns of a terminal that a text report fits into.
pub(super) const WIDTH: u16 = 100;
pub(super) fn text(document: &Document) -> String {
    let mut text = format!("{}\n{}\n\n", document.title, "=".repeat(document.title.len()));
    text += &wrapped(&document.facts, "", "", WIDTH);
    for section in &document.sections {
        text += &headed_text(section);
    }
    if !document.notes.is_empty() {
        text += "\nNotes\n-----\n";
    }
    for note in &document.notes {
        text += &wrapped(note, "- ", "  ", WIDTH);
    }
    text
}

/// A section with its heading, after an empty line.
pub(super) fn headed_text(section: &Section) -> String {
    let heading = &section.heading;
    format!("\n{heading}\n{}\n", "-".repeat(heading.len())) + &section_text(section)
}

/// A section without its heading.
pub(super) fn section_text(section: &Section) -> String {
    let tables: Vec<String> = section.tables.iter().map(grid).collect();
    let mut text = tables.join("\n");
    if let Some(sentence) = &section.sentence {
        text += &wrapped(sentence, "\n", "", WIDTH);
    }
    text
}

/// A table of at most [`WIDTH`] columns; longer cells are wrapped.
fn grid(table: &Table) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(&table.heading)
        .add_rows(&table.rows);
    let least: Vec<u16> =
        (0..table.heading.len()).map(|column| least_width(table, column)).collect();
    let fits = least.iter().map(|&width| u32::from(width)).sum::<u32>() <= u32::from(WIDTH);
    for (index, column) in grid.column_iter_mut().enumerate() {
        if index >= table.n_names {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if index < table.n_names && table.rows.iter().all(|row| row[index].chars().count() <= 16) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        } else if fits {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least[index])));
        }
    }
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The width at which no word of a heading or a name is broken, with a space on either side.
fn least_width(table: &Table, column: usize) -> u16 {
    let names = table.rows.iter().filter(|_| column < table.n_names).map(|row| &row[column]);
    let words = names.chain([&table.heading[column]]).flat_map(|text| text.split(' '));
    let longest = words.map(|word| word.chars().count()).max().unwrap_or_default();
    u16::try_from(longest).map_or(u16::MAX, |width| width.saturating_add(2))
}

/// Breaks a sentence into lines of at most `width` columns. The first line begins with
/// `first`, the others with `indent`.
#[must_use]
pub fn wrapped(sentence: &str, first: &str, indent: &str, width: u16) -> String {
    let mut text = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in sentence.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > usize::from(width) {
            text += &line;
            text.push('\n');
            line = indent.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    text + &line + "\n"
}
