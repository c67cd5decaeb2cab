//! States that searching players visit in a second, children computed one by one
//! and together.
//!
//! ```text
//! cargo bench -p players --bench searches -- [GAME | RULESHEET.kif]... [--nodes N]
//! cargo bench -p players --bench searches -- [GAME | RULESHEET.kif]... --depth N
//! ```
//!
//! Each row asserts that both ways gave the same answer and the same counts. With `--depth`,
//! alpha-beta deepens to this depth with its table: seconds of CPU time, and in a second the
//! states entered and the positions computed, which include those that the table answers.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::sync::Arc;
use std::time::Instant;

use games::EvaluationMethod;
use games::{
    Cancel, Case, Cursor, Expression, FactId, Game, GoalReading, GroundingLimits, Guards, Leniency,
    MoveId, NetworkMachine, Prover, ReasoningError, RoleId, State, StateKey, StateMachine, ground,
    library, state_machine::Statistic, validate,
};
use players::{Deliberation, Options, Seat, Stop, Turn, Value};

/// What is searched without arguments.
const GAMES: [&str; 8] = [
    "tic_tac_toe",
    "connect_four",
    "breakthrough_6x6",
    "othello",
    "checkers",
    "hex_5x5",
    "nim",
    "eight_puzzle_course",
];

/// A machine that has no faster way to children than one after the other.
struct OneByOne(Box<dyn StateMachine>);

impl StateMachine for OneByOne {
    fn game(&self) -> &Arc<Game> {
        self.0.game()
    }

    fn reasoner(&self) -> &'static str {
        self.0.reasoner()
    }

    fn statistics(&self) -> Vec<Statistic> {
        self.0.statistics()
    }

    fn fork(&self) -> Box<dyn StateMachine> {
        Box::new(Self(self.0.fork()))
    }

    fn cursor(&self, state: &State) -> Box<dyn Cursor> {
        self.0.cursor(state)
    }

    fn set_cancel(&mut self, cancel: Cancel) {
        self.0.set_cancel(cancel);
    }

    fn initial_state(&mut self) -> Result<State, ReasoningError> {
        self.0.initial_state()
    }

    fn is_terminal(&mut self, state: &State) -> Result<bool, ReasoningError> {
        self.0.is_terminal(state)
    }

    fn legal_moves(
        &mut self,
        state: &State,
        role: RoleId,
        moves: &mut Vec<MoveId>,
    ) -> Result<(), ReasoningError> {
        self.0.legal_moves(state, role, moves)
    }

    fn next_state(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        next: &mut State,
    ) -> Result<(), ReasoningError> {
        self.0.next_state(state, joint_move, next)
    }

    fn percepts(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        role: RoleId,
    ) -> Result<Vec<Expression>, ReasoningError> {
        self.0.percepts(state, joint_move, role)
    }

    fn goal(&mut self, state: &State, role: RoleId) -> Result<GoalReading, ReasoningError> {
        self.0.goal(state, role)
    }

    fn facts(&self, state: &State) -> Vec<Expression> {
        self.0.facts(state)
    }

    fn changed_facts(
        &mut self,
        from: &State,
        to: &State,
        gained: &mut Vec<FactId>,
        lost: &mut Vec<FactId>,
    ) {
        self.0.changed_facts(from, to, gained, lost);
    }

    fn fact(&self, id: FactId) -> Expression {
        self.0.fact(id)
    }

    fn key(&mut self, state: &State) -> StateKey {
        self.0.key(state)
    }

    fn state_of(&mut self, facts: &[Expression]) -> Option<State> {
        self.0.state_of(facts)
    }

    fn move_expression(&self, id: MoveId) -> Expression {
        self.0.move_expression(id)
    }

    fn find_move(&mut self, expression: &Expression) -> Option<MoveId> {
        self.0.find_move(expression)
    }
}

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says so when it benches, and not when it tests.
    let benches = names.iter().any(|name| name == "--bench");
    let mut n_nodes = if benches { 200_000 } else { 200 };
    if let Some(at) = names.iter().position(|name| name == "--nodes") {
        n_nodes = names[at + 1].parse().unwrap();
        names.drain(at..at + 2);
    }
    if let Some(at) = names.iter().position(|name| name == "--depth") {
        let depth = names[at + 1].parse().unwrap();
        names.drain(at..at + 2);
        names.retain(|name| !name.starts_with("--"));
        for name in &names {
            time_to_depth(name, depth, if benches { ENOUGH } else { 0.0 });
        }
        return;
    }
    // Without `--bench` other words are filters of tests.
    names.retain(|name| benches && !name.starts_with("--"));
    if names.is_empty() {
        names = GAMES.map(str::to_owned).to_vec();
    }
    println!("{:<22} {:<22} {:>14} {:>14}", "game", "player", "one by one", "together");
    for name in &names {
        let game = Arc::new(read(name));
        let prover = Prover::new(Arc::clone(&game), Guards::default()).unwrap();
        let network = Arc::new(ground(&game, &GroundingLimits::default(), &Cancel::new()).unwrap());
        let chosen = NetworkMachine::new(Arc::clone(&network), prover.clone()).evaluation();
        let machine = |evaluation| {
            let network = Arc::clone(&network);
            Box::new(NetworkMachine::with_evaluation(network, prover.clone(), evaluation))
        };
        let fastest: EvaluationMethod = chosen;
        let memory = [("transposition", Value::from(0))];
        let single = [("deepening", Value::from(false)), ("transposition", Value::from(0))];
        let players: [(&str, &str, Options); 6] = [
            ("minimax", "minimax", Options::default()),
            ("minimax", "minimax, no table", memory.clone().into_iter().collect()),
            ("minimax", "minimax, single", single.clone().into_iter().collect()),
            ("alpha_beta", "alpha_beta", Options::default()),
            ("alpha_beta", "alpha_beta, no table", memory.into_iter().collect()),
            ("sequential_planner", "sequential_planner", Options::default()),
        ];
        for (kind, label, options) in players {
            if kind == "sequential_planner" && game.roles().len() > 1 {
                continue;
            }
            let stop = Stop::never().after_nodes(n_nodes);
            let (before, slow) =
                measure(Box::new(OneByOne(machine(fastest))), kind, &options, &stop);
            let (after, fast) = measure(machine(fastest), kind, &options, &stop);
            assert_eq!(before, after, "{name}, {label}");
            println!(
                "{:<22} {label:<22} {:>10.0} k/s {:>10.0} k/s  {:.2}",
                &game.name()[..game.name().len().min(22)],
                slow / 1e3,
                fast / 1e3,
                fast / slow
            );
        }
    }
}

