//! What an experiment plays.

use std::sync::Arc;

use results::formats::outcomes::Outcomes;

use crate::schedule::{Job, Round, Schedule};
use crate::staged_schedule::StagedSchedule;

/// What is played: all of it known beforehand, or not.
#[derive(Clone)]
pub enum Jobs {
    /// All of a schedule.
    Schedule(Arc<Schedule>),
    /// Rounds that follow from results.
    Staged(Arc<StagedSchedule>),
}

impl Jobs {
    /// Matches, at most.
    #[must_use]
    pub fn n_jobs(&self) -> u64 {
        match self {
            Self::Schedule(schedule) => schedule.n_jobs(),
            Self::Staged(schedule) => schedule.most_jobs(),
        }
    }

    /// What is played of each game under each budget, at most.
    #[must_use]
    pub fn rounds(&self) -> Vec<Round> {
        match self {
            Self::Schedule(schedule) => schedule.rounds().collect(),
            Self::Staged(schedule) => schedule.most_rounds(),
        }
    }

    /// The schedule, unless what is played follows from results.
    #[must_use]
    pub fn schedule(&self) -> Option<&Arc<Schedule>> {
        match self {
            Self::Schedule(schedule) => Some(schedule),
            Self::Staged(_) => None,
        }
    }

    /// The jobs that are known when those with `outcomes` are done.
    pub(super) fn for_each(&self, outcomes: &Outcomes, mut take: impl FnMut(Job)) {
        match self {
            Self::Schedule(schedule) => schedule.jobs().for_each(take),
            Self::Staged(schedule) => {
                schedule
                    .rounds(outcomes)
                    .iter()
                    .for_each(|round| schedule.jobs(round).for_each(&mut take));
            }
        }
    }
}
