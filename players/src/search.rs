//! What searching players share: the search of a game tree from one state for
//! one role.
//!
//! Every level of the tree is one joint move. The player's own moves are a
//! maximising layer; how the joint replies of the others are weighed is a
//! setting ([`Opponents`]); a role named `random` is chance, and the mean over
//! its moves lies innermost, since no role knows its move in the same step.
//! States in which all but one role have a single move need no special case.
//!
//! Plain minimax, bounded minimax and alpha-beta (Knuth and Moore, "An Analysis
//! of Alpha-Beta Pruning", 1975) are one recursion with different windows; see
//! [`Settings`]. Expectations are those of expectiminimax (Russell and Norvig,
//! "Artificial Intelligence: A Modern Approach", section on stochastic games),
//! cut by the bounds of Star1 and Star2 (Ballard 1983).
//!
//! The recursion is as deep as the game is long. Large data lies in [`Frame`]s on the
//! heap, and [`MAX_LEVELS`] bounds the stack.

pub(crate) mod chance;
pub(crate) mod evaluation;
mod explain;
mod frame;
mod last_level;
mod matrix;
mod max_n;
mod move_order;
mod next_move;
#[cfg(test)]
mod properties;
mod quiescence;
mod recall;
mod recorder;
pub(crate) mod searcher;
pub(crate) mod settings;
mod stopwatch;
mod time_allocation;
pub(crate) mod track;
pub(crate) mod transposition_table;
mod tried_first;
mod value;

use std::sync::Arc;

use games::solve::ValueTable;
use games::{
    ChildOutcome, Expression, GoalReading, MoveId, ReasoningError, RoleId, State, StateMachine,
    Wanted,
};
use rustc_hash::FxHashMap;

use crate::counted::counted;
use crate::{Deliberation, Stop, ValueBound};
use chance::{ChanceCuts, Probing};
use evaluation::{CutOff, EvaluationFunction, EvaluationMemory};
use frame::Choices;
pub(crate) use frame::{Frame, SearchRoles, VisitRate};
use move_order::MoveOrder;
use recorder::Recorder;
pub(crate) use stopwatch::{Halt, Stopwatch};
use time_allocation::TimeAllocation;
use transposition_table::{Bound, Entry, TranspositionTable};
pub(crate) use tried_first::{check_order, ranks};
pub(crate) use value::Value;

/// The deepest level ever entered, so that a game without end exhausts time but not the
/// stack. A state there that is not terminal counts as play without end, which gives no reward.
pub(crate) const MAX_LEVELS: usize = 1000;

/// The note about lines that are longer than the search can look.
pub(crate) fn endless_lines(n_steps: usize) -> String {
    format!("lines that did not end within {} count as 0", counted(n_steps, "step"))
}

/// How the joint replies of the other roles are weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opponents {
    /// One coalition that knows my move and minimises my reward.
    Paranoid,
    /// One coalition that does not know my move: the mixed max-min of the
    /// matrix of replies where both sides have a choice.
    Matrix,
    /// Each maximises its own reward, in role order, knowing the moves before
    /// its own; ties are broken against me.
    MaxN,
    /// All maximise my reward.
    Cooperative,
}

/// What to search and how.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How the others' replies are weighed.
    pub(crate) opponents: Opponents,
    /// The window at the root. With infinite bounds nothing is ever cut; with
    /// 0 and 100 a level ends at the best or worst possible reward.
    pub(crate) window: (f64, f64),
    /// Narrow the window to what is still of interest: alpha-beta.
    pub(crate) narrow: bool,
    /// How narrowed windows are passed through chance.
    pub(crate) chance_cuts: ChanceCuts,
    /// Levels to look ahead; 0 for all.
    pub(crate) depth: u32,
    /// What a state at the depth limit is worth.
    pub(crate) evaluation: EvaluationFunction,
    /// Search to depth 1, 2, ... until the value is proven.
    pub(crate) deepening: bool,
    /// States to remember values of; 0 for none.
    pub(crate) remembered: usize,
    /// First try the moves that cut off others at the same level.
    pub(crate) killer_moves: bool,
    /// Try moves in the order of their cut-offs anywhere in the tree.
    pub(crate) history: bool,
    /// Moves of a role to try in a state, the first in that order; 0 for all.
    pub(crate) width: usize,
    /// Levels to look beyond the depth limit while states are not quiet; 0 for none.
    pub(crate) quiescence: u32,
    /// A state where all roles have a single move does not count against the depth limit.
    pub(crate) extends_forced: bool,
    /// Stop deepening when more time would change nothing.
    pub(crate) allocates_time: bool,
}

