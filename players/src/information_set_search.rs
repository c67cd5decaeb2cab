//! Information-set search: the move that is best for a player that knows no more than it
//! does, now and later on.
//!
//! It searches beliefs instead of states: the states that look the same to the role get the
//! same move, and after each step it knows what it will be told. So it values finding out,
//! and does not count on knowing what it cannot (Russell and Norvig, "Artificial
//! Intelligence: A Modern Approach", section on partially observable games).
//!
//! The others either move at random, which makes the search exact (a partially observable
//! Markov decision process), or cautiously are taken to know the state and to reply to it,
//! in each state as is worst for the role. With them it is *vector minimaxing* (Frank and
//! Basin, "A theoretical and empirical investigation of search in imperfect information
//! games", Theoretical Computer Science 2001): every information set gets the move with
//! the best mean over its states, and the value is what this strategy guarantees. There may
//! be better ones; equilibria are those of `cfr`.
//!
//! Games that are too large are searched to a limited depth, one step further at a time,
//! until time is up or the beliefs on the path have more states than the option `states`.

#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;
use rustc_hash::FxHashMap;

use crate::belief::{
    Belief, Knowledge, PARTICLES, Replies, Tracker, TrackerSettings, knowledge_after,
};
use crate::belief_tree::{BeliefEvent, BeliefNode, Seen};
use crate::counted::counted;
use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::recorded_tree::MAX_NODES;
use crate::recorded_tree::TreeRecord;
use crate::search::evaluation::Judge;
use crate::search::{Halt, Stopwatch, settings, worst};
use crate::seed;
use crate::{
    Candidate, Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, ValueBound,
};

/// The player that searches information sets.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "information_set_search",
    summary: "Searches beliefs (sets of possible states) instead of states: exact against random \
              opponents, or with a guarantee against any.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: true,
    make,
};

const OPPONENTS: OptionSpec = OptionSpec {
    name: "opponents",
    accepts: "\"uniform\" or \"cautious\"",
    default: "\"cautious\"",
    help: "How the others move: `uniform`, at random; `cautious`, they know the state and choose \
           the reply that is worst for the player.",
};

const STATES: OptionSpec = OptionSpec {
    name: "states",
    accepts: "a whole number from 1 to 100000000",
    default: "200000",
    help: "Maximum number of states in all beliefs on the current path of the search; at this \
           limit it looks no further ahead.",
};

const OPTIONS: &[OptionSpec] =
    &[OPPONENTS, PARTICLES, STATES, settings::DEPTH, settings::EVALUATION];

/// The deepest level ever entered, which bounds the stack.
const MAX_LEVELS: u32 = 400;

/// How the other roles move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// Each legal move with the same probability.
    Uniform,
    /// In each state the reply that is worst for the player.
    Cautious,
}

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    let models = [("uniform", Model::Uniform), ("cautious", Model::Cautious)];
    let states = reader.integer(STATES.name, 1..=100_000_000, 200_000)?;
    Ok(Box::new(InformationSetSearch {
        model: reader.choice(OPPONENTS.name, &models, Model::Cautious)?,
        most_states: usize::try_from(states).expect("the range was checked"),
        depth: settings::depth(&reader)?,
        judge: Judge::new(settings::evaluation(&reader)?),
        following: TrackerSettings::read(&reader)?,
        seed,
        rng: seed::generator(0, seed),
        tracker: None,
        recorded: 0,
        deliberation: None,
    }))
}

struct InformationSetSearch {
    model: Model,
    most_states: usize,
    /// Steps to look ahead; 0 for all.
    depth: u32,
    /// What states at the limit are worth.
    judge: Judge,
    following: TrackerSettings,
    seed: Option<i64>,
    rng: Pcg64,
    tracker: Option<Tracker>,
    /// Nodes of the tree that are recorded at most; 0 for no record.
    recorded: usize,
    deliberation: Option<Deliberation>,
}

