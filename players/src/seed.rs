//! Where a player's randomness comes from: the match's seed, mixed with the
//! player's own option `seed` if it is set; and draws by given shares.

use games::split_mix::mix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A generator for one match. Players that differ in `option` alone draw
/// independent sequences in the same match.
pub(crate) fn generator(match_seed: u64, option: Option<i64>) -> Pcg64 {
    let mixed = match option {
        None => match_seed,
        Some(seed) => mix(match_seed ^ mix(seed.cast_unsigned().wrapping_add(1))),
    };
    Pcg64::seed_from_u64(mixed)
}

/// The place of one of these shares, drawn with probabilities in proportion to them.
pub(crate) fn draw(shares: impl Iterator<Item = f64> + Clone, rng: &mut Pcg64) -> Option<usize> {
    let mut left = rng.random::<f64>() * shares.clone().sum::<f64>();
    let mut drawn = None;
    for (at, share) in shares.enumerate().filter(|(_, share)| *share > 0.0) {
        drawn = Some(at);
        if left < share {
            break;
        }
        left -= share;
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_draws_its_own_sequence() {
        let first = |match_seed, option| generator(match_seed, option).random_range(0..u64::MAX);
        let drawn = [first(1, None), first(2, None), first(1, Some(0)), first(1, Some(1))];
        for (index, value) in drawn.iter().enumerate() {
            assert!(!drawn[..index].contains(value), "{drawn:?}");
        }
        assert_eq!(first(1, Some(1)), drawn[3]);
    }
}