impl Settings {
    /// The textbook's minimax: the whole tree, nothing cut, nothing remembered.
    pub(crate) const TEXTBOOK: Self = Self {
        opponents: Opponents::Paranoid,
        window: UNBOUNDED,
        narrow: false,
        chance_cuts: ChanceCuts::None,
        depth: 0,
        evaluation: EvaluationFunction::Zero,
        deepening: false,
        remembered: 0,
        killer_moves: false,
        history: false,
        width: 0,
        quiescence: 0,
        extends_forced: false,
        allocates_time: false,
    };
}

/// Bounds that cut nothing.
pub(crate) const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
/// Bounds that end a level at the best or the worst reward.
pub(crate) const BOUNDED: (f64, f64) = (0.0, 100.0);
/// Bounds just outside the rewards.
pub(crate) const OUTSIDE: (f64, f64) = (-1.0, 101.0);

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// The best move; when the search was stopped, the best of the last depth
    /// finished or, in a single search, of the moves finished. `None` if
    /// nothing was finished, or there is no move.
    pub(crate) action: Option<MoveId>,
    /// The mixed strategy, where the answer is one.
    pub(crate) strategy: Option<Vec<(MoveId, f64)>>,
    /// The value, if the search ended by itself.
    pub(crate) value: Option<Value>,
}

/// The kind of a state, known once it is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// The match is over.
    Terminal,
    /// The depth limit is reached.
    CutOff,
    /// Some role has no legal move: the rules are broken, and all rewards are 0.
    DeadEnd,
    /// There are children; the legal moves are in the frame.
    Inner,
}

/// What an iteration found of a move at the root.
#[derive(Clone, Copy, Debug)]
struct RootValue {
    /// The move, by its index.
    index: usize,
    /// Its score.
    score: f64,
    /// What the score says.
    bound: ValueBound,
    /// It depends on terminal states alone.
    proven: bool,
}

/// Data kept from search to search within one match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Values of states.
    pub(crate) table: TranspositionTable,
    /// What the evaluation function knows.
    pub(crate) evaluation: EvaluationMemory,
    /// A state was entered in which several roles choose at the same time.
    pub(crate) met_simultaneous_moves: bool,
    /// Moves were left out, so that what depends on terminal states alone may still not be proven.
    pub(crate) left_out_moves: bool,
}

/// A search of the tree below one state.
pub(crate) struct Search<'a> {
    machine: &'a mut dyn StateMachine,
    settings: Settings,
    memory: &'a mut Memory,
    stopwatch: Stopwatch<'a>,
    roles: SearchRoles,
    /// Rank of the moves to try first.
    ranks: FxHashMap<MoveId, usize>,
    frames: Vec<Frame>,
    visit_rate: VisitRate,
    /// Find the values of all moves at the root, not just of the best.
    values_all: bool,
    /// Values of states that need no search.
    solved: Option<&'a ValueTable>,
    /// The depth limit of the current iteration.
    limit: usize,
    /// The deepest level that may be entered.
    deepest: usize,
    /// The depth to which an earlier search found the value of the state, if deepening begins
    /// there.
    known_depth: usize,
    /// Whether probing at chance pays.
    probing: Probing,
    /// Values at the depth limit are kept in the table.
    remembers_leaves: bool,
    /// Children at the depth limit are worth what their goals say, and nothing else is asked of
    /// them.
    reads_outcomes: bool,
    /// Which moves to try first.
    move_order: MoveOrder,
    /// The move to try first at the root, by its index.
    root_hint: Option<usize>,
    /// The moves at the root whose values were found in this iteration.
    root_values: Vec<RootValue>,
    /// The mixed strategy found at the root.
    root_strategy: Option<Vec<f64>>,
    /// Estimates used so far.
    n_estimates: u64,
    /// A line did not end before the deepest level.
    met_endless_line: bool,
    /// Moves beyond `width` that were not tried, where no cut-off came before; of all iterations.
    n_left_out: u64,
    /// Records the tree, if it is to be shown.
    recorder: Option<Box<Recorder>>,
    #[cfg(test)]
    leaf_log: Vec<f64>,
}

