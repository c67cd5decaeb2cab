//! Our own players against what was recorded of them in `results/baseline`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use results::stats::laps::t_interval;
use results::stats::scored;
use serde_json::Value;

use crate::workspace::Workspace;

/// Who the others are measured against, and do not change.
const YARDSTICKS: [&str; 2] = ["legal", "random"];
/// Of fourteen players one is found worse by chance in a thousand runs; an unchanged
/// one in none.
const LEVEL: f64 = 0.99986;

/// Mean rewards by player, then block and game.
type Blocks = BTreeMap<String, BTreeMap<(u64, String), f64>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results/baseline")
}

/// Plays the baseline's spec.
fn played() -> Blocks {
    let spec = std::fs::read_to_string(folder().join("players.toml")).unwrap();
    let workspace = Workspace::with_spec(&spec);
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let mut sums: BTreeMap<String, BTreeMap<(u64, String), [f64; 2]>> = BTreeMap::new();
    for played in scored::read(&workspace.path("out/journal.jsonl")).unwrap() {
        let is_yardstick = |player: &str| YARDSTICKS.contains(&player);
        let mut measured = played.seats.iter().filter(|seat| !is_yardstick(&seat.player));
        let (Some(seat), None) = (measured.next(), measured.next()) else { continue };
        assert_eq!(seat.faults, [0; 6], "{} commits no fault", seat.player);
        let block = (played.block, played.stratum.game.clone());
        let sum = sums.entry(seat.player.to_string()).or_default().entry(block).or_default();
        sum[0] += f64::from(seat.reward.unwrap());
        sum[1] += 1.0;
    }
    let means = |blocks: BTreeMap<_, [f64; 2]>| {
        blocks.into_iter().map(|(block, [sum, n])| (block, sum / n)).collect()
    };
    sums.into_iter().map(|(player, blocks)| (player, means(blocks))).collect()
}

fn recorded() -> Blocks {
    let text = std::fs::read_to_string(folder().join("blocks.csv")).unwrap();
    let mut blocks = Blocks::new();
    for line in text.lines().skip(1) {
        let [block, game, player, reward] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}: four columns")
        };
        let block = (block.parse().unwrap(), game.to_owned());
        blocks.entry(player.to_owned()).or_default().insert(block, reward.parse().unwrap());
    }
    blocks
}

fn record(blocks: &Blocks) {
    let mut text = String::from("block,game,player,reward\n");
    for (player, blocks) in blocks {
        for ((block, game), reward) in blocks {
            writeln!(text, "{block},{game},{player},{reward}").unwrap();
        }
    }
    std::fs::write(folder().join("blocks.csv"), text).unwrap();
}

/// Players that are worse than recorded, with the interval of the difference.
fn worse(recorded: &Blocks, played: &Blocks) -> Vec<(String, [f64; 2])> {
    let difference = |player: &String| {
        let (before, now) = (&recorded[player], &played[player]);
        assert!(before.keys().eq(now.keys()), "{player}: the same blocks as recorded");
        let points = now.values().zip(before.values()).map(|(now, before)| now - before);
        t_interval(&points.collect::<Vec<_>>(), LEVEL).unwrap().interval
    };
    assert!(recorded.keys().eq(played.keys()), "the same players as recorded");
    let differences = recorded.keys().map(|player| (player.clone(), difference(player)));
    differences.filter(|(_, [_, high])| *high < 0.0).collect()
}

#[test]
fn no_player_is_weaker_than_its_baseline() {
    let played = played();
    if std::env::var_os("RECORD_BASELINE").is_some_and(|value| value == "1") {
        record(&played);
    }
    let worse = worse(&recorded(), &played);
    assert!(
        worse.is_empty(),
        "worse than recorded, points: {worse:?}; see results/baseline/README.md"
    );
}

/// A person at the terminal is no player that could become weaker.
#[test]
fn every_built_in_player_has_a_baseline() {
    let players = Workspace::with_spec("").run(&["players", "--json"]).code(0).stdout();
    let players: Vec<Value> = serde_json::from_str(&players).unwrap();
    let names = players.iter().map(|player| player["name"].as_str().unwrap());
    let spec = std::fs::read_to_string(folder().join("players.toml")).unwrap();
    let is_missing =
        |name: &&str| *name != "human" && !spec.contains(&format!("kind = \"{name}\"\n"));
    let missing: Vec<&str> = names.filter(is_missing).collect();
    assert!(missing.is_empty(), "not in results/baseline/players.toml: {missing:?}");
    assert_eq!(recorded().len(), spec.matches("[[players]]").count() - YARDSTICKS.len());
}

/// The check would notice: each player in turn earns half of what it did.
#[test]
fn a_weakened_player_would_be_noticed() {
    let recorded = recorded();
    assert!(worse(&recorded, &recorded).is_empty());
    for player in recorded.keys() {
        let mut weak = recorded.clone();
        for reward in weak.get_mut(player).unwrap().values_mut() {
            *reward /= 2.0;
        }
        let found = worse(&recorded, &weak);
        assert_eq!(found.len(), 1, "{player}");
        assert_eq!(found[0].0, *player);
    }
}
