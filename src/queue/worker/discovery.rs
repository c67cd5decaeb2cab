//! Finds the runs that are on the server, and makes them ready to be played here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use work_queue::{BlockSource, ManifestWatch, is_token};

use super::settings::WorkerSettings;
use super::{PATIENCE, QueueWorker};
use crate::error_chain::chained;
use crate::manager::command_words;
use crate::printable::printable;
use crate::queue::WorkerNews;
use crate::queue::prepared::{PreparedRun, program_hash};
use crate::queue::wire::{MAX_REASON, Manifest, decode};

/// Time after which a run that could not be made ready for want of something on this machine is
/// tried again: a program may have been installed meanwhile. Doubled each time.
const RETRY: Duration = Duration::from_secs(30);

/// The longest of these times.
const LONGEST_RETRY: Duration = Duration::from_secs(480);

/// What became of a manifest.
pub(super) enum Known {
    /// Games and players are made ready, on another thread.
    Preparing {
        /// Why they could not be before, and how long it was until this attempt.
        refused: Option<(String, Duration)>,
    },
    Joined(Joined),
    /// The manifest that was refused, and why.
    Refused {
        payload: Vec<u8>,
        reason: String,
        since: Instant,
        /// After this time it is tried again, if this machine may have what it lacked by then.
        retry: Option<Duration>,
    },
}

/// A run that is played here.
pub(super) struct Joined {
    pub(super) run: Arc<PreparedRun>,
    /// Classes that this machine plays.
    pub(super) classes: BTreeMap<String, BlockSource>,
    pub(super) programs: BTreeMap<String, String>,
    pub(super) since: Instant,
    pub(super) n_blocks: u64,
    /// Blocks in a row with an aborted match.
    pub(super) n_aborted: u32,
    /// Why no more blocks are taken: too many of them.
    pub(super) left: Option<String>,
    /// Mean time of a block.
    pub(super) block_time: Option<Duration>,
}

pub(super) struct Prepared {
    run: String,
    payload: Vec<u8>,
    result: Result<(PreparedRun, BTreeMap<String, String>), Unready>,
}

/// Why a run is not played here.
struct Unready {
    reason: String,
    /// It may be otherwise later, though the manifest stays the same.
    may_pass: bool,
}

impl Unready {
    fn for_good(reason: String) -> Self {
        Self { reason, may_pass: false }
    }

    fn for_now(reason: String) -> Self {
        Self { reason, may_pass: true }
    }
}

