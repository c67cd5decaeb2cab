//! Rewards by player, game and clock, divided into blocks: what is drawn from.

use crate::bootstrap::{Clusters, Total};
use crate::evidence::Evidence;

/// The rewards of a player in one role in the matches of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) player: u32,
    pub(super) game: u32,
    pub(super) clock: u32,
    pub(super) block: u64,
    pub(super) role: u32,
    pub(super) total: Total,
}

/// Sums of rewards, ordered by player, game, clock, block and role.
///
/// Sorted by hand: grouping a frame of two million seats by five columns took a
/// third of the time of a report.
pub(super) fn cells(evidence: &Evidence) -> Vec<Cell> {
    let seats = &evidence.seats;
    let mut rows: Vec<(u32, u32, u32, u64, u32, u32)> = (0..seats.player.len())
        .map(|row| {
            let (player, game, clock) = (seats.player[row], seats.game[row], seats.clock[row]);
            (player, game, clock, seats.block[row], seats.role[row], seats.reward[row])
        })
        .collect();
    rows.sort_unstable();
    let key = |row: &(u32, u32, u32, u64, u32, u32)| (row.0, row.1, row.2, row.3, row.4);
    let cell = |rows: &[(u32, u32, u32, u64, u32, u32)]| {
        let (player, game, clock, block, role, _) = rows[0];
        let sum = rows.iter().map(|row| f64::from(row.5)).sum();
        Cell { player, game, clock, block, role, total: Total { sum, n: rows.len() as f64 } }
    };
    rows.chunk_by(|a, b| key(a) == key(b)).map(cell).collect()
}

/// What one player did at one game under one clock.
#[derive(Clone, Debug)]
pub(super) struct Stratum {
    pub(super) game: u32,
    pub(super) clock: u32,
    /// The player's cells, by block, then role.
    pub(super) cells: Vec<Cell>,
}

/// The strata of each player, by game, then clock.
pub(super) fn strata(cells: &[Cell], evidence: &Evidence) -> Vec<Vec<Stratum>> {
    let mut strata = vec![vec![]; evidence.players.len()];
    for cells in cells.chunk_by(|a, b| (a.player, a.game, a.clock) == (b.player, b.game, b.clock)) {
        let Cell { player, game, clock, .. } = cells[0];
        strata[player as usize].push(Stratum { game, clock, cells: cells.to_vec() });
    }
    strata
}

impl Stratum {
    /// Rewards by block, of the cells that `wanted` accepts.
    pub(super) fn clusters(&self, wanted: impl Fn(&Cell) -> bool) -> Clusters {
        let mut clusters = Clusters::new(1);
        for cells in self.cells.chunk_by(|a, b| a.block == b.block) {
            let mut wanted = cells.iter().filter(|cell| wanted(cell)).peekable();
            if wanted.peek().is_some() {
                let block = &mut clusters.push()[0];
                wanted.for_each(|cell| block.add(cell.total));
            }
        }
        clusters
    }

    /// Rewards by block of this and another player's cells in the same stratum.
    pub(super) fn clusters_with(&self, other: &Self) -> Clusters {
        let mut clusters = Clusters::new(2);
        let mut cells: Vec<(u64, usize, Total)> = vec![];
        cells.extend(self.cells.iter().map(|cell| (cell.block, 0, cell.total)));
        cells.extend(other.cells.iter().map(|cell| (cell.block, 1, cell.total)));
        cells.sort_by_key(|(block, ..)| *block);
        for cells in cells.chunk_by(|a, b| a.0 == b.0) {
            let block = clusters.push();
            cells.iter().for_each(|(_, column, total)| block[*column].add(*total));
        }
        clusters
    }

    pub(super) fn n_blocks(&self) -> usize {
        self.cells.chunk_by(|a, b| a.block == b.block).count()
    }
}
