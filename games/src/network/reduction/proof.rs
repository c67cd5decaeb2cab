//! Proofs: by induction for nodes that read facts only, one by one for nodes that read
//! moves.

use super::ReductionEffort;
use super::candidates::{Classes, Exclusions};

use crate::network::samples::evaluate;
use crate::network::solver::{Answer, Solver};
use crate::network::{Graph, Lit, Network};
use crate::state_machine::Cancel;

/// Questions about one network.
pub(super) struct Proof<'n> {
    network: &'n Network,
    reads_moves: &'n [bool],
    effort: &'n ReductionEffort,
    cancel: &'n Cancel,
    questions: u64,
    decisions: u64,
}

/// All nodes of the network in terms of another graph, each replaced by what it
/// is taken to be.
struct Frame {
    /// By node.
    lits: Vec<Lit>,
    /// Nodes that are replaced, and what they are by their operands.
    replaced: Vec<(u32, Lit)>,
}

impl Frame {
    fn lit(&self, lit: Lit) -> Lit {
        lit.replaced_by(&self.lits)
    }
}

impl<'n> Proof<'n> {
    pub(super) fn new(
        network: &'n Network,
        reads_moves: &'n [bool],
        effort: &'n ReductionEffort,
        cancel: &'n Cancel,
    ) -> Self {
        Self { network, reads_moves, effort, cancel, questions: 0, decisions: 0 }
    }

    /// Questions asked.
    pub(super) fn questions(&self) -> u64 {
        self.questions
    }

    /// Drops candidates until all that are left follow in the next position if
    /// they hold in one. Returns the number of rounds, or `None` if the effort did
    /// not suffice.
    pub(super) fn induct(
        &mut self,
        classes: &mut Classes,
        exclusions: &mut Exclusions,
    ) -> Option<usize> {
        for round in 1.. {
            if !self.step(classes, exclusions)? {
                return Some(round);
            }
        }
        unreachable!("each round drops a candidate")
    }

    /// One round: whether candidates were dropped.
    fn step(&mut self, classes: &mut Classes, exclusions: &mut Exclusions) -> Option<bool> {
        let network = self.network;
        let mut graph = Graph::new(network.graph.n_inputs());
        let inputs: Vec<Lit> = (0..graph.n_inputs()).map(|input| graph.input(input)).collect();
        let before = self.frame(&mut graph, &inputs, classes, true);
        let follows: Vec<Lit> = network.next.iter().map(|&lit| before.lit(lit)).collect();
        let after = self.frame(&mut graph, &follows, classes, false);
        let mut solver = self.solver(&mut graph, &before, exclusions);
        let mut left = (classes.clone(), exclusions.clone());
        let mut dropped = false;
        for &(node, lit) in &after.replaced {
            let other = after.lits[node as usize];
            // It may have been separated from its class in the meantime.
            let is_candidate = left.0.substitute(node) == classes.substitute(node);
            if lit == other || !is_candidate {
                continue;
            }
            match self.differ(&mut solver, &graph, lit, other)? {
                Answer::Never => continue,
                Answer::When(inputs) => self.refute(&inputs, &mut left),
                Answer::Unknown => {}
            }
            if left.0.substitute(node) == classes.substitute(node) {
                left.0.part(node);
            }
            dropped = true;
        }
        for &pair in exclusions.pairs() {
            if left.1.pairs().binary_search(&pair).is_err() {
                continue;
            }
            let both = pair.map(|fact| after.lits[1 + fact as usize]);
            match self.ask(&mut solver, &graph, &both)? {
                Answer::Never => continue,
                Answer::When(inputs) => self.refute(&inputs, &mut left),
                Answer::Unknown => {}
            }
            left.1.part(pair);
            dropped = true;
        }
        (*classes, *exclusions) = left;
        Some(dropped)
    }

