//! `gamemaster train`: an evaluation of a game's states, learned by self-play.

mod contests;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use games::{Cancel, Game, Guards, state_machine_for};
use players::learning::{TrainError, Trainer, TrainingSettings, WeightedFeature};
use players::{OptionSpec, Stop};
use results::calibration::CalibrationBin;
use results::counted::counted;
use serde::Serialize;

use contests::Contests;

use super::number::{nodes, number, whole, whole_from};
use super::output_files;
use super::piece_list::PieceList;
use super::progress_line::ProgressLine;
use crate::built_in;
use crate::evaluation_file::{self, Strength, TrainedEvaluation, Training};
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::interrupt;
use crate::manager::PlayerSource;
use crate::output::json_or_text;
use crate::spec::{self, Contestant};

const EXAMPLES: &str = "\
Examples:
  gamemaster train breakthrough_6x6
  gamemaster train mini_backgammon --time 20s --player alpha_beta:depth=2
  gamemaster train othello_6x6 --matches 5000 --seed 7 --out othello.toml
  gamemaster play breakthrough_6x6 random \\
      alpha_beta:evaluation=learned:breakthrough_6x6.evaluation.toml

The program finds features of a state in the rules (how many facts of a kind
hold, how far pieces have advanced, mobility) and plays the game against itself.
TD(lambda) fits a weight of each feature for each role. Afterwards, the player
named by --player plays with the learned evaluation against the same player with
its default evaluation, from openings of four random steps, and the difference
of their mean rewards is printed with a 95 % interval. Then the trained player
plays against itself from the same openings, for the calibration: what it
expected of its moves, and the mean reward that followed. Both are runs in
results/runs: train-GAME-HASH and train-GAME-calibration-HASH. With --openings 0
there are none.

With --matches, the same seed gives the same file, byte for byte.

Exit codes:
  0    the file is written
  2    invalid arguments, or a game with hidden information
  3    an invalid rulesheet
  130  interrupted; the evaluation learned so far is written; its strength and
       calibration are missing if their matches were not finished";

/// Training time without `--time` and `--matches`.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// Features that are printed, the most important ones.
const FEATURES_SHOWN: usize = 8;

/// Arguments of `gamemaster train`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    game: String,
    /// Train for this time [default: 60s without --matches]
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    time: Option<Duration>,
    /// Train with N matches of self-play
    #[arg(long, value_name = "N", value_parser = whole_from::<u64>(1), conflicts_with = "time")]
    matches: Option<u64>,
    /// Set lambda of TD(lambda): 0 learns from the next state only, 1 only from
    /// the final reward
    #[arg(long, value_name = "L", default_value_t = TrainingSettings::default().lambda, value_parser = share)]
    lambda: f64,
    /// Set the learning rate
    #[arg(long, value_name = "R", default_value_t = TrainingSettings::default().learning_rate, value_parser = rate)]
    learning_rate: f64,
    /// Make random moves in self-play with probability P
    #[arg(long, value_name = "P", default_value_t = TrainingSettings::default().exploration, value_parser = share)]
    exploration: f64,
    /// Use this random seed for all matches
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole::<u64>(0..=i64::MAX as u64))]
    seed: u64,
    /// Write the evaluation to FILE [default: GAME.evaluation.toml]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Compare this player with and without the evaluation
    #[arg(long, value_name = "PLAYER", default_value = "alpha_beta")]
    player: String,
    /// Search N nodes for each move of the comparison and the calibration
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = nodes)]
    nodes: u64,
    /// Compare and calibrate in N openings, each played in every seating; 0 for
    /// none
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u32>(0..=10_000))]
    openings: u32,
    #[command(flatten)]
    reading: Reading,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn read_time(text: &str) -> Result<Duration, String> {
    let wanted = || format!("expected a time such as 20s or 1m, not {text:?}");
    let time = humantime::parse_duration(text).map_err(|_| wanted())?;
    if time.is_zero() { Err(wanted()) } else { Ok(time) }
}

