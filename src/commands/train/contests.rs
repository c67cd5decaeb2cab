//! What a trained player is worth: matches against the untrained one, and against itself.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use games::{Cancel, Game};
use results::calibration::CalibrationBin;
use results::counted::counted;
use results::evaluation::calibration;
use results::files::JOURNAL;

use super::super::progress_line::ProgressLine;
use super::{Arguments, EVALUATION, plain};
use crate::evaluation_file::Strength;
use crate::event::{Event, EventKind};
use crate::exit_code;
use crate::experiment::{Contest, ContestResult};
use crate::failure::Failure;
use crate::runner::Consumer;
use crate::spec::{self, Contestant};

/// The name of the player with the evaluation.
const TRAINED: &str = "trained";

/// The player with and without the evaluation, and what they play.
pub(super) struct Contests<'a> {
    arguments: &'a Arguments,
    game: &'a Arc<Game>,
    /// The player with the evaluation, as it is typed.
    trained: String,
    cancel: &'a Cancel,
}

/// Opponents, and what is played against them.
struct Opponents<'a> {
    /// The player, as it is typed.
    player: &'a str,
    /// The id of the first copy.
    id: &'a str,
    /// What the run's name has at its end.
    suffix: &'a str,
    /// What the matches are for, as progress is shown.
    purpose: &'a str,
}

impl<'a> Contests<'a> {
    /// The evaluation is at `path`; `player` has none.
    pub(super) fn new(
        arguments: &'a Arguments,
        game: &'a Arc<Game>,
        player: &Contestant,
        path: &Path,
        cancel: &'a Cancel,
    ) -> Self {
        let separator = if player.options.is_empty() { ":" } else { "," };
        let learned = toml::Value::String(format!("learned:{}", path.display()));
        let trained = format!("{}{separator}{EVALUATION}={learned}", arguments.player);
        Self { arguments, game, trained, cancel }
    }

    /// The strength of the player with the evaluation, compared with the player without it, and
    /// the folder of their matches; `None` if it was interrupted.
    pub(super) fn compare(&self) -> Result<Option<(Strength, PathBuf)>, Failure> {
        let player = &self.arguments.player;
        let untrained = Opponents { player, id: "untrained", suffix: "", purpose: "strength" };
        let Some(result) = self.play(&untrained)? else { return Ok(None) };
        let ContestResult { mean, others, difference, interval, level, matches, openings, folder } =
            result;
        let points = |points: f64| (points * 1e4).round() / 1e4;
        let strength = Strength {
            player: player.clone(),
            nodes: self.arguments.nodes,
            openings,
            matches,
            trained: points(mean),
            untrained: points(others),
            difference: points(difference),
            interval: interval.map(|interval| interval.map(points)),
            level,
        };
        Ok(Some((strength, folder)))
    }

    /// What the player with the evaluation expects of its moves in matches against itself, and
    /// their folder; `None` if it was interrupted.
    pub(super) fn calibrate(&self) -> Result<Option<(Vec<CalibrationBin>, PathBuf)>, Failure> {
        let copies = Opponents {
            player: &self.trained,
            id: "copy",
            suffix: "-calibration",
            purpose: "calibration",
        };
        let Some(ContestResult { folder, .. }) = self.play(&copies)? else { return Ok(None) };
        let mut bins = calibration(&folder.join(JOURNAL))
            .map_err(|error| Failure { code: exit_code::INTERNAL, error: error.into() })?;
        // One copy fills every role, since every seating is played. The others' decisions are
        // mostly the same ones again.
        bins.retain(|bin| bin.player == TRAINED);
        Ok(Some((bins, folder)))
    }

    /// Plays the player with the evaluation against as many copies of its opponent as the game
    /// needs; `None` if it was interrupted.
    fn play(&self, opponents: &Opponents<'_>) -> Result<Option<ContestResult>, Failure> {
        let Self { arguments, game, trained, cancel } = self;
        let &Opponents { player, id, suffix, purpose } = opponents;
        let mut players = vec![read_as(trained, TRAINED)?, read_as(player, id)?];
        let n_seats = game.role_ids().filter(|&role| Some(role) != game.random()).count();
        for copy in 2..n_seats {
            players.push(read_as(player, &format!("{id}-{copy}"))?);
        }
        let contest = Contest {
            game: Arc::clone(game),
            reading: arguments.reading,
            players,
            nodes: arguments.nodes,
            openings: arguments.openings,
            seed: arguments.seed,
            name: format!("train-{}{suffix}", plain(game.name())),
            cancel: (*cancel).clone(),
        };
        let progress = ProgressLine::new();
        let mut watcher = Watcher { progress, purpose, n_done: 0, n_matches: 0, cancel };
        let played = contest.play(&mut watcher);
        watcher.progress.clear();
        if cancel.is_cancelled() { Ok(None) } else { played.map(Some).map_err(Failure::experiment) }
    }
}

fn read_as(player: &str, id: &str) -> Result<Contestant, Failure> {
    spec::read_player_as(player, Some(id)).map_err(Failure::usage)
}

/// Shows how many matches are played.
struct Watcher<'a> {
    progress: ProgressLine,
    purpose: &'a str,
    n_done: u64,
    n_matches: u64,
    cancel: &'a Cancel,
}

/// How far the matches of a purpose are.
fn line(purpose: &str, n_done: u64, n_matches: u64) -> String {
    format!("{purpose}: {n_done} of {}", counted(n_matches, "match", "matches"))
}

impl Watcher<'_> {
    fn flow(&self) -> ControlFlow<()> {
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Consumer for Watcher<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event.kind {
            EventKind::TournamentStarted { n_jobs, n_done } => {
                (self.n_matches, self.n_done) = (n_jobs, n_done);
            }
            EventKind::MatchFinished { .. } => {
                self.n_done += 1;
                let (purpose, n_done, n_matches) = (self.purpose, self.n_done, self.n_matches);
                self.progress.show(|| line(purpose, n_done, n_matches));
            }
            _ => {}
        }
        self.flow()
    }

    fn pause(&mut self) -> ControlFlow<()> {
        self.flow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_how_many_matches_are_left() {
        assert_eq!(line("strength", 1, 24), "strength: 1 of 24 matches");
        assert_eq!(line("calibration", 1, 1), "calibration: 1 of 1 match");
    }
}
