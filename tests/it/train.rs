//! `gamemaster train`: evaluations that are learned, compared, written and used.

use serde_json::Value;

use crate::workspace::Workspace;

const BREAKTHROUGH: [&str; 10] = [
    "train",
    "breakthrough_5x5",
    "--matches",
    "300",
    "--openings",
    "15",
    "--nodes",
    "200",
    "--json",
    "--out",
];

fn trained(workspace: &Workspace, arguments: &[&str]) -> Value {
    let json = workspace.run(arguments).code(0).stdout();
    serde_json::from_str(&json).unwrap()
}

/// The lower end of the interval of the difference.
fn at_least(report: &Value) -> f64 {
    let strength = &report["strength"];
    let number = |key: &str| strength[key].as_f64().unwrap();
    assert!((number("trained") - number("untrained") - number("difference")).abs() < 0.001);
    let interval = &strength["interval"];
    let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
    assert!(low < number("difference") && number("difference") < high, "{strength}");
    low
}

#[test]
fn a_trained_evaluation_beats_the_untrained_and_is_the_same_again() {
    let workspace = Workspace::new();
    let report = trained(&workspace, &[&BREAKTHROUGH[..], &["one.toml"]].concat());
    assert!(at_least(&report) > 0.0, "{report}");
    assert_eq!((&report["matches"], &report["strength"]["matches"]), (&300.into(), &30.into()));

    trained(&workspace, &[&BREAKTHROUGH[..], &["two.toml"]].concat());
    let text = |file| std::fs::read_to_string(workspace.path(file)).unwrap();
    assert_eq!(text("one.toml"), text("two.toml"));
    let file: toml::Table = toml::from_str(&text("one.toml")).unwrap();
    assert_eq!(file["game_hash"].as_str(), report["game_hash"].as_str());
    let difference = report["strength"]["difference"].as_f64();
    assert_eq!(file["strength"]["difference"].as_float(), difference);
    let features = file["features"].as_array().unwrap();
    assert_eq!(features.len(), report["features"].as_array().unwrap().len());
    let is_named = |name: &str| features.iter().any(|it| it["feature"].as_str() == Some(name));
    for name in ["count (cell ? ? white)", "rank of argument 2 in (cell ? ? black) by after"] {
        assert!(is_named(name), "{name}");
    }

    // The matches of the comparison are a run as any other, with the openings' rulesheets.
    let run = report["run"].as_str().unwrap();
    let replayed = workspace.run(&["replay", "1", "--run", run]).code(0).stdout();
    assert!(replayed.contains("breakthrough_5x5-") && replayed.contains("start"), "{replayed}");
    let standings = workspace.run(&["report", run]).code(0).stdout();
    assert!(standings.contains("untrained"), "{standings}");
}

#[test]
fn looking_two_moves_ahead_through_dice_is_better_with_learned_weights() {
    let workspace = Workspace::new();
    let arguments = [
        "train",
        "mini_backgammon",
        "--matches",
        "400",
        "--player",
        "alpha_beta:depth=2",
        "--openings",
        "60",
        "--json",
    ];
    let report = trained(&workspace, &arguments);
    assert!(at_least(&report) > 0.0, "{report}");
    assert_eq!(report["file"], "mini_backgammon.evaluation.toml");
}

#[test]
fn players_use_it_for_its_game_only() {
    let workspace = Workspace::new();
    let train = ["train", "tic_tac_toe", "--matches", "50", "--openings", "0", "--out", "t.toml"];
    let text = workspace.run(&train).code(0).stdout();
    assert!(text.contains("50 matches") && !text.contains("strength"), "{text}");
    let train = ["train", "tic_tac_toe", "--matches", "50", "--openings", "4", "--out", "t.toml"];
    let text = workspace.run(&train).code(0).stdout();
    let (_, runs) = text.split_once("\n  runs ").unwrap();
    let runs: Vec<&str> = runs.split_whitespace().collect();
    assert!(matches!(runs[..], [_, "(strength)", _, "(calibration)"]), "{text}");
    assert!(workspace.path(runs[0]).is_dir() && workspace.path(runs[2]).is_dir(), "{text}");
    let learned = "evaluation=learned:t.toml";
    let play = |game: &str, players: &[&str]| {
        workspace.run(&[&["play", game, "--nodes", "100"], players].concat())
    };
    for kind in ["alpha_beta", "minimax"] {
        play("tic_tac_toe", &[&format!("{kind}:depth=2,{learned}"), "random"]).code(0);
    }
    let other = play("connect_three", &[&format!("alpha_beta:{learned}"), "random"]);
    let told = other.code(2).stderr();
    assert!(told.contains("the evaluation was trained for another game"), "{told}");
    assert!(told.contains("`gamemaster train`"), "{told}");
    let missing = play("tic_tac_toe", &["alpha_beta:evaluation=learned:no.toml", "random"]);
    let told = missing.code(2).stderr();
    assert!(told.contains("cannot open the evaluation `no.toml`: No such file"), "{told}");
    workspace.write("bad.toml", "format = 1\ngame = 3");
    let bad = play("tic_tac_toe", &["alpha_beta:evaluation=learned:bad.toml", "random"]);
    let told = bad.code(2).stderr();
    assert!(told.contains("cannot use the evaluation `bad.toml`"), "{told}");
}

#[test]
fn what_cannot_be_trained_is_said() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], code: i32, expected: &str| {
        let told = workspace.run(&[&["train"], arguments].concat()).code(code).stderr();
        assert!(told.contains(expected), "{told}");
    };
    refused(&["kuhn_poker"], 2, "`kuhn_poker`: the game has hidden information");
    refused(&["no_such_game"], 2, "no_such_game");
    refused(&["nim", "--player", "random"], 2, "`random` takes no learned evaluation");
    refused(&["nim", "--player", "http://localhost:1"], 2, "expected a built-in player");
    refused(&["nim", "--player", "minimax:evaluation=zero"], 2, "leave `evaluation` out");
    refused(&["nim", "--lambda", "2"], 2, "expected a number from 0 to 1");
    refused(&["nim", "--learning-rate", "0"], 2, "expected a number above 0");
    refused(&["nim", "--time", "soon"], 2, "expected a time such as 20s or 1m");
    refused(&["nim", "--time", "1s", "--matches", "3"], 2, "cannot be used with");
    let output = ["nim", "--matches", "1", "--openings", "0", "--out", "no/such/file"];
    refused(&output, 2, "--out: cannot write `no/such/file`");
    assert_eq!(std::fs::read_dir(workspace.path("")).unwrap().count(), 0);
}
