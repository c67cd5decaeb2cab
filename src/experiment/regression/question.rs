//! From a request to the schedule that can decide it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use results::formats::Stage;
use results::regress::{BASE, CANARY, HEAD, MIN_BLOCKS, Question};

use super::{outlook, program};
use crate::experiment::{Experiment, ExperimentError, Jobs, estimate};
use crate::manager::PlayerSource;
use crate::position_suite;
use crate::schedule::Schedule;
use crate::spec::{self, BLOCKS_PER_CANARY, Contenders, Overrides, Spec, SpecError};

/// The name of the suite that comes with the program: six games, and states in place
/// of time.
pub const SHIPPED: &str = "shipped";
const SHIPPED_TEXT: &str = include_str!("../../suites/shipped.toml");

/// Time that is allowed if nothing is said.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(600);
/// Least chance of being wrong that can be asked for.
const MIN_ALPHA: f64 = 1e-6;
/// Laps of a schedule that only time ends.
const LAPS_WITHOUT_LIMIT: u32 = 1_000_000;

/// What is requested: whether the head is weaker than the base.
#[derive(Clone, Debug)]
pub struct Request {
    /// The player that is there, written as on the command line.
    pub base: String,
    /// The player that is to replace it.
    pub head: String,
    /// What is played: the file of a spec whose players are the opponents, or
    /// [`SHIPPED`].
    pub suite: PathBuf,
    /// The loss to test for, in points; above 0, below 100.
    pub margin: f64,
    /// Probability of an error in either direction; from 1e-6, below 0.5.
    pub alpha: f64,
    /// Time limit; ten minutes if there are no `max_blocks`.
    pub time_limit: Option<Duration>,
    /// Maximum number of blocks.
    pub max_blocks: Option<u64>,
    /// Matches at once, instead of the suite's.
    pub jobs: Option<u32>,
    /// Seed of everything random, instead of the suite's.
    pub seed: Option<u64>,
    /// Whether this machine plays: then its speed shows whether a time limit is too short.
    pub is_played_here: bool,
}

/// A question, and the experiment that decides it.
pub struct Asked {
    /// What is played.
    pub experiment: Experiment,
    /// The question.
    pub question: Question,
}

/// Checks the request and computes the schedule.
///
/// # Errors If a player or the suite is invalid, a number is out of its range, or there are
/// too few blocks or too little time for a result.
pub fn ask(request: &Request) -> Result<Asked, ExperimentError> {
    check(request)?;
    let spec = read_suite(request)?;
    let suite = spec.name.trim_start_matches(RUN_NAME).to_owned();
    let mut experiment = Experiment::new(spec)?;
    let default = request.max_blocks.is_none().then_some(DEFAULT_TIME_LIMIT);
    let time_limit = request.time_limit.or(default);
    // Of one lap, since that is what the spec asks for so far. The estimate
    // tries the players, and only a time limit needs it.
    let lap_s = time_limit.filter(|_| request.is_played_here);
    let lap_s = lap_s.and_then(|_| estimate(&experiment, |round| round.n_matches).ok());
    let schedule = experiment.jobs.schedule();
    let schedule = schedule.expect("a comparison follows no results: reading the spec checks it");
    let mut schedule = Schedule::clone(schedule);
    let blocks_per_lap = blocks_per_lap(&experiment.spec, &schedule);
    let part_ends = schedule.part_ends();
    let parts_per_lap = part_ends.len() as u64;
    let blocks_per_part = blocks_per_lap / parts_per_lap;
    let max_parts = request.max_blocks.map(|blocks| (blocks / blocks_per_part).max(1));
    if max_parts.is_some_and(|parts| parts * blocks_per_part < MIN_BLOCKS) {
        let max_blocks = request.max_blocks.unwrap_or_default();
        return Err(RequestError::MaxBlocks { max_blocks, blocks_per_part }.into());
    }
    let max_laps = max_parts.map_or(LAPS_WITHOUT_LIMIT, |parts| {
        u32::try_from(parts.div_ceil(parts_per_lap)).unwrap_or(u32::MAX).min(LAPS_WITHOUT_LIMIT)
    });
    set_laps(&mut experiment.spec, max_laps);
    schedule = schedule.with_laps(max_laps);
    let question = Question {
        base: request.base.clone(),
        head: request.head.clone(),
        suite,
        margin: request.margin,
        alpha: request.alpha,
        max_laps: max_laps.into(),
        time_limit_s: time_limit.map(|limit| limit.as_secs_f64()),
        matches_per_lap: schedule.jobs_per_lap(),
        blocks_per_lap,
        has_canary: experiment
            .spec
            .comparison
            .is_some_and(|comparison| comparison.canary.is_some()),
        part_ends,
        max_parts,
    };
    let n_parts = MIN_BLOCKS.div_ceil(blocks_per_part);
    let seconds = lap_s.map(|lap| lap.about * n_parts as f64 / parts_per_lap as f64);
    if let Some(message) = outlook::too_short(&question, seconds) {
        // Only built-in players can be tried, so that only for them it is certain enough.
        let evident = outlook::too_short(&question, seconds.map(|seconds| seconds / 2.0)).is_some();
        if evident && all_built_in(&experiment.spec) {
            return Err(ExperimentError::Unplayable(message));
        }
        experiment.warnings.push(message);
    }
    experiment.jobs = Jobs::Schedule(Arc::new(schedule));
    Ok(Asked { experiment, question })
}

