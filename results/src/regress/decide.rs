//! From the findings to the result: which finding has priority.
//!
//! | | finding | answer |
//! | --- | --- | --- |
//! | 1 | a number is undefined | inconclusive: internal |
//! | 2 | the head commits faults more often, beyond doubt | fail |
//! | 3 | the head is weaker, beyond doubt, in 30 blocks or more | fail |
//! | 4 | the base commits faults in most of its matches | inconclusive |
//! | 5 | the head does not do as the canary does | inconclusive |
//! | 6 | fewer than 30 blocks, with or without a score | inconclusive |
//! | 7 | unscored matches could change the result | inconclusive |
//! | 8 | the head is no worse | pass |
//! | 9 | none of these | inconclusive |
//!
//! The first row that holds decides. The reason why the comparison ended does not matter.

use crate::stats::regression::{Answer, Ground};

use super::{MIN_BLOCKS, Outcome, Reason};

/// What was found of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Findings {
    /// Whether all numbers are defined.
    pub(super) is_defined: bool,
    /// Whether the head commits faults more often.
    pub(super) faults_fail: bool,
    /// Whether the base commits faults in most of its matches.
    pub(super) base_is_broken: bool,
    /// Whether head and canary differ as players do.
    pub(super) canary_differs: bool,
    /// Blocks that count.
    pub(super) n_blocks: u64,
    /// Blocks that do not, because one of their matches is unscored.
    pub(super) n_incomplete: u64,
    /// What the blocks that count say of strength.
    pub(super) strength: (Answer, Ground),
    /// The finding of all blocks if unscored matches count as lost by the head and won by
    /// the base.
    pub(super) worst: Answer,
}

/// The result, and its reason.
pub(super) fn decide(found: &Findings) -> (Outcome, Reason) {
    let (answer, ground) = found.strength;
    let by = match ground {
        Ground::Test => Reason::Test,
        Ground::Interval => Reason::Interval,
        Ground::Nothing => Reason::Undecided,
    };
    let has_blocks = found.n_blocks >= MIN_BLOCKS;
    let passes_at_worst = found.worst == Answer::Pass;
    let inconclusive = |reason| (Outcome::Inconclusive, reason);
    if !found.is_defined {
        inconclusive(Reason::Internal)
    } else if found.faults_fail {
        (Outcome::Fail, Reason::Faults)
    } else if has_blocks && answer == Answer::Fail {
        (Outcome::Fail, by)
    } else if found.base_is_broken {
        inconclusive(Reason::BrokenBase)
    } else if found.canary_differs {
        inconclusive(Reason::Canary)
    } else if found.n_blocks + found.n_incomplete < MIN_BLOCKS {
        inconclusive(Reason::TooFew)
    } else if !has_blocks || (answer == Answer::Pass && !passes_at_worst) {
        inconclusive(Reason::Unscored)
    } else if answer == Answer::Pass {
        (Outcome::Pass, by)
    } else {
        inconclusive(Reason::Undecided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRENGTHS: [(Answer, Ground); 5] = [
        (Answer::Pass, Ground::Test),
        (Answer::Pass, Ground::Interval),
        (Answer::Fail, Ground::Test),
        (Answer::Fail, Ground::Interval),
        (Answer::Inconclusive, Ground::Nothing),
    ];

    /// Every combination of findings: 5 strengths, 3 sizes, and 6 questions.
    fn all() -> impl Iterator<Item = Findings> {
        let sizes = [(29, 0), (30, 0), (29, 1)];
        STRENGTHS.into_iter().flat_map(move |strength| {
            sizes.into_iter().flat_map(move |(n_blocks, n_incomplete)| {
                (0..32u32).map(move |bits| {
                    let is = |bit: u32| bits & (1 << bit) != 0;
                    Findings {
                        is_defined: !is(0),
                        faults_fail: is(1),
                        base_is_broken: is(2),
                        canary_differs: is(3),
                        n_blocks,
                        n_incomplete,
                        strength,
                        worst: if is(4) { strength.0 } else { Answer::Inconclusive },
                    }
                })
            })
        })
    }

    #[test]
    fn each_combination_has_the_answer_of_the_first_row_that_holds() {
        for found in all() {
            let (answer, _) = found.strength;
            let enough = found.n_blocks >= 30;
            let rows = [
                (!found.is_defined, (Outcome::Inconclusive, Reason::Internal)),
                (found.faults_fail, (Outcome::Fail, Reason::Faults)),
                (enough && found.strength == STRENGTHS[2], (Outcome::Fail, Reason::Test)),
                (enough && found.strength == STRENGTHS[3], (Outcome::Fail, Reason::Interval)),
                (found.base_is_broken, (Outcome::Inconclusive, Reason::BrokenBase)),
                (found.canary_differs, (Outcome::Inconclusive, Reason::Canary)),
                (found.n_blocks + found.n_incomplete < 30, (Outcome::Inconclusive, Reason::TooFew)),
                (!enough, (Outcome::Inconclusive, Reason::Unscored)),
                (
                    answer == Answer::Pass && found.worst != Answer::Pass,
                    (Outcome::Inconclusive, Reason::Unscored),
                ),
                (found.strength == STRENGTHS[0], (Outcome::Pass, Reason::Test)),
                (found.strength == STRENGTHS[1], (Outcome::Pass, Reason::Interval)),
                (true, (Outcome::Inconclusive, Reason::Undecided)),
            ];
            let (_, expected) = rows.into_iter().find(|(holds, _)| *holds).unwrap();
            assert_eq!(decide(&found), expected, "{found:?}");
        }
    }

    /// Invariants of every result.
    #[test]
    fn nothing_but_strength_without_doubt_passes() {
        for found in all() {
            let (outcome, _) = decide(&found);
            let doubt = found.faults_fail
                || found.base_is_broken
                || found.canary_differs
                || !found.is_defined
                || found.n_blocks < 30
                || found.strength.0 != Answer::Pass
                || found.worst != Answer::Pass;
            assert_eq!(outcome == Outcome::Pass, !doubt, "{found:?}");
            let beyond_doubt =
                found.faults_fail || (found.n_blocks >= 30 && found.strength.0 == Answer::Fail);
            assert_eq!(outcome == Outcome::Fail, found.is_defined && beyond_doubt, "{found:?}");
        }
    }
}
