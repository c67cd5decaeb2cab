//! Integration tests: the program as its users see it.

// `cfg(test)` tells clippy that helpers, too, may unwrap.
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod game_commands;
#[cfg(test)]
mod play;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod run;
#[cfg(test)]
mod workspace;
