//! The sentence that says who leads.

use super::words::{count, interval, points};
use crate::standings::{Difference, FEW_BLOCKS, PlayerStanding, Standings};

/// Who leads, and whether one may be sure of it.
pub(super) fn verdict(standings: &Standings) -> Option<String> {
    let by_means = by_means(standings)?;
    let Some(placed) = by_format(standings) else { return Some(by_means) };
    Some(format!("{placed} By mean reward, against opponents of different strength: {by_means}"))
}

/// Who is first in the last stage, if its pairings followed from results.
fn by_format(standings: &Standings) -> Option<String> {
    let stage = standings.stages.last().filter(|stage| stage.pairs_by_results())?;
    let first = &stage.ranking.first()?.player;
    let so_far = match stage.unfinished.is_some() || stage.stage < stage.n_stages {
        true => " so far",
        false => "",
    };
    let name = stage.rule.format.name().replace('_', " ");
    Some(match stage.n_stages {
        1 => format!("{first} is first in the {name}{so_far}."),
        n => format!("{first} is first in stage {} of {n}, a {name}{so_far}.", stage.stage),
    })
}

fn by_means(standings: &Standings) -> Option<String> {
    let leader = standings.players.first()?;
    let Some(mean) = leader.reward.mean else {
        return Some("No match was scored, so no player leads.".into());
    };
    let Some((second, behind)) = standings.players[1..]
        .iter()
        .find_map(|row| row.behind.as_ref().map(|behind| (&row.player, behind)))
    else {
        let player = &leader.player;
        return Some(format!(
            "{player} has a mean reward of {}; there is no other player.",
            points(mean)
        ));
    };
    Some(compare(leader, mean, second, behind, standings.level))
}

/// Who was at fault, and what that means for its reward.
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
    Some(format!(
        "Faulty moves were replaced, so these players did not earn all of their rewards themselves: {}.",
        at_fault.join(", ")
    ))
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
        format!("{player} and {second} are tied{common}")
    } else {
        let ahead = if behind.mean > 0.0 { "ahead of" } else { "behind" };
        let difference = points(behind.mean.abs());
        let mean = points(mean);
        format!("{player} leads with {mean}, {difference} points {ahead} {second}{common}")
    };
    let doubt = match behind.interval {
        None => "a single block of each game cannot show whether this is chance".to_owned(),
        Some([low, high]) if low > 0.0 || high < 0.0 => format!(
            "the {percent:.0} % interval of the difference, {}, excludes 0",
            interval(behind.interval)
        ),
        Some(_) => format!(
            "the {percent:.0} % interval of the difference, {}, does not exclude 0: it may be \
             chance",
            interval(behind.interval)
        ),
    };
    let few = if behind.interval.is_some() && behind.n_blocks < FEW_BLOCKS * behind.n_games {
        let is = if behind.n_blocks == 1 { "is" } else { "are" };
        format!(" There {is} only {}.", count(behind.n_blocks, "block", "blocks"))
    } else {
        String::new()
    };
    let fixed = match behind.n_fixed {
        n if n > 0 && behind.interval.is_some() => format!(
            " It treats {} with a single block as exact.",
            count(n, "game or budget", "games or budgets"),
        ),
        _ => String::new(),
    };
    format!("{lead}; {doubt}.{few}{fixed}")
}
