//! `gamemaster train`: an evaluation of a game's states, learned by self-play.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use games::{Cancel, Game, Guards, state_machine_for};
use players::learning::{TrainError, Trainer, TrainingSettings, WeightedFeature};
use players::{OptionSpec, Stop};
use results::calibration::CalibrationBin;
use results::counted::counted;
use results::evaluation::calibration;
use results::files::JOURNAL;
use serde::Serialize;

use super::number::{nodes, number, whole, whole_from};
use super::output_files;
use super::piece_list::PieceList;
use super::progress_line::ProgressLine;
use crate::built_in;
use crate::evaluation_file::{self, Strength, TrainedEvaluation, Training};
use crate::event::{Event, EventKind};
use crate::exit_code;
use crate::experiment::{Contest, ContestResult};
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::interrupt;
use crate::manager::PlayerSource;
use crate::output::json_or_text;
use crate::runner::Consumer;
use crate::spec::{self, Contestant};

const EXAMPLES: &str = "\
Examples:
  gamemaster train breakthrough_6x6
  gamemaster train mini_backgammon --time 20s --player alpha_beta:depth=2
  gamemaster train othello_6x6 --matches 5000 --seed 7 --output othello.toml
  gamemaster play breakthrough_6x6 random \\
      alpha_beta:evaluation=learned:breakthrough_6x6.evaluation.toml

The program finds features of a state in the rules (how many facts of a kind
hold, how far pieces have advanced, mobility) and plays the game against
itself. TD(lambda) fits a weight of each feature for each role. Afterwards a
player with the evaluation plays the same player with its default evaluation
from openings of four random steps, and the difference of their mean rewards
is printed with a 95 % interval. Then the player with the evaluation plays
against itself from the same openings, for the calibration: what it expected of
its moves, and the mean reward that followed.

With --matches, the same seed gives the same file, byte for byte.

Exit codes:
  0    the file is written
  2    invalid arguments, or a game with hidden information
  3    an invalid rulesheet
  130  interrupted; the evaluation learned so far is written; its strength is
       missing if the comparison was not finished";

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
    /// Use this random seed for the training and the comparison
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole::<u64>(0..=i64::MAX as u64))]
    seed: u64,
    /// Write the evaluation to FILE [default: GAME.evaluation.toml]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compare this player with and without the evaluation
    #[arg(long, value_name = "PLAYER", default_value = "alpha_beta")]
    player: String,
    /// Search N nodes for each move of the comparison
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = nodes)]
    nodes: u64,
    /// Compare in N openings, each played in every seating; 0 for none
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
    /// The folder of the matches against itself.
    self_play_run: Option<String>,
}

#[derive(Serialize)]
struct FeatureReport {
    feature: String,
    weights: Vec<f64>,
}

/// Carries out `gamemaster train`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let game = game_source::load(&arguments.game, arguments.reading).map_err(Failure::game)?.game;
    let path = arguments.output.clone().unwrap_or_else(|| default_path(&game));
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
    output_files::check(&[("--output", &path)], &[("the game", Path::new(&arguments.game))])?;
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
    let (mut run, mut self_play_run, mut calibration) = (None, None, Vec::new());
    // Before the comparison, whose player reads it. Later errors are reported after the results are
    // printed.
    let (path, mut failure) = write_or_elsewhere(path, &trained)?;
    if failure.is_none() && arguments.openings > 0 && !cancel.is_cancelled() {
        let contestants = Contestants::new(arguments, &game, &player, &path);
        match contestants.compare(&cancel) {
            Ok(Some((strength, folder))) => {
                trained.strength = Some(strength);
                run = Some(folder.display().to_string());
                let written = evaluation_file::write(&path, &trained);
                failure = written.map_err(Failure::unwritable).err();
                match contestants.calibrate(&cancel) {
                    Ok(Some((bins, folder))) => {
                        calibration = bins;
                        self_play_run = Some(folder.display().to_string());
                    }
                    Ok(None) => {}
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            Ok(None) => {}
            Err(error) => failure = Some(not_compared(error, &path)),
        }
    }
    let pieces = PieceList::of(&trained.evaluation, &mut *on_pieces, arguments.seed)
        .map_err(Failure::preflight)?;
    let report = Report {
        pieces,
        calibration,
        run,
        self_play_run,
        seconds,
        tried_features: trainer.n_features(),
        ..report(&trained, &path)
    };
    json_or_text(arguments.json, &report, print)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if cancel.is_cancelled() {
        let missing = if trained.strength.is_none() {
            "strength and calibration are"
        } else {
            "calibration is"
        };
        let path = path.display();
        let mut stderr = std::io::stderr();
        writeln!(
            stderr,
            "Interrupted: {path} has what was learned until then; its {missing} not measured."
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
                "the evaluation is in `{}` instead, and its strength was not measured",
                spare.display()
            );
            let error = anyhow::Error::new(error).context(place);
            Ok((spare, Some(Failure::unwritable(error))))
        }
        Err(_) => Err(Failure::unwritable(error)),
    }
}

