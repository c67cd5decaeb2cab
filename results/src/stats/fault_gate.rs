//! Whether one player commits faults more often than another: Fisher's exact
//! test ("The design of experiments", 1935, section 12).
//!
//! A gate apart from strength: a player that crashes more often than the one it
//! replaces is a step back even if it wins more. Count matches with a fault, not
//! faults: those of one match come together.

use statrs::distribution::{Discrete, Hypergeometric};

/// Matches of one player, and in how many of them it committed a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultyMatches {
    /// Matches with a fault.
    pub faulty: u64,
    /// All matches.
    pub all: u64,
}

/// The probability that `head` would have at least so many faulty matches if
/// both players were equally reliable: small if `head` is less so.
///
/// # Panics
/// If there are more faulty matches than matches.
#[must_use]
pub fn more_faults(base: FaultyMatches, head: FaultyMatches) -> f64 {
    tail(base, head, |faulty, _| faulty >= head.faulty)
}

/// The two-sided p-value: the probability of all tables that are no more likely
/// than the one seen.
///
/// # Panics
/// If there are more faulty matches than matches.
#[must_use]
pub fn different_faults(base: FaultyMatches, head: FaultyMatches) -> f64 {
    let seen = tail(base, head, |faulty, _| faulty == head.faulty);
    // Equally likely tables may differ by rounding.
    tail(base, head, |_, p| p <= seen * (1.0 + 1e-7))
}

/// The probability of the numbers of faulty matches of `head` that are wanted,
/// given how many there are in all.
fn tail(base: FaultyMatches, head: FaultyMatches, wanted: impl Fn(u64, f64) -> bool) -> f64 {
    assert!(base.faulty <= base.all && head.faulty <= head.all, "no more faulty ones than matches");
    let faulty = base.faulty + head.faulty;
    let table = Hypergeometric::new(base.all + head.all, faulty, head.all)
        .expect("faulty matches are matches");
    let least = faulty.saturating_sub(base.all);
    let most = faulty.min(head.all);
    let terms = (least..=most).map(|n| (n, table.pmf(n)));
    let sum: f64 = terms.filter(|&(n, p)| wanted(n, p)).map(|(_, p)| p).sum();
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(base: [u64; 2], head: [u64; 2], greater: f64, two_sided: f64) {
        let [base, head] = [base, head].map(|[faulty, all]| FaultyMatches { faulty, all });
        let found = (more_faults(base, head), different_faults(base, head));
        assert!((found.0 - greater).abs() < 1e-9, "{found:?}");
        assert!((found.1 - two_sided).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_lady_tasting_tea_and_others() {
        // Of four cups of each kind three were told right: 17/70 and 34/70.
        check([1, 4], [3, 4], 17.0 / 70.0, 34.0 / 70.0);
        check([0, 4], [4, 4], 1.0 / 70.0, 2.0 / 70.0);
        check([0, 100], [0, 100], 1.0, 1.0);
        // 100 choose 5 of the head's matches over 200 choose 5 of all.
        check([0, 100], [5, 100], 0.029_691_605_234_293, 0.059_383_210_468_587);
    }

    proptest! {
        #[test]
        fn more_faults_are_more_evidence(base in 0u64..20, head in 0u64..19) {
            let p = |head| more_faults(FaultyMatches { faulty: base, all: 20 }, FaultyMatches { faulty: head, all: 20 });
            prop_assert!(p(head + 1) <= p(head) + 1e-12);
        }

        #[test]
        fn two_sided_does_not_mind_who_is_who(base in 0u64..20, head in 0u64..30) {
            let (base, head) = (FaultyMatches { faulty: base, all: 20 }, FaultyMatches { faulty: head, all: 30 });
            prop_assert!((different_faults(base, head) - different_faults(head, base)).abs() < 1e-9);
        }
    }
}
