//! What is drawn of facts that form no grid: counts, hands, tiles and blocks.

use super::*;

/// What is drawn in these positions of a game of two roles, left and right.
fn drawn(rules: &str, positions: &[Vec<Expression>]) -> Option<Boards> {
    let game = two_sides(rules);
    let roles = ["left", "right"].map(str::to_owned);
    without_grid(&Orders::of(&game), &finder::domain(&game), positions, &roles)
}

/// Checks what is drawn of the last position.
pub(super) fn check(rules: &str, positions: &[&str], expected: Expect) {
    let positions: Vec<Vec<Expression>> = positions.iter().map(|text| facts(text)).collect();
    let boards = drawn(rules, &positions).expect("a board");
    let last = positions.last().unwrap();
    let mut drawn = boards.draw(last);
    drawn.extend(boards.legend().map(|legend| format!("{legend}\n")));
    let beside = last.iter().filter(|fact| !boards.shows(fact)).map(ToString::to_string);
    drawn.extend(beside.map(|fact| format!("beside: {fact}\n")));
    expected.assert_eq(&drawn);
}

pub(super) fn check_none(rules: &str, positions: &[&str]) {
    let positions: Vec<Vec<Expression>> = positions.iter().map(|text| facts(text)).collect();
    assert_eq!(drawn(rules, &positions), None, "{positions:?}");
}

