//! Compact words for states: the facts that tell reachable states apart, a bit each.
//!
//! Most facts of a game follow from others: a cell is blank if it holds nothing else.
//! Over the field of two elements that is an equation, so a basis of the sampled states
//! gives the facts to keep, and each other fact as a sum of kept ones (Gaussian
//! elimination). The equations are guesses: every successor is checked against them,
//! and a fact that breaks its equation is kept from then on.
//!
//! In many games another equation gives the number of steps played, by which states of
//! different depths differ for certain. It is guessed and checked in the same way.

use crate::network::Network;
use crate::split_mix::SplitMix;
use crate::state::State;

/// Bits of a word.
const WORD: usize = 64;

/// Longest equation that is used: longer ones cost more than a bit.
const MAX_TERMS: usize = 64;

/// Maximum number of kept facts for which an equation of the depth is looked for.
const MAX_GRADED: usize = 400;

/// Depths are computed modulo this prime.
const PRIME: u64 = 2_147_483_647;

/// Sampled states, and the number of steps that led to each.
pub(super) struct Samples {
    pub(super) states: Vec<(State, u32)>,
}

/// A fact that follows from kept ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Derived {
    pub(super) fact: u32,
    /// The kept facts whose sum it is.
    pub(super) of: Vec<u32>,
    /// Whether one is added.
    pub(super) negated: bool,
}

/// How states are written in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    /// The facts of the bits, in order.
    pub(super) kept: Vec<u32>,
    pub(super) derived: Vec<Derived>,
}

impl Encoding {
    /// The encoding that the samples suggest; the facts `forced` are kept.
    pub(super) fn new(network: &Network, samples: &Samples, forced: &[u32]) -> Self {
        let n_words = samples.states.len().div_ceil(WORD);
        let ones: Vec<u64> = (0..n_words)
            .map(|word| match samples.states.len() - word * WORD {
                left if left >= WORD => u64::MAX,
                left => (1 << left) - 1,
            })
            .collect();
        let column = |fact: usize| {
            let mut column = vec![0_u64; n_words];
            for (at, (state, _)) in samples.states.iter().enumerate() {
                column[at / WORD] |= (state.words[fact / WORD] >> (fact % WORD) & 1) << (at % WORD);
            }
            column
        };
        // Each line: the column, its pivot, and the sum of which facts it is. The first is
        // the constant, which is no fact.
        let mut basis: Vec<(Vec<u64>, usize, Vec<u64>)> = Vec::new();
        let mut encoding = Self { kept: Vec::new(), derived: Vec::new() };
        let n_sums = network.n_facts() / WORD + 1;
        let constant = network.n_facts();
        let mut unit = vec![0_u64; n_sums];
        unit[constant / WORD] |= 1 << (constant % WORD);
        basis.push((ones, 0, unit));
        for fact in 0..network.n_facts() {
            let mut column = column(fact);
            let is_constant = column.iter().all(|&word| word == 0) || column == basis[0].0;
            let mut sum = vec![0_u64; n_sums];
            sum[fact / WORD] |= 1 << (fact % WORD);
            for (line, pivot, of) in &basis {
                if column[pivot / WORD] >> (pivot % WORD) & 1 == 1 {
                    column.iter_mut().zip(line).for_each(|(to, from)| *to ^= from);
                    sum.iter_mut().zip(of).for_each(|(to, from)| *to ^= from);
                }
            }
            if let Some(word) = column.iter().position(|&word| word != 0) {
                let pivot = word * WORD + column[word].trailing_zeros() as usize;
                encoding.kept.push(fact as u32);
                basis.push((column, pivot, sum));
                continue;
            }
            let is_set = |at: usize| sum[at / WORD] >> (at % WORD) & 1 == 1;
            let of: Vec<u32> = (0..fact).filter(|&at| is_set(at)).map(|at| at as u32).collect();
            // A fact that never changed in the samples says nothing about the others.
            if is_constant || of.len() > MAX_TERMS || forced.contains(&(fact as u32)) {
                encoding.kept.push(fact as u32);
            } else {
                encoding.derived.push(Derived { fact: fact as u32, of, negated: is_set(constant) });
            }
        }
        encoding
    }

    /// Number of words of a state.
    pub(super) fn n_words(&self) -> usize {
        self.kept.len().div_ceil(WORD).max(1)
    }

    /// The bits of a state.
    pub(super) fn encode<const N: usize>(&self, state: &State) -> [u64; N] {
        let mut words = [0; N];
        for (bit, &fact) in self.kept.iter().enumerate() {
            let fact = fact as usize;
            words[bit / WORD] |= (state.words[fact / WORD] >> (fact % WORD) & 1) << (bit % WORD);
        }
        words
    }
}

