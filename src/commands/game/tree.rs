//! `gamemaster game tree`: what play from a state can lead to, counted and listed.

mod ordered;
mod pruned;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use clap::Args;
use games::{Game, MoveId, ReasoningError, RoleId, State, StateMachine};
use results::counted::counted;
use serde::{Serialize, Serializer};

use self::pruned::Searched;
use super::{GameArgument, machine, reasoning};
use crate::commands::number::{nodes, whole, whole_from};
use crate::commands::typed_moves::follow;
use crate::failure::CommandResult;
use crate::output::json_or_text;

const EXAMPLES: &str = "\
Examples:
  gamemaster game tree tic_tac_toe --depth 9
  gamemaster game tree nim --depth 2 --moves '((take a 2) noop)' --lines 100
  gamemaster game tree connect_four --depth 6 --lines 0 --json
  gamemaster game tree mini_backgammon --depth 6 --lines 0
  gamemaster game tree pig --depth 5 --lines 0 --prune \\
      --evaluation goal_proximity \\
      --moves '(roll noop noop) (noop noop (show 4))'

A node is a sequence of joint moves, and several nodes may lead to the same
state. A line of play goes from the root to a terminal state, or to the depth at
which the tree ends; it has the form of --moves. In games with chance, moves are
counted separately for each role that chooses. The column `reached` is the
product of the probabilities of the moves of chance on the way to a node,
averaged over the nodes of that depth. Counts are exact up to 3.4e38; greater
counts, and averages computed from them, are null in JSON. Where one role
chooses at a time, without chance, --prune also counts what alpha-beta would
enter with each state's best moves first, and with the best moves last (in trees
of up to 100000 states).";

/// Arguments of `gamemaster game tree`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Look ahead N steps
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..=10_000))]
    depth: usize,
    /// Make these joint moves first
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,
    /// List N lines of play
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole_from::<usize>(0))]
    lines: usize,
    /// Stop at the first depth with more than N distinct states
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = nodes)]
    max_states: u64,
    /// Search the tree to the same depth with minimax and with alpha-beta, and
    /// print how many states each of them enters
    #[arg(long)]
    prune: bool,
    /// Evaluate states at the depth limit by this function (the option `evaluation`
    /// in `gamemaster players`)
    #[arg(long, value_name = "E", default_value = "goal", requires = "prune")]
    evaluation: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The tree as it is printed.
#[derive(Serialize)]
struct Tree {
    game: String,
    /// Joint moves before the root.
    step: usize,
    levels: Vec<Level>,
    /// In games with chance: the moves there are, by who chooses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choosers: Vec<Choosers>,
    /// What searches of the tree enter.
    #[serde(skip_serializing_if = "Option::is_none")]
    searches: Option<Vec<Searched>>,
    /// The depth that was too large to be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at_depth: Option<usize>,
    /// Joint moves that a depth-first search holds at once, at most: those of the states on
    /// one line.
    #[serde(serialize_with = "exact")]
    depth_first_moves: u128,
    /// States that a breadth-first search holds at once, at most: those of the largest depth.
    breadth_first_states: usize,
    /// All lines, those that are not listed included.
    #[serde(serialize_with = "exact")]
    n_lines: u128,
    lines: Vec<Branch>,
}

/// All nodes of one depth.
#[derive(Clone, Debug, Default, Serialize)]
struct Level {
    depth: usize,
    /// Sequences of joint moves of this length.
    #[serde(serialize_with = "exact")]
    nodes: u128,
    /// Those that end in a terminal state.
    #[serde(serialize_with = "exact")]
    terminal_nodes: u128,
    /// Distinct states.
    states: usize,
    /// The terminal ones among them.
    terminal_states: usize,
    /// States that are not terminal, but leave a role without a move.
    stuck_states: usize,
    /// The probability that chance takes play to a node, on average over the nodes; not a
    /// number if there are too many nodes to count.
    reached: f64,
    #[serde(skip)]
    choosers: BTreeMap<Vec<RoleId>, MoveCounts>,
}

/// Nodes where the same roles have a choice.
#[derive(Clone, Copy, Debug)]
struct MoveCounts {
    nodes: u128,
    /// Joint moves of all these nodes.
    moves: u128,
    min: u64,
    max: u64,
}

