//! Monte-Carlo tree search over information sets (Cowling, Powley and Whitehouse,
//! "Information set Monte Carlo tree search", IEEE TCIAIG 2012), in the form with several
//! observers (MO-ISMCTS): each role has a tree of its own, keyed by what it knows, so that
//! moves that are hidden from a role, or made at the same time, are one to it.
//!
//! Each iteration draws a line from the belief and descends all trees at once. In its own
//! tree a role selects by UCT, counting how often a move was available, and maximises its
//! own reward; chance draws. A random playout follows below the first new node, or a learned
//! evaluation judges the drawn state there. The lines of the belief say what the others know,
//! so that they may use it.

mod evaluation;
#[cfg(test)]
mod tests;
mod visits;

use std::sync::Arc;

use games::{MoveId, PlayoutEnds, ReasoningError, RoleId, State, StateMachine};
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;
use rustc_hash::FxHashMap;

use self::evaluation::WeightedEvaluation;
use self::visits::Record;
use crate::belief::{
    Belief, Knowledge, PARTICLES, Replies, Tracker, TrackerSettings, allow, knowledge_after,
};
use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::worst;
use crate::seed;
use crate::{
    Candidate, Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, ValueBound,
    visit_tree,
};

/// The player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "is_mcts",
    summary: "Monte-Carlo tree search over what each role knows, from guessed states.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: true,
    make,
};

const ITERATIONS: OptionSpec = OptionSpec {
    name: "iterations",
    accepts: "a whole number from 0",
    default: "0",
    help: "Iterations for each move; 0 for as many as there is time for, and 5000 without a clock \
           or node budget.",
};

const PLAYOUTS: OptionSpec = OptionSpec {
    name: "playouts",
    accepts: "a whole number from 0 to 1000",
    default: "0",
    help: "Playouts in each iteration, side by side. 0: 16 under a clock, where they take \
           little more time than one, otherwise 1.",
};

const EXPLORATION: OptionSpec = OptionSpec {
    name: "exploration",
    accepts: "a number from 0 to 10",
    default: "0.7",
    help: "Exploration constant of UCT, for rewards from 0 to 1.",
};

const TREE: OptionSpec = OptionSpec {
    name: "tree",
    accepts: "a whole number from 0 to 100000000",
    default: "1000000",
    help: "Maximum number of moves stored in all trees; after that no nodes are added. A million \
           takes about 50 MB.",
};

const ANSWER: OptionSpec = OptionSpec {
    name: "answer",
    accepts: "\"most_visited\" or \"proportional\"",
    default: "\"most_visited\"",
    help: "Play the move that was visited most, or draw one in proportion to the visits, which is \
           harder to foresee.",
};

const MAX_LENGTH: OptionSpec = OptionSpec {
    name: "max_length",
    accepts: "a whole number from 1 to 1000000",
    default: "1000",
    help: "Steps after which a playout is stopped and counts 50.",
};

const EVALUATION: OptionSpec = OptionSpec {
    name: "evaluation",
    accepts: "\"none\" or \"learned:FILE\"",
    default: "\"none\"",
    help: "What judges states: `none`, random playouts; `learned:FILE`, the evaluation in a file of \
           `gamemaster train`, applied to the first state of an iteration beyond the trees.",
};

const EVALUATED_EXPLORATION: OptionSpec = OptionSpec {
    name: "evaluated_exploration",
    accepts: "a number from 0 to 10",
    default: "0.2",
    help: "Exploration constant where an evaluation judges states.",
};

const EVALUATION_WEIGHT: OptionSpec = OptionSpec {
    name: "evaluation_weight",
    accepts: "a number from 0 to 1",
    default: "1",
    help: "Share of the evaluation in the value of an iteration; the rest is the mean of its playouts. \
           With 1 there are no playouts.",
};

const OPTIONS: &[OptionSpec] = &[
    ITERATIONS,
    PLAYOUTS,
    EXPLORATION,
    TREE,
    ANSWER,
    PARTICLES,
    MAX_LENGTH,
    EVALUATION,
    EVALUATED_EXPLORATION,
    EVALUATION_WEIGHT,
];

/// Iterations where nothing else ends the search.
const UNLIMITED: u64 = 5000;
/// Playouts in each iteration where time counts, and not nodes. Reasoners that run them side by
/// side take about as long for one.
const SIDE_BY_SIDE: usize = 16;
/// The reward of a playout that reached no end.
const NO_END: f64 = 50.0;

