//! A whole game as one tree of information sets.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rustc_hash::FxHashMap;

use crate::Stop;
use crate::belief::{Knowledge, Replies, allow, knowledge_after};
use crate::counted::counted;
use crate::search::worst;

/// Who moves at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// A role, by its information set. One child for each move.
    Decision(u32),
    /// Chance, uniformly, or nobody. One child for each move.
    Chance,
    /// The match is over; the number of the payoffs.
    Terminal(u32),
}

/// A state and what each role knows. Roles that move in the same step have a node each,
/// in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    first_child: u32,
    n_children: u32,
}

/// The nodes that look the same to the role that moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct InformationSet {
    pub(super) role: RoleId,
    first_slot: u32,
    n_slots: u32,
}

impl InformationSet {
    /// The slots of its moves.
    pub(super) fn slots(&self) -> Range<usize> {
        self.first_slot as usize..(self.first_slot + self.n_slots) as usize
    }
}

/// The tree. Histories that lead to the same state, and that look the same to every role,
/// share a node. Nodes come after their parents, and those of a stage (a role's nodes in one
/// step) are next to each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) n_roles: usize,
    pub(super) nodes: Vec<Node>,
    children: Vec<u32>,
    /// By number of the payoffs, then by role.
    payoffs: Vec<u8>,
    pub(super) sets: Vec<InformationSet>,
    /// By slot, the move.
    moves: Vec<MoveId>,
    /// The nodes of each stage.
    pub(super) stages: Vec<Range<usize>>,
    known: FxHashMap<(RoleId, Knowledge), u32>,
}

impl Tree {
    /// The children of a node.
    pub(super) fn children(&self, node: usize) -> &[u32] {
        let Node { first_child, n_children, .. } = self.nodes[node];
        &self.children[first_child as usize..(first_child + n_children) as usize]
    }

    /// A role's payoff.
    pub(super) fn payoff(&self, payoffs: u32, role: usize) -> f64 {
        f64::from(self.payoffs[payoffs as usize * self.n_roles + role])
    }

    /// Moves of all information sets.
    pub(super) fn n_slots(&self) -> usize {
        self.moves.len()
    }

    /// The move of a slot.
    pub(super) fn action(&self, slot: usize) -> MoveId {
        self.moves[slot]
    }

    /// The information set of a role that knows this.
    pub(super) fn set(&self, role: RoleId, known: Knowledge) -> Option<usize> {
        self.known.get(&(role, known)).map(|&set| set as usize)
    }
}

/// How far the tree has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// It is whole.
    Whole,
    /// The stop was due.
    Stopped,
    /// It is larger than it may be.
    TooLarge(TooLarge),
}

/// Which limit of a tree of information sets was too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// The tree has more nodes than this.
    #[error("the tree of the game has more than {}", counted(*.0, "node"))]
    Nodes(usize),
    /// The states that are open at the same time take more bytes than this.
    #[error("the states of the game's tree take more than {} MB", .0.div_ceil(1_000_000))]
    Bytes(usize),
}

/// A state of the step at hand.
#[derive(Default)]
struct Open {
    state: State,
    knowledge: Vec<Knowledge>,
    node: u32,
}

/// The state whose children are being made.
struct Parent {
    state: State,
    knowledge: Vec<Knowledge>,
    replies: Replies,
    /// The roles with a choice, chance last.
    movers: Vec<RoleId>,
    /// The places of the children, by number of the joint move: the last mover's move
    /// changes fastest.
    places: Vec<u32>,
    n_made: usize,
}

/// States of the next step, those equal to each other merged.
#[derive(Default)]
struct Next {
    states: Vec<(State, Vec<Knowledge>)>,
    /// By hash, the first state that has it.
    first: FxHashMap<u64, u32>,
    /// By state, the next one with the same hash.
    same: Vec<Option<u32>>,
}

