//! Information-set search held against other methods over synthetic games.

use proptest::prelude::*;

use super::*;
use crate::search::evaluation::EvaluationFunction;
use crate::testing::{self, Graph, Movers, Node, hiding, joint_moves, machine, minimax};

const ROLES: [&str; 3] = ["me", "other", "random"];

/// The value at the beginning; 0 where the game has ended already.
fn value(machine: &mut dyn StateMachine, model: Model) -> f64 {
    let state = machine.initial_state().unwrap();
    let mut legal = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut legal).unwrap();
    let settings = BeliefSearchSettings { model, most_states: 1_000_000, depth: 0 };
    let stop = Stop::never();
    let belief = Belief::certain(state);
    let mut judge = Judge::new(EvaluationFunction::Goal);
    let search = BeliefSearch::new(machine, RoleId(0), settings, &mut judge, &stop);
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

/// `me` goes left or right without knowing the coin; how many moves it has then depends on both.
const TWO_WAYS: &str = "(role me) (role random) (side heads) (side tails) (init (step 1))
    (<= (legal random (show ?s)) (true (step 1)) (side ?s))
    (<= (legal random noop) (not (true (step 1))))
    (<= (legal me noop) (true (step 1)))
    (<= (legal me left) (true (step 2))) (<= (legal me right) (true (step 2)))
    (<= (legal me (pick ?n)) (true (coin ?s)) (true (went ?w)) (open ?w ?s ?n))
    (open left heads 1) (open left heads 2) (open left heads 3) (open left heads 4)
    (open left tails 1)
    (open right heads 1) (open right heads 2) (open right tails 1) (open right tails 2)
    (<= (next (coin ?s)) (does random (show ?s))) (<= (next (coin ?s)) (true (coin ?s)))
    (<= (next (went ?w)) (does me ?w) (true (step 2)))
    (follows 1 2) (follows 2 3) (follows 3 4)
    (<= (next (step ?m)) (true (step ?n)) (follows ?n ?m))
    (<= terminal (true (step 4))) (<= (goal me 70) (true (step 4))) (goal random 0)
    (<= (sees me (step ?n)) (true (step ?n)))";

/// The values of both ways, one step ahead.
fn ways(function: EvaluationFunction) -> Vec<f64> {
    let mut machine = machine(TWO_WAYS);
    let mut line = |coin: &str, weight| {
        let facts = ["(step 2)", coin].map(|fact| games::Expression::parse(fact).unwrap());
        let state = machine.state_of(&facts).unwrap();
        crate::belief::Line { state, knowledge: vec![], weight }
    };
    let lines = vec![line("(coin heads)", 0.5), line("(coin tails)", 0.5)];
    let belief = Belief { lines, is_exact: true };
    let mut legal = Vec::new();
    machine.legal_moves(&belief.lines[0].state, RoleId(0), &mut legal).unwrap();
    let model = Model::Cautious;
    let settings = BeliefSearchSettings { model, most_states: 1_000_000, depth: 1 };
    let (mut judge, stop) = (Judge::new(function), Stop::never());
    let machine = machine.as_mut();
    let search = BeliefSearch::new(machine, RoleId(0), settings, &mut judge, &stop);
    let said = search.deepen(&belief, &legal).unwrap();
    said.candidates.iter().filter_map(|candidate| candidate.value).collect()
}

/// States at the limit are judged one by one, and what the player does not know is averaged.
#[test]
fn states_at_the_limit_have_the_mean_of_their_evaluations() {
    let read = |text| EvaluationFunction::read(text).unwrap();
    assert_eq!(ways(read("goal")), [50.0, 50.0]);
    // Of 4 moves, the most in random play: 4 (cut to 99) or 1, and 2 in both states.
    assert_eq!(ways(read("mobility")), [62.0, 50.0]);
    assert_eq!(ways(read("focus")), [38.0, 50.0]);
    assert_eq!(ways(read("zero")), [0.0, 0.0]);
    assert_eq!(ways(read("monte_carlo")), [70.0, 70.0]);
    assert_eq!(ways(read("goal + mobility")), [56.0, 50.0]);
    // The player knows that it is step 2; the coin is not known, and the step and the way are new.
    assert_eq!(ways(read("novelty")), [99.0, 99.0]);
    let machine = machine(TWO_WAYS);
    let learned = testing::linear(machine.game(), &[("count (went right)", &[1.0, 0.0])]);
    let [left, right] = ways(EvaluationFunction::Learned(learned))[..] else { panic!("two ways") };
    assert_eq!(left, 50.0);
    assert!((right - 100.0 / (1.0 + (-1f64).exp())).abs() < SLACK, "{right}");
}

/// The player moves as the evaluation prefers, and refuses one of another game.
#[test]
fn the_player_uses_an_evaluation_of_its_game() {
    let game = machine(TWO_WAYS);
    let rules = game.game();
    let options = |evaluation| {
        let mut options = Options::new();
        options.set("depth", crate::options::Value::Integer(1));
        options.set("evaluation", evaluation);
        options
    };
    let learned = |way: &str| {
        let feature = format!("count (went {way})");
        crate::options::Value::Learned(testing::linear(rules, &[(&feature, &[1.0, 0.0])]))
    };
    for way in ["left", "right"] {
        let mut player = make(&options(learned(way))).unwrap();
        player.check(game.fork()).unwrap();
        let machine = game.fork().into();
        let role = RoleId(0);
        let seat = Seat { machine, role, start_clock: None, play_clock: None, seed: 1 };
        player.start(seat, &Stop::never()).unwrap();
        let mut machine = game.fork();
        let first = machine.initial_state().unwrap();
        let mut legal = Vec::new();
        machine.legal_moves(&first, role, &mut legal).unwrap();
        let turn = Turn { step: 0, observation: None, legal: &legal };
        let own_move = player.play(&turn, &Stop::never()).unwrap();
        let replies = Replies::legal(machine.as_mut(), &first).unwrap().unwrap();
        let mut joint_move = Vec::new();
        replies.joint_move(0, &mut joint_move);
        let percepts = machine.percepts(&first, &joint_move, role).unwrap();
        let mut second = State::default();
        machine.next_state(&first, &joint_move, &mut second).unwrap();
        machine.legal_moves(&second, role, &mut legal).unwrap();
        let observation = crate::Observation::Percepts { own_move, percepts };
        let turn = Turn { step: 1, observation: Some(&observation), legal: &legal };
        let chosen = player.play(&turn, &Stop::never()).unwrap();
        assert_eq!(machine.move_expression(chosen).to_string(), way);
    }
    let mut player = make(&options(learned("left"))).unwrap();
    let other = testing::shipped("kuhn_poker");
    let refused = player.check(other);
    assert!(matches!(refused, Err(Failure::Unsuitable(_))), "{refused:?}");
}
