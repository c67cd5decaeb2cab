//! Stratification: no rule may depend on its own negation.
//!
//! The GDL specification (Love et al. 2008, section 4) asks this of predicates.
//! Published rulesheets have rules such as `(<= (goal ?r 0) (role ?r) (not
//! (goal ?r 100)))`, which break it by the letter, but have one clear meaning
//! all the same: so the question is asked of *rules* here. A rule depends on
//! those whose heads some condition of its body may match, as far as constants
//! and functions tell; a set of rules without a circle through a negation has
//! exactly one stable reading, which is found by evaluating the rules stratum
//! by stratum.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::Findings;
use crate::rule::{Sentence, Term, VariableId};
use crate::rulesheet::Rulesheet;
use crate::span::Span;
use crate::validate::clause::{Atomic, Clause, Predicate, for_each_sentence};
use crate::validate::dependencies::Dependencies;
use crate::validate::paths::{Edge, components, shortest_path, way};

/// Maximum number of pairs of a condition and a head that are matched by their arguments; equal
/// pairs count once. Beyond it, pairs are matched by predicate alone.
/// Published rulesheets have a few thousand.
const MAX_MATCHES: usize = 1_000_000;

/// Maximum number of circles that are reported.
const MAX_CIRCLES: usize = 20;

/// The numbers of the clauses of each stratum, in order of evaluation. Rules
/// of one stratum may depend on each other, but not negatively. Circles through
/// a negation are reported.
pub(crate) fn stratify(
    clauses: &[Clause],
    graph: &Dependencies,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) -> Vec<Vec<usize>> {
    let edges = Matching::of(clauses).edges;
    let components = components(&edges);
    let mut said = FxHashSet::default();
    let mut stratified = true;
    for (from, of_rule) in edges.iter().enumerate() {
        for edge in of_rule.iter().filter(|edge| edge.negative) {
            let component = components[from];
            if components[edge.to] != component {
                continue;
            }
            stratified = false;
            let is_new = said.len() < MAX_CIRCLES && said.insert(clauses[from].head.predicate());
            if is_new {
                let mut circle = path(&edges, edge.to, from, |node| components[node] == component);
                circle.retain(|&node| node < clauses.len());
                report(clauses, &circle, edge.span, rulesheet, findings);
            }
        }
    }
    if stratified {
        graph.note_unstratified(rulesheet, findings);
    }
    strata(&edges, &components, clauses.len())
}

/// The strata of clauses of which it is known that they are stratified.
pub(crate) fn strata_of(clauses: &[Clause]) -> Vec<Vec<usize>> {
    let edges = Matching::of(clauses).edges;
    strata(&edges, &components(&edges), clauses.len())
}

/// The graph of clauses: from a rule to each of its conditions, from a
/// condition to the heads that it may match, from a head to its rules.
/// Conditions and heads that differ in the names of variables only are one
/// node, so that many alike rules do not make a graph of all their pairs.
struct Matching {
    edges: Vec<Vec<Edge>>,
    heads: FxHashMap<Sentence, usize>,
    conditions: FxHashMap<Sentence, usize>,
    predicates: FxHashMap<Predicate, AllHeads>,
    n_matches: usize,
}

/// The heads of one predicate, and a node that leads to all of them.
struct AllHeads {
    node: usize,
    heads: Vec<(Sentence, usize)>,
}

impl Matching {
    /// Clauses are the first nodes.
    fn of(clauses: &[Clause]) -> Self {
        let mut matching = Self {
            edges: vec![Vec::new(); clauses.len()],
            heads: FxHashMap::default(),
            conditions: FxHashMap::default(),
            predicates: FxHashMap::default(),
            n_matches: 0,
        };
        // Facts depend on nothing, so nothing needs an edge to them.
        for (index, clause) in clauses.iter().enumerate() {
            if !clause.body.is_empty() {
                matching.head(index, &clause.head);
            }
        }
        for (index, clause) in clauses.iter().enumerate() {
            for_each_sentence(&clause.body, &mut |sentence, negative| {
                if let Some(to) = matching.condition(sentence) {
                    matching.edges[index].push(Edge { to, negative, span: sentence.span });
                }
            });
        }
        matching
    }

