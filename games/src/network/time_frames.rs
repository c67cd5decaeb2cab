//! What is known of a position by the number of steps since the initial position.
//!
//! Whose turn it is often follows from the number of steps alone, as do counters, and what no play
//! can have changed yet. So playouts that are at the same step need only what is left of the
//! network there. As in bounded model checking, each step is a time frame; neighbouring steps
//! share one, since each frame takes code of its own. (Biere, Cimatti, Clarke and Zhu, "Symbolic
//! model checking without BDDs", 1999; what is known in a frame is found by ternary simulation:
//! Jephson, McQuarrie and Vogelsberg, "A three-value computer design verification system", 1969.)

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;

use super::cofactor::{cofactor_size, folding_with_moves};
use super::samples::Samples;
use super::stale_ends::EndConditions;
use super::{Lit, Network};
use crate::State;

/// Maximum number of nodes that are looked at to find what is known at each step, and of nodes and
/// moves to find how long playouts are.
const MAX_LOOKED_AT: usize = 70_000_000;
/// Maximum number of steps of which it is noted what is known.
const MAX_STEPS: usize = 1000;
/// Maximum number of steps after which the same is known again, if there are frames.
const MAX_PERIOD: usize = 6;
/// How many parts of a match may have frames of their own.
const N_PARTS: [usize; 3] = [2, 4, 8];
/// The gates of all frames are at most this many times those of the network.
const MAX_GROWTH: usize = 4;
/// There are frames for turns if the price of a step falls to this part.
const TURNS_PAY: f64 = 0.9;
/// There are frames for parts of a match if the price falls to this part of what it is with turns.
const PARTS_PAY: f64 = 0.8;
/// There are more parts if the price falls to this part with them.
const PAYS_AGAIN: f64 = 0.9;
/// What a step costs besides its gates and moves, in gates.
const PRICE_OF_STEP: f64 = 1300.0;
/// What the choice costs for each move that may be legal, in gates.
const PRICE_OF_MOVE: f64 = 8.0;
/// Of more moves than these, most are illegal in all lanes and cost little.
const MAX_PRICED_MOVES: usize = 400;

/// When a playout may start, so that all are at the steps of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starts {
    /// When a multiple of this number of steps has been made since all began.
    Every(usize),
    /// When no other is going on.
    Together,
}

/// What is known at each step, and which steps share a frame.
#[derive(Clone, Debug)]
pub(crate) struct TimeFrames {
    /// By step: what is known.
    steps: Vec<Facts>,
    /// The step that follows the last one in `steps`.
    again: usize,
    starts: Starts,
    /// By step.
    frame_of_step: Vec<usize>,
    frames: Vec<TimeFrame>,
}

/// What is known at all steps of a frame.
#[derive(Clone, Debug)]
pub(crate) struct TimeFrame {
    /// Literals that hold: of facts, of moves, and of the absence of
    /// [conditions of the end](EndConditions), which is known only after a step from a position that
    /// was not terminal.
    pub(crate) known: Vec<Lit>,
}

/// Facts that are known, as the words of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Facts {
    is_known: Vec<u64>,
    /// Of those that are known.
    holds: Vec<u64>,
}

impl Facts {
    fn new(values: impl Iterator<Item = Option<bool>>) -> Self {
        let mut facts = Self { is_known: Vec::new(), holds: Vec::new() };
        for (fact, value) in values.enumerate() {
            if fact % 64 == 0 {
                facts.is_known.push(0);
                facts.holds.push(0);
            }
            let at = fact / 64;
            facts.is_known[at] |= u64::from(value.is_some()) << (fact % 64);
            facts.holds[at] |= u64::from(value == Some(true)) << (fact % 64);
        }
        facts
    }

    /// What is known by both.
    fn meet(&mut self, other: &Self) {
        for at in 0..self.is_known.len() {
            let differs = self.holds[at] ^ other.holds[at];
            self.is_known[at] &= other.is_known[at] & !differs;
            self.holds[at] &= self.is_known[at];
        }
    }

    /// As literals that hold.
    fn literals(&self) -> Vec<Lit> {
        let mut literals = Vec::new();
        for (at, (&known, &holds)) in self.is_known.iter().zip(&self.holds).enumerate() {
            let mut left = known;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                literals.push(Lit::of_input(at * 64 + bit, holds >> bit & 1 == 1));
                left &= left - 1;
            }
        }
        literals
    }

    /// Whether a state is as known.
    fn allow(&self, state: &State) -> bool {
        let known = self.is_known.iter().zip(&self.holds);
        known.zip(&state.words).all(|((known, holds), word)| word & known == *holds)
    }
}

