//! The page of a report, in a real browser and on the command line.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use results::files::JOURNAL;
use results::journal::{Journal, JournalWriter};
use results::record::MatchRecord;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser::Browser;

const SPEC: &str = r#"
name = "page"
blocks = 2
games = ["tic_tac_toe", "nim", "hanoi_small"]
budget = { nodes = [10, 40] }
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
kind = "alpha_beta"
"#;

fn gamemaster(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

#[track_caller]
fn succeed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A folder in which `page` is a run that was played.
fn played() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("spec.toml"), SPEC).unwrap();
    succeed(&gamemaster(folder.path(), &["run", "spec.toml", "--out", "page"]));
    folder
}

/// Writes a journal anew, with its records changed.
fn rewrite(run: &Path, change: impl Fn(&mut MatchRecord)) {
    let path = run.join(JOURNAL);
    let journal = Journal::open(&path).unwrap();
    let header = journal.header().clone();
    let records: Vec<MatchRecord> = journal.map(Result::unwrap).collect();
    std::fs::remove_file(&path).unwrap();
    let mut writer = JournalWriter::create(&path, &header).unwrap();
    for mut record in records {
        change(&mut record);
        writer.append(&record).unwrap();
    }
    writer.sync().unwrap();
}

/// A player's name that would like to be more.
const HOSTILE: &str = "<script>window.owned=1</script>\"'><img src=x onerror=window.owned=2>&amp;";

/// A road of this many places, on which one goes on to the next or the one after it.
fn road(n_places: usize) -> String {
    let arc = |at: usize| {
        format!(
            "(after place_of_a_long_name_{at} place_of_a_long_name_{})
            (skips place_of_a_long_name_{at} place_of_a_long_name_{})\n",
            at + 1,
            at + 2
        )
    };
    let arcs: String = (0..n_places).map(arc).collect();
    format!(
        "(role robot) (init (at place_of_a_long_name_0)) (goal robot 50) {arcs}
        (<= (legal robot go_on_to_the_next_place) inner)
        (<= (legal robot jump_over_the_next_one) inner)
        (<= inner (true (at ?place)) (after ?place ?next))
        (<= terminal (not inner))
        (<= (next (at ?next)) (does robot go_on_to_the_next_place)
            (true (at ?place)) (after ?place ?next))
        (<= (next (at ?next)) (does robot jump_over_the_next_one)
            (true (at ?place)) (skips ?place ?next))"
    )
}

/// A tree is drawn anew for each state.
#[test]
fn a_replay_that_is_too_long_has_no_trees() {
    for (n_places, has_tree) in [(20, true), (200, false)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("road.kif"), road(n_places)).unwrap();
        let spec = "name = \"page\"\nblocks = 1\ngames = [\"road.kif\"]\nbudget = { nodes = 10 }\n\
            players = [{ kind = \"legal\" }, { kind = \"random\" }]\n";
        std::fs::write(folder.path().join("spec.toml"), spec).unwrap();
        succeed(&gamemaster(folder.path(), &["run", "spec.toml", "--out", "page"]));
        succeed(&gamemaster(folder.path(), &["report", "page", "--html", "page.html"]));
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        assert!(page.contains("id=\"replay-data\"") && !page.contains("worth replaying"));
        assert_eq!(page.contains("\"is_tree\":true"), has_tree);
        // Otherwise the facts are listed.
        assert_eq!(page.contains("\"facts\":[\"(at place_of_a_long_name_0)\""), !has_tree);
    }
}

