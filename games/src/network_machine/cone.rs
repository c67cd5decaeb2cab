//! The cone of influence of some outputs, evaluated as a whole: for outputs that are
//! requested too seldom to be kept up to date.

use crate::network::{Graph, Lit};

/// The conjunctions below some outputs, renumbered: the constant, the inputs that
/// matter, then the conjunctions in order of evaluation.
#[derive(Debug)]
pub(crate) struct Cone {
    /// The graph's inputs that matter.
    inputs: Vec<u32>,
    ands: Vec<[Lit; 2]>,
    outputs: Vec<Lit>,
}

/// The values of the nodes of a [`Cone`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ConeValues(Vec<bool>);

impl Cone {
    /// The cone of `outputs`.
    pub(crate) fn new(graph: &Graph, outputs: &[Lit]) -> Self {
        let needed = graph.needed(outputs.iter().copied(), |lit| lit);
        let first = 1 + graph.n_inputs();
        let mut number = vec![0_u32; graph.n_nodes()];
        let inputs: Vec<u32> =
            (1..first).filter(|&node| needed[node]).map(|node| node as u32 - 1).collect();
        for (at, &input) in inputs.iter().enumerate() {
            number[1 + input as usize] = 1 + at as u32;
        }
        let mut cone = Self { inputs, ands: Vec::new(), outputs: Vec::new() };
        for (node, operands) in graph.ands().filter(|&(node, _)| needed[node as usize]) {
            number[node as usize] = (1 + cone.inputs.len() + cone.ands.len()) as u32;
            let renumbered =
                operands.map(|lit| Lit::new(number[lit.node() as usize], lit.is_negated()));
            cone.ands.push(renumbered);
        }
        let renumber = |lit: &Lit| Lit::new(number[lit.node() as usize], lit.is_negated());
        cone.outputs = outputs.iter().map(renumber).collect();
        cone
    }

    /// Number of conjunctions.
    pub(crate) fn n_ands(&self) -> usize {
        self.ands.len()
    }

    /// Computes all values.
    pub(crate) fn evaluate(&self, input: impl Fn(usize) -> bool, values: &mut ConeValues) {
        let values = &mut values.0;
        values.clear();
        values.reserve(1 + self.inputs.len() + self.ands.len());
        values.push(false);
        values.extend(self.inputs.iter().map(|&index| input(index as usize)));
        for [a, b] in &self.ands {
            let value = |lit: &Lit| values[lit.node() as usize] ^ lit.is_negated();
            let both = value(a) & value(b);
            values.push(both);
        }
    }

    /// Whether an output holds.
    pub(crate) fn output(&self, values: &ConeValues, index: usize) -> bool {
        let literal = self.outputs[index];
        values.0[literal.node() as usize] ^ literal.is_negated()
    }
}