/// Prints what alpha-beta takes to each depth, with the machine of a match: the mean of searches
/// that begin with an empty table, as many as take `enough` seconds together.
fn time_to_depth(name: &str, deepest: i64, enough: f64) {
    let game = Arc::new(read(name));
    let mut machine = games::state_machine_for(game, Guards::default()).unwrap();
    let initial = machine.initial_state().unwrap();
    let mut legal = Vec::new();
    machine.legal_moves(&initial, RoleId(0), &mut legal).unwrap();
    println!(
        "{name:<22} {:>5} {:>6} {:>11} {:>12} {:>12} {:>12}",
        "depth", "value", "states", "CPU ms", "states/s", "positions/s"
    );
    for depth in 1..=deepest {
        let options = [("depth", Value::from(depth)), ("transposition", Value::from(4_000_000))];
        let options = options.into_iter().collect::<Options>();
        let (mut seconds, mut n_searches) = (0.0, 0);
        let found = loop {
            let mut player = (players::find("alpha_beta").unwrap().make)(&options).unwrap();
            let machine = machine.fork().into();
            let seat =
                Seat { machine, role: RoleId(0), start_clock: None, play_clock: None, seed: 1 };
            player.start(seat, &Stop::never().after_nodes(1)).unwrap();
            let before = cpu_seconds();
            let turn = Turn { step: 0, observation: None, legal: &legal };
            player.play(&turn, &Stop::never()).unwrap();
            seconds += cpu_seconds() - before;
            n_searches += 1;
            if seconds >= enough {
                break player.deliberation().unwrap();
            }
        };
        assert_eq!(i64::from(found.depth), depth);
        let seconds = seconds / f64::from(n_searches);
        println!(
            "{:<22} {depth:>5} {:>6} {:>11} {:>12.3} {:>10.0} k {:>10.0} k",
            "",
            found.value.unwrap(),
            found.nodes,
            seconds * 1e3,
            found.nodes as f64 / seconds / 1e3,
            found.next_calls as f64 / seconds / 1e3
        );
    }
}

/// Seconds of CPU time of the searches to one depth, at least.
const ENOUGH: f64 = 0.5;

/// CPU time of this thread, which others on the machine do not lengthen much.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn read(name: &str) -> Game {
    match library::find(name) {
        Some(shipped) => {
            validate::read(name, shipped.text, Case::Folded, Leniency::Strict).game.unwrap()
        }
        None => {
            let text = std::fs::read(name).unwrap();
            let short = name.rsplit('/').next().unwrap();
            validate::read(short, &text, Case::Folded, Leniency::Lenient).game.unwrap()
        }
    }
}

/// The answer of a player to the initial state, what it took, and nodes in a
/// second: the best of three.
fn measure(
    mut machine: Box<dyn StateMachine>,
    kind: &str,
    options: &Options,
    stop: &Stop,
) -> ((MoveId, Option<Deliberation>), f64) {
    let initial = machine.initial_state().unwrap();
    let mut legal = Vec::new();
    machine.legal_moves(&initial, RoleId(0), &mut legal).unwrap();
    let mut found = None;
    let mut fastest: f64 = 0.0;
    for _ in 0..3 {
        let mut player = (players::find(kind).unwrap().make)(options).unwrap();
        let machine = machine.fork().into();
        let seat = Seat { machine, role: RoleId(0), start_clock: None, play_clock: None, seed: 1 };
        player.start(seat, &Stop::never().after_nodes(10)).unwrap();
        let before = Instant::now();
        let turn = Turn { step: 0, observation: None, legal: &legal };
        let answer = player.play(&turn, stop).unwrap();
        let elapsed = before.elapsed().as_secs_f64();
        let deliberation = player.deliberation();
        let nodes = deliberation.as_ref().map_or(0, |deliberation| deliberation.nodes);
        fastest = fastest.max(nodes as f64 / elapsed);
        let answered = (answer, deliberation);
        assert_eq!(*found.get_or_insert_with(|| answered.clone()), answered);
    }
    (found.unwrap(), fastest)
}
