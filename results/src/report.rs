//! Standings for people and for other programs: as text, Markdown, JSON and CSV,
//! and with everything else there is to say as a page.
//!
//! `summary.json` and `summary.md` hold the standings of the JSON and Markdown
//! reports, without the answer of a comparison, which has files of its own, and
//! without what takes longer than the end of a run should; like
//! the tables they can be rebuilt byte for byte.

mod compared;
mod csv;
mod document;
mod headings;
mod html;
mod junit;
mod layout;
mod markdown;
mod notes;
mod placings;
mod position_suite;
mod regression;
mod regret;
mod sections;
mod stages;
mod strength;
mod sweep;
mod text;
mod verdict;
mod words;
mod workers;

use std::path::Path;

use serde::Serialize;

use crate::atomic_file::{FillError, WriteError, write_whole};
use crate::evaluation::{Evaluation, evaluate};
use crate::files;
use crate::journal::JournalError;
use crate::regress::{ReadError, Regression};
use crate::standings::{Standings, standings, standings_of};
use crate::stats::bootstrap::Bootstrap;
use crate::tables::{TableError, write_gathering};
use crate::workers::{WorkerRow, workers};
pub use html::{
    Replay, ReplayBoard, ReplayNode, ReplayPiece, ReplaySeat, ReplayShape, ReplayStart, ReplayStep,
    html,
};
pub use junit::junit;
pub use position_suite::{junit_of_positions, render_positions};
pub use regression::{cautions_of_regression, render_regression, verdict_of_regression};
pub use regret::render_regret;
pub use sweep::render_sweep;

pub use compared::render_comparison;
use csv::csv;
pub use csv::{CsvTable, StandingsTable, StrengthTable};
use document::document;
use layout::Document;
use markdown::markdown;
pub(crate) use markdown::push_row as push_markdown_row;
pub use sections::Part;
use strength::Strength;
pub use text::wrapped;
use text::{section_text, text};
pub use words::points;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables of at most 100 columns.
    Text,
    /// All of [`Standings`], ratings, ranks, pairs, seats and budgets as `strength`,
    /// and [`Regression`] where the run is a comparison.
    Json,
    /// One row for each mean.
    Csv,
    /// Markdown.
    Md,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A summary cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A table cannot be written.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The result of a comparison cannot be read.
    #[error(transparent)]
    Regression(#[from] ReadError),
    /// There is nothing to report on.
    #[error("nothing to report: the journal of {run} holds no match yet")]
    Empty {
        /// The folder.
        run: String,
    },
}

/// The report on the run in folder `run`, from its journal alone.
///
/// # Errors
/// If the journal is missing, damaged, or holds no match. A half-written last
/// line is no error: the report says so.
pub fn report(run: &Path, format: Format) -> Result<String, ReportError> {
    match format {
        Format::Json => {
            let evaluation = evaluated(run, 0)?;
            let (standings, strength) = (&evaluation.standings, Strength::of(&evaluation));
            let workers = match run.join(files::WORKERS).exists() {
                true => workers(run)?,
                false => vec![],
            };
            let regression = evaluation.regression.as_ref();
            Ok(json(&Whole { regression, standings, strength, workers }))
        }
        Format::Csv => {
            let standings = standings(run, &Bootstrap::default())?;
            Ok(csv(not_empty(run, &standings)?))
        }
        Format::Text | Format::Md => report_parts(run, format, &[Part::Summary]),
    }
}

