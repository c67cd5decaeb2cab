//! The processes below another one, found in `/proc`, and how they are ended.
//!
//! A process whose parent ends is given to the nearest ancestor that asked for
//! orphans ([`adopt_orphans`]), so that below such a process nothing gets lost,
//! whatever session, group and environment it chose.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper};
use rustix::thread::sched_getaffinity;

/// Maximum number of looks for processes that are left. New ones appear as long as the old ones
/// are not all dead.
const MAX_PASSES: u32 = 500;

/// Looks one after the other that find nothing left.
const EMPTY_LOOKS: u32 = 3;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// How the names of files begin that are in memory.
const MEMORY_FILES: [&str; 2] = ["/memfd:", "/dev/shm/"];

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: Pid,
    parent: i32,
    group: i32,
    /// It ended, and its parent has not noticed.
    is_zombie: bool,
}

/// From now on, orphans below this process become its children.
///
/// # Errors
/// If the kernel does not know that.
pub(crate) fn adopt_orphans() -> rustix::io::Result<()> {
    set_child_subreaper(Some(getpid()))
}

/// All processes that run now; empty where there is no `/proc`.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let process = |name: &str| {
        let id = Pid::from_raw(name.parse().ok()?)?;
        read(id, &fs::read_to_string(format!("/proc/{name}/stat")).ok()?)
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| process(entry.file_name().to_str()?))
        .collect()
}

/// A process by its `/proc/PID/stat`. The second field, the name, may hold anything.
fn read(id: Pid, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Process { id, parent, group, is_zombie })
}

/// The children of `root`, their children, and so on, as far as they run.
pub(crate) fn descendants(root: Pid, all: &[Process]) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for &process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = children.remove(&root.as_raw_pid()).unwrap_or_default();
    let mut at = 0;
    while at < found.len() {
        found.extend(children.remove(&found[at].id.as_raw_pid()).unwrap_or_default());
        at += 1;
    }
    found.retain(|process| !process.is_zombie);
    found
}

/// The most cores that a thread of these processes may run on.
pub(crate) fn most_cores_of(processes: &[Process]) -> u32 {
    let threads = processes.iter().flat_map(|process| {
        let threads = fs::read_dir(format!("/proc/{}/task", process.id.as_raw_pid()));
        threads.into_iter().flatten().flatten()
    });
    let cores = threads.filter_map(|thread| {
        let id = thread.file_name().to_str()?.parse().ok()?;
        Some(sched_getaffinity(Pid::from_raw(id)).ok()?.count())
    });
    cores.max().unwrap_or(0)
}

/// Bytes of memory that processes hold together, with the files in memory that they have open.
/// Pages that they share count once, but only if the sum would be more than `limit` otherwise,
/// since that takes longer.
pub(crate) fn memory_of(processes: &[Process], limit: u64) -> u64 {
    let file = |process: &Process, name: &str| {
        fs::read_to_string(format!("/proc/{}/{name}", process.id.as_raw_pid())).ok()
    };
    let resident = |process: &Process| {
        let pages: u64 = file(process, "statm")?.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    };
    // A process's share of all its pages, and of those that are of files in memory.
    let own_share = |process: &Process| {
        let rollup = file(process, "smaps_rollup")?;
        let bytes = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
        };
        Some((bytes("Pss:")?, bytes("Pss_Shmem:").unwrap_or(0)))
    };
    let open = open_memory_files(processes);
    let sum = open + processes.iter().filter_map(resident).sum::<u64>();
    if sum <= limit {
        return sum;
    }
    let share = |process| own_share(process).or_else(|| Some((resident(process)?, 0)));
    let shares = processes.iter().filter_map(share);
    let add = |(all, mapped), (pages, files)| (all + pages, mapped + files);
    let (all, mapped) = shares.fold((0, 0), add);
    all - mapped + mapped.max(open)
}

/// Bytes of the files in memory that processes have open, each file once.
fn open_memory_files(processes: &[Process]) -> u64 {
    let mut sizes = BTreeMap::new();
    for process in processes {
        let folder = format!("/proc/{}/fd", process.id.as_raw_pid());
        for open in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(target) = fs::read_link(open.path()) else { continue };
            let target = target.as_os_str().as_encoded_bytes();
            if MEMORY_FILES.iter().any(|start| target.starts_with(start.as_bytes()))
                && let Ok(file) = fs::metadata(open.path())
            {
                sizes.insert((file.dev(), file.ino()), file.blocks() * 512);
            }
        }
    }
    sizes.values().sum()
}

