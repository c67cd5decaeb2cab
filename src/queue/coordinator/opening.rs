//! The beginning of a coordinator: makes the run known on the server, and reads the results that
//! wait there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use async_nats::jetstream::stream::{Config, RetentionPolicy};
use results::files;
use results::workers::WorkersFile;
use tokio::task::JoinSet;

use super::{CoordinatorSettings, PATIENCE, Queue, SEARCH_TIME, SPEC};
use crate::consumers::Catalogue;
use crate::experiment::Experiment;
use crate::manager::command_words;
use crate::queue::address::patiently;
use crate::queue::blocks::MatchLengths;
use crate::queue::prepared::{has_program, launched, program_hash};
use crate::queue::result_reader::ResultReader;
use crate::queue::roster::Roster;
use crate::queue::run_file::RunName;
use crate::queue::storing::{check_size, store};
use crate::queue::upkeep::remove;
use crate::queue::wire::{Build, FORMAT, Manifest, encode};
use crate::queue::{QueueError, Server, names, rulesheets, signs};
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
        let (context, mut link) = server.connect_patiently(&name).await?;
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
                let subject = names::rules(&run, &entry.text_hash());
                let what = format!("the rulesheet {}", entry.source.name);
                (subject, what, rulesheets::encoded(&entry.source.text))
            })
            .collect();
        // Before anything is on the server, so that nothing stays there.
        for (_, what, payload) in &rulesheets {
            check_size(&context, what, payload)?;
        }
        check_size(&context, SPEC, &encode(&manifest))?;
        let refused = server.refused("make the streams of the run");
        let streams = [
            Config {
                name: names::RUNS.to_owned(),
                subjects: names::RUNS_SUBJECTS.map(str::to_owned).to_vec(),
                max_messages_per_subject: 1,
                ..Config::default()
            },
            Config {
                name: names::blocks_stream(&run),
                subjects: vec![names::blocks(&run)],
                retention: RetentionPolicy::WorkQueue,
                ..Config::default()
            },
            Config {
                name: names::results_stream(&run),
                subjects: vec![names::results(&run)],
                ..Config::default()
            },
            signs::stream(&run),
        ];
        for stream in streams {
            let made = async || {
                let made = context.get_or_create_stream(stream.clone()).await;
                made.map_err(|error| refused(&error))
            };
            patiently(Some(&mut link), made).await?;
        }
        if let Some(earlier) = earlier {
            // It may be gone already.
            let _ = remove(&server, &context, &earlier).await;
        }
        for (subject, what, payload) in rulesheets {
            let stored = async || store(&server, &context, &subject, &what, &payload).await;
            patiently(Some(&mut link), stored).await?;
        }
        if spec.comparison.is_some() && !settings.mixed_versions {
            for (player, command) in launched(&players) {
                let words = command_words(command).unwrap_or_default();
                if has_program(&words) {
                    // Base and head are what they are here: workers with others play no match.
                    let subject = names::program(&run, &player.hash);
                    let hash = program_hash(&words)?.into_bytes();
                    let stored = async || store(&server, &context, &subject, "a hash", &hash).await;
                    patiently(Some(&mut link), stored).await?;
                }
            }
        }
        let catalogue = Catalogue::new(&experiment.games, &players, experiment.concurrency);
        let tags =
            |player: &spec::Contestant| player.tags.iter().chain(&settings.tags).cloned().collect();
        let roster = Roster::listen(&server, &context, &run).await?;
        let mut queue = Self {
            reader: ResultReader::new(&run),
            server,
            context,
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
        let refused = self.server.refused("hand out results");
        let found = async || {
            let found = self.context.get_stream(names::results_stream(&self.run)).await;
            found.map_err(|error| refused(&error))
        };
        let stream = patiently(Some(&mut self.link), found).await?;
        let state = &stream.cached_info().state;
        if state.messages == 0 {
            return Ok(());
        }
        self.waiting = state.last_sequence;
        let mut heard = Instant::now();
        // What does not come now comes later, and counts then.
        while self.read < self.waiting && heard.elapsed() < SEARCH_TIME {
            let results = match self.reader.read(&self.context, PATIENCE).await {
                Ok(results) => results,
                Err(error) => match refused(&*error) {
                    QueueError::NoReply { .. } => continue,
                    refused => return Err(refused),
                },
            };
            for result in results {
                heard = Instant::now();
                self.read = self.read.max(result.sequence);
                if let Some((block, _)) = names::of_result(&result.subject) {
                    self.keep(block, result);
                }
            }
        }
        Ok(())
    }
}
