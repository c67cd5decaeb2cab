//! The reasoner against traces, snapshots, move counts and hand-written rules.

#![expect(clippy::disallowed_methods, reason = "cases and the corpus lie in files")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod reasoning {
    mod corpus;
}
