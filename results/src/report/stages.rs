//! The sections of a report on tournaments in rounds.

use super::layout::{Section, Table};
use super::words::{count, optional_points, points};
use crate::formats::knockout::Decided;
use crate::formats::summary::{Placed, PlacedBy, StageSummary, TieSummary};
use crate::formats::{Format, Stage};

/// Rounds that are shown side by side.
const ROUNDS_ABREAST: usize = 9;

pub(super) fn section(stage: &StageSummary) -> Section {
    let mut tables = vec![];
    if !stage.ties.is_empty() {
        tables.push(bracket(&stage.ties));
    }
    tables.push(match stage.rule.format {
        Format::RoundRobin | Format::Gauntlet { .. } => means(stage),
        Format::Swiss { .. } => swiss(stage),
        Format::Knockout { .. } => places(&stage.ranking),
        Format::Ladder { .. } => ladder(&stage.ranking),
    });
    Section { heading: heading(stage), sentence: Some(sentence(stage)), tables }
}

/// Which stage it is, and what is played.
pub(super) fn heading(stage: &StageSummary) -> String {
    let number = match stage.n_stages {
        1 => String::new(),
        n => format!("Stage {} of {n}: ", stage.stage),
    };
    format!("{number}{}", name(&stage.rule))
}

fn name(stage: &Stage) -> String {
    let format = match stage.format {
        Format::RoundRobin => "Round robin",
        Format::Gauntlet { .. } => "Gauntlet",
        Format::Swiss { .. } => "Swiss system",
        Format::Knockout { .. } => "Knockout",
        Format::Ladder { .. } => "Ladder",
    };
    let best = stage.best.map_or_else(String::new, |best| format!(" of the best {best}"));
    let race = if stage.race.is_some() { ", race" } else { "" };
    format!("{format}{best}{race}")
}

/// How far it is, and what decides.
pub(super) fn sentence(stage: &StageSummary) -> String {
    let mut said = vec![];
    if let Some(round) = stage.unfinished {
        let lap =
            if round.extra > 0 { format!(", extra lap {}", round.extra) } else { String::new() };
        said.push(format!(
            "Round {}{lap} is not finished: {} of {} played, and not counted here yet.",
            round.round,
            round.n_done,
            count(round.n_matches, "match is", "matches are")
        ));
    }
    said.push(match stage.rule.format {
        Format::Swiss { rounds } => format!(
            "After {} of {}. Ties are broken by Buchholz (the sum of the opponents' points), \
             then reward difference (mean reward minus the opponents'), then seeding; a bye is \
             worth one point.",
            stage.n_rounds_finished,
            count(rounds, "round", "rounds")
        ),
        Format::Ladder { rounds } => format!(
            "After {} of {}. Glicko-2 ratings start at 1500; a round is a rating period, a block is one \
             result.",
            stage.n_rounds_finished,
            count(rounds, "round", "rounds")
        ),
        Format::Knockout { extra_laps } => format!(
            "The player with the better mean reward advances. A drawn encounter gets up to {}; if all \
             are drawn, the player with the better seeding advances.",
            count(extra_laps, "extra lap", "extra laps")
        ),
        Format::RoundRobin | Format::Gauntlet { .. } => match stage.rule.race {
            None => "Ranked by mean reward; games have equal weight.".to_owned(),
            Some(race) => format!(
                "After {} of {}. A player that was shown to be weaker than {} was dropped, and ranks \
                 behind those that stayed longer, whatever its reward. {}",
                stage.n_rounds_finished,
                count(stage.n_rounds(), "lap", "laps"),
                match race.keep {
                    1 => "another player".to_owned(),
                    keep => format!("{keep} other players"),
                },
                match (race.keep, race.alpha * 100.0) {
                    (1, percent) => format!(
                        "The strongest player is dropped with a probability of at most {percent} %; if \
                         several are equal, this holds for each of them."
                    ),
                    (keep, percent) => format!(
                        "Each player that is really among the strongest {keep} is dropped with a \
                         probability of at most {percent} %."
                    ),
                }
            ),
        },
    });
    said.join(" ")
}

