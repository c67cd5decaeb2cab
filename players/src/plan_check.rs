//! Checks plans: whether a plan of one role is legal, complete, minimal and optimal,
//! whatever the other roles do (Genesereth and Thielscher, "General Game Playing", 2014,
//! on sequential and conditional planning).

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::RangeInclusive;

use games::{Expression, MoveId, RoleId, State, StateKey, StateMachine};
use rustc_hash::FxHashMap;

use crate::belief::Replies;
use crate::conditional_plan::{self, ConditionalOutcome, ConditionalSettings};
use crate::plan;
use crate::search::{MAX_LEVELS, reward};
use crate::{Failure, Stop};

/// A plan of one role from the initial state.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The first step is the plan's first; without steps, the plan makes no move.
    steps: Vec<Step>,
}

/// A step of a [`Plan`].
#[derive(Clone, Debug)]
pub struct Step {
    /// The move.
    pub action: MoveId,
    /// How the plan goes on.
    pub next: Next,
}

/// How a plan goes on after a step. Steps are named by their index; `None` is the end.
#[derive(Clone, Debug)]
pub enum Next {
    /// In one way, whatever happens.
    Always(Option<usize>),
    /// By the joint move that was made.
    ByJointMove(HashMap<Vec<MoveId>, Option<usize>>),
    /// By what the role sees.
    ByPercepts(HashMap<Vec<Expression>, Option<usize>>),
}

impl Plan {
    /// A sequential plan: a list of moves.
    pub fn sequence(moves: &[MoveId]) -> Self {
        let next = |number: usize| Next::Always((number < moves.len()).then_some(number));
        let steps = (1..).zip(moves).map(|(n, &action)| Step { action, next: next(n) });
        Self { steps: steps.collect() }
    }

    /// A conditional plan, which begins with the first step; `None` if a step that is
    /// named does not exist.
    pub fn conditional(steps: Vec<Step>) -> Option<Self> {
        let exists = |next: &Option<usize>| next.is_none_or(|index| index < steps.len());
        let all_exist = steps.iter().all(|step| match &step.next {
            Next::Always(next) => exists(next),
            Next::ByJointMove(next) => next.values().all(exists),
            Next::ByPercepts(next) => next.values().all(exists),
        });
        all_exist.then_some(Self { steps })
    }
}

/// What a plan achieves, over all that the other roles may do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanCheck {
    /// Where the plan is not legal: a move of it is not legal there, or it has none.
    pub illegal: Option<Breach>,
    /// Where the plan is not complete: it ends, or has no continuation, in a state that is
    /// not terminal.
    pub incomplete: Option<Breach>,
    /// Where the plan is not minimal: it goes on after a terminal state.
    pub not_minimal: Option<Breach>,
    /// The least and the greatest reward of the terminal states in which it ends; `None`
    /// if it ends in none.
    pub rewards: Option<RangeInclusive<u8>>,
    /// What the role gets at least, on average over the moves of chance; `None` if the plan
    /// is not complete.
    pub value: Option<f64>,
    /// Whether no plan has a higher value; `None` if that is not known. Plans that are not
    /// legal, complete and minimal are not optimal.
    pub optimal: Option<bool>,
    /// Pairs of a step and a state that play can come to by this plan.
    pub n_positions: usize,
}

impl PlanCheck {
    /// Whether the plan is legal, complete and minimal.
    pub fn is_proper(&self) -> bool {
        self.illegal.is_none() && self.incomplete.is_none() && self.not_minimal.is_none()
    }
}

/// A place where a plan is not what it should be: the first that was found, if possible
/// after legal moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The joint moves that lead there.
    pub line: Vec<Vec<MoveId>>,
    /// The plan's move there, if it has one.
    pub action: Option<MoveId>,
    /// The role's legal moves there.
    pub legal: Vec<MoveId>,
}

/// Maximum number of pairs of a step and a state that are checked, which bounds memory.
pub const MAX_POSITIONS: usize = 2_000_000;