impl<'a> Search<'a> {
    /// A search for `role` with `machine`.
    pub(crate) fn new(
        machine: &'a mut dyn StateMachine,
        role: RoleId,
        settings: Settings,
        memory: &'a mut Memory,
        stop: &'a Stop,
    ) -> Self {
        let roles = SearchRoles::new(machine.game(), role);
        let n_roles = roles.n_roles;
        let reads_goals =
            matches!(settings.evaluation, EvaluationFunction::Goal | EvaluationFunction::Zero);
        let reads_outcomes = reads_goals
            && settings.opponents != Opponents::MaxN
            && settings.quiescence == 0
            && !settings.extends_forced;
        let remembers_leaves = (settings.evaluation.is_costly() || settings.extends_forced)
            && !settings.evaluation.depends_on_state_before();
        let move_order = MoveOrder::new(n_roles, settings.killer_moves, settings.history);
        Self {
            machine,
            move_order,
            settings,
            memory,
            stopwatch: Stopwatch::new(stop),
            roles,
            ranks: FxHashMap::default(),
            frames: vec![Frame::new(n_roles)],
            visit_rate: VisitRate::default(),
            values_all: false,
            solved: None,
            limit: 0,
            deepest: 0,
            known_depth: 0,
            probing: Probing::default(),
            remembers_leaves,
            reads_outcomes,
            root_hint: None,
            root_values: Vec::new(),
            root_strategy: None,
            n_estimates: 0,
            met_endless_line: false,
            n_left_out: 0,
            recorder: None,
            #[cfg(test)]
            leaf_log: Vec::new(),
        }
    }

    /// The same search, trying the moves of `order` before all others.
    pub(crate) fn trying_first(mut self, order: &[Expression]) -> Self {
        self.ranks = ranks(self.machine, order);
        // Outcomes come in the machine's order, ranked moves do not.
        self.reads_outcomes &= self.ranks.is_empty();
        self
    }

    /// The same search, which finds the value of every move at the root.
    pub(crate) fn of_every_move(self) -> Self {
        Self { values_all: true, ..self }
    }

    /// The same search, recording its tree of at most `max_nodes` states.
    pub(crate) fn recording(mut self, max_nodes: Option<usize>) -> Self {
        self.recorder = max_nodes.map(|max_nodes| Box::new(Recorder::new(max_nodes)));
        self.reads_outcomes &= self.recorder.is_none();
        self
    }

    /// The same search, which takes the values of states from this table where it has them.
    pub(crate) fn knowing(self, solved: Option<&'a ValueTable>) -> Self {
        let reads_outcomes = self.reads_outcomes && solved.is_none();
        Self { solved, reads_outcomes, ..self }
    }

    /// The counters so far, and the tree if it is recorded.
    pub(crate) fn deliberation(&self) -> Deliberation {
        let tree = self.recorder.as_ref().map(|recorder| Arc::new(recorder.tree().clone()));
        let mut deliberation = Deliberation { tree, ..self.stopwatch.deliberation.clone() };
        if self.memory.table.has_given_up() {
            deliberation.notes.push(settings::full_table(self.settings.remembered));
        }
        if self.n_left_out > 0 {
            let moves = counted(self.n_left_out, "move");
            deliberation.notes.push(format!("{moves} not tried (option `width`)"));
        }
        if self.met_endless_line {
            deliberation.notes.push(endless_lines(self.deepest));
        }
        deliberation
    }

