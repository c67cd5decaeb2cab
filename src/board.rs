//! Boards: whether the facts of a game form a grid, and the grid drawn in text.
//!
//! A grid is a relation with two ordered coordinates and a piece, found from the
//! facts and the rulesheet: `(cell 1 2 x)`, or `(pawn a 4)` where the rulesheet
//! orders the letters and the numbers. Other relations over the same coordinates
//! are drawn on the same board.

mod axis;
mod marks;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use games::{Expression, Game, Guards, Leniency, Prover, Rulesheet, StateMachine as _};

use axis::{Axis, Orders};

/// A board has at least so many lines, and at most.
const SIDES: std::ops::RangeInclusive<usize> = 2..=40;

/// At least this share of the cells is named by some position, unless the
/// rulesheet tells both orders.
const MIN_SHARE: f64 = 0.4;

/// At least this share of the facts of a relation have a cell of their own: less
/// shows a third coordinate, and not pieces that share a cell. A single further
/// argument is likelier to be a piece than two.
const MIN_ALONE: [f64; 2] = [0.45, 0.8];

/// Steps of reasoning spent on the domain of the facts.
const MAX_STEPS: u64 = 50_000_000;

/// A grid and what stands on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    layers: Vec<Layer>,
    /// The values of the coordinates: to the right, and upwards.
    axes: [Axis; 2],
    /// What each piece is drawn as.
    marks: BTreeMap<String, String>,
}

/// A relation drawn on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layer {
    name: String,
    n_arguments: usize,
    /// Positions of the coordinates among the arguments: to the right, upwards.
    columns: [usize; 2],
}

/// What a fact says of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placed {
    /// Index in [`Board::columns`].
    pub column: usize,
    /// Index in [`Board::rows`].
    pub row: usize,
    /// What is there: the other arguments, or the relation's name if there are
    /// none.
    pub piece: String,
}

/// Name and number of arguments.
type Relation<'a> = (&'a str, usize);

/// The arguments of the facts of one relation.
#[derive(Debug, Default)]
struct Rows<'a> {
    /// Of those that a position may have.
    domain: Vec<&'a [Expression]>,
    /// Of those in each position.
    played: Vec<Vec<&'a [Expression]>>,
}

impl<'a> Rows<'a> {
    fn all(&self) -> impl Iterator<Item = &'a [Expression]> {
        self.played.iter().flatten().chain(&self.domain).copied()
    }

    fn without_domain(&self) -> Self {
        Self { domain: Vec::new(), played: self.played.clone() }
    }

    fn n_played(&self) -> usize {
        self.played.iter().map(Vec::len).sum()
    }

    fn values(&self, column: usize) -> BTreeSet<String> {
        self.all().map(|row| row[column].to_string()).collect()
    }

    fn n_cells(&self, columns: [usize; 2]) -> usize {
        let cells: BTreeSet<_> = self.all().map(|row| columns.map(|at| &row[at])).collect();
        cells.len()
    }

    fn n_pieces(&self, columns: [usize; 2]) -> usize {
        let rest = |row: &'a [Expression]| {
            let rest = row.iter().enumerate().filter(|(at, _)| !columns.contains(at));
            rest.map(|(_, argument)| argument).collect::<Vec<_>>()
        };
        self.all().map(rest).collect::<BTreeSet<_>>().len()
    }

    /// The share of the facts that have a cell of their own.
    fn share_alone(&self, columns: [usize; 2]) -> f64 {
        let n_cells = |facts: &Vec<&[Expression]>| {
            let cells: BTreeSet<_> = facts.iter().map(|row| columns.map(|at| &row[at])).collect();
            cells.len()
        };
        let n_cells: usize = self.played.iter().map(n_cells).sum();
        n_cells as f64 / self.n_played() as f64
    }

    /// Whether there is never more than one fact, and it jumps: two digits of a
    /// counter, and no token.
    fn is_counter(&self, columns: [usize; 2], axes: [&Axis; 2]) -> bool {
        let place =
            |row: &&[Expression]| [0, 1].map(|at| axes[at].position(&row[columns[at]].to_string()));
        let places: Vec<_> = self.played.iter().flatten().map(place).collect();
        let is_step = |from: Option<usize>, to: Option<usize>| {
            from.zip(to).is_some_and(|(from, to)| from.abs_diff(to) <= 1)
        };
        let jumps =
            |pair: &[[Option<usize>; 2]]| (0..2).any(|axis| !is_step(pair[0][axis], pair[1][axis]));
        self.played.iter().all(|facts| facts.len() <= 1) && places.windows(2).any(jumps)
    }
}

