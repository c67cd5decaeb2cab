//! A suite of positions as TOML: read and checked by the rules of its games, and written.
//!
//! ```toml
//! format = 1
//!
//! [[position]]
//! id = "nim-1"
//! game = "nim"
//! role = "left"
//! moves = "((take a 1) noop) (noop (take b 4))"
//! good = ["(take c 3)"]
//! depth = 4
//! values = { "(take a 1)" = 0, "(take c 3)" = 100 }
//! ```
//!
//! The keys are documented in `docs/suites.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use games::{Expression, Game, Guards, Prover, RoleId, State, StateMachine};
use serde::Deserialize;
use toml::Spanned;

use super::{SHIPPED, SuiteError};
use crate::game_source::{self, Reading};
use crate::regular_file::{self, FileContents};
use crate::toml_text::{TomlError, TomlText};
use crate::typed_moves::{TypedMovesError, expressions, follow, legal_move};

/// The suite that comes with the program.
const SHIPPED_TEXT: &str = include_str!("endgames.toml");

/// Changes when suites can no longer be read.
const FORMAT: u32 = 1;

/// Longer files are refused.
const MAX_BYTES: u64 = 64 << 20;

/// Greatest weight of a position, so that sums of weights are finite.
const MAX_WEIGHT: f64 = 1e6;

/// Positions of which a player gets some right.
#[derive(Clone, Debug)]
pub struct PositionSuite {
    /// The suite's name: that of its file, or of the shipped suite.
    pub name: String,
    /// In the order of the file.
    pub positions: Vec<Position>,
}

/// One position: a role to move, and its good moves.
#[derive(Clone, Debug)]
pub struct Position {
    /// Unique in the suite.
    pub id: String,
    /// The game's name.
    pub game: String,
    /// The game, beginning in this position.
    pub rules: Arc<Game>,
    /// Whose move is asked for.
    pub role: RoleId,
    /// Number of its legal moves.
    pub n_legal: usize,
    /// Its good moves, as KIF text.
    pub good: BTreeSet<String>,
    /// What moves are worth to the role, 0 to 100, as far as the suite says: by KIF text.
    pub values: BTreeMap<String, f64>,
    /// How much the position counts, above 0.
    pub weight: f64,
    /// Its grade: steps that a search must look ahead.
    pub depth: Option<u32>,
}

impl Position {
    /// What the best move is worth, if the suite says.
    #[must_use]
    pub fn best_value(&self) -> Option<f64> {
        let known = self.good.iter().filter_map(|text| self.values.get(text).copied());
        known.reduce(f64::max)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    format: Spanned<u32>,
    #[serde(default)]
    position: Vec<Spanned<PositionTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PositionTable {
    id: Option<Spanned<String>>,
    game: Spanned<String>,
    role: Spanned<String>,
    moves: Option<Spanned<String>>,
    state: Option<Spanned<String>>,
    good: Spanned<Vec<Spanned<String>>>,
    weight: Option<Spanned<f64>>,
    depth: Option<Spanned<u32>>,
    #[serde(default)]
    values: BTreeMap<Spanned<String>, Spanned<f64>>,
    /// Where the position comes from: for readers of the file.
    #[serde(rename = "source")]
    _source: Option<String>,
}

/// Finds what `path` names: the shipped suite, else a file. `./endgames` is always a file.
///
/// # Errors
/// If there is no such file, or it is no valid suite.
pub fn find(path: &Path, reading: Reading) -> Result<PositionSuite, SuiteError> {
    if path.as_os_str() == SHIPPED {
        return read(SHIPPED_TEXT, SHIPPED, Path::new(""), reading);
    }
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    let origin = path.display().to_string();
    let source = TomlText { text: "", origin: &origin };
    let bytes = match regular_file::read(path, MAX_BYTES) {
        Ok(FileContents::Whole(bytes)) => bytes,
        Ok(FileContents::TooLong { n_bytes }) => {
            let message = format!("{n_bytes} bytes; expected at most {} MiB", MAX_BYTES >> 20);
            return Err(source.whole(message).into());
        }
        Ok(FileContents::NotAFile) => {
            return Err(source.whole("it is not a regular file; copy its text into one").into());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SuiteError::Unknown { path: path.to_owned() });
        }
        Err(error) => return Err(unreadable(error)),
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| source.whole("not a position suite: expected a text file in TOML"))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    read(&text, &origin, folder, reading)
}

/// Reads a suite called `origin` in errors; paths of rulesheets begin in `folder`. Each
/// position is reached by the rules of its game, and its moves must be legal there.
///
/// # Errors
/// If the text or a position is wrong; the first error in the order of the file.
pub fn read(
    text: &str,
    origin: &str,
    folder: &Path,
    reading: Reading,
) -> Result<PositionSuite, SuiteError> {
    let source = TomlText { text, origin };
    let file: SuiteFile = toml::from_str(text).map_err(|error| {
        match toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("games")) {
            true => source.whole("this is a spec, not a suite of positions; use `gamemaster run`"),
            false => source.parse_error(&error),
        }
    })?;
    let format = *file.format.get_ref();
    if format != FORMAT {
        let message = format!("format = {format}: this program reads format {FORMAT}");
        return Err(source.error(file.format.span(), message).into());
    }
    if file.position.is_empty() {
        return Err(source.whole("the suite has no positions; add a [[position]] table").into());
    }
    let mut reader =
        Reader { source, folder, reading, games: BTreeMap::new(), ids: BTreeSet::new() };
    let positions = file.position.iter().map(|table| reader.position(table));
    let positions = positions.collect::<Result<_, _>>()?;
    let stem = Path::new(origin).file_stem().and_then(|stem| stem.to_str());
    Ok(PositionSuite { name: stem.unwrap_or(origin).to_owned(), positions })
}

