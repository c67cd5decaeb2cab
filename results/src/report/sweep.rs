//! Strength by budget, as text, Markdown, CSV and JSON.

use super::csv::over_time;
use super::headings;
use super::layout::{Document, Section};
use super::words::{count, interval, optional_points, points};
use super::{Format, rendered};
use crate::evaluation::MoveBudget;
use crate::sweep::{AtBudget, Sweep, SweptPlayer};

/// Writes a sweep down; the text ends with a line feed.
#[must_use]
pub fn render_sweep(sweep: &Sweep, format: Format) -> String {
    rendered(format, sweep, || document(sweep), || over_time(&sweep.players))
}

fn document(sweep: &Sweep) -> Document {
    let matches = count(sweep.n_matches, "match", "matches");
    let players = count(sweep.players.len() as u64, "player", "players");
    let facts = if sweep.players.is_empty() {
        format!(
            "{matches}; no game was scored under more than one budget, so there is nothing to compare."
        )
    } else {
        format!("{matches}; {players}.")
    };
    let (title, sections) = ("Strength by budget", sections(sweep));
    let most = sweep.players.iter().map(|player| player.n_other_games).max().unwrap_or(0);
    let left_out = format!(
        "Left out because they were not played at every budget: up to {} of a player.",
        count(most, "game", "games")
    );
    Document { title, facts, sections, notes: Vec::from_iter((most > 0).then_some(left_out)) }
}

/// What there is to say; nothing if all had one budget.
pub(super) fn sections(sweep: &Sweep) -> Vec<Section> {
    let level = format!("{:.0} % interval", sweep.level * 100.0);
    [per_doubling(sweep, &level), against_time(sweep, &level)].into_iter().flatten().collect()
}

fn budget(budget: MoveBudget) -> String {
    match budget {
        MoveBudget::Nodes(nodes) => count(nodes, "node", "nodes"),
        MoveBudget::Milliseconds(ms) if ms.is_multiple_of(1000) => format!("{} s", ms / 1000),
        MoveBudget::Milliseconds(ms) => format!("{ms} ms"),
    }
}

fn against_time(sweep: &Sweep, level: &str) -> Option<Section> {
    let row = |player: &SweptPlayer, at: &AtBudget| {
        let numbers = [at.reward.n_matches, at.reward.n_blocks].map(|n| n.to_string());
        let mean = [optional_points(at.reward.mean), interval(at.reward.interval)];
        let of_match = at.match_clock.as_deref().map(|clock| {
            let clock = clock.strip_suffix(" per move").unwrap_or(clock);
            format!(" (match: {clock})")
        });
        let budget = budget(at.budget) + &of_match.unwrap_or_default();
        [&[player.player.clone(), budget][..], &mean, &numbers].concat()
    };
    let players = sweep.players.iter();
    let rows: Vec<Vec<String>> =
        players.flat_map(|player| player.at.iter().map(move |at| row(player, at))).collect();
    let heading = ["player", "budget", "reward", level, "matches", "blocks"];
    Some(Section::with_rows(headings::AT_EACH_BUDGET, 2, &heading, rows)?.saying(
            "All players of a match have the same budget, unless a player has clocks or a budget of \
             its own. If all players get more time, a mean shows only which players gain more \
             than others; to see the gain itself, give the opponents a fixed budget. Means are over the games that \
             the player played at every budget; games have equal weight.",
    ))
}

fn per_doubling(sweep: &Sweep, level: &str) -> Option<Section> {
    let row = |player: &SweptPlayer| {
        let found = player.per_doubling?;
        Some(vec![
            player.player.clone(),
            points(found.slope.points),
            interval(found.slope.interval),
            found.n_blocks.to_string(),
        ])
    };
    let rows: Vec<Vec<String>> = sweep.players.iter().filter_map(row).collect();
    let heading = ["player", "points", level, "blocks"];
    Some(Section::with_rows(headings::PER_DOUBLING, 1, &heading, rows)?.saying(
        "The slope of the line through a player's means against the logarithm of the budget; \
             budgets have equal weight. Large budgets often gain less per doubling: check also the \
             means at each budget.",
    ))
}
