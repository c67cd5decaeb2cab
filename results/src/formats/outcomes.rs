//! How matches ended, by job: what a schedule that follows results reads of a
//! journal.

use std::collections::HashMap;
use std::path::Path;

use crate::journal::{Journal, JournalError, MatchRow};
use crate::record::MatchRecord;

/// Outcomes of the jobs that are done. The last attempt that is done counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes(HashMap<String, MatchOutcome>);

/// How a match ended that need not be played again: the rewards by role, or
/// `None` if it is unscored.
pub type MatchOutcome = Option<Box<[Option<u8>]>>;

impl Outcomes {
    /// Reads a journal, some 100 bytes a match.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let mut outcomes = Self::default();
        Journal::open(path)?.index()?.each_row(|row| {
            outcomes.take(row);
            Ok(())
        })?;
        Ok(outcomes)
    }

    /// Takes in one more record.
    pub fn add(&mut self, record: &MatchRecord) {
        self.take(&record.into());
    }

    fn take(&mut self, row: &MatchRow<'_>) {
        if row.ending.is_done() {
            let rewards = || row.seats.iter().map(|seat| row.reward(seat)).collect();
            self.insert(&row.job_id, row.is_scored().then(rewards));
        }
    }

    /// Says how the match of a job ended.
    pub fn insert(&mut self, job_id: &str, outcome: MatchOutcome) {
        self.0.insert(job_id.to_owned(), outcome);
    }

    /// The outcome of the job with this id; `None` if it is not done.
    #[must_use]
    pub fn get(&self, job_id: &str) -> Option<&MatchOutcome> {
        self.0.get(job_id)
    }

    /// How many jobs are done.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::record::Ending;
    use crate::sample;

    #[test]
    fn a_journal_gives_what_its_records_give() {
        let mut records = sample::records();
        let mut again = records[4].clone();
        again.seats[0].reward = Some(77);
        records.push(again);
        let mut broken_off = records[3].clone();
        broken_off.ending = Ending::interrupted();
        records.push(broken_off);
        let mut unscored = records[2].clone();
        (unscored.ending, unscored.job_id) = (Ending::StepLimit, "unscored".into());
        records.push(unscored);
        let run = sample::run(true, &records);
        let read = Outcomes::read(&run.path().join(files::JOURNAL)).unwrap();
        let mut added = Outcomes::default();
        records.iter().for_each(|record| added.add(record));
        assert_eq!(read, added);
        assert_eq!(read.get("unscored"), Some(&None));
        assert_eq!(read.get(&records[4].job_id).unwrap().as_ref().unwrap()[0], Some(77));
        assert!(read.get(&records[3].job_id).is_some(), "the first attempt was done");
        assert_eq!(read.get("another"), None);
    }
}
