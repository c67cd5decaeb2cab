//! The states of a small game, and the moves between them.
//!
//! Facts that count steps tell no two states apart here, as long as nothing but the end of the
//! game depends on the count. This is checked at the first three counts with which each state is
//! met, and by the positions of the match: what depends on a later count only is overlooked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use games::{
    Expression, Game, Goal, Guards, MoveId, Prover, ReasoningError, State, StateKey,
    StateMachine as _, n_joint_moves, push_joint_move,
};

use super::counts;
use super::relations::relations_of;

/// Maximum number of states, and of joint moves in all of them.
const MAX_STATES: usize = 256;
const MAX_JOINT_MOVES: usize = 1_000;

/// Maximum number of words of the facts of a state, and of the moves of all states.
const MAX_WORDS: usize = 1_000;
const MAX_MOVE_WORDS: usize = 20_000;

/// Maximum number of facts of a state that not all states have: more make no short name.
const MAX_OWN: usize = 8;

/// Maximum number of questions to the rules, and of steps of reasoning for each: a few seconds in
/// all at most.
const MAX_QUESTIONS: usize = 4_000;
const MAX_STEPS: u64 = 250_000;

/// Maximum number of terms that reasoning may create.
const MAX_TERMS: usize = 1_000_000;

/// States that differ in the count only, of which each is looked at.
const N_COUNTS: usize = 3;

/// Every state that play can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateGraph {
    /// The initial one first, then by their distance from it.
    pub(super) states: Vec<GameState>,
    /// Relations of one argument that count steps: each joint move leads to the next number.
    counters: BTreeSet<String>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GameState {
    /// All, or all but those that count steps.
    pub(super) facts: BTreeSet<Expression>,
    pub(super) continuation: Continuation,
}

/// How the game goes on from a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Continuation {
    /// By role; none if the state is terminal.
    pub(super) legal: Vec<Vec<Expression>>,
    pub(super) ways: Vec<JointWay>,
    /// By role, if the state is terminal; `None` for a role without a single one.
    pub(super) rewards: Option<Vec<Option<u8>>>,
}

/// A joint move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JointWay {
    /// By role: which of its legal moves.
    pub(super) moves: Vec<usize>,
    /// The number of the next state.
    pub(super) to: usize,
}

impl StateGraph {
    /// The states of a game, of which some positions are known; `None` if there are too many, they
    /// are too large or differ in too many facts, or they cannot be computed.
    pub(super) fn find(game: &Game, positions: &[Vec<Expression>]) -> Option<Self> {
        if positions.iter().any(|facts| n_words(facts) > MAX_WORDS) {
            return None;
        }
        let mut unary = relations_of(1..=1, &[], positions);
        for rows in unary.values_mut() {
            rows.played.resize(positions.len(), vec![]);
        }
        let counters = unary.iter().filter(|(_, rows)| counts::is_counter(rows));
        let mut counters: Vec<String> = counters.map(|(name, _)| name.0.to_owned()).collect();
        let guards = Guards { max_steps: MAX_STEPS, max_terms: MAX_TERMS, ..Guards::default() };
        let mut machine = Prover::new(Arc::new(game.clone()), guards).ok()?;
        let mut n_questions = MAX_QUESTIONS;
        let mut is_folded = !counters.is_empty();
        loop {
            let explorer = Explorer::new(&mut machine, &mut n_questions, &counters, is_folded);
            match explorer.explore() {
                Ok(graph) if !is_folded || positions.iter().all(|facts| graph.has(facts)) => {
                    return Some(graph);
                }
                // More depends on the count than the end of the game.
                Ok(_) | Err(Failure::DependsOnCount) => is_folded = false,
                Err(Failure::IsNoCounter(at)) => {
                    counters.remove(at);
                    is_folded = !counters.is_empty();
                }
                // Without folding there are at least as many states.
                Err(Failure::TooMuch) => return None,
            }
        }
    }

    /// Whether a position is one of the states, which are folded.
    fn has(&self, position: &[Expression]) -> bool {
        let facts = position.iter().filter(|fact| !self.counts(fact)).cloned().collect();
        self.states.iter().any(|state| state.facts == facts)
    }

    /// Whether a fact counts steps.
    pub(super) fn counts(&self, fact: &Expression) -> bool {
        is_of(fact, &self.counters)
    }

