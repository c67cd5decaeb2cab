//! Two runs side by side, for people and for other programs.

use super::csv::{bounds, written};
use super::headings;
use super::layout::{Document, Section};
use super::notes::exact_games;
use super::words::{count, interval, points};
use super::{Format, rendered};
use crate::comparison::{Change, ComparedRun, Comparison, PlayerChange};
use crate::standings::FEW_BLOCKS;

/// Writes a comparison down; the text ends with a line feed.
#[must_use]
pub fn render_comparison(comparison: &Comparison, format: Format) -> String {
    rendered(format, comparison, || document(comparison), || csv(comparison))
}

fn document(comparison: &Comparison) -> Document {
    let sections =
        [players(comparison), by_game(comparison), timing(comparison), faults(comparison)];
    let [first, second] = &comparison.runs;
    Document {
        title: "Two runs compared",
        facts: format!(
            "Before: {} ({}); after: {} ({}); {} in common. Differences are after minus before.",
            first.folder,
            count(first.n_matches, "match", "matches"),
            second.folder,
            count(second.n_matches, "match", "matches"),
            count(comparison.n_common_blocks, "block", "blocks"),
        ),
        sections: sections.into_iter().flatten().collect(),
        notes: notes(comparison),
    }
}

/// Points with a sign, but for zero.
fn signed(value: f64) -> String {
    let text = points(value);
    if text.starts_with('-') || text == "0.0" { text } else { format!("+{text}") }
}

fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn p_equals(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

fn columns(change: &Change) -> [String; 6] {
    [
        points(change.means[0]),
        points(change.means[1]),
        signed(change.difference),
        interval(change.interval),
        change.n_blocks.to_string(),
        change.n_equal.to_string(),
    ]
}

fn players(comparison: &Comparison) -> Option<Section> {
    let any_changed = comparison.players.iter().any(|player| player.changed);
    let row = |player: &PlayerChange| {
        let star = if player.changed { "*" } else { "" };
        let mut row = vec![format!("{}{star}", player.player)];
        row.extend(columns(&player.reward));
        row.extend([probability(player.p_value), probability(player.p_holm)]);
        row
    };
    let percent = comparison.level * 100.0;
    let level = format!("{percent:.0} % interval");
    let heading =
        ["player", "before", "after", "difference", &level, "blocks", "equal", "p", "corrected p"];
    let star =
        if any_changed { " * the player's configuration is not the same in AFTER." } else { "" };
    let rows = comparison.players.iter().map(row).collect();
    let sentence = verdict(comparison) + " Equal: blocks with the same mean reward." + star;
    Some(Section::with_rows("Players", 1, &heading, rows)?.saying(sentence))
}

/// What the comparison says, in a sentence or two.
fn verdict(comparison: &Comparison) -> String {
    let players = &comparison.players;
    let sure = |player: &&PlayerChange| player.p_holm <= 1.0 - comparison.level;
    let told: Vec<String> = players.iter().filter(sure).map(changed).collect();
    let most = |a: &&PlayerChange, b: &&PlayerChange| {
        a.reward.difference.abs().total_cmp(&b.reward.difference.abs())
    };
    let mut words = if players.iter().all(|player| player.reward.n_equal == player.reward.n_blocks)
    {
        "All common blocks gave all players the same rewards in both runs.".to_owned()
    } else if told.is_empty() {
        let Some(largest) = players.iter().max_by(most) else { return String::new() };
        if points(largest.reward.difference.abs()) == "0.0" {
            "No player's mean reward changed, although rewards of single blocks did.".to_owned()
        } else {
            let largest = with_doubt(largest);
            format!(
                "No difference is significant (by the corrected p); the largest is that of {largest}."
            )
        }
    } else {
        let others = match (told.len(), players.len()) {
            (n, all) if n == all => "",
            _ => "; the other differences are not significant",
        };
        format!("{}{others}.", told.join(", "))
    };
    if players.iter().any(|player| player.reward.n_blocks < FEW_BLOCKS * player.n_games) {
        words += &format!(
            " Some players have fewer than {FEW_BLOCKS} blocks of a game, so intervals are wide."
        );
    }
    let alpha = 1.0 - comparison.level;
    let fault = |player: &&PlayerChange| player.faults_p_value.is_some_and(|p| p <= alpha);
    for player in players.iter().filter(fault) {
        let [first, second] = player.faulty_matches;
        let [n_first, n_second] = player.matches;
        words += &format!(
            " {} was at fault in {second} of {} in the second run, and in {first} of {n_first} in the \
             first ({}).",
            player.player,
            count(n_second, "match", "matches"),
            p_equals(player.faults_p_value.unwrap_or(1.0)),
        );
    }
    words
}

fn changed(player: &PlayerChange) -> String {
    let did = if player.reward.difference > 0.0 { "gained" } else { "lost" };
    let by = points(player.reward.difference.abs());
    let doubt = interval(player.reward.interval);
    format!("{} {did} {by} points ({doubt}, {})", player.player, p_equals(player.p_holm))
}

fn with_doubt(player: &PlayerChange) -> String {
    let by = signed(player.reward.difference);
    match player.reward.interval {
        None => format!("{}, {by} points", player.player),
        doubt => format!("{}, {by} points {}", player.player, interval(doubt)),
    }
}

fn by_game(comparison: &Comparison) -> Option<Section> {
    let rows: Vec<Vec<String>> = comparison
        .by_game
        .iter()
        .map(|row| {
            let mut cells = vec![row.game.clone(), row.player.clone()];
            cells.extend(columns(&row.reward));
            cells
        })
        .collect();
    let heading =
        ["game", "player", "before", "after", "difference", "interval", "blocks", "equal"];
    Section::with_rows(headings::BY_GAME, 2, &heading, rows)
}

fn timing(comparison: &Comparison) -> Option<Section> {
    let ms = |value: f64| format!("{value:.1}");
    let rows = comparison.players.iter().filter_map(|player| {
        let (median, high) = player.think_ms_p50.zip(player.think_ms_p95)?;
        let times = [median[0], median[1], high[0], high[1]].map(ms);
        Some([vec![player.player.clone()], times.to_vec()].concat())
    });
    let heading = ["player", "p50 ms before", "p50 ms after", "p95 ms before", "p95 ms after"];
    Section::with_rows(headings::THINKING, 1, &heading, rows.collect())
}

fn faults(comparison: &Comparison) -> Option<Section> {
    let rows = comparison.players.iter().filter_map(|player| {
        let p_value = probability(player.faults_p_value?);
        let of = |at: usize| format!("{} of {}", player.faulty_matches[at], player.matches[at]);
        Some(vec![player.player.clone(), of(0), of(1), p_value])
    });
    Section::with_rows(
        "Matches with a fault",
        1,
        &["player", "before", "after", "p"],
        rows.collect(),
    )
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let Comparison { n_common_blocks, n_same_seed, n_incomplete, .. } = *comparison;
    if n_same_seed < n_common_blocks {
        let which = if n_same_seed == 0 {
            "All common blocks were".to_owned()
        } else {
            format!("{} of {n_common_blocks} common blocks were", n_common_blocks - n_same_seed)
        };
        notes.push(format!(
            "{which} played with other random seeds in the second run, so chance differs too, and \
             the intervals are wider."
        ));
    }
    if n_incomplete > 0 {
        notes.push(format!(
            "{} of both runs left out: matches are missing or unscored, or players had other \
             seats.",
            count(n_incomplete, "block", "blocks")
        ));
    }
    if !comparison.exact_games.is_empty() {
        let has_intervals = comparison.players.iter().any(|row| row.reward.interval.is_some());
        let so = match has_intervals {
            true => "Intervals ignore the chance in these games, so they are too narrow",
            false => "One block gives no interval",
        };
        notes.push(exact_games(&comparison.exact_games, so));
    }
    if !comparison.changed_games.is_empty() {
        notes.push(format!(
            "Left out because their rulesheets differ: {}.",
            comparison.changed_games.join(", ")
        ));
    }
    for changed in &comparison.changed_budgets {
        let [first, second] = &changed.budgets;
        notes.push(format!("{} was played with other budgets: {first}; {second}.", changed.game));
    }
    notes.extend(comparison.runs.iter().filter_map(only));
    notes
}

fn only(run: &ComparedRun) -> Option<String> {
    let named = |names: &[String], one: &str, many: &str| match names {
        [] => None,
        [name] => Some(format!("{one} {name}")),
        names => Some(format!("{many} {}", names.join(", "))),
    };
    let blocks = (run.n_own_blocks > 0).then(|| count(run.n_own_blocks, "block", "blocks"));
    let parts = [
        named(&run.own_players, "player", "players"),
        named(&run.own_games, "game", "games"),
        blocks,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Only in {}: {}.", run.folder, parts.join("; ")))
}

/// A row for each player, then for each player at each game.
fn csv(comparison: &Comparison) -> String {
    let change = |scope: &str, game: &str, player: &str, change: &Change| {
        let names = [scope, game, player].map(str::to_owned);
        let [before, after] = change.means.map(|mean| mean.to_string());
        let numbers = [before, after, change.difference.to_string()];
        let counts = [change.n_blocks, change.n_equal].map(|n| n.to_string());
        [&names[..], &numbers, &bounds(change.interval), &counts].concat()
    };
    let players = comparison.players.iter().map(|player| {
        let numbers = [player.p_value.to_string(), player.p_holm.to_string()];
        let counts = [player.matches, player.faulty_matches].concat();
        let counts = counts.iter().map(ToString::to_string);
        let row = change("overall", "", &player.player, &player.reward);
        row.into_iter().chain(numbers).chain(counts).collect()
    });
    let games = comparison.by_game.iter().map(|row| {
        [change("game", &row.game, &row.player, &row.reward), vec![String::new(); 6]].concat()
    });
    let names = "scope,game,player,before,after,difference,low,high,n_blocks,n_equal";
    let counts = "before_matches,after_matches,before_faulty_matches,after_faulty_matches";
    written(&format!("{names},p_value,p_holm,{counts}"), players.chain(games))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::comparison::{ComparisonError, compare};
    use crate::record::{FaultKind, MatchRecord};
    use crate::sample;
    use crate::stats::bootstrap::Bootstrap;

    /// Twelve blocks of two matches at each of two games; what `alpha` gets in
    /// the matches of a block in the first role and the second.
    fn records(alpha: impl Fn(&str, u64) -> [u8; 2]) -> Vec<MatchRecord> {
        let mut records = Vec::new();
        for game in ["x", "y"] {
            for lap in 0..12_u64 {
                let rewards = alpha(game, lap);
                for rotation in 0..2_u64 {
                    let reward = rewards[rotation as usize];
                    let job = records.len() as u64;
                    let (players, rewards) = match rotation {
                        0 => (["alpha", "beta"], [reward, 100 - reward]),
                        _ => (["beta", "alpha"], [100 - reward, reward]),
                    };
                    let mut record = sample::record(job, game, players, rewards);
                    (record.block, record.lap) = (job / 2, lap as u32);
                    record.rotation = rotation as u32;
                    records.push(record);
                }
            }
        }
        records
    }

    fn comparison(
        first: &[MatchRecord],
        second: &[MatchRecord],
    ) -> Result<Comparison, ComparisonError> {
        let runs = [first, second].map(|records| sample::run(true, records));
        let [first, second] = runs.each_ref().map(|run| run.path());
        let mut comparison = compare([first, second], &Bootstrap::default())?;
        comparison.runs[0].folder = "before".into();
        comparison.runs[1].folder = "after".into();
        Ok(comparison)
    }

    fn alpha(comparison: &Comparison) -> &PlayerChange {
        comparison.players.iter().find(|player| player.player == "alpha").unwrap()
    }

    #[test]
    fn a_stronger_player_is_told() {
        // By hand: at x 10 of 12 blocks gain 100 in one match of two, at y none does.
        let first = records(|_, _| [100, 0]);
        let second =
            records(|game, lap| if game == "x" && lap < 10 { [100, 100] } else { [100, 0] });
        let found = comparison(&first, &second).unwrap();
        let alpha = alpha(&found);
        assert!((alpha.reward.difference - 50.0 * 10.0 / 12.0 / 2.0).abs() < 1e-9);
        assert!((alpha.reward.means[0] - 50.0).abs() < 1e-9);
        assert_eq!((alpha.reward.n_blocks, alpha.reward.n_equal, alpha.n_games), (24, 14, 2));
        // All ten that differ have the same sign: 2 of 2^10 assignments are as far from 0.
        assert!((alpha.p_value - 2.0 / 1024.0).abs() < 0.002, "{}", alpha.p_value);
        let text = render_comparison(&found, Format::Text);
        assert!(text.contains("alpha gained 20.8 points"), "{text}");
        assert!(text.contains("beta lost 20.8 points"), "{text}");
        insta::assert_snapshot!("compared.txt", text);
        insta::assert_snapshot!("compared.csv", render_comparison(&found, Format::Csv));
    }

    /// Its mean is treated as exact, and a note says so.
    #[test]
    fn a_game_with_one_common_block_takes_no_interval_away() {
        let of_few = |mut records: Vec<MatchRecord>| {
            records.retain(|record| record.game == "x" || record.lap == 0);
            records
        };
        let first = of_few(records(|_, _| [100, 0]));
        let gains = |game: &str, lap: u64| game == "x" && lap < 10;
        let second =
            of_few(records(|game, lap| if gains(game, lap) { [100, 100] } else { [100, 0] }));
        let found = comparison(&first, &second).unwrap();
        assert_eq!(found.exact_games, ["y"]);
        let [low, high] = alpha(&found).reward.interval.unwrap();
        assert!(low < alpha(&found).reward.difference && high <= 50.0, "{low} {high}");
        let text = render_comparison(&found, Format::Text);
        assert!(text.contains("treated as exact"), "{text}");
    }

    #[test]
    fn equal_runs_are_told_to_be_equal() {
        let same = records(|_, lap| [if lap % 2 == 0 { 100 } else { 30 }, 0]);
        let found = comparison(&same, &same).unwrap();
        let text = render_comparison(&found, Format::Text);
        assert!(text.contains("All common blocks gave all players the same rewards"), "{text}");
        assert_eq!((alpha(&found).p_value, alpha(&found).reward.difference), (1.0, 0.0));
        assert!(!text.contains("Notes"), "{text}");
    }

    #[test]
    fn chance_is_told_from_change() {
        let first = records(|_, _| [100, 0]);
        let check = |second: &[MatchRecord], expected: &str| {
            let text = render_comparison(&comparison(&first, second).unwrap(), Format::Md);
            assert!(text.contains(expected), "{text}");
        };
        // One block of 24 gains 50: the bootstrap may miss it, the test says p = 1.
        let one = records(|game, lap| if game == "x" && lap == 3 { [100, 100] } else { [100, 0] });
        check(&one, "No difference is significant (by the corrected p); the largest is that of ");
        // One gains what another loses.
        let both = records(|_, lap| match lap {
            3 => [100, 100],
            4 => [0, 0],
            _ => [100, 0],
        });
        check(&both, "No player's mean reward changed, although rewards of single blocks did.");
    }

    #[test]
    fn what_is_in_one_run_only_is_told_and_left_out() {
        let first = records(|_, _| [100, 0]);
        let mut second = records(|_, _| [100, 50]);
        // The second run has no y but z, another seed, and a block that is not whole.
        second.retain(|record| record.game == "x" && record.job != 3);
        for record in &mut second {
            record.seed = "another".into();
        }
        let mut extra = second[0].clone();
        (extra.game, extra.job, extra.block) = ("z".into(), 100, 100);
        extra.job_id = "extra".into();
        second.push(extra);
        let found = comparison(&first, &second).unwrap();
        assert_eq!((found.n_common_blocks, found.n_same_seed, found.n_incomplete), (11, 0, 1));
        assert_eq!(found.runs[0].own_games, ["y"]);
        assert_eq!(found.runs[1].own_games, ["z"]);
        assert_eq!((found.runs[0].n_own_blocks, found.runs[1].n_own_blocks), (12, 1));
        assert!((alpha(&found).reward.difference - 25.0).abs() < 1e-9);
        let text = render_comparison(&found, Format::Md);
        assert!(text.contains("Only in before: game y; 12 blocks."), "{text}");
        assert!(text.contains("All common blocks were played with other random seeds"), "{text}");
    }

    #[test]
    fn other_clocks_and_faults_are_told() {
        let first = records(|_, _| [50, 50]);
        let mut second = first.clone();
        for record in &mut second {
            record.play_clock_ms *= 2;
            let seat = record
                .seats
                .iter()
                .position(|seat| seat.player.as_deref() == Some("alpha"))
                .unwrap();
            if record.game == "x" {
                record.steps[0][seat].fault = Some(FaultKind::LateMove);
            }
            record.seats[seat].player_hash = "new".into();
        }
        let found = comparison(&first, &second).unwrap();
        assert_eq!(found.changed_budgets.len(), 2);
        let alpha = alpha(&found);
        assert_eq!((alpha.matches, alpha.faulty_matches), ([48, 48], [0, 24]));
        assert!(alpha.changed && alpha.faults_p_value.unwrap() < 1e-6);
        let text = render_comparison(&found, Format::Md);
        assert!(
            text.contains(
                "alpha was at fault in 24 of 48 matches in the second run, and in 0 of 48 in"
            ),
            "{text}"
        );
        assert!(text.contains(r"alpha\* "), "{text}");
        let changed: Vec<MatchRecord> = first
            .iter()
            .cloned()
            .map(|record| MatchRecord { game_hash: "other".into(), ..record })
            .collect();
        let told = comparison(&first, &changed).unwrap_err().to_string();
        assert!(told.ends_with("the rulesheets of the games they share differ"), "{told}");
    }

    #[test]
    fn runs_with_nothing_in_common_are_refused() {
        let first = records(|_, _| [50, 50]);
        let check = |second: &[MatchRecord], expected: &str| {
            let told = comparison(&first, second).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        };
        check(&[], "holds no match yet");
        let mut other = first.clone();
        other.iter_mut().for_each(|record| record.game += "_other");
        check(&other, "they share no game");
        let mut other = first.clone();
        other
            .iter_mut()
            .flat_map(|record| &mut record.seats)
            .filter_map(|seat| seat.player.as_mut())
            .for_each(|player| *player += "2");
        check(&other, "they share no player");
        check(&first[..1], "incomplete in one of them (1)");
        let missing = compare([Path::new("nowhere"), Path::new("nowhere")], &Bootstrap::default());
        assert!(missing.unwrap_err().to_string().contains("nowhere"));
    }

    #[test]
    fn no_comparison_has_a_number_that_is_none() {
        let first = records(|_, _| [50, 50]);
        for n in [2, 4, 48] {
            let found = comparison(&first, &first[..n]).unwrap();
            for format in [Format::Text, Format::Md, Format::Csv, Format::Json] {
                let text = render_comparison(&found, format);
                assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }
}
