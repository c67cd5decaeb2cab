//! Standings for people and for other programs: as text, Markdown, JSON and CSV,
//! and with everything else there is to say as a page.
//!
//! `summary.json` and `summary.md` hold the same as the JSON and Markdown
//! reports, but for the answer of a comparison, which has files of its own; like
//! the tables they can be rebuilt byte for byte.

mod compared;
mod csv;
mod document;
mod html;
mod junit;
mod markdown;
mod notes;
mod regression;
mod stages;
mod sweep;
mod text;
mod verdict;
mod words;

use std::path::Path;

use serde::Serialize;

use crate::bootstrap::Bootstrap;
use crate::evaluation::{Evaluation, evaluate};
use crate::files::{self, FillError, WriteError, write_whole};
use crate::journal::JournalError;
use crate::regress::{ReadError, Regression};
use crate::standings::{Standings, StandingsError, standings};
pub use html::{Replay, ReplayBoard, ReplaySeat, ReplayStep, html};
pub use junit::junit;
pub use regression::{render_regression, verdict_of_regression};
pub use sweep::render_sweep;

pub use compared::render_comparison;
use csv::csv;
use document::document;
use markdown::markdown;
pub(crate) use markdown::push_row as push_markdown_row;
use text::{section_text, text, wrapped};

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables of at most 100 columns.
    Text,
    /// All of [`Standings`], and of [`Regression`] where the run is a comparison.
    Json,
    /// One row for each mean.
    Csv,
    /// Markdown.
    Md,
}

/// Why there is no report. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The standings cannot be computed.
    #[error(transparent)]
    Standings(#[from] StandingsError),
    /// A summary cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What a comparison came to cannot be read.
    #[error(transparent)]
    Regression(#[from] ReadError),
    /// There is nothing to report on.
    #[error("report on {run}: its journal holds no match yet")]
    Empty {
        /// The folder.
        run: String,
    },
}

impl From<JournalError> for ReportError {
    fn from(error: JournalError) -> Self {
        Self::Standings(error.into())
    }
}

/// The report on the run in folder `run`, from its journal alone.
///
/// # Errors
/// If the journal is missing, damaged, or holds no match. A half-written last
/// line is no error: the report says so.
pub fn report(run: &Path, format: Format) -> Result<String, ReportError> {
    let standings = standings(run, &Bootstrap::default())?;
    if standings.n_matches == 0 {
        return Err(ReportError::Empty { run: run.display().to_string() });
    }
    // A row for each mean has no place for an answer.
    let found = if format == Format::Csv { None } else { crate::regress::read(run)? };
    Ok(match (found, format) {
        (None, _) => render(&standings, format),
        (Some(regression), Format::Json) => {
            json(&Answered { regression: &regression, standings: &standings })
        }
        (Some(found), _) => render_regression(&found, format) + "\n" + &render(&standings, format),
    })
}

/// The standings of a run that is a comparison of two versions of a player.
#[derive(Serialize)]
struct Answered<'a> {
    regression: &'a Regression,
    #[serde(flatten)]
    standings: &'a Standings,
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("a report is representable") + "\n"
}

/// Writes what a comparison in folder `run` came to: for programs, for people,
/// and as JUnit XML.
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
        write_whole(&run.join(name), |file| {
            file.write_all(contents.as_bytes())?;
            Ok::<_, FillError<ReportError>>(())
        })?;
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
    if evaluation.standings.n_matches == 0 {
        return Err(ReportError::Empty { run: run.display().to_string() });
    }
    Ok(evaluation)
}

/// Writes `summary.json` and `summary.md` of the run in folder `run`, also when
/// it holds no match yet.
///
/// # Errors
/// If the journal cannot be read, or a summary cannot be written.
pub fn write_summaries(run: &Path) -> Result<Standings, ReportError> {
    let standings = standings(run, &Bootstrap::default())?;
    for (name, format) in [(files::SUMMARY_JSON, Format::Json), (files::SUMMARY_MD, Format::Md)] {
        write_whole(&run.join(name), |file| {
            file.write_all(render(&standings, format).as_bytes())?;
            Ok::<_, FillError<ReportError>>(())
        })?;
    }
    Ok(standings)
}

/// Writes a page to a file, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_page(file: &Path, page: &str) -> Result<(), ReportError> {
    write_whole(file, |writer| {
        writer.write_all(page.as_bytes())?;
        Ok::<_, FillError<ReportError>>(())
    })
}

/// Writes standings down; the text ends with a line feed.
#[must_use]
pub fn render(standings: &Standings, format: Format) -> String {
    match format {
        Format::Text => text(&document(standings)),
        Format::Md => markdown(&document(standings)),
        Format::Json => json(standings),
        Format::Csv => csv(standings),
    }
}

/// The standings alone, of each stage and of all together, as text: what a run
/// ends with on a terminal.
#[must_use]
pub fn render_overall(standings: &Standings) -> String {
    let document = document(standings);
    let mut text = wrapped(&document.facts, "", "");
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
    use crate::record::{Ending, MatchRecord};
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
    fn text_fits_a_terminal_of_100_columns() {
        let mut records = sample::records();
        for record in &mut records {
            record.game = format!("a-game-with-a-rather-long-name-{}", record.game);
            for seat in &mut record.seats {
                let n = record.job * 7 % 11;
                seat.player = format!("{}-with-options-that-make-its-name-long-{n}", seat.player);
            }
        }
        records[13].ending = Ending::GameError { reason: "no legal move for the role ".repeat(9) };
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
             interval of the difference, [50.0, 50.0], excludes 0.",
        );
        check_verdict(
            &matches(2, [75, 25]),
            "a leads with 75.0, 50.0 points ahead of b; whether \
             that is chance cannot be said from one block of a game.",
        );
        check_verdict(
            &matches(8, [50, 50]),
            "a and b are level; all blocks gave the same difference. That is from only 4 blocks.",
        );
        let mut mixed = matches(8, [60, 40]);
        mixed.extend(matches(4, [20, 80]).into_iter().map(|record| {
            let job = record.job + 8;
            MatchRecord { job, block: job / 2, job_id: job.to_string(), ..record }
        }));
        check_verdict(
            &mixed,
            "b leads with 53.3, 6.7 points ahead of a; the 95 % \
             interval of the difference, [-20.0, 33.3], does not exclude 0: it may be chance. That is \
             from only 6 blocks.",
        );
        check_verdict(
            &[sample::record_with_chance(0, "alpha", 30)],
            "alpha has a mean reward of 30.0; there is nobody to compare it with.",
        );
        let mut other_game = matches(4, [60, 40]);
        other_game.extend(matches(4, [100, 100]).into_iter().map(|mut record| {
            let job = record.job + 4;
            record.seats.iter_mut().filter(|seat| seat.player == "b").for_each(|seat| {
                seat.player = "c".into();
                seat.reward = Some(0);
            });
            let game = "y".into();
            MatchRecord { job, block: job / 2, job_id: job.to_string(), game, ..record }
        }));
        check_verdict(
            &other_game,
            "a leads with 80.0, 20.0 points ahead of b at the 1 game both played; the 95 % \
             interval of the difference, [20.0, 20.0], excludes 0. That is from only 2 blocks.",
        );
        let unscored = MatchRecord { ending: Ending::StepLimit, ..matches(1, [0, 0]).remove(0) };
        check_verdict(&[unscored], "No match was scored, so nobody leads.");
    }

    #[test]
    fn errors_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = report(folder.path(), Format::Text).unwrap_err().to_string();
        assert!(missing.contains("holds no run"), "{missing}");
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
