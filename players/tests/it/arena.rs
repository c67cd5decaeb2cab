//! A referee for tests: plays a match step by step, without clocks.

use std::sync::Arc;

use games::{
    Case, Expression, Guards, Leniency, MoveId, Prover, RoleId, State, StateMachine, library,
    state_machine_for, validate,
};
use players::{
    Candidate, Deliberation, ExpectedStep, Observation, Options, Player, Seat, Stop, Turn, Value,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A reasoner for the rules in `text`.
pub(crate) fn machine_of(text: &str) -> Box<dyn StateMachine> {
    let validation = validate::read("test", text, Case::default(), Leniency::default());
    let game = validation.game.unwrap_or_else(|| panic!("{:?}", validation.findings));
    Box::new(Prover::new(Arc::new(game), Guards::default()).unwrap())
}

/// A reasoner for a rulesheet that comes with the program.
pub(crate) fn machine(name: &str) -> Box<dyn StateMachine> {
    machine_of(library::find(name).unwrap().text)
}

/// The fastest reasoner for a rulesheet that comes with the program.
pub(crate) fn network(name: &str) -> Box<dyn StateMachine> {
    let text = library::find(name).unwrap().text;
    let game = validate::read(name, text, Case::default(), Leniency::default()).game.unwrap();
    state_machine_for(Arc::new(game), Guards::default()).unwrap()
}

/// A player of this kind.
pub(crate) fn player<const N: usize>(kind: &str, options: [(&str, Value); N]) -> Box<dyn Player> {
    let options: Options = options.into_iter().collect();
    (players::find(kind).unwrap().make)(&options).unwrap()
}

/// A list of texts as an option's value.
pub(crate) fn texts(words: &str) -> Value {
    Value::Texts(words.split_whitespace().map(str::to_owned).collect())
}

/// The moves of a plan of atoms, written one after the other.
pub(crate) fn moves(machine: &mut dyn StateMachine, words: &str) -> Vec<MoveId> {
    let find = |word: &str| machine.find_move(&Expression::atom(word)).unwrap();
    words.split_whitespace().map(find).collect()
}

/// The moves as text, one after the other.
pub(crate) fn text(machine: &dyn StateMachine, moves: &[MoveId]) -> String {
    let words = moves.iter().map(|&id| machine.move_expression(id).to_string());
    words.collect::<Vec<_>>().join(" ")
}

/// What a player says, with moves as texts: counters, candidates and line.
pub(crate) type Said = (Deliberation, Vec<(String, Candidate)>, Vec<Vec<(RoleId, String)>>);

/// What a player says, with moves as texts: their ids differ between reasoners.
pub(crate) fn in_words(machine: &dyn StateMachine, said: &Deliberation) -> Said {
    let name = |action: MoveId| machine.move_expression(action).to_string();
    let nameless = |candidate: &Candidate| Candidate { action: MoveId(0), ..*candidate };
    let candidates = said.candidates.iter();
    let candidates = candidates.map(|candidate| (name(candidate.action), nameless(candidate)));
    let step = |step: &ExpectedStep| step.iter().map(|&(role, id)| (role, name(id))).collect();
    let counts = Deliberation { candidates: vec![], line: vec![], plan: None, ..said.clone() };
    (counts, candidates.collect(), said.line.iter().map(step).collect())
}

/// Whether the role is a player's seat, and not chance.
pub(crate) fn is_seat(machine: &dyn StateMachine, role: usize) -> bool {
    machine.game().random().is_none_or(|random| usize::from(random.0) != role)
}

/// The legal moves of a role.
pub(crate) fn legal(machine: &mut dyn StateMachine, state: &State, role: usize) -> Vec<MoveId> {
    let mut legal = Vec::new();
    machine.legal_moves(state, role_id(role), &mut legal).unwrap();
    legal
}

pub(crate) fn role_id(role: usize) -> RoleId {
    RoleId(u8::try_from(role).unwrap())
}

/// A seat without clocks.
pub(crate) fn seat(machine: &dyn StateMachine, role: usize, seed: u64) -> Seat {
    Seat {
        machine: machine.fork().into(),
        role: role_id(role),
        start_clock: None,
        play_clock: None,
        seed,
    }
}

/// What happened in a match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Match {
    /// The joint moves.
    pub(crate) moves: Vec<Vec<MoveId>>,
    /// The last goals, by role; those of chance too.
    pub(crate) goals: Vec<u8>,
    /// What each player says of its `start`.
    pub(crate) started: Vec<Option<Deliberation>>,
    /// What each player says of each step.
    pub(crate) steps: Vec<Vec<Option<Deliberation>>>,
}

