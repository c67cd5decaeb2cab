//! The search held against plain recursions over synthetic games.

mod enhancements;

use games::RoleId;
use proptest::prelude::*;

use super::*;
use crate::testing::{Graph, Movers, Node, joint_moves};

const PLAIN: Settings = Settings { evaluation: EvaluationFunction::Goal, ..Settings::TEXTBOOK };
const MINIMAX: Settings = Settings { window: BOUNDED, ..PLAIN };
const ALPHA_BETA: Settings =
    Settings { window: OUTSIDE, narrow: true, chance_cuts: ChanceCuts::Star1, ..PLAIN };
const NARROW: Settings = Settings { window: BOUNDED, ..ALPHA_BETA };

/// What a search of a whole graph found and did.
struct Run {
    action: Option<usize>,
    strategy: Option<Vec<f64>>,
    value: f64,
    proven: bool,
    completed: bool,
    deliberation: Deliberation,
    leaves: Vec<f64>,
}

fn run(graph: &Graph, settings: Settings) -> Run {
    run_until(graph, settings, &Stop::never())
}

fn run_until(graph: &Graph, settings: Settings, stop: &Stop) -> Run {
    let mut machine = graph.machine();
    let state = machine.initial_state().unwrap();
    let mut moves = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut moves).unwrap();
    let mut memory = Memory::default();
    let mut search = Search::new(machine.as_mut(), RoleId(0), settings, &mut memory, stop);
    let answer = search.best_move(&state).unwrap();
    let index = |id| moves.iter().position(|&other| other == id).unwrap();
    Run {
        action: answer.action.map(index),
        strategy: answer.strategy.map(|mixed| mixed.iter().map(|&(_, share)| share).collect()),
        value: answer.value.map_or(f64::NAN, |value| value.score),
        proven: answer.value.is_some_and(|value| value.proven),
        completed: search.deliberation().completed,
        deliberation: search.deliberation(),
        leaves: search.leaf_log,
    }
}

/// The textbook's value, without any of the search's machinery: `fold` says how
/// the values of the joint replies of roles other than chance are weighed.
fn value(graph: &Graph, node: usize, fold: fn(f64, f64) -> f64) -> f64 {
    let n_moves = match &graph.nodes[node] {
        Node::Leaf(rewards) => return f64::from(rewards[0]),
        Node::Inner { n_moves, .. } => n_moves,
    };
    let is_chance = graph.roles.last() == Some(&"random");
    let n_chance = if is_chance { n_moves[n_moves.len() - 1] } else { 1 };
    let strategic = n_moves.len() - usize::from(is_chance);
    let mut best = f64::NEG_INFINITY;
    for own in 0..n_moves[0] {
        let mut replies: Option<f64> = None;
        for others in joint_moves(&n_moves[1..strategic]) {
            let mean = (0..n_chance)
                .map(|chance| {
                    let mut moves = vec![own];
                    moves.extend(&others);
                    if is_chance {
                        moves.push(chance);
                    }
                    value(graph, graph.child(node, &moves), fold)
                })
                .sum::<f64>()
                / n_chance as f64;
            replies = Some(replies.map_or(mean, |replies| fold(replies, mean)));
        }
        best = best.max(replies.unwrap());
    }
    best
}

/// Everyone's reward by max-n: role 0 first, the others in order, ties against
/// role 0.
fn max_n(graph: &Graph, node: usize) -> Vec<f64> {
    fn choose(graph: &Graph, node: usize, n_moves: &[usize], chosen: &[usize]) -> Vec<f64> {
        let role = chosen.len();
        if role == n_moves.len() {
            return max_n(graph, graph.child(node, chosen));
        }
        let lines = (0..n_moves[role]).map(|index| {
            let chosen: Vec<usize> = chosen.iter().copied().chain([index]).collect();
            choose(graph, node, n_moves, &chosen)
        });
        let better = |best: Vec<f64>, line: Vec<f64>| {
            let wins = line[role] > best[role]
                || (role > 0 && line[role] == best[role] && line[0] < best[0]);
            if wins { line } else { best }
        };
        lines.reduce(better).unwrap()
    }
    match &graph.nodes[node] {
        Node::Leaf(rewards) => rewards.iter().map(|&reward| f64::from(reward)).collect(),
        Node::Inner { n_moves, .. } => choose(graph, node, n_moves, &[]),
    }
}

