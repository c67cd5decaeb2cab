//! The standings, the probability of each rank, and all pairs.

use super::super::chart::{Forest, Heat, HeatCell, Hue, Interval};
use super::super::table::{Cell, interval, name, number, page_table, percent};
use super::super::{Page, headings, words};
use super::{Section, abreast, exact_games, paragraph};

/// Ranks abreast in the figure of probabilities.
const MOST_RANKS: usize = 14;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let standings = &page.evaluation.standings;
    let level = format!("{:.0} % interval", standings.level * 100.0);
    let how = "by Student's t from the standard deviation between blocks of each game and budget";
    let ranks = page.evaluation.ranks.as_ref();
    let mut columns = vec![
        number("", "Rank by mean reward."),
        name("player", "Name of the player in the spec."),
        number(
            "reward",
            "Mean reward, 0 to 100: games have equal weight; within a game, budgets have equal \
             weight; within a budget, scored matches.",
        ),
        interval(&level, &format!("Interval of the mean reward, {how}.")),
        number(
            "behind by",
            "The leader's mean minus this player's, over the games that both played.",
        ),
        interval(
            "its interval",
            &format!(
                "Interval of that difference, {how}; the lower end is corrected for selecting the \
                 leader by the same results."
            ),
        ),
    ];
    if let Some(ranks) = ranks {
        let of = format!(
            "{} resamples of whole blocks, in each of which all players are ranked again; \
             differences that chance can explain are shrunk towards the mean",
            ranks.n_resamples
        );
        columns.push(number(
            "first",
            &format!("Probability that the player truly ranks first, from {of}."),
        ));
        columns.push(number("mean rank", &format!("Expected rank of the player, from {of}.")));
    }
    columns.extend([
        number("games", "Games in which it was scored."),
        number("matches", "Its scored matches."),
        number("blocks", "Blocks of these matches: the units of evidence."),
        number("faults", "Faults of all kinds, in all matches, scored or not."),
    ]);
    let rows = standings.players.iter().enumerate().map(|(place, row)| {
        let reward = &row.reward;
        let matches = words::count(reward.n_matches, "match", "matches");
        let blocks = words::count(reward.n_blocks, "block", "blocks");
        let of = format!("mean of {matches} in {blocks}");
        let behind = row.behind.as_ref();
        let over = behind.map_or_else(String::new, |behind| {
            let games = words::count(behind.n_games, "game", "games");
            format!("over {games} and {}", words::count(behind.n_blocks, "block", "blocks"))
        });
        let mut cells = vec![
            Cell::count(place as u64 + 1),
            Cell::text(&row.player),
            Cell::points(reward.mean).from(&of),
            Cell::interval(reward.interval).holding(reward.n_exact).from(of),
            Cell::points(behind.map(|behind| behind.mean)).from(&over),
            Cell::interval(behind.and_then(|behind| behind.interval))
                .holding(behind.map_or(0, |behind| behind.n_exact))
                .from(over),
        ];
        if let Some(ranks) = ranks {
            cells.push(Cell::percent(Some(ranks.probabilities[place][0])));
            cells.push(Cell::decimal(Some(ranks.mean_ranks[place]), 2));
        }
        cells.extend([
            Cell::count(row.n_games),
            Cell::count(reward.n_matches),
            Cell::count(reward.n_blocks),
            Cell::count(row.n_faults),
        ]);
        cells
    });
    let mut body = page_table("standings-table", headings::STANDINGS, &columns, rows);
    body += &abreast(&[forest(page), probabilities(page)]);
    body += &pairs(page);
    if ranks.is_none() {
        body += &paragraph(
            "There is no probability of each rank: there is only a single block of each game.",
        );
    }
    Some(Section { id: "standings", heading: headings::STANDINGS, body })
}

/// Each pair of players, the better-placed one first.
fn pairs(page: &Page<'_>) -> String {
    let evaluation = page.evaluation;
    if evaluation.pairs.is_empty() {
        return String::new();
    }
    let of = format!(
        "the standard deviation between blocks; effects that both players share in a block cancel.{}",
        exact_games(page)
    );
    let columns = vec![
        name("player", "The player with the better place in the standings."),
        name("opponent", "The other player."),
        number("ahead", "The player's mean minus the opponent's, over the games that both played."),
        interval(
            &format!("{:.0} % interval", evaluation.standings.level * 100.0),
            &format!("Interval of that difference, not corrected for other pairs, from {of}"),
        ),
        number(
            "LOS",
            &format!(
                "Likelihood of superiority: the probability that the player is stronger, from {of}"
            ),
        ),
        number("games", "Games that both played."),
        number("blocks", "Blocks in which at least one of the two played."),
    ];
    let rows = evaluation.pairs.iter().map(|pair| {
        let difference = &pair.difference;
        vec![
            Cell::text(&pair.player),
            Cell::text(&pair.opponent),
            Cell::points(Some(difference.mean)),
            Cell::interval(difference.interval).holding(difference.n_exact),
            Cell::percent(pair.superiority),
            Cell::count(difference.n_games),
            Cell::count(difference.n_blocks),
        ]
    });
    let which = "In the table of pairs, the interval allows for results not seen yet; LOS and rank \
                 probabilities do not. If they disagree, trust the interval.";
    paragraph(which) + &page_table("pair-table", headings::PAIRS, &columns, rows)
}

fn forest(page: &Page<'_>) -> String {
    let rows = page.evaluation.standings.players.iter().filter_map(|row| {
        let middle = row.reward.mean?;
        let bounds = row.reward.interval;
        let tip = format!(
            "{}: {} {}",
            row.player,
            words::points(middle),
            bounds.map_or_else(String::new, |bounds| words::interval(Some(bounds)))
        );
        Some(Interval { name: row.player.clone(), middle, bounds, tip })
    });
    let rows: Vec<Interval> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let standings = &page.evaluation.standings;
    let description = format!(
        "Dots are mean rewards over all games, lines their {:.0} % intervals from the standard \
         deviation between blocks. If two lines overlap little or not at all, chance is an \
         unlikely reason for the order of the two players.{}",
        standings.level * 100.0,
        exact_games(page)
    );
    let title = "Mean reward";
    let unit = "points, 0 to 100";
    Forest { title, description: &description, unit, reference: None, rows }.html()
}

fn probabilities(page: &Page<'_>) -> String {
    let Some(ranks) = &page.evaluation.ranks else { return String::new() };
    let names = page.names();
    if names.len() < 2 || names.len() > MOST_RANKS {
        return String::new();
    }
    let cell = |name: &str, rank: usize, share: f64| HeatCell {
        value: share,
        shown: if share < 0.0005 { String::new() } else { percent(share).replace(" %", "") },
        tip: format!("{name} has rank {rank} in {}", percent(share)),
    };
    let row = |(name, shares): (&&str, &Vec<f64>)| {
        let cells = shares.iter().zip(1..).map(|(&share, rank)| Some(cell(name, rank, share)));
        ((*name).to_owned(), cells.collect())
    };
    let description = format!(
        "For each rank the probability (in percent) that the player truly has it, from {} \
         resamples of whole blocks. Players that \
         tie in a resample share the ranks. Cells are empty below 0.05 %, and <0.1 up to 0.1 %.{}",
        ranks.n_resamples,
        exact_games(page)
    );
    Heat {
        title: headings::RANKS,
        description: &description,
        hue: Hue::Share,
        across: "rank",
        columns: (1..=names.len()).map(|rank| rank.to_string()).collect(),
        rows: names.iter().zip(&ranks.probabilities).map(row).collect(),
    }
    .html()
}
