//! Messages that a server gets, and its replies: a line each, on standard error.

use std::fmt;
use std::io::Write;
use std::time::Instant;

use games::Expression;
use results::counted::counted;

use crate::printable::printable;
use crate::protocol::Message;

/// Characters of a message, and of a reply, that are shown at most.
const MOST_SHOWN: usize = 1000;

/// A message that waits for its reply.
pub(super) struct Received {
    message: String,
    arrived: Instant,
}

impl Received {
    /// A message that arrived at that time; `None` if it was not understood.
    pub(super) fn new(message: Option<&Message>, arrived: Instant) -> Self {
        let message = match message {
            // The number of rules is shown instead of the rules.
            Some(Message::Start { id, role, rules, start_clock_s, play_clock_s }) => {
                let rules = Count(rules);
                format!("( START {id} {role} {rules} {start_clock_s} {play_clock_s} )")
            }
            Some(Message::Preview { rules, clock_s }) => {
                format!("( PREVIEW {} {clock_s} )", Count(rules))
            }
            Some(message) => message.to_string(),
            None => "(not understood)".to_owned(),
        };
        Self { message, arrived }
    }

    /// Prints the message with its reply, and the time between the two.
    pub(super) fn print_with(self, reply: &str) {
        let (message, reply) = (shown(&self.message), shown(reply));
        let milliseconds = self.arrived.elapsed().as_secs_f64() * 1e3;
        // Whoever does not want to see it any more still gets served.
        let _ = writeln!(std::io::stderr(), "{message} -> {reply} ({milliseconds:.1} ms)");
    }
}

/// The number of rules in their place.
struct Count<'a>(&'a [Expression]);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", counted(self.0.len(), "rule", "rules"))
    }
}

/// The beginning, without characters that a terminal obeys.
fn shown(text: &str) -> String {
    let more = if text.len() > MOST_SHOWN { "..." } else { "" };
    format!("{}{more}", printable(text, MOST_SHOWN))
}
