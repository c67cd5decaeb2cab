//! What the sections of a report are called, and in which order they stand: the same as
//! text, as Markdown and on the page.

use super::layout::Section;

pub(super) const STANDINGS: &str = "Standings";
pub(super) const RANKS: &str = "Probability of each rank";
pub(super) const PAIRS: &str = "Pairs";
pub(super) const RATINGS: &str = "Ratings";
pub(super) const POLICIES: &str = "What faults cost";
pub(super) const CROSS_TABLE: &str = "Against each other";
pub(super) const PER_DOUBLING: &str = "Points per doubling";
pub(super) const AT_EACH_BUDGET: &str = "Strength at each budget";
pub(super) const BY_GAME: &str = "By game";
pub(super) const BY_ROLE: &str = "By role";
pub(super) const BY_BUDGET: &str = "By budget";
pub(super) const BALANCE: &str = "Balance of the games";
pub(super) const SEATS: &str = "Effect of seats";
pub(super) const PLAYERS: &str = "Effect of players";
pub(super) const THINKING: &str = "Thinking time";
pub(super) const FAULTS: &str = "Faults";
pub(super) const REGRET: &str = "Regret";
pub(super) const WORKERS: &str = "Workers";
pub(super) const UNSCORED: &str = "Unscored matches";
pub(super) const GOALS: &str = "Unusual goals";

/// The order of the page.
const ORDER: [&str; 20] = [
    STANDINGS,
    RANKS,
    PAIRS,
    RATINGS,
    POLICIES,
    CROSS_TABLE,
    PER_DOUBLING,
    AT_EACH_BUDGET,
    BY_GAME,
    BY_ROLE,
    BY_BUDGET,
    BALANCE,
    SEATS,
    PLAYERS,
    THINKING,
    REGRET,
    FAULTS,
    WORKERS,
    UNSCORED,
    GOALS,
];

/// Sorts sections into that order; the stages of a tournament, which have names of their
/// own, stay in front.
pub(super) fn sort(sections: &mut [Section]) {
    sections.sort_by_key(|section| {
        ORDER.iter().position(|name| *name == section.heading).map_or(0, |place| place + 1)
    });
}