/// Number of nodes of the whole tree.
fn n_nodes(graph: &Graph, node: usize) -> u64 {
    match &graph.nodes[node] {
        Node::Leaf(_) => 1,
        Node::Inner { children, .. } => {
            1 + children.iter().map(|&child| n_nodes(graph, child)).sum::<u64>()
        }
    }
}

fn deterministic() -> impl Strategy<Value = Graph> {
    let movers = prop_oneof![Just(Movers::Alternating), Just(Movers::Simultaneous)];
    let roles = prop_oneof![Just(vec!["a"]), Just(vec!["a", "b"]), Just(vec!["a", "b", "c"])];
    (any::<u64>(), roles, movers, 1usize..4)
        .prop_map(|(seed, roles, movers, n_layers)| Graph::random(seed, &roles, movers, n_layers))
}

fn with_chance() -> impl Strategy<Value = Graph> {
    let movers = prop_oneof![Just(Movers::Alternating), Just(Movers::Simultaneous)];
    let roles = prop_oneof![Just(vec!["a", "random"]), Just(vec!["a", "b", "random"])];
    (any::<u64>(), roles, movers, 1usize..4)
        .prop_map(|(seed, roles, movers, n_layers)| Graph::random(seed, &roles, movers, n_layers))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Minimax is the textbook's value over the whole tree; bounded minimax and
    /// alpha-beta find the same value and the same move with no more nodes.
    #[test]
    fn cuts_change_neither_value_nor_move(graph in deterministic()) {
        let plain = run(&graph, PLAIN);
        prop_assert_eq!(plain.value, value(&graph, 0, f64::min));
        prop_assert_eq!(plain.deliberation.nodes, n_nodes(&graph, 0));
        prop_assert_eq!(plain.deliberation.next_calls + 1, plain.deliberation.nodes);
        let mut fewest = plain.deliberation.nodes;
        for settings in [MINIMAX, NARROW] {
            let cut = run(&graph, settings.clone());
            prop_assert_eq!((cut.value, cut.action), (plain.value, plain.action));
            prop_assert!(cut.deliberation.nodes <= fewest);
            fewest = cut.deliberation.nodes;
        }
        let outside = run(&graph, ALPHA_BETA);
        prop_assert_eq!((outside.value, outside.action), (plain.value, plain.action));
        prop_assert!((fewest..=plain.deliberation.nodes).contains(&outside.deliberation.nodes));
        prop_assert!(plain.proven && outside.proven && plain.completed);
    }

    /// The fail-soft value of any window is exact inside it and a bound on the
    /// right side outside of it; clamped, it is the fail-hard value.
    #[test]
    fn windows_bound_the_value(graph in deterministic(), alpha in 0u8..100, width in 1u8..100) {
        let exact = value(&graph, 0, f64::min);
        let (alpha, beta) = (f64::from(alpha), f64::from(alpha) + f64::from(width));
        let found = run(&graph, Settings { window: (alpha, beta), ..ALPHA_BETA }).value;
        prop_assert_eq!(found.clamp(alpha, beta), exact.clamp(alpha, beta));
        if found <= alpha {
            prop_assert!(exact <= found);
        } else if found >= beta {
            prop_assert!(exact >= found);
        } else {
            prop_assert_eq!(exact, found);
        }
    }

    /// A table changes neither value nor move, and enters no state twice
    /// when nothing is cut off.
    #[test]
    fn tables_change_neither_value_nor_move(graph in deterministic()) {
        for settings in [PLAIN, MINIMAX, NARROW, ALPHA_BETA] {
            let without = run(&graph, settings.clone());
            for remembered in [2, 1000] {
                let with = run(&graph, Settings { remembered, ..settings.clone() });
                prop_assert_eq!((with.value, with.action), (without.value, without.action));
                prop_assert!(with.deliberation.nodes <= without.deliberation.nodes);
            }
        }
        let all = run(&graph, Settings { remembered: 1000, ..PLAIN });
        prop_assert!(all.deliberation.nodes <= graph.nodes.len() as u64);
    }

    /// Any strictly increasing map of the rewards leaves the move and the
    /// leaves visited as they are.
    #[test]
    fn only_the_order_of_rewards_matters(
        graph in deterministic(),
        scale in prop::sample::subsequence((0u8..=100).collect::<Vec<_>>(), 11),
    ) {
        // Rewards are tens.
        let map = |value: u8| scale[usize::from(value / 10)];
        let mut mapped = graph.clone();
        for node in &mut mapped.nodes {
            if let Node::Leaf(rewards) = node {
                rewards.iter_mut().for_each(|reward| *reward = map(*reward));
            }
        }
        let (before, after) = (run(&graph, ALPHA_BETA), run(&mapped, ALPHA_BETA));
        let visited: Vec<f64> = before.leaves.iter().map(|&leaf| f64::from(map(leaf as u8))).collect();
        prop_assert_eq!(before.action, after.action);
        prop_assert_eq!(visited, after.leaves);
    }

    /// A limit beyond the end and a finished deepening give the exact value,
    /// with and without a table; what is proven is exact at any depth.
    #[test]
    fn deepening_ends_at_the_exact_value(graph in deterministic()) {
        let exact = value(&graph, 0, f64::min);
        for settings in [PLAIN, MINIMAX, NARROW] {
            prop_assert_eq!(run(&graph, Settings { depth: 4, ..settings.clone() }).value, exact);
            for remembered in [0, 1000] {
                let settings = Settings { deepening: true, remembered, ..settings.clone() };
                let run = run(&graph, settings.clone());
                prop_assert!(run.proven);
                prop_assert_eq!(run.value, exact);
                prop_assert_eq!(value_of_move(&graph, run.action.unwrap()), exact);
            }
            for depth in 1..4 {
                let run = run(&graph, Settings { depth, ..settings.clone() });
                prop_assert!(!run.proven || run.value == exact);
            }
        }
    }

    /// What is found at each depth is found by deepening to that depth.
    #[test]
    fn deepening_is_a_series_of_searches(graph in deterministic(), depth in 1u32..4) {
        let single = run(&graph, Settings { depth, ..NARROW });
        let series = run(&graph, Settings { depth, deepening: true, ..NARROW });
        prop_assert!(series.proven || series.value == single.value);
    }

    /// Max-n agrees with its definition.
    #[test]
    fn max_n_is_everyone_for_himself(graph in deterministic()) {
        let settings = Settings { opponents: Opponents::MaxN, ..PLAIN };
        let run = run(&graph, settings.clone());
        prop_assert_eq!(run.value, max_n(&graph, 0)[0]);
        prop_assert_eq!(run.deliberation.nodes, n_nodes(&graph, 0));
        prop_assert!(run.proven);
    }

    #[test]
    fn cooperation_is_the_best_line(graph in deterministic()) {
        let best = value(&graph, 0, f64::max);
        for settings in [PLAIN, MINIMAX, NARROW, ALPHA_BETA] {
            let settings = Settings { opponents: Opponents::Cooperative, ..settings.clone() };
            prop_assert_eq!(run(&graph, settings.clone()).value, best);
        }
    }

    /// The more the others know and the less they help, the less is expected.
    #[test]
    fn values_are_ordered_by_what_others_know(
        rows in (1usize..4).prop_flat_map(|n_columns| {
            prop::collection::vec(prop::collection::vec(0u8..=100, n_columns), 1..4)
        }),
    ) {
        let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
        let graph = Graph::matrix(&rows);
        let found = |opponents| run(&graph, Settings { opponents, ..PLAIN }).value;
        let reversed = (0..rows[0].len()).map(|column| rows.iter().map(|row| row[column]).max());
        let reversed = f64::from(reversed.min().flatten().unwrap());
        let chain = [
            found(Opponents::Paranoid),
            found(Opponents::Matrix),
            reversed,
            found(Opponents::Cooperative),
        ];
        prop_assert!(chain.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6), "{:?}", chain);
    }

    /// Where at most one role has a choice in each state, it does not matter
    /// whether the others know my move.
    #[test]
    fn matrices_are_paranoid_without_simultaneous_choice(seed: u64, n_layers in 1usize..4) {
        let graph = Graph::random(seed, &["a", "b", "c"], Movers::Alternating, n_layers);
        let found = |opponents| run(&graph, Settings { opponents, ..MINIMAX }).value;
        prop_assert_eq!(found(Opponents::Matrix), found(Opponents::Paranoid));
    }

    /// With chance, all cuts (Star1 among them) leave value and move alone.
    #[test]
    fn cuts_at_chance_change_neither_value_nor_move(graph in with_chance()) {
        let plain = run(&graph, PLAIN);
        prop_assert!(close(plain.value, value(&graph, 0, f64::min)));
        for settings in [MINIMAX, NARROW, ALPHA_BETA] {
            for remembered in [0, 1000] {
                let with = run(&graph, Settings { remembered, ..settings.clone() });
                let without = run(&graph, Settings { chance_cuts: ChanceCuts::None, remembered, ..settings.clone() });
                prop_assert_eq!((with.value, with.action), (plain.value, plain.action));
                prop_assert_eq!((without.value, without.action), (plain.value, plain.action));
                if remembered == 0 {
                    prop_assert!(with.deliberation.nodes <= without.deliberation.nodes);
                    prop_assert!(without.deliberation.nodes <= plain.deliberation.nodes);
                }
            }
        }
    }

    /// A search may be stopped at any node: it answers by what it finished.
    #[test]
    fn a_stopped_search_answers_by_what_it_finished(graph in deterministic(), budget in 0u64..40) {
        let n_moves = match &graph.nodes[0] {
            Node::Leaf(_) => return Ok(()),
            Node::Inner { n_moves, .. } => n_moves[0],
        };
        let stop = Stop::never().after_nodes(budget);
        for settings in [PLAIN, MINIMAX, NARROW] {
            let whole = run(&graph, settings.clone());
            let part = run_until(&graph, settings.clone(), &stop);
            prop_assert!(part.deliberation.nodes <= budget);
            prop_assert!(part.action.is_none_or(|index| index < n_moves));
            prop_assert_eq!(part.completed, whole.deliberation.nodes <= budget);
            // The best of the moves finished is the best of a prefix.
            if let Some(index) = part.action {
                let finished = (0..=index).map(|other| value_of_move(&graph, other));
                prop_assert_eq!(value_of_move(&graph, index), finished.fold(0.0, f64::max));
            }
            let deepening = Settings { deepening: true, ..settings.clone() };
            let part = run_until(&graph, deepening, &stop);
            prop_assert!(part.action.is_none_or(|index| index < n_moves));
            prop_assert!(part.deliberation.nodes <= budget);
        }
    }

    /// Renaming everything in the rules changes nothing.
    #[test]
    fn names_do_not_matter(graph in deterministic()) {
        let mut machine = crate::testing::machine(&graph.rulesheet("zq_"));
        let state = machine.initial_state().unwrap();
        let mut moves = Vec::new();
        machine.legal_moves(&state, RoleId(0), &mut moves).unwrap();
        let (mut memory, stop) = (Memory::default(), Stop::never());
        let mut search = Search::new(machine.as_mut(), RoleId(0), NARROW, &mut memory, &stop);
        let answer = search.best_move(&state).unwrap();
        let index = moves.iter().position(|&id| Some(id) == answer.action);
        prop_assert_eq!(index, run(&graph, NARROW).action);
        prop_assert_eq!(search.deliberation().nodes, run(&graph, NARROW).deliberation.nodes);
    }
}

