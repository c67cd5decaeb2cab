//! Published rulesheets against traces of a trusted reasoner; neither is part
//! of this project. The environment variable `GAMEMASTER_CORPUS` names a folder
//! with `rulesheets/NAME.kif` and `traces/NAME.jsonl.gz`; without it nothing is
//! checked here. `GAMEMASTER_CORPUS_ONLY` restricts it to names that contain
//! that text.

#![expect(clippy::print_stderr, reason = "skipping is to be seen, and which rulesheet is slow")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use games::{
    Case, Expression, Guards, Leniency, MoveId, Prover, RoleId, State, StateMachine, validate,
};
use serde_json::Value;

#[test]
fn published_rulesheets_agree_with_their_traces() {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else {
        eprintln!("skipped: GAMEMASTER_CORPUS names no folder");
        return;
    };
    let only = std::env::var("GAMEMASTER_CORPUS_ONLY").unwrap_or_default();
    let folder = Path::new(&folder);
    let entries = std::fs::read_dir(folder.join("rulesheets")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name.contains(&only))
        .collect();
    names.sort();
    let mut failures = Vec::new();
    let mut times = Vec::new();
    for name in &names {
        let start = Instant::now();
        let checked = check(
            name,
            &folder.join("rulesheets").join(format!("{name}.kif")),
            &folder.join("traces").join(format!("{name}.jsonl.gz")),
        );
        times.push((start.elapsed(), name));
        if let Err(failure) = checked {
            eprintln!("{name}: {failure}");
            failures.push(name);
        }
    }
    times.sort();
    for (time, name) in times.iter().rev().take(12) {
        eprintln!("{:8.3} s {name}", time.as_secs_f64());
    }
    eprintln!("{} of {} agree", names.len() - failures.len(), names.len());
    assert_eq!(failures, Vec::<&String>::new());
}

/// Replays the traces of one rulesheet.
fn check(name: &str, rulesheet: &PathBuf, trace: &PathBuf) -> Result<(), String> {
    let text = std::fs::read(rulesheet).unwrap();
    let game = validate::read(name, &text, Case::Sensitive, Leniency::Lenient).game;
    let game = Arc::new(game.ok_or("invalid")?);
    let mut machine = Prover::new(game, Guards::default()).map_err(|error| error.to_string())?;
    let lines = flate2::read::GzDecoder::new(std::fs::File::open(trace).unwrap());
    let mut state = State::default();
    for (number, line) in BufReader::new(lines).lines().enumerate() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if number == 0 {
            let names = machine.game().symbols();
            let roles = machine.game().roles().iter().map(|&role| names.name(role));
            same("roles", &texts(&line["roles"]), &roles.map(str::to_owned).collect())?;
            continue;
        }
        if line["s"] == 0 {
            state = machine.initial_state().map_err(|error| error.to_string())?;
        }
        check_line(&mut machine, &mut state, &line).map_err(|difference| {
            format!("playout {}, step {}: {difference}", line["p"], line["s"])
        })?;
    }
    Ok(())
}

/// Checks one state and goes on to the next.
fn check_line(machine: &mut Prover, state: &mut State, line: &Value) -> Result<(), String> {
    let failed = |error: games::ReasoningError| error.to_string();
    let facts = machine.facts(state).iter().map(Expression::to_string).collect();
    same("facts", &texts(&line["state"]), &facts)?;
    let terminal = machine.is_terminal(state).map_err(failed)?;
    if line["terminal"] != terminal {
        return Err(format!("terminal is {terminal}"));
    }
    let roles = machine.game().roles().to_vec();
    let mut moves = Vec::new();
    for (index, &role) in roles.iter().enumerate() {
        let id = RoleId(u8::try_from(index).unwrap());
        let name = machine.game().symbols().name(role).to_owned();
        if line["legal"].is_object() {
            machine.legal_moves(state, id, &mut moves).map_err(failed)?;
            let legal: Vec<_> =
                moves.iter().map(|&id| machine.move_expression(id).to_string()).collect();
            let set: BTreeSet<_> = legal.iter().cloned().collect();
            if set.len() != legal.len() {
                return Err("a move is listed twice".to_owned());
            }
            same(&format!("legal of {name}"), &texts(&line["legal"][&name]), &set)?;
        }
        if let Some(goal) = line["goals"][&name].as_i64() {
            let reading = machine.goal(state, id).map_err(failed)?;
            if reading.unique().map(|goal| i64::from(goal.value())) != Some(goal) {
                return Err(format!("goal of {name} is {reading:?}, not {goal}"));
            }
        }
    }
    if let Some(joint) = line["joint"].as_array() {
        let find = |text: &Value| {
            let expression = text.as_str().unwrap().parse().unwrap();
            machine.find_move(&expression).ok_or(format!("unknown move {text}"))
        };
        let joint: Result<Vec<MoveId>, String> = joint.iter().map(find).collect();
        let mut next = State::default();
        machine.next_state(state, &joint?, &mut next).map_err(failed)?;
        *state = next;
    }
    Ok(())
}

/// The texts of a list; `(p)` is `p` here, but not in the traces.
fn texts(list: &Value) -> BTreeSet<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |item: &Value| match item.as_str().unwrap().parse().unwrap() {
        Expression::List(items) if items.len() == 1 => items[0].to_string(),
        other => other.to_string(),
    };
    items.iter().map(text).collect()
}

fn same(what: &str, expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let missing: Vec<_> = expected.difference(found).take(3).collect();
    let extra: Vec<_> = found.difference(expected).take(3).collect();
    Err(format!("{what} differ: {missing:?} missing, {extra:?} too many"))
}
