//! What a comparison of two versions of a player came to, for people.

use super::Format;
use super::layout::{Document, Section, Table};
use super::markdown::markdown;
use super::text::text;
use super::words::{count, interval, optional_points, points};
use crate::record::FaultKind;
use crate::regress::{Effect, FaultCounts, Faults, Outcome, Reason, Regression, Stopped};

/// Writes it down; the text ends with a line feed. As CSV there is a row for
/// each game.
#[must_use]
pub fn render_regression(found: &Regression, format: Format) -> String {
    match format {
        Format::Text => text(&document(found)),
        Format::Md => markdown(&document(found)),
        Format::Json => {
            let json = serde_json::to_string_pretty(found);
            json.expect("a regression is representable") + "\n"
        }
        Format::Csv => csv(found),
    }
}

/// The answer in one sentence.
#[must_use]
pub fn verdict_of_regression(found: &Regression) -> String {
    let margin = points(found.question.margin);
    match (found.outcome, found.reason) {
        (Outcome::Pass, Reason::Test) => {
            format!("Head is no worse than base by {margin} points: the sequential test decided.")
        }
        (Outcome::Pass, _) => format!(
            "Head is no worse than base by {margin} points: the interval of the difference is \
             above -{margin}."
        ),
        (Outcome::Fail, Reason::Faults) => format!(
            "Head commits faults more often than base: {} (p = {}).",
            faulty_of_both(found),
            probability(found.faults.p)
        ),
        (Outcome::Fail, Reason::Interval) => {
            "Head is worse than base: the interval of the difference is below 0.".into()
        }
        (Outcome::Fail, _) => {
            format!(
                "Head is worse than base by {margin} points or so: the sequential test decided."
            )
        }
        (Outcome::Inconclusive, Reason::Internal) => "A number of the evaluation is undefined: \
             this is an error of gamemaster, and no answer about the players. Please report it \
             with the journal of the run."
            .into(),
        (Outcome::Inconclusive, Reason::BrokenBase) => format!(
            "Base commits faults in most of its matches, so that it is no measure: {}. Check that \
             it runs.",
            faulty_of_both(found)
        ),
        (Outcome::Inconclusive, Reason::Canary) => {
            "The head did not do as well as itself: blame the machine, not the player.".into()
        }
        (Outcome::Inconclusive, Reason::TooFew) => too_few(found),
        (Outcome::Inconclusive, Reason::Unscored) => format!(
            "{} scored nobody, and could turn the answer: {} incomplete. Raise `limits.step_limit` \
             of the suite, or see why these matches do not end.",
            count(found.n_unscored, "match", "matches"),
            count(found.strength.n_incomplete, "block is", "blocks are"),
        ),
        (Outcome::Inconclusive, _) => format!(
            "{} did not suffice to tell 0 from -{margin} points.",
            count(found.strength.difference.n_blocks, "block", "blocks")
        ),
    }
}

/// How many blocks there were, and what faults: few blocks may be due to them.
fn too_few(found: &Regression) -> String {
    let n_blocks = count(found.strength.difference.n_blocks, "block is", "blocks are");
    let mut sentence =
        format!("{n_blocks} too few to tell; at least {} are needed.", crate::regress::MIN_BLOCKS);
    if found.faults.head.n_faulty + found.faults.base.n_faulty > 0 {
        sentence += &format!(
            " Faults, too few to tell as well: {} (p = {}).",
            faulty_of_both(found),
            probability(found.faults.p)
        );
    }
    sentence
}

/// In how many of their matches head and base committed a fault, in words.
pub(super) fn faulty_of_both(found: &Regression) -> String {
    let of = |name: &str, counts: &FaultCounts| {
        format!("{name} in {} of {}", counts.n_faulty, count(counts.n_matches, "match", "matches"))
    };
    let Faults { base, head, .. } = &found.faults;
    format!("{}, {}", of("head", head), of("base", base))
}

/// What a user must not overlook whatever the exit code is; a sentence each.
#[must_use]
pub fn cautions_of_regression(found: &Regression) -> Vec<String> {
    let mut cautions = vec![];
    if found.outcome == Outcome::Inconclusive
        && matches!(found.reason, Reason::BrokenBase | Reason::Internal | Reason::Unscored)
    {
        cautions.push(verdict_of_regression(found));
    }
    let Faults { base, head, fails, .. } = &found.faults;
    if found.reason != Reason::BrokenBase && !fails && base.n_faulty + head.n_faulty > 0 {
        cautions.push(format!("players committed faults: {}", faulty_of_both(found)));
    }
    if found.reason != Reason::Unscored && found.n_unscored > 0 {
        cautions.push(format!("{} scored nobody", count(found.n_unscored, "match", "matches")));
    }
    cautions
}

