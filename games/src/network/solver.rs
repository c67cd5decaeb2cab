//! Questions about a graph, for a SAT solver.

use std::cell::Cell;

use batsat::{Callbacks, SolverInterface, SolverOpts, Var, lbool};

use super::{Graph, Lit};

/// What a solver says.
pub(crate) enum Answer {
    /// It cannot be.
    Never,
    /// It is so for these inputs; those that do not matter are false.
    When(Vec<bool>),
    /// It would take too long to say.
    Unknown,
}

/// Stops the solver after a number of decisions.
struct Decisions {
    made: Cell<u64>,
    most: u64,
}

impl Callbacks for Decisions {
    fn stop(&self) -> bool {
        self.made.set(self.made.get() + 1);
        self.made.get() > self.most
    }
}

/// Clauses over the nodes of a graph (Tseitin 1968), entered as they are asked
/// for.
pub(crate) struct Solver {
    solver: batsat::Solver<Decisions>,
    /// By node of the graph.
    vars: Vec<Option<Var>>,
}

impl Solver {
    /// A solver that gives up a question after this many decisions.
    pub(crate) fn new(most: u64) -> Self {
        let decisions = Decisions { made: Cell::new(0), most };
        Self { solver: batsat::Solver::new(SolverOpts::default(), decisions), vars: Vec::new() }
    }

    /// Some of these hold always.
    pub(crate) fn add(&mut self, graph: &Graph, some: &[Lit]) {
        if some.contains(&Lit::TRUE) {
            return;
        }
        let some = some.iter().filter(|lit| !lit.is_constant());
        let mut clause = some.map(|&lit| self.enter(graph, lit)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    /// Whether all of these may hold at once, and the decisions it took to say.
    pub(crate) fn ask(&mut self, graph: &Graph, all: &[Lit]) -> (Answer, u64) {
        if all.contains(&Lit::FALSE) || all.iter().any(|lit| all.contains(&!*lit)) {
            return (Answer::Never, 0);
        }
        let all = all.iter().filter(|lit| !lit.is_constant());
        let assumptions: Vec<batsat::Lit> = all.map(|&lit| self.enter(graph, lit)).collect();
        self.solver.cb_mut().made.set(0);
        let answer = match self.solver.solve_limited(&assumptions) {
            said if said == lbool::FALSE => Answer::Never,
            said if said == lbool::TRUE => {
                Answer::When((0..graph.n_inputs()).map(|at| self.input(at)).collect())
            }
            _ => Answer::Unknown,
        };
        (answer, self.solver.cb().made.get())
    }

    /// Those of the literals that could not hold at once which suffice for that. To be called
    /// after the answer [`Answer::Never`] about the same ones.
    pub(crate) fn core(&self, all: &[Lit]) -> Vec<Lit> {
        if let Some(at) = all.iter().position(|&lit| lit == Lit::FALSE) {
            return vec![all[at]];
        }
        if let Some(&lit) = all.iter().find(|lit| all.contains(&!**lit)) {
            return vec![lit, !lit];
        }
        let is_needed = |lit: &&Lit| {
            let var = self.vars.get(lit.node() as usize).copied().flatten();
            var.is_some_and(|var| self.solver.unsat_core_contains_var(var))
        };
        all.iter().filter(is_needed).copied().collect()
    }

    /// Values of variables that followed from others so far: what most time goes into.
    pub(crate) fn propagations(&self) -> u64 {
        self.solver.num_propagations()
    }

    fn input(&self, at: usize) -> bool {
        let var = self.vars.get(1 + at).copied().flatten();
        var.is_some_and(|var| self.solver.value_var(var) == lbool::TRUE)
    }

    /// The literal for the solver, with everything that it depends on.
    fn enter(&mut self, graph: &Graph, lit: Lit) -> batsat::Lit {
        self.vars.resize(graph.n_nodes().max(self.vars.len()), None);
        let mut open = vec![lit.node()];
        while let Some(&node) = open.last() {
            if self.vars[node as usize].is_some() {
                open.pop();
                continue;
            }
            let Some(operands) = graph.operands(node) else {
                self.vars[node as usize] = Some(self.solver.new_var_default());
                continue;
            };
            let before = open.len();
            let is_missing = |lit: &Lit| self.vars[lit.node() as usize].is_none();
            open.extend(operands.iter().filter(|lit| is_missing(lit)).map(|lit| lit.node()));
            if open.len() > before {
                continue;
            }
            let [a, b] = operands.map(|lit| self.known(lit));
            let var = self.solver.new_var_default();
            let and = batsat::Lit::new(var, true);
            self.vars[node as usize] = Some(var);
            for clause in [vec![!and, a], vec![!and, b], vec![and, !a, !b]] {
                self.solver.add_clause_reuse(&mut { clause });
            }
        }
        self.known(lit)
    }

    fn known(&self, lit: Lit) -> batsat::Lit {
        let var = self.vars[lit.node() as usize].expect("it was entered");
        batsat::Lit::new(var, !lit.is_negated())
    }
}
