//! What players expected of their moves, and what they got.

use super::super::chart::{Expected, Point, Series};
use super::super::table::{Cell, interval, name, number, page_table};
use super::super::words::count;
use super::super::{Page, headings};
use super::{Section, abreast, paragraph};
use crate::calibration::CalibrationBin;
use crate::report::sections::CALIBRATION_MEANING;

/// Players of the figure; the table has all.
const MOST_LINES: usize = 12;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let bins = &page.evaluation.calibration;
    if bins.is_empty() {
        return None;
    }
    let point = |bin: &CalibrationBin| Point {
        x: bin.expected,
        y: bin.reward,
        bounds: bin.interval,
        tip: format!(
            "{}: expected {:.1}, reward {:.1}, {}",
            bin.player,
            bin.expected,
            bin.reward,
            count(bin.decisions, "decision", "decisions")
        ),
    };
    let names = page.names();
    let of_player = |(number, name): (usize, &&str)| Series {
        name: (*name).to_owned(),
        number,
        points: bins.iter().filter(|bin| bin.player == **name).map(point).collect(),
    };
    let series = names.iter().enumerate().map(of_player);
    let series = series.filter(|series| !series.points.is_empty()).take(MOST_LINES).collect();
    let figure = Expected {
        title: headings::CALIBRATION,
        description: "Mean reward of matches over the value that players gave to their moves, by \
                      tenths of the scale, with 95 % intervals. On the dashed line players get \
                      what they expect.",
        series,
    };
    let columns = vec![
        name("player", "Name of the player."),
        number("from", "Values of moves from here on."),
        number("to", "Values below this one."),
        number("expected", "Mean of these values, points."),
        number("reward", "Mean reward of the matches, each move weighing the same, points."),
        interval("interval", "95 % interval of the mean reward, over blocks."),
        number("decisions", "Moves with a choice and a value in this range."),
    ];
    let row = |bin: &CalibrationBin| {
        vec![
            Cell::text(&bin.player),
            Cell::decimal(Some(bin.low), 0),
            Cell::decimal(Some(bin.high), 0),
            Cell::points(Some(bin.expected)),
            Cell::points(Some(bin.reward)),
            Cell::interval(bin.interval),
            Cell::count(bin.decisions),
        ]
    };
    let table =
        page_table("calibration-table", headings::CALIBRATION, &columns, bins.iter().map(row));
    let body = paragraph(CALIBRATION_MEANING) + &abreast(&[figure.html()]) + &table;
    Some(Section { id: "calibration", heading: headings::CALIBRATION, body })
}
