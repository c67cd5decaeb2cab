//! `docs/course.md`: all commands of the course, with their output.

use std::path::{Path, PathBuf};

use crate::page::{check_commands, write_files};
use crate::workspace::Workspace;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/course.md")
}

/// Runs the commands of the page in a folder of their own. `TRYCMD=overwrite` rewrites the
/// outputs.
#[test]
fn every_command_of_the_course_prints_what_the_page_shows() {
    check_commands(&page());
}

/// Runs the commands of the page's last tables, but for those marked as long.
#[test]
fn every_command_of_the_tables_of_the_course_succeeds() {
    let text = std::fs::read_to_string(page()).unwrap();
    let (_, tables) = text.split_once("\n## Index: each idea with a command\n").unwrap();
    let workspace = Workspace::new();
    write_files(&text, &workspace.path(""));
    workspace.run(&["solve", "connect_three", "--out", "connect_three.table"]).code(0);
    let plan = ["--nodes", "100000", "--plan-file", "tic_tac_toe.plan.json"];
    let planned =
        [&["explain", "tic_tac_toe", "--player", "conditional_planner"][..], &plan].concat();
    workspace.run(&planned).code(0);
    let mut n_commands = 0;
    for line in tables.lines() {
        let Some((idea, command)) = line.split_once("| `gamemaster ") else { continue };
        let command = command.strip_suffix("` |").unwrap_or_else(|| panic!("{line}"));
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = workspace.run(&words);
        assert!(ran.0.status.success(), "{idea}: {command}\n{}{}", ran.stdout(), ran.stderr());
        n_commands += 1;
    }
    assert!(n_commands > 70, "{n_commands}");
}

/// The words of a command; single quotes keep words together.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (Vec::new(), false);
    for part in command.split('\'') {
        if is_quoted {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
        is_quoted = !is_quoted;
    }
    words
}
