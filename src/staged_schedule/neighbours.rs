//! The pairings of the next round of a ladder.
//!
//! From the top each player meets a near neighbour: the one for whom the
//! distance on the ladder and the number of earlier meetings are least together,
//! so that neighbours meet, but not always the same ones. If one player must
//! wait, it is the lowest of those that waited least often.

use results::formats::ladder::LadderRow;

/// The pairs of the next round, the highest first. `n_met` says how often two
/// have met.
pub(super) fn pair(ladder: &[LadderRow], n_met: impl Fn(u32, u32) -> u32) -> Vec<Vec<u32>> {
    let mut left: Vec<&LadderRow> = ladder.iter().collect();
    if !left.len().is_multiple_of(2) {
        let fewest = left.iter().map(|row| row.n_byes).min();
        let last = left.iter().rposition(|row| Some(row.n_byes) == fewest);
        left.remove(last.expect("somebody waited least often"));
    }
    let mut pairs = vec![];
    while !left.is_empty() {
        let first = left.remove(0).player;
        let cost =
            |&index: &usize| (index as u64 + u64::from(n_met(first, left[index].player)), index);
        let index = (0..left.len()).min_by_key(cost).expect("their number is even");
        pairs.push(vec![first, left.remove(index).player]);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use results::formats::ladder::ladder;

    use super::*;

    #[test]
    fn neighbours_meet_and_not_always_the_same() {
        let rows = ladder(&[0, 1, 2, 3, 4], &[]);
        assert_eq!(pair(&rows, |_, _| 0), [[0, 1], [2, 3]]);
        assert_eq!(pair(&rows[..4], |a, b| u32::from(a / 2 == b / 2) * 2), [[0, 2], [1, 3]]);
        let waited = ladder(&[0, 1, 2, 3, 4], &[vec![]]);
        assert_eq!(pair(&waited, |_, _| 0), [[0, 1], [2, 3]]);
    }
}