#[test]
fn the_page_is_written_where_it_is_asked_for() {
    let folder = played();
    let told = succeed(&gamemaster(folder.path(), &["report", "page", "--html"]));
    assert!(told.starts_with("wrote page/report.html ("), "{told}");
    let page = std::fs::read_to_string(folder.path().join("page/report.html")).unwrap();
    let again = succeed(&gamemaster(folder.path(), &["report", "page", "--html", "-"]));
    assert!(again == page, "the same run gives the same page");
    succeed(&gamemaster(folder.path(), &["report", "page", "--html", "x.html", "--replays", "0"]));
    let without = std::fs::read_to_string(folder.path().join("x.html")).unwrap();
    assert!(page.contains("id=\"replay-data\"") && !without.contains("id=\"replay-data\""));
    let output = gamemaster(folder.path(), &["report", "page", "--html", "no/such/folder/x"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("error: cannot write no/such/folder/x"), "{error}");
}

#[test]
fn matches_whose_rules_are_gone_are_told_of() {
    let folder = played();
    rewrite(&folder.path().join("page"), |record| record.game_hash = "0".repeat(64));
    let page = succeed(&gamemaster(folder.path(), &["report", "page", "--html", "-"]));
    assert!(page.contains("has changed since the match was played"));
    assert!(!page.contains("id=\"replay-data\""));
}

#[test]
fn a_browser_shows_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = played();
    let run = folder.path().join("page");
    // Names may be anything in a journal that others wrote.
    rewrite(&run, |record| {
        let players = record.seats.iter_mut().filter_map(|seat| seat.player.as_mut());
        players
            .filter(|player| *player == "random")
            .for_each(|player| *player = HOSTILE.to_owned());
    });
    succeed(&gamemaster(folder.path(), &["report", "page", "--html"]));
    browser.call("Browser.setDownloadBehavior", json!({ "behavior": "deny" }));
    browser.open(&run.join("report.html"));
    assert_eq!(browser.complaints(), [""; 0]);
    assert_eq!(browser.evaluate("window.owned === undefined"), true);
    sections_are_there(&mut browser);
    tables_sort(&mut browser);
    tables_are_saved(&mut browser);
    replays_step(&mut browser, &run);
    looks_fit(&mut browser);
    assert_eq!(browser.evaluate("window.owned === undefined"), true);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Every state has a node, and they lie beside each other; the state of the step is marked.
#[test]
fn trees_are_drawn_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let spec = "games = [\"coin_flip\"]\nplayers = [\"legal\", \"random\"]\nblocks = 1
        budget = { nodes = 1 }\n";
    std::fs::write(folder.path().join("spec.toml"), spec).unwrap();
    succeed(&gamemaster(folder.path(), &["run", "spec.toml", "--out", "page"]));
    succeed(&gamemaster(folder.path(), &["report", "page", "--html"]));
    browser.open(&folder.path().join("page/report.html"));
    let count = |browser: &mut Browser, selector: &str| {
        browser.evaluate(&format!("document.querySelectorAll('.tree-board {selector}').length"))
    };
    for (selector, n) in [(".node", 15), (".line", 14), ("ellipse", 2), (".node.end", 8)] {
        assert_eq!(count(&mut browser, selector), n, "{selector}");
    }
    let mut here = Vec::new();
    for _ in 0..4 {
        let texts = "[...document.querySelectorAll('.here text')].map(t => t.textContent).join('')";
        let n_on_line = count(&mut browser, ".on-line");
        let text = browser.evaluate(texts);
        here.push(format!("{} {n_on_line}", text.as_str().unwrap()));
        browser.evaluate("document.querySelector('[data-go=on]').click()");
    }
    assert!(here[0] == "n 0" && ["l 1", "r 1"].contains(&here[1].as_str()), "{here:?}");
    assert!(here[2].starts_with(&here[1][..1]) && here[2].ends_with(" 2"), "{here:?}");
    assert!(here[3].contains(" = max ") && here[3].ends_with(" 3"), "{here:?}");
    let n_bad = browser.evaluate(
        "(() => {
            const tree = document.querySelector('.tree-board').getBoundingClientRect();
            const nodes = [...document.querySelectorAll('.tree-board .node')];
            const boxes = nodes.map(node => node.getBoundingClientRect());
            const overlap = (a, b) => a.left < b.right && b.left < a.right
                && a.top < b.bottom && b.top < a.bottom;
            const isBad = (box, at) => box.right > tree.right || box.bottom > tree.bottom
                || box.left < tree.left || box.top < tree.top
                || boxes.slice(0, at).some(other => overlap(box, other));
            return boxes.filter(isBad).length;
        })()",
    );
    assert_eq!(n_bad, 0);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The walls to the right of the cells of the maze, and above them, as its comment draws them.
