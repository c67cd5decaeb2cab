//! Players at fault: each leaves exactly its fault, costs no more than its
//! clock and a little memory, and every match is played to its end.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use gamemaster::manager::{
    Enforcement, LaunchError, Manager, ManagerSettings, MatchRules, PlayerStderr, PreflightError,
};
use gamemaster::schedule::{Clocks, Job};
use games::MoveId;
use players::{Deliberation, Failure, Options, Player, PlayerKind, Seat, Stop, Turn};
use results::record::{Ending, FaultKind};

use crate::fake_player::{Behaviour, FakePlayer, until_cut, well, words};
use crate::matches::{THREE_STEPS, built_in, command, play, play_with, prepared, remote, setup};
use crate::workspace::{Ran, Workspace, is_running};

/// A clock that good players keep on a loaded machine.
const GENEROUS: Duration = Duration::from_secs(30);

fn check_port(port: u16, start: Option<FaultKind>, play_fault: Option<FaultKind>) {
    let game = prepared("three_steps", THREE_STEPS);
    let setup = setup(&game, vec![remote(port), built_in("legal")]);
    let played = play(&setup);
    assert_eq!(played.ending, Ending::Terminal);
    assert_eq!(played.rewards, [100, 0]);
    assert_eq!(played.ready[0].fault, start);
    assert_eq!(played.faults(0), [play_fault; 3]);
    assert_eq!((played.ready[1].fault, played.faults(1)), (None, vec![None; 3]));
    let limit = setup.job.clocks.play + setup.job.clocks.margin;
    for decisions in &played.steps {
        assert_eq!(decisions[0].n_legal, 3);
        // Late is what took longer than the clock, and nothing else.
        let is_late = decisions[0].fault == Some(FaultKind::LateMove);
        assert_eq!(decisions[0].wall > limit, is_late, "{decisions:?}");
        assert_eq!(
            decisions[0].wall - decisions[0].overrun,
            decisions[0].wall.min(setup.job.clocks.play)
        );
    }
}

fn check(behaviour: Behaviour, start: Option<FaultKind>, play_fault: Option<FaultKind>) {
    let player = FakePlayer::start(behaviour);
    check_port(player.port, start, play_fault);
}

#[test]
fn a_silent_player_is_late() {
    check(|_, stream| until_cut(stream), Some(FaultKind::LateStart), Some(FaultKind::LateMove));
}

#[test]
fn a_dribbling_player_is_late() {
    check(
        |_, stream| {
            stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 10000\r\n\r\n")?;
            loop {
                stream.write_all(b" ")?;
                thread::sleep(Duration::from_millis(20));
            }
        },
        Some(FaultKind::LateStart),
        Some(FaultKind::LateMove),
    );
}

#[test]
fn a_slow_player_is_late_and_its_answer_is_not_used() {
    check(
        |message, stream| {
            if message.starts_with("( PLAY") {
                thread::sleep(Duration::from_millis(450));
            }
            well(stream, words(message))
        },
        None,
        Some(FaultKind::LateMove),
    );
}