/// Nodes above the last depth where the same roles have a choice.
#[derive(Serialize)]
struct Choosers {
    roles: Vec<String>,
    #[serde(serialize_with = "exact")]
    nodes: u128,
    /// Not a number if there are too many nodes or moves to count.
    mean_moves: f64,
    min_moves: u64,
    max_moves: u64,
}

/// A line from the root.
#[derive(Serialize)]
struct Branch {
    moves: Vec<String>,
    /// What the roles get if the line ends in a terminal state: by role, and only of roles
    /// with a single goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    goals: Option<Vec<Goal>>,
}

#[derive(Serialize)]
struct Goal {
    role: String,
    goal: u8,
}

/// Carries out `gamemaster game tree`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let game = arguments.game.load()?.game;
    let mut machine = machine(&game)?;
    let start = machine.initial_state().map_err(reasoning)?;
    let line = follow(&mut *machine, start, &arguments.moves)?;
    let root = line.last();
    let (levels, is_cut) =
        levels(&mut *machine, root, arguments.depth, arguments.max_states).map_err(reasoning)?;
    let depth = levels.len() - 1;
    let mut lister =
        Lister { machine: &mut *machine, n_wanted: arguments.lines, moves: vec![], lines: vec![] };
    lister.list_all(root, depth).map_err(reasoning)?;
    let lines = lister.lines;
    let choosers = if game.random().is_some() { choosers(&game, &levels) } else { Vec::new() };
    let searches = match arguments.prune {
        true => Some(pruned::search(&*machine, &line, arguments.depth, &arguments.evaluation)?),
        false => None,
    };
    let tree = Tree {
        choosers,
        searches,
        game: game.name().to_owned(),
        step: line.joint_moves.len(),
        n_lines: n_lines(&levels),
        depth_first_moves: depth_first_moves(&levels),
        breadth_first_states: levels.iter().map(|level| level.states).max().unwrap_or_default(),
        cut_at_depth: is_cut.then_some(depth + 1),
        levels,
        lines,
    };
    json_or_text(arguments.json, &tree, print)
}

/// A count, unless it is greater than what can be counted, where sums stop.
fn exactly(count: u128) -> Option<u128> {
    Some(count).filter(|&count| count < u128::MAX)
}

/// Writes a count, or nothing in its place if it is not exact.
fn exact<S: Serializer>(count: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    exactly(*count).serialize(serializer)
}

/// `1`, or `more than 3.4e38`.
fn in_digits(count: u128) -> String {
    exactly(count).map_or_else(|| "more than 3.4e38".to_owned(), |count| count.to_string())
}

/// `1 node`, or `more than 3.4e38 nodes`.
fn in_words(count: u128, one: &str, many: &str) -> String {
    if exactly(count).is_some() {
        counted(count, one, many)
    } else {
        format!("{} {many}", in_digits(count))
    }
}

/// The mean of a sum over a number of nodes; not a number if there are too many to count.
fn mean(sum: f64, n_nodes: u128) -> f64 {
    exactly(n_nodes).map_or(f64::NAN, |n_nodes| sum / n_nodes as f64)
}

/// Lines end in terminal states, in states without a move, and at the last depth.
fn n_lines(levels: &[Level]) -> u128 {
    let (last, inner) = levels.split_last().expect("the root is a level");
    inner.iter().fold(last.nodes, |sum, level| sum.saturating_add(level.terminal_nodes))
}

/// The joint moves of the states on one line, at most: O(bm), as Russell and Norvig's
/// "Artificial Intelligence: A Modern Approach" has it for depth-first search.
fn depth_first_moves(levels: &[Level]) -> u128 {
    let most = |level: &Level| level.choosers.values().map(|counts| counts.max).max();
    levels.iter().filter_map(most).fold(0, |sum: u128, most| sum.saturating_add(most.into()))
}

/// A state of a level, with the number of nodes that are this state.
struct Counted {
    state: State,
    n_nodes: u128,
    /// The sum of the probabilities that chance takes play to each of them.
    reached: f64,
}

