//! Games and roles: who is good at what, and what a seat is worth.

use std::collections::BTreeMap;

use super::super::chart::{Forest, Heat, HeatCell, Hue, Interval};
use super::super::figure::budget;
use super::super::table::{Cell, Column, PageTable, interval, name, number};
use super::super::{Page, words};
use super::{Section, abreast, paragraph};
use crate::evaluation::{MoveBudget, SeatEffects, Worth};
use crate::standings::{Estimate, Standings};

/// Most columns of a figure.
const MOST: usize = 16;
/// Most rows of a figure of intervals.
const MOST_ROWS: usize = 40;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let standings = &page.evaluation.standings;
    if standings.by_game.is_empty() {
        return None;
    }
    let mut body = abreast(&[heat(page, standings)]);
    if standings.games.len() > 1 {
        body += &by_game(standings);
    }
    body += &by_role(standings);
    body += "<h3>What a seat is worth, and to whom</h3>\n";
    body += &match &page.evaluation.effects {
        Ok(effects) => effects_of(page, effects),
        Err(reason) => paragraph(&format!("Effects of seats and players are not given: {reason}.")),
    };
    Some(Section { id: "games", heading: "Games and roles", body })
}

/// Players by games.
fn heat(page: &Page<'_>, standings: &Standings) -> String {
    let games = &standings.games;
    let names = page.names();
    if games.len() < 2 || names.len() > MOST {
        return String::new();
    }
    let found: BTreeMap<(&str, &str), &Estimate> =
        standings.by_game.iter().map(|row| ((&*row.game, &*row.player), &row.reward)).collect();
    let cell = |game: &str, player: &str| {
        let reward = found.get(&(game, player))?;
        let mean = reward.mean?;
        Some(HeatCell {
            value: (mean - 50.0) / 50.0,
            shown: words::points(mean),
            tip: format!(
                "{player} at {game}: {} {} from {}",
                words::points(mean),
                words::interval(reward.interval),
                words::count(reward.n_matches, "match", "matches")
            ),
        })
    };
    let row =
        |game: &String| (game.clone(), names.iter().map(|player| cell(game, player)).collect());
    Heat {
        title: "Mean reward at each game",
        description: "Blue is more than 50 points, orange less. Games in which all do well or all \
                      do badly say little about who is stronger.",
        hue: Hue::Sign,
        across: "player",
        columns: names.iter().map(|&name| name.to_owned()).collect(),
        rows: games.iter().map(row).collect(),
    }
    .html()
}

fn estimate_columns(names: &[Column]) -> Vec<Column> {
    let mut columns = names.to_vec();
    columns.extend([
        number("reward", "Mean over the clocks of the means over its scored matches."),
        interval("interval", "Student's t from whole blocks; – with fewer than two blocks."),
        number("matches", "Scored matches."),
        number("blocks", "Blocks these belong to."),
    ]);
    columns
}

fn estimate_cells(names: &[&str], estimate: &Estimate) -> Vec<Cell> {
    let matches = words::count(estimate.n_matches, "match", "matches");
    let of = format!("of {matches} in {}", words::count(estimate.n_blocks, "block", "blocks"));
    let mut cells: Vec<Cell> = names.iter().map(|&name| Cell::text(name)).collect();
    cells.extend([
        Cell::points(estimate.mean).from(of),
        Cell::interval(estimate.interval).holding(estimate.n_fixed),
        Cell::count(estimate.n_matches),
        Cell::count(estimate.n_blocks),
    ]);
    cells
}

fn by_game(standings: &Standings) -> String {
    let rows = standings.by_game.iter();
    PageTable {
        id: "game-table".into(),
        caption: "By game".into(),
        columns: estimate_columns(&[
            name("game", "Name of the rulesheet."),
            name("player", "In the order of the standings."),
        ]),
        rows: rows.map(|row| estimate_cells(&[&row.game, &row.player], &row.reward)).collect(),
    }
    .html()
}

fn by_role(standings: &Standings) -> String {
    let rows = standings.by_role.iter();
    PageTable {
        id: "role-table".into(),
        caption: "By role".into(),
        columns: estimate_columns(&[
            name("game", "Name of the rulesheet."),
            name("role", "The seat."),
            name("player", "In the order of the standings."),
        ]),
        rows: rows
            .map(|row| estimate_cells(&[&row.game, &row.role, &row.player], &row.reward))
            .collect(),
    }
    .html()
}