/// Which move to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    MostVisited,
    Proportional,
}

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    let answers = [("most_visited", Answer::MostVisited), ("proportional", Answer::Proportional)];
    let tree = reader.integer(TREE.name, 0..=100_000_000, 1_000_000)?;
    let playouts = reader.integer(PLAYOUTS.name, 0..=1000, 0)?;
    let max_length = reader.integer(MAX_LENGTH.name, 1..=1_000_000, 1000)?;
    let exploration = reader.float(EXPLORATION.name, 0.0..=10.0, 0.7)?;
    let evaluated_exploration = reader.float(EVALUATED_EXPLORATION.name, 0.0..=10.0, 0.2)?;
    let weight = reader.float(EVALUATION_WEIGHT.name, 0.0..=1.0, 1.0)?;
    let learned = reader.learned(EVALUATION.name);
    if learned.is_none() {
        reader.choice(EVALUATION.name, &[("none", ())], ())?;
    }
    let following = TrackerSettings { follows_knowledge: true, ..TrackerSettings::read(&reader)? };
    Ok(Box::new(IsMcts {
        iterations: reader.integer(ITERATIONS.name, 0..=i64::MAX, 0)?.cast_unsigned(),
        answer: reader.choice(ANSWER.name, &answers, Answer::MostVisited)?,
        playouts: usize::try_from(playouts).expect("the range was checked"),
        max_length: u32::try_from(max_length).expect("the range was checked"),
        following,
        forest: Forest::new(
            if learned.is_some() { evaluated_exploration } else { exploration },
            usize::try_from(tree).expect("the range was checked"),
        ),
        evaluation: learned.map(|learned| WeightedEvaluation::new(learned, weight)),
        seed,
        rng: seed::generator(0, seed),
        tracker: None,
        deliberation: None,
    }))
}

struct IsMcts {
    /// For each move; 0 if not limited.
    iterations: u64,
    /// In each iteration; 0 to choose by the budget.
    playouts: usize,
    answer: Answer,
    max_length: u32,
    following: TrackerSettings,
    /// What judges states, in place of playouts or besides them.
    evaluation: Option<WeightedEvaluation>,
    forest: Forest,
    seed: Option<i64>,
    rng: Pcg64,
    tracker: Option<Tracker>,
    deliberation: Option<Deliberation>,
}

impl Player for IsMcts {
    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        self.evaluation.as_ref().map_or(Ok(()), |evaluation| evaluation.check(machine.as_ref()))
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.forest.clear();
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let tracker = self.tracker.insert(Tracker::new(seat, self.following, self.seed));
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.begin(tracker.machine.as_ref())?;
        }
        tracker.begin(stop)?;
        // Prepares for playouts while there is time.
        let none = &mut PlayoutEnds::default();
        match tracker.machine.playouts(&[], 0, 0, &mut |_| true, none) {
            Err(ReasoningError::Cancelled) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(tracker) = &mut self.tracker else { return Ok(fallback) };
        let belief = tracker.follow(turn, stop)?.cloned();
        let (notes, likeliest) = (tracker.notes(), tracker.likeliest());
        let deliberation = self.deliberation.get_or_insert_default();
        deliberation.notes = notes;
        deliberation.belief = likeliest;
        deliberation.completed = turn.legal.len() == 1;
        let Some(belief) = belief.filter(|_| turn.legal.len() > 1) else { return Ok(fallback) };
        let limit = match (self.iterations, stop.deadline(), stop.node_budget()) {
            (0, None, None) => UNLIMITED,
            (0, ..) => u64::MAX,
            (iterations, ..) => iterations,
        };
        let mut iterations = Iterations {
            tracker,
            forest: &mut self.forest,
            evaluation: self.evaluation.as_mut(),
            rng: &mut self.rng,
            n_playouts: match (self.playouts, stop.deadline(), stop.node_budget()) {
                (0, Some(_), None) => SIDE_BY_SIDE,
                (0, ..) => 1,
                (playouts, ..) => playouts,
            },
            max_length: self.max_length,
            stop,
            path: Vec::new(),
            deliberation,
        };
        match iterations.run(&belief, limit) {
            Err(ReasoningError::Cancelled) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
        let chosen = self.choose(&belief, turn.legal);
        let tree = self.root(&belief, turn.legal).and_then(|root| self.forest.visit_tree(root));
        self.deliberation.get_or_insert_default().visit_tree = tree.map(Arc::new);
        Ok(chosen.unwrap_or(fallback))
    }

    fn abort(&mut self) {
        self.forget();
    }

    /// What was visited most of the tree of the player's role.
    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        let record = Record::new(max_nodes.unwrap_or(visit_tree::MAX_NODES));
        self.forest.record = Some(record);
        true
    }

    fn belief(&self) -> Option<Belief> {
        self.tracker.as_ref()?.belief().cloned()
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}

