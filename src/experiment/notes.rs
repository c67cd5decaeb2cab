//! What is known about an experiment before it is played: what is left out and why,
//! and what players will notice of their clocks.

use std::time::Duration;

use results::counted::counted;
use results::formats::Format;
use results::record::Budget;

use super::jobs::Jobs;
use crate::manager::{Enforcement, PlayerSource};
use crate::schedule::{Clocks, ScheduleError, Skip, TimeBudget};
use crate::spec::{Contestant, Spec};
use crate::staged_schedule::StagedScheduleError;

pub(super) fn no_schedule(spec: &Spec, error: &ScheduleError) -> String {
    let ScheduleError::NothingToPlay { skips } = error else { return error.to_string() };
    format!("player count fits no game: {}", sitting_out(spec, skips).join("; "))
}

/// Why stages cannot be played, with names.
pub(super) fn no_stages(spec: &Spec, error: &StagedScheduleError) -> String {
    let game = |game: usize| &spec.games[game].source.name;
    match *error {
        StagedScheduleError::Seats { stage, format, wanted, game: index, n_seats } => format!(
            "{}{} needs games for {wanted}, and {} has {}; leave it out, or play a round_robin",
            stage_words(spec, stage),
            format.name(),
            game(index),
            counted(n_seats, "seat", "seats")
        ),
        StagedScheduleError::SitsOut { game: index, player } => format!(
            "{} cannot play {} (hidden information); if pairings follow from results, every player \
             plays every game, so remove one of them",
            spec.players[player].config.id,
            game(index)
        ),
        StagedScheduleError::TooFewPlayers { stage, n_players, n_needed } => format!(
            "{}{} needs at least {}, and the spec has {n_players}",
            stage_words(spec, stage),
            spec.stages[stage - 1].format.name(),
            counted(n_needed, "player", "players")
        ),
        _ => error.to_string(),
    }
}

fn stage_words(spec: &Spec, stage: usize) -> String {
    if spec.stages.len() > 1 { format!("stage {stage}: ") } else { String::new() }
}

/// What is left out and why, in words. Players that sit out of several games
/// are named once.
pub(super) fn sitting_out(spec: &Spec, skips: &[Skip]) -> Vec<String> {
    let name = |game: usize| &spec.games[game].source.name;
    let mut words = Vec::new();
    for skip in skips {
        match *skip {
            Skip::NoSeats { game } => {
                words.push(format!("{} has no role for a player and is left out", name(game)));
            }
            Skip::TooFewPlayers { game, n_seats, n_players } => {
                words.push(format!(
                    "{} takes {}, {n_players} of the {} given can play it, so it is left out",
                    name(game),
                    counted(n_seats, "player", "players"),
                    spec.players.len()
                ));
            }
            Skip::NoGauntlet { game } => {
                words.push(format!(
                    "{} is left out: those who can play it are all challengers, or none is",
                    name(game)
                ));
            }
            Skip::SitsOut { .. } => {}
        }
    }
    for (index, player) in spec.players.iter().enumerate() {
        let games: Vec<&str> = skips
            .iter()
            .filter_map(|skip| match skip {
                Skip::SitsOut { game, player } if *player == index => Some(name(*game).as_str()),
                _ => None,
            })
            .collect();
        if !games.is_empty() {
            words.push(format!(
                "{} sits out {} (hidden information)",
                player.config.id,
                games.join(", ")
            ));
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
            "with a play clock of 0s there is no time to think: built-in players answer with the \
             first move they find, others have the margin only ({})",
            ids.join(", ")
        )
    })
}

/// What is to be known about clocks that are no whole seconds, which is what
/// players outside the program receive.
pub(super) fn fractions(spec: &Spec) -> Vec<String> {
    let mut told = Vec::new();
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
                if !told.contains(&sentence) {
                    told.push(sentence);
                }
            }
        }
    }
    told
}

fn fraction(name: &str, clock: Duration, margin: Duration, enforcement: Enforcement) -> String {
    let seconds = Duration::from_secs(clock.as_secs().max(1));
    let [exact, told, grace] = [clock, seconds, margin].map(humantime::format_duration);
    let begun = format!(
        "players outside the program are told whole seconds: a {name} clock of {exact} is told as \
         {told}"
    );
    match enforcement {
        Enforcement::Told if clock < seconds => format!(
            "{begun}, and they are cut off after {told} and the margin of {grace}; \
             clocks.enforce = \"exact\" cuts at {exact} and the margin"
        ),
        _ => format!("{begun}, and they are cut off after {exact} and the margin of {grace}"),
    }
}

/// A note for readers of the results of a gauntlet, which look like those of a round robin.
pub(super) fn gauntlet(spec: &Spec, jobs: &Jobs) -> Option<String> {
    let Jobs::Schedule(_) = jobs else { return None };
    let Format::Gauntlet { challengers } = spec.stages[0].format else { return None };
    let players = spec.players.iter().take(challengers as usize);
    let ids: Vec<&str> = players.map(|player| player.config.id.as_str()).collect();
    let [verb, pronoun] = if ids.len() == 1 { ["meets", "it"] } else { ["meet", "them"] };
    Some(format!(
        "A gauntlet: {} {verb} each of the others, who meet only {pronoun}; compare those with each \
         other, and not with {pronoun}.",
        ids.join(" and ")
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
