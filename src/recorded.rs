//! Recorded matches: a run's records with their games, and the states computed from the
//! recorded moves.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use games::{Expression, Game, MoveId, Prover, ReasoningError, State, StateMachine};
use results::files::SPEC_LOCK;
use results::journal::{JournalError, each_match};
use results::record::{DecisionRecord, MatchRecord};

use crate::game_source::GameSourceError;
use crate::spec::{self, RecordedSpec, SpecError};

/// A run's folder, read.
pub struct RecordedRun {
    folder: PathBuf,
    spec: RecordedSpec,
    /// A reasoner for each game asked for.
    machines: BTreeMap<String, Box<dyn StateMachine>>,
}

/// Why a match cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The folder holds no run, or not all of it.
    #[error("cannot read {}", run.join(SPEC_LOCK).display())]
    Lock {
        /// The folder.
        run: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The spec cannot be read any more.
    #[error("cannot use the spec of the run")]
    Spec(#[from] SpecError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No match has this name.
    #[error("match `{name}` has not been played in {}: {}", run.display(), candidates(*jobs))]
    NoMatch {
        /// What was asked for.
        name: String,
        /// Where.
        run: PathBuf,
        /// The smallest and the largest job number; `None` without matches.
        jobs: Option<(u64, u64)>,
    },
    /// Several matches have this name.
    #[error("ambiguous match `{name}`: expected one of {}", alternatives(matches))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// What it may be; not all, if they are many.
        matches: Vec<String>,
    },
    /// The rulesheet is not what it was.
    #[error("the rulesheet of `{game}` has changed since the match was played")]
    Changed {
        /// The game.
        game: String,
    },
    /// The rulesheet does not validate any more.
    #[error(transparent)]
    Game(#[from] Box<GameSourceError>),
    /// The rules cannot be computed.
    #[error("cannot compute `{game}`")]
    Reasoning {
        /// The game.
        game: String,
        /// Why.
        #[source]
        source: ReasoningError,
    },
    /// A recorded move is none of this game.
    #[error("`{played}` is not a move of this game (step {step})")]
    Move {
        /// As recorded.
        played: String,
        /// Steps before it.
        step: usize,
    },
}

fn candidates(jobs: Option<(u64, u64)>) -> String {
    match jobs {
        None => "it has no matches yet".to_owned(),
        Some((first, last)) if first == last => format!("its only match is {first}"),
        Some((first, last)) => {
            format!("its match numbers are {first} to {last} (or give a job_id or match_id)")
        }
    }
}

fn alternatives(names: &[String]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        names => names.concat(),
    }
}

