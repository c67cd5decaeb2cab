//! What coordinator and workers send each other, and how much of it either accepts.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use results::formats::RoundRecord;
use results::record::{Budget, MatchRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use work_queue::is_token;

use super::calibration::Calibration;
use crate::fingerprint::Fingerprint;
use crate::printable::printable;
use crate::schedule::{Clocks, Job};
use crate::spec;

/// Version of the messages. A worker takes no run of another version.
pub(super) const FORMAT: u32 = 2;

/// Largest message after decompression: as long as the longest line of a journal.
const MAX_BYTES: u64 = 64 << 20;

/// Messages from this size on are compressed.
const COMPRESSED_FROM: usize = 64 << 10;

/// First byte of a message: how the rest is encoded.
const PLAIN: u8 = b'j';
const DEFLATED: u8 = b'd';

/// Matches of a message, at most.
const MAX_JOBS: usize = 50_000;

/// Roles of a match, at most.
const MAX_ROLES: usize = 1_000;

/// Largest sign of life after decompression.
const MAX_SIGN: u64 = 64 << 10;

/// Matches that a worker plays at once, at most.
pub(crate) const MAX_AT_ONCE: u32 = 1024;

/// Cores of a worker's machine, at most.
const MAX_CORES: usize = 1 << 16;

/// Tags of a worker, and players that it launches, at most.
const MAX_WORDS: usize = 1_000;

/// Characters of a version or a hash, at most.
const MAX_WORD: usize = 200;

/// Characters of a worker's reason that are shown, at most.
pub(super) const MAX_REASON: usize = 500;

/// Why a message is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("it is empty or of an unknown encoding")]
    Encoding,
    #[error("it is too long")]
    TooLong,
    #[error("it cannot be decompressed")]
    Decompression(#[source] std::io::Error),
    #[error("it is no message of this kind: {0}")]
    Content(String),
}

/// What a worker has to know of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// [`FORMAT`].
    pub(super) format: u32,
    /// The run's name in the queue.
    pub(super) run: String,
    /// What plays at the coordinator.
    pub(super) build: Build,
    /// Whether workers of another build take part.
    pub(super) mixed_versions: bool,
    /// Hash of the spec.
    pub(super) spec_hash: String,
    /// The spec, with rulesheets named by their hash.
    pub(super) spec: String,
    /// Hashes of the rulesheets that are not shipped.
    pub(super) rulesheets: Vec<String>,
    /// Hashes of the launched players, by id: in a comparison they follow from the
    /// programs that the coordinator has.
    pub(super) launched: BTreeMap<String, String>,
    /// Tags that blocks need, by class.
    pub(super) classes: BTreeMap<String, Vec<String>>,
    /// How long a worker may be silent before its blocks are given out again.
    pub(super) ack_wait_ms: u64,
}

/// A build of this program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Build {
    /// Its version.
    pub(super) version: String,
    /// Hash of the executable.
    pub(super) executable: String,
}

impl Build {
    /// This program.
    pub(super) fn this() -> std::io::Result<Self> {
        let mut executable = std::fs::File::open(crate::supervisor::OWN_EXECUTABLE)?;
        let hash = crate::fingerprint::Fingerprint::of("executable").content(&mut executable)?;
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned(), executable: hash.hex(16) })
    }
}

/// One or more blocks to be played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BlockMessage {
    /// How often its results were refused.
    pub(super) attempt: u32,
    /// Workers whose results of it were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) refused: Vec<Refusal>,
    /// Its matches that are missing.
    pub(super) jobs: Vec<JobMessage>,
}

/// Why a result was refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    /// The worker.
    pub(super) worker: String,
    /// Why.
    pub(super) reason: String,
}

/// A [`Job`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct JobMessage {
    number: u64,
    id: String,
    block: u64,
    lap: u32,
    rotation: u32,
    game: usize,
    seats: Vec<Option<usize>>,
    start_clock_ms: u64,
    play_clock_ms: u64,
    margin_ms: u64,
    budget: Budget,
    seed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round: Option<RoundRecord>,
}

