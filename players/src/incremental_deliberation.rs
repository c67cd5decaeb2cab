//! Incremental deliberation (named in Genesereth and Thielscher, "General Game Playing",
//! 2014): the tree of the game is kept from step to step and grows where that promises
//! most, instead of being searched anew.
//!
//! Every state has a lower and an upper bound of its value, 0 and 100 at first: what I can
//! force, and what I cannot exceed. Bounds are backed up as in minimax, with the mean over
//! the moves of chance, and only tighten. Growth is best-first: it goes down by my move
//! with the highest upper bound and the reply with the lowest lower bound, and expands the
//! state where it ends (compare Berliner's B*, 1979). A state reached in several ways is
//! kept once, so that none is expanded twice. What can no longer be reached when the
//! match goes on is dropped as soon as there is no room for other states.
//!
//! An evaluation may say which of several states with equal bounds is expanded first, and which
//! move to make where bounds do not decide ([`guidance`]).

mod bounds;
mod guidance;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use games::{Expression, MoveId, RoleId, State, StateKey, StateMachine};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::counted::counted;
use crate::kind::PlayerKind;
use crate::options::{OptionSpec, Reader};
use crate::search::evaluation::{self, EvaluationFunction, Judge};
use crate::search::track::Track;
use crate::search::{Frame, Halt, SearchRoles, Stopwatch, check_order, ranks, settings, worst};
use crate::{
    Candidate, Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, ValueBound,
    visit_tree,
};

/// The player that keeps its tree.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "incremental_deliberation",
    summary: "Keeps the game tree from step to step and expands the most promising states first, \
              using lower and upper bounds of their values.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const MAX_STATES: OptionSpec = OptionSpec {
    help: "Maximum number of states to keep; at this limit the tree stops growing until a step \
           of the match makes some of its states unreachable.",
    ..settings::MAX_STATES
};

const EVALUATION: OptionSpec = OptionSpec {
    name: settings::EVALUATION.name,
    accepts: evaluation::ACCEPTS_WHILE_KEPT,
    default: "\"none\"",
    help: "Of states with equal bounds, expand the one that this evaluation prefers for the role \
           that chooses, and where bounds do not decide, play the move that looks best. The \
           evaluations are those of `alpha_beta`, except `novelty`, which compares with a state that \
           changes while the tree is kept. `none`: go by bounds and visits alone.",
};

const OPTIONS: &[OptionSpec] = &[MAX_STATES, EVALUATION, settings::MOVE_ORDER];

/// Descents that end at no new state, before the rest counts as play without end.
const MAX_FRUITLESS: u32 = 1000;

/// Entries of a list whose memory is kept while its node holds no state.
const MOST_KEPT: usize = 64;

/// Rewards are whole numbers, and their means differ by more.
const EPSILON: f64 = 1e-9;

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    // Random numbers are not used; the option is checked as for every player.
    reader.seed()?;
    Ok(Box::new(IncrementalDeliberation {
        max_states: settings::max_states(&reader)?,
        judge: read_evaluation(&reader)?.map(Judge::new),
        move_order: reader.moves(settings::MOVE_ORDER.name)?,
        track: None,
        tree: Tree::default(),
        recorded_nodes: None,
        deliberation: None,
    }))
}

/// The evaluation, if there is one.
fn read_evaluation(reader: &Reader<'_>) -> Result<Option<EvaluationFunction>, OptionError> {
    if let Some(learned) = reader.learned(EVALUATION.name) {
        return Ok(Some(EvaluationFunction::Learned(learned)));
    }
    let read = |text: &str| match text {
        "none" => Some(None),
        text => EvaluationFunction::read(text).filter(|it| !it.depends_on_question()).map(Some),
    };
    reader.read_text(EVALUATION.name, read, None)
}

struct IncrementalDeliberation {
    max_states: usize,
    /// What guides the growth and the choice where bounds do not.
    judge: Option<Judge>,
    move_order: Vec<Expression>,
    track: Option<Track>,
    tree: Tree,
    /// How many states of the tree the report shows, if it is to show any.
    recorded_nodes: Option<usize>,
    deliberation: Option<Deliberation>,
}

