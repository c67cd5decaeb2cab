//! A part of a schedule that is played separately, on another machine or another day.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Every `of`-th block, beginning with the `slice`-th: each part has whole
/// blocks, and nearly as many of each game and pairing as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    slice: u32,
    of: u32,
}

/// A text that is not a part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}`: expected slice:M/N with M from 1 to N, such as slice:1/3, or index:M/N with M from 0"
)]
pub struct PartitionError(String);

/// Maximum number of parts of a schedule.
const MAX_PARTS: u32 = 100_000;

impl Partition {
    /// Whether the block of this number belongs to the part.
    #[must_use]
    pub fn contains(self, block: u64) -> bool {
        block % u64::from(self.of) == u64::from(self.slice - 1)
    }

    /// The number of the part, from 1.
    #[must_use]
    pub fn slice(self) -> u32 {
        self.slice
    }

    /// How many parts there are.
    #[must_use]
    pub fn of(self) -> u32 {
        self.of
    }
}

/// Reads `slice:M/N`, or `index:M/N` with M from 0, as Kubernetes numbers the pods of a job.
impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let parsed = || {
            let (kind, part) = text.split_once(':')?;
            let first = match kind {
                "slice" => 1,
                "index" => 0,
                _ => return None,
            };
            let (number_of_part, of) = part.split_once('/')?;
            let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
            let number = |word: &str| word.parse::<u32>().ok().filter(|_| is_plain(word));
            let slice = number(number_of_part)?.checked_add(1 - first)?;
            let part = Self { slice, of: number(of)? };
            let is_part = part.of <= MAX_PARTS && (1..=part.of).contains(&part.slice);
            is_part.then_some(part)
        };
        parsed().ok_or_else(|| PartitionError(text.to_owned()))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slice:{}/{}", self.slice, self.of)
    }
}

impl TryFrom<String> for Partition {
    type Error = PartitionError;

    fn try_from(text: String) -> Result<Self, PartitionError> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(part: Partition) -> Self {
        part.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_is_in_one_part() {
        for of in 1..=7 {
            let parts: Vec<Partition> =
                (1..=of).map(|slice| format!("slice:{slice}/{of}").parse().unwrap()).collect();
            for block in 0..50 {
                assert_eq!(parts.iter().filter(|part| part.contains(block)).count(), 1);
            }
        }
    }

    #[test]
    fn names_are_read_and_written() {
        for text in ["slice:1/1", "slice:2/3", "slice:100000/100000"] {
            let part: Partition = text.parse().unwrap();
            assert_eq!(part.to_string(), text);
            let json = serde_json::to_string(&part).unwrap();
            assert_eq!(serde_json::from_str::<Partition>(&json).unwrap(), part);
        }
        let third: Partition = "index:2/3".parse().unwrap();
        assert_eq!(third.to_string(), "slice:3/3");
        let wrong = [
            "",
            "index:3/3",
            "index:4294967295/3",
            "1/3",
            "slice:0/3",
            "slice:4/3",
            "slice:1/0",
            "slice:+1/3",
            "slice:1/100001",
            "hash:1/2",
            "slice:1",
        ];
        for text in wrong {
            let told = text.parse::<Partition>().unwrap_err().to_string();
            assert!(told.starts_with(&format!("`{text}`: expected slice:M/N")), "{told}");
        }
        assert!(serde_json::from_str::<Partition>("\"slice:9/3\"").is_err());
    }
}