#[test]
fn walls_are_drawn_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let spec = "games = [\"maze\"]\nplayers = [\"legal\"]\nblocks = 1\nbudget = { nodes = 1 }\n";
    std::fs::write(folder.path().join("spec.toml"), spec).unwrap();
    succeed(&gamemaster(folder.path(), &["run", "spec.toml", "--out", "page"]));
    succeed(&gamemaster(folder.path(), &["report", "page", "--html"]));
    browser.open(&folder.path().join("page/report.html"));
    let mut walls = |side: &str| {
        let cells = "[...document.querySelectorAll('#board td')]";
        let at =
            format!("{cells}.flatMap((td, at) => td.classList.contains('wall-{side}') ? at : [])");
        serde_json::from_value::<Vec<usize>>(browser.evaluate(&at)).unwrap()
    };
    assert_eq!(walls("right"), [1, 3, 4, 6, 7, 11, 14, 15]);
    assert_eq!(walls("above"), [0, 1, 2, 3, 9, 11, 12, 14]);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The boards share the cells of a step.
#[test]
fn each_role_has_a_board_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let spec = "name = \"fleets\"\ngames = [\"battleships\"]\nblocks = 1\nbudget = { nodes = 1 }
        [[players]]\nkind = \"random\"\n[[players]]\nkind = \"legal\"\n";
    std::fs::write(folder.path().join("spec.toml"), spec).unwrap();
    succeed(&gamemaster(folder.path(), &["run", "spec.toml", "--out", "page"]));
    succeed(&gamemaster(folder.path(), &["report", "page", "--html"]));
    browser.open(&folder.path().join("page/report.html"));
    // Both fleets are placed after four steps.
    browser.evaluate("for (let i = 0; i < 4; i++) document.querySelector('[data-go=on]').click()");
    let shown = browser.evaluate(
        "[...document.querySelectorAll('#board .one-board')].map(board => [
            board.querySelector('h4').textContent,
            [...board.querySelectorAll('td')].map(td => td.textContent || '.').join('')])",
    );
    let boards: Vec<(String, String)> = serde_json::from_value(shown).unwrap();
    let titles: Vec<&str> = boards.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(titles, ["left", "right"]);
    for (_, cells) in &boards {
        assert_eq!((cells.len(), cells.matches('s').count()), (16, 5), "{cells}");
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

fn sections_are_there(browser: &mut Browser) {
    let ids = browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id).join()");
    let expected = "standings,ratings,against-each-other,over-time,games,rewards,calibration,faults,replays,\
         notes";
    assert_eq!(ids, expected);
    let dead = "[...document.querySelectorAll('nav a')]
        .filter(a => !document.querySelector(a.getAttribute('href'))).length";
    assert_eq!(browser.evaluate(dead), 0);
    let figures = "[...document.querySelectorAll('svg')]
        .every(svg => svg.querySelector('title') && svg.querySelector('desc')
            && svg.getBoundingClientRect().height > 20)";
    assert_eq!(browser.evaluate(figures), true);
}

fn tables_sort(browser: &mut Browser) {
    let column = |browser: &mut Browser, at: usize| {
        let cells = format!(
            "[...document.querySelectorAll('#standings-table tbody tr')]
                .map(row => row.cells[{at}].textContent)"
        );
        browser.evaluate(&cells)
    };
    let click = |browser: &mut Browser, at: usize| {
        let button = format!("document.querySelectorAll('#standings-table thead button')[{at}]");
        browser.evaluate(&format!("{button}.click()"));
        browser.evaluate(&format!("{button}.parentNode.getAttribute('aria-sort')"))
    };
    assert_eq!(column(browser, 0), json!(["1", "2", "3"]));
    // Rewards: the greatest first, then the least.
    assert_eq!(click(browser, 2), "descending");
    assert_eq!(column(browser, 0), json!(["1", "2", "3"]));
    assert_eq!(click(browser, 2), "ascending");
    assert_eq!(column(browser, 0), json!(["3", "2", "1"]));
    let rewards = column(browser, 2);
    let rewards: Vec<f64> =
        rewards.as_array().unwrap().iter().map(|r| r.as_str().unwrap().parse().unwrap()).collect();
    assert!(rewards.is_sorted(), "{rewards:?}");
    assert_eq!(click(browser, 1), "ascending");
    let names = column(browser, 1);
    assert_eq!(names, json!([HOSTILE, "alpha_beta", "legal"]));
    // The leader is behind nobody: what is not known stays last, whichever way.
    for expected in ["descending", "ascending"] {
        assert_eq!(click(browser, 4), expected);
        assert_eq!(column(browser, 4)[2], "–");
    }
}

