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
    /// Positions of the coordinates among the arguments, in the order of the axes.
    pub(super) columns: [usize; 2],
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
        let is_shown = |layer: &Layer| layer.name == *name && layer.n_arguments == arguments.len();
        let layer = self.layers.iter().position(is_shown)?;
        let columns = self.layers[layer].columns;
        let at = |axis: usize| self.axes[axis].position(&arguments[columns[axis]].to_string());
        let at = [at(0)?, at(1)?];
        let rest = arguments.iter().enumerate().filter(|(at, _)| !columns.contains(at));
        let words: Vec<String> = rest.map(|(_, argument)| argument.to_string()).collect();
        let piece = if words.is_empty() { name.clone() } else { words.join(" ") };
        Some(Located { layer, at, piece })
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
