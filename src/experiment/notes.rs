//! Notes on an experiment before it is played: games and players that are left out, and
//! clocks that players may misunderstand.

use std::time::Duration;

use results::counted::counted;
use results::formats::Format;
use results::record::Budget;

use super::jobs::Jobs;
use super::unsuitable::Unsuitable;
use crate::manager::{Enforcement, PlayerSource};
use crate::schedule::{Clocks, ScheduleError, Skip, TimeBudget};
use crate::spec::{Contestant, Spec};
use crate::staged_schedule::StagedScheduleError;

/// Why a player cannot play a game, as an error.
pub(super) fn unsuitable(spec: &Spec, found: &Unsuitable) -> String {
    format!(
        "{} cannot play {}: {}; remove the player or the game, or leave the player out of it with \
         `skip_unsuitable = true`",
        spec.players[found.player].config.id, spec.games[found.game].source.name, found.reason
    )
}

pub(super) fn no_schedule(spec: &Spec, error: &ScheduleError, unsuitable: &[Unsuitable]) -> String {
    let ScheduleError::NothingToPlay { skips } = error else { return error.to_string() };
    let why = |game| why_unable(spec, game, unsuitable);
    let reason = |skip: &Skip| match *skip {
        Skip::TooFewPlayers { game, n_seats, n_players } => {
            let name = &spec.games[game].source.name;
            Some(format!("{name} {}", too_few(n_seats, n_players, spec.players.len(), &why(game))))
        }
        Skip::NoSeats { game } => {
            Some(format!("{} has no role for a player", spec.games[game].source.name))
        }
        Skip::NoGauntlet { game } => Some(format!(
            "{}: all players that can play it are challengers, or none is",
            spec.games[game].source.name
        )),
        Skip::SitsOut { .. } => None,
    };
    let reasons: Vec<String> = skips.iter().filter_map(reason).collect();
    format!("no game can be played: {}; change the players or the games", reasons.join("; "))
}

/// Why a player cannot play a game: `hidden information`, or what it says.
fn reason(unsuitable: &[Unsuitable], game: usize, player: usize) -> &str {
    let found = unsuitable.iter().find(|it| (it.game, it.player) == (game, player));
    found.map_or("hidden information", |it| it.reason.as_str())
}

/// Why some players cannot play a game: `minimax: hidden information`, or what they say.
fn why_unable(spec: &Spec, game: usize, unsuitable: &[Unsuitable]) -> String {
    let reasons = unsuitable.iter().filter(|it| it.game == game);
    let reasons: Vec<String> =
        reasons.map(|it| format!("{}: {}", spec.players[it.player].config.id, it.reason)).collect();
    if !reasons.is_empty() {
        return reasons.join("; ");
    }
    let unable = spec.players.iter().filter(|player| !player.plays_hidden_information);
    let unable: Vec<&str> = unable.map(|player| player.config.id.as_str()).collect();
    format!("{}: hidden information", unable.join(", "))
}

/// `needs 2 players, but the spec has 1`.
fn too_few(n_needed: usize, n_able: usize, n_players: usize, why: &str) -> String {
    let needed = counted(n_needed, "player", "players");
    match n_able {
        _ if n_able == n_players => format!("needs {needed}, but the spec has {n_players}"),
        0 => format!("needs {needed}, but none of {n_players} can play it ({why})"),
        _ => format!("needs {needed}, but only {n_able} of {n_players} can play it ({why})"),
    }
}

/// Why stages cannot be played, with names.
pub(super) fn no_stages(
    spec: &Spec,
    error: &StagedScheduleError,
    unsuitable: &[Unsuitable],
) -> String {
    let game = |game: usize| &spec.games[game].source.name;
    match *error {
        StagedScheduleError::Seats { stage, format, wanted, game: index, n_seats } => format!(
            "{}{} needs games for {wanted}, but {} has {}; remove the game, or play a round_robin",
            stage_words(spec, stage),
            format.name(),
            game(index),
            counted(n_seats, "role", "roles")
        ),
        StagedScheduleError::SitsOut { game: index, player } => format!(
            "{} cannot play {} ({}); in this format every player plays every game, so \
             remove the player or the game",
            spec.players[player].config.id,
            game(index),
            reason(unsuitable, index, player)
        ),
        StagedScheduleError::TooFewPlayers { stage, n_players, n_needed } => format!(
            "{}{} needs at least {}, and the spec has {n_players}",
            stage_words(spec, stage),
            spec.stages[stage - 1].format.name(),
            counted(n_needed, "player", "players")
        ),
        _ if spec.stages.len() == 1 => error.to_string().replacen("stage 1: ", "", 1),
        _ => error.to_string(),
    }
}

fn stage_words(spec: &Spec, stage: usize) -> String {
    if spec.stages.len() > 1 { format!("stage {stage}: ") } else { String::new() }
}

