//! Move ordering, quiescence, extensions, time allocation and Star2: what each must leave as it
//! is, and what each is for.

use std::fmt::Write as _;

use super::*;
use crate::search::chance::ChanceCuts;
use crate::search::evaluation::EvaluationFunction;
use crate::testing::shipped;

const DEEPENING: Settings = Settings { deepening: true, remembered: 1000, ..NARROW };
const ORDERED: Settings = Settings { killer_moves: true, history: true, ..DEEPENING };

/// What a search for the first role finds in the initial state of a machine.
fn search(
    machine: &mut dyn StateMachine,
    settings: Settings,
    stop: &Stop,
) -> (Answer, Deliberation) {
    let state = machine.initial_state().unwrap();
    let mut memory = Memory::default();
    let mut search = Search::new(machine, RoleId(0), settings, &mut memory, stop);
    let answer = search.best_move(&state).unwrap();
    (answer, search.deliberation())
}

fn score(machine: &mut dyn StateMachine, settings: Settings) -> f64 {
    search(machine, settings, &Stop::never()).0.value.unwrap().score
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Killers and history change the order only: value and move stay, at every depth, with and
    /// without a table.
    #[test]
    fn orders_change_neither_value_nor_move(
        seed: u64,
        roles in prop_oneof![Just(vec!["a", "b"]), Just(vec!["a", "b", "c"])],
        movers in prop_oneof![Just(Movers::Alternating), Just(Movers::Simultaneous)],
        cooperative: bool,
    ) {
        let n_layers = if movers == Movers::Simultaneous { 3 } else { 6 };
        let graph = Graph::random(seed, &roles, movers, n_layers);
        let opponents = if cooperative { Opponents::Cooperative } else { Opponents::Paranoid };
        for (depth, remembered) in [(0, 0), (0, 1000), (2, 0), (4, 1000)] {
            let plain = Settings { opponents, depth, ..PLAIN };
            let unordered = Settings { opponents, depth, remembered, ..DEEPENING };
            let unordered_run = run(&graph, unordered.clone());
            for (killer_moves, history) in [(true, false), (false, true), (true, true)] {
                let settings = Settings { killer_moves, history, ..unordered.clone() };
                let ordered = run(&graph, settings);
                // A proven value of a deeper search is not that of a plain search to the depth.
                if !ordered.proven || depth == 0 {
                    prop_assert_eq!(ordered.value, run(&graph, plain.clone()).value);
                }
                prop_assert_eq!(ordered.value, unordered_run.value);
                prop_assert_eq!(ordered.action, unordered_run.action);
            }
        }
    }

    /// A search that leaves moves out says that a value is proven only if it is that of all moves,
    /// and a width that leaves nothing out changes nothing.
    #[test]
    fn a_proven_value_is_that_of_all_moves(graph in deterministic(), width in 1usize..4) {
        let exact = value(&graph, 0, f64::min);
        for remembered in [0, 1000] {
            let whole = Settings { remembered, ..ORDERED };
            let pruned = run(&graph, Settings { width, ..whole.clone() });
            prop_assert!(!pruned.deliberation.proven || pruned.value == exact);
            // It ends where a deeper search would meet nothing new.
            prop_assert!(pruned.deliberation.depth <= 8);
            let (all, wide) = (run(&graph, whole.clone()), run(&graph, Settings { width: 100, ..whole }));
            prop_assert_eq!((all.value, all.action), (wide.value, wide.action));
            prop_assert_eq!(all.deliberation, wide.deliberation);
        }
    }

    /// The bounds of Star2 change neither value nor move.
    #[test]
    fn probes_at_chance_change_neither_value_nor_move(graph in with_chance()) {
        let plain = run(&graph, PLAIN);
        for settings in [NARROW, ALPHA_BETA, DEEPENING, ORDERED] {
            for remembered in [0, 1000] {
                let settings =
                    Settings { chance_cuts: ChanceCuts::Star2, remembered, ..settings.clone() };
                let found = run(&graph, settings);
                prop_assert!(close(found.value, plain.value), "{} {}", found.value, plain.value);
                prop_assert_eq!(found.proven, plain.proven);
            }
        }
        let star1 = run(&graph, NARROW);
        let star2 = run(&graph, Settings { chance_cuts: ChanceCuts::Star2, ..NARROW });
        prop_assert_eq!(star1.action, star2.action);
    }

    /// Where nothing is cut off at the limit, looking further and counting fewer levels change
    /// nothing.
    #[test]
    fn a_search_to_the_end_needs_no_enhancement(graph in deterministic()) {
        let exact = value(&graph, 0, f64::min);
        for settings in [MINIMAX, NARROW, DEEPENING] {
            let settings = Settings { quiescence: 3, extends_forced: true, ..settings };
            let run = run(&graph, settings);
            prop_assert_eq!(run.value, exact);
            prop_assert!(run.proven);
        }
    }

    /// Quiescence and extensions are part of the value, and cuts keep it.
    #[test]
    fn cuts_keep_the_value_of_enhanced_searches(
        graph in deterministic(),
        depth in 1u32..3,
        quiescence in 0u32..3,
        extends_forced: bool,
    ) {
        let enhanced = |settings| Settings { depth, quiescence, extends_forced, ..settings };
        let plain = run(&graph, enhanced(PLAIN)).value;
        for settings in [MINIMAX, NARROW, ALPHA_BETA] {
            prop_assert_eq!(run(&graph, enhanced(settings)).value, plain);
        }
        // With extensions a state may be met at two depths, and what is proven at the one is
        // known at the other.
        if !extends_forced {
            let with_table = Settings { remembered: 1000, ..NARROW };
            prop_assert_eq!(run(&graph, enhanced(with_table)).value, plain);
        }
    }
}

