//! Chooses by trial how predicates are evaluated.
//!
//! A few random playouts (with a fixed seed, so that the same rules always get the same
//! program) give the sizes of relations, from which the join orders follow. Then each
//! component, most expensive first, is tried on demand instead of in full, and stays so
//! if fewer steps answer the same questions. Everything is counted in steps of the
//! evaluator, never in time.

use std::sync::Arc;

use super::Prover;
use super::clause_plan::Mode;
use super::compile::{Blueprint, measured};
use super::halt::Halt;
use super::sizes::Size;
use crate::relational::rules::{PredicateId, Source};
use crate::split_mix::SplitMix;
use crate::state::{MoveId, State};
use crate::state_machine::ReasoningError;

/// Steps for a single state before the most expensive component is tried on demand.
const MAX_STATE_STEPS: u64 = 2_000_000;
/// Steps for gathering samples.
const SAMPLE_STEPS: u64 = 1_500_000;
/// Samples are enough if all their questions take about this many steps.
const ENOUGH_STEPS: u64 = 100_000;
/// Steps for trying out.
const TRIAL_STEPS: u64 = 6_000_000;
/// So many trials are made even if each takes many steps,
const MIN_TRIALS: u64 = 24;
/// unless they take more than this.
const MAX_TRIAL_STEPS: u64 = 40_000_000;
/// Steps of tuning in all, those of planning anew included. Of 188 published
/// rulesheets none takes more than 38 million.
const MAX_TUNING_STEPS: u64 = 300_000_000;
/// How often samples are taken anew after tuning.
const MAX_ROUNDS: usize = 2;
/// States of one sampled playout.
const MAX_LENGTH: usize = 60;
const MAX_PLAYOUTS: usize = 4;

/// A state and what was played in it; nothing in the last one.
struct Sample {
    state: State,
    joint_move: Vec<MoveId>,
}

/// Tunes a prover that has an untuned program. Where there are no steps left for
/// that, the program stays as it is.
pub(crate) fn tune(prover: &mut Prover) {
    let evaluator = &mut prover.evaluator;
    let ceiling = evaluator.work.saturating_add(MAX_TUNING_STEPS);
    evaluator.set_ceiling(ceiling.min(evaluator.max_steps()));
    tune_within(prover);
    prover.evaluator.set_ceiling(u64::MAX);
}

/// Switches to the program of the blueprint if there are steps left to plan it.
fn replan(prover: &mut Prover, blueprint: &mut Blueprint) -> Result<(), Halt> {
    let steps = prover.adopt(blueprint, prover.evaluator.n_left())?;
    prover.evaluator.work += steps;
    Ok(())
}

fn tune_within(prover: &mut Prover) {
    let mut blueprint = (*prover.blueprint).clone();
    // A program that takes long yields few samples, a better one more.
    for _ in 0..MAX_ROUNDS {
        let (samples, complete) = find_samples(prover, &mut blueprint);
        if samples.is_empty() {
            return;
        }
        note_sizes(prover, &mut blueprint, &samples);
        if replan(prover, &mut blueprint).is_err() {
            return;
        }
        let Some((samples, steps)) = thin(prover, samples) else { return };
        climb(prover, &mut blueprint, &samples, steps);
        if complete {
            return;
        }
    }
}

/// Gathers samples; what makes that fail is evaluated in another way. Also
/// whether all of the samples that one would want were found.
fn find_samples(prover: &mut Prover, blueprint: &mut Blueprint) -> (Vec<Sample>, bool) {
    let mut samples = Vec::new();
    for failures in 0..blueprint.rules.components.len() {
        match gather(prover, &mut samples) {
            Ok(complete) => return (samples, complete && failures == 0),
            Err(halt) => {
                let Some((component, mode)) = remedy(prover, blueprint, &halt) else { break };
                if halt == Halt::Budget {
                    blueprint.expect_huge(component);
                }
                blueprint.set_mode(component, mode);
                if replan(prover, blueprint).is_err() {
                    break;
                }
            }
        }
    }
    (samples, false)
}

