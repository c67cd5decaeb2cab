//! What the rules call the coordinates: `?row`, `(column ?c)`, `x1`.

use std::collections::BTreeMap;

use games::{Expression, Game};

use super::axis::Axis;
use super::grid::{Grid, Layer};
use super::orientation::{Scores, scores};

/// What a name says a coordinate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Row,
    Column,
    /// A column, where the other coordinate is `y`.
    X,
    /// A row, counted from the bottom, as in a diagram.
    Y,
    /// A row of a chessboard, counted from the bottom.
    Rank,
}

/// How often each axis is called what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// By axis: as a row, as a column.
    votes: [[u32; 2]; 2],
    /// Names of rows that are counted from the bottom, and of all others.
    upward: [u32; 2],
}

impl Names {
    /// The names of the grid's coordinates in the rules of a game.
    pub(super) fn of(game: &Game, grid: &Grid) -> Self {
        let mut names = Self::default();
        for form in game.forms().iter() {
            let mut variables = BTreeMap::new();
            each_list(form, &mut |items| coordinates(items, &grid.layers, &mut variables));
            for (&(name, axis), &n) in &variables {
                names.count(axis, named(&name[1..]), n);
            }
            each_list(form, &mut |items| {
                if let [Expression::Atom(sort), Expression::Atom(variable)] = items {
                    for axis in [0, 1] {
                        if variables.contains_key(&(variable.as_str(), axis)) {
                            names.count(axis, named(sort), 1);
                        }
                    }
                }
            });
        }
        for (at, axis) in grid.axes.iter().enumerate() {
            if let Some(stem) = stem(axis) {
                names.count(at, named(stem), 100);
            }
        }
        names
    }

    fn count(&mut self, axis: usize, named: Option<Named>, n: u32) {
        let Some(named) = named else { return };
        let is_column = matches!(named, Named::Column | Named::X);
        self.votes[axis][usize::from(is_column)] += n;
        let is_other = !matches!(named, Named::X | Named::Y | Named::Rank);
        self.upward[usize::from(is_other)] += n;
    }

    /// Which coordinate is the row by these names.
    pub(super) fn scores(&self) -> Scores {
        scores(|orientation| {
            let vertical = orientation.vertical();
            self.votes[vertical][0] + self.votes[1 - vertical][1]
        })
    }

    /// Whether rows are counted from the bottom by these names.
    pub(super) fn vertical_scores(&self) -> Scores {
        let is_upward = self.upward[0] > self.upward[1];
        scores(|orientation| u32::from(is_upward && !orientation.grows_down))
    }
}

/// The variables in places of coordinates, by axis.
fn coordinates<'a>(
    items: &'a [Expression],
    layers: &[Layer],
    found: &mut BTreeMap<(&'a str, usize), u32>,
) {
    let Some((Expression::Atom(name), arguments)) = items.split_first() else { return };
    let is_layer = |layer: &&Layer| layer.name == *name && layer.n_arguments == arguments.len();
    let Some(layer) = layers.iter().find(is_layer) else { return };
    for (axis, &column) in layer.columns.iter().enumerate() {
        if let Some(column) = column
            && let Expression::Atom(variable) = &arguments[column]
            && variable.starts_with('?')
        {
            *found.entry((variable, axis)).or_default() += 1;
        }
    }
}

fn each_list<'a>(form: &'a Expression, visit: &mut dyn FnMut(&'a [Expression])) {
    let mut open = vec![form];
    while let Some(form) = open.pop() {
        if let Expression::List(items) = form {
            visit(items);
            open.extend(items);
        }
    }
}

/// What all names of an axis begin with.
fn stem(axis: &Axis) -> Option<&str> {
    let first = axis.values.first()?;
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_common = axis.values.iter().all(|value| {
        value.strip_prefix(stem).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
    });
    (!stem.is_empty() && stem.len() < first.len() && is_common).then_some(stem)
}

fn named(name: &str) -> Option<Named> {
    let name: String = name.chars().map(|c| c.to_ascii_lowercase()).collect();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || "_-'+".contains(c));
    Some(match name {
        "r" | "row" | "rows" => Named::Row,
        "c" | "col" | "cols" | "column" | "columns" | "file" => Named::Column,
        "x" | "xx" | "xcoord" | "xcoordinate" | "xpos" | "posx" | "x_coord" => Named::X,
        "y" | "yy" | "ycoord" | "ycoordinate" | "ypos" | "posy" | "y_coord" => Named::Y,
        "rank" => Named::Rank,
        _ => {
            let mut words = name.split(['_', '-']);
            let whole = |word: &str| ["row", "col", "column", "file", "rank"].contains(&word);
            let word = words.find(|word| whole(word))?;
            return named(word);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_coordinates_are_understood() {
        for (name, expected) in [
            ("r", Some(Named::Row)),
            ("row2", Some(Named::Row)),
            ("new_row", Some(Named::Row)),
            ("Col", Some(Named::Column)),
            ("file", Some(Named::Column)),
            ("rank", Some(Named::Rank)),
            ("x1", Some(Named::X)),
            ("y", Some(Named::Y)),
            ("colour", None),
            ("arrow", None),
            ("m", None),
            ("", None),
        ] {
            assert_eq!(named(name), expected, "{name}");
        }
    }
}
