//! Sections of a report on demand: strength beyond the standings.

use super::headings;
use super::layout::{Section, Table};
use super::placings;
use super::strength::{RankRow, RatingRow, Scale, Strength, WorthRow};
use super::sweep;
use super::words::{interval, marked, optional_points, points, share, whole};
use crate::calibration::CalibrationBin;
use crate::evaluation::Evaluation;
use crate::standings::Pair;
use crate::sweep::Sweep;

/// Ranks abreast in a table of text.
const RANKS_ABREAST: usize = 12;
/// Maximum number of players of which every pair has a row.
const MOST_IN_PAIRS: usize = 6;

/// A part of a report that is printed when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The default: standings, by game, role and budget, against each other, times and
    /// faults.
    Summary,
    /// The mean reward of each player with its Elo and the probability of ranking first; not
    /// beside the summary, which has standings of its own.
    Standings,
    /// The probability of each rank.
    Ranks,
    /// Ratings on other scales than the mean reward.
    Ratings,
    /// The difference of each pair of players.
    Pairs,
    /// Effects of seats and of players.
    Seats,
    /// Strength by budget.
    Time,
    /// What players expected of their moves, and what they got.
    Calibration,
    /// The places in the stages of the tournament, if pairings depended on results.
    Stages,
    /// The faults of each player.
    Faults,
    /// The workers that played the run, if others than one process did.
    Workers,
}

impl Part {
    /// All of them; the sections of a report have an order of their own.
    pub const ALL: [Self; 11] = [
        Self::Summary,
        Self::Standings,
        Self::Ranks,
        Self::Ratings,
        Self::Pairs,
        Self::Seats,
        Self::Time,
        Self::Calibration,
        Self::Stages,
        Self::Faults,
        Self::Workers,
    ];
}

/// The sections of all `parts` but the summary and the workers.
pub(super) fn sections(evaluation: &Evaluation, parts: &[Part]) -> Vec<Section> {
    let strength = Strength::of(evaluation);
    let n_resamples = evaluation.standings.n_resamples;
    let level = format!("{:.0} % interval", evaluation.standings.level * 100.0);
    let mut sections = vec![];
    for part in Part::ALL.iter().filter(|part| parts.contains(part)) {
        match part {
            // They take less than an evaluation.
            Part::Summary | Part::Stages | Part::Faults | Part::Workers => {}
            Part::Standings => sections.push(placings::section(evaluation, &strength)),
            Part::Ranks => sections.push(ranks(&strength.ranks, n_resamples)),
            Part::Ratings => sections.push(ratings(&strength, evaluation)),
            Part::Pairs => {
                let n_players = evaluation.standings.players.len();
                sections.push(pairs(strength.pairs, n_players, &level));
            }
            Part::Seats => sections.extend(seats(&strength)),
            Part::Time => {
                let found = sweep::sections(&Sweep::of(evaluation));
                // The whole report leaves out what does not concern it.
                if found.is_empty() && !parts.contains(&Part::Summary) {
                    let why = "No game was scored under more than one budget.";
                    sections.push(missing(headings::AT_EACH_BUDGET, why));
                }
                sections.extend(found);
            }
            Part::Calibration => sections.push(calibration(&evaluation.calibration)),
        }
    }
    sections
}

pub(super) fn missing(heading: &str, why: &str) -> Section {
    Section { heading: heading.into(), sentence: Some(why.into()), tables: vec![] }
}

/// What the calibration shows, in a sentence.
pub(super) const CALIBRATION_MEANING: &str = "Moves of players that had a choice, grouped by the value that the player gave them, and the \
     mean reward of their matches. A player is well calibrated if it gets what it expects. Intervals are over blocks, \
     since the moves of a match share its reward.";

