//! Boards of small rulesheets made for it, and of all shipped games.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect, expect_file};
use games::{Guards, Leniency, RoleId, State};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::*;

mod codes;
mod lattice;
mod tree;
mod without_grid;

fn facts(text: &str) -> Vec<Expression> {
    text.lines().map(|line| line.trim().parse().unwrap()).collect()
}

/// A game with these rules besides those that every game needs.
fn game(rules: &str) -> Arc<Game> {
    let frame = "(role robot) (init (phase 0)) (legal robot wait) (goal robot 0)
        (<= terminal (true (phase 1))) (next (phase 1))";
    let text = format!("{frame} {rules}");
    let game = games::validate::read("x", &text, games::Case::Folded, Leniency::Strict).game;
    Arc::new(game.expect("a game"))
}

fn board(rules: &str, positions: &[&str]) -> Option<Boards> {
    let positions: Vec<Vec<Expression>> = positions.iter().map(|text| facts(text)).collect();
    find(&game(rules), &positions)
}

/// The board of a game that has one.
fn only(boards: &Boards) -> &Board {
    let boards: Vec<&Board> = boards.iter().collect();
    assert_eq!(boards.len(), 1);
    boards[0]
}

fn check(rules: &str, positions: &[&str], expected: Expect) {
    let board = board(rules, positions).expect("a board");
    let mut drawn = board.draw(&facts(positions.last().unwrap()));
    if let Some(legend) = board.legend() {
        drawn += &format!("{legend}\n");
    }
    expected.assert_eq(&drawn);
}

const NOUGHTS: &str = "(cell 1 1 b)\n(cell 1 2 x)\n(cell 2 1 o)\n(cell 2 2 b)\n(control xplayer)";

