//! The files of a run.

/// The journal; everything below can be rebuilt from it.
pub const JOURNAL: &str = "journal.jsonl";
/// A row for each match and role.
pub const MATCHES: &str = "matches.csv";
/// A row for each decision.
pub const MOVES: &str = "moves.csv";
/// The standings, for programs.
pub const SUMMARY_JSON: &str = "summary.json";
/// The standings, for people.
pub const SUMMARY_MD: &str = "summary.md";
/// The result of a comparison of two versions of a player, for programs.
pub const REGRESSION_JSON: &str = "regression.json";
/// The same for people.
pub const REGRESSION_MD: &str = "regression.md";
/// The same for a continuous integration's list of tests.
pub const JUNIT_XML: &str = "junit.xml";
/// The report as a page, where nothing else is said.
pub const REPORT_HTML: &str = "report.html";
/// The spec of the run, completed.
pub const SPEC_LOCK: &str = "spec.lock.toml";
/// The workers that played a run, and the speed of their machines.
pub const WORKERS: &str = "workers.json";
