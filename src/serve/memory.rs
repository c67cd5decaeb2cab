//! How much memory a server may take, and how it is divided.

use games::{GroundingLimits, Guards};

/// Largest request: several times the longest START known, and little enough
/// that a hostile one costs some tens of megabytes.
pub(super) const MAX_REQUEST_BYTES: usize = 2 << 20;

/// Default memory of a server, in bytes.
pub const DEFAULT_MEMORY_BYTES: u64 = 2 << 30;

/// Minimum memory of a server, in bytes.
pub const MIN_MEMORY_BYTES: u64 = 256 << 20;

/// Matches in memory at once: the one that is played, and one that was given up
/// and has not noticed yet.
pub(super) const MAX_MATCHES: usize = 2;

/// What parsing makes of a byte of a message, at most, in bytes.
const PARSED_BYTES: u64 = 64;

/// What the prover keeps for a fact, with its term and indexes, in bytes, roughly.
const FACT_BYTES: u64 = 400;

/// What a term takes that the prover met, in its table, in the common one and in that
/// of the player's fork, in bytes, roughly.
const TERM_BYTES: u64 = 100;

/// The memory of one match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    match_bytes: u64,
}

impl Memory {
    /// What is left for one match of `bytes` in all.
    pub(super) fn new(bytes: u64) -> Self {
        let bytes = bytes.max(MIN_MEMORY_BYTES);
        // One large message is in memory in parsed form, at most.
        let message = (MAX_REQUEST_BYTES as u64 * PARSED_BYTES).min(bytes / 2);
        Self { match_bytes: (bytes - message) / MAX_MATCHES as u64 }
    }

    /// What grounding the rules may take.
    pub(super) fn grounding(self) -> GroundingLimits {
        let budget = GroundingLimits::default();
        GroundingLimits { max_bytes: budget.max_bytes.min(self.match_bytes / 2), ..budget }
    }

    /// What computing one state may take.
    pub(super) fn guards(self) -> Guards {
        let guards = Guards::default();
        let facts = usize::try_from(self.match_bytes / 2 / FACT_BYTES).unwrap_or(usize::MAX);
        let terms = usize::try_from(self.match_bytes / 2 / TERM_BYTES).unwrap_or(usize::MAX);
        Guards {
            max_facts: guards.max_facts.min(facts),
            max_terms: guards.max_terms.min(terms),
            ..guards
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_gets_its_share_and_never_more_than_elsewhere() {
        let [least, usual, most] = [0, DEFAULT_MEMORY_BYTES, u64::MAX].map(Memory::new);
        assert!(least.grounding().max_bytes * 2 * MAX_MATCHES as u64 <= MIN_MEMORY_BYTES);
        assert!(least.grounding().max_bytes < usual.grounding().max_bytes);
        assert!(least.guards().max_facts < usual.guards().max_facts);
        assert!(least.guards().max_terms < usual.guards().max_terms);
        assert_eq!(most.grounding(), GroundingLimits::default());
        assert_eq!(most.guards().max_facts, Guards::default().max_facts);
    }
}
