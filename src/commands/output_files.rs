//! Files that a command writes at its end, checked before it begins.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use results::atomic_file;

use crate::failure::Failure;

/// A file, and the option that names it.
pub(super) type Named<'a> = (&'static str, &'a Path);

/// Checks that each of `outputs` can be written, and is neither another output nor one of
/// `inputs`, which the command reads.
///
/// # Errors
/// If not: hours of work would be lost, or a file of the user.
pub(super) fn check(outputs: &[Named<'_>], inputs: &[Named<'_>]) -> Result<(), Failure> {
    for (at, (option, path)) in outputs.iter().enumerate() {
        let is_same = |(_, other): &&Named<'_>| place(other) == place(path);
        if let Some((other, _)) = outputs[..at].iter().chain(inputs).find(is_same) {
            let path = path.display();
            return Err(Failure::usage(anyhow!(
                "{option} {path}: {other} is the same file; give another name"
            )));
        }
        atomic_file::check(path)
            .with_context(|| format!("{option}: cannot write `{}`", path.display()))
            .map_err(Failure::unwritable)?;
    }
    Ok(())
}

/// The file that a path leads to, as far as it is there.
fn place(path: &Path) -> PathBuf {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(|| folder(path)).unwrap_or_else(|| path.to_owned())
}
