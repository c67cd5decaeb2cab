//! Exit codes of every command.

/// All went well.
pub const OK: u8 = 0;
/// An internal error, an error of the machine (disk full, out of memory), or aborted
/// matches.
pub const INTERNAL: u8 = 1;
/// Invalid command line or spec, a file that cannot be read or written, or a game or state
/// that the command cannot handle.
pub const USAGE: u8 = 2;
/// A rulesheet is invalid, even if that shows only during play, or a player did not reply
/// before the run began.
pub const PREFLIGHT: u8 = 3;
/// The new version of a player is weaker or less reliable than the old one.
pub const REGRESSION: u8 = 10;
/// The comparison is inconclusive.
pub const INCONCLUSIVE: u8 = 11;
/// Stopped by the user; the run can be resumed.
pub const INTERRUPTED: u8 = 130;
