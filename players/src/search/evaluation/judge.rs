//! An evaluation function with what it knows of a match, for searches that hold states and not
//! frames.

use games::{RoleId, State, StateMachine};

use super::{CutOff, EvaluationFunction, EvaluationMemory};
use crate::Failure;
use crate::search::frame::Frame;
use crate::search::{Halt, Stopwatch};

/// Evaluates states of a match.
#[derive(Debug)]
pub(crate) struct Judge {
    function: EvaluationFunction,
    memory: EvaluationMemory,
    /// Room for the state that is evaluated, in a match.
    frame: Option<Frame>,
}

impl Judge {
    /// By this function.
    pub(crate) fn new(function: EvaluationFunction) -> Self {
        Self { function, memory: EvaluationMemory::default(), frame: None }
    }

    /// Fails if the function cannot evaluate states of this machine.
    pub(crate) fn check(&self, machine: &dyn StateMachine) -> Result<(), Failure> {
        self.function.refusal(machine).map_or(Ok(()), |reason| Err(Failure::Unsuitable(reason)))
    }

    /// Forgets the match.
    pub(crate) fn forget(&mut self) {
        (self.memory, self.frame) = (EvaluationMemory::default(), None);
    }

    /// A search begins, in one of these states.
    pub(crate) fn begin<'s>(
        &mut self,
        machine: &dyn StateMachine,
        states: impl IntoIterator<Item = &'s State>,
    ) {
        self.memory.begin(&self.function, machine, states);
    }

    /// The value of a state that is not terminal for `role`, from 0 to 100.
    ///
    /// # Errors
    /// If the search must stop, or the reasoner fails.
    pub(crate) fn value(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        role: RoleId,
        stopwatch: &mut Stopwatch<'_>,
    ) -> Result<f64, Halt> {
        let n_roles = machine.game().roles().len();
        let frame = self.frame.get_or_insert_with(|| Frame::new(n_roles));
        frame.begin(state);
        let memory = &mut self.memory;
        let mut cut_off = CutOff { machine, above: None, frame, role, memory, stopwatch };
        cut_off.score(&self.function)
    }
}
