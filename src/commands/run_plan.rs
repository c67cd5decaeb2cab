//! What a spec comes to: games made ready, the schedule, how many matches at
//! once, and what to tell about them before anything is played.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use games::reasoner::{self, Chosen};
use games::{Cancel, Game, RoleId, StateMachine};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use results::partition::Partition;
use results::record::Budget;
use serde::Serialize;

use crate::cli::{Failure, Outcome};
use crate::consumers::brief;
use crate::course::{Course, CourseError};
use crate::descriptors::{self, Outside};
use crate::exit_code;
use crate::game_source::GameSourceError;
use crate::manager::{Enforcement, PlayerSource, PreparedGame};
use crate::output::{json_line, to_stdout};
use crate::run_folder::elsewhere;
use crate::schedule::{Clocks, Round, Schedule, ScheduleError, Skip};
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
    fn rounds(&self) -> Vec<Round> {
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
            .map_err(|error| Failure::preflight(anyhow::anyhow!("{name}: failed to {error}")))?;
    if let Some(error) = not_ground {
        warnings.push(format!(
            "the prover plays {name}, slower than a network would: failed to {error}"
        ));
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
            "{}{} takes {n_needed} players at least, and there {} {n_players}",
            stage_words(spec, stage),
            spec.stages[stage - 1].format.name(),
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
                let plural = if n_seats == 1 { "" } else { "s" };
                words.push(format!(
                    "{} takes {n_seats} player{plural}, {n_players} of the {} given can play it, \
                     so it is left out",
                    name(game),
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
            "{asked} matches at once with up to {thinkers} players thinking in each on {cores} cores: \
             clocks are fair up to {fair}"
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
    partition: Option<Partition>,
    json: bool,
) -> Outcome {
    match &planned.jobs {
        PlannedJobs::Schedule(schedule) => {
            tell_schedule(planned, schedule, folder, partition, json)
        }
        PlannedJobs::Course(course) => super::run_course_plan::tell(planned, course, folder, json),
    }
}

fn tell_schedule(
    planned: &Planned,
    schedule: &Schedule,
    folder: &Path,
    partition: Option<Partition>,
    json: bool,
) -> Outcome {
    let n_elsewhere = partition.map_or(0, |part| elsewhere(schedule, part).len() as u64);
    let n_here = schedule.n_jobs() - n_elsewhere;
    let rounds: Vec<Row> = schedule.rounds().map(|round| row(planned, &round)).collect();
    let share = n_here as f64 / schedule.n_jobs() as f64;
    let seconds = estimate(planned).map(|seconds| seconds * share);
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
                    concurrency: planned.concurrency,
                    estimated_seconds: seconds,
                    rounds: &rounds,
                    warnings: &planned.warnings,
                },
            )?;
            return Ok(exit_code::OK);
        }
        let (n_jobs, n_blocks) = (schedule.n_jobs(), schedule.n_blocks());
        writeln!(stdout, "{n_jobs} matches in {n_blocks} blocks, {} at once", planned.concurrency)?;
        if let Some(part) = partition {
            writeln!(stdout, "of which {part} has {n_here} matches")?;
        }
        writeln!(stdout, "into {}\n", folder.display())?;
        let width = rounds.iter().map(|row| row.game.len()).max().unwrap_or(0).max(4);
        let time_width = rounds.iter().map(|row| row.budget.len()).max().unwrap_or(0).max(6);
        writeln!(
            stdout,
            "{:width$}  {:time_width$}  players  seats  pairings  blocks  matches  each player in each role",
            "game", "budget"
        )?;
        for row in &rounds {
            writeln!(
                stdout,
                "{:width$}  {:time_width$}  {:>7}  {:>5}  {:>8}  {:>6}  {:>7}  {:>24}",
                row.game,
                row.budget,
                row.n_players,
                row.n_seats,
                row.n_pairings,
                row.n_blocks,
                row.n_matches,
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
    seconds: Option<f64>,
) -> std::io::Result<()> {
    for warning in &planned.warnings {
        writeln!(stdout, "note: {warning}")?;
    }
    match seconds {
        Some(seconds) => {
            let most = brief(Duration::from_secs_f64(seconds));
            writeln!(stdout, "at most about {most}, if every clock is used up and nobody is late")
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
    concurrency: u32,
    estimated_seconds: Option<f64>,
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
    n_times_seated: u64,
}

fn row(planned: &Planned, round: &Round) -> Row {
    Row {
        game: planned.spec.games[round.game].source.name.clone(),
        budget: time_budget_words(&planned.spec.time_budgets[round.time_budget]),
        n_players: round.players.len(),
        n_seats: round.n_seats,
        n_pairings: round.n_pairings,
        n_blocks: round.n_blocks,
        n_matches: round.n_matches,
        n_times_seated: round.n_times_seated,
    }
}

/// Seconds if every clock is used up by those who think: start clock and play
/// clocks of a match of the length that random play has, over the matches at
/// once. `None` if no clock counts.
pub(super) fn estimate(planned: &Planned) -> Option<f64> {
    let spec = &planned.spec;
    let mut total = 0.0;
    let mut counts = false;
    for round in planned.jobs.rounds() {
        let time = &spec.time_budgets[round.time_budget];
        let n_thinkers =
            round.players.iter().filter(|&&player| spec.players[player].thinks).count();
        if time.budget != Budget::Clock || n_thinkers == 0 {
            continue;
        }
        counts = true;
        let n_choices = mean_choices(&mut *planned.games[round.game].fork(), spec.seed);
        let thinkers = round.players.iter().map(|&player| &spec.players[player]);
        let own = thinkers
            .filter(|player| player.thinks)
            .map(|player| player.config.odds.apply(*time).clocks);
        let n_players = round.players.len() as f64;
        // The chance that one given seat's player thinks.
        let thinking = n_thinkers as f64 / n_players;
        let seats = round.n_seats as f64;
        let longest = own.clone().map(|clocks| clocks.start).max().unwrap_or_default();
        let start = longest.as_secs_f64() * (1.0 - (1.0 - thinking).powf(seats));
        let mean = own.map(|clocks| clocks.play).sum::<Duration>().as_secs_f64() / n_players;
        let play = mean * n_choices;
        total += round.n_matches as f64 * (start + play);
    }
    counts.then(|| total / f64::from(planned.concurrency))
}

/// Steps of a random match in which some role has a choice, on average of three.
fn mean_choices(machine: &mut dyn StateMachine, seed: u64) -> f64 {
    const PLAYOUTS: u32 = 3;
    const MAX_STEPS: u32 = 300;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let n: u32 = (0..PLAYOUTS).map(|_| choices(machine, &mut rng, MAX_STEPS).unwrap_or(0)).sum();
    f64::from(n) / f64::from(PLAYOUTS)
}

fn choices(
    machine: &mut dyn StateMachine,
    rng: &mut Pcg64Mcg,
    max_steps: u32,
) -> Result<u32, games::ReasoningError> {
    let n_roles = machine.game().roles().len();
    let mut state = machine.initial_state()?;
    let (mut moves, mut n_choices) = (Vec::new(), 0);
    for _ in 0..max_steps {
        if machine.is_terminal(&state)? {
            break;
        }
        let mut joint_move = Vec::with_capacity(n_roles);
        let mut has_choice = false;
        for role in 0..n_roles {
            let role = RoleId(u8::try_from(role).expect("roles are counted in a byte"));
            machine.legal_moves(&state, role, &mut moves)?;
            if moves.is_empty() {
                return Ok(n_choices);
            }
            has_choice |= moves.len() > 1;
            joint_move.push(moves[rng.random_range(0..moves.len())]);
        }
        n_choices += u32::from(has_choice);
        let mut next = games::State::default();
        machine.next_state(&state, &joint_move, &mut next)?;
        state = next;
    }
    Ok(n_choices)
}