/// How steps are divided into frames.
struct Division {
    starts: Starts,
    /// By step.
    frame_of_step: Vec<usize>,
    /// By frame: the literals that hold.
    known: Vec<Vec<Lit>>,
    /// What a step costs, in gates.
    price: f64,
}

impl TimeFrames {
    /// The frames by which a step of playouts takes least; `None` if they save little.
    pub(crate) fn new(network: &Network) -> Option<Self> {
        let (steps, again) = known_by_step(network)?;
        let period = steps.len() - again;
        if period > MAX_PERIOD {
            return None;
        }
        let found = Search::new(network, &steps, again).best()?;
        let Division { starts, frame_of_step, known, .. } = found;
        let frames = known.iter().map(|known| TimeFrame::new(network, known)).collect();
        Some(Self { steps, again, starts, frame_of_step, frames })
    }

    /// When playouts may start.
    pub(crate) fn starts(&self) -> Starts {
        self.starts
    }

    /// The frames.
    pub(crate) fn frames(&self) -> &[TimeFrame] {
        &self.frames
    }

    /// A step at which nothing is known that the state contradicts; `None` if there is none, so
    /// that no play from the initial position reaches it. Whether play reaches the state at that
    /// step does not matter: what is known later follows from what is known there.
    pub(crate) fn step_of(&self, state: &State) -> Option<usize> {
        self.steps.iter().position(|facts| facts.allow(state))
    }

    /// The frame of a step.
    #[inline]
    pub(crate) fn frame(&self, step: usize) -> usize {
        self.frame_of_step[step]
    }

    /// The step after a step.
    #[inline]
    pub(crate) fn after(&self, step: usize) -> usize {
        if step + 1 < self.steps.len() { step + 1 } else { self.again }
    }

    /// How many steps later than at step `first` a playout begins that is at `step`, to be in the
    /// same frames.
    pub(crate) fn wait(&self, first: usize, step: usize) -> usize {
        match self.starts {
            Starts::Every(period) => (step + period - first % period) % period,
            Starts::Together => step - first,
        }
    }
}

impl TimeFrame {
    fn new(network: &Network, known: &[Lit]) -> Self {
        Self { known: folding_with_moves(network, known).0 }
    }
}

/// What is known at each step, up to one after which the same is known as at an earlier step, and
/// that step. `None` if that takes too long.
fn known_by_step(network: &Network) -> Option<(Vec<Facts>, usize)> {
    let most = (MAX_LOOKED_AT / (2 * network.graph.n_nodes())).min(MAX_STEPS);
    let mut facts = Facts::new(network.initial.iter().map(|&holds| Some(holds)));
    let mut steps: Vec<Facts> = Vec::new();
    let mut seen: HashMap<Facts, usize, FxBuildHasher> = HashMap::default();
    while steps.len() < most {
        if let Some(&again) = seen.get(&facts) {
            return Some((steps, again));
        }
        let (_, same_as) = folding_with_moves(network, &facts.literals());
        let value = |lit: &Lit| {
            let lit = lit.replaced_by(&same_as);
            lit.is_constant().then_some(lit == Lit::TRUE)
        };
        let next = Facts::new(network.next.iter().map(value));
        seen.insert(facts.clone(), steps.len());
        steps.push(std::mem::replace(&mut facts, next));
    }
    None
}

/// What is known of facts at all steps of each frame.
fn facts_by_frame(steps: &[Facts], frame_of_step: &[usize]) -> Vec<Facts> {
    let mut known: Vec<Option<Facts>> =
        vec![None; frame_of_step.iter().max().map_or(0, |last| last + 1)];
    for (facts, &frame) in steps.iter().zip(frame_of_step) {
        match &mut known[frame] {
            Some(known) => known.meet(facts),
            none => *none = Some(facts.clone()),
        }
    }
    known.into_iter().flatten().collect()
}

/// Looks for the frames by which a step takes least.
struct Search<'n> {
    network: &'n Network,
    steps: &'n [Facts],
    /// The step that follows the last one.
    again: usize,
    period: usize,
    ends: EndConditions,
    /// The gates of the network.
    n_gates: usize,
    /// What a step costs without frames.
    price: f64,
    /// The mean and the greatest length of some playouts, once they are needed; `None` if they are
    /// too long.
    lengths: OnceCell<Option<(f64, f64)>>,
}

impl<'n> Search<'n> {
    fn new(network: &'n Network, steps: &'n [Facts], again: usize) -> Self {
        let period = steps.len() - again;
        let (n_gates, n_moves) = cofactor_size(network, &[]);
        // Playouts may keep the turns of the roles without frames, too.
        let price = price(n_gates, n_moves / period);
        let ends = EndConditions::new(network);
        Self { network, steps, again, period, ends, n_gates, price, lengths: OnceCell::new() }
    }

