//! What the match manager costs: a step among instant players on the worker's
//! thread, a step of players with threads, and a move over HTTP beside a bare
//! round trip.
//!
//! Prints medians. With `--bench` (as `cargo bench` gives) it measures long enough
//! to be of use; otherwise it only checks that the matches come out as expected.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gamemaster::event::EventKind;
use gamemaster::manager::{
    Dialect, Manager, ManagerSettings, MatchRules, MatchSetup, PlayerConfig, PlayerSource,
    PreparedGame, Reading, TimeOdds,
};
use gamemaster::schedule::{Clocks, Job};
use games::{
    Case, Guards, Leniency, MoveId, RoleId, Rulesheet, State, state_machine_for, validate,
};
use players::Options;
use results::record::{Budget, Ending};

fn main() {
    let is_long = std::env::args().any(|argument| argument == "--bench");
    for name in ["tic_tac_toe", "connect_four"] {
        instant(name, if is_long { 3000 } else { 3 });
    }
    threads(if is_long { 500 } else { 2 });
    http(if is_long { 300 } else { 2 });
    for n_at_once in if is_long { &[1, 100][..] } else { &[2] } {
        http_at_once(*n_at_once, if is_long { 3000 / n_at_once } else { 1 });
    }
}

#[expect(clippy::print_stdout, reason = "this is what a benchmark is for")]
fn tell(line: &str) {
    println!("{line}");
}

fn prepared(name: &str, text: &str) -> Arc<PreparedGame> {
    let rulesheet = Rulesheet::parse(name, text, Case::Folded).expect("shipped games are read");
    let game = validate(&rulesheet, Leniency::Strict).game.expect("shipped games are valid");
    let machine = state_machine_for(Arc::new(game), Guards::default()).expect("they are small");
    Arc::new(PreparedGame::new(name, "hash", machine))
}

fn setup(game: &Arc<PreparedGame>, source: &PlayerSource, seed: u64) -> MatchSetup {
    let config = Arc::new(PlayerConfig {
        id: "player".into(),
        source: source.clone(),
        hash: "hash".into(),
        odds: TimeOdds::default(),
        reading: Reading::Lenient,
        dialect: Dialect::Official,
    });
    let n_roles = game.game.roles().len();
    let clocks = Clocks {
        start: Duration::from_secs(10),
        play: Duration::from_secs(10),
        margin: Duration::from_secs(1),
    };
    let job = Job {
        number: 0,
        id: "0123456789abcdef".into(),
        block: 0,
        lap: 0,
        rotation: 0,
        game: 0,
        seats: vec![Some(0); n_roles],
        clocks,
        budget: Budget::Clock,
        seed,
        round: None,
    };
    MatchSetup {
        job: Arc::new(job),
        game: Arc::clone(game),
        seats: vec![Some(config); n_roles],
        rules: Arc::new(MatchRules::default()),
        budget: Budget::Clock,
        concurrency: 1,
    }
}

fn built_in(kind: &'static str) -> PlayerSource {
    PlayerSource::BuiltIn { kind, options: Options::new() }
}