/// Answers that have no end, to all but INFO and STOP.
const FLOODS: [Behaviour; 9] = [
    |message, stream| {
        flood(message, stream, b"HTTP/1.0 200 OK\r\nContent-Length: 2000000000\r\n\r\n", b"x")
    },
    |message, stream| flood(message, stream, b"HTTP/1.0 200 OK\r\n\r\n", b"x"),
    |message, stream| flood(message, stream, b"HTTP/1.0 200 OK\r\n", b"X-More: and more\r\n"),
    |message, stream| flood(message, stream, b"HTTP/1.0 200 OK\r\nX-Long: ", b"x"),
    |message, stream| flood(message, stream, b"", b"HTTP/1.1 100 C\r\n\r\n"),
    |message, stream| flood(message, stream, CHUNKED, b"1;and=more\r\nx\r\n"),
    |message, stream| flood(message, stream, CHUNKED, b"00000000"),
    |message, stream| {
        flood(message, stream, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", b"x")
    },
    |message, stream| {
        let begin = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
        flood(message, stream, begin, b"X-Trailer: x\r\n")
    },
];

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn flood(message: &str, stream: &mut TcpStream, begin: &[u8], more: &[u8]) -> std::io::Result<()> {
    if !message.starts_with("( START") && !message.starts_with("( PLAY") {
        return measured(message, stream);
    }
    stream.write_all(begin)?;
    let more = more.repeat(65_536);
    loop {
        stream.write_all(&more)?;
    }
}

/// The program that plays, and the most memory it ever had. It is alive until it
/// has an answer to STOP, when all else is over.
static PLAYING: AtomicU32 = AtomicU32::new(0);
static PEAK_KILOBYTES: AtomicU64 = AtomicU64::new(0);

fn measured(message: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    if message.starts_with("( STOP") {
        let path = format!("/proc/{}/status", PLAYING.load(Ordering::SeqCst));
        let status = fs::read_to_string(path)?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        let kilobytes = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        PEAK_KILOBYTES.store(kilobytes, Ordering::SeqCst);
    }
    well(stream, words(message))
}

/// Plays a match of three steps in a process of its own: the first player's
/// faults, and the most kilobytes that the process ever had.
fn play_measured(behaviour: Behaviour) -> (Vec<serde_json::Value>, u64) {
    let player = FakePlayer::start(behaviour);
    let workspace = Workspace::new();
    workspace.write("three_steps.kif", THREE_STEPS);
    let url = format!("http://127.0.0.1:{}", player.port);
    let clocks = ["--start-clock", "1s", "--play-clock", "1s", "--margin", "1s"];
    let arguments = ["play", "three_steps.kif", &url, "legal", "--json"];
    PEAK_KILOBYTES.store(0, Ordering::SeqCst);
    let child = workspace.spawn(&[&arguments[..], &clocks].concat());
    PLAYING.store(child.id(), Ordering::SeqCst);
    let ran = Ran(child.wait_with_output().unwrap()).code(0);
    let record: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(record["ending"]["kind"], "terminal", "{record}");
    let steps = record["steps"].as_array().unwrap();
    let faults = steps.iter().map(|decisions| decisions[0]["fault"].clone()).collect();
    (faults, PEAK_KILOBYTES.load(Ordering::SeqCst))
}

#[test]
fn two_gigabytes_cost_nothing() {
    let (faults, usual) = play_measured(measured);
    assert!(faults.iter().all(serde_json::Value::is_null), "{faults:?}");
    assert!(usual > 0, "nothing was measured");
    for (number, behaviour) in FLOODS.into_iter().enumerate() {
        let (faults, peak) = play_measured(behaviour);
        assert_eq!(faults, ["unreadable"; 3], "{number}");
        assert!(peak > 0 && peak < usual + (16 << 10), "{number}: {peak} KiB, usually {usual}");
    }
}

/// Its opponent's moves are asked for while it floods.
#[test]
fn a_flood_does_not_delay_the_opponent() {
    for behaviour in FLOODS {
        let flooder = FakePlayer::start(behaviour);
        let honest = FakePlayer::start(|message, stream| well(stream, words(message)));
        let game = prepared("three_steps", THREE_STEPS);
        let mut setup = setup(&game, vec![remote(flooder.port), remote(honest.port)]);
        // A flood ends long before the clock does.
        let clocks = Clocks { start: GENEROUS, play: GENEROUS, margin: GENEROUS };
        setup.job = Arc::new(Job { clocks, ..(*setup.job).clone() });
        let played = play(&setup);
        assert_eq!(played.ending, Ending::Terminal);
        assert_eq!(played.faults(0), [Some(FaultKind::Unreadable); 3]);
        assert_eq!((played.ready[1].fault, played.faults(1)), (None, vec![None; 3]));
    }
}

/// As a server does whose handler fails.
#[test]
fn a_player_that_takes_the_message_and_hangs_up_is_there() {
    let fault = Some(FaultKind::Unreadable);
    check(|_, _| Ok(()), fault, fault);
    check(
        |_, stream| stream.write_all(b"HTTP/1.0 500 Internal Server Error\r\n\r\n"),
        fault,
        fault,
    );
}

#[test]
fn nobody_there_is_unreachable() {
    let fault = Some(FaultKind::Unreachable);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    check_port(port, fault, fault);
}

#[test]
fn a_player_that_answers_garbage_is_unreadable() {
    let fault = Some(FaultKind::Unreadable);
    check(|_, stream| stream.write_all(&[0x16, 0x03, 0xff, 0x00, b'\n']), fault, fault);
    // No server looks at the answer to START.
    check(|_, stream| well(stream, "(((("), None, fault);
    check(|_, stream| well(stream, ""), None, fault);
}

/// What a web server says, or a program that was made for people.
#[test]
fn what_is_no_move_is_unreadable_and_told() {
    let say: [(Behaviour, Option<FaultKind>, &str); 7] = [
        (
            |_, stream| {
                stream
                    .write_all(b"HTTP/1.0 500 Internal Server Error\r\n\r\nTraceback: no such key")
            },
            Some(FaultKind::Unreadable),
            "HTTP 500: Traceback: no such key",
        ),
        (
            |_, stream| stream.write_all(b"HTTP/1.0 404 Not Found\r\n\r\n(no such page)"),
            Some(FaultKind::Unreadable),
            "HTTP 404: (no such page)",
        ),
        (
            |_, stream| well(stream, "<!DOCTYPE html>\n<title>Hello</title>"),
            Some(FaultKind::Unreadable),
            "HTTP 200: <!DOCTYPE html>",
        ),
        (
            |_, stream| well(stream, "{\"move\": \"(add 1)\"}"),
            Some(FaultKind::Unreadable),
            "HTTP 200: {\"move\": \"(add 1)\"}",
        ),
        (
            |_, stream| stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: ten\r\n\r\n(add 1)"),
            Some(FaultKind::Unreadable),
            "invalid HTTP reply (not a valid Content-Length): HTTP/1.0 200 OK",
        ),
        (|_, stream| well(stream, "I add 1, please"), None, "HTTP 200: I add 1, please"),
        (|_, stream| well(stream, "((((\nand more"), None, "HTTP 200: (((("),
    ];
    let game = prepared("three_steps", THREE_STEPS);
    for (behaviour, start, submitted) in say {
        let player = FakePlayer::start(behaviour);
        let played = play(&setup(&game, vec![remote(player.port), built_in("legal")]));
        assert_eq!(played.ready[0].fault, start, "{submitted}");
        let told = played.ready[0].detail.as_deref().unwrap_or_default();
        assert_eq!(told.contains(submitted), start.is_some(), "{told}");
        for decisions in &played.steps {
            assert_eq!(decisions[0].fault, Some(FaultKind::Unreadable));
            assert_eq!(decisions[0].submitted.as_deref(), Some(submitted));
        }
        let manager = Manager::new(ManagerSettings::default());
        let is_refused = manager.preflight(&remote(player.port).unwrap()).is_err();
        assert_eq!(is_refused, start.is_some(), "{submitted}");
    }
    // An error with a legal move is a move.
    check(
        |message, stream| write!(stream, "HTTP/1.0 500 Oops\r\n\r\n{}", words(message)),
        Some(FaultKind::Unreadable),
        None,
    );
}

#[test]
fn a_fault_says_what_was_expected() {
    let game = prepared("three_steps", THREE_STEPS);
    let detail = |behaviour: Behaviour| {
        let player = FakePlayer::start(behaviour);
        let played = play(&setup(&game, vec![remote(player.port), built_in("legal")]));
        played.steps[0][0].detail.clone().unwrap()
    };
    let illegal = detail(|message, stream| match words(message) {
        "(add 1)" => well(stream, "(add 7)"),
        other => well(stream, other),
    });
    assert_eq!(illegal, "legal: (add 1) (add 2) noop");
    let late = detail(|_, stream| until_cut(stream));
    assert!(
        late.starts_with("no complete reply within 300ms (clock 200ms + margin 100ms)"),
        "{late}"
    );
}

/// A player is told whole seconds, and may believe them.
#[test]
fn what_is_told_is_enforced_or_what_is_exact() {
    let behave: Behaviour = |message, stream| {
        if message.starts_with("( PLAY") {
            thread::sleep(Duration::from_millis(500));
        }
        well(stream, words(message))
    };
    let game = prepared("three_steps", THREE_STEPS);
    for (enforcement, expected) in
        [(Enforcement::Announced, None), (Enforcement::Exact, Some(FaultKind::LateMove))]
    {
        let player = FakePlayer::start(behave);
        let mut setup = setup(&game, vec![remote(player.port), built_in("legal")]);
        setup.rules = Arc::new(MatchRules { enforcement, ..MatchRules::default() });
        assert_eq!(play(&setup).faults(0), [expected; 3], "{enforcement:?}");
        let started = player.heard().into_iter().next().unwrap();
        assert!(started.ends_with(" 1 1)"), "{started}");
    }
}

#[test]
fn an_illegal_move_is_replaced_and_kept() {
    let player = FakePlayer::start(|message, stream| match words(message) {
        "(add 1)" => well(stream, "(add 7)"),
        other => well(stream, other),
    });
    let game = prepared("three_steps", THREE_STEPS);
    let played = play(&setup(&game, vec![remote(player.port), built_in("legal")]));
    assert_eq!(played.faults(0), [Some(FaultKind::IllegalMove); 3]);
    for decisions in &played.steps {
        assert_eq!(decisions[0].submitted.as_deref(), Some("(add 7)"));
        assert!(["(add 1)", "(add 2)", "noop"].contains(&&*decisions[0].executed));
    }
    // The same seed gives the same substitutes.
    let again = play(&setup(&game, vec![remote(player.port), built_in("legal")]));
    assert_eq!(again.moves(), played.moves());
}

#[test]
fn odd_but_understandable_players_play_without_fault() {
    let say: [Behaviour; 6] = [
        |message, stream| {
            let body = words(message);
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )?;
            until_cut(stream)
        },
        |message, stream| {
            let body = words(message);
            write!(stream, "HTTP/1.0 200 OK\nContent-Length: {}\n\n{body}", body.len())
        },
        |message, stream| {
            let body = words(message);
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
                body.len()
            )
        },
        |message, stream| well(stream, &words(message).to_uppercase()),
        |message, stream| well(stream, &format!("{}\n", words(message))),
        |message, stream| write!(stream, "HTTP/1.0 200 OK\r\n\r\n{}", words(message)),
    ];
    for behaviour in say {
        check(behaviour, None, None);
    }
}