impl Next {
    /// The number of a state, and whether it is new.
    fn number(&mut self, state: State, knowledge: Vec<Knowledge>) -> (u32, bool) {
        let mut hasher = DefaultHasher::new();
        (&state, &knowledge).hash(&mut hasher);
        let hash = hasher.finish();
        let first = self.first.get(&hash).copied();
        let mut candidate = first;
        while let Some(number) = candidate {
            let (known, its_knowledge) = &self.states[number as usize];
            if (known, its_knowledge) == (&state, &knowledge) {
                return (number, false);
            }
            candidate = self.same[number as usize];
        }
        let number = index(self.states.len());
        self.states.push((state, knowledge));
        self.same.push(first);
        self.first.insert(hash, number);
        (number, true)
    }
}

/// Builds a [`Tree`], step by step. It can be interrupted before each child.
pub(super) struct Builder {
    tree: Tree,
    most_nodes: usize,
    /// By node.
    stages: Vec<u32>,
    step: u32,
    /// The states of the step, and how many of them were taken.
    open: Vec<Open>,
    n_taken: usize,
    parent: Option<Parent>,
    next: Next,
    /// Bytes of all states that are held.
    n_bytes: usize,
    /// Children that are numbers of states of the next step until it begins.
    unnumbered: Vec<u32>,
}

/// Bytes of states that may be held, for each node that the tree may have.
const BYTES_FOR_EACH: usize = 400;

impl Builder {
    /// Begins with the initial state.
    pub(super) fn new(
        machine: &mut dyn StateMachine,
        most_nodes: usize,
    ) -> Result<Self, ReasoningError> {
        let n_roles = machine.game().roles().len();
        let mut builder = Self {
            tree: Tree { n_roles, ..Tree::default() },
            most_nodes,
            stages: Vec::new(),
            step: 0,
            open: Vec::new(),
            n_taken: 0,
            parent: None,
            next: Next::default(),
            n_bytes: 0,
            unnumbered: Vec::new(),
        };
        let initial = machine.initial_state()?;
        builder.n_bytes = n_bytes(&initial);
        builder.next.number(initial, vec![Knowledge::default(); n_roles]);
        builder.begin_step();
        Ok(builder)
    }

    /// Nodes so far, with those of the next step.
    pub(super) fn n_nodes(&self) -> usize {
        self.tree.nodes.len() + self.next.states.len()
    }

    /// Why it cannot go on.
    fn excess(&self) -> Option<Growth> {
        let most_bytes = self.most_nodes.saturating_mul(BYTES_FOR_EACH);
        if self.n_nodes() > self.most_nodes {
            Some(Growth::TooLarge(TooLarge::Nodes(self.most_nodes)))
        } else if self.n_bytes > most_bytes {
            Some(Growth::TooLarge(TooLarge::Bytes(most_bytes)))
        } else {
            None
        }
    }

    /// Goes on until the tree is whole. `n_entered` counts the states entered.
    pub(super) fn grow(
        &mut self,
        machine: &mut dyn StateMachine,
        stop: &Stop,
        n_entered: &mut u64,
    ) -> Result<Growth, ReasoningError> {
        loop {
            if let Some(excess) = self.excess() {
                return Ok(excess);
            }
            if stop.is_due(*n_entered) {
                return Ok(Growth::Stopped);
            }
            if let Some(parent) = &self.parent {
                if parent.n_made < parent.places.len() {
                    self.child(machine)?;
                    *n_entered += 1;
                } else {
                    self.n_bytes -= n_bytes(&parent.state);
                    self.parent = None;
                }
            } else if self.n_taken < self.open.len() {
                if !self.enter(machine)? {
                    return Ok(Growth::TooLarge(TooLarge::Nodes(self.most_nodes)));
                }
                // A state that was entered is not needed any more.
                self.n_bytes -= n_bytes(&std::mem::take(&mut self.open[self.n_taken].state));
                self.n_taken += 1;
            } else if self.next.states.is_empty() {
                return Ok(Growth::Whole);
            } else {
                self.step += 1;
                self.begin_step();
            }
        }
    }

