//! `gamemaster regress`: whether a weakened player is found out, and an equal one
//! let pass, whatever happens on the way.

use std::time::Duration;

use crate::workspace::{Ran, Workspace, run_slow_tests};

/// Two games, one opponent, few states: some seconds in a debug build.
const SUITE: &str = r#"
name = "small"
games = ["connect_three", "tic_tac_toe"]
budget = { nodes = 120 }
record = { moves = false }
[[players]]
id = "opponent"
kind = "random"
"#;

const STRONG: &str = "alpha_beta";
/// As weak as can be told from few blocks.
const WEAK: &str = "legal";

fn regress(workspace: &Workspace, base: &str, head: &str, more: &[&str]) -> Ran {
    let fixed = ["regress", "--base", base, "--head", head, "--suite", "spec.toml", "--quiet"];
    workspace.run(&[&fixed[..], more].concat())
}

#[test]
fn a_weaker_head_fails_and_leaves_its_reports() {
    let workspace = Workspace::with_spec(SUITE);
    let more = ["--max-blocks", "320", "--out", "out", "--markdown", "page.md"];
    let ran = regress(&workspace, STRONG, WEAK, &more).code(10);
    assert!(ran.stdout().contains("Regression test: FAIL"), "{}", ran.stdout());
    let json: serde_json::Value =
        serde_json::from_str(&workspace.read("out/regression.json")).unwrap();
    assert_eq!((&json["outcome"], &json["reason"]), (&"fail".into(), &"test".into()));
    assert!(json["strength"]["difference"]["mean"].as_f64().unwrap() < -10.0, "{json}");
    assert!(json["canary"]["difference"]["mean"] == 0.0, "{}", json["canary"]);
    assert!(workspace.read("out/junit.xml").contains("<failure"));
    let page = workspace.run(&["report", "out", "--html", "-"]).code(0).stdout();
    let verdict = page.split("<p class=\"verdict\">").nth(1).unwrap();
    assert!(verdict.starts_with("Head is weaker than base"), "{}", &verdict[..100]);
    assert!(workspace.read("page.md").starts_with("# Regression test: FAIL"));
    let report = workspace.run(&["report", "out"]).code(0).stdout();
    assert!(report.contains("Regression test: FAIL") && report.contains("Standings"), "{report}");
    let report = workspace.run(&["report", "out", "--json"]).code(0).stdout();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["regression"], json);
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("out/summary.json")).unwrap();
    assert_eq!(
        (&report["players"], &summary["regression"]),
        (&summary["players"], &serde_json::Value::Null)
    );
    let longer = [&more[..1], &["400"], &more[2..]].concat();
    let refused = regress(&workspace, STRONG, WEAK, &longer).code(2).stderr();
    assert!(refused.contains("another comparison: --max-blocks differs"), "{refused}");
}

/// An unchanged player does the same under the same chances: not a block differs.
#[test]
fn an_unchanged_player_passes_and_again_without_playing() {
    let workspace = Workspace::with_spec(SUITE);
    let more = ["--max-blocks", "320", "--out", "out", "--json"];
    let first = regress(&workspace, STRONG, STRONG, &more).code(0).stdout();
    let json: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&json["outcome"], &json["reason"]), (&"pass".into(), &"test".into()));
    assert_eq!(json["strength"]["difference"]["sd"], 0.0);
    let journal = workspace.read("out/journal.jsonl");
    assert_eq!(regress(&workspace, STRONG, STRONG, &more).code(0).stdout(), first);
    assert_eq!(workspace.read("out/journal.jsonl"), journal);
}

#[test]
fn without_opponents_base_and_head_meet_each_other() {
    let (suite, _) = SUITE.split_once("[[players]]").unwrap();
    let workspace = Workspace::with_spec(suite);
    regress(&workspace, STRONG, WEAK, &["--max-blocks", "320", "--out", "out"]).code(10);
    let matches = workspace.read("out/matches.csv");
    assert!(matches.contains(",base,") && matches.contains(",head,"));
}

#[test]
fn a_game_for_three_needs_opponents() {
    let workspace = Workspace::with_spec("games = [\"truel\"]\n");
    let refused = regress(&workspace, STRONG, WEAK, &["--out", "out"]).code(2).stderr();
    let wanted = "truel: it needs 2 opponents for base and head, but the spec has 0";
    assert!(refused.contains(wanted), "{refused}");
}

