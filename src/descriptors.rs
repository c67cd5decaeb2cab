//! File descriptors: how many this process may have, and how many matches take.
//!
//! A connection takes one, and where there is none left a player cannot be asked.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the process itself takes: standard streams, journal and lock, tables, and room for what
/// libraries open for a moment.
pub const RESERVED: u64 = 64;

/// What wakes the thread of a match.
const OF_THREAD: u64 = 1;

/// What a player behind HTTP takes: its connection, and perhaps a look-up.
const OF_PLAYER: u64 = 2;

/// What a launched program takes besides: its standard error, its log, and the
/// socket that finds it a port.
const OF_PROGRAM: u64 = 4;

/// Players of one match that are reached over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// All of them.
    pub n_players: u64,
    /// Those that are launched.
    pub n_launched: u64,
}

/// Raises the soft limit to the hard one. Where that is refused the limit stays
/// what it was.
pub fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// Descriptors that this process may have.
#[must_use]
pub fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Descriptors that one match takes, about.
#[must_use]
pub fn of_match(outside: Outside) -> u64 {
    OF_THREAD + OF_PLAYER * outside.n_players + OF_PROGRAM * outside.n_launched
}

/// Matches that may run at once if each takes `needed` descriptors; at least 1.
#[must_use]
pub fn matches(needed: u64) -> u32 {
    within(limit(), needed)
}

fn within(limit: u64, needed: u64) -> u32 {
    u32::try_from(limit.saturating_sub(RESERVED) / needed.max(1)).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_matches_run_as_there_are_descriptors_for() {
        let two_remote = of_match(Outside { n_players: 2, n_launched: 0 });
        assert_eq!(two_remote, 5);
        for (limit, expected) in
            [(0, 1), (64, 1), (69, 1), (74, 2), (1024, 192), (u64::MAX, u32::MAX)]
        {
            assert_eq!(within(limit, two_remote), expected, "{limit}");
        }
    }
}
