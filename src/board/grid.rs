//! A grid as it was found: the relations over it and its two axes.

use games::Expression;

use super::axis::Axis;
use super::orientation::Orientation;

/// Relations over two common coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// The first is the board itself; others add to it.
    pub(super) layers: Vec<Layer>,
    /// The values of the coordinates. As found they are in the order of the first
    /// layer's arguments; once turned, they go to the right and upwards.
    pub(super) axes: [Axis; 2],
}

/// A relation drawn on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) name: String,
    pub(super) n_arguments: usize,
    /// Positions of the coordinates among the arguments, in the order of the axes;
    /// `None` if the coordinate is the relation's name.
    pub(super) columns: [Option<usize>; 2],
    /// Position and value of the argument that tells the boards of several owners apart.
    pub(super) owner: Option<(usize, String)>,
}

impl Layer {
    pub(super) fn new(name: &str, n_arguments: usize, columns: [usize; 2]) -> Self {
        Self { name: name.to_owned(), n_arguments, columns: columns.map(Some), owner: None }
    }

    /// Whether a fact of this name and these arguments is one of the layer.
    fn has(&self, name: &str, arguments: &[Expression]) -> bool {
        self.name == name
            && self.n_arguments == arguments.len()
            && self.owner.as_ref().is_none_or(
                |(at, owner)| matches!(&arguments[*at], Expression::Atom(name) if name == owner),
            )
    }
}

/// What a fact says of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Located {
    /// Index among the layers.
    pub(super) layer: usize,
    /// Places on the axes.
    pub(super) at: [usize; 2],
    /// What is there: the other arguments, or the relation's name if there are none.
    pub(super) piece: String,
}

impl Grid {
    /// The cell and the piece that a fact is about; `None` if it is not about the grid.
    pub(super) fn locate(&self, fact: &Expression) -> Option<Located> {
        let Expression::List(items) = fact else { return None };
        let (Expression::Atom(name), arguments) = items.split_first()? else { return None };
        let index = self.layers.iter().position(|layer| layer.has(name, arguments))?;
        let layer = &self.layers[index];
        let at = |axis: usize| match layer.columns[axis] {
            Some(column) => self.axes[axis].position(&arguments[column].to_string()),
            None => self.axes[axis].position(name),
        };
        let at = [at(0)?, at(1)?];
        let is_piece = |column: usize| {
            !layer.columns.contains(&Some(column))
                && layer.owner.as_ref().is_none_or(|(owner, _)| *owner != column)
        };
        let rest = arguments.iter().enumerate().filter(|&(column, _)| is_piece(column));
        let words: Vec<String> = rest.map(|(_, argument)| argument.to_string()).collect();
        let piece = if words.is_empty() { name.clone() } else { words.join(" ") };
        Some(Located { layer: index, at, piece })
    }

    /// The grid with axes that go to the right and upwards.
    pub(super) fn turned(mut self, orientation: Orientation) -> Self {
        if orientation.is_first_vertical {
            self.axes.swap(0, 1);
            for layer in &mut self.layers {
                layer.columns.swap(0, 1);
            }
        }
        if orientation.grows_left {
            self.axes[0].values.reverse();
        }
        if orientation.grows_down {
            self.axes[1].values.reverse();
        }
        self
    }
}
