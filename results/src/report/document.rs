//! The tables of a report, before they are written as text or Markdown.

use std::collections::BTreeMap;

use super::headings;
use super::layout::{Document, Section, Table};
use super::notes::notes;
use super::sections::{Part, missing};
use super::verdict::{caution, verdict};
use super::words::{count, interval, marked, optional_points, points};
use crate::standings::{Encounter, Estimate, PlayerStanding, Standings};

/// Opponents side by side in a cross table.
const OPPONENTS_ABREAST: usize = 6;

pub(super) fn document(standings: &Standings) -> Document {
    let sections = [
        overall(standings),
        policies(standings),
        cross_table(standings),
        by_game(standings),
        by_role(standings),
        by_budget(standings),
        balance(standings),
        timing(standings),
        faults(standings),
        unscored(standings),
        goal_flags(standings),
    ];
    let stages = standings.stages.iter().map(super::stages::section);
    Document {
        title: "Tournament report",
        facts: facts(standings),
        sections: stages.chain(sections.into_iter().flatten()).collect(),
        notes: notes(standings),
    }
}

/// The sections of a document that `parts` ask for by themselves.
pub(super) fn parts(standings: &Standings, parts: &[Part]) -> Vec<Section> {
    let mut sections = vec![];
    if parts.contains(&Part::Stages) {
        sections.extend(standings.stages.iter().map(super::stages::section));
        if sections.is_empty() {
            sections
                .push(missing("Stages", "No pairing depended on results: there are no stages."));
        }
    }
    if parts.contains(&Part::Faults) {
        let none = || missing(headings::FAULTS, "No player committed a fault.");
        sections.push(faults(standings).unwrap_or_else(none));
    }
    sections
}

/// What was played, in a sentence.
pub(super) fn facts(standings: &Standings) -> String {
    if standings.n_matches == 0 {
        return "No match was finished.".to_owned();
    }
    let n_complete = standings.n_matches - standings.n_aborted;
    let matches = count(n_complete, "match", "matches");
    let some = |n: u64, what: &str| if n == 0 { String::new() } else { format!(" ({n} {what})") };
    let unscored = some(n_complete - standings.n_scored, "unscored");
    let aborted = match standings.n_aborted {
        0 => String::new(),
        n if n_complete == 0 => format!(" ({} aborted)", count(n, "match was", "matches were")),
        n => format!(" ({} aborted)", count(n, "more match was", "more matches were")),
    };
    let blocks = count(standings.n_blocks, "block", "blocks");
    let games = count(standings.games.len() as u64, "game", "games");
    let players = count(standings.players.len() as u64, "player", "players");
    let clocks = match &standings.budgets[..] {
        [clock] => clock.clone(),
        clocks => format!("budgets: {}", clocks.join("; ")),
    };
    format!("{matches}{unscored} in {blocks}{aborted}; {games}, {players}; {clocks}.")
}

/// The columns of an estimate: mean, interval, matches, blocks.
fn columns(estimate: &Estimate) -> [String; 4] {
    [
        optional_points(estimate.mean),
        marked(estimate.interval, estimate.n_exact),
        estimate.n_matches.to_string(),
        estimate.n_blocks.to_string(),
    ]
}

fn overall(standings: &Standings) -> Option<Section> {
    let row = |(index, row): (usize, &PlayerStanding)| {
        let [mean, interval_of_mean, n_matches, n_blocks] = columns(&row.reward);
        let behind = row.behind.as_ref();
        vec![
            (index + 1).to_string(),
            row.player.clone(),
            mean,
            interval_of_mean,
            optional_points(behind.map(|behind| behind.mean)),
            behind.map_or("-".into(), |behind| marked(behind.interval, behind.n_exact)),
            row.n_games.to_string(),
            n_matches,
            n_blocks,
            row.n_faults.to_string(),
        ]
    };
    let percent = standings.level * 100.0;
    let level = format!("{percent:.0} % interval");
    let behind = ["behind by", &level, "games", "matches", "blocks", "faults"];
    let heading = [&["", "player", "reward", &level][..], &behind].concat();
    let rows = standings.players.iter().enumerate().map(row).collect();
    Some(Section {
        heading: headings::STANDINGS.into(),
        sentence: match (verdict(standings), caution(standings)) {
            (Some(verdict), Some(caution)) => Some(format!("{verdict} {caution}")),
            (verdict, _) => verdict,
        },
        tables: vec![Table::new(2, &heading, rows)],
    })
}

const ESTIMATE_HEADING: [&str; 4] = ["reward", "interval", "matches", "blocks"];

fn estimates(
    heading: &str,
    names: &[&str],
    rows: impl Iterator<Item = (Vec<String>, Estimate)>,
) -> Option<Section> {
    let rows: Vec<Vec<String>> = rows
        .map(|(mut row, estimate)| {
            row.extend(columns(&estimate));
            row
        })
        .collect();
    let columns = [names, &ESTIMATE_HEADING].concat();
    Section::with_rows(heading, names.len(), &columns, rows)
}

fn by_game(standings: &Standings) -> Option<Section> {
    if standings.games.len() < 2 {
        return None;
    }
    let rows = standings.by_game.iter();
    let rows = rows.map(|row| (vec![row.game.clone(), row.player.clone()], row.reward.clone()));
    estimates(headings::BY_GAME, &["game", "player"], rows)
}

fn by_role(standings: &Standings) -> Option<Section> {
    let rows = standings.by_role.iter().map(|row| {
        (vec![row.game.clone(), row.role.clone(), row.player.clone()], row.reward.clone())
    });
    estimates(headings::BY_ROLE, &["game", "role", "player"], rows)
}

