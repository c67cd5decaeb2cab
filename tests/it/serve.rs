//! `gamemaster serve`: our players under Gamemasters that speak other dialects.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use gamemaster::manager::{Dialect, PlayerConfig};
use gamemaster::serve::{ServeError, ServeSettings, Server};
use games::MoveId;
use players::{Deliberation, Failure, Options, Player, PlayerKind, Seat, Stop, Turn};
use results::record::Ending;

use crate::matches::{THREE_STEPS, command, play, prepared, remote, setup, shipped};

fn served(kind: &'static PlayerKind) -> Server {
    let options = Options::new();
    Server::start(ServeSettings::local(kind, options)).unwrap()
}

fn random() -> Server {
    served(players::find("random").unwrap())
}

/// Sends raw bytes and reads to the end of the connection.
fn send(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may have seen enough before all is written.
    let _ = stream.write_all(request);
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    String::from_utf8_lossy(&reply).into_owned()
}

/// A message as the Dresden server sends it; the reply's body.
fn say(server: &Server, message: &str) -> String {
    let request = format!(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: Gamecontroller\r\nReceiver: 127.0.0.1\r\n\
         Content-type: text/acl\r\nContent-length: {}\r\n\r\n{message}",
        message.len()
    );
    let reply = send(server.address(), request.as_bytes());
    let (header, body) = reply.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{reply:?}"));
    assert!(header.starts_with("HTTP/1.0 200 "), "{header}");
    body.to_owned()
}

fn start(server: &Server, id: &str, role: &str, rules: &str, clocks: &str) -> String {
    say(server, &format!("(START {id} {role} ({rules}) {clocks})"))
}

#[test]
fn a_whole_match_goes_over_http() {
    let (one, other) = (random(), random());
    for name in ["tic_tac_toe", "nim", "rock_paper_scissors"] {
        let game = prepared(name, shipped(name));
        let played =
            play(&relaxed(setup(&game, [&one, &other].map(|s| remote(s.address().port())).into())));
        assert_eq!(played.ending, Ending::Terminal);
        for role in 0..2 {
            assert_eq!(played.ready[role].fault, None);
            assert!(played.faults(role).iter().all(Option::is_none), "{played:?}");
        }
    }
}

fn relaxed(mut setup: gamemaster::manager::MatchSetup) -> gamemaster::manager::MatchSetup {
    let clocks = &mut Arc::get_mut(&mut setup.job).unwrap().clocks;
    clocks.start = Duration::from_secs(10);
    clocks.play = Duration::from_secs(10);
    setup
}

#[test]
fn hidden_information_is_followed_in_both_dialects() {
    let server = random();
    for dialect in [Dialect::Official, Dialect::OldDresden] {
        let game = prepared("monty_hall", shipped("monty_hall"));
        let seat = remote(server.address().port()).unwrap();
        let seat = Some(Arc::new(PlayerConfig { dialect, ..(*seat).clone() }));
        let random = game.game.random().unwrap();
        let seats = (0..2)
            .map(|role| if usize::from(random.0) == role { None } else { seat.clone() })
            .collect();
        let played = play(&relaxed(setup(&game, seats)));
        assert_eq!(played.ending, Ending::Terminal);
        for role in 0..2 {
            assert!(played.faults(role).iter().all(Option::is_none), "{dialect:?} {played:?}");
        }
    }
}

#[test]
fn upper_case_games_are_played_in_upper_case() {
    let server = random();
    let rules = THREE_STEPS.to_uppercase();
    assert_eq!(start(&server, "Match.1", "O", &rules, "10 10"), "ready");
    let answer = say(&server, "(PLAY Match.1 NIL)");
    assert!(["(ADD 1)", "(ADD 2)", "NOOP"].contains(&answer.as_str()), "{answer}");
    let answer = say(&server, "(PLAY Match.1 ((ADD 2) NOOP))");
    assert!(["(ADD 1)", "(ADD 2)", "NOOP"].contains(&answer.as_str()), "{answer}");
    assert_eq!(say(&server, "(STOP Match.1 ((ADD 1) (ADD 1)))"), "done");
    assert!(say(&server, "(INFO)").contains("( status available )"));
}

