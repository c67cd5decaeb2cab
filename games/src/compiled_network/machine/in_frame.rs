//! What a task takes in the positions of a time frame.

use crate::compiled_network::schedule::Task;
use crate::network::time_frames::TimeFrame;
use crate::network::{Graph, Lit};

/// A task for positions in which the inputs of `frame` have their values. A known fact that keeps
/// its value is its own next value, so no code is made for it where facts may be left alone.
pub(super) fn in_frame(old: &Graph, task: &Task, frame: &TimeFrame) -> (Graph, Task) {
    let mut graph = Graph::new(old.n_inputs());
    let mut copies = graph.literals();
    for &(input, holds) in &frame.known {
        copies[1 + input] = Lit::FALSE.negated_if(holds);
    }
    old.copy_into(&mut graph, &mut copies);
    let mut task = task.of_copy(&copies);
    for (fact, next) in task.wanted[1].iter_mut().take(task.n_renewed).enumerate() {
        if *next == copies[1 + fact] {
            *next = graph.input(fact);
        }
    }
    (graph, task)
}
