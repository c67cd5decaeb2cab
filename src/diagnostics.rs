//! Drawing what is wrong with a rulesheet: each finding with its place, the
//! source line underlined, and what to do about it. What a finding *is* is the
//! business of `games`; where the drawing goes, and with or without colours,
//! that of the caller.

use results::counted::counted;
use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use games::{Finding, Severity, Span};

/// Maximum number of findings that are printed for one rulesheet.
const MAX_DRAWN: usize = 200;

/// Longer lines are cut to about this many bytes before and after the place.
const MAX_LINE: usize = 400;
const AROUND: usize = 60;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// All findings about one rulesheet, with its text.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    file: String,
    text: String,
    findings: Vec<Finding>,
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Findings that keep the rulesheet from being a game.
    pub errors: usize,
    /// Probable mistakes.
    pub warnings: usize,
    /// Notes.
    pub notes: usize,
}

/// Whether a drawing may hold the escape sequences of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Bare text.
    Plain,
    /// For a terminal.
    Terminal,
}

impl Colours {
    /// Colours if `stream` is a terminal and the environment does not refuse
    /// them by `NO_COLOR`.
    #[must_use]
    pub fn of(stream: &impl std::io::IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if stream.is_terminal() && !refused { Self::Terminal } else { Self::Plain }
    }
}

impl Diagnostics {
    /// Findings about `text`, which was read from `file`.
    #[must_use]
    pub fn new(file: impl Into<String>, text: impl Into<String>, findings: Vec<Finding>) -> Self {
        Self { file: file.into(), text: text.into(), findings }
    }

    /// The file as it was named by the user.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text the spans refer to.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The findings by position.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The number of findings of each severity.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let count =
            |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        Counts {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
        }
    }

    /// Draws the findings of at least this severity, a blank line after each; of
    /// very many the first.
    #[must_use]
    pub fn draw(&self, from: Severity, colours: Colours) -> String {
        let renderer = match colours {
            Colours::Plain => Renderer::plain(),
            Colours::Terminal => Renderer::styled(),
        }
        .decor_style(DecorStyle::Ascii);
        let shown = Shown::new(&self.text);
        let mut drawn = String::new();
        let mut findings = self.findings.iter().filter(|finding| finding.severity >= from);
        for finding in findings.by_ref().take(MAX_DRAWN) {
            let group = shown.group(&self.file, finding);
            writeln!(drawn, "{}\n", renderer.render(&[group])).expect("a string takes all text");
        }
        match findings.count() {
            0 => {}
            more => writeln!(drawn, "... and {more} more findings; --json lists all\n")
                .expect("a string takes all text"),
        }
        drawn
    }
}

/// `1 error, 2 warnings, 0 notes`, without what is zero; `no findings`.
impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let mut separator = "";
        for (count, noun) in parts.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{}", counted(count, noun, &format!("{noun}s")))?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("no findings") } else { Ok(()) }
    }
}

/// The text as it is drawn: every line ends with LF, so that the lines of the
/// drawing are those that [`Span::position`] counts, and there is no byte order
/// mark in its first column.
struct Shown {
    text: String,
    /// Bytes of the original before the first of `text`.
    skipped: usize,
    /// The first byte of each line of `text`.
    starts: Vec<usize>,
}

impl Shown {
    fn new(text: &str) -> Self {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        // A lone CR becomes one LF and CRLF stays, so that no offset changes.
        let mut characters = body.chars().peekable();
        let mut shown = String::with_capacity(body.len());
        while let Some(character) = characters.next() {
            let lone = character == '\r' && characters.peek() != Some(&'\n');
            shown.push(if lone { '\n' } else { character });
        }
        let ends = shown.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Self { text: shown, skipped: text.len() - body.len(), starts }
    }