/// On shipped games, with an evaluation that tells states apart, every enhancement that changes
/// only the order or the number of states leaves the value of minimax.
#[test]
fn shipped_games_keep_their_values() {
    let evaluation = EvaluationFunction::GoalProximity;
    for (game, depth) in [
        ("tic_tac_toe", 4),
        ("connect_four", 4),
        ("breakthrough_6x6", 2),
        ("othello_6x6", 4),
        ("checkers_6x6", 4),
        ("tic_tac_toe_three_players", 3),
        ("mini_backgammon", 4),
        ("pig", 5),
        ("ludo", 3),
    ] {
        let mut machine = shipped(game);
        let machine = machine.as_mut();
        for depth in 1..=depth {
            let plain = Settings { depth, evaluation: evaluation.clone(), ..PLAIN };
            let expected = score(machine, plain.clone());
            for chance_cuts in [ChanceCuts::Star1, ChanceCuts::Star2] {
                for cut in [NARROW, ORDERED] {
                    let evaluation = evaluation.clone();
                    let found = score(machine, Settings { depth, evaluation, chance_cuts, ..cut });
                    assert!(close(found, expected), "{game}, depth {depth}: {found}, {expected}");
                }
            }
            let enhanced = |settings| {
                let evaluation = evaluation.clone();
                Settings { depth, evaluation, quiescence: 2, extends_forced: true, ..settings }
            };
            if depth <= 2 {
                let expected = score(machine, enhanced(PLAIN));
                for cut in [NARROW, ORDERED] {
                    let found = score(machine, enhanced(cut));
                    assert!(close(found, expected), "{game}, depth {depth}, enhanced: {found}");
                }
            }
        }
    }
}

/// Moves that are tried first change neither the value nor, where it is the only best one, the
/// move; also where successors would be computed all at once.
#[test]
fn moves_to_try_first_change_no_value() {
    let order = ["(drop 6)", "(drop 2)"].map(|text| Expression::parse(text).unwrap());
    let mut machine = shipped("connect_four");
    let state = machine.initial_state().unwrap();
    for depth in [4, 7] {
        let evaluation = EvaluationFunction::GoalProximity;
        let settings = Settings { depth, evaluation, ..ORDERED };
        let (answer, _) = search(machine.as_mut(), settings.clone(), &Stop::never());
        let (mut memory, stop) = (Memory::default(), Stop::never());
        let mut ranked = Search::new(machine.as_mut(), RoleId(0), settings, &mut memory, &stop)
            .trying_first(&order);
        let found = ranked.best_move(&state).unwrap();
        assert_eq!(found.value, answer.value, "depth {depth}");
        assert_eq!(found.action, answer.action, "depth {depth}");
    }
}

