//! Splits a rule into operations by choosing the order of its joins.
//!
//! A rule becomes a tree of joins. A subtree keeps the variables that the head or another
//! condition still needs; the others are projected away, which keeps the joins of long
//! bodies small (Morak and
//! Woltran, "Preprocessing of complex non-ground rules in answer set
//! programming", 2012; Bichler, Morak and Woltran, "lpopt", 2016). Trees are compared by
//! sizes estimated from the relations so far, and the best one is found by dynamic
//! programming over sets of conditions (Selinger et al. 1979). Long bodies are first
//! shortened greedily.
//!
//! In a circuit a join of two relations that depend on the state is a gate for
//! each pair of rows, and a projection a gate for each row that it merges, so
//! there the best tree is the smallest circuit.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::limits::Halt;
use super::operations::{Joins, Part, RelationId};
use crate::relational::rules::{Atom, Clause, Condition, Pattern, each_variable};

/// Maximum number of conditions of a body that is ordered optimally.
const MAX_EXACT: usize = 9;

/// Maximum number of conditions and of variables of a clause.
pub(super) const MAX_LENGTH: usize = 128;

/// The cost of looking at a row, relative to making a gate.
const STEP: f64 = 0.2;

/// What the operations are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To derive everything that can hold: negations are tested on known relations only.
    Reach,
    /// To compute what holds.
    Compute,
}

/// How large relations are.
pub(super) trait Sizes {
    /// Rows, and different values of each column; `None` if unknown.
    fn size(&mut self, joins: &Joins, relation: RelationId) -> Option<(f64, Vec<f64>)>;

    /// Fills an auxiliary relation whose inputs are known already.
    fn fill(&mut self, joins: &Joins, relation: RelationId) -> Result<(), Halt>;
}

/// Sets of conditions or variables.
type Set = u128;

/// Two terms that must differ, or a sentence that must be absent, with its
/// variables.
struct Test<T> {
    what: T,
    variables: Set,
}

/// A subtree.
#[derive(Clone, Debug)]
struct Tree {
    conditions: Set,
    /// All variables of the conditions.
    variables: Set,
    /// Those that remain.
    visible: Set,
    rows: f64,
    /// By variable; meaningful for visible ones.
    distinct: Vec<f64>,
    is_static: bool,
    cost: f64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// A positive condition.
    Leaf(usize),
    Join(Rc<Tree>, Rc<Tree>),
    /// What is left when a sentence is absent.
    Without(Rc<Tree>, usize),
}

/// A positive condition as a relation.
struct Leaf {
    atom: Atom,
    variables: Set,
    /// The atom's arguments are different variables, and all but a last one
    /// that follows from the others are visible.
    is_plain: bool,
    visible: Set,
}

struct JoinOrdering<'a> {
    joins: &'a mut Joins,
    purpose: Purpose,
    clause_id: usize,
    scope: usize,
    head: Set,
    leaves: Vec<Leaf>,
    /// Absent sentences that are joined like conditions, after the leaves.
    without: Vec<Test<Atom>>,
    differ: Vec<Test<(Pattern, Pattern)>>,
    absent: Vec<Test<Atom>>,
    n_variables: usize,
}

/// Makes the operations for a clause; a clause that cannot hold has none. Returns `false`,
/// and makes none, if they are expected to cost more than `limit`, in matches.
pub(super) fn split(
    joins: &mut Joins,
    clause: &Clause,
    clause_id: usize,
    scope: usize,
    purpose: Purpose,
    limit: f64,
    sizes: &mut impl Sizes,
) -> Result<bool, Halt> {
    let mut splitting = JoinOrdering {
        joins,
        purpose,
        clause_id,
        scope,
        head: variables(&clause.head.arguments),
        leaves: Vec::new(),
        without: Vec::new(),
        differ: Vec::new(),
        absent: Vec::new(),
        n_variables: clause.n_variables as usize,
    };
    splitting.read(clause, sizes)?;
    let Some(trees) = splitting.measured_leaves(sizes)? else { return Ok(true) };
    let tree = splitting.best(trees);
    if tree.cost > limit {
        return Ok(false);
    }
    let open = splitting.open(&tree, sizes)?;
    let part = splitting.part(open, clause.head.arguments.clone());
    splitting.joins.add(clause.head.predicate, part, clause_id);
    Ok(true)
}

/// Whether a clause is short enough.
pub(super) fn is_short(clause: &Clause) -> bool {
    clause.n_variables as usize <= MAX_LENGTH && clause.body.len() < MAX_LENGTH
}

