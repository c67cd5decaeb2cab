//! Groups jobs into messages: a block each, blocks that are compared with each other, or several
//! blocks of very short matches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::schedule::Job;

/// The missing jobs of one message, which one worker plays.
///
/// A block is never divided. The blocks of a comparison that follow each other and share a seed,
/// those of base and head against the same opponents, travel together, so that what is compared
/// is played by one machine. Where matches take less time than a message, several blocks travel
/// together. The message has the number of its first block.
pub(super) type JobsOfMessage = Vec<Arc<Job>>;

/// No block of a comparison is added to a message of this many jobs or more. The results of a
/// message are sent as one message, whose size the server limits.
const MAX_COMPARED: usize = 64;

/// No block of short matches is added to a message of this many jobs or more.
const MAX_SHORT: usize = 32;

/// Blocks of short matches share a message if all its matches are expected to take less time.
const SHORT: Duration = Duration::from_millis(5);

/// Jobs in the order of the schedule, grouped: the jobs of a message follow each other.
pub(super) struct Messages<'a> {
    next: &'a (dyn Fn() -> Option<Job> + Sync),
    /// Whether blocks of short matches share a message.
    joins_short: bool,
    /// The first job of the next message.
    ahead: Option<Job>,
}

impl<'a> Messages<'a> {
    /// The messages of the jobs that `next` gives.
    pub(super) fn new(next: &'a (dyn Fn() -> Option<Job> + Sync), joins_short: bool) -> Self {
        Self { next, joins_short, ahead: None }
    }

    /// The jobs of the next message, by what is known of the lengths of matches.
    pub(super) fn next(&mut self, lengths: &MatchLengths) -> Option<JobsOfMessage> {
        let mut last = Arc::new(self.ahead.take().or_else(self.next)?);
        let mut length = lengths.expected(&last);
        let mut jobs = vec![Arc::clone(&last)];
        while let Some(job) = (self.next)() {
            length = length.saturating_add(lengths.expected(&job));
            let is_joined = job.block == last.block
                || (share_chance(&job, &last) && jobs.len() < MAX_COMPARED)
                || (self.joins_short && length < SHORT && jobs.len() < MAX_SHORT);
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

/// How long matches of each game took in this run.
#[derive(Debug, Default)]
pub(super) struct MatchLengths {
    /// Of each game the longest match; where none comes near it, it counts less with each.
    longest: BTreeMap<usize, Duration>,
}

impl MatchLengths {
    /// Notes a match.
    pub(super) fn note(&mut self, game: usize, length: Duration) {
        let longest = self.longest.entry(game).or_default();
        *longest = length.max(*longest - *longest / 64);
    }

    /// How long a match will take; without bound where none of its game was played.
    fn expected(&self, job: &Job) -> Duration {
        self.longest.get(&job.game).copied().unwrap_or(Duration::MAX)
    }
}

/// Whether two jobs are of one block, or of blocks that are compared with each other: others
/// have seeds of their own.
fn share_chance(a: &Job, b: &Job) -> bool {
    (a.game, a.seed) == (b.game, b.seed)
}

/// The number of blocks that the jobs of a message are of.
pub(super) fn n_blocks(jobs: &[Job]) -> u64 {
    jobs.chunk_by(|a, b| a.block == b.block).count() as u64
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
    fn messages(jobs: Vec<Job>, lengths: &MatchLengths) -> Vec<Vec<u64>> {
        let jobs = Mutex::new(jobs.into_iter());
        let next = || jobs.lock().unwrap().next();
        let mut messages = Messages::new(&next, true);
        let numbers = |jobs: JobsOfMessage| jobs.iter().map(|job| job.number).collect();
        std::iter::from_fn(|| messages.next(lengths)).map(numbers).collect()
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
        assert_eq!(messages(jobs, &MatchLengths::default()), expected);
        assert!(messages(vec![], &MatchLengths::default()).is_empty());
    }

    #[test]
    fn a_block_stays_whole_and_large_ones_are_not_joined() {
        let size = MAX_COMPARED as u64 + 10;
        let jobs = (0..2 * size).map(|number| job(number, number / size, 7)).collect();
        let expected: Vec<Vec<u64>> = vec![(0..size).collect(), (size..2 * size).collect()];
        assert_eq!(messages(jobs, &MatchLengths::default()), expected);
    }

    #[test]
    fn blocks_of_short_matches_travel_together() {
        let blocks =
            |n: u64| (0..2 * n).map(|number| job(number, number / 2, number / 2)).collect();
        let mut lengths = MatchLengths::default();
        assert_eq!(messages(blocks(100), &lengths).len(), 100, "nothing is known of the game");
        lengths.note(0, Duration::from_micros(20));
        let together = messages(blocks(100), &lengths);
        assert_eq!(together.len(), 100_usize.div_ceil(MAX_SHORT / 2));
        assert!(together.concat().into_iter().eq(0..200));
        lengths.note(0, Duration::from_millis(1));
        assert!(messages(blocks(100), &lengths).iter().all(|jobs| jobs.len() == 4));
        lengths.note(0, Duration::from_secs(1));
        assert_eq!(messages(blocks(100), &lengths).len(), 100);
        // A single long one is forgotten in time.
        (0..2000).for_each(|_| lengths.note(0, Duration::from_micros(20)));
        assert_eq!(messages(blocks(100), &lengths), together);
        // One long match is not put beside short ones.
        let mut mixed: Vec<Job> = blocks(10);
        mixed[10].game = 1;
        mixed[11].game = 1;
        let expected: [Vec<u64>; 3] = [(0..10).collect(), (10..12).collect(), (12..20).collect()];
        assert_eq!(messages(mixed, &lengths), expected);
    }
}
