//! Learns an evaluation by self-play while the start clock runs, and tries in matches whether
//! a search by it is stronger than one by playouts. Which of the two is better depends on the
//! game: pieces and their places say much about breakthrough, and nothing about hex.

use std::sync::Arc;
use std::time::Instant;

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::answer::Findings;
use super::estimate::Estimator;
use super::roles::Roles;
use super::search::{Search, Settings};
use crate::Stop;
use crate::learning::{LinearEvaluation, TrainError, Trainer, TrainingSettings};
use crate::search::worst;

/// Share of the time for learning.
const LEARNING: f64 = 0.25;
/// Share of the time for learning and trying.
const TRYING: f64 = 0.8;
/// Matches that an evaluation must have been learned from.
const LEAST_MATCHES: u64 = 50;
/// Matches that an evaluation is learned from at most: later ones change little.
const MOST_MATCHES: u64 = 5000;
/// Matches that a trial takes at most.
const TRIALS: u32 = 12;
/// Wins ahead of the defeats after which the evaluation is adopted. An evaluation that wins
/// 30 % of the matches passes in 7 % of the trials, one that wins 10 % in 0.1 %.
const ADOPTED: i32 = 3;
/// Defeats ahead of the wins after which it is dropped.
const DROPPED: i32 = 2;
/// Random steps at the beginning of a match.
const OPENING: usize = 2;
/// Steps after which a match counts as drawn.
const MAX_STEPS: u32 = 300;
/// Leaves that a search may judge for each move of a trial, by playouts and by an evaluation.
/// Both take about as long. A clock would let chance decide where the machine has other work.
const LEAVES: [u64; 2] = [256, 96];

/// An evaluation that is better than playouts, if one was found before `stop` leaves only what
/// the search itself should have. `None` without a deadline, and where not two roles play.
pub(super) fn learn(
    machine: &mut dyn StateMachine,
    settings: Settings,
    seed: u64,
    stop: &Stop,
) -> Result<Option<Arc<LinearEvaluation>>, ReasoningError> {
    let Some(deadline) = stop.deadline() else { return Ok(None) };
    let roles = Roles::new(machine.game());
    let (began, n_roles) = (Instant::now(), roles.strategic.len());
    if n_roles != 2 || began >= deadline {
        return Ok(None);
    }
    let share = |share: f64| {
        let until = began + (deadline - began).mul_f64(share);
        Stop::never().on(stop.cancel().clone()).at(until)
    };
    let training = TrainingSettings { seed, mobility: false, ..TrainingSettings::default() };
    let learning = share(LEARNING);
    let mut trainer = match Trainer::new(machine.fork(), training, &learning) {
        Ok(trainer) => trainer,
        Err(TrainError::Reasoning(error)) => return Err(error),
        Err(TrainError::NoFeatures(_) | TrainError::HiddenInformation(_)) => return Ok(None),
    };
    while trainer.n_matches() < MOST_MATCHES && trainer.play_match_until(&learning)? {}
    if trainer.n_matches() < LEAST_MATCHES {
        return Ok(None);
    }
    let evaluation = Arc::new(trainer.evaluation());
    let mut trial = Trial {
        machine,
        roles,
        settings: Settings { memory: (settings.memory / 8).max(1 << 20), ..settings },
        evaluation: Arc::clone(&evaluation),
        stop: share(TRYING),
    };
    let mut lead = 0;
    for number in 0..TRIALS {
        // Each opening is played in both roles.
        let rng = Pcg64::seed_from_u64(seed.wrapping_add(u64::from(number / 2)));
        let Some(won) = trial.play(number as usize % 2, rng)? else { return Ok(None) };
        lead += won;
        if lead <= -DROPPED {
            return Ok(None);
        }
        if lead >= ADOPTED {
            return Ok(Some(evaluation));
        }
    }
    Ok(None)
}

/// Matches between the evaluation and playouts.
struct Trial<'m> {
    machine: &'m mut dyn StateMachine,
    roles: Roles,
    settings: Settings,
    evaluation: Arc<LinearEvaluation>,
    stop: Stop,
}

impl Trial<'_> {
    /// Plays a match with the evaluation as this one of the two roles. 1 if it wins, -1 if it
    /// loses, 0 for a draw; `None` if time was up before.
    fn play(&mut self, seat: usize, mut rng: Pcg64) -> Result<Option<i32>, ReasoningError> {
        let game = Arc::clone(self.machine.game());
        let mut search = || {
            let rng = Pcg64::seed_from_u64(rng.random());
            Search::new(&game, self.settings, rng)
        };
        let mut searches = [search(), search()];
        searches[seat].set_estimator(Estimator::new(Arc::clone(&self.evaluation), &game));
        let mut state = self.machine.initial_state()?;
        let mut legal = Vec::new();
        for step in 0.. {
            if step == MAX_STEPS {
                return Ok(Some(0));
            }
            if self.machine.is_terminal(&state)? {
                break;
            }
            let mut joint_move = Vec::with_capacity(game.roles().len());
            for role in game.role_ids() {
                self.machine.legal_moves(&state, role, &mut legal)?;
                if legal.is_empty() {
                    return Ok(Some(0));
                }
                let seat = self.roles.strategic.iter().position(|&own| own == usize::from(role.0));
                let drawn = legal[rng.random_range(0..legal.len())];
                joint_move.push(match seat {
                    Some(seat) if legal.len() > 1 && step >= OPENING as u32 => {
                        let found = self.choose(&mut searches[seat], &state, role)?;
                        found.unwrap_or(drawn)
                    }
                    _ => drawn,
                });
            }
            if self.stop.is_due(0) {
                return Ok(None);
            }
            let mut next = State::default();
            self.machine.next_state(&state, &joint_move, &mut next)?;
            state = next;
        }
        let mut reward = |seat: usize| {
            let role = RoleId(self.roles.strategic[seat] as u8);
            Ok::<_, ReasoningError>(i32::from(worst(&self.machine.goal(&state, role)?)))
        };
        Ok(Some((reward(seat)? - reward(1 - seat)?).signum()))
    }

    /// The move that a search chooses.
    fn choose(
        &mut self,
        search: &mut Search,
        state: &State,
        role: RoleId,
    ) -> Result<Option<MoveId>, ReasoningError> {
        let leaves = LEAVES[usize::from(search.is_evaluating())];
        let root = search.run(self.machine, state, &self.stop, leaves)?;
        Ok(Findings { searches: vec![(search, root)] }.answer(role).0)
    }
}
