//! Follows a match by the own moves and percepts of one role.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::RngExt;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;
use rustc_hash::FxHashMap;

use super::{Belief, Knowledge, LikelyStates, Line, Replies, allow, knowledge_after};
use crate::options::{OptionSpec, Reader};
use crate::{Failure, Observation, OptionError, Seat, Stop, Turn, seed};

/// The option for the size of a belief.
pub(crate) const PARTICLES: OptionSpec = OptionSpec {
    name: "particles",
    accepts: "a whole number from 1 to 1000000",
    default: "1000",
    help: "States of the belief that are kept; a larger belief is represented by a sample.",
};

/// Joint moves that are tried after each step, for each line that may be kept.
const TRIES_FOR_EACH: u64 = 20;
/// Lines that are held while a step is followed, for each that may be kept.
const HELD_FOR_EACH: usize = 4;
/// The fewest joint moves that are tried.
const FEWEST_TRIES: u64 = 10_000;
/// Replies that are looked at from one state when lines are found anew.
const MOST_REPLIES: u64 = 64;

/// How to follow a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackerSettings {
    /// Lines that are kept.
    pub(crate) particles: usize,
    /// Follow also what the other roles know.
    pub(crate) follows_knowledge: bool,
}

impl TrackerSettings {
    /// As the options have it.
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, OptionError> {
        let particles = reader.integer(PARTICLES.name, 1..=1_000_000, 1000)?;
        let particles = usize::try_from(particles).expect("the range was checked");
        Ok(Self { particles, follows_knowledge: false })
    }
}

/// A step as the role saw it.
#[derive(Clone, Debug)]
struct Seen {
    observation: Observation,
    /// The legal moves of the role after the step, in ascending order.
    legal: Vec<MoveId>,
}

/// A seat and what its role can know of the match.
pub(crate) struct Tracker {
    /// The reasoner.
    pub(crate) machine: Box<dyn StateMachine>,
    /// The role played.
    pub(crate) role: RoleId,
    settings: TrackerSettings,
    rng: Pcg64,
    /// All steps, so that lines can be found anew.
    history: Vec<Seen>,
    /// The belief after some of the steps.
    belief: Option<Belief>,
    n_applied: usize,
    /// A step was missed.
    lost: bool,
    /// Lines had to be found anew.
    n_regenerated: u32,
    /// Lines that explained the percepts and had other legal moves for the role.
    n_disagreeing: u64,
}

impl Tracker {
    /// Takes the seat.
    pub(crate) fn new(seat: Seat, settings: TrackerSettings, own_seed: Option<i64>) -> Self {
        Self {
            machine: seat.machine.take(),
            role: seat.role,
            settings,
            rng: seed::generator(games::split_mix::mix(seat.seed), own_seed),
            history: Vec::new(),
            belief: None,
            n_applied: 0,
            lost: false,
            n_regenerated: 0,
            n_disagreeing: 0,
        }
    }

    /// Computes the initial state, if `stop` leaves time for it.
    pub(crate) fn begin(&mut self, stop: &Stop) -> Result<(), Failure> {
        self.machine.set_cancel(stop.cancel().clone());
        unless_cancelled(self.first_belief())
    }

    /// The belief at `turn`; `None` if there is none, because time is up or nothing
    /// explains what was seen. The player then knows only its legal moves.
    ///
    /// A node budget does not limit this work, which the number of particles does; a
    /// deadline leaves it half of the time, unless it needs more to find one line.
    pub(crate) fn follow(
        &mut self,
        turn: &Turn<'_>,
        stop: &Stop,
    ) -> Result<Option<&Belief>, Failure> {
        self.machine.set_cancel(stop.cancel().clone());
        if let Some(observation) = turn.observation {
            let mut legal = turn.legal.to_vec();
            legal.sort_unstable();
            self.history.push(Seen { observation: observation.clone(), legal });
        }
        self.lost |= self.history.len() != turn.step as usize;
        if self.lost {
            return Ok(None);
        }
        unless_cancelled(self.catch_up(&Patience::new(stop)))?;
        Ok(self.belief())
    }