#[test]
fn one_match_at_a_time_is_kept_apart_by_its_id() {
    let server = random();
    assert_eq!(start(&server, "m", "x", THREE_STEPS, "10 10"), "ready");
    assert!(say(&server, "(ping)").contains("( name random ) ( status busy )"));
    assert_eq!(start(&server, "other", "x", THREE_STEPS, "10 10"), "busy");
    for foreign in ["(PLAY other NIL)", "(STOP other NIL)", "(ABORT other)", "(PLAY M NIL)"] {
        assert_eq!(say(&server, foreign), "busy", "{foreign}");
    }
    // The same match again, as after a lost reply.
    assert_eq!(start(&server, "m", "o", THREE_STEPS, "10 10"), "ready");
    assert_ne!(say(&server, "(PLAY m NIL)"), "busy");
    assert_eq!(say(&server, "(ABORT m)"), "aborted");
    assert_eq!(say(&server, "(PLAY m NIL)"), "busy");
    assert_eq!(start(&server, "other", "x", THREE_STEPS, "10 10"), "ready");
}

#[test]
fn a_silent_match_is_given_up_and_a_lost_step_found_again() {
    let server = random();
    // Moves depend on the step, so the second joint move is not legal in the first state.
    let rules = "(role x) (init (step 1)) (after 1 2) (after 2 3) (after 3 4)
        (<= (legal x (go ?n)) (true (step ?n))) (<= (legal x (also ?n)) (true (step ?n)))
        (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
        (<= terminal (true (step 4))) (goal x 100)";
    assert_eq!(start(&server, "m", "x", rules, "10 10"), "ready");
    assert!(say(&server, "(PLAY m NIL)").ends_with(" 1)"));
    let answer = say(&server, "(PLAY m ((go 2)))");
    assert!(answer.ends_with(" 3)"), "{answer}");
    // Two lost steps cannot be found: something legal-looking is said.
    assert_ne!(say(&server, "(PLAY m ((go 1)))"), "");
}

#[test]
fn requests_of_all_kinds_are_answered_and_closed() {
    let server = random();
    let address = server.address();
    let options = send(address, b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n").to_ascii_lowercase();
    assert!(options.contains("access-control-allow-origin: *"), "{options}");
    assert!(options.contains("content-length: 0"), "{options}");
    let get = send(address, b"GET /%28INFO%29 HTTP/1.0\r\n\r\n");
    assert!(get.contains("( name random )"), "{get}");
    let put = send(address, b"PUT / HTTP/1.0\r\n\r\n");
    assert!(put.starts_with("HTTP/1.0 405 "), "{put}");
    let lines = send(address, b"POST /any/path HTTP/1.1\nhost: y\ncontent-length: 7\n\n(INFO)\n");
    assert!(lines.contains("( name random )"), "{lines}");
    assert_eq!(say(&server, "( PREVIEW (( role x ) ) 3 )"), "ready");
    for unknown in ["hello", "(dance m)", "play(m,nil)", "", "((", "(start)"] {
        assert_eq!(say(&server, unknown), "what", "{unknown}");
    }
}

#[test]
fn hostile_requests_do_no_harm() {
    let server = random();
    let address = server.address();
    let post = |body: &[u8]| {
        let header = format!("POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n", body.len());
        send(address, &[header.as_bytes(), body].concat())
    };
    post(&b"(".repeat(1 << 20));
    assert!(!post(&vec![b'x'; 5 << 20]).contains("200 OK"));
    post(&[0xff; 100]);
    send(address, &b"POST / HTTP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n(INFO)"[..]);
    send(address, &b"\x16\x03\x01\x02\x00\x01\x00"[..].repeat(50));
    send(address, &b"X: x\r\n".repeat(50_000));
    // Rules that are none, a role that is not there, terms without end, bad UTF-8.
    for (role, rules) in [
        ("x", "(role x) (<= (p ?x) (not (q ?x)))"),
        ("y", THREE_STEPS),
        ("(x)", THREE_STEPS),
        ("x", ""),
        ("x", "(role x) (n z) (<= (n (s ?x)) (n ?x)) (<= (init ?x) (n ?x)) (legal x a) (goal x 1)"),
    ] {
        assert_eq!(start(&server, "m", role, rules, "10 10"), "busy", "{rules}");
    }
    // Half a request, and gone.
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"POST / HTTP/1.0\r\nContent-Length: 1000\r\n\r\n(STA").unwrap();
    let _ = stream.shutdown(Shutdown::Both);
    assert!(say(&server, "(INFO)").contains("available"));
    assert_eq!(start(&server, "m", "x", THREE_STEPS, "10 10"), "ready");
}

// --- Hostile peers ------------------------------------------------------------------

/// The program as it is served to strangers. Dropping it ends it.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"))
            .args(["serve", "--player", "random", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        Self { child, address }
    }

    /// Sends a message without waiting for the answer.
    fn tell(&self, message: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let header = format!("POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n", message.len());
        // What is refused is not read to its end.
        let _ = stream.write_all(header.as_bytes());
        let _ = stream.write_all(message.as_bytes());
        stream
    }

    fn say(&self, message: &str) -> String {
        let mut answer = String::new();
        self.tell(message).read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    /// The most memory it ever had.
    fn peak_mebibytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
    }

    /// Threads of matches that run.
    fn n_matches(&self) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let name = |task: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
        };
        tasks.filter_map(name).filter(|name| name.trim() == "match").count()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A state of it has the square of the facts of the one before.
const SQUARING: &str = "(role x) (init (p a)) (init (p b))
    (<= (legal x (go ?a ?b)) (true (p ?a)) (true (p ?b)))
    (<= (next (p (f ?a ?b))) (true (p ?a)) (true (p ?b)))
    (<= terminal (true (p z))) (goal x 100)";

/// Rules that take long to be understood, in little memory: ten thousand million
/// combinations of numbers.
fn combining() -> String {
    let numbers: String = (0..100).map(|n| format!("(number {n}) ")).collect();
    // No variable can be left out before the others are known.
    let unlike = "(number ?a) (number ?b) (number ?c) (number ?d) (number ?e)
        (distinct ?a ?b) (distinct ?a ?c) (distinct ?a ?d) (distinct ?a ?e) (distinct ?b ?c)
        (distinct ?b ?d) (distinct ?b ?e) (distinct ?c ?d) (distinct ?c ?e) (distinct ?d ?e)";
    format!(
        "(role x) {numbers} (<= (big ?a ?e) {unlike}) (init (p 0))
        (<= (legal x (go ?a)) (big ?a ?b) (true (p ?b)))
        (<= (next (p ?a)) (does x (go ?a))) (<= terminal (true (p 7))) (goal x 100)"
    )
}

/// Memory that none of what follows may take. It was several gigabytes.
const MUCH_MEBIBYTES: u64 = 700;

#[test]
fn a_match_that_is_broken_off_stops_computing() {
    let server = Process::start(&[]);
    for round in 0..6 {
        let _start = server.tell(&format!("(START m{round} x ({SQUARING}) 1000 1000)"));
        while !server.say("(INFO)").contains("busy") || server.n_matches() == 0 {
            thread::yield_now();
        }
        assert_eq!(server.say(&format!("(ABORT m{round})")), "aborted");
    }
    while server.n_matches() > 0 {
        thread::yield_now();
    }
    let peak = server.peak_mebibytes();
    assert!(peak < MUCH_MEBIBYTES, "{peak} MiB");
    assert_eq!(server.say(&format!("(START m x ({THREE_STEPS}) 20 20)")), "ready");
}

#[test]
fn questions_do_not_pile_up_while_a_player_reads_the_rules() {
    let server = Process::start(&[]);
    let _start = server.tell(&format!("(START m x ({}) 1000 1)", combining()));
    while server.n_matches() == 0 {
        thread::yield_now();
    }
    let _waiting: Vec<TcpStream> = (0..8).map(|_| server.tell("(PLAY m (a))")).collect();
    // Those eight may still be on their way; then this is one of them, for a second.
    let is_busy = || server.say("(PLAY m (a))") == "busy";
    assert!((0..20).any(|_| is_busy()), "nobody is turned away");
    let large = format!("(PLAY m ({}))", "a ".repeat(900_000));
    let asked: Vec<TcpStream> = (0..20).map(|_| server.tell(&large)).collect();
    for mut stream in asked {
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.starts_with("HTTP/1.0 413 "), "{answer}");
    }
    let peak = server.peak_mebibytes();
    assert!(peak < MUCH_MEBIBYTES, "{peak} MiB");
}

