//! The interface of every reasoner: states, legal moves, successors, percepts and goals
//! of one game.

mod state_cursor;

use std::sync::Arc;

use smallvec::SmallVec;

pub(crate) use state_cursor::StateCursor;

use crate::children::{Children, ExpansionRange, Wanted};
use crate::cursor::Cursor;
use crate::joint_moves::{n_joint_moves, push_joint_move};
use crate::playouts::{PlayoutEnd, PlayoutEnds, PlayoutLine, PlayoutPlan, PlayoutSums};
pub use crate::reasoning_error::{Cancel, ReasoningError};
use crate::split_mix::SplitMix;
use crate::state::{FactId, GoalReading, MoveId, RoleId, State};
use crate::successors::{ChildOutcome, Successors};
use crate::{Expression, Game, Network, StateKey};

/// Limits on a single computation, so that a hostile rulesheet exhausts neither
/// memory nor time (recursion over functions may build terms for ever).
#[derive(Clone, Debug)]
pub struct Guards {
    /// Deepest nesting of a derived term.
    pub max_term_depth: u32,
    /// Maximum number of facts derived for a single state.
    pub max_facts: usize,
    /// Maximum number of steps of joining relations for a single question about a state. It also
    /// limits the creation of a machine: planning, the evaluation of all static
    /// relations, and tuning, which ends early instead of failing. A hundred million
    /// steps take some tenths of a second.
    pub max_steps: u64,
    /// Maximum number of different terms of one machine, their arguments included. They are never
    /// freed; each takes about twenty bytes in each fork.
    pub max_terms: usize,
}

/// Maximum number of symbols of a derived term when written out. Equal parts are stored once, so
/// even a term of little depth may be too large to write out.
pub const MAX_TERM_SIZE: u32 = 100_000;

impl Default for Guards {
    fn default() -> Self {
        Self {
            max_term_depth: 64,
            max_facts: 2_000_000,
            max_steps: 1_000_000_000,
            max_terms: 20_000_000,
        }
    }
}

/// Work for a thread with spare time; see [`StateMachine::spare_work`]. It ends soon
/// after the flag is raised.
pub type SpareWork = Box<dyn FnOnce(&Cancel) + Send>;

/// One figure about a reasoner, for people who want to know the cost of a rulesheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistic {
    /// Its name, which serves as label and as key: `ground_rules`.
    pub name: &'static str,
    /// Its value.
    pub value: StatisticValue,
}

/// The value of a [`Statistic`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatisticValue {
    /// A count.
    Count(u64),
    /// An approximate number of bytes.
    Bytes(u64),
    /// Names, in a fixed order.
    Names(Vec<String>),
}

/// A reasoner for one game: a compiled form of the rules, shared by all forks,
/// and a workspace of its own (hence `&mut self`).
///
/// Consecutive questions about one state share work: the machine remembers what it
/// derived for the last state.
///
/// Lists of moves are in *canonical order*, the same for every reasoner: terms are
/// compared by the [`SymbolId`](crate::SymbolId) of their name (order of first
/// appearance in the text), then by arity, then argument by argument.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use games::{
///     Case, Expression, Guards, Leniency, Prover, State, StateMachine as _, validate,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "(role you) (init (at 1)) (legal you go)
///     (<= (next (at 2)) (does you go)) (<= terminal (true (at 2))) (goal you 100)";
/// let game = validate::read("one_step", text, Case::Folded, Leniency::Strict).game;
/// let mut machine = Prover::new(Arc::new(game.ok_or("not valid")?), Guards::default())?;
///
/// let you = machine.game().find_role("you").ok_or("no such role")?;
/// let go = machine.find_move(&Expression::parse("go")?).ok_or("no such move")?;
/// let (state, mut next) = (machine.initial_state()?, State::default());
/// machine.next_state(&state, &[go], &mut next)?;
/// assert_eq!(machine.facts(&next), [Expression::parse("(at 2)")?]);
/// assert!(machine.is_terminal(&next)?);
/// assert_eq!(machine.goal(&next, you)?.unique().map(|goal| goal.value()), Some(100));
/// # Ok(())
/// # }
/// ```
pub trait StateMachine: Send {
    /// The game whose rules this machine computes.
    fn game(&self) -> &Arc<Game>;

    /// The kind of reasoner: `prover` or `network`.
    fn reasoner(&self) -> &'static str;

    /// The game as a network, if the machine computes one. States that the network
    /// [`covers`](Network::covers) are states of the machine.
    fn network(&self) -> Option<&Arc<Network>> {
        None
    }

