//! A worker's workspace for one game: a reasoner, the position of the match that is
//! being played, and buffers that outlive the match.

use std::sync::Arc;

use games::{
    Cancel, Cursor, Expression, Goal, MoveId, ReasoningError, RoleId, State, StateMachine,
};
use results::record::{Ending, GoalFlag, RuleDefect};

use super::{GoalConflict, PreparedGame};
use crate::explanation::Names;

/// Moves with larger ids are turned to text anew each time.
const MAX_CACHED_MOVES: usize = 1 << 16;

pub(crate) struct Workspace {
    pub(crate) prepared: Arc<PreparedGame>,
    pub(crate) machine: Box<dyn StateMachine>,
    pub(crate) n_roles: usize,
    pub(crate) percepts: bool,
    pub(crate) hidden_information: bool,
    /// The position of the match.
    pub(crate) cursor: Box<dyn Cursor>,
    /// Legal moves by role.
    pub(crate) legal: Vec<Vec<MoveId>>,
    /// The joint move of the step being played.
    pub(crate) joint: Vec<MoveId>,
    texts: Vec<Option<MoveText>>,
    /// The last move in writing of those whose text is not kept.
    last_text: Option<MoveText>,
}

/// What a terminal state is worth, in role order.
#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) rewards: Vec<u8>,
    pub(crate) goal_flags: Vec<(u32, GoalFlag)>,
}

/// A move in writing.
pub(crate) struct MoveText {
    pub(crate) text: Arc<str>,
    pub(crate) expression: Arc<Expression>,
}

impl MoveText {
    fn new(expression: Expression) -> Self {
        Self { text: expression.to_string().into(), expression: Arc::new(expression) }
    }
}

impl Names for Workspace {
    fn action(&mut self, id: MoveId) -> Arc<str> {
        Arc::clone(&self.text(id).text)
    }

    fn role(&self, role: RoleId) -> &str {
        self.prepared.game.role_name(role)
    }
}

impl Workspace {
    /// A workspace whose computations end when `cancel` is raised.
    pub(crate) fn new(prepared: &Arc<PreparedGame>, cancel: &Cancel) -> Self {
        let game = &prepared.game;
        let mut machine = prepared.fork();
        machine.set_cancel(cancel.clone());
        let mut cursor = machine.cursor(&State::default());
        cursor.set_cancel(cancel.clone());
        let n_roles = game.roles().len();
        Self {
            prepared: Arc::clone(prepared),
            machine,
            cursor,
            n_roles,
            percepts: game.kind().percepts,
            hidden_information: game.kind().hidden_information,
            legal: vec![Vec::new(); n_roles],
            joint: Vec::with_capacity(n_roles),
            texts: Vec::new(),
            last_text: None,
        }
    }

    /// Works out the legal moves of all roles. `Some(role)` has none.
    pub(crate) fn find_legal_moves(&mut self) -> Result<Option<usize>, ReasoningError> {
        for (role, moves) in self.legal.iter_mut().enumerate() {
            moves.clear();
            moves.extend(self.cursor.legal_moves(role_id(role))?.iter());
            if moves.is_empty() {
                return Ok(Some(role));
            }
        }
        Ok(None)
    }

    /// Makes the joint move.
    pub(crate) fn advance(&mut self) -> Result<(), ReasoningError> {
        self.cursor.play(&self.joint)?;
        self.cursor.forget_way();
        Ok(())
    }

    /// A move in writing.
    pub(crate) fn text(&mut self, id: MoveId) -> &MoveText {
        let index = id.0 as usize;
        if index >= MAX_CACHED_MOVES {
            return self.last_text.insert(MoveText::new(self.machine.move_expression(id)));
        }
        if self.texts.len() <= index {
            self.texts.resize_with(index + 1, || None);
        }
        self.texts[index].get_or_insert_with(|| MoveText::new(self.machine.move_expression(id)))
    }

    pub(crate) fn role_name(&self, role: usize) -> &str {
        let game = &self.prepared.game;
        game.symbols().name(game.roles()[role])
    }

    /// The worth of the position, which is terminal. The goals of roles
    /// for which `counts` is false do not matter, so they get no flags.
    pub(crate) fn score(
        &mut self,
        conflict: GoalConflict,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Score, Ending> {
        let mut score = Score::default();
        for role in 0..self.n_roles {
            let reading = self.cursor.goal(role_id(role)).map_err(|error| broken(&error))?;
            let mut flag = |flag| {
                if counts(role) {
                    score.goal_flags.push((u32::try_from(role).expect("few roles"), flag));
                }
            };
            let smallest = reading.values.iter().min().copied();
            // A value left out because it is no number is a value all the same.
            let n_values = reading.values.len() + usize::from(reading.unreadable);
            if smallest.is_none() {
                flag(GoalFlag::GoalMissing);
            } else if n_values > 1 {
                if conflict == GoalConflict::Error && counts(role) {
                    let role = self.role_name(role).to_owned();
                    return Err(Ending::GameError { reason: RuleDefect::SeveralGoals { role } });
                }
                flag(GoalFlag::GoalConflict);
            }
            if reading.clamped {
                flag(GoalFlag::GoalClamped);
            }
            score.rewards.push(smallest.unwrap_or(Goal::MIN).value());
        }
        Ok(score)
    }
}

pub(crate) fn role_id(role: usize) -> RoleId {
    RoleId(u8::try_from(role).expect("validation admits at most 255 roles"))
}

/// The end of a match whose rules cannot be computed.
pub(crate) fn broken(error: &ReasoningError) -> Ending {
    if *error == ReasoningError::Cancelled {
        return Ending::interrupted();
    }
    Ending::GameError { reason: RuleDefect::NotComputable { detail: error.to_string() } }
}
