//! The tree: nodes, edges and states in a few large allocations.
//!
//! A node is a state, met by whatever line of play, so the tree is a graph (Childs,
//! Brodeur and Kocsis, "Transpositions and move groups in Monte Carlo tree search", CIG
//! 2008): values belong to nodes, visits to edges.

use std::collections::BTreeMap;
use std::hash::Hasher as _;

use games::{MoveId, RoleId};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::bounds::Bounds;

/// No node, no edge.
pub(super) const NONE: u32 = u32::MAX;

/// What is known of a node's children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing yet.
    Leaf,
    /// There are none: the match is over, or some role has no legal move.
    End,
    /// This role has a choice, or no role has: an edge for each of its moves.
    Choice(RoleId),
    /// Chance alone has a choice: an edge for each of its moves.
    Chance,
    /// Several roles have a choice: edges for the moves of each of them, role after role,
    /// and children by joint move.
    Joint,
}

/// A state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Descents that went through and have ended.
    pub(super) visits: u32,
    /// Descents that went through and whose playouts are not over.
    pub(super) flying: u32,
    /// The last descent that went through.
    pub(super) stamp: u32,
    /// When its value was proven: the how-manieth such node. [`NONE`] if it was not.
    pub(super) settled: u32,
    first_edge: u32,
    n_edges: u32,
    /// Of a joint node: its first entry among the children, by the index of the joint
    /// move. [`NONE`] if the children are in a table.
    first_child: u32,
    first_word: u32,
    n_words: u32,
}

impl Node {
    /// The number of edges.
    pub(super) fn n_edges(&self) -> u32 {
        self.n_edges
    }
}

/// A move of a role in a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// The move.
    pub(super) action: MoveId,
    /// The node that it leads to; [`NONE`] where that depends on other roles.
    pub(super) child: u32,
    /// Descents that made it and have ended.
    pub(super) visits: u32,
    /// Descents that made it and whose playouts are not over.
    pub(super) flying: u16,
    /// The role that makes it.
    pub(super) role: RoleId,
    /// The mean reward of this role, 0 to 1: in the child, or after the move.
    pub(super) mean: f32,
    /// What the child looks worth to this role, as last seen.
    pub(super) estimate: f32,
    /// How much this role regrets not to have made the move, where several choose at the same time.
    pub(super) regret: f32,
    /// The bounds of this role's value in the child, as last seen.
    pub(super) bounds: Bounds,
}

/// The nodes of a match.
pub(super) struct Tree {
    pub(super) n_roles: usize,
    /// The role whose rewards do not matter.
    chance: Option<usize>,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    /// By node, then by role: the mean reward, 0 to 1.
    means: Vec<f32>,
    /// By node, then by role: what it looks worth without playouts, 0 to 1.
    estimates: Vec<f32>,
    /// By node, then by role.
    bounds: Vec<Bounds>,
    /// The states' words, node after node.
    words: Vec<u64>,
    /// Children of joint nodes.
    joint_children: Vec<u32>,
    /// The same of joint nodes with too many joint moves to list.
    sparse_children: BTreeMap<(u32, u64), u32>,
    /// Nodes by their states: many small tables, since a table that grows is gone through
    /// as a whole, and a large one would take longer than a clock allows.
    index: Vec<HashTable<u32>>,
    /// Nodes whose value was proven.
    pub(super) n_settled: u32,
}

/// Maximum number of joint moves of a joint node whose children are listed.
const MAX_LISTED: u64 = 1024;

/// Number of tables.
const N_TABLES: usize = 256;

/// The table of a state with this hash. The tables themselves use other bits.
fn table(hash: u64) -> usize {
    (hash >> 40) as usize % N_TABLES
}

fn hash(words: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    words.iter().for_each(|&word| hasher.write_u64(word));
    hasher.finish()
}

