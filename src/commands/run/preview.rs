//! Printing what a run would play.

use std::io::Write;
use std::time::Duration;

use results::counted::counted;

use crate::consumers::brief;
use crate::exit_code;
use crate::experiment::{Preview, PreviewTime, SchedulePreview, StagedPreview};
use crate::failure::CommandResult;
use crate::output::{json_line, to_stdout};

/// Prints what would be played.
pub(in crate::commands) fn print(preview: &Preview, json: bool) -> CommandResult {
    to_stdout(|stdout| {
        match preview {
            _ if json => json_line(stdout, preview)?,
            Preview::Schedule(preview) => print_schedule(stdout, preview)?,
            Preview::Staged(preview) => print_stages(stdout, preview)?,
        }
        Ok(exit_code::OK)
    })
}

fn print_schedule(out: &mut impl Write, preview: &SchedulePreview) -> std::io::Result<()> {
    let SchedulePreview { n_jobs, n_blocks, concurrency, rounds, .. } = preview;
    let (matches, blocks) =
        (counted(n_jobs, "match", "matches"), counted(n_blocks, "block", "blocks"));
    writeln!(out, "schedule: {matches} in {blocks}")?;
    if let Some(part) = preview.partition {
        let here = counted(preview.n_jobs_here, "match", "matches");
        writeln!(out, "this part: {here} ({part})")?;
    }
    writeln!(out, "matches at once: {concurrency}")?;
    let (n_played, n_left) = (preview.n_played, preview.n_left);
    writeln!(out, "folder: {} ({n_played} complete, {n_left} to play)", preview.folder)?;
    let is_begun = n_played > 0;
    writeln!(out)?;
    let width = rounds.iter().map(|row| row.game.len()).max().unwrap_or(0).max(4);
    let time_width = rounds.iter().map(|row| row.budget.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "{:width$}  {:time_width$}  players  seats  pairings  blocks  matches  {}matches per player and role",
        "game",
        "budget",
        if is_begun { "left  " } else { "" }
    )?;
    for row in rounds {
        writeln!(
            out,
            "{:width$}  {:time_width$}  {:>7}  {:>5}  {:>8}  {:>6}  {:>7}  {}{:>27}",
            row.game,
            row.budget,
            row.n_players,
            row.n_seats,
            row.n_pairings,
            row.n_blocks,
            row.n_matches,
            if is_begun { format!("{:>4}  ", row.n_left) } else { String::new() },
            row.n_times_seated
        )?;
    }
    writeln!(out)?;
    print_notes(out, &preview.warnings, &preview.time)
}

/// The stages: rounds and matches at most, since results decide.
fn print_stages(out: &mut impl Write, preview: &StagedPreview) -> std::io::Result<()> {
    let (most, at_once) = (preview.n_jobs_at_most, preview.concurrency);
    writeln!(out, "schedule: at most {}", counted(most, "match", "matches"))?;
    writeln!(out, "matches at once: {at_once}")?;
    writeln!(out, "folder: {} ({} complete)", preview.folder, preview.n_played)?;
    writeln!(out)?;
    writeln!(out, "stage  format       players  max. rounds  min. matches  max. matches")?;
    for (row, number) in preview.stages.iter().zip(1..) {
        writeln!(
            out,
            "{number:>5}  {:<11}  {:>7}  {:>11}  {:>12}  {:>12}",
            row.format,
            row.n_players,
            row.n_rounds_at_most,
            row.n_matches_at_least,
            row.n_matches_at_most
        )?;
    }
    writeln!(out)?;
    print_notes(out, &preview.warnings, &preview.time)
}

/// The warnings, and the time that it may take: probably, and at most.
fn print_notes(
    out: &mut impl Write,
    warnings: &[String],
    time: &PreviewTime,
) -> std::io::Result<()> {
    for warning in warnings {
        writeln!(out, "warning: {warning}")?;
    }
    if let Some(reason) = time.no_estimate {
        writeln!(out, "No time estimate: {reason}")?;
    }
    let Some(seconds) = time.estimated_seconds.zip(time.estimated_seconds_at_most) else {
        return Ok(());
    };
    let [about, most] =
        [seconds.0, seconds.1].map(|seconds| brief(Duration::from_secs_f64(seconds)));
    writeln!(out, "Estimated time: {about}; at most {most} if no reply is late")
}