fn tables_are_saved(browser: &mut Browser) {
    let saved = browser.evaluate(
        "(async () => {
            const make = URL.createObjectURL;
            let blob;
            URL.createObjectURL = (made) => { blob = made; return make.call(URL, made); };
            document.querySelector('#standings-table .csv').click();
            URL.createObjectURL = make;
            return await blob.text();
        })()",
    );
    let saved = saved.as_str().unwrap();
    let lines: Vec<&str> = saved.lines().collect();
    assert_eq!(lines.len(), 4, "{saved}");
    assert!(
        lines[0].starts_with("rank,player,reward,95 % interval low,95 % interval high,behind by,")
    );
    let quoted = format!("\"{}\"", HOSTILE.replace('"', "\"\""));
    assert!(saved.contains(&quoted), "{saved}");
    let n_columns = lines[0].split(',').count();
    let plain = lines.iter().find(|line| line.contains("alpha_beta")).unwrap();
    assert_eq!(plain.split(',').count(), n_columns);
}

fn replays_step(browser: &mut Browser, run: &Path) {
    // A match of tic-tac-toe: each step fills a cell.
    let job = browser.evaluate(
        "JSON.parse(document.getElementById('replay-data').textContent)
            .find(replay => replay.game === 'tic_tac_toe').job",
    );
    let job = job.as_u64().unwrap();
    let mut journal = Journal::open(&run.join(JOURNAL)).unwrap();
    let record = journal.find(|record| record.as_ref().unwrap().job == job).unwrap().unwrap();
    browser.evaluate(&format!(
        "new Promise(done => {{
            addEventListener('hashchange', () => setTimeout(done, 0));
            document.querySelector('a[href=\"#replay-{job}\"]').click();
        }})"
    ));
    let shown = |browser: &mut Browser| -> (String, u64) {
        let step = browser.evaluate("document.getElementById('viewer-step').textContent");
        let cells =
            "[...document.querySelectorAll('#board td')].filter(td => td.textContent).length";
        (step.as_str().unwrap().to_owned(), browser.evaluate(cells).as_u64().unwrap())
    };
    assert_eq!(browser.evaluate("document.getElementById('viewer').hidden"), false);
    assert_eq!(browser.evaluate("document.querySelectorAll('#board td').length"), 9);
    let (step, n_marks) = shown(browser);
    assert!(step.starts_with("Initial state") && n_marks == 0, "{step}");
    let n_steps = record.steps.len() as u64;
    for at in 1..=n_steps {
        // By button and by key.
        if at % 2 == 0 {
            browser.evaluate("document.querySelector('[data-go=on]').click()");
        } else {
            browser.evaluate("document.getElementById('viewer').focus()");
            browser.press("ArrowRight");
        }
        let (step, n_marks) = shown(browser);
        assert!(step.starts_with(&format!("Step {at} of {n_steps}")), "{step}");
        assert_eq!(n_marks, at);
        let moves = browser.evaluate("document.getElementById('viewer-moves').textContent");
        let decisions = &record.steps[at as usize - 1];
        let is_told = |executed: &str| moves.as_str().unwrap().contains(executed);
        assert!(decisions.iter().all(|decision| is_told(&decision.executed)), "{moves}");
    }
    browser.press("ArrowRight");
    assert!(shown(browser).0.contains("the last: terminal."));
    for (key, n_marks) in [("ArrowLeft", n_steps - 1), ("Home", 0), ("End", n_steps)] {
        browser.press(key);
        assert_eq!(shown(browser).1, n_marks, "{key}");
    }
}

fn looks_fit(browser: &mut Browser) {
    let background = "getComputedStyle(document.body).backgroundColor";
    let mut scheme = |value: &str| -> Value {
        let feature = json!([{ "name": "prefers-color-scheme", "value": value }]);
        browser.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
        browser.evaluate(background)
    };
    let (light, dark) = (scheme("light"), scheme("dark"));
    assert_ne!(light, dark);
    browser.evaluate("document.getElementById('theme').click()");
    assert_eq!(browser.evaluate(background), light, "the button overrides the system");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    assert_eq!(browser.evaluate("getComputedStyle(document.querySelector('nav')).display"), "none");
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    let phone = json!({ "width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", phone);
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth"), 360);
}
