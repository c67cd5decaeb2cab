//! Single matches, step by step.

use super::super::Page;
use super::super::escape::json_in_script;
use super::super::table::{Cell, name, number, page_table};
use super::{Section, paragraph};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    if page.replays.is_empty() {
        return None;
    }
    let mut body = paragraph(
        "States are computed by the rules from the recorded moves. Step with the buttons, the \
         slider or the arrow keys. Curves show what players expected of their moves, and how \
         long they thought where they had a choice.",
    );
    body += VIEWER;
    let columns = vec![
        number("match", "Its number in the schedule; click it to open the replay."),
        name("game", "Name of the rulesheet."),
        name("players", "In the order of the roles, without chance."),
        name("rewards", "In the same order."),
        number("steps", "Steps played."),
        name("why", "Why this match was selected."),
    ];
    let rows = page.replays.iter().map(|replay| {
        let players: Vec<&str> =
            replay.seats.iter().filter_map(|seat| seat.player.as_deref()).collect();
        let rewards = replay.seats.iter().filter(|seat| seat.player.is_some());
        let rewards: Vec<String> =
            rewards.map(|seat| seat.reward.map_or("–".into(), |r| r.to_string())).collect();
        vec![
            Cell::count(replay.job).to(format!("replay-{}", replay.job)),
            Cell::text(&replay.game),
            Cell::text(players.join(", ")),
            Cell::text(rewards.join(", ")),
            Cell::count(replay.steps.len().saturating_sub(1) as u64),
            Cell::text(&replay.reason),
        ]
    });
    body += &page_table("replay-table", "Matches to replay", &columns, rows);
    Some(Section { id: "replays", heading: "Replays", body })
}

/// What the script fills.
const VIEWER: &str = "\
<div class=\"viewer\" id=\"viewer\" tabindex=\"0\" hidden>
<div class=\"viewer-head\"><h3 id=\"viewer-title\"></h3><p id=\"viewer-seats\"></p></div>
<div class=\"viewer-body\"><div id=\"board\" class=\"scroll\"></div>
<div class=\"viewer-side\"><p id=\"viewer-step\" aria-live=\"polite\"></p>
<ul id=\"viewer-moves\"></ul><div id=\"viewer-curves\"></div>\
<ul id=\"viewer-facts\"></ul></div></div>
<div class=\"controls\">
<button type=\"button\" data-go=\"first\" aria-label=\"first state\">|◀</button>
<button type=\"button\" data-go=\"back\" aria-label=\"one step back\">◀</button>
<input type=\"range\" id=\"viewer-slider\" min=\"0\" value=\"0\" aria-label=\"step\">
<button type=\"button\" data-go=\"on\" aria-label=\"one step forward\">▶</button>
<button type=\"button\" data-go=\"last\" aria-label=\"last state\">▶|</button>
</div></div>
<noscript><p>Replays need JavaScript.</p></noscript>
";

/// The replays as data of the page.
pub(crate) fn embedded(page: &Page<'_>) -> String {
    let json = serde_json::to_string(page.replays).expect("replays are representable");
    let json = json_in_script(&json);
    format!("<script type=\"application/json\" id=\"replay-data\">{json}</script>\n")
}