    /// The belief after the last step that was seen, if it is known.
    pub(crate) fn belief(&self) -> Option<&Belief> {
        self.belief.as_ref().filter(|_| self.n_applied == self.history.len())
    }

    /// The most probable states of the belief.
    pub(crate) fn likeliest(&self) -> Option<Arc<LikelyStates>> {
        self.belief().map(|belief| Arc::new(belief.likeliest()))
    }

    /// What there is to say of the belief.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self.belief() {
            Some(belief) => notes.push(belief.note()),
            None => notes.push("belief: no state that explains the percepts is known".to_owned()),
        }
        if self.n_regenerated > 0 {
            let times = if self.n_regenerated == 1 { "once" } else { "several times" };
            notes.push(format!("belief: computed again from the history {times}"));
        }
        if self.n_disagreeing > 0 {
            notes.push(
                "belief: some states that look the same have other legal moves; the rules let \
                 legal moves tell what percepts hide"
                    .to_owned(),
            );
        }
        notes
    }

    fn first_belief(&mut self) -> Result<(), ReasoningError> {
        if self.belief.is_none() && self.n_applied == 0 {
            let line = self.first_line()?;
            self.belief = Belief::of(vec![line], true);
        }
        Ok(())
    }

    fn first_line(&mut self) -> Result<Line, ReasoningError> {
        let n_roles = self.machine.game().roles().len();
        let n_followed = if self.settings.follows_knowledge { n_roles } else { 0 };
        let knowledge = vec![Knowledge::default(); n_followed];
        Ok(Line { state: self.machine.initial_state()?, knowledge, weight: 1.0 })
    }

    fn catch_up(&mut self, patience: &Patience<'_>) -> Result<(), ReasoningError> {
        self.first_belief()?;
        while self.n_applied < self.history.len() {
            let next = match self.belief.take() {
                Some(belief) => {
                    let next = self.update(&belief, patience);
                    if !matches!(next, Ok(Update::Found(_) | Update::Nothing)) {
                        self.belief = Some(belief);
                    }
                    next?
                }
                None => Update::Nothing,
            };
            match next {
                Update::Found(belief) => {
                    self.belief = Some(belief);
                    self.n_applied += 1;
                }
                Update::Stopped => return Ok(()),
                Update::Nothing => {
                    // Nothing explains the steps so far: only the whole history can.
                    let Some(belief) = self.regenerate(patience)? else { return Ok(()) };
                    self.belief = Some(belief);
                    self.n_applied = self.history.len();
                    self.n_regenerated += 1;
                }
            }
        }
        Ok(())
    }

    /// The belief after one more step.
    fn update(
        &mut self,
        belief: &Belief,
        patience: &Patience<'_>,
    ) -> Result<Update, ReasoningError> {
        let most_tries = self.most_tries();
        let mut replies: Vec<(Line, Replies)> = Vec::new();
        let mut n_replies = 0u64;
        for line in &belief.lines {
            if patience.is_over(!replies.is_empty()) {
                break;
            }
            if let Some((line, fitting)) = self.replies(line, self.n_applied)? {
                n_replies = n_replies.saturating_add(fitting.len());
                replies.push((line, fitting));
            }
        }
        let mut is_exact = belief.is_exact && replies.len() == belief.lines.len();
        let mut found = Found::default();
        let mut joint_move = Vec::new();
        if n_replies <= most_tries {
            'lines: for (line, replies) in &replies {
                let weight = line.weight / replies.len() as f64;
                for number in 0..replies.len() {
                    if patience.is_over(!found.lines.is_empty()) {
                        is_exact = false;
                        break 'lines;
                    }
                    replies.joint_move(number, &mut joint_move);
                    if let Some(after) = self.after(line, &joint_move, self.n_applied)? {
                        found.add(after, weight);
                        is_exact &= !found.thin(self.settings.particles, &mut self.rng);
                    }
                }
            }
        } else {
            is_exact = false;
            let total: f64 = replies.iter().map(|(line, _)| line.weight).sum();
            // A line comes up as often as its weight demands.
            let (mut owed, mut line) = (self.rng.random::<f64>(), 0);
            let step = total / most_tries as f64;
            owed *= step;
            for _ in 0..most_tries {
                if patience.is_over(!found.lines.is_empty()) {
                    break;
                }
                while owed >= replies[line].0.weight && line + 1 < replies.len() {
                    owed -= replies[line].0.weight;
                    line += 1;
                }
                owed += step;
                let (line, replies) = &replies[line];
                let number = self.rng.random_range(0..replies.len());
                replies.joint_move(number, &mut joint_move);
                if let Some(after) = self.after(line, &joint_move, self.n_applied)? {
                    found.add(after, 1.0);
                    found.thin(self.settings.particles, &mut self.rng);
                }
            }
        }
        let Some(belief) = Belief::of(found.lines, is_exact) else {
            return Ok(if patience.is_over(false) { Update::Stopped } else { Update::Nothing });
        };
        Ok(Update::Found(belief.sample(self.settings.particles, &mut self.rng)))
    }

    fn most_tries(&self) -> u64 {
        (self.settings.particles as u64 * TRIES_FOR_EACH).max(FEWEST_TRIES)
    }

    /// The joint moves of step `step` from a line that are in agreement with the role's own
    /// move, and the line with what the roles know of their legal moves; `None` if there are
    /// none.
    fn replies(
        &mut self,
        line: &Line,
        step: usize,
    ) -> Result<Option<(Line, Replies)>, ReasoningError> {
        let Some(mut replies) = Replies::legal(self.machine.as_mut(), &line.state)? else {
            return Ok(None);
        };
        let mut line = line.clone();
        allow(self.machine.game(), &mut line.knowledge, &replies);
        let is_possible = match &self.history[step].observation {
            Observation::Percepts { own_move, .. } => replies.fix(self.role, *own_move),
            Observation::JointMove(joint_move) => {
                let roles = self.machine.game().role_ids();
                joint_move.len() == roles.len()
                    && roles.zip(joint_move).all(|(role, &action)| replies.fix(role, action))
            }
        };
        Ok(is_possible.then_some((line, replies)))
    }

    /// The line after `joint_move` in step `step`, if it explains what was seen. Its weight
    /// is not set.
    fn after(
        &mut self,
        line: &Line,
        joint_move: &[MoveId],
        step: usize,
    ) -> Result<Option<Line>, ReasoningError> {
        let machine = self.machine.as_mut();
        if let Observation::Percepts { percepts, .. } = &self.history[step].observation
            && machine.percepts(&line.state, joint_move, self.role)? != *percepts
        {
            return Ok(None);
        }
        let mut knowledge = Vec::with_capacity(line.knowledge.len());
        for (role, &before) in machine.game().role_ids().zip(&line.knowledge) {
            knowledge.push(if machine.game().random() == Some(role) {
                before
            } else {
                knowledge_after(machine, before, &line.state, joint_move, role)?
            });
        }
        let mut state = State::default();
        machine.next_state(&line.state, joint_move, &mut state)?;
        // The match went on, so it has not ended here.
        if machine.is_terminal(&state)? {
            return Ok(None);
        }
        let mut legal = Vec::new();
        machine.legal_moves(&state, self.role, &mut legal)?;
        legal.sort_unstable();
        let seen = &self.history[step];
        if legal != seen.legal {
            let is_hidden = matches!(seen.observation, Observation::Percepts { .. });
            self.n_disagreeing += u64::from(is_hidden);
            return Ok(None);
        }
        Ok(Some(Line { state, knowledge, weight: 0.0 }))
    }

    /// Finds lines from the beginning that explain the whole history: at each step a
    /// random one of the replies that explain it, and back where there is none. A line
    /// weighs what makes up for the choice, so that probable lines weigh most (sequential
    /// importance sampling).
    fn regenerate(&mut self, patience: &Patience<'_>) -> Result<Option<Belief>, ReasoningError> {
        let mut found = Found::default();
        let mut n_tries = self.most_tries();
        let n_steps = self.history.len();
        let wanted = self.settings.particles;
        let (mut n_found, mut is_sampled) = (0, false);
        while n_tries > 0 && n_found < wanted {
            let first = self.first_line()?;
            let mut open: Vec<VecDeque<Line>> = vec![VecDeque::from([first])];
            while let Some(choices) = open.last_mut() {
                let Some(line) = choices.pop_front() else {
                    open.pop();
                    continue;
                };
                let step = open.len() - 1;
                if step == n_steps {
                    let weight = line.weight;
                    found.add(line, weight);
                    n_found += 1;
                    break;
                }
                if n_tries == 0 || patience.is_over(!found.lines.is_empty()) {
                    n_tries = 0;
                    break;
                }
                open.push(self.fitting(&line, step, &mut n_tries, &mut is_sampled)?);
            }
            // Where all replies were tried, there is nothing else to find.
            if open.is_empty() && !is_sampled {
                break;
            }
        }
        Ok(Belief::of(found.lines, false))
    }

    /// Some continuations of `line` that explain step `step`, in random order.
    fn fitting(
        &mut self,
        line: &Line,
        step: usize,
        n_tries: &mut u64,
        is_sampled: &mut bool,
    ) -> Result<VecDeque<Line>, ReasoningError> {
        *n_tries = n_tries.saturating_sub(1);
        let Some((line, replies)) = self.replies(line, step)? else { return Ok(VecDeque::new()) };
        let n_replies = replies.len();
        let mut fitting = Vec::new();
        let mut joint_move = Vec::new();
        let n_tried = n_replies.min(MOST_REPLIES);
        for number in 0..n_tried {
            *n_tries = n_tries.saturating_sub(1);
            let number = if n_replies > MOST_REPLIES {
                *is_sampled = true;
                self.rng.random_range(0..n_replies)
            } else {
                number
            };
            replies.joint_move(number, &mut joint_move);
            fitting.extend(self.after(&line, &joint_move, step)?);
        }
        fitting.shuffle(&mut self.rng);
        let weight = line.weight * fitting.len() as f64 / n_tried as f64;
        Ok(fitting.into_iter().map(|after| Line { weight, ..after }).collect())
    }
}