impl Player for InformationSetSearch {
    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        self.judge.check(machine.as_ref())
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.deliberation = Some(Deliberation::default());
        self.judge.forget();
        self.rng = seed::generator(seat.seed, self.seed);
        let tracker = self.tracker.insert(Tracker::new(seat, self.following, self.seed));
        self.judge.check(tracker.machine.as_ref())?;
        tracker.begin(stop)
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(tracker) = &mut self.tracker else { return Ok(fallback) };
        let belief = tracker.follow(turn, stop)?.cloned();
        let (mut notes, likeliest) = (tracker.notes(), tracker.likeliest());
        // A forced move needs no search, but has a plan after it.
        let is_wanted = turn.legal.len() > 1 || self.recorded > 0;
        let Some(belief) = belief.filter(|_| is_wanted) else {
            let deliberation = self.deliberation.get_or_insert_default();
            deliberation.notes = notes;
            deliberation.belief = likeliest;
            deliberation.completed = turn.legal.len() == 1;
            return Ok(fallback);
        };
        let settings = BeliefSearchSettings {
            model: self.model,
            most_states: self.most_states,
            depth: self.depth,
        };
        let (machine, judge) = (tracker.machine.as_mut(), &mut self.judge);
        let mut search = BeliefSearch::new(machine, tracker.role, settings, judge, stop);
        search.recorder = (self.recorded > 0).then(|| TreeRecord::new(self.recorded));
        let mut deliberation = search.deepen(&belief, turn.legal)?;
        notes.append(&mut deliberation.notes);
        deliberation.notes = notes;
        deliberation.belief = likeliest;
        let best = deliberation.line.first().map(|step| step[0].1);
        self.deliberation = Some(deliberation);
        Ok(best.unwrap_or(fallback))
    }

    fn abort(&mut self) {
        self.tracker = None;
        self.judge.forget();
    }

    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        self.recorded = max_nodes.unwrap_or(MAX_NODES);
        true
    }

    fn belief(&self) -> Option<Belief> {
        self.tracker.as_ref()?.belief().cloned()
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}

/// Values that differ by less are equal but for rounding.
const TIE: f64 = 1e-9;

/// What to search and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BeliefSearchSettings {
    /// How the others move.
    pub(crate) model: Model,
    /// States in the beliefs on the path.
    pub(crate) most_states: usize,
    /// Steps to look ahead; 0 for all.
    pub(crate) depth: u32,
}

/// Why a search unwinds before it has ended.
enum Interruption {
    Halt(Halt),
    /// The beliefs on the path have too many states.
    TooLarge,
}

impl From<ReasoningError> for Interruption {
    fn from(error: ReasoningError) -> Self {
        Self::Halt(error.into())
    }
}

impl From<Halt> for Interruption {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

/// States that look the same, and their weights.
#[derive(Default)]
struct Look {
    states: Vec<(State, f64)>,
    known: FxHashMap<State, usize>,
}

impl Look {
    fn add(&mut self, state: State, weight: f64) -> usize {
        if let Some(&index) = self.known.get(&state) {
            self.states[index].1 += weight;
            return index;
        }
        let index = self.states.len();
        self.known.insert(state.clone(), index);
        self.states.push((state, weight));
        index
    }
}

/// What one reply and one move of chance lead to.
#[derive(Clone, Copy)]
enum Follows {
    /// The match is over, or the rules are broken.
    Payoff(f64),
    /// A state of this look.
    Goes { look: usize, state: usize },
}

/// A search of beliefs.
pub(crate) struct BeliefSearch<'a> {
    machine: &'a mut dyn StateMachine,
    role: RoleId,
    settings: BeliefSearchSettings,
    /// What states at the limit are worth.
    judge: &'a mut Judge,
    stopwatch: Stopwatch<'a>,
    limit: u32,
    /// States in the beliefs on the path.
    n_held: usize,
    n_estimates: u64,
    recorder: Option<TreeRecord<BeliefNode>>,
}

impl<'a> BeliefSearch<'a> {
    /// A search for `role`.
    pub(crate) fn new(
        machine: &'a mut dyn StateMachine,
        role: RoleId,
        settings: BeliefSearchSettings,
        judge: &'a mut Judge,
        stop: &'a Stop,
    ) -> Self {
        Self {
            machine,
            role,
            settings,
            judge,
            stopwatch: Stopwatch::new(stop),
            limit: 0,
            n_held: 0,
            n_estimates: 0,
            recorder: None,
        }
    }