impl IsMcts {
    fn forget(&mut self) {
        self.tracker = None;
        self.forest.clear();
        self.evaluation.iter_mut().for_each(WeightedEvaluation::forget);
    }

    /// The node of what the player knows now; `None` if the search never came to it.
    fn root(&self, belief: &Belief, legal: &[MoveId]) -> Option<usize> {
        let role = self.tracker.as_ref()?.role;
        let known = belief.lines[0].knowledge[usize::from(role.0)].allowed(legal);
        Some(*self.forest.index.get(&(role, known))? as usize)
    }

    /// The answer by the visits, and what there is to say of them.
    fn choose(&mut self, belief: &Belief, legal: &[MoveId]) -> Option<MoveId> {
        let role = self.tracker.as_ref()?.role;
        let root = self.root(belief, legal);
        let deliberation = self.deliberation.get_or_insert_default();
        if self.forest.is_full {
            let n = self.forest.most_arms;
            deliberation.notes.push(format!("tree: full with {n} moves (option `tree`)"));
        }
        let arms = &self.forest.nodes[root?].arms;
        let visited: Vec<&Arm> =
            arms.iter().filter(|arm| arm.n > 0 && legal.contains(&arm.action)).collect();
        let total: u64 = visited.iter().map(|arm| u64::from(arm.n)).sum();
        let chosen = match self.answer {
            Answer::MostVisited => visited.iter().copied().reduce(|best, arm| {
                let order = arm.n.cmp(&best.n).then(arm.mean().total_cmp(&best.mean()));
                if order.is_gt() { arm } else { best }
            })?,
            Answer::Proportional => {
                let mut left = self.rng.random_range(0..total.max(1));
                visited.iter().copied().find(|arm| {
                    let is_it = left < u64::from(arm.n);
                    left = left.saturating_sub(u64::from(arm.n));
                    is_it
                })?
            }
        };
        let is_drawn = self.answer == Answer::Proportional;
        let candidate = |arm: &&Arm| Candidate {
            action: arm.action,
            value: Some(arm.mean()),
            bound: ValueBound::Exact,
            visits: arm.n.into(),
            probability: is_drawn.then(|| f64::from(arm.n) / total as f64),
        };
        let mut candidates: Vec<Candidate> = visited.iter().map(candidate).collect();
        let rank = |id: MoveId| legal.iter().position(|&action| action == id);
        candidates.sort_by_key(|candidate| rank(candidate.action));
        deliberation.candidates = candidates;
        deliberation.value = Some(if is_drawn {
            visited.iter().map(|arm| arm.sum).sum::<f64>() / total as f64
        } else {
            chosen.mean()
        });
        deliberation.line = vec![vec![(role, chosen.action)]];
        Some(chosen.action)
    }
}

/// A move in a node.
#[derive(Clone, Debug)]
struct Arm {
    action: MoveId,
    /// How often it was chosen.
    n: u32,
    /// How often it was legal when the node was visited.
    n_available: u32,
    /// The rewards of the role.
    sum: f64,
}

impl Arm {
    fn mean(&self) -> f64 {
        self.sum / f64::from(self.n.max(1))
    }
}

/// An information set of a role.
#[derive(Clone, Debug, Default)]
struct Node {
    arms: Vec<Arm>,
}

/// The trees of all roles. Nodes are kept from turn to turn: what a role knows does not
/// depend on when that is asked.
struct Forest {
    exploration: f64,
    most_arms: usize,
    index: FxHashMap<(RoleId, Knowledge), u32>,
    nodes: Vec<Node>,
    n_arms: usize,
    is_full: bool,
    /// How the nodes of the player's role follow each other, if that is to be shown.
    record: Option<Record>,
}

impl Forest {
    fn new(exploration: f64, most_arms: usize) -> Self {
        let (index, nodes) = (FxHashMap::default(), Vec::new());
        Self { exploration, most_arms, index, nodes, n_arms: 0, is_full: false, record: None }
    }

