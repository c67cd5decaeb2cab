//! An error and what it comes from, in one line.

use std::error::Error;

/// The message of `error`, and after it those of its sources.
pub(crate) fn chained(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message += &format!(": {cause}");
        source = cause.source();
    }
    message
}
