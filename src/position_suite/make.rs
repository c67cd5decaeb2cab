//! Positions of a solved game in which few moves are good, graded by depth.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use games::solve::best_play::{BestPlay, LookUpError, check_game};
use games::solve::{GameHash, ValueTable};
use games::split_mix::SplitMix;
use games::{Cancel, MoveId, ReasoningError, RoleId, State, StateMachine};
use toml::Value;

use super::depth::depth;

/// Candidates that are graded for each position that is wanted.
const CANDIDATES_PER_POSITION: usize = 12;

/// Walks through the game for each position that is wanted, at most.
const WALKS_PER_POSITION: usize = 400;

/// Steps of a walk, at most.
const MAX_STEPS: usize = 1000;

/// Difference of values that is none.
const TOLERANCE: f64 = 1e-6;

/// Which positions are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How many.
    pub n_positions: usize,
    /// Everything random derives from it.
    pub seed: u64,
    /// Good moves as a share of the legal moves, at most.
    pub max_good: f64,
    /// What any other move gives away, at least.
    pub min_loss: f64,
    /// Steps to look ahead, at most.
    pub max_depth: u32,
    /// States that may be expanded to find the depth of one position.
    pub max_nodes: u64,
}

/// Why no suite could be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The table belongs to other rules.
    #[error(transparent)]
    Table(#[from] LookUpError),
    /// The value of a state does not say how one role should move.
    #[error(
        "`{game}` is neither a game of one player nor one of two whose rewards sum to a constant; \
         only their positions can be graded"
    )]
    NotConstantSum {
        /// The game.
        game: String,
    },
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The reasoner failed.
    #[error(transparent)]
    Reasoning(#[from] ReasoningError),
}

/// A position of a solved game.
#[derive(Clone, Debug)]
pub struct MadePosition {
    /// The game's name.
    pub game: String,
    /// Where a suite has its rules from: the name of a shipped game, or the path of a
    /// rulesheet from the folder of the suite. [`make`] puts the game's name here.
    pub rulesheet: String,
    /// The rules, for the position's source.
    pub rules: GameHash,
    /// Whose move it is.
    pub role: String,
    /// The joint moves that lead there, as text of `--moves`.
    pub moves: String,
    /// The good moves, in canonical order.
    pub good: Vec<String>,
    /// What each move is worth, in canonical order.
    pub values: Vec<(String, f64)>,
    /// Its grade.
    pub depth: u32,
}

/// Selects positions of a solved game, whose tables serve as one: states of seeded walks, in
/// which moves are best or random, such that one player chooses, few of its moves are good,
/// and their grade is known. Grades are mixed as evenly as the game has them, and within a
/// grade positions with few good moves come first. The result is in the order of grades, and
/// may have fewer positions than wanted.
///
/// # Errors
/// If a table is of another game, or the game is neither of one player nor of two players
/// with a constant sum, or the rules cannot be computed, or `cancel` is raised.
pub fn make(
    machine: &mut dyn StateMachine,
    tables: &[Arc<ValueTable>],
    wanted: &Wanted,
    cancel: &Cancel,
) -> Result<Vec<MadePosition>, MakeError> {
    tables.iter().try_for_each(|table| check_game(machine, table))?;
    let game = Arc::clone(machine.game());
    let n_players = game.role_ids().filter(|&role| Some(role) != game.random()).count();
    if n_players != 1 && !(n_players == 2 && tables.iter().all(|table| table.is_constant_sum())) {
        return Err(MakeError::NotConstantSum { game: game.name().to_owned() });
    }
    let rules = GameHash::of(&game);
    let mut by_depth: BTreeMap<u32, Vec<(Candidate, MadePosition)>> = BTreeMap::new();
    for candidate in candidates(machine, tables, wanted, cancel)? {
        if cancel.is_cancelled() {
            return Err(MakeError::Interrupted);
        }
        let Candidate { state, role, good, .. } = &candidate;
        let is_good = |id| good.contains(&id);
        let (most, nodes) = (wanted.max_depth, wanted.max_nodes);
        let Some(depth) = depth(machine, state, *role, &is_good, most, nodes)? else { continue };
        let text = |id: MoveId| machine.move_expression(id).to_string();
        let position = MadePosition {
            game: game.name().to_owned(),
            rulesheet: game.name().to_owned(),
            rules,
            role: game.role_name(*role).to_owned(),
            moves: candidate.moves.clone(),
            good: good.iter().map(|&id| text(id)).collect(),
            values: candidate.values.iter().map(|&(id, value)| (text(id), value)).collect(),
            depth,
        };
        by_depth.entry(depth).or_default().push((candidate, position));
    }
    for graded in by_depth.values_mut() {
        graded.sort_by(|(one, _), (other, _)| one.share().total_cmp(&other.share()));
    }
    Ok(spread(by_depth, wanted.n_positions))
}

/// A position that is not graded yet.
struct Candidate {
    state: State,
    role: RoleId,
    moves: String,
    good: Vec<MoveId>,
    values: Vec<(MoveId, f64)>,
}

impl Candidate {
    /// Good moves as a share of the legal moves.
    fn share(&self) -> f64 {
        self.good.len() as f64 / self.values.len() as f64
    }
}

