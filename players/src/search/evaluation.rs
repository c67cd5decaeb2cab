//! What a state at the depth limit is worth: the evaluation functions of searching players.
//!
//! A new function is a variant of [`EvaluationFunction`], its name and its help in
//! [`NAMED`], and an arm of [`CutOff::score`]. What a function learns once for a match is in
//! [`EvaluationMemory`].
//!
//! Every function but [`EvaluationFunction::Zero`] is between [`LEAST`] and [`MOST`], so that no
//! estimate is mistaken for a proven win or defeat.

mod goal_proximity;
mod judge;
mod mobility_scale;

use std::sync::Arc;

use games::{Expression, Goal, PlayoutPlan, PlayoutSums, RoleId, State, StateMachine, Wanted};
use rustc_hash::FxHashSet;

use self::goal_proximity::GoalProximity;
pub(crate) use self::judge::Judge;
use super::frame::Frame;
use super::{Halt, Stopwatch};
use crate::learning::{Evaluator, LinearEvaluation};

/// The least value of an estimate.
pub(crate) const LEAST: f64 = 1.0;
/// The greatest value of an estimate.
pub(crate) const MOST: f64 = 99.0;
/// What is estimated where nothing is known.
const UNKNOWN: f64 = 50.0;
/// Random playouts from each state of [`EvaluationFunction::MonteCarlo`].
const PLAYOUTS: usize = 16;
/// Steps after which a playout ends, and counts [`UNKNOWN`].
const LONGEST_PLAYOUT: u32 = 1000;

/// The value of a state at the depth limit (Genesereth and Thielscher, "General Game
/// Playing", 2014, on heuristic search).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EvaluationFunction {
    /// Nothing, as in the textbook's first version.
    Zero,
    /// The goal if it is defined there, else 50.
    Goal,
    /// How nearly the conditions of the role's goals hold: the mean of the goals, each
    /// weighted with its degree of truth (Schiffel and Thielscher, "Fluxplayer: a
    /// successful general game player", AAAI 2007).
    GoalProximity,
    /// The number of legal moves, as a share of the largest number in random play.
    Mobility,
    /// 100 minus the mobility.
    Focus,
    /// The mean mobility of the other roles, chance apart; 50 if there are none.
    OpponentMobility,
    /// 100 minus the mobility of the other roles.
    OpponentFocus,
    /// The share of facts that differ from the state in which the player must move: of all facts that hold
    /// in one of the two, those that do not hold in both.
    Novelty,
    /// The mean reward of a few random playouts. They follow from the state's key, so that
    /// the value of a state is always the same.
    MonteCarlo,
    /// A weighted sum of features, learned by self-play.
    Learned(Arc<LinearEvaluation>),
    /// The mean of some functions, with positive weights.
    Weighted(Arc<[(f64, EvaluationFunction)]>),
}

/// The functions that have a name.
const NAMED: [(&str, EvaluationFunction); 9] = [
    ("zero", EvaluationFunction::Zero),
    ("goal", EvaluationFunction::Goal),
    ("goal_proximity", EvaluationFunction::GoalProximity),
    ("mobility", EvaluationFunction::Mobility),
    ("focus", EvaluationFunction::Focus),
    ("opponent_mobility", EvaluationFunction::OpponentMobility),
    ("opponent_focus", EvaluationFunction::OpponentFocus),
    ("novelty", EvaluationFunction::Novelty),
    ("monte_carlo", EvaluationFunction::MonteCarlo),
];

/// What an option accepts that is an evaluation function.
pub(crate) const ACCEPTS: &str = "\"goal\", \"goal_proximity\", \"mobility\", \"focus\", \"opponent_mobility\", \
     \"opponent_focus\", \"novelty\", \"monte_carlo\", \"zero\", \"learned:FILE\", or a weighted sum such as \
     \"goal + 2*mobility\"";

