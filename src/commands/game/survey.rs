//! What random playouts show about a game: how its roles move, how long it lasts,
//! how large it is.

use results::counted::counted;
use std::fmt;
use std::time::{Duration, Instant};

use games::{Game, MoveId, ReasoningError, RoleId, State};
use serde::Serialize;

use super::view::ByRole;
use super::walk::{Ending, Walker, playout_rng};

/// How much to play.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) playouts: u64,
    pub(super) steps: usize,
    pub(super) time: Option<Duration>,
    pub(super) seed: u64,
}

impl Limits {
    /// What commands play if nothing else is asked for, so that they say the same of a game.
    pub(super) const USUAL: Self = Self { playouts: 50, steps: 1000, time: None, seed: 1 };
}

/// How the players share the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MoveOrder {
    /// There is only one player.
    Alone,
    /// In no visited state had two players a choice.
    TurnTaking,
    /// In some visited state two players had a choice.
    Simultaneous,
    /// There were no playouts.
    Unknown,
}

/// The cell of a game in the usual classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ObservedKind {
    /// Roles other than `random`.
    pub(super) players: usize,
    pub(super) turns: MoveOrder,
    pub(super) chance: bool,
    pub(super) hidden_information: bool,
}

/// Least, mean and greatest of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) mean: f64,
    pub(super) max: f64,
    #[serde(skip)]
    count: u64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        let first = self.count == 0;
        self.count += 1;
        self.min = if first { value } else { self.min.min(value) };
        self.max = if first { value } else { self.max.max(value) };
        self.mean += (value - self.mean) / self.count as f64;
    }

    /// None if there were no numbers.
    pub(super) fn known(self) -> Option<Self> {
        (self.count > 0).then_some(self)
    }
}

/// What was seen.
#[derive(Debug, Serialize)]
pub(super) struct Survey {
    pub(super) playouts: u64,
    /// Of these, in a terminal state.
    pub(super) ended: u64,
    /// Of these, cut at the limit of steps or by the clock.
    pub(super) cut: u64,
    /// Of these, where some role had no legal move.
    pub(super) stuck: u64,
    /// Joint moves of the playouts that ended.
    pub(super) length: Option<Spread>,
    /// Joint moves to choose from in a state that is not terminal.
    pub(super) branching: Option<Spread>,
    /// Facts of a state.
    pub(super) facts: Option<Spread>,
    /// Decimal logarithm of the estimated number of nodes of the game tree.
    pub(super) tree_log10: Option<f64>,
    /// The largest of the estimates whose mean that is, one for each playout.
    #[serde(skip)]
    pub(super) largest_tree_log10: Option<f64>,
    /// Goals at the end, of the playouts that gave a role one goal.
    pub(super) goals: ByRole<Option<Spread>>,
    /// Ends that gave some role no goal or several.
    pub(super) without_goal: u64,
    #[serde(skip)]
    pub(super) simultaneous: bool,
    /// How rewards are related in the playouts that gave each role one.
    #[serde(skip)]
    pub(super) interests: Interests,
    /// Choices of the player that had most of them in a playout.
    #[serde(skip)]
    pub(super) most_choices: u64,
}

/// How the rewards of the players are related, as far as random play shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Interests {
    /// There is only one player.
    Single,
    /// Rewards always have the same sum.
    ConstantSum,
    /// All players always get the same.
    Common,
    /// Neither.
    GeneralSum,
    /// No playout ended with a reward for each player.
    Unknown,
}

/// Plays at random from the initial state.
pub(super) fn survey(walker: &mut Walker, limits: &Limits) -> Result<Survey, ReasoningError> {
    let game = std::sync::Arc::clone(walker.machine.game());
    let initial = walker.machine.initial_state()?;
    let random = game.random();
    let deadline = limits.time.map(|time| Instant::now() + time);
    let in_time = || deadline.is_none_or(|deadline| Instant::now() < deadline);

    let [mut length, mut branching, mut facts] = [Spread::default(); 3];
    let mut goals = vec![Spread::default(); game.roles().len()];
    let (mut ended, mut cut, mut stuck, mut without_goal, mut playouts) = (0, 0, 0, 0, 0);
    let mut simultaneous = false;
    let mut rewards = Rewards::default();
    let mut most_choices = 0;
    let mut trees = Vec::new();
    // A playout that has no time at all shows nothing.
    let has_time = limits.time != Some(Duration::ZERO);
    while has_time && playouts < limits.playouts && (playouts == 0 || in_time()) {
        let mut rng = playout_rng(limits.seed, playouts);
        let mut tree = TreeEstimate::default();
        let mut choices_of = vec![0_u64; game.roles().len()];
        let visit =
            |machine: &mut dyn games::StateMachine, state: &State, moves: &[Vec<MoveId>]| {
                let choices: f64 = moves.iter().map(|moves| moves.len() as f64).product();
                branching.add(choices);
                tree.descend(choices);
                facts.add(machine.facts(state).len() as f64);
                simultaneous |= n_choosers(moves, random) > 1;
                for (n, moves) in choices_of.iter_mut().zip(moves) {
                    *n += u64::from(moves.len() > 1);
                }
                in_time()
            };
        let playout = walker.playout(initial.clone(), &mut rng, limits.steps, visit)?;
        playouts += 1;
        let chosen = game.role_ids().filter(|&role| Some(role) != random);
        let chosen = chosen.map(|role| choices_of[usize::from(role.0)]).max();
        most_choices = most_choices.max(chosen.unwrap_or_default());
        match playout.ending {
            Ending::Terminal => ended += 1,
            Ending::StepLimit | Ending::Stopped => cut += 1,
            Ending::NoMove => stuck += 1,
        }
        if playout.ending != Ending::Terminal {
            continue;
        }
        length.add(playout.steps as f64);
        facts.add(walker.machine.facts(&playout.last).len() as f64);
        trees.push(tree.log10());
        let mut complete = true;
        let mut ends = Vec::new();
        for (role, spread) in game.role_ids().zip(&mut goals) {
            match walker.machine.goal(&playout.last, role)?.unique() {
                Some(goal) => {
                    spread.add(f64::from(goal.value()));
                    ends.extend((Some(role) != random).then_some(goal.value()));
                }
                None => complete = false,
            }
        }
        if ends.len() + usize::from(random.is_some()) == game.roles().len() {
            rewards.add(&ends);
        }
        without_goal += u64::from(!complete);
    }
    let goals = goals.into_iter().map(Spread::known).collect();
    Ok(Survey {
        playouts,
        ended,
        cut,
        stuck,
        length: length.known(),
        branching: branching.known(),
        facts: facts.known(),
        tree_log10: mean_of_powers(&trees),
        largest_tree_log10: trees.iter().copied().reduce(f64::max),
        goals: ByRole::new(&game, goals),
        without_goal,
        simultaneous,
        interests: rewards.interests(),
        most_choices,
    })
}

