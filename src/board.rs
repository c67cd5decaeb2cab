//! Boards: whether the facts of a game form a grid, and the grid drawn in text.
//!
//! A grid is a relation with two coordinates, found from the facts themselves:
//! `(cell 1 2 x)`, `(pawn a 4)`. Of several relations over the same coordinates
//! each is a kind of piece.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use games::Expression;

/// A grid has at least so many lines, and at most.
const SIDES: std::ops::RangeInclusive<usize> = 2..=40;

/// At least this share of a grid's cells is named by some position.
const MIN_SHARE: f64 = 0.4;

/// Names of pieces that stand for none.
const NOTHING: [&str; 6] = ["b", "blank", "empty", "none", "nil", "e"];

/// Which relation is the board, and where its coordinates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    name: String,
    n_arguments: usize,
    /// Positions of the coordinates among the arguments.
    columns: [usize; 2],
    /// The values of the coordinates, in order.
    axes: [Vec<String>; 2],
    /// What each piece is drawn as.
    marks: BTreeMap<String, String>,
}

impl Board {
    /// Finds the board in the positions of a match; `None` if they show none.
    #[must_use]
    pub fn find(positions: &[Vec<Expression>]) -> Option<Self> {
        let mut relations: BTreeMap<(&str, usize), BTreeSet<&[Expression]>> = BTreeMap::new();
        for fact in positions.iter().flatten() {
            if let Expression::List(items) = fact
                && let Some((Expression::Atom(name), arguments)) = items.split_first()
            {
                relations.entry((name, arguments.len())).or_default().insert(arguments);
            }
        }
        let boards = relations.iter().filter_map(|(&(name, arity), rows)| {
            let columns = coordinates(arity, rows)?;
            let axes = columns.map(|column| axis(rows, column));
            let cells: BTreeSet<_> = rows.iter().map(|row| columns.map(|at| &row[at])).collect();
            let n_cells = axes[0].len() * axes[1].len();
            let is_grid = axes.iter().all(|axis| SIDES.contains(&axis.len()))
                && cells.len() as f64 >= MIN_SHARE * n_cells as f64;
            is_grid.then(|| {
                let board = Self {
                    name: name.to_owned(),
                    n_arguments: arity,
                    columns,
                    axes,
                    marks: BTreeMap::new(),
                };
                (cells.len(), board)
            })
        });
        let (_, mut board) = boards.max_by_key(|(n_cells, board)| {
            // The board with the most cells; among equals one that has pieces.
            (*n_cells, board.n_arguments == 3)
        })?;
        let pieces: BTreeSet<String> =
            positions.iter().flatten().filter_map(|fact| Some(board.cell(fact)?.1)).collect();
        board.marks = marks(&pieces);
        Some(board)
    }

    /// The cell and the piece that a fact tells of.
    fn cell(&self, fact: &Expression) -> Option<([usize; 2], String)> {
        let Expression::List(items) = fact else { return None };
        let (name, arguments) = items.split_first()?;
        if *name != Expression::atom(self.name.as_str()) || arguments.len() != self.n_arguments {
            return None;
        }
        let at = |axis: usize| {
            let value = arguments[self.columns[axis]].to_string();
            self.axes[axis].iter().position(|other| *other == value)
        };
        let cell = [at(0)?, at(1)?];
        let rest = arguments.iter().enumerate().filter(|(at, _)| !self.columns.contains(at));
        let words: Vec<String> = rest.map(|(_, argument)| argument.to_string()).collect();
        let piece = if words.is_empty() { self.name.clone() } else { words.join(" ") };
        Some((cell, piece))
    }

    /// Whether the board shows a fact.
    #[must_use]
    pub fn shows(&self, fact: &Expression) -> bool {
        self.cell(fact).is_some()
    }

    /// The board of a position: the first coordinate runs to the right, the
    /// second upwards.
    #[must_use]
    pub fn draw(&self, facts: &[Expression]) -> String {
        let [n_columns, n_rows] = [self.axes[0].len(), self.axes[1].len()];
        let mut cells = vec![vec![Vec::new(); n_columns]; n_rows];
        for fact in facts {
            if let Some(([column, row], piece)) = self.cell(fact) {
                cells[row][column].push(self.marks.get(&piece).map_or(piece, Clone::clone));
            }
        }
        let words: Vec<Vec<String>> = cells
            .into_iter()
            .map(|row| row.into_iter().map(|marks| cell_text(&marks)).collect())
            .collect();
        let widest = words.iter().flatten().chain(&self.axes[0]).map(|word| word.chars().count());
        let width = widest.max().unwrap_or(1);
        let margin = self.axes[1].iter().map(|label| label.chars().count()).max().unwrap_or(1);
        let mut drawn = String::new();
        let mut line = |label: &str, row: &[String]| {
            let mut text = format!("{label:>margin$} ");
            for word in row {
                write!(text, " {word:<width$}").expect("a string takes all text");
            }
            drawn.push_str(text.trim_end());
            drawn.push('\n');
        };
        for (label, row) in self.axes[1].iter().zip(&words).rev() {
            line(label, row);
        }
        line("", &self.axes[0]);
        drawn
    }