/// What players expected of their moves, and what they got.
pub(super) fn calibration(bins: &[CalibrationBin]) -> Section {
    let heading = headings::CALIBRATION;
    if bins.is_empty() {
        return missing(heading, "No player gave its moves a value.");
    }
    let columns = ["player", "value", "expected", "reward", "95 % interval", "decisions"];
    let row = |bin: &CalibrationBin| {
        vec![
            bin.player.clone(),
            format!("{} to {}", bin.low, bin.high),
            points(bin.expected),
            points(bin.reward),
            interval(bin.interval),
            bin.decisions.to_string(),
        ]
    };
    Section {
        heading: heading.into(),
        sentence: Some(CALIBRATION_MEANING.into()),
        tables: vec![Table::new(2, &columns, bins.iter().map(row).collect())],
    }
}

fn ranks(rows: &[RankRow], n_resamples: usize) -> Section {
    let heading = headings::RANKS;
    if rows.is_empty() {
        return missing(heading, "Not given: there is only a single block of each game.");
    }
    let ranks: Vec<usize> = (0..rows.len()).collect();
    let table = |ranks: &[usize]| {
        let names = ranks.iter().map(|rank| (rank + 1).to_string());
        let heading = ["player".to_owned(), "mean".to_owned()].into_iter().chain(names).collect();
        let row = |row: &RankRow| {
            let mut cells = vec![row.player.clone(), format!("{:.2}", row.mean_rank)];
            // Nothing where a rank is improbable, so that the eye finds the others.
            let cell = |p: f64| if p < 5e-4 { String::new() } else { share(p) };
            cells.extend(ranks.iter().map(|&rank| cell(row.probabilities[rank])));
            cells
        };
        Table { n_names: 1, heading, rows: rows.iter().map(row).collect() }
    };
    Section {
        heading: heading.into(),
        sentence: Some(format!(
            "Mean rank, and for each rank the probability (in percent) that the player truly has it, \
             from {n_resamples} resamples of whole blocks. Players that tie in a resample share the ranks. Cells \
             are empty below 0.05 %, and `<0.1` up to 0.1 %."
        )),
        tables: ranks.chunks(RANKS_ABREAST).map(table).collect(),
    }
}

fn ratings(strength: &Strength<'_>, evaluation: &Evaluation) -> Section {
    let heading = headings::RATINGS;
    let mut scales: Vec<Scale> = vec![];
    for row in &strength.ratings {
        if !scales.contains(&row.scale) {
            scales.push(row.scale);
        }
    }
    if scales.is_empty() || evaluation.standings.players.len() < 2 {
        return missing(heading, "There are no ratings: no match was scored for two players.");
    }
    let of = |scale: Scale| -> Vec<&RatingRow> {
        strength.ratings.iter().filter(|row| row.scale == scale).collect()
    };
    let mut values = Columns::of(evaluation);
    let mut firsts = Columns::of(evaluation);
    for &scale in &scales {
        let rows = of(scale);
        values.push(scale.heading(), rows.iter().map(|row| value(row)).collect());
        if rows.iter().any(|row| row.interval.is_some()) {
            values.push("interval", rows.iter().map(|row| whole(row.interval)).collect());
        }
        if rows.iter().any(|row| row.first.is_some()) {
            let shares = rows.iter().map(|row| row.first.map_or("-".into(), share));
            firsts.push(scale.heading(), shares.collect());
        }
    }
    let mut sentence: Vec<String> = scales.iter().map(|scale| scale.meaning()).collect();
    let mut tables = vec![values.table()];
    if firsts.n() > 0 {
        tables.push(firsts.table());
        sentence.push(format!(
            "Second table: the probability in percent that a player ranks first by that rating, \
             from at most {} resamples of whole blocks.",
            evaluation.ratings.n_resamples
        ));
    }
    sentence.push(match &strength.condorcet_winner {
        Some(winner) => {
            format!("A majority of games and budgets prefers {winner} to every other player.")
        }
        None => "No player is preferred to every other player by a majority of games and budgets."
            .into(),
    });
    if evaluation.ratings.too_many {
        sentence
            .push("There are too many players for ratings from matches against each other.".into());
    }
    Section { heading: heading.into(), sentence: Some(sentence.join(" ")), tables }
}

/// A table with the players as rows that grows by columns.
struct Columns {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    fn of(evaluation: &Evaluation) -> Self {
        let rows = evaluation.standings.players.iter().map(|row| vec![row.player.clone()]);
        Self { heading: vec!["player".into()], rows: rows.collect() }
    }

