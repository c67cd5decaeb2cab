//! What can be seen, told before anything is played.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use results::regress::Question;
use results::stats::power::Design;

use crate::commands::run_plan::Planned;
use crate::schedule::Schedule;
use crate::spec::time_budget_words;

/// How much blocks differ in most games, points: typical, least, most.
const SPREADS: [f64; 3] = [35.0, 25.0, 45.0];
/// Numbers of blocks that are told of when time decides how many there are.
const BLOCKS_TOLD: [u64; 3] = [100, 1000, 10_000];

/// Who is compared how, and what difference can be seen.
pub(super) fn lines(planned: &Planned<Arc<Schedule>>, question: &Question) -> Vec<String> {
    let spec = &planned.spec;
    let games: BTreeSet<usize> = planned.jobs.rounds().map(|round| round.game).collect();
    let n_opponents = spec
        .comparison
        .map_or(0, |compared| (0..spec.players.len()).filter(|&p| !compared.concerns(p)).count());
    let opponents = match n_opponents {
        0 => "against each other".to_owned(),
        1 => "against 1 opponent".to_owned(),
        n => format!("against {n} opponents"),
    };
    let budgets: Vec<String> = spec.time_budgets.iter().map(time_budget_words).collect();
    let n_games = games.len();
    let games = if n_games == 1 { "1 game".to_owned() } else { format!("{n_games} games") };
    let lap = (question.blocks_per_lap, question.matches_per_lap);
    vec![
        format!("Is {} worse than {} by {} points?", question.head, question.base, question.margin),
        format!(
            "Suite {}: {games}, {opponents}, {}; a lap has {} blocks, {} matches",
            question.suite,
            budgets.join(", "),
            lap.0,
            lap.1
        ),
        sight(question),
    ]
}

/// What difference can be seen.
fn sight(question: &Question) -> String {
    let power = 1.0 - question.alpha;
    let sees = |n_blocks: u64, sd: f64| {
        let design = Design { sd, alpha: question.alpha, power };
        format!("{:.1}", design.detectable(n_blocks))
    };
    let percent = (power * 1000.0).round() / 10.0;
    let [typical, least, most] = SPREADS;
    match question.time_limit_s {
        Some(limit) if question.max_blocks() > BLOCKS_TOLD[2] => {
            let limit = humantime::format_duration(Duration::from_secs_f64(limit));
            let told = BLOCKS_TOLD.map(|n| format!("{n} blocks show {} points", sees(n, typical)));
            format!(
                "Within {limit}: {} in {percent} % of cases, should blocks differ by {typical} \
                 points as in most games",
                told.join(", ")
            )
        }
        _ => {
            let n = question.max_blocks();
            format!(
                "{n} blocks at most: they show a difference of {} points in {percent} % of cases, \
                 should blocks differ by {typical} points ({} if by {least}, {} if by {most})",
                sees(n, typical),
                sees(n, least),
                sees(n, most)
            )
        }
    }
}

/// What the time allows, from what a part of it has brought.
pub(super) fn pace(question: &Question, n_blocks: u64, spent: Duration) -> Option<String> {
    let limit = question.time_limit_s?;
    let share = spent.as_secs_f64() / limit;
    let at_most = n_blocks as f64 / share.max(1e-6);
    let n = (at_most as u64).min(question.max_blocks());
    let design = Design { sd: SPREADS[0], alpha: question.alpha, power: 1.0 - question.alpha };
    Some(format!(
        "At this pace the time allows {n} blocks, which show {:.1} points",
        design.detectable(n.max(1))
    ))
}
