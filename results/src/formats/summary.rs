//! Stages for the report: with names instead of numbers.

use serde::Serialize;

use super::knockout::{Decided, Tie, n_rounds};
use super::proceedings::{Proceedings, StageProceedings};
use super::standing::Standing;
use super::{Format, Stage};

/// One stage of a run, as `summary.json` has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageSummary {
    /// Which one, from 1.
    pub stage: u32,
    /// How many there are to be.
    pub n_stages: u32,
    /// What it is.
    pub rule: Stage,
    /// Rounds that are finished, further laps of level ties counted.
    pub n_rounds_finished: u32,
    /// The round that has begun but not finished; it does not count yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// All players of the stage, the best first.
    pub ranking: Vec<Placed>,
    /// The ties of a knockout, from the first round on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<TieSummary>,
}

impl StageSummary {
    /// Whether opponents were of different strength, because of what happened
    /// before.
    #[must_use]
    pub fn pairs_by_results(&self) -> bool {
        self.n_stages > 1
            || !matches!(self.rule.format, Format::RoundRobin | Format::Gauntlet { .. })
    }

    /// Whether a race dropped a player.
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        let is_dropped =
            |by: &PlacedBy| matches!(by, PlacedBy::Table { dropped_after_laps: Some(_), .. });
        self.ranking.iter().any(|placed| is_dropped(&placed.by))
    }
}

/// A round that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// The round, from 1.
    pub round: u32,
    /// Which further lap of it, 0 for none.
    pub extra: u32,
    /// Matches that are done.
    pub n_done: u64,
    /// All its matches.
    pub n_matches: u64,
}

/// A player's place in a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placed {
    /// From 1.
    pub place: u32,
    /// The player's id.
    pub player: String,
    /// What its place follows from.
    #[serde(flatten)]
    pub by: PlacedBy,
}

/// What a place follows from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PlacedBy {
    /// In a round robin or a gauntlet.
    Table {
        /// Mean reward, each game weighing the same.
        mean: Option<f64>,
        /// Blocks that count.
        n_blocks: u64,
        /// Laps after which it was dropped from a race.
        dropped_after_laps: Option<u32>,
    },
    /// In a swiss system.
    Swiss {
        /// Points.
        points: f64,
        /// Points by round.
        by_round: Vec<f64>,
        /// Points of all opponents.
        buchholz: f64,
        /// Mean over encounters of the own mean reward less the opponents'.
        margin: f64,
        /// Rounds in which it did not play.
        n_byes: u32,
    },
    /// In a knockout.
    Knockout {
        /// Its seed, from 1.
        seed: u32,
    },
    /// On a ladder.
    Ladder {
        /// Glicko-2 rating.
        rating: f64,
        /// Its deviation.
        deviation: f64,
        /// Blocks won.
        n_won: u32,
        /// Blocks drawn.
        n_drawn: u32,
        /// Blocks lost.
        n_lost: u32,
        /// Rounds in which it did not play.
        n_byes: u32,
    },
}

/// One tie of a knockout.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TieSummary {
    /// The round, from 1.
    pub round: u32,
    /// Its name: `final`, `semi-final`, `quarter-final`, `round 1`.
    pub name: String,
    /// Seeds from 1; none for a bye.
    pub seeds: [Option<u32>; 2],
    /// The players' ids; none for a bye.
    pub players: [Option<String>; 2],
    /// Mean rewards of the two: of the round, then of each further lap; none if
    /// no block counted.
    pub means: Vec<Option<[f64; 2]>>,
    /// The player that advances; none if it is not decided.
    pub winner: Option<String>,
    /// What decided.
    pub decided: Option<Decided>,
}

