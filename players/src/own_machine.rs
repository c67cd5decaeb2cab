//! The reasoner that a player gets for a match.

use games::StateMachine;

/// A reasoner of a player's own. It may be made only when the player takes it, since
/// making one takes longer than a whole match of players that need none.
pub struct OwnMachine(Source);

enum Source {
    Made(Box<dyn StateMachine>),
    Later(Box<dyn FnOnce() -> Box<dyn StateMachine> + Send>),
}

impl OwnMachine {
    /// A reasoner that `make` makes if the player takes it.
    pub fn later(make: impl FnOnce() -> Box<dyn StateMachine> + Send + 'static) -> Self {
        Self(Source::Later(Box::new(make)))
    }

    /// The reasoner.
    #[must_use]
    pub fn take(self) -> Box<dyn StateMachine> {
        match self.0 {
            Source::Made(machine) => machine,
            Source::Later(make) => make(),
        }
    }
}

impl From<Box<dyn StateMachine>> for OwnMachine {
    fn from(machine: Box<dyn StateMachine>) -> Self {
        Self(Source::Made(machine))
    }
}
