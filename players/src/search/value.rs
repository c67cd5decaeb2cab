//! The value of a state.

/// The value of a state, or a bound on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// The expected reward.
    pub(crate) score: f64,
    /// It depends on terminal states alone. Where moves were left out, it may still be wrong.
    pub(crate) proven: bool,
}
