//! Conditional plans: a move for every state that the others' replies can lead to
//! (Genesereth and Thielscher, "General Game Playing", 2014, on conditional planning).
//!
//! The plan's value is the one of bounded minimax, or of expectiminimax where chance
//! moves: the worst reply of the others counts, and the mean over the moves of chance. A
//! plan has a continuation for *every* joint move that may follow its own moves, so that
//! whoever carries it out need not search.

use std::sync::Arc;

use games::{MoveId, State, StateKey, StateMachine, Wanted};
use rustc_hash::FxHashMap;

use crate::deliberation::PlanStep;
use crate::search::{
    Frame, Halt, MAX_LEVELS, SearchRoles, Stopwatch, VisitRate, advance, at, worst,
};
use crate::{Deliberation, Failure, Stop};

/// How to plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionalSettings {
    /// Look no further once a move is worth 100.
    pub(crate) bounded: bool,
    /// States whose plans are kept, at most.
    pub(crate) max_states: usize,
}

/// The outcome of planning.
#[derive(Clone, Debug)]
pub(crate) enum ConditionalOutcome {
    /// What the plan guarantees, and its first step.
    Found(f64, Arc<PlanStep>),
    /// There is none: the match is over, some line does not end within [`MAX_LEVELS`]
    /// joint moves, or a role has no move.
    None,
    /// A plan takes more than this number of states, or a move has more replies.
    TooLarge(usize),
    /// The stop was due.
    Stopped,
}

/// The best plan of `role` from `state`, the first of equals.
pub(crate) fn plan(
    machine: &mut dyn StateMachine,
    role: games::RoleId,
    state: &State,
    settings: ConditionalSettings,
    ranks: &FxHashMap<MoveId, usize>,
    stop: &Stop,
) -> Result<(ConditionalOutcome, Deliberation), Failure> {
    let roles = SearchRoles::new(machine.game(), role);
    let n_roles = roles.n_roles;
    let mut search = ConditionalSearch {
        machine,
        roles,
        settings,
        ranks,
        stopwatch: Stopwatch::new(stop),
        frames: vec![Frame::new(n_roles)],
        visit_rate: VisitRate::default(),
        known: FxHashMap::default(),
        steps: Steps { n_roles, ..Steps::default() },
        end: None,
        met_simultaneous_moves: false,
    };
    search.frames[0].begin(state);
    let best = search.best(0);
    let best = best.and_then(|(value, step)| Ok((value, search.plan_from(step)?)));
    let end = search.end;
    let is_proven = !search.met_simultaneous_moves;
    let mut deliberation = search.stopwatch.deliberation;
    let outcome = match (best, end) {
        (Ok((value, Some(step))), None) => {
            deliberation.completed = true;
            deliberation.proven = is_proven;
            deliberation.value = Some(value);
            ConditionalOutcome::Found(value, step)
        }
        (Ok(_), _) | (Err(_), Some(End::Endless)) => {
            deliberation.completed = true;
            ConditionalOutcome::None
        }
        (Err(_), Some(End::TooLarge)) => ConditionalOutcome::TooLarge(settings.max_states),
        (Err(Halt::Due), None) => ConditionalOutcome::Stopped,
        (Err(Halt::Broken(error)), None) => return Err((*error).into()),
    };
    Ok((outcome, deliberation))
}

/// How large a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanSize {
    /// Decisions, of the plan as a tree: its steps in which the player has a choice, or no
    /// other role has, each as often as play can come to it.
    pub(crate) n_decisions: u64,
    /// Different steps: those that play can come to in several ways count once.
    pub(crate) n_steps: usize,
}

/// Different steps of the largest plan whose size is computed, so that it takes little time.
pub(crate) const MOST_SIZED: usize = 20_000;

impl PlanStep {
    /// Decisions of the plan as a tree: its steps in which the player has a choice, or no other
    /// role has, each as often as play can come to it. `None` if the plan is too large to count.
    #[must_use]
    pub fn n_decisions(self: &Arc<Self>) -> Option<u64> {
        size(self).map(|size| size.n_decisions)
    }
}

