//! `docs/course.md`: all commands of the course, with their output.

use std::path::Path;

/// Runs the commands of the page in a folder of their own. `TRYCMD=overwrite` rewrites the
/// outputs.
#[test]
fn every_command_of_the_course_prints_what_the_page_shows() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/course.md");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("course.md");
    std::fs::copy(&page, &copy).unwrap();
    std::fs::create_dir(folder.path().join("course.in")).unwrap();
    trycmd::TestCases::new()
        .register_bin("gamemaster", assert_cmd::cargo::cargo_bin!("gamemaster"))
        .case(&copy)
        .run();
    if std::env::var("TRYCMD").is_ok_and(|mode| mode == "overwrite") {
        std::fs::copy(&copy, &page).unwrap();
    }
}