/// Whether all players that think are built in.
fn all_built_in(spec: &Spec) -> bool {
    let mut thinkers = spec.players.iter().filter(|player| player.thinks);
    thinkers.all(|player| matches!(player.config.source, PlayerSource::BuiltIn { .. }))
}

/// A number of a [`Request`] that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// [`Request::margin`].
    #[error("margin {margin}: {}", self.expected())]
    Margin {
        /// As requested.
        margin: f64,
    },
    /// [`Request::alpha`].
    #[error("alpha {alpha}: {}", self.expected())]
    Alpha {
        /// As requested.
        alpha: f64,
    },
    /// [`Request::max_blocks`].
    #[error("max_blocks {max_blocks}: {}", self.expected())]
    MaxBlocks {
        /// As requested.
        max_blocks: u64,
        /// Blocks of a group, one for each game and budget: only whole groups are
        /// evaluated.
        blocks_per_part: u64,
    },
}

impl RequestError {
    /// What was expected, as a phrase.
    #[must_use]
    pub fn expected(&self) -> String {
        match *self {
            Self::Margin { .. } => "expected points above 0 and below 100".to_owned(),
            Self::Alpha { .. } => {
                format!("expected a number of at least {MIN_ALPHA} and below 0.5")
            }
            Self::MaxBlocks { blocks_per_part: 0..=1, .. } => {
                format!("at least {MIN_BLOCKS} are needed for a result")
            }
            Self::MaxBlocks { blocks_per_part, .. } => format!(
                "this suite is tested after every {blocks_per_part} blocks, and at least {MIN_BLOCKS} \
                 are needed; give {} or more",
                MIN_BLOCKS.next_multiple_of(blocks_per_part)
            ),
        }
    }
}

fn check(request: &Request) -> Result<(), RequestError> {
    let Request { margin, alpha, max_blocks, .. } = *request;
    if !(margin > 0.0 && margin < 100.0) {
        return Err(RequestError::Margin { margin });
    }
    if !(MIN_ALPHA..0.5).contains(&alpha) {
        return Err(RequestError::Alpha { alpha });
    }
    match max_blocks {
        Some(max_blocks) if max_blocks < MIN_BLOCKS => {
            Err(RequestError::MaxBlocks { max_blocks, blocks_per_part: 1 })
        }
        _ => Ok(()),
    }
}

/// What the runs of this command are called, before the suite's name.
const RUN_NAME: &str = "regress-";

fn read_suite(request: &Request) -> Result<Spec, SpecError> {
    let read = |option: &str, text: &str, called: &str| {
        let player = spec::read_player_as(text, Some(called));
        player.map_err(|error| SpecError::Alone(format!("{option}: {error}")))
    };
    let base = read("--base", &request.base, BASE)?;
    let head = read("--head", &request.head, HEAD)?;
    // One server plays one match at a time, and so never itself.
    let alone = matches!(head.config.source, PlayerSource::Remote { .. });
    let canary = (!alone).then(|| spec::read_player_as(&request.head, Some(CANARY))).transpose()?;
    let contenders = Contenders { base, head, canary };
    let overrides = Overrides {
        seed: request.seed,
        jobs: request.jobs,
        contenders: Some(contenders),
        ..Overrides::default()
    };
    let suite = &request.suite;
    let mut spec = if suite.as_os_str() == SHIPPED {
        spec::read(SHIPPED_TEXT, SHIPPED, Path::new(""), &overrides)?
    } else if suite.as_os_str() == position_suite::SHIPPED && !suite.exists() {
        return Err(SpecError::Alone(format!(
            "--suite {0}: `{0}` is a suite of positions, for `gamemaster suite run`; regress needs a \
             spec, or `{SHIPPED}`",
            suite.display()
        )));
    } else {
        spec::read_file(suite, &overrides)?
    };
    spec.name = format!("{RUN_NAME}{}", spec.name);
    // How long a comparison is follows from what is asked.
    set_laps(&mut spec, 1);
    program::identify(&mut spec);
    Ok(spec)
}

/// Sets the length of a comparison.
fn set_laps(spec: &mut Spec, laps: u32) {
    (spec.blocks, spec.stages) = (laps, vec![Stage::round_robin(laps)]);
}

/// Pairs of what base and head do in a lap: for each game and time budget as
/// many as either has blocks with one set of opponents.
fn blocks_per_lap(spec: &Spec, schedule: &Schedule) -> u64 {
    let mut rounds: Vec<(usize, usize)> =
        schedule.rounds().map(|round| (round.game, round.time_budget)).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let weight = |(game, _): (usize, usize)| u64::from(spec.games[game].weight);
    rounds.into_iter().map(weight).sum::<u64>() * u64::from(BLOCKS_PER_CANARY)
}
