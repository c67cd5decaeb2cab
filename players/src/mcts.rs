//! Monte-Carlo tree search: a tree that grows where play is promising, whose leaves are
//! judged by random playouts (Coulom 2006; UCT of Kocsis and Szepesvari, "Bandit based
//! Monte-Carlo planning", ECML 2006). It needs neither training nor knowledge of the game.
//!
//! - Every role maximises its own reward (Sturtevant, "An analysis of UCT in multi-player
//!   games", ICGA Journal 2008). Where several choose at the same time, each does so by its own
//!   figures (decoupled UCT; Finnsson and Bjoernsson 2008), or, two opposed roles, by regret
//!   matching ([`regret_matching`]). Chance is sampled evenly.
//! - Playouts run side by side, from many leaves at once ([`pass`], [`search`]), in several threads
//!   if wanted ([`team`]).
//! - Playouts choose among decisive moves where these are found ([`games::PlayoutMoves`]).
//! - They may prefer the moves that led to high rewards ([`move_averages`]).
//! - What is proven is never estimated again ([`proof`]), and ends the search. A table of a
//!   solved game or endgame proves the states that it has.
//! - The tree is kept from step to step, equal states are one node, and its memory is
//!   bounded ([`tree`], [`recycling`]).
//! - An evaluation may be learned while the start clock runs ([`self_play`]).
//! - In games of one role the best complete line that was seen is played ([`best_line`]).

mod answer;
mod best_line;
mod bounds;
mod estimate;
mod expansion;
mod move_averages;
mod pass;
mod proof;
#[cfg(test)]
mod properties;
mod recycling;
mod regret_matching;
mod roles;
mod search;
mod self_play;
#[cfg(test)]
mod solved_games;
mod team;
mod time_allocation;
mod tree;
mod visits;

use std::sync::Arc;
use std::time::Instant;

