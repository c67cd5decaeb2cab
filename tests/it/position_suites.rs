//! `gamemaster suite`: suites of positions, made, checked and played.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gamemaster::game_source::Reading;
use gamemaster::manager::{Manager, ManagerSettings};
use gamemaster::position_suite::file::{find, read};
use gamemaster::position_suite::play::{Asking, play};
use gamemaster::position_suite::{Position, SHIPPED};
use gamemaster::schedule::Clocks;
use gamemaster::spec;
use games::{Guards, MoveId, RoleId, State, StateMachine, state_machine_for};
use serde_json::Value;

use crate::workspace::Workspace;

/// States of a position's subtree beyond which a test leaves it out.
const MAX_STATES: usize = 400;

fn moves(machine: &mut dyn StateMachine, state: &State, role: RoleId) -> Vec<MoveId> {
    let mut legal = Vec::new();
    machine.legal_moves(state, role, &mut legal).unwrap();
    legal
}

/// Each joint move of a state: the move of the one player that chooses, if there is one,
/// and the successors, several where chance moves.
fn successors(
    machine: &mut dyn StateMachine,
    state: &State,
) -> (Option<RoleId>, Vec<(MoveId, Vec<State>)>) {
    let game = Arc::clone(machine.game());
    let roles: Vec<RoleId> = game.role_ids().collect();
    let legal: Vec<Vec<MoveId>> = roles.iter().map(|&role| moves(machine, state, role)).collect();
    let choosing: Vec<usize> = (0..roles.len())
        .filter(|&at| Some(roles[at]) != game.random() && legal[at].len() > 1)
        .collect();
    assert!(choosing.len() < 2, "one player chooses");
    let own = choosing.first().copied();
    let luck = game.random().map(|role| usize::from(role.0));
    let mut found = Vec::new();
    for own_move in own.map_or(vec![MoveId(0)], |at| legal[at].clone()) {
        let mut states = Vec::new();
        for chance in luck.map_or(vec![MoveId(0)], |at| legal[at].clone()) {
            let joint_move: Vec<MoveId> = (0..roles.len())
                .map(|at| match at {
                    at if Some(at) == own => own_move,
                    at if Some(at) == luck => chance,
                    at => legal[at][0],
                })
                .collect();
            let mut next = State::default();
            machine.next_state(state, &joint_move, &mut next).unwrap();
            states.push(next);
        }
        found.push((own_move, states));
    }
    (own.map(|at| roles[at]), found)
}

fn reward(machine: &mut dyn StateMachine, state: &State, role: RoleId) -> f64 {
    let goal = machine.goal(state, role).unwrap();
    f64::from(goal.values.iter().min().unwrap().value())
}

/// What a state is worth to `role`, by plain minimax to the end; `None` if it is too large.
fn minimax(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
    known: &mut BTreeMap<String, f64>,
) -> Option<f64> {
    if machine.is_terminal(state).unwrap() {
        return Some(reward(machine, state, role));
    }
    let mut facts: Vec<String> = machine.facts(state).iter().map(ToString::to_string).collect();
    facts.sort();
    let key = facts.join(" ");
    if let Some(&value) = known.get(&key) {
        return Some(value);
    }
    if known.len() == MAX_STATES {
        return None;
    }
    let (chooser, successors) = successors(machine, state);
    let mut best: Option<f64> = None;
    for (_, states) in successors {
        let mut sum = 0.0;
        for state in &states {
            sum += minimax(machine, state, role, known)?;
        }
        let value = sum / states.len() as f64;
        let better = if chooser == Some(role) { f64::max } else { f64::min };
        best = Some(best.map_or(value, |best| better(best, value)));
    }
    known.insert(key, best?);
    best
}

