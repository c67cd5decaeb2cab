//! The threads that a solver works on.

use games::solve::{Crew, Task};

/// A thread for each task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Threads(pub(crate) usize);

impl Crew for Threads {
    fn n_workers(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: Vec<Task<'_>>) {
        std::thread::scope(|scope| {
            for task in tasks {
                scope.spawn(task);
            }
        });
    }
}
