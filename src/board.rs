//! Boards: whether the facts of a game form a grid, and the grid drawn in text.
//!
//! A grid is a relation with two ordered coordinates and a piece, found from the
//! facts and the rulesheet: `(cell 1 2 x)`, or `(pawn a 4)` where the rulesheet
//! orders the letters and the numbers. Other relations over the same coordinates
//! are drawn on the same board. `clues` finds how it lies on the page.

mod axis;
mod clues;
mod directions;
mod finder;
mod grid;
mod hexagons;
mod looks;
mod marks;
mod naming;
mod orientation;
mod statics;
mod towers;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use games::{Expression, Game};

use axis::Orders;
use clues::Clues;
use grid::{Grid, Located};
use orientation::Orientation;

pub use looks::{Look, Side};

/// A grid and what stands on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its axes go to the right and upwards.
    grid: Grid,
    form: Form,
    /// Where something may stand, as columns and rows; `None` if that may be anywhere.
    places: Option<BTreeSet<[usize; 2]>>,
    /// What each piece is drawn as.
    marks: BTreeMap<String, String>,
    looks: BTreeMap<String, Look>,
}

/// What the cells are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Squares,
    /// Hexagons; each row is shifted by half a cell against the one above it: 1 to
    /// the right, -1 to the left.
    Hexagons(i32),
    /// Places on which things are piled up. The grid's rows are the things, the
    /// largest lowest; these are the names of the heights.
    Towers(Vec<String>),
}

/// Finds the board of a game in the positions of a match, the first of which is the
/// initial one; `None` if they show none. The size of the board is that of the
/// facts that the rulesheet's `base` lists, and of those in the positions: the
/// more there are, the more of it is known.
#[must_use]
pub fn find(game: &Game, positions: &[Vec<Expression>]) -> Option<Board> {
    let orders = Orders::of(game);
    let domain = finder::domain(game);
    let grid = finder::grid(&orders, &domain, positions)?;
    if let Some(grid) = towers::towers(&grid, &orders, positions) {
        return Some(Board::of_towers(grid));
    }
    let name = |&role| game.symbols().name(role).to_owned();
    let roles: Vec<String> = game.roles().iter().map(name).collect();
    let mut board = Board::on(grid, &domain, positions, &roles);
    let rows = statics::rows(game);
    let orientation = Clues { game, board: &board, positions, rows: &rows }.orientation();
    if let Some(slant) = hexagons::slant(&board.grid, &rows) {
        let [right, up] = orientation.on_page([1, slant]);
        board.form = Form::Hexagons(right * up);
    }
    let board = board.turned(orientation);
    let places = places(&board.grid, &domain, positions);
    Some(Board { places, ..board })
}

/// The cells of facts that `base` lists or that were met; `None` if `base` lists none.
fn places(
    grid: &Grid,
    domain: &[Expression],
    positions: &[Vec<Expression>],
) -> Option<BTreeSet<[usize; 2]>> {
    let at = |fact: &Expression| grid.locate(fact).map(|located| located.at);
    let mut places: BTreeSet<[usize; 2]> = domain.iter().filter_map(at).collect();
    if places.is_empty() {
        return None;
    }
    places.extend(positions.iter().flatten().filter_map(at));
    Some(places)
}

impl Board {
    /// The board of a grid, as it was found.
    fn on(
        grid: Grid,
        domain: &[Expression],
        positions: &[Vec<Expression>],
        roles: &[String],
    ) -> Self {
        let mut pieces: BTreeMap<String, usize> = BTreeMap::new();
        let played = positions.iter().enumerate();
        let played = played.flat_map(|(at, facts)| facts.iter().map(move |fact| (at == 0, fact)));
        for (is_first, fact) in domain.iter().map(|fact| (false, fact)).chain(played) {
            if let Some(located) = grid.locate(fact) {
                *pieces.entry(located.piece).or_default() += usize::from(is_first);
            }
        }
        let (marks, looks) = (marks::marks(&pieces), looks::looks(&pieces, roles));
        Self { grid, form: Form::Squares, places: None, marks, looks }
    }

    /// Towers of the grid's rows upon its columns.
    fn of_towers(grid: Grid) -> Self {
        let things = &grid.axes[1].values;
        let n = things.len();
        let heights = (1..=n).map(|height| height.to_string()).collect();
        let marks = things.iter().map(|thing| (thing.clone(), thing.clone())).collect();
        let count = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        let looks = things.iter().enumerate().map(|(below, thing)| {
            let size = Some((count(n - below), count(n)));
            (thing.clone(), Look { size, ..Look::default() })
        });
        let looks = looks.collect();
        Self { grid, form: Form::Towers(heights), places: None, marks, looks }
    }

    fn turned(self, orientation: Orientation) -> Self {
        Self { grid: self.grid.turned(orientation), ..self }
    }