/// Reads positions, with what was read before.
struct Reader<'a> {
    source: TomlText<'a>,
    folder: &'a Path,
    reading: Reading,
    /// By name or path: the game computed as written.
    games: BTreeMap<String, Prover>,
    ids: BTreeSet<String>,
}

impl Reader<'_> {
    fn position(&mut self, spanned: &Spanned<PositionTable>) -> Result<Position, SuiteError> {
        let table = spanned.get_ref();
        let id = self.id(table.id.as_ref(), spanned.span())?;
        let weight = table.weight.as_ref().map_or(1.0, |weight| *weight.get_ref());
        if !(weight > 0.0 && weight <= MAX_WEIGHT) {
            let span = table.weight.as_ref().map_or(spanned.span(), Spanned::span);
            let message =
                format!("weight = {weight}: expected a number above 0, and at most {MAX_WEIGHT}");
            return Err(self.source.error(span, message).into());
        }
        let depth = table.depth.as_ref().map(|depth| *depth.get_ref());
        let Self { source, folder, reading, games, .. } = self;
        let source = *source;
        let name = table.game.get_ref();
        if !games.contains_key(name) {
            games.insert(name.clone(), load(source, folder, *reading, &table.game)?);
        }
        let machine = games.get_mut(name).expect("it was put there just now");
        let typed = |span: Range<usize>| {
            move |error: TypedMovesError| source.error(span, error.to_string())
        };
        let broken = |error: games::ReasoningError| {
            let message = format!("cannot compute `{name}`: {error}");
            source.error(table.game.span(), message)
        };
        let start = machine.initial_state().map_err(broken)?;
        let (state, span) = match (&table.moves, &table.state) {
            (Some(_), Some(both)) => {
                let message = "`moves` and `state` are both given; give one of them";
                return Err(source.error(both.span(), message).into());
            }
            (Some(moves), None) => {
                let line = follow(machine, start, moves.get_ref(), "moves");
                (line.map_err(typed(moves.span()))?.last().clone(), moves.span())
            }
            (None, Some(facts)) => {
                let found = expressions(facts.get_ref(), "state").map_err(typed(facts.span()))?;
                (state_of(machine, &found, source, facts)?, facts.span())
            }
            (None, None) => (start, spanned.span()),
        };
        if machine.is_terminal(&state).map_err(broken)? {
            return Err(source
                .error(span, format!("position `{id}`: the match is over there"))
                .into());
        }
        let role = role(machine.game(), source, &table.role)?;
        let mut legal = Vec::new();
        machine.legal_moves(&state, role, &mut legal).map_err(broken)?;
        let mut canonical = |text: &Spanned<String>, key: &str| {
            legal_text(machine, &state, role, source, text, key)
        };
        let mut good = BTreeSet::new();
        for text in table.good.get_ref() {
            good.insert(canonical(text, "good")?);
        }
        let mut values = BTreeMap::new();
        for (text, value) in &table.values {
            let worth = *value.get_ref();
            if !(0.0..=100.0).contains(&worth) {
                let message = format!("value {worth}: expected a number from 0 to 100");
                return Err(source.error(value.span(), message).into());
            }
            values.insert(canonical(text, "values")?, worth);
        }
        let position = Position {
            rules: beginning_in(machine, &state, source, &table.game, *reading)?,
            game: machine.game().name().to_owned(),
            n_legal: legal.len(),
            id,
            role,
            good,
            values,
            weight,
            depth,
        };
        position.check().map_err(|message| {
            let message = format!("position `{}`: {message}", position.id);
            source.error(table.good.span(), message)
        })?;
        Ok(position)
    }

    /// The id, or one made from the position's number.
    fn id(
        &mut self,
        given: Option<&Spanned<String>>,
        span: Range<usize>,
    ) -> Result<String, SuiteError> {
        let number = self.ids.len() + 1;
        let (id, span) = match given {
            Some(id) => (id.get_ref().clone(), id.span()),
            None => (format!("position-{number}"), span),
        };
        if !self.ids.insert(id.clone()) {
            let message = format!("duplicate id `{id}`; give each position an id of its own");
            return Err(self.source.error(span, message).into());
        }
        Ok(id)
    }
}