    /// Gives the states of the next step their nodes.
    fn begin_step(&mut self) {
        let first = index(self.tree.nodes.len());
        for at in self.unnumbered.drain(..) {
            self.tree.children[at as usize] += first;
        }
        let next = std::mem::take(&mut self.next);
        self.open.clear();
        self.n_taken = 0;
        for (state, knowledge) in next.states {
            let node = self.add_node();
            self.open.push(Open { state, knowledge, node });
        }
    }

    fn add_node(&mut self) -> u32 {
        let node = index(self.tree.nodes.len());
        self.tree.nodes.push(Node { kind: NodeKind::Chance, first_child: 0, n_children: 0 });
        self.stages.push(0);
        node
    }

    /// Describes the next state of this step: its payoffs, or the nodes of those who move
    /// there. `false` if these alone are too many. Nothing is changed if it fails.
    fn enter(&mut self, machine: &mut dyn StateMachine) -> Result<bool, ReasoningError> {
        let Open { state, knowledge, node } = &self.open[self.n_taken];
        let node = *node as usize;
        let is_terminal = machine.is_terminal(state)?;
        let replies = if is_terminal { None } else { Replies::legal(machine, state)? };
        let Some(replies) = replies else {
            // Where some role has no move, the rules are broken, and nothing is won.
            let mut payoffs = Vec::with_capacity(self.tree.n_roles);
            for role in machine.game().role_ids() {
                payoffs.push(if is_terminal { worst(&machine.goal(state, role)?) } else { 0 });
            }
            let number = self.tree.payoffs.len() / self.tree.n_roles;
            self.tree.payoffs.extend(payoffs);
            self.tree.nodes[node].kind = NodeKind::Terminal(index(number));
            self.stages[node] = self.stage(self.tree.n_roles + 1);
            return Ok(true);
        };
        if replies.len() > self.most_nodes as u64 {
            return Ok(false);
        }
        let (state, mut knowledge) = (state.clone(), knowledge.clone());
        allow(machine.game(), &mut knowledge, &replies);
        let random = machine.game().random();
        let has_choice = |role: &RoleId| replies.by_role[usize::from(role.0)].len() > 1;
        let choosing = machine.game().role_ids().filter(has_choice);
        // Chance comes last: nobody knows its move in the same step.
        let mut movers: Vec<RoleId> = choosing.filter(|&role| Some(role) != random).collect();
        movers.extend(random.filter(has_choice));
        let mut parent =
            Parent { state, knowledge, replies, movers, places: Vec::new(), n_made: 0 };
        parent.places = self.lay_out(node, &parent, random);
        self.n_bytes += n_bytes(&parent.state);
        self.parent = Some(parent);
        Ok(true)
    }

    fn stage(&self, turn: usize) -> u32 {
        self.step * index(self.tree.n_roles + 2) + index(turn)
    }

    /// Adds the nodes of all movers, the first of which is at `node`; the places of the
    /// children.
    fn lay_out(&mut self, node: usize, parent: &Parent, random: Option<RoleId>) -> Vec<u32> {
        let Parent { knowledge, replies, movers, .. } = parent;
        let mut row = vec![index(node)];
        if movers.is_empty() {
            // Nobody chooses.
            return self.describe(node, NodeKind::Chance, self.tree.n_roles, 1).collect();
        }
        for (turn, &mover) in movers.iter().enumerate() {
            let role = usize::from(mover.0);
            let moves = &replies.by_role[role];
            let (kind, place) = match random == Some(mover) {
                true => (NodeKind::Chance, self.tree.n_roles),
                false => (NodeKind::Decision(self.set(mover, knowledge[role], moves)), role),
            };
            let mut below = Vec::with_capacity(row.len() * moves.len());
            for &node in &row {
                below.extend(self.describe(node as usize, kind, place, moves.len()));
            }
            if turn + 1 < movers.len() {
                for at in &mut below {
                    let child = self.add_node();
                    self.tree.children[*at as usize] = child;
                    *at = child;
                }
            }
            row = below;
        }
        row
    }

