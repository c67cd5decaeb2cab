//! Strongly connected components by Tarjan's algorithm, without recursion.

/// The number of each node's component; edges lead to equal or smaller numbers.
pub(crate) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; edges.len()];
    let mut low = vec![NEW; edges.len()];
    let mut component = vec![NEW; edges.len()];
    let (mut n_components, mut n_visited) = (0, 0);
    let mut stack = Vec::new();
    for root in 0..edges.len() {
        if index[root] != NEW {
            continue;
        }
        // Each frame is a node and the number of its edges already followed.
        let mut frames = vec![(root, 0)];
        while let Some(frame) = frames.last_mut() {
            let (node, followed) = *frame;
            if followed == 0 {
                index[node] = n_visited;
                low[node] = n_visited;
                n_visited += 1;
                stack.push(node);
            }
            if let Some(&to) = edges[node].get(followed) {
                frame.1 += 1;
                if index[to] == NEW {
                    frames.push((to, 0));
                } else if component[to] == NEW {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            frames.pop();
            if let Some(&(parent, _)) = frames.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    component
}
