//! Whether the connection to the server is there, as the client notices it.

use async_nats::Event;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::event::Notice;

/// What became of a connection.
pub(super) struct Link {
    url: String,
    events: UnboundedReceiver<bool>,
    is_up: bool,
}

impl Link {
    /// Of a connection to `url`, whose events are to be [told](tell) to the sender.
    pub(super) fn new(url: String) -> (Self, UnboundedSender<bool>) {
        let (sender, events) = unbounded_channel();
        (Self { url, events, is_up: true }, sender)
    }

    /// What is new: once that the connection is lost, and once that it is back.
    pub(super) fn news(&mut self) -> Option<Notice> {
        while let Ok(is_up) = self.events.try_recv() {
            if is_up != self.is_up {
                self.is_up = is_up;
                let url = self.url.clone();
                return Some(match is_up {
                    true => Notice::ServerBack { url },
                    false => Notice::ServerLost { url },
                });
            }
        }
        None
    }

    /// Whether the connection was there when news were read.
    pub(super) fn is_up(&self) -> bool {
        self.is_up
    }
}

/// Tells a link what happens to its connection.
pub(super) fn tell(link: &UnboundedSender<bool>, event: &Event) {
    let is_up = match event {
        Event::Connected => true,
        Event::Disconnected => false,
        _ => return,
    };
    // Nobody may want to know.
    let _ = link.send(is_up);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_news_once() {
        let (mut link, sender) = Link::new("nats://x:1".to_owned());
        let all = [Event::Connected, Event::Disconnected, Event::LameDuckMode];
        all.iter().for_each(|event| tell(&sender, event));
        assert!(matches!(link.news(), Some(Notice::ServerLost { .. })));
        assert!(link.news().is_none() && !link.is_up());
        [Event::Disconnected, Event::Connected].iter().for_each(|event| tell(&sender, event));
        assert!(matches!(link.news(), Some(Notice::ServerBack { .. })));
        assert!(link.news().is_none() && link.is_up());
    }
}
