//! The result of a comparison of two versions of a player as JUnit XML, which continuous
//! integration lists as tests.
//!
//! A test case each for strength, faults and the canary, and one for each game,
//! which warns in its output and never fails.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Format;
use super::regression::{faulty_of_both, render_regression, verdict_of_regression};
use super::words::{count, interval, optional_points};
use crate::regress::{GameEffect, Outcome, Reason, Regression};

/// As JUnit XML. What is inconclusive is a failure if `inconclusive_fails`, and
/// skipped otherwise.
#[must_use]
pub fn junit(found: &Regression, inconclusive_fails: bool) -> String {
    let mut suite = TestSuite::new(found.question.suite.clone());
    let verdict = verdict_of_regression(found);
    let strength = match (found.outcome, found.reason) {
        (Outcome::Fail, Reason::Faults) | (Outcome::Pass, _) => TestCaseStatus::success(),
        (Outcome::Fail, _) => failure("regression", &verdict),
        // No result, however inconclusive ones count.
        (Outcome::Inconclusive, Reason::Internal) => failure("internal", &verdict),
        (Outcome::Inconclusive, _) if inconclusive_fails => failure("inconclusive", &verdict),
        (Outcome::Inconclusive, _) => skipped(&verdict),
    };
    let mut strength = case("strength", strength);
    strength.set_system_out(render_regression(found, Format::Text));
    suite.add_test_case(strength);
    suite.add_test_case(faults(found, inconclusive_fails));
    if let Some(canary) = &found.canary {
        let status = if canary.blames_machine && inconclusive_fails {
            failure("canary", "the head and its copy differ, so the machine disturbs the matches")
        } else {
            TestCaseStatus::success()
        };
        suite.add_test_case(case("canary", status));
    }
    suite.add_test_cases(found.games.iter().map(game));
    let mut report = Report::new("gamemaster regress");
    report.add_test_suite(suite);
    xml(&report)
}

/// The report as text that ends with a line feed.
pub(super) fn xml(report: &Report) -> String {
    report.to_string().expect("writing to memory does not fail") + "\n"
}

