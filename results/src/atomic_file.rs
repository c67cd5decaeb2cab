//! Files that are complete or not there at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes gathered before they are handed to the system.
const WRITE_BUFFER: usize = 256 * 1024;

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
pub struct WriteError {
    path: PathBuf,
    source: io::Error,
}

/// Writes a file of these contents, whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(contents))
}

/// Writes a file, whole or not at all. `fill` writes its contents.
///
/// # Errors
/// If it cannot be written, or `fill` fails.
pub fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let written = write_whole::<_, WriteError>(path, |file| Ok(fill(file)?));
    written.map_err(|error| error.source)
}

/// Checks that a file of this name can be written later, without changing what is there.
///
/// # Errors
/// If it cannot.
pub fn check(path: &Path) -> io::Result<()> {
    let temporary = beside(&target(path)?);
    drop(own(&temporary)?);
    std::fs::remove_file(temporary)
}

/// The file that is replaced: behind symbolic links, and no device or folder.
fn target(path: &Path) -> io::Result<PathBuf> {
    // A link to an open pipe, such as `/dev/stdout`, has no path behind it.
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => std::fs::canonicalize(path),
        Ok(_) => Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match std::fs::symlink_metadata(path) {
                Ok(_) => Err(io::Error::other("it is a symbolic link to a file that is missing")),
                Err(_) => Ok(path.to_owned()),
            }
        }
        Err(error) => Err(error),
    }
}

/// The name under which a file is written.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file under another name and renames it when it is on disk, so that
/// a file of that name is never half-written. What was there before is replaced.
/// Returns what `fill` returns.
pub(crate) fn write_whole<T, E: From<WriteError>>(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<T, FillError<E>>,
) -> Result<T, E> {
    let failed = |source| WriteError { path: path.into(), source };
    let path = &target(path).map_err(failed)?;
    let temporary = beside(path);
    let file = own(&temporary).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(WRITE_BUFFER, file);
    let filled = fill(&mut writer).and_then(|value| {
        let file = writer.into_inner().map_err(|error| FillError::Io(error.into_error()))?;
        file.sync_data()?;
        std::fs::rename(&temporary, path)?;
        Ok(value)
    });
    if filled.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&temporary);
    }
    let value = filled.map_err(|error| match error {
        FillError::Io(source) => failed(source).into(),
        FillError::Other(error) => error,
    })?;
    sync_folder(path);
    Ok(value)
}

/// Makes the name of a new file as durable as its contents. Not every system
/// can; then a crash may lose a run that has just begun.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}

/// An empty file at `path` that nobody else writes: whoever writes it already is
/// waited for, and then has renamed it or is gone.
fn own(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.lock() {
            // Some file systems have no locks.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
            _ => {}
        }
        let is_it = |there: std::fs::Metadata| {
            file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
        };
        if std::fs::metadata(path).is_ok_and(is_it) {
            file.set_len(0)?;
            return Ok(file);
        }
    }
}

/// Why [`write_whole`]'s closure could not fill the file.
pub(crate) enum FillError<E> {
    /// Writing failed.
    Io(io::Error),
    /// What is to be written could not be had.
    Other(E),
}

impl<E> From<io::Error> for FillError<E> {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let refused = replace(&link, b"text").unwrap_err().to_string();
        assert!(refused.contains("a file that is missing"), "{refused}");
        std::fs::write(&file, b"old").unwrap();
        replace(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        // The other end of a pipe is not a file that could be replaced.
        let (_reader, writer) = std::io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(format!("/proc/self/fd/{number}"), &link).unwrap();
        let refused = replace(&link, b"text").unwrap_err().to_string();
        assert!(refused.contains("not a regular file") && link.is_symlink(), "{refused}");
    }

    /// Many write the same file at once: it is one writer's whole text at any time,
    /// and nobody fails.
    #[test]
    fn writers_at_once_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let barrier = Barrier::new(8);
        thread::scope(|scope| {
            for writer in 0..8_u8 {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for _ in 0..20 {
                        let letter = [b'a' + writer; 1000];
                        let written = write_whole::<_, WriteError>(path, |file| {
                            (0..50).try_for_each(|_| file.write_all(&letter))?;
                            Ok(())
                        });
                        written.unwrap();
                        let text = std::fs::read(path).unwrap();
                        assert_eq!(text.len(), 50_000);
                        assert!(text.iter().all(|byte| *byte == text[0]));
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
