//! Boards: whether the facts of a game form a grid, and the grid drawn in text.
//!
//! A grid is a relation with two ordered coordinates and a piece, found from the
//! facts and the rulesheet: `(cell 1 2 x)`, or `(pawn a 4)` where the rulesheet
//! orders the letters and the numbers. Other relations over the same coordinates
//! are drawn on the same board. `clues` finds how it lies on the page, and `walls` where no way
//! leads from a cell to the one beside it.
//!
//! `towers`, `track` and `owners` recognise what is no single grid of squares: things piled
//! up, men counted on the points of a track, and a grid for each role. Where there is no grid
//! at all, `blocks` finds things that stand on each other, and `table` what can be listed in rows:
//! counts, hands, tiles and codes. If nothing else can be drawn, `tree` draws the states of a small
//! game and the moves between them.

mod axis;
mod blocks;
mod boards;
mod clues;
mod codes;
mod counts;
mod directions;
mod finder;
mod grid;
mod hands;
mod hexagons;
mod lattice;
mod looks;
mod marks;
mod naming;
mod orientation;
mod owners;
mod relations;
mod show;
mod state_graph;
mod statics;
mod table;
mod text;
mod tiles;
mod towers;
mod track;
mod tree;
mod tree_picture;
mod trial;
mod walls;
mod way_text;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use games::{Expression, Game};

use axis::{Axis, Orders};
use blocks::Blocks;
use clues::Clues;
use grid::{Grid, Layer, Located};
use orientation::Orientation;
use owners::Owned;
use state_graph::StateGraph;
use table::FactTable;
use track::Track;
use tree::GameTree;
use walls::Walls;

pub use boards::Boards;
pub use looks::{Look, Side};
pub use table::Shown;
pub use tree_picture::{NodeKind, TreeNode, TreePicture};

/// A grid and what stands on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Whose it is, where each role has one.
    title: Option<String>,
    /// Its axes go to the right and upwards.
    grid: Grid,
    form: Form,
    /// Where something may stand, as columns and rows; `None` if that may be anywhere.
    places: Option<BTreeSet<[usize; 2]>>,
    walls: Walls,
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
    /// Dots in every second row and column, and lines between them.
    Lattice,
    /// Places on which things are piled up. The grid's rows are the things, the
    /// largest lowest; these are the names of the heights.
    Towers(Vec<String>),
    /// Points on which men are piled up. The grid's rows are their numbers; these are the
    /// names of the heights.
    Piles(Vec<String>),
    /// A row for each role, with its number of men at each place.
    Counts,
    /// Things upon each other.
    Blocks(Blocks),
    /// Facts in rows.
    Table(FactTable),
    /// The states of the game. The grid has a single cell.
    Tree(GameTree),
}

