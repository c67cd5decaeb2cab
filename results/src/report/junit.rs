//! What a comparison of two versions of a player came to, as JUnit XML: what a
//! continuous integration lists as tests.
//!
//! A test case each for strength, faults and the canary, and one for each game,
//! which warns in its output and never fails.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Format;
use super::regression::{render_regression, verdict_of_regression};
use super::words::{interval, optional_points};
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
        (Outcome::Inconclusive, _) if inconclusive_fails => failure("inconclusive", &verdict),
        (Outcome::Inconclusive, _) => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(verdict.clone());
            skipped
        }
    };
    let mut strength = case("strength", strength);
    strength.set_system_out(render_regression(found, Format::Text));
    suite.add_test_case(strength);
    let faults = if found.faults.fails {
        failure("faults", "the head commits faults more often than the base")
    } else {
        TestCaseStatus::success()
    };
    suite.add_test_case(case("faults", faults));
    if let Some(canary) = &found.canary {
        let status = if canary.blames_machine && inconclusive_fails {
            failure("canary", "the head did not do as well as itself: blame the machine")
        } else {
            TestCaseStatus::success()
        };
        suite.add_test_case(case("canary", status));
    }
    suite.add_test_cases(found.games.iter().map(game));
    let mut report = Report::new("gamemaster regress");
    report.add_test_suite(suite);
    report.to_string().expect("writing to memory does not fail") + "\n"
}

fn failure(kind: &str, message: &str) -> TestCaseStatus {
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
    let mut case = case(&format!("{} ({})", game.game, game.clock), TestCaseStatus::success());
    case.set_classname("regress.games");
    let warning = if game.warns { "warning: head is worse at this game\n" } else { "" };
    let effect = &game.difference;
    case.set_system_out(format!(
        "{warning}head less base: {} points {} from {} blocks",
        optional_points(effect.mean),
        interval(effect.interval),
        effect.n_blocks
    ));
    case
}
