//! Perfect play: the moves that are best by a table of all states.
//!
//! The table comes from `gamemaster solve`. Without one the player solves the game itself
//! before its first move (`games::solve`), if time and memory suffice, and else plays at
//! random and says so.

mod solving;

use std::sync::Arc;

use games::solve::best_play::{LookUpError, Values, check_game};
use games::solve::{Phase, SolveError, Solver, ValueTable};
use games::{MoveId, ReasoningError, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use self::solving::{Solving, early};
use crate::endgames::known_move;
use crate::kind::PlayerKind;
use crate::options::{OptionSpec, TABLE};
use crate::search::track::Track;
use crate::seed;
use crate::{Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn};

/// The perfect player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "perfect",
    summary: "Plays a best move by the table of a solved game; uses the mixed strategy where roles \
              choose at the same time.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const TABLE_OPTION: OptionSpec = OptionSpec {
    name: "table",
    accepts: TABLE,
    default: "none",
    help: "Play by this table. Without one the player solves the game during the start clock and the \
           play clocks, and moves at random until it is solved.",
};

const MEMORY: OptionSpec = OptionSpec {
    name: "memory",
    accepts: "a size from 1MiB, such as \"512MiB\"",
    default: "\"1GiB\"",
    help: "Maximum memory for solving a game without a table. The memory of a match may be freed only a \
           few seconds after it, so matches in a row may need twice as much for a moment.",
};

const OPTIONS: &[OptionSpec] = &[TABLE_OPTION, MEMORY];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    Ok(Box::new(Perfect {
        given: reader.table(TABLE_OPTION.name)?,
        memory_bytes: reader.bytes(MEMORY.name, 1 << 20, 1 << 30)? as u64,
        seed,
        rng: seed::generator(0, seed),
        track: None,
        own: Own::Nothing,
        deliberation: None,
    }))
}

/// What the player knows by solving the game itself.
enum Own {
    Nothing,
    /// There is time for more of it.
    Begun(Box<Solver>),
    /// Its current step is not finished.
    AtWork(Solving),
    Solved(Box<Solver>),
    /// Why there is no table.
    Failed(String),
}

struct Perfect {
    given: Option<Arc<ValueTable>>,
    memory_bytes: u64,
    seed: Option<i64>,
    rng: Pcg64,
    track: Option<Track>,
    own: Own,
    deliberation: Option<Deliberation>,
}

impl Perfect {
    /// Solves the game as far as `stop` allows; counts the states that it expands as nodes.
    fn solve(&mut self, stop: &Stop) -> Result<(), Failure> {
        let Some(track) = &self.track else { return Ok(()) };
        if self.given.is_some() {
            return Ok(());
        }
        if let Own::Nothing = self.own {
            let solver = Solver::one_by_one(track.machine.fork(), self.memory_bytes);
            self.own = match solver {
                Ok(solver) => Own::Begun(Box::new(solver)),
                Err(error) => return self.fail(error),
            };
        }
        let mut nodes = 0;
        let last_step = early(stop);
        loop {
            let solving = match std::mem::replace(&mut self.own, Own::Nothing) {
                Own::Begun(solver) if solver.progress().phase == Phase::Done => {
                    self.own = Own::Solved(solver);
                    return Ok(());
                }
                Own::Begun(solver) if last_step.is_due(nodes) => {
                    self.own = Own::Begun(solver);
                    return Ok(());
                }
                Own::Begun(solver) => match Solving::begin(solver, &last_step) {
                    Ok(solving) => solving,
                    Err(error) => {
                        let why = format!("the game is not solved: no thread for it: {error}");
                        self.own = Own::Failed(why);
                        return Ok(());
                    }
                },
                Own::AtWork(solving) => solving,
                other => {
                    self.own = other;
                    return Ok(());
                }
            };
            let outcome = solving.wait(stop, &mut nodes);
            if let Some(deliberation) = &mut self.deliberation {
                deliberation.nodes = nodes;
            }
            match outcome {
                Ok(Ok(solver)) => self.own = Own::Begun(solver),
                Ok(Err(error)) => return self.fail(error),
                Err(solving) => {
                    self.own = Own::AtWork(solving);
                    return Ok(());
                }
            }
        }
    }

    fn fail(&mut self, error: SolveError) -> Result<(), Failure> {
        match error {
            SolveError::Reasoning(ReasoningError::Cancelled) => {
                self.own = Own::Nothing;
                Ok(())
            }
            SolveError::Reasoning(error) => Err(error.into()),
            SolveError::Memory { .. } | SolveError::NoMove { .. } => {
                self.own = Own::Failed(format!("the game is not solved: {error}"));
                Ok(())
            }
            error => Err(Failure::Unsuitable(error.to_string())),
        }
    }

    /// A move by the table.
    fn look_up(&mut self, state: &State, legal: &[MoveId]) -> Result<Option<MoveId>, Failure> {
        let note = |player: &mut Self, note: String| {
            if let Some(deliberation) = &mut player.deliberation {
                deliberation.notes.push(format!("{note}; the move is random"));
            }
            Ok(None)
        };
        let known: &dyn Values = match (&self.given, &self.own) {
            (Some(table), _) => &**table,
            (None, Own::Solved(solver)) => &**solver,
            (None, Own::Failed(why)) => {
                let why = why.clone();
                return note(self, why);
            }
            (None, Own::Nothing | Own::Begun(_) | Own::AtWork(_)) => {
                return note(self, "the game is not solved yet".to_owned());
            }
        };
        let Some(track) = &mut self.track else { return Ok(None) };
        match known_move(&mut *track.machine, track.role, known, state, &mut self.rng) {
            Ok((action, said)) => {
                if let Some(deliberation) = &mut self.deliberation {
                    let nodes = deliberation.nodes.max(said.nodes);
                    *deliberation = Deliberation { nodes, ..said };
                }
                Ok(action.filter(|id| legal.contains(id)))
            }
            Err(LookUpError::Reasoning(ReasoningError::Cancelled)) => Ok(None),
            Err(LookUpError::Reasoning(error)) => Err(error.into()),
            Err(error) => note(self, error.to_string()),
        }
    }
}

impl Player for Perfect {
    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        match &self.given {
            Some(table) => {
                let checked = check_game(&*machine, table);
                checked.map_err(|error| Failure::Unsuitable(error.to_string()))
            }
            None => match Solver::one_by_one(machine, self.memory_bytes) {
                Ok(_) => Ok(()),
                Err(error) => self.fail(error),
            },
        }
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.deliberation = Some(Deliberation::default());
        self.own = Own::Nothing;
        self.rng = seed::generator(seat.seed, self.seed);
        let track = Track::new(seat, KIND.name)?;
        if self.given.is_some() {
            self.check(track.machine.fork())?;
        }
        let track = self.track.insert(track);
        track.begin(stop)?;
        self.solve(stop)
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(track) = &mut self.track else { return Ok(fallback) };
        let Some(state) = track.follow(turn, stop)? else { return Ok(fallback) };
        // That a state has no value may be found late; the match goes on without a table.
        match self.solve(stop) {
            Err(Failure::Unsuitable(reason)) => {
                self.own = Own::Failed(format!("the game is not solved: {reason}"));
            }
            done => done?,
        }
        if turn.legal.len() == 1 {
            return Ok(fallback);
        }
        Ok(self.look_up(&state, turn.legal)?.unwrap_or(fallback))
    }

    fn abort(&mut self) {
        self.track = None;
        self.own = Own::Nothing;
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}