/// Finds the boards of a game in the positions of a match, the first of which is the
/// initial one; `None` if they show none. The size of a board is that of the
/// facts that the rulesheet's `base` lists, and of those in the positions: the
/// more there are, the more of it is known.
#[must_use]
pub fn find(game: &Game, positions: &[Vec<Expression>]) -> Option<Boards> {
    let orders = Orders::of(game);
    let domain = finder::domain(game);
    let mut relations = relations::relations(&domain, positions);
    let more = OnceCell::new();
    let more = || -> &[Vec<Expression>] { more.get_or_init(|| trial::positions(game)) };
    let mut grid = finder::grid(&orders, &relations);
    if let Some(layer) = grid.as_ref().filter(|grid| is_clock(grid, positions, &more)) {
        let Layer { name, n_arguments, .. } = &layer.layers[0];
        relations.retain(|relation, _| *relation != (name.as_str(), *n_arguments));
        grid = finder::grid(&orders, &relations);
    }
    let common = grid.as_ref().map(|grid| &grid.layers[0]);
    let is_common = |(name, n_arguments): relations::Relation<'_>| {
        common.is_none_or(|layer| layer.name == name && layer.n_arguments == n_arguments)
    };
    let is_player = |role: &games::RoleId| Some(*role) != game.random();
    let roles: Vec<String> =
        game.role_ids().filter(is_player).map(|role| game.role_name(role).to_owned()).collect();
    for (&relation, rows) in relations.iter().filter(|(relation, _)| is_common(**relation)) {
        if track::is_likely(relation, rows, &roles, &orders) {
            let all: Vec<Vec<Expression>> = positions.iter().chain(more()).cloned().collect();
            let relations = relations::relations(&domain, &all);
            if let Some(track) = track::track(relation, &relations, &roles, &orders) {
                return Some(Board::of_track(track, &roles));
            }
        }
    }
    let owned = Owned::find(game, &roles, &orders, &relations, &is_common, &more);
    let Some(grid) = owned.as_ref().map(|owned| owned.grid.clone()).or(grid) else {
        // First without random play, which may take long; with it, matches of a game look alike as
        // a rule.
        if without_grid(&orders, &domain, positions, &roles).is_none() {
            return of_states(game, &orders, &domain, positions, &roles);
        }
        let all: Vec<Vec<Expression>> = positions.iter().chain(more()).cloned().collect();
        return without_grid(&orders, &domain, &all, &roles);
    };
    if let Some(grid) = towers::towers(&grid, &orders, positions) {
        return Some(Boards::from(Board::of_towers(grid)));
    }
    let names: Vec<String> = game.role_ids().map(|role| game.role_name(role).to_owned()).collect();
    let mut board = Board::on(grid, &domain, positions, &names);
    let rows = statics::rows(game);
    let orientation = Clues { game, board: &board, positions, rows: &rows }.orientation();
    if let Some(slant) = hexagons::slant(&board.grid, &rows) {
        let [right, up] = orientation.on_page([1, slant]);
        board.form = Form::Hexagons(right * up);
    }
    let mut board = board.turned(orientation);
    board.places = places(&board.grid, &domain, positions);
    if board.form == Form::Squares && board.is_full() {
        board.walls = Walls::find(&board.grid, orientation, &rows, &statics::allowing(game));
        let is_nothing = |piece: &str| board.is_nothing(piece);
        let found = lattice::find(&board.grid, &domain, positions, &is_nothing);
        if let Some(drawn) = found.filter(|_| owned.is_none()) {
            let mut others = pieces(&[&board.grid], &domain, positions);
            others.retain(|piece, _| !drawn.contains(piece));
            board.marks = marks::marks(&others);
            board.marks.extend(drawn.into_iter().zip(lattice::MARKS.map(str::to_owned)));
            board.form = Form::Lattice;
        }
    }
    Some(match owned {
        Some(owned) => board.split(&owned, &domain, positions, &roles),
        None => Boards::from(board),
    })
}

/// Whether what seems to be a single thing on a grid are the digits of a clock. A match may be too
/// short to show it, so that it takes `more` positions of random play.
fn is_clock<'m>(
    grid: &Grid,
    positions: &[Vec<Expression>],
    more: &dyn Fn() -> &'m [Vec<Expression>],
) -> bool {
    let Layer { name, n_arguments: 2, columns: [Some(first), Some(second)], .. } = &grid.layers[0]
    else {
        return false;
    };
    let is_of = |fact: &&Expression| grid.locate(fact).is_some_and(|located| located.layer == 0);
    if positions.iter().any(|facts| facts.iter().filter(is_of).count() > 1) {
        return false;
    }
    let relations = relations::relations(&[], more());
    let axes = [&grid.axes[0], &grid.axes[1]];
    relations.get(&(name.as_str(), 2)).is_some_and(|rows| rows.is_clock([*first, *second], axes))
}

