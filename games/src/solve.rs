//! Solving: the exact value of every state that play can reach.
//!
//! ```text
//! Game -> Solver: level after level of new states (forwards)
//!      -> values of the last level, then of the one before (backwards)
//!      -> ValueTable
//! ```
//!
//! Level N contains the states that N steps reach and fewer do not. States are compact
//! words (`words`), expanded 512 at a time (`lanes`) or one by one (`expand`), and kept
//! in shards by their hash (`store`, `blocks`). Values go backwards (retrograde analysis:
//! Bellman 1965; Ströhlein 1970; Thompson 1986): where the depth of a state follows from
//! its facts, once from the last level to the first; elsewhere again and again until no
//! value changes. What a state is worth is defined in [`choice::resolve`].
//!
//! A play that never ends, which GDL forbids but rules may allow, gives each role an
//! equal share of the rewards if their sum is the same in all terminal states, and else
//! 0. A state has that value unless some role can do better by force.
//!
//! Nothing here reads a clock or a file or starts a thread: the caller repeats
//! [`Solver::step`] and lends its threads as a [`Crew`].

pub mod best_play;
mod blocks;
mod checkpoint;
pub mod choice;
mod crew;
mod expand;
mod foresight;
mod keys;
mod lanes;
mod levels;
pub mod matrix;
pub mod proof;
mod saving;
mod state_numbers;
mod store;
mod successor_numbers;
mod table;
mod values;
mod words;

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

pub use checkpoint::ResumeError;
pub use crew::{Alone, Crew, Task};
pub use table::{GameHash, Summary, TableError, ValueTable};

use self::blocks::ROUND_STATES;
use self::checkpoint::SegmentKind;
use self::expand::OneByOne;
use self::keys::{FactKeys, Numbered};
use self::levels::{Levels, Run, Setup, Stopped};
use self::state_numbers::StateNumbers;
use self::words::{Encoding, Grading, Samples};
use crate::compiled_network::CompiledNetwork;
use crate::grounding::{GroundingError, GroundingLimits, ground};
use crate::{
    Cancel, Expression, Game, Guards, ReasoningError, RoleId, State, StateKey, StateMachine,
};

/// Maximum number of words of a state; longer ones are solved one by one.
const MAX_WORDS: usize = 8;

/// States of a step that computes one after the other, so that a step takes little time.
const ONE_BY_ONE_STATES: usize = 32;

/// Maximum number of gates of a network that is expanded side by side: compiling more takes long.
const MAX_GATES: usize = 120_000;

/// Why a game cannot be solved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// Players do not know the state, so that states have no value.
    #[error(
        "the game has hidden information, so backward induction cannot solve it; the player `cfr` solves small games of this kind"
    )]
    HiddenInformation,
    /// The states do not fit the memory.
    #[error(
        "the states need more than {} of memory; gave up at depth {depth}, after {}", size(*.limit_bytes), states(*.n_states)
    )]
    Memory {
        /// States reached so far.
        n_states: u64,
        /// The depth being expanded.
        depth: u32,
        /// The limit.
        limit_bytes: u64,
    },
    /// A role has no legal move in a state that is not terminal.
    #[error("`{role}` has no legal move in a state at depth {depth} that is not terminal")]
    NoMove {
        /// The role's name.
        role: String,
        /// Steps that lead to the state.
        depth: u32,
    },
    /// Roles choose at the same time and their rewards give no value.
    #[error("a state at depth {depth} has no value: several roles choose at the same time, several joint moves remain after removing dominated moves, and the game is not for two roles whose rewards sum to a constant; the state is {}", facts(.state))]
    NoValue {
        /// Steps that lead to the state.
        depth: u32,
        /// Its facts.
        state: Vec<Expression>,
    },
    /// Values went on changing: play may go in circles, and backward induction never ends.
    #[error(
        "play may repeat states without end, and the values still change after {sweeps} sweeps over all states"
    )]
    Unsettled {
        /// Sweeps that were made.
        sweeps: u32,
    },
    /// There are too many different rewards.
    #[error("terminal states have more than {limit} different combinations of rewards")]
    TooManyOutcomes {
        /// The limit.
        limit: usize,
    },
    /// The reasoner failed.
    #[error(transparent)]
    Reasoning(#[from] ReasoningError),
}

/// A number of states: `1 state`, `2 states`.
fn states(n: u64) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} state{plural}")
}

