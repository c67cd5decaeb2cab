//! Time odds: a player with clocks or a node budget of its own.

use std::fmt;
use std::time::Duration;

use humantime::format_duration;
use results::record::Budget;

use crate::schedule::TimeBudget;

/// What one player has instead of the match's clocks and budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeOdds {
    /// Time between receiving the rules and answering `ready`.
    pub start: Option<Duration>,
    /// Time for each move.
    pub play: Option<Duration>,
    /// States for each move, where budgets are counted in nodes; without effect
    /// where they are not.
    pub nodes: Option<u64>,
}

impl TimeOdds {
    /// Whether the player has the clocks and the budget of the match.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What the player has in a match of this budget.
    #[must_use]
    pub fn apply(&self, mut time: TimeBudget) -> TimeBudget {
        time.clocks.start = self.start.unwrap_or(time.clocks.start);
        time.clocks.play = self.play.unwrap_or(time.clocks.play);
        if let (Budget::Nodes(_), Some(nodes)) = (time.budget, self.nodes) {
            time.budget = Budget::Nodes(nodes);
        }
        time
    }
}

/// As `start10s-play200ms-nodes500`; empty if there is nothing to say. Names
/// and hashes of players are made of it.
impl fmt::Display for TimeOdds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |time: Duration| format_duration(time).to_string().replace(' ', "");
        let words = [
            self.start.map(|time| format!("start{}", word(time))),
            self.play.map(|time| format!("play{}", word(time))),
            self.nodes.map(|nodes| format!("nodes{nodes}")),
        ];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Clocks;

    fn time(budget: Budget) -> TimeBudget {
        let second = Duration::from_secs(1);
        TimeBudget { clocks: Clocks { start: second, play: second, margin: second }, budget }
    }

    #[test]
    fn odds_replace_what_they_name() {
        let play = Duration::from_millis(200);
        let odds = TimeOdds { play: Some(play), nodes: Some(5), ..TimeOdds::default() };
        let mut expected = time(Budget::Clock);
        expected.clocks.play = play;
        assert_eq!(odds.apply(time(Budget::Clock)), expected);
        expected.budget = Budget::Nodes(5);
        assert_eq!(odds.apply(time(Budget::Nodes(100))), expected);
        assert_eq!(TimeOdds::default().apply(time(Budget::Clock)), time(Budget::Clock));
    }

    #[test]
    fn odds_are_told_in_a_word() {
        let odds =
            TimeOdds { start: Some(Duration::from_millis(1500)), play: None, nodes: Some(500) };
        assert_eq!(odds.to_string(), "start1s500ms-nodes500");
        assert!(TimeOdds::default().is_none());
        assert_eq!(TimeOdds::default().to_string(), "");
    }
}
