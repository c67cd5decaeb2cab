//! Strength against the budget.

use super::super::chart::{Lines, Point, Series};
use super::super::figure::{budget, tick, time};
use super::super::table::{Cell, interval, name, number, page_table};
use super::super::{Page, headings, words};
use super::{Section, abreast, exact_games, paragraph};
use crate::evaluation::{MoveBudget, OverTime, TimePoint};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let over_time = &page.evaluation.over_time;
    if over_time.is_empty() {
        return None;
    }
    let names = page.names();
    let mut body = paragraph(
        "Mean rewards at each budget. All players of a match had the same budget, unless there \
         were time odds. So a line shows which players gain more than others from more time, not \
         how much all of them gain.",
    );
    body += &paragraph(&left_out(over_time));
    let held = exact_games(page);
    let by_budget = lines(over_time, &names, false, held);
    let by_nodes = lines(over_time, &names, true, held);
    body += &abreast(&[by_budget, by_nodes]);
    if over_time.iter().any(|over| over.per_doubling.is_some()) {
        body += &per_doubling(over_time, &names, page.evaluation.standings.level);
    }
    body += &at_each_budget(over_time, &names);
    Some(Section { id: "over-time", heading: "Strength by budget", body })
}

/// Which games all of this is over.
fn left_out(over_time: &[OverTime]) -> String {
    let most = over_time.iter().map(|over| over.n_other_games).max().unwrap_or(0);
    let rule = "All means here, and the lines through them, are over the games that the player \
                played at each of its budgets; games have equal weight";
    match most {
        0 => format!("{rule}. These are all of its games."),
        n => format!(
            "{rule}. Left out because they were not played at every budget: up to {} of a player.",
            words::count(n, "game", "games")
        ),
    }
}

fn lines(over_time: &[OverTime], names: &[&str], nodes: bool, held: &str) -> String {
    let is_wanted = |point: &&TimePoint| matches!(point.budget, MoveBudget::Nodes(_)) == nodes;
    let point = |name: &str, point: &TimePoint| {
        let reward = &point.reward;
        Some(Point {
            x: point.budget.amount().max(1) as f64,
            y: reward.mean?,
            bounds: reward.interval,
            tip: format!(
                "{name} with {}: {} {} from {} in {}",
                budget(point.budget),
                words::points(reward.mean?),
                words::interval(reward.interval),
                words::count(reward.n_matches, "match", "matches"),
                words::count(reward.n_blocks, "block", "blocks")
            ),
        })
    };
    let series = over_time.iter().map(|over| {
        let name = names[over.player];
        let points = over.points.iter().filter(is_wanted);
        let points = points.filter_map(|at| point(name, at)).collect();
        Series { name: name.to_owned(), number: over.player, points }
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let (across, write): (&str, fn(f64) -> String) =
        if nodes { ("nodes for each move", tick) } else { ("play clock", time) };
    let lines = Lines {
        title: if nodes { "Strength against nodes" } else { "Strength against the play clock" },
        description: &format!(
            "Mean reward at each budget over the games that the player played at all its budgets, \
             with intervals; the horizontal axis is logarithmic.{held}"
        ),
        across,
        up: "mean reward",
        shown: write,
        series,
    };
    lines.html().unwrap_or_default()
}

fn per_doubling(over_time: &[OverTime], names: &[&str], level: f64) -> String {
    let columns = vec![
        name("player", "In the order of the standings."),
        number(
            "points per doubling",
            "Slope of the least-squares line through its means in the figure, against the \
             logarithm of the budget; budgets have equal weight.",
        ),
        interval(
            &format!("{:.0} % interval", level * 100.0),
            "Interval of that slope, from the standard deviation between blocks like the intervals \
             of the means.",
        ),
        number("games", "Games that it played at each of its budgets."),
        number("blocks", "Blocks of all these means."),
        number("budgets", "Budgets at which it played."),
    ];
    let rows = over_time.iter().filter_map(|over| {
        let slope = over.per_doubling?;
        Some(vec![
            Cell::text(names[over.player]),
            Cell::decimal(Some(slope.points), 2).from(
                slope
                    .standard_error
                    .map_or_else(String::new, |error| format!("standard error {error:.2}")),
            ),
            Cell::interval(slope.interval),
            Cell::count(over.n_games),
            Cell::count(over.n_blocks),
            Cell::count(over.points.len() as u64),
        ])
    });
    page_table("doubling-table", headings::PER_DOUBLING, &columns, rows)
}

fn at_each_budget(over_time: &[OverTime], names: &[&str]) -> String {
    let columns = vec![
        name("player", "In the order of the standings."),
        number("budget", "What limited the player: its play clock, or nodes for each move."),
        name("budget of the match", "What limited players without time odds."),
        number("reward", "Mean over the games that it played at each of its budgets."),
        interval("interval", "Student's t from the standard deviation between blocks."),
        number("matches", "Scored matches."),
        number("blocks", "Blocks of these matches."),
    ];
    let row = |name: &str, point: &TimePoint| {
        vec![
            Cell::text(name),
            Cell::amount(point.budget.amount() as f64, budget(point.budget)),
            Cell::text(&point.clock),
            Cell::points(point.reward.mean),
            Cell::interval(point.reward.interval).holding(point.reward.n_exact),
            Cell::count(point.reward.n_matches),
            Cell::count(point.reward.n_blocks),
        ]
    };
    let rows = over_time.iter().flat_map(|over| {
        let name = names[over.player];
        over.points.iter().map(move |point| row(name, point))
    });
    page_table("clock-table", headings::AT_EACH_BUDGET, &columns, rows)
}
