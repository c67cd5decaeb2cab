//! The SPRT in the BayesElo model, as cutechess and early fishtest have it.
//!
//! R. Coulom's BayesElo gives wins and losses by a logistic curve each, shifted
//! by *drawelo*, which is taken from the sample; what is left are draws. The
//! scale depends on the share of draws, for which reason normalized Elo has
//! replaced it: here to compare with older tools.

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

#[derive(Clone, Copy, Debug)]
struct Probabilities {
    win: f64,
    loss: f64,
    draw: f64,
}

impl Probabilities {
    fn at(elo: f64, drawelo: f64) -> Self {
        let win = 1.0 / (1.0 + 10f64.powf((drawelo - elo) / 400.0));
        let loss = 1.0 / (1.0 + 10f64.powf((drawelo + elo) / 400.0));
        Self { win, loss, draw: 1.0 - win - loss }
    }

    fn drawelo(self) -> f64 {
        200.0 * ((1.0 - self.loss) / self.loss * (1.0 - self.win) / self.win).log10()
    }
}

fn llr([wins, losses, draws]: [f64; 3], drawelo: f64, elo: [f64; 2]) -> f64 {
    let [null, alternative] = elo.map(|elo| Probabilities::at(elo, drawelo));
    wins * (alternative.win / null.win).ln()
        + losses * (alternative.loss / null.loss).ln()
        + draws * (alternative.draw / null.draw).ln()
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
    let n = wins + losses + draws;
    Probabilities { win: wins / n, loss: losses / n, draw: draws / n }.drawelo()
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
}