/// States of random play from the initial state, some of each depth.
pub(super) fn sample(program: &std::sync::Arc<crate::CompiledNetwork>) -> Samples {
    /// Steps that are sampled: the first ones.
    const MAX_STEPS: u32 = 512;
    /// Samples in all, about.
    const MAX_SAMPLES: usize = 6000;
    let mut batch = crate::Batch::new(program, crate::Width::Lanes512, 0x0005_01e5);
    let mut samples = Samples { states: vec![(program.network().initial_state(), 0)] };
    let mut random = SplitMix::new(1);
    for per_step in [128, 16] {
        batch.fill(&program.network().initial_state());
        for step in 1..=MAX_STEPS {
            batch.evaluate();
            let moving = batch.choose_at_random().to_vec();
            if moving.iter().all(|&lanes| lanes == 0) {
                break;
            }
            batch.advance();
            let has_moved = |lane: &usize| moving[lane / WORD] >> (lane % WORD) & 1 == 1;
            let lanes: Vec<usize> = (0..batch.n_lanes()).filter(has_moved).collect();
            for _ in 0..per_step.min(lanes.len()) {
                let lane = lanes[random.below(lanes.len())];
                samples.states.push((batch.state(lane), step));
            }
            if samples.states.len() > MAX_SAMPLES {
                break;
            }
        }
    }
    samples
}

/// The depth of a state as a sum of weights of its bits, by byte of its words.
#[derive(Clone, Debug)]
pub(super) struct Grading {
    /// By byte of the words and value of the byte.
    weights: Vec<[u32; 256]>,
    constant: u64,
}

impl Grading {
    /// The grading that fits all samples, if there is one.
    pub(super) fn new(encoding: &Encoding, samples: &Samples) -> Option<Self> {
        let n = encoding.kept.len();
        if n > MAX_GRADED {
            return None;
        }
        // Lines of the form: bits, one, depth. By pivot, once reduced.
        let mut lines: Vec<Option<Vec<u64>>> = vec![None; n + 1];
        for (state, depth) in &samples.states {
            let bit = |&fact: &u32| state.words[fact as usize / WORD] >> (fact % 64) & 1;
            let mut line: Vec<u64> = encoding.kept.iter().map(bit).collect();
            line.push(1);
            line.push(u64::from(*depth));
            for at in 0..=n {
                if line[at] == 0 {
                    continue;
                }
                let Some(with) = &lines[at] else {
                    let scale = inverse(line[at]);
                    line.iter_mut().for_each(|cell| *cell = *cell * scale % PRIME);
                    lines[at] = Some(std::mem::take(&mut line));
                    break;
                };
                let factor = PRIME - line[at];
                for (to, from) in line.iter_mut().zip(with).skip(at) {
                    *to = (*to + factor * from) % PRIME;
                }
            }
            // No bits are left, but a depth is.
            if line.last().is_some_and(|&depth| depth != 0) {
                return None;
            }
        }
        let mut weight = vec![0_u64; n + 1];
        for at in (0..=n).rev() {
            let Some(line) = &lines[at] else { continue };
            let known: u64 =
                (at + 1..=n).fold(0, |sum, other| (sum + line[other] * weight[other]) % PRIME);
            weight[at] = (line[n + 1] + PRIME - known) % PRIME;
        }
        let mut weights = vec![[0_u32; 256]; encoding.n_words() * 8];
        for (at, weights) in weights.iter_mut().enumerate() {
            for (byte, sum) in weights.iter_mut().enumerate() {
                let bits = (0..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| at * 8 + bit);
                let total: u64 = bits.map(|bit| weight[..n].get(bit).copied().unwrap_or(0)).sum();
                *sum = (total % PRIME) as u32;
            }
        }
        Some(Self { weights, constant: weight[n] })
    }

    /// The depth of a state, if the equation holds for it.
    #[inline]
    pub(super) fn depth<const N: usize>(&self, words: &[u64; N]) -> u64 {
        let mut sum = self.constant;
        for (word, weights) in words.iter().zip(self.weights.chunks_exact(8)) {
            for (byte, weights) in word.to_le_bytes().into_iter().zip(weights) {
                sum += u64::from(weights[usize::from(byte)]);
            }
        }
        sum % PRIME
    }
}

/// The inverse modulo the prime, by Fermat.
fn inverse(number: u64) -> u64 {
    let (mut result, mut power, mut left) = (1, number, PRIME - 2);
    while left > 0 {
        if left & 1 == 1 {
            result = result * power % PRIME;
        }
        power = power * power % PRIME;
        left >>= 1;
    }
    result
}