/// A number of bytes in the largest unit of which it is a multiple: `100MiB`.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "kB"),
    ];
    let unit = UNITS.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    match unit {
        Some((size, unit)) => format!("{}{unit}", bytes / size),
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}

fn facts(state: &[Expression]) -> String {
    state.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// What a solver is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reaching states, level by level.
    Reaching,
    /// Computing values, from the last level to the first.
    Valuing,
    /// All values are known.
    Done,
}

/// How far a solver has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// The level that it expands or values.
    pub level: u32,
    /// States reached so far.
    pub n_states: u64,
    /// Terminal states found so far.
    pub n_terminal: u64,
    /// States whose successors were computed so far, over all passes.
    pub n_expanded: u64,
    /// Successors computed so far, over all passes.
    pub n_successors: u64,
    /// States valued so far in this sweep.
    pub n_valued: u64,
    /// Sweeps begun over all states, 0 while reaching them.
    pub sweep: u32,
    /// Bytes of memory in use for states, tables and successors.
    pub n_bytes: u64,
    /// The most bytes in use at any time.
    pub most_bytes: u64,
    /// Bytes of a state in memory, without tables.
    pub state_bytes: u32,
}

/// States that are counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateClass {
    /// Fewest steps that lead to each of them.
    pub depth: u32,
    /// How many facts of each counted kind hold in them.
    pub counts: Vec<u32>,
    /// Their number.
    pub n_states: u64,
    /// The terminal ones among them.
    pub n_terminal: u64,
}

/// Best play in the initial state.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstMoves {
    /// By role: its legal moves in canonical order; none if the initial state is terminal.
    pub legal: Vec<Vec<Expression>>,
    /// By joint move, the last role's move changing first: the expected reward of each
    /// role after it, 0 for `random`.
    pub values: Vec<Vec<f64>>,
    /// The value of the state, and the probability of each move under best play.
    pub best: choice::Resolved,
}

/// Solves one game: repeat [`step`](Self::step) until it is done.
///
/// ```
/// use std::sync::Arc;
///
/// use games::solve::{Alone, Phase, Solver};
/// use games::{Cancel, Case, Leniency, library, validate};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = library::find("tic_tac_toe").ok_or("it is shipped")?.text;
/// let game = validate::read("tic_tac_toe", text, Case::Folded, Leniency::Strict).game;
/// let game = Arc::new(game.ok_or("it is valid")?);
/// let mut solver = Solver::new(&game, 1 << 30, 1, &Cancel::new())?;
/// while solver.progress().phase != Phase::Done {
///     solver.step(&Alone)?;
/// }
/// assert_eq!(solver.progress().n_states, 5478);
/// assert_eq!(solver.value(), [50.0, 50.0]);
/// # Ok(())
/// # }
/// ```
pub struct Solver {
    game: Arc<Game>,
    machine: Box<dyn StateMachine>,
    method: Method,
    memory_bytes: u64,
    n_workers: usize,
    /// Facts that broke their equations.
    forced: Vec<u32>,
    /// Whether the depth may be assumed to follow from the facts.
    may_grade: bool,
    /// Whether the checkpoint says how the run began.
    has_begun: bool,
    run: Box<dyn Run>,
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solver").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

/// What computes successors.
enum Method {
    /// Side by side.
    Lanes { program: Arc<CompiledNetwork>, samples: Samples },
    /// One by one.
    Machine,
}

impl Solver {
    /// A solver that uses at most about `memory_bytes` of memory, and at most `n_workers`
    /// threads of its caller. Grounding ends when `cancel` is raised.
    ///
    /// # Errors
    /// If the game has hidden information or cannot be computed.
    pub fn new(
        game: &Arc<Game>,
        memory_bytes: u64,
        n_workers: usize,
        cancel: &Cancel,
    ) -> Result<Self, SolveError> {
        if game.kind().hidden_information {
            return Err(SolveError::HiddenInformation);
        }
        let machine = crate::reasoner::choose(Arc::clone(game), Guards::default(), cancel)?.machine;
        let method = match ground(game, &GroundingLimits::default(), cancel) {
            Ok(network) if network.graph.n_ands() <= MAX_GATES => {
                let program = Arc::new(CompiledNetwork::new(Arc::new(network)));
                // What cannot be translated is interpreted.
                program.translate_beside();
                let samples = words::sample(&program);
                Method::Lanes { program, samples }
            }
            Err(GroundingError::Cancelled) => return Err(ReasoningError::Cancelled.into()),
            _ => Method::Machine,
        };
        Self::with_method(game, machine, method, memory_bytes, n_workers)
    }

