//! What a spec comes to: games made ready, the schedule, how many matches at
//! once, and what to tell about them before anything is played.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use games::reasoner::{self, Chosen};
use games::{Cancel, Game};
use results::counted::counted;
use results::partition::Partition;
use results::record::Budget;
use serde::Serialize;

use super::run_estimate::{Estimate, estimate};
use crate::cli::{Failure, Outcome};
use crate::consumers::brief;
use crate::course::{Course, CourseError};
use crate::descriptors::{self, Outside};
use crate::exit_code;
use crate::game_source::GameSourceError;
use crate::manager::{Enforcement, PlayerSource, PreparedGame};
use crate::output::{json_line, to_stdout};
use crate::run_folder::{Played, elsewhere};
use crate::schedule::{Clocks, Round, Schedule, ScheduleError, Skip, TimeBudget};
use crate::spec::{Contestant, GameEntry, Spec, time_budget_words};

/// A spec, ready to be played.
pub(super) struct Planned<J = PlannedJobs> {
    pub(super) spec: Spec,
    pub(super) games: Vec<Arc<PreparedGame>>,
    pub(super) jobs: J,
    pub(super) concurrency: u32,
    /// What a user should know, and a reader of the report too.
    pub(super) warnings: Vec<String>,
}

/// What is to be played.
pub(super) enum PlannedJobs {
    /// All is known.
    Schedule(Arc<Schedule>),
    /// It follows from results.
    Course(Arc<Course>),
}

impl PlannedJobs {
    /// Matches, at most.
    pub(super) fn n_jobs(&self) -> u64 {
        match self {
            Self::Schedule(schedule) => schedule.n_jobs(),
            Self::Course(course) => course.most_jobs(),
        }
    }

    /// What is played of each game under each budget, at most.
    pub(super) fn rounds(&self) -> Vec<Round> {
        match self {
            Self::Schedule(schedule) => schedule.rounds().collect(),
            Self::Course(course) => course.most_rounds(),
        }
    }
}

impl Planned {
    /// What is played, if all of it is known.
    pub(super) fn scheduled(self) -> Option<Planned<Arc<Schedule>>> {
        let Self { spec, games, jobs, concurrency, warnings } = self;
        let PlannedJobs::Schedule(jobs) = jobs else { return None };
        Some(Planned { spec, games, jobs, concurrency, warnings })
    }
}

/// Reads the games and lays out what is played.
pub(super) fn plan(spec: Spec) -> Result<Planned, Failure> {
    let games = spec.games.iter().map(validated).collect::<Result<Vec<_>, _>>();
    let games = games.map_err(Failure::game)?;
    let mut warnings = vec![];
    let jobs = if spec.follows_results() {
        let course = Course::new(spec.plan(&games), spec.stages.clone())
            .map_err(|error| Failure::usage(anyhow::anyhow!(no_course(&spec, &error))))?;
        PlannedJobs::Course(Arc::new(course))
    } else {
        let schedule = Schedule::new(spec.plan(&games))
            .map_err(|error| Failure::usage(anyhow::anyhow!(no_schedule(&spec, &error))))?;
        warnings = sitting_out(&spec, schedule.skips());
        PlannedJobs::Schedule(Arc::new(schedule))
    };
    let concurrency = concurrency(&spec, &jobs, &mut warnings);
    warnings.extend(no_time_to_think(&spec));
    warnings.extend(fractions(&spec));
    let prepared = spec.games.iter().zip(games);
    let prepared = prepared.map(|(entry, game)| prepare(&spec, entry, game, &mut warnings));
    let games = prepared.collect::<Result<_, _>>()?;
    Ok(Planned { games, jobs, concurrency, warnings, spec })
}

fn validated(entry: &GameEntry) -> Result<Arc<Game>, GameSourceError> {
    let checked = entry.source.clone().check(entry.reading);
    checked.game.ok_or_else(|| GameSourceError::Broken(Box::new(checked.diagnostics)))
}

fn prepare(
    spec: &Spec,
    entry: &GameEntry,
    game: Arc<Game>,
    warnings: &mut Vec<String>,
) -> Result<Arc<PreparedGame>, Failure> {
    let name = entry.source.name.clone();
    let Chosen { machine, not_ground } =
        reasoner::choose(game, spec.guards.clone(), &Cancel::new())
            .map_err(|error| Failure::preflight(anyhow::anyhow!("{name}: {error}")))?;
    if let Some(error) = not_ground {
        warnings.push(format!("the prover plays {name}, slower than a network would: {error}"));
    }
    Ok(Arc::new(PreparedGame::new(name, entry.text_hash(), machine)))
}

