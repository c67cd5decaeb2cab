//! Why evaluation stops before its end.

use crate::state_machine::ReasoningError;

/// Why the evaluation stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// For good.
    Error(ReasoningError),
    /// The limit of work is reached.
    Budget,
    /// Calls of this component nest too deeply.
    TooDeep(u32),
}