/// The levels from the root to `depth`, or fewer if no state is left; whether one had more
/// distinct states than `max_states` and was given up. Numbers stop at the largest `u128`.
fn levels(
    machine: &mut dyn StateMachine,
    root: &State,
    depth: usize,
    max_states: u64,
) -> Result<(Vec<Level>, bool), ReasoningError> {
    let mut found: Vec<Level> = Vec::new();
    let random = machine.game().random();
    let mut states = vec![Counted { state: root.clone(), n_nodes: 1, reached: 1.0 }];
    loop {
        let mut level = Level { depth: found.len(), states: states.len(), ..Level::default() };
        let is_last = level.depth == depth;
        let mut next = Vec::new();
        let mut places = HashMap::new();
        let mut is_cut = false;
        for Counted { state, n_nodes, reached } in &states {
            level.nodes = level.nodes.saturating_add(*n_nodes);
            level.reached += reached;
            if machine.is_terminal(state)? {
                level.terminal_states += 1;
                level.terminal_nodes = level.terminal_nodes.saturating_add(*n_nodes);
                continue;
            }
            let legal = legal(machine, state)?;
            level.stuck_states += usize::from(legal.iter().any(Vec::is_empty));
            if is_last || is_cut {
                continue;
            }
            level.count_moves(machine.game(), &legal, *n_nodes);
            let n_outcomes = random.map_or(1, |random| legal[usize::from(random.0)].len());
            let mut joint_moves = JointMoves::new(&legal);
            while let Some(joint_move) = joint_moves.next() {
                let mut successor = State::default();
                machine.next_state(state, joint_move, &mut successor)?;
                let key = machine.key(&successor).bits();
                let place = *places.entry(key).or_insert_with(|| {
                    next.push(Counted { state: successor, n_nodes: 0, reached: 0.0 });
                    next.len() - 1
                });
                let counted = &mut next[place];
                counted.n_nodes = counted.n_nodes.saturating_add(*n_nodes);
                counted.reached += reached / n_outcomes as f64;
            }
            is_cut = next.len() as u64 > max_states;
        }
        level.reached = mean(level.reached, level.nodes);
        found.push(level);
        if is_last || is_cut || next.is_empty() {
            return Ok((found, is_cut));
        }
        states = next;
    }
}

impl Level {
    /// Counts the moves of `n_nodes` nodes with the same state.
    fn count_moves(&mut self, game: &Game, legal: &[Vec<MoveId>], n_nodes: u128) {
        let choosing = game.role_ids().zip(legal).filter(|(_, moves)| moves.len() > 1);
        let roles = choosing.map(|(role, _)| role).collect();
        let n_moves =
            legal.iter().fold(1, |product: u64, moves| product.saturating_mul(moves.len() as u64));
        let counts = MoveCounts { nodes: 0, moves: 0, min: n_moves, max: n_moves };
        let counts = self.choosers.entry(roles).or_insert(counts);
        counts.nodes = counts.nodes.saturating_add(n_nodes);
        counts.moves = counts.moves.saturating_add(n_nodes.saturating_mul(n_moves.into()));
        counts.min = counts.min.min(n_moves);
        counts.max = counts.max.max(n_moves);
    }
}

/// The moves of all levels together.
fn choosers(game: &Game, levels: &[Level]) -> Vec<Choosers> {
    let mut sums: BTreeMap<&[RoleId], MoveCounts> = BTreeMap::new();
    for (roles, counts) in levels.iter().flat_map(|level| &level.choosers) {
        let sum = sums.entry(roles).or_insert(MoveCounts { nodes: 0, moves: 0, ..*counts });
        sum.nodes = sum.nodes.saturating_add(counts.nodes);
        sum.moves = sum.moves.saturating_add(counts.moves);
        sum.min = sum.min.min(counts.min);
        sum.max = sum.max.max(counts.max);
    }
    let named = |(roles, counts): (&[RoleId], MoveCounts)| Choosers {
        roles: roles.iter().map(|&role| game.role_name(role).to_owned()).collect(),
        nodes: counts.nodes,
        mean_moves: match exactly(counts.moves) {
            Some(moves) => mean(moves as f64, counts.nodes),
            None => f64::NAN,
        },
        min_moves: counts.min,
        max_moves: counts.max,
    };
    sums.into_iter().map(named).collect()
}

/// The legal moves of all roles.
fn legal(
    machine: &mut dyn StateMachine,
    state: &State,
) -> Result<Vec<Vec<MoveId>>, ReasoningError> {
    let game = Arc::clone(machine.game());
    let of = |role| {
        let mut moves = Vec::new();
        machine.legal_moves(state, role, &mut moves)?;
        Ok(moves)
    };
    game.role_ids().map(of).collect()
}

