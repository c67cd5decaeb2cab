//! The beginning of a coordinator: makes the run known on the server, and reads the results that
//! wait there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use results::files;
use results::workers::WorkersFile;
use tokio::task::JoinSet;
use work_queue::{ResultReader, Server, patiently};

use super::{CoordinatorSettings, PATIENCE, Queue, SEARCH_TIME, SPEC};
use crate::consumers::Catalogue;
use crate::experiment::Experiment;
use crate::manager::command_words;
use crate::queue::blocks::MatchLengths;
use crate::queue::calibration::KnownReadings;
use crate::queue::prepared::{has_program, launched, program_hash};
use crate::queue::roster::Roster;
use crate::queue::run_file::RunName;
use crate::queue::wire::{Build, FORMAT, Manifest, encode};
use crate::queue::{QueueError, rulesheets};
use crate::spec;

impl Queue {
    pub(super) async fn open(
        server: Server,
        experiment: &Experiment,
        folder: &Path,
        run: RunName,
        settings: &CoordinatorSettings,
    ) -> Result<Self, QueueError> {
        let RunName { name: run, earlier } = run;
        let name = format!("gamemaster coordinator of {run}");
        let (client, mut link) = server.connect_patiently(&name).await?;
        let spec = &experiment.spec;
        let players: Vec<_> =
            spec.players.iter().map(|player| Arc::clone(&player.config)).collect();
        let sent = || spec.games.iter().filter(|entry| !spec::is_shipped(entry));
        let manifest = Manifest {
            format: FORMAT,
            run: run.clone(),
            build: Build::this()?,
            mixed_versions: settings.mixed_versions,
            spec_hash: spec.hash(),
            spec: spec::portable_text(spec),
            rulesheets: sent().map(spec::GameEntry::text_hash).collect(),
            launched: launched(&players)
                .map(|(player, _)| (player.id.clone(), player.hash.clone()))
                .collect(),
            classes: BTreeMap::new(),
            ack_wait_ms: u64::try_from(settings.ack_wait.as_millis()).unwrap_or(u64::MAX),
        };
        let rulesheets: Vec<(String, String, Vec<u8>)> = sent()
            .map(|entry| {
                let what = format!("the rulesheet {}", entry.source.name);
                (entry.text_hash(), what, rulesheets::encoded(&entry.source.text))
            })
            .collect();
        // Before anything is on the server, so that nothing stays there.
        for (_, what, payload) in &rulesheets {
            client.check_size(what, payload)?;
        }
        client.check_size(SPEC, &encode(&manifest))?;
        client.open_run(&mut link, &run).await?;
        if let Some(earlier) = earlier {
            // It may be gone already.
            let _ = client.remove_run(&earlier).await;
        }
        for (hash, what, payload) in rulesheets {
            let stored = async || client.store_rules(&run, &hash, &what, &payload).await;
            patiently(Some(&mut link), stored).await?;
        }
        if spec.comparison.is_some() && !settings.mixed_versions {
            for (player, command) in launched(&players) {
                let words = command_words(command).unwrap_or_default();
                if has_program(&words) {
                    // Base and head are what they are here: workers with others play no match.
                    let hash = program_hash(&words)?;
                    let stored = async || client.store_program(&run, &player.hash, &hash).await;
                    patiently(Some(&mut link), stored).await?;
                }
            }
        }
        let catalogue = Catalogue::new(&experiment.games, &players, experiment.concurrency);
        let tags =
            |player: &spec::Contestant| player.tags.iter().chain(&settings.tags).cloned().collect();
        let kept = patiently(Some(&mut link), async || client.kept_signs(&run).await).await?;
        let roster = Roster::new(client.signs(&run).await?, &kept);
        let mut queue = Self {
            reader: ResultReader::new(&run),
            client,
            link,
            run,
            manifest,
            catalogue: Arc::new(catalogue),
            tags: spec.players.iter().map(tags).collect(),
            given_out: BTreeMap::new(),
            cursor: 0,
            early: BTreeMap::new(),
            unsettled: BTreeSet::new(),
            waiting: 0,
            read: 0,
            removed: 0,
            roster,
            n_workers: (0, 0),
            refusals: BTreeSet::new(),
            unserved: BTreeSet::new(),
            shunned: BTreeSet::new(),
            machines: WorkersFile::read(folder).map_err(|source| QueueError::RunFile {
                path: folder.join(files::WORKERS),
                source,
            })?,
            machines_are_written: true,
            readings: KnownReadings::default(),
            folder: folder.to_owned(),
            lengths: MatchLengths::default(),
            collected: VecDeque::new(),
            publishing: JoinSet::new(),
            unpublished: vec![],
            n_unpublished: 0,
            failure: None,
        };
        queue.read_waiting().await?;
        Ok(queue)
    }

    /// Reads the results that wait on the server, so that their blocks are not given out again.
    async fn read_waiting(&mut self) -> Result<(), QueueError> {
        let found = async || self.client.results_state(&self.run).await;
        let state = patiently(Some(&mut self.link), found).await?;
        if state.n_kept == 0 {
            return Ok(());
        }
        self.waiting = state.last_sequence;
        let mut heard = Instant::now();
        // What does not come now comes later, and counts then.
        while self.read < self.waiting && heard.elapsed() < SEARCH_TIME {
            let results = match self.reader.read(&self.client, PATIENCE).await {
                Ok(results) => results,
                Err(error) if error.is_silence() => continue,
                Err(error) => return Err(error.into()),
            };
            for result in results {
                heard = Instant::now();
                self.read = self.read.max(result.sequence);
                if let Some((block, _)) = result.block {
                    self.keep(block, result);
                }
            }
        }
        Ok(())
    }
}