    /// Values of the `legal` moves at `belief` by the greatest depth finished, and how they
    /// were found.
    pub(crate) fn deepen(
        mut self,
        belief: &Belief,
        legal: &[MoveId],
    ) -> Result<Deliberation, ReasoningError> {
        let states: Vec<(State, f64)> =
            belief.lines.iter().map(|line| (line.state.clone(), line.weight)).collect();
        self.judge.begin(self.machine, states.iter().map(|(state, _)| state));
        let greatest = match self.settings.depth {
            0 => MAX_LEVELS,
            depth => depth.min(MAX_LEVELS),
        };
        for limit in 1..=greatest {
            self.limit = limit;
            (self.n_held, self.n_estimates) = (states.len(), 0);
            if let Some(recorder) = &mut self.recorder {
                recorder.begin();
            }
            self.enter(|| BeliefEvent::Knows { seen: None, n_states: states.len(), best: None });
            match self.values(&states, legal, 0) {
                Ok(values) => {
                    let mean = |payoffs: &Vec<f64>| mean(&states, payoffs).clamp(0.0, 100.0);
                    let means: Vec<f64> = values.iter().map(mean).collect();
                    if let Some((at, value)) = first_best(means.iter().copied()) {
                        self.leave(value, Some(legal[at]));
                        self.stopwatch.deliberation.value = Some(value);
                        self.stopwatch.deliberation.line = vec![vec![(self.role, legal[at])]];
                    }
                    self.stopwatch.deliberation.belief_tree =
                        self.recorder.as_mut().map(|recorder| Arc::new(recorder.take()));
                    let candidate = |(&action, value): (&MoveId, f64)| Candidate {
                        action,
                        value: Some(value),
                        bound: ValueBound::Exact,
                        visits: 0,
                        probability: None,
                    };
                    self.stopwatch.deliberation.candidates =
                        legal.iter().zip(means).map(candidate).collect();
                    self.stopwatch.deliberation.depth =
                        limit.min(self.stopwatch.deliberation.selective_depth);
                    if self.n_estimates == 0 {
                        let game = self.machine.game();
                        let n_players = game.roles().len() - usize::from(game.random().is_some());
                        let note = match (self.settings.model, belief.is_exact) {
                            (_, false) => Some("values: of a sample of the states"),
                            _ if n_players == 1 => None,
                            (Model::Uniform, _) => {
                                Some("values: exact if the others move at random")
                            }
                            (Model::Cautious, _) => Some(
                                "values: means over the possible states, if the others know the \
                                 state and reply in the worst way",
                            ),
                        };
                        self.stopwatch.deliberation.notes.extend(note.map(str::to_owned));
                        break;
                    }
                }
                Err(Interruption::Halt(Halt::Broken(error))) => return Err(*error),
                Err(Interruption::Halt(Halt::Due)) => {
                    let note = format!("values: estimates, {} ahead", counted(limit - 1, "step"));
                    self.stopwatch.deliberation.notes.push(note);
                    return Ok(self.stopwatch.deliberation);
                }
                Err(Interruption::TooLarge) => {
                    self.stopwatch.deliberation.notes.push(format!(
                        "values: estimates, {} ahead; to look further, the beliefs would have \
                         more than {} (option `states`)",
                        counted(limit - 1, "step"),
                        counted(self.settings.most_states, "state")
                    ));
                    break;
                }
            }
        }
        self.stopwatch.deliberation.completed = true;
        Ok(self.stopwatch.deliberation)
    }

    /// By legal move, then by state of the belief: what the role gets if it makes the move
    /// and goes on as is best for what it knows then.
    fn values(
        &mut self,
        belief: &[(State, f64)],
        legal: &[MoveId],
        level: u32,
    ) -> Result<Vec<Vec<f64>>, Interruption> {
        let mut replies = Vec::with_capacity(belief.len());
        for (state, _) in belief {
            replies.push(Replies::legal(self.machine, state)?);
        }
        legal.iter().map(|&action| self.value(belief, &replies, action, level)).collect()
    }

