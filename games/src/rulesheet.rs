//! A rulesheet as read: forms with spans. May be wrong in every way but syntax.

use std::fmt;

use crate::Expression;
use crate::finding::{Finding, MAX_FINDINGS, Severity};
use crate::reader::{Build, Reader};
use crate::span::Span;
use crate::symbol::{Case, SymbolId, Symbols};

/// A list or name of a rulesheet, with its place in the text.
#[derive(Clone, Debug)]
pub struct Form {
    /// The bytes it was read from, with its parentheses.
    pub span: Span,
    /// What it is.
    pub kind: FormKind,
}

/// What a [`Form`] is.
#[derive(Clone, Debug)]
pub enum FormKind {
    /// A name or number.
    Constant(SymbolId),
    /// A variable; its symbol's name starts with `?`.
    Variable(SymbolId),
    /// A parenthesised list, possibly empty.
    List(Vec<Form>),
}

/// A parsed rulesheet.
#[derive(Clone, Debug)]
pub struct Rulesheet {
    name: String,
    text: String,
    symbols: Symbols,
    forms: Vec<Form>,
    findings: Vec<Finding>,
}

impl Rulesheet {
    /// Reads the forms of `text`. Comments may hold any bytes; those that are not
    /// UTF-8 are replaced, and spans refer to the text after replacement
    /// ([`String::from_utf8_lossy`]).
    ///
    /// ```
    /// use games::{Case, Rulesheet};
    ///
    /// let rulesheet = Rulesheet::parse("roles", "(role white) (role black)", Case::Folded)?;
    /// assert_eq!(rulesheet.forms().len(), 2);
    ///
    /// let text = "(role white\n(role black)";
    /// let findings = Rulesheet::parse("open", text, Case::Folded).unwrap_err();
    /// assert_eq!(findings[0].message, "unclosed `(`");
    /// assert_eq!(findings[0].span.position(text).to_string(), "1:1");
    /// # Ok::<(), Vec<games::Finding>>(())
    /// ```
    ///
    /// # Errors
    /// All syntax errors in textual order, and the other findings of reading. After an
    /// unclosed form, reading resumes at the next `(` that starts a line. A name with
    /// bytes that are not UTF-8 is an error, too.
    pub fn parse(
        name: impl Into<String>,
        text: impl AsRef<[u8]>,
        case: Case,
    ) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        let (text, replaced) = replaced(text.as_ref());
        let mut reader = Reader::new(&text).map_err(|error| vec![error.finding()])?;
        let mut errors = Vec::new();
        let mut build = BuildForm { symbols: Symbols::new(case), replaced, not_utf8: Vec::new() };
        let mut forms = Vec::new();
        while let Some(form) = reader.read(&mut build, &mut errors) {
            forms.push(form);
        }
        findings.extend(reader.unterminated_comment().map(unterminated_comment));
        if errors.is_empty() && build.not_utf8.is_empty() {
            let symbols = build.symbols;
            return Ok(Self { name: name.into(), text, symbols, forms, findings });
        }
        findings.extend(errors.iter().map(|error| error.finding()));
        findings.extend(build.not_utf8.iter().map(|&(span, byte)| not_utf8(span, byte)));
        findings.sort_by_key(|finding| finding.span);
        Err(findings)
    }

    /// Reads a rulesheet given as expressions, from a START message or from
    /// [`Game::forms`](crate::Game::forms). The text is generated from them.
    ///
    /// # Errors
    /// As [`Rulesheet::parse`].
    pub fn from_forms(
        name: impl Into<String>,
        forms: &[Expression],
        case: Case,
    ) -> Result<Self, Vec<Finding>> {
        let lines: Vec<String> = forms.iter().map(|form| format!("{form}\n")).collect();
        Self::parse(name, lines.concat(), case)
    }

    /// The name given when it was read: a file stem or a shipped name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text it was read from, which the spans refer to.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names used in it.
    #[must_use]
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The top-level forms in file order.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// The findings of reading that are not errors.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The name of `id` as spelled at its first appearance.
    pub(crate) fn spelling(&self, id: SymbolId) -> &str {
        self.symbols.name(id)
    }

    /// A form as text, with the first spelling of each name.
    #[must_use]
    pub fn expression(&self, form: &Form) -> Expression {
        match &form.kind {
            FormKind::Constant(id) | FormKind::Variable(id) => Expression::atom(self.spelling(*id)),
            FormKind::List(items) => {
                Expression::List(items.iter().map(|item| self.expression(item)).collect())
            }
        }
    }
}

/// The forms one below the other, each condition of a rule on a line of its
/// own. Reading it again gives the same forms; comments are gone.
impl fmt::Display for Rulesheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for form in &self.forms {
            let form = self.expression(form);
            match &form {
                Expression::List(items) if items.first() == Some(&Expression::atom("<=")) => {
                    f.write_str("(<=")?;
                    for (index, item) in items.iter().enumerate().skip(1) {
                        let gap = if index == 1 { " " } else { "\n    " };
                        write!(f, "{gap}{item}")?;
                    }
                    f.write_str(")\n")?;
                }
                _ => writeln!(f, "{form}")?,
            }
        }
        Ok(())
    }
}

struct BuildForm {
    symbols: Symbols,
    /// Where bytes were replaced, and the first byte there, in textual order.
    replaced: Vec<(u32, u8)>,
    /// Names in which bytes were replaced, and the first of these bytes.
    not_utf8: Vec<(Span, u8)>,
}

/// A text with U+FFFD for what is no UTF-8 (as [`String::from_utf8_lossy`] puts
/// it), where that was done and for which byte.
fn replaced(bytes: &[u8]) -> (String, Vec<(u32, u8)>) {
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if let Some(&byte) = chunk.invalid().first() {
            // Longer texts are refused anyway.
            replaced.extend(u32::try_from(text.len()).map(|at| (at, byte)));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text, replaced)
}

impl Build for BuildForm {
    type Node = Form;

    fn atom(&mut self, text: &str, span: Span) -> Form {
        let next = self.replaced.partition_point(|&(at, _)| at < span.start);
        if let Some(&(_, byte)) = self.replaced.get(next).filter(|&&(at, _)| at < span.end)
            && self.not_utf8.len() < MAX_FINDINGS
        {
            self.not_utf8.push((span, byte));
        }
        let id = self.symbols.intern(text);
        let is_variable = text.starts_with('?');
        let kind = if is_variable { FormKind::Variable(id) } else { FormKind::Constant(id) };
        Form { span, kind }
    }

    fn list(&mut self, items: Vec<Form>, span: Span) -> Form {
        Form { span, kind: FormKind::List(items) }
    }
}

fn not_utf8(span: Span, byte: u8) -> Finding {
    Finding {
        code: "not-utf8",
        severity: Severity::Error,
        span,
        message: format!("the byte 0x{byte:02X} in this name is not UTF-8"),
        help: "save the file as UTF-8; only comments may hold other bytes".to_owned(),
    }
}

fn unterminated_comment(span: Span) -> Finding {
    Finding {
        code: "unterminated-comment",
        severity: Severity::Warning,
        span,
        message: "this comment reaches to the end of the text".to_owned(),
        help: "close it by `|#`".to_owned(),
    }
}
