//! The search: descents through the tree in passes, each pass ended by the playouts of all
//! its leaves side by side.
//!
//! A descent does not know yet what the others of its pass will bring. It counts them as
//! visits without a result (Liu, Chen, Yu, Zhai, Zhou and Liu, "Watch the unobserved: a
//! simple approach to parallelizing Monte Carlo tree search", ICLR 2020), so that they
//! part where the values are close, and no value is made worse than it is.

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use super::best_line::BestLine;
use super::estimate::{self, Estimator};
use super::expansion::{Expanded, Expander, joint_index, settled_rewards};
use super::move_averages::{MoveAverages, Preference};
use super::proof;
use super::recycling::{Recycled, Recycler};
use super::roles::Roles;
use super::team::{Playing, Share, Team};
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
    /// The moves that playouts prefer.
    pub(super) preference: Preference,
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

/// One edge of a descent.
#[derive(Clone, Copy, Debug)]
struct Hop {
    node: u32,
    edge: u32,
}

/// A descent that waits for its playouts.
#[derive(Clone, Copy, Debug)]
struct Descent {
    /// Its hops begin and end here.
    first: usize,
    end: usize,
    leaf: u32,
    /// The leaf was met before on the way: its visits are counted there.
    recurs: bool,
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
    expander: Expander,
    /// Hops of all descents of a pass.
    hops: Vec<Hop>,
    descents: Vec<Descent>,
    /// The leaves of a pass, by thread.
    shares: Vec<Share>,
    move_averages: MoveAverages,
    rewards: Vec<f32>,
    chosen: Vec<u32>,
    stamp: u32,
    /// States and playouts of all passes, for the expected length.
    total_states: f64,
    total_playouts: f64,
    pub(super) counters: Counters,
}

impl Search {
    pub(super) fn new(game: &games::Game, settings: Settings, rng: Pcg64) -> Self {
        let roles = Roles::new(game);
        Self {
            tree: Tree::new(game.roles().len(), roles.chance),
            best_line: BestLine::new(&roles),
            roles,
            settings,
            recycler: Recycler::new(settings.memory),
            rng,
            expander: Expander::default(),
            hops: Vec::new(),
            descents: Vec::new(),
            shares: Vec::new(),
            move_averages: MoveAverages::new(game.roles().len(), settings.preference),
            rewards: Vec::new(),
            chosen: Vec::new(),
            stamp: 0,
            total_states: 0.0,
            total_playouts: 0.0,
            counters: Counters::default(),
        }
    }

    /// Thinks about a state until `stop` is due, its value is proven, or `limit` descents
    /// were made. Gives the state's node.
    pub(super) fn run(
        &mut self,
        machine: &mut dyn StateMachine,
        team: &Team,
        state: &State,
        stop: &Stop,
        limit: u64,
    ) -> Result<u32, ReasoningError> {
        self.counters = Counters { nodes: 1, ..Counters::default() };
        self.best_line.begin(machine, state)?;
        self.move_averages.age();
        let mut root = self.recycler.begin(&mut self.tree, state.words(), stop);
        loop {
            match self.passes(machine, team, &mut root, stop, limit) {
                Ok(()) | Err(Halt::Broken(ReasoningError::Cancelled)) => return Ok(root),
                Err(Halt::Broken(error)) => return Err(error),
                Err(Halt::NotOpposed) => {
                    self.tree.clear();
                    root = self.tree.find_or_add(state.words()).0;
                }
            }
        }
    }

    /// Judges positions by this evaluation from now on. Those in the tree are forgotten.
    pub(super) fn set_estimator(&mut self, estimator: Estimator) {
        self.tree.clear();
        self.expander.estimator = Some(estimator);
    }

    /// The share of an evaluation in the value of a move; the mean of playouts has the rest.
    fn evaluation_weight(&self) -> f32 {
        self.expander.estimator.as_ref().map_or(0.0, |estimator| estimator.weight)
    }

