//! Stratification: no rule may rest on its own negation.
//!
//! The GDL specification (Love et al. 2008, section 4) asks this of predicates.
//! Published rulesheets have rules such as `(<= (goal ?r 0) (role ?r) (not
//! (goal ?r 100)))`, which break it by the letter, but have one clear meaning
//! all the same: so the question is asked of *rules* here. A rule depends on
//! those whose heads some condition of its body may match, as far as constants
//! and functions tell; a set of rules without a circle through a negation has
//! exactly one stable reading, which is found by evaluating the rules stratum
//! by stratum.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::Findings;
use crate::rulesheet::{Rulesheet, Span};
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, Predicate, for_each_sentence,
};
use crate::validate::dependencies::{Dependencies, Edge, components};

/// The numbers of the clauses of each stratum, in order of evaluation. Rules
/// of one stratum may depend on each other, but not negatively. Circles through
/// a negation are reported.
pub(crate) fn stratify(
    clauses: &[Clause],
    graph: &Dependencies,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) -> Vec<Vec<usize>> {
    let edges = edges(clauses);
    let components = components(&edges);
    let mut said = FxHashSet::default();
    let mut stratified = true;
    for (from, of_rule) in edges.iter().enumerate() {
        for edge in of_rule.iter().filter(|edge| edge.negative) {
            let component = components[from];
            if components[edge.to] == component && said.insert((component, edge.to)) {
                stratified = false;
                let circle = path(&edges, edge.to, from, |node| components[node] == component);
                report(clauses, &circle, edge.span, rulesheet, findings);
            }
        }
    }
    if stratified {
        graph.note_unstratified(rulesheet, findings);
    }
    strata(&edges, &components)
}

/// For each clause, the rules that its conditions may match. Facts depend on
/// nothing, so they need no edges.
fn edges(clauses: &[Clause]) -> Vec<Vec<Edge>> {
    let mut rules: FxHashMap<Predicate, Vec<usize>> = FxHashMap::default();
    for (index, clause) in clauses.iter().enumerate() {
        if !clause.body.is_empty() {
            rules.entry(clause.head.predicate()).or_default().push(index);
        }
    }
    let edges_of = |clause: &Clause| {
        let mut edges = Vec::new();
        let mut known = FxHashSet::default();
        for_each_sentence(&clause.body, &mut |sentence, negative| {
            let candidates = rules.get(&sentence.predicate()).map_or(&[][..], Vec::as_slice);
            for &to in candidates {
                if may_match(sentence, &clauses[to].head) && known.insert((to, negative)) {
                    edges.push(Edge { to, negative, span: sentence.span });
                }
            }
        });
        edges
    };
    clauses.iter().map(edges_of).collect()
}

/// Whether a sentence of one clause and one of another may have an instance in
/// common. Repeated variables are not compared, so `true` may be said in vain.
fn may_match(left: &Atomic, right: &Atomic) -> bool {
    all_match(&left.arguments, &right.arguments)
}

fn all_match(left: &[Argument], right: &[Argument]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| match (&left.kind, &right.kind) {
            (ArgumentKind::Variable(_), _) | (_, ArgumentKind::Variable(_)) => true,
            (ArgumentKind::Constant(left), ArgumentKind::Constant(right)) => left == right,
            (ArgumentKind::Function(name, left), ArgumentKind::Function(other, right)) => {
                name == other && all_match(left, right)
            }
            _ => false,
        })
}

/// A shortest path between two nodes of which it is known that there is one.
fn path(
    edges: &[Vec<Edge>],
    from: usize,
    to: usize,
    allowed: impl Fn(usize) -> bool,
) -> Vec<usize> {
    shortest_path(edges, from, to, allowed).expect("the nodes are connected")
}

/// The nodes of a shortest path, both ends included, through such nodes as
/// `allowed` says.
pub(crate) fn shortest_path(
    edges: &[Vec<Edge>],
    from: usize,
    to: usize,
    allowed: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut came_from = vec![usize::MAX; edges.len()];
    let mut queue = VecDeque::from([from]);
    came_from[from] = from;
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut path = vec![to];
            let mut node = to;
            while node != from {
                node = came_from[node];
                path.push(node);
            }
            path.reverse();
            return Some(path);
        }
        for edge in &edges[node] {
            if came_from[edge.to] == usize::MAX && allowed(edge.to) {
                came_from[edge.to] = node;
                queue.push_back(edge.to);
            }
        }
    }
    None
}

fn report(
    clauses: &[Clause],
    circle: &[usize],
    span: Span,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    let name = |&rule: &usize| rulesheet.spelling(clauses[rule].head.name);
    let first = name(circle.last().expect("a path has its ends"));
    let way: Vec<_> = circle.iter().map(name).collect();
    findings.error(
        "unstratified",
        span,
        format!("`{first}` rests on its own negation: {first} -> not {}", way.join(" -> ")),
        "break the circle; rules with a negation inside a recursion have no meaning",
    );
}

/// Groups clauses by the number of negations below them.
fn strata(edges: &[Vec<Edge>], components: &[usize]) -> Vec<Vec<usize>> {
    let n_components = components.iter().max().map_or(0, |&last| last + 1);
    let mut members = vec![Vec::new(); n_components];
    for (clause, &component) in components.iter().enumerate() {
        members[component].push(clause);
    }
    // Edges lead to components of smaller numbers, whose levels are known.
    let mut levels = vec![0; n_components];
    for component in 0..n_components {
        let below = members[component].iter().flat_map(|&clause| &edges[clause]);
        let level = |edge: &Edge| levels[components[edge.to]] + usize::from(edge.negative);
        levels[component] = below.map(level).max().unwrap_or(0);
    }
    let n_levels = levels.iter().max().map_or(0, |&highest| highest + 1);
    let mut strata = vec![Vec::new(); n_levels];
    for (clause, &component) in components.iter().enumerate() {
        strata[levels[component]].push(clause);
    }
    strata
}