impl Match {
    /// The moves of one role.
    pub(crate) fn moves_of(&self, role: usize) -> Vec<MoveId> {
        self.moves.iter().map(|joint_move| joint_move[role]).collect()
    }

    /// States that the player entered in all steps.
    pub(crate) fn nodes(&self, player: usize) -> u64 {
        self.steps.iter().filter_map(|step| step[player].as_ref()).map(|it| it.nodes).sum()
    }

    /// Successors that the player computed in all steps.
    pub(crate) fn next_calls(&self, player: usize) -> u64 {
        self.steps.iter().filter_map(|step| step[player].as_ref()).map(|it| it.next_calls).sum()
    }
}

/// Plays a match among `players`, one for each role but chance, which moves
/// uniformly by `seed`. Every answer must be legal.
pub(crate) fn play(
    machine: &mut dyn StateMachine,
    players: &mut [Box<dyn Player>],
    seed: u64,
) -> Match {
    play_until(machine, players, seed, &Stop::never())
}

/// The same with one stop for each question.
pub(crate) fn play_until(
    machine: &mut dyn StateMachine,
    players: &mut [Box<dyn Player>],
    seed: u64,
    stop: &Stop,
) -> Match {
    play_steps(machine, players, seed, stop, usize::MAX)
}

/// The same for at most this many steps, or until some role has no legal move.
pub(crate) fn play_steps(
    machine: &mut dyn StateMachine,
    players: &mut [Box<dyn Player>],
    seed: u64,
    stop: &Stop,
    n_steps: usize,
) -> Match {
    let n_roles = machine.game().roles().len();
    let hidden = machine.game().kind().hidden_information;
    let seats: Vec<usize> = (0..n_roles).filter(|&role| is_seat(machine, role)).collect();
    assert_eq!(seats.len(), players.len(), "one player for each role but chance");
    let mut rng = Pcg64::seed_from_u64(seed);
    for (&role, player) in seats.iter().zip(players.iter_mut()) {
        player.start(seat(machine, role, seed.wrapping_add(role as u64)), stop).unwrap();
    }
    let started = players.iter().map(|player| player.deliberation()).collect();
    let mut state = machine.initial_state().unwrap();
    let mut moves: Vec<Vec<MoveId>> = Vec::new();
    let mut steps = Vec::new();
    let mut observations: Vec<Option<Observation>> = vec![None; n_roles];
    while moves.len() < n_steps && !machine.is_terminal(&state).unwrap() {
        if (0..n_roles).any(|role| legal(machine, &state, role).is_empty()) {
            break;
        }
        let mut joint_move = Vec::new();
        let mut asked = players.iter_mut();
        for (role, observation) in observations.iter().enumerate() {
            let legal = legal(machine, &state, role);
            if !seats.contains(&role) {
                joint_move.push(legal[rng.random_range(0..legal.len())]);
                continue;
            }
            let step = u32::try_from(moves.len()).unwrap();
            let turn = Turn { step, observation: observation.as_ref(), legal: &legal };
            let answer = asked.next().unwrap().play(&turn, stop).unwrap();
            assert!(legal.contains(&answer), "an illegal move at step {step}");
            joint_move.push(answer);
        }
        steps.push(players.iter().map(|player| player.deliberation()).collect());
        for (role, observation) in observations.iter_mut().enumerate() {
            *observation = Some(if hidden {
                let percepts = machine.percepts(&state, &joint_move, role_id(role)).unwrap();
                Observation::Percepts { own_move: joint_move[role], percepts }
            } else {
                Observation::JointMove(joint_move.clone())
            });
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
        moves.push(joint_move);
    }
    for (&role, player) in seats.iter().zip(players.iter_mut()) {
        player.stop(observations[role].as_ref());
    }
    let goals = (0..n_roles)
        .map(|role| machine.goal(&state, role_id(role)).unwrap())
        .map(|reading| reading.unique().map_or(0, |goal| goal.value()))
        .collect();
    Match { moves, goals, started, steps }
}

/// Asks a fresh player for its first move of a game.
pub(crate) fn first_move(
    machine: &mut dyn StateMachine,
    player: &mut dyn Player,
    role: usize,
    stop: &Stop,
) -> (MoveId, Deliberation) {
    player.start(seat(machine, role, 1), &Stop::never()).unwrap();
    let state = machine.initial_state().unwrap();
    let legal = legal(machine, &state, role);
    let turn = Turn { step: 0, observation: None, legal: &legal };
    let answer = player.play(&turn, stop).unwrap();
    assert!(legal.contains(&answer));
    (answer, player.deliberation().unwrap_or_default())
}
