//! Pages of the documentation whose commands are run.

use std::path::Path;

/// Runs the commands of a page in a folder of their own, and compares what they print.
/// `TRYCMD=overwrite` rewrites the outputs in the page.
pub(crate) fn check_commands(page: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(page.file_name().unwrap());
    std::fs::copy(page, &copy).unwrap();
    // Where the commands run.
    std::fs::create_dir(copy.with_extension("in")).unwrap();
    trycmd::TestCases::new()
        .register_bin("gamemaster", assert_cmd::cargo::cargo_bin!("gamemaster"))
        .case(&copy)
        .run();
    if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
        std::fs::copy(&copy, page).unwrap();
    }
}
