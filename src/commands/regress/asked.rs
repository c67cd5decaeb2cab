//! From the arguments to the question and the schedule that can answer it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use results::regress::{BASE, CANARY, HEAD, MIN_BLOCKS, Question};

use super::{Arguments, design, program};
use crate::commands::run_estimate::estimate;
use crate::commands::run_plan::{self, Planned};
use crate::failure::Failure;
use crate::manager::PlayerSource;
use crate::schedule::Schedule;
use crate::spec::{self, BLOCKS_PER_CANARY, Contenders, Overrides, Spec, SpecError};

/// The name of the suite that comes with the program.
pub(super) const SHIPPED: &str = "shipped";
const SHIPPED_TEXT: &str = include_str!("../../suites/shipped.toml");

/// Time that is allowed if nothing is said.
const DEFAULT_BUDGET: Duration = Duration::from_secs(600);
/// Least chance of being wrong that can be asked for.
const MIN_ALPHA: f64 = 1e-6;
/// Laps of a schedule that only time ends.
const LAPS_WITHOUT_LIMIT: u32 = 1_000_000;

/// A question, and what is played to answer it.
pub(super) struct Asked {
    pub(super) planned: Planned<Arc<Schedule>>,
    pub(super) question: Question,
}

/// A time budget on the command line: above zero.
pub(super) fn read_budget(text: &str) -> Result<Duration, String> {
    let wanted = || format!("expected a time such as 90s, 10m or 1h30m, not {text:?}");
    let budget = humantime::parse_duration(text).map_err(|_| wanted())?;
    if budget.is_zero() { Err(wanted()) } else { Ok(budget) }
}

/// Checks the arguments and lays out the schedule.
pub(super) fn asked(arguments: &Arguments) -> Result<Asked, Failure> {
    check(arguments).map_err(|message| Failure::usage(anyhow!(message)))?;
    let spec = read_suite(arguments).map_err(Failure::usage)?;
    let suite = spec.name.trim_start_matches(RUN_NAME).to_owned();
    let planned = run_plan::plan(spec)?;
    let default = arguments.max_blocks.is_none().then_some(DEFAULT_BUDGET);
    let time_limit = arguments.budget.or(default);
    // Of one lap, since that is what the spec asks for so far. It takes trying the
    // players, and without a limit nobody asks.
    let lap_s = time_limit.and_then(|_| estimate(&planned, |round| round.n_matches));
    let planned = planned.scheduled();
    let mut planned = planned.expect("a comparison follows no results: reading the spec checks it");
    let blocks_per_lap = blocks_per_lap(&planned);
    let part_ends = planned.jobs.part_ends();
    let parts_per_lap = part_ends.len() as u64;
    let blocks_per_part = blocks_per_lap / parts_per_lap;
    let max_parts = arguments.max_blocks.map(|blocks| (blocks / blocks_per_part).max(1));
    if max_parts.is_some_and(|parts| parts * blocks_per_part < MIN_BLOCKS) {
        return Err(Failure::usage(anyhow!(
            "--max-blocks {}: blocks of this suite count in groups of {blocks_per_part}, one for \
             each game and clock, and fewer than {MIN_BLOCKS} blocks tell nothing: expected at \
             least {}",
            arguments.max_blocks.unwrap_or_default(),
            MIN_BLOCKS.next_multiple_of(blocks_per_part)
        )));
    }
    let max_laps = max_parts.map_or(LAPS_WITHOUT_LIMIT, |parts| {
        u32::try_from(parts.div_ceil(parts_per_lap)).unwrap_or(u32::MAX).min(LAPS_WITHOUT_LIMIT)
    });
    planned.spec.blocks = max_laps;
    planned.jobs = Schedule::clone(&planned.jobs).with_laps(max_laps).into();
    let question = Question {
        base: arguments.base.clone(),
        head: arguments.head.clone(),
        suite,
        margin: arguments.margin,
        alpha: arguments.alpha,
        max_laps: max_laps.into(),
        time_limit_s: time_limit.map(|limit| limit.as_secs_f64()),
        matches_per_lap: planned.jobs.jobs_per_lap(),
        blocks_per_lap,
        has_canary: planned.spec.comparison.is_some_and(|comparison| comparison.canary.is_some()),
        part_ends,
        max_parts,
    };
    let n_parts = MIN_BLOCKS.div_ceil(blocks_per_part);
    let seconds = lap_s.map(|lap| lap.about * n_parts as f64 / parts_per_lap as f64);
    if let Some(message) = design::too_short(&question, seconds) {
        // The estimate is from trying built-in players; of others nobody knows.
        let evident = design::too_short(&question, seconds.map(|seconds| seconds / 2.0)).is_some();
        if evident && all_built_in(&planned) {
            return Err(Failure::usage(anyhow!(message)));
        }
        planned.warnings.push(message);
    }
    Ok(Asked { planned, question })
}

