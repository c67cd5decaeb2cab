//! Programs that `run` launches: nothing of them is left behind, and nobody else
//! answers in their place.

use std::path::Path;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::matches::THREE_STEPS;
use crate::workspace::{Workspace, is_running};

const RUN: [&str; 4] = ["run", "spec.toml", "--out", "out"];

/// The command line of one of the players here, up to the port.
fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/players").join(name);
    format!("python3 '{}'", path.display())
}

/// These programs by their ids, in matches of three steps.
fn workspace(blocks: u32, players: &[(&str, String)]) -> Workspace {
    let mut spec = format!(
        "games = [\"three_steps.kif\"]\nblocks = {blocks}\n\
         clocks = {{ start = \"30s\", play = \"30s\" }}\n"
    );
    for (id, command) in players {
        spec += &format!("[[players]]\nid = \"{id}\"\ncommand = \"{command}\"\n");
    }
    spec += "[[players]]\nkind = \"legal\"\n";
    let workspace = Workspace::with_spec(&spec);
    workspace.write("three_steps.kif", THREE_STEPS);
    workspace
}

/// The processes that `hides.py` has noted.
fn noted(workspace: &Workspace) -> Vec<String> {
    let notes = std::fs::read_to_string(workspace.path("notes")).unwrap_or_default();
    notes.lines().map(str::to_owned).collect()
}

/// Waits until they are gone; a test that does not end tells that they are not.
fn until_gone(processes: &[String]) {
    while processes.iter().any(|id| is_running(id)) {
        thread::yield_now();
    }
}

fn hides(rest: &str) -> [(&'static str, String); 1] {
    [("hides", format!("{} {{port}} notes{rest}", script("hides.py")))]
}

#[test]
fn what_hides_ends_with_the_run() {
    let workspace = workspace(1, &hides(""));
    workspace.run(&RUN).code(0);
    let processes = noted(&workspace);
    assert!(processes.len() >= 3, "{processes:?}");
    assert_eq!(processes.iter().filter(|id| is_running(id)).count(), 0, "{processes:?}");
}

#[test]
fn what_hides_ends_with_us_whatever_ends_us() {
    let workspace = workspace(100_000, &hides(""));
    let mut child = workspace.spawn(&RUN);
    while noted(&workspace).len() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the program ran");
        thread::yield_now();
    }
    let processes = noted(&workspace);
    assert!(processes.iter().all(|id| is_running(id)), "{processes:?}");
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    until_gone(&processes);
}

#[test]
fn a_program_that_stops_its_supervisor_ends_with_us() {
    let workspace = workspace(100_000, &hides(" stop"));
    let mut child = workspace.spawn(&RUN);
    while noted(&workspace).len() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before the program ran");
        thread::yield_now();
    }
    let processes = noted(&workspace);
    // Matches are played meanwhile, by a program whose supervisor stands still.
    let journal = workspace.path("out/journal.jsonl");
    let n_lines = || std::fs::read_to_string(&journal).unwrap_or_default().lines().count();
    while n_lines() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before a match was played");
        thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    until_gone(&processes);
}

#[test]
fn a_program_that_kills_its_supervisor_is_killed_too() {
    let workspace = workspace(1, &hides(" kill"));
    let told = workspace.run(&RUN).code(3).stderr();
    assert!(told.contains("player `hides` is not ready") && told.contains("signal 9"), "{told}");
    let processes = noted(&workspace);
    assert!(processes.len() >= 3, "{processes:?}");
    until_gone(&processes);
}

/// A thief and its victim.
fn stealing(how: &str) -> Workspace {
    let workspace = Workspace::new();
    let folder = workspace.path("").display().to_string();
    let of = |name: &str| format!("{} {how} '{folder}' {{port}}", script(name));
    let spec = format!(
        "games = [\"three_steps.kif\"]\nblocks = 10\n\
         clocks = {{ start = \"30s\", play = \"30s\" }}\n\
         [[players]]\nid = \"thief\"\ncommand = \"{}\"\n\
         [[players]]\nid = \"honest\"\ncommand = \"{}\"\n",
        of("steals.py"),
        of("honest.py")
    );
    workspace.write("spec.toml", &spec);
    workspace.write("three_steps.kif", THREE_STEPS);
    workspace
}

