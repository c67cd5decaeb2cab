//! Game trees: where all that play can reach are a few states, each with a short name, the states
//! are nodes of a tree, and the moves lead from node to node.
//!
//! A small tree is drawn as a whole; of a larger one, what lies below the state. Where a state can
//! be reached in several ways, the tree goes on from the node next to its root only; so a map of
//! places is drawn in the same way.
//!
//! The picture shows whatever the facts say, so it is for those who may see all facts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use games::{Expression, Game};

use super::relations::relations_of;
use super::state_graph::{GameState, JointWay, StateGraph};
use super::tree_picture::{NodeKind, TreeNode, TreePicture};
use super::way_text::{joint_text, moves_text, plain_words};

/// Maximum number of nodes that are drawn, and of moves on a line that is drawn.
const MAX_NODES: usize = 40;
const MAX_DEPTH: usize = 14;

/// Minimum number of states of a tree.
const MIN_STATES: usize = 3;

/// Maximum number of characters of the name of a state.
const MAX_NAME: usize = 24;

/// The states of a game, as nodes of trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GameTree {
    /// The initial one first.
    states: Vec<TreeState>,
    /// By the facts that not all states have.
    numbers: BTreeMap<BTreeSet<String>, usize>,
    /// These facts.
    facts: BTreeSet<String>,
    /// Those of them that do not count steps.
    shown: BTreeSet<Expression>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeState {
    name: String,
    kind: NodeKind,
    /// One for each next state.
    ways: Vec<TreeWay>,
}

/// The moves that lead from a state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeWay {
    moves: String,
    chance: Option<String>,
    to: usize,
}

impl GameTree {
    /// The tree of the states of a game; `None` if they are too few, they have no short and
    /// different names, or nobody has a choice.
    pub(super) fn new(game: &Game, graph: &StateGraph) -> Option<Self> {
        let has_choice = graph.states.iter().any(|state| state.continuation.ways.len() > 1);
        if graph.states.len() < MIN_STATES || !has_choice {
            return None;
        }
        let common = |fact: &&Expression| graph.states.iter().all(|s| s.facts.contains(fact));
        let common: BTreeSet<&Expression> = graph.states[0].facts.iter().filter(common).collect();
        let own = |state: &GameState| -> Vec<Expression> {
            state.facts.iter().filter(|fact| !common.contains(fact)).cloned().collect()
        };
        let own: Vec<Vec<Expression>> = graph.states.iter().map(own).collect();
        let names = names(&own, graph)?;
        let key = |facts: &Vec<Expression>| facts.iter().map(ToString::to_string).collect();
        let keys: Vec<BTreeSet<String>> = own.iter().map(key).collect();
        let idle = idle_moves(graph);
        let state = |(state, name): (&GameState, String)| TreeState {
            name,
            kind: kind(game, state, &idle),
            ways: ways(game, state, &idle),
        };
        Some(Self {
            states: graph.states.iter().zip(names).map(state).collect(),
            facts: keys.iter().flatten().cloned().collect(),
            shown: own.iter().flatten().filter(|fact| !graph.counts(fact)).cloned().collect(),
            numbers: keys.into_iter().zip(0..).collect(),
        })
    }

    /// Whether the tree shows a fact.
    pub(super) fn shows(&self, fact: &Expression) -> bool {
        self.shown.contains(fact)
    }

    /// The facts that tell states apart.
    pub(super) fn own_facts(&self, facts: &[Expression]) -> Vec<String> {
        let facts = facts.iter().map(ToString::to_string);
        facts.filter(|fact| self.facts.contains(fact)).collect()
    }

    /// The tree around the state that has these facts.
    pub(super) fn picture(&self, own_facts: &[String]) -> TreePicture {
        let Some(&here) = self.numbers.get(&own_facts.iter().cloned().collect()) else {
            // A state that was not found; see `StateGraph`.
            let kind = NodeKind::Moves(vec![]);
            let root = TreeNode { kind, is_here: true, ..TreeNode::root(own_facts.join(" ")) };
            return TreePicture { nodes: vec![root] };
        };
        let mut picture = self.below(0).unwrap_or_else(|_| self.cut_picture(here));
        for node in &mut picture.nodes {
            node.is_here = node.number == here && node.kind != NodeKind::Again;
        }
        let here: Vec<usize> =
            (0..picture.nodes.len()).filter(|&at| picture.nodes[at].number == here).collect();
        if let &[here] = here.as_slice() {
            let mut on_line = Some(here);
            while let Some(at) = on_line {
                picture.nodes[at].is_on_line = true;
                on_line = picture.nodes[at].parent;
            }
        }
        picture
    }

