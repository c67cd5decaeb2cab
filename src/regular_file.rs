//! Files that are read as a whole, up to a size.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// What there is under a path.
pub(crate) enum FileContents {
    /// All bytes of a file.
    Whole(Vec<u8>),
    /// A file that is longer than allowed.
    TooLong {
        /// Its length.
        n_bytes: u64,
    },
    /// A named pipe or a device: opening one waits for a writer, and reading the other need
    /// not end.
    NotAFile,
}

/// Reads a file of at most `max_bytes`.
///
/// # Errors
/// If it cannot be read, or is a folder.
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<FileContents> {
    let metadata = fs::metadata(path)?;
    // Reading a folder is an error that says so.
    if !metadata.is_file() && !metadata.is_dir() {
        return Ok(FileContents::NotAFile);
    }
    let mut bytes = Vec::new();
    // One more byte shows that the limit was passed.
    File::open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    let n_read = bytes.len() as u64;
    Ok(match n_read > max_bytes {
        true => FileContents::TooLong { n_bytes: metadata.len().max(n_read) },
        false => FileContents::Whole(bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "12345").unwrap();
        assert!(matches!(read(&file, 5).unwrap(), FileContents::Whole(bytes) if bytes == b"12345"));
        assert!(matches!(read(&file, 4).unwrap(), FileContents::TooLong { n_bytes: 5 }));
        assert!(matches!(read(Path::new("/dev/zero"), 4).unwrap(), FileContents::NotAFile));
        assert!(read(folder.path(), 5).is_err());
        assert!(read(&folder.path().join("nothing"), 5).is_err());
    }
}
