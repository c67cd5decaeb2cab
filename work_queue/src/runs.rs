//! The runs on a server, and what workers have to know of them.

use std::collections::{BTreeMap, BTreeSet};

use async_nats::Subscriber;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, RetentionPolicy};
use futures_util::{FutureExt as _, StreamExt as _};

use super::error::is_no_stream;
use super::{Client, Link, ServerError, names, patiently, workers};

/// What is requested of the server for a list of runs.
const LIST: &str = "list the runs";

/// What a server has of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunState {
    /// Blocks that no worker has.
    pub n_waiting: u64,
    /// Those that workers have, or had: what was given back, or not acknowledged in time, counts
    /// until another worker takes it.
    pub n_in_play: u64,
    /// Results that workers have sent.
    pub n_results: u64,
    /// Those of them that were not [forgotten](Client::forget_results).
    pub n_kept: u64,
}

impl Client {
    /// Makes the streams of a run, if they are not there.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn open_run(&self, link: &mut Link, run: &str) -> Result<(), ServerError> {
        let refused = self.refused("make the streams of the run");
        let streams = [
            Config {
                name: names::RUNS.to_owned(),
                subjects: names::RUNS_SUBJECTS.map(str::to_owned).to_vec(),
                max_messages_per_subject: 1,
                ..Config::default()
            },
            Config {
                name: names::blocks_stream(run),
                subjects: vec![names::blocks(run)],
                retention: RetentionPolicy::WorkQueue,
                ..Config::default()
            },
            Config {
                name: names::results_stream(run),
                subjects: vec![names::results(run)],
                ..Config::default()
            },
            workers::stream(run),
        ];
        for stream in streams {
            let made = async || {
                let made = self.context.get_or_create_stream(stream.clone()).await;
                made.map_err(|error| refused(error.into()))
            };
            patiently(Some(link), made).await?;
        }
        Ok(())
    }

    /// Stores what a worker has to know of a run; `what` it is to a user. Workers
    /// [learn](ManifestWatch) of it.
    ///
    /// # Errors
    /// If the server refuses, or it is too large.
    pub async fn store_manifest(
        &self,
        run: &str,
        what: &str,
        payload: &[u8],
    ) -> Result<(), ServerError> {
        self.store(names::manifest(run), "store the spec", what, payload).await
    }

    /// Stores a rulesheet of a run under its hash; `what` it is to a user.
    ///
    /// # Errors
    /// If the server refuses, or it is too large.
    pub async fn store_rules(
        &self,
        run: &str,
        hash: &str,
        what: &str,
        payload: &[u8],
    ) -> Result<(), ServerError> {
        self.store(names::rules(run, hash), "store a rulesheet", what, payload).await
    }

    /// Stores the hash of the program of a player, which itself is named by a hash.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn store_program(
        &self,
        run: &str,
        player: &str,
        program: &str,
    ) -> Result<(), ServerError> {
        let (subject, request) = (names::program(run, player), "store the hash of a program");
        self.store(subject, request, "a hash", program.as_bytes()).await
    }

    async fn store(
        &self,
        subject: String,
        request: &'static str,
        what: &str,
        payload: &[u8],
    ) -> Result<(), ServerError> {
        self.check_size(what, payload)?;
        let refused = self.refused(request);
        let stored = self.context.publish(subject, payload.to_vec().into()).await;
        let stored = stored.map_err(|error| refused(error.into()))?;
        stored.await.map_err(|error| refused(error.into()))?;
        Ok(())
    }

    /// A rulesheet of a run, as it was stored.
    ///
    /// # Errors
    /// If it is not there, or the server refuses.
    pub async fn rules(&self, run: &str, hash: &str) -> Result<Vec<u8>, ServerError> {
        self.stored(names::rules(run, hash), "hand out a rulesheet").await
    }

    /// The hash of the program of a player that was stored first: `program` if there was none.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn first_program(
        &self,
        run: &str,
        player: &str,
        program: &str,
    ) -> Result<Vec<u8>, ServerError> {
        let what = "compare programs";
        let refused = self.refused(what);
        let subject = names::program(run, player);
        let first = PublishMessage::build()
            .payload(program.to_owned().into())
            .expected_last_subject_sequence(0);
        let sent = self.context.send_publish(subject.clone(), first).await;
        match sent.map_err(|error| refused(error.into()))?.await {
            Ok(_) => Ok(program.as_bytes().to_vec()),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                self.stored(subject, what).await
            }
            Err(error) => Err(refused(error.into())),
        }
    }

    async fn stored(&self, subject: String, what: &'static str) -> Result<Vec<u8>, ServerError> {
        let refused = self.refused(what);
        let stream = self.context.get_stream_no_info(names::RUNS).await;
        let stream = stream.map_err(|error| refused(error.into()))?;
        let message = stream.get_last_raw_message_by_subject(&subject).await;
        Ok(message.map_err(|error| refused(error.into()))?.payload.to_vec())
    }

    /// The names of all runs of which something is on the server, in ascending order: also of those
    /// that were not opened or removed to the end.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn runs(&self) -> Result<Vec<String>, ServerError> {
        let refused = self.refused(LIST);
        let mut runs: BTreeSet<String> = self.known_runs().await?.into_iter().collect();
        let mut streams = self.context.stream_names();
        while let Some(stream) = streams.next().await {
            let stream = stream.map_err(|error| refused(error.into()))?;
            runs.extend(names::run_of_stream(&stream).map(str::to_owned));
        }
        Ok(runs.into_iter().collect())
    }

    /// The names of the runs that have a manifest.
    async fn known_runs(&self) -> Result<Vec<String>, ServerError> {
        let what = LIST;
        let refused = self.refused(what);
        let stream = self.existing_stream(names::RUNS.to_owned(), what).await?;
        // There has never been a run.
        let Some(stream) = stream else { return Ok(vec![]) };
        let subjects = stream.info_with_subjects(names::MANIFESTS).await;
        let mut subjects = subjects.map_err(|error| refused(error.into()))?;
        let mut runs = vec![];
        while let Some(subject) = subjects.next().await {
            let (subject, _) = subject.map_err(|error| refused(error.into()))?;
            runs.extend(names::run_of_manifest(&subject).map(str::to_owned));
        }
        Ok(runs)
    }

    /// What workers have to know of each run, by the run's name.
    ///
    /// # Errors
    /// If the server refuses, or a run is removed meanwhile.
    pub async fn manifests(&self) -> Result<BTreeMap<String, Vec<u8>>, ServerError> {
        let mut found = BTreeMap::new();
        for run in self.known_runs().await? {
            let payload = self.stored(names::manifest(&run), "show the run").await?;
            found.insert(run, payload);
        }
        Ok(found)
    }

    /// Listens for manifests that coordinators store from now on.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn watch_manifests(&self) -> Result<ManifestWatch, ServerError> {
        let refused = self.refused("announce new runs");
        let manifests = self.context.client().subscribe(names::MANIFESTS).await;
        Ok(ManifestWatch(manifests.map_err(|error| refused(error.into()))?))
    }

    /// Whether a run is on the server; `None` if that cannot be known now.
    pub async fn has_run(&self, run: &str) -> Option<bool> {
        match self.context.get_stream(names::blocks_stream(run)).await {
            Ok(_) => Some(true),
            Err(error) => is_no_stream(&error).then_some(false),
        }
    }

    /// What the server has of a run.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn run_state(&self, run: &str) -> Result<RunState, ServerError> {
        let what = "show the run";
        let refused = self.refused(what);
        let mut found = RunState::default();
        if let Some(blocks) = self.existing_stream(names::blocks_stream(run), what).await? {
            let mut consumers = blocks.consumers();
            while let Some(consumer) = consumers.next().await {
                let consumer = consumer.map_err(|error| refused(error.into()))?;
                found.n_waiting += consumer.num_pending;
                found.n_in_play += consumer.num_ack_pending as u64;
            }
        }
        if let Some(results) = self.existing_stream(names::results_stream(run), what).await? {
            let state = &results.cached_info().state;
            (found.n_results, found.n_kept) = (state.last_sequence, state.messages);
        }
        Ok(found)
    }

    /// Removes a run: first what workers look for, then blocks and results. What is gone already
    /// is no error.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn remove_run(&self, run: &str) -> Result<(), ServerError> {
        let what = "remove the run";
        let refused = self.refused(what);
        let subjects = [names::manifest(run), names::rules(run, "*"), names::program(run, "*")];
        if let Some(runs) = self.existing_stream(names::RUNS.to_owned(), what).await? {
            for subject in subjects {
                runs.purge().filter(subject).await.map_err(|error| refused(error.into()))?;
            }
        }
        let streams =
            [names::blocks_stream(run), names::results_stream(run), names::workers_stream(run)];
        for stream in streams {
            // Somebody else may have been first.
            if let Err(error) = self.context.delete_stream(stream).await
                && !is_no_stream(&error)
            {
                return Err(refused(error.into()));
            }
        }
        Ok(())
    }
}

/// Learns whether coordinators have stored manifests.
pub struct ManifestWatch(Subscriber);

impl ManifestWatch {
    /// Whether there is one since the last call.
    pub fn is_news(&mut self) -> bool {
        let mut is_news = false;
        while let Some(Some(_)) = self.0.next().now_or_never() {
            is_news = true;
        }
        is_news
    }
}
