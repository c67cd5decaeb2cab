//! A run as a worker plays it: what the manifest says, with games and players ready.

use std::path::Path;
use std::sync::Arc;

use results::record::{AbortReason, Ending, MatchRecord};

use super::wire::{FORMAT, Manifest};
use crate::consumers::{Catalogue, Recorder};
use crate::error_chain::chained;
use crate::event::EventKind;
use crate::experiment::Experiment;
use crate::fingerprint::Fingerprint;
use crate::manager::{
    Manager, ManagerSettings, MatchRules, MatchSetup, PlayerConfig, PlayerSource, PlayerStderr,
    PreparedGame, Worker,
};
use crate::schedule::Job;
use crate::spec::{self, Overrides};
use crate::supervisor::OWN_EXECUTABLE;

/// A run, ready to be played here.
pub(super) struct PreparedRun {
    pub(super) manifest: Manifest,
    pub(super) manager: Arc<Manager>,
    games: Vec<Arc<PreparedGame>>,
    players: Vec<Arc<PlayerConfig>>,
    rules: Arc<MatchRules>,
    pub(super) catalogue: Arc<Catalogue>,
    at_once: u32,
}

impl Drop for PreparedRun {
    fn drop(&mut self) {
        self.manager.shutdown();
    }
}

impl PreparedRun {
    /// Loads the games and players of a run; rulesheets are in `rulesheets`. In words why
    /// the run cannot be played here.
    pub(super) fn new(
        manifest: Manifest,
        rulesheets: &Path,
        at_once: u32,
        logs: &Path,
    ) -> Result<Self, String> {
        if manifest.format != FORMAT {
            return Err(format!(
                "its messages have version {}, and this program knows version {FORMAT}",
                manifest.format
            ));
        }
        if let Some(name) = foreign_game(&manifest) {
            return Err(format!("its game `{name}` is none of the rulesheets that came with it"));
        }
        let overrides = Overrides { jobs: Some(at_once), ..Overrides::default() };
        let mut spec = spec::read(&manifest.spec, &manifest.run, rulesheets, &overrides)
            .map_err(|error| chained(&error))?;
        let remote = spec
            .players
            .iter()
            .find(|player| matches!(player.config.source, PlayerSource::Remote { .. }));
        if let Some(player) = remote {
            let id = &player.config.id;
            return Err(format!("player {id} has an address, and workers connect to none"));
        }
        for player in &mut spec.players {
            if let Some(hash) = manifest.launched.get(&player.config.id)
                && matches!(player.config.source, PlayerSource::Command { .. })
            {
                let hash = hash.clone();
                player.config =
                    Arc::new(PlayerConfig { hash, ..PlayerConfig::clone(&player.config) });
            }
        }
        if spec.hash() != manifest.spec_hash {
            return Err(
                "its spec means something else to this program, or an evaluation or table \
                        of a player is another one here"
                    .to_owned(),
            );
        }
        let experiment = Experiment::new(spec).map_err(|error| chained(&error))?;
        let Experiment { spec, games, .. } = experiment;
        let players: Vec<_> =
            spec.players.iter().map(|player| Arc::clone(&player.config)).collect();
        let catalogue = Arc::new(Catalogue::new(&games, &players, at_once));
        let manager = Manager::new(ManagerSettings {
            stderr: PlayerStderr::Log(logs.join(&manifest.run)),
            supervisor: Some(OWN_EXECUTABLE.into()),
            ..ManagerSettings::default()
        });
        let rules = Arc::new(spec.rules.clone());
        Ok(Self { manifest, manager, games, players, rules, catalogue, at_once })
    }

    /// Whether the job can be one of this run.
    pub(super) fn has(&self, job: &Job) -> bool {
        let Some(game) = self.games.get(job.game) else { return false };
        let random = game.game.random().map(|role| usize::from(role.0));
        let fits = |(role, seat): (usize, &Option<usize>)| match seat {
            Some(player) => random != Some(role) && *player < self.players.len(),
            None => random == Some(role),
        };
        job.seats.len() == game.game.roles().len() && job.seats.iter().enumerate().all(fits)
    }

    /// Plays a match.
    pub(super) fn play(&self, job: Job, worker: &mut Worker) -> MatchRecord {
        let player = |seat: &Option<usize>| seat.map(|player| Arc::clone(&self.players[player]));
        let setup = MatchSetup {
            game: Arc::clone(&self.games[job.game]),
            seats: job.seats.iter().map(player).collect(),
            rules: Arc::clone(&self.rules),
            budget: job.budget,
            concurrency: self.at_once,
            job: Arc::new(job),
        };
        let mut recorder = Recorder::new(Arc::clone(&self.catalogue));
        let mut record = None;
        worker.play(&setup, &mut |event| record = recorder.take(&event).or_else(|| record.take()));
        record.expect("a match ends with its record")
    }

