//! Whether the connection to the server is there, as the client notices it.

use std::collections::{BTreeSet, VecDeque};

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::{Event, ServerError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::hint;

/// Reasons of the server that are repeated at most: one comes again with each message.
const MAX_REASONS: usize = 20;

/// Characters of a reason that are shown at most.
const MAX_SHOWN: usize = 300;

/// What is new of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkNews {
    /// It is lost.
    Lost,
    /// It is there again.
    Back,
    /// The server refuses something, for this reason.
    Refused(String),
}

/// Tells a [`Link`] what happens to its connection.
pub(crate) type Changes = UnboundedSender<Change>;

/// What happened to a connection.
pub(crate) enum Change {
    Up,
    Down,
    /// The server refused something, and says why.
    Refused(String),
}

/// What became of a connection.
pub struct Link {
    events: UnboundedReceiver<Change>,
    is_up: bool,
    /// What the server said that it refuses.
    refused: BTreeSet<String>,
    /// The last reason of the server that no [`refusal`](Self::refusal) has given.
    refusal: Option<String>,
    /// News that were found in a look for a refusal.
    waiting: VecDeque<LinkNews>,
    changes: Changes,
}

impl Link {
    /// Of a connection whose events are to be [told](tell) to the sender.
    pub(crate) fn new() -> (Self, Changes) {
        let (changes, events) = unbounded_channel();
        let (refused, waiting) = (BTreeSet::new(), VecDeque::new());
        let sender = changes.clone();
        (Self { events, is_up: true, refused, refusal: None, waiting, changes }, sender)
    }

    /// For whoever else learns what the server refuses; see [`tell_refused`].
    pub(crate) fn changes(&self) -> Changes {
        self.changes.clone()
    }

    /// What is new: once that the connection is lost, and once that it is back; each reason of
    /// the server once.
    pub fn news(&mut self) -> Option<LinkNews> {
        self.waiting.pop_front().or_else(|| self.next())
    }

    fn next(&mut self) -> Option<LinkNews> {
        while let Ok(change) = self.events.try_recv() {
            let is_up = match change {
                Change::Up => true,
                Change::Down => false,
                Change::Refused(reason) => {
                    self.refusal = Some(reason.clone());
                    let is_room = self.refused.len() < MAX_REASONS;
                    if is_room && self.refused.insert(reason.clone()) {
                        return Some(LinkNews::Refused(reason));
                    }
                    continue;
                }
            };
            if is_up != self.is_up {
                self.is_up = is_up;
                return Some(if is_up { LinkNews::Back } else { LinkNews::Lost });
            }
        }
        None
    }

    /// What the server said last that it refuses, since the last call.
    pub(crate) fn refusal(&mut self) -> Option<String> {
        while let Some(notice) = self.next() {
            self.waiting.push_back(notice);
        }
        self.refusal.take()
    }

    /// Whether the connection was there when news were read.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.is_up
    }
}

/// Tells a link what happens to its connection.
pub(crate) fn tell(link: &Changes, event: &Event) {
    let change = match event {
        Event::Connected => Change::Up,
        Event::Disconnected => Change::Down,
        Event::ServerError(ServerError::Other(reason)) => Change::Refused(shown(reason)),
        _ => return,
    };
    // Nobody may want to know.
    let _ = link.send(change);
}

/// Tells a link that the server did not store a message, and why, if it has said why.
pub(crate) fn tell_refused(link: &Changes, error: &PublishError) {
    if error.kind() == PublishErrorKind::Other
        && let Some(reason) = std::error::Error::source(error)
    {
        let _ = link.send(Change::Refused(shown(&reason.to_string())));
    }
}

/// A reason of the server, cut and made printable, with a hint.
fn shown(reason: &str) -> String {
    let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let shown: String = reason.chars().take(MAX_SHOWN).map(plain).collect();
    let hint = hint(&shown);
    shown + hint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_news_once() {
        let (mut link, sender) = Link::new();
        let all = [Event::Connected, Event::Disconnected, Event::LameDuckMode];
        all.iter().for_each(|event| tell(&sender, event));
        assert_eq!(link.news(), Some(LinkNews::Lost));
        assert!(link.news().is_none() && !link.is_up());
        [Event::Disconnected, Event::Connected].iter().for_each(|event| tell(&sender, event));
        assert_eq!(link.news(), Some(LinkNews::Back));
        assert!(link.news().is_none() && link.is_up());
        let refused = Event::ServerError(ServerError::Other("Permissions Violation".to_owned()));
        [&refused, &refused].iter().for_each(|event| tell(&sender, event));
        assert_eq!(link.refusal().as_deref(), Some("Permissions Violation"));
        assert_eq!(link.refusal(), None);
        assert!(matches!(link.news(), Some(LinkNews::Refused(_))));
        assert!(link.news().is_none() && link.is_up());
    }
}
