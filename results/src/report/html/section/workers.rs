//! The workers that played the run, and whether their machines shift results.

use super::super::super::{headings, workers::EXPLANATION};
use super::super::Page;
use super::super::table::{Cell, name, number, page_table};
use super::{Section, paragraph};
use crate::workers::Readings;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let workers = &page.evaluation.workers;
    if workers.is_empty() {
        return None;
    }
    let columns = vec![
        name("worker", "Name of the worker."),
        number("blocks", "Blocks that it played, all of whose matches are scored."),
        number("at once", "Matches that it played at once."),
        number("speed", "Millions of rounds of a fixed loop in a second of a core's time, mean."),
        number("lateness", "How late a timer woke up, mean, microseconds."),
        name("largest shift", "The player whose results differ most on this worker."),
        number(
            "points",
            "Its mean reward on this worker, less that in all blocks of the same kind.",
        ),
        number("std. error", "Standard deviation of such a difference by chance, points."),
        number("p", "Probability of such a shift of any player on any worker by chance (Holm)."),
        name("version", "Version of gamemaster, and hash of its executable."),
        name("tags", "What the machine has."),
    ];
    let mean = |readings: &Readings| (readings.n > 0).then_some(readings.mean);
    let rows = workers.iter().map(|row| {
        let (machine, shift) = (&row.machine, row.shift.as_ref());
        let at_once = (machine.at_once > 0).then_some(f64::from(machine.at_once));
        vec![
            Cell::text(&row.worker),
            Cell::count(row.n_blocks),
            Cell::decimal(at_once, 0),
            Cell::decimal(mean(&machine.speed), 0),
            Cell::decimal(mean(&machine.lateness_us), 0),
            Cell::text(shift.map_or("–", |shift| &shift.player)),
            Cell::points(shift.map(|shift| shift.points)),
            Cell::points(shift.map(|shift| shift.standard_error)),
            Cell::percent(shift.map(|shift| shift.p)),
            Cell::text(format!("{} {}", machine.version, machine.executable).trim()),
            Cell::text(machine.tags.join(", ")),
        ]
    });
    let caption = "The machines of the workers, and shifts of results";
    let body = paragraph(EXPLANATION) + &page_table("workers-table", caption, &columns, rows);
    Some(Section { id: "workers", heading: headings::WORKERS, body })
}
