//! Plans, and the players that make them: sequential, mixed and conditional.

use games::{MoveId, RoleId, StateMachine};
use players::plan_check::{Plan, PlanCheck, check};
use players::{Failure, Stop, Turn, plan};

use crate::arena::{machine, machine_of, moves, play, play_until, player, seat, text};

/// What a plan of the first role achieves.
fn checked_moves(machine: &mut dyn StateMachine, plan: &[MoveId]) -> PlanCheck {
    check(machine, RoleId(0), &Plan::sequence(plan), &Stop::never()).unwrap().unwrap()
}

/// The same of a plan in words.
fn checked(machine: &mut dyn StateMachine, words: &str) -> PlanCheck {
    let plan = moves(machine, words);
    checked_moves(machine, &plan)
}

/// What the check says of a plan: legal, complete, minimal.
fn flags(machine: &mut dyn StateMachine, words: &str) -> [bool; 3] {
    let found = checked(machine, words);
    let flags = [found.illegal.is_none(), found.incomplete.is_none(), found.not_minimal.is_none()];
    let all = flags == [true; 3];
    assert_eq!(found.is_proper(), all, "{words}");
    assert_eq!(found.value.is_some(), flags[1], "{words}");
    if !all {
        assert_eq!(found.optimal, Some(false), "{words}");
    }
    flags
}

/// Walking along a line with a gate: `on` leads from a to b to c, where the
/// match ends; `back` is legal only in b and c; an illegal `back` changes
/// nothing, and the end can be left again.
const LINE: &str = "
    (role walker)
    (after a b) (after b c)
    (init (at a))
    (<= (legal walker on) (true (at ?x)) (after ?x ?y))
    (<= (legal walker back) (true (at ?y)) (after ?x ?y))
    (<= (next (at ?y)) (does walker on) (true (at ?x)) (after ?x ?y))
    (<= (next (at ?x)) (does walker back) (true (at ?y)) (after ?x ?y))
    (<= (next (at a)) (does walker back) (true (at a)))
    (<= terminal (true (at c)))
    (<= (goal walker 100) (true (at c)))
    (<= (goal walker 0) (not (true (at c))))";

#[test]
fn every_combination_of_flags_has_a_plan() {
    let mut machine = machine_of(LINE);
    for (words, legal, complete, minimal) in [
        ("on on", true, true, true),
        ("on back on on", true, true, true),
        ("back on on", false, true, true),
        ("on", true, false, true),
        ("", true, false, true),
        ("back", false, false, true),
        ("on on back on", true, true, false),
        ("on on back", true, false, false),
        ("back on on back on", false, true, false),
        ("back on on back", false, false, false),
    ] {
        assert_eq!(flags(machine.as_mut(), words), [legal, complete, minimal], "{words:?}");
    }
}

#[test]
fn only_the_best_sequential_plan_is_optimal() {
    let mut machine = machine("buttons_and_lights");
    let machine = machine.as_mut();
    let check = |machine: &mut dyn StateMachine, words: &str, reward: Option<f64>, is_optimal| {
        let found = checked(machine, words);
        assert_eq!((found.value, found.optimal), (reward, Some(is_optimal)), "{words}");
    };
    check(machine, "a b c a b a", Some(100.0), true);
    check(machine, "a b a c b a", Some(100.0), true);
    check(machine, "a b a b c a", Some(0.0), false);
    check(machine, "a b c", None, false);
    let (reward, best) = plan::best(machine, &Stop::never()).unwrap().unwrap();
    assert_eq!((reward, text(machine, &best).as_str()), (100, "a b a c b a"));
    assert!(plan::best(machine, &Stop::never().after_nodes(3)).unwrap().is_none());
}

#[test]
fn the_best_sequential_plan_is_for_one_role() {
    let mut machine = machine("tic_tac_toe");
    let refused = plan::best(machine.as_mut(), &Stop::never());
    assert!(matches!(refused, Err(Failure::Unsuitable(_))), "{refused:?}");
}

/// An admissible planner on every shipped puzzle small enough: the reward
/// played is that of the best plan, found without the player.
#[test]
fn the_planner_plays_an_optimal_plan() {
    for game in ["buttons_and_lights", "hanoi_small", "maze", "eight_puzzle_seed"] {
        let mut machine = machine(game);
        let machine = machine.as_mut();
        let (best, _) = plan::best(machine, &Stop::never()).unwrap().unwrap();
        let played = play(machine, &mut [player("sequential_planner", [])], 1);
        assert_eq!(played.goals, [best], "{game}");
        let plan = played.moves_of(0);
        assert_eq!(checked_moves(machine, &plan).optimal, Some(true));
    }
}

