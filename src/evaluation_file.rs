//! Learned evaluations on disk, as TOML.

use std::path::{Path, PathBuf};

use games::solve::GameHash;
use players::learning::{Feature, LinearEvaluation, TrainingSettings, WeightedFeature};
use results::atomic_file;
use serde::{Deserialize, Serialize};

use crate::regular_file::{self, FileContents};

/// Changes when files can no longer be read.
const FORMAT: i64 = 1;
/// Longer files are none of ours.
const MAX_BYTES: u64 = 16 << 20;

/// Why an evaluation could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationFileError {
    /// There is no such file, or it may not be read.
    #[error("cannot open the evaluation `{}`", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is no evaluation that can be used.
    #[error("cannot use the evaluation `{}`: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Writing failed.
    #[error("cannot write the evaluation `{}`", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// How an evaluation was trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Matches of self-play.
    pub matches: u64,
    /// States met in them.
    pub states: u64,
    /// As in [`TrainingSettings`].
    pub lambda: f64,
    /// As in [`TrainingSettings`].
    pub learning_rate: f64,
    /// As in [`TrainingSettings`].
    pub exploration: f64,
    /// As in [`TrainingSettings`].
    pub seed: u64,
}

impl Training {
    /// Training with these settings, with its numbers of matches and states.
    #[must_use]
    pub fn new(settings: &TrainingSettings, matches: u64, states: u64) -> Self {
        let TrainingSettings { lambda, learning_rate, exploration, seed } = *settings;
        Self { matches, states, lambda, learning_rate, exploration, seed }
    }
}

/// How a player with the evaluation did against the same player without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// The player, without the evaluation.
    pub player: String,
    /// Its budget for each move.
    pub nodes: u64,
    /// Openings, each played in every seating.
    pub openings: u64,
    /// Matches.
    pub matches: u64,
    /// The mean reward with the evaluation, in points.
    pub trained: f64,
    /// The mean reward with the default evaluation of the player.
    pub untrained: f64,
    /// The difference of the two.
    pub difference: f64,
    /// Its interval, in points; none if there are fewer than two openings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The level of the interval.
    pub level: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    format: i64,
    game: String,
    game_hash: String,
    roles: Vec<String>,
    bias: Vec<f64>,
    /// Rows of `features`: with fewer, the end of the file is missing. Older files lack it.
    #[serde(default)]
    n_features: Option<usize>,
    training: Training,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strength: Option<Strength>,
    #[serde(default)]
    features: Vec<FeatureRow>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeatureRow {
    feature: String,
    weights: Vec<f64>,
}

/// An evaluation with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedEvaluation {
    /// The name of the game.
    pub game: String,
    /// The evaluation.
    pub evaluation: LinearEvaluation,
    /// How it was trained.
    pub training: Training,
    /// How strong it is, if that was measured.
    pub strength: Option<Strength>,
}

/// Writes an evaluation as a whole or not at all. Equal evaluations are equal bytes.
///
/// # Errors
/// The disk is full, or the folder may not be written to.
pub fn write(path: &Path, trained: &TrainedEvaluation) -> Result<(), EvaluationFileError> {
    let LinearEvaluation { game, roles, bias, features } = &trained.evaluation;
    let row = |it: &WeightedFeature| FeatureRow {
        feature: it.feature.to_string(),
        weights: it.weights.clone(),
    };
    let contents = Contents {
        format: FORMAT,
        game: trained.game.clone(),
        game_hash: game.to_string(),
        roles: roles.clone(),
        bias: bias.clone(),
        n_features: Some(features.len()),
        training: trained.training.clone(),
        strength: trained.strength.clone(),
        features: features.iter().map(row).collect(),
    };
    let text = toml::to_string(&contents).expect("names and numbers can be written as TOML");
    atomic_file::replace(path, text.as_bytes())
        .map_err(|source| EvaluationFileError::Write { path: path.to_owned(), source })
}

/// Reads an evaluation.
///
/// # Errors
/// There is no such file, or it is no evaluation.
pub fn read(path: &Path) -> Result<TrainedEvaluation, EvaluationFileError> {
    let open = |source| EvaluationFileError::Open { path: path.to_owned(), source };
    let wrong = |reason: String| EvaluationFileError::Content { path: path.to_owned(), reason };
    let bytes = match regular_file::read(path, MAX_BYTES).map_err(open)? {
        FileContents::Whole(bytes) => bytes,
        FileContents::TooLong { .. } => {
            return Err(wrong(format!("it has more than {MAX_BYTES} bytes")));
        }
        FileContents::NotAFile => return Err(wrong("it is not a regular file".to_owned())),
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        wrong("not an evaluation: expected a text file that `gamemaster train` wrote".to_owned())
    })?;
    parse(&text).map_err(wrong)
}