/// PLAYs that each of two players was sent.
static N_ASKED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Does not answer a PLAY before the other player has got it, too.
fn after_the_other(player: usize, message: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    if message.starts_with("( PLAY") {
        let n = N_ASKED[player].fetch_add(1, Ordering::SeqCst) + 1;
        while N_ASKED[1 - player].load(Ordering::SeqCst) < n {
            thread::yield_now();
        }
    }
    well(stream, words(message))
}

#[test]
fn players_are_asked_all_at_once() {
    let one = FakePlayer::start(|message, stream| after_the_other(0, message, stream));
    let other = FakePlayer::start(|message, stream| after_the_other(1, message, stream));
    let game = prepared("three_steps", THREE_STEPS);
    let mut setup = setup(&game, vec![remote(one.port), remote(other.port)]);
    std::sync::Arc::get_mut(&mut setup.job).unwrap().clocks.play = GENEROUS;
    let played = play(&setup);
    // Asked one after the other, the first would be late each time.
    assert_eq!((played.faults(0), played.faults(1)), (vec![None; 3], vec![None; 3]));
}

#[test]
fn two_bad_players_at_once_are_both_late() {
    let silent = FakePlayer::start(|_, stream| until_cut(stream));
    let other = FakePlayer::start(|_, stream| until_cut(stream));
    let game = prepared("three_steps", THREE_STEPS);
    let played = play(&setup(&game, vec![remote(silent.port), remote(other.port)]));
    assert_eq!(played.ending, Ending::Terminal);
    assert_eq!(played.faults(0), [Some(FaultKind::LateMove); 3]);
    assert_eq!(played.faults(1), [Some(FaultKind::LateMove); 3]);
}

