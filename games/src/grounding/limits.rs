//! Limits on the cost of grounding, and the errors when they are exceeded.

use crate::{Cancel, ReasoningError};

/// Steps between two looks at the cancel flag.
const POLL: u64 = 1 << 16;

/// Limits on the grounding of one game. A game that exceeds one of them, other than
/// [`max_reduced`](GroundingLimits::max_reduced), is played by a reasoner that does not ground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroundingLimits {
    /// Maximum number of rows of all relations together.
    pub max_rows: u64,
    /// Maximum number of different terms; rules that build lists may make them without end.
    pub max_terms: u64,
    /// Maximum memory of relations, ground rules and graph, in bytes, roughly.
    pub max_bytes: u64,
    /// Maximum number of elementary steps: rows looked at and gates made.
    pub max_steps: u64,
    /// Maximum number of conjunctions of the graph, before constants are found.
    pub max_ands: u64,
    /// Deepest nesting of a term. No term has more than
    /// [`MAX_TERM_SIZE`](crate::MAX_TERM_SIZE) symbols.
    pub max_term_depth: u32,
    /// Maximum number of symbols of all facts, moves and percepts when written out. Terms share
    /// their parts, but their texts do not.
    pub max_symbols: u64,
    /// Maximum number of conjunctions, facts and moves of a network whose equal parts are proven
    /// and merged; for larger networks that takes too long for a start clock.
    pub max_reduced: usize,
}

/// At least twice the needs of the largest published rulesheets. Of the 187 that ground,
/// the largest need 2.6 million rows, 238 MiB, 24 million steps and 1.2 million
/// conjunctions. Games that need much more have no network of a useful size, and the
/// sooner that is known, the sooner they are played by the prover.
impl Default for GroundingLimits {
    fn default() -> Self {
        Self {
            max_rows: 6_000_000,
            max_terms: 1_000_000,
            max_bytes: 512 << 20,
            max_steps: 50_000_000,
            max_ands: 4_000_000,
            max_term_depth: 64,
            max_symbols: 10_000_000,
            max_reduced: 600,
        }
    }
}

/// What a [`GroundingLimits`] limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// [`GroundingLimits::max_rows`].
    Rows,
    /// [`GroundingLimits::max_terms`].
    Terms,
    /// [`GroundingLimits::max_bytes`].
    Bytes,
    /// [`GroundingLimits::max_steps`].
    Steps,
    /// [`GroundingLimits::max_ands`].
    Ands,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Rows => "rows",
            Self::Terms => "terms",
            Self::Bytes => "bytes",
            Self::Steps => "steps",
            Self::Ands => "gates",
        })
    }
}

/// Why a game has no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroundingError {
    /// The budget is used up.
    #[error("grounding the rules for `{relation}` takes more than {limit} {resource}")]
    Limit {
        /// The resource that was used up.
        resource: Resource,
        /// Its limit.
        limit: u64,
        /// The relation whose rules were being grounded.
        relation: String,
    },
    /// A rule builds deeper terms than [`GroundingLimits::max_term_depth`].
    #[error("the rules for `{relation}` nest terms deeper than {limit}")]
    TermTooDeep {
        /// The limit that was reached.
        limit: u32,
        /// The relation whose rules were being grounded.
        relation: String,
    },
    /// A rule builds larger terms than [`MAX_TERM_SIZE`](crate::MAX_TERM_SIZE).
    #[error("the rules for `{relation}` build terms of more than {limit} symbols")]
    TermTooLarge {
        /// The limit that was reached.
        limit: u32,
        /// The relation whose rules were being grounded.
        relation: String,
    },
    /// There are more symbols in all facts, moves and percepts than
    /// [`GroundingLimits::max_symbols`].
    #[error("all facts, moves and percepts together have more than {limit} symbols")]
    TooManySymbols {
        /// How many there may be.
        limit: u64,
    },
    /// A relation that must depend on the state alone depends on the moves made in it.
    #[error("`{relation}` depends on the moves of the step")]
    RestsOnMoves {
        /// `legal`, `goal` or `terminal`.
        relation: String,
    },
    /// A ground sentence depends on its own negation.
    #[error("`{relation}` depends on its own negation")]
    Unstratified {
        /// The relation.
        relation: String,
    },
    /// A rule has more conditions or variables than the grounder handles.
    #[error("a rule for `{relation}` has more than {limit} conditions or variables")]
    TooLong {
        /// The limit.
        limit: usize,
        /// The relation the rule is for.
        relation: String,
    },
    /// The rules cannot be compiled at all.
    #[error(transparent)]
    Rules(#[from] ReasoningError),
    /// The [`Cancel`] flag was raised.
    #[error("grounding was cancelled")]
    Cancelled,
}

/// Why grounding stopped, before it is known where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    Limit(Resource),
    TermTooDeep,
    TermTooLarge,
    Unstratified,
    Cancelled,
    /// The steps of an attempt are used up.
    Attempt,
}

/// Counts what is used.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    pub(super) budget: GroundingLimits,
    cancel: Cancel,
    pub(super) steps: u64,
    next_poll: u64,
    /// The attempt at hand ends here.
    pub(super) attempt: u64,
}

impl Meter {
    pub(super) fn new(budget: GroundingLimits, cancel: Cancel) -> Self {
        Self { budget, cancel, steps: 0, next_poll: 0, attempt: u64::MAX }
    }

    /// Counts steps.
    #[inline]
    pub(super) fn step(&mut self, steps: u64) -> Result<(), Halt> {
        self.steps += steps;
        if self.steps >= self.next_poll { self.poll() } else { Ok(()) }
    }

    #[cold]
    fn poll(&mut self) -> Result<(), Halt> {
        if self.cancel.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        if self.steps > self.budget.max_steps {
            return Err(Halt::Limit(Resource::Steps));
        }
        if self.steps > self.attempt {
            return Err(Halt::Attempt);
        }
        self.next_poll = self.steps + POLL;
        Ok(())
    }

    /// Compares what is held with the limits.
    pub(super) fn hold(&self, rows: u64, bytes: u64, ands: u64) -> Result<(), Halt> {
        if rows > self.budget.max_rows {
            return Err(Halt::Limit(Resource::Rows));
        }
        if bytes > self.budget.max_bytes {
            return Err(Halt::Limit(Resource::Bytes));
        }
        if ands > self.budget.max_ands {
            return Err(Halt::Limit(Resource::Ands));
        }
        Ok(())
    }
}
