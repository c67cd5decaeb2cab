//! Proofs held against tables of solved games, at every node of the tree.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use games::solve::best_play::BestPlay;
use games::solve::{Alone, Phase, Solver, ValueTable};
use games::{Cancel, MoveId, PlayoutMoves, RoleId, State, StateKey, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use super::bounds::{Bounds, share};
use super::move_averages::Preference;
use super::regret_matching::Simultaneous;
use super::search::{Search, Settings};
use super::team;
use super::tree::Kind;
use crate::testing::shipped;
use crate::{Candidate, Stop, seed};

const SETTINGS: Settings = Settings {
    exploration: 0.2,
    first_play: 0.0,
    unexpanded: 1,
    leaves: 8,
    lanes: 4,
    max_length: 1000,
    memory: 1 << 26,
    evaluated_exploration: 0.1,
    playout_moves: PlayoutMoves::Decisive,
    preference: Preference { probability: 0.5, margin: 0.0 },
    simultaneous: Simultaneous::Ucb,
};

/// Positions of each game: 100,000 in all if there is time.
fn n_positions() -> usize {
    let slow = std::env::var_os("RUN_SLOW_TESTS").is_some_and(|it| !it.is_empty() && it != "0");
    if slow { 10_000 } else { 20 }
}

fn solved(machine: &dyn StateMachine) -> ValueTable {
    let mut solver = Solver::new(machine.game(), 1 << 30, 1, &Cancel::new()).unwrap();
    while solver.progress().phase != Phase::Done {
        solver.step(&Alone).unwrap();
    }
    solver.table(&Alone)
}

/// The end of a random line of as many steps that is not over.
fn random_position(
    machine: &mut dyn StateMachine,
    rng: &mut Pcg64,
    n_steps: RangeInclusive<usize>,
) -> State {
    'lines: loop {
        let mut state = machine.initial_state().unwrap();
        for _ in 0..rng.random_range(n_steps.clone()) {
            let joint_move = random_move(machine, &state, rng);
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            if machine.is_terminal(&next).unwrap() {
                continue 'lines;
            }
            state = next;
        }
        return state;
    }
}

fn random_move(machine: &mut dyn StateMachine, state: &State, rng: &mut Pcg64) -> Vec<MoveId> {
    let game = Arc::clone(machine.game());
    let mut legal = Vec::new();
    game.role_ids()
        .map(|role| {
            machine.legal_moves(state, role, &mut legal).unwrap();
            legal[rng.random_range(0..legal.len())]
        })
        .collect()
}

/// Searches from the state, and checks what is claimed of all states of the tree; returns how
/// many of them are proven.
fn check(
    machine: &mut dyn StateMachine,
    state: &State,
    rng: &mut Pcg64,
    mut value: impl FnMut(&mut dyn StateMachine, &State) -> Option<Vec<f64>>,
) -> u64 {
    let simultaneous = match rng.random() {
        true => Simultaneous::Ucb,
        false => Simultaneous::RegretMatching,
    };
    let settings = Settings { simultaneous, ..SETTINGS };
    let mut search = Search::new(machine.game(), settings, seed::generator(rng.random(), None));
    let limit = rng.random_range(1..500);
    team::search(&mut search, machine, &mut [], state, &Stop::never(), limit).unwrap();
    let random = machine.game().random();
    let roles: Vec<RoleId> =
        machine.game().role_ids().filter(|&role| Some(role) != random).collect();
    let mut n_proven = 0;
    for at in 0..search.tree.nodes.len() as u32 {
        if search.tree.node(at).kind == Kind::End {
            continue;
        }
        let mut state = State::default();
        state.set_words(search.tree.state(at));
        let Some(values) = value(machine, &state) else { continue };
        for role in roles.iter().map(|role| usize::from(role.0)) {
            let bounds = search.tree.bounds(at)[role];
            let [low, high] =
                [bounds.low, bounds.high].map(|units| 100.0 * f64::from(share(units)));
            let true_value = values[role];
            assert!(
                low <= true_value + 0.05 && true_value <= high + 0.05,
                "{}, role {role}: {low} to {high}, not {true_value}: {:?}",
                machine.game().name(),
                machine.facts(&state)
            );
            n_proven += u64::from(bounds.is_exact());
        }
    }
    n_proven
}

