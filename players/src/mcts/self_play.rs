//! What the search learns of a game while the start clock runs: an evaluation by self-play,
//! and from short trial matches whether the search is stronger with it.
//!
//! Linear evaluations are much better than random playouts in some games (breakthrough, chess),
//! and much worse in others (connect four). Nothing in the rules tells these apart, but a few
//! quick matches do. Playouts gain more from a longer clock than an evaluation does: in checkers
//! an evaluation won at a millisecond a move, and lost at 100. So it must win trial matches
//! against playouts that have a multiple of its time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use super::estimate::Estimator;
use super::search::{Search, Settings};
use super::team;
use crate::Stop;
use crate::learning::{LinearEvaluation, TrainError, Trainer, TrainingSettings};
use crate::search::worst;

/// Shorter start clocks are left to the search of the first move.
const LEAST_CLOCK: Duration = Duration::from_millis(500);
/// When training ends, and then the trial matches, in shares of the start clock.
const TRAINED: f64 = 0.3;
const TRIED: f64 = 0.7;
/// Maximum time for training; later matches change little.
const MAX_TRAINING: Duration = Duration::from_secs(10);
/// Maximum time for trial matches.
const MAX_TRIALS: Duration = Duration::from_secs(20);
/// Matches of self-play before which an evaluation is not worth a trial.
const LEAST_MATCHES: u64 = 100;
/// Trial matches that there should be time for.
const TRIAL_MATCHES: f64 = 8.0;
/// The time of the search with playouts in trial matches, as a multiple of the other one's.
const ODDS: u32 = 4;
/// Limits of the time of the search with the evaluation for a move.
const LEAST_MOVE: Duration = Duration::from_micros(200);
const MOST_MOVE: Duration = Duration::from_millis(20);
/// How long the speed of a search is measured before the first trial match.
const MEASURED: Duration = Duration::from_millis(20);
/// The trial ends when matches won minus matches lost reach one of these: the evaluation is used
/// at `WON`, and not at `LOST`.
const WON: f64 = 3.0;
const LOST: f64 = -2.0;
/// Random steps before a trial match.
const OPENING: usize = 2;
/// Steps after which a trial match is given up as drawn.
const MAX_STEPS: usize = 500;

/// What was learned in a start clock.
pub(super) struct Learned {
    /// The evaluation, if the search is stronger with it.
    pub(super) evaluation: Option<Arc<LinearEvaluation>>,
    /// What was done, in a sentence; empty if there was no time for anything.
    pub(super) note: Option<String>,
}

/// Learns from self-play until a part of the time to the deadline of `stop` is over.
pub(super) fn learn(
    machine: &dyn StateMachine,
    settings: Settings,
    seed: u64,
    rng: &mut Pcg64,
    stop: &Stop,
) -> Result<Learned, ReasoningError> {
    let nothing = Learned { evaluation: None, note: None };
    let begin = Instant::now();
    let time = stop.deadline().map(|deadline| deadline.saturating_duration_since(begin));
    let Some(time) = time.filter(|&time| time >= LEAST_CLOCK) else { return Ok(nothing) };
    // A reasoner that plays one playout after the other is too slow for self-play.
    if machine.playout_width() == 1 {
        return Ok(nothing);
    }
    let fork = || {
        let mut fork = machine.fork();
        fork.set_cancel(stop.cancel().clone());
        fork
    };
    let training = time.mul_f64(TRAINED).min(MAX_TRAINING);
    let until_trained = stop.clone().at(begin + training);
    let settings_of_training = TrainingSettings { seed, ..TrainingSettings::default() };
    let mut trainer = match Trainer::new(fork(), settings_of_training, &until_trained) {
        Ok(trainer) => trainer,
        Err(TrainError::Reasoning(error)) => return Err(error),
        Err(_) => return Ok(nothing),
    };
    while trainer.play_match(&until_trained)? {}
    let n_matches_of_self_play = trainer.n_matches();
    if n_matches_of_self_play < LEAST_MATCHES {
        let note =
            format!("{n_matches_of_self_play} matches of self-play are too few to learn from");
        return Ok(Learned { evaluation: None, note: Some(note) });
    }
    let evaluation = Arc::new(trainer.evaluation());
    let length = trainer.n_states() as f64 / n_matches_of_self_play as f64;
    let trials = (time.mul_f64(TRIED).saturating_sub(training)).min(MAX_TRIALS);
    let until_tried = stop.clone().at(begin + training + trials);
    let parts = TRIAL_MATCHES * length.max(1.0) * f64::from(1 + ODDS) / 2.0;
    let mut trial = Trial {
        machine: fork(),
        evaluation: &evaluation,
        settings,
        per_move: trials.div_f64(parts).clamp(LEAST_MOVE, MOST_MOVE),
        speeds: [Speed::default(); 2],
        stop: &until_tried,
        rng,
        score: 0.0,
        n_matches: 0,
    };
    trial.play()?;
    let Trial { score, n_matches, .. } = trial;
    let is_won = score >= WON;
    let note = format!(
        "learned an evaluation from {n_matches_of_self_play} matches of self-play, and {} it: it got \
         {:.0} % in {n_matches} trial matches against playouts with {ODDS} times the time",
        if is_won { "uses" } else { "does not use" },
        50.0 + 50.0 * score / f64::from(n_matches.max(1)),
    );
    Ok(Learned { evaluation: is_won.then_some(evaluation), note: Some(note) })
}

