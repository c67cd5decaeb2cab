//! Ratings for live ladders, updated match by match, by `skillratings`.
//!
//! They follow strength that changes, depend on the order of matches, and know
//! nothing of blocks: for a finished tournament
//! [`bradley_terry`](crate::stats::bradley_terry) and
//! [`plackett_luce`](crate::stats::plackett_luce) say more.

use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2_rating_period};

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

#[cfg(test)]
mod tests {
    use super::*;

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