#[test]
fn no_proof_is_wrong_in_solved_games() {
    let names = [
        "tic_tac_toe",
        "nim",
        "connect_three",
        "connect_four_4x4",
        "othello_4x4",
        "dots_and_boxes",
        "endless_tree",
        "dice_tree",
        "goofspiel",
        "bidding_tic_tac_toe",
    ];
    let mut n_proven = 0;
    for name in names {
        let mut machine = shipped(name);
        let table = solved(&*machine);
        let mut rng = seed::generator(1, None);
        for _ in 0..n_positions() {
            let state = random_position(&mut *machine, &mut rng, 0..=16);
            n_proven += check(&mut *machine, &state, &mut rng, |machine, state| {
                Some(table.value(machine.key(state))?.to_vec())
            });
        }
    }
    assert!(n_proven > 100, "{n_proven}");
}

/// With the table of the game, one expansion proves the best move.
#[test]
fn states_of_a_table_are_proven_before_any_search() {
    for name in ["tic_tac_toe", "nim", "connect_four_4x4", "dots_and_boxes", "dice_tree"] {
        let mut n_hits = 0;
        let mut machine = shipped(name);
        let table = Arc::new(solved(&*machine));
        let mut rng = seed::generator(2, None);
        for _ in 0..20 {
            let state = random_position(&mut *machine, &mut rng, 0..=3);
            let mut search = Search::new(machine.game(), SETTINGS, seed::generator(1, None));
            search.set_table(Some(Arc::clone(&table)));
            let root = team::search(&mut search, &mut *machine, &mut [], &state, &Stop::never(), 1);
            let root = root.unwrap();
            let best = BestPlay::of(&mut *machine, &*table, &state).unwrap();
            let random = machine.game().random();
            for (role, legal) in machine.game().role_ids().zip(&best.legal) {
                if legal.len() < 2 || Some(role) == random {
                    continue;
                }
                let (action, found) = search.answer(root, role, &mut rng);
                let value = best.best.value[usize::from(role.0)];
                assert!((found.value.unwrap() - value).abs() < 0.1, "{name}: {value}, {found:?}");
                assert!(found.proven && found.completed, "{name}: {found:?}");
                n_hits += found.table_hits;
                let at = legal.iter().position(|&it| Some(it) == action).unwrap();
                let after = best.move_values(usize::from(role.0))[at];
                assert!((after - value).abs() < 0.1, "{name}: {after} instead of {value}");
            }
        }
        assert!(n_hits > 0, "{name}");
    }
}

/// In a dice game bounds lie between a win and a loss, and must not draw the means to them.
#[test]
fn means_in_a_dice_game_are_near_the_values_of_best_play() {
    const N: usize = 20;
    let mut machine = shipped("pig");
    let table = solved(&*machine);
    let mut rng = seed::generator(3, None);
    let (mut error, mut n_bounded) = (0.0, 0);
    for _ in 0..N {
        let state = random_position(&mut *machine, &mut rng, 2..=20);
        let mut search = Search::new(machine.game(), SETTINGS, seed::generator(1, None));
        let stop = Stop::never();
        let root = team::search(&mut search, &mut *machine, &mut [], &state, &stop, 20_000);
        let mean = 100.0 * f64::from(search.tree.means(root.unwrap())[0]);
        error += (mean - table.value(machine.key(&state)).unwrap()[0]).abs() / N as f64;
        let bounds = |at: u32| search.tree.bounds(at)[0];
        let is_bounded = |&at: &u32| bounds(at) != Bounds::OPEN && !bounds(at).is_exact();
        n_bounded += (0..search.tree.nodes.len() as u32).filter(is_bounded).count();
    }
    assert!(n_bounded > N, "nothing is bounded, so nothing is tested");
    assert!(error < 5.0, "off by {error} points on average");
}

/// A table has the value of mixed strategies, but no single move that reaches it.
#[test]
fn where_roles_choose_at_once_a_table_ends_no_search() {
    let mut machine = shipped("goofspiel");
    let table = Arc::new(solved(&*machine));
    let mut state = machine.initial_state().unwrap();
    let mut search = Search::new(machine.game(), SETTINGS, seed::generator(1, None));
    search.set_table(Some(table));
    let mut rng = seed::generator(1, None);
    let mut n_joint = 0;
    while !machine.is_terminal(&state).unwrap() {
        let root = team::search(&mut search, &mut *machine, &mut [], &state, &Stop::never(), 300);
        let root = root.unwrap();
        if matches!(search.tree.node(root).kind, Kind::Joint) && search.counters.descents > 0 {
            n_joint += 1;
            let (action, found) = search.answer(root, RoleId(0), &mut rng);
            assert!(action.is_some() && found.table_hits > 0, "{found:?}");
        }
        let joint_move = random_move(&mut *machine, &state, &mut rng);
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
    }
    assert!(n_joint > 1, "{n_joint}");
}

