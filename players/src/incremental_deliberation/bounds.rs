//! The part of the tree that a person may want to see: the states that were visited most, with
//! their bounds.

use games::RoleId;
use rustc_hash::FxHashSet;

use super::{Growth, Tree};
use crate::ExpectedStep;
use crate::bound_tree::{BoundNode, BoundTree, Stage};
use crate::most_visited::{Line, MostVisited, most_visited};
use crate::search::{Frame, Halt};

/// A state on the way to be shown.
struct Shown {
    /// Its node in the tree.
    at: usize,
    way: Way,
}

/// The moves that lead to a state, by their indices. The tree does not keep the moves of others.
#[derive(Clone, Copy, Default)]
struct Way {
    own: usize,
    reply: usize,
    outcome: usize,
}

impl Growth<'_> {
    /// The most visited states of the tree, `max_nodes` at most.
    pub(super) fn bound_tree(&mut self, tree: &Tree, max_nodes: usize) -> Result<BoundTree, Halt> {
        let visits = |shown: &Shown| tree.nodes[shown.at].visits;
        let root = Shown { at: tree.root, way: Way::default() };
        let MostVisited { nodes: shown, n_cut } =
            most_visited(root, max_nodes, visits, |line| shown_below(tree, line));
        let distinct: FxHashSet<usize> = shown.iter().map(|(_, shown)| shown.at).collect();
        let is_reachable = tree.reachable(&mut || Ok(()))?;
        let n_reachable = is_reachable.iter().filter(|&&is_met| is_met).count();
        let n_unrecorded = (n_reachable - distinct.len()) as u64;
        let mut nodes: Vec<BoundNode> = Vec::with_capacity(shown.len());
        // The states from the root to the present one, each with its legal moves.
        let mut line: Vec<(usize, Frame)> = Vec::new();
        for (index, (parent, Shown { at, way })) in shown.into_iter().enumerate() {
            while line.last().is_some_and(|&(above, _)| Some(above) != parent) {
                line.pop();
            }
            let step = line.last_mut().map(|(_, above)| self.step(above, way));
            let node = &tree.nodes[at];
            let mut frame = Frame::new(self.roles.n_roles);
            frame.begin(&node.state);
            let stage = match (node.is_expanded, node.actions.is_empty()) {
                (false, _) => Stage::Unexpanded,
                (true, false) => Stage::Expanded,
                (true, true) if frame.is_terminal(self.machine, None)? => Stage::Terminal,
                (true, true) => Stage::DeadEnd,
            };
            let mut choosing = Vec::new();
            if stage == Stage::Expanded {
                frame.list_moves(self.machine, None, self.ranks)?;
                choosing.extend(choosers(&frame));
            }
            nodes.push(BoundNode {
                parent,
                step: step.unwrap_or_default(),
                bounds: (node.lower, node.upper),
                value: tree.is_solved(at).then_some(node.lower),
                visits: node.visits,
                stage,
                choosers: choosing,
            });
            line.push((index, frame));
        }
        Ok(BoundTree { nodes, n_unrecorded, n_lines_cut: n_cut, n_earlier: 0 })
    }

    /// The moves of one way on from the state of a frame.
    fn step(&self, frame: &mut Frame, way: Way) -> ExpectedStep {
        frame.pick(self.roles.index(), way.own);
        self.roles.set_reply(frame, way.reply as u64);
        if let Some(chance) = self.roles.chance {
            frame.pick(chance, way.outcome);
        }
        let action = |role: RoleId| (role, frame.joint[usize::from(role.0)]);
        let step: ExpectedStep = choosers(frame).map(action).collect();
        let all = || self.machine.game().role_ids().map(action).collect();
        if step.is_empty() { all() } else { step }
    }
}

/// The roles that have a choice in the state of a frame.
fn choosers(frame: &Frame) -> impl Iterator<Item = RoleId> {
    let by_role = frame.legal.iter().zip((0..).map(RoleId));
    by_role.filter(|(moves, _)| moves.len() > 1).map(|(_, role)| role)
}

