//! Relations that depend on themselves within one state: least fixpoints as acyclic
//! circuits.
//!
//! The sentences that hold are the least solution of Boolean equations, one for each
//! ground sentence. Sentences that depend on each other form a group (often there is
//! none: a line along a board only looks recursive), and only groups need to be solved.
//! If each alternative of a sentence depends on at most one sentence of the group, the
//! equations are linear and variables are eliminated one by one: the least solution of
//! `x = a x + b` is `b` (Gaussian elimination in a closed semiring: Lehmann 1977). What all
//! alternatives of a sentence have in common, such as the stone that a chain needs in a cell, is
//! factored out: the coefficients that are left are the same there and back between neighbours.
//! Otherwise the group is iterated from below until nothing changes, at most as often as
//! it has sentences, which always suffices.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::circuit::Circuit;
use super::gates::Gates;
use super::joining::{Group, JoinWorkspace};
use super::limits::Halt;
use super::operations::{Joins, RelationId};
use crate::components::components;
use crate::network::Lit;
use crate::relational::terms::NONE;

/// An alternative of a ground sentence: a conjunction of sentences of the
/// relations at hand and whatever lies outside.
#[derive(Debug)]
struct Alternative {
    holds: SmallVec<[u32; 2]>,
    absent: SmallVec<[u32; 1]>,
    outside: Lit,
}

/// The row of an alternative, before rows are numbered through.
type Place = (u32, u32);

/// An alternative with places: the row that follows, rows that must hold, rows that must
/// not hold, and the conditions outside the group.
type Found = (Place, SmallVec<[Place; 2]>, SmallVec<[Place; 1]>, Lit);

/// Fills relations that depend on each other.
pub(super) fn fill(
    circuit: &mut Circuit,
    joins: &Joins,
    workspace: &mut JoinWorkspace,
    members: &[RelationId],
) -> Result<(), Halt> {
    let found = alternatives(circuit, joins, workspace, members)?;
    let mut first_of = Vec::new();
    let mut n = 0;
    for &id in members {
        first_of.push(n);
        n += workspace.tables[id].n_rows();
    }
    let node = |(member, row): Place| first_of[member as usize] + row;
    let mut equations: Vec<Vec<Alternative>> = (0..n).map(|_| Vec::new()).collect();
    for (target, holds, absent, outside) in found {
        equations[node(target) as usize].push(Alternative {
            holds: holds.into_iter().map(node).collect(),
            absent: absent.into_iter().map(node).collect(),
            outside,
        });
    }
    // Similar groups, such as the connections of each cell, are solved in the same order,
    // so that they share gates.
    let mut order: Vec<u32> = (0..n).collect();
    let row_of = |node: u32| {
        let member = first_of.partition_point(|&first| first <= node) - 1;
        (member, workspace.tables[members[member]].row(node - first_of[member]))
    };
    order.sort_unstable_by(|&left, &right| row_of(left).cmp(&row_of(right)));
    let lits = solve(circuit, workspace, &equations, &order)?;
    for (&id, &first) in members.iter().zip(&first_of) {
        let n_rows = workspace.tables[id].n_rows();
        circuit.lits[id] = lits[first as usize..(first + n_rows) as usize].to_vec();
    }
    Ok(())
}

/// All alternatives, by running the operations until nothing new comes out.
fn alternatives(
    circuit: &mut Circuit,
    joins: &Joins,
    workspace: &mut JoinWorkspace,
    members: &[RelationId],
) -> Result<Vec<Found>, Halt> {
    let number = |id: RelationId| members.binary_search(&id).ok();
    let mut found: Vec<Found> = Vec::new();
    loop {
        let mut grown = false;
        for &target in members {
            for &id in &joins.relations[target].operations {
                circuit.clause = joins.operations[id].clause;
                let part = &joins.operations[id].part;
                let of_state =
                    || part.absent.iter().filter(|atom| !joins.relations[atom.predicate].is_static);
                let to = number(target).expect("it is one of them") as u32;
                workspace.run(joins, id, |workspace, matches| {
                    for (rows, absent, values) in matches.groups().flat_map(Group::iter) {
                        circuit.n_ground_rules += 1;
                        let is_inside = |id| number(id).is_some();
                        let outside = circuit.matched(joins, id, rows, absent, is_inside);
                        if outside == Lit::FALSE {
                            continue;
                        }
                        let (row, is_new) = workspace.enter(joins, id, values)?;
                        grown |= is_new;
                        let inputs = part.inputs.iter().zip(rows);
                        let holds = inputs
                            .filter_map(|(atom, &row)| Some((number(atom.predicate)? as u32, row)));
                        let absent = of_state().zip(absent).filter(|(_, row)| **row != NONE);
                        let absent = absent
                            .filter_map(|(atom, &row)| Some((number(atom.predicate)? as u32, row)));
                        found.push(((to, row), holds.collect(), absent.collect(), outside));
                    }
                    let bytes = (size_of::<Found>() * found.capacity()) as u64 + circuit.bytes();
                    workspace.meter.hold(0, 2 * bytes, circuit.gates.n_ands() as u64)
                })?;
            }
        }
        if !grown {
            return Ok(found);
        }
    }
}

