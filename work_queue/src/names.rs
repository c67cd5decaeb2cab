//! The names of streams and subjects on the server.
//!
//! ```text
//! stream gamemaster-runs           the last message of each subject
//!   gamemaster.run.RUN               what a worker has to know of a run
//!   gamemaster.rules.RUN.HASH        a rulesheet
//!   gamemaster.program.RUN.PLAYER    hash of a player's program, by the first worker
//! stream gamemaster-blocks-RUN     blocks to play; acknowledged blocks are removed
//!   gamemaster.block.RUN.CLASS.BLOCK.TRY
//! stream gamemaster-results-RUN    what was played, until the journal has it
//!   gamemaster.result.RUN.BLOCK.TRY
//! stream gamemaster-workers-RUN    the last message of each subject
//!   gamemaster.worker.RUN.INSTANCE   a sign of life of a worker
//! no stream
//!   gamemaster.workers               a question to all workers what they do
//!   gamemaster.drain                 a request to all workers to leave
//! ```

/// The stream of what is known of runs.
pub(crate) const RUNS: &str = "gamemaster-runs";

/// The subjects of that stream.
pub(crate) const RUNS_SUBJECTS: [&str; 3] =
    ["gamemaster.run.*", "gamemaster.rules.*.*", "gamemaster.program.*.*"];

/// A request to all workers to leave.
pub(crate) const DRAIN: &str = "gamemaster.drain";

/// A question to all workers what they do.
pub(crate) const WORKERS: &str = "gamemaster.workers";

/// The header of a result with the name of the worker, for those that cannot be read.
pub(crate) const SENDER: &str = "Gamemaster-Worker";

/// Every run's [`manifest`].
pub(crate) const MANIFESTS: &str = "gamemaster.run.*";

/// What a worker has to know of a run.
pub(crate) fn manifest(run: &str) -> String {
    format!("gamemaster.run.{run}")
}

/// The run of a manifest.
pub(crate) fn run_of_manifest(subject: &str) -> Option<&str> {
    subject.strip_prefix("gamemaster.run.").filter(|run| is_token(run))
}

/// The run of a stream of its own.
pub(crate) fn run_of_stream(stream: &str) -> Option<&str> {
    let kinds = ["gamemaster-blocks-", "gamemaster-results-", "gamemaster-workers-"];
    kinds.iter().find_map(|kind| stream.strip_prefix(kind)).filter(|run| is_token(run))
}

/// A rulesheet.
pub(crate) fn rules(run: &str, hash: &str) -> String {
    format!("gamemaster.rules.{run}.{hash}")
}

/// The hash of a player's program.
pub(crate) fn program(run: &str, player_hash: &str) -> String {
    format!("gamemaster.program.{run}.{player_hash}")
}

/// A sign of life of a worker.
pub(crate) fn worker(run: &str, instance: &str) -> String {
    format!("gamemaster.worker.{run}.{instance}")
}

/// The stream of a run's signs of life.
pub(crate) fn workers_stream(run: &str) -> String {
    format!("gamemaster-workers-{run}")
}

/// The stream of a run's blocks.
pub(crate) fn blocks_stream(run: &str) -> String {
    format!("gamemaster-blocks-{run}")
}

/// All blocks of a run.
pub(crate) fn blocks(run: &str) -> String {
    format!("gamemaster.block.{run}.>")
}

/// The blocks of a class.
pub(crate) fn blocks_of_class(run: &str, class: &str) -> String {
    format!("gamemaster.block.{run}.{class}.>")
}

/// A block.
pub(crate) fn block(run: &str, class: &str, block: u64, attempt: u32) -> String {
    format!("gamemaster.block.{run}.{class}.{block}.{attempt}")
}

/// The stream of a run's results.
pub(crate) fn results_stream(run: &str) -> String {
    format!("gamemaster-results-{run}")
}

/// All results of a run.
pub(crate) fn results(run: &str) -> String {
    format!("gamemaster.result.{run}.>")
}

/// The result of a block.
pub(crate) fn result(run: &str, block: u64, attempt: u32) -> String {
    format!("gamemaster.result.{run}.{block}.{attempt}")
}

/// The block and the attempt of a result.
pub(crate) fn of_result(subject: &str) -> Option<(u64, u32)> {
    let mut tokens = subject.rsplit('.');
    let attempt = tokens.next()?.parse().ok()?;
    Some((tokens.next()?.parse().ok()?, attempt))
}

/// Whether a text may be a part of a subject and of the name of a stream: 1 to 100 letters and digits
/// of ASCII, `_` and `-`.
#[must_use]
pub fn is_token(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    !text.is_empty() && text.len() <= 100 && text.chars().all(plain)
}

/// A text as a [token](is_token): its first 60 characters, of which those that may not stand there
/// become `_`; `_` if there are none.
#[must_use]
pub fn token(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let token: String = text.chars().take(60).map(plain).collect();
    if token.is_empty() { "_".to_owned() } else { token }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_found_again() {
        assert_eq!(of_result(&result("run-1", 17, 2)), Some((17, 2)));
        assert_eq!(of_result("gamemaster.result.run.x.2"), None);
        assert_eq!(run_of_manifest(&manifest("run-1")), Some("run-1"));
        assert_eq!(run_of_manifest("gamemaster.run.a.b"), None);
        for stream in [blocks_stream("run-1"), results_stream("run-1"), workers_stream("run-1")] {
            assert_eq!(run_of_stream(&stream), Some("run-1"));
        }
        assert_eq!(run_of_stream(RUNS), None);
        assert!(is_token(&token("a.b c*>")) && is_token(&token("")));
    }
}
