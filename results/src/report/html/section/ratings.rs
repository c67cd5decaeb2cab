//! Players on other scales than the mean reward.

use super::super::super::strength::alpha_rank_meaning;
use super::super::chart::{Forest, Interval};
use super::super::table::{Cell, Column, interval, name, number, page_table};
use super::super::{Page, headings, words};
use super::{Section, abreast, exact_games, paragraph};
use crate::evaluation::Rating;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let ratings = &page.evaluation.ratings;
    let names = page.names();
    let columns = columns(page);
    if columns.is_empty() || names.len() < 2 {
        return None;
    }
    let mut body = paragraph(
        "The same matches on other scales. If a rating disagrees with the standings, the order \
         depends on the weight of games, or players beat each other in a circle.",
    );
    body += &paragraph(&match ratings.condorcet_winner {
        Some(winner) => {
            format!(
                "A majority of games and budgets prefers {} to every other player.",
                names[winner]
            )
        }
        None => "No player is preferred to every other player by a majority of games and budgets."
            .into(),
    });
    if ratings.too_many {
        body +=
            &paragraph("There are too many players for ratings from matches against each other.");
    }
    let unrated: Vec<&str> = (ratings.bradley_terry.iter())
        .flat_map(|rating| names.iter().zip(&rating.values))
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| *name)
        .collect();
    if !unrated.is_empty() {
        body += &paragraph(&format!(
            "No Elo for {}: no matches connect these players with the others, not even through third \
             players.",
            unrated.join(", ")
        ));
    }
    let table = |id: &str, caption: &str, columns: Vec<(Column, Vec<Cell>)>| {
        let mut rows: Vec<Vec<Cell>> = names.iter().map(|&name| vec![Cell::text(name)]).collect();
        let mut headings = vec![name("player", "In the order of the standings.")];
        for (heading, cells) in columns {
            headings.push(heading);
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        page_table(id, caption, &headings, rows)
    };
    body += &table("ratings-table", "Ratings", columns);
    let first = firsts(page);
    if !first.is_empty() {
        body += &table("first-table", "Probability of ranking first, by each rating", first);
    }
    let figures: Vec<String> = (elo_scales(page).into_iter())
        .map(|(rating, word, _)| forest(&names, rating, word))
        .collect();
    body += &abreast(&figures);
    Some(Section { id: "ratings", heading: headings::RATINGS, body })
}

/// Columns of the ratings that could be computed.
fn columns(page: &Page<'_>) -> Vec<(Column, Vec<Cell>)> {
    let ratings = &page.evaluation.ratings;
    let mut columns = vec![];
    for (rating, word, meaning) in elo_scales(page) {
        let elo = rating.values.iter().map(|&elo| Cell::decimal(elo, 0));
        columns.push((number(word, meaning), elo.collect()));
        let bounds = (0..rating.values.len()).map(|player| Cell::interval(bounds(rating, player)));
        let meaning = "95 %, by Student's t, from robust standard errors clustered by block.";
        columns.push((interval(&format!("{word} interval"), meaning), bounds.collect()));
    }
    if let Some(rating) = &ratings.copeland {
        let meaning = format!(
            "Voting as evaluation by Copeland's method: number of players that this player beats in \
             a majority of the {} votes; a tie counts half. Each game with each budget is a \
             voter that prefers the player with the greater mean reward.",
            ratings.n_voters
        );
        let wins = rating.values.iter().map(|&wins| Cell::decimal(wins, 1));
        columns.push((number("Copeland", &meaning), wins.collect()));
    }
    if let Some(places) = &ratings.ranked_pairs {
        let meaning = "Rank by Tideman's ranked pairs of the same votes: the clearest \
                       majorities count first, others if they do not contradict clearer ones.";
        let places = places.iter().map(|&place| Cell::count(place as u64));
        columns.push((number("ranked pairs", meaning), places.collect()));
    }
    if let Some(rating) = &ratings.maximal_lottery {
        let meaning = "Maximal lottery of the same votes: the probabilities with which to choose \
                       players so that no other choice is preferred on average.";
        columns.push((number("lottery", meaning), shares(&rating.values)));
    }
    if let Some(rating) = &ratings.nash {
        let meaning = "Nash averaging: mean lead, in points, over opponents drawn from the Nash equilibrium \
                       between the players (of several, the one with the greatest entropy); 0 for \
                       players in it. Copies of a player change nothing.";
        let points = rating.values.iter().map(|&points| Cell::points(points));
        columns.push((number("Nash", meaning), points.collect()));
    }
    if let Some(values) = &ratings.nash_shares {
        let meaning = "The player's share in that equilibrium.";
        columns.push((number("Nash share", meaning), shares(&known(values))));
    }
    if let Some(rating) = &ratings.alpha_rank {
        let meaning = format!(
            "Evolution: {}. Payoffs are differences of rewards divided by 100.",
            alpha_rank_meaning()
        );
        columns.push((number("alpha-rank", &meaning), shares(&rating.values)));
    }
    columns
}