    fn lengths(&self) -> Option<(f64, f64)> {
        *self.lengths.get_or_init(|| sample_lengths(self.network))
    }

    /// By frame: the literals that hold at all its steps. `frame_of_step` has the frames of the first
    /// steps, or of all.
    fn known(&self, frame_of_step: &[usize]) -> Vec<Vec<Lit>> {
        let facts = facts_by_frame(&self.steps[..frame_of_step.len()], frame_of_step);
        let mut known: Vec<Vec<Lit>> = facts.iter().map(Facts::literals).collect();
        let stale: Vec<Vec<Lit>> =
            known.iter().map(|known| self.ends.stale(self.network, known)).collect();
        let after = |step: usize| if step + 1 < self.steps.len() { step + 1 } else { self.again };
        let next = (0..frame_of_step.len()).filter_map(|step| frame_of_step.get(after(step)));
        let follows: BTreeSet<_> = next.copied().zip(frame_of_step.iter().copied()).collect();
        for (frame, known) in known.iter_mut().enumerate() {
            // Frames are not used for starts that are terminal.
            let mut ends = self.ends.all().to_vec();
            for (_, before) in follows.range((frame, 0)..(frame + 1, 0)) {
                ends.retain(|end| stale[*before].contains(end));
            }
            known.extend(ends.iter().map(|&end| !end));
        }
        known
    }

    /// By frame: the gates and the price of a step.
    fn prices(&self, known: &[Vec<Lit>]) -> Vec<(usize, f64)> {
        let of_frame = |known: &Vec<Lit>| {
            let (n_gates, n_moves) = cofactor_size(self.network, known);
            (n_gates, price(n_gates, n_moves))
        };
        known.iter().map(of_frame).collect()
    }

    fn best(&self) -> Option<Division> {
        let by_turns = self.by_turns(self.price * TURNS_PAY);
        let limit = by_turns.as_ref().map_or(self.price, |division| division.price) * PARTS_PAY;
        self.by_parts(limit).or(by_turns)
    }

    /// A frame for each step of the period, if a step costs less than `limit` with them.
    fn by_turns(&self, limit: f64) -> Option<Division> {
        if self.period == 1 {
            return None;
        }
        let frame_of_step: Vec<usize> =
            (0..self.steps.len()).map(|step| step % self.period).collect();
        let known = self.known(&frame_of_step);
        let prices = self.prices(&known);
        let mut price = prices.iter().map(|(_, price)| price).sum::<f64>() / self.period as f64;
        if price > limit || self.grows_too_much(&prices) {
            return None;
        }
        if let Some((mean, _)) = self.lengths() {
            // Lanes wait for half a period, on average.
            price *= 1.0 + (self.period - 1) as f64 / 2.0 / mean;
        }
        let starts = Starts::Every(self.period);
        (price <= limit).then_some(Division { starts, frame_of_step, known, price })
    }

    /// Whether the code for all frames would take too long to generate.
    fn grows_too_much(&self, prices: &[(usize, f64)]) -> bool {
        prices.iter().map(|(n_gates, _)| n_gates).sum::<usize>() > MAX_GROWTH * self.n_gates
    }

    /// Frames for each part of a match, if a step of playouts that start together costs less than
    /// `limit` with them.
    fn by_parts(&self, limit: f64) -> Option<Division> {
        let &Self { steps, period, .. } = self;
        // The first steps usually cost least. If all had their price, would it pay?
        let first: Vec<usize> = (0..period).collect();
        let least = self.prices(&self.known(&first));
        if least.iter().map(|(_, price)| price).sum::<f64>() > limit * period as f64 {
            return None;
        }
        let mut best: Option<Division> = None;
        for n_parts in N_PARTS {
            if steps.len() < 2 * n_parts * period {
                break;
            }
            let (mean, longest) = self.lengths()?;
            let longest = longest as usize;
            // Parts are of the same length, in whole periods; the last one has all later steps.
            let part = longest.min(steps.len()).div_ceil(n_parts * period).max(1) * period;
            let frame_of_step: Vec<usize> = (0..steps.len())
                .map(|step| (step / part).min(n_parts - 1) * period + step % period)
                .collect();
            let known = self.known(&frame_of_step);
            let prices = self.prices(&known);
            if self.grows_too_much(&prices) {
                break;
            }
            let last = steps.len() - 1;
            let sum: f64 = (0..longest).map(|step| prices[frame_of_step[step.min(last)]].1).sum();
            let price = sum / mean;
            if price <= best.as_ref().map_or(limit, |best| best.price * PAYS_AGAIN) {
                let starts = Starts::Together;
                best = Some(Division { starts, frame_of_step, known, price });
            }
        }
        best
    }
}

