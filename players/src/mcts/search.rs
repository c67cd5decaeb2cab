//! The search: descents through the tree in passes, each pass ended by the playouts of all
//! its leaves side by side.
//!
//! A descent does not know yet what the others of its pass will bring. It counts them as
//! visits without a result (Liu, Chen, Yu, Zhai, Zhou and Liu, "Watch the unobserved: a
//! simple approach to parallelizing Monte Carlo tree search", ICLR 2020), so that they
//! part where the values are close, and no value is made worse than it is.

use std::sync::Arc;

use games::solve::ValueTable;
use games::{MoveId, PlayoutMoves, ReasoningError, RoleId, State, StateMachine};
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use super::best_line::BestLine;
use super::estimate::{self, Estimator};
use super::expansion::{Expanded, Expander, joint_index, settled_rewards};
use super::move_averages::{MoveAverages, Preference};
use super::pass::{Descent, Hop, Pass, Playing};
use super::proof;
use super::recycling::{Recycled, Recycler};
use super::regret_matching::{self, Regrets, Simultaneous};
use super::roles::Roles;
use super::time_allocation::{Spent, TimeAllocation};
use super::tree::{Edge, Kind, NONE, Tree, by_role};
use crate::Stop;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Weight of what was seldom tried, for rewards from 0 to 1.
    pub(super) exploration: f32,
    /// What a move that was never tried is worth, above the mean of its node.
    pub(super) first_play: f32,
    /// Visits after which a node is expanded at the next one.
    pub(super) unexpanded: u32,
    /// Maximum number of leaves of a pass.
    pub(super) leaves: usize,
    /// Playouts from each leaf of a full pass.
    pub(super) lanes: usize,
    /// Steps after which a playout is given up.
    pub(super) max_length: u32,
    /// Maximum number of bytes of the tree.
    pub(super) memory: usize,
    /// The same as `exploration`, where positions are judged by an evaluation alone.
    pub(super) evaluated_exploration: f32,
    /// The moves that playouts choose among.
    pub(super) playout_moves: PlayoutMoves,
    /// The moves that they prefer.
    pub(super) preference: Preference,
    /// Where two opposed roles choose at the same time.
    pub(super) simultaneous: Simultaneous,
}

/// More than any estimate: what is known is not looked at as long as anything is not.
const KNOWN: f32 = 1000.0;
/// What a playout counts that reached no end.
const NO_END: f32 = 0.5;
/// Steps that a playout is expected to have before any was played.
const EXPECTED_LENGTH: f64 = 64.0;
/// Passes that a node budget should suffice for.
const PASSES: f64 = 32.0;
/// The deepest level of a descent, so that the memory for its path is bounded.
const MAX_DEPTH: usize = 4096;

/// Counters of one question.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub(super) nodes: u64,
    pub(super) next_calls: u64,
    pub(super) playouts: u64,
    pub(super) descents: u64,
    pub(super) levels: u64,
    pub(super) deepest: u32,
    /// Times that the tree was full and cold nodes were dropped.
    pub(super) recycled: u32,
    /// The tree is full, and there was no time to drop cold nodes.
    pub(super) is_full: bool,
}

/// How a descent ended.
enum Reached {
    /// At a node whose rewards are wanted.
    Leaf { at: u32, recurs: bool },
    /// At a node whose rewards are proven.
    Settled(u32),
    /// Time is up.
    Due,
}

/// When a search ends.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub(super) stop: &'a Stop,
    /// After this number of descents.
    pub(super) limit: u64,
}

/// What a thread of a search does next.
pub(super) enum Turn {
    /// It plays the playouts of its pass.
    Play,
    /// It asks again once another pass has landed.
    Wait,
    /// Nothing more.
    Over,
}

/// Why a search unwinds.
enum Halt {
    /// Two roles are not opposed, so all bounds are void.
    NotOpposed,
    Broken(ReasoningError),
}

impl From<ReasoningError> for Halt {
    fn from(error: ReasoningError) -> Self {
        Self::Broken(error)
    }
}