/// Some parts of the report on the run in folder `run` for people: as Markdown, or
/// else as text. All parts but the summary take longer, and memory that grows with
/// the number of matches.
///
/// # Errors
/// As those of [`report`].
pub fn report_parts(run: &Path, format: Format, parts: &[Part]) -> Result<String, ReportError> {
    let written: fn(&Document) -> String = if format == Format::Md { markdown } else { text };
    const QUICK: [Part; 4] = [Part::Summary, Part::Stages, Part::Faults, Part::Workers];
    let is_quick = |part: &Part| QUICK.contains(part);
    let (standings, mut more) = if parts.iter().all(is_quick) {
        (standings(run, &Bootstrap::default())?, vec![])
    } else {
        let evaluation = evaluated(run, 0)?;
        let more = sections::sections(&evaluation, parts);
        (evaluation.standings, more)
    };
    let mut document = document(not_empty(run, &standings)?);
    let is_whole = parts.contains(&Part::Summary);
    if is_whole {
        // The summary has standings of its own.
        more.retain(|section| section.heading != headings::STANDINGS);
    } else {
        document.sections = document::parts(&standings, parts);
    }
    document.sections.extend(more);
    // A run on one machine has no such file, and its journal is not read again.
    let has_workers = run.join(files::WORKERS).exists();
    if parts.contains(&Part::Workers) || is_whole && has_workers {
        let rows = workers(run)?;
        if !rows.is_empty() || parts == [Part::Workers] {
            document.sections.push(workers::section(&rows));
        }
    }
    headings::sort(&mut document.sections);
    let answer = if is_whole { crate::regress::read(run)? } else { None };
    let answer = answer.map(|found| render_regression(&found, format) + "\n");
    Ok(answer.unwrap_or_default() + &written(&document))
}

/// One table of the report on the run in folder `run`, as CSV.
///
/// # Errors
/// As those of [`report`].
pub fn report_table(run: &Path, table: CsvTable) -> Result<String, ReportError> {
    match table {
        CsvTable::Standings(table) => {
            let standings = standings(run, &Bootstrap::default())?;
            Ok(csv::standings_table(not_empty(run, &standings)?, table))
        }
        CsvTable::Strength(table) => Ok(csv::strength_table(&evaluated(run, 0)?, table)),
    }
}

fn not_empty<'a>(run: &Path, standings: &'a Standings) -> Result<&'a Standings, ReportError> {
    match standings.n_matches {
        0 => Err(ReportError::Empty { run: run.display().to_string() }),
        _ => Ok(standings),
    }
}

/// Everything that a report contains, and the result if the run is a comparison of two
/// versions of a player.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    regression: Option<&'a Regression>,
    #[serde(flatten)]
    standings: &'a Standings,
    strength: Strength<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    workers: Vec<WorkerRow>,
}