/// The evaluation is written, but its strength is not known.
fn not_compared(failure: Failure, path: &Path) -> Failure {
    let place = format!("`{}` is written, but its strength was not measured", path.display());
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

/// The player with and without the evaluation, and what they play.
struct Contestants<'a> {
    arguments: &'a Arguments,
    game: &'a Arc<Game>,
    /// The player with the evaluation, as it is typed.
    trained: String,
}

impl<'a> Contestants<'a> {
    /// The evaluation is at `path`.
    fn new(
        arguments: &'a Arguments,
        game: &'a Arc<Game>,
        player: &Contestant,
        path: &Path,
    ) -> Self {
        let separator = if player.options.is_empty() { ":" } else { "," };
        let learned = toml::Value::String(format!("learned:{}", path.display()));
        let trained = format!("{}{separator}{EVALUATION}={learned}", arguments.player);
        Self { arguments, game, trained }
    }

    /// The strength of the player with the evaluation beside that without, and the folder of
    /// their matches; `None` if it was interrupted.
    fn compare(&self, cancel: &Cancel) -> Result<Option<(Strength, PathBuf)>, Failure> {
        let Some(result) = self.play(&self.arguments.player, "untrained", "", cancel)? else {
            return Ok(None);
        };
        let ContestResult { mean, others, difference, interval, level, matches, openings, folder } =
            result;
        let points = |points: f64| (points * 1e4).round() / 1e4;
        let strength = Strength {
            player: self.arguments.player.clone(),
            nodes: self.arguments.nodes,
            openings,
            matches,
            trained: points(mean),
            untrained: points(others),
            difference: points(difference),
            interval: interval.map(|interval| interval.map(points)),
            level,
        };
        Ok(Some((strength, folder)))
    }

    /// What the player with the evaluation expects of its moves against itself, and the folder of
    /// the matches; `None` if it was interrupted.
    fn calibrate(
        &self,
        cancel: &Cancel,
    ) -> Result<Option<(Vec<CalibrationBin>, PathBuf)>, Failure> {
        let played = self.play(&self.trained, "the-same", "-against-itself", cancel)?;
        let Some(ContestResult { folder, .. }) = played else { return Ok(None) };
        let bins = calibration(&folder.join(JOURNAL))
            .map_err(|error| Failure { code: exit_code::INTERNAL, error: error.into() })?;
        // Its copies make the same moves in the same places.
        Ok(Some((bins.into_iter().filter(|bin| bin.player == TRAINED).collect(), folder)))
    }

    /// Plays the player with the evaluation against as many copies of `opponent` as the game
    /// needs; `None` if it was interrupted.
    fn play(
        &self,
        opponent: &str,
        id: &str,
        suffix: &str,
        cancel: &Cancel,
    ) -> Result<Option<ContestResult>, Failure> {
        let Self { arguments, game, trained } = self;
        let mut players = vec![read_as(trained, TRAINED)?, read_as(opponent, id)?];
        let n_seats = game.role_ids().filter(|&role| Some(role) != game.random()).count();
        for copy in 2..n_seats {
            players.push(read_as(opponent, &format!("{id}-{copy}"))?);
        }
        let contest = Contest {
            game: Arc::clone(game),
            reading: arguments.reading,
            players,
            nodes: arguments.nodes,
            openings: arguments.openings,
            seed: arguments.seed,
            name: format!("train-{}{suffix}", plain(game.name())),
            cancel: cancel.clone(),
        };
        let mut watcher = Watcher { progress: ProgressLine::new(), n_matches: 0, cancel };
        let played = contest.play(&mut watcher);
        watcher.progress.clear();
        if cancel.is_cancelled() { Ok(None) } else { played.map(Some).map_err(Failure::experiment) }
    }
}

/// The name of the player with the evaluation.
const TRAINED: &str = "trained";

fn read_as(player: &str, id: &str) -> Result<Contestant, Failure> {
    spec::read_player_as(player, Some(id)).map_err(Failure::usage)
}

/// The name as a part of a folder's name.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Shows how many matches of the comparison are played.
struct Watcher<'a> {
    progress: ProgressLine,
    n_matches: u64,
    cancel: &'a Cancel,
}

impl Watcher<'_> {
    fn flow(&self) -> ControlFlow<()> {
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Consumer for Watcher<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let EventKind::MatchFinished { .. } = event.kind {
            self.n_matches += 1;
            let n_matches = self.n_matches;
            self.progress
                .show(|| format!("compared in {}", counted(n_matches, "match", "matches")));
        }
        self.flow()
    }

    fn pause(&mut self) -> ControlFlow<()> {
        self.flow()
    }
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
        self_play_run: None,
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
    for (label, run) in [("matches", &report.run), ("self-play", &report.self_play_run)] {
        if let Some(run) = run {
            writeln!(out, "  {label:<12} {run}")?;
        }
    }
    Ok(())
}