/// With a width, a search to the same depth enters fewer states, says that it left moves out, and
/// still tries all moves of the root.
#[test]
fn a_width_leaves_moves_out() {
    let evaluation = EvaluationFunction::GoalProximity;
    for (game, depth) in [("hex_5x5", 5), ("othello_6x6", 6), ("breakthrough_6x6", 5)] {
        let mut machine = shipped(game);
        let evaluation = evaluation.clone();
        let whole = Settings { depth, evaluation, remembered: 1_000_000, ..ORDERED };
        let (_, all) = search(machine.as_mut(), whole.clone(), &Stop::never());
        let (_, few) = search(machine.as_mut(), Settings { width: 3, ..whole }, &Stop::never());
        assert!(2 * few.nodes < all.nodes, "{game}: {} of {}", few.nodes, all.nodes);
        assert_eq!(few.candidates.len(), all.candidates.len(), "{game}");
        assert!(all.notes.is_empty(), "{:?}", all.notes);
        let [note] = &few.notes[..] else { panic!("{:?}", few.notes) };
        assert!(note.ends_with("moves not tried (option `width`)"), "{note}");
        assert!(few.completed && !few.proven);
    }
}

/// The third move of `a` wins, after any first one: one step above the depth limit it is found,
/// whatever the width; two steps above, it is left out, and counted.
#[test]
fn all_moves_are_tried_in_the_last_step() {
    let nodes = vec![
        Node::Inner { n_moves: vec![2, 1], children: vec![1, 1] },
        Node::Inner { n_moves: vec![3, 1], children: vec![3, 3, 2] },
        Node::Leaf(vec![100, 0]),
        Node::Inner { n_moves: vec![1, 2], children: vec![4, 4] },
        Node::Leaf(vec![60, 40]),
    ];
    let graph = Graph { roles: vec!["a", "b"], nodes };
    let found = |depth, width| run(&graph, Settings { depth, width, remembered: 0, ..ORDERED });
    assert_eq!((found(2, 1).value, found(2, 1).proven), (100.0, true));
    // Without the depth-2 search, which would prove it.
    let once = Settings { depth: 3, width: 2, killer_moves: true, history: true, ..NARROW };
    let once = run(&graph, once);
    assert_eq!((once.value, once.deliberation.proven), (60.0, false));
    // Two moves of the root, and after each the third move of `a`.
    assert_eq!(once.deliberation.notes, ["2 moves not tried (option `width`)"]);
}

/// A piece can be taken: it gains 30, and loses 80 with the next move. The plain search to depth
/// 1 takes it, quiescence does not.
#[test]
fn a_poisoned_piece_is_left_alone() {
    let text = "(role white) (role black) (init (at start))
        (<= (legal white take) (true (at start))) (<= (legal white wait) (true (at start)))
        (<= (legal white noop) (not (true (at start))))
        (<= (legal black noop) (true (at start)))
        (<= (legal black retake) (true (at taken))) (<= (legal black leave) (true (at taken)))
        (<= (legal black noop) (true (at waited)))
        (<= (next (at taken)) (does white take)) (<= (next (at waited)) (does white wait))
        (<= (next (at lost)) (does black retake)) (<= (next (at kept)) (does black leave))
        (<= (next (at even)) (true (at waited)))
        (<= (next (at ?n)) (true (at ?n)) (settled ?n)) (<= (legal black noop) (settled ?n) (true (at ?n)))
        (settled lost) (settled kept) (settled even) (<= terminal (true (at over)))
        (value start 50) (value taken 80) (value waited 50) (value lost 5) (value kept 80)
        (value even 50)
        (<= (goal white ?v) (true (at ?n)) (value ?n ?v)) (goal black 50)";
    let mut machine = crate::testing::machine(text);
    let machine = machine.as_mut();
    let mut found = |quiescence| {
        let settings = Settings { depth: 1, quiescence, ..NARROW };
        let (answer, deliberation) = search(machine, settings, &Stop::never());
        let value = answer.value.unwrap();
        assert!(!value.proven);
        let action = machine.move_expression(answer.action.unwrap()).to_string();
        (action, value.score, deliberation.nodes)
    };
    assert_eq!(found(0), ("take".to_owned(), 80.0, 3));
    let (action, score, _) = found(1);
    assert_eq!((action.as_str(), score), ("wait", 50.0));
    assert_eq!(found(5).0, "wait");
}

