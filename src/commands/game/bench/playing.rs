//! Playing at random for some time, and what it came to.

use std::thread;
use std::time::{Duration, Instant};

use games::batch::{self, Batch, Limits};
use games::{Cursor, ReasoningError, RoleId, StateMachine};
use rand::RngExt as _;
use rand_pcg::Pcg64Mcg;

use super::super::reasoning;
use super::super::walk::{Ending, playout_rng};
use super::reasoner::{Fork, Reasoner};
use crate::failure::Failure;
use crate::yardstick::thread_cpu;

/// How much to play.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// No playouts are begun after this time.
    pub(super) time: Duration,
    pub(super) seed: u64,
    /// Steps after which a playout is cut.
    pub(super) max_steps: u32,
}

/// The goals of one role.
#[derive(Clone, Debug, Default)]
pub(super) struct GoalSum {
    sum: u64,
    count: u64,
}

impl GoalSum {
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// What was played.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) states: u64,
    pub(super) playouts: u64,
    pub(super) cpu_seconds: f64,
    /// By role: the goals at the ends of playouts.
    pub(super) goals: Vec<GoalSum>,
    cut: u64,
    stuck: u64,
}

impl Tally {
    fn new(n_roles: usize) -> Self {
        Self { goals: vec![GoalSum::default(); n_roles], ..Self::default() }
    }

    fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.playouts += other.playouts;
        self.cpu_seconds += other.cpu_seconds;
        self.cut += other.cut;
        self.stuck += other.stuck;
        self.goals.resize(other.goals.len(), GoalSum::default());
        for (sum, more) in self.goals.iter_mut().zip(&other.goals) {
            sum.sum += more.sum;
            sum.count += more.count;
        }
    }

    /// A line for each kind of playout that did not end in a terminal state.
    pub(super) fn unfinished(&self, max_steps: u32) -> String {
        let mut lines = String::new();
        if self.cut > 0 {
            lines += &format!("  cut          {} playouts after {max_steps} steps\n", self.cut);
        }
        if self.stuck > 0 {
            let count = self.stuck;
            lines += &format!("  stuck        {count} playouts where a role had no legal move\n");
        }
        lines
    }
}

/// Plays on each of some threads.
pub(super) fn play(reasoner: &Reasoner, effort: &Effort, n_threads: u32) -> Result<Tally, Failure> {
    let on_thread = |thread: u32| {
        let fork = reasoner.fork(effort.seed ^ u64::from(thread) << 32);
        move || {
            let cpu = thread_cpu();
            let mut tally = match fork {
                Fork::Single(machine) => walk(machine, effort, thread, n_threads)?,
                Fork::Batch(mut batch) => play_batch(&mut batch, effort),
            };
            tally.cpu_seconds = thread_cpu() - cpu;
            Ok(tally)
        }
    };
    if n_threads == 1 {
        return on_thread(0)();
    }
    let mut total = Tally::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|n| scope.spawn(on_thread(n))).collect();
        for thread in threads {
            total.add(&thread.join().expect("playing does not panic")?);
        }
        Ok(total)
    })
}

/// About how long the clock is not read: in small games reading it takes as long as a state.
const BETWEEN_READINGS: Duration = Duration::from_micros(20);

/// Playouts one after the other; of `n_threads` threads, each has its own.
fn walk(
    mut machine: Box<dyn StateMachine>,
    effort: &Effort,
    thread: u32,
    n_threads: u32,
) -> Result<Tally, Failure> {
    let initial = machine.initial_state().map_err(reasoning)?;
    let roles: Vec<RoleId> = machine.game().role_ids().collect();
    let mut cursor = machine.cursor(&initial);
    let beginning = Instant::now();
    let mut tally = Tally::new(roles.len());
    let mut next_reading = 1;
    loop {
        // At least one playout, however short the time.
        if tally.playouts == next_reading {
            let elapsed = beginning.elapsed();
            if elapsed >= effort.time {
                break;
            }
            let fitting = BETWEEN_READINGS.as_nanos() * u128::from(tally.playouts)
                / elapsed.as_nanos().max(1);
            next_reading += fitting.clamp(1, 1000) as u64;
        }
        let index = tally.playouts * u64::from(n_threads) + u64::from(thread);
        let mut rng = playout_rng(effort.seed, index);
        cursor.enter(&initial);
        let (ending, steps) =
            play_out(cursor.as_mut(), effort.max_steps, &mut rng).map_err(reasoning)?;
        tally.playouts += 1;
        tally.states += steps;
        match ending {
            Ending::Terminal | Ending::Stopped => {}
            Ending::StepLimit => tally.cut += 1,
            Ending::NoMove => tally.stuck += 1,
        }
        if ending != Ending::Terminal {
            continue;
        }
        for (&role, sum) in roles.iter().zip(&mut tally.goals) {
            if let Some(goal) = cursor.goal(role).map_err(reasoning)?.unique() {
                sum.sum += u64::from(goal.value());
                sum.count += 1;
            }
        }
    }
    Ok(tally)
}

/// Steps that a cursor may keep, so that long playouts take little memory.
const WAY: u64 = 256;

/// A random playout from the cursor's position: how it ended, and its number of joint moves. The
/// cursor stands at its last state.
fn play_out(
    cursor: &mut dyn Cursor,
    max_steps: u32,
    rng: &mut Pcg64Mcg,
) -> Result<(Ending, u64), ReasoningError> {
    let mut steps = 0;
    while steps < u64::from(max_steps) && cursor.play_chosen(&mut |n| rng.random_range(..n))? {
        steps += 1;
        if steps.is_multiple_of(WAY) {
            cursor.forget_way();
        }
    }
    let ending = match cursor.is_terminal()? {
        true => Ending::Terminal,
        false if steps == u64::from(max_steps) => Ending::StepLimit,
        false => Ending::NoMove,
    };
    Ok((ending, steps))
}

/// States of the first portion of playouts in a batch, for each lane.
const FIRST_PORTION: u64 = 64;

/// Playouts in lock step, in portions that grow, so that few lanes are idle at
/// the ends of portions and the time is kept.
fn play_batch(batch: &mut Batch, effort: &Effort) -> Tally {
    let initial = batch.program().network().initial_state();
    let mut tally = Tally::new(batch.program().network().roles.len());
    let mut portion = FIRST_PORTION * batch.n_lanes() as u64;
    let beginning = Instant::now();
    loop {
        let limits =
            Limits { n_states: portion, max_length: effort.max_steps, ..Limits::default() };
        let before = beginning.elapsed();
        let played = batch.playouts(&initial, &limits);
        add(&mut tally, &played);
        let elapsed = beginning.elapsed();
        let left = effort.time.saturating_sub(elapsed);
        if left.is_zero() {
            return tally;
        }
        let rate = played.n_states as f64 / (elapsed - before).as_secs_f64().max(1e-9);
        let fitting = (rate * left.as_secs_f64()) as u64;
        portion = (portion * 4).min(fitting).max(batch.n_lanes() as u64);
    }
}

fn add(tally: &mut Tally, played: &batch::Playouts) {
    tally.playouts += played.n;
    tally.states += played.n_states;
    tally.cut += played.n_cut;
    tally.stuck += played.n_stuck;
    for (sum, goals) in tally.goals.iter_mut().zip(&played.goals) {
        sum.sum += goals.sum();
        sum.count += goals.n();
    }
}
