//! Numbers of things in messages: `1 match`, `2 matches`.

use std::fmt::Display;

/// A number with the word for one thing, or for several.
///
/// ```
/// use results::counted::counted;
///
/// assert_eq!(counted(1, "match", "matches"), "1 match");
/// assert_eq!(counted(0, "match", "matches"), "0 matches");
/// ```
#[must_use]
pub fn counted(n: impl Display, one: &str, many: &str) -> String {
    let n = n.to_string();
    let word = if n == "1" { one } else { many };
    format!("{n} {word}")
}
