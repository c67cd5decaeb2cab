//! The bounds of the tree held against minimax, while it grows and while states are dropped.

use proptest::prelude::*;

use super::*;
use crate::Observation;
use crate::testing::{Graph, Movers, minimax};

const ME: RoleId = RoleId(0);

fn player() -> IncrementalDeliberation {
    IncrementalDeliberation {
        max_states: usize::MAX,
        move_order: vec![],
        track: None,
        tree: Tree::default(),
        recorded_nodes: None,
        deliberation: None,
    }
}

/// Grows the tree by a few states at each step of a match, whose moves `choices`
/// draws: bounds hold the value at any time and only tighten, and no state is
/// expanded twice.
fn check(graph: &Graph, budget: u64, choices: &[usize]) -> Result<(), TestCaseError> {
    let mut machine = graph.machine();
    let mut state = machine.initial_state().unwrap();
    let mut player = player();
    let seat = crate::Seat {
        machine: machine.fork().into(),
        role: ME,
        start_clock: None,
        play_clock: None,
        seed: 1,
    };
    player.start(seat, &Stop::never().after_nodes(budget)).unwrap();
    let mut expanded = FxHashSet::default();
    let mut bounds: FxHashMap<StateKey, Bounds> = FxHashMap::default();
    let mut observation = None;
    for step in 0.. {
        let mut n_new = 0;
        for node in &player.tree.nodes {
            let key = machine.key(&node.state);
            n_new += u64::from(node.is_expanded && expanded.insert(key));
            let value = searched_or_goal(&mut *machine, &node.state);
            prop_assert!(node.lower <= value + 1e-6 && value <= node.upper + 1e-6);
            let (lower, upper) =
                bounds.insert(key, (node.lower, node.upper)).unwrap_or((0.0, 100.0));
            prop_assert!(lower <= node.lower && node.upper <= upper);
        }
        prop_assert_eq!(player.deliberation().unwrap().nodes, n_new, "each state once");
        if machine.is_terminal(&state).unwrap() {
            break;
        }
        let mut legal = vec![Vec::new(); graph.roles.len()];
        for (role, moves) in machine.game().role_ids().zip(&mut legal) {
            machine.legal_moves(&state, role, moves).unwrap();
        }
        let turn = Turn { step, observation: observation.as_ref(), legal: &legal[0] };
        let chosen = player.play(&turn, &Stop::never().after_nodes(budget)).unwrap();
        prop_assert!(legal[0].contains(&chosen));
        let said = player.deliberation().unwrap().value;
        prop_assert_eq!(said.is_some(), player.tree.is_solved(player.tree.root));
        if player.tree.is_solved(player.tree.root) {
            let (value, best) =
                (minimax(&mut *machine, &state), player.tree.nodes[player.tree.root].lower);
            prop_assert!((value - best).abs() < 1e-6, "{best}, not {value}");
            prop_assert_eq!(said, Some(best));
        }
        let draw =
            |moves: &Vec<MoveId>| moves[choices[step as usize % choices.len()] % moves.len()];
        let mut joint_move: Vec<MoveId> = legal.iter().map(draw).collect();
        joint_move[0] = chosen;
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
        observation = Some(Observation::JointMove(joint_move));
    }
    Ok(())
}

/// Grows a small tree in a match: it keeps no more states than it may, its bounds hold, and
/// states are dropped for others. The time may be up at any moment of that.
fn check_small(graph: &Graph, max_states: usize, polls: u32) -> Result<(), TestCaseError> {
    let mut machine = graph.machine();
    let mut tree = Tree::default();
    let mut state = machine.initial_state().unwrap();
    let ranks = FxHashMap::default();
    let mut rng = crate::seed::generator(u64::from(polls), None);
    loop {
        tree.root(machine.key(&state), &state);
        let mut left = polls;
        let mut poll = || {
            left = left.saturating_sub(1);
            if left == 0 { Err(Halt::Due) } else { Ok(()) }
        };
        let _ = tree.reclaim(&mut poll);
        check_links(&tree)?;
        let stop = Stop::never().after_nodes(40);
        let mut growth = Growth {
            roles: SearchRoles::new(machine.game(), ME),
            frame: Frame::new(machine.game().roles().len()),
            machine: machine.as_mut(),
            ranks: &ranks,
            stopwatch: Stopwatch::new(&stop),
            max_states,
        };
        let _ = growth.grow(&mut tree);
        check_links(&tree)?;
        // The root is kept also if there is no room for it.
        prop_assert!(tree.n_states() <= max_states.max(1) + 1);
        for node in tree.nodes.iter().filter(|node| !node.is_free) {
            let value = searched_or_goal(&mut *machine, &node.state);
            prop_assert!(node.lower <= value + 1e-6 && value <= node.upper + 1e-6);
        }
        if machine.is_terminal(&state).unwrap() {
            return Ok(());
        }
        let mut joint_move = Vec::new();
        for role in machine.game().role_ids() {
            let mut legal = Vec::new();
            machine.legal_moves(&state, role, &mut legal).unwrap();
            joint_move.push(legal[rng.random_range(0..legal.len())]);
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
    }
}

/// Whatever can be found or reached holds a state, and states are found where they are.
fn check_links(tree: &Tree) -> Result<(), TestCaseError> {
    let mut left: Vec<usize> = tree.index.values().copied().chain([tree.root]).collect();
    let mut seen = FxHashSet::default();
    while let Some(at) = left.pop() {
        prop_assert!(!tree.nodes[at].is_free);
        if seen.insert(at) {
            let moves = &tree.nodes[at].moves;
            left.extend(moves.iter().flat_map(|own| own.replies.iter().flatten()));
        }
    }
    prop_assert!(tree.index.iter().all(|(key, &at)| *key == tree.nodes[at].key));
    let n_free = tree.nodes.iter().filter(|node| node.is_free).count();
    prop_assert_eq!(n_free, tree.free.len());
    Ok(())
}

fn searched_or_goal(machine: &mut dyn StateMachine, state: &State) -> f64 {
    if machine.is_terminal(state).unwrap() {
        return f64::from(worst(&machine.goal(state, ME).unwrap()));
    }
    minimax(machine, state)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_small_tree_drops_what_cannot_be_reached(
        seed: u64,
        max_states in 2usize..60,
        polls in 1u32..120,
    ) {
        for movers in [Movers::Alternating, Movers::Simultaneous] {
            check_small(&Graph::random(seed, &["me", "you"], movers, 4), max_states, polls)?;
        }
    }

    #[test]
    fn bounds_hold_and_only_tighten(
        seed: u64,
        budget in 1u64..40,
        choices in proptest::collection::vec(0usize..6, 1..8),
    ) {
        check(&Graph::random(seed, &["me", "you"], Movers::Alternating, 4), budget, &choices)?;
        check(&Graph::random(seed, &["me", "you"], Movers::Simultaneous, 3), budget, &choices)?;
        check(&Graph::random(seed, &["me", "random"], Movers::Alternating, 4), budget, &choices)?;
    }
}
