//! Integration tests: the program as its users see it.

// `cfg(test)` tells clippy that helpers, too, may unwrap.
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bad_players;
#[cfg(test)]
mod baseline;
#[cfg(test)]
mod batches;
#[cfg(test)]
mod breakdowns;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod budgets_and_trees;
#[cfg(test)]
mod calibration;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod course;
#[cfg(test)]
mod environments;
#[cfg(test)]
mod every_player;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod exploitability;
#[cfg(test)]
mod fake_player;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod game_commands;
#[cfg(test)]
mod human;
#[cfg(test)]
mod interrupts;
#[cfg(test)]
mod launched;
#[cfg(test)]
mod matches;
#[cfg(test)]
mod odd_rules;
#[cfg(test)]
mod page;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod play;
#[cfg(test)]
mod position_suites;
#[cfg(test)]
mod preflight;
#[cfg(test)]
mod protocol;
mod query;
#[cfg(test)]
mod reasoners;
#[cfg(test)]
mod regress;
#[cfg(test)]
mod regret;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod report_page;
#[cfg(test)]
mod report_parts;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod run;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod solve;
#[cfg(test)]
mod stalls;
#[cfg(test)]
mod suite;
mod sweep;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod time_odds;
#[cfg(test)]
mod train;
#[cfg(test)]
mod workspace;