/// The size of a plan, `None` if it has more than [`MOST_SIZED`] different steps.
pub(crate) fn size(root: &Arc<PlanStep>) -> Option<PlanSize> {
    fn count(step: &Arc<PlanStep>, known: &mut FxHashMap<*const PlanStep, u64>) -> Option<u64> {
        if let Some(&n) = known.get(&Arc::as_ptr(step)) {
            return Some(n);
        }
        let mut n = u64::from(step.n_legal > 1 || step.after.len() <= 1);
        for (_, next) in &step.after {
            if let Some(next) = next {
                n = n.saturating_add(count(next, known)?);
            }
        }
        known.insert(Arc::as_ptr(step), n);
        (known.len() <= MOST_SIZED).then_some(n)
    }
    let mut known = FxHashMap::default();
    let n_decisions = count(root, &mut known)?;
    Some(PlanSize { n_decisions, n_steps: known.len() })
}

/// Why there can be no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Endless,
    TooLarge,
}

struct ConditionalSearch<'a> {
    machine: &'a mut dyn StateMachine,
    roles: SearchRoles,
    settings: ConditionalSettings,
    ranks: &'a FxHashMap<MoveId, usize>,
    stopwatch: Stopwatch<'a>,
    frames: Vec<Frame>,
    visit_rate: VisitRate,
    /// Plans from the states that were searched to the end.
    known: FxHashMap<StateKey, Best>,
    steps: Steps,
    end: Option<End>,
    /// A state was entered in which several roles choose at the same time.
    met_simultaneous_moves: bool,
}

/// The value of a state, and the first step of the plan from it; none if it is terminal.
type Best = (f64, Option<u32>);

/// All steps of all plans, in a few lists: they are freed at once, when time is up.
#[derive(Debug, Default)]
struct Steps {
    n_roles: usize,
    /// Steps come after those that follow them.
    steps: Vec<Step>,
    /// By joint move that is planned for: the moves of all roles, and the step that follows.
    joint_moves: Vec<MoveId>,
    next: Vec<Option<u32>>,
}

/// A step, and where what follows it begins and ends.
#[derive(Clone, Copy, Debug)]
struct Step {
    action: MoveId,
    n_legal: usize,
    after: [usize; 2],
}

/// What follows a move: the moves of all roles one joint move after the other, and the step
/// after each.
#[derive(Debug, Default)]
struct After {
    joint_moves: Vec<MoveId>,
    next: Vec<Option<u32>>,
}

impl Steps {
    fn add(&mut self, action: MoveId, n_legal: usize, after: &After) -> u32 {
        let first = self.next.len();
        self.joint_moves.extend_from_slice(&after.joint_moves);
        self.next.extend_from_slice(&after.next);
        self.steps.push(Step { action, n_legal, after: [first, self.next.len()] });
        u32::try_from(self.steps.len() - 1).expect("states are fewer")
    }
}