    /// As [`new`](Self::new), but asks a state machine for one successor after the other,
    /// as for games that cannot be grounded.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn one_by_one(
        machine: Box<dyn StateMachine>,
        memory_bytes: u64,
    ) -> Result<Self, SolveError> {
        let game = Arc::clone(machine.game());
        if game.kind().hidden_information {
            return Err(SolveError::HiddenInformation);
        }
        Self::with_method(&game, machine, Method::Machine, memory_bytes, 1)
    }

    fn with_method(
        game: &Arc<Game>,
        mut machine: Box<dyn StateMachine>,
        method: Method,
        memory_bytes: u64,
        n_workers: usize,
    ) -> Result<Self, SolveError> {
        let (forced, may_grade) = (Vec::new(), true);
        let n_workers = n_workers.max(1);
        foresight::check(&mut *machine)?;
        let run = start(&mut *machine, &method, &forced, may_grade, memory_bytes, n_workers)?;
        let game = Arc::clone(game);
        let has_begun = false;
        Ok(Self {
            game,
            machine,
            method,
            memory_bytes,
            n_workers,
            forced,
            may_grade,
            has_begun,
            run,
        })
    }

    /// Does a part of the work, a fraction of a second of it.
    ///
    /// # Errors
    /// If the game cannot be solved; no further step is possible then.
    pub fn step(&mut self, crew: &dyn Crew) -> Result<(), SolveError> {
        match self.run.step(crew) {
            Ok(()) => return Ok(()),
            Err(Stopped::Error(error)) => return Err(error),
            // Assumptions that were refuted are dropped, and all begins again.
            Err(Stopped::Encoding(facts)) => {
                self.forced.extend(facts);
                if let Method::Lanes { .. } = self.method {
                    self.forced.sort_unstable();
                    self.forced.dedup();
                }
            }
            Err(Stopped::Grading) => self.may_grade = false,
        }
        self.restart()
    }

    /// As [`step`](Self::step), but expands and values at most this many states.
    ///
    /// # Errors
    /// As those of [`step`](Self::step).
    pub fn step_within(&mut self, crew: &dyn Crew, n_states: usize) -> Result<(), SolveError> {
        self.run.limit_step(n_states);
        self.step(crew)
    }

    /// Begins again with the assumptions that are left.
    fn restart(&mut self) -> Result<(), SolveError> {
        self.has_begun = false;
        self.run = start(
            &mut *self.machine,
            &self.method,
            &self.forced,
            self.may_grade,
            self.memory_bytes,
            self.n_workers,
        )?;
        Ok(())
    }

    /// Whether it can write checkpoints: not if states are computed one by one.
    #[must_use]
    pub fn can_save(&self) -> bool {
        self.run.can_save()
    }

    /// Appends to a checkpoint what is complete and not in it yet: levels of states while
    /// they are reached, and then levels of values. Takes the memory of one level.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Panics
    /// If it [cannot](Self::can_save).
    pub fn save(&mut self, out: &mut dyn Write) -> io::Result<()> {
        assert!(self.can_save(), "states are words");
        if !self.has_begun {
            checkpoint::write(out, SegmentKind::Begin, &self.identity())?;
            self.has_begun = true;
        }
        self.run.save(out)
    }

    /// Continues from a checkpoint, of which a killed process may have left the end
    /// half-written. Gives the number of its bytes that are whole; what is saved later must
    /// follow them. The table is the same as without an interruption, byte for byte.
    ///
    /// # Errors
    /// If reading fails, or the checkpoint is of another game or version, or damaged.
    ///
    /// # Panics
    /// If it [cannot](Self::can_save) write checkpoints.
    pub fn resume(&mut self, input: &mut dyn Read) -> Result<u64, ResumeError> {
        assert!(self.can_save(), "states are words");
        let mut n_bytes = 0;
        while let Some(segment) = checkpoint::read(input)? {
            if segment.kind == SegmentKind::Begin {
                let mut words = checkpoint::Words(&segment.words);
                let may_grade = words.one()? != 0;
                let n_forced = words.one()? as usize;
                let forced = words.many(n_forced)?.iter().map(|&fact| fact as u32);
                (self.forced, self.may_grade) = (forced.collect(), may_grade);
                self.restart().map_err(|_| ResumeError::Damaged)?;
                if !self.can_save() || self.identity() != segment.words {
                    return Err(ResumeError::Other);
                }
                self.has_begun = true;
            } else if self.has_begun {
                self.run.load(segment.kind, &segment.words)?;
            } else {
                return Err(ResumeError::Other);
            }
            n_bytes += segment.n_bytes;
        }
        if self.has_begun {
            self.run.ready();
        }
        Ok(n_bytes)
    }

