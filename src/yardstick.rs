//! What a computer's speed is measured by: a fixed loop of our own, which no
//! change to the reasoners makes faster. It reads and writes 64 KiB at random,
//! multiplies, rotates and branches; it has no vector instructions.

use std::hint::black_box;

const N_WORDS: usize = 8192;

/// Rounds between two looks at the clock.
const PORTION: u64 = 1 << 20;

struct Yardstick {
    table: Vec<u64>,
    state: u64,
    sum: u64,
}

impl Yardstick {
    fn new() -> Self {
        Self { table: vec![0; N_WORDS], state: 0x9e37_79b9_7f4a_7c15, sum: 0 }
    }

    fn run(&mut self, n_rounds: u64) {
        for _ in 0..n_rounds {
            let mut x = self.state;
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let word = &mut self.table[(x >> 20) as usize % N_WORDS];
            let old = *word;
            *word = old.rotate_left(23).wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(x);
            if old & 3 == 0 {
                self.sum = self.sum.wrapping_add(old);
            } else {
                x = x.wrapping_add(old | 1).max(1);
            }
            self.state = x;
        }
    }
}

/// CPU time of this thread, seconds.
pub(crate) fn thread_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Rounds in a second of this thread's CPU time, of which it takes `cpu_seconds` at least.
pub(crate) fn rounds_per_cpu_second(cpu_seconds: f64) -> f64 {
    let mut yardstick = black_box(Yardstick::new());
    let (mut n_rounds, beginning) = (0, thread_cpu());
    loop {
        yardstick.run(PORTION);
        n_rounds += PORTION;
        let time = thread_cpu() - beginning;
        if time >= cpu_seconds {
            black_box(yardstick.sum);
            return n_rounds as f64 / time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_always_the_same_work() {
        let mut yardstick = Yardstick::new();
        yardstick.run(100_000);
        // As a program in another language has it.
        let expected = (6_268_614_435_493_337_103, 18_211_659_180_334_680_596);
        assert_eq!((yardstick.state, yardstick.sum), expected);
    }
}
