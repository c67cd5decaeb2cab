//! The page as text: well-formed, self-contained, with no number that is none
//! and no name that is markup. How it behaves is tested in a browser.

use std::collections::BTreeSet;

use super::*;
use crate::evaluation::evaluate;
use crate::files;
use crate::record::{Clock, Ending, FaultKind, MatchRecord, RuleDefect};
use crate::sample;
use crate::workers::{Readings, Shift, WorkerMachine, WorkerRow};

const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</script></title></svg><b>",
    "' onmouseover='alert(1)",
    "&lt;\u{202e}\0\n]]>--><!--",
    "https://example.org/x.js",
];

fn replay(name: &str) -> Replay {
    Replay {
        job: 0,
        match_id: name.into(),
        game: name.into(),
        reason: name.into(),
        ending: name.into(),
        seats: vec![
            ReplaySeat {
                role: name.into(),
                player: Some(name.into()),
                reward: Some(100),
                start: None,
            },
            ReplaySeat { role: "o".into(), player: Some("beta".into()), reward: None, start: None },
        ],
        boards: vec![
            board(name, ReplayPiece::default()),
            ReplayBoard {
                is_table: true,
                ..board(name, ReplayPiece { cards: vec![Some(name.into())], ..Default::default() })
            },
            ReplayBoard {
                is_table: true,
                ..board(
                    name,
                    ReplayPiece {
                        cards: vec![Some(name.into()); 3],
                        is_code: true,
                        ..Default::default()
                    },
                )
            },
            ReplayBoard {
                is_tree: true,
                ..board(name, ReplayPiece { tree: tree(name), ..Default::default() })
            },
        ],
        facts: vec![name.into()],
        steps: vec![
            ReplayStep { cells: vec![0; 4], ..ReplayStep::default() },
            ReplayStep { moves: vec![name.into()], cells: vec![1; 4], ..ReplayStep::default() },
        ],
    }
}

/// A board of one cell with a piece of this name.
fn board(name: &str, piece: ReplayPiece) -> ReplayBoard {
    ReplayBoard {
        is_table: false,
        is_tree: false,
        is_lattice: false,
        title: Some(name.into()),
        columns: vec![name.into()],
        rows: vec!["1".into()],
        pieces: vec![
            ReplayPiece::default(),
            ReplayPiece { mark: name.into(), name: name.into(), ..piece },
        ],
        shift: 0,
        gaps: vec![],
        walls_right: vec![],
        walls_above: vec![],
    }
}

fn tree(name: &str) -> Vec<ReplayNode> {
    let root = ReplayNode { name: name.into(), more: name.into(), ..ReplayNode::default() };
    let next = ReplayNode { parent: Some(0), way: name.into(), is_here: true, ..root.clone() };
    vec![root, next]
}

fn worker(name: &str) -> WorkerRow {
    let machine = WorkerMachine {
        version: name.into(),
        tags: vec![name.into()],
        at_once: 3,
        speed: Readings { n: 1, mean: 123.4, min: 123.4, max: 123.4 },
        ..WorkerMachine::default()
    };
    let shift = Shift { player: name.into(), points: -12.5, standard_error: 4.0, p: 0.0125 };
    WorkerRow { worker: name.into(), n_blocks: 17, machine, shift: Some(shift) }
}

#[test]
fn workers_have_a_table_where_there_were_any() {
    let run = sample::run(true, &sample::records());
    let mut evaluation = evaluate(run.path(), &sample::QUICK, 5).unwrap();
    assert!(!html(&evaluation, &[], &[]).contains("id=\"workers\""));
    evaluation.workers = vec![worker("near"), WorkerRow { shift: None, ..worker("far") }];
    let page = html(&evaluation, &[], &[]);
    check(&page);
    let section = page.split("<section id=\"workers\">").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    for expected in ["near", "far", ">17<", ">123<", "12.5", "1.2 %", "\u{2013}"] {
        assert!(section.contains(expected), "{expected}: {section}");
    }
}

fn page_of(records: &[MatchRecord], replays: &[Replay]) -> String {
    let run = sample::run(true, records);
    let evaluation = evaluate(run.path(), &sample::QUICK, 5).unwrap();
    html(&evaluation, replays, &["a note".into()])
}

