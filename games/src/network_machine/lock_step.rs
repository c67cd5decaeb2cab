//! Random playouts from given states, side by side in batches.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::State;
use crate::batch::{Batch, PlayedOut, Watch};
use crate::compiled_network::{CompiledNetwork, Width};
use crate::playouts::{PlayoutEnd, PlayoutEnds, PlayoutPlan, PlayoutSums};
use crate::split_mix::mix;

/// Maximum number of gates of a network whose code is translated: translating more would take a
/// good part of a short start clock.
pub(super) const MAX_TRANSLATED: usize = 50_000;

/// Translates the code for batches of more than 64 lanes, unless it is done or the
/// network is too large; code that is not translated is interpreted.
pub(super) fn prepare(program: &CompiledNetwork) {
    if is_translated(program) {
        // Not every CPU has machine code; time frames are the same on all.
        let _ = program.translate(Width::Lanes256);
        let _ = program.translate(Width::Lanes512);
        let _ = program.n_time_frames(Width::Lanes512);
    }
}

fn is_translated(program: &CompiledNetwork) -> bool {
    program.size().n_ands <= MAX_TRANSLATED
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

/// Batches that are kept from call to call, for playouts whose rewards are added up.
#[derive(Debug)]
pub(super) struct LockStep {
    /// From narrow to wide, made when first needed.
    batches: [Option<Batch>; 3],
    program: Arc<CompiledNetwork>,
    /// By role: the rewards and the index of their goals, ascending.
    rewards: Vec<Vec<(u8, usize)>>,
}

/// Maximum number of playouts side by side.
pub(super) const WIDTH: usize = 512;

impl LockStep {
    pub(super) fn new(program: &Arc<CompiledNetwork>) -> Self {
        prepare(program);
        let rewards = |role| {
            let values = program.goal_values(role).enumerate();
            let mut rewards: Vec<(u8, usize)> =
                values.filter_map(|(index, value)| Some((value.reward()?, index))).collect();
            rewards.sort_unstable();
            rewards
        };
        Self {
            batches: [None, None, None],
            rewards: (0..program.network().roles.len()).map(rewards).collect(),
            program: Arc::clone(program),
        }
    }

    /// Whether it runs this program.
    pub(super) fn runs(&self, program: &Arc<CompiledNetwork>) -> bool {
        Arc::ptr_eq(&self.program, program)
    }

    /// A batch with room for `n_playouts` playouts, or the widest one.
    fn batch(&mut self, n_playouts: usize) -> &mut Batch {
        // Batches of 64 lanes have no machine code: 256 lanes of code take a small part of the time.
        let has_room = |width: &Width| *width != Width::Lanes64 && width.n_lanes() >= n_playouts;
        let place = Width::ALL.iter().position(has_room).unwrap_or(Width::ALL.len() - 1);
        let program = &self.program;
        self.batches[place].get_or_insert_with(|| {
            let mut batch = Batch::new(program, Width::ALL[place], 0);
            if !is_translated(program) {
                batch.start_at_any_time();
            }
            batch
        })
    }

    /// Plays the playouts of a chunk: those that one batch has room for.
    fn play(
        &mut self,
        chunk: &Chunk<'_>,
        plan: &PlayoutPlan<'_>,
        watch: &mut Watch<'_>,
    ) -> (&Batch, PlayedOut) {
        let batch = self.batch(chunk.n_playouts());
        // Each chunk has random numbers of its own.
        let seed = if chunk.first == 0 { plan.seed } else { mix(plan.seed ^ chunk.first as u64) };
        let played = batch.play_out(chunk.starts, chunk.per_start, plan.max_length, seed, watch);
        batch.evaluate_goals();
        (batch, played)
    }

    /// Plays from each start and adds the rewards up.
    pub(super) fn sums(
        &mut self,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        go_on: &mut dyn FnMut(u64) -> bool,
        sums: &mut PlayoutSums,
    ) {
        sums.clear(starts.len(), self.rewards.len());
        if plan.policy.is_some() {
            let roles = &self.program.network().roles;
            sums.add_up_moves(roles.iter().map(|role| role.moves.len()));
        }
        for chunk in chunks(starts, plan.per_start) {
            let before = sums.n_states;
            let mut go_on = |n_states| go_on(before + n_states);
            let mut watch = Watch { go_on: &mut go_on, recorded: None, policy: plan.policy };
            let rewards = std::mem::take(&mut self.rewards);
            let (batch, played) = self.play(&chunk, plan, &mut watch);
            chunk.add(batch, &played, &rewards, sums);
            self.rewards = rewards;
            sums.n_states += played.n_states;
            sums.longest = sums.longest.max(played.longest);
            if !played.is_whole {
                sums.is_whole = false;
                return;
            }
        }
    }

    /// The moves of one of these playouts, as indices by role, one joint move after the
    /// other.
    pub(super) fn line(
        &mut self,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        playout: usize,
    ) -> Vec<usize> {
        let mut line = Vec::new();
        let its =
            |chunk: &Chunk<'_>| (chunk.first..chunk.first + chunk.n_playouts()).contains(&playout);
        if let Some(chunk) = chunks(starts, plan.per_start).find(its) {
            let recorded = Some((playout - chunk.first, &mut line));
            let policy = plan.policy;
            self.play(&chunk, plan, &mut Watch { go_on: &mut |_| true, recorded, policy });
        }
        line
    }
}

/// Playouts that one batch has room for: several from each of some starts, or some from
/// one start.
struct Chunk<'a> {
    starts: &'a [State],
    per_start: usize,
    /// The number of the first playout.
    first: usize,
    /// The number of the first start.
    first_start: usize,
}

