//! Beliefs against known probabilities and against all lines of a game.

use std::collections::BTreeMap;

use games::{Expression, MoveId, RoleId, State, StateMachine, library};

use super::*;
use crate::testing::machine;
use crate::{Observation, Seat, Stop, Turn};

/// A match as its roles see it.
struct Played {
    machine: Box<dyn StateMachine>,
    state: State,
    trackers: Vec<Tracker>,
    step: u32,
    observations: Vec<Option<Observation>>,
}

impl Played {
    fn new(mut machine: Box<dyn StateMachine>, settings: TrackerSettings) -> Self {
        let state = machine.initial_state().unwrap();
        let roles = machine.game().role_ids();
        let seat = |role| Seat {
            machine: machine.fork().into(),
            role,
            start_clock: None,
            play_clock: None,
            seed: 1,
        };
        let trackers = roles.clone().map(|role| Tracker::new(seat(role), settings, None)).collect();
        let observations = vec![None; roles.len()];
        Self { machine, state, trackers, step: 0, observations }
    }

    fn legal(&mut self, role: usize) -> Vec<MoveId> {
        let mut legal = Vec::new();
        self.machine.legal_moves(&self.state, id(role), &mut legal).unwrap();
        legal
    }

    /// The belief of a role.
    fn belief(&mut self, role: usize) -> Belief {
        let legal = self.legal(role);
        let observation = self.observations[role].clone();
        let turn = Turn { step: self.step, observation: observation.as_ref(), legal: &legal };
        let belief = self.trackers[role].follow(&turn, &Stop::never()).unwrap();
        belief.expect("the state is possible").clone()
    }

    fn advance(&mut self, joint_move: &[MoveId]) {
        for (role, observation) in self.observations.iter_mut().enumerate() {
            let percepts = self.machine.percepts(&self.state, joint_move, id(role)).unwrap();
            let own_move = joint_move[role];
            *observation = Some(Observation::Percepts { own_move, percepts });
        }
        let mut next = State::default();
        self.machine.next_state(&self.state, joint_move, &mut next).unwrap();
        self.state = next;
        self.step += 1;
    }

    fn play(&mut self, moves: &[&str]) {
        let find = |text: &&str| Expression::parse(text).unwrap();
        let moves: Vec<MoveId> =
            moves.iter().map(|text| self.machine.find_move(&find(text)).unwrap()).collect();
        self.advance(&moves);
    }
}

fn id(role: usize) -> RoleId {
    RoleId(u8::try_from(role).unwrap())
}

fn settings(particles: usize) -> TrackerSettings {
    TrackerSettings { particles, follows_knowledge: false }
}

/// The probabilities of the facts of a belief that begin with `name`.
fn shares(played: &Played, belief: &Belief, name: &str) -> BTreeMap<String, f64> {
    let mut shares = BTreeMap::new();
    for line in &belief.lines {
        for fact in played.machine.facts(&line.state) {
            let text = fact.to_string();
            if text.starts_with(name) {
                *shares.entry(text).or_default() += line.weight;
            }
        }
    }
    shares
}

/// After the candidate chose door 1 and door 3 was opened, the car is behind door 2 with a
/// probability of two thirds: nature had to open door 3 then, and else could open door 2.
#[test]
fn monty_hall_is_weighed_by_lines() {
    let text = library::find("monty_hall").unwrap().text;
    // With two particles too, since two states are left.
    for particles in [1000, 3] {
        let mut played = Played::new(machine(text), settings(particles));
        assert_eq!(played.belief(0).lines.len(), 1);
        played.play(&["noop", "(hide_car 2)"]);
        let belief = played.belief(0);
        assert_eq!((belief.lines.len(), belief.is_exact), (3, true));
        played.play(&["(choose_door 1)", "noop"]);
        played.belief(0);
        played.play(&["noop", "(open_door 3)"]);
        let belief = played.belief(0);
        assert_eq!((belief.lines.len(), belief.is_exact), (2, true));
        let shares = shares(&played, &belief, "(car");
        assert!((shares["(car 1)"] - 1.0 / 3.0).abs() < 1e-12, "{shares:?}");
        assert!((shares["(car 2)"] - 2.0 / 3.0).abs() < 1e-12, "{shares:?}");
    }
}

