//! The tree that is shown of a search, held against the lines of synthetic games.

use std::collections::BTreeSet;

use games::StateMachine;
use proptest::prelude::*;

use super::*;
use crate::belief_tree::Seen;
use crate::options::Value;
use crate::testing::{self, Graph, Movers, hiding};
use crate::visit_tree::{VisitEvent, VisitNode, VisitTree};
use crate::{Observation, OwnMachine};

const ROLES: [&str; 3] = ["me", "other", "random"];
const ME: RoleId = RoleId(0);

/// The states that a role thinks possible.
type States = BTreeSet<State>;

fn legal(machine: &mut dyn StateMachine, state: &State, role: RoleId) -> Vec<MoveId> {
    let mut legal = Vec::new();
    machine.legal_moves(state, role, &mut legal).unwrap();
    legal
}

/// The states that may follow if `ME` makes this move, or its only one, and sees this.
fn after(
    machine: &mut dyn StateMachine,
    states: &States,
    action: Option<MoveId>,
    seen: &Seen,
) -> States {
    let Seen::Percepts(percepts) = seen else { panic!("{seen:?}") };
    let mut found = States::new();
    for state in states {
        if machine.is_terminal(state).unwrap() {
            continue;
        }
        let mut replies = Replies::legal(machine, state).unwrap().unwrap();
        match action {
            Some(action) if !replies.fix(ME, action) => continue,
            None if replies.by_role[0].len() > 1 => continue,
            _ => {}
        }
        for number in 0..replies.len() {
            let mut joint_move = Vec::new();
            replies.joint_move(number, &mut joint_move);
            if machine.percepts(state, &joint_move, ME).unwrap() == *percepts {
                let mut next = State::default();
                machine.next_state(state, &joint_move, &mut next).unwrap();
                found.insert(next);
            }
        }
    }
    found
}

/// Checks the whole tree below what `ME` knows: these are its lines, and their visits and means
/// fit each other and the answer.
fn check_whole(
    machine: &mut dyn StateMachine,
    known: &States,
    tree: &VisitTree,
    said: &Deliberation,
) {
    assert_eq!(tree.n_unrecorded, 0);
    let mut places: Vec<(States, Option<MoveId>)> = Vec::new();
    let mut visits_below = vec![0; tree.nodes.len()];
    let mut last_below = vec![u64::MAX; tree.nodes.len()];
    for VisitNode { parent, event, visits, value, is_mine, .. } in &tree.nodes {
        assert!((0.0..=100.0).contains(value) && *visits > 0, "{tree:?}");
        assert_eq!(*is_mine, matches!(event, VisitEvent::Knows(_)));
        if let Some(parent) = *parent {
            visits_below[parent] += visits;
            assert!(*visits <= last_below[parent], "{tree:?}");
            last_below[parent] = *visits;
        }
        let above = parent.map(|parent| &places[parent]);
        places.push(match (event, above) {
            (VisitEvent::Knows(seen), None) => {
                assert!(seen.is_empty());
                (known.clone(), None)
            }
            (VisitEvent::Knows(seen), Some((states, action))) => {
                assert!(action.is_some() && !seen.is_empty());
                let first = after(machine, states, *action, &seen[0]);
                let step = |states, seen| after(machine, &states, None, seen);
                (seen[1..].iter().fold(first, step), None)
            }
            (VisitEvent::Moves { action, n_available }, Some((states, None))) => {
                assert!(*n_available >= tree.nodes[parent.unwrap()].visits, "{tree:?}");
                let mut states = states.clone();
                states.retain(|state| {
                    let legal = legal(machine, state, ME);
                    legal.len() > 1 && legal.contains(action)
                });
                (states, Some(*action))
            }
            _ => panic!("{tree:?}"),
        });
        assert!(!places[places.len() - 1].0.is_empty(), "no line of the game: {tree:?}");
    }
    for (node, below) in tree.nodes.iter().zip(visits_below) {
        match node.event {
            // Every visit of an information set chooses a move; not every move leads to another.
            VisitEvent::Knows(_) => assert_eq!(node.visits, below, "{tree:?}"),
            _ => assert!(node.visits >= below, "{tree:?}"),
        }
    }
    let moves = tree.nodes.iter().filter(|node| node.parent == Some(0));
    let mut shown: Vec<(MoveId, u64, Option<f64>)> = moves
        .map(|node| {
            let VisitEvent::Moves { action, .. } = node.event else { panic!("{node:?}") };
            (action, node.visits, Some(node.value))
        })
        .collect();
    shown.sort_by_key(|&(action, ..)| action);
    let mut answered: Vec<_> =
        said.candidates.iter().map(|it| (it.action, it.visits, it.value)).collect();
    answered.sort_by_key(|&(action, ..)| action);
    assert_eq!(shown, answered);
}

