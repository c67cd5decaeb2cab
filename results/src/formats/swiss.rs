//! A swiss system: points of encounters, and how ties are broken.

use super::{Encounter, PlayedBlock, encounters};

/// One player's row in the table of a swiss stage.
#[derive(Clone, Debug, PartialEq)]
pub struct SwissRow {
    /// Number of the player.
    pub player: u32,
    /// Half points: in each encounter 2 for each player beaten and 1 for each player with
    /// an equal reward, so a point is 2 for each opponent of a match. A bye is worth one
    /// point.
    pub half_points: u32,
    /// Half points in one point.
    pub whole: u32,
    /// Buchholz: the half points of all opponents together. A bye adds nothing.
    pub buchholz: u32,
    /// Own mean reward minus the others', averaged over encounters, points; 0 without
    /// encounters.
    pub margin: f64,
    /// Rounds in which it did not play.
    pub n_byes: u32,
    /// Its opponents, in order.
    pub opponents: Vec<u32>,
    /// Half points by round.
    pub by_round: Vec<u32>,
}

/// The table after these rounds, best first: by points, then Buchholz, then
/// margin, then seed. `n_seats` is the number of players of a match.
#[must_use]
pub fn table(entrants: &[u32], n_seats: u32, rounds: &[Vec<PlayedBlock>]) -> Vec<SwissRow> {
    let rounds: Vec<Vec<Encounter>> = rounds.iter().map(|round| encounters(round)).collect();
    let mut rows: Vec<SwissRow> =
        entrants.iter().map(|&player| row(player, n_seats, &rounds)).collect();
    for index in 0..rows.len() {
        let points = |opponent: &u32| {
            rows.iter().find(|row| row.player == *opponent).map_or(0, |row| row.half_points)
        };
        rows[index].buchholz = rows[index].opponents.iter().map(points).sum();
    }
    // A stable sort: ties stay in the order of seeds.
    rows.sort_by_key(|row| {
        let micro = (row.margin * 1e6).round() as i64;
        std::cmp::Reverse((row.half_points, row.buchholz, micro))
    });
    rows
}

impl SwissRow {
    /// Half points as points.
    #[must_use]
    pub fn points(&self, half_points: u32) -> f64 {
        f64::from(half_points) / f64::from(self.whole)
    }
}

fn row(player: u32, n_seats: u32, rounds: &[Vec<Encounter>]) -> SwissRow {
    let mut row = SwissRow {
        player,
        half_points: 0,
        whole: 2 * (n_seats - 1),
        buchholz: 0,
        margin: 0.0,
        n_byes: 0,
        opponents: vec![],
        by_round: vec![],
    };
    let mut margins = vec![];
    for round in rounds {
        let own = round.iter().find(|encounter| encounter.players.contains(&player));
        let half_points = match own {
            Some(encounter) => {
                margins.extend(encounter.margin(player));
                row.opponents.extend(encounter.players.iter().filter(|&&other| other != player));
                encounter.half_points(player)
            }
            None => {
                row.n_byes += 1;
                row.whole
            }
        };
        row.half_points += half_points;
        row.by_round.push(half_points);
    }
    row.margin = margins.iter().sum::<f64>() / (margins.len().max(1)) as f64;
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::block;

    #[test]
    fn points_then_buchholz_then_margin_then_seed() {
        // Five players, so that one has a bye in each round.
        let rounds = [
            vec![block(0, 1, [100.0, 0.0]), block(2, 3, [50.0, 50.0])],
            vec![block(0, 4, [60.0, 40.0]), block(1, 2, [100.0, 0.0])],
        ];
        let rows = table(&[0, 1, 2, 3, 4], 2, &rounds);
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.player, row.half_points, row.buchholz, row.margin, row.n_byes))
            .collect();
        assert_eq!(
            told,
            [
                (0, 4, 4, 60.0, 0),
                (3, 3, 1, 0.0, 1),
                (1, 2, 5, 0.0, 0),
                (4, 2, 4, -20.0, 1),
                (2, 1, 5, -50.0, 0),
            ]
        );
        assert_eq!(rows[0].by_round, [2, 2]);
        assert_eq!(rows[1].opponents, [2]);
    }

    #[test]
    fn the_seed_decides_when_nothing_else_does() {
        let rounds = [vec![block(3, 1, [50.0, 50.0]), block(0, 2, [50.0, 50.0])]];
        let order = |entrants: &[u32]| -> Vec<u32> {
            table(entrants, 2, &rounds).iter().map(|row| row.player).collect()
        };
        assert_eq!(order(&[3, 1, 0, 2]), [3, 1, 0, 2]);
        assert_eq!(order(&[0, 1, 2, 3]), [0, 1, 2, 3]);
    }
}
