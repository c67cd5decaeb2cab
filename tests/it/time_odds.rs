//! Players with clocks or budgets of their own.

use std::sync::Arc;
use std::time::Duration;

use gamemaster::manager::{PlayerConfig, TimeOdds};
use results::record::FaultKind;

use crate::fake_player::{FakePlayer, well, words};
use crate::matches::{THREE_STEPS, play, prepared, remote, setup};
use crate::workspace::{Workspace, tables};

/// The same player under its own play clock.
fn with_clocks(
    seat: Option<Arc<PlayerConfig>>,
    start: Option<Duration>,
    play: Option<Duration>,
) -> Option<Arc<PlayerConfig>> {
    let odds = TimeOdds { start, play, nodes: None };
    seat.map(|seat| Arc::new(PlayerConfig { odds, ..(*seat).clone() }))
}

#[test]
fn each_is_late_by_its_own_clock() {
    // Both take 450 ms for a move; the match's play clock is 200 ms and its
    // margin 100 ms.
    let slow = || {
        FakePlayer::start(|message, stream| {
            if message.starts_with("( PLAY") {
                std::thread::sleep(Duration::from_millis(450));
            }
            well(stream, words(message))
        })
    };
    let (first, second) = (slow(), slow());
    let game = prepared("three_steps", THREE_STEPS);
    let patient = with_clocks(remote(second.port), None, Some(Duration::from_secs(20)));
    let played = play(&setup(&game, vec![remote(first.port), patient]));
    assert_eq!(played.faults(0), [Some(FaultKind::LateMove); 3]);
    assert_eq!(played.faults(1), [None; 3]);
}

#[test]
fn remote_players_are_told_their_own_clocks() {
    let player = FakePlayer::start(|message, stream| well(stream, words(message)));
    let other = FakePlayer::start(|message, stream| well(stream, words(message)));
    let game = prepared("three_steps", THREE_STEPS);
    let seat = with_clocks(
        remote(player.port),
        Some(Duration::from_secs(7)),
        Some(Duration::from_millis(3500)),
    );
    play(&setup(&game, vec![seat, remote(other.port)]));
    let start = |player: &FakePlayer| player.heard()[0].clone();
    assert!(start(&player).starts_with("( START "), "{}", start(&player));
    assert!(start(&player).trim_end_matches([')', ' ']).ends_with("7 3"), "{}", start(&player));
    assert!(start(&other).trim_end_matches([')', ' ']).ends_with("1 1"), "{}", start(&other));
}

const ODDS: &str = r#"
name = "odds"
games = ["nim"]
budget = { nodes = 90 }

[[players]]
kind = "alpha_beta"
[[players]]
kind = "alpha_beta"
budget.nodes = 30
[[players]]
id = "hasty"
kind = "minimax"
clocks = { start = "2s", play = "50ms" }
"#;

#[test]
fn the_tables_tell_what_each_player_had() {
    let workspace = Workspace::with_spec(ODDS);
    workspace.run(&["run", "spec.toml", "--out", "a/out"]).code(0);
    let text = workspace.read("a/out/matches.csv");
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = rows.next().unwrap();
    let column = |name: &str| heading.iter().position(|&column| column == name).unwrap();
    let shown = ["player", "budget_nodes", "player_start_clock_ms", "player_play_clock_ms"]
        .map(column)
        .into_iter()
        .chain([column("player_budget_nodes")])
        .collect::<Vec<_>>();
    let mut told: Vec<Vec<&str>> =
        rows.map(|row| shown.iter().map(|&column| row[column]).collect()).collect();
    told.sort_unstable();
    told.dedup();
    assert_eq!(
        told,
        [
            vec!["alpha_beta", "90", "10000", "1000", "90"],
            vec!["alpha_beta-nodes30", "90", "10000", "1000", "30"],
            vec!["hasty", "90", "2000", "50", "90"],
        ]
    );
    // The budget bounds what is entered.
    let (player, nodes) = (column("player"), column("nodes"));
    let choices = column("n_decisions");
    for row in text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        if row[player] == "alpha_beta-nodes30" {
            let (nodes, choices): (u64, u64) =
                (row[nodes].parse().unwrap(), row[choices].parse().unwrap());
            assert!(nodes <= 30 * (choices + 1), "{nodes} nodes in {choices} decisions");
        }
    }
    // And a lock file keeps it.
    workspace.run(&["run", "a/out/spec.lock.toml", "--out", "b/out"]).code(0);
    assert_eq!(tables(&workspace.path("a/out")), tables(&workspace.path("b/out")));
}

#[test]
fn odds_make_another_player_of_it() {
    let workspace = Workspace::with_spec(ODDS);
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    workspace.write("spec.toml", &ODDS.replace("nodes = 30", "nodes = 31"));
    let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(2);
    assert!(ran.stderr().contains("another spec"), "{}", ran.stderr());
}