    fn clear(&mut self) {
        (self.index, self.nodes) = (FxHashMap::default(), Vec::new());
        (self.n_arms, self.is_full) = (0, false);
        self.record.iter_mut().for_each(Record::clear);
    }

    /// The node of what a role knows, and whether it is new; `None` if there is no room
    /// for it.
    fn node(&mut self, role: RoleId, known: Knowledge, n_moves: usize) -> Option<(usize, bool)> {
        if let Some(&index) = self.index.get(&(role, known)) {
            return Some((index as usize, false));
        }
        if self.n_arms + n_moves > self.most_arms {
            self.is_full = true;
            return None;
        }
        let index = self.nodes.len();
        self.index.insert((role, known), u32::try_from(index).expect("there are more arms"));
        self.nodes.push(Node::default());
        Some((index, true))
    }

    /// Selects one of the legal moves: one that was never tried, or by UCT. Its index.
    ///
    /// Roles that choose at the same time and weigh alike would meet in the same joint moves again
    /// and again, however bad these are for each of them; so each of them weighs anew.
    fn select(&mut self, node: usize, legal: &[MoveId], is_joint: bool, rng: &mut Pcg64) -> usize {
        let (exploration, first) = match is_joint {
            true => {
                (self.exploration * rng.random_range(0.0..2.0), rng.random_range(0..legal.len()))
            }
            false => (self.exploration, 0),
        };
        let arms = &mut self.nodes[node].arms;
        let mut untried = Vec::new();
        let mut best = (f64::NEG_INFINITY, 0);
        for &action in legal[first..].iter().chain(&legal[..first]) {
            let at = match arms.iter().position(|arm| arm.action == action) {
                Some(at) => at,
                None => {
                    self.n_arms += 1;
                    arms.push(Arm { action, n: 0, n_available: 0, sum: 0.0 });
                    arms.len() - 1
                }
            };
            let arm = &mut arms[at];
            arm.n_available += 1;
            if arm.n == 0 {
                untried.push(at);
                continue;
            }
            let n = f64::from(arm.n);
            let rare = (f64::from(arm.n_available).ln() / n).sqrt();
            let score = arm.mean() / 100.0 + exploration * rare;
            if score > best.0 {
                best = (score, at);
            }
        }
        match untried.len() {
            0 => best.1,
            n => untried[rng.random_range(0..n)],
        }
    }
}

/// The iterations for one answer.
struct Iterations<'a> {
    tracker: &'a mut Tracker,
    forest: &'a mut Forest,
    evaluation: Option<&'a mut WeightedEvaluation>,
    rng: &'a mut Pcg64,
    n_playouts: usize,
    max_length: u32,
    stop: &'a Stop,
    /// Nodes and arms chosen in this iteration.
    path: Vec<(RoleId, usize, usize)>,
    deliberation: &'a mut Deliberation,
}