fn no_schedule(spec: &Spec, error: &ScheduleError) -> String {
    let ScheduleError::NothingToPlay { skips } = error else { return error.to_string() };
    format!("player count fits no game: {}", sitting_out(spec, skips).join("; "))
}

/// Why stages cannot be played, with names.
fn no_course(spec: &Spec, error: &CourseError) -> String {
    let game = |game: usize| &spec.games[game].source.name;
    match *error {
        CourseError::Seats { stage, format, wanted, game: index, n_seats } => format!(
            "{}{} takes games of {wanted}, and {} is for {n_seats}: leave it out, or play a round_robin",
            stage_words(spec, stage),
            format.name(),
            game(index)
        ),
        CourseError::SitsOut { game: index, player } => format!(
            "{} cannot play {} (hidden information): where pairings follow results everybody plays \
             everything, so leave one of them out",
            spec.players[player].config.id,
            game(index)
        ),
        CourseError::TooFewPlayers { stage, n_players, n_needed } => format!(
            "{}{} takes {} at least, and there {} {n_players}",
            stage_words(spec, stage),
            spec.stages[stage - 1].format.name(),
            counted(n_needed, "player", "players"),
            if n_players == 1 { "is" } else { "are" }
        ),
        _ => error.to_string(),
    }
}

fn stage_words(spec: &Spec, stage: usize) -> String {
    if spec.stages.len() > 1 { format!("stage {stage}: ") } else { String::new() }
}

/// What is left out and why, in words. Players that sit out of several games
/// are told of once.
fn sitting_out(spec: &Spec, skips: &[Skip]) -> Vec<String> {
    let name = |game: usize| &spec.games[game].source.name;
    let mut words = Vec::new();
    for skip in skips {
        match *skip {
            Skip::NoSeats { game } => {
                words.push(format!("{} has no role for a player and is left out", name(game)));
            }
            Skip::TooFewPlayers { game, n_seats, n_players } => {
                words.push(format!(
                    "{} takes {}, {n_players} of the {} given can play it, so it is left out",
                    name(game),
                    counted(n_seats, "player", "players"),
                    spec.players.len()
                ));
            }
            Skip::NoGauntlet { game } => {
                words.push(format!(
                    "{} is left out: those who can play it are all challengers, or none is",
                    name(game)
                ));
            }
            Skip::SitsOut { .. } => {}
        }
    }
    for (index, player) in spec.players.iter().enumerate() {
        let games: Vec<&str> = skips
            .iter()
            .filter_map(|skip| match skip {
                Skip::SitsOut { game, player } if *player == index => Some(name(*game).as_str()),
                _ => None,
            })
            .collect();
        if !games.is_empty() {
            words.push(format!(
                "{} sits out {} (hidden information)",
                player.config.id,
                games.join(", ")
            ));
        }
    }
    words
}

/// What a play clock of nothing means, if there is one.
fn no_time_to_think(spec: &Spec) -> Option<String> {
    let is_nothing = |time: TimeBudget| time.budget == Budget::Clock && time.clocks.play.is_zero();
    let players = spec.players.iter().filter(|player| player.thinks).filter(|player| {
        spec.time_budgets.iter().any(|time| is_nothing(player.config.odds.apply(*time)))
    });
    let ids: Vec<&str> = players.map(|player| player.config.id.as_str()).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "with a play clock of 0s there is no time to think: built-in players answer with the \
             first move they find, others have the margin only ({})",
            ids.join(", ")
        )
    })
}

/// Matches at once: as many as leave a core to every player that thinks.
fn concurrency(spec: &Spec, jobs: &PlannedJobs, warnings: &mut Vec<String>) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let at_once = |round: Round| {
        let thinkers = round.players.iter().filter(|&&player| spec.players[player].thinks);
        thinkers.count().min(round.n_seats)
    };
    let thinkers = jobs.rounds().into_iter().map(at_once).max().unwrap_or(0);
    // Counted in nodes, thoughts are the same however slow.
    let by_clock = spec.time_budgets.iter().any(|time| time.budget == Budget::Clock);
    let share = if by_clock { thinkers.max(1) } else { 1 };
    let fair = u32::try_from((cores / share).max(1)).unwrap_or(u32::MAX);
    let asked = spec.jobs.unwrap_or(fair);
    if asked > fair && by_clock && thinkers > 0 {
        warnings.push(format!(
            "{} at once with up to {} thinking in each on {}: clocks are fair up to {fair}",
            counted(asked, "match", "matches"),
            counted(thinkers, "player", "players"),
            counted(cores, "core", "cores")
        ));
    }
    let n_jobs = u32::try_from(jobs.n_jobs()).unwrap_or(u32::MAX).max(1);
    let needed = descriptors::of_match(most_outside(spec, jobs));
    let most = descriptors::matches(needed);
    if asked.min(n_jobs) > most {
        warnings.push(format!(
            "{asked} matches at once need about {} file descriptors, and this machine allows {} \
             (ulimit -n): {most} are played at once",
            descriptors::RESERVED + needed * u64::from(asked.min(n_jobs)),
            descriptors::limit()
        ));
        return most;
    }
    asked
}

