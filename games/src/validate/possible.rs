//! What can possibly hold, argument by argument: for each argument of each
//! relation a superset of the terms that any state of any play could have there.
//!
//! The rules are read as one program without time and without negations, and what
//! two arguments have to do with each other is forgotten: `(next (cell ?x ?y ?p))`
//! says which constants can be the first argument of `cell`, which the second and
//! which the third. Sets of terms are regular, one node for each argument that is
//! written in some head (Mishra 1984; Heintze and Jaffar, "A finite presentation
//! theorem for approximating logic programs", 1990). What is impossible here is
//! impossible in every play.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::rule::VariableId;
use crate::symbol::SymbolId;
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, Condition, ConditionKind, Predicate,
};
use crate::validate::keyword::{Keyword, Words};

/// Maximum number of elementary steps: for texts that need more, nothing is known. It is several
/// times what published rulesheets need, and a fraction of a second.
const MAX_STEPS: usize = 4_000_000;

/// A set of terms.
type NodeId = usize;

/// The terms of one name and arity that were written at one place.
type FunctionId = usize;

/// A superset of the terms that can stand at some place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// All terms.
    any: bool,
    pub(crate) constants: BTreeSet<SymbolId>,
    functions: BTreeSet<FunctionId>,
}

/// What the variables of a rule can stand for; those that are not in it, for
/// everything.
pub(crate) type Values = FxHashMap<VariableId, Terms>;

/// `name` applied to what the nodes hold.
#[derive(Debug)]
struct Function {
    name: SymbolId,
    arguments: Vec<NodeId>,
}

/// What can possibly hold.
#[derive(Debug)]
pub(crate) struct Possible<'a> {
    words: &'a Words,
    nodes: Vec<Terms>,
    functions: Vec<Function>,
    /// By node, name and arity: the function written there.
    written: FxHashMap<(NodeId, SymbolId, usize), FunctionId>,
    relations: FxHashMap<Predicate, Vec<NodeId>>,
    /// The arguments of `true`, and of `does`, which are also those of what makes
    /// facts and moves.
    facts: Vec<NodeId>,
    moves: Vec<NodeId>,
    /// The relations without arguments, and of others those that have rows.
    holds: BTreeSet<Predicate>,
    n_steps: usize,
    grown: bool,
}

/// More steps than [`MAX_STEPS`].
#[derive(Debug)]
pub(crate) struct TooLarge;

impl<'a> Possible<'a> {
    /// Finds all that can possibly hold.
    pub(crate) fn of(clauses: &[Clause], words: &'a Words) -> Result<Self, TooLarge> {
        let mut possible = Self {
            words,
            nodes: Vec::new(),
            functions: Vec::new(),
            written: FxHashMap::default(),
            relations: FxHashMap::default(),
            facts: Vec::new(),
            moves: Vec::new(),
            holds: BTreeSet::new(),
            n_steps: 0,
            grown: false,
        };
        possible.facts = vec![possible.node()];
        possible.moves = vec![possible.node(), possible.node()];
        let (facts, mut rules): (Vec<&Clause>, Vec<&Clause>) =
            clauses.iter().partition(|clause| clause.body.is_empty());
        for clause in facts {
            possible.enter(&clause.head, &Values::default())?;
        }
        loop {
            possible.grown = false;
            for clause in &rules {
                if let Some(values) = possible.values(&clause.body, &Values::default())? {
                    possible.enter(&clause.head, &values)?;
                }
            }
            if !possible.grown {
                return Ok(possible);
            }
            // Rules often stand in the order in which they follow from each other, and
            // sometimes in the opposite one.
            rules.reverse();
        }
    }

    fn node(&mut self) -> NodeId {
        self.nodes.push(Terms::default());
        self.nodes.len() - 1
    }

    fn step(&mut self, steps: usize) -> Result<(), TooLarge> {
        self.n_steps += steps + 1;
        if self.n_steps > MAX_STEPS { Err(TooLarge) } else { Ok(()) }
    }

    /// The keyword that a sentence is about.
    pub(crate) fn keyword(&self, sentence: &Atomic) -> Option<Keyword> {
        let (name, arity) = sentence.predicate();
        self.words.keyword(name, arity)
    }

    /// The nodes of a sentence's arguments, if anything was ever said of its
    /// relation.
    pub(crate) fn arguments_of(&self, sentence: &Atomic) -> Option<&[NodeId]> {
        match self.keyword(sentence) {
            Some(Keyword::Init | Keyword::Next | Keyword::True) => Some(&self.facts),
            Some(Keyword::Legal | Keyword::Does) => Some(&self.moves),
            _ => self.relations.get(&sentence.predicate()).map(Vec::as_slice),
        }
    }

