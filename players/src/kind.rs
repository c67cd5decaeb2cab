//! What the registry lists of each kind of player.

use crate::options::{OptionError, OptionSpec, Options};
use crate::player::Player;

/// One kind of built-in player.
pub struct PlayerKind {
    /// Name as written in a spec, such as `alpha_beta`.
    pub name: &'static str,
    /// One sentence on how it plays.
    pub summary: &'static str,
    /// Its options; every kind also takes [`SEED`](crate::options::SEED).
    pub options: &'static [OptionSpec],
    /// Answers without thinking, so that it may run on the manager's thread.
    pub instant: bool,
    /// Can play games with hidden information (GDL-II with `sees`).
    pub plays_hidden_information: bool,
    /// Makes a player from checked options.
    pub make: fn(&Options) -> Result<Box<dyn Player>, OptionError>,
}