/// Checks what every page must be.
#[track_caller]
fn check(page: &str) {
    is_well_formed(page);
    for word in ["NaN", "Infinity", ">inf<", "null<", "undefined<", ">-0.0<"] {
        assert!(!markup(page).contains(word), "{word}");
    }
    loads_nothing(page);
    let ids: Vec<&str> = values(page, " id=\"");
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    for anchor in values(page, "href=\"#").iter().filter(|at| !at.starts_with("replay-")) {
        assert!(distinct.contains(anchor), "{anchor} leads nowhere");
    }
    let n = |text: &str| page.matches(text).count();
    assert_eq!(n("<svg "), n("<desc>"));
    assert_eq!(n("<figure class=\"table\""), n("class=\"csv\""));
    assert_eq!(n("<figure class=\"table\""), n("What the columns mean"));
}

/// The page without its scripts and styles.
fn markup(page: &str) -> String {
    let mut rest = page.to_owned();
    for element in ["script", "style"] {
        while let Some(from) = rest.find(&format!("<{element}")) {
            let end = format!("</{element}>");
            let to = rest[from..].find(&end).expect("it ends") + from + end.len();
            rest.replace_range(from..to, "");
        }
    }
    rest
}

fn values<'a>(page: &'a str, before: &str) -> Vec<&'a str> {
    page.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Every element ends, in order, and every attribute is quoted.
#[track_caller]
fn is_well_formed(page: &str) {
    let markup = markup(page);
    let mut open: Vec<&str> = vec![];
    let mut rest = markup.strip_prefix("<!DOCTYPE html>").expect("it is HTML");
    while let Some(from) = rest.find('<') {
        assert!(!rest[..from].contains('>'), "a stray > in {}", &rest[..from]);
        let to = from + end_of_tag(&rest[from..]);
        let tag = &rest[from + 1..to];
        rest = &rest[to + 1..];
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "an element that is not open ends");
        } else if !tag.ends_with('/') && !["meta", "input", "br"].contains(&name) {
            assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "{tag}");
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0], "elements that do not end");
}

/// Where a tag ends, quotes aside.
fn end_of_tag(tag: &str) -> usize {
    let mut is_quoted = false;
    let end = tag.char_indices().find(|&(_, c)| {
        is_quoted ^= c == '"';
        c == '>' && !is_quoted
    });
    end.expect("a tag ends").0
}

/// No attribute and no style leads out of the page.
#[track_caller]
fn loads_nothing(page: &str) {
    let tags = tags(page);
    for attribute in [" src=", " srcset=", " style=", " on", " data=", " action="] {
        assert!(!tags.contains(attribute), "{attribute}");
    }
    for element in ["link", "iframe", "object", "embed", "base", "form", "img", "image", "use"] {
        let is_met = |end| tags.contains(&format!("<{element}{end}"));
        assert!(![" ", ">", "/"].iter().any(is_met), "{element}");
    }
    assert!(values(page, "href=\"").iter().all(|to| to.starts_with('#')));
    for code in [STYLE, SCRIPT] {
        for word in
            ["http:", "https:", "url(", "@import", "import(", "fetch(", "eval(", "innerHTML"]
        {
            assert!(!code.contains(word), "{word}");
        }
    }
}

/// The tags of a page without what is in quotes.
fn tags(page: &str) -> String {
    let markup = markup(page);
    let (mut tags, mut rest) = (String::new(), &*markup);
    while let Some(from) = rest.find('<') {
        let to = from + end_of_tag(&rest[from..]);
        tags.extend(rest[from..=to].split('"').step_by(2));
        rest = &rest[to + 1..];
    }
    tags
}

#[test]
fn a_page_is_well_formed_and_loads_nothing() {
    check(&page_of(&sample::records(), &[replay("x")]));
    check(&page_of(&sample::records(), &[]));
}

