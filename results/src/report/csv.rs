//! The means of a report as a table for programs.

use crate::standings::{Estimate, Standings};

/// A row for each mean: overall, then by game, role and clock.
pub(super) fn csv(standings: &Standings) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    let mut row =
        |scope: &str, game: &str, role: &str, clock: &str, player, estimate: &Estimate| {
            let number =
                |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let [low, high] = match estimate.interval {
                Some([low, high]) => [Some(low), Some(high)],
                None => [None, None],
            };
            let fields: [&str; 10] = [
                scope,
                game,
                role,
                clock,
                player,
                &number(estimate.mean),
                &number(low),
                &number(high),
                &estimate.n_matches.to_string(),
                &estimate.n_blocks.to_string(),
            ];
            writer.write_record(fields).expect("memory takes all rows of ten fields");
        };
    for standing in &standings.players {
        row("overall", "", "", "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_game {
        row("game", &standing.game, "", "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_role {
        row("role", &standing.game, &standing.role, "", &standing.player, &standing.reward);
    }
    for standing in &standings.by_clock {
        row("clock", "", "", &standing.clock, &standing.player, &standing.reward);
    }
    let rows = writer.into_inner().expect("memory takes all rows");
    let heading = "scope,game,role,clock,player,reward,low,high,n_matches,n_blocks\n";
    heading.to_owned() + &String::from_utf8(rows).expect("all fields are text")
}