/// What is known of the game from the present state on.
#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    /// The node of the present state.
    root: usize,
    index: FxHashMap<StateKey, usize>,
    /// Nodes that hold no state.
    free: Vec<usize>,
    /// The nodes that were descended last, from the root on.
    way: Vec<usize>,
    /// A state was expanded in which several roles choose at the same time.
    met_simultaneous_moves: bool,
}

#[derive(Debug, Default)]
struct Node {
    state: State,
    key: StateKey,
    lower: f64,
    upper: f64,
    /// What it looks worth, if there is an evaluation.
    estimate: Option<f64>,
    /// Descents that came here.
    visits: u64,
    /// My moves; none if the state is not expanded, or terminal.
    actions: Vec<MoveId>,
    /// The states that these lead to: by my move, then by joint reply of the others, then by move of
    /// chance.
    children: Vec<u32>,
    /// Moves of chance.
    n_outcomes: usize,
    /// All nodes that lead here, and perhaps some that no longer do.
    parents: Vec<u32>,
    is_expanded: bool,
    /// It holds no state.
    is_free: bool,
}

/// One of my moves in a node.
#[derive(Clone, Copy, Debug)]
struct OwnMove<'a> {
    action: MoveId,
    /// The states that it leads to.
    children: &'a [u32],
    n_outcomes: usize,
}

impl<'a> OwnMove<'a> {
    /// For each joint reply of the others, the states after the moves of chance.
    fn replies(self) -> impl Iterator<Item = &'a [u32]> {
        self.children.chunks_exact(self.n_outcomes)
    }
}

impl Node {
    /// My moves with what they lead to; none if the state is not expanded, or terminal.
    fn moves(&self) -> impl Iterator<Item = OwnMove<'_>> {
        let n_children = self.children.len() / self.actions.len().max(1);
        let children = self.children.chunks_exact(n_children.max(1));
        let own = |(&action, children)| OwnMove { action, children, n_outcomes: self.n_outcomes };
        self.actions.iter().zip(children).map(own)
    }

    /// Makes room for another state. Small memory is kept for it: where hundreds of thousands of
    /// blocks are freed, the allocator may join them in one call, which takes longer than a short
    /// clock.
    fn free(&mut self) {
        self.actions.clear();
        self.children.clear();
        self.parents.clear();
        if self.children.capacity() > MOST_KEPT {
            (self.actions, self.children) = (Vec::new(), Vec::new());
        }
        if self.parents.capacity() > MOST_KEPT {
            self.parents = Vec::new();
        }
        (self.is_expanded, self.is_free) = (false, true);
    }
}

/// Lower and upper bound of a move or a reply.
type Bounds = (f64, f64);

/// One of my moves in the present state.
struct RootMove {
    action: MoveId,
    bounds: Bounds,
    /// What it looks worth. Without an evaluation nobody asks.
    estimate: f64,
    visits: u64,
}

impl Tree {
    /// Makes `state` the root. What cannot be reached from it stays until its room is needed:
    /// dropping a large tree takes longer than a short clock.
    fn root(&mut self, key: StateKey, state: &State) {
        self.root = self.node(key, state);
    }

    /// Reserves memory for that many states, which is used only when it is written. If arrays grow
    /// later, all states are moved, which takes longer than a short clock.
    fn reserve(&mut self, n_states: usize) {
        self.nodes.reserve(n_states);
        self.index.reserve(n_states);
    }

    /// The number of states that are kept.
    fn n_states(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// The node of a state, made if need be.
    fn node(&mut self, key: StateKey, state: &State) -> usize {
        if let Some(&at) = self.index.get(&key) {
            return at;
        }
        let at = match self.free.pop() {
            Some(at) => at,
            None => {
                self.nodes.push(Node::default());
                self.nodes.len() - 1
            }
        };
        let node = &mut self.nodes[at];
        node.state.clone_from(state);
        (node.key, node.estimate, node.visits) = (key, None, 0);
        (node.lower, node.upper, node.is_free) = (0.0, 100.0, false);
        self.index.insert(key, at);
        at
    }

    /// Drops what cannot be reached from the root, as far as `poll` allows, and says whether there
    /// was any. Wherever it ends, no node that can be found or reached leads to one that is free:
    /// first none of what is dropped can be found any more, then the nodes are freed.
    fn reclaim(&mut self, poll: &mut dyn FnMut() -> Result<(), Halt>) -> Result<bool, Halt> {
        let is_reachable = self.reachable(poll)?;
        let mut dropped = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            poll()?;
            if !is_reachable[at] && !node.is_free {
                dropped.push(at);
            }
        }
        for &at in &dropped {
            poll()?;
            if let Entry::Occupied(known) = self.index.entry(self.nodes[at].key)
                && *known.get() == at
            {
                known.remove();
            }
        }
        for &at in &dropped {
            poll()?;
            self.nodes[at].free();
            self.free.push(at);
        }
        Ok(!dropped.is_empty())
    }

