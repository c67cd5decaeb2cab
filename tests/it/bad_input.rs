//! What is wrong is told in one line that names it, with the right exit code,
//! and nothing is lost.

use expect_test::{Expect, expect};

use crate::workspace::Workspace;

const PLAYERS: &str = "[[players]]\nkind = \"random\"\n[[players]]\nkind = \"legal\"\n";

fn check_spec(spec: &str, code: i32, expected: Expect) {
    let workspace = Workspace::with_spec(spec);
    let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(code);
    assert_eq!(ran.stdout(), "");
    expected.assert_eq(&ran.stderr());
    assert!(!workspace.path("out").exists(), "nothing is begun");
}

fn check(workspace: &Workspace, arguments: &[&str], code: i32, expected: Expect) {
    let ran = workspace.run(arguments).code(code);
    assert_eq!(ran.stdout(), "");
    expected.assert_eq(&without_hashes(&ran.stderr()));
}

/// Hashes change with a shipped rulesheet's text, columns of a journal with its
/// times.
fn without_hashes(told: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_end_matches([',', ')', ';', ' ', '\n']);
        let is_hash = bare.len() == 16 && bare.chars().all(|c| c.is_ascii_hexdigit());
        if is_hash { word.replace(bare, "HASH") } else { word.to_owned() }
    };
    let told: String = told.split_inclusive(' ').map(word).collect();
    match told.split_once(" at line 1 column ") {
        Some((before, _)) => format!("{before}\n"),
        None => told,
    }
}