    /// What lies below a state, or below the one before it if that is certain and the game has
    /// ended.
    fn cut_picture(&self, here: usize) -> TreePicture {
        let below = |root| self.below(root).unwrap_or_else(|cut| cut);
        let leads_here = |at: &usize| self.states[*at].ways.iter().any(|way| way.to == here);
        let before: Vec<usize> = (0..self.states.len()).filter(leads_here).collect();
        match before.as_slice() {
            &[before] if self.states[here].ways.is_empty() => {
                let picture = below(before);
                let is_drawn = picture.nodes.iter().any(|node| node.number == here);
                if is_drawn { picture } else { below(here) }
            }
            _ => below(here),
        }
    }

    /// What the signs of pictures stand for, of all states: one picture may have no sign that
    /// another one has.
    pub(super) fn signs(&self) -> Vec<String> {
        let mut n_ways = vec![0; self.states.len()];
        n_ways[0] = 1;
        for way in self.states.iter().flat_map(|state| &state.ways) {
            n_ways[way.to] += 1;
        }
        let is_met_again =
            |(state, n_ways): (&TreeState, &usize)| *n_ways > 1 && !state.ways.is_empty();
        let is_again = self.states.iter().zip(&n_ways).any(is_met_again);
        let signs = [
            (true, "* this state"),
            (is_again, "^ drawn elsewhere"),
            (self.below(0).is_err(), "... not drawn"),
        ];
        signs.into_iter().filter(|(is_met, _)| *is_met).map(|(_, sign)| sign.to_owned()).collect()
    }

    /// The tree below a state, or what there is room for.
    fn below(&self, root: usize) -> Result<TreePicture, TreePicture> {
        let mut nodes = vec![self.node(root, None)];
        let mut depths = vec![0];
        let mut expanded = BTreeSet::new();
        let mut open = VecDeque::from([0]);
        let mut is_cut = false;
        while let Some(at) = open.pop_front() {
            let number = nodes[at].number;
            let ways = &self.states[number].ways;
            if ways.is_empty() {
                continue;
            }
            if !expanded.insert(number) {
                nodes[at].kind = NodeKind::Again;
                continue;
            }
            let n_free = MAX_NODES - nodes.len();
            let n_drawn = match ways.len() {
                _ if depths[at] == MAX_DEPTH => 0,
                n if n <= n_free => n,
                _ if at == 0 => n_free,
                _ => 0,
            };
            nodes[at].n_hidden = ways.len() - n_drawn;
            is_cut |= nodes[at].n_hidden > 0;
            for way in &ways[..n_drawn] {
                open.push_back(nodes.len());
                nodes.push(self.node(way.to, Some((at, way))));
                depths.push(depths[at] + 1);
            }
        }
        let picture = TreePicture { nodes };
        if is_cut { Err(picture) } else { Ok(picture) }
    }

    fn node(&self, number: usize, before: Option<(usize, &TreeWay)>) -> TreeNode {
        let TreeState { name, kind, .. } = &self.states[number];
        let root = TreeNode { number, kind: kind.clone(), ..TreeNode::root(name.clone()) };
        match before {
            None => root,
            Some((parent, TreeWay { moves, chance, .. })) => TreeNode {
                parent: Some(parent),
                moves: moves.clone(),
                chance: chance.clone(),
                ..root
            },
        }
    }
}

/// By role: the moves that are its only ones while others have a choice.
fn idle_moves(graph: &StateGraph) -> Vec<BTreeSet<&Expression>> {
    let n_roles =
        graph.states.iter().map(|state| state.continuation.legal.len()).max().unwrap_or(0);
    let mut idle = vec![BTreeSet::new(); n_roles];
    for legal in graph.states.iter().map(|state| &state.continuation.legal) {
        if legal.iter().any(|moves| moves.len() > 1) {
            for (idle, moves) in idle.iter_mut().zip(legal) {
                idle.extend(moves.first().filter(|_| moves.len() == 1));
            }
        }
    }
    idle
}

/// The roles that move: those that have a choice, or else those that are not idle.
fn movers(state: &GameState, idle: &[BTreeSet<&Expression>]) -> Vec<usize> {
    let legal = &state.continuation.legal;
    let choosing: Vec<usize> = (0..legal.len()).filter(|&role| legal[role].len() > 1).collect();
    if !choosing.is_empty() {
        return choosing;
    }
    (0..legal.len()).filter(|&role| !idle[role].contains(&legal[role][0])).collect()
}

