//! Every built-in player at every shipped game: it plays without a fault and within its
//! budget and its memory, or is left out before the first match with a reason.

use std::collections::BTreeMap;

use games::library::Shipped;
use games::{Case, Leniency, validate};

use crate::workspace::{Workspace, run_slow_tests};

/// Nodes for each move.
const NODES: u64 = 50;

/// Seeds of each player at each game, at least: matches are played in every seating.
const SEEDS: usize = 20;

/// Players that finish the expansion of states that they have begun, all joint moves of a
/// state (`mcts`) or of 32 states (`perfect`), and so may exceed a budget of few nodes.
const WHOLE_EXPANSIONS: [&str; 2] = ["mcts", "perfect"];

/// The most memory that a process may ask the system for.
const MEMORY: &str = "ulimit -v 6291456";

/// What came of a player at a game.
enum Outcome {
    Played,
    LeftOut { reason: String },
}

/// Roles of a game that players fill.
fn n_seats(game: &Shipped) -> usize {
    let read = validate::read(game.name, game.text, Case::Folded, Leniency::Strict);
    let game = read.game.expect("shipped games are valid");
    game.roles().len() - usize::from(game.random().is_some())
}

/// The player against random players, in every seating with as many seeds as make
/// `n_matches`, by the program itself.
fn play(kind: &str, game: &Shipped, n_matches: usize) -> Outcome {
    let n_seats = n_seats(game);
    let blocks = n_matches.div_ceil(n_seats);
    let mut spec = format!(
        "games = [\"{}\"]\nblocks = {blocks}\nbudget = {{ nodes = {NODES} }}\njobs = 1\n\
         clocks = {{ start = \"10m\", play = \"10m\" }}\n\
         [[players]]\nkind = \"{kind}\"\nid = \"tested\"\n",
        game.name
    );
    for other in 1..n_seats {
        spec += &format!("[[players]]\nkind = \"random\"\nid = \"other{other}\"\n");
    }
    let workspace = Workspace::with_spec(&spec);
    let ran = workspace
        .run_after(MEMORY, &["run", "spec.toml", "--out", "r", "--quiet", "--skip-unsuitable"]);
    let what = format!("{kind} at {}", game.name);
    if ran.0.status.code() == Some(2) {
        let error = ran.stderr();
        let reason = error.strip_prefix("error: spec.toml: no game can be played: ");
        let reason = reason.unwrap_or_else(|| panic!("{what}: {error}"));
        return Outcome::LeftOut { reason: reason.trim_end().to_owned() };
    }
    let ran = ran.code(0);
    assert_eq!(ran.stderr(), "", "{what}");
    let table = workspace.read("r/matches.csv");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let mut n_tested = 0;
    for row in rows.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let place = format!("{what}, match {}, {}", row["job"], row["player"]);
        assert_eq!(row["ending"], "terminal", "{place}: {}", row["ending_reason"]);
        for fault in [
            "n_late_start",
            "n_late_move",
            "n_illegal_move",
            "n_unreadable",
            "n_crashed",
            "n_unreachable",
            "n_substituted",
        ] {
            assert_eq!(row[fault], "0", "{place}: {fault}");
        }
        if row["player"] == "tested" {
            n_tested += 1;
            // A budget for each decision, and one before the first. Players that count no
            // nodes leave the field empty.
            let n_decisions: u64 = row["n_decisions"].parse().unwrap();
            let n_nodes: u64 = row["nodes"].parse().unwrap_or(0);
            let is_within = n_nodes <= NODES * (n_decisions + 1);
            assert!(is_within || WHOLE_EXPANSIONS.contains(&kind), "{place}: {n_nodes} nodes");
        }
    }
    assert_eq!(n_tested, blocks * n_seats, "{what}");
    Outcome::Played
}

/// Plays all of them.
fn check(games: &[&Shipped], n_matches: usize) {
    for kind in players::kinds() {
        let mut n_games = 0;
        for game in games {
            match play(kind.name, game, n_matches) {
                Outcome::Played => n_games += 1,
                Outcome::LeftOut { reason } => {
                    assert!(reason.starts_with(game.name), "{}: {reason}", kind.name);
                }
            }
        }
        assert!(n_games > 0, "{} plays no game", kind.name);
    }
}

/// Games of one to three roles, with and without chance and hidden information.
#[test]
fn every_player_plays_or_is_left_out_of_small_games() {
    let names = ["eight_puzzle_course", "tic_tac_toe", "kuhn_poker", "truel", "goofspiel"];
    let games = names.map(|name| games::library::find(name).expect("it is shipped"));
    check(&games, 2);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that does not run must say so")]
fn every_player_plays_or_is_left_out_of_every_game() {
    if !run_slow_tests() {
        eprintln!("skipped: RUN_SLOW_TESTS is not set");
        return;
    }
    let games: Vec<&Shipped> = games::library::all().iter().collect();
    check(&games, SEEDS);
}

/// The one error becomes a note, and the others play.
#[test]
fn unsuitable_players_are_left_out_on_request() {
    let spec = "games = [\"leduc_poker\", \"kuhn_poker\"]\nbudget = { nodes = 100 }\n\
                players = [{ kind = \"cfr\", nodes = 100 }, { kind = \"random\" }, \
                { kind = \"legal\" }]\n";
    let workspace = Workspace::with_spec(spec);
    let refused = workspace.run(&["run", "spec.toml", "--dry-run"]).code(2).stderr();
    assert!(
        refused.contains(
            "cfr-nodes100 cannot play leduc_poker: the tree of the game has more than 100 nodes"
        ) && refused.contains("`skip_unsuitable = true`"),
        "{refused}"
    );
    let run = ["run", "spec.toml", "--out", "r", "--skip-unsuitable"];
    workspace.run(&run).code(0);
    let note = "does not play leduc_poker: the tree of the game has more than 100 nodes";
    let summary = workspace.read("r/summary.json");
    assert!(summary.contains(note), "{summary}");
    assert!(workspace.read("r/spec.lock.toml").contains("skip_unsuitable = true"));
    let table = workspace.read("r/matches.csv");
    let plays = |player: &str, game: &str| {
        table.lines().any(|line| line.contains(&format!(",{game},")) && line.contains(player))
    };
    assert!(plays(",random,", "leduc_poker") && plays(",legal,", "leduc_poker"));
    assert!(plays(",cfr-nodes100,", "kuhn_poker") && !plays(",cfr-nodes100,", "leduc_poker"));
    // The lock file is a spec that says the same, so the run goes on without the option.
    workspace.run(&["run", "r/spec.lock.toml", "--out", "r", "--quiet"]).code(0);
}

/// A round of a swiss system needs every player at every game.
#[test]
fn formats_with_rounds_say_who_cannot_play() {
    let spec = "games = [\"leduc_poker\"]\nformat = \"swiss\"\nskip_unsuitable = true\n\
                budget = { nodes = 100 }\nplayers = [{ kind = \"cfr\", nodes = 100 }, \
                { kind = \"random\" }, { kind = \"legal\" }]\n";
    let workspace = Workspace::with_spec(spec);
    let refused = workspace.run(&["run", "spec.toml", "--dry-run"]).code(2).stderr();
    assert!(
        refused.contains(
            "cfr-nodes100 cannot play leduc_poker: the tree of the game has more than 100 nodes"
        ) && refused.contains("in this format every player plays every game"),
        "{refused}"
    );
}
