//! A lattice: dots, and lines that are drawn between dots beside each other, as in dots and boxes.
//!
//! Every second cell of every second row is a dot in all positions, and nothing else is one. The
//! cells between two dots hold one kind of piece, the lines; what lines may surround holds others.

use std::collections::BTreeSet;

use games::Expression;

use super::grid::Grid;

/// What dots and lines are drawn as where they have to be named.
pub(super) const MARKS: [&str; 2] = ["+", "-"];

/// The pieces that are dots and lines, if the cells of a grid are these and what lines surround, by
/// the facts that a position may have, and those of positions. `is_nothing` are pieces that stand
/// for none.
pub(super) fn find(
    grid: &Grid,
    domain: &[Expression],
    positions: &[Vec<Expression>],
    is_nothing: &dyn Fn(&str) -> bool,
) -> Option<[String; 2]> {
    let sides = [0, 1].map(|axis| grid.axes[axis].values.len());
    if sides.iter().any(|&side| side < 3 || side % 2 == 0) {
        return None;
    }
    let n_dots: usize = sides.map(|side| side.div_ceil(2)).iter().product();
    let mut kinds = [const { BTreeSet::<String>::new() }; 3];
    for fact in domain.iter().chain(positions.iter().flatten()) {
        if let Some(located) = grid.locate(fact).filter(|located| !is_nothing(&located.piece)) {
            kinds[kind(located.at)].insert(located.piece);
        }
    }
    let [dots, lines, others] = &kinds;
    let has_all_dots = |facts: &Vec<Expression>| {
        let cells = facts.iter().filter_map(|fact| grid.locate(fact));
        let cells: BTreeSet<[usize; 2]> = cells
            .filter(|located| dots.contains(&located.piece))
            .map(|located| located.at)
            .collect();
        cells.len() == n_dots
    };
    let is_distinct =
        dots.is_disjoint(others) && dots.is_disjoint(lines) && lines.is_disjoint(others);
    let is_lattice =
        dots.len() == 1 && lines.len() == 1 && is_distinct && positions.iter().all(has_all_dots);
    is_lattice
        .then(|| [dots.first().cloned(), lines.first().cloned()].map(Option::unwrap_or_default))
}

/// 0 for the place of a dot, 1 for that of a line, 2 for what lines may surround.
fn kind([column, row]: [usize; 2]) -> usize {
    column % 2 + row % 2
}

/// A lattice in text, by the words in its cells, each row from the lowest upwards; empty where there
/// is nothing.
pub(super) fn draw(words: &[Vec<String>], rows: &[String], columns: &[String]) -> String {
    let length = |word: &String| word.chars().count();
    let margin = rows.iter().map(length).max().unwrap_or(1);
    let label_width = columns.iter().step_by(2).map(length).max().unwrap_or(1);
    let surrounded = words.iter().skip(1).step_by(2).flat_map(|row| row.iter().skip(1).step_by(2));
    let names = columns.iter().skip(1).step_by(2);
    let box_width = surrounded.chain(names).map(length).max().unwrap_or(1).max(1) + 2;
    let line = |label: &str, cells: Vec<String>| format!("{label:>margin$}  {}", cells.concat());
    let mut lines = Vec::new();
    for (row, (label, words)) in rows.iter().zip(words).enumerate().rev() {
        let cell = |(column, word): (usize, &String)| {
            let is_drawn = !word.is_empty();
            let dash = if is_drawn { "-" } else { " " };
            match [column % 2, row % 2] {
                [0, 0] => format!("{:<label_width$}", "+"),
                [1, 0] => dash.repeat(box_width),
                [0, _] => format!("{:<label_width$}", if is_drawn { "|" } else { "" }),
                _ => format!("{word:^box_width$}"),
            }
        };
        lines.push(line(label, words.iter().enumerate().map(cell).collect()));
    }
    let name = |(column, name): (usize, &String)| match column % 2 {
        0 => format!("{name:<label_width$}"),
        _ => format!("{name:^box_width$}"),
    };
    lines.push(line("", columns.iter().enumerate().map(name).collect()));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}
