//! A state as text: what `state` and `trace` print.

use games::{Game, Goal, GoalReading, MoveId, ReasoningError, State, StateMachine};
use serde::{Serialize, Serializer};

/// A value for each role, written as a JSON object in the order of the roles.
#[derive(Clone, Debug)]
pub(super) struct ByRole<T> {
    roles: Vec<String>,
    pub(super) values: Vec<T>,
}

impl<T> ByRole<T> {
    pub(super) fn new(game: &Game, values: Vec<T>) -> Self {
        Self { roles: role_names(game), values }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.roles.iter().map(String::as_str).zip(&self.values)
    }
}

impl<T: Serialize> Serialize for ByRole<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// What the rules say of a state. Lists of texts are sorted by code point.
#[derive(Debug)]
pub(super) struct View {
    pub(super) facts: Vec<String>,
    /// None in a terminal state.
    pub(super) legal: Option<ByRole<Vec<String>>>,
    pub(super) terminal: bool,
    /// None where the rules give no goal, several, or an invalid one.
    pub(super) goals: ByRole<Option<u8>>,
    /// All goals that the rules give, ascending.
    pub(super) values: ByRole<Vec<u8>>,
}

impl View {
    pub(super) fn of(
        machine: &mut dyn StateMachine,
        state: &State,
    ) -> Result<Self, ReasoningError> {
        let facts = sorted(machine.facts(state).iter().map(ToString::to_string));
        let terminal = machine.is_terminal(state)?;
        let game = std::sync::Arc::clone(machine.game());
        let legal = if terminal { None } else { Some(legal(machine, state, &game)?) };
        let readings = game.role_ids().map(|role| machine.goal(state, role));
        let readings: Vec<GoalReading> = readings.collect::<Result<_, _>>()?;
        let unique = |it: &GoalReading| it.unique().map(Goal::value);
        let all = |it: &GoalReading| it.values.iter().map(|goal| goal.value()).collect();
        let goals = ByRole::new(&game, readings.iter().map(unique).collect());
        let values = ByRole::new(&game, readings.iter().map(all).collect());
        Ok(Self { facts, legal, terminal, goals, values })
    }
}

fn legal(
    machine: &mut dyn StateMachine,
    state: &State,
    game: &Game,
) -> Result<ByRole<Vec<String>>, ReasoningError> {
    let mut moves: Vec<MoveId> = Vec::new();
    let mut legal = Vec::new();
    for role in game.role_ids() {
        machine.legal_moves(state, role, &mut moves)?;
        legal.push(sorted(moves.iter().map(|&id| machine.move_expression(id).to_string())));
    }
    Ok(ByRole::new(game, legal))
}

/// The percepts of all roles of the step from `state` by `joint_move`.
pub(super) fn percepts(
    machine: &mut dyn StateMachine,
    state: &State,
    joint_move: &[MoveId],
) -> Result<ByRole<Vec<String>>, ReasoningError> {
    let game = std::sync::Arc::clone(machine.game());
    let percepts = game.role_ids().map(|role| {
        let percepts = machine.percepts(state, joint_move, role)?;
        Ok(sorted(percepts.iter().map(ToString::to_string)))
    });
    Ok(ByRole::new(&game, percepts.collect::<Result<_, _>>()?))
}

pub(super) fn role_names(game: &Game) -> Vec<String> {
    game.role_ids().map(|role| game.role_name(role).to_owned()).collect()
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts
}
