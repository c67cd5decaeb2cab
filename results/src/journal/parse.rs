//! From the bytes of a line to what it holds.

use serde::Deserialize;
use serde::de::Error as _;

/// Reads a line. That it is UTF-8 is checked all at once, which takes less time than text
/// by text.
pub(super) fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> serde_json::Result<T> {
    serde_json::from_str(str::from_utf8(line).map_err(serde_json::Error::custom)?)
}
