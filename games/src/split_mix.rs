//! Random numbers for choices that must be the same in every run: sampled positions, the
//! seeds of batches, the moves of playouts; and the mixing of seeds and keys.
//!
//! The generator of Steele, Lea and Flood ("Fast splittable pseudorandom number
//! generators", OOPSLA 2014).

/// What the state grows by: the golden ratio in 64 bits.
pub(crate) const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The output function: a bijection each output bit of which depends on every input bit.
pub(crate) fn finalise(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// The first number of the generator with this seed: a bijection, for making seeds of
/// seeds.
#[must_use]
pub fn mix(seed: u64) -> u64 {
    SplitMix::new(seed).next()
}

/// A generator of numbers.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A generator.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        finalise(self.0)
    }

    /// A number below `n`. Some come more often than others by `n` in 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_other_programs() {
        let mut mixer = SplitMix::new(1_234_567);
        let first: [u64; 3] = std::array::from_fn(|_| mixer.next());
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, published);
    }
}