fn shares(values: &[Option<f64>]) -> Vec<Cell> {
    values.iter().map(|&share| Cell::percent(share)).collect()
}

fn known(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

/// By each rating, the shares of resamples in which players are the first.
fn firsts(page: &Page<'_>) -> Vec<(Column, Vec<Cell>)> {
    let ratings = &page.evaluation.ratings;
    let first = |rating: &'_ Option<Rating>, word: &str| {
        let rating = rating.as_ref()?;
        let meaning = format!(
            "Probability that the player ranks first by this rating, from {} resamples of whole \
             blocks; players that tie in a resample share the first rank.{}",
            rating.n_resamples,
            exact_games(page)
        );
        Some((number(word, &meaning), shares(&known(rating.first.as_ref()?))))
    };
    let columns = [
        first(&ratings.bradley_terry, "Elo"),
        first(&ratings.copeland, "Copeland"),
        first(&ratings.maximal_lottery, "lottery"),
        first(&ratings.nash, "Nash"),
        first(&ratings.alpha_rank, "alpha-rank"),
    ];
    columns.into_iter().flatten().collect()
}

/// Ratings in Elo, with their headings.
fn elo_scales<'a>(page: &'a Page<'_>) -> Vec<(&'a Rating, &'static str, &'static str)> {
    let ratings = &page.evaluation.ratings;
    let bradley_terry = (
        &ratings.bradley_terry,
        "Elo",
        "Bradley-Terry: the strengths for which the wins, draws and losses of all pairs of players \
         in a match are most likely, with one tied match added for each player so that all are \
         finite. Matches have equal weight. The mean is 0.",
    );
    let plackett_luce = (
        &ratings.plackett_luce,
        "Elo by places",
        "Plackett-Luce: the same for the finishing orders of matches of several players; players \
         with equal rewards are tied.",
    );
    let scales = [bradley_terry, plackett_luce].into_iter();
    scales.filter_map(|(rating, word, meaning)| Some((rating.as_ref()?, word, meaning))).collect()
}

fn bounds(rating: &Rating, player: usize) -> Option<[f64; 2]> {
    *rating.intervals.as_ref()?.get(player)?
}

fn forest(names: &[&str], rating: &Rating, word: &str) -> String {
    let row = |(player, name): (usize, &&str)| {
        let (middle, bounds) = (rating.values[player]?, bounds(rating, player));
        let tip = format!("{name}: {middle:.0} {}", words::interval(bounds));
        Some(Interval { name: (*name).to_owned(), middle, bounds, tip })
    };
    let title = format!("{word}, with intervals");
    let description = "Dots are ratings, lines their 95 % intervals. A lead of 100 Elo \
                       means an expected score of 64 %, 200 of 76 %, 400 of 91 %.";
    let rows = names.iter().enumerate().filter_map(row).collect();
    Forest { title: &title, description, unit: "Elo", reference: Some(0.0), rows }.html()
}
