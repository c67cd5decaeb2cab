//! Random playouts as players make them: in each state the legal moves of all
//! roles and whether it is terminal, then the next state, at the end all goals.
//!
//! The answer, the number of states and the sum of the goals, is asserted, so a
//! change that makes play faster by making it wrong does not go unseen.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use games::{
    Case, Game, Guards, Leniency, MoveId, Prover, RoleId, State, StateMachine, library,
    state_machine_for, validate,
};

/// Name, playouts, and what they come to: states and goals of all roles.
const GAMES: [(&str, u64, u64, u64); 3] = [
    ("tic_tac_toe", 1000, 8558, 100_000),
    ("connect_four", 100, 2346, 10_000),
    ("hanoi_small", 100, 800, 180),
];

/// Plays to the end, or for 200 steps; the number of states and the goals' sum.
fn playouts(machine: &mut dyn StateMachine, n: u64) -> (u64, u64) {
    let mut seed = 2008_u64;
    let mut choose = |moves: &[MoveId]| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        moves[(((seed >> 33) * moves.len() as u64) >> 31) as usize]
    };
    let n_roles = machine.game().roles().len();
    let roles = || (0..n_roles).map(|role| RoleId(role as u8));
    let initial = machine.initial_state().unwrap();
    let (mut state, mut next) = (State::default(), State::default());
    let (mut moves, mut joint_move) = (Vec::new(), Vec::new());
    let (mut n_states, mut goals) = (0, 0);
    for _ in 0..n {
        state.clone_from(&initial);
        for _ in 0..200 {
            n_states += 1;
            let terminal = machine.is_terminal(&state).unwrap();
            joint_move.clear();
            for role in roles() {
                machine.legal_moves(&state, role, &mut moves).unwrap();
                if !terminal {
                    joint_move.push(choose(&moves));
                }
            }
            if terminal {
                break;
            }
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            std::mem::swap(&mut state, &mut next);
        }
        for role in roles() {
            let reading = machine.goal(&state, role).unwrap();
            goals += reading.unique().map_or(0, |goal| u64::from(goal.value()));
        }
    }
    (n_states, goals)
}

fn prover(c: &mut Criterion) {
    bench(c, "prover", |game| Box::new(Prover::new(game, Guards::default()).unwrap()));
}

fn chosen(c: &mut Criterion) {
    bench(c, "chosen", |game| state_machine_for(game, Guards::default()).unwrap());
}

fn bench(c: &mut Criterion, group: &str, machine: fn(Arc<Game>) -> Box<dyn StateMachine>) {
    let mut group = c.benchmark_group(group);
    for (name, n, n_states, goals) in GAMES {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        let mut machine = machine(Arc::new(game));
        group.throughput(Throughput::Elements(n_states));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let answer = playouts(black_box(&mut *machine), n);
                assert_eq!(answer, (n_states, goals), "{name}");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, prover, chosen);
criterion_main!(benches);