/// Matches of random players, and the same moves made on the bare reasoner.
fn instant(name: &str, n_matches: u64) {
    let game = prepared(name, games::library::find(name).expect("it is shipped").text);
    let mut worker = Manager::new(ManagerSettings::default()).worker();
    let mut histories: Vec<Vec<Vec<usize>>> = Vec::new();
    let mut n_steps = 0;
    let mut play = |seed, history: &mut Vec<Vec<String>>| {
        worker.play(&setup(&game, &built_in("random"), seed), &mut |event| match event {
            EventKind::MovesPlayed { decisions, .. } => {
                n_steps += 1;
                if seed < n_matches {
                    history.push(decisions.iter().map(|d| d.executed.to_string()).collect());
                }
            }
            EventKind::MatchFinished { ending, .. } => assert_eq!(ending, Ending::Terminal),
            _ => {}
        });
    };
    // A first round warms up and tells the moves.
    let mut told: Vec<Vec<Vec<String>>> = vec![Vec::new(); n_matches as usize];
    for (seed, history) in (0..).zip(&mut told) {
        play(seed, history);
    }
    let begun = Instant::now();
    for seed in 0..n_matches {
        play(seed + n_matches, &mut Vec::new());
    }
    let managed = begun.elapsed();
    let n_timed = n_steps - told.iter().map(Vec::len).sum::<usize>();

    let mut machine = game.fork();
    let initial = machine.initial_state().expect("the game is sound");
    let roles: Vec<RoleId> = (0..).map(RoleId).take(game.game.roles().len()).collect();
    let (mut legal, mut next) = (Vec::new(), State::default());
    // Indices of the moves among the legal ones, so that looking moves up is not timed.
    for history in &told {
        let mut state = initial.clone();
        let mut indices = Vec::new();
        for moves in history {
            let mut chosen = Vec::new();
            let mut joint = Vec::new();
            for (&role, text) in roles.iter().zip(moves) {
                machine.legal_moves(&state, role, &mut legal).expect("the game is sound");
                let is_it = |id: &MoveId| machine.move_expression(*id).to_string() == *text;
                let index = legal.iter().position(is_it).expect("it was legal");
                chosen.push(index);
                joint.push(legal[index]);
            }
            machine.next_state(&state, &joint, &mut next).expect("the game is sound");
            std::mem::swap(&mut state, &mut next);
            indices.push(chosen);
        }
        histories.push(indices);
    }
    let begun = Instant::now();
    let mut n_bare = 0;
    for history in &histories {
        let mut state = machine.initial_state().expect("the game is sound");
        for chosen in history {
            assert!(!machine.is_terminal(&state).expect("the game is sound"));
            let mut joint = Vec::new();
            for (&role, &index) in roles.iter().zip(chosen) {
                machine.legal_moves(&state, role, &mut legal).expect("the game is sound");
                joint.push(legal[index]);
            }
            machine.next_state(&state, &joint, &mut next).expect("the game is sound");
            std::mem::swap(&mut state, &mut next);
            n_bare += 1;
        }
        assert!(machine.is_terminal(&state).expect("the game is sound"));
    }
    let bare = begun.elapsed();
    let per = |time: Duration, n: usize| time.as_secs_f64() * 1e6 / n as f64;
    let (managed, bare) = (per(managed, n_timed), per(bare, n_bare));
    tell(&format!(
        "instant {name}: {managed:.2} us a step, of which the reasoner {bare:.2}, the manager {:.2}",
        managed - bare
    ));
}

fn threads(n_matches: u64) {
    let game = prepared("tic_tac_toe", games::library::find("tic_tac_toe").expect("shipped").text);
    let mut worker = Manager::new(ManagerSettings::default()).worker();
    let mut walls = Vec::new();
    let mut n_steps = 0;
    let begun = Instant::now();
    for seed in 0..n_matches {
        let mut setup = setup(&game, &built_in("alpha_beta"), seed);
        setup.budget = Budget::Nodes(1);
        worker.play(&setup, &mut |event| match event {
            EventKind::MovesPlayed { decisions, .. } => {
                n_steps += 1;
                walls.extend(decisions.iter().map(|decision| decision.wall));
            }
            EventKind::MatchFinished { ending, .. } => assert_eq!(ending, Ending::Terminal),
            _ => {}
        });
    }
    let step = begun.elapsed().as_secs_f64() * 1e6 / f64::from(n_steps);
    tell(&format!(
        "threads tic_tac_toe, one node a move: {step:.1} us a step, median wall of a move {:.1}",
        median(&mut walls)
    ));
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

const RULES: &str = "
    (role x) (init (step 0)) (legal x (add 1))
    (after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7) (after 7 8)
    (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
    (<= terminal (true (step 8)))
    (goal x 100)";

/// A server that answers immediately, and closes.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 16_384];
            // Our messages come in one piece.
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n(add 1)");
        }
    });
    port
}

