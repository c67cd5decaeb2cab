//! Rulesheets that are no games: each file of `games/tests/rejected`, with its
//! findings as a snapshot beside it.

use std::path::Path;

use games::{Case, Leniency};

#[test]
fn rejected_rulesheets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rejected");
    let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "kif"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read(&file).unwrap();
        let validation = games::validate::read(name, &text, Case::Folded, Leniency::Strict);
        assert!(validation.game.is_none(), "{name} is rejected");
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = validation.findings.iter().map(|finding| finding.line(&text)).collect();
        settings.bind(|| insta::assert_snapshot!(name, lines.join("\n")));
    }
}
