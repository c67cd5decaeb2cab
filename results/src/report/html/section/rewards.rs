//! How rewards are distributed.

use super::super::chart::{Part, Stacked};
use super::super::table::{Cell, name, number, page_table};
use super::super::{Page, words};
use super::{Section, abreast, paragraph};
use crate::evaluation::RewardDistribution;

/// Classes of rewards: least, greatest, name, and colour.
const CLASSES: [(u8, u8, &str, &str); 5] = [
    (0, 0, "0", "r0"),
    (1, 49, "1 to 49", "r1"),
    (50, 50, "50", "r2"),
    (51, 99, "51 to 99", "r3"),
    (100, 100, "100", "r4"),
];

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let rewards = &page.evaluation.rewards;
    if rewards.iter().all(|distribution| distribution.n == 0) {
        return None;
    }
    let names = page.names();
    let parts = |name: &str, distribution: &RewardDistribution| {
        let part = |&(low, high, class, _): &(u8, u8, &str, &str)| {
            let n = distribution.within(low, high);
            let size = n as f64 / distribution.n.max(1) as f64 * 100.0;
            let tip = format!(
                "{name}: reward {class} in {n} of {} ({size:.1} %)",
                words::count(distribution.n, "match", "matches")
            );
            Part { size, tip }
        };
        CLASSES.iter().map(part).collect::<Vec<_>>()
    };
    let of_player = |(name, distribution): (&&str, &RewardDistribution)| {
        ((*name).to_owned(), parts(name, distribution))
    };
    let classes = CLASSES.map(|(_, _, name, class)| (name.to_owned(), class.to_owned()));
    let stacked = Stacked {
        title: "Rewards of single matches",
        description: "Share of each player's scored matches in each range of rewards.",
        unit: "percent of matches",
        parts: &classes,
        rows: names.iter().zip(rewards).map(of_player).collect(),
    };
    let mut columns = vec![name("player", "In the order of the standings.")];
    columns.extend(
        CLASSES
            .map(|(_, _, class, _)| number(class, "Scored matches with a reward in this range.")),
    );
    columns.extend([
        number("matches", "Scored matches."),
        number("mean", "Mean reward; matches have equal weight, unlike in the standings."),
        number("deviation", "Standard deviation of the rewards of single matches, points."),
    ]);
    let rows = names.iter().zip(rewards).map(|(&name, distribution)| {
        let mut cells = vec![Cell::text(name)];
        cells.extend(CLASSES.map(|(low, high, ..)| Cell::count(distribution.within(low, high))));
        cells.extend([
            Cell::count(distribution.n),
            Cell::points(distribution.mean),
            Cell::points(distribution.standard_deviation),
        ]);
        cells
    });
    let body = paragraph("The distribution of the rewards of single matches, as played.")
        + &abreast(&[stacked.html()])
        + &page_table("reward-table", "Rewards of single matches", &columns, rows);
    Some(Section { id: "rewards", heading: "Rewards", body })
}
