//! The sequential planner (Genesereth and Thielscher, "General Game Playing",
//! 2014, on sequential planning): plans to the end of the game once, in the
//! start clock, and then plays the plan without deliberation.
//!
//! If the start clock is too short, it plays by another method ([`Fallback`]) and
//! tries again at each step from where it then is, keeping what it has solved; with
//! a node budget this is the mixed player that plays or searches at random until the
//! rest of the game is small enough to plan. Once it has a plan it plays optimally
//! *from that state*.
//!
//! In a game of several roles the plan is the best line there is: it assumes
//! that everyone, chance included, plays along. When the match departs from it,
//! it plans anew. Such a plan is seldom kept to the end.

mod random_search;

use std::sync::Arc;
use std::time::Instant;

use games::{Expression, MoveId, RoleId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::counted::counted;
use crate::deliberation::PlanStep;
use crate::kind::PlayerKind;
use crate::options::{OptionSpec, Reader};
use crate::plan::{PlanOutcome, PlanSettings, Solved, plan};
use crate::search::track::Track;
use crate::search::{check_order, ranks, settings};
use crate::seed;
use crate::{Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn};

/// The sequential planner.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "sequential_planner",
    summary: "Plans the whole game before the first move and then plays the plan; for small \
              single-role games.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const FALLBACK: OptionSpec = OptionSpec {
    name: "fallback",
    accepts: "\"random\", \"legal\" or \"random_search\"",
    default: "\"random\"",
    help: "How it moves while there is no plan: as the player of that name, or by the best of \
           some random lines to the end (random_search).",
};

const NODE_BUDGET: OptionSpec = OptionSpec {
    name: "node_budget",
    accepts: "a whole number from 0",
    default: "0",
    help: "Maximum number of states in one search for a plan (not the node budget per move, which \
           is `budget.nodes`); 0 for no limit of its own.",
};

/// Which of the best plans.
pub(crate) const SHORTEST: OptionSpec = OptionSpec {
    name: "shortest",
    accepts: "true or false",
    default: "false",
    help: "Prefer the shortest of the best plans; false for the first one that is found.",
};

const OPTIONS: &[OptionSpec] = &[
    FALLBACK,
    NODE_BUDGET,
    SHORTEST,
    settings::TRANSPOSITION,
    settings::BOUNDED,
    settings::MOVE_ORDER,
];

/// How a planner moves as long as it has no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// By chance, each legal move with the same probability.
    Random,
    /// By the first legal move.
    Legal,
    /// By the first move of the best of [`random_search::N_LINES`] random lines.
    Search,
}

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let fallbacks = [
        ("random", Fallback::Random),
        ("legal", Fallback::Legal),
        ("random_search", Fallback::Search),
    ];
    let fallback = reader.choice(FALLBACK.name, &fallbacks, Fallback::Random)?;
    let node_budget = reader.integer(NODE_BUDGET.name, 0..=i64::MAX, 0)?.cast_unsigned();
    planner(KIND.name, fallback, node_budget, &reader)
}

/// A planner of `kind` that enters at most `node_budget` states in one attempt (0 for no
/// limit), with the options that all its kinds share.
pub(crate) fn planner(
    kind: &'static str,
    fallback: Fallback,
    node_budget: u64,
    reader: &Reader<'_>,
) -> Result<Box<dyn Player>, OptionError> {
    let seed = reader.seed()?;
    Ok(Box::new(SequentialPlanner {
        kind,
        fallback,
        node_budget,
        settings: PlanSettings {
            bounded: reader.boolean(settings::BOUNDED.name, true)?,
            shortest: reader.boolean(SHORTEST.name, false)?,
            remembered: settings::remembered(reader, settings::DEFAULT_REMEMBERED)?,
        },
        move_order: reader.moves(settings::MOVE_ORDER.name)?,
        seed,
        rng: seed::generator(0, seed),
        track: None,
        solved: Solved::default(),
        script: None,
        deliberation: None,
    }))
}

struct SequentialPlanner {
    kind: &'static str,
    fallback: Fallback,
    node_budget: u64,
    settings: PlanSettings,
    move_order: Vec<Expression>,
    seed: Option<i64>,
    rng: Pcg64,
    track: Option<Track>,
    solved: Solved,
    script: Option<Script>,
    deliberation: Option<Deliberation>,
}

/// Half of the time and of the nodes until `stop`; the other half is for random lines.
fn half(stop: &Stop) -> Stop {
    let mut half = stop.clone();
    if let Some(nodes) = stop.node_budget() {
        half = half.after_nodes(nodes / 2);
    }
    if let Some(deadline) = stop.deadline() {
        let now = Instant::now();
        half = half.at(now + deadline.saturating_duration_since(now) / 2);
    }
    half
}

/// A plan being played.
struct Script {
    joint_moves: Vec<Vec<MoveId>>,
    /// Number of its moves played.
    step: usize,
    /// The state that the plan expects now.
    expected: State,
    score: u8,
}

