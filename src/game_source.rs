//! From what the user typed (a path or the name of a shipped game) to a
//! validated game, or to an error that says what to type or to mend.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use games::library::{self, Shipped};
use games::{Case, Expression, Game, Leniency, Rulesheet, Severity};
use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};
use strsim::osa_distance;

use crate::diagnostics::{Colours, Diagnostics};
use crate::error_chain::chained;
use crate::regular_file::{self, FileContents};

/// Longer files are refused: hundreds of times the largest published rulesheet,
/// and what is read takes some 65 times its text.
const MAX_BYTES: u64 = 16 << 20;

/// How a rulesheet is to be read.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Compare names with or without case
    #[arg(long, value_name = "MODE", default_value = Case::default().name(), value_parser = typed_case())]
    pub case: Case,
    /// Accept rules that break the GDL specification, as most systems do
    #[arg(long)]
    pub lenient: bool,
}

/// Reads the name of a [`Case`] on the command line.
fn typed_case() -> impl TypedValueParser<Value = Case> {
    let names = Case::ALL.map(|case| {
        PossibleValue::new(case.name()).help(match case {
            Case::Folded => "`Cell` and `cell` are the same name",
            Case::Sensitive => "`Cell` and `cell` are different names, as in ggp-base",
        })
    });
    PossibleValuesParser::new(names).map(|name| case_named(&name).expect("clap has checked it"))
}

/// Reads the name of a [`Case`] in a file.
pub(crate) fn deserialize_case<'de, D: Deserializer<'de>>(from: D) -> Result<Case, D::Error> {
    const NAMES: [&str; 2] = [Case::ALL[0].name(), Case::ALL[1].name()];
    let name = String::deserialize(from)?;
    case_named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
}

fn case_named(name: &str) -> Option<Case> {
    Case::ALL.into_iter().find(|case| case.name() == name)
}

impl Reading {
    fn leniency(self) -> Leniency {
        if self.lenient { Leniency::Lenient } else { Leniency::Strict }
    }
}

/// Why there is no game.
#[derive(Debug, thiserror::Error)]
pub enum GameSourceError {
    /// Neither a shipped game nor a file has this name.
    #[error("no game or file `{name}`{}; `gamemaster game list` lists the shipped games", or_these(.near))]
    Unknown {
        /// What was typed.
        name: String,
        /// Names of shipped games that look like it.
        near: Vec<&'static str>,
    },
    /// There is something, but it cannot be read.
    #[error("cannot read the rulesheet `{file}`")]
    Unreadable {
        /// What was typed.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is longer than any rulesheet.
    #[error("cannot read the rulesheet `{file}`: it is longer than {} MiB", MAX_BYTES >> 20)]
    TooLong {
        /// What was typed.
        file: String,
    },
    /// A named pipe or device, which may never end.
    #[error("cannot read the rulesheet `{file}`: it is not a regular file; copy its text into one")]
    NotAFile {
        /// What was typed.
        file: String,
    },
    /// The rulesheet has errors; they are meant to be drawn above this message.
    #[error("invalid rulesheet `{}`: {}", .0.file(), .0.counts())]
    Broken(Box<Diagnostics>),
}

impl GameSourceError {
    /// The message with its causes.
    #[must_use]
    pub fn message(&self) -> String {
        chained(self)
    }

    /// The errors of the rulesheet, drawn with their places, if that is what
    /// is wrong.
    #[must_use]
    pub fn drawing(&self, colours: Colours) -> Option<String> {
        match self {
            Self::Broken(diagnostics) => Some(diagnostics.draw(Severity::Error, colours)),
            _ => None,
        }
    }
}

fn or_these(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        [one] => format!(" (did you mean `{one}`?)"),
        [most @ .., last] => format!(" (did you mean `{}` or `{last}`?)", most.join("`, `")),
    }
}

/// The text of a rulesheet and what it is called.
#[derive(Clone, Debug)]
pub struct GameSource {
    /// What was typed: a path or the name of a shipped game.
    pub file: String,
    /// The game's name: that of the shipped game, or the file's without its
    /// folder and extension.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// A rulesheet that was read, whatever came of it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Everything found, with the text.
    pub diagnostics: Diagnostics,
    /// The game, if there was no error.
    pub game: Option<Arc<Game>>,
}

impl Checked {
    /// The game.
    ///
    /// # Errors
    /// The rulesheet has errors.
    pub fn loaded(self) -> Result<LoadedGame, GameSourceError> {
        let Self { diagnostics, game } = self;
        match game {
            Some(game) => Ok(LoadedGame { game, diagnostics }),
            None => Err(GameSourceError::Broken(Box::new(diagnostics))),
        }
    }
}

/// A game ready to be played, with the text it was made from.
#[derive(Clone, Debug)]
pub struct LoadedGame {
    /// The rules.
    pub game: Arc<Game>,
    /// The text, and the warnings and notes about it.
    pub diagnostics: Diagnostics,
}