#[test]
fn every_section_is_there() {
    let mut records = sample::records();
    for record in &mut records {
        if record.block % 2 == 0 {
            record.play_clock_ms = 4000;
        }
        record.steps[1][1].overrun_us = 700;
    }
    records[3].steps[0][0].fault = Some(FaultKind::LateMove);
    let page = page_of(&records, &[replay("x")]);
    check(&page);
    let sections: Vec<&str> = values(&page, "<section id=\"");
    let expected = [
        "standings",
        "ratings",
        "policies",
        "against-each-other",
        "over-time",
        "games",
        "rewards",
        "thinking",
        "calibration",
        "faults",
        "overhead",
        "replays",
        "notes",
    ];
    assert_eq!(sections, expected);
    for title in ["Mean reward", "Probability of each rank", "Strength against the play clock"] {
        assert!(page.contains(&format!("<title>{title}</title>")), "{title}");
    }
    assert!(page.contains("Time beyond the play clock") && page.contains("a note"));
}

#[test]
fn names_are_text() {
    for name in HOSTILE {
        let mut records = sample::records();
        for record in &mut records {
            record.game = format!("{name} {}", record.game);
            for seat in &mut record.seats {
                seat.role = format!("{name} {}", seat.role);
                if seat.player.as_deref() == Some("alpha") {
                    seat.player = Some(name.into());
                }
            }
        }
        records[5].ending =
            Ending::GameError { reason: RuleDefect::NotComputable { detail: name.into() } };
        records[7].steps[0][0].fault = Some(FaultKind::IllegalMove);
        let run = sample::run(true, &records);
        let mut evaluation = evaluate(run.path(), &sample::QUICK, 5).unwrap();
        evaluation.standings.header.run = name.into();
        evaluation.standings.notes = vec![name.into()];
        evaluation.workers = vec![worker(name)];
        let page = html(&evaluation, &[replay(name)], &[name.into()]);
        check(&page);
        assert!(!page.contains("<script>alert") && !page.contains("<img"));
        // Both scripts end where they should.
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script").count(), 2);
        let json = page.split("id=\"replay-data\">").nth(1).unwrap();
        let json = json.split("</script>").next().unwrap();
        let read: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(read[0]["facts"][0], name);
        let piece = |board: usize| &read[0]["boards"][board]["pieces"][1];
        assert_eq!((&piece(1)["cards"][0], &piece(2)["cards"][2]), (&name.into(), &name.into()));
        for key in ["name", "way", "more"] {
            assert_eq!(piece(3)["tree"][1][key], name);
        }
    }
}

/// A game with one block is treated as exact, in every figure and with a word
/// about it; nothing else is lost.
#[test]
fn one_game_with_one_block_takes_nothing_away() {
    let of = |job: u64, game: &str| {
        let (players, a) = (["a", "b"], [80, 55, 70, 90][job as usize / 2 % 4]);
        match job % 2 {
            0 => sample::record(job, game, players, [a, 100 - a]),
            _ => sample::record(job, game, [players[1], players[0]], [100 - a, a]),
        }
    };
    let mut records: Vec<MatchRecord> = (0..28).map(|job| of(job, "often")).collect();
    let whole = page_of(&records, &[]);
    records.extend((28..30).map(|job| of(job, "once")));
    let page = page_of(&records, &[]);
    check(&page);
    let held = "and their means are treated as exact: once.";
    assert_eq!((page.matches(held).count(), whole.matches("treated as exact").count()), (1, 0));
    let reference = "the notes list these games";
    assert!(page.contains(reference) && !whole.contains(reference));
    let standings = |page: &str| -> usize {
        let section = page.split("<section id=\"standings\"").nth(1).unwrap();
        section.split("</section>").next().unwrap().matches("whisker").count()
    };
    assert_eq!((standings(&page), standings(&whole)), (2, 2));
    assert!(page.contains("Probability of each rank") && page.contains("excludes 0"));
    assert!(page.contains("The interval treats the mean of one game (at one budget) as exact"));
}