    /// What a checkpoint's segments depend on: the assumptions, the format, the rules, the
    /// initial state and what its bits mean.
    fn identity(&self) -> Vec<u64> {
        /// Changes when checkpoints can no longer be continued.
        const VERSION: u64 = 2;
        let mut words = vec![u64::from(self.may_grade), self.forced.len() as u64];
        words.extend(self.forced.iter().map(|&fact| u64::from(fact)));
        let game = GameHash::of(&self.game).bits();
        words.extend([VERSION, game as u64, (game >> 64) as u64]);
        if let Method::Lanes { program, samples } = &self.method {
            let encoding = Encoding::new(program.network(), samples, &self.forced);
            words.extend(encoding.encode::<MAX_WORDS>(&program.network().initial_state()));
            words.extend(encoding.kept.iter().map(|&fact| u64::from(fact)));
            words.extend(encoding.derived.iter().map(|derived| u64::from(derived.fact)));
            let facts = encoding.kept.iter().map(|&fact| &program.network().facts[fact as usize]);
            let keys = facts.map(|fact| StateKey::of_fact(fact).bits());
            words.extend(keys.map(|bits| bits as u64));
        }
        words
    }

    /// How far it has come. The figures begin again if an assumption about the states
    /// was refuted.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.run.progress()
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// What computes the states: `lanes` (512 side by side) or `machine` (one by one).
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self.method {
            Method::Lanes { .. } => "lanes",
            Method::Machine => "machine",
        }
    }

    /// The expected reward of each role from the initial state, 0 for `random`.
    ///
    /// # Panics
    /// If it is not done.
    #[must_use]
    pub fn value(&self) -> Vec<f64> {
        assert_eq!(self.progress().phase, Phase::Done, "the game is solved");
        self.run.initial_value()
    }

    /// The expected reward of each role in a state of the machine that
    /// [`one_by_one`](Self::one_by_one) was given, or of a fork of it. `None` if play does
    /// not reach it, or states are solved side by side.
    ///
    /// # Panics
    /// If it is not done.
    #[must_use]
    pub fn value_of(&self, state: &State) -> Option<Vec<f64>> {
        assert_eq!(self.progress().phase, Phase::Done, "the game is solved");
        self.run.value(state)
    }

    /// The moves of the initial state, and which are best.
    ///
    /// # Errors
    /// If the reasoner fails.
    ///
    /// # Panics
    /// If it is not done.
    pub fn first_moves(&mut self) -> Result<FirstMoves, SolveError> {
        let value = self.value();
        let state = self.machine.initial_state()?;
        let roles: Vec<RoleId> = self.game.role_ids().collect();
        let mut legal = vec![Vec::new(); roles.len()];
        if self.machine.is_terminal(&state)? {
            let best = choice::Resolved { value, strategies: vec![Vec::new(); roles.len()] };
            return Ok(FirstMoves { legal, values: Vec::new(), best });
        }
        let mut moves = Vec::new();
        for (&role, legal) in roles.iter().zip(&mut legal) {
            self.machine.legal_moves(&state, role, &mut moves)?;
            *legal = moves.iter().map(|&id| self.machine.move_expression(id)).collect();
        }
        let values = self.run.first_values();
        let counts: Vec<usize> = legal.iter().map(Vec::len).collect();
        let chance = self.game.random().map(|role| usize::from(role.0));
        let best = choice::resolve(&counts, chance, &mut |at| &values[at]);
        let best = best.expect("the state was valued by the same rule");
        Ok(FirstMoves { legal, values, best })
    }

    /// By level: the number of its states, the terminal ones included.
    #[must_use]
    pub fn levels(&self) -> Vec<u64> {
        self.run.levels()
    }

    /// Whether the number of steps follows from the facts of each state, by an equation that
    /// was checked for all states reached. Then no state can come twice.
    #[must_use]
    pub fn steps_follow_from_facts(&self) -> bool {
        self.run.is_graded()
    }

    /// All reachable states by depth and, for each of `counted`, by the number of facts that
    /// it picks; in this order. Values need not be known.
    ///
    /// # Panics
    /// If states are still being reached.
    #[must_use]
    pub fn classes(&self, counted: &[&dyn Fn(&Expression) -> bool]) -> Vec<StateClass> {
        assert_ne!(self.progress().phase, Phase::Reaching, "all states are reached");
        self.run.classes(counted)
    }

    /// The table of all values. Frees what the solver no longer needs first.
    ///
    /// # Panics
    /// If it is not done.
    #[must_use]
    pub fn table(&mut self, crew: &dyn Crew) -> ValueTable {
        let progress = self.progress();
        assert_eq!(progress.phase, Phase::Done, "the game is solved");
        let summary = Summary {
            n_states: progress.n_states,
            n_terminal: progress.n_terminal,
            depth: self.levels().len() as u32 - 1,
        };
        let n_roles = self.game.roles().len();
        self.run.table(GameHash::of(&self.game), summary, n_roles, crew)
    }
}

