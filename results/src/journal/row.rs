//! A match as tables, reports and queries read it: what they show of a record. Texts are
//! not copied out of the line; only tables and queries read those of decisions.

use std::borrow::Cow;

use serde::Deserialize;

use crate::record::{
    Budget, Clock, DecisionRecord, Ending, FaultKind, GoalFlag, MatchRecord, RoundRecord,
    SeatRecord, StartRecord, is_chance,
};

/// A [`MatchRecord`] that borrows from its line, with what is read of each decision.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq))]
#[serde(bound(deserialize = "D: Deserialize<'de>"))]
pub(crate) struct MatchRow<'a, D = DecisionRow> {
    pub(crate) job: u64,
    #[serde(borrow)]
    pub(crate) job_id: Cow<'a, str>,
    pub(crate) block: u64,
    pub(crate) lap: u32,
    pub(crate) rotation: u32,
    pub(crate) round: Option<RoundRecord>,
    pub(crate) attempt: u32,
    #[serde(borrow)]
    pub(crate) game: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) game_hash: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) match_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) seed: Cow<'a, str>,
    pub(crate) start_clock_ms: u64,
    pub(crate) play_clock_ms: u64,
    pub(crate) budget: Budget,
    pub(crate) concurrency: u32,
    #[serde(default, borrow)]
    worker: Option<Name<'a>>,
    #[serde(borrow)]
    pub(crate) started_at: Cow<'a, str>,
    pub(crate) duration_us: u64,
    pub(crate) harness_us: u64,
    pub(crate) ending: Ending,
    #[serde(default)]
    pub(crate) goal_flags: Vec<(u32, GoalFlag)>,
    pub(crate) n_steps: u32,
    /// By role.
    #[serde(borrow)]
    pub(crate) seats: Vec<SeatRow<'a>>,
    /// By step, then role.
    pub(crate) steps: Vec<Vec<D>>,
}

/// A match with all that tables show of its decisions.
pub(crate) type WholeRow<'a> = MatchRow<'a, WholeDecision<'a>>;

/// A [`SeatRecord`] that borrows from its line.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct SeatRow<'a> {
    #[serde(borrow)]
    pub(crate) role: Cow<'a, str>,
    #[serde(borrow)]
    player: Option<Name<'a>>,
    #[serde(borrow)]
    pub(crate) player_hash: Cow<'a, str>,
    #[serde(default)]
    pub(crate) odds: Option<Clock>,
    /// As written; see [`MatchRow::reward`].
    #[serde(default, deserialize_with = "crate::record::reward")]
    pub(crate) reward: Option<u8>,
    #[serde(borrow)]
    pub(crate) start: StartRow<'a>,
}

/// A text in an option or a list that is not copied out of the line.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A [`StartRecord`](crate::record::StartRecord) without what no table shows.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct StartRow<'a> {
    #[serde(default)]
    pub(crate) fault: Option<FaultKind>,
    pub(crate) wall_us: u64,
    #[serde(default)]
    pub(crate) nodes: Option<u64>,
    #[serde(default)]
    pub(crate) value_tenths: Option<u32>,
    #[serde(default)]
    pub(crate) depth: Option<u32>,
    #[serde(default, borrow)]
    line: Vec<Name<'a>>,
}

impl StartRow<'_> {
    /// What the player expected to be played, step by step.
    pub(crate) fn line(&self) -> impl Iterator<Item = &str> {
        self.line.iter().map(|step| &*step.0)
    }
}

impl<'a> From<&'a StartRecord> for StartRow<'a> {
    fn from(start: &'a StartRecord) -> Self {
        let StartRecord { fault, wall_us, nodes, value_tenths, depth, .. } = *start;
        let line = start.line.iter().map(|step| Name(Cow::from(step))).collect();
        Self { fault, wall_us, nodes, value_tenths, depth, line }
    }
}

/// A [`DecisionRecord`] in short.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct DecisionRow {
    n_legal: u32,
    #[serde(default)]
    fault: Option<FaultKind>,
    pub(crate) wall_us: u64,
    #[serde(default)]
    pub(crate) overrun_us: u64,
    #[serde(default)]
    pub(crate) value_tenths: Option<u32>,
}

