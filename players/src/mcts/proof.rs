//! Proven bounds of values (Cazenave and Saffidine, "Score bounded Monte-Carlo tree
//! search", Computers and Games 2010), for any rewards and any number of roles.
//!
//! The lower bound of a role is what it can enforce against all others together, who know
//! its move, or its mixed strategy. The upper bound depends on who they are:
//!
//! - If two roles share a constant sum, the other one enforces that it gets no more. Both
//!   bounds then enclose the value of minimax; where both choose at the same time they enclose the
//!   value of the mixed strategies, too. If roles mix their moves, the bounds there are the values
//!   of the matrix games whose entries are the bounds of the children.
//! - Else nobody has a reason to hold it down, so the upper bound is what it gets if all
//!   others help. The bounds enclose whatever reasonable others let it have.
//!
//! Each bound follows from bounds that were proven before, in finitely many steps from
//! terminal states, so that proofs hold in games whose states recur, too.

use games::solve::matrix;

use super::bounds::{BEST, Bounds};
use super::roles::Roles;
use super::tree::{Edge, Kind, NONE, Tree, by_role};

/// Computes the bounds of a node from those of its children. Says whether they changed.
pub(super) fn update(tree: &mut Tree, roles: &Roles, at: u32) -> bool {
    match tree.node(at).kind {
        Kind::Leaf | Kind::End => return false,
        Kind::Choice(_) | Kind::Chance => note_children(tree, at),
        Kind::Joint if !tree.lists_children(at) => return false,
        Kind::Joint => {}
    }
    let mut changed = false;
    for role in 0..tree.n_roles {
        let bounds = match tree.node(at).kind {
            Kind::Choice(chooser) => of_choice(tree, roles, at, usize::from(chooser.0), role),
            Kind::Chance => mean(tree.edges(at).1.iter().map(|edge| tree.bounds(edge.child)[role])),
            Kind::Joint => of_joint(tree, roles, at, role),
            Kind::Leaf | Kind::End => Bounds::OPEN,
        };
        changed |= tree.narrow(at, role, bounds);
    }
    if changed {
        tree.settle(at);
    }
    changed
}

/// Puts the bounds of the children into the edges.
fn note_children(tree: &mut Tree, at: u32) {
    let (first, edges) = tree.edges(at);
    for edge in first..first + edges.len() as u32 {
        let Edge { child, role, .. } = *tree.edge(edge);
        tree.edge_mut(edge).bounds = tree.bounds(child)[usize::from(role.0)];
    }
}

fn of_choice(tree: &Tree, roles: &Roles, at: u32, chooser: usize, role: usize) -> Bounds {
    let children = tree.edges(at).1.iter().map(|edge| tree.bounds(edge.child)[role]);
    if role == chooser { largest(children) } else { others(children, roles) }
}

/// The role chooses.
fn largest(children: impl Iterator<Item = Bounds>) -> Bounds {
    let best = |one: Bounds, other: Bounds| Bounds {
        low: one.low.max(other.low),
        high: one.high.max(other.high),
    };
    children.reduce(best).unwrap_or(Bounds::OPEN)
}

/// Others choose.
fn others(children: impl Iterator<Item = Bounds>, roles: &Roles) -> Bounds {
    let opposed = roles.opposed;
    let worst = |one: Bounds, other: Bounds| Bounds {
        low: one.low.min(other.low),
        high: if opposed { one.high.min(other.high) } else { one.high.max(other.high) },
    };
    children.reduce(worst).unwrap_or(Bounds::OPEN)
}

/// Chance chooses: the mean, rounded away from what is proven.
fn mean(children: impl Iterator<Item = Bounds>) -> Bounds {
    let (mut n, mut low, mut high) = (0_u64, 0, 0);
    for bounds in children {
        n += 1;
        low += u64::from(bounds.low);
        high += u64::from(bounds.high);
    }
    if n == 0 {
        return Bounds::OPEN;
    }
    Bounds { low: (low / n) as u16, high: high.div_ceil(n) as u16 }
}

/// The moves of a joint node, as a role sees them.
struct JointMoves {
    /// The number of moves of the role itself, of all others together, and of chance.
    n: [u64; 3],
    /// By role that has a choice: whose it is (an index into `n`) and its number of moves.
    digits: Vec<(usize, u64)>,
}

impl JointMoves {
    fn new(tree: &Tree, roles: &Roles, at: u32, role: usize) -> Self {
        let mut moves = Self { n: [1; 3], digits: Vec::new() };
        for edges in by_role(tree.edges(at).1) {
            let mover = usize::from(edges[0].role.0);
            let whose = match mover {
                _ if Some(mover) == roles.chance => 2,
                _ if mover == role => 0,
                _ => 1,
            };
            moves.n[whose] *= edges.len() as u64;
            moves.digits.push((whose, edges.len() as u64));
        }
        moves
    }

