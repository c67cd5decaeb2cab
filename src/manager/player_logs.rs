//! The standard error of launched players, in files of limited size.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::locking::lock;

/// Maximum number of bytes that are kept of what one launched program writes.
const MAX_LAUNCH_BYTES: u64 = 4 << 20;

/// Maximum number of bytes that are kept of all programs of one player, over all resumptions.
const MAX_PLAYER_BYTES: u64 = 16 << 20;

/// The logs of one run.
#[derive(Debug)]
pub(super) struct PlayerLogs {
    folder: PathBuf,
    /// Bytes that are left for each player, by its name in file names.
    left: Mutex<BTreeMap<String, Arc<AtomicU64>>>,
}

/// The log of one launched program.
#[derive(Debug)]
pub(super) struct PlayerLog {
    /// Where it is.
    pub(super) path: PathBuf,
    file: File,
    left: Arc<AtomicU64>,
}

impl PlayerLogs {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, left: Mutex::default() }
    }

    /// A log for a program of player `id`, launched as this number; none if the
    /// player has written its share.
    ///
    /// # Errors
    /// The file that cannot be made, and why.
    pub(super) fn open(
        &self,
        id: &str,
        number: u64,
    ) -> Result<Option<PlayerLog>, (PathBuf, io::Error)> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = id.chars().map(plain).collect();
        let left = {
            let mut left = lock(&self.left);
            let all = || MAX_PLAYER_BYTES.saturating_sub(written(&self.folder, &name));
            Arc::clone(left.entry(name.clone()).or_insert_with(|| Arc::new(all().into())))
        };
        let path = self.folder.join(format!("{name}-{number}.stderr"));
        let opened = fs::create_dir_all(&self.folder).and_then(|()| {
            if left.load(Ordering::Relaxed) == 0 {
                return Ok(None);
            }
            OpenOptions::new().create(true).append(true).open(&path).map(Some)
        });
        match opened {
            Ok(file) => Ok(file.map(|file| PlayerLog { path, file, left })),
            Err(error) => Err((path, error)),
        }
    }
}

/// Bytes in the logs of a player that are there already.
fn written(folder: &Path, name: &str) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let is_of_player = |file: &str| {
        let number = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        let number = number.and_then(|rest| rest.strip_suffix(".stderr"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(is_of_player))
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum()
}

impl PlayerLog {
    /// Copies the output of a program until it ends, and drops what exceeds the limit: no
    /// player may fill the disk, or hang because its output is not read.
    pub(super) fn keep(self, stderr: impl Read) {
        keep(stderr, self.file, &self.left, MAX_LAUNCH_BYTES);
    }
}

fn keep(mut stderr: impl Read, mut log: impl Write, left: &AtomicU64, max_bytes: u64) {
    let mut here = max_bytes;
    let mut buffer = [0; 8192];
    let mut was_cut = false;
    loop {
        let n = match stderr.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let wanted = (n as u64).min(here);
        let take = |left: u64| Some(left.saturating_sub(wanted));
        let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
        let granted = wanted.min(before);
        here -= granted;
        // A log that cannot be written is no reason to let the program hang.
        let kept = usize::try_from(granted).unwrap_or(n);
        let _ = log.write_all(&buffer[..kept]);
        if kept < n && !was_cut {
            was_cut = true;
            here = 0;
            let what =
                if granted == before && before < wanted { "this player's logs" } else { "the log" };
            let _ = writeln!(log, "\n[what followed was dropped: {what} may not grow any more]");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str, left: &AtomicU64) -> String {
        let mut log = Vec::new();
        keep(text.as_bytes(), &mut log, left, 10);
        String::from_utf8(log).unwrap()
    }

    #[test]
    fn a_log_is_cut_where_it_grows_too_large() {
        let left = AtomicU64::new(100);
        assert_eq!(kept("ten bytes.", &left), "ten bytes.");
        let cut = kept("ten bytes. And more.", &left);
        assert!(cut.starts_with("ten bytes.\n[what followed was dropped: the log"), "{cut}");
        assert_eq!(left.load(Ordering::Relaxed), 80);
    }

    #[test]
    fn all_logs_of_a_player_are_cut_together() {
        let left = AtomicU64::new(15);
        assert_eq!(kept("ten bytes.", &left), "ten bytes.");
        let cut = kept("ten bytes.", &left);
        assert!(cut.starts_with("ten b\n[what followed was dropped: this player"), "{cut}");
        assert_eq!(left.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_an_earlier_run_wrote_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, n_bytes: u64| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_len(n_bytes).unwrap();
        };
        write("p-0.stderr", MAX_PLAYER_BYTES - 3);
        // Of a player called `p-1`.
        write("p-1-0.stderr", MAX_PLAYER_BYTES);
        let logs = PlayerLogs::new(folder.path().to_owned());
        let log = logs.open("p", 0).unwrap().unwrap();
        assert_eq!(log.left.load(Ordering::Relaxed), 3);
        assert!(logs.open("p-1", 7).unwrap().is_none());
    }
}
