//! Dots and the lines between them.

use super::*;

/// Four dots, with the line between the upper two and that between the left two, and a box.
const DOTS: &str = "(cell 1 1 dot)\n(cell 1 3 dot)\n(cell 3 1 dot)\n(cell 3 3 dot)";

fn is_lattice(positions: &[&str]) -> bool {
    only(&board("(after 1 2) (after 2 3)", positions).unwrap()).is_lattice()
}

#[test]
fn lines_between_dots_are_drawn() {
    let lines = format!("{DOTS}\n(cell 1 2 line)\n(cell 2 1 line)\n(cell 2 2 mine)");
    super::check(
        "(after 1 2) (after 2 3)",
        &[DOTS, &lines],
        expect![[r#"
        1  +---+
        2  | m
        3  +   +
           1 2 3
        + dot, - line, m mine
    "#]],
    );
    assert!(is_lattice(&[DOTS, &lines]));
}

/// A dot that goes; one between dots; two kinds of lines; a line in a box; no line.
#[test]
fn other_pieces_are_no_lines() {
    let line = format!("{DOTS}\n(cell 1 2 line)");
    assert!(is_lattice(&[DOTS, &line]));
    for other in [
        "(cell 1 1 dot)\n(cell 1 2 line)\n(cell 3 1 dot)\n(cell 3 3 dot)",
        &format!("{line}\n(cell 2 1 dot)"),
        &format!("{line}\n(cell 2 1 wall)"),
        &format!("{line}\n(cell 2 2 line)"),
    ] {
        assert!(!is_lattice(&[DOTS, other]), "{other}");
    }
    assert!(!is_lattice(&[DOTS, &format!("{DOTS}\n(cell 2 2 mine)")]));
}

/// Rows and columns of dots alternate with others, so their numbers are odd.
#[test]
fn a_lattice_ends_with_dots() {
    let wide = "(cell 1 1 dot)\n(cell 1 3 dot)\n(cell 3 1 dot)\n(cell 3 3 dot)\n(cell 1 2 line)";
    assert!(!is_lattice(&[DOTS, &format!("{wide}\n(cell 1 4 line)\n(cell 4 1 line)")]));
}
