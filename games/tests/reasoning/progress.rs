//! Proven ends of play against the longest matches, by walking through all states.

use std::collections::BTreeMap;
use std::sync::Arc;

use games::progress::{self, Progress, ProgressEffort, ProgressReason};
use games::{
    Cancel, Case, GroundingLimits, Guards, Leniency, MoveId, Network, NetworkMachine, Prover,
    State, StateKey, StateMachine, ground, library, split_mix, validate,
};

use super::generator;
use super::random::Random;

/// Games with more states are not walked through.
const MAX_STATES: usize = 3000;

/// Nor are those with larger networks.
const MAX_NODES: usize = 700;

fn network(name: &str, text: &str) -> Network {
    let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
    ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap()
}

fn found(network: &Network) -> Option<Progress> {
    progress::find(network, &ProgressEffort::default(), &Cancel::new())
}

/// How long matches can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Longest {
    Steps(u32),
    /// Some state can come twice.
    Endless,
    /// There are too many states.
    Unknown,
}

/// All states below a state, depth first. `known` has the longest match from each state that
/// was left, and `None` for those on the way.
fn longest(
    machine: &mut dyn StateMachine,
    state: &State,
    known: &mut BTreeMap<StateKey, Option<u32>>,
) -> Longest {
    let key = machine.key(state);
    match known.get(&key) {
        Some(Some(steps)) => return Longest::Steps(*steps),
        Some(None) => return Longest::Endless,
        None if known.len() >= MAX_STATES => return Longest::Unknown,
        None => {}
    }
    known.insert(key, None);
    let mut most = 0;
    for next in successors(machine, state) {
        match longest(machine, &next, known) {
            Longest::Steps(steps) => most = most.max(steps + 1),
            other => return other,
        }
    }
    known.insert(key, Some(most));
    Longest::Steps(most)
}

fn successors(machine: &mut dyn StateMachine, state: &State) -> Vec<State> {
    if machine.is_terminal(state).unwrap() {
        return Vec::new();
    }
    let mut joint_moves: Vec<Vec<MoveId>> = vec![Vec::new()];
    for role in machine.game().role_ids() {
        let mut legal = Vec::new();
        machine.legal_moves(state, role, &mut legal).unwrap();
        let with = |it: &Vec<MoveId>| legal.iter().map(|&own| [&it[..], &[own]].concat()).collect();
        joint_moves = joint_moves.iter().flat_map::<Vec<_>, _>(with).collect();
    }
    let mut next = |joint_move: Vec<MoveId>| {
        let mut next = State::default();
        machine.next_state(state, &joint_move, &mut next).unwrap();
        next
    };
    joint_moves.into_iter().map(&mut next).collect()
}

/// The longest match of a game, and what is claimed of it, which must not be less.
fn check(name: &str, text: &str) -> (Longest, Option<u32>) {
    let network = Arc::new(network(name, text));
    if network.graph.n_nodes() > MAX_NODES {
        return (Longest::Unknown, None);
    }
    let claimed = found(&network).map(|it| it.steps);
    let prover = Prover::new(Arc::clone(&network.game), Guards::default()).unwrap();
    let mut machine = NetworkMachine::new(network, prover);
    let state = machine.initial_state().unwrap();
    let longest = longest(&mut machine, &state, &mut BTreeMap::new());
    match (longest, claimed) {
        (Longest::Steps(steps), Some(claimed)) => assert!(steps <= claimed, "{name}:\n{text}"),
        (Longest::Endless, Some(_)) => panic!("{name} can go on for ever:\n{text}"),
        _ => {}
    }
    (longest, claimed)
}

#[test]
fn no_match_of_a_shipped_game_is_longer_than_claimed() {
    let mut n_walked = 0;
    let mut n_exact = 0;
    for shipped in library::all() {
        if let (Longest::Steps(steps), claimed) = check(shipped.name, shipped.text) {
            n_walked += 1;
            n_exact += usize::from(claimed == Some(steps));
        }
    }
    assert!(n_walked > 30 && n_exact > 25, "{n_exact} of {n_walked}");
}

/// A generated game whose counter stands still while some fact holds.
fn hesitant(text: &str) -> String {
    let counts = "(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))";
    assert!(text.contains(counts), "all generated games count their steps");
    let waits = "(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n) (not (true on)))
        (<= (next (step ?m)) (true (step ?m)) (true on))";
    text.replace(counts, waits)
}