    /// The facts of each state.
    pub(super) fn facts(&self) -> Vec<Vec<Expression>> {
        self.states.iter().map(|state| state.facts.iter().cloned().collect()).collect()
    }
}

/// Whether a fact is of one of these relations of one argument.
fn is_of(fact: &Expression, names: &BTreeSet<String>) -> bool {
    let Expression::List(items) = fact else { return false };
    matches!(items.as_slice(), [Expression::Atom(name), _] if names.contains(name))
}

/// The number that the only fact of a relation of one argument has.
fn count(facts: &[Expression], counter: &str) -> Option<u32> {
    let number = |fact: &Expression| {
        let Expression::List(items) = fact else { return None };
        match items.as_slice() {
            [Expression::Atom(name), number] if name == counter => Some(number.to_string()),
            _ => None,
        }
    };
    let mut numbers = facts.iter().filter_map(number);
    let number = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some(number)
}

fn n_words(expressions: &[Expression]) -> usize {
    let words = |expression: &Expression| match expression {
        Expression::Atom(_) => 1,
        Expression::List(items) => n_words(items),
    };
    expressions.iter().map(words).sum()
}

/// Why there is no graph.
enum Failure {
    /// There are too many states, they are too large, or the rules fail.
    TooMuch,
    /// How the game goes on from some state depends on the count.
    DependsOnCount,
    /// This one does not count steps.
    IsNoCounter(usize),
}

impl From<ReasoningError> for Failure {
    fn from(_: ReasoningError) -> Self {
        Self::TooMuch
    }
}

/// A state that is still to be looked at.
struct OpenState {
    state: State,
    number: usize,
    /// By counter.
    counts: Vec<Option<u32>>,
}

/// The states found so far.
struct Explorer<'a> {
    machine: &'a mut Prover,
    /// Questions that are still allowed.
    n_questions: &'a mut usize,
    counters: &'a [String],
    /// The counters that are left out of the states.
    folded: BTreeSet<String>,
    /// By counter: whether it does not count steps.
    is_refuted: Vec<bool>,
    states: Vec<GameState>,
    numbers: BTreeMap<BTreeSet<Expression>, usize>,
    /// The facts that all states have.
    common: BTreeSet<Expression>,
    /// By state: those that differ from it in the count only.
    counted: Vec<Vec<StateKey>>,
    open: VecDeque<OpenState>,
    n_joint_moves: usize,
    n_move_words: usize,
}

impl<'a> Explorer<'a> {
    fn new(
        machine: &'a mut Prover,
        n_questions: &'a mut usize,
        counters: &'a [String],
        is_folded: bool,
    ) -> Self {
        let folded = counters.iter().filter(|_| is_folded).cloned().collect();
        let (states, numbers, common, counted) = (vec![], BTreeMap::new(), BTreeSet::new(), vec![]);
        Self {
            machine,
            n_questions,
            counters,
            folded,
            is_refuted: vec![false; counters.len()],
            states,
            numbers,
            common,
            counted,
            open: VecDeque::new(),
            n_joint_moves: 0,
            n_move_words: 0,
        }
    }

    fn explore(mut self) -> Result<StateGraph, Failure> {
        self.ask()?;
        let initial = self.machine.initial_state()?;
        self.number(initial)?;
        let mut is_known = Vec::new();
        while let Some(open) = self.open.pop_front() {
            let continuation = self.continuation(&open)?;
            is_known.resize(self.states.len(), false);
            let known = &mut self.states[open.number].continuation;
            if !is_known[open.number] {
                (*known, is_known[open.number]) = (continuation, true);
            } else if *known != continuation {
                return Err(Failure::DependsOnCount);
            }
        }
        let counters = self.counters.iter().zip(&self.is_refuted);
        let counters = counters.filter(|(_, is_refuted)| !**is_refuted);
        let counters = counters.map(|(name, _)| name.clone()).collect();
        Ok(StateGraph { states: self.states, counters })
    }

    /// Notes that the rules are asked something.
    fn ask(&mut self) -> Result<(), Failure> {
        *self.n_questions = self.n_questions.checked_sub(1).ok_or(Failure::TooMuch)?;
        Ok(())
    }

