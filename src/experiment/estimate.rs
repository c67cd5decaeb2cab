//! How long a run may take: from a few matches of random moves, and from how soon the
//! players that think have searched to the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use games::{Cursor, Game, MoveId, ReasoningError, RoleId, StateMachine};
use players::{Observation, Player, Seat, Stop, Turn};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use results::record::Budget;
use serde::Serialize;

use super::plan::Experiment;
use crate::manager::{Enforcement, PlayerSource, PreparedGame};
use crate::schedule::{Clocks, Round, TimeBudget};
use crate::spec::Contestant;

/// Matches of random moves played of each game.
const PLAYOUTS: u32 = 3;

/// Steps of each, at most.
const MAX_STEPS: usize = 300;

/// What a player gets to think when it is tried: before the match, and for each move.
/// A player that has not finished its search by then is taken to use all of its clock.
const TRIED_START: Duration = Duration::from_millis(300);
const TRIED_PLAY: Duration = Duration::from_millis(30);

/// Time for trying players, all together; of those left over the clocks count.
const TRYING: Duration = Duration::from_secs(6);

/// Seconds that a run takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Probably.
    pub about: f64,
    /// If every clock is used up and no player is late.
    pub at_most: f64,
}

/// Why there is no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NoEstimate {
    /// No clock limits the players.
    #[error("the budgets are in nodes")]
    NodeBudgets,
    /// No player uses its clock.
    #[error("no player uses its clock")]
    InstantPlayers,
}

/// How long the matches that `left` gives of each round take.
///
/// # Errors
/// If no player thinks by a clock.
pub fn estimate(
    experiment: &Experiment,
    left: impl Fn(&Round) -> u64,
) -> Result<Estimate, NoEstimate> {
    let spec = &experiment.spec;
    let mut given_up = None;
    let mut lines: BTreeMap<usize, Lines> = BTreeMap::new();
    let mut total = Estimate { about: 0.0, at_most: 0.0 };
    let (mut has_clock, mut has_thinkers) = (false, false);
    for round in experiment.jobs.rounds() {
        let time = &spec.time_budgets[round.time_budget];
        if time.budget != Budget::Clock {
            continue;
        }
        let thinkers: Vec<&Contestant> = round
            .players
            .iter()
            .map(|&player| &spec.players[player])
            .filter(|player| player.thinks)
            .collect();
        has_clock = true;
        if thinkers.is_empty() {
            continue;
        }
        has_thinkers = true;
        let game = &experiment.games[round.game];
        let lines = lines.entry(round.game).or_insert_with(|| Lines::of(game, spec.seed));
        let clocks = |player: &&Contestant| Pace::clocks(player, *time, spec.rules.enforcement);
        let all: Vec<Pace> = thinkers.iter().map(clocks).collect();
        let deadline = *given_up.get_or_insert_with(|| Instant::now() + TRYING);
        let tried = thinkers.iter().zip(&all).map(|(player, clocks)| {
            let is_time = Instant::now() < deadline;
            let tried = is_time.then(|| Pace::tried(player, *clocks, game, &lines.first)).flatten();
            tried.unwrap_or(*clocks)
        });
        let tried: Vec<Pace> = tried.collect();
        let n_matches = left(&round) as f64;
        total.at_most += n_matches * most_seconds(&all, &round, lines);
        let about = match_seconds(&tried, &round, lines.n_choices) + lines.seconds;
        total.about += n_matches * about;
    }
    let at_once = f64::from(experiment.concurrency);
    // What random moves take is within what the clocks leave, but it is measured.
    let about = (total.about / at_once).min(total.at_most / at_once);
    match (has_clock, has_thinkers) {
        (_, true) => Ok(Estimate { about, at_most: total.at_most / at_once }),
        (true, false) => Err(NoEstimate::InstantPlayers),
        (false, false) => Err(NoEstimate::NodeBudgets),
    }
}