    /// Figures about the machine at this moment, in order of presentation.
    fn statistics(&self) -> Vec<Statistic>;

    /// A machine over the same compiled rules, with a workspace of its own for
    /// use on another thread. States and move ids are interchangeable.
    fn fork(&self) -> Box<dyn StateMachine>;

    /// Makes later computations return [`ReasoningError::Cancelled`] soon after
    /// the flag is raised.
    fn set_cancel(&mut self, cancel: Cancel);

    /// The initial state: all facts for which `init` holds.
    fn initial_state(&mut self) -> Result<State, ReasoningError>;

    /// Whether `terminal` holds.
    fn is_terminal(&mut self, state: &State) -> Result<bool, ReasoningError>;

    /// Puts the distinct legal moves of `role` into `moves` (cleared first), in
    /// canonical order. May be empty, also in a non-terminal state of a
    /// defective game.
    fn legal_moves(
        &mut self,
        state: &State,
        role: RoleId,
        moves: &mut Vec<MoveId>,
    ) -> Result<(), ReasoningError>;

    /// Puts the legal moves of each role into its list, as [`legal_moves`](Self::legal_moves)
    /// does, unless the state is terminal: then the lists stay as they are. Returns whether the
    /// moves are listed.
    ///
    /// If [`successors`](Self::successors) or [`outcomes`](Self::outcomes) of the state will be
    /// requested next, `before_successors` lets them share the work. Answers do not depend on it.
    ///
    /// # Panics
    /// If there are fewer lists than roles.
    fn all_legal_moves(
        &mut self,
        state: &State,
        moves: &mut [Vec<MoveId>],
        _before_successors: bool,
    ) -> Result<bool, ReasoningError> {
        all_legal_moves_role_by_role(self, state, moves)
    }

    /// Puts the successor of `state` under `joint_move` (one move per role, in
    /// role order) into `next`. The moves need not be legal; `next` then follows from
    /// the rules all the same.
    ///
    /// # Panics
    /// If `joint_move` has not exactly one move per role.
    fn next_state(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        next: &mut State,
    ) -> Result<(), ReasoningError>;

    /// A position that is asked, played on and taken back, with a workspace of its own. It begins
    /// at `state`, and its answers are those of this machine, whose cancellation it shares until it
    /// gets one of its own.
    fn cursor(&self, state: &State) -> Box<dyn Cursor>;

    /// Compiles all code of this machine and its forks that would otherwise be compiled on first
    /// use. It cannot be cancelled, and may take half a second. Later calls do nothing.
    fn prepare(&self) {}

    /// Work that makes this machine and all its forks faster, for a thread with spare
    /// time, while they are in use. Their answers stay the same. `None` if there is
    /// nothing left to do or to try.
    fn spare_work(&self) -> Option<SpareWork> {
        None
    }

    /// For how many children [`expand`](StateMachine::expand) is faster than questions
    /// about one child after the other; `None` if it never is.
    fn expansion_range(&self) -> Option<ExpansionRange> {
        None
    }

    /// Puts the successors of `state` under some joint moves (one move per role, in role
    /// order, one joint move after the other) into `children`, with the properties that
    /// are `wanted`. The answers are those of the questions about one state.
    ///
    /// # Errors
    /// As those of the questions about one state.
    ///
    /// # Panics
    /// If `joint_moves` has not one move per role for each child.
    fn expand(
        &mut self,
        state: &State,
        joint_moves: &[MoveId],
        wanted: Wanted,
        children: &mut Children,
    ) -> Result<(), ReasoningError> {
        expand_one_by_one(self, state, joint_moves, wanted, children)
    }

    /// For how many successors [`successors`](StateMachine::successors) and
    /// [`outcomes`](StateMachine::outcomes) are faster than questions about one after the other;
    /// `None` if they never are.
    fn successor_range(&self) -> Option<ExpansionRange> {
        None
    }

    /// Puts the states that follow from `state` by all legal joint moves into `successors`
    /// (cleared first). The last role's moves change fastest; those of a role are in the order of
    /// [`legal_moves`](StateMachine::legal_moves). The answers are those of
    /// [`next_state`](StateMachine::next_state) and [`key`](StateMachine::key).
    ///
    /// # Errors
    /// As those of the questions about one state.
    fn successors(
        &mut self,
        state: &State,
        successors: &mut Successors,
    ) -> Result<(), ReasoningError> {
        successors_one_by_one(self, state, successors)
    }

