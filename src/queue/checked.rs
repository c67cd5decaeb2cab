//! What of a worker's result counts.

use std::collections::BTreeSet;
use std::sync::Arc;

use results::record::MatchRecord;
use work_queue::is_token;

use super::blocks::JobsOfMessage;
use super::calibration::Calibration;
use super::replayed::{Replayed, Unfit, replayed};
use super::wire::ResultMessage;
use crate::consumers::Catalogue;
use crate::schedule::Job;

/// A match that a worker played, checked.
pub(super) type PlayedMatch = (Arc<Job>, Replayed);

/// What a worker has played of a message.
pub(super) struct Checked {
    pub(super) worker: String,
    pub(super) calibration: Option<Calibration>,
    pub(super) matches: Vec<PlayedMatch>,
    /// The jobs of blocks that were not begun.
    pub(super) left: JobsOfMessage,
}

/// A result that does not count.
pub(super) struct Refused {
    pub(super) worker: String,
    pub(super) reason: String,
}

/// Checks a result of a message with these jobs. It counts by whole blocks: all matches of a
/// block are there, or it ends with one that could not be played. Matches of others are of a
/// message that was given out before a part of it was in the journal.
pub(super) fn checked(
    message: ResultMessage,
    jobs: &[Arc<Job>],
    catalogue: &Arc<Catalogue>,
) -> Result<Checked, Refused> {
    let ResultMessage { worker, records, calibration } = message;
    if !is_token(&worker) {
        let reason = "the worker has no proper name".to_owned();
        return Err(Refused { worker: "?".to_owned(), reason });
    }
    match played(records, jobs, &worker, catalogue) {
        Ok((matches, left)) => Ok(Checked { worker, calibration, matches, left }),
        Err(reason) => Err(Refused { worker, reason }),
    }
}

/// The matches that count, and the jobs of blocks that were not begun; else what is wrong.
fn played(
    records: Vec<MatchRecord>,
    jobs: &[Arc<Job>],
    worker: &str,
    catalogue: &Arc<Catalogue>,
) -> Result<(Vec<PlayedMatch>, JobsOfMessage), String> {
    let mut matches: Vec<PlayedMatch> = Vec::with_capacity(jobs.len());
    let mut foreign = None;
    for record in records {
        let Some(job) = jobs.iter().find(|job| job.number == record.job) else {
            foreign = foreign.or(Some(record.job));
            continue;
        };
        if matches.iter().any(|(other, _)| other.number == job.number) {
            return Err(format!("match {} is there twice", job.number));
        }
        let replayed = replayed(record, job, worker, catalogue);
        matches.push((Arc::clone(job), replayed.map_err(|unfit| unfit.to_string())?));
    }
    if matches.is_empty() {
        let missing = Unfit::Missing { job: jobs[0].number };
        return Err(foreign.map_or(missing, |job| Unfit::Foreign { job }).to_string());
    }
    let begun: BTreeSet<u64> = matches.iter().map(|(job, _)| job.block).collect();
    let aborted = matches.iter().filter(|(_, replayed)| replayed.is_aborted());
    let aborted: BTreeSet<u64> = aborted.map(|(job, _)| job.block).collect();
    let is_there = |job: &Arc<Job>| matches.iter().any(|(other, _)| other.number == job.number);
    let mut left = vec![];
    for job in jobs.iter().filter(|job| !is_there(job) && !aborted.contains(&job.block)) {
        if begun.contains(&job.block) {
            return Err(Unfit::Missing { job: job.number }.to_string());
        }
        left.push(Arc::clone(job));
    }
    Ok((matches, left))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::experiment::Experiment;
    use crate::queue::prepared::tests::prepared;
    use crate::spec::{self, Overrides};

    const SPEC: &str = "games = [\"nim\"]\nplayers = [\"random\", \"legal\"]\nblocks = 4\n\
                        budget = { nodes = 10 }\n";

    /// Numbers of the matches that count of these records, and of the jobs that are left; else
    /// why the result is refused.
    fn found(
        jobs: &[Arc<Job>],
        records: &[&MatchRecord],
        catalogue: &Arc<Catalogue>,
    ) -> Result<[Vec<u64>; 2], String> {
        let records = records.iter().map(|&record| record.clone()).collect();
        let message = ResultMessage { worker: "w".to_owned(), records, calibration: None };
        let numbers = |jobs: Vec<&Arc<Job>>| jobs.iter().map(|job| job.number).collect();
        match checked(message, jobs, catalogue) {
            Ok(Checked { matches, left, .. }) => Ok([
                numbers(matches.iter().map(|(job, _)| job).collect()),
                numbers(left.iter().collect()),
            ]),
            Err(Refused { reason, .. }) => Err(reason),
        }
    }

    #[test]
    fn results_count_by_whole_blocks() {
        let folder = Path::new("");
        let spec = spec::read(SPEC, "run", folder, &Overrides::default()).unwrap();
        let hash = spec.hash();
        let experiment = Experiment::new(spec).unwrap();
        let jobs: JobsOfMessage =
            experiment.jobs.schedule().unwrap().jobs().map(Arc::new).collect();
        assert_eq!(jobs.len(), 8);
        let run = prepared(SPEC, &hash).unwrap();
        let mut worker = run.manager.worker();
        let records: Vec<MatchRecord> =
            jobs.iter().map(|job| run.play(Job::clone(job), &mut worker)).collect();
        let [a, b, c, d, e, ..] = &records[..] else { unreachable!() };
        // A message of the first two blocks.
        let (message, of) = (jobs[..4].to_vec(), &run.catalogue);
        assert_eq!(found(&message, &[a, b, c, d], of), Ok([vec![0, 1, 2, 3], vec![]]));
        assert_eq!(found(&message, &[c, d], of), Ok([vec![2, 3], vec![0, 1]]));
        assert_eq!(found(&message, &[a, b, e], of), Ok([vec![0, 1], vec![2, 3]]));
        let refused = |what: &str| Err(what.to_owned());
        assert_eq!(found(&message, &[a, b, c], of), refused("match 3 is missing"));
        assert_eq!(found(&message, &[], of), refused("match 0 is missing"));
        assert_eq!(found(&message, &[e], of), refused("match 4 does not belong to the block"));
        assert_eq!(found(&message, &[a, a], of), refused("match 0 is there twice"));
        // A match that could not be played ends its block, and no other.
        let broken = run.unplayed(Job::clone(&jobs[2]), "no port".to_owned());
        assert_eq!(found(&message, &[a, b, &broken], of), Ok([vec![0, 1, 2], vec![]]));
        assert_eq!(found(&message, &[&broken], of), Ok([vec![2], vec![0, 1]]));
    }
}