impl ConditionalSearch<'_> {
    /// There can be no plan, and the search ends.
    fn give_up(&mut self, end: End) -> Halt {
        self.end = Some(end);
        Halt::Due
    }

    fn best(&mut self, level: usize) -> Result<Best, Halt> {
        let key = self.machine.key(&self.frames[level].state);
        if let Some(best) = self.known.get(&key) {
            let best = *best;
            self.stopwatch.deliberation.table_hits += 1;
            if self.stopwatch.deliberation.table_hits.is_multiple_of(POLL_EVERY) {
                self.stopwatch.poll_time()?;
            }
            return Ok(best);
        }
        self.stopwatch.enter(level)?;
        let best = self.deliberate(level)?;
        if self.known.len() >= self.settings.max_states {
            return Err(self.give_up(End::TooLarge));
        }
        self.known.insert(key, best);
        Ok(best)
    }

    fn deliberate(&mut self, level: usize) -> Result<Best, Halt> {
        let (above, frame) = at(&mut self.frames, level);
        if frame.is_terminal(self.machine, above)? {
            self.stopwatch.deliberation.leaves += 1;
            let reward = worst(&frame.goal(self.machine, above, self.roles.me)?);
            return Ok((f64::from(reward), None));
        }
        if level >= MAX_LEVELS || !frame.list_moves(self.machine, above, self.ranks)? {
            return Err(self.give_up(End::Endless));
        }
        self.met_simultaneous_moves |= self.roles.choose_at_once(frame);
        let wanted = Wanted { legal: true, all_goals: false };
        let n_entered = self.stopwatch.deliberation.nodes;
        frame.expand(self.machine, wanted, &mut self.visit_rate, n_entered)?;
        let me = self.roles.index();
        let n_moves = self.frames[level].legal[me].len();
        let mut best: Option<(f64, MoveId, After)> = None;
        for index in 0..n_moves {
            self.frames[level].pick(me, index);
            let least = best.as_ref().map_or(-1.0, |(value, ..)| *value);
            let Some((value, after)) = self.worst_reply(level, least)? else { continue };
            let action = self.frames[level].legal[me][index];
            best = Some((value, action, after));
            if self.settings.bounded && value >= 100.0 {
                self.stopwatch.prune((n_moves - index - 1) as u64);
                break;
            }
        }
        let (value, action, after) = best.expect("the first move is worth more than -1");
        Ok((value, Some(self.steps.add(action, n_moves, &after))))
    }

    /// What my move in the frame of `level` is worth, with what comes after each joint
    /// move; `None` if that is not above `least`.
    fn worst_reply(&mut self, level: usize, least: f64) -> Result<Option<(f64, After)>, Halt> {
        let n_replies = self.roles.n_replies(&self.frames[level]);
        let chance = self.roles.chance;
        let n_outcomes = chance.map_or(1, |chance| self.frames[level].legal[chance].len());
        let mut after = After::default();
        let mut value = f64::INFINITY;
        for reply in 0..n_replies {
            let frame = &mut self.frames[level];
            self.roles.set_reply(frame, reply);
            let mut sum = 0.0;
            for outcome in 0..n_outcomes {
                if let Some(chance) = chance {
                    self.frames[level].pick(chance, outcome);
                }
                advance(&mut self.frames, level, self.machine, &mut self.stopwatch)?;
                let (score, next) = self.best(level + 1)?;
                sum += score;
                after.joint_moves.extend_from_slice(&self.frames[level].joint);
                after.next.push(next);
                if after.next.len() > self.settings.max_states {
                    return Err(self.give_up(End::TooLarge));
                }
            }
            value = value.min(sum / n_outcomes as f64);
            if value <= least {
                self.stopwatch.prune((n_replies - reply - 1).saturating_mul(n_outcomes as u64));
                return Ok(None);
            }
        }
        Ok(Some((value, after)))
    }

    /// The plan that begins with a step.
    fn plan_from(&self, root: Option<u32>) -> Result<Option<Arc<PlanStep>>, Halt> {
        let Some(root) = root else { return Ok(None) };
        let Steps { n_roles, steps, joint_moves, next } = &self.steps;
        let until = root as usize + 1;
        let mut is_needed = vec![false; until];
        is_needed[root as usize] = true;
        for (at, step) in steps[..until].iter().enumerate().rev() {
            if is_needed[at] {
                let [first, end] = step.after;
                next[first..end].iter().flatten().for_each(|&next| is_needed[next as usize] = true);
            }
        }
        let mut made: Vec<Option<Arc<PlanStep>>> = vec![None; until];
        for (at, step) in steps[..until].iter().enumerate().filter(|&(at, _)| is_needed[at]) {
            if (at as u64).is_multiple_of(POLL_EVERY) {
                self.stopwatch.poll_time()?;
            }
            let Step { action, n_legal, after: [first, end] } = *step;
            let joint_moves = joint_moves[first * n_roles..end * n_roles].chunks(*n_roles);
            let next = next[first..end].iter().map(|next| made[(*next)? as usize].clone());
            let after = joint_moves.map(<[MoveId]>::to_vec).zip(next).collect();
            made[at] = Some(Arc::new(PlanStep { action, n_legal, after }));
        }
        Ok(made[root as usize].take())
    }
}

/// Look-ups and steps between two looks at the clock, where no state is entered.
const POLL_EVERY: u64 = 256;

