//! The bounds of the tree held against minimax, while it grows and while states are dropped.

use proptest::prelude::*;

use super::*;
use crate::Observation;
use crate::options::Value;
use crate::testing::{self, Graph, Movers, Node, minimax};

const ME: RoleId = RoleId(0);

fn player(evaluation: &str) -> IncrementalDeliberation {
    IncrementalDeliberation {
        max_states: usize::MAX,
        judge: EvaluationFunction::read(evaluation).map(Judge::new),
        move_order: vec![],
        track: None,
        tree: Tree::default(),
        recorded_nodes: None,
        deliberation: None,
    }
}

/// Grows the tree by a few states at each step of a match, whose moves `choices`
/// draws: bounds hold the value at any time and only tighten, and no state is
/// expanded twice, whatever an evaluation makes of it.
fn check(
    graph: &Graph,
    budget: u64,
    choices: &[usize],
    evaluation: &str,
) -> Result<(), TestCaseError> {
    let mut machine = graph.machine();
    let mut state = machine.initial_state().unwrap();
    let mut player = player(evaluation);
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
            let candidates = player.deliberation().unwrap().candidates;
            let of_chosen = candidates.iter().find(|candidate| candidate.action == chosen);
            let is_safe = |it: &Candidate| it.bound != ValueBound::AtMost && it.value == Some(best);
            prop_assert!(best == 0.0 || of_chosen.is_some_and(is_safe), "{chosen:?}");
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
            judge: None,
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
            left.extend(tree.nodes[at].children.iter().map(|&at| at as usize));
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
        evaluation in prop_oneof![Just("none"), Just("mobility"), Just("focus + goal")],
    ) {
        for (roles, movers, n_layers) in [
            (["me", "you"], Movers::Alternating, 4),
            (["me", "you"], Movers::Simultaneous, 3),
            (["me", "random"], Movers::Alternating, 4),
        ] {
            check(&Graph::random(seed, &roles, movers, n_layers), budget, &choices, evaluation)?;
        }
    }
}

/// `me` chooses a way, `you` replies, and then nothing that they do matters for a long time.
const WAYS: &str = "(role me) (role you) (way a) (way b) (way c) (init (step 1))
    (follows 1 2) (follows 2 3) (follows 3 4) (follows 4 5) (follows 5 6) (follows 6 7)
    (odd 1) (odd 3) (odd 5)
    (<= (turn me) (true (step ?n)) (odd ?n)) (<= (turn you) (not (turn me)))
    (<= (legal ?r ?w) (turn ?r) (way ?w)) (<= (legal ?r noop) (role ?r) (not (turn ?r)))
    (<= (next (mine ?w)) (true (step 1)) (does me ?w))
    (<= (next (mine ?w)) (true (mine ?w)))
    (<= (next (pair ?w ?v)) (true (step 2)) (true (mine ?w)) (does you ?v))
    (<= (next (pair ?w ?v)) (true (pair ?w ?v)))
    (<= (next (step ?m)) (true (step ?n)) (follows ?n ?m))
    (<= terminal (true (step 7))) (goal me 50) (goal you 50)";

/// The first move of the player with an evaluation by these features, with `budget` states; what
/// it looks worth, if the player says so; and how many states were expanded.
fn first_move(budget: u64, features: &[(&str, &[f64])]) -> (String, Option<String>, u64) {
    let mut machine = testing::machine(WAYS);
    let evaluation = testing::linear(machine.game(), features);
    let mut options = Options::new();
    if !features.is_empty() {
        options.set("evaluation", Value::Learned(evaluation));
    }
    let mut player = make(&options).unwrap();
    player.check(machine.fork()).unwrap();
    let seat_machine = machine.fork().into();
    let seat =
        Seat { machine: seat_machine, role: ME, start_clock: None, play_clock: None, seed: 1 };
    player.start(seat, &Stop::never().after_nodes(0)).unwrap();
    let (state, mut legal) = (machine.initial_state().unwrap(), Vec::new());
    machine.legal_moves(&state, ME, &mut legal).unwrap();
    let turn = Turn { step: 0, observation: None, legal: &legal };
    let chosen = player.play(&turn, &Stop::never().after_nodes(budget)).unwrap();
    let said = player.deliberation().unwrap();
    assert!(said.value.is_none() && said.candidates.iter().all(|it| it.value.is_none()));
    let looks = said.notes.iter().find_map(|note| {
        let rest = note.strip_prefix("the move looks worth ")?;
        Some(rest.strip_suffix(" by the evaluation")?.to_owned())
    });
    (machine.move_expression(chosen).to_string(), looks, said.nodes)
}

