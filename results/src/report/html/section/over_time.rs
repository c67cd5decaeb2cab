//! Strength against time to think.

use super::super::chart::{Lines, Point, Series};
use super::super::figure::{budget, tick, time};
use super::super::table::{Cell, Table, interval, name, number};
use super::super::{Page, words};
use super::{Section, abreast, paragraph};
use crate::evaluation::{Budget, OverTime, TimePoint};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let over_time = &page.evaluation.over_time;
    if over_time.is_empty() {
        return None;
    }
    let names = page.names();
    let mut body = paragraph(
        "What players made of the time they had. All who sat in a match had the same unless they \
         had time odds, so that a line shows whom more time helps more than the others, not how \
         much better all play.",
    );
    let by_clock = lines(over_time, &names, false);
    let by_nodes = lines(over_time, &names, true);
    body += &abreast(&[by_clock, by_nodes]);
    if over_time.iter().any(|over| over.per_doubling.is_some()) {
        body += &per_doubling(over_time, &names, page.evaluation.standings.level);
    }
    body += &at_each_clock(over_time, &names);
    Some(Section { id: "over-time", heading: "Strength against time", body })
}

fn lines(over_time: &[OverTime], names: &[&str], nodes: bool) -> String {
    let is_wanted = |point: &&TimePoint| matches!(point.budget, Budget::Nodes(_)) == nodes;
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
        if nodes { ("states a move", tick) } else { ("play clock", time) };
    let lines = Lines {
        title: if nodes {
            "Strength against states searched"
        } else {
            "Strength against the clock"
        },
        description: "Mean reward over all games at each budget, with bootstrap intervals; the \
                      horizontal axis doubles in equal steps.",
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
            "Slope of the least-squares line through the mean rewards of its blocks over the \
             logarithm of its budget.",
        ),
        interval(
            &format!("{:.0} % interval", level * 100.0),
            "By Student's t with a standard error that is robust to unequal variances.",
        ),
        number("blocks", "Blocks that the line is through."),
        number("budgets", "Budgets at which it played."),
    ];
    let rows = over_time.iter().filter_map(|over| {
        let slope = over.per_doubling?;
        Some(vec![
            Cell::text(names[over.player]),
            Cell::decimal(Some(slope.points), 2)
                .from(format!("standard error {:.2}", slope.standard_error)),
            Cell::interval(Some(slope.interval)),
            Cell::count(over.n_blocks as u64),
            Cell::count(over.points.len() as u64),
        ])
    });
    let caption = "What a doubling of its time is worth to a player".into();
    Table { id: "doubling-table".into(), caption, columns, rows: rows.collect() }.html()
}

fn at_each_clock(over_time: &[OverTime], names: &[&str]) -> String {
    let columns = vec![
        name("player", "In the order of the standings."),
        number("budget", "What the player had for a move: its play clock, or states to search."),
        name("clock of the match", "What bounds players without time odds."),
        number("reward", "Mean over its games at this clock."),
        interval("interval", "From resamples of whole blocks."),
        number("matches", "Scored matches."),
        number("blocks", "Blocks these belong to."),
    ];
    let row = |name: &str, point: &TimePoint| {
        vec![
            Cell::text(name),
            Cell::amount(point.budget.amount() as f64, budget(point.budget)),
            Cell::text(&point.clock),
            Cell::points(point.reward.mean),
            Cell::interval(point.reward.interval),
            Cell::count(point.reward.n_matches),
            Cell::count(point.reward.n_blocks),
        ]
    };
    let rows = over_time.iter().flat_map(|over| {
        let name = names[over.player];
        over.points.iter().map(move |point| row(name, point))
    });
    let caption = "At each clock".into();
    Table { id: "clock-table".into(), caption, columns, rows: rows.collect() }.html()
}
