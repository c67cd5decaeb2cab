//! `gamemaster play`: one match in view.

use expect_test::{Expect, expect};

use crate::workspace::Workspace;

/// What is printed, with all times replaced.
fn check(arguments: &[&str], expected: Expect) {
    let ran = Workspace::new().run(&[&["play"], arguments].concat()).code(0);
    let words: Vec<String> =
        ran.stdout().split_inclusive([' ', '\n', ',', ')']).map(String::from).collect();
    let mut shown = String::new();
    for (index, word) in words.iter().enumerate() {
        let unit =
            words.get(index + 1).map_or("", |next| next.trim_end_matches([' ', '\n', ',', ')']));
        let is_time = ["us", "ms", "s"].contains(&unit);
        shown.push_str(if is_time { "T " } else { word });
    }
    let shown = shown.replace("T ms", "T us").replace("T s", "T us");
    expected.assert_eq(&shown);
}

#[test]
fn a_match_is_shown_step_by_step() {
    check(
        &["nim", "legal", "first=legal", "--seed", "4"],
        expect![[r#"
        nim, seed 4
          left: legal
          right: first
          left is ready after T us
          right is ready after T us
        step 1
          left   (take a 3)  (of 12, T us)
          right  noop  (of 1, T us)
            +(heap a 0) +(control right) -(heap a 3) -(control left)
        step 2
          left   noop  (of 1, T us)
          right  (take b 3)  (of 9, T us)
            +(heap b 1) +(control left) -(heap b 4) -(control right)
        step 3
          left   (take b 1)  (of 6, T us)
          right  noop  (of 1, T us)
            +(heap b 0) +(control right) -(heap b 1) -(control left)
        step 4
          left   noop  (of 1, T us)
          right  (take c 3)  (of 5, T us)
            +(heap c 2) +(control left) -(heap c 5) -(control right)
        step 5
          left   (take c 1)  (of 2, T us)
          right  noop  (of 1, T us)
            +(heap c 1) +(control right) -(heap c 2) -(control left)
        step 6
          left   noop  (of 1, T us)
          right  (take c 1)  (of 1, T us)
            +(heap c 0) +(control left) -(heap c 1) -(control right)
        terminal
          left     0  legal
          right  100  first
    "#]],
    );
}

#[test]
fn the_role_random_is_moved_by_the_manager() {
    check(
        &["monty_hall", "legal"],
        expect![[r#"
            monty_hall, seed 1
              candidate: legal
              random: moved by chance
              candidate is ready after T us
            step 1
              candidate  noop  (of 1, T us)
              random     (hide_car 1)  (of 3)
                +(phase choose) +(car 1) -(phase hide)
            step 2
              candidate  (choose_door 1)  (of 3, T us)
              random     noop  (of 1)
                +(phase open) +(chosen 1) -(phase choose)
            step 3
              candidate  noop  (of 1, T us)
              random     (open_door 2)  (of 2)
                +(phase decide) +(opened 2) -(phase open)
            step 4
              candidate  stay  (of 2, T us)
              random     noop  (of 1)
                +(phase done) -(phase decide)
            terminal
              candidate  100  legal
        "#]],
    );
}

#[test]
fn a_record_is_a_line_of_the_journal() {
    let ran = Workspace::new().run(&["play", "tic_tac_toe", "legal", "random", "--json"]).code(0);
    let record: results::record::MatchRecord = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(record.seats[0].player.as_deref(), Some("legal"));
    assert_eq!(record.steps.len(), record.n_steps as usize);
    let again = Workspace::new().run(&["play", "tic_tac_toe", "legal", "random", "--json"]).code(0);
    let again: results::record::MatchRecord = serde_json::from_str(&again.stdout()).unwrap();
    let moves = |record: &results::record::MatchRecord| -> Vec<String> {
        record.steps.iter().flatten().map(|decision| decision.executed.clone()).collect()
    };
    assert_eq!(moves(&record), moves(&again));
}