    /// By node: whether moves in the tree lead to it from the root. A state of which only some
    /// children were computed before the time was up has no moves.
    fn reachable(&self, poll: &mut dyn FnMut() -> Result<(), Halt>) -> Result<Vec<bool>, Halt> {
        let mut is_met = vec![false; self.nodes.len()];
        is_met[self.root] = true;
        let mut left = vec![self.root];
        while let Some(at) = left.pop() {
            poll()?;
            let below = self.nodes[at].children.iter().map(|&at| at as usize);
            left.extend(below.filter(|&at| !std::mem::replace(&mut is_met[at], true)));
        }
        Ok(is_met)
    }

    fn is_solved(&self, at: usize) -> bool {
        self.nodes[at].upper - self.nodes[at].lower < EPSILON
    }

    /// Bounds of the state after a joint reply: the mean over chance.
    fn of_reply(&self, outcomes: &[u32]) -> Bounds {
        let n = outcomes.len() as f64;
        let sum = |bound: fn(&Node) -> f64| {
            outcomes.iter().map(|&at| bound(&self.nodes[at as usize])).sum::<f64>()
        };
        (sum(|node| node.lower) / n, sum(|node| node.upper) / n)
    }

    /// Bounds of one of my moves: the worst reply.
    fn of_move(&self, own: OwnMove<'_>) -> Bounds {
        let replies = own.replies().map(|outcomes| self.of_reply(outcomes));
        replies.fold((100.0, 100.0), |a: Bounds, b| (a.0.min(b.0), a.1.min(b.1)))
    }

    fn n_visits(&self, outcomes: &[u32]) -> u64 {
        outcomes.iter().map(|&at| self.nodes[at as usize].visits).sum()
    }

    /// The state to expand next: best-first among what is not settled, and by the estimates
    /// between equals, if it is guided by them.
    fn descend(&mut self, is_guided: bool) -> usize {
        let mut at = self.root;
        let mut seen = FxHashSet::default();
        self.way.clear();
        loop {
            self.nodes[at].visits += 1;
            self.way.push(at);
            if !self.nodes[at].is_expanded || !seen.insert(at) {
                return at;
            }
            let node = &self.nodes[at];
            let open = |own: &OwnMove<'_>| {
                let (lower, upper) = self.of_move(*own);
                upper - lower >= EPSILON
            };
            let own = node.moves().filter(open).max_by(|&a, &b| {
                let upper = self.of_move(a).1.total_cmp(&self.of_move(b).1);
                let estimate = |own| self.estimate_of_move(own);
                let looks = || self.compare(is_guided, estimate, a, b);
                let visits = || self.n_visits(b.children).cmp(&self.n_visits(a.children));
                upper.then_with(looks).then_with(visits)
            });
            let Some(own) = own else { return at };
            let is_open =
                |outcomes: &&[u32]| outcomes.iter().any(|&at| !self.is_solved(at as usize));
            let reply = own.replies().filter(is_open).min_by(|&a, &b| {
                let lower = self.of_reply(a).0.total_cmp(&self.of_reply(b).0);
                let estimate = |outcomes| self.estimate_of_reply(outcomes);
                let looks = || self.compare(is_guided, estimate, a, b);
                lower.then_with(looks).then_with(|| self.n_visits(a).cmp(&self.n_visits(b)))
            });
            let Some(outcomes) = reply else { return at };
            let gap = |at: usize| self.nodes[at].upper - self.nodes[at].lower;
            let next = outcomes.iter().map(|&at| at as usize).max_by(|&a, &b| {
                let visits = || self.nodes[b].visits.cmp(&self.nodes[a].visits);
                gap(a).total_cmp(&gap(b)).then_with(visits)
            });
            at = next.expect("a reply leads somewhere");
        }
    }

    /// Renews the bounds of `from`, and of all states above it that this concerns.
    fn back_up(&mut self, from: usize) {
        let mut left = VecDeque::from([from]);
        while let Some(at) = left.pop_front() {
            if self.nodes[at].actions.is_empty() {
                continue;
            }
            let bounds = self.nodes[at].moves().map(|own| self.of_move(own));
            let (lower, upper) =
                bounds.fold((0.0, 0.0), |a: Bounds, b| (a.0.max(b.0), a.1.max(b.1)));
            let node = &mut self.nodes[at];
            let tighter = (lower.max(node.lower), upper.min(node.upper));
            if tighter != (node.lower, node.upper) {
                (node.lower, node.upper) = tighter;
                left.extend(node.parents.iter().map(|&parent| parent as usize));
            }
        }
    }

    /// My moves at the root, in the order of the rules.
    fn root_moves(&self) -> Vec<RootMove> {
        let Some(root) = self.nodes.get(self.root) else { return Vec::new() };
        let of = |own: OwnMove<'_>| RootMove {
            action: own.action,
            bounds: self.of_move(own),
            estimate: self.estimate_of_move(own),
            visits: self.n_visits(own.children),
        };
        root.moves().map(of).collect()
    }
}