#[test]
fn large_messages_are_parsed_one_at_a_time_and_hold_nobody_up() {
    let server = Process::start(&[]);
    let large = format!("(START m x ({}) 1000 1000)", "(p (a b)) ".repeat(200_000));
    let asked: Vec<TcpStream> = (0..16).map(|_| server.tell(&large)).collect();
    assert!(server.say("(INFO)").contains("random"));
    for mut stream in asked {
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let peak = server.peak_mebibytes();
    assert!(peak < MUCH_MEBIBYTES, "{peak} MiB");
}

#[test]
fn whoever_says_nothing_keeps_nobody_out() {
    let server = Process::start(&["--max-connections", "8"]);
    let half = b"POST / HTTP/1.0\r\nContent-Le";
    let mut silent: Vec<TcpStream> = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let _ = stream.write_all(half);
        silent.push(stream);
    }
    assert!(server.say("(INFO)").contains("available"));
    // The oldest were closed to make room, and the others are in their time.
    for mut stream in silent {
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

#[test]
fn a_server_needs_memory() {
    assert_cmd::Command::cargo_bin("gamemaster")
        .unwrap()
        .args(["serve", "--player", "random", "--memory", "16MiB"])
        .assert()
        .code(2);
}

// --- Players that take their time ---------------------------------------------------

/// Thinks until it is told to stop.
struct Thinker;

/// How many questions were ever asked of thinkers that watch it.
static N_QUESTIONS: AtomicUsize = AtomicUsize::new(0);

impl Player for Thinker {
    fn start(&mut self, _: Seat, _: &Stop) -> Result<(), Failure> {
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        N_QUESTIONS.fetch_add(1, Ordering::SeqCst);
        while !stop.is_due(0) {
            thread::yield_now();
        }
        Ok(turn.legal[turn.step as usize % turn.legal.len()])
    }

    fn abort(&mut self) {}

    fn deliberation(&self) -> Option<Deliberation> {
        None
    }
}

static THINKER: PlayerKind = PlayerKind {
    name: "thinker",
    summary: "",
    options: &[],
    instant: false,
    plays_hidden_information: false,
    make: |_| Ok(Box::new(Thinker)),
};

fn await_questions(n: usize) {
    while N_QUESTIONS.load(Ordering::SeqCst) < n {
        thread::yield_now();
    }
}

#[test]
fn info_is_answered_while_the_player_thinks_and_play_cancels_play() {
    let server = Arc::new(served(&THINKER));
    assert_eq!(start(&server, "m", "x", THREE_STEPS, "1 1000"), "ready");
    let thinking = Arc::clone(&server);
    let first = thread::spawn(move || say(&thinking, "(PLAY m NIL)"));
    // The first PLAY has a thousand seconds; only the second one ends it.
    await_questions(1);
    assert!(say(&server, "(INFO)").contains("busy"));
    let thinking = Arc::clone(&server);
    let second = thread::spawn(move || say(&thinking, "(PLAY m ((add 1) noop))"));
    await_questions(2);
    assert!(say(&server, "(INFO)").contains("busy"));
    assert_ne!(first.join().unwrap(), "");
    assert_eq!(say(&server, "(STOP m ((add 1) noop))"), "done");
    assert_ne!(second.join().unwrap(), "");
    an_answer_comes_before_the_clock_is_over(&server);
}

/// Part of the test above, because the questions are counted.
fn an_answer_comes_before_the_clock_is_over(server: &Server) {
    let game = prepared("three_steps", THREE_STEPS);
    let mut setup = setup(&game, vec![remote(server.address().port()), remote(0)]);
    setup.seats[1] = crate::matches::built_in("legal");
    let clocks = &mut Arc::get_mut(&mut setup.job).unwrap().clocks;
    (clocks.start, clocks.play) = (Duration::from_secs(1), Duration::from_secs(1));
    clocks.margin = Duration::from_secs(2);
    let played = play(&setup);
    assert!(played.faults(0).iter().all(Option::is_none), "{played:?}");
}

/// `me` cannot know two of the three numbers that `other` hides, and it takes a
/// while to work out what it sees. Its move depends on the step.
const MUCH_HIDDEN: &str = "
    (role me) (role other) (init (step 0))
    (after 0 1) (after 1 2) (after 2 3) (after 3 4)
    (number 1) (number 2) (number 3) (number 4) (number 5) (number 6) (number 7) (number 8)
    (number 9) (number 10) (number 11) (number 12) (number 13) (number 14) (number 15)
    (<= (legal me (go ?n)) (true (step ?n)))
    (<= (legal other (hide ?a ?b ?c)) (number ?a) (number ?b) (number ?c))
    (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
    (<= (next (hidden ?n ?a ?b)) (true (step ?n)) (does other (hide ?a ?b ?c)))
    (<= (next (hidden ?n ?a ?b)) (true (hidden ?n ?a ?b)))
    (<= (thought ?x ?y ?z) (does other (hide ?a ?b ?c)) (number ?x) (number ?y) (number ?z))
    (<= thoughtless (number ?x) (number ?y) (number ?z) (not (thought ?x ?y ?z)))
    (<= (sees me (last ?c)) (does other (hide ?a ?b ?c)) (not thoughtless))
    (<= terminal (true (step 4)))
    (goal me 100) (goal other 0)";

#[test]
fn a_legal_move_is_at_hand_however_much_is_hidden() {
    // All that fits could not be gone through within these clocks.
    let server = random();
    let game = prepared("much_hidden", MUCH_HIDDEN);
    let mut setup = setup(&game, vec![remote(server.address().port()), None]);
    setup.seats[1] = crate::matches::built_in("random");
    let clocks = &mut Arc::get_mut(&mut setup.job).unwrap().clocks;
    (clocks.start, clocks.play) = (Duration::from_secs(2), Duration::from_secs(2));
    clocks.margin = Duration::from_secs(2);
    let played = play(&setup);
    assert_eq!(played.ending, Ending::Terminal);
    assert!(played.faults(0).iter().all(Option::is_none), "{played:?}");
    assert_eq!(played.steps.len(), 4);
}

#[test]
fn options_are_read_as_in_a_spec() {
    let serve = |options: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("gamemaster").unwrap();
        command.args(["serve", "--player", "alpha_beta"]);
        command.args(options.iter().flat_map(|option| ["--option", option]));
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    for option in ["depth=deep", "depth=\"4\"", "depth=[\"4\"]", "colour=1", "depth", "kind=random"]
    {
        let (code, told) = serve(&["depth=4", option]);
        assert_eq!((code, told.lines().count()), (Some(2), 1), "{option}: {told}");
        assert!(told.contains(option.split('=').next().unwrap()), "{option}: {told}");
    }
    // Good ones, so that it is the port that is found taken.
    let server = random();
    let port = server.address().port().to_string();
    assert_cmd::Command::cargo_bin("gamemaster")
        .unwrap()
        .args(["serve", "--player", "alpha_beta", "--option", "depth = 4", "--port", &port])
        .args(["--option", "deepening=false", "--option", "move_order=['(a 1,2)']"])
        .assert()
        .code(2)
        .stderr(format!(
            "error: cannot listen on 127.0.0.1:{port}: the port is taken; choose another with --port\n"
        ));
}

#[test]
fn help_shows_examples() {
    let help = assert_cmd::Command::cargo_bin("gamemaster")
        .unwrap()
        .args(["serve", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("Examples:\n  gamemaster serve --player"), "{help}");
}

#[test]
fn messages_and_replies_are_printed_if_asked_for() {
    let mut server = Process::start(&["--verbose"]);
    server.say(&format!("(START m1 x ({THREE_STEPS}) 10 5)"));
    server.say("(PLAY m1 NIL)");
    server.say("(ABORT m1)");
    server.say("(STOP m\u{1b}[31m NIL)");
    server.say("(SING)");
    let stderr = server.child.stderr.take().unwrap();
    let expected = [
        "( START m1 x [13 rules] 10 5) -> ready (",
        "( PLAY m1 NIL ) -> ",
        "( ABORT m1 ) -> aborted (",
        "( STOP m\u{fffd}[31m NIL ) -> busy (",
        "(not understood) -> what (",
    ];
    let mut lines = BufReader::new(stderr).lines();
    for expected in expected {
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with(expected) && line.ends_with(" ms)"), "{line}");
    }
}

#[test]
fn a_taken_port_is_one_clear_error() {
    let server = random();
    let port = server.address().port();
    let kind = players::find("random").unwrap();
    let again = ServeSettings { port, ..ServeSettings::local(kind, Options::new()) };
    assert!(matches!(Server::start(again), Err(ServeError::PortTaken { .. })));
    assert_cmd::Command::cargo_bin("gamemaster")
        .unwrap()
        .args(["serve", "--player", "random", "--port", &port.to_string()])
        .assert()
        .code(2);
}

#[test]
fn the_sample_player_plays() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/sample_player.py");
    let template = |strategy: &str| {
        command(format!("python3 '{}' --port {{port}} --strategy {strategy}", path.display()))
    };
    for name in ["tic_tac_toe", "hex_5x5", "rock_paper_scissors"] {
        let game = prepared(name, shipped(name));
        let played = play(&relaxed(setup(&game, vec![template("legal"), template("random")])));
        assert_eq!(played.ending, Ending::Terminal, "{name}");
        for role in 0..2 {
            assert_eq!(played.ready[role].fault, None, "{:?}", played.notices);
            assert!(played.faults(role).iter().all(Option::is_none), "{name} {played:?}");
        }
    }
}