impl RecordedRun {
    /// Reads the spec of the run in `folder`.
    ///
    /// # Errors
    /// If there is none, or its games are gone.
    pub fn open(folder: &Path) -> Result<Self, RecordedError> {
        let path = folder.join(SPEC_LOCK);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| RecordedError::Lock { run: folder.to_owned(), source })?;
        let spec = spec::read_recorded(&text, &path.display().to_string(), folder)?;
        Ok(Self { folder: folder.to_owned(), spec, machines: BTreeMap::new() })
    }

    /// What was run.
    #[must_use]
    pub fn spec(&self) -> &RecordedSpec {
        &self.spec
    }

    /// The match that `name` means: a job's number, or a job's or match's id, or
    /// the beginning of one.
    ///
    /// # Errors
    /// If there is none or more than one, or the journal cannot be read.
    pub fn find(&self, name: &str) -> Result<MatchRecord, RecordedError> {
        let number: Option<u64> = name.parse().ok();
        let mut exact = None;
        let mut begun = Vec::new();
        let mut jobs: Option<(u64, u64)> = None;
        each_match(&self.folder, |record| {
            let (first, last) = jobs.unwrap_or((record.job, record.job));
            jobs = Some((first.min(record.job), last.max(record.job)));
            let ids = [record.job_id.as_str(), record.match_id.as_str(), hexadecimal(&record)];
            if number == Some(record.job) || ids.contains(&name) {
                exact = Some(record);
                return ControlFlow::Break(());
            }
            if name.len() >= MIN_BEGINNING && ids.iter().any(|id| id.starts_with(name)) {
                begun.push(record);
            }
            // Two show that it is not clear which is meant, unless one is exact.
            begun.truncate(3);
            ControlFlow::Continue(())
        })?;
        if let Some(record) = exact {
            return Ok(record);
        }
        let name = name.to_owned();
        match begun.len() {
            1 => Ok(begun.remove(0)),
            0 => Err(RecordedError::NoMatch { name, run: self.folder.clone(), jobs }),
            _ => {
                let matches = begun.iter().map(shown).collect();
                Err(RecordedError::Ambiguous { name, matches })
            }
        }
    }

    /// A reasoner for the game of a match.
    ///
    /// # Errors
    /// If its rulesheet is not what it was, or cannot be computed.
    pub fn machine(
        &mut self,
        record: &MatchRecord,
    ) -> Result<&mut dyn StateMachine, RecordedError> {
        if !self.machines.contains_key(&record.game) {
            let game = self.game(record)?;
            let machine = Prover::new(game, self.spec.guards.clone())
                .map_err(|source| RecordedError::Reasoning { game: record.game.clone(), source })?;
            // Following a match asks too little for another reasoner to be worth making.
            self.machines.insert(record.game.clone(), Box::new(machine));
        }
        Ok(&mut **self.machines.get_mut(&record.game).expect("it was put there just now"))
    }

    fn game(&self, record: &MatchRecord) -> Result<Arc<Game>, RecordedError> {
        let changed = || RecordedError::Changed { game: record.game.clone() };
        let mut entries = self.spec.games.iter();
        let entry = entries.find(|entry| entry.source.name == record.game).ok_or_else(changed)?;
        if entry.text_hash() != record.game_hash {
            return Err(changed());
        }
        let checked = entry.source.clone().check(entry.reading);
        let diagnostics = checked.diagnostics;
        let broken = || Box::new(GameSourceError::Broken(Box::new(diagnostics)));
        Ok(checked.game.ok_or_else(broken)?)
    }
}

/// Letters of an id that may stand for it.
const MIN_BEGINNING: usize = 4;

/// A match's id without the word before it.
fn hexadecimal(record: &MatchRecord) -> &str {
    record.match_id.rsplit('.').next().unwrap_or_default()
}

fn shown(record: &MatchRecord) -> String {
    format!("{} ({})", record.job, record.match_id)
}

/// The positions of a match, from the initial one to the last: the facts of each,
/// in canonical order.
///
/// # Errors
/// If a move is none of the game's, or the rules cannot be computed.
pub fn positions(
    machine: &mut dyn StateMachine,
    record: &MatchRecord,
) -> Result<Vec<Vec<Expression>>, RecordedError> {
    let reasoning = |source| RecordedError::Reasoning { game: record.game.clone(), source };
    let mut state = machine.initial_state().map_err(reasoning)?;
    let mut positions = vec![machine.facts(&state)];
    for (step, decisions) in record.steps.iter().enumerate() {
        let joint_move = joint_move(machine, decisions, step)?;
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).map_err(reasoning)?;
        state = next;
        positions.push(machine.facts(&state));
    }
    Ok(positions)
}

/// The joint move that was executed in a step.
pub(crate) fn joint_move(
    machine: &mut dyn StateMachine,
    decisions: &[DecisionRecord],
    step: usize,
) -> Result<Vec<MoveId>, RecordedError> {
    let executed = |decision: &DecisionRecord| {
        let expression: Option<Expression> = decision.executed.parse().ok();
        let id = expression.and_then(|expression| machine.find_move(&expression));
        id.ok_or_else(|| RecordedError::Move { played: decision.executed.clone(), step })
    };
    decisions.iter().map(executed).collect()
}
