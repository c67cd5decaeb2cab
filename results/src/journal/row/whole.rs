//! A match with all that tables show of it. Texts are borrowed from the line.

use std::borrow::Cow;

use serde::Deserialize;

use super::{DecisionRow, MatchRow, Name, SeatRow, StartRow};
use crate::record::{Budget, Clock, Ending, FaultKind, GoalFlag, RoundRecord, is_chance};

/// A [`MatchRecord`](crate::record::MatchRecord) that borrows from its line.
#[derive(Deserialize)]
pub(crate) struct WholeRow<'a> {
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
    pub(crate) seats: Vec<WholeSeat<'a>>,
    /// By step, then role.
    #[serde(borrow)]
    pub(crate) steps: Vec<Vec<WholeDecision<'a>>>,
}

/// A [`SeatRecord`](crate::record::SeatRecord) that borrows from its line.
#[derive(Deserialize)]
pub(crate) struct WholeSeat<'a> {
    #[serde(borrow)]
    pub(crate) role: Cow<'a, str>,
    #[serde(borrow)]
    player: Option<Name<'a>>,
    #[serde(borrow)]
    pub(crate) player_hash: Cow<'a, str>,
    #[serde(default)]
    pub(crate) odds: Option<Clock>,
    #[serde(default, deserialize_with = "crate::record::reward")]
    pub(crate) reward: Option<u8>,
    pub(crate) start: WholeStart,
}

/// A [`StartRecord`](crate::record::StartRecord) without what no table shows.
#[derive(Deserialize)]
pub(crate) struct WholeStart {
    #[serde(default)]
    pub(crate) fault: Option<FaultKind>,
    pub(crate) wall_us: u64,
    #[serde(default)]
    pub(crate) nodes: Option<u64>,
}

/// A [`DecisionRecord`](crate::record::DecisionRecord) that borrows from its line.
#[derive(Deserialize)]
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
    #[serde(default)]
    pub(crate) line: Vec<String>,
}

impl WholeRow<'_> {
    /// What bounds players without time odds.
    pub(crate) fn clock(&self) -> Clock {
        let Self { start_clock_ms, play_clock_ms, budget, .. } = *self;
        Clock { start_clock_ms, play_clock_ms, budget }
    }
}

impl WholeSeat<'_> {
    /// The player's id; `None` where chance moved.
    pub(crate) fn player(&self) -> Option<&str> {
        let name = &*self.player.as_ref()?.0;
        (!is_chance(&self.role, name)).then_some(name)
    }
}

impl WholeDecision<'_> {
    /// What the player replied, if that was not executed.
    pub(crate) fn submitted(&self) -> Option<&str> {
        Some(&*self.submitted.as_ref()?.0)
    }

    /// Whether there was something to decide. Where roles take turns, half of
    /// all moves are forced and would halve every quantile of think times.
    pub(crate) fn is_choice(&self) -> bool {
        self.n_legal > 1
    }
}

impl<'a> From<&'a WholeRow<'_>> for MatchRow<'a> {
    fn from(row: &'a WholeRow<'_>) -> Self {
        let seats = row.seats.iter().map(|seat| SeatRow {
            role: Cow::from(&*seat.role),
            player: seat.player.as_ref().map(|name| Name(Cow::from(&*name.0))),
            player_hash: Cow::from(&*seat.player_hash),
            odds: seat.odds,
            reward: seat.reward,
            start: StartRow { fault: seat.start.fault },
        });
        let decision = |decision: &WholeDecision<'_>| DecisionRow {
            n_legal: decision.n_legal,
            fault: decision.fault,
            wall_us: decision.wall_us,
            overrun_us: decision.overrun_us,
            value_tenths: decision.value_tenths,
        };
        let decisions = |step: &Vec<WholeDecision<'_>>| step.iter().map(decision).collect();
        Self {
            job: row.job,
            job_id: Cow::from(&*row.job_id),
            block: row.block,
            lap: row.lap,
            round: row.round,
            game: Cow::from(&*row.game),
            game_hash: Cow::from(&*row.game_hash),
            seed: Cow::from(&*row.seed),
            start_clock_ms: row.start_clock_ms,
            play_clock_ms: row.play_clock_ms,
            budget: row.budget,
            worker: row.worker.as_ref().map(|name| Name(Cow::from(&*name.0))),
            duration_us: row.duration_us,
            harness_us: row.harness_us,
            ending: row.ending.clone(),
            goal_flags: row.goal_flags.clone(),
            seats: seats.collect(),
            steps: row.steps.iter().map(decisions).collect(),
        }
    }
}
