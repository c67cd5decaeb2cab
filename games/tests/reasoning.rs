//! The reasoner against traces, snapshots, move counts and hand-written rules.

#![expect(clippy::disallowed_methods, reason = "cases lie in files; forks run on threads")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod reasoning {
    mod agreement;
    mod any_text;
    mod batches;
    #[path = "../batching/chains.rs"]
    mod chains;
    mod corpus;
    mod fuzzed;
    mod generated;
    mod generator;
    mod grounding;
    mod guards;
    mod hostile;
    mod large;
    mod network_machine;
    mod perft;
    mod playouts;
    mod playthroughs;
    mod progress;
    mod random;
    mod reduction;
    mod semantics;
    mod sharing;
    mod shuffled;
}