fn by_budget(standings: &Standings) -> Option<Section> {
    if standings.budgets.len() < 2 {
        return None;
    }
    let rows = standings.by_budget.iter();
    let rows = rows.map(|row| (vec![row.budget.clone(), row.player.clone()], row.reward.clone()));
    estimates(headings::BY_BUDGET, &["budget", "player"], rows)
}

fn cross_table(standings: &Standings) -> Option<Section> {
    let names: Vec<&str> = standings.players.iter().map(|row| row.player.as_str()).collect();
    if standings.cross_table.is_empty() {
        return None;
    }
    let encounters = standings.cross_table.iter();
    let encounters: BTreeMap<(&str, &str), &Encounter> =
        encounters.map(|row| ((row.player.as_str(), row.opponent.as_str()), row)).collect();
    let cell = |player: &str, opponent: &str| {
        let found = encounters.get(&(player, opponent));
        found.map_or("-".into(), |row| format!("{} ({})", points(row.mean), row.n_matches))
    };
    let table = |opponents: &[&str]| {
        let rows = names.iter().map(|&player| {
            let mut row = vec![player.to_owned()];
            row.extend(opponents.iter().map(|opponent| cell(player, opponent)));
            row
        });
        Table::new(1, &[&["player"], opponents].concat(), rows.collect())
    };
    Some(Section {
        heading: headings::CROSS_TABLE.into(),
        sentence: Some(
            "Mean reward of the row's player in matches against the column's player; in brackets, \
             the number of matches."
                .into(),
        ),
        tables: names.chunks(OPPONENTS_ABREAST).map(table).collect(),
    })
}

fn balance(standings: &Standings) -> Option<Section> {
    let rows = standings.balance.iter().map(|row| {
        vec![row.game.clone(), row.role.clone(), points(row.mean), row.n_matches.to_string()]
    });
    Section::with_rows(headings::BALANCE, 2, &["game", "role", "reward", "matches"], rows.collect())
}

/// Milliseconds, with as many decimals as they are worth.
fn milliseconds(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value < 1.0 => format!("{value:.3}"),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.1}"),
    }
}

fn timing(standings: &Standings) -> Option<Section> {
    let rows = standings.timing.iter().map(|row| {
        vec![
            row.player.clone(),
            row.budget.clone(),
            row.n_choices.to_string(),
            milliseconds(row.think_ms_p50),
            milliseconds(row.think_ms_p95),
            milliseconds(row.think_ms_p99),
            milliseconds(row.think_ms_max),
            row.n_overruns.to_string(),
            milliseconds(Some(row.overrun_ms_max)),
        ]
    });
    let columns = "player,budget,choices,p50 ms,p95 ms,p99 ms,max ms,overruns,longest overrun ms";
    let mut columns: Vec<&str> = columns.split(',').collect();
    let mut rows: Vec<Vec<String>> = rows.collect();
    // A single budget is among the facts already.
    let first = standings.timing.first().map(|row| &row.budget);
    let several = standings.timing.iter().any(|row| Some(&row.budget) != first);
    if !several {
        columns.remove(1);
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    let sentence = "Moves with a choice: their number, and their times in milliseconds (quantiles \
                    and maximum). Overruns: moves that took longer than the play clock, and the \
                    longest time beyond it.";
    let n_names = if several { 2 } else { 1 };
    Some(Section::with_rows(headings::THINKING, n_names, &columns, rows)?.saying(sentence))
}

fn faults(standings: &Standings) -> Option<Section> {
    let rows = standings.faults.iter();
    let rows = rows.map(|row| vec![row.player.clone(), row.kind.name().into(), row.n.to_string()]);
    Section::with_rows(headings::FAULTS, 2, &["player", "fault", "count"], rows.collect())
}

/// Standings under each fault policy, side by side.
fn policies(standings: &Standings) -> Option<Section> {
    if standings.policies.is_empty() {
        return None;
    }
    let row = |(place, player): (usize, &PlayerStanding)| {
        let mut cells = vec![player.player.clone()];
        for policy in &standings.policies {
            let row = &policy.rows[place];
            cells.extend([optional_points(row.mean), interval(row.interval)]);
        }
        cells
    };
    let rows = standings.players.iter().enumerate().map(row).collect();
    let heading =
        ["player", "as played", "interval", "offender zero", "interval", "void", "interval"];
    Some(Section {
        heading: headings::POLICIES.into(),
        sentence: Some(
            "Mean rewards with intervals under three policies. As played: rewards count as they are. \
             Offender zero: a player gets 0 in each match in which it committed a fault. Void: \
             blocks with a fault do not count."
                .into(),
        ),
        tables: vec![Table::new(1, &heading, rows)],
    })
}

fn unscored(standings: &Standings) -> Option<Section> {
    let rows = standings.unscored.iter().map(|row| {
        let reason = if row.reason.is_empty() { "-" } else { &row.reason };
        vec![row.game.clone(), row.ending.clone(), reason.into(), row.n.to_string()]
    });
    let columns = ["game", "ending", "reason", "matches"];
    Section::with_rows(headings::UNSCORED, 3, &columns, rows.collect())
}

fn goal_flags(standings: &Standings) -> Option<Section> {
    let rows = standings.goal_flags.iter();
    let rows = rows.map(|row| vec![row.game.clone(), row.flag.name().into(), row.n.to_string()]);
    Section::with_rows(headings::GOALS, 2, &["game", "goal", "count"], rows.collect())
}