#[test]
fn numbers_by_key_are_a_row_each() {
    check(
        "",
        &["(heap a 3)\n(heap b 10)\n(turn left)", "(heap a 0)\n(heap b 10)\n(turn right)"],
        expect![[r#"
            a   0
            b  10 oooooooooo
               heap
            beside: (turn right)
        "#]],
    );
    check(
        "",
        &[
            "(men here 3)\n(men there 0)\n(dogs here 2)\n(dogs there 5)\n(boat here)\n(step 1)",
            "(men here 2)\n(men there 1)\n(dogs here 2)\n(dogs there 5)\n(boat there)\n(step 2)",
        ],
        expect![[r#"
            here   2     2 oo  .
            there  5     1 o   x
                   dogs  men   boat
            beside: (step 2)
        "#]],
    );
}

#[test]
fn numbers_of_roles_are_a_row_each() {
    check(
        "",
        &[
            "(score left 0)\n(score right 0)\n(turn left)\n(pot 1)\n(step 1)",
            "(score left 3)\n(score right 15)\n(turn right)\n(pot 9)\n(step 2)",
        ],
        expect![[r#"
            left    3     .
            right  15     x       pot  9
                   score  turn
            beside: (step 2)
        "#]],
    );
}

/// A number that stays, a single key, two numbers of one key, digits, and words.
#[test]
fn other_facts_are_no_numbers_by_key() {
    check_none("", &["(link a 3)\n(link b 4)\n(step 1)", "(link a 3)\n(link b 4)\n(step 2)"]);
    check_none("", &["(heap a 3)", "(heap a 2)"]);
    check_none("", &["(has a 3)\n(has a 4)\n(has b 3)", "(has a 3)\n(has b 4)\n(has b 3)"]);
    check_none("", &["(clock 0 1)", "(clock 0 2)", "(clock 1 0)"]);
    check_none("", &["(way a b)\n(way b c)", "(way a c)\n(way b c)"]);
}

#[test]
fn hands_are_a_row_for_each_role() {
    let dealt = "(hand left 2)\n(hand left 3)\n(hand right 1)\n(hand right 10)\n(hand right 4)";
    check(
        "",
        &[dealt],
        expect![[r#"
            left   .  2  3  .  .
            right  1  .  .  4  10
                   hand
        "#]],
    );
    check(
        "(after nine ten) (after ten jack)",
        &[
            "(holds left hearts jack)\n(holds left hearts nine)\n(holds left clubs ten)\n(holds right clubs 9)\n(table right clubs 8)",
        ],
        expect![[r#"
            left   ct hj hn
            right  c9
                   holds
            c clubs, h hearts, j jack, n nine, t ten
            beside: (table right clubs 8)
        "#]],
    );
    check(
        "",
        &["(holds left jack)\n(holds right king)\n(bettor right)"],
        expect![[r#"
            left   jack   .
            right  king   x
                   holds  bettor
        "#]],
    );
}

/// Facts of one role only, and marks of a single role at a time.
#[test]
fn other_facts_of_roles_are_no_hands() {
    check_none("", &["(holds left jack)\n(holds left king)"]);
    check_none("", &["(turn left)\n(bettor left)", "(turn right)\n(caller right)"]);
    check_none("", &["(alive left)\n(alive right)"]);
}

#[test]
fn things_that_are_there_or_not_are_a_row() {
    check(
        "",
        &["(open 1)\n(open 2)\n(open 3)", "(open 1)\n(open 3)\n(die 2)"],
        expect![[r#"
            open  1 . 3
            die   . 2 .
        "#]],
    );
    let doors = "(<= (base (car ?d)) (door ?d)) (<= (base (open ?d)) (door ?d))
        (door 1) (door 2) (door 3)";
    check(
        doors,
        &["(phase a)", "(car 2)\n(open 3)\n(phase b)"],
        expect![[r#"
            car   . 2 .
            open  . . 3
            beside: (phase b)
        "#]],
    );
    // Two things only; a single one at a time; the phase that there always is, and a counter.
    check_none("", &["(open 1)\n(open 2)", "(open 1)"]);
    check_none("", &["(open 1)", "(open 2)", "(open 3)", "(lamp on)"]);
    let phases = "(<= (base (phase ?d)) (door ?d)) (<= (base (round ?d)) (door ?d))
        (door 1) (door 2) (door 3)";
    check_none(phases, &["(phase 1)\n(round 1)", "(phase 2)\n(round 1)", "(phase 3)\n(round 2)"]);
}

/// A relation of fewer things has a row below; but there is not room for everything.
#[test]
fn rows_of_tiles_share_their_places() {
    check(
        "",
        &["(off p)\n(off q)\n(off r)", "(off p)\n(off r)\n(on q)"],
        expect![[r#"
            off  p . r
            on   . q .
        "#]],
    );
    let long = "a_tile_with_a_name_so_long_that_there_is_no_room_for_several";
    check_none("", &[&format!("(off {long})\n(off {long}1)\n(off {long}2)"), "(off 1)"]);
}

/// A card that was unknown when the board was found is listed beside it.
#[test]
fn facts_without_a_place_are_not_shown() {
    let dealt = facts("(hand left 2)\n(hand left 3)\n(hand right 1)");
    let boards = drawn("", std::slice::from_ref(&dealt)).unwrap();
    assert!(boards.shows(&dealt[0]));
    assert!(!boards.shows(&"(hand left 9)".parse().unwrap()));
    let blocks = facts("(on a b)\n(on b table)\n(on c table)");
    let boards = drawn("", std::slice::from_ref(&blocks)).unwrap();
    assert!(boards.shows(&blocks[0]));
    assert!(!boards.shows(&"(on d table)".parse().unwrap()));
}

/// Where most facts are of something else, a few of the roles are no picture of the state.
#[test]
fn tables_show_a_fair_share_of_the_facts() {
    let few = "(uses left x)\n(uses right o)\n(mark 1 1 1 1 x)\n(mark 1 1 1 2 x)";
    check_none(
        "",
        &[
            "(turn left)",
            &format!(
                "{few}\n(mark 1 1 1 3 x)\n(mark 1 1 1 4 x)\n(mark 1 1 1 5 x)\n(mark 1 1 1 6 x)\n(mark 1 1 1 7 x)"
            ),
        ],
    );
    check(
        "",
        &["(turn left)", few],
        expect![[r#"
        left   x     .
        right  o     .
               uses  turn
        beside: (mark 1 1 1 1 x)
        beside: (mark 1 1 1 2 x)
    "#]],
    );
}

#[test]
fn things_on_each_other_are_towers() {
    check(
        "",
        &["(on a b)\n(on b peg1)\n(on c peg2)", "(on a b)\n(on b peg1)\n(on c peg3)"],
        expect![[r#"
            3  .    .    .
            2  a    .    .
            1  b    .    c
               peg1 peg2 peg3
        "#]],
    );
    check(
        "",
        &[
            "(on a b)\n(on b table)\n(on c table)\n(step 1)",
            "(on a c)\n(on b table)\n(on c table)\n(step 2)",
        ],
        expect![[r#"
            3  . . .
            2  . . a
            1  . b c
            beside: (step 2)
        "#]],
    );
    check(
        "",
        &[
            "(on a b)\n(table b)\n(table c)\n(clear a)\n(clear c)",
            "(on a b)\n(on b c)\n(table c)\n(clear a)",
        ],
        expect![[r#"
            3  . . a
            2  . . b
            1  . . c
            beside: (clear a)
        "#]],
    );
}

/// Two on one; a circle; two on one of several pegs; a thing that is nowhere; none on another.
#[test]
fn other_relations_are_no_towers() {
    for text in [
        "(on a b)\n(on c b)\n(on b table)",
        "(on a b)\n(on b a)\n(on c table)",
        "(on a b)\n(on b table)\n(on c floor)\n(on d floor)",
        "(on a table)\n(on b table)\n(on c table)",
        "(on a b)\n(table b)\n(table c)\n(on c a)",
    ] {
        check_none("", &[text]);
    }
    check_none("", &["(on a b)\n(on b table)\n(on c table)", "(on a b)\n(on b table)"]);
}
