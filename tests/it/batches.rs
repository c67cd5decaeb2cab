//! What is finished is told before anybody is waited for.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use gamemaster::event::{Event, EventKind, StopReason};
use gamemaster::manager::{Manager, ManagerSettings, PreparedGame};
use gamemaster::runner::{StopFlag, Tournament, run};
use gamemaster::schedule::{Job, Schedule};
use gamemaster::spec::{self, Overrides};
use games::{MoveId, state_machine_for};
use players::{Deliberation, Failure, Player, PlayerKind, Seat, Stop, Turn};

const SPEC: &str = r#"
blocks = 4
games = ["nim"]
clocks = { start = "20s", play = "20s" }
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
kind = "alpha_beta"
"#;

/// Numbers of the matches that the waiter plays, ascending.
static ITS_MATCHES: OnceLock<Vec<u64>> = OnceLock::new();
/// How many of them have begun.
static N_BEGUN: AtomicUsize = AtomicUsize::new(0);
/// Matches that the consumer saw the end of.
static N_SEEN: AtomicU64 = AtomicU64::new(0);
/// How often the waiter waited in vain.
static N_UNSEEN: AtomicUsize = AtomicUsize::new(0);

/// Does not begin before the consumer has seen all matches that came before.
struct Waiter;

impl Player for Waiter {
    fn start(&mut self, _: Seat, stop: &Stop) -> Result<(), Failure> {
        let before = ITS_MATCHES.get().unwrap()[N_BEGUN.fetch_add(1, Ordering::SeqCst)];
        while N_SEEN.load(Ordering::SeqCst) < before {
            if stop.is_due(0) {
                N_UNSEEN.fetch_add(1, Ordering::SeqCst);
                break;
            }
            thread::yield_now();
        }
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, _: &Stop) -> Result<MoveId, Failure> {
        Ok(turn.legal[0])
    }

    fn abort(&mut self) {}

    fn deliberation(&self) -> Option<Deliberation> {
        None
    }
}

static WAITER: PlayerKind = PlayerKind {
    name: "alpha_beta",
    summary: "",
    options: &[],
    instant: false,
    plays_hidden_information: false,
    make: |_| Ok(Box::new(Waiter)),
};

fn registry(name: &str) -> Option<&'static PlayerKind> {
    if name == WAITER.name { Some(&WAITER) } else { players::find(name) }
}

#[test]
fn finished_matches_are_handed_on_before_a_player_is_waited_for() {
    let spec = spec::read(SPEC, "test", Path::new(""), &Overrides::default()).unwrap();
    let entry = &spec.games[0];
    let game = entry.source.clone().check(entry.reading).game.unwrap();
    let schedule = Schedule::new(spec.plan(&[Arc::clone(&game)], &[vec![]])).unwrap();
    let waits = |job: &Job| job.seats.contains(&Some(2));
    let jobs: Vec<Job> = schedule.jobs().collect();
    let mixed = jobs.windows(2).any(|pair| !waits(&pair[0]) && waits(&pair[1]));
    assert!(mixed, "some match of instant players stands before one of the waiter's");
    let its: Vec<u64> = jobs.iter().filter(|job| waits(job)).map(|job| job.number).collect();
    let n_its = its.len();
    ITS_MATCHES.set(its).unwrap();

    let machine = state_machine_for(game, spec.guards.clone()).unwrap();
    let tournament = Tournament {
        schedule: Arc::new(schedule),
        games: vec![Arc::new(PreparedGame::new("nim", "hash", machine))],
        players: spec.players.iter().map(|player| Arc::clone(&player.config)).collect(),
        rules: Arc::new(spec.rules.clone()),
        concurrency: 1,
        done: vec![],
        elsewhere: vec![],
    };
    let manager = Manager::new(ManagerSettings { registry, ..Default::default() });
    let reason = run(&tournament, &manager, &StopFlag::default(), &mut |event: &Event| {
        if matches!(event.kind, EventKind::MatchFinished { .. }) {
            N_SEEN.fetch_add(1, Ordering::SeqCst);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(reason, StopReason::Completed);
    assert_eq!(N_BEGUN.load(Ordering::SeqCst), n_its);
    assert_eq!(N_SEEN.load(Ordering::SeqCst), jobs.len() as u64);
    assert_eq!(N_UNSEEN.load(Ordering::SeqCst), 0, "the waiter waited in vain");
}