/// The search of one match.
pub(super) struct Search {
    pub(super) tree: Tree,
    pub(super) roles: Roles,
    pub(super) best_line: BestLine,
    settings: Settings,
    recycler: Recycler,
    rng: Pcg64,
    pub(super) expander: Expander,
    /// The node of the state that is thought about.
    pub(super) root: u32,
    /// By thread, between questions.
    pub(super) passes: Vec<Pass>,
    /// Passes under way.
    n_under_way: usize,
    /// How often the tree was cleared while passes may have been under way.
    pub(super) tree_number: u64,
    /// A thread failed.
    is_broken: bool,
    move_averages: MoveAverages,
    regrets: Regrets,
    rewards: Vec<f32>,
    /// The rewards that a descent brought to a node, before its bounds were heeded.
    brought: Vec<f32>,
    chosen: Vec<u32>,
    stamp: u32,
    /// When to reply before the end.
    pub(super) time_allocation: TimeAllocation,
    /// States and playouts of all passes, for the expected length.
    total_states: f64,
    total_playouts: f64,
    pub(super) counters: Counters,
}

impl Search {
    pub(super) fn new(game: &games::Game, settings: Settings, rng: Pcg64) -> Self {
        let roles = Roles::new(game, settings.simultaneous == Simultaneous::RegretMatching);
        Self {
            tree: Tree::new(game.roles().len(), roles.chance),
            best_line: BestLine::new(&roles),
            roles,
            settings,
            recycler: Recycler::new(settings.memory),
            rng,
            expander: Expander::default(),
            root: NONE,
            passes: Vec::new(),
            n_under_way: 0,
            tree_number: 0,
            is_broken: false,
            move_averages: MoveAverages::new(game.roles().len(), settings.preference),
            regrets: Regrets::default(),
            rewards: Vec::new(),
            brought: Vec::new(),
            chosen: Vec::new(),
            stamp: 0,
            time_allocation: TimeAllocation::default(),
            total_states: 0.0,
            total_playouts: 0.0,
            counters: Counters::default(),
        }
    }

    /// Begins to think about a state.
    pub(super) fn begin(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        stop: &Stop,
    ) -> Result<(), ReasoningError> {
        self.counters = Counters { nodes: 1, ..Counters::default() };
        self.time_allocation.begin();
        self.expander.n_table_hits = 0;
        self.best_line.begin(machine, state)?;
        self.move_averages.age();
        self.root = self.recycler.begin(&mut self.tree, state.words(), stop);
        self.is_broken = false;
        Ok(())
    }

    /// Judges positions by this evaluation from now on. Those in the tree are forgotten.
    pub(super) fn set_estimator(&mut self, estimator: Estimator) {
        self.tree.clear();
        self.expander.estimator = Some(estimator);
    }

    /// Takes the values of states from this table where it has them.
    pub(super) fn set_table(&mut self, table: Option<Arc<ValueTable>>) {
        self.expander.solved = table;
    }

    /// The share of an evaluation in the value of a move; the mean of playouts has the rest.
    fn evaluation_weight(&self) -> f32 {
        self.expander.estimator.as_ref().map_or(0.0, |estimator| estimator.weight)
    }

    /// Whether positions are judged by an evaluation alone, without playouts.
    pub(super) fn is_evaluating(&self) -> bool {
        self.evaluation_weight() >= 1.0
    }

    /// Counts a pass that was played, if the thread has one, and makes the descents of its next
    /// one.
    ///
    /// # Errors
    /// That of the playouts, or of the descents. Nothing of the pass is counted then, and the
    /// search is over for all threads.
    pub(super) fn take_turn(
        &mut self,
        pass: &mut Pass,
        played: Result<(), ReasoningError>,
        machine: &mut dyn StateMachine,
        end: End<'_>,
    ) -> Result<Turn, ReasoningError> {
        if std::mem::take(&mut pass.is_under_way) {
            self.n_under_way -= 1;
        }
        let mut landed = match played {
            Ok(()) => self.land_pass(pass, machine),
            Err(error) => Err(error.into()),
        };
        loop {
            match landed.and_then(|()| self.next_pass(pass, machine, end)) {
                Ok(turn) => return Ok(turn),
                Err(Halt::NotOpposed) => {
                    // What is under way has nowhere to land any more.
                    pass.descents.clear();
                    let state = self.tree.state(self.root).to_vec();
                    self.tree.clear();
                    self.tree_number += 1;
                    self.root = self.tree.find_or_add(&state).0;
                    landed = Ok(());
                }
                Err(Halt::Broken(error)) => {
                    self.forget(pass);
                    self.is_broken = true;
                    let is_cancelled = matches!(error, ReasoningError::Cancelled);
                    return if is_cancelled { Ok(Turn::Over) } else { Err(error) };
                }
            }
        }
    }

