//! Operations: rules of at most two positive conditions, into which every rule is split.
//!
//! An operation either selects from one relation or joins two, tests the rows it
//! finds, and puts the variables that are still needed into a relation. The
//! relations between the parts of a rule are *auxiliary*; two rules that have a
//! part in common share it, since equal operations are one.

use rustc_hash::FxHashMap;

use crate::relational::rules::{Atom, Pattern, Rules, Source, each_variable};

/// A relation: a predicate of the rules, or an auxiliary one after those.
pub(super) type RelationId = usize;

/// A selection from one relation or a join of two.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) target: RelationId,
    pub(super) part: Part,
    /// The clause it was first made for.
    pub(super) clause: usize,
}

/// What an operation does, with variables numbered by their first occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// One atom with any arguments, or two whose arguments are variables,
    /// different ones within each atom.
    pub(super) inputs: Vec<Atom>,
    /// Terms that must differ.
    pub(super) differ: Vec<(Pattern, Pattern)>,
    /// What must not hold; the inputs bind all variables of it.
    pub(super) absent: Vec<Atom>,
    /// The row that follows.
    pub(super) output: Vec<Pattern>,
    pub(super) n_variables: u32,
    /// Parts are shared within a scope only: static rules of different strata
    /// of one component are evaluated one after the other.
    pub(super) scope: usize,
}

/// A relation's properties.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) arity: usize,
    /// Depends on the rules alone.
    pub(super) is_static: bool,
    /// All its rows are there: of a static one, once it is evaluated.
    pub(super) is_known: bool,
    /// The last column follows from the others.
    pub(super) has_whole: bool,
    /// The operations that fill it.
    pub(super) operations: Vec<usize>,
}

/// All relations and operations.
#[derive(Clone, Debug)]
pub(super) struct Joins {
    pub(super) relations: Vec<Relation>,
    pub(super) operations: Vec<Operation>,
    known: FxHashMap<Part, RelationId>,
    /// The relation of arity 0 that holds.
    pub(super) unit: RelationId,
}

impl Joins {
    /// The relations of the rules, without operations.
    pub(super) fn new(rules: &Rules) -> Self {
        let mut relations: Vec<Relation> = rules
            .predicates
            .iter()
            .map(|predicate| Relation {
                arity: predicate.arity,
                is_static: predicate.phase == crate::relational::rules::Phase::Static,
                is_known: false,
                has_whole: matches!(predicate.source, Source::Facts(_)) && predicate.arity > 0,
                operations: Vec::new(),
            })
            .collect();
        let unit = relations.len();
        relations.push(Relation {
            arity: 0,
            is_static: true,
            is_known: true,
            has_whole: false,
            operations: Vec::new(),
        });
        Self { relations, operations: Vec::new(), known: FxHashMap::default(), unit }
    }

    /// The relation that a part fills.
    pub(super) fn auxiliary(&mut self, part: Part, clause: usize) -> RelationId {
        if let Some(&target) = self.known.get(&part) {
            return target;
        }
        let atoms = part.inputs.iter().chain(&part.absent);
        let (mut is_static, mut is_known) = (true, true);
        for atom in atoms {
            is_static &= self.relations[atom.predicate].is_static;
            is_known &= self.relations[atom.predicate].is_known;
        }
        let target = self.relations.len();
        self.relations.push(Relation {
            arity: part.output.len(),
            is_static,
            is_known,
            has_whole: false,
            operations: Vec::new(),
        });
        self.known.insert(part.clone(), target);
        self.add(target, part, clause);
        target
    }

    /// Adds an operation that fills a relation.
    pub(super) fn add(&mut self, target: RelationId, part: Part, clause: usize) -> usize {
        let id = self.operations.len();
        self.operations.push(Operation { target, part, clause });
        self.relations[target].operations.push(id);
        id
    }

    /// Marks these relations as complete, and with them the auxiliary ones that depend on
    /// complete relations only.
    pub(super) fn settle(&mut self, known: &[RelationId]) {
        for &id in known {
            self.relations[id].is_known = true;
        }
        for id in self.unit + 1..self.relations.len() {
            let is_known = self.relations[id].operations.iter().all(|&operation| {
                let part = &self.operations[operation].part;
                let mut atoms = part.inputs.iter().chain(&part.absent);
                atoms.all(|atom| self.relations[atom.predicate].is_known)
            });
            self.relations[id].is_known = is_known;
        }
    }

    /// Removes all operations of the relations of the rules, so that others can be made.
    /// Auxiliary relations stay.
    pub(super) fn forget_clauses(&mut self, is_concerned: impl Fn(RelationId) -> bool) {
        for id in 0..self.unit {
            if is_concerned(id) {
                self.relations[id].operations.clear();
            }
        }
    }

    /// The operations that these relations depend on, dependencies first as far as they
    /// are acyclic. Complete relations are not computed again.
    pub(super) fn needed(&self, roots: impl Iterator<Item = RelationId>) -> Vec<usize> {
        let mut seen = vec![false; self.relations.len()];
        let mut order = Vec::new();
        let mut stack: Vec<(RelationId, bool)> = Vec::new();
        for root in roots {
            stack.push((root, false));
            while let Some((id, is_left)) = stack.pop() {
                if is_left {
                    order.extend(&self.relations[id].operations);
                    continue;
                }
                if self.relations[id].is_known || std::mem::replace(&mut seen[id], true) {
                    continue;
                }
                stack.push((id, true));
                for &operation in self.relations[id].operations.iter().rev() {
                    let part = &self.operations[operation].part;
                    let atoms = part.inputs.iter().chain(&part.absent);
                    stack.extend(atoms.rev().map(|atom| (atom.predicate, false)));
                }
            }
        }
        order
    }
}

impl Part {
    /// Whether it may make terms that were not there.
    pub(super) fn builds_terms(&self) -> bool {
        self.output.iter().any(|pattern| matches!(pattern, Pattern::Compound(..)))
    }

    /// Numbers the variables by their first occurrence.
    pub(super) fn renumbered(mut self) -> Self {
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut note = |id: u32| {
            let next = numbers.len() as u32;
            numbers.entry(id).or_insert(next);
        };
        let arguments = self.inputs.iter().flat_map(|atom| &atom.arguments);
        arguments.for_each(|argument| each_variable(argument, &mut note));
        let rename = |pattern: &mut Pattern| renamed(pattern, &numbers);
        self.inputs.iter_mut().flat_map(|atom| &mut atom.arguments).for_each(rename);
        self.absent.iter_mut().flat_map(|atom| &mut atom.arguments).for_each(rename);
        for (left, right) in &mut self.differ {
            rename(left);
            rename(right);
        }
        self.output.iter_mut().for_each(rename);
        self.n_variables = numbers.len() as u32;
        self
    }
}

fn renamed(pattern: &mut Pattern, numbers: &FxHashMap<u32, u32>) {
    match pattern {
        Pattern::Constant(_) => {}
        Pattern::Variable(id) => *id = numbers[id],
        Pattern::Compound(_, arguments) => {
            arguments.iter_mut().for_each(|argument| renamed(argument, numbers));
        }
    }
}