    fn push(&mut self, heading: &str, cells: Vec<String>) {
        self.heading.push(heading.into());
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }

    fn n(&self) -> usize {
        self.heading.len() - 1
    }

    fn table(self) -> Table {
        Table { n_names: 1, heading: self.heading, rows: self.rows }
    }
}

fn value(row: &RatingRow) -> String {
    let Some(value) = row.value else { return "-".into() };
    match row.scale {
        scale if scale.is_share() => share(value),
        Scale::BradleyTerry | Scale::PlackettLuce | Scale::RankedPairs => {
            format!("{:.0}", value + 0.0)
        }
        _ => points(value),
    }
}

fn pairs(all: &[Pair], n_players: usize, level: &str) -> Section {
    let heading = headings::PAIRS;
    if all.is_empty() {
        return missing(heading, "No two players were scored at the same game.");
    }
    let mut sentence = String::from(
        "Ahead: the player's mean minus the opponent's, over the games that both played, with an \
         interval from the standard deviation between blocks. LOS, the likelihood of superiority: \
         the probability in percent that the player is stronger. Blocks: those in which at least one \
         of the two played. The interval allows for results \
         not seen yet; LOS and rank probabilities do not. If they disagree, trust the interval. \
         Rows are not corrected for the number of pairs: among many pairs, some look clear by \
         chance.",
    );
    let mut shown: Vec<&Pair> = all.iter().collect();
    if n_players > MOST_IN_PAIRS {
        let mut seen: Vec<&str> = vec![];
        shown.retain(|pair| {
            let is_first = !seen.contains(&pair.player.as_str());
            seen.push(&pair.player);
            is_first
        });
        sentence += " Each player is compared with the next one only; CSV (`--table pairs`) and JSON \
                     have all pairs of up to 32 players.";
    }
    let row = |pair: &&Pair| {
        vec![
            pair.player.clone(),
            pair.opponent.clone(),
            points(pair.difference.mean),
            marked(pair.difference.interval, pair.difference.n_exact),
            pair.superiority.map_or("-".into(), share),
            pair.difference.n_games.to_string(),
            pair.difference.n_blocks.to_string(),
        ]
    };
    let columns = ["player", "opponent", "ahead", level, "LOS", "games", "blocks"];
    let tables = vec![Table::new(2, &columns, shown.iter().map(row).collect())];
    Section { heading: heading.into(), sentence: Some(sentence), tables }
}

fn seats(strength: &Strength<'_>) -> Vec<Section> {
    if let Some(why) = &strength.no_effects {
        let sentence = format!("Effects of seats and players are not given: {why}.");
        return vec![missing(headings::SEATS, &sentence)];
    }
    let worth = |worth: &WorthRow| {
        let error = optional_points(worth.standard_error);
        [points(worth.points), interval(worth.interval), error]
    };
    let seats = strength.seats.iter().map(|seat| {
        let names = [&seat.game, &seat.budget, &seat.role].map(String::clone);
        [&names[..], &worth(&seat.worth)].concat()
    });
    let players = strength.effects.iter().map(|row| {
        let first = row.first.map_or("-".into(), share);
        [&[row.player.clone()][..], &worth(&row.worth), &[first]].concat()
    });
    let columns = ["game", "budget", "seat", "points", "95 % interval", "std. error"];
    let of_players = ["player", "points", "95 % interval", "std. error", "first"];
    vec![
        Section {
            heading: headings::SEATS.into(),
            sentence: Some(
                "The reward of an average player in each seat, by least squares. Intervals are \
                 Student's t from standard errors clustered by block, cut to the possible range."
                    .into(),
            ),
            tables: vec![Table::new(3, &columns, seats.collect())],
        },
        Section {
            heading: headings::PLAYERS.into(),
            sentence: Some(
                "The points that a player adds to the effects of its seats; over all players they \
                 sum to 0. First: the probability in percent that it adds most."
                    .into(),
            ),
            tables: vec![Table::new(1, &of_players, players.collect())],
        },
    ]
}
