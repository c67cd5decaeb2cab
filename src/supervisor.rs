//! A process of our own between us and each program that we launch.
//!
//! ```text
//! gamemaster -> supervisor -> program -> whatever the program starts
//! ```
//!
//! The supervisor adopts what the program leaves behind, so that all of it stays
//! below the supervisor, and kills it when the program ends, and also when we do,
//! however that happens. It reports on its standard output how the program ended,
//! a line each: `failed ERRNO` if it could not be started, `limit NAME=N` if it was killed
//! for going beyond a limit, `ended STATUS` as `wait` gives it.
//!
//! The program itself is entered by a second step of the same executable: only a
//! process can ask for a signal at its own parent's death, and only it knows its
//! own number, by which sockets are handed over.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, pidfd_open,
    set_parent_process_death_signal, setrlimit, wait,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::launch_limits::{ExceededLimit, LaunchLimits};
use crate::process_tree::{
    adopt_orphans, all, descendants, kill_descendants, memory_of, most_cores_of,
};

/// The hidden command that runs a supervisor.
pub const COMMAND: &str = "supervise";

/// The executable of this process, also if it was replaced since it started.
pub const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// The descriptor of a socket that is handed over, by the convention of systemd.
pub(crate) const FIRST_SOCKET: i32 = 3;

/// How often to look at what a limited program uses.
const LIMITS_LOOK: Duration = Duration::from_millis(50);

/// How many times its limit of memory a process may reserve.
const MAX_RESERVED: u64 = 2;

/// How often to look for the parent where the kernel does not signal its end.
const LOOK: Duration = Duration::from_millis(100);

/// Exit code if the program could not be started, as shells have it.
const NOT_STARTED: u8 = 127;

/// What a supervisor is to do.
#[derive(Clone, Debug)]
pub struct Supervised {
    /// The process that must live for the program to live.
    pub parent: i32,
    /// Standard input is a socket that listens, for the program.
    pub socket: bool,
    /// Enter the program, instead of supervising it.
    pub enter: bool,
    /// What the program may use.
    pub limits: LaunchLimits,
    /// The first of its cores, counted in those of this process.
    pub first_cpu: u32,
    /// The program and its arguments.
    pub words: Vec<String>,
}

/// How a supervised program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// It could not be started, for this reason.
    Failed(i32),
    /// It was killed, since it went beyond a limit.
    Exceeded(ExceededLimit),
    /// It ended so.
    Ended(ExitStatus),
}

impl Report {
    /// The first report in a supervisor's output, if there is one.
    pub(crate) fn read(words: &str) -> Option<Self> {
        words.lines().find_map(|line| {
            let (word, number) = line.split_once(' ')?;
            if word == "limit" {
                return number.parse().ok().map(Self::Exceeded);
            }
            let number = number.parse().ok()?;
            match word {
                "failed" => Some(Self::Failed(number)),
                "ended" => {
                    Some(Self::Ended(std::os::unix::process::ExitStatusExt::from_raw(number)))
                }
                _ => None,
            }
        })
    }
}

/// The command that runs `words` under a supervisor, within `limits`. Programs that are limited
/// to some cores get them in turn, by their `number`.
pub(crate) fn command(
    executable: &std::path::Path,
    socket: bool,
    words: &[String],
    limits: LaunchLimits,
    number: u64,
) -> Command {
    let cpus = u64::from(limits.cpus.unwrap_or(0));
    step(
        executable,
        &Supervised {
            parent: getpid().as_raw_pid(),
            socket,
            enter: false,
            limits,
            first_cpu: u32::try_from(number * cpus % (1 << 20)).expect("it is a remainder"),
            words: words.to_vec(),
        },
    )
}

fn step(executable: &std::path::Path, supervised: &Supervised) -> Command {
    let mut command = Command::new(executable);
    command.arg0("gamemaster").arg(COMMAND).arg("--parent").arg(supervised.parent.to_string());
    if supervised.socket {
        command.arg("--socket");
    }
    if supervised.enter {
        command.arg("--enter");
    }
    let LaunchLimits { memory, processes, cpus } = supervised.limits;
    let limits = [
        ("--memory", memory),
        ("--processes", processes.map(u64::from)),
        ("--cpus", cpus.map(u64::from)),
        ("--first-cpu", cpus.map(|_| supervised.first_cpu.into())),
    ];
    for (option, value) in limits {
        command.args(value.map(|value| format!("{option}={value}")));
    }
    command.arg("--").args(&supervised.words).process_group(0);
    command
}

/// Carries out one step; returns the exit code, if the step does not become the
/// program.
#[must_use]
pub fn run(supervised: &Supervised) -> u8 {
    let Some(parent) = Pid::from_raw(supervised.parent) else { return NOT_STARTED };
    if supervised.enter { enter(supervised, parent) } else { supervise(supervised, parent) }
}