impl GameSource {
    /// Finds what `file` names: a shipped game, else a file. `./nim` is always
    /// a file, since no shipped name has a slash or a dot.
    ///
    /// Comments may hold any bytes; those that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// There is no such game or regular file, or it is no readable text.
    pub fn find(file: &str) -> Result<Self, GameSourceError> {
        if let Some(shipped) = library::find(file) {
            return Ok(Self::shipped(shipped));
        }
        let bytes = match regular_file::read(Path::new(file), MAX_BYTES) {
            Ok(FileContents::Whole(bytes)) => bytes,
            Ok(FileContents::TooLong { .. }) => {
                return Err(GameSourceError::TooLong { file: file.to_owned() });
            }
            Ok(FileContents::NotAFile) => {
                return Err(GameSourceError::NotAFile { file: file.to_owned() });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let near = near(file, library::names());
                return Err(GameSourceError::Unknown { name: file.to_owned(), near });
            }
            Err(source) => {
                return Err(GameSourceError::Unreadable { file: file.to_owned(), source });
            }
        };
        let text = String::from_utf8(bytes).or_else(|error| readable(file, error.as_bytes()))?;
        Ok(Self { file: file.to_owned(), name: stem(file), text })
    }

    /// The text of a shipped game.
    #[must_use]
    pub fn shipped(shipped: &Shipped) -> Self {
        let Shipped { name, text } = *shipped;
        Self { file: name.to_owned(), name: name.to_owned(), text: text.to_owned() }
    }

    /// Reads and validates the text.
    #[must_use]
    pub fn check(self, reading: Reading) -> Checked {
        let Self { file, name, text } = self;
        let validation = games::validate::read(name, &text, reading.case, reading.leniency());
        let diagnostics = Diagnostics::new(file, text, validation.findings);
        Checked { diagnostics, game: validation.game.map(Arc::new) }
    }
}

/// Finds, reads and validates the game called `file`, a path or a shipped name.
///
/// # Errors
/// There is no such game, or its rulesheet has errors.
pub fn load(file: &str, reading: Reading) -> Result<LoadedGame, GameSourceError> {
    GameSource::find(file)?.check(reading).loaded()
}

/// The game with another initial state, in which exactly `facts` are true: its rules
/// without what they say of `init`.
///
/// # Errors
/// If a fact is no fact of a state, such as one with a variable: then the rules have an
/// error.
pub fn beginning_in(
    game: &Game,
    facts: &[Expression],
    reading: Reading,
) -> Result<Arc<Game>, GameSourceError> {
    source_beginning_in(game, facts).check(reading).loaded().map(|loaded| loaded.game)
}

/// The rulesheet of the game with another initial state, as in [`beginning_in`].
pub(crate) fn source_beginning_in(game: &Game, facts: &[Expression]) -> GameSource {
    let init = |fact: &Expression| Expression::List(vec![Expression::atom("init"), fact.clone()]);
    let rules = game.forms_without_init().cloned();
    let lines = rules.chain(facts.iter().map(init)).map(|form| format!("{form}\n"));
    let name = game.name().to_owned();
    GameSource { file: name.clone(), name, text: lines.collect() }
}

/// The text of a file that is not UTF-8, if only comments are concerned.
fn readable(file: &str, bytes: &[u8]) -> Result<String, GameSourceError> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut findings = Rulesheet::parse(file, bytes, Case::Folded).err().unwrap_or_default();
    findings.retain(|finding| finding.code == "not-utf8");
    if findings.is_empty() {
        return Ok(text);
    }
    Err(GameSourceError::Broken(Box::new(Diagnostics::new(file, text, findings))))
}

fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(file).to_owned()
}

/// A name as it sounds: `connect4`, `Connect_Four` and `connect-four` are one.
fn plain(name: &str) -> String {
    const DIGITS: [&str; 10] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let mut plain = String::new();
    for character in name.to_ascii_lowercase().chars() {
        match character.to_digit(10) {
            Some(digit) => plain.push_str(DIGITS[digit as usize]),
            None if matches!(character, '_' | '-' | ' ') => {}
            None => plain.push(character),
        }
    }
    plain
}

/// A question whether one of `names` was meant by what was typed; empty if none is near.
pub(crate) fn meant<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    or_these(&near(typed, names))
}

/// The names that look like what was typed, at most three, best first.
fn near<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = plain(&stem(typed));
    let distance = |name: &'a str| {
        let name_plain = plain(name);
        let contained =
            wanted.len() >= 3 && (name_plain.contains(&wanted) || wanted.contains(&name_plain));
        let edits = osa_distance(&wanted, &name_plain);
        let distance = if contained { edits.min(1) } else { edits };
        (distance <= wanted.len().div_ceil(3)).then_some((distance, name))
    };
    let mut found: Vec<_> = names.into_iter().filter_map(distance).collect();
    found.sort_unstable();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        const NAMES: [&str; 5] = ["tic_tac_toe", "nim", "nim_misere", "connect_four", "maze"];
        let check = |typed, expected: &[&str]| assert_eq!(near(typed, NAMES), expected, "{typed}");
        check("tictactoe", &["tic_tac_toe"]);
        check("TicTacToe.kif", &["tic_tac_toe"]);
        check("games/conect4.kif", &["connect_four"]);
        check("connect4", &["connect_four"]);
        check("Connect-4", &["connect_four"]);
        check("conenct_four", &["connect_four"]);
        check("nim-misere", &["nim_misere", "nim"]);
        check("conect_for", &["connect_four"]);
        check("nimm", &["nim", "nim_misere"]);
        check("chess", &[]);
        check("m", &[]);
    }
}
