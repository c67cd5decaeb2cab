//! Who does the work: this crate has no threads, so its callers lend theirs.

/// A piece of work that runs beside others.
pub type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Carries out tasks, side by side if it can.
pub trait Crew: Sync {
    /// How many tasks run side by side.
    fn n_workers(&self) -> usize;

    /// Carries out all tasks and returns when the last one has ended.
    fn run(&self, tasks: Vec<Task<'_>>);
}

/// One task after the other, on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Crew for Alone {
    fn n_workers(&self) -> usize {
        1
    }

    fn run(&self, tasks: Vec<Task<'_>>) {
        for task in tasks {
            task();
        }
    }
}