/// Most players of one match that are reached over HTTP, and those of them that
/// are launched.
fn most_outside(spec: &Spec, jobs: &PlannedJobs) -> Outside {
    let mut most = Outside::default();
    for round in jobs.rounds() {
        let is = |wanted: fn(&PlayerSource) -> bool| {
            let players = round.players.iter().map(|&player| &spec.players[player].config.source);
            players.filter(|source| wanted(source)).count().min(round.n_seats)
        };
        let launched = is(|source| matches!(source, PlayerSource::Command { .. }));
        let outside = is(|source| !matches!(source, PlayerSource::BuiltIn { .. }));
        most.n_launched = most.n_launched.max(launched as u64);
        most.n_players = most.n_players.max(outside as u64);
    }
    most
}

/// What is to be known about clocks that are no whole seconds, which is what
/// players outside the program are told.
fn fractions(spec: &Spec) -> Vec<String> {
    let mut told = Vec::new();
    let is_outside =
        |player: &&Contestant| !matches!(player.config.source, PlayerSource::BuiltIn { .. });
    for player in spec.players.iter().filter(is_outside) {
        for time in &spec.time_budgets {
            let Clocks { start, play, margin } = player.config.odds.apply(*time).clocks;
            for (name, clock) in [("start", start), ("play", play)] {
                if clock.subsec_nanos() == 0 && !clock.is_zero() {
                    continue;
                }
                let sentence = fraction(name, clock, margin, spec.rules.enforcement);
                if !told.contains(&sentence) {
                    told.push(sentence);
                }
            }
        }
    }
    told
}

fn fraction(name: &str, clock: Duration, margin: Duration, enforcement: Enforcement) -> String {
    let seconds = Duration::from_secs(clock.as_secs().max(1));
    let [exact, told, grace] = [clock, seconds, margin].map(humantime::format_duration);
    let begun = format!(
        "players outside the program are told whole seconds: a {name} clock of {exact} is told as \
         {told}"
    );
    match enforcement {
        Enforcement::Told if clock < seconds => format!(
            "{begun}, and they are cut off after {told} and the margin of {grace}; \
             clocks.enforce = \"exact\" cuts at {exact} and the margin"
        ),
        _ => format!("{begun}, and they are cut off after {exact} and the margin of {grace}"),
    }
}

/// Prints what would be played.
pub(super) fn tell(
    planned: &Planned,
    folder: &Path,
    played: &Played,
    partition: Option<Partition>,
    json: bool,
) -> Outcome {
    match &planned.jobs {
        PlannedJobs::Schedule(schedule) => {
            tell_schedule(planned, schedule, folder, played, partition, json)
        }
        PlannedJobs::Course(course) => {
            super::run_course_plan::tell(planned, course, folder, played, json)
        }
    }
}

