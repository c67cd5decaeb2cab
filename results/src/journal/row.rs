//! A match as everybody who counts something reads it: the fields of a record that
//! somebody wants. Names are not copied out of the line, and the moves not at all.

mod whole;

use std::borrow::Cow;

use serde::Deserialize;

use crate::record::{
    Budget, Clock, Ending, FaultKind, GoalFlag, MatchRecord, RoundRecord, is_chance,
};

pub(crate) use whole::{WholeRow, WholeSeat};

/// A [`MatchRecord`] in short.
#[derive(Deserialize)]
pub(crate) struct MatchRow<'a> {
    pub(crate) job: u64,
    #[serde(borrow)]
    pub(crate) job_id: Cow<'a, str>,
    pub(crate) block: u64,
    pub(crate) lap: u32,
    pub(crate) round: Option<RoundRecord>,
    #[serde(borrow)]
    pub(crate) game: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) game_hash: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) seed: Cow<'a, str>,
    start_clock_ms: u64,
    play_clock_ms: u64,
    budget: Budget,
    #[serde(default, borrow)]
    worker: Option<Name<'a>>,
    pub(crate) duration_us: u64,
    pub(crate) harness_us: u64,
    pub(crate) ending: Ending,
    #[serde(default)]
    pub(crate) goal_flags: Vec<(u32, GoalFlag)>,
    /// By role.
    #[serde(borrow)]
    pub(crate) seats: Vec<SeatRow<'a>>,
    /// By step, then role.
    pub(crate) steps: Vec<Vec<DecisionRow>>,
}

/// A [`SeatRecord`](crate::record::SeatRecord) in short.
#[derive(Deserialize)]
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
    reward: Option<u8>,
    start: StartRow,
}

/// A name that is not copied out of the line.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct StartRow {
    #[serde(default)]
    fault: Option<FaultKind>,
}

/// A [`DecisionRecord`](crate::record::DecisionRecord) in short.
#[derive(Deserialize)]
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

impl MatchRow<'_> {
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
    pub(crate) fn decisions(&self, role: usize) -> impl Iterator<Item = &DecisionRow> {
        self.steps.iter().filter_map(move |step| step.get(role))
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
    fn player(&self) -> Option<&str> {
        let name = &*self.player.as_ref()?.0;
        (!is_chance(&self.role, name)).then_some(name)
    }
}

impl DecisionRow {
    /// Whether there was something to decide.
    pub(crate) fn is_choice(&self) -> bool {
        self.n_legal > 1
    }
}

impl<'a> From<&'a MatchRecord> for MatchRow<'a> {
    fn from(record: &'a MatchRecord) -> Self {
        let seats = record.seats.iter().map(|seat| SeatRow {
            role: Cow::from(&seat.role),
            player: seat.player.as_ref().map(|name| Name(Cow::from(name))),
            player_hash: Cow::from(&seat.player_hash),
            odds: seat.odds,
            reward: seat.reward,
            start: StartRow { fault: seat.start.fault },
        });
        let decisions = |step: &Vec<crate::record::DecisionRecord>| {
            let decisions = step.iter().map(|decision| DecisionRow {
                n_legal: decision.n_legal,
                fault: decision.fault,
                wall_us: decision.wall_us,
                overrun_us: decision.overrun_us,
                value_tenths: decision.value_tenths,
            });
            decisions.collect()
        };
        Self {
            job: record.job,
            job_id: Cow::from(&record.job_id),
            block: record.block,
            lap: record.lap,
            round: record.round,
            game: Cow::from(&record.game),
            game_hash: Cow::from(&record.game_hash),
            seed: Cow::from(&record.seed),
            start_clock_ms: record.start_clock_ms,
            play_clock_ms: record.play_clock_ms,
            budget: record.budget,
            worker: record.worker.as_ref().map(|name| Name(Cow::from(name))),
            duration_us: record.duration_us,
            harness_us: record.harness_us,
            ending: record.ending.clone(),
            goal_flags: record.goal_flags.clone(),
            seats: seats.collect(),
            steps: record.steps.iter().map(decisions).collect(),
        }
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
