//! `gamemaster game ...` as a user types it.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use expect_test::{Expect, expect};
use serde_json::Value;

/// A rulesheet with a defect in each of its last four lines.
const DEFECTIVE: &str = "\
(role white)
(role black)
(init (light off))
(<= (legal ?r wait) (role ?r))
(<= terminal (true (light on)))
(<= (next (light ?colour)) (does white wait))
(<= (goal ?r 101) (role ?r))
(<= hot (not cold))
(<= cold (not hot))
";

/// A lamp that one role may light at once or never: defects met in play only.
const LAMP: &str = "\
(role keeper)
(init (step 0))
(<= (legal keeper light) (true (step 0)))
(<= (legal keeper wait) (true (step ?n)))
(<= (next lit) (does keeper light))
(<= (next (step 1)) (does keeper wait))
(<= terminal (true lit))
(<= (goal keeper 100) (true lit))
(<= (goal keeper 0) (not (true lit)))
";

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn game(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
    let output = command.arg("game").args(arguments).current_dir(folder).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder with these files.
fn files(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a command on `game.kif`, and holds what it prints (first to the
/// standard output, then to the standard error) against `expected`; times are
/// left out.
fn check(rulesheet: &[u8], arguments: &[&str], code: i32, expected: Expect) {
    let folder = files(&[("game.kif", rulesheet)]);
    let ran = game(folder.path(), arguments);
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    let untimed = |line: &str| match line.split_once(": constant relations ") {
        Some((before, _)) => {
            let indented = before.len() - before.trim_start().len();
            format!("{}(times)\n", &before[..indented])
        }
        None => line.to_owned(),
    };
    expected.assert_eq(&printed.split_inclusive('\n').map(untimed).collect::<String>());
    assert_eq!(ran.code, code, "{arguments:?}");
}

#[test]
fn all_defects_are_drawn() {
    check(
        DEFECTIVE.as_bytes(),
        &["validate", "game.kif"],
        3,
        expect![[r#"
            error[unsafe-head]: the variable `?colour` of the head occurs in no positive condition
             --> game.kif:6:18
              |
            6 | (<= (next (light ?colour)) (does white wait))
              |                  ^^^^^^^
              |
              = help: add a positive condition that binds `?colour`

            error[bad-goal-value]: the goal value `101` is not an integer from 0 to 100
             --> game.kif:7:14
              |
            7 | (<= (goal ?r 101) (role ?r))
              |              ^^^
              |
              = help: give a value from 0 (worst) to 100 (best)

            error[unstratified]: `hot` depends on its own negation: hot -> not cold -> hot
             --> game.kif:8:14
              |
            8 | (<= hot (not cold))
              |              ^^^^
              |
              = help: break the cycle; rules with a negation inside a recursion have no meaning

            error[unstratified]: `cold` depends on its own negation: cold -> not hot -> cold
             --> game.kif:9:15
              |
            9 | (<= cold (not hot))
              |               ^^^
              |
              = help: break the cycle; rules with a negation inside a recursion have no meaning

            game.kif: not valid, 4 errors
        "#]],
    );
}

#[test]
fn a_broken_rulesheet_stops_every_command() {
    let folder = files(&[("game.kif", DEFECTIVE.as_bytes())]);
    for command in ["info", "state", "trace", "bench"] {
        let ran = game(folder.path(), &[command, "game.kif"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{command}");
        assert!(ran.stderr.starts_with("error[unsafe-head]"), "{}", ran.stderr);
        assert!(ran.stderr.contains("error: invalid rulesheet `game.kif`"), "{}", ran.stderr);
    }
}

#[test]
fn unreadable_text_is_drawn() {
    let unclosed = b"(role white)\r\n(init (a b)\r\n(init (c))\r\n(terminal\r\n";
    check(
        unclosed,
        &["info", "game.kif"],
        3,
        expect![[r#"
            error[unclosed-parenthesis]: unclosed `(`
             --> game.kif:2:1
              |
            2 | (init (a b)
              | ^
              |
              = help: add the missing `)` before the next form that starts a line, or at the end of the text

            error[unclosed-parenthesis]: unclosed `(`
             --> game.kif:4:1
              |
            4 | (terminal
              | ^
              |
              = help: add the missing `)` before the next form that starts a line, or at the end of the text

            error: invalid rulesheet `game.kif`: 2 errors
        "#]],
    );
    let misplaced = b"(role white)\r\n(init (a b)\r\n(init (c)))\r\n";
    check(
        misplaced,
        &["info", "game.kif"],
        3,
        expect![[r#"
            error[missing-keyword]: there is no rule for `legal`
            --> game.kif
             = help: define the legal moves by rules for `(legal ?role ?move)`

            error[missing-keyword]: there is no rule for `goal`
            --> game.kif
             = help: define the goals of each role by rules for `(goal ?role ?value)`

            error[missing-keyword]: there is no rule for `terminal`
            --> game.kif
             = help: define the end of the game by rules for `terminal`

            error[wrong-arity]: `init` takes 1 argument, not 2
             --> game.kif:2:1
              |
            2 | / (init (a b)
            3 | | (init (c)))
              | |___________^
              |
              = help: give it 1 argument

            error: invalid rulesheet `game.kif`: 4 errors, 2 warnings
        "#]],
    );
    check(
        b"",
        &["info", "game.kif"],
        3,
        expect![[r#"
            error[missing-keyword]: there is no rule for `role`
            --> game.kif
             = help: declare each role by a fact such as `(role white)`

            error[missing-keyword]: there is no rule for `legal`
            --> game.kif
             = help: define the legal moves by rules for `(legal ?role ?move)`

            error[missing-keyword]: there is no rule for `goal`
            --> game.kif
             = help: define the goals of each role by rules for `(goal ?role ?value)`

            error[missing-keyword]: there is no rule for `terminal`
            --> game.kif
             = help: define the end of the game by rules for `terminal`

            error: invalid rulesheet `game.kif`: 4 errors
        "#]],
    );
    check(
        b"(role white)\n(role bl\xe4ck)\n",
        &["info", "game.kif"],
        3,
        expect![[r#"
            error[not-utf8]: the byte 0xE4 in this name is not UTF-8
             --> game.kif:2:7
              |
            2 | (role bl�ck)
              |       ^^^^^
              |
              = help: save the file as UTF-8; only comments may hold other bytes

            error: invalid rulesheet `game.kif`: 1 error
        "#]],
    );
    check(
        b"(role white)",
        &["validate", "game.kif", "--case", "loud"],
        2,
        expect![[r#"
        error: invalid value 'loud' for '--case <MODE>'
          [possible values: folded, sensitive]

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn what_is_not_there_is_told() {
    let check = |arguments: &[&str], expected| check(b"", arguments, 2, expected);
    check(
        &["info", "tictactoe"],
        expect![[r#"
            error: no game or file `tictactoe` (did you mean `tic_tac_toe`, `bidding_tic_tac_toe` or `blind_tic_tac_toe`?); `gamemaster game list` lists the shipped games
        "#]],
    );
    check(
        &["info", "none_of_them.kif"],
        expect![[r#"
            error: no game or file `none_of_them.kif`; `gamemaster game list` lists the shipped games
        "#]],
    );
    check(
        &["info", "."],
        expect![[r#"
            error: cannot read the rulesheet `.`: Is a directory (os error 21)
        "#]],
    );
    check(
        &["trace", "nim", "--follow", "none.jsonl"],
        expect![[r#"
            error: cannot read the trace `none.jsonl`: No such file or directory (os error 2)
        "#]],
    );
}

#[test]
fn findings_are_listed_as_json() {
    let folder = files(&[("game.kif", DEFECTIVE.as_bytes())]);
    let arguments = ["validate", "game.kif", "tic_tac_toe", "missing.kif", "--json"];
    let ran = game(folder.path(), &arguments);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, 2);
    let valid: Vec<_> = report["files"].as_array().unwrap().iter().map(|f| &f["valid"]).collect();
    assert_eq!(valid, [false, true, false]);
    let finding = serde_json::to_string(&report["findings"][0]).unwrap();
    expect![[r#"{"code":"unsafe-head","column":18,"file":"game.kif","help":"add a positive condition that binds `?colour`","line":6,"message":"the variable `?colour` of the head occurs in no positive condition","severity":"error","span":[125,132]}"#]].assert_eq(&finding);
}

#[test]
fn lenient_reading_makes_a_game_of_unsafe_rules() {
    let unsafe_rules = LAMP.replace("(goal keeper 0)", "(goal ?who 0)");
    let folder = files(&[("game.kif", unsafe_rules.as_bytes())]);
    assert_eq!(game(folder.path(), &["validate", "game.kif"]).code, 3);
    assert_eq!(game(folder.path(), &["validate", "game.kif", "--lenient"]).code, 0);
    let ran = game(folder.path(), &["state", "game.kif", "--lenient", "--json"]);
    assert_eq!(lines(&ran.stdout)[0]["goals"]["keeper"], 0);
}

#[test]
fn the_reasoner_tells_of_itself() {
    let folder = files(&[]);
    let told = game(folder.path(), &["info", "othello", "--playouts", "3", "--json"]);
    let report: Value = serde_json::from_str(&told.stdout).unwrap();
    let statistics = report["reasoner_statistics"].as_object().unwrap();
    assert!(statistics["facts"].as_u64() > Some(100), "{statistics:?}");
    assert!(statistics["gates"].as_u64() > Some(1000), "{statistics:?}");
    let grounding = report["grounding"].as_object().unwrap();
    assert_eq!(grounding["after"]["facts"], statistics["facts"]);
    // Equal parts are merged in small networks only.
    assert_eq!(grounding["passes"].as_array().unwrap().len(), 6);
    let told = game(folder.path(), &["info", "kuhn_poker", "--playouts", "3", "--json"]);
    let report: Value = serde_json::from_str(&told.stdout).unwrap();
    let grounding = report["grounding"].as_object().unwrap();
    assert_eq!(grounding["passes"].as_array().unwrap().len(), 7);
    assert!(
        grounding["after"]["conjunctions"].as_u64() < grounding["conjunctions_apart"].as_u64(),
        "{grounding:?}"
    );
    let text = game(folder.path(), &["info", "othello", "--playouts", "3"]).stdout;
    let reasoner = report["reasoner"].as_str().unwrap();
    assert!(text.contains(&format!("reasoner       {reasoner}: ")), "{text}");
}

#[test]
fn shipped_games_are_listed() {
    let folder = files(&[]);
    let ran = game(folder.path(), &["list", "--json"]);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, games::library::names().collect::<Vec<_>>());
    let kind = |name: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        row["kind"].to_string()
    };
    expect![[r#"{"chance":false,"hidden_information":false,"players":2,"turns":"turn_taking"}"#]]
        .assert_eq(&kind("tic_tac_toe"));
    expect![[r#"{"chance":false,"hidden_information":false,"players":2,"turns":"simultaneous"}"#]]
        .assert_eq(&kind("rock_paper_scissors"));
    expect![[r#"{"chance":true,"hidden_information":true,"players":1,"turns":"alone"}"#]]
        .assert_eq(&kind("monty_hall"));
    expect![[r#"{"chance":false,"hidden_information":false,"players":1,"turns":"alone"}"#]]
        .assert_eq(&kind("buttons_and_lights"));

    let table = game(folder.path(), &["list"]).stdout;
    assert!(names.iter().all(|name| table.contains(name)), "{table}");
}

#[test]
fn the_rules_are_printed_as_they_are_written() {
    let text = games::library::find("nim").unwrap().text;
    let folder = files(&[("mine.kif", b"(role a) ; no end of line")]);
    let shipped = game(folder.path(), &["rules", "nim"]);
    assert_eq!((shipped.code, shipped.stdout.as_str(), shipped.stderr.as_str()), (0, text, ""));
    let mine = game(folder.path(), &["rules", "mine.kif"]);
    assert_eq!((mine.code, mine.stdout.as_str()), (0, "(role a) ; no end of line"));
    let missing = game(folder.path(), &["rules", "nimm"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (2, ""));
    assert!(missing.stderr.contains("did you mean `nim`"), "{}", missing.stderr);
}

#[test]
fn a_game_is_described() {
    check(
        b"",
        &["info", "tic_tac_toe"],
        0,
        expect![[r#"
            tic_tac_toe: Tic-tac-toe (noughts and crosses) on a board of 3 by 3.
              roles          xplayer oplayer
              kind           2 players, turn-taking, deterministic, perfect information
              environment    2 agents in turn, fully observable, deterministic, sequential, constant sum
              suited         perfect: small enough to be solved
                             alpha_beta: players move in turn and their rewards are opposed
                             mcts: needs no evaluation of states
              end            after at most 9 steps: none of the 5478 states can repeat
              rulesheet      1827 bytes, 36 forms, no findings
              rules          24 rules, 12 constant facts, 17 relations
              reasoner       network: 29 possible facts, 20 possible moves, 104
                             conjunctions, 71 gates, 175 gate inputs, 92 updates per step,
                             41 goal conjunctions, 0 percept conjunctions, evaluation: pass
              grounding      211 grounded rules from 262 rows
                             29 possible facts, 20 possible moves, 104 conjunctions
                             without constant parts: 29 possible facts, 20 possible moves, 104 conjunctions
                             (times)
              initial state  10 facts, legal moves: xplayer 9, oplayer 1
              playouts       50
              length         5 to 9, mean 7.80
              branching      1 to 9, mean 5.52
              facts/state    10
              tree           about 581194 nodes
              goals          xplayer: 0 to 100, mean 64.00
                             oplayer: 0 to 100, mean 36.00
        "#]],
    );
    check(
        LAMP.as_bytes(),
        &["info", "game.kif"],
        0,
        expect![[r#"
            game
              roles          keeper
              kind           1 player, deterministic, perfect information
              environment    1 agent, fully observable, deterministic, episodic, one player
              suited         sequential_planner: nobody else moves, so one plan serves the whole match
                             incremental_deliberation: keeps its tree, and expands no state twice
              end            may never come: play can come back to a state, for example
                             after 2 steps
              rulesheet      287 bytes, 9 forms, no findings
              rules          7 rules, 2 constant facts, 6 relations
              reasoner       network: 3 possible facts, 2 possible moves, 0 conjunctions, 0
                             gates, 0 gate inputs, 0 updates per step, 0 goal conjunctions,
                             0 percept conjunctions, evaluation: pass
              grounding      12 grounded rules from 18 rows
                             3 possible facts, 2 possible moves, 1 conjunction
                             without constant parts: 3 possible facts, 2 possible moves, 1 conjunction; 0 after merging equal parts
                             (times)
              initial state  1 fact, legal moves: keeper 2
              playouts       50, 27 cut short
              length         1
              branching      1 to 2, mean 1.00
              facts/state    1
              tree           about 3 nodes
              goals          keeper: 100
        "#]],
    );
}

#[test]
fn a_state_is_reached_by_moves() {
    let moves = "((mark 1 1) noop) (noop (mark 2 2))";
    check(
        b"",
        &["state", "tic_tac_toe", "--moves", moves],
        0,
        expect![[r#"
        tic_tac_toe, after 2 steps

        facts (10)
          (cell 1 1 x)
          (cell 1 2 b)
          (cell 1 3 b)
          (cell 2 1 b)
          (cell 2 2 o)
          (cell 2 3 b)
          (cell 3 1 b)
          (cell 3 2 b)
          (cell 3 3 b)
          (control xplayer)

        legal moves
          xplayer  (mark 1 2) (mark 1 3) (mark 2 1) (mark 2 3) (mark 3 1) (mark 3 2) (mark 3 3)
          oplayer  noop

        goals
          xplayer  50
          oplayer  50
    "#]],
    );
    for moves in ["a b (c)", "(a)(b)(c)", "((a)) b c"] {
        let ran = game(Path::new("."), &["state", "buttons_and_lights", "--moves", moves]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.starts_with("buttons_and_lights, after 3 steps\n"), "{}", ran.stdout);
    }
}

#[test]
fn a_state_is_given_by_its_facts() {
    let facts = "(cell 1 1 x) (true (cell 1 2 x)) (cell 1 3 b) (cell 2 2 b) (control xplayer)";
    let arguments = ["state", "tic_tac_toe", "--state", facts, "--json"];
    check(
        b"",
        &arguments,
        0,
        expect![[r#"
        {"game":"tic_tac_toe","step":0,"state":["(cell 1 1 x)","(cell 1 2 x)","(cell 1 3 b)","(cell 2 2 b)","(control xplayer)"],"legal":{"xplayer":["(mark 1 3)","(mark 2 2)"],"oplayer":["noop"]},"terminal":false,"goals":{"xplayer":50,"oplayer":50},"percepts":null}
    "#]],
    );
    let arguments =
        ["state", "tic_tac_toe", "--state", facts, "--moves", "((mark 1 3) noop)", "--json"];
    check(
        b"",
        &arguments,
        0,
        expect![[r#"
        {"game":"tic_tac_toe","step":1,"state":["(cell 1 1 x)","(cell 1 2 x)","(cell 1 3 x)","(cell 2 2 b)","(control oplayer)"],"legal":null,"terminal":true,"goals":{"xplayer":100,"oplayer":0},"percepts":null}
    "#]],
    );
}

#[test]
fn moves_that_cannot_be_made_are_pointed_out() {
    let check = |moves, expected| {
        check(b"", &["state", "tic_tac_toe", "--moves", moves], 2, expected);
    };
    check(
        "((mark 1 1) noop) (noop (mark 1 1))",
        expect![[r#"
            error: --moves: joint move 2: `(mark 1 1)` is not legal for oplayer; legal are (mark 1 2) (mark 1 3) (mark 2 1) (mark 2 2) (mark 2 3) (mark 3 1) (mark 3 2) (mark 3 3)
        "#]],
    );
    check(
        "((mark 1 1) noop) (mark 2 2)",
        expect![[r#"
            error: --moves: joint move 2, `(mark 2 2)`, has 3 moves; expected a list of 2, one for each role (xplayer oplayer); if it is the move of one role, write `((mark 2 2) MOVE)`
        "#]],
    );
    check(
        "((mark 1 1) noop",
        expect![[r#"
            error: --moves: unclosed `(` (character 1)
        "#]],
    );
    check(
        "((mark 9 nowhere) noop)",
        expect![[r#"
            error: --moves: joint move 1: `(mark 9 nowhere)` is not legal for xplayer; legal are (mark 1 1) (mark 1 2) (mark 1 3) (mark 2 1) (mark 2 2) (mark 2 3) (mark 3 1) (mark 3 2) (mark 3 3)
        "#]],
    );
}

#[test]
fn percepts_are_those_of_the_last_step() {
    check(
        b"",
        &["trace", "monty_hall", "--seed", "3"],
        0,
        expect![[r#"
        {"game":"monty_hall","file":"monty_hall","roles":["candidate","random"],"valid":true,"validator_message":"","gdl2":true,"status":"ok"}
        {"p":0,"s":0,"state":["(phase hide)"],"legal":{"candidate":["noop"],"random":["(hide_car 1)","(hide_car 2)","(hide_car 3)"]},"joint":["noop","(hide_car 3)"],"terminal":false,"goals":{"candidate":0,"random":100},"percepts":null}
        {"p":0,"s":1,"state":["(car 3)","(phase choose)"],"legal":{"candidate":["(choose_door 1)","(choose_door 2)","(choose_door 3)"],"random":["noop"]},"joint":["(choose_door 2)","noop"],"terminal":false,"goals":{"candidate":0,"random":100},"percepts":{"candidate":[],"random":[]}}
        {"p":0,"s":2,"state":["(car 3)","(chosen 2)","(phase open)"],"legal":{"candidate":["noop"],"random":["(open_door 1)"]},"joint":["noop","(open_door 1)"],"terminal":false,"goals":{"candidate":0,"random":100},"percepts":{"candidate":[],"random":[]}}
        {"p":0,"s":3,"state":["(car 3)","(chosen 2)","(opened 1)","(phase decide)"],"legal":{"candidate":["change","stay"],"random":["noop"]},"joint":["change","noop"],"terminal":false,"goals":{"candidate":0,"random":100},"percepts":{"candidate":["(goat_behind 1)"],"random":[]}}
        {"p":0,"s":4,"state":["(car 3)","(chosen 3)","(opened 1)","(phase done)"],"legal":null,"joint":null,"terminal":true,"goals":{"candidate":100,"random":100},"percepts":{"candidate":["(car_behind 3)"],"random":[]}}
    "#]],
    );
    let moves = "(noop (hide_car 3)) ((choose_door 2) noop) (noop (open_door 1))";
    check(
        b"",
        &["state", "monty_hall", "--moves", moves],
        0,
        expect![[r#"
        monty_hall, after 3 steps

        facts (4)
          (car 3)
          (chosen 2)
          (opened 1)
          (phase decide)

        legal moves
          candidate  change stay
          random     noop

        goals
          candidate  0
          random     100

        percepts of the last step
          candidate  (goat_behind 1)
          random     (none)
    "#]],
    );
}

#[test]
fn a_playout_depends_on_its_seed_and_number_alone() {
    let trace = |arguments: &[&str]| {
        let all = [["trace", "connect_four"].as_slice(), arguments].concat();
        let mut lines = lines(&game(Path::new("."), &all).stdout);
        lines.remove(0);
        lines
    };
    let three = trace(&["--random", "3", "--seed", "5"]);
    let one = trace(&["--random", "1", "--seed", "5"]);
    assert_eq!(three[..one.len()], one);
    assert_ne!(trace(&["--seed", "6"]), one);
    let cut = trace(&["--seed", "5", "--step-limit", "3"]);
    assert_eq!(cut.len(), 4);
    assert_eq!(cut[..3], one[..3]);
    assert_eq!((&cut[3]["joint"], &cut[3]["terminal"]), (&Value::Null, &Value::Bool(false)));
    assert_eq!(cut[3]["legal"], one[3]["legal"]);
}

#[test]
fn a_trace_followed_is_the_trace() {
    let folder = files(&[]);
    for name in ["connect_four", "kuhn_poker", "hanoi"] {
        let trace = game(folder.path(), &["trace", name, "--random", "3"]).stdout;
        std::fs::write(folder.path().join("trace.jsonl"), &trace).unwrap();
        let gzip = std::fs::File::create(folder.path().join("trace.jsonl.gz")).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(gzip, flate2::Compression::fast());
        gzip.write_all(trace.as_bytes()).unwrap();
        gzip.finish().unwrap();
        for file in ["trace.jsonl", "trace.jsonl.gz"] {
            let followed = game(folder.path(), &["trace", name, "--follow", file]);
            assert_eq!((followed.code, followed.stderr.as_str()), (0, ""));
            assert_eq!(followed.stdout, trace, "{name}");
        }
    }
}

#[test]
fn a_trace_that_cannot_be_followed_is_pointed_out() {
    let check = |trace: &str, expected: Expect| {
        let folder = files(&[("trace.jsonl", trace.as_bytes())]);
        let ran = game(folder.path(), &["trace", "nim", "--follow", "trace.jsonl"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        expected.assert_eq(&ran.stderr);
    };
    check(
        "{}\nno JSON\n",
        expect![[r#"
            error: trace.jsonl:2: not a JSON line of a trace as `gamemaster game trace` prints it
        "#]],
    );
    check(
        "{}\n{\"p\":0,\"s\":1,\"joint\":null}\n",
        expect![[r#"
            error: trace.jsonl:2: step 1 of playout 0 follows no joint move
        "#]],
    );
    check(
        "{}\n{\"p\":0,\"s\":0,\"joint\":[\"noop\"]}\n",
        expect![[r#"
            error: trace.jsonl:2: a joint move of 1 move for 2 roles
        "#]],
    );
    check(
        "{}\n{\"p\":0,\"s\":0,\"joint\":[\"noop\",\"(fly away)\"]}\n",
        expect![[r#"
            error: trace.jsonl:2: the move `(fly away)` uses names that the rules do not have
        "#]],
    );
    // The first line tells about the game, or is a state too.
    check(
        "no JSON\n",
        expect![[r#"
            error: trace.jsonl:1: not a JSON line of a trace as `gamemaster game trace` prints it
        "#]],
    );
    check(
        "{\"p\":0,\"s\":0,\"joint\":[\"noop\"]}\n",
        expect![[r#"
            error: trace.jsonl:1: a joint move of 1 move for 2 roles
        "#]],
    );
    for without_states in ["", "{}\n\n"] {
        check(
            without_states,
            expect![[r#"
                error: the trace `trace.jsonl` has no states
            "#]],
        );
    }
}

/// Says it also when the test passes, which keeps `eprintln` from being seen.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").unwrap();
}

/// The traces that another system made of real rulesheets. They are no part of
/// this project: `GAMEMASTER_CORPUS` names the folder that has `rulesheets` and
/// `traces`.
#[test]
fn real_traces_agree_line_by_line() {
    const NAMES: [&str; 5] = [
        "2pffa__2pffa",
        "3pttc__3pttc",
        "buttons__buttons",
        "connectFour__connectFour",
        "ticTacToe__ticTacToe",
    ];
    let Some(corpus) = std::env::var_os("GAMEMASTER_CORPUS") else {
        say("SKIPPED real_traces_agree_line_by_line: GAMEMASTER_CORPUS is not set");
        return;
    };
    let corpus = Path::new(&corpus);
    let mut compared = 0;
    for name in NAMES {
        let rulesheet = corpus.join(format!("rulesheets/{name}.kif"));
        let trace = corpus.join(format!("traces/{name}.jsonl.gz"));
        if !rulesheet.exists() || !trace.exists() {
            say(&format!("SKIPPED {name}: it is not in the corpus"));
            continue;
        }
        let (rulesheet, trace) = (rulesheet.to_str().unwrap(), trace.to_str().unwrap());
        let arguments = ["trace", rulesheet, "--case", "sensitive", "--follow", trace];
        let ran = game(Path::new("."), &arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}");
        let mut text = String::new();
        let file = std::fs::File::open(trace).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text)
            .unwrap();
        let (ours, theirs) = (lines(&ran.stdout), lines(&text));
        assert_eq!(ours.len(), theirs.len(), "{name}");
        assert_eq!(ours[0]["roles"], theirs[0]["roles"], "{name}");
        for (ours, theirs) in ours[1..].iter().zip(&theirs[1..]) {
            assert_eq!(ours.to_string(), theirs.to_string(), "{name}");
        }
        compared += ours.len() - 1;
    }
    assert!(compared > 0, "nothing was compared");
}

#[test]
fn a_measurement_has_exactly_these_members() {
    let ran = game(Path::new("."), &["bench", "tic_tac_toe", "--time", "50ms", "--json"]);
    let measurement = lines(&ran.stdout).remove(0);
    let members: Vec<&str> = measurement.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "game",
        "reasoner",
        "lanes",
        "threads",
        "seconds",
        "cpu_seconds",
        "states",
        "playouts",
        "states_per_cpu_second",
        "playouts_per_cpu_second",
        "mean_length",
        "mean_goals",
        "init_seconds",
        "peak_rss_bytes",
    ];
    expected.sort_unstable();
    assert_eq!(members, expected);
    let number = |member: &str| measurement[member].as_f64().unwrap();
    // Reading a decimal number may be off by the last bit.
    let mean = number("states") / number("playouts");
    assert!((number("mean_length") - mean).abs() < 1e-9);
    let goals = ["xplayer", "oplayer"].map(|role| measurement["mean_goals"][role].as_f64());
    assert!((goals[0].unwrap() + goals[1].unwrap() - 100.0).abs() < 1e-9);
}

#[test]
fn a_game_without_end_is_measured_all_the_same() {
    let endless = LAMP.replace("(<= terminal (true lit))", "(<= terminal (true never))");
    let folder = files(&[("game.kif", endless.as_bytes())]);
    let arguments = ["bench", "game.kif", "--time", "0s", "--step-limit", "7", "--json"];
    let ran = game(folder.path(), &arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let measurement = &lines(&ran.stdout)[0];
    assert_eq!(measurement["playouts"], 1);
    assert!(measurement["states"].as_u64().unwrap() <= 7);
    assert!(!ran.stderr.is_empty());
}

#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    let program = assert_cmd::cargo::cargo_bin!("gamemaster");
    let mut child = std::process::Command::new(program)
        .args(["game", "trace", "connect_four", "--random", "1000000"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn help_shows_examples() {
    for command in ["list", "info", "validate", "state", "trace", "bench"] {
        let ran = game(Path::new("."), &[command, "--help"]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("Examples:\n  gamemaster game"), "{command}: {}", ran.stdout);
    }
}

#[test]
fn exit_codes_do_not_rest_on_readers() {
    let folder = files(&[("broken.kif", b"(role a")]);
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
    command.current_dir(folder.path()).args(["game", "validate", "broken.kif"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
    command.current_dir(folder.path()).args(["game", "bench", "broken.kif"]);
    assert_eq!(command.stdout(Stdio::null()).stderr(full()).status().unwrap().code(), Some(3));
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
    command.args(["game", "list"]).stdout(full()).stderr(Stdio::piped());
    let ended = command.spawn().unwrap().wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write to standard output: No space left"), "{said}");
}

/// Play that never ends: its lines are longer than the call stack holds, and its nodes more
/// than can be counted.
#[test]
fn an_endless_tree_is_listed_and_not_miscounted() {
    let endless = "(role a) (init (s 0)) (base (s 0)) (base (s 1)) (base (s 2))
        (input a x) (input a y) (legal a x) (legal a y) (goal a 100) (<= terminal (true (s 2)))
        (<= (next (s 1)) (true (s 0)) (does a x)) (<= (next (s 0)) (true (s 1)))
        (<= (next (s 0)) (does a y))";
    let folder = files(&[("endless.kif", endless.as_bytes())]);
    let tree = |arguments: &[&str]| {
        game(folder.path(), &[&["tree", "endless.kif", "--depth"], arguments].concat()).stdout
    };
    let text = tree(&["10000", "--lines", "2"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.ends_with(" ...")).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.split_whitespace().count() == 10_001));
    assert!(lines[0].ends_with("(x) (x) ...") && lines[1].ends_with("(x) (y) ..."));
    let text = tree(&["130", "--lines", "1"]);
    assert!(text.contains("\nmore than 3.4e38 nodes, 0 of them terminal\n"), "{text}");
    assert!(text.contains("  and more than 3.4e38 lines more;"), "{text}");
    assert!(!text.contains("340282366920938463463374607431768211455"), "{text}");
    let json: Value = serde_json::from_str(&tree(&["130", "--lines", "0", "--json"])).unwrap();
    assert_eq!(json["n_lines"], Value::Null);
    assert_eq!(
        (&json["levels"][3]["nodes"], &json["levels"][130]["nodes"]),
        (&8.into(), &Value::Null)
    );
}

/// The figures of `games/tests/perft`, which other programs counted, and of the usual tree of
/// tic-tac-toe: 549946 nodes, 5478 states, 255168 lines.
#[test]
fn a_tree_is_counted_by_depth() {
    let here = Path::new(".");
    let arguments = ["tree", "tic_tac_toe", "--depth", "9", "--lines", "3", "--json"];
    let tree: Value = serde_json::from_str(&game(here, &arguments).stdout).unwrap();
    let levels = tree["levels"].as_array().unwrap();
    let column = |key: &str| -> Vec<u64> {
        levels.iter().map(|level| level[key].as_u64().unwrap()).collect()
    };
    let perft = [1, 9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872];
    assert_eq!(column("nodes"), perft);
    assert_eq!(column("nodes").iter().sum::<u64>(), 549_946);
    assert_eq!(column("states").iter().sum::<u64>(), 5478);
    assert_eq!(column("terminal_states").iter().sum::<u64>(), 958);
    assert_eq!((&tree["n_lines"], tree["lines"].as_array().unwrap().len()), (&255_168.into(), 3));
    for name in ["nim", "rock_paper_scissors", "eight_puzzle_course", "connect_four"] {
        let path = format!("{}/games/tests/perft/{name}.perft", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let arguments = ["tree", name, "--depth", "3", "--json"];
        let tree: Value = serde_json::from_str(&game(here, &arguments).stdout).unwrap();
        let mut n_checked = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let numbers: Vec<u64> = line.split(' ').skip(1).map(|it| it.parse().unwrap()).collect();
            if let Some(level) = tree["levels"].get(numbers[0] as usize) {
                assert_eq!(level["nodes"], numbers[1], "{name}: {line}");
                n_checked += 1;
            }
        }
        assert!(n_checked > 0, "{name}");
    }
}

#[test]
fn a_tree_lists_its_lines_and_says_when_it_is_cut() {
    let here = Path::new(".");
    let tree = |arguments: &[&str]| game(here, &[&["tree"], arguments].concat());
    expect![[r#"
        aima_two_ply, after 1 step

          depth  nodes  terminal nodes  states  terminal states  moves/node
              0      1               0       1                0        3.00
              1      3               3       3                3           -

        4 nodes, 3 of them terminal
        memory: a depth-first search holds at most 3 joint moves, a breadth-first search 3 states

          (noop a1): max 3, min 97
          (noop a2): max 12, min 88
          and 1 line more; --lines N lists more
    "#]]
    .assert_eq(
        &tree(&["aima_two_ply", "--moves", "(a1 noop)", "--depth", "5", "--lines", "2"]).stdout,
    );
    let text = tree(&["tic_tac_toe", "--depth", "1", "--lines", "1"]).stdout;
    assert!(text.contains("((mark 1 1) noop) ...\n  and 8 lines more"), "{text}");
    let text = tree(&["tic_tac_toe", "--depth", "9", "--max-states", "100"]).stdout;
    assert!(text.contains("Cut: depth 3 has more states than --max-states allows."), "{text}");
    assert!(text.contains("    2     72") && !text.contains("504"), "{text}");
    // A state without a legal move that is not terminal; the lamp's play without an end.
    let folder = files(&[("lamp.kif", LAMP.as_bytes())]);
    let text = game(folder.path(), &["tree", "lamp.kif", "--depth", "9"]).stdout;
    assert!(text.contains("keeper 100"), "{text}");
    let ran = tree(&["nim", "--depth", "2", "--moves", "((take z 1) noop)"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("joint move 1: `(take z 1)` is not"),
        "{}",
        ran.stderr
    );
}