    /// Makes the descents of passes until one has playouts.
    fn next_pass(
        &mut self,
        pass: &mut Pass,
        machine: &mut dyn StateMachine,
        end: End<'_>,
    ) -> Result<Turn, Halt> {
        let End { stop, limit } = end;
        if self.tree.node(self.root).kind == Kind::Leaf {
            self.expand(machine, self.root, stop)?;
        }
        let width = machine.playout_width();
        while self.counters.descents < limit
            && !stop.is_due(self.counters.nodes)
            && !self.is_settled()
            && !self.is_broken
            && !self.is_decided(end)
        {
            if !self.counters.is_full && self.recycler.is_full(&self.tree) {
                if self.n_under_way > 0 {
                    return Ok(Turn::Wait);
                }
                match self.recycler.recycle(&mut self.tree, self.root, stop) {
                    Recycled::Root(number) => {
                        self.root = number;
                        self.counters.recycled += 1;
                    }
                    Recycled::NoTime => self.counters.is_full = true,
                }
            }
            let Some((leaves, lanes)) = self.pass_size(width, stop, limit) else { break };
            self.descend(pass, machine, leaves, stop)?;
            if pass.descents.is_empty() {
                continue;
            }
            if self.is_evaluating() {
                self.count_estimates(pass);
                continue;
            }
            let playing = Playing {
                lanes,
                max_length: self.settings.max_length,
                seed: self.rng.next_u64(),
                policy: self.move_averages.policy().cloned(),
                moves: self.settings.playout_moves,
            };
            pass.prepare(&self.tree, playing);
            self.n_under_way += 1;
            return Ok(Turn::Play);
        }
        Ok(Turn::Over)
    }

    /// Leaves of the next pass, and playouts from each. `None` if the node budget does not
    /// suffice for another playout.
    fn pass_size(&self, width: usize, stop: &Stop, limit: u64) -> Option<(usize, usize)> {
        let left = usize::try_from(limit - self.counters.descents).unwrap_or(usize::MAX);
        let (mut leaves, mut lanes) = match width {
            // Playouts side by side take no longer than one.
            2.. if !self.is_evaluating() => (self.settings.leaves, self.settings.lanes),
            _ => (1, 1),
        };
        leaves = leaves.min(left).max(1);
        if let Some(budget) = stop.node_budget().filter(|_| !self.is_evaluating()) {
            let nodes = budget.saturating_sub(self.counters.nodes) as f64;
            let length = if self.total_playouts > 0.0 {
                self.total_states / self.total_playouts
            } else {
                EXPECTED_LENGTH
            };
            let affordable = nodes / length.max(1.0);
            if affordable < 1.0 && self.counters.playouts > 0 {
                return None;
            }
            let playouts = ((affordable / PASSES) as usize).max(1);
            lanes = lanes.min(playouts);
            leaves = leaves.min((playouts / lanes).max(1));
        }
        Some((leaves, lanes))
    }

    /// Whether nothing more can be found out about the value of the position.
    pub(super) fn is_settled(&self) -> bool {
        self.tree.is_settled(self.root) || self.best_line.is_perfect()
    }

    /// Later questions end once the move of this role is decided; `None` for at their end.
    pub(super) fn reply_once_decided(&mut self, chooser: Option<RoleId>) {
        self.time_allocation.chooser = chooser;
    }

