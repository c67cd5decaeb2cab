//! Standings for people and for other programs: as text, Markdown, JSON and CSV.
//!
//! `summary.json` and `summary.md` hold the same as the JSON and Markdown
//! reports; like the tables they can be rebuilt byte for byte.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

use crate::bootstrap::Bootstrap;
use crate::files::{self, FillError, WriteError, write_whole};
use crate::journal::JournalError;
use crate::standings::{
    Difference, Estimate, FEW_BLOCKS, PlayerStanding, Standings, StandingsError, standings,
};

/// Columns of a terminal that a text report fits into.
const WIDTH: u16 = 100;
/// Opponents side by side in a cross table.
const OPPONENTS_ABREAST: usize = 6;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables of at most 100 columns.
    Text,
    /// All of [`Standings`].
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
    Ok(render(&standings, format))
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

/// Writes standings down; the text ends with a line feed.
#[must_use]
pub fn render(standings: &Standings, format: Format) -> String {
    match format {
        Format::Text => text(&document(standings)),
        Format::Md => markdown(&document(standings)),
        Format::Json => {
            let json = serde_json::to_string_pretty(standings);
            json.expect("standings are representable") + "\n"
        }
        Format::Csv => csv(standings),
    }
}

/// The standings alone, as text: what a run ends with on a terminal.
#[must_use]
pub fn render_overall(standings: &Standings) -> String {
    let document = document(standings);
    let mut text = wrapped(&document.facts, "", "");
    for section in document.sections.iter().take(1) {
        text += "\n";
        text += &section_text(section);
    }
    text
}

/// What text and Markdown have in common.
struct Document {
    title: &'static str,
    /// What was played.
    facts: String,
    sections: Vec<Section>,
    notes: Vec<String>,
}

struct Section {
    heading: String,
    /// A sentence below the table.
    sentence: Option<String>,
    tables: Vec<Table>,
}

/// The first `n_names` columns are names, the others numbers: they are aligned right.
struct Table {
    n_names: usize,
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(n_names: usize, heading: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { n_names, heading: heading.iter().map(|&name| name.into()).collect(), rows }
    }
}

fn document(standings: &Standings) -> Document {
    let sections = [
        overall(standings),
        by_game(standings),
        by_role(standings),
        by_clock(standings),
        cross_table(standings),
        balance(standings),
        timing(standings),
        faults(standings),
        unscored(standings),
        goal_flags(standings),
    ];
    Document {
        title: "Tournament report",
        facts: facts(standings),
        sections: sections.into_iter().flatten().collect(),
        notes: notes(standings),
    }
}

fn facts(standings: &Standings) -> String {
    let matches = count(standings.n_matches, "match", "matches");
    let unscored = standings.n_matches - standings.n_scored;
    let unscored =
        if unscored == 0 { String::new() } else { format!(" ({unscored} scored nobody)") };
    let blocks = count(standings.n_blocks, "block", "blocks");
    let games = count(standings.games.len() as u64, "game", "games");
    let players = count(standings.players.len() as u64, "player", "players");
    let clocks = match &standings.clocks[..] {
        [clock] => clock.clone(),
        clocks => count(clocks.len() as u64, "clock", "clocks"),
    };
    format!("{matches}{unscored} in {blocks}; {games}, {players}; {clocks}.")
}

fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Points, with one decimal.
fn points(value: f64) -> String {
    // Adding 0 takes the minus from what rounds to zero.
    format!("{:.1}", (value * 10.0).round() / 10.0 + 0.0)
}

fn optional_points(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), points)
}

fn interval(interval: Option<[f64; 2]>) -> String {
    match interval {
        Some([low, high]) => format!("[{}, {}]", points(low), points(high)),
        None => "-".into(),
    }
}

/// The columns of an estimate: mean, interval, matches, blocks.
fn columns(estimate: &Estimate) -> [String; 4] {
    [
        optional_points(estimate.mean),
        interval(estimate.interval),
        estimate.n_matches.to_string(),
        estimate.n_blocks.to_string(),
    ]
}

fn overall(standings: &Standings) -> Option<Section> {
    let row = |(index, row): (usize, &PlayerStanding)| {
        let [mean, interval_of_mean, n_matches, n_blocks] = columns(&row.reward);
        let behind = row.behind.as_ref();
        vec![
            (index + 1).to_string(),
            row.player.clone(),
            mean,
            interval_of_mean,
            optional_points(behind.map(|behind| behind.mean)),
            interval(behind.and_then(|behind| behind.interval)),
            row.n_games.to_string(),
            n_matches,
            n_blocks,
            row.n_faults.to_string(),
        ]
    };
    let percent = standings.level * 100.0;
    let level = format!("{percent:.0} % interval");
    let heading =
        ["", "player", "reward", &level, "behind", &level, "games", "matches", "blocks", "faults"];
    let rows = standings.players.iter().enumerate().map(row).collect();
    Some(Section {
        heading: "Standings".into(),
        sentence: verdict(standings),
        tables: vec![Table::new(2, &heading, rows)],
    })
}

