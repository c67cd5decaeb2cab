//! Position classes of which positions are met so often that code of their own pays, and what
//! it saves.

use std::cell::OnceCell;

use smallvec::SmallVec;

use super::joint_code;
use super::position_classes::{PositionClasses, Step};
use crate::network::{Lit, Network, cofactor_size, late_size, next_size};
use crate::single_pass::{PassSize, gates_price};

/// A class is frequent if at least this part of play is in it.
const OFTEN: f64 = 0.125;
/// Maximum number of conjunctions of a network whose positions are classified. Passes over more do
/// not fit any cache, and counting the gates of their cofactors takes long.
const MAX_APART: usize = 50_000;
/// Maximum number of conjunctions of a network for which pairs of facts are tried.
const MAX_PAIRED: usize = 40_000;
/// Joint moves of a walk for which the size of their code is estimated.
const SAMPLE: usize = 8;
/// The price of switching from one class to another, in tenths of a nanosecond.
const SWITCH: u64 = 50;

/// Position classes, and which of them are frequent.
#[derive(Clone, Debug)]
pub(super) struct FrequentClasses {
    classes: PositionClasses,
    /// By class: whether it is frequent and so has code of its own.
    is_often: Vec<bool>,
}

impl FrequentClasses {
    /// The classification that saves most, and the price of a step with it, in tenths
    /// of a nanosecond. `whole` is the price without one.
    pub(super) fn choose(network: &Network, walk: &[Step], whole: u64) -> (Self, u64) {
        if network.graph.n_ands() > MAX_APART {
            return (Self::of(&PositionClasses::default(), walk), whole);
        }
        let tries_pairs = network.graph.n_ands() <= MAX_PAIRED;
        let cost = |classes: &PositionClasses| match classes.n_classes() {
            1 => whole,
            _ => SWITCH + Self::of(classes, walk).price(network, walk, whole),
        };
        let (classes, price) = PositionClasses::choose(network.n_facts(), walk, tries_pairs, cost);
        (Self::of(&classes, walk), price)
    }

    /// What code for joint moves saves of a step once it is made, in tenths of a nanosecond.
    pub(super) fn joint_saving(&self, network: &Network, walk: &[Step]) -> u64 {
        if network.graph.n_ands() > MAX_APART || !joint_code::come_again(walk) {
            return 0;
        }
        let made: Vec<&Step> = walk.iter().filter(|(_, moves)| !moves.is_empty()).collect();
        let some = made.iter().step_by(made.len().div_ceil(SAMPLE).max(1));
        let n_some = some.len().max(1);
        let late: Vec<OnceCell<usize>> = vec![OnceCell::new(); self.classes.n_classes()];
        let saved = |(state, moves): &&&Step| {
            let class = self.classes.class(state);
            let mut known =
                if self.has_own(class) { self.classes.known(class) } else { SmallVec::new() };
            let late = *late[class].get_or_init(|| late_size(network, &known));
            let inputs = network.n_facts()..network.graph.n_inputs();
            known.extend(inputs.map(|input| Lit::of_input(input, moves.contains(&(input as u32)))));
            late.saturating_sub(next_size(network, &known))
        };
        let saved: usize = some.map(|step| saved(&step)).sum();
        gates_price((saved / n_some) as u64)
    }

    /// The classification.
    pub(super) fn classes(&self) -> &PositionClasses {
        &self.classes
    }

    /// Whether a class is frequent.
    pub(super) fn is_often(&self, class: usize) -> bool {
        self.is_often[class]
    }

    /// Whether a class has code of its own.
    pub(super) fn has_own(&self, class: usize) -> bool {
        self.classes.n_classes() > 1 && self.is_often[class]
    }

    fn of(classes: &PositionClasses, walk: &[Step]) -> Self {
        let mut visits = vec![0_usize; classes.n_classes()];
        walk.iter().for_each(|(state, _)| visits[classes.class(state)] += 1);
        let often = (walk.len() as f64 * OFTEN).max(1.0);
        let is_often = visits.iter().map(|&visits| visits as f64 >= often).collect();
        Self { classes: classes.clone(), is_often }
    }

    /// The mean price of a step over a walk.
    fn price(&self, network: &Network, walk: &[Step], whole: u64) -> u64 {
        let own = |(class, _)| {
            let (n_gates, n_moves) = cofactor_size(network, &self.classes.known(class));
            (class, PassSize { n_gates, n_facts: network.n_facts(), n_moves })
        };
        let often = self.is_often.iter().enumerate().filter(|(_, is_often)| **is_often);
        let sizes: Vec<(usize, PassSize)> = often.map(own).collect();
        let n_bytes = sizes.iter().map(|(_, size)| size.n_code_bytes()).sum();
        let mut prices = vec![whole; self.classes.n_classes()];
        sizes.iter().for_each(|&(class, size)| prices[class] = size.position_price(n_bytes));
        let sum: u64 = walk.iter().map(|(state, _)| prices[self.classes.class(state)]).sum();
        sum / walk.len().max(1) as u64
    }
}
