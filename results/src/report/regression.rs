//! The result of a comparison of two versions of a player, for people.

use super::csv::{bounds, number, written};
use super::headings;
use super::layout::{Document, Section};
use super::words::{count, interval, optional_points, points};
use super::{Format, rendered};
use crate::record::FaultKind;
use crate::regress::{Effect, FaultCounts, Faults, Outcome, Reason, Regression, Stopped};

/// Writes it down; the text ends with a line feed. As CSV there is a row for
/// each game.
#[must_use]
pub fn render_regression(found: &Regression, format: Format) -> String {
    rendered(format, found, || document(found), || csv(found))
}

/// The result in one sentence.
#[must_use]
pub fn verdict_of_regression(found: &Regression) -> String {
    let margin = points(found.question.margin);
    let level = percent(1.0 - found.question.alpha);
    match (found.outcome, found.reason) {
        (Outcome::Pass, Reason::Test) => {
            format!("Head is not weaker than base by {margin} points (sequential test).")
        }
        (Outcome::Pass, _) => format!(
            "Head is not weaker than base by {margin} points: the {level} interval of the plain mean \
             is above -{margin}."
        ),
        (Outcome::Fail, Reason::Faults) => format!(
            "Head commits faults more often than base: {} (p = {}).",
            faulty_of_both(found),
            probability(found.faults.p)
        ),
        (Outcome::Fail, Reason::Interval) => {
            format!("Head is weaker than base: the {level} interval of the plain mean is below 0.")
        }
        (Outcome::Fail, _) => {
            let points = optional_points(found.strength.estimate.map(|found| found.points));
            format!(
                "Head is weaker than base (sequential test, margin {margin}); estimate: {points} points."
            )
        }
        (Outcome::Inconclusive, Reason::Internal) => "A statistic is undefined: this is a bug of \
             gamemaster, and no result about the players. Please report it with the journal of \
             the run."
            .into(),
        (Outcome::Inconclusive, Reason::BrokenBase) => format!(
            "Base commits faults in most of its matches, so head cannot be compared with it: {}. \
             Check that it runs.",
            faulty_of_both(found)
        ),
        (Outcome::Inconclusive, Reason::Canary) => {
            "The head and its copy differ, so the machine disturbs the matches.".into()
        }
        (Outcome::Inconclusive, Reason::TooFew) => too_few(found),
        (Outcome::Inconclusive, Reason::Unscored) => format!(
            "{} unscored and could change the result: {} incomplete. Raise `limits.step_limit` of \
             the suite, or check why these matches do not end.",
            count(found.n_unscored, "match is", "matches are"),
            count(found.strength.n_incomplete, "block is", "blocks are"),
        ),
        (Outcome::Inconclusive, _) => format!(
            "{} too few to tell whether head is equal to base or {margin} points weaker.",
            count(found.strength.difference.n_blocks, "block is", "blocks are")
        ),
    }
}

