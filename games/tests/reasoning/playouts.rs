//! Playouts from given states: against what uniform play is worth exactly, and
//! the network's in lock step against the prover's one by one.

use std::collections::HashMap;
use std::sync::Arc;

use games::{
    Case, Guards, Leniency, MoveId, PlayoutEnd, PlayoutEnds, PlayoutPlan, PlayoutSums, Prover,
    RoleId, State, StateMachine, library, state_machine_for, validate,
};

/// The prover and the network of a shipped game.
fn machines(name: &str) -> [Box<dyn StateMachine>; 2] {
    machines_of(library::find(name).unwrap().text)
}

fn machines_of(text: &str) -> [Box<dyn StateMachine>; 2] {
    let game = validate::read("test", text, Case::Folded, Leniency::Strict).game.unwrap();
    let game = Arc::new(game);
    let network = state_machine_for(Arc::clone(&game), Guards::default()).unwrap();
    assert_eq!(network.reasoner(), "network");
    [Box::new(Prover::new(game, Guards::default()).unwrap()), network]
}

fn play(machine: &mut dyn StateMachine, starts: &[State], max_length: u32) -> PlayoutEnds {
    let mut playouts = PlayoutEnds::default();
    machine.playouts(starts, max_length, 5, &mut |_| true, &mut playouts).unwrap();
    assert_eq!(playouts.ends.len(), starts.len());
    playouts
}

/// What a state is worth to a role if everybody moves uniformly; roles take turns.
fn worth(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
    known: &mut HashMap<State, f64>,
) -> f64 {
    if let Some(&worth) = known.get(state) {
        return worth;
    }
    let value = if machine.is_terminal(state).unwrap() {
        f64::from(machine.goal(state, role).unwrap().unique().unwrap().value())
    } else {
        let children = children(machine, state);
        let sum: f64 = children.iter().map(|child| worth(machine, child, role, known)).sum();
        sum / children.len() as f64
    };
    known.insert(state.clone(), value);
    value
}

/// The states that follow, by joint moves.
fn children(machine: &mut dyn StateMachine, state: &State) -> Vec<State> {
    let roles = machine.game().role_ids();
    let mut joint_moves: Vec<Vec<MoveId>> = vec![Vec::new()];
    for role in roles {
        let mut moves = Vec::new();
        machine.legal_moves(state, role, &mut moves).unwrap();
        let with = |joint: &Vec<MoveId>| {
            let joint = joint.clone();
            moves.iter().map(move |&id| [joint.as_slice(), &[id]].concat()).collect::<Vec<_>>()
        };
        joint_moves = joint_moves.iter().flat_map(with).collect();
    }
    let child = |joint_move: &Vec<MoveId>| {
        let mut next = State::default();
        machine.next_state(state, joint_move, &mut next).unwrap();
        next
    };
    joint_moves.iter().map(child).collect()
}

/// Centre 75, corners 67.14, edges 60: each within four standard errors, by either
/// reasoner.
#[test]
fn means_are_what_uniform_play_is_worth() {
    for mut machine in machines("tic_tac_toe") {
        let initial = machine.initial_state().unwrap();
        let children = children(machine.as_mut(), &initial);
        let mut known = HashMap::new();
        let exact: Vec<f64> = children
            .iter()
            .map(|child| worth(machine.as_mut(), child, RoleId(0), &mut known))
            .collect();
        assert!((exact[4] - 75.0).abs() < 0.01 && (exact[0] - 67.14).abs() < 0.01, "{exact:?}");
        let n = 2000;
        let starts: Vec<State> = (0..n).flat_map(|_| children.iter().cloned()).collect();
        let playouts = play(machine.as_mut(), &starts, 100);
        for (index, exact) in exact.iter().enumerate() {
            let ends = playouts.ends.iter().skip(index).step_by(children.len());
            let goal = |end: &Option<PlayoutEnd>| {
                f64::from(end.as_ref().unwrap().goals[0].unique().unwrap().value())
            };
            let goals: Vec<f64> = ends.map(goal).collect();
            assert_eq!(goals.len(), n);
            let mean = goals.iter().sum::<f64>() / n as f64;
            let variance = goals.iter().map(|goal| (goal - mean).powi(2)).sum::<f64>() / n as f64;
            let error = (variance / n as f64).sqrt();
            assert!((mean - exact).abs() < 4.0 * error, "{mean} for {exact}, {error}");
        }
        let lengths: u64 =
            playouts.ends.iter().map(|end| u64::from(end.as_ref().unwrap().length)).sum();
        assert_eq!(lengths, playouts.n_states);
        // The same seed, the same playouts.
        assert_eq!(play(machine.fork().as_mut(), &starts, 100), playouts);
    }
}

