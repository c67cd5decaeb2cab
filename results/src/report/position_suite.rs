//! The results of a suite of positions, for people and for continuous integration.

use std::collections::BTreeSet;

use quick_junit::{Report, TestCase, TestCaseStatus, TestSuite};

use super::csv::{number, written};
use super::junit::{failure, xml};
use super::layout::{Document, Section, Table};
use super::words::{count, optional_points, points, share};
use super::{Format, rendered};
use crate::position_suite::{PlayerResult, PositionResult, SuiteResult, Total, Verdict};

/// Writes results down; the text ends with a line feed. `with_all` lists the positions that
/// were passed, too. CSV has a row for each player and position.
///
/// # Panics
/// Never: what is written is representable.
#[must_use]
pub fn render_positions(found: &SuiteResult, format: Format, with_all: bool) -> String {
    rendered(format, found, || document(found, with_all), || csv(found))
}

fn document(found: &SuiteResult, with_all: bool) -> Document {
    let n_positions = found.players.first().map_or(0, |player| player.total.positions);
    let n_games = found.players.first().map_or(0, |player| player.by_game.len());
    let facts = format!(
        "{} of {}, {}.",
        count(n_positions, "position", "positions"),
        count(n_games, "game", "games"),
        count(found.players.len(), "player", "players")
    );
    let mut sections = vec![players(found), by_game(found)];
    sections.extend(by_depth(found));
    sections.extend(found.players.iter().filter_map(|player| listed(player, with_all)));
    Document { title: "Suite of positions", facts, sections, notes: Vec::new() }
}

fn section(heading: &str, sentence: Option<&str>, table: Table) -> Section {
    Section { heading: heading.into(), sentence: sentence.map(Into::into), tables: vec![table] }
}

fn players(found: &SuiteResult) -> Section {
    let row = |player: &PlayerResult| {
        let total = &player.total;
        vec![
            player.player.clone(),
            total.passed.to_string(),
            total.positions.to_string(),
            share(total.score()),
            optional_points(total.mean_loss),
        ]
    };
    let heading = ["player", "passed", "positions", "weight %", "mean loss"];
    let sentence = "Weight %: the weight of the passed positions, in percent of that of all positions. \
                    Mean loss: mean points that a move gave away.";
    let rows = found.players.iter().map(row).collect();
    section("Players", Some(sentence), Table::new(1, &heading, rows))
}

/// Passed positions of each player, a column each.
fn passed<K: Ord + Clone>(
    found: &SuiteResult,
    key: &str,
    totals: impl Fn(&PlayerResult) -> Vec<(K, Total)>,
    name: impl Fn(&K) -> String,
) -> Table {
    let columns: Vec<Vec<(K, Total)>> = found.players.iter().map(totals).collect();
    let keys: BTreeSet<K> = columns.iter().flatten().map(|(key, _)| key.clone()).collect();
    let row = |key: &K| {
        let of = |column: &Vec<(K, Total)>| {
            let total = column.iter().find(|(other, _)| other == key).map(|(_, total)| total);
            total.map_or("-".into(), |total| format!("{}/{}", total.passed, total.positions))
        };
        std::iter::once(name(key)).chain(columns.iter().map(of)).collect()
    };
    let mut heading = vec![key];
    heading.extend(found.players.iter().map(|player| player.player.as_str()));
    Table::new(1, &heading, keys.iter().map(row).collect())
}

fn by_game(found: &SuiteResult) -> Section {
    let totals = |player: &PlayerResult| {
        player.by_game.iter().map(|(game, total)| (game.clone(), *total)).collect()
    };
    section("By game", None, passed(found, "game", totals, String::clone))
}

fn by_depth(found: &SuiteResult) -> Option<Section> {
    let totals = |player: &PlayerResult| {
        player.by_depth.iter().map(|(&depth, total)| (depth, *total)).collect()
    };
    let table = passed(found, "depth", totals, u32::to_string);
    let sentence = "Depth: steps that a search must look ahead.";
    (!table.rows.is_empty()).then(|| section("By depth", Some(sentence), table))
}

/// Failed positions of a player that are listed unless all are wanted.
const MAX_LISTED: usize = 20;

/// The positions that one player failed, or all.
fn listed(player: &PlayerResult, with_all: bool) -> Option<Section> {
    let is_listed = |result: &&PositionResult| with_all || result.verdict != Verdict::Passed;
    let row = |result: &PositionResult| {
        vec![
            result.position.clone(),
            result.depth.map_or("-".into(), |depth| depth.to_string()),
            outcome(result),
            result.good.join(", "),
            optional_points(result.value),
            optional_points(result.loss),
        ]
    };
    let mut rows: Vec<Vec<String>> = player.results.iter().filter(is_listed).map(row).collect();
    let n_more = if with_all { 0 } else { rows.len().saturating_sub(MAX_LISTED) };
    rows.truncate(rows.len() - n_more);
    let mut words = "Value: what the move is worth. Loss: points that it gives away.".to_owned();
    if n_more > 0 {
        let more = count(n_more, "more failed position", "more failed positions");
        words += &format!(" Not listed: {more}; --all lists every position.");
    }
    let heading = ["position", "depth", "move", "good", "value", "loss"];
    let which = if with_all { "All positions" } else { "Failed positions" };
    let title = format!("{which}: {}", player.player);
    let table = Table::new(4, &heading, rows);
    (!table.rows.is_empty()).then(|| section(&title, Some(&words), table))
}

