//! Strongly connected components by Tarjan's algorithm, without recursion.

/// The number of each node's component; edges lead to equal or smaller numbers.
/// `successor(node, k)` is the end of the `k`-th edge of a node; `None` if it has fewer.
pub(crate) fn components(
    n_nodes: usize,
    successor: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let mut index = vec![NEW; n_nodes];
    let mut low = vec![NEW; n_nodes];
    let mut component = vec![NEW; n_nodes];
    let (mut n_components, mut n_visited) = (0, 0);
    let mut stack = Vec::new();
    for root in 0..n_nodes {
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
            if let Some(to) = successor(node, followed) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_one_component_and_edges_lead_down() {
        // 0 -> 1 <-> 2 -> 3, and 4 to itself.
        let edges: [&[usize]; 5] = [&[1], &[2], &[1, 3], &[], &[4, 3]];
        let component = components(5, |node, k| edges[node].get(k).copied());
        assert_eq!(component[1], component[2]);
        assert!(component[0] > component[1] && component[1] > component[3]);
        assert!(component[4] > component[3] && component[4] != component[0]);
    }
}