/// What is left out and why, in words. Players that sit out of several games
/// are named once.
pub(super) fn sitting_out(spec: &Spec, skips: &[Skip], unsuitable: &[Unsuitable]) -> Vec<String> {
    let name = |game: usize| &spec.games[game].source.name;
    let mut words = Vec::new();
    for skip in skips {
        match *skip {
            Skip::NoSeats { game } => {
                words.push(format!("left out: {} (it has no role for a player)", name(game)));
            }
            Skip::TooFewPlayers { game, n_seats, n_players } => {
                words.push(format!(
                    "left out: {} (it {})",
                    name(game),
                    too_few(
                        n_seats,
                        n_players,
                        spec.players.len(),
                        &why_unable(spec, game, unsuitable)
                    )
                ));
            }
            Skip::NoGauntlet { game } => {
                words.push(format!(
                    "left out: {} (all players that can play it are challengers, or none is)",
                    name(game)
                ));
            }
            Skip::SitsOut { .. } => {}
        }
    }
    for (index, player) in spec.players.iter().enumerate() {
        // Its games by the reason, in the order in which the reasons come up.
        let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
        for skip in skips {
            let Skip::SitsOut { game, player } = *skip else { continue };
            if player != index {
                continue;
            }
            let reason = reason(unsuitable, game, player);
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, games)) => games.push(name(game)),
                None => by_reason.push((reason, vec![name(game)])),
            }
        }
        for (reason, games) in by_reason {
            let id = &player.config.id;
            words.push(format!("{id} does not play {} ({reason})", games.join(", ")));
        }
    }
    words
}

/// What a play clock of nothing means, if there is one.
pub(super) fn no_time_to_think(spec: &Spec) -> Option<String> {
    let is_nothing = |time: TimeBudget| time.budget == Budget::Clock && time.clocks.play.is_zero();
    let players = spec.players.iter().filter(|player| player.thinks).filter(|player| {
        spec.time_budgets.iter().any(|time| is_nothing(player.config.odds.apply(*time)))
    });
    let ids: Vec<&str> = players.map(|player| player.config.id.as_str()).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "a play clock of 0s leaves no time to think: built-in players reply with the first \
             move they find, others have only the margin ({})",
            ids.join(", ")
        )
    })
}

/// Warnings about clocks that are not whole seconds, which is what START announces.
pub(super) fn fractions(spec: &Spec) -> Vec<String> {
    let mut sentences = Vec::new();
    let is_outside =
        |player: &&Contestant| !matches!(player.config.source, PlayerSource::BuiltIn { .. });
    for player in spec.players.iter().filter(is_outside) {
        for time in &spec.time_budgets {
            let Clocks { start, play, margin } = player.config.odds.apply(*time).clocks;
            for (name, clock) in [("start", start), ("play", play)] {
                if clock.subsec_nanos() == 0 && !clock.is_zero() {
                    continue;
                }
                let sentence = fraction(name, clock, margin, spec.rules.enforcement);
                if !sentences.contains(&sentence) {
                    sentences.push(sentence);
                }
            }
        }
    }
    sentences
}

fn fraction(name: &str, clock: Duration, margin: Duration, enforcement: Enforcement) -> String {
    let seconds = Duration::from_secs(clock.as_secs().max(1));
    let [exact, announced, margin] = [clock, seconds, margin].map(humantime::format_duration);
    let begun = format!(
        "the {name} clock of {exact} is announced to remote and launched players as {announced}, since \
         START announces whole seconds"
    );
    match enforcement {
        Enforcement::Announced if clock < seconds => format!(
            "{begun}. These players may use {announced} plus the margin of {margin}; clocks.enforce \
             = \"exact\" would allow {exact} plus the margin"
        ),
        _ => format!("{begun}. These players may use {exact} plus the margin of {margin}"),
    }
}

/// A note for readers of the results of a gauntlet, which look like those of a round robin.
pub(super) fn gauntlet(spec: &Spec, jobs: &Jobs) -> Option<String> {
    let Jobs::Schedule(_) = jobs else { return None };
    let Format::Gauntlet { challengers } = spec.stages[0].format else { return None };
    let players = spec.players.iter().take(challengers as usize);
    let ids: Vec<&str> = players.map(|player| player.config.id.as_str()).collect();
    let ids = ids.join(" and ");
    let verb = if challengers == 1 { "plays" } else { "play" };
    Some(format!(
        "This is a gauntlet: {ids} {verb} against each of the other players, and these play \
         against {ids} only. Compare the other players with each other, not with {ids}."
    ))
}

/// Warnings as the report has them.
pub(super) fn sentences(warnings: &[String]) -> Vec<String> {
    let sentence = |warning: &String| {
        let mut characters = warning.chars();
        let first = characters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(characters).chain(['.']).collect()
    };
    warnings.iter().map(sentence).collect()
}