/// Where nothing is proven, the player makes the move that looks best by the states that were
/// expanded, in which others reply with what looks worst.
#[test]
fn the_move_that_looks_best_is_played_where_nothing_is_proven() {
    let b: (&str, &[f64]) = ("count (mine b)", &[1.0, 0.0]);
    let c: (&str, &[f64]) = ("count (mine c)", &[2.0, 0.0]);
    let refutation: (&str, &[f64]) = ("count (pair c b)", &[-9.0, 0.0]);
    let check = |budget, features: &[(&str, &[f64])], (action, looks): (&str, Option<&str>)| {
        let expected = (action.to_owned(), looks.map(str::to_owned), budget);
        assert_eq!(first_move(budget, features), expected);
    };
    check(1, &[], ("a", None));
    check(1, &[b], ("b", Some("73.1")));
    check(5, &[b], ("b", Some("73.1")));
    check(1, &[b, c, refutation], ("c", Some("88.1")));
    // The second state that is expanded is the one after c, where `you` refutes it.
    check(2, &[b, c, refutation], ("b", Some("73.1")));
    check(9, &[b, c, refutation], ("b", Some("73.1")));
}

/// The most promising way leads round a circle; the search goes on elsewhere.
#[test]
fn estimates_do_not_keep_the_search_in_a_circle() {
    let inner = |children: Vec<usize>| Node::Inner { n_moves: vec![children.len()], children };
    let nodes = vec![
        inner(vec![1, 2]),
        inner(vec![0, 0, 0]),
        inner(vec![3]),
        inner(vec![4]),
        Node::Leaf(vec![60]),
    ];
    let graph = Graph { roles: vec!["me"], nodes };
    let machine = graph.machine();
    for evaluation in ["none", "mobility"] {
        let mut player = player(evaluation);
        let seat_machine = machine.fork().into();
        let seat =
            Seat { machine: seat_machine, role: ME, start_clock: None, play_clock: None, seed: 1 };
        player.start(seat, &Stop::never().after_nodes(100)).unwrap();
        let tree = &player.tree;
        assert_eq!(tree.nodes[tree.root].lower, 60.0);
    }
}

/// Playouts of an evaluation count as nodes; if the budget ends them, the state is expanded all the
/// same, without more estimates.
#[test]
fn a_state_is_expanded_though_playouts_use_up_the_budget() {
    let machine = testing::shipped("connect_three");
    let mut player = player("monte_carlo");
    let seat_machine = machine.fork().into();
    let seat =
        Seat { machine: seat_machine, role: ME, start_clock: None, play_clock: None, seed: 1 };
    player.start(seat, &Stop::never().after_nodes(200)).unwrap();
    let root = &player.tree.nodes[player.tree.root];
    assert!(root.is_expanded && root.actions.len() > 1);
    let children = root.children.iter().map(|&at| at as usize);
    let estimated = children.filter(|&at| player.tree.nodes[at].estimate.is_some()).count();
    assert!(0 < estimated && estimated < root.actions.len(), "{estimated}");
}

#[test]
fn an_evaluation_is_of_the_game_and_does_not_depend_on_the_present_state() {
    let mut options = Options::new();
    for wrong in ["novelty", "goal + novelty", "gold"] {
        options.set("evaluation", wrong);
        let refused = make(&options).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(EVALUATION.accepts), "{refused}");
    }
    options.set("evaluation", "none");
    assert!(make(&options).is_ok());
    let machine = testing::machine(WAYS);
    options.set("evaluation", Value::Learned(testing::linear(machine.game(), &[])));
    let refused = make(&options).unwrap().check(testing::shipped("nim"));
    assert!(matches!(refused, Err(Failure::Unsuitable(_))), "{refused:?}");
}