/// All joint moves of a state, the last role's move changing first.
struct JointMoves<L> {
    legal: L,
    /// The place of each role's next move; `None` at the end.
    places: Option<Vec<usize>>,
    joint_move: Vec<MoveId>,
}

impl<L: AsRef<[Vec<MoveId>]>> JointMoves<L> {
    fn new(legal: L) -> Self {
        let moves = legal.as_ref();
        let is_any = moves.iter().all(|moves| !moves.is_empty());
        let places = is_any.then(|| vec![0; moves.len()]);
        Self { legal, places, joint_move: Vec::new() }
    }

    fn next(&mut self) -> Option<&[MoveId]> {
        let places = self.places.as_mut()?;
        let legal = self.legal.as_ref();
        self.joint_move.clear();
        self.joint_move.extend(places.iter().zip(legal).map(|(&at, moves)| moves[at]));
        let role = (0..places.len()).rev().find(|&role| places[role] + 1 < legal[role].len());
        match role {
            Some(role) => {
                places[role] += 1;
                places[role + 1..].fill(0);
            }
            None => self.places = None,
        }
        Some(&self.joint_move)
    }
}

/// A state on the way to a line, with the joint moves that are not followed yet.
struct Branching {
    state: State,
    joint_moves: JointMoves<Vec<Vec<MoveId>>>,
}

/// Lists the first lines of a tree.
struct Lister<'a> {
    machine: &'a mut dyn StateMachine,
    n_wanted: usize,
    /// From the root to where it is.
    moves: Vec<String>,
    lines: Vec<Branch>,
}

impl Lister<'_> {
    /// Lists the lines from `root` of at most `depth` joint moves. The way from the root is on
    /// the heap, since a line may be longer than the call stack holds.
    fn list_all(&mut self, root: &State, depth: usize) -> Result<(), ReasoningError> {
        let mut way: Vec<Branching> = self.enter(root.clone(), depth)?.into_iter().collect();
        while let Some(branching) = way.last_mut() {
            if self.lines.len() == self.n_wanted {
                return Ok(());
            }
            let Some(joint_move) = branching.joint_moves.next() else {
                way.pop();
                self.moves.pop();
                continue;
            };
            let mut next = State::default();
            self.machine.next_state(&branching.state, joint_move, &mut next)?;
            let texts: Vec<String> =
                joint_move.iter().map(|&id| self.machine.move_expression(id).to_string()).collect();
            self.moves.push(format!("({})", texts.join(" ")));
            match self.enter(next, depth - way.len())? {
                Some(branching) => way.push(branching),
                None => drop(self.moves.pop()),
            }
        }
        Ok(())
    }

    /// The moves to follow from a state, or none if a line ends there, which is listed.
    fn enter(&mut self, state: State, depth: usize) -> Result<Option<Branching>, ReasoningError> {
        if self.lines.len() == self.n_wanted {
            return Ok(None);
        }
        let is_terminal = self.machine.is_terminal(&state)?;
        let legal =
            if is_terminal || depth == 0 { Vec::new() } else { legal(self.machine, &state)? };
        if legal.is_empty() || legal.iter().any(Vec::is_empty) {
            let goals = if is_terminal { Some(self.goals(&state)?) } else { None };
            self.lines.push(Branch { moves: self.moves.clone(), goals });
            return Ok(None);
        }
        Ok(Some(Branching { state, joint_moves: JointMoves::new(legal) }))
    }

    fn goals(&mut self, state: &State) -> Result<Vec<Goal>, ReasoningError> {
        let game = Arc::clone(self.machine.game());
        let mut goals = Vec::new();
        for role in game.role_ids() {
            if let [goal] = self.machine.goal(state, role)?.values[..] {
                goals.push(Goal { role: game.role_name(role).to_owned(), goal: goal.value() });
            }
        }
        Ok(goals)
    }
}

/// `1`, `1 in 16` or `1 in 1.5e7`.
fn probability(share: f64) -> String {
    let one_in = 1.0 / share;
    match one_in {
        _ if one_in.is_nan() => "-".to_owned(),
        _ if one_in < 1.0 + 1e-9 => "1".to_owned(),
        _ if one_in < 1e6 => format!("1 in {one_in:.0}"),
        _ => format!("1 in {one_in:.1e}"),
    }
}

