//! Random playouts as players make them: in each state the legal moves of all
//! roles and whether it is terminal, then the next state, at the end all goals.
//!
//! The answer, the number of states and the sum of the goals, is asserted, so a
//! change that makes play faster by making it wrong does not go unseen.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

mod common;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use games::{
    Case, Game, Guards, Leniency, Prover, StateMachine, library, state_machine_for, validate,
};

use self::common::{Played, playouts};

/// Name, playouts, and what they come to: states and goals of all roles.
const GAMES: [(&str, u64, u64, u64); 3] = [
    ("tic_tac_toe", 1000, 8558, 100_000),
    ("connect_four", 100, 2346, 10_000),
    ("hanoi_small", 100, 800, 180),
];

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
                let answer = playouts(black_box(&mut *machine), n, 200);
                assert_eq!(answer, Played { n_states, goals }, "{name}");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, prover, chosen);
criterion_main!(benches);
