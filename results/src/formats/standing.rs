//! The standings of a stage of any format.

use super::knockout::{Bracket, bracket};
use super::ladder::{LadderRow, ladder};
use super::race::{Dropped, Race};
use super::swiss::{SwissRow, table as swiss_table};
use super::table::{TableRow, table};
use super::{Format, PlayedBlock, Stage};

/// A stage after some of its rounds.
#[derive(Clone, Debug)]
pub enum Standing {
    /// A round robin or a gauntlet: means, and who was dropped in a race.
    Table(Vec<TableRow>, Vec<Dropped>),
    /// A swiss system, best first.
    Swiss(Vec<SwissRow>),
    /// A knockout.
    Knockout(Bracket),
    /// A ladder, best first.
    Ladder(Vec<LadderRow>),
}

/// The standing of `stage` after these rounds. `entrants` are its players, best
/// seed first.
#[must_use]
pub fn standing(stage: &Stage, entrants: &[u32], rounds: &[Vec<PlayedBlock>]) -> Standing {
    match stage.format {
        Format::RoundRobin | Format::Gauntlet { .. } => {
            let mut race = runners_race(stage, entrants);
            if let Some(race) = &mut race {
                rounds.iter().for_each(|lap| race.add_lap(lap));
            }
            let dropped = race.map_or(vec![], |race| race.dropped().to_vec());
            Standing::Table(table(entrants, rounds), dropped)
        }
        Format::Swiss { .. } => {
            let first = rounds.iter().flatten().next();
            let n_seats = first.map_or(2, |block| block.players.len() as u32);
            Standing::Swiss(swiss_table(entrants, n_seats, rounds))
        }
        Format::Knockout { extra_laps } => {
            Standing::Knockout(bracket(entrants, extra_laps, rounds))
        }
        Format::Ladder { .. } => Standing::Ladder(ladder(entrants, rounds)),
    }
}

/// The race of a stage before its first lap, if it has one. Those who challenge
/// the others in a gauntlet do not run.
#[must_use]
pub fn runners_race(stage: &Stage, entrants: &[u32]) -> Option<Race> {
    let runners = match stage.format {
        Format::Gauntlet { challengers } => &entrants[(challengers as usize).min(entrants.len())..],
        _ => entrants,
    };
    Some(Race::new(runners, stage.race?))
}

impl Standing {
    /// All entrants, best first.
    #[must_use]
    pub fn ranking(&self, entrants: &[u32]) -> Vec<u32> {
        match self {
            Self::Table(rows, dropped) => {
                let place = |player: u32| dropped.iter().position(|row| row.player == player);
                let mut ranking: Vec<u32> = rows.iter().map(|row| row.player).collect();
                // Stable: those who were not dropped come first, by their means.
                ranking
                    .sort_by_key(|&player| std::cmp::Reverse(place(player).unwrap_or(usize::MAX)));
                ranking
            }
            Self::Swiss(rows) => rows.iter().map(|row| row.player).collect(),
            Self::Knockout(bracket) => bracket.ranking(entrants),
            Self::Ladder(rows) => rows.iter().map(|row| row.player).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::RaceRule;
    use crate::formats::tests::block;

    #[test]
    fn who_was_dropped_ranks_behind_however_good_its_mean() {
        let stage = Stage { race: Some(RaceRule::default()), ..Stage::round_robin(50) };
        let lap = || {
            vec![block(0, 1, [100.0, 0.0]), block(0, 2, [100.0, 0.0]), block(1, 2, [60.0, 40.0])]
        };
        let rounds: Vec<_> = std::iter::repeat_with(lap).take(50).collect();
        let standing = standing(&stage, &[2, 1, 0], &rounds);
        let Standing::Table(_, dropped) = &standing else { panic!("a table") };
        assert_eq!(dropped.len(), 2);
        assert_eq!(standing.ranking(&[2, 1, 0])[0], 0);
        let ranking = Standing::Table(
            table(&[0, 1, 2], &rounds),
            vec![Dropped { player: 0, laps: 3, better: vec![1] }],
        )
        .ranking(&[0, 1, 2]);
        assert_eq!(ranking, [1, 2, 0]);
    }

    #[test]
    fn challengers_do_not_run() {
        let format = Format::Gauntlet { challengers: 1 };
        let stage = Stage { format, race: Some(RaceRule::default()), ..Stage::round_robin(1) };
        assert_eq!(runners_race(&stage, &[4, 2, 3]).unwrap().running, [2, 3]);
        assert!(runners_race(&Stage::round_robin(1), &[0, 1]).is_none());
    }
}