/// What became of a block.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResultMessage {
    /// The worker's name.
    pub(super) worker: String,
    /// Its matches, in the order in which they were listed.
    pub(super) records: Vec<MatchRecord>,
    /// The worker's machine, as it was measured last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) calibration: Option<Calibration>,
}

/// A sign of life of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WorkerMessage {
    /// Its name, as in the journal.
    pub(super) name: String,
    /// Its name and a random part.
    pub(super) instance: String,
    /// What plays there.
    pub(super) build: Build,
    /// Matches at once.
    pub(super) at_once: u32,
    /// What the machine has.
    pub(super) tags: Vec<String>,
    /// Cores of the machine.
    pub(super) cores: usize,
    /// Hashes of the programs of players, by the player's id.
    pub(super) programs: BTreeMap<String, String>,
    /// Blocks that it holds.
    pub(super) n_held: u32,
    /// Blocks of this run whose results it has sent.
    pub(super) n_blocks: u64,
    /// Seconds since it joined the run.
    pub(super) joined_s: u64,
    /// It takes no more blocks.
    pub(super) is_leaving: bool,
    /// Why it does not play the run, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<String>,
}

/// What a worker does, as it replies to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PresenceMessage {
    /// Its name.
    pub(super) name: String,
    /// Matches at once.
    pub(super) at_once: u32,
    /// What the machine has.
    pub(super) tags: Vec<String>,
    /// Its sign of life for each run.
    pub(super) runs: BTreeMap<String, WorkerMessage>,
}

impl WorkerMessage {
    /// A sign of life of bytes from elsewhere; `None` if no worker says that.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        decode_up_to::<Self>(bytes, MAX_SIGN).ok().filter(Self::is_possible)
    }

    /// Whether a worker can say that. What is stored and shown of it is then short and printable,
    /// but for its [refusal](Self::shown_refusal).
    fn is_possible(&self) -> bool {
        let is_word = |text: &str| {
            text.len() <= MAX_WORD && text.chars().all(|c| c.is_ascii_graphic() || c == ' ')
        };
        is_worker(&self.name, self.at_once, &self.tags)
            && is_token(&self.instance)
            && self.cores <= MAX_CORES
            && is_word(&self.build.version)
            && is_word(&self.build.executable)
            && self.programs.len() <= MAX_WORDS
            && self.programs.iter().all(|(player, hash)| is_word(player) && is_word(hash))
    }

    /// Why the worker does not play the run, cut and made printable.
    pub(super) fn shown_refusal(&self) -> Option<String> {
        self.refusal.as_ref().map(|reason| printable(reason, MAX_REASON))
    }
}

impl PresenceMessage {
    /// What a worker does, of bytes from elsewhere; `None` if no worker says that.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let presence: Self = decode(bytes).ok()?;
        let is_possible = is_worker(&presence.name, presence.at_once, &presence.tags)
            && presence.runs.values().all(WorkerMessage::is_possible);
        is_possible.then_some(presence)
    }
}

/// Whether name, number of matches at once and tags are within the limits of a worker.
fn is_worker(name: &str, at_once: u32, tags: &[String]) -> bool {
    is_token(name)
        && (1..=MAX_AT_ONCE).contains(&at_once)
        && tags.len() <= MAX_WORDS
        && tags.iter().all(|tag| spec::is_tag(tag))
}

impl From<&Job> for JobMessage {
    fn from(job: &Job) -> Self {
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self {
            number: job.number,
            id: job.id.clone(),
            block: job.block,
            lap: job.lap,
            rotation: job.rotation,
            game: job.game,
            seats: job.seats.clone(),
            start_clock_ms: ms(job.clocks.start),
            play_clock_ms: ms(job.clocks.play),
            margin_ms: ms(job.clocks.margin),
            budget: job.budget,
            seed: job.seed,
            round: job.round,
        }
    }
}