/// Seconds that the thinkers of a match take: the longest start among them,
/// and a mean thought for each step in which a role has a choice.
fn match_seconds(paces: &[Pace], round: &Round, n_choices: f64) -> f64 {
    let n_players = round.players.len() as f64;
    // The probability that no player of the match thinks.
    let n_instant = n_players - paces.len() as f64;
    let seated = (0..round.n_seats).map(|seat| seat as f64);
    let all_instant: f64 =
        seated.map(|seat| (n_instant - seat).max(0.0) / (n_players - seat).max(1.0)).product();
    let start = paces.iter().map(|pace| pace.start).max().unwrap_or_default();
    let start = start.as_secs_f64() * (1.0 - all_instant);
    let play = paces.iter().map(|pace| pace.play).sum::<Duration>().as_secs_f64() / n_players;
    start + play * n_choices
}

/// As [`match_seconds`], at most: some players are asked at each step, even if another role moves.
fn most_seconds(paces: &[Pace], round: &Round, lines: &Lines) -> f64 {
    let seconds = match_seconds(paces, round, lines.n_choices);
    let asked = paces.iter().filter(|pace| pace.is_always_asked);
    let each_step =
        asked.map(|pace| pace.start.as_secs_f64() + pace.play.as_secs_f64() * lines.n_steps);
    each_step.fold(seconds, f64::max)
}

/// How long one player thinks in a game.
#[derive(Clone, Copy, Debug)]
struct Pace {
    start: Duration,
    /// For each move, on average.
    play: Duration,
    /// It is asked for a move where it has no choice, too.
    is_always_asked: bool,
}

impl Pace {
    /// The pace of a player that uses up its clocks.
    fn clocks(player: &Contestant, time: TimeBudget, enforcement: Enforcement) -> Self {
        let Clocks { start, play, .. } = player.config.odds.apply(time).clocks;
        match player.config.source {
            PlayerSource::BuiltIn { .. } => Self { start, play, is_always_asked: false },
            _ => {
                let [start, play] = [start, play].map(|clock| enforcement.remote_time(clock));
                Self { start, play, is_always_asked: true }
            }
        }
    }

    /// That of a built-in player, by what it does with a little time; `None` if it
    /// cannot be tried.
    fn tried(
        player: &Contestant,
        clocks: Self,
        game: &PreparedGame,
        line: &[Step],
    ) -> Option<Self> {
        let PlayerSource::BuiltIn { kind, options } = &player.config.source else { return None };
        let machine = game.fork();
        if machine.game().kind().hidden_information {
            return None;
        }
        let role = busiest(line, machine.game())?;
        let tried = (crate::built_in::find(kind)?.make)(options).ok()?;
        machine.prepare();
        let seat = Seat {
            machine: machine.into(),
            role,
            start_clock: Some(clocks.start),
            play_clock: Some(clocks.play),
            seed: 1,
        };
        try_pace(tried, seat, clocks, line)
    }
}

/// What a player does with a little time before a match and for each of its moves.
fn try_pace(mut player: Box<dyn Player>, seat: Seat, clocks: Pace, line: &[Step]) -> Option<Pace> {
    let role = usize::from(seat.role.0);
    let start = thought(&mut *player, clocks.start, TRIED_START, |player, stop| {
        player.start(seat, stop).is_ok()
    })?;
    let mut thoughts = Vec::new();
    let mut observation = None;
    for (step, number) in line.iter().zip(0..) {
        let legal = &step.legal[role];
        let turn = Turn { step: number, observation: observation.as_ref(), legal };
        let thought = thought(&mut *player, clocks.play, TRIED_PLAY, |player, stop| {
            player.play(&turn, stop).is_ok()
        })?;
        if legal.len() > 1 {
            thoughts.push(thought);
        }
        observation = Some(Observation::JointMove(step.joint_move.clone()));
    }
    player.abort();
    let n = u32::try_from(thoughts.len()).ok().filter(|&n| n > 0)?;
    Some(Pace { start, play: thoughts.iter().sum::<Duration>() / n, ..clocks })
}

