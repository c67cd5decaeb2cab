//! Ratings for live ladders, updated match by match, by `skillratings`.
//!
//! They follow strength that changes, depend on the order of matches, and know
//! nothing of blocks: for a finished tournament
//! [`bradley_terry`](crate::stats::bradley_terry) and
//! [`plackett_luce`](crate::stats::plackett_luce) say more.

use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2_rating_period};
use skillratings::trueskill::{TrueSkillConfig, TrueSkillRating, trueskill_multi_team};
use skillratings::{MultiTeamOutcome, Outcomes};

/// A rating and how uncertain it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glicko2 {
    /// Rating, 1500 for a new player.
    pub rating: f64,
    /// Rating deviation, 350 for a new player.
    pub deviation: f64,
    /// Volatility, 0.06 for a new player.
    pub volatility: f64,
}

impl Default for Glicko2 {
    fn default() -> Self {
        Self { rating: 1500.0, deviation: 350.0, volatility: 0.06 }
    }
}

impl Glicko2 {
    /// The rating after a period of matches against opponents rated as before
    /// the period: won, drawn or lost (`Some(true)`, `None`, `Some(false)`). An
    /// empty period raises the deviation, up to that of a new player. `tau`, from 0.3 to 1.2, says how fast
    /// volatility changes (M. Glickman, "Example of the Glicko-2 system", 2013).
    #[must_use]
    pub fn after(self, results: &[(Self, Option<bool>)], tau: f64) -> Self {
        let config = Glicko2Config { tau, convergence_tolerance: 1e-9 };
        let outcome = |won: Option<bool>| match won {
            Some(true) => Outcomes::WIN,
            None => Outcomes::DRAW,
            Some(false) => Outcomes::LOSS,
        };
        let results: Vec<(Glicko2Rating, Outcomes)> =
            results.iter().map(|&(opponent, won)| (opponent.rating(), outcome(won))).collect();
        let Glicko2Rating { rating, deviation, volatility } =
            glicko2_rating_period(&self.rating(), &results, &config);
        // Nobody is less sure of a player than of a new one.
        let deviation = deviation.min(Self::default().deviation.max(self.deviation));
        Self { rating, deviation, volatility }
    }

    fn rating(self) -> Glicko2Rating {
        let Self { rating, deviation, volatility } = self;
        Glicko2Rating { rating, deviation, volatility }
    }
}

/// A rating for matches of any number of players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueSkill {
    /// Mean, 25 for a new player.
    pub mean: f64,
    /// Standard deviation, 25/3 for a new player.
    pub deviation: f64,
}

impl Default for TrueSkill {
    fn default() -> Self {
        Self { mean: 25.0, deviation: 25.0 / 3.0 }
    }
}

/// How a match is expected to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueSkillModel {
    /// Probability that two even players share a place.
    pub draw_probability: f64,
    /// Standard deviation of a player's performance.
    pub beta: f64,
    /// Standard deviation of the change of skill from match to match.
    pub dynamics: f64,
}

impl Default for TrueSkillModel {
    fn default() -> Self {
        Self { draw_probability: 0.1, beta: 25.0 / 6.0, dynamics: 25.0 / 300.0 }
    }
}

impl TrueSkillModel {
    /// The ratings after a match of players with these rewards, everyone for
    /// itself; equal rewards share a place (R. Herbrich, T. Minka & T. Graepel,
    /// "TrueSkill: a Bayesian skill rating system", 2006). A match of fewer than
    /// two says nothing of their skill, which may have changed all the same.
    #[must_use]
    pub fn after(&self, players: &[(TrueSkill, u8)]) -> Vec<TrueSkill> {
        if players.len() < 2 {
            let changed = |&(skill, _): &(TrueSkill, u8)| TrueSkill {
                deviation: skill.deviation.hypot(self.dynamics),
                ..skill
            };
            return players.iter().map(changed).collect();
        }
        let Self { draw_probability, beta, dynamics } = *self;
        let mut config = TrueSkillConfig::new();
        config.draw_probability = draw_probability;
        config.beta = beta;
        config.dynamics_factor = dynamics;
        let teams: Vec<[TrueSkillRating; 1]> = (players.iter())
            .map(|(skill, _)| {
                [TrueSkillRating { rating: skill.mean, uncertainty: skill.deviation }]
            })
            .collect();
        let place = |reward: u8| 1 + players.iter().filter(|(_, other)| *other > reward).count();
        let ranked: Vec<(&[TrueSkillRating], MultiTeamOutcome)> = (teams.iter().zip(players))
            .map(|(team, (_, reward))| (&team[..], MultiTeamOutcome::new(place(*reward))))
            .collect();
        let rated =
            trueskill_multi_team(&ranked, &config, None).expect("no weights, no wrong ones");
        let skill = |team: Vec<TrueSkillRating>| TrueSkill {
            mean: team[0].rating,
            deviation: team[0].uncertainty,
        };
        rated.into_iter().map(skill).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_winner_gains_what_the_loser_loses() {
        let rated = TrueSkillModel::default()
            .after(&[(TrueSkill::default(), 0), (TrueSkill::default(), 100)]);
        assert!(rated[1].mean > 25.0);
        assert!((rated[0].mean + rated[1].mean - 50.0).abs() < 1e-9);
        assert!(rated[0].deviation < 25.0 / 3.0);
    }

    #[test]
    fn a_match_of_one_tells_nothing_of_its_skill() {
        let model = TrueSkillModel::default();
        assert_eq!(model.after(&[]), []);
        let alone = model.after(&[(TrueSkill::default(), 100)]);
        assert_eq!(alone[0].mean, 25.0);
        assert!(alone[0].deviation > 25.0 / 3.0 && alone[0].deviation < 8.34);
    }

    #[test]
    fn nobody_is_less_sure_of_a_player_than_of_a_new_one() {
        let mut idle = Glicko2 { volatility: 0.3, ..Glicko2::default() };
        for _ in 0..1000 {
            idle = idle.after(&[], 0.5);
        }
        assert_eq!(idle.deviation, 350.0);
        let far = Glicko2 { rating: 9000.0, ..Glicko2::default() };
        let lost = Glicko2::default().after(&[(far, Some(false)); 3], 0.5);
        assert!(lost.deviation <= 350.0 && lost.rating.is_finite(), "{lost:?}");
    }

    #[test]
    fn without_matches_one_is_less_sure() {
        let idle = Glicko2 { deviation: 100.0, ..Glicko2::default() }.after(&[], 0.5);
        assert!(idle.deviation > 100.0 && idle.rating == 1500.0);
    }
}
