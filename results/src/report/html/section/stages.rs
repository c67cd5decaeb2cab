//! How each stage of a tournament in rounds stands, by its own rule.

use super::super::Page;
use super::super::escape::Escaped;
use super::super::table::{Cell, Column, name, number, page_table};
use super::{Section, paragraph};
use crate::formats::summary::{Placed, PlacedBy, StageSummary};
use crate::formats::{Format, Stage};
use crate::report::stages::{heading, sentence, tie_words};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let stages = &page.evaluation.standings.stages;
    if stages.is_empty() {
        return None;
    }
    let body = stages.iter().map(stage_body).collect();
    Some(Section { id: "stages", heading: "Stages", body })
}

fn stage_body(stage: &StageSummary) -> String {
    let mut body =
        format!("<h3>{}</h3>\n{}", Escaped(&heading(stage)), paragraph(&sentence(stage)));
    if !stage.ties.is_empty() {
        let id = format!("bracket-{}-table", stage.stage);
        let columns = vec![
            name("round", "The round of the knockout."),
            name(
                "player",
                "The first player in the order of the bracket; its seeding is in brackets.",
            ),
            name("opponent", "The second player in the order of the bracket."),
            name(
                "rewards",
                "Mean rewards of the two players: of the encounter, then of each extra lap.",
            ),
            name("advances", "The player that advances to the next round."),
            name("decided by", "What decided the encounter."),
        ];
        let row = |tie| tie_words(tie).map(Cell::text).to_vec();
        let rows = stage.ties.iter().map(row);
        body += &page_table(&id, "Bracket", &columns, rows);
    }
    let id = format!("stage-{}-table", stage.stage);
    let columns = columns(&stage.rule, stage.n_rounds_finished);
    let rows = stage.ranking.iter().map(|row| placed(row, &stage.rule));
    body + &page_table(&id, "Places", &columns, rows)
}

fn columns(rule: &Stage, n_rounds: u32) -> Vec<Column> {
    let mut columns =
        vec![number("", "Place in this stage."), name("player", "Name of the player in the spec.")];
    match rule.format {
        Format::RoundRobin | Format::Gauntlet { .. } => {
            columns.push(number("reward", "Mean reward in this stage; games have equal weight."));
            columns.push(number("blocks", "Blocks of this stage that count."));
            if rule.race.is_some() {
                let meaning =
                    "Laps after which the player was shown to be weaker; – if it was not dropped.";
                columns.push(number("dropped after lap", meaning));
            }
        }
        Format::Swiss { .. } => {
            columns.push(number(
                "points",
                "One for a won encounter or a bye, half for a drawn encounter.",
            ));
            let round = |round: u32| number(&format!("r{round}"), "Points of that round.");
            columns.extend((1..=n_rounds).map(round));
            columns.push(number("Buchholz", "Sum of the points of all opponents."));
            let meaning = "Mean reward minus the opponents', averaged over encounters.";
            columns.push(number("reward difference", meaning));
            columns.push(number("byes", "Rounds in which it had no opponent."));
        }
        Format::Knockout { .. } => {
            columns.push(number(
                "seeding",
                "Place before the knockout: a better one gets weaker opponents.",
            ));
        }
        Format::Ladder { .. } => {
            columns.push(number("rating", "Glicko-2 rating after the last finished round."));
            columns
                .push(number("deviation", "Uncertainty of the rating, as a standard deviation."));
            columns.push(number("won", "Blocks with the better mean reward."));
            columns.push(number("drawn", "Blocks with equal mean rewards."));
            columns.push(number("lost", "Blocks with the lower mean reward."));
            columns.push(number("byes", "Rounds in which it had no opponent."));
        }
    }
    columns
}

fn placed(row: &Placed, rule: &Stage) -> Vec<Cell> {
    let count = |n: u32| Cell::count(n.into());
    let mut cells = vec![count(row.place), Cell::text(&row.player)];
    match &row.by {
        PlacedBy::Table { mean, n_blocks, dropped_after_laps } => {
            cells.extend([Cell::points(*mean), Cell::count(*n_blocks)]);
            if rule.race.is_some() {
                cells.push(dropped_after_laps.map_or_else(|| Cell::text("–"), count));
            }
        }
        PlacedBy::Swiss { points, by_round, buchholz, margin, n_byes } => {
            let decimals = |points: f64| usize::from(points.fract() != 0.0) * 2;
            let own = |points: f64| Cell::decimal(Some(points), decimals(points));
            cells.push(own(*points));
            cells.extend(by_round.iter().map(|&points| own(points)));
            cells.extend([own(*buchholz), Cell::points(Some(*margin)), count(*n_byes)]);
        }
        PlacedBy::Knockout { seed } => cells.push(count(*seed)),
        PlacedBy::Ladder { rating, deviation, n_won, n_drawn, n_lost, n_byes } => {
            cells.extend([rating, deviation].map(|value| Cell::decimal(Some(*value), 0)));
            cells.extend([n_won, n_drawn, n_lost, n_byes].map(|&n| count(n)));
        }
    }
    cells
}
