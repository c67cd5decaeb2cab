//! Some steps in a row from any state, as questions for a SAT solver.

use super::invariants::Invariants;
use super::variables::Variable;
use crate::network::solver::{Answer, Solver};
use crate::network::{Graph, Lit, Network};
use crate::state_machine::Cancel;

/// What may be spent on all questions.
pub(super) struct Budget<'c> {
    /// Propagations of the solver that are left.
    pub(super) work: u64,
    /// Decisions for one question.
    pub(super) per_question: u64,
    /// Stops everything.
    pub(super) cancel: &'c Cancel,
}

impl Budget<'_> {
    /// What an attempt finds that may spend half of what is left.
    pub(super) fn half<T>(
        &mut self,
        attempt: impl FnOnce(&mut Budget<'_>) -> Option<Option<T>>,
    ) -> Option<T> {
        let mut half = Budget { work: self.work / 2, ..*self };
        let found = attempt(&mut half);
        self.work -= self.work / 2 - half.work;
        found.flatten()
    }
}

/// Steps in a row with a legal joint move each, from a state that is not terminal and in which
/// the variables are as they are said to be.
pub(super) struct Steps<'n> {
    network: &'n Network,
    /// Its inputs are the facts of the first state, then the moves of each step.
    pub(super) graph: Graph,
    /// By time, by fact.
    facts: Vec<Vec<Lit>>,
    solver: Solver,
}

impl<'n> Steps<'n> {
    /// All runs of `n_steps` steps. The variables must have been proven, or be assumed of the
    /// first state for the proof that they are so after a step.
    pub(super) fn new(
        network: &'n Network,
        n_steps: usize,
        invariants: &Invariants,
        budget: &Budget<'_>,
    ) -> Self {
        let (n_facts, n_moves) = (network.n_facts(), network.n_moves());
        let graph = Graph::new(n_facts + n_steps * n_moves);
        let first = (0..n_facts).map(|fact| graph.input(fact)).collect();
        let solver = Solver::new(budget.per_question);
        let mut steps = Self { network, graph, facts: vec![first], solver };
        let legal = network.roles.iter().flat_map(|role| &role.legal);
        let outputs = network.next.iter().chain(legal).chain([&network.terminal]);
        let is_needed = network.graph.needed(outputs.copied(), |lit| lit);
        for step in 0..n_steps {
            steps.assume(invariants, step);
            steps.add_step(step, &is_needed);
        }
        steps
    }

    /// The facts at a time.
    pub(super) fn facts(&self, time: usize) -> &[Lit] {
        &self.facts[time]
    }

    /// By value of a variable, whether it has it at a time.
    pub(super) fn values(&mut self, variable: &Variable, time: usize) -> Vec<Lit> {
        variable.values(&mut self.graph, &self.facts[time])
    }

    /// From now on, only steps with some of these count.
    pub(super) fn add(&mut self, some: &[Lit]) {
        self.solver.add(&self.graph, some);
    }

    /// Whether all of these may hold at once. `None` if there is nothing left to be spent.
    pub(super) fn ask(&mut self, all: &[Lit], budget: &mut Budget<'_>) -> Option<Answer> {
        if budget.cancel.is_cancelled() || budget.work == 0 {
            return None;
        }
        let before = self.solver.propagations();
        let (answer, _) = self.solver.ask(&self.graph, all);
        let work = self.solver.propagations() - before;
        budget.work = budget.work.saturating_sub(work + 100);
        Some(answer)
    }

    /// Those of the literals which cannot hold at once, after that answer about the same ones.
    pub(super) fn core(&self, all: &[Lit]) -> Vec<Lit> {
        self.solver.core(all)
    }

    /// The facts before and after the step that an answer is about, if it is about one step.
    pub(super) fn step(&self, inputs: &[bool]) -> [Vec<bool>; 2] {
        let network = self.network;
        let values = network.graph.evaluate(inputs);
        let next = network.next.iter().map(|lit| values[lit.node() as usize] ^ lit.is_negated());
        [inputs[..network.n_facts()].to_vec(), next.collect()]
    }

    /// The invariants hold.
    fn assume(&mut self, invariants: &Invariants, time: usize) {
        let Self { graph, facts, solver, .. } = self;
        for variable in &invariants.variables {
            let lits: Vec<Lit> =
                variable.facts.iter().map(|&it| facts[time][it as usize]).collect();
            add_at_most_one(graph, solver, &lits);
            if variable.is_total {
                solver.add(graph, &lits);
            }
        }
        let lits = invariants.lits(graph, &facts[time]);
        for clause in &invariants.clauses {
            let some = clause.map(|(signal, holds)| lits[signal].negated_if(!holds));
            solver.add(graph, &some);
        }
    }

    /// One more step: the state before it is not terminal, and each role makes exactly one
    /// move, which is legal.
    fn add_step(&mut self, step: usize, is_needed: &[bool]) {
        let Self { network, graph, facts, solver } = self;
        let first_move = network.n_facts() + step * network.n_moves();
        let mut lits = vec![Lit::FALSE];
        lits.extend(&facts[step]);
        lits.extend((0..network.n_moves()).map(|at| graph.input(first_move + at)));
        for (node, [a, b]) in network.graph.ands() {
            let and = |graph: &mut Graph| graph.and(a.replaced_by(&lits), b.replaced_by(&lits));
            let lit = if is_needed[node as usize] { and(graph) } else { Lit::FALSE };
            lits.push(lit);
        }
        solver.add(graph, &[!network.terminal.replaced_by(&lits)]);
        for (id, role) in network.role_ids().zip(&network.roles) {
            let first = step * network.n_moves() + network.first_move(id);
            let moves: Vec<Lit> =
                (first..).take(role.moves.len()).map(|at| graph.input(at)).collect();
            for (&chosen, legal) in moves.iter().zip(&role.legal) {
                solver.add(graph, &[!chosen, legal.replaced_by(&lits)]);
            }
            solver.add(graph, &moves);
            add_at_most_one(graph, solver, &moves);
        }
        facts.push(network.next.iter().map(|lit| lit.replaced_by(&lits)).collect());
    }
}

/// Never two of these hold. Returns whether one does. A tree, so that the solver's reasons are
/// short.
fn add_at_most_one(graph: &mut Graph, solver: &mut Solver, lits: &[Lit]) -> Lit {
    match lits {
        [] => Lit::FALSE,
        [lit] => *lit,
        _ => {
            let (left, right) = lits.split_at(lits.len() / 2);
            let [left, right] = [left, right].map(|half| add_at_most_one(graph, solver, half));
            solver.add(graph, &[!left, !right]);
            graph.or(left, right)
        }
    }
}

/// Whether one of these holds, and whether two do.
pub(super) fn some_and_two(graph: &mut Graph, lits: &[Lit]) -> [Lit; 2] {
    match lits {
        [] => [Lit::FALSE; 2],
        [lit] => [*lit, Lit::FALSE],
        _ => {
            let (left, right) = lits.split_at(lits.len() / 2);
            let [[left, two_left], [right, two_right]] =
                [left, right].map(|half| some_and_two(graph, half));
            let both = graph.and(left, right);
            [graph.or(left, right), graph.any(&mut vec![both, two_left, two_right])]
        }
    }
}