    fn head(&mut self, rule: usize, head: &Atomic) {
        let pattern = pattern(head);
        let node = match self.heads.get(&pattern) {
            Some(&node) => node,
            None => {
                let node = self.node();
                self.heads.insert(pattern.clone(), node);
                let all = match self.predicates.get(&head.predicate()) {
                    Some(all) => all.node,
                    None => self.node(),
                };
                let entry = self.predicates.entry(head.predicate());
                let entry = entry.or_insert(AllHeads { node: all, heads: Vec::new() });
                entry.heads.push((pattern, node));
                self.link(all, node);
                node
            }
        };
        self.link(node, rule);
    }

    /// The node of a condition, if some rule has its predicate.
    fn condition(&mut self, sentence: &Atomic) -> Option<usize> {
        let pattern = pattern(sentence);
        if let Some(&node) = self.conditions.get(&pattern) {
            return Some(node);
        }
        let all = self.predicates.get(&sentence.predicate())?;
        let mut matched = vec![all.node];
        self.n_matches += all.heads.len();
        if self.n_matches <= MAX_MATCHES {
            let heads = all.heads.iter();
            let may_match =
                heads.filter(|(head, _)| all_match(&pattern.arguments, &head.arguments));
            matched = may_match.map(|&(_, node)| node).collect();
        }
        let node = self.node();
        self.conditions.insert(pattern, node);
        for to in matched {
            self.link(node, to);
        }
        Some(node)
    }

    fn node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    fn link(&mut self, from: usize, to: usize) {
        self.edges[from].push(Edge { to, negative: false, span: Span::default() });
    }
}

/// A sentence with all variables alike.
fn pattern(sentence: &Atomic) -> Sentence {
    fn same_variables(term: &mut Term) {
        match term {
            Term::Constant(_) => {}
            Term::Variable(id) => *id = VariableId(0),
            Term::Function(_, arguments) => arguments.iter_mut().for_each(same_variables),
        }
    }
    let mut sentence = sentence.sentence();
    sentence.arguments.iter_mut().for_each(same_variables);
    sentence
}

/// Whether terms of two clauses may have an instance in common. Repeated
/// variables are not compared, so `true` may be said in vain.
fn all_match(left: &[Term], right: &[Term]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (Term::Variable(_), _) | (_, Term::Variable(_)) => true,
            (Term::Constant(left), Term::Constant(right)) => left == right,
            (Term::Function(name, left), Term::Function(other, right)) => {
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

fn report(
    clauses: &[Clause],
    circle: &[usize],
    span: Span,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    let name = |&rule: &usize| rulesheet.spelling(clauses[rule].head.name);
    let first = name(circle.last().expect("a path has its ends"));
    let way = way(circle.iter().map(name).collect());
    findings.error(
        "unstratified",
        span,
        format!("`{first}` depends on its own negation: {first} -> not {way}"),
        "break the cycle; rules with a negation inside a recursion have no meaning",
    );
}

/// Groups the clauses, which are the first nodes, by the number of negations
/// below them.
fn strata(edges: &[Vec<Edge>], components: &[usize], n_clauses: usize) -> Vec<Vec<usize>> {
    let n_components = components.iter().max().map_or(0, |&last| last + 1);
    let mut members = vec![Vec::new(); n_components];
    for (node, &component) in components.iter().enumerate() {
        members[component].push(node);
    }
    // Edges lead to components of smaller numbers, whose levels are known.
    let mut levels = vec![0; n_components];
    for component in 0..n_components {
        let below = members[component].iter().flat_map(|&node| &edges[node]);
        let level = |edge: &Edge| levels[components[edge.to]] + usize::from(edge.negative);
        levels[component] = below.map(level).max().unwrap_or(0);
    }
    let of_clauses = &components[..n_clauses];
    let n_levels = of_clauses.iter().map(|&it| levels[it] + 1).max().unwrap_or(0);
    let mut strata = vec![Vec::new(); n_levels];
    for (clause, &component) in of_clauses.iter().enumerate() {
        strata[levels[component]].push(clause);
    }
    strata
}

#[cfg(test)]
mod tests {
    use super::way;

    #[test]
    fn long_ways_are_shortened() {
        assert_eq!(way(vec!["a", "b"]), "a -> b");
        assert_eq!(
            way("abcdefghij".split("").filter(|it| !it.is_empty()).collect()),
            "a -> b -> c -> d -> ... -> h -> i -> j"
        );
    }
}