    /// By node, the literal that it equals in every position that play reaches, with
    /// every legal joint move, given what was proven of positions.
    pub(super) fn sweep(
        &mut self,
        classes: &Classes,
        exclusions: &Exclusions,
        in_moves: &mut Classes,
    ) -> Option<Vec<Lit>> {
        let network = self.network;
        let mut graph = Graph::new(network.graph.n_inputs());
        let inputs: Vec<Lit> = (0..graph.n_inputs()).map(|input| graph.input(input)).collect();
        let frame = self.frame(&mut graph, &inputs, classes, true);
        let mut solver = self.solver(&mut graph, &frame, exclusions);
        let mut substitutes = network.graph.literals();
        let mut lits = frame.lits;
        let mut values = Vec::new();
        for node in 0..network.graph.n_nodes() as u32 {
            let at = node as usize;
            if !self.reads_moves[at] {
                substitutes[at] = classes.substitute(node);
                continue;
            }
            let Some(operands) = network.graph.operands(node) else { continue };
            let [a, b] = operands.map(|lit| lit.replaced_by(&lits));
            lits[at] = graph.and(a, b);
            let candidate = in_moves.substitute(node);
            if candidate.node() == node {
                continue;
            }
            let other = candidate.replaced_by(&lits);
            if lits[at] != other {
                match self.differ(&mut solver, &graph, lits[at], other)? {
                    Answer::Never => {}
                    Answer::When(inputs) => {
                        let inputs: Vec<u64> = inputs.iter().map(|&input| input.into()).collect();
                        evaluate(&network.graph, &inputs, &mut values);
                        in_moves.refine(&values, 1);
                        if in_moves.substitute(node) == candidate {
                            in_moves.part(node);
                        }
                        continue;
                    }
                    Answer::Unknown => {
                        in_moves.part(node);
                        continue;
                    }
                }
            }
            lits[at] = other;
            substitutes[at] = candidate.replaced_by(&substitutes);
        }
        Some(substitutes)
    }

    /// The network over `inputs`, each node replaced by its substitute; with or
    /// without the nodes that read moves.
    fn frame(
        &self,
        graph: &mut Graph,
        inputs: &[Lit],
        classes: &Classes,
        with_moves: bool,
    ) -> Frame {
        let old = &self.network.graph;
        let mut frame = Frame { lits: vec![Lit::FALSE], replaced: Vec::new() };
        for node in 1..old.n_nodes() as u32 {
            if self.reads_moves[node as usize] && !with_moves {
                frame.lits.push(Lit::FALSE);
                continue;
            }
            let own = match old.operands(node) {
                Some([a, b]) => graph.and(frame.lit(a), frame.lit(b)),
                None => inputs[node as usize - 1],
            };
            let substitute = classes.substitute(node);
            if substitute.node() == node {
                frame.lits.push(own);
            } else {
                frame.replaced.push((node, own));
                frame.lits.push(frame.lit(substitute));
            }
        }
        frame
    }

    /// A solver that knows that `frame` is a position in which all candidates
    /// hold, not the end, with a legal joint move.
    fn solver(&mut self, graph: &mut Graph, frame: &Frame, exclusions: &Exclusions) -> Solver {
        let network = self.network;
        let mut solver = Solver::new(self.effort.decisions_per_question);
        for &(node, own) in &frame.replaced {
            let other = frame.lits[node as usize];
            if own != other {
                solver.add(graph, &[own, !other]);
                solver.add(graph, &[!own, other]);
            }
        }
        for pair in exclusions.pairs() {
            solver.add(graph, &pair.map(|fact| !frame.lits[1 + fact as usize]));
        }
        solver.add(graph, &[!frame.lit(network.terminal)]);
        for (id, outputs) in network.role_ids().zip(&network.roles) {
            let first = network.first_move(id);
            let moves: Vec<Lit> =
                (0..outputs.moves.len()).map(|at| graph.input(first + at)).collect();
            for (&chosen, &legal) in moves.iter().zip(&outputs.legal) {
                solver.add(graph, &[!chosen, frame.lit(legal)]);
            }
            solver.add(graph, &moves);
            // At most one: after the first there is no other.
            let mut before = Lit::FALSE;
            for &chosen in &moves {
                solver.add(graph, &[!before, !chosen]);
                before = graph.or(before, chosen);
            }
        }
        solver
    }

    /// When two literals differ.
    fn differ(&mut self, solver: &mut Solver, graph: &Graph, a: Lit, b: Lit) -> Option<Answer> {
        match self.ask(solver, graph, &[a, !b])? {
            Answer::Never => self.ask(solver, graph, &[!a, b]),
            found => Some(found),
        }
    }

    /// When all of these hold. `None` if there is nothing left to be spent.
    fn ask(&mut self, solver: &mut Solver, graph: &Graph, all: &[Lit]) -> Option<Answer> {
        if self.cancel.is_cancelled() || self.decisions > self.effort.decisions {
            return None;
        }
        self.questions += 1;
        let (answer, decisions) = solver.ask(graph, all);
        self.decisions += decisions;
        Some(answer)
    }

    /// Drops what does not hold in the position that follows.
    fn refute(&self, inputs: &[bool], left: &mut (Classes, Exclusions)) {
        let network = self.network;
        let values = network.graph.evaluate(inputs);
        let next = network.next.iter().map(|lit| values[lit.node() as usize] ^ lit.is_negated());
        let mut inputs: Vec<u64> = next.map(u64::from).collect();
        inputs.resize(network.graph.n_inputs(), 0);
        let mut values = Vec::new();
        evaluate(&network.graph, &inputs, &mut values);
        left.0.refine(&values, 1);
        left.1.refine(&values, 1);
    }
}
