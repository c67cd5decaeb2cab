//! `matches.csv` and `moves.csv`: the journal as tables, in the order of the
//! schedule. `results/README.md` says what each column holds.
//!
//! Both are pure functions of the journal. Where its header says that times are
//! no part of the tables, all that depends on the clock or on how the run was
//! carried out is left empty, so that equal runs give equal bytes.

use std::fmt::{Display, Write as _};
use std::path::Path;

use crate::files::{self, FillError, WriteError, write_whole};
use crate::index::Index;
use crate::journal::{Journal, JournalError};
use crate::record::{Budget, DecisionRecord, FaultKind, MatchRecord, SeatRecord};

/// Columns of `matches.csv`.
pub const MATCH_COLUMNS: [&str; 51] = [
    "job",
    "job_id",
    "block",
    "lap",
    "stage",
    "round",
    "extra_lap",
    "rotation",
    "game",
    "game_hash",
    "seed",
    "match_id",
    "role_index",
    "role",
    "player",
    "player_hash",
    "start_clock_ms",
    "play_clock_ms",
    "budget_kind",
    "budget_nodes",
    "player_start_clock_ms",
    "player_play_clock_ms",
    "player_budget_nodes",
    "reward",
    "rank_in_match",
    "ending",
    "ending_reason",
    "goal_flag",
    "n_steps",
    "n_decisions",
    "n_choices",
    "n_late_start",
    "n_late_move",
    "n_illegal_move",
    "n_unreadable",
    "n_crashed",
    "n_unreachable",
    "n_substituted",
    "nodes",
    "attempt",
    "concurrency",
    "started_at",
    "duration_ms",
    "ready_ms",
    "think_ms_total",
    "think_ms_p50",
    "think_ms_p95",
    "think_ms_max",
    "cpu_ms",
    "overrun_ms_max",
    "harness_us_per_step",
];

/// Columns of `moves.csv`.
pub const MOVE_COLUMNS: [&str; 17] = [
    "job",
    "job_id",
    "match_id",
    "game",
    "step",
    "role_index",
    "role",
    "player",
    "n_legal",
    "move",
    "fault",
    "submitted",
    "nodes",
    "think_us",
    "cpu_us",
    "connect_us",
    "overrun_us",
];

/// Why tables cannot be written. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A table cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes `matches.csv` and `moves.csv` of the run in folder `run`. A job with
/// several attempts has the rows of the one that counts.
///
/// # Errors
/// If the journal cannot be read or a table cannot be written. Tables that were
/// there before are then left as they were.
pub fn write_tables(run: &Path) -> Result<(), TableError> {
    let (index, timings) = open(run)?;
    write_whole(&run.join(files::MATCHES), |matches| {
        matches.write_all(&heading(&MATCH_COLUMNS)?)?;
        write_whole(&run.join(files::MOVES), |moves| {
            moves.write_all(&heading(&MOVE_COLUMNS)?)?;
            index.render(
                |records| {
                    let mut matches = Table::new(timings);
                    let mut moves = Table::new(timings);
                    for record in records {
                        let record = record?;
                        write_match(&mut matches, &record)?;
                        write_moves(&mut moves, &record)?;
                    }
                    Ok((matches.into_bytes()?, moves.into_bytes()?))
                },
                |(match_rows, move_rows)| {
                    matches.write_all(&match_rows)?;
                    Ok(moves.write_all(&move_rows)?)
                },
            )
        })
        .map_err(FillError::Other)
    })
}

/// Writes `matches.csv` alone: a row for each decision is most of the bytes.
///
/// # Errors
/// As [`write_tables`].
pub fn write_matches(run: &Path) -> Result<(), TableError> {
    let (index, timings) = open(run)?;
    write_whole(&run.join(files::MATCHES), |matches| {
        matches.write_all(&heading(&MATCH_COLUMNS)?)?;
        index.render(
            |records| {
                let mut table = Table::new(timings);
                for record in records {
                    write_match(&mut table, &record?)?;
                }
                table.into_bytes()
            },
            |rows| Ok(matches.write_all(&rows)?),
        )
    })
}

fn open(run: &Path) -> Result<(Index, bool), TableError> {
    let journal = Journal::open(&run.join(files::JOURNAL))?;
    let timings = journal.header().timings;
    Ok((journal.index()?, timings))
}

