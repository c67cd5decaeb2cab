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
    let least = least_widths(table);
    for (index, column) in grid.column_iter_mut().enumerate() {
        if index >= table.n_names {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if index < table.n_names && table.rows.iter().all(|row| row[index].chars().count() <= 16) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        } else if let Some(least) = &least {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least[index])));
        }
    }
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The widths of all columns at which no interval is broken, or else no word of a heading or
/// a name; `None` if the table is too wide for either.
fn least_widths(table: &Table) -> Option<Vec<u16>> {
    let widths = |keeps_intervals| -> Vec<u16> {
        let columns = 0..table.heading.len();
        columns.map(|column| least_width(table, column, keeps_intervals)).collect()
    };
    let fits = |widths: &Vec<u16>| {
        widths.iter().map(|&width| u32::from(width)).sum::<u32>() <= u32::from(WIDTH)
    };
    [true, false].into_iter().map(widths).find(fits)
}

/// The width at which no word of a heading or a name is broken, nor an interval if these are
/// kept, with a space on either side.
fn least_width(table: &Table, column: usize, keeps_intervals: bool) -> u16 {
    let cells = table.rows.iter().map(|row| row[column].as_str());
    let names = cells.clone().filter(|_| column < table.n_names);
    let words = names.chain([table.heading[column].as_str()]).flat_map(|text| text.split(' '));
    let intervals = cells.filter(|cell| keeps_intervals && cell.starts_with('['));
    let longest = words.chain(intervals).map(|word| word.chars().count()).max().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the columns of a wide table, those of intervals keep their width.
    #[test]
    fn an_interval_is_not_broken() {
        let owned = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let heading = ["", "player", "reward", "95 % interval", "behind by", "its interval"];
        let counts = ["games", "matches", "blocks", "faults"];
        for name in ["a-name-of-17-lett", "a-name-of-18-lette"] {
            let row = ["1", name, "89.8", "[78.6, 92.7]", "12.3", "[-15.4, 11.6]"];
            let table = Table {
                n_names: 2,
                heading: owned(&[&heading[..], &counts[..]].concat()),
                rows: vec![owned(&[&row[..], &["6", "165", "90", "0"]].concat())],
            };
            let text = grid(&table);
            assert!(text.contains("[78.6, 92.7]") && text.contains("[-15.4, 11.6]"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH)), "{text}");
        }
    }
}