/// A [`DecisionRecord`] that borrows from its line.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct WholeDecision<'a> {
    #[serde(rename = "move", borrow)]
    pub(crate) executed: Cow<'a, str>,
    pub(crate) n_legal: u32,
    #[serde(default)]
    pub(crate) fault: Option<FaultKind>,
    #[serde(default, borrow)]
    submitted: Option<Name<'a>>,
    pub(crate) wall_us: u64,
    #[serde(default)]
    pub(crate) cpu_us: Option<u64>,
    #[serde(default)]
    pub(crate) connect_us: Option<u64>,
    #[serde(default)]
    pub(crate) overrun_us: u64,
    #[serde(default)]
    pub(crate) nodes: Option<u64>,
    #[serde(default)]
    pub(crate) value_tenths: Option<u32>,
    #[serde(default)]
    pub(crate) depth: Option<u32>,
    #[serde(default, borrow)]
    line: Vec<Name<'a>>,
}

/// What is read of a decision.
pub(crate) trait Decision {
    /// The decision in short.
    fn in_short(&self) -> DecisionRow;
}

/// A decision that can be made from its move, the number of legal moves and a time alone.
pub(crate) trait Plain<'a> {
    /// A decision that has no other members.
    fn plain(executed: &'a str, n_legal: u32, wall_us: u64) -> Self;
}

impl<D: Decision> MatchRow<'_, D> {
    /// What bounds players without time odds.
    pub(crate) fn clock(&self) -> Clock {
        let Self { start_clock_ms, play_clock_ms, budget, .. } = *self;
        Clock { start_clock_ms, play_clock_ms, budget }
    }

    /// The worker that played it; `None` if the run's own process did.
    pub(crate) fn worker(&self) -> Option<&str> {
        Some(&*self.worker.as_ref()?.0)
    }

    /// Whether a terminal state was reached, so that rewards count.
    pub(crate) fn is_scored(&self) -> bool {
        self.ending == Ending::Terminal
    }

    /// The reward of a seat; `None` if the match is unscored.
    pub(crate) fn reward(&self, seat: &SeatRow<'_>) -> Option<u8> {
        seat.reward.filter(|_| self.is_scored())
    }

    /// Roles that players have, with who has them.
    pub(crate) fn players(&self) -> impl Iterator<Item = (usize, &str, &SeatRow<'_>)> {
        let seats = self.seats.iter().enumerate();
        seats.filter_map(|(role, seat)| Some((role, seat.player()?, seat)))
    }

    /// The decisions of a role.
    pub(crate) fn decisions(&self, role: usize) -> impl Iterator<Item = DecisionRow> {
        self.steps.iter().filter_map(move |step| step.get(role).map(D::in_short))
    }

    /// The faults of a role, in the order of [`FaultKind::ALL`].
    pub(crate) fn faults(&self, role: usize) -> [u32; 6] {
        let mut counts = [0; 6];
        let in_play = self.decisions(role).filter_map(|decision| decision.fault);
        self.seats[role].start.fault.into_iter().chain(in_play).for_each(|fault| {
            counts[fault as usize] += 1;
        });
        counts
    }
}

impl SeatRow<'_> {
    /// The player's id; `None` where chance moved.
    pub(crate) fn player(&self) -> Option<&str> {
        let name = &*self.player.as_ref()?.0;
        (!is_chance(&self.role, name)).then_some(name)
    }
}

impl DecisionRow {
    /// Whether there was something to decide. Where roles take turns, half of
    /// all moves are forced and would halve every quantile of think times.
    pub(crate) fn is_choice(&self) -> bool {
        self.n_legal > 1
    }
}

impl Decision for DecisionRow {
    fn in_short(&self) -> DecisionRow {
        *self
    }
}

impl Decision for WholeDecision<'_> {
    fn in_short(&self) -> DecisionRow {
        let Self { n_legal, fault, wall_us, overrun_us, value_tenths, .. } = *self;
        DecisionRow { n_legal, fault, wall_us, overrun_us, value_tenths }
    }
}

