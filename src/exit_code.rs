//! Exit codes of every command.

/// All went well.
pub const OK: u8 = 0;
/// A fault of ours, or of the machine (disk full, out of memory).
pub const INTERNAL: u8 = 1;
/// Wrong usage, or a spec that cannot be used.
pub const USAGE: u8 = 2;
/// A rulesheet is broken, or a player failed its preflight.
pub const PREFLIGHT: u8 = 3;
/// Stopped by the user; the run can be resumed.
pub const INTERRUPTED: u8 = 130;
