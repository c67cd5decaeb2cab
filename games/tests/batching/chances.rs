//! Random moves are uniform: chi-square tests with fixed seeds.

use std::sync::Arc;

use games::compiled_network::{CompiledNetwork, Width};
use games::{Batch, RoleId};

use super::networks::counter;

/// How often each of `n_moves` moves is chosen, `forbidden` ones never; the
/// statistic must lie within five standard deviations of its mean.
fn check(n_moves: usize, forbidden: fn(usize) -> bool) {
    let network = counter(3, n_moves, forbidden);
    let program = Arc::new(CompiledNetwork::new(network));
    for width in Width::ALL {
        let mut batch = Batch::new(&program, width, 7);
        batch.evaluate();
        let n_legal = (0..n_moves).filter(|&i| !forbidden(i)).count() as f64;
        let mut counts = vec![0_u64; n_moves];
        let n_rounds = 200 * n_moves.max(50) / batch.n_lanes() * 8;
        for _ in 0..n_rounds {
            batch.choose_at_random();
            for (index, count) in counts.iter_mut().enumerate() {
                let chosen = batch.chosen(RoleId(0), index);
                *count += chosen.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            }
        }
        let n = (n_rounds * batch.n_lanes()) as f64;
        assert_eq!(counts.iter().sum::<u64>() as f64, n);
        let expected = n / n_legal;
        let mut statistic = 0.0;
        for (index, &count) in counts.iter().enumerate() {
            if forbidden(index) {
                assert_eq!(count, 0, "move {index}");
            } else {
                statistic += (count as f64 - expected).powi(2) / expected;
            }
        }
        let freedom = n_legal - 1.0;
        let deviations = (statistic - freedom) / (2.0 * freedom).max(1.0).sqrt();
        assert!(deviations.abs() < 5.0, "{n_moves} moves, {width:?}: {deviations} deviations");
    }
}

#[test]
fn moves_are_equally_likely() {
    for n_moves in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 155] {
        check(n_moves, |_| false);
    }
    check(40, |i| i % 3 == 0);
    check(100, |i| (16..48).contains(&i));
    check(300, |i| i % 17 != 0);
    check(1000, |i| i % 2 == 0);
}

#[test]
fn lanes_and_steps_are_independent() {
    // Of two moves each, how often the same as in the next lane, and as in the
    // step before: binomial with mean one half.
    let program = Arc::new(CompiledNetwork::new(counter(3, 2, |_| false)));
    let mut batch = Batch::new(&program, Width::Lanes512, 3);
    batch.evaluate();
    let (mut neighbours, mut steps, mut before) = (0_u64, 0_u64, vec![0; 8]);
    for _ in 0..2000 {
        batch.choose_at_random();
        let chosen = batch.chosen(RoleId(0), 0).to_vec();
        for (word, before) in chosen.iter().zip(&before) {
            neighbours += u64::from((word ^ word.rotate_left(1)).count_zeros());
            steps += u64::from((word ^ before).count_zeros());
        }
        before = chosen;
    }
    let n = 2000.0 * 512.0;
    for same in [neighbours, steps] {
        let deviations = (same as f64 - n / 2.0) / (n / 4.0_f64).sqrt();
        assert!(deviations.abs() < 5.0, "{deviations} deviations");
    }
}