/// The worst case of a move of role 0 in the initial state.
fn value_of_move(graph: &Graph, index: usize) -> f64 {
    let Node::Inner { n_moves, .. } = &graph.nodes[0] else { panic!("the match is over") };
    joint_moves(&n_moves[1..])
        .map(|others| {
            let moves: Vec<usize> = [index].into_iter().chain(others).collect();
            value(graph, graph.child(0, &moves), f64::min)
        })
        .fold(f64::INFINITY, f64::min)
}

/// Leaves of a uniform tree, in the order of `best` or else the worst order.
fn ordered(n_choices: usize, depth: u32, best: bool) -> Vec<u8> {
    fn sort(leaves: Vec<u8>, n_choices: usize, maximising: bool, best: bool) -> (u8, Vec<u8>) {
        if let [leaf] = leaves[..] {
            return (leaf, leaves);
        }
        let size = leaves.len() / n_choices;
        let mut children: Vec<(u8, Vec<u8>)> = leaves
            .chunks(size)
            .map(|chunk| sort(chunk.to_vec(), n_choices, !maximising, best))
            .collect();
        children.sort();
        if maximising == best {
            children.reverse();
        }
        let value = if best { children[0].0 } else { children[n_choices - 1].0 };
        (value, children.into_iter().flat_map(|(_, leaves)| leaves).collect())
    }
    let n_leaves = u8::try_from(n_choices.pow(depth)).unwrap();
    // Distinct rewards in an order that favours nobody.
    let leaves: Vec<u8> =
        (0..u32::from(n_leaves)).map(|index| (index * 37 % 89) as u8 + 1).collect();
    sort(leaves, n_choices, true, best).1
}