    /// What the marks stand for, if they do not say it themselves.
    #[must_use]
    pub fn legend(&self) -> Option<String> {
        let abbreviated = self.marks.iter().filter(|(piece, mark)| piece != mark && *mark != ".");
        let words: Vec<String> =
            abbreviated.map(|(piece, mark)| format!("{mark} {piece}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

fn cell_text(marks: &[String]) -> String {
    let mut shown: Vec<&str> =
        marks.iter().map(String::as_str).filter(|&mark| mark != ".").collect();
    shown.dedup();
    if shown.is_empty() { ".".to_owned() } else { shown.join("+") }
}

/// The first two arguments that are coordinates in every row.
fn coordinates(arity: usize, rows: &BTreeSet<&[Expression]>) -> Option<[usize; 2]> {
    let is_coordinate = |&at: &usize| {
        rows.iter().all(|row| match &row[at] {
            Expression::Atom(word) => rank(word).is_some(),
            Expression::List(_) => false,
        })
    };
    let mut found = (0..arity).filter(is_coordinate);
    let columns = [found.next()?, found.next()?];
    (arity <= 4).then_some(columns)
}

/// Where a coordinate lies: numbers by value, letters by the alphabet, names
/// with a number at the end (`x1`) by that number.
fn rank(word: &str) -> Option<(String, u64)> {
    let digits = word.chars().rev().take_while(char::is_ascii_digit).count();
    let (name, number) = word.split_at(word.len() - digits);
    match (name.chars().count(), digits) {
        (_, 1..=4) => Some((name.to_owned(), number.parse().ok()?)),
        (1, 0) => name
            .chars()
            .next()
            .filter(char::is_ascii_lowercase)
            .map(|letter| (String::new(), u64::from(u32::from(letter)))),
        _ => None,
    }
}

fn axis(rows: &BTreeSet<&[Expression]>, column: usize) -> Vec<String> {
    let words: BTreeSet<String> = rows.iter().map(|row| row[column].to_string()).collect();
    let mut words: Vec<String> = words.into_iter().collect();
    words.sort_by_cached_key(|word| rank(word));
    words
}

/// Short and distinct marks for pieces: a letter if that tells them apart.
fn marks(pieces: &BTreeSet<String>) -> BTreeMap<String, String> {
    let is_nothing =
        |piece: &String| NOTHING.contains(&piece.as_str()) && (piece.len() > 1 || pieces.len() > 1);
    // `b` is blank beside `x` and `o`, but black beside `w`.
    let blacks = pieces.iter().any(|piece| piece.starts_with('w'));
    let nothing = pieces.iter().filter(|piece| is_nothing(piece)).filter(|p| *p != "b" || !blacks);
    let nothing: BTreeSet<&String> = nothing.collect();
    let real: Vec<&String> = pieces.iter().filter(|piece| !nothing.contains(piece)).collect();
    let short = |piece: &str, length: usize| piece.chars().take(length).collect::<String>();
    let length = (1..=3).find(|&length| {
        let marks: BTreeSet<String> = real.iter().map(|piece| short(piece, length)).collect();
        marks.len() == real.len()
    });
    let mark = |piece: &String| match length {
        Some(length) => short(piece, length),
        None => piece.clone(),
    };
    let real = real.iter().map(|&piece| (piece.clone(), mark(piece)));
    real.chain(nothing.iter().map(|&piece| (piece.clone(), ".".to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn facts(text: &str) -> Vec<Expression> {
        text.lines().map(|line| line.trim().parse().unwrap()).collect()
    }

    fn check(positions: &[&str], expected: Expect) {
        let positions: Vec<Vec<Expression>> = positions.iter().map(|text| facts(text)).collect();
        let board = Board::find(&positions).expect("a board");
        let mut drawn = board.draw(positions.last().unwrap());
        if let Some(legend) = board.legend() {
            drawn += &format!("{legend}\n");
        }
        expected.assert_eq(&drawn);
    }

    #[test]
    fn cells_with_pieces_are_a_board() {
        check(
            &["(cell 1 1 b)\n(cell 1 2 x)\n(cell 2 1 o)\n(cell 2 2 b)\n(control xplayer)"],
            expect![[r#"
                2  x .
                1  . o
                   1 2
            "#]],
        );
    }

    #[test]
    fn pieces_on_squares_with_letters_are_a_board() {
        check(
            &[
                "(location a 1 white_pawn)\n(location b 1 white_king)",
                "(location a 2 white_pawn)\n(location b 2 black_king)\n(step 10)",
            ],
            expect![[r#"
                2  white_pawn black_king
                1  .          .
                   a          b
            "#]],
        );
    }

    #[test]
    fn facts_without_two_coordinates_are_no_board() {
        for text in ["(control x)\n(step 1)", "(heap a 3)\n(heap b 5)", "(on a table)\n(on b a)"] {
            assert_eq!(Board::find(&[facts(text)]), None, "{text}");
        }
    }
}
