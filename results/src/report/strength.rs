//! What an evaluation says of strength beyond the standings, in rows: ratings, ranks,
//! pairs, seats and budgets, for JSON, CSV, text and Markdown alike.

use serde::Serialize;
use strum::IntoStaticStr;

use crate::calibration::CalibrationBin;
use crate::evaluation::{ALPHA_RANK, Evaluation, Rating, Worth};
use crate::standings::Pair;
use crate::sweep::{Sweep, SweptPlayer};

/// Everything, by name of the player.
#[derive(Debug, Serialize)]
pub(super) struct Strength<'a> {
    /// In the order of the standings; empty if ranks cannot be estimated.
    pub(super) ranks: Vec<RankRow>,
    /// By scale, then player.
    pub(super) ratings: Vec<RatingRow>,
    /// The player that a majority of games and budgets prefers to every other player.
    pub(super) condorcet_winner: Option<String>,
    /// In the order of the standings.
    pub(super) pairs: &'a [Pair],
    /// By game, budget and role; empty if effects cannot be estimated.
    pub(super) seats: Vec<SeatRow>,
    /// In the order of the standings; empty like the seats.
    pub(super) effects: Vec<EffectRow>,
    /// Why there are no effects.
    pub(super) no_effects: Option<String>,
    /// Strength by budget; empty if all had the same.
    pub(super) over_time: Vec<SweptPlayer>,
    /// By player, then value: what players expected of their moves, and what they got.
    pub(super) calibration: &'a [CalibrationBin],
}

/// How probable each rank is for a player.
#[derive(Debug, Serialize)]
pub(super) struct RankRow {
    pub(super) player: String,
    pub(super) mean_rank: f64,
    /// From the first rank on.
    pub(super) probabilities: Vec<f64>,
}

/// A player on one scale.
#[derive(Debug, Serialize)]
pub(super) struct RatingRow {
    pub(super) scale: Scale,
    pub(super) player: String,
    /// `None` for who was never compared with those that have one.
    pub(super) value: Option<f64>,
    /// 95 %, where the method has robust standard errors.
    pub(super) interval: Option<[f64; 2]>,
    /// Probability that the player is the first.
    pub(super) first: Option<f64>,
}

/// What players are rated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(super) enum Scale {
    BradleyTerry,
    PlackettLuce,
    Copeland,
    RankedPairs,
    MaximalLottery,
    Nash,
    NashShare,
    AlphaRank,
}

/// What a seat is worth.
#[derive(Debug, Serialize)]
pub(super) struct SeatRow {
    pub(super) game: String,
    pub(super) budget: String,
    pub(super) role: String,
    #[serde(flatten)]
    pub(super) worth: WorthRow,
}

/// What a player adds.
#[derive(Debug, Serialize)]
pub(super) struct EffectRow {
    pub(super) player: String,
    #[serde(flatten)]
    pub(super) worth: WorthRow,
    /// Probability that it adds most.
    pub(super) first: Option<f64>,
}

/// An effect.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct WorthRow {
    pub(super) points: f64,
    pub(super) standard_error: Option<f64>,
    pub(super) interval: Option<[f64; 2]>,
}

impl From<Worth> for WorthRow {
    fn from(worth: Worth) -> Self {
        let Worth { points, standard_error, interval } = worth;
        Self {
            points: rounded(points),
            standard_error: standard_error.map(rounded),
            interval: interval.map(|bounds| bounds.map(rounded)),
        }
    }
}

/// What alpha-rank is: the beginning of a sentence, without a capital letter.
pub(super) fn alpha_rank_meaning() -> String {
    format!(
        "in a population of {} that copies successful players (selection strength {}), the share \
         of time in which all play as this player",
        ALPHA_RANK.population, ALPHA_RANK.alpha
    )
}

/// Four decimals, as in the standings.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}