use games::solve::ValueTable;
use games::{MoveId, PlayoutMoves, ReasoningError, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use self::estimate::Estimator;
use self::move_averages::Preference;
use self::regret_matching::Simultaneous;
use self::search::{Search, Settings};
use crate::endgames::{SOLVED, check_table, move_of_table};
use crate::kind::PlayerKind;
use crate::learning::LinearEvaluation;
use crate::match_budget::{MATCH_NODES, MATCH_TIME, MatchBudget};
use crate::options::OptionSpec;
use crate::search::settings::PONDER;
use crate::search::track::Track;
use crate::{
    Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, seed, visit_tree,
};

/// The player of Monte-Carlo tree search.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "mcts",
    summary: "Grows a tree of the promising moves by random playouts, and proves what it can.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

/// The share of a start clock in which the value of the game may be proven, before anything is
/// learned: small games take a few milliseconds.
const SOON: f64 = 0.05;

const ITERATIONS: OptionSpec = OptionSpec {
    name: "iterations",
    accepts: "a whole number from 0",
    default: "0",
    help: "Iterations for each move: descents into the tree, each with up to `lanes` playouts. 0 for \
           as many as there is time for, and 10000 without a clock or node budget.",
};

const EXPLORATION: OptionSpec = OptionSpec {
    name: "exploration",
    accepts: "a number from 0 to 100",
    default: "0.2",
    help: "Exploration constant of UCT, for rewards from 0 to 1.",
};

const FIRST_PLAY: OptionSpec = OptionSpec {
    name: "first_play",
    accepts: "a number from -100 to 100",
    default: "0",
    help: "First-play urgency: an untried move counts as the mean reward of its position plus this \
           number, with rewards from 0 to 1. With 100, untried moves come first.",
};

const EXPANSION: OptionSpec = OptionSpec {
    name: "expansion",
    accepts: "a whole number from 1 to 1000000",
    default: "4",
    help: "Visits of a position after which its moves are added to the tree.",
};

const LEAVES: OptionSpec = OptionSpec {
    name: "leaves",
    accepts: "a whole number from 1 to 4096",
    default: "32",
    help: "Leaves whose playouts run side by side in each thread. Games that are too large for the \
           batch reasoner (docs/reasoner.md) use 1.",
};

const LANES: OptionSpec = OptionSpec {
    name: "lanes",
    accepts: "a whole number from 1 to 4096",
    default: "16",
    help: "Playouts from each leaf (not the lanes of `game bench`, the states of a batch). \
           `leaves` times `lanes` should be at most 512. Games that are too large for the batch \
           reasoner use 1.",
};

const MAX_LENGTH: OptionSpec = OptionSpec {
    name: "max_length",
    accepts: "a whole number from 1 to 1000000",
    default: "1000",
    help: "Steps after which a playout is stopped and counts 50.",
};

const MEMORY: OptionSpec = OptionSpec {
    name: "memory",
    accepts: "a size from 1MiB, such as \"512MiB\"",
    default: "\"1GiB\"",
    help: "Maximum memory of the tree; when it is full, the moves that are seldom tried are \
           forgotten.",
};

const EVALUATION: OptionSpec = OptionSpec {
    name: "evaluation",
    accepts: "\"auto\", \"none\" or \"learned:FILE\"",
    default: "\"auto\"",
    help: "What judges positions: `none`, random playouts; `learned:FILE`, the evaluation in a \
           file of `gamemaster train`; `auto`, an evaluation learned during the start clock if that \
           wins trial matches against random playouts.",
};

const EVALUATED_EXPLORATION: OptionSpec = OptionSpec {
    name: "evaluated_exploration",
    accepts: "a number from 0 to 100",
    default: "0.03",
    help: "Exploration constant where an evaluation judges positions.",
};

const EVALUATION_WEIGHT: OptionSpec = OptionSpec {
    name: "evaluation_weight",
    accepts: "a number from 0 to 1",
    default: "1",
    help: "Share of the evaluation, learned or from a file, in the value of a move; the rest is the \
           mean of playouts. With 1 there are no playouts.",
};

const PLAYOUT_MOVES: OptionSpec = OptionSpec {
    name: "playout_moves",
    accepts: "\"legal\" or \"decisive\"",
    default: "\"decisive\"",
    help: "Moves that playouts choose among: `legal`, all legal ones; `decisive`, those that win \
           immediately, else those after which no opponent wins immediately, else all. `decisive` \
           acts as `legal` where roles move at the same time or win together, where no move wins \
           immediately, and where it would need a network of more than 50,000 conjunctions, or of \
           more than 16 times as many as the game's own network.",
};

const PREFERENCE: OptionSpec = OptionSpec {
    name: "preference",
    accepts: "a number from 0 to 1",
    default: "0",
    help: "Probability that a playout makes one of the role's moves whose average reward in playouts \
           is high, where one is legal (MAST); 0 for uniformly random playouts. No effect in \
           games that are too large for the batch reasoner.",
};

const MARGIN: OptionSpec = OptionSpec {
    name: "margin",
    accepts: "a number from 0 to 1",
    default: "0.05",
    help: "For `preference`: how far the average reward of a move must be above that of all moves of \
           the role to count as high (rewards from 0 to 1).",
};

const SIMULTANEOUS: OptionSpec = OptionSpec {
    name: "simultaneous",
    accepts: "\"ucb\" or \"regret_matching\"",
    default: "\"ucb\"",
    help: "How to search simultaneous moves of two opposed roles, and to play them: `ucb`, by UCB1 for \
           each role, and play the move that was tried most often; `regret_matching`, draw the move \
           from a mixed strategy that approaches an equilibrium.",
};

const THREADS: OptionSpec = OptionSpec {
    name: "threads",
    accepts: "a whole number from 1 to 256",
    default: "1",
    help: "Threads that search one tree. With more than one, the same node budget and random seed may \
           give another move. Where an evaluation takes the place of playouts, one thread searches.",
};

const ALLOCATE_TIME: OptionSpec = OptionSpec {
    name: "allocate_time",
    accepts: "true or false",
    default: "false, or true with `match_time` or `match_nodes`",
    help: "Reply before the clock ends if no other move can be tried as often as the best one in \
           the time left.",
};

const OPTIONS: &[OptionSpec] = &[
    ITERATIONS,
    EXPLORATION,
    FIRST_PLAY,
    EXPANSION,
    LEAVES,
    LANES,
    MAX_LENGTH,
    MEMORY,
    EVALUATION,
    EVALUATED_EXPLORATION,
    EVALUATION_WEIGHT,
    PLAYOUT_MOVES,
    PREFERENCE,
    MARGIN,
    SIMULTANEOUS,
    THREADS,
    ALLOCATE_TIME,
    MATCH_TIME,
    MATCH_NODES,
    PONDER,
    SOLVED,
];

/// Descents where nothing else ends the search.
const UNLIMITED: u64 = 10_000;

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let count = |name, most, default| -> Result<usize, OptionError> {
        let count = reader.integer(name, 1..=most, default)?;
        Ok(usize::try_from(count).expect("the range was checked"))
    };
    let n_threads = reader.integer(THREADS.name, 1..=256, 1)? as usize;
    let settings = Settings {
        exploration: reader.float(EXPLORATION.name, 0.0..=100.0, 0.2)? as f32,
        first_play: reader.float(FIRST_PLAY.name, -100.0..=100.0, 0.0)? as f32,
        unexpanded: count(EXPANSION.name, 1_000_000, 4)? as u32,
        leaves: count(LEAVES.name, 4096, 32)?,
        lanes: count(LANES.name, 4096, 16)?,
        max_length: count(MAX_LENGTH.name, 1_000_000, 1000)? as u32,
        evaluated_exploration: reader.float(EVALUATED_EXPLORATION.name, 0.0..=100.0, 0.03)? as f32,
        playout_moves: reader.choice(
            PLAYOUT_MOVES.name,
            &[("legal", PlayoutMoves::Legal), ("decisive", PlayoutMoves::Decisive)],
            PlayoutMoves::Decisive,
        )?,
        preference: Preference {
            probability: reader.float(PREFERENCE.name, 0.0..=1.0, 0.0)?,
            margin: reader.float(MARGIN.name, 0.0..=1.0, 0.05)?,
        },
        simultaneous: reader.choice(
            SIMULTANEOUS.name,
            &[("ucb", Simultaneous::Ucb), ("regret_matching", Simultaneous::RegretMatching)],
            Simultaneous::Ucb,
        )?,
        memory: reader.bytes(MEMORY.name, 1 << 20, 1 << 30)?,
    };
    let weight = reader.float(EVALUATION_WEIGHT.name, 0.0..=1.0, 1.0)? as f32;
    let given = reader.learned(EVALUATION.name).map(|evaluation| (evaluation, weight));
    let learns = match given {
        Some(_) => false,
        None => reader.choice(EVALUATION.name, &[("auto", true), ("none", false)], true)?,
    };
    let seed = reader.seed()?;
    let budget = MatchBudget::read(&reader)?;
    let player = Mcts {
        iterations: reader.integer(ITERATIONS.name, 0..=i64::MAX, 0)?.cast_unsigned(),
        settings,
        given,
        learns,
        solved: reader.table(SOLVED.name)?,
        n_threads,
        allocates_time: reader.boolean(ALLOCATE_TIME.name, !budget.is_none())?,
        ponders: reader.boolean(PONDER.name, false)?,
        seed,
        rng: seed::generator(0, seed),
        seated: None,
        deliberation: None,
        recorded_nodes: None,
    };
    Ok(budget.limit(KIND.name, seed, player))
}