/// With a start clock too short the planner moves by its fallback and plans
/// from where it then is: the sooner, the larger its budget.
#[test]
fn a_late_plan_is_made_on_the_way() {
    let mut machine = machine("eight_puzzle_seed");
    let machine = machine.as_mut();
    let mut first_planned = Vec::new();
    for budget in [0, 1000, 100, 10, 1] {
        let options = [
            ("fallback", "legal".into()),
            ("node_budget", budget.into()),
            ("transposition", 0.into()),
            ("bounded", false.into()),
        ];
        let played = play(machine, &mut [player("sequential_planner", options)], 1);
        let started = played.started[0].as_ref().unwrap();
        let attempts =
            [started].into_iter().chain(played.steps.iter().map(|step| step[0].as_ref().unwrap()));
        for deliberation in attempts.clone() {
            assert!(budget == 0 || deliberation.nodes <= budget.cast_unsigned());
        }
        let when = attempts.clone().position(|attempt| attempt.completed);
        first_planned.push(when.unwrap_or(usize::MAX));
        // Once there is a plan, nothing more is searched.
        if let Some(when) = when {
            assert!(attempts.skip(when + 1).all(|attempt| attempt.nodes == 0));
        }
    }
    assert_eq!(first_planned[0], 0);
    assert!(first_planned.is_sorted() && first_planned[3] > 1, "{first_planned:?}");
}

/// What was solved in an attempt broken off is not lost: with a table the
/// attempts add up to a plan that none of them could make alone.
#[test]
fn attempts_to_plan_continue_each_other() {
    let mut machine = machine("eight_puzzle_seed");
    let machine = machine.as_mut();
    let planned_at = |machine: &mut dyn StateMachine, transposition: i64| {
        let options = [
            ("fallback", "legal".into()),
            ("node_budget", 40.into()),
            ("bounded", false.into()),
            ("transposition", transposition.into()),
        ];
        let played = play(machine, &mut [player("sequential_planner", options)], 1);
        played.steps.iter().position(|step| step[0].as_ref().unwrap().completed).unwrap()
    };
    assert!(planned_at(machine, 1000) < planned_at(machine, 0));
}

/// Random first, then by plan: the first move decides everything, and half of
/// the seeds lose.
#[test]
fn a_random_start_can_lose_what_planning_cannot_regain() {
    let rules = "
        (role walker)
        (init start)
        (way 0 1) (way 1 2) (way 2 3) (way 3 4)
        (side left) (side right)
        (<= (legal walker ?s) (side ?s))
        (<= (next (on left 0)) (true start) (does walker left))
        (<= (next (on right 0)) (true start) (does walker right))
        (<= (next (on ?s ?n)) (true (on ?s ?m)) (way ?m ?n))
        (<= (next (last ?s)) (does walker ?s))
        (<= terminal (true (on ?s 4)))
        (<= (goal walker 100) (true (on right 4)) (true (last left)))
        (<= (goal walker 50) (true (on right 4)) (true (last right)))
        (<= (goal walker 0) (not (true (on right 4))))";
    let mut machine = machine_of(rules);
    let mut rewards = std::collections::BTreeMap::<u8, usize>::new();
    for seed in 0..60 {
        // There are 63 states to enter at first and 31 after a step.
        let options =
            [("node_budget", 40.into()), ("transposition", 0.into()), ("bounded", false.into())];
        let played = play(machine.as_mut(), &mut [player("sequential_planner", options)], seed);
        *rewards.entry(played.goals[0]).or_default() += 1;
    }
    // Two outcomes, each 30 times on average; 15 is almost four deviations off.
    assert!(rewards.keys().eq([&0, &100]), "{rewards:?}");
    assert!(rewards.values().all(|&n| n > 15), "{rewards:?}");
}

