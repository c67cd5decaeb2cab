//! tests

// `cfg(test)` tells clippy that helpers, too, may unwrap.
#[cfg(test)]
mod game_commands;