#[test]
fn no_match_of_a_generated_game_is_longer_than_claimed() {
    let is_slow = std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1");
    let (mut n_ending, mut n_claimed, mut n_endless) = (0, 0, 0);
    for seed in 0..if is_slow { 20_000 } else { 300_u64 } {
        // Seeds that are close to each other begin with the same numbers.
        let mut random = Random::new(split_mix::mix(seed));
        let numbers: Vec<u16> = (0..400).map(|_| random.below(1 << 16) as u16).collect();
        let (longest, claimed) = check("generated", &hesitant(&generator::rulesheet(&numbers)));
        match longest {
            Longest::Steps(1..) => {
                n_ending += 1;
                n_claimed += usize::from(claimed.is_some());
            }
            Longest::Endless => n_endless += 1,
            _ => {}
        }
    }
    assert!(
        n_claimed * 2 > n_ending && n_claimed >= 10 && n_endless > 20,
        "{n_claimed} of {n_ending} that end, {n_endless} do not"
    );
}

#[test]
fn boards_that_fill_up_end_the_match() {
    let steps = |name: &str| {
        found(&network(name, library::find(name).unwrap().text)).map(|found| found.steps)
    };
    assert_eq!(steps("connect_four"), Some(42));
    assert_eq!(steps("hex"), Some(49));
    assert_eq!(steps("domineering"), Some(12));
    // A pass changes nothing, but two of them end the match.
    assert_eq!(steps("othello"), Some(122));
    // Only every second step counts.
    assert_eq!(steps("ludo"), Some(160));
    // Who holds a chip may differ from step to step, but not how far the clock is.
    assert_eq!(steps("goofspiel"), Some(10));
}

#[test]
fn pieces_that_only_go_forwards_end_the_match() {
    let found = |name: &str| found(&network(name, library::find(name).unwrap().text));
    let found = |name: &str| found(name).map(|found| (found.steps, found.reason));
    // Each of ten pieces may go four or three steps, but the first one that arrives wins.
    assert_eq!(found("breakthrough_5x5"), Some((60, ProgressReason::FallingSum)));
    // Each jump takes a peg; 32 there are.
    assert_eq!(found("peg_solitaire"), Some((32, ProgressReason::FallingSum)));
}

/// A token that goes to and fro; `rules` may make its moves count.
fn token(rules: &str) -> Option<u32> {
    let frame = "(role you) (init (at a)) (legal you go) (legal you stay) (goal you 50)
        (<= (next (at b)) (true (at a)) (does you go)) (<= (next (at a)) (true (at b)) (does you go))
        (<= (next (at ?x)) (true (at ?x)) (does you stay)) (<= terminal (true (at c)))";
    found(&network("token", &format!("{frame} {rules}"))).map(|found| found.steps)
}

#[test]
fn what_may_repeat_is_not_claimed_to_end() {
    assert_eq!(token(""), None);
    let marks = "(<= (next (been ?x)) (true (at ?x))) (<= (next (been ?x)) (true (been ?x)))";
    assert_eq!(token(marks), None, "marks that are made once do not end the match");
    // A counter that waits for a move.
    let count = "(succ 0 1) (succ 1 2) (succ 2 3) (init (step 0)) (<= terminal (true (step 3)))
        (<= (next (step ?y)) (does you go) (true (step ?x)) (succ ?x ?y))
        (<= (next (step ?x)) (does you stay) (true (step ?x)))";
    assert_eq!(token(count), None);
    // A counter that goes back.
    let circle = "(succ 0 1) (succ 1 2) (succ 2 0) (init (step 0)) (<= terminal (true (step 3)))
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))";
    assert_eq!(token(circle), None);
    // One that does neither.
    let clock = "(succ 0 1) (succ 1 2) (succ 2 3) (init (step 0)) (<= terminal (true (step 3)))
        (<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))";
    assert_eq!(token(clock), Some(3));
}

#[test]
fn nothing_is_claimed_without_effort() {
    let network = network("tic_tac_toe", library::find("tic_tac_toe").unwrap().text);
    let none = ProgressEffort { propagations: 0, ..ProgressEffort::default() };
    assert_eq!(progress::find(&network, &none, &Cancel::new()), None);
    let raised = Cancel::new();
    raised.cancel();
    assert_eq!(progress::find(&network, &ProgressEffort::default(), &raised), None);
}
