//! A whole game as one tree of information sets.

use std::ops::Range;

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rustc_hash::FxHashMap;

use crate::Stop;
use crate::belief::{Knowledge, Replies, allow, knowledge_after};
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

/// The tree. Histories that lead to the same state, and that no role can tell apart, share
/// a node. Nodes come after their parents, and those of a stage (a role's nodes in one
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
    /// It has more nodes than it may have.
    TooLarge,
}

/// A state of the step at hand.
struct Open {
    state: State,
    knowledge: Vec<Knowledge>,
    node: u32,
}

/// States of the next step, those equal to each other merged.
#[derive(Default)]
struct Next {
    states: Vec<(State, Vec<Knowledge>)>,
    known: FxHashMap<(State, Vec<Knowledge>), u32>,
}

/// Builds a [`Tree`], step by step.
pub(super) struct Builder {
    tree: Tree,
    most_nodes: usize,
    /// By node.
    stages: Vec<u32>,
    step: u32,
    /// The states of the step, and how many of them are done.
    open: Vec<Open>,
    n_done: usize,
    next: Next,
    /// Children that are numbers of states of the next step until it begins.
    unnumbered: Vec<usize>,
}

impl Builder {
    /// Begins with the initial state.
    pub(super) fn new(
        machine: &mut dyn StateMachine,
        most_nodes: usize,
    ) -> Result<Self, ReasoningError> {
        let n_roles = machine.game().roles().len();
        let mut next = Next::default();
        next.states.push((machine.initial_state()?, vec![Knowledge::default(); n_roles]));
        let tree = Tree { n_roles, ..Tree::default() };
        let (stages, open, unnumbered) = (Vec::new(), Vec::new(), Vec::new());
        let mut builder =
            Self { tree, most_nodes, stages, step: 0, open, n_done: 0, next, unnumbered };
        builder.begin_step();
        Ok(builder)
    }

    /// Nodes so far, with those of the next step.
    pub(super) fn n_nodes(&self) -> usize {
        self.tree.nodes.len() + self.next.states.len()
    }

    /// Goes on until the tree is whole. `n_entered` counts states.
    pub(super) fn grow(
        &mut self,
        machine: &mut dyn StateMachine,
        stop: &Stop,
        n_entered: &mut u64,
    ) -> Result<Growth, ReasoningError> {
        loop {
            while self.n_done < self.open.len() {
                if self.n_nodes() > self.most_nodes {
                    return Ok(Growth::TooLarge);
                }
                if stop.is_due(*n_entered) {
                    return Ok(Growth::Stopped);
                }
                *n_entered += 1;
                let undo = self.mark();
                match self.enter(machine) {
                    Ok(()) => self.n_done += 1,
                    Err(error) => {
                        self.return_to(&undo);
                        return Err(error);
                    }
                }
            }
            if self.next.states.is_empty() {
                return Ok(Growth::Whole);
            }
            self.step += 1;
            self.begin_step();
        }
    }

