//! The conditional planner (Genesereth and Thielscher, "General Game Playing", 2014, on
//! conditional planning): plans a move for every reply once, in the start clock, and then
//! only looks up what to do.
//!
//! If the start clock is too short it moves at random, and tries again at each step from
//! where it then is. What the plan guarantees is the value of minimax, or of
//! expectiminimax where chance moves. In a game of one role without chance the plan is a
//! sequential plan.

use std::sync::Arc;

use games::{Expression, MoveId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;
use rustc_hash::FxHashMap;

use crate::conditional_plan::{
    ConditionalOutcome, ConditionalSettings, MOST_SIZED, PlanSize, plan, size,
};
use crate::counted::counted;
use crate::deliberation::PlanStep;
use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::track::Track;
use crate::search::{check_order, ranks, settings};
use crate::seed;
use crate::{Deliberation, Failure, Observation, OptionError, Options, Player, Seat, Stop, Turn};

/// The conditional planner.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "conditional_planner",
    summary: "Before the first move, plans an answer to every reply; then follows the plan; for \
              small games.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const MAX_STATES: OptionSpec = OptionSpec {
    help: "Maximum number of states in a plan; in larger games moves are random until the rest \
           is smaller.",
    ..settings::MAX_STATES
};

const OPTIONS: &[OptionSpec] = &[MAX_STATES, settings::BOUNDED, settings::MOVE_ORDER];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    Ok(Box::new(ConditionalPlanner {
        settings: ConditionalSettings {
            bounded: reader.boolean(settings::BOUNDED.name, true)?,
            max_states: settings::max_states(&reader)?,
        },
        move_order: reader.moves(settings::MOVE_ORDER.name)?,
        seed,
        rng: seed::generator(0, seed),
        track: None,
        step: None,
        deliberation: None,
    }))
}

struct ConditionalPlanner {
    settings: ConditionalSettings,
    move_order: Vec<Expression>,
    seed: Option<i64>,
    rng: Pcg64,
    track: Option<Track>,
    /// What the plan says for the state of the next question, and what it is worth if
    /// that was computed for this state.
    step: Option<(Arc<PlanStep>, Option<f64>)>,
    deliberation: Option<Deliberation>,
}

impl ConditionalPlanner {
    /// Tries to plan from `state`.
    fn plan(&mut self, state: &State, stop: &Stop) -> Result<(), Failure> {
        self.step = None;
        let Some(track) = &mut self.track else { return Ok(()) };
        let machine = track.machine.as_mut();
        let ranks: FxHashMap<_, _> = ranks(machine, &self.move_order);
        let (outcome, mut said) = plan(machine, track.role, state, self.settings, &ranks, stop)?;
        match outcome {
            ConditionalOutcome::Found(value, step) => self.step = Some((step, Some(value))),
            ConditionalOutcome::TooLarge(n) => said.notes.push(format!(
                "no plan: it takes more than {} (option max_states); the move is random",
                counted(n, "state")
            )),
            ConditionalOutcome::None => said
                .notes
                .push("no plan: some line of play does not end; the move is random".to_owned()),
            ConditionalOutcome::Stopped => {
                said.notes.push(
                    "no plan: none was found within the time or nodes; the move is random"
                        .to_owned(),
                );
            }
        }
        self.deliberation = Some(said);
        Ok(())
    }

    /// Follows the plan by the joint move of the last step.
    fn follow(&mut self, observation: Option<&Observation>) {
        let Some(Observation::JointMove(played)) = observation else { return };
        let next = self.step.take().and_then(|(step, _)| {
            step.after.iter().find(|(joint_move, _)| joint_move == played)?.1.clone()
        });
        self.step = next.map(|step| (step, None));
    }

    fn forget(&mut self) {
        self.track = None;
        self.step = None;
    }
}

/// What there is to say of a plan.
fn said(said: Deliberation, step: &Arc<PlanStep>, value: Option<f64>) -> Deliberation {
    let note = match size(step) {
        Some(PlanSize { n_decisions, n_steps }) => {
            let (decisions, states) = (counted(n_decisions, "decision"), counted(n_steps, "state"));
            format!("the plan is a tree of {decisions}, and has a move for {states}")
        }
        None => format!("the plan has more than {MOST_SIZED} states"),
    };
    Deliberation {
        completed: true,
        value: value.or(said.value),
        plan: Some(Arc::clone(step)),
        notes: vec![note],
        ..said
    }
}

impl Player for ConditionalPlanner {
    fn check(&mut self, mut machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        check_order(&mut *machine, &self.move_order)
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.forget();
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let mut track = Track::new(seat, KIND.name)?;
        check_order(&mut *track.machine, &self.move_order)?;
        match self.track.insert(track).begin(stop)? {
            Some(state) => self.plan(&state, stop),
            None => Ok(()),
        }
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        self.follow(turn.observation);
        let Some(track) = &mut self.track else { return Ok(fallback) };
        let Some(state) = track.follow(turn, stop)? else { return Ok(fallback) };
        if self.step.is_none() {
            self.plan(&state, stop)?;
        }
        let Some((step, value)) = &self.step else { return Ok(fallback) };
        let deliberation = self.deliberation.take().unwrap_or_default();
        self.deliberation = Some(said(deliberation, step, *value));
        Ok(step.action)
    }

    fn abort(&mut self) {
        self.forget();
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}