impl Iterations<'_> {
    fn run(&mut self, belief: &Belief, limit: u64) -> Result<(), ReasoningError> {
        if self.forest.is_full || self.forest.n_arms * 2 > self.forest.most_arms {
            self.forest.clear();
        }
        for _ in 0..limit {
            if self.stop.is_due(self.deliberation.nodes) {
                return Ok(());
            }
            let line = belief.draw(self.rng);
            let (state, knowledge) = (line.state.clone(), line.knowledge.clone());
            // Only a whole iteration counts.
            let Some(rewards) = self.iterate(state, knowledge)? else { return Ok(()) };
            for &(role, node, arm) in &self.path {
                let arm = &mut self.forest.nodes[node].arms[arm];
                arm.n += 1;
                arm.sum += rewards[usize::from(role.0)];
            }
        }
        self.deliberation.completed = true;
        Ok(())
    }

    /// The rewards of one iteration; `None` if the stop was due.
    fn iterate(
        &mut self,
        mut state: State,
        mut knowledge: Vec<Knowledge>,
    ) -> Result<Option<Vec<f64>>, ReasoningError> {
        self.path.clear();
        self.forest.record.iter_mut().for_each(Record::begin);
        let me = self.tracker.role;
        let n_roles = knowledge.len();
        let mut joint_move = Vec::with_capacity(n_roles);
        for depth in 1..=self.max_length {
            let machine = self.tracker.machine.as_mut();
            if machine.is_terminal(&state)? {
                break;
            }
            let Some(replies) = Replies::legal(machine, &state)? else {
                // The rules are broken, and nothing is won.
                return Ok(Some(vec![0.0; n_roles]));
            };
            allow(machine.game(), &mut knowledge, &replies);
            joint_move.clear();
            let chooses = |(role, legal): (RoleId, &Vec<MoveId>)| {
                legal.len() > 1 && machine.game().random() != Some(role)
            };
            let roles = machine.game().role_ids();
            let is_joint = roles.zip(&replies.by_role).filter(|&it| chooses(it)).count() > 1;
            let (mut is_new, mut is_outside) = (false, false);
            for (role, legal) in machine.game().role_ids().zip(&replies.by_role) {
                joint_move.push(match legal.as_slice() {
                    [only] => *only,
                    _ if machine.game().random() == Some(role) => {
                        legal[self.rng.random_range(0..legal.len())]
                    }
                    _ => {
                        let known = knowledge[usize::from(role.0)];
                        match self.forest.node(role, known, legal.len()) {
                            Some((node, is_first)) => {
                                is_new |= is_first;
                                let arm = self.forest.select(node, legal, is_joint, self.rng);
                                self.path.push((role, node, arm));
                                let action = self.forest.nodes[node].arms[arm].action;
                                if let Some(record) = &mut self.forest.record
                                    && role == me
                                {
                                    record.choose(node, is_first, action);
                                }
                                action
                            }
                            None => {
                                is_outside = true;
                                legal[self.rng.random_range(0..legal.len())]
                            }
                        }
                    }
                });
            }
            if self.stop.is_due(self.deliberation.nodes) {
                return Ok(None);
            }
            self.deliberation.nodes += 1;
            self.deliberation.next_calls += 1;
            self.deliberation.selective_depth = self.deliberation.selective_depth.max(depth);
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next)?;
            if is_new || is_outside {
                state = next;
                break;
            }
            if let Some(record) = &mut self.forest.record {
                record.see(machine, &state, &joint_move, me)?;
            }
            for (role, known) in machine.game().role_ids().zip(&mut knowledge) {
                if machine.game().random() != Some(role) {
                    *known = knowledge_after(machine, *known, &state, &joint_move, role)?;
                }
            }
            state = next;
        }
        self.rewards(&state)
    }

    /// The rewards expected in the state that an iteration came to: those of playouts and of the
    /// evaluation, each with its share; `None` if the stop was due.
    fn rewards(&mut self, state: &State) -> Result<Option<Vec<f64>>, ReasoningError> {
        let machine = self.tracker.machine.as_mut();
        let Some(evaluation) = self.evaluation.as_deref_mut() else { return self.playout(state) };
        if machine.is_terminal(state)? {
            return self.playout(state);
        }
        let estimates = evaluation.rewards(machine, state)?;
        let weight = evaluation.weight;
        if weight >= 1.0 {
            self.deliberation.leaves += 1;
            return Ok(Some(estimates));
        }
        let Some(played) = self.playout(state)? else { return Ok(None) };
        let mixed = |(estimate, played)| weight * estimate + (1.0 - weight) * played;
        Ok(Some(estimates.into_iter().zip(played).map(mixed).collect()))
    }

    /// The mean rewards of random playouts from a state.
    fn playout(&mut self, state: &State) -> Result<Option<Vec<f64>>, ReasoningError> {
        let (stop, nodes) = (self.stop, self.deliberation.nodes);
        let mut go_on = |n_states| !stop.is_due(nodes + n_states);
        let mut ends = PlayoutEnds::default();
        let seed = self.rng.next_u64();
        let machine = self.tracker.machine.as_mut();
        let n_starts = if machine.is_terminal(state)? { 1 } else { self.n_playouts };
        let starts = vec![state.clone(); n_starts];
        machine.playouts(&starts, self.max_length, seed, &mut go_on, &mut ends)?;
        self.deliberation.nodes += ends.n_states;
        self.deliberation.next_calls += ends.n_states;
        let mut rewards = vec![0.0; machine.game().roles().len()];
        for end in &ends.ends {
            // If some were stopped, the shorter ones alone would mislead.
            let Some(end) = end else { return Ok(None) };
            for (role, reward) in rewards.iter_mut().enumerate() {
                *reward += end.goals.get(role).map_or(NO_END, |goal| f64::from(worst(goal)));
            }
        }
        let n = ends.ends.len();
        self.deliberation.leaves += n as u64;
        self.deliberation.playouts += n as u64;
        for reward in &mut rewards {
            *reward /= n as f64;
        }
        Ok(Some(rewards))
    }
}