/// Summarises the stages that have begun.
#[must_use]
pub fn summaries(proceedings: &Proceedings) -> Vec<StageSummary> {
    let tell = |(stage, number): (&StageProceedings, u32)| {
        let name = |player: u32| proceedings.players[player as usize].clone();
        let (ranking, ties) = ranking(stage, &name);
        let ranking = ranking.into_iter().zip(1..);
        let ranking =
            ranking.map(|((player, by), place)| Placed { place, player: name(player), by });
        StageSummary {
            stage: number,
            n_stages: proceedings.n_stages,
            rule: stage.stage,
            n_rounds_finished: stage.n_finished,
            unfinished: stage.unfinished.map(|(record, n_done)| Unfinished {
                round: record.id.round,
                extra: record.id.extra,
                n_done,
                n_matches: record.n_matches,
            }),
            ranking: ranking.collect(),
            ties,
        }
    };
    proceedings.stages.iter().zip(1..).map(tell).collect()
}

fn ranking(
    stage: &StageProceedings,
    name: &dyn Fn(u32) -> String,
) -> (Vec<(u32, PlacedBy)>, Vec<TieSummary>) {
    let order = stage.standing.ranking(&stage.entrants);
    let (mut placed, mut ties) = (vec![], vec![]);
    for &player in &order {
        let by = match &stage.standing {
            Standing::Table(rows, dropped) => {
                let row = rows.iter().find(|row| row.player == player);
                let dropped = dropped.iter().find(|row| row.player == player);
                PlacedBy::Table {
                    mean: row.and_then(|row| row.mean),
                    n_blocks: row.map_or(0, |row| row.n_blocks),
                    dropped_after_laps: dropped.map(|row| row.laps),
                }
            }
            Standing::Swiss(rows) => {
                let Some(row) = rows.iter().find(|row| row.player == player) else { continue };
                PlacedBy::Swiss {
                    points: row.points(row.half_points),
                    by_round: row.by_round.iter().map(|&half| row.points(half)).collect(),
                    buchholz: row.points(row.buchholz),
                    margin: row.margin,
                    n_byes: row.n_byes,
                }
            }
            Standing::Knockout(_) => {
                let seed = stage.entrants.iter().position(|&other| other == player);
                PlacedBy::Knockout { seed: seed.map_or(0, |seed| seed as u32 + 1) }
            }
            Standing::Ladder(rows) => {
                let Some(row) = rows.iter().find(|row| row.player == player) else { continue };
                let [n_won, n_drawn, n_lost] = row.won;
                let (rating, deviation, n_byes) =
                    (row.glicko.rating, row.glicko.deviation, row.n_byes);
                PlacedBy::Ladder { rating, deviation, n_won, n_drawn, n_lost, n_byes }
            }
        };
        placed.push((player, by));
    }
    if let Standing::Knockout(bracket) = &stage.standing {
        let n_rounds = n_rounds(stage.entrants.len() as u32);
        for (round, number) in bracket.rounds.iter().zip(1..) {
            ties.extend(round.iter().map(|tie| told(tie, number, n_rounds, name)));
        }
    }
    (placed, ties)
}

fn told(tie: &Tie, round: u32, n_rounds: u32, name: &dyn Fn(u32) -> String) -> TieSummary {
    let names = ["final", "semi-final", "quarter-final"];
    let to_go = n_rounds.saturating_sub(round) as usize;
    TieSummary {
        round,
        name: names.get(to_go).map_or_else(|| format!("round {round}"), |&name| name.to_owned()),
        seeds: tie.seeds,
        players: tie.players.map(|player| player.map(name)),
        means: tie.means.clone(),
        winner: tie.winner.map(|(winner, _)| name(winner)),
        decided: tie.winner.map(|(_, decided)| decided),
    }
}

impl StageSummary {
    /// Rounds of the stage, at most.
    #[must_use]
    pub fn n_rounds(&self) -> u32 {
        match self.rule.format {
            Format::RoundRobin | Format::Gauntlet { .. } if self.rule.race.is_some() => {
                self.rule.laps
            }
            Format::RoundRobin | Format::Gauntlet { .. } => 1,
            Format::Swiss { rounds } | Format::Ladder { rounds } => rounds,
            Format::Knockout { .. } => n_rounds(self.ranking.len() as u32),
        }
    }
}
