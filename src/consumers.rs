//! What looks at a tournament while it is played: the journal, the progress,
//! and the records of matches. Consumers see events and nothing else.

mod journal;
mod progress;
mod recorder;

pub use journal::{JournalConsumer, JournalFailure, Written};
pub use progress::{Progress, Style};
pub(crate) use progress::{brief, workers_words};
pub use recorder::{Catalogue, Recorder};
