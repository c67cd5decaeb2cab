//! Evaluation functions on states whose values are counted by hand, and as part of searches.

use std::sync::Arc;

use games::{Case, Expression, Guards, Leniency, RoleId, StateMachine, library, validate};
use rustc_hash::FxHashMap;

use super::*;
use crate::Stop;
use crate::search::chance::ChanceCuts;
use crate::search::{Frame, Memory, OUTSIDE, Search, SearchRoles, Settings, Stopwatch, UNBOUNDED};
use crate::testing;

/// The reasoner that a match uses, which computes a network for all games here.
fn network_machine(text: &str) -> Box<dyn StateMachine> {
    let game = validate::read("test", text, Case::default(), Leniency::default()).game.unwrap();
    games::state_machine_for(Arc::new(game), Guards::default()).unwrap()
}

fn shipped(name: &str) -> Box<dyn StateMachine> {
    network_machine(library::find(name).unwrap().text)
}

fn read(text: &str) -> EvaluationFunction {
    EvaluationFunction::read(text).unwrap()
}

fn state_of(machine: &mut dyn StateMachine, facts: &str) -> State {
    let facts: Vec<Expression> =
        facts.split(", ").map(|fact| Expression::parse(fact).unwrap()).collect();
    machine.state_of(&facts).unwrap()
}

/// The value of `state` for a role by a function, in a search that began with `question`.
fn value(
    machine: &mut dyn StateMachine,
    question: &State,
    state: &State,
    role: u8,
    function: &str,
) -> f64 {
    let (function, stop) = (read(function), Stop::never());
    let mut memory = EvaluationMemory::default();
    memory.begin(&function, machine, [question]);
    let mut frame = Frame::new(machine.game().roles().len());
    frame.begin(state);
    let mut cut_off = CutOff {
        machine,
        above: None,
        frame: &mut frame,
        role: RoleId(role),
        memory: &mut memory,
        stopwatch: &mut Stopwatch::new(&stop),
    };
    cut_off.score(&function).unwrap()
}

fn check(
    machine: &mut dyn StateMachine,
    question: &State,
    state: &State,
    role: u8,
    function: &str,
    expected: f64,
) {
    let found = value(machine, question, state, role, function);
    assert!((found - expected).abs() < 1e-9, "{function} of role {role}: {found}, not {expected}");
}

/// Two roles: `a` has four moves at 1 and two at 2, `b` one and five; chance has two.
const COUNTED: &str = "(role a) (role b) (role random)
    (init (at 1)) (follows 1 2) (follows 2 3)
    (open 1 a 1) (open 1 a 2) (open 1 a 3) (open 1 a 4) (open 1 b 1)
    (open 2 a 1) (open 2 a 2) (open 2 b 1) (open 2 b 2) (open 2 b 3) (open 2 b 4) (open 2 b 5)
    (<= (legal ?r ?m) (true (at ?n)) (open ?n ?r ?m)) (legal random 1) (legal random 2)
    (<= (next (at ?k)) (true (at ?n)) (follows ?n ?k)) (<= terminal (true (at 3)))
    (<= (goal a 70) (true (at 3))) (<= (goal b 30) (true (at 3)))
    (<= (goal a 20) (true (at 2))) (<= (goal b 100) (true (at 2)))";

#[test]
fn moves_are_counted_against_the_most_in_random_play() {
    for mut machine in [testing::machine(COUNTED), network_machine(COUNTED)] {
        let machine = machine.as_mut();
        let (one, two) = (state_of(machine, "(at 1)"), state_of(machine, "(at 2)"));
        let mut check = |state: &State, role, function: &str, expected| {
            check(machine, state, state, role, function, expected);
        };
        // Shares of 4 moves of `a` and 5 of `b`; 100 is cut to 99.
        check(&one, 0, "mobility", 99.0);
        check(&two, 0, "mobility", 50.0);
        check(&two, 0, "focus", 50.0);
        check(&one, 0, "focus", 1.0);
        check(&one, 0, "opponent_mobility", 20.0);
        check(&one, 0, "opponent_focus", 80.0);
        check(&two, 1, "opponent_mobility", 50.0);
        check(&two, 1, "mobility", 99.0);
    }
}

