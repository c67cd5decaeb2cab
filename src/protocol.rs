//! The language spoken with remote players: messages, replies and scrambled
//! vocabularies, as text. Sockets and clocks are the match manager's.
//!
//! One message is one HTTP request whose body is a KIF list, as ggp-base sends
//! it; a reply is a KIF term.

pub mod message;
pub mod reply;
pub mod scramble;

pub(crate) use message::Spaced;
pub use message::{Message, MessageError, News};
pub use reply::{MoveReading, Reading, is_markup, read_move};
pub use scramble::Scrambler;
