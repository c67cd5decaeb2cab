//! Exit codes of every command.

/// All went well.
pub const OK: u8 = 0;
/// A fault of ours, or of the machine (disk full, out of memory).
pub const INTERNAL: u8 = 1;
/// Wrong usage, or a spec that cannot be used.
pub const USAGE: u8 = 2;
/// A rulesheet is broken, even if that shows only during play, or a player failed its
/// preflight.
pub const PREFLIGHT: u8 = 3;
/// The new version of a player is weaker or less reliable than the old one.
pub const REGRESSION: u8 = 10;
/// The comparison is inconclusive.
pub const INCONCLUSIVE: u8 = 11;
/// Stopped by the user; the run can be resumed.
pub const INTERRUPTED: u8 = 130;
