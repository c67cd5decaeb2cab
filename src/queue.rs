//! A work queue over NATS JetStream: a coordinator gives the blocks of a run to workers
//! on other machines, and writes the journal.
//!
//! ```text
//! Session -> Coordinator -> blocks  -> worker -> manager::Worker
//!    journal <- Coordinator <- results <- worker <- Recorder
//! ```
//!
//! The [`Coordinator`] is a [`Crew`](crate::runner::Crew): it takes jobs from the runner
//! and emits the events of matches that others played, so journal, resuming, formats and
//! reports are those of a run on one machine. A [worker](work) plays blocks with the same
//! manager as the runner's threads.
//!
//! One message is one block, so all seatings of a block are played by the same machine.
//! The journal is the truth, and the queue may lose or repeat anything: the coordinator
//! counts each job once, and gives out again what the queue has lost. What a worker sends
//! is checked before it counts.

mod blocks;
mod calibration;
mod checked;
mod coordinator;
mod error;
mod news;
mod prepared;
mod replayed;
mod roster;
mod rulesheets;
mod run_file;
mod slots;
mod upkeep;
mod wire;
mod worker;

pub use coordinator::{Coordinator, CoordinatorSettings};
pub use error::QueueError;
pub use news::WorkerNews;
pub use upkeep::{IdleWorker, QueueStatus, RunStatus, WorkerStatus, drain, purge, status};
pub use work_queue::{Server, ServerError};
pub use worker::{WorkerSettings, WorkerStop, work};