/// The move, or why there is none.
fn outcome(result: &PositionResult) -> String {
    match &result.verdict {
        Verdict::Passed | Verdict::Failed => result.chosen.clone().unwrap_or_default(),
        Verdict::Fault { fault, submitted, .. } => match submitted {
            Some(submitted) => format!("{}: {submitted}", fault.name()),
            None => fault.name().to_owned(),
        },
        Verdict::CannotPlay { .. } => "cannot play".to_owned(),
    }
}

fn csv(found: &SuiteResult) -> String {
    let row = |player: &PlayerResult, result: &PositionResult| {
        let word = match &result.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Fault { fault, .. } => fault.name(),
            Verdict::CannotPlay { .. } => "cannot_play",
        };
        vec![
            player.player.clone(),
            result.position.clone(),
            result.game.clone(),
            result.role.clone(),
            result.depth.map_or(String::new(), |depth| depth.to_string()),
            result.weight.to_string(),
            word.to_owned(),
            result.chosen.clone().unwrap_or_default(),
            result.good.join(" "),
            number(result.value),
            number(result.loss),
            result.seconds.to_string(),
            result.nodes.map_or(String::new(), |nodes| nodes.to_string()),
        ]
    };
    let players = found.players.iter();
    let rows = players.flat_map(|of| of.results.iter().map(move |result| row(of, result)));
    let about_position = "player,position,game,role,depth,weight";
    written(&format!("{about_position},result,move,good,value,loss,seconds,nodes"), rows)
}

/// As JUnit XML: a test suite for each player, and a test case for each position.
///
/// # Panics
/// Never: writing to memory does not fail.
#[must_use]
pub fn junit_of_positions(found: &SuiteResult) -> String {
    let mut report = Report::new("gamemaster suite");
    for player in &found.players {
        let mut suite = TestSuite::new(format!("{}: {}", found.suite, player.player));
        suite.add_test_cases(player.results.iter().map(case));
        report.add_test_suite(suite);
    }
    xml(&report)
}

fn case(result: &PositionResult) -> TestCase {
    let good = result.good.join(", ");
    let status = match &result.verdict {
        Verdict::Passed => TestCaseStatus::success(),
        Verdict::Failed => {
            let chosen = result.chosen.clone().unwrap_or_default();
            let loss = result
                .loss
                .map_or(String::new(), |loss| format!(" and gives away {} points", points(loss)));
            failure("wrong move", &format!("{chosen} is not good{loss}; good: {good}"))
        }
        Verdict::Fault { fault, detail, .. } => {
            let detail = detail.as_ref().map_or(String::new(), |detail| format!(": {detail}"));
            failure(fault.name(), &format!("no legal move in time{detail}; good: {good}"))
        }
        Verdict::CannotPlay { reason } => failure("cannot play", reason),
    };
    let mut case = TestCase::new(result.position.clone(), status);
    case.set_classname(result.game.clone());
    case.set_time(std::time::Duration::from_secs_f64(result.seconds));
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position_suite::testing::result;
    use crate::record::FaultKind;

    fn found() -> SuiteResult {
        let fault = Verdict::Fault {
            fault: FaultKind::LateMove,
            submitted: None,
            detail: Some("after 1.5 s of 1 s".into()),
        };
        let late = PositionResult {
            chosen: None,
            value: None,
            loss: None,
            verdict: fault,
            ..result("nim", 3, 2.0, 0.0)
        };
        let right = vec![result("connect", 1, 1.0, 0.0), result("nim", 3, 2.0, 0.0)];
        let wrong = vec![result("connect", 1, 1.0, 50.0), late];
        SuiteResult {
            suite: "small & quick".into(),
            players: vec![
                PlayerResult::new("right".into(), right),
                PlayerResult::new("wrong".into(), wrong),
            ],
        }
    }

    #[test]
    fn the_text_lists_what_failed() {
        insta::assert_snapshot!("positions.txt", render_positions(&found(), Format::Text, false));
    }

    #[test]
    fn each_position_is_a_test_case() {
        insta::assert_snapshot!("positions.xml", junit_of_positions(&found()));
    }

    #[test]
    fn csv_has_a_row_for_each_decision() {
        let csv = render_positions(&found(), Format::Csv, false);
        assert_eq!(csv.lines().count(), 5);
        assert!(csv.contains("wrong,nim-3,nim,white,3,2,late_move,,(drop 1),,,0.25,1000\r\n"));
    }
}