/// Where roles move in turn, a role that waits would otherwise have as many moves in every state.
#[test]
fn the_moves_of_a_role_that_waits_are_those_of_the_state_before() {
    let in_turn = COUNTED.replace("(open 2 a 2)", "");
    let values = mobility_after_the_second_state(&in_turn);
    // `b` had five moves before, and has one; `a` had one, and has four.
    assert_eq!(values, [[99.0, 99.0], [1.0, 1.0], [99.0, 99.0]]);
}

/// A role that chose together with another and has one move left does not wait.
#[test]
fn the_moves_of_a_role_that_runs_out_of_them_are_its_own() {
    let values = mobility_after_the_second_state(COUNTED);
    assert_eq!(values, [[20.0, 20.0], [80.0, 80.0], [99.0, 99.0]]);
}

/// In the first state, as if it came after the second one: mobility of `b`, for itself and as the
/// opponent's of `a`; focus likewise; mobility of `a` likewise.
fn mobility_after_the_second_state(rules: &str) -> [[f64; 2]; 3] {
    let mut machine = network_machine(rules);
    let machine = machine.as_mut();
    let (one, two) = (state_of(machine, "(at 1)"), state_of(machine, "(at 2)"));
    let mut before = Frame::new(3);
    before.begin(&two);
    assert!(before.list_moves(machine, None, &FxHashMap::default()).unwrap());
    let (mut memory, stop) = (EvaluationMemory::default(), Stop::never());
    let mut value = |role, function: &str| {
        let mut frame = Frame::new(3);
        frame.begin(&one);
        let mut cut_off = CutOff {
            machine,
            above: Some(&before),
            frame: &mut frame,
            role: RoleId(role),
            memory: &mut memory,
            stopwatch: &mut Stopwatch::new(&stop),
        };
        cut_off.score(&read(function)).unwrap()
    };
    [
        [value(1, "mobility"), value(0, "opponent_mobility")],
        [value(1, "focus"), value(0, "opponent_focus")],
        [value(0, "mobility"), value(1, "opponent_mobility")],
    ]
}

#[test]
fn a_role_without_opponents_has_their_mobility_unknown() {
    let text = "(role a) (role random) (legal a go) (legal random 1) (legal random 2)
        (init (at 1)) (<= (next (at 2)) (true (at 1))) (<= terminal (true (at 2))) (goal a 40)";
    let mut machine = testing::machine(text);
    let state = machine.initial_state().unwrap();
    check(machine.as_mut(), &state, &state, 0, "opponent_mobility", 50.0);
    check(machine.as_mut(), &state, &state, 0, "opponent_focus", 50.0);
}

#[test]
fn estimates_stay_between_defeat_and_win() {
    let mut machine = network_machine(COUNTED);
    let two = state_of(machine.as_mut(), "(at 2)");
    check(machine.as_mut(), &two, &two, 0, "goal", 20.0);
    check(machine.as_mut(), &two, &two, 1, "goal", 99.0);
    check(machine.as_mut(), &two, &two, 0, "novelty", 1.0);
    check(machine.as_mut(), &two, &two, 0, "zero", 0.0);
    let one = state_of(machine.as_mut(), "(at 1)");
    check(machine.as_mut(), &one, &one, 0, "goal", 50.0);
}

