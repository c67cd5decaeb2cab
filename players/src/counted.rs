//! Numbers with their nouns.

use std::fmt::Display;

/// A number with its noun, in the singular for 1: `1 node`, `2 nodes`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let found = [0_usize, 1, 2].map(|n| counted(n, "node"));
        assert_eq!(found, ["0 nodes", "1 node", "2 nodes"]);
    }
}