    /// The index of a joint move: the last role's moves change fastest.
    fn index(&self, mut chosen: [u64; 3]) -> u64 {
        let (mut index, mut place) = (0, 1);
        for &(whose, n) in self.digits.iter().rev() {
            index += chosen[whose] % n * place;
            chosen[whose] /= n;
            place *= n;
        }
        index
    }
}

/// The bounds of a role's value after each joint move of those who choose at the same time.
struct JointValues<'a> {
    tree: &'a Tree,
    at: u32,
    role: usize,
    moves: JointMoves,
}

impl<'a> JointValues<'a> {
    fn new(tree: &'a Tree, roles: &Roles, at: u32, role: usize) -> Self {
        Self { tree, at, role, moves: JointMoves::new(tree, roles, at, role) }
    }

    /// After an own move and a joint move of the others: the mean over what chance does.
    fn value(&self, own: u64, other: u64) -> Bounds {
        let of =
            |chance| match self.tree.joint_child(self.at, self.moves.index([own, other, chance])) {
                NONE => Bounds::OPEN,
                child => self.tree.bounds(child)[self.role],
            };
        mean((0..self.moves.n[2]).map(of))
    }

    /// By own move: what it enforces, and what it may bring.
    fn of_own_moves(&self) -> impl Iterator<Item = Bounds> {
        (0..self.moves.n[0]).map(|own| {
            let values = (0..self.moves.n[1]).map(|other| self.value(own, other));
            let span = |one: Bounds, other: Bounds| Bounds {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
            };
            values.reduce(span).unwrap_or(Bounds::OPEN)
        })
    }

    /// What opposed others grant at most, by their best joint move.
    fn granted(&self) -> u16 {
        let best = |other| (0..self.moves.n[0]).map(|own| self.value(own, other).high).max();
        (0..self.moves.n[1]).filter_map(best).min().unwrap_or(BEST)
    }

    /// The matrix game of one of the bounds: a row for each own move, a column for each of the
    /// other role's.
    fn matrix(&self, bound: fn(Bounds) -> u16) -> Vec<Vec<f64>> {
        let entry = |own, other| f64::from(bound(self.value(own, other)));
        let row = |own| (0..self.moves.n[1]).map(|other| entry(own, other)).collect();
        (0..self.moves.n[0]).map(row).collect()
    }

    /// What mixed strategies make of what single moves enforce and grant.
    fn mixed(&self, single: Bounds) -> Bounds {
        let mut bounds = single;
        if self.moves.n[0] < 2 || self.moves.n[1] < 2 || single.is_exact() {
            return bounds;
        }
        let low = self.matrix(|bounds| bounds.low);
        if matrix::saddle(&low).is_none() {
            bounds.low = bounds.low.max((matrix::solve(&low).0 - NUMERIC_ERROR).floor() as u16);
        }
        let high = self.matrix(|bounds| bounds.high);
        if matrix::saddle(&high).is_none() {
            bounds.high = bounds.high.min((matrix::solve(&high).0 + NUMERIC_ERROR).ceil() as u16);
        }
        bounds
    }
}

/// More than a linear program errs by, in units of bounds.
const NUMERIC_ERROR: f64 = 1e-3;

/// The probabilities with which a role of two opposed ones draws its move in a joint node, to
/// enforce more than any single move does; `None` if a single move enforces as much, or nothing
/// is proven.
pub(super) fn mixed_strategy(tree: &Tree, roles: &Roles, at: u32, role: usize) -> Option<Vec<f64>> {
    if !roles.opposed || !roles.mix || tree.node(at).kind != Kind::Joint || !tree.lists_children(at)
    {
        return None;
    }
    let values = JointValues::new(tree, roles, at, role);
    let low = values.matrix(|bounds| bounds.low);
    if matrix::saddle(&low).is_some() {
        return None;
    }
    let single = f64::from(largest(values.of_own_moves()).low);
    let (value, strategy) = matrix::solve(&low);
    (value > single + 1.0).then_some(strategy)
}

/// By own move of a role in a joint node: what it enforces, and what it may bring.
pub(super) fn of_own_moves(tree: &Tree, roles: &Roles, at: u32, role: usize) -> Vec<Bounds> {
    JointValues::new(tree, roles, at, role).of_own_moves().collect()
}

/// Several choose at the same time. The role enforces what its best move does; opposed others
/// grant no more than after their best joint move, which knows nothing of the role's. Mixed
/// strategies may enforce more, and grant less.
fn of_joint(tree: &Tree, roles: &Roles, at: u32, role: usize) -> Bounds {
    let values = JointValues::new(tree, roles, at, role);
    let mut bounds = largest(values.of_own_moves());
    if roles.opposed {
        bounds.high = values.granted();
    }
    if roles.opposed && roles.mix {
        bounds = values.mixed(bounds);
    }
    bounds
}
