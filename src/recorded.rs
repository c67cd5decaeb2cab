//! Matches played before: a run's records with the games they are of, and their
//! positions computed anew from the moves.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use games::{Expression, Game, ReasoningError, State, StateMachine, state_machine_for};
use results::files::SPEC_LOCK;
use results::journal::JournalError;
use results::matches::each_match;
use results::record::MatchRecord;

use crate::game_source::GameSourceError;
use crate::spec::{self, Overrides, Spec, SpecError};

/// A run's folder, read.
#[derive(Debug)]
pub struct RecordedRun {
    folder: PathBuf,
    spec: Spec,
    games: BTreeMap<String, Arc<Game>>,
}

/// Why a match cannot be shown. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The folder holds no run, or not all of it.
    #[error("read the run's {}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The spec cannot be read any more.
    #[error("understand the run's spec")]
    Spec(#[from] SpecError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No match is called so.
    #[error("find a match called `{name}` in {}; a match is named by its job's number, its job_id or its match_id (columns of matches.csv)", run.display())]
    NoMatch {
        /// What was asked for.
        name: String,
        /// Where.
        run: PathBuf,
    },
    /// The rulesheet is not what it was.
    #[error("show a match of `{game}`: its rulesheet has changed since it was played")]
    Changed {
        /// The game.
        game: String,
    },
    /// The rulesheet does not validate any more.
    #[error(transparent)]
    Game(#[from] Box<GameSourceError>),
    /// The rules cannot be computed.
    #[error("compute `{game}`")]
    Reasoning {
        /// The game.
        game: String,
        /// Why.
        #[source]
        source: ReasoningError,
    },
    /// A recorded move is none of this game.
    #[error("understand the move {played} of step {step}")]
    Move {
        /// As recorded.
        played: String,
        /// Steps before it.
        step: usize,
    },
}

impl RecordedRun {
    /// Reads the spec of the run in `folder`.
    ///
    /// # Errors
    /// If there is none, or its games are gone.
    pub fn open(folder: &Path) -> Result<Self, RecordedError> {
        let path = folder.join(SPEC_LOCK);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| RecordedError::Lock { path: path.clone(), source })?;
        let spec = spec::read(&text, &path.display().to_string(), folder, &Overrides::default())?;
        Ok(Self { folder: folder.to_owned(), spec, games: BTreeMap::new() })
    }

    /// What was run.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The match that `name` means: a job's number, or the beginning of a job's
    /// id, or a match's id.
    ///
    /// # Errors
    /// If there is none, or the journal cannot be read.
    pub fn find(&self, name: &str) -> Result<MatchRecord, RecordedError> {
        let number: Option<u64> = name.parse().ok();
        let mut found = None;
        each_match(&self.folder, |record| {
            let is_meant = number == Some(record.job)
                || record.match_id == name
                || (name.len() >= 6 && record.job_id.starts_with(name));
            if is_meant {
                found = Some(record);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        found.ok_or_else(|| RecordedError::NoMatch {
            name: name.to_owned(),
            run: self.folder.clone(),
        })
    }

    /// The game of a match.
    ///
    /// # Errors
    /// If its rulesheet is not what it was.
    pub fn game(&mut self, record: &MatchRecord) -> Result<Arc<Game>, RecordedError> {
        if let Some(game) = self.games.get(&record.game) {
            return Ok(Arc::clone(game));
        }
        let changed = || RecordedError::Changed { game: record.game.clone() };
        let mut entries = self.spec.games.iter();
        let entry = entries.find(|entry| entry.source.name == record.game).ok_or_else(changed)?;
        if entry.text_hash() != record.game_hash {
            return Err(changed());
        }
        let checked = entry.source.clone().check(entry.reading);
        let diagnostics = checked.diagnostics;
        let game =
            checked.game.ok_or_else(|| Box::new(GameSourceError::Broken(Box::new(diagnostics))))?;
        self.games.insert(record.game.clone(), Arc::clone(&game));
        Ok(game)
    }

    /// A reasoner for the game of a match.
    ///
    /// # Errors
    /// If its rulesheet is not what it was, or cannot be computed.
    pub fn machine(
        &mut self,
        record: &MatchRecord,
    ) -> Result<Box<dyn StateMachine>, RecordedError> {
        let game = self.game(record)?;
        state_machine_for(game, self.spec.guards.clone())
            .map_err(|source| RecordedError::Reasoning { game: record.game.clone(), source })
    }
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
        let mut joint_move = Vec::with_capacity(decisions.len());
        for decision in decisions {
            let expression: Option<Expression> = decision.executed.parse().ok();
            let id = expression.and_then(|expression| machine.find_move(&expression));
            joint_move.push(
                id.ok_or_else(|| RecordedError::Move { played: decision.executed.clone(), step })?,
            );
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).map_err(reasoning)?;
        state = next;
        positions.push(machine.facts(&state));
    }
    Ok(positions)
}
