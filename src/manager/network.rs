//! The network thread, which has the sockets and clocks of all matches.

use std::sync::Arc;
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::machine_limit::{lack, no_thread};
use super::programs::LaunchedProgram;
use super::remote::{Answer, ExchangeError, Limits, Target, exchange};
use super::stalls::Watch;
use super::wire::Stamps;
use super::{LOCALHOST, is_ready};
use crate::protocol::Message;

/// Why this machine cannot talk to remote players: what it lacks, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot talk to players: {0}")]
pub struct NetError(pub(super) String);

/// What talking over the network takes: one for all matches. A thread waits for all sockets
/// and clocks, and wakes the match that one of them belongs to.
pub(super) struct Net {
    /// Drives a match's futures on the thread of the match; their sockets and clocks are the
    /// network thread's.
    pub(super) handle: Handle,
    watch: Arc<Watch>,
    _stamps: Stamps,
    /// The network thread ends soon after this is dropped; nobody waits for it.
    _end: oneshot::Sender<()>,
}

impl Net {
    /// Starts the network thread.
    pub(super) fn new(watch: Arc<Watch>) -> Result<Self, NetError> {
        let lacking =
            |error: std::io::Error| NetError(lack(&error).unwrap_or_else(|| error.to_string()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(lacking)?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        thread::Builder::new()
            .name("network".to_owned())
            .spawn(move || {
                // Nothing is ever sent: it ends when the sender is dropped.
                let _ = runtime.block_on(ended);
            })
            .map_err(|error| NetError(no_thread(&error)))?;
        Ok(Self { handle, watch, _stamps: Stamps::hold(), _end: end })
    }

    /// Whether a launched program replies to INFO as a player does.
    pub(super) fn answers_info(&self, program: &LaunchedProgram, limits: Limits) -> bool {
        let Ok(target) = Target::new("", LOCALHOST, program.port) else { return false };
        self.answers(&target, limits)
    }

    /// Whether a player replies to INFO as players do.
    pub(super) fn answers(&self, target: &Target, limits: Limits) -> bool {
        self.ask_info(target, limits).is_ok_and(|answer| is_ready(&answer))
    }

    /// What a player replies to INFO.
    pub(super) fn ask_info(
        &self,
        target: &Target,
        limits: Limits,
    ) -> Result<Answer, ExchangeError> {
        let info = Message::Info.to_string();
        self.handle.block_on(exchange(&self.watch, target, info, limits, false)).reply
    }
}