    /// The same for one move.
    fn value(
        &mut self,
        belief: &[(State, f64)],
        replies: &[Option<Replies>],
        action: MoveId,
        level: u32,
    ) -> Result<Vec<f64>, Interruption> {
        self.enter(|| BeliefEvent::Moves(action));
        let mut looks: Vec<Look> = Vec::new();
        let mut seen: Vec<Option<Seen>> = Vec::new();
        // By reward: the first joint move, if the tree is recorded, and how many more there are.
        let mut endings: Vec<(f64, Vec<MoveId>, usize)> = Vec::new();
        let mut looks_of: FxHashMap<(Knowledge, u64), usize> = FxHashMap::default();
        let mut legal_in: Vec<Vec<MoveId>> = Vec::new();
        // By state of the belief, by reply, by move of chance.
        let mut outcomes: Vec<Vec<Vec<Follows>>> = Vec::with_capacity(belief.len());
        let chance = self.machine.game().random().filter(|&random| random != self.role);
        let n_held = self.n_held;
        for ((state, weight), replies) in belief.iter().zip(replies) {
            let Some(replies) = replies else {
                outcomes.push(vec![vec![Follows::Payoff(0.0)]]);
                continue;
            };
            let mut replies = replies.clone();
            replies.fix(self.role, action);
            let chance_moves = match chance {
                Some(chance) => replies.separate(chance),
                None => vec![action],
            };
            let share = weight / replies.len() as f64 / chance_moves.len() as f64;
            let mut of_state = Vec::new();
            let mut joint_move = Vec::new();
            for number in 0..replies.len() {
                replies.joint_move(number, &mut joint_move);
                let mut of_reply = Vec::with_capacity(chance_moves.len());
                for &chosen in &chance_moves {
                    if let Some(chance) = chance {
                        joint_move[usize::from(chance.0)] = chosen;
                    }
                    let (next, look) = match self.step(state, &joint_move, level)? {
                        Step::Over(payoff) => {
                            of_reply.push(Follows::Payoff(payoff));
                            match endings.iter_mut().find(|(other, ..)| *other == payoff) {
                                Some((.., n_others)) => *n_others += 1,
                                None => {
                                    let is_recorded = self.recorder.is_some();
                                    let shown = if is_recorded { &joint_move[..] } else { &[] };
                                    endings.push((payoff, shown.to_vec(), 0));
                                }
                            }
                            continue;
                        }
                        Step::On { next, told, legal } => {
                            let mut hasher = DefaultHasher::new();
                            legal.hash(&mut hasher);
                            let key = (told, hasher.finish());
                            let look = match looks_of.get(&key) {
                                Some(&look) => look,
                                None => {
                                    looks.push(Look::default());
                                    legal_in.push(legal);
                                    seen.push(self.seen(state, &joint_move)?);
                                    looks_of.insert(key, looks.len() - 1);
                                    looks.len() - 1
                                }
                            };
                            (next, look)
                        }
                    };
                    let before = looks[look].states.len();
                    let state = looks[look].add(next, share);
                    self.n_held += looks[look].states.len() - before;
                    if self.n_held > self.settings.most_states {
                        return Err(Interruption::TooLarge);
                    }
                    of_reply.push(Follows::Goes { look, state });
                }
                of_state.push(of_reply);
            }
            outcomes.push(of_state);
        }
        drop(looks_of);
        let mut payoffs: Vec<Vec<f64>> = Vec::with_capacity(looks.len());
        for (payoff, joint_move, n_others) in endings {
            self.enter(|| BeliefEvent::Ends { joint_move, n_others });
            self.leave(payoff, None);
        }
        for ((look, legal), seen) in looks.iter_mut().zip(&legal_in).zip(seen) {
            look.known = FxHashMap::default();
            let n_states = look.states.len();
            self.enter(|| BeliefEvent::Knows { seen, n_states, best: None });
            payoffs.push(self.best(&look.states, legal, level + 1)?);
        }
        self.n_held = n_held;
        let worth = |outcome: &Follows| match *outcome {
            Follows::Payoff(payoff) => payoff,
            Follows::Goes { look, state } => payoffs[look][state],
        };
        let of_reply = |outcomes: &Vec<Follows>| {
            outcomes.iter().map(worth).sum::<f64>() / outcomes.len() as f64
        };
        let of_state = |replies: &Vec<Vec<Follows>>| {
            let worths = replies.iter().map(of_reply);
            match self.settings.model {
                Model::Uniform => worths.sum::<f64>() / replies.len() as f64,
                Model::Cautious => worths.fold(f64::INFINITY, f64::min),
            }
        };
        let values: Vec<f64> = outcomes.iter().map(of_state).collect();
        self.leave(mean(belief, &values), None);
        Ok(values)
    }

