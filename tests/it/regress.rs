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
    assert!(verdict.starts_with("Head is worse than base"), "{}", &verdict[..100]);
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
    assert!(refused.contains("a longer comparison is played anew"), "{refused}");
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
    let more = ["--budget", "1ms", "--out", "out", "--json"];
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
    assert!(told.contains("Is legal worse than alpha_beta by 3 points?"), "{told}");
    assert!(told.contains("40 blocks at most: they show a difference of 18.2 points"), "{told}");
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
    check(&with(&["--alpha", "0.5"]), "--alpha 0.5: expected a probability");
    check(&with(&["--alpha", "5e-17"]), "expected a probability from 0.000001");
    check(&with(&["--max-blocks", "29"]), "--max-blocks 29: expected at least 30");
    check(&with(&["--budget", "soon"]), "expected a time such as 90s");
    check(&with(&["--suite", "none.toml"]), "cannot read the spec none.toml");
    check(&with(&["--suite", "compared.toml"]), "who is compared is said on the command line");
    check(&["--base", "nobody", "--head", STRONG], "unknown player kind `nobody`");
    check(&["--base", "alpha_beta:deep=3", "--head", STRONG], "deep");
    let same = "http://127.0.0.1:1";
    check(&["--base", same, "--head", same], "are one player");
    check(&["--base", STRONG], "--head <PLAYER>");
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