/// Finds the board of a game in the positions of a match; `None` if they show
/// none. The size of the board is that of the facts that the rulesheet's `base`
/// tells of, and of those in the positions: the more there are, the more of it is
/// known.
#[must_use]
pub fn find(game: &Game, positions: &[Vec<Expression>]) -> Option<Board> {
    find_by(&Orders::of(game), &domain(game), positions)
}

/// All facts that a position may have, by the rulesheet's `base`; none if it has
/// no such rules, or they are not worth the time.
fn domain(game: &Game) -> Vec<Expression> {
    // The initial position of this game is what `base` tells of.
    let mut forms = game.forms().to_vec();
    forms.extend(game.forms().iter().filter_map(initial));
    let rulesheet = Rulesheet::from_forms(game.name(), &forms, game.symbols().case());
    let Ok(rulesheet) = rulesheet else { return Vec::new() };
    let game = games::validate(&rulesheet, Leniency::Lenient).game;
    let guards = Guards { max_steps: MAX_STEPS, ..Guards::default() };
    let machine = game.map(|game| Prover::new(Arc::new(game), guards));
    let Some(Ok(mut machine)) = machine else { return Vec::new() };
    let state = machine.initial_state();
    state.map_or_else(|_| Vec::new(), |state| machine.facts(&state))
}

/// The rule for `init` that says what this one says of `base`.
fn initial(form: &Expression) -> Option<Expression> {
    let Expression::List(items) = form else { return None };
    let mut items = items.clone();
    match items.first()? {
        Expression::Atom(name) if name.eq_ignore_ascii_case("base") => {
            items[0] = Expression::atom("init");
        }
        Expression::Atom(name) if name == "<=" => {
            let head = items.get_mut(1)?;
            *head = initial(head)?;
        }
        _ => return None,
    }
    Some(Expression::List(items))
}

fn find_by(orders: &Orders, domain: &[Expression], positions: &[Vec<Expression>]) -> Option<Board> {
    let relations = relations(domain, positions);
    let found = relations.iter().filter_map(|(relation, rows)| {
        // A `base` that mixes letters and numbers tells nothing of the board.
        let best = best_layer(relation, rows, orders);
        let best = best.or_else(|| best_layer(relation, &rows.without_domain(), orders));
        let (layer, axes, n_cells) = best?;
        let has_pieces = [layer.n_arguments == 3, layer.n_arguments > 2];
        let n_pieces = rows.n_pieces(layer.columns);
        let alone = (rows.share_alone(layer.columns) * 100.0) as u32;
        Some(((has_pieces, n_cells, alone, Reverse(n_pieces)), layer, axes))
    });
    // One piece on each of many cells, and few kinds of pieces.
    let (_, main, axes) = found.max_by_key(|(rank, ..)| *rank)?;
    let mut layers = vec![main];
    if axes.iter().all(|axis| axis.is_ordered) {
        let main = (layers[0].name.as_str(), layers[0].n_arguments);
        let n_main = relations[&main].n_played();
        let further: Vec<Layer> = relations
            .iter()
            .filter(|(relation, _)| **relation != main)
            // With as many pieces it is a board of its own.
            .filter(|((_, n_arguments), rows)| *n_arguments == 2 || 2 * rows.n_played() < n_main)
            .filter_map(|(relation, rows)| further_layer(relation, rows, &axes))
            .collect();
        layers.extend(further);
    }
    let mut board = Board { layers, axes, marks: BTreeMap::new() };
    let mut pieces: BTreeMap<String, usize> = BTreeMap::new();
    let played = positions.iter().enumerate();
    let played = played.flat_map(|(at, facts)| facts.iter().map(move |fact| (at == 0, fact)));
    for (is_first, fact) in domain.iter().map(|fact| (false, fact)).chain(played) {
        if let Some(placed) = board.place(fact) {
            *pieces.entry(placed.piece).or_default() += usize::from(is_first);
        }
    }
    board.marks = marks::marks(&pieces);
    Some(board)
}

fn relations<'a>(
    domain: &'a [Expression],
    positions: &'a [Vec<Expression>],
) -> BTreeMap<Relation<'a>, Rows<'a>> {
    let mut relations: BTreeMap<_, Rows<'_>> = BTreeMap::new();
    let played = positions.iter().enumerate();
    let played = played.flat_map(|(at, facts)| facts.iter().map(move |fact| (Some(at), fact)));
    for (at, fact) in domain.iter().map(|fact| (None, fact)).chain(played) {
        if let Expression::List(items) = fact
            && let Some((Expression::Atom(name), arguments)) = items.split_first()
            && (2..=4).contains(&arguments.len())
        {
            let rows = relations.entry((name.as_str(), arguments.len())).or_default();
            match at {
                None => rows.domain.push(arguments),
                Some(at) => {
                    rows.played.resize(at + 1, Vec::new());
                    rows.played[at].push(arguments);
                }
            }
        }
    }
    relations.retain(|_, rows| rows.n_played() > 0);
    relations
}