impl Plain<'_> for DecisionRow {
    fn plain(_: &str, n_legal: u32, wall_us: u64) -> Self {
        Self { n_legal, fault: None, wall_us, overrun_us: 0, value_tenths: None }
    }
}

impl<'a> Plain<'a> for WholeDecision<'a> {
    fn plain(executed: &'a str, n_legal: u32, wall_us: u64) -> Self {
        Self { executed: Cow::from(executed), n_legal, wall_us, ..Self::default() }
    }
}

impl WholeDecision<'_> {
    /// What the player replied, if that was not executed.
    pub(crate) fn submitted(&self) -> Option<&str> {
        Some(&*self.submitted.as_ref()?.0)
    }

    /// What the player expected to be played, step by step.
    pub(crate) fn line(&self) -> impl Iterator<Item = &str> {
        self.line.iter().map(|step| &*step.0)
    }
}

impl<'a> From<&'a MatchRecord> for MatchRow<'a> {
    fn from(record: &'a MatchRecord) -> Self {
        let decisions = |step: &Vec<DecisionRecord>| step.iter().map(DecisionRow::from).collect();
        Self {
            job: record.job,
            job_id: Cow::from(&record.job_id),
            block: record.block,
            lap: record.lap,
            rotation: record.rotation,
            round: record.round,
            attempt: record.attempt,
            game: Cow::from(&record.game),
            game_hash: Cow::from(&record.game_hash),
            match_id: Cow::from(&record.match_id),
            seed: Cow::from(&record.seed),
            start_clock_ms: record.start_clock_ms,
            play_clock_ms: record.play_clock_ms,
            budget: record.budget,
            concurrency: record.concurrency,
            worker: record.worker.as_ref().map(|name| Name(Cow::from(name))),
            started_at: Cow::from(&record.started_at),
            duration_us: record.duration_us,
            harness_us: record.harness_us,
            ending: record.ending.clone(),
            goal_flags: record.goal_flags.clone(),
            n_steps: record.n_steps,
            seats: record.seats.iter().map(SeatRow::from).collect(),
            steps: record.steps.iter().map(decisions).collect(),
        }
    }
}

impl<'a> From<&'a SeatRecord> for SeatRow<'a> {
    fn from(seat: &'a SeatRecord) -> Self {
        Self {
            role: Cow::from(&seat.role),
            player: seat.player.as_ref().map(|name| Name(Cow::from(name))),
            player_hash: Cow::from(&seat.player_hash),
            odds: seat.odds,
            reward: seat.reward,
            start: StartRow::from(&seat.start),
        }
    }
}

impl From<&DecisionRecord> for DecisionRow {
    fn from(decision: &DecisionRecord) -> Self {
        let DecisionRecord { n_legal, fault, wall_us, overrun_us, value_tenths, .. } = *decision;
        Self { n_legal, fault, wall_us, overrun_us, value_tenths }
    }
}

#[cfg(test)]
mod tests {
    use crate::files;
    use crate::formats::outcomes::Outcomes;
    use crate::sample;
    use crate::standings::standings;
    use crate::stats::bootstrap::Bootstrap;
    use crate::stats::scored;

    #[test]
    fn no_reader_takes_a_reward_beyond_bounds() {
        let record = sample::record(0, "game", ["a", "b"], [100, 0]);
        let run = sample::run(true, &[record.clone(), record]);
        let path = run.path().join(files::JOURNAL);
        assert!(scored::read(&path).is_ok() && Outcomes::read(&path).is_ok());
        let journal = sample::without_checksums(&std::fs::read_to_string(&path).unwrap());
        let damaged = journal.replacen("\"reward\":100", "\"reward\":101", 1);
        assert_ne!(damaged, journal);
        std::fs::write(&path, damaged).unwrap();
        assert!(scored::read(&path).is_err());
        assert!(Outcomes::read(&path).is_err());
        assert!(standings(run.path(), &Bootstrap::default()).is_err());
    }
}