/// Lengths do not depend on the reasoner where nobody has a choice of length, and
/// numbers of playouts may be any.
#[test]
fn every_start_has_its_playout() {
    for mut machine in machines("tic_tac_toe") {
        for n in [0, 1, 2, 63, 64, 65, 300, 512, 513, 1100] {
            let initial = machine.initial_state().unwrap();
            // Starts that differ, and ends among them.
            let mut starts = Vec::new();
            let mut line = vec![initial];
            while starts.len() < n {
                let state = line[starts.len() % line.len()].clone();
                if line.len() < 9 && !machine.is_terminal(&state).unwrap() {
                    line.push(children(machine.as_mut(), line.last().unwrap())[0].clone());
                }
                starts.push(state);
            }
            let playouts = play(machine.as_mut(), &starts, 100);
            for (start, end) in starts.iter().zip(&playouts.ends) {
                let end = end.as_ref().unwrap();
                assert_eq!(end.goals.len(), 2);
                assert_eq!(end.length == 0, machine.is_terminal(start).unwrap());
            }
            assert!(playouts.ends.iter().flatten().all(|end| end.length <= 9));
        }
    }
}

#[test]
fn playouts_end_at_the_greatest_length_and_where_nobody_can_move() {
    // Two steps, then nobody has a move, or an end for the one who went there.
    let text = "(role me) (init (at 0)) (succ 0 1) (succ 1 2)
        (<= (legal me on) (true (at ?n)) (succ ?n ?m))
        (<= (legal me out) (true (at 0)))
        (<= (next (at ?m)) (does me on) (true (at ?n)) (succ ?n ?m))
        (<= (next over) (does me out))
        (<= terminal (true over)) (goal me 70)";
    for mut machine in machines_of(text) {
        let starts = vec![machine.initial_state().unwrap(); 400];
        for (max_length, lengths) in [(0, [0, 0]), (1, [1, 1]), (5, [1, 2])] {
            let playouts = play(machine.as_mut(), &starts, max_length);
            let mut n_ended = 0;
            for end in playouts.ends.iter().flatten() {
                let [ended, stuck] = lengths;
                match end.goals.as_slice() {
                    [goal] => {
                        n_ended += 1;
                        assert_eq!((end.length, goal.unique().unwrap().value()), (ended, 70));
                    }
                    other => assert_eq!((end.length, other.len()), (stuck, 0)),
                }
            }
            assert_eq!(max_length > 0, (100..300).contains(&n_ended), "{n_ended}");
        }
    }
}

#[test]
fn playouts_are_abandoned_when_they_are_not_to_go_on() {
    for mut machine in machines("connect_four") {
        let starts = vec![machine.initial_state().unwrap(); 100];
        let mut playouts = PlayoutEnds::default();
        machine.playouts(&starts, 1000, 5, &mut |n| n < 1000, &mut playouts).unwrap();
        assert!((1000..1100).contains(&playouts.n_states), "{}", playouts.n_states);
        assert!(playouts.ends.contains(&None));
        machine.playouts(&starts, 1000, 5, &mut |_| false, &mut playouts).unwrap();
        assert_eq!(playouts, PlayoutEnds { ends: vec![None; 100], n_states: 0 });
    }
}

fn sums(machine: &mut dyn StateMachine, starts: &[State], plan: &PlayoutPlan) -> PlayoutSums {
    let mut sums = PlayoutSums::default();
    machine.playout_sums(starts, plan, &mut |_| true, &mut sums).unwrap();
    sums
}

