//! What difference a comparison can detect, before it is played and while it is.

use std::collections::BTreeSet;
use std::time::Duration;

use results::counted::counted;
use results::regress::{MIN_BLOCKS, Question};

use crate::consumers::brief;
use crate::experiment::Experiment;
use crate::spec::time_budget_words;

/// How much blocks differ in most games, points: typical, least, most.
const SPREADS: [f64; 3] = [35.0, 25.0, 45.0];
/// Numbers of blocks to describe where a time limit decides how many are played.
const BLOCKS_TOLD: [u64; 3] = [100, 1000, 10_000];

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
        format!("Is {} worse than {} by {} points?", question.head, question.base, question.margin),
        format!(
            "Suite {}: {games}, {opponents}, {}; {} blocks take {} matches",
            question.suite,
            budgets.join(", "),
            question.blocks_per_lap,
            question.matches_per_lap
        ),
        sight(question),
    ]
}

/// What difference can be seen.
fn sight(question: &Question) -> String {
    let percent = (1000.0 * (1.0 - question.alpha)).round() / 10.0;
    let [typical, least, most] = SPREADS;
    match question.time_limit_s {
        Some(limit) if question.max_blocks() > BLOCKS_TOLD[2] => {
            let limit = humantime::format_duration(Duration::from_secs_f64(limit));
            let told = BLOCKS_TOLD.map(|n| format!("{} in {n} blocks", sees(question, n, typical)));
            format!(
                "Within {limit}, a head that is worse by so many points fails in {percent} % of \
                 cases: {}, should blocks differ by {typical} points as in most games",
                told.join(", ")
            )
        }
        _ => {
            let n = question.max_blocks();
            format!(
                "{n} blocks at most: a head that is worse by {} points fails in {percent} % of \
                 cases, should blocks differ by {typical} points ({} if by {least}, {} if by {most})",
                sees(question, n, typical),
                sees(question, n, least),
                sees(question, n, most)
            )
        }
    }
}

/// The difference in points at which a head nearly always fails within `n_blocks`.
fn sees(question: &Question, n_blocks: u64, sd: f64) -> String {
    let found = question.margin_test().detectable(sd, n_blocks, 1.0 - question.alpha);
    found.map_or_else(|| "more than 100".into(), |points| format!("{points:.1}"))
}

/// What to say of a time limit in which too few blocks can be played; `seconds` is
/// what enough of them are estimated to take.
pub(super) fn too_short(question: &Question, seconds: Option<f64>) -> Option<String> {
    let (limit, seconds) = (question.time_limit_s?, seconds?);
    let words = |seconds: f64| brief(Duration::from_secs_f64(seconds));
    (seconds > limit).then(|| {
        format!(
            "{MIN_BLOCKS} blocks are needed, and take about {}; --budget allows {}: give more time, \
             shorter clocks or fewer games",
            words(seconds),
            words(limit)
        )
    })
}

/// What the time allows, from what a part of it has brought.
#[must_use]
pub fn pace(question: &Question, n_blocks: u64, spent: Duration) -> Option<String> {
    let limit = question.time_limit_s?;
    let share = spent.as_secs_f64() / limit;
    let at_most = n_blocks as f64 / share.max(1e-6);
    let n = (at_most as u64).min(question.max_blocks());
    if n < MIN_BLOCKS {
        return Some(format!(
            "warning: at this pace the time allows {n} blocks, and {MIN_BLOCKS} are needed for an \
             answer on strength"
        ));
    }
    Some(format!(
        "At this pace the time allows {n} blocks, in which a head that is worse by {} points nearly \
         always fails",
        sees(question, n, SPREADS[0])
    ))
}