    /// Whether the search may end since no other move can overtake the best one.
    fn is_decided(&mut self, End { stop, limit }: End<'_>) -> bool {
        let spent = Spent { descents: self.counters.descents, nodes: self.counters.nodes };
        let Some(chooser) = self.time_allocation.deciding(spent) else { return false };
        if self.best_line.is_kept() || self.matches_regrets(self.root) {
            return false;
        }
        let lead = self.lead(self.root, chooser).map_or(f64::INFINITY, f64::from);
        // At the end of a node budget, descents have fewer and fewer playouts.
        let n_cheap = PASSES * (1.0 + (self.settings.lanes as f64).ln());
        let n_left = limit.saturating_sub(spent.descents);
        self.time_allocation.decides(lead, spent, stop, n_left, n_cheap)
    }

    /// Makes descents until a pass of playouts is full.
    fn descend(
        &mut self,
        pass: &mut Pass,
        machine: &mut dyn StateMachine,
        leaves: usize,
        stop: &Stop,
    ) -> Result<(), Halt> {
        pass.hops.clear();
        pass.descents.clear();
        pass.tree_number = self.tree_number;
        let mut tries = 4 * leaves;
        while pass.descents.len() < leaves && tries > 0 && !self.tree.is_settled(self.root) {
            tries -= 1;
            let first = pass.hops.len();
            let reached = self.descent(machine, &mut pass.hops, stop)?;
            let (leaf, recurs) = match reached {
                Reached::Due => {
                    pass.hops.truncate(first);
                    break;
                }
                Reached::Settled(at) => (at, false),
                Reached::Leaf { at, recurs } => (at, recurs),
            };
            let descent = Descent { first, end: pass.hops.len(), leaf, recurs };
            if let Reached::Leaf { .. } = reached {
                self.fly(&pass.hops, descent);
                pass.descents.push(descent);
                continue;
            }
            self.counters.nodes += 1;
            settled_rewards(&self.tree, leaf, &mut self.rewards);
            let moves = self.moves_of(&pass.hops[first..]);
            self.best_line.offer_descent(&self.rewards, machine, &moves)?;
            self.fly(&pass.hops, descent);
            self.back_up(&pass.hops, descent);
            pass.hops.truncate(first);
        }
        Ok(())
    }

    /// The moves of a descent of a single role.
    fn moves_of(&self, hops: &[Hop]) -> Vec<MoveId> {
        if !self.best_line.is_kept() {
            return Vec::new();
        }
        hops.iter().map(|hop| self.tree.edge(hop.edge).action).collect()
    }

    /// Goes down from the root to a node that is not expanded; one that was met before is
    /// expanded now. Adds its hops to `hops`.
    fn descent(
        &mut self,
        machine: &mut dyn StateMachine,
        hops: &mut Vec<Hop>,
        stop: &Stop,
    ) -> Result<Reached, Halt> {
        let (mut at, first) = (self.root, hops.len());
        self.stamp = self.stamp.wrapping_add(1);
        for _ in 0..MAX_DEPTH {
            if self.tree.is_settled(at) {
                return Ok(Reached::Settled(at));
            }
            let node = self.tree.node(at);
            if node.kind == Kind::Leaf {
                // An evaluation knew the leaf before, and its children are what is new.
                let least = if self.is_evaluating() { 0 } else { self.settings.unexpanded };
                if node.visits + node.flying < least || self.counters.is_full {
                    break;
                }
                if stop.is_due(self.counters.nodes) {
                    return Ok(Reached::Due);
                }
                self.expand(machine, at, stop)?;
                self.tighten(&hops[first..]);
                if self.is_evaluating() && !self.tree.is_settled(at) {
                    break;
                }
                continue;
            }
            self.tree.node_mut(at).stamp = self.stamp;
            let child = match self.tree.node(at).kind {
                Kind::Joint => self.choose_joint(machine, hops, at)?,
                _ => {
                    let edge = self.choose(at);
                    hops.push(Hop { node: at, edge });
                    self.tree.edge(edge).child
                }
            };
            at = child;
            if self.tree.node(at).stamp == self.stamp && self.tree.node(at).kind != Kind::Leaf {
                return Ok(Reached::Leaf { at, recurs: true });
            }
        }
        Ok(Reached::Leaf { at, recurs: false })
    }

