//! The standings in one table: the mean reward of each player with its Elo and the
//! probability that it ranks first.

use super::headings;
use super::layout::{Section, Table};
use super::strength::{RatingRow, Scale, Strength};
use super::verdict::{caution, verdict};
use super::words::{marked, optional_points, share, whole};
use crate::evaluation::Evaluation;
use crate::standings::PlayerStanding;

/// A player with what its row needs.
pub(super) struct Row<'a> {
    pub(super) standing: &'a PlayerStanding,
    /// Its Elo, if it met others.
    pub(super) elo: Option<&'a RatingRow>,
    /// The probability that it ranks first.
    pub(super) first: Option<f64>,
}

/// By place. Elo is that of finishing orders where some match had more than two players.
pub(super) fn rows<'a>(
    evaluation: &'a Evaluation,
    strength: &'a Strength<'_>,
) -> (Scale, Vec<Row<'a>>) {
    let has_places = strength.ratings.iter().any(|row| row.scale == Scale::PlackettLuce);
    let scale = if has_places { Scale::PlackettLuce } else { Scale::BradleyTerry };
    let row = |standing: &'a PlayerStanding| Row {
        standing,
        elo: (strength.ratings.iter())
            .find(|row| row.scale == scale && row.player == standing.player),
        first: (strength.ranks.iter())
            .find(|row| row.player == standing.player)
            .and_then(|row| row.probabilities.first().copied()),
    };
    (scale, evaluation.standings.players.iter().map(row).collect())
}

/// The table. It has no column of Elo if no match was scored for two players.
pub(super) fn section(evaluation: &Evaluation, strength: &Strength<'_>) -> Section {
    let standings = &evaluation.standings;
    let (scale, rows) = rows(evaluation, strength);
    let is_rated = rows.iter().any(|row| row.elo.is_some());
    let level = format!("{:.0} % interval", standings.level * 100.0);
    let mut heading = vec!["", "player", "reward", &level, "first %"];
    if is_rated {
        heading.extend([scale.heading(), "interval"]);
    }
    heading.extend(["games", "matches", "blocks"]);
    let cells = |(index, row): (usize, &Row<'_>)| {
        let reward = &row.standing.reward;
        let mut cells = vec![
            (index + 1).to_string(),
            row.standing.player.clone(),
            optional_points(reward.mean),
            marked(reward.interval, reward.n_exact),
            row.first.map_or_else(|| "-".into(), share),
        ];
        if is_rated {
            let elo = row.elo.and_then(|elo| elo.value);
            cells.push(elo.map_or_else(|| "-".into(), |elo| format!("{:.0}", elo + 0.0)));
            cells.push(whole(row.elo.and_then(|elo| elo.interval)));
        }
        cells.push(row.standing.n_games.to_string());
        cells.extend([reward.n_matches, reward.n_blocks].map(|n| n.to_string()));
        cells
    };
    let mut sentences: Vec<String> =
        verdict(standings).into_iter().chain(caution(standings)).collect();
    sentences.push("First: the probability of ranking first by the mean reward.".into());
    if is_rated {
        sentences.push(scale.meaning());
    }
    let rows = rows.iter().enumerate().map(cells).collect();
    Section {
        heading: headings::STANDINGS.into(),
        sentence: Some(sentences.join(" ")),
        tables: vec![Table::new(2, &heading, rows)],
    }
}