/// Prints rows, with all columns at the right.
fn table(out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
    let n_columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| rows.iter().map(|row| row[at].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        writeln!(out, "  {}", cells.join("  "))?;
    }
    Ok(())
}

fn print(out: &mut impl Write, tree: &Tree) -> io::Result<()> {
    writeln!(out, "{}, after {}\n", tree.game, counted(tree.step, "step", "steps"))?;
    let has_chance = !tree.choosers.is_empty();
    let mut heading =
        vec!["depth", "nodes", "terminal nodes", "states", "terminal states", "moves/node"];
    heading.extend(has_chance.then_some("reached"));
    let rows = tree.levels.iter().enumerate().map(|(at, level)| {
        let inner = level.nodes - level.terminal_nodes;
        let moves = match tree.levels.get(at + 1) {
            Some(next) if inner > 0 && exactly(next.nodes).is_some() => {
                format!("{:.2}", next.nodes as f64 / inner as f64)
            }
            _ => "-".to_owned(),
        };
        let mut row = vec![
            level.depth.to_string(),
            in_digits(level.nodes),
            in_digits(level.terminal_nodes),
            level.states.to_string(),
            level.terminal_states.to_string(),
            moves,
        ];
        row.extend(has_chance.then(|| probability(level.reached)));
        row
    });
    let heading = heading.into_iter().map(str::to_owned).collect();
    table(out, &std::iter::once(heading).chain(rows).collect::<Vec<_>>())?;
    let sum = |of: fn(&Level) -> u128| {
        tree.levels.iter().fold(0_u128, |sum, level| sum.saturating_add(of(level)))
    };
    let nodes = in_words(sum(|level| level.nodes), "node", "nodes");
    let n_terminal = in_digits(sum(|level| level.terminal_nodes));
    writeln!(out, "\n{nodes}, {n_terminal} of them terminal")?;
    let moves = in_words(tree.depth_first_moves, "joint move", "joint moves");
    let states = counted(tree.breadth_first_states, "state", "states");
    writeln!(
        out,
        "memory: a depth-first search holds at most {moves}, a breadth-first search {states}"
    )?;
    let n_stuck: usize = tree.levels.iter().map(|level| level.stuck_states).sum();
    if n_stuck > 0 {
        let states = counted(n_stuck, "state is", "states are");
        writeln!(out, "{states} not terminal, but some role has no legal move there")?;
    }
    if let Some(depth) = tree.cut_at_depth {
        writeln!(out, "Cut: depth {depth} has more states than --max-states allows.")?;
    }
    if has_chance {
        writeln!(out, "\nmoves to choose from, by who chooses")?;
        for chooser in &tree.choosers {
            let Choosers { roles, nodes, mean_moves, min_moves, max_moves } = chooser;
            let range = match min_moves == max_moves {
                true => format!("{min_moves}"),
                false if mean_moves.is_nan() => format!("{min_moves} to {max_moves}"),
                false => format!("{min_moves} to {max_moves}, mean {mean_moves:.2}"),
            };
            let nodes = in_words(*nodes, "node", "nodes");
            match roles.is_empty() {
                true => writeln!(out, "  no choice (1 joint move): {nodes}")?,
                false => writeln!(out, "  {}: {range}, at {nodes}", roles.join(" and "))?,
            }
        }
    }
    if let Some(searches) = &tree.searches {
        pruned::print(out, searches)?;
    }
    if tree.lines.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for line in &tree.lines {
        let moves = if line.moves.is_empty() { "(no moves)".into() } else { line.moves.join(" ") };
        let end = match &line.goals {
            None => " ...".to_owned(),
            Some(goals) => {
                let goals = goals.iter().map(|goal| format!("{} {}", goal.role, goal.goal));
                format!(": {}", goals.collect::<Vec<_>>().join(", "))
            }
        };
        writeln!(out, "  {moves}{end}")?;
    }
    let n_more = exactly(tree.n_lines).map(|n_lines| n_lines - tree.lines.len() as u128);
    let n_more = n_more.unwrap_or(u128::MAX);
    if n_more > 0 {
        let more = in_words(n_more, "line more", "lines more");
        writeln!(out, "  and {more}; --lines N lists more")?;
    }
    Ok(())
}