    fn expand(&mut self, machine: &mut dyn StateMachine, at: u32, stop: &Stop) -> Result<(), Halt> {
        let nodes = self.counters.nodes;
        let is_due = || stop.is_due(nodes);
        match self.expander.expand(&mut self.tree, &mut self.roles, machine, at, &is_due)? {
            Expanded::NotOpposed => Err(Halt::NotOpposed),
            Expanded::States(n) => {
                self.counters.nodes += n;
                self.counters.next_calls += n;
                Ok(())
            }
        }
    }

    /// Narrows the bounds along a descent that is not over, from its end up.
    fn tighten(&mut self, hops: &[Hop]) {
        let mut before = NONE;
        for hop in hops.iter().rev() {
            if hop.node != before && !proof::update(&mut self.tree, &self.roles, hop.node) {
                break;
            }
            before = hop.node;
        }
    }

    /// The edge to follow from a node where one role or chance has a choice.
    fn choose(&self, at: u32) -> u32 {
        let (first, edges) = self.tree.edges(at);
        let node = self.tree.node(at);
        if node.kind == Kind::Chance {
            // As often as any other.
            let tried = |edge: &Edge| edge.visits + u32::from(edge.flying);
            let least = (0..edges.len()).min_by_key(|&index| tried(&edges[index]));
            return first + least.unwrap_or(0) as u32;
        }
        first + self.best(edges, at, 1.0, 0) as u32
    }

    /// The edges to follow from a node where several choose, one for each of them. Gives
    /// the child.
    fn choose_joint(
        &mut self,
        machine: &mut dyn StateMachine,
        hops: &mut Vec<Hop>,
        at: u32,
    ) -> Result<u32, Halt> {
        let by_regret = self.matches_regrets(at);
        let n_visits = self.tree.node(at).visits;
        let (first, edges) = self.tree.edges(at);
        self.chosen.clear();
        let mut offset = 0;
        for moves in by_role(edges) {
            let is_chance = self.roles.chance == Some(usize::from(moves[0].role.0));
            let chosen = match is_chance {
                true => self.rng.random_range(0..moves.len()),
                false if by_regret => regret_matching::choose(moves, n_visits, &mut self.rng),
                // Roles that weigh alike would meet in the same joint moves again and
                // again, so each weighs anew. Nothing settles here while the others move
                // on, so what was seldom tried counts more than elsewhere.
                false => {
                    let weight = self.rng.random_range(0.0..8.0);
                    let offset = self.rng.random_range(0..moves.len());
                    self.best(moves, at, weight, offset)
                }
            };
            self.chosen.push(chosen as u32);
            hops.push(Hop { node: at, edge: first + offset + chosen as u32 });
            offset += moves.len() as u32;
        }
        let index = joint_index(edges, &self.chosen);
        let child = self.tree.joint_child(at, index);
        if child != NONE {
            return Ok(child);
        }
        let (child, expanded) =
            self.expander.joint_child(&mut self.tree, &mut self.roles, machine, at, index)?;
        self.counters.nodes += 1;
        self.counters.next_calls += 1;
        if expanded == Expanded::NotOpposed { Err(Halt::NotOpposed) } else { Ok(child) }
    }

    /// Whether regret matching has no effect, since the roles are not two opposed ones.
    pub(super) fn is_regret_matching_void(&self) -> bool {
        self.settings.simultaneous == Simultaneous::RegretMatching && !self.roles.opposed
    }

    /// Whether both of two opposed roles choose in this node, by regret matching.
    pub(super) fn matches_regrets(&self, at: u32) -> bool {
        let is_chance = |moves: &&[Edge]| Some(usize::from(moves[0].role.0)) == self.roles.chance;
        self.settings.simultaneous == Simultaneous::RegretMatching
            && self.roles.opposed
            && self.tree.node(at).kind == Kind::Joint
            && by_role(self.tree.edges(at).1).filter(|moves| !is_chance(moves)).count() == 2
    }

    /// Whether moves whose value is known are left for those that are not. What the others get of
    /// a node is the mean over the moves that its role prefers, unless it follows from what the
    /// role gets.
    fn leaves_known(&self) -> bool {
        self.roles.opposed || self.roles.strategic.len() == 1
    }