fn variables(patterns: &[Pattern]) -> Set {
    let mut set = 0;
    patterns.iter().for_each(|pattern| each_variable(pattern, &mut |id| set |= 1 << id));
    set
}

/// The members of a set, ascending.
fn members(mut set: Set) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let id = set.trailing_zeros();
            set &= set - 1;
            id
        })
    })
}

/// Some variables in the order of their first occurrence, which does not depend
/// on their numbers, so that equal parts of different rules are found.
fn in_order(inputs: &[Atom], visible: Set) -> Vec<Pattern> {
    let (mut seen, mut order) = (!visible, Vec::new());
    let mut note = |id: u32| {
        if seen & 1 << id == 0 {
            seen |= 1 << id;
            order.push(Pattern::Variable(id));
        }
    };
    let arguments = inputs.iter().flat_map(|atom| &atom.arguments);
    arguments.for_each(|argument| each_variable(argument, &mut note));
    order
}

fn is_within(part: Set, whole: Set) -> bool {
    part & !whole == 0
}

/// An operation in the making.
struct Open {
    inputs: Vec<Atom>,
    differ: Vec<(Pattern, Pattern)>,
    absent: Vec<Atom>,
    /// The variables of the inputs.
    bound: Set,
    visible: Set,
    /// The only input is a relation that needs no operation.
    is_plain: bool,
}