impl Position {
    /// Whether a player can pass and can fail.
    fn check(&self) -> Result<(), String> {
        if self.good.is_empty() {
            return Err("`good` has no moves; name at least one".to_owned());
        }
        if self.good.len() == self.n_legal {
            return Err("all legal moves are good, so that no player can fail; remove it".into());
        }
        let Some(best) = self.best_value() else { return Ok(()) };
        let better =
            self.values.iter().find(|&(text, value)| !self.good.contains(text) && *value >= best);
        match better {
            Some((text, value)) => Err(format!(
                "`{text}` is worth {value}, not less than the good moves with {best}, but it is \
                 not in `good`"
            )),
            None => Ok(()),
        }
    }
}

/// A game of the suite, computed as written.
fn load(
    source: TomlText<'_>,
    folder: &Path,
    reading: Reading,
    name: &Spanned<String>,
) -> Result<Prover, SuiteError> {
    let text = name.get_ref();
    let path: PathBuf = match games::library::find(text) {
        Some(_) => text.into(),
        None => folder.join(text),
    };
    let loaded = game_source::load(&path.to_string_lossy(), reading).map_err(|error| {
        let (origin, line) = (source.origin.to_owned(), source.line(&name.span()));
        SuiteError::Game { origin, line, source: Box::new(error) }
    })?;
    if loaded.game.kind().hidden_information {
        let message = format!(
            "`{text}` has hidden information; expected a game in which players see every move"
        );
        return Err(source.error(name.span(), message).into());
    }
    Prover::new(loaded.game, Guards::default()).map_err(|error| {
        source.error(name.span(), format!("cannot compute `{text}`: {error}")).into()
    })
}

fn state_of(
    machine: &mut Prover,
    facts: &[Expression],
    source: TomlText<'_>,
    text: &Spanned<String>,
) -> Result<State, TomlError> {
    machine.state_of(facts).ok_or_else(|| {
        source.error(text.span(), "state: these are no facts of the game without variables")
    })
}

fn role(game: &Game, source: TomlText<'_>, name: &Spanned<String>) -> Result<RoleId, TomlError> {
    let mut roles = game.role_ids().filter(|&role| Some(role) != game.random());
    roles.clone().find(|&role| game.role_name(role) == name.get_ref()).ok_or_else(|| {
        let known: Vec<&str> = roles.by_ref().map(|role| game.role_name(role)).collect();
        let message = format!("role = {:?}: expected one of {}", name.get_ref(), known.join(", "));
        source.error(name.span(), message)
    })
}

/// A legal move as the game writes it.
fn legal_text(
    machine: &mut Prover,
    state: &State,
    role: RoleId,
    source: TomlText<'_>,
    text: &Spanned<String>,
    key: &str,
) -> Result<String, TomlError> {
    let wrong = |message: String| source.error(text.span(), message);
    let typed = text.get_ref();
    let action: Expression =
        typed.parse().map_err(|error| wrong(format!("{key}: `{typed}`: {error}")))?;
    let id = legal_move(machine, state, role, &action, key);
    let id = id.map_err(|error| wrong(error.to_string()))?;
    Ok(machine.move_expression(id).to_string())
}

/// The rules that begin in a state.
fn beginning_in(
    machine: &Prover,
    state: &State,
    source: TomlText<'_>,
    name: &Spanned<String>,
    reading: Reading,
) -> Result<Arc<Game>, SuiteError> {
    let facts = machine.facts(state);
    game_source::beginning_in(machine.game(), &facts, reading).map_err(|error| {
        let (origin, line) = (source.origin.to_owned(), source.line(&name.span()));
        SuiteError::Game { origin, line, source: Box::new(error) }
    })
}