/// Knuth and Moore: in the best order alpha-beta visits
/// `b^ceil(m/2) + b^floor(m/2) - 1` of the `b^m` leaves. With two plies it visits
/// all in the worst.
#[test]
fn the_best_order_halves_the_exponent() {
    let visited = |n_choices, depth, best| {
        let graph = Graph::tree(n_choices, depth, &ordered(n_choices, depth, best));
        run(&graph, ALPHA_BETA).deliberation.leaves
    };
    for (n_choices, depth, fewest) in
        [(3, 2, 5), (2, 3, 5), (2, 4, 7), (3, 3, 11), (3, 4, 17), (2, 6, 15)]
    {
        assert_eq!(visited(n_choices, depth, true), fewest, "{n_choices}^{depth}");
    }
    assert_eq!((visited(3, 2, false), visited(9, 2, false)), (9, 81));
}

/// The two-ply tree of Russell and Norvig and its reorderings: leaves visited,
/// value, and children cut off.
#[test]
fn the_two_ply_tree_is_searched_as_in_the_textbook() {
    let check = |leaves: [u8; 9], visited: &[f64], prunings: u64| {
        let graph = Graph::tree(3, 2, &leaves);
        let minimax = run(&graph, PLAIN);
        let alpha_beta = run(&graph, ALPHA_BETA);
        assert_eq!((minimax.value, minimax.deliberation.nodes), (3.0, 13));
        assert_eq!(minimax.leaves, leaves.map(f64::from));
        assert_eq!((alpha_beta.value, alpha_beta.leaves.as_slice()), (3.0, visited));
        assert_eq!(alpha_beta.deliberation.prunings, prunings);
        assert_eq!(alpha_beta.deliberation.nodes, 4 + visited.len() as u64);
    };
    check([3, 12, 8, 2, 4, 6, 14, 5, 2], &[3.0, 12.0, 8.0, 2.0, 14.0, 5.0, 2.0], 2);
    check([3, 12, 8, 2, 4, 6, 2, 5, 14], &[3.0, 12.0, 8.0, 2.0, 2.0], 4);
    let worst = [14.0, 5.0, 2.0, 6.0, 4.0, 2.0, 12.0, 8.0, 3.0];
    check([14, 5, 2, 6, 4, 2, 12, 8, 3], &worst, 0);
}