/// What is certain of a state after `depth` more steps, by plain recursion.
fn bounds(machine: &mut dyn StateMachine, state: &State, role: RoleId, depth: u32) -> [f64; 2] {
    if machine.is_terminal(state).unwrap() {
        return [reward(machine, state, role); 2];
    }
    if depth == 0 {
        return [0.0, 100.0];
    }
    let (chooser, successors) = successors(machine, state);
    let after: Vec<[f64; 2]> =
        successors.iter().map(|(_, states)| mean(machine, states, role, depth - 1)).collect();
    let better = if chooser == Some(role) { f64::max } else { f64::min };
    [0, 1].map(|at| after.iter().map(|bounds| bounds[at]).reduce(better).unwrap())
}

fn mean(machine: &mut dyn StateMachine, states: &[State], role: RoleId, depth: u32) -> [f64; 2] {
    let all: Vec<[f64; 2]> =
        states.iter().map(|state| bounds(machine, state, role, depth)).collect();
    [0, 1].map(|at| all.iter().map(|bounds| bounds[at]).sum::<f64>() / all.len() as f64)
}

/// Whether this many steps show that no other move can be better than the good ones.
fn is_certain(position: &Position, depth: u32) -> bool {
    let mut machine = state_machine_for(Arc::clone(&position.rules), Guards::default()).unwrap();
    let start = machine.initial_state().unwrap();
    let (mut good, mut other) = (0.0, 0.0);
    for (id, states) in successors(&mut *machine, &start).1 {
        let [low, high] = mean(&mut *machine, &states, position.role, depth - 1);
        if position.good.contains(&machine.move_expression(id).to_string()) {
            good = f64::max(good, low);
        } else {
            other = f64::max(other, high);
        }
    }
    good >= other
}

fn shipped() -> Vec<Position> {
    find(Path::new(SHIPPED), Reading::default()).unwrap().positions
}

#[test]
fn the_shipped_suite_is_large_and_hard() {
    let positions = shipped();
    assert!(positions.len() >= 120, "{} positions", positions.len());
    let mut games: BTreeMap<&str, usize> = BTreeMap::new();
    let mut depths: BTreeMap<u32, usize> = BTreeMap::new();
    for position in &positions {
        *games.entry(&position.game).or_default() += 1;
        *depths.entry(position.depth.unwrap()).or_default() += 1;
        assert_eq!(position.values.len(), position.n_legal, "{}", position.id);
    }
    assert!(games.len() >= 12, "{games:?}");
    assert!(depths.len() >= 10 && depths.values().all(|&n| n >= 3), "{depths:?}");
    let by_chance: f64 =
        positions.iter().map(|it| it.good.len() as f64 / it.n_legal as f64).sum::<f64>();
    assert!(by_chance < positions.len() as f64 * 0.35, "{by_chance}");
}

/// Values and good moves of some shipped positions of every game, wherever what follows is
/// small.
#[test]
fn shipped_values_are_those_of_plain_minimax() {
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    for position in shipped().into_iter().step_by(4) {
        let mut machine =
            state_machine_for(Arc::clone(&position.rules), Guards::default()).unwrap();
        let start = machine.initial_state().unwrap();
        let (chooser, successors) = successors(&mut *machine, &start);
        assert_eq!(chooser, Some(position.role), "{}", position.id);
        let mut known = BTreeMap::new();
        let mut values = Vec::new();
        for (id, states) in &successors {
            let mut sum = Some(0.0);
            for state in states {
                let value = minimax(&mut *machine, state, position.role, &mut known);
                sum = sum.zip(value).map(|(sum, value)| sum + value);
            }
            let text = machine.move_expression(*id).to_string();
            values.extend(sum.map(|sum| (text, sum / states.len() as f64)));
        }
        if values.len() < successors.len() {
            continue;
        }
        let best = values.iter().map(|(_, value)| *value).reduce(f64::max).unwrap();
        for (text, value) in values {
            let stated = position.values[&text];
            assert!((stated - value).abs() < 1e-5, "{}: {text} {stated} {value}", position.id);
            let is_good = value > best - 1e-6;
            assert_eq!(position.good.contains(&text), is_good, "{}: {text}", position.id);
        }
        *checked.entry(position.game).or_default() += 1;
    }
    let n: usize = checked.values().sum();
    assert!(n >= 25 && checked.len() >= 12, "{checked:?}");
}

