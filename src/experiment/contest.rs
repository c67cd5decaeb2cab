//! A player against others at one game: how far it is ahead, over many openings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use games::{Cancel, Game};
use results::stats::interval::{DIFFERENCES, Part, interval_at};
use results::stats::scored::{self, ScoredMatch, Stratum};
use results::{atomic_file, files};

use super::folder::{FolderError, default_folder};
use super::openings::openings;
use super::{ExperimentError, Finished, Options, run};
use crate::game_source::{GameSource, Reading};
use crate::runner::Consumer;
use crate::spec::{self, Contestant, GameEntry, Overrides};

/// The level of the interval.
const LEVEL: f64 = 0.95;

/// What is played.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The game.
    pub game: Arc<Game>,
    /// How its rulesheet is read.
    pub reading: Reading,
    /// The player in question, and then the others, with different ids; at least as many as
    /// the game has roles for players, and at least two.
    pub players: Vec<Contestant>,
    /// Their budget for each move, in nodes.
    pub nodes: u64,
    /// Openings, each played in every seating.
    pub openings: u32,
    /// Of everything random.
    pub seed: u64,
    /// What the run is called.
    pub name: String,
    /// Ends the preparation when it is raised.
    pub cancel: Cancel,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ContestResult {
    /// The mean reward of the player in question, in points.
    pub mean: f64,
    /// That of the others.
    pub others: f64,
    /// The difference of the two.
    pub difference: f64,
    /// Its interval; `None` of a single opening.
    pub interval: Option<[f64; 2]>,
    /// The level of the interval.
    pub level: f64,
    /// Openings that were played.
    pub openings: u64,
    /// Matches.
    pub matches: u64,
    /// The folder of the run.
    pub folder: PathBuf,
}

/// The folder of the openings' rulesheets, in that of the run.
const OPENINGS: &str = "openings";

/// The settings that do not depend on the request. Its games and players are replaced.
const SPEC: &str = r#"
    games = ["tic_tac_toe"]
    players = [{ kind = "legal" }, { kind = "random" }]
"#;

impl Contest {
    /// Plays the matches into `results/runs/NAME-HASH`; what is there of the same matches is
    /// not played again. The result follows from the seed.
    ///
    /// # Errors
    /// If a player cannot play the game, the folder cannot be written, or a match was
    /// aborted by a fault that is no player's, or if no match was scored.
    pub fn play(self, observer: &mut dyn Consumer) -> Result<ContestResult, ExperimentError> {
        let Self { game, reading, players, nodes, openings: n, seed, name, cancel } = self;
        let overrides = Overrides { seed: Some(seed), nodes: vec![nodes], ..Overrides::default() };
        let mut spec = spec::read(SPEC, &name, Path::new(""), &overrides)?;
        let sources = openings(&game, n as usize, seed, &cancel)
            .map_err(|source| ExperimentError::of_rules(game.name(), source))?;
        let entry = |source| GameEntry { source, reading, weight: 1 };
        spec.games = sources.into_iter().map(entry).collect();
        let player = players[0].config.id.clone();
        (spec.name, spec.blocks, spec.players) = (name, 1, players);
        // Other commands read the rulesheets from the folder of the run.
        let kept = default_folder(&spec, None).join(OPENINGS);
        for game in &mut spec.games {
            game.source.file = kept.join(format!("{}.kif", game.source.name)).display().to_string();
        }
        let sources: Vec<GameSource> = spec.games.iter().map(|game| game.source.clone()).collect();
        let Finished { folder, .. } =
            run(spec, &Options { cancel, ..Options::default() }, observer)?;
        let unwritable = |source| FolderError::Unwritable { path: kept.clone(), source };
        std::fs::create_dir_all(&kept).map_err(unwritable)?;
        for source in sources {
            let path = Path::new(&source.file);
            atomic_file::replace(path, source.text.as_bytes()).map_err(unwritable)?;
        }
        let matches = scored::read(&folder.join(files::JOURNAL))?;
        outcome(&matches, &player, folder.clone()).ok_or(ExperimentError::NotScored { folder })
    }
}

/// Mean rewards, over the openings; those of one opening are one piece of evidence.
fn outcome(matches: &[ScoredMatch], player: &str, folder: PathBuf) -> Option<ContestResult> {
    let mut by_opening: BTreeMap<&Stratum, Vec<&ScoredMatch>> = BTreeMap::new();
    for played in matches {
        by_opening.entry(&played.stratum).or_default().push(played);
    }
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for opening in by_opening.values() {
        let seats = || opening.iter().flat_map(|played| &played.seats);
        let rewards = |is_own: bool| -> Option<f64> {
            let rewards: Vec<f64> = seats()
                .filter(|seat| (*seat.player == *player) == is_own)
                .filter_map(|seat| seat.reward.map(f64::from))
                .collect();
            (!rewards.is_empty()).then(|| rewards.iter().sum::<f64>() / rewards.len() as f64)
        };
        if let (Some(mine), Some(theirs)) = (rewards(true), rewards(false)) {
            own.push(mine);
            others.push(theirs);
        }
    }
    let differences: Vec<f64> = own.iter().zip(&others).map(|(own, other)| own - other).collect();
    let part = Part::of(&differences)?;
    Some(ContestResult {
        mean: Part::of(&own)?.mean,
        others: Part::of(&others)?.mean,
        difference: part.mean,
        interval: (differences.len() > 1)
            .then(|| interval_at(&[part], DIFFERENCES, LEVEL))
            .flatten(),
        level: LEVEL,
        openings: differences.len() as u64,
        matches: matches.iter().filter(|played| played.seat_of(player).is_some()).count() as u64,
        folder,
    })
}