/// Every line of play ends at 3, where `a` has 70 and `b` 30.
#[test]
fn playouts_have_the_mean_of_the_rewards() {
    for mut machine in [testing::machine(COUNTED), network_machine(COUNTED)] {
        let one = machine.initial_state().unwrap();
        check(machine.as_mut(), &one, &one, 0, "monte_carlo", 70.0);
        check(machine.as_mut(), &one, &one, 1, "monte_carlo", 30.0);
    }
    let mut machine = shipped("tic_tac_toe");
    let state = machine.initial_state().unwrap();
    let first = value(machine.as_mut(), &state, &state, 0, "monte_carlo");
    check(machine.as_mut(), &state, &state, 0, "monte_carlo", first);
    // The mean by exact calculation is 64.84, and 16 playouts have a standard error of 11.
    assert!((20.0..=99.0).contains(&first), "{first}");
}

#[test]
fn novelty_is_the_share_of_facts_that_changed() {
    let text = "(role a) (init p) (init q) (init r) (legal a go)
        (<= (next p) (true p)) (<= (next s) (true p)) (<= terminal (true s)) (goal a 0)";
    let mut machine = testing::machine(text);
    let machine = machine.as_mut();
    let question = machine.initial_state().unwrap();
    for (facts, changed) in
        [("p, q, r", 1.0), ("p, q", 100.0 / 3.0), ("p, s", 75.0), ("s", 99.0), ("p, q, r, s", 25.0)]
    {
        let state = state_of(machine, facts);
        check(machine, &question, &state, 0, "novelty", changed);
    }
}

/// Degrees of truth by hand: 0.9 for a fact that holds, 0.1 for one that does not.
#[test]
fn goals_are_weighted_with_their_degrees_of_truth() {
    let text = "(role a) (init s) (legal a p) (legal a q) (legal a go) (base p) (base q)
        (<= (next s) (true s)) (<= (next p) (does a p)) (<= (next p) (true p))
        (<= (next q) (does a q)) (<= (next q) (true q))
        (<= won (true p) (true q)) (<= terminal won)
        (<= (goal a 100) won) (<= (goal a 40) (not won))";
    let mut machine = network_machine(text);
    let machine = machine.as_mut();
    for (facts, won) in [("s", 0.1 * 0.1), ("p, s", 0.9 * 0.1), ("q, s", 0.9 * 0.1)] {
        let state = state_of(machine, facts);
        check(machine, &state, &state, 0, "goal_proximity", 100.0 * won + 40.0 * (1.0 - won));
    }
    let mut prover = testing::machine(text);
    assert!(read("goal + goal_proximity").refusal(prover.as_mut()).is_some());
    assert_eq!(read("goal + goal_proximity").refusal(machine), None);
    assert_eq!(read("goal + mobility").refusal(prover.as_mut()), None);
}

/// The more marks in a row, the nearer is the goal; the other role sees it as farther.
#[test]
fn more_of_a_line_is_nearer_to_the_goal() {
    let mut machine = shipped("tic_tac_toe");
    let machine = machine.as_mut();
    let mut found = Vec::new();
    for row in ["b b b", "x b b", "x x b"] {
        let row: Vec<&str> = row.split(' ').collect();
        let mut facts = String::from("(control xplayer)");
        for (column, mark) in row.iter().enumerate() {
            facts.push_str(&format!(", (cell 1 {} {mark})", column + 1));
        }
        for cell in ["2 1", "2 2", "2 3", "3 1", "3 2", "3 3"] {
            facts.push_str(&format!(", (cell {cell} b)"));
        }
        let state = state_of(machine, &facts);
        let of = |role| value(machine, &state, &state, role, "goal_proximity");
        found.push([0, 1].map(of));
    }
    assert!(found.windows(2).all(|pair| pair[0][0] < pair[1][0]), "{found:?}");
    assert!(found.windows(2).all(|pair| pair[0][1] > pair[1][1]), "{found:?}");
}