    /// Says who moves at a node, and makes room for its children: their places.
    fn describe(&mut self, node: usize, kind: NodeKind, turn: usize, n: usize) -> Range<u32> {
        let first_child = index(self.tree.children.len());
        self.tree.children.resize(first_child as usize + n, 0);
        let n_children = index(n);
        self.tree.nodes[node] = Node { kind, first_child, n_children };
        self.stages[node] = self.stage(turn);
        first_child..first_child + n_children
    }

    /// The information set of a role.
    fn set(&mut self, role: RoleId, known: Knowledge, moves: &[MoveId]) -> u32 {
        let tree = &mut self.tree;
        *tree.known.entry((role, known)).or_insert_with(|| {
            let first_slot = index(tree.moves.len());
            tree.moves.extend(moves);
            tree.sets.push(InformationSet { role, first_slot, n_slots: index(moves.len()) });
            index(tree.sets.len() - 1)
        })
    }

    /// Puts the parent's next successor into the next step.
    fn child(&mut self, machine: &mut dyn StateMachine) -> Result<(), ReasoningError> {
        let Some(parent) = &mut self.parent else { return Ok(()) };
        let Parent { state, knowledge, replies, movers, places, n_made } = parent;
        let mut joint_move: Vec<MoveId> = replies.by_role.iter().map(|moves| moves[0]).collect();
        let mut number = *n_made;
        for mover in movers.iter().rev() {
            let moves = &replies.by_role[usize::from(mover.0)];
            joint_move[usize::from(mover.0)] = moves[number % moves.len()];
            number /= moves.len();
        }
        let random = machine.game().random();
        let mut known = knowledge.clone();
        for (role, known) in machine.game().role_ids().zip(&mut known) {
            if random != Some(role) {
                *known = knowledge_after(machine, *known, state, &joint_move, role)?;
            }
        }
        let mut next = State::default();
        machine.next_state(state, &joint_move, &mut next)?;
        let size = n_bytes(&next);
        let (number, is_new) = self.next.number(next, known);
        if is_new {
            self.n_bytes += size;
        }
        let at = places[*n_made];
        *n_made += 1;
        self.tree.children[at as usize] = number;
        self.unnumbered.push(at);
        Ok(())
    }

    /// The whole tree, its nodes in the order of their stages.
    pub(super) fn finish(self) -> Tree {
        let Self { mut tree, stages, .. } = self;
        // Counting sort: nodes of a stage keep their order.
        let n_stages = stages.iter().max().map_or(0, |&last| last as usize + 1);
        let mut starts = vec![0u32; n_stages + 1];
        for &stage in &stages {
            starts[stage as usize + 1] += 1;
        }
        for stage in 0..n_stages {
            starts[stage + 1] += starts[stage];
        }
        let ranges = starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        tree.stages = ranges.filter(|range| !range.is_empty()).collect();
        let mut place = Vec::with_capacity(stages.len());
        for &stage in &stages {
            place.push(starts[stage as usize]);
            starts[stage as usize] += 1;
        }
        let mut nodes = tree.nodes.clone();
        for (node, &at) in tree.nodes.iter().zip(&place) {
            nodes[at as usize] = *node;
        }
        tree.nodes = nodes;
        for child in &mut tree.children {
            *child = place[*child as usize];
        }
        tree
    }
}

/// About how many bytes of memory a state takes.
fn n_bytes(state: &State) -> usize {
    size_of::<State>() + size_of_val(state.words())
}

/// Nodes, children and slots are fewer than 2^32: the bound of nodes sees to that.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("the number of nodes is bounded")
}
