//! The rows of both tables, field by field, whoever takes them: a CSV file or the
//! columns of a query.

use crate::journal::{Decision as _, SeatRow, StartRow, WholeRow};
use crate::record::{Budget, FaultKind};

/// Takes the fields of rows one by one, in the order of the table's columns.
pub(crate) trait Fields {
    /// Why a field cannot be taken.
    type Error;
    /// Where fields are that were taken.
    type Place;

    /// Takes a text; an empty one means that there is no value.
    fn text(&mut self, text: &str) -> Result<(), Self::Error>;

    /// Takes a whole number, if there is one.
    fn optional(&mut self, number: Option<u64>) -> Result<(), Self::Error>;

    /// Takes a number of thousandths, if there is one: microseconds as milliseconds.
    fn thousandths(&mut self, value: Option<u64>) -> Result<(), Self::Error>;

    /// Takes a number of tenths, if there is one.
    fn tenths(&mut self, value: Option<u64>) -> Result<(), Self::Error>;

    /// Takes the fields that `write` gives, which are the same each time with this
    /// `place`.
    fn repeated(
        &mut self,
        place: &mut Option<Self::Place>,
        write: impl FnOnce(&mut Self) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error>;

    /// Ends the row.
    fn end(&mut self) -> Result<(), Self::Error>;

    /// Takes a whole number.
    fn number(&mut self, number: u64) -> Result<(), Self::Error> {
        self.optional(Some(number))
    }
}

/// What rows of `matches.csv` need beside the record.
pub(crate) struct Scratch {
    /// Whether times are part of the table.
    timings: bool,
    /// Think times of the choices of one role; kept for its memory.
    choices: Vec<u64>,
}

impl Scratch {
    pub(crate) fn new(timings: bool) -> Self {
        Self { timings, choices: vec![] }
    }
}

/// Writes a row for each role of a match.
pub(crate) fn write_match<F: Fields>(
    table: &mut F,
    scratch: &mut Scratch,
    record: &WholeRow<'_>,
) -> Result<(), F::Error> {
    let mut head = None;
    for (role, seat) in record.seats.iter().enumerate() {
        table.repeated(&mut head, |table| {
            table.number(record.job)?;
            table.text(&record.job_id)?;
            table.number(record.block)?;
            table.number(record.lap.into())?;
            let round = record.round.map(|round| round.id);
            table.optional(round.map(|id| id.stage.into()))?;
            table.optional(round.map(|id| id.round.into()))?;
            table.optional(round.map(|id| id.extra.into()))?;
            table.number(record.rotation.into())?;
            table.text(&record.game)?;
            table.text(&record.game_hash)?;
            table.text(&record.seed)?;
            table.text(&record.match_id)
        })?;
        table.number(role as u64)?;
        table.text(&seat.role)?;
        table.text(seat.player().unwrap_or_default())?;
        table.text(&seat.player_hash)?;
        table.number(record.start_clock_ms)?;
        table.number(record.play_clock_ms)?;
        let budget_kind = match record.budget {
            Budget::Clock => "clock",
            Budget::Nodes(_) => "nodes",
        };
        table.text(budget_kind)?;
        table.optional(record.budget.nodes())?;
        let player = seat.player().map(|_| seat.odds.unwrap_or(record.clock()));
        table.optional(player.map(|player| player.start_clock_ms))?;
        table.optional(player.map(|player| player.play_clock_ms))?;
        table.optional(player.and_then(|player| player.budget.nodes()))?;
        table.optional(seat.reward.filter(|_| seat.player().is_some()).map(u64::from))?;
        table.optional(rank(seat, record))?;
        table.text(record.ending.name())?;
        table.text(&record.ending.reason())?;
        let flags = record.goal_flags.iter().filter(|(index, _)| *index as usize == role);
        let flags: Vec<&str> = flags.map(|(_, flag)| flag.name()).collect();
        table.text(&flags.join(" "))?;
        table.number(record.n_steps.into())?;
        write_play(table, scratch, record, role, seat)?;
        table.end()?;
    }
    Ok(())
}

/// The columns that summarise the decisions of a role.
fn write_play<F: Fields>(
    table: &mut F,
    scratch: &mut Scratch,
    record: &WholeRow<'_>,
    role: usize,
    seat: &SeatRow<'_>,
) -> Result<(), F::Error> {
    let decisions = || record.steps.iter().filter_map(|step| step.get(role));
    table.number(decisions().count() as u64)?;
    table.number(decisions().filter(|decision| decision.in_short().is_choice()).count() as u64)?;
    for n in record.faults(role) {
        table.number(n.into())?;
    }
    table.number(decisions().filter(|decision| decision.fault.is_some()).count() as u64)?;
    let nodes = decisions().map(|decision| decision.nodes);
    table.optional(sum(nodes.chain([seat.start.nodes])))?;
    write_start(table, &seat.start)?;

    let timings = scratch.timings;
    table.optional(timings.then_some(record.attempt.into()))?;
    table.optional(timings.then_some(record.concurrency.into()))?;
    table.text(if timings { &record.started_at } else { "" })?;
    table.thousandths(timings.then_some(record.duration_us))?;
    let timings = timings && seat.player().is_some();
    table.thousandths(timings.then_some(seat.start.wall_us))?;
    table.thousandths(timings.then(|| decisions().map(|decision| decision.wall_us).sum()))?;
    let choices = &mut scratch.choices;
    choices.clear();
    if timings {
        let choice = decisions().filter(|decision| decision.in_short().is_choice());
        choices.extend(choice.map(|decision| decision.wall_us));
        choices.sort_unstable();
    }
    table.thousandths(nearest_rank(choices, 0.5))?;
    table.thousandths(nearest_rank(choices, 0.95))?;
    table.thousandths(choices.last().copied())?;
    let cpu = sum(decisions().map(|decision| decision.cpu_us));
    table.thousandths(cpu.filter(|_| timings))?;
    let overrun = decisions().map(|decision| decision.overrun_us).max();
    table.thousandths(overrun.filter(|_| timings))?;
    let steps = u64::from(record.n_steps);
    let harness = (record.harness_us * 10 + steps / 2).checked_div(steps);
    table.tenths(harness.filter(|_| scratch.timings))
}

/// The columns of what the start clock was used for. No row of `moves.csv` has it: START is no
/// decision, and means over moves would count it as one.
fn write_start<F: Fields>(table: &mut F, start: &StartRow<'_>) -> Result<(), F::Error> {
    table.optional(start.nodes)?;
    table.tenths(start.value_tenths.map(u64::from))?;
    table.optional(start.depth.map(u64::from))?;
    let line: Vec<&str> = start.line().collect();
    table.text(&line.join("; "))
}

/// Writes a row for each decision of a match.
pub(crate) fn write_moves<F: Fields>(
    table: &mut F,
    timings: bool,
    record: &WholeRow<'_>,
) -> Result<(), F::Error> {
    let mut line = String::new();
    let mut head = None;
    let mut seats: Vec<Option<F::Place>> = record.seats.iter().map(|_| None).collect();
    for (step, decisions) in record.steps.iter().enumerate() {
        for (role, (decision, seat)) in decisions.iter().zip(&record.seats).enumerate() {
            table.repeated(&mut head, |table| {
                table.number(record.job)?;
                table.text(&record.job_id)?;
                table.text(&record.match_id)?;
                table.text(&record.game)
            })?;
            table.number(step as u64)?;
            table.repeated(&mut seats[role], |table| {
                table.number(role as u64)?;
                table.text(&seat.role)?;
                table.text(seat.player().unwrap_or_default())
            })?;
            table.number(decision.n_legal.into())?;
            table.text(&decision.executed)?;
            table.text(decision.fault.map_or("", FaultKind::name))?;
            table.text(decision.submitted().unwrap_or_default())?;
            table.optional(decision.nodes)?;
            table.tenths(decision.value_tenths.map(u64::from))?;
            table.optional(decision.depth.map(u64::from))?;
            line.clear();
            for (index, step) in decision.line().enumerate() {
                line.extend([if index > 0 { "; " } else { "" }, step]);
            }
            table.text(&line)?;
            let timings = timings && seat.player().is_some();
            table.optional(timings.then_some(decision.wall_us))?;
            table.optional(decision.cpu_us.filter(|_| timings))?;
            table.optional(decision.connect_us.filter(|_| timings))?;
            table.optional(timings.then_some(decision.overrun_us))?;
            table.end()?;
        }
    }
    Ok(())
}

/// 1 for the highest reward of the match; equal rewards have the same rank.
fn rank(seat: &SeatRow<'_>, record: &WholeRow<'_>) -> Option<u64> {
    let reward = seat.reward.filter(|_| seat.player().is_some())?;
    let others = record.seats.iter().filter(|other| other.player().is_some());
    Some(1 + others.filter(|other| other.reward > Some(reward)).count() as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

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