/// How many blocks there were, and what faults: few blocks may be due to them.
fn too_few(found: &Regression) -> String {
    let n_blocks = count(found.strength.difference.n_blocks, "block is", "blocks are");
    let mut sentence =
        format!("{n_blocks} too few; at least {} are needed.", crate::regress::MIN_BLOCKS);
    if found.faults.head.n_faulty + found.faults.base.n_faulty > 0 {
        sentence += &format!(
            " Faults, also too few for a result: {} (p = {}).",
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

/// Warnings that hold for every exit code, one sentence each.
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
        cautions.push(format!("{} unscored", count(found.n_unscored, "match is", "matches are")));
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
        row(
            "estimate: head minus base, points",
            optional_points(strength.estimate.map(|found| found.points)),
        ),
        row(
            &format!("estimate: {level} interval"),
            interval(strength.estimate.map(|found| found.interval)),
        ),
        row(&format!("{level} interval, valid at any time"), interval(strength.anytime)),
        row("plain mean of blocks, points", optional_points(effect.mean)),
        row("standard deviation between blocks, points", optional_points(effect.sd)),
        row(
            "log-likelihood ratio",
            format!("{:.2} (weaker at {low:.2}, equal at {high:.2})", strength.llr),
        ),
        row("compared blocks (base and head)", effect.n_blocks.to_string()),
        row("matches", found.n_matches.to_string()),
        row("complete cycles", found.n_laps.to_string()),
    ];
    let mut rows = rows;
    if let Some(at_end) = strength.at_end {
        rows.insert(7, row(&format!("{level} interval of the plain mean"), interval(Some(at_end))));
    }
    if let Some(worst) = strength.worst {
        let n = count(strength.n_incomplete, "block", "blocks");
        rows.push(row(&format!("mean if unscored matches ({n}) were lost by head"), points(worst)));
    }
    let mut sentence =
        "The log-likelihood ratio decides (sequential test); if it reaches neither value, the \
         interval of the plain mean does. The interval that is valid at any time holds for any \
         distribution, so it is wider; it does not decide. The estimate and its interval are \
         corrected for early stopping of the test; the plain mean is not, and is too extreme on \
         average."
            .to_owned();
    if let Some(detectable) = strength.detectable {
        sentence += &format!(
            " With this number of blocks and this standard deviation, a head that is weaker by {} \
             points fails in {} of cases.",
            points(detectable),
            percent(1.0 - question.alpha)
        );
    }
    Some(Section::with_rows("Strength", 2, &["", "value"], rows)?.saying(sentence))
}

fn columns(effect: &Effect) -> [String; 3] {
    [effect.n_blocks.to_string(), optional_points(effect.mean), interval(effect.interval)]
}

fn games(found: &Regression) -> Option<Section> {
    let level = format!("{} interval, valid at any time", percent(1.0 - found.question.alpha));
    let row = |game: &crate::regress::GameEffect| {
        let [blocks, mean, interval] = columns(&game.difference);
        let warning = if game.warns { "weaker" } else { "" };
        vec![
            game.game.clone(),
            game.budget.clone(),
            warning.into(),
            blocks,
            mean,
            interval,
            probability(game.p),
            probability(game.p_holm),
        ]
    };
    let heading =
        ["game", "budget", "warning", "blocks", "head minus base", &level, "p", "corrected p"];
    let rows = found.games.iter().map(row).collect();
    Some(Section::with_rows("Games", 3, &heading, rows)?.saying(format!(
        "Single games only give warnings, by the corrected p and not by the interval. p is the \
         probability of a difference this low by chance (sign-flip test); the corrected p allows \
         for {} by Holm's method.",
        count(found.games.len(), "comparison", "comparisons")
    )))
}

fn kinds(counts: &FaultCounts) -> String {
    let kind = |(kind, n): &(FaultKind, u64)| format!("{} {n}", kind.name());
    let kinds: Vec<String> = counts.kinds.iter().map(kind).collect();
    if kinds.is_empty() { "-".into() } else { kinds.join(", ") }
}

const FAULT_HEADING: [&str; 4] = ["player", "faults", "matches", "with a fault"];

fn fault_row(name: &str, counts: &FaultCounts) -> Vec<String> {
    let numbers = [counts.n_matches, counts.n_faulty].map(|n| n.to_string());
    [&[name.to_owned(), kinds(counts)][..], &numbers].concat()
}

fn faults(found: &Regression) -> Option<Section> {
    let faults = &found.faults;
    let rows = vec![fault_row("base", &faults.base), fault_row("head", &faults.head)];
    let said = if faults.fails {
        "the head is less reliable"
    } else if faults.head.n_faulty > faults.base.n_faulty {
        "too few to show whether the head is less reliable"
    } else {
        "no sign that the head is less reliable"
    };
    Some(Section::with_rows("Faults", 2, &FAULT_HEADING, rows)?.saying(format!(
        "Sequential test over {} of matches under the same conditions: p = {}, {said}.",
        count(faults.n_pairs, "pair", "pairs"),
        probability(faults.p)
    )))
}

fn policies(found: &Regression) -> Option<Section> {
    let level = format!("{} interval, valid at any time", percent(1.0 - found.question.alpha));
    let row = |mean: &crate::regress::PolicyMean| {
        let [blocks, difference, interval] = columns(&mean.difference);
        vec![mean.policy.replace('_', " "), blocks, difference, interval]
    };
    let heading = ["policy", "blocks", "head minus base", &level];
    Section::with_rows(headings::POLICIES, 1, &heading, found.policies.iter().map(row).collect())
}

fn canary(found: &Regression) -> Option<Section> {
    let canary = found.canary.as_ref()?;
    let said = if canary.blames_machine {
        "Head and copy are the same player, so the machine made the difference: do not trust a pass."
    } else {
        "No sign that the machine disturbs the matches."
    };
    let effect = &canary.difference;
    let rows = vec![fault_row("head", &canary.head), fault_row("copy", &canary.canary)];
    let section = Section::with_rows("Canary: head and its copy", 2, &FAULT_HEADING, rows)?;
    if effect.n_blocks == 0 && canary.canary.n_matches == 0 {
        return Some(section.saying("The canary has not played yet.".to_owned()));
    }
    Some(section.saying(format!(
        "Head minus its copy: {} points from {} (p of the difference {}, p of the faults {}). \
         {said}",
        optional_points(effect.mean),
        count(effect.n_blocks, "block", "blocks"),
        canary.p.map_or_else(|| "-".into(), probability),
        canary.p_faults.map_or_else(|| "-".into(), probability),
    )))
}

fn notes(found: &Regression) -> Vec<String> {
    let mut notes = vec![];
    notes.push(match found.stopped {
        Stopped::Decided if found.faults.fails => {
            "Stopped early: the test of faults decided.".into()
        }
        Stopped::Decided => "Stopped early: the test of strength decided.".into(),
        Stopped::Blocks => "Stopped at the limit --max-blocks.".into(),
        Stopped::Time => "Stopped at the limit --time-limit.".to_owned(),
    });
    let warned: Vec<&str> =
        found.games.iter().filter(|game| game.warns).map(|game| &*game.game).collect();
    if !warned.is_empty() {
        notes.push(format!("Head is weaker at {}.", warned.join(", ")));
    }
    let repeated: Vec<&str> =
        found.games.iter().filter(|game| game.repeats).map(|game| &*game.game).collect();
    if !repeated.is_empty() {
        notes.push(format!(
            "Base had the same reward in all blocks of {}, so these blocks say little. If its matches are \
             all the same, add an opponent that moves at random, such as `random`. If they differ, add \
             stronger or weaker opponents.",
            repeated.join(", ")
        ));
    }
    if found.n_unscored > 0 {
        let n = count(found.n_unscored, "match is", "matches are");
        let blocks = count(found.strength.n_incomplete, "block does", "blocks do");
        notes.push(format!("{n} unscored, so {blocks} not count."));
    }
    if found.canary.is_none() {
        notes.push(
            "There is no canary: a server plays one match at a time, so there was no second copy of head.".into(),
        );
    }
    notes
}

fn csv(found: &Regression) -> String {
    let row = |game: &str, budget: &str, effect: &Effect| {
        let names = [game.to_owned(), budget.to_owned()];
        let [low, high] = bounds(effect.interval);
        [&names[..], &[effect.n_blocks.to_string(), number(effect.mean), low, high]].concat()
    };
    let games = found.games.iter().map(|game| {
        let tail = [game.p.to_string(), game.p_holm.to_string(), game.warns.to_string()];
        [&row(&game.game, &game.budget, &game.difference)[..], &tail].concat()
    });
    let all = [row("", "", &found.strength.difference), vec![String::new(); 3]].concat();
    written("game,budget,n_blocks,mean,low,high,p,p_holm,warns", games.chain([all]))
}
