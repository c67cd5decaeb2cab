//! A work queue on a NATS server with JetStream: a coordinator puts blocks of work there, workers
//! take them and store results, and the coordinator reads these in order.
//!
//! ```text
//! coordinator -> manifest, rulesheets, blocks -> server -> worker
//! coordinator <- results, signs of life       <- server <- worker
//! ```
//!
//! What is in the messages is no business of this crate: they are bytes. Runs, classes of blocks and
//! instances of workers have names that [`is_token`] accepts.
//!
//! - A block is taken by one worker at a time. It is given out again if that worker is silent for
//!   longer than the class of the block allows, or gives it back.
//! - Of each attempt at a block the server stores one result, and keeps it until the coordinator
//!   [forgets](Client::forget_results) it; until then it refuses others. It is read at least once,
//!   also after the coordinator or the server was killed.
//! - Signs of life are stored, too, but nobody waits for that.
//!
//! Works with servers from version 2.9 on.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use work_queue::{BlockSource, ResultReader, Server};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new("nats://localhost:4222", None, None).ok_or("no address")?;
//! let (run, class, second) = ("my-run", "any", Duration::from_secs(1));
//!
//! // The coordinator.
//! let (coordinator, mut link) = server.connect("coordinator").await?;
//! coordinator.open_run(&mut link, run).await?;
//! coordinator.open_class(run, class, 10 * second).await?;
//! if let Some(is_there) = coordinator.put_block(run, class, 0, 0, b"work".to_vec()).await {
//!     assert!(is_there.await);
//! }
//!
//! // A worker, on another machine.
//! let (worker, _link) = server.connect("worker").await?;
//! let mut source = BlockSource::new(run, class, 10 * second);
//! for block in source.take(&worker, 1).await.unwrap_or_default() {
//!     assert_eq!(block.payload, b"work");
//!     worker.store_result(run, (0, 0), "worker", b"done".to_vec(), || ()).await;
//!     block.receipt.done().await;
//! }
//!
//! // The coordinator.
//! let mut reader = ResultReader::new(run);
//! for result in reader.read(&coordinator, second).await? {
//!     assert_eq!((result.block, &*result.payload), (Some((0, 0)), &b"done"[..]));
//!     coordinator.forget_results(run, result.sequence).await;
//! }
//! coordinator.remove_run(run).await?;
//! # Ok(())
//! # }
//! ```

mod blocks;
mod client;
mod error;
mod link;
mod names;
mod patience;
mod questions;
mod results;
mod runs;
mod server;
mod workers;

pub use blocks::{Block, BlockSource, Receipt};
pub use client::Client;
pub use error::ServerError;
pub use link::{Link, LinkNews};
pub use names::{is_token, token};
pub use patience::{once, patiently, pause, random};
pub use questions::{Question, Questions};
pub use results::{ResultReader, ResultsState, StoredResult};
pub use runs::{ManifestWatch, RunState};
pub use server::Server;
pub use workers::{KeptSign, Signs};