fn share(text: &str) -> Result<f64, String> {
    let wanted = "expected a number from 0 to 1";
    let share = number(text).ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| wanted.to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    let wanted = "expected a number above 0, up to 100";
    let rate = number(text).ok().filter(|rate| *rate > 0.0 && *rate <= 100.0);
    rate.ok_or_else(|| wanted.to_owned())
}

#[derive(Serialize)]
struct Report<'a> {
    game: &'a str,
    game_hash: String,
    file: String,
    tried_features: usize,
    features: Vec<FeatureReport>,
    roles: &'a [String],
    /// What pieces are worth, by kind.
    pieces: Option<PieceList>,
    seconds: f64,
    #[serde(flatten)]
    training: &'a Training,
    strength: Option<&'a Strength>,
    /// What the trained player expected of its moves in matches against itself, and what it got.
    calibration: Vec<CalibrationBin>,
    /// The folder of the matches against the untrained player.
    run: Option<String>,
    /// The folder of the matches against itself, for the calibration.
    calibration_run: Option<String>,
}

#[derive(Serialize)]
struct FeatureReport {
    feature: String,
    weights: Vec<f64>,
}

/// Carries out `gamemaster train`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let game = game_source::load(&arguments.game, arguments.reading).map_err(Failure::game)?.game;
    let path = arguments.out.clone().unwrap_or_else(|| default_path(&game));
    let player = searcher(&arguments.player).map_err(Failure::usage)?;
    let cancel = Cancel::new();
    let stop = cancel.clone();
    interrupt::on_interrupt(move || stop.cancel())?;
    let begun = Instant::now();
    let settings = TrainingSettings {
        lambda: arguments.lambda,
        learning_rate: arguments.learning_rate,
        exploration: arguments.exploration,
        seed: arguments.seed,
    };
    output_files::check(&[("--out", &path)], &[("the game", Path::new(&arguments.game))])?;
    let machine = state_machine_for(game.clone(), Guards::default()).map_err(Failure::preflight)?;
    let mut on_pieces = machine.fork();
    let trainer = train(arguments, machine, settings, begun, &cancel)?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut trained = TrainedEvaluation {
        game: game.name().to_owned(),
        evaluation: trainer.evaluation(),
        training: Training::new(&settings, trainer.n_matches(), trainer.n_states()),
        strength: None,
    };
    let (mut run, mut calibrated) = (None, None);
    // Before the comparison, whose player reads it. Later errors are reported after the results are
    // printed.
    let (path, mut failure) = write_or_elsewhere(path, &trained)?;
    if failure.is_none() && arguments.openings > 0 && !cancel.is_cancelled() {
        let contests = Contests::new(arguments, &game, &player, &path, &cancel);
        match contests.compare() {
            Ok(Some((strength, folder))) => {
                trained.strength = Some(strength);
                run = Some(folder.display().to_string());
                let written = evaluation_file::write(&path, &trained);
                failure = written.map_err(Failure::unwritable).err();
                match contests.calibrate() {
                    Ok(measured) => calibrated = measured,
                    Err(error) => {
                        let error = not_measured(error, &path, "its calibration");
                        failure = failure.or(Some(error));
                    }
                }
            }
            Ok(None) => {}
            Err(error) => failure = Some(not_measured(error, &path, "its strength")),
        }
    }
    let missing = match (&trained.strength, &calibrated) {
        (None, _) => Some("its strength and calibration are"),
        (_, None) => Some("its calibration is"),
        _ => None,
    };
    let pieces = PieceList::of(&trained.evaluation, &mut *on_pieces, arguments.seed)
        .map_err(Failure::preflight)?;
    let (calibration, calibration_run) = calibrated.unzip();
    let report = Report {
        pieces,
        calibration: calibration.unwrap_or_default(),
        run,
        calibration_run: calibration_run.map(|folder| folder.display().to_string()),
        seconds,
        tried_features: trainer.n_features(),
        ..report(&trained, &path)
    };
    json_or_text(arguments.json, &report, print)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if cancel.is_cancelled()
        && let Some(missing) = missing
    {
        let path = path.display();
        let mut stderr = std::io::stderr();
        writeln!(
            stderr,
            "Interrupted: {path} has what was learned until then; {missing} not measured."
        )?;
    }
    Ok(if cancel.is_cancelled() { exit_code::INTERRUPTED } else { exit_code::OK })
}