/// The lines to all nodes that are shown, with visits and values.
fn lines(tree: &VisitTree) -> Vec<(Vec<VisitEvent>, u64, f64)> {
    let mut lines: Vec<(Vec<VisitEvent>, u64, f64)> = Vec::new();
    for VisitNode { parent, event, visits, value, .. } in &tree.nodes {
        let mut line = parent.map_or_else(Vec::new, |parent| lines[parent].0.clone());
        line.push(event.clone());
        lines.push((line, *visits, *value));
    }
    lines
}

fn player(iterations: i64, arms: i64, recorded: Option<usize>) -> Box<dyn Player> {
    let options = [("iterations", iterations), ("tree", arms)];
    let mut player = make(&options.into_iter().collect()).unwrap();
    if let Some(max_nodes) = recorded {
        assert!(player.record_tree(Some(max_nodes)));
    }
    player
}

/// Plays a match, in which the others choose at random by `seed`. At each decision the first
/// player's whole tree is checked, and what the second one shows; the third records nothing.
fn check_match(graph: &Graph, n_looks: usize, seed: u64, arms: i64, max_nodes: usize) {
    let mut players = [Some(usize::MAX), Some(max_nodes), None].map(|n| player(40, arms, n));
    let mut machine = hiding(graph, n_looks);
    for player in &mut players {
        let fork = machine.fork();
        let seat = Seat {
            machine: OwnMachine::later(|| fork),
            role: ME,
            start_clock: None,
            play_clock: None,
            seed,
        };
        player.start(seat, &Stop::never()).unwrap();
    }
    let mut rng = seed::generator(seed, None);
    let mut state = machine.initial_state().unwrap();
    let mut known = States::from([state.clone()]);
    let mut observation = None;
    let mut step = 0;
    while !machine.is_terminal(&state).unwrap() {
        let machine = machine.as_mut();
        let own = legal(machine, &state, ME);
        known.retain(|state| {
            !machine.is_terminal(state).unwrap() && legal(machine, state, ME) == own
        });
        let turn = Turn { step, observation: observation.as_ref(), legal: &own };
        let [whole, shown, without] = players.each_mut().map(|player| {
            let answer = player.play(&turn, &Stop::never()).unwrap();
            (answer, player.deliberation().unwrap())
        });
        let said = |(answer, said): &(MoveId, Deliberation)| {
            (*answer, Deliberation { visit_tree: None, ..said.clone() })
        };
        // To record changes nothing.
        assert_eq!((said(&whole), said(&shown)), (without.clone(), without.clone()));
        // A tree without room has no root.
        assert_eq!(whole.1.visit_tree.is_some(), !whole.1.candidates.is_empty());
        assert!(own.len() == 1 || arms < own.len() as i64 || whole.1.visit_tree.is_some());
        if let (Some(whole_tree), Some(shown)) = (&whole.1.visit_tree, &shown.1.visit_tree) {
            check_whole(machine, &known, whole_tree, &whole.1);
            let n_whole = whole_tree.nodes.len();
            assert_eq!(shown.nodes.len(), max_nodes.min(n_whole));
            assert_eq!(shown.nodes.len() as u64 + shown.n_unrecorded, n_whole as u64);
            let whole_lines = lines(whole_tree);
            assert!(lines(shown).iter().all(|line| whole_lines.contains(line)), "{shown:?}");
        }
        let mut replies = Replies::legal(machine, &state).unwrap().unwrap();
        assert!(replies.fix(ME, whole.0));
        let mut joint_move = Vec::new();
        replies.joint_move(rng.random_range(0..replies.len()), &mut joint_move);
        let percepts = machine.percepts(&state, &joint_move, ME).unwrap();
        let seen = Seen::Percepts(percepts.clone());
        known = after(machine, &known, Some(whole.0), &seen);
        observation = Some(Observation::Percepts { own_move: whole.0, percepts });
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        (state, step) = (next, step + 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is shown of a tree are lines of the game, at every decision of a match, also if the
    /// tree is full, and recording changes no move.
    #[test]
    fn the_most_visited_nodes_are_lines_of_the_game(
        seed in any::<u64>(),
        movers in prop_oneof![Just(Movers::Alternating), Just(Movers::Simultaneous)],
        n_layers in 1..7usize,
        n_looks in 1..5usize,
        arms in prop_oneof![0..60i64, Just(1_000_000)],
        max_nodes in 1..30usize,
    ) {
        let graph = Graph::random(seed, &ROLES, movers, n_layers);
        check_match(&graph, n_looks, seed, arms, max_nodes);
    }
}

/// A long game in which every line is worth 50, and states keep the first move.
const WAYS: &str = "(role me) (role random) (way a) (way b) (way c) (init (step 1))
    (follows 1 2) (follows 2 3) (follows 3 4) (follows 4 5) (follows 5 6) (follows 6 7)
    (follows 7 8)
    (<= (legal me ?w) (way ?w)) (legal random noop)
    (<= (next (first ?w)) (true (step 1)) (does me ?w))
    (<= (next (first ?w)) (true (first ?w)))
    (<= (next (step ?m)) (true (step ?n)) (follows ?n ?m))
    (<= terminal (true (step 8))) (goal me 50) (goal random 0)
    (<= (sees me (step ?n)) (true (step ?n)))";

/// The player at the beginning of a game, with 60 iterations and a share of an evaluation.
fn judging(evaluation: Arc<crate::learning::LinearEvaluation>, weight: f64) -> Box<dyn Player> {
    let mut options = Options::new();
    options.set("iterations", 60);
    options.set("evaluation", Value::Learned(evaluation));
    options.set("evaluation_weight", weight);
    make(&options).unwrap()
}

fn seat(machine: &dyn StateMachine) -> Seat {
    let machine = machine.fork().into();
    Seat { machine, role: ME, start_clock: None, play_clock: None, seed: 1 }
}

/// Every line after a move looks the same to the evaluation, so that the values of moves are known.
#[test]
fn moves_are_worth_the_shares_of_evaluation_and_playouts() {
    let mut machine = testing::machine(WAYS);
    let features: [(&str, &[f64]); 2] =
        [("count (first b)", &[2.0, 0.0]), ("count (first c)", &[1.0, 0.0])];
    let evaluation = testing::linear(machine.game(), &features);
    let start = machine.initial_state().unwrap();
    let legal = legal(machine.as_mut(), &start, ME);
    let logistic = |sum: f64| 100.0 / (1.0 + (-sum).exp());
    for weight in [0.0, 0.5, 1.0] {
        let mut player = judging(Arc::clone(&evaluation), weight);
        player.check(machine.fork()).unwrap();
        player.start(seat(machine.as_ref()), &Stop::never()).unwrap();
        let turn = Turn { step: 0, observation: None, legal: &legal };
        let chosen = player.play(&turn, &Stop::never()).unwrap();
        let said = player.deliberation().unwrap();
        assert_eq!(said.leaves, 60);
        assert_eq!(said.playouts, if weight < 1.0 { 60 } else { 0 });
        for Candidate { action, value, .. } in said.candidates {
            let sum = match machine.move_expression(action).to_string().as_str() {
                "b" => 2.0,
                "c" => 1.0,
                _ => 0.0,
            };
            let expected = weight * logistic(sum) + (1.0 - weight) * 50.0;
            assert!((value.unwrap() - expected).abs() < 1e-9, "{value:?}, {expected}");
        }
        assert!(weight == 0.0 || machine.move_expression(chosen).to_string() == "b");
    }
}

#[test]
fn an_evaluation_of_another_game_is_refused() {
    let (machine, other) = (testing::machine(WAYS), testing::shipped("kuhn_poker"));
    let mut player = judging(testing::linear(machine.game(), &[]), 1.0);
    for refused in [player.check(other.fork()), player.start(seat(&*other), &Stop::never())] {
        assert!(matches!(refused, Err(Failure::Unsuitable(_))), "{refused:?}");
    }
}
