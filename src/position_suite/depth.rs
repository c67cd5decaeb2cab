//! The grade of a position: how many steps a search must look ahead in it.

use std::collections::HashMap;
use std::sync::Arc;

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};

/// What a role may get at most and at least, 0 to 100.
type Bounds = [f64; 2];

/// Nothing is known of a state beyond the horizon.
const UNKNOWN: Bounds = [0.0, 100.0];

/// The least number of steps after which a full-width search knows enough: the best of the
/// good moves is worth at least as much as any other move can still be worth. A win in three
/// steps has the grade 3; so has a position in which every move but one loses in three steps.
/// States beyond the horizon may be worth anything from 0 to 100.
///
/// `legal` are the moves of `role` in `state`, and `good` says which of them are good. The
/// other roles are taken to minimise the role's reward, which is right for one player, and
/// for two whose rewards sum to a constant; `random` gives the mean. A state in which two
/// players choose at the same time counts as unknown.
///
/// `None` if the grade is above `max_depth`, or more than `max_nodes` states would have to
/// be expanded.
///
/// # Errors
/// If the rules cannot be computed.
pub fn depth(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
    is_good: &dyn Fn(MoveId) -> bool,
    max_depth: u32,
    max_nodes: u64,
) -> Result<Option<u32>, ReasoningError> {
    let mut search = Lookahead { machine, role, nodes_left: max_nodes, known: HashMap::new() };
    for depth in 1..=max_depth {
        let Some(moves) = search.moves(state, depth)? else { return Ok(None) };
        let bound = |is_wanted: bool, at: usize| {
            let wanted = moves.iter().filter(|(id, _)| is_good(*id) == is_wanted);
            wanted.map(|(_, bounds)| bounds[at]).reduce(f64::max)
        };
        if bound(true, 0) >= bound(false, 1) {
            return Ok(Some(depth));
        }
    }
    Ok(None)
}

/// A full-width search with a horizon, for one role.
struct Lookahead<'a> {
    machine: &'a mut dyn StateMachine,
    role: RoleId,
    nodes_left: u64,
    /// By state: the horizon, and the bounds found with it.
    known: HashMap<u128, (u32, Bounds)>,
}

/// The successors of a state: for each profile of the players' moves one, or as many as
/// `random` has moves.
struct Expanded {
    /// Who chooses; `None` if no player has a choice.
    chooser: Option<RoleId>,
    /// By move of the chooser: the move, and the successors.
    successors: Vec<(MoveId, Vec<State>)>,
}

impl Lookahead<'_> {
    /// The bounds after each move of the role, with this horizon.
    fn moves(
        &mut self,
        state: &State,
        depth: u32,
    ) -> Result<Option<Vec<(MoveId, Bounds)>>, ReasoningError> {
        let Some(expanded) = self.expand(state)? else { return Ok(None) };
        let mut found = Vec::with_capacity(expanded.successors.len());
        for (id, states) in &expanded.successors {
            let Some(bounds) = self.mean(states, depth - 1)? else { return Ok(None) };
            found.push((*id, bounds));
        }
        Ok(Some(found))
    }

    /// The bounds of a state with this horizon; `None` if the nodes do not suffice.
    fn bounds(&mut self, state: &State, depth: u32) -> Result<Option<Bounds>, ReasoningError> {
        if self.machine.is_terminal(state)? {
            let goal = self.machine.goal(state, self.role)?;
            let reward = goal.values.iter().min().map_or(0, |goal| goal.value());
            return Ok(Some([f64::from(reward); 2]));
        }
        if depth == 0 {
            return Ok(Some(UNKNOWN));
        }
        let key = self.machine.key(state).bits();
        if let Some(&(horizon, bounds)) = self.known.get(&key)
            && (horizon == depth || bounds[0] >= bounds[1])
        {
            return Ok(Some(bounds));
        }
        if self.nodes_left == 0 {
            return Ok(None);
        }
        self.nodes_left -= 1;
        let Some(expanded) = self.expand(state)? else { return Ok(Some(UNKNOWN)) };
        let is_own = expanded.chooser == Some(self.role);
        let mut best: Option<Bounds> = None;
        for (_, states) in &expanded.successors {
            let Some(bounds) = self.mean(states, depth - 1)? else { return Ok(None) };
            best = Some(best.map_or(bounds, |best| {
                let better = if is_own { f64::max } else { f64::min };
                [better(best[0], bounds[0]), better(best[1], bounds[1])]
            }));
        }
        let bounds = best.unwrap_or(UNKNOWN);
        self.known.insert(key, (depth, bounds));
        Ok(Some(bounds))
    }

    fn mean(&mut self, states: &[State], depth: u32) -> Result<Option<Bounds>, ReasoningError> {
        let mut sum = [0.0; 2];
        for state in states {
            let Some(bounds) = self.bounds(state, depth)? else { return Ok(None) };
            sum = [sum[0] + bounds[0], sum[1] + bounds[1]];
        }
        let n = states.len().max(1) as f64;
        Ok(Some([sum[0] / n, sum[1] / n]))
    }

    /// `None` if two players choose at the same time, or a role has no legal move.
    fn expand(&mut self, state: &State) -> Result<Option<Expanded>, ReasoningError> {
        let game = Arc::clone(self.machine.game());
        let mut legal = Vec::new();
        for role in game.role_ids() {
            let mut moves = Vec::new();
            self.machine.legal_moves(state, role, &mut moves)?;
            legal.push(moves);
        }
        let at = |role: RoleId| usize::from(role.0);
        let mut choosing = game
            .role_ids()
            .filter(|&role| Some(role) != game.random() && legal[at(role)].len() > 1);
        let (chooser, is_joint) = (choosing.next(), choosing.next().is_some());
        if is_joint || legal.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let mut joint_move: Vec<MoveId> = legal.iter().map(|moves| moves[0]).collect();
        let own = legal[at(chooser.unwrap_or(self.role))].clone();
        let mut successors = Vec::with_capacity(own.len());
        for id in own {
            joint_move[at(chooser.unwrap_or(self.role))] = id;
            let mut states = Vec::new();
            let luck = game.random().map(|role| (at(role), legal[at(role)].clone()));
            let n_chances = luck.as_ref().map_or(1, |(_, moves)| moves.len());
            for chance in 0..n_chances {
                if let Some((random, moves)) = &luck {
                    joint_move[*random] = moves[chance];
                }
                let mut next = State::default();
                self.machine.next_state(state, &joint_move, &mut next)?;
                states.push(next);
            }
            successors.push((id, states));
        }
        Ok(Some(Expanded { chooser, successors }))
    }
}
