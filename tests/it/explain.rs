//! `gamemaster explain`: one decision in words.

use crate::workspace::Workspace;

/// The two-ply tree of AIMA, chapter 6: seven leaves of nine, 3 against at most 2.
#[test]
fn the_two_ply_tree_is_explained() {
    let workspace = Workspace::new();
    let player = "alpha_beta:deepening=false,transposition=0";
    let command = ["explain", "aima_two_ply", "--player", player];
    let told = workspace.run(&command).code(0).stdout();
    for line in [
        "  move a1  (3 legal, 11 nodes, value 3.0, depth 2)",
        "      7 leaves, 2 cut-offs",
        "      a1  3.0",
        "      a2  at most 2.0",
        "      a3  at most 2.0",
        "      line: a1; a1",
    ] {
        assert!(told.lines().any(|found| found == line), "{told}");
    }
    let json = workspace.run(&[&command[..], &["--json"]].concat()).code(0).stdout();
    let decided: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&decided["move"], &decided["value"]), (&"a1".into(), &3.0.into()));
    assert_eq!(decided["candidates"][1]["bound"], "at_most");
}

/// In the corner opponent's reply the centre is the only move that holds the draw, or one
/// of those that cannot be worse.
#[test]
fn the_state_is_that_after_the_moves() {
    let workspace = Workspace::new();
    let command = ["explain", "tic_tac_toe", "--player", "minimax:transposition=100000"];
    let told = workspace
        .run(&[&command[..], &["--moves", "((mark 1 1) noop)", "--nodes", "1000000"]].concat())
        .code(0)
        .stdout();
    assert!(told.starts_with("tic_tac_toe, after 1 step: "), "{told}");
    assert!(told.contains(" as oplayer\n\n  move (mark 2 2)  (8 legal, "), "{told}");
    assert!(told.contains("(mark 1 2)  0.0"), "{told}");
}

/// A search that ends at a proven win says what is not proven, and what it left out.
#[test]
fn estimates_beside_a_proof_are_marked() {
    let workspace = Workspace::new();
    let command = ["explain", "nim", "--player", "alpha_beta:history=true", "--nodes", "100000"];
    let told = workspace.run(&command).code(0).stdout();
    assert!(told.starts_with("nim, after 0 steps: alpha_beta:history=true as left\n"), "{told}");
    assert!(told.contains("judgement: won") && told.contains("(take a 2)  100.0\n"), "{told}");
    assert!(told.contains("(take a 1)  50.0 (estimate)\n"), "{told}");
    assert!(told.contains("9 other moves were not searched: no value can be better\n"), "{told}");
    let command = ["explain", "nim", "--player", "mcts", "--nodes", "100000"];
    let told = workspace.run(&command).code(0).stdout();
    assert!(told.contains("judgement: won") && told.contains("(take a 2)  100.0, "), "{told}");
    let is_proven = |line: &str| line.contains(")  100.0") || line.contains(")  0.0");
    let others = told.lines().filter(|line| line.contains(" visits") && !is_proven(line));
    assert!(others.clone().count() > 1, "{told}");
    others.for_each(|line| assert!(line.contains(" (estimate), "), "{told}"));
}

/// The match begins in a state given by its facts, and goes on by the moves.
#[test]
fn a_state_is_given_by_its_facts() {
    let workspace = Workspace::new();
    let facts = "(cell 1 1 x) (cell 1 2 x) (cell 1 3 b) (cell 2 1 o) (cell 2 2 o) (cell 2 3 b) \
                 (cell 3 1 b) (cell 3 2 b) (cell 3 3 b) (control xplayer)";
    let command = ["explain", "tic_tac_toe", "--player", "alpha_beta", "--state", facts];
    let won = workspace.run(&command).code(0).stdout();
    assert!(won.contains("  move (mark 1 3)  (5 legal, "), "{won}");
    let missed = [&command[..], &["--moves", "((mark 3 3) noop)"]].concat();
    let lost = workspace.run(&missed).code(0).stdout();
    assert!(lost.contains(" as oplayer\n\n  move (mark 2 3)  (4 legal, "), "{lost}");
}