/// By brute force: over all lines of a game, each belief is what the lines that look the
/// same add up to.
#[test]
fn beliefs_are_those_of_all_lines() {
    for game in ["monty_hall", "kuhn_poker", "two_roads_ask", "partner_signalling"] {
        let text = library::find(game).unwrap().text;
        let mut machine = machine(text);
        let roles: Vec<RoleId> = machine.game().role_ids().collect();
        let n_steps = 3;
        // By role and what it knows, the weights of states.
        let mut expected: BTreeMap<(RoleId, Knowledge), BTreeMap<State, f64>> = BTreeMap::new();
        let mut open =
            vec![(0, machine.initial_state().unwrap(), vec![Knowledge(0); roles.len()], 1.0)];
        while let Some((step, state, known, weight)) = open.pop() {
            for &role in &roles {
                let looks = expected.entry((role, known[usize::from(role.0)])).or_default();
                *looks.entry(state.clone()).or_default() += weight;
            }
            if step == n_steps || machine.is_terminal(&state).unwrap() {
                continue;
            }
            let replies = Replies::legal(machine.as_mut(), &state).unwrap().unwrap();
            let mut joint_move = Vec::new();
            for number in 0..replies.len() {
                replies.joint_move(number, &mut joint_move);
                let after = |&role: &RoleId| {
                    let before = known[usize::from(role.0)];
                    knowledge_after(machine.as_mut(), before, &state, &joint_move, role).unwrap()
                };
                let after: Vec<Knowledge> = roles.iter().map(after).collect();
                let mut next = State::default();
                machine.next_state(&state, &joint_move, &mut next).unwrap();
                // A role's own choices are no evidence.
                open.push((step + 1, next, after, weight / replies.len() as f64));
            }
        }
        // Ten random matches.
        for seed in 0..10u64 {
            let mut played = Played::new(machine.fork(), settings(1000));
            let mut known = vec![Knowledge(0); roles.len()];
            let mut random = games::split_mix::SplitMix::new(seed);
            for _ in 0..n_steps {
                let mut joint_move = Vec::new();
                for role in 0..roles.len() {
                    let legal = played.legal(role);
                    joint_move.push(legal[random.below(legal.len())]);
                }
                for (&role, known) in roles.iter().zip(&mut known) {
                    let machine = played.machine.as_mut();
                    *known =
                        knowledge_after(machine, *known, &played.state, &joint_move, role).unwrap();
                }
                played.advance(&joint_move);
                if played.machine.is_terminal(&played.state).unwrap() {
                    break;
                }
                // Chance has no percepts, so its legal moves may show it more.
                let seats = roles.iter().filter(|&&role| Some(role) != machine.game().random());
                for role in seats.map(|role| usize::from(role.0)) {
                    let belief = played.belief(role);
                    // Some lines may have ended, which the role would have noticed.
                    let mut states = expected[&(id(role), known[role])].clone();
                    states.retain(|state, _| !played.machine.is_terminal(state).unwrap());
                    let total: f64 = states.values().sum();
                    assert_eq!(belief.lines.len(), states.len(), "{game}");
                    for line in &belief.lines {
                        let share = states[&line.state] / total;
                        assert!((line.weight - share).abs() < 1e-9, "{game}: {share}");
                    }
                }
            }
        }
    }
}

