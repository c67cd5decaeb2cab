//! Identifies launched programs by their content: a program that was rebuilt under the same
//! name is another player, and its old matches do not count.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fingerprint::Fingerprint;
use crate::manager::{PlayerConfig, PlayerSource, command_words};
use crate::spec::Spec;

/// Adds the content of the files that command lines name to what identifies their
/// players.
pub(super) fn identify(spec: &mut Spec) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for player in &mut spec.players {
        let config = &player.config;
        if let PlayerSource::Command { template, .. } = &config.source {
            let hash = program_hash(&config.hash, template, &path);
            player.config = Arc::new(PlayerConfig { hash, ..PlayerConfig::clone(config) });
        }
    }
}

/// A hash of a player and of the files its command line names. What cannot be
/// read is left out: whether it can be launched is seen when it is.
fn program_hash(player: &str, template: &str, path: &OsStr) -> String {
    let mut hash = Fingerprint::of("launched player").text(player);
    for file in files(template, path) {
        let content = File::open(&file).and_then(|mut file| {
            Fingerprint::of("content").content(&mut file).map(|content| content.hex(32))
        });
        if let Ok(content) = content {
            hash = hash.text(&file.to_string_lossy()).text(&content);
        }
    }
    hash.hex(16)
}

/// The files that a command line names: the program, looked up as the system does,
/// and arguments that are files, also behind `--option=`.
fn files(template: &str, path: &OsStr) -> Vec<PathBuf> {
    let Ok(words) = command_words(template) else { return vec![] };
    let Some((program, arguments)) = words.split_first() else { return vec![] };
    let program = if program.contains('/') {
        Some(PathBuf::from(program))
    } else {
        std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
    };
    let value = |word: &String| word.split_once('=').map(|(_, value)| PathBuf::from(value));
    let arguments = arguments.iter().flat_map(|word| [Some(PathBuf::from(word)), value(word)]);
    let named = [program].into_iter().chain(arguments).flatten();
    // A pipe would never end.
    named.filter(|file: &PathBuf| Path::is_file(file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_what_its_files_hold() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(file(name), text).unwrap();
        write("python", "an interpreter");
        write("player.py", "one");
        write("rules", "some");
        let path = folder.path().as_os_str();
        let script = file("player.py").display().to_string();
        let rules = file("rules").display().to_string();
        let template = format!("python '{script}' --rules={rules} --port {{port}} no_file");
        let hash = || program_hash("head", &template, path);
        let first = hash();
        assert_eq!(hash(), first);
        for changed in ["python", "player.py", "rules"] {
            let old = std::fs::read_to_string(file(changed)).unwrap();
            write(changed, "another");
            assert_ne!(hash(), first, "{changed}");
            write(changed, &old);
        }
        assert_eq!(hash(), first);
        assert_ne!(program_hash("base", &template, path), first);
        // What is not there is found missing when it is launched.
        assert_eq!(files("./nothing --port {port}", path), Vec::<PathBuf>::new());
        assert_eq!(files("no port", path), Vec::<PathBuf>::new());
    }
}