/// How long a player thinks about a request: the measured time if it finished within the
/// trial time, otherwise its whole clock.
fn thought(
    player: &mut dyn Player,
    clock: Duration,
    tried: Duration,
    ask: impl FnOnce(&mut dyn Player, &Stop) -> bool,
) -> Option<Duration> {
    let asked = Instant::now();
    let stop = Stop::never().at(asked + clock.min(tried));
    if !ask(player, &stop) {
        return None;
    }
    let took = asked.elapsed();
    let is_done = took < clock.min(tried)
        || player.deliberation().is_some_and(|deliberation| deliberation.completed);
    Some(if is_done { took.min(clock) } else { clock })
}

/// The role with most choices in a match.
fn busiest(line: &[Step], game: &Game) -> Option<RoleId> {
    line.first()?;
    let n_choices = |role: &RoleId| {
        line.iter().filter(|step| step.legal[usize::from(role.0)].len() > 1).count()
    };
    game.role_ids().filter(|&role| Some(role) != game.random()).max_by_key(n_choices)
}

/// A step of a match of random moves.
struct Step {
    legal: Vec<Vec<MoveId>>,
    joint_move: Vec<MoveId>,
}

/// A few matches of random moves.
struct Lines {
    first: Vec<Step>,
    /// Steps, on average.
    n_steps: f64,
    /// Those in which a role has a choice, on average.
    n_choices: f64,
    /// Seconds that one takes.
    seconds: f64,
}

impl Lines {
    fn of(game: &Arc<PreparedGame>, seed: u64) -> Self {
        let mut machine = game.fork();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let begun = Instant::now();
        let lines: Vec<Vec<Step>> = (0..PLAYOUTS).map(|_| line(&mut *machine, &mut rng)).collect();
        let seconds = begun.elapsed().as_secs_f64() / f64::from(PLAYOUTS);
        let has_choice = |step: &&Step| step.legal.iter().any(|legal| legal.len() > 1);
        let n_choices = lines.iter().flatten().filter(has_choice).count();
        let n_choices = n_choices as f64 / f64::from(PLAYOUTS);
        let n_steps = lines.iter().map(Vec::len).sum::<usize>() as f64 / f64::from(PLAYOUTS);
        Self { first: lines.into_iter().next().unwrap_or_default(), n_steps, n_choices, seconds }
    }
}

/// A match of random moves, as far as the rules can be computed.
fn line(machine: &mut dyn StateMachine, rng: &mut Pcg64Mcg) -> Vec<Step> {
    let mut steps = Vec::new();
    let Ok(initial) = machine.initial_state() else { return steps };
    let mut cursor = machine.cursor(&initial);
    while steps.len() < MAX_STEPS {
        match step(cursor.as_mut(), machine.game(), rng) {
            Ok(Some(step)) => steps.push(step),
            Ok(None) | Err(_) => break,
        }
    }
    steps
}

/// Makes a step; `None` if the position is terminal, or a role has no move.
fn step(
    cursor: &mut dyn Cursor,
    game: &Game,
    rng: &mut Pcg64Mcg,
) -> Result<Option<Step>, ReasoningError> {
    if cursor.is_terminal()? {
        return Ok(None);
    }
    let roles = game.role_ids();
    let mut step = Step { legal: Vec::with_capacity(roles.len()), joint_move: Vec::new() };
    for role in roles {
        let legal: Vec<MoveId> = cursor.legal_moves(role)?.iter().collect();
        if legal.is_empty() {
            return Ok(None);
        }
        step.joint_move.push(legal[rng.random_range(0..legal.len())]);
        step.legal.push(legal);
    }
    cursor.play(&step.joint_move)?;
    Ok(Some(step))
}
