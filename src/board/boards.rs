//! The boards of one state.

use games::Expression;

use super::Board;

/// The boards of a game: mostly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boards(Vec<Board>);

impl Boards {
    /// Each board.
    pub fn iter(&self) -> impl Iterator<Item = &Board> {
        self.0.iter()
    }

    /// Whether pieces stand on places, and there are not only facts in rows or a tree.
    #[must_use]
    pub fn have_places(&self) -> bool {
        self.iter().any(|board| !board.is_table() && !board.is_tree())
    }

    /// Whether a board shows a fact.
    #[must_use]
    pub fn shows(&self, fact: &Expression) -> bool {
        self.iter().any(|board| board.shows(fact))
    }
}

impl From<Board> for Boards {
    fn from(board: Board) -> Self {
        Self(vec![board])
    }
}

impl FromIterator<Board> for Boards {
    fn from_iter<B: IntoIterator<Item = Board>>(boards: B) -> Self {
        Self(boards.into_iter().collect())
    }
}
