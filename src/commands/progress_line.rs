//! How far a long computation is, on standard error: a line that is drawn over and over on
//! a terminal, elsewhere one now and then.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

/// Prints the line.
pub(super) struct ProgressLine {
    bar: indicatif::ProgressBar,
    begun: Instant,
    due: Duration,
}

impl ProgressLine {
    /// Before this time, nobody wonders.
    const FIRST: Duration = Duration::from_secs(2);
    const NEXT: Duration = Duration::from_secs(10);

    /// A line of a computation that begins now.
    pub(super) fn new() -> Self {
        Self { bar: indicatif::ProgressBar::new_spinner(), begun: Instant::now(), due: Self::FIRST }
    }

    /// Prints `line`, which is made only if it is time for one.
    pub(super) fn show(&mut self, line: impl FnOnce() -> String) {
        let elapsed = self.begun.elapsed();
        if elapsed < Self::FIRST {
            return;
        }
        if !self.bar.is_hidden() {
            self.bar.set_message(line());
            self.bar.tick();
        } else if elapsed >= self.due {
            self.due = elapsed + Self::NEXT;
            let _ = writeln!(io::stderr(), "{}", line());
        }
    }

    /// Removes the line from a terminal.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