#[test]
fn a_missing_spec() {
    check(
        &Workspace::new(),
        &["run", "none.toml"],
        2,
        expect![[r#"
        error: cannot read the spec none.toml: No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn a_spec_that_is_no_toml() {
    check_spec(
        "games = [\n",
        2,
        expect![[r#"
        error: spec.toml:1: unclosed array, expected `]`
    "#]],
    );
}

#[test]
fn an_unknown_key() {
    check_spec(
        "name = \"a\"\nblokcs = 3\n",
        2,
        expect![[r#"
            error: spec.toml:2: unknown key `blokcs` (did you mean `blocks` or `clocks`?), expected one of `name`, `seed`, `blocks`, `seating`, `format`, `rounds`, `challengers`, `extra_laps`, `race`, `stage`, `skip_unsuitable`, `jobs`, `scramble`, `players`, `comparison`, `games`, `clocks`, `budget`, `faults`, `limits`, `record`, `lock`
        "#]],
    );
    check_spec(
        "[clocks]\nplya = \"1s\"\n",
        2,
        expect![[r#"
            error: spec.toml:2: unknown key `plya` (did you mean `play`?), expected one of `start`, `play`, `margin`, `enforce`
        "#]],
    );
}

#[test]
fn a_key_that_is_given_twice() {
    check_spec(
        "players = [\"random\"]\n[[players]]\nkind = \"legal\"\n",
        2,
        expect![[r#"
            error: spec.toml:2: `players` is given twice; list all of them in one `players = [...]`, or in [[players]] tables
        "#]],
    );
    check_spec(
        "name = \"a\"\nname = \"b\"\n",
        2,
        expect![[r#"
            error: spec.toml:2: `name` is given twice
        "#]],
    );
}

#[test]
fn a_rulesheet_in_place_of_a_spec() {
    check_spec(
        "; Nim\n(role left)\n",
        2,
        expect![[r#"
            error: spec.toml: this is a rulesheet, not a spec; name it in the `games` of a spec, or play one match with `gamemaster play`
        "#]],
    );
}

#[test]
fn an_ill_typed_value() {
    check_spec(
        "blocks = \"three\"\n",
        2,
        expect![[r#"
            error: spec.toml:1: blocks = "three": expected a whole number
        "#]],
    );
    for blocks in ["99999999999", "-1", "99999999999999999999999"] {
        let workspace = Workspace::with_spec(&format!("blocks = {blocks}\n"));
        let error = workspace.run(&["run", "spec.toml"]).code(2).stderr();
        let expected = format!("blocks = {blocks}: expected a whole number up to 4294967295\n");
        assert!(error.ends_with(&expected), "{error}");
    }
    check_spec(
        "comparison = \"x\"\n",
        2,
        expect![[r#"
            error: spec.toml:1: comparison = "x": expected a table with the ids of players `base`, `head` and perhaps `canary`, as `comparison`
        "#]],
    );
    check_spec(
        &format!("blocks = 0\ngames = [\"nim\"]\n{PLAYERS}"),
        2,
        expect![[r#"
        error: spec.toml:1: blocks = 0: expected a whole number from 1
    "#]],
    );
    check_spec(
        &format!("games = [\"nim\"]\n{PLAYERS}\n[clocks]\nplay = 1\n"),
        2,
        expect![[r#"
            error: spec.toml:8: clocks.play = 1: expected a duration with its unit, such as "250ms", "1s" or "1m 30s" (up to 30 days, in steps of 1 ms), or a list of them
        "#]],
    );
    check_spec(
        "faults = { goal_conflict = \"smallest\", substitute = \"none\" }\n",
        2,
        expect![[r#"
            error: spec.toml:1: faults.substitute = "none": expected `random` or `first`
        "#]],
    );
    check_spec(
        "seating = \"circle\"\n",
        2,
        expect![[r#"
            error: spec.toml:1: seating = "circle": expected `rotations` or `permutations`
        "#]],
    );
}

#[test]
fn players_as_words() {
    let wrong = |players: &str, error: Expect| {
        check_spec(&format!("games = [\"nim\"]\nplayers = [{players}]\n"), 2, error);
    };
    wrong(
        r#""legal", "alpha_bata""#,
        expect![[r#"
        error: spec.toml:2: player `alpha_bata`: unknown player kind `alpha_bata` (did you mean `alpha_beta`?); `gamemaster players` lists the kinds
    "#]],
    );
    wrong(
        r#""legal", "alpha_beta:depth""#,
        expect![[r#"
        error: spec.toml:2: player `alpha_beta:depth`: `depth`: expected option=value
    "#]],
    );
    wrong(
        r#""legal", "localhost:9147""#,
        expect![[r#"
        error: spec.toml:2: player `localhost:9147`: expected http://HOST:PORT for a player that runs already; did you mean `http://localhost:9147`?
    "#]],
    );
    wrong(
        r#""legal", 3"#,
        expect![[r#"
            error: spec.toml:2: players: 3: expected a player such as "mcts", or a table with a `kind`, `url` or `command`
        "#]],
    );
    wrong(
        r#""legal", { id = "deep", kind = "alpha_beta", dept = 9 }"#,
        expect![[r#"
        error: spec.toml:2: `alpha_beta` has no option `dept` (did you mean `depth`?); expected opponents, depth, evaluation, deepening, transposition, bounded, chance_cuts, killer_moves, history, width, quiescence, extend_forced, allocate_time, match_time, match_nodes, ponder, move_order, table or seed
    "#]],
    );
}

/// A name, a list of options or a command line that cannot be read is what the error is about.
#[test]
fn players_as_words_that_cannot_be_split() {
    let wrong = |player: &str, error: Expect| {
        check(&Workspace::new(), &["play", "nim", player, "legal"], 2, error);
    };
    wrong(
        "a b=random",
        expect![[r#"
            error: player `a b=random`: the name "a b": use only letters, digits, `_`, `-`, `.`, `+`, not `-`, `.` or `+` first (before `=` stands a name; options follow a colon, as in alpha_beta:depth=3)
        "#]],
    );
    wrong(
        "=random",
        expect![[r#"
            error: player `=random`: the name "": use only letters, digits, `_`, `-`, `.`, `+`, not `-`, `.` or `+` first (before `=` stands a name; options follow a colon, as in alpha_beta:depth=3)
        "#]],
    );
    wrong(
        "minimax:depth=3,,",
        expect![[r#"
        error: player `minimax:depth=3,,`: `depth=3,,`: an option is missing before or after a comma
    "#]],
    );
    wrong(
        "cmd:python3 \"x {port}",
        expect![[r#"
        error: player `cmd:python3 "x {port}`: invalid command `python3 "x {port}`: a quote is not closed
    "#]],
    );
    wrong(
        "AlphaBeta",
        expect![[r#"
        error: player `AlphaBeta`: unknown player kind `AlphaBeta` (did you mean `alpha_beta`?); `gamemaster players` lists the kinds
    "#]],
    );
}

/// An error in a table of a list is at the line of the key at fault, also in a table in it.
#[test]
fn errors_in_tables_have_the_line_of_their_key() {
    let games = |game: &str, error: Expect| {
        check_spec(&format!("{PLAYERS}\n[[games]]\n{game}\n"), 2, error);
    };
    games(
        "game = \"nim\"\nlenient = true\nwight = 3",
        expect![[r#"
        error: spec.toml:9: unknown key `wight` (did you mean `weight`?), expected one of `game`, `name`, `case`, `lenient`, `weight`
    "#]],
    );
    games(
        "game = \"nim\"\n\nweight = 0",
        expect![[r#"
        error: spec.toml:9: weight = 0: expected a whole number from 1
    "#]],
    );
    games(
        "game = \"nim\"\n\nweight = \"x\"",
        expect![[r#"
        error: spec.toml:9: weight = "x": expected a whole number
    "#]],
    );
    games(
        "weight = 2\n\ngame = \"nimm\"",
        expect![[r#"
        error: spec.toml:9: no game or file `nimm` (did you mean `nim` or `nim_misere`?); `gamemaster game list` lists the shipped games
    "#]],
    );
    games(
        "game = \"nim\"\n[[games]]\nweight = 2\ngame = \"nim\"",
        expect![[r#"
        error: spec.toml:10: duplicate game `nim`; give one of them another `name` in a [[games]] table
    "#]],
    );
    games(
        "weight = 2",
        expect![[r#"
        error: spec.toml:6: missing key `game`
    "#]],
    );
    let inline = |games: &str, error: Expect| {
        check_spec(&format!("games = [{games}]\n{PLAYERS}"), 2, error);
    };
    inline(
        "\"nim\", 3",
        expect![[r#"
        error: spec.toml:1: games: 3: expected a game as a name, a path or a [[games]] table
    "#]],
    );
    inline(
        "{ game = \"nim\", weight = -1 }",
        expect![[r#"
        error: spec.toml:1: weight = -1: expected a whole number up to 4294967295
    "#]],
    );
    let player = |player: &str, error: Expect| {
        let spec = format!("games = [\"nim\"]\n{PLAYERS}\n[[players]]\n{player}\n");
        check_spec(&spec, 2, error);
    };
    player(
        "kind = \"mcts\"\n[players.clocks]\nstart = \"1s\"\nplay = 100",
        expect![[r#"
        error: spec.toml:11: clocks.play = 100: expected a duration with its unit, such as "250ms", "1s" or "1m 30s" (up to 30 days, in steps of 1 ms)
    "#]],
    );
    player(
        "kind = \"mcts\"\n\nid = \"random\"",
        expect!["error: spec.toml:10: duplicate player `random`; give one of them another `id`\n"],
    );
    player(
        "command = \"p {port}\"\n[players.limits]\ncpus = 1\nmemory = 3",
        expect![[r#"
        error: spec.toml:11: limits.memory = 3: expected a size from 1MiB, such as "512MiB"
    "#]],
    );
    player(
        "kind = \"mcts\"\nlimits = { memory = \"1GiB\" }",
        expect![
            "error: spec.toml:9: mcts is a built-in player, and limits are for programs: give a `command` instead of a `kind`, or an option such as `memory` if the player has it\n"
        ],
    );
}

/// The moves of `move_order` are those of the game, wherever the player sits down.
#[test]
fn moves_that_the_game_does_not_have() {
    let workspace = Workspace::new();
    for kind in [
        "alpha_beta",
        "minimax",
        "compulsive_deliberation",
        "incremental_deliberation",
        "sequential_planner",
        "random_then_plan",
        "conditional_planner",
    ] {
        for order in ["[foo]", "[(take a 1),(take a)]", "[a]"] {
            let player = format!("p={kind}:move_order={order}");
            let ran = workspace.run(&["play", "nim", &player, "legal"]).code(2);
            let last = order.rsplit(',').next().unwrap().trim_matches(['[', ']']);
            let error = format!(
                "error: p cannot play nim: option move_order: the game has no move `{last}`\n"
            );
            assert_eq!(ran.stderr(), error);
        }
    }
    check_spec(
        "games = [\"nim\"]\nplayers = [\"legal\", \"alpha_beta:move_order=[foo]\"]\n",
        2,
        expect![[r#"
            error: spec.toml: alpha_beta-move_orderfoo cannot play nim: option move_order: the game has no move `foo`; remove the player or the game, or leave the player out of it with `skip_unsuitable = true`
        "#]],
    );
    check(
        &workspace,
        &["explain", "nim", "--player", "alpha_beta:move_order=[foo]"],
        2,
        expect![[r#"
            error: alpha_beta:move_order=[foo] cannot play nim: option move_order: the game has no move `foo`
        "#]],
    );
    // Names of moves are read as those of the rules, and a move need not be legal at once.
    let known = "minimax:depth=1,move_order=[(TAKE c 5),noop]";
    workspace.run(&["play", "nim", known, "legal", "--json"]).code(0);
}

#[test]
fn nobody_or_nothing_to_play() {
    check_spec(
        "games = [\"nim\"]\n",
        2,
        expect![[r#"
            error: spec.toml: the spec has no players; add players = ["KIND", ...], or [[players]] tables with a `kind`, `url` or `command`
        "#]],
    );
    check_spec(
        PLAYERS,
        2,
        expect![[r#"
            error: spec.toml: the spec has no games; add games = ["NAME or PATH", ...]
        "#]],
    );
}

#[test]
fn an_unknown_kind_of_player() {
    check_spec(
        "games = [\"nim\"]\n[[players]]\nkind = \"grandmaster\"\n",
        2,
        expect![[r#"
            error: spec.toml:3: unknown player kind `grandmaster`; `gamemaster players` lists the kinds
        "#]],
    );
}

#[test]
fn an_unknown_or_ill_typed_option_of_a_player() {
    check_spec(
        "games = [\"nim\"]\n[[players]]\nkind = \"random\"\nsede = 1\n",
        2,
        expect![[r#"
            error: spec.toml:4: `random` has no option `sede` (did you mean `seed`?); expected seed
        "#]],
    );
    check_spec(
        "games = [\"nim\"]\n[[players]]\nkind = \"random\"\nseed = \"x\"\n",
        2,
        expect![[r#"
            error: spec.toml:4: invalid option `seed = "x"` of `random`: expected a whole number
        "#]],
    );
}

#[test]
fn a_player_that_is_two_things_or_none() {
    check_spec(
        "games = [\"nim\"]\n[[players]]\nid = \"x\"\n",
        2,
        expect![[r#"
        error: spec.toml:2: a player needs a `kind` (built in), a `url` or a `command`
    "#]],
    );
    check_spec(
        "games = [\"nim\"]\n[[players]]\nkind = \"random\"\nurl = \"http://localhost:1\"\n",
        2,
        expect![[r#"
            error: spec.toml:4: a player has one of `kind`, `url` and `command`, not several
        "#]],
    );
    check_spec(
        "games = [\"nim\"]\n[[players]]\nurl = \"localhost\"\n",
        2,
        expect![[r#"
        error: spec.toml:3: url = "localhost": expected http://HOST:PORT
    "#]],
    );
    check_spec(
        "games = [\"nim\"]\n[[players]]\ncommand = \"python3 p.py\"\n",
        2,
        expect![[r#"
            error: spec.toml:3: put {port} (or {socket}) into the command; it is replaced by the port to listen on
        "#]],
    );
}

#[test]
fn two_players_of_one_name() {
    check_spec(
        "games = [\"nim\"]\n[[players]]\nkind = \"random\"\n[[players]]\nkind = \"random\"\n",
        2,
        expect![[r#"
            error: spec.toml:4: duplicate player `random`; give one of them another `id`
        "#]],
    );
}

#[test]
fn two_names_for_one_remote_player() {
    check_spec(
        "games = [\"nim\"]\n\n[[players]]\nid = \"a\"\nurl = \"http://localhost:9147\"\n\n\
         [[players]]\nid = \"b\"\nurl = \"http://LOCALHOST:9147/\"\n",
        2,
        expect![[r#"
            error: spec.toml:9: `a` and `b` have the same address, http://LOCALHOST:9147, which plays one match at a time; remove one of them
        "#]],
    );
}

#[test]
fn wrong_time_odds() {
    let check = |odds: &str, expected: Expect| {
        let spec =
            format!("games = [\"nim\"]\n{PLAYERS}\n[[players]]\nkind = \"minimax\"\n{odds}\n");
        check_spec(&spec, 2, expected);
    };
    check(
        "clocks = \"1s\"",
        expect![[r#"
        error: spec.toml:9: clocks is a string: expected as in clocks.play = "200ms"
    "#]],
    );
    check(
        "clocks.margin = \"1s\"",
        expect![[r#"
        error: spec.toml:9: unknown key `clocks.margin`; a player's own clocks are start and play
    "#]],
    );
    check(
        "clocks.play = 100",
        expect![[r#"
        error: spec.toml:9: clocks.play = 100: expected a duration with its unit, such as "250ms", "1s" or "1m 30s" (up to 30 days, in steps of 1 ms)
    "#]],
    );
    check(
        "budget = 100",
        expect![[r#"
        error: spec.toml:9: budget is an integer: expected as in budget.nodes = 500
    "#]],
    );
    check(
        "budget.nodes = 0",
        expect![[r#"
        error: spec.toml:9: budget.nodes = 0: expected a whole number from 1
    "#]],
    );
    check(
        "budget.time = \"1s\"",
        expect![[r#"
        error: spec.toml:9: unknown key `budget.time`; a player's own budget is nodes
    "#]],
    );
    check(
        "budget.nodes = 100",
        expect![[r#"
            error: spec.toml:9: `minimax-nodes100` has a node budget, but the spec has clocks; set budget.nodes for the whole spec, or clocks for this player
        "#]],
    );
}

#[test]
fn an_unknown_game() {
    check_spec(
        &format!("games = [\"nimm\"]\n{PLAYERS}"),
        2,
        expect![[r#"
            error: spec.toml:1: no game or file `nimm` (did you mean `nim` or `nim_misere`?); `gamemaster game list` lists the shipped games
        "#]],
    );
    check_spec(
        &format!("games = [\"none.kif\"]\n{PLAYERS}"),
        2,
        expect![[r#"
            error: spec.toml:1: no game or file `none.kif`; `gamemaster game list` lists the shipped games
        "#]],
    );
    check_spec(
        &format!("games = [\"none/*.kif\"]\n{PLAYERS}"),
        2,
        expect![[r#"
            error: spec.toml:1: `none/*.kif`: cannot list the folder none: No such file or directory (os error 2); paths begin in the spec's folder
        "#]],
    );
}

#[test]
fn a_broken_rulesheet() {
    let workspace = Workspace::with_spec(&format!("games = [\"broken.kif\"]\n{PLAYERS}"));
    workspace.write("broken.kif", "(role white)\n(<= (next ?x) (true ?y))\n");
    let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(3);
    assert!(ran.stderr().contains("broken.kif:2"), "{}", ran.stderr());
    assert!(!workspace.path("out").exists());
}

#[test]
fn a_player_count_that_fits_no_game() {
    check_spec(
        "games = [\"tic_tac_toe\"]\n[[players]]\nkind = \"random\"\n",
        2,
        expect![[r#"
            error: spec.toml: no game can be played: tic_tac_toe: it needs 2 players, but the spec has 1; change the players or the games
        "#]],
    );
    check(
        &Workspace::new(),
        &["play", "tic_tac_toe", "random"],
        2,
        expect![[r#"
            error: tic_tac_toe has 2 roles (xplayer, oplayer), but 1 player is given
        "#]],
    );
    check(
        &Workspace::new(),
        &["play", "mini_backgammon", "a=random", "legal", "b=random"],
        2,
        expect![[r#"
            error: mini_backgammon has 2 roles for players (white, black; `random` is chance), but 3 players are given
        "#]],
    );
}

#[test]
fn hidden_information_for_those_who_cannot_bear_it() {
    let spec = "games = [\"monty_hall\"]\n[[players]]\nkind = \"minimax\"\n";
    check_spec(
        spec,
        2,
        expect![[r#"
            error: spec.toml: no game can be played: monty_hall: it needs 1 player, and the only one cannot play it: minimax (hidden information); change the players or the games
        "#]],
    );
    check(
        &Workspace::new(),
        &["play", "monty_hall", "minimax"],
        2,
        expect![[r#"
        error: player `minimax` cannot play monty_hall (role `candidate`): the game has hidden information; built-in players that can: legal, random, determinization, information_set_search, is_mcts, cfr, human
    "#]],
    );
}

#[test]
fn a_game_that_is_too_large_for_a_player() {
    let spec = "games = [\"kuhn_poker\", \"leduc_poker\"]\n[[players]]\nkind = \"cfr\"\nnodes = 100\n\
                [[players]]\nkind = \"random\"\n";
    check_spec(
        spec,
        2,
        expect![[r#"
        error: spec.toml: cfr-nodes100 cannot play leduc_poker: the tree of the game has more than 100 nodes, and `cfr` solves whole games (option `nodes`); remove the player or the game, or leave the player out of it with `skip_unsuitable = true`
    "#]],
    );
    check(
        &Workspace::new(),
        &["explain", "leduc_poker", "--player", "cfr:nodes=100"],
        2,
        expect![[r#"
            error: cfr:nodes=100 cannot play leduc_poker: the tree of the game has more than 100 nodes, and `cfr` solves whole games (option `nodes`)
        "#]],
    );
    check(
        &Workspace::new(),
        &["play", "leduc_poker", "cfr:nodes=100", "random"],
        2,
        expect![[r#"
        error: cfr-nodes100 cannot play leduc_poker: the tree of the game has more than 100 nodes, and `cfr` solves whole games (option `nodes`)
    "#]],
    );
}

#[test]
fn a_folder_that_cannot_be_written() {
    let workspace = Workspace::with_spec(&format!("games = [\"nim\"]\n{PLAYERS}"));
    workspace.write("file", "");
    check(
        &workspace,
        &["run", "spec.toml", "--out", "file/out"],
        2,
        expect![[r#"
            error: cannot write to the folder file/out: Not a directory (os error 20)
        "#]],
    );
}

#[test]
fn a_folder_of_something_else() {
    let workspace = Workspace::with_spec(&format!("games = [\"nim\"]\n{PLAYERS}"));
    workspace.write("out/thesis.tex", "precious");
    check(
        &workspace,
        &["run", "spec.toml", "--out", "out"],
        2,
        expect![[r#"
            error: the folder out is not empty and holds no run; name another folder with --out
        "#]],
    );
    assert_eq!(workspace.read("out/thesis.tex"), "precious");
}

#[test]
fn a_folder_of_another_spec() {
    let workspace = Workspace::with_spec(&format!("games = [\"nim\"]\n{PLAYERS}"));
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let journal = workspace.read("out/journal.jsonl");
    check(
        &workspace,
        &["run", "spec.toml", "--out", "out", "--seed", "9"],
        2,
        expect![[r#"
            error: out holds a run of another spec (different: `seed`); name another folder with --out
        "#]],
    );
    assert_eq!(workspace.read("out/journal.jsonl"), journal);
}

#[test]
fn a_damaged_journal() {
    let workspace = Workspace::with_spec(&format!("games = [\"nim\"]\n{PLAYERS}"));
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let journal = workspace.read("out/journal.jsonl");
    // The first of two lines, whichever match ended first.
    let damaged = journal.replacen("{\"job\":", "{\"jib\":", 1);
    workspace.write("out/journal.jsonl", &damaged);
    check(
        &workspace,
        &["run", "spec.toml", "--out", "out"],
        1,
        expect![[r#"
            error: line 2 of the journal out/journal.jsonl is damaged: its checksum is wrong; to play its match again, remove the line and repeat the command that plays the run
        "#]],
    );
    assert_eq!(workspace.read("out/journal.jsonl"), damaged, "it is left as it was");
}

#[test]
fn a_word_that_is_no_player() {
    let workspace = Workspace::new();
    check(
        &workspace,
        &["play", "tic_tac_toe", "random", "grandmaster"],
        2,
        expect![[r#"
            error: player `grandmaster`: unknown player kind `grandmaster`; `gamemaster players` lists the kinds
        "#]],
    );
    check(
        &workspace,
        &["play", "tic_tac_toe", "random", "random:seed"],
        2,
        expect![[r#"
        error: player `random:seed`: `seed`: expected option=value
    "#]],
    );
    check(
        &workspace,
        &["play", "tic_tac_toe", "random", "random:depth=4"],
        2,
        expect![[r#"
            error: player `random:depth=4`: `random` has no option `depth`; expected seed
        "#]],
    );
    check(
        &workspace,
        &["play", "tic_tac_tow", "random", "random"],
        2,
        expect![[r#"
            error: no game or file `tic_tac_tow` (did you mean `tic_tac_toe`?); `gamemaster game list` lists the shipped games
        "#]],
    );
}

#[test]
fn a_report_on_nothing() {
    let workspace = Workspace::new();
    check(
        &workspace,
        &["report", "none"],
        2,
        expect![[r#"
            error: no run `none`: found neither none/ nor results/runs/none/
        "#]],
    );
    workspace.write("out/journal.jsonl", "hello\n");
    check(
        &workspace,
        &["report", "out"],
        2,
        expect![[r#"
        error: line 1 of out/journal.jsonl is not the header of a journal; restore a copy of the journal, or start another run
    "#]],
    );
}

#[test]
fn a_program_that_does_not_answer() {
    let spec = "games = [\"nim\"]\n[[players]]\nid = \"x\"\ncommand = \"false {port}\"\n\
                [[players]]\nkind = \"legal\"\n";
    let workspace = Workspace::with_spec(spec);
    check(
        &workspace,
        &["run", "spec.toml", "--out", "out"],
        3,
        expect![[r#"
            error: player `x` is not ready: `false {port}` ended with exit code 1 before it replied to INFO; see out/logs/x-0.stderr
        "#]],
    );
}

#[test]
fn the_same_rulesheet_under_two_names() {
    let spec = format!("games = [\"one.kif\", \"nim\", \"two.kif\"]\n{PLAYERS}");
    let workspace = Workspace::with_spec(&spec);
    let rules = games::library::find("tic_tac_toe").unwrap().text;
    workspace.write("one.kif", rules);
    workspace.write("two.kif", rules);
    check(
        &workspace,
        &["run", "spec.toml", "--out", "out"],
        2,
        expect![[r#"
            error: spec.toml:1: `one` and `two` are the same rulesheet with the same settings; remove one of them
        "#]],
    );
    assert!(!workspace.path("out").exists(), "nothing is begun");
    // Other text is another game, whatever it says.
    workspace.write("two.kif", &format!("{rules}\n; once more\n"));
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
}

#[test]
fn a_clock_longer_than_anybody_waits() {
    for key in ["start", "play", "margin"] {
        let spec =
            |time: &str| format!("games = [\"nim\"]\n{PLAYERS}\n[clocks]\n{key} = \"{time}\"\n");
        let workspace = Workspace::with_spec(&spec("30days 1ms"));
        let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(2);
        let told = ran.stderr();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.starts_with(&format!("error: spec.toml:8: clocks.{key} = ")), "{told}");
        assert!(told.contains("up to 30 days"), "{told}");
        assert!(!workspace.path("out").exists(), "nothing is begun");
        workspace.write("spec.toml", &spec("30days"));
        workspace.run(&["run", "spec.toml", "--out", "out", "--dry-run"]).code(0);

        let option = format!(
            "--{}",
            if key == "margin" { "margin".to_owned() } else { format!("{key}-clock") }
        );
        let play =
            |time| workspace.run(&["play", "nim", "legal", "random", &option, time, "--json"]);
        let told = play("30days 1ms").code(2).stderr();
        assert!(told.contains(&option) && told.contains("30 days"), "{told}");
        play("30days").code(0);
    }
}

/// What the environment sets is checked before a computation relies on it.
#[test]
fn a_word_for_vectors_that_is_not_known() {
    let mut command = assert_cmd::Command::cargo_bin("gamemaster").unwrap();
    let ran = command.env("GAMEMASTER_VECTORS", "sse").args(["game", "bench", "nim"]).assert();
    let stderr = String::from_utf8(ran.code(2).get_output().stderr.clone()).unwrap();
    assert_eq!(stderr, "error: GAMEMASTER_VECTORS=sse: expected none, avx2 or avx512\n");
}

/// Facts of a state have names and numbers of arguments that some rule makes true.
#[test]
fn facts_that_no_rule_makes_true() {
    check(
        &Workspace::new(),
        &["game", "state", "tic_tac_toe", "--state", "(cell 1 1 x) (cell 1 1)"],
        2,
        expect![[r#"
            error: --state: no rule makes `(cell 1 1)` true; facts of this game are `(cell ? ? ?)`, `(control ?)`
        "#]],
    );
    check(
        &Workspace::new(),
        &["explain", "nim", "--player", "legal", "--state", "heap a"],
        2,
        expect![[r#"
            error: --state: no rule makes `heap` true; facts of this game are `(control ?)`, `(heap ? ?)`
        "#]],
    );
}

#[test]
fn options_of_players_that_cannot_be_meant() {
    let workspace = Workspace::new();
    check(
        &workspace,
        &["play", "nim", "minimax:depth=4,depth=3", "random"],
        2,
        expect![[r#"
            error: player `minimax:depth=4,depth=3`: `depth` is given twice
        "#]],
    );
    check(
        &workspace,
        &["play", "nim", "random:nodes=4", "random"],
        2,
        expect![[r#"
            error: player `random:nodes=4`: `random` has no option `nodes`; expected seed; its own clocks and budget are clocks.start, clocks.play and budget.nodes
        "#]],
    );
    check(
        &workspace,
        &["game", "tree", "nim", "--depth", "2", "--prune", "--evaluation", "learned:none"],
        2,
        expect![[r#"
            error: --evaluation learned:none: cannot open the evaluation `none`: No such file or directory (os error 2)
        "#]],
    );
    let told = workspace.run(&["players", "legal", "human"]).code(0).stdout();
    let kinds = told.lines().filter(|line| !line.starts_with(' ')).take(2);
    assert_eq!(kinds.collect::<Vec<_>>(), ["legal", "human"], "{told}");
    workspace.run(&["players", "grandmaster"]).code(2);
}

/// An output file that cannot be written is the same error before the work and after it.
#[test]
fn output_files_that_cannot_be_written() {
    let workspace = Workspace::with_spec(&format!("games = [\"nim\"]\n{PLAYERS}"));
    workspace.write("file", "");
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    workspace.run(&["export", "out", "--out", "file/out"]).code(2);
    let explain = ["explain", "nim", "--player", "legal", "--plan-file", "file/out"];
    workspace.run(&explain).code(2);
    workspace.run(&["solve", "nim", "--out", "file/out"]).code(2);
}

/// A program that is not there is found before it is needed.
#[test]
fn a_program_that_is_not_there() {
    let workspace = Workspace::with_spec(
        "games = [\"nim\"]\nplayers = [\"legal\", \"cmd:no_such_program -c code {port}\"]\n",
    );
    let told = workspace.run(&["run", "spec.toml", "--dry-run"]).code(0).stdout();
    let expected =
        "warning: player no_such_program: no program `no_such_program` is in a folder of PATH";
    assert!(told.lines().any(|line| line == expected), "{told}");
}