    /// Whether positions are judged by an evaluation alone, without playouts.
    pub(super) fn is_evaluating(&self) -> bool {
        self.evaluation_weight() >= 1.0
    }

    fn passes(
        &mut self,
        machine: &mut dyn StateMachine,
        team: &Team,
        root: &mut u32,
        stop: &Stop,
        limit: u64,
    ) -> Result<(), Halt> {
        if self.tree.node(*root).kind == Kind::Leaf {
            self.expand(machine, *root, stop)?;
        }
        let width = machine.playout_width();
        while self.counters.descents < limit
            && !stop.is_due(self.counters.nodes)
            && !self.tree.is_settled(*root)
            && !self.best_line.is_perfect()
        {
            if !self.counters.is_full && self.recycler.is_full(&self.tree) {
                match self.recycler.recycle(&mut self.tree, *root, stop) {
                    Recycled::Root(number) => {
                        *root = number;
                        self.counters.recycled += 1;
                    }
                    Recycled::NoTime => self.counters.is_full = true,
                }
            }
            let Some((leaves, lanes)) = self.pass_size(width, team, stop, limit) else { break };
            let result = self.descend(machine, *root, leaves, stop);
            let result = result.and_then(|()| self.play(machine, team, lanes, stop));
            if let Err(halt) = result {
                match halt {
                    // The tree is about to be cleared.
                    Halt::NotOpposed => self.descents.clear(),
                    Halt::Broken(_) => self.forget_descents(),
                }
                return Err(halt);
            }
        }
        Ok(())
    }

