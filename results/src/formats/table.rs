//! A table of means: how a round robin or a gauntlet stands.

use super::PlayedBlock;

/// How one player stands in a stage without pairings by result.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Number of the player.
    pub player: u32,
    /// Mean reward, each game weighing the same; `None` without a block that counts.
    pub mean: Option<f64>,
    /// Blocks that count.
    pub n_blocks: u64,
}

/// The table, best mean first, equals by seed, those without any last.
#[must_use]
pub fn table(entrants: &[u32], rounds: &[Vec<PlayedBlock>]) -> Vec<TableRow> {
    let n_strata = rounds.iter().flatten().map(|block| block.stratum + 1).max().unwrap_or(0);
    let mut rows: Vec<TableRow> = entrants
        .iter()
        .map(|&player| {
            let mut sums = vec![(0.0, 0u64); n_strata as usize];
            for block in rounds.iter().flatten() {
                let at = block.players.iter().position(|&other| other == player);
                if let (Some(at), Some(rewards)) = (at, &block.rewards) {
                    let (sum, n) = &mut sums[block.stratum as usize];
                    *sum += rewards[at];
                    *n += 1;
                }
            }
            let played = sums.iter().filter(|(_, n)| *n > 0);
            let means: Vec<f64> = played.map(|(sum, n)| sum / *n as f64).collect();
            let mean = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
            TableRow { player, mean, n_blocks: sums.iter().map(|(_, n)| n).sum() }
        })
        .collect();
    let micro = |mean: Option<f64>| mean.map(|mean| (mean * 1e6).round() as i64);
    rows.sort_by_key(|row| std::cmp::Reverse(micro(row.mean)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::block;

    #[test]
    fn the_best_mean_leads() {
        let other = PlayedBlock { stratum: 1, ..block(0, 1, [0.0, 100.0]) };
        let rounds = [
            vec![block(0, 1, [100.0, 0.0]), block(0, 1, [100.0, 0.0])],
            vec![other, block(2, 1, [90.0, 0.0])],
        ];
        let rows = table(&[0, 1, 2, 3], &rounds);
        let told: Vec<_> = rows.iter().map(|row| (row.player, row.mean, row.n_blocks)).collect();
        let expected = [(2, Some(90.0), 1), (0, Some(50.0), 3), (1, Some(50.0), 4), (3, None, 0)];
        assert_eq!(told, expected);
    }
}
