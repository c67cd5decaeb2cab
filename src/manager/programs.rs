//! Players that are launched as programs, each on its own port, and ended with all
//! processes that they start.
//!
//! Between us and a program there is a [supervisor](crate::supervisor), below which
//! all descendants of the program stay. Where there is none, because the executable
//! that could be one is not known, descendants are found by their process group and
//! by a mark in their environment.
//!
//! **The port.** A program listens on the port that it is given, and any other program
//! of the same user could do so first, or as well. Before a match and during it, the
//! process that listens there must be below the program
//! ([`LaunchedProgram::check_port`]); otherwise the match is aborted. A program that
//! takes a socket from us instead of a port cannot lose it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use results::record::PortHolder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::listeners::{self, Listener};
use super::machine_limit::{lack, no_port, no_process};
use super::player_logs::PlayerLogs;
use crate::launch_limits::{ExceededLimit, LaunchLimits};
use crate::locking::lock;
use crate::process_tree::{
    Process, adopt_orphans, all, descendants, kill_descendants, kill_orphans,
};
use crate::supervisor::{self, Report};

/// Variable of the environment by which a program's descendants are known.
const MARK: &str = "GAMEMASTER_PLAYER";

/// A look at the port that takes no longer is made before and after each message.
const FAST_LOOK: Duration = Duration::from_millis(1);

/// The pause between two looks is at least this many times as long as a look.
const LOOK_SHARE: u32 = 20;

/// Maximum number of bytes of a supervisor's report.
const MAX_REPORT_BYTES: usize = 4096;

/// What becomes of what launched players write to their standard error.
#[derive(Clone, Debug, Default)]
pub enum PlayerStderr {
    /// It is discarded.
    #[default]
    Discard,
    /// It goes to our own standard error.
    Show,
    /// It is kept in this folder, a file for each program, up to a limit for each
    /// program and for each player.
    Log(PathBuf),
}

/// Why a program could not be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The command line is not a command.
    #[error("invalid command `{template}`: {problem}")]
    Template {
        /// The command line as written.
        template: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It could not be started.
    #[error("cannot start `{program}`")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file for its standard error could not be made.
    #[error("cannot create the log {path}")]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// This machine lacks what a launch takes.
    #[error("{0}")]
    MachineLimit(String),
    /// It ended before it replied.
    #[error("`{template}` ended with {} before it replied to INFO{}", describe(*.status), see(log.as_deref()))]
    Ended {
        /// The command line as written.
        template: String,
        /// The file with its standard error, if it is kept.
        log: Option<PathBuf>,
        /// How it ended.
        status: ExitStatus,
    },
    /// It went beyond a limit before it replied.
    #[error("`{template}` was ended before it replied to INFO: {}; raise its `limits`{}", .limit.sentence(), see(log.as_deref()))]
    Exceeded {
        /// The command line as written.
        template: String,
        /// The file with its standard error, if it is kept.
        log: Option<PathBuf>,
        /// The limit.
        limit: ExceededLimit,
    },
    /// It did not reply in time.
    #[error(
        "`{template}` did not give a valid reply to INFO on its port within {}{}",
        humantime::format_duration(*.limit), see(log.as_deref())
    )]
    Silent {
        /// The command line as written.
        template: String,
        /// The file with its standard error, if it is kept.
        log: Option<PathBuf>,
        /// How long it was waited for.
        limit: Duration,
    },
    /// Another process listens on the port that it was given.
    #[error(transparent)]
    Impostor(#[from] Impostor),
    /// The manager was stopped.
    #[error("the manager was stopped")]
    Stopped,
}

/// A process that listens on the port that a program was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{by} listens on port {port}, which was given to this player")]
pub struct Impostor {
    /// The port.
    pub port: u16,
    /// The process.
    pub by: PortHolder,
}

impl LaunchError {
    fn log(path: PathBuf, source: io::Error) -> Self {
        match lack(&source) {
            Some(what) => Self::MachineLimit(what),
            None => Self::Log { path, source },
        }
    }

    pub(crate) fn spawn(program: String, source: io::Error) -> Self {
        match no_process(&source) {
            Some(what) => Self::MachineLimit(what),
            None => Self::Spawn { program, source },
        }
    }

    fn port(source: io::Error) -> Self {
        Self::MachineLimit(no_port(&source))
    }
}