/// The same of a search that keeps its tree: not those that depend on the state in which the
/// player must move.
pub(crate) const ACCEPTS_WHILE_KEPT: &str = "\"none\", \"goal\", \"goal_proximity\", \"mobility\", \"focus\", \"opponent_mobility\", \
     \"opponent_focus\", \"monte_carlo\", \"zero\", \"learned:FILE\", or a weighted sum such as \
     \"goal + 2*mobility\"";

/// The sentence about evaluation functions in the help of an option.
pub(crate) const HELP: &str = "Value of a state at the depth limit, 1 to 99 (`zero`: 0): `goal`, its goal (50 if it has none); \
     `goal_proximity`, how nearly the goals' conditions hold; `mobility`, the number of legal moves in \
     percent of the largest number met in random play; `focus`, 100 - mobility; `opponent_mobility` and \
     `opponent_focus`, the same of the other roles; `novelty`, the share of facts that differ \
     from the state in which the player must move (`information_set_search`: from the facts that \
     hold in all states that it thinks possible); `monte_carlo`, the mean of 16 random playouts; `zero`, 0; \
     `learned:FILE`, by a file of `gamemaster train`. A sum \
     is divided by the sum of its weights.";

impl EvaluationFunction {
    /// The function written as `text`: a name, or a sum of names with positive weights,
    /// such as `goal + 2*mobility`. `None` if it is neither.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let named = |name: &str| {
            let found = NAMED.iter().find(|(known, _)| *known == name);
            found.map(|(_, function)| function.clone())
        };
        if let Some(function) = named(text) {
            return Some(function);
        }
        let terms = text.split('+').map(|term| {
            let (weight, name) = term.split_once('*').unwrap_or(("1", term));
            let weight: f64 = weight.trim().parse().ok()?;
            let is_weight = weight.is_finite() && weight > 0.0;
            Some((weight, named(name.trim()).filter(|_| is_weight)?))
        });
        terms.collect::<Option<Arc<[_]>>>().map(Self::Weighted)
    }

    /// Whether this function, or one that it is a sum of, satisfies `is_wanted`.
    fn has(&self, is_wanted: &dyn Fn(&Self) -> bool) -> bool {
        match self {
            Self::Weighted(terms) => terms.iter().any(|(_, term)| term.has(is_wanted)),
            function => is_wanted(function),
        }
    }

    /// What the function reads of a state besides its facts.
    pub(super) fn wanted(&self) -> Wanted {
        let counts_moves = |function: &Self| {
            function.is_mobility()
                || matches!(function, Self::Learned(evaluation) if evaluation.counts_moves())
        };
        Wanted { legal: self.has(&counts_moves), all_goals: self.has(&|term| *term == Self::Goal) }
    }

    /// Whether it costs more to evaluate a state than to look it up in a table.
    pub(super) fn is_costly(&self) -> bool {
        self.has(&|term| matches!(term, Self::GoalProximity | Self::Novelty | Self::MonteCarlo))
    }

    /// Whether the value of a state depends on the state before.
    pub(super) fn depends_on_state_before(&self) -> bool {
        self.has(&Self::is_mobility)
    }

    fn is_mobility(&self) -> bool {
        matches!(self, Self::Mobility | Self::Focus | Self::OpponentMobility | Self::OpponentFocus)
    }

    /// Whether the value of a state depends on the state that the search began with.
    pub(crate) fn depends_on_question(&self) -> bool {
        self.has(&|term| *term == Self::Novelty)
    }

    /// Why the function cannot evaluate states of this machine; `None` if it can.
    pub(crate) fn refusal(&self, machine: &dyn StateMachine) -> Option<String> {
        if let Self::Learned(evaluation) = self {
            return evaluation.check(machine.game()).err().map(|error| error.to_string());
        }
        let reads_network = self.has(&|term| *term == Self::GoalProximity);
        (reads_network && machine.network().is_none()).then(|| {
            "the evaluation `goal_proximity` needs the conditions of the goals without variables, \
             and these rules are too large for that; use another evaluation"
                .to_owned()
        })
    }
}

