//! The eight-puzzle of the lectures: every number of its tables.

use std::collections::{BTreeMap, BTreeSet};

use games::{RoleId, State, StateMachine, library};
use players::Stop;
use players::plan_check::{Plan, check};

use crate::arena::{
    first_move, legal, machine, machine_of, moves, play, player, role_id, text, texts,
};

/// What the whole tree holds.
#[derive(Default)]
struct Census {
    nodes: usize,
    states: BTreeSet<State>,
    plans: usize,
    rewards: BTreeMap<u8, usize>,
    lengths_of_best: BTreeMap<usize, usize>,
}

fn census(machine: &mut dyn StateMachine, state: &State, length: usize, census: &mut Census) {
    census.nodes += 1;
    census.states.insert(state.clone());
    if machine.is_terminal(state).unwrap() {
        let reward = machine.goal(state, role_id(0)).unwrap().unique().unwrap().value();
        census.plans += 1;
        *census.rewards.entry(reward).or_default() += 1;
        if reward == 100 {
            *census.lengths_of_best.entry(length).or_default() += 1;
        }
        return;
    }
    for id in legal(machine, state, 0) {
        let mut next = State::default();
        machine.next_state(state, &[id], &mut next).unwrap();
        self::census(machine, &next, length + 1, census);
    }
}

fn check_census(name: &str, rewards: [(u8, usize); 9]) {
    let mut machine = machine(name);
    let initial = machine.initial_state().unwrap();
    let mut found = Census::default();
    census(machine.as_mut(), &initial, 0, &mut found);
    assert_eq!((found.nodes, found.plans, found.states.len()), (4545, 2985, 381));
    assert_eq!(found.rewards, BTreeMap::from(rewards));
    assert_eq!(found.lengths_of_best, BTreeMap::from([(4, 1), (6, 8), (8, 55)]));
}

#[test]
fn the_tree_has_the_known_plans_and_rewards() {
    check_census(
        "eight_puzzle_seed",
        [
            (0, 4),
            (10, 166),
            (20, 247),
            (30, 877),
            (40, 625),
            (50, 417),
            (60, 300),
            (70, 285),
            (100, 64),
        ],
    );
    check_census(
        "eight_puzzle_course",
        [
            (0, 33),
            (10, 271),
            (20, 419),
            (30, 684),
            (40, 856),
            (50, 73),
            (60, 366),
            (70, 219),
            (100, 64),
        ],
    );
}

/// The table of five plans. The second is worth 50 by the credit that the
/// table was made with, and 40 by the rule as it was published.
#[test]
fn five_plans_have_their_rewards() {
    for (words, seed, course) in [
        ("right left right left right left right left", 40, 40),
        ("right right left right left right left right", 50, 40),
        ("right down right down", 100, 100),
        ("right down left right right down", 100, 100),
        ("right down left right left right right down", 100, 100),
    ] {
        for (name, reward) in [("eight_puzzle_seed", seed), ("eight_puzzle_course", course)] {
            let mut machine = machine(name);
            let machine = machine.as_mut();
            let plan = moves(machine, words);
            let plan = Plan::sequence(&plan);
            let found = check(machine, RoleId(0), &plan, &Stop::never()).unwrap().unwrap();
            assert!(found.is_proper(), "{words}");
            assert_eq!(found.rewards, Some(reward..=reward), "{name}: {words}");
            assert_eq!(found.optimal, Some(reward == 100), "{name}: {words}");
        }
    }
}

/// Move order, plan, nodes with the stop at 100, and the nodes below each root
/// that compulsive deliberation enters over the whole match.
const ORDERS: [(&str, &str, u64, u64); 4] = [
    ("up down left right", "down up down up right down right down", 58, 308),
    ("down left right up", "down down up up right down right down", 563, 2020),
    ("right down left up", "right right down up left down right down", 272, 1142),
    ("left right up down", "right left right left right down right down", 33, 188),
];