impl JoinOrdering<'_> {
    /// Sorts the conditions.
    fn read(&mut self, clause: &Clause, sizes: &mut impl Sizes) -> Result<(), Halt> {
        let mut supplied = 0;
        for condition in &clause.body {
            if let Condition::Positive(atom) = condition {
                supplied |= variables(&atom.arguments);
            }
        }
        for condition in &clause.body {
            match condition {
                Condition::Positive(atom) => {
                    let variables = variables(&atom.arguments);
                    let atom = atom.clone();
                    self.leaves.push(Leaf { atom, variables, is_plain: false, visible: 0 });
                }
                Condition::Distinct(left, right) => {
                    let variables = variables(&[left.clone(), right.clone()]);
                    self.differ.push(Test { what: (left.clone(), right.clone()), variables });
                }
                Condition::Negative(atom) => {
                    let is_static = self.joins.relations[atom.predicate].is_static;
                    if self.purpose == Purpose::Reach && !is_static {
                        continue;
                    }
                    let what = self.without_own(atom, supplied, sizes)?;
                    let test = Test { variables: variables(&what.arguments), what };
                    if is_static { self.absent.push(test) } else { self.without.push(test) }
                }
            }
        }
        if self.leaves.is_empty() {
            let atom = Atom { predicate: self.joins.unit, arguments: Vec::new() };
            self.leaves.push(Leaf { atom, variables: 0, is_plain: false, visible: 0 });
        }
        for at in 0..self.leaves.len() {
            self.make_leaf(at, sizes)?;
        }
        Ok(())
    }

    /// A negated atom without variables of its own: these are projected away.
    fn without_own(
        &mut self,
        atom: &Atom,
        supplied: Set,
        sizes: &mut impl Sizes,
    ) -> Result<Atom, Halt> {
        let is_own = |pattern: &Pattern| match pattern {
            Pattern::Variable(id) => supplied & 1 << id == 0,
            _ => false,
        };
        if !atom.arguments.iter().any(is_own) {
            return Ok(atom.clone());
        }
        let columns: Vec<Pattern> =
            (0..atom.arguments.len() as u32).map(Pattern::Variable).collect();
        let is_kept = |at: &usize| !is_own(&atom.arguments[*at]);
        let kept = || (0..columns.len()).filter(is_kept);
        let output = kept().map(|at| columns[at].clone()).collect();
        let input = Atom { predicate: atom.predicate, arguments: columns.clone() };
        let part = self.bare(vec![input], output);
        let predicate = self.auxiliary(part, true, sizes)?;
        Ok(Atom { predicate, arguments: kept().map(|at| atom.arguments[at].clone()).collect() })
    }

    fn bare(&self, inputs: Vec<Atom>, output: Vec<Pattern>) -> Part {
        let (differ, absent) = (Vec::new(), Vec::new());
        let part = Part { inputs, differ, absent, output, n_variables: 0, scope: self.scope };
        part.renumbered()
    }

    /// The relation of a part, which is filled if its inputs are known, or to be
    /// measured.
    fn auxiliary(
        &mut self,
        part: Part,
        is_measured: bool,
        sizes: &mut impl Sizes,
    ) -> Result<RelationId, Halt> {
        let id = self.joins.auxiliary(part, self.clause_id);
        if self.joins.relations[id].is_known || is_measured && self.purpose == Purpose::Compute {
            sizes.fill(self.joins, id)?;
        }
        Ok(id)
    }

    /// The variables that conditions outside a set ask for, or the head.
    fn needed(&self, conditions: Set, bound: Set) -> Set {
        let mut needed = self.head;
        for (at, leaf) in self.leaves.iter().enumerate() {
            if conditions & 1 << at == 0 {
                needed |= leaf.variables;
            }
        }
        for (at, test) in self.without.iter().enumerate() {
            if conditions & 1 << (self.leaves.len() + at) == 0 {
                needed |= test.variables;
            }
        }
        let differ = self.differ.iter().map(|test| test.variables);
        let tests = differ.chain(self.absent.iter().map(|test| test.variables));
        tests.filter(|&variables| !is_within(variables, bound)).fold(needed, |all, one| all | one)
    }

    /// The tests that can be made where these variables are bound, but could
    /// not be made in the parts.
    fn tests(&self, bound: Set, parts: &[Set]) -> (Vec<(Pattern, Pattern)>, Vec<Atom>) {
        let is_due = |variables: Set| {
            is_within(variables, bound) && !parts.iter().any(|&part| is_within(variables, part))
        };
        let differ = self.differ.iter().filter(|test| is_due(test.variables));
        let absent = self.absent.iter().filter(|test| is_due(test.variables));
        (
            differ.map(|test| test.what.clone()).collect(),
            absent.map(|test| test.what.clone()).collect(),
        )
    }

    /// Replaces a condition by the relation of its visible variables.
    fn make_leaf(&mut self, at: usize, sizes: &mut impl Sizes) -> Result<(), Halt> {
        let bound = self.leaves[at].variables;
        let visible = bound & self.needed(1 << at, bound);
        let (differ, absent) = self.tests(bound, &[]);
        let atom = self.leaves[at].atom.clone();
        let n_columns = atom.arguments.len();
        let are_variables = bound.count_ones() as usize == n_columns
            && atom.arguments.iter().all(|pattern| matches!(pattern, Pattern::Variable(_)));
        let hidden = bound & !visible;
        let whole = self.joins.relations[atom.predicate].has_whole;
        let is_whole = |pattern: &Pattern| variables(std::slice::from_ref(pattern)) == hidden;
        let loses_nothing = hidden == 0 || whole && atom.arguments.last().is_some_and(is_whole);
        let is_plain = are_variables && loses_nothing && differ.is_empty() && absent.is_empty();
        self.leaves[at].visible = visible;
        if is_plain {
            self.leaves[at].is_plain = true;
            return Ok(());
        }
        let output = in_order(std::slice::from_ref(&atom), visible);
        let part = Part {
            inputs: vec![atom],
            differ,
            absent,
            output: output.clone(),
            n_variables: 0,
            scope: self.scope,
        };
        let predicate = self.auxiliary(part.renumbered(), true, sizes)?;
        self.leaves[at].atom = Atom { predicate, arguments: output };
        Ok(())
    }

    /// The leaves as trees, and what they are expected to hold; `None` if the
    /// clause cannot hold.
    fn measured_leaves(&mut self, sizes: &mut impl Sizes) -> Result<Option<Vec<Rc<Tree>>>, Halt> {
        let mut known: Vec<Option<(f64, Vec<f64>)>> = Vec::new();
        for leaf in &self.leaves {
            let id = leaf.atom.predicate;
            let size = sizes.size(self.joins, id);
            let is_final = self.joins.relations[id].is_known || self.purpose == Purpose::Compute;
            if is_final && size.as_ref().is_none_or(|(rows, _)| *rows == 0.0) {
                return Ok(None);
            }
            known.push(size.filter(|(rows, _)| *rows > 0.0));
        }
        // The fewest values that a variable has in some relation.
        let mut domains: FxHashMap<u32, f64> = FxHashMap::default();
        for (leaf, size) in self.leaves.iter().zip(&known) {
            let Some((_, distinct)) = size else { continue };
            for (pattern, &distinct) in leaf.atom.arguments.iter().zip(distinct) {
                if let Pattern::Variable(id) = pattern {
                    let domain = domains.entry(*id).or_insert(distinct);
                    *domain = domain.min(distinct);
                }
            }
        }
        let mut trees = Vec::new();
        for (at, (leaf, size)) in self.leaves.iter().zip(known).enumerate() {
            let mut distinct = vec![1.0; self.n_variables];
            let mut rows = 1.0_f64;
            for (column, pattern) in leaf.atom.arguments.iter().enumerate() {
                let Pattern::Variable(id) = pattern else { continue };
                let values = match &size {
                    Some((_, known)) => known[column],
                    None => domains.get(id).copied().unwrap_or(10.0),
                };
                distinct[*id as usize] = values;
                if leaf.visible & 1 << id != 0 {
                    rows *= values;
                }
            }
            trees.push(Rc::new(Tree {
                conditions: 1 << at,
                variables: leaf.variables,
                visible: leaf.visible,
                rows: size.map_or(rows.min(1e6), |(rows, _)| rows),
                distinct,
                is_static: self.joins.relations[leaf.atom.predicate].is_static,
                cost: 0.0,
                shape: Shape::Leaf(at),
            }));
        }
        Ok(Some(trees))
    }

    /// Rows of a join before anything is projected away.
    fn join_rows(left: &Tree, right: &Tree) -> f64 {
        let shared = members(left.visible & right.visible);
        let share: f64 = shared
            .map(|id| left.distinct[id as usize].max(right.distinct[id as usize]).max(1.0))
            .product();
        left.rows * right.rows / share
    }

    /// The tree of a join.
    fn joined(&self, left: &Rc<Tree>, right: &Rc<Tree>) -> Tree {
        let conditions = left.conditions | right.conditions;
        let variables = left.variables | right.variables;
        let visible = variables & self.needed(conditions, variables);
        let n = Self::join_rows(left, right);
        let mut distinct = left.distinct.clone();
        for id in members(right.visible) {
            let other = right.distinct[id as usize];
            let is_shared = left.visible & 1 << id != 0;
            let own = &mut distinct[id as usize];
            *own = if is_shared { own.min(other) } else { other };
        }
        let room: f64 = members(visible).map(|id| distinct[id as usize].max(1.0)).product();
        let rows = n.min(room);
        distinct.iter_mut().for_each(|one| *one = one.min(rows.max(1.0)));
        let is_static = left.is_static && right.is_static;
        let gates = match (self.purpose, left.is_static, right.is_static) {
            (Purpose::Reach, ..) => n,
            (Purpose::Compute, true, true) => 0.0,
            (Purpose::Compute, false, false) => n + (n - rows),
            (Purpose::Compute, ..) => n - rows,
        };
        let cost = left.cost + right.cost + gates + STEP * n;
        let shape = Shape::Join(Rc::clone(left), Rc::clone(right));
        Tree { conditions, variables, visible, rows, distinct, is_static, cost, shape }
    }

    /// The tree without the rows for which a sentence holds.
    fn without(&self, tree: &Rc<Tree>, at: usize) -> Tree {
        let conditions = tree.conditions | 1 << (self.leaves.len() + at);
        let visible = tree.visible & self.needed(conditions, tree.variables);
        let room: f64 = members(visible).map(|id| tree.distinct[id as usize].max(1.0)).product();
        let rows = tree.rows.min(room);
        let mut distinct = tree.distinct.clone();
        distinct.iter_mut().for_each(|one| *one = one.min(rows.max(1.0)));
        Tree {
            conditions,
            variables: tree.variables,
            visible,
            rows,
            distinct,
            is_static: false,
            cost: tree.cost + tree.rows + (tree.rows - rows),
            shape: Shape::Without(Rc::clone(tree), at),
        }
    }

    /// The cheapest tree of all conditions.
    fn best(&self, mut trees: Vec<Rc<Tree>>) -> Rc<Tree> {
        let mut pending: Vec<usize> = (0..self.without.len()).collect();
        while trees.len() + pending.len() > MAX_EXACT {
            self.shorten(&mut trees, &mut pending);
        }
        let n_trees = trees.len();
        let n = n_trees + pending.len();
        let mut best: Vec<Option<Rc<Tree>>> = vec![None; 1 << n];
        for (at, tree) in trees.into_iter().enumerate() {
            best[1 << at] = Some(tree);
        }
        for set in 1_usize..1 << n {
            if set.is_power_of_two() {
                continue;
            }
            let mut found: Option<Tree> = None;
            let is_better = |found: &Option<Tree>, least: f64| {
                found.as_ref().is_none_or(|tree| least < tree.cost)
            };
            for (at, &absent) in pending.iter().enumerate() {
                let bit = 1 << (n_trees + at);
                let Some(tree) = (set & bit != 0).then(|| best[set & !bit].as_ref()).flatten()
                else {
                    continue;
                };
                let can_be_told = is_within(self.without[absent].variables, tree.visible);
                if can_be_told && is_better(&found, tree.cost + tree.rows) {
                    let tree = self.without(tree, absent);
                    if is_better(&found, tree.cost) {
                        found = Some(tree);
                    }
                }
            }
            // Each partition once: the left part holds the lowest member.
            let lowest = set & set.wrapping_neg();
            let mut right = (set - 1) & set;
            while right != 0 {
                let left = set & !right;
                if right & lowest == 0
                    && let (Some(left), Some(right)) = (&best[left], &best[right])
                    && is_better(&found, left.cost + right.cost)
                {
                    let n = Self::join_rows(left, right);
                    let both = !left.is_static && !right.is_static;
                    let gates = if both || self.purpose == Purpose::Reach { n } else { 0.0 };
                    if is_better(&found, left.cost + right.cost + gates + STEP * n) {
                        let tree = self.joined(left, right);
                        if is_better(&found, tree.cost) {
                            found = Some(tree);
                        }
                    }
                }
                right = (right - 1) & set;
            }
            best[set] = found.map(Rc::new);
        }
        best.pop().flatten().expect("all conditions can be joined")
    }

    /// Makes one step that looks cheapest at the moment.
    fn shorten(&self, trees: &mut Vec<Rc<Tree>>, pending: &mut Vec<usize>) {
        let own_cost = |tree: &Tree, parts: f64| tree.cost - parts + tree.rows;
        let mut found: Option<(f64, Tree, [usize; 2], Option<usize>)> = None;
        for left in 0..trees.len() {
            for (at, &absent) in pending.iter().enumerate() {
                if is_within(self.without[absent].variables, trees[left].visible) {
                    let tree = self.without(&trees[left], absent);
                    // Better late than early, where there may be fewer rows.
                    let cost = own_cost(&tree, trees[left].cost);
                    if found.as_ref().is_none_or(|(least, ..)| cost < *least) {
                        found = Some((cost, tree, [left, left], Some(at)));
                    }
                }
            }
            for right in left + 1..trees.len() {
                let tree = self.joined(&trees[left], &trees[right]);
                let cost = own_cost(&tree, trees[left].cost + trees[right].cost);
                if found.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    found = Some((cost, tree, [left, right], None));
                }
            }
        }
        let (_, tree, [left, right], absent) = found.expect("there is more than one part");
        trees[left] = Rc::new(tree);
        match absent {
            Some(at) => {
                pending.remove(at);
            }
            None => {
                trees.remove(right);
            }
        }
    }

    /// The operation at the root of a tree; those below it are made.
    fn open(&mut self, tree: &Tree, sizes: &mut impl Sizes) -> Result<Open, Halt> {
        Ok(match &tree.shape {
            Shape::Leaf(at) => {
                let leaf = &self.leaves[*at];
                Open {
                    bound: variables(&leaf.atom.arguments),
                    inputs: vec![leaf.atom.clone()],
                    differ: Vec::new(),
                    absent: Vec::new(),
                    visible: leaf.visible,
                    is_plain: true,
                }
            }
            Shape::Join(left, right) => {
                let mut inputs = Vec::new();
                for part in [left, right] {
                    let open = self.open(part, sizes)?;
                    inputs.push(self.close(open, sizes)?);
                }
                // One order for all rules, so that equal joins are found.
                inputs.sort_by_key(|atom| atom.predicate);
                let parts = [left.variables, right.variables];
                let (differ, absent) = self.tests(tree.variables, &parts);
                let bound = inputs.iter().fold(0, |all, atom| all | variables(&atom.arguments));
                Open { inputs, differ, absent, bound, visible: tree.visible, is_plain: false }
            }
            Shape::Without(inner, at) => {
                let mut open = self.open(inner, sizes)?;
                if !open.is_plain && open.visible != open.bound {
                    let atom = self.close(open, sizes)?;
                    open = Open {
                        bound: variables(&atom.arguments),
                        inputs: vec![atom],
                        differ: Vec::new(),
                        absent: Vec::new(),
                        visible: 0,
                        is_plain: false,
                    };
                }
                open.absent.push(self.without[*at].what.clone());
                open.visible = tree.visible;
                open.is_plain = false;
                open
            }
        })
    }

    /// The relation that an operation fills, applied to its visible variables.
    fn close(&mut self, open: Open, sizes: &mut impl Sizes) -> Result<Atom, Halt> {
        if open.is_plain {
            let mut inputs = open.inputs;
            return Ok(inputs.pop().expect("a leaf has one input"));
        }
        let output = in_order(&open.inputs, open.visible);
        let part = self.part(open, output.clone());
        let predicate = self.auxiliary(part, false, sizes)?;
        Ok(Atom { predicate, arguments: output })
    }

    fn part(&self, open: Open, output: Vec<Pattern>) -> Part {
        let Open { inputs, differ, absent, .. } = open;
        Part { inputs, differ, absent, output, n_variables: 0, scope: self.scope }.renumbered()
    }
}
