//! The value of a state.

/// The value of a state, or a bound on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// The expected reward.
    pub(crate) score: f64,
    /// It depends on terminal states alone.
    pub(crate) proven: bool,
}
