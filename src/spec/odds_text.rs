//! Time odds as they are written in a player's table:
//! `clocks = { start = "5s", play = "200ms" }` and `budget = { nodes = 500 }`.

use toml::{Table, Value};

use super::duration::{EXPECTED, read_clock};
use super::player_fields::{PlayerFields, Wrong, kind_of};
use crate::manager::TimeOdds;

/// Keys of a player's table that are read here.
pub(super) const KEYS: [&str; 2] = ["clocks", "budget"];

/// The odds that a player's table gives.
pub(super) fn odds(fields: &PlayerFields) -> Result<TimeOdds, Wrong> {
    let mut odds = TimeOdds::default();
    for (key, value) in inner(fields, "clocks")?.into_iter().flatten() {
        let slot = match key.as_str() {
            "start" => &mut odds.start,
            "play" => &mut odds.play,
            _ => {
                let message =
                    format!("unknown key `clocks.{key}`; a player's own clocks are start and play");
                return Err(Wrong::at(&format!("clocks.{key}"), message));
            }
        };
        let clock = value.as_str().and_then(read_clock).ok_or_else(|| {
            let path = format!("clocks.{key}");
            Wrong::at(&path, format!("{path} = {value}: expected {EXPECTED}"))
        })?;
        *slot = Some(clock);
    }
    for (key, value) in inner(fields, "budget")?.into_iter().flatten() {
        if key != "nodes" {
            let message = format!("unknown key `budget.{key}`; a player's own budget is nodes");
            return Err(Wrong::at(&format!("budget.{key}"), message));
        }
        let nodes = value.as_integer().and_then(|nodes| u64::try_from(nodes).ok());
        let nodes = nodes.filter(|&nodes| nodes > 0).ok_or_else(|| {
            let message = format!("budget.nodes = {value}: expected a whole number from 1");
            Wrong::at("budget.nodes", message)
        })?;
        odds.nodes = Some(nodes);
    }
    Ok(odds)
}

fn inner<'a>(fields: &'a PlayerFields, key: &str) -> Result<Option<&'a Table>, Wrong> {
    let wrong = |value: &Value| {
        let example =
            if key == "clocks" { "clocks.play = \"200ms\"" } else { "budget.nodes = 500" };
        Wrong::at(key, format!("{key} is {}: expected as in {example}", kind_of(value)))
    };
    fields.get(key).map(|value| value.as_table().ok_or_else(|| wrong(value))).transpose()
}

/// The odds as a player's table has them; empty if there are none.
pub(super) fn written(odds: TimeOdds) -> Table {
    let mut fields = Table::new();
    let mut clocks = Table::new();
    for (key, clock) in [("start", odds.start), ("play", odds.play)] {
        if let Some(clock) = clock {
            clocks.insert(key.to_owned(), format!("{}ms", clock.as_millis()).into());
        }
    }
    if !clocks.is_empty() {
        fields.insert("clocks".to_owned(), clocks.into());
    }
    if let Some(nodes) = odds.nodes {
        let budget = [("nodes".to_owned(), Value::Integer(nodes.cast_signed()))];
        fields.insert("budget".to_owned(), Value::Table(budget.into_iter().collect()));
    }
    fields
}