fn kind(game: &Game, state: &GameState, idle: &[BTreeSet<&Expression>]) -> NodeKind {
    let random = game.random().map(|role| usize::from(role.0));
    let players: Vec<_> = game.role_ids().filter(|&role| Some(role) != game.random()).collect();
    let name = |role| game.role_name(role).to_owned();
    if let Some(rewards) = &state.continuation.rewards {
        let reward = |&role: &games::RoleId| {
            let reward = rewards[usize::from(role.0)]?;
            Some(((players.len() > 1).then(|| name(role)), reward))
        };
        return NodeKind::End(players.iter().filter_map(reward).collect());
    }
    let movers = movers(state, idle);
    if movers.len() == 1 && movers.first().copied() == random {
        return NodeKind::Chance;
    }
    if game.roles().len() == 1 {
        return NodeKind::Moves(vec![]);
    }
    let roles = game.role_ids().filter(|role| movers.contains(&usize::from(role.0)));
    NodeKind::Moves(roles.map(|role| (name(role), usize::from(role.0))).collect())
}

/// The ways to other states, in the order of the moves.
fn ways(game: &Game, state: &GameState, idle: &[BTreeSet<&Expression>]) -> Vec<TreeWay> {
    let movers = movers(state, idle);
    let mut targets: Vec<(usize, Vec<&JointWay>)> = Vec::new();
    for way in &state.continuation.ways {
        match targets.iter_mut().find(|(to, _)| *to == way.to) {
            Some((_, ways)) => ways.push(way),
            None => targets.push((way.to, vec![way])),
        }
    }
    let is_chance = kind(game, state, idle) == NodeKind::Chance && targets.len() > 1;
    let way = |(to, ways): (usize, Vec<&JointWay>)| {
        let played = |way: &JointWay, role: usize| &state.continuation.legal[role][way.moves[role]];
        let moves: Vec<Vec<&Expression>> =
            ways.iter().map(|way| movers.iter().map(|&role| played(way, role)).collect()).collect();
        let moves = match movers.as_slice() {
            [_] => moves_text(&moves.concat()),
            _ => joint_text(&moves),
        };
        let chance = is_chance.then(|| format!("{}/{}", ways.len(), state.continuation.ways.len()));
        TreeWay { moves, chance, to }
    };
    targets.into_iter().map(way).collect()
}

/// What each state is called, by the facts that not all states have: first what each has one
/// fact of. `None` if some name is too long, or several states have the same.
fn names(states: &[Vec<Expression>], graph: &StateGraph) -> Option<Vec<String>> {
    let are_different =
        |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let short = names_with(states, graph, false);
    let names = if are_different(&short) { short } else { names_with(states, graph, true) };
    let have_room = names.iter().all(|name| name.chars().count() <= MAX_NAME);
    (have_room && are_different(&names)).then_some(names)
}

/// Names with those of all relations, or only with those that may have several facts.
fn names_with(states: &[Vec<Expression>], graph: &StateGraph, has_all: bool) -> Vec<String> {
    let relations = relations_of(1..=1, &[], states);
    let mut n_at_once: Vec<(&str, usize, usize)> = Vec::new();
    for (&(name, _), rows) in &relations {
        let numbers = || (0..states.len()).map(|at| rows.played.get(at).map_or(0, Vec::len));
        n_at_once.push((name, numbers().min().unwrap_or(0), numbers().max().unwrap_or(0)));
    }
    let of = |fact: &Expression| {
        let Expression::List(items) = fact else { return None };
        let [Expression::Atom(name), _] = items.as_slice() else { return None };
        n_at_once.iter().find(|(other, ..)| other == name)
    };
    let name = |facts: &Vec<Expression>| {
        let mut words: Vec<(bool, String)> = Vec::new();
        for fact in facts.iter().filter(|fact| !graph.counts(fact)) {
            match (fact, of(fact)) {
                (Expression::List(items), Some((_, n_least, 1))) => {
                    let word =
                        if has_all { plain_words(fact).join(" ") } else { items[1].to_string() };
                    words.push((*n_least == 0, word));
                }
                _ => words.push((true, plain_words(fact).join(" "))),
            }
        }
        words.sort_by_key(|(is_late, _)| *is_late);
        let words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
        if words.is_empty() { "-".to_owned() } else { words.join(", ") }
    };
    states.iter().map(name).collect()
}
