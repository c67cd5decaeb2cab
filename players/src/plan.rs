//! Sequential plans for games of one role (Genesereth and Thielscher,
//! "General Game Playing", 2014, on sequential planning).
//!
//! Let `s0` be the initial state and `s1`, `s2`, ... the states that the moves
//! of a plan lead to, whether or not they are legal. A plan is
//!
//! - *legal* if each move is legal where it is played,
//! - *complete* if the last state is terminal,
//! - *minimal* if no state before the last is terminal,
//! - *sequential* if it is all three,
//! - *optimal* if it is sequential and no sequential plan has a higher reward.

mod ends;

use std::collections::hash_map::Entry;
use std::sync::Arc;

use games::{Cursor, MoveId, ReasoningError, RoleId, State, StateKey, StateMachine, Wanted};
use rustc_hash::FxHashMap;

pub use self::ends::MAX_STATES;
use self::ends::{Known, Reached, reach};
use crate::search::settings::full_table;
use crate::search::{
    Frame, Halt, MAX_LEVELS, SearchRoles, Stopwatch, VisitRate, advance, at, worst,
};
use crate::{Deliberation, Failure, Stop};

const ROLE: RoleId = RoleId(0);

/// The reward and the moves of the first optimal plan in the order of the
/// rules; `None` if there is no sequential plan, or if the search ended early: `stop` was due, or
/// more than [`MAX_STATES`] states would have had to be kept.
///
/// # Errors
/// If the game has several roles, or if the reasoner cannot compute its rules.
pub fn best(
    machine: &mut dyn StateMachine,
    stop: &Stop,
) -> Result<Option<(u8, Vec<MoveId>)>, Failure> {
    Ok(match reach_best(machine, stop)? {
        Reached::Wanted(way) | Reached::Less(Some(way)) => Some((way.reward, way.moves)),
        Reached::Less(None) | Reached::Stopped(_) => None,
    })
}

/// The way to the best end of a game of one role.
fn reach_best(machine: &mut dyn StateMachine, stop: &Stop) -> Result<Reached, Failure> {
    refuse_several_roles(machine)?;
    let initial = machine.initial_state()?;
    let mut cursor = machine.cursor(&initial);
    reach(cursor.as_mut(), &initial, 100, &mut Known::default(), stop)
}

/// Optimal plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptimalPlans {
    /// The reward of each; `None` if there is no sequential plan, or none was found in time.
    pub reward: Option<u8>,
    /// The plans, in the order of the rules.
    pub plans: Vec<Vec<MoveId>>,
    /// Why some plans are missing, if some may be.
    pub missing: Option<Missing>,
}

/// Why plans are missing in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No more were asked for.
    Limit,
    /// The time was over.
    Time,
    /// More than [`MAX_STATES`] states would have had to be kept.
    States,
    /// Plans of more than 1,000 moves are not listed.
    LongPlans,
}

/// The optimal plans, at most `limit` of them. Plans that come to a state twice are left out.
///
/// # Errors
/// As [`best`].
pub fn all_optimal(
    machine: &mut dyn StateMachine,
    limit: usize,
    stop: &Stop,
) -> Result<OptimalPlans, Failure> {
    let (reward, missing) = match reach_best(machine, stop)? {
        Reached::Wanted(way) | Reached::Less(Some(way)) => (Some(way.reward), None),
        Reached::Less(None) => (None, None),
        Reached::Stopped(missing) => (None, Some(missing)),
    };
    let Some(wanted) = reward else {
        return Ok(OptimalPlans { reward, plans: Vec::new(), missing });
    };
    let initial = machine.initial_state()?;
    let mut cursor = machine.cursor(&initial);
    let mut listing = Listing {
        seeker: machine.cursor(&initial),
        known: Known::default(),
        stop,
        limit,
        wanted,
        path: vec![cursor.key()],
        cursor,
        moves: Vec::new(),
        has_longer: false,
        plans: Vec::new(),
        missing,
    };
    listing.extend()?;
    let Listing { plans, missing, has_longer, .. } = listing;
    Ok(OptimalPlans {
        reward,
        plans,
        missing: missing.or(has_longer.then_some(Missing::LongPlans)),
    })
}

