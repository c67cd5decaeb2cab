//! The age of each lane, bit by bit.

use crate::compiled_network::lanes::Lanes;

/// A number for each lane that grows by one at a time.
#[derive(Clone, Debug)]
pub(super) struct Ages<L> {
    /// The bits, least first, as many as the oldest lane ever needed.
    bits: Vec<L>,
}

impl<L: Lanes> Ages<L> {
    /// All lanes are of age 0.
    pub(super) fn new() -> Self {
        Self { bits: Vec::with_capacity(32) }
    }

    /// Makes all lanes one older, then some of age 0.
    #[inline(always)]
    pub(super) fn grow(&mut self, renewed: L) {
        let mut carry = renewed.full();
        let kept = !renewed;
        for bit in &mut self.bits {
            let next = *bit & carry;
            *bit = (*bit ^ carry) & kept;
            carry = next;
        }
        carry &= kept;
        if carry.any() {
            self.bits.push(carry);
        }
    }

    /// The least age among some lanes, of which there is at least one.
    #[inline(always)]
    pub(super) fn min(&self, lanes: L) -> u32 {
        self.extreme(lanes, lanes.empty())
    }

    /// The greatest age among some lanes, of which there is at least one.
    #[inline(always)]
    pub(super) fn max(&self, lanes: L) -> u32 {
        !self.extreme(lanes, lanes.full()) & ((1_u64 << self.bits.len()) - 1) as u32
    }

    /// Whether some of these lanes are younger than this age.
    #[inline(always)]
    pub(super) fn some_below(&self, age: u32, lanes: L) -> bool {
        if u64::from(age) >> self.bits.len() != 0 {
            return lanes.any();
        }
        let mut below = lanes.empty();
        for (i, &bit) in self.bits.iter().enumerate() {
            below = if age >> i & 1 == 1 { below | !bit } else { below & !bit };
        }
        (below & lanes).any()
    }

    /// Whether some of these lanes are older than this age.
    #[inline(always)]
    pub(super) fn some_above(&self, age: u32, lanes: L) -> bool {
        if u64::from(age) >> self.bits.len() != 0 {
            return false;
        }
        let mut above = lanes.empty();
        for (i, &bit) in self.bits.iter().enumerate() {
            above = if age >> i & 1 == 1 { above & bit } else { above | bit };
        }
        (above & lanes).any()
    }

    /// The least of the ages with bits flipped where `flip` is set.
    #[inline(always)]
    fn extreme(&self, mut lanes: L, flip: L) -> u32 {
        let mut least = 0;
        for (i, &bit) in self.bits.iter().enumerate().rev() {
            let zero = lanes & !(bit ^ flip);
            if zero.any() {
                lanes = zero;
            } else {
                least |= 1 << i;
            }
        }
        least
    }

    /// Those of some lanes that are of this age.
    #[inline(always)]
    pub(super) fn of_age(&self, age: u32, mut lanes: L) -> L {
        if u64::from(age) >> self.bits.len() != 0 {
            return lanes.empty();
        }
        for (i, &bit) in self.bits.iter().enumerate() {
            lanes &= if age >> i & 1 == 1 { bit } else { !bit };
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled_network::lanes::Lanes64;

    #[test]
    fn ages_count() {
        let mut ages = Ages::<Lanes64>::new();
        let mut plain = [0_u32; 64];
        for step in 0..300_usize {
            let mut renewed = Lanes64::none(());
            for lane in 0..step % 64 {
                renewed.set((lane * 7 + step) % 64, step % 11 < 3);
            }
            ages.grow(renewed);
            for (lane, age) in plain.iter_mut().enumerate() {
                *age = if renewed.has(lane) { 0 } else { *age + 1 };
            }
            let mut lanes = Lanes64::none(());
            for lane in [step % 64, 5, 17] {
                lanes.set(lane, true);
            }
            let of = [plain[step % 64], plain[5], plain[17]];
            assert_eq!(ages.min(lanes), *of.iter().min().unwrap());
            assert_eq!(ages.max(lanes), *of.iter().max().unwrap());
            for age in 0..400 {
                assert_eq!(ages.some_below(age, lanes), of.iter().any(|&one| one < age));
                assert_eq!(ages.some_above(age, lanes), of.iter().any(|&one| one > age));
                let expected = of.contains(&age);
                assert_eq!(ages.of_age(age, lanes).any(), expected, "step {step}, age {age}");
            }
        }
    }
}