/// Whether all who think are players of ours.
fn all_built_in(planned: &Planned<Arc<Schedule>>) -> bool {
    let mut thinkers = planned.spec.players.iter().filter(|player| player.thinks);
    thinkers.all(|player| matches!(player.config.source, PlayerSource::BuiltIn { .. }))
}

fn check(arguments: &Arguments) -> Result<(), String> {
    let Arguments { margin, alpha, max_blocks, .. } = arguments;
    if !(*margin > 0.0 && *margin < 100.0) {
        return Err(format!("--margin {margin}: expected points above 0 and below 100"));
    }
    if !(*alpha >= MIN_ALPHA && *alpha < 0.5) {
        return Err(format!(
            "--alpha {alpha}: expected a probability from {MIN_ALPHA}, and below 0.5"
        ));
    }
    match max_blocks {
        Some(blocks) if *blocks < MIN_BLOCKS => Err(format!(
            "--max-blocks {blocks}: expected at least {MIN_BLOCKS}; fewer tell nothing"
        )),
        _ => Ok(()),
    }
}

/// What the runs of this command are called, before the suite's name.
const RUN_NAME: &str = "regress-";

fn read_suite(arguments: &Arguments) -> Result<Spec, SpecError> {
    let head = spec::read_player_as(&arguments.head, Some(HEAD))?;
    // One server plays one match at a time, and so never itself.
    let alone = matches!(head.config.source, PlayerSource::Remote { .. });
    let canary = (!alone).then(|| spec::read_player_as(&arguments.head, Some(CANARY)));
    let contenders = Contenders {
        base: spec::read_player_as(&arguments.base, Some(BASE))?,
        head,
        canary: canary.transpose()?,
    };
    let overrides = Overrides {
        seed: arguments.seed,
        jobs: arguments.jobs,
        contenders: Some(contenders),
        ..Overrides::default()
    };
    let suite = &arguments.suite;
    let mut spec = if suite.as_os_str() == SHIPPED {
        spec::read(SHIPPED_TEXT, SHIPPED, Path::new(""), &overrides)?
    } else {
        let unreadable = |source| SpecError::Unreadable { path: suite.clone(), source };
        let text = std::fs::read_to_string(suite).map_err(unreadable)?;
        let folder = suite.parent().unwrap_or(Path::new(""));
        spec::read(&text, &suite.display().to_string(), folder, &overrides)?
    };
    spec.name = format!("{RUN_NAME}{}", spec.name);
    // How long a comparison is follows from what is asked.
    spec.blocks = 1;
    program::identify(&mut spec);
    Ok(spec)
}

/// Pairs of what base and head do in a lap: for each game and time budget as
/// many as either has blocks with one set of opponents.
fn blocks_per_lap(planned: &Planned<Arc<Schedule>>) -> u64 {
    let spec = &planned.spec;
    let mut rounds: Vec<(usize, usize)> =
        planned.jobs.rounds().map(|round| (round.game, round.time_budget)).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let weight = |(game, _): (usize, usize)| u64::from(spec.games[game].weight);
    rounds.into_iter().map(weight).sum::<u64>() * u64::from(BLOCKS_PER_CANARY)
}
