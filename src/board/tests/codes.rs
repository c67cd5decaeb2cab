//! Codes: several things in a row.

use super::without_grid::{check, check_none};
use super::*;

#[test]
fn several_things_in_a_row_are_a_code() {
    let colours = "(colour red) (colour blue)
        (<= (base (secret ?a ?b ?c)) (colour ?a) (colour ?b) (colour ?c))";
    let played = ["(phase hide)", "(secret red blue red)\n(phase guess)"];
    let expected = expect![[r#"
        secret  red  blue red
        beside: (phase guess)
    "#]];
    check(colours, &played, expected);
    check(
        "",
        &["(row a b c d e)", "(row c d a e b)", "(row d c e b a)"],
        expect![[r#"
            row  d c e b a
        "#]],
    );
}

/// Other things at each place; two things; two codes at a time; one that stays; too wide a row.
#[test]
fn other_facts_are_no_codes() {
    check_none("", &["(at a b c)", "(at a c b)"]);
    check_none("", &["(at a b)", "(at b a)"]);
    check_none("", &["(at a b c)\n(at b c a)\n(at c a b)", "(at c a b)"]);
    check_none("", &["(at a b a)", "(at a b a)"]);
    let long = |names: [usize; 3]| {
        let name = |number: usize| format!("a_name_so_long_that_no_row_has_room_{number}");
        format!("(at {})", names.map(name).join(" "))
    };
    check_none("", &[&long([1, 2, 3]), &long([2, 3, 1]), &long([3, 1, 2])]);
}
