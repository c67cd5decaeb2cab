//! Options of a player: names with typed values, as written in a spec.