/// What is found, written in a format; the text ends with a line feed.
fn rendered(
    format: Format,
    found: &impl Serialize,
    document: impl FnOnce() -> Document,
    csv: impl FnOnce() -> String,
) -> String {
    match format {
        Format::Text => text(&document()),
        Format::Md => markdown(&document()),
        Format::Json => json(found),
        Format::Csv => csv(),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("a report is representable") + "\n"
}

/// Writes the result of a comparison in folder `run`: for programs, for people, and as
/// JUnit XML.
///
/// # Errors
/// If a file cannot be written.
pub fn write_regression(
    run: &Path,
    found: &Regression,
    inconclusive_fails: bool,
) -> Result<(), ReportError> {
    for (name, contents) in [
        (files::REGRESSION_JSON, render_regression(found, Format::Json)),
        (files::REGRESSION_MD, render_regression(found, Format::Md)),
        (files::JUNIT_XML, junit(found, inconclusive_fails)),
    ] {
        write_text(&run.join(name), &contents)?;
    }
    Ok(())
}

/// Everything that the page of [`html`] says about the run in folder `run`, with
/// at most `n_replays` matches worth replaying.
///
/// # Errors
/// As those of [`report`].
pub fn evaluated(run: &Path, n_replays: usize) -> Result<Evaluation, ReportError> {
    let mut evaluation = evaluate(run, &Bootstrap::default(), n_replays)?;
    evaluation.regression = crate::regress::read(run)?;
    if run.join(files::WORKERS).exists() {
        evaluation.workers = workers(run)?;
    }
    not_empty(run, &evaluation.standings)?;
    Ok(evaluation)
}

/// Writes `summary.json` and `summary.md` of the run in folder `run`, also when
/// it holds no match yet.
///
/// # Errors
/// If the journal cannot be read, or a summary cannot be written.
pub fn write_summaries(run: &Path) -> Result<Standings, ReportError> {
    write_standings(run, standings(run, &Bootstrap::default())?)
}

/// Writes `matches.csv`, `moves.csv` if `with_moves`, `summary.json` and `summary.md`
/// of the run in folder `run`, for which the journal is read once.
///
/// # Errors
/// As [`write_summaries`], and if a table cannot be written.
pub fn write_results(run: &Path, with_moves: bool) -> Result<Standings, ReportError> {
    let evidence = write_gathering(run, with_moves)?;
    let journal = run.join(files::JOURNAL);
    write_standings(run, standings_of(&journal, &evidence, &Bootstrap::default())?)
}

fn write_standings(run: &Path, standings: Standings) -> Result<Standings, ReportError> {
    for (name, format) in [(files::SUMMARY_JSON, Format::Json), (files::SUMMARY_MD, Format::Md)] {
        write_text(&run.join(name), &render(&standings, format))?;
    }
    Ok(standings)
}

/// Writes a text to a file, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_text(file: &Path, text: &str) -> Result<(), ReportError> {
    write_whole(file, |writer| {
        writer.write_all(text.as_bytes())?;
        Ok::<_, FillError<ReportError>>(())
    })
}

/// Writes standings down; the text ends with a line feed.
#[must_use]
pub fn render(standings: &Standings, format: Format) -> String {
    rendered(format, standings, || document(standings), || csv(standings))
}