#[test]
fn a_sum_is_the_weighted_mean_of_its_terms() {
    let mut machine = network_machine(COUNTED);
    let machine = machine.as_mut();
    let two = state_of(machine, "(at 2)");
    for (name, _) in NAMED {
        let alone = value(machine, &two, &two, 0, name);
        check(machine, &two, &two, 0, &format!("3*{name}"), alone.clamp(LEAST, MOST));
    }
    // Goal 20, mobility 50, opponents' mobility 100 cut to 99.
    check(machine, &two, &two, 0, "goal + mobility", 35.0);
    check(machine, &two, &two, 0, "3*goal+0.5 * opponent_mobility", (60.0 + 49.5) / 3.5);
}

#[test]
fn only_names_and_sums_of_names_are_read() {
    for (name, function) in NAMED {
        assert_eq!(read(name), function);
        assert!(ACCEPTS.contains(&format!("\"{name}\"")), "{name} is not listed");
        assert!(HELP.contains(&format!("`{name}`")), "{name} is not explained");
    }
    for wrong in
        ["", "gold", "goal+", "+goal", "2*", "*goal", "0*goal", "-1*goal", "nan*goal", "inf*goal"]
    {
        assert_eq!(EvaluationFunction::read(wrong), None, "{wrong}");
    }
}

/// Alpha-beta with a table, with and without deepening, finds the value of minimax in the initial state.
fn check_against_minimax(machine: &mut dyn StateMachine, function: &str, depth: u32) {
    let role = RoleId(0);
    assert_eq!(SearchRoles::new(machine.game(), role).me, role);
    let state = machine.initial_state().unwrap();
    let stop = Stop::never();
    let plain =
        Settings { window: UNBOUNDED, depth, evaluation: read(function), ..Settings::TEXTBOOK };
    let cut = Settings {
        window: OUTSIDE,
        narrow: true,
        chance_cuts: ChanceCuts::Star1,
        deepening: true,
        remembered: 1000,
        ..plain.clone()
    };
    let at_once = Settings { deepening: false, ..cut.clone() };
    let [expected, found, found_at_once] = [plain, cut, at_once].map(|settings| {
        let mut memory = Memory::default();
        let mut search = Search::new(machine, role, settings, &mut memory, &stop);
        search.best_move(&state).unwrap().value.unwrap().score
    });
    let game = machine.game().name();
    for found in [found, found_at_once] {
        assert!(
            (found - expected).abs() < 1e-6,
            "{game}, {function}, depth {depth}: {found}, not {expected}"
        );
    }
}

/// By every function and to every depth, whatever it met before.
#[test]
fn alpha_beta_finds_the_value_of_minimax_by_every_function() {
    let names = NAMED.map(|(name, _)| name);
    for game in ["tic_tac_toe", "connect_four_4x4", "pig", "othello_4x4"] {
        for function in names.into_iter().chain(["goal_proximity + 2*mobility"]) {
            for depth in 1..=3 {
                check_against_minimax(&mut *shipped(game), function, depth);
            }
        }
    }
}

/// `a` waits in `z`, to which it came by one of two moves or of three: the state has two values.
#[test]
fn the_mobility_of_a_role_that_waits_is_not_remembered_with_the_state() {
    let text = "(role a) (role b) (init (at s)) (turn s a) (turn x1 b) (turn y1 b) (turn x2 a)
        (turn y2 a) (turn z b)
        (step s x x1) (step s y y1) (step x1 m x2) (step x1 n x2) (step y1 m y2) (step y1 n y2)
        (step x2 p z) (step x2 q z) (step y2 p z) (step y2 q z) (step y2 r z) (step z m e)
        (<= (legal ?r ?m) (true (at ?s)) (turn ?s ?r) (step ?s ?m ?t))
        (<= (legal ?r noop) (role ?r) (true (at ?s)) (turn ?s ?other) (distinct ?r ?other))
        (<= (next (at ?t)) (true (at ?s)) (turn ?s ?r) (does ?r ?m) (step ?s ?m ?t))
        (<= terminal (true (at e))) (goal a 50) (goal b 50)";
    for function in ["mobility", "goal_proximity + 2*mobility", "novelty + mobility"] {
        check_against_minimax(&mut *network_machine(text), function, 3);
    }
}
