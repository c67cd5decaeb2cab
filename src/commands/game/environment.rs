//! What kind of task environment a game is, and which players suit it.

use std::fmt;

use results::counted::counted;
use serde::Serialize;

use super::survey::{Interests, MoveOrder, ObservedKind, Survey};

/// A game as a task environment, in the terms of Russell and Norvig. All games are discrete,
/// their rules are known, and states do not change while players think.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Environment {
    /// Players; chance is none.
    agents: usize,
    observable: Observable,
    /// Whether the next state follows from the state and the players' moves.
    deterministic: bool,
    /// Whether no player has more than one choice in a match, as far as random play shows;
    /// `None` without any.
    episodic: Option<bool>,
    /// Whether players choose at the same time somewhere; `None` without random play.
    simultaneous: Option<bool>,
    interests: Interests,
    /// Players that suit it, each with the reason.
    suited: Vec<Suited>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Observable {
    Fully,
    Partially,
}

#[derive(Clone, Debug, Serialize)]
struct Suited {
    player: &'static str,
    why: &'static str,
}

/// Nodes of a tree that a player can search to its end in seconds.
const SMALL_TREE_LOG10: f64 = 6.0;

impl Environment {
    /// The environment of a game. `n_states` is the number of states, if all were computed.
    pub(super) fn of(kind: &ObservedKind, survey: &Survey, n_states: Option<u64>) -> Self {
        let is_small = |tree: Option<f64>| tree.is_some_and(|log10| log10 <= SMALL_TREE_LOG10);
        let is_solvable = is_small(survey.largest_tree_log10) || n_states.is_some();
        let is_measured = survey.playouts > 0;
        Self {
            agents: kind.players,
            observable: match kind.hidden_information {
                true => Observable::Partially,
                false => Observable::Fully,
            },
            deterministic: !kind.chance,
            episodic: (survey.ended > 0).then_some(survey.most_choices <= 1),
            simultaneous: is_measured.then_some(kind.turns == MoveOrder::Simultaneous),
            interests: survey.interests,
            suited: match is_measured {
                true => suited(kind, survey.interests, is_small(survey.tree_log10), is_solvable),
                false => vec![],
            },
        }
    }

    /// The names of the players that suit it.
    pub(super) fn players(&self) -> impl Iterator<Item = &'static str> {
        self.suited.iter().map(|suited| suited.player)
    }

    /// A line for each player that suits it, with the reason.
    pub(super) fn reasons(&self) -> impl Iterator<Item = String> {
        self.suited.iter().map(|Suited { player, why }| format!("{player}: {why}"))
    }

    /// The cells of a table: agents, observable, deterministic, episodic, interests.
    pub(super) fn cells(&self) -> [String; 5] {
        let agents = match (self.agents, self.simultaneous) {
            (1, _) | (_, None) => self.agents.to_string(),
            (agents, Some(true)) => format!("{agents}, simultaneously"),
            (agents, Some(false)) => format!("{agents}, in turn"),
        };
        let word = |is_first: bool, [first, second]: [&str; 2]| {
            if is_first { first.to_owned() } else { second.to_owned() }
        };
        [
            agents,
            word(self.observable == Observable::Fully, ["fully", "partially"]),
            word(self.deterministic, ["yes", "no"]),
            self.episodic.map_or("unknown".to_owned(), |it| word(it, ["episodic", "sequential"])),
            self.interests.words().to_owned(),
        ]
    }
}

impl Interests {
    fn words(self) -> &'static str {
        match self {
            Self::Single => "one player",
            Self::ConstantSum => "constant sum",
            Self::Common => "common",
            Self::GeneralSum => "general sum",
            Self::Unknown => "unknown",
        }
    }
}

/// `2 agents in turn, fully observable, deterministic, sequential, constant sum`.
impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [agents, observable, _, episodic, interests] = self.cells();
        let agents = match agents.split_once(", ") {
            Some((n, order)) => format!("{n} agents {order}"),
            None => counted(self.agents, "agent", "agents"),
        };
        let chance = if self.deterministic { "deterministic" } else { "with chance" };
        write!(f, "{agents}, {observable} observable, {chance}")?;
        match self.episodic {
            Some(_) if self.interests == Interests::Unknown => {
                write!(f, ", {episodic}; how rewards are related is unknown")
            }
            Some(_) => write!(f, ", {episodic}, {interests}"),
            None => f.write_str("; the rest is unknown (no playouts)"),
        }
    }
}

/// The players that suit a game, the most suitable first.
fn suited(
    kind: &ObservedKind,
    interests: Interests,
    is_small: bool,
    is_solvable: bool,
) -> Vec<Suited> {
    let mut suited = Vec::new();
    let mut add = |player, why| suited.push(Suited { player, why });
    if kind.hidden_information {
        if is_small {
            add("cfr", "the game is small enough to compute an equilibrium");
            if kind.players == 1 || kind.turns == MoveOrder::TurnTaking {
                add("information_set_search", "one choice for all states that look the same");
            }
        }
        add("is_mcts", "samples states that agree with the percepts");
        add("determinization", "solves sampled states, ignores the value of information");
        return suited;
    }
    if kind.players == 1 {
        if kind.chance {
            add("alpha_beta", "computes the mean over what chance may do (expectiminimax)");
            add("mcts", "chance leaves no plan; random playouts show where to search");
        } else if is_small {
            add("sequential_planner", "nobody else moves, so one plan serves the whole match");
            add("incremental_deliberation", "keeps its tree, and expands no state twice");
        } else {
            add("mcts", "too many lines to search them all; playouts show where to look");
            add("sequential_planner", "searches each state once, if there are not too many");
        }
        return suited;
    }
    if kind.turns == MoveOrder::Simultaneous {
        if interests == Interests::ConstantSum && kind.players == 2 {
            if is_solvable {
                add("perfect", "small enough to be solved, with mixed strategies");
            }
            add(
                "minimax:opponents=matrix",
                "players move simultaneously with opposed rewards; mixed strategies",
            );
        }
        add("mcts", "each role samples its own moves");
        return suited;
    }
    match interests {
        Interests::ConstantSum if kind.players == 2 => {
            if is_solvable {
                add("perfect", "small enough to be solved");
            }
            let why = match kind.chance {
                true => "players move in turn with opposed rewards; cut-offs below chance",
                false => "players move in turn and their rewards are opposed",
            };
            add("alpha_beta", why);
            add("mcts", "needs no evaluation of states");
        }
        Interests::Common => {
            add("minimax:opponents=cooperative", "all want the same");
            add("mcts", "needs no evaluation of states");
        }
        Interests::Unknown => add("mcts", "needs no evaluation of states"),
        Interests::Single | Interests::ConstantSum | Interests::GeneralSum => {
            add(
                "minimax:opponents=max_n",
                "interests differ, but no role loses just what another gains",
            );
            add("mcts", "each role maximises its own reward");
        }
    }
    suited
}