    /// Gives the states of the next step their nodes.
    fn begin_step(&mut self) {
        let first = self.tree.nodes.len();
        for at in self.unnumbered.drain(..) {
            self.tree.children[at] += index(first);
        }
        let next = std::mem::take(&mut self.next);
        self.open.clear();
        self.n_done = 0;
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

    /// Where to return to if a state cannot be entered: a computation was cancelled.
    fn mark(&self) -> [usize; 4] {
        let Tree { nodes, children, payoffs, .. } = &self.tree;
        [nodes.len(), children.len(), payoffs.len(), self.unnumbered.len()]
    }

    /// Forgets what was added since. States of the next step and information sets stay:
    /// they will be met again.
    fn return_to(&mut self, &[nodes, children, payoffs, unnumbered]: &[usize; 4]) {
        self.tree.nodes.truncate(nodes);
        self.stages.truncate(nodes);
        self.tree.children.truncate(children);
        self.tree.payoffs.truncate(payoffs);
        self.unnumbered.truncate(unnumbered);
    }

    /// Adds the nodes of the next state of this step.
    fn enter(&mut self, machine: &mut dyn StateMachine) -> Result<(), ReasoningError> {
        let Open { state, knowledge, node } = &self.open[self.n_done];
        let (state, mut knowledge, node) = (state.clone(), knowledge.clone(), *node as usize);
        let replies = match machine.is_terminal(&state)? {
            true => None,
            false => Replies::legal(machine, &state)?,
        };
        let Some(replies) = replies else {
            return self.end(machine, &state, node);
        };
        allow(machine.game(), &mut knowledge, &replies);
        let random = machine.game().random();
        let moves = |role: RoleId| &replies.by_role[usize::from(role.0)];
        let has_choice = |role: &RoleId| moves(*role).len() > 1;
        let choosing = machine.game().role_ids().filter(has_choice);
        // Chance comes last: nobody knows its move in the same step.
        let mut movers: Vec<RoleId> = choosing.filter(|&role| Some(role) != random).collect();
        movers.extend(random.filter(has_choice));
        let mut joint_move: Vec<MoveId> = replies.by_role.iter().map(|moves| moves[0]).collect();
        self.decide(machine, &state, &knowledge, node, &replies, &movers, &mut joint_move)
    }

    /// A terminal state, or one in which some role has no move: the rules are broken then,
    /// and nothing is won.
    fn end(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        node: usize,
    ) -> Result<(), ReasoningError> {
        let is_terminal = machine.is_terminal(state)?;
        let mut payoffs = Vec::with_capacity(self.tree.n_roles);
        for role in machine.game().role_ids() {
            payoffs.push(if is_terminal { worst(&machine.goal(state, role)?) } else { 0 });
        }
        let number = self.tree.payoffs.len() / self.tree.n_roles;
        self.tree.payoffs.extend(payoffs);
        self.tree.nodes[node].kind = NodeKind::Terminal(index(number));
        self.stages[node] = self.stage(self.tree.n_roles + 1);
        Ok(())
    }

    fn stage(&self, turn: usize) -> u32 {
        self.step * index(self.tree.n_roles + 2) + index(turn)
    }

    /// The first of `movers` decides at `node`, then the others.
    #[expect(clippy::too_many_arguments, reason = "the state in all its parts")]
    fn decide(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        knowledge: &[Knowledge],
        node: usize,
        replies: &Replies,
        movers: &[RoleId],
        joint_move: &mut Vec<MoveId>,
    ) -> Result<(), ReasoningError> {
        let first_child = self.tree.children.len();
        let Some((&mover, rest)) = movers.split_first() else {
            // Nobody chooses.
            self.tree.children.push(0);
            self.describe(node, NodeKind::Chance, self.tree.n_roles, first_child, 1);
            return self.child(machine, state, knowledge, joint_move, first_child);
        };
        let moves = &replies.by_role[usize::from(mover.0)];
        let is_chance = machine.game().random() == Some(mover);
        let kind = match is_chance {
            true => NodeKind::Chance,
            false => NodeKind::Decision(self.set(mover, knowledge[usize::from(mover.0)], moves)),
        };
        let turn = if is_chance { self.tree.n_roles } else { usize::from(mover.0) };
        self.tree.children.resize(first_child + moves.len(), 0);
        self.describe(node, kind, turn, first_child, moves.len());
        for (at, &action) in (first_child..).zip(moves) {
            joint_move[usize::from(mover.0)] = action;
            if rest.is_empty() {
                self.child(machine, state, knowledge, joint_move, at)?;
            } else {
                let child = self.add_node();
                self.tree.children[at] = child;
                self.decide(machine, state, knowledge, child as usize, replies, rest, joint_move)?;
            }
        }
        Ok(())
    }

    fn describe(&mut self, node: usize, kind: NodeKind, turn: usize, first: usize, n: usize) {
        let (first_child, n_children) = (index(first), index(n));
        self.tree.nodes[node] = Node { kind, first_child, n_children };
        self.stages[node] = self.stage(turn);
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

    /// Puts the successor into the next step; it is the child at this place.
    fn child(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        knowledge: &[Knowledge],
        joint_move: &[MoveId],
        at: usize,
    ) -> Result<(), ReasoningError> {
        let random = machine.game().random();
        let mut known = knowledge.to_vec();
        for (role, known) in machine.game().role_ids().zip(&mut known) {
            if random != Some(role) {
                *known = knowledge_after(machine, *known, state, joint_move, role)?;
            }
        }
        let mut next = State::default();
        machine.next_state(state, joint_move, &mut next)?;
        let Next { states, known: numbers } = &mut self.next;
        let number = *numbers.entry((next, known)).or_insert_with_key(|key| {
            states.push(key.clone());
            index(states.len() - 1)
        });
        self.tree.children[at] = number;
        self.unnumbered.push(at);
        Ok(())
    }

    /// The whole tree, its nodes in the order of their stages.
    pub(super) fn finish(self) -> Tree {
        let Self { mut tree, stages, .. } = self;
        let mut order: Vec<u32> = (0..index(tree.nodes.len())).collect();
        // Stable: equal stages keep their order.
        order.sort_by_key(|&node| stages[node as usize]);
        let mut place = vec![0; order.len()];
        for (at, &node) in order.iter().enumerate() {
            place[node as usize] = index(at);
        }
        tree.nodes = order.iter().map(|&node| tree.nodes[node as usize]).collect();
        for child in &mut tree.children {
            *child = place[*child as usize];
        }
        let mut first = 0;
        for at in 1..=order.len() {
            let stage = |at: usize| stages[order[at] as usize];
            if at == order.len() || stage(at) != stage(first) {
                tree.stages.push(first..at);
                first = at;
            }
        }
        tree
    }
}

/// Nodes, children and slots are fewer than 2^32: the bound of nodes sees to that.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("the number of nodes is bounded")
}