fn write_match(table: &mut Table, record: &MatchRecord) -> Row {
    for (role, seat) in record.seats.iter().enumerate() {
        table.number(record.job)?;
        table.text(&record.job_id)?;
        table.number(record.block)?;
        table.number(record.lap)?;
        let round = record.round.map(|round| round.id);
        table.optional(round.map(|id| id.stage))?;
        table.optional(round.map(|id| id.round))?;
        table.optional(round.map(|id| id.extra))?;
        table.number(record.rotation)?;
        table.text(&record.game)?;
        table.text(&record.game_hash)?;
        table.text(&record.seed)?;
        table.text(&record.match_id)?;
        table.number(role)?;
        table.text(&seat.role)?;
        table.text(seat.player_name())?;
        table.text(&seat.player_hash)?;
        table.number(record.start_clock_ms)?;
        table.number(record.play_clock_ms)?;
        let budget_kind = match record.budget {
            Budget::Clock => "clock",
            Budget::Nodes(_) => "nodes",
        };
        table.text(budget_kind)?;
        table.optional(nodes(record.budget))?;
        let player = (!seat.is_manager()).then(|| seat.odds.unwrap_or(record.no_odds()));
        table.optional(player.map(|player| player.start_clock_ms))?;
        table.optional(player.map(|player| player.play_clock_ms))?;
        table.optional(player.and_then(|player| nodes(player.budget)))?;
        table.optional(seat.reward.filter(|_| !seat.is_manager()))?;
        table.optional(rank(seat, record))?;
        table.text(record.ending.name())?;
        table.text(record.ending.reason())?;
        let flags = record.goal_flags.iter().filter(|(index, _)| *index as usize == role);
        let flags: Vec<&str> = flags.map(|(_, flag)| flag.name()).collect();
        table.text(&flags.join(" "))?;
        table.number(record.n_steps)?;
        write_play(table, record, role, seat)?;
        table.end()?;
    }
    Ok(())
}

/// The columns that summarise the decisions of a role.
fn write_play(table: &mut Table, record: &MatchRecord, role: usize, seat: &SeatRecord) -> Row {
    let decisions = || record.steps.iter().filter_map(|step| step.get(role));
    table.number(decisions().count())?;
    table.number(decisions().filter(|decision| decision.is_choice()).count())?;
    for kind in FaultKind::ALL {
        let at_start = usize::from(seat.start.fault == Some(kind));
        let in_play = decisions().filter(|decision| decision.fault == Some(kind)).count();
        table.number(at_start + in_play)?;
    }
    table.number(decisions().filter(|decision| decision.fault.is_some()).count())?;
    let nodes = decisions().map(|decision| decision.nodes);
    table.optional(sum(nodes.chain([seat.start.nodes])))?;

    let timings = table.timings;
    table.number_if(timings, record.attempt)?;
    table.number_if(timings, record.concurrency)?;
    table.text(if timings { &record.started_at } else { "" })?;
    table.thousandths(timings.then_some(record.duration_us))?;
    let timings = timings && !seat.is_manager();
    table.thousandths(timings.then_some(seat.start.wall_us))?;
    table.thousandths(timings.then(|| decisions().map(|decision| decision.wall_us).sum()))?;
    let mut choices = std::mem::take(&mut table.choices);
    choices.clear();
    if timings {
        let choice = decisions().filter(|decision| decision.is_choice());
        choices.extend(choice.map(|decision| decision.wall_us));
        choices.sort_unstable();
    }
    table.thousandths(nearest_rank(&choices, 0.5))?;
    table.thousandths(nearest_rank(&choices, 0.95))?;
    table.thousandths(choices.last().copied())?;
    table.choices = choices;
    let cpu = sum(decisions().map(|decision| decision.cpu_us));
    table.thousandths(cpu.filter(|_| timings))?;
    let overrun = decisions().map(|decision| decision.overrun_us).max();
    table.thousandths(overrun.filter(|_| timings))?;
    let steps = u64::from(record.n_steps);
    let harness = (record.harness_us * 10 + steps / 2).checked_div(steps);
    table.tenths(harness.filter(|_| table.timings))
}

fn write_moves(table: &mut Table, record: &MatchRecord) -> Row {
    for (step, decisions) in record.steps.iter().enumerate() {
        for (role, (decision, seat)) in decisions.iter().zip(&record.seats).enumerate() {
            table.number(record.job)?;
            table.text(&record.job_id)?;
            table.text(&record.match_id)?;
            table.text(&record.game)?;
            table.number(step)?;
            table.number(role)?;
            table.text(&seat.role)?;
            table.text(seat.player_name())?;
            table.number(decision.n_legal)?;
            table.text(&decision.executed)?;
            table.text(decision.fault.map_or("", FaultKind::name))?;
            table.text(decision.submitted.as_deref().unwrap_or_default())?;
            table.optional(decision.nodes)?;
            let timings = table.timings && !seat.is_manager();
            table.number_if(timings, decision.wall_us)?;
            table.optional(decision.cpu_us.filter(|_| timings))?;
            table.optional(decision.connect_us.filter(|_| timings))?;
            table.number_if(timings, decision.overrun_us)?;
            table.end()?;
        }
    }
    Ok(())
}

