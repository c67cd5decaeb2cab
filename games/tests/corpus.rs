//! The corpus of published rulesheets, where `GAMEMASTER_CORPUS` names one, has
//! to be there: the checks against it go through what they find, and would be
//! content with nothing.

#![expect(clippy::disallowed_methods, reason = "the corpus lies in files")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

/// What a folder lacks to be a corpus.
fn lacks(corpus: &Path) -> Option<String> {
    for (folder, ending) in [("rulesheets", ".kif"), ("traces", ".jsonl.gz")] {
        let path = corpus.join(folder);
        let Ok(entries) = std::fs::read_dir(&path) else {
            return Some(format!("{} is no folder that can be read", path.display()));
        };
        let mut names = entries.map(|entry| entry.unwrap().file_name());
        if !names.any(|name| name.to_string_lossy().ends_with(ending)) {
            return Some(format!("{} holds no file *{ending}", path.display()));
        }
    }
    None
}

#[test]
fn a_corpus_that_is_named_is_there() {
    let Some(corpus) = std::env::var_os("GAMEMASTER_CORPUS") else { return };
    assert_eq!(lacks(Path::new(&corpus)), None, "GAMEMASTER_CORPUS names no corpus");
}

#[test]
fn missing_and_empty_folders_are_no_corpus() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_corpus");
    let _ = std::fs::remove_dir_all(&folder);
    let told = |expected: &str| {
        let told = lacks(&folder).unwrap();
        assert!(told.ends_with(expected), "{told}");
    };
    told("rulesheets is no folder that can be read");
    std::fs::create_dir_all(folder.join("rulesheets")).unwrap();
    told("rulesheets holds no file *.kif");
    std::fs::write(folder.join("rulesheets/one.kif"), "(role x)").unwrap();
    told("traces is no folder that can be read");
    std::fs::create_dir_all(folder.join("traces")).unwrap();
    told("traces holds no file *.jsonl.gz");
    std::fs::write(folder.join("traces/one.jsonl.gz"), "").unwrap();
    assert_eq!(lacks(&folder), None);
}
