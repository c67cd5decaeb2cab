//! A process of our own between us and each program that we launch.
//!
//! ```text
//! gamemaster -> supervisor -> program -> whatever the program starts
//! ```
//!
//! The supervisor adopts what the program leaves behind, so that all of it stays
//! below the supervisor, and kills it when the program ends, and also when we do,
//! however that happens. It reports on its standard output how the program ended,
//! a line each: `failed ERRNO` if it could not be started, `ended STATUS` as
//! `wait` gives it.
//!
//! The program itself is entered by a second step of the same executable: only a
//! process can ask for a signal at its own parent's death, and only it knows its
//! own number, by which sockets are handed over.

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
    Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, pidfd_open,
    set_parent_process_death_signal, wait,
};

use crate::process_tree::{adopt_orphans, kill_descendants};

/// The hidden command that runs a supervisor.
pub const COMMAND: &str = "supervise";

/// The executable of this process, also if it was replaced since it started.
pub const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// The descriptor of a socket that is handed over, by the convention of systemd.
pub(crate) const FIRST_SOCKET: i32 = 3;

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
    /// The program and its arguments.
    pub words: Vec<String>,
}

/// How a supervised program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// It could not be started, for this reason.
    Failed(i32),
    /// It ended so.
    Ended(ExitStatus),
}

impl Report {
    /// The first report in a supervisor's output, if there is one.
    pub(crate) fn read(words: &str) -> Option<Self> {
        words.lines().find_map(|line| {
            let (word, number) = line.split_once(' ')?;
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

/// The command that runs `words` under a supervisor.
pub(crate) fn command(executable: &std::path::Path, socket: bool, words: &[String]) -> Command {
    step(
        executable,
        &Supervised { parent: getpid().as_raw_pid(), socket, enter: false, words: words.to_vec() },
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

/// Reports how the program ended. The reader may have ended before.
fn report(word: &str, number: i32) -> u8 {
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
    if supervised.socket
        && let Err(error) = hand_over(&mut command)
    {
        let _ = writeln!(words, "failed {}", error.raw_os_error().unwrap_or_default());
        return NOT_STARTED;
    }
    let error = command.exec();
    let _ = writeln!(words, "failed {}", error.raw_os_error().unwrap_or_default());
    NOT_STARTED
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
        for words in ["", "ended", "ended it", "what"] {
            assert_eq!(Report::read(words), None, "{words}");
        }
    }
}
