//! Reading and validating rulesheets.

#![expect(clippy::disallowed_methods, reason = "cases and the corpus lie in files")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod language {
    mod consistent;
    mod corpus;
    mod properties;
    mod reading;
    mod rejected;
    mod validity;
}