    /// Takes note of what a head says, given its variables.
    fn enter(&mut self, head: &Atomic, values: &Values) -> Result<(), TooLarge> {
        self.grown |= self.holds.insert(head.predicate());
        if self.arguments_of(head).is_none() {
            let nodes = head.arguments.iter().map(|_| self.node()).collect();
            self.relations.insert(head.predicate(), nodes);
        }
        let nodes = self.arguments_of(head).expect("it was entered above").to_vec();
        for (argument, node) in head.arguments.iter().zip(nodes) {
            self.enter_term(argument, node, values)?;
        }
        Ok(())
    }

    fn enter_term(
        &mut self,
        argument: &Argument,
        node: NodeId,
        values: &Values,
    ) -> Result<(), TooLarge> {
        match &argument.kind {
            ArgumentKind::Constant(name) => {
                self.step(0)?;
                self.grown |= self.nodes[node].constants.insert(*name);
            }
            ArgumentKind::Variable(id) => match values.get(id) {
                Some(terms) => {
                    self.step(terms.len())?;
                    self.grown |= self.nodes[node].add(terms);
                }
                None => self.grown |= !std::mem::replace(&mut self.nodes[node].any, true),
            },
            ArgumentKind::Function(name, arguments) => {
                self.step(0)?;
                let key = (node, *name, arguments.len());
                let id = match self.written.get(&key) {
                    Some(&id) => id,
                    None => {
                        let nodes = arguments.iter().map(|_| self.node()).collect();
                        self.functions.push(Function { name: *name, arguments: nodes });
                        self.written.insert(key, self.functions.len() - 1);
                        self.functions.len() - 1
                    }
                };
                self.grown |= self.nodes[node].functions.insert(id);
                let nodes = self.functions[id].arguments.clone();
                for (argument, node) in arguments.iter().zip(nodes) {
                    self.enter_term(argument, node, values)?;
                }
            }
        }
        Ok(())
    }

    /// What the variables can stand for where a conjunction holds, if it can hold.
    pub(crate) fn values(
        &mut self,
        conditions: &[Condition],
        outer: &Values,
    ) -> Result<Option<Values>, TooLarge> {
        let mut values = outer.clone();
        for condition in conditions {
            let can_hold = match &condition.kind {
                ConditionKind::Positive(sentence) => self.restrict(sentence, &mut values)?,
                ConditionKind::Or(branches) => self.alternatives(branches, &mut values)?,
                _ => true,
            };
            if !can_hold {
                return Ok(None);
            }
        }
        Ok(Some(values))
    }

    /// Restricts values to those of some alternative that can hold; whether there
    /// is one.
    fn alternatives(
        &mut self,
        branches: &[Vec<Condition>],
        values: &mut Values,
    ) -> Result<bool, TooLarge> {
        let mut union: Option<Values> = None;
        for branch in branches {
            let Some(found) = self.values(branch, values)? else { continue };
            self.step(found.values().map(Terms::len).sum())?;
            union = Some(match union {
                None => found,
                Some(mut union) => {
                    union.retain(|id, terms| match found.get(id) {
                        Some(other) => {
                            terms.add(other);
                            true
                        }
                        None => false,
                    });
                    union
                }
            });
        }
        let can_hold = union.is_some();
        *values = union.unwrap_or_default();
        Ok(can_hold)
    }