fn document(found: &Regression) -> Document {
    let title = match found.outcome {
        Outcome::Pass => "Regression test: pass",
        Outcome::Fail => "Regression test: FAIL",
        Outcome::Inconclusive => "Regression test: inconclusive",
    };
    let sections = [strength(found), games(found), faults(found), policies(found), canary(found)];
    Document {
        title,
        facts: verdict_of_regression(found),
        sections: sections.into_iter().flatten().collect(),
        notes: notes(found),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

fn probability(p: f64) -> String {
    if p < 0.0005 { "< 0.001".into() } else { format!("{p:.3}") }
}

fn strength(found: &Regression) -> Option<Section> {
    let strength = &found.strength;
    let question = &found.question;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let effect = &strength.difference;
    let [low, high] = strength.bounds;
    let level = percent(1.0 - question.alpha);
    let rows = vec![
        row("head", question.head.clone()),
        row("base", question.base.clone()),
        row("suite", question.suite.clone()),
        row("head less base, points", optional_points(strength.estimate.map(|found| found.points))),
        row(&format!("{level} interval"), interval(strength.estimate.map(|found| found.interval))),
        row(&format!("{level} interval at any time"), interval(strength.anytime)),
        row("plain mean of blocks, points", optional_points(effect.mean)),
        row("spread of a block, points", optional_points(effect.sd)),
        row(
            "log-likelihood ratio",
            format!("{:.2} of {low:.2} (worse) to {high:.2} (equal)", strength.llr),
        ),
        row("blocks", effect.n_blocks.to_string()),
        row("matches", found.n_matches.to_string()),
        row("laps", found.n_laps.to_string()),
    ];
    let mut rows = rows;
    if let Some(at_end) = strength.at_end {
        rows.insert(7, row(&format!("{level} interval of the plain mean"), interval(Some(at_end))));
    }
    if let Some(worst) = strength.worst {
        let n = count(strength.n_incomplete, "block", "blocks");
        rows.push(row(&format!("mean if unscored matches ({n}) were lost"), points(worst)));
    }
    let mut sentence = "The first two rows allow for when the test stopped; the plain mean does \
                        not, and is too extreme on average."
        .to_owned();
    if let Some(detectable) = strength.detectable {
        sentence += &format!(
            " In so many blocks of this spread a head that is worse by {} points fails in {} of \
             cases.",
            points(detectable),
            percent(1.0 - question.alpha)
        );
    }
    let sentence = Some(sentence);
    Some(Section {
        heading: "Strength".into(),
        sentence,
        tables: vec![Table::new(2, &["", "value"], rows)],
    })
}

fn columns(effect: &Effect) -> [String; 3] {
    [effect.n_blocks.to_string(), optional_points(effect.mean), interval(effect.interval)]
}

fn games(found: &Regression) -> Option<Section> {
    let level = format!("{} interval at any time", percent(1.0 - found.question.alpha));
    let row = |game: &crate::regress::GameEffect| {
        let [blocks, mean, interval] = columns(&game.difference);
        let warning = if game.warns { "worse" } else { "" };
        vec![
            game.game.clone(),
            game.clock.clone(),
            warning.into(),
            blocks,
            mean,
            interval,
            probability(game.p),
            probability(game.p_holm),
        ]
    };
    let heading =
        ["game", "clock", "warning", "blocks", "head less base", &level, "p", "p corrected"];
    let n_games = found.games.len() as u64;
    (n_games > 0).then(|| Section {
        heading: "Games".into(),
        sentence: Some(format!(
            "A game warns and does not decide. p is the probability of so low a difference by \
             chance; corrected for {} by Holm's method.",
            count(n_games, "comparison", "comparisons")
        )),
        tables: vec![Table::new(3, &heading, found.games.iter().map(row).collect())],
    })
}

fn kinds(counts: &FaultCounts) -> String {
    let kind = |(kind, n): &(FaultKind, u64)| format!("{} {n}", kind.name());
    let kinds: Vec<String> = counts.kinds.iter().map(kind).collect();
    if kinds.is_empty() { "-".into() } else { kinds.join(", ") }
}

fn fault_row(name: &str, counts: &FaultCounts) -> Vec<String> {
    let numbers = [counts.n_matches, counts.n_faulty].map(|n| n.to_string());
    [&[name.to_owned(), kinds(counts)][..], &numbers].concat()
}

fn faults(found: &Regression) -> Option<Section> {
    let faults = &found.faults;
    let rows = vec![fault_row("base", &faults.base), fault_row("head", &faults.head)];
    let heading = ["player", "faults", "matches", "with a fault"];
    let said = if faults.fails {
        "the head is less reliable"
    } else if faults.head.n_faulty > faults.base.n_faulty {
        "too little to tell whether the head is less reliable"
    } else {
        "no sign that the head is less reliable"
    };
    Some(Section {
        heading: "Faults".into(),
        sentence: Some(format!(
            "Sequential test over {} of matches with the same chances: p = {}, {said}.",
            count(faults.n_pairs, "pair", "pairs"),
            probability(faults.p)
        )),
        tables: vec![Table::new(2, &heading, rows)],
    })
}

fn policies(found: &Regression) -> Option<Section> {
    let level = format!("{} interval at any time", percent(1.0 - found.question.alpha));
    let row = |mean: &crate::regress::PolicyMean| {
        let [blocks, difference, interval] = columns(&mean.difference);
        vec![mean.policy.replace('_', " "), blocks, difference, interval]
    };
    (!found.policies.is_empty()).then(|| Section {
        heading: "If faults were scored otherwise".into(),
        sentence: None,
        tables: vec![Table::new(
            1,
            &["faults", "blocks", "head less base", &level],
            found.policies.iter().map(row).collect(),
        )],
    })
}

fn canary(found: &Regression) -> Option<Section> {
    let canary = found.canary.as_ref()?;
    let said = if canary.blames_machine {
        "They are the same player: what differs is the machine, and no pass can be trusted."
    } else {
        "No sign that the machine disturbs."
    };
    let effect = &canary.difference;
    Some(Section {
        heading: "Canary: head against head".into(),
        sentence: Some(format!(
            "Head less head: {} points from {} (sign flips: p = {}; of faulty matches: p = {}). \
             {said}",
            optional_points(effect.mean),
            count(effect.n_blocks, "block", "blocks"),
            canary.p.map_or_else(|| "-".into(), probability),
            canary.p_faults.map_or_else(|| "-".into(), probability),
        )),
        tables: vec![Table::new(
            2,
            &["player", "faults", "matches", "with a fault"],
            vec![fault_row("head", &canary.head), fault_row("head again", &canary.canary)],
        )],
    })
}

fn notes(found: &Regression) -> Vec<String> {
    let mut notes = vec![];
    notes.push(match found.stopped {
        Stopped::Decided if found.faults.fails => {
            "No more was played, since the test of faults had decided.".into()
        }
        Stopped::Decided => "No more was played, since the test had decided.".into(),
        Stopped::Blocks => "All blocks that were allowed were played.".into(),
        Stopped::Time => "No more was played, since the time was up.".to_owned(),
    });
    let warned: Vec<&str> =
        found.games.iter().filter(|game| game.warns).map(|game| &*game.game).collect();
    if !warned.is_empty() {
        notes.push(format!("Head is worse at {}.", warned.join(", ")));
    }
    let repeated: Vec<&str> =
        found.games.iter().filter(|game| game.repeats).map(|game| &*game.game).collect();
    if !repeated.is_empty() {
        notes.push(format!(
            "Every block ended alike for base at {}: the same match over and over is no evidence. \
             An opponent that draws, such as `random`, leads into other positions.",
            repeated.join(", ")
        ));
    }
    if found.n_unscored > 0 {
        let n = count(found.n_unscored, "match", "matches");
        let blocks = count(found.strength.n_incomplete, "block does", "blocks do");
        notes.push(format!("{n} scored nobody, so that {blocks} not count."));
    }
    if found.canary.is_none() {
        notes.push(
            "The head did not play against itself: one server plays one match at a time.".into(),
        );
    }
    notes
}

fn csv(found: &Regression) -> String {
    let mut writer = csv::Writer::from_writer(vec![]);
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut write = |cells: Vec<String>| {
        writer.write_record(cells).expect("writing to memory does not fail");
    };
    let heading = ["game", "clock", "n_blocks", "mean", "low", "high", "p", "p_holm", "warns"];
    write(heading.map(str::to_owned).to_vec());
    let row = |game: &str, clock: &str, effect: &Effect| {
        vec![
            game.to_owned(),
            clock.to_owned(),
            effect.n_blocks.to_string(),
            number(effect.mean),
            number(effect.interval.map(|[low, _]| low)),
            number(effect.interval.map(|[_, high]| high)),
        ]
    };
    for game in &found.games {
        let tail = [game.p.to_string(), game.p_holm.to_string(), game.warns.to_string()];
        write([row(&game.game, &game.clock, &game.difference), tail.to_vec()].concat());
    }
    let tail = vec![String::new(); 3];
    write([row("", "", &found.strength.difference), tail].concat());
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("all cells are text")
}
