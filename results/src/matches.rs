//! The matches of a run, one after the other.

use std::ops::ControlFlow;
use std::path::Path;

use crate::files;
use crate::journal::{Journal, JournalError};
use crate::record::MatchRecord;

/// Shows `visit` the matches of the run in folder `run` in the order of the
/// schedule, of each job the attempt that counts, until it has seen enough. One
/// record is in memory at a time.
///
/// # Errors
/// If the journal cannot be read.
pub fn each_match(
    run: &Path,
    mut visit: impl FnMut(MatchRecord) -> ControlFlow<()>,
) -> Result<(), JournalError> {
    let index = Journal::open(&run.join(files::JOURNAL))?.index()?;
    for record in index.records() {
        if visit(record?).is_break() {
            break;
        }
    }
    Ok(())
}