/// Of several roles, each plays its part of the best line; if nobody departs
/// from it, the reward is that of the line.
#[test]
fn a_plan_for_several_roles_assumes_that_they_play_along() {
    let mut machine = machine("tic_tac_toe");
    // Both plan for the same end: x wins, which o does not want. Against
    // itself o's plan fails and is made anew.
    let mut seats = [player("sequential_planner", []), player("legal", [])];
    let played = play(machine.as_mut(), &mut seats, 1);
    let replanned = played.steps.iter().filter(|step| step[0].as_ref().unwrap().nodes > 0).count();
    assert_eq!(played.goals, [100, 0]);
    assert!(replanned <= played.steps.len());
    for seed in 0..20 {
        let mut seats = [player("sequential_planner", []), player("random", [])];
        play(machine.as_mut(), &mut seats, seed);
    }
    // It guarantees nothing: who minimises does not play along.
    let mut seats = [player("alpha_beta", []), player("sequential_planner", [])];
    assert_ne!(play(machine.as_mut(), &mut seats, 1).goals[1], 100);
    // Where the other does not matter, the plan holds against anyone.
    let aside = "
        (role walker) (role watcher)
        (init (at a)) (after a b) (after b c)
        (word yes) (word no)
        (<= (legal walker on) (true (at ?x)))
        (<= (legal walker wait) (true (at ?x)))
        (<= (legal watcher ?w) (word ?w))
        (<= (next (at ?y)) (does walker on) (true (at ?x)) (after ?x ?y))
        (<= (next (at ?x)) (does walker wait) (true (at ?x)))
        (<= (next (step 1)) (true (at a)) (not (true (step 1))))
        (<= (next (step 2)) (true (step 1)))
        (<= terminal (true (step 2)))
        (<= (goal walker 100) (true (at c)))
        (<= (goal walker 0) (not (true (at c))))
        (<= (goal watcher 50) (role watcher))";
    let mut machine = machine_of(aside);
    for seed in 0..10 {
        let mut seats = [player("sequential_planner", []), player("random", [])];
        let played = play(machine.as_mut(), &mut seats, seed);
        assert_eq!(played.goals, [100, 50]);
        assert!(played.steps.iter().all(|step| step[0].as_ref().unwrap().nodes == 0), "{seed}");
    }
}

/// A stopped planner has a legal move all the same, and forgets a match that
/// was broken off.
#[test]
fn no_time_to_plan_is_no_failure() {
    let mut machine = machine("eight_puzzle_seed");
    let stop = Stop::never().after_nodes(0);
    let mut planner = [player("sequential_planner", [])];
    let played = play_until(machine.as_mut(), &mut planner, 3, &stop);
    assert!(!played.started[0].as_ref().unwrap().completed);
    planner[0].start(seat(machine.as_ref(), 0, 1), &Stop::never()).unwrap();
    planner[0].abort();
    let again = play(machine.as_mut(), &mut planner, 1);
    assert_eq!(again.goals, [100]);
}

/// The first plan that is found takes eight moves; the shortest of the best takes four.
#[test]
fn the_shortest_of_the_best_plans_is_four_moves_long() {
    let mut machine = machine("eight_puzzle_seed");
    let machine = machine.as_mut();
    for (shortest, expected) in [(false, 8), (true, 4)] {
        let options = [("shortest", shortest.into())];
        let played = play(machine, &mut [player("sequential_planner", options)], 1);
        assert_eq!((played.goals, played.moves.len()), (vec![100], expected));
    }
}

/// By chance until the rest can be planned within the budget: what is reached depends on
/// the moves by chance, and from the first plan on it is what the plan promises.
#[test]
fn a_mixed_player_plans_once_the_rest_is_small() {
    let mut machine = machine("eight_puzzle_seed");
    let machine = machine.as_mut();
    let mut rewards = Vec::new();
    for seed in 0..40 {
        let options = [("node_budget", 12.into()), ("transposition", 0.into())];
        let played = play(machine, &mut [player("random_then_plan", options)], seed);
        let promised: Vec<Option<f64>> =
            played.steps.iter().map(|step| step[0].as_ref().unwrap().value).collect();
        let first = promised.iter().position(Option::is_some).expect("the last moves are planned");
        assert!(first > 0, "the whole game takes more than 12 states");
        let kept = promised[first..].iter().all(|value| *value == Some(played.goals[0].into()));
        assert!(kept, "{promised:?}, {:?}", played.goals);
        rewards.push(played.goals[0]);
    }
    assert!(rewards.iter().min() < Some(&50) && rewards.iter().max() == Some(&100), "{rewards:?}");
}