// --- Programs ------------------------------------------------------------------

fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/players").join(name);
    format!("python3 '{}' {{port}}", path.display())
}

#[test]
fn a_program_that_crashes_is_started_again_for_the_next_match() {
    let game = prepared("three_steps", THREE_STEPS);
    let manager = Manager::new(ManagerSettings::default());
    let mut worker = manager.worker();
    let mut setup = setup(&game, vec![command(script("crashes.py")), built_in("legal")]);
    std::sync::Arc::get_mut(&mut setup.job).unwrap().clocks.play = GENEROUS;
    for _ in 0..2 {
        let played = play_with(&mut worker, &setup);
        assert_eq!(played.ready[0].fault, None, "{:?}", played.notices);
        let crashed = Some(FaultKind::Crashed);
        assert_eq!(played.faults(0), [None, crashed, crashed]);
        assert_eq!(played.ending, Ending::Terminal);
    }
}

#[test]
fn a_program_leaves_nothing_behind() {
    let logs = tempfile::tempdir().unwrap();
    let settings =
        ManagerSettings { stderr: PlayerStderr::Log(logs.path().to_owned()), ..Default::default() };
    let manager = Manager::new(settings);
    let game = prepared("three_steps", THREE_STEPS);
    let mut worker = manager.worker();
    let mut setup = setup(&game, vec![command(script("forks.py")), built_in("legal")]);
    std::sync::Arc::get_mut(&mut setup.job).unwrap().clocks.play = GENEROUS;
    let played = play_with(&mut worker, &setup);
    assert_eq!(played.faults(0), [None; 3], "{:?}", played.notices);
    let log = fs::read_dir(logs.path()).unwrap().next().unwrap().unwrap().path();
    let told = fs::read_to_string(log).unwrap();
    let children: Vec<&str> = told.split_whitespace().collect();
    assert_eq!(children.len(), 2, "{told}");
    assert!(children.iter().all(|id| is_running(id)));
    manager.shutdown();
    // They were killed; a test that does not end tells that they were not.
    while children.iter().any(|id| is_running(id)) {
        thread::yield_now();
    }
}

