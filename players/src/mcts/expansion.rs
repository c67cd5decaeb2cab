//! Expands nodes: their moves become edges, and their children nodes. All children are
//! computed at once where that is possible, so that ends among them are known at once.

use std::sync::Arc;

use games::solve::ValueTable;
use games::{
    Children, MoveId, ReasoningError, RoleId, State, StateMachine, Wanted, push_joint_move,
};

use super::bounds::Bounds;
use super::estimate::{self, Estimator};
use super::proof;
use super::roles::Roles;
use super::tree::{Edge, Kind, NONE, Tree, by_role, joint_moves_of};
use crate::search::worst;

/// Maximum number of joint moves of roles that choose at the same time whose children are computed
/// together.
const MAX_AT_ONCE: u64 = 256;

/// Buffers that are kept from node to node.
#[derive(Default)]
pub(super) struct Expander {
    state: State,
    next: State,
    /// By role.
    legal: Vec<Vec<MoveId>>,
    joint_moves: Vec<MoveId>,
    children: Children,
    /// Children that were not computed all at once: states, and rewards at ends.
    in_parts: Vec<(State, Option<Vec<u8>>)>,
    edges: Vec<Edge>,
    rewards: Vec<f32>,
    /// What positions look worth, if there is an evaluation.
    pub(super) estimator: Option<Estimator>,
    /// The values of states that are known before any search.
    pub(super) solved: Option<Arc<ValueTable>>,
    /// Times that the value of a state was found in `solved`.
    pub(super) n_table_hits: u64,
}

/// What an expansion showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    /// So many states were entered.
    States(u64),
    /// The two roles are not opposed, so that all bounds are void.
    NotOpposed,
}

impl Expander {
    /// Expands a leaf. The tree stays as it is if there is an error, and if `is_due` says
    /// that time is up: then the computation counts as cancelled.
    pub(super) fn expand(
        &mut self,
        tree: &mut Tree,
        roles: &mut Roles,
        machine: &mut dyn StateMachine,
        at: u32,
        is_due: &dyn Fn() -> bool,
    ) -> Result<Expanded, ReasoningError> {
        self.state.set_words(tree.state(at));
        let n_roles = tree.n_roles;
        self.legal.resize(n_roles, Vec::new());
        for (role, moves) in machine.game().role_ids().zip(&mut self.legal) {
            machine.legal_moves(&self.state, role, moves)?;
        }
        if self.legal.iter().any(Vec::is_empty) {
            // The rules are broken, and all rewards are 0.
            tree.node_mut(at).kind = Kind::End;
            (0..n_roles).for_each(|role| _ = tree.narrow(at, role, Bounds::exactly(0)));
            tree.settle(at);
            return Ok(Expanded::States(0));
        }
        let kind = self.kind(roles);
        if kind == Kind::Joint {
            // The value may be that of mixed strategies by the table; they have to be searched.
            tree.reopen(at);
        }
        self.edges.clear();
        for (role, moves) in machine.game().role_ids().zip(&self.legal) {
            let is_chooser = match kind {
                Kind::Choice(chooser) => chooser == role,
                Kind::Chance => roles.chance == Some(usize::from(role.0)),
                _ => moves.len() > 1,
            };
            let edge = |&action: &MoveId| Edge {
                action,
                child: NONE,
                visits: 0,
                flying: 0,
                role,
                mean: 0.5,
                estimate: 0.5,
                regret: 0.0,
                bounds: Bounds::OPEN,
            };
            if is_chooser {
                self.edges.extend(moves.iter().map(edge));
            }
        }
        let n_children = joint_moves_of(&self.edges);
        if kind == Kind::Joint && n_children > MAX_AT_ONCE {
            tree.set_edges(at, kind, &self.edges);
            tree.set_joint(at, n_children);
            return Ok(Expanded::States(0));
        }
        self.joint_moves.clear();
        for child in 0..n_children {
            push_joint_move(&self.legal, child, &mut self.joint_moves);
        }
        self.compute_children(machine, is_due)?;
        let first_edge = tree.edges.len() as u32;
        tree.set_edges(at, kind, &self.edges);
        if kind == Kind::Joint {
            tree.set_joint(at, n_children);
        }
        let mut opposed = true;
        for index in 0..n_children {
            let (child, is_new) = tree.find_or_add(self.child(index as usize).words());
            if is_new && let Some(goals) = self.goals(index as usize, n_roles) {
                opposed &= note_end(tree, roles, child, &goals);
            } else if is_new && !self.look_up(tree, machine, child, index as usize) {
                self.note_estimates(tree, roles, machine, child, index as usize)?;
            }
            if kind == Kind::Joint {
                tree.set_joint_child(at, index, child);
            } else {
                tree.edge_mut(first_edge + index as u32).child = child;
            }
        }
        if !opposed {
            return Ok(Expanded::NotOpposed);
        }
        proof::update(tree, roles, at);
        self.note_means(tree, at);
        if self.estimator.is_some() {
            estimate::note_children(tree, at);
        }
        Ok(Expanded::States(n_children))
    }