/// Kills all descendants of `root`, until none remains.
pub(crate) fn kill_descendants(root: Pid) {
    kill_all(|all| descendants(root, all));
}

/// Kills our own children that `is_known` does not know, and all that is below
/// them: orphans that were adopted.
pub(crate) fn kill_orphans(is_known: impl Fn(Pid) -> bool) {
    let me = getpid();
    let orphans = |all: &[Process]| {
        let mut found: Vec<Process> = Vec::new();
        for process in all.iter().filter(|process| process.parent == me.as_raw_pid()) {
            if !is_known(process.id) {
                found.extend(descendants(process.id, all));
                found.extend((!process.is_zombie).then_some(process));
            }
        }
        found
    };
    kill_all(orphans);
    // They ended as children of ours, and would stay zombies.
    for process in all().iter().filter(|process| process.parent == me.as_raw_pid()) {
        if process.is_zombie && !is_known(process.id) {
            let _ =
                rustix::process::waitpid(Some(process.id), rustix::process::WaitOptions::NOHANG);
        }
    }
}

fn kill_all(find: impl Fn(&[Process]) -> Vec<Process>) {
    let mut n_empty = 0;
    for _ in 0..MAX_PASSES {
        let all = all();
        let found = find(&all);
        // A process that begins and ends others while it is listed may be missed once.
        n_empty = if found.is_empty() { n_empty + 1 } else { 0 };
        if n_empty == EMPTY_LOOKS {
            return;
        }
        for group in own_groups(&found, &all) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for process in &found {
            let _ = kill_process(process.id, Signal::KILL);
        }
        thread::sleep(PAUSE);
    }
}

/// Process groups all of whose members are in `found`. A signal to a group misses
/// no process that is just being made.
fn own_groups(found: &[Process], all: &[Process]) -> Vec<Pid> {
    let ids: BTreeSet<i32> = found.iter().map(|process| process.id.as_raw_pid()).collect();
    let mut groups: BTreeSet<i32> = found.iter().map(|process| process.group).collect();
    for process in all.iter().filter(|process| !process.is_zombie) {
        if !ids.contains(&process.id.as_raw_pid()) {
            groups.remove(&process.group);
        }
    }
    groups.into_iter().filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: i32, parent: i32, group: i32) -> Process {
        Process { id: Pid::from_raw(id).unwrap(), parent, group, is_zombie: false }
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let id = Pid::from_raw(17).unwrap();
        let found = read(id, "17 (a) Z 3 (b\n) S 5 9 9 0 -1").unwrap();
        assert_eq!(found, process(17, 5, 9));
        assert!(read(id, "17 (a) Z 5 9 9").unwrap().is_zombie);
        assert_eq!(read(id, "17 (a"), None);
    }

    /// Also those that no process has mapped; each once.
    #[test]
    fn files_in_memory_count() {
        use std::io::Write as _;
        let own = Process { id: getpid(), ..process(1, 0, 0) };
        let before = open_memory_files(&[own]);
        let made = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = fs::File::from(made);
        let again = file.try_clone().unwrap();
        file.write_all(&[1; 8 << 20]).unwrap();
        let held = open_memory_files(&[own, own]) - before;
        assert!((8 << 20..16 << 20).contains(&held), "{held}");
        assert!(memory_of(&[own], 0) >= 8 << 20);
        drop((file, again));
        assert!(open_memory_files(&[own]) < before + (8 << 20));
    }

    #[test]
    fn what_is_below_is_found_and_no_group_is_shared() {
        let all = [
            process(1, 0, 1),
            process(7, 3, 7),
            process(3, 1, 3),
            process(9, 7, 1),
            process(4, 1, 3),
        ];
        let root = Pid::from_raw(3).unwrap();
        let found = descendants(root, &all);
        let ids: Vec<i32> = found.iter().map(|process| process.id.as_raw_pid()).collect();
        assert_eq!(ids, [7, 9]);
        // Process 9 joined the group of process 1, which is none of ours.
        let groups: Vec<i32> = own_groups(&found, &all).into_iter().map(Pid::as_raw_pid).collect();
        assert_eq!(groups, [7]);
    }
}
