//! Gates over facts and moves, with what is known of moves: each role makes
//! exactly one.
//!
//! So two moves of one role are never made at once, and "one of all moves but these" is
//! "none of these". That keeps frame axioms small: a cell keeps its piece under all moves
//! but those that touch it.

use std::ops::Range;

use smallvec::SmallVec;

use crate::network::{Graph, Lit};

/// No role.
const NONE: u32 = u32::MAX;

/// Literals that a conjunction is taken apart into, at most.
const MAX_PARTS: usize = 17;

/// A graph in the making.
#[derive(Debug)]
pub(super) struct Gates {
    graph: Graph,
    /// By node, up to the last input: whose move it is, or `NONE`.
    role_of: Vec<u32>,
    /// By role, the inputs that are its moves.
    moves: Vec<Range<usize>>,
    /// By node: if its negation is a disjunction of moves, of how many, each
    /// counted as often as it occurs.
    n_moves: Vec<u32>,
}

impl Gates {
    /// Inputs for facts, then for the moves of each role.
    pub(super) fn new(n_facts: usize, n_moves: impl Iterator<Item = usize>) -> Self {
        let mut role_of = vec![NONE; 1 + n_facts];
        let mut moves = Vec::new();
        let mut first = n_facts;
        for (role, n) in n_moves.enumerate() {
            moves.push(first..first + n);
            first += n;
            role_of.resize(1 + first, role as u32);
        }
        Self { graph: Graph::new(first), role_of, moves, n_moves: vec![0; 1 + first] }
    }

    pub(super) fn into_graph(self) -> Graph {
        self.graph
    }

    pub(super) fn input(&self, index: usize) -> Lit {
        self.graph.input(index)
    }

    pub(super) fn n_ands(&self) -> usize {
        self.graph.n_ands()
    }

    /// Whose move a literal is, negated or not.
    #[inline]
    fn role_of(&self, lit: Lit) -> u32 {
        self.role_of.get(lit.node() as usize).copied().unwrap_or(NONE)
    }

    /// The conjunction of two literals.
    #[inline]
    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let role = self.role_of(a);
        if role != NONE && role == self.role_of(b) && a.node() != b.node() {
            match (a.is_negated(), b.is_negated()) {
                (false, false) => return Lit::FALSE,
                (false, true) => return a,
                (true, false) => return b,
                (true, true) => {}
            }
        }
        self.graph.and(a, b)
    }

    /// The conjunction of many literals.
    pub(super) fn all(&mut self, lits: &mut Vec<Lit>) -> Lit {
        self.graph.all(lits)
    }

    /// The literals of which a literal is the conjunction: at most [`MAX_PARTS`] of them, else
    /// the literal itself.
    pub(super) fn parts(&self, whole: Lit) -> Vec<Lit> {
        self.graph.factors::<[Lit; 8]>(whole, MAX_PARTS).map_or(vec![whole], SmallVec::into_vec)
    }

    /// The disjunction of two literals.
    pub(super) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// The disjunction of many literals.
    pub(super) fn any(&mut self, lits: &mut Vec<Lit>) -> Lit {
        lits.sort_unstable();
        lits.dedup();
        if let Some(mut shorter) = self.without_most_moves(lits) {
            return self.graph.any(&mut shorter);
        }
        self.graph.any(lits)
    }

    /// If most moves of a role are among the alternatives, the alternatives with
    /// the absence of its other moves instead.
    fn without_most_moves(&mut self, lits: &[Lit]) -> Option<Vec<Lit>> {
        self.count_moves();
        let n_moves = |lit: &Lit| match self.role_of(*lit) {
            NONE if lit.is_negated() => self.n_moves[lit.node() as usize] as usize,
            NONE => 0,
            _ => usize::from(!lit.is_negated()),
        };
        let total: usize = lits.iter().map(n_moves).sum();
        if self.moves.iter().all(|moves| moves.is_empty() || 2 * total < moves.len()) {
            return None;
        }
        let (mut moves, mut rest) = (Vec::new(), Vec::new());
        for lit in lits {
            if n_moves(lit) > 0 { self.moves_of(*lit, &mut moves) } else { rest.push(*lit) }
        }
        moves.sort_unstable();
        moves.dedup();
        let mut is_shorter = false;
        for role in 0..self.moves.len() {
            let range = self.moves[role].clone();
            let n = moves.iter().filter(|lit| self.role_of(**lit) == role as u32).count();
            if n == 0 || 2 * n < range.len() {
                continue;
            }
            // Both ascend.
            let mut among = moves.iter().copied().peekable();
            let mut others: Vec<Lit> = range.map(|input| self.graph.input(input)).collect();
            others.retain(|&other| {
                while among.next_if(|&one| one < other).is_some() {}
                among.peek() != Some(&other)
            });
            moves.retain(|lit| self.role_of(*lit) != role as u32);
            rest.push(!self.graph.any(&mut others));
            is_shorter = true;
        }
        rest.extend(moves);
        is_shorter.then_some(rest)
    }

    /// Counts the moves of disjunctions of moves among new nodes.
    fn count_moves(&mut self) {
        for node in self.n_moves.len()..self.graph.n_nodes() {
            let operands = self.graph.operands(node as u32);
            let counts = operands.into_iter().flatten().map(|lit| match self.role_of(lit) {
                NONE if !lit.is_negated() => self.n_moves[lit.node() as usize],
                NONE => 0,
                _ => u32::from(lit.is_negated()),
            });
            let (mut total, mut all) = (0, true);
            for count in counts {
                total += count;
                all &= count > 0;
            }
            self.n_moves.push(if all { total } else { 0 });
        }
    }

    /// The moves of which a literal is the disjunction.
    fn moves_of(&self, lit: Lit, into: &mut Vec<Lit>) {
        let mut todo = vec![lit];
        while let Some(lit) = todo.pop() {
            match self.graph.operands(lit.node()) {
                None => into.push(lit),
                Some(operands) => todo.extend(operands.map(|lit| !lit)),
            }
        }
    }
}