#[test]
fn the_depth_is_the_least_that_is_certain() {
    let mut n = 0;
    for position in shipped().iter().filter(|position| position.depth.unwrap() <= 3) {
        let depth = position.depth.unwrap();
        assert!(is_certain(position, depth), "{}: {depth}", position.id);
        assert!(depth == 1 || !is_certain(position, depth - 1), "{}: {depth}", position.id);
        n += 1;
    }
    assert!(n > 30, "{n} positions");
}

fn json(workspace: &Workspace, arguments: &[&str], code: i32) -> Value {
    let arguments = [&["suite", "run"], arguments, &["--json"]].concat();
    serde_json::from_str(&workspace.run(&arguments).code(code).stdout()).unwrap()
}

/// A search that looks as far ahead as a position demands passes it.
#[test]
fn search_passes_what_it_can_look_ahead() {
    let workspace = Workspace::new();
    let player = "alpha_beta:depth=2,deepening=false";
    let report =
        json(&workspace, &[SHIPPED, "--player", player, "--nodes", "1e6", "--require", "0"], 0);
    let by_depth = report["players"][0]["by_depth"].as_object().unwrap();
    for depth in ["1", "2"] {
        let total = &by_depth[depth];
        assert_eq!(total["passed"], total["positions"], "depth {depth}: {total}");
    }
    assert!(by_depth["3"]["passed"].as_u64() < by_depth["3"]["positions"].as_u64());
}