/// A table has the values after all joint moves, from which the mixed strategy follows that is
/// worth the value of the state.
#[test]
fn where_roles_choose_at_once_a_table_gives_the_mixed_strategy() {
    let mut machine = shipped("goofspiel");
    let table = Arc::new(solved(&*machine));
    let mut rng = seed::generator(1, None);
    let (mut n_joint, mut n_drawn) = (0, 0);
    for _ in 0..40 {
        let state = random_position(&mut *machine, &mut rng, 0..=8);
        let settings = Settings { simultaneous: Simultaneous::RegretMatching, ..SETTINGS };
        let mut search = Search::new(machine.game(), settings, seed::generator(1, None));
        search.set_table(Some(Arc::clone(&table)));
        let root = team::search(&mut search, &mut *machine, &mut [], &state, &Stop::never(), 1);
        let root = root.unwrap();
        if search.tree.node(root).kind != Kind::Joint {
            continue;
        }
        n_joint += 1;
        let value = table.value(machine.key(&state)).unwrap()[0];
        let (action, found) = search.answer(root, RoleId(0), &mut rng);
        assert!(found.proven && found.completed && found.table_hits > 0, "{found:?}");
        assert!((found.value.unwrap() - value).abs() < 0.1, "{value}, {found:?}");
        n_drawn += usize::from(found.candidates.iter().any(|it| it.probability.is_some()));
        let mut legal = [Vec::new(), Vec::new(), Vec::new()];
        for (role, moves) in (0..).zip(&mut legal) {
            machine.legal_moves(&state, RoleId(role), moves).unwrap();
        }
        let [own_moves, others, drawn] = &legal;
        for &other in others {
            let mut expected = 0.0;
            for &own in own_moves {
                let of = |it: &&Candidate| it.action == own;
                let share = found.candidates.iter().find(of).and_then(|it| it.probability);
                let share = share.unwrap_or(f64::from(u8::from(action == Some(own))));
                for &drawn_move in drawn {
                    let mut next = State::default();
                    machine.next_state(&state, &[own, other, drawn_move], &mut next).unwrap();
                    let value = table.value(machine.key(&next)).unwrap()[0];
                    expected += share * value / drawn.len() as f64;
                }
            }
            assert!(expected > value - 0.1, "{expected} instead of {value}: {found:?}");
        }
    }
    assert!(n_joint > 5 && n_drawn > 0, "{n_joint} {n_drawn}");
}

/// Hex on 5 by 5 has too many states for a table; the last moves are searched to the end.
#[test]
fn no_proof_is_wrong_in_hex() {
    let mut machine = shipped("hex_5x5");
    let mut known = HashMap::new();
    let mut rng = seed::generator(1, None);
    let mut n_proven = 0;
    for _ in 0..n_positions() {
        let state = random_position(&mut *machine, &mut rng, 14..=24);
        n_proven += check(&mut *machine, &state, &mut rng, |machine, state| {
            let first = minimax(machine, state, &mut known);
            Some(vec![first, 100.0 - first])
        });
    }
    assert!(n_proven > 0);
}

/// What the first of two opposed roles that move by turns can enforce.
fn minimax(
    machine: &mut dyn StateMachine,
    state: &State,
    known: &mut HashMap<StateKey, f64>,
) -> f64 {
    let key = machine.key(state);
    if let Some(&value) = known.get(&key) {
        return value;
    }
    let value = if machine.is_terminal(state).unwrap() {
        f64::from(machine.goal(state, RoleId(0)).unwrap().unique().unwrap().value())
    } else {
        let mut legal = [Vec::new(), Vec::new()];
        for (role, moves) in (0..).zip(&mut legal) {
            machine.legal_moves(state, RoleId(role), moves).unwrap();
        }
        let is_first = legal[0].len() > 1 || legal[1].len() == 1;
        let mut values = Vec::new();
        for &first in &legal[0] {
            for &second in &legal[1] {
                let mut next = State::default();
                machine.next_state(state, &[first, second], &mut next).unwrap();
                values.push(minimax(machine, &next, known));
            }
        }
        let best = if is_first { f64::max } else { f64::min };
        values.into_iter().reduce(best).unwrap()
    };
    known.insert(key, value);
    value
}
