#![expect(unsafe_code, reason = "a child asks the kernel for its death signal before it runs")]
//! Players that are launched as programs: a process group each, on a port of
//! their own, ended with all their children.
//!
//! Three nets catch what a program leaves behind. Its process group is killed.
//! Whoever left the group still has the mark in its environment that the
//! program was launched with, and is found by it. If we die ourselves before
//! we can do either, the kernel kills the program (not its children).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, set_parent_process_death_signal,
};

/// Variable of the environment by which a program's descendants are known.
const MARK: &str = "GAMEMASTER_PLAYER";

/// Most bytes that are kept of what one launched program writes.
const MAX_LOG_BYTES: u64 = 16 << 20;

/// What becomes of what launched players write to their standard error.
#[derive(Clone, Debug, Default)]
pub enum PlayerStderr {
    /// Nobody sees it.
    #[default]
    Discard,
    /// It goes to our own standard error.
    Show,
    /// It is kept in this folder, a file for each program, up to a limit.
    Log(PathBuf),
}

/// Why a program could not be launched. Messages are statements that follow the
/// player's name.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The command line is no command.
    #[error("`{template}` is no command: {problem}")]
    Template {
        /// The command line as written.
        template: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It could not be started.
    #[error("`{program}` cannot be started")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file for its standard error could not be made.
    #[error("its log {path} cannot be made")]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// No port is free.
    #[error("no port is free")]
    Port(#[source] io::Error),
    /// It ended before it answered.
    #[error("`{template}` ended with {} before it answered", describe(*.status))]
    Ended {
        /// The command line as written.
        template: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// It did not answer in time.
    #[error("`{template}` runs, but did not answer INFO within {limit:?} on the port it was given")]
    Silent {
        /// The command line as written.
        template: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The manager was told to stop.
    #[error("the manager was stopped")]
    Stopped,
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// A running program. Dropping it kills it and all it started.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    mark: String,
    live: Arc<Live>,
    /// The port it was told to listen on.
    pub(crate) port: u16,
    /// It did something that makes it worth a look before its next match.
    pub(crate) suspect: bool,
}

impl Program {
    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        // From the moment it was waited for, its number may be another's.
        let mut live = lock(&self.live);
        let status = self.child.try_wait().ok().flatten();
        if status.is_some() {
            live.insert(self.mark.clone(), None);
        }
        status
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.ended().is_none() {
            kill_group(self.child.id());
            let _ = self.child.wait();
        }
        kill_marked(&self.mark);
        lock(&self.live).remove(&self.mark);
    }
}

/// Process ids of programs by their marks; none once a program has ended, though
/// what it started may still run.
type Live = Mutex<BTreeMap<String, Option<u32>>>;

fn kill_group(id: u32) {
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills whatever has `mark` in its environment, until nothing is left.
fn kill_marked(mark: &str) {
    let needle = format!("{MARK}={mark}");
    for _ in 0..10 {
        let found = marked(needle.as_bytes());
        if found.is_empty() {
            return;
        }
        for process in found {
            let _ = kill_process(process, Signal::KILL);
        }
        thread::yield_now();
    }
}

fn marked(needle: &[u8]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let is_marked = |path: &Path| {
        fs::read(path.join("environ")).is_ok_and(|environment| {
            environment.split(|&byte| byte == 0).any(|line| line == needle)
        })
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let number: i32 = entry.file_name().to_str()?.parse().ok()?;
            Pid::from_raw(number).filter(|_| is_marked(&entry.path()))
        })
        .collect()
}

/// All programs of one manager.
pub(crate) struct Programs {
    stderr: PlayerStderr,
    spawner: Mutex<Option<mpsc::Sender<SpawnOrder>>>,
    idle: Mutex<BTreeMap<String, Vec<Program>>>,
    ports: Mutex<BTreeSet<u16>>,
    live: Arc<Live>,
    n_launched: AtomicU64,
    stopped: AtomicBool,
}

type SpawnOrder = (Command, mpsc::Sender<io::Result<Child>>);

impl Programs {
    pub(crate) fn new(stderr: PlayerStderr) -> Self {
        Self {
            stderr,
            spawner: Mutex::new(None),
            idle: Mutex::new(BTreeMap::new()),
            ports: Mutex::new(BTreeSet::new()),
            live: Arc::default(),
            n_launched: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// A program of player `id` that no match uses, if there is one that runs.
    pub(crate) fn take_idle(&self, id: &str) -> Option<Program> {
        loop {
            let mut program = lock(&self.idle).get_mut(id)?.pop()?;
            if program.ended().is_none() {
                return Some(program);
            }
        }
    }

    /// Gives a program back for later matches.
    pub(crate) fn put_back(&self, id: &str, program: Program) {
        lock(&self.idle).entry(id.to_owned()).or_default().push(program);
    }

    /// Kills all programs, also those in use, and launches no more.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let idle = std::mem::take(&mut *lock(&self.idle));
        drop(idle);
        let in_use = lock(&self.live);
        for (mark, id) in &*in_use {
            if let Some(id) = *id {
                kill_group(id);
            }
            kill_marked(mark);
        }
    }

    /// Starts the program of player `id`. Whether it listens is another question.
    pub(crate) fn launch(&self, id: &str, template: &str) -> Result<Program, LaunchError> {
        if self.stopped.load(Ordering::SeqCst) {
            return Err(LaunchError::Stopped);
        }
        let number = self.n_launched.fetch_add(1, Ordering::Relaxed);
        let port = self.free_port()?;
        let words = words(template, port)?;
        let (program, arguments) = words.split_first().expect("`words` returns at least one");
        let mark = format!("{}.{}.{number}", std::process::id(), nanoseconds());
        let (stderr, log) = match &self.stderr {
            PlayerStderr::Discard => (Stdio::null(), None),
            PlayerStderr::Show => (Stdio::inherit(), None),
            PlayerStderr::Log(folder) => (Stdio::piped(), Some(log(folder, id, number)?)),
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .process_group(0);
        // SAFETY: the closure makes one system call and touches no memory, which
        // is allowed between fork and exec.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let mut child = self
            .spawn(command)
            .map_err(|source| LaunchError::Spawn { program: program.clone(), source })?;
        if let (Some(log), Some(stderr)) = (log, child.stderr.take()) {
            // Ends when the last descendant that holds the pipe does. Without a
            // thread to spare the log stays empty.
            let _ = thread::Builder::new()
                .name("player log".to_owned())
                .spawn(move || keep_log(stderr, log, MAX_LOG_BYTES));
        }
        lock(&self.live).insert(mark.clone(), Some(child.id()));
        let live = Arc::clone(&self.live);
        Ok(Program { child, mark, live, port, suspect: false })
    }

    /// Spawns on a thread that lives as long as this manager: the kernel sends
    /// the death signal when the *thread* that started a child ends.
    fn spawn(&self, command: Command) -> io::Result<Child> {
        let (answer, child) = mpsc::channel();
        let mut spawner = lock(&self.spawner);
        let orders = match &*spawner {
            Some(orders) => orders,
            None => {
                let (orders, receiver) = mpsc::channel::<SpawnOrder>();
                thread::Builder::new().name("spawner".to_owned()).spawn(move || {
                    while let Ok((mut command, answer)) = receiver.recv() {
                        let _ = answer.send(command.spawn());
                    }
                })?;
                spawner.insert(orders)
            }
        };
        orders.send((command, answer)).map_err(io::Error::other)?;
        child.recv().map_err(io::Error::other)?
    }

    /// A port that was free just now, and that no other program here was given.
    fn free_port(&self) -> Result<u16, LaunchError> {
        let mut given = lock(&self.ports);
        let mut held = Vec::new();
        loop {
            let listener =
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(LaunchError::Port)?;
            let port = listener.local_addr().map_err(LaunchError::Port)?.port();
            if given.insert(port) {
                return Ok(port);
            }
            held.push(listener);
            if held.len() > 1000 {
                // Ports of programs long gone may be given again.
                given.clear();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

fn log(folder: &Path, id: &str, number: u64) -> Result<File, LaunchError> {
    let name: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let path = folder.join(format!("{name}-{number}.stderr"));
    fs::create_dir_all(folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&path))
        .map_err(|source| LaunchError::Log { path, source })
}

/// Copies what a program writes into its log, and drops what is beyond
/// `max_bytes`: no player may fill the disk, or hang because nobody reads.
fn keep_log(mut stderr: impl Read, mut log: impl Write, max_bytes: u64) {
    // A log that cannot be written is no reason to let the program hang.
    let kept = io::copy(&mut stderr.by_ref().take(max_bytes), &mut log);
    let dropped = io::copy(&mut stderr, &mut io::sink());
    if kept.is_ok() && dropped.is_ok_and(|n_bytes| n_bytes > 0) {
        let _ = writeln!(log, "\n[what followed was dropped: the log holds {max_bytes} bytes]");
    }
}

/// The words of a command line, `{port}` replaced. Quotes of either kind keep
/// blanks; there is no shell.
pub(crate) fn words(template: &str, port: u16) -> Result<Vec<String>, LaunchError> {
    let wrong = |problem| LaunchError::Template { template: template.to_owned(), problem };
    if !template.contains("{port}") {
        return Err(wrong("expected `{port}` where the port to listen on belongs"));
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in template.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() {
        return Err(wrong("a quote is not closed"));
    }
    if words.is_empty() {
        return Err(wrong("it is empty"));
    }
    Ok(words.iter().map(|word| word.replace("{port}", &port.to_string())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_where_it_grows_too_large() {
        let kept = |text: &str| {
            let mut log = Vec::new();
            keep_log(text.as_bytes(), &mut log, 10);
            String::from_utf8(log).unwrap()
        };
        assert_eq!(kept("ten bytes."), "ten bytes.");
        let cut = kept("ten bytes. And more.");
        assert!(cut.starts_with("ten bytes.\n[what followed was dropped"), "{cut}");
    }

    #[test]
    fn a_command_line_is_split_into_words() {
        let split = |template: &str| words(template, 9147).ok();
        let strings = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
        assert_eq!(split("./p {port}"), strings(&["./p", "9147"]));
        assert_eq!(
            split("python3 'my player.py' --port={port} \"\" a\"b c\""),
            strings(&["python3", "my player.py", "--port=9147", "", "ab c"])
        );
        assert_eq!(split("./p 9147"), None);
        assert_eq!(split("./p '{port}"), None);
    }

    #[test]
    fn a_program_ends_with_its_children() {
        let programs = Programs::new(PlayerStderr::Discard);
        // A shell that leaves its process group behind in a session of its own.
        let program =
            programs.launch("p", "sh -c 'setsid sleep 1000 & exec sleep 1000 # {port}'").unwrap();
        let needle = format!("{MARK}={}", program.mark);
        while marked(needle.as_bytes()).len() < 2 {
            thread::yield_now();
        }
        drop(program);
        while !marked(needle.as_bytes()).is_empty() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_program_that_ended_is_not_used_again() {
        let programs = Programs::new(PlayerStderr::Discard);
        let mut program = programs.launch("p", "true {port}").unwrap();
        while program.ended().is_none() {
            thread::yield_now();
        }
        programs.put_back("p", program);
        assert!(programs.take_idle("p").is_none());
        assert!(programs.launch("p", "/no/such/program {port}").is_err());
    }
}
