//! A suite as a table: aligned text, Markdown, or CSV.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use super::{Row, Suite};

const HEADINGS: [&str; 10] = [
    "game",
    "facts",
    "moves",
    "conjunctions",
    "prover",
    "network",
    "batch",
    "machine code",
    "start",
    "machine code start",
];

/// What the headings mean, for the reader of a table alone.
const MEANING: &str = "\
States per second of CPU time of one thread, by random playouts with the goals of all
roles: by the prover, by the network one state at a time, by batches of LANES states
interpreted and as machine code. Start: from the rulesheet's text to the end of the
first playout, with the reasoner that matches use; machine code start: the same with
a batch as machine code.
";

/// Aligned columns.
pub(super) fn text(suite: &Suite) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(rows(suite));
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if at > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    format!("{lines}\n{}{}", meaning(suite), about(suite))
}

/// A table, and what it means below.
pub(super) fn markdown(suite: &Suite) -> String {
    let mut text = String::new();
    for (at, row) in rows(suite).iter().enumerate() {
        writeln!(text, "| {} |", row.join(" | ")).expect("a string takes all");
        if at == 0 {
            text += "| --- |";
            text += &" ---: |".repeat(HEADINGS.len() - 1);
            text.push('\n');
        }
    }
    format!("{text}\n{}\n{}", meaning(suite), about(suite))
}

fn meaning(suite: &Suite) -> String {
    MEANING.replace("LANES", &suite.lanes.to_string())
}

/// What it was measured on, and by what yardstick.
fn about(suite: &Suite) -> String {
    let computer = &suite.computer;
    let mut text = format!(
        "{}, {} cores, {} ({}); {}; gamemaster {}{}; {} s for each number.\n",
        computer.cpu,
        computer.cores,
        computer.system,
        if computer.features.is_empty() { "no vectors" } else { &computer.features },
        computer.rustc,
        computer.gamemaster,
        if computer.is_optimised { "" } else { ", not optimised" },
        suite.seconds,
    );
    let yardstick = short(suite.yardstick_rounds_per_cpu_second);
    text += &format!("Yardstick: {yardstick} rounds of a fixed loop per second of CPU time");
    if let Some(bytes) = suite.peak_rss_bytes {
        text += &format!("; peak memory {} MiB", bytes >> 20);
    }
    text + ".\n"
}

fn rows(suite: &Suite) -> Vec<[String; HEADINGS.len()]> {
    let count = |count: Option<usize>| count.map_or("-".to_owned(), |count| count.to_string());
    let speed = |speed: Option<f64>| speed.map_or("-".to_owned(), short);
    let time = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{ms:.1} ms"));
    let row = |row: &Row| {
        [
            row.game.clone(),
            count(row.facts),
            count(row.moves),
            count(row.conjunctions),
            short(row.prover),
            speed(row.network),
            speed(row.batch_interpreted),
            speed(row.batch_machine_code),
            time(Some(row.start_ms)),
            time(row.batch_start_ms),
        ]
    };
    [HEADINGS.map(str::to_owned)].into_iter().chain(suite.games.iter().map(row)).collect()
}

/// A rate with three significant digits.
fn short(rate: f64) -> String {
    let (scaled, unit) = match rate {
        _ if rate >= 999_500.0 => (rate / 1e6, " M"),
        _ if rate >= 999.5 => (rate / 1e3, " k"),
        _ => (rate, ""),
    };
    match scaled {
        _ if scaled >= 99.95 => format!("{scaled:.0}{unit}"),
        _ if scaled >= 9.995 => format!("{scaled:.1}{unit}"),
        _ => format!("{scaled:.2}{unit}"),
    }
}

const COLUMNS: [&str; 20] = [
    "game",
    "facts",
    "moves",
    "conjunctions",
    "prover",
    "network",
    "batch_interpreted",
    "batch_machine_code",
    "start_ms",
    "batch_start_ms",
    "yardstick",
    "seconds",
    "lanes",
    "cpu",
    "cores",
    "features",
    "system",
    "rustc",
    "gamemaster",
    "is_optimised",
];

/// A row for each game; what is the same for all is in each, so that records of
/// several computers can be put together.
pub(super) fn csv(suite: &Suite) -> String {
    let count = |count: Option<usize>| count.map_or(String::new(), |count| count.to_string());
    let speed = |speed: Option<f64>| speed.map_or(String::new(), |speed| format!("{speed:.1}"));
    let time = |ms: Option<f64>| ms.map_or(String::new(), |ms| format!("{ms:.3}"));
    let computer = &suite.computer;
    let cells = |row: &Row| -> [String; COLUMNS.len()] {
        [
            row.game.clone(),
            count(row.facts),
            count(row.moves),
            count(row.conjunctions),
            speed(Some(row.prover)),
            speed(row.network),
            speed(row.batch_interpreted),
            speed(row.batch_machine_code),
            time(Some(row.start_ms)),
            time(row.batch_start_ms),
            format!("{:.0}", row.yardstick_rounds_per_cpu_second),
            suite.seconds.to_string(),
            suite.lanes.to_string(),
            computer.cpu.clone(),
            computer.cores.to_string(),
            computer.features.clone(),
            computer.system.clone(),
            computer.rustc.to_owned(),
            computer.gamemaster.to_owned(),
            computer.is_optimised.to_string(),
        ]
    };
    written([COLUMNS.map(str::to_owned)].into_iter().chain(suite.games.iter().map(cells)))
}

/// Rows as RFC 4180 has them.
fn written<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    for row in rows {
        writer.write_record(&row).expect("memory takes rows of equal length");
    }
    let bytes = writer.into_inner().expect("memory takes all");
    String::from_utf8(bytes).expect("cells are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits() {
        let cases = [
            (0.5, "0.50"),
            (999.4, "999"),
            (999.6, "1.00 k"),
            (12_345.0, "12.3 k"),
            (999_400.0, "999 k"),
            (999_600.0, "1.00 M"),
            (249_600_000.0, "250 M"),
        ];
        for (rate, expected) in cases {
            assert_eq!(short(rate), expected);
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let row = ["a b", "a, \"b\""].map(str::to_owned);
        assert_eq!(written([row].into_iter()), "a b,\"a, \"\"b\"\"\"\r\n");
    }
}