/// Points of a swiss system: whole and half ones are mostly all there are.
fn short(points: f64) -> String {
    let text = format!("{points:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn place(row: &Placed) -> Vec<String> {
    vec![row.place.to_string(), row.player.clone()]
}

fn means(stage: &StageSummary) -> Table {
    let mut heading = vec!["", "player", "reward", "blocks"];
    if stage.rule.race.is_some() {
        heading.push("dropped after lap");
    }
    let row = |row: &Placed| {
        let mut cells = place(row);
        if let PlacedBy::Table { mean, n_blocks, dropped_after_laps } = row.by {
            cells.extend([optional_points(mean), n_blocks.to_string()]);
            if stage.rule.race.is_some() {
                cells.push(dropped_after_laps.map_or_else(|| "-".into(), |laps| laps.to_string()));
            }
        }
        cells
    };
    Table::new(2, heading, stage.ranking.iter().map(row).collect())
}

fn swiss(stage: &StageSummary) -> Table {
    let n_rounds = stage.n_rounds_finished as usize;
    // The last ones, if there are too many.
    let first = n_rounds.saturating_sub(ROUNDS_ABREAST);
    let mut heading = ["", "player", "points"].map(str::to_owned).to_vec();
    heading.extend((first..n_rounds).map(|round| format!("r{}", round + 1)));
    heading.extend(["Buchholz", "reward difference", "byes"].map(str::to_owned));
    let row = |row: &Placed| {
        let mut cells = place(row);
        if let PlacedBy::Swiss { points: own, by_round, buchholz, margin, n_byes } = &row.by {
            cells.push(short(*own));
            cells.extend(by_round.iter().skip(first).map(|&points| short(points)));
            cells.extend([short(*buchholz), points(*margin), n_byes.to_string()]);
        }
        cells
    };
    Table::new(2, heading, stage.ranking.iter().map(row).collect())
}

fn ladder(ranking: &[Placed]) -> Table {
    let row = |row: &Placed| {
        let mut cells = place(row);
        if let PlacedBy::Ladder { rating, deviation, n_won, n_drawn, n_lost, n_byes } = row.by {
            cells.extend([format!("{rating:.0}"), format!("{deviation:.0}")]);
            cells.extend([n_won, n_drawn, n_lost, n_byes].map(|n| n.to_string()));
        }
        cells
    };
    let heading = ["", "player", "rating", "deviation", "won", "drawn", "lost", "byes"];
    Table::new(2, heading, ranking.iter().map(row).collect())
}

fn places(ranking: &[Placed]) -> Table {
    let row = |row: &Placed| {
        let mut cells = place(row);
        if let PlacedBy::Knockout { seed } = row.by {
            cells.push(seed.to_string());
        }
        cells
    };
    Table::new(2, ["", "player", "seeding"], ranking.iter().map(row).collect())
}

fn bracket(ties: &[TieSummary]) -> Table {
    let heading = ["round", "player", "opponent", "rewards", "advances", "decided by"];
    let rows = ties.iter().map(|tie| tie_words(tie).to_vec());
    Table::new(6, heading, rows.collect())
}

/// Round, player and opponent as in the bracket, rewards, who advances, and what decided.
pub(super) fn tie_words(tie: &TieSummary) -> [String; 6] {
    let side = |at: usize| match (&tie.players[at], tie.seeds[at]) {
        (Some(player), Some(seed)) => format!("{player} ({seed})"),
        _ if tie.decided == Some(Decided::Bye) => "bye".to_owned(),
        _ => "-".to_owned(),
    };
    let rewards: Vec<String> = tie
        .means
        .iter()
        .map(|means| match means {
            Some([a, b]) => format!("{} : {}", points(*a), points(*b)),
            None => "unscored".to_owned(),
        })
        .collect();
    let by = match tie.decided {
        None => "not played yet".to_owned(),
        Some(Decided::Bye) => "bye".to_owned(),
        Some(Decided::Reward) => "reward".to_owned(),
        Some(Decided::ExtraLap(lap)) => format!("extra lap {lap}"),
        Some(Decided::Seed) => "seeding, all drawn".to_owned(),
    };
    let winner = tie.winner.clone().unwrap_or_else(|| "-".to_owned());
    [tie.name.clone(), side(0), side(1), rewards.join(", "), winner, by]
}
