//! How a grid lies on the page: which coordinate goes across, and which way both
//! of them grow.
//!
//! There are eight ways. The clues that tell which it is are in [`super::clues`].

/// How the two coordinates of a grid lie on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation {
    /// The first coordinate is the row; else it is the column.
    pub(super) is_first_vertical: bool,
    /// The column with the first name is the one on the right.
    pub(super) grows_left: bool,
    /// The row with the first name is the one at the top.
    pub(super) grows_down: bool,
}

/// What a clue is worth to each orientation of [`Orientation::ALL`].
pub(super) type Scores = [u32; 8];

impl Orientation {
    /// All there are, the more usual first: without a clue, it is the first.
    pub(super) const ALL: [Self; 8] = [
        Self::new(true, false, true),
        Self::new(false, false, true),
        Self::new(true, false, false),
        Self::new(false, false, false),
        Self::new(true, true, true),
        Self::new(false, true, true),
        Self::new(true, true, false),
        Self::new(false, true, false),
    ];

    const fn new(is_first_vertical: bool, grows_left: bool, grows_down: bool) -> Self {
        Self { is_first_vertical, grows_left, grows_down }
    }

    /// A way in the grid as a way on the page: to the right, and upwards.
    pub(super) fn on_page(self, [first, second]: [i32; 2]) -> [i32; 2] {
        let [x, y] = if self.is_first_vertical { [second, first] } else { [first, second] };
        [if self.grows_left { -x } else { x }, if self.grows_down { -y } else { y }]
    }

    /// Which axis goes upwards or downwards.
    pub(super) fn vertical(self) -> usize {
        usize::from(!self.is_first_vertical)
    }
}

/// Scores of all orientations by a rule.
pub(super) fn scores(worth: impl Fn(Orientation) -> u32) -> Scores {
    Orientation::ALL.map(worth)
}

/// Scores by ways in the grid and the ways on the page that the rules call them.
pub(super) fn by_ways(ways: &[Way]) -> Scores {
    scores(|orientation| {
        let fits = |way: &&Way| orientation.on_page(way.in_grid).map(i32::signum) == way.on_page;
        u32::try_from(ways.iter().filter(fits).count()).unwrap_or(u32::MAX)
    })
}

/// A step from cell to cell, and what the rules call its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Along the axes.
    pub(super) in_grid: [i32; 2],
    /// To the right and upwards, -1, 0 or 1 each.
    pub(super) on_page: [i32; 2],
}

/// The orientation that the first clue prefers; where that leaves several, the one
/// of these that the next prefers, and so on. A clue is looked for only while
/// there is something to decide.
pub(super) fn decide(clues: &[&dyn Fn() -> Scores]) -> Orientation {
    let mut left: Vec<usize> = (0..Orientation::ALL.len()).collect();
    for clue in clues {
        if left.len() == 1 {
            break;
        }
        let scores = clue();
        let best = left.iter().map(|&at| scores[at]).max().unwrap_or(0);
        left.retain(|&at| scores[at] == best);
    }
    Orientation::ALL[left[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_clue_the_first_coordinate_is_the_row_from_the_top() {
        let orientation = decide(&[]);
        assert_eq!(orientation.on_page([1, 0]), [0, -1]);
        assert_eq!(orientation.on_page([0, 1]), [1, 0]);
    }

    #[test]
    fn every_orientation_is_told_by_two_ways() {
        for orientation in Orientation::ALL {
            let ways = [[1, 0], [0, 1]]
                .map(|in_grid| Way { in_grid, on_page: orientation.on_page(in_grid) });
            assert_eq!(decide(&[&|| by_ways(&ways)]), orientation);
        }
    }

    #[test]
    fn later_clues_decide_what_earlier_ones_leave_open() {
        let east = [Way { in_grid: [1, 0], on_page: [1, 0] }];
        let up = || scores(|orientation| u32::from(!orientation.grows_down));
        let orientation = decide(&[&|| by_ways(&east), &up]);
        assert_eq!(orientation.on_page([1, 0]), [1, 0]);
        assert_eq!(orientation.on_page([0, 1]), [0, 1]);
        let decided = decide(&[&up, &|| by_ways(&east), &|| [0; 8]]);
        assert_eq!(decided, orientation);
    }
}
