//! Bytes as the numbers that games are generated from: all reasoners agree.

#![no_main]

use std::sync::Arc;

use games::compiled_network::Width;
use games::{GroundingLimits, Cancel, Case, Guards, Leniency, ground, validate};
use libfuzzer_sys::fuzz_target;

#[path = "../../tests/reasoning/agreement.rs"]
mod agreement;
#[path = "../../tests/reasoning/generator.rs"]
mod generator;

fuzz_target!(|bytes: &[u8]| {
    let numbers: Vec<u16> = bytes.iter().map(|&byte| u16::from(byte)).collect();
    let text = generator::rulesheet(&numbers);
    let game = validate::read("generated", &text, Case::Folded, Leniency::Strict).game;
    let game = Arc::new(game.expect("generated games are valid"));
    let network = ground(&game, &GroundingLimits::default(), &Cancel::new());
    let network = Arc::new(network.expect("generated games are small"));
    let effort = agreement::Effort {
        width: Width::Lanes256,
        n_steps: 8,
        seed: 1,
        guards: Guards::default(),
    };
    let compared = agreement::check(&network, &effort).expect("within the guards");
    assert_eq!(compared.n_states, 24);
});