#[test]
fn without_a_clue_rows_come_first_and_go_down() {
    check(
        "",
        &[NOUGHTS],
        expect![[r#"
            1  . x
            2  o .
               1 2
        "#]],
    );
}

#[test]
fn steps_with_a_direction_tell_how_the_board_lies() {
    // As in every case below, the same facts.
    check(
        "(after 1 2)
         (<= (step east ?a ?b ?c ?b) (after ?a ?c) (after ?b ?any))
         (<= (step north ?a ?b ?a ?c) (after ?a ?any) (after ?b ?c))",
        &[NOUGHTS],
        expect![[r#"
            2  x .
            1  . o
               1 2
        "#]],
    );
    check(
        "(beside right 1 1 1 2) (beside up 1 1 2 1)",
        &[NOUGHTS],
        expect![[r#"
            2  o .
            1  . x
               1 2
        "#]],
    );
    check(
        "(beside west 1 1 2 1) (beside north 1 1 1 2)",
        &[NOUGHTS],
        expect![[r#"
            2  . x
            1  o .
               2 1
        "#]],
    );
}

#[test]
fn names_of_coordinates_tell_how_the_board_lies() {
    let rows = "(row 1) (row 2) (column 1) (column 2)";
    check(
        &format!("{rows} (<= (base (cell ?m ?n b)) (column ?m) (row ?n))"),
        &[NOUGHTS],
        expect![[r#"
            1  . o
            2  x .
               1 2
        "#]],
    );
    check(
        "(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)))",
        &[NOUGHTS],
        expect![[r#"
            2  x .
            1  . o
               1 2
        "#]],
    );
    check(
        "(<= (next (cell ?row ?col b)) (true (cell ?row ?col b)))",
        &[NOUGHTS],
        expect![[r#"
            1  . x
            2  o .
               1 2
        "#]],
    );
    check(
        "",
        &["(at y1 x1 sand)\n(at y1 x2 rock)\n(at y2 x1 rock)\n(at y2 x2 gold)"],
        expect![[r#"
            y2  r  g
            y1  s  r
                x1 x2
            g gold, r rock, s sand
        "#]],
    );
}

#[test]
fn pieces_on_squares_with_letters_are_a_board() {
    check(
        "",
        &[
            "(location a 1 white_pawn)\n(location b 1 white_king)",
            "(location a 2 white_pawn)\n(location b 2 black_king)\n(step 10)",
        ],
        expect![[r#"
            2  wp bk
            1  .  .
               a  b
            bk black_king, wk white_king, wp white_pawn
        "#]],
    );
    check(
        "",
        &["(location 1 a x)\n(location 1 b y)\n(location 2 a z)\n(location 2 b x)"],
        expect![[r#"
            2  z x
            1  x y
               a b
        "#]],
    );
}

#[test]
fn cells_of_six_neighbours_are_hexagons() {
    let stones = "(cell 1 1 red)\n(cell 2 3 blue)\n(cell 3 3 red)";
    let rules = "(index 1) (index 2) (index 3) (after 1 2) (after 2 3)
        (<= (base (cell ?c ?r red)) (index ?c) (index ?r))
        (<= (near ?c ?r ?d ?r) (after ?c ?d) (index ?r))
        (<= (near ?c ?r ?c ?s) (index ?c) (after ?r ?s))";
    check(
        &format!("{rules} (<= (near ?d ?r ?c ?s) (after ?c ?d) (after ?r ?s))"),
        &[stones],
        expect![[r#"
            1  r . .
             2  . . .
              3  . b r
                  1 2 3
            b blue, r red
        "#]],
    );
    check(
        &format!("{rules} (<= (near ?c ?r ?d ?s) (after ?c ?d) (after ?r ?s))"),
        &[stones],
        expect![[r#"
               1  r . .
              2  . . .
             3  . b r
               1 2 3
            b blue, r red
        "#]],
    );
    // Four or eight neighbours are those of squares.
    assert_eq!(only(&board(rules, &[stones]).unwrap()).shift(), 0);
}

#[test]
fn things_on_one_place_each_are_towers() {
    let rules = "(smaller small big) (smaller big huge) (way a b) (way b c)";
    check(
        rules,
        &[
            "(on small a)\n(on big a)\n(on huge a)",
            "(on small b)\n(on big c)\n(on huge a)",
            "(on small c)\n(on big c)\n(on huge a)",
        ],
        expect![[r#"
            3  .     .     .
            2  .     .     small
            1  huge  .     big
               a     b     c
        "#]],
    );
    let board = board(
        rules,
        &["(on small a)\n(on big a)\n(on huge a)", "(on small c)\n(on big b)\n(on huge a)"],
    );
    let boards = board.unwrap();
    let board = only(&boards);
    let sizes = ["small", "big", "huge"].map(|disk| board.look(disk).size.unwrap());
    assert_eq!(sizes, [(1, 3), (2, 3), (3, 3)]);
}

/// A game of two that place and shoot; `rules` say what they may shoot at.
fn two_sides(rules: &str) -> Arc<Game> {
    let frame = "(role left) (role right) (after 1 2) (after 2 3) (after 3 4) (init (phase 0))
        (<= (legal ?p wait) (role ?p)) (<= (goal ?p 0) (role ?p)) (<= terminal (true (phase 1)))
        (next (phase 1))";
    let text = format!("{frame} {rules}");
    let game = games::validate::read("x", &text, games::Case::Folded, Leniency::Strict).game;
    Arc::new(game.expect("a game"))
}

const FLEETS: [&str; 3] = [
    "(phase 0)",
    "(ship left 1 2)\n(ship left 4 1)\n(ship right 1 2)\n(ship right 3 4)",
    "(ship left 1 2)\n(ship left 4 1)\n(ship right 1 2)\n(ship right 3 4)\n(mine 2 2)
        (shot left 3 4)\n(shot left 4 3)\n(shot right 4 1)",
];

#[test]
fn each_owner_has_a_board_where_cells_are_shared() {
    let positions = FLEETS.map(facts);
    let drawn = |rules: &str| {
        let boards = find(&two_sides(rules), &positions).unwrap();
        boards.draw(&positions[2]) + &boards.legend().unwrap()
    };
    // One side shoots at what the other owns.
    let crossed = "(<= (sunk ?q) (true (ship ?q ?r ?c)) (true (shot ?p ?r ?c)) (distinct ?p ?q))
        (<= (legal ?p gloat) (sunk ?q) (role ?p))";
    let expected = expect![[r#"
           left                right
        1  .   s   .   .    1  .   s   .   .
        2  .   m   .   .    2  .   m   .   .
        3  .   .   .   .    3  .   .   .   s+x
        4  s+x .   .   .    4  .   .   x   .
           1   2   3   4       1   2   3   4
        m mine, s ship, x shot"#]];
    expected.assert_eq(&drawn(crossed));
    let expected = expect![[r#"
           left                  right
        1  .   shi .   .      1  .   shi .   .
        2  .   min .   .      2  .   min .   .
        3  .   .   .   sho    3  .   .   .   shi
        4  shi .   sho .      4  sho .   .   .
           1   2   3   4         1   2   3   4
        min mine, shi ship, sho shot"#]];
    expected.assert_eq(&drawn(""));
}

#[test]
fn stones_that_never_share_a_cell_are_on_one_board() {
    let positions = ["(stone left 1 2)\n(stone left 4 1)\n(stone right 1 3)\n(stone right 3 4)"];
    let boards = find(&two_sides(""), &positions.map(facts)).unwrap();
    let expected = expect![[r#"
        1  . l r .
        2  . . . .
        3  . . . r
        4  l . . .
           1 2 3 4
    "#]];
    expected.assert_eq(&boards.draw(&facts(positions[0])));
}

#[test]
fn men_that_are_counted_stand_on_a_track() {
    let positions = [
        "(men 1 left 3)\n(men 4 right 2)\n(score left 5)",
        "(men 1 left 2)\n(men 2 left 1)\n(men 4 right 2)\n(score left 7)",
        "(men 1 left 2)\n(men 4 right 1)\n(out right 1)\n(gone left 1)\n(score left 7)",
    ];
    let positions = positions.map(facts);
    let boards = find(&two_sides("(<= (legal left (hit ?x)) (true (men ?x ?q ?n)))"), &positions);
    let boards = boards.unwrap();
    let expected = expect![[r#"
        3  . . . .
        2  l . . .     left  1    .
        1  l . . r    right  .    1
           1 2 3 4           gone out
    "#]];
    expected.assert_eq(&boards.draw(&positions[2]));
    assert!(!boards.shows(&"(score left 7)".parse().unwrap()));
    // Numbers that are not kept are no men.
    let mut positions = positions.to_vec();
    positions.push(facts("(men 1 left 3)\n(men 4 right 3)"));
    let boards = find(&two_sides("(<= (legal left (hit ?x)) (true (men ?x ?q ?n)))"), &positions);
    assert_eq!(boards.map(|boards| boards.iter().count()), Some(1));
}

#[test]
fn facts_without_two_coordinates_are_no_board() {
    for text in ["(control x)\n(step 1)", "(way a b)\n(way b d)", "(on a table)\n(on b a)"] {
        assert_eq!(board("", &[text]), None, "{text}");
    }
}

/// Positions of a match in which roles play random moves, or their first.
fn positions(game: &Arc<Game>, mut rng: Option<Pcg64Mcg>, n_steps: usize) -> Vec<Vec<Expression>> {
    let mut machine = games::state_machine_for(Arc::clone(game), Guards::default()).unwrap();
    let mut state = machine.initial_state().unwrap();
    let mut positions = vec![machine.facts(&state)];
    while positions.len() <= n_steps && !machine.is_terminal(&state).unwrap() {
        let mut joint_move = Vec::new();
        for role in 0..game.roles().len() {
            let mut legal = Vec::new();
            let role = RoleId(u8::try_from(role).unwrap());
            machine.legal_moves(&state, role, &mut legal).unwrap();
            let chosen = rng.as_mut().map_or(0, |rng| rng.random_range(0..legal.len()));
            joint_move.push(legal[chosen]);
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
        positions.push(machine.facts(&state));
    }
    positions
}

fn shipped(name: &str) -> Arc<Game> {
    crate::game_source::load(name, Default::default()).unwrap().game
}

/// Columns and rows of the boards of shipped games, as their comments
/// describe them.
#[test]
fn boards_have_the_size_of_the_game() {
    let cases = [
        ("blind_tic_tac_toe", Some((3, 3))),
        ("breakthrough_6x6", Some((6, 6))),
        ("checkers", Some((8, 8))),
        ("connect_four", Some((7, 6))),
        ("connect_three", Some((3, 4))),
        ("eight_puzzle_seed", Some((3, 3))),
        ("hanoi", Some((3, 4))),
        ("hanoi_small", Some((3, 3))),
        ("hex", Some((7, 7))),
        ("maze", Some((4, 4))),
        ("othello", Some((8, 8))),
        ("tic_tac_toe", Some((3, 3))),
        ("tic_tac_toe_three_players", Some((4, 4))),
        ("tron", Some((8, 8))),
        ("kuhn_poker", Some((1, 2))),
        ("mastermind", Some((1, 1))),
        ("monty_hall", Some((1, 3))),
        ("nim", Some((1, 3))),
        ("order_tree", Some((1, 1))),
        ("rock_paper_scissors", Some((1, 2))),
    ];
    for (name, expected) in cases {
        let game = shipped(name);
        let board = find(&game, &positions(&game, None, 20));
        let size = |board: &Board| (board.columns().len(), board.rows().len());
        let found = board.map(|boards| size(only(&boards)));
        assert_eq!(found, expected, "{name}");
    }
}

/// A clock of two digits looks like a token that walks about a board, while it is young.
#[test]
fn digits_of_a_clock_are_no_token() {
    let shows = |name: &str, fact: &str| {
        let game = shipped(name);
        let boards = find(&game, &positions(&game, None, 3)).unwrap();
        boards.shows(&fact.parse().unwrap())
    };
    assert!(!shows("pig", "(clock 0 1)"));
    assert!(shows("pig", "(score left 1)"));
    assert!(shows("maze", "(at 3 1)"));
}

/// Every shipped game at first and after some random moves: to be looked at when it
/// changes, with the game's comment beside it.
#[test]
fn shipped_games_are_drawn_as_their_comments_say() {
    let mut drawn = String::new();
    for game in games::library::all() {
        let game = shipped(game.name);
        let positions = positions(&game, Some(Pcg64Mcg::seed_from_u64(1)), 8);
        writeln!(drawn, "{}", game.name()).unwrap();
        let Some(boards) = find(&game, &positions) else {
            drawn += "no board\n\n";
            continue;
        };
        for (when, facts) in [("start", positions.first()), ("later", positions.last())] {
            writeln!(drawn, "{when}\n{}", boards.draw(facts.unwrap())).unwrap();
        }
        for board in boards.iter() {
            drawn.extend(board.title().map(|title| format!("on the board of {title}:\n")));
            let looks = board.marks.iter().filter(|(piece, _)| !board.is_nothing(piece));
            for (piece, mark) in looks {
                let Look { side, is_king, size } = board.look(piece);
                writeln!(drawn, "{mark}: {piece} {side:?} king: {is_king} size: {size:?}").unwrap();
            }
        }
        drawn.push('\n');
    }
    expect_file!["snapshots/shipped.txt"].assert_eq(&drawn);
}

/// Where the only piece called `piece` is after the initial position, and after a
/// move: column from the left and row from the top.
fn moved(name: &str, piece: &str, played: &str) -> [[usize; 2]; 2] {
    let game = shipped(name);
    let mut machine = games::state_machine_for(Arc::clone(&game), Guards::default()).unwrap();
    let first = machine.initial_state().unwrap();
    let played = machine.find_move(&played.parse().unwrap()).unwrap();
    let mut second = State::default();
    machine.next_state(&first, &[played], &mut second).unwrap();
    let positions = [first, second].map(|state| machine.facts(&state));
    let boards = find(&game, &positions).unwrap();
    let board = only(&boards);
    let n_rows = board.rows().len();
    positions.map(|facts| {
        let mut cells = facts.iter().filter_map(|fact| board.grid.locate(fact));
        let [column, row] = cells.find(|located| located.piece == piece).unwrap().at;
        [column, n_rows - 1 - row]
    })
}

#[test]
fn moves_go_where_their_names_say() {
    for name in ["eight_puzzle_course", "eight_puzzle_seed"] {
        assert_eq!(moved(name, "b", "down"), [[0, 0], [0, 1]], "{name}");
        assert_eq!(moved(name, "b", "right"), [[0, 0], [1, 0]], "{name}");
    }
    assert_eq!(moved("maze", "at", "south"), [[0, 0], [0, 1]]);
}

/// The door to the east of the first room of the maze is a wall; of the second, none.
#[test]
fn east_is_to_the_right_in_the_maze() {
    let game = shipped("maze");
    let positions = [facts("(at 3 1)\n(step 4)"), facts("(at 3 2)\n(step 5)")];
    let board = find(&game, &positions).unwrap();
    let drawn = positions.map(|facts| board.draw(&facts));
    let places = drawn.map(|drawn| {
        let row = drawn.lines().position(|line| line.contains('a')).unwrap();
        (row, drawn.lines().nth(row).unwrap().find('a').unwrap())
    });
    assert_eq!(places, [(5, 4), (5, 8)]);
}

/// Three by two rooms.
const ROOMS: &str =
    "(cell 1 1 b)\n(cell 2 1 b)\n(cell 3 1 b)\n(cell 1 2 b)\n(cell 2 2 x)\n(cell 3 2 b)";

#[test]
fn cells_between_which_no_way_leads_are_separated_by_walls() {
    check(
        &format!("{DOORS} {GO}"),
        &[ROOMS],
        expect![[r#"
              +---+---+---+
            2 | .   x | . |
              +---+---+   +
            1 | .   .   . |
              +---+---+---+
                1   2   3
        "#]],
    );
}

/// Doors between some of them.
const DOORS: &str = "(door east 1 1 2 1) (door east 2 1 3 1) (door up 3 1 3 2) (door west 2 2 1 2)";

/// The robot goes through doors.
const GO: &str = "(<= (legal robot (go ?w)) (door ?w ?x ?y ?a ?b) (true (cell ?x ?y x)))";

/// All have a door; a room without any is no room; a relation of one axis, of few doors, or of
/// cells that are not beside each other; doors that nobody goes through; walls in place of doors.
#[test]
fn boards_have_no_walls_where_no_ways_are_left_out() {
    let rows = "(door east 1 1 2 1) (door east 2 1 3 1) (door east 1 2 2 2) (door east 2 2 3 2)";
    let all = "(door up 1 1 1 2) (door up 2 1 2 2) (door up 3 1 3 2)";
    let without = "(door east 1 1 2 1) (door east 1 2 2 2) (door up 1 1 1 2) (door up 2 1 2 2)";
    let few = "(door east 1 1 2 1) (door up 1 1 1 2)";
    let far = "(door east 1 2 3 2)";
    let forbids = "(<= (blocked ?w ?x ?y) (door ?w ?x ?y ?a ?b))
        (<= (legal robot (go ?w)) (way ?w) (true (cell ?x ?y x)) (not (blocked ?w ?x ?y)))
        (way east) (way up)";
    for rules in [
        format!("{rows} {all} {GO}"),
        format!("{without} {GO}"),
        format!("{rows} {GO}"),
        format!("{few} {GO}"),
        format!("{DOORS} {far} {GO}"),
        DOORS.to_owned(),
        format!("{DOORS} {forbids}"),
    ] {
        let board = board(&rules, &[ROOMS]).unwrap();
        assert!(!only(&board).has_walls(), "{rules}");
        assert!(!only(&board).has_wall_right(2, 0) && !only(&board).has_wall_above(0, 1));
    }
}

/// That cells are beside each other opens no wall; every kind of door does.
#[test]
fn ways_are_those_of_all_relations_that_leave_some_out() {
    let near = "(near 1 1 2 1) (near 2 1 3 1) (near 1 2 2 2) (near 2 2 3 2) (near 1 1 1 2)
        (near 2 1 2 2) (near 3 1 3 2)
        (<= (legal robot (look ?x)) (near ?x ?y ?a ?b) (true (cell ?x ?y x)))";
    let gates = "(gate 1 1 1 2) (gate 2 2 3 2) (gate 1 1 2 1)
        (<= (legal robot (ride ?x)) (gate ?x ?y ?a ?b) (true (cell ?x ?y x)))";
    let open = |rules: String| {
        let boards = board(&rules, &[ROOMS]).unwrap();
        let board = only(&boards);
        assert!(board.has_walls(), "{rules}");
        (!board.has_wall_above(0, 0), !board.has_wall_above(1, 0), !board.has_wall_above(2, 0))
    };
    assert_eq!(open(format!("{DOORS} {GO} {near}")), (false, false, true));
    assert_eq!(open(format!("{DOORS} {GO} {near} {gates}")), (true, false, true));
}

#[test]
fn relations_over_the_same_coordinates_share_the_board() {
    let positions = [facts(
        "(cell 1 1 floor)\n(cell 2 2 floor)\n(cell 4 3 rug)\n(cell 3 3 rug)\n(robot 2 3)\n(row 0)\n(score 1 9)",
    )];
    let board = find(&game("(after 1 2) (after 2 3) (after 3 4)"), &positions).unwrap();
    let expected = expect![[r#"
        1  fl .  .
        2  .  fl ro
        3  .  .  ru
        4  .  .  ru
           1  2  3
    "#]];
    expected.assert_eq(&board.draw(&positions[0]));
    let unseen: Vec<String> =
        positions[0].iter().filter(|fact| !board.shows(fact)).map(ToString::to_string).collect();
    assert_eq!(unseen, ["(row 0)", "(score 1 9)"]);
}
