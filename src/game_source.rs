//! From what the user typed (a path or the name of a shipped game) to a
//! validated game, or to an error that says what to type or to mend.

use std::error::Error as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use games::library::{self, Shipped};
use games::{Case, Game, Leniency, Severity};

use crate::diagnostics::{Colours, Diagnostics};
use crate::exit_code;

/// Longer files are refused: hundreds of times the largest published rulesheet,
/// and what is read takes some 65 times its text.
const MAX_BYTES: u64 = 16 << 20;

/// How a rulesheet is to be read.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Whether `Cell` and `cell` are the same name
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub case: CaseMode,
    /// Accept unsafe rules, read as other systems read them
    #[arg(long)]
    pub lenient: bool,
}

/// [`Case`] as typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CaseMode {
    /// Names that differ in case only are the same
    #[default]
    Folded,
    /// Names that differ in case differ, as in ggp-base
    Sensitive,
}

impl Reading {
    fn case(self) -> Case {
        match self.case {
            CaseMode::Folded => Case::Folded,
            CaseMode::Sensitive => Case::Sensitive,
        }
    }

    fn leniency(self) -> Leniency {
        if self.lenient { Leniency::Lenient } else { Leniency::Strict }
    }
}

/// Why there is no game.
#[derive(Debug, thiserror::Error)]
pub enum GameSourceError {
    /// Neither a shipped game nor a file has this name.
    #[error("find a game or file called `{name}`{}; `gamemaster game list` shows the shipped games", or_these(.near))]
    Unknown {
        /// What was typed.
        name: String,
        /// Names of shipped games that look like it.
        near: Vec<&'static str>,
    },
    /// There is something, but it cannot be read.
    #[error("read the rulesheet `{file}`")]
    Unreadable {
        /// What was typed.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is longer than any rulesheet.
    #[error("read the rulesheet `{file}`: it is longer than {} MiB", MAX_BYTES >> 20)]
    TooLong {
        /// What was typed.
        file: String,
    },
    /// The file is not UTF-8.
    #[error(
        "read the rulesheet `{file}`: byte 0x{byte:02X} at offset {offset} (line {line}) is not UTF-8; save the file as UTF-8"
    )]
    NotUtf8 {
        /// What was typed.
        file: String,
        /// The first byte that fits nowhere.
        byte: u8,
        /// Its place in the file, from 0.
        offset: usize,
        /// The line it stands in, from 1.
        line: usize,
    },
    /// The rulesheet has errors; they are meant to be drawn above this message.
    #[error("use the rulesheet `{}`: {}", .0.file(), .0.counts())]
    Broken(Box<Diagnostics>),
}

impl GameSourceError {
    /// One of [`exit_code`]: whether the command or the rulesheet is wrong.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unknown { .. } | Self::Unreadable { .. } => exit_code::USAGE,
            Self::TooLong { .. } | Self::NotUtf8 { .. } | Self::Broken(_) => exit_code::PREFLIGHT,
        }
    }

    /// The message with its causes, a fragment that fits after "failed to".
    #[must_use]
    pub fn tell(&self) -> String {
        let mut told = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            told += &format!(": {error}");
            cause = error.source();
        }
        told
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
    /// # Errors
    /// There is no such game or file, or it is no readable text.
    pub fn find(file: &str) -> Result<Self, GameSourceError> {
        if let Some(shipped) = library::find(file) {
            return Ok(Self::shipped(shipped));
        }
        let bytes = match read_bytes(Path::new(file)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let near = near(file, library::names());
                return Err(GameSourceError::Unknown { name: file.to_owned(), near });
            }
            Err(source) => {
                return Err(GameSourceError::Unreadable { file: file.to_owned(), source });
            }
        };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(GameSourceError::TooLong { file: file.to_owned() });
        }
        let text = String::from_utf8(bytes).map_err(|error| not_utf8(file, &error))?;
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
        let validation = games::validate::read(name, &text, reading.case(), reading.leniency());
        let diagnostics = Diagnostics::new(file, text, validation.findings);
        Checked { diagnostics, game: validation.game.map(Arc::new) }
    }
}

/// Finds, reads and validates the game called `file`, a path or a shipped name.
///
/// # Errors
/// There is no such game, or its rulesheet has errors.
pub fn load(file: &str, reading: Reading) -> Result<LoadedGame, GameSourceError> {
    let Checked { diagnostics, game } = GameSource::find(file)?.check(reading);
    match game {
        Some(game) => Ok(LoadedGame { game, diagnostics }),
        None => Err(GameSourceError::Broken(Box::new(diagnostics))),
    }
}

fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte beyond the limit tells that it was passed.
    std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_utf8(file: &str, error: &std::string::FromUtf8Error) -> GameSourceError {
    let offset = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let before = String::from_utf8_lossy(&bytes[..offset]);
    let end = u32::try_from(offset).expect("longer texts were refused");
    let line = games::Span { start: end, end }.position(&before).line;
    GameSourceError::NotUtf8 { file: file.to_owned(), byte: bytes[offset], offset, line }
}

fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(file).to_owned()
}

/// The names that look like what was typed, at most three, best first.
fn near(typed: &str, names: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    let typed = stem(typed).to_ascii_lowercase();
    let plain = |name: &str| name.replace(['_', '-', ' '], "").to_ascii_lowercase();
    let wanted = plain(&typed);
    let distance = |name: &'static str| {
        let name_plain = plain(name);
        let contained =
            wanted.len() >= 3 && (name_plain.contains(&wanted) || wanted.contains(&name_plain));
        let edits = edit_distance(&wanted, &name_plain);
        let distance = if contained { edits.min(1) } else { edits };
        (distance <= wanted.len().div_ceil(3)).then_some((distance, name))
    };
    let mut found: Vec<_> = names.into_iter().filter_map(distance).collect();
    found.sort_unstable();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Least number of characters to insert, remove or replace (Wagner and Fischer).
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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
        check("games/conect4.kif", &[]);
        check("nim-misere", &["nim_misere", "nim"]);
        check("conect_for", &["connect_four"]);
        check("nimm", &["nim", "nim_misere"]);
        check("chess", &[]);
        check("m", &[]);
    }

    #[test]
    fn distances_are_known() {
        let cases = [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("nim", "nim", 0)];
        for (a, b, expected) in cases {
            assert_eq!(edit_distance(a, b), expected, "{a} {b}");
        }
    }
}