    /// How the game goes on from a state.
    fn continuation(&mut self, open: &OpenState) -> Result<Continuation, Failure> {
        let OpenState { state, counts, .. } = open;
        let roles: Vec<_> = self.machine.game().role_ids().collect();
        self.ask()?;
        if self.machine.is_terminal(state)? {
            let mut rewards = Vec::with_capacity(roles.len());
            for role in roles {
                self.ask()?;
                rewards.push(self.machine.goal(state, role)?.unique().map(Goal::value));
            }
            return Ok(Continuation { rewards: Some(rewards), ..Continuation::default() });
        }
        let mut legal = vec![Vec::new(); roles.len()];
        for (role, moves) in roles.iter().zip(&mut legal) {
            self.ask()?;
            self.machine.legal_moves(state, *role, moves)?;
        }
        let n_joint = n_joint_moves(&legal);
        self.n_joint_moves = self.n_joint_moves.saturating_add(n_joint);
        if n_joint == 0 || self.n_joint_moves > MAX_JOINT_MOVES {
            return Err(Failure::TooMuch);
        }
        let mut ways = Vec::with_capacity(n_joint);
        for number in 0..n_joint as u64 {
            let mut joint_move = Vec::new();
            push_joint_move(&legal, number, &mut joint_move);
            let mut next = State::default();
            self.ask()?;
            self.machine.next_state(state, &joint_move, &mut next)?;
            let (to, next_counts) = self.number(next)?;
            self.check_counters(counts, &next_counts)?;
            let index = |(moves, played): (&Vec<MoveId>, &MoveId)| {
                moves.iter().position(|one| one == played).unwrap_or(0)
            };
            ways.push(JointWay { moves: legal.iter().zip(&joint_move).map(index).collect(), to });
        }
        let mut texts = vec![Vec::new(); legal.len()];
        for (moves, texts) in legal.iter().zip(&mut texts) {
            for &id in moves {
                texts.push(self.machine.move_expression(id));
                self.n_move_words += n_words(&texts[texts.len() - 1..]);
                if self.n_move_words > MAX_MOVE_WORDS {
                    return Err(Failure::TooMuch);
                }
            }
        }
        Ok(Continuation { legal: texts, ways, rewards: None })
    }

    /// Finds what does not count steps, by the counts before and after a joint move.
    fn check_counters(
        &mut self,
        before: &[Option<u32>],
        after: &[Option<u32>],
    ) -> Result<(), Failure> {
        for (at, (before, after)) in before.iter().zip(after).enumerate() {
            let is_next = after.is_some() && *after == before.and_then(|n| n.checked_add(1));
            if !is_next && !self.folded.is_empty() {
                return Err(Failure::IsNoCounter(at));
            }
            self.is_refuted[at] |= !is_next;
        }
        Ok(())
    }

    /// The number of a state, which is looked at later if it is new, or differs in the count; and
    /// its counts.
    fn number(&mut self, state: State) -> Result<(usize, Vec<Option<u32>>), Failure> {
        let facts = self.machine.facts(&state);
        if n_words(&facts) > MAX_WORDS {
            return Err(Failure::TooMuch);
        }
        let counts: Vec<Option<u32>> =
            self.counters.iter().map(|counter| count(&facts, counter)).collect();
        let mut facts: BTreeSet<Expression> = facts.into_iter().collect();
        facts.retain(|fact| !is_of(fact, &self.folded));
        let number = *self.numbers.entry(facts.clone()).or_insert(self.states.len());
        if number == self.states.len() {
            match self.states.first() {
                None => self.common = facts.clone(),
                Some(_) => self.common.retain(|fact| facts.contains(fact)),
            }
            let n_most = self.states.first().map_or(0, |first| first.facts.len()).max(facts.len());
            if self.states.len() == MAX_STATES || n_most - self.common.len() > MAX_OWN {
                return Err(Failure::TooMuch);
            }
            self.states.push(GameState { facts, continuation: Continuation::default() });
            self.counted.push(Vec::new());
        }
        let (key, counted) = (self.machine.key(&state), &mut self.counted[number]);
        if counted.len() < N_COUNTS && !counted.contains(&key) {
            counted.push(key);
            self.open.push_back(OpenState { state, number, counts: counts.clone() });
        }
        Ok((number, counts))
    }
}
