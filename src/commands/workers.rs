//! The workers of a queue that play the matches of a command instead of this process.

#[cfg(feature = "queue")]
use std::path::Path;

use super::queue_options::CoordinatorOptions;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::runner::Crew;

/// What coordinates the workers.
#[cfg(feature = "queue")]
pub(super) struct Workers(crate::queue::Coordinator);

#[cfg(feature = "queue")]
impl Workers {
    /// Connects to the queue that `options` name, if they name one. `folder` is the run's.
    pub(super) fn hire(
        options: &CoordinatorOptions,
        experiment: &Experiment,
        folder: &Path,
    ) -> Result<Option<Self>, Failure> {
        use super::queue_options::failure;
        use crate::queue::{Coordinator, CoordinatorSettings};

        let Some(url) = options.queue.as_deref() else { return Ok(None) };
        let settings = CoordinatorSettings {
            ack_wait: options.ack_wait,
            mixed_versions: options.allow_mixed_versions,
            tags: options.tags.clone(),
        };
        let server = options.server.server(url)?;
        let coordinator = Coordinator::new(server, experiment, folder, &settings);
        coordinator.map(|coordinator| Some(Self(coordinator))).map_err(failure)
    }

    /// Whether something of the run may be on the server, although [`hire`](Self::hire) failed.
    pub(super) fn have_begun(failure: &Failure) -> bool {
        let error = failure.error.downcast_ref();
        error.is_none_or(|error: &crate::queue::QueueError| !error.is_before_all_requests())
    }

    /// What plays the matches.
    pub(super) fn crew(&mut self) -> &mut dyn Crew {
        &mut self.0
    }

    /// Ends the work. If `is_over`, the run is removed from the server; otherwise the same
    /// command resumes it. An error is why the queue failed, if it did.
    pub(super) fn dismiss(mut self, is_over: bool) -> Result<(), Failure> {
        use super::queue_options::failure;

        match self.0.take_failure() {
            Some(error) => Err(failure(error)),
            None if is_over => self.0.close().map_err(failure),
            None => Ok(()),
        }
    }
}

/// There are none in a program without the queue.
#[cfg(not(feature = "queue"))]
pub(super) enum Workers {}

#[cfg(not(feature = "queue"))]
impl Workers {
    pub(super) fn hire(
        options: &CoordinatorOptions,
        _experiment: &Experiment,
        _folder: &std::path::Path,
    ) -> Result<Option<Self>, Failure> {
        match options.queue {
            Some(_) => Err(super::queue_options::no_queue()),
            None => Ok(None),
        }
    }

    pub(super) fn have_begun(_failure: &Failure) -> bool {
        false
    }

    pub(super) fn crew(&mut self) -> &mut dyn Crew {
        match *self {}
    }

    pub(super) fn dismiss(self, _is_over: bool) -> Result<(), Failure> {
        match self {}
    }
}