impl SequentialPlanner {
    /// Tries to plan from `state`.
    fn plan(&mut self, state: &State, stop: &Stop) -> Result<(), Failure> {
        self.script = None;
        let Some(track) = &mut self.track else { return Ok(()) };
        let mut stop = stop.clone();
        if self.node_budget > 0 {
            let budget = stop.node_budget().unwrap_or(u64::MAX).min(self.node_budget);
            stop = stop.after_nodes(budget);
        }
        let machine = track.machine.as_mut();
        let ranks = ranks(machine, &self.move_order);
        let (outcome, deliberation) =
            plan(machine, track.role, state, self.settings, &ranks, &mut self.solved, &stop)?;
        self.deliberation = Some(deliberation);
        if let PlanOutcome::Found(plan) = outcome {
            self.script = Some(Script {
                joint_moves: plan.joint_moves().map(<[MoveId]>::to_vec).collect(),
                step: 0,
                expected: state.clone(),
                score: plan.score,
            });
        }
        let deliberation = self.deliberation.take().unwrap_or_default();
        self.deliberation = Some(self.planned(deliberation, 0));
        Ok(())
    }

    /// What is left of the plan, of which `n_played` steps more than the question's were
    /// taken up.
    fn planned(&self, deliberation: Deliberation, n_played: usize) -> Deliberation {
        let Some(script) = &self.script else { return deliberation };
        let left = &script.joint_moves[script.step.saturating_sub(n_played)..];
        let step =
            |moves: &Vec<MoveId>| (0..).map(RoleId).zip(moves.iter().copied()).collect::<Vec<_>>();
        let line: Vec<_> = left.iter().map(step).collect();
        let plan = left.iter().rev().fold(None, |rest, joint_move| {
            let action = joint_move[self.role_index()];
            let after = vec![(joint_move.clone(), rest)];
            Some(Arc::new(PlanStep { action, n_legal: 0, after }))
        });
        let value = Some(f64::from(script.score));
        let n_roles = self.track.as_ref().map(|track| track.machine.game().roles().len());
        let proven = deliberation.proven || (n_roles == Some(1) && script.score == 100);
        Deliberation { completed: true, proven, value, line, plan, ..deliberation }
    }

    fn role_index(&self) -> usize {
        self.track.as_ref().map_or(0, |track| usize::from(track.role.0))
    }

    /// The next move of the plan, if there is one for `state`.
    fn follow_script(&mut self, state: &State) -> Result<Option<MoveId>, Failure> {
        let (Some(script), Some(track)) = (&mut self.script, &mut self.track) else {
            return Ok(None);
        };
        let Some(joint_move) = script.joint_moves.get(script.step) else { return Ok(None) };
        if script.expected != *state {
            return Ok(None);
        }
        let own_move = joint_move[usize::from(track.role.0)];
        let mut next = State::default();
        match track.machine.next_state(state, joint_move, &mut next) {
            Ok(()) => (script.expected, script.step) = (next, script.step + 1),
            Err(games::ReasoningError::Cancelled) => self.script = None,
            Err(error) => return Err(error.into()),
        }
        Ok(Some(own_move))
    }

    fn forget(&mut self) {
        self.track = None;
        self.solved = Solved::default();
        self.script = None;
    }
}

impl Player for SequentialPlanner {
    fn check(&mut self, mut machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        check_order(&mut *machine, &self.move_order)
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.forget();
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let mut track = Track::new(seat, self.kind)?;
        check_order(&mut *track.machine, &self.move_order)?;
        match self.track.insert(track).begin(stop)? {
            Some(state) => self.plan(&state, stop),
            None => Ok(()),
        }
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = match self.fallback {
            Fallback::Random | Fallback::Search => {
                turn.legal[self.rng.random_range(0..turn.legal.len())]
            }
            Fallback::Legal => turn.legal[0],
        };
        let Some(track) = &mut self.track else { return Ok(fallback) };
        let Some(state) = track.follow(turn, stop)? else { return Ok(fallback) };
        if let Some(planned) = self.follow_script(&state)? {
            self.deliberation = Some(self.planned(Deliberation::default(), 1));
            return Ok(planned);
        }
        let planning = match self.fallback {
            Fallback::Search => half(stop),
            Fallback::Random | Fallback::Legal => stop.clone(),
        };
        self.plan(&state, &planning)?;
        if let Some(planned) = self.follow_script(&state)? {
            return Ok(planned);
        }
        let deliberation = self.deliberation.get_or_insert_default();
        let chosen =
            if self.fallback == Fallback::Legal { "the first legal one" } else { "random" };
        let why = if deliberation.completed { "there is no plan" } else { "no plan yet" };
        let note = format!("{why}: the move is {chosen}");
        let Some(track) = self.track.as_mut().filter(|_| self.fallback == Fallback::Search) else {
            deliberation.notes.push(note);
            return Ok(fallback);
        };
        let role = track.role;
        let n_left = stop.node_budget().map(|nodes| nodes.saturating_sub(deliberation.nodes));
        let stop = n_left.map_or(stop.clone(), |nodes| stop.clone().after_nodes(nodes));
        let machine = track.machine.as_mut();
        let found = random_search::best_line(machine, role, &state, &mut self.rng, &stop)?;
        deliberation.nodes += found.nodes;
        deliberation.next_calls += found.nodes;
        let Some((score, line)) = found.best else {
            deliberation.notes.push(note);
            return Ok(fallback);
        };
        deliberation.value = Some(f64::from(score));
        let step = |moves: &Vec<MoveId>| (0..).map(RoleId).zip(moves.iter().copied()).collect();
        deliberation.line = line.iter().map(step).collect();
        let lines = counted(found.n_lines, "random line");
        deliberation.notes.push(format!("no plan yet: the best of {lines}"));
        Ok(line.first().map_or(fallback, |joint_move| joint_move[usize::from(role.0)]))
    }

    fn abort(&mut self) {
        self.forget();
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}