/// A player with its settings, and the match that it plays.
struct Mcts {
    /// Descents for each move; 0 if not limited.
    iterations: u64,
    settings: Settings,
    /// An evaluation from a file, with its weight.
    given: Option<(Arc<LinearEvaluation>, f32)>,
    /// Learns an evaluation in the start clock.
    learns: bool,
    /// Values that are known before any search.
    solved: Option<Arc<ValueTable>>,
    n_threads: usize,
    /// Replies once the move is decided.
    allocates_time: bool,
    ponders: bool,
    seed: Option<i64>,
    rng: Pcg64,
    seated: Option<Seated>,
    deliberation: Option<Deliberation>,
    /// Positions of the tree that are part of the report on a reply; none if it is `None`.
    recorded_nodes: Option<usize>,
}

/// A match: what follows it, and its search.
struct Seated {
    track: Track,
    search: Search,
    /// The reasoners of the other threads.
    machines: Vec<Box<dyn StateMachine>>,
}

impl Seated {
    /// Judges positions by an evaluation from now on.
    fn judge_by(&mut self, evaluation: &Arc<LinearEvaluation>, weight: f32) {
        let game = self.track.machine.game();
        self.search.set_estimator(Estimator::new(Arc::clone(evaluation), weight, game));
    }

    /// Thinks about a state, in all threads. Gives the root of the tree, or `None` if the
    /// computation was cancelled before anything was found.
    fn run(
        &mut self,
        state: &State,
        stop: &Stop,
        limit: u64,
    ) -> Result<Option<u32>, ReasoningError> {
        let Self { track, search, machines } = self;
        unless_cancelled(team::search(search, track.machine.as_mut(), machines, state, stop, limit))
    }

    /// Whether the value of a state is proven in the first part of the time to the deadline. If not,
    /// the tree is there for the search that follows.
    fn is_settled_soon(&mut self, state: &State, stop: &Stop) -> Result<bool, ReasoningError> {
        let Some(deadline) = stop.deadline() else { return Ok(false) };
        let now = Instant::now();
        let soon = now + deadline.saturating_duration_since(now).mul_f64(SOON);
        self.run(state, &stop.clone().at(soon), u64::MAX)?;
        Ok(self.search.is_settled())
    }

