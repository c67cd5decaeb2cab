//! Strength, faults, canary, end and size: which answer each combination gets, each
//! from matches made for it.

use super::tracker::tests::{conclude, lap};
use super::{BASE, HEAD, Outcome, Reason, Regression, Stopped};
use crate::stats::scored::ScoredMatch;

/// How the head does beside the base.
#[derive(Clone, Copy, Debug)]
enum Strength {
    /// As well, in blocks of a wide spread.
    Equal,
    /// It loses three of four blocks.
    Worse,
    /// It loses every block by 100.
    Crushed,
    /// Nearly the margin worse.
    Unclear,
}

/// Who commits faults in which matches.
#[derive(Clone, Copy, Debug)]
enum Faults {
    None,
    /// In every match.
    Head,
    /// In one match of two laps.
    HeadSometimes,
    /// In every match.
    Base,
    /// In every match.
    Both,
}

/// How the head does beside itself.
#[derive(Clone, Copy, Debug)]
enum Canary {
    Alike,
    Odd,
}

use Canary::{Alike, Odd};
use Strength::{Crushed, Equal, Unclear, Worse};

impl Strength {
    /// What the base gets in the blocks of a lap.
    fn points(self, number: u64) -> [u8; 4] {
        let is_even = number.is_multiple_of(2);
        match self {
            Self::Equal if is_even => [100, 0, 100, 0],
            Self::Equal => [0, 100, 100, 0],
            Self::Worse if is_even => [100, 0, 100, 100],
            Self::Worse => [100, 100, 100, 0],
            Self::Crushed => [100; 4],
            Self::Unclear if is_even => [100, 0, 45, 65],
            Self::Unclear => [55; 4],
        }
    }
}

impl Faults {
    fn commits(self, player: &str, played: &ScoredMatch) -> bool {
        match self {
            Self::None => false,
            Self::Head => player == HEAD,
            Self::HeadSometimes => player == HEAD && played.job % 20 == 3,
            Self::Base => player == BASE,
            Self::Both => [BASE, HEAD].contains(&player),
        }
    }
}

/// Plays `n_laps` laps of at most `max_laps`.
fn answer(case: (Strength, Faults, Canary), n_laps: u64, max_laps: u64) -> Regression {
    let (strength, faults, canary) = case;
    let laps = (0..n_laps).map(|number| {
        let canary = if matches!(canary, Odd) { 80 } else { 50 };
        let mut lap = lap(number, strength.points(number), canary);
        for played in &mut lap {
            let faulty: Vec<bool> =
                played.seats.iter().map(|seat| faults.commits(&seat.player, played)).collect();
            for (seat, faulty) in played.seats.iter_mut().zip(faulty) {
                seat.faults[4] = u32::from(faulty);
            }
        }
        lap
    });
    conclude(max_laps, laps)
}