fn see(log: Option<&Path>) -> String {
    log.map_or_else(String::new, |log| format!("; see {}", log.display()))
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It could not be started, for this reason.
    NotStarted(i32),
    /// It was ended, since it went beyond this limit.
    Exceeded(ExceededLimit),
    /// It ran.
    Ended(ExitStatus),
}

/// A running program. Dropping it kills it and all it started.
#[derive(Debug)]
pub(crate) struct LaunchedProgram {
    /// The supervisor, or the program itself.
    child: Child,
    /// Where the supervisor reports.
    report: Option<ChildStdout>,
    /// What it has reported so far.
    reported: String,
    end: Option<End>,
    mark: String,
    live: Arc<Live>,
    /// The file with its standard error, if it is kept.
    pub(crate) log: Option<PathBuf>,
    /// The port it was given to listen on.
    pub(crate) port: u16,
    /// A fault makes it worth a check before its next match.
    pub(crate) suspect: bool,
    /// Sockets that were found to listen on the port and to belong to this program.
    own: BTreeSet<Listener>,
    /// Another process that was found to listen there.
    impostor: Option<Impostor>,
    next_look: Instant,
    fastest_look: Duration,
}

impl LaunchedProgram {
    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<End> {
        if self.end.is_none() {
            // From the moment it was waited for, its number may be another's.
            let mut live = lock(&self.live);
            let status = self.child.try_wait().ok().flatten()?;
            if let Some(launched) = live.get_mut(&self.mark) {
                launched.process = None;
            }
            // A supervisor that was killed leaves to us what was below it.
            live.kill_orphans();
            drop(live);
            self.end = Some(match self.read_report() {
                Some(Report::Failed(reason)) => End::NotStarted(reason),
                Some(Report::Exceeded(limit)) => End::Exceeded(limit),
                Some(Report::Ended(status)) => End::Ended(status),
                None => End::Ended(status),
            });
        }
        self.end
    }

    /// The limit that it went beyond. It may not have ended yet.
    pub(crate) fn exceeded(&mut self) -> Option<ExceededLimit> {
        match self.read_report() {
            Some(Report::Exceeded(limit)) => Some(limit),
            _ => None,
        }
    }

    /// The supervisor's report, as far as there is one.
    fn read_report(&mut self) -> Option<Report> {
        if let Some(report) = &mut self.report
            && self.reported.len() < MAX_REPORT_BYTES
        {
            self.reported += &words_of(report);
        }
        Report::read(&self.reported)
    }

    /// Checks which process listens on the port.
    ///
    /// # Errors
    /// If it belongs to another program. If that cannot be known, there is no error.
    pub(crate) fn check_port(&mut self) -> Result<(), Impostor> {
        if let Some(impostor) = &self.impostor {
            return Err(impostor.clone());
        }
        let Ok(found) = listeners::on_port(self.port) else { return Ok(()) };
        if found.is_subset(&self.own) {
            return Ok(());
        }
        let live = lock(&self.live);
        let all = all();
        let foreign = listeners::foreign(&found, live.processes(&self.mark, &all).into_iter());
        if foreign.is_empty() {
            drop(live);
            self.own = found;
            return Ok(());
        }
        // It may have closed the port since, and another may be there now.
        if listeners::on_port(self.port).is_ok_and(|again| again.is_disjoint(&foreign)) {
            return Ok(());
        }
        let impostor = Impostor { port: self.port, by: live.expose(&foreign, &all) };
        drop(live);
        self.impostor = Some(impostor.clone());
        Err(impostor)
    }

    /// As [`check_port`](Self::check_port), around each message of a match; what is
    /// found is remembered. Where looking takes long, it looks now and then.
    pub(crate) fn watch_port(&mut self) {
        let begun = Instant::now();
        if begun >= self.next_look {
            let _ = self.check_port();
            let took = begun.elapsed();
            self.fastest_look = self.fastest_look.min(took);
            if self.fastest_look > FAST_LOOK {
                self.next_look = Instant::now() + took * LOOK_SHARE;
            }
        }
    }

    /// The process that was found to listen in place of this program.
    pub(crate) fn impostor(&self) -> Option<&Impostor> {
        self.impostor.as_ref()
    }
}

/// What is there to be read now. Others may hold the pipe open for ever.
fn words_of(report: &mut ChildStdout) -> String {
    let mut words = Vec::new();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    while words.len() < MAX_REPORT_BYTES {
        let is_ready =
            poll(&mut [PollFd::new(&*report, PollFlags::IN)], Some(&now)).is_ok_and(|n| n > 0);
        let mut buffer = [0; 256];
        match if is_ready { report.read(&mut buffer) } else { Ok(0) } {
            Ok(0) | Err(_) => break,
            Ok(n) => words.extend_from_slice(&buffer[..n]),
        }
    }
    String::from_utf8_lossy(&words).into_owned()
}

