//! Runs whose matches are played by workers, through a real NATS server on loopback.
//! Without `nats-server` (a package of Debian) nothing is tested, and the tests say so.

// `cfg(test)` tells clippy that helpers, too, may unwrap.
#[cfg(test)]
mod comparisons;
#[cfg(test)]
mod credentials;
#[cfg(test)]
mod exactness;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod nats;
#[cfg(test)]
mod players;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod security;
#[cfg(test)]
mod signs;
#[cfg(test)]
mod upkeep;
#[cfg(test)]
mod workers;
#[cfg(test)]
#[expect(dead_code, reason = "shared with the other integration tests, which use all of it")]
#[path = "../it/workspace.rs"]
mod workspace;