/// Writes the evaluation, or into the folder for temporary files if that fails. Returns the path,
/// and the error if it is not `path`.
fn write_or_elsewhere(
    path: PathBuf,
    trained: &TrainedEvaluation,
) -> Result<(PathBuf, Option<Failure>), Failure> {
    let Err(error) = evaluation_file::write(&path, trained) else { return Ok((path, None)) };
    let name = format!("{}-{}.evaluation.toml", plain(&trained.game), std::process::id());
    let spare = std::env::temp_dir().join(name);
    match evaluation_file::write(&spare, trained) {
        Ok(()) => {
            let place = format!(
                "the evaluation is in `{}` instead, and its strength and calibration were not measured",
                spare.display()
            );
            let error = anyhow::Error::new(error).context(place);
            Ok((spare, Some(Failure::unwritable(error))))
        }
        Err(_) => Err(Failure::unwritable(error)),
    }
}

/// The evaluation is written, but something of it is not known.
fn not_measured(failure: Failure, path: &Path, what: &str) -> Failure {
    let place = format!("`{}` is written, but {what} was not measured", path.display());
    Failure { code: failure.code, error: failure.error.context(place) }
}

/// In the current folder, by the game's name.
fn default_path(game: &Game) -> PathBuf {
    format!("{}.evaluation.toml", plain(game.name())).into()
}

/// A built-in player that takes an evaluation, and has none.
fn searcher(text: &str) -> Result<Contestant, anyhow::Error> {
    let player = spec::read_player(text)?;
    let PlayerSource::BuiltIn { kind, .. } = &player.config.source else {
        return Err(anyhow!("--player {text}: expected a built-in player"));
    };
    let kind = built_in::find(kind).ok_or_else(|| anyhow!("no player is called `{kind}`"))?;
    if !kind.options.iter().any(OptionSpec::takes_evaluation) {
        return Err(anyhow!("--player {text}: `{}` takes no learned evaluation", kind.name));
    }
    if player.options.contains_key(EVALUATION) {
        return Err(anyhow!(
            "--player {text}: leave `{EVALUATION}` out, since players with and without the trained one are \
             compared"
        ));
    }
    Ok(player)
}

/// The option that an evaluation is given by.
const EVALUATION: &str = "evaluation";

fn train(
    arguments: &Arguments,
    machine: Box<dyn games::StateMachine>,
    settings: TrainingSettings,
    begun: Instant,
    cancel: &Cancel,
) -> Result<Trainer, Failure> {
    let time = arguments.time.unwrap_or(DEFAULT_TIME);
    let mut stop = Stop::never().on(cancel.clone());
    if arguments.matches.is_none() {
        // Most of the time is for the matches.
        stop = stop.at(begun + time / 4);
    }
    let mut trainer = Trainer::new(machine, settings, &stop).map_err(|error| match error {
        TrainError::Reasoning(error) => Failure::preflight(error),
        error => Failure::usage(error),
    })?;
    let mut progress = ProgressLine::new();
    let until_cancelled = Stop::never().on(cancel.clone());
    let is_done = |trainer: &Trainer| match arguments.matches {
        Some(matches) => trainer.n_matches() >= matches,
        None => begun.elapsed() >= time,
    };
    while !is_done(&trainer) && !cancel.is_cancelled() {
        trainer.play_match(&until_cancelled).map_err(Failure::preflight)?;
        progress.show(|| {
            let matches = counted(trainer.n_matches(), "match", "matches");
            let limit = arguments.matches.map_or_else(
                || format!("{:.0} of {:.0} s", begun.elapsed().as_secs_f64(), time.as_secs_f64()),
                |limit| format!("of {limit}"),
            );
            format!("trained with {matches}, {limit}")
        });
    }
    progress.clear();
    Ok(trainer)
}

