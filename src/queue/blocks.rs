//! Groups jobs into messages: a block each, or blocks that are compared with each other.

use std::sync::Arc;

use crate::schedule::Job;

/// The missing jobs of one message, which one worker plays.
///
/// They are those of a block, or of blocks of a comparison that follow each other and share a
/// seed: those of base and head against the same opponents. So what is compared is played by one
/// machine. The message has the number of its first block.
pub(super) type JobsOfBlock = Vec<Arc<Job>>;

/// A message with so many jobs gets no further block: its results are sent at once, and the
/// server limits their size.
const MAX_JOINED: usize = 64;

/// Jobs in the order of the schedule, grouped: the jobs of a block follow each other, and so do
/// the blocks that are compared.
pub(super) struct Blocks<'a> {
    next: &'a (dyn Fn() -> Option<Job> + Sync),
    /// The first job of the next message.
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
        let mut last = Arc::new(self.ahead.take().or_else(self.next)?);
        let mut jobs = vec![Arc::clone(&last)];
        while let Some(job) = (self.next)() {
            let is_joined =
                job.block == last.block || (share_chance(&job, &last) && jobs.len() < MAX_JOINED);
            if !is_joined {
                self.ahead = Some(job);
                break;
            }
            last = Arc::new(job);
            jobs.push(Arc::clone(&last));
        }
        Some(jobs)
    }
}

/// Whether two jobs are of one block, or of blocks that are compared with each other: others
/// have seeds of their own.
pub(super) fn share_chance(a: &Job, b: &Job) -> bool {
    (a.game, a.seed) == (b.game, b.seed)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use results::record::Budget;

    use super::*;
    use crate::schedule::Clocks;

    fn job(number: u64, block: u64, seed: u64) -> Job {
        let clock = Duration::from_secs(1);
        Job {
            number,
            id: number.to_string(),
            block,
            lap: 0,
            rotation: 0,
            game: 0,
            seats: vec![Some(0), Some(1)],
            clocks: Clocks { start: clock, play: clock, margin: clock },
            budget: Budget::Clock,
            seed,
            round: None,
        }
    }

    /// The numbers of the jobs of each message.
    fn messages(jobs: Vec<Job>) -> Vec<Vec<u64>> {
        let jobs = Mutex::new(jobs.into_iter());
        let next = || jobs.lock().unwrap().next();
        let numbers = |jobs: JobsOfBlock| jobs.iter().map(|job| job.number).collect();
        Blocks::new(&next).map(numbers).collect()
    }

    #[test]
    fn compared_blocks_travel_together_and_others_alone() {
        // Block and seed: three that are compared, one alone, what is left of two.
        let blocks =
            [(0, 7), (0, 7), (1, 7), (1, 7), (2, 7), (2, 7), (3, 8), (3, 8), (4, 9), (5, 9)];
        let jobs = (0..).zip(blocks).map(|(number, (block, seed))| job(number, block, seed));
        let mut jobs: Vec<Job> = jobs.collect();
        jobs.push(Job { game: 1, ..job(10, 6, 9) });
        let expected = [vec![0, 1, 2, 3, 4, 5], vec![6, 7], vec![8, 9], vec![10]];
        assert_eq!(messages(jobs), expected);
        assert!(messages(vec![]).is_empty());
    }

    #[test]
    fn a_block_stays_whole_and_large_ones_are_not_joined() {
        let size = MAX_JOINED as u64 + 10;
        let jobs = (0..2 * size).map(|number| job(number, number / size, 7)).collect();
        let expected: Vec<Vec<u64>> = vec![(0..size).collect(), (size..2 * size).collect()];
        assert_eq!(messages(jobs), expected);
    }
}