    /// The best move in `state`, which is not terminal.
    pub(crate) fn best_move(&mut self, state: &State) -> Result<Answer, ReasoningError> {
        let deepest = if self.settings.opponents == Opponents::MaxN {
            2 * MAX_LEVELS / (self.roles.n_roles + 1)
        } else {
            MAX_LEVELS
        };
        self.deepest = deepest;
        let mut allocation = TimeAllocation::new();
        let depth = match self.settings.depth as usize {
            0 => deepest,
            depth => depth.min(deepest),
        };
        let Self { machine, settings, memory, .. } = self;
        if settings.evaluation.depends_on_question() {
            memory.table = TranspositionTable::default();
        }
        memory.table.begin();
        memory.evaluation.begin(&settings.evaluation, &**machine, [state]);
        let mut answer = Answer::default();
        let known = if self.settings.deepening { self.known_value(state) } else { None };
        self.known_depth = known.map_or(0, |known| known.depth_left);
        let first = if self.settings.deepening { self.known_depth.clamp(1, depth) } else { depth };
        if let Some(best) = known.and_then(|known| known.best) {
            // The answer if the search has no time to look at all moves again.
            let mut legal = Vec::new();
            self.machine.legal_moves(state, self.roles.me, &mut legal)?;
            answer.action = legal.get(best).copied();
        }
        for limit in first..=depth {
            self.limit = limit;
            if limit == deepest {
                // Here a state at the limit is worth 0, whatever earlier iterations estimated.
                self.reads_outcomes = false;
                if limit > first {
                    self.memory.table.forget();
                }
            }
            match self.iterate(state) {
                Ok(value) => {
                    answer = Answer { value: Some(value), ..self.current_answer() };
                    self.root_hint = self.frames[0].best;
                    self.explain(state, value);
                    self.stopwatch.deliberation.proven = self.is_proof(value);
                    if value.proven {
                        break;
                    }
                    if self.settings.allocates_time && limit < depth {
                        let reason = if self.is_only_choice() {
                            Some("all other moves are proven to lose".to_owned())
                        } else {
                            allocation.reason_to_stop(limit, &self.stopwatch)
                        };
                        if let Some(reason) = reason {
                            let notes = &mut self.stopwatch.deliberation.notes;
                            notes.push(format!("stopped deepening early: {reason}"));
                            return Ok(answer);
                        }
                    }
                }
                Err(Halt::Due) => {
                    if !self.settings.deepening {
                        answer = self.current_answer();
                    }
                    answer.value = None;
                    return Ok(answer);
                }
                Err(Halt::Broken(error)) => return Err(*error),
            }
        }
        let is_proven = answer.value.is_some_and(|value| value.proven);
        self.stopwatch.deliberation.completed = is_proven || !self.met_endless_line;
        Ok(answer)
    }

    /// Whether a value of the search is one under the true rules, too. Where several roles choose
    /// at the same time, the search lets the others know more or less than they do; and other roles
    /// may neither help nor seek their own good.
    fn is_proof(&self, value: Value) -> bool {
        let is_true_model = match self.settings.opponents {
            Opponents::Paranoid | Opponents::Matrix => {
                !self.memory.met_simultaneous_moves && self.roles.guarantee_is_value(value.score)
            }
            Opponents::MaxN | Opponents::Cooperative => false,
        };
        let is_true = is_true_model || self.roles.others.is_empty();
        value.proven && is_true && !self.memory.left_out_moves
    }

    /// Whether all moves at the root but one are proven to be worth nothing, so that no
    /// deeper search can prefer them.
    fn is_only_choice(&self) -> bool {
        let n_moves = self.frames[0].legal[self.roles.index()].len();
        let lost = self.root_values.iter().filter(|found| found.proven && found.score <= 0.0);
        let is_known = self.root_values.len() == n_moves && !self.memory.left_out_moves;
        n_moves > 1 && is_known && lost.count() + 1 >= n_moves
    }

    /// Levels from `level` to the depth limit.
    fn depth_left(&self, level: usize) -> usize {
        self.limit - self.frames[level].counted
    }