impl Tree {
    /// An empty tree for a game with this many roles, one of which may be chance.
    pub(super) fn new(n_roles: usize, chance: Option<usize>) -> Self {
        Self {
            n_roles,
            chance,
            nodes: Vec::new(),
            edges: Vec::new(),
            means: Vec::new(),
            estimates: Vec::new(),
            bounds: Vec::new(),
            words: Vec::new(),
            joint_children: Vec::new(),
            sparse_children: BTreeMap::new(),
            index: vec![HashTable::new(); N_TABLES],
            n_settled: 0,
        }
    }

    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.n_roles, self.chance);
    }

    /// The node of a state, if there is one.
    pub(super) fn find(&self, state: &[u64]) -> Option<u32> {
        let hash = hash(state);
        self.index[table(hash)].find(hash, |&at| self.state(at) == state).copied()
    }

    /// The node of a state, made if need be, and whether it was.
    pub(super) fn find_or_add(&mut self, state: &[u64]) -> (u32, bool) {
        if let Some(at) = self.find(state) {
            return (at, false);
        }
        let at = u32::try_from(self.nodes.len()).expect("memory is bounded");
        let first_word = u32::try_from(self.words.len()).expect("memory is bounded");
        grow(&mut self.words, state.len()).extend_from_slice(state);
        grow(&mut self.nodes, 1).push(Node {
            kind: Kind::Leaf,
            visits: 0,
            flying: 0,
            stamp: 0,
            settled: NONE,
            first_edge: 0,
            n_edges: 0,
            first_child: NONE,
            first_word,
            n_words: state.len() as u32,
        });
        let n_roles = self.n_roles;
        grow(&mut self.means, n_roles).extend(std::iter::repeat_n(0.5, n_roles));
        grow(&mut self.estimates, n_roles).extend(std::iter::repeat_n(0.5, n_roles));
        grow(&mut self.bounds, n_roles).extend(std::iter::repeat_n(Bounds::OPEN, n_roles));
        let (nodes, words) = (&self.nodes, &self.words);
        let of = |&at: &u32| hash(state_of(nodes, words, at));
        let hash = hash(state);
        self.index[table(hash)].insert_unique(hash, at, of);
        (at, true)
    }

    /// The state of a node, in words.
    pub(super) fn state(&self, at: u32) -> &[u64] {
        state_of(&self.nodes, &self.words, at)
    }

    /// A node.
    pub(super) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    /// A node, to be changed.
    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    /// An edge.
    pub(super) fn edge(&self, edge: u32) -> &Edge {
        &self.edges[edge as usize]
    }

    /// An edge, to be changed.
    pub(super) fn edge_mut(&mut self, edge: u32) -> &mut Edge {
        &mut self.edges[edge as usize]
    }

    /// The number of a node's first edge, and its edges.
    pub(super) fn edges(&self, at: u32) -> (u32, &[Edge]) {
        let node = self.node(at);
        let first = node.first_edge as usize;
        (node.first_edge, &self.edges[first..first + node.n_edges as usize])
    }

    /// The mean reward of each role in a node.
    pub(super) fn means(&self, at: u32) -> &[f32] {
        let first = at as usize * self.n_roles;
        &self.means[first..first + self.n_roles]
    }

    /// What a node looks worth to each role without playouts.
    pub(super) fn estimates(&self, at: u32) -> &[f32] {
        let first = at as usize * self.n_roles;
        &self.estimates[first..first + self.n_roles]
    }

    /// Sets what a node looks worth to each role.
    pub(super) fn set_estimates(&mut self, at: u32, estimates: &[f32]) {
        let first = at as usize * self.n_roles;
        self.estimates[first..first + self.n_roles].copy_from_slice(estimates);
    }

    /// Sets what a node looks worth to a role.
    pub(super) fn set_estimate(&mut self, at: u32, role: usize, estimate: f32) {
        self.estimates[at as usize * self.n_roles + role] = estimate;
    }

    /// Makes a node look worth what another one does.
    pub(super) fn adopt_estimates(&mut self, at: u32, from: u32) {
        let from = from as usize * self.n_roles;
        self.estimates.copy_within(from..from + self.n_roles, at as usize * self.n_roles);
    }

    /// The bounds of each role's value in a node.
    pub(super) fn bounds(&self, at: u32) -> &[Bounds] {
        let first = at as usize * self.n_roles;
        &self.bounds[first..first + self.n_roles]
    }

    /// Counts a finished descent through a node, with the reward of each role.
    pub(super) fn visit(&mut self, at: u32, rewards: &[f32]) {
        let node = &mut self.nodes[at as usize];
        node.visits = node.visits.saturating_add(1);
        let share = 1.0 / node.visits as f32;
        let first = at as usize * self.n_roles;
        for (mean, &reward) in self.means[first..first + self.n_roles].iter_mut().zip(rewards) {
            *mean += (reward - *mean) * share;
        }
    }

    /// Makes a node's bounds narrower, where they are, and says whether some are. What
    /// was proven once is never forgotten.
    pub(super) fn narrow(&mut self, at: u32, role: usize, bounds: Bounds) -> bool {
        let own = &mut self.bounds[at as usize * self.n_roles + role];
        let narrower = own.and(bounds);
        let changed = narrower != *own;
        *own = narrower;
        changed
    }

    /// Whether the value of each role but chance is proven.
    pub(super) fn is_settled(&self, at: u32) -> bool {
        self.node(at).settled != NONE
    }

    /// Notes it if the value of each role but chance is proven.
    pub(super) fn settle(&mut self, at: u32) {
        let mut bounds = self.bounds(at).iter().enumerate();
        let is_proven = bounds.all(|(role, bounds)| Some(role) == self.chance || bounds.is_exact());
        if !self.is_settled(at) && is_proven {
            self.node_mut(at).settled = self.n_settled;
            self.n_settled += 1;
            let first = at as usize * self.n_roles;
            for role in 0..self.n_roles {
                self.estimates[first + role] = self.bounds[first + role].value();
            }
        }
    }

    /// Forgets what is proven of a node.
    pub(super) fn reopen(&mut self, at: u32) {
        self.node_mut(at).settled = NONE;
        let first = at as usize * self.n_roles;
        self.bounds[first..first + self.n_roles].fill(Bounds::OPEN);
    }

    /// Gives a leaf its edges.
    pub(super) fn set_edges(&mut self, at: u32, kind: Kind, edges: &[Edge]) {
        let first_edge = u32::try_from(self.edges.len()).expect("memory is bounded");
        grow(&mut self.edges, edges.len()).extend_from_slice(edges);
        let node = self.node_mut(at);
        (node.kind, node.first_edge, node.n_edges) = (kind, first_edge, edges.len() as u32);
    }

    /// Makes room for the children of a joint node with `n_joint_moves` joint moves.
    pub(super) fn set_joint(&mut self, at: u32, n_joint_moves: u64) {
        if n_joint_moves > MAX_LISTED {
            return;
        }
        let n = n_joint_moves as usize;
        let first = u32::try_from(self.joint_children.len()).expect("memory is bounded");
        grow(&mut self.joint_children, n).extend(std::iter::repeat_n(NONE, n));
        self.node_mut(at).first_child = first;
    }

    /// The child of a joint node by the index of the joint move; [`NONE`] if it was not
    /// made yet.
    pub(super) fn joint_child(&self, at: u32, index: u64) -> u32 {
        match self.node(at).first_child {
            NONE => self.sparse_children.get(&(at, index)).copied().unwrap_or(NONE),
            first => self.joint_children[first as usize + index as usize],
        }
    }

    /// Whether the children of a joint node are listed, so that bounds follow from them.
    pub(super) fn lists_children(&self, at: u32) -> bool {
        self.node(at).first_child != NONE
    }

    /// Sets the child of a joint node.
    pub(super) fn set_joint_child(&mut self, at: u32, index: u64, child: u32) {
        match self.node(at).first_child {
            NONE => {
                self.sparse_children.insert((at, index), child);
            }
            first => self.joint_children[first as usize + index as usize] = child,
        }
    }

    /// About how much memory the nodes take, in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        let index = self.index.iter().map(HashTable::capacity).sum::<usize>() * 6;
        let of = |n: usize, size: usize| n * size;
        index
            + of(self.nodes.capacity(), size_of::<Node>())
            + of(self.edges.capacity(), size_of::<Edge>())
            + of(self.means.capacity() + self.estimates.capacity() + self.bounds.capacity(), 4)
            + of(self.words.capacity(), 8)
            + of(self.joint_children.capacity(), 4)
            + of(self.sparse_children.len(), 32)
    }

    /// Keeps the marked nodes alone, and the edges of those that are `open`; the others
    /// become leaves again, with what is known of them. Children of open nodes must be
    /// kept. Gives the new number of each node, [`NONE`] for those that are gone.
    pub(super) fn retain(&mut self, kept: &[bool], open: &[bool]) -> Vec<u32> {
        let mut n = 0;
        let number = |&kept: &bool| {
            n += u32::from(kept);
            if kept { n - 1 } else { NONE }
        };
        let numbers: Vec<u32> = kept.iter().map(number).collect();
        let n_edges = |at: usize| if open[at] { self.nodes[at].n_edges as usize } else { 0 };
        let mut edges =
            Vec::with_capacity((0..kept.len()).filter(|&at| kept[at]).map(n_edges).sum());
        let mut joint_children = Vec::new();
        let (mut n_words, n_roles) = (0, self.n_roles);
        for at in (0..self.nodes.len()).filter(|&at| kept[at]) {
            let mut node = self.nodes[at];
            let to = numbers[at] as usize;
            if open[at] {
                let first = node.first_edge as usize;
                node.first_edge = edges.len() as u32;
                let renumbered = |edge: &Edge| Edge {
                    child: if edge.child == NONE { NONE } else { numbers[edge.child as usize] },
                    ..*edge
                };
                edges.extend(
                    self.edges[first..first + node.n_edges as usize].iter().map(renumbered),
                );
                if node.first_child != NONE {
                    let first = node.first_child as usize;
                    let n = joint_moves_of(&edges[node.first_edge as usize..]) as usize;
                    node.first_child = joint_children.len() as u32;
                    let renumbered =
                        |&child: &u32| if child == NONE { NONE } else { numbers[child as usize] };
                    joint_children
                        .extend(self.joint_children[first..first + n].iter().map(renumbered));
                }
            } else if node.kind != Kind::End {
                (node.kind, node.first_edge, node.n_edges, node.first_child) =
                    (Kind::Leaf, 0, 0, NONE);
            }
            let words = node.first_word as usize..(node.first_word + node.n_words) as usize;
            self.words.copy_within(words.clone(), n_words);
            node.first_word = n_words as u32;
            n_words += words.len();
            self.means.copy_within(at * n_roles..(at + 1) * n_roles, to * n_roles);
            self.estimates.copy_within(at * n_roles..(at + 1) * n_roles, to * n_roles);
            self.bounds.copy_within(at * n_roles..(at + 1) * n_roles, to * n_roles);
            self.nodes[to] = node;
        }
        let n = n as usize;
        self.nodes.truncate(n);
        self.means.truncate(n * n_roles);
        self.estimates.truncate(n * n_roles);
        self.bounds.truncate(n * n_roles);
        self.words.truncate(n_words);
        // What is free is given back: room counts as memory, whether it is used or not.
        self.nodes.shrink_to_fit();
        self.means.shrink_to_fit();
        self.estimates.shrink_to_fit();
        self.bounds.shrink_to_fit();
        self.words.shrink_to_fit();
        (self.edges, self.joint_children) = (edges, joint_children);
        let sparse = std::mem::take(&mut self.sparse_children);
        for ((at, index), child) in sparse {
            if kept[at as usize] && open[at as usize] {
                let key = (numbers[at as usize], index);
                self.sparse_children.insert(key, numbers[child as usize]);
            }
        }
        // Some room, since not all tables have as many.
        let each = (n + n / 8) / N_TABLES + 1;
        self.index = (0..N_TABLES).map(|_| HashTable::with_capacity(each)).collect();
        let (nodes, words) = (&self.nodes, &self.words);
        for at in 0..n as u32 {
            let of = |&at: &u32| hash(state_of(nodes, words, at));
            let hash = of(&at);
            self.index[table(hash)].insert_unique(hash, at, of);
        }
        numbers
    }

    /// All children that a node has so far.
    pub(super) fn children(&self, at: u32, visit: &mut dyn FnMut(u32)) {
        let (_, edges) = self.edges(at);
        match self.node(at).kind {
            Kind::Leaf | Kind::End => {}
            Kind::Choice(_) | Kind::Chance => edges.iter().for_each(|edge| visit(edge.child)),
            Kind::Joint => self.joint_children(at, &mut |_, child| visit(child)),
        }
    }

    /// The children that a joint node has so far, by the index of the joint move.
    pub(super) fn joint_children(&self, at: u32, visit: &mut dyn FnMut(u64, u32)) {
        match self.node(at).first_child {
            NONE => {
                let all = self.sparse_children.range((at, 0)..=(at, u64::MAX));
                all.for_each(|(&(_, index), &child)| visit(index, child));
            }
            first => {
                let n = joint_moves_of(self.edges(at).1) as usize;
                let all = &self.joint_children[first as usize..first as usize + n];
                let made = (0..).zip(all).filter(|&(_, &child)| child != NONE);
                made.for_each(|(index, &child)| visit(index, child));
            }
        }
    }
}

fn state_of<'a>(nodes: &[Node], words: &'a [u64], at: u32) -> &'a [u64] {
    let node = &nodes[at as usize];
    let first = node.first_word as usize;
    &words[first..first + node.n_words as usize]
}

/// The edges of a joint node, role by role.
pub(super) fn by_role(edges: &[Edge]) -> impl Iterator<Item = &[Edge]> {
    edges.chunk_by(|one, other| one.role == other.role)
}

/// The number of joint moves of the roles that have a choice.
pub(super) fn joint_moves_of(edges: &[Edge]) -> u64 {
    by_role(edges).fold(1, |n: u64, moves| n.saturating_mul(moves.len() as u64))
}

/// A list with room for more: it grows by a quarter, so that a quarter at most is unused.
fn grow<T>(list: &mut Vec<T>, more: usize) -> &mut Vec<T> {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 4).max(64));
    }
    list
}