fn nodes(budget: Budget) -> Option<u64> {
    match budget {
        Budget::Clock => None,
        Budget::Nodes(nodes) => Some(nodes),
    }
}

/// 1 for the highest reward of the match; equal rewards have the same rank.
fn rank(seat: &SeatRecord, record: &MatchRecord) -> Option<usize> {
    let reward = seat.reward.filter(|_| !seat.is_manager())?;
    let others = record.seats.iter().filter(|other| !other.is_manager());
    Some(1 + others.filter(|other| other.reward > Some(reward)).count())
}

/// The sum of the values there are; `None` if there is none.
fn sum(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.flatten().reduce(u64::saturating_add)
}

/// The least value that is not below a share `q` of all; `sorted` ascending.
fn nearest_rank(sorted: &[u64], q: f64) -> Option<u64> {
    let position = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(position.saturating_sub(1)).copied()
}

impl DecisionRecord {
    /// Whether there was something to decide. Where roles take turns, half of
    /// all moves are forced and would halve every quantile of think times.
    #[must_use]
    pub fn is_choice(&self) -> bool {
        self.n_legal > 1
    }
}

/// The result of writing a field or a row.
type Row = Result<(), FillError<TableError>>;

/// The line of headings.
fn heading(columns: &[&str]) -> Result<Vec<u8>, FillError<TableError>> {
    let mut table = Table::new(false);
    for column in columns {
        table.text(column)?;
    }
    table.end()?;
    table.into_bytes()
}

/// Rows of a CSV file, written field by field. It refuses rows of unequal length.
struct Table {
    writer: csv::Writer<Vec<u8>>,
    timings: bool,
    /// The field at hand.
    text: String,
    /// Think times of the choices of one role.
    choices: Vec<u64>,
}

impl Table {
    fn new(timings: bool) -> Self {
        let terminator = csv::Terminator::CRLF;
        let writer = csv::WriterBuilder::new().terminator(terminator).from_writer(vec![]);
        Self { writer, timings, text: String::new(), choices: vec![] }
    }

    fn into_bytes(self) -> Result<Vec<u8>, FillError<TableError>> {
        Ok(self.writer.into_inner().map_err(csv::IntoInnerError::into_error)?)
    }

    fn text(&mut self, text: &str) -> Row {
        Ok(self.writer.write_field(text)?)
    }

    fn formatted(&mut self, value: std::fmt::Arguments<'_>) -> Row {
        self.text.clear();
        self.text.write_fmt(value).expect("a string takes all text");
        Ok(self.writer.write_field(&self.text)?)
    }

    fn number(&mut self, number: impl Display) -> Row {
        self.formatted(format_args!("{number}"))
    }

    fn optional(&mut self, number: Option<impl Display>) -> Row {
        match number {
            Some(number) => self.number(number),
            None => self.text(""),
        }
    }

    fn number_if(&mut self, condition: bool, number: impl Display) -> Row {
        self.optional(condition.then_some(number))
    }

    /// Microseconds as milliseconds, exactly.
    fn thousandths(&mut self, value: Option<u64>) -> Row {
        match value {
            Some(value) => self.formatted(format_args!("{}.{:03}", value / 1000, value % 1000)),
            None => self.text(""),
        }
    }

    fn tenths(&mut self, value: Option<u64>) -> Row {
        match value {
            Some(value) => self.formatted(format_args!("{}.{}", value / 10, value % 10)),
            None => self.text(""),
        }
    }

