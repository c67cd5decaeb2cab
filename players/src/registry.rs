//! The table of built-in players.

use crate::{OptionError, Options, Player};

/// The type and the meaning of one option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name as written in a spec, such as `depth`.
    pub name: &'static str,
    /// What is accepted, in words: `whole number from 0`, `true or false`, `list of moves`, ...
    pub accepts: &'static str,
    /// The default, as it would be written.
    pub default: &'static str,
    /// One sentence on what it does.
    pub help: &'static str,
}

/// One kind of built-in player.
pub struct Kind {
    /// Name as written in a spec, such as `alpha_beta`.
    pub name: &'static str,
    /// One sentence on how it plays.
    pub summary: &'static str,
    /// Its options; every kind also takes `seed`.
    pub options: &'static [OptionSpec],
    /// Answers without thinking, so that it may run on the manager's thread.
    pub instant: bool,
    /// Can play games with hidden information (GDL-II with `sees`).
    pub plays_hidden_information: bool,
    /// Makes a player from checked options.
    pub make: fn(&Options) -> Result<Box<dyn Player>, OptionError>,
}

/// All kinds, in the order of presentation.
#[must_use]
pub fn kinds() -> &'static [Kind] {
    &[]
}

/// The kind called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Kind> {
    kinds().iter().find(|kind| kind.name == name)
}