/// Exact values do not matter to minimax and do to expectations: the first tree
/// of Russell and Norvig's comparison, and the dice tree with chances 0.9 and
/// 0.1 written as ten moves.
#[test]
fn exact_values_matter_under_chance() {
    let minimax = |leaves: [u8; 4]| run(&Graph::tree(2, 2, &leaves), PLAIN).action;
    assert_eq!((minimax([1, 2, 2, 4]), minimax([1, 20, 20, 100])), (Some(1), Some(1)));

    let dice = |rewards: [u8; 4]| {
        let mut nodes = vec![Node::Inner { n_moves: vec![2, 1], children: vec![1, 2] }];
        for (first, second) in [(3, 4), (5, 6)] {
            let children = std::iter::repeat_n(first, 9).chain([second]).collect();
            nodes.push(Node::Inner { n_moves: vec![1, 10], children });
        }
        nodes.extend(rewards.map(|reward| Node::Leaf(vec![reward, 0])));
        let graph = Graph { roles: vec!["player", "random"], nodes };
        let run = run(&graph, PLAIN);
        (run.action.unwrap(), run.value)
    };
    let check = |rewards, action, value| {
        let (found, mean) = dice(rewards);
        assert!(found == action && close(mean, value), "{rewards:?}: {found}, {mean}");
    };
    check([2, 3, 1, 4], 0, 2.1);
    check([20, 30, 1, 100], 0, 21.0);
    check([5, 8, 1, 99], 1, 10.8);
    check([13, 16, 10, 19], 0, 13.3);
}

