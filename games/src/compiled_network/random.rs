//! Random planes: a random bit for each lane.
//!
//! xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
//! generators", ACM TOMS 2021), one generator for each word of a block, their
//! states filled by splitmix64 from one seed.

use super::lanes::Lanes;
use crate::split_mix::SplitMix;

/// A generator of planes.
#[derive(Clone, Debug)]
pub(crate) struct Random<L> {
    state: [L; 4],
}

impl<L: Lanes> Random<L> {
    /// A generator.
    pub(crate) fn new(seed: u64, proof: L::Proof) -> Self {
        let mut mixer = SplitMix::new(seed);
        let mut state = [L::none(proof); 4];
        for block in &mut state {
            for word in block.words_mut() {
                *word = mixer.next();
            }
        }
        Self { state }
    }

    /// A plane without lanes.
    #[inline(always)]
    pub(crate) fn none(&self) -> L {
        self.state[0].empty()
    }

    /// The next plane.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> L {
        L::xoshiro(&mut self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled_network::lanes::Lanes64;

    #[test]
    fn xoshiro_gives_the_numbers_of_its_authors() {
        let word = |value: u64| {
            let mut block = Lanes64::none(());
            block.words_mut()[0] = value;
            block
        };
        // The first outputs of the reference program from the state 1, 2, 3, 4.
        let mut random = Random { state: [word(1), word(2), word(3), word(4)] };
        let first: [u64; 3] = std::array::from_fn(|_| random.next().words()[0]);
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223]);
    }
}
