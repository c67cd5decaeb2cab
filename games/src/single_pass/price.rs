//! The cost of a single pass, for choosing between evaluation methods. It is counted and
//! not timed, so that the choice for a game is always the same.

use crate::compiled_network::features::{has_avx2, has_avx512};

/// The size of a pass: gates of two operands, and inputs of the network, of which there
/// are as many as outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassSize {
    pub(crate) n_gates: usize,
    pub(crate) n_facts: usize,
    pub(crate) n_moves: usize,
}

impl PassSize {
    /// Bytes of code and slots, roughly.
    pub(crate) fn n_bytes(self) -> u64 {
        let n_slots = 2 * (self.n_facts + self.n_moves);
        (5 * self.n_gates + size_of::<[u64; 4]>() * n_slots) as u64
    }

    /// The price of a step, in tenths of a nanosecond as measured on one computer.
    /// `n_bytes` are those of all passes that take turns.
    pub(crate) fn price(self, n_bytes: u64) -> u64 {
        let gates = self.n_gates as u64;
        let gates = match (has_avx512(), has_avx2()) {
            // One instruction for about five gates in eight; not measured.
            (true, _) => gates * 5 / 4,
            (_, true) => gates * 11 / 5,
            // Interpreted.
            _ => gates * 7,
        };
        let ends = 8 * (self.n_facts + self.n_moves) as u64;
        // What does not stay in the nearest caches is fetched in each step.
        let far = n_bytes.clamp(NEAR_BYTES, FAR_BYTES) - NEAR_BYTES;
        let fetched = self.n_bytes() / 4 * far / (FAR_BYTES - NEAR_BYTES);
        800 + gates + ends + fetched
    }
}

impl PassSize {
    /// Bytes of code for one position, roughly.
    pub(crate) fn n_code_bytes(self) -> u64 {
        (9 * self.n_gates + 20 * (self.n_facts + self.n_moves)) as u64
    }

    /// The price of a step of one position, as [`price`](Self::price), without [`common_price`].
    /// `n_code_bytes` are those of all passes that take turns.
    pub(crate) fn position_price(self, n_code_bytes: u64) -> u64 {
        let ends = 5 * (self.n_facts + self.n_moves) as u64;
        // The larger the code, the more of it is fetched in each step.
        let fetched = self.n_code_bytes() / 4 * n_code_bytes.min(FAR_CODE) / FAR_CODE;
        900 + gates_price(self.n_gates as u64) + ends + fetched
    }
}

/// What a step of one position takes besides [`PassSize::position_price`], whatever the position
/// class: the bits of all moves, and goals of which `n_gates` conjunctions are computed.
pub(crate) fn common_price(n_moves: usize, n_gates: u64) -> u64 {
    5 * n_moves as u64 / 2 + gates_price(n_gates) * 3 / 2
}

/// The price of gates for one position.
pub(crate) fn gates_price(n_gates: u64) -> u64 {
    match has_avx2() {
        true => n_gates * 7 / 4,
        // Interpreted.
        false => n_gates * 7,
    }
}

/// The size of code from which on all of it is fetched in each step.
const FAR_CODE: u64 = 768 << 10;
/// What stays in the nearest caches.
const NEAR_BYTES: u64 = 192 << 10;
/// From this size on, no data stay there between two passes.
const FAR_BYTES: u64 = 240 << 10;
