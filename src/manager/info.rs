//! Asking players whether they are there: INFO.

use super::programs::LaunchedProgram;
use super::remote::{Answer, ExchangeError, Limits, Target, exchange};
use super::waits::Waits;
use super::{LOCALHOST, is_ready};
use crate::protocol::Message;

/// Whether a launched program replies to INFO as a player does.
pub(super) fn program_answers(waits: &Waits, program: &LaunchedProgram, limits: Limits) -> bool {
    let target = Target::new("", LOCALHOST, program.port);
    target.is_ok_and(|target| answers(waits, &target, limits))
}

/// Whether a player replies to INFO as players do.
pub(super) fn answers(waits: &Waits, target: &Target, limits: Limits) -> bool {
    ask(waits, target, limits).is_ok_and(|answer| is_ready(&answer))
}

/// What a player replies to INFO.
pub(super) fn ask(waits: &Waits, target: &Target, limits: Limits) -> Result<Answer, ExchangeError> {
    let info = Message::Info.to_string();
    waits.block_on(exchange(waits, target, info, limits, false)).reply
}
