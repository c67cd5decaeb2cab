//! All reasoners agree on games that nobody thought of.

use std::cell::Cell;
use std::sync::Arc;

use games::compiled_network::Width;
use games::{Cancel, Case, GroundingLimits, Guards, Leniency, ground, validate};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};

use super::agreement::{self, Effort};
use super::generator;

/// Most of these games take this many numbers.
const LEAST_NUMBERS: usize = 150;
const MOST_NUMBERS: usize = 600;

/// Of each of three positions, which start again where a match ends.
const N_STEPS: usize = 10;

#[test]
fn all_reasoners_agree_on_generated_games() {
    let is_slow = std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1");
    let cases = if is_slow { 10_000 } else { 200 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (n_states, n_gates) = (Cell::new(0), Cell::new(0));
    let numbers = vec(any::<u16>(), LEAST_NUMBERS..MOST_NUMBERS);
    let result = TestRunner::new(config).run(&numbers, |numbers| {
        let (states, gates) = check(&numbers);
        n_states.set(n_states.get() + states);
        n_gates.set(n_gates.get() + gates);
        Ok(())
    });
    if let Err(TestError::Fail(reason, numbers)) = result {
        panic!("{reason}\n{}", generator::rulesheet(&numbers));
    }
    assert_eq!(result, Ok(()));
    assert_eq!(n_states.get(), 3 * N_STEPS * cases as usize);
    // Most games are more than constants.
    assert!(n_gates.get() >= 50 * cases as usize, "{} gates", n_gates.get());
}

/// The states in which all reasoners were asked, and the gates of the network.
fn check(numbers: &[u16]) -> (usize, usize) {
    let text = generator::rulesheet(numbers);
    let read = validate::read("generated", &text, Case::Folded, Leniency::Strict);
    let Some(game) = read.game else { panic!("invalid: {:?}\n{text}", read.findings) };
    let network = ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new());
    let network = network.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let add = |seed: u64, &number| seed.wrapping_mul(31).wrapping_add(u64::from(number));
    let seed = numbers.iter().fold(0, add);
    let width = if seed.is_multiple_of(2) { Width::Lanes256 } else { Width::Lanes512 };
    let effort = Effort { width, n_steps: N_STEPS, seed, guards: Guards::default() };
    let n_gates = network.graph.n_ands();
    (agreement::check(&Arc::new(network), &effort).unwrap().n_states, n_gates)
}
