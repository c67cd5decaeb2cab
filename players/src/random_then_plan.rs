//! Random first, then a plan (Genesereth and Thielscher, "General Game Playing", 2014, on
//! mixed players): plays at random, or searches at random, until what is left of the game
//! is small enough to plan to its end within a budget of states, and then follows the plan.
//!
//! From then on play is optimal *from that state*. What was given away before is lost: in
//! a game whose first moves decide, rewards are those of random play.

use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::settings;
use crate::sequential_planner::{Fallback, SHORTEST, planner};
use crate::{OptionError, Options, Player};

/// The player that moves at random until it can plan.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "random_then_plan",
    summary: "Plays or searches at random until the rest of the game can be planned, then \
              follows the plan.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const NODE_BUDGET: OptionSpec = OptionSpec {
    name: "node_budget",
    accepts: "a whole number from 1",
    default: "1000",
    help: "Maximum number of states in one attempt to plan (not the node budget per move, which is \
           `budget.nodes`).",
};

const FIRST: OptionSpec = OptionSpec {
    name: "first",
    accepts: "\"play\" or \"search\"",
    default: "\"play\"",
    help: "What it does at random while there is no plan: `play`, make a random move; `search`, \
           make the first move of the best of some random lines to the end.",
};

const OPTIONS: &[OptionSpec] = &[
    FIRST,
    NODE_BUDGET,
    SHORTEST,
    settings::TRANSPOSITION,
    settings::BOUNDED,
    settings::MOVE_ORDER,
];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let node_budget = reader.integer(NODE_BUDGET.name, 1..=i64::MAX, 1000)?.cast_unsigned();
    let firsts = [("play", Fallback::Random), ("search", Fallback::Search)];
    let first = reader.choice(FIRST.name, &firsts, Fallback::Random)?;
    planner(KIND.name, first, node_budget, &reader)
}
