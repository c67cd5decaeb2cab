//! Proofs held against plain recursions over synthetic games, at every node of the tree.

use std::sync::Arc;

use games::solve::matrix;
use games::{PlayoutMoves, RoleId, State};
use proptest::prelude::*;

use super::bounds::share;
use super::estimate::Estimator;
use super::move_averages::Preference;
use super::recycling::{Recycled, Recycler};
use super::regret_matching::Simultaneous;
use super::search::{Search, Settings};
use super::team;
use super::tree::Kind;
use crate::learning::{LinearEvaluation, Trainer, TrainingSettings};
use crate::search::track::Track;
use crate::testing::{Graph, Movers, Node, joint_moves, shipped};
use crate::visit_tree::{Known, VisitEvent, VisitNode, VisitTree};
use crate::{Deliberation, ExpectedStep, Seat, Stop, seed};

const SETTINGS: Settings = Settings {
    exploration: 0.2,
    first_play: 0.0,
    unexpanded: 1,
    leaves: 4,
    lanes: 2,
    max_length: 100,
    memory: 1 << 30,
    evaluated_exploration: 0.1,
    playout_moves: PlayoutMoves::Decisive,
    preference: Preference { probability: 0.5, margin: 0.0 },
    simultaneous: Simultaneous::Ucb,
};

/// Searches a whole graph for role 0, judging by playouts.
fn run(graph: &Graph, settings: Settings, limit: u64) -> (Search, Track, u32) {
    run_by(graph, settings, limit, None)
}

/// The same, judging by an evaluation if there is one.
fn run_by(
    graph: &Graph,
    settings: Settings,
    limit: u64,
    evaluation: Option<LinearEvaluation>,
) -> (Search, Track, u32) {
    let machine = graph.machine().into();
    let seat = Seat { machine, role: RoleId(0), start_clock: None, play_clock: None, seed: 1 };
    let mut track = Track::new(seat, "mcts").unwrap();
    let state = track.begin(&Stop::never()).unwrap().unwrap();
    let mut search = Search::new(track.machine.game(), settings, seed::generator(1, None));
    if let Some(evaluation) = evaluation {
        search.set_estimator(Estimator::new(Arc::new(evaluation), 1.0, track.machine.game()));
    }
    let root =
        team::search(&mut search, track.machine.as_mut(), &mut [], &state, &Stop::never(), limit)
            .unwrap();
    (search, track, root)
}

/// An evaluation of a graph's states, hardly trained; `None` if all states look alike.
fn evaluation(graph: &Graph) -> Option<LinearEvaluation> {
    let trainer = Trainer::new(graph.machine(), TrainingSettings::default(), &Stop::never());
    let mut trainer = trainer.ok()?;
    (0..3).for_each(|_| assert!(trainer.play_match(&Stop::never()).unwrap()));
    Some(trainer.evaluation())
}

/// The value of a state for a role if the others choose by `fold`, knowing its move;
/// `late` if it knows theirs instead.
fn value(graph: &Graph, node: usize, role: usize, fold: fn(f64, f64) -> f64, late: bool) -> f64 {
    let n_moves = match &graph.nodes[node] {
        Node::Leaf(rewards) => return f64::from(rewards[role]),
        Node::Inner { n_moves, .. } => n_moves,
    };
    let chance = graph.roles.iter().position(|&role| role == "random");
    let own: Vec<usize> = (0..n_moves[role]).collect();
    let mut others = n_moves.clone();
    others[role] = 1;
    if let Some(chance) = chance {
        others[chance] = 1;
    }
    let mean = |own: usize, other: &[usize]| {
        let n = chance.map_or(1, |chance| n_moves[chance]);
        let drawn = (0..n).map(|drawn| {
            let mut moves = other.to_vec();
            moves[role] = own;
            if let Some(chance) = chance {
                moves[chance] = drawn;
            }
            value(graph, graph.child(node, &moves), role, fold, late)
        });
        drawn.sum::<f64>() / n as f64
    };
    if late {
        let best = |other: &[usize]| own.iter().map(|&own| mean(own, other)).fold(0.0, f64::max);
        return joint_moves(&others).map(|other| best(&other)).reduce(fold).unwrap();
    }
    let reply =
        |own: usize| joint_moves(&others).map(|other| mean(own, &other)).reduce(fold).unwrap();
    own.iter().map(|&own| reply(own)).fold(0.0, f64::max)
}

