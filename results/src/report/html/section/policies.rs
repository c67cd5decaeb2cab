//! What faults cost: standings under each fault policy side by side.

use super::super::table::{Cell, interval, name, number, page_table};
use super::super::{Page, headings, words};
use super::{Section, paragraph};
use crate::stats::fault_policy::FaultPolicy;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let policies = &page.evaluation.standings.policies;
    if policies.is_empty() {
        return None;
    }
    let mut columns = vec![name("player", "In the order of the standings.")];
    let mut rows: Vec<Vec<Cell>> = page.names().into_iter().map(|n| vec![Cell::text(n)]).collect();
    for standings in policies {
        let (word, meaning) = in_words(standings.policy);
        let of = format!(
            "{meaning} {}.",
            words::count(standings.n_matches, "match counts", "matches count")
        );
        columns.push(number(word, &format!("Mean reward. {of}")));
        columns.push(interval(
            &format!("{word} interval"),
            &format!(
                "Student's t from the standard deviation between blocks, as in the standings. {of}"
            ),
        ));
        columns.push(number("rank", &format!("By that mean reward. {of}")));
        for (row, standing) in rows.iter_mut().zip(&standings.rows) {
            row.push(Cell::points(standing.mean));
            row.push(Cell::interval(standing.interval));
            row.push(standing.rank.map_or(Cell::text("–"), |rank| Cell::count(rank as u64)));
        }
    }
    let changed = policies.iter().any(|standings| {
        standings.rows.iter().zip(&policies[0].rows).any(|(row, first)| row.rank != first.rank)
    });
    let mut body = paragraph(if changed {
        "Faults matter: the order of the players is not the same under all policies."
    } else {
        "Faults do not matter for the order of the players: it is the same under all policies."
    });
    body += &page_table("policies-table", "Standings under each fault policy", &columns, rows);
    Some(Section { id: "policies", heading: headings::POLICIES, body })
}

fn in_words(policy: FaultPolicy) -> (&'static str, &'static str) {
    match policy {
        FaultPolicy::AsPlayed => {
            ("as played", "Rewards count as they are, with substitutes for faulty moves.")
        }
        FaultPolicy::OffenderZero => (
            "offender zero",
            "A player gets 0 in each match in which it committed a fault; other rewards stay.",
        ),
        FaultPolicy::Void => (
            "void",
            "A block with a fault in any of its matches does not count, so all players still have \
             each role equally often.",
        ),
    }
}
