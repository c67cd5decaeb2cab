//! Messages that a server gets, and its replies: a line each, on standard error.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use games::Expression;
use results::counted::counted;

use crate::printable::printable;
use crate::protocol::Message;

/// Characters of a message, and of a reply, that are shown at most.
const MOST_SHOWN: usize = 1000;
/// Lines that wait to be written, at most.
const MOST_WAITING: usize = 1000;

/// Writes lines on a thread of its own, so that whoever reads standard error slowly, or not at
/// all, holds up no reply.
pub(super) struct MessageLog {
    lines: mpsc::SyncSender<String>,
    n_dropped: Arc<AtomicU64>,
}

impl MessageLog {
    /// # Errors
    /// If there is no thread for it.
    pub(super) fn start() -> io::Result<Self> {
        let (lines, waiting) = mpsc::sync_channel::<String>(MOST_WAITING);
        let n_dropped = Arc::new(AtomicU64::new(0));
        let dropped = Arc::clone(&n_dropped);
        let write = move || {
            for line in waiting {
                let mut stderr = io::stderr();
                // A closed standard error must not end the server.
                let _ = writeln!(stderr, "{line}");
                let n_dropped = dropped.swap(0, Ordering::Relaxed);
                if n_dropped > 0 {
                    let lines = counted(n_dropped, "line", "lines");
                    let _ = writeln!(stderr, "({lines} left out: written faster than read)");
                }
            }
        };
        thread::Builder::new().name("messages".to_owned()).spawn(write)?;
        Ok(Self { lines, n_dropped })
    }

    /// Adds a message with its reply, and the time between the two. A line that finds no room is
    /// left out.
    pub(super) fn add(&self, received: &Received, reply: &str) {
        let Received { message, arrived } = received;
        let milliseconds = arrived.elapsed().as_secs_f64() * 1e3;
        let line = format!("{message} -> {} ({milliseconds:.1} ms)", beginning(reply));
        if self.lines.try_send(line).is_err() {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A message that waits for its reply.
pub(super) struct Received {
    message: String,
    arrived: Instant,
}

impl Received {
    /// A message that arrived at that time; `None` if it was not understood. The number of rules
    /// is shown instead of the rules.
    pub(super) fn new(message: Option<&Message>, arrived: Instant) -> Self {
        let message = match message {
            Some(Message::Start { id, role, rules, start_clock_s, play_clock_s }) => {
                let rules = n_rules(rules);
                beginning(format_args!(
                    "( START {id} {role} {rules} {start_clock_s} {play_clock_s})"
                ))
            }
            Some(Message::Preview { rules, clock_s }) => {
                beginning(format_args!("( PREVIEW {} {clock_s} )", n_rules(rules)))
            }
            Some(message) => beginning(message),
            None => "(not understood)".to_owned(),
        };
        Self { message, arrived }
    }
}

fn n_rules(rules: &[Expression]) -> String {
    format!("[{}]", counted(rules.len(), "rule", "rules"))
}

/// The first characters, without those that a terminal obeys. No more of a long text is laid out.
fn beginning(text: impl fmt::Display) -> String {
    let mut first = First { text: String::new(), n_left: MOST_SHOWN };
    let is_cut = write!(first, "{text}").is_err();
    let more = if is_cut { "..." } else { "" };
    format!("{}{more}", printable(&first.text, MOST_SHOWN))
}

/// A writer with room for `n_left` more characters. What does not fit is an error, which ends the
/// formatting.
struct First {
    text: String,
    n_left: usize,
}

impl fmt::Write for First {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.n_left = self.n_left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_control_characters_replaced() {
        assert_eq!(beginning("done"), "done");
        assert_eq!(beginning("\u{1b}[31m"), "\u{fffd}[31m");
        assert_eq!(beginning("x\u{202e}y\u{200b}"), "x\u{fffd}y\u{fffd}");
        let umlauts = "\u{e4}".repeat(MOST_SHOWN);
        assert_eq!(beginning(&umlauts), umlauts);
        assert_eq!(beginning(format!("{umlauts}x")), format!("{umlauts}..."));
    }

    #[test]
    fn rules_are_shown_as_their_number() {
        let show = |text: &str| Received::new(text.parse().ok().as_ref(), Instant::now()).message;
        assert_eq!(show("(start m x ((role x) (init a)) 10 5)"), "( START m x [2 rules] 10 5)");
        assert_eq!(show("(preview ((role x)) 10)"), "( PREVIEW [1 rule] 10 )");
        assert_eq!(show("(info)"), "( INFO )");
        assert_eq!(show("(sing)"), "(not understood)");
    }
}
