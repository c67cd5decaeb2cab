//! Proof and disproof numbers.
//!
//! The proof number of a state is the least number of states that would have to be proven
//! to prove the state, as far as is known; the disproof number is its counterpart (Allis,
//! van der Meulen and van den Herik 1994).

/// The number of what is impossible. Numbers fit 16 bits: those of weak proof-number search
/// are about as large as the moves of one line together.
pub(super) const INFINITE: u32 = u16::MAX as u32;

/// Both numbers of a state that could not be decided, because play may repeat states.
pub(super) const UNDECIDED: u32 = INFINITE - 1;

/// The largest number of a state that is still to be decided.
const LARGEST: u32 = UNDECIDED - 1;

/// The two numbers of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) proof: u32,
    pub(super) disproof: u32,
}

impl Numbers {
    pub(super) const PROVEN: Self = Self { proof: 0, disproof: INFINITE };
    pub(super) const DISPROVEN: Self = Self { proof: INFINITE, disproof: 0 };
    pub(super) const UNDECIDED: Self = Self { proof: UNDECIDED, disproof: UNDECIDED };
    /// Of a state about which nothing is known.
    pub(super) const NEW: Self = Self { proof: 1, disproof: 1 };
    /// Thresholds that only a decision reaches.
    pub(super) const LIMIT: Self = Self { proof: UNDECIDED, disproof: UNDECIDED };

    /// Of a new state from which random playouts give the first role this share of the
    /// greatest reward: the smaller the share, the harder the proof. With a scale of 100
    /// instead of 1000, hex on 5 by 5 took six times as many expansions (but on 4 by 4 two
    /// thirds); with equal numbers for all new states, hex on 4 by 4 took 18 times as many.
    pub(super) fn estimated(mean: f64) -> Self {
        let number = |share: f64| 1 + (1000.0 * share.powi(4)).round() as u32;
        Self { proof: number(1.0 - mean), disproof: number(mean) }
    }

    /// The same seen from the other side.
    pub(super) fn swapped(self) -> Self {
        Self { proof: self.disproof, disproof: self.proof }
    }

    /// The same if `is_attacker`, else seen from the other side.
    #[inline]
    pub(super) fn seen_by(self, is_attacker: bool) -> Self {
        if is_attacker { self } else { self.swapped() }
    }

    /// Whether the state is proven, disproven or cannot be decided.
    #[inline]
    pub(super) fn is_final(self) -> bool {
        self.proof == 0 || self.disproof == 0 || self == Self::UNDECIDED
    }
}

/// What the children of a state say about it, seen by the role that chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// The numbers of the state.
    pub(super) numbers: Numbers,
    /// The child with the least proof number, if the state is not decided.
    pub(super) best: usize,
    /// The proof number of the second best child.
    pub(super) second: u32,
    /// Children that are not decided.
    pub(super) n_open: u32,
}

impl Summary {
    /// The summary of children whose numbers are seen by the role that chooses.
    ///
    /// The proof number is the least of the children. The disproof number is the largest of
    /// the children and one for each other child that is not decided (weak proof-number
    /// search; Ueda, Hashimoto, Hashimoto and Iida 2008): the sum would count a state that
    /// several lines reach several times.
    #[inline]
    pub(super) fn of(children: &[Numbers]) -> Self {
        let decided = |numbers| Self { numbers, best: 0, second: INFINITE, n_open: 0 };
        let (mut best, mut least, mut second) = (0, INFINITE, INFINITE);
        let (mut largest, mut n_open, mut is_undecided) = (0, 0, false);
        for (at, child) in children.iter().enumerate() {
            if child.proof == 0 {
                return decided(Numbers::PROVEN);
            }
            if child.disproof == 0 {
                continue;
            }
            if *child == Numbers::UNDECIDED {
                is_undecided = true;
                continue;
            }
            n_open += 1;
            largest = largest.max(child.disproof);
            if child.proof < least {
                (best, second, least) = (at, least, child.proof);
            } else {
                second = second.min(child.proof);
            }
        }
        if n_open == 0 {
            let undecided = Numbers::UNDECIDED;
            return decided(if is_undecided { undecided } else { Numbers::DISPROVEN });
        }
        let disproof = (largest + n_open - 1).min(LARGEST);
        Self { numbers: Numbers { proof: least, disproof }, best, second, n_open }
    }

    /// The thresholds of the best child, which has these `numbers`: its search ends when a
    /// number reaches its threshold. `of_parent` are the thresholds of the state. All are
    /// seen by the role that chooses.
    ///
    /// The child keeps the turn until its proof number exceeds the second best by a quarter,
    /// so that the search does not change between two children all the time (the 1 + epsilon
    /// trick; Pawlewicz and Lew 2007).
    #[inline]
    pub(super) fn thresholds(&self, of_parent: Numbers, numbers: Numbers) -> Numbers {
        let second = self.second + (self.second / 4).max(1);
        let disproof = of_parent.disproof.saturating_sub(self.n_open - 1);
        Numbers {
            proof: of_parent.proof.min(second),
            // Where numbers reached their largest value, the child goes on all the same.
            disproof: disproof.max(numbers.disproof + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(proof: u32, disproof: u32) -> Numbers {
        Numbers { proof, disproof }
    }

    #[test]
    fn one_winning_move_is_enough_and_all_must_lose() {
        let check = |children: &[Numbers], expected: Numbers| {
            assert_eq!(Summary::of(children).numbers, expected, "{children:?}");
        };
        let (won, lost, open) = (Numbers::PROVEN, Numbers::DISPROVEN, Numbers::NEW);
        check(&[lost, won, open], won);
        check(&[lost, lost], lost);
        check(&[lost, open], open);
        check(&[numbers(3, 2), numbers(2, 5), lost], numbers(2, 6));
        // What cannot be decided is neither proven nor disproven.
        check(&[lost, Numbers::UNDECIDED], Numbers::UNDECIDED);
        check(&[won, Numbers::UNDECIDED], won);
        check(&[open, Numbers::UNDECIDED], open);
        check(&[numbers(LARGEST, LARGEST), numbers(LARGEST, LARGEST)], numbers(LARGEST, LARGEST));
    }

    #[test]
    fn a_child_keeps_the_turn_until_another_is_better_by_a_quarter() {
        let children = [numbers(8, 2), numbers(3, 4), Numbers::DISPROVEN];
        let summary = Summary::of(&children);
        assert_eq!((summary.best, summary.second, summary.n_open), (1, 8, 2));
        let thresholds = |of_parent| summary.thresholds(of_parent, children[1]);
        assert_eq!(thresholds(Numbers::LIMIT), numbers(10, UNDECIDED - 1));
        assert_eq!(thresholds(numbers(4, 6)), numbers(4, 5));
    }
}
