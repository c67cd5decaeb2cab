//! Hashes that name things by their content, and the seeds drawn from them.
//!
//! Everything random in a run derives from the spec's one seed and from what a
//! match *is*, never from the order in which matches happen to be played.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// A SHA-256 over a list of fields. Each field is preceded by its length, so
/// that no two different lists hash the same bytes.
#[derive(Clone)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    /// Begins a hash of things of the kind `domain`.
    pub(crate) fn of(domain: &str) -> Self {
        Self(Sha256::new()).text(domain)
    }

    pub(crate) fn text(self, field: &str) -> Self {
        self.bytes(field.as_bytes())
    }

    pub(crate) fn bytes(mut self, field: &[u8]) -> Self {
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
        self
    }

    pub(crate) fn number(self, field: u64) -> Self {
        self.bytes(&field.to_le_bytes())
    }

    /// All that there is to be read, piece by piece.
    pub(crate) fn content(self, reader: &mut impl Read) -> io::Result<Self> {
        let mut content = Sha256::new();
        let mut piece = vec![0; 1 << 16];
        loop {
            match reader.read(&mut piece)? {
                0 => return Ok(self.bytes(&content.finalize())),
                n => content.update(&piece[..n]),
            }
        }
    }

    /// The first `n_digits` hexadecimal digits.
    pub(crate) fn hex(self, n_digits: usize) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digest = self.0.finalize();
        let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        nibbles.take(n_digits).map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
    }

    /// A seed.
    pub(crate) fn seed(self) -> u64 {
        let digest = self.0.finalize();
        let bytes = digest.first_chunk::<8>().expect("a digest has 32 bytes");
        u64::from_le_bytes(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_kept_apart() {
        let hash = |fields: &[&str]| {
            fields.iter().fold(Fingerprint::of("test"), |hash, field| hash.text(field)).hex(16)
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["ab"]), hash(&["ab", ""]));
        assert_eq!(hash(&["ab"]), hash(&["ab"]));
    }

    #[test]
    fn hashes_do_not_change_between_versions() {
        assert_eq!(Fingerprint::of("test").number(1).hex(20), "717ead93f5fe7e5d6ed7");
        assert_eq!(Fingerprint::of("test").number(1).seed(), 0x5d7efef593ad7e71);
    }
}