/// The pairs of arguments that may be coordinates, the likeliest first.
fn pairs(n_arguments: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..n_arguments).flat_map(move |left| (left + 1..n_arguments).map(move |right| [left, right]))
}

/// The grid that a relation forms by itself, and the number of cells seen.
fn best_layer(
    &(name, n_arguments): &Relation<'_>,
    rows: &Rows<'_>,
    orders: &Orders,
) -> Option<(Layer, [Axis; 2], usize)> {
    let grids = pairs(n_arguments).filter_map(|columns| {
        let axes = columns.map(|column| Axis::new(&rows.values(column), orders));
        let [Some(right), Some(up)] = axes else { return None };
        let is_ordered = right.is_ordered && up.is_ordered;
        let n_cells = rows.n_cells(columns);
        let sides = [&right, &up].map(|axis| axis.values.len());
        let share = n_cells as f64 / (sides[0] * sides[1]) as f64;
        let is_grid = sides.iter().all(|side| SIDES.contains(side)) && n_cells > 2;
        let is_board = if n_arguments == 2 {
            let is_named = right.is_named && up.is_named;
            is_ordered
                && !is_named
                && sides.iter().all(|&side| side > 2)
                && !rows.is_counter(columns, [&right, &up])
        } else {
            (is_ordered || share >= MIN_SHARE)
                && rows.share_alone(columns) >= MIN_ALONE[n_arguments - 3]
        };
        // Letters are named first on a board, whatever the facts do.
        let is_turned = up.is_lettered && !right.is_lettered;
        let (columns, axes) = if is_turned {
            ([columns[1], columns[0]], [up, right])
        } else {
            (columns, [right, up])
        };
        let layer = Layer { name: name.to_owned(), n_arguments, columns };
        (is_grid && is_board).then_some((is_ordered, (layer, axes, n_cells)))
    });
    // The first pair whose order the rulesheet tells, or else the first.
    let mut first = None;
    for (is_ordered, grid) in grids {
        if is_ordered {
            return Some(grid);
        }
        first.get_or_insert(grid);
    }
    first
}

/// A relation over coordinates of the board's axes; `None` also if it is not
/// clear which of its arguments they are.
fn further_layer(
    &(name, n_arguments): &Relation<'_>,
    rows: &Rows<'_>,
    axes: &[Axis; 2],
) -> Option<Layer> {
    let lies_on = |column: usize, axis: &Axis| {
        rows.values(column).iter().all(|value| axis.position(value).is_some())
    };
    let on_board = |&[right, up]: &[usize; 2]| lies_on(right, &axes[0]) && lies_on(up, &axes[1]);
    let mut found = pairs(n_arguments)
        .filter_map(|[left, right]| [[left, right], [right, left]].into_iter().find(on_board));
    let columns = found.next()?;
    let layer = Layer { name: name.to_owned(), n_arguments, columns };
    found.next().is_none().then_some(layer)
}

