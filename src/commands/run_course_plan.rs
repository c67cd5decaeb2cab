//! What is known of a tournament in rounds before it is played.

use std::io::Write as _;
use std::path::Path;

use results::counted::counted;
use serde::Serialize;

use super::run_estimate::{Estimate, estimate};
use super::run_plan::{Planned, tell_notes};
use crate::cli::Outcome;
use crate::exit_code;
use crate::output::{json_line, to_stdout};
use crate::run_folder::Played;
use crate::staged_schedule::{StageOutline, StagedSchedule};

/// Prints the stages: rounds and matches at most, since results decide.
pub(super) fn tell(
    planned: &Planned,
    course: &StagedSchedule,
    folder: &Path,
    played: &Played,
    json: bool,
) -> Outcome {
    let stages: Vec<Row> = course.outline().iter().map(row).collect();
    // Which of the rounds to come are played nobody knows: their share is taken away.
    let share = 1.0 - (played.n() as f64 / course.most_jobs().max(1) as f64).min(1.0);
    let seconds = estimate(planned, |round| round.n_matches).map(|Estimate { about, at_most }| {
        Estimate { about: about * share, at_most: at_most * share }
    });
    to_stdout(|stdout| {
        if json {
            json_line(
                stdout,
                &Telling {
                    name: &planned.spec.name,
                    spec_hash: planned.spec.hash(),
                    folder: folder.display().to_string(),
                    n_jobs_at_most: course.most_jobs(),
                    concurrency: planned.concurrency,
                    n_played: played.n(),
                    estimated_seconds: seconds.map(|seconds| seconds.about),
                    estimated_seconds_at_most: seconds.map(|seconds| seconds.at_most),
                    stages: &stages,
                    warnings: &planned.warnings,
                },
            )?;
            return Ok(exit_code::OK);
        }
        let (most, at_once) = (course.most_jobs(), planned.concurrency);
        writeln!(stdout, "at most {}, {at_once} at once", counted(most, "match", "matches"))?;
        writeln!(stdout, "into {}", folder.display())?;
        if played.n() > 0 {
            writeln!(stdout, "which has {}", counted(played.n(), "match", "matches"))?;
        }
        writeln!(stdout)?;
        writeln!(stdout, "stage  format       players  rounds at most  matches at least  at most")?;
        for (row, number) in stages.iter().zip(1..) {
            writeln!(
                stdout,
                "{number:>5}  {:<11}  {:>7}  {:>14}  {:>16}  {:>7}",
                row.format,
                row.n_players,
                row.n_rounds_at_most,
                row.n_matches_at_least,
                row.n_matches_at_most
            )?;
        }
        writeln!(stdout)?;
        tell_notes(stdout, planned, seconds)?;
        Ok(exit_code::OK)
    })
}

#[derive(Serialize)]
struct Telling<'a> {
    name: &'a str,
    spec_hash: String,
    folder: String,
    n_jobs_at_most: u64,
    concurrency: u32,
    n_played: u64,
    estimated_seconds: Option<f64>,
    estimated_seconds_at_most: Option<f64>,
    stages: &'a [Row],
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Row {
    format: &'static str,
    is_raced: bool,
    n_players: usize,
    n_rounds_at_most: u32,
    n_matches_at_least: u64,
    n_matches_at_most: u64,
}

fn row(outline: &StageOutline) -> Row {
    Row {
        format: outline.stage.format.name(),
        is_raced: outline.stage.race.is_some(),
        n_players: outline.n_players,
        n_rounds_at_most: outline.n_rounds,
        n_matches_at_least: outline.n_matches_at_least,
        n_matches_at_most: outline.n_matches,
    }
}