fn parse(text: &str) -> Result<TrainedEvaluation, String> {
    let table: toml::Table = toml::from_str(text)
        .map_err(|error| format!("it is no file of `gamemaster train`: {}", one_line(&error)))?;
    match table.get("format").and_then(toml::Value::as_integer) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(format!(
                "it has format version {other}, and this program reads version {FORMAT}; train again"
            ));
        }
        None => return Err("it is no file of `gamemaster train`: it has no `format`".to_owned()),
    }
    let contents: Contents = table.try_into().map_err(|error| one_line(&error))?;
    let Contents { game, game_hash, roles, bias, n_features, training, strength, features, .. } =
        contents;
    if let Some(n_features) = n_features
        && n_features != features.len()
    {
        return Err(format!(
            "`n_features` is {n_features}, but the file has {}; train again, or correct `n_features` if \
             you changed the features",
            features.len()
        ));
    }
    let hash: GameHash = game_hash.parse().map_err(|error| format!("`game_hash`: {error}"))?;
    let row = |row: FeatureRow| {
        let feature: Feature = row.feature.parse().map_err(|error| format!("{error}"))?;
        let is_whole =
            row.weights.len() == roles.len() && row.weights.iter().all(|weight| weight.is_finite());
        is_whole
            .then_some(WeightedFeature { feature, weights: row.weights })
            .ok_or_else(|| format!("`{}` needs a weight for each role", row.feature))
    };
    let features = features.into_iter().map(row).collect::<Result<_, String>>()?;
    if bias.len() != roles.len() || !bias.iter().all(|bias| bias.is_finite()) {
        return Err("`bias` needs a number for each role".to_owned());
    }
    let evaluation = LinearEvaluation { game: hash, roles, bias, features };
    Ok(TrainedEvaluation { game, evaluation, training, strength })
}

/// The message without the drawing of the place.
fn one_line(error: &toml::de::Error) -> String {
    error.message().lines().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> TrainedEvaluation {
        TrainedEvaluation {
            game: "g".to_owned(),
            evaluation: LinearEvaluation {
                game: "00112233445566778899aabbccddeeff".parse().unwrap(),
                roles: vec!["white".to_owned(), "black".to_owned()],
                bias: vec![0.25, -1.5],
                features: vec![
                    WeightedFeature {
                        feature: "count (cell ? ? white)".parse().unwrap(),
                        weights: vec![1.0, -0.000_001],
                    },
                    WeightedFeature {
                        feature: "moves of black".parse().unwrap(),
                        weights: vec![0.0, 0.125],
                    },
                ],
            },
            training: Training::new(&TrainingSettings::default(), 100, 4000),
            strength: Some(Strength {
                player: "alpha_beta".to_owned(),
                nodes: 1000,
                openings: 2,
                matches: 4,
                trained: 75.0,
                untrained: 25.0,
                difference: 50.0,
                interval: Some([-10.5, 90.0]),
                level: 0.95,
            }),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.toml");
        for strength in [example().strength, None] {
            let trained = TrainedEvaluation { strength, ..example() };
            write(&path, &trained).unwrap();
            assert_eq!(read(&path).unwrap(), trained);
        }
    }

    #[test]
    fn what_is_no_evaluation_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.toml");
        write(&path, &example()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let check = |from: &str, to: &str, expected: &str| {
            assert!(text.contains(from), "{from}");
            let error = parse(&text.replace(from, to)).unwrap_err();
            assert!(error.contains(expected), "{to}: {error}");
        };
        check("format = 1", "format = 2", "format version 2");
        check("format = 1", "other = 1", "no `format`");
        check("format = 1", "format = ", "no file of `gamemaster train`");
        check("00112233445566778899aabbccddeeff", "0011", "32 hexadecimal digits");
        check("count (cell", "counts (cell", "is no feature");
        check("0.25, -1.5", "0.25", "`bias` needs a number for each role");
        check("0.25, -1.5", "0.25, inf", "`bias` needs a number for each role");
        check("0.125", "nan", "`moves of black` needs a weight for each role");
        check("states = 4000", "states = 4000\nfoo = 1", "foo");
        let last = text.rfind("[[features]]").unwrap();
        let error = parse(&text[..last]).unwrap_err();
        assert!(error.contains("`n_features` is 2, but the file has 1"), "{error}");
    }
}