    /// Leaves of the next pass, and playouts from each. Where an evaluation judges, the team has no
    /// other threads. `None` if the node budget does
    /// not suffice for another playout.
    fn pass_size(
        &self,
        width: usize,
        team: &Team,
        stop: &Stop,
        limit: u64,
    ) -> Option<(usize, usize)> {
        let left = usize::try_from(limit - self.counters.descents).unwrap_or(usize::MAX);
        let (mut leaves, mut lanes) = match width {
            // Playouts side by side take no longer than one.
            2.. if !self.is_evaluating() => (self.settings.leaves, self.settings.lanes),
            _ => (1, 1),
        };
        leaves = (leaves * team.n_threads()).min(left).max(1);
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

    /// Makes descents until a pass of playouts is full.
    fn descend(
        &mut self,
        machine: &mut dyn StateMachine,
        root: u32,
        leaves: usize,
        stop: &Stop,
    ) -> Result<(), Halt> {
        self.hops.clear();
        self.descents.clear();
        let mut tries = 4 * leaves;
        while self.descents.len() < leaves && tries > 0 && !self.tree.is_settled(root) {
            tries -= 1;
            let first = self.hops.len();
            match self.descent(machine, root, first, stop)? {
                Reached::Due => {
                    self.hops.truncate(first);
                    break;
                }
                Reached::Settled(at) => {
                    self.counters.nodes += 1;
                    settled_rewards(&self.tree, at, &mut self.rewards);
                    let moves = self.hops_of(first);
                    self.best_line.offer_descent(&self.rewards, machine, &moves)?;
                    let descent = Descent { first, end: self.hops.len(), leaf: at, recurs: false };
                    self.fly(descent);
                    self.back_up(descent);
                    self.hops.truncate(first);
                }
                Reached::Leaf { at, recurs } => {
                    let descent = Descent { first, end: self.hops.len(), leaf: at, recurs };
                    self.fly(descent);
                    self.descents.push(descent);
                }
            }
        }
        Ok(())
    }

    /// The moves of a descent of a single role.
    fn hops_of(&self, first: usize) -> Vec<MoveId> {
        if !self.best_line.is_kept() {
            return Vec::new();
        }
        self.hops[first..].iter().map(|hop| self.tree.edge(hop.edge).action).collect()
    }

    /// Goes down from the root to a node that is not expanded; one that was met before is
    /// expanded now.
    fn descent(
        &mut self,
        machine: &mut dyn StateMachine,
        root: u32,
        first: usize,
        stop: &Stop,
    ) -> Result<Reached, Halt> {
        let mut at = root;
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
                self.tighten(first);
                if self.is_evaluating() && !self.tree.is_settled(at) {
                    break;
                }
                continue;
            }
            self.tree.node_mut(at).stamp = self.stamp;
            let child = match self.tree.node(at).kind {
                Kind::Joint => self.choose_joint(machine, at)?,
                _ => {
                    let edge = self.choose(at);
                    self.hops.push(Hop { node: at, edge });
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
    fn tighten(&mut self, first: usize) {
        let mut before = NONE;
        for hop in self.hops[first..].iter().rev() {
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
    fn choose_joint(&mut self, machine: &mut dyn StateMachine, at: u32) -> Result<u32, Halt> {
        let (first, edges) = self.tree.edges(at);
        self.chosen.clear();
        let mut offset = 0;
        for moves in by_role(edges) {
            let is_chance = self.roles.chance == Some(usize::from(moves[0].role.0));
            let chosen = match is_chance {
                true => self.rng.random_range(0..moves.len()),
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
            self.hops.push(Hop { node: at, edge: first + offset + chosen as u32 });
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

    /// The most promising of a role's edges (UCB1 of Auer, Cesa-Bianchi and Fischer 2002,
    /// in trees by Kocsis and Szepesvari 2006), the first of equals from `offset` on. Edges
    /// that cannot beat what another one is proven to bring are left out, and those whose
    /// value is known as long as there are others.
    fn best(&self, edges: &[Edge], at: u32, weight: f32, offset: usize) -> usize {
        let node = self.tree.node(at);
        let role = usize::from(edges[0].role.0);
        let low = self.tree.bounds(at)[role].low;
        let n = (node.visits + node.flying) as f32 + 1.0;
        // Where several choose at once, the mean of what they chose is what counts.
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
        let (mut best, mut most) = (offset, f32::NEG_INFINITY);
        for index in (offset..edges.len()).chain(0..offset) {
            let Edge { visits, flying, mean, estimate, bounds, .. } = edges[index];
            if bounds.high <= low && bounds.low < low {
                continue;
            }
            let tried = visits + u32::from(flying);
            let value = match bounds.is_exact() {
                true => bounds.value() - KNOWN,
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
    fn fly(&mut self, descent: Descent) {
        self.counters.descents += 1;
        let mut before = NONE;
        let mut depth = 0;
        for hop in &self.hops[descent.first..descent.end] {
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
    fn forget_descents(&mut self) {
        for descent in std::mem::take(&mut self.descents) {
            self.land(descent);
        }
    }

    /// Counts a descent as no longer under way.
    fn land(&mut self, descent: Descent) {
        let mut before = NONE;
        for hop in &self.hops[descent.first..descent.end] {
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

    /// Plays from all leaves of the pass and brings the rewards up. A pass that is stopped
    /// counts nothing: only its shorter playouts have ended.
    fn play(
        &mut self,
        machine: &mut dyn StateMachine,
        team: &Team,
        lanes: usize,
        stop: &Stop,
    ) -> Result<(), Halt> {
        if self.descents.is_empty() {
            return Ok(());
        }
        if self.is_evaluating() {
            for descent in std::mem::take(&mut self.descents) {
                self.rewards.clear();
                self.rewards.extend_from_slice(self.tree.estimates(descent.leaf));
                self.counters.nodes += 1;
                self.back_up(descent);
            }
            return Ok(());
        }
        let mut shares = std::mem::take(&mut self.shares);
        let per_share = self.descents.len().div_ceil(team.n_threads());
        let n_shares = self.descents.len().div_ceil(per_share);
        let playing = Playing {
            lanes,
            max_length: self.settings.max_length,
            policy: self.move_averages.policy().cloned(),
            nodes: self.counters.nodes,
            n_shares: n_shares as u64,
        };
        shares.resize_with(n_shares.max(shares.len()), Share::default);
        for (share, descents) in shares.iter_mut().zip(self.descents.chunks(per_share)) {
            share.n_starts = descents.len();
            share.starts.resize(descents.len().max(share.starts.len()), State::default());
            for (start, descent) in share.starts.iter_mut().zip(descents) {
                start.set_words(self.tree.state(descent.leaf));
            }
            share.seed = self.rng.next_u64();
        }
        let played = team.play(machine, &playing, &mut shares[..n_shares], stop);
        let result = match played {
            Ok(()) => self.bring_up(machine, &playing, &shares[..n_shares]),
            Err(error) => Err(error.into()),
        };
        self.shares = shares;
        result
    }

    /// Brings the rewards of all playouts of the pass up.
    fn bring_up(
        &mut self,
        machine: &mut dyn StateMachine,
        playing: &Playing,
        shares: &[Share],
    ) -> Result<(), Halt> {
        let n_states: u64 = shares.iter().map(|share| share.sums.n_states).sum();
        self.counters.nodes += n_states;
        self.counters.next_calls += n_states;
        if !shares.iter().all(|share| share.sums.is_whole) {
            self.forget_descents();
            return Ok(());
        }
        let n = (self.descents.len() * playing.lanes) as u64;
        self.counters.playouts += n;
        self.total_playouts += n as f64;
        self.total_states += n_states as f64;
        // Before anything is backed up: a pass that breaks off is forgotten as a whole.
        let mut first = 0;
        for share in shares {
            let (sums, starts) = (&share.sums, &share.starts[..share.n_starts]);
            self.best_line.offer_playouts(
                machine,
                starts,
                &playing.plan(share),
                sums,
                |start| {
                    let descent = &self.descents[first + start];
                    let hops = &self.hops[descent.first..descent.end];
                    hops.iter().map(|hop| self.tree.edge(hop.edge).action).collect()
                },
            )?;
            first += share.n_starts;
        }
        first = 0;
        for share in shares {
            let sums = &share.sums;
            self.move_averages.learn(sums);
            for start in 0..share.n_starts {
                let scored = u64::from(sums.n_scored(start));
                let sum = |role: usize| sums.rewards(start, RoleId(role as u8));
                if !self.roles.is_opposed(scored, sum) {
                    return Err(Halt::NotOpposed);
                }
                let unscored = NO_END * sums.n_unscored(start) as f32;
                let mean = |role| (sum(role) as f32 / 100.0 + unscored) / playing.lanes as f32;
                self.rewards.clear();
                self.rewards.extend((0..self.tree.n_roles).map(mean));
                self.back_up(self.descents[first + start]);
            }
            first += share.n_starts;
        }
        self.descents.clear();
        Ok(())
    }

    /// Brings the rewards of a descent from its leaf up to the root.
    fn back_up(&mut self, descent: Descent) {
        self.land(descent);
        if !descent.recurs {
            self.tree.visit(descent.leaf, &self.rewards);
        }
        let mut before = NONE;
        for at in (descent.first..descent.end).rev() {
            let Hop { node, edge } = self.hops[at];
            if node != before {
                // Whatever was tried below, the node is worth what its bounds say.
                for (reward, bounds) in self.rewards.iter_mut().zip(self.tree.bounds(node)) {
                    *reward = bounds.clamp(*reward);
                }
                self.tree.visit(node, &self.rewards);
                before = node;
            }
            let Edge { child, role, visits, mean, bounds: seen, .. } = *self.tree.edge(edge);
            let role = usize::from(role.0);
            let visits = visits.saturating_add(1);
            let (mean, now) = match child {
                NONE => (mean + (self.rewards[role] - mean) / visits as f32, seen),
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