    /// Puts what the same states are worth to `role` into `outcomes` (cleared first), in the
    /// order of [`successors`](StateMachine::successors). The answers are those of the questions
    /// about one state.
    ///
    /// # Errors
    /// As those of the questions about one state.
    fn outcomes(
        &mut self,
        state: &State,
        role: RoleId,
        outcomes: &mut Vec<ChildOutcome>,
    ) -> Result<(), ReasoningError> {
        outcomes_one_by_one(self, state, role, outcomes)
    }

    /// Plays from each of `starts` to the end, each role's move chosen uniformly among
    /// its legal ones, and puts the ends into `playouts`. A playout is given up after
    /// `max_length` steps. For machines with the same
    /// [`reasoner`](StateMachine::reasoner) all choices follow from the seed.
    ///
    /// Without starts it only prepares for later playouts.
    ///
    /// `go_on` is called again and again with the number of states entered so far; when
    /// it returns `false`, playouts that have not ended are abandoned. Where playouts run
    /// side by side, those that ended by then are the shorter ones.
    ///
    /// # Errors
    /// As those of the questions about one state.
    fn playouts(
        &mut self,
        starts: &[State],
        max_length: u32,
        seed: u64,
        go_on: &mut dyn FnMut(u64) -> bool,
        playouts: &mut PlayoutEnds,
    ) -> Result<(), ReasoningError> {
        playouts_one_by_one(self, starts, max_length, seed, go_on, playouts)
    }

    /// How many playouts take about as long as one, because they run side by side: 1 where
    /// they are played one after the other.
    fn playout_width(&self) -> usize {
        1
    }

    /// Plays `plan.per_start` times from each of `starts` to the end, as
    /// [`playouts`](StateMachine::playouts) does, and adds the rewards up by start. The
    /// playouts are numbered start by start. Repeated calls allocate nothing.
    ///
    /// `go_on` is called again and again with the number of states entered so far; when
    /// it returns `false`, playouts that have not ended are abandoned.
    ///
    /// # Errors
    /// As those of the questions about one state.
    fn playout_sums(
        &mut self,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        go_on: &mut dyn FnMut(u64) -> bool,
        sums: &mut PlayoutSums,
    ) -> Result<(), ReasoningError> {
        playout_sums_one_by_one(self, starts, plan, go_on, sums)
    }

    /// The joint moves of one playout of those that
    /// [`playout_sums`](StateMachine::playout_sums) played from these starts by this plan,
    /// by its number. It is played once more.
    ///
    /// # Errors
    /// As those of the questions about one state.
    fn playout_line(
        &mut self,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        playout: usize,
    ) -> Result<PlayoutLine, ReasoningError> {
        playout_line_one_by_one(self, starts, plan, playout)
    }

    /// The percepts of `role` in the step from `state` under `joint_move`: the second
    /// arguments of `sees`, as a set in canonical order (GDL-II).
    fn percepts(
        &mut self,
        state: &State,
        joint_move: &[MoveId],
        role: RoleId,
    ) -> Result<Vec<Expression>, ReasoningError>;

    /// The goals that the rules give to `role` in `state`.
    fn goal(&mut self, state: &State, role: RoleId) -> Result<GoalReading, ReasoningError>;

    /// The facts of `state` without the `true` wrapper, in canonical order.
    fn facts(&self, state: &State) -> Vec<Expression>;

    /// Adds the ids of the facts of `to` that `from` lacks to `gained`, and those of the
    /// facts of `from` that `to` lacks to `lost`, in no order. The default [`State`] has no
    /// facts, so all facts of `to` are gained from it. No expression is made.
    fn changed_facts(
        &mut self,
        from: &State,
        to: &State,
        gained: &mut Vec<FactId>,
        lost: &mut Vec<FactId>,
    );

    /// The fact of an id, as in [`facts`](StateMachine::facts).
    ///
    /// # Panics
    /// If neither this machine nor a fork of it has given such an id.
    fn fact(&self, id: FactId) -> Expression;

    /// The key of `state`, the same for the same facts from every reasoner. It is cheap
    /// if the state differs little from the one before.
    fn key(&mut self, state: &State) -> StateKey {
        StateKey::of_facts(&self.facts(state))
    }

    /// The state of exactly these `facts` (duplicates allowed), whether or not play can
    /// reach it. `None` if some fact is a variable or has a symbol unknown to the game.
    fn state_of(&mut self, facts: &[Expression]) -> Option<State>;

    /// The move as a term, with the rulesheet's spelling.
    fn move_expression(&self, id: MoveId) -> Expression;