    /// The most promising of a role's edges (UCB1 of Auer, Cesa-Bianchi and Fischer 2002,
    /// in trees by Kocsis and Szepesvari 2006), the first of equals from `offset` on. Edges
    /// that cannot beat what another one is proven to bring are left out, and those whose
    /// value is known as long as there are others.
    fn best(&self, edges: &[Edge], at: u32, weight: f32, offset: usize) -> usize {
        let node = self.tree.node(at);
        let role = usize::from(edges[0].role.0);
        let low = self.tree.bounds(at)[role].low;
        let n = (node.visits + node.flying) as f32 + 1.0;
        // Where several choose at the same time, the mean of what they chose is what counts.
        let share = match node.kind {
            Kind::Choice(_) => self.evaluation_weight(),
            _ => 0.0,
        };
        let exploration = match share >= 1.0 {
            true => self.settings.evaluated_exploration,
            false => self.settings.exploration,
        };
        let weight = weight * exploration * n.ln().sqrt();
        let untried = self.tree.means(at)[role] + self.settings.first_play;
        let leaves_known = self.leaves_known();
        let (mut best, mut most) = (offset, f32::NEG_INFINITY);
        for index in (offset..edges.len()).chain(0..offset) {
            let Edge { visits, flying, mean, estimate, bounds, .. } = edges[index];
            if bounds.high <= low && bounds.low < low {
                continue;
            }
            let tried = visits + u32::from(flying);
            let value = match bounds.is_exact() {
                true if leaves_known => bounds.value() - KNOWN,
                true => bounds.value(),
                false => {
                    let mean = if visits == 0 { untried } else { mean };
                    let worth = (1.0 - share) * mean + share * estimate;
                    bounds.clamp(worth) + weight / (tried.max(1) as f32).sqrt()
                }
            };
            if value > most {
                (best, most) = (index, value);
            }
        }
        best
    }

    /// Counts a descent as under way.
    fn fly(&mut self, hops: &[Hop], descent: Descent) {
        self.counters.descents += 1;
        let mut before = NONE;
        let mut depth = 0;
        for hop in &hops[descent.first..descent.end] {
            let edge = self.tree.edge_mut(hop.edge);
            edge.flying = edge.flying.saturating_add(1);
            if hop.node != before {
                self.tree.node_mut(hop.node).flying += 1;
                before = hop.node;
                depth += 1;
            }
        }
        if !descent.recurs {
            self.tree.node_mut(descent.leaf).flying += 1;
        }
        self.counters.levels += u64::from(depth);
        self.counters.deepest = self.counters.deepest.max(depth);
    }

    /// Counts all descents of the pass as never made.
    fn forget(&mut self, pass: &mut Pass) {
        if pass.tree_number == self.tree_number {
            pass.descents.iter().for_each(|&descent| self.land(&pass.hops, descent));
        }
        pass.descents.clear();
    }

    /// Counts a descent as no longer under way.
    fn land(&mut self, hops: &[Hop], descent: Descent) {
        let mut before = NONE;
        for hop in &hops[descent.first..descent.end] {
            let edge = self.tree.edge_mut(hop.edge);
            edge.flying = edge.flying.saturating_sub(1);
            if hop.node != before {
                self.tree.node_mut(hop.node).flying -= 1;
                before = hop.node;
            }
        }
        if !descent.recurs {
            self.tree.node_mut(descent.leaf).flying -= 1;
        }
    }

    /// Brings the estimates of the leaves of a pass up.
    fn count_estimates(&mut self, pass: &mut Pass) {
        for &descent in &pass.descents {
            self.rewards.clear();
            self.rewards.extend_from_slice(self.tree.estimates(descent.leaf));
            self.counters.nodes += 1;
            self.back_up(&pass.hops, descent);
        }
        pass.descents.clear();
    }