    fn end(&mut self) -> Row {
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::journal::JournalWriter;
    use crate::record::Ending;
    use crate::sample;

    fn tables(timings: bool, records: &[MatchRecord]) -> [String; 2] {
        let run = sample::run(timings, records);
        write_tables(run.path()).unwrap();
        let read = |name| std::fs::read_to_string(run.path().join(name)).unwrap();
        [read(files::MATCHES), read(files::MOVES)]
    }

    fn few() -> Vec<MatchRecord> {
        let mut records: Vec<_> =
            sample::records().into_iter().filter(|record| record.job % 7 > 4).collect();
        records.push(sample::record_with_chance(36, "alpha", 70));
        records
    }

    #[test]
    fn tables_are_as_before() {
        let [matches, moves] = tables(true, &few());
        insta::assert_snapshot!("matches.csv", matches);
        insta::assert_snapshot!("moves.csv", moves.lines().take(60).collect::<Vec<_>>().join("\n"));
        let [matches, moves] = tables(false, &few());
        insta::assert_snapshot!("matches_without_times.csv", matches);
        let moves = moves.lines().take(60).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!("moves_without_times.csv", moves);
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let mut records = few();
        let expected = tables(true, &records);
        records.reverse();
        assert_eq!(tables(true, &records), expected);
        records.swap(0, 3);
        assert_eq!(tables(true, &records), expected);
    }

    #[test]
    fn without_times_nothing_depends_on_how_a_run_was_carried_out() {
        let records = few();
        let expected = tables(false, &records);
        let mut others = vec![];
        for record in &records {
            // Each match was begun before, and broken off.
            let ending = Ending::Aborted { reason: "interrupted".into() };
            others.push(MatchRecord { ending, ..record.clone() });
        }
        for record in &records {
            let mut record = sample::at_other_times(record);
            record.attempt = 2;
            others.push(record);
        }
        assert_eq!(tables(false, &others), expected);
        assert_ne!(tables(true, &others), tables(true, &records));
    }

    #[test]
    fn fields_with_quotes_and_line_feeds_survive() {
        let mut record = sample::record(0, "a \"game\"", ["al,pha", "be\nta"], [100, 0]);
        record.steps.truncate(1);
        record.steps[0][0].executed = "(say \"x,\ny\")".into();
        let [matches, moves] = tables(true, &[record]);
        let column = |text: &str, name: &str| -> Vec<String> {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let index = reader.headers().unwrap().iter().position(|column| column == name);
            let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            records.iter().map(|record| record[index.unwrap()].to_owned()).collect()
        };
        assert_eq!(column(&matches, "game"), ["a \"game\""; 2]);
        assert_eq!(column(&matches, "player"), ["al,pha", "be\nta"]);
        assert_eq!(column(&moves, "move"), ["(say \"x,\ny\")", "noop"]);
    }

    #[test]
    fn tables_of_an_empty_run_have_their_headings() {
        let [matches, moves] = tables(true, &[]);
        assert_eq!(matches, MATCH_COLUMNS.join(",") + "\r\n");
        assert_eq!(moves, MOVE_COLUMNS.join(",") + "\r\n");
    }

    #[test]
    fn a_half_written_journal_has_tables_of_what_is_whole() {
        let records = few();
        let run = sample::run(true, &records);
        let journal = run.path().join(files::JOURNAL);
        let text = std::fs::read(&journal).unwrap();
        std::fs::write(&journal, &text[..text.len() - 9]).unwrap();
        write_tables(run.path()).unwrap();
        let matches = std::fs::read_to_string(run.path().join(files::MATCHES)).unwrap();
        assert_eq!(matches, tables(true, &records[..records.len() - 1])[0]);
    }

    #[test]
    fn failing_leaves_no_file_behind() {
        let run = sample::run(true, &few());
        let journal = run.path().join(files::JOURNAL);
        let text = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, text.replacen("\"steps\"", "steps\"", 1)).unwrap();
        assert!(matches!(write_tables(run.path()), Err(TableError::Journal(_))));
        assert_eq!(std::fs::read_dir(run.path()).unwrap().count(), 1);

        let folder = tempfile::tempdir().unwrap();
        drop(JournalWriter::create(&folder.path().join(files::JOURNAL), &sample::header(true)));
        std::fs::create_dir(folder.path().join(files::MATCHES)).unwrap();
        assert!(matches!(write_tables(folder.path()), Err(TableError::Write(_))));
    }

    #[test]
    fn every_column_is_documented() {
        let text = include_str!("../README.md");
        let documented: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name)
            .collect();
        for column in MATCH_COLUMNS.iter().chain(&MOVE_COLUMNS) {
            assert!(documented.contains(column), "{column} is missing in README.md");
        }
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let quantile = |values: &[u64], q| nearest_rank(values, q);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7], 0.95), Some(7));
        assert_eq!(quantile(&[1, 2, 3, 4], 0.5), Some(2));
        assert_eq!(quantile(&[1, 2, 3, 4, 5], 0.5), Some(3));
        assert_eq!(quantile(&(1..=100).collect::<Vec<_>>(), 0.95), Some(95));
    }
}