/// Cuts playouts into chunks.
fn chunks(starts: &[State], per_start: usize) -> impl Iterator<Item = Chunk<'_>> {
    let n_starts = (WIDTH / per_start.max(1)).max(1);
    let of = move |(index, starts)| {
        let first_start = index * n_starts;
        (0..per_start).step_by(WIDTH).map(move |done| Chunk {
            starts,
            per_start: (per_start - done).min(WIDTH),
            first: first_start * per_start + done,
            first_start,
        })
    };
    starts.chunks(n_starts).enumerate().flat_map(of)
}

impl Chunk<'_> {
    fn n_playouts(&self) -> usize {
        self.starts.len() * self.per_start
    }

    /// The lanes of a start.
    fn lanes(&self, start: usize) -> Range<usize> {
        start * self.per_start..(start + 1) * self.per_start
    }

    /// Adds up the goals, as last computed, of the lanes that have ended.
    fn add(
        &self,
        batch: &Batch,
        played: &PlayedOut,
        rewards: &[Vec<(u8, usize)>],
        sums: &mut PlayoutSums,
    ) {
        for start in 0..self.starts.len() {
            let lanes = self.lanes(start);
            let n = count(&played.terminal, lanes.clone());
            sums.count_scored(self.first_start + start, n);
            if played.is_whole {
                sums.count_unscored(self.first_start + start, lanes.len() as u32 - n);
            }
        }
        for (role, rewards) in rewards.iter().enumerate() {
            for (index, sum) in sums.moves_mut(role).iter_mut().enumerate() {
                sum.n += count_both(batch.made(role, index), &played.terminal);
            }
            let mut rest = played.terminal.clone();
            let mut best = None;
            for &(reward, index) in rewards {
                // The worst of several goals counts, so these are taken first.
                let mut having: SmallVec<[u64; 8]> = SmallVec::new();
                for (rest, &goal) in rest.iter_mut().zip(batch.goal(role, index)) {
                    having.push(*rest & goal);
                    *rest &= !goal;
                }
                let Some(word) = having.iter().position(|&lanes| lanes != 0) else { continue };
                best = Some((reward, word * 64 + having[word].trailing_zeros() as usize));
                if reward > 0 {
                    for start in 0..self.starts.len() {
                        let n = count(&having, self.lanes(start));
                        sums.add(self.first_start + start, role, reward, n);
                    }
                    for (index, sum) in sums.moves_mut(role).iter_mut().enumerate() {
                        let n = count_both(batch.made(role, index), &having);
                        sum.rewards += u64::from(reward) * n;
                    }
                }
            }
            if let Some((reward, lane)) = best {
                sums.note_best(role, reward, self.first + lane);
            }
        }
    }
}

/// The number of lanes that are in both sets.
fn count_both(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// The number of bits set among some lanes.
fn count(words: &[u64], lanes: Range<usize>) -> u32 {
    let mut n = 0;
    let mut lane = lanes.start;
    while lane < lanes.end {
        let until = (lane / 64 * 64 + 64).min(lanes.end);
        let mask = (u64::MAX >> (64 - (until - lane))) << (lane % 64);
        n += (words[lane / 64] & mask).count_ones();
        lane = until;
    }
    n
}
