//! What a task takes in the positions of a time frame.

use crate::compiled_network::schedule::Task;
use crate::network::Graph;
use crate::network::time_frames::TimeFrame;

/// A task for positions in which what is known in `frame` holds. A known fact that keeps
/// its value is its own next value, so no code is made for it where facts may be left alone.
pub(super) fn in_frame(old: &Graph, task: &Task, frame: &TimeFrame) -> (Graph, Task) {
    let mut graph = Graph::new(old.n_inputs());
    let copies = old.copy_into(&mut graph, &frame.known);
    let mut task = task.of_copy(&copies);
    for (fact, next) in task.wanted[1].iter_mut().take(task.n_renewed).enumerate() {
        if *next == copies[1 + fact] {
            *next = graph.input(fact);
        }
    }
    (graph, task)
}
