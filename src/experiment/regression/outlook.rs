//! What difference a comparison can detect, before it is played and while it is.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use results::counted::counted;
use results::regress::{MIN_BLOCKS, Question};

use crate::consumers::brief;
use crate::experiment::Experiment;
use crate::spec::time_budget_words;

/// How much blocks differ in most games, points: typical, least, most.
const SPREADS: [f64; 3] = [35.0, 25.0, 45.0];
/// Numbers of blocks to describe where a time limit decides how many are played.
const BLOCKS_SHOWN: [u64; 3] = [100, 1000, 10_000];

/// Sentences about a comparison: the question, what is played, and which difference can
/// be detected.
#[must_use]
pub fn outlook(experiment: &Experiment, question: &Question) -> Vec<String> {
    let spec = &experiment.spec;
    let games: BTreeSet<usize> =
        experiment.jobs.rounds().into_iter().map(|round| round.game).collect();
    let n_opponents = spec
        .comparison
        .map_or(0, |compared| (0..spec.players.len()).filter(|&p| !compared.concerns(p)).count());
    let opponents = match n_opponents {
        0 => "against each other".to_owned(),
        n => format!("against {}", counted(n, "opponent", "opponents")),
    };
    let budgets: Vec<String> = spec.time_budgets.iter().map(time_budget_words).collect();
    let games = counted(games.len(), "game", "games");
    vec![
        format!(
            "Is the head ({}) weaker than the base ({}) by {}?",
            question.head,
            question.base,
            counted(question.margin, "point", "points")
        ),
        format!(
            "Suite {}: {games}, {opponents}, {}; a cycle has {} and {}.",
            question.suite,
            budgets.join(", "),
            counted(question.blocks_per_lap, "compared block", "compared blocks"),
            counted(question.matches_per_lap, "match", "matches")
        ),
        sight(question),
    ]
}

/// What difference can be detected.
fn sight(question: &Question) -> String {
    let percent = (1000.0 * (1.0 - question.alpha)).round() / 10.0;
    let [typical, least, most] = SPREADS;
    match question.time_limit_s {
        Some(limit) if question.max_blocks() > BLOCKS_SHOWN[2] => {
            let limit = humantime::format_duration(Duration::from_secs_f64(limit));
            let [few, some, many] = BLOCKS_SHOWN;
            let [by_few, by_some, by_many] = BLOCKS_SHOWN.map(|n| detectable(question, n, typical));
            format!(
                "Detectable in {percent} % of cases: {by_few} points after {few} blocks, {by_some} after \
                 {some}, {by_many} after {many} (if blocks have a standard deviation of {typical} \
                 points, as in most games). Time limit: {limit}."
            )
        }
        _ => {
            let n = question.max_blocks();
            format!(
                "With {n} blocks, a head that is weaker by {} points is detected in {percent} % of \
                 cases (if blocks have a standard deviation of {typical} points, as in most games; \
                 {} points if it is {least}, and {} if it is {most}).",
                detectable(question, n, typical),
                detectable(question, n, least),
                detectable(question, n, most)
            )
        }
    }
}

/// The difference in points at which a head nearly always fails within `n_blocks`.
fn detectable(question: &Question, n_blocks: u64, sd: f64) -> String {
    let found = question.margin_test().detectable(sd, n_blocks, 1.0 - question.alpha);
    found.map_or_else(|| "more than 100".into(), |points| format!("{points:.1}"))
}

/// What is wrong with a time limit in which too few blocks can be played; `seconds` is
/// what enough of them are estimated to take.
pub(super) fn too_short(question: &Question, seconds: Option<f64>) -> Option<String> {
    let (limit, seconds) = (question.time_limit_s?, seconds?);
    let words = |seconds: f64| brief(Duration::from_secs_f64(seconds));
    (seconds > limit).then(|| {
        format!(
            "the {MIN_BLOCKS} blocks that are needed take about {}, and the time limit is {}; \
             allow more time, shorten the clocks or remove games",
            words(seconds),
            words(limit)
        )
    })
}

/// How many blocks fit into the time, as far as a part of it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Too few to decide.
    TooSlow {
        /// Blocks that fit.
        n_blocks: u64,
    },
    /// Enough to detect a large difference.
    Enough {
        /// Blocks that fit.
        n_blocks: u64,
        /// The difference in points, in words.
        detectable: String,
    },
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSlow { n_blocks } => write!(
                f,
                "at the speed of the first blocks, about {} into the time; at least {MIN_BLOCKS} are needed to compare strength",
                fitting(*n_blocks)
            ),
            Self::Enough { n_blocks, detectable } => write!(
                f,
                "At the speed of the first blocks, about {} into the time; they detect a head that is weaker by {detectable} \
                 points.",
                fitting(*n_blocks)
            ),
        }
    }
}

fn fitting(n_blocks: u64) -> String {
    counted(n_blocks, "block fits", "blocks fit")
}

/// What the time allows, from what a part of it has brought; `None` without a limit.
#[must_use]
pub fn pace(question: &Question, n_blocks: u64, spent: Duration) -> Option<Pace> {
    let limit = question.time_limit_s?;
    let share = spent.as_secs_f64() / limit;
    let at_most = n_blocks as f64 / share.max(1e-6);
    let n_blocks = (at_most as u64).min(question.max_blocks());
    if n_blocks < MIN_BLOCKS {
        return Some(Pace::TooSlow { n_blocks });
    }
    Some(Pace::Enough { n_blocks, detectable: detectable(question, n_blocks, SPREADS[0]) })
}