/// Who leads, and whether one may be sure of it.
fn verdict(standings: &Standings) -> Option<String> {
    let leader = standings.players.first()?;
    let Some(mean) = leader.reward.mean else {
        return Some("No match was scored, so nobody leads.".into());
    };
    let Some((second, behind)) = standings.players[1..]
        .iter()
        .find_map(|row| row.behind.as_ref().map(|behind| (&row.player, behind)))
    else {
        let player = &leader.player;
        return Some(format!(
            "{player} has a mean reward of {}; there is nobody to compare it with.",
            points(mean)
        ));
    };
    Some(compare(leader, mean, second, behind, standings.level))
}

fn compare(
    leader: &PlayerStanding,
    mean: f64,
    second: &str,
    behind: &Difference,
    level: f64,
) -> String {
    let percent = level * 100.0;
    let PlayerStanding { player, n_games, .. } = leader;
    // Where the second did not play all of the leader's games, the difference
    // is not the one of their means, and may even have the other sign.
    let common = if behind.n_games == *n_games {
        String::new()
    } else {
        format!(" at the {} both played", count(behind.n_games, "game", "games"))
    };
    let lead = if behind.mean == 0.0 {
        format!("{player} and {second} are level{common}")
    } else {
        let ahead = if behind.mean > 0.0 { "ahead of" } else { "behind" };
        let difference = points(behind.mean.abs());
        let mean = points(mean);
        format!("{player} leads with {mean}, {difference} points {ahead} {second}{common}")
    };
    let doubt = match behind.interval {
        None => "whether that is chance cannot be said from one block of a game".to_owned(),
        Some([low, high]) if low > 0.0 || high < 0.0 => format!(
            "the {percent:.0} % interval of the difference, {}, excludes 0",
            interval(behind.interval)
        ),
        Some([low, high]) if low == high => "all blocks gave the same difference".to_owned(),
        Some(_) => format!(
            "the {percent:.0} % interval of the difference, {}, does not exclude 0: it may be \
             chance",
            interval(behind.interval)
        ),
    };
    let few = if behind.interval.is_some() && behind.n_blocks < FEW_BLOCKS * behind.n_games {
        format!(" That is from only {}.", count(behind.n_blocks, "block", "blocks"))
    } else {
        String::new()
    };
    format!("{lead}; {doubt}.{few}")
}

const ESTIMATE_HEADING: [&str; 4] = ["reward", "interval", "matches", "blocks"];

fn estimates(
    heading: &str,
    names: &[&str],
    rows: impl Iterator<Item = (Vec<String>, Estimate)>,
) -> Option<Section> {
    let rows: Vec<Vec<String>> = rows
        .map(|(mut row, estimate)| {
            row.extend(columns(&estimate));
            row
        })
        .collect();
    let columns = [names, &ESTIMATE_HEADING].concat();
    section(heading, names.len(), &columns, rows)
}

fn section(
    heading: &str,
    n_names: usize,
    columns: &[&str],
    rows: Vec<Vec<String>>,
) -> Option<Section> {
    (!rows.is_empty()).then(|| Section {
        heading: heading.into(),
        sentence: None,
        tables: vec![Table::new(n_names, columns, rows)],
    })
}

fn by_game(standings: &Standings) -> Option<Section> {
    if standings.games.len() < 2 {
        return None;
    }
    let rows = standings.by_game.iter();
    let rows = rows.map(|row| (vec![row.game.clone(), row.player.clone()], row.reward.clone()));
    estimates("By game", &["game", "player"], rows)
}

fn by_role(standings: &Standings) -> Option<Section> {
    let rows = standings.by_role.iter().map(|row| {
        (vec![row.game.clone(), row.role.clone(), row.player.clone()], row.reward.clone())
    });
    estimates("By role", &["game", "role", "player"], rows)
}

fn by_clock(standings: &Standings) -> Option<Section> {
    if standings.clocks.len() < 2 {
        return None;
    }
    let rows = standings.by_clock.iter();
    let rows = rows.map(|row| (vec![row.clock.clone(), row.player.clone()], row.reward.clone()));
    estimates("By clock", &["clock", "player"], rows)
}