/// The least solution.
fn solve(
    circuit: &mut Circuit,
    workspace: &mut JoinWorkspace,
    equations: &[Vec<Alternative>],
    order: &[u32],
) -> Result<Vec<Lit>, Halt> {
    let edges: Vec<Vec<usize>> = equations
        .iter()
        .map(|alternatives| {
            let sentences = alternatives.iter().flat_map(|one| one.holds.iter().chain(&one.absent));
            sentences.map(|&other| other as usize).collect()
        })
        .collect();
    let group_of = components(edges.len(), |node, k| edges[node].get(k).copied());
    drop(edges);
    let n_groups = group_of.iter().max().map_or(0, |&last| last + 1);
    let mut groups: Vec<SmallVec<[u32; 1]>> = vec![SmallVec::new(); n_groups];
    for &node in order {
        groups[group_of[node as usize]].push(node);
    }
    // By sentence, its number within its group.
    let mut local = vec![0; equations.len()];
    let mut lits = vec![Lit::FALSE; equations.len()];
    for (group, nodes) in groups.iter().enumerate() {
        workspace.meter.step(nodes.len() as u64)?;
        let is_inside = |other: &u32| group_of[*other as usize] == group;
        let of_group = || nodes.iter().flat_map(|&node| &equations[node as usize]);
        if of_group().any(|one| one.absent.iter().any(is_inside)) {
            return Err(Halt::Unstratified);
        }
        if let [node] = nodes[..] {
            // An alternative that depends on the sentence itself adds nothing.
            let others = equations[node as usize].iter();
            let others = others.filter(|one| !one.holds.contains(&node));
            lits[node as usize] = disjunction(&mut circuit.gates, others, &lits);
            continue;
        }
        circuit.n_cyclic += nodes.len() as u64;
        for (at, &node) in nodes.iter().enumerate() {
            local[node as usize] = at as u32;
        }
        let is_linear =
            of_group().all(|one| one.holds.iter().filter(|id| is_inside(id)).count() < 2);
        if is_linear {
            eliminate(circuit, workspace, equations, nodes, is_inside, &local, &mut lits)?;
        } else {
            iterate(circuit, workspace, equations, nodes, &mut lits)?;
        }
    }
    Ok(lits)
}

/// The value of an alternative.
fn conjunction(gates: &mut Gates, one: &Alternative, lits: &[Lit]) -> Lit {
    let mut lit = one.outside;
    for &other in &one.holds {
        lit = gates.and(lit, lits[other as usize]);
    }
    for &other in &one.absent {
        lit = gates.and(lit, !lits[other as usize]);
    }
    lit
}

fn disjunction<'a>(
    gates: &mut Gates,
    alternatives: impl Iterator<Item = &'a Alternative>,
    lits: &[Lit],
) -> Lit {
    let mut values: Vec<Lit> = alternatives.map(|one| conjunction(gates, one, lits)).collect();
    gates.any(&mut values)
}

/// Iterates from below.
fn iterate(
    circuit: &mut Circuit,
    workspace: &mut JoinWorkspace,
    equations: &[Vec<Alternative>],
    nodes: &[u32],
    lits: &mut [Lit],
) -> Result<(), Halt> {
    for _ in 0..nodes.len() {
        let mut changed = false;
        for &node in nodes {
            let alternatives = &equations[node as usize];
            workspace.meter.step(alternatives.len() as u64)?;
            let lit = disjunction(&mut circuit.gates, alternatives.iter(), lits);
            changed |= lit != lits[node as usize];
            lits[node as usize] = lit;
        }
        workspace.meter.hold(0, circuit.bytes(), circuit.gates.n_ands() as u64)?;
        if !changed {
            break;
        }
    }
    Ok(())
}

/// Coefficients of one equation: by sentence, ascending.
type Row = Vec<(u32, Lit)>;