fn effects_of(page: &Page<'_>, effects: &SeatEffects) -> String {
    let how = format!(
        "Rewards are explained by least squares as what the seat is worth, plus what the player \
         adds; {:.0} % of their variance is explained, and single rewards scatter by {:.1} points \
         around what is. Standard errors are clustered by block ({} clusters).",
        effects.r_squared * 100.0,
        effects.residual_sd,
        effects.n_clusters
    );
    let mut html = paragraph(&how);
    html += &abreast(&[seat_forest(effects), interactions(page, effects)]);
    let effect_cells = |effect: Option<Worth>| {
        [
            Cell::points(effect.map(|effect| effect.points)),
            Cell::interval(effect.and_then(|effect| effect.interval)),
            Cell::decimal(effect.and_then(|effect| effect.standard_error), 2),
        ]
    };
    let effect_columns = |meaning: &str| {
        [
            number("points", meaning),
            interval(
                "95 % interval",
                "By Student's t, clustered by block, cut to what is possible; – for a game with a \
                 single block.",
            ),
            number("standard error", "Robust, clustered by block."),
        ]
    };
    let mut columns = vec![
        name("game", "Name of the rulesheet."),
        name("clock", "What bounded thinking."),
        name("role", "The seat."),
    ];
    columns.extend(effect_columns("What a player that adds nothing gets in this seat."));
    let rows = effects.seats.iter().map(|seat| {
        let mut cells =
            vec![Cell::text(&seat.game), Cell::text(&seat.clock), Cell::text(&seat.role)];
        cells.extend(effect_cells(Some(seat.effect)));
        cells
    });
    let caption = "What a seat is worth".into();
    html += &PageTable { id: "seat-table".into(), caption, columns, rows: rows.collect() }.html();
    let mut columns = vec![name("player", "In the order of the standings.")];
    columns.extend(effect_columns(
        "What the player adds to what its seats are worth; all players' add up to 0.",
    ));
    if effects.first.is_some() {
        columns.push(number(
            "first",
            "Probability that it adds most, from resamples of whole blocks.",
        ));
    }
    let players = page.names().into_iter().zip(&effects.players).zip(0..);
    let rows = players.map(|((name, effect), place): (_, usize)| {
        let mut cells = vec![Cell::text(name)];
        cells.extend(effect_cells(*effect));
        cells.extend(effects.first.iter().map(|first| Cell::percent(Some(first[place]))));
        cells
    });
    let caption = "What a player adds".into();
    html + &PageTable { id: "effect-table".into(), caption, columns, rows: rows.collect() }.html()
}

fn has_several_clocks(effects: &SeatEffects) -> bool {
    effects.strata.iter().any(|(_, budget)| *budget != effects.strata[0].1)
}

fn seat_forest(effects: &SeatEffects) -> String {
    if effects.seats.len() > MOST_ROWS || effects.seats.is_empty() {
        return String::new();
    }
    let several = has_several_clocks(effects);
    let rows = effects.seats.iter().map(|seat| {
        let clock = if several { format!(", {}", budget(seat.budget)) } else { String::new() };
        let full = format!("{}, {}{clock}", seat.game, seat.role);
        let Worth { points, interval, .. } = seat.effect;
        let tip = format!("{full}: {} {}", words::points(points), words::interval(interval));
        Interval { name: full, middle: points, bounds: interval, tip }
    });
    Forest {
        title: "What a seat is worth",
        description: "The reward of a player that adds nothing, with 95 % intervals cut to 0 and \
                      100; none for a game with a single block. Seats of one \
                      game that are far apart make a game that is decided by who sits where.",
        unit: "points",
        reference: None,
        rows: rows.collect(),
    }
    .html()
}

/// Who is better at a game than elsewhere.
fn interactions(page: &Page<'_>, effects: &SeatEffects) -> String {
    let names = page.names();
    if effects.at_game.is_empty() || names.len() > MOST || effects.strata.len() > MOST_ROWS {
        return String::new();
    }
    let several = has_several_clocks(effects);
    let stratum = |(game, of): &(String, MoveBudget)| {
        if several { format!("{game}, {}", budget(*of)) } else { game.clone() }
    };
    let most = effects.at_game.iter().flatten().map(|effect| effect.points.abs());
    let most = most.fold(1.0, f64::max);
    let cell = |at: usize, player: usize| {
        let effect = effects.at_game[player].get(at)?;
        Some(HeatCell {
            value: effect.points / most,
            shown: words::points(effect.points),
            tip: format!(
                "{} at {}: {} {} points more than its strength elsewhere says",
                names[player],
                stratum(&effects.strata[at]),
                words::points(effect.points),
                words::interval(effect.interval)
            ),
        })
    };
    let row = |(at, of): (usize, &(String, MoveBudget))| {
        (stratum(of), (0..names.len()).map(|player| cell(at, player)).collect())
    };
    Heat {
        title: "Who is better here than elsewhere",
        description: "Points above or below what the player's strength over all games says; rows \
                      and columns add up to 0.",
        hue: Hue::Sign,
        across: "player",
        columns: names.iter().map(|&name| name.to_owned()).collect(),
        rows: effects.strata.iter().enumerate().map(row).collect(),
    }
    .html()
}