    /// The id of a move given as a term, which need not be legal. Case is folded as for
    /// the game's symbols. `None` if the term has a variable or a symbol unknown to the
    /// game.
    fn find_move(&mut self, expression: &Expression) -> Option<MoveId>;
}

/// The default of [`StateMachine::all_legal_moves`].
pub(crate) fn all_legal_moves_role_by_role<M: StateMachine + ?Sized>(
    machine: &mut M,
    state: &State,
    moves: &mut [Vec<MoveId>],
) -> Result<bool, ReasoningError> {
    if machine.is_terminal(state)? {
        return Ok(false);
    }
    for role in machine.game().role_ids() {
        machine.legal_moves(state, role, &mut moves[usize::from(role.0)])?;
    }
    Ok(true)
}

/// The default of [`StateMachine::expand`]: one child after the other.
pub(crate) fn expand_one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    state: &State,
    joint_moves: &[MoveId],
    wanted: Wanted,
    children: &mut Children,
) -> Result<(), ReasoningError> {
    let roles = machine.game().role_ids();
    let n_roles = roles.len();
    children.clear(joint_moves.len() / n_roles, n_roles);
    for (child, joint_move) in joint_moves.chunks(n_roles).enumerate() {
        machine.next_state(state, joint_move, &mut children.states[child])?;
    }
    for child in 0..children.len() {
        let state = &children.states[child];
        let is_terminal = machine.is_terminal(state)?;
        children.is_terminal[child] = is_terminal;
        for (at, role) in (child * n_roles..).zip(roles.clone()) {
            if wanted.legal && !is_terminal {
                machine.legal_moves(state, role, &mut children.legal[at])?;
            }
            if wanted.all_goals || is_terminal {
                children.goals[at] = machine.goal(state, role)?;
            }
        }
    }
    Ok(())
}

/// Visits all legal joint moves, the last role's moves changing fastest.
fn for_each_joint_move<M: StateMachine + ?Sized>(
    machine: &mut M,
    state: &State,
    mut visit: impl FnMut(&mut M, &[MoveId]) -> Result<(), ReasoningError>,
) -> Result<(), ReasoningError> {
    let mut moves = Vec::new();
    for role in machine.game().role_ids() {
        let mut legal = Vec::new();
        machine.legal_moves(state, role, &mut legal)?;
        moves.push(legal);
    }
    let mut joint_move = Vec::with_capacity(moves.len());
    for number in 0..n_joint_moves(&moves) {
        joint_move.clear();
        push_joint_move(&moves, number as u64, &mut joint_move);
        visit(machine, &joint_move)?;
    }
    Ok(())
}

/// The default of [`StateMachine::successors`]: one after the other.
pub(crate) fn successors_one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    state: &State,
    successors: &mut Successors,
) -> Result<(), ReasoningError> {
    successors.clear();
    let mut next = State::default();
    for_each_joint_move(machine, state, |machine, joint_move| {
        machine.next_state(state, joint_move, &mut next)?;
        let key = machine.key(&next);
        successors.push(&next, key);
        Ok(())
    })
}

/// The default of [`StateMachine::outcomes`]: one after the other.
pub(crate) fn outcomes_one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    state: &State,
    role: RoleId,
    outcomes: &mut Vec<ChildOutcome>,
) -> Result<(), ReasoningError> {
    outcomes.clear();
    let mut next = State::default();
    for_each_joint_move(machine, state, |machine, joint_move| {
        machine.next_state(state, joint_move, &mut next)?;
        let is_terminal = machine.is_terminal(&next)?;
        outcomes.push(ChildOutcome::new(is_terminal, &machine.goal(&next, role)?));
        Ok(())
    })
}

/// How one playout ended.
enum SinglePlayout {
    /// At a terminal state, after this number of steps.
    Terminal(u32),
    /// At the greatest length, or where some role had no legal move.
    Unscored,
    /// It was abandoned.
    Abandoned,
}