/// Solves linear equations by elimination.
fn eliminate(
    circuit: &mut Circuit,
    workspace: &mut JoinWorkspace,
    equations: &[Vec<Alternative>],
    nodes: &[u32],
    is_inside: impl Fn(&u32) -> bool,
    local: &[u32],
    lits: &mut [Lit],
) -> Result<(), Halt> {
    let n = nodes.len();
    // The equation of a sentence is `factor (constant + sum of coefficient * other)`.
    let mut factors: Vec<Lit> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut constants: Vec<Lit> = Vec::new();
    // By sentence, the sentences whose equations contain it.
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (at, &node) in nodes.iter().enumerate() {
        let mut terms: Vec<(u32, Lit)> = Vec::new();
        let mut constant = Vec::new();
        for one in &equations[node as usize] {
            match one.holds.iter().position(&is_inside) {
                None => constant.push(conjunction(&mut circuit.gates, one, lits)),
                Some(inside) => {
                    let mut lit = one.outside;
                    for (position, &other) in one.holds.iter().enumerate() {
                        if position != inside {
                            lit = circuit.gates.and(lit, lits[other as usize]);
                        }
                    }
                    for &other in &one.absent {
                        lit = circuit.gates.and(lit, !lits[other as usize]);
                    }
                    let other = local[one.holds[inside] as usize];
                    if other as usize != at && lit != Lit::FALSE {
                        terms.push((other, lit));
                    }
                }
            }
        }
        constant.retain(|&lit| lit != Lit::FALSE);
        let all = constant.iter_mut().chain(terms.iter_mut().map(|(_, lit)| lit));
        factors.push(take_common_factor(&mut circuit.gates, all.collect()));
        constants.push(circuit.gates.any(&mut constant));
        terms.sort_unstable();
        let mut row: Row = Vec::new();
        for group in terms.chunk_by(|one, other| one.0 == other.0) {
            let mut alternatives: Vec<Lit> = group.iter().map(|&(_, lit)| lit).collect();
            row.push((group[0].0, circuit.gates.any(&mut alternatives)));
            users[group[0].0 as usize].push(at as u32);
        }
        rows.push(row);
    }
    // Those with the fewest combinations of a user and a used one first. Of these, those without
    // a factor: then a factor stays with its sentence, and coefficients stay symmetric.
    let mut is_left = vec![true; n];
    let mut order = Vec::new();
    let weight = |rows: &[Row], users: &[Vec<u32>], at: u32| {
        rows[at as usize].len() * users[at as usize].len()
    };
    let mut weights: Vec<usize> = (0..n as u32).map(|at| weight(&rows, &users, at)).collect();
    let key = |weight: usize, at: u32| (weight, factors[at as usize] != Lit::TRUE, at);
    let mut queue: BTreeSet<(usize, bool, u32)> =
        weights.iter().enumerate().map(|(at, &weight)| key(weight, at as u32)).collect();
    while let Some((.., at)) = queue.pop_first() {
        is_left[at as usize] = false;
        order.push(at);
        let row = rows[at as usize].clone();
        let of = std::mem::take(&mut users[at as usize]);
        workspace.meter.step((row.len() * of.len() + 1) as u64)?;
        workspace.meter.hold(0, circuit.bytes(), circuit.gates.n_ands() as u64)?;
        let mut touched: Vec<u32> = row.iter().map(|&(other, _)| other).collect();
        touched.extend(&of);
        touched.sort_unstable();
        touched.dedup();
        let factor = factors[at as usize];
        let own = circuit.gates.and(factor, constants[at as usize]);
        for &user in &of {
            let place = rows[user as usize].binary_search_by_key(&at, |&(other, _)| other);
            let (_, used) = rows[user as usize].remove(place.expect("it is a user"));
            let gates = &mut circuit.gates;
            let constant = gates.and(used, own);
            constants[user as usize] = gates.or(constants[user as usize], constant);
            for &(other, lit) in &row {
                if other == user {
                    continue;
                }
                // In this order, paths there and back share gates where the relation is
                // symmetric, such as that of neighbours.
                let (first, last) = (used.min(lit), used.max(lit));
                let lit = gates.and(first, factor);
                let lit = gates.and(lit, last);
                if lit == Lit::FALSE {
                    continue;
                }
                let target = &mut rows[user as usize];
                match target.binary_search_by_key(&other, |&(known, _)| known) {
                    Ok(place) => target[place].1 = gates.or(target[place].1, lit),
                    Err(place) => {
                        target.insert(place, (other, lit));
                        users[other as usize].push(user);
                    }
                }
            }
        }
        for &(other, _) in &row {
            users[other as usize].retain(|&user| user != at);
        }
        for &other in touched.iter().filter(|&&other| is_left[other as usize]) {
            queue.remove(&key(weights[other as usize], other));
            weights[other as usize] = weight(&rows, &users, other);
            queue.insert(key(weights[other as usize], other));
        }
    }
    // Each equation contains only sentences that were eliminated later.
    for &at in order.iter().rev() {
        let mut values = vec![constants[at as usize]];
        for &(other, lit) in &rows[at as usize] {
            let other = lits[nodes[other as usize] as usize];
            values.push(circuit.gates.and(lit, other));
        }
        let sum = circuit.gates.any(&mut values);
        lits[nodes[at as usize] as usize] = circuit.gates.and(factors[at as usize], sum);
    }
    Ok(())
}

/// The conjunction of the literals that occur in all of these conjunctions, which lose them.
fn take_common_factor(gates: &mut Gates, mut products: Vec<&mut Lit>) -> Lit {
    let mut common: Option<Vec<Lit>> = None;
    for product in &products {
        let parts = gates.parts(**product);
        match &mut common {
            None => common = Some(parts),
            Some(common) => common.retain(|part| parts.contains(part)),
        }
    }
    let mut common = common.unwrap_or_default();
    if !common.is_empty() {
        for product in &mut products {
            let mut parts = gates.parts(**product);
            parts.retain(|part| !common.contains(part));
            **product = gates.all(&mut parts);
        }
    }
    gates.all(&mut common)
}