/// What a step costs, in gates.
fn price(n_gates: usize, n_moves: usize) -> f64 {
    n_gates as f64 + n_moves.min(MAX_PRICED_MOVES) as f64 * PRICE_OF_MOVE + PRICE_OF_STEP
}

/// The mean and the greatest length of a batch of random playouts from the initial position,
/// estimated from some; `None` if they are too long, or have no steps.
fn sample_lengths(network: &Network) -> Option<(f64, f64)> {
    let of_moves = 3 * 64 * network.n_moves();
    let most = MAX_LOOKED_AT / (2 * network.graph.n_nodes() + of_moves);
    let mut samples = Samples::new(network);
    let (mut running, mut sum) = (u64::MAX, 0.0);
    for step in 0..most.min(MAX_STEPS) {
        running &= samples.next().going;
        if running == 0 {
            let mean = sum / 64.0_f64;
            // Of 512 exponential lengths, the greatest is half as far again from the mean as of 64.
            return (step > 0).then_some((mean, mean + 1.5 * (step as f64 - mean)));
        }
        sum += f64::from(running.count_ones());
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::samples::value;
    use super::*;
    use crate::{Cancel, Case, GroundingLimits, Leniency, ground, library, validate};

    fn network(name: &str) -> Network {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap()
    }

    /// The frames by the period, however little they save.
    fn by_turns(network: &Network) -> TimeFrames {
        let (steps, again) = known_by_step(network).unwrap();
        let period = steps.len() - again;
        let frame_of_step = (0..steps.len()).map(|step| step % period).collect::<Vec<_>>();
        let known = Search::new(network, &steps, again).known(&frame_of_step);
        let frames = known.iter().map(|known| TimeFrame::new(network, known)).collect();
        TimeFrames { steps, again, starts: Starts::Every(period), frame_of_step, frames }
    }

    /// In random play, facts and moves are as known at the step, and at the step that is found for
    /// the state.
    #[test]
    fn what_is_known_holds_in_random_play() {
        let names =
            ["amazons_6x6", "breakthrough_5x5", "checkers_6x6", "connect_three", "hex_4x4", "pig"];
        for name in names {
            let network = network(name);
            let time_frames = by_turns(&network);
            let mut samples = Samples::new(&network);
            let (mut running, mut step, mut n_seen) = (u64::MAX, 0, 0);
            while running != 0 {
                let sample = samples.next();
                let reached = running;
                running &= sample.going;
                let input = |input: usize| value(sample.values, network.graph.input(input));
                let check = |step: usize, reached: u64, running: u64| {
                    for &lit in &time_frames.frames()[time_frames.frame(step)].known {
                        // Moves are made only where the match goes on.
                        let node = lit.node() as usize;
                        let is_move =
                            (1 + network.n_facts()..=network.graph.n_inputs()).contains(&node);
                        let lanes = if is_move { running } else { reached };
                        let differs = !value(sample.values, lit);
                        assert_eq!(differs & lanes, 0, "{name}, step {step}, node {node}");
                    }
                };
                check(step, reached, running);
                for lane in (0..64).filter(|lane| running >> lane & 1 == 1) {
                    let state = network.state_where(|fact| input(fact) >> lane & 1 == 1);
                    assert!(time_frames.steps[step].allow(&state), "{name}, step {step}");
                    let found = time_frames.step_of(&state).unwrap();
                    check(found, 1 << lane, 1 << lane);
                    n_seen += 1;
                }
                step = time_frames.after(step);
            }
            assert!(n_seen >= 64, "{name}");
        }
    }

    #[test]
    fn turns_are_frames_where_they_pay() {
        let starts = |name| TimeFrames::new(&network(name)).map(|it| it.starts());
        assert_eq!(starts("amazons_6x6"), Some(Starts::Every(2)));
        assert_eq!(starts("knights_tour"), Some(Starts::Every(2)));
        // Half the lines cannot have been completed by the last move.
        assert_eq!(starts("connect_four"), Some(Starts::Every(2)));
        // Few gates; whoever jumps may go on; moves at the same time.
        assert_eq!(starts("tic_tac_toe"), None);
        assert_eq!(starts("checkers"), None);
        assert_eq!(starts("tron"), None);
    }

    #[test]
    fn playouts_that_wait_meet_the_others() {
        let time_frames = by_turns(&network("connect_three"));
        let period = time_frames.steps.len() - time_frames.again;
        assert_eq!(period, 2);
        for (first, step) in [(0, 0), (0, 1), (1, 0), (1, 4), (3, 2)] {
            let mut at = first;
            (0..time_frames.wait(first, step)).for_each(|_| at = time_frames.after(at));
            assert_eq!(time_frames.frame(at), time_frames.frame(step), "{first}, {step}");
        }
    }
}