#[test]
fn perfect_play_passes_and_random_play_fails() {
    let workspace = Workspace::new();
    workspace.run(&["solve", "connect_three", "--out", "c3.table"]).code(0);
    let make = ["suite", "make", "connect_three", "--table", "c3.table", "--positions", "12"];
    let made = workspace.run(&[&make[..], &["--out", "c3.toml"]].concat()).code(0);
    assert!(made.stderr().contains("c3.toml: 12 positions"), "{}", made.stderr());
    assert_eq!(workspace.run(&make).code(0).stdout(), workspace.read("c3.toml"), "repeatable");
    let other = workspace.run(&[&make[..], &["--seed", "2"]].concat()).code(0).stdout();
    assert_ne!(other, workspace.read("c3.toml"));

    let perfect = ["c3.toml", "--player", "perfect:table=c3.table", "--nodes", "1000"];
    let report = json(&workspace, &perfect, 0);
    let total = &report["players"][0]["total"];
    assert_eq!((&total["passed"], &total["mean_loss"]), (&12.into(), &0.0.into()), "{total}");

    let random = ["c3.toml", "--player", "random", "--nodes", "1000", "--junit", "c3.xml"];
    let report = json(&workspace, &random, 10);
    let player = &report["players"][0];
    let n_passed = player["total"]["passed"].as_u64().unwrap();
    assert!(n_passed < 12 && player["total"]["mean_loss"].as_f64().unwrap() > 0.0, "{player}");
    for result in player["results"].as_array().unwrap() {
        let good = result["good"].as_array().unwrap();
        assert_eq!(good.contains(&result["move"]), result["result"] == "passed", "{result}");
        assert_eq!(result["loss"] == 0.0, result["result"] == "passed", "{result}");
    }
    let xml = workspace.read("c3.xml");
    assert_eq!(xml.matches("<failure").count() as u64, 12 - n_passed, "{xml}");
    // What is required decides the exit code.
    let lenient = ["suite", "run", "c3.toml", "--player", "random", "--require", "0"];
    let text = workspace.run(&lenient).code(0).stdout();
    assert!(text.contains("Failed positions: random"), "{text}");
    // The number of workers changes nothing.
    let without_times = |jobs: &str| {
        let found = json(&workspace, &[&random[..], &["--jobs", jobs]].concat(), 10);
        let results = found["players"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|result| result["move"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(without_times("1"), without_times("4"));
}

/// A position that is given by its facts, and a launched player.
#[test]
fn launched_players_are_asked_too() {
    let workspace = Workspace::new();
    let program = assert_cmd::cargo::cargo_bin!("gamemaster").display().to_string();
    let suite = r#"
format = 1
[[position]]
game = "nim"
role = "right"
state = "(heap a 0) (heap b 0) (heap c 3) (control right)"
good = ["(take c 3)"]
"#;
    workspace.write("one.toml", suite);
    let player = format!("cmd:{program} serve --player alpha_beta --port {{port}}");
    let report = json(&workspace, &["one.toml", "--player", &player], 0);
    let result = &report["players"][0]["results"][0];
    assert_eq!((&result["move"], &result["result"]), (&"(take c 3)".into(), &"passed".into()));
    assert_eq!((&result["position"], &result["value"]), (&"position-1".into(), &Value::Null));
}

#[test]
fn a_player_that_cannot_play_does_not_pass() {
    let workspace = Workspace::new();
    let arguments = [SHIPPED, "--player", "sequential_planner", "--nodes", "10"];
    let report = json(&workspace, &arguments, 10);
    let results = report["players"][0]["results"].as_array().unwrap();
    let of_nim = results.iter().find(|result| result["game"] == "nim").unwrap();
    assert!(of_nim["move"].is_null() || of_nim["result"] != "passed", "{of_nim}");
    let told = workspace.run(&["suite", "run", SHIPPED, "--player", "nobody"]).code(2).stderr();
    assert!(told.contains("unknown player kind `nobody`"), "{told}");
}

#[test]
fn what_is_wrong_with_a_suite_is_said() {
    let valid = r#"format = 1
[[position]]
id = "one"
game = "tic_tac_toe"
role = "xplayer"
moves = "((mark 1 1) noop) (noop (mark 1 2)) ((mark 2 1) noop) (noop (mark 2 2))"
good = ["(mark 3 1)"]
values = { "(mark 3 1)" = 100, "(mark 3 3)" = 50 }
"#;
    let read = |text: &str| read(text, "s.toml", Path::new(""), Reading::default());
    let suite = read(valid).unwrap();
    assert_eq!((suite.name.as_str(), suite.positions[0].n_legal), ("s", 5));
    let check = |from: &str, to: &str, expected: &str| {
        assert!(valid.contains(from), "{from}");
        let error = read(&valid.replace(from, to)).unwrap_err();
        let mut message = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        assert!(message.contains(expected) && !message.contains('\n'), "{message}");
    };
    check("format = 1", "format = 2", "s.toml:1: format = 2: this program reads format 1");
    check("role", "rolle", "s.toml:5: unknown key `rolle`");
    check("\"tic_tac_toe\"", "\"tictactoe\"", "s.toml:4: cannot use the game: no game or file");
    check("\"tic_tac_toe\"", "\"kuhn_poker\"", "s.toml:4: `kuhn_poker` has hidden information");
    check("\"xplayer\"", "\"x\"", "s.toml:5: role = \"x\": expected one of xplayer, oplayer");
    check("(mark 2 2))", "(mark 1 1))", "s.toml:6: moves: joint move 4: `(mark 1 1)` is not legal");
    check("((mark 2 1) noop)", "(mark 2 1)", "s.toml:6: moves: joint move 3");
    check("[\"(mark 3 1)\"]", "[\"(mark 1 1)\"]", "s.toml:7: good: `(mark 1 1)` is not legal");
    check("[\"(mark 3 1)\"]", "[]", "s.toml:7: position `one`: `good` has no moves");
    check("[\"(mark 3 1)\"]", "[\"(mark 3 3)\"]", "`(mark 3 1)` is worth 100, not less than");
    let wanted = "expected a number above 0, and at most 1000000";
    check("id = \"one\"", "weight = 0", &format!("s.toml:3: weight = 0: {wanted}"));
    check("id = \"one\"", "weight = 1000001", &format!("s.toml:3: weight = 1000001: {wanted}"));
    check("= 50 }", "= 150 }", "s.toml:8: value 150: expected a number from 0 to 100");
    check("= 50 }", "= nan }", "s.toml:8: value NaN: expected a number from 0 to 100");
    check("moves =", "state = \"(control white)\"\nmoves =", "`moves` and `state` are both given");
    check("[[position]]", "[[position]]\n[[position]]", "missing key `game`");
    check("\"xplayer\"", "\"oplayer\"", "s.toml:7: good: `(mark 3 1)` is not legal for oplayer");
    let twice = valid.to_owned() + valid.trim_start_matches("format = 1\n");
    let error = read(&twice).unwrap_err().to_string();
    assert!(error.contains("s.toml:10: duplicate id `one`"), "{error}");
    assert!(read("format = 1").unwrap_err().to_string().contains("has no positions"));
    let over =
        "((mark 1 1) noop) (noop (mark 1 2)) ((mark 2 1) noop) (noop (mark 2 2)) ((mark 3 1) noop)";
    let error = read(&valid.replace(valid.lines().nth(5).unwrap(), &format!("moves = {over:?}")));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("s.toml:6: position `one`: the match is over there"), "{error}");

    let workspace = Workspace::new();
    let told = workspace.run(&["suite", "run", "no.toml", "--player", "legal"]).code(2).stderr();
    assert!(told.contains("no file or shipped suite `no.toml`"), "{told}");
    workspace.run(&["solve", "nim", "--out", "nim.table"]).code(0);
    let make = ["suite", "make", "tic_tac_toe", "--table", "nim.table"];
    let told = workspace.run(&make).code(2).stderr();
    assert!(told.contains("no table of tic_tac_toe was given; make one with"), "{told}");
    // What was found in the games before it is kept.
    let make =
        ["suite", "make", "nim", "tic_tac_toe", "--table", "nim.table", "--out", "both.toml"];
    let told = workspace.run(&make).code(2).stderr();
    assert!(told.contains("; both.toml has 10 positions of the games before"), "{told}");
    assert_eq!(workspace.read("both.toml").matches("[[position]]").count(), 10);
}

/// A suite of a rulesheet in a file finds it again, from wherever it is read.
#[test]
fn a_suite_of_a_rulesheet_names_its_file() {
    let workspace = Workspace::new();
    let rules = games::library::find("connect_three").unwrap().text;
    workspace.write("rules/three.kif", rules);
    std::fs::create_dir(workspace.path("suites")).unwrap();
    workspace.run(&["solve", "rules/three.kif", "--out", "three.table"]).code(0);
    for out in ["rules/three.toml", "suites/three.toml", "three.toml"] {
        let make = ["suite", "make", "rules/three.kif", "--table", "three.table", "--out", out];
        workspace.run(&make).code(0);
        let player = ["--player", "perfect:table=three.table"];
        workspace.run(&[&["suite", "run", out][..], &player].concat()).code(0);
    }
    assert!(workspace.read("rules/three.toml").contains("game = \"three.kif\""));
    assert!(workspace.read("three.toml").contains("game = \"rules/three.kif\""));
}

/// What was played before an interrupt is returned, and nothing is played after it.
#[test]
fn an_interrupt_keeps_the_results_so_far() {
    let suite = find(Path::new(SHIPPED), Reading::default()).unwrap();
    assert!(suite.positions.len() > 3);
    let players = [spec::read_player("legal").unwrap().config];
    let second = Duration::from_secs(1);
    let clocks = Clocks { start: second, play: second, margin: second };
    let asking = Asking { clocks, nodes: Some(1), seed: 1, n_workers: 1 };
    let manager = Manager::new(ManagerSettings::default());
    let interrupt_after = |n: usize| {
        if n == 3 {
            manager.interrupt();
        }
    };
    let rows = play(&manager, &suite, &players, &asking, &interrupt_after).unwrap();
    let played: Vec<&str> = rows[0].iter().map(|result| result.position.as_str()).collect();
    let first: Vec<&str> = suite.positions[..3].iter().map(|it| it.id.as_str()).collect();
    assert_eq!(played, first);
}