    /// Restricts values to those for which a sentence can hold; whether it can.
    pub(crate) fn restrict(
        &mut self,
        sentence: &Atomic,
        values: &mut Values,
    ) -> Result<bool, TooLarge> {
        let is_known =
            self.holds.contains(&sentence.predicate()) || self.keyword(sentence).is_some();
        let Some(nodes) = self.arguments_of(sentence).filter(|_| is_known) else {
            // Only `terminal` and its like have no arguments.
            return Ok(sentence.arguments.is_empty() && self.holds.contains(&sentence.predicate()));
        };
        let nodes = nodes.to_vec();
        for (argument, node) in sentence.arguments.iter().zip(nodes) {
            if !self.restrict_term(argument, &[node], values)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// As [`restrict`](Self::restrict), for a term that stands for a member of one
    /// of these nodes.
    fn restrict_term(
        &mut self,
        argument: &Argument,
        nodes: &[NodeId],
        values: &mut Values,
    ) -> Result<bool, TooLarge> {
        self.step(nodes.len())?;
        if nodes.iter().any(|&node| self.nodes[node].any) {
            return Ok(true);
        }
        match &argument.kind {
            ArgumentKind::Constant(name) => {
                Ok(nodes.iter().any(|&node| self.nodes[node].constants.contains(name)))
            }
            ArgumentKind::Variable(id) => {
                let mut terms = Terms::default();
                for &node in nodes {
                    terms.add(&self.nodes[node]);
                }
                self.step(terms.len())?;
                if let Some(before) = values.get(id) {
                    terms = self.common(&terms, before)?;
                }
                let can_hold = terms.len() > 0;
                values.insert(*id, terms);
                Ok(can_hold)
            }
            ArgumentKind::Function(name, arguments) => {
                let functions = self.functions_of(nodes, *name, arguments.len());
                if functions.is_empty() {
                    return Ok(false);
                }
                for (at, argument) in arguments.iter().enumerate() {
                    let nodes: Vec<NodeId> =
                        functions.iter().map(|&id| self.functions[id].arguments[at]).collect();
                    if !self.restrict_term(argument, &nodes, values)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// The functions of a name and arity at these nodes.
    fn functions_of(&self, nodes: &[NodeId], name: SymbolId, arity: usize) -> Vec<FunctionId> {
        let of_nodes = nodes.iter().flat_map(|&node| &self.nodes[node].functions);
        let fits = |&&id: &&FunctionId| {
            self.functions[id].name == name && self.functions[id].arguments.len() == arity
        };
        of_nodes.filter(fits).copied().collect()
    }

    /// What two sets have in common, and somewhat more where functions are nested.
    fn common(&mut self, left: &Terms, right: &Terms) -> Result<Terms, TooLarge> {
        self.step(left.functions.len() * right.functions.len())?;
        if left.any {
            return Ok(right.clone());
        }
        if right.any {
            return Ok(left.clone());
        }
        let is_common = |&&id: &&FunctionId| {
            let Function { name, arguments } = &self.functions[id];
            right.functions.iter().any(|&other| {
                let other = &self.functions[other];
                other.name == *name && other.arguments.len() == arguments.len()
            })
        };
        Ok(Terms {
            any: false,
            constants: left.constants.intersection(&right.constants).copied().collect(),
            functions: left.functions.iter().filter(is_common).copied().collect(),
        })
    }

    /// The first part of a sentence, from outside inwards and from left to right,
    /// that cannot stand where it stands, with the names that can. None if each
    /// part can, though not all of them together.
    pub(crate) fn culprit<'s>(&self, sentence: &'s Atomic) -> Option<(&'s Argument, Offered)> {
        let nodes = self.arguments_of(sentence)?;
        let parts = sentence.arguments.iter().zip(nodes);
        parts.into_iter().find_map(|(argument, &node)| self.culprit_in(argument, &[node]))
    }

    fn culprit_in<'s>(
        &self,
        argument: &'s Argument,
        nodes: &[NodeId],
    ) -> Option<(&'s Argument, Offered)> {
        if nodes.iter().any(|&node| self.nodes[node].any) {
            return None;
        }
        match &argument.kind {
            ArgumentKind::Variable(_) => None,
            ArgumentKind::Constant(name) => {
                let has_it = |&node: &NodeId| self.nodes[node].constants.contains(name);
                (!nodes.iter().any(has_it)).then(|| (argument, self.offered(nodes)))
            }
            ArgumentKind::Function(name, arguments) => {
                let functions = self.functions_of(nodes, *name, arguments.len());
                if functions.is_empty() {
                    return Some((argument, self.offered(nodes)));
                }
                arguments.iter().enumerate().find_map(|(at, argument)| {
                    let nodes: Vec<NodeId> =
                        functions.iter().map(|&id| self.functions[id].arguments[at]).collect();
                    self.culprit_in(argument, &nodes)
                })
            }
        }
    }

    fn offered(&self, nodes: &[NodeId]) -> Offered {
        let mut offered = Offered::default();
        for &node in nodes {
            offered.constants.extend(&self.nodes[node].constants);
            for &id in &self.nodes[node].functions {
                let Function { name, arguments } = &self.functions[id];
                offered.functions.insert((*name, arguments.len()));
            }
        }
        offered
    }
}

/// The names that can stand at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) constants: BTreeSet<SymbolId>,
    /// With the number of their arguments.
    pub(crate) functions: BTreeSet<(SymbolId, usize)>,
}

impl Terms {
    /// Adds all of `other`; whether there is more now.
    fn add(&mut self, other: &Self) -> bool {
        let before = (self.any, self.constants.len(), self.functions.len());
        self.any |= other.any;
        self.constants.extend(&other.constants);
        self.functions.extend(&other.functions);
        before != (self.any, self.constants.len(), self.functions.len())
    }

    /// Whether this constant is in it.
    pub(crate) fn may_be(&self, constant: SymbolId) -> bool {
        self.any || self.constants.contains(&constant)
    }

    /// Names in it; not zero for all terms.
    fn len(&self) -> usize {
        usize::from(self.any) + self.constants.len() + self.functions.len()
    }
}