    /// The child of a joint node by this index of a joint move, made now.
    pub(super) fn joint_child(
        &mut self,
        tree: &mut Tree,
        roles: &mut Roles,
        machine: &mut dyn StateMachine,
        at: u32,
        index: u64,
    ) -> Result<(u32, Expanded), ReasoningError> {
        self.state.set_words(tree.state(at));
        self.legal.resize(tree.n_roles, Vec::new());
        for (role, moves) in machine.game().role_ids().zip(&mut self.legal) {
            machine.legal_moves(&self.state, role, moves)?;
        }
        self.joint_moves.clear();
        push_joint_move(&self.legal, index, &mut self.joint_moves);
        machine.next_state(&self.state, &self.joint_moves, &mut self.next)?;
        let mut goals = None;
        if machine.is_terminal(&self.next)? {
            let goals = goals.insert(Vec::new());
            for role in machine.game().role_ids() {
                goals.push(worst(&machine.goal(&self.next, role)?));
            }
        }
        let (child, is_new) = tree.find_or_add(self.next.words());
        tree.set_joint_child(at, index, child);
        match goals {
            Some(goals) if is_new && !note_end(tree, roles, child, &goals) => {
                return Ok((child, Expanded::NotOpposed));
            }
            None if is_new => {
                let is_known =
                    note_solved(tree, machine, child, &self.next, self.solved.as_deref());
                self.n_table_hits += u64::from(is_known);
            }
            _ => {}
        }
        proof::update(tree, roles, at);
        Ok((child, Expanded::States(1)))
    }

    /// Who has a choice.
    fn kind(&self, roles: &Roles) -> Kind {
        let mut choosing = (0..self.legal.len()).filter(|&role| self.legal[role].len() > 1);
        match (choosing.next(), choosing.next()) {
            (Some(_), Some(_)) => Kind::Joint,
            (Some(role), None) if Some(role) == roles.chance => Kind::Chance,
            (Some(role), None) => Kind::Choice(RoleId(role as u8)),
            _ => Kind::Choice(RoleId(roles.strategic.first().map_or(0, |&role| role as u8))),
        }
    }

    /// Computes the children by the joint moves: all at once where the reasoner can, else as many
    /// at once as it can, as long as there is time.
    fn compute_children(
        &mut self,
        machine: &mut dyn StateMachine,
        is_due: &dyn Fn() -> bool,
    ) -> Result<(), ReasoningError> {
        let Self { state, joint_moves, children, in_parts, estimator, .. } = self;
        let legal = estimator.as_ref().is_some_and(|estimator| estimator.counts_moves);
        let wanted = Wanted { legal, all_goals: false };
        in_parts.clear();
        let n_roles = machine.game().roles().len();
        let most = machine.expansion_range().map_or(0, |range| range.most);
        if joint_moves.len() <= most * n_roles {
            return machine.expand(state, joint_moves, wanted, children);
        }
        for joint_moves in joint_moves.chunks(most.max(1) * n_roles) {
            if is_due() {
                return Err(ReasoningError::Cancelled);
            }
            machine.expand(state, joint_moves, Wanted::default(), children)?;
            for child in 0..joint_moves.len() / n_roles {
                let goal = |role| worst(children.goal(child, RoleId(role as u8)));
                let goals = children.is_terminal(child).then(|| (0..n_roles).map(goal).collect());
                in_parts.push((children.state(child).clone(), goals));
            }
        }
        Ok(())
    }