    /// The move to play at the root, and what was found of it.
    fn answer(&self, root: u32, rng: &mut Pcg64) -> (Option<MoveId>, Deliberation) {
        self.search.answer(root, self.track.role, rng)
    }
}

impl Player for Mcts {
    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let seed = seat.seed;
        let track = Track::new(seat, KIND.name)?;
        self.check_game(track.machine.as_ref())?;
        let game = track.machine.game();
        let machines = (1..self.n_threads).map(|_| track.machine.fork()).collect();
        let mut search = Search::new(game, self.settings, self.rng.clone());
        search.set_table(self.solved.clone());
        let seated = self.seated.insert(Seated { track, search, machines });
        let Some(state) = seated.track.begin(stop)? else { return Ok(()) };
        let is_over = unless_cancelled(seated.track.machine.is_terminal(&state))?.unwrap_or(true);
        let has_limit = stop.deadline().is_some() || stop.node_budget().is_some();
        if let Some((evaluation, weight)) = &self.given {
            seated.judge_by(evaluation, *weight);
        }
        if !has_limit || is_over {
            return Ok(());
        }
        let mut note = None;
        let n_strategic = seated.search.roles.strategic.len();
        if self.learns && n_strategic > 1 && !seated.is_settled_soon(&state, stop)? {
            let machine = seated.track.machine.as_ref();
            let learned = self_play::learn(machine, self.settings, seed, &mut self.rng, stop);
            if let Some(learned) = unless_cancelled(learned)? {
                if let Some(evaluation) = &learned.evaluation {
                    seated.judge_by(evaluation, 1.0);
                }
                note = learned.note;
            }
        }
        // The tree of the first question, begun early.
        let mut found = match seated.run(&state, stop, u64::MAX)? {
            Some(root) => seated.answer(root, &mut self.rng.clone()).1,
            None => Deliberation::default(),
        };
        found.notes.splice(0..0, note);
        self.deliberation = Some(found);
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(seated) = &mut self.seated else { return Ok(fallback) };
        let Some(state) = seated.track.follow(turn, stop)? else { return Ok(fallback) };
        if turn.legal.len() == 1 && !(self.ponders && stop.deadline().is_some()) {
            return Ok(fallback);
        }
        let Track { machine, role, .. } = &mut seated.track;
        let table = self.solved.as_deref();
        let known = move_of_table(&mut **machine, *role, table, &state, &mut self.rng)?;
        if let Some((action, said)) = known {
            self.deliberation = Some(said);
            return Ok(action);
        }
        let limit = match (self.iterations, stop.deadline(), stop.node_budget()) {
            (0, None, None) => UNLIMITED,
            (0, ..) => u64::MAX,
            (iterations, ..) => iterations,
        };
        let chooser = (self.allocates_time && turn.legal.len() > 1).then_some(seated.track.role);
        seated.search.reply_once_decided(chooser);
        let Some(root) = seated.run(&state, stop, limit)? else {
            return Ok(fallback);
        };
        let (action, mut deliberation) = seated.answer(root, &mut self.rng);
        let visits = |n| Arc::new(seated.search.visit_tree(root, seated.track.role, n));
        deliberation.visit_tree = self.recorded_nodes.map(visits);
        self.deliberation = Some(deliberation);
        Ok(action.filter(|action| turn.legal.contains(action)).unwrap_or(fallback))
    }

    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        self.check_game(machine.as_ref())
    }

    fn abort(&mut self) {
        self.seated = None;
    }

    /// The positions that were visited most.
    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        self.recorded_nodes = Some(max_nodes.unwrap_or(visit_tree::MAX_NODES));
        true
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}

impl Mcts {
    /// Whether the evaluation and the table, if there are any, are of this game.
    fn check_game(&self, machine: &dyn StateMachine) -> Result<(), Failure> {
        if let Some((evaluation, _)) = &self.given {
            let checked = evaluation.check(machine.game());
            checked.map_err(|error| Failure::Unsuitable(error.to_string()))?;
        }
        check_table(machine, self.solved.as_deref())
    }
}

/// `None` if the computation was cancelled.
fn unless_cancelled<T>(result: Result<T, ReasoningError>) -> Result<Option<T>, ReasoningError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(ReasoningError::Cancelled) => Ok(None),
        Err(error) => Err(error),
    }
}