/// How an update ended.
enum Update {
    Found(Belief),
    /// No line explains the step.
    Nothing,
    /// Time is up, and nothing was found yet.
    Stopped,
}

/// Lines, those that are equal merged.
#[derive(Default)]
struct Found {
    lines: Vec<Line>,
    known: FxHashMap<(State, Vec<Knowledge>), usize>,
}

impl Found {
    fn add(&mut self, line: Line, weight: f64) {
        let key = (line.state.clone(), line.knowledge.clone());
        match self.known.get(&key) {
            Some(&index) => self.lines[index].weight += weight,
            None => {
                self.known.insert(key, self.lines.len());
                self.lines.push(Line { weight, ..line });
            }
        }
    }
}

impl Found {
    /// If there are far more lines than are kept, leaves a sample of the same total weight;
    /// whether it did.
    fn thin(&mut self, particles: usize, rng: &mut Pcg64) -> bool {
        if self.lines.len() <= particles.saturating_mul(HELD_FOR_EACH) {
            return false;
        }
        let total: f64 = self.lines.iter().map(|line| line.weight).sum();
        self.known.clear();
        if let Some(belief) = Belief::of(std::mem::take(&mut self.lines), false) {
            for line in belief.sample(particles, rng).lines {
                let weight = line.weight * total;
                self.add(line, weight);
            }
        }
        true
    }
}

/// How long to follow the match: half of the time, and all of it if nothing is known yet.
struct Patience<'a> {
    stop: &'a Stop,
    half: Option<Instant>,
}

impl<'a> Patience<'a> {
    fn new(stop: &'a Stop) -> Self {
        let half = stop.deadline().map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now) / 2
        });
        Self { stop, half }
    }

    fn is_over(&self, has_some: bool) -> bool {
        let end = if has_some { self.half } else { self.stop.deadline() };
        self.stop.cancel().is_cancelled() || end.is_some_and(|end| Instant::now() >= end)
    }
}

fn unless_cancelled(result: Result<(), ReasoningError>) -> Result<(), Failure> {
    match result {
        Err(ReasoningError::Cancelled) | Ok(()) => Ok(()),
        Err(other) => Err(other.into()),
    }
}
