//! gamemaster
