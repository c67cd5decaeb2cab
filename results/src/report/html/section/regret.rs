//! What decisions gave away, by tables of solved games.

use super::super::super::regret::skipped;
use super::super::table::{Cell, interval, name, number, page_table};
use super::super::words::count;
use super::super::{Page, headings};
use super::{Section, paragraph};
use crate::regret::{JudgedDecision, RegretOfPlayer, RegretSummary};

/// The players' regret, and the worst decisions with links to their replays.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let found = page.evaluation.regret.as_ref()?;
    let lead = format!(
        "The regret of a decision is what the state was worth to the role, less what it is worth \
         after the move, with best play of all from there on; exact, by tables of solved games. \
         {} in {}.{}",
        count(found.decisions, "decision", "decisions"),
        count(found.matches, "match", "matches"),
        skipped(found),
    );
    let mut body = paragraph(&lead) + &players(found);
    if !found.worst.is_empty() {
        body += &worst(page, found);
    }
    Some(Section { id: "regret", heading: headings::REGRET, body })
}

fn players(found: &RegretSummary) -> String {
    let blunder = format!("Decisions that give away {} points or more.", found.blunder_points);
    let columns = vec![
        name("player", "Name of the player."),
        number("regret", "Mean regret of a decision, points; games weigh the same."),
        interval("interval", "95 % interval of the mean."),
        number("decisions", "States with a table where the player had a choice."),
        number("best moves", "Decisions that give nothing away."),
        number("blunders", &blunder),
    ];
    let row = |row: &RegretOfPlayer| {
        vec![
            Cell::text(&row.player),
            Cell::decimal(Some(row.mean_regret), 2),
            Cell::interval(row.interval),
            Cell::count(row.decisions),
            Cell::percent(Some(row.perfect)),
            Cell::percent(Some(row.blunders)),
        ]
    };
    page_table("regret-table", headings::REGRET, &columns, found.players.iter().map(row))
}

fn worst(page: &Page<'_>, found: &RegretSummary) -> String {
    let columns = vec![
        name("player", "Who decided."),
        name("role", "In which role."),
        name("game", "Name of the rulesheet."),
        name("move", "The move that was executed."),
        name("best", "A move that gives nothing away."),
        number("value", "What the state was worth to the role, points."),
        number("regret", "Points that the move gave away."),
        name("replay", "The state before the decision, if the match is on this page."),
    ];
    let row = |row: &JudgedDecision| {
        let substitute = if row.substitute { " (substitute)" } else { "" };
        let is_here = page.replays.iter().any(|replay| replay.job == row.job);
        let place = format!("match {}, after step {}", row.job, row.step);
        let replay = Cell::text(place);
        vec![
            Cell::text(&row.player),
            Cell::text(&row.role),
            Cell::text(&row.game),
            Cell::text(format!("{}{substitute}", row.action)),
            Cell::text(&row.best_move),
            Cell::points(Some(row.value)),
            Cell::points(Some(row.regret)),
            match is_here {
                true => replay.to(format!("replay-{}-{}", row.job, row.step)),
                false => replay,
            },
        ]
    };
    page_table("worst-table", "Worst decisions", &columns, found.worst.iter().map(row))
}
