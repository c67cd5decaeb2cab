//! Results of a suite of positions: what players did where the good moves are known.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::record::FaultKind;

/// What came of a suite of positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuiteResult {
    /// The suite's name.
    pub suite: String,
    /// In the order in which they were named.
    pub players: Vec<PlayerResult>,
}

/// What one player did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerResult {
    /// The player's id.
    pub player: String,
    /// Of all positions.
    pub total: Total,
    /// By game, in the order of their names.
    pub by_game: BTreeMap<String, Total>,
    /// By grade; positions without one are left out.
    pub by_depth: BTreeMap<u32, Total>,
    /// By position, in the order of the suite.
    pub results: Vec<PositionResult>,
}

/// What one player did in one position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PositionResult {
    /// The position's id.
    pub position: String,
    /// The game's name.
    pub game: String,
    /// Whose move was asked for.
    pub role: String,
    /// Its grade: steps that a search must look ahead.
    pub depth: Option<u32>,
    /// How much it counts.
    pub weight: f64,
    /// The good moves.
    pub good: Vec<String>,
    /// The move; `None` if the player made none.
    #[serde(rename = "move")]
    pub chosen: Option<String>,
    /// What the move is worth, 0 to 100, if the suite says.
    pub value: Option<f64>,
    /// Points that the move gives away, if the suite says.
    pub loss: Option<f64>,
    /// Time for the decision.
    pub seconds: f64,
    /// States entered, if the player counts them.
    pub nodes: Option<u64>,
    /// What it means.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Whether a player got a position right.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Verdict {
    /// The move is good.
    Passed,
    /// The move is legal and not good.
    Failed,
    /// There is no legal move in time.
    Fault {
        /// What the player did instead.
        fault: FaultKind,
        /// What it submitted.
        #[serde(skip_serializing_if = "Option::is_none")]
        submitted: Option<String>,
        /// More on it.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// The player does not play such games.
    CannotPlay {
        /// As the player says.
        reason: String,
    },
}

/// How many positions were passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Total {
    /// Positions.
    pub positions: usize,
    /// Those that were passed.
    pub passed: usize,
    /// The weight of all positions.
    pub weight: f64,
    /// The weight of those that were passed.
    pub passed_weight: f64,
    /// Mean of the points given away, over the positions for which it is known.
    pub mean_loss: Option<f64>,
}

impl Total {
    /// Over these positions.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a PositionResult>) -> Self {
        let mut total = Self::default();
        let (mut sum, mut n) = (0.0, 0_u32);
        for result in results {
            total.positions += 1;
            total.weight += result.weight;
            if result.verdict == Verdict::Passed {
                total.passed += 1;
                total.passed_weight += result.weight;
            }
            if let Some(loss) = result.loss {
                (sum, n) = (sum + loss, n + 1);
            }
        }
        total.mean_loss = (n > 0).then(|| sum / f64::from(n));
        total
    }

    /// The weight passed as a share of all, 0 to 1; 1 if there are no positions.
    #[must_use]
    pub fn score(&self) -> f64 {
        if self.passed == self.positions { 1.0 } else { self.passed_weight / self.weight }
    }
}

impl PlayerResult {
    /// With all totals.
    #[must_use]
    pub fn new(player: String, results: Vec<PositionResult>) -> Self {
        let mut games: BTreeMap<String, Vec<&PositionResult>> = BTreeMap::new();
        let mut depths: BTreeMap<u32, Vec<&PositionResult>> = BTreeMap::new();
        for result in &results {
            games.entry(result.game.clone()).or_default().push(result);
            if let Some(depth) = result.depth {
                depths.entry(depth).or_default().push(result);
            }
        }
        let total = Total::of(&results);
        let by_game = games.into_iter().map(|(game, results)| (game, Total::of(results)));
        let by_depth = depths.into_iter().map(|(depth, results)| (depth, Total::of(results)));
        let (by_game, by_depth) = (by_game.collect(), by_depth.collect());
        Self { player, total, by_game, by_depth, results }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A result of this weight and grade; passed if nothing was given away.
    pub(crate) fn result(game: &str, depth: u32, weight: f64, loss: f64) -> PositionResult {
        PositionResult {
            position: format!("{game}-{depth}"),
            game: game.to_owned(),
            role: "white".to_owned(),
            depth: Some(depth),
            weight,
            good: vec!["(drop 1)".to_owned()],
            chosen: Some(if loss == 0.0 { "(drop 1)" } else { "(drop 2)" }.to_owned()),
            value: Some(100.0 - loss),
            loss: Some(loss),
            seconds: 0.25,
            nodes: Some(1000),
            verdict: if loss == 0.0 { Verdict::Passed } else { Verdict::Failed },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::result;
    use super::*;

    #[test]
    fn totals_add_up() {
        let results = vec![
            result("connect", 1, 1.0, 0.0),
            result("connect", 3, 3.0, 50.0),
            result("nim", 3, 2.0, 0.0),
        ];
        let found = PlayerResult::new("p".to_owned(), results);
        assert_eq!((found.total.passed, found.total.positions), (2, 3));
        assert_eq!((found.total.passed_weight, found.total.weight), (3.0, 6.0));
        assert_eq!((found.total.score(), found.total.mean_loss), (0.5, Some(50.0 / 3.0)));
        assert_eq!(found.by_game["connect"].score(), 0.25);
        assert_eq!((found.by_depth[&3].passed, found.by_depth[&3].score()), (1, 0.4));
        assert_eq!((found.by_game.len(), found.by_depth.len()), (2, 2));
    }

    #[test]
    fn a_position_without_a_move_counts_as_not_passed() {
        let reason = "two players".to_owned();
        let unknown = PositionResult {
            chosen: None,
            value: None,
            loss: None,
            verdict: Verdict::CannotPlay { reason },
            ..result("nim", 1, 1.0, 0.0)
        };
        let total = Total::of([&unknown]);
        assert_eq!((total.passed, total.score(), total.mean_loss), (0, 0.0, None));
    }
}
