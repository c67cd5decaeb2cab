//! Games and roles: means of each, and the effects of seats and players.

use std::collections::BTreeMap;

use super::super::chart::{Forest, Heat, HeatCell, Hue, Interval};
use super::super::figure::budget;
use super::super::table::{Cell, Column, interval, name, number, page_table};
use super::super::{Page, headings, words};
use super::{Section, abreast, paragraph};
use crate::evaluation::{MoveBudget, SeatEffects, Worth};
use crate::standings::{Estimate, Standings};

/// Maximum number of columns of a figure.
const MOST: usize = 16;
/// Maximum number of rows of a figure of intervals.
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
    body += "<h3>Effects of seats and players</h3>\n";
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
        description: "Blue is above 50 points, orange below. Games in which all rewards are high or \
                      all are low show little of the players' strength.",
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
        number("reward", "Mean over scored matches; budgets have equal weight."),
        interval(
            "interval",
            "Student's t from the standard deviation between blocks; – with fewer than two.",
        ),
        number("matches", "Scored matches."),
        number("blocks", "Blocks of these matches."),
    ]);
    columns
}

fn estimate_cells(names: &[&str], estimate: &Estimate) -> Vec<Cell> {
    let matches = words::count(estimate.n_matches, "match", "matches");
    let of = format!("of {matches} in {}", words::count(estimate.n_blocks, "block", "blocks"));
    let mut cells: Vec<Cell> = names.iter().map(|&name| Cell::text(name)).collect();
    cells.extend([
        Cell::points(estimate.mean).from(of),
        Cell::interval(estimate.interval).holding(estimate.n_exact),
        Cell::count(estimate.n_matches),
        Cell::count(estimate.n_blocks),
    ]);
    cells
}

fn by_game(standings: &Standings) -> String {
    let columns = estimate_columns(&[
        name("game", "Name of the rulesheet."),
        name("player", "In the order of the standings."),
    ]);
    let rows = standings.by_game.iter();
    let rows = rows.map(|row| estimate_cells(&[&row.game, &row.player], &row.reward));
    page_table("game-table", headings::BY_GAME, &columns, rows)
}

fn by_role(standings: &Standings) -> String {
    let columns = estimate_columns(&[
        name("game", "Name of the rulesheet."),
        name("role", "Name of the role."),
        name("player", "In the order of the standings."),
    ]);
    let rows = standings.by_role.iter();
    let rows = rows.map(|row| estimate_cells(&[&row.game, &row.role, &row.player], &row.reward));
    page_table("role-table", headings::BY_ROLE, &columns, rows)
}

fn effects_of(page: &Page<'_>, effects: &SeatEffects) -> String {
    let how = format!(
        "Rewards are modelled by least squares as the effect of the seat plus the effect of the \
         player. The model explains {:.0} % of their variance; the standard deviation of single \
         rewards around it is {:.1} points. Standard errors are clustered by block ({} clusters).",
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
                "Student's t, clustered by block, cut to the possible range; – for a game with a \
                 single block.",
            ),
            number("standard error", "Robust, clustered by block."),
        ]
    };
    let mut columns = vec![
        name("game", "Name of the rulesheet."),
        name("budget", "Play clock, or nodes for each move."),
        name("role", "Name of the role."),
    ];
    columns.extend(effect_columns("The reward of an average player in this seat."));
    let rows = effects.seats.iter().map(|seat| {
        let mut cells =
            vec![Cell::text(&seat.game), Cell::text(&seat.clock), Cell::text(&seat.role)];
        cells.extend(effect_cells(Some(seat.effect)));
        cells
    });
    html += &page_table("seat-table", headings::SEATS, &columns, rows);
    let mut columns = vec![name("player", "In the order of the standings.")];
    columns.extend(effect_columns(
        "Points that the player adds to the effects of its seats; over all players they sum to 0.",
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
    html + &page_table("effect-table", headings::PLAYERS, &columns, rows)
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
        title: headings::SEATS,
        description: "The reward of an average player in each seat, with 95 % intervals cut to 0 and \
                      100; none for a game with a single block. If the seats of a game are far \
                      apart, seats decide it more than players.",
        unit: "points",
        reference: None,
        rows: rows.collect(),
    }
    .html()
}

/// Which player is stronger at a game than at the others.
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
                "{} at {}: {} {} points above its strength over all games",
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
        title: "Players at single games",
        description: "Points above or below the player's strength over all games; rows and columns \
                      sum to 0.",
        hue: Hue::Sign,
        across: "player",
        columns: names.iter().map(|&name| name.to_owned()).collect(),
        rows: effects.strata.iter().enumerate().map(row).collect(),
    }
    .html()
}
