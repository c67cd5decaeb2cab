//! A tree that was searched, recorded up to a number of nodes.

/// Maximum number of nodes of a record, where no other is wanted.
pub(crate) const MAX_NODES: usize = 100_000;

/// The tree of the last iteration of a search. Nodes come after the ones above them, and the
/// first is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTree<N> {
    /// The nodes.
    pub nodes: Vec<N>,
    /// Nodes that are not recorded, since there were more than the record may have.
    pub n_unrecorded: u64,
    /// Of trees in which a node stands at each line that leads to it: places directly below the
    /// recorded nodes that are left out, also if their nodes are recorded elsewhere.
    pub n_lines_cut: u64,
    /// Iterations before, whose trees are not recorded.
    pub n_earlier: u64,
}

impl<N> Default for RecordedTree<N> {
    fn default() -> Self {
        Self { nodes: Vec::new(), n_unrecorded: 0, n_lines_cut: 0, n_earlier: 0 }
    }
}

/// Records a tree as it is searched.
#[derive(Clone, Debug)]
pub(crate) struct TreeRecord<N> {
    tree: RecordedTree<N>,
    max_nodes: usize,
    /// The nodes from the root to the present one; `None` where the record is full.
    path: Vec<Option<usize>>,
}

impl<N> TreeRecord<N> {
    /// An empty record for at most `max_nodes` nodes.
    pub(crate) fn new(max_nodes: usize) -> Self {
        Self { tree: RecordedTree::default(), max_nodes, path: Vec::new() }
    }

    /// A new search begins at the root.
    pub(crate) fn begin(&mut self) {
        let tree = self.take();
        self.tree.n_earlier = tree.n_earlier + u64::from(!tree.nodes.is_empty());
    }

    /// Gives what was recorded since [`begin`](Self::begin), and forgets it.
    pub(crate) fn take(&mut self) -> RecordedTree<N> {
        self.path.clear();
        std::mem::take(&mut self.tree)
    }

    /// What was recorded since [`begin`](Self::begin).
    pub(crate) fn tree(&self) -> &RecordedTree<N> {
        &self.tree
    }

    /// A node is entered below the present one, whose index `node` is given.
    pub(crate) fn enter(&mut self, node: impl FnOnce(Option<usize>) -> N) {
        if self.tree.nodes.len() >= self.max_nodes {
            self.tree.n_unrecorded += 1;
            self.path.push(None);
            return;
        }
        let parent = self.path.last().copied().flatten();
        self.path.push(Some(self.tree.nodes.len()));
        self.tree.nodes.push(node(parent));
    }

    /// The present node is left; its index, if it is recorded.
    pub(crate) fn leave(&mut self) -> Option<usize> {
        self.path.pop().flatten()
    }

    /// The node of this index.
    pub(crate) fn node(&mut self, index: usize) -> &mut N {
        &mut self.tree.nodes[index]
    }
}
