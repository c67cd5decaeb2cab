//! A ladder: ratings that follow from round to round.

use super::PlayedBlock;
use crate::stats::ladder::Glicko2;

/// How fast volatility changes; Glickman recommends 0.3 to 1.2.
const TAU: f64 = 0.5;

/// How one player stands on a ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderRow {
    /// Number of the player.
    pub player: u32,
    /// Glicko-2 rating with its deviation, 1500 and 350 in the beginning.
    pub glicko: Glicko2,
    /// Blocks in which it had the better, the same and the worse mean reward.
    pub won: [u32; 3],
    /// Rounds in which it did not play.
    pub n_byes: u32,
}

/// The ladder after these rounds, best rating first, equals by seed.
///
/// A round is a rating period, and a block one result of it: won, drawn or lost
/// by the better mean reward. A round without a block that counts is an empty
/// period and makes the rating less certain.
#[must_use]
pub fn ladder(entrants: &[u32], rounds: &[Vec<PlayedBlock>]) -> Vec<LadderRow> {
    let row =
        |&player: &u32| LadderRow { player, glicko: Glicko2::default(), won: [0; 3], n_byes: 0 };
    let rows: Vec<LadderRow> = entrants.iter().map(row).collect();
    let mut rows = rounds.iter().fold(rows, |rows, round| after(&rows, round));
    let seed = |player: u32| entrants.iter().position(|&other| other == player);
    rows.sort_by_key(|row| seed(row.player));
    rows.sort_by(|a, b| b.glicko.rating.total_cmp(&a.glicko.rating));
    rows
}

/// A ladder after one more round, in the same order.
#[must_use]
pub fn after(before: &[LadderRow], round: &[PlayedBlock]) -> Vec<LadderRow> {
    let mut rows = before.to_vec();
    rows.iter_mut().for_each(|row| after_round(row, before, round));
    rows
}

fn after_round(row: &mut LadderRow, before: &[LadderRow], round: &[PlayedBlock]) {
    let own = |block: &&PlayedBlock| block.players.contains(&row.player);
    row.n_byes += u32::from(!round.iter().any(|block| own(&block)));
    let mut results = vec![];
    for block in round.iter().filter(own) {
        let ([a, b], Some([mean_a, mean_b])) = (&block.players[..], block.rewards.as_deref())
        else {
            continue;
        };
        let (opponent, difference) =
            if *a == row.player { (b, mean_a - mean_b) } else { (a, mean_b - mean_a) };
        let won = (difference.abs() > super::LEVEL).then_some(difference > 0.0);
        row.won[match won {
            Some(true) => 0,
            None => 1,
            Some(false) => 2,
        }] += 1;
        let opponent = before.iter().find(|other| other.player == *opponent);
        results.extend(opponent.map(|opponent| (opponent.glicko, won)));
    }
    row.glicko = row.glicko.after(&results, TAU);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::block;

    #[test]
    fn who_wins_climbs_and_who_waits_grows_uncertain() {
        let rounds = [vec![block(0, 1, [0.0, 100.0]), block(2, 3, [50.0, 50.0])]];
        let rows = ladder(&[0, 1, 2, 3, 4], &rounds);
        let order: Vec<u32> = rows.iter().map(|row| row.player).collect();
        assert_eq!(order, [1, 2, 3, 4, 0]);
        assert_eq!((rows[0].won, rows[1].won, rows[4].won), ([1, 0, 0], [0, 1, 0], [0, 0, 1]));
        assert!((rows[0].glicko.rating + rows[4].glicko.rating - 3000.0).abs() < 1e-6);
        assert_eq!((rows[3].n_byes, rows[3].glicko.rating), (1, 1500.0));
        let [once, waited] = [1, 2].map(|n| {
            let rounds: Vec<_> = [rounds[0].clone(), vec![]].into_iter().take(n).collect();
            ladder(&[0, 1, 2, 3, 4], &rounds).remove(0)
        });
        assert!(once.glicko.deviation < 350.0 && waited.glicko.deviation > once.glicko.deviation);
    }

    #[test]
    fn ratings_are_those_of_a_period() {
        // Opponents of one round are rated as before it, whatever they did in it.
        let rounds = [vec![block(0, 1, [100.0, 0.0]), block(0, 1, [100.0, 0.0])]];
        let expected = Glicko2::default().after(&[(Glicko2::default(), Some(true)); 2], TAU).rating;
        assert_eq!(ladder(&[0, 1], &rounds)[0].glicko.rating, expected);
    }
}