/// One position of each depth after the other, until there are enough; if there are more
/// depths than positions, depths at even distances.
fn spread(
    by_depth: BTreeMap<u32, Vec<(Candidate, MadePosition)>>,
    n_positions: usize,
) -> Vec<MadePosition> {
    let n_depths = by_depth.len();
    let mut queues: Vec<_> = by_depth.into_values().map(Vec::into_iter).collect();
    let n_first = n_positions.min(n_depths);
    let order = (0..n_first).map(|at| (2 * at + 1) * n_depths / (2 * n_first));
    let mut selected: Vec<MadePosition> =
        order.filter_map(|at| queues[at].next()).map(|(_, position)| position).collect();
    while selected.len() < n_positions {
        let before = selected.len();
        for queue in &mut queues {
            if selected.len() < n_positions {
                selected.extend(queue.next().map(|(_, position)| position));
            }
        }
        if selected.len() == before {
            break;
        }
    }
    selected.sort_by_key(|position| position.depth);
    selected
}

/// States of walks that may be positions; none twice.
fn candidates(
    machine: &mut dyn StateMachine,
    tables: &[Arc<ValueTable>],
    wanted: &Wanted,
    cancel: &Cancel,
) -> Result<Vec<Candidate>, MakeError> {
    let mut random = SplitMix::new(wanted.seed);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for _ in 0..WALKS_PER_POSITION * wanted.n_positions {
        let mut state = machine.initial_state()?;
        let mut moves = String::new();
        for _ in 0..MAX_STEPS {
            if cancel.is_cancelled() {
                return Err(MakeError::Interrupted);
            }
            if machine.is_terminal(&state)? {
                break;
            }
            let play = match BestPlay::of(machine, &tables, &state) {
                Ok(play) => Some(play),
                // A table of an endgame does not have it.
                Err(LookUpError::Unreached) => None,
                Err(LookUpError::TooManyMoves) => break,
                Err(error) => return Err(error.into()),
            };
            if let Some(play) = &play
                && seen.insert(machine.key(&state).bits())
                && let Some(candidate) = candidate(machine, play, wanted, &state, &moves)
            {
                found.push(candidate);
                if found.len() == CANDIDATES_PER_POSITION * wanted.n_positions {
                    return Ok(found);
                }
            }
            let joint_move = step(machine, play.as_ref(), &state, &mut random)?;
            let texts: Vec<String> =
                joint_move.iter().map(|&id| machine.move_expression(id).to_string()).collect();
            let separator = if moves.is_empty() { "" } else { " " };
            let _ = write!(moves, "{separator}({})", texts.join(" "));
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next)?;
            state = next;
        }
    }
    Ok(found)
}

/// The state, if it may be a position.
fn candidate(
    machine: &mut dyn StateMachine,
    play: &BestPlay,
    wanted: &Wanted,
    state: &State,
    moves: &str,
) -> Option<Candidate> {
    let game = Arc::clone(machine.game());
    let n_legal = |role: RoleId| play.legal[usize::from(role.0)].len();
    let is_player = |role: &RoleId| Some(*role) != game.random();
    let mut choosing = game.role_ids().filter(is_player).filter(|&role| n_legal(role) > 1);
    let (role, None) = (choosing.next()?, choosing.next()) else { return None };
    let at = usize::from(role.0);
    let values = play.move_values(at);
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let legal = &play.legal[at];
    let good: Vec<MoveId> = legal
        .iter()
        .zip(&values)
        .filter(|&(_, &value)| value >= best - TOLERANCE)
        .map(|(&id, _)| id)
        .collect();
    let others = values.iter().copied().filter(|&value| value < best - TOLERANCE);
    let loss = best - others.reduce(f64::max)?;
    let candidate = Candidate {
        state: state.clone(),
        role,
        moves: moves.to_owned(),
        good,
        values: legal.iter().copied().zip(values).collect(),
    };
    (candidate.share() <= wanted.max_good && loss >= wanted.min_loss).then_some(candidate)
}

/// The joint move of a walk: every role's best, or as often every role's at random.
fn step(
    machine: &mut dyn StateMachine,
    play: Option<&BestPlay>,
    state: &State,
    random: &mut SplitMix,
) -> Result<Vec<MoveId>, ReasoningError> {
    let game = Arc::clone(machine.game());
    let is_best = random.below(2) == 1;
    let mut joint_move = Vec::new();
    for role in game.role_ids() {
        let mut legal = Vec::new();
        machine.legal_moves(state, role, &mut legal)?;
        if let Some(play) = play.filter(|_| is_best) {
            let shares = &play.best.strategies[usize::from(role.0)];
            let best = legal.iter().zip(shares).filter(|&(_, &share)| share > 0.0);
            legal = best.map(|(&id, _)| id).collect();
        }
        joint_move.push(legal[random.below(legal.len())]);
    }
    Ok(joint_move)
}

/// A suite of these positions as TOML, which [`read`](super::file::read) reads. Each
/// position is called by its game and its number there.
#[must_use]
pub fn text(positions: &[MadePosition]) -> String {
    let mut out = String::from("format = 1\n");
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for position in positions {
        let number = numbers.entry(&position.game).or_default();
        *number += 1;
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        let good: Vec<String> = position.good.iter().map(|text| quoted(text)).collect();
        let values = position.values.iter().map(|(text, value)| {
            // Sums of rounded numbers differ in the last digits.
            format!("{} = {}", quoted_key(text), (value * 1e6).round() / 1e6)
        });
        let values: Vec<String> = values.collect();
        let source = format!("solved; rules {}", position.rules);
        let _ = write!(
            out,
            "\n[[position]]\nid = {}\ngame = {}\nrole = {}\nmoves = {}\ngood = [{}]\nvalues = {{ {} \
             }}\ndepth = {}\nsource = {}\n",
            quoted(&format!("{}-{number}", position.game)),
            quoted(&position.rulesheet),
            quoted(&position.role),
            quoted(&position.moves),
            good.join(", "),
            values.join(", "),
            position.depth,
            quoted(&source),
        );
    }
    out
}

/// A key of a table that need not be a bare word.
fn quoted_key(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
