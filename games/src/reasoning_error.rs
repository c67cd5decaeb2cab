//! Why a computation ends without a result, and the flag that ends one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag by which another thread stops a running computation.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not yet raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag was raised.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a state could not be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReasoningError {
    /// A rule builds deeper terms than [`Guards::max_term_depth`](crate::Guards::max_term_depth).
    #[error(
        "a derived term is nested deeper than {limit}; a recursive rule keeps building larger terms"
    )]
    TermTooDeep {
        /// The limit that was reached.
        limit: u32,
    },
    /// A rule builds larger terms than [`MAX_TERM_SIZE`](crate::state_machine::MAX_TERM_SIZE).
    #[error("a derived term has more than {limit} symbols; some rule keeps doubling its terms")]
    TermTooLarge {
        /// The limit that was reached.
        limit: u32,
    },
    /// A state has more facts than [`Guards::max_facts`](crate::Guards::max_facts).
    #[error("a single state has more than {limit} facts")]
    TooManyFacts {
        /// The limit that was reached.
        limit: usize,
    },
    /// A computation takes more steps than [`Guards::max_steps`](crate::Guards::max_steps).
    #[error(
        "a single computation takes more than {limit} steps; some rule joins relations into too \
         many combinations"
    )]
    TooManySteps {
        /// The limit that was reached.
        limit: u64,
    },
    /// The alternatives of the rules make more conditions than a machine supports.
    #[error("the alternatives of the rules make more than {limit} conditions")]
    RulesTooLarge {
        /// The limit that was reached.
        limit: usize,
    },
    /// There are more different terms than [`Guards::max_terms`](crate::Guards::max_terms).
    #[error("the rules derive more than {limit} different terms")]
    TooManyTerms {
        /// The limit that was reached.
        limit: usize,
    },
    /// The [`Cancel`] flag was raised.
    #[error("the computation was cancelled")]
    Cancelled,
}