    fn current_answer(&self) -> Answer {
        let moves = &self.frames[0].legal[self.roles.index()];
        let action = self.frames[0].best.map(|index| moves[index]);
        let strategy = self
            .root_strategy
            .as_ref()
            .map(|strategy| moves.iter().copied().zip(strategy.iter().copied()).collect());
        Answer { action, strategy, value: None }
    }

    fn iterate(&mut self, state: &State) -> Result<Value, Halt> {
        self.frames[0].begin(state);
        self.frames[0].best = None;
        self.root_strategy = None;
        self.root_values.clear();
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        if self.settings.opponents == Opponents::MaxN {
            let before = self.n_estimates;
            let scores = self.vector(0)?;
            Ok(Value { score: scores[self.roles.index()], proven: self.n_estimates == before })
        } else {
            let (alpha, beta) = self.settings.window;
            self.value(0, alpha, beta)
        }
    }

    /// Whether the first move tried will probably cut off all others, since one did before.
    fn expects_cut(&self, level: usize, entry: Option<&Entry>) -> bool {
        let is_cooperative = self.settings.opponents == Opponents::Cooperative;
        let is_mine = self.frames[level].legal[self.roles.index()].len() > 1;
        let cut = if is_mine || is_cooperative { Bound::Lower } else { Bound::Upper };
        self.settings.deepening
            && level > 0
            && entry.is_some_and(|entry| entry.best.is_some() && entry.bound == cut)
    }

    /// Computes the states of all children, if that was decided.
    fn compute_successors(&mut self, level: usize) -> Result<(), Halt> {
        let frame = &mut self.frames[level];
        frame.compute_successors(self.machine)?;
        if self.settings.remembered > 0 {
            frame.child_keys().iter().for_each(|&key| self.memory.table.prefetch(key));
        }
        Ok(())
    }

    /// Enters the state in the frame of `level`: counts it, and lists the legal
    /// moves if it has children. `entry` is what is known of it.
    fn enter(&mut self, level: usize, entry: Option<&Entry>) -> Result<Arrival, Halt> {
        self.stopwatch.enter(level)?;
        let looks_further = self.settings.extends_forced || self.settings.quiescence > 0;
        // Successors come in the machine's order, ranked moves do not.
        let plans_successors = !looks_further && self.ranks.is_empty();
        // Whether a cut is expected depends on who has a choice. Before moves are listed, that is
        // taken from the last state at this level.
        let before_successors = plans_successors
            && self.visit_rate.expects_expansion()
            && match self.depth_left(level) {
                0 | 1 => self.reads_outcomes,
                _ => !self.expects_cut(level, entry),
            };
        let (above, frame) = at(&mut self.frames, level);
        frame.best = None;
        let is_at_limit = frame.counted >= self.limit || level >= self.deepest;
        let may_extend = self.settings.extends_forced && level < self.deepest;
        if is_at_limit && !may_extend {
            let is_terminal = frame.is_terminal(self.machine, above)?;
            return Ok(if is_terminal { Arrival::Terminal } else { Arrival::CutOff });
        }
        let Self { machine, ranks, .. } = self;
        match frame.list_moves_unless_terminal(*machine, above, ranks, before_successors)? {
            None => return Ok(Arrival::Terminal),
            Some(false) => return Ok(Arrival::DeadEnd),
            Some(true) => {}
        }
        frame.choices = self.roles.choices(frame);
        self.memory.met_simultaneous_moves |= frame.choices.n_choosing > 1;
        frame.is_extended = may_extend && frame.legal.iter().all(|moves| moves.len() == 1);
        if is_at_limit && !frame.is_extended {
            return Ok(Arrival::CutOff);
        }
        let is_last = frame.counted + usize::from(!frame.is_extended) >= self.limit;
        let n_entered = self.stopwatch.deliberation.nodes;
        let visit_rate = &mut self.visit_rate;
        if !is_last && plans_successors {
            frame.plan_successors(self.machine, visit_rate, n_entered);
            if !self.expects_cut(level, entry) {
                self.compute_successors(level)?;
            }
        } else if is_last && self.reads_outcomes {
            frame.compute_outcomes(self.machine, self.roles.me, visit_rate, n_entered)?;
        } else {
            let of_estimates = self.settings.evaluation.wanted();
            let wanted = Wanted {
                legal: !is_last || of_estimates.legal || looks_further,
                all_goals: (is_last || looks_further) && of_estimates.all_goals,
            };
            frame.expand(self.machine, wanted, visit_rate, n_entered)?;
        }
        Ok(Arrival::Inner)
    }

