//! Playouts from given states: against what uniform play is worth exactly, and
//! the network's in lock step against the prover's one by one.

use std::collections::HashMap;
use std::sync::Arc;

use games::{
    Case, Expression, Guards, Leniency, MoveId, PlayoutEnd, PlayoutEnds, PlayoutMoves, PlayoutPlan,
    PlayoutPolicy, PlayoutSums, Prover, RoleId, State, StateMachine, library, state_machine_for,
    validate,
};

use super::chains::chains;

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

fn sums(machine: &mut dyn StateMachine, starts: &[State], plan: &PlayoutPlan<'_>) -> PlayoutSums {
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
                let plan =
                    PlayoutPlan { per_start, max_length: 100, seed, ..PlayoutPlan::default() };
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

/// A start that no play leads to, won by the role whose turn it is, beside others; enough playouts
/// for time frames.
#[test]
fn sums_of_a_start_that_is_won_already() {
    for mut machine in machines("hex") {
        let initial = machine.initial_state().unwrap();
        let mut facts = machine.facts(&initial);
        let stone = |row| Expression::parse(&format!("(cell 4 {row} red)")).unwrap();
        facts.extend((1..=7).map(stone));
        let won = machine.state_of(&facts).unwrap();
        let starts = [children(machine.as_mut(), &initial)[0].clone(), won, initial];
        let plan =
            PlayoutPlan { per_start: 86, max_length: 100, seed: 1, ..PlayoutPlan::default() };
        let sums = sums(machine.as_mut(), &starts, &plan);
        assert_eq!(sums.rewards(1, RoleId(0)), 8600, "{}", machine.reasoner());
        for start in [0, 2] {
            assert_eq!(sums.n_scored(start), 86);
            assert!((1000..7600).contains(&sums.rewards(start, RoleId(0))));
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
                let plan =
                    PlayoutPlan { per_start, max_length: 1000, seed, ..PlayoutPlan::default() };
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

/// Playouts in a batch whose starts are at different steps: each line is of legal moves and leads
/// to an end, and the rewards there are those that were added up.
#[test]
fn playouts_from_different_steps_follow_the_rules() {
    // The knight is on cells of one colour by turns, and chains have the numbers of steps.
    let machines = [machines("knights_tour"), machines_of(&chains(5))];
    for [_, mut machine] in machines {
        assert_eq!(machine.playout_width(), 512);
        let roles = machine.game().role_ids();
        let mut line = vec![machine.initial_state().unwrap()];
        for step in 0..6 {
            let children = children(machine.as_mut(), &line[step]);
            line.push(children[children.len() * step / 6].clone());
        }
        let starts = [6, 0, 1, 3, 4, 5].map(|step| line[step].clone());
        let plan =
            PlayoutPlan { per_start: 43, max_length: 1000, seed: 4, ..PlayoutPlan::default() };
        let sums = sums(machine.as_mut(), &starts, &plan);
        let (mut n_states, mut longest, mut legal) = (0, 0, Vec::new());
        for (start, first) in starts.iter().enumerate() {
            let mut rewards = vec![0; roles.len()];
            for playout in start * 43..(start + 1) * 43 {
                let (mut state, mut next) = (first.clone(), State::default());
                let line = machine.playout_line(&starts, &plan, playout).unwrap();
                for joint_move in line.chunks(roles.len()) {
                    assert!(!machine.is_terminal(&state).unwrap());
                    for (role, made) in roles.clone().zip(joint_move) {
                        machine.legal_moves(&state, role, &mut legal).unwrap();
                        assert!(legal.contains(made));
                    }
                    machine.next_state(&state, joint_move, &mut next).unwrap();
                    std::mem::swap(&mut state, &mut next);
                }
                assert!(machine.is_terminal(&state).unwrap());
                for (role, sum) in roles.clone().zip(&mut rewards) {
                    let goal = machine.goal(&state, role).unwrap().unique().unwrap();
                    *sum += u64::from(goal.value());
                }
                let length = line.len() / roles.len();
                n_states += length as u64;
                longest = longest.max(length as u32);
            }
            let summed: Vec<u64> = roles.clone().map(|role| sums.rewards(start, role)).collect();
            assert_eq!((sums.n_scored(start), summed), (43, rewards));
        }
        assert_eq!((sums.n_states, sums.longest), (n_states, longest));
        // Cut at the same length, whenever they begin.
        let cut = self::sums(machine.as_mut(), &starts, &PlayoutPlan { max_length: 2, ..plan });
        assert_eq!((cut.n_states, cut.n_scored(0) + cut.n_unscored(0)), (6 * 43 * 2, 43));
    }
}

/// Playouts that are given up count apart, and those that are abandoned not at all.
#[test]
fn sums_know_what_reached_no_end() {
    for mut machine in machines("connect_four") {
        let starts = vec![machine.initial_state().unwrap(); 3];
        let plan = PlayoutPlan { per_start: 5, max_length: 3, seed: 1, ..PlayoutPlan::default() };
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

/// Whether a role made one of some moves in a line wherever it was legal, and how often any
/// was.
fn follows(
    machine: &mut dyn StateMachine,
    start: &State,
    line: &[MoveId],
    role: RoleId,
    preferred: &[MoveId],
) -> (bool, usize) {
    let n_roles = machine.game().roles().len();
    let (mut state, mut next, mut legal) = (start.clone(), State::default(), Vec::new());
    let (mut always, mut n_legal) = (true, 0);
    for joint_move in line.chunks(n_roles) {
        machine.legal_moves(&state, role, &mut legal).unwrap();
        if legal.iter().any(|made| preferred.contains(made)) {
            n_legal += 1;
            always &= preferred.contains(&joint_move[usize::from(role.0)]);
        }
        machine.next_state(&state, joint_move, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    (always, n_legal)
}

fn plan_by(policy: Option<&PlayoutPolicy>) -> PlayoutPlan<'_> {
    PlayoutPlan { per_start: 70, max_length: 1000, seed: 9, policy, ..PlayoutPlan::default() }
}

/// Where a role can win immediately, all playouts by decisive moves end so, and some of the others
/// do not; where roles move at the same time, both are the same.
#[test]
fn decisive_playouts_win_at_once() {
    let [_, mut machine] = machines("connect_four_4x4");
    let mut state = machine.initial_state().unwrap();
    for column in [1, 2, 1, 2, 1, 2] {
        let joint_move: Vec<MoveId> = (0..2)
            .map(|role| {
                let mut legal = Vec::new();
                machine.legal_moves(&state, RoleId(role), &mut legal).unwrap();
                let drop = format!("(drop {column})");
                let is_drop = |made: &&MoveId| machine.move_expression(**made).to_string() == drop;
                legal.iter().find(is_drop).copied().unwrap_or(legal[0])
            })
            .collect();
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
    }
    let decisive = PlayoutPlan { moves: PlayoutMoves::Decisive, ..plan_by(None) };
    let won = sums(machine.as_mut(), std::slice::from_ref(&state), &decisive);
    assert_eq!((won.rewards(0, RoleId(0)), won.longest), (7000, 1));
    let any = sums(machine.as_mut(), &[state], &plan_by(None));
    assert!(any.longest > 1);

    let [_, mut machine] = machines("tron");
    let starts = [machine.initial_state().unwrap()];
    let any = sums(machine.as_mut(), &starts, &plan_by(None));
    assert_eq!(sums(machine.as_mut(), &starts, &decisive), any);
}

/// By a policy that is always followed, preferred moves are made wherever they are legal; and
/// the playouts of each move are those whose lines have it.
#[test]
fn playouts_follow_their_policy() {
    let mut n_machines = 0;
    for (name, role) in [("tic_tac_toe", 1), ("hex_5x5", 0), ("bidding_tic_tac_toe", 0)] {
        for mut machine in machines(name) {
            let role = RoleId(role);
            let start = machine.initial_state().unwrap();
            let starts = [start.clone()];
            let mut policy = PlayoutPolicy::new(1.0);
            assert!(sums(machine.as_mut(), &starts, &plan_by(None)).moves(role).is_empty());
            let n_moves =
                sums(machine.as_mut(), &starts, &plan_by(Some(&policy))).moves(role).len();
            if n_moves == 0 {
                assert_eq!(machine.playout_width(), 1, "{name}");
                continue;
            }
            n_machines += 1;
            // Each move alone, so that it is known which one has which number.
            let mut numbered: Vec<MoveId> = Vec::new();
            for index in 0..n_moves {
                policy.prefer(role, (0..n_moves).map(|other| other == index));
                let sums = sums(machine.as_mut(), &starts, &plan_by(Some(&policy)));
                let lines: Vec<_> = (0..70)
                    .map(|n| machine.playout_line(&starts, &plan_by(Some(&policy)), n).unwrap())
                    .collect();
                let n_roles = machine.game().roles().len();
                let made = |line: &[MoveId], id: MoveId| {
                    line.chunks(n_roles).any(|moves| moves[usize::from(role.0)] == id)
                };
                let mut ids: Vec<MoveId> = lines
                    .iter()
                    .flat_map(|line| line.chunks(n_roles).map(|moves| moves[usize::from(role.0)]))
                    .collect();
                ids.sort_unstable();
                ids.dedup();
                let mut counted: Vec<u64> = ids
                    .iter()
                    .map(|&id| lines.iter().filter(|line| made(line, id)).count() as u64)
                    .collect();
                let mut summed: Vec<u64> = sums.moves(role).iter().map(|sum| sum.n).collect();
                summed.retain(|&n| n > 0);
                counted.sort_unstable();
                summed.sort_unstable();
                assert_eq!(summed, counted, "{name}");
                let is_followed = |&id: &MoveId| {
                    !numbered.contains(&id)
                        && lines.iter().filter(|line| made(line, id)).count() as u64
                            == sums.moves(role)[index].n
                        && lines
                            .iter()
                            .all(|line| follows(machine.as_mut(), &start, line, role, &[id]).0)
                };
                let id = ids.into_iter().find(is_followed);
                numbered.push(id.unwrap_or_else(|| panic!("{name}: nothing follows move {index}")));
            }
            // Every third move.
            policy.prefer(role, (0..n_moves).map(|index| index % 3 == 0));
            let preferred: Vec<MoveId> = numbered.iter().copied().step_by(3).collect();
            let mut n_followed = 0;
            for n in 0..70 {
                let line = machine.playout_line(&starts, &plan_by(Some(&policy)), n).unwrap();
                let (always, n) = follows(machine.as_mut(), &start, &line, role, &preferred);
                assert!(always, "{name}");
                n_followed += n;
            }
            assert!(n_followed >= 70, "{name}: {n_followed}");
        }
    }
    assert!(n_machines >= 3, "{n_machines}");
}

/// By a policy that is followed half of the time, the first move of tic-tac-toe is one of two
/// preferred cells with the probability 1/2 + 1/2 2/9.
#[test]
fn playouts_follow_their_policy_as_often_as_it_says() {
    for mut machine in
        machines("tic_tac_toe").into_iter().filter(|machine| machine.playout_width() > 1)
    {
        let starts = [machine.initial_state().unwrap()];
        let mut policy = PlayoutPolicy::new(0.5);
        policy.prefer(RoleId(0), [true, true]);
        let mut legal = Vec::new();
        machine.legal_moves(&starts[0], RoleId(0), &mut legal).unwrap();
        let (mut by_cell, n) = (vec![0; legal.len()], 512);
        for seed in 0..4 {
            let policy = Some(&policy);
            let plan = PlayoutPlan {
                per_start: n,
                max_length: 100,
                seed,
                policy,
                ..PlayoutPlan::default()
            };
            for playout in 0..n {
                let line = machine.playout_line(&starts, &plan, playout).unwrap();
                by_cell[legal.iter().position(|&id| id == line[0]).unwrap()] += 1;
            }
        }
        by_cell.sort_unstable();
        let n = 4.0 * n as f64;
        let exact = [7.0 / 18.0 * n, 11.0 / 18.0 * n];
        let found = [by_cell[..7].iter().sum::<usize>(), by_cell[7] + by_cell[8]];
        // Four standard errors of a share near a half.
        assert!((found[1] as f64 - exact[1]).abs() < 2.0 * n.sqrt(), "{found:?} {exact:?}");
        assert!(by_cell[7].abs_diff(by_cell[8]) as f64 <= 4.0 * n.sqrt(), "{by_cell:?}");
    }
}