impl Drop for LaunchedProgram {
    fn drop(&mut self) {
        if self.ended().is_none() {
            kill_tree(self.child.id());
            let _ = self.child.wait();
        }
        kill_marked(&self.mark);
        let mut live = lock(&self.live);
        live.remove(&self.mark);
        live.kill_orphans();
    }
}

/// Kills all descendants of a process, its group, and the process.
fn kill_tree(id: u32) {
    if let Some(root) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        kill_descendants(root);
        let _ = kill_process_group(root, Signal::KILL);
        kill_descendants(root);
    }
}

type Live = Mutex<LivePrograms>;

/// The programs of one manager, by their marks.
#[derive(Debug, Default)]
struct LivePrograms {
    programs: BTreeMap<String, LiveProgram>,
    /// Whether orphans come to us; then all our children are known.
    adopts: bool,
}

#[derive(Debug)]
struct LiveProgram {
    /// The player.
    player: String,
    /// The supervisor, or the program itself; none once it has ended, though what it
    /// started may still run.
    process: Option<Pid>,
}

impl LivePrograms {
    fn get_mut(&mut self, mark: &str) -> Option<&mut LiveProgram> {
        self.programs.get_mut(mark)
    }

    fn remove(&mut self, mark: &str) {
        self.programs.remove(mark);
    }

    /// Kills what supervisors that were killed have left.
    fn kill_orphans(&self) {
        if self.adopts {
            let known: BTreeSet<i32> = self
                .programs
                .values()
                .filter_map(|launched| launched.process)
                .map(Pid::as_raw_pid)
                .collect();
            kill_orphans(|process| known.contains(&process.as_raw_pid()));
        }
    }

    /// All processes of a program.
    fn processes(&self, mark: &str, all: &[Process]) -> Vec<Pid> {
        let Some(root) = self.programs.get(mark).and_then(|launched| launched.process) else {
            return Vec::new();
        };
        let below = descendants(root, all).into_iter().map(|process| process.id);
        let mut found: Vec<Pid> = below.chain([root]).collect();
        if !self.adopts {
            found.extend(marked(format!("{MARK}={mark}").as_bytes()));
        }
        found
    }