/// A player may be called as the role of chance: only its own matches are its.
#[test]
fn chance_is_no_player_of_a_replay() {
    let mut records: Vec<MatchRecord> =
        (0..4).map(|job| sample::record(job, "x", ["random", "alpha"], [0, 100])).collect();
    records.extend((4..6).map(|job| sample::record_with_chance(job, "alpha", 70)));
    let seat = |role: &str, player: Option<&str>| ReplaySeat {
        role: role.into(),
        player: player.map(str::to_owned),
        reward: player.map(|_| 70),
        start: None,
    };
    let seats = vec![seat("random", None), seat("oplayer", Some("alpha"))];
    let with_chance = Replay { job: 4, seats, ..replay("x") };
    let seats = vec![seat("xplayer", Some("random")), seat("oplayer", Some("alpha"))];
    let met = Replay { job: 2, seats, ..replay("x") };
    let page = page_of(&records, &[with_chance, met]);
    check(&page);
    let table = page.split("id=\"cross-table\"").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    assert!(table.contains("#replay-2") && !table.contains("#replay-4"), "{table}");
    let table = page.split("id=\"replay-table\"").nth(1).unwrap();
    let row = table.split("<tr>").find(|row| row.contains("#replay-4")).unwrap();
    assert!(row.contains(">alpha<") && row.contains(">70<") && !row.contains("random"), "{row}");
}

#[test]
fn long_names_are_cut_in_figures_only() {
    let mut records = sample::records();
    let name = "a-name-that-is-longer-than-any-margin-of-a-figure-could-be".to_owned();
    for seat in records.iter_mut().flat_map(|record| &mut record.seats) {
        if seat.player.as_deref() == Some("alpha") {
            seat.player = Some(name.clone());
        }
    }
    let page = page_of(&records, &[]);
    check(&page);
    for text in page.split("<text class=\"label\"").skip(1) {
        let shown = text.split("</text>").next().and_then(|text| text.rsplit('>').next()).unwrap();
        assert!(shown.chars().count() <= 36, "{shown}");
    }
    assert!(page.contains(&format!("<th scope=\"row\" class=\"name\">{name}</th>")));
}

#[test]
fn poor_runs_have_pages_without_numbers_that_are_none() {
    let records = sample::records();
    let draws: Vec<MatchRecord> =
        (0..8).map(|job| sample::record(job, "x", ["a", "b"], [50, 50])).collect();
    let clean: Vec<MatchRecord> =
        (0..8).map(|job| sample::record(job, "x", ["a", "b"], [100, 0])).collect();
    let alone: Vec<MatchRecord> =
        (0..3).map(|job| sample::record_with_chance(job, "alpha", 30)).collect();
    let with_itself: Vec<MatchRecord> =
        (0..4).map(|job| sample::record(job, "x", ["a", "a"], [100, 0])).collect();
    let mut unscored = sample::record(0, "x", ["a", "b"], [0, 0]);
    unscored.ending = Ending::StepLimit;
    let mut instant = sample::record(0, "x", ["a", "b"], [0, 0]);
    instant.steps.clear();
    instant.duration_us = 0;
    let odds = |play_clock_ms, budget| Some(Clock { start_clock_ms: 0, play_clock_ms, budget });
    let mut odd = draws.clone();
    odd[0].seats[0].odds = odds(0, crate::record::Budget::Clock);
    odd[1].seats[1].odds = odds(1, crate::record::Budget::Nodes(0));
    for records in [
        &records[..],
        &records[..1],
        &draws,
        &clean,
        &alone,
        &with_itself,
        &[unscored],
        &[instant],
        &odd,
    ] {
        check(&page_of(records, &[]));
    }
}

#[test]
fn a_half_written_journal_is_told_of() {
    let run = sample::run(true, &sample::records());
    let journal = run.path().join(files::JOURNAL);
    let text = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &text[..text.len() - 9]).unwrap();
    let evaluation = evaluate(run.path(), &sample::QUICK, 5).unwrap();
    let page = html(&evaluation, &[], &[]);
    check(&page);
    assert!(page.contains("half-written"));
}

#[test]
fn without_times_a_page_depends_on_no_times() {
    let page = |records: &[MatchRecord]| {
        let run = sample::run(false, records);
        html(&evaluate(run.path(), &sample::QUICK, 5).unwrap(), &[], &[])
    };
    let records = sample::records();
    let others: Vec<MatchRecord> = records.iter().rev().map(sample::at_other_times).collect();
    assert_eq!(page(&others), page(&records));
}
