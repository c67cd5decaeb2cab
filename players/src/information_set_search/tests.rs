//! Information-set search held against other methods over synthetic games.

use proptest::prelude::*;

use super::*;
use crate::testing::{Graph, Movers, Node, hiding, joint_moves, machine, minimax};

const ROLES: [&str; 3] = ["me", "other", "random"];

/// The value at the beginning; 0 where the game has ended already.
fn value(machine: &mut dyn StateMachine, model: Model) -> f64 {
    let state = machine.initial_state().unwrap();
    let mut legal = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut legal).unwrap();
    let settings = BeliefSearchSettings { model, most_states: 1_000_000, depth: 0 };
    let stop = Stop::never();
    let belief = Belief::certain(state);
    let search = BeliefSearch::new(machine, RoleId(0), settings, &stop);
    let said = search.deepen(&belief, &legal).unwrap();
    assert!(said.completed);
    said.candidates.iter().filter_map(|candidate| candidate.value).fold(0.0, f64::max)
}

/// The value with open states against random replies.
fn against_random(graph: &Graph, node: usize) -> f64 {
    let n_moves = match &graph.nodes[node] {
        Node::Leaf(rewards) => return f64::from(rewards[0]),
        Node::Inner { n_moves, .. } => n_moves,
    };
    let mut sums = vec![0.0; n_moves[0]];
    for moves in joint_moves(n_moves) {
        sums[moves[0]] += against_random(graph, graph.child(node, &moves));
    }
    let n_replies: usize = n_moves[1..].iter().product();
    sums.into_iter().fold(0.0, f64::max) / n_replies as f64
}

/// The value with open states against replies that know the move.
fn paranoid(graph: &Graph) -> f64 {
    let mut machine = graph.machine();
    let state = machine.initial_state().unwrap();
    minimax(machine.as_mut(), &state)
}

fn graphs() -> impl Strategy<Value = Graph> {
    let movers = prop_oneof![Just(Movers::Alternating), Just(Movers::Simultaneous)];
    (any::<u64>(), movers, 1..5usize)
        .prop_map(|(seed, movers, n_layers)| Graph::random(seed, &ROLES, movers, n_layers))
}

const SLACK: f64 = 1e-6;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With nothing hidden it is expectiminimax, or expectimax against random replies.
    #[test]
    fn with_open_states_it_is_expectiminimax(graph in graphs()) {
        let mut open = hiding(&graph, graph.nodes.len());
        prop_assert!((value(open.as_mut(), Model::Cautious) - paranoid(&graph)).abs() < SLACK);
        let expected = against_random(&graph, 0);
        prop_assert!((value(open.as_mut(), Model::Uniform) - expected).abs() < SLACK);
    }

    /// What is hidden never helps, the less so the less it is; and caution never expects
    /// more than random opponents leave.
    #[test]
    fn knowing_more_is_never_worse(graph in graphs()) {
        let uniform = [1, 2, 4, graph.nodes.len()]
            .map(|n_looks| value(hiding(&graph, n_looks).as_mut(), Model::Uniform));
        // Each tells all that the one before it does, and more.
        prop_assert!(uniform.windows(2).all(|pair| pair[0] <= pair[1] + SLACK), "{uniform:?}");
        for (n_looks, &against_random) in [1, 2, 4].into_iter().zip(&uniform) {
            let cautious = value(hiding(&graph, n_looks).as_mut(), Model::Cautious);
            prop_assert!(cautious <= paranoid(&graph) + SLACK);
            prop_assert!(cautious <= against_random + SLACK);
        }
    }

    /// Against random opponents the value is that of a best response to uniform play in
    /// the tree of information sets, which is found in quite another way.
    #[test]
    fn against_random_it_is_a_best_response(graph in graphs(), n_looks in 1..5usize) {
        let mut machine = hiding(&graph, n_looks);
        let found = value(machine.as_mut(), Model::Uniform);
        let expected = crate::cfr::tests::best_reward_against_uniform(machine.as_mut(), 0);
        prop_assert!((found - expected).abs() < SLACK, "{found}, {expected}");
    }
}

/// Percepts of the other's moves, added to a game that hides them, help.
#[test]
fn an_added_percept_is_worth_something() {
    let rules = "(role me) (role random) (side heads) (side tails) (init (step 1))
        (<= (legal random (show ?s)) (true (step 1)) (side ?s))
        (<= (legal random noop) (true (step 2)))
        (<= (legal me noop) (true (step 1)))
        (<= (legal me (name ?s)) (true (step 2)) (side ?s))
        (<= (next (coin ?s)) (does random (show ?s)))
        (<= (next (coin ?s)) (true (coin ?s)))
        (<= (next (named ?s)) (does me (name ?s)))
        (<= (next (step 2)) (true (step 1)))
        (<= terminal (true (named ?s)))
        (<= (goal me 100) (true (named ?s)) (true (coin ?s)))
        (<= (goal me 0) (true (named ?s)) (not (true (coin ?s))))
        (goal random 0)
        (<= (sees me (step ?n)) (true (step ?n)))";
    let told = format!("{rules} (<= (sees me (coin ?s)) (does random (show ?s)))");
    assert_eq!(value(machine(rules).as_mut(), Model::Uniform), 50.0);
    assert_eq!(value(machine(&told).as_mut(), Model::Uniform), 100.0);
}