/// One playout from `state`, which becomes the last one. Calls `made` with each joint move.
fn play_out<M: StateMachine + ?Sized>(
    machine: &mut M,
    state: &mut State,
    max_length: u32,
    random: &mut SplitMix,
    go_on: &mut dyn FnMut() -> bool,
    made: &mut dyn FnMut(&[MoveId]),
) -> Result<SinglePlayout, ReasoningError> {
    let roles = machine.game().role_ids();
    let (mut moves, mut joint_move): (Vec<MoveId>, SmallVec<[MoveId; 4]>) = Default::default();
    let mut next = State::default();
    for length in 0.. {
        if !go_on() {
            return Ok(SinglePlayout::Abandoned);
        }
        if machine.is_terminal(state)? {
            return Ok(SinglePlayout::Terminal(length));
        }
        if length == max_length {
            break;
        }
        joint_move.clear();
        for role in roles.clone() {
            machine.legal_moves(state, role, &mut moves)?;
            if moves.is_empty() {
                return Ok(SinglePlayout::Unscored);
            }
            joint_move.push(moves[random.below(moves.len())]);
        }
        made(&joint_move);
        machine.next_state(state, &joint_move, &mut next)?;
        std::mem::swap(state, &mut next);
    }
    Ok(SinglePlayout::Unscored)
}

/// The default of [`StateMachine::playout_sums`]: one playout after the other.
pub(crate) fn playout_sums_one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    starts: &[State],
    plan: &PlayoutPlan<'_>,
    go_on: &mut dyn FnMut(u64) -> bool,
    sums: &mut PlayoutSums,
) -> Result<(), ReasoningError> {
    let roles = machine.game().role_ids();
    sums.clear(starts.len(), roles.len());
    let mut random = SplitMix::new(plan.seed);
    let (mut state, mut n_states) = (State::default(), 0);
    for playout in 0..starts.len() * plan.per_start {
        let start = playout / plan.per_start;
        state.clone_from(&starts[start]);
        let entered = std::cell::Cell::new(n_states);
        let end = play_out(
            machine,
            &mut state,
            plan.max_length,
            &mut random,
            &mut || go_on(entered.get()),
            &mut |_| entered.set(entered.get() + 1),
        )?;
        n_states = entered.get();
        sums.n_states = n_states;
        match end {
            SinglePlayout::Abandoned => {
                sums.is_whole = false;
                break;
            }
            SinglePlayout::Unscored => sums.count_unscored(start, 1),
            SinglePlayout::Terminal(length) => {
                sums.count_scored(start, 1);
                sums.longest = sums.longest.max(length);
                for role in roles.clone() {
                    let reading = machine.goal(&state, role)?;
                    let reward = reading.values.iter().min().map_or(0, |goal| goal.value());
                    sums.add(start, usize::from(role.0), reward, 1);
                    sums.note_best(usize::from(role.0), reward, playout);
                }
            }
        }
    }
    Ok(())
}

/// The default of [`StateMachine::playout_line`]: one playout after the other.
pub(crate) fn playout_line_one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    starts: &[State],
    plan: &PlayoutPlan<'_>,
    playout: usize,
) -> Result<PlayoutLine, ReasoningError> {
    let mut random = SplitMix::new(plan.seed);
    let mut line = PlayoutLine::new();
    let mut state = State::default();
    for playout in 0..=playout {
        line.clear();
        state.clone_from(&starts[playout / plan.per_start]);
        play_out(machine, &mut state, plan.max_length, &mut random, &mut || true, &mut |moves| {
            line.extend_from_slice(moves);
        })?;
    }
    Ok(line)
}

/// The default of [`StateMachine::playouts`]: one playout after the other.
pub(crate) fn playouts_one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    starts: &[State],
    max_length: u32,
    seed: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
    playouts: &mut PlayoutEnds,
) -> Result<(), ReasoningError> {
    playouts.clear(starts.len());
    let mut random = SplitMix::new(seed);
    let roles = machine.game().role_ids();
    let (mut moves, mut joint_move): (Vec<MoveId>, Vec<MoveId>) = (Vec::new(), Vec::new());
    let (mut state, mut next) = (State::default(), State::default());
    for (start, end) in starts.iter().zip(&mut playouts.ends) {
        state.clone_from(start);
        let mut length = 0;
        let goals = 'played: loop {
            if !go_on(playouts.n_states) {
                return Ok(());
            }
            if machine.is_terminal(&state)? {
                let goals = roles.clone().map(|role| machine.goal(&state, role));
                break goals.collect::<Result<_, _>>()?;
            }
            if length == max_length {
                break SmallVec::new();
            }
            joint_move.clear();
            for role in roles.clone() {
                machine.legal_moves(&state, role, &mut moves)?;
                if moves.is_empty() {
                    break 'played SmallVec::new();
                }
                joint_move.push(moves[random.below(moves.len())]);
            }
            machine.next_state(&state, &joint_move, &mut next)?;
            std::mem::swap(&mut state, &mut next);
            length += 1;
            playouts.n_states += 1;
        };
        *end = Some(PlayoutEnd { length, goals });
    }
    Ok(())
}