/// The descents of a search so far, and their time. Moves of trial matches are limited by
/// descents: a busy machine would give some of them no time at all.
#[derive(Clone, Copy, Debug, Default)]
struct Speed {
    descents: u64,
    time: Duration,
}

impl Speed {
    /// The descents for which there is `time`.
    fn within(self, time: Duration) -> u64 {
        let ratio = time.as_secs_f64() / self.time.as_secs_f64().max(1e-9);
        (self.descents as f64 * ratio).max(1.0) as u64
    }
}

/// Matches between the search by playouts and the search by an evaluation.
struct Trial<'a> {
    machine: Box<dyn StateMachine>,
    evaluation: &'a Arc<LinearEvaluation>,
    settings: Settings,
    /// The time of the search with the evaluation for a move.
    per_move: Duration,
    /// By playouts, and by the evaluation.
    speeds: [Speed; 2],
    stop: &'a Stop,
    rng: &'a mut Pcg64,
    /// Matches won by the search with the evaluation, less those lost.
    score: f64,
    n_matches: u32,
}

impl Trial<'_> {
    /// Plays until one side has won, or there is no more time.
    fn play(&mut self) -> Result<(), ReasoningError> {
        let game = self.machine.game();
        let (roles, chance) = (game.role_ids(), game.random());
        while let Some(opening) = self.opening()? {
            for candidate in roles.clone().filter(|&role| Some(role) != chance) {
                let Some(score) = self.play_match(&opening, candidate)? else { return Ok(()) };
                self.score += score;
                self.n_matches += 1;
            }
            if self.score >= WON || self.score <= LOST {
                break;
            }
        }
        Ok(())
    }

    /// A state after some random steps; `None` if time is up.
    fn opening(&mut self) -> Result<Option<State>, ReasoningError> {
        let initial = self.machine.initial_state()?;
        let mut cursor = self.machine.cursor(&initial);
        while !self.stop.is_due(0) {
            while cursor.take_back() {}
            let mut n_steps = 0;
            while n_steps < OPENING
                && cursor.play_chosen(&mut |n_moves| self.rng.random_range(0..n_moves))?
            {
                n_steps += 1;
            }
            if !cursor.is_terminal()? {
                let mut state = State::default();
                cursor.copy_state(&mut state);
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// A random move of each role; `None` if a role has none.
    fn random_moves(&mut self, state: &State) -> Result<Option<Vec<MoveId>>, ReasoningError> {
        let mut joint_move = Vec::new();
        let mut legal = Vec::new();
        for role in self.machine.game().role_ids() {
            self.machine.legal_moves(state, role, &mut legal)?;
            if legal.is_empty() {
                return Ok(None);
            }
            joint_move.push(legal[self.rng.random_range(0..legal.len())]);
        }
        Ok(Some(joint_move))
    }

    /// A match in which the search with the evaluation plays one role: 1 if it got all rewards,
    /// -1 if the others did. `None` if time is up.
    fn play_match(
        &mut self,
        opening: &State,
        candidate: RoleId,
    ) -> Result<Option<f64>, ReasoningError> {
        let game = self.machine.game();
        let (roles, chance) = (game.role_ids(), game.random());
        let by_playouts = Search::new(game, self.settings, self.rng.clone());
        let mut by_evaluation = Search::new(game, self.settings, self.rng.clone());
        let evaluation = Arc::clone(self.evaluation);
        by_evaluation.set_estimator(Estimator::new(evaluation, 1.0, game));
        let mut searches = [by_playouts, by_evaluation];
        for (search, speed) in searches.iter_mut().zip(&mut self.speeds) {
            if speed.time.is_zero() {
                let begin = Instant::now();
                let stop = self.stop.clone().at(begin + MEASURED);
                team::search(search, self.machine.as_mut(), &mut [], opening, &stop, u64::MAX)?;
                *speed = Speed { descents: search.counters.descents, time: begin.elapsed() };
            }
        }
        let mut state = opening.clone();
        let mut legal = Vec::new();
        for _ in 0..MAX_STEPS {
            if self.machine.is_terminal(&state)? {
                let mut reward = |role| Ok(f64::from(worst(&self.machine.goal(&state, role)?)));
                let own: f64 = reward(candidate)?;
                let others = roles.filter(|&role| role != candidate && Some(role) != chance);
                let others = others.map(reward).collect::<Result<Vec<f64>, ReasoningError>>()?;
                let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
                return Ok(Some((own - mean) / 100.0));
            }
            let Some(mut joint_move) = self.random_moves(&state)? else { return Ok(Some(0.0)) };
            for role in roles.clone().filter(|&role| Some(role) != chance) {
                self.machine.legal_moves(&state, role, &mut legal)?;
                if legal.len() == 1 {
                    continue;
                }
                if self.stop.is_due(0) {
                    return Ok(None);
                }
                let side = usize::from(role == candidate);
                let (search, speed) = (&mut searches[side], &mut self.speeds[side]);
                let time = if side == 0 { self.per_move * ODDS } else { self.per_move };
                let begin = Instant::now();
                let limit = speed.within(time);
                let root =
                    team::search(search, self.machine.as_mut(), &mut [], &state, self.stop, limit)?;
                speed.descents += search.counters.descents;
                speed.time += begin.elapsed();
                if let (Some(action), _) = search.answer(root, role, self.rng) {
                    joint_move[usize::from(role.0)] = action;
                }
            }
            let mut next = State::default();
            self.machine.next_state(&state, &joint_move, &mut next)?;
            state = next;
        }
        Ok(Some(0.0))
    }
}

#[cfg(test)]
mod tests {
    use games::{PlayoutMoves, library};

    use super::*;
    use crate::mcts::move_averages::Preference;
    use crate::mcts::regret_matching::Simultaneous;
    use crate::seed;
    use crate::testing::{machine, shipped};

    const SETTINGS: Settings = Settings {
        exploration: 0.2,
        first_play: 0.0,
        unexpanded: 4,
        leaves: 32,
        lanes: 16,
        max_length: 1000,
        memory: 1 << 30,
        evaluated_exploration: 0.03,
        playout_moves: PlayoutMoves::Legal,
        preference: Preference { probability: 0.0, margin: 0.0 },
        simultaneous: Simultaneous::Ucb,
    };

    /// 200 matches of self-play.
    fn evaluation(machine: &dyn StateMachine) -> LinearEvaluation {
        let never = Stop::never();
        let mut trainer =
            Trainer::new(machine.fork(), TrainingSettings::default(), &never).unwrap();
        (0..200).for_each(|_| assert!(trainer.play_match(&never).unwrap()));
        trainer.evaluation()
    }

    /// A speed that what is measured does not change.
    fn fixed(descents_a_second: u64) -> Speed {
        let seconds = 10_000_000;
        Speed { descents: descents_a_second * seconds, time: Duration::from_secs(seconds) }
    }

    /// The score of an evaluation in trial matches: 100 descents for each move, against 80 of the
    /// search by playouts.
    fn score(machine: &dyn StateMachine, evaluation: LinearEvaluation) -> f64 {
        let mut trial = Trial {
            machine: machine.fork(),
            evaluation: &Arc::new(evaluation),
            settings: SETTINGS,
            per_move: Duration::from_millis(1),
            speeds: [fixed(20_125), fixed(100_500)],
            stop: &Stop::never(),
            rng: &mut seed::generator(1, None),
            score: 0.0,
            n_matches: 0,
        };
        trial.play().unwrap();
        trial.score
    }

    #[test]
    fn trial_matches_tell_a_good_evaluation_from_its_opposite() {
        let machine = shipped("breakthrough_6x6");
        let good = evaluation(machine.as_ref());
        let mut bad = good.clone();
        let weights = bad.features.iter_mut().flat_map(|feature| &mut feature.weights);
        weights.chain(&mut bad.bias).for_each(|weight| *weight = -*weight);
        assert!(score(machine.as_ref(), good) >= WON);
        assert!(score(machine.as_ref(), bad) <= LOST);
    }

    #[test]
    fn nothing_is_learned_without_a_clock_or_by_a_slow_reasoner() {
        let soon = Stop::never().at(Instant::now() + 2 * LEAST_CLOCK);
        let cases = [
            (shipped("breakthrough_6x6"), Stop::never()),
            (shipped("breakthrough_6x6"), Stop::never().at(Instant::now() + LEAST_CLOCK / 2)),
            (machine(library::find("breakthrough_6x6").unwrap().text), soon),
        ];
        for (machine, stop) in cases {
            let rng = &mut seed::generator(1, None);
            let learned = learn(machine.as_ref(), SETTINGS, 1, rng, &stop).unwrap();
            assert!(learned.evaluation.is_none() && learned.note.is_none());
        }
    }

    #[test]
    fn a_speed_is_a_number_of_descents() {
        let speed = Speed { descents: 1000, time: Duration::from_millis(20) };
        assert_eq!(speed.within(Duration::from_millis(2)), 100);
        assert_eq!(Speed::default().within(Duration::ZERO), 1);
    }
}