/// What the ends of playouts show of how rewards are related.
#[derive(Default)]
struct Rewards {
    n_players: usize,
    /// The sums that were met, two at most.
    sums: Vec<u32>,
    /// Whether players got different rewards in some end.
    differ: bool,
}

impl Rewards {
    fn add(&mut self, rewards: &[u8]) {
        self.n_players = rewards.len();
        let sum = rewards.iter().map(|&reward| u32::from(reward)).sum();
        if self.sums.len() < 2 && !self.sums.contains(&sum) {
            self.sums.push(sum);
        }
        self.differ |= rewards.windows(2).any(|pair| pair[0] != pair[1]);
    }

    fn interests(&self) -> Interests {
        match (self.n_players, self.sums.len()) {
            (_, 0) => Interests::Unknown,
            (0 | 1, _) => Interests::Single,
            _ if !self.differ => Interests::Common,
            (_, 1) => Interests::ConstantSum,
            _ => Interests::GeneralSum,
        }
    }
}

/// Players that have more than one legal move.
fn n_choosers(moves: &[Vec<MoveId>], random: Option<RoleId>) -> usize {
    let is_player = |index: usize| random.is_none_or(|random| usize::from(random.0) != index);
    let chooses = |(index, moves): &(usize, &Vec<MoveId>)| is_player(*index) && moves.len() > 1;
    moves.iter().enumerate().filter(chooses).count()
}

/// Knuth's estimate of the size of a tree ("Estimating the efficiency of
/// backtrack programs", 1975): 1 + b1 + b1 b2 + ..., with the numbers of
/// branches met on one random path, has the number of nodes as its mean. Kept as
/// decimal logarithms, since the numbers of large games fit no float; 0 is the
/// root alone.
#[derive(Default)]
struct TreeEstimate {
    /// Nodes at the depth reached.
    level: f64,
    /// All nodes so far.
    nodes: f64,
}

impl TreeEstimate {
    fn descend(&mut self, branches: f64) {
        self.level += branches.log10();
        self.nodes = log10_of_sum(self.nodes, self.level);
    }

    fn log10(&self) -> f64 {
        self.nodes
    }
}

fn log10_of_sum(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    large + 10f64.powf(small - large).ln_1p() / std::f64::consts::LN_10
}

fn mean_of_powers(logarithms: &[f64]) -> Option<f64> {
    let sum = logarithms.iter().copied().reduce(log10_of_sum)?;
    Some(sum - (logarithms.len() as f64).log10())
}

impl ObservedKind {
    pub(super) fn of(game: &Game, survey: &Survey) -> Self {
        let games::game::GameKind { n_roles, chance, hidden_information, .. } = game.kind();
        let players = n_roles - usize::from(chance);
        let turns = match players {
            0 | 1 => MoveOrder::Alone,
            _ if survey.playouts == 0 => MoveOrder::Unknown,
            _ if survey.simultaneous => MoveOrder::Simultaneous,
            _ => MoveOrder::TurnTaking,
        };
        Self { players, turns, chance, hidden_information }
    }
}

/// `2 players, turn-taking, deterministic, perfect information`.
impl fmt::Display for ObservedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = match self.turns {
            MoveOrder::Alone | MoveOrder::Unknown => "",
            MoveOrder::TurnTaking => ", turn-taking",
            MoveOrder::Simultaneous => ", simultaneous",
        };
        let players = counted(self.players, "player", "players");
        let chance = if self.chance { "chance" } else { "deterministic" };
        let information = if self.hidden_information { "hidden" } else { "perfect" };
        write!(f, "{players}{turns}, {chance}, {information} information")
    }
}

/// `5` if all are equal, else `2 to 9, mean 5.5`.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            return write!(f, "{}", self.min);
        }
        write!(f, "{} to {}, mean {:.2}", self.min, self.max, self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_of_regular_trees_are_exact() {
        let mut tree = TreeEstimate::default();
        for _ in 0..3 {
            tree.descend(2.0);
        }
        assert!((10f64.powf(tree.log10()) - 15.0).abs() < 1e-9);
        let mean = mean_of_powers(&[1.0, 2.0]).unwrap();
        assert!((10f64.powf(mean) - 55.0).abs() < 1e-9);
        assert_eq!(mean_of_powers(&[]), None);
    }

    #[test]
    fn spreads_are_told_in_words() {
        let mut spread = Spread::default();
        assert_eq!(spread.known(), None);
        spread.add(4.0);
        assert_eq!(spread.to_string(), "4");
        spread.add(5.0);
        assert_eq!(spread.to_string(), "4 to 5, mean 4.50");
    }
}