/// Rock-paper-scissors and matching pennies: what a coalition concedes that
/// knows my move, that does not, and the mixed strategy.
#[test]
fn simultaneous_games_have_their_values() {
    let check = |rows: &[&[u8]], paranoid: f64, matrix: f64| {
        let graph = Graph::matrix(rows);
        let found = |opponents| run(&graph, Settings { opponents, ..PLAIN });
        assert_eq!(found(Opponents::Paranoid).value, paranoid);
        let mixed = found(Opponents::Matrix);
        assert!(close(mixed.value, matrix), "{}", mixed.value);
        let even = 1.0 / rows.len() as f64;
        let strategy = mixed.strategy.unwrap();
        assert!(strategy.iter().all(|&share| close(share, even)), "{strategy:?}");
        assert_eq!(found(Opponents::Cooperative).value, 100.0);
    };
    check(&[&[50, 0, 100], &[100, 50, 0], &[0, 100, 50]], 0.0, 50.0);
    check(&[&[100, 0], &[0, 100]], 0.0, 50.0);
}

/// Evaluation at the depth limit: a terminal state within sight is preferred to
/// any estimate, and a limit of one is greedy.
#[test]
fn estimates_are_never_mistaken_for_results() {
    // Left ends at 60; right goes on to 0 or 100 by the opponent's choice.
    let nodes = vec![
        Node::Inner { n_moves: vec![2, 1], children: vec![1, 2] },
        Node::Leaf(vec![60, 40]),
        Node::Inner { n_moves: vec![1, 2], children: vec![3, 4] },
        Node::Leaf(vec![100, 0]),
        Node::Leaf(vec![0, 100]),
    ];
    let graph = Graph { roles: vec!["a", "b"], nodes };
    for evaluation in [EvaluationFunction::Goal, EvaluationFunction::Zero] {
        let greedy = run(&graph, Settings { depth: 1, evaluation, ..MINIMAX });
        assert_eq!((greedy.action, greedy.value, greedy.proven), (Some(0), 60.0, false));
    }
    let whole = run(&graph, Settings { depth: 2, ..MINIMAX });
    assert_eq!((whole.action, whole.value, whole.proven), (Some(0), 60.0, true));
}