    /// A node of the recorded tree is entered.
    fn enter(&mut self, event: impl FnOnce() -> BeliefEvent) {
        if let Some(recorder) = &mut self.recorder {
            recorder.enter(|parent| BeliefNode { parent, event: event(), value: None });
        }
    }

    /// The node of the recorded tree is left, with this value and this best move.
    fn leave(&mut self, value: f64, chosen: Option<MoveId>) {
        let Some(recorder) = &mut self.recorder else { return };
        let Some(at) = recorder.leave() else { return };
        let node = recorder.node(at);
        node.value = Some(value.clamp(0.0, 100.0));
        if let BeliefEvent::Knows { best, .. } = &mut node.event {
            *best = chosen;
        }
    }

    /// What the role sees of a step, if the tree is recorded.
    fn seen(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
    ) -> Result<Option<Seen>, ReasoningError> {
        Ok(match (&self.recorder, self.machine.game().kind().hidden_information) {
            (None, _) => None,
            (_, false) => Some(Seen::JointMove(joint_move.to_vec())),
            (_, true) => Some(Seen::Percepts(self.machine.percepts(state, joint_move, self.role)?)),
        })
    }

    /// By state, what the role gets from states that look the same to it.
    fn best(
        &mut self,
        look: &[(State, f64)],
        legal: &[MoveId],
        level: u32,
    ) -> Result<Vec<f64>, Interruption> {
        if level >= self.limit {
            self.n_estimates += look.len() as u64;
            self.stopwatch.deliberation.leaves += look.len() as u64;
            let estimates: Vec<f64> = look
                .iter()
                .map(|(state, _)| self.estimate(state))
                .collect::<Result<_, Interruption>>()?;
            self.leave(mean(look, &estimates), None);
            return Ok(estimates);
        }
        let mut values = self.values(look, legal, level)?;
        let Some((at, value)) = first_best(values.iter().map(|payoffs| mean(look, payoffs))) else {
            // Without a legal move the rules are broken, and nothing is won.
            self.leave(0.0, None);
            return Ok(vec![0.0; look.len()]);
        };
        self.leave(value, Some(legal[at]));
        Ok(values.swap_remove(at))
    }

    /// What a state at the depth limit is worth to the role by the evaluation.
    fn estimate(&mut self, state: &State) -> Result<f64, Interruption> {
        Ok(self.judge.value(self.machine, state, self.role, &mut self.stopwatch)?)
    }

    fn step(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        level: u32,
    ) -> Result<Step, Interruption> {
        if self.stopwatch.is_due_after(0) {
            return Err(Interruption::Halt(Halt::Due));
        }
        self.stopwatch.deliberation.nodes += 1;
        self.stopwatch.deliberation.next_calls += 1;
        self.stopwatch.deliberation.selective_depth =
            self.stopwatch.deliberation.selective_depth.max(level + 1);
        let mut next = State::default();
        self.machine.next_state(state, joint_move, &mut next)?;
        if self.machine.is_terminal(&next)? {
            self.stopwatch.deliberation.leaves += 1;
            let goal = self.machine.goal(&next, self.role)?;
            return Ok(Step::Over(f64::from(worst(&goal))));
        }
        let mut legal = Vec::new();
        self.machine.legal_moves(&next, self.role, &mut legal)?;
        let start = Knowledge::default();
        let told = knowledge_after(self.machine, start, state, joint_move, self.role)?;
        Ok(Step::On { next, told, legal })
    }
}

enum Step {
    /// The match is over, with this reward.
    Over(f64),
    /// It goes on.
    On { next: State, told: Knowledge, legal: Vec<MoveId> },
}

/// The first of the greatest values, and its index.
fn first_best(values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (at, value) in values.enumerate() {
        if best.is_none_or(|(_, most)| value > most + TIE) {
            best = Some((at, value));
        }
    }
    best
}

/// The mean of payoffs by state.
fn mean(belief: &[(State, f64)], payoffs: &[f64]) -> f64 {
    let total: f64 = belief.iter().map(|(_, weight)| weight).sum();
    belief.iter().zip(payoffs).map(|((_, weight), payoff)| weight * payoff).sum::<f64>() / total
}
