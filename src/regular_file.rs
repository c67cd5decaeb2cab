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

/// Maximum size of a text that a person writes.
const MAX_TEXT: u64 = 16 << 20;

/// Reads a text that a person writes: a spec, a query. It may come through a named pipe.
///
/// # Errors
/// If it cannot be read, is no UTF-8, or has more than 16 MiB (a device may be endless).
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    read_text_of(File::open(path)?)
}

/// As [`read_text`], from what is open.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn read_text_of(source: impl io::Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One more byte shows that the limit was passed.
    source.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
    let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    if bytes.len() as u64 > MAX_TEXT {
        return wrong(format!("it has more than {} MiB", MAX_TEXT >> 20));
    }
    String::from_utf8(bytes).or_else(|_| wrong("it is not UTF-8 text".to_owned()))
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

    #[test]
    fn texts_have_an_end_and_are_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "a\n").unwrap();
        assert_eq!(read_text(&file).unwrap(), "a\n");
        fs::write(&file, [b'a', 0xFF]).unwrap();
        assert_eq!(read_text(&file).unwrap_err().to_string(), "it is not UTF-8 text");
        let endless = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(endless.to_string(), "it has more than 16 MiB");
        assert!(read_text(&folder.path().join("nothing")).is_err());
    }
}