/// Whether the head is as reliable as the base. The number of faults is given too, because
/// a test without a finding says little if players did commit faults.
fn faults(found: &Regression, inconclusive_fails: bool) -> TestCase {
    let counts = faulty_of_both(found);
    let broken = || format!("the base commits faults in most of its matches: {counts}");
    let status = if found.faults.fails {
        failure("faults", &format!("the head commits faults more often than the base: {counts}"))
    } else if found.reason != Reason::BrokenBase {
        TestCaseStatus::success()
    } else if inconclusive_fails {
        failure("faults", &broken())
    } else {
        skipped(&broken())
    };
    let mut case = case("faults", status);
    case.set_system_out(format!("matches with a fault: {counts}"));
    case
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

pub(super) fn failure(kind: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(message);
    status
}

fn case(name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("regress");
    case
}

fn game(game: &GameEffect) -> TestCase {
    let mut case = case(&format!("{} ({})", game.game, game.budget), TestCaseStatus::success());
    case.set_classname("regress.games");
    let warning = if game.warns { "warning: head is weaker at this game\n" } else { "" };
    let effect = &game.difference;
    case.set_system_out(format!(
        "{warning}head minus base: {} points {} from {}",
        optional_points(effect.mean),
        interval(effect.interval),
        count(effect.n_blocks, "block", "blocks")
    ));
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FaultKind;
    use crate::regress::{
        Canary, Effect, Estimate, FaultCounts, Faults, PolicyMean, Question, Stopped, Strength,
    };

    fn effect(n_blocks: u64, mean: f64) -> Effect {
        let interval = Some([mean - 4.0, mean + 4.0]);
        Effect { n_blocks, mean: Some(mean), sd: Some(20.0), interval }
    }

    fn counts(n_faulty: u64) -> FaultCounts {
        let kinds = if n_faulty > 0 { vec![(FaultKind::LateMove, n_faulty)] } else { vec![] };
        FaultCounts { n_matches: 200, n_faulty, kinds }
    }

    fn game(game: &str, mean: f64, warns: bool) -> GameEffect {
        GameEffect {
            game: game.into(),
            budget: "1000 nodes per move".into(),
            difference: effect(50, mean),
            p: 0.01,
            p_holm: 0.02,
            warns,
            repeats: false,
        }
    }

    /// A head that is weaker at one of two games; names that XML has to escape.
    fn found(outcome: Outcome, reason: Reason) -> Regression {
        Regression {
            outcome,
            reason,
            stopped: Stopped::Decided,
            question: Question {
                base: "alpha_beta:depth=4".into(),
                head: "'cmd:./new --port {port} && \"x\" <y>'".into(),
                suite: "small & quick".into(),
                margin: 3.0,
                alpha: 0.05,
                max_laps: 100,
                time_limit_s: None,
                matches_per_lap: 8,
                blocks_per_lap: 2,
                has_canary: true,
                part_ends: vec![2, 4, 6, 8],
                max_parts: None,
            },
            n_laps: 50,
            n_matches: 400,
            n_unscored: 0,
            strength: Strength {
                difference: effect(100, -12.5),
                estimate: Some(Estimate { points: -12.0, interval: [-16.5, -8.0] }),
                at_end: None,
                anytime: Some([-20.0, -5.0]),
                llr: -3.1,
                bounds: [-2.94, 2.94],
                n_incomplete: 0,
                worst: None,
                detectable: Some(5.5),
            },
            games: vec![game("connect_four", -25.0, true), game("nim", 0.0, false)],
            faults: Faults {
                base: counts(0),
                head: counts(9),
                n_pairs: 200,
                p: 0.004,
                fails: reason == Reason::Faults,
            },
            policies: vec![PolicyMean { policy: "void".into(), difference: effect(90, -11.0) }],
            canary: Some(Canary {
                difference: effect(40, 0.5),
                head: counts(1),
                canary: counts(1),
                p: Some(0.25),
                p_faults: Some(1.0),
                blames_machine: reason == Reason::Canary,
            }),
        }
    }

    #[test]
    fn junit_is_as_before() {
        insta::assert_snapshot!("fail.xml", junit(&found(Outcome::Fail, Reason::Test), false));
        let faulty = found(Outcome::Fail, Reason::Faults);
        insta::assert_snapshot!("faults.xml", junit(&faulty, false));
        let blamed = found(Outcome::Inconclusive, Reason::Canary);
        insta::assert_snapshot!("inconclusive.xml", junit(&blamed, true));
    }

    #[test]
    fn the_verdict_names_the_level_of_its_interval() {
        for outcome in [Outcome::Pass, Outcome::Fail] {
            let mut found = found(outcome, Reason::Interval);
            found.question.alpha = 0.2;
            let verdict = verdict_of_regression(&found);
            assert!(verdict.contains("the 80 % interval of the plain mean"), "{verdict}");
        }
    }

    #[test]
    fn what_fails_is_a_failure() {
        let n_failures = |found: &Regression, inconclusive_fails| {
            junit(found, inconclusive_fails).matches("<failure").count()
        };
        assert_eq!(n_failures(&found(Outcome::Pass, Reason::Test), true), 0);
        assert_eq!(n_failures(&found(Outcome::Fail, Reason::Test), false), 1);
        assert_eq!(n_failures(&found(Outcome::Fail, Reason::Faults), false), 1);
        assert_eq!(n_failures(&found(Outcome::Inconclusive, Reason::Undecided), false), 0);
        assert_eq!(n_failures(&found(Outcome::Inconclusive, Reason::Undecided), true), 1);
        // A broken program and a broken base are no pass in any case.
        assert_eq!(n_failures(&found(Outcome::Inconclusive, Reason::Internal), false), 1);
        assert_eq!(n_failures(&found(Outcome::Inconclusive, Reason::BrokenBase), true), 2);
        let broken = junit(&found(Outcome::Inconclusive, Reason::BrokenBase), false);
        assert_eq!(broken.matches("<skipped").count(), 2, "{broken}");
        // The result and its reason.
        assert_eq!(n_failures(&found(Outcome::Inconclusive, Reason::Canary), true), 2);
    }
}
