//! The workers of a run, and whether their machines shift results.

use super::headings;
use super::layout::{Section, Table};
use super::words::{points, share};
use crate::workers::{Readings, WorkerRow};

/// What the columns of the table mean.
pub(super) const EXPLANATION: &str = "\
    Speed: millions of rounds of a fixed loop in a second of a core's time. Lateness: how late a timer \
    woke up, on average. Largest shift: the player whose mean reward on this worker differs most, by \
    points, from its mean in all blocks of the same game, budget and opponents. p: the probability in \
    percent of such a shift of any player on any worker by chance, corrected by Holm's method. If p is \
    below 1, compare with a report without that worker (`--exclude-worker`).";

pub(super) fn section(rows: &[WorkerRow]) -> Section {
    let heading = headings::WORKERS.to_owned();
    if rows.is_empty() {
        let sentence = "No block of this run was played by a worker.".to_owned();
        return Section { heading, sentence: Some(sentence), tables: vec![] };
    }
    let columns = [
        "worker",
        "largest shift",
        "blocks",
        "at once",
        "speed",
        "lateness us",
        "points",
        "std. error",
        "p",
    ];
    let reading = |readings: &Readings| match readings.n {
        0 => "-".to_owned(),
        _ => format!("{:.0}", readings.mean),
    };
    let row = |row: &WorkerRow| {
        let machine = &row.machine;
        let shift = row.shift.as_ref();
        let of = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        vec![
            row.worker.clone(),
            of(shift.map(|shift| shift.player.clone())),
            row.n_blocks.to_string(),
            if machine.at_once == 0 { "-".to_owned() } else { machine.at_once.to_string() },
            reading(&machine.speed),
            reading(&machine.lateness_us),
            of(shift.map(|shift| points(shift.points))),
            of(shift.map(|shift| points(shift.standard_error))),
            of(shift.map(|shift| share(shift.p))),
        ]
    };
    Section {
        heading,
        sentence: Some(EXPLANATION.to_owned()),
        tables: vec![Table::new(2, &columns, rows.iter().map(row).collect())],
    }
}
