//! How often the nodes of a network flip in a walk through the game.

use super::WORD;
use super::gates::Gates;
use super::position_classes::{PositionClasses, Step};

/// The most steps of a walk.
pub(crate) const MAX_STEPS: usize = 256;

/// A bit for each step of a walk, those of a position class side by side.
type Bits = [u64; MAX_STEPS / WORD];

/// By node of `gates`, inputs of the network first: how often it flips between two steps of `walk`
/// that follow each other in their position class.
pub(crate) fn flips(gates: &Gates, classes: &PositionClasses, walk: &[Step]) -> Vec<u32> {
    let (mut values, follows) = inputs(gates.n_inputs, classes, walk);
    values.reserve(gates.inputs.len());
    for inputs in &gates.inputs {
        let mut all = [u64::MAX; MAX_STEPS / WORD];
        for &(node, negated) in inputs {
            let mask = if negated { u64::MAX } else { 0 };
            for (all, one) in all.iter_mut().zip(&values[node as usize]) {
                *all &= one ^ mask;
            }
        }
        values.push(all);
    }
    values.iter().map(|bits| n_flips(bits, &follows)).collect()
}

/// The inputs of the network in the steps of a walk, and the steps that follow one of their class.
fn inputs(n_inputs: usize, classes: &PositionClasses, walk: &[Step]) -> (Vec<Bits>, Bits) {
    let mut steps: Vec<&Step> = walk.iter().take(MAX_STEPS).collect();
    steps.sort_by_key(|(state, _)| classes.class(state));
    let (mut inputs, mut follows) = (vec![Bits::default(); n_inputs], Bits::default());
    let mut before = None;
    for (step, (state, moves)) in steps.into_iter().enumerate() {
        let (at, bit) = (step / WORD, 1 << (step % WORD));
        let facts = state.iter().enumerate().flat_map(|(at, &word)| {
            (0..WORD).filter(move |fact| word >> fact & 1 == 1).map(move |fact| at * WORD + fact)
        });
        for input in facts.chain(moves.iter().map(|&input| input as usize)) {
            inputs[input][at] |= bit;
        }
        let class = Some(classes.class(state));
        if before == class {
            follows[at] |= bit;
        }
        before = class;
    }
    (inputs, follows)
}

fn n_flips(bits: &Bits, follows: &Bits) -> u32 {
    let (mut n, mut last) = (0, 0);
    for (word, follows) in bits.iter().zip(follows) {
        n += ((word ^ (word << 1 | last)) & follows).count_ones();
        last = word >> (WORD - 1);
    }
    n
}