/// Added up by start, the same means: 75, 67.14 and 60, for any number of playouts a start,
/// whether it fits into a batch or not.
#[test]
fn sums_are_what_uniform_play_is_worth() {
    for mut machine in machines("tic_tac_toe") {
        let initial = machine.initial_state().unwrap();
        let children = children(machine.as_mut(), &initial);
        let exact: Vec<f64> = children
            .iter()
            .map(|child| worth(machine.as_mut(), child, RoleId(0), &mut HashMap::new()))
            .collect();
        for per_start in [3, 64, 1000] {
            let (mut totals, mut n) = (vec![0.0; children.len()], 0);
            for seed in 0..4000_usize.div_ceil(per_start) as u64 {
                let plan = PlayoutPlan { per_start, max_length: 100, seed };
                let sums = sums(machine.as_mut(), &children, &plan);
                assert!(sums.is_whole && (5..=8).contains(&sums.longest), "{}", sums.longest);
                n += per_start;
                for (start, total) in totals.iter_mut().enumerate() {
                    assert_eq!(sums.n_scored(start) as usize, per_start);
                    let [own, other] = [0, 1].map(|role| sums.rewards(start, RoleId(role)));
                    assert_eq!(own + other, 100 * per_start as u64);
                    *total += own as f64;
                }
            }
            for (total, exact) in totals.iter().zip(&exact) {
                // Four standard errors of 45 a playout.
                let deviation = 4.0 * 45.0 / (n as f64).sqrt();
                assert!((total / n as f64 - exact).abs() < deviation, "{per_start}: {total}");
            }
        }
    }
}

/// The best playout, played once more, leads where it led: to its reward.
#[test]
fn the_best_playout_can_be_played_again() {
    for name in ["eight_puzzle_course", "tic_tac_toe", "tron", "peg_solitaire_triangle"] {
        for mut machine in machines(name) {
            let initial = machine.initial_state().unwrap();
            let starts = children(machine.as_mut(), &initial);
            let roles = machine.game().role_ids();
            for (per_start, seed) in [(1, 1), (40, 2), (600, 3)] {
                let plan = PlayoutPlan { per_start, max_length: 1000, seed };
                let sums = sums(machine.as_mut(), &starts, &plan);
                for role in roles.clone() {
                    let (reward, playout) = sums.best(role).unwrap();
                    let line = machine.playout_line(&starts, &plan, playout).unwrap();
                    let mut state = starts[playout / per_start].clone();
                    for joint_move in line.chunks(roles.len()) {
                        let mut next = State::default();
                        assert!(!machine.is_terminal(&state).unwrap());
                        machine.next_state(&state, joint_move, &mut next).unwrap();
                        state = next;
                    }
                    assert!(machine.is_terminal(&state).unwrap(), "{name}");
                    let goal = machine.goal(&state, role).unwrap().unique().unwrap();
                    assert_eq!(goal.value(), reward, "{name}");
                }
            }
        }
    }
}

/// Playouts that are given up count apart, and those that are abandoned not at all.
#[test]
fn sums_know_what_reached_no_end() {
    for mut machine in machines("connect_four") {
        let starts = vec![machine.initial_state().unwrap(); 3];
        let plan = PlayoutPlan { per_start: 5, max_length: 3, seed: 1 };
        let cut = sums(machine.as_mut(), &starts, &plan);
        assert_eq!((cut.n_scored(2), cut.n_unscored(2), cut.n_states), (0, 5, 45));
        assert_eq!(cut.best(RoleId(0)), None);
        let plan = PlayoutPlan { max_length: 100, ..plan };
        let whole = sums(machine.as_mut(), &starts, &plan);
        assert_eq!(whole, sums(machine.as_mut(), &starts, &plan));
        let mut stopped = PlayoutSums::default();
        machine.playout_sums(&starts, &plan, &mut |n| n < 40, &mut stopped).unwrap();
        assert!(!stopped.is_whole && (40..60).contains(&stopped.n_states), "{stopped:?}");
        assert!(sums(machine.as_mut(), &[], &plan).is_whole);
    }
}