/// 133 decisions of the first player of tic-tac-toe guarantee the draw (worked out with
/// cells in row-major order, the first best move kept). Carrying the plan out takes no
/// search.
#[test]
fn a_conditional_plan_guarantees_the_draw() {
    let mut machine = machine("tic_tac_toe");
    let machine = machine.as_mut();
    for seed in 0..20 {
        let mut players = [player("conditional_planner", []), player("random", [])];
        let played = play(machine, &mut players, seed);
        let started = played.started[0].as_ref().unwrap();
        assert_eq!(started.value, Some(50.0));
        assert_eq!(played.nodes(0), 0);
        let said = played.steps[0][0].as_ref().unwrap();
        assert_eq!(
            said.notes,
            ["the plan is a tree of 133 decisions, and has a move for 126 states"]
        );
        assert!(played.goals[0] >= 50, "{:?}", played.goals);
    }
}

/// The tree that is kept is searched once: over a match no more than the search that
/// begins anew at each step, and nothing after the game is solved.
#[test]
fn incremental_deliberation_searches_no_state_twice() {
    for game in ["eight_puzzle_seed", "buttons_and_lights", "hanoi_small"] {
        let mut machine = machine(game);
        let machine = machine.as_mut();
        let (best, _) = plan::best(machine, &Stop::never()).unwrap().unwrap();
        let played = play(machine, &mut [player("incremental_deliberation", [])], 1);
        assert_eq!((played.goals.clone(), played.nodes(0)), (vec![best], 0), "{game}");
        let anew = play(machine, &mut [player("compulsive_deliberation", [])], 1);
        let started = played.started[0].as_ref().unwrap();
        assert!(started.next_calls <= anew.next_calls(0), "{game}");
    }
}

/// A tree at its bound says so, and the player moves on.
#[test]
fn a_bound_on_the_tree_is_kept_and_said() {
    let mut machine = machine("connect_four");
    let options = || [("max_states", 500.into())];
    let mut players =
        [player("incremental_deliberation", options()), player("conditional_planner", options())];
    let played = play_until(machine.as_mut(), &mut players, 1, &Stop::never().after_nodes(2000));
    let notes = |player: usize| played.steps[0][player].as_ref().unwrap().notes.join("; ");
    assert!(
        notes(0).contains("the tree has no room for more than 500 states (option max_states) and"),
        "{}",
        notes(0)
    );
    assert!(notes(1).contains("no plan: it takes more than 500 states"), "{}", notes(1));
}

/// A plan for some conditional steps of tic-tac-toe against all replies.
#[test]
fn a_plan_of_one_role_is_checked_against_all_replies() {
    let mut machine = machine("tic_tac_toe");
    let machine = machine.as_mut();
    // The first reply may take the place of the second mark.
    let words = ["(mark 2 2)", "noop", "(mark 1 1)"];
    let plan = words.map(|word| machine.find_move(&word.parse().unwrap()).unwrap());
    let found = checked_moves(machine, &plan);
    let illegal = found.illegal.clone().unwrap();
    assert_eq!(illegal.line.len(), 2);
    let reply = machine.move_expression(illegal.line[1][1]).to_string();
    assert_eq!(reply, "(mark 1 1)");
    assert!(found.incomplete.is_some() && found.not_minimal.is_none());
    assert_eq!((found.value, found.rewards, found.optimal), (None, None, Some(false)));
    // Without a move the plan ends immediately, and the match goes on.
    let nothing = checked(machine, "");
    assert_eq!(nothing.incomplete.map(|breach| breach.line), Some(vec![]));
}

/// 31 places in a row, from each of which one may step on or back, or jump to the middle; the
/// first has the end, which is worth 70.
fn row_of_places() -> Box<dyn StateMachine> {
    let places: String = (0..30).map(|n| format!("(after {n} {})", n + 1)).collect();
    machine_of(&format!(
        "(role a) (init (at 30)) {places}
         (<= (legal a on) (true (at ?x)) (after ?x ?y)) (<= (legal a back) (true (at ?y)) (after ?x ?y))
         (legal a jump) (<= (legal a stop) (true (at 0)))
         (<= (next (at ?y)) (does a on) (true (at ?x)) (after ?x ?y))
         (<= (next (at ?x)) (does a back) (true (at ?y)) (after ?x ?y))
         (<= (next (at 15)) (does a jump)) (<= (next over) (does a stop))
         (<= terminal (true over)) (goal a 70)",
    ))
}

