//! Small synthetic games for tests: layered graphs of states, written out as
//! rulesheets so that they go the whole way through the reasoner.

use std::fmt::Write as _;
use std::sync::Arc;

use games::solve::GameHash;
use games::{
    Case, Game, Guards, Leniency, Prover, RoleId, State, StateMachine, library, state_machine_for,
    validate,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::Stop;
use crate::learning::{LinearEvaluation, WeightedFeature};
use crate::search::{Memory, Search, Settings};

/// A reasoner for the rules in `text`.
pub(crate) fn machine(text: &str) -> Box<dyn StateMachine> {
    let validation = validate::read("test", text, Case::default(), Leniency::default());
    let game = validation.game.unwrap_or_else(|| panic!("{:?}\n{text}", validation.findings));
    Box::new(Prover::new(Arc::new(game), Guards::default()).unwrap())
}

/// A reasoner for a shipped game, as matches have it.
pub(crate) fn shipped(name: &str) -> Box<dyn StateMachine> {
    let text = library::find(name).unwrap().text;
    let game = validate::read(name, text, Case::default(), Leniency::default()).game.unwrap();
    state_machine_for(Arc::new(game), Guards::default()).unwrap()
}

/// The evaluation by these features of a game, each with its weight for each role.
pub(crate) fn linear(game: &Game, features: &[(&str, &[f64])]) -> Arc<LinearEvaluation> {
    let weighted = |&(feature, weights): &(&str, &[f64])| WeightedFeature {
        feature: feature.parse().unwrap(),
        weights: weights.to_vec(),
    };
    Arc::new(LinearEvaluation {
        game: GameHash::of(game),
        roles: game.role_ids().map(|role| game.role_name(role).to_owned()).collect(),
        bias: vec![0.0; game.roles().len()],
        features: features.iter().map(weighted).collect(),
    })
}

/// The value of `state` for the first role by the textbook's minimax, or expectiminimax
/// where chance moves.
pub(crate) fn minimax(machine: &mut dyn StateMachine, state: &State) -> f64 {
    let (mut memory, stop) = (Memory::default(), Stop::never());
    let settings = Settings::TEXTBOOK;
    let mut search = Search::new(machine, RoleId(0), settings, &mut memory, &stop);
    search.best_move(state).unwrap().value.unwrap().score
}

/// A game given by its graph. State 0 is the initial one.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The roles; one may be called `random`.
    pub(crate) roles: Vec<&'static str>,
    /// The states.
    pub(crate) nodes: Vec<Node>,
}

/// A state of a [`Graph`].
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A terminal state with the reward of each role.
    Leaf(Vec<u8>),
    /// A state that is not terminal; the children are in order of joint moves, the last
    /// role's moves changing fastest.
    Inner {
        /// Number of moves, by role.
        n_moves: Vec<usize>,
        /// The states that joint moves lead to.
        children: Vec<usize>,
    },
}

/// Who has a choice in a random graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Movers {
    /// One role at a time, in turn.
    Alternating,
    /// All roles at once.
    Simultaneous,
}

