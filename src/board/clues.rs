//! Clues to how a grid lies on the page.
//!
//! GDL does not say it. These clues are asked in turn, and each decides only what
//! those before it left open:
//!
//! 1. relations of the rules between two cells and a direction, such as
//!    `(step north ?c ?r ?d ?s)`;
//! 2. where pieces go by moves that name a direction, seen in random play;
//! 3. gravity: pieces dropped into a column come to lie upon each other;
//! 4. names of coordinates: `?row`, `(column ?c)`, `?x` and `?y`;
//! 5. letters name columns, and the numbers beside them rows from the bottom;
//! 6. `?y` and `?rank` count from the bottom;
//! 7. who moves first sits at the bottom, if the two sides face each other;
//! 8. nothing: the first coordinate is the row, counted from the top, and the second
//!    the column, counted from the left, as matrices are written.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use games::{Expression, Game};

use super::directions::Directions;
use super::naming::Names;
use super::orientation::{Orientation, Scores, Way, by_ways, decide, scores};
use super::trial::{Trial, first_mover};
use super::{Board, hexagons};

/// A board as it was found, and all that may tell how it lies.
pub(super) struct Clues<'a> {
    pub(super) game: &'a Game,
    pub(super) board: &'a Board,
    /// The initial one first.
    pub(super) positions: &'a [Vec<Expression>],
    /// Relations between cells, by [`super::statics::rows`].
    pub(super) rows: &'a BTreeMap<String, Vec<Vec<String>>>,
}

impl Clues<'_> {
    /// How the grid lies.
    pub(super) fn orientation(&self) -> Orientation {
        let names = Names::of(self.game, &self.board.grid);
        let trial = OnceCell::new();
        let is_nothing = |piece: &str| self.board.is_nothing(piece);
        let tried = || trial.get_or_init(|| Trial::of(self.game, &self.board.grid, &is_nothing));
        decide(&[
            &|| by_ways(&self.stated_ways()),
            &|| by_ways(&tried().ways),
            &|| tried().gravity(),
            &|| names.scores(),
            &|| self.letters(),
            &|| names.vertical_scores(),
            &|| self.sides(),
        ])
    }

    /// The ways between two cells that the rules call by a direction: of rows that
    /// hold the coordinates of two cells, a direction, and perhaps one word more.
    fn stated_ways(&self) -> Vec<Way> {
        let directions = Directions::of(self.game);
        let rows = self.rows.values().flatten();
        rows.filter_map(|row| self.stated_way(row, &directions)).collect()
    }

    fn stated_way(&self, row: &[String], directions: &Directions) -> Option<Way> {
        let mut named = row.iter().enumerate().filter_map(|(at, word)| {
            let is_place = self.board.grid.axes.iter().any(|axis| axis.position(word).is_some());
            (!is_place).then_some(())?;
            Some((at, directions.of_name(word)?))
        });
        let (at, on_page) = named.next()?;
        if named.next().is_some() {
            return None;
        }
        let mut places: Vec<String> = row.to_vec();
        places.remove(at);
        if places.len() == 5 {
            let is_place = |word: &String| {
                self.board.grid.axes.iter().any(|axis| axis.position(word).is_some())
            };
            places.retain(is_place);
        }
        let in_grid = hexagons::step(&self.board.grid, &places)?;
        Some(Way { in_grid, on_page })
    }

    /// Letters go across and numbers upwards, where there are both.
    fn letters(&self) -> Scores {
        let is_lettered = [0, 1].map(|at| {
            let axis = &self.board.grid.axes[at];
            axis.is_lettered && !axis.is_named
        });
        let [first, second] = is_lettered;
        scores(|orientation| {
            let is_across = is_lettered[1 - orientation.vertical()];
            let fits = first != second && is_across && !orientation.grows_down;
            u32::from(fits)
        })
    }

    /// The side that moves first is at the bottom, if one faces the other.
    fn sides(&self) -> Scores {
        let faced = self.faced();
        scores(|orientation| u32::from(faced.is_some_and(|way| orientation.on_page(way)[1] > 0)))
    }

    /// The way in the grid from the side that moves first to all others.
    fn faced(&self) -> Option<[i32; 2]> {
        let mover = first_mover(self.game)?;
        let name = self.game.role_name(mover);
        let own = super::looks::side_of_role(name, usize::from(mover.0));
        let mut ranges: [Option<[[usize; 2]; 2]>; 2] = [None, None];
        for located in self.positions.first()?.iter().filter_map(|f| self.board.grid.locate(f)) {
            let Some(side) = self.board.look(&located.piece).side else { continue };
            let range = &mut ranges[usize::from(side != own)];
            let [first, second] = located.at;
            let [firsts, seconds] = range.get_or_insert([[first; 2], [second; 2]]);
            for (range, at) in [(firsts, first), (seconds, second)] {
                *range = [range[0].min(at), range[1].max(at)];
            }
        }
        let [Some(own), Some(others)] = ranges else { return None };
        let way = [0, 1].map(|axis| {
            let is_before = own[axis][1] < others[axis][0];
            let is_after = own[axis][0] > others[axis][1];
            i32::from(is_before) - i32::from(is_after)
        });
        // Across and along at once is no way to face each other.
        (way.iter().filter(|&&part| part != 0).count() == 1).then_some(way)
    }
}
