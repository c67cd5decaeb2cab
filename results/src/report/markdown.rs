//! A report as Markdown.

use std::fmt::Write as _;

use super::layout::{Document, Section};

pub(super) fn markdown(document: &Document) -> String {
    let mut text = format!("# {}\n\n{}\n", document.title, document.facts);
    document.sections.iter().for_each(|section| text += &section_markdown(section));
    if !document.notes.is_empty() {
        text += "\n## Notes\n\n";
    }
    for note in &document.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// A section with its heading, after an empty line.
pub(super) fn section_markdown(section: &Section) -> String {
    let mut text = format!("\n## {}\n", section.heading);
    if let Some(sentence) = &section.sentence {
        let _ = write!(text, "\n{}\n", escaped(sentence));
    }
    for table in &section.tables {
        text.push('\n');
        push_row(&mut text, &table.heading);
        let numbers = table.heading.len() - table.n_names;
        let _ = writeln!(text, "|{}{}", " --- |".repeat(table.n_names), " ---: |".repeat(numbers));
        table.rows.iter().for_each(|row| push_row(&mut text, row));
    }
    text
}

/// A row of a table.
pub(crate) fn push_row(text: &mut String, cells: &[String]) {
    text.push('|');
    for cell in cells {
        let _ = write!(text, " {} |", escaped(cell));
    }
    text.push('\n');
}

/// Takes their meaning from characters that would break a table or a sentence.
fn escaped(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    for character in cell.chars() {
        match character {
            '\n' | '\r' => text.push(' '),
            '|' | '\\' | '<' | '*' | '`' | '_' => text.extend(['\\', character]),
            _ => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_a_markdown_table() {
        assert_eq!(escaped("a|b\n<c> _d_"), "a\\|b \\<c> \\_d\\_");
    }
}