/// Plans being listed.
struct Listing<'a> {
    /// The position that the moves lead to.
    cursor: Box<dyn Cursor>,
    /// What looks for ends.
    seeker: Box<dyn Cursor>,
    /// Whether states lead to the reward of the plans.
    known: Known,
    stop: &'a Stop,
    limit: usize,
    /// The reward of the plans.
    wanted: u8,
    /// The states that the moves lead to, the initial one first.
    path: Vec<StateKey>,
    moves: Vec<MoveId>,
    /// Some plan has more than [`MAX_LEVELS`] moves.
    has_longer: bool,
    plans: Vec<Vec<MoveId>>,
    /// Why the list ended early, if it did.
    missing: Option<Missing>,
}

impl Listing<'_> {
    /// Lists the optimal plans that begin with the moves.
    fn extend(&mut self) -> Result<(), Failure> {
        if self.cursor.is_terminal()? {
            if worst(&self.cursor.goal(ROLE)?) == self.wanted {
                if self.plans.len() == self.limit {
                    self.missing = Some(Missing::Limit);
                } else {
                    self.plans.push(self.moves.clone());
                }
            }
            return Ok(());
        }
        let legal: Vec<MoveId> = self.cursor.legal_moves(ROLE)?.iter().collect();
        for id in legal {
            if self.missing.is_some() {
                return Ok(());
            }
            self.cursor.play(&[id])?;
            self.extend_by(id)?;
            self.cursor.take_back();
        }
        Ok(())
    }

    /// Lists the optimal plans that begin with the moves and this one, which was just played.
    fn extend_by(&mut self, id: MoveId) -> Result<(), Failure> {
        let key = self.cursor.key();
        if self.path.contains(&key) || !self.leads_to_the_best()? {
            return Ok(());
        }
        if self.moves.len() == MAX_LEVELS {
            self.has_longer = true;
            return Ok(());
        }
        self.path.push(key);
        self.moves.push(id);
        self.extend()?;
        self.path.pop();
        self.moves.pop();
        Ok(())
    }

    /// Whether the position leads to the reward of the plans.
    fn leads_to_the_best(&mut self) -> Result<bool, Failure> {
        let mut state = State::default();
        self.cursor.copy_state(&mut state);
        match reach(self.seeker.as_mut(), &state, self.wanted, &mut self.known, self.stop)? {
            Reached::Wanted(_) => Ok(true),
            Reached::Less(_) => Ok(false),
            Reached::Stopped(missing) => {
                self.missing = Some(missing);
                Ok(false)
            }
        }
    }
}

fn refuse_several_roles(machine: &dyn StateMachine) -> Result<(), Failure> {
    let n_roles = machine.game().roles().len();
    if n_roles == 1 {
        return Ok(());
    }
    let chance = if machine.game().random().is_some() { ", random included" } else { "" };
    let reason =
        format!("sequential plans are searched for one role, and the game has {n_roles}{chance}");
    Err(Failure::Unsuitable(reason))
}

/// The rest of a game as planned: joint moves up to a terminal state. Rests are
/// shared and grow at the front, so a plan found backwards need not be reversed.
#[derive(Clone, Debug)]
pub(crate) struct SequentialPlan {
    /// The reward at its end.
    pub(crate) score: u8,
    /// Number of its moves.
    length: u32,
    /// Its moves; `None` at a terminal state.
    first: Option<Arc<Link>>,
}

#[derive(Debug)]
struct Link {
    joint_move: Vec<MoveId>,
    rest: Option<Arc<Link>>,
}

impl SequentialPlan {
    /// The joint moves in order of play.
    pub(crate) fn joint_moves(&self) -> impl Iterator<Item = &[MoveId]> {
        let links = std::iter::successors(self.first.as_deref(), |link| link.rest.as_deref());
        links.map(|link| link.joint_move.as_slice())
    }
}

