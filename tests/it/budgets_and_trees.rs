//! `gamemaster game budget`, and what `gamemaster game tree` says of chance and pruning.

use crate::workspace::Workspace;

/// AIMA's figures: 100 s at 10^4 nodes a second, and the four moves of backgammon.
#[test]
fn budgets_are_computed_from_given_numbers() {
    let workspace = Workspace::new();
    let budget = |arguments: &[&str]| -> serde_json::Value {
        let arguments = [&["game", "budget", "--json"], arguments].concat();
        serde_json::from_str(&workspace.run(&arguments).code(0).stdout()).unwrap()
    };
    let near = |found: &serde_json::Value, expected: f64| {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-3, "{found}, {expected}");
    };
    let speed = ["--nodes-per-second", "10000"];
    let chess =
        budget(&[&["--branching", "35", "--length", "100", "--time", "100s"][..], &speed].concat());
    assert_eq!(chess["nodes"], 1_000_000);
    near(&chess["depth"], 3.886);
    near(&chess["depth_best_order"], 7.772);
    near(&chess["whole_best_order"]["nodes_log10"], 77.203);
    near(&chess["whole_best_order"]["years_log10"], 65.704);
    let dice = ["--branching", "20", "--outcomes", "21", "--depth", "4"];
    let backgammon = budget(&[&dice[..], &speed].concat());
    near(&backgammon["to_depth"]["nodes_log10"], 1_481_760_000_f64.log10());
    assert!(backgammon["depth_best_order"].is_null());
}

/// The depth that is reached lies between that of a full tree and that of the best order.
#[test]
fn a_search_reaches_what_its_budget_predicts() {
    let workspace = Workspace::new();
    let command = [
        "game",
        "budget",
        "connect_four",
        "--nodes",
        "20000",
        "--player",
        "alpha_beta:transposition=0",
        "--json",
    ];
    let json = workspace.run(&command).code(0).stdout();
    let budget: serde_json::Value = serde_json::from_str(&json).unwrap();
    let [full, best] = ["depth", "depth_best_order"].map(|key| budget[key].as_f64().unwrap());
    let reached = budget["search"]["depth"].as_f64().unwrap();
    assert!(full < reached && reached < best, "{full} {reached} {best}");
    assert_eq!(budget["search"]["nodes"], 20_000);
    assert!(budget["nodes_per_second"].is_null());
}

/// Positions are those that were computed, so all nodes but the first, and those found in the
/// transposition table. Their speed is measured, so it is not printed where the output is the same
/// everywhere.
#[test]
fn positions_are_counted_by_cpu_time_of_one_thread() {
    let workspace = Workspace::new();
    let budget = |arguments: &[&str]| {
        workspace.run(&[&["game", "budget", "tic_tac_toe"], arguments].concat()).code(0).stdout()
    };
    let positions = "/s of CPU time, those found in the transposition table included\n";
    let told = budget(&["--time", "20ms"]);
    assert!(told.contains("\n  positions    ") && told.contains(positions), "{told}");
    assert!(!budget(&["--nodes", "1000"]).contains("positions"));
    let search = |player: &str| -> serde_json::Value {
        let json = budget(&["--nodes", "1000", "--json", "--player", player]);
        let mut budget: serde_json::Value = serde_json::from_str(&json).unwrap();
        budget["search"].take()
    };
    let found = search("alpha_beta");
    assert_eq!(found["nodes"], 1000);
    assert!(found["positions"].as_u64().unwrap() > 1000, "{found}");
    assert!(found["cpu_seconds"].as_f64().unwrap() > 0.0, "{found}");
    assert!(found["positions_per_cpu_second"].is_f64(), "{found}");
    for player in ["mcts:threads=2", "perfect"] {
        assert!(search(player)["positions_per_cpu_second"].is_null(), "{player}");
    }
}

/// A search that is complete had more nodes than it needed.
#[test]
fn the_budget_is_what_a_complete_search_was_allowed() {
    let workspace = Workspace::new();
    let told = workspace.run(&["game", "budget", "nim", "--nodes", "100000"]).code(0).stdout();
    assert!(told.contains("  budget       100000 nodes ("), "{told}");
    assert!(told.contains(" used: the search is complete)\n"), "{told}");
}

#[test]
fn budgets_that_cannot_be_computed_are_refused() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["game", "budget"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected), "{told}");
    };
    refused(&[], "give a game, or --branching and --nodes-per-second");
    refused(&["--branching", "3"], "--branching: give --nodes-per-second, too, or a game");
    refused(&["--branching", "0.5", "--nodes-per-second", "1"], "expected a number from 1");
    refused(&["--branching", "2", "--nodes-per-second", "0"], "expected a number above 0");
    refused(&["nim", "--player", "human"], "expected a built-in player that searches");
    refused(&["nim", "--player", "random"], "expected a built-in player that searches");
    refused(&["pig", "--moves", "(roll noop noop)"], "no player has a choice in this state");
    refused(
        &["kuhn_poker", "--player", "minimax"],
        "minimax cannot play kuhn_poker: the game has hidden information",
    );
}

/// Two searches enter as many states as the tree has nodes, or fewer; with chance the levels
/// say how likely it is that play gets there.
#[test]
fn trees_with_chance_count_by_kind_of_node() {
    let workspace = Workspace::new();
    let tree = |arguments: &[&str]| -> serde_json::Value {
        let arguments = [&["game", "tree", "--lines", "0", "--json"], arguments].concat();
        serde_json::from_str(&workspace.run(&arguments).code(0).stdout()).unwrap()
    };
    let dice = tree(&["mini_backgammon", "--depth", "4"]);
    let reached = |depth: usize| dice["levels"][depth]["reached"].as_f64().unwrap();
    assert_eq!([reached(0), reached(3), reached(4)], [1.0, 1.0 / 16.0, 1.0 / 256.0]);
    let choosers = dice["choosers"].as_array().unwrap();
    let rolls = choosers.iter().find(|it| it["roles"] == serde_json::json!(["random"])).unwrap();
    assert_eq!((&rolls["min_moves"], &rolls["max_moves"]), (&16.into(), &16.into()));

    let board = tree(&["tic_tac_toe", "--depth", "4", "--prune"]);
    assert_eq!(board["choosers"], serde_json::Value::Null);
    let nodes = |at: usize| board["searches"][at]["nodes"].as_u64().unwrap();
    assert_eq!(nodes(0), 1 + 9 + 72 + 504 + 3024);
    assert!(nodes(1) < nodes(0) / 4, "{board}");
    assert_eq!(board["searches"][0]["value"], board["searches"][1]["value"]);
    // The textbook's tree: all nine leaves, seven, five at best, and nine at worst.
    let two_plies = tree(&["aima_two_ply", "--depth", "2", "--prune"]);
    let entered = two_plies["searches"].as_array().unwrap().iter().map(|it| it["nodes"].as_u64());
    assert!(entered.eq([13, 11, 9, 13].map(Some)), "{two_plies}");
    // Where both move at the same time, a state has no single order of moves.
    let at_once = tree(&["rock_paper_scissors", "--depth", "1", "--prune"]);
    assert_eq!(at_once["searches"].as_array().unwrap().len(), 2);

    let roll = "(noop noop (roll 1 2))";
    let command = ["mini_backgammon", "--depth", "4", "--prune", "--evaluation", "mobility"];
    let pruned = tree(&[&command[..], &["--moves", roll]].concat());
    let value = |at: usize| pruned["searches"][at]["value"].as_f64().unwrap();
    assert!((1..4).all(|at| (value(at) - value(0)).abs() < 1e-9), "{pruned}");
}