#[test]
fn each_combination_has_its_answer() {
    use Outcome::{Fail, Inconclusive, Pass};
    use Stopped::{Blocks, Decided, Time};
    // Strength, faults and canary; laps that are played, and that are allowed.
    let table = [
        // Strength alone.
        ((Equal, Faults::None, Alike), 400, 400, (Pass, Reason::Test, Decided)),
        ((Equal, Faults::None, Alike), 60, 60, (Inconclusive, Reason::Undecided, Blocks)),
        ((Worse, Faults::None, Alike), 400, 400, (Fail, Reason::Test, Decided)),
        ((Worse, Faults::None, Alike), 10, 10, (Fail, Reason::Interval, Blocks)),
        ((Worse, Faults::None, Alike), 10, 400, (Fail, Reason::Interval, Time)),
        ((Crushed, Faults::None, Alike), 400, 400, (Fail, Reason::Test, Decided)),
        ((Crushed, Faults::None, Alike), 8, 8, (Fail, Reason::Interval, Blocks)),
        ((Crushed, Faults::None, Alike), 7, 7, (Inconclusive, Reason::TooFew, Blocks)),
        ((Crushed, Faults::None, Alike), 7, 400, (Inconclusive, Reason::TooFew, Time)),
        ((Unclear, Faults::None, Alike), 8, 8, (Inconclusive, Reason::Undecided, Blocks)),
        ((Unclear, Faults::None, Alike), 8, 400, (Inconclusive, Reason::Undecided, Time)),
        // An odd canary turns what is no fail, and nothing else.
        ((Equal, Faults::None, Odd), 400, 400, (Inconclusive, Reason::Canary, Decided)),
        ((Equal, Faults::None, Odd), 60, 60, (Inconclusive, Reason::Canary, Blocks)),
        ((Unclear, Faults::None, Odd), 12, 400, (Inconclusive, Reason::Canary, Time)),
        ((Worse, Faults::None, Odd), 400, 400, (Fail, Reason::Test, Decided)),
        ((Crushed, Faults::None, Odd), 12, 12, (Fail, Reason::Test, Decided)),
        // Two blocks of a canary are no evidence, whatever they are like.
        ((Unclear, Faults::None, Odd), 8, 8, (Inconclusive, Reason::Undecided, Blocks)),
        // Faults of the head beyond doubt outrank all, and end it at once.
        ((Equal, Faults::Head, Alike), 400, 400, (Fail, Reason::Faults, Decided)),
        ((Equal, Faults::Head, Odd), 400, 400, (Fail, Reason::Faults, Decided)),
        ((Crushed, Faults::Head, Odd), 400, 400, (Fail, Reason::Faults, Decided)),
        ((Unclear, Faults::Head, Alike), 1, 8, (Fail, Reason::Faults, Decided)),
        ((Equal, Faults::HeadSometimes, Alike), 400, 400, (Fail, Reason::Faults, Decided)),
        ((Equal, Faults::HeadSometimes, Odd), 400, 400, (Fail, Reason::Faults, Decided)),
        ((Equal, Faults::HeadSometimes, Alike), 10, 10, (Inconclusive, Reason::Undecided, Blocks)),
        // A base that does not play is no measure; who loses to it is worse.
        ((Equal, Faults::Base, Alike), 400, 400, (Inconclusive, Reason::BrokenBase, Decided)),
        ((Equal, Faults::Both, Alike), 400, 400, (Inconclusive, Reason::BrokenBase, Decided)),
        ((Equal, Faults::Both, Odd), 400, 400, (Inconclusive, Reason::BrokenBase, Decided)),
        ((Unclear, Faults::Both, Alike), 4, 400, (Inconclusive, Reason::BrokenBase, Time)),
        ((Crushed, Faults::Base, Alike), 400, 400, (Fail, Reason::Test, Decided)),
        ((Crushed, Faults::Both, Odd), 400, 400, (Fail, Reason::Test, Decided)),
    ];
    for (case, n_laps, max_laps, expected) in table {
        let found = answer(case, n_laps, max_laps);
        let answer = (found.outcome, found.reason, found.stopped);
        assert_eq!(answer, expected, "{case:?} {n_laps} {max_laps}: {found:#?}");
    }
}

#[test]
fn faults_end_it_within_a_lap_and_are_all_told() {
    let found = answer((Equal, Faults::Head, Alike), 1, 400);
    assert_eq!((found.n_laps, found.n_matches), (0, 7));
    let counts = &found.faults.head;
    assert_eq!((counts.n_matches, counts.n_faulty), (7, 7));
    assert_eq!(found.strength.difference.n_blocks, 0);
    assert!(found.faults.p <= 0.01, "{}", found.faults.p);
    // Three matches of a lap that is not whole.
    let mut tracker = super::Tracker::new(super::tracker::tests::question(8));
    for mut played in lap(0, [50; 4], 50).into_iter().take(3) {
        played.seats.iter_mut().for_each(|seat| seat.faults[4] = u32::from(&*seat.player == HEAD));
        tracker.take(played).unwrap();
    }
    let found = tracker.conclude();
    assert_eq!((found.faults.head.n_matches, found.faults.head.n_faulty), (3, 3));
    assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::TooFew));
}