#[test]
fn an_interrupted_comparison_has_the_same_answer() {
    let more = ["--max-blocks", "96", "--margin", "4", "--out", "out", "--json", "--jobs", "3"];
    let players = ["alpha_beta:depth=2", "alpha_beta:budget.nodes=40"];
    let whole = Workspace::with_spec(SUITE);
    let ran = regress(&whole, players[0], players[1], &more);
    let expected = (ran.0.status.code(), ran.stdout());
    let length = whole.read("out/journal.jsonl").len() as u64;

    let broken = Workspace::with_spec(SUITE);
    let mut n_killed = 0;
    for kill in 1..4 {
        let fixed = ["regress", "--base", players[0], "--head", players[1]];
        let suite = ["--suite", "spec.toml", "--quiet"];
        let mut child = broken.spawn(&[&fixed[..], &suite, &more].concat());
        let journal = broken.path("out/journal.jsonl");
        while child.try_wait().unwrap().is_none() {
            if std::fs::metadata(&journal).is_ok_and(|found| found.len() > length * kill / 4) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        n_killed += u32::from(child.wait().unwrap().code().is_none());
    }
    assert!(n_killed > 0, "it was never killed while it ran");
    let ran = regress(&broken, players[0], players[1], &more);
    assert_eq!((ran.0.status.code(), ran.stdout()), expected);
}

#[test]
fn what_cannot_be_told_is_as_one_wants_it() {
    // 32 blocks cannot tell half a point.
    let workspace = Workspace::with_spec(SUITE);
    let more = ["--max-blocks", "32", "--margin", "0.5", "--out", "out"];
    let players = ["random", "legal"];
    let check = |word: &[&str], code| {
        let ran = regress(&workspace, players[0], players[1], &[&more[..], word].concat());
        assert!(ran.code(code).stdout().contains("inconclusive"));
    };
    check(&[], 11);
    check(&["--inconclusive", "pass"], 0);
    assert!(workspace.read("out/junit.xml").contains("<skipped"));
    check(&["--inconclusive", "fail"], 10);
    assert!(workspace.read("out/junit.xml").contains("<failure"));
}

#[test]
fn time_ends_a_comparison_and_stays_its_end() {
    let workspace = Workspace::with_spec(SUITE);
    let more = ["--time-limit", "1ms", "--out", "out", "--json"];
    let first = regress(&workspace, STRONG, WEAK, &more).code(11).stdout();
    assert!(first.contains("\"stopped\":\"time\""), "{first}");
    assert_eq!(regress(&workspace, STRONG, WEAK, &more).code(11).stdout(), first);
}

#[test]
fn what_can_be_seen_is_told_before() {
    let workspace = Workspace::with_spec(SUITE);
    let ran = workspace.run(&[
        "regress",
        "--base",
        STRONG,
        "--head",
        WEAK,
        "--suite",
        "spec.toml",
        "--max-blocks",
        "40",
    ]);
    let told = ran.stderr();
    assert!(
        told.contains("Is the head (legal) weaker than the base (alpha_beta) by 3 points?"),
        "{told}"
    );
    assert!(
        told.contains(
            "With 40 blocks, a head that is weaker by 20.3 points is detected in 95 % of cases"
        ),
        "{told}"
    );
}

#[test]
fn bad_input_has_one_clear_answer() {
    let workspace = Workspace::with_spec(SUITE);
    let compared = format!("{SUITE}\n[comparison]\nbase = \"opponent\"\nhead = \"opponent\"\n");
    workspace.write("compared.toml", &compared);
    let check = |arguments: &[&str], message: &str| {
        let ran = workspace.run(&[&["regress"], arguments].concat()).code(2);
        assert!(ran.stderr().contains(message), "{message}: {}", ran.stderr());
    };
    let both = ["--base", STRONG, "--head", STRONG];
    let with = |more: &[&'static str]| [&both[..], more].concat();
    check(&with(&["--margin", "0"]), "--margin 0: expected points above 0");
    check(&with(&["--margin", "NaN"]), "--margin NaN");
    check(&with(&["--alpha", "0.5"]), "--alpha 0.5: expected a number");
    check(&with(&["--alpha", "5e-17"]), "expected a number of at least 0.000001");
    check(&with(&["--max-blocks", "29"]), "--max-blocks 29: at least 30 are needed");
    check(&with(&["--time-limit", "soon"]), "expected a time such as 90s");
    check(&with(&["--suite", "none.toml"]), "cannot read the spec none.toml");
    check(
        &with(&["--suite", "compared.toml"]),
        "the compared players are given on the command line",
    );
    check(&with(&["--suite", "endgames"]), "`endgames` is a suite of positions");
    check(&["--base", "nobody", "--head", "no"], "--base: player `nobody`: unknown player kind");
    check(&["--base", STRONG, "--head", "random:"], "--head: player `random:`: expected option");
    check(&["--base", "alpha_beta:deep=3", "--head", STRONG], "deep");
    let same = "http://127.0.0.1:1";
    check(&["--base", same, "--head", same], "have the same address");
    check(&["--base", STRONG], "--head <PLAYER>");
}

/// What such a comparison is asked for in the documentation of its use.
const IN_CI: [&str; 8] =
    ["--time-limit", "40s", "--inconclusive", "pass", "--out", "out", "--markdown", "page.md"];

/// A program that answers, and breaks down on every `one_in`-th move it is asked for.
const PLAYER: &str = r#"
import re, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
one_in, n_asked = int(sys.argv[2]), 0
class Player(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        global n_asked
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        word = re.match(r"\W*(\w+)", text).group(1).lower()
        answer = {"start": "ready", "info": "((name player) (status available))"}.get(word, "done")
        if word == "play":
            n_asked += 1
            answer = "(no such move)" if n_asked % one_in == 0 else self.server.legal
        data = answer.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/acl")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def log_message(self, *_):
        pass
server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Player)
server.legal = "stay"
server.serve_forever()
"#;

/// A game in which everybody always has the same one move, and nobody does better.
const STAYING: &str = "(role left) (role right)
(init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (legal ?role stay) (role ?role)) (<= (legal ?role rest) (role ?role))
(<= (base (step 1))) (<= (base (step ?n)) (succ ?m ?n))
(<= (input ?role stay) (role ?role)) (<= (input ?role rest) (role ?role))
(<= (goal ?role 50) (role ?role)) (<= terminal (true (step 4)))";

const STAYING_SUITE: &str = r#"
name = "staying"
games = ["staying.kif"]
clocks = { start = "5s", play = "5s" }
[[players]]
id = "opponent"
kind = "legal"
"#;

fn launched(one_in: u32) -> String {
    format!("cmd:python3 player.py {{port}} {one_in}")
}

fn with_launched_players() -> Workspace {
    let workspace = Workspace::with_spec(STAYING_SUITE);
    workspace.write("player.py", PLAYER);
    workspace.write("staying.kif", STAYING);
    workspace
}

/// Whatever counts as inconclusive, and long before there are enough blocks.
#[test]
fn a_head_that_commits_a_fault_in_every_match_fails() {
    let workspace = with_launched_players();
    let ran = regress(&workspace, &launched(1_000_000), &launched(1), &IN_CI).code(10);
    assert!(ran.stdout().contains("Head commits faults more often than base"), "{}", ran.stdout());
    let json: serde_json::Value =
        serde_json::from_str(&workspace.read("out/regression.json")).unwrap();
    assert_eq!((&json["reason"], &json["stopped"]), (&"faults".into(), &"decided".into()));
    let head = &json["faults"]["head"];
    assert_eq!(head["n_matches"], head["n_faulty"]);
    assert!(head["n_matches"].as_u64().unwrap() < 10, "{head}");
    assert_eq!(json["faults"]["base"]["n_faulty"], 0);
    let junit = workspace.read("out/junit.xml");
    assert_eq!(junit.matches("<failure").count(), 1, "{junit}");
    assert!(junit.contains("type=\"faults\""), "{junit}");
    assert!(workspace.read("page.md").starts_with("# Regression test: FAIL"));
}

/// A broken base is said loudly, whatever inconclusive counts as.
#[test]
fn where_both_commit_faults_nothing_passes_in_silence() {
    let workspace = with_launched_players();
    let more = ["--max-blocks", "40", "--inconclusive", "pass", "--out", "out"];
    let ran = regress(&workspace, &launched(1), &launched(1), &more).code(0);
    assert!(ran.stdout().contains("Regression test: inconclusive"), "{}", ran.stdout());
    let told = ran.stderr();
    assert!(told.contains("warning: Base commits faults in most of its matches"), "{told}");
    assert!(told.contains("the exit code is that of a pass (--inconclusive pass)"), "{told}");
    assert_eq!(workspace.read("out/junit.xml").matches("<skipped").count(), 2);
}

/// Twice the same command, and a program that changed in between.
#[test]
fn a_program_that_changed_is_another_player() {
    let workspace = with_launched_players();
    let more = ["--max-blocks", "32", "--margin", "20", "--out", "out"];
    let sound = launched(1_000_000);
    regress(&workspace, &sound, &sound, &more).code(0);
    let journal = workspace.read("out/journal.jsonl");
    regress(&workspace, &sound, &sound, &more).code(0);
    assert_eq!(workspace.read("out/journal.jsonl"), journal, "answered without playing");
    workspace.write("player.py", &PLAYER.replace("\"stay\"", "\"rest\""));
    let refused = regress(&workspace, &sound, &sound, &more).code(2).stderr();
    assert!(refused.contains("the players differ, or their options or program files"), "{refused}");
    // In the folder that is named by what is played there is room for both.
    let unnamed = &more[..4];
    regress(&workspace, &sound, &sound, unnamed).code(0);
    workspace.write("player.py", PLAYER);
    regress(&workspace, &sound, &sound, unnamed).code(0);
    assert_eq!(std::fs::read_dir(workspace.path("results/runs")).unwrap().count(), 2);
}

/// Nobody's match ends: there is nothing to tell strength from.
#[test]
fn matches_that_score_nobody_are_no_pass() {
    let suite = format!("{SUITE}\n[limits]\nstep_limit = 3\n").replace("connect_three\", \"", "");
    let workspace = Workspace::with_spec(&suite);
    let more = ["--max-blocks", "32", "--out", "out", "--inconclusive", "fail"];
    let ran = regress(&workspace, STRONG, STRONG, &more).code(10);
    assert!(ran.stdout().contains("unscored and could change the result"), "{}", ran.stdout());
    assert!(ran.stderr().contains("Raise `limits.step_limit`"), "{}", ran.stderr());
}

/// Known before anything is played.
#[test]
fn a_budget_that_cannot_suffice_is_refused() {
    let suite =
        SUITE.replace("budget = { nodes = 120 }", "clocks = { start = \"20s\", play = \"20s\" }");
    let workspace = Workspace::with_spec(&suite);
    let (base, head) = ("monte_carlo:seed=1", "monte_carlo:seed=2");
    let refused = regress(&workspace, base, head, &["--time-limit", "40s"]).code(2).stderr();
    assert!(refused.contains("30 blocks that are needed take about"), "{refused}");
    assert!(refused.contains("the time limit is 40s"), "{refused}");
}

fn share_of(code: i32, base: &str, head: &str, suite: &str) -> u32 {
    let one = |seed: u32| {
        let workspace = Workspace::with_spec(suite);
        let seed = seed.to_string();
        let more = ["--max-blocks", "1600", "--out", "out", "--seed", &seed, "--json"];
        let ran = regress(&workspace, base, head, &more);
        u32::from(ran.0.status.code() == Some(code))
    };
    (1..=20).map(one).sum()
}

/// Twenty answers each; one may be wrong. Slow: only where slow tests are asked for.
#[test]
fn nineteen_of_twenty_answers_are_right() {
    if !run_slow_tests() {
        return;
    }
    let suite = include_str!("../../src/suites/shipped.toml");
    for (base, head, code) in [
        ("alpha_beta:depth=4", "alpha_beta:depth=3", 10),
        ("alpha_beta", "alpha_beta:budget.nodes=133", 10),
        ("alpha_beta", "alpha_beta", 0),
    ] {
        let n = share_of(code, base, head, suite);
        assert!(n >= 19, "{head} after {base}: {n} of 20");
    }
}
