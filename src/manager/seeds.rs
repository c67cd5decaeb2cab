//! Where a match's randomness comes from: a stream for each purpose, role and
//! step, so that no draw depends on what else was drawn before, or when.

use games::split_mix::mix;
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// What something random is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Moves of the role `random`.
    Nature = 1,
    /// Moves in place of a player's.
    Substitute = 2,
    /// A player's own seed.
    Player = 3,
    /// The words of a scrambled match.
    Scramble = 4,
}

/// The stream of a match with `seed` for one purpose, role and step.
pub(crate) fn stream(seed: u64, purpose: Purpose, role: u64, step: u64) -> Pcg64Mcg {
    let high = mix(mix(mix(seed).wrapping_add(purpose as u64)).wrapping_add(role));
    let low = mix(high.wrapping_add(step));
    Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low))
}

/// One number below `n`, each with the same probability (to within 2^-32).
///
/// Our own, so that what a seed means does not change with a library.
pub(crate) fn below(rng: &mut Pcg64Mcg, n: usize) -> usize {
    let product = u128::from(rng.next_u64()) * (n as u128);
    usize::try_from(product >> 64).expect("the product's high half is below n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_and_independent_of_each_other() {
        // Chi-square over 3,000 draws, one from each step's stream, 4 degrees
        // of freedom; 18.5 is exceeded once in a thousand seeds.
        let mut counts = [0_u32; 5];
        for step in 0..3000 {
            counts[below(&mut stream(42, Purpose::Nature, 1, step), 5)] += 1;
        }
        let chi_square: f64 =
            counts.iter().map(|&count| (f64::from(count) - 600.0).powi(2) / 600.0).sum();
        assert!(chi_square < 18.5, "{counts:?}");
    }

    #[test]
    fn purposes_roles_and_steps_have_streams_of_their_own() {
        let first = |purpose, role, step| stream(7, purpose, role, step).next_u64();
        let all = [
            first(Purpose::Nature, 0, 0),
            first(Purpose::Substitute, 0, 0),
            first(Purpose::Nature, 1, 0),
            first(Purpose::Nature, 0, 1),
            stream(8, Purpose::Nature, 0, 0).next_u64(),
        ];
        for (index, value) in all.iter().enumerate() {
            assert!(!all[..index].contains(value));
        }
        assert_eq!(first(Purpose::Player, 3, 4), first(Purpose::Player, 3, 4));
    }
}
