//! Conditional plans: a move for every state that the others' replies can lead to
//! (Genesereth and Thielscher, "General Game Playing", 2014, on conditional planning).
//!
//! The plan's value is the one of bounded minimax, or of expectiminimax where chance
//! moves: the worst reply of the others counts, and the mean over the moves of chance. A
//! plan has a continuation for *every* joint move that may follow its own moves, so that
//! whoever carries it out need not search.

use std::sync::Arc;

use games::{MoveId, State, StateKey, StateMachine, Wanted};
use rustc_hash::{FxHashMap, FxHashSet};

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
        end: None,
        met_simultaneous_moves: false,
    };
    search.frames[0].begin(state);
    let best = search.best(0);
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
        (Err(Halt::Broken(error)), None) => return Err(error.into()),
    };
    Ok((outcome, deliberation))
}

/// Number of decisions in a plan, which is a tree: of its steps in which the player has
/// a choice, or no other role has, each as often as play can come to it.
pub(crate) fn n_decisions(root: &Arc<PlanStep>) -> u64 {
    fn count(step: &Arc<PlanStep>, known: &mut FxHashMap<*const PlanStep, u64>) -> u64 {
        if let Some(&n) = known.get(&Arc::as_ptr(step)) {
            return n;
        }
        let below = step.after.iter().filter_map(|(_, next)| next.as_ref());
        let below: u64 = below.map(|next| count(next, known)).fold(0, u64::saturating_add);
        let n = below.saturating_add(u64::from(step.n_legal > 1 || step.after.len() <= 1));
        known.insert(Arc::as_ptr(step), n);
        n
    }
    count(root, &mut FxHashMap::default())
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
    end: Option<End>,
    /// A state was entered in which several roles choose at once.
    met_simultaneous_moves: bool,
}

/// The value of a state, and the plan from it; none if it is terminal.
type Best = (f64, Option<Arc<PlanStep>>);

impl ConditionalSearch<'_> {
    /// There can be no plan, and the search ends.
    fn give_up(&mut self, end: End) -> Halt {
        self.end = Some(end);
        Halt::Due
    }

    fn best(&mut self, level: usize) -> Result<Best, Halt> {
        let key = self.machine.key(&self.frames[level].state);
        if let Some(best) = self.known.get(&key) {
            self.stopwatch.deliberation.table_hits += 1;
            return Ok(best.clone());
        }
        self.stopwatch.enter(level)?;
        let best = self.deliberate(level)?;
        if self.known.len() >= self.settings.max_states {
            return Err(self.give_up(End::TooLarge));
        }
        self.known.insert(key, best.clone());
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
        let mut best: Option<(f64, Arc<PlanStep>)> = None;
        for index in 0..n_moves {
            self.frames[level].pick(me, index);
            let least = best.as_ref().map_or(-1.0, |(value, _)| *value);
            let Some((value, after)) = self.worst_reply(level, least)? else { continue };
            let action = self.frames[level].legal[me][index];
            best = Some((value, Arc::new(PlanStep { action, n_legal: n_moves, after })));
            if self.settings.bounded && value >= 100.0 {
                self.stopwatch.prune((n_moves - index - 1) as u64);
                break;
            }
        }
        let (value, step) = best.expect("the first move is worth more than -1");
        Ok((value, Some(step)))
    }

    /// What my move in the frame of `level` is worth, with what comes after each joint
    /// move; `None` if that is not above `least`.
    #[expect(clippy::type_complexity, reason = "a value and the parts of one plan step")]
    fn worst_reply(
        &mut self,
        level: usize,
        least: f64,
    ) -> Result<Option<(f64, Vec<(Vec<MoveId>, Option<Arc<PlanStep>>)>)>, Halt> {
        let n_replies = self.roles.n_replies(&self.frames[level]);
        let chance = self.roles.chance;
        let n_outcomes = chance.map_or(1, |chance| self.frames[level].legal[chance].len());
        let mut after = Vec::new();
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
                after.push((self.frames[level].joint.clone(), next));
                if after.len() > self.settings.max_states {
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
}

/// Number of different steps in a plan: those that play can come to in several ways
/// count once.
pub(crate) fn n_steps(root: &Arc<PlanStep>) -> usize {
    let mut seen: FxHashSet<*const PlanStep> = FxHashSet::default();
    let mut left = vec![root];
    while let Some(step) = left.pop() {
        if seen.insert(Arc::as_ptr(step)) {
            left.extend(step.after.iter().filter_map(|(_, next)| next.as_ref()));
        }
    }
    seen.len()
}

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