    /// What a state without children is worth to `role`.
    fn leaf(&mut self, level: usize, arrival: Arrival, role: RoleId) -> Result<f64, Halt> {
        let (above, frame) = at(&mut self.frames, level);
        let score = match arrival {
            Arrival::Terminal => f64::from(worst(&frame.goal(self.machine, above, role)?)),
            Arrival::DeadEnd => 0.0,
            _ if level >= self.deepest => {
                self.met_endless_line = true;
                0.0
            }
            Arrival::CutOff | Arrival::Inner => {
                let Self { machine, memory, stopwatch, settings, .. } = self;
                let machine = &mut **machine;
                let memory = &mut memory.evaluation;
                let mut cut_off = CutOff { machine, above, frame, role, memory, stopwatch };
                cut_off.score(&settings.evaluation)?
            }
        };
        Ok(score)
    }

    /// Fail-soft value of the state in the frame of `level`: exact if it lies
    /// between `alpha` and `beta`; at most `alpha`, it is an upper bound; at
    /// least `beta`, a lower one.
    fn value(&mut self, level: usize, alpha: f64, beta: f64) -> Result<Value, Halt> {
        self.record_entry(level, (alpha, beta));
        if level > 0
            && let Some(value) = self.look_up(level)
        {
            self.record_value(level, value.score, None);
            return Ok(value);
        }
        let depth_left = self.depth_left(level);
        let entry = self.recall(level);
        if level > 0
            && let Some(value) = entry
                .and_then(|entry| entry.answer(depth_left, self.settings.deepening, alpha, beta))
        {
            self.stopwatch.deliberation.table_hits += 1;
            let is_within = value.score > alpha && value.score < beta;
            self.frames[level].recall_line(entry.filter(|_| is_within));
            self.record_value(level, value.score, None);
            return Ok(value);
        }
        let arrival = self.enter(level, entry.as_ref())?;
        let value = match arrival {
            Arrival::Inner => self.best_child(level, entry, alpha, beta)?,
            arrival => self.value_of_leaf(level, arrival, alpha, beta)?,
        };
        // What quiescence finds depends on the state before, too.
        if arrival != Arrival::CutOff || self.settings.quiescence == 0 {
            self.remember(level, value, alpha, beta);
        }
        self.record_value(level, value.score, Some(arrival));
        Ok(value)
    }

    /// The value of a state without children in the frame of `level`.
    fn value_of_leaf(
        &mut self,
        level: usize,
        arrival: Arrival,
        alpha: f64,
        beta: f64,
    ) -> Result<Value, Halt> {
        self.stopwatch.deliberation.leaves += 1;
        self.n_estimates += u64::from(arrival == Arrival::CutOff);
        let score = if arrival == Arrival::CutOff && self.settings.quiescence > 0 {
            self.settle(level, alpha, beta, self.settings.quiescence)?
        } else {
            self.leaf(level, arrival, self.roles.me)?
        };
        #[cfg(test)]
        self.leaf_log.push(score);
        self.frames[level].line.clear();
        Ok(Value { score, proven: arrival != Arrival::CutOff })
    }

    #[inline(always)]
    fn record_entry(&mut self, level: usize, window: (f64, f64)) {
        if let Some(recorder) = &mut self.recorder {
            recorder.enter(&self.frames, level, window);
        }
    }

