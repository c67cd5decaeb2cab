//! gamemaster
fn main() {}