    fn group<'a>(&'a self, file: &'a str, finding: &'a Finding) -> Group<'a> {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let title = level.primary_title(&finding.message).id(finding.code);
        let group = if finding.span == Span::default() {
            title.element(Origin::path(file))
        } else {
            let span = self.span(finding.span);
            let (line, lines) = self.lines(&span);
            let (part, at) = self.part(&lines, &span);
            let annotation = AnnotationKind::Primary.span(at);
            let source = Snippet::source(&self.text[part.clone()]).line_start(line + 1);
            if part == lines {
                title.element(source.path(file).annotation(annotation))
            } else {
                let column = self.text[lines.start..span.start].chars().count();
                let origin = Origin::path(file).line(line + 1).char_column(column + 1);
                title.element(origin).element(source.annotation(annotation))
            }
        };
        group.element(Level::HELP.message(&finding.help))
    }

    /// The bytes to be drawn of `lines`, and where `span` is in them. Rendering
    /// grows with the square of a line's length.
    fn part(&self, lines: &Range<usize>, span: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let text = &self.text[lines.clone()];
        if text.lines().all(|line| line.len() <= MAX_LINE) {
            return (lines.clone(), span.start - lines.start..span.end - lines.start);
        }
        let first_line = self.text[span.clone()].find('\n').map_or(span.end, |at| span.start + at);
        let end_of_mark = first_line.min(span.start + MAX_LINE).max(span.start);
        let line_end =
            self.text[span.start..].find('\n').map_or(self.text.len(), |at| span.start + at);
        let boundary = |at: usize| (0..=at).rev().find(|&at| self.text.is_char_boundary(at));
        let start = boundary(span.start.saturating_sub(AROUND)).unwrap_or(0).max(lines.start);
        let end = boundary((end_of_mark + AROUND).min(line_end)).unwrap_or(line_end);
        let mark_end = boundary(end_of_mark.min(end)).unwrap_or(end);
        (start..end.max(span.start), span.start - start..mark_end.max(span.start) - start)
    }

    fn span(&self, span: Span) -> Range<usize> {
        let fit = |at: u32| (at as usize).saturating_sub(self.skipped).min(self.text.len());
        fit(span.start)..fit(span.end)
    }

    /// The lines that `span` touches: index of the first, and their bytes. Only
    /// these are handed to the renderer, whose work grows with the text.
    fn lines(&self, span: &Range<usize>) -> (usize, Range<usize>) {
        let first = self.starts.partition_point(|&start| start <= span.start) - 1;
        let behind = self.starts.partition_point(|&start| start < span.end.max(span.start + 1));
        let end = self.starts.get(behind).map_or(self.text.len(), |&start| start - 1);
        let lines = self.text[..end].trim_end_matches('\r');
        // A span may consist of the line's end only.
        (first, self.starts[first]..lines.len().max(span.end.min(end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, marked: &str, expected: Expect) {
        let start = text.find(marked).expect("the marked text occurs");
        let finding = Finding {
            code: "some-code",
            severity: Severity::Error,
            span: Span { start: start as u32, end: (start + marked.len()) as u32 },
            message: "something is wrong".to_owned(),
            help: "do something".to_owned(),
        };
        let position = finding.span.position(text);
        let drawn =
            Diagnostics::new("game.kif", text, vec![finding]).draw(Severity::Error, Colours::Plain);
        assert!(drawn.contains(&format!("game.kif:{position}")), "{position}: {drawn}");
        expected.assert_eq(&drawn);
    }

    #[test]
    fn every_line_end_counts_once() {
        let drawn = || {
            expect![[r#"
                error[some-code]: something is wrong
                 --> game.kif:3:4
                  |
                3 | (c d)
                  |    ^
                  |
                  = help: do something

            "#]]
        };
        check("(a)\n(b)\n(c d)", "d", drawn());
        check("(a)\r\n(b)\r\n(c d)", "d", drawn());
        check("(a)\r(b)\r(c d)", "d", drawn());
        check("\u{feff}(a)\n\n(c d)", "d", drawn());
    }

    #[test]
    fn spans_of_several_lines_and_at_the_end_are_drawn() {
        check(
            "(a)\n(<= b\n   c\n   d)\n",
            "(<= b\n   c\n   d)",
            expect![[r#"
            error[some-code]: something is wrong
             --> game.kif:2:1
              |
            2 | / (<= b
            3 | |    c
            4 | |    d)
              | |_____^
              |
              = help: do something

        "#]],
        );
        check(
            "(a)\n(b",
            "(b",
            expect![[r#"
            error[some-code]: something is wrong
             --> game.kif:2:1
              |
            2 | (b
              | ^^
              |
              = help: do something

        "#]],
        );
    }

    #[test]
    fn columns_are_characters() {
        check(
            "(é\t\u{202e}(x))",
            "(x)",
            expect![[r#"
            error[some-code]: something is wrong
             --> game.kif:1:5
              |
            1 | (é    �(x))
              |        ^^^
              |
              = help: do something

        "#]],
        );
    }

    #[test]
    fn long_lines_are_drawn_in_part() {
        let text = format!("(a {}(x) {})", "é ".repeat(5000), "b ".repeat(5000));
        let start = text.find("(x)").unwrap();
        let finding = |span| Finding {
            code: "some-code",
            severity: Severity::Error,
            span,
            message: "something is wrong".to_owned(),
            help: "do something".to_owned(),
        };
        let place = Span { start: start as u32, end: start as u32 + 3 };
        let whole = Span { start: 0, end: text.len() as u32 };
        let draw = |findings| {
            Diagnostics::new("game.kif", text.as_str(), findings)
                .draw(Severity::Error, Colours::Plain)
        };
        let drawn = draw(vec![finding(place)]);
        assert!(drawn.contains("game.kif:1:10004"), "{drawn}");
        assert!(drawn.contains("é (x) b") && drawn.len() < 1000, "{drawn}");
        assert!(drawn.lines().any(|line| line.trim_end().ends_with("^^^")), "{drawn}");
        assert!(draw(vec![finding(whole)]).len() < 2000);
        let drawn = draw(vec![finding(place); 1000]);
        assert!(drawn.ends_with("... and 800 more findings; --json lists all\n\n"), "{drawn}");
    }

    #[test]
    fn counts_are_words() {
        let counts = |errors, warnings, notes| Counts { errors, warnings, notes }.to_string();
        assert_eq!(counts(0, 0, 0), "no findings");
        assert_eq!(counts(1, 0, 2), "1 error, 2 notes");
        assert_eq!(counts(2, 1, 0), "2 errors, 1 warning");
    }
}