#[cfg(test)]
mod tests {
    use games::RoleId;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Graph, Movers, minimax};

    const ME: RoleId = RoleId(0);

    fn planned(graph: &Graph, bounded: bool) -> (f64, Arc<PlanStep>, Box<dyn StateMachine>) {
        let mut machine = graph.machine();
        let state = machine.initial_state().unwrap();
        let settings = ConditionalSettings { bounded, max_states: usize::MAX };
        let (stop, ranks) = (Stop::never(), FxHashMap::default());
        let (found, said) = plan(&mut *machine, ME, &state, settings, &ranks, &stop).unwrap();
        let ConditionalOutcome::Found(value, step) = found else { panic!("{found:?}") };
        assert!(said.completed);
        (value, step, machine)
    }

    /// What a plan is worth if it is carried out and all replies are tried: none may be
    /// missing.
    fn carried_out(
        machine: &mut dyn StateMachine,
        state: &State,
        step: Option<&PlanStep>,
        n_roles: usize,
    ) -> f64 {
        let chance = machine.game().random().map(|role| usize::from(role.0));
        let Some(step) = step else {
            assert!(machine.is_terminal(state).unwrap());
            return f64::from(worst(&machine.goal(state, ME).unwrap()));
        };
        let mut n_joint_moves = 1;
        let mut n_outcomes = 1;
        for role in (1..n_roles).map(|role| RoleId(u8::try_from(role).unwrap())) {
            let mut moves = Vec::new();
            machine.legal_moves(state, role, &mut moves).unwrap();
            n_joint_moves *= moves.len();
            if chance == Some(usize::from(role.0)) {
                n_outcomes = moves.len();
            }
        }
        assert_eq!(step.after.len(), n_joint_moves, "the plan covers all replies");
        let mut worst_reply = f64::INFINITY;
        for outcomes in step.after.chunks(n_outcomes) {
            let mut sum = 0.0;
            for (joint_move, next) in outcomes {
                assert_eq!(joint_move[0], step.action);
                let mut after = State::default();
                machine.next_state(state, joint_move, &mut after).unwrap();
                sum += carried_out(machine, &after, next.as_deref(), n_roles);
            }
            worst_reply = worst_reply.min(sum / n_outcomes as f64);
        }
        worst_reply
    }

    fn check(graph: &Graph) -> Result<(), TestCaseError> {
        let mut machine = graph.machine();
        let state = machine.initial_state().unwrap();
        let expected = minimax(&mut *machine, &state);
        for bounded in [false, true] {
            let (value, step, mut machine) = planned(graph, bounded);
            prop_assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
            let state = machine.initial_state().unwrap();
            let n_roles = graph.roles.len();
            let worth = carried_out(&mut *machine, &state, Some(&step), n_roles);
            prop_assert!((worth - expected).abs() < 1e-9, "{worth}, not {expected}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_plan_guarantees_the_value_of_minimax(seed: u64) {
            check(&Graph::random(seed, &["me", "you"], Movers::Alternating, 4))?;
            check(&Graph::random(seed, &["me", "you"], Movers::Simultaneous, 3))?;
            check(&Graph::random(seed, &["me", "you", "other"], Movers::Simultaneous, 2))?;
        }

        #[test]
        fn with_chance_it_is_worth_the_mean(seed: u64) {
            check(&Graph::random(seed, &["me", "random"], Movers::Alternating, 4))?;
            check(&Graph::random(seed, &["me", "random", "you"], Movers::Simultaneous, 2))?;
        }
    }

    #[test]
    fn a_plan_that_is_too_large_is_none() {
        let graph = Graph::tree(3, 4, &[50; 81]);
        let mut machine = graph.machine();
        let state = machine.initial_state().unwrap();
        for (max_states, stop, expected) in
            [(60, Stop::never(), "TooLarge(60)"), (121, Stop::never().after_nodes(20), "Stopped")]
        {
            let settings = ConditionalSettings { bounded: true, max_states };
            let found = plan(&mut *machine, ME, &state, settings, &FxHashMap::default(), &stop);
            assert_eq!(format!("{:?}", found.unwrap().0), expected);
        }
    }
}
