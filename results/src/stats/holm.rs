//! Several comparisons at once: S. Holm, "A simple sequentially rejective
//! multiple test procedure" (1979).

/// Holm's adjusted p-values, in the order of `p`: rejecting those that are at
/// most alpha errs anywhere among them with probability alpha at most, however
/// the comparisons depend on each other.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut most: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        most = most.max((p.len() - place) as f64 * p[index]).min(1.0);
        adjusted[index] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_worked_example() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R.
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        assert_eq!(holm(&[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn adjusting_keeps_the_order_and_never_lowers(p in proptest::collection::vec(0.0f64..=1.0, 1..20)) {
            let adjusted = holm(&p);
            for (a, (pa, i)) in adjusted.iter().zip(p.iter().zip(0..)) {
                prop_assert!(a >= pa && *a <= 1.0);
                for (b, pb) in adjusted.iter().zip(&p).skip(i) {
                    prop_assert!((pa <= pb) <= (a <= b));
                }
            }
        }
    }
}
