//! Boards in text, with the names of rows and columns.

use std::fmt::Write as _;

use games::Expression;

use super::{Board, Boards, Form, Shown, lattice, marks};

/// Maximum number of columns of boards that stand side by side.
const WIDTH: usize = 74;

/// What separates boards that stand side by side.
const GAP: &str = "    ";

impl Boards {
    /// The boards of a position, side by side as far as there is room.
    #[must_use]
    pub fn draw(&self, facts: &[Expression]) -> String {
        let mut blocks = self.iter().map(|board| Block::new(board, facts));
        let mut rows: Vec<Block> = blocks.next().into_iter().collect();
        for block in blocks {
            match rows.last_mut() {
                Some(row) if row.width() + GAP.len() + block.width() <= WIDTH => row.join(block),
                _ => rows.push(block),
            }
        }
        let rows: Vec<String> = rows.into_iter().map(Block::text).collect();
        rows.join("\n")
    }

    /// What the marks stand for, if they do not say it themselves.
    #[must_use]
    pub fn legend(&self) -> Option<String> {
        let mut entries: Vec<String> = self.iter().flat_map(Board::entries).collect();
        let mut seen = std::collections::BTreeSet::new();
        entries.retain(|entry| seen.insert(entry.clone()));
        (!entries.is_empty()).then(|| entries.join(", "))
    }
}

/// Lines of a board, or of several side by side.
struct Block(Vec<String>);

impl Block {
    fn new(board: &Board, facts: &[Expression]) -> Self {
        let indent = board.margin() + 2;
        let title = board.title().map(|title| format!("{:indent$}{title}", ""));
        Self(title.into_iter().chain(board.draw(facts).lines().map(str::to_owned)).collect())
    }

    fn width(&self) -> usize {
        self.0.iter().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// Puts another block to the right, with the last lines beside each other.
    fn join(&mut self, mut other: Self) {
        let width = self.width();
        let n_lines = self.0.len().max(other.0.len());
        for block in [&mut self.0, &mut other.0] {
            let n_missing = n_lines - block.len();
            block.splice(0..0, vec![String::new(); n_missing]);
        }
        for (line, right) in self.0.iter_mut().zip(other.0) {
            *line = format!("{line:<width$}{GAP}{right}");
        }
    }

    /// Without the last line if the columns have no names.
    fn text(mut self) -> String {
        self.0.pop_if(|line| line.trim().is_empty());
        self.0.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

impl Board {
    /// The board of a position in text, with the names of rows and columns.
    pub(super) fn draw(&self, facts: &[Expression]) -> String {
        if let Form::Tree(tree) = &self.form {
            return tree.picture(&tree.own_facts(facts)).text();
        }
        let cell_text =
            |column: usize, row: usize, pieces: &[String]| match self.shown(column, row, pieces) {
                Shown::Nothing if !self.is_place(column, row) => String::new(),
                shown => shown.text(),
            };
        let cells = self.cells(facts);
        let row_words = |(row, cells): (usize, &Vec<Vec<String>>)| {
            let cells = cells.iter().enumerate();
            cells.map(|(column, pieces)| cell_text(column, row, pieces)).collect()
        };
        let words: Vec<Vec<String>> = cells.iter().enumerate().map(row_words).collect();
        if self.is_lattice() {
            let word = |word: &String| match word.as_str() {
                marks::NOTHING => String::new(),
                word => word.to_owned(),
            };
            let words: Vec<Vec<String>> =
                words.iter().map(|row| row.iter().map(word).collect()).collect();
            return lattice::draw(&words, self.rows(), self.columns());
        }
        let length = |word: &String| word.chars().count();
        let lengths = |column: usize| {
            let cells = words.iter().map(move |row| &row[column]);
            cells.chain([&self.columns()[column]]).map(length)
        };
        let mut widths: Vec<usize> =
            (0..self.columns().len()).map(|column| lengths(column).max().unwrap_or(1)).collect();
        let mut width = widths.iter().copied().max().unwrap_or(1);
        if self.has_walls() {
            return self.draw_walled(&words, width);
        }
        if self.shift() != 0 {
            // Half of a cell and the space beside it must be a number of letters.
            width |= 1;
        }
        if !self.is_table() {
            widths.fill(width);
        }
        let margin = self.margin();
        let n_lines = self.rows().len();
        // Cells of several words are set apart.
        let gap = if self.is_table() { " " } else { "" };
        let mut drawn = String::new();
        let mut line = |above: usize, label: &str, row: &[String]| {
            let n_halves = match self.shift() {
                0 => 0,
                1 => above,
                _ => n_lines - above,
            };
            let indent = n_halves * width.div_ceil(2);
            let mut text = match self.is_table() {
                true => format!("{label:<margin$} "),
                false => format!("{:indent$}{label:>margin$} ", ""),
            };
            for (word, width) in row.iter().zip(&widths) {
                write!(text, " {word:<width$}{gap}").expect("a string takes all text");
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

    /// The same with walls between cells: `words` are by row, from the lowest upwards.
    fn draw_walled(&self, words: &[Vec<String>], width: usize) -> String {
        let (margin, n_columns) = (self.margin(), self.columns().len());
        let line_of_walls = |is_wall: &dyn Fn(usize) -> bool| {
            let sides = (0..n_columns).map(|at| if is_wall(at) { "-" } else { " " });
            let sides: Vec<String> = sides.map(|side| side.repeat(width + 2)).collect();
            format!("{:margin$} +{}+", "", sides.join("+"))
        };
        let mut lines = Vec::new();
        for (row, (label, words)) in self.rows().iter().zip(words).enumerate().rev() {
            lines.push(line_of_walls(&|column| self.has_wall_above(column, row)));
            let mut line = format!("{label:>margin$} |");
            for (column, word) in words.iter().enumerate() {
                let wall = if self.has_wall_right(column, row) { '|' } else { ' ' };
                write!(line, " {word:<width$} {wall}").expect("a string takes all text");
            }
            lines.push(line);
        }
        lines.push(line_of_walls(&|_| true));
        let names = self.columns().iter().map(|name| format!("  {name:<width$} "));
        lines.push(format!("{:margin$} {}", "", names.collect::<String>()));
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// Columns of the names of the rows.
    fn margin(&self) -> usize {
        self.rows().iter().map(|name| name.chars().count()).max().unwrap_or(1)
    }

    /// What each mark stands for, of those that do not say it themselves.
    fn entries(&self) -> Vec<String> {
        if let Form::Table(table) = &self.form {
            return table.legend();
        }
        if let Form::Tree(tree) = &self.form {
            return tree.signs();
        }
        let is_short =
            |&(piece, mark): &(&String, &String)| piece != mark && *mark != marks::NOTHING;
        let marks = self.marks.iter().filter(is_short);
        marks.map(|(piece, mark)| format!("{mark} {piece}")).collect()
    }
}