#[test]
fn whoever_takes_the_port_of_another_before_it_is_named() {
    let workspace = stealing("late");
    let told = workspace.run(&RUN).code(3).stderr();
    // Whoever took the port is named first.
    let thief = told.find("of player thief, which was ended for it, listens on port");
    let victim = told.find("which was given to player `honest`");
    assert!(thief.is_some() && thief < victim, "{told}");
    assert!(told.contains("this is no fault of the player"), "{told}");
    assert_eq!(workspace.read("out/journal.jsonl").lines().count(), 1, "nothing was played");
}

#[test]
fn nobody_is_charged_for_what_another_said_on_its_port() {
    let workspace = stealing("shared");
    let told = workspace.run(&[&RUN[..], &["--jobs", "1"]].concat()).code(1).stderr();
    assert!(told.contains("this is no fault of the player"), "{told}");
    assert!(told.contains("of player thief, which was ended for it, listens"), "{told}");
    let journal = workspace.read("out/journal.jsonl");
    let records: Vec<serde_json::Value> =
        journal.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!records.is_empty(), "{told}");
    for record in records {
        assert_eq!(record["ending"]["kind"], "aborted", "{record}");
        assert_eq!(record["seats"][0]["reward"], serde_json::Value::Null, "{record}");
    }
}

#[test]
fn a_program_may_take_a_socket_in_place_of_a_port() {
    let command = format!("{} {{socket}} {{port}}", script("takes_socket.py"));
    let workspace = workspace(1, &[("p", command)]);
    // The number of the socket is that of a file that the shell leaves open.
    workspace.run_after("exec 3</dev/null", &RUN).code(0);
    let rows = workspace.read("out/matches.csv");
    assert_eq!(rows.lines().count(), 1 + 4, "{rows}");
    assert!(!rows.contains("aborted"), "{rows}");
}

/// A run of one match with `greedy.py` under some limits.
fn greedy(what: &str, limits: &str) -> Workspace {
    let workspace = workspace(1, &[("p", format!("{} {{port}} {what}", script("greedy.py")))]);
    let spec = workspace.read("spec.toml");
    workspace.write("spec.toml", &spec.replace("id = \"p\"\n", &format!("id = \"p\"\n{limits}\n")));
    workspace.run(&RUN).code(0);
    workspace
}

#[test]
fn a_program_beyond_its_limits_is_ended_and_that_is_its_fault() {
    for (what, limits, said) in [
        ("memory", "limits.memory = \"128MiB\"", "its processes held more than 128.0 MiB"),
        (
            "processes",
            "limits = { processes = 10, memory = \"4GiB\" }",
            "it had more than 10 processes",
        ),
        ("memfd", "limits.memory = \"128MiB\"", "its processes held more than 128.0 MiB"),
        ("cores", "limits.cpus = 1", "it took more than 1 core"),
    ] {
        if what == "cores" && std::thread::available_parallelism().unwrap().get() == 1 {
            continue;
        }
        let workspace = greedy(what, limits);
        let moves = workspace.read("out/moves.csv");
        assert!(moves.contains(",crashed,"), "{moves}");
        let journal = workspace.read("out/journal.jsonl");
        assert!(journal.contains(&format!("the program was ended, since {said}")), "{journal}");
    }
}

#[test]
fn a_program_runs_on_as_many_cores_as_it_may() {
    let workspace = greedy("cpus", "limits.cpus = 1");
    let moves = workspace.read("out/moves.csv");
    assert!(!moves.contains("crashed"), "{moves}");
    let mut logs = std::fs::read_dir(workspace.path("out/logs")).unwrap();
    let log = std::fs::read_to_string(logs.next().unwrap().unwrap().path()).unwrap();
    assert_eq!(log.lines().next().unwrap().split(' ').count(), 1, "{log}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let workspace = workspace(1, &[("p", "./no_such_program {port}".to_owned())]);
    let told = workspace.run(&RUN).code(3).stderr();
    assert!(told.contains("cannot start `./no_such_program`: No such file"), "{told}");
}

#[test]
fn the_logs_of_a_player_are_limited_in_a_run() {
    let loud = "sh -c 'head -c 8000000 /dev/zero >&2 # {port}'";
    let workspace = workspace(1, &[("p", loud.to_owned())]);
    for _ in 0..6 {
        workspace.run(&RUN).code(3);
    }
    let logs = std::fs::read_dir(workspace.path("out/logs")).unwrap();
    let n_bytes: u64 = logs.map(|log| log.unwrap().metadata().unwrap().len()).sum();
    assert!((16 << 20..17 << 20).contains(&n_bytes), "{n_bytes}");
}
