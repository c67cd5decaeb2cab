//! Playing single matches through the manager, and what came of them.

use std::sync::Arc;
use std::time::Duration;

use gamemaster::event::{Decision, EventKind, Notice, Readiness};
use gamemaster::launch_limits::LaunchLimits;
use gamemaster::manager::{
    Dialect, Enforcement, Manager, ManagerSettings, MatchRules, MatchSetup, PlayerConfig,
    PlayerSource, PreparedGame, Reading, TimeOdds, Worker,
};
use gamemaster::schedule::{Clocks, Job};
use games::{Case, Guards, Leniency, Rulesheet, state_machine_for, validate};
use players::Options;
use results::record::{Budget, Ending, FaultKind, GoalFlag};

/// Two roles, three steps, the same three moves for both; `x` wins.
pub(crate) const THREE_STEPS: &str = "
    (role x) (role o)
    (init (step 0))
    (<= (legal ?r (add 1)) (role ?r))
    (<= (legal ?r (add 2)) (role ?r))
    (<= (legal ?r noop) (role ?r))
    (after 0 1) (after 1 2) (after 2 3)
    (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
    (<= terminal (true (step 3)))
    (goal x 100) (goal o 0)";

/// A tic-tac-toe of one's own is not needed: the shipped one will do.
pub(crate) fn shipped(name: &str) -> &'static str {
    games::library::find(name).unwrap().text
}

pub(crate) fn prepared(name: &str, text: &str) -> Arc<PreparedGame> {
    let rulesheet = Rulesheet::parse(name, text, Case::Folded).unwrap();
    let validation = validate(&rulesheet, Leniency::Strict);
    let game = validation.game.unwrap_or_else(|| panic!("{:?}", validation.findings));
    let machine = state_machine_for(Arc::new(game), Guards::default()).unwrap();
    Arc::new(PreparedGame::new(name, "hash", machine))
}

pub(crate) fn built_in(kind: &'static str) -> Option<Arc<PlayerConfig>> {
    seat(kind, PlayerSource::BuiltIn { kind, options: Options::new() })
}

pub(crate) fn remote(port: u16) -> Option<Arc<PlayerConfig>> {
    seat("remote", PlayerSource::Remote { host: "127.0.0.1".into(), port })
}

pub(crate) fn command(template: String) -> Option<Arc<PlayerConfig>> {
    seat("program", PlayerSource::Command { template, limits: LaunchLimits::NONE })
}

fn seat(id: &str, source: PlayerSource) -> Option<Arc<PlayerConfig>> {
    Some(Arc::new(PlayerConfig {
        id: id.into(),
        hash: format!("{source:?}"),
        source,
        odds: TimeOdds::default(),
        reading: Reading::Lenient,
        dialect: Dialect::Official,
    }))
}

pub(crate) fn setup(game: &Arc<PreparedGame>, seats: Vec<Option<Arc<PlayerConfig>>>) -> MatchSetup {
    let clocks = Clocks {
        start: Duration::from_millis(400),
        play: Duration::from_millis(200),
        margin: Duration::from_millis(100),
    };
    let job = Job {
        number: 0,
        id: "0123456789abcdef".into(),
        block: 0,
        lap: 0,
        rotation: 0,
        game: 0,
        seats: (0..seats.len()).map(|index| seats[index].as_ref().map(|_| index)).collect(),
        clocks,
        budget: Budget::Clock,
        seed: 1,
        round: None,
    };
    MatchSetup {
        job: Arc::new(job),
        game: Arc::clone(game),
        seats,
        rules: Arc::new(MatchRules { enforcement: Enforcement::Exact, ..MatchRules::default() }),
        budget: Budget::Clock,
        concurrency: 1,
    }
}

/// All that was told of one match.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) ready: Vec<Readiness>,
    pub(crate) steps: Vec<Vec<Decision>>,
    pub(crate) ending: Ending,
    pub(crate) rewards: Vec<u8>,
    pub(crate) goal_flags: Vec<(u32, GoalFlag)>,
    pub(crate) notices: Vec<Notice>,
}

impl Played {
    /// The faults of a role at each step.
    pub(crate) fn faults(&self, role: usize) -> Vec<Option<FaultKind>> {
        self.steps.iter().map(|decisions| decisions[role].fault).collect()
    }

    /// The moves that were executed, by step.
    pub(crate) fn moves(&self) -> Vec<String> {
        let joint = |decisions: &Vec<Decision>| {
            let moves: Vec<&str> = decisions.iter().map(|decision| &*decision.executed).collect();
            moves.join(" ")
        };
        self.steps.iter().map(joint).collect()
    }
}

pub(crate) fn play_with(worker: &mut Worker, setup: &MatchSetup) -> Played {
    let mut played = Played {
        ready: Vec::new(),
        steps: Vec::new(),
        ending: Ending::interrupted(),
        rewards: Vec::new(),
        goal_flags: Vec::new(),
        notices: Vec::new(),
    };
    let mut n_finished = 0;
    worker.play(setup, &mut |event| match event {
        EventKind::PlayersReady { roles, .. } => played.ready = roles,
        EventKind::MovesPlayed { step, decisions, .. } => {
            assert_eq!(step as usize, played.steps.len());
            played.steps.push(decisions);
        }
        EventKind::MatchFinished { ending, rewards, goal_flags, .. } => {
            n_finished += 1;
            (played.ending, played.rewards) = (ending, rewards);
            played.goal_flags = goal_flags;
        }
        EventKind::Notice(notice) => played.notices.push(notice),
        _ => {}
    });
    assert_eq!(n_finished, 1);
    played
}

pub(crate) fn play(setup: &MatchSetup) -> Played {
    play_with(&mut Manager::new(ManagerSettings::default()).worker(), setup)
}
