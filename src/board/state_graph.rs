//! The states of a small game, and the moves between them.
//!
//! Facts that count steps tell no two states apart here, as long as nothing but the end of the
//! game depends on the count.

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

/// Maximum number of facts of a state that not all states have: more make no short name.
const MAX_OWN: usize = 8;

/// Steps of reasoning for one question.
const MAX_STEPS: u64 = 1_000_000;

/// States that differ in the count only, of which each is looked at.
const N_COUNTS: usize = 3;

/// Every state that play can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateGraph {
    /// The initial one first, then by their distance from it.
    pub(super) states: Vec<GameState>,
    /// Relations of one argument that seem to count steps.
    counters: BTreeSet<String>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GameState {
    /// All but those that count steps.
    pub(super) facts: BTreeSet<Expression>,
    pub(super) stage: Stage,
}

/// How the game goes on from a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
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
    /// differ in too many facts, or they cannot be computed.
    pub(super) fn find(game: &Game, positions: &[Vec<Expression>]) -> Option<Self> {
        let mut unary = relations_of(1..=1, &[], positions);
        for rows in unary.values_mut() {
            rows.played.resize(positions.len(), vec![]);
        }
        let counters = unary.iter().filter(|(_, rows)| counts::is_counter(rows));
        let counters: BTreeSet<String> = counters.map(|(name, _)| name.0.to_owned()).collect();
        let (states, counters) = Self::states(game, &counters).zip(Some(counters))?;
        Some(Self { states, counters })
    }

    fn states(game: &Game, counters: &BTreeSet<String>) -> Option<Vec<GameState>> {
        let explored =
            |counters: &BTreeSet<String>| Explorer::new(game, counters)?.explore().ok()?;
        let found = explored(counters);
        // More may depend on the count than the end of the game.
        found.or_else(|| (!counters.is_empty()).then(|| explored(&BTreeSet::new())).flatten())
    }

    /// Whether a fact seems to count steps.
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

/// The states found so far.
struct Explorer<'a> {
    counters: &'a BTreeSet<String>,
    machine: Prover,
    states: Vec<GameState>,
    numbers: BTreeMap<BTreeSet<Expression>, usize>,
    /// The facts that all states have, and whether some state has too many others.
    common: BTreeSet<Expression>,
    has_too_many: bool,
    /// By state: those that differ from it in the count only.
    counted: Vec<Vec<StateKey>>,
    /// States that are still to be looked at, with their numbers.
    open: VecDeque<(State, usize)>,
    n_joint_moves: usize,
}

impl<'a> Explorer<'a> {
    fn new(game: &Game, counters: &'a BTreeSet<String>) -> Option<Self> {
        let guards = Guards { max_steps: MAX_STEPS, ..Guards::default() };
        let machine = Prover::new(Arc::new(game.clone()), guards).ok()?;
        Some(Self {
            counters,
            machine,
            states: vec![],
            numbers: BTreeMap::new(),
            common: BTreeSet::new(),
            has_too_many: false,
            counted: vec![],
            open: VecDeque::new(),
            n_joint_moves: 0,
        })
    }

    /// All states; `None` if there are too many, or some depend on the count.
    fn explore(mut self) -> Result<Option<Vec<GameState>>, ReasoningError> {
        let initial = self.machine.initial_state()?;
        self.number(initial);
        let mut is_known = Vec::new();
        while let Some((state, number)) = self.open.pop_front() {
            let Some(stage) = self.stage(&state)? else { return Ok(None) };
            is_known.resize(self.states.len(), false);
            let known = &mut self.states[number].stage;
            if !is_known[number] {
                (*known, is_known[number]) = (stage, true);
            } else if *known != stage {
                return Ok(None);
            }
        }
        Ok(Some(self.states))
    }

    /// How the game goes on from a state; `None` if that is too much.
    fn stage(&mut self, state: &State) -> Result<Option<Stage>, ReasoningError> {
        let roles: Vec<_> = self.machine.game().role_ids().collect();
        if self.machine.is_terminal(state)? {
            let reward = |&role| Ok(self.machine.goal(state, role)?.unique().map(Goal::value));
            let rewards = roles.iter().map(reward).collect::<Result<_, ReasoningError>>()?;
            return Ok(Some(Stage { rewards: Some(rewards), ..Stage::default() }));
        }
        let mut legal = vec![Vec::new(); roles.len()];
        for (role, moves) in roles.iter().zip(&mut legal) {
            self.machine.legal_moves(state, *role, moves)?;
        }
        let n_joint = n_joint_moves(&legal);
        self.n_joint_moves = self.n_joint_moves.saturating_add(n_joint);
        if n_joint == 0 || self.n_joint_moves > MAX_JOINT_MOVES {
            return Ok(None);
        }
        let mut ways = Vec::with_capacity(n_joint);
        for number in 0..n_joint as u64 {
            let mut joint_move = Vec::new();
            push_joint_move(&legal, number, &mut joint_move);
            let mut next = State::default();
            self.machine.next_state(state, &joint_move, &mut next)?;
            let to = self.number(next);
            if self.states.len() > MAX_STATES || self.has_too_many {
                return Ok(None);
            }
            let index = |(moves, played): (&Vec<MoveId>, &MoveId)| {
                moves.iter().position(|one| one == played).unwrap_or(0)
            };
            ways.push(JointWay { moves: legal.iter().zip(&joint_move).map(index).collect(), to });
        }
        let text = |&id: &MoveId| self.machine.move_expression(id);
        let legal = legal.iter().map(|moves| moves.iter().map(text).collect()).collect();
        Ok(Some(Stage { legal, ways, rewards: None }))
    }

    /// The number of a state, which is looked at later if it is new, or differs in the count.
    fn number(&mut self, state: State) -> usize {
        let mut facts: BTreeSet<Expression> = self.machine.facts(&state).into_iter().collect();
        facts.retain(|fact| !is_of(fact, self.counters));
        let number = *self.numbers.entry(facts.clone()).or_insert(self.states.len());
        if number == self.states.len() {
            match self.states.first() {
                None => self.common = facts.clone(),
                Some(_) => self.common.retain(|fact| facts.contains(fact)),
            }
            let n_most = self.states.first().map_or(0, |first| first.facts.len()).max(facts.len());
            self.has_too_many |= n_most - self.common.len() > MAX_OWN;
            self.states.push(GameState { facts, stage: Stage::default() });
            self.counted.push(Vec::new());
        }
        let (key, counted) = (self.machine.key(&state), &mut self.counted[number]);
        if counted.len() < N_COUNTS && !counted.contains(&key) {
            counted.push(key);
            self.open.push_back((state, number));
        }
        number
    }
}