#[test]
fn the_preflight_says_what_is_wrong() {
    let told = |config: Option<std::sync::Arc<gamemaster::manager::PlayerConfig>>| {
        Manager::new(ManagerSettings::default()).preflight(&config.unwrap()).unwrap_err()
    };
    assert!(matches!(told(built_in("nobody")), PreflightError::UnknownKind(_)));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert!(matches!(told(remote(port)), PreflightError::Silent { .. }));
    let PreflightError::Launch { source, .. } = told(command("false {port}".into())) else {
        panic!("the program ends");
    };
    assert!(matches!(source, LaunchError::Ended { .. }), "{source}");
    let manager = Manager::new(ManagerSettings {
        launch_limit: Duration::from_millis(300),
        ..Default::default()
    });
    let sleeper = command("sh -c 'exec sleep 1000 # {port}'".into()).unwrap();
    let PreflightError::Launch { source, .. } = manager.preflight(&sleeper).unwrap_err() else {
        panic!("the program says nothing");
    };
    assert!(matches!(source, LaunchError::Silent { .. }), "{source}");
    let player = FakePlayer::start(|_, stream| well(stream, "available"));
    assert!(manager.preflight(&remote(player.port).unwrap()).is_ok());
}

// --- In this process --------------------------------------------------------------

/// Lets hanging players go, once a test has seen enough.
static RELEASED: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy)]
enum Vice {
    Panics,
    PanicsAtStart,
    Fails,
    Hangs,
    IgnoresClock,
    PlaysIllegally,
}

struct Vicious(Vice);

impl Player for Vicious {
    fn start(&mut self, _: Seat, _: &Stop) -> Result<(), Failure> {
        match self.0 {
            Vice::PanicsAtStart => panic!("as it was made to"),
            _ => Ok(()),
        }
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        match self.0 {
            Vice::Panics => panic!("as it was made to"),
            Vice::Fails => return Err(Failure::Unsuitable("nothing suits it".into())),
            Vice::Hangs => {
                while !RELEASED.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            Vice::IgnoresClock => {
                while !stop.cancel().is_cancelled() {
                    thread::yield_now();
                }
            }
            Vice::PlaysIllegally => return Ok(MoveId(u32::MAX)),
            Vice::PanicsAtStart => {}
        }
        Ok(turn.legal[0])
    }

    fn abort(&mut self) {}

    fn deliberation(&self) -> Option<Deliberation> {
        None
    }
}

const fn kind(
    name: &'static str,
    instant: bool,
    make: fn(&Options) -> Result<Box<dyn Player>, players::OptionError>,
) -> PlayerKind {
    PlayerKind { name, summary: "", options: &[], instant, plays_hidden_information: true, make }
}

static VICIOUS: [PlayerKind; 9] = [
    kind("panics", false, |_| Ok(Box::new(Vicious(Vice::Panics)))),
    kind("panics_at_start", false, |_| Ok(Box::new(Vicious(Vice::PanicsAtStart)))),
    kind("fails", false, |_| Ok(Box::new(Vicious(Vice::Fails)))),
    kind("hangs", false, |_| Ok(Box::new(Vicious(Vice::Hangs)))),
    kind("ignores_clock", false, |_| Ok(Box::new(Vicious(Vice::IgnoresClock)))),
    kind("plays_illegally", false, |_| Ok(Box::new(Vicious(Vice::PlaysIllegally)))),
    kind("panics_instantly", true, |_| Ok(Box::new(Vicious(Vice::Panics)))),
    kind("fails_instantly", true, |_| Ok(Box::new(Vicious(Vice::Fails)))),
    kind("plays_illegally_instantly", true, |_| Ok(Box::new(Vicious(Vice::PlaysIllegally)))),
];

fn registry(name: &str) -> Option<&'static PlayerKind> {
    VICIOUS.iter().find(|kind| kind.name == name).or_else(|| players::find(name))
}

