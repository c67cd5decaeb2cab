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
use crate::spec::{Comparison, Contestant, Spec};
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
    let reasons: Vec<String> =
        skips.iter().filter_map(|skip| left_out(spec, *skip, unsuitable)).collect();
    format!("no game can be played: {}; change the players or the games", reasons.join("; "))
}

/// Why a player cannot play a game: `hidden information`, or what it says.
fn reason(unsuitable: &[Unsuitable], game: usize, player: usize) -> &str {
    let found = unsuitable.iter().find(|it| (it.game, it.player) == (game, player));
    found.map_or(HIDDEN, |it| it.reason.as_str())
}

/// The reason of those that need to know the state.
const HIDDEN: &str = "hidden information";

/// Why a game is left out, with its name; nothing if only a player sits out.
fn left_out(spec: &Spec, skip: Skip, unsuitable: &[Unsuitable]) -> Option<String> {
    let (game, why) = match skip {
        Skip::NoSeats { game } => (game, "it has no role for a player".to_owned()),
        Skip::TooFewPlayers { game, n_seats, n_players } => {
            let unable = Unable::of(spec, game, n_players, unsuitable);
            let why = match spec.comparison {
                Some(comparison) if unable.unable.is_empty() => {
                    too_few_opponents(spec, comparison, n_seats)
                }
                _ => {
                    format!("it needs {}, {}", counted(n_seats, "player", "players"), unable.why())
                }
            };
            (game, why)
        }
        Skip::NoGauntlet { game, n_seats, n_challengers, n_others } => {
            let unable = Unable::of(spec, game, n_challengers + n_others, unsuitable);
            (game, no_gauntlet(&unable, n_seats, n_challengers, n_others))
        }
        Skip::SitsOut { .. } => return None,
    };
    Some(format!("{}: {why}", spec.games[game].source.name))
}

/// The same of base and head, which play a game against opponents.
fn too_few_opponents(spec: &Spec, comparison: Comparison, n_seats: usize) -> String {
    let n_opponents =
        (0..spec.players.len()).filter(|&player| !comparison.concerns(player)).count();
    let wanted = counted(n_seats - 1, "opponent", "opponents");
    format!("it needs {wanted} for base and head, but the spec has {n_opponents}")
}

/// Why no pairing of a gauntlet can play a game.
fn no_gauntlet(
    unable: &Unable<'_>,
    n_seats: usize,
    n_challengers: usize,
    n_others: usize,
) -> String {
    if n_challengers == 0 {
        return format!("no challenger can play it, {}", unable.why());
    }
    if n_others == 0 {
        let able = listed(&unable.able);
        return match n_challengers {
            2 => format!(
                "{able} are the only players that can play it, and both are challengers, who do \
                 not play each other"
            ),
            _ => format!(
                "{able} are the only players that can play it, and all are challengers, who do \
                 not play each other"
            ),
        };
    }
    format!(
        "it needs a challenger and {}, but only {n_others} of the others can play it",
        counted(n_seats - 1, "other player", "other players")
    )
}

/// The players of a spec by whether they can play a game.
struct Unable<'a> {
    able: Vec<&'a str>,
    /// With the reason of each.
    unable: Vec<(&'a str, &'a str)>,
}

impl<'a> Unable<'a> {
    /// Those of a game that `n_able` players can play.
    fn of(spec: &'a Spec, game: usize, n_able: usize, unsuitable: &'a [Unsuitable]) -> Self {
        let found = unsuitable.iter().filter(|it| it.game == game);
        let is_hidden = found.clone().count() < spec.players.len() - n_able;
        let mut sorted = Self { able: vec![], unable: vec![] };
        for (index, player) in spec.players.iter().enumerate() {
            let id = player.config.id.as_str();
            let found = found.clone().find(|it| it.player == index);
            match found.map(|it| it.reason.as_str()) {
                Some(reason) => sorted.unable.push((id, reason)),
                None if is_hidden && !player.plays_hidden_information => {
                    sorted.unable.push((id, HIDDEN));
                }
                None => sorted.able.push(id),
            }
        }
        sorted
    }

    /// `but the spec has 1`, or `and 2 of the 3 cannot play it: minimax and mcts (hidden information)`.
    fn why(&self) -> String {
        let (n_unable, n_players) = (self.unable.len(), self.able.len() + self.unable.len());
        let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
        for &(id, reason) in &self.unable {
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, ids)) => ids.push(id),
                None => by_reason.push((reason, vec![id])),
            }
        }
        let reasons = by_reason.iter().map(|(reason, ids)| match *reason {
            HIDDEN => format!("{} ({HIDDEN})", listed(ids)),
            reason => format!("{}: {reason}", listed(ids)),
        });
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        match n_unable {
            0 => format!("but the spec has {n_players}"),
            1 if n_players == 1 => format!("and the only one cannot play it: {reasons}"),
            _ if n_unable == n_players => {
                format!("and none of the {n_players} can play it: {reasons}")
            }
            _ => format!("and {n_unable} of the {n_players} cannot play it: {reasons}"),
        }
    }
}

/// `a`, `a and b`, or `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        names => names.concat(),
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
            "{} cannot play {}: {}; in this format every player plays every game, so \
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
    let left_out = skips.iter().filter_map(|skip| left_out(spec, *skip, unsuitable));
    let mut words: Vec<String> = left_out.map(|why| format!("left out: {why}")).collect();
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
            words.push(format!("{id} does not play {}: {reason}", games.join(", ")));
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
    let verb = if challengers == 1 { "plays" } else { "play" };
    let [all, any] = [ids.join(" and "), ids.join(" or ")];
    Some(format!(
        "This is a gauntlet: {all} {verb} against each of the other players, and these meet each \
         other, if at all, only in matches with {any}. Compare the other players with each other, \
         not with {all}."
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