impl Graph {
    /// A random game of at most `n_layers` joint moves with up to three moves
    /// for who has a choice; states are shared between lines of play.
    pub(crate) fn random(
        seed: u64,
        roles: &[&'static str],
        movers: Movers,
        n_layers: usize,
    ) -> Self {
        const WIDTH: usize = 5;
        let mut rng = Pcg64::seed_from_u64(seed);
        let layer_start = |layer: usize| if layer == 0 { 0 } else { 1 + (layer - 1) * WIDTH };
        let mut nodes = Vec::new();
        for layer in 0..=n_layers {
            for _ in 0..if layer == 0 { 1 } else { WIDTH } {
                if layer == n_layers || (layer > 0 && rng.random_range(0..5) == 0) {
                    // Few distinct values, so that ties and extremes are common.
                    let reward = |_| rng.random_range(0..=10u8) * 10;
                    nodes.push(Node::Leaf(roles.iter().map(reward).collect()));
                    continue;
                }
                let n_moves: Vec<usize> = (0..roles.len())
                    .map(|role| {
                        let has_choice =
                            movers == Movers::Simultaneous || layer % roles.len() == role;
                        if has_choice { rng.random_range(1..=3) } else { 1 }
                    })
                    .collect();
                let start = layer_start(layer + 1);
                let child = |_| start + rng.random_range(0..WIDTH);
                let children = (0..n_moves.iter().product()).map(child).collect();
                nodes.push(Node::Inner { n_moves, children });
            }
        }
        Self { roles: roles.to_vec(), nodes }
    }

    /// A tree in which `first` and `second` move in turn, `n_choices` moves
    /// each time, over `leaves` with rewards for `first`; `second` has the rest
    /// to 100.
    pub(crate) fn tree(n_choices: usize, depth: u32, leaves: &[u8]) -> Self {
        assert_eq!(leaves.len(), n_choices.pow(depth));
        let mut nodes = Vec::new();
        for level in 0..depth {
            let first_child = nodes.len() + n_choices.pow(level);
            for index in 0..n_choices.pow(level) {
                let mut n_moves = vec![1, 1];
                n_moves[level as usize % 2] = n_choices;
                let children =
                    (0..n_choices).map(|choice| first_child + index * n_choices + choice);
                nodes.push(Node::Inner { n_moves, children: children.collect() });
            }
        }
        nodes.extend(leaves.iter().map(|&reward| Node::Leaf(vec![reward, 100 - reward])));
        Self { roles: vec!["first", "second"], nodes }
    }

    /// A game of one joint move of two roles: `rows` are the rewards of `left`.
    pub(crate) fn matrix(rows: &[&[u8]]) -> Self {
        let n_moves = vec![rows.len(), rows[0].len()];
        let rewards: Vec<u8> = rows.concat();
        let children = (1..=rewards.len()).collect();
        let mut nodes = vec![Node::Inner { n_moves, children }];
        nodes.extend(rewards.iter().map(|&reward| Node::Leaf(vec![reward, 100 - reward])));
        Self { roles: vec!["left", "right"], nodes }
    }

    /// The rules; `prefix` begins the name of every move and state.
    pub(crate) fn rulesheet(&self, prefix: &str) -> String {
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            text.write_fmt(words).unwrap();
            text.push('\n');
        };
        for role in &self.roles {
            line(format_args!("(role {role})"));
        }
        let most_moves = self.nodes.iter().map(|node| match node {
            Node::Leaf(_) => 0,
            Node::Inner { n_moves, .. } => n_moves.iter().copied().max().unwrap_or(0),
        });
        for index in 0..most_moves.max().unwrap_or(0) {
            line(format_args!("(choice {prefix}m{index})"));
        }
        line(format_args!("(init (at {prefix}n0))"));
        for (node, content) in self.nodes.iter().enumerate() {
            match content {
                Node::Leaf(rewards) => {
                    for (role, reward) in self.roles.iter().zip(rewards) {
                        line(format_args!("(payoff {prefix}n{node} {role} {reward})"));
                    }
                }
                Node::Inner { n_moves, children } => {
                    for (role, &n_moves) in self.roles.iter().zip(n_moves) {
                        for index in 0..n_moves {
                            line(format_args!("(open {prefix}n{node} {role} {prefix}m{index})"));
                        }
                    }
                    for (index, child) in children.iter().enumerate() {
                        let moves: Vec<String> = digits(index, n_moves)
                            .iter()
                            .map(|digit| format!("{prefix}m{digit}"))
                            .collect();
                        let moves = moves.join(" ");
                        line(format_args!("(arc {prefix}n{node} {moves} {prefix}n{child})"));
                    }
                }
            }
        }
        let does: Vec<String> =
            self.roles.iter().map(|role| format!("(does {role} ?{role})")).collect();
        let variables: Vec<String> = self.roles.iter().map(|role| format!("?{role}")).collect();
        let (does, variables) = (does.join(" "), variables.join(" "));
        line(format_args!("(<= (legal ?r ?m) (true (at ?n)) (open ?n ?r ?m))"));
        line(format_args!("(<= (next (at ?k)) (true (at ?n)) {does} (arc ?n {variables} ?k))"));
        line(format_args!("(<= terminal (true (at ?n)) (payoff ?n ?r ?v))"));
        line(format_args!("(<= (goal ?r ?v) (true (at ?n)) (payoff ?n ?r ?v))"));
        text
    }

    /// A reasoner for the game.
    pub(crate) fn machine(&self) -> Box<dyn StateMachine> {
        machine(&self.rulesheet(""))
    }

    /// The child of an inner node by the moves' indices, by role.
    pub(crate) fn child(&self, node: usize, moves: &[usize]) -> usize {
        let Node::Inner { n_moves, children } = &self.nodes[node] else { panic!("no inner node") };
        let index = moves.iter().zip(n_moves).fold(0, |index, (digit, n)| index * n + digit);
        children[index]
    }
}

/// A reasoner for a graph of the roles `me`, `other` and `random`; after each step every player
/// is told the number of the new state modulo `n_looks`. With more looks than states nothing is
/// hidden.
pub(crate) fn hiding(graph: &Graph, n_looks: usize) -> Box<dyn StateMachine> {
    let mut text = graph.rulesheet("");
    for node in 0..graph.nodes.len() {
        writeln!(text, "(look n{node} l{})", node % n_looks).unwrap();
    }
    for role in ["me", "other"] {
        writeln!(
            text,
            "(<= (sees {role} (look ?l)) (true (at ?n)) (does me ?a) (does other ?b)
                 (does random ?c) (arc ?n ?a ?b ?c ?k) (look ?k ?l))"
        )
        .unwrap();
    }
    machine(&text)
}

/// The moves' indices of the joint move of this index.
fn digits(mut index: usize, n_moves: &[usize]) -> Vec<usize> {
    let mut digits = vec![0; n_moves.len()];
    for (digit, n) in digits.iter_mut().zip(n_moves).rev() {
        *digit = index % n;
        index /= n;
    }
    digits
}

/// All joint moves, by their moves' indices.
pub(crate) fn joint_moves(n_moves: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..n_moves.iter().product()).map(|index| digits(index, n_moves))
}