/// Checks `plan` of `role` against everything that the others may do; `None` if `stop` was
/// due first, or if play can come to more than [`MAX_POSITIONS`] positions. `stop` bounds
/// the check and the search for a better plan separately.
///
/// A move that is not legal is made all the same where the rules allow it, so that the plan
/// is checked to its end.
///
/// # Errors
/// If the reasoner cannot compute the rules, if another role has no legal move in a state that
/// is not terminal, if a plan in a game of hidden information goes on by joint moves, or if a
/// list has more than 1000 moves.
pub fn check(
    machine: &mut dyn StateMachine,
    role: RoleId,
    plan: &Plan,
    stop: &Stop,
) -> Result<Option<PlanCheck>, Failure> {
    if matches!(plan.steps.first(), Some(Step { next: Next::Always(_), .. }))
        && plan.steps.len() > MAX_LEVELS
    {
        let reason = format!("a list of more than {MAX_LEVELS} moves cannot be checked");
        return Err(Failure::Unsuitable(reason));
    }
    if machine.game().kind().hidden_information
        && let Some(number) = plan.steps.iter().position(branches_by_joint_move)
    {
        let reason = format!(
            "step {number} goes on by the joint move, which the role does not see in a game of \
             hidden information; a plan may go on by percepts"
        );
        return Err(Failure::Unsuitable(reason));
    }
    let initial = machine.initial_state()?;
    let mut walk = |only_legal| {
        let mut walk = Walk {
            machine: &mut *machine,
            role,
            plan,
            stop,
            only_legal,
            found: PlanCheck::default(),
            line: Vec::new(),
            known: FxHashMap::default(),
            n_nodes: 0,
        };
        let first = (!plan.steps.is_empty()).then_some(0);
        let value = walk.enter(first, &initial)?;
        let n_positions = walk.known.len();
        Ok::<_, Failure>(value.map(|value| (value, PlanCheck { n_positions, ..walk.found })))
    };
    let Some((value, mut found)) = walk(false)? else { return Ok(None) };
    if found.illegal.is_some() && (found.incomplete.is_some() || found.not_minimal.is_some()) {
        // Better an example that can be played, if there is one.
        if let Some((_, legal)) = walk(true)? {
            found.incomplete = legal.incomplete.or(found.incomplete);
            found.not_minimal = legal.not_minimal.or(found.not_minimal);
        }
    }
    found.value = value.filter(|_| found.incomplete.is_none());
    found.optimal = match found.value {
        Some(value) if found.is_proper() => is_best(machine, role, value, stop)?,
        _ => Some(false),
    };
    Ok(Some(found))
}

/// Whether a step goes on in several ways, by the joint move.
fn branches_by_joint_move(step: &Step) -> bool {
    let Next::ByJointMove(next) = &step.next else { return false };
    let mut ways = next.values();
    let first = ways.next();
    ways.any(|way| Some(way) != first)
}

/// Whether no plan of `role` has a value above `value`; `None` if that is not known.
fn is_best(
    machine: &mut dyn StateMachine,
    role: RoleId,
    value: f64,
    stop: &Stop,
) -> Result<Option<bool>, Failure> {
    if machine.game().roles().len() == 1 {
        let best = plan::best(machine, stop)?;
        return Ok(best.map(|(score, _)| value >= f64::from(score)));
    }
    let initial = machine.initial_state()?;
    let settings = ConditionalSettings { bounded: true, max_states: MAX_POSITIONS };
    let ranks = FxHashMap::default();
    let (outcome, _) = conditional_plan::plan(machine, role, &initial, settings, &ranks, stop)?;
    let ConditionalOutcome::Found(best, _) = outcome else { return Ok(None) };
    let is_as_good = value >= best - 1e-9;
    // Where something is hidden, the best plan may need to know what the role cannot.
    let is_known = is_as_good || !machine.game().kind().hidden_information;
    Ok(is_known.then_some(is_as_good))
}

/// What is known of a step in a state.
#[derive(Clone, Copy)]
enum Known {
    /// It lies on the present line.
    OnLine,
    /// Its value; `None` if some line from it does not end.
    Value(Option<f64>),
}

struct Walk<'a> {
    machine: &'a mut dyn StateMachine,
    role: RoleId,
    plan: &'a Plan,
    stop: &'a Stop,
    /// Whether lines end before a move that is not legal.
    only_legal: bool,
    found: PlanCheck,
    line: Vec<Vec<MoveId>>,
    known: FxHashMap<(Option<usize>, StateKey), Known>,
    n_nodes: u64,
}

