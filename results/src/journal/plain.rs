//! Rows whose decisions have nothing but a move, the number of legal moves and a time: those
//! of players that reply without a search, whose matches are the shortest and the most. Their
//! decisions are read as they are written, member by member, in a third of the time; whatever
//! looks different is left to `serde_json`.

use serde::Deserialize;
use serde::de::Error as _;

use super::checksum::body;
use super::row::{MatchRow, Plain};

/// The text that a line holds. That it is UTF-8 is checked all at once, which takes less
/// time than text by text.
pub(super) fn text_of(line: &[u8]) -> serde_json::Result<&str> {
    str::from_utf8(line).map_err(serde_json::Error::custom)
}

/// Reads a line with its line feed. `head` is what the row borrows from.
pub(super) fn read_row<'a, D: Plain<'a> + Deserialize<'a>>(
    line: &'a [u8],
    head: &'a mut String,
) -> serde_json::Result<MatchRow<'a, D>> {
    let text = text_of(line)?;
    let divided = divide(&text[..body(line).len()], r#","steps":"#);
    match divided.and_then(|(before, steps)| Some((before, read_steps(steps)?))) {
        Some((before, steps)) => {
            *head = [before, r#","steps":[]}"#].concat();
            let mut row: MatchRow<'a, D> = serde_json::from_str(head)?;
            row.steps = steps;
            Ok(row)
        }
        None => serde_json::from_str(text),
    }
}

/// What is before the first `key` of a line and after it, where `key` stands with its quotes
/// and the comma before it: within a text they would be escaped.
pub(super) fn divide<'a>(text: &'a str, key: &str) -> Option<(&'a str, &'a str)> {
    let at = memchr::memmem::find(text.as_bytes(), key.as_bytes())?;
    Some((&text[..at], &text[at + key.len()..]))
}

/// All decisions, if all of them are plain.
fn read_steps<'a, D: Plain<'a>>(text: &'a str) -> Option<Vec<Vec<D>>> {
    let mut rest = text.strip_prefix('[')?;
    let mut steps: Vec<Vec<D>> = vec![];
    loop {
        rest = rest.strip_prefix('[')?;
        let mut step = Vec::with_capacity(steps.last().map_or(2, Vec::len));
        loop {
            let ((executed, n_legal, wall_us), after) = read_decision(rest)?;
            step.push(D::plain(executed, n_legal, wall_us.into()));
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => break rest = after.strip_prefix(']')?,
            }
        }
        steps.push(step);
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (rest == "]").then_some(steps),
        }
    }
}

/// The members of a plain decision at the beginning of a text, and the rest.
fn read_decision(text: &str) -> Option<((&str, u32, u32), &str)> {
    let text = text.strip_prefix(r#"{"move":""#)?;
    let end = text.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
    let (executed, rest) = text.split_at(end);
    let (n_legal, rest) = read_number(rest.strip_prefix(r#"","n_legal":"#)?)?;
    let (wall_us, rest) = read_number(rest.strip_prefix(r#","wall_us":"#)?)?;
    Some(((executed, n_legal, wall_us), rest.strip_prefix('}')?))
}

/// A number of at most nine digits, and the rest.
fn read_number(text: &str) -> Option<(u32, &str)> {
    let n_digits = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = text.split_at(n_digits);
    let is_plain = matches!(n_digits, 1..=9) && (n_digits == 1 || !digits.starts_with('0'));
    // More digits would overflow.
    let value = || digits.bytes().fold(0, |value, digit| 10 * value + u32::from(digit - b'0'));
    is_plain.then(|| (value(), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::checksum::seal;
    use super::super::row::{DecisionRow, WholeDecision};
    use super::*;
    use crate::record::{DecisionRecord, FaultKind, MatchRecord};
    use crate::sample;

    /// Reads a line in both ways, and says whether its decisions are plain.
    fn check(line: &[u8]) -> bool {
        let text = text_of(line).unwrap();
        let mut head = String::new();
        let row: MatchRow<'_, WholeDecision<'_>> = read_row(line, &mut head).unwrap();
        assert_eq!(row, serde_json::from_str(text).unwrap());
        let mut short_head = String::new();
        let short: MatchRow<'_, DecisionRow> = read_row(line, &mut short_head).unwrap();
        assert_eq!(short, serde_json::from_str(text).unwrap());
        !head.is_empty()
    }

    fn line(record: &MatchRecord) -> Vec<u8> {
        let mut line = serde_json::to_vec(record).unwrap();
        seal(&mut line, 0);
        line
    }

    fn record(decisions: Vec<Vec<DecisionRecord>>) -> MatchRecord {
        MatchRecord { steps: decisions, ..sample::record(0, "game", ["a", "b"], [100, 0]) }
    }

    #[test]
    fn only_plain_decisions_are_read_here() {
        let mut decision = sample::records()[0].steps[0][0].clone();
        let of =
            |decision: &DecisionRecord| check(&line(&record(vec![vec![decision.clone(); 2]; 3])));
        assert!(!of(&decision), "it has a CPU time");
        (decision.cpu_us, decision.nodes) = (None, None);
        (decision.value_tenths, decision.depth) = (None, None);
        decision.line.clear();
        assert!(of(&decision));
        assert!(!of(&DecisionRecord { fault: Some(FaultKind::LateMove), ..decision.clone() }));
        assert!(!of(&DecisionRecord { overrun_us: 1, ..decision.clone() }));
        assert!(!of(&DecisionRecord { nodes: Some(0), ..decision.clone() }));
        assert!(!of(&DecisionRecord { executed: "a\"b".into(), ..decision.clone() }));
        assert!(!check(&line(&record(vec![]))), "there are none");
        let mut record = record(vec![vec![decision; 2]]);
        record.worker = Some("a machine".into());
        assert!(check(&line(&record)));
        assert!(!check(sample::sorted(&record).as_bytes()), "they are not at the end");
    }

    #[test]
    fn no_other_json_is_taken_for_plain_decisions() {
        let read = |text: &str| read_steps::<DecisionRow>(text).is_some();
        let plain = r#"[[{"move":"a","n_legal":10,"wall_us":0}]]"#;
        assert!(read(plain));
        for (from, to) in [
            ("10", "010"),
            ("10", ""),
            ("10", "1.0"),
            ("10", "1e1"),
            ("10", "-1"),
            ("10", "1234567890"),
            ("\"a\"", "\"a\tb\""),
            ("\"a\"", "\"\\u0061\""),
            ("}]]", "}]],"),
            ("}]]", "},]]"),
            ("}]]", "}]"),
            ("}]]", ",\"depth\":1}]]"),
            ("[[", "[[["),
            ("[[", " [["),
        ] {
            let text = plain.replacen(from, to, 1);
            assert!(text != plain && !read(&text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn rows_are_those_that_serde_json_reads(
            steps in proptest::collection::vec(
                proptest::collection::vec(("[ -~é]{0,4}", any::<u32>(), any::<u64>()), 0..3), 0..4
            )
        ) {
            let decision = |(executed, n_legal, wall_us)| {
                let plain = r#"{"move":"","n_legal":0,"wall_us":0}"#;
                let plain: DecisionRecord = serde_json::from_str(plain).unwrap();
                DecisionRecord { executed, n_legal, wall_us, ..plain }
            };
            let steps = steps.into_iter().map(|step| step.into_iter().map(decision).collect());
            check(&line(&record(steps.collect())));
        }
    }
}