/// Begins to solve, with states of as many words as the encoding needs.
fn start(
    machine: &mut dyn StateMachine,
    method: &Method,
    forced: &[u32],
    may_grade: bool,
    memory_bytes: u64,
    n_workers: usize,
) -> Result<Box<dyn Run>, SolveError> {
    if let Method::Lanes { program, samples } = method {
        let encoding = Encoding::new(program.network(), samples, forced);
        let grading = may_grade.then(|| Grading::new(&encoding, samples)).flatten();
        let facts = Facts { program: Arc::clone(program), encoding: Arc::new(encoding) };
        let setup = Setup {
            n_workers,
            grading,
            round_states: ROUND_STATES,
            has_words: true,
            ..setup(machine, memory_bytes)
        };
        let n_words = facts.encoding.n_words();
        let run: Box<dyn Run> = match n_words {
            1 => facts.start::<1>(setup),
            2 => facts.start::<2>(setup),
            3..=4 => facts.start::<4>(setup),
            5..=MAX_WORDS => facts.start::<MAX_WORDS>(setup),
            _ => return one_by_one(machine, memory_bytes),
        };
        return Ok(run);
    }
    one_by_one(machine, memory_bytes)
}

fn one_by_one(
    machine: &mut dyn StateMachine,
    memory_bytes: u64,
) -> Result<Box<dyn Run>, SolveError> {
    let mut numbers = StateNumbers::default();
    let first = numbers.number(&machine.initial_state()?).expect("it is the first");
    let numbers = Arc::new(Mutex::new(numbers));
    let expander = OneByOne::new(machine.fork(), &numbers, memory_bytes);
    let setup = setup(machine, memory_bytes);
    let keys = Numbered { machine: Mutex::new(expander), numbers: Arc::clone(&numbers) };
    let expander = OneByOne::new(machine.fork(), &numbers, memory_bytes);
    Ok(Box::new(Levels::<1>::new([first], vec![Box::new(expander)], Box::new(keys), setup)))
}

/// For one worker that computes one state after the other.
fn setup(machine: &dyn StateMachine, memory_bytes: u64) -> Setup {
    let game = machine.game();
    Setup {
        memory_bytes,
        n_workers: 1,
        chance: game.random().map(|role| usize::from(role.0)),
        roles: game.role_ids().map(|role| game.role_name(role).to_owned()).collect(),
        grading: None,
        round_states: ONE_BY_ONE_STATES,
        has_words: false,
    }
}

/// A network and the facts that its states keep.
struct Facts {
    program: Arc<CompiledNetwork>,
    encoding: Arc<Encoding>,
}

impl Facts {
    fn start<const N: usize>(self, setup: Setup) -> Box<dyn Run> {
        let expander = |_| lanes::expander(&self.program, &self.encoding);
        let expanders = (0..setup.n_workers).map(expander).collect();
        let initial = self.encoding.encode(&self.program.network().initial_state());
        let keys = FactKeys::new(&self.program, &self.encoding);
        Box::new(Levels::<N>::new(initial, expanders, Box::new(keys), setup))
    }
}