/// The states after the last one of a line, in the order in which they were found. Play may lead
/// back to a state of the line; such moves are left out.
fn shown_below(tree: &Tree, line: &Line<'_, Shown>) -> Vec<Shown> {
    let mut below = Vec::new();
    for (own, action) in tree.nodes[line.last().at].moves().enumerate() {
        for (reply, outcomes) in action.replies().enumerate() {
            for (outcome, at) in outcomes.iter().map(|&at| at as usize).enumerate() {
                if line.upwards().all(|above| above.at != at) {
                    below.push(Shown { at, way: Way { own, reply, outcome } });
                }
            }
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use games::{MoveId, State, StateKey, StateMachine};
    use proptest::prelude::*;

    use super::*;
    use crate::search::worst;
    use crate::testing::{Graph, Movers, Node, minimax};
    use crate::{Deliberation, Observation, Options, Seat, Stop, Turn};

    const ME: RoleId = RoleId(0);

    /// What the player says of its move in a state of a match.
    struct Said {
        state: State,
        chosen: MoveId,
        deliberation: Deliberation,
    }

    /// What the player says after `n_steps`, in which it makes its move and the others make their
    /// first one; `budget` states are for each move. `None` if the match is over before.
    fn said(
        machine: &mut dyn StateMachine,
        n_steps: u32,
        budget: u64,
        max_nodes: Option<usize>,
    ) -> Option<Said> {
        let mut player = (super::super::KIND.make)(&Options::new()).unwrap();
        if let Some(max_nodes) = max_nodes {
            assert!(player.record_tree(Some(max_nodes)));
        }
        let own_machine = machine.fork().into();
        let seat =
            Seat { machine: own_machine, role: ME, start_clock: None, play_clock: None, seed: 1 };
        player.start(seat, &Stop::never().after_nodes(0)).unwrap();
        let mut state = machine.initial_state().unwrap();
        let mut observation = None;
        for step in 0.. {
            if machine.is_terminal(&state).unwrap() {
                break;
            }
            let own = legal(machine, &state, ME);
            let turn = Turn { step, observation: observation.as_ref(), legal: &own };
            let chosen = player.play(&turn, &Stop::never().after_nodes(budget)).unwrap();
            if step == n_steps {
                let deliberation = player.deliberation().unwrap();
                return Some(Said { state, chosen, deliberation });
            }
            let roles: Vec<RoleId> = machine.game().role_ids().collect();
            let mut joint_move: Vec<MoveId> =
                roles.iter().map(|&role| legal(machine, &state, role)[0]).collect();
            joint_move[0] = chosen;
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            state = next;
            observation = Some(Observation::JointMove(joint_move));
        }
        None
    }

    /// The tree after at most `budget` states in the initial state.
    fn tree(graph: &Graph, budget: u64) -> Option<Arc<BoundTree>> {
        tree_of(graph, budget, 100)
    }

    fn tree_of(graph: &Graph, budget: u64, max_nodes: usize) -> Option<Arc<BoundTree>> {
        said(&mut *graph.machine(), 0, budget, Some(max_nodes)).unwrap().deliberation.bound_tree
    }

    fn legal(machine: &mut dyn StateMachine, state: &State, role: RoleId) -> Vec<MoveId> {
        let mut legal = Vec::new();
        machine.legal_moves(state, role, &mut legal).unwrap();
        legal
    }

    fn choosing(machine: &mut dyn StateMachine, state: &State) -> Vec<RoleId> {
        let roles: Vec<RoleId> = machine.game().role_ids().collect();
        roles.into_iter().filter(|&role| legal(machine, state, role).len() > 1).collect()
    }

    /// The state after the moves of a step, which are those of the roles that have a choice, or of
    /// all.
    fn after(machine: &mut dyn StateMachine, state: &State, step: &ExpectedStep) -> State {
        let all: Vec<RoleId> = machine.game().role_ids().collect();
        let choosing = choosing(machine, state);
        let named: Vec<RoleId> = step.iter().map(|&(role, _)| role).collect();
        assert_eq!(named, if choosing.is_empty() { all.clone() } else { choosing });
        let mut joint_move = Vec::new();
        for role in all {
            let legal = legal(machine, state, role);
            let named = step.iter().find(|(named, _)| *named == role);
            let action = named.map_or(legal[0], |&(_, action)| action);
            assert!(legal.contains(&action), "{step:?}");
            joint_move.push(action);
        }
        let mut next = State::default();
        machine.next_state(state, &joint_move, &mut next).unwrap();
        next
    }

    /// Each line of a tree with this root, as its steps, with the state at its end.
    fn lines(
        machine: &mut dyn StateMachine,
        root: &State,
        tree: &BoundTree,
    ) -> Vec<(Vec<ExpectedStep>, State)> {
        let mut lines: Vec<(Vec<ExpectedStep>, State)> = Vec::new();
        for node in &tree.nodes {
            lines.push(match node.parent {
                None => (vec![node.step.clone()], root.clone()),
                Some(parent) => {
                    let (mut steps, above) = lines[parent].clone();
                    steps.push(node.step.clone());
                    (steps, after(machine, &above, &node.step))
                }
            });
        }
        lines
    }

    fn check(
        machine: &mut dyn StateMachine,
        n_steps: u32,
        budget: u64,
        max_nodes: usize,
    ) -> Result<(), TestCaseError> {
        let Some(plain) = said(machine, n_steps, budget, None) else { return Ok(()) };
        let whole = said(machine, n_steps, budget, Some(usize::MAX)).unwrap();
        let whole_tree = whole.deliberation.bound_tree.clone().unwrap();
        let without_tree = Deliberation { bound_tree: None, ..whole.deliberation };
        prop_assert_eq!((plain.chosen, &plain.deliberation), (whole.chosen, &without_tree));
        let root = &plain.state;
        let lines_of_whole = lines(machine, root, &whole_tree);
        let mut last_below = vec![u64::MAX; whole_tree.nodes.len()];
        for (node, (_, state)) in whole_tree.nodes.iter().zip(&lines_of_whole) {
            if let Some(parent) = node.parent {
                prop_assert!(node.visits <= last_below[parent]);
                last_below[parent] = node.visits;
            }
            let is_terminal = machine.is_terminal(state).unwrap();
            let value = match is_terminal {
                true => f64::from(worst(&machine.goal(state, ME).unwrap())),
                false => minimax(machine, state),
            };
            let (lower, upper) = node.bounds;
            prop_assert!(lower <= value + 1e-6 && value <= upper + 1e-6, "{value}: {node:?}");
            let is_known = node.value.is_some_and(|known| (known - value).abs() < 1e-6);
            prop_assert_eq!(is_known, (upper - lower).abs() < 1e-6);
            match node.stage {
                Stage::Unexpanded => prop_assert_eq!(node.bounds, (0.0, 100.0)),
                Stage::Expanded => prop_assert!(!is_terminal),
                Stage::Terminal => prop_assert!(is_terminal && lower == upper),
                Stage::DeadEnd => prop_assert!(false, "every role has a move"),
            }
            let choosing = match node.stage {
                Stage::Expanded => choosing(machine, state),
                _ => Vec::new(),
            };
            prop_assert_eq!(&node.choosers, &choosing);
        }
        // Each state of the tree is shown, at every line that leads there.
        prop_assert_eq!(whole_tree.n_unrecorded, 0);
        let keys = |machine: &mut dyn StateMachine, lines: &[(_, State)]| -> FxHashSet<StateKey> {
            lines.iter().map(|(_, state)| machine.key(state)).collect()
        };
        let all = keys(machine, &lines_of_whole);
        // After the first step, others are kept that can no longer be reached.
        let notes = plain.deliberation.notes.concat();
        let (_, n_states) = notes.split_once("(tree of ").unwrap();
        let n_states: usize = n_states.split_once(" states)").unwrap().0.parse().unwrap();
        prop_assert!(n_states >= all.len() && (n_steps > 0 || n_states == all.len()), "{notes}");
        let shown = said(machine, n_steps, budget, Some(max_nodes)).unwrap();
        let shown = shown.deliberation.bound_tree.unwrap();
        prop_assert_eq!(shown.nodes.len(), max_nodes.min(whole_tree.nodes.len()));
        let lines_shown = lines(machine, root, &shown);
        prop_assert_eq!(
            keys(machine, &lines_shown).len() as u64 + shown.n_unrecorded,
            all.len() as u64
        );
        let steps = |lines: Vec<(Vec<ExpectedStep>, _)>| -> Vec<Vec<ExpectedStep>> {
            lines.into_iter().map(|(steps, _)| steps).collect()
        };
        let (shown, whole) = (steps(lines_shown), steps(lines_of_whole));
        prop_assert!(shown.iter().all(|line| whole.contains(line)), "{shown:?}, {whole:?}");
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// What is shown of a tree are lines of the game, with bounds that hold where they lead;
        /// showing them changes nothing else.
        #[test]
        fn the_most_visited_states_are_lines_of_the_game(
            seed: u64,
            n_steps in 0u32..3,
            budget in 1u64..60,
            max_nodes in 1usize..40,
        ) {
            for (roles, movers, n_layers) in [
                (&["me", "you"][..], Movers::Alternating, 4),
                (&["me", "you"], Movers::Simultaneous, 2),
                (&["me", "you", "they"], Movers::Alternating, 4),
                (&["me", "you", "random"], Movers::Alternating, 4),
                (&["me", "random"], Movers::Simultaneous, 3),
                (&["me"], Movers::Alternating, 4),
            ] {
                let graph = Graph::random(seed, roles, movers, n_layers);
                check(&mut *graph.machine(), n_steps, budget, max_nodes)?;
            }
        }
    }

    /// A line ends before it comes back to one of its own states; a state that two lines lead to
    /// stands at both.
    #[test]
    fn circles_are_cut_and_shared_states_are_repeated() {
        let inner = |children: Vec<usize>| Node::Inner { n_moves: vec![children.len()], children };
        let nodes =
            vec![inner(vec![1, 2]), inner(vec![0, 3]), inner(vec![2, 3]), Node::Leaf(vec![60])];
        let graph = Graph { roles: vec!["me"], nodes };
        let tree = tree(&graph, 100).unwrap();
        let parents: Vec<Option<usize>> = tree.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(3)]);
        assert_eq!(tree.nodes[2], BoundNode { parent: Some(1), ..tree.nodes[4].clone() });
        assert_eq!((tree.nodes[2].stage, tree.nodes[2].bounds), (Stage::Terminal, (60.0, 60.0)));
        assert_eq!(tree.nodes[0].bounds.0, 60.0);
        assert_eq!((tree.n_unrecorded, tree.n_lines_cut), (0, 0));
        // The last of these nodes is at another place of the tree, too.
        let cut = tree_of(&graph, 100, 4).unwrap();
        assert_eq!((cut.nodes.len(), cut.n_unrecorded, cut.n_lines_cut), (4, 0, 1));
    }

    /// A state in which a role has no move is not shown as the end of a match, and a root that is
    /// not expanded is not shown at all.
    #[test]
    fn dead_ends_are_marked_and_a_tree_is_expanded() {
        let nodes = vec![
            Node::Inner { n_moves: vec![2], children: vec![1, 2] },
            Node::Inner { n_moves: vec![0], children: vec![] },
            Node::Leaf(vec![0]),
        ];
        let graph = Graph { roles: vec!["me"], nodes };
        let whole = tree(&graph, 100).unwrap();
        let stages: Vec<Stage> = whole.nodes.iter().map(|node| node.stage).collect();
        assert_eq!(stages, [Stage::Expanded, Stage::DeadEnd, Stage::Terminal]);
        assert!(whole.nodes.iter().all(|node| node.bounds == (0.0, 0.0)));
        assert_eq!(tree(&graph, 0), None);
    }
}
