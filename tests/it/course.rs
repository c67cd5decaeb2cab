//! `docs/course.md`: all commands of the course, with their output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::page::{check_commands, write_files};
use crate::workspace::{Ran, Workspace};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/course.md")
}

/// Runs the commands of the page in a folder of their own. `TRYCMD=overwrite` rewrites the
/// outputs.
#[test]
fn every_command_of_the_course_prints_what_the_page_shows() {
    check_commands(&page());
}

/// Runs the commands of the page's last tables, with those that need two terminals or a person
/// as far as they go alone.
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
    let (mut n_commands, mut n_by_hand) = (0, 0);
    let mut served = None;
    for line in tables.lines() {
        let Some((idea, command)) = line.split_once("| `gamemaster ") else { continue };
        let command = command.strip_suffix("` |").unwrap_or_else(|| panic!("{line}"));
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        n_commands += 1;
        if words[0] == "serve" {
            served = Some(Served::start(&workspace, &words));
        } else if words.contains(&SERVED_AT) {
            served.take().expect("it is served by the row before").plays(&workspace, &words);
        } else if words.contains(&"human") {
            typed(&workspace, &words);
        } else {
            let ran = workspace.run(&words);
            assert!(ran.0.status.success(), "{idea}: {command}\n{}{}", ran.stdout(), ran.stderr());
            continue;
        }
        n_by_hand += 1;
    }
    assert!(n_commands > 75, "{n_commands}");
    assert_eq!(n_by_hand, 3, "a pair of `serve` and `play`, and `human`");
}

/// Where the page's player is served.
const SERVED_AT: &str = "http://127.0.0.1:9147";

/// A player that is served in another process. It ends when it is dropped.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Any free port will do.
    fn start(workspace: &Workspace, command: &[&str]) -> Self {
        let mut child = workspace.spawn(&[command, &["--port", "0"]].concat());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self { child, address }
    }

    /// Plays a match to its end and one that is cut short, and looks at the messages.
    fn plays(mut self, workspace: &Workspace, command: &[&str]) {
        let address = format!("http://{}", self.address);
        let there = |&word: &&'_ str| if word == SERVED_AT { address.clone() } else { word.into() };
        let words: Vec<String> = command.iter().map(there).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        workspace.run(&words).code(0);
        workspace.run(&[&words[..], &["--step-limit", "3"]].concat()).code(0);
        let mut told = String::new();
        self.child.kill().unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        for message in ["( START ", "( PLAY ", "( STOP ", "( ABORT "] {
            assert!(told.contains(message), "{message}: {told}");
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A person who makes two moves and has seen enough. The other player has few nodes, so that it
/// does not use its start clock.
fn typed(workspace: &Workspace, command: &[&str]) {
    let mut command = workspace.command(&[command, &["--nodes", "100"]].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"1\n1\nquit\n").unwrap();
    let ran = Ran(child.wait_with_output().unwrap()).code(130);
    assert_eq!(ran.stderr().matches("your move").count(), 3, "{}", ran.stderr());
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