    /// Brings the rewards of all playouts of a pass up, if there are any. A pass that was stopped
    /// counts nothing: only its shorter playouts have ended.
    fn land_pass(&mut self, pass: &mut Pass, machine: &mut dyn StateMachine) -> Result<(), Halt> {
        if pass.descents.is_empty() {
            return Ok(());
        }
        let n_states = pass.sums.n_states;
        self.counters.nodes += n_states;
        self.counters.next_calls += n_states;
        if !pass.sums.is_whole || pass.tree_number != self.tree_number {
            self.forget(pass);
            return Ok(());
        }
        let n = (pass.descents.len() * pass.playing.lanes) as u64;
        self.counters.playouts += n;
        self.total_playouts += n as f64;
        self.total_states += n_states as f64;
        // Before anything is backed up: a pass that breaks off is forgotten as a whole.
        let (tree, descents) = (&self.tree, &pass.descents);
        let path = |start: usize| {
            let Descent { first, end, .. } = descents[start];
            pass.hops[first..end].iter().map(|hop| tree.edge(hop.edge).action).collect()
        };
        let (starts, plan) = (pass.starts(), pass.plan());
        self.best_line.offer_playouts(machine, starts, &plan, &pass.sums, path)?;
        self.move_averages.learn(&pass.sums);
        for (start, &descent) in pass.descents.iter().enumerate() {
            let scored = u64::from(pass.sums.n_scored(start));
            let sum = |role: usize| pass.sums.rewards(start, RoleId(role as u8));
            if !self.roles.is_opposed(scored, sum) {
                return Err(Halt::NotOpposed);
            }
            let unscored = NO_END * pass.sums.n_unscored(start) as f32;
            let mean = |role| (sum(role) as f32 / 100.0 + unscored) / pass.playing.lanes as f32;
            self.rewards.clear();
            self.rewards.extend((0..self.tree.n_roles).map(mean));
            self.back_up(&pass.hops, descent);
        }
        pass.descents.clear();
        Ok(())
    }

    /// Counts the rewards of a descent in a node on its way, and brings them between its bounds:
    /// whatever was tried below, the node is worth what they say.
    fn bring(&mut self, node: u32) {
        // To bring each reward between the bounds changes their mean, to bring the mean between
        // them does not. Where one role chooses and there is no chance, bounds are mostly wins and
        // losses, and opposed roles play as well or better by the former.
        let is_choice = matches!(self.tree.node(node).kind, Kind::Choice(_));
        let is_each = is_choice && self.roles.chance.is_none() && self.leaves_known();
        if !is_each {
            self.tree.visit(node, &self.rewards);
        }
        let known = self.tree.bounds(node).iter().zip(self.tree.means(node));
        for (reward, (bounds, &mean)) in self.rewards.iter_mut().zip(known) {
            if is_each || bounds.is_exact() {
                *reward = bounds.clamp(*reward);
            } else if bounds.clamp(mean) != mean {
                *reward = bounds.clamp(mean);
            }
        }
        if is_each {
            self.tree.visit(node, &self.rewards);
        }
    }

    /// Brings the rewards of a descent from its leaf up to the root.
    fn back_up(&mut self, hops: &[Hop], descent: Descent) {
        self.land(hops, descent);
        if !descent.recurs {
            self.tree.visit(descent.leaf, &self.rewards);
        }
        let mut before = NONE;
        for at in (descent.first..descent.end).rev() {
            let Hop { node, edge } = hops[at];
            if node != before {
                self.brought.clone_from(&self.rewards);
                self.bring(node);
                before = node;
                if self.matches_regrets(node) {
                    let mut first = at;
                    while first > descent.first && hops[first - 1].node == node {
                        first -= 1;
                    }
                    let hops = &hops[first..=at];
                    self.regrets.learn(&mut self.tree, self.roles.chance, hops);
                }
            }
            let Edge { child, role, visits, mean, bounds: seen, .. } = *self.tree.edge(edge);
            let role = usize::from(role.0);
            let visits = visits.saturating_add(1);
            let (mean, now) = match child {
                NONE => (mean + (self.brought[role] - mean) / visits as f32, seen),
                child => (self.tree.means(child)[role], self.tree.bounds(child)[role]),
            };
            let made = self.tree.edge_mut(edge);
            (made.visits, made.mean) = (visits, mean);
            if self.evaluation_weight() > 0.0 {
                estimate::back_up(&mut self.tree, node, edge);
            }
            if now != seen || (child != NONE && self.tree.is_settled(child)) {
                proof::update(&mut self.tree, &self.roles, node);
            }
        }
    }
}
