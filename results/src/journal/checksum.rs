//! The checksum that ends each line of a journal.
//!
//! A line is `{...,"crc":"0a1b2c3d"}` and a line feed, where the eight digits are
//! the CRC-32 (ISO 3309, as in gzip) of all bytes before `,"crc":`. The line stays
//! valid JSON, and whoever does not know the member may ignore it. CRC-32 finds
//! every change of a single bit and of any 32 neighbouring bits, and misses one in
//! four billion of all others.

use serde::de::Error as _;

/// What stands before the digits of a checksum.
const BEFORE: &[u8] = br#","crc":""#;
/// What stands after them.
const AFTER: &[u8] = b"\"}\n";
/// Digits of a checksum.
const N_DIGITS: usize = 8;
/// Bytes of a line from `,"crc":` on.
const N_BYTES: usize = BEFORE.len() + N_DIGITS + AFTER.len();

/// Ends the line that begins at `begin` and holds a JSON object so far.
///
/// # Panics
/// If it does not end with the brace of an object.
pub(super) fn seal(buffer: &mut Vec<u8>, begin: usize) {
    assert_eq!(buffer.last(), Some(&b'}'), "a line is an object");
    buffer.pop();
    let digits = digits_of(&buffer[begin..]);
    buffer.extend_from_slice(BEFORE);
    buffer.extend_from_slice(&digits);
    buffer.extend_from_slice(AFTER);
}

/// Whether a line with its line feed has a checksum.
pub(crate) fn is_sealed(line: &[u8]) -> bool {
    let Some(begin) = line.len().checked_sub(N_BYTES) else { return false };
    line[begin..].starts_with(BEFORE) && line.ends_with(AFTER)
}

/// Checks a line with its line feed.
///
/// # Errors
/// If it has another checksum than its bytes, or none where `required`.
pub(crate) fn check(line: &[u8], required: bool) -> serde_json::Result<()> {
    if !is_sealed(line) {
        return match required {
            true => Err(serde_json::Error::custom("it does not end with its checksum")),
            false => Ok(()),
        };
    }
    let (body, digits) = line.split_at(line.len() - N_BYTES);
    match digits[BEFORE.len()..][..N_DIGITS] == digits_of(body) {
        true => Ok(()),
        false => Err(serde_json::Error::custom("its checksum is wrong")),
    }
}

/// A line without its checksum, closing brace and line feed: what two journals
/// with and without checksums have in common.
pub(super) fn body(line: &[u8]) -> &[u8] {
    match is_sealed(line) {
        true => &line[..line.len() - N_BYTES],
        false => line.strip_suffix(b"}\n").unwrap_or(line),
    }
}

fn digits_of(bytes: &[u8]) -> [u8; N_DIGITS] {
    let checksum = crc32fast::hash(bytes);
    std::array::from_fn(|at| b"0123456789abcdef"[(checksum >> (28 - 4 * at)) as usize & 15])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(object: &str) -> Vec<u8> {
        let mut line = b"another line\n".to_vec();
        let begin = line.len();
        line.extend_from_slice(object.as_bytes());
        seal(&mut line, begin);
        line.split_off(begin)
    }

    #[test]
    fn a_line_ends_with_the_checksum_that_gzip_would_give() {
        // `printf '{"a":1' | gzip -c | tail -c8 | od -tx4` prints it.
        let line = sealed(r#"{"a":1}"#);
        assert_eq!(line, b"{\"a\":1,\"crc\":\"a702fc6e\"}\n");
        let read: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(read["a"], 1);
        assert_eq!(body(&line), b"{\"a\":1");
        assert_eq!(body(b"{\"a\":1}\n"), b"{\"a\":1");
        // The check value that the standard names.
        assert_eq!(&digits_of(b"123456789"), b"cbf43926");
    }

    #[test]
    fn no_flipped_bit_is_taken() {
        let line = sealed(r#"{"player":"a","reward":100}"#);
        assert!(check(&line, true).is_ok());
        for bit in 0..line.len() * 8 {
            let mut flipped = line.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(check(&flipped, true).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn lines_without_a_checksum_are_taken_where_there_need_be_none() {
        let line = b"{\"a\":1}\n";
        assert!(check(line, false).is_ok() && check(line, true).is_err());
        assert!(check(b"", true).is_err() && check(b"\n", false).is_ok());
        let mut wrong = sealed(r#"{"a":1}"#);
        wrong[5] = b'2';
        let error = check(&wrong, false).unwrap_err().to_string();
        assert_eq!(error, "its checksum is wrong");
    }
}