    #[inline(always)]
    fn record_value(&mut self, level: usize, score: f64, arrival: Option<Arrival>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.leave(&mut self.frames[level], &self.roles, score, arrival);
        }
    }

    /// The maximising layer: the best of my moves, the first of equals.
    fn best_child(
        &mut self,
        level: usize,
        entry: Option<Entry>,
        alpha: f64,
        beta: f64,
    ) -> Result<Value, Halt> {
        let n_moves = self.frames[level].legal[self.roles.index()].len();
        let n_replies = self.frames[level].choices.n_replies;
        self.frames[level].line.clear();
        if self.settings.opponents == Opponents::Matrix && n_moves > 1 && n_replies > 1 {
            return self.mixed(level, n_moves, n_replies);
        }
        let hint = self.hint(level, entry);
        if let Some(role) = self.last_to_choose(level) {
            return self.best_outcome(level, role, hint, alpha, beta);
        }
        let mut best = Value { score: f64::NEG_INFINITY, proven: true };
        let mut floor = alpha;
        let n_tried = self.n_tried(level, n_moves);
        for rank in 0..n_tried {
            let index = self.my_choice(level, rank, hint.map(|(index, _)| index));
            let reply_hint = hint.and_then(|(best, reply)| (best == index).then_some(reply));
            self.frames[level].pick(self.roles.index(), index);
            let reply = self.reply(level, reply_hint, floor, beta)?;
            if level == 0 {
                let bound = bound(reply.score, floor, beta);
                let Value { score, proven } = reply;
                self.root_values.push(RootValue { index, score, bound, proven });
            }
            if reply.score > best.score {
                best.score = reply.score;
                let frame = &mut self.frames[level];
                frame.best = Some(index);
                frame.best_reply = frame.reply;
                let is_within = reply.score > floor && (reply.score < beta || reply.score >= 100.0);
                if self.settings.remembered == 0 || is_within {
                    frame.keep_line(index);
                } else if !frame.line.is_empty() {
                    frame.line.clear();
                }
            }
            if self.values_all && level == 0 {
                best.proven &= reply.proven;
                continue;
            }
            if best.score >= beta {
                let n_left = (n_tried - rank - 1) as u64;
                self.stopwatch.prune(n_left.saturating_mul(n_replies));
                best.proven = reply.proven;
                if n_moves > 1 && (reply.proven || reply.score > beta) {
                    self.note_cut(level, self.roles.index());
                }
                return Ok(best);
            }
            best.proven &= reply.proven;
            if self.settings.narrow {
                floor = floor.max(best.score);
            }
        }
        self.leave_out((n_moves - n_tried) as u64);
        Ok(best)
    }

    /// The layer of the others' joint replies to my move in the frame.
    fn reply(
        &mut self,
        level: usize,
        hint: Option<u64>,
        alpha: f64,
        beta: f64,
    ) -> Result<Value, Halt> {
        let Choices { n_replies, replier, .. } = self.frames[level].choices;
        if n_replies == 1 {
            return self.only_reply(level, alpha, beta);
        }
        let cooperative = self.settings.opponents == Opponents::Cooperative;
        let (mut floor, mut ceiling) = (alpha, beta);
        let mut chosen: Option<Value> = None;
        let mut proven = true;
        let replier = replier.filter(|_| self.move_order.is_used());
        // Joint replies are as many as the moves of the only role that has a choice.
        let n_tried = match replier {
            Some(_) => self.n_tried(level, n_replies as usize) as u64,
            None => n_replies,
        };
        for rank in 0..n_tried {
            let index = self.reply_choice(level, rank, hint, replier);
            self.roles.set_reply(&mut self.frames[level], index);
            let value = self.mean(level, floor, ceiling)?;
            let is_better = chosen.is_none_or(|chosen| {
                if cooperative { value.score > chosen.score } else { value.score < chosen.score }
            });
            if is_better {
                chosen = Some(value);
                self.keep_reply(level, index);
            }
            let score = chosen.map_or(0.0, |chosen| chosen.score);
            let bound = if cooperative { beta } else { alpha };
            if (cooperative && score >= bound) || (!cooperative && score <= bound) {
                self.stopwatch.prune(n_tried - rank - 1);
                if let Some(replier) = replier
                    && (value.proven || value.score != bound)
                {
                    self.note_cut(level, replier);
                }
                return Ok(Value { score, proven: value.proven });
            }
            proven &= value.proven;
            if self.settings.narrow && cooperative {
                floor = floor.max(score);
            } else if self.settings.narrow {
                ceiling = ceiling.min(score);
            }
        }
        self.leave_out(n_replies - n_tried);
        let score = chosen.expect("an inner state has a joint reply").score;
        Ok(Value { score, proven })
    }

    /// The same where the others have no choice.
    fn only_reply(&mut self, level: usize, alpha: f64, beta: f64) -> Result<Value, Halt> {
        self.roles.set_reply(&mut self.frames[level], 0);
        let value = self.mean(level, alpha, beta)?;
        self.keep_reply(level, 0);
        Ok(value)
    }

    /// The joint reply of this index, which was searched last, settles the value of my move.
    fn keep_reply(&mut self, level: usize, index: u64) {
        let (above, below) = self.frames.split_at_mut(level + 1);
        above[level].reply = index;
        // Most lines are empty: nothing is to be copied.
        if !below[0].line.is_empty() || !above[level].reply_line.is_empty() {
            above[level].reply_line.clone_from(&below[0].line);
        }
    }

    fn child(&mut self, level: usize, alpha: f64, beta: f64) -> Result<Value, Halt> {
        if let Some(outcome) = self.frames[level].outcome() {
            let value = self.last_child(level, outcome)?;
            if self.frames.len() == level + 1 {
                self.frames.push(Frame::new(self.roles.n_roles));
            }
            self.frames[level + 1].line.clear();
            return Ok(value);
        }
        if self.frames[level].is_to_be_expanded() {
            self.compute_successors(level)?;
        }
        self.advance(level)?;
        self.value(level + 1, alpha, beta)
    }

    /// The value of a child at the depth limit, of which only the outcome was computed. Counts it
    /// as if it were entered.
    #[inline(always)]
    fn last_child(&mut self, level: usize, outcome: ChildOutcome) -> Result<Value, Halt> {
        self.stopwatch.enter_last(level + 1)?;
        let is_terminal = outcome.is_terminal;
        self.n_estimates += u64::from(!is_terminal);
        let score = match self.settings.evaluation {
            _ if is_terminal => f64::from(outcome.reward()),
            EvaluationFunction::Zero => 0.0,
            _ => evaluation::of_goal(outcome.unique),
        };
        #[cfg(test)]
        self.leaf_log.push(score);
        Ok(Value { score, proven: is_terminal })
    }

    /// Puts the successor by the joint move of `level` into the next frame.
    fn advance(&mut self, level: usize) -> Result<(), Halt> {
        advance(&mut self.frames, level, self.machine, &mut self.stopwatch)
    }
}