fn tell_schedule(
    planned: &Planned,
    schedule: &Schedule,
    folder: &Path,
    played: &Played,
    partition: Option<Partition>,
    json: bool,
) -> Outcome {
    let elsewhere = partition.map_or_else(Vec::new, |part| elsewhere(schedule, part));
    let n_here = schedule.n_jobs() - elsewhere.len() as u64;
    let left = n_left(planned, schedule, played, &elsewhere);
    let left_of = |round: &Round| left.get(&(round.game, round.time_budget)).copied().unwrap_or(0);
    let rounds: Vec<Row> =
        schedule.rounds().map(|round| row(planned, &round, left_of(&round))).collect();
    let seconds = estimate(planned, left_of);
    to_stdout(|stdout| {
        if json {
            json_line(
                stdout,
                &Telling {
                    name: &planned.spec.name,
                    spec_hash: planned.spec.hash(),
                    folder: folder.display().to_string(),
                    n_jobs: schedule.n_jobs(),
                    n_blocks: schedule.n_blocks(),
                    partition,
                    n_jobs_here: n_here,
                    n_played: played.n(),
                    n_left: left.values().sum(),
                    concurrency: planned.concurrency,
                    estimated_seconds: seconds.map(|seconds| seconds.about),
                    estimated_seconds_at_most: seconds.map(|seconds| seconds.at_most),
                    rounds: &rounds,
                    warnings: &planned.warnings,
                },
            )?;
            return Ok(exit_code::OK);
        }
        let (n_jobs, n_blocks) = (schedule.n_jobs(), schedule.n_blocks());
        let (matches, blocks) =
            (counted(n_jobs, "match", "matches"), counted(n_blocks, "block", "blocks"));
        writeln!(stdout, "{matches} in {blocks}, {} at once", planned.concurrency)?;
        if let Some(part) = partition {
            writeln!(stdout, "of which {part} has {}", counted(n_here, "match", "matches"))?;
        }
        writeln!(stdout, "into {}", folder.display())?;
        let is_begun = played.n() > 0;
        if is_begun {
            let n_left = left.values().sum::<u64>();
            writeln!(stdout, "which has {} of them: {n_left} are left to play", played.n())?;
        }
        writeln!(stdout)?;
        let width = rounds.iter().map(|row| row.game.len()).max().unwrap_or(0).max(4);
        let time_width = rounds.iter().map(|row| row.budget.len()).max().unwrap_or(0).max(6);
        writeln!(
            stdout,
            "{:width$}  {:time_width$}  players  seats  pairings  blocks  matches  {}each player in each role",
            "game",
            "budget",
            if is_begun { "left  " } else { "" }
        )?;
        for row in &rounds {
            writeln!(
                stdout,
                "{:width$}  {:time_width$}  {:>7}  {:>5}  {:>8}  {:>6}  {:>7}  {}{:>24}",
                row.game,
                row.budget,
                row.n_players,
                row.n_seats,
                row.n_pairings,
                row.n_blocks,
                row.n_matches,
                if is_begun { format!("{:>4}  ", row.n_left) } else { String::new() },
                row.n_times_seated
            )?;
        }
        writeln!(stdout)?;
        tell_notes(stdout, planned, seconds)?;
        Ok(exit_code::OK)
    })
}

/// Prints what is to be known beforehand, and how long it may take.
pub(super) fn tell_notes(
    stdout: &mut dyn std::io::Write,
    planned: &Planned,
    seconds: Option<Estimate>,
) -> std::io::Result<()> {
    for warning in &planned.warnings {
        writeln!(stdout, "note: {warning}")?;
    }
    match seconds {
        Some(Estimate { about, at_most }) => {
            let [about, most] =
                [about, at_most].map(|seconds| brief(Duration::from_secs_f64(seconds)));
            writeln!(
                stdout,
                "about {about}; about {most} if every clock is used up and nobody is late"
            )
        }
        None => writeln!(stdout, "no time is estimated: nobody thinks by the clock"),
    }
}

#[derive(Serialize)]
struct Telling<'a> {
    name: &'a str,
    spec_hash: String,
    folder: String,
    n_jobs: u64,
    n_blocks: u64,
    partition: Option<Partition>,
    /// Those of the part.
    n_jobs_here: u64,
    /// Those that the folder has.
    n_played: u64,
    /// Those of the part that are not played.
    n_left: u64,
    concurrency: u32,
    estimated_seconds: Option<f64>,
    /// If every clock is used up.
    estimated_seconds_at_most: Option<f64>,
    rounds: &'a [Row],
    warnings: &'a [String],
}

/// One game under one budget.
#[derive(Serialize)]
struct Row {
    game: String,
    budget: String,
    n_players: usize,
    n_seats: usize,
    n_pairings: u64,
    n_blocks: u64,
    n_matches: u64,
    n_left: u64,
    n_times_seated: u64,
}

/// The matches that are not played, by game and time budget.
fn n_left(
    planned: &Planned,
    schedule: &Schedule,
    played: &Played,
    elsewhere: &[u64],
) -> BTreeMap<(usize, usize), u64> {
    if played.n() == 0 && elsewhere.is_empty() {
        let all = schedule.rounds();
        return all.map(|round| ((round.game, round.time_budget), round.n_matches)).collect();
    }
    let mut left = BTreeMap::new();
    for job in schedule.jobs() {
        if played.has(&job.id) || elsewhere.binary_search(&job.number).is_ok() {
            continue;
        }
        let time = TimeBudget { clocks: job.clocks, budget: job.budget };
        let budget = planned.spec.time_budgets.iter().position(|other| *other == time);
        *left.entry((job.game, budget.unwrap_or(0))).or_default() += 1;
    }
    left
}

fn row(planned: &Planned, round: &Round, n_left: u64) -> Row {
    Row {
        game: planned.spec.games[round.game].source.name.clone(),
        budget: time_budget_words(&planned.spec.time_budgets[round.time_budget]),
        n_players: round.players.len(),
        n_seats: round.n_seats,
        n_pairings: round.n_pairings,
        n_blocks: round.n_blocks,
        n_matches: round.n_matches,
        n_left,
        n_times_seated: round.n_times_seated,
    }
}