impl QueueWorker<'_> {
    /// Whether a coordinator has changed a manifest.
    pub(super) fn is_news(&mut self) -> bool {
        self.manifests.as_mut().is_some_and(ManifestWatch::is_news)
    }

    /// Looks for runs that are new, changed or over.
    pub(super) async fn discover(&mut self, say: &mut dyn FnMut(WorkerNews)) {
        if self.manifests.is_none() {
            self.manifests = self.client.watch_manifests().await.ok();
        }
        let found = tokio::time::timeout(PATIENCE, self.client.manifests()).await;
        let Ok(Ok(found)) = found else { return };
        let over: Vec<String> =
            self.runs.keys().filter(|run| !found.contains_key(*run)).cloned().collect();
        for run in over {
            if let Some(Known::Joined(joined)) = self.runs.remove(&run) {
                joined.run.manager.shutdown();
                say(WorkerNews::Over { run, n_blocks: joined.n_blocks });
            }
        }
        for (run, payload) in found {
            let is_open = match self.runs.get(&run) {
                None => true,
                Some(Known::Refused { payload: refused, since, retry, .. }) => {
                    *refused != payload || retry.is_some_and(|retry| since.elapsed() >= retry)
                }
                Some(Known::Preparing { .. } | Known::Joined(_)) => false,
            };
            let manifest = decode::<Manifest>(&payload).map_err(|error| error.to_string());
            match manifest {
                Ok(manifest) if is_open => {
                    let checked = self.check(&manifest, &run);
                    match checked {
                        Ok(()) => {
                            let refused = match self.runs.remove(&run) {
                                Some(Known::Refused { reason, retry: Some(retry), .. }) => {
                                    Some((reason, retry))
                                }
                                _ => None,
                            };
                            self.runs.insert(run.clone(), Known::Preparing { refused });
                            self.prepare(manifest, payload).await;
                        }
                        Err(reason) => self.refuse(run, payload, &Unready::for_good(reason), say),
                    }
                }
                Ok(manifest) => {
                    let tags = &self.settings.tags;
                    if let Some(Known::Joined(joined)) = self.runs.get_mut(&run) {
                        joined.open_classes(&manifest, tags);
                    }
                }
                Err(reason) if is_open => {
                    self.refuse(run, payload, &Unready::for_good(reason), say);
                }
                Err(_) => {}
            }
        }
    }

    /// Why a run is not played here, as far as the manifest says.
    fn check(&self, manifest: &Manifest, run: &str) -> Result<(), String> {
        if manifest.run != run {
            return Err("it names another run".to_owned());
        }
        if !manifest.mixed_versions && manifest.build != self.build {
            let theirs = &manifest.build;
            return Err(match theirs.version == self.build.version {
                false => format!(
                    "the coordinator is gamemaster {} and this is {}; use the same, or start the \
                     coordinator with --allow-mixed-versions",
                    theirs.version, self.build.version
                ),
                true => "the coordinator is another build of gamemaster; copy its executable, or \
                         start the coordinator with --allow-mixed-versions"
                    .to_owned(),
            });
        }
        if !manifest.rulesheets.iter().all(|hash| is_token(hash)) {
            return Err("it names rulesheets in a strange way".to_owned());
        }
        Ok(())
    }

    /// Fetches the rulesheets of a run, and makes it ready on another thread.
    async fn prepare(&mut self, manifest: Manifest, payload: Vec<u8>) {
        let run = manifest.run.clone();
        if let Err(reason) = self.fetch_rulesheets(&manifest).await {
            let result = Err(Unready::for_now(reason));
            self.preparing.spawn(async { Prepared { run, payload, result } });
            return;
        }
        let cache = Arc::clone(&self.cache);
        let WorkerSettings { at_once, launches, logs, .. } = self.settings.clone();
        self.preparing.spawn_blocking(move || {
            let prepared = PreparedRun::new(manifest, cache.folder(), at_once, &logs);
            let result = prepared.map_err(Unready::for_good).and_then(|run| {
                let mut programs = BTreeMap::new();
                for (player, template) in run.launched() {
                    if !launches {
                        return Err(Unready::for_good(format!(
                            "player {} has a command; start the worker with --players-dir to launch \
                             players",
                            player.id
                        )));
                    }
                    let failed = |error: &dyn std::error::Error| {
                        Unready::for_now(chained(error))
                    };
                    run.manager.preflight(player).map_err(|error| failed(&error))?;
                    let words = command_words(template).unwrap_or_default();
                    let hash = program_hash(&words).map_err(|error| {
                        let player = &player.id;
                        let reason = format!("cannot read the program of player {player}: {error}");
                        Unready::for_now(reason)
                    })?;
                    programs.insert(player.id.clone(), hash);
                }
                Ok((run, programs))
            });
            Prepared { run: run.clone(), payload, result }
        });
    }

    async fn fetch_rulesheets(&self, manifest: &Manifest) -> Result<(), String> {
        for hash in &manifest.rulesheets {
            if self.cache.has(hash) {
                continue;
            }
            let message = self.client.rules(&manifest.run, hash).await.map_err(|error| {
                format!("cannot fetch the rulesheet {hash}: {}", chained(&error))
            })?;
            let kept = self.cache.keep(hash, &message);
            kept.map_err(|error| format!("the rulesheet {hash} cannot be used: {error}"))?;
        }
        Ok(())
    }

    /// Plays a run from now on, if it could be made ready.
    pub(super) async fn join(&mut self, prepared: Prepared, say: &mut dyn FnMut(WorkerNews)) {
        let Prepared { run, payload, result } = prepared;
        let checked = match result {
            Ok((ready, programs)) => match self.compare_programs(&ready, &programs).await {
                Ok(()) => Ok((ready, programs)),
                Err(reason) => Err(Unready::for_now(reason)),
            },
            Err(unready) => Err(unready),
        };
        match checked {
            Ok((ready, programs)) => {
                let manifest = ready.manifest.clone();
                let run_ready = Arc::new(ready);
                let mut joined = Joined {
                    run: run_ready,
                    classes: BTreeMap::new(),
                    programs,
                    since: Instant::now(),
                    n_blocks: 0,
                    n_aborted: 0,
                    left: None,
                    block_time: None,
                };
                joined.open_classes(&manifest, &self.settings.tags);
                self.runs.insert(run.clone(), Known::Joined(joined));
                say(WorkerNews::Joined { run });
                self.idle = Duration::ZERO;
                self.beat(false).await;
            }
            Err(unready) => self.refuse(run, payload, &unready, say),
        }
    }

    /// Does not play a run, or not until it is tried again. The next sign of life says why, too.
    fn refuse(
        &mut self,
        run: String,
        payload: Vec<u8>,
        unready: &Unready,
        say: &mut dyn FnMut(WorkerNews),
    ) {
        let reason = printable(&unready.reason, MAX_REASON);
        let before = match self.runs.remove(&run) {
            Some(Known::Preparing { refused }) => refused,
            _ => None,
        };
        let next = before.as_ref().map_or(RETRY, |(_, pause)| (*pause * 2).min(LONGEST_RETRY));
        let retry = unready.may_pass.then_some(next);
        let (since, known) = (Instant::now(), reason.clone());
        self.runs.insert(run.clone(), Known::Refused { payload, reason: known, since, retry });
        let is_known = before.is_some_and(|(old, _)| old == reason);
        if !is_known {
            say(WorkerNews::NotPlayed { run, reason });
        }
    }

    /// Compares the programs of players with those of the first worker that joined.
    async fn compare_programs(
        &self,
        run: &PreparedRun,
        programs: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        if run.manifest.mixed_versions {
            return Ok(());
        }
        for (player, _) in run.launched() {
            let Some(hash) = programs.get(&player.id) else { continue };
            let first = self.client.first_program(&run.manifest.run, &player.hash, hash).await;
            let first =
                first.map_err(|error| format!("cannot compare programs: {}", chained(&error)))?;
            if first != hash.as_bytes() {
                return Err(format!(
                    "the program of player {} differs from that of the coordinator or of another \
                     worker; install the same, or start the coordinator with --allow-mixed-versions",
                    player.id
                ));
            }
        }
        Ok(())
    }
}

impl Joined {
    /// Plays the classes whose tags this machine has.
    fn open_classes(&mut self, manifest: &Manifest, tags: &[String]) {
        for (class, needed) in &manifest.classes {
            if self.left.is_none() && is_token(class) && needed.iter().all(|tag| tags.contains(tag))
            {
                let ack_wait = Duration::from_millis(manifest.ack_wait_ms);
                let source = || BlockSource::new(&manifest.run, class, ack_wait);
                self.classes.entry(class.clone()).or_insert_with(source);
            }
        }
    }
}
