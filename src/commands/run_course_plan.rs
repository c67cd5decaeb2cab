//! What is known of a tournament in rounds before it is played.

use std::io::Write as _;
use std::path::Path;

use serde::Serialize;

use super::run_plan::{Planned, estimate, tell_notes};
use crate::cli::Outcome;
use crate::course::{Course, StageOutline};
use crate::exit_code;
use crate::output::{json_line, to_stdout};

/// Prints the stages: rounds and matches at most, since results decide.
pub(super) fn tell(planned: &Planned, course: &Course, folder: &Path, json: bool) -> Outcome {
    let stages: Vec<Row> = course.outline().iter().map(row).collect();
    let seconds = estimate(planned);
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
                    estimated_seconds: seconds,
                    stages: &stages,
                    warnings: &planned.warnings,
                },
            )?;
            return Ok(exit_code::OK);
        }
        let (most, at_once) = (course.most_jobs(), planned.concurrency);
        writeln!(stdout, "at most {most} matches, {at_once} at once")?;
        writeln!(stdout, "into {}\n", folder.display())?;
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
    estimated_seconds: Option<f64>,
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
