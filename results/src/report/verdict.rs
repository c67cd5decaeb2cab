//! The sentence about the leader.

use super::words::{count, interval, points};
use crate::standings::{Difference, FEW_BLOCKS, PlayerStanding, Standings};

/// The leader, and whether chance may explain the lead.
pub(super) fn verdict(standings: &Standings) -> Option<String> {
    let ByMeans { sentence, tells_of_opponents } = by_means(standings)?;
    let Some(placed) = by_format(standings) else { return Some(sentence) };
    Some(match tells_of_opponents {
        true => format!("{placed} {sentence}"),
        false => {
            format!("{placed} By mean reward, against opponents of different strength: {sentence}")
        }
    })
}

/// The first player of the last stage, if its pairings depended on results.
fn by_format(standings: &Standings) -> Option<String> {
    let stage = standings.stages.last().filter(|stage| stage.pairs_by_results())?;
    let first = &stage.ranking.first()?.player;
    let so_far = match stage.unfinished.is_some() || stage.stage < stage.n_stages {
        true => " so far",
        false => "",
    };
    let name = stage.rule.format.name().replace('_', " ").replace("swiss", "swiss system");
    Some(match stage.n_stages {
        1 => format!("{first} is first in the {name}{so_far}."),
        n => format!("{first} is first in stage {} of {n}, a {name}{so_far}.", stage.stage),
    })
}

/// The leader by mean reward.
struct ByMeans {
    sentence: String,
    /// The sentence says that the players had different opponents.
    tells_of_opponents: bool,
}

fn by_means(standings: &Standings) -> Option<ByMeans> {
    let alone = |sentence| Some(ByMeans { sentence, tells_of_opponents: false });
    let leader = standings.players.first()?;
    let Some(mean) = leader.reward.mean else {
        return alone(
            "No match was scored, so no player leads; the report says how the matches ended."
                .into(),
        );
    };
    let Some((second, behind)) = standings.players[1..]
        .iter()
        .find_map(|row| row.behind.as_ref().map(|behind| (&row.player, behind)))
    else {
        let player = &leader.player;
        return alone(format!(
            "{player} has a mean reward of {}; there is no other player.",
            points(mean)
        ));
    };
    let met = |player: &str, but: &str| -> Vec<&str> {
        let rows = standings.cross_table.iter();
        let rows = rows.filter(|row| row.player == player && row.opponent != but);
        rows.map(|row| row.opponent.as_str()).collect()
    };
    if met(&leader.player, second) != met(second, &leader.player) {
        let sentence = format!(
            "{} has the highest mean reward, {}, but the means are against different opponents.",
            leader.player,
            points(mean)
        );
        return Some(ByMeans { sentence, tells_of_opponents: true });
    }
    alone(compare(leader, mean, second, behind, standings.level))
}

/// The players with faults, and what this means for their rewards.
pub(super) fn caution(standings: &Standings) -> Option<String> {
    let at_fault: Vec<String> = standings
        .players
        .iter()
        .filter(|row| row.n_faults > 0)
        .map(|row| format!("{} ({})", row.player, count(row.n_faults, "fault", "faults")))
        .collect();
    if at_fault.is_empty() {
        return None;
    }
    let at_fault = at_fault.join(", ");
    Some(format!("Some rewards of {at_fault} come from moves that replaced faulty ones."))
}

fn compare(
    leader: &PlayerStanding,
    mean: f64,
    second: &str,
    behind: &Difference,
    level: f64,
) -> String {
    let percent = level * 100.0;
    let PlayerStanding { player, n_games, .. } = leader;
    // Where the second did not play all of the leader's games, the difference
    // is not the one of their means, and may even have the other sign.
    let common = if behind.n_games == *n_games {
        String::new()
    } else {
        format!(" at the {} that both played", count(behind.n_games, "game", "games"))
    };
    let lead = if behind.mean == 0.0 {
        format!("{player} and {second} have equal means{common}")
    } else {
        let ahead = if behind.mean > 0.0 { "ahead of" } else { "behind" };
        let difference = points(behind.mean.abs());
        let mean = points(mean);
        format!("{player} leads with {mean}, {difference} points {ahead} {second}{common}")
    };
    let doubt = match behind.interval {
        None => "one block of each game is too little to compare them".to_owned(),
        Some([low, high]) if low > 0.0 || high < 0.0 => format!(
            "the {percent:.0} % interval of the difference, {}, excludes 0",
            interval(behind.interval)
        ),
        Some(_) => format!(
            "the {percent:.0} % interval of the difference, {}, contains 0, so this may be chance",
            interval(behind.interval)
        ),
    };
    let few = if behind.interval.is_some() && behind.n_blocks < FEW_BLOCKS * behind.n_games {
        let blocks = count(behind.n_blocks, "block", "blocks");
        let enough = FEW_BLOCKS * behind.n_games;
        format!(
            " Only {blocks} have one or both of these players; with fewer than {enough}, intervals \
             are wide."
        )
    } else {
        String::new()
    };
    let fixed = match behind.n_exact {
        1 if behind.interval.is_some() => {
            " The interval treats the mean of one game (at one budget) as exact, because it has a \
             single block."
                .into()
        }
        n if n > 0 && behind.interval.is_some() => format!(
            " The interval treats the means of {n} games (or budgets) as exact, because each has a \
             single block."
        ),
        _ => String::new(),
    };
    format!("{lead}; {doubt}.{few}{fixed}")
}
