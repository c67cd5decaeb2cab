//! A NATS server of a test's own, with workers and a coordinator.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, Context};
use rustix::process::{Pid, Signal, kill_process};

use crate::workspace::{Ran, Workspace};

/// What takes longer does not come: a test that waits for it fails, and does not hang.
const PATIENCE: Duration = Duration::from_secs(300);

/// A run of two blocks that takes no time.
pub(crate) const SPEC: &str = r#"
name = "small"
blocks = 2
games = ["tic_tac_toe"]
budget = { nodes = 10 }
[[players]]
kind = "random"
[[players]]
kind = "legal"
"#;

/// Looks until there is something to be found. Panics if there is nothing for too long.
pub(crate) fn wait_until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    in_runtime(wait_async(what, async || find()))
}

/// [`wait_until`] for what a client of the test's own looks for.
pub(crate) async fn wait_async<T>(what: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = find().await {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A client of the test's own.
pub(crate) async fn client(url: &str) -> Context {
    let client = wait_async("connected", async || async_nats::connect(url).await.ok()).await;
    jetstream::new(client)
}

/// Runs a client of the test's own.
pub(crate) fn in_runtime<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(future)
}

/// All text below a folder: journals, tables, logs.
pub(crate) fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        text += &match path.is_dir() {
            true => all_text(&path),
            false => String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
        };
    }
    text
}

/// A server that is killed with the test.
pub(crate) struct NatsServer {
    port: u16,
    store: tempfile::TempDir,
    process: Child,
    arguments: Vec<String>,
}

impl NatsServer {
    /// Starts a server; `None` if there is none on this machine.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with these arguments besides.
    pub(crate) fn start_with(arguments: &[&str]) -> Option<Self> {
        Self::start_plain(&[&["-js"], arguments].concat())
    }

    /// Starts a server with these arguments and without JetStream.
    pub(crate) fn start_plain(arguments: &[&str]) -> Option<Self> {
        let installed = Command::new("nats-server").arg("--version").output();
        if installed.is_err() {
            let note = "skipped: nats-server is not installed (apt-get install nats-server)";
            writeln!(std::io::stderr(), "{note}").unwrap();
            return None;
        }
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let store = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        let process = launch(port, store.path().to_owned(), &arguments);
        let server = Self { port, store, process, arguments };
        server.wait();
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills the server, and starts it again with the same disk.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Starts the server that was killed with the same disk.
    pub(crate) fn start_again(&mut self) {
        self.process = launch(self.port, self.store.path().to_owned(), &self.arguments);
        self.wait();
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Stops it for this time: it accepts connections, and replies to nothing.
    pub(crate) fn stall(&self, time: Duration) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, Signal::STOP).unwrap();
        std::thread::sleep(time);
        kill_process(pid, Signal::CONT).unwrap();
    }