/// Leaves out samples if fewer will do; also the steps that these take.
fn thin(prover: &mut Prover, samples: Vec<Sample>) -> Option<(Vec<Sample>, u64)> {
    let limit = MAX_STATE_STEPS * samples.len() as u64;
    let mut by_steps = Vec::new();
    for sample in samples {
        let steps = measure(prover, std::slice::from_ref(&sample), limit).ok()?;
        by_steps.push((steps, sample));
    }
    let steps: u64 = by_steps.iter().map(|(steps, _)| steps).sum();
    if steps > ENOUGH_STEPS {
        // The states of some games take turns in being simple, so that every
        // second one would not do: costly and cheap ones are wanted.
        by_steps.sort_by_key(|&(steps, _)| std::cmp::Reverse(steps));
        let share = (by_steps.len() as u64 * ENOUGH_STEPS / steps).max(2) as usize;
        let skip = by_steps.len().div_ceil(share);
        by_steps = by_steps.into_iter().step_by(skip).collect();
    }
    let samples: Vec<_> = by_steps.into_iter().map(|(_, sample)| sample).collect();
    let steps = measure(prover, &samples, limit).ok()?;
    Some((samples, steps))
}

/// Tries out ways to evaluate one component after the other, and keeps what is
/// cheaper than `best` steps.
fn climb(prover: &mut Prover, blueprint: &mut Blueprint, samples: &[Sample], best: u64) {
    let mut left = TRIAL_STEPS.max(best.saturating_mul(MIN_TRIALS)).min(MAX_TRIAL_STEPS);
    let spent = prover.evaluator.spent.clone();
    let mut candidates: Vec<usize> = (0..blueprint.rules.components.len())
        .filter(|&component| {
            !blueprint.is_fixed(component) && blueprint.rules.is_demandable(component)
        })
        .collect();
    candidates.sort_by_key(|&component| std::cmp::Reverse(spent[component]));
    let mut best = best;
    let mut attempt = |blueprint: &mut Blueprint, changes: &[(usize, Mode)]| {
        // Being a little cheaper is not worth the risk of a bad sample.
        let limit = best - best / 50;
        if left < limit {
            return;
        }
        let old: Vec<_> = changes.iter().map(|&(at, _)| (at, blueprint.mode(at))).collect();
        changes.iter().for_each(|&(at, mode)| blueprint.set_mode(at, mode));
        let is_planned = replan(prover, blueprint);
        match is_planned.and_then(|()| measure(prover, samples, limit)) {
            Ok(steps) if steps < limit => {
                best = steps;
                left -= steps;
            }
            _ => {
                left = if prover.evaluator.n_left() == 0 { 0 } else { left - limit };
                old.into_iter().for_each(|(at, mode)| blueprint.set_mode(at, mode));
            }
        }
    };
    let all: Vec<_> = candidates.iter().map(|&component| (component, Mode::Memo)).collect();
    attempt(blueprint, &all);
    for component in candidates {
        for mode in [Mode::Memo, Mode::Call, Mode::Full] {
            let recursive = blueprint.rules.components[component].recursive;
            if mode != blueprint.mode(component) && !(recursive && mode == Mode::Call) {
                attempt(blueprint, &[(component, mode)]);
            }
        }
    }
    let planned = prover.adopt(blueprint, u64::MAX);
    debug_assert!(planned.is_ok(), "it was planned before");
}