/// The best plans from states that were searched to the end.
#[derive(Debug, Default)]
pub(crate) struct Solved {
    plans: FxHashMap<StateKey, SequentialPlan>,
}

/// How to plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanSettings {
    /// Look no further once a plan is worth 100.
    pub(crate) bounded: bool,
    /// Prefer the shortest of the best plans.
    pub(crate) shortest: bool,
    /// States whose plans are remembered; 0 for none.
    pub(crate) remembered: usize,
}

/// The outcome of planning.
#[derive(Clone, Debug)]
pub(crate) enum PlanOutcome {
    /// The best plan.
    Found(SequentialPlan),
    /// No line within [`MAX_LEVELS`] ends the game.
    Hopeless,
    /// The stop was due.
    Stopped,
}

/// The best plan from `state`, the first of equals. All roles, chance included, are
/// assumed to cooperate: with several roles it is the best possible line.
///
/// States that are remembered are searched once, so that the search ends where play may go in
/// circles. If the shortest plan is wanted, or lines were too long, they are searched again
/// when fewer steps lead to them.
pub(crate) fn plan(
    machine: &mut dyn StateMachine,
    role: RoleId,
    state: &State,
    settings: PlanSettings,
    ranks: &FxHashMap<MoveId, usize>,
    solved: &mut Solved,
    stop: &Stop,
) -> Result<(PlanOutcome, Deliberation), ReasoningError> {
    let mut roles = SearchRoles::new(machine.game(), role);
    roles.others = (0..roles.n_roles).filter(|&other| other != roles.index()).collect();
    roles.chance = None;
    let n_roles = roles.n_roles;
    let stopwatch = Stopwatch::new(stop);
    let frames = vec![Frame::new(n_roles)];
    let mut search = PlanSearch {
        machine,
        roles,
        settings,
        ranks,
        solved,
        stopwatch,
        frames,
        visit_rate: VisitRate::default(),
        entered: FxHashMap::default(),
        is_cut: false,
    };
    search.frames[0].begin(state);
    let result = search.best_plan(0);
    let is_cut = search.is_cut;
    let mut deliberation = search.stopwatch.deliberation;
    let remembered = settings.remembered;
    if remembered > 0 && search.entered.len().max(search.solved.plans.len()) >= remembered {
        deliberation.notes.push(full_table(remembered));
    }
    let outcome = match result {
        Ok(Best { plan, .. }) => {
            deliberation.completed = true;
            let is_perfect = plan.as_ref().is_some_and(|plan| plan.score == 100);
            deliberation.proven = n_roles == 1 && (!is_cut || is_perfect);
            deliberation.value = plan.as_ref().map(|plan| f64::from(plan.score));
            plan.map_or(PlanOutcome::Hopeless, PlanOutcome::Found)
        }
        Err(Halt::Due) => PlanOutcome::Stopped,
        Err(Halt::Broken(error)) => return Err(*error),
    };
    Ok((outcome, deliberation))
}

struct PlanSearch<'a> {
    machine: &'a mut dyn StateMachine,
    roles: SearchRoles,
    settings: PlanSettings,
    ranks: &'a FxHashMap<MoveId, usize>,
    solved: &'a mut Solved,
    stopwatch: Stopwatch<'a>,
    frames: Vec<Frame>,
    visit_rate: VisitRate,
    /// By state that was entered: the least number of steps to it so far.
    entered: FxHashMap<StateKey, usize>,
    /// A line was broken off at [`MAX_LEVELS`].
    is_cut: bool,
}

/// What was found below one state.
struct Best {
    /// The best plan, if any line ended.
    plan: Option<SequentialPlan>,
    /// No line was broken off, neither at [`MAX_LEVELS`] nor at a state that was entered
    /// before, so that the plan is the best of this state, however it is reached.
    is_whole: bool,
}