    /// Waits until it accepts connections.
    fn wait(&self) {
        let address = (Ipv4Addr::LOCALHOST, self.port);
        wait_until("the server accepts connections", || TcpStream::connect(address).ok());
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn launch(port: u16, store: PathBuf, arguments: &[String]) -> Child {
    let mut command = Command::new("nats-server");
    command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(store);
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A worker that is killed with the test.
pub(crate) struct WorkerProcess {
    process: Child,
    folder: Workspace,
}

impl WorkerProcess {
    /// Starts a worker in a folder of its own, with these arguments besides.
    pub(crate) fn start(server: &NatsServer, name: &str, arguments: &[&str]) -> Self {
        Self::start_in(Workspace::new(), server, name, arguments)
    }

    /// Starts a worker in this folder.
    pub(crate) fn start_in(
        folder: Workspace,
        server: &NatsServer,
        name: &str,
        arguments: &[&str],
    ) -> Self {
        let url = server.url();
        let all = ["worker", "--queue", &url, "--name", name, "--cache", "cache"];
        let mut command = folder.command(&[&all, arguments].concat());
        let log = std::fs::File::create(folder.path("log")).unwrap();
        let process = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Self { process, folder }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Asks it to leave, and waits until it has.
    pub(crate) fn drain(&mut self) {
        kill_process(Pid::from_child(&self.process), Signal::TERM).unwrap();
        self.wait_for_end();
    }

    /// Waits until it has left by itself.
    pub(crate) fn wait_for_end(&mut self) {
        let ended = wait_until("the worker ends", || self.process.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0), "{}", self.log());
    }

    /// What it has printed.
    pub(crate) fn log(&self) -> String {
        self.folder.read("log")
    }

    /// Waits until it has printed this.
    pub(crate) fn wait_for(&mut self, text: &str) {
        wait_until(&format!("the worker prints {text}"), || {
            let is_there = self.log().contains(text);
            let has_ended = self.process.try_wait().unwrap().is_some();
            assert!(is_there || !has_ended, "it ended: {}", self.log());
            is_there.then_some(())
        });
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if self.process.try_wait().unwrap().is_none() {
            self.kill();
        }
    }
}

/// Lines as they are printed.
pub(crate) struct Lines(Receiver<String>);

impl Lines {
    /// Waits for a line with this text.
    pub(crate) fn next_with(&self, text: &str) -> String {
        loop {
            let line = self.0.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("no line has {text}: {error}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// All lines until the process has ended.
    pub(crate) fn rest(self) -> Vec<String> {
        self.0.into_iter().collect()
    }
}

/// A coordinator that is killed with the test.
pub(crate) struct CoordinatorProcess(Option<Child>);

impl CoordinatorProcess {
    /// Starts it with these arguments.
    pub(crate) fn start(workspace: &Workspace, arguments: &[&str]) -> Self {
        Self(Some(workspace.spawn(arguments)))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    /// The lines that it prints to the standard error from now on.
    pub(crate) fn stderr(&mut self) -> Lines {
        let stderr = BufReader::new(self.child().stderr.take().unwrap());
        let (sender, lines) = channel();
        // All is read, whether anybody waits for it or not, so that no write fails.
        std::thread::spawn(move || {
            stderr.lines().map(Result::unwrap).for_each(|line| drop(sender.send(line)));
        });
        Lines(lines)
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child().try_wait().unwrap().is_some()
    }

    /// Panics with what it has printed if it has ended.
    pub(crate) fn check(&mut self) {
        if self.has_ended() {
            let Ran(output) = self.end();
            panic!("the coordinator ended: {output:?}");
        }
    }

    /// Kills it; says whether it was running.
    pub(crate) fn kill(mut self) -> bool {
        self.child().kill().unwrap();
        self.child().wait().unwrap().code().is_none()
    }

    /// Waits until it has ended.
    pub(crate) fn ran(mut self) -> Ran {
        self.end()
    }

    fn end(&mut self) -> Ran {
        let process = self.0.take().unwrap();
        let pid = Pid::from_child(&process);
        let (ended, has_ended) = channel::<()>();
        std::thread::spawn(move || {
            if has_ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                kill_process(pid, Signal::KILL).unwrap();
            }
        });
        let output = process.wait_with_output().unwrap();
        drop(ended);
        Ran(output)
    }
}

impl Drop for CoordinatorProcess {
    fn drop(&mut self) {
        if let Some(mut process) = self.0.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

/// The arguments of a coordinator that runs `spec.toml`.
pub(crate) fn coordinate<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = ["run", "spec.toml", "--out", "out", "--ack-wait", "1s", "--queue", url];
    [&all, more].concat()
}

/// Runs a coordinator to its end.
pub(crate) fn run(workspace: &Workspace, server: &NatsServer, more: &[&str]) -> Ran {
    let url = server.url();
    workspace.run(&coordinate(&url, more))
}

/// Plays [`SPEC`] by one worker; coordinator and worker have these options. All that was printed
/// and written.
pub(crate) fn all_of_a_run(url: &str, options: &[&str]) -> String {
    let workspace = Workspace::with_spec(SPEC);
    let worker = [&["worker", "--queue", url, "--cache", "cache"], options].concat();
    let log = std::fs::File::create(workspace.path("log")).unwrap();
    let mut worker = workspace.command(&worker).stderr(log).spawn().unwrap();
    let ran = workspace.run(&coordinate(url, options)).code(0);
    worker.kill().unwrap();
    worker.wait().unwrap();
    check_same(&workspace, &reference(SPEC));
    ran.stdout() + &ran.stderr() + &all_text(&workspace.path("."))
}

/// The records of a run by job, without what depends on where and how fast they were
/// played. Panics if a match is there twice.
pub(crate) fn records(workspace: &Workspace) -> Vec<serde_json::Value> {
    let mut records: Vec<serde_json::Value> = workspace
        .read("out/journal.jsonl")
        .lines()
        .skip(1)
        .map(|line| without_times(serde_json::from_str(line).unwrap()))
        .collect();
    records.sort_by_key(|record| record["job"].as_u64());
    let jobs: Vec<u64> = records.iter().map(|record| record["job"].as_u64().unwrap()).collect();
    assert!(jobs.windows(2).all(|pair| pair[0] < pair[1]), "no match counts twice");
    records
}

fn without_times(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    const TIMES: [&str; 11] = [
        "attempt",
        "concurrency",
        "worker",
        "started_at",
        "duration_us",
        "harness_us",
        "wall_us",
        "cpu_us",
        "overrun_us",
        "crc",
        "connect_us",
    ];
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !TIMES.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, without_times(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_times).collect()),
        other => other,
    }
}

/// The same run, played by one process.
pub(crate) fn reference(spec: &str) -> Workspace {
    let workspace = Workspace::with_spec(spec);
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    workspace
}

/// Panics unless both runs have the same matches and tables.
pub(crate) fn check_same(one: &Workspace, other: &Workspace) {
    let (records, expected) = (records(one), records(other));
    assert_eq!(records.len(), expected.len());
    for (record, expected) in records.iter().zip(&expected) {
        assert_eq!(record, expected);
    }
    let tables = |workspace: &Workspace| crate::workspace::tables(&workspace.path("out"));
    for (table, expected) in tables(one).into_iter().zip(tables(other)) {
        assert!(table == expected, "{} differs:\n{}\n{}", table.0, table.1, expected.1);
    }
}
