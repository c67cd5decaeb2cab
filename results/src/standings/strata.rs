//! Rewards by player, game and clock, divided into blocks: what is drawn from.

use polars::prelude::{DataFrame, IntoLazy, PolarsError, col, len};

use super::frame::integers;
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
pub(super) fn cells(frame: &DataFrame) -> Result<Vec<Cell>, PolarsError> {
    let keys = ["player", "game", "clock", "block", "role"].map(col);
    let sums = frame
        .clone()
        .lazy()
        .group_by(keys)
        .agg([col("reward").sum().alias("sum"), len().alias("n")])
        .collect()?;
    let [player, game, clock, role, sum, n] =
        ["player", "game", "clock", "role", "sum", "n"].map(|name| integers(&sums, name));
    let block = sums.column("block")?.u64()?;
    let mut cells: Vec<Cell> = (player?.iter())
        .zip(game?.iter())
        .zip(clock?.iter())
        .zip(role?.iter())
        .zip(sum?.iter())
        .zip(n?.iter())
        .zip(block.into_no_null_iter())
        .map(|((((((&player, &game), &clock), &role), &sum), &n), block)| {
            let total = Total { sum: f64::from(sum), n: f64::from(n) };
            Cell { player, game, clock, block, role, total }
        })
        .collect();
    let key = |cell: &Cell| (cell.player, cell.game, cell.clock, cell.block, cell.role);
    cells.sort_unstable_by_key(key);
    Ok(cells)
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