/// Puts the successor by the joint move of `level` into the next frame, made if need be.
pub(crate) fn advance(
    frames: &mut Vec<Frame>,
    level: usize,
    machine: &mut dyn StateMachine,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), Halt> {
    stopwatch.poll()?;
    stopwatch.deliberation.next_calls += 1;
    if frames.len() == level + 1 {
        let n_roles = frames[level].joint.len();
        frames.push(Frame::new(n_roles));
    }
    let (above, below) = frames.split_at_mut(level + 1);
    Ok(above[level].advance(machine, &mut below[0])?)
}

/// The frame of a level and the one above it.
pub(crate) fn at(frames: &mut [Frame], level: usize) -> (Option<&Frame>, &mut Frame) {
    let (above, below) = frames.split_at_mut(level);
    (above.last(), &mut below[0])
}

/// What a score says that was found with this window. No reward is below 0 or above
/// 100, so these two are values.
fn bound(score: f64, alpha: f64, beta: f64) -> ValueBound {
    if score <= alpha && score > 0.0 {
        ValueBound::AtMost
    } else if score >= beta && score < 100.0 {
        ValueBound::AtLeast
    } else {
        ValueBound::Exact
    }
}

/// The reward of `role` in a terminal state. Where the rules are ambiguous it
/// is the worst they allow, and 0 where they are silent.
pub(crate) fn reward(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
) -> Result<u8, ReasoningError> {
    Ok(worst(&machine.goal(state, role)?))
}

/// The worst of the goals that the rules give; 0 if they give none.
pub(crate) fn worst(reading: &GoalReading) -> u8 {
    reading.values.iter().min().map_or(0, |goal| goal.value())
}
