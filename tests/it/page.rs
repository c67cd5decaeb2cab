//! Pages of the documentation whose commands are run.

use std::path::Path;

/// Runs the commands of a page in a folder of their own, and compares what they print.
/// `TRYCMD=overwrite` rewrites the outputs in the page.
pub(crate) fn check_commands(page: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(page.file_name().unwrap());
    std::fs::copy(page, &copy).unwrap();
    // Where the commands run.
    let runs_in = copy.with_extension("in");
    std::fs::create_dir(&runs_in).unwrap();
    write_files(&std::fs::read_to_string(page).unwrap(), &runs_in);
    trycmd::TestCases::new()
        .register_bin("gamemaster", assert_cmd::cargo::cargo_bin!("gamemaster"))
        .case(&copy)
        .run();
    if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
        std::fs::copy(&copy, page).unwrap();
    }
}

/// Writes the files that a page shows: its blocks of TOML that begin with `# NAME.toml`.
pub(crate) fn write_files(page: &str, folder: &Path) {
    for block in page.split("\n```toml\n# ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let (text, _) = rest.split_once("\n```\n").unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }
}
