//! States as words: a set of facts, as a bit set or as a list.
//!
//! The first word holds the number of facts and which of the two forms the rest
//! has. The form is a function of the set, so that equal sets are equal words:
//! a bit set, unless a list is less than half as long. The empty set is no word.

use crate::relational::terms::FactId;
use crate::state::State;

/// Writes a set of distinct facts, given in any order.
pub(crate) fn encode(facts: &mut [FactId], state: &mut State) {
    let words = &mut state.words;
    words.clear();
    let Some(&largest) = facts.iter().max() else { return };
    let n_words = largest as usize / 64 + 1;
    let n_pairs = facts.len().div_ceil(2);
    if n_words <= 2 * n_pairs {
        words.resize(n_words + 1, 0);
        words[0] = (facts.len() as u64) << 1;
        for &fact in facts.iter() {
            words[fact as usize / 64 + 1] |= 1 << (fact % 64);
        }
        return;
    }
    facts.sort_unstable();
    words.push((facts.len() as u64) << 1 | 1);
    let pair =
        |pair: &[FactId]| u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32;
    words.extend(facts.chunks(2).map(pair));
}

/// Calls `visit` for each fact, in ascending order.
#[inline]
pub(crate) fn each_fact(state: &State, mut visit: impl FnMut(FactId)) {
    let Some((&head, words)) = state.words.split_first() else { return };
    if head & 1 == 0 {
        for (at, &word) in words.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                visit(64 * at as u32 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        return;
    }
    for at in 0..(head >> 1) as usize {
        let pair = words[at / 2];
        visit((if at % 2 == 0 { pair } else { pair >> 32 }) as u32);
    }
}

/// The largest fact, if there is any.
pub(crate) fn largest(state: &State) -> Option<FactId> {
    let (&head, words) = state.words.split_first()?;
    let &last = words.last()?;
    if head & 1 == 0 {
        return Some(64 * (words.len() as u32 - 1) + last.ilog2());
    }
    Some((if head >> 1 & 1 == 1 { last } else { last >> 32 }) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(facts: &[FactId], n_words: usize) {
        let mut state = State::default();
        encode(&mut facts.to_vec(), &mut state);
        assert_eq!(state.words.len(), n_words, "{facts:?}");
        let mut read = Vec::new();
        each_fact(&state, |fact| read.push(fact));
        let mut sorted = facts.to_vec();
        sorted.sort_unstable();
        assert_eq!(read, sorted);
        assert_eq!(largest(&state), sorted.last().copied());
        let mut again = State::default();
        encode(&mut sorted, &mut again);
        assert_eq!(again, state, "{facts:?}");
    }

    #[test]
    fn sets_are_read_as_written() {
        check(&[], 0);
        check(&[0], 2);
        check(&[63, 0, 5], 2);
        check(&[64, 3], 3);
        check(&[127, 64, 3, 9], 3);
        // Lists.
        check(&[128, 3], 2);
        check(&[1000, 3, 70], 3);
        check(&[u32::MAX - 1, 0, 1, 2], 3);
    }
}