/// Where play may go in circles and nothing is worth 100, each state is looked at once.
#[test]
fn circles_have_best_plans() {
    let mut machine = row_of_places();
    let found = plan::all_optimal(&mut *machine, 100, &Stop::never()).unwrap();
    // Back all the way, or with a jump to the middle from any of the 15 places above it.
    assert_eq!((found.missing, found.reward), (None, Some(70)));
    let mut lengths: Vec<usize> = found.plans.iter().map(Vec::len).collect();
    lengths.sort_unstable();
    assert_eq!(lengths, (17..=31).chain([31]).collect::<Vec<_>>());
}

/// The player, too, searches each state once, and again after fewer steps for the shortest
/// plan.
#[test]
fn the_sequential_planner_leaves_circles() {
    for (shortest, n_moves, most_nodes) in [(false, 31, 32), (true, 17, 32 * 32)] {
        let mut machine = row_of_places();
        let mut planner = player("sequential_planner", [("shortest", shortest.into())]);
        planner.start(seat(&*machine, 0, 1), &Stop::never()).unwrap();
        let said = planner.deliberation().unwrap();
        assert!(said.proven && said.value == Some(70.0), "{said:?}");
        assert_eq!(said.line.len(), n_moves, "{said:?}");
        assert!(said.nodes <= most_nodes, "{said:?}");
        let played = play(machine.as_mut(), &mut [planner], 1);
        assert_eq!((played.goals, played.steps.len()), (vec![70], n_moves));
    }
}

/// Rules by which another role cannot move leave nothing to check.
#[test]
fn another_role_without_a_move_is_the_fault_of_the_rules() {
    let mut machine = machine_of(
        "(role a) (role b) (init (at 0)) (<= (legal a go) (true (at ?x)))
         (<= (next (at 1)) (true (at 0))) (<= (next (at 2)) (true (at 1)))
         (<= (legal b wait) (true (at 0)))
         (<= terminal (true (at 2))) (<= (goal ?r 50) (role ?r))",
    );
    let go = moves(&mut *machine, "go go");
    let found = check(&mut *machine, RoleId(0), &Plan::sequence(&go), &Stop::never());
    match found {
        Err(Failure::Unsuitable(reason)) => {
            let what = "`b` has no legal move in a state that is not terminal, at step 2";
            assert!(reason.starts_with(what), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

/// Planning and random lines share the nodes of a move, and each gets some of them.
#[test]
fn a_random_search_keeps_to_the_nodes_of_a_move() {
    let mut machine = machine("fifteen_puzzle");
    let machine = machine.as_mut();
    let initial = machine.initial_state().unwrap();
    let mut legal = Vec::new();
    machine.legal_moves(&initial, RoleId(0), &mut legal).unwrap();
    let mut planner = player("random_then_plan", [("first", "search".into())]);
    let budget = Stop::never().after_nodes(2000);
    planner.start(seat(machine, 0, 1), &budget).unwrap();
    let turn = Turn { step: 0, observation: None, legal: &legal };
    planner.play(&turn, &budget).unwrap();
    let said = planner.deliberation().unwrap();
    assert!((1001..=2000).contains(&said.nodes), "{said:?}");
    assert!(!said.line.is_empty() && said.notes.len() == 1, "{said:?}");
}

/// Each of two roles opens a lock of its own: what the other does is no matter.
const TWO_LOCKS: &str = "
    (role left) (role right)
    (base (at left a)) (base (at left b)) (base (at right a)) (base (at right b))
    (init (at left a)) (init (at right a)) (init (step 1))
    (<= (legal ?r turn) (role ?r)) (<= (legal ?r wait) (role ?r))
    (<= (next (at ?r b)) (does ?r turn) (true (at ?r a)))
    (<= (next (at ?r a)) (does ?r turn) (true (at ?r b)))
    (<= (next (at ?r ?x)) (does ?r wait) (true (at ?r ?x)))
    (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
    (<= terminal (true (step 3)))
    (<= (goal ?r 100) (true (at ?r b))) (<= (goal ?r 0) (true (at ?r a)))";

#[test]
fn a_sequential_plan_may_be_optimal_among_several_roles() {
    let mut machine = machine_of(TWO_LOCKS);
    let machine = machine.as_mut();
    for (words, value) in [("turn wait", 100), ("wait turn", 100), ("turn turn", 0)] {
        let found = checked(machine, words);
        assert!(found.is_proper(), "{words}");
        assert_eq!(found.rewards, Some(value..=value), "{words}");
        assert_eq!(found.optimal, Some(value == 100), "{words}");
    }
    let longer = checked(machine, "turn wait wait");
    assert_eq!(longer.not_minimal.map(|breach| breach.line.len()), Some(2));
}
