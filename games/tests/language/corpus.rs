//! Published rulesheets, which are not part of this project: all must be valid.
//! The environment variable `GAMEMASTER_CORPUS` names a folder that has them in
//! its folder `rulesheets`; without it nothing is checked here.

use std::path::Path;

use games::{Case, Leniency, Rulesheet, Severity};

use super::consistent::{check_printing, check_sent};

fn corpus() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else { return Vec::new() };
    let entries = std::fs::read_dir(Path::new(&folder).join("rulesheets")).unwrap();
    let read = |path: &Path| {
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
    };
    let mut files: Vec<_> = entries.map(|entry| read(&entry.unwrap().path())).collect();
    files.sort();
    files
}

#[test]
fn published_rulesheets_are_valid() {
    for (name, text) in corpus() {
        for case in [Case::Folded, Case::Sensitive] {
            for leniency in [Leniency::Strict, Leniency::Lenient] {
                let validation = games::validate::read(&name, &text, case, leniency);
                let text = String::from_utf8_lossy(&text);
                let errors = validation.findings.iter().filter(|f| f.severity == Severity::Error);
                let errors: Vec<_> = errors.map(|finding| finding.line(&text)).collect();
                assert_eq!(errors, [""; 0], "{name}");
                check_sent(&validation.game.unwrap());
            }
        }
    }
}

#[test]
fn published_rulesheets_are_printed_as_read() {
    for (name, text) in corpus() {
        for case in [Case::Folded, Case::Sensitive] {
            check_printing(&Rulesheet::parse(&name, &text, case).unwrap());
        }
    }
}
