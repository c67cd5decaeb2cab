//! Groups jobs into blocks.

use std::sync::Arc;

use crate::schedule::Job;

/// The missing jobs of one block.
pub(super) type JobsOfBlock = Vec<Arc<Job>>;

/// Jobs in the order of the schedule, grouped: the jobs of a block follow each other.
pub(super) struct Blocks<'a> {
    next: &'a (dyn Fn() -> Option<Job> + Sync),
    /// The first job of the next block.
    ahead: Option<Job>,
}

impl<'a> Blocks<'a> {
    /// The blocks of the jobs that `next` gives.
    pub(super) fn new(next: &'a (dyn Fn() -> Option<Job> + Sync)) -> Self {
        Self { next, ahead: None }
    }
}

impl Iterator for Blocks<'_> {
    type Item = JobsOfBlock;

    fn next(&mut self) -> Option<JobsOfBlock> {
        let first = self.ahead.take().or_else(self.next)?;
        let block = first.block;
        let mut jobs = vec![Arc::new(first)];
        while let Some(job) = (self.next)() {
            if job.block != block {
                self.ahead = Some(job);
                break;
            }
            jobs.push(Arc::new(job));
        }
        Some(jobs)
    }
}
