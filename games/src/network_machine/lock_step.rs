//! Random playouts from given states, side by side in batches.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::State;
use crate::batch::Batch;
use crate::compiled_network::{CompiledNetwork, Width};
use crate::playouts::{PlayoutEnd, PlayoutEnds};

/// Most gates of a network whose code is translated: translating more would take a
/// good part of a short start clock.
const MAX_TRANSLATED: usize = 50_000;

/// Translates the code for batches of more than 64 lanes, unless it is done or the
/// network is too large; code that is not translated is interpreted.
pub(super) fn prepare(program: &CompiledNetwork) {
    if program.size().n_ands <= MAX_TRANSLATED {
        // Not every CPU has machine code.
        let _ = program.translate(Width::Lanes256);
        let _ = program.translate(Width::Lanes512);
    }
}

/// Plays from each start, batch after batch. Lanes that have ended wait for the last one
/// of their batch.
pub(super) fn playouts_in_lock_step(
    program: &Arc<CompiledNetwork>,
    starts: &[State],
    max_length: u32,
    seed: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
    playouts: &mut PlayoutEnds,
) {
    playouts.clear(starts.len());
    prepare(program);
    if starts.is_empty() {
        return;
    }
    let width = Width::ALL.into_iter().find(|width| width.n_lanes() >= starts.len());
    let width = width.unwrap_or(Width::Lanes512);
    let mut batch = Batch::new(program, width, seed);
    let PlayoutEnds { ends, n_states } = playouts;
    for (starts, ends) in starts.chunks(width.n_lanes()).zip(ends.chunks_mut(width.n_lanes())) {
        batch.load(0, starts);
        let mut running: Vec<u64> = vec![0; width.n_lanes() / 64];
        (0..starts.len()).for_each(|lane| running[lane / 64] |= 1 << (lane % 64));
        let mut scored: Vec<(usize, u32)> = Vec::new();
        let mut length = 0;
        while running.iter().any(|&lanes| lanes != 0) && go_on(*n_states) {
            batch.evaluate();
            let terminal = batch.terminal().to_vec();
            let moving = batch.choose_at_random();
            for (word, lanes) in running.iter_mut().enumerate() {
                let stays = if length == max_length { 0 } else { moving[word] };
                let mut ended = *lanes & (terminal[word] | !stays);
                *lanes &= !ended;
                *n_states += u64::from(lanes.count_ones());
                while ended != 0 {
                    let lane = word * 64 + ended.trailing_zeros() as usize;
                    if terminal[word] & ended & ended.wrapping_neg() != 0 {
                        scored.push((lane, length));
                    } else {
                        ends[lane] = Some(PlayoutEnd { length, goals: SmallVec::new() });
                    }
                    ended &= ended - 1;
                }
            }
            batch.advance();
            length += 1;
        }
        // Terminal lanes keep the state in which they ended.
        if !scored.is_empty() {
            let lanes: Vec<usize> = scored.iter().map(|&(lane, _)| lane).collect();
            for ((lane, length), goals) in scored.into_iter().zip(batch.goals(&lanes)) {
                ends[lane] = Some(PlayoutEnd { length, goals: goals.into() });
            }
        }
        if running.iter().any(|&lanes| lanes != 0) {
            return;
        }
    }
}
