//! A folder of its own for each test, and the program run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder that goes away with the test.
pub(crate) struct Workspace(tempfile::TempDir);

impl Workspace {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With this spec in `spec.toml`.
    pub(crate) fn with_spec(spec: &str) -> Self {
        let workspace = Self::new();
        workspace.write("spec.toml", spec);
        workspace
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The program with these arguments, in the folder, without input.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran(self.command(arguments).output().unwrap())
    }

    /// Runs to the end in a shell, after the command `before`.
    pub(crate) fn run_after(&self, before: &str, arguments: &[&str]) -> Ran {
        let program = assert_cmd::cargo::cargo_bin!("gamemaster");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{before}; exec \"$0\" \"$@\"")]).arg(program);
        command.current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        Ran(command.output().unwrap())
    }

    /// Starts, and leaves it running.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// What came of it.
pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    /// Panics unless it ended with this exit code.
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.0.status.code(), Some(expected), "{}\n{}", self.stdout(), self.stderr());
        self
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }
}

/// Everything that a run makes of its journal.
pub(crate) fn tables(folder: &Path) -> Vec<(&'static str, String)> {
    ["matches.csv", "moves.csv", "summary.json", "summary.md"]
        .map(|name| (name, std::fs::read_to_string(folder.join(name)).unwrap_or_default()))
        .to_vec()
}

/// Whether the process with this number is there and no zombie.
pub(crate) fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Whether slow tests are to be run: `RUN_SLOW_TESTS` is set, and neither empty
/// nor `0`.
pub(crate) fn run_slow_tests() -> bool {
    is_wanted(std::env::var_os("RUN_SLOW_TESTS").as_deref())
}

fn is_wanted(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

#[test]
fn slow_tests_are_asked_for_by_this_table() {
    for (value, wanted) in [
        (None, false),
        (Some(""), false),
        (Some("0"), false),
        (Some("1"), true),
        (Some("yes"), true),
    ] {
        assert_eq!(is_wanted(value.map(OsStr::new)), wanted, "{value:?}");
    }
}