fn http(n_matches: u64) {
    let port = server();
    let game = prepared("eight_steps", RULES);
    let mut worker = Manager::new(ManagerSettings::default()).worker();
    let source = PlayerSource::Remote { host: "127.0.0.1".into(), port };
    let (mut walls, mut steps) = (Vec::new(), Vec::new());
    for seed in 0..n_matches {
        let mut last = Instant::now();
        worker.play(&setup(&game, &source, seed), &mut |event| match event {
            EventKind::PlayersReady { .. } => last = Instant::now(),
            EventKind::MovesPlayed { decisions, .. } => {
                assert_eq!(decisions[0].fault, None);
                steps.push(last.elapsed());
                walls.push(decisions[0].wall);
                last = Instant::now();
            }
            EventKind::MatchFinished { ending, .. } => assert_eq!(ending, Ending::Terminal),
            _ => {}
        });
    }
    let mut bare = Vec::new();
    for _ in 0..n_matches * 8 {
        let begun = Instant::now();
        round_trip(port);
        bare.push(begun.elapsed());
    }
    let (step, wall, bare) = (median(&mut steps), median(&mut walls), median(&mut bare));
    tell(&format!(
        "http: median {step:.0} us a step, wall of the move {wall:.0}; a bare round trip {bare:.0}; \
         the manager adds {:.0}",
        step - bare
    ));
}

/// The bytes of a move without a manager, on a blocking socket.
fn round_trip(port: u16) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let _ = stream.set_nodelay(true);
    let request = "POST / HTTP/1.0\r\nContent-Length: 48\r\n\r\n( PLAY match.0123456789abcdef (( add 1 ) ) )    ";
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("it answers");
    assert!(reply.ends_with(b"(add 1)"));
}

/// CPU time of this process, the server included.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(now.tv_sec).expect("it counts up");
    Duration::new(seconds, u32::try_from(now.tv_nsec).expect("it is a part of a second"))
}

/// CPU time of a message in `n_at_once` matches at the same time, each with a player of its own, and
/// of as many bare round trips in as many threads.
fn http_at_once(n_at_once: u64, n_matches: u64) {
    /// START, eight steps and STOP.
    const MESSAGES: u64 = 10;
    // A player for each match: it is in one at a time.
    let ports: Vec<u16> = (0..n_at_once).map(|_| server()).collect();
    let game = prepared("eight_steps", RULES);
    let manager = Manager::new(ManagerSettings::default());
    let cpu_of_all = |work: &(dyn Fn(u64, u16) + Sync)| {
        let begun = cpu_time();
        thread::scope(|scope| {
            for (number, &port) in (0..).zip(&ports) {
                scope.spawn(move || work(number, port));
            }
        });
        let n = (n_at_once * n_matches * MESSAGES) as f64;
        (cpu_time() - begun).as_secs_f64() * 1e6 / n
    };
    let managed = cpu_of_all(&|number, port| {
        let source = PlayerSource::Remote { host: "127.0.0.1".into(), port };
        let mut worker = manager.worker();
        for seed in 0..n_matches {
            let setup = setup(&game, &source, number * n_matches + seed);
            worker.play(&setup, &mut |event| match event {
                EventKind::MovesPlayed { decisions, .. } => assert_eq!(decisions[0].fault, None),
                EventKind::MatchFinished { ending, .. } => assert_eq!(ending, Ending::Terminal),
                _ => {}
            });
        }
    });
    let bare = cpu_of_all(&|_, port| (0..n_matches * MESSAGES).for_each(|_| round_trip(port)));
    let s = if n_at_once == 1 { "" } else { "es" };
    tell(&format!(
        "http, {n_at_once} match{s} at once: {managed:.0} us of CPU a message; a bare round trip \
         {bare:.0}; the manager adds {:.0}",
        managed - bare
    ));
}