fn cross_table(standings: &Standings) -> Option<Section> {
    let names: Vec<&str> = standings.players.iter().map(|row| row.player.as_str()).collect();
    if standings.cross_table.is_empty() {
        return None;
    }
    let cell = |player: &str, opponent: &str| {
        let mut encounters = standings.cross_table.iter();
        let found = encounters.find(|row| row.player == player && row.opponent == opponent);
        found.map_or("-".into(), |row| format!("{} ({})", points(row.mean), row.n_matches))
    };
    let table = |opponents: &[&str]| {
        let rows = names.iter().map(|&player| {
            let mut row = vec![player.to_owned()];
            row.extend(opponents.iter().map(|opponent| cell(player, opponent)));
            row
        });
        Table::new(1, &[&["player"], opponents].concat(), rows.collect())
    };
    Some(Section {
        heading: "Against each other".into(),
        sentence: Some(
            "Mean reward of the row's player in matches with the column's, and their number."
                .into(),
        ),
        tables: names.chunks(OPPONENTS_ABREAST).map(table).collect(),
    })
}

fn balance(standings: &Standings) -> Option<Section> {
    let rows = standings.balance.iter().map(|row| {
        vec![row.game.clone(), row.role.clone(), points(row.mean), row.n_matches.to_string()]
    });
    section("Balance of the games", 2, &["game", "role", "reward", "matches"], rows.collect())
}

/// Milliseconds, with as many decimals as they are worth.
fn milliseconds(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value < 1.0 => format!("{value:.3}"),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.1}"),
    }
}

fn timing(standings: &Standings) -> Option<Section> {
    let rows = standings.timing.iter().map(|row| {
        vec![
            row.player.clone(),
            row.n_choices.to_string(),
            milliseconds(row.think_ms_p50),
            milliseconds(row.think_ms_p95),
            milliseconds(row.think_ms_p99),
            milliseconds(row.think_ms_max),
            row.n_overruns.to_string(),
            milliseconds(Some(row.overrun_ms_max)),
        ]
    });
    let columns =
        ["player", "choices", "p50 ms", "p95 ms", "p99 ms", "max ms", "overruns", "longest ms"];
    section("Thinking time", 1, &columns, rows.collect())
}

fn faults(standings: &Standings) -> Option<Section> {
    let rows = standings.faults.iter();
    let rows = rows.map(|row| vec![row.player.clone(), row.kind.name().into(), row.n.to_string()]);
    section("Faults", 2, &["player", "fault", "times"], rows.collect())
}

fn unscored(standings: &Standings) -> Option<Section> {
    let rows = standings.unscored.iter().map(|row| {
        let reason = if row.reason.is_empty() { "-" } else { &row.reason };
        vec![row.game.clone(), row.ending.clone(), reason.into(), row.n.to_string()]
    });
    let columns = ["game", "ending", "reason", "matches"];
    section("Matches that scored nobody", 3, &columns, rows.collect())
}

fn goal_flags(standings: &Standings) -> Option<Section> {
    let rows = standings.goal_flags.iter();
    let rows = rows.map(|row| vec![row.game.clone(), row.flag.name().into(), row.n.to_string()]);
    section("Odd goals", 2, &["game", "goal", "times"], rows.collect())
}

/// What a reader must know in order not to be misled.
fn notes(standings: &Standings) -> Vec<String> {
    let mut notes = standings.notes.clone();
    let mut note = |condition: bool, text: String| {
        if condition {
            notes.push(text);
        }
    };
    let scored = || standings.players.iter().filter(|row| row.n_games > 0);
    note(
        standings.half_written_bytes > 0,
        format!(
            "The journal ends in a half-written line of {} bytes, which does not count; \
             resuming the run plays that match again.",
            standings.half_written_bytes
        ),
    );
    let incomplete = count(standings.n_incomplete_blocks, "block is", "blocks are");
    note(
        standings.n_incomplete_blocks > 0,
        format!(
            "{incomplete} incomplete: not every seating was scored. Their matches count all the \
             same."
        ),
    );
    note(
        standings.games.len() > 1 && scored().count() > 0,
        "Each game weighs the same in the standings, however many matches it had.".into(),
    );
    let n_games = scored().map(|row| row.n_games);
    note(
        n_games.clone().min() != n_games.max(),
        "Not all players played the same games: a mean is over the games a player played, and \
         differences to the leader are over those that both played."
            .into(),
    );
    note(
        scored().any(|row| row.reward.interval.is_none()),
        "An interval needs two blocks of each game that goes into it.".into(),
    );
    let fewest = scored().filter(|row| row.reward.interval.is_some());
    let fewest = fewest.map(|row| row.reward.n_blocks / row.n_games).min();
    note(
        fewest.is_some_and(|n| n < FEW_BLOCKS),
        format!(
            "Intervals from fewer than {FEW_BLOCKS} blocks of a game are rough and too narrow."
        ),
    );
    let estimates = (scored().map(|row| &row.reward))
        .chain(standings.by_game.iter().map(|row| &row.reward))
        .chain(standings.by_role.iter().map(|row| &row.reward))
        .chain(standings.by_clock.iter().map(|row| &row.reward));
    let mut intervals = estimates.filter_map(|estimate| estimate.interval);
    note(
        intervals.any(|[low, high]| low == high),
        "An interval without width means that all blocks gave the same reward, not that more \
         blocks would."
            .into(),
    );
    note(
        scored().count() > 0,
        format!(
            "Intervals are from {} resamples of whole blocks; a block is one game with the same \
             players in every seating.",
            standings.n_resamples
        ),
    );
    notes
}