    /// The process that holds these sockets. If it is a program of ours, it is ended.
    fn expose(&self, listeners: &BTreeSet<Listener>, all: &[Process]) -> PortHolder {
        let holder = |process: Pid| PortHolder {
            process: Some(process.as_raw_pid()),
            name: fs::read_to_string(format!("/proc/{process}/comm"))
                .ok()
                .map(|name| name.trim().to_owned()),
            player: None,
        };
        for (mark, launched) in &self.programs {
            let mut processes = self.processes(mark, all).into_iter();
            let Some(thief) = processes.find(|&process| listeners::holds(process, listeners))
            else {
                continue;
            };
            let found = PortHolder { player: Some(launched.player.clone()), ..holder(thief) };
            if let Some(root) = launched.process {
                kill_tree(root.as_raw_pid().unsigned_abs());
            }
            return found;
        }
        let stranger = all.iter().find(|process| listeners::holds(process.id, listeners));
        stranger.map_or_else(PortHolder::default, |stranger| holder(stranger.id))
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
    let is_marked = |process: &Pid| {
        fs::read(format!("/proc/{process}/environ")).is_ok_and(|environment| {
            environment.split(|&byte| byte == 0).any(|line| line == needle)
        })
    };
    all().into_iter().map(|process| process.id).filter(is_marked).collect()
}

/// All programs of one manager.
pub(crate) struct ProgramPool {
    stderr: Stderr,
    /// The executable that can be a supervisor.
    supervisor: Option<PathBuf>,
    idle: Mutex<BTreeMap<String, Vec<LaunchedProgram>>>,
    ports: Mutex<BTreeSet<u16>>,
    live: Arc<Live>,
    n_launched: AtomicU64,
    stopped: AtomicBool,
}

/// Where standard error goes.
enum Stderr {
    Discard,
    Show,
    Log(PlayerLogs),
}

impl ProgramPool {
    pub(crate) fn new(stderr: PlayerStderr, supervisor: Option<PathBuf>) -> Self {
        let stderr = match stderr {
            PlayerStderr::Discard => Stderr::Discard,
            PlayerStderr::Show => Stderr::Show,
            PlayerStderr::Log(folder) => Stderr::Log(PlayerLogs::new(folder)),
        };
        Self {
            stderr,
            supervisor,
            idle: Mutex::new(BTreeMap::new()),
            ports: Mutex::new(BTreeSet::new()),
            live: Arc::default(),
            n_launched: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// A program of player `id` that no match uses, if there is one that runs.
    pub(crate) fn take_idle(&self, id: &str) -> Option<LaunchedProgram> {
        loop {
            let mut program = lock(&self.idle).get_mut(id)?.pop()?;
            if program.ended().is_none() {
                return Some(program);
            }
        }
    }

    /// Gives a program back for later matches.
    pub(crate) fn put_back(&self, id: &str, program: LaunchedProgram) {
        lock(&self.idle).entry(id.to_owned()).or_default().push(program);
    }

    /// Kills all programs, also those in use, and launches no others.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let idle = std::mem::take(&mut *lock(&self.idle));
        drop(idle);
        let in_use = lock(&self.live);
        for (mark, launched) in &in_use.programs {
            if let Some(process) = launched.process {
                kill_tree(process.as_raw_pid().unsigned_abs());
            }
            kill_marked(mark);
        }
        in_use.kill_orphans();
    }

    /// Starts the program of player `id`. Whether it listens is another question.
    pub(crate) fn launch(
        &self,
        id: &str,
        template: &str,
        limits: LaunchLimits,
    ) -> Result<LaunchedProgram, LaunchError> {
        let number = self.n_launched.fetch_add(1, Ordering::Relaxed);
        let place = Place::of(template)
            .map_err(|problem| LaunchError::Template { template: template.to_owned(), problem })?;
        let listener = self.free_port()?;
        let port = listener.local_addr().map_err(LaunchError::port)?.port();
        // Nobody but the program may take the port between now and then, if it takes
        // the socket; else we have to let it go.
        let socket = (place == Place::Socket).then(|| OwnedFd::from(listener));
        let words = words(template, place, port)?;
        let (program, arguments) = words.split_first().expect("`words` returns at least one");
        let mark = format!("{}.{}.{number}", std::process::id(), nanoseconds());
        let (stderr, log) = match &self.stderr {
            Stderr::Discard => (Stdio::null(), None),
            Stderr::Show => (Stdio::inherit(), None),
            Stderr::Log(logs) => {
                let log = logs.open(id, number);
                match log.map_err(|(path, source)| LaunchError::log(path, source))? {
                    Some(log) => (Stdio::piped(), Some(log)),
                    None => (Stdio::null(), None),
                }
            }
        };
        let mut command = match (&self.supervisor, &socket) {
            (Some(executable), _) => {
                let has_socket = socket.is_some();
                let mut command =
                    supervisor::command(executable, has_socket, &words, limits, number);
                command.stdout(Stdio::piped());
                command
            }
            (None, Some(_)) => {
                return Err(LaunchError::Template {
                    template: template.to_owned(),
                    problem: "`{socket}` needs a supervisor, and this manager has none",
                });
            }
            (None, None) if limits != LaunchLimits::NONE => {
                return Err(LaunchError::Template {
                    template: template.to_owned(),
                    problem: "`limits` need a supervisor, and this manager has none",
                });
            }
            (None, None) => {
                let mut command = Command::new(program);
                command.args(arguments).stdout(Stdio::null()).process_group(0);
                command
            }
        };
        let stdin = socket.map_or_else(Stdio::null, Stdio::from);
        command.env(MARK, &mark).stdin(stdin).stderr(stderr);
        let mut child = self.spawn(command, id, &mark).map_err(|error| match error {
            Some(source) => LaunchError::spawn(program.clone(), source),
            None => LaunchError::Stopped,
        })?;
        let log_path = log.as_ref().map(|log| log.path.clone());
        if let (Some(log), Some(stderr)) = (log, child.stderr.take()) {
            // Ends when the last descendant that holds the pipe does. Without a
            // thread to spare the log stays empty.
            let _ = thread::Builder::new()
                .name("player log".to_owned())
                .spawn(move || log.keep(stderr));
        }
        let report = child.stdout.take();
        Ok(LaunchedProgram {
            child,
            report,
            reported: String::new(),
            end: None,
            mark,
            live: Arc::clone(&self.live),
            log: log_path,
            port,
            suspect: false,
            own: BTreeSet::new(),
            impostor: None,
            next_look: Instant::now(),
            fastest_look: Duration::MAX,
        })
    }

    /// Starts a child and enters it among the live programs under one lock: every other
    /// process below us is an orphan. `Err(None)` means that the manager was stopped.
    fn spawn(
        &self,
        mut command: Command,
        id: &str,
        mark: &str,
    ) -> Result<Child, Option<io::Error>> {
        let mut live = lock(&self.live);
        if self.stopped.load(Ordering::SeqCst) {
            return Err(None);
        }
        if self.supervisor.is_some() && !live.adopts {
            live.adopts = adopt_orphans().is_ok();
        }
        let child = command.spawn().map_err(Some)?;
        let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        live.programs.insert(mark.to_owned(), LiveProgram { player: id.to_owned(), process });
        Ok(child)
    }

    /// A port that was free just now, and that no other program here was given.
    fn free_port(&self) -> Result<TcpListener, LaunchError> {
        let mut given = lock(&self.ports);
        let mut held = Vec::new();
        loop {
            let listener =
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(LaunchError::port)?;
            let port = listener.local_addr().map_err(LaunchError::port)?.port();
            if given.insert(port) {
                return Ok(listener);
            }
            held.push(listener);
            if held.len() > 1000 {
                // Ports of programs long gone may be given again.
                given.clear();
            }
        }
    }
}

fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// How a program learns where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// `{port}`: on this port.
    Port,
    /// `{socket}`: on the socket with this descriptor.
    Socket,
}

impl Place {
    fn of(template: &str) -> Result<Self, &'static str> {
        match (template.contains("{port}"), template.contains("{socket}")) {
            (_, true) => Ok(Self::Socket),
            (true, false) => Ok(Self::Port),
            (false, false) => Err("expected `{port}` where the port to listen on belongs"),
        }
    }
}

