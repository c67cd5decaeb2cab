//! The SPRT in the BayesElo model, as cutechess and early fishtest have it.
//!
//! R. Coulom's BayesElo gives wins and losses by a logistic curve each, shifted
//! by *drawelo*, which is taken from the sample; what is left are draws. The
//! scale depends on the share of draws, for which reason normalized Elo has
//! replaced it: here to compare with older tools.

use std::f64::consts::LN_10;

/// Results of games between two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinsLossesDraws {
    /// Won by the first player.
    pub wins: u64,
    /// Lost by it.
    pub losses: u64,
    /// Drawn.
    pub draws: u64,
}

/// Logarithms of the probabilities of a win, a loss and a draw: they may be
/// smaller than any number.
fn ln_probabilities(elo: f64, drawelo: f64) -> [f64; 3] {
    let [x, d] = [elo, drawelo].map(|elo| elo * LN_10 / 400.0);
    // A draw is what is left: s(d - x) s(d + x) (1 - exp(-2d)), s the logistic curve.
    let draw = ln_logistic(d - x) + ln_logistic(d + x) + (-(-2.0 * d).exp_m1()).ln();
    [ln_logistic(x - d), ln_logistic(-x - d), draw]
}

/// The logarithm of `1 / (1 + exp(-x))`.
fn ln_logistic(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

fn llr(counts: [f64; 3], drawelo: f64, elo: [f64; 2]) -> f64 {
    let [null, alternative] = elo.map(|elo| ln_probabilities(elo, drawelo));
    (0..3).map(|outcome| counts[outcome] * (alternative[outcome] - null[outcome])).sum()
}

impl WinsLossesDraws {
    /// The sample's drawelo: how far, in Elo, even players are from winning.
    /// Counts of zero are replaced by a thousandth. Infinite if nobody won or
    /// lost.
    #[must_use]
    pub fn drawelo(self) -> f64 {
        drawelo(self.counts().map(|count| if count == 0.0 { 1e-3 } else { count }))
    }

    /// Log-likelihood ratio of two values of BayesElo at the sample's drawelo
    /// (fishtest's `LLRlegacy`, fastchess's `bayesian`).
    #[must_use]
    pub fn bayes_elo_llr(self, elo: [f64; 2]) -> f64 {
        let counts = self.counts().map(|count| if count == 0.0 { 1e-3 } else { count });
        llr(counts, drawelo(counts), elo)
    }

    /// The same as cutechess computes it: half a game is added to each count,
    /// and the hypotheses are given in logistic Elo, converted by BayesElo's
    /// scale for the sample's drawelo.
    #[must_use]
    pub fn cutechess_llr(self, elo: [f64; 2]) -> f64 {
        let counts = self.counts().map(|count| count + 0.5);
        let drawelo = drawelo(counts);
        let x = 10f64.powf(-drawelo / 400.0);
        let scale = 4.0 * x / (1.0 + x).powi(2);
        llr(counts, drawelo, elo.map(|elo| elo / scale))
    }

    fn counts(self) -> [f64; 3] {
        [self.wins, self.losses, self.draws].map(|count| count as f64)
    }
}

fn drawelo([wins, losses, draws]: [f64; 3]) -> f64 {
    200.0 * ((wins + draws) / losses * ((losses + draws) / wins)).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_symmetric() {
        let ours = WinsLossesDraws { wins: 30, losses: 20, draws: 50 };
        let theirs = WinsLossesDraws { wins: 20, losses: 30, draws: 50 };
        let (found, other) = (ours.bayes_elo_llr([0.0, 10.0]), theirs.bayes_elo_llr([0.0, -10.0]));
        assert!((found - other).abs() < 1e-9);
        assert!((ours.drawelo() - theirs.drawelo()).abs() < 1e-9);
        assert!((ours.bayes_elo_llr([0.0, 10.0]) + ours.bayes_elo_llr([10.0, 0.0])).abs() < 1e-9);
    }

    /// One-sided and empty results: large ratios, but numbers.
    #[test]
    fn every_result_has_a_ratio() {
        for n in [0, 1, 2, 3, 10, 1000, 100_000, 10_000_000] {
            for (wins, losses, draws) in [(n, 0, 0), (0, n, 0), (0, 0, n), (n, n, 0), (n, n, n)] {
                let games = WinsLossesDraws { wins, losses, draws };
                for elo in [[0.0, 5.0], [-400.0, 400.0]] {
                    assert!(games.cutechess_llr(elo).is_finite(), "{games:?} {elo:?}");
                    assert!(games.bayes_elo_llr(elo).is_finite(), "{games:?} {elo:?}");
                }
            }
        }
    }
}