fn text(document: &Document) -> String {
    let mut text = format!("{}\n{}\n\n", document.title, "=".repeat(document.title.len()));
    text += &wrapped(&document.facts, "", "");
    for section in &document.sections {
        let heading = &section.heading;
        let _ = write!(text, "\n{heading}\n{}\n", "-".repeat(heading.len()));
        text += &section_text(section);
    }
    if !document.notes.is_empty() {
        text += "\nNotes\n-----\n";
    }
    for note in &document.notes {
        text += &wrapped(note, "- ", "  ");
    }
    text
}

/// A section without its heading.
fn section_text(section: &Section) -> String {
    let tables: Vec<String> = section.tables.iter().map(grid).collect();
    let mut text = tables.join("\n");
    if let Some(sentence) = &section.sentence {
        text += &wrapped(sentence, "\n", "");
    }
    text
}

/// A table of at most [`WIDTH`] columns; what is too long goes on in the next line.
fn grid(table: &Table) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(&table.heading)
        .add_rows(&table.rows);
    for (index, column) in grid.column_iter_mut().enumerate() {
        if index >= table.n_names {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Breaks a sentence into lines of at most [`WIDTH`] columns.
fn wrapped(sentence: &str, first: &str, indent: &str) -> String {
    let mut text = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in sentence.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > usize::from(WIDTH) {
            text += &line;
            text.push('\n');
            line = indent.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    text + &line + "\n"
}

fn markdown(document: &Document) -> String {
    let mut text = format!("# {}\n\n{}\n", document.title, document.facts);
    for section in &document.sections {
        let _ = write!(text, "\n## {}\n", section.heading);
        if let Some(sentence) = &section.sentence {
            let _ = write!(text, "\n{}\n", escaped(sentence));
        }
        for table in &section.tables {
            text.push('\n');
            push_row(&mut text, &table.heading);
            let numbers = table.heading.len() - table.n_names;
            let _ =
                writeln!(text, "|{}{}", " --- |".repeat(table.n_names), " ---: |".repeat(numbers));
            table.rows.iter().for_each(|row| push_row(&mut text, row));
        }
    }
    if !document.notes.is_empty() {
        text += "\n## Notes\n\n";
    }
    for note in &document.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

fn push_row(text: &mut String, cells: &[String]) {
    text.push('|');
    for cell in cells {
        let _ = write!(text, " {} |", escaped(cell));
    }
    text.push('\n');
}

/// Takes their meaning from characters that would break a table or a sentence.
fn escaped(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    for character in cell.chars() {
        match character {
            '\n' | '\r' => text.push(' '),
            '|' | '\\' | '<' | '*' | '`' | '_' => text.extend(['\\', character]),
            _ => text.push(character),
        }
    }
    text
}

/// A row for each mean: overall, then by game, role and clock.
fn csv(standings: &Standings) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    let mut row =
        |scope: &str, game: &str, role: &str, clock: &str, player, estimate: &Estimate| {
            let number =
                |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let [low, high] = match estimate.interval {
                Some([low, high]) => [Some(low), Some(high)],
                None => [None, None],
            };
            let fields: [&str; 10] = [
                scope,
                game,
                role,
                clock,
                player,
                &number(estimate.mean),
                &number(low),
                &number(high),
                &estimate.n_matches.to_string(),
                &estimate.n_blocks.to_string(),
            ];
            writer.write_record(fields).expect("memory takes all rows of ten fields");
        };
    for standing in &standings.players {
        row("overall", "", "", "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_game {
        row("game", &standing.game, "", "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_role {
        row("role", &standing.game, &standing.role, "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_clock {
        row("clock", "", "", &standing.clock, &standing.player, &standing.reward);
    }
    let rows = writer.into_inner().expect("memory takes all rows");
    let heading = "scope,game,role,clock,player,reward,low,high,n_matches,n_blocks\n";
    heading.to_owned() + &String::from_utf8(rows).expect("all fields are text")
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn names_cannot_break_a_markdown_table() {
        assert_eq!(escaped("a|b\n<c> _d_"), "a\\|b \\<c> \\_d\\_");
    }
}