fn check_built_in(
    kind: &'static str,
    start: Option<FaultKind>,
    faults: [Option<FaultKind>; 3],
    n_notices: usize,
) {
    let manager = Manager::new(ManagerSettings { registry, ..Default::default() });
    let mut worker = manager.worker();
    let game = prepared("three_steps", THREE_STEPS);
    for _ in 0..2 {
        let mut setup = setup(&game, vec![built_in("random"), built_in(kind)]);
        // Nothing here is about time; a backtrace alone may take longer than a clock.
        if !matches!(kind, "hangs" | "ignores_clock") {
            let patience = Duration::from_secs(20);
            let clocks = Clocks { start: patience, play: patience, margin: patience };
            setup.job = Arc::new(Job { clocks, ..(*setup.job).clone() });
        }
        let played = play_with(&mut worker, &setup);
        assert_eq!(played.ending, Ending::Terminal, "{kind}");
        assert_eq!(played.ready[1].fault, start, "{kind}");
        assert_eq!(played.faults(1), faults, "{kind}");
        assert_eq!(played.faults(0), [None; 3], "{kind}");
        assert_eq!(played.notices.len(), n_notices, "{kind}: {:?}", played.notices);
    }
}

#[test]
fn built_in_players_break_down_alone() {
    let crashed = Some(FaultKind::Crashed);
    let illegal = Some(FaultKind::IllegalMove);
    check_built_in("panics", None, [crashed; 3], 0);
    check_built_in("panics_at_start", crashed, [crashed; 3], 0);
    check_built_in("fails", None, [crashed; 3], 0);
    check_built_in("plays_illegally", None, [illegal; 3], 0);
    check_built_in("panics_instantly", None, [crashed; 3], 0);
    check_built_in("fails_instantly", None, [crashed; 3], 0);
    check_built_in("plays_illegally_instantly", None, [illegal; 3], 0);
}

#[test]
fn a_built_in_player_that_overruns_is_stopped_and_goes_on() {
    check_built_in("ignores_clock", None, [Some(FaultKind::LateMove); 3], 0);
}

#[test]
fn a_built_in_player_that_hangs_is_left_behind() {
    check_built_in("hangs", None, [Some(FaultKind::LateMove); 3], 1);
    RELEASED.store(true, Ordering::SeqCst);
}

#[test]
fn an_interruption_ends_a_match() {
    let manager = Manager::new(ManagerSettings::default());
    let silent = FakePlayer::start(|_, stream| until_cut(stream));
    let game = prepared("three_steps", THREE_STEPS);
    let mut setup = setup(&game, vec![remote(silent.port), built_in("legal")]);
    std::sync::Arc::get_mut(&mut setup.job).unwrap().clocks.start = Duration::from_secs(1000);
    let mut worker = manager.worker();
    let playing = thread::spawn(move || play_with(&mut worker, &setup));
    while silent.heard().is_empty() {
        thread::yield_now();
    }
    manager.interrupt();
    let played = playing.join().unwrap();
    assert_eq!(played.ending, Ending::interrupted());
    assert_eq!(silent.heard().last().map(|message| message.starts_with("( ABORT")), Some(true));
    let _ = TcpStream::connect(("127.0.0.1", silent.port));
}