/// What can be drawn of facts that form no grid.
fn without_grid(
    orders: &Orders,
    domain: &[Expression],
    positions: &[Vec<Expression>],
    roles: &[String],
) -> Option<Boards> {
    let mut relations = relations::relations_of(1..=4, domain, positions);
    for rows in relations.values_mut() {
        rows.played.resize(positions.len(), vec![]);
    }
    if let Some(blocks) = Blocks::find(&relations) {
        return Some(Boards::from(Board::of_blocks(blocks)));
    }
    let mut tables = table::tables(&relations, roles, orders);
    if tables.is_empty() {
        let mut relations = relations::relations_of(codes::THINGS, domain, positions);
        for rows in relations.values_mut() {
            rows.played.resize(positions.len(), vec![]);
        }
        tables.extend(table::codes(&relations));
    }
    let show_enough = table::show_enough(&tables, positions);
    show_enough.then(|| tables.into_iter().map(Board::of_table).collect())
}

/// What can be drawn of a game that has a few states only.
fn of_states(
    game: &Game,
    orders: &Orders,
    domain: &[Expression],
    positions: &[Vec<Expression>],
    roles: &[String],
) -> Option<Boards> {
    let graph = StateGraph::find(game, positions)?;
    // A match may not show what all states do: such as two lamps that are on at once.
    let found = without_grid(orders, domain, &graph.facts(), roles);
    found.or_else(|| Some(Boards::from(Board::of_tree(GameTree::new(game, &graph)?))))
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
        let pieces = pieces(&[&grid], domain, positions);
        let (marks, looks) = (marks::marks(&pieces), looks::looks(&pieces, roles));
        let (form, walls) = (Form::Squares, Walls::default());
        Self { title: None, grid, form, places: None, walls, marks, looks }
    }

    /// A board for each owner.
    fn split(
        self,
        owned: &Owned,
        domain: &[Expression],
        positions: &[Vec<Expression>],
        roles: &[String],
    ) -> Boards {
        let grids = owned.boards(&self.grid, roles);
        let pieces = pieces(&grids.iter().collect::<Vec<_>>(), domain, positions);
        let marks = marks::marks_of_boards(&pieces, &owned.crossed());
        let board = |(grid, role): (Grid, &String)| {
            let mut looks = looks::looks(&pieces, roles);
            for layer in &grid.layers {
                if let Some((_, owner)) = &layer.owner
                    && let Some(role) = roles.iter().position(|role| role == owner)
                    && let Some(look) = looks.get_mut(&layer.name)
                {
                    look.side = Some(looks::side_of_role(owner, role));
                }
            }
            Self { title: Some(role.clone()), grid, marks: marks.clone(), looks, ..self.clone() }
        };
        Boards::from_iter(grids.into_iter().zip(roles).map(board))
    }

    /// The men on the points of a track, and a board of those beside it.
    fn of_track(Track { grid, n_high, beside }: Track, roles: &[String]) -> Boards {
        let heights = (1..=n_high).map(|height| height.to_string()).collect();
        let men: BTreeMap<String, usize> = roles.iter().map(|role| (role.clone(), 1)).collect();
        let looks = roles.iter().enumerate().map(|(at, role)| {
            let side = Some(looks::side_of_role(role, at));
            (role.clone(), Look { side, ..Look::default() })
        });
        let looks: BTreeMap<String, Look> = looks.collect();
        let points = Self {
            title: None,
            grid,
            form: Form::Piles(heights),
            places: None,
            walls: Walls::default(),
            marks: marks::marks(&men),
            looks,
        };
        let beside = beside.map(|grid| {
            let looks = points.looks.clone();
            let (form, marks) = (Form::Counts, BTreeMap::new());
            Self { title: None, grid, form, places: None, walls: Walls::default(), marks, looks }
        });
        Boards::from_iter([points].into_iter().chain(beside))
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
        let (title, form, walls) = (None, Form::Towers(heights), Walls::default());
        Self { title, grid, form, places: None, walls, marks, looks }
    }

    /// Towers of things.
    fn of_blocks(blocks: Blocks) -> Self {
        let things = &blocks.things;
        let heights = (1..=things.len()).map(|height| height.to_string()).collect();
        let axes = [Axis::named(blocks.places()), Axis::named(heights)];
        let size = u8::try_from(things.len()).ok().map(|n| (n, n));
        let look = Look { size, ..Look::default() };
        let looks = things.iter().map(|thing| (thing.clone(), look)).collect();
        Self { looks, ..Self::bare(axes, Form::Blocks(blocks)) }
    }

    fn of_table(table: FactTable) -> Self {
        let upwards = table.rows.iter().rev().cloned().collect();
        let axes = [Axis::named(table.columns.clone()), Axis::named(upwards)];
        Self::bare(axes, Form::Table(table))
    }

    fn of_tree(tree: GameTree) -> Self {
        let axes = [Axis::named(vec![String::new()]), Axis::named(vec![String::new()])];
        Self::bare(axes, Form::Tree(tree))
    }

    /// A board without anything on its grid.
    fn bare(axes: [Axis; 2], form: Form) -> Self {
        let grid = Grid { layers: vec![], axes };
        let (marks, looks, walls) = (BTreeMap::new(), BTreeMap::new(), Walls::default());
        Self { title: None, grid, form, places: None, walls, marks, looks }
    }

    fn turned(self, orientation: Orientation) -> Self {
        Self { grid: self.grid.turned(orientation), ..self }
    }

    /// Whose board it is, where each role has one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
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
            Form::Towers(heights) | Form::Piles(heights) => heights,
            _ => &self.grid.axes[1].values,
        }
    }

    /// By how many halves of a cell each row is shifted to the right against the one
    /// above it: 0, or 1 or -1 on a board of hexagons.
    #[must_use]
    pub fn shift(&self) -> i32 {
        match self.form {
            Form::Hexagons(shift) => shift,
            _ => 0,
        }
    }

    /// Whether anything may stand on a cell, by its place among [`Board::columns`] and
    /// [`Board::rows`]. Not all boards fill their grid.
    #[must_use]
    pub fn is_place(&self, column: usize, row: usize) -> bool {
        self.places.as_ref().is_none_or(|places| places.contains(&[column, row]))
    }

    /// Whether something may stand on every cell.
    fn is_full(&self) -> bool {
        let [n_columns, n_rows] = [0, 1].map(|axis| self.grid.axes[axis].values.len());
        self.places.as_ref().is_none_or(|places| places.len() == n_columns * n_rows)
    }

    /// Whether there are walls between cells.
    #[must_use]
    pub fn has_walls(&self) -> bool {
        !self.walls.is_empty()
    }

    /// Whether there is a wall to the right of a cell: also at the edge of a board that has walls.
    #[must_use]
    pub fn has_wall_right(&self, column: usize, row: usize) -> bool {
        let is_edge = column + 1 == self.columns().len();
        (self.has_walls() && is_edge) || self.walls.is_right_of([column, row])
    }

    /// The same of the upper side of a cell.
    #[must_use]
    pub fn has_wall_above(&self, column: usize, row: usize) -> bool {
        let is_edge = row + 1 == self.rows().len();
        (self.has_walls() && is_edge) || self.walls.is_above([column, row])
    }

    /// Whether the board shows a fact.
    #[must_use]
    pub fn shows(&self, fact: &Expression) -> bool {
        match &self.form {
            Form::Blocks(blocks) => blocks.shows(fact),
            Form::Table(table) => table.shows(fact),
            Form::Tree(tree) => tree.shows(fact),
            _ => self.grid.locate(fact).is_some(),
        }
    }

    /// Whether it has dots in every second row and column, and lines between them.
    #[must_use]
    pub fn is_lattice(&self) -> bool {
        self.form == Form::Lattice
    }

    /// Whether it is a table of facts, and no place on which pieces stand.
    #[must_use]
    pub fn is_table(&self) -> bool {
        matches!(self.form, Form::Table(_))
    }

    /// Whether it is a tree of states, and no place on which pieces stand.
    #[must_use]
    pub fn is_tree(&self) -> bool {
        matches!(self.form, Form::Tree(_))
    }

    /// How that is shown which [`Board::cells`] has on a cell.
    #[must_use]
    pub fn shown(&self, column: usize, row: usize, pieces: &[String]) -> Shown {
        if let Form::Table(table) = &self.form {
            return table.shown(table.rows.len() - 1 - row, column, pieces);
        }
        if let Form::Tree(tree) = &self.form {
            return Shown::Tree(tree.picture(pieces));
        }
        let marks: Vec<&str> = pieces.iter().map(|piece| self.mark(piece)).collect();
        if marks.is_empty() { Shown::Nothing } else { Shown::Text(marks.join("+")) }
    }

    /// What a piece is drawn as: a few letters, or `.` if it stands for none.
    #[must_use]
    pub fn mark<'a>(&'a self, piece: &'a str) -> &'a str {
        if self.form == Form::Counts {
            // The row says whose they are.
            return piece.rsplit(' ').next().unwrap_or(piece);
        }
        self.marks.get(piece).map_or(piece, String::as_str)
    }

    /// The owner and the kind of a piece.
    #[must_use]
    pub fn look(&self, piece: &str) -> Look {
        let piece = match self.form {
            Form::Counts => piece.split(' ').next().unwrap_or(piece),
            _ => piece,
        };
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
        let name = |row: usize| self.grid.axes[1].values[row].clone();
        match self.form {
            Form::Towers(_) => {
                located.sort_by_key(|located| located.at[1]);
                for Located { at: [column, thing], .. } in located {
                    pile(&mut cells, column, name(thing));
                }
            }
            Form::Piles(_) => {
                for Located { at: [column, number], piece, .. } in located {
                    for _ in 0..name(number).parse().unwrap_or(0) {
                        pile(&mut cells, column, piece.clone());
                    }
                }
            }
            Form::Counts => {
                for Located { at: [column, row], piece, .. } in located {
                    if piece != "0" {
                        cells[row][column].push(format!("{} {piece}", name(row)));
                    }
                }
            }
            Form::Blocks(ref blocks) => return blocks.cells(facts),
            Form::Table(ref table) => return table.cells(facts).into_iter().rev().collect(),
            Form::Tree(ref tree) => return vec![vec![tree.own_facts(facts)]],
            Form::Squares | Form::Hexagons(_) | Form::Lattice => {
                for Located { at: [column, row], piece, .. } in located {
                    if !self.is_nothing(&piece) {
                        cells[row][column].push(piece);
                    }
                }
            }
        }
        cells
    }
}

/// Puts a thing upon those in a column; if that is full, beside the highest.
fn pile(cells: &mut [Vec<Vec<String>>], column: usize, thing: String) {
    let free = cells.iter().position(|row| row[column].is_empty());
    if let Some(row) = free.or_else(|| cells.len().checked_sub(1)) {
        cells[row][column].push(thing);
    }
}

/// The pieces on grids, each with its number in the first position.
fn pieces(
    grids: &[&Grid],
    domain: &[Expression],
    positions: &[Vec<Expression>],
) -> BTreeMap<String, usize> {
    let mut pieces: BTreeMap<String, usize> = BTreeMap::new();
    let played = positions.iter().enumerate();
    let played = played.flat_map(|(at, facts)| facts.iter().map(move |fact| (at == 0, fact)));
    for (is_first, fact) in domain.iter().map(|fact| (false, fact)).chain(played) {
        for located in grids.iter().filter_map(|grid| grid.locate(fact)) {
            *pieces.entry(located.piece).or_default() += usize::from(is_first);
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