    /// A child, as computed.
    fn child(&self, index: usize) -> &State {
        match self.in_parts.get(index) {
            Some((state, _)) => state,
            None => self.children.state(index),
        }
    }

    /// The rewards in a child, if it is terminal.
    fn goals(&self, index: usize, n_roles: usize) -> Option<Vec<u8>> {
        if let Some((_, goals)) = self.in_parts.get(index) {
            return goals.clone();
        }
        let goal = |role| worst(self.children.goal(index, RoleId(role as u8)));
        self.children.is_terminal(index).then(|| (0..n_roles).map(goal).collect())
    }

    /// Notes the value of a new child that is not terminal, if it is in the table.
    fn look_up(
        &mut self,
        tree: &mut Tree,
        machine: &mut dyn StateMachine,
        child: u32,
        index: usize,
    ) -> bool {
        let table = self.solved.as_deref();
        let is_known = note_solved(tree, machine, child, self.child(index), table);
        self.n_table_hits += u64::from(is_known);
        is_known
    }

    /// What a new child looks worth.
    fn note_estimates(
        &mut self,
        tree: &mut Tree,
        roles: &Roles,
        machine: &mut dyn StateMachine,
        child: u32,
        index: usize,
    ) -> Result<(), ReasoningError> {
        let Self { estimator, children, in_parts, rewards, legal, .. } = self;
        let Some(estimator) = estimator else { return Ok(()) };
        match in_parts.get(index) {
            Some((state, _)) => {
                let legal = &mut legal[0];
                estimator.follow(machine, state);
                let n_moves = |role| {
                    machine.legal_moves(state, role, legal)?;
                    Ok(legal.len())
                };
                estimator.values(roles, n_moves, rewards)?;
            }
            None => {
                estimator.follow(machine, children.state(index));
                let n_moves = |role| Ok(children.legal(index, role).len());
                estimator.values(roles, n_moves, rewards)?;
            }
        }
        tree.set_estimates(child, rewards);
        Ok(())
    }

    /// What other lines of play have shown of the children.
    fn note_means(&mut self, tree: &mut Tree, at: u32) {
        if tree.node(at).kind == Kind::Joint {
            return;
        }
        let (first, edges) = tree.edges(at);
        self.rewards.clear();
        let mean = |edge: &Edge| tree.means(edge.child)[usize::from(edge.role.0)];
        self.rewards.extend(edges.iter().map(mean));
        for (edge, &mean) in (first..).zip(&self.rewards) {
            tree.edge_mut(edge).mean = mean;
        }
    }
}

/// Notes the rewards in a terminal state. `false` if they show that two roles are not
/// opposed.
fn note_end(tree: &mut Tree, roles: &mut Roles, at: u32, goals: &[u8]) -> bool {
    tree.node_mut(at).kind = Kind::End;
    for (role, &goal) in goals.iter().enumerate() {
        tree.narrow(at, role, Bounds::exactly(goal));
    }
    tree.settle(at);
    roles.is_opposed(1, |role| u64::from(goals[role]))
}

/// Notes the value of a state that is not terminal, if it is in the table. It stays a leaf, so
/// that its moves are searched if the match comes to it.
fn note_solved(
    tree: &mut Tree,
    machine: &mut dyn StateMachine,
    at: u32,
    state: &State,
    table: Option<&ValueTable>,
) -> bool {
    let Some(table) = table else { return false };
    let key = machine.key(state);
    let Some(values) = table.value(key) else { return false };
    for (role, &value) in values.iter().enumerate() {
        tree.narrow(at, role, Bounds::around(value));
    }
    tree.settle(at);
    true
}

/// The index of the joint move by the numbers of the roles' chosen edges, in role order.
pub(super) fn joint_index(edges: &[Edge], chosen: &[u32]) -> u64 {
    let digits = by_role(edges).zip(chosen);
    digits.fold(0, |index, (moves, &chosen)| {
        index.wrapping_mul(moves.len() as u64) + u64::from(chosen)
    })
}

/// The proven rewards of a settled node, 0 to 1.
pub(super) fn settled_rewards(tree: &Tree, at: u32, rewards: &mut Vec<f32>) {
    rewards.clear();
    rewards.extend(tree.bounds(at).iter().map(Bounds::value));
}