/// A player of a game of hidden information is told its percepts and nothing else: the
/// jack sees two states, and that it bluffs is a note with the proof.
#[test]
fn hidden_information_stays_hidden() {
    let workspace = Workspace::new();
    let explain = |player: &str, moves: &str| {
        let command = ["explain", "kuhn_poker", "--player", player, "--moves", moves];
        workspace.run(&[&command[..], &["--nodes", "20000"]].concat()).code(0).stdout()
    };
    let deals = ["(noop noop (deal jack queen))", "(noop noop (deal jack king))"];
    for player in ["determinization", "information_set_search", "is_mcts"] {
        let told = deals.map(|deal| explain(player, deal));
        assert!(told[0].contains("      note: belief: 2 states\n"), "{}", told[0]);
        // It cannot tell the two deals apart.
        assert_eq!(told[0], told[1]);
    }
    let state = ["--state", "(holds first jack) (holds second king) (phase opening)"];
    let command = [&["explain", "kuhn_poker", "--player", "is_mcts"][..], &state].concat();
    let refused = workspace.run(&command).code(2).stderr();
    assert!(refused.contains("does not say what each role has seen; use --moves"), "{refused}");
    let command = ["explain", "kuhn_poker", "--player", "is_mcts", "--moves", deals[1], "--belief"];
    let told = workspace.run(&[&command[..], &["--nodes", "100"]].concat()).code(0).stdout();
    let belief = "  belief: 2 states\n    in each state  (holds first jack) (phase opening)\n    \
                  0.5000  (holds second king)\n    0.5000  (holds second queen)\n";
    assert!(told.contains(belief), "{told}");
    let command = [&command[..], &["--nodes", "100", "--json"]].concat();
    let told: serde_json::Value =
        serde_json::from_str(&workspace.run(&command).code(0).stdout()).unwrap();
    assert_eq!(told["belief"]["exact"], true);
    assert_eq!(told["belief"]["states"][1]["facts"], serde_json::json!(["(holds second queen)"]));
    let told = explain("cfr", deals[1]);
    assert!(told.contains("      note: tree: 55 nodes, 12 information sets\n"), "{told}");
    assert!(told.contains("a best response gains 0.0"), "{told}");
    assert!(told.lines().any(|line| line.starts_with("      bet ")), "{told}");
}