impl From<JobMessage> for Job {
    fn from(job: JobMessage) -> Self {
        Self {
            number: job.number,
            id: job.id,
            block: job.block,
            lap: job.lap,
            rotation: job.rotation,
            game: job.game,
            seats: job.seats,
            clocks: Clocks {
                start: Duration::from_millis(job.start_clock_ms),
                play: Duration::from_millis(job.play_clock_ms),
                margin: Duration::from_millis(job.margin_ms),
            },
            budget: job.budget,
            seed: job.seed,
            round: job.round,
        }
    }
}

impl BlockMessage {
    /// The jobs, if there are any and not too many.
    pub(super) fn jobs(self) -> Result<Vec<Job>, WireError> {
        let wrong = |what: &str| Err(WireError::Content(what.to_owned()));
        let jobs: Vec<Job> = self.jobs.into_iter().map(Job::from).collect();
        if jobs.is_empty() {
            return wrong("a block without matches");
        }
        if jobs.len() > MAX_JOBS || jobs.iter().any(|job| job.seats.len() > MAX_ROLES) {
            return wrong("a block with too many matches or roles");
        }
        Ok(jobs)
    }
}

/// The name of the class of blocks that need these tags, in ascending order.
pub(super) fn class(tags: &[String]) -> String {
    if tags.is_empty() {
        return "any".to_owned();
    }
    tags.iter().fold(Fingerprint::of("class"), |hash, tag| hash.text(tag)).hex(16)
}

/// A message as bytes.
pub(super) fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![PLAIN];
    serde_json::to_writer(&mut bytes, message).expect("messages are representable");
    if bytes.len() < COMPRESSED_FROM {
        return bytes;
    }
    let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::fast());
    let compressed = encoder.write_all(&bytes[1..]).and_then(|()| encoder.finish());
    compressed.expect("a vector takes all bytes")
}

/// A message of bytes from elsewhere.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    decode_up_to(bytes, MAX_BYTES)
}

/// A message of at most this size after decompression.
fn decode_up_to<T: DeserializeOwned>(bytes: &[u8], max_bytes: u64) -> Result<T, WireError> {
    let content = |error: serde_json::Error| WireError::Content(error.to_string());
    match bytes.split_first() {
        Some((&PLAIN, json)) if json.len() as u64 <= max_bytes => {
            serde_json::from_slice(json).map_err(content)
        }
        Some((&DEFLATED, compressed)) => {
            let mut json = Vec::new();
            let mut decoder = DeflateDecoder::new(compressed).take(max_bytes + 1);
            decoder.read_to_end(&mut json).map_err(WireError::Decompression)?;
            if json.len() as u64 > max_bytes {
                return Err(WireError::TooLong);
            }
            serde_json::from_slice(&json).map_err(content)
        }
        Some((&PLAIN, _)) => Err(WireError::TooLong),
        _ => Err(WireError::Encoding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        for length in [0, 100, COMPRESSED_FROM, 1 << 20] {
            let text = "x".repeat(length);
            let bytes = encode(&text);
            assert_eq!(decode::<String>(&bytes).unwrap(), text);
            assert!(bytes.len() < COMPRESSED_FROM + 10);
        }
    }

    #[test]
    fn classes_are_named_by_their_tags() {
        let name =
            |tags: &[&str]| class(&tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>());
        let names = [name(&[]), name(&["a"]), name(&["b"]), name(&["a", "b"]), name(&["ab"])];
        assert!(names.iter().all(|name| is_token(name)));
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert!(matches!(decode::<String>(b""), Err(WireError::Encoding)));
        assert!(matches!(decode::<String>(b"?\"\""), Err(WireError::Encoding)));
        assert!(matches!(decode::<String>(b"j{"), Err(WireError::Content(_))));
        assert!(decode::<String>(b"d\xff\xff\xff").is_err());
        // A few bytes that would fill the memory.
        let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::best());
        let megabyte = vec![b' '; 1 << 20];
        for _ in 0..=MAX_BYTES >> 20 {
            encoder.write_all(&megabyte).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 1 << 20);
        assert!(matches!(decode::<String>(&bomb), Err(WireError::TooLong)));
    }
}