/// A state that seems quiet, where the opponent can end the match immediately.
#[test]
fn an_end_in_one_move_is_not_quiet() {
    let nodes = vec![
        Node::Inner { n_moves: vec![2, 1], children: vec![1, 2] },
        Node::Inner { n_moves: vec![1, 2], children: vec![3, 4] },
        Node::Inner { n_moves: vec![1, 2], children: vec![4, 4] },
        Node::Leaf(vec![0, 100]),
        Node::Leaf(vec![60, 40]),
    ];
    let graph = Graph { roles: vec!["a", "b"], nodes };
    let found = |quiescence| run(&graph, Settings { depth: 1, quiescence, ..NARROW });
    assert_eq!((found(0).action, found(0).value), (Some(0), 50.0));
    // The second state has no extreme end: its estimate stands.
    assert_eq!((found(1).action, found(1).value), (Some(1), 50.0));
}

/// After a choice, forty forced moves to a win or a defeat.
#[test]
fn forced_moves_are_followed_to_their_end() {
    let mut text = String::from(
        "(role a) (role b) (init (at 0)) (legal b noop)
        (<= (legal a left) (true (at 0))) (<= (legal a right) (true (at 0)))
        (<= (legal a go) (not (true (at 0))))
        (<= (next (at 1)) (does a left)) (<= (next (at 101)) (does a right))
        (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m))
        (<= terminal (true (at 41))) (<= terminal (true (at 141)))
        (<= (goal a 0) (true (at 41))) (<= (goal a 100) (true (at 141)))
        (<= (goal b 100) (true (at 41))) (<= (goal b 0) (true (at 141)))\n",
    );
    for n in (1..41).chain(101..141) {
        writeln!(text, "(succ {n} {})", n + 1).unwrap();
    }
    let mut machine = crate::testing::machine(&text);
    let machine = machine.as_mut();
    let mut found = |settings| {
        let (answer, deliberation) = search(machine, settings, &Stop::never());
        let value = answer.value.unwrap();
        let action = machine.move_expression(answer.action.unwrap()).to_string();
        (action, value.score, value.proven, deliberation.selective_depth)
    };
    for settings in [NARROW, DEEPENING, Settings { narrow: false, ..NARROW }] {
        let settings = Settings { depth: 1, ..settings };
        let extended = Settings { extends_forced: true, ..settings.clone() };
        assert_eq!(found(settings), ("left".to_owned(), 50.0, false, 1));
        assert_eq!(found(extended), ("right".to_owned(), 100.0, true, 41));
    }
}

/// Time allocation never uses more nodes, and its answer is that of a search to the depth that
/// it reports.
#[test]
fn a_depth_that_cannot_be_finished_is_not_begun() {
    let mut n_early = 0;
    for game in ["connect_four", "breakthrough_6x6", "othello_6x6"] {
        let mut machine = shipped(game);
        let machine = machine.as_mut();
        for budget in [300, 1000, 3000, 10_000, 30_000] {
            let stop = Stop::never().after_nodes(budget);
            let evaluation = EvaluationFunction::Mobility;
            let whole = Settings { evaluation, ..ORDERED };
            let early = Settings { allocates_time: true, ..whole.clone() };
            let (_, until_the_end) = search(machine, whole.clone(), &stop);
            let (answer, found) = search(machine, early, &stop);
            assert!(found.nodes <= until_the_end.nodes && until_the_end.nodes <= budget);
            assert!(found.depth <= until_the_end.depth);
            let is_early = |note: &String| note.starts_with("stopped deepening early");
            let is_early = found.notes.iter().any(is_early);
            n_early += usize::from(is_early);
            assert_eq!(is_early, found.nodes < until_the_end.nodes, "{found:?}");
            assert!(!found.completed);
            let to_depth = Settings { depth: found.depth, ..whole };
            let (expected, _) = search(machine, to_depth, &Stop::never());
            assert_eq!(answer.action, expected.action, "{game}, {budget} nodes");
        }
    }
    assert!(n_early >= 5, "only {n_early} searches of 15 ended early");
}