impl Scale {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// What the page calls it.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::BradleyTerry => "Elo",
            Self::PlackettLuce => "Elo by places",
            Self::Copeland => "Copeland",
            Self::RankedPairs => "ranked pairs",
            Self::MaximalLottery => "lottery",
            Self::Nash => "Nash",
            Self::NashShare => "Nash share",
            Self::AlphaRank => "alpha-rank",
        }
    }

    /// What its numbers are, in a sentence.
    pub(super) fn meaning(self) -> String {
        match self {
            Self::BradleyTerry => "Elo: Bradley-Terry, with one tied match added for each player; \
                                   the mean is 0, and 95 % intervals are from robust standard errors."
                .into(),
            Self::PlackettLuce => {
                "Elo by places: Plackett-Luce, the same for finishing orders.".into()
            }
            Self::Copeland => "Copeland: the number of players that this player beats in a majority \
                               of games and budgets; a tie counts half."
                .into(),
            Self::RankedPairs => "Ranked pairs: the rank by the clearest majorities.".into(),
            Self::MaximalLottery => {
                "Lottery: the player's probability in the maximal lottery, in percent.".into()
            }
            Self::Nash => "Nash: mean lead, in points, over opponents drawn from the Nash equilibrium \
                           between the players (of several, the one with the greatest entropy)."
                .into(),
            Self::NashShare => {
                "Nash share: the player's share in that equilibrium, in percent.".into()
            }
            Self::AlphaRank => {
                format!("Alpha-rank: {}, in percent.", alpha_rank_meaning())
            }
        }
    }

    /// Whether its values are shares of 1.
    pub(super) fn is_share(self) -> bool {
        matches!(self, Self::MaximalLottery | Self::NashShare | Self::AlphaRank)
    }
}

impl<'a> Strength<'a> {
    pub(super) fn of(evaluation: &'a Evaluation) -> Self {
        let names: Vec<&str> =
            evaluation.standings.players.iter().map(|row| row.player.as_str()).collect();
        let winner = evaluation.ratings.condorcet_winner;
        let effects = evaluation.effects.as_ref();
        Self {
            ranks: ranks(evaluation, &names),
            ratings: ratings(evaluation, &names),
            condorcet_winner: winner.map(|player| names[player].to_owned()),
            pairs: &evaluation.pairs,
            seats: effects.map_or(vec![], |effects| {
                let row = |seat: &crate::evaluation::SeatEffect| SeatRow {
                    game: seat.game.clone(),
                    budget: seat.clock.clone(),
                    role: seat.role.clone(),
                    worth: seat.effect.into(),
                };
                effects.seats.iter().map(row).collect()
            }),
            effects: effects.map_or(vec![], |effects| {
                let row = |(place, worth): (usize, &Option<Worth>)| {
                    Some(EffectRow {
                        player: names[place].to_owned(),
                        worth: (*worth)?.into(),
                        first: effects.first.as_ref().map(|first| first[place]),
                    })
                };
                effects.players.iter().enumerate().filter_map(row).collect()
            }),
            no_effects: effects.err().cloned(),
            over_time: Sweep::of(evaluation).players,
            calibration: &evaluation.calibration,
        }
    }
}

fn ranks(evaluation: &Evaluation, names: &[&str]) -> Vec<RankRow> {
    let Some(ranks) = &evaluation.ranks else { return vec![] };
    let rows = names.iter().zip(&ranks.mean_ranks).zip(&ranks.probabilities);
    let row = |((name, mean_rank), probabilities): ((&&str, &f64), &Vec<f64>)| RankRow {
        player: (*name).to_owned(),
        mean_rank: *mean_rank,
        probabilities: probabilities.clone(),
    };
    rows.map(row).collect()
}

fn ratings(evaluation: &Evaluation, names: &[&str]) -> Vec<RatingRow> {
    let ratings = &evaluation.ratings;
    let mut rows = vec![];
    let mut add = |scale, values: &[Option<f64>], rating: Option<&Rating>| {
        let decimals = values.iter().map(|&value| value.map(rounded));
        for (player, (value, name)) in decimals.zip(names).enumerate() {
            let intervals = rating.and_then(|rating| rating.intervals.as_ref());
            let first = rating.and_then(|rating| rating.first.as_ref());
            rows.push(RatingRow {
                scale,
                player: (*name).to_owned(),
                value,
                interval: intervals.and_then(|of| of[player]).map(|bounds| bounds.map(rounded)),
                first: first.map(|first| first[player]),
            });
        }
    };
    let places: Option<Vec<_>> = (ratings.ranked_pairs.as_ref())
        .map(|places| places.iter().map(|&place| Some(place as f64)).collect());
    let shares = (ratings.nash_shares.as_ref())
        .map(|shares| shares.iter().map(|&share| Some(share)).collect());
    for (scale, rating, values) in [
        (Scale::BradleyTerry, &ratings.bradley_terry, None),
        (Scale::PlackettLuce, &ratings.plackett_luce, None),
        (Scale::Copeland, &ratings.copeland, None),
        (Scale::RankedPairs, &None, places),
        (Scale::MaximalLottery, &ratings.maximal_lottery, None),
        (Scale::Nash, &ratings.nash, None),
        (Scale::NashShare, &None, shares),
        (Scale::AlphaRank, &ratings.alpha_rank, None),
    ] {
        let rating = rating.as_ref();
        if let Some(values) = values.as_ref().or(rating.map(|rating| &rating.values)) {
            add(scale, values, rating);
        }
    }
    rows
}