/// The standings alone, of each stage and of all together, as text: what a run
/// ends with on a terminal.
#[must_use]
pub fn render_overall(standings: &Standings) -> String {
    let document = document(standings);
    let mut text = wrapped(&document.facts, "", "", text::WIDTH);
    for section in document.sections.iter().take(standings.stages.len() + 1) {
        text += "\n";
        if !standings.stages.is_empty() {
            text += &format!("{}\n", section.heading);
        }
        text += &section_text(section);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::text::WIDTH;
    use super::verdict::verdict;
    use super::*;
    use crate::record::{Ending, MatchRecord, RuleDefect};
    use crate::sample;

    fn report_of(records: &[MatchRecord], format: Format) -> String {
        let run = sample::run(true, records);
        report(run.path(), format).unwrap()
    }

    #[test]
    fn reports_are_as_before() {
        let records = sample::records();
        insta::assert_snapshot!("report.txt", report_of(&records, Format::Text));
        insta::assert_snapshot!("report.md", report_of(&records, Format::Md));
        insta::assert_snapshot!("report.csv", report_of(&records, Format::Csv));
        insta::assert_snapshot!("report.json", report_of(&records, Format::Json));
    }

    #[test]
    fn parts_are_as_before() {
        let run = sample::run(true, &sample::records());
        let parts = &Part::ALL[2..];
        let text = report_parts(run.path(), Format::Text, parts).unwrap();
        insta::assert_snapshot!("parts.txt", text);
        let markdown = report_parts(run.path(), Format::Md, parts).unwrap();
        assert_eq!(markdown.matches("\n## ").count(), 10, "{markdown}");
    }

    /// All forms are written from one evaluation.
    #[test]
    fn tables_hold_what_json_has() {
        let run = sample::run(true, &sample::records());
        let json: serde_json::Value =
            serde_json::from_str(&report(run.path(), Format::Json).unwrap()).unwrap();
        let strength = &json["strength"];
        let number =
            |value: &serde_json::Value| value.as_f64().map_or(String::new(), |n| n.to_string());
        let pairs = report_table(run.path(), CsvTable::Strength(StrengthTable::Pairs)).unwrap();
        let rows: Vec<&str> = pairs.lines().skip(1).collect();
        let of_json = strength["pairs"].as_array().unwrap();
        assert_eq!((rows.len(), of_json.len()), (3, 3));
        for (row, pair) in rows.iter().zip(of_json) {
            let bounds = [&pair["mean"], &pair["interval"][0], &pair["interval"][1]].map(number);
            let names = ["player", "opponent"].map(|name| pair[name].as_str().unwrap());
            let expected =
                [names.join(","), bounds.join(","), number(&pair["superiority"])].join(",");
            assert!(row.starts_with(&expected), "{row} {expected}");
        }
        // The leader's pairs are what the standings say of who is behind it.
        let behind = &json["players"][1]["behind"];
        assert_eq!(behind["mean"], of_json[0]["mean"]);
        let ratings = report_table(run.path(), CsvTable::Strength(StrengthTable::Ratings)).unwrap();
        assert_eq!(ratings.lines().count(), 1 + strength["ratings"].as_array().unwrap().len());
        assert!(ratings.contains("\nbradley_terry,alpha,"), "{ratings}");
        let ranks = report_table(run.path(), CsvTable::Strength(StrengthTable::Ranks)).unwrap();
        assert_eq!(ranks.lines().count(), 1 + 3 * 3);
        for table in [
            CsvTable::Standings(StandingsTable::Means),
            CsvTable::Standings(StandingsTable::CrossTable),
            CsvTable::Standings(StandingsTable::Timing),
            CsvTable::Standings(StandingsTable::Faults),
            CsvTable::Strength(StrengthTable::Seats),
            CsvTable::Strength(StrengthTable::Effects),
        ] {
            let csv = report_table(run.path(), table).unwrap();
            let n_cells = csv.lines().next().unwrap().split(',').count();
            assert!(csv.lines().count() > 1 && n_cells > 2, "{table:?}: {csv}");
        }
    }

    #[test]
    fn text_fits_a_terminal_of_100_columns() {
        let mut records = sample::records();
        for record in &mut records {
            record.game = format!("a-game-with-a-rather-long-name-{}", record.game);
            for seat in &mut record.seats {
                let n = record.job * 7 % 11;
                let player = seat.player.as_mut().unwrap();
                *player += &format!("-with-options-that-make-its-name-long-{n}");
            }
        }
        records[13].ending = Ending::GameError {
            reason: RuleDefect::NotComputable { detail: "no legal move for the role ".repeat(9) },
        };
        let text = report_of(&records, Format::Text);
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(WIDTH), "{line}");
        }
    }

    #[test]
    fn no_report_has_a_number_that_is_none() {
        let records = sample::records();
        let draws: Vec<MatchRecord> =
            (0..8).map(|job| sample::record(job, "x", ["a", "b"], [50, 50])).collect();
        let alone = [sample::record_with_chance(0, "alpha", 30)];
        let mut unscored = sample::record(0, "x", ["a", "b"], [0, 0]);
        unscored.ending = Ending::StepLimit;
        for records in [&records[..], &records[..1], &draws, &alone, &[unscored]] {
            for format in [Format::Text, Format::Md, Format::Csv, Format::Json] {
                let text = report_of(records, format);
                assert!(!text.contains("NaN") && !text.contains("inf,") && text.ends_with('\n'));
                assert!(!text.contains("-0.0 "), "{text}");
            }
        }
    }

    #[track_caller]
    fn check_verdict(records: &[MatchRecord], expected: &str) {
        let run = sample::run(true, records);
        let standings = standings(run.path(), &Bootstrap::default()).unwrap();
        assert_eq!(verdict(&standings).unwrap(), expected);
    }

    #[test]
    fn verdicts() {
        let matches = |n: u64, rewards: [u8; 2]| -> Vec<MatchRecord> {
            let [a, b] = rewards;
            let seatings = [(["a", "b"], [a, b]), (["b", "a"], [b, a])];
            let seating = |job: u64| seatings[job as usize % 2];
            let record = |job| sample::record(job, "x", seating(job).0, seating(job).1);
            (0..n).map(record).collect()
        };
        check_verdict(
            &matches(20, [75, 25]),
            "a leads with 75.0, 50.0 points ahead of b; the 95 % \
             interval of the difference, [3.7, 65.4], excludes 0.",
        );
        check_verdict(
            &matches(2, [75, 25]),
            "a leads with 75.0, 50.0 points ahead of b; one block \
             of each game is too little to compare them.",
        );
        check_verdict(
            &matches(8, [50, 50]),
            "a and b have equal means; the 95 % interval of the difference, [-60.2, 60.2], contains \
             0, so this may be chance. Only 4 blocks have one or both of these players; with fewer than 10, \
             intervals are wide.",
        );
        let mut mixed = matches(8, [60, 40]);
        mixed.extend(matches(4, [20, 80]).into_iter().map(|record| {
            let job = record.job + 8;
            MatchRecord { job, block: job / 2, job_id: job.to_string(), ..record }
        }));
        check_verdict(
            &mixed,
            "b leads with 53.3, 6.7 points ahead of a; the 95 % \
             interval of the difference, [-36.7, 50.0], contains 0, so this may be chance. Only \
             6 blocks have one or both of these players; with fewer than 10, intervals are wide.",
        );
        check_verdict(
            &[sample::record_with_chance(0, "alpha", 30)],
            "alpha has a mean reward of 30.0; there is no other player.",
        );
        let mut other_game = matches(4, [60, 40]);
        other_game.extend(matches(4, [100, 100]).into_iter().map(|mut record| {
            let job = record.job + 4;
            record.seats.iter_mut().filter(|seat| seat.player.as_deref() == Some("b")).for_each(
                |seat| {
                    seat.player = Some("c".into());
                    seat.reward = Some(0);
                },
            );
            let game = "y".into();
            MatchRecord { job, block: job / 2, job_id: job.to_string(), game, ..record }
        }));
        check_verdict(
            &other_game,
            "a has the highest mean reward, 80.0, but the means are against different opponents.",
        );
        let unscored = MatchRecord { ending: Ending::StepLimit, ..matches(1, [0, 0]).remove(0) };
        check_verdict(
            &[unscored],
            "No match was scored, so no player leads; the report says how the matches ended.",
        );
    }

    #[test]
    fn errors_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = report(folder.path(), Format::Text).unwrap_err().to_string();
        assert!(missing.contains("is not the folder of a run"), "{missing}");
        let run = sample::run(true, &[]);
        let empty = report(run.path(), Format::Text).unwrap_err();
        assert!(matches!(empty, ReportError::Empty { .. }));
        assert!(write_summaries(run.path()).is_ok());
    }

    #[test]
    fn a_half_written_journal_is_reported_on_with_a_note() {
        let records = sample::records();
        let run = sample::run(true, &records);
        let journal = run.path().join(files::JOURNAL);
        let text = std::fs::read(&journal).unwrap();
        std::fs::write(&journal, &text[..text.len() - 9]).unwrap();
        let text = report(run.path(), Format::Text).unwrap();
        assert!(text.contains("35 matches") && text.contains("half-written"), "{text}");
    }

    #[test]
    fn without_times_summaries_depend_on_no_times() {
        let records = sample::records();
        let summaries = |records: &[MatchRecord]| {
            let run = sample::run(false, records);
            write_summaries(run.path()).unwrap();
            [files::SUMMARY_JSON, files::SUMMARY_MD]
                .map(|name| std::fs::read_to_string(run.path().join(name)).unwrap())
        };
        let others: Vec<MatchRecord> = records.iter().rev().map(sample::at_other_times).collect();
        assert_eq!(summaries(&others), summaries(&records));
    }
}
