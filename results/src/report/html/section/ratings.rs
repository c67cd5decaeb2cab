//! Players on other scales than the mean reward.

use super::super::chart::{Forest, Interval};
use super::super::table::{Cell, Column, Table, interval, name, number};
use super::super::{Page, words};
use super::{Section, abreast, paragraph};
use crate::evaluation::Rating;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let ratings = &page.evaluation.ratings;
    let names = page.names();
    let mut columns = vec![name("player", "In the order of the standings.")];
    let mut rows: Vec<Vec<Cell>> = names.iter().map(|&name| vec![Cell::text(name)]).collect();
    let mut add = |column: Column, cell: &dyn Fn(usize) -> Cell| {
        columns.push(column);
        rows.iter_mut().enumerate().for_each(|(player, row)| row.push(cell(player)));
    };
    let first = format!(
        "Share of {} resamples of whole blocks in which the player is first by the rating at \
         the left; players that are level share.",
        ratings.n_resamples
    );
    for (rating, word, meaning) in elo_scales(page) {
        add(number(word, meaning), &|p| Cell::decimal(Some(rating.values[p]), 0));
        add(
            interval(
                &format!("{word}, interval"),
                "The rating and 1.96 robust standard errors to either side, clustered by block.",
            ),
            &|p| Cell::interval(bounds(rating, p)),
        );
        if let Some(shares) = &rating.first {
            add(number("first", &first), &|p| Cell::percent(Some(shares[p])));
        }
    }
    if let Some(rating) = &ratings.copeland {
        let meaning = format!(
            "Voting as evaluation by Copeland's method: how many other players a majority of the \
             {} voters prefers this one to, ties one half. Each game under each clock is a voter \
             that prefers who has the greater mean reward there.",
            ratings.n_voters
        );
        add(number("Copeland", &meaning), &|p| Cell::decimal(Some(rating.values[p]), 1));
        if let Some(shares) = &rating.first {
            add(number("first", &first), &|p| Cell::percent(Some(shares[p])));
        }
    }
    if let Some(places) = &ratings.ranked_pairs {
        add(
            number(
                "ranked pairs",
                "Rank by Tideman's ranked pairs of the same votes: majorities count from the \
                 clearest on unless they contradict clearer ones.",
            ),
            &|p| Cell::count(places[p] as u64),
        );
    }
    if let Some(rating) = &ratings.maximal_lottery {
        add(
            number(
                "lottery",
                "Maximal lottery of the same votes: with which probability to choose the player, \
                 so that no other choice is preferred on average.",
            ),
            &|p| Cell::percent(Some(rating.values[p])),
        );
        if let Some(shares) = &rating.first {
            add(number("first", &first), &|p| Cell::percent(Some(shares[p])));
        }
    }
    if let Some(rating) = &ratings.nash {
        add(
            number(
                "Nash",
                "Nash averaging: mean points won from opponents drawn from the equilibrium of \
                 greatest entropy; 0 for who is part of it. Copies of a player change nothing.",
            ),
            &|p| Cell::points(Some(rating.values[p])),
        );
        if let Some(shares) = &ratings.nash_shares {
            add(number("Nash share", "The player's share in that equilibrium."), &|p| {
                Cell::percent(Some(shares[p]))
            });
        }
        if let Some(shares) = &rating.first {
            add(number("first", &first), &|p| Cell::percent(Some(shares[p])));
        }
    }
    if let Some(rating) = &ratings.alpha_rank {
        add(
            number(
                "alpha-rank",
                "Share of time that evolution spends at the player, with populations of 50 and \
                 selection 100 on payoffs from -1 to 1: differences of rewards over 100.",
            ),
            &|p| Cell::percent(Some(rating.values[p])),
        );
        if let Some(shares) = &rating.first {
            add(number("first", &first), &|p| Cell::percent(Some(shares[p])));
        }
    }
    if columns.len() < 2 || names.len() < 2 {
        return None;
    }
    let mut body = paragraph(
        "The same matches on other scales. Where they disagree with the standings it matters how \
         games are weighed, or players beat each other in a circle.",
    );
    body += &paragraph(&match ratings.condorcet_winner {
        Some(winner) => {
            format!(
                "A majority of games and clocks prefers {} to each other player.",
                names[winner]
            )
        }
        None => "No player is preferred to each other by a majority of games and clocks.".into(),
    });
    if ratings.too_many {
        body += &paragraph("There are too many players for ratings by matches with each other.");
    }
    let caption = "Ratings".into();
    body += &Table { id: "ratings-table", caption, columns, rows }.html();
    let figures: Vec<String> = (elo_scales(page).into_iter())
        .map(|(rating, word, _)| forest(&names, rating, word))
        .collect();
    body += &abreast(&figures);
    Some(Section { id: "ratings", heading: "Ratings", body })
}

/// Ratings in Elo, with their headings.
fn elo_scales<'a>(page: &'a Page<'_>) -> Vec<(&'a Rating, &'static str, &'static str)> {
    let ratings = &page.evaluation.ratings;
    let bradley_terry = (
        &ratings.bradley_terry,
        "Elo",
        "Bradley-Terry: the strengths under which the wins, draws and losses of all pairs of \
         players in a match are most likely, with one draw of each player added so that all are \
         finite. All matches weigh the same. The mean is 0.",
    );
    let plackett_luce = (
        &ratings.plackett_luce,
        "Elo by places",
        "Plackett-Luce: the same for the finishing orders of matches of several players, which \
         share a place if their rewards are equal.",
    );
    let scales = [bradley_terry, plackett_luce].into_iter();
    scales.filter_map(|(rating, word, meaning)| Some((rating.as_ref()?, word, meaning))).collect()
}

fn bounds(rating: &Rating, player: usize) -> Option<[f64; 2]> {
    rating.intervals.as_ref()?.get(player).copied()
}

fn forest(names: &[&str], rating: &Rating, word: &str) -> String {
    let row = |(player, name): (usize, &&str)| {
        let (middle, bounds) = (rating.values[player], bounds(rating, player));
        let tip = format!("{name}: {middle:.0} {}", words::interval(bounds));
        Interval { name: (*name).to_owned(), middle, bounds, tip }
    };
    let title = format!("{word}, with intervals");
    let description = "Dots are ratings, lines 1.96 robust standard errors to either side. 100 Elo \
                       more mean an expected score of 64 %, 200 of 76 %, 400 of 91 %.";
    let rows = names.iter().enumerate().map(row).collect();
    Forest { title: &title, description, unit: "Elo", reference: Some(0.0), rows }.html()
}