/// Where all other moves are proven to lose, the match may be long: the move is made at once.
#[test]
fn the_only_move_that_does_not_lose_needs_no_deeper_search() {
    // `b` can win after the first move of `a`; after the second, nobody can for a long time.
    let mut nodes = vec![
        Node::Inner { n_moves: vec![2, 1], children: vec![1, 3] },
        Node::Inner { n_moves: vec![1, 2], children: vec![2, 3] },
        Node::Leaf(vec![0, 100]),
    ];
    for node in 3..30 {
        let mut n_moves = vec![1, 1];
        n_moves[(node + 1) % 2] = 2;
        nodes.push(Node::Inner { n_moves, children: vec![node + 1, node + 1] });
    }
    nodes.push(Node::Leaf(vec![60, 40]));
    let graph = Graph { roles: vec!["a", "b"], nodes };
    let whole = run(&graph, ORDERED);
    assert_eq!((whole.action, whole.value, whole.proven), (Some(1), 60.0, true));
    let early = run(&graph, Settings { allocates_time: true, ..ORDERED });
    assert_eq!((early.action, early.proven), (Some(1), false));
    assert_eq!(early.deliberation.depth, 2);
    let notes = early.deliberation.notes.join("");
    assert!(notes.contains("all other moves are proven to lose"), "{notes}");
}

/// What is entered in games of dice without a table: Star1 saves states, and probing costs little
/// where it does not pay.
#[test]
fn chance_cuts_save_states_in_games_of_dice() {
    for (game, depth, saves) in
        [("pig", 9, true), ("shut_the_box", 8, true), ("mini_backgammon", 5, false)]
    {
        let mut machine = shipped(game);
        let [none, star1, star2] =
            [ChanceCuts::None, ChanceCuts::Star1, ChanceCuts::Star2].map(|chance_cuts| {
                let settings = Settings { depth, chance_cuts, ..NARROW };
                search(machine.as_mut(), settings, &Stop::never()).1.nodes
            });
        assert!(star1 <= none && (star1 < none || !saves), "{game}: {star1} of {none}");
        assert!(star2 <= star1 + star1 / 5, "{game}: {star2}, not {star1}");
    }
}

/// One move is worth 60. After the other, the opponent can reply to each of three outcomes so that
/// 10 is left: Star1 looks at all replies to the first outcome, Star2 at one reply to two of them.
#[test]
fn one_reply_after_each_outcome_refutes_a_move() {
    let mut nodes = vec![
        Node::Inner { n_moves: vec![2, 1, 1], children: vec![1, 2] },
        Node::Leaf(vec![60, 40, 0]),
        Node::Inner { n_moves: vec![1, 1, 3], children: vec![3, 4, 5] },
    ];
    for _ in 0..3 {
        nodes.push(Node::Inner { n_moves: vec![1, 4, 1], children: vec![6, 7, 7, 7] });
    }
    nodes.extend([Node::Leaf(vec![10, 90, 0]), Node::Leaf(vec![90, 10, 0])]);
    let graph = Graph { roles: vec!["a", "b", "random"], nodes };
    let found = |chance_cuts| run(&graph, Settings { chance_cuts, ..NARROW });
    let [none, star1, star2] = [ChanceCuts::None, ChanceCuts::Star1, ChanceCuts::Star2].map(found);
    assert_eq!([none.value, star1.value, star2.value], [60.0; 3]);
    let leaves = [none, star1, star2].map(|run| run.deliberation.leaves);
    assert_eq!(leaves, [13, 6, 3]);
}