#[test]
fn the_planner_finds_the_first_best_plan_of_each_order() {
    for (order, plan, bounded_nodes, _) in ORDERS {
        for (bounded, nodes) in [(true, bounded_nodes), (false, 4545)] {
            let mut machine = machine("eight_puzzle_seed");
            let machine = machine.as_mut();
            let options = [
                ("move_order", texts(order)),
                ("bounded", bounded.into()),
                ("transposition", 0.into()),
            ];
            let played = play(machine, &mut [player("sequential_planner", options)], 1);
            assert_eq!(text(machine, &played.moves_of(0)), plan, "{order}");
            assert_eq!(played.goals, [100]);
            let started = played.started[0].as_ref().unwrap();
            assert_eq!((started.nodes, started.value), (nodes, Some(100.0)), "{order}");
            assert_eq!(played.nodes(0), 0, "a plan is played without deliberation");

            // What is remembered saves work and changes nothing.
            let options = [("move_order", texts(order)), ("bounded", bounded.into())];
            let again = play(machine, &mut [player("sequential_planner", options)], 1);
            assert_eq!(again.moves, played.moves);
            let remembered = again.started[0].as_ref().unwrap().nodes;
            assert!(remembered <= started.nodes.min(381), "{order}: {remembered}");
        }
    }
}

#[test]
fn compulsive_deliberation_plays_the_same_plan_at_more_cost() {
    for (order, plan, planner_nodes, total) in ORDERS {
        let mut machine = machine("eight_puzzle_seed");
        let machine = machine.as_mut();
        let options = [("move_order", texts(order))];
        let played = play(machine, &mut [player("compulsive_deliberation", options)], 1);
        assert_eq!(text(machine, &played.moves_of(0)), plan, "{order}");
        assert_eq!(played.goals, [100]);
        assert_eq!(played.steps[0][0].as_ref().unwrap().nodes, planner_nodes);
        assert_eq!(played.next_calls(0), total, "{order}");
        assert!(total >= planner_nodes);
    }
}

/// Without the stop at 100 the value is the same and every node is entered.
#[test]
fn stopping_at_100_saves_nodes_and_nothing_else() {
    let mut machine = machine("eight_puzzle_seed");
    for (bounded, nodes) in [(true, 33), (false, 4545)] {
        let options = [("move_order", texts("left right up down")), ("bounded", bounded.into())];
        let mut player = player("compulsive_deliberation", options);
        let (_, deliberation) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
        assert_eq!((deliberation.nodes, deliberation.value), (nodes, Some(100.0)));
    }
}

/// The first best plan need not be the shortest; deepening finds that.
#[test]
fn deepening_finds_the_shortest_plan() {
    for name in ["eight_puzzle_seed", "eight_puzzle_course"] {
        for kind in ["minimax", "alpha_beta"] {
            let mut machine = machine(name);
            let played = play(machine.as_mut(), &mut [player(kind, [])], 1);
            assert_eq!(text(machine.as_ref(), &played.moves_of(0)), "right down right down");
            assert_eq!(played.steps[0][0].as_ref().unwrap().selective_depth, 4);
        }
    }
}

/// Nothing is kept between steps: a player that begins in the same state does
/// the same work for the same move.
#[test]
fn compulsive_deliberation_remembers_nothing() {
    let mut machine = machine("eight_puzzle_seed");
    let played = play(machine.as_mut(), &mut [player("compulsive_deliberation", [])], 1);
    let rules = library::find("eight_puzzle_seed").unwrap().text;
    let rules =
        rules.replace("(init (cell ", "(once (cell ").replace("(init (step ", "(once (step ");
    let mut state = machine.initial_state().unwrap();
    for (step, joint_move) in played.moves.iter().enumerate() {
        let facts = machine.facts(&state);
        let init: String = facts.iter().map(|fact| format!("(init {fact})\n")).collect();
        let mut begun = machine_of(&format!("{rules}{init}"));
        let (answer, deliberation) = first_move(
            begun.as_mut(),
            player("compulsive_deliberation", []).as_mut(),
            0,
            &Stop::never(),
        );
        assert_eq!(text(begun.as_ref(), &[answer]), text(machine.as_ref(), joint_move));
        assert_eq!(Some(deliberation), played.steps[step][0]);
        let mut next = State::default();
        machine.next_state(&state, joint_move, &mut next).unwrap();
        state = next;
    }
}