/// What to change after a failure, if anything can be.
pub(crate) fn remedy(prover: &Prover, blueprint: &Blueprint, halt: &Halt) -> Option<(usize, Mode)> {
    if let Halt::TooDeep(component) = halt {
        let component = *component as usize;
        return (blueprint.mode(component) != Mode::Full).then_some((component, Mode::Full));
    }
    if *halt != Halt::Budget && !matches!(halt, Halt::Error(ReasoningError::TooManyFacts { .. })) {
        return None;
    }
    let is_candidate = |component: usize| {
        blueprint.mode(component) == Mode::Full
            && !blueprint.is_fixed(component)
            && blueprint.rules.is_demandable(component)
    };
    let spent = &prover.evaluator.spent;
    let worst = (0..spent.len()).max_by_key(|&component| spent[component])?;
    if is_candidate(worst) {
        return Some((worst, Mode::Memo));
    }
    // Another component needs all of it: evaluate the innermost such one on demand.
    let mut open = prover.evaluator.open_at_failure().map(|component| component as usize);
    open.find(|&component| is_candidate(component)).map(|component| (component, Mode::Memo))
}

/// Plays at random and keeps what was seen; whether there was time for all.
fn gather(prover: &mut Prover, samples: &mut Vec<Sample>) -> Result<bool, Halt> {
    samples.clear();
    let mut random = SplitMix::new(1);
    let start = prover.evaluator.work;
    prover.evaluator.spent.fill(0);
    for _ in 0..MAX_PLAYOUTS {
        prover.evaluator.allow_question();
        let mut state = prover.try_initial_state()?;
        for _ in 0..MAX_LENGTH {
            prover.evaluator.allow(MAX_STATE_STEPS);
            prover.load(&state);
            let terminal = prover.try_terminal()?;
            prover.try_legal()?;
            let playable = prover.legal.iter().all(|moves| !moves.is_empty());
            if terminal || !playable {
                prover.try_goal()?;
                samples.push(Sample { state, joint_move: Vec::new() });
                break;
            }
            let joint_move: Vec<MoveId> =
                prover.legal.iter().map(|moves| moves[random.below(moves.len())]).collect();
            prover.load_moves(&joint_move);
            let mut next = State::default();
            prover.try_next(&mut next)?;
            samples.push(Sample { state, joint_move });
            state = next;
            if prover.evaluator.work - start > SAMPLE_STEPS {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The steps it takes to answer the questions of a playout on all samples.
fn measure(prover: &mut Prover, samples: &[Sample], budget: u64) -> Result<u64, Halt> {
    prover.evaluator.allow(budget);
    prover.evaluator.spent.fill(0);
    let start = prover.evaluator.work;
    let result = samples.iter().try_for_each(|sample| ask(prover, sample));
    prover.is_loaded = false;
    let steps = prover.evaluator.work - start;
    result.map(|()| steps)
}

fn ask(prover: &mut Prover, sample: &Sample) -> Result<(), Halt> {
    prover.is_loaded = false;
    prover.load(&sample.state);
    prover.try_terminal()?;
    prover.try_legal()?;
    if sample.joint_move.is_empty() {
        return prover.try_goal().map(|_| ());
    }
    prover.load_moves(&sample.joint_move);
    prover.try_next(&mut State::default())
}

/// Measures the relations that are evaluated in full.
fn note_sizes(prover: &mut Prover, blueprint: &mut Blueprint, samples: &[Sample]) {
    let rules = Arc::clone(&blueprint.rules);
    let n = rules.predicates.len();
    let mut sums: Vec<(usize, Size)> = rules
        .predicates
        .iter()
        .map(|info| (0, Size { rows: 0.0, distinct: vec![0.0; info.arity] }))
        .collect();
    // Counting distinct values is not counted in steps, so a few must do.
    let skip = samples.len().div_ceil(16);
    for sample in samples.iter().step_by(skip) {
        prover.evaluator.allow(MAX_STATE_STEPS);
        if ask(prover, sample).is_err() {
            continue;
        }
        for (id, (seen, sum)) in sums.iter_mut().enumerate().take(n) {
            if !is_known(prover, blueprint, id) {
                continue;
            }
            let table = prover.program.table_of[id];
            let size = measured(prover.evaluator.table(&prover.program, table));
            *seen += 1;
            sum.rows += size.rows;
            sum.distinct.iter_mut().zip(&size.distinct).for_each(|(sum, one)| *sum += one);
        }
    }
    prover.is_loaded = false;
    for (id, (seen, mut size)) in sums.into_iter().enumerate() {
        if seen > 0 {
            let share = 1.0 / seen as f64;
            size.rows *= share;
            size.distinct.iter_mut().for_each(|distinct| *distinct *= share);
            blueprint.sizes.sizes[id] = size;
        }
    }
}

/// Whether the table of a predicate of the state is filled.
fn is_known(prover: &Prover, blueprint: &Blueprint, id: PredicateId) -> bool {
    let info = &blueprint.rules.predicates[id];
    match info.source {
        Source::Facts(_) | Source::AllFacts | Source::Moves => true,
        Source::Clauses => prover.evaluator.is_done(&prover.program, info.component as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_machine::{Guards, StateMachine};
    use crate::{Case, Leniency, RoleId, library, validate};

    /// The same prover, but with everything that may be called in this mode.
    fn forced(prover: &Prover, mode: Mode) -> Prover {
        let mut forced = prover.clone();
        let mut blueprint = (*prover.blueprint).clone();
        for component in 0..blueprint.rules.components.len() {
            let recursive = blueprint.rules.components[component].recursive;
            if !blueprint.is_fixed(component)
                && blueprint.rules.is_demandable(component)
                && !(recursive && mode == Mode::Call)
            {
                blueprint.set_mode(component, mode);
            }
        }
        forced.adopt(&mut blueprint, u64::MAX).unwrap();
        forced
    }

    /// Plays at random and asks all provers the same questions.
    fn check(name: &str, text: &[u8], steps: usize) {
        let game = validate::read(name, text, Case::Sensitive, Leniency::Lenient).game;
        let tuned = Prover::new(Arc::new(game.unwrap()), Guards::default()).unwrap();
        let mut provers = vec![tuned.clone()];
        provers.extend([Mode::Full, Mode::Memo, Mode::Call].map(|mode| forced(&tuned, mode)));
        let roles = tuned.game().role_ids();
        let mut seed = 7_u64;
        let mut state = provers[0].initial_state().unwrap();
        for step in 0..steps {
            let mut legal = vec![Vec::new(); roles.len()];
            let mut answers = Vec::new();
            for prover in &mut provers {
                prover.evaluator.allow(20_000_000);
                let Ok(terminal) = prover.is_terminal(&state) else { continue };
                let mut goals = Vec::new();
                for (role, moves) in roles.clone().zip(&mut legal) {
                    prover.legal_moves(&state, role, moves).unwrap();
                    goals.push(prover.goal(&state, role).unwrap());
                }
                answers.push((terminal, goals, legal.clone()));
            }
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{name}, step {step}");
            let (terminal, _, legal) = &answers[0];
            if *terminal || legal.iter().any(Vec::is_empty) {
                state = provers[0].initial_state().unwrap();
                continue;
            }
            let mut choose = |moves: &Vec<MoveId>| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                moves[(seed >> 33) as usize % moves.len()]
            };
            let joint_move: Vec<MoveId> = legal.iter().map(&mut choose).collect();
            let mut successors = Vec::new();
            for prover in &mut provers {
                prover.evaluator.allow(20_000_000);
                let mut next = State::default();
                if prover.next_state(&state, &joint_move, &mut next).is_ok() {
                    let percepts = prover.percepts(&state, &joint_move, RoleId(0)).unwrap();
                    successors.push((next, percepts));
                }
            }
            assert!(successors.windows(2).all(|pair| pair[0] == pair[1]), "{name}, step {step}");
            state = successors.swap_remove(0).0;
        }
    }

    #[test]
    fn how_a_predicate_is_evaluated_does_not_matter() {
        for shipped in library::all() {
            check(shipped.name, shipped.text.as_bytes(), 40);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "published rulesheets lie in files")]
    fn nor_does_it_for_published_rulesheets() {
        let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else { return };
        let folder = std::path::Path::new(&folder).join("rulesheets");
        let entries = std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_stem().unwrap().to_str().unwrap();
            check(name, &std::fs::read(&path).unwrap(), 40);
        }
    }
}