/// The estimate of [`EvaluationFunction::Goal`] for a state with this goal.
pub(super) fn of_goal(goal: Option<Goal>) -> f64 {
    goal.map_or(UNKNOWN, |goal| f64::from(goal.value())).clamp(LEAST, MOST)
}

/// What evaluation functions know for a whole match.
#[derive(Clone, Debug, Default)]
pub(crate) struct EvaluationMemory {
    /// By role, the largest number of legal moves in random play.
    most_moves: Option<Vec<usize>>,
    /// The facts that hold in all states that may be the one in question.
    question: FxHashSet<Expression>,
    /// By role, the conditions of its goals.
    proximity: Vec<Option<GoalProximity>>,
    /// The learned evaluation, with what its features are of the facts met.
    learned: Option<Evaluator>,
    /// Room for the results of playouts.
    sums: PlayoutSums,
}

impl EvaluationMemory {
    /// Takes note of the state that a search begins with, or of all states that it may be.
    pub(super) fn begin<'s>(
        &mut self,
        function: &EvaluationFunction,
        machine: &dyn StateMachine,
        states: impl IntoIterator<Item = &'s State>,
    ) {
        if !function.depends_on_question() {
            return;
        }
        let facts = states
            .into_iter()
            .map(|state| -> FxHashSet<Expression> { machine.facts(state).into_iter().collect() });
        let shared = facts.reduce(|mut shared, facts| {
            shared.retain(|fact| facts.contains(fact));
            shared
        });
        self.question = shared.unwrap_or_default();
    }
}

/// A state at the depth limit, and what is needed to evaluate it.
pub(super) struct CutOff<'s, 'a> {
    /// The reasoner.
    pub(super) machine: &'s mut dyn StateMachine,
    /// The frame that the state was reached from.
    pub(super) above: Option<&'s Frame>,
    /// The frame with the state.
    pub(super) frame: &'s mut Frame,
    /// Whose reward is estimated.
    pub(super) role: RoleId,
    /// What is known for the match.
    pub(super) memory: &'s mut EvaluationMemory,
    /// When to stop.
    pub(super) stopwatch: &'s mut Stopwatch<'a>,
}

impl CutOff<'_, '_> {
    /// The value of the state, 0 to 100, by `function`.
    ///
    /// # Errors
    /// If the search must stop, or the reasoner fails.
    pub(super) fn score(&mut self, function: &EvaluationFunction) -> Result<f64, Halt> {
        let score = match function {
            EvaluationFunction::Zero => return Ok(0.0),
            EvaluationFunction::Goal => {
                return Ok(of_goal(self.frame.goal(self.machine, self.above, self.role)?.unique()));
            }
            EvaluationFunction::GoalProximity => self.goal_proximity(),
            EvaluationFunction::Mobility => self.mobility(self.role)?,
            EvaluationFunction::Focus => 100.0 - self.mobility(self.role)?,
            EvaluationFunction::OpponentMobility => self.opponent_mobility()?,
            EvaluationFunction::OpponentFocus => 100.0 - self.opponent_mobility()?,
            EvaluationFunction::Novelty => self.novelty(),
            EvaluationFunction::MonteCarlo => self.monte_carlo()?,
            EvaluationFunction::Learned(evaluation) => self.learned(evaluation)?,
            EvaluationFunction::Weighted(terms) => {
                let (mut sum, mut weights) = (0.0, 0.0);
                for (weight, term) in terms.iter() {
                    sum += weight * self.score(term)?;
                    weights += weight;
                }
                sum / weights
            }
        };
        Ok(score.clamp(LEAST, MOST))
    }

    fn goal_proximity(&mut self) -> f64 {
        let role = usize::from(self.role.0);
        if self.memory.proximity.len() <= role {
            self.memory.proximity.resize(role + 1, None);
        }
        let Some(network) = self.machine.network() else { return UNKNOWN };
        let proximity = self.memory.proximity[role]
            .get_or_insert_with(|| GoalProximity::new(network, self.role));
        let state = &self.frame.state;
        let value = if network.covers(state) {
            proximity.value(network, state)
        } else {
            let state = network.state_of(&self.machine.facts(state));
            state.and_then(|state| proximity.value(network, &state))
        };
        value.unwrap_or(UNKNOWN)
    }

