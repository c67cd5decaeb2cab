//! Text from elsewhere, as it may be printed.

/// The first characters of a text, at most `limit`, without control characters.
pub(crate) fn printable(text: &str, limit: usize) -> String {
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().take(limit).map(plain).collect()
}
