//! Reading and validating rulesheets.

use games::{Case, Leniency, Severity};

/// The rulesheets of the folder named by `GAMEMASTER_CORPUS`, which is not
/// part of this project: file name and bytes, by name.
#[expect(clippy::disallowed_methods, reason = "the corpus lies in files")]
fn corpus() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else { return Vec::new() };
    let folder = std::path::Path::new(&folder).join("rulesheets");
    let entries = std::fs::read_dir(folder).expect("GAMEMASTER_CORPUS has a folder `rulesheets`");
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn corpus_is_valid() {
    for (name, text) in corpus() {
        for case in [Case::Folded, Case::Sensitive] {
            let validation = games::validate::read(&name, &text, case, Leniency::Strict);
            let text = String::from_utf8_lossy(&text);
            let errors = validation.findings.iter().filter(|f| f.severity == Severity::Error);
            let errors: Vec<_> = errors.map(|finding| finding.line(&text)).collect();
            assert_eq!(errors, [""; 0], "{name}");
        }
    }
}