    /// The number of legal moves, in percent of the largest number in random play. Of a role that
    /// waits it is the number in the state before, if only that role had a choice there: where roles
    /// move in turn, mobility would otherwise be the same in all states in which another role is to
    /// move.
    fn mobility(&mut self, role: RoleId) -> Result<f64, Halt> {
        if self.memory.most_moves.is_none() {
            let most = mobility_scale::most_moves(self.machine, self.stopwatch)?;
            self.memory.most_moves = Some(most);
        }
        let most = self.memory.most_moves.as_ref().map_or(1, |most| most[usize::from(role.0)]);
        let mut n_moves = self.frame.n_moves(self.machine, self.above, role)?;
        let game = self.machine.game();
        let others =
            || game.role_ids().filter(|&other| other != role && Some(other) != game.random());
        let was_its_turn =
            |above: &&Frame| others().all(|other| above.legal[usize::from(other.0)].len() == 1);
        if n_moves == 1
            && let Some(above) = self.above.filter(was_its_turn)
        {
            n_moves = above.legal[usize::from(role.0)].len();
        }
        Ok((100.0 * n_moves as f64 / most as f64).min(100.0))
    }

    fn opponent_mobility(&mut self) -> Result<f64, Halt> {
        let game = self.machine.game();
        let (roles, me, chance) = (game.role_ids(), self.role, game.random());
        let (mut sum, mut n_opponents) = (0.0, 0.0);
        for role in roles.filter(|&role| role != me && Some(role) != chance) {
            sum += self.mobility(role)?;
            n_opponents += 1.0;
        }
        Ok(if n_opponents > 0.0 { sum / n_opponents } else { UNKNOWN })
    }

    fn learned(&mut self, evaluation: &Arc<LinearEvaluation>) -> Result<f64, Halt> {
        let Self { machine, above, frame, role, memory, .. } = self;
        let evaluator = memory
            .learned
            .get_or_insert_with(|| Evaluator::new(Arc::clone(evaluation), machine.game()));
        evaluator.follow(&mut **machine, &frame.state);
        Ok(evaluator.value(*role, |mover| frame.n_moves(&mut **machine, *above, mover))?)
    }

    fn novelty(&self) -> f64 {
        let facts = self.machine.facts(&self.frame.state);
        let question = &self.memory.question;
        let n_kept = facts.iter().filter(|fact| question.contains(fact)).count();
        let n_all = facts.len() + question.len() - n_kept;
        100.0 * (n_all - n_kept) as f64 / n_all.max(1) as f64
    }

    fn monte_carlo(&mut self) -> Result<f64, Halt> {
        let seed = self.machine.key(&self.frame.state).bits() as u64;
        let plan = PlayoutPlan {
            per_start: PLAYOUTS,
            max_length: LONGEST_PLAYOUT,
            seed,
            ..PlayoutPlan::default()
        };
        let start = std::slice::from_ref(&self.frame.state);
        let stopwatch = &self.stopwatch;
        let mut go_on = |n_states| !stopwatch.is_due_after(n_states);
        let sums = &mut self.memory.sums;
        self.machine.playout_sums(start, &plan, &mut go_on, sums)?;
        let (n_scored, n_unscored) = (f64::from(sums.n_scored(0)), f64::from(sums.n_unscored(0)));
        let deliberation = &mut self.stopwatch.deliberation;
        deliberation.playouts += u64::from(sums.n_scored(0)) + u64::from(sums.n_unscored(0));
        deliberation.nodes += sums.n_states;
        deliberation.next_calls += sums.n_states;
        if !sums.is_whole {
            return Err(Halt::Due);
        }
        let rewards = sums.rewards(0, self.role) as f64;
        Ok((rewards + UNKNOWN * n_unscored) / (n_scored + n_unscored))
    }
}

#[cfg(test)]
mod tests;