    /// The record of a match that cannot be played here, and why.
    pub(super) fn unplayed(&self, job: Job, why: String) -> MatchRecord {
        let mut recorder = Recorder::new(Arc::clone(&self.catalogue));
        let number = job.number;
        let at = jiff::Timestamp::now().to_string();
        recorder.take(&EventKind::MatchStarted { job: Arc::new(job), at, remote: None });
        let reason = AbortReason::MachineLimit { player: None, detail: why };
        let ended = recorder.take(&EventKind::MatchFinished {
            job: number,
            ending: Ending::Aborted { reason },
            rewards: vec![],
            goal_flags: vec![],
            duration: std::time::Duration::ZERO,
            harness: std::time::Duration::ZERO,
        });
        ended.expect("a match ends with its record")
    }

    /// The players whose program is launched here.
    pub(super) fn launched(&self) -> impl Iterator<Item = (&PlayerConfig, &str)> {
        launched(&self.players)
    }
}

/// The first game of a manifest's spec that is neither shipped nor one of its rulesheets: the
/// path of a file here, which is not to be opened.
fn foreign_game(manifest: &Manifest) -> Option<String> {
    let spec: toml::Table = manifest.spec.parse().ok()?;
    let name = |entry: &toml::Value| match entry {
        toml::Value::String(name) => name.clone(),
        entry => entry.get("game").and_then(toml::Value::as_str).unwrap_or("?").to_owned(),
    };
    let is_sent = |name: &str| {
        let hash = name.strip_suffix(".kif");
        hash.is_some_and(|hash| manifest.rulesheets.iter().any(|sent| sent == hash))
    };
    let games = spec.get("games")?.as_array()?;
    games.iter().map(name).find(|name| games::library::find(name).is_none() && !is_sent(name))
}

/// The players that are launched, with their command lines.
pub(super) fn launched(
    players: &[Arc<PlayerConfig>],
) -> impl Iterator<Item = (&PlayerConfig, &str)> {
    players.iter().filter_map(|player| match &player.source {
        PlayerSource::Command { template, .. } => Some((&**player, template.as_str())),
        _ => None,
    })
}

/// Whether the program of a command line is on this machine.
pub(super) fn has_program(words: &[String]) -> bool {
    words.first().is_some_and(|program| match program.contains('/') {
        true => Path::new(program).is_file(),
        false => in_path(program).is_some(),
    })
}

/// Hash of the files that a command line names: the program, found as the shell finds it,
/// and each word that is a file, such as a script.
pub(super) fn program_hash(words: &[String]) -> std::io::Result<String> {
    let mut hash = Fingerprint::of("program");
    for (index, word) in words.iter().enumerate() {
        let path = match index {
            0 if !word.contains('/') => in_path(word).unwrap_or_else(|| word.into()),
            _ => word.into(),
        };
        if path.is_file() {
            hash = hash.content(&mut std::fs::File::open(path)?)?;
        }
    }
    Ok(hash.hex(16))
}

fn in_path(word: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(word)).find(|file| file.is_file())
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::queue::wire::Build;

    /// A run of this spec, prepared by a worker; else why it is not played.
    pub(crate) fn prepared(spec: &str, spec_hash: &str) -> Result<PreparedRun, String> {
        let folder = tempfile::tempdir().unwrap();
        let manifest = Manifest {
            format: FORMAT,
            run: "run".to_owned(),
            build: Build { version: String::new(), executable: String::new() },
            mixed_versions: true,
            spec_hash: spec_hash.to_owned(),
            spec: spec.to_owned(),
            rulesheets: vec!["0123456789abcdef".to_owned()],
            launched: BTreeMap::new(),
            classes: BTreeMap::new(),
            ack_wait_ms: 10_000,
        };
        PreparedRun::new(manifest, folder.path(), 1, folder.path())
    }

    /// Why a worker does not play a forged run.
    fn refusal(spec: &str) -> String {
        prepared(spec, "").err().unwrap()
    }

    #[test]
    fn a_manifest_names_no_address() {
        let spec = "games = [\"nim\"]\nplayers = [\"random\", \"x=http://127.0.0.1:1\"]";
        assert_eq!(refusal(spec), "player x has an address, and workers connect to none");
    }

    #[test]
    fn a_manifest_opens_no_file_of_the_worker() {
        for game in ["/etc/passwd", "./nim", "0000000000000000.kif", "x/0123456789abcdef.kif"] {
            for games in [format!("games = [\"{game}\"]"), format!("[[games]]\ngame = \"{game}\"")]
            {
                let said = refusal(&games);
                assert!(said.contains("none of the rulesheets that came with it"), "{said}");
            }
        }
        // Those that came, and shipped ones, are looked at.
        for game in ["0123456789abcdef.kif", "nim"] {
            let said = refusal(&format!("players = [\"random\"]\ngames = [\"{game}\"]"));
            assert!(!said.contains("none of the rulesheets"), "{said}");
        }
    }
}
