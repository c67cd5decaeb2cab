//! Removes what never changes, found by propagating everything that could change.
//!
//! Starting from the initial state, each fact is given the values it has or
//! might get, each move whether it might become legal, and each node the values
//! that follow, until nothing is added (ternary simulation: Bryant 1987; as a
//! search for stuck-at latches: Case, Baumgartner, Mony and Kanzelman 2009).
//! What then has one value only has it in every state that play reaches.

use super::{Graph, Lit, Network, RoleOutputs};

/// The values that something may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Values {
    no: bool,
    yes: bool,
}

impl Values {
    fn of(value: bool) -> Self {
        Self { no: !value, yes: value }
    }

    fn add(&mut self, other: Self) -> bool {
        let before = *self;
        self.no |= other.no;
        self.yes |= other.yes;
        *self != before
    }
}

/// The network without constant inputs and nodes and without nodes that no output needs.
/// Facts that never hold and moves that are never legal are removed; facts that always
/// hold stay, since states consist of them.
pub(crate) fn without_constants(network: &Network) -> Network {
    let values = possible(network);
    let value = |lit: Lit| {
        let Values { no, yes } = values[lit.node() as usize];
        if lit.is_negated() { Values { no: yes, yes: no } } else { Values { no, yes } }
    };
    let graph = &network.graph;
    let n_facts = network.n_facts();
    let may_hold: Vec<bool> =
        (0..graph.n_inputs()).map(|input| value(graph.input(input)).yes).collect();
    let facts: Vec<usize> = (0..n_facts).filter(|&fact| may_hold[fact]).collect();
    let mut first = n_facts;
    let mut moves: Vec<Vec<usize>> = Vec::new();
    for role in &network.roles {
        moves.push((0..role.moves.len()).filter(|at| may_hold[first + at]).collect());
        first += role.moves.len();
    }
    let n_inputs = facts.len() + moves.iter().map(Vec::len).sum::<usize>();
    let mut copy =
        Copy { old: graph, new: Graph::new(n_inputs), lits: vec![None; graph.n_nodes()] };
    for (node, &Values { no, yes }) in values.iter().enumerate() {
        if no != yes {
            copy.lits[node] = Some(if yes { Lit::TRUE } else { Lit::FALSE });
        }
    }
    let mut next_input = 0;
    let mut enter = |copy: &mut Copy<'_>, input: usize| {
        let lit = copy.new.input(next_input);
        next_input += 1;
        copy.lits[graph.input(input).node() as usize].get_or_insert(lit);
    };
    facts.iter().for_each(|&fact| enter(&mut copy, fact));
    let mut first = n_facts;
    for (role, moves) in network.roles.iter().zip(&moves) {
        moves.iter().for_each(|&at| enter(&mut copy, first + at));
        first += role.moves.len();
    }
    copy.mark_and_copy(network, &facts, &moves);
    let next = facts.iter().map(|&fact| copy.lit(network.next[fact])).collect();
    let terminal = copy.lit(network.terminal);
    let mut roles = Vec::new();
    for (role, moves) in network.roles.iter().zip(&moves) {
        let mut goals = Vec::new();
        for &(value, lit) in &role.goals {
            goals.push((value, copy.lit(lit)));
        }
        let mut percepts = Vec::new();
        for (percept, lit) in &role.percepts {
            percepts.push((percept.clone(), copy.lit(*lit)));
        }
        goals.retain(|&(_, lit)| lit != Lit::FALSE);
        percepts.retain(|&(_, lit)| lit != Lit::FALSE);
        roles.push(RoleOutputs {
            moves: moves.iter().map(|&at| role.moves[at].clone()).collect(),
            legal: moves.iter().map(|&at| copy.lit(role.legal[at])).collect(),
            goals,
            percepts,
        });
    }
    Network {
        game: std::sync::Arc::clone(&network.game),
        facts: facts.iter().map(|&fact| network.facts[fact].clone()).collect(),
        initial: facts.iter().map(|&fact| network.initial[fact]).collect(),
        next,
        terminal,
        roles,
        graph: copy.new,
    }
}

struct Copy<'a> {
    old: &'a Graph,
    new: Graph,
    /// By old node.
    lits: Vec<Option<Lit>>,
}

impl Copy<'_> {
    fn lit(&self, old: Lit) -> Lit {
        let lit = self.lits[old.node() as usize].expect("outputs were marked");
        lit.negated_if(old.is_negated())
    }

    /// Copies the nodes that the outputs of these facts and moves depend on.
    fn mark_and_copy(&mut self, network: &Network, facts: &[usize], moves: &[Vec<usize>]) {
        let mut is_needed = vec![false; self.old.n_nodes()];
        let mut need = |lit: Lit| is_needed[lit.node() as usize] = true;
        need(network.terminal);
        facts.iter().for_each(|&fact| need(network.next[fact]));
        for (role, moves) in network.roles.iter().zip(moves) {
            moves.iter().for_each(|&at| need(role.legal[at]));
            role.goals.iter().for_each(|&(_, lit)| need(lit));
            role.percepts.iter().for_each(|&(_, lit)| need(lit));
        }
        for node in (0..self.old.n_nodes() as u32).rev() {
            if is_needed[node as usize]
                && self.lits[node as usize].is_none()
                && let Some(operands) = self.old.operands(node)
            {
                operands.iter().for_each(|lit| is_needed[lit.node() as usize] = true);
            }
        }
        for (node, [left, right]) in self.old.ands() {
            if is_needed[node as usize] && self.lits[node as usize].is_none() {
                let lit = self.new.and(self.lit(left), self.lit(right));
                self.lits[node as usize] = Some(lit);
            }
        }
    }
}

/// The values that nodes may have in states that play may reach.
fn possible(network: &Network) -> Vec<Values> {
    let graph = &network.graph;
    let mut inputs: Vec<Values> = network.initial.iter().map(|&value| Values::of(value)).collect();
    inputs.resize(graph.n_inputs(), Values::of(false));
    loop {
        let mut values = vec![Values::of(false)];
        values.extend_from_slice(&inputs);
        let value = |values: &[Values], lit: Lit| {
            let Values { no, yes } = values[lit.node() as usize];
            if lit.is_negated() { Values { no: yes, yes: no } } else { Values { no, yes } }
        };
        for (_, [left, right]) in graph.ands() {
            let (left, right) = (value(&values, left), value(&values, right));
            values.push(Values { no: left.no || right.no, yes: left.yes && right.yes });
        }
        let mut grown = false;
        for (fact, &next) in network.next.iter().enumerate() {
            grown |= inputs[fact].add(value(&values, next));
        }
        let legal = network.roles.iter().flat_map(|role| &role.legal);
        for (input, &legal) in inputs[network.n_facts()..].iter_mut().zip(legal) {
            let may_be_played = value(&values, legal).yes;
            grown |= input.add(Values { no: true, yes: may_be_played });
        }
        if !grown {
            return values;
        }
    }
}
