//! Rewards by player, game and clock, divided into blocks: what is drawn from.

use crate::evidence::Evidence;
use crate::stats::bootstrap::{Clusters, Total};
use crate::tally::group_of;

/// The rewards of a player in one role in the matches of a block, or of a group of
/// blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) block: u64,
    pub(super) role: u32,
    pub(super) total: Total,
}

/// What one player did at one game under one clock.
#[derive(Clone, Debug)]
pub(super) struct Stratum {
    pub(super) player: u32,
    pub(super) game: u32,
    pub(super) clock: u32,
    /// Blocks in which the player was scored.
    pub(super) n_blocks: u64,
    /// By role that it had: blocks.
    pub(super) n_blocks_by_role: Vec<(u32, u64)>,
    /// By block, then role.
    cells: Vec<Cell>,
    /// Whether the blocks of the cells are groups.
    merged: bool,
}

/// The strata of each player, by game, then clock.
pub(super) fn strata(evidence: &Evidence) -> Vec<Vec<Stratum>> {
    let mut strata = vec![vec![]; evidence.players.len()];
    for (&(player, game, clock), found) in &evidence.tally.strata {
        let cells = found.blocks.totals.iter().flat_map(|(&block, totals)| {
            totals.iter().map(move |&(role, total)| Cell { block, role, total })
        });
        strata[player as usize].push(Stratum {
            player,
            game,
            clock,
            n_blocks: found.blocks.n,
            n_blocks_by_role: found.n_blocks_by_role.clone(),
            cells: cells.collect(),
            merged: found.blocks.merged,
        });
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
        let merged = self.merged || other.merged;
        let mut cells: Vec<(u64, usize, Total)> = vec![];
        for (column, stratum) in [self, other].into_iter().enumerate() {
            let block = |cell: &Cell| match merged && !stratum.merged {
                true => group_of(cell.block),
                false => cell.block,
            };
            cells.extend(stratum.cells.iter().map(|cell| (block(cell), column, cell.total)));
        }
        cells.sort_by_key(|(block, ..)| *block);
        for cells in cells.chunk_by(|a, b| a.0 == b.0) {
            let block = clusters.push();
            cells.iter().for_each(|(_, column, total)| block[*column].add(*total));
        }
        clusters
    }
}