/// The value of a state for one of two roles if the other one is opposed to it, and both may draw
/// their moves where they choose at the same time.
fn mixed_value(graph: &Graph, node: usize, role: usize) -> f64 {
    let n_moves = match &graph.nodes[node] {
        Node::Leaf(rewards) => return f64::from(rewards[role]),
        Node::Inner { n_moves, .. } => n_moves,
    };
    let is_chance = |&role: &usize| graph.roles[role] == "random";
    let other = (0..n_moves.len()).find(|other| *other != role && !is_chance(other)).unwrap();
    let chance = (0..n_moves.len()).find(is_chance);
    let n_drawn = chance.map_or(1, |chance| n_moves[chance]);
    let entry = |own, others| {
        let after = |drawn| {
            let mut moves = vec![0; n_moves.len()];
            chance.iter().for_each(|&chance| moves[chance] = drawn);
            (moves[role], moves[other]) = (own, others);
            mixed_value(graph, graph.child(node, &moves), role)
        };
        (0..n_drawn).map(after).sum::<f64>() / n_drawn as f64
    };
    let row = |own| (0..n_moves[other]).map(|others| entry(own, others)).collect();
    matrix::solve(&(0..n_moves[role]).map(row).collect::<Vec<Vec<f64>>>()).0
}

/// The graph's node of a state of the tree.
fn node_of(search: &Search, track: &Track, at: u32) -> usize {
    let mut state = State::default();
    state.set_words(search.tree.state(at));
    let fact = track.machine.facts(&state)[0].to_string();
    fact.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

/// Nothing that the search claims to have proven is wrong.
fn check_proofs(graph: &Graph, search: &Search, track: &Track) {
    for at in 0..search.tree.nodes.len() as u32 {
        let node = node_of(search, track, at);
        for role in (0..graph.roles.len()).filter(|&role| graph.roles[role] != "random") {
            let bounds = search.tree.bounds(at)[role];
            let [low, high] =
                [bounds.low, bounds.high].map(|units| 100.0 * f64::from(share(units)));
            let pure = |fold, late| value(graph, node, role, fold, late);
            let (enforced, most) = match search.roles.opposed {
                true if search.roles.mix => {
                    let value = mixed_value(graph, node, role);
                    (value, value)
                }
                true => (pure(f64::min, false), pure(f64::min, true)),
                false => (pure(f64::min, false), pure(f64::max, false)),
            };
            assert!(low <= enforced + 1e-3, "{role} in {node}: {low} > {enforced}\n{graph:?}");
            assert!(high >= most - 1e-3, "{role} in {node}: {high} < {most}\n{graph:?}");
        }
    }
}

/// Rewards of the second role are what the first leaves of 100.
fn constant_sum(mut graph: Graph) -> Graph {
    for node in &mut graph.nodes {
        if let Node::Leaf(rewards) = node {
            rewards[1] = 100 - rewards[0];
        }
    }
    graph
}

/// The moves that lead to a position.
fn step(node: &VisitNode) -> &ExpectedStep {
    let VisitEvent::Position(step) = &node.event else { panic!("{node:?}") };
    step
}

/// The lines to all positions that are shown, with the visits of the last step.
fn lines(tree: &VisitTree) -> Vec<(Vec<ExpectedStep>, u64)> {
    let mut lines: Vec<(Vec<ExpectedStep>, u64)> = Vec::new();
    for node @ VisitNode { parent, visits, .. } in &tree.nodes {
        let mut line = parent.map_or_else(Vec::new, |parent| lines[parent].0.clone());
        line.push(step(node).clone());
        lines.push((line, *visits));
    }
    lines
}

fn movers() -> impl Strategy<Value = Movers> {
    prop_oneof![Just(Movers::Alternating), Just(Movers::Simultaneous)]
}

fn simultaneous() -> impl Strategy<Value = Simultaneous> {
    prop_oneof![Just(Simultaneous::Ucb), Just(Simultaneous::RegretMatching)]
}

fn roles() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        Just(vec!["a"]),
        Just(vec!["a", "b"]),
        Just(vec!["a", "b", "c"]),
        Just(vec!["a", "random"]),
        Just(vec!["a", "random", "b"]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn no_proof_is_wrong(
        seed in any::<u64>(),
        roles in roles(),
        movers in movers(),
        n_layers in 1usize..6,
        limit in 1u64..300,
        simultaneous in simultaneous(),
    ) {
        let graph = Graph::random(seed, &roles, movers, n_layers);
        let (search, track, _) = run(&graph, Settings { simultaneous, ..SETTINGS }, limit);
        check_proofs(&graph, &search, &track);
    }

    #[test]
    fn no_proof_is_wrong_where_rewards_are_opposed(
        seed in any::<u64>(),
        chance in any::<bool>(),
        movers in movers(),
        n_layers in 1usize..6,
        limit in 1u64..300,
        simultaneous in simultaneous(),
    ) {
        let roles: &[_] = if chance { &["a", "b", "random"] } else { &["a", "b"] };
        let graph = constant_sum(Graph::random(seed, roles, movers, n_layers));
        let (search, track, _) = run(&graph, Settings { simultaneous, ..SETTINGS }, limit);
        prop_assert!(search.roles.opposed);
        check_proofs(&graph, &search, &track);
    }

    /// Games of two roles in turn are solved, and the answer has the value of minimax.
    #[test]
    fn small_games_are_solved(
        seed in any::<u64>(),
        n_layers in 1usize..6,
        leaves in 1usize..9,
    ) {
        let graph = constant_sum(Graph::random(seed, &["a", "b"], Movers::Alternating, n_layers));
        let (search, track, root) = run(&graph, Settings { leaves, ..SETTINGS }, 20_000);
        let minimax = value(&graph, 0, 0, f64::min, false);
        if search.tree.node(root).kind == Kind::End {
            return Ok(());
        }
        let (action, found) = search.answer(root, RoleId(0), &mut seed::generator(seed, None));
        prop_assert!(found.completed, "{:?}", found);
        prop_assert!((found.value.unwrap() - minimax).abs() < 1e-3, "{:?}, not {minimax}", found.value);
        let action = track.machine.move_expression(action.unwrap()).to_string();
        let index: usize = action[1..].parse().unwrap();
        let child = graph.child(0, &[index, 0]);
        prop_assert_eq!(value(&graph, child, 0, f64::min, false), minimax);
    }

    /// With an evaluation proofs are as right, and games of two roles in turn are solved, too.
    #[test]
    fn an_evaluation_proves_nothing_wrong(
        seed in any::<u64>(),
        chance in any::<bool>(),
        movers in movers(),
        n_layers in 1usize..6,
        limit in 1u64..300,
    ) {
        let roles: &[_] = if chance { &["a", "b", "random"] } else { &["a", "b"] };
        let graph = constant_sum(Graph::random(seed, roles, movers, n_layers));
        let Some(evaluation) = evaluation(&graph) else { return Ok(()) };
        let (search, track, _) = run_by(&graph, SETTINGS, limit, Some(evaluation.clone()));
        check_proofs(&graph, &search, &track);
        if movers == Movers::Alternating && !chance {
            let (search, _, root) = run_by(&graph, SETTINGS, 20_000, Some(evaluation));
            prop_assert!(search.tree.is_settled(root));
            let worth = search.tree.bounds(root)[0].reward();
            prop_assert!((worth - value(&graph, 0, 0, f64::min, false)).abs() < 1e-3);
        }
    }

    /// What is shown of a tree are lines of the game, with what is known where they lead.
    #[test]
    fn the_most_visited_positions_are_lines_of_the_game(
        seed in any::<u64>(),
        roles in roles(),
        movers in movers(),
        n_layers in 1usize..6,
        limit in 1u64..300,
        max_nodes in 1usize..40,
    ) {
        let graph = Graph::random(seed, &roles, movers, n_layers);
        let (search, track, root) = run(&graph, SETTINGS, limit);
        let whole = search.visit_tree(root, RoleId(0), usize::MAX);
        prop_assert_eq!(whole.n_unrecorded, 0);
        let shown = search.visit_tree(root, RoleId(0), max_nodes);
        prop_assert_eq!(shown.nodes.len(), max_nodes.min(whole.nodes.len()));
        prop_assert!(shown.nodes.len() as u64 + shown.n_unrecorded <= whole.nodes.len() as u64);
        let mut places: Vec<usize> = Vec::new();
        let mut last_below = vec![u64::MAX; whole.nodes.len()];
        for node in &whole.nodes {
            let mut place = 0;
            if let Some(parent) = node.parent {
                prop_assert!(node.visits <= last_below[parent], "{:?}", whole);
                last_below[parent] = node.visits;
                let mut moves = vec![0; roles.len()];
                for &(role, action) in step(node) {
                    let action = track.machine.move_expression(action).to_string();
                    moves[usize::from(role.0)] = action[1..].parse().unwrap();
                }
                place = graph.child(places[parent], &moves);
            }
            places.push(place);
            let is_leaf = matches!(graph.nodes[place], Node::Leaf(_));
            if node.visits > 0 {
                prop_assert_eq!(node.known == Known::Terminal, is_leaf);
            }
            if node.known != Known::Sampled {
                let worth = value(&graph, place, 0, f64::min, false);
                prop_assert!((node.value - worth).abs() < 1e-1, "{:?}: {worth}", node);
            }
        }
        let (shown, whole) = (lines(&shown), lines(&whole));
        prop_assert!(shown.iter().all(|line| whole.contains(line)), "{:?}, {:?}", shown, whole);
    }

    /// A tree that is full forgets cold nodes and nothing that matters: visits, values and
    /// proofs of what is left.
    #[test]
    fn recycling_keeps_what_is_left(seed in any::<u64>(), movers in movers(), roles in roles()) {
        let graph = Graph::random(seed, &roles, movers, 6);
        let (mut search, track, root) = run(&graph, SETTINGS, 200);
        if search.tree.node(root).kind == Kind::End {
            return Ok(());
        }
        let known = |search: &Search, at: u32| {
            let tree = &search.tree;
            (tree.node(at).visits, tree.means(at).to_vec(), tree.bounds(at).to_vec())
        };
        let before: std::collections::BTreeMap<usize, _> = (0..search.tree.nodes.len() as u32)
            .map(|at| (node_of(&search, &track, at), known(&search, at)))
            .collect();
        let n = search.tree.nodes.len();
        let mut recycler = Recycler::new(1 << 30);
        let Recycled::Root(root) = recycler.recycle(&mut search.tree, root, &Stop::never()) else {
            panic!("there is time")
        };
        prop_assert!(search.tree.nodes.len() <= n);
        for at in 0..search.tree.nodes.len() as u32 {
            let node = node_of(&search, &track, at);
            prop_assert_eq!(&known(&search, at), &before[&node]);
            prop_assert_eq!(search.tree.find(search.tree.state(at)), Some(at));
            let mut children = Vec::new();
            search.tree.children(at, &mut |child| children.push(node_of(&search, &track, child)));
            if let Node::Inner { children: all, .. } = &graph.nodes[node] {
                prop_assert!(children.iter().all(|child| all.contains(child)));
            }
        }
        prop_assert!(search.tree.node(root).kind != Kind::Leaf);
        // And the search goes on.
        let mut track = track;
        let state = track.begin(&Stop::never()).unwrap().unwrap();
        team::search(&mut search, track.machine.as_mut(), &mut [], &state, &Stop::never(), 100).unwrap();
        check_proofs(&graph, &search, &track);
    }
}

/// The reply after `moves` moves that are each the first legal one.
fn reply(game: &str, moves: usize, nodes: u64, early: bool) -> (String, Deliberation) {
    let mut machine = shipped(game);
    let mut state = machine.initial_state().unwrap();
    let roles = machine.game().role_ids();
    for _ in 0..moves {
        let mut joint_move = Vec::new();
        for role in roles.clone() {
            let mut legal = Vec::new();
            machine.legal_moves(&state, role, &mut legal).unwrap();
            joint_move.push(legal[0]);
        }
        let mut next = games::State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
    }
    let me = RoleId((moves % 2) as u8);
    let preference = Preference { probability: 0.0, margin: 0.0 };
    let settings = Settings { leaves: 32, lanes: 16, unexpanded: 4, preference, ..SETTINGS };
    let mut search = Search::new(machine.game(), settings, seed::generator(1, None));
    search.reply_once_decided(early.then_some(me));
    let stop = Stop::never().after_nodes(nodes);
    let root =
        team::search(&mut search, machine.as_mut(), &mut [], &state, &stop, u64::MAX).unwrap();
    let (action, said) = search.answer(root, me, &mut seed::generator(1, None));
    (machine.move_expression(action.unwrap()).to_string(), said)
}

/// A reply before the end is the reply at the end, and costs fewer nodes.
#[test]
fn a_decided_move_does_not_change() {
    let mut n_early = 0;
    for game in ["connect_four", "breakthrough_6x6", "othello_6x6", "hex_5x5"] {
        for moves in [0, 1, 2, 4, 6] {
            for nodes in [60_000, 300_000] {
                let (expected, whole) = reply(game, moves, nodes, false);
                let (chosen, said) = reply(game, moves, nodes, true);
                // A proof may come later.
                let is_same = chosen == expected || whole.proven && !said.proven;
                assert!(is_same, "{game} after {moves} moves, {nodes} nodes: {said:?} {whole:?}");
                let is_early = said.notes.iter().any(|note| note.starts_with("replied early"));
                assert_eq!(is_early, said.nodes < whole.nodes, "{said:?}");
                n_early += usize::from(is_early);
            }
        }
    }
    assert!(n_early >= 5, "{n_early}");
}