impl Walk<'_> {
    /// The value of the plan from `step` in `state`, the inner `None` if it does not always
    /// end there; the outer `None` if the check is broken off.
    fn enter(
        &mut self,
        step: Option<usize>,
        state: &State,
    ) -> Result<Option<Option<f64>>, Failure> {
        if self.stop.is_due(self.n_nodes) || self.known.len() >= MAX_POSITIONS {
            return Ok(None);
        }
        self.n_nodes += 1;
        let key = (step, self.machine.key(state));
        match self.known.get(&key) {
            Some(Known::Value(value)) => return Ok(Some(*value)),
            Some(Known::OnLine) => {
                self.breach(state, step, |found| &mut found.incomplete)?;
                return Ok(Some(None));
            }
            None => self.known.insert(key, Known::OnLine),
        };
        let Some(value) = self.value(step, state)? else { return Ok(None) };
        self.known.insert(key, Known::Value(value));
        Ok(Some(value))
    }

    fn value(
        &mut self,
        step: Option<usize>,
        state: &State,
    ) -> Result<Option<Option<f64>>, Failure> {
        let is_terminal = self.machine.is_terminal(state)?;
        let Some(index) = step else {
            if is_terminal {
                let score = reward(self.machine, state, self.role)?;
                let rewards = self.found.rewards.get_or_insert(score..=score);
                *rewards = score.min(*rewards.start())..=score.max(*rewards.end());
                return Ok(Some(Some(f64::from(score))));
            }
            self.breach(state, step, |found| &mut found.incomplete)?;
            return Ok(Some(None));
        };
        if is_terminal {
            self.breach(state, step, |found| &mut found.not_minimal)?;
        }
        let action = self.plan.steps[index].action;
        let mut by_role = Vec::new();
        for other in self.machine.game().role_ids() {
            let mut legal = Vec::new();
            self.machine.legal_moves(state, other, &mut legal)?;
            if other == self.role {
                if !legal.contains(&action) {
                    self.breach(state, step, |found| &mut found.illegal)?;
                    if self.only_legal {
                        return Ok(Some(None));
                    }
                }
                legal = vec![action];
            }
            if legal.is_empty() && !is_terminal {
                let name = self.machine.game().role_name(other);
                let number = self.line.len() + 1;
                let reason = format!(
                    "`{name}` has no legal move in a state that is not terminal, at step {number} \
                     of the plan"
                );
                return Err(Failure::Unsuitable(reason));
            }
            by_role.push(legal);
        }
        if self.line.len() >= MAX_LEVELS || by_role.iter().any(Vec::is_empty) {
            // Nothing leads on, or too far.
            if !is_terminal {
                self.breach(state, step, |found| &mut found.incomplete)?;
            }
            return Ok(Some(None));
        }
        self.over_replies(index, state, Replies { by_role })
    }

    /// The least value over the replies of the others, each the mean over chance.
    fn over_replies(
        &mut self,
        index: usize,
        state: &State,
        mut replies: Replies,
    ) -> Result<Option<Option<f64>>, Failure> {
        let chance = self.machine.game().random().filter(|&random| random != self.role);
        let chance_moves = chance.map(|chance| (chance, replies.separate(chance)));
        let mut joint_move = Vec::new();
        let mut least = Some(f64::INFINITY);
        for number in 0..replies.len() {
            replies.joint_move(number, &mut joint_move);
            let mut mean = Some(0.0);
            let outcomes = chance_moves.as_ref().map_or(1, |(_, moves)| moves.len());
            for outcome in 0..outcomes {
                if let Some((chance, moves)) = &chance_moves {
                    joint_move[usize::from(chance.0)] = moves[outcome];
                }
                let Some(value) = self.follow(index, state, &joint_move)? else { return Ok(None) };
                mean = mean.zip(value).map(|(sum, value)| sum + value / outcomes as f64);
            }
            least = least.zip(mean).map(|(least, mean)| least.min(mean));
        }
        Ok(Some(least))
    }

    /// The value after `joint_move`, by which the plan goes on.
    fn follow(
        &mut self,
        index: usize,
        state: &State,
        joint_move: &[MoveId],
    ) -> Result<Option<Option<f64>>, Failure> {
        let next_step = match &self.plan.steps[index].next {
            Next::Always(next) => *next,
            Next::ByJointMove(next) => among(next, joint_move),
            Next::ByPercepts(next) => {
                let percepts = self.machine.percepts(state, joint_move, self.role)?;
                among(next, percepts.as_slice())
            }
        };
        let mut next = State::default();
        self.machine.next_state(state, joint_move, &mut next)?;
        self.line.push(joint_move.to_vec());
        let value = self.enter(next_step, &next);
        self.line.pop();
        value
    }

    /// Notes the first breach of its kind.
    fn breach(
        &mut self,
        state: &State,
        step: Option<usize>,
        kind: impl Fn(&mut PlanCheck) -> &mut Option<Breach>,
    ) -> Result<(), Failure> {
        if kind(&mut self.found).is_some() {
            return Ok(());
        }
        let mut legal = Vec::new();
        self.machine.legal_moves(state, self.role, &mut legal)?;
        let action = step.map(|index| self.plan.steps[index].action);
        *kind(&mut self.found) = Some(Breach { line: self.line.clone(), action, legal });
        Ok(())
    }
}

/// The step after what happened; a plan that does not foresee it ends there.
fn among<K, Q>(next: &HashMap<K, Option<usize>>, happened: &Q) -> Option<usize>
where
    K: Eq + Hash + Borrow<Q>,
    Q: Eq + Hash + ?Sized,
{
    next.get(happened).copied().flatten()
}
