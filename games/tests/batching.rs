//! Batches of positions against the plain meaning of networks.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod batching {
    mod chains;
    mod chances;
    mod lockstep;
    mod networks;
    mod playouts;
}