impl Board {
    /// Names of the columns, from left to right.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.axes[0].values
    }

    /// Names of the rows, from the lowest upwards.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        &self.axes[1].values
    }

    /// The cell and the piece that a fact tells of; `None` if the board does not
    /// show it.
    #[must_use]
    pub fn place(&self, fact: &Expression) -> Option<Placed> {
        let Expression::List(items) = fact else { return None };
        let (Expression::Atom(name), arguments) = items.split_first()? else { return None };
        let is_shown = |layer: &&Layer| layer.name == *name && layer.n_arguments == arguments.len();
        let Layer { columns, .. } = self.layers.iter().find(is_shown)?;
        let at = |axis: usize| self.axes[axis].position(&arguments[columns[axis]].to_string());
        let (column, row) = (at(0)?, at(1)?);
        let rest = arguments.iter().enumerate().filter(|(at, _)| !columns.contains(at));
        let words: Vec<String> = rest.map(|(_, argument)| argument.to_string()).collect();
        let piece = if words.is_empty() { name.clone() } else { words.join(" ") };
        Some(Placed { column, row, piece })
    }

    /// What a piece is drawn as: a few letters, or `.` if it stands for none.
    #[must_use]
    pub fn mark<'a>(&'a self, piece: &'a str) -> &'a str {
        self.marks.get(piece).map_or(piece, String::as_str)
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
        for Placed { column, row, piece } in facts.iter().filter_map(|fact| self.place(fact)) {
            if !self.is_nothing(&piece) {
                cells[row][column].push(piece);
            }
        }
        cells
    }

    /// The board of a position in text, with the names of rows and columns.
    #[must_use]
    pub fn draw(&self, facts: &[Expression]) -> String {
        let cell_text = |pieces: Vec<String>| {
            let marks: Vec<&str> = pieces.iter().map(|piece| self.mark(piece)).collect();
            if marks.is_empty() { marks::NOTHING.to_owned() } else { marks.join("+") }
        };
        let words: Vec<Vec<String>> = self
            .cells(facts)
            .into_iter()
            .map(|row| row.into_iter().map(cell_text).collect())
            .collect();
        let length = |word: &String| word.chars().count();
        let width = words.iter().flatten().chain(self.columns()).map(length).max().unwrap_or(1);
        let margin = self.rows().iter().map(length).max().unwrap_or(1);
        let mut drawn = String::new();
        let mut line = |label: &str, row: &[String]| {
            let mut text = format!("{label:>margin$} ");
            for word in row {
                write!(text, " {word:<width$}").expect("a string takes all text");
            }
            drawn.push_str(text.trim_end());
            drawn.push('\n');
        };
        for (label, row) in self.rows().iter().zip(&words).rev() {
            line(label, row);
        }
        line("", self.columns());
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
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn facts(text: &str) -> Vec<Expression> {
        text.lines().map(|line| line.trim().parse().unwrap()).collect()
    }

    fn check(positions: &[&str], expected: Expect) {
        let positions: Vec<Vec<Expression>> = positions.iter().map(|text| facts(text)).collect();
        let board = find_by(&Orders::default(), &[], &positions).expect("a board");
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
                2  wp bk
                1  .  .
                   a  b
                bk black_king, wk white_king, wp white_pawn
            "#]],
        );
    }

    #[test]
    fn facts_without_two_coordinates_are_no_board() {
        for text in ["(control x)\n(step 1)", "(heap a 3)\n(heap b 5)", "(on a table)\n(on b a)"] {
            assert_eq!(find_by(&Orders::default(), &[], &[facts(text)]), None, "{text}");
        }
    }

    /// Positions of a match in which each role plays its first legal move.
    fn first_moves(game: &Arc<Game>) -> Vec<Vec<Expression>> {
        let mut machine = games::state_machine_for(Arc::clone(game), Guards::default()).unwrap();
        let mut state = machine.initial_state().unwrap();
        let mut positions = vec![machine.facts(&state)];
        while positions.len() < 20 && !machine.is_terminal(&state).unwrap() {
            let mut joint_move = Vec::new();
            for role in 0..game.roles().len() {
                let mut legal = Vec::new();
                let role = games::RoleId(u8::try_from(role).unwrap());
                machine.legal_moves(&state, role, &mut legal).unwrap();
                joint_move.push(legal[0]);
            }
            let mut next = games::State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            state = next;
            positions.push(machine.facts(&state));
        }
        positions
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
            ("eight_puzzle_seed", Some((3, 3))),
            ("hex", Some((7, 7))),
            ("maze", Some((4, 4))),
            ("othello", Some((8, 8))),
            ("tic_tac_toe", Some((3, 3))),
            ("tic_tac_toe_three_players", Some((4, 4))),
            ("tron", Some((8, 8))),
            ("kuhn_poker", None),
            ("monty_hall", None),
            ("nim", None),
            ("pig", None),
            ("rock_paper_scissors", None),
        ];
        for (name, expected) in cases {
            let game = crate::game_source::load(name, Default::default()).unwrap().game;
            let board = find(&game, &first_moves(&game));
            let found = board.map(|board| (board.columns().len(), board.rows().len()));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn relations_over_the_same_coordinates_share_the_board() {
        let text = "(role robot) (init (row 0)) (legal robot wait) (<= terminal (true (row 1)))
            (goal robot 0) (next (row 1))
            (after 1 2) (after 2 3) (after 3 4)";
        let validation = games::validate::read("x", text, games::Case::Folded, Leniency::Strict);
        let game = validation.game.unwrap();
        let positions = [facts(
            "(cell 1 1 floor)\n(cell 2 2 floor)\n(cell 4 3 rug)\n(cell 3 3 rug)\n(robot 2 3)\n(row 0)\n(score 1 9)",
        )];
        let board = find(&game, &positions).unwrap();
        let expected = expect![[r#"
            3  .  ro ru ru
            2  .  fl .  .
            1  fl .  .  .
               1  2  3  4
        "#]];
        expected.assert_eq(&board.draw(&positions[0]));
        let unseen: Vec<String> = positions[0]
            .iter()
            .filter(|fact| board.place(fact).is_none())
            .map(ToString::to_string)
            .collect();
        assert_eq!(unseen, ["(row 0)", "(score 1 9)"]);
    }
}