fn supervise(supervised: &Supervised, parent: Pid) -> u8 {
    // If the kernel does not support it, orphans go to another ancestor.
    let _ = adopt_orphans();
    // The program may have stopped us: the end of our parent wakes us.
    let _ = set_parent_process_death_signal(Some(Signal::CONT));
    let parent_end = pidfd_open(parent, PidfdFlags::empty()).ok();
    if getppid() != Some(parent) {
        return NOT_STARTED;
    }
    static STARTED: AtomicBool = AtomicBool::new(false);
    if let Err(error) = give_up_cores(supervised) {
        return report("failed", error.raw_os_error());
    }
    let watch = move || {
        wait_for_end(parent, parent_end.as_ref());
        loop {
            let started = STARTED.load(Ordering::SeqCst);
            kill_descendants(getpid());
            if started {
                leave();
            }
            thread::sleep(LOOK);
        }
    };
    if thread::Builder::new().name("parent".to_owned()).spawn(watch).is_err() {
        return report("failed", Errno::AGAIN.raw_os_error());
    }
    let entered = Supervised { parent: getpid().as_raw_pid(), enter: true, ..supervised.clone() };
    let child = step(std::path::Path::new(OWN_EXECUTABLE), &entered).spawn();
    STARTED.store(true, Ordering::SeqCst);
    let child = match child {
        Ok(child) => child.id(),
        Err(error) => return report("failed", error.raw_os_error().unwrap_or_default()),
    };
    if supervised.limits != LaunchLimits::NONE {
        let limits = supervised.limits;
        let watch = move || watch_limits(limits);
        if thread::Builder::new().name("limits".to_owned()).spawn(watch).is_err() {
            kill_descendants(getpid());
            return report("failed", Errno::AGAIN.raw_os_error());
        }
    }
    let status = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((id, status))) if u32::try_from(id.as_raw_pid()) == Ok(child) => break status,
            // An orphan, or a signal.
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return report("failed", error.raw_os_error()),
        }
    };
    kill_descendants(getpid());
    report("ended", status.as_raw())
}

/// Looks again and again at what the program and its processes use. If it is too much, reports
/// that and kills them.
fn watch_limits(limits: LaunchLimits) {
    loop {
        thread::sleep(LIMITS_LOOK);
        let processes = descendants(getpid(), &all());
        let cores = || most_cores_of(&processes);
        let memory = || memory_of(&processes, limits.memory.unwrap_or(u64::MAX));
        if let Some(exceeded) = limits.exceeded(processes.len(), cores, memory) {
            report("limit", exceeded);
            kill_descendants(getpid());
            return;
        }
    }
}

/// Reports how the program ended. The reader may have ended before.
fn report(word: &str, number: impl Display) -> u8 {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{word} {number}").and_then(|()| stdout.flush());
    0
}

/// Returns when the parent has ended.
fn wait_for_end(parent: Pid, end: Option<&OwnedFd>) {
    while getppid() == Some(parent) {
        match end {
            Some(end) => drop(poll(&mut [PollFd::new(end, PollFlags::IN)], None)),
            None => thread::sleep(LOOK),
        }
    }
}

#[expect(clippy::exit, reason = "the parent is gone, and the other thread waits for the child")]
fn leave() -> ! {
    std::process::exit(0);
}

/// Becomes the program.
fn enter(supervised: &Supervised, parent: Pid) -> u8 {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid() != Some(parent) {
        return NOT_STARTED;
    }
    let Some((program, arguments)) = supervised.words.split_first() else { return NOT_STARTED };
    // Beyond all that the program may have been handed. It closes when the program begins.
    let Ok(mut words) =
        rustix::io::fcntl_dupfd_cloexec(io::stdout(), FIRST_SOCKET + 10).map(std::fs::File::from)
    else {
        return NOT_STARTED;
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    let handed_over = if supervised.socket { hand_over(&mut command) } else { Ok(()) };
    if let Err(error) = handed_over.and_then(|()| Ok(limit_this_process(supervised)?)) {
        let _ = writeln!(words, "failed {}", error.raw_os_error().unwrap_or_default());
        return NOT_STARTED;
    }
    let error = command.exec();
    let _ = writeln!(words, "failed {}", error.raw_os_error().unwrap_or_default());
    NOT_STARTED
}

/// Sets the limits that the kernel enforces for a process and what it starts.
fn limit_this_process(supervised: &Supervised) -> rustix::io::Result<()> {
    if let Some(memory) = supervised.limits.memory {
        // A process may reserve memory that it never uses. This stops one that takes all of it
        // between two looks of the supervisor.
        let most = memory.checked_mul(MAX_RESERVED);
        setrlimit(Resource::Data, Rlimit { current: most, maximum: most })?;
    }
    Ok(())
}

/// Leaves this process, and what it starts, the cores that the program may run on.
fn give_up_cores(supervised: &Supervised) -> rustix::io::Result<()> {
    if let Some(n_cpus) = supervised.limits.cpus {
        let own = sched_getaffinity(None)?;
        let own: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| own.is_set(cpu)).collect();
        let mut cpus = CpuSet::new();
        for number in 0..n_cpus as usize {
            cpus.set(own[(supervised.first_cpu as usize + number) % own.len()]);
        }
        sched_setaffinity(None, &cpus)?;
    }
    Ok(())
}

/// Gives standard input to the program as its first socket, in place of a file that whoever
/// started gamemaster may have left open there.
fn hand_over(command: &mut Command) -> io::Result<()> {
    let parent_fd = io::stdin().as_fd().try_clone_to_owned()?;
    command
        .fd_mappings(vec![FdMapping { parent_fd, child_fd: FIRST_SOCKET }])
        .expect("a single descriptor collides with none");
    command.env("LISTEN_FDS", "1").env("LISTEN_PID", getpid().as_raw_pid().to_string());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_by_this_table() {
        for (words, code) in [("ended 0\n", Some(0)), ("ended 256\n", Some(1)), ("ended 9\n", None)]
        {
            let Some(Report::Ended(status)) = Report::read(words) else { panic!("{words}") };
            assert_eq!(status.code(), code);
        }
        assert_eq!(Report::read("failed 2\nended 32512\n"), Some(Report::Failed(2)));
        let exceeded = Report::Exceeded(ExceededLimit::Processes(3));
        assert_eq!(Report::read("limit processes=3\nended 9\n"), Some(exceeded));
        for words in ["", "ended", "ended it", "limit it", "what"] {
            assert_eq!(Report::read(words), None, "{words}");
        }
    }
}