/// Grows a tree.
struct Growth<'a> {
    machine: &'a mut dyn StateMachine,
    roles: SearchRoles,
    ranks: &'a FxHashMap<MoveId, usize>,
    stopwatch: Stopwatch<'a>,
    frame: Frame,
    max_states: usize,
    judge: Option<&'a mut Judge>,
}

impl Growth<'_> {
    /// Grows the tree until its root is settled or the stop is due; whether it grew to
    /// the most states that are kept.
    fn grow(&mut self, tree: &mut Tree) -> Result<bool, Halt> {
        let mut n_fruitless = 0;
        while !tree.is_solved(tree.root) && n_fruitless < MAX_FRUITLESS {
            if tree.n_states() >= self.max_states && !self.reclaim(tree)? {
                return Ok(true);
            }
            self.stopwatch.poll()?;
            // If the last way led round a circle, the same estimates would lead there again.
            let is_guided = self.judge.is_some() && n_fruitless == 0;
            let at = tree.descend(is_guided);
            if tree.nodes[at].is_expanded {
                // The way led round a circle of states; visits lead elsewhere next time.
                n_fruitless += 1;
                continue;
            }
            n_fruitless = 0;
            if self.expand(tree, at)? {
                tree.back_up(at);
                if self.judge.is_some() {
                    tree.renew_estimates();
                }
            } else if !self.reclaim(tree)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes room for other states, if any can be dropped.
    fn reclaim(&mut self, tree: &mut Tree) -> Result<bool, Halt> {
        tree.reclaim(&mut || self.stopwatch.poll())
    }

    /// Computes the rewards of a terminal state, or all children of another; whether
    /// there was room for them.
    fn expand(&mut self, tree: &mut Tree, at: usize) -> Result<bool, Halt> {
        self.stopwatch.enter(0)?;
        let state = tree.nodes[at].state.clone();
        self.frame.begin(&state);
        if self.frame.is_terminal(self.machine, None)? {
            self.stopwatch.deliberation.leaves += 1;
            let reward = worst(&self.frame.goal(self.machine, None, self.roles.me)?);
            let node = &mut tree.nodes[at];
            (node.lower, node.upper, node.is_expanded) = (reward.into(), reward.into(), true);
            tree.raise(at);
            return Ok(true);
        }
        if !self.frame.list_moves(self.machine, None, self.ranks)? {
            let node = &mut tree.nodes[at];
            (node.upper, node.is_expanded) = (0.0, true);
            tree.raise(at);
            return Ok(true);
        }
        tree.met_simultaneous_moves |= self.roles.choose_at_once(&self.frame);
        let n_moves = self.frame.legal.iter().map(Vec::len);
        let n_children = n_moves.fold(1, usize::saturating_mul);
        if n_children > self.max_states.saturating_sub(tree.n_states()) {
            return Ok(false);
        }
        let me = self.roles.index();
        let n_replies = self.roles.n_replies(&self.frame);
        let chance = self.roles.chance;
        let n_outcomes = chance.map_or(1, |chance| self.frame.legal[chance].len());
        // Those of the node, whose memory is there already.
        let mut actions = std::mem::take(&mut tree.nodes[at].actions);
        let mut children = std::mem::take(&mut tree.nodes[at].children);
        actions.clear();
        children.clear();
        children.reserve_exact(n_children);
        for index in 0..self.frame.legal[me].len() {
            self.frame.pick(me, index);
            actions.push(self.frame.joint[me]);
            for reply in 0..n_replies {
                self.roles.set_reply(&mut self.frame, reply);
                for outcome in 0..n_outcomes {
                    if let Some(chance) = chance {
                        self.frame.pick(chance, outcome);
                    }
                    children.push(index_of(self.child(tree, at)?));
                }
            }
        }
        let node = &mut tree.nodes[at];
        (node.actions, node.children) = (actions, children);
        (node.n_outcomes, node.is_expanded) = (n_outcomes, true);
        Ok(true)
    }

    /// The node after the joint move of the frame.
    fn child(&mut self, tree: &mut Tree, parent: usize) -> Result<usize, Halt> {
        // A state that was entered is expanded as a whole, if time allows.
        self.stopwatch.poll_time()?;
        self.stopwatch.deliberation.next_calls += 1;
        let mut next = State::default();
        self.machine.next_state(&self.frame.state, &self.frame.joint, &mut next)?;
        let child = tree.node(self.machine.key(&next), &next);
        let (parents, parent) = (&mut tree.nodes[child].parents, index_of(parent));
        if !parents.contains(&parent) {
            parents.push(parent);
        }
        self.estimate(tree, child, &next)?;
        Ok(child)
    }
}

/// A node as it is written into others.
///
/// # Panics
/// If there are more nodes than memory holds.
fn index_of(at: usize) -> u32 {
    u32::try_from(at).expect("a tree has fewer than 2^32 nodes")
}

impl Tree {
    /// The bounds of `at` changed: those above follow.
    fn raise(&mut self, at: usize) {
        for parent in self.nodes[at].parents.clone() {
            self.back_up(parent as usize);
        }
    }
}

impl IncrementalDeliberation {
    fn grow(&mut self, state: &State, stop: &Stop) -> Result<(), Failure> {
        let Some(track) = &mut self.track else { return Ok(()) };
        let role: RoleId = track.role;
        let machine = track.machine.as_mut();
        let key = machine.key(state);
        self.tree.root(key, state);
        let ranks = ranks(machine, &self.move_order);
        let roles = SearchRoles::new(machine.game(), role);
        let frame = Frame::new(roles.n_roles);
        let max_states = self.max_states;
        let stopwatch = Stopwatch::new(stop);
        let judge = self.judge.as_mut();
        let mut growth =
            Growth { machine, roles, ranks: &ranks, stopwatch, frame, max_states, judge };
        let grown = growth.grow(&mut self.tree);
        let is_begun = self.tree.nodes[self.tree.root].is_expanded;
        let recorded = self.recorded_nodes.filter(|_| is_begun);
        let recorded = recorded.map(|max_nodes| growth.bound_tree(&self.tree, max_nodes));
        let Growth { roles, stopwatch, .. } = growth;
        let mut said = stopwatch.deliberation;
        match grown {
            Ok(is_full) => {
                said.completed = self.tree.is_solved(self.tree.root);
                said.proven = said.completed
                    && !self.tree.met_simultaneous_moves
                    && roles.guarantee_is_value(self.tree.nodes[self.tree.root].lower);
                if is_full {
                    let states = counted(max_states, "state");
                    said.notes.push(format!(
                        "the tree has no room for more than {states} (option max_states) and stopped \
                         growing"
                    ));
                }
            }
            Err(Halt::Due) => {}
            Err(Halt::Broken(error)) => return Err((*error).into()),
        }
        said.bound_tree = match recorded.transpose() {
            Ok(tree) => tree.map(Arc::new),
            Err(Halt::Due) => None,
            Err(Halt::Broken(error)) => return Err((*error).into()),
        };
        self.deliberation = Some(self.said(said, roles.others.len()));
        Ok(())
    }

    fn said(&self, said: Deliberation, n_others: usize) -> Deliberation {
        let Some(root) = self.tree.nodes.get(self.tree.root) else { return said };
        let candidate = |RootMove { action, bounds: (lower, upper), visits, .. }: RootMove| {
            let (value, bound) = match (lower, upper) {
                (lower, upper) if upper - lower < EPSILON => (Some(lower), ValueBound::Exact),
                (lower, _) if lower > 0.0 => (Some(lower), ValueBound::AtLeast),
                (_, upper) if upper < 100.0 => (Some(upper), ValueBound::AtMost),
                _ => (None, ValueBound::AtLeast),
            };
            Candidate { action, value, bound, visits, probability: None }
        };
        let candidates: Vec<Candidate> =
            self.tree.root_moves().into_iter().map(candidate).collect();
        let value = self.tree.is_solved(self.tree.root).then_some(root.lower);
        let mut notes = said.notes;
        let (lower, upper) = (root.lower, root.upper);
        let range = if upper - lower < EPSILON {
            format!("exactly {lower:.1}")
        } else {
            format!("from {lower:.1} to {upper:.1}")
        };
        let unknown = match candidates.iter().any(|candidate| candidate.value.is_none()) {
            true => "; nothing is proven yet of moves without a value",
            false => "",
        };
        let n_states = self.tree.n_states();
        let assumed = match (n_others > 1, self.tree.met_simultaneous_moves) {
            (false, false) => "",
            (true, false) => "against others who join forces, ",
            (_, true) => "against others who know its moves, ",
        };
        notes.push(format!("{assumed}the value is {range} (tree of {n_states} states){unknown}"));
        if let Some(best) = self.best().filter(|best| best.bounds.1 - best.bounds.0 >= EPSILON)
            && self.judge.is_some()
        {
            notes.push(format!("the move looks worth {:.1} by the evaluation", best.estimate));
        }
        Deliberation { value, candidates, notes, ..said }
    }

    /// The move to play. If the value is proven or there is no evaluation: the best lower bound,
    /// then the best upper bound, then the most visits, then the first. Otherwise the best estimate
    /// comes first; since an estimate lies within its bounds, a move that is proven worse is never
    /// preferred.
    fn best(&self) -> Option<RootMove> {
        let is_guided = self.judge.is_some() && !self.tree.is_solved(self.tree.root);
        let compare = |one: &RootMove, other: &RootMove| {
            let looks = match is_guided {
                true => one.estimate.total_cmp(&other.estimate),
                false => Ordering::Equal,
            };
            let lower = one.bounds.0.total_cmp(&other.bounds.0);
            let upper = one.bounds.1.total_cmp(&other.bounds.1);
            looks.then(lower).then(upper).then(one.visits.cmp(&other.visits))
        };
        let moves = self.tree.root_moves().into_iter();
        moves.reduce(|best, other| if compare(&other, &best).is_gt() { other } else { best })
    }

    fn forget(&mut self) {
        self.track = None;
        self.tree = Tree::default();
        self.judge.iter_mut().for_each(Judge::forget);
    }

    /// Whether the moves to try first and the evaluation fit the game.
    fn check_game(&self, machine: &mut dyn StateMachine) -> Result<(), Failure> {
        check_order(machine, &self.move_order)?;
        self.judge.as_ref().map_or(Ok(()), |judge| judge.check(machine))
    }
}

impl Player for IncrementalDeliberation {
    fn check(&mut self, mut machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        self.check_game(&mut *machine)
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.forget();
        self.deliberation = Some(Deliberation::default());
        let mut track = Track::new(seat, KIND.name)?;
        self.check_game(&mut *track.machine)?;
        if stop.deadline().is_some() {
            self.tree.reserve(self.max_states.min(settings::DEFAULT_MAX_STATES));
        }
        match self.track.insert(track).begin(stop)? {
            Some(state) => self.grow(&state, stop),
            None => Ok(()),
        }
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[0];
        let Some(track) = &mut self.track else { return Ok(fallback) };
        let Some(state) = track.follow(turn, stop)? else { return Ok(fallback) };
        self.grow(&state, stop)?;
        let best = self.best().map(|best| best.action);
        Ok(best.filter(|best| turn.legal.contains(best)).unwrap_or(fallback))
    }

    fn abort(&mut self) {
        self.forget();
    }

    /// The states that were visited most.
    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        self.recorded_nodes = Some(max_nodes.unwrap_or(visit_tree::MAX_NODES));
        true
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}