#[test]
fn what_cannot_be_explained_is_said() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["explain"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    let player = ["--player", "alpha_beta"];
    let with = |rest: &[&'static str]| [&player[..], rest].concat();
    refused(
        &[&["monty_hall"], &with(&[])[..]].concat(),
        "cannot play monty_hall: the game has hidden information",
    );
    refused(
        &[&["nim"], &with(&["--moves", "((take a 9) noop)"])[..]].concat(),
        "--moves: joint move 1: `(take a 9)` is not legal for left; legal are (take a 1) ",
    );
    let after_the_end = ["--moves", "(a1 noop) (noop a1) (noop noop)"];
    refused(
        &[&["aima_two_ply"], &with(&after_the_end)[..]].concat(),
        "--moves: the match ends after joint move 2, but 3 joint moves are given",
    );
    refused(
        &[&["aima_two_ply"], &with(&["--state", "(cell 1"])[..]].concat(),
        "--state: unclosed `(`",
    );
    for (state, expected) in [
        ("(foo)", "--state: no relation, function or constant of the rules is named `foo`"),
        ("(at ?x)", "--state: a fact contains no variables such as ?x"),
        ("((at) n)", "--state: `((at) n)` is not a fact"),
        ("(at n11)", "the state is terminal: there is no move to explain"),
        (
            "(at a1)",
            "`max` has no legal move in this state, and it is not terminal; --state takes all facts",
        ),
    ] {
        refused(&["aima_two_ply", "--player", "alpha_beta", "--state", state], expected);
    }
    refused(&[&["nim"], &with(&["--role", "me"])[..]].concat(), "expected one of left, right");
    refused(&[&["nim"], &with(&["--belief"])[..]].concat(), "--belief: players see all of this");
    refused(&["kuhn_poker", "--player", "cfr", "--belief"], "--belief: cfr keeps no belief");
    refused(
        &["nim", "--player", "http://127.0.0.1:9147"],
        "only players that compute their moves in gamemaster itself can explain them",
    );
}

/// The same tree, state by state, with the two leaves that are never looked at; on a page
/// and as a graph, too.
#[test]
fn the_tree_is_shown_as_it_was_searched() {
    let workspace = Workspace::new();
    let player = "alpha_beta:deepening=false,transposition=0";
    let command = ["explain", "aima_two_ply", "--player", player, "--tree"];
    let files = ["--html", "tree.html", "--dot", "tree.dot"];
    let told = workspace.run(&[&command[..], &files].concat()).code(0).stdout();
    let tree = "
  tree, values for max; in brackets: alpha and beta when the state was entered
    (root): 3        [0, 100]
      a1: 3          [0, 100]
        a1: 3        [0, 100]  terminal
        a2: 12       [0, 3]  terminal
        a3: 8        [0, 3]  terminal
      a2: at most 2  [3, 100]  never looked at: a2, a3
        a1: 2        [3, 100]  terminal
      a3: at most 2  [3, 100]
        a1: 14       [3, 100]  terminal
        a2: 5        [3, 14]  terminal
        a3: 2        [3, 5]  terminal
";
    assert!(told.ends_with(tree), "{told}");
    let page = workspace.read("tree.html");
    assert!(page.contains("never looked at: a2, a3") && page.contains("\u{2264} 2"), "{page}");
    assert!(page.contains("Brackets show alpha and beta") && page.contains("[3, 100]"), "{page}");
    let graph = workspace.read("tree.dot");
    assert_eq!(graph.matches(" -> ").count(), 10 + 1, "{graph}");
    assert!(graph.contains("[3, 100]"), "{graph}");
    // Minimax has no alpha and beta, and looks at everything.
    let minimax = ["explain", "aima_two_ply", "--player", "minimax:deepening=false"];
    workspace
        .run(&[&minimax[..], &["--html", "whole.html", "--dot", "whole.dot"]].concat())
        .code(0);
    let whole = workspace.read("whole.html");
    let marks = ["Brackets", "Dashed", "[0"];
    assert!(!marks.iter().any(|mark| whole.contains(mark)), "{whole}");
    assert!(!workspace.read("whole.dot").contains("[0"));
    let json = workspace.run(&[&command[..], &["--json"]].concat()).code(0).stdout();
    let decided: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(decided["tree"]["nodes"].as_array().map(Vec::len), Some(11));
    assert_eq!(decided["tree"]["nodes"][5]["left_out"], serde_json::json!(["a2", "a3"]));
    let twice = ["--html", "tree.html", "--dot", "./tree.html"];
    let told = workspace.run(&[&command[..], &twice].concat()).code(2).stderr();
    assert_eq!(told, "error: --dot ./tree.html: --html is the same file; give another name\n");
    assert_eq!(workspace.read("tree.html"), page);
}

/// Of Monte-Carlo tree search, the states that were visited most, with their visits: on a page
/// and as a graph, too. The first line is that of the win, which is proven.
#[test]
fn the_most_visited_states_of_mcts_are_shown() {
    let workspace = Workspace::new();
    let command = ["explain", "nim", "--player", "mcts", "--nodes", "45000", "--tree"];
    let files = ["--tree-nodes", "9", "--html", "tree.html", "--dot", "tree.dot"];
    let told = workspace.run(&[&command[..], &files].concat()).code(0).stdout();
    let (_, tree) = told.split_once("\n  tree, values for left, and how often ").unwrap();
    let lines: Vec<&str> = tree.lines().collect();
    assert!(lines[1].starts_with("    (root): 100 ") && lines[1].ends_with("  proven"), "{tree}");
    assert!(lines[2].starts_with("      (take "), "{tree}");
    assert!(lines[1..10].iter().all(|line| line.contains(" visit")), "{tree}");
    assert!(lines[10].ends_with(" more states, visited less often (see --tree-nodes)"), "{tree}");
    assert_eq!(workspace.read("tree.html").matches(" visits</text>").count(), 9);
    let graph = workspace.read("tree.dot");
    assert_eq!((graph.matches(" -> ").count(), graph.matches(" visits").count()), (8, 9));
    let json = workspace.run(&[&command[..], &["--json"]].concat()).code(0).stdout();
    let decided: serde_json::Value = serde_json::from_str(&json).unwrap();
    let nodes = decided["tree"]["nodes"].as_array().unwrap();
    assert_eq!((nodes.len(), &nodes[0]["found"]), (100, &"proven".into()));
    let has_visits = |node: &serde_json::Value| node["visits"].is_u64() && node["alpha"].is_null();
    assert!(nodes.iter().all(has_visits), "{json}");
}

/// Of a tree that is grown by bounds, the states that were visited most, with their bounds or
/// values: on a page and as a graph, too. Two leaves need not be expanded.
#[test]
fn the_bounds_of_incremental_deliberation_are_shown() {
    let workspace = Workspace::new();
    let explain = |rest: &[&str]| {
        let player = ["--player", "incremental_deliberation", "--nodes", "1000"];
        let command = [&["explain", "--tree"][..], &player].concat();
        workspace.run(&[&command[..], rest].concat())
    };
    let files = ["--html", "tree.html", "--dot", "tree.dot"];
    let told = explain(&[&["aima_two_ply"][..], &files].concat()).code(0).stdout();
    let tree = "
  tree, values for max or their bounds, and how often each state was visited
    (root): 3         11 visits  max chooses
      a1: 3           4 visits  min chooses
        a1: 3         1 visit  terminal
        a2: 12        1 visit  terminal
        a3: 8         1 visit  terminal
      a3: 2           4 visits  min chooses
        a1: 14        1 visit  terminal
        a2: 5         1 visit  terminal
        a3: 2         1 visit  terminal
      a2: 0 to 2      2 visits  min chooses
        a1: 2         1 visit  terminal
        a2: 0 to 100  0 visits  not expanded
        a3: 0 to 100  0 visits  not expanded
";
    assert!(told.ends_with(tree), "{told}");
    let page = workspace.read("tree.html");
    assert!(page.contains("Two numbers are a lower and an upper bound."), "{page}");
    assert!(page.contains(">0\u{2013}2</text>") && page.contains("a3, not expanded"), "{page}");
    let colours = ["mine", "theirs", "leaf"].map(|of| page.matches(&format!("\"{of}\"")).count());
    assert_eq!(colours, [1, 3, 9], "{page}");
    let graph = workspace.read("tree.dot");
    assert_eq!(graph.matches(" -> ").count(), 12, "{graph}");
    assert!(graph.contains("[label=\"0 to 2\\n2 visits\\nmin chooses\"]"), "{graph}");
    assert_eq!(graph.matches("\\nnot expanded\"").count(), 2, "{graph}");
    let json = explain(&["aima_two_ply", "--json"]).code(0).stdout();
    let decided: serde_json::Value = serde_json::from_str(&json).unwrap();
    let node = |at: usize| {
        let node = &decided["tree"]["nodes"][at];
        let keys = ["parent", "move", "lower", "upper", "value", "found", "visits", "choosers"];
        serde_json::Value::from(keys.map(|key| node[key].clone()).to_vec())
    };
    assert_eq!(node(0), serde_json::json!([null, "", 3.0, 3.0, 3.0, "expanded", 11, ["max"]]));
    assert_eq!(node(2), serde_json::json!([1, "a1", 3.0, 3.0, 3.0, "terminal", 1, null]));
    assert_eq!(node(9), serde_json::json!([0, "a2", 0.0, 2.0, null, "expanded", 2, ["min"]]));
    let unknown = serde_json::json!([9, "a3", 0.0, 100.0, null, "not_expanded", 0, null]);
    assert_eq!(node(12), unknown);
    let few = explain(&["nim", "--tree-nodes", "2"]).code(0).stdout();
    let end = "    (root): 100        216 visits  left chooses\n      \
               (take a 2): 100  22 visits  right chooses\n    \
               ... and 230 more states, visited less often (see --tree-nodes)\n";
    assert!(few.ends_with(end), "{few}");
}

/// The tree has moves made at once, moves of chance, and those of three roles.
#[test]
fn the_tree_of_incremental_deliberation_has_the_moves_of_all_roles() {
    let workspace = Workspace::new();
    let check = |game: &str, moves: &str, expected: &[&str]| {
        let command = ["explain", game, "--player", "incremental_deliberation", "--tree"];
        let rest = ["--nodes", "200", "--moves", moves];
        let told = workspace.run(&[&command[..], &rest].concat()).code(0).stdout();
        for line in expected {
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_shown = told.lines().any(|found| words(found) == *line);
            assert!(is_shown, "{line}: {told}");
        }
    };
    let at_once = ["(root): 0 12 visits left and right choose", "rock paper: 0 1 visit terminal"];
    check("rock_paper_scissors", "", &at_once);
    let chance = ["right: 10 to 45 6 visits random chooses", "tails: 0 to 70 2 visits min chooses"];
    check("coin_flip", "", &chance);
    let forced = [
        "(root): 0 to 100 200 visits no choice",
        "roll noop noop: 0 to 100 199 visits random chooses",
    ];
    check("pig", "", &forced);
    let third = [
        "(root): 0 to 100 200 visits oplayer chooses",
        "(mark 4 1): 0 to 100 14 visits zplayer chooses",
    ];
    check("tic_tac_toe_three_players", "((mark 1 1) noop noop)", &third);
    check("eight_puzzle_course", "right", &["down: 100 7 visits robot chooses"]);
}

/// Of Monte-Carlo tree search over information sets, what the role knows and its moves, in turn:
/// the same for deals that look alike to it; on a page and as a graph, too.
#[test]
fn the_most_visited_information_sets_are_shown() {
    let workspace = Workspace::new();
    let explain = |deal: &str, rest: &[&str]| {
        let command = ["explain", "kuhn_poker", "--player", "is_mcts", "--nodes", "20000"];
        workspace.run(&[&command[..], &["--tree", "--moves", deal], rest].concat())
    };
    let deals = ["(noop noop (deal jack queen))", "(noop noop (deal jack king))"];
    let files = ["--html", "tree.html", "--dot", "tree.dot"];
    let told = deals.map(|deal| explain(deal, &files).code(0).stdout());
    assert_eq!(told[0], told[1]);
    let heading = "\n  tree, values for first, and how often each node was visited\n";
    let (_, tree) = told[0].split_once(heading).unwrap();
    let lines: Vec<&str> = tree.lines().collect();
    let begins = ["    (root): ", "      ", "        sees nothing; (did second bet): "];
    let begins = [&begins[..], &["          fold: 25.0 ", "          call: 0.0 "]].concat();
    for begin in begins {
        assert!(lines.iter().any(|line| line.starts_with(begin)), "{begin}: {tree}");
    }
    assert!(lines.iter().all(|line| line.contains(" visit")) && lines.len() == 6, "{tree}");
    assert!(workspace.read("tree.html").contains("how often each node was visited"));
    assert_eq!(workspace.read("tree.dot").matches(" visits\"").count(), 6);
    let json = explain(deals[0], &["--json"]).code(0).stdout();
    let decided: serde_json::Value = serde_json::from_str(&json).unwrap();
    let nodes = decided["tree"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 6);
    for node in nodes {
        assert_eq!(node["is_mine"], node["available"].is_null());
        let Some(available) = node["available"].as_u64() else { continue };
        let set = &nodes[node["parent"].as_u64().unwrap() as usize];
        assert!(available >= set["visits"].as_u64().unwrap(), "{json}");
    }
    let first = explain(deals[0], &["--tree-nodes", "1"]).code(0).stdout();
    assert!(first.ends_with("\n    ... and 5 more nodes, visited less often (see --tree-nodes)\n"));
}

/// The errors say which players search a tree, and why a search may have none.
#[test]
fn a_tree_that_was_not_searched_is_an_error() {
    let workspace = Workspace::new();
    let refused = |rest: &[&str], expected: &str| {
        let command = ["explain", "kuhn_poker", "--tree", "--player"];
        let told = workspace.run(&[&command[..], rest].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    let players = "--tree: cannot print the tree of determinization; use minimax, alpha_beta, \
                   compulsive_deliberation, incremental_deliberation, information_set_search, \
                   mcts or is_mcts";
    refused(&["determinization"], players);
    let none = "--tree: no tree was searched in this state: the role has a single legal move, a \
                table has the value, or time, nodes or memory did not suffice for a tree";
    let deal = "(noop noop (deal jack queen))";
    refused(&["is_mcts", "--nodes", "1", "--moves", deal], none);
    refused(&["is_mcts:tree=1", "--nodes", "1000", "--moves", deal], none);
    refused(&["is_mcts", "--nodes", "1000", "--moves", deal, "--role", "second"], none);
    let full = ["explain", "nim", "--tree", "--player", "incremental_deliberation:max_states=2"];
    assert!(workspace.run(&full).code(2).stderr().contains(none));
}

/// A tree of more states than a drawing holds is a list on the page; the values of a
/// whole plan and its steps agree.
#[test]
fn large_trees_are_lists_and_plans_are_printed() {
    let workspace = Workspace::new();
    let large = ["explain", "tic_tac_toe", "--player", "minimax:depth=3,deepening=false"];
    workspace.run(&[&large[..], &["--html", "tree.html"]].concat()).code(0);
    let page = workspace.read("tree.html");
    assert!(page.contains("<details open>") && !page.contains("<svg"), "{}", &page[..2000]);
    assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    let planned = ["explain", "eight_puzzle_seed", "--plan", "--player"];
    let shortest = [&planned[..], &["sequential_planner:shortest=true"]].concat();
    let told = workspace.run(&shortest).code(0).stdout();
    assert!(told.ends_with("\n  plan\n    right; down; right; down; end\n"), "{told}");
    let told = workspace.run(&[&planned[..], &["monte_carlo"]].concat()).code(2).stderr();
    assert!(told.contains("monte_carlo makes no plans; players that do: seq"), "{told}");
}

/// The words beside the value, and what pieces are worth by a learned evaluation.
#[test]
fn values_are_read_as_judgements() {
    let workspace = Workspace::new();
    let judgement = |game: &str, player: &str| {
        let command = ["explain", game, "--player", player, "--nodes", "2000", "--json"];
        let json = workspace.run(&command).code(0).stdout();
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["judgement"].clone()
    };
    assert_eq!(judgement("aima_two_ply", "minimax"), "losing");
    assert_eq!(judgement("eight_puzzle_seed", "compulsive_deliberation"), "won");
    assert_eq!(judgement("connect_four", "alpha_beta:depth=3"), "even");
    assert_eq!(judgement("nim", "legal"), serde_json::Value::Null);
}

/// `won` and `lost` are for proofs: not for playouts, hidden information, simultaneous moves,
/// or roles that are assumed to help.
#[test]
fn only_proofs_are_won_or_lost() {
    let workspace = Workspace::new();
    let check = |game: &str, player: &str, moves: &str, expected: &str| {
        let command = ["explain", game, "--player", player, "--nodes", "10000", "--moves", moves];
        let told = workspace.run(&command).code(0).stdout();
        let line = format!("judgement: {expected}\n");
        assert!(told.contains(&line), "{player} in {game}: {told}");
    };
    let won = "((take a 2) noop) (noop (take a 1))";
    check("nim", "alpha_beta", "((take a 2) noop)", "lost");
    check("nim", "conditional_planner", won, "won");
    check("nim", "perfect", "", "won");
    check("nim", "incremental_deliberation", "", "won");
    check("rock_paper_scissors", "incremental_deliberation", "", "losing");
    check("nim", "mcts", won, "won");
    check("nim", "alpha_beta:opponents=cooperative", "((take a 2) noop)", "winning");
    check("nim", "sequential_planner", "((take a 2) noop)", "winning");
    check("nim", "determinization:opponents=cooperative", "", "winning");
    check("two_roads", "determinization", "(noop (hide left))", "winning");
    check("rock_paper_scissors", "minimax", "", "losing");
    check("rock_paper_scissors", "conditional_planner", "", "losing");
    check("eight_puzzle_seed", "sequential_planner", "", "won");
}

#[test]
fn weights_of_pieces_are_listed() {
    let workspace = Workspace::new();
    let train = ["train", "breakthrough_6x6", "--matches", "200", "--openings", "0"];
    let trained = workspace.run(&train).code(0).stdout();
    assert!(trained.contains("  pieces for white, in units of (cell ? ? white)\n"), "{trained}");
    let black = "  pieces for black: the same weights, with + and - exchanged\n";
    assert!(trained.contains(black), "{trained}");
    let player = "alpha_beta:depth=1,evaluation=learned:breakthrough_6x6.evaluation.toml";
    let command = ["explain", "breakthrough_6x6", "--player", player, "--json"];
    let json = workspace.run(&command).code(0).stdout();
    let explained: serde_json::Value = serde_json::from_str(&json).unwrap();
    let white = &explained["pieces"][0];
    assert_eq!((&white["role"], &white["unit"]), (&"white".into(), &"(cell ? ? white)".into()));
    // Its own pieces are good for it, the other's bad.
    let relative = |at: usize| white["pieces"][at]["relative"].as_f64().unwrap();
    assert_eq!(white["pieces"][0]["facts"], "(cell ? ? white)");
    assert!(relative(0) == 1.0 && relative(1) < 0.0, "{white}");
}

/// The tree of what a player may come to know: after it asked, it knows the state; a plan
/// goes on by what it sees. The graph and the page show the same.
#[test]
fn the_tree_of_information_states_is_shown() {
    let workspace = Workspace::new();
    let moves = "(noop (hide left))";
    let command = ["explain", "two_roads_ask", "--nodes", "10000", "--moves", moves];
    let player = ["--player", "information_set_search", "--tree", "--plan"];
    let files = ["--dot", "tree.dot", "--html", "tree.html"];
    let told = workspace.run(&[&command[..], &player, &files].concat()).code(0).stdout();
    let tree = told.split_once("  tree, values for traveller\n").unwrap().1;
    let root = "    (root), 2 possible states: 90\n      ask: 90\n";
    assert!(tree.starts_with(root), "{tree}");
    assert!(tree.contains("(jewels right), 1 possible state: 90"), "{tree}");
    assert!(tree.contains("roadb: 50\n        sees (phase road), 2 possible states: 50"), "{tree}");
    let plan = tree.split_once("  plan\n").unwrap().1;
    assert_eq!(plan.lines().count(), 3, "{plan}");
    assert!(plan.contains("(jewels left): roadb; (take left); end"), "{plan}");
    for file in ["tree.dot", "tree.html"] {
        assert!(workspace.read(file).contains("possible state"), "{file}");
    }
    let shallow = ["--player", "information_set_search:depth=1", "--nodes", "1000", "--plan"];
    let deal = ["explain", "four_card_whist", "--moves", "(noop noop (deal diamonds 4))"];
    let told = workspace.run(&[&deal[..], &shallow].concat()).code(2).stderr();
    assert!(told.contains("found no plan in this state"), "{told}");
}

/// Where nothing is hidden, what a player sees is the joint move; the end names those that
/// lead to it.
#[test]
fn a_tree_of_information_states_names_joint_moves() {
    let workspace = Workspace::new();
    let command = ["explain", "aima_two_ply", "--player", "information_set_search", "--tree"];
    let told = workspace.run(&command).code(0).stdout();
    let tree = told.split_once("  tree, values for max\n").unwrap().1;
    let first = "    (root), 1 possible state: 3
      a1: 3
        (a1 noop), 1 possible state: 3
          noop: 3
            (noop a1), end: 3  terminal
            (noop a2), end: 12  terminal
            (noop a3), end: 8  terminal
";
    assert!(tree.starts_with(first), "{tree}");
}

/// A search that found no value says so, and which move it gives instead.
#[test]
fn a_search_without_a_value_says_so() {
    let workspace = Workspace::new();
    let explain = |player: &str, nodes: &str| {
        let command = ["explain", "tic_tac_toe", "--player", player, "--nodes", nodes];
        workspace.run(&command).code(0).stdout()
    };
    let told = explain("compulsive_deliberation", "500");
    assert!(told.contains("the search is not complete"), "{told}");
    assert!(told.contains("note: no value was found; the move is the first"), "{told}");
    let told = explain("alpha_beta", "500");
    assert!(!told.contains("no value was found"), "{told}");
}

/// With a start clock, a player prepares as in a match, and says what came of it.
#[test]
fn a_start_clock_is_used_to_prepare() {
    let workspace = Workspace::new();
    // A game that is not solved at once.
    let command = ["explain", "connect_four", "--player", "mcts", "--nodes", "2000"];
    let without = workspace.run(&command).code(0).stdout();
    assert!(!without.contains("self-play"), "{without}");
    let with = workspace.run(&[&command[..], &["--start-clock", "6s"]].concat()).code(0).stdout();
    assert!(with.contains("self-play"), "{with}");
    let both = workspace.run(&[&command[..], &["--time", "1s"]].concat()).code(2).stderr();
    assert!(both.contains("--time"), "{both}");
}

/// Without a start clock, nothing is said of a preparation that did not take place.
#[test]
fn nothing_is_said_of_a_start_that_was_not() {
    let workspace = Workspace::new();
    let command = ["explain", "kuhn_poker", "--player", "cfr", "--nodes", "20000"];
    let told = workspace.run(&command).code(0).stdout();
    assert!(!told.contains("not complete yet"), "{told}");
}

/// What a role of several gets depends on the moves that the others prefer, also where it is
/// known what these bring them. By the solver, the role gets 66.7.
#[test]
fn the_means_of_three_roles_are_those_of_good_moves() {
    let workspace = Workspace::new();
    let moves = "((aim sure) noop noop noop) (noop noop noop (roll 3)) \
                 (noop (aim poor) noop noop) (noop noop noop (roll 3)) \
                 (noop noop (aim poor) noop) (noop noop noop (roll 2))";
    let explain = ["explain", "truel", "--player", "mcts", "--nodes", "100000", "--json"];
    let json = workspace.run(&[&explain[..], &["--moves", moves]].concat()).code(0).stdout();
    let said: serde_json::Value = serde_json::from_str(&json).unwrap();
    let value = said["value"].as_f64().unwrap();
    assert!((value - 66.7).abs() < 1.0, "{value}");
}

/// A variable of the rules is no name of a fact.
#[test]
fn an_unknown_name_is_compared_with_names_only() {
    let state = ["--state", "(cell 1 1 q) (control xplayer)"];
    let command = ["explain", "tic_tac_toe", "--player", "minimax"];
    let told = Workspace::new().run(&[&command[..], &state].concat()).code(2).stderr();
    assert!(told.contains("is named `q` (did you mean `b`, `o` or `x`?)"), "{told}");
}