/// The name as a part of a folder's name.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// What the file holds; the rest is to be filled in.
fn report<'a>(trained: &'a TrainedEvaluation, path: &Path) -> Report<'a> {
    let TrainedEvaluation { game, evaluation, training, strength } = trained;
    let row = |it: &WeightedFeature| FeatureReport {
        feature: it.feature.to_string(),
        weights: it.weights.clone(),
    };
    Report {
        game,
        game_hash: evaluation.game.to_string(),
        file: path.display().to_string(),
        tried_features: 0,
        features: evaluation.features.iter().map(row).collect(),
        roles: &evaluation.roles,
        pieces: None,
        seconds: 0.0,
        training,
        strength: strength.as_ref(),
        calibration: Vec::new(),
        run: None,
        calibration_run: None,
    }
}

fn print(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let Report { game, file, training, seconds, .. } = report;
    writeln!(out, "{game}, trained by self-play")?;
    let matches = counted(training.matches, "match", "matches");
    writeln!(out, "  training     {matches}, {} states, {seconds:.1} s", training.states)?;
    let (n_found, n_kept) = (report.tried_features, report.features.len());
    let shown = match n_kept > FEATURES_SHOWN {
        true => {
            format!("; weights of the first {FEATURES_SHOWN} by weight times standard deviation:")
        }
        false => String::new(),
    };
    writeln!(out, "  features     {n_found} found, {n_kept} kept{shown}")?;
    for feature in report.features.iter().take(FEATURES_SHOWN) {
        let weights =
            report.roles.iter().zip(&feature.weights).filter(|(_, weight)| **weight != 0.0);
        let weights: Vec<String> =
            weights.map(|(role, weight)| format!("{role} {weight:+.3}")).collect();
        writeln!(out, "               {}: {}", feature.feature, weights.join(", "))?;
    }
    if let Some(pieces) = &report.pieces {
        pieces.print(out, "  ")?;
    }
    writeln!(out, "  file         {file}")?;
    let Some(strength) = report.strength else { return Ok(()) };
    let Strength { trained, untrained, difference, .. } = strength;
    writeln!(
        out,
        "  strength     {} with {} a move, {} from {}",
        strength.player,
        counted(strength.nodes, "node", "nodes"),
        counted(strength.matches, "match", "matches"),
        counted(strength.openings, "opening", "openings")
    )?;
    let interval = strength.interval.map_or_else(
        || "no interval from a single opening".to_owned(),
        |[low, high]| format!("{:.0} % interval {low:+.1} to {high:+.1}", 100.0 * strength.level),
    );
    writeln!(
        out,
        "               trained {trained:.1}, untrained {untrained:.1}: {difference:+.1} points, {interval}"
    )?;
    if !report.calibration.is_empty() {
        writeln!(out, "  calibration  in matches of the trained player against itself")?;
    }
    for bin in &report.calibration {
        let CalibrationBin { low, high, expected, reward, interval, decisions, .. } = bin;
        let interval = interval.map_or_else(String::new, |[low, high]| {
            format!(", 95 % interval {low:.1} to {high:.1}")
        });
        let decisions = counted(decisions, "decision", "decisions");
        writeln!(
            out,
            "               values {low} to {high}: expected {expected:.1}, reward {reward:.1}{interval}, \
             {decisions}"
        )?;
    }
    let runs = [("strength", &report.run), ("calibration", &report.calibration_run)];
    let runs = runs.into_iter().filter_map(|(what, run)| Some((what, run.as_ref()?)));
    for (at, (what, run)) in runs.enumerate() {
        let label = if at == 0 { "runs" } else { "" };
        writeln!(out, "  {label:<13}{run} ({what})")?;
    }
    Ok(())
}