    /// Names of the columns, from left to right.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.grid.axes[0].values
    }

    /// Names of the rows, from the lowest upwards.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        match &self.form {
            Form::Towers(heights) => heights,
            Form::Squares | Form::Hexagons(_) => &self.grid.axes[1].values,
        }
    }

    /// By how many halves of a cell each row is shifted to the right against the one
    /// above it: 0, or 1 or -1 on a board of hexagons.
    #[must_use]
    pub fn shift(&self) -> i32 {
        match self.form {
            Form::Hexagons(shift) => shift,
            Form::Squares | Form::Towers(_) => 0,
        }
    }

    /// Whether anything may stand on a cell, by its place among [`Board::columns`] and
    /// [`Board::rows`]. Not all boards fill their grid.
    #[must_use]
    pub fn is_place(&self, column: usize, row: usize) -> bool {
        self.places.as_ref().is_none_or(|places| places.contains(&[column, row]))
    }

    /// Whether the board shows a fact.
    #[must_use]
    pub fn shows(&self, fact: &Expression) -> bool {
        self.grid.locate(fact).is_some()
    }

    /// What a piece is drawn as: a few letters, or `.` if it stands for none.
    #[must_use]
    pub fn mark<'a>(&'a self, piece: &'a str) -> &'a str {
        self.marks.get(piece).map_or(piece, String::as_str)
    }

    /// The owner and the kind of a piece.
    #[must_use]
    pub fn look(&self, piece: &str) -> Look {
        self.looks.get(piece).copied().unwrap_or_default()
    }

    /// Whether a piece stands for an empty cell.
    #[must_use]
    pub fn is_nothing(&self, piece: &str) -> bool {
        self.mark(piece) == marks::NOTHING
    }

    /// The pieces on each cell, without those that stand for none: a row for
    /// each of [`Board::rows`], in which there is a list for each of
    /// [`Board::columns`].
    #[must_use]
    pub fn cells(&self, facts: &[Expression]) -> Vec<Vec<Vec<String>>> {
        let mut cells = vec![vec![Vec::new(); self.columns().len()]; self.rows().len()];
        let mut located: Vec<Located> =
            facts.iter().filter_map(|fact| self.grid.locate(fact)).collect();
        if let Form::Towers(_) = self.form {
            located.sort_by_key(|located| located.at[1]);
            for Located { at: [column, thing], .. } in located {
                let free = cells.iter_mut().find(|row| row[column].is_empty());
                if let Some(row) = free {
                    row[column].push(self.grid.axes[1].values[thing].clone());
                }
            }
            return cells;
        }
        for Located { at: [column, row], piece, .. } in located {
            if !self.is_nothing(&piece) {
                cells[row][column].push(piece);
            }
        }
        cells
    }

    /// The board of a position in text, with the names of rows and columns.
    #[must_use]
    pub fn draw(&self, facts: &[Expression]) -> String {
        let cell_text = |column: usize, row: usize, pieces: &[String]| {
            let marks: Vec<&str> = pieces.iter().map(|piece| self.mark(piece)).collect();
            match marks.is_empty() {
                true if self.is_place(column, row) => marks::NOTHING.to_owned(),
                _ => marks.join("+"),
            }
        };
        let cells = self.cells(facts);
        let row_words = |(row, cells): (usize, &Vec<Vec<String>>)| {
            let cells = cells.iter().enumerate();
            cells.map(|(column, pieces)| cell_text(column, row, pieces)).collect()
        };
        let words: Vec<Vec<String>> = cells.iter().enumerate().map(row_words).collect();
        let length = |word: &String| word.chars().count();
        let mut width = words.iter().flatten().chain(self.columns()).map(length).max().unwrap_or(1);
        if self.shift() != 0 {
            // Half of a cell and the space beside it must be a number of letters.
            width |= 1;
        }
        let margin = self.rows().iter().map(length).max().unwrap_or(1);
        let n_lines = self.rows().len();
        let mut drawn = String::new();
        let mut line = |above: usize, label: &str, row: &[String]| {
            let n_halves = match self.shift() {
                0 => 0,
                1 => above,
                _ => n_lines - above,
            };
            let indent = n_halves * width.div_ceil(2);
            let mut text = format!("{:indent$}{label:>margin$} ", "");
            for word in row {
                write!(text, " {word:<width$}").expect("a string takes all text");
            }
            drawn.push_str(text.trim_end());
            drawn.push('\n');
        };
        for (above, (label, row)) in self.rows().iter().zip(&words).rev().enumerate() {
            line(above, label, row);
        }
        line(n_lines, "", self.columns());
        drawn
    }

    /// What the marks stand for, if they do not say it themselves.
    #[must_use]
    pub fn legend(&self) -> Option<String> {
        let is_short =
            |&(piece, mark): &(&String, &String)| piece != mark && *mark != marks::NOTHING;
        let words: Vec<String> = self
            .marks
            .iter()
            .filter(is_short)
            .map(|(piece, mark)| format!("{mark} {piece}"))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests;