/// `other` hides one of a thousand numbers, and the last step tells which.
const RARE: &str = "
    (role me) (role other) (init (step 0)) (after 0 1) (after 1 2) (after 2 3)
    (digit 0) (digit 1) (digit 2) (digit 3) (digit 4)
    (digit 5) (digit 6) (digit 7) (digit 8) (digit 9)
    (<= (legal me wait) (true (step ?n)))
    (<= (legal other (hide ?a ?b ?c)) (true (step 0)) (digit ?a) (digit ?b) (digit ?c))
    (<= (legal other wait) (not (true (step 0))))
    (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
    (<= (next (hidden ?a ?b ?c)) (does other (hide ?a ?b ?c)))
    (<= (next (hidden ?a ?b ?c)) (true (hidden ?a ?b ?c)))
    (<= (sees me (first ?a)) (true (step 1)) (true (hidden ?a ?b ?c)))
    (<= (sees me (others ?b ?c)) (true (step 2)) (true (hidden ?a ?b ?c)))
    (<= terminal (true (step 4))) (goal me 50) (goal other 50)";

/// A sample of ten of a thousand states holds none of those that turn out to be possible;
/// they are found from the history.
#[test]
fn a_lost_belief_is_found_anew() {
    let mut played = Played::new(machine(RARE), settings(10));
    played.belief(0);
    played.play(&["wait", "(hide 3 5 7)"]);
    let belief = played.belief(0);
    assert!(belief.lines.len() <= 10 && !belief.is_exact);
    played.play(&["wait", "wait"]);
    let belief = played.belief(0);
    for line in &belief.lines {
        let facts = played.machine.facts(&line.state);
        assert!(facts.iter().any(|fact| fact.to_string().starts_with("(hidden 3 ")), "{facts:?}");
    }
    played.play(&["wait", "wait"]);
    let belief = played.belief(0);
    let shares = shares(&played, &belief, "(hidden");
    assert_eq!(shares.keys().map(String::as_str).collect::<Vec<_>>(), ["(hidden 3 5 7)"]);
    let notes = played.trackers[0].notes();
    assert!(notes.iter().any(|note| note.contains("computed again")), "{notes:?}");
}

/// The same seed draws the same sample; memory is bounded; a sample stays near the
/// probabilities.
#[test]
fn samples_are_bounded_and_reproducible() {
    let sampled = || {
        let mut played = Played::new(machine(RARE), settings(200));
        played.belief(0);
        played.play(&["wait", "(hide 3 5 7)"]);
        let belief = played.belief(0);
        let shares = shares(&played, &belief, "(hidden");
        let weights: Vec<f64> = belief.lines.iter().map(|line| line.weight).collect();
        (shares, weights)
    };
    let (shares, weights) = sampled();
    assert!(weights.len() <= 200);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let low: f64 =
        shares.iter().filter(|(text, _)| text.as_str() < "(hidden 5").map(|(_, share)| share).sum();
    // Systematic: half of the states, in order, are half of the sample.
    assert!((low - 0.5).abs() < 0.02, "{low}");
    assert_eq!(sampled(), (shares, weights));
}

/// Where legal moves give away what percepts hide, the states that they exclude are left
/// out, and that is said.
#[test]
fn legal_moves_that_tell_are_noticed() {
    let text = "(role me) (role random) (init (step 0)) (after 0 1) (after 1 2)
        (side left) (side right)
        (<= (legal random (hide ?s)) (true (step 0)) (side ?s))
        (<= (legal random noop) (not (true (step 0))))
        (<= (legal me noop) (true (step 0)))
        (<= (legal me (take ?s)) (true (at ?s)))
        (<= (next (at ?s)) (does random (hide ?s)))
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= (sees me (step ?n)) (true (step ?n)))
        (<= terminal (true (step 2))) (goal me 50) (goal random 0)";
    let mut played = Played::new(machine(text), settings(10));
    played.belief(0);
    played.play(&["noop", "(hide left)"]);
    let belief = played.belief(0);
    assert_eq!(belief.lines.len(), 1);
    let notes = played.trackers[0].notes();
    assert!(notes.iter().any(|note| note.contains("other legal moves")), "{notes:?}");
}

#[test]
fn joint_moves_have_numbers() {
    let [a, b, c] = [1, 2, 3].map(MoveId);
    let mut replies = Replies { by_role: vec![vec![a, b], vec![c], vec![a, b, c]] };
    let mut all = Vec::new();
    let mut joint_move = Vec::new();
    for number in 0..replies.len() {
        replies.joint_move(number, &mut joint_move);
        all.push(joint_move.clone());
    }
    assert_eq!(all, [[a, c, a], [a, c, b], [a, c, c], [b, c, a], [b, c, b], [b, c, c]]);
    assert!(replies.fix(RoleId(2), b) && !replies.fix(RoleId(0), c));
    assert_eq!(replies.len(), 2);
}

#[test]
fn the_most_probable_states_come_first() {
    let mut machine = machine(RARE);
    let mut state = |n: usize| {
        let fact = games::Expression::parse(&format!("(hidden {n} 0 0)")).unwrap();
        machine.state_of(&[fact]).unwrap()
    };
    let states: Vec<_> = (0..7).map(&mut state).collect();
    let likeliest = |weights: &[f64]| {
        let line = |(state, &weight): (&State, &f64)| Line {
            state: state.clone(),
            knowledge: vec![],
            weight,
        };
        let lines = states.iter().zip(weights).map(line).collect();
        let likely = Belief::of(lines, true).unwrap().likeliest();
        let place = |state: &State| states.iter().position(|it| it == state).unwrap();
        let likely_states: Vec<_> =
            likely.states.iter().map(|(state, share)| (place(state), *share)).collect();
        (likely.n_states, likely_states)
    };
    assert_eq!(likeliest(&[1.0, 3.0]), (2, vec![(1, 0.75), (0, 0.25)]));
    let many = likeliest(&[1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0]);
    let first = vec![(3, 0.25), (2, 0.1875), (4, 0.1875), (1, 0.125), (5, 0.125)];
    assert_eq!(many, (7, first));
}
