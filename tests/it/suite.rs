//! `gamemaster game bench --suite`: the shape of its tables. Speeds are nobody's
//! promise here.

use std::path::Path;

use expect_test::expect;

use crate::reasoners::{game, growing, json};

fn bench(arguments: &[&str]) -> (i32, String, String) {
    game(Path::new("."), &[&["bench"], arguments].concat())
}

/// Each number as one sign, whatever it is; blanks that align are gone.
fn without_numbers(text: &str) -> String {
    let masked = |word: &str| {
        let is_number = word.parse::<f64>().is_ok();
        (if is_number { "#" } else { word }).to_owned()
    };
    let line = |line: &str| line.split_whitespace().map(masked).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_game_has_a_row_of_the_table() {
    let (code, stdout, stderr) = bench(&["--suite", "nim", "tic_tac_toe", "--time", "0s"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stderr, "1/2 nim\n2/2 tic_tac_toe\n");
    let lines: Vec<&str> = stdout.lines().collect();
    expect![
        "game facts moves conjunctions prover network batch machine code start machine code start"
    ]
    .assert_eq(&without_numbers(lines[0]));
    for (line, name) in lines[1..3].iter().zip(["nim", "tic_tac_toe"]) {
        let cells: Vec<&str> =
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!((cells.len(), cells[0]), (10, name), "{line}");
        assert_eq!(lines[0].len(), line.len(), "columns are aligned");
    }
    assert!(stdout.contains("\nYardstick: "), "{stdout}");
    let (_, markdown, _) = bench(&["--suite", "nim", "--time", "0s", "--format", "md"]);
    let lines: Vec<&str> = markdown.lines().collect();
    assert!(lines[1].starts_with("| --- | ---: |"), "{markdown}");
    assert_eq!(lines[0].matches('|').count(), lines[2].matches('|').count());
}

#[test]
fn the_table_for_programs_names_the_computer() {
    let suite =
        json(Path::new("."), &["bench", "--suite", "tic_tac_toe", "--time", "0s", "--json"]);
    assert!(suite["cpu"].is_string() && suite["cores"].as_u64().unwrap() > 0);
    assert!(suite["rustc"].as_str().unwrap().starts_with("rustc "));
    assert_eq!(suite["gamemaster"], env!("CARGO_PKG_VERSION"));
    assert!(suite["yardstick_rounds_per_cpu_second"].as_f64().unwrap() > 0.0);
    let [row] = suite["games"].as_array().unwrap().as_slice() else { panic!("{suite}") };
    assert_eq!(row["game"], "tic_tac_toe");
    // Nine cells in three states and whose turn it is; as many marks and a noop each.
    assert_eq!((&row["facts"], &row["moves"]), (&29.into(), &20.into()));
    assert!(row["conjunctions"].as_u64().unwrap() > 50);
    for speed in ["prover", "network", "batch_interpreted", "start_ms"] {
        assert!(row[speed].as_f64().unwrap() > 0.0, "{speed}");
    }

    let (code, csv, _) = bench(&["--suite", "tic_tac_toe", "--time", "0s", "--format", "csv"]);
    assert_eq!(code, 0);
    let mut reader = csv_rows(&csv).into_iter();
    expect![[
        "game facts moves conjunctions prover network batch_interpreted batch_machine_code start_ms \
         batch_start_ms yardstick seconds lanes cpu cores features system rustc gamemaster is_optimised"
    ]]
    .assert_eq(&reader.next().unwrap().join(" "));
    let row = reader.next().unwrap();
    assert_eq!((row.len(), row[0].as_str(), row[1].as_str()), (20, "tic_tac_toe", "29"));
    assert!(reader.next().is_none());
}

/// Rows of a table whose cells hold no quotation marks.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                _ => cells.last_mut().unwrap().push(letter),
            }
        }
        cells
    };
    text.lines().map(cells).collect()
}

#[test]
fn what_cannot_be_ground_has_empty_cells() {
    let folder = growing();
    let suite = json(folder.path(), &["bench", "--suite", "growing.kif", "--time", "0s", "--json"]);
    let row = &suite["games"][0];
    assert!(row["prover"].as_f64().unwrap() > 0.0);
    for column in ["facts", "conjunctions", "network", "batch_interpreted", "batch_machine_code"] {
        assert!(row[column].is_null(), "{column}");
    }
}

#[test]
fn a_suite_measures_all_reasoners_in_one_way() {
    for (arguments, expected) in [
        (&["nim", "--suite"][..], "the argument '[GAME]' cannot be used with '--suite"),
        (&["--suite", "nim", "--reasoner", "prover"], "cannot be used with"),
        (&["--suite", "nim", "--threads", "2"], "cannot be used with"),
        (&["--suite", "nim", "--lanes", "64"], "cannot be used with"),
        (&["--suite", "nim", "--lenient"], "cannot be used with"),
        (&["--suite", "nim", "--json", "--format", "csv"], "cannot be used with"),
        (&["nim", "--format", "csv"], "error: --format is possible only with --suite\n"),
        (&[], "error: no game was given; give GAME, or --suite"),
    ] {
        let (code, _, stderr) = bench(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    // Names are looked at before anything is measured.
    let (code, _, stderr) = bench(&["--suite", "nim", "no_such_game"]);
    assert_ne!(code, 0);
    assert!(stderr.contains("no_such_game") && !stderr.contains("1/2"), "{stderr}");
}