impl PlanSearch<'_> {
    fn best_plan(&mut self, level: usize) -> Result<Best, Halt> {
        let remembers = self.settings.remembered > 0;
        let key = remembers.then(|| self.frames[level].key(self.machine));
        if let Some(plan) = key.and_then(|key| self.solved.plans.get(&key)) {
            return Ok(Best { plan: Some(plan.clone()), is_whole: true });
        }
        if key.is_some_and(|key| self.is_known(key, level)) {
            return Ok(Best { plan: None, is_whole: false });
        }
        self.stopwatch.enter(level)?;
        let found = self.deliberate(level)?;
        if found.is_whole
            && let (Some(plan), Some(key)) = (&found.plan, key)
            && self.solved.plans.len() < self.settings.remembered
        {
            self.solved.plans.insert(key, plan.clone());
        }
        Ok(found)
    }

    /// Whether entering a state at `level` leads to nothing that was not looked at. Notes
    /// that it is entered.
    fn is_known(&mut self, key: StateKey, level: usize) -> bool {
        let n_entered = self.entered.len();
        let length_counts = self.settings.shortest || self.is_cut;
        match self.entered.entry(key) {
            Entry::Occupied(before) if !length_counts || *before.get() <= level => true,
            Entry::Occupied(mut before) => {
                before.insert(level);
                false
            }
            Entry::Vacant(place) => {
                if n_entered < self.settings.remembered {
                    place.insert(level);
                }
                false
            }
        }
    }

    fn deliberate(&mut self, level: usize) -> Result<Best, Halt> {
        let (above, frame) = at(&mut self.frames, level);
        if frame.is_terminal(self.machine, above)? {
            self.stopwatch.deliberation.leaves += 1;
            let score = worst(&frame.goal(self.machine, above, self.roles.me)?);
            return Ok(Best {
                plan: Some(SequentialPlan { score, length: 0, first: None }),
                is_whole: true,
            });
        }
        if level >= MAX_LEVELS {
            self.stopwatch.deliberation.leaves += 1;
            self.is_cut = true;
            return Ok(Best { plan: None, is_whole: false });
        }
        if !frame.list_moves(self.machine, above, self.ranks)? {
            return Ok(Best { plan: None, is_whole: true });
        }
        let wanted = Wanted { legal: true, all_goals: false };
        let n_entered = self.stopwatch.deliberation.nodes;
        frame.expand(self.machine, wanted, &mut self.visit_rate, n_entered)?;
        self.best_line(level)
    }

    fn best_line(&mut self, level: usize) -> Result<Best, Halt> {
        let me = self.roles.index();
        let n_moves = self.frames[level].legal[me].len();
        let n_replies = self.roles.n_replies(&self.frames[level]);
        let mut best: Option<SequentialPlan> = None;
        let mut is_whole = true;
        for index in 0..n_moves {
            for reply in 0..n_replies {
                let frame = &mut self.frames[level];
                frame.pick(me, index);
                self.roles.set_reply(frame, reply);
                advance(&mut self.frames, level, self.machine, &mut self.stopwatch)?;
                let found = self.best_plan(level + 1)?;
                is_whole &= found.is_whole;
                let Some(rest) = found.plan else { continue };
                let length = rest.length + 1;
                let shortest = self.settings.shortest;
                if best.as_ref().is_none_or(|best| {
                    rest.score > best.score
                        || (shortest && rest.score == best.score && length < best.length)
                }) {
                    let joint_move = self.frames[level].joint.clone();
                    let first = Some(Arc::new(Link { joint_move, rest: rest.first }));
                    best = Some(SequentialPlan { score: rest.score, length, first });
                }
                let is_perfect =
                    |best: &SequentialPlan| best.score == 100 && (!shortest || best.length == 1);
                if self.settings.bounded && best.as_ref().is_some_and(is_perfect) {
                    let n_left = (n_moves - index - 1) as u64;
                    let n_skipped = n_left.saturating_mul(n_replies) + (n_replies - reply - 1);
                    self.stopwatch.prune(n_skipped);
                    return Ok(Best { plan: best, is_whole: true });
                }
            }
        }
        Ok(Best { plan: best, is_whole })
    }
}