/// The words of a command line, as for a port of 0.
pub(crate) fn command_words(template: &str) -> Result<Vec<String>, LaunchError> {
    let place = Place::of(template)
        .map_err(|problem| LaunchError::Template { template: template.to_owned(), problem })?;
    words(template, place, 0)
}

/// The words of a command line, `{port}` and `{socket}` replaced. Quotes of either
/// kind keep blanks; there is no shell.
fn words(template: &str, place: Place, port: u16) -> Result<Vec<String>, LaunchError> {
    let wrong = |problem| LaunchError::Template { template: template.to_owned(), problem };
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
    let replaced = |word: &String| {
        let word = word.replace("{port}", &port.to_string());
        match place {
            Place::Port => word,
            Place::Socket => word.replace("{socket}", &supervisor::FIRST_SOCKET.to_string()),
        }
    };
    Ok(words.iter().map(replaced).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_into_words() {
        let split = |template: &str| words(template, Place::of(template).ok()?, 9147).ok();
        let strings = |words: &[&str]| Some(words.iter().map(|&word| word.to_owned()).collect());
        assert_eq!(split("./p {port}"), strings(&["./p", "9147"]));
        assert_eq!(
            split("python3 'my player.py' --port={port} \"\" a\"b c\""),
            strings(&["python3", "my player.py", "--port=9147", "", "ab c"])
        );
        assert_eq!(split("./p --fd={socket}"), strings(&["./p", "--fd=3"]));
        assert_eq!(split("./p {socket} {port}"), strings(&["./p", "3", "9147"]));
        assert_eq!(split("./p 9147"), None);
        assert_eq!(split("./p '{port}"), None);
    }

    #[test]
    fn a_program_ends_with_its_children() {
        let programs = ProgramPool::new(PlayerStderr::Discard, None);
        // A shell that leaves its process group behind in a session of its own.
        let program = programs
            .launch("p", "sh -c 'setsid sleep 1000 & exec sleep 1000 # {port}'", LaunchLimits::NONE)
            .unwrap();
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
        let programs = ProgramPool::new(PlayerStderr::Discard, None);
        let mut program = programs.launch("p", "true {port}", LaunchLimits::NONE).unwrap();
        while program.ended().is_none() {
            thread::yield_now();
        }
        programs.put_back("p", program);
        assert!(programs.take_idle("p").is_none());
        assert!(programs.launch("p", "/no/such/program {port}", LaunchLimits::NONE).is_err());
    }
}
